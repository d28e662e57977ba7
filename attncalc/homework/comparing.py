"""An answer against a value: right as written, one unit off in the last digit, and how likely it is by chance.

The value is the reference, never the answer, and nothing broadcasts: both have one shape. What is not finite is right
only where masked scores are, −∞, for which a large negative number will do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attncalc.arrays import Array
from attncalc.homework.answers import BY_HAND, LEAST_DECIMALS, LEAST_FIGURES, ROUND_OFF, Answer

AS_MINUS_INFINITY = -1e4
"""From here on down a number stands for −∞ in masked scores: its exponential is 0."""
AS_SHOWN = 1e-6
"""So far, relative to it, a value may lie from one of few digits and have no more: 0.099999998 is shown as 0.1."""
LEFT_OVER = 1e-12
"""What cancellation may leave of a 0, relative to the largest entry."""
BY_CHANCE, BY_CHANCE_OF_FEW = 0.01, 0.001
"""An explanation that fits by chance more often than this is none; where few decimals were written, by far."""
OFTEN = 0.05
"""Where one answer in so many could be had by rounding in some manner or other, rounding explains nothing."""
OUTLYING = 5
"""So many times the largest entry of what is right lies beyond the usual range."""
COPIED, AGAIN, PAIRED = 0.1, 0.02, 10.0
"""What stands on the page already is so much likelier to be written down, and what was done wrong to be done again;
two mistakes at once are so much less likely."""
BY_RULE, RESHAPED = 0.02, 0.1
"""A round number that nobody has by rounding what is right is so much likelier to come from a known rule, and so is an
answer of another shape."""
COUNTED = 0.02
"""Whole numbers that another convention gives, as of places counted from 1, are so much likelier than others."""


@dataclass(frozen=True)
class Tolerance:
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
        close &= np.abs(value) <= _noise(answer, value) + answer.nil
    return close


def is_right(answer: Answer, value: Array, tolerance: Tolerance | None = None) -> bool:
    """Whether an answer is right as it is written, in every entry: so is 0.000 for a number below 0.0005."""
    zeros = not answer.informative and answer.value.size <= BY_HAND and bool(answer.enough.all())
    return bool((_within_digits if zeros else fits)(answer, value, tolerance).all())


def _within_digits(answer: Answer, value: Array, tolerance: Tolerance | None) -> Array:
    """Where the value is within half a unit of the last digit, or within a tolerance."""
    if tolerance is not None:
        return _close(answer, value, tolerance.atol + tolerance.rtol * np.abs(value))
    others = 0.5 * 10.0**-answer.used if answer.used >= LEAST_DECIMALS else 0.0
    shown = AS_SHOWN * np.abs(value) if answer.value.size <= BY_HAND else 0.0
    few = np.maximum(shown, np.where(answer.exact, 0.0, others))
    half = np.where(answer.enough & ~answer.exact, 0.5 * answer.unit, few)
    return _close(answer, value, half * (1 + 1e-9) + _noise(answer, value))


def nearly(answer: Answer, value: Array) -> Array:
    """Where the answer is right or one unit off in its last digit, if the value has more digits than it."""
    with np.errstate(invalid="ignore"):
        rounded = np.rint(value / answer.unit) * answer.unit
        more = np.abs(value - rounded) > _noise(answer, value)
        open_ = answer.enough & ~answer.exact & ((answer.decimals >= LEAST_DECIMALS) | more)
        off = np.abs(answer.value - rounded) <= answer.unit * (1 + 1e-6) + _noise(answer, value)
    return np.asarray(fits(answer, value) | (open_ & off & answer.informative))


Close = Callable[[Answer, Array], Array]
"""`fits` or `nearly`."""


def fitting(answer: Answer, values: Array, close: Close = fits) -> Array:
    """The numbers of those values on a leading axis that are right throughout."""
    return np.flatnonzero(close(answer, values).reshape(len(values), -1).all(axis=1))


def largest_error(answer: Answer, value: Array) -> float:
    """The largest distance among the entries that are answered and finite."""
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.value - value)
    return float(np.max(off, initial=0.0, where=np.isfinite(off)))


class Odds(NamedTuple):
    """How an answer may fit a value by chance: how many values are tried, and the share of all answers that fit one."""

    tried: float
    share: float
    most: float  # what is convincing is less likely than this

    @property
    def convince(self) -> bool:
        """Whether the answer fits too well for chance."""
        return self.tried * self.share < self.most


def odds(
    answer: Answer,
    value: Array,
    right: Array,
    others: Sequence[Array] = (),
    *,
    tried: int = 0,
    slack: Array | float = 0.0,
    prior: float = 1.0,
) -> Odds:
    """How an answer may fit one of the values that are tried by chance.

    `others` are the values that are tried with it, of which those that are right cannot be hit, and `tried` is how many
    more there were. An entry in which the value is not right counts with the share of the usual range that its digits
    leave open; the last one of a row whose sum is known tells nothing, nor does a row that is like another. `slack`
    widens what is left open; `prior` is below 1 where the value is likelier to be written than others.
    """
    width = np.where(answer.exact, 0.0, answer.unit) + slack
    width = np.broadcast_to(np.maximum(width, 2 * _noise(answer, value)), value.shape)
    open_ = np.where(answer.enough, width, 2 * _noise(answer, value))
    telling = ~_alike(value, right, open_)
    same = [other for other in others if other.shape == value.shape]
    sums = _known_sums(right) and _same_sums(answer.value, right, open_)
    if sums:
        same = [other for other in same if _same_sums(other, right, open_)]
    whole = 1.0 if sums and np.all((right >= 0) & (right <= 1)) else _range([*same, value], right)
    share = np.minimum(1.0, width / (whole or 1.0))
    same = [other for other in same if _could_be_written(answer, other) and not _alike(other, right, open_).all()]
    rows: dict[bytes, float] = {}
    for known, row, wrong in zip(*(_rows(part) for part in (telling, share, value)), strict=True):
        told = np.sort(row[known])[: max(int(known.sum()) - 1, 1)] if sums else row[known]
        if told.size:
            rows[wrong.round(9).tobytes()] = float(np.prod(told))
    few = 0 < answer.used < LEAST_FIGURES and not comes_out(value, 10.0**-answer.used)
    most = BY_CHANCE_OF_FEW if few else BY_CHANCE
    return Odds(prior * (tried + max(len(same), 1)), float(np.prod([*rows.values()])) if rows else 1.0, most)


def chance(answer: Answer, exact: Array, width: Array) -> float:
    """The share of all answers of that size that lie within a width of the exact one."""
    size = _size(exact) or 1.0
    return float(np.prod(np.minimum(1.0, np.where(np.isfinite(width), width, size) / size)))


def by_rounding(answer: Answer, exact: Array, values: Array) -> float:
    """The share of all answers that some of those values, in as many manners of rounding, come to."""
    with np.errstate(invalid="ignore"):
        written = np.rint(values / answer.unit)
    return len(np.unique(written.reshape(len(values), -1), axis=0)) * chance(answer, exact, answer.unit)


def _alike(value: Array, right: Array, width: Array) -> Array:
    """Where a value is as good as the right one."""
    if value.shape != right.shape:
        return np.zeros(value.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        close = np.abs(value - right) <= width
    return np.asarray(close | (value == right) | (np.isnan(value) & np.isnan(right)))


def _rows(value: Array) -> Array:
    return value.reshape(-1, value.shape[-1]) if value.ndim else value.reshape(1, 1)


def _known_sums(right: Array) -> bool:
    """Whether every row sums to 1, as shares do, or to 0, as what is moved from one share to another does."""
    if not right.ndim or right.shape[-1] < 2 or not np.isfinite(right).all():
        return False
    sums, size = right.sum(axis=-1), np.abs(right).sum(axis=-1)
    return any(bool(np.all(np.abs(sums - known) <= LEFT_OVER * 1e3 * size)) for known in (0, 1))


def _same_sums(a: Array, b: Array, width: Array) -> bool:
    """Whether rows have the sums that they should have, as rows of shares do."""
    if not a.ndim or a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.abs(a.sum(axis=-1) - b.sum(axis=-1)) <= width.sum(axis=-1)))


def _could_be_written(answer: Answer, value: Array) -> bool:
    """Whether a value comes out evenly where the answer has so few digits that only such a one fits."""
    few = ~answer.enough
    if not few.any() or answer.used >= LEAST_DECIMALS:
        return True
    return bool(np.isfinite(value[few]).all()) and comes_out(value[few], answer.unit[few])


def _range(values: Sequence[Array], right: Array) -> float:
    """How far the values that are tried spread, with the last of them and what is right; outliers of the others apart.

    It begins at 0 where what is right has another shape.
    """
    most = OUTLYING * _size(right)
    alike = [right if right.shape == values[-1].shape else np.zeros(values[-1].shape), *values]
    finite = np.array([np.where(np.isfinite(value), value, 0.0) for value in alike])
    if most:
        finite[:-1] = np.clip(finite[:-1], -most, most)
    return float(np.max(np.ptp(finite, axis=0), initial=0.0))


def _close(answer: Answer, value: Array, most: Array | float) -> Array:
    x = answer.value
    with np.errstate(invalid="ignore"):
        close = np.abs(x - value) <= most
    masked = np.isneginf(value) & (x <= AS_MINUS_INFINITY)
    return np.where(np.isfinite(value), close & np.isfinite(x), masked | (np.isposinf(value) & np.isposinf(x)))


def _noise(answer: Answer, value: Array) -> Array:
    finite = np.where(np.isfinite(value), np.abs(value), 0.0)
    size = np.max(finite, axis=tuple(range(-answer.value.ndim, 0)), keepdims=True, initial=0.0)
    left_over = LEFT_OVER if answer.noise <= ROUND_OFF else answer.noise  # sums of narrower numbers leave more
    return np.asarray(answer.noise * finite + left_over * size)


def _size(value: Array) -> float:
    return float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))


def is_by_rule(answer: Answer, value: Array, right: Array) -> bool:
    """Whether few digits were written because a value has no more, though what is right has, and is not cut down to it.

    14 for √14 is no rounded 3.742.
    """
    unit = 10.0**-answer.used
    if answer.used >= LEAST_FIGURES or not comes_out(value, unit) or comes_out(right, unit):
        return False
    return not _alike(value, right, np.asarray(unit)).all()


def comes_out(value: Array, unit: Array | float) -> bool:
    """Whether every entry has no more digits than a unit says."""
    finite = (value / unit)[np.isfinite(value)]
    return bool(np.all(np.abs(finite - np.rint(finite)) <= 1e-9 * np.maximum(1, np.abs(finite))))
