"""Arrays that machines have stored: the type that holds one, and how far its entries may be off."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from attncalc.common.numerals import Array
from attncalc.evaluate.precisions import PRECISIONS, held


def narrowest(value: Array) -> str:
    """The coarsest type that holds all numbers of a floating-point array, which may have been widened from it."""
    if value.dtype.kind != "f":
        return value.dtype.name
    own = value.dtype.name
    finite = value[np.isfinite(value)].astype(np.float64)
    few = finite[:: max(1, finite.size // FIRST)]
    for name in PRECISIONS:
        if name == own:
            break
        if np.array_equal(held(few, name), few) and np.array_equal(held(finite, name), finite):
            return name
    return own


FIRST = 256
"""How many numbers are tried first, before all of them."""


TIMES = 3
"""How often a step is computed in a type to measure the noise of that type."""
ASTRAY, LAST = 8, 4
"""An entry may be off by ASTRAY times the usual error of its row, and by LAST units of the last digit."""

NORMAL = math.sqrt(2 / math.pi)
"""The mean absolute error over the root mean square error, if errors are normal; less if few entries are off.

In a sharp softmax over many keys nearly all weights are 0, and only the few others have noise.
"""


def allowed(right: Array, worked_out: Iterable[Array], name: str) -> Array:
    """How far each entry of an answer in this type may be off, judged by values that were computed in it."""
    finite = np.where(np.isfinite(right), np.abs(right), 0.0)
    if not right.ndim:
        finite = finite.reshape(1)
    size = finite.max(axis=-1, keepdims=True, initial=0.0)
    astray = np.zeros_like(size)
    for value in worked_out:
        with np.errstate(all="ignore"):
            off = np.nan_to_num(value - right, nan=0.0, posinf=0.0, neginf=0.0).reshape(finite.shape)
        square, distance = (np.mean(x, axis=-1, keepdims=True) for x in (np.square(off), np.abs(off)))
        among_few = NORMAL * square / np.where(distance > 0, distance, 1.0)
        astray = np.maximum(astray, np.maximum(np.sqrt(square), among_few))
    usual = np.median(astray[size > 0] / size[size > 0]) if (size > 0).any() else 0.0
    found = ASTRAY * np.maximum(astray, usual * size) + LAST * 2.0 ** -PRECISIONS[name].bits * size
    return np.broadcast_to(found, finite.shape).reshape(right.shape)
