"""Exact values in the JSON document: as decimals, and as they are written on paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.numbers import exact_text
from attncalc.render.document import each


def decimals(value: Array) -> Array:
    """Exact numbers as decimals; a value that holds letters stays, as text that programs read: `a_0**2`."""
    numbers = np.asarray(each(_decimal, value), dtype=object)
    if any(x is None for x in numbers.flat):
        return value
    is_complex = any(isinstance(x, complex) for x in numbers.flat)
    return numbers.astype(np.complex128 if is_complex else np.float64)


def _decimal(number: Any) -> float | complex | None:
    from attncalc.surds import decimal  # SymPy is at work already

    try:
        return decimal(number)
    except TypeError:  # it has an imaginary part
        return complex(number)


def in_text(value: Array) -> Any:
    """Exact numbers as they are written on paper."""
    return each(exact_text, value)


def in_latex(value: Array) -> Any:
    """The same in LaTeX."""
    from attncalc.surds import latex  # SymPy is at work already

    return each(latex, value)
