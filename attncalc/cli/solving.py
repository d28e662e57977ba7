"""From a problem to the page: it is calculated and shown, and refused first where that cannot be."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from attncalc.calculations import load
from attncalc.cli import output
from attncalc.cli.settings import Settings
from attncalc.errors import NoPicture
from attncalc.render import PICTURES, render
from attncalc.trace import LETTERS

if TYPE_CHECKING:
    from attncalc.calculation import Calculation
    from attncalc.inputs import Document, Reading
    from attncalc.problem import Backward, Problem
    from attncalc.trace import Given, Trace


def problem_of(document: Document) -> Problem:
    """The problem that a document holds."""
    from attncalc.problem import told_apart

    name, backward = told_apart(document.calculation)
    return posed(load(name), document.inputs, document.options, backward)


def posed(
    calculation: Calculation, inputs: Mapping[str, Given], options: Mapping[str, Any], backward: Backward | None
) -> Problem:
    """The problem of what has been read; a document's options may ask something of a derivative."""
    from attncalc.problem import Problem

    if backward:
        from attncalc.inputs.derivatives import asked

        backward, options = asked(backward, options)
    return Problem(calculation, inputs, options, backward)


def solve_and_show(problem: Problem, chosen: Settings, read: Reading) -> None:
    """Calculate and show the result; what has been read is not written to."""
    if chosen.target.path:
        from attncalc.cli.files import refuse_unwritable

        refuse_unwritable(chosen.target.path, read.opened)
    solved = _solved
    if chosen.exact or LETTERS in (given.source for given in problem.inputs.values()):  # SymPy might take for ever
        from attncalc.cli.patience import patience

        solved = patience()(_solved)
    trace, content = solved(problem, chosen)
    output.deliver(content, chosen.target.path)
    notes = [*read.notes, *trace.notes]
    if chosen.target.format == "csv":
        from attncalc.render.csv_ import lost

        notes += lost(trace, chosen.view)
    for note in notes:
        output.say("note", note)
    for warning in trace.warnings:
        output.say("warning", warning)


def _solved(problem: Problem, chosen: Settings) -> tuple[Trace, str | bytes]:
    """The trace of a problem, and the page that shows it."""
    from attncalc.problem import solve

    with _progress(quiet=chosen.view.quiet):
        trace = solve(
            problem,
            dtype=chosen.dtype,
            round_to=chosen.round_to,
            exact=chosen.exact,
            expand=chosen.expand,
            keep_all=chosen.view.everything or chosen.target.format == "npz",
            asked=_asked(chosen),
        )
    if chosen.explain:
        from attncalc.explain import explained

        trace = explained(trace)
    _must_fit_as_text(trace, chosen)
    if chosen.view.plot or chosen.target.format in PICTURES:
        trace, chosen = _illustrated(trace, chosen)
    return trace, render(trace, chosen.target.format, chosen.view)


def _progress(*, quiet: bool) -> AbstractContextManager[None]:
    """How far the work inside has got, where somebody may be looking."""
    if not output.is_terminal(sys.stderr):
        return nullcontext()
    from attncalc.cli.progress import bar

    return bar(quiet=quiet)


TEXT_ENTRY = 120  # the bytes that a number takes, about, while it is written as text


def _must_fit_as_text(trace: Trace, chosen: Settings) -> None:
    """Refuse a result in so many digits that there is not the memory for them; pages show the ends alone."""
    if chosen.target.format not in ("json", "csv", "plain"):
        return
    kept = [step.value.size for step in trace.outputs if step.value is not None]
    from attncalc.problem import LARGE

    if sum(kept) > LARGE:
        from attncalc.large import memory  # few results are large

        ways = {f"-f npy -o FILE{'' if chosen.view.bare else ' (the result alone)'}": 8 * max(kept)}
        memory.must_fit(TEXT_ENTRY * sum(kept), f"{trace.calculation} as {chosen.target.format}", ways)


def _asked(chosen: Settings) -> str | None:
    """The one step or output that is to be shown, "" for the result; None for a page of several."""
    if chosen.view.get is not None:
        return chosen.view.get
    return "" if chosen.view.quiet or (chosen.target.format in ("npy", "csv") and not chosen.view.show) else None


def _illustrated(trace: Trace, chosen: Settings) -> tuple[Trace, Settings]:
    """The trace with its pictures; below a page that has more to show, none is but a note."""
    from attncalc.pictures.illustration import illustrated

    try:
        return illustrated(trace, chosen.view), chosen
    except NoPicture as fault:
        if chosen.target.format in PICTURES or chosen.view.bare:
            raise
        view = chosen.view._replace(plot=False)
        return trace._replace(notes=(*trace.notes, fault.message)), chosen._replace(view=view)
