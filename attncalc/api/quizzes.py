"""Quizzes from Python: `quiz`, which the command line calls as well, and what is handed out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

from attncalc.api.classes import Name, contents_of
from attncalc.calculations import TABLE, load
from attncalc.common.errors import InputError, OptionError, amount, either, listed, near, quoted
from attncalc.common.numerals import Numbers
from attncalc.declare.calculation import checked
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.autograders import EXPORTS, FILE, GRADESCOPE, autograder
from attncalc.homework.quiz.banks import picked, read_bank
from attncalc.homework.quiz.class_folders import class_files, class_keys, pooled
from attncalc.homework.quiz.handouts import KEY, WORKSHEETS, files, problem_document, question
from attncalc.homework.quiz.platforms import exported
from attncalc.homework.quiz.search import Quiz, weighed
from attncalc.homework.quiz.search import quiz as found_for
from attncalc.homework.quiz.templates import Asks, Wanted
from attncalc.homework.quiz.variants import for_class, variants
from attncalc.homework.quiz.worksheets import FORMULAS, Wording
from attncalc.homework.reading.asked import asked, from_document, words_of
from attncalc.homework.reading.csv_lists import Tell
from attncalc.homework.reading.csv_lists import roster as read_roster
from attncalc.homework.reading.keys_file import KEYS, LEVELS, USUAL_LEVEL, Keys, is_keys, read_keys
from attncalc.homework.reading.names import folded
from attncalc.homework.reading.sheets import EVERYTHING, Asked
from attncalc.homework.reports.class_reports import VISIBILITIES, VISIBLE
from attncalc.inputs.problem_files import document_of
from attncalc.inputs.python_values import to_given
from attncalc.inputs.reading import Contents, Reading
from attncalc.record.numbers import shortest
from attncalc.record.trace import NOTHING, Trace
from attncalc.render import PAGES
from attncalc.solve.problem import Problem, told_apart
from attncalc.solve.solver import solve, write

SAME = "without a roster a quiz is the same problem for all"
"""The hint if there are not enough problems for a class."""


@dataclass(frozen=True)
class Handouts:
    """A quiz: one problem, or one for each student; what does not show on it; and the files to hand out."""

    found: Quiz | None = None  # the problem, or the first of many, with what it shows
    asked: Asked = EVERYTHING
    keys: Keys | None = None  # the problems of a class
    notes: tuple[str, ...] = ()  # on it, and on how the roster and the problem were read

    def __repr__(self) -> str:
        if self.keys is None:
            return "<a quiz: a problem>"
        students = [one.student for one in self.keys.variants]
        return f"<a quiz for {amount(len(students), 'student')}: {listed(students, 6)}>"

    @property
    def problems(self) -> dict[str, dict[str, Any]]:
        """The problem of each student as a document; that for all has the name ""."""
        if self.keys is None:
            assert self.found is not None, "there is one, where there are not many"
            text = problem_document(solve(self.found.problem, keep_all=True), self.asked)
            return {"": json.loads(text)}
        return {one.student: one.held.document for one in self.keys.variants}

    @property
    def hidden(self) -> tuple[str, ...]:
        """The known mistakes that do not show on it."""
        return () if self.found is None else self.found.hidden

    @property
    def alike(self) -> tuple[tuple[str, str], ...]:
        """Pairs of known mistakes that it does not tell apart."""
        return () if self.found is None else self.found.alike

    def files(
        self,
        formats: Iterable[str] = WORKSHEETS,
        *,
        export: Iterable[str] = (),
        formulas: str = FORMULAS[-1],
        reasons: bool | None = None,
        visibility: str = VISIBLE,
    ) -> dict[str, str | bytes]:
        """What `quiz -o` writes, by the names of the files: problems, sheets and worksheets, and the key or keys.json.

        Worksheets are in formats of pages; `export` names those of platforms: moodle, qti, canvas, and gradescope, an
        autograder whose results students see as `visibility` says: visible, hidden, after_due_date, after_published.
        """
        known_words = ((formats, PAGES), (export, EXPORTS), ([formulas], FORMULAS), ([visibility], VISIBILITIES))
        for words, known in known_words:
            for word in words:
                if word not in known:
                    raise OptionError(f"{quoted(word)} is not {either(known)}", hint=near(word, known))
        return self.written([*formats], [*export], Wording(formulas, reasons), visibility, lambda _: None)

    def written(
        self,
        formats: Sequence[str],
        exports: Sequence[str],
        wording: Wording,
        visibility: str,
        tell: Callable[[str], None],
    ) -> dict[str, str | bytes]:
        """The files, with worksheets that say so much; `tell` hears what a platform cannot hold."""
        fixed = [form for form in exports if form != GRADESCOPE]
        if self.keys is not None:
            own, key = class_files(self.keys, formats, wording), KEYS
            others = pooled(self.keys, fixed, wording, tell)
        else:
            assert self.found is not None, "there is one, where there are not many"
            own, key = files(self.found.problem, formats, self.asked, wording), KEY
            others = exported([question(self.found.problem, self.asked, wording)], fixed) if fixed else {}
        marker = {FILE: autograder(key, own[key], visibility)} if GRADESCOPE in exports else {}
        return {**own, **others, **marker}


def quiz(
    problem: Name | Trace | Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    level: str | None = None,
    sizes: Mapping[str, int] = NOTHING,
    options: Mapping[str, object] = NOTHING,
    inputs: Mapping[str, Numbers] = NOTHING,
    given: Sequence[str] = (),
    ask: str | Sequence[str] = (),
    show_steps: str | Sequence[str] = (),
    roster: Name | Sequence[str] | None = None,
    bank: Name | None = None,
    pick: int | None = None,
) -> Handouts:
    """A quiz, as the command makes it: `ac.quiz("attention", sizes={"n": 2}, seed=7).files()`.

    The problem is a calculation's name, whose numbers are drawn, with its own `options`, `inputs` that stay as they are
    and the operands `given` of the form that is wanted; or one's own, as a file, a Trace or a dictionary. A `roster`, a
    file or a list of names, gives everybody other numbers; the problems may be those of a `bank`.
    """
    for word in [level] if level is not None else []:
        if word not in LEVELS:
            raise OptionError(f"level must be {either(LEVELS)}, not {quoted(word)}", hint=near(word, LEVELS))
    chosen, asks = any_seed() if seed is None else seed, (_words(ask), _words(show_steps))
    reading = Reading()
    students = None if roster is None else _students(roster, reading.tell)
    if bank is not None:
        if problem is not None:
            raise OptionError("a bank has problems as they are, and another one is named beside it")
        made = of_bank(fspath(bank), students or [], pick, chosen, level)
    elif isinstance(problem, str) and told_apart(problem.replace("_", "-"))[0] in TABLE:
        name = problem.replace("_", "-")
        base, backward = told_apart(name)
        calculation = load(base)
        arrays = {
            operand.name: to_given(inputs[operand.name], operand)
            for operand in calculation.operands
            if operand.name in inputs
        }
        known = [*(o.name for o in calculation.operands), *(o.name for o in calculation.options)]
        for word in [*inputs, *options]:
            if word not in known:
                raise OptionError(f"{base} has no {quoted(word)}", hint=near(word, known))
        own = checked(calculation, dict(options)) if options else {}
        wanted = Wanted(own, arrays, tuple(given), backward, sizes, level or USUAL_LEVEL, asks)
        made = drawn(name, chosen, wanted, students)
    elif problem is None:
        raise OptionError("a quiz is of a calculation, of a problem of one's own or of a bank")
    else:
        try:
            contents = contents_of(problem, reading)
        except InputError as fault:
            fault.hint = (near(problem, TABLE) if isinstance(problem, str) else "") or fault.hint
            raise
        made = of_document(contents, reading, asks, chosen, level, students)
    return replace(made, notes=(*reading.notes, *made.notes))


def any_seed() -> int:
    """A random seed, for when none is given."""
    return int.from_bytes(os.urandom(3), "big")


def drawn(name: str, seed: int, wanted: Wanted, students: Sequence[str] | None) -> Handouts:
    """A problem of a calculation with new numbers; or one for each student, and what the first of them shows."""
    if students is None:
        found = found_for(name, seed, wanted)
        return Handouts(found, asked(*wanted.asks, Key(found.problem).names))

    def of_sizes(sizes: Mapping[str, int]) -> list[Quiz]:
        return for_class(name, len(students), seed, wanted._replace(sizes=sizes))

    many = of_sizes(wanted.sizes)
    if len(many) < len(students):
        larger = next((size for size in _larger(many) if len(of_sizes({**wanted.sizes, **size})) >= len(students)), {})
        mend = "".join(f"larger sizes have more: --size {axis}={size}" for axis, size in larger.items())
        raise _too_few(len(many), students, name, mend)
    wants = asked(*wanted.asks, Key(many[0].problem).names)
    keys = class_keys(students, [one.problem for one in many], wants, wanted.level, wanted.inputs)
    return Handouts(_of_all(many), keys=keys)


def of_document(
    contents: Contents, reading: Reading, asks: Asks, seed: int, level: str | None, students: Sequence[str] | None
) -> Handouts:
    """The problem of a document, as it is or with other numbers for each student; `asks` overrules what it asks.

    If it is keys.json, the problems of the class are handed out again.
    """
    if is_keys(contents):
        return Handouts(keys=read_keys(contents, reading))
    held = document_of(contents, reading)
    names = Key(held.problem).names
    ask, shown = from_document(held.document, names, contents.source).words
    wants = asked(asks[0] or ask, asks[1] or shown, names)
    asks = wants.words
    if students is not None:
        return _like(held.problem, contents.source, students, seed, level or USUAL_LEVEL, asks, wants)
    return Handouts(weighed(held.problem, asks), wants)


def _like(
    problem: Problem, source: str, students: Sequence[str], seed: int, level: str, asks: Asks, wants: Asked
) -> Handouts:
    """A problem with the numbers of a document drawn anew for each student."""
    found = variants(problem, len(students), seed=seed, level=level, asks=asks)
    if not found and not any(given.value.dtype.kind == "f" for given in problem.inputs.values()):
        raise OptionError(f"{source} has no numbers that can be drawn anew", hint="quiz without --roster keeps them")
    if len(found) < len(students):
        raise _too_few(len(found), students, source)
    return Handouts(_of_all(found), keys=class_keys(students, [one.problem for one in found], wants, level, ()))


def _of_all(found: Sequence[Quiz]) -> Quiz:
    """The first of many, with the mistakes that do not show on some of them, or look like others there."""
    hidden = dict.fromkeys(each for one in found for each in one.hidden)
    alike = dict.fromkeys(pair for one in found for pair in one.alike)
    return found[0]._replace(hidden=tuple(hidden), alike=tuple(alike))


def of_bank(folder: str, students: Sequence[str], pick: int | None, seed: int, level: str | None) -> Handouts:
    """Problems of a bank, for each student or for all."""
    keys = picked(read_bank(folder), students, pick, seed, level or USUAL_LEVEL)
    points = {own[0].student: sum(one.points or 0 for one in own) for own in keys.by_name.values()}
    if all(one.points is not None for one in keys.variants) and len({*points.values()}) > 1:
        least, most = (shortest(end(points.values())) for end in (min, max))
        note = f"the problems of some students earn {least} points, those of others up to {most}"
        return Handouts(keys=keys, notes=(note,))
    return Handouts(keys=keys)


def _larger(found: Sequence[Quiz]) -> Iterator[dict[str, int]]:
    """The sizes of a problem, each by itself, and larger by one."""
    for axis, size in write(found[0].problem).bound.sizes.items() if found else ():
        yield {axis: size + 1}


def _too_few(found: int, students: Sequence[str], name: str, mend: str = "") -> OptionError:
    if found > 1:
        fault = f"only {found} problems of {name} that differ and are as hard are found"
    else:
        fault = f"{'only one' if found else 'no other'} problem of {name} that is as hard is found"
    return OptionError(f"{fault}, for {amount(len(students), 'student')}", hint=mend or SAME)


def _words(words: str | Sequence[str]) -> list[str]:
    return words_of([words] if isinstance(words, str) else words)


def _students(roster: str | PathLike[str] | Sequence[str], tell: Tell) -> list[str]:
    """The names in a file, or those of a list."""
    if isinstance(roster, str | PathLike):
        return read_roster(fspath(roster), tell)
    twice = next((name for i, name in enumerate(roster) if folded(name) in map(folded, roster[:i])), None)
    if twice is not None:
        raise OptionError(f"the roster names {quoted(twice)} twice")
    if not roster or not all(map(folded, roster)):
        raise OptionError("a roster is a list of names, none of which is empty")
    return [*roster]
