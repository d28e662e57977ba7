"""The digits of a number: rounding as on paper, how far it leads, and the fewest that give the same number back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.arrays import Array

if TYPE_CHECKING:
    from decimal import Decimal

EXACT_POWERS = 22  # 10**22 is the largest power of ten that float64 holds exactly


def round_half_up(values: Array, decimals: int) -> Array:
    """The values rounded as on paper: to so many decimals, halves away from zero.

    What is a half is judged by the number as it is written: 2.675 gives 2.68, although the float64 of that name lies
    a little below it. Zeros come out positive; infinities and NaN pass through, and so do whole numbers and words.
    """
    values = np.asarray(values)
    if values.dtype.kind in "biuU":
        return values
    if values.dtype.kind == "c":
        rounded = np.empty_like(values)
        rounded.real = round_half_up(values.real, decimals)
        rounded.imag = round_half_up(values.imag, decimals)
        return rounded
    power = 10.0 ** min(decimals, EXACT_POWERS)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.abs(values).astype(np.float64) * power
        whole = np.floor(scaled)
        rest = scaled - whole
        size = (whole + (rest >= 0.5)) / power
        clear = np.abs(rest - 0.5) > 4 * np.finfo(values.dtype).eps * scaled
    finite = np.isfinite(values)
    result = np.where(finite, np.where(size == 0, 0.0, np.copysign(size, values)), values).astype(values.dtype)
    doubtful = finite if decimals > EXACT_POWERS else finite & ~clear
    if doubtful.any():
        result[doubtful] = [float(half_up(str(x), decimals)) or 0.0 for x in values[doubtful]]
    return result


def half_up(text: str, decimals: int) -> Decimal:
    """The decimal number that a text is, rounded to so many decimals, a half away from zero."""
    from decimal import ROUND_HALF_UP, Context, Decimal  # here, since few numbers are so near to a half

    number = Decimal(text)
    if -int(number.as_tuple().exponent) <= decimals:
        return number
    return number.quantize(Decimal(1).scaleb(-decimals), context=Context(prec=800, rounding=ROUND_HALF_UP))


def shortest(number: Any) -> str:
    """The fewest digits that bring the same number back: `0.1`, `32`, `-inf`, `1.5+2i`, `sqrt(3)/3`, `true`."""
    if isinstance(number, (bool, np.bool_)):
        return str(bool(number)).lower()
    if isinstance(number, (complex, np.complexfloating)):
        imaginary = shortest(number.imag)
        return f"{shortest(number.real)}{'' if imaginary.startswith('-') else '+'}{imaginary}i"
    if isinstance(number, (float, np.floating)):
        return str(number + 0.0).removesuffix(".0")  # + 0.0 makes −0 a 0
    if hasattr(number, "free_symbols"):
        from attncalc.record.surds import plain  # SymPy is at work already, where an exact number is at hand

        number = plain(number)
    return {"oo": "inf", "-oo": "-inf"}.get(text := str(number), text)  # SymPy's ∞


def widened(values: Array) -> Array:
    """float16 and float32 as the float64 that is written with the same digits: 0.1 stays 0.1."""
    return values.astype(str).astype(np.float64) if values.dtype in (np.float16, np.float32) else values


def numeric(values: Array) -> Array | None:
    """The values as float64, exact ones too; None where they are words, letters or complex."""
    if values.dtype.kind in "biuf":
        return widened(values).astype(np.float64)
    if values.dtype.kind != "O":
        return None
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):  # a letter has no value, and i none among the floats
        return None


def farthest(rounded: Array, full: Array) -> float:
    """The largest distance between two values, wherever both are finite."""
    if full.dtype.kind != "f":
        return 0.0
    both_finite = np.isfinite(rounded) & np.isfinite(full)
    apart = np.subtract(rounded, full, where=both_finite, out=np.zeros_like(full))
    return float(np.max(np.abs(apart), initial=0.0))
