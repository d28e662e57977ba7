"""An answer against a value: right as written, one unit off in the last digit, and how likely it is by chance.

The value is the reference, never the answer, and nothing broadcasts: both have one shape. What is not finite is right
only where masked scores are, −∞, for which a large negative number will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.homework.answers import EXACTLY, LEAST_DECIMALS, Answer

Array = NDArray[Any]

AS_MINUS_INFINITY = -1e4
"""From here on down a number stands for −∞ in masked scores: its exponential is 0."""
LEFT_OVER = 1e-12
"""What cancellation may leave of a 0, relative to the largest entry."""
BY_CHANCE = 0.01
"""An explanation that fits by chance more often than this is none."""


@dataclass(frozen=True)
class Tolerance:
    """How far an answer may be off, where its digits are not to decide: atol + rtol·|value|."""

    rtol: float = 0.0
    atol: float = 0.0


def fits(answer: Answer, value: Array, tolerance: Tolerance | None = None) -> Array:
    """Where the answer is right as it is written: within half a unit of its last digit.

    A 1 or a 0.4 says too little to be taken for a rounded number: it is right where the value has no more digits, or
    none to the decimals that the other entries have.
    """
    if tolerance is not None:
        return _close(answer, value, tolerance.atol + tolerance.rtol * np.abs(value))
    others = 0.5 * 10.0**-answer.used if answer.used >= LEAST_DECIMALS else 0.0
    half = np.where(answer.decimals >= EXACTLY, 0.0, np.where(answer.enough, 0.5 * answer.unit, others))
    close = _close(answer, value, half * (1 + 1e-9) + _noise(answer, value))
    if not np.any(np.nan_to_num(answer.value)):  # zeros throughout say nothing of numbers that are small
        close &= np.abs(value) <= _noise(answer, value)
    return close


def nearly(answer: Answer, value: Array) -> Array:
    """Where the answer is right or one unit off in its last digit, if the value has more digits than it."""
    with np.errstate(invalid="ignore"):
        rounded = np.rint(value / answer.unit) * answer.unit
        more = np.abs(value - rounded) > _noise(answer, value)
        open_ = answer.enough & (answer.decimals < EXACTLY) & ((answer.decimals >= LEAST_DECIMALS) | more)
        off = np.abs(answer.value - rounded) <= answer.unit * (1 + 1e-6) + _noise(answer, value)
    informed = answer.value != 0 if not np.any(np.nan_to_num(answer.value)) else True
    return fits(answer, value) | (open_ & off & informed)


def largest_error(answer: Answer, value: Array) -> float:
    """The largest distance among the entries that are answered and finite."""
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.value - value)
    return float(np.max(off, initial=0.0, where=np.isfinite(off)))


def chance(answer: Answer, value: Array, right: Array, tried: int, slack: Array | float = 0.0) -> float:
    """How likely an answer fits one of so many values by chance, judged by the entries in which they are not right.

    Each entry that tells something counts with the share of the usual range that its digits leave open; entries that
    follow from others, as the last one of a row whose sum is known, tell nothing. `slack` widens what is left open.
    """
    width = np.where(answer.decimals >= EXACTLY, 0.0, answer.unit) + slack
    width = np.broadcast_to(np.maximum(width, 2 * _noise(answer, value)), value.shape)
    if right.shape != value.shape:
        telling, range_ = np.ones(value.shape, dtype=bool), _size(value)
    else:
        with np.errstate(invalid="ignore"):
            telling = ~(np.abs(value - right) <= width)
        telling &= ~((value == right) | (np.isnan(value) & np.isnan(right)))
        telling &= ~_implied(telling, value, right)
        range_ = _size(right) or _size(value)
    shares: dict[tuple[float, float], float] = {}
    wrong_by = right if right.shape == value.shape else np.zeros(value.shape)
    for at in map(tuple, np.argwhere(telling)):
        entry = round(float(value[at]), 9), round(float(wrong_by[at]), 9)
        shares[entry] = min(1.0, float(width[at]) / range_) if range_ else 1.0
    return tried * float(np.prod([*shares.values()])) if shares else 1.0


def _close(answer: Answer, value: Array, most: Array | float) -> Array:
    x = answer.value
    with np.errstate(invalid="ignore"):
        close = np.abs(x - value) <= most
    masked = np.isneginf(value) & (x <= AS_MINUS_INFINITY)
    return np.where(np.isfinite(value), close & np.isfinite(x), masked | (np.isposinf(value) & np.isposinf(x)))


def _noise(answer: Answer, value: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(value), answer.noise * np.abs(value) + LEFT_OVER * _size(value), 0.0)


def _size(value: Array) -> float:
    return float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))


def _implied(telling: Array, value: Array, right: Array) -> Array:
    """The last telling entry of each row whose sum is that of the right row."""
    implied = np.zeros_like(telling)
    if value.ndim:
        with np.errstate(invalid="ignore"):
            known = np.abs(value.sum(axis=-1) - right.sum(axis=-1)) <= 1e-9 * max(1.0, _size(right))
        for row in np.argwhere(known & (telling.sum(axis=-1) > 1)):
            last = np.flatnonzero(telling[tuple(row)])[-1]
            implied[(*row, last)] = True
    return implied
