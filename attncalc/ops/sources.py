"""The primitives without sources (operands, numbers, sizes, positions), and the step that names a value."""

from __future__ import annotations

from typing import Any

from attncalc.cells import At, Cell, Literal, Look, moved
from attncalc.graph import NUMBERS_OF_ONE_NAME, OPS, Node, Op


def _given_axes(args: dict[str, Any]) -> Any:
    raise AssertionError("a node without sources is made with its axes")


def _given_value(node: Node) -> Any:
    raise AssertionError(f"the value of {node.op} is found by evaluate")


def _number_text(node: Node) -> str:
    """A number as a formula shows it: by its name, a fraction as a fraction, a float by its shortest digits."""
    value = node.args["value"]
    if node.args["symbol"]:
        return str(node.args["symbol"])
    if value == float("-inf"):
        return "−∞"
    return (repr(value) if isinstance(value, float) else str(value)).removesuffix(".0").replace("-", "−")


def _number_latex(node: Node) -> str:
    text = _number_text(node)
    for character, command in (("−", "-"), ("∞", r"\infty"), ("π", r"\pi"), ("ε", r"\epsilon")):
        text = text.replace(character, command)
    if node.args["symbol"] or "e" not in text:
        return text
    digits, _, exponent = text.partition("e")  # 1e-08 would be read as e − 08
    return ("" if digits == "1" else rf"{digits} \cdot ") + f"10^{{{int(exponent)}}}"


def _literal(node: Node, at: At, look: Look) -> Cell:
    symbol = node.args["symbol"]
    return Literal(symbol if symbol in NUMBERS_OF_ONE_NAME else node.args["value"])


OPS |= {
    "input": Op(_given_value, _given_axes, "{a[symbol]}", "{a[symbol]}", moved),
    "constant": Op(_given_value, _given_axes, _number_text, _number_latex, _literal),
    "constants": Op(
        _given_value,
        _given_axes,
        "{a[symbol]}",
        "{a[symbol]}",
        lambda node, at, look: Literal(node.args["values"][at[node.names[0]]]),
    ),
    "identity": Op(
        _given_value,
        _given_axes,
        "{a[symbol]}",
        r"\delta",
        lambda node, at, look: Literal(int(all(at[name] == at[name.removesuffix("'")] for name in node.names))),
    ),
    "size": Op(
        _given_value,
        _given_axes,
        "{a[axis].name}",
        "{a[axis].name}",
        lambda node, at, look: Literal(node.args["axis"].size),
    ),
    "index": Op(
        _given_value,
        _given_axes,
        "{a[symbol]}",
        "{a[symbol]}",
        lambda node, at, look: Literal(at[node.args["along"].name]),
    ),
    "step": Op(
        lambda node, x: x,
        lambda args, x: x,
        "{a[symbol]}",
        "{a[symbol]}",
        moved,
        vjp=lambda g, y, node, x: [g],
    ),
}
