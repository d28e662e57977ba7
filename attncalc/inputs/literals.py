"""Numeric text typed as an operand: `1,2,3`, `"1 2; 3 4"`, `[[1,2],[3,4]]`, `sqrt(2)`; and words as tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.errors import InputError
from attncalc.inputs.arrays import Index, Place, brackets, build, flatten
from attncalc.inputs.entries import NOT_FINITE, Digits, is_number
from attncalc.text import quoted
from attncalc.trace import Given

if TYPE_CHECKING:
    from attncalc.calculation import Kind


_BLANKS = str.maketrans("[];,", "    ")


def looks_numeric(text: str, kind: Kind = "real") -> bool:
    """Whether a word is numeric text, which is a literal whatever files there are.

    `nan` and `inf` alone are not, nor is `[CLS]`: they may be names.
    """
    parts = text.translate(_BLANKS).split()
    if text.lstrip().startswith("["):
        return not parts or any(is_number(part.strip('"'), kind) for part in parts)
    return all(is_number(part, kind) for part in parts) and any(part.casefold() not in NOT_FINITE for part in parts)


def read_literal(text: str, name: str, kind: Kind) -> Given:
    """A literal's array; `name` is the operand's, for errors, which count rows and entries from 1."""
    if text.lstrip().startswith("["):
        return _built(nested(text, name), kind, brackets("", name))
    if re.search(r";\s*$", text):
        raise InputError(f"{name}: there is no row after the last ;", hint="take it out: a ; stands between rows")
    split = re.split("[;\n]", text.strip())
    rows = [[entry for part in row.split(",") for entry in part.split() or [""]] for row in split]
    tree: Any = rows if len(rows) > 1 else rows[0] if len(rows[0]) > 1 else rows[0][0]

    def place(index: Index) -> str:
        words = ("row", "entry") if len(rows) > 1 else ("entry",)
        counted = [f"{word} {i + 1}" for word, i in zip(words, index, strict=False)]
        return f"{name}: {', '.join(counted)}" if counted else name

    return _built(tree, kind, place)


def read_tokens(text: str, name: str) -> Given:
    """Ids, or words of a vocabulary, apart by blanks or commas; ids may stand in brackets, as JSON has them."""
    listed = re.fullmatch(r"\s*\[([-\d\s,]*)\]\s*", text, re.ASCII)
    words = [word for word in re.split(r"[\s,]+", listed[1] if listed else text) if word]
    if not words:
        raise InputError(f"{name}: there are no tokens", hint="give ids (1,2,3) or words of the vocabulary")
    ids = all(re.fullmatch(r"-?\d{1,18}", word, re.ASCII) for word in words)
    return build([Digits(word) if ids else word for word in words], (len(words),), "tokens", brackets("", name))


def read_expression(text: str) -> Given:
    """A formula: its text, which the calculation reads itself."""
    return Given(np.array(text.strip()))


def _built(tree: Any, kind: Kind, place: Place) -> Given:
    entries, shape = flatten(tree, place)
    return build(entries, shape, kind, place)


def nested(text: str, name: str) -> list[Any]:
    """The lists of `[[1, 2], [1/3, sqrt(2)]]`, entries as text; blanks will do for commas, as NumPy prints them."""
    root: list[Any] = []
    stack = [root]
    before = ""  # the token before
    for match in re.finditer(r'\[|\]|,|"[^"]*"|[^\[\],\s"]+|"', text):
        token = match.group()
        if token == "," and before in ("", ",", "["):
            raise InputError(f"{name}: there is no number before character {match.start() + 1} of {quoted(text)}")
        if token == "]" and (before == "," or len(stack) == 1):
            fault = "there is no number before the" if before == "," else "there is no [ for the"
            raise InputError(f"{name}: {fault} ] at character {match.start() + 1} of {quoted(text)}")
        if len(stack) == 1 and root:
            raise InputError(f"{name}: the list ends before character {match.start() + 1} of {quoted(text)}")
        if token == "[":
            stack[-1].append([])
            stack.append(stack[-1][-1])
        elif token == "]":
            stack.pop()
        elif token != ",":
            stack[-1].append(token.strip('"'))
        before = token
    if len(stack) > 1:
        raise InputError(f"{name}: a bracket of {quoted(text)} is not closed", hint="add ]")
    found: list[Any] = root[0]
    return found
