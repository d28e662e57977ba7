"""A calculation with its operands and options: it writes the graph, evaluates it, and records the Trace."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc.arrays import Array
from attncalc.calculation import Calculation
from attncalc.errors import NotExact
from attncalc.evaluate import evaluate
from attncalc.graph import Node, steps, walk
from attncalc.recording import Recorded, must_be_finite, record
from attncalc.trace import NOTHING, Check, Given, Step, Trace
from attncalc.writing import Written, after_step, kind_of, write

if TYPE_CHECKING:
    from attncalc.evaluate import Rounding


class Backward(NamedTuple):
    """What a backward pass is asked for: gradients of these operands (none named: of all), checked or not."""

    wrt: tuple[str, ...] = ()
    gradcheck: bool = False
    jacobian: bool = False  # one gradient for each entry of the result, instead of one of their sum


def told_apart(name: str) -> tuple[str, Backward | None]:
    """The name of a problem → its calculation's, and the derivative that is meant: "grad attention", "jacobian dot"."""
    *derivative, calculation = name.split(" ")
    return calculation, Backward(jacobian=derivative == ["jacobian"]) if derivative else None


class Problem(NamedTuple):
    """What is to be computed, before anything is."""

    calculation: Calculation
    inputs: Mapping[str, Given]
    options: Mapping[str, Any] = NOTHING  # the ones that were given; the others have defaults
    backward: Backward | None = None

    @property
    def name(self) -> str:
        """`attention`, or `grad attention` for its backward pass, `jacobian attention` for its Jacobian."""
        if self.backward is None:
            return self.calculation.name
        return f"{'jacobian' if self.backward.jacobian else 'grad'} {self.calculation.name}"

    @property
    def settled(self) -> dict[str, Any]:
        """Every option: as it was given, where that is as declared, else its default."""
        if not self.options:
            return self.calculation.defaults
        from attncalc.options import checked  # many calls give none

        return self.calculation.defaults | checked(self.calculation, self.options)


LARGE = 2**25
"""So many entries of all primitives make a run large: its steps are no longer all kept."""


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
        from attncalc.expansion import expanded

        written = written._replace(asides=(*written.asides, *expanded(written.roots)))
    try:
        if written.loop is not None:
            from attncalc.loops import turns  # few calculations are loops

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
        from attncalc.large import run as large  # few runs are

        if kind != "object" and rounding is None and not compared and (asked is not None or not keep_all):
            kept = large.evaluated(written, kind, problem.name, asked)
            return _recorded(
                written,
                {node: large.recorded(node, kept, written.values, labels_of(node), kind) for node in named},
                _notes(problem, written, kept) if asked is None else (),
            )
        large.must_fit_whole(written, kind, f"{problem.name} with every step kept")
    values = {node: written.known[node.key] for node in named if node.key in written.known}
    values |= evaluate(
        written.roots, written.values, dtype=kind, given=written.known, after_step=after_step(kind, rounding)
    )
    drift: dict[Node, float] = {}
    if rounding is not None and kind != "object":
        from attncalc.digits import farthest  # few calls round

        full = evaluate(written.roots, written.values, dtype=kind)
        drift = {node: farthest(values[node], full[node]) for node in named}
    checks: dict[Node, Check] = {}
    if compared:
        from attncalc.backward import gradchecks  # few calls ask for them

        checks = gradchecks(written)
    recorded = {
        node: record(node, values, written.values, labels_of(node), drift.get(node), checks.get(node)) for node in named
    }
    return _recorded(written, recorded, _notes(problem, written, values))


def is_large(written: Written) -> bool:
    """Whether the values of all nodes together are worth a thought of the memory that they take."""
    entries = (math.prod(node.shape) for node in walk(*written.roots) if node.op != "input")
    return sum(entries) >= LARGE


def _recorded(written: Written, recorded: Mapping[Node, Step], notes: tuple[str, ...]) -> Recorded:
    return Recorded(
        tuple(step for node, step in recorded.items() if node.args["shown"]),
        tuple(_as_given(recorded[node], written) for node in written.outputs),
        notes,
    )


def _as_given(output: Step, written: Written) -> Step:
    """An output with the axes that its reader knows: without the row that a vector stood for, with those of size 1."""
    bound = written.bound
    if not bound.broadcast and not bound.dropped:
        return output
    from attncalc.outputs import drop, spread_again  # most operands are given as they are declared

    broadcast = bound.broadcast.get(output.gradient_of or "")
    return spread_again(output, broadcast) if broadcast else drop(output, bound.dropped)


def _notes(problem: Problem, written: Written, values: Mapping[Node, Array]) -> tuple[str, ...]:
    """What is to be said of a gradient; of a result there is nothing."""
    if problem.backward is None:
        return ()
    from attncalc.backward import flat

    return flat(problem, written, values)


def _exactly(problem: Problem) -> Problem:
    from attncalc import exact  # SymPy comes in here, and only here

    return problem._replace(inputs={name: exact.exact(g) for name, g in problem.inputs.items()})


def _round(value: Array, decimals: int) -> Array:
    from attncalc.digits import round_half_up  # few calls round

    return round_half_up(value, decimals) if value.dtype.kind == "f" else value
