"""A mark sheet that Moodle or Canvas has exported is filled in, and can be imported there again."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from attncalc.common.errors import InputError, amount, both, near, quoted
from attncalc.common.numerals import parse_number
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reading.answers import MOST_TOLD
from attncalc.homework.reading.csv_lists import POSSIBLE, delimiter_in
from attncalc.homework.reading.names import folded
from attncalc.homework.reports.marked_sheets import as_csv
from attncalc.record.numbers import shortest
from attncalc.render.csv_ import harmless, meant

MOODLE, CANVAS = ("identifier", "grade"), ("student", "id")
"""The columns that tell a mark sheet of Moodle, and one of Canvas."""
NAMES = ("full name", "first name", "last name", "surname", "student")
"""Columns of students' names, which they may choose themselves."""
IDS = ("identifier", "email address", "id number", "username", "id", "sis user id", "sis login id")
MOST, LOCKED = "maximum grade", "grade can be changed"
ASSIGNMENT = re.compile(r".*\(\d+\)")
DIGITS = 5
"""Decimals of a grade, as Moodle keeps them."""


def filled(text: str, source: str, column: str, graded: Sequence[Graded]) -> tuple[str, list[str]]:
    """The mark sheet filled in with the marks of a class, scaled to the most that it says can be reached; and remarks.

    Students are found by name, number or address; whoever is not found, or found twice, gets a remark and no mark.
    """
    delimiter = delimiter_in(text)
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]
    except csv.Error as fault:
        raise InputError(f"{source} is no list: {fault}") from None
    head = [name.strip().casefold() for name in rows[0]]
    at = _column(rows[0], column, source)
    found, lost = _matched(rows, head, graded)
    of_canvas = (row[at] for row in rows[1:] if at < len(row) and row[0].strip().casefold() == POSSIBLE)
    most = next(of_canvas, "")
    other = locked = 0
    scales: set[str] = set()
    for line, one in found.items():
        row = rows[line] = [*rows[line], *[""] * (len(head) - len(rows[line]))]
        assert one.marked is not None, "those without marks are not matched"
        if LOCKED in head and row[head.index(LOCKED)].strip().casefold() == "no":
            locked += 1
            continue
        limit = row[head.index(MOST)] if MOST in head else most
        grade = _grade(one.marked.score, one.marked.out_of, limit)
        if _value(limit) not in (None, one.marked.out_of):
            scales.add(limit.strip())
        other += row[at].strip() not in ("", "-", grade)
        row[at] = grade
    for i in (i for i, name in enumerate(head) if name in NAMES):
        for row in rows[1:]:
            row[i : i + 1] = [harmless(meant(cell)) for cell in row[i : i + 1]]
    counts = [f"{source}: {amount(len(found) - locked, 'mark')} filled in under {quoted(rows[0][at])}"]
    counts += [f"marks are scaled to {both(sorted(scales))}, which the sheet says can be reached"] if scales else []
    counts += [f"{amount(other, 'mark was', 'marks were')} another before"] if other else []
    counts += [f"{amount(locked, 'mark')} may not be changed, the sheet says"] if locked else []
    return as_csv(rows, delimiter, "\r\n" if "\r\n" in text else "\n"), [*counts, *lost]


def _column(head: Sequence[str], wanted: str, source: str) -> int:
    """The column that is to be filled in: Moodle's grade, or the one assignment of Canvas' that is meant."""
    known = [name.strip().casefold() for name in head]
    if all(name in known for name in MOODLE) and not wanted:
        return known.index("grade")
    if not all(name in known for name in MOODLE) and not all(name in known for name in CANVAS):
        hint = "Moodle's have the columns Identifier and Grade, Canvas' the columns Student and ID"
        raise InputError(f"{source} is no mark sheet of Moodle or Canvas", hint=hint)
    found = [i for i, name in enumerate(head) if ASSIGNMENT.fullmatch(name.strip())]
    if wanted:
        said = wanted.strip().casefold()
        found = [i for i, name in enumerate(known) if name == said or re.sub(r"\s*\(\d+\)$", "", name) == said]
    if len(found) == 1:
        return found[0]
    names = [name.strip() for name in head if ASSIGNMENT.fullmatch(name.strip())]
    if wanted:
        raise InputError(
            f"{source} has {'no' if not found else 'more than one'} column {quoted(wanted)}",
            hint=near(wanted, head) or f"it has {both(map(quoted, names or head))}",
        )
    fault = f"{source} has {amount(len(names), 'assignment')}, and one is to be filled in"
    raise InputError(fault, hint=f"name it: --into {quoted(f'{source}#{names[0]}')}" if names else "")


def _matched(
    rows: Sequence[Sequence[str]], head: Sequence[str], graded: Sequence[Graded]
) -> tuple[dict[int, Graded], list[str]]:
    """The students by their rows, and remarks on those who have no row, or no certain one."""
    lines: dict[str, set[int]] = {}
    for line, row in enumerate(rows[1:], 1):
        for key in _called(head, row):
            lines.setdefault(key, set()).add(line)
    meant: dict[int, list[Graded]] = {}
    unknown: list[str] = []
    unsure: list[str] = []
    for one in graded:
        if one.marked is None:
            continue
        found = lines.get(_key(one.student), set()) or set().union(*(lines.get(key, set()) for key in _numbers(one)))
        if len(found) == 1:
            meant.setdefault(next(iter(found)), []).append(one)
        else:
            (unsure if found else unknown).append(one.student)
    unsure += [one.student for several in meant.values() for one in several if len(several) > 1]
    told = [f"not in the mark sheet: {both(map(quoted, unknown), MOST_TOLD)}"] if unknown else []
    told += [f"not certain who that is: {both(map(quoted, unsure), MOST_TOLD)}"] if unsure else []
    return {line: several[0] for line, several in meant.items() if len(several) == 1}, told


def _called(head: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    """The names and numbers by which a sheet may call the student of a row."""
    cells = {name: cell.strip() for name, cell in zip(head, row, strict=False) if cell.strip()}
    for name in (*NAMES, *IDS):
        cell = cells.get(name, "")
        if cell and name not in ("first name", "last name", "surname"):
            yield _key(cell)
            yield from [_key(cell.partition("@")[0])] if "@" in cell else []
            number = re.fullmatch(r"\D*(\d+)", cell)
            yield from [f"#{number[1]}"] if number and name in ("identifier", "id") else []
    last = cells.get("last name") or cells.get("surname", "")
    if "first name" in cells and last:
        yield _key(f"{cells['first name']} {last}")


def _numbers(one: Graded) -> Iterator[str]:
    """The numbers that platforms put into the names of what they hand over: `Ann Lee_4711_assignsubmission_file`."""
    for number in re.findall(r"(?<=_)\d+(?=_|\Z)", one.student):
        yield f"#{number}"
    before = re.match(r"(.+?)_\d+_", one.student)
    yield from [_key(before[1])] if before else []


def _key(name: str) -> str:
    """A name in a form to compare by, without what guards it against being a formula; `Lee, Ann` is Ann Lee."""
    last, _, first = meant(name).partition(",")
    return folded(f"{first} {last}")


def _grade(score: float, out_of: float, limit: str) -> str:
    """A mark scaled to the limit, with the decimal mark of the limit."""
    most = _value(limit)
    reached = score if most is None or not out_of else score / out_of * most
    grade = shortest(round(reached, DIGITS))
    return grade.replace(".", ",") if "," in limit else grade


def _value(limit: str) -> float | None:
    try:
        return parse_number(limit.strip().replace(",", ".")) or None
    except InputError:
        return None
