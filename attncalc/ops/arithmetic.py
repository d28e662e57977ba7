"""Sums, differences, products and quotients, entry by entry, and how the row of any such primitive is written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, together
from attncalc.cells import entrywise
from attncalc.graph import OPS, Node, Op


def _all(args: dict[str, Any], *sources: Axes) -> Axes:
    return together(*sources)


def row(kernel: Any, text: Any, latex: Any, cell: Any, **more: Any) -> Op:
    """The row of a primitive that works entry by entry."""
    return Op(kernel, _all, text, latex, cell, elementwise=True, **more)


def function(kernel: Any, name: str, latex: str, vjp: Any, because: str, **more: Any) -> Op:
    """The row of a function of one number, written as its name before brackets."""
    return row(kernel, name + "({0})", latex + "({0})", entrywise(name), vjp=vjp, because=because, **more)


def _add(*terms: Array) -> Array:
    return reduce(np.add, terms)


def _quotient(a: Array, b: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)


def _add_text(node: Node, *terms: str) -> str:
    return _summed(terms, "…")


def _add_latex(node: Node, *terms: str) -> str:
    return _summed(terms, r"\ldots")


def _summed(terms: Sequence[str], gap: str) -> str:
    return " + ".join(terms if len(terms) <= 6 else (*terms[:3], gap, terms[-1]))


OPS |= {
    "add": row(
        _add,
        _add_text,
        _add_latex,
        entrywise("+"),
        binds=3,
        takes=(3, 2.5),
        vjp=lambda g, y, node, *terms: [g] * len(terms),
        because="a sum passes its gradient on to each of its terms",
        about=lambda node: (
            "A term that lacks an axis, such as a bias, is added equally everywhere along it."
            if any(source.axes and len(source.axes) < len(node.axes) for source in node.sources)
            else ""
        ),
        flops=lambda node: len(node.sources) - 1,
        noun="sum_of_terms",
        hands_on=True,
        terms=_add,
    ),
    "sub": row(
        np.subtract,
        "{0} − {1}",
        "{0} - {1}",
        entrywise("−"),
        binds=3,
        takes=(3, 2.5),
        vjp=lambda g, y, node, a, b: [g, -g],
        because=lambda node, source: (
            "what is subtracted gets the gradient with its sign changed"
            if source
            else "a difference passes its gradient on to what it starts from"
        ),
        noun="difference",
        terms=np.add,
    ),
    "neg": row(
        lambda x: 0 - x,  # np.negative would make −0 of 0
        "−{0}",
        "-{0}",
        entrywise("neg"),
        binds=3,
        takes=(2.5,),
        vjp=lambda g, y, node, a: [-g],
        because="a minus sign changes the sign of the gradient",
        noun="opposite",
        terms=np.positive,
    ),
    "mul": row(
        np.multiply,
        lambda node, a, b: f"{a} ⊙ {b}" if node.sources[0].axes and node.sources[1].axes else f"{a}·{b}",
        lambda node, a, b: rf"{a} \odot {b}" if node.sources[0].axes and node.sources[1].axes else rf"{a} \cdot {b}",
        entrywise("×"),
        binds=2,
        takes=(2, 2),
        vjp=lambda g, y, node, a, b: [g * b, g * a],
        because="each factor gets the gradient times the other factor",
        about=lambda node: (
            "⊙ multiplies entries that stand in the same place: nothing is added up, and the shape stays."
            if all(source.axes for source in node.sources)
            else ""
        ),
        noun="product",
        terms=np.multiply,
    ),
    "div": row(
        np.divide,
        "{0} / {1}",
        r"\frac{{{0}}}{{{1}}}",
        entrywise("/"),
        binds=2.5,
        takes=(2, 1),
        vjp=lambda g, y, node, a, b: [g / b, -(g * y / b)],
        because=lambda node, source: (
            "the larger the divisor, the smaller the quotient: the slope of 1/x is −1/x²"
            if source
            else "dividing by a number divides the gradient by it as well"
        ),
        noun="quotient",
        boxed=True,
        terms=_quotient,
    ),
}
