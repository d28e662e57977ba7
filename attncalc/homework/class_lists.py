"""A class in one CSV file: a column `student`, columns like `weights[0,1]`, and a sheet in each row."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.errors import InputError
from attncalc.homework import answers
from attncalc.homework.cells import has_commas
from attncalc.homework.sheets import LONGEST_NAME, Sheet
from attncalc.inputs import files
from attncalc.inputs.csv_files import check_length, has_point, parted, with_points
from attncalc.inputs.paths import shown
from attncalc.inputs.reading import Reading
from attncalc.text import quoted, visible

STUDENT = "student"
_COLUMN = re.compile(r"(.*\S) *\[ *(\d{1,6}(?: +\d{1,6})*) *\]", re.ASCII)
_PLACES = re.compile(r"\[[\d, ]*\]", re.ASCII)

At = tuple[int, ...]
"""The place of an entry in a step."""


class Row(NamedTuple):
    """A student's row: a sheet, or why it is none."""

    student: str
    source: str
    sheet: Sheet | None = None
    error: str = ""
    hint: str = ""


def class_list(path: Path, reading: Reading) -> list[Row] | None:
    """The rows of a table with a column `student` and columns like `weights[0,1]`; None if it is no such table."""
    try:
        text = files.decode(files.read_file(str(path)), shown(str(path)))
    except InputError:
        return None  # why it cannot be read is told where it is marked as a sheet
    source = visible(path.name, 80)
    rest = text.lstrip()
    head, mark, body = rest.partition("\n")
    if rest.startswith("@") or STUDENT not in head.casefold():
        return None
    head = _PLACES.sub(lambda found: found[0].replace(",", " "), head)  # commas in brackets part no cells
    rows, delimiter = parted(text.removesuffix(rest) + head + mark + body, source, reading)
    header = [cell.strip() for cell in rows[0].cells]
    column = next((i for i, cell in enumerate(header) if cell.casefold() == STUDENT), None)
    if column is None:
        return None
    columns = {i: f"{source}:{rows[0].line}:{i + 1}" for i in range(len(header)) if i != column}
    steps = _steps({i: _place(header[i], where) for i, where in columns.items()}, f"{source}:{rows[0].line}")
    commas = has_commas(rows, delimiter)
    found = []
    for row in rows[1:]:
        if not any(row.cells):
            continue  # spreadsheets fill up with such rows
        where = f"{source}:{row.line}"
        name = visible("".join(row.cells[column : column + 1]), LONGEST_NAME) or where
        try:
            check_length(row, rows[0], source)
            own = commas and not any(map(has_point, row.cells))  # each student writes in their own way
            cells = with_points(row, source).cells if own or reading.decimal == "," else row.cells
            found.append(Row(name, where, _sheet(steps, cells, name, where)))
        except InputError as error:
            found.append(Row(name, where, error=error.message, hint=error.hint))
    return found


def _place(cell: str, where: str) -> tuple[str, At]:
    """`weights[0 1]` → ("weights", (0, 1))."""
    if not cell:
        raise InputError(f"{where}: the column has no name")
    match = _COLUMN.fullmatch(cell)
    return (match[1], tuple(map(int, match[2].split()))) if match else (cell, ())


def _steps(places: Mapping[int, tuple[str, At]], where: str) -> dict[str, NDArray[np.intp]]:
    """The columns that hold each step's entries, in the shape of the step."""
    steps: dict[str, dict[At, int]] = {}
    for i, (step, at) in places.items():
        entries = steps.setdefault(step, {})
        if at in entries:
            raise InputError(f"{where}: two columns, {entries[at] + 1} and {i + 1}, hold the same of {quoted(step)}")
        entries[at] = i
    return {step: _in_shape(entries, step, where) for step, entries in steps.items()}


def _in_shape(entries: Mapping[At, int], step: str, where: str) -> NDArray[np.intp]:
    ranks = {len(at) for at in entries}
    if len(ranks) > 1:
        raise InputError(f"{where}: the columns of {quoted(step)} have places of different kinds")
    shape = tuple(1 + max(at[axis] for at in entries) for axis in range(ranks.pop()))
    if len(entries) > answers.MOST_ENTRIES:
        raise InputError(f"{where}: {quoted(step)} has too many entries")
    if math.prod(shape) != len(entries):
        needed = f"{len(entries)} of {math.prod(shape):,}"
        raise InputError(f"{where}: {quoted(step)} lacks columns: {needed} are there")
    columns = np.empty(shape, np.intp)
    for at, i in entries.items():
        columns[at] = i
    return columns


def _sheet(steps: Mapping[str, NDArray[np.intp]], cells: Sequence[str], name: str, where: str) -> Sheet:
    found = {}
    for step, columns in steps.items():

        def place(at: At, columns: NDArray[np.intp] = columns) -> str:
            return f"{where}:{columns[at] + 1}"

        found[step] = answers.from_text([cells[i] for i in columns.ravel().tolist()], columns.shape, place)
    return Sheet(found, student=name, source=where)
