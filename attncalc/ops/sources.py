"""The primitives without sources (operands, numbers, sizes, positions), and the step that names a value.

Their kernels are asked for a value of a kind: (node, dtype) → value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import align
from attncalc.cells import At, Cell, Literal, Look, moved
from attncalc.graph import NUMBERS_OF_ONE_NAME, OPS, Node, Op
from attncalc.ops.kernels import number


def _given_axes(args: dict[str, Any]) -> Any:
    raise AssertionError("a node without sources is made with its axes")


def _given_value(node: Node, dtype: np.dtype[Any]) -> Array:
    raise AssertionError("the value of an operand is given to evaluate")


def _numbers(node: Node, dtype: np.dtype[Any]) -> Array:
    return np.array([number(value, dtype)[()] for value in node.args["values"]], dtype=dtype)


def _identity(node: Node, dtype: np.dtype[Any]) -> Array:
    ones = np.eye(int(np.prod(node.shape[: len(node.shape) // 2])))
    if dtype.kind != "O":
        return ones.astype(dtype).reshape(node.shape)
    from attncalc.ops.exact import exactly  # with SymPy, which few need

    return exactly(ones).reshape(node.shape)


def _index(node: Node, dtype: np.dtype[Any]) -> Array:
    along = node.args["along"]
    if dtype.kind != "O":
        positions = np.arange(along.size, dtype=dtype)
    else:
        positions = np.array([number(i, dtype)[()] for i in range(along.size)], dtype=dtype)
    return np.broadcast_to(align(positions, (along,), node.axes), node.shape)


def _number_text(node: Node) -> str:
    """A number as a formula shows it: by its name, a fraction as a fraction, a float by its shortest digits."""
    value = node.args["value"]
    if node.args["symbol"]:
        return str(node.args["symbol"])
    if value == float("-inf"):
        return "−∞"
    text = (repr(value) if isinstance(value, float) else str(value)).removesuffix(".0")
    return text.replace("-", "−", 1) if value < 0 else text  # the sign of an exponent is part of the numeral: 1e-05


def _number_latex(node: Node) -> str:
    text = _number_text(node)
    for character, command in (("−", "-"), ("∞", r"\infty"), ("π", r"\pi"), ("ε", r"\epsilon")):
        text = text.replace(character, command)
    if node.args["symbol"] or "e" not in text:
        return text
    digits, _, exponent = text.partition("e")  # 1e-08 would be read as e − 08
    return ("" if digits == "1" else rf"{digits} \cdot ") + f"10^{{{int(exponent)}}}"


def _literal(node: Node, at: At, look: Look) -> Cell:
    symbol, value = node.args["symbol"], node.args["value"]
    if symbol in NUMBERS_OF_ONE_NAME:
        return Literal(symbol)
    digits = isinstance(value, float) and 0 < value < np.inf and not value.is_integer()
    return Literal(repr(value) if digits else value)  # a number of the formula keeps all its digits: 0.044715


def _is_diagonal(node: Node, at: At, look: Look) -> Cell:
    return Literal(int(all(at[name] == at[name.removesuffix("'")] for name in node.names)))


def _row(kernel: Any, cell: Any, text: Any = "{a[symbol]}", latex: Any = "") -> Op:
    return Op(kernel, _given_axes, text, latex or text, cell, flops=0)


OPS |= {
    "input": _row(_given_value, moved),
    "constant": _row(lambda node, dtype: number(node.args["value"], dtype), _literal, _number_text, _number_latex),
    "constants": _row(_numbers, lambda node, at, look: Literal(node.args["values"][at[node.names[0]]])),
    "identity": _row(_identity, _is_diagonal, latex=r"\delta"),
    "size": _row(
        lambda node, dtype: number(node.args["axis"].size, dtype),
        lambda node, at, look: Literal(node.args["axis"].size),
        "{a[axis].name}",
    ),
    "index": _row(_index, lambda node, at, look: Literal(at[node.args["along"].name])),
    "step": Op(
        lambda node, x: x,
        lambda args, x: x,
        "{a[symbol]}",
        "{a[symbol]}",
        moved,
        vjp=lambda g, y, node, x: [g],
        flops=0,
        because="passed on unchanged",
        hands_on=True,
        narrow=True,
        view=True,
    ),
}
