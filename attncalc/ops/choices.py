"""Comparisons, and choices by them: masks, the larger and the smaller, sizes without their signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.cells import At, Literal, Look, entrywise, moved, pick
from attncalc.graph import OPS, Node, Number, Op, as_node
from attncalc.ops import kernels
from attncalc.ops.arithmetic import function, row
from attncalc.ops.functions import keep_where, sign
from attncalc.ops.kernels import either


def held(x: Node) -> Node:
    """x, held constant for the backward pass; exact numbers need no such shift, and it is 0 there.

    For a shift that cancels, as the maximum taken from a row before its softmax.
    """
    return Node("held", x)


def compare_equal(a: Node, b: Node | Number) -> Node:
    """Whether two entries are equal."""
    return Node("equal", a, as_node(b))


def logical_not(x: Node) -> Node:
    """Whether x does not hold."""
    return Node("not", x)


def minimum(a: Node, b: Node | Number) -> Node:
    """The smaller of two entries."""
    return Node("minimum", a, as_node(b))


def maximum(a: Node, b: Node | Number) -> Node:
    """The larger of two entries."""
    return Node("maximum", a, as_node(b))


def _masks(node: Node) -> bool:
    """Whether what is not chosen becomes −∞."""
    otherwise = node.sources[2]
    return otherwise.op == "constant" and bool(otherwise.args["value"] == -np.inf)


def _where_cell(node: Node, at: At, look: Look) -> Any:
    if look(0, pick(node, 0, at).at):
        return pick(node, 1, at)
    return Literal("masked") if _masks(node) else pick(node, 2, at)


def _where_text(node: Node, keep: str, x: str, otherwise: str) -> str:
    return f"{x} where {keep}, else {otherwise}"


def _where_latex(node: Node, keep: str, x: str, otherwise: str) -> str:
    return rf"\begin{{cases}} {x} & {keep} \\ {otherwise} & \text{{else}} \end{{cases}}"


def _about_choice(node: Node) -> str:
    if not _masks(node):
        return ""
    return (
        "−∞ goes in before the softmax, so that its share is e^−∞ = 0 and the other keys share the whole. A 0 there "
        "would still contribute e⁰ = 1, and a 0 put in after the softmax would leave the row's sum below 1. −10⁹ works "
        "too, except that a fully masked row would still get weights, and that float16 only reaches 65,504."
    )


def _where(keep: Array, x: Array, otherwise: Array) -> Array:
    return np.where(keep.astype(bool), x, otherwise)


def _choice(kernel: Any, sign: str, latex: str, binds: float, takes: tuple[float, ...]) -> Op:
    """The row of a comparison, or of what joins two of them: true or false at each place."""
    text = f"{{0}} {sign} {{1}}" if len(takes) > 1 else f"{sign} {{0}}"
    told = {"no_gradient": "it is a choice", "flops": 0, "truth": True}
    return row(kernel, text, latex, entrywise(sign), binds=binds, takes=takes, **told)


def _held(x: Array) -> Array:
    # Letters have no maximum that could be known: a shift that cancels is left out among them.
    return kernels.zeros(x.shape, x) if kernels.has_letters(x) else x


OPS |= {
    "abs": row(
        np.abs,
        "|{0}|",
        "|{0}|",
        entrywise("abs"),
        vjp=lambda g, y, node, a: [g * sign(a)],
        because="the slope of |x| is the sign of x (0 at 0, by convention)",
    ),
    "sign": function(
        either(np.sign, "sign"),
        "sign",
        r"\operatorname{{sign}}",
        lambda g, y, node, a: [None],
        "a sign is flat wherever it does not jump: its slope is 0",
    ),
    "maximum": row(
        np.maximum,
        "max({0}, {1})",
        r"\max({0}, {1})",
        entrywise("max"),
        vjp=lambda g, y, node, a, b: [keep_where(b <= a, g, 0), keep_where(b <= a, 0, g)],
        because="only the larger one gets the gradient (the first, if they are equal)",
    ),
    "minimum": row(
        np.minimum,
        "min({0}, {1})",
        r"\min({0}, {1})",
        entrywise("min"),
        vjp=lambda g, y, node, a, b: [keep_where(a <= b, g, 0), keep_where(a <= b, 0, g)],
        because="only the smaller one gets the gradient (the first, if they are equal)",
    ),
    "where": row(
        _where,
        _where_text,
        _where_latex,
        _where_cell,
        binds=4,
        takes=(4, 3, 3),
        vjp=lambda g, y, node, keep, a, b: [None, keep_where(keep, g, 0), keep_where(keep, 0, g)],
        because="what was masked does not affect the result, so its gradient is 0",
        about=_about_choice,
        flops=0,
    ),
    "held": row(
        _held,
        "{0}",
        "{0}",
        moved,
        vjp=lambda g, y, node, a: [None],
        because="it is held constant: the result does not depend on it",
        flops=0,
        view=True,
    ),
    "less_equal": _choice(np.less_equal, "≤", r"{0} \le {1}", 4, (3, 3)),
    "less": _choice(np.less, "<", "{0} < {1}", 4, (3, 3)),
    "equal": _choice(np.equal, "=", "{0} = {1}", 4, (3, 3)),
    "and": _choice(np.logical_and, "and", r"{0} \land {1}", 5, (5, 5)),
    "not": _choice(np.logical_not, "not", r"\lnot {0}", 4, (0,)),
}
