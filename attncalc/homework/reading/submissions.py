"""Submissions are the sheets that words of the command line mean, and whose they are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from attncalc.common.errors import InputError, both, quoted, reason, visible
from attncalc.common.system import FORMATS, exists, is_file, is_folder, shown
from attncalc.homework.reading.answers import LONGEST_NAME, MOST_TOLD
from attncalc.homework.reading.class_lists import MORE_ROWS, MOST_ROWS, REPORT, Submission, class_list
from attncalc.homework.reading.sheets import StepNames
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import REFUSED, read_json
from attncalc.record.trace import NOTHING

NO_NAMES = ("answer", "answers", "homework", "sheet", "submission")
"""Names of files that do not tell whose they are; their folders do."""
WORKSHEET = "worksheet"
"""The name of a quiz's file for printing, which may lie beside the sheet that comes back."""
BESIDE = (".", "~$", "__MACOSX")
"""The beginnings of names that programs give to files beside sheets: copies, locks, the files of a repository."""
_BEGINS = 400
_REPORT = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"students"\s*:|\{\s*"verdict"\s*:\s*"[a-z-]+"\s*,\s*"first_wrong"|'
    rb'\{\s*"output_format"|(?:"?sep=.\s+)?' + rb'"?[,;\t]"?'.join(name.encode() for name in REPORT[:4]) + rb"\b)"
)
"""How a report of ours begins: in JSON (of a class, a sheet, for Gradescope) or in CSV, as any spreadsheet saves it."""


def submissions(
    words: Sequence[str],
    key_file: str,
    reading: Reading,
    names: StepNames,
    most_rows: int = MOST_ROWS,
    parts: Mapping[str, StepNames] = NOTHING,
) -> list[Submission]:
    """The sheets that words mean: files, folders, patterns; a CSV file with a student in each row makes many.

    A word that means no sheet is among them with its error. Reports of earlier gradings are passed over, with a remark.
    """
    owner = _identity(Path(key_file))
    passed: list[str] = []
    meant = [
        (path, fault, fault is not None and path == Path(word))
        for word in words
        for path, fault in _meant(word, passed)
        if owner is None or _identity(path) != owner or path.is_symlink()
    ]
    for path in [path for path, fault, _ in meant if fault is None and _is_report(path)]:
        meant.remove((path, None, False))
        reading.tell(f"{shown(str(path))} is a report, no sheet, and passed over")
    if passed:
        what = "is no sheet" if len(passed) == 1 else "are no sheets"
        reading.tell(f"{both(map(shown, sorted(passed)), MOST_TOLD)} {what}, and passed over")
    paths = [path for path, fault, _ in meant if fault is None]
    files = Counter(path.name for path in paths)
    stems = Counter(stem for stem, _ in {(path.stem, path.parent) for path in paths})  # how many folders have each
    read = partial(class_list, reading=reading, names=names, most_rows=most_rows, parts=parts)
    found: list[Submission] = []
    for path, fault, nobodys in meant:
        if fault is not None:
            name = visible(path.name or str(path), LONGEST_NAME)
            found.append(Submission(name, str(path), error=fault.message, hint=fault.hint, nobodys=nobodys))
            continue
        one = Submission(_name(path, alone=stems[path.stem] == 1), str(path), path)
        source = path.name if files[path.name] == 1 else str(path)
        found += _rows(one, path, partial(read, path, source=source), alone=len(meant) == 1)
    return found


def submitter(word: str) -> list[str]:
    """The names of a student: the word itself, or those in `@FILE`, where Gradescope says who has handed in."""
    if not word.strip():
        raise InputError("the student has no name")
    if not word.startswith("@"):
        return [visible(word.strip(), LONGEST_NAME)]
    source, tree = shown(word[1:]), read_json(word[1:])
    users = tree.get("users") if isinstance(tree, dict) else None
    rows = [user for user in users if isinstance(user, dict)] if isinstance(users, list) else []
    found = [user.get(key) for user in rows for key in ("name", "email")]
    names = [visible(name.strip(), LONGEST_NAME) for name in found if isinstance(name, str) and name.strip()]
    if not names:
        raise InputError(f"{source} does not say who has handed in", hint='its "users" have a "name" each')
    return names


def _rows(
    one: Submission, path: Path, read: Callable[..., list[Submission] | None], *, alone: bool
) -> list[Submission]:
    """The rows of a file that is a class list, else the file as it is.

    Wrong headings are raised if the file is alone, else reported for this file only, as too many rows always are. Files
    that are not alone may be strangers' sheets, and have their limits.
    """
    if path.suffix.lower() not in (".csv", ".tsv") or not is_file(str(path)) or (path.is_symlink() and not alone):
        return [one]  # marking it as a sheet will tell why it cannot be read
    try:
        rows = read(alone=alone)
    except InputError as fault:
        if alone and fault.hint != MORE_ROWS:
            raise
        return [one._replace(error=fault.message, hint=fault.hint)]
    if rows is None:
        return [one]
    return [row._replace(path=path) for row in rows]


def _is_report(path: Path) -> bool:
    """Whether a file is the report of an earlier grading, judged by its first bytes."""
    if path.suffix.lower() not in (".csv", ".tsv", ".json") or not is_file(str(path)) or path.is_symlink():
        return False
    try:
        with path.open("rb") as file:
            return _REPORT.match(file.read(_BEGINS)) is not None
    except OSError:
        return False  # marking it will tell why it cannot be read


def _name(path: Path, *, alone: bool) -> str:
    """A student's name from a sheet's path: the file's, or the folder's if file names do not tell students apart."""
    own = alone and path.stem.casefold() not in NO_NAMES
    return visible(path.stem if own or not path.parent.name else path.parent.name, LONGEST_NAME)


Meant = tuple[Path, InputError | None]
"""A file that a word means; or a folder or pattern, and why there is no sheet in it."""


def _meant(word: str, passed: list[str]) -> list[Meant]:
    """What a word means: a file, the files of a folder, those that a pattern fits."""
    path = Path(word)
    if is_folder(word) and not path.is_symlink():
        hint = f"sheets end in {', '.join(FORMATS)}"
        return _inside(path, passed) or [(path, InputError(f"{shown(word)} holds no sheet", hint=hint))]
    if exists(word) or not re.search(r"[*?\[]", word):
        return [(path, None)]
    try:
        return _fitting(word) or [(path, InputError(f"no file fits {quoted(word)}"))]
    except (OSError, ValueError, RecursionError) as error:  # a name that no file may have, folders nested too deeply
        return [(path, InputError(f"no file can be found by {quoted(word)}: {error}"))]


def _inside(folder: Path, passed: list[str]) -> list[Meant]:
    """The files of a folder and its subfolders, in order; also the folders that are empty or cannot be read.

    Other files are added to `passed`, except worksheets and what programs put beside sheets.
    """
    found: list[Meant] = []
    waiting = [folder]
    while waiting:
        at = waiting.pop()
        try:
            with os.scandir(at) as entries:
                inside = [entry for entry in entries if not entry.name.startswith(BESIDE)]
        except OSError as error:
            found.append((at, _unreadable(at, error)))
            continue
        for entry in inside:
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif path.suffix.lower() in (FORMATS if path.stem == WORKSHEET else (*FORMATS, *REFUSED)):
                found.append((path, None))  # documents too: reading one will tell what to hand in instead
            elif path.stem != WORKSHEET:
                passed.append(str(path))
        if not inside and at != folder:
            found.append((at, InputError(f"{shown(str(at))} is empty")))
    return sorted(found, key=lambda one: one[0])


def _fitting(word: str) -> list[Meant]:
    """The files that match a pattern, in order; also the folders on the way that cannot be read."""
    start = Path(Path(word).anchor or ".")
    pattern = Path(re.sub(r"(?<=[^/\\])\*\*+|\*\*+(?=[^/\\])", "*", word))  # `**` is a name by itself, or a `*`
    pattern = pattern.relative_to(pattern.anchor)
    found: dict[Path, InputError | None] = {}
    for parent in pattern.parents:
        for folder in start.glob(str(parent)) if parent.name else [start]:
            try:
                next(folder.iterdir(), None)
            except OSError as error:
                if is_folder(str(folder)):
                    found[folder] = _unreadable(folder, error)
    named = {*start.parts, *pattern.parts}
    fitting = (path for path in start.glob(str(pattern)) if not is_folder(str(path)))
    found |= {path: None for path in fitting if not any(part.startswith(BESIDE) for part in {*path.parts} - named)}
    return sorted(found.items())


def _unreadable(folder: Path, error: OSError) -> InputError:
    return InputError(f"cannot read {shown(str(folder))}: {reason(error)}")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
