"""The arithmetic of an entry as text, with the numbers formatted: `0.8×0.7 + 0.2×0.3 + 0.1×0.2`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np

from attncalc.record.numbers import exact_text, format_number, parted
from attncalc.record.trace import Arithmetic, Entry
from attncalc.render.proof import holds

WORD = "[-−]?[0-9.]+(e[+-][0-9]+)?|[A-Za-z][A-Za-z0-9_₀-₉]*|[π∞]"  # a number or a letter: no sign tears it apart
WORDS = "[a-z][a-z ]{2,}|(an?|the) [a-z]{2,} .*"  # said of an entry that no arithmetic gives: masked, a root of …
LOOSE = (" + ", " - ", "/")  # the signs that make an expression no factor, unless it is in brackets
MOST = 6  # entries of a step, and terms of an entry, that are worked out in the step itself


MORE_DIGITS = (5, 6, 7, 8, 10, 12, 17)
"""Significant digits of the numbers in a line that, with those of a table, does not come to what is printed behind."""


def written(arithmetic: Arithmetic, digits: int | None = None, result: str = "") -> str:
    """An arithmetic line as text, its numbers with as many digits as it takes to come to the result beside it."""
    line = _spelled(arithmetic, digits)
    if holds(line, result, digits):
        return line
    longer = (_spelled(arithmetic, digits, more) for more in MORE_DIGITS)
    return next((text for text in longer if holds(text, result, digits)), line)


def _spelled(arithmetic: Arithmetic, digits: int | None, more: int = 0) -> str:
    signs = ["", *(piece if isinstance(piece, str) else "" for piece in arithmetic), ""]
    return "".join(
        piece if isinstance(piece, str) else _number(piece, signs[place], signs[place + 2], digits, more)
        for place, piece in enumerate(arithmetic)
    )


def _number(entry: Entry, before: str, behind: str, digits: int | None, more: int) -> str:
    """A number, in brackets where it is none of one word and the signs beside it would tear it apart."""
    text = _longer(entry.value, _text(entry.value, digits), more) if more else _text(entry.value, digits)
    loose = text.startswith(("-", "−")) or any(sign in text for sign in " /·")
    if entry.brackets and loose:
        return f"({text})"
    if before.endswith(("√", "^")) or behind.startswith(("²", "^", "!")):
        return text if re.fullmatch(WORD, text) else f"({text})"
    return f"({text})" if behind.startswith(("×", " / ")) and any(sign in _outside(text) for sign in LOOSE) else text


def _longer(value: Any, text: str, more: int) -> str:
    """A number that was rounded, to so many significant digits."""
    rounded = isinstance(value, (float, np.floating)) and np.isfinite(value)
    if not rounded or float(text.replace("−", "-")) == value:
        return text
    longer = f"{value:.{more}g}"
    return longer if len(longer) > len(text) else text


def _outside(text: str) -> str:
    """What of an expression stands outside all brackets."""
    while (inner := re.sub(r"\([^()]*\)", "", text)) != text:
        text = inner
    return text


@lru_cache(maxsize=4096)  # a number comes back in line after line
def _text(value: Any, digits: int | None) -> str:
    return exact_text(value) if hasattr(value, "free_symbols") else parted(format_number(value, digits))[0]


def leading(arithmetic: str, value: str) -> str:
    """The arithmetic that leads to a value; "" where it is that value itself: `0`, or `e^(-2)` to `e^(-2) ≈ 0.1353`."""
    return "" if parted(value)[0] == arithmetic else arithmetic


def links(arithmetic: str, value: str) -> list[str]:
    """What stands behind the name of an entry, each after a sign of equality: `1×1 + 0×0` and `1`, or the value alone.

    Words in the place of arithmetic come behind the value: `−∞ (masked)`.
    """
    if re.fullmatch(WORDS, arithmetic):
        return [f"{value} ({arithmetic})"]
    return [arithmetic, value] if arithmetic else [value]


def is_short(line: Arithmetic) -> bool:
    """Whether there are numbers to work with, and no more of them than one writes on paper."""
    words = "".join(piece if isinstance(piece, str) else "#" for piece in line)
    return "#" in words and "…" not in words and words.count(" + ") + _outside(words).count(" − ") < MOST
