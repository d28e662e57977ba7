"""exp of many float64 numbers by a table, for machines on which NumPy computes them one at a time.

A score x counts small units. With x = k + r, where k is whole and |r| ≤ 1/2, and k = e·2^BITS + i,
exp(x·UNIT) = 2^e · 2^(i/2^BITS) · exp(r·UNIT): a shift of bits, an entry of a table, and a quadratic, since r³
hardly counts (Tang, "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", ACM
TOMS 15, 1989, whose polynomial is longer and whose table is shorter).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.common.numerals import Array

BITS = 14
UNIT = math.log(2) / 2**BITS
LIMIT = 600.0
"""The largest |x·UNIT|: beyond it the factors leave the range of float64."""
PIECE = 2**17
"""How many numbers are taken at a time, so that they and the intermediate results stay in a core's cache."""

_SHIFT = 52 - BITS
_WHOLE = 1.5 * 2.0**52
"""A number added to this is rounded to a whole number, which the last bits of the sum then hold."""
_NEAR = round(1 / UNIT)
_SLOPE = UNIT * (1 + UNIT**2 / 32)
"""The slope of exp(r·UNIT), with that of the line nearest to its cubic term (r·UNIT)³/6."""
_LEVEL = 2 * _NEAR / _SLOPE - _NEAR**2
"""exp(r·UNIT) is _SLOPE/(2·_NEAR) · ((r + _NEAR)² + _LEVEL); the first factor is in the table."""


def pays() -> bool:
    """Whether this is faster than NumPy's exp, which is vectorised for float64 only with AVX-512."""
    known: dict[str, Any] = np.lib.introspect.opt_func_info(func_name="^exp$", signature="float64")
    used = [kind["current"] for kinds in known.values() for kind in kinds.values()]
    return not any(name in target for target in used for name in ("AVX512", "X86_V4"))


def room() -> Array:
    """Memory for the intermediate results of a piece."""
    return np.empty((3, PIECE))


def exponentiate(x: Array, beside: Array) -> None:
    """Replace every entry of the contiguous x by exp(x·UNIT), with a relative error below 2e-15."""
    flat = x.reshape(-1)
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE]
        _piece(piece, beside[:, : piece.size])


def _piece(x: Array, beside: Array) -> None:
    rounded, rest, power = beside
    k, i, bits = beside.view(np.int64)
    np.add(x, _WHOLE, out=rounded)
    np.subtract(rounded, _WHOLE + _NEAR, out=rest)
    np.subtract(x, rest, out=x)  # r + _NEAR
    np.square(x, out=x)
    np.add(x, _LEVEL, out=x)
    np.bitwise_and(k, 2**BITS - 1, out=i)
    _powers().take(i, out=bits, mode="wrap")  # the default mode would use a buffer
    np.left_shift(k, _SHIFT, out=k)
    np.add(bits, k, out=bits)
    np.multiply(x, power, out=x)


@cache
def _powers() -> NDArray[np.int64]:
    """The bits of 2^(i/2^BITS), minus what the shifted k adds to them by its lower part i."""
    i = np.arange(2**BITS, dtype=np.int64)
    powers: Array = np.exp2(i / 2**BITS) * (_SLOPE / (2 * _NEAR))
    return powers.view(np.int64) - (i << _SHIFT)
