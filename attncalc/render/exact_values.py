"""Exact values as decimals in the JSON document."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.record.numbers import each, encode
from attncalc.record.surds import decimal


def in_decimals(value: Array, digits: int | None) -> Any:
    """Exact numbers as decimals for JSON; those beyond the largest float as text: `"1e+400"`.

    A value with letters stays exact, as text that programs can read: `a_0**2`.
    """
    numbers = np.asarray(each(_decimal, value), dtype=object)
    if any(x is None for x in numbers.flat):
        return encode(value)
    is_complex = any(isinstance(x, complex) for x in numbers.flat)
    decimals = numbers.astype(np.complex128 if is_complex else np.float64)
    found = encode(decimals, digits)
    beyond = [at for at in np.argwhere(np.isinf(decimals)).tolist() if value[tuple(at)].is_finite]
    if not beyond:
        return found
    laid = np.array(found, dtype=object)
    for at in beyond:
        laid[tuple(at)] = _beyond(value[tuple(at)])
    return laid.tolist()


def _beyond(number: Any) -> Any:
    """The decimals, as many as a float has, of a number that is, or has a part, too large for a float."""
    found = _decimal(number)
    if isinstance(found, complex):
        return {"re": _beyond(number.as_real_imag()[0]), "im": _beyond(number.as_real_imag()[1])}
    if found is not None and np.isfinite(found):
        return found
    return str(Decimal(str(number.evalf(17))).normalize()).replace("E", "e")


def _decimal(number: Any) -> float | complex | None:
    try:
        return decimal(number)
    except TypeError:  # it has an imaginary part
        return complex(number)
