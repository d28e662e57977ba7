"""Worksheets: a problem to be printed and worked out by hand, with a box for every number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attncalc.calculations import DERIVATIVES
from attncalc.record.numbers import shortest
from attncalc.record.trace import Step, Trace
from attncalc.render.page import Block, Formula, Heading, Page, Paragraph, Part, Table
from attncalc.render.traces import formula, operands
from attncalc.solve.problem import problem_of

DECIMALS = 4
ASKED = f"Work each step out from the one before. Write {DECIMALS} decimals where a number does not come out sooner."


def page(trace: Trace, steps: Sequence[Step]) -> Page:
    """A problem, and the steps that are to be filled in."""
    chosen = _chosen(trace)
    given = (*operands(trace), *([Paragraph(f"with {chosen}")] if chosen else []))
    start = (Heading(trace.calculation), Paragraph(_about(trace)), Paragraph("Name", "blank"))
    work = (Paragraph(ASKED), *_exercises(trace, steps))
    parts = Part("exercises", Heading("Given"), given), Part("exercises", Heading("Work out"), work)
    return Page(trace.calculation, (*start, *parts))


def _exercises(trace: Trace, steps: Sequence[Step]) -> Iterator[Block]:
    group = ""
    for number, step in enumerate(steps, 1):
        if step.group != group:
            group = step.group
            yield Part("group", Heading(group or trace.calculation), ())
        written = formula(step) if _tells(trace) else Formula(step.name)
        zeros = np.zeros(step.shape)
        blank = Table(step.name, zeros, step.axes, step.shape, step.labels, symbol=step.symbol, blank=True)
        blocks = (written, Paragraph(step.why, "why"), blank)
        yield Part("exercise", Heading(step.name, number, step.key), blocks)


def _tells(trace: Trace) -> bool:
    """Whether the steps' formulas may be shown: those of a formula's derivatives are the answers."""
    return not any(table.is_words for table in operands(trace) if not table.shape)


def _chosen(trace: Trace) -> str:
    """The options that were given, as usual ones too: `distribution = bernoulli, p = 0.25`; of switches other ones."""
    usual = problem_of(trace).calculation.defaults
    given = trace.problem.options.items()
    told = [(name, value) for name, value in given if not isinstance(value, bool) or value != usual[name]]
    return ", ".join(f"{name} = {_word(value)}" for name, value in told)


def _about(trace: Trace) -> str:
    """What is worked out, in a sentence or two."""
    derivative, _, name = trace.calculation.rpartition(" ")
    return f"{DERIVATIVES[derivative].says.format(name)} {trace.summary}" if derivative else trace.summary


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_word(item)}" for name, item in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(_word, value))
    return value if isinstance(value, str) else shortest(value)
