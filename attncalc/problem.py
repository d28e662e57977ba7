"""A calculation with its operands and options: it writes the graph, evaluates it, and records the Trace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc import axes as ax
from attncalc import notation
from attncalc.binding import Bound, bind
from attncalc.calculation import Calculation, Operand
from attncalc.differences import compare
from attncalc.errors import DomainError, OptionError, ShapeError
from attncalc.evaluate import evaluate, exactly
from attncalc.gradient import gradients
from attncalc.graph import Node, as_node, building, given, gradient_step, gradient_symbol, identity, steps, walk
from attncalc.numbers import round_half_up
from attncalc.ops import spread
from attncalc.options import checked
from attncalc.recording import drop, farthest, must_be_finite, record
from attncalc.text import both, near
from attncalc.trace import Check, Given, Trace

Array = NDArray[Any]
UPSTREAM = "upstream"


@dataclass(frozen=True)
class Backward:
    """What a backward pass is asked for: gradients of these operands (none named: of all), checked or not."""

    wrt: tuple[str, ...] = ()
    gradcheck: bool = False
    jacobian: bool = False  # one gradient for each entry of the result, instead of one of their sum


@dataclass(frozen=True)
class Problem:
    """What is to be computed, before anything is."""

    calculation: Calculation
    inputs: Mapping[str, Given]
    options: Mapping[str, Any] = field(default_factory=dict)  # the ones that were given; the others have defaults
    backward: Backward | None = None

    @property
    def name(self) -> str:
        """`attention`, or `grad attention` for its backward pass, `jacobian attention` for its Jacobian."""
        if self.backward is None:
            return self.calculation.name
        return f"{'jacobian' if self.backward.jacobian else 'grad'} {self.calculation.name}"


@dataclass(frozen=True)
class Written:
    """A problem's graph, with everything that evaluating and recording it needs."""

    outputs: tuple[Node, ...]  # of the problem: the results, or the gradients
    result: Node  # the calculation's own first output, from which a backward pass starts
    operands: Mapping[str, Node]
    values: Mapping[str, Array]
    bound: Bound
    inputs: Mapping[str, Given]
    notes: tuple[str, ...]
    named: Mapping[str, tuple[str, ...]]  # labels that the calculation itself gives to axes of its making
    asides: tuple[Node, ...]  # steps that are shown although the result does not go through them

    @property
    def roots(self) -> tuple[Node, ...]:
        """What must be evaluated: a backward pass shows the forward steps too, needed or not."""
        return (self.result, *self.outputs, *self.asides)

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Each axis' labels; an axis read under a second name keeps them."""
        labels = {**self.bound.labels, **self.named}
        for node in walk(*self.roots):
            if node.op == "rename" and node.args["old"] in labels:
                labels.setdefault(node.args["new"], labels[node.args["old"]])
        return labels


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
    settings = {name: named[name] for name in ("dtype", "round_to") if name in named}
    arrays = by_name | {name: value for name, value in named.items() if calculation.operand(name)}
    options = {name: value for name, value in named.items() if name not in arrays and name not in settings}
    inputs = {}
    for operand in calculation.operands:
        if arrays.get(operand.name) is not None:
            inputs[operand.name] = to_given(arrays[operand.name], operand)
    return solve(Problem(calculation, inputs, options), **settings)


def backward(problem: Problem, upstream: Any, wrt: tuple[str, ...], *, gradcheck: bool) -> Trace:
    """The backward pass of a problem, from Python."""
    from attncalc.inputs import to_given

    inputs = dict(problem.inputs)
    if upstream is not None:
        inputs[UPSTREAM] = to_given(upstream, upstream_operand())
    return solve(replace(problem, inputs=inputs, backward=Backward(wrt, gradcheck)))


def upstream_operand() -> Operand:
    """The operand that every backward pass has beside the calculation's own: of the result's shape, whatever it is."""
    return Operand(
        name=UPSTREAM,
        symbol=UPSTREAM,
        shapes=((),),
        required=False,
        positional=False,
        kind="real",
        broadcasts=False,
        help="the gradient of the loss with respect to the result; ones where it is not given",
    )


def solve(problem: Problem, *, dtype: str = "float64", round_to: int | None = None) -> Trace:
    """Write the problem's graph, evaluate it and record every step.

    `round_to` rounds each step half up to so many decimals before the next uses it, as one does on paper; each step
    then tells how far it has drifted from the full-precision value.
    """
    written = write(problem, dtype=dtype)
    named = steps(*written.roots)
    values = evaluate(written.roots, written.values, dtype=_kind(written.values, dtype))
    drift: dict[Node, float] = {}
    if round_to is not None:
        full = values
        values = evaluate(written.roots, written.values, dtype=dtype, after_step=partial(_round, decimals=round_to))
        drift = {node: farthest(values[node], full[node]) for node in named}
    checks = (
        _gradchecks(written) if problem.backward and problem.backward.gradcheck and UPSTREAM in written.values else {}
    )
    labels = written.labels
    recorded = {node: record(node, values, written.values, labels, drift.get(node), checks.get(node)) for node in named}
    trace = Trace(
        calculation=problem.name,
        summary=problem.calculation.summary,
        inputs=written.inputs,
        options=problem.calculation.defaults | dict(problem.options),
        steps=tuple(step for node, step in recorded.items() if node.args["shown"]),
        outputs=tuple(drop(recorded[node], written.bound.dropped) for node in written.outputs),
        notes=(*written.notes, *_flat(problem, written, values)),
        problem=problem,
    )
    overflow = must_be_finite(trace, infinite=problem.calculation.infinite)
    remarks = problem.calculation.remarks
    return replace(trace, warnings=(*(remarks(trace) if remarks else ()), *overflow))


def write(problem: Problem, *, dtype: str = "float64") -> Written:
    """The problem's graph, its operands' axes bound; errors name operands, files and the likely mend."""
    calculation = problem.calculation
    options = calculation.defaults | checked(calculation, problem.options)
    _must_be_there(problem)
    try:
        return _write(problem, problem.inputs, options, dtype)
    except ShapeError as error:
        raise _explained(error, problem, options, dtype) from None


def _write(problem: Problem, inputs: Mapping[str, Given], options: dict[str, Any], dtype: str) -> Written:
    calculation = problem.calculation
    with building() as said:
        bound = bind(calculation, {name: g for name, g in inputs.items() if name != UPSTREAM}, options)
        nodes = {
            o.name: given(o.name, bound.axes[o.name], o.symbol, boolean=bound.inputs[o.name].value.dtype == bool)
            for o in calculation.operands
            if o.name in bound.inputs
        }
        if calculation.check:
            calculation.check({name: g.value for name, g in bound.inputs.items()})
        made = calculation.graph(**{o.symbol: nodes.get(o.name) for o in calculation.operands}, **options)
        outputs = made if isinstance(made, tuple) else (made,)
        values = {name: g.value for name, g in bound.inputs.items()}
        read = {name: _named(g, nodes[name]) for name, g in bound.inputs.items()}
        result = outputs[0]
        if problem.backward and problem.backward.jacobian:
            outputs = _jacobian(problem.backward, calculation, result, nodes)
        elif problem.backward:
            read[UPSTREAM] = _upstream(inputs.get(UPSTREAM), result, bound.dropped)
            values[UPSTREAM] = read[UPSTREAM].value
            outputs = _backward(problem.backward, calculation, result, nodes)
    kind = _kind(values, dtype)
    arrays = {name: _as_kind(value, kind) for name, value in values.items()}
    return Written(outputs, result, nodes, arrays, bound, read, tuple(said.notes), said.labels, tuple(said.asides))


def _named(g: Given, node: Node) -> Given:
    """The operand with the symbol by which formulas speak of it."""
    return replace(g, symbol=notation.symbol(node), symbol_latex=notation.symbol(node, "latex"))


def _backward(
    backward: Backward, calculation: Calculation, result: Node, nodes: Mapping[str, Node]
) -> tuple[Node, ...]:
    """The gradient of every operand that is asked for and can have one."""
    wrt = _differentiable(backward, calculation, nodes)
    upstream = given(UPSTREAM, result.axes)
    found = gradients(result, upstream, wrt)
    return tuple(
        found[node] if node in found else gradient_step(node, spread(as_node(0), node.axes), "the result ignores it")
        for node in wrt
    )


def _jacobian(
    backward: Backward, calculation: Calculation, result: Node, nodes: Mapping[str, Node]
) -> tuple[Node, ...]:
    """How every entry of the result moves with every entry of an operand: the backward pass, once for each of them."""
    wrt = _differentiable(backward, calculation, nodes)
    for node in wrt:
        entries = _count(result.axes) * _count(node.axes)
        if entries > LARGEST_JACOBIAN:
            raise ShapeError(
                f"the Jacobian of {notation.symbol(result)} ({ax.describe(result.axes)}) with respect to "
                f"{notation.symbol(node)} ({ax.describe(node.axes)}) would have {entries:,} entries, and the limit is "
                f"{LARGEST_JACOBIAN:,}",
                hint="grad gives the product of an upstream gradient with it, at any size",
            )
    found = gradients(result, identity(result.axes), wrt, of=notation.symbol(result))
    return tuple(found[node] for node in wrt if node in found)


LARGEST_JACOBIAN = 1_000_000


def _count(axes: ax.Axes) -> int:
    return math.prod(axis.size for axis in axes)


def _differentiable(backward: Backward, calculation: Calculation, nodes: Mapping[str, Node]) -> list[Node]:
    """The operands that are asked for (none named: all), if they can have a gradient."""
    smooth = [o.name for o in calculation.operands if o.name in nodes and o.kind in ("real", "logits")]
    for name in backward.wrt:
        if name not in smooth:
            raise OptionError(
                f"there is no gradient with respect to {name!r}: {calculation.name} was given {both(smooth)}",
                hint=near(name, smooth),
            )
    return [nodes[name] for name in (backward.wrt or smooth)]


def _upstream(upstream: Given | None, result: Node, dropped: frozenset[str]) -> Given:
    """The gradient of the loss with respect to the result: as given, or ones, for a loss that is the sum."""
    shape = tuple(axis.size for axis in result.axes)
    if upstream is None:
        return Given(np.ones(shape), "ones: the loss is the sum of the result", axes=result.names)
    value = upstream.value
    if value.shape != shape:
        if value.shape != tuple(axis.size for axis in result.axes if axis.name not in dropped):
            raise ShapeError(
                f"upstream is {'×'.join(map(str, value.shape)) or 'a single number'}, "
                f"and the result that it belongs to is {ax.describe(result.axes)}"
            )
        value = value.reshape(shape)
    return replace(upstream, value=value, axes=result.names)


def _gradchecks(written: Written) -> dict[Node, Check]:
    """Central differences beside each operand's gradient."""
    values = evaluate(written.roots, written.values)
    by_symbol = {node.args["symbol"]: node for node in written.outputs}
    return {
        gradient: compare(written.result, name, values[gradient], written.values, written.values[UPSTREAM])
        for name, node in written.operands.items()
        if (gradient := by_symbol.get(gradient_symbol(node))) is not None
    }


def _flat(problem: Problem, written: Written, values: Mapping[Node, Array]) -> tuple[str, ...]:
    """A note where the default upstream meets a result whose rows have a constant sum, so that the gradient is 0."""
    if problem.backward is None or problem.backward.jacobian or UPSTREAM in problem.inputs or not written.result.axes:
        return ()
    result = values[written.result]
    sums = np.sum(result, axis=-1)
    size = max(float(np.max(np.abs(v), initial=0.0)) for v in (values[node] for node in written.outputs))
    if result.shape[-1] < 2 or result.dtype == object or size > 1e-9 or not np.allclose(sums, sums.flat[0]):
        return ()
    rows = f"each row of {notation.symbol(written.result)} sums to {sums.flat[0]:.4g}, whatever the operands are"
    return (f"{rows}; upstream is all ones (the loss is that sum), so every gradient is 0: give --upstream",)


def _must_be_there(problem: Problem) -> None:
    """Every operand known, every required one given."""
    calculation = problem.calculation
    names = [operand.name for operand in calculation.operands]
    for name in problem.inputs:
        if name not in names and not (name == UPSTREAM and problem.backward):
            raise OptionError(f"{calculation.name} has no operand {name!r}", hint=near(name, names))
    missing = [o.name for o in calculation.operands if o.required and o.name not in problem.inputs]
    if missing:
        needed = both(o.name for o in calculation.operands if o.required)
        raise OptionError(f"{problem.name} needs {needed}, and {both(missing)} {_is(missing)} missing")


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _explained(error: ShapeError, problem: Problem, options: dict[str, Any], dtype: str) -> ShapeError:
    """The error with the files that its operands came from, and whether transposing one of them would mend it."""
    sources = [f"{name} is {g.source}" for name, g in problem.inputs.items() if g.source]
    message = f"{error.message} ({', '.join(sources)})" if sources else error.message
    if error.hint:
        return ShapeError(message, hint=error.hint)
    for name, g in problem.inputs.items():
        if g.value.ndim >= 2:
            turned = replace(g, value=np.swapaxes(g.value, -1, -2), labels={}, written=None)
            try:
                _write(problem, {**problem.inputs, name: turned}, options, dtype)
            except (ShapeError, DomainError, OptionError):
                continue
            return ShapeError(message, hint=f"is {g.source or name} transposed? --transpose {name} turns it round")
    return ShapeError(message)


def _kind(values: Mapping[str, Array], dtype: str) -> str:
    """Exact as soon as one operand is."""
    return "object" if any(value.dtype == object for value in values.values()) else dtype


def _as_kind(value: Array, kind: str) -> Array:
    if value.dtype in (bool, object):
        return value
    return exactly(value) if kind == "object" else value.astype(kind)


def _round(value: Array, decimals: int) -> Array:
    return round_half_up(value, decimals) if value.dtype.kind == "f" else value
