"""Powers, roots, exponentials and logarithms, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.cells import entrywise
from attncalc.graph import OPS, Node
from attncalc.ops import kernels
from attncalc.ops.arithmetic import function, row
from attncalc.ops.functions import log, power


def _power_vjp(g: Node, y: Node, node: Node, x: Node, p: Node) -> Sequence[Node | None]:
    if p.op == "constant":
        value = p.args["value"]
        return [g * (value * x if value == 2 else p * power(x, value - 1)), None]
    return [g * (p * (x ** (p - 1))), g * (y * log(x))]


def is_square(node: Node) -> bool:
    """Whether a power's exponent is the number 2."""
    exponent = node.sources[1]
    return exponent.op == "constant" and bool(exponent.args["value"] == 2)


def _power_text(node: Node, base: str, exponent: str) -> str:
    return base + "²" if is_square(node) else f"{base}^{exponent}"


OPS |= {
    "pow": row(
        kernels.power,
        _power_text,
        "{0}^{{{1}}}",
        entrywise("^"),
        binds=1,
        takes=(0, 0),
        raises=True,
        vjp=_power_vjp,
        because=lambda node, source: (
            "the slope of a^x is a^x·ln a"
            if source
            else "the slope of a square is twice what was squared"
            if is_square(node)
            else "the power comes down in front: the slope of x^p is p·x^(p−1)"
        ),
        about=lambda node: (
            "A square is never negative, and one large entry counts for more than two of half its size: 4² = 16, and "
            "2² + 2² = 8."
            if is_square(node) and node.axes
            else ""
        ),
    ),
    "exp": row(
        kernels.exp,
        "exp({0})",
        "e^{{{0}}}",
        entrywise("exp"),
        vjp=lambda g, y, node, a: [g * y],
        because="the exponential is its own slope",
        about="e^x is positive for every x, 1 at 0 and 0 at −∞; 1 more in x is 2.718 times as much. It outgrows "
        "float64 beyond x = 709.78 and float32 beyond 88.72.",
        noun="exponentials",
        boxed=True,
    ),
    "log": function(
        kernels.log,
        "ln",
        r"\ln",
        lambda g, y, node, a: [Node("ratio", g, a)],
        "the slope of ln x is 1/x",
        about="ln is the natural logarithm, which e^x undoes: 0 at 1, negative below, −∞ at 0. It turns products into "
        "sums.",
        noun="logarithm",
    ),
    "sqrt": row(
        kernels.sqrt,
        "√{0}",
        r"\sqrt{{{0}}}",
        entrywise("√"),
        binds=1,
        takes=(0,),
        vjp=lambda g, y, node, a: [g / (2 * y)],
        because="the slope of √x is 1/(2√x)",
        about=lambda node: (
            "The root undoes the squares: the units are those of the entries again." if node.axes else ""
        ),
        noun="root",
        boxed=True,
    ),
}
