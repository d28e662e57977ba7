"""A calculation with its operands and options: it writes the graph, evaluates it, and records the Trace."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.errors import NotExact
from attncalc.evaluate.values import Rounding, evaluate
from attncalc.language.graph import Node, steps
from attncalc.language.steps import expanded
from attncalc.record.digits import farthest, round_half_up
from attncalc.record.trace import Check, Mode, Step, Trace
from attncalc.solve.build import write
from attncalc.solve.overflow import must_be_finite
from attncalc.solve.problem import Problem
from attncalc.solve.recording import Kept, Recorded, drop, record, spread_again
from attncalc.solve.written import Written, after_step, is_large, kind_of


@np.errstate(all="ignore")  # what overflows or has no answer is told in our own words
def solve(
    problem: Problem,
    *,
    dtype: str = "float64",
    round_to: int | None = None,
    exact: bool = False,
    expand: bool = False,
    keep_all: bool = False,
    asked: str | None = None,
) -> Trace:
    """Write the problem's graph, evaluate it and record every step.

    `round_to` rounds each step half up to so many decimals before the next uses it, as one does on paper; each step
    then tells how far it has drifted from the full-precision value. `exact` computes with fractions and surds, each
    operand by the digits that it was written with; operands of letters are exact as they are. `expand` shows the
    definition of each primitive inside a step as sub-steps. `keep_all` keeps every turn of a loop, instead of the first
    and the last ones, and every step of a large run, however much memory it takes. `asked` names the one step or output
    that will be read ("" the result), so that a large run need keep no other.
    """
    if exact:
        problem, dtype = _exactly(problem), "object"
    rounding = None if round_to is None else partial(_round, decimals=round_to)
    written = write(problem, dtype=dtype, rounding=rounding)
    if expand:
        written = written._replace(asides=(*written.asides, *expanded(written.roots)))
    try:
        if written.loop is not None:
            from attncalc.solve import turns  # few calculations are loops

            recorded = turns.recorded(problem.name, written, written.loop, dtype, rounding, keep_all=keep_all)
        else:
            recorded = _once(problem, written, dtype, rounding, keep_all=keep_all, asked=asked)
    except TypeError as error:
        if not any(words in str(error) for words in ("truth value of Relational", "expression to float")):
            raise  # those are SymPy's words where letters are to be compared, or put in order
        raise NotExact("which is the larger of two letters is not known", hint="give them numbers") from None
    trace = Trace(
        calculation=problem.name,
        summary=problem.calculation.summary,
        inputs=written.inputs,
        options=problem.settled,
        steps=recorded.steps,
        outputs=recorded.outputs,
        notes=(*written.notes, *recorded.notes),
        warnings=recorded.warnings,
        problem=problem,
        mode=Mode(dtype, round_to, expand, keep_all, asked),
        behind=recorded.behind,
    )
    if problem.calculation.finish is not None and problem.backward is None:
        trace = problem.calculation.finish(trace)
    overflow = must_be_finite(trace, written.roots, infinite=problem.calculation.infinite)
    remarks = problem.calculation.remarks
    return trace._replace(warnings=(*trace.warnings, *(remarks(trace) if remarks else ()), *overflow))


def _once(
    problem: Problem, written: Written, dtype: str, rounding: Rounding | None, *, keep_all: bool, asked: str | None
) -> Recorded:
    """Evaluate a graph and record its steps."""
    named = steps(*written.roots)
    kind = kind_of(written.values, dtype)
    labels_of = written.labels_of()
    compared = problem.backward is not None and problem.backward.gradcheck and not problem.backward.jacobian
    if is_large(written):
        from attncalc.solve import large  # few runs are

        if kind != "object" and rounding is None and not compared and (asked is not None or not keep_all):
            kept = large.evaluated(written, kind, problem.name, asked)
            return _recorded(
                written,
                {node: record(node, kept.get(node), labels_of(node)) for node in named},
                _notes(problem, written, kept) if asked is None else (),
                Kept(named, kept, written.values, kind),
            )
        large.must_fit_whole(written, kind, f"{problem.name} with every step kept")
    values = {node: written.known[node.key] for node in named if node.key in written.known}
    values |= evaluate(
        written.roots, written.values, dtype=kind, given=written.known, after_step=after_step(kind, rounding)
    )
    drift: dict[Node, float] = {}
    if rounding is not None and kind != "object":
        full = evaluate(written.roots, written.values, dtype=kind)
        drift = {node: farthest(values[node], full[node]) for node in named}
    checks: dict[Node, Check] = {}
    if compared:
        from attncalc.solve.backward import gradchecks  # few calls ask for them

        checks = gradchecks(written)
    recorded = {node: record(node, values[node], labels_of(node), drift.get(node), checks.get(node)) for node in named}
    return _recorded(written, recorded, _notes(problem, written, values), Kept(named, values, written.values))


def _recorded(written: Written, recorded: Mapping[Node, Step], notes: tuple[str, ...], behind: Kept) -> Recorded:
    return Recorded(
        tuple(step for node, step in recorded.items() if node.args["shown"]),
        tuple(_as_given(recorded[node], written) for node in written.outputs),
        notes,
        behind,
    )


def _as_given(output: Step, written: Written) -> Step:
    """An output with the axes that its reader knows: without the row that a vector stood for, with those of size 1."""
    bound = written.bound
    broadcast = bound.broadcast.get(output.gradient_of or "")
    return spread_again(output, broadcast) if broadcast else drop(output, bound.dropped)


def _notes(problem: Problem, written: Written, values: Mapping[Node, Array]) -> tuple[str, ...]:
    """What is to be said of a gradient; of a result there is nothing."""
    if problem.backward is None:
        return ()
    from attncalc.solve.backward import flat

    return flat(problem, written, values)


def _exactly(problem: Problem) -> Problem:
    from attncalc.evaluate import exact  # SymPy comes in here, and only here

    return problem._replace(inputs={name: exact.exact(g) for name, g in problem.inputs.items()})


def _round(value: Array, decimals: int) -> Array:
    return round_half_up(value, decimals) if value.dtype.kind == "f" else value
