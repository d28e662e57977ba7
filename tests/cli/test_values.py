"""The words that an option takes, and the values that they stand for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from attncalc.calculation import Option
from attncalc.cli.values import read_option
from attncalc.errors import OptionError
from attncalc.spelling import value_word


def declare(*types: type, choices: tuple[str, ...] = (), many: bool = False) -> Option:
    return Option("scale", types, choices, many, None, "")


NUMBER = declare(float)
WHOLE = declare(int)
SCALE = declare(float, choices=("default", "none"))
KIND = declare(choices=("start", "end"))
SIZES = declare(int, many=True)
FACTORS = declare(float, many=True)
ANY_WORD = declare(str)
SWITCH = declare(bool)

VALUES: dict[str, tuple[Option, str | bool, Any]] = {
    "a number": (NUMBER, "2.5", 2.5),
    "a fraction": (NUMBER, "-1/2", -0.5),
    "a fraction of no few decimals": (NUMBER, "1/3", Fraction(1, 3)),
    "a root": (NUMBER, "1/sqrt(3)", 1 / math.sqrt(3)),
    "a whole number": (WHOLE, "3", 3),
    "a whole number in powers of ten": (WHOLE, "1e3", 1000),
    "a whole number with a point": (WHOLE, "3.0", 3),
    "a whole number beyond float64": (WHOLE, "9007199254740993", 9007199254740993),
    "a word where a number may stand": (SCALE, "none", "none"),
    "a number where a word may stand": (SCALE, "2", 2.0),
    "a choice": (KIND, "end", "end"),
    "a list": (SIZES, "2,8,32", (2, 8, 32)),
    "a list with blanks": (SIZES, "2, 8", (2, 8)),
    "a list of one": (FACTORS, "1/2", (0.5,)),
    "any word": (ANY_WORD, "e", "e"),
    "a switch": (SWITCH, True, True),
    "a switch turned off": (SWITCH, False, False),
}


@pytest.mark.parametrize(("option", "word", "value"), VALUES.values(), ids=VALUES)
def test_words_are_read(option: Option, word: str | bool, value: Any) -> None:
    read = read_option(option, word)
    assert (type(read), read) == (type(value), pytest.approx(value) if isinstance(value, float) else value)


FAULTS = {
    "no number": (NUMBER, "x", '--scale takes a number, not "x"', ""),
    "nothing": (NUMBER, "", '--scale takes a number, not ""', ""),
    "infinity": (WHOLE, "inf", '--scale takes a whole number, not "inf"', ""),
    "half a whole number": (WHOLE, "2.5", '--scale takes a whole number, not "2.5"', ""),
    "digits of another script": (WHOLE, "٣", '--scale takes a whole number, not "٣"', ""),
    "an underscore in a number": (WHOLE, "1_0", '--scale takes a whole number, not "1_0"', ""),
    "neither number nor choice": (SCALE, "nome", '--scale takes a number, default or none, not "nome"', "none?"),
    "no choice": (KIND, "strat", '--scale takes start or end, not "strat"', "did you mean start?"),
    "a fault in a list": (SIZES, "2,x", '--scale takes a whole number, not "x"', ""),
    "a hole in a list": (SIZES, "2,,3", '--scale takes a whole number, not ""', ""),
    "an escape": (KIND, "\x1b[2J", r'--scale takes start or end, not "\x1b[2J"', ""),
}


@pytest.mark.parametrize(("option", "word", "message", "hint"), FAULTS.values(), ids=FAULTS)
def test_faults_are_said(option: Option, word: str, message: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_option(option, word)
    assert caught.value.message == message
    assert hint in caught.value.hint


HELP = {
    "a number": (NUMBER, "NUMBER"),
    "a whole number": (WHOLE, "N"),
    "a number or a word": (SCALE, "NUMBER|default|none"),
    "words": (KIND, "start|end"),
    "a list": (SIZES, "N,N,…"),
    "any word": (ANY_WORD, "WORD"),
    "a switch": (SWITCH, ""),
}


@pytest.mark.parametrize(("option", "word"), HELP.values(), ids=HELP)
def test_the_help_says_what_is_taken(option: Option, word: str) -> None:
    assert value_word(option) == word
