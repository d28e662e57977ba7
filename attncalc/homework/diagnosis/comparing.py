"""An answer is compared with a value: right as it is written, or one unit off in its last digit.

The value is the reference, never the answer, and nothing broadcasts: both have one shape. What is not finite is right
only where masked scores are, −∞, for which a large negative number will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attncalc.common.arrays import Array
from attncalc.homework.reading.answers import BY_HAND, LEAST_DECIMALS, ROUND_OFF, Answer

AS_MINUS_INFINITY = -1e4
"""From here on down a number stands for −∞ in masked scores: its exponential is 0."""
AS_SHOWN = 1e-6
"""So far, relative to it, a value may lie from one of few digits and have no more: 0.099999998 is shown as 0.1."""
LEFT_OVER = 1e-12
"""What cancellation may leave of a 0, relative to the largest entry."""


class Tolerance(NamedTuple):
    """How far an answer may be off, where its digits are not to decide: atol + rtol·|value|."""

    rtol: float = 0.0
    atol: float = 0.0


def fits(answer: Answer, value: Array, tolerance: Tolerance | None = None) -> Array:
    """Where the answer is right as it is written: within half a unit of its last digit.

    A 1 or a 0.4 says too little to be taken for a rounded number: it is right where the value has no more digits, or
    none to the decimals that the other entries have. Zeros throughout fit nothing but 0: they may be what somebody
    writes who has no answer. Many values may stand on a leading axis.
    """
    close = _within_digits(answer, value, tolerance)
    if tolerance is None and not answer.informative:
        close &= np.abs(value) <= noise(answer, value) + answer.nil
    return close


def is_right(answer: Answer, value: Array, tolerance: Tolerance | None = None) -> bool:
    """Whether every entry is right as it is written; here 0.000 is right for any number below 0.0005."""
    zeros = not answer.informative and answer.value.size <= BY_HAND and bool(answer.enough.all())
    return bool((_within_digits if zeros else fits)(answer, value, tolerance).all())


def nearly(answer: Answer, value: Array) -> Array:
    """Where the answer is right or one unit off in its last digit, if the value has more digits than it."""
    with np.errstate(invalid="ignore"):
        rounded = np.rint(value / answer.unit) * answer.unit
        has_more = np.abs(value - rounded) > noise(answer, value)
        may_be_off = answer.enough & ~answer.exact & ((answer.decimals >= LEAST_DECIMALS) | has_more)
        near = np.abs(answer.value - rounded) <= answer.unit * (1 + 1e-6) + noise(answer, value)
    return np.asarray(fits(answer, value) | (may_be_off & near & answer.informative))


Close = Callable[[Answer, Array], Array]
"""`fits` or `nearly`."""


def fitting(answer: Answer, values: Array, close: Close = fits) -> Array:
    """The numbers of those values on a leading axis that are right throughout."""
    return np.flatnonzero(close(answer, values).reshape(len(values), -1).all(axis=1))


def comes_out(value: Array, unit: Array | float) -> bool:
    """Whether every entry has no more digits than a unit says."""
    finite = (value / unit)[np.isfinite(value)]
    return bool(np.all(np.abs(finite - np.rint(finite)) <= 1e-9 * np.maximum(1, np.abs(finite))))


def says_nothing(value: Array, expected: Array) -> bool:
    """Whether a value is NaN somewhere, or 0 throughout where it should not be: nothing follows from it."""
    return bool(np.isnan(value).any() or (not np.any(value) and np.any(expected)))


def largest(value: Array) -> float:
    """The size of the largest finite entry, 0 where there is none."""
    return float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))


def largest_error(answer: Answer, value: Array) -> float:
    """The largest distance among the entries that are answered and finite."""
    with np.errstate(invalid="ignore"):
        return largest(answer.value - value)


def noise(answer: Answer, value: Array) -> Array:
    """How far an answer may lie from a value because numbers of its type are not exact."""
    finite = np.where(np.isfinite(value), np.abs(value), 0.0)
    size = np.max(finite, axis=tuple(range(-answer.value.ndim, 0)), keepdims=True, initial=0.0)
    left_over = LEFT_OVER if answer.noise <= ROUND_OFF else answer.noise  # sums of narrower numbers leave more
    return np.asarray(answer.noise * finite + left_over * size)


def _within_digits(answer: Answer, value: Array, tolerance: Tolerance | None) -> Array:
    """Where the value is within half a unit of the last digit, or within a tolerance."""
    if tolerance is not None:
        return _within(answer, value, tolerance.atol + tolerance.rtol * np.abs(value))
    others = 0.5 * 10.0**-answer.used if answer.used >= LEAST_DECIMALS else 0.0
    shown = AS_SHOWN * np.abs(value) if answer.value.size <= BY_HAND else 0.0
    of_few_digits = np.maximum(shown, np.where(answer.exact, 0.0, others))
    half = np.where(answer.enough & ~answer.exact, 0.5 * answer.unit, of_few_digits)
    return _within(answer, value, half * (1 + 1e-9) + noise(answer, value))


def _within(answer: Answer, value: Array, distance: Array | float) -> Array:
    """Where the answer is no further from the value than that; infinities are near their own kind alone."""
    written = answer.value
    with np.errstate(invalid="ignore"):
        close = np.abs(written - value) <= distance
    masked = np.isneginf(value) & (written <= AS_MINUS_INFINITY)
    infinite = masked | (np.isposinf(value) & np.isposinf(written))
    return np.where(np.isfinite(value), close & np.isfinite(written), infinite)
