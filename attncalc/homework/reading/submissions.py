"""Submissions are the sheets that words of the command line mean, and whose they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attncalc.common.errors import InputError, quoted, visible
from attncalc.common.system import FORMATS, NamedTuple, exists, is_file, is_folder, shown
from attncalc.homework.reading.answers import LONGEST_NAME, Sheet
from attncalc.homework.reading.class_lists import class_list
from attncalc.homework.reading.sheets import StepNames, limited
from attncalc.inputs.reading import Reading

MOST_SHEETS = 100_000
NO_NAMES = ("answer", "answers", "homework", "sheet", "submission")
"""What files are called that are told apart by their folders."""


class Submission(NamedTuple):
    """A sheet that is to be marked: a file, or what was read of one already."""

    name: str  # of its student, as far as its place tells
    source: str
    path: Path | None = None  # of the file that it is, or stands in
    sheet: Sheet | None = None
    error: str = ""  # why what was read of it is no sheet
    hint: str = ""


def submissions(words: Sequence[str], key_file: str, reading: Reading, names: StepNames) -> list[Submission]:
    """The sheets that words mean: files, folders, patterns; a CSV file with a student in each row is many."""
    owner = _identity(Path(key_file))
    paths = [
        path
        for word in words
        for path in _paths(word)
        if owner is None or _identity(path) != owner or path.is_symlink()
    ]
    _must_be_few(len(paths))
    files = Counter(path.name for path in paths)
    stems = Counter(stem for stem, _ in {(path.stem, path.parent) for path in paths})  # in so many folders
    found: list[Submission] = []
    for path in paths:
        one = Submission(_name(path, alone=stems[path.stem] == 1), str(path), path)
        found += _rows(one, path, reading, names, path.name if files[path.name] == 1 else str(path), len(paths) == 1)
    _must_be_few(len(found))
    return found


def _must_be_few(sheets: int) -> None:
    if sheets > MOST_SHEETS:
        raise InputError(f"there are {sheets:,} sheets, and {MOST_SHEETS:,} at most are graded at once")


def _rows(
    one: Submission, path: Path, reading: Reading, names: StepNames, source: str, alone: bool
) -> list[Submission]:
    """The rows of a file that is a class list, else the file as it is.

    What is wrong with the headings of a list costs that list alone where there are other files; those may be strangers'
    sheets, and have their limits.
    """
    if path.suffix.lower() not in (".csv", ".tsv") or not is_file(str(path)) or (path.is_symlink() and not alone):
        return [one]  # why it cannot be read is told where it is marked as a sheet
    try:
        with limited(timed=not alone):
            rows = class_list(path, reading, names, source, alone=alone)
    except InputError as fault:
        if alone:
            raise
        return [one._replace(error=fault.message, hint=fault.hint)]
    if rows is None:
        return [one]
    return [Submission(row.student, row.source, path, row.sheet, row.error, row.hint) for row in rows]


def _name(path: Path, *, alone: bool) -> str:
    """A student's name from where a sheet is: the file's, or that of its folder where files have none of their own."""
    own = alone and path.stem.casefold() not in NO_NAMES
    return visible(path.stem if own or not path.parent.name else path.parent.name, LONGEST_NAME)


def _paths(word: str) -> list[Path]:
    """The files that a word means: a file, those of a folder, those that a pattern fits."""
    path = Path(word)
    if is_folder(word) and not path.is_symlink():
        inside = sorted(found for found in path.rglob("*") if found.suffix.lower() in FORMATS and not found.is_dir())
        if not inside:
            raise InputError(f"{shown(word)} holds no sheet", hint=f"sheets end in {', '.join(FORMATS)}")
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
