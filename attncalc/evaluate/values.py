"""Graph and operands → values: floats, exact numbers and symbols alike, with given steps and rounding at each step.

What kind of numbers comes out is a property of the operands: float64 or float32 arrays, or object arrays of SymPy
numbers. Numbers in formulas and sizes are brought to the same kind, so that none widens another.

Central differences are values too: the slope found by moving one entry at a time, without any calculus.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc.common.arrays import Array
from attncalc.language.axes import align
from attncalc.language.graph import Node, walk
from attncalc.record.trace import Check

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Rounding = Callable[[Array], Array]
"""What is done to the value of each step before the next one uses it."""
Keys = Collection[tuple[str, str]]


class Plan(NamedTuple):
    """What evaluate runs by; a loop makes it once and runs it at every turn."""

    roots: tuple[Node, ...]
    order: tuple[Node, ...]  # sources first
    release: tuple[tuple[Node, ...], ...]  # for each place in the order, the values that nobody needs any more


def named(node: Node) -> bool:
    """Whether a value is kept to the end: that of a step is, for the reader."""
    return node.op == "step"


def plan(roots: Sequence[Node], *, given: Keys = (), keep: Callable[[Node], bool] = named) -> Plan:
    """The nodes behind the roots in order; behind a given step, by its (group, name), nothing is needed."""
    order = walk(*roots, into=lambda node: () if is_given(node, given) else node.sources)
    last: dict[Node, int] = {}
    for place, node in enumerate(order):
        if not is_given(node, given):
            for source in node.sources:
                last[source] = place
    wanted = set(roots)
    release: list[list[Node]] = [[] for _ in order]
    for node, place in last.items():
        if node not in wanted and not keep(node):
            release[place].append(node)
    return Plan(tuple(roots), tuple(order), tuple(map(tuple, release)))


def is_given(node: Node, given: Keys) -> bool:
    """Whether a step's value is given, so that it is not computed."""
    return bool(given) and node.op == "step" and node.key in given


def evaluate(
    roots: Sequence[Node] | Plan,
    operands: Mapping[str, Array],
    *,
    dtype: DTypeLike = np.float64,
    given: Mapping[tuple[str, str], Array] | None = None,
    after_step: Rounding | None = None,
    keep: Callable[[Node], bool] = named,
) -> dict[Node, Array]:
    """The values of the roots and of every step behind them.

    `given` holds values for steps by their (group, name): the walk stops there. `after_step` is applied to a step's
    value before the next one uses it (rounding by hand). Other values are let go after their last use.
    """
    given = given or {}
    order = roots if isinstance(roots, Plan) else plan(roots, given=given.keys(), keep=keep)
    kind = np.dtype(dtype)
    values: dict[Node, Array] = {}
    with np.errstate(all="ignore"):  # what overflows or has no answer is found, and told, by whoever reads the steps
        for node, released in zip(order.order, order.release, strict=True):
            if node.op == "step":
                value = given[node.key] if is_given(node, given) else values[node.sources[0]]
                values[node] = after_step(value) if after_step else value
            else:
                values[node] = value_of(node, values, operands, kind)
            for source in released:
                del values[source]
    return values


def by_key(values: Mapping[Node, Array]) -> dict[tuple[str, str], Array]:
    """The values of the steps among these nodes by their (group, name), as they are given to another evaluation."""
    return {node.key: value for node, value in values.items() if node.op == "step"}


def value_of(node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], dtype: np.dtype[Any]) -> Array:
    """The value of one node but a step, from those of its sources."""
    if node.op == "input":
        return operands[node.args["name"]]
    if not node.sources:
        return np.asarray(node.row.kernel(node, dtype))
    if node.row.elementwise:
        sources = [align(values[source], source.axes, node.axes) for source in node.sources]
        return np.asarray(node.row.kernel(*sources))
    return np.asarray(node.row.kernel(node, *(values[source] for source in node.sources)))


WITHIN = 1e-6
"""How far the two may lie apart, relative to the largest of the gradient, of the loss, and of 1."""
MOVED_AT_ONCE = 4_000_000
"""So many numbers at most are moved in one evaluation: the moved copies of an operand stand on a leading axis."""


def compare(output: Node, name: str, gradient: Array, operands: Mapping[str, Array], upstream: Array) -> Check:
    """Central differences of Σ upstream ⊙ output with respect to the operand called `name`, beside its gradient."""
    numeric = central_differences(output, name, operands, upstream)
    loss = np.abs(upstream * evaluate([output], operands)[output]).sum()
    largest = float(np.max(np.abs(numeric - gradient), initial=0.0))
    scale = max(1.0, float(loss), float(np.max(np.abs(gradient), initial=0.0)))
    return Check(numeric, largest, bool(largest <= WITHIN * scale))


def central_differences(output: Node, name: str, operands: Mapping[str, Array], upstream: Array) -> Array:
    """(L(x + h) − L(x − h)) / 2h for every entry x of the operand, where L = Σ upstream ⊙ output."""
    x = operands[name].astype(np.float64)
    steps = np.cbrt(np.finfo(np.float64).eps) * np.maximum(np.abs(x), 1.0)
    slopes = np.empty(x.size)
    at_once = max(1, MOVED_AT_ONCE // (x.size + upstream.size))
    for start in range(0, x.size, at_once):
        which = np.arange(start, min(start + at_once, x.size))
        move = np.zeros((which.size, x.size))
        move[np.arange(which.size), which] = steps.ravel()[which]
        move = move.reshape(which.size, *x.shape)
        moved = ({**operands, name: x + sign * move} for sign in (1, -1))
        up, down = (_losses(output, values, upstream, which.size) for values in moved)
        slopes[which] = (up - down) / (2 * steps.ravel()[which])
    return slopes.reshape(x.shape)


def _losses(output: Node, operands: Mapping[str, Array], upstream: Array, count: int) -> Array:
    """One loss for each moved copy; an output that the moved operand has no part in is the same for all of them."""
    values = evaluate([output], operands, keep=lambda node: False)[output]
    return np.broadcast_to((values * upstream).sum(axis=tuple(range(-upstream.ndim, 0))), (count,))
