"""Vectors: products, angles and projections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from attncalc.common.errors import DomainError
from attncalc.common.system import loaded
from attncalc.declare.calculation import at_most, calculation, same
from attncalc.language.graph import Node, output, step
from attncalc.language.ops import (
    angle_between,
    cosine_ratio,
    inverse,
    multiple,
    rename,
    root_of_sum,
    solve,
    spread,
    total,
)
from attncalc.language.ops import outer as outer_product

if TYPE_CHECKING:  # few calls draw
    from attncalc.declare.sweeps import Sweep
    from attncalc.record.pictures import Picture
    from attncalc.record.trace import Trace

Left = Annotated[Node, "the first vector"]
Right = Annotated[Node, "the second vector"]


DISTANCE = "a distance (euclidean, manhattan) is defined for it"


def length(x: Node) -> Node:
    """Euclid's length."""
    return root_of_sum(total(x**2), x, 2)


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
    reference="Strang 2016, Introduction to Linear Algebra, section 1.2",
)
def dot(a: Left, b: Right) -> Node:
    """Multiply two vectors entry by entry and add up the products.

    The inner product of ordinary vectors; O(n).
    """
    products = step("products", a * b, "entries of the same sign count for agreement, others against it")
    return step("dot", total(products), "one number that says how much the two agree")


@calculation(
    a="m",
    b="n",
    laws={
        "swapping the two transposes the result": lambda f, a, b: same(f(b, a), f(a, b).result.T),
        "the rows are multiples of b: its rank is 1": lambda f, a, b: same(f(a, b).result @ b, a * (b @ b)),
    },
    reference="Golub and Van Loan 2013, Matrix Computations, section 1.1; as numpy.outer",
)
def outer(a: Left, b: Right) -> Node:
    """Multiply every entry of one vector by every entry of another.

    The sizes need not match; the result has one row for each entry of a.
    """
    leads = tuple(axis for axis in b.axes[:-1] if axis.name not in a.names)  # a batch axis is in front of the rows
    a = spread(a, leads + a.axes)
    return step("outer", outer_product(a, b), "every entry of a meets every entry of b: each row is a multiple of b")


def _angle(trace: Trace, sweep: Sweep) -> Iterator[Picture]:
    """The two vectors in the plane that they lie in."""
    a, b = (trace.inputs[name].value for name in ("a", "b"))
    if a.ndim == b.ndim == 1 and (around := loaded("declare.sweeps:fan")("the angle between", ("a", a), [("b", b)])):
        yield around


@calculation(
    a="n",
    b="n",
    pictures=_angle,
    check=not_zero("a", "b"),
    laws={
        "lengths do not matter": lambda f, a, b, c: same(f(c * a, b), f(a, b)),
        "the order of the two does not matter": lambda f, a, b: same(f(a, b), f(b, a)),
        "between −1 and 1": lambda f, a, b: at_most(abs(f(a, b).result), 1),
        "the opposite vector has the opposite cosine": lambda f, a, b: same(f(-a, b), -f(a, b).result),
    },
    reference="Strang 2016, Introduction to Linear Algebra, section 1.2; between texts: Manning et al. 2008, "
    "Introduction to Information Retrieval, section 6.3.1",
)
def cosine(a: Left, b: Right, *, distance: Annotated[bool, "give 1 − cosine instead"] = False) -> tuple[Node, Node]:
    """How closely two vectors point in the same direction, whatever their lengths.

    a·b / (‖a‖·‖b‖): 1 the same direction, 0 at right angles, −1 opposite. The angle between them, in degrees, is an
    additional output. A zero vector has no direction and is an error.
    """
    agreement = step("dot", total(a * b), "how much the two agree, scaled by both lengths")
    norm_a = step("norm_a", length(a), "the length of a", symbol="‖a‖")
    norm_b = step("norm_b", length(b), "the length of b", symbol="‖b‖")
    norms = step("norm_product", norm_a * norm_b, "what the dot product would be if they pointed the same way")
    similarity = step(
        "cosine", cosine_ratio(agreement, norms, a, b), "the fraction of that maximum reached: lengths cancel"
    )
    angle = output("angle", angle_between(similarity, a, b), "the angle between them, in degrees")
    if distance:
        apart = step("distance", 1 - similarity, "0 for the same direction, 2 for opposite ones")
        return apart, angle
    return similarity, angle


def _one_target_not_zero(values: Mapping[str, Any]) -> None:
    """Raise for a vector that is zero; of a matrix of columns a row may be, and whether columns will do shows later."""
    if values["onto"].ndim <= values["a"].ndim:
        not_zero("onto", lacks="shadow on it", hint="")(values)


@calculation(
    a="n",
    onto="n | n k",
    check=_one_target_not_zero,
    laws={
        "the residual is orthogonal to the target": lambda f, a, onto: same(f(a, onto)["residual"] @ onto, 0),
        "projecting once more changes nothing": lambda f, a, onto: same(f(f(a, onto).result, onto), f(a, onto)),
        "the length of the target does not matter": lambda f, a, onto, c: same(f(a, c * onto), f(a, onto)),
    },
    reference="Strang 2016, Introduction to Linear Algebra, section 4.2",
)
def project(
    a: Annotated[Node, "the vector"], onto: Annotated[Node, "a vector, or the columns that span a subspace"]
) -> tuple[Node, Node]:
    """The shadow of a vector on another vector or on a subspace.

    Onto a vector b: (a·b / b·b) b. Onto the columns of B: B (BᵀB)⁻¹ Bᵀ a; the columns must be linearly independent.
    What is left over, the residual, is orthogonal to it.
    """
    if len(onto.names) > 1 and onto.names[-2:] == ("n", "k"):
        gram = step("gram", onto.T @ rename(onto, "k", "j"), "how far the columns overlap", symbol="gram")
        why, how = "how much of each column the projection takes", "the columns, added up in those amounts"
        if set(a.names) <= set(onto.names):
            weights = step("coefficients", solve(gram, onto.T @ a), why)
            shadow = step("projection", onto @ rename(weights, "j", "k"), how)
        else:  # rows of vectors, projected onto one subspace
            weights = step("coefficients", (a @ rename(onto, "k", "j")) @ inverse(gram), why)
            shadow = step("projection", weights @ onto.T, how)
    else:
        agreement = step("dot", total(a * onto), "how much the two agree, scaled by both lengths")
        square = step("squared_norm", total(onto**2), "the length of the target, squared")
        amount = step(
            "coefficient", multiple(agreement, square, a, onto), "how many times the target fits into the projection"
        )
        leads = tuple(axis for axis in amount.axes if axis.name not in onto.names)  # several vectors onto one target
        shadow = step("projection", amount * spread(onto, leads + onto.axes), "the target, stretched by that factor")
    rest = step("residual", a - shadow, "what the projection misses: it is orthogonal to the target")
    return shadow, rest
