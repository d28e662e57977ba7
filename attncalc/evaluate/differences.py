"""Central differences: the gradient without any rule of calculus, to check the backward pass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attncalc.common.numerals import Array
from attncalc.evaluate.values import evaluate, evaluate_one
from attncalc.language.graph import Node
from attncalc.record.trace import Check

WITHIN = 1e-6
"""How far both gradients may differ, relative to the largest of gradient, loss and 1."""
STEP = float(np.cbrt(np.finfo(np.float64).eps))
"""How far an entry is moved, relative to the entry or, if that is larger, to 1."""
MOVED_AT_ONCE = 4_000_000
"""The most numbers in one evaluation of moved copies of an operand, which are stacked along a leading axis."""


def compare(output: Node, name: str, gradient: Array, operands: Mapping[str, Array], upstream: Array) -> Check:
    """Compare the gradient with central differences of Σ upstream ⊙ output with respect to the operand `name`.

    If they disagree, two causes are ruled out. At a kink the gradient lies between the slopes on both sides; where the
    slope changes fast, finer differences come closer.
    """
    sides = slopes(output, name, operands, upstream)
    numeric = sides.mean(axis=0)
    loss = np.abs(upstream * evaluate([output], operands)[output]).sum()
    off = WITHIN * max(1.0, float(loss), float(np.max(np.abs(gradient), initial=0.0)))
    kink = np.zeros(numeric.shape, bool)
    if (np.abs(numeric - gradient) > off).any():
        finer = (4 * slopes(output, name, operands, upstream, STEP / 2).mean(axis=0) - numeric) / 3
        numeric = np.where(np.abs(finer - gradient) <= off, finer, numeric)
        between = (sides.min(axis=0) - off <= gradient) & (gradient <= sides.max(axis=0) + off)
        kink = between & (np.abs(numeric - gradient) > off)
    largest = float(np.max(np.abs(numeric - gradient), where=~kink, initial=0.0))
    return Check(numeric, largest, bool(largest <= off), int(kink.sum()))


def slopes(output: Node, name: str, operands: Mapping[str, Array], upstream: Array, step: float = STEP) -> Array:
    """(L(x) − L(x − h)) / h and (L(x + h) − L(x)) / h for every entry x, where L = Σ upstream ⊙ output."""
    x = operands[name].astype(np.float64)
    steps = step * np.maximum(np.abs(x), 1.0)
    found = np.empty((2, x.size))
    here = _losses(output, {**operands, name: x}, upstream, 1)
    at_once = max(1, MOVED_AT_ONCE // (x.size + upstream.size))
    for start in range(0, x.size, at_once):
        which = np.arange(start, min(start + at_once, x.size))
        move = np.zeros((which.size, x.size))
        move[np.arange(which.size), which] = steps.ravel()[which]
        move = move.reshape(which.size, *x.shape)
        moved = [_losses(output, {**operands, name: x + sign * move}, upstream, which.size) for sign in (-1, 1)]
        found[:, which] = np.array([here - moved[0], moved[1] - here]) / steps.ravel()[which]
    return found.reshape(2, *x.shape)


def _losses(output: Node, operands: Mapping[str, Array], upstream: Array, count: int) -> Array:
    """The loss of each moved copy, the same for all if the output does not depend on the moved operand."""
    values = evaluate_one(output, operands, careful=False)
    return np.broadcast_to((values * upstream).sum(axis=tuple(range(-upstream.ndim, 0))), (count,))
