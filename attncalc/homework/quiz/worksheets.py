"""Worksheets: a problem to be printed and worked out by hand, with a box for every number that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from attncalc.calculations import DERIVATIVES
from attncalc.common.errors import both
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.mistake import StepKey
from attncalc.homework.marking.judging import SHOWN_DECIMALS
from attncalc.homework.reading.sheets import spelled
from attncalc.record.trace import Step, Trace
from attncalc.render.page import Block, Formula, Heading, Page, Paragraph, Part, Table
from attncalc.render.printing import AS_IT_IS, Printing, printed
from attncalc.render.traces import formula, in_words, operands
from attncalc.solve.asking import numbered
from attncalc.solve.problem import problem_of

DECIMALS = 4
ASKED = f"Work each step out from the one before. Write {DECIMALS} decimals where a number does not come out sooner."
FORMULAS = ("none", "names", "full")
"""How much a worksheet tells of each step: nothing, the names of what it is made of, or its formula."""


class Wording(NamedTuple):
    """What a worksheet says besides the numbers."""

    formulas: str = FORMULAS[-1]
    reasons: bool | None = None  # whether they are told; None: if formulas are told in full
    printing: Printing = AS_IT_IS

    @property
    def has_reasons(self) -> bool:
        """Whether the reason of each step is told."""
        return self.formulas == FORMULAS[-1] if self.reasons is None else self.reasons


class Whose(NamedTuple):
    """The student whose own problem it is, if each has another; its hash, and its title."""

    student: str = ""
    problem: str = ""
    title: str = ""


ANYBODY = Whose()


class Exercise(NamedTuple):
    """A step that is to be filled in."""

    step: Step  # its formula uses only what is on the worksheet
    made_of: Sequence[str]  # the names of the steps and operands that the formula uses
    where: Array | None = None  # which of its entries; None: all of them

    @property
    def boxes(self) -> Array:
        """0 where an entry is asked for, NaN elsewhere."""
        return np.zeros(self.step.shape) if self.where is None else np.where(self.where, 0.0, np.nan)


def page(
    trace: Trace, exercises: Sequence[Exercise], shown: Sequence[StepKey], wording: Wording, whose: Whose = ANYBODY
) -> Page:
    """A worksheet: a problem, with the steps of it that are shown, and those that are to be filled in."""
    told = Paragraph(f"{whose.student}, problem {whose.problem}") if whose.student else Paragraph("Name", "blank")
    hashed = [Paragraph(f"Problem {whose.problem}")] if whose.problem and not whose.student else []
    start = (Heading(whose.title or trace.calculation), Paragraph(about(trace)), told, *hashed)
    work = (Paragraph(ASKED, "instructions"), *_exercises(trace, exercises, wording))
    parts = (
        Part("exercises", Heading("Given"), given(trace, shown, wording.printing)),
        Part("exercises", Heading("Work out"), work),
    )
    return printed(Page(trace.calculation, (*start, *parts)), wording.printing)


def given(trace: Trace, shown: Sequence[StepKey], printing: Printing = AS_IT_IS) -> tuple[Block, ...]:
    """The operands of a problem, the steps of it that are shown, and the options that were given.

    The names of the teacher's files are left out. If the numbers of an operand are places, it is said that these count
    from 0, however rows and columns are counted.
    """
    chosen, places, calculation = _chosen(trace), numbered(trace), problem_of(trace).calculation
    tables, counted = [table._replace(source="") for table in operands(trace)], []
    for table in tables:
        operand = calculation.operand(table.name)
        if table.name in places and operand is not None:
            counted.append(_counted(f"{table.symbol}: {operand.help}. Its numbers", places[table.name], printing))
    told = [_told(trace.find(spelled(step))) for step in shown]
    return (*tables, *counted, *told, *([Paragraph(f"with {chosen}")] if chosen else []))


def _counted(what: str, axis: str, printing: Printing) -> Paragraph:
    """A line that says that places count from 0, even if rows and columns count from 1."""
    though = f", though rows and columns count from {printing.base}" if printing.base else ""
    return Paragraph(f"{what} count from 0: 0 is the first along {axis}{though}", "about")


def _told(step: Step) -> Table:
    """A step that the worksheet shows, rounded to the decimals that marking takes as known."""
    assert step.value is not None, "it was kept"
    value = np.round(step.value, SHOWN_DECIMALS)
    return Table(
        step.name, value, step.axes, step.shape, step.labels, step.names, step.symbol, step.symbol_latex, full=value
    )


def _exercises(trace: Trace, exercises: Sequence[Exercise], wording: Wording) -> Iterator[Block]:
    group, places = "", numbered(trace)
    for number, exercise in enumerate(exercises, 1):
        step = exercise.step
        if step.group != group:
            group = step.group
            yield Part("group", Heading(group or trace.calculation), ())
        blank = Table(step.name, exercise.boxes, step.axes, step.shape, step.labels, symbol=step.symbol, blank=True)
        told: list[Block] = [*_said(exercise, wording, tells=tells_formulas(trace)), blank]
        if step.key in places:
            told.insert(-1, _counted(f"Numbers of {step.symbol}", places[step.key], wording.printing))
        yield Part("exercise", Heading(step.name, number, step.key), tuple(told))


def _said(exercise: Exercise, wording: Wording, *, tells: bool) -> Iterator[Block]:
    """The formula, the names and the reason that a worksheet gives for a step."""
    step = exercise.step
    full = tells and wording.formulas == "full"
    yield formula(step) if full and step.formula else Formula(step.name)
    if exercise.made_of and (wording.formulas == "names" or (full and not step.formula)):
        yield Paragraph(f"from {both(exercise.made_of)}", "about")
    if wording.has_reasons:
        yield Paragraph(step.why, "why")


def tells_formulas(trace: Trace) -> bool:
    """Whether the steps' formulas may be shown: those of a formula's derivatives are the answers."""
    return not any(table.is_words for table in operands(trace) if not table.shape)


def _chosen(trace: Trace) -> str:
    """The options that were given: `distribution = bernoulli, p = 0.25`; of switches, only those with unusual values.

    A saved result has all options, even those without a value; of these, only the unusual ones count as given.
    """
    usual = problem_of(trace).calculation.defaults
    given = trace.problem.options
    saved = None in given.values()
    told = [
        (name, value) for name, value in given.items() if not (saved or isinstance(value, bool)) or value != usual[name]
    ]
    return ", ".join(f"{name} = {in_words(value, ', ', ' = ')}" for name, value in told)


def about(trace: Trace) -> str:
    """What is worked out, in a sentence or two."""
    derivative, _, name = trace.calculation.rpartition(" ")
    return f"{DERIVATIVES[derivative].says.format(name)} {trace.summary}" if derivative else trace.summary
