"""Whose sheets a report tells of: one sheet a student, and codes in place of names."""

from __future__ import annotations

import re
from base64 import b32encode
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from attncalc.common.errors import both, quoted
from attncalc.common.system import grouped
from attncalc.homework.marking.overrides import Override
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reading.answers import MOST_TOLD
from attncalc.homework.reading.names import folded
from attncalc.record.verdicts import MISSING, Marked

CODE = re.compile(r"s-[a-z2-7]{8}")


def once(graded: Sequence[Graded], *, first: bool = False) -> tuple[list[Graded], dict[str, list[str]]]:
    """One sheet of each student, the last with answers or the first; and remarks on students with several."""
    counts: list[Graded] = []
    told: dict[str, list[str]] = {}
    for sheets in grouped(graded, lambda one: (folded(one.student), one.problem)).values():
        read = [one for one in sheets if one.marked is not None]
        if len(sheets) == 1 or not read:
            counts += sheets
            continue
        answered = [one for one in read if one.marked is not None and _answers(one.marked)]
        chosen = (answered or read)[0 if first else -1]
        counts.append(chosen)
        broken = [one for one in sheets if one.marked is None]
        if len(answered) <= 1 and not broken:
            continue  # the others are blank, as the quiz has made them
        sources = both([one.source for one in sheets], MOST_TOLD)
        said = f"{len(sheets)} sheets are from {quoted(chosen.student)}: {sources}; {chosen.source} counts"
        passed = [f"{one.source} is passed over: {one.fault}" for one in broken]
        told.setdefault(chosen.student, []).extend([said, *passed])
    return counts, told


def _answers(marked: Marked) -> bool:
    """Whether a sheet has any answer."""
    return any(step.verdict != MISSING for step in marked.steps)


def code(student: str) -> str:
    """The code that stands for a student's name, always the same."""
    if CODE.fullmatch(student):
        return student
    return "s-" + b32encode(sha256(folded(student).encode()).digest())[:8].decode().lower()


def anonymous(graded: Iterable[Graded], log: Iterable[Override]) -> tuple[list[Graded], list[Override]]:
    """A class and its log with codes in place of names, in the order of the codes; sources have names, too."""
    named = [*graded]
    known = {word for one in named for word in (one.student, one.source, Path(one.source).stem) if word}
    words = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    names = re.compile(rf"(?<!\w)(?:{words})(?!\w)")
    given_to = Counter(variant for one in named for variant in one.variants.items())
    hidden = []
    for one in named:
        own = code(one.student)
        marked = None if one.marked is None else replace(one.marked, student=own, source=own, notes=())
        carried = one.carried and one.carried._replace(student=one.carried.student and code(one.carried.student))
        error, hint = names.sub("…", one.error), names.sub("…", one.hint)
        shared = {name: told for name, told in one.variants.items() if given_to[name, told] > 1}  # others tell whose
        hidden.append(Graded(own, own, marked, error, hint, carried, variants=shared))
    changed = [one._replace(student=code(one.student), source="", why=names.sub("…", one.why)) for one in log]
    return sorted(hidden, key=lambda one: one.student), sorted(changed, key=lambda one: one.student)
