"""Classes from Python: `grade`, which the command line calls as well, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from attncalc.common.errors import AttncalcError, InputError, OptionError, amount, either, listed, near, quoted
from attncalc.common.numerals import QUESTION, Answers
from attncalc.common.system import NamedTuple, exists, is_file, shown
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking import whole_class
from attncalc.homework.marking.marker import disagreements
from attncalc.homework.marking.overrides import Override, overridden, read_overrides
from attncalc.homework.marking.policies import read_policy
from attncalc.homework.marking.regrading import Report, by_policy
from attncalc.homework.marking.whole_class import Assignment, Graded, assignment_in, blank_by
from attncalc.homework.quiz.handouts import KEY, problem_document
from attncalc.homework.reading.class_lists import MOST_ROWS, Submission
from attncalc.homework.reading.keys_file import PROBLEM
from attncalc.homework.reading.names import folded
from attncalc.homework.reading.sheets import EVERYTHING, MOST_BYTES, from_python
from attncalc.homework.reading.submissions import submissions, submitter
from attncalc.homework.reports.class_reports import (
    REPORTS,
    VISIBILITIES,
    VISIBLE,
    Account,
    gradescope,
    overview,
    report,
)
from attncalc.homework.reports.feedback import FORMATS, TEXT_COLUMNS, written_for
from attncalc.homework.reports.students import anonymous, code, once
from attncalc.inputs.json_files import JsonFile
from attncalc.inputs.problem_files import document_file
from attncalc.inputs.reading import Contents, Reading
from attncalc.record.trace import Trace
from attncalc.record.verdicts import USUAL_POLICY, Marked, Policy
from attncalc.render import View
from attncalc.render.page import write

Name = str | PathLike[str]


@dataclass(frozen=True)
class Grades:
    """A class, marked: its sheets in their order; `grades["Ann"]` is what was found of a student's sheet."""

    sheets: tuple[Graded, ...]
    policy: Policy = USUAL_POLICY
    log: tuple[Override, ...] = ()  # the marks that were changed by hand
    notes: tuple[str, ...] = ()  # on the sheets, and on how they were read
    absent: tuple[str, ...] = ()  # the students of the roster without a sheet

    def __repr__(self) -> str:
        marks = (f"{name} {'?' if mark is None else f'{mark:g}'}" for name, mark in self.marks.items())
        return f"<{amount(len(self), 'sheet')}: {listed(marks, 6)}>"

    def __iter__(self) -> Iterator[Graded]:
        return iter(self.sheets)

    def __len__(self) -> int:
        return len(self.sheets)

    def __getitem__(self, student: str) -> Marked:
        for one in self.sheets:
            if folded(one.student) == folded(student):
                if one.marked is None:
                    raise InputError(one.error, hint=one.hint)
                return one.marked
        raise self._missing(student)

    def _missing(self, student: str) -> InputError:
        known = near(student, [one.student for one in self.sheets])
        return InputError(f"there is no sheet of {quoted(student)}", hint=known)

    @property
    def marks(self) -> dict[str, float | None]:
        """What each student has earned; None where the sheet could not be read."""
        return {one.student: None if one.marked is None else one.marked.score for one in self.sheets}

    def report(self, format: str = "json", *, audit: bool = False) -> str:
        """The report of the class in a format of `grade -f`: json, csv, junit, tap, markdown, html …"""
        if format not in REPORTS or format == "gradescope":
            raise OptionError(f"a class has no report in the format {quoted(format)}", hint=near(format, REPORTS))
        return report(self.sheets, format, None, Account(self.policy, self.log, audit, absent=self.absent))

    def feedback(self, student: str, format: str = "html", *, visibility: str = VISIBLE, hints: str = QUESTION) -> str:
        """The page of a student, with nobody else's: html, markdown or text.

        `hints` say how much it tells: where it is wrong (none), also a question, also the mistake (rule). `gradescope`
        is their results.json, and `visibility` when it is shown there: visible, hidden, after_due_date,
        after_published.
        """
        own = [one for one in self.sheets if folded(one.student) == folded(student)]
        if not own:
            raise self._missing(student)
        if visibility not in VISIBILITIES:
            raise OptionError(f"visibility must be {either(VISIBILITIES)}, not {quoted(visibility)}")
        how = Account(self.policy, self.log, visibility=visibility, hints=hints)
        if format == "gradescope":
            return gradescope(own[0], how, own[1:])
        if format not in FORMATS:
            raise OptionError(f"feedback has no format {quoted(format)}", hint=near(format, FORMATS))
        return written_for(own[0], format, how)

    def by(self, policy: Policy) -> Grades:
        """The same class with marks by another policy, found from the verdicts."""
        found = by_policy(Report(self.sheets, self.policy, self.log), policy)
        graded, log = overridden(found, [], self.log)
        return Grades(tuple(graded), policy, tuple(log), self.notes, self.absent)

    def anonymous(self) -> Grades:
        """The same class with codes in place of names."""
        graded, log = anonymous(self.sheets, self.log)
        return Grades(tuple(graded), self.policy, tuple(log), (), tuple(sorted(map(code, self.absent))))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        found: dict[str, Any] = json.loads(self.report("json"))
        return found

    def __str__(self) -> str:
        how = Account(self.policy, self.log, absent=self.absent)
        return str(write(overview(self.sheets, how), "table", View(width=TEXT_COLUMNS)))


def grade(
    key: Name | Trace | Mapping[str, Any],
    sheets: Name | Iterable[Name] | Mapping[str, Answers],
    *,
    policy: Policy | Name | None = None,
    overrides: Name | None = None,
    reveal: bool = False,
    dtype: str | None = None,
    first: bool = False,
    student: Name | None = None,
    max_rows: int = MOST_ROWS,
    jobs: int = 1,
    executor: Executor | None = None,
) -> Grades:
    """A class, marked against a problem, a saved result, a trace or keys.json, as the command `grade` does.

    Sheets are files, folders and patterns, or answers by the names of students: `ac.grade(t, {"Ann": [0.5, 0.5]})`. Of
    a student's several sheets the last counts, or the `first`. Where all are of one `student`, that name holds whatever
    the sheets say; `@FILE` is Gradescope's submission_metadata.json. `jobs` processes share the work, or an
    `executor`'s workers, anywhere: a `concurrent.futures.Executor`, or `dask.distributed.Client(address)
    .get_executor(pure=False)`. There, a sheet that hangs, or that ends the process that marks it, is listed, and the
    others are marked.
    """
    reading = Reading()
    words = [] if isinstance(sheets, Mapping) else [sheets] if isinstance(sheets, str | PathLike) else [*sheets]
    task = assignment_by(key, [fspath(word) for word in words], reading)
    found = _submissions(sheets if isinstance(sheets, Mapping) else words, key, reading, task, max_rows)
    found = whose(found, None if student is None else fspath(student), task)
    by = policy if isinstance(policy, Policy) else USUAL_POLICY if policy is None else read_policy(fspath(policy))
    graded, several = marked(
        task, found, reading, by, reveal=reveal, dtype=dtype, first=first, work=Work(jobs, executor)
    )
    changed = [] if overrides is None else read_overrides(fspath(overrides), reading.tell)
    missing = whole_class.absent(graded, task.keys) if student is None else []
    graded, log = overridden(graded, changed, (), blank_by(graded, missing, task.settings(by)))
    notes = (*reading.notes, *of_sheets(graded), *(line for lines in several.values() for line in lines))
    return Grades(tuple(graded), by, tuple(log), notes, tuple(still_absent(missing, graded)))


class Work(NamedTuple):
    """Who does the work: processes here, or an executor's workers."""

    jobs: int = 1
    executor: Executor | None = None


ALONE = Work()


def marked(
    task: Assignment,
    found: Sequence[Submission],
    reading: Reading,
    policy: Policy,
    *,
    reveal: bool = False,
    dtype: str | None = None,
    first: bool = False,
    work: Work = ALONE,
) -> tuple[list[Graded], dict[str, list[str]]]:
    """All submissions, marked: one sheet of each student, with all of their problems; and remarks on several sheets."""
    whole_class.refuse_misspelt(policy, task)
    settings = task.settings(policy, reveal=reveal, dtype=dtype)
    if work.executor is None and (work.jobs <= 1 or len(found) < 2 * work.jobs):
        graded = whole_class.grade(task.problem, found, reading, settings)
    else:
        from attncalc.homework.marking import workers  # a door: few calls share their work

        graded = workers.grade(
            task, found, reading, policy, reveal=reveal, dtype=dtype, jobs=work.jobs, executor=work.executor
        )
    graded, several = once(graded, first=first)
    if task.keys is not None and any(one.name for one in task.keys.variants):
        graded = whole_class.several_problems(graded, task.keys, settings)
    return graded, several


def assignment_by(key: object, sheets: Sequence[str], reading: Reading) -> Assignment:
    """The problems of a key; if it is none, but the last of the sheets is one, a hint tells the right order."""
    try:
        task = assignment_in(contents_of(key, reading), reading)
    except InputError as fault:
        first, last = fspath(key) if isinstance(key, str | PathLike) else "", sheets[-1] if sheets else ""
        if exists(first) and is_file(last):
            with suppress(AttncalcError):
                assignment_in(document_file(last, reading.anew(MOST_BYTES)), reading.anew())
                fault.hint = f"the key comes before the sheets: attncalc grade {shown(last)} {shown(first)}"
        raise
    if task.keys is None:
        for warning in disagreements(Key(task.problem), task.contents.members):
            reading.tell(f"{task.contents.source}: {warning}")
    return task


def handed_in(words: Sequence[str], key: str, reading: Reading, task: Assignment, most_rows: int) -> list[Submission]:
    """The sheets that words mean; the folders that were handed out may come back as they are."""
    found = submissions(words, key, reading, task.names, most_rows, task.parts)
    beside = (PROBLEM, KEY)  # what quiz has written into the folder of the key
    found = [one for one in found if one.path is None or not (key and one.path in map(Path(key).with_name, beside))]
    if task.keys is not None:
        found = [one for one in found if one.path is None or one.path.name != PROBLEM]
    if not found:
        raise InputError("there is no sheet to grade", hint="a key is not marked, nor a report")
    return found


def whose(found: Sequence[Submission], student: str | None, task: Assignment) -> list[Submission]:
    """The submissions under one student's name, as in keys.json; without a student, as they are, if any is a sheet."""
    if student is None:
        if found and all(one.nobodys for one in found):
            raise InputError(found[0].error, hint=found[0].hint)
        return [*found]
    names = submitter(student)
    known = task.keys.by_name if task.keys is not None else {}
    name = next((name for name in names if folded(name) in known), names[0])
    return [one._replace(name=name, known=True) for one in found]


def still_absent(missing: Sequence[str], graded: Sequence[Graded]) -> list[str]:
    """The students without a sheet, except those who have marks by hand."""
    there = {folded(one.student) for one in graded}
    return [student for student in missing if folded(student) not in there]


def of_sheets(graded: Sequence[Graded]) -> Iterator[str]:
    """The notes on single sheets."""
    for one in graded:
        yield from one.marked.notes if one.marked is not None else ()
        if one.carried is not None:
            yield f"{one.student}: {one.carried}"


def contents_of(key: object, reading: Reading) -> Contents:
    """A key or a problem, which may be given as a file, a trace or a dictionary."""
    if isinstance(key, str | PathLike):
        return document_file(fspath(key), reading)
    if isinstance(key, Trace):
        return JsonFile("the problem", json.loads(problem_document(key, EVERYTHING)))
    if isinstance(key, Mapping):
        return JsonFile("the problem", dict(key))
    kind = quoted(type(key).__name__)
    raise OptionError(f"a problem is a file, a Trace or a dictionary, and not {kind}")


def _submissions(
    sheets: Sequence[Name] | Mapping[str, Answers], key: object, reading: Reading, task: Assignment, most_rows: int
) -> list[Submission]:
    if isinstance(sheets, Mapping):
        return [_of(str(student), answer) for student, answer in sheets.items()]
    own = fspath(key) if isinstance(key, str | PathLike) else ""
    return handed_in([fspath(word) for word in sheets], own, reading, task, most_rows)


def _of(student: str, answer: Answers) -> Submission:
    """The answers of a student."""
    try:
        return Submission(student, student, sheet=from_python(answer))
    except InputError as fault:
        return Submission(student, student, error=fault.message, hint=fault.hint)
