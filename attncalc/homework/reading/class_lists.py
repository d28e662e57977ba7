"""A class list is a CSV file with a student a row, and columns such as `weights[0,1]` for the answers.

A row that cannot be read is a fault of that row alone. Quoted text belongs to its cell, line breaks included, so that
no cell can fake a row; nor can text behind a quote that is never closed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

from attncalc.common.errors import InputError, amount, both, near, quoted, visible
from attncalc.common.system import NamedTuple, shown
from attncalc.homework.reading import answers
from attncalc.homework.reading.answers import LONGEST_NAME, MOST_TOLD, Answer, At, Sheet, respelled
from attncalc.homework.reading.headings import COUNTED, Headings, read_headings, refuse_misspelt, seem_from_one
from attncalc.homework.reading.sheets import MOST_BYTES, StepNames, limited
from attncalc.homework.reading.table_sheets import has_commas
from attncalc.inputs import csv_files, resolve
from attncalc.inputs.csv_files import (
    LINE_END,
    Broken,
    check_length,
    delimiter_of,
    first_line,
    has_point,
    records,
    rows_from,
    with_points,
    without_mark,
)
from attncalc.inputs.reading import Reading
from attncalc.record.trace import NOTHING
from attncalc.render.csv_ import meant

LONGEST_SOURCE = 200
MOST_ROWS = 10_000
MORE_ROWS = "--max-rows says how many it may have"
REPORT = ("student", "source", "verdict", "score", "out_of", "first_wrong", "mistakes", "error")
"""The first columns of a report on a class, which is no list of answers."""
_PLACES = re.compile(r"\[[\d, ]*\]", re.ASCII)
_COMMA = "\x1f"
"""Stands for a comma within a place while the headings are split at commas."""


OF_ANOTHER = "·"
"""Replaces the heading of a column that belongs to another problem."""


class Submission(NamedTuple):
    """A sheet to be marked: a file, or what has already been read from one."""

    name: str  # of its student, as far as the path or the list tells
    source: str
    path: Path | None = None  # of the file that it is, or stands in
    sheet: Sheet | None = None
    error: str = ""  # why it cannot be read as a sheet
    hint: str = ""
    data: bytes | None = None  # what the file holds, for a machine that may not have the file
    known: bool = False  # whether the name is certain, whatever the sheet says
    nobodys: bool = False  # whether it is a folder or a pattern without any sheet


def class_list(
    path: Path,
    reading: Reading,
    names: StepNames,
    source: str = "",
    *,
    alone: bool = True,
    most_rows: int = MOST_ROWS,
    parts: Mapping[str, StepNames] = NOTHING,
) -> list[Submission] | None:
    """The rows of a table whose headings are a student's name and steps of the problem; None if it is no such table.

    If there are several problems, its `parts`, headings name them: `dot/products[0]`. Each makes a sheet of each row.

    Messages call the list `source`, or by its file's name. A table that is not `alone` may be a stranger's: it has the
    limits of a sheet, and if it has a single row, it may be a sheet. Each row has the time limit of a sheet. Raises
    InputError if a heading is misspelt, a step has no such entry, or there are more rows than `most_rows`.
    """
    try:
        data = resolve.read_file(str(path), resolve.MAX_TEXT if alone else MOST_BYTES)
        remarks: list[str] = []
        text = resolve.decode_table(data, shown(str(path)), remarks.append)
    except InputError:
        return None  # marking it as a sheet will tell why it cannot be read
    source = visible(source or path.name, LONGEST_SOURCE)
    several = {part: own for part, own in parts.items() if f"{part}/" in first_line(text)}
    made: list[Submission] = []
    for part, own in (several or {"": names}).items():
        with limited(timed=not alone):
            found = _listed(text, reading, own, source, part, parts, alone=alone, most_rows=most_rows)
        if found is None:
            return None
        for remark in remarks:
            reading.tell(f"{source}: {remark}")
        head, headings, rows, commas = found
        made += (_read(row, head, headings, source, part, reading, commas=commas) for row in rows)
    return made


def _listed(
    text: str,
    reading: Reading,
    names: StepNames,
    source: str,
    part: str,
    parts: Collection[str],
    *,
    alone: bool,
    most_rows: int,
) -> tuple[csv_files.Row, Headings, list[csv_files.Row | Broken], bool] | None:
    """The row of headings, what they mean, the rows of students, and whether these have decimal commas."""
    text, mark = without_mark(text)
    delimiter = delimiter_of(first_line(text), reading.parted_by(mark))
    rows = _rows(text, delimiter)
    head = next(rows, None)
    if not isinstance(head, csv_files.Row) or head.cells[0].startswith("@"):
        return None
    if parts:
        places = [f"{source}:{head.line}:{i}" for i in range(1, len(head.cells) + 1)]
        cells = [_of_part(cell.strip(), part, parts, at) for cell, at in zip(head.cells, places, strict=True)]
        head = head._replace(cells=cells)
    first = list(islice(rows, 2))
    headings = read_headings(head, names, source, own=len(first) == 1 and not alone)
    if headings is None:
        return None
    answered = (row for row in chain(first, rows) if isinstance(row, Broken) or any(_cells(row, headings.read)))
    students = list(islice(answered, most_rows + 1))  # spreadsheets add rows without answers
    if len(students) > most_rows:
        raise InputError(f"{source} has more than {amount(most_rows, 'row')}, the most that is marked", hint=MORE_ROWS)
    whole = [row for row in students if not isinstance(row, Broken)]
    refuse_misspelt(headings, head, whole, names, source)
    if said := [head.cells[i] for i in headings.others if head.cells[i] not in ("", OF_ANOTHER)]:
        reading.tell(_passed_over(said, source, "these problems" if part else names.problem))
    if seem_from_one(headings.steps):
        reading.tell(f"{source}: no column is of a first entry; {COUNTED}")
    return head, headings, students, has_commas((_answers(row, headings) for row in whole), delimiter)


def _of_part(heading: str, part: str, parts: Collection[str], where: str) -> str:
    """A heading as read for one of several problems; a misspelt problem is refused."""
    name, slash, rest = heading.partition("/")
    if slash and name not in parts and (hint := near(name, parts)):
        raise InputError(f"{where}: there is no problem {quoted(name)}", hint=hint)
    return heading if not slash or name not in parts else rest if name == part else OF_ANOTHER


def _rows(text: str, delimiter: str) -> Iterator[csv_files.Row | Broken]:
    """The rows of a table. A broken one ends where its quotes do; a quote that is never closed ends the table."""
    headed = False
    for line, record in records(text, delimiter):
        if record is None:
            yield Broken(line, "a quote is not closed, so that no row below it can be told")
            return
        own = record if headed else _PLACES.sub(lambda found: found[0].replace(",", _COMMA), record)
        last = line + len(LINE_END.findall(record.rstrip("\r\n")))
        for row in rows_from(io.StringIO(own, newline=""), line, delimiter):
            if isinstance(row, Broken):
                yield Broken(line, f"{row.fault}: lines {line} to {last} are one row") if last > line else row
            elif headed:
                yield row
            else:
                yield row._replace(cells=[cell.replace(_COMMA, ",") for cell in row.cells])
                headed = True


def _cells(row: csv_files.Row, columns: Sequence[int]) -> list[str]:
    return [row.cells[i] for i in columns if i < len(row.cells)]


def _read(
    row: csv_files.Row | Broken,
    head: csv_files.Row,
    headings: Headings,
    source: str,
    part: str,
    reading: Reading,
    *,
    commas: bool,
) -> Submission:
    """The sheet in a row, or what is wrong with it; each student may use a decimal mark of their own."""
    where = f"{source}:{row.line}"
    if isinstance(row, Broken):
        return Submission(where, where, error=f"{where}: {row.fault}")
    name = visible(" ".join(filter(None, map(meant, _cells(row, headings.students)))), LONGEST_NAME) or where
    try:
        with limited():
            check_length(row, head, source)
            own = _answers(row, headings)
            if reading.decimal == "," or (commas and not any(map(has_point, own.cells))):
                own = with_points(own, source)
            problem = part or "".join(_cells(row, headings.problem)).strip()
            return Submission(name, where, sheet=replace(_sheet(headings, own.cells, name, where), problem=problem))
    except InputError as error:
        return Submission(name, where, error=error.message, hint=error.hint)


def _answers(row: csv_files.Row, headings: Headings) -> csv_files.Row:
    """The row with only its answers, respelled for reading; all other cells are empty."""
    answered = headings.answers
    return row._replace(cells=[respelled(cell) if i in answered else "" for i, cell in enumerate(row.cells)])


def _sheet(headings: Headings, cells: Sequence[str], name: str, where: str) -> Sheet:
    def answered(columns: Mapping[At, int]) -> Answer:
        return answers.from_places({at: cells[i] for at, i in columns.items()}, lambda at: f"{where}:{columns[at] + 1}")

    read = {step: partial(answered, columns) for step, columns in headings.steps.items()}
    return Sheet(answers.each_read(read), student=name, source=where)


def _passed_over(headings: Sequence[str], source: str, problem: str) -> str:
    """The remark on columns that are no steps."""
    known = list(dict.fromkeys(headings))
    what = "is no step" if len(known) == 1 else "are no steps"
    return f"{source}: {both(map(quoted, known), MOST_TOLD)} {what} of {problem}, and passed over"
