"""Whose sheets a report tells of: one sheet a student, codes in place of names, and names of files."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from unicodedata import normalize

from attncalc.common.errors import both, quoted
from attncalc.homework.marking.overrides import Override
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reading.answers import MOST_TOLD

CODE = re.compile(r"s-[a-z2-7]{8}")
LONGEST_STEM = 60
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""What no file may be called on Windows, whatever its suffix."""


def alike(name: str) -> str:
    """A name as all who write it have it: without capitals, and blanks too many."""
    return " ".join(normalize("NFC", name).casefold().split())


def once(graded: Sequence[Graded], *, first: bool = False) -> tuple[list[Graded], dict[str, list[str]]]:
    """One sheet of each student, the last that can be read or the first; and what is said of those with several."""
    found: dict[str, list[Graded]] = {}
    for one in graded:
        found.setdefault(alike(one.student), []).append(one)
    counts: list[Graded] = []
    told: dict[str, list[str]] = {}
    for sheets in found.values():
        read = [one for one in sheets if one.marked is not None]
        if len(sheets) == 1 or not read:
            counts += sheets
            continue
        chosen = read[0 if first else -1]
        counts.append(chosen)
        sources = both([one.source for one in sheets], MOST_TOLD)
        said = f"{len(sheets)} sheets are from {quoted(chosen.student)}: {sources}; {chosen.source} counts"
        broken = [f"{one.source} is passed over: {one.fault}" for one in sheets if one.marked is None]
        told[chosen.student] = [said, *broken]
    return counts, told


def code(student: str) -> str:
    """What a student is called where nobody is to be named: always the same."""
    if CODE.fullmatch(student):
        return student
    return "s-" + b32encode(sha256(alike(student).encode()).digest())[:8].decode().lower()


def anonymous(graded: Iterable[Graded], log: Iterable[Override]) -> tuple[list[Graded], list[Override]]:
    """A class and its log with codes in place of names, in the order of the codes; sources have names, too."""
    named = [*graded]
    known = {word for one in named for word in (one.student, one.source, Path(one.source).stem) if word}
    words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    names = re.compile(rf"(?<!\w)(?:{words})(?!\w)")
    hidden = []
    for one in named:
        own = code(one.student)
        marked = one.marked and replace(one.marked, student=own, source=own, notes=())
        hidden.append(Graded(own, own, marked, names.sub("…", one.error), names.sub("…", one.hint)))
    changed = [one._replace(student=code(one.student), source="", why=names.sub("…", one.why)) for one in log]
    return sorted(hidden, key=lambda one: one.student), sorted(changed, key=lambda one: one.student)


def file_name(one: Graded, taken: set[str], suffix: str = ".json") -> str:
    """A name for a student's own file: theirs, in letters and digits of any alphabet that every file system takes."""
    stem = re.sub(r"[^\w-]+", "-", normalize("NFC", one.student))[:LONGEST_STEM].strip("-") or "sheet"
    stem = f"{stem}-" if DEVICES.fullmatch(stem) else stem
    name, number = stem, 2
    while name.casefold() in taken:
        name, number = f"{stem.rstrip('-')}-{number}", number + 1
    taken.add(name.casefold())
    return f"{name}{suffix}"
