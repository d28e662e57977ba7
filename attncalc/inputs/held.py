"""An operand from the file that holds it: the array that is picked, or the word that stands in its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from attncalc.errors import InputError
from attncalc.inputs.moves import indexed, labelled_row
from attncalc.inputs.names import stored_by_torch
from attncalc.inputs.objects import JsonFile
from attncalc.inputs.resolve import Found, shaped
from attncalc.text import near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Operand
    from attncalc.inputs.contents import Contents
    from attncalc.inputs.reading import Reading
    from attncalc.inputs.resolve import Tables
    from attncalc.trace import Given


def read_found(found: Found, operand: Operand, reading: Reading) -> Given:
    """The operand that an array in a file is."""
    given = found.contents.array(found.name, operand, reading)
    if found.at:
        given = indexed(given, found.at)
    name = given.source.rpartition("#")[2]
    if stored_by_torch(name) and operand.name not in reading.transpose and given.value.ndim == 2:
        reading.tell(f"{operand.name}: PyTorch stores {name} as [out, in]; --transpose {operand.name} turns it")
    return shaped(given, operand, reading, table=found.contents.table)


def read_held(found: Found, operand: Operand, reading: Reading, tables: Tables) -> Given:
    """An operand of a file with several; a word in it is a row label, and never a file."""
    contents = found.contents
    text = operand.kind in ("tokens", "expression")
    word = None if text else word_in(found)
    if word is None:
        return (None if text else _in_letters(found, operand)) or read_found(found, operand, reading)
    for table in tables.values():
        if word in table.labels.get(0, ()):
            return shaped(labelled_row(table, word), operand, reading, table=False)
    known = [label for table in tables.values() for label in table.labels.get(0, ())]
    what = "neither a number nor a row label" if known else "not a number"
    raise InputError(f"{contents.source}: {found.name} is {quoted(word)}, {what}", hint=near(word, known))


def _in_letters(found: Found, operand: Operand) -> Given | None:
    """An operand that was saved without numbers, under --symbolic: `[["q_00", "q_01"]]`."""
    contents = found.contents
    held = contents.tree.get(found.name) if isinstance(contents, JsonFile) else None
    shape: list[int] = []
    first = held
    while isinstance(first, list) and first:
        shape, first = [*shape, len(first)], first[0]
    if not (shape and isinstance(first, str) and first.startswith(f"{operand.name}_0")):
        return None
    from attncalc.exact import letters  # few operands have no numbers

    given = letters(operand.name, shape)
    return given if np.vectorize(str, otypes=[object])(given.value).tolist() == held else None


def picked(contents: Contents, name: str) -> Found:
    """`weights[2][0]` in a file; a name that ends in brackets itself is taken as it is."""
    begin = end = 0  # of the brackets that follow one another
    for match in re.finditer(r"\[\s*[+-]?\d{1,9}\s*(?:,\s*[+-]?\d{1,9}\s*)*\]", name, re.ASCII):
        begin, end = (begin if match.start() == end else match.start()), match.end()
    if end < len(name) or name in contents.names:
        return Found(contents, name or None)
    at = tuple(int(number) for number in re.findall(r"[+-]?\d+", name[begin:]))
    return Found(contents, name[:begin] or None, at)


def word_in(found: Found) -> str | None:
    """The word that stands in a file where an array may stand, if one does."""
    return found.contents.word(found.name) if isinstance(found.contents, JsonFile) else None
