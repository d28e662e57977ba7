"""Kernels that serve floats and exact numbers alike: an array of SymPy numbers is an object array, and no mode."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from attncalc.arrays import Array

MOST_DIGITS = 1000
"""Exact powers and exponentials of more digits are refused: beyond that they take long, and nobody reads them."""
WITHOUT = "without --exact any size will do"


def number(value: Any, dtype: np.dtype[Any]) -> Array:
    """A number of a formula as the kind that the operands are; a float is exact by its shortest digits."""
    return np.asarray(_exact().number(value) if dtype.kind == "O" else value, dtype=dtype)


def _exact() -> ModuleType:
    """The kernels of exact numbers: with SymPy, which few need."""
    return import_module("attncalc.ops.exact")


def either(numeric: Callable[..., Any], exact: str) -> Callable[..., Any]:
    """A kernel that applies NumPy's function to floats, and to exact numbers SymPy's function of that name."""
    return _by_kind(numeric, "sympy", exact)


def _by_kind(numeric: Callable[..., Any], module: str, name: str, *more: int) -> Callable[..., Any]:
    """A kernel that applies one function to arrays of floats, and another one, imported then, to exact entries."""

    def kernel(*values: Array) -> Array:
        if not is_exact(*values):
            return np.asarray(numeric(*values))
        function = getattr(import_module(module), name)
        return np.asarray(np.frompyfunc(lambda *entries: function(*entries, *more), len(values), 1)(*values))

    return kernel


exp = _by_kind(np.exp, "attncalc.ops.exact", "exp")
power = _by_kind(np.power, "attncalc.ops.exact", "power")
arccos = _by_kind(np.arccos, "attncalc.ops.exact", "arccos")
log = _by_kind(np.log, "attncalc.ops.exact", "log")
log2 = _by_kind(np.log2, "attncalc.ops.exact", "log", 2)
log10 = _by_kind(np.log10, "attncalc.ops.exact", "log", 10)
sqrt = either(np.sqrt, "sqrt")


def each(function: Callable[[float], float], x: Array) -> Array:
    """Python's own function on every float: right to the last digit, and some 0.15 s for a million."""
    values = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
    return np.asarray(values.reshape(x.shape), x.dtype)


def product(a: Array, b: Array) -> Array:
    """A matrix product."""
    return np.asarray(_exact().product(a, b) if is_exact(a, b) else np.matmul(a, b))


def total(x: Array, axis: int) -> Array:
    """A sum along an axis."""
    return np.asarray(_exact().total(x, axis) if is_exact(x) else np.sum(x, axis=axis))


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
