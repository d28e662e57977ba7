"""An explanation must fit better than chance: here it is weighed how often an answer fits a value by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attncalc.common.arrays import Array
from attncalc.homework.diagnosis.comparing import LEFT_OVER, comes_out, largest, noise
from attncalc.homework.reading.answers import LEAST_DECIMALS, LEAST_FIGURES, Answer

BY_CHANCE, BY_CHANCE_OF_FEW = 0.01, 0.001
"""An explanation that fits by chance more often than this is none; where few decimals were written, by far."""
OFTEN = 0.05
"""Where one answer in so many could be had by rounding in some manner or other, rounding explains nothing."""
OUTLYING = 5
"""So many times the largest entry of what is right lies beyond the usual range."""


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
    """How an answer may fit by chance one of the values that are tried.

    `others` are the values that are tried with it, of which those that are right cannot be hit, and `tried` is how many
    more there were. An entry in which the value is not right counts with the share of the usual range that its digits
    leave open; the last one of a row whose sum is known tells nothing, nor does a row that is like another. `slack`
    widens what is left open; `prior` is below 1 where the value is likelier to be written than others.
    """
    width = np.where(answer.exact, 0.0, answer.unit) + slack
    width = np.broadcast_to(np.maximum(width, 2 * noise(answer, value)), value.shape)
    left_open = np.where(answer.enough, width, 2 * noise(answer, value))
    telling = ~_alike(value, right, left_open)
    same_shape = [other for other in others if other.shape == value.shape]
    sums = _has_known_sums(right) and _same_sums(answer.value, right, left_open)
    if sums:
        same_shape = [other for other in same_shape if _same_sums(other, right, left_open)]
    shares = sums and np.all((right >= 0) & (right <= 1))
    share = np.minimum(1.0, width / ((1.0 if shares else _range([*same_shape, value], right)) or 1.0))
    rows: dict[bytes, float] = {}
    for known, row, wrong in zip(*(_rows(part) for part in (telling, share, value)), strict=True):
        told = np.sort(row[known])[: max(int(known.sum()) - 1, 1)] if sums else row[known]
        if told.size:
            rows[wrong.round(9).tobytes()] = float(np.prod(told))
    could_be_hit = (o for o in same_shape if _could_be_written(answer, o) and not _alike(o, right, left_open).all())
    few = 0 < answer.used < LEAST_FIGURES and not comes_out(value, 10.0**-answer.used)
    count = tried + max(sum(1 for _ in could_be_hit), 1)
    return Odds(prior * count, float(np.prod([*rows.values()])), BY_CHANCE_OF_FEW if few else BY_CHANCE)


def chance(answer: Answer, exact: Array, width: Array) -> float:
    """The share of all answers of that size that lie within a width of the exact one."""
    size = largest(exact) or 1.0
    return float(np.prod(np.minimum(1.0, np.where(np.isfinite(width), width, size) / size)))


def by_rounding(answer: Answer, exact: Array, values: Array) -> float:
    """The share of all answers that some of those values, in as many manners of rounding, come to."""
    with np.errstate(invalid="ignore"):
        written = np.rint(values / answer.unit)
    return len(np.unique(written.reshape(len(values), -1), axis=0)) * chance(answer, exact, answer.unit)


def is_by_rule(answer: Answer, value: Array, right: Array) -> bool:
    """Whether few digits were written because a value has no more, though what is right has: 14 for √14 is no 3.742."""
    unit = 10.0**-answer.used
    if answer.used >= LEAST_FIGURES or not comes_out(value, unit) or comes_out(right, unit):
        return False
    return not _alike(value, right, np.asarray(unit)).all()


def _alike(value: Array, right: Array, width: Array) -> Array:
    """Where a value is as good as the right one."""
    if value.shape != right.shape:
        return np.zeros(value.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        close = np.abs(value - right) <= width
    return np.asarray(close | (value == right) | (np.isnan(value) & np.isnan(right)))


def _rows(value: Array) -> Array:
    return value.reshape(-1, value.shape[-1]) if value.ndim else value.reshape(1, 1)


def _has_known_sums(right: Array) -> bool:
    """Whether every row sums to 1, as shares do, or to 0, as what is moved from one share to another does."""
    if not right.ndim or right.shape[-1] < 2 or not np.isfinite(right).all():
        return False
    sums, size = right.sum(axis=-1), np.abs(right).sum(axis=-1)
    return any(bool(np.all(np.abs(sums - known) <= LEFT_OVER * 1e3 * size)) for known in (0, 1))


def _same_sums(a: Array, b: Array, width: Array) -> bool:
    """Whether the rows of two values have the same sums."""
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
    most = OUTLYING * largest(right)
    alike = [right if right.shape == values[-1].shape else np.zeros(values[-1].shape), *values]
    finite = np.array([np.where(np.isfinite(value), value, 0.0) for value in alike])
    if most:
        finite[:-1] = np.clip(finite[:-1], -most, most)
    return float(np.max(np.ptp(finite, axis=0), initial=0.0))
