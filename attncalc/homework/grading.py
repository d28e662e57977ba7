"""Grading: many sheets against one key, each by itself, so that one that cannot be read costs nobody else anything.

Sheets come from strangers. They are read as closed formats, never run; links, pipes and devices are refused, size and
time are limited, and an error in one is told in its own row.
"""

from __future__ import annotations

import math
import os
import re
import signal
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attncalc import progress
from attncalc.errors import AttncalcError, InputError
from attncalc.homework import answers
from attncalc.homework.comparing import Tolerance
from attncalc.homework.key import Key
from attncalc.homework.marking import Marker
from attncalc.homework.sheets import SUFFIXES, Sheet, from_contents
from attncalc.homework.verdicts import SOUND, Marked
from attncalc.homework.workers import shared_out
from attncalc.inputs import files
from attncalc.inputs.csv_files import table_rows
from attncalc.inputs.paths import exists, is_folder
from attncalc.inputs.reading import Reading
from attncalc.problem import Backward, Problem
from attncalc.text import quoted, visible
from attncalc.trace import Given

MOST_BYTES = 4 * 2**20
MOST_UNPACKED = 4 * MOST_BYTES
"""What an archive may hold, unpacked."""
MOST_SECONDS = 20.0
MOST_SHEETS = 100_000
STUDENT = "student"
NO_NAMES = ("answer", "answers", "homework", "sheet", "submission")
"""What files are called that are told apart by their folders."""
_COLUMN = re.compile(r"(.*\S) *\[ *(\d{1,6}(?: +\d{1,6})*) *\]", re.ASCII)
_PLACES = re.compile(r"\[[\d, ]*\]", re.ASCII)


class Submission(NamedTuple):
    """A sheet that is to be marked: a file, or what was read of one already."""

    name: str  # of its student, as far as its place tells
    source: str
    path: Path | None = None
    sheet: Sheet | None = None


@dataclass(frozen=True)
class Graded:
    """What became of a submission: it was marked, or it could not be read."""

    student: str
    source: str
    marked: Marked | None = None
    error: str = ""


@dataclass(frozen=True)
class Settings:
    """How sheets are marked."""

    tolerance: Tolerance | None = None
    points: Mapping[str, float] | None = None
    reveal: bool = False


def submissions(words: Sequence[str], key_file: str, reading: Reading) -> list[Submission]:
    """The sheets that words mean: files, folders, patterns; one CSV file with a student in each row is many."""
    paths = [path for word in words for path in _paths(word)]
    if len(paths) > MOST_SHEETS:
        raise InputError(f"there are {len(paths):,} sheets, and {MOST_SHEETS:,} at most are graded at once")
    if len(paths) == 1 and paths[0].suffix.lower() in (".csv", ".tsv") and paths[0].is_file():
        rows = _class_list(paths[0], reading)
        if rows is not None:
            return rows
    stems = Counter(path.stem for path in paths)
    key = _identity(Path(key_file))
    return [
        Submission(_name(path, alone=stems[path.stem] == 1), str(path), path)
        for path in paths
        if key is None or _identity(path) != key or path.is_symlink()
    ]


def _name(path: Path, *, alone: bool) -> str:
    """A student's name from where a sheet is: the file's, or that of its folder where files have none of their own."""
    own = alone and path.stem.casefold() not in NO_NAMES
    return visible(path.stem if own or not path.parent.name else path.parent.name, 200)


def grade(
    problem: Problem,
    found: Sequence[Submission],
    reading: Reading,
    settings: Settings,
    *,
    jobs: int = 1,
) -> list[Graded]:
    """Every submission, marked, in the order in which they came."""
    if jobs <= 1 or len(found) < 2 * jobs:
        marker = _marker(problem, settings)
        graded = []
        for submission in found:
            graded.append(_graded(marker, submission, reading))
            progress.tell("sheet", len(graded), len(found))
        return graded
    return _in_parallel(problem, found, reading, settings, jobs)


def tally(graded: Sequence[Graded]) -> dict[str, int]:
    """How often each mistake was made, by so many sheets, the commonest first."""
    counts: Counter[str] = Counter()
    for one in graded:
        steps = one.marked.steps if one.marked is not None else ()
        counts.update({"+".join(step.finding.mistakes) for step in steps if step.finding.mistakes})
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def hardest(graded: Sequence[Graded]) -> dict[str, int]:
    """How many sheets went wrong first at each step."""
    first = Counter(one.marked.first_wrong for one in graded if one.marked is not None and one.marked.first_wrong)
    return {str(name): count for name, count in first.most_common()}


# One sheet


def _marker(problem: Problem, settings: Settings) -> Marker:
    return Marker(Key(problem), tolerance=settings.tolerance, points=settings.points, reveal=settings.reveal)


def _graded(marker: Marker, submission: Submission, reading: Reading) -> Graded:
    try:
        with _limited(MOST_SECONDS):
            sheet = submission.sheet or _sheet(submission, reading)
            marked = marker.mark(sheet)
    except AttncalcError as error:
        return Graded(submission.name, submission.source, error=error.message)
    except MemoryError:
        return Graded(submission.name, submission.source, error="it takes more memory than there is")
    except _TooLongError:
        return Graded(submission.name, submission.source, error=f"it took more than {MOST_SECONDS:g} seconds")
    except RecursionError:
        return Graded(submission.name, submission.source, error="it is nested too deeply")
    return Graded(marked.student or submission.name, submission.source, replace(marked, source=submission.source))


def _sheet(submission: Submission, reading: Reading) -> Sheet:
    path = submission.path
    assert path, "a submission is a file or was read"
    _refuse_odd(path)
    fresh = _like(reading)
    return from_contents(fresh.file(str(path)), fresh)


def _like(reading: Reading) -> Reading:
    """A reading of the same kind that has read nothing yet."""
    return Reading(reading.delimiter, reading.decimal, reading.header, reading.labels)


def _refuse_odd(path: Path) -> None:
    """Raise for what is no plain file of a sheet's size, before it is opened."""
    shown = visible(str(path), 200)
    try:
        found = path.lstat()
    except (OSError, ValueError):
        raise InputError(f"there is no file {shown}") from None
    if stat.S_ISLNK(found.st_mode):
        raise InputError(f"{shown} is a link, and links are not followed")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{shown} is not a regular file")
    if found.st_size > MOST_BYTES:
        raise InputError(f"{shown} has {found.st_size:,} bytes, and a sheet has {MOST_BYTES:,} at most")
    if path.suffix.lower() == ".npz":
        _refuse_bomb(path, shown)


def _refuse_bomb(path: Path, shown: str) -> None:
    """Raise for an archive that holds far more than its file; no more than it claims is read of it later."""
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return  # whoever reads it says why it cannot be read
    if size > MOST_UNPACKED:
        raise InputError(f"{shown} holds {size:,} bytes unpacked, and a sheet has {MOST_UNPACKED:,} at most")


class _TooLongError(BaseException):
    """A sheet has had its time; not an Exception, since searches pass over those and go on."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Give up after so many seconds, where the system has an alarm to set."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(number: int, frame: Any) -> None:
        raise _TooLongError

    try:
        before = signal.signal(signal.SIGALRM, give_up)
    except ValueError:  # not in the main thread: there is no alarm
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Many of them


_mine: dict[str, Any] = {}
"""What a worker process keeps: its marker, and how it reads."""


class _Parcel(NamedTuple):
    """A problem as it travels to another process."""

    calculation: str
    values: dict[str, Any]
    options: dict[str, Any]
    backward: Backward | None


def _begin(parcel: _Parcel, reading: Reading, settings: Settings) -> None:
    from attncalc.calculations import load

    inputs = {name: Given(value) for name, value in parcel.values.items()}
    problem = Problem(load(parcel.calculation), inputs, parcel.options, parcel.backward)
    _mine.update(marker=_marker(problem, settings), reading=reading)


def _work(submission: Submission) -> Graded:
    return _graded(_mine["marker"], submission, _mine["reading"])


def _in_parallel(
    problem: Problem,
    found: Sequence[Submission],
    reading: Reading,
    settings: Settings,
    jobs: int,
) -> list[Graded]:
    """The same in several processes, each with a key of its own: graphs do not travel, problems do."""
    values = {name: given.value for name, given in problem.inputs.items()}
    parcel = _Parcel(problem.calculation.name, values, dict(problem.options), problem.backward)
    graded = []
    for one in shared_out(_work, found, jobs, _begin, (parcel, _like(reading), settings)):
        graded.append(one)
        progress.tell("sheet", len(graded), len(found))
    return graded


# Where they are


def _paths(word: str) -> list[Path]:
    """The files that a word means: a file, those of a folder, those that a pattern fits."""
    path = Path(word)
    if is_folder(word) and not path.is_symlink():
        inside = sorted(found for found in path.rglob("*") if found.suffix.lower() in SUFFIXES and not found.is_dir())
        if not inside:
            raise InputError(f"{visible(word, 200)} holds no sheet", hint=f"sheets end in {', '.join(SUFFIXES)}")
        return inside
    if exists(word) or not re.search(r"[*?\[]", word):
        return [path]
    anchor, pattern = (path.anchor, str(path.relative_to(path.anchor))) if path.anchor else (".", word)
    fitting = sorted(found for found in Path(anchor).glob(pattern) if not found.is_dir())
    if not fitting:
        raise InputError(f"no file fits {quoted(word)}")
    return fitting


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _class_list(path: Path, reading: Reading) -> list[Submission] | None:
    """The sheets of a table with a column `student` and columns like `weights[0,1]`; None if it is no such table."""
    text = files.decode(files.read_file(str(path)), visible(str(path), 200))
    source = visible(path.name, 80)
    rest = text.lstrip()
    head, mark, body = rest.partition("\n")
    if rest.startswith("@") or STUDENT not in head.casefold():
        return None
    head = _PLACES.sub(lambda found: found[0].replace(",", " "), head)  # commas in brackets part no cells
    rows, _ = table_rows(text.removesuffix(rest) + head + mark + body, source, reading)
    header = [cell.strip() for cell in rows[0].cells]
    column = next((i for i, cell in enumerate(header) if cell.casefold() == STUDENT), None)
    if column is None:
        return None
    places = {i: _place(cell, f"{source}:{rows[0].line}:{i + 1}") for i, cell in enumerate(header) if i != column}
    found = []
    for row in rows[1:]:
        where = f"{source}:{row.line}"
        name = visible(row.cells[column], 200) or where
        found.append(Submission(name, where, sheet=_row_sheet(places, row.cells, name, where)))
    return found


def _place(cell: str, where: str) -> tuple[str, tuple[int, ...]]:
    """`weights[0 1]` → ("weights", (0, 1))."""
    if not cell:
        raise InputError(f"{where}: the column has no name")
    match = _COLUMN.fullmatch(cell)
    return (match[1], tuple(map(int, match[2].split()))) if match else (cell, ())


def _row_sheet(places: Mapping[int, tuple[str, tuple[int, ...]]], cells: Sequence[str], name: str, where: str) -> Sheet:
    steps: dict[str, dict[tuple[int, ...], tuple[int, str]]] = {}
    for i, (step, at) in places.items():
        entries = steps.setdefault(step, {})
        if at in entries:
            raise InputError(f"{where}: two columns, {entries[at][0] + 1} and {i + 1}, hold the same of {quoted(step)}")
        entries[at] = (i, cells[i])
    found = {step: _gathered(entries, where) for step, entries in steps.items()}
    return Sheet(found, student=name, source=where)


def _gathered(entries: Mapping[tuple[int, ...], tuple[int, str]], where: str) -> answers.Answer:
    """The answer to a step from its entries by their places."""
    ranks = {len(at) for at in entries}
    if len(ranks) > 1:
        raise InputError(f"{where}: the columns of one step have places of different kinds")
    shape = tuple(1 + max(at[axis] for at in entries) for axis in range(ranks.pop()))
    if len(entries) > answers.MOST_ENTRIES:
        raise InputError(f"{where}: a step has too many entries")
    if math.prod(shape) != len(entries):
        raise InputError(f"{where}: a step lacks columns: {len(entries)} of {math.prod(shape):,} are there")
    places = list(np.ndindex(shape))

    def place(at: tuple[int, ...]) -> str:
        return f"{where}:{entries[at][0] + 1}"

    return answers.from_text([entries[at][1] for at in places], shape, place)


def stood(graded: Sequence[Graded]) -> int:
    """The exit status of a grading: 2 where a sheet could not be read, else 1 where one is wrong, else 0."""
    if any(one.marked is None for one in graded):
        return 2
    return int(any(one.marked.verdict not in SOUND for one in graded if one.marked is not None))


def cores() -> int:
    """How many processes may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
