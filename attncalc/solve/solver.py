"""Solves a problem: writes and evaluates its graph, records its Trace, and keeps the graph behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import DomainError, NoGradient, NotExact, OptionError, ShapeError, are, both, place_text
from attncalc.common.numerals import ACCUMULATED, NARROW, Array
from attncalc.declare.calculation import Calculation, Measured
from attncalc.declare.operands import UPSTREAM, Operand, layer_of
from attncalc.evaluate.values import Machine, Rounding, evaluate, told_apart
from attncalc.language import primitive
from attncalc.language.graph import Expression, Node, Number, building, expanded, given, note, steps
from attncalc.language.kernels import has_letters, number
from attncalc.record.numbers import farthest, round_half_up
from attncalc.record.trace import NOTHING, TAKEN, Check, Given, Mode, Step, Trace
from attncalc.solve.problem import Bound, Problem, Written, after_step, as_kind, bind, is_large, kind_of
from attncalc.solve.recording import Behind, Kept, Recorded, drop, record, spread_again

if TYPE_CHECKING:  # few calculations are loops, and few runs use narrow types
    from attncalc.evaluate.loops import Loop
    from attncalc.evaluate.precisions import Narrow

# From a problem to its graph: bind operands to axes, write the calculation, then the backward pass.


def write(problem: Problem, *, dtype: str = "float64", rounding: Rounding | None = None) -> Written:
    """The problem's graph, with its operands' axes bound; errors name operands and files, and have hints.

    If values decide how far the graph grows, `rounding` is applied to the values of its steps.
    """
    options = problem.settled
    there = problem.inputs.keys() - ({UPSTREAM.name} if problem.backward else set())
    known = {operand.name for operand in problem.calculation.operands_in(problem.inputs)}
    if not {operand.name for operand in problem.calculation.operands if operand.required} <= there <= known:
        from attncalc.solve.faults import unlike_declared  # a door: most problems can be written

        raise unlike_declared(problem)
    try:
        return _write(problem, problem.inputs, options, dtype, rounding)
    except ShapeError as error:
        from attncalc.solve.faults import explained  # a door: as above

        raise explained(error, problem, lambda inputs: _write(problem, inputs, options, dtype)) from None


def _write(
    problem: Problem,
    inputs: Mapping[str, Given],
    options: dict[str, Any],
    dtype: str,
    rounding: Rounding | None = None,
) -> Written:
    calculation = problem.calculation
    with building() as said:
        bound = bind(calculation, {name: g for name, g in inputs.items() if name != UPSTREAM.name}, options)
        said.known.update(bound.labels)
        arrays, formulas = _told_apart(calculation, bound.inputs)
        said.exact = kind_of(arrays, dtype) == "object"
        said.lettered = has_letters(*arrays.values())
        nodes = _nodes(calculation, arrays, bound)
        if calculation.check:
            few = {name: _wide(g.value) for name, g in bound.inputs.items() if not g.is_stored}
            settled = calculation.check(options | few)
            options = options | dict(settled or {})
        for text in calculation.idle(options, inputs):
            note(text)
        made = calculation.graph(**_arguments(calculation, nodes, options), **formulas)
        _, machine = told_apart(rounding)
        values = arrays | {name: _letter(name, value, dtype) for name, value in said.letters.items()}
        kind = kind_of(values, dtype)
        stored = partial(_stored, machine, _numbers(calculation, arrays)) if machine else None
        known: Mapping[tuple[str, str], Array] = {}
        if not isinstance(made, (Node, tuple)):
            from attncalc.evaluate import loops  # few calculations are loops

            if isinstance(made, loops.Growth):
                rounded = after_step(kind, rounding)
                first = _in_kind(values, kind, bound.inputs, stored)
                made, known = loops.grown(made, first, dtype=kind, after_step=rounded)
        outputs, loop = _returned(made, problem)
        read = {name: _named(g, nodes[name]) if name in nodes else g for name, g in bound.inputs.items()}
        for name, text in said.taken:
            if name in read:
                read[name] = read[name].noted(TAKEN, text)
        result = outputs[0]
        if problem.backward:
            from attncalc.solve import backward  # most problems have none

            if problem.backward.jacobian:
                outputs = backward.jacobian(problem.backward, calculation, result, nodes, options)
            else:
                upstream = backward.upstream_of(inputs.get(UPSTREAM.name), result, bound.dropped)
                read[UPSTREAM.name], values[UPSTREAM.name] = upstream, upstream.value
                outputs = backward.backward_pass(problem.backward, calculation, result, nodes)
    return Written(
        outputs=outputs,
        result=result,
        operands=nodes,
        values=_in_kind(values, kind, bound.inputs, stored),
        kind=kind,
        precise=_in_kind(values, "float64", bound.inputs, None) if stored else {},
        bound=bound,
        inputs=read,
        notes=tuple(said.notes),
        named=said.labels,
        asides=tuple(said.asides),
        loop=loop,
        known=known,
    )


def _stored(machine: Machine, numbers: Collection[str], name: str, value: Array) -> Array:
    """An operand's value as a machine of few digits stores it, if it is one of the numbers.

    Raise DomainError if it overflows.
    """
    if name not in numbers:
        return value
    found = machine.held(value)
    lost = np.argwhere(np.isfinite(value) & ~np.isfinite(found) & ~np.isneginf(found))
    if len(lost):
        there = name + place_text(lost[0])
        raise DomainError(f"{there} = {value[tuple(lost[0])]:g} overflows: {machine.limit}")
    return found


def _numbers(calculation: Calculation, arrays: Mapping[str, Array]) -> set[str]:
    """The operands that are numbers, not ids or classes."""
    found = {UPSTREAM.name}
    for operand in calculation.operands_in(arrays):
        classes = operand.kind == "data" and operand.name in arrays and not np.mod(arrays[operand.name], 1).any()
        if operand.kind in ("real", "logits", "mask", "data") and not classes:
            found.add(operand.name)
    return found


_Stored = Callable[[str, Array], Array]
"""(operand, value) → the value as a machine of few digits stores it."""


def _in_kind(
    values: Mapping[str, Array], kind: str, inputs: Mapping[str, Given], stored: _Stored | None
) -> Mapping[str, Array]:
    """The operands' values as that kind of number; those of a checkpoint are converted at each use, and not kept."""
    found = _Widened(values, kind, stored)
    return found if any(g.is_stored for g in inputs.values()) else dict(found)


class _Widened(Mapping[str, Array]):
    """Arrays converted to another kind of number at each use, since all of a checkpoint might not fit in memory."""

    def __init__(self, arrays: Mapping[str, Array], kind: str, stored: _Stored | None) -> None:
        self.arrays, self.kind, self.stored = arrays, kind, stored

    def __getitem__(self, name: str) -> Array:
        value = as_kind(self.arrays[name], self.kind)
        return self.stored(name, value) if self.stored else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)


def _nodes(calculation: Calculation, arrays: Mapping[str, Array], bound: Bound) -> dict[str, Node]:
    """Operand → its node, with which a graph begins."""
    return {
        o.name: given(o.name, bound.axes[o.name], o.symbol, boolean=arrays[o.name].dtype == bool)
        for o in calculation.operands_in(arrays)
        if o.name in arrays
    }


def _returned(
    made: Node | tuple[Node, ...] | Measured | Loop, problem: Problem
) -> tuple[tuple[Node, ...], Loop | None]:
    """The outputs that a calculation returns, or the loss for a backward pass; and the loop, if it is one."""
    if isinstance(made, Node):
        return (made,), None
    if isinstance(made, Measured):
        return _measured(made, problem), None
    if isinstance(made, tuple):
        return made, None
    if problem.backward is None:
        return made.results, made
    if made.loss is None:
        name = problem.calculation.name
        raise NoGradient(f"{name} is a loop whose turns depend on values: it has no gradient")
    note(f"the loss is that of the first {made.turn}, before any update")
    return (made.loss,), None


def _measured(made: Measured, problem: Problem) -> tuple[Node, ...]:
    """The results, or for a backward pass the loss from which it starts."""
    if problem.backward is None:
        return made.outputs
    if made.loss is None:
        raise NoGradient(f"{problem.calculation.name} has no loss here to start from", hint="--targets gives one")
    return (made.loss,)


def _told_apart(
    calculation: Calculation, inputs: Mapping[str, Given]
) -> tuple[dict[str, Array], dict[str, Expression]]:
    """The arrays among the operands by name, and the formulas by the parameters that take them."""
    formulas = {o.name: o.symbol for o in calculation.operands if o.kind == "expression"}
    held = [o.name for o in calculation.operands if o.kind == "checkpoint"]
    arrays = {name: g.value for name, g in inputs.items() if name not in formulas and name not in held}
    if not formulas:
        return arrays, {}
    from attncalc.language.expression import parse  # a door: few calculations have a formula among their operands

    return arrays, {formulas[name]: parse(str(inputs[name].value)) for name in formulas if name in inputs}


def _letter(name: str, value: Number | None, dtype: str) -> Array:
    """The value of a single number that an option gives, or a letter if it gives none."""
    if value is not None:
        return number(value, np.dtype(dtype))
    from attncalc.evaluate import exact  # SymPy comes in here, and only here

    return exact.letters(name, ()).value


def _arguments(calculation: Calculation, nodes: Mapping[str, Node], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a calculation's function: operands, or words that stand for them, by symbol; and options."""
    spoken = {o.name: options[o.name] for o in calculation.operands if options.get(o.name) is not None}
    for name, word in spoken.items():
        if name in nodes:
            raise OptionError(f"{name} is given twice: as an array, and as {word}")
    families, layers = calculation.declaration.families, calculation.declaration.layers
    held = {name for family in families.values() for name in family}
    arrays: dict[str, Any] = {
        o.symbol: nodes.get(o.name, spoken.get(o.name))
        for o in calculation.operands
        if o.kind != "expression" and o.name not in held
    }
    arrays |= {parameter: {n: nodes.get(n) for n in family} for parameter, family in families.items()}
    arrays |= {stack: tuple(_layers(stack, layer, nodes)) for stack, layer in layers.items()}
    return arrays | {name: value for name, value in options.items() if calculation.operand(name) is None}


def _layers(stack: str, layer: Sequence[Operand], nodes: Mapping[str, Node]) -> Iterator[dict[str, Node | None]]:
    """The weights of each layer of a stack, in order; a part without a number counts as one layer."""
    found = {number: n.removesuffix(f"/{name}") for n in nodes for of, number, name in [layer_of(n)] if of == stack}
    numbers = [number for number in found if number is not None]
    if numbers:
        front = found[numbers[0]].rpartition(" ")[0]
        found = {i: f"{front} {i}" for i in range(min(1, *numbers, 1), max(numbers) + 1)}
    for part in found.values():
        missing = [o.name for o in layer if o.required and f"{part}/{o.name}" not in nodes]
        if missing:
            raise OptionError(f"{part} needs {both(missing)}, which {are(missing)} missing")
        yield {o.name: nodes.get(f"{part}/{o.name}") for o in layer}


def _named(g: Given, node: Node) -> Given:
    """The operand with its symbol in formulas."""
    return g._replace(symbol=primitive.symbol(node), symbol_latex=primitive.symbol(node, "latex"))


def _wide(value: Array) -> Array:
    """The value for a calculation's own checks, in which squares of float32 numbers might vanish or overflow."""
    return value.astype(np.float64) if value.dtype == np.float32 else value


def _must_be_finite(trace: Trace, roots: Iterable[Node], narrow: Narrow | None, *, infinite: bool) -> tuple[str, ...]:
    """Raise DomainError for results that overflow, are undefined or rest on lost digits; return warnings on steps."""
    values = (step.value for step in (*trace.steps, *trace.outputs))
    if all(value is None or value.dtype.kind not in "fO" or _is_ordinary(value) for value in values):
        return ()
    from attncalc.solve import overflow  # a door: most values are ordinary

    return overflow.told(trace, roots, lambda step: behind(trace).kept_around(step), narrow, infinite=infinite)


def _is_ordinary(value: Array) -> bool:
    if value.dtype.kind != "f" or not np.isfinite(value).all():
        return False
    tiny = np.finfo(value.dtype).tiny
    return not ((value < tiny) & (value > -tiny) & (value != 0)).any()  # comparisons need less memory for a large step


@np.errstate(all="ignore")  # overflow and undefined values are reported in our own words
def solve(
    problem: Problem,
    *,
    dtype: str = "float64",
    accumulate: str = ACCUMULATED[0],
    round_to: int | None = None,
    exact: bool = False,
    expand: bool = False,
    keep_all: bool = False,
    asked: str | None = None,
) -> Trace:
    """Write the problem's graph, evaluate it and record every step.

    `round_to` rounds each step half up to so many decimals before the next uses it, as on paper. If `dtype` is a narrow
    type, the result of every primitive is rounded to it, and `accumulate` is the type in which sums are accumulated. In
    both cases each step records how far it has drifted from the full-precision value. `exact` computes with fractions
    and surds, taking each operand exactly as it was written; operands of letters are exact anyway. `expand` shows the
    definition of each primitive in a step as sub-steps. `keep_all` keeps every turn of a loop, not only the first and
    the last ones, and every step of a large run, whatever memory that takes. `asked` names the one step or output that
    will be read ("" for the result), so that a large run need keep no other.
    """
    if exact:
        problem, dtype = _exactly(problem), "object"
    narrow = machine(dtype, accumulate)
    rounding = narrow if round_to is None else partial(_round, decimals=round_to)
    written = write(problem, dtype=narrow.kind if narrow else dtype, rounding=rounding)
    if expand:
        written = written._replace(asides=(*written.asides, *expanded(written.roots)))
    try:
        if written.loop is not None:
            from attncalc.solve import turns  # few calculations are loops

            recorded = turns.recorded(problem.name, written, written.loop, rounding, keep_all=keep_all)
        else:
            recorded = _once(problem, written, rounding, keep_all=keep_all, asked=asked)
    except TypeError as error:
        if not any(words in str(error) for words in ("truth value of Relational", "expression to float")):
            raise  # these are SymPy's messages when letters are compared or sorted
        raise NotExact("which is the larger of two letters is not known", hint="give them numbers") from None
    trace = Trace(
        calculation=problem.name,
        summary=problem.calculation.summary,
        inputs=written.inputs,
        options=problem.recorded,
        steps=recorded.steps,
        outputs=recorded.outputs,
        notes=(*written.notes, *recorded.notes, *([narrow.said] if narrow else [])),
        warnings=recorded.warnings,
        problem=problem,
        mode=Mode(dtype, accumulate, round_to, expand, keep_all, asked),
        behind=recorded.behind,
    )
    if problem.calculation.finish is not None and problem.backward is None:
        trace = problem.calculation.finish(trace)
    faults = _must_be_finite(trace, written.roots, narrow, infinite=problem.calculation.infinite)
    remarks = problem.calculation.remarks
    return trace._replace(warnings=(*trace.warnings, *(remarks(trace) if remarks else ()), *faults))


def _once(
    problem: Problem, written: Written, rounding: Rounding | None, *, keep_all: bool, asked: str | None
) -> Recorded:
    """Evaluate a graph and record its steps."""
    named = steps(*written.roots)
    kind = written.kind
    labels_of = written.labels_of()
    compared = problem.backward is not None and problem.backward.gradcheck and not problem.backward.jacobian
    if is_large(written):
        from attncalc.solve import large  # few runs are

        if kind != "object" and rounding is None and not compared and (asked is not None or not keep_all):
            kept = large.evaluated(written, kind, problem.name, asked)
            return _recorded(
                written,
                {node: record(node, kept.get(node), labels_of(node)) for node in named},
                _beside(problem, written, kept)[1] if asked is None else (),
                Kept(named, kept, written.values, kind),
            )
        large.must_fit_whole(written, kind, f"{problem.name} with every step kept")
    elif any(g.is_stored for g in written.inputs.values()):
        from attncalc.solve import large  # a small run may need a large table of embeddings

        large.must_fit_stored(written, kind, problem.name)
    values = {node: written.known[node.key] for node in named if node.key in written.known}
    unsure: set[Node] = set()
    rounded = after_step(kind, rounding)
    values |= evaluate(
        written.roots,
        written.values,
        dtype=kind,
        given=written.known,
        after_step=rounded,
        unsure=unsure,
        counted=True,
    )
    drift: dict[Node, float] = {}
    if rounding is not None and kind != "object":
        full = evaluate(written.roots, written.precise or written.values, dtype="float64" if written.precise else kind)
        drift = {node: farthest(values[node], full[node]) for node in named}
    checks, notes = _beside(problem, written, values, compared=compared)
    recorded = {node: record(node, values[node], labels_of(node), drift.get(node), checks.get(node)) for node in named}
    behind = Kept(named, values, written.values, rounded=rounding is not None)
    found = _recorded(written, recorded, notes, behind)
    if not unsure:
        return found
    from attncalc.solve.leftovers import digits_left  # a door: formulas hardly ever lose digits for good

    return found._replace(warnings=digits_left(written.outputs, values, written.values))


def _recorded(written: Written, recorded: Mapping[Node, Step], notes: tuple[str, ...], behind: Kept) -> Recorded:
    return Recorded(
        tuple(step for node, step in recorded.items() if node.args["shown"]),
        tuple(_as_given(recorded[node], written) for node in written.outputs),
        notes,
        behind,
    )


def _as_given(output: Step, written: Written) -> Step:
    """An output with the axes of the operands as given: without the row axis of a vector, with axes of size 1."""
    bound = written.bound
    name = output.gradient_of or ""
    if name in bound.broadcast:
        return spread_again(output, bound.axes[name], bound.broadcast[name])
    return drop(output, bound.dropped)


def _beside(
    problem: Problem, written: Written, values: Mapping[Node, Array], *, compared: bool = False
) -> tuple[dict[Node, Check], tuple[str, ...]]:
    """The comparison of gradients with central differences, if `compared`, and notes on the gradients."""
    if problem.backward is None:
        return {}, ()
    from attncalc.solve import backward  # a door: most problems have no backward pass

    notes = (*backward.flat(problem, written, values), *backward.steep(written, values))
    return backward.gradchecks(written) if compared else {}, notes


def _exactly(problem: Problem) -> Problem:
    from attncalc.evaluate import exact  # SymPy comes in here, and only here

    return problem._replace(inputs={name: exact.exact(g) for name, g in problem.inputs.items()})


def machine(dtype: str, accumulate: str = ACCUMULATED[0]) -> Narrow | None:
    """The machine that works in a narrow type; None for a type that NumPy computes in."""
    if dtype not in NARROW:
        return None
    from attncalc.evaluate.precisions import Narrow  # a door: few runs use narrow types

    return Narrow(dtype, accumulate)


def _round(value: Array, decimals: int) -> Array:
    return round_half_up(value, decimals) if value.dtype.kind == "f" else value


# The graph behind a trace, for the questions of asking.py.
#
# It is kept as long as the trace lives. If it is missing, because the trace comes from a cache or from another process,
# the trace's problem is solved again in the same way.


NO_GRAPH = Behind(Kept((), NOTHING, NOTHING))


def behind(trace: Trace) -> Behind:
    """The graph behind a trace; an empty one if the trace has no problem."""
    found = trace.behind
    if found is None and isinstance(trace.problem, Problem):
        found = solve(trace.problem, **trace.mode._asdict()).behind
    if isinstance(found, Kept):
        found = _made_of(found)
    if not isinstance(found, Behind):
        return NO_GRAPH
    object.__setattr__(trace, "behind", found)
    return found


def _made_of(kept: Kept) -> Behind:
    if kept.loop is not None:
        from attncalc.solve.turns import TurnsBehind  # a door: few calculations are loops

        return TurnsBehind(kept, kept.loop)
    if not kept.kind:
        return Behind(kept)
    from attncalc.solve.large import LargeBehind  # a door: few runs are large

    return LargeBehind(kept)
