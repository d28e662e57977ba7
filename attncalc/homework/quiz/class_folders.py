"""What a class is handed out: a folder for each student, and keys.json for whoever marks them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from attncalc.common.errors import OptionError, amount, both, near, quoted, visible
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.handouts import handed_out, problem_document, question
from attncalc.homework.quiz.platforms import Question, exported, has_whole_marks, pools
from attncalc.homework.quiz.variants import variants
from attncalc.homework.quiz.worksheets import Whose, Wording
from attncalc.homework.reading.asked import from_document
from attncalc.homework.reading.keys_file import KEYS, REPLACED, VARIANTS, Keys, Variant, variant_of
from attncalc.homework.reading.names import file_name
from attncalc.homework.reading.sheets import Asked
from attncalc.inputs.reading import Reading
from attncalc.record.numbers import shortest
from attncalc.render import View
from attncalc.render.document import VERSION, written
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

HASH = 12
"""The hexadecimal digits of a problem's hash; a letter comes first, or spreadsheets would take some for numbers."""


OF_A_BANK = ("name", "title", "points")
"""What keys.json says of a bank's problem in addition: its names, and what it earns."""


def class_keys(
    students: Sequence[str], problems: Sequence[Problem], asked: Asked, level: str, kept: Iterable[str]
) -> Keys:
    """The keys of a class: a problem for each student, in their order."""
    own = [
        posed_to(student, folder, problem, asked, {"level": level, "kept": [*kept]})
        for student, folder, problem in zip(students, folders(students), problems, strict=False)
    ]
    return Keys(KEYS, tuple(own))


def folders(students: Iterable[str]) -> list[str]:
    """The name of each student's folder."""
    taken: set[str] = set()
    return [file_name(student, taken, "") for student in students]


def posed_to(
    student: str, folder: str, problem: Problem, asked: Asked, drawn: Mapping[str, Any], **told: Any
) -> Variant:
    """A student's problem, as keys.json holds it."""
    text = problem_document(solve(problem, keep_all=True), asked)
    name = "p" + sha256(text.encode()).hexdigest()[:HASH]
    row = {"student": student, "problem": name, "folder": folder, **told, "drawn": dict(drawn), **json.loads(text)}
    return variant_of(row, KEYS, Reading())


def document(keys: Keys) -> str:
    """The text of keys.json: a problem a line."""
    whole: dict[str, object] = {"attncalc": VERSION}
    for key, found in ((VARIANTS, keys.variants), (REPLACED, keys.replaced)):
        if found:
            whole[key] = [one.held.document for one in found]
    return written(whole, View())


def class_files(keys: Keys, worksheets_in: Sequence[str], wording: Wording) -> dict[str, str]:
    """Everything that is handed out, and keys.json, by the names of the files."""
    own = (files_of(one, worksheets_in, wording) for one in keys.variants)
    return {name: text for files in own for name, text in files.items()} | {KEYS: document(keys)}


def pooled(keys: Keys, formats: Sequence[str], wording: Wording, tell: Callable[[str], None]) -> dict[str, str | bytes]:
    """The problems of a class in files for learning platforms, in pools from which each student is given one.

    No student is named: the platform decides which problem is whose. `tell` hears of points that Moodle cannot share.
    """
    own = {one.id: one for one in keys.variants}
    questions = [_question(one, wording) for one in own.values()]
    if "moodle" in formats:
        for pool, (one, *_) in pools(questions).items():
            if one.points is not None and not has_whole_marks(one):
                points = shortest(one.points)
                numbers = amount(len(one.gaps), "number")
                tell(
                    f"Moodle's marks are whole, and the {amount(points, 'point')} of {visible(pool)} cannot be shared "
                    f"among its {numbers}: its question counts {sum(gap.weight for gap in one.gaps.values())}, "
                    f"and {points} is the maximum mark to give it in Moodle's quiz"
                )
    return exported(questions, formats)


def _asked(one: Variant) -> Asked:
    """What is asked of a student's problem."""
    return from_document(one.held.document, Key(one.held.problem).names, KEYS)


def _question(one: Variant, wording: Wording) -> Question:
    problem = one.held.problem
    pool = one.title or one.name or problem.name
    return question(problem, _asked(one), wording, f"{pool} {one.id}", pool)._replace(points=one.points)


def files_of(one: Variant, worksheets_in: Iterable[str], wording: Wording) -> dict[str, str]:
    """What a student gets, by the names of the files, which begin with the folder's."""
    points = "" if one.points is None else f" ({amount(shortest(one.points), 'point')})"
    whose = Whose(one.student, one.id, one.title and f"{one.title}{points}")
    made = handed_out(solve(one.held.problem, keep_all=True), worksheets_in, _asked(one), wording, whose)
    return {f"{one.folder}/{name}": text for name, text in made.items()}


def with_another(keys: Keys, student: str, seed: int, name: str = "") -> Keys:
    """The problems of a class, with new ones of the same kind for one student; the old ones are kept as replaced.

    If the student has several, all that were drawn are replaced, or only the one with this `name`.
    """
    own = keys.of(student)
    old = [one for one in own if not name or one.name == name]
    if not old:
        known = [one.name for one in own if one.name]
        fault = f"{own[0].student} has no problem called {quoted(name)}"
        raise OptionError(fault, hint=near(name, known) or (f"there are {both(known)}" if known else ""))
    drawn = [one for one in old if set(one.held.inputs) - set(one.kept)]
    if not drawn:
        raise OptionError(f"the numbers of {both([one.name or student for one in old])} are the same for all")
    new = {id(one): _another(keys, one, seed) for one in drawn}
    every = tuple(new.get(id(one), one) for one in keys.variants)
    return keys._replace(variants=every, replaced=(*keys.replaced, *drawn))


def _looks(problem: Problem) -> tuple[str, dict[str, tuple[int, ...]]]:
    """The name and shapes of a problem; only problems that share these can be compared by their numbers."""
    return problem.name, {name: given.value.shape for name, given in problem.inputs.items()}


def _another(keys: Keys, old: Variant, seed: int) -> Variant:
    """A new problem in place of a student's old one."""
    named = [one.held.problem for one in (*keys.variants, *keys.replaced) if one.name == old.name]
    taken = [each for each in named if _looks(each) == _looks(old.held.problem)]
    asked = _asked(old)
    if found := variants(old.held.problem, 1, seed=seed, level=old.level, kept=old.kept, asks=asked.words, taken=taken):
        told = {key: old.held.document[key] for key in OF_A_BANK if key in old.held.document}
        drawn = {"level": old.level, "kept": [*old.kept]}
        return posed_to(old.student, old.folder, found[0].problem, asked, drawn, **told)
    hint = "a quiz of other sizes has more of them"
    raise OptionError(
        f"no other problem is found that is like those of the class, and none of them ({len(taken)})", hint=hint
    )
