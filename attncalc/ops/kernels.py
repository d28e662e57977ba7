"""Kernels that serve floats and exact numbers alike: an array of SymPy numbers is an object array, and no mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from attncalc.errors import NotExact

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"
MOST_DIGITS = 1000
"""Exact powers and exponentials of more digits are refused: beyond that they take long, and nobody reads them."""
LARGEST_EXPONENT = math.log(10) * MOST_DIGITS
WITHOUT = "without --exact any size will do"


def either(numeric: Callable[..., Any], exact: str) -> Callable[..., Any]:
    """A kernel that applies NumPy's function to floats, and SymPy's function of that name to exact numbers."""

    def kernel(*values: Array) -> Array:
        if all(value.dtype != object for value in values):
            return np.asarray(numeric(*values))
        import sympy  # only where exact numbers are at work

        function = getattr(sympy, exact)
        return np.asarray(np.frompyfunc(function, len(values), 1)(*values))

    return kernel


def each(function: Callable[[float], float], x: Array) -> Array:
    """Python's own function on every float: right to the last digit, and some 0.15 s for a million."""
    values = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
    return np.asarray(values.reshape(x.shape), x.dtype)


def exp(x: Array) -> Array:
    """The exponential."""
    return np.exp(x) if x.dtype != object else np.asarray(np.frompyfunc(_exact_exp, 1, 1)(x))


def power(x: Array, p: Array) -> Array:
    """x to the p."""
    if not is_exact(x, p):
        return np.asarray(np.power(x, p))
    return np.asarray(np.frompyfunc(_exact_power, 2, 1)(x, p))


def _exact_exp(x: Any) -> Any:
    import sympy  # only where exact numbers are at work

    x = sympy.Integer(0) + x  # a fraction of Python's becomes one of SymPy's
    if x.is_Rational and abs(x.p) // x.q < int(LARGEST_EXPONENT):
        return sympy.exp(x)
    bends = (sympy.exp, sympy.tanh, sympy.erf)  # of a third one around two others SymPy takes minutes to add a pair
    if x.is_number and any(part.args[0].has(*bends) for part in x.atoms(*bends)):
        raise NotExact("exponentials stand three deep in one another, and their exact form fills pages", hint=WITHOUT)
    if x.is_number and (x.args or x.is_Rational) and abs(x.evalf(5)) > LARGEST_EXPONENT:
        raise NotExact(f"e to the {x.evalf(5)} has more than {MOST_DIGITS:,} digits", hint=WITHOUT)
    return sympy.exp(x)


def _exact_power(x: Any, p: Any) -> Any:
    import sympy  # only where exact numbers are at work

    x, p = sympy.Integer(0) + x, sympy.Integer(0) + p
    bounded = p.is_number and not p.is_infinite
    size = abs(p.p) if p.is_Integer and p.p.bit_length() < 64 else abs(p.evalf(5)) if bounded else 0
    if x.is_number and x not in (-1, 0, 1) and digits(x) * size > MOST_DIGITS:
        exponent = p if p.is_Integer else p.evalf(5)
        raise NotExact(f"a power with the exponent {exponent} has more than {MOST_DIGITS:,} digits", hint=WITHOUT)
    return x**p


def digits(number: Any) -> float:
    """How many digits a number of SymPy's has, about, above or below the line; 1 where it is no fraction."""
    if not number.is_Rational:
        return 1
    return max(1.0, math.log10(2) * max(int(number.p).bit_length(), int(number.q).bit_length()))


def _logarithm(numeric: Callable[..., Any], *base: int) -> Callable[[Array], Array]:
    """A logarithm's kernel: at 0 it is −∞ among exact numbers too, where SymPy's infinity has no sign."""

    def exact(x: Any) -> Any:
        import sympy  # only where exact numbers are at work

        return -sympy.oo if x == 0 else sympy.log(x, *base)

    def kernel(x: Array) -> Array:
        return np.asarray(np.frompyfunc(exact, 1, 1)(x) if is_exact(x) else numeric(x))

    return kernel


log = _logarithm(np.log)
log2 = _logarithm(np.log2, 2)
log10 = _logarithm(np.log10, 10)
sqrt = either(np.sqrt, "sqrt")


def product(a: Array, b: Array) -> Array:
    """A matrix product; what an exact entry is the sum of is added at once, which takes SymPy one look at each."""
    if not is_exact(a, b) or all(getattr(x, "is_Rational", True) for value in (a, b) for x in value.flat):
        return np.asarray(np.matmul(a, b))
    import sympy  # only where exact numbers are at work

    rows, columns = a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :]
    shape = np.broadcast_shapes(rows.shape, columns.shape)
    rows, columns = np.broadcast_to(rows, shape), np.broadcast_to(columns, shape)
    value = np.empty(shape[:-1], dtype=object)
    for at in np.ndindex(value.shape):
        value[at] = sympy.Add(*(_times(x, y) for x, y in zip(rows[at], columns[at], strict=True)))
    return value


def total(x: Array, axis: int) -> Array:
    """A sum along an axis; of exact entries as in a product."""
    if not is_exact(x):
        return np.asarray(np.sum(x, axis=axis))
    import sympy  # only where exact numbers are at work

    return np.asarray(np.apply_along_axis(lambda entries: sympy.Add(*entries), axis, x))


def _times(x: Any, y: Any) -> Any:
    """The product of two exact entries; what stands beside a 0 SymPy would ask whether it is finite."""
    for entry, other in ((x, y), (y, x)):
        if entry == 0 and getattr(other, "args", ()):
            return entry
    return x * y


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
