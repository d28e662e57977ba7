"""How an option is spelled in the help: what it takes."""

from __future__ import annotations

import pytest

from attncalc.calculations import value_word
from attncalc.declare.operands import Option


def declare(*types: type, choices: tuple[str, ...] = (), many: bool = False) -> Option:
    return Option("scale", types, choices, many, None, "")


WORDS = {
    "a number": (declare(float), "NUMBER"),
    "a whole number": (declare(int), "N"),
    "a number or a word": (declare(float, choices=("default", "none")), "NUMBER|default|none"),
    "words": (declare(choices=("start", "end")), "start|end"),
    "a list": (declare(int, many=True), "N,N,…"),
    "any word": (declare(str), "WORD"),
    "a switch": (declare(bool), ""),
}


@pytest.mark.parametrize(("option", "word"), WORDS.values(), ids=WORDS)
def test_the_help_says_what_is_taken(option: Option, word: str) -> None:
    assert value_word(option) == word
