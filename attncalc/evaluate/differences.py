"""Central differences: what a gradient comes to without any rule of calculus, to be put beside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attncalc.common.numerals import Array
from attncalc.evaluate.values import evaluate
from attncalc.language.graph import Node
from attncalc.record.trace import Check

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
    values = evaluate([output], operands, keep=lambda node: False, careful=False)[output]
    return np.broadcast_to((values * upstream).sum(axis=tuple(range(-upstream.ndim, 0))), (count,))
