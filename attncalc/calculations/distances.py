"""Lengths and distances: the norm of a vector, and the Minkowski family between two points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from attncalc.declare.calculation import Law, at_most, calculation, same
from attncalc.declare.operands import ABOVE_0, Exercise
from attncalc.language.graph import Node, step
from attncalc.language.ops import absolute, peak, power, root_of_sum, total

Left = Annotated[Node, "the first vector"]
Right = Annotated[Node, "the second vector"]
P = Annotated[float, "the power: 1 for Manhattan, 2 for Euclid", ABOVE_0]
METRIC: Mapping[str, Law] = {
    "the way there is as long as the way back": lambda f, a, b: same(f(a, b), f(b, a)),
    "moving both points changes nothing": lambda f, a, b, c: same(f(a + c, b + c), f(a, b)),
}
"""Laws of every distance."""


@calculation(
    a="n",
    laws={
        "c times a vector is c times as long": lambda f, a, c: same(f(c * a), c * f(a).result),
        "a vector and its opposite are equally long": lambda f, a: same(f(-a), f(a)),
        "a larger p never makes it longer": lambda f, a: (
            at_most(f(a, p=3), f(a, p=2)) and at_most(f(a, p="inf"), f(a, p=3))
        ),
    },
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 2.5; as numpy.linalg.norm",
)
def norm(
    a: Annotated[Node, "the vector"],
    *,
    p: Annotated[float | Literal["inf"], "the power; inf takes the largest entry", ABOVE_0] = 2,
) -> Node:
    """The length of a vector.

    (Σ|a|^p)^(1/p), the Euclidean length for p = 2; accurate even where the powers would overflow or underflow.
    """
    if p == "inf":
        size = step("powers", absolute(a), "for p = ∞ only absolute values count, and no power is taken")
        largest = step("sum", peak(size), "as p grows the largest entry outweighs the sum of all the others")
        return step("norm", largest, "the largest entry is the length")
    powers = step("powers", _powers(a, p), _why_powers(p))
    sums = step("sum", total(powers), "all axes count alike")
    why = "the root brings the sum back to the units of the entries" if p != 1 else "for p = 1 the root changes nothing"
    return step("norm", root_of_sum(sums, a, p), why)


def _why_powers(p: float) -> str:
    if p == 1:
        return "without the signs only sizes count"
    if p == 2:
        return "squaring removes the signs, and makes large entries count for more"
    return f"only sizes count, not signs; the power makes {'large' if p > 1 else 'small'} entries count for more"


def _powers(a: Node, p: float) -> Node:
    """|a|^p; a square needs no absolute value."""
    return a**2 if p == 2 else power(absolute(a), p)


@calculation(
    a="n",
    b="n",
    laws={
        **METRIC,
        "a detour is never shorter": lambda f, a, b, c: at_most(f(a, b), f(a, c * a).result + f(c * a, b).result),
    },
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 2.5 (the norm of the difference); "
    "as scipy.spatial.distance.euclidean",
)
def euclidean(a: Left, b: Right, *, squared: Annotated[bool, "leave out the root"] = False) -> Node:
    """The straight-line distance between two points.

    √Σ(a − b)²; with `squared`, Σ(a − b)², whose unit is the square of that of the entries.
    """
    difference = _difference(a, b)
    squares = step(
        "squares",
        difference**2,
        "squaring removes the signs, and makes one large difference count for more than two small ones",
    )
    sums = step("sum", total(squares), "Pythagoras, axis by axis")
    if squared:
        return step("distance", sums, "left squared: the root is not taken (--squared)")
    return step(
        "distance", root_of_sum(sums, difference, 2), "the root brings the result back to the units of the entries"
    )


@calculation(
    a="n",
    b="n",
    laws={
        **METRIC,
        "never shorter than the straight line": lambda f, a, b: at_most(np.linalg.norm(a - b), f(a, b)),
    },
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 2.5 (the norm of the difference); "
    "as scipy.spatial.distance.cityblock",
)
def manhattan(a: Left, b: Right) -> Node:
    """The distance between two points when every move is along an axis.

    Σ|a − b|, the walking distance in a city of square blocks.
    """
    sizes = _sizes(a, b)
    return step("distance", total(sizes), "the steps along the axes are walked one after the other, so they add up")


@calculation(
    a="n",
    b="n",
    laws={
        **METRIC,
        "never longer than the straight line": lambda f, a, b: at_most(f(a, b), np.linalg.norm(a - b)),
    },
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 2.5 (the norm of the difference); "
    "as scipy.spatial.distance.chebyshev",
)
def chebyshev(a: Left, b: Right) -> Node:
    """The largest difference between two points along any axis.

    max|a − b|, the number of moves that a chess king needs.
    """
    sizes = _sizes(a, b)
    return step("distance", peak(sizes), "all axes are walked at once, so the largest difference decides")


@calculation(
    a="n",
    b="n",
    laws={
        "p = 2 is the straight line": lambda f, a, b: same(f(a, b, p=2), np.linalg.norm(a - b)),
        "p = 1 is the way along the axes": lambda f, a, b: same(f(a, b, p=1), abs(a - b).sum()),
        "a larger p never makes it longer": lambda f, a, b: at_most(f(a, b, p=4), f(a, b, p=3)),
    },
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 2.5 (the norm of the difference); "
    "as scipy.spatial.distance.minkowski",
    exercise=Exercise(at_hard={"p": 4}),
)
def minkowski(a: Left, b: Right, *, p: P = 3) -> Node:
    """The family of distances that includes Manhattan (p = 1) and Euclidean (p = 2).

    (Σ|a − b|^p)^(1/p); the larger p, the more the largest difference decides.
    """
    difference = _difference(a, b)
    powers = step("powers", _powers(difference, p), "the larger p, the more the largest difference decides")
    sums = step("sum", total(powers), "all axes count alike")
    return step(
        "distance", root_of_sum(sums, difference, p), "the root brings the result back to the units of the entries"
    )


def _difference(a: Node, b: Node) -> Node:
    return step("difference", a - b, "how far apart they are along each axis")


def _sizes(a: Node, b: Node) -> Node:
    return step(
        "absolute", absolute(_difference(a, b)), "only the size counts: a step back is as long as a step forward"
    )
