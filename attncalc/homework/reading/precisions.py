"""The types in which machines store numbers: which one holds an array, and what a number becomes in it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple


class Precision(NamedTuple):
    """A binary floating-point type."""

    bits: int  # significant ones
    least: int  # the exponent of the smallest normal number
    most: float  # the largest finite number


PRECISIONS = {
    "float8_e5m2": Precision(3, -14, 57344.0),
    "float8_e4m3fn": Precision(4, -6, 448.0),
    "bfloat16": Precision(8, -126, float(2.0**128 - 2.0**120)),
    "float16": Precision(11, -14, 65504.0),
    "float32": Precision(24, -126, float(2.0**128 - 2.0**104)),
    "float64": Precision(53, -1022, float(np.finfo(np.float64).max)),
}
"""By their names (`STORED`), the coarsest first."""


def held(value: Array, name: str, by_chance: np.random.Generator | None = None) -> Array:
    """What a type holds of numbers: the nearest that it has, of two as near the even one; ∞ beyond its largest.

    Or one of the two beside a number by chance, the likelier the nearer it is.
    """
    bits, least, most = PRECISIONS[name]
    if value.dtype.kind != "f" or bits >= PRECISIONS["float64"].bits:
        return value
    _, exponent = np.frexp(np.where(np.isfinite(value), value, 0.0))
    unit = np.ldexp(1.0, np.maximum(exponent, least + 1) - bits)
    with np.errstate(invalid="ignore"):
        units = value / unit
        rounded = (np.rint(units) if by_chance is None else np.floor(units + by_chance.random(units.shape))) * unit
        return np.where(np.abs(rounded) > most, np.copysign(np.inf, value), rounded)


def narrowest(value: Array) -> str:
    """The coarsest type that holds every number of a floating-point array: it may have been widened from there."""
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
"""So many numbers are looked at before all of them."""


TIMES = 3
"""So many times something is worked out in a type to see what noise it leaves."""
ASTRAY, LAST = 8, 4
"""An entry may go astray by so many times what its row does on the average, and by so many units of its last digit."""


def allowed(right: Array, worked_out: Iterable[Array], name: str) -> Array:
    """How far entries may be off that were worked out in a type, as they are in some calculations in it."""
    finite = np.where(np.isfinite(right), np.abs(right), 0.0)
    if not right.ndim:
        finite = finite.reshape(1)
    size = finite.max(axis=-1, keepdims=True, initial=0.0)
    squares = np.zeros_like(size)
    for value in worked_out:
        with np.errstate(all="ignore"):
            off = np.nan_to_num(value - right, nan=0.0, posinf=0.0, neginf=0.0).reshape(finite.shape)
        squares = np.maximum(squares, np.mean(np.square(off), axis=-1, keepdims=True))
    astray = np.sqrt(squares)
    usual = np.median(astray[size > 0] / size[size > 0]) if (size > 0).any() else 0.0
    found = ASTRAY * np.maximum(astray, usual * size) + LAST * 2.0 ** -PRECISIONS[name].bits * size
    return np.broadcast_to(found, finite.shape).reshape(right.shape)
