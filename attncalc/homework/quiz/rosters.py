"""What a class is handed out: a folder for each student, and keys.json for whoever marks them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from attncalc.common.errors import OptionError, amount
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.handouts import handed_out, problem_document
from attncalc.homework.quiz.search import Asks
from attncalc.homework.quiz.variants import variants
from attncalc.homework.quiz.worksheets import Whose, Wording
from attncalc.homework.reading.asked import KEYS as ASKED
from attncalc.homework.reading.asked import from_document
from attncalc.homework.reading.names import file_name
from attncalc.homework.reading.sheets import Asked
from attncalc.homework.reading.variants import KEYS, REPLACED, VARIANTS, Keys, Variant, variant_of
from attncalc.inputs.reading import Reading
from attncalc.record.numbers import shortest
from attncalc.render import View
from attncalc.render.document import VERSION, written
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

HASH = 12
"""So many hexadecimal digits name a problem."""


def shared_out(
    students: Sequence[str], problems: Sequence[Problem], asked: Asked, level: str, kept: Iterable[str]
) -> Keys:
    """A problem for each student, in their order."""
    own = [
        posed_to(student, folder, problem, asked, {"level": level, "kept": [*kept]})
        for student, folder, problem in zip(students, folders(students), problems, strict=False)
    ]
    return Keys(KEYS, tuple(own))


def folders(students: Iterable[str]) -> list[str]:
    """What the folder of each student is called."""
    taken: set[str] = set()
    return [file_name(student, taken, "") for student in students]


def posed_to(
    student: str, folder: str, problem: Problem, asked: Asked, drawn: Mapping[str, Any], **told: Any
) -> Variant:
    """A student's problem, as keys.json holds it."""
    text = problem_document(solve(problem, keep_all=True), asked)
    name = sha256(text.encode()).hexdigest()[:HASH]
    row = {"student": student, "problem": name, "folder": folder, **told, "drawn": dict(drawn), **json.loads(text)}
    return variant_of(row, KEYS, Reading())


def document(keys: Keys) -> str:
    """keys.json itself: a problem a line."""
    whole: dict[str, object] = {"attncalc": VERSION}
    for key, found in ((VARIANTS, keys.variants), (REPLACED, keys.replaced)):
        if found:
            whole[key] = [one.held.document for one in found]
    return written(whole, View())


def class_files(keys: Keys, worksheets_in: Sequence[str], wording: Wording) -> dict[str, str]:
    """All that is handed out, by the names of the files, and keys.json."""
    own = (files_of(one, worksheets_in, wording) for one in keys.variants)
    return {name: text for files in own for name, text in files.items()} | {KEYS: document(keys)}


def files_of(one: Variant, worksheets_in: Iterable[str], wording: Wording) -> dict[str, str]:
    """What a student gets, by the names of the files, the folder among them."""
    problem = one.held.problem
    asked = from_document(one.held.document, Key(problem).names, KEYS)
    points = "" if one.points is None else f" ({amount(shortest(one.points), 'point')})"
    whose = Whose(one.student, one.id, one.title and f"{one.title}{points}")
    made = handed_out(solve(problem, keep_all=True), worksheets_in, asked, wording, whose)
    return {f"{one.folder}/{name}": text for name, text in made.items()}


def with_another(keys: Keys, student: str, seed: int) -> Keys:
    """The problems of a class with another one for a student, like those of all; the old one is kept beside them."""
    [old, *others] = keys.of(student)
    if others:
        raise OptionError(f"{old.student} has {len(others) + 1} problems: only a single one can be replaced")
    taken = [one.held.problem for one in (*keys.variants, *keys.replaced)]
    words = {key: old.held.document.get(key, []) for key in ASKED}
    asks: Asks = words["ask"], words["shown"]
    for wide in (False, True):
        if found := variants(
            old.held.problem, 1, seed=seed, level=old.level, kept=old.kept, asks=asks, taken=taken, wide=wide
        ):
            asked = from_document(old.held.document, Key(old.held.problem).names, KEYS)
            new = posed_to(old.student, old.folder, found[0].problem, asked, {"level": old.level, "kept": [*old.kept]})
            own = tuple(new if one is old else one for one in keys.variants)
            return keys._replace(variants=own, replaced=(*keys.replaced, old))
    hint = "a quiz of other sizes has more of them"
    raise OptionError(
        f"no other problem is found that is like those of the class, and none of them ({len(taken)})", hint=hint
    )
