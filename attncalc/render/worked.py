"""The arithmetic of an entry as text, with enough digits to be true, or the place that the entry came from."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from attncalc.common.errors import both
from attncalc.record import trace as record
from attncalc.record.numbers import exact_text, format_number, parted
from attncalc.record.trace import Entry, Step, Trace
from attncalc.render import View, operand_steps
from attncalc.render.page import Limits, Line, Table, located, spoken, window
from attncalc.solve import asking

# Proofreading a line of arithmetic: what a calculator gives for the printed digits.


_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[+-]\d+)?|[A-Za-zσπ][A-Za-z₀-₉]*|\S)")
_NUMBERS = {"e": math.e, "π": math.pi, "∞": math.inf, "taken": -math.inf}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "ln": math.log,
    "log₂": math.log2,
    "log₁₀": math.log10,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arccos": math.acos,
    "erf": math.erf,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "round": lambda x: float(round(x)),
    "floor": lambda x: float(math.floor(x)),
    "max": max,
    "min": min,
    "argmax": lambda *values: float(values.index(max(values))),
}


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "≤": operator.le,
    "<": operator.lt,
    "=": operator.eq,
    "≥": operator.ge,
    ">": operator.gt,
    "≠": operator.ne,
}
COMPARED = f" ([{''.join(_COMPARISONS)}]) "


def holds(line: str, result: str, digits: int | None = None) -> bool:
    """Whether the line gives the result, in the digits that are shown; true if the line cannot be evaluated.

    A short number, such as 1 or 0.5, must be right to four decimals, unless a number of digits was asked for. A
    comparison that decided must be true too.
    """
    ways, why = taken_apart(line)
    return all(_comes_to(way, result, digits) for way in ways) and _is_so(why.removeprefix("masked: "))


def _is_so(why: str) -> bool:
    """Whether the comparisons are true."""
    try:
        parts = [re.split(COMPARED, part) for part in why.split(" and ")] if why else []
        return all(_COMPARISONS[sign](_Line(a).whole(), _Line(b).whole()) for a, sign, b in parts)
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        return True


ROUNDED = 1e-13
"""The relative error that float rounding may cause in a line."""


def _comes_to(line: str, result: str, digits: int | None) -> bool:
    try:
        shown = float(result.replace("−", "-"))
    except ValueError:
        return True  # words or letters
    try:
        found = _Line(line).whole()
    except ZeroDivisionError:
        return not math.isfinite(shown)
    except (ValueError, OverflowError, TypeError):
        return True  # words, letters, or numbers beyond floats
    mantissa, _, exponent = result.partition("e")
    decimals = len(mantissa.partition(".")[2])
    if digits is None and not exponent:
        decimals = max(decimals, 4)
    unit = max(10.0 ** (int(exponent or 0) - decimals), ROUNDED * abs(shown))
    return abs(found - shown) <= 0.5 * unit * (1 + 1e-9) or found == shown


class _Line:
    """Evaluates a line of arithmetic with numbers, by a recursive descent parser."""

    def __init__(self, line: str) -> None:
        self.tokens = [*_TOKEN.findall(line.replace("−", "-")), ""]
        self.place = 0

    def take(self, *wanted: str) -> str:
        token = self.tokens[self.place]
        self.place += bool(token) and token in wanted
        return token if token in wanted else ""

    def expect(self, wanted: str) -> None:
        if not self.take(wanted):
            raise ValueError(f"no {wanted}")

    def whole(self) -> float:
        value = self.sum()
        if self.tokens[self.place]:
            raise ValueError("no arithmetic")
        return value

    def sum(self) -> float:
        value = -self.product() if self.take("-") else self.product()
        while sign := self.take("+", "-"):
            value += self.product() if sign == "+" else -self.product()
        return value

    def product(self) -> float:
        value = self.power()
        while sign := self.take("×", "·", "/"):
            value = value / self.power() if sign == "/" else value * self.power()
        return value

    def power(self) -> float:
        if self.take("√"):
            return math.sqrt(self.atom())
        value = self.atom()
        if self.take("²"):
            return value**2
        return math.pow(value, self.signed()) if self.take("^") else value

    def signed(self) -> float:
        return -self.atom() if self.take("-") else self.atom()

    def atom(self) -> float:
        token = self.tokens[self.place]
        self.place += 1
        if token == "[":  # a comparison: 1 if it is true, else 0
            left, sign, right = self.sum(), self.take(*_COMPARISONS), self.sum()
            self.expect("]")
            return float(_COMPARISONS[sign](left, right))
        if token in ("(", "|"):
            value = self.sum()
            self.expect(")" if token == "(" else "|")
            return value if token == "(" else abs(value)
        if token in _FUNCTIONS:
            self.expect("(")
            values = [self.sum()]
            while self.take(","):
                values.append(self.sum())
            self.expect(")")
            return _FUNCTIONS[token](*values)
        return _NUMBERS[token] if token in _NUMBERS else float(token)


# The arithmetic of an entry as text, with the numbers formatted: `0.8×0.7 + 0.2×0.3 + 0.1×0.2`.


WORD = "[-−]?[0-9.]+(e[+-][0-9]+)?|[A-Za-z][A-Za-z0-9_₀-₉]*|[π∞]"  # a number or a letter, which needs no brackets
WORDS = "[a-z][a-z ]{2,}|(an?|the) [a-z]{2,} .*"  # words in place of arithmetic: masked, a root of …
LOOSE = (" + ", " - ", "/")  # an expression with one of these needs brackets as a factor
ROW = 76  # characters of arithmetic in a row of a page of 80 columns
LONGEST_WORKED = 3 * ROW
"""The most characters of one line of arithmetic in a step; of several lines, each has a row less."""
DEPTHS = (None, 4, 3, 2, 1)
"""How deep arithmetic goes: if it is too long, larger and larger parts are replaced by their values."""
MOST = 6  # entries of a step, and terms of an entry, whose arithmetic is shown in the step


MORE_DIGITS = (5, 6, 7, 8, 10, 12, 17)
"""Significant digits to try for the numbers in a line that does not give its printed result with those of the table."""


def written(arithmetic: record.Arithmetic, digits: int | None = None, result: str = "") -> str:
    """A line of arithmetic as text, with as many digits as are needed to give the result beside it.

    If all its numbers are 0 by underflow, so that it is √0 or 0 / 0 and never gives the result, words say so.
    """
    if line := _coming_to(arithmetic, digits, result):
        return line
    values = [piece.value for piece in arithmetic if isinstance(piece, Entry)]
    is_lost = bool(values) and all(isinstance(value, int | float | np.number) and value == 0 for value in values)
    return UNDERFLOW if is_lost else _spelled(arithmetic, digits)


UNDERFLOW = "made of what is too small for floats"


def _coming_to(arithmetic: record.Arithmetic, digits: int | None, result: str) -> str:
    """The line with the fewest digits that give the result; "" if it never does."""
    lines = (_spelled(arithmetic, digits, more) for more in (0, *MORE_DIGITS))
    return next((line for line in lines if holds(line, result, digits)), "")


FAINTEST = 1e-14
"""Numbers smaller than this, relative to the largest in a line, may be mere rounding errors."""


def _without_noise(arithmetic: record.Arithmetic) -> record.Arithmetic:
    """The line with 0 for numbers that may be mere rounding errors."""
    sizes = [abs(piece.value) if isinstance(piece, Entry) and _is_float(piece.value) else 0.0 for piece in arithmetic]
    least = FAINTEST * max(sizes, default=0.0)
    return tuple(
        piece._replace(value=0.0) if isinstance(piece, Entry) and 0 < size < least else piece
        for piece, size in zip(arithmetic, sizes, strict=True)
    )


def _is_float(number: Any) -> bool:
    return isinstance(number, (float, np.floating)) and bool(np.isfinite(number))


def _spelled(arithmetic: record.Arithmetic, digits: int | None, more: int = 0) -> str:
    signs = ["", *(piece if isinstance(piece, str) else "" for piece in arithmetic), ""]
    return "".join(
        piece if isinstance(piece, str) else _number(piece, signs[place], signs[place + 2], digits, more)
        for place, piece in enumerate(arithmetic)
    )


def _number(entry: Entry, before: str, behind: str, digits: int | None, more: int) -> str:
    """A number as text, in brackets if the signs beside it would otherwise split it."""
    text = _longer(entry.value, _text(entry.value, digits), more) if more else _text(entry.value, digits)
    loose = text.startswith(("-", "−")) or any(sign in text for sign in " /·")
    if entry.brackets and loose:
        return f"({text})"
    if before.endswith(("√", "^")) or behind.startswith(("²", "^", "!")):
        return text if re.fullmatch(WORD, text) else f"({text})"
    return f"({text})" if behind.startswith(("×", " / ")) and any(sign in _outside(text) for sign in LOOSE) else text


def _longer(value: Any, text: str, more: int) -> str:
    """A number with more significant digits, if its text was rounded."""
    if not _is_float(value) or float(text.replace("−", "-")) == value:
        return text
    longer = f"{value:.{more}g}"
    return longer if len(longer) > len(text) else text


def _outside(text: str) -> str:
    """The expression without everything in brackets."""
    while (inner := re.sub(r"\([^()]*\)", "", text)) != text:
        text = inner
    return text


@lru_cache(maxsize=4096, typed=True)  # the same numbers occur in many lines; typed since -1/2 == -0.5
def _text(value: Any, digits: int | None) -> str:
    return exact_text(value) if hasattr(value, "free_symbols") else parted(format_number(value, digits))[0]


def leading(arithmetic: str, value: str) -> str:
    """The arithmetic; "" if it is just the value: `0`, `−0`, or `e^(-2)` for `e^(-2) ≈ 0.1353`."""
    number, written = (each.replace("-", "−") for each in (parted(value)[0], arithmetic))
    return "" if written == number or (written, number) == ("−0", "0") else arithmetic


def taken_apart(arithmetic: str) -> tuple[list[str], str]:
    """The forms of an entry's arithmetic, and what follows its value in brackets: words, or a comparison.

    `[3 < 5] + [7 < 5] = 1 + 0` has two forms; `2×3 (5 > 4)` has one and a comparison, `3 > 2` only a comparison.
    """
    work, why = arithmetic, ""
    if arithmetic.endswith(")"):
        start = _opening(arithmetic)
        if _compares(arithmetic[start:]):
            work, why = arithmetic[:start].rstrip(), arithmetic[start + 1 : -1]
    if not why and (re.fullmatch(WORDS, arithmetic) or ("[" not in arithmetic and _compares(arithmetic))):
        return [], arithmetic
    return [way for way in re.split(r" = (?![^\[]*\])", work) if way], why


def _opening(bracketed: str) -> int:
    """The position of the bracket that is closed at the end of the line."""
    depth = 0
    for i in range(len(bracketed) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(bracketed[i], 0)
        if not depth:
            return i
    return 0


def _compares(line: str) -> bool:
    """Whether there is a comparison outside square brackets."""
    return re.search(COMPARED, re.sub(r"\[[^\[\]]*\]", "", line)) is not None


def links(arithmetic: str, value: str) -> list[str]:
    """What follows an entry's name, each after an equals sign: `1×1 + 0×0` and `1`, or only the value.

    Words in place of arithmetic follow the value, `−∞ (masked)`, and so does a comparison that decided: `0 (3 > 2)`.
    """
    ways, why = taken_apart(arithmetic)
    return [*(way for way in ways if leading(way, value)), f"{value} ({why})" if why else value]


def is_short(line: record.Arithmetic) -> bool:
    """Whether the line has numbers, and few enough terms to be written on paper."""
    words = "".join(piece if isinstance(piece, str) else "#" for piece in line)
    ways, _ = taken_apart(words)
    terms = max((way.count(" + ") + _outside(way).count(" − ") for way in ways), default=0)
    return "#" in words and "…" not in words and terms < MOST


def _is_told(line: record.Arithmetic) -> bool:
    """Whether the line is words alone."""
    return len(line) == 1 and isinstance(line[0], str) and re.fullmatch(WORDS, line[0]) is not None


MOST_WRITTEN = 2_000  # entries whose arithmetic is written in one call


# The lines of a step: the entries whose arithmetic is shown.


def worked_lines(step: Step, shown: Table, trace: Trace, view: View, followed: dict[str, int]) -> list[Line]:
    """The arithmetic of a scalar, of all entries of a short vector, or of the most telling entry of any other value.

    `followed` is the place whose arithmetic was shown last, with which the next steps go on.
    """
    shape = shown.shape
    if 0 in shape or not asking.is_worked_out(trace, step):
        return []
    if len(shape) < 2 and prod(shape) <= MOST:
        places = list(np.ndindex(*shape))
        found = [asking.arithmetic(trace, step, place) for place in places]
        if any(map(is_short, found)) and all(is_short(each) or _is_told(each) for each in found):
            most = LONGEST_WORKED if len(places) == 1 else LONGEST_WORKED - ROW
            lines = _in_few_rows(step, places, shown, trace, view, most)
            if lines and (not shape or any(line.arithmetic or line.why for line in lines)):
                return lines  # otherwise the table says as much
    if view.detail == "brief":
        return []
    if view.detail == "full" and shape and prod(shape) <= MOST_WRITTEN:
        return [_line(step, at, shown, trace, view) for at in np.ndindex(*shape)]
    at = asking.telling(trace, step, followed)
    if at is None:
        return []
    lines = _in_few_rows(step, [at], shown, trace, view, LONGEST_WORKED)
    if all(line.arithmetic for line in lines):
        followed |= dict(zip(step.axes, at, strict=True))
        return lines
    near = [*product(*(range(min(size, asking.LOOKED_AT))[::-1] for size in shape))]  # first entries may stay in place
    at = next((place for place in near if asking.entry_of(trace, step, place) != 0), near[0])  # all 0s are alike
    return [line for line in _in_few_rows(step, [at], shown, trace, view, LONGEST_WORKED) if line.why]


def _in_few_rows(
    step: Step, places: list[tuple[int, ...]], shown: Table, trace: Trace, view: View, most: int
) -> list[Line]:
    """The lines of entries, as deep as fits into `most` characters each; empty if they never fit."""
    for deepest in DEPTHS:
        lines = [_line(step, at, shown, trace, view, deepest) for at in places]
        if all(len(line.arithmetic) <= most for line in lines):
            return lines
    return []


def _line(step: Step, at: tuple[int, ...], shown: Table, trace: Trace, view: View, deepest: int | None = None) -> Line:
    """The line of an entry, with its place and its value as in the table."""
    value = asking.entry_of(trace, step, at) if shown.value is None else shown.value[at]
    number = format_number(value, view.digits)
    if "e" in number and step.shape and (shown.value is None or shown.value.dtype.kind == "f"):
        number = _beside_others(shown, at, view) or number
    labels = tuple(spoken(shown, axis, i) for axis, i in zip(step.axes, at, strict=True))
    return told_of(Line(step.name, at, "", (), labels), number, step, trace, view, deepest)


def told_of(line: Line, number: str, step: Step, trace: Trace, view: View, deepest: int | None = None) -> Line:
    """The line with the entry's arithmetic, or with the place that the entry came from if it is only moved."""
    pieces = asking.arithmetic(trace, step, line.at, deepest)
    clean = _coming_to(_without_noise(pieces), view.digits, number) if deepest else ""
    arithmetic = leading(clean or written(pieces, view.digits, number), number)
    told, why = links(arithmetic, number), taken_apart(arithmetic)[1]
    if not arithmetic and len(pieces) == 1 and (why := _whence(line, step, trace)):
        told = [f"{number} ({why})"]
    return line._replace(arithmetic=arithmetic, links=tuple(told), why=why)


def handed_on(step: Step, at: tuple[int, ...], trace: Trace) -> tuple[Step, tuple[int, ...]] | None:
    """The step, and the place in it, from which an entry is handed on unchanged; None if there is arithmetic."""
    origins = () if len(asking.arithmetic(trace, step, at)) > 1 else asking.origins(trace, step, at)
    if len(origins) != 1 or origins[0].operand or any(len(along) > 1 for along in origins[0].ranges.values()):
        return None
    if origins[0].of not in trace:
        return None  # it is not shown as a step
    found = trace.find(origins[0].of)
    there = tuple(origins[0].ranges[axis][0] for axis in found.axes)
    return (found, there) if asking.entry_of(trace, found, there) == asking.entry_of(trace, step, at) else None


def _whence(line: Line, step: Step, trace: Trace) -> str:
    """Where an entry that is only moved comes from: `from table[5,0] and buckets[1,2]`; "" if that is obvious."""
    here = {axis: range(i, i + 1) for axis, i in zip(step.axes, line.at, strict=True)}
    found = asking.origins(trace, step, line.at)
    if all(origin.ranges.items() <= here.items() for origin in found) or any(
        len(along) > 1 for origin in found for along in origin.ranges.values()
    ):
        return ""
    given = operand_steps(trace)
    sources = [given.get(origin.of) if origin.operand else trace.find(origin.of) for origin in found]
    words = []
    for origin, source in zip(found, sources, strict=True):
        if source is None:
            return ""
        name = source.symbol if origin.operand else source.name if source.group == step.group else source.key
        place = ",".join(spoken(source, axis, origin.ranges[axis][0]) for axis in source.axes)
        words.append(f"{name}[{place}]" if place else name)
    return f"from {both(words)}" if words != [line.place] else ""


def _beside_others(shown: Table, at: tuple[int, ...], view: View) -> str:
    """An entry with the digits that it has in the table; "" if it is not shown there."""
    matrices = window(shown, view, Limits()).matrices
    return next((entry for matrix in matrices for place, entry in located(shown, matrix) if place == at), "")
