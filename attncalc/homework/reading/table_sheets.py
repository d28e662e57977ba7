"""A sheet is read from tables: the blocks of a CSV file, or the arrays of a file by their names."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial

from attncalc.common.errors import InputError, quoted
from attncalc.homework.reading import answers
from attncalc.homework.reading.answers import (
    ANSWER,
    BESIDE,
    Answer,
    Sheet,
    decimals_of,
    joined,
    refuse_many,
    respelled,
    signed,
    split,
    student_of,
    without_effect,
)
from attncalc.inputs.csv_files import (
    DECIMAL_COMMA,
    Row,
    TextFile,
    blocks,
    check_length,
    delimiter_of,
    has_point,
    is_numbered,
    is_text,
    parted,
    table_rows,
    with_points,
)
from attncalc.inputs.given import brackets
from attncalc.inputs.reading import Contents, Reading
from attncalc.inputs.resolve import Found
from attncalc.inputs.stored_arrays import ArrayFile
from attncalc.render.csv_ import meant


def from_contents(contents: Contents, reading: Reading) -> Sheet:
    """The sheet that a file of tables or arrays holds."""
    if isinstance(contents, TextFile):
        found = _in_either_mark(contents.text, contents.source, reading.parted_by(contents.mark))
        told = (f"{contents.source}: {contents.remark}",) if contents.remark else ()
        return replace(found, notes=(*found.notes, *told))
    assert isinstance(contents, ArrayFile), "there is no fourth kind of file"
    loaders, source = contents.loaders, contents.source
    if [*loaders] == ["arr_0"]:  # as numpy.savez calls what it is given without a name
        loaders = {"": loaders["arr_0"]}
    types = contents.types
    read = {n: answers.from_array(load(), brackets(source, n), types.get(n, "")) for n, load in loaders.items()}
    return Sheet(read, source=source, stored=True)


def stored(contents: Contents, found: Found) -> Sheet | None:
    """`FILE#name`: an array of a binary file as the result, which may be complex; None for any other file."""
    if not isinstance(contents, ArrayFile):
        return None
    value, source = contents.stored(found.name, ANSWER, found.at)
    own = contents.types.get(found.name or "", "")
    return Sheet({"": answers.from_array(value, brackets("", source), own)}, source=source, stored=True)


def _in_either_mark(text: str, source: str, reading: Reading) -> Sheet:
    """A sheet read with the decimal mark that is asked for; with points, if only they make all of it numbers."""
    try:
        found = _from_csv(text, source, reading)
        if reading.decimal == "." or all(answer.wordy is None for answer in found.steps.values()):
            return found
    except InputError:
        if reading.decimal == "." or (pointed := _with_decimal_points(text, source, reading)) is None:
            raise
        return pointed
    return _with_decimal_points(text, source, reading) or found


def _with_decimal_points(text: str, source: str, reading: Reading) -> Sheet | None:
    """A sheet read with decimal points, and a note that says so; None if not all of it can be read like that."""
    own = copy(reading)
    own.decimal = "."
    with suppress(InputError):
        found = _from_csv(text, source, own)
        if all(answer.wordy is None for answer in found.steps.values()):
            return replace(found, notes=(*found.notes, f"{source}: numbers have decimal points here"))
    return None


def _from_csv(text: str, source: str, reading: Reading) -> Sheet:
    """The blocks of a CSV file, or its one table as the result; lines `@student,Ann` stand in front."""
    told, rest = _told(text, source)
    with signed(told.student):
        return replace(told, steps=_steps(text, rest, source, reading))


def _steps(text: str, rest: str, source: str, reading: Reading) -> dict[str, Answer]:
    tables = blocks(rest)
    refuse_many(len(tables), source)
    if not tables:
        return {"": _result(rest, source, reading)}
    marks = {_mark(line) for line in text.splitlines() if line.lstrip('" ').startswith("@")}
    marks |= {delimiter_of(table, reading) for table in tables.values()}
    apart = next((mark for mark in (";", "\t") if mark in marks), None)

    def block(table: str) -> Answer:
        return _table(entry_rows(table, source, _by_others(table, reading, apart)), source, reading)

    return answers.each_read({name: partial(block, table) for name, table in tables.items()})


def _result(text: str, source: str, reading: Reading) -> Answer:
    """The one table of a file; if it cannot be read and a bare name stands in it, a hint says how blocks begin."""
    try:
        return _table(table_rows(text, source, reading)[0], source, reading)
    except InputError as error:
        title = re.match(r"\s*([^\W\d][\w/]*):?[,;\t ]*$", text, re.MULTILINE)
        hint = f"the rows of a step stand below a line @{title[1]}" if title else ""
        raise InputError(error.message, hint=error.hint or hint) from None


def _by_others(table: str, reading: Reading, apart: str | None) -> Reading:
    """How to read a block: if it has one number a line, its comma is judged by the delimiter of other blocks."""
    lines = [respelled(line.strip()) for line in table.splitlines() if line.strip()]
    single = all(DECIMAL_COMMA.fullmatch(line) or line.casefold() in answers.BLANK for line in lines)
    return reading.parted_by(apart) if single else reading


_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_BETWEEN = re.compile(r"[,;\t](?![^\[]*\])")


def _told(text: str, source: str) -> tuple[Sheet, str]:
    """What lines such as `@student,Ann` and `@rounding,3` say, and the text with them emptied."""
    said: dict[str, str] = {}
    idle: list[str] = []
    titles = set()
    lines = list(io.StringIO(text, newline=""))
    for i, line in enumerate(lines):
        if not line.lstrip('" ').startswith("@"):
            continue
        name, _, value = line.strip().lstrip('"').removeprefix("@").partition(_mark(line))
        name = name.strip().strip('"')
        name = name.casefold() if name.casefold() in BESIDE else name
        if not value.strip(",;\t ") and name not in BESIDE:
            if name in titles:
                raise InputError(f"{source}:{i + 1}: {quoted(name)} is answered twice")
            titles.add(name)
            continue
        lines[i] = "\n"
        if name in said:
            raise InputError(f"{source}:{i + 1}: {quoted('@' + name)} stands twice")
        if name in BESIDE:
            value = value.strip().strip(",;\t")
            whole = _QUOTED.fullmatch(value)
            said[name] = meant(whole[1].replace('""', '"') if whole else value.strip('"'))
        else:
            idle.append(name)
    student, problem = (student_of(said.get(name), source) for name in ("student", "problem"))
    with signed(student):
        decimals = decimals_of(said.get("rounding"), source)
    return Sheet({}, student, source, decimals, without_effect(idle, source), problem), "".join(lines)


def _mark(line: str) -> str:
    """The delimiter between a name and its value; a comma in the brackets of a name is none."""
    found = _BETWEEN.search(line)
    return found[0] if found else ","


def _table(rows: Sequence[Row], source: str, reading: Reading) -> Answer:
    if not rows:
        return answers.nothing((0, 0))
    left, above = _labelled(rows, reading)
    told = next(filter(None, (_fault(cell, where) for cell, where in _labels(rows, left, above, source))), None)
    labels = None if told is None else (sum(len(row.cells) for row in rows), told)
    columns = rows[0].cells[left:] if above else ()
    rows = rows[above:]
    heads = (tuple(row.cells[0] for row in rows) if left else (), tuple(columns))

    def place(at: tuple[int, ...]) -> str:
        return f"{source}:{rows[at[0]].line}:{at[1] + left + 1}" if len(at) == 2 else source

    cells = [cell for row in rows for cell in row.cells[left:]]
    found = answers.from_text(cells, (len(rows), len(rows[0].cells) - left), place, table=True)
    return replace(found, labels=labels, heads=heads)


def _labels(rows: Sequence[Row], left: bool, above: bool, source: str) -> Iterator[tuple[str, str]]:
    """The cells that are taken for labels, each with its place."""
    for i, row in enumerate(rows if left else rows[:above]):
        for j, cell in enumerate(row.cells if above and not i else row.cells[:1]):
            yield cell, f"{source}:{row.line}:{j + 1}"


def _fault(cell: str, where: str) -> InputError | None:
    """Why a cell is no number; None if it is one, or blank."""
    try:
        answers.read(cell)
    except InputError as error:
        return None if cell.casefold() in answers.BLANK else error.within(where)
    return None


def _labelled(rows: Sequence[Row], reading: Reading) -> tuple[bool, bool]:
    """Whether the first column and the first row are labels, as a saved result has them: words, and no number.

    Numbers from 0 in both are labels too, as pandas writes them; but the corner of 2×2 cells may just be unanswered.
    """
    beside = [row.cells[0] for row in rows[1:]]
    counted = beside == [*map(str, range(len(beside)))] or _are_words(beside)
    asked = reading.header is not None or reading.labels is False
    if not asked and counted and is_numbered(rows) and len(rows) + len(rows[0].cells) > 4:
        return True, True
    left = _are_words([row.cells[0] for row in rows]) if reading.labels is None else reading.labels
    above = _are_words(rows[0].cells[left:]) if reading.header is None else reading.header
    return (left, above) if len(rows) > above and len(rows[0].cells) > left else (False, False)


def _are_words(cells: Sequence[str]) -> bool:
    numbers = any(split(cell) for cell in cells) or all(cell.casefold() in answers.BLANK for cell in cells)
    return is_text(cells, "real") and not numbers


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""A cell that, in quotes among commas, may be a number above a thousand."""


def entry_rows(text: str, source: str, reading: Reading) -> list[Row]:
    """The rows of a table of answers, all of one length, with decimal points."""
    rows, delimiter = parted(joined(respelled(text)), source, reading)
    for row in rows:
        check_length(row, rows[0], source)
    pointed = any(has_point(cell) for row in rows for cell in row.cells)
    commas = reading.decimal == "," or (not pointed and has_commas(rows, delimiter))
    return [with_points(row, source) for row in rows] if commas else rows


def has_commas(rows: Iterable[Row], delimiter: str) -> bool:
    """Whether a table of answers has decimal commas."""
    return are_commas((cell for row in rows for cell in row.cells), delimiter)


def are_commas(cells: Iterable[str], delimiter: str = ",") -> bool:
    """Whether cells have decimal commas; if commas separate cells, that of `1,234` may separate thousands."""
    found = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    return any(delimiter != "," or not _THOUSANDS.fullmatch(cell) for cell in found)
