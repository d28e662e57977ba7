"""Kernels that serve floats and exact numbers alike: an array of SymPy numbers is an object array, and no mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def either(numeric: Callable[..., Any], exact: str, *more: Any) -> Callable[..., Any]:
    """A kernel that applies NumPy's function to floats, and SymPy's function of that name (and `more`) to objects."""

    def kernel(*values: Array) -> Array:
        if all(value.dtype != object for value in values):
            return np.asarray(numeric(*values))
        import sympy  # only where exact numbers are at work

        function = getattr(sympy, exact)
        return np.asarray(np.frompyfunc(lambda *entries: function(*entries, *more), len(values), 1)(*values))

    return kernel


exp = either(np.exp, "exp")
log = either(np.log, "log")
log2 = either(np.log2, "log", 2)
log10 = either(np.log10, "log", 10)
sqrt = either(np.sqrt, "sqrt")


def is_exact(*values: Array) -> bool:
    """Whether any of the values holds exact numbers."""
    return any(value.dtype == object for value in values)


def has_letters(*values: Array) -> bool:
    """Whether any entry holds a letter, so that it cannot be compared with another."""
    return any(getattr(entry, "free_symbols", None) for v in values if v.dtype == object for entry in v.flat)


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros of the kind that another value has."""
    if not is_exact(like):
        return np.zeros(shape, like.dtype)
    import sympy  # only where exact numbers are at work

    return np.full(shape, sympy.Integer(0), dtype=object)
