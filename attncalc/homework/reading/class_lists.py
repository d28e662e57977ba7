"""A class list is a CSV file with a student a row, and columns such as `weights[0,1]` for the answers.

A row that cannot be read costs its student alone. A quote that is left open would take the rows behind it along; those
are other people's, so that reading goes on with the line below the one on which such a row begins.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attncalc.common.errors import InputError, both, quoted, visible
from attncalc.common.system import NamedTuple, shown
from attncalc.homework.reading import answers
from attncalc.homework.reading.answers import LONGEST_NAME, MOST_TOLD, Sheet
from attncalc.homework.reading.headings import At, Headings, read_headings, refuse_misspelt
from attncalc.homework.reading.sheets import MOST_BYTES, StepNames
from attncalc.homework.reading.table_sheets import has_commas
from attncalc.inputs import csv_files, resolve
from attncalc.inputs.csv_files import Broken, check_length, delimiter_of, has_point, rows_from, with_points
from attncalc.inputs.reading import Reading

LONGEST_SOURCE = 200
NOT_CLOSED = "a quote is not closed"
_PLACES = re.compile(r"\[[\d, ]*\]", re.ASCII)


class Row(NamedTuple):
    """A student's row: a sheet, or why it is none."""

    student: str
    source: str
    sheet: Sheet | None = None
    error: str = ""
    hint: str = ""


def class_list(
    path: Path, reading: Reading, names: StepNames, source: str = "", *, alone: bool = True
) -> list[Row] | None:
    """The rows of a table whose headings are a student's name and steps of the problem; None if it is no such table.

    The rows are spoken of by `source`, or by the file's name. A table that is not alone may be a stranger's: it has the
    limits of a sheet, and with a single row it may be one. Raises InputError where a heading is misspelt, or the
    columns of a step do not fill its shape.
    """
    try:
        text = resolve.decode(resolve.read_file(str(path), resolve.MAX_TEXT if alone else MOST_BYTES), shown(str(path)))
    except InputError:
        return None  # why it cannot be read is told where it is marked as a sheet
    lines = list(io.StringIO(text, newline=""))
    first = next(i for i, line in enumerate(lines) if line.strip())
    lines[first] = _PLACES.sub(lambda found: found[0].replace(",", " "), lines[first])  # these commas part no cells
    source, delimiter = visible(source or path.name, LONGEST_SOURCE), delimiter_of(lines[first], reading)
    head = next(_rows(lines, first, delimiter))
    if isinstance(head, Broken) or head.cells[0].startswith("@"):
        return None
    single = sum(bool(line.strip()) for line in lines[first + 1 :]) == 1
    headings = read_headings(head, names, source, own=single and not alone)
    if headings is None:
        return None
    _, *rows = _rows(lines, first, delimiter, headings.read)
    whole = [row for row in rows if not isinstance(row, Broken)]
    refuse_misspelt(headings, head, whole, names, source)
    if said := [head.cells[i] for i in headings.others if head.cells[i]]:
        reading.tell(_passed_over(said, source, names))
    commas = has_commas((_answers(row, headings) for row in whole), delimiter)
    return [
        _read(row, head, headings, source, commas=commas, always=reading.decimal == ",")
        for row in rows
        if isinstance(row, Broken) or any(row.cells[i] for i in headings.read if i < len(row.cells))
    ]  # spreadsheets fill up with rows in which nobody answers


def _rows(lines: Sequence[str], at: int, delimiter: str, read: Sequence[int] = ()) -> Iterator[csv_files.Row | Broken]:
    """The rows from a line on; a broken one ends with its line, and so does one whose answers take several lines."""
    while at < len(lines):
        for row in rows_from((lines[i] for i in range(at, len(lines))), at + 1, delimiter):
            long = isinstance(row, csv_files.Row) and any(re.search(r"[\r\n]", cell) for cell in _cells(row, read))
            yield Broken(row.line, NOT_CLOSED) if long else row
            if long or isinstance(row, Broken):
                at = row.line
                break
        else:
            return


def _cells(row: csv_files.Row, columns: Sequence[int]) -> list[str]:
    return [row.cells[i] for i in columns if i < len(row.cells)]


def _read(
    row: csv_files.Row | Broken, head: csv_files.Row, headings: Headings, source: str, *, commas: bool, always: bool
) -> Row:
    """The sheet that a row is, or what is wrong with it; each student has a decimal mark of their own."""
    where = f"{source}:{row.line}"
    if isinstance(row, Broken):
        return Row(where, where, error=f"{where}: {row.fault}")
    name = visible(" ".join(filter(None, _cells(row, headings.students))), LONGEST_NAME) or where
    try:
        check_length(row, head, source)
        own = _answers(row, headings)
        pointed = with_points(own, source) if always or (commas and not any(map(has_point, own.cells))) else own
        return Row(name, where, _sheet(headings, pointed.cells, name, where))
    except InputError as error:
        return Row(name, where, error=error.message, hint=error.hint)


def _answers(row: csv_files.Row, headings: Headings) -> csv_files.Row:
    """The row with its answers alone; all other cells are empty."""
    answered = headings.answers
    return row._replace(cells=[cell if i in answered else "" for i, cell in enumerate(row.cells)])


def _sheet(headings: Headings, cells: Sequence[str], name: str, where: str) -> Sheet:
    found = {}
    for step, columns in headings.steps.items():

        def place(at: At, columns: NDArray[np.intp] = columns) -> str:
            return f"{where}:{columns[at] + 1}"

        found[step] = answers.from_text([cells[i] for i in columns.ravel().tolist()], columns.shape, place)
    return Sheet(found, student=name, source=where)


def _passed_over(headings: Sequence[str], source: str, names: StepNames) -> str:
    """What is said of columns that are no steps."""
    known = list(dict.fromkeys(headings))
    what = "is no step" if len(known) == 1 else "are no steps"
    return f"{source}: {both(map(quoted, known), MOST_TOLD)} {what} of {names.problem}, and passed over"
