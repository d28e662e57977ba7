"""Vectors and distances: products, lengths, angles, the Minkowski family, projections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculation import ABOVE_0, calculation
from attncalc.errors import DomainError
from attncalc.graph import Node, output, step
from attncalc.laws import Law, at_most, same
from attncalc.ops import (
    absolute,
    angle_between,
    cosine_ratio,
    peak,
    power,
    rename,
    root_of_sum,
    solve,
    total,
)
from attncalc.ops import outer as outer_product

Left = Annotated[Node, "the first vector"]
Right = Annotated[Node, "the second vector"]
P = Annotated[float, "the power: 1 is Manhattan's, 2 Euclid's", ABOVE_0]


DISTANCE = "a distance (euclidean, manhattan) is defined for it"
METRIC: Mapping[str, Law] = {
    "there is as far as back": lambda f, a, b: same(f(a, b), f(b, a)),
    "moving both points changes nothing": lambda f, a, b, c: same(f(a + c, b + c), f(a, b)),
}
"""Laws of every distance."""


def not_zero(*names: str, lacks: str = "angle to it", hint: str = DISTANCE) -> Callable[[Mapping[str, Any]], None]:
    """A check that no vector among the named operands is zero: it has no direction, and so lacks something."""

    def check(values: Mapping[str, Any]) -> None:
        for name in names:
            zero = np.argwhere((values[name] == 0).all(axis=-1))
            if len(zero):
                row = f" (row {','.join(map(str, zero[0]))}, counted from 0)" if zero.shape[1] else ""
                raise DomainError(
                    f"{name} is the zero vector{row}: it has no direction, so there is no {lacks}",
                    hint=hint,
                )

    return check


@calculation(
    a="n",
    b="n",
    laws={
        "the order of the two does not matter": lambda f, a, b: same(f(a, b), f(b, a)),
        "c times a vector gives c times the product": lambda f, a, b, c: same(f(c * a, b), c * f(a, b).result),
        "never beyond the product of the lengths": lambda f, a, b: at_most(
            abs(f(a, b).result), (a @ a * (b @ b)) ** 0.5
        ),
    },
    reference="any linear algebra text",
)
def dot(a: Left, b: Right) -> Node:
    """Multiply two vectors entry by entry and add up the products.

    The inner product of ordinary vectors; O(n).
    """
    products = step("products", a * b, "entries that agree in sign count for, others against")
    return step("dot", total(products), "one number says how far the two agree")


@calculation(
    a="m",
    b="n",
    laws={
        "turned round, it is the transpose": lambda f, a, b: same(f(b, a), f(a, b).result.T),
        "the rows are multiples of b: its rank is 1": lambda f, a, b: same(f(a, b).result @ b, a * (b @ b)),
    },
)
def outer(a: Left, b: Right) -> Node:
    """Multiply every entry of one vector by every entry of another.

    The sizes need not match; the result has one row for each entry of a.
    """
    return step("outer", outer_product(a, b), "every pair of entries meets once: each row is a multiple of b")


@calculation(
    a="n",
    laws={
        "c times a vector is c times as long": lambda f, a, c: same(f(c * a), c * f(a).result),
        "a vector and its opposite are equally long": lambda f, a: same(f(-a), f(a)),
        "a larger p never makes it longer": lambda f, a: (
            at_most(f(a, p=3), f(a, p=2)) and at_most(f(a, p="inf"), f(a, p=3))
        ),
    },
)
def norm(
    a: Annotated[Node, "the vector"],
    *,
    p: Annotated[float | Literal["inf"], "the power; inf takes the largest entry", ABOVE_0] = 2,
) -> Node:
    """The length of a vector.

    (Σ|a|^p)^(1/p), Euclid's length for p = 2; right for entries whose powers overflow or vanish.
    """
    if p == "inf":
        size = step("powers", absolute(a), "for p = ∞ only sizes count, and no power is taken")
        largest = step("sum", peak(size), "as p grows the largest entry outweighs the sum of all the others")
        return step("norm", largest, "the largest entry is the length")
    powers = step("powers", _powers(a, p), "signs go, and large entries count for more" if p > 1 else "signs go")
    sums = step("sum", total(powers), "all axes count alike")
    return step("norm", root_of_sum(sums, a, p), "the root brings the sum back to the units of the entries")


def _powers(a: Node, p: float) -> Node:
    """|a|^p; a square needs no absolute value."""
    return a**2 if p == 2 else power(absolute(a), p)


@calculation(
    a="n",
    b="n",
    check=not_zero("a", "b"),
    laws={
        "lengths do not matter": lambda f, a, b, c: same(f(c * a, b), f(a, b)),
        "the order of the two does not matter": lambda f, a, b: same(f(a, b), f(b, a)),
        "between −1 and 1": lambda f, a, b: at_most(abs(f(a, b).result), 1),
        "the opposite vector has the opposite cosine": lambda f, a, b: same(f(-a, b), -f(a, b).result),
    },
)
def cosine(a: Left, b: Right, *, distance: Annotated[bool, "give 1 − cosine instead"] = False) -> tuple[Node, Node]:
    """How nearly two vectors point the same way, whatever their lengths.

    a·b / (‖a‖·‖b‖): 1 the same direction, 0 at right angles, −1 opposite. The angle between them, in degrees, is an
    output beside it. A zero vector has no direction and is an error.
    """
    agreement = step("dot", total(a * b), "how far the two agree, lengths and all")
    norm_a = step("norm_a", root_of_sum(total(a**2), a, 2), "the length of a", symbol="‖a‖")
    norm_b = step("norm_b", root_of_sum(total(b**2), b, 2), "the length of b", symbol="‖b‖")
    norms = step("norm_product", norm_a * norm_b, "what the dot product would be if they pointed the same way")
    similarity = step(
        "cosine", cosine_ratio(agreement, norms, a, b), "the share of that which is there: lengths cancel"
    )
    angle = output("angle", angle_between(similarity, a, b), "the angle between them, in degrees")
    if distance:
        apart = step("distance", 1 - similarity, "0 for the same direction, 2 for opposite ones")
        return apart, angle
    return similarity, angle


@calculation(
    a="n",
    b="n",
    laws={
        **METRIC,
        "a way round is never shorter": lambda f, a, b, c: at_most(f(a, b), f(a, c * a).result + f(c * a, b).result),
    },
)
def euclidean(a: Left, b: Right, *, squared: Annotated[bool, "leave out the root"] = False) -> Node:
    """The straight-line distance between two points.

    √Σ(a − b)²; with `squared`, Σ(a − b)², whose unit is the square of the entries'.
    """
    difference = _difference(a, b)
    squares = step("squares", difference**2, "signs go, and a large difference counts for more than two small ones")
    sums = step("sum", total(squares), "Pythagoras, axis by axis")
    if squared:
        return step("distance", sums, "left squared, as was asked")
    return step("distance", root_of_sum(sums, difference, 2), "the root brings it back to the units of the entries")


@calculation(
    a="n",
    b="n",
    laws={
        **METRIC,
        "never shorter than the straight line": lambda f, a, b: at_most(np.linalg.norm(a - b), f(a, b)),
    },
)
def manhattan(a: Left, b: Right) -> Node:
    """The distance between two points along the axes.

    Σ|a − b|, as one walks in a town of square blocks.
    """
    sizes = _sizes(a, b)
    return step("distance", total(sizes), "one walks along each axis in turn")


@calculation(
    a="n",
    b="n",
    laws={
        **METRIC,
        "never longer than the straight line": lambda f, a, b: at_most(f(a, b), np.linalg.norm(a - b)),
    },
)
def chebyshev(a: Left, b: Right) -> Node:
    """The largest difference between two points along any axis.

    max|a − b|, the number of moves that a chess king needs.
    """
    sizes = _sizes(a, b)
    return step("distance", peak(sizes), "all axes are walked at once, so the longest decides")


@calculation(
    a="n",
    b="n",
    laws={
        "p = 2 is the straight line": lambda f, a, b: same(f(a, b, p=2), np.linalg.norm(a - b)),
        "p = 1 is the way along the axes": lambda f, a, b: same(f(a, b, p=1), abs(a - b).sum()),
        "a larger p never makes it longer": lambda f, a, b: at_most(f(a, b, p=4), f(a, b, p=3)),
    },
)
def minkowski(a: Left, b: Right, *, p: P = 3) -> Node:
    """The family of distances that holds Manhattan (p = 1) and Euclid (p = 2).

    (Σ|a − b|^p)^(1/p); the larger p, the more the largest difference decides.
    """
    difference = _difference(a, b)
    powers = step("powers", _powers(difference, p), "the larger p, the more the largest difference decides")
    sums = step("sum", total(powers), "all axes count alike")
    return step("distance", root_of_sum(sums, difference, p), "the root brings it back to the units of the entries")


def _difference(a: Node, b: Node) -> Node:
    return step("difference", a - b, "how far apart they are along each axis")


def _sizes(a: Node, b: Node) -> Node:
    return step("absolute", absolute(_difference(a, b)), "a step back is as long as a step forward")


@calculation(
    a="n",
    onto="n | n k",
    check=not_zero("onto", lacks="shadow on it", hint=""),
    laws={
        "what is left stands at right angles to the target": lambda f, a, onto: same(f(a, onto)["residual"] @ onto, 0),
        "projecting once more changes nothing": lambda f, a, onto: same(f(f(a, onto).result, onto), f(a, onto)),
        "the length of the target does not matter": lambda f, a, onto, c: same(f(a, c * onto), f(a, onto)),
    },
)
def project(
    a: Annotated[Node, "the vector"], onto: Annotated[Node, "a vector, or the columns that span a subspace"]
) -> tuple[Node, Node]:
    """The shadow of a vector on another vector or on a subspace.

    Onto a vector b: (a·b / b·b) b. Onto the columns of B: B (BᵀB)⁻¹ Bᵀ a; the columns must not depend on one another.
    What is left, the residual, stands at right angles to it.
    """
    if len(onto.names) > 1 and onto.names[-2:] == ("n", "k"):
        gram = step("gram", onto.T @ rename(onto, "k", "j"), "how the columns lie to one another", symbol="gram")
        weights = step("coefficients", solve(gram, onto.T @ a), "how much of each column the shadow holds")
        shadow = step("projection", onto @ rename(weights, "j", "k"), "the columns, in those amounts")
    else:
        agreement = step("dot", total(a * onto), "how far the two agree")
        square = step("squared_norm", total(onto**2), "the length of the target, squared")
        amount = step("coefficient", agreement / square, "how many times the target fits into the shadow")
        shadow = step("projection", amount * onto, "the target, that many times")
    rest = step("residual", a - shadow, "what no multiple of the target can reach: it stands at right angles to it")
    return shadow, rest
