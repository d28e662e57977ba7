"""keys.json is read: the problems of a class, each whole, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attncalc.common.errors import InputError, near, quoted
from attncalc.common.system import NamedTuple, grouped
from attncalc.homework.reading.names import file_name, folded, is_inside
from attncalc.inputs.calls import check_version
from attncalc.inputs.given import spoken
from attncalc.inputs.json_files import JsonFile, plain
from attncalc.inputs.problem_files import Document, document_of
from attncalc.inputs.reading import Contents, Reading
from attncalc.record.numbers import written_out

KEYS, PROBLEM = "keys.json", "problem.json"
"""The file with the problems of a class, and the file with a student's own problem in the student's folder."""
VARIANTS, REPLACED = "variants", "replaced"
LEVELS = ("easy", "medium", "hard")
USUAL_LEVEL = LEVELS[1]
MOST_VARIANTS = 20_000


class Variant(NamedTuple):
    """The problem of one student, or one for the whole class, which has no student's name."""

    student: str
    id: str  # the hash that their sheets carry
    folder: str  # in which their files are
    held: Document  # the problem, and what is asked of it
    level: str = USUAL_LEVEL  # how hard its numbers are
    kept: tuple[str, ...] = ()  # the operands that were not drawn
    name: str = ""  # of the problem, where a student has several
    title: str = ""
    points: float | None = None  # for the whole problem, if that is said


class Keys(NamedTuple):
    """What keys.json holds."""

    source: str
    variants: tuple[Variant, ...]
    replaced: tuple[Variant, ...] = ()  # earlier problems, which no student has any more

    @property
    def by_id(self) -> dict[str, list[Variant]]:
        """The problems by their hashes, including those that were replaced."""
        return grouped((*self.variants, *self.replaced), lambda one: one.id)

    @property
    def by_name(self) -> dict[str, list[Variant]]:
        """The problems by the names of their students, and by those of the students' folders."""
        found: dict[str, list[Variant]] = {}
        for one in self.variants:
            for name in dict.fromkeys((folded(one.folder.partition("/")[0]), folded(one.student))):
                found.setdefault(name, []).append(one)
        return found

    def of(self, student: str) -> list[Variant]:
        """The problems of a student."""
        found = [one for one in self.variants if folded(one.student) == folded(student)]
        if not found:
            raise InputError(f"{self.source} has no student {quoted(student)}", hint=near(student, self.students))
        return found

    @property
    def students(self) -> list[str]:
        """Their names, each once."""
        return list(dict.fromkeys(one.student for one in self.variants))


def is_keys(contents: Contents) -> bool:
    """Whether a file holds the problems of a class."""
    return VARIANTS in contents.members


def read_keys(contents: Contents, reading: Reading) -> Keys:
    """The problems of a class. Raises InputError if there is none, or if a student has two of the same name."""
    found = {key: tuple(_variants(contents, key, reading)) for key in (VARIANTS, REPLACED)}
    keys = Keys(contents.source, found[VARIANTS], found[REPLACED])
    if not keys.variants:
        raise InputError(f"{contents.source} holds no problem: {quoted(VARIANTS)} is empty")
    known: set[tuple[str, str]] = set()
    for one in keys.variants:
        if (folded(one.student), one.name) in known:
            hint = "a student has one problem, or several with a name each"
            raise InputError(f"{contents.source} has {quoted(one.student)} twice", hint=hint)
        known.add((folded(one.student), one.name))
    return keys


def _variants(contents: Contents, key: str, reading: Reading) -> Iterator[Variant]:
    rows = contents.members.get(key, [])
    if not isinstance(rows, list) or len(rows) > MOST_VARIANTS:
        raise InputError(f"{contents.source}: {key} is no list of at most {MOST_VARIANTS:,} problems")
    for i, row in enumerate(rows):
        source = f"{contents.source}: {key}[{i}]"
        if not isinstance(row, dict):
            raise InputError(f"{source} is {spoken(row)}, not an object")
        yield variant_of(row, source, reading)


_IN_WORDS = ("student", "problem", "folder", "name", "title")


def variant_of(row: Mapping[str, Any], source: str, reading: Reading) -> Variant:
    """A student's problem, as keys.json has it."""
    told = {name: _text(row, name, source) for name in _IN_WORDS}
    if not told["student"] and not told["problem"]:
        raise InputError(f"{source} names no student, and no hash by which its sheets are told")
    drawn = plain(row.get("drawn", {}), source)
    level, kept = (drawn.get("level", USUAL_LEVEL), drawn.get("kept", [])) if isinstance(drawn, dict) else ("", [])
    points = plain(row.get("points"), source)
    if level not in LEVELS or not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise InputError(f"{source}: drawn is no object of a level and the names of operands that are kept")
    if points is not None and (isinstance(points, bool) or not isinstance(points, int | float) or not points >= 0):
        raise InputError(f"{source}: points is a number from 0 on")
    problem = {key: value for key, value in row.items() if key not in (*_IN_WORDS, "drawn", "points")}
    contents = JsonFile(source, problem)
    check_version(contents)
    held = document_of(contents, reading)._replace(document=written_out(plain(dict(row), source)))
    folder = told["folder"] or file_name(told["student"] or told["problem"], set(), "")
    if not is_inside(folder):
        raise InputError(f"{source}: folder is {quoted(folder)}, which is no folder within that of the class")
    return Variant(
        told["student"],
        told["problem"],
        folder,
        held,
        level,
        tuple(kept),
        told["name"],
        told["title"],
        points,
    )


def _text(row: Mapping[str, Any], name: str, source: str) -> str:
    value = row.get(name, "")
    if type(value) is not str:
        raise InputError(f"{source}: {name} is to be a text")
    return value
