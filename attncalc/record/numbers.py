"""How a number is shown: decimals, alignment on the point, infinities, exact forms.

A table is shown with the fewest decimals that give every entry exactly, at most four (so that whole numbers are
written as such), or with as many as were asked for. Entries that so many decimals would lose, or that are huge, are
scientific; nothing is ever shown as -0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.record.trace import surds

if TYPE_CHECKING:  # decimals take their time to load, and few numbers need them
    from decimal import Decimal

# The digits of a number: rounding as on paper, how far that leads, and the fewest digits that give the number back.


EXACT_POWERS = 22  # 10**22 is the largest power of ten that float64 holds exactly


def round_half_up(values: Array, decimals: int) -> Array:
    """The values rounded as on paper: to so many decimals, halves away from zero.

    The decimal numeral decides what is a half: 2.675 gives 2.68, although the float64 written so lies a little below.
    Zeros come out positive; infinities, NaN, whole numbers and words pass through.
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


def half_up(text: str, decimals: int | None = None) -> Decimal:
    """The text as a Decimal; rounded to so many decimals, if given, halves away from zero."""
    from decimal import ROUND_HALF_UP, Context, Decimal  # a door: few numbers are that close to a half

    number = Decimal(text)
    if decimals is None or -int(number.as_tuple().exponent) <= decimals:
        return number
    return number.quantize(Decimal(1).scaleb(-decimals), context=Context(prec=800, rounding=ROUND_HALF_UP))


OF_OPERANDS = {"log": "ln", "E": "exp(1)", "oo": "inf"}
"""SymPy's name → the name in the grammar of operands, where they differ."""


def shortest(number: Any) -> str:
    """The shortest text that gives the same number back: `0.1`, `32`, `-inf`, `1.5+2i`, `sqrt(3)/3`, `true`."""
    if isinstance(number, (bool, np.bool_)):
        return str(bool(number)).lower()
    if isinstance(number, (complex, np.complexfloating)):
        imaginary = shortest(number.imag)
        return f"{shortest(number.real)}{'' if imaginary.startswith('-') else '+'}{imaginary}i"
    if isinstance(number, (float, np.floating)):
        return str(number + 0.0).removesuffix(".0")  # + 0.0 makes −0 a 0
    if not hasattr(number, "free_symbols"):
        return str(number)
    text = str(surds().plain(number))
    return text if number.free_symbols else re.sub(r"\b(?:log|E|oo)\b", lambda word: OF_OPERANDS[word[0]], text)


def in_marks(*points: float) -> str:
    """Marks as pages show them, to two decimals: `4.22 of 8`; documents keep all digits."""
    return " of ".join(shortest(round(each, 2)) for each in points)


def widened(values: Array) -> Array:
    """float16 and float32 values as the float64 with the same shortest digits: 0.1 stays 0.1."""
    return values.astype(str).astype(np.float64) if values.dtype in (np.float16, np.float32) else values


def numeric(values: Array) -> Array | None:
    """The values as float64, exact ones too; None if they are words, letters or complex."""
    if values.dtype.kind in "biuf":
        return widened(values).astype(np.float64)
    if values.dtype.kind != "O":
        return None
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):  # a letter has no value, and i is no float
        return None


def farthest(rounded: Array, full: Array) -> float:
    """The largest absolute difference of two values, over the places where both are finite."""
    if full.dtype.kind != "f":
        return 0.0
    both_finite = np.isfinite(rounded) & np.isfinite(full)
    apart = np.subtract(rounded, full, where=both_finite, out=np.zeros_like(full))
    return float(np.max(np.abs(apart), initial=0.0))


DIGITS = 4
HUGE = 1e9  # from here on, numbers that are not whole are scientific
HUGE_WHOLE = 1e15  # up to here, float64 holds every whole number
FAINT = 1e-3  # smaller numbers are scientific if four decimals lose digits; so is a whole table of smaller numbers
TRUE_DECIMALS = 6  # float64 has the digits for so many decimals of a number below HUGE

# Patterns that `re` compiles when they are first used, not at start-up.
NUMERAL = r"(-?\d+)((?:\.\d+)?(?:e[+-]\d+)?)"
FRACTION = r"-?\d+/\d+"
COMPLEX = r"(.+)( [+-] )(.+i)"
RAISED = r"\^(\d+)(?![\d.])"
LOWERED = r"_(\d+)(?!\d|,\d)"  # two indices with a comma stay as they are: q_10,2

ABOVE = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


# Numbers for reading


def format_number(number: Any, digits: int | None = None) -> str:
    """One number: `0.64` if that is exact, `0.9785` if it was rounded; with exactly `digits` decimals if given."""
    return str(texts(np.asarray(number), digits).item())


def format_column(values: Sequence[Any] | Array, digits: int | None = None) -> list[str]:
    """The values of a column with the same decimals, aligned on the decimal point."""
    return align(list(texts(np.asarray(values), digits).flat))


def texts(values: Array, digits: int | None = None) -> Array:
    """Every entry as text, in an object array of the same shape, with the same decimals for the whole table."""
    result = np.empty(values.shape, dtype=object)
    result.ravel()[:] = _written(values.ravel(), digits)
    return result


def written_alike(tables: Sequence[Array], digits: int | None = None) -> list[list[list[str]]]:
    """Tables of one size as lines of text, with the same decimals for all."""
    lines: list[list[list[str]]] = texts(np.stack(tables), digits).tolist()
    return lines


AT_ONCE = 20_000  # entries that are written at a time


def lines(matrices: Array, digits: int | None = None) -> list[Iterator[tuple[str, ...]]]:
    """The lines of large matrices of floats, stacked in an array, with the same decimals for all.

    Rows are written as they are asked for: the text of a matrix is never held whole.
    """
    form = _form(matrices.ravel(), digits)
    return [_lines(matrix, form) for matrix in matrices]


def _lines(matrix: Array, form: _Form) -> Iterator[tuple[str, ...]]:
    count, breadth = matrix.shape
    step = max(1, AT_ONCE // max(breadth, 1))
    for start in range(0, count, step):
        written = _decimal(widened(matrix[start : start + step].ravel()), form)
        yield from (tuple(written[at : at + breadth]) for at in range(0, len(written), breadth))


def _written(values: Array, digits: int | None) -> list[str]:
    kind = values.dtype.kind
    if kind == "O":
        return [_exact_entry(x, digits) for x in values]
    if kind == "c":
        form = _form(np.concatenate([values.real, values.imag]), digits)
        signs = np.where(values.imag < 0, "-", "+")
        parts = zip(_decimal(values.real, form), signs, _decimal(np.abs(values.imag), form), strict=True)
        return [f"{real} {sign} {imaginary}i" for real, sign, imaginary in parts]
    if kind == "f":
        return _decimal(widened(values), _form(values, digits))
    return [str(x) for x in values] if kind == "U" else [str(int(x)) for x in values]


class _Form(NamedTuple):
    """How the numbers of one table are written."""

    decimals: int  # after the point
    mantissa: int  # decimals of the mantissa of scientific numbers
    trimmed: bool  # whether mantissas go without trailing zeros
    faint: bool  # whether all numbers are scientific
    slack: float  # smaller relative differences are rounding noise, for which no decimals are shown


def _form(values: Array, digits: int | None) -> _Form:
    slack = 16 * float(np.finfo(values.dtype).eps)
    numbers = widened(values[np.isfinite(values)])
    sizes = np.abs(numbers)

    def ends_within(decimals: int) -> bool:
        return bool(np.all(np.abs(round_half_up(numbers, decimals) - numbers) <= slack * sizes))

    most = DIGITS if digits is None else digits
    fewest = next(filter(ends_within, range(most + 1))) if ends_within(most) else None
    faint = fewest is None and float(f"{sizes.max():.{max(most - 1, 0)}e}") < min(FAINT, 10.0 ** (1 - most))
    decimals = most if fewest is None or (fewest and digits is not None) else fewest
    return _Form(decimals, max(most - 1, 0), digits is None, faint, slack)


def _decimal(values: Array, form: _Form) -> list[str]:
    """Finite float64 numbers of ordinary size with fixed decimals, all others scientific or as a sign."""
    rounded = round_half_up(values, form.decimals)
    huge = HUGE if form.decimals else HUGE_WHOLE
    odd = ~(np.abs(values) < huge) | ((rounded == 0) & (values != 0)) | form.faint
    if form.trimmed:  # 0.0003 would show less than half of 2.5e-04's digits
        small = np.flatnonzero(np.abs(rounded) < min(FAINT, 10.0 ** (1 - form.decimals)))
        odd[small] |= np.abs(rounded[small] - values[small]) > form.slack * np.abs(values[small])
    result = [_fixed(x, form.decimals) for x in rounded.tolist()]
    for i in np.flatnonzero(odd):
        result[i] = _scientific(float(values[i]), form)
    return result


def _fixed(x: float, decimals: int) -> str:
    """The number with so many decimals; beyond the digits that a float has, they are zeros, not binary noise."""
    return f"{x:.{decimals}f}" if decimals <= TRUE_DECIMALS else f"{half_up(repr(x)):.{decimals}f}"


def _scientific(x: float, form: _Form) -> str:
    """`6.988e-04`; a small number among larger ones gets two digits: `1.2e-07`."""
    if not np.isfinite(x):
        return "NaN" if np.isnan(x) else "−∞" if x < 0 else "∞"
    if x == 0:
        return "0"
    most = form.mantissa if form.faint or abs(x) > 1 else min(form.mantissa, 1)
    fitting = (f"{x:.{places}e}" for places in range(most)) if form.trimmed else ()
    whole = f"{x:.{most}e}" if most <= TRUE_DECIMALS else _exponent(f"{half_up(repr(x)):.{most}e}")
    return next((text for text in fitting if abs(float(text) - x) <= form.slack * abs(x)), whole)


def _exponent(text: str) -> str:
    """`1.50e-7` → `1.50e-07`."""
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent):+03d}"


# Alignment

SIGNS = (" ≈ ", " = ")  # between an exact number and its decimals


def align(column: Sequence[str]) -> list[str]:
    """The texts of a column padded to one width: decimals aligned on the point, exact numbers on the right."""
    parts = [_parts(text) for text in column]
    first = [part[0] for part in parts]
    is_exact = any(part[1] in SIGNS for part in parts)
    left = [text.rjust(max(map(len, first))) for text in first] if is_exact else _on_the_point(first)
    right = _on_the_point([part[2] for part in parts])
    middle = max((len(part[1]) for part in parts), default=0)
    return [f"{a}{part[1]:{middle}}{b}" for a, part, b in zip(left, parts, right, strict=True)]


def _parts(text: str) -> tuple[str, str, str]:
    """The parts of a text that are aligned separately: `√3/3`, ` ≈ `, `0.5774`; `1.5`, ` + `, `2i`."""
    exact = parted(text)
    if exact[1]:
        return exact
    found = re.fullmatch(COMPLEX, text) if text.endswith("i") else None
    return (found[1], found[2], found[3]) if found else (text, "", "")


def _on_the_point(column: list[str]) -> list[str]:
    numerals = list(map(re.compile(NUMERAL).match, column))
    heads = max((len(n[1]) for n in numerals if n), default=0)
    tails = max((len(text) - len(n[1]) for text, n in zip(column, numerals, strict=True) if n), default=0)
    points = [
        f"{n[1]:>{heads}}{text[len(n[1]) :]:<{tails}}" if n else text for text, n in zip(column, numerals, strict=True)
    ]
    width = max(map(len, points), default=0)
    return [text.rjust(width) for text in points]


# Exact numbers


def parted(entry: str) -> tuple[str, str, str]:
    """An exact entry split into number, sign and decimals: (`√3/3`, ` ≈ `, `0.5774`); (`3`, "", "")."""
    sign = next((sign for sign in SIGNS if sign in entry), "")
    return entry.partition(sign) if sign else (entry, "", "")


def _exact_entry(entry: Any, digits: int | None) -> str:
    """`√3/3 ≈ 0.5774`, `1/2 = 0.5`; letters and whole numbers without decimals."""
    text = exact_text(entry)
    if getattr(entry, "free_symbols", None):  # otherwise SymPy would evaluate it all before failing at the letters
        return text
    try:
        value = _value(entry)
    except (TypeError, ValueError):  # zoo, for example, is no number
        return text
    if hasattr(entry, "evalf") and ((np.isinf(value) and entry.is_finite) or (value == 0 and entry.is_nonzero)):
        return f"{text} ≈ {_beyond(entry, digits)}"
    decimal = format_number(value if value.imag else value.real, digits)
    if decimal == text:
        return text
    if digits is not None and digits > TRUE_DECIMALS and hasattr(entry, "evalf") and not value.imag:
        decimal = f"{half_up(str(entry.evalf(digits + 20)), digits):.{digits}f}"
    return f"{text} = {decimal}" if _is_fraction(text, decimal) else f"{text} ≈ {decimal}"


def _beyond(entry: Any, digits: int | None) -> str:
    """The decimals of a number too large or too small for a float: `1.000e+400`."""
    most = DIGITS if digits is None else digits
    return _exponent(f"{half_up(str(entry.evalf(most + 20))):.{max(most - 1, 0)}e}")


def _value(entry: Any) -> complex:
    if not hasattr(entry, "free_symbols"):
        return complex(entry)
    return complex(surds().value(entry))


def _is_fraction(text: str, decimal: str) -> bool:
    """Whether both are the same number, as 1/2 and 0.5 are, and 1/3 and 0.3333 are not."""
    if not (re.fullmatch(FRACTION, text) and re.fullmatch(NUMERAL, decimal)):
        return False
    from fractions import Fraction  # a door: few pages hold exact numbers

    return Fraction(text) == Fraction(decimal)


def exact_text(entry: Any) -> str:
    """A fraction, a surd or a formula of letters as people write it: `1/(1 + e^(√3/3))`, `a₀² + a₁²`."""
    if not hasattr(entry, "free_symbols"):  # a Python number
        return str(entry)
    raised = re.sub(RAISED, lambda found: found[1].translate(ABOVE), surds().text(entry))
    return re.sub(LOWERED, lambda found: found[1].translate(BELOW), raised)


# Numbers in JSON


def encode(value: Any, digits: int | None = None) -> Any:
    """A value for JSON; numbers that JSON lacks become text: `"-Infinity"`, `"sqrt(3)/3"`."""
    if isinstance(value, np.ndarray):
        return _array(value, digits)
    if isinstance(value, (list, tuple)):
        return [encode(item, digits) for item in value]
    if isinstance(value, dict):
        return {name: encode(item, digits) for name, item in value.items()}
    if isinstance(value, (np.generic, float, complex)):
        return _array(np.asarray(value), digits)
    return value if value is None or isinstance(value, (str, int)) else _exact(value)


def encode_typed(value: Array, written: Array | None) -> Any:
    """An operand's numbers for JSON: whole ones without a point, unless they were written with one."""
    if value.dtype.kind != "f":
        return encode(value)
    whole = np.abs(value) < HUGE_WHOLE
    whole &= (np.trunc(value, where=whole, out=np.zeros_like(value)) == value) & ~((value == 0) & np.signbit(value))
    if written is not None:
        whole &= np.reshape(["." not in text for text in written.flat], value.shape)
    if not whole.any():
        return encode(value)
    entries = np.empty(value.shape, dtype=object)
    entries.ravel()[:] = encode(value.ravel())
    entries[whole] = value[whole].astype(np.int64)
    return entries.tolist()


def _array(value: Array, digits: int | None) -> Any:
    kind = value.dtype.kind
    if kind == "O":
        return each(_exact, value)
    if kind not in "fc":
        return value.tolist()
    numbers = _shortened(value, digits)
    if kind == "f" and np.isfinite(numbers).all():
        return numbers.tolist()
    return each(_odd, numbers)


def _shortened(value: Array, digits: int | None) -> Array:
    """The numbers rounded to so many decimals, if given; narrower types become the float64 with the same digits."""
    if digits is None and value.dtype in (np.float64, np.complex128):
        return value
    return widened(value if digits is None else round_half_up(value, digits))


def _exact(number: Any) -> Any:
    """A SymPy number for JSON: a whole number as an int, any other as text that can be read again."""
    if getattr(number, "is_infinite", False):
        return _odd(float(number))
    text = shortest(number)
    return int(text) if text.lstrip("-").isdigit() else text


def each(function: Any, value: Array) -> Any:
    """The function of every entry, as nested lists."""
    if not value.ndim:
        return function(value.item())
    found = np.empty(value.size, dtype=object)
    found[:] = [function(entry) for entry in value.ravel().tolist()]  # np.frompyfunc would emit warnings from within
    return found.reshape(value.shape).tolist()


def written_out(tree: Any) -> Any:
    """JSON data with its infinite and undefined numbers as text, as documents write them."""
    if isinstance(tree, dict):
        return {key: written_out(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [written_out(value) for value in tree]
    return _odd(tree) if isinstance(tree, float) else tree


def _odd(number: Any) -> Any:
    """A number that may be complex or not finite, for JSON."""
    if isinstance(number, complex):
        return {"re": _odd(number.real), "im": _odd(number.imag)}
    if np.isfinite(number):
        return number
    return "NaN" if np.isnan(number) else "-Infinity" if number < 0 else "Infinity"
