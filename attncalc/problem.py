"""A calculation with its operands and options: it writes the graph, evaluates it, and records the Trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc import notation
from attncalc.calculation import Calculation
from attncalc.errors import NotExact, OptionError
from attncalc.evaluate import evaluate
from attncalc.graph import Node, gradient_symbol, steps, walk
from attncalc.numbers import round_half_up
from attncalc.ops.kernels import has_letters
from attncalc.options import checked
from attncalc.recording import Recorded, drop, farthest, must_be_finite, record
from attncalc.text import both, either, visible
from attncalc.trace import NOTHING, Check, Given, Step, Trace
from attncalc.writing import UPSTREAM, Written, after_step, kind_of, upstream_operand, write

Array = NDArray[Any]
Rounding = Callable[[Array], Array]


class Backward(NamedTuple):
    """What a backward pass is asked for: gradients of these operands (none named: of all), checked or not."""

    wrt: tuple[str, ...] = ()
    gradcheck: bool = False
    jacobian: bool = False  # one gradient for each entry of the result, instead of one of their sum


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


def solve_call(calculation: Calculation, operands: Sequence[Any], named: Mapping[str, Any]) -> Trace:
    """A call from Python: operands by position or by name, options by name, and `dtype` and `round_to`."""
    from attncalc.inputs import to_given  # reading is needed here only, and never by the command line's own path

    positional = [operand.name for operand in calculation.operands if operand.positional]
    if len(operands) > len(positional):
        raise OptionError(
            f"{calculation.name} takes {len(positional)} operands by position ({', '.join(positional)}), "
            f"and {len(operands)} were given"
        )
    by_name = dict(zip(positional, operands, strict=False))
    twice = [name for name in named if name in by_name]
    if twice:
        raise OptionError(f"{calculation.name} was given {both(twice)} twice, by position and by name")
    settings = {name: check(named[name]) for name, check in _SETTINGS.items() if name in named}
    given = by_name | {name: value for name, value in named.items() if name not in settings}
    if isinstance(given.get("weights"), Mapping) and calculation.operand("weights") is None:
        given = dict(given.pop("weights")) | given
    for operand in calculation.operands:
        if operand.kind == "model" and given.get(operand.name) is not None:
            from attncalc.inputs.models import from_model  # one calculation has a model

            given = from_model(given.pop(operand.name), calculation) | given
    arrays = {name: value for name, value in given.items() if (o := calculation.operand(name)) and not o.means(value)}
    options = {name: value for name, value in given.items() if name not in arrays}
    inputs = {}
    for operand in calculation.operands_in(arrays):
        if arrays.get(operand.name) is not None:
            inputs[operand.name] = to_given(arrays[operand.name], operand)
    return solve(Problem(calculation, inputs, options), **settings)


def _known_dtype(dtype: Any) -> str:
    """`float32` or `float64`, however it was said."""
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = str(dtype)
    if name not in DTYPES:
        raise OptionError(f"dtype must be {either(DTYPES)}, and not {visible(name, 80)}")
    return name


def _decimals(decimals: Any) -> int | None:
    """A number of decimals, or None for no rounding."""
    if decimals is None:
        return None
    if isinstance(decimals, bool) or not isinstance(decimals, int | np.integer) or decimals < 0:
        said = visible(repr(decimals), 80)
        raise OptionError(f"round_to must be a whole number of decimals, 0 or more, and not {said}")
    return int(decimals)


DTYPES = ("float32", "float64")
LARGE = 2**25
"""So many entries of all primitives make a run large: its steps are no longer all kept."""
_SETTINGS: dict[str, Callable[[Any], Any]] = {"dtype": _known_dtype, "round_to": _decimals}
"""What a call takes beside operands and options, each with its check."""


def backward(problem: Problem, upstream: Any, wrt: tuple[str, ...], *, gradcheck: bool) -> Trace:
    """The backward pass of a problem, from Python."""
    from attncalc.inputs import to_given

    inputs = dict(problem.inputs)
    if upstream is not None:
        inputs[UPSTREAM] = to_given(upstream, upstream_operand())
    return solve(problem._replace(inputs=inputs, backward=Backward(wrt, gradcheck)))


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

            if is_large(written):
                from attncalc.large import run as large

                large.must_fit_whole(written, kind_of(written.values, dtype), f"a turn of {problem.name}")

            recorded = turns.recorded(written, written.loop, dtype, rounding, keep_all=keep_all)
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
        options=problem.calculation.defaults | checked(problem.calculation, problem.options),
        steps=recorded.steps,
        outputs=recorded.outputs,
        notes=(*written.notes, *recorded.notes),
        warnings=recorded.warnings,
        problem=problem,
    )
    if problem.calculation.finish is not None and problem.backward is None:
        trace = problem.calculation.finish(trace)
    overflow = must_be_finite(trace, infinite=problem.calculation.infinite)
    remarks = problem.calculation.remarks
    return trace._replace(warnings=(*trace.warnings, *(remarks(trace) if remarks else ()), *overflow))


def _once(
    problem: Problem, written: Written, dtype: str, rounding: Rounding | None, *, keep_all: bool, asked: str | None
) -> Recorded:
    """Evaluate a graph and record its steps."""
    named = steps(*written.roots)
    kind = kind_of(written.values, dtype)
    compared = problem.backward is not None and problem.backward.gradcheck and not problem.backward.jacobian
    if is_large(written):
        from attncalc.large import run as large  # few runs are

        if kind != "object" and rounding is None and not compared and (asked is not None or not keep_all):
            kept = large.evaluated(written, kind, problem.name, asked)
            return _recorded(
                written,
                {node: large.recorded(node, kept, written.values, written.labels, kind) for node in named},
                _flat(problem, written, kept) if asked is None else (),
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
    checks = _gradchecks(written) if compared else {}
    labels = written.labels
    recorded = {node: record(node, values, written.values, labels, drift.get(node), checks.get(node)) for node in named}
    return _recorded(written, recorded, _flat(problem, written, values))


def is_large(written: Written) -> bool:
    """Whether the values of all nodes together are worth a thought of the memory that they take."""
    entries = (math.prod(axis.size for axis in node.axes) for node in walk(*written.roots) if node.op != "input")
    return sum(entries) >= LARGE


def _recorded(written: Written, recorded: Mapping[Node, Step], notes: tuple[str, ...]) -> Recorded:
    return Recorded(
        tuple(step for node, step in recorded.items() if node.args["shown"]),
        tuple(drop(recorded[node], written.bound.dropped) for node in written.outputs),
        notes,
    )


def _gradchecks(written: Written) -> dict[Node, Check]:
    """Central differences beside each operand's gradient."""
    from attncalc.differences import compare

    if any(has_letters(value) for value in written.values.values()):
        raise NotExact("there are no central differences of letters", hint="give the operands numbers for --gradcheck")
    operands = {
        name: value.astype(np.float64) if value.dtype == object else value for name, value in written.values.items()
    }
    values = evaluate(written.roots, operands)
    by_symbol = {node.args["symbol"]: node for node in written.outputs}
    return {
        gradient: compare(written.result, name, values[gradient], operands, operands[UPSTREAM])
        for name, node in written.operands.items()
        if (gradient := by_symbol.get(gradient_symbol(node))) is not None
    }


def _flat(problem: Problem, written: Written, values: Mapping[Node, Array]) -> tuple[str, ...]:
    """A note where the default upstream meets a result whose rows have a constant sum, so that the gradient is 0."""
    if problem.backward is None or problem.backward.jacobian or UPSTREAM in problem.inputs or not written.result.axes:
        return ()
    result = values[written.result]
    if result.dtype.kind != "f" or result.shape[-1] < 2:
        return ()
    sums = np.sum(result, axis=-1)
    size = max(float(np.max(np.abs(v), initial=0.0)) for v in (values[node] for node in written.outputs))
    if size > 1e-9 or not np.allclose(sums, sums.flat[0]):
        return ()
    constant = sums.flat[0] if abs(sums.flat[0]) > 1e-9 else 0
    rows = f"each row of {notation.symbol(written.result)} sums to {constant:.4g}, whatever the operands are"
    return (f"{rows}; upstream is all ones (the loss is that sum), so every gradient is 0: give --upstream",)


def _exactly(problem: Problem) -> Problem:
    from attncalc import exact  # SymPy comes in here, and only here

    return problem._replace(inputs={name: exact.exact(g) for name, g in problem.inputs.items()})


def _round(value: Array, decimals: int) -> Array:
    return round_half_up(value, decimals) if value.dtype.kind == "f" else value
