"""Every calculation carried out on what it is tried on, forward and backward: what pages are tested with."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest
from calculations.cases import EXPECTED

from attncalc.calculations import TABLE, load
from attncalc.common.errors import NoGradient
from attncalc.record.trace import Given, Trace
from attncalc.render import View, render, traces
from attncalc.render.page import Page, Part, Table
from attncalc.solve.asking import ways
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve


class Tried(NamedTuple):
    """A calculation with one of its cases."""

    name: str
    number: int
    backward: bool

    def __str__(self) -> str:
        return f"{'grad ' if self.backward else ''}{self.name}: {EXPECTED[self.name].cases[self.number]}"


def _tried(name: str, number: int) -> list[Tried]:
    ways = (False,) if EXPECTED[name].no_gradient else (False, True)
    return [Tried(name, number, backward) for backward in ways]


NAMES = [name for name in TABLE if name in EXPECTED]
ONE_OF_EACH = [tried for name in NAMES for tried in _tried(name, 0)]
ALL = [tried for name in NAMES for number in range(len(EXPECTED[name].cases)) for tried in _tried(name, number)]


MOST_PAGES = 500
_pages: dict[tuple[int, str, str], tuple[Trace, str]] = {}
"""With its trace each, so that no other one gets its id."""


def page_in(format: str, trace: Trace, view: View | None = None) -> str:
    """A trace in a format that is text; what several tests look at is written once."""
    key = id(trace), format, repr(view)
    if key not in _pages:
        text = render(trace, format, view)
        assert isinstance(text, str)
        if len(_pages) >= MOST_PAGES:
            del _pages[next(iter(_pages))]
        _pages[key] = trace, text
    return _pages[key][1]


def tables(trace: Trace, page: Page | None = None) -> list[Table]:
    """Every value on the page of a trace."""
    parts = list((page or traces.page(trace, View())).all(Part))
    return [table for part in parts for table in (*part.all(Table), *(step.one(Table) for step in part.steps))]


@cache
def solved(tried: Tried) -> Trace:
    """The trace of a case."""
    case = EXPECTED[tried.name].cases[tried.number]
    inputs = {operand: Given(value) for operand, value in case.arrays().items()}
    try:
        return solve(Problem(load(tried.name), inputs, case.options, Backward() if tried.backward else None))
    except NoGradient as error:
        pytest.skip(str(error))


def reasons_of(trace: Trace) -> list[str]:
    """How the reason of each step begins on a page: where a gradient comes back on several ways, which they are."""
    found = ways(trace)
    return [found.get(step.key, step.why) for step in trace.steps]
