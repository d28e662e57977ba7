"""What kernels do with exact numbers: SymPy's functions, up to a size beyond which nobody would read the result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.errors import NotExact
from attncalc.ops.kernels import MOST_DIGITS, WITHOUT

LARGEST_EXPONENT = math.log(10) * MOST_DIGITS
MOST_EXACT = 20_000


def number(value: Any) -> Any:
    """A number of a formula as an exact one; a float by its shortest digits: 0.1 is one tenth."""
    from fractions import Fraction

    import sympy  # only where exact numbers are at work

    if isinstance(value, sympy.Basic):
        return value
    if value == float("-inf"):
        return -sympy.oo
    named = {np.pi: sympy.pi, np.e: sympy.E}.get(value)
    return named or sympy.Rational(*Fraction(str(value)).as_integer_ratio())


def exactly(values: Array) -> Array:
    """Floats and fractions as exact numbers, each float by its shortest digits."""
    refuse_many(values.size)
    result = np.empty(values.size, dtype=object)
    result[:] = [number(value) for value in values.ravel().tolist()]
    return result.reshape(values.shape)


def refuse_many(size: int) -> None:
    """Raise NotExact where so many numbers are to be made exact that nobody reads them, and SymPy grows slow."""
    if size > MOST_EXACT:
        raise NotExact(f"{size:,} entries are not made exact: the limit is {MOST_EXACT:,}", hint=WITHOUT)


def exp(x: Any) -> Any:
    """The exponential of an exact number."""
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


def power(x: Any, p: Any) -> Any:
    """An exact number to the p."""
    import sympy  # only where exact numbers are at work

    x, p = sympy.Integer(0) + x, sympy.Integer(0) + p
    if p == 2 and x.is_Rational and digits(x) * 2 <= MOST_DIGITS:
        return x * x  # SymPy's power asks more than that before it squares a fraction
    bounded = p.is_number and not p.is_infinite
    size = abs(p.p) if p.is_Integer and p.p.bit_length() < 64 else abs(p.evalf(5)) if bounded else 0
    if x.is_number and x not in (-1, 0, 1) and digits(x) * size > MOST_DIGITS:
        exponent = p if p.is_Integer else p.evalf(5)
        raise NotExact(f"a power with the exponent {exponent} has more than {MOST_DIGITS:,} digits", hint=WITHOUT)
    return x**p


def arccos(c: Any) -> Any:
    """The angle of an exact cosine.

    Where the cosine's square is a fraction, but no number of quarters from 0 to 4, the angle is no fraction of π
    (Niven, Irrational Numbers, 1956, corollary 3.12, of twice the angle): SymPy need not look for it among those.
    """
    import sympy  # only where exact numbers are at work

    quarters = sympy.Integer(4) * c * c
    return sympy.acos(c, evaluate=not quarters.is_Rational or quarters in (0, 1, 2, 3, 4))


def log(x: Any, *base: int) -> Any:
    """The logarithm of an exact number: −∞ at 0, where SymPy's infinity has no sign."""
    import sympy  # only where exact numbers are at work

    return -sympy.oo if x == 0 else sympy.log(x, *base)


def product(a: Array, b: Array) -> Array:
    """A matrix product; what an entry is the sum of is added at once, which takes SymPy one look at each."""
    if all(getattr(x, "is_Rational", True) for value in (a, b) for x in value.flat):
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
    """A sum along an axis, added at once as in a product."""
    import sympy  # only where exact numbers are at work

    return np.asarray(np.apply_along_axis(lambda entries: sympy.Add(*entries), axis, x))


def _times(x: Any, y: Any) -> Any:
    """The product of two entries; what stands beside a 0 SymPy would ask whether it is finite."""
    for entry, other in ((x, y), (y, x)):
        if entry == 0 and getattr(other, "args", ()):
            return entry
    return x * y


def digits(number: Any) -> float:
    """How many digits a number of SymPy's has, about, above or below the line; 1 where it is no fraction."""
    if not number.is_Rational:
        return 1
    return max(1.0, math.log10(2) * max(int(number.p).bit_length(), int(number.q).bit_length()))
