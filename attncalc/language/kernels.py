"""Kernels for floats and exact numbers alike: an array of objects holds exact numbers, so that no mode is needed."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from attncalc.common.numerals import Array


def number(value: Any, dtype: np.dtype[Any]) -> Array:
    """A number of a formula in the operands' dtype; for exact operands a float counts as its shortest decimal."""
    return np.asarray(exact().number(value) if dtype.kind == "O" else value, dtype=dtype)


def exact() -> ModuleType:
    """The kernels of exact numbers: the only door to SymPy, which loads slowly and is rarely needed."""
    from attncalc.language import exact_kernels

    return exact_kernels


def either(numeric: Callable[..., Any], name: str, *more: int) -> Callable[..., Any]:
    """A kernel that applies a NumPy function to floats, and to exact entries the function `name` of exact_kernels."""

    def kernel(*values: Array) -> Array:
        if not is_exact(*values):
            return np.asarray(numeric(*values))
        function = exact().function(name)
        return np.asarray(np.frompyfunc(lambda *entries: function(*entries, *more), len(values), 1)(*values))

    return kernel


exp = either(np.exp, "exp")
divide = either(np.divide, "quotient")
power = either(np.power, "power")
arccos = either(np.arccos, "arccos")
log = either(np.log, "log")
log2 = either(np.log2, "log", 2)
log10 = either(np.log10, "log", 10)
sqrt = either(np.sqrt, "sqrt")


def each(function: Callable[[float], float], x: Array) -> Array:
    """A scalar Python function of every float: right to the last digit, but some 0.15 s for a million."""
    values = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
    return np.asarray(values.reshape(x.shape), x.dtype)


def product(a: Array, b: Array) -> Array:
    """A matrix product."""
    return np.asarray(exact().product(a, b) if is_exact(a, b) else np.matmul(a, b))


def total(x: Array, axis: int) -> Array:
    """A sum along an axis."""
    return np.asarray(exact().total(x, axis) if is_exact(x) else np.sum(x, axis=axis))


def is_exact(*values: Array) -> bool:
    """Whether any of the values holds exact numbers."""
    return any(value.dtype == object for value in values)


def has_letters(*values: Array) -> bool:
    """Whether any entry holds a letter, so that it cannot be compared with another."""
    return any(getattr(entry, "free_symbols", None) for v in values if v.dtype == object for entry in v.flat)


def has_all_digits(size: Array) -> Array:
    """Whether sizes are so far from 0 that underflow took no digits from them, nor from what they were made of."""
    limits = np.finfo(size.dtype)
    return np.asarray(size > limits.tiny / limits.eps)


SHOWN_ENTRY_BY_ENTRY = 1 << 16
"""In values with more entries, lost digits count only in comparison with the largest entry of a row."""


def doubled() -> ModuleType:
    """The kernels of numbers with twice the digits, which few calls need."""
    from attncalc.language import doubled_kernels

    return doubled_kernels


def cancels(node: Any, value: Array, *terms: Array) -> bool:
    """Whether terms cancel, so that their rounding errors show in the sum."""
    return _is_less(np.abs(value), 0.25 * sum(map(np.abs, terms)))


def cancels_along(node: Any, value: Array, x: Array) -> bool:
    """Whether entries along an axis cancel, so that their rounding errors show in the sum."""
    size = np.abs(x)
    return _is_less(np.abs(value), 0.25 * node.row.kernel(node, size))


def _is_less(value: Array, terms: Any) -> bool:
    if value.size > SHOWN_ENTRY_BY_ENTRY:
        value, terms = (np.max(np.broadcast_to(part, value.shape), axis=-1) for part in (value, terms))
    return bool((value < terms).any())


def beyond(size: float) -> Callable[..., bool]:
    """A test whether a number is larger than this, so that a change in its last digit shows in a function of it."""
    return lambda node, value, x, *rest: bool(((np.abs(x) > size) & np.isfinite(x)).any())


def near_1(node: Any, value: Array, x: Array) -> bool:
    """Whether a number lies so near 1 that a change in its last digit shows in its logarithm."""
    return bool((np.abs(x - 1) < 0.5).any())


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros of the dtype of another value."""
    return np.full(shape, number(0, like.dtype), like.dtype)
