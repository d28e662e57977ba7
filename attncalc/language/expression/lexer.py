"""Text → tokens, of which there is a closed set: numbers, names, + - * / ** ^, round brackets and commas."""

from __future__ import annotations

import math
import re
from typing import Literal, NamedTuple, NoReturn

from attncalc.common.errors import ExpressionError
from attncalc.common.text import quoted, visible

LONGEST = 1000  # characters
MOST = 300  # tokens
MOST_DIGITS = 40
LONGEST_NAME = 32
SHOWN = 60  # characters of a long text that an error quotes

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<sign>\*\*|[-+*/^(),])",
    re.ASCII,
)
_MENDS = (
    ("−–—‐‑‒", "the minus sign is another character: write an ASCII -"),
    ("×·⋅∙", "write * for a product"),
    ("÷", "write / for a quotient"),
    ("²³¹⁰⁴⁵⁶⁷⁸⁹", "write x**2 for x²"),
    ("√", "write sqrt(x)"),
    ("π", "write pi"),
    ("[]{}", "brackets are round: ( and )"),
    ("|", "write abs(x)"),
    ("!", "there is no factorial"),
    ("=", "an expression has no =: where to look is said beside it, as in --at x=3"),
    ("<>", "there are no comparisons: max(a, b), min(a, b), relu(x) and abs(x) choose"),
    ("%", "there is no remainder, and a percentage is a decimal: 0.5 for 50%"),
    ("_", "a name begins with a letter, and a number has no underscores"),
    (".", "a point stands in numbers alone: 0.5"),
    ("'\"`", "leave the quotes out"),
    ("\n\r", "an expression is one line"),
    (";", "one expression at a time; arguments are apart by commas"),
)


class Token(NamedTuple):
    """A piece of the text, and where it begins (from 1)."""

    kind: Literal["number", "name", "sign", "end"]
    text: str
    place: int


def fault(text: str, place: int, message: str, hint: str = "") -> NoReturn:
    """Raise the error for what is wrong at a character of the text, counted from 1."""
    shown = quoted(text)
    if len(text) > SHOWN:
        start = max(0, min(place - 1 - SHOWN // 2, len(text) - SHOWN))
        sides = ("…" if start else "", "…" if start + SHOWN < len(text) else "")
        shown = f'"{sides[0]}{visible(text[start : start + SHOWN])}{sides[1]}"'
    raise ExpressionError(f"{shown}, character {place}: {message}", hint=hint)


def tokens(text: str) -> list[Token]:
    """The tokens of a text, an `end` behind the last one."""
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression has {len(text):,} characters, but the limit is {LONGEST:,}")
    found: list[Token] = []
    place = 0
    while place < len(text):
        if text[place] in " \t":
            place += 1
            continue
        match = _TOKEN.match(text, place)
        if match is None:
            _refuse(text, place)
        token = Token(match.lastgroup, match.group(), place + 1)  # type: ignore[arg-type]  # the groups are the kinds
        _check(token, text)
        found.append(token)
        place = match.end()
        if len(found) > MOST:
            fault(text, token.place, f"the expression has more than {MOST} numbers, names and signs")
    return [*found, Token("end", "", len(text) + 1)]


def _check(token: Token, text: str) -> None:
    """Refuse numbers and names that are too long."""
    if token.kind == "name" and (len(token.text) > LONGEST_NAME or "__" in token.text):
        long = f"a name has at most {LONGEST_NAME} characters"
        fault(text, token.place, "a name has no two underscores in a row" if "__" in token.text else long)
    if token.kind == "number":
        if len(re.split("[eE]", token.text)[0]) > MOST_DIGITS:
            fault(text, token.place, f"a number has at most {MOST_DIGITS} digits")
        if not math.isfinite(float(token.text)):
            fault(text, token.place, f"{visible(token.text, 20)} is too large: 64-bit numbers end at 1.8e308")


def _refuse(text: str, place: int) -> NoReturn:
    character = text[place]
    hint = next((mend for signs, mend in _MENDS if character in signs), "")
    if not hint and character.isalpha():
        hint = "names are written in the letters a to z: alpha, theta_1"
    fault(text, place + 1, f"{quoted(character)} is no part of an expression", hint)
