"""The value of a calculation's option, from the word that was written for it."""

from __future__ import annotations

import re
from numbers import Rational
from typing import TYPE_CHECKING, Any

from attncalc.errors import AttncalcError, OptionError
from attncalc.options import assignments, written_number
from attncalc.text import either, near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Option


def read_option(option: Option, word: str | bool) -> Any:
    """The value that a word stands for, or why it is none; a switch is what it is."""
    if isinstance(word, bool):
        return word
    if dict in option.types:
        return assignments(word, option.flag)
    if not option.many:
        return _read(option, word)
    if word in option.choices:
        return word
    return tuple(_read(option, part.strip()) for part in word.split(","))


def _read(option: Option, word: str) -> Any:
    if word in option.choices:
        return word
    for kind in option.types:
        if kind is int and re.fullmatch(r"[+-]?[0-9]{1,40}", word):
            return int(word)
        if kind in (int, float):
            number = _number(word)
            if number is not None and (kind is float or float(number).is_integer()):
                return number if kind is float else int(float(number))
        if kind is str:
            return word
    raise OptionError(f"{option.flag} takes {_kinds(option)}, not {quoted(word)}", hint=near(word, option.choices))


def _number(word: str) -> Rational | float | None:
    try:
        return written_number(word)
    except AttncalcError:
        return None


def _kinds(option: Option) -> str:
    """`a whole number`, `a number, none or default`."""
    numbers = ["a number"] if float in option.types else ["a whole number"] if int in option.types else []
    return either([*numbers, *option.choices])
