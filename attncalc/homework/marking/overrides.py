"""Marks that a teacher changes by hand, each with the reason: `student, step, marks, why`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from attncalc.common.errors import InputError, near, quoted
from attncalc.common.numerals import parse_number
from attncalc.common.system import NamedTuple
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reading.csv_lists import Tell, headed
from attncalc.homework.reading.names import folded
from attncalc.record.numbers import in_marks, shortest
from attncalc.record.verdicts import MARK_DECIMALS, MarkedStep


class Override(NamedTuple):
    """A change of a step's marks."""

    student: str
    step: str
    marks: float
    why: str = ""
    source: str = ""  # where it is written
    before: float | None = None  # the marks that they replace
    out_of: float = 0.0  # what the step could earn then; 0 where that is not known

    def to_dict(self) -> dict[str, object]:
        """The change as a report's log has it."""
        return {"student": self.student, "step": self.step, "from": self.before, "to": self.marks, "why": self.why}

    def __str__(self) -> str:
        was = "" if self.before is None else f" in place of {in_marks(self.before)}"
        return f"{self.student}, {self.step}: {shortest(self.marks)}{was}" + (f": {self.why}" if self.why else "")


def read_overrides(path: str, tell: Tell) -> list[Override]:
    """The changes that a list holds."""
    found = headed(path, tell)
    changes = []
    for line, (student, step, marks, why) in found.cells("student", "step", "marks", "why"):
        where = f"{found.source}:{line}"
        if not student and not step:
            continue
        try:
            value = parse_number(marks.replace(",", "."))
        except InputError as error:
            raise error.within(where) from None
        if not value >= 0:
            raise InputError(f"{where}: marks are numbers from 0 on, not {quoted(marks)}")
        changes.append(Override(student, step, value, why, where))
    return changes


Blank = Callable[[str], Graded | None]
"""Makes a blank sheet for a student, for marks by hand; None for somebody who gets none."""


def nobodys(student: str) -> None:
    """No sheet for anybody."""


def overridden(
    graded: Sequence[Graded], changes: Iterable[Override], before: Iterable[Override] = (), blank: Blank = nobodys
) -> tuple[list[Graded], list[Override]]:
    """The class with marks changed, and what was changed.

    A student or a step that is not there is an error. Changes of an earlier report are kept if they can be: in
    proportion, if the step earns more or less by now. If a student's sheet is missing or cannot be read, a blank one
    gets the marks.
    """
    found, log = [*graded], []
    for change in before:
        with suppress(InputError):
            log += _change(found, change, blank)
    sources: dict[tuple[str, str], str] = {}
    for change in changes:
        changed = _change(found, change, blank)
        for one in changed:
            if (one.student, one.step) in sources:
                where, first = (f"{source}: " if source else "" for source in (change.source, sources[one[:2]]))
                fault = f"{where}the marks of {quoted(one.student)} for {one.step} are changed twice"
                raise InputError(fault, hint=f"leave one of the lines, this or {first[:-2]}" if first else "")
        sources |= {one[:2]: one.source for one in changed}
        log += changed
    return found, log


def _change(found: list[Graded], change: Override, blank: Blank) -> list[Override]:
    """Change the marks of each sheet of a student."""
    where = f"{change.source}: " if change.source else ""
    places = [i for i, one in enumerate(found) if folded(one.student) == folded(change.student)]
    if not places and (made := blank(change.student)) is not None:
        places = [len(found)]
        found.append(made)
    if not places:
        hint = near(change.student, [one.student for one in found])
        raise InputError(f"{where}there is no student {quoted(change.student)}", hint=hint)
    log = []
    for i in places:
        one = found[i] if found[i].marked is not None else blank(found[i].student) or found[i]
        marked = one.marked
        if marked is None:
            raise InputError(f"{where}the sheet of {quoted(change.student)} could not be read, and has no marks")
        step = _meant(marked.steps, change, where)
        marks = change.marks
        if change.out_of:
            marks = round(marks * step.out_of / change.out_of, MARK_DECIMALS)
        elif marks > step.out_of:
            most = f"{shortest(step.out_of)} at most"
            raise InputError(f"{where}{step.name} earns {most}, not {shortest(marks)}")
        steps = [replace(each, score=marks) if each is step else each for each in marked.steps]
        source = found[i].source or one.source
        found[i] = replace(one, source=source, marked=replace(marked, steps=tuple(steps), source=source))
        now = change._replace(student=one.student, step=step.name, marks=marks, before=step.score, out_of=step.out_of)
        log.append(now)
    return log


def names_of(step: str) -> tuple[str, str]:
    """The two names of a step: in full, and the last part alone."""
    return step, step.rpartition("/")[2]


def _meant(steps: Sequence[MarkedStep], change: Override, where: str) -> MarkedStep:
    """The step that a change means, by its name or the last part of it."""
    for step in steps:
        if change.step in names_of(step.name):
            return step
    names = [step.name for step in steps]
    hint = near(change.step, names) or f"it has {', '.join(names)}"
    raise InputError(f"{where}the sheet of {quoted(change.student)} has no step {quoted(change.step)}", hint=hint)
