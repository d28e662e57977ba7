"""A bank is a folder of problems, with a bank.toml: what they are called, what they earn, which are drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, OptionError, amount, both, near, quoted
from attncalc.common.system import NamedTuple, is_file, shown
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.policies import toml
from attncalc.homework.quiz.class_folders import folders, posed_to
from attncalc.homework.quiz.handouts import exercises_of
from attncalc.homework.quiz.variants import variants
from attncalc.homework.reading.asked import asked, from_document
from attncalc.homework.reading.keys_file import KEYS, Keys, Variant
from attncalc.homework.reading.sheets import Asked, spelled
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

BANK = "bank.toml"
SAYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "title": (lambda value: isinstance(value, str), "a text"),
    "points": (lambda value: type(value) in (int, float) and 0 <= value < inf, "a number from 0 on"),
    "draw": (lambda value: isinstance(value, bool), "true or false"),
}
"""What a table may say of a problem, each with a test of its value, and the same in words."""
LAID_OUT = f"a table for each problem: [softmax] for softmax.json, and below it {both([*SAYS])}"


class Entry(NamedTuple):
    """A problem of a bank."""

    name: str
    title: str
    points: float | None  # for the whole problem; None: the sum of its steps' marks
    draw: bool  # whether each student has other numbers
    problem: Problem
    asked: Asked


def read_bank(folder: str) -> list[Entry]:
    """The problems of a bank, in the order in which it names them; those that it does not name come last."""
    where = Path(folder)
    if not is_file(str(where / BANK)):
        raise InputError(f"{shown(folder)} has no {BANK}", hint=f"it has {LAID_OUT}")
    tables = toml(str(where / BANK))
    files = {path.stem: path for path in sorted(where.glob("*.json"))}
    for name, table in tables.items():
        source = f"{shown(str(where / BANK))}: {name}"
        if name not in files:
            raise InputError(
                f"{source} is no problem: there is no file {name}.json",
                hint=near(name, files) or f"there is {LAID_OUT}",
            )
        _check(table, source)
    if not files:
        raise InputError(f"{shown(folder)} holds no problem")
    return [_entry(name, files[name], tables.get(name, {})) for name in dict.fromkeys((*tables, *files))]


def _check(table: object, source: str) -> None:
    if not isinstance(table, dict):
        raise InputError(f"{source} is no table", hint=f"there is {LAID_OUT}")
    for key, value in table.items():
        if key not in SAYS:
            mend = near(key, SAYS) or f"it has {both([*SAYS])}"
            raise InputError(f"{source}: {quoted(key)} says nothing of a problem", hint=mend)
        fits, wanted = SAYS[key]
        if not fits(value):
            raise InputError(f"{source}: {key} is {wanted}")


def _entry(name: str, path: Path, table: dict[str, Any]) -> Entry:
    held = load_document(str(path), Reading())
    key = Key(held.problem)
    wants = from_document(held.document, key.names, shown(str(path)))
    if wants.steps is None:  # a sheet that is not handed in should cost its marks
        exercises = exercises_of(solve(held.problem, keep_all=True), key, wants)
        wants = asked([each.step.key for each in exercises], [*map(spelled, wants.shown)], key.names)
    return Entry(name, table.get("title", ""), table.get("points"), table.get("draw", False), held.problem, wants)


def picked(entries: Sequence[Entry], students: Sequence[str], pick: int | None, seed: int, level: str) -> Keys:
    """For each student, `pick` problems of a bank, in its order; one set for everybody if no student is named."""
    if pick is not None and pick > len(entries):
        raise OptionError(f"the bank has {amount(len(entries), 'problem')}, and {pick} are to be picked")
    several = len(entries) if pick is None else pick
    choice = np.random.default_rng([seed, len(entries)])
    theirs = [sorted(choice.permutation(len(entries))[:several].tolist()) for _ in students or ("",)]
    own: dict[tuple[int, int], Variant] = {}
    for which, entry in enumerate(entries):
        kept = [] if entry.draw else [*entry.problem.inputs]
        holders = [i for i, chosen in enumerate(theirs) if which in chosen]
        for i, problem in zip(holders, _problems(entry, len(holders), seed, level), strict=True):
            number = theirs[i].index(which) + 1
            where = "/".join(filter(None, (folders(students)[i] if students else "", f"{number}-{entry.name}")))
            told = {"name": entry.name, "title": entry.title, "points": entry.points}
            told = {key: value for key, value in told.items() if value not in ("", None)}
            student = students[i] if students else ""
            own[i, number] = posed_to(student, where, problem, entry.asked, {"level": level, "kept": kept}, **told)
    return Keys(KEYS, tuple(own[place] for place in sorted(own)))


def _problems(entry: Entry, count: int, seed: int, level: str) -> list[Problem]:
    """A bank's problem for `count` students: as it stands, or with other numbers for each."""
    if not entry.draw or not count:
        return [entry.problem] * count
    found = variants(entry.problem, count, seed=seed, level=level, asks=entry.asked.words)
    if len(found) < count:
        there = amount(len(found), "problem")
        fault = f"{there} like {entry.name} can be drawn, but it is for {amount(count, 'student')}"
        raise OptionError(fault, hint="draw = false gives all of them the same one")
    return [one.problem for one in found]
