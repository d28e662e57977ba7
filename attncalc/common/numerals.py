"""Numbers: the names of their types, and how a person writes one, read by a small grammar.

    number   = ["+" | "-"] factor {("*" | "/") factor}
    factor  = decimal | "pi" | ("sqrt(" | "ln(" | "exp(" ["-"]) decimal ["/" decimal] ")"
    decimal = 12, 0.5, .5, 1e-3 …, in ASCII digits

½ is 1/2, 1½ is 3/2, and the ⁄ of 1⁄2 is a /.

Nothing else is a number: `float` would also take `1_0`, `nan` and the digits of other scripts.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from attncalc.common.errors import InputError, OptionError, either, quoted

if TYPE_CHECKING:  # NumPy's types take their time to load, and only a type checker reads these
    from decimal import Decimal
    from fractions import Fraction
    from numbers import Rational

    from numpy.typing import NDArray

    class HasArray(Protocol):
        """What NumPy can read: its own arrays, and those of PyTorch, pandas and others."""

        def __array__(self) -> NDArray[Any]: ...

    class Listed(Protocol):
        """Numbers in lists or tuples, nested to any depth; a string or a dictionary does not match."""

        def __len__(self) -> int: ...
        def __contains__(self, item: object, /) -> bool: ...
        def count(self, item: Any, /) -> int: ...  # noqa: D102  (a dictionary has none)
        def __getitem__(self, index: int, /) -> Entry | Listed: ...

    Number = float | Fraction | Decimal
    Entry = complex | Fraction | Decimal | HasArray | str

Array: TypeAlias = "NDArray[Any]"
"""Floats, whole numbers or truths; as an array of objects, exact numbers or letters."""

Numbers: TypeAlias = "complex | Fraction | Decimal | HasArray | Listed"
"""What an operand may be in Python: an array, a number, or nested lists of numbers, exact ones included."""

Answers: TypeAlias = "Numbers | str | PathLike[str] | Mapping[str, object]"
"""What may be marked: a result, a dictionary of steps by name, a sheet, or the path of one."""

DTYPES = ("float64", "float32")
"""The floating-point types a run may use, the default first."""

NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
"""Narrow types: a number's rounding error depends on the sums behind it, and may hide the effect of a wrong rule."""
STORED = (*DTYPES, *NARROW)
"""The floating-point types in which an answer, or every value of a run, may be stored."""

ACCUMULATED = ("float32", "same")
"""Where a run in a narrow type accumulates sums and products: in float32 (the default) or in that same type."""


def must_agree(dtype: str, accumulate: str | None, round_to: int | None) -> None:
    """Raise if `--round` and a narrow type are combined, or `--accumulate` is given without a narrow type."""
    if dtype in NARROW and round_to is not None:
        raise OptionError(f"--round rounds to decimals and --dtype {dtype} to digits of its own: give only one of them")
    if accumulate is not None and dtype not in NARROW:
        hint = f"--dtype {either(NARROW)}"
        raise OptionError("--accumulate says how a narrow type adds up, and --dtype names none", hint=hint)


def must_round_nothing(exact: str, dtype: str | None, round_to: int | None) -> None:
    """Raise if a run in exact numbers (`exact` is its flag, "" for none) is also asked to round."""
    rounds = "--round" if round_to is not None else f"--dtype {dtype}" if dtype not in (None, STORED[0]) else ""
    if rounds and exact:
        raise OptionError(f"{rounds} rounds every step, and {exact} rounds nothing")


LAYOUTS = ("bhnd", "bnhd", "hnd", "nhd")
"""The orders of the batch, head, token and channel axes; calculations put heads before tokens."""
HINTS = (_, QUESTION, RULE) = ("none", "question", "rule")
"""How much is said of an error: only its place; also a guiding question; also the mistake itself."""

MOST_ROUNDING = 15
"""The most decimals a step may be rounded to; float64 has no more."""

BOOLEANS_HINT = "true and false stand in masks alone: write 1 and 0"

_DECIMAL = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_FACTOR = rf"(?:{_DECIMAL}|pi|(?:sqrt\(|ln\(|exp\(-?){_DECIMAL}(?:/{_DECIMAL})?\))"
_PLAIN = re.compile(rf"[+-]?{_DECIMAL}", re.ASCII)
GAPS_HINT = "arrays have no gaps: every entry must be a number"
KEPT_DIGITS = 2**18  # in texts of at most so many characters, each number keeps the digits it was written with
LARGEST_EXPONENT = 709.78  # e to more than that is beyond 64 bits
NOT_FINITE = ("nan", "inf", "infinity")


_SIGNS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_MIXED = rf"(?<![\w./{_SIGNS}])(\d{{0,15}})([{_SIGNS}])(?![\w.{_SIGNS}])"  # compiled only when needed


def with_slashes(text: str) -> str:
    """A number with its fractions as they are typed: `1/2` for ½ and 1⁄2, `3/2` for 1½."""
    if text.isascii():
        return text
    from unicodedata import normalize  # a door: few numbers are written like this

    def over(found: re.Match[str]) -> str:
        above, below = map(int, normalize("NFKD", found[2]).split("⁄"))
        return f"{int(found[1] or 0) * below + above}/{below}"

    return re.sub(_MIXED, over, re.sub(r"(?<=\d)[⁄∕](?=\d)", "/", text, flags=re.ASCII), flags=re.ASCII)


def parse_number(text: str) -> float:
    """A finite number as a person writes it: `0.5`, `1e-3`, `1/3`, `sqrt(2)`, `1/sqrt(3)`, `-pi/2`, `ln(2)`, `½`."""
    text = with_slashes(text.strip(" "))
    if _PLAIN.fullmatch(text):
        value = float(text)
    elif _is_product(text):
        value = _product(text)
    else:
        raise InputError(_fault(text), hint=mend(text))
    return _in_range(value, text)


def written_number(text: str) -> Rational | float:
    """A number as a person writes it; a fraction such as 1/3, which no short decimal equals, stays exact."""
    text = with_slashes(text)
    value = parse_number(text)
    if re.fullmatch(r"[+-]?\d{1,15}/\d{1,15}", text.strip(" "), re.ASCII):
        from fractions import Fraction  # a door: fractions load slowly, and few options are fractions

        fraction = Fraction(text)
        return value if Fraction(repr(value)) == fraction else fraction
    return value


def is_number(text: str) -> bool:
    """Whether a text is a number, finite or not: this tells data from headers, and literals from names."""
    text = with_slashes(text.strip(" "))
    word = text.casefold()
    return _PLAIN.fullmatch(text) is not None or word.lstrip("+-") in NOT_FINITE or _is_product(text)


def is_infinite(text: str) -> bool:
    """Whether a text is positive infinity in any usual spelling: `inf`, `Infinity`, `+inf`, `∞`."""
    return text.strip(" ").removeprefix("+").casefold() in ("inf", "infinity", "∞")


def vanishes(text: str) -> bool:
    """Whether no factor of the written number is 0, so that a value of 0 means that it underflowed."""
    return not any(_is_nothing(factor, text) for factor in re.findall(_FACTOR, text, re.ASCII))


def _is_nothing(written: str, text: str) -> bool:
    name, _, inner = written.rpartition("(")
    if name == "ln":
        return _factor(written, text) == 0
    digits = re.split("[eE/]", inner, maxsplit=1)[0]
    return name != "exp" and written != "pi" and re.search("[1-9]", digits) is None


def _is_product(text: str) -> bool:
    if text[:1] not in tuple("+-.0123456789psle"):  # most names end here, before the pattern is compiled
        return False
    return re.fullmatch(rf"[+-]?{_FACTOR}(?:[*/]{_FACTOR})*", text, re.ASCII) is not None


def _product(text: str) -> float:
    value = -1.0 if text.startswith("-") else 1.0
    for operator, written in re.findall(rf"([*/]?)({_FACTOR})", text, re.ASCII):
        factor = _in_range(_factor(written, text), text)
        value = _in_range(_quotient(value, factor, text) if operator == "/" else value * factor, text)
    return value


def _factor(written: str, text: str) -> float:
    if written == "pi":
        return math.pi
    name, _, inner = written.partition("(")
    if not inner:
        return float(written)
    over, _, divisor = inner[:-1].partition("/")
    above, below = (_in_range(float(part), text) for part in (over, divisor or "1"))
    quotient = _quotient(above, below, written)
    if name == "exp":
        return math.exp(quotient) if quotient < LARGEST_EXPONENT else math.inf
    if name == "ln":
        if quotient <= 0:
            raise InputError(f"{quoted(text)} is no number: logarithms are of numbers above 0")
        return math.log(quotient)
    if sys.float_info.min <= quotient < math.inf:
        return math.sqrt(quotient)
    return math.sqrt(above) / math.sqrt(below)  # the root may fit into a float though its radicand does not


def _in_range(value: float, text: str) -> float:
    if not math.isfinite(value):
        raise InputError(f"{quoted(text)} is too large: 64-bit numbers end at 1.8e308")
    return value


def _quotient(above: float, below: float, text: str) -> float:
    if below == 0:
        raise InputError(f"{quoted(text)} divides by zero")
    return above / below


def _fault(text: str) -> str:
    if not text:
        return "there is no number"
    finite = text.casefold().lstrip("+-") not in NOT_FINITE
    return f"{quoted(text)} is not a {'' if finite else 'finite '}number"


_MENDS = (
    ("", GAPS_HINT),
    (r"[−–—‐‑‒].*", "the minus sign is another character: write an ASCII -"),
    (r".*[√π∞].*", "write sqrt(2), pi, -inf"),
    (r".*[¼-¾⅐-⅞⁄∕].*", "write a fraction with an ASCII slash: 1/2, 3/2 for 1½"),
    (r"[$€£¥].*|.*[$€£¥]", "leave out the currency sign"),
    (r"[^\x00-\x7f]+", "digits are written 0 to 9"),
    (r"[+-]?\d*,\d+", "write a decimal point: 1.5; a table with decimal commas is read with --decimal ,"),
    (r"[^,]+(,[^,]+){2,}", "several numbers stand in one place: each row needs a line, or a list, of its own"),
    (r"[+-]?\d[\d.,\s']*", "write a number without blanks or separators: 1000"),
    (r"[+-]?\d[\d._]*", "write a number without underscores: 1000"),
    (r"[+-]?[\d.]+\s*%", "write a percentage as a decimal: 0.5 for 50%"),
    (r"[+-]?0[xXbBoO].*", "write the number in decimal digits"),
    (r"[+-]?[\d.]+[dD][+-]?\d+", "write the exponent with an e: 1e3"),
    (r"[+-]?[\d.]+[+-][\d.]*[ij]", "operands are real"),
    (r"[+-]?([OoIl]|(?=.*\d)[\dOoIl.]+)", "the letters O and l are not the digits 0 and 1"),
    (r"(?i:true|false)", BOOLEANS_HINT),
    (r"(?i:n/?a|none|null|-+|\?)", GAPS_HINT),
    (r"[A-Za-z_]\w*=.*", "leave out the name and its sign; an operand is named as --q 1,2"),
    (r"=.*", "save the values in place of the formulas"),
    (r".*[*^(].*", "an entry is a number, 1/3, sqrt(2), ln(2), exp(1) or pi: give the result of a formula"),
)


_MISSPELT = (
    r"(?=.*\d)(?!.*\d\s*[-/:]\s*\d)[\W\d_]+"  # digits and signs, but no date and no range: 1_000, 50%, $1, 1 000
    r"|[+-]?0[xX][0-9a-fA-F]+|[+-]?[\d.]+[dD][+-]?\d+|[+-]?[\d.]+[+-][\d.]*[ij]|=.*"
)


def is_misspelt(text: str) -> bool:
    """Whether a text is a misspelt number, which must not be taken for a label or a name."""
    return len(text) < 200 and re.fullmatch(_MISSPELT, text) is not None and not is_number(text)


def mend(text: str) -> str:
    """A hint on how to turn a text into a number, "" if there is none."""
    return next((mend for pattern, mend in _MENDS if re.fullmatch(pattern, text[:200], re.ASCII | re.DOTALL)), "")
