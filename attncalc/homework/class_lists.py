"""A class in one CSV file: a column `student`, columns like `weights[0,1]`, and a sheet in each row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attncalc.errors import InputError
from attncalc.homework import answers
from attncalc.homework.sheets import LONGEST_NAME, Sheet
from attncalc.inputs import files
from attncalc.inputs.csv_files import table_rows
from attncalc.inputs.reading import Reading
from attncalc.text import visible

STUDENT = "student"
_COLUMN = re.compile(r"(.+?) *\[ *(\d{1,6}(?: +\d{1,6})*) *\]", re.ASCII)
_PLACES = re.compile(r"\[[\d, ]*\]", re.ASCII)

At = tuple[int, ...]
"""The place of an entry in a step."""


class Row(NamedTuple):
    """A student's row: a sheet, or why it is none."""

    student: str
    source: str
    sheet: Sheet | None = None
    error: str = ""


def class_list(path: Path, reading: Reading) -> list[Row] | None:
    """The rows of a table with a column `student` and columns like `weights[0,1]`; None if it is no such table."""
    try:
        text = files.decode(files.read_file(str(path)), files.shown(str(path)))
    except InputError:
        return None  # why it cannot be read is told where it is marked as a sheet
    source = visible(path.name, 80)
    if text.lstrip().startswith("@") or STUDENT not in text.lstrip().partition("\n")[0].casefold():
        return None
    head, mark, body = text.lstrip().partition("\n")
    head = _PLACES.sub(lambda found: found[0].replace(",", " "), head)  # commas in brackets part no cells
    rows, _ = table_rows(head + mark + body, source, reading)
    header = [cell.strip() for cell in rows[0].cells]
    column = next((i for i, cell in enumerate(header) if cell.casefold() == STUDENT), None)
    if column is None:
        return None
    places = {i: _place(cell, f"{source}:{rows[0].line}:{i + 1}") for i, cell in enumerate(header) if i != column}
    found = []
    for row in rows[1:]:
        where = f"{source}:{row.line}"
        name = visible(row.cells[column], LONGEST_NAME) or where
        try:
            found.append(Row(name, where, _sheet(places, row.cells, name, where)))
        except InputError as error:
            found.append(Row(name, where, error=error.message))
    return found


def _place(cell: str, where: str) -> tuple[str, At]:
    """`weights[0 1]` → ("weights", (0, 1))."""
    if not cell:
        raise InputError(f"{where}: the column has no name")
    match = _COLUMN.fullmatch(cell)
    return (match[1], tuple(map(int, match[2].split()))) if match else (cell, ())


def _sheet(places: Mapping[int, tuple[str, At]], cells: Sequence[str], name: str, where: str) -> Sheet:
    steps: dict[str, dict[At, tuple[int, str]]] = {}
    for i, (step, at) in places.items():
        steps.setdefault(step, {})[at] = (i, cells[i])
    found = {step: _gathered(entries, where) for step, entries in steps.items()}
    return Sheet(found, student=name, source=where)


def _gathered(entries: Mapping[At, tuple[int, str]], where: str) -> answers.Answer:
    """The answer to a step from its entries by their places."""
    ranks = {len(at) for at in entries}
    if len(ranks) > 1:
        raise InputError(f"{where}: the columns of one step have places of different kinds")
    shape = tuple(1 + max(at[axis] for at in entries) for axis in range(ranks.pop()))
    if len(entries) > answers.MOST_ENTRIES or any(size > answers.MOST_ENTRIES for size in shape):
        raise InputError(f"{where}: a step has too many entries")
    places = list(np.ndindex(shape))
    if len(places) != len(entries):
        raise InputError(f"{where}: a step lacks columns: {len(entries)} of {len(places)} are there")

    def place(at: At) -> str:
        return f"{where}:{entries[at][0] + 1}"

    return answers.from_text([entries[at][1] for at in places], shape, place)
