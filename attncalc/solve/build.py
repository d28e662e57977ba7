"""A problem → its graph: operands bound to axes, the calculation written over them, the backward pass behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import (
    AttncalcError,
    DomainError,
    NoGradient,
    OptionError,
    ShapeError,
    are,
    both,
    example_of,
    near,
    place_text,
)
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import Calculation, Measured
from attncalc.declare.operands import UPSTREAM, Operand, layer_of
from attncalc.evaluate.values import Machine, Rounding, told_apart
from attncalc.language import primitive
from attncalc.language.graph import Expression, Node, Number, building, given, note
from attncalc.language.kernels import has_letters, number
from attncalc.record.trace import Given
from attncalc.solve.problem import Bound, Problem, Written, after_step, as_kind, bind, kind_of

if TYPE_CHECKING:  # few calculations have turns
    from attncalc.evaluate.loops import Loop

# Why a problem cannot be written as a graph: operands missing or unknown, shapes that clash; and the likely mend.


def unlike_declared(problem: Problem) -> OptionError:
    """The error for an operand that the calculation has not, or for those that it needs and has not been given."""
    calculation = problem.calculation
    names = [operand.name for operand in calculation.operands_in(problem.inputs)]
    for name in problem.inputs:
        if name not in names and not (name == UPSTREAM.name and problem.backward):
            return OptionError(f"{calculation.name} has no operand {name!r}", hint=near(name, names))
    needed = [o.name for o in calculation.operands if o.required]
    missing = [name for name in needed if name not in problem.inputs]
    hint = "" if problem.inputs else example_of(problem.name)
    if calculation.declaration.families:
        hint = "--weights FILE may hold them by their names"
    tables = {file for g in problem.inputs.values() for file, mark, _ in [g.source.partition("#")] if mark}
    if len(tables) == len(missing) == 1 and (o := calculation.operand(missing[0])) and len(o.shapes[0]) == 2:
        [table] = tables
        hint = (
            f"--{o.name} {table} gives {o.help}" if o.named else f"{table} holds none by a name that is known: {o.help}"
        )
    return OptionError(f"{problem.name} needs {both(needed)}, but {both(missing)} {are(missing)} missing", hint=hint)


def explained(error: ShapeError, problem: Problem, write: Callable[[dict[str, Given]], Any]) -> ShapeError:
    """The error with the files that its operands came from, and whether transposing one of them would mend it.

    That is tried: `write` makes the problem's graph of other operands, or raises what stands against it.
    """
    files = dict.fromkeys(g.source.partition("#")[0] for g in problem.inputs.values() if g.source)
    message = f"{error.message} ({_whence(problem.inputs, list(files))})" if files else error.message
    if error.hint:
        return ShapeError(message, hint=error.hint)
    for names in _perhaps_turned(problem.inputs):
        turned = {name: _turned(problem.inputs[name]) for name in names}
        try:
            write({**problem.inputs, **turned})
        except AttncalcError:
            continue
        [name, *more] = names
        if more:
            mend = f"are {both(names)} stored as [out, in]? --transpose {','.join(names)} turns them round"
        elif "transposed" in (remark.kind for remark in problem.inputs[name].remarks):
            mend = f"{name} is turned round by --transpose: leave {name} out of it"
        else:
            mend = f"is {problem.inputs[name].source or name} transposed? --transpose {name} turns it round"
        return ShapeError(message, hint=mend)
    for mend, inputs in _perhaps_in_heads(problem.inputs):
        with suppress(AttncalcError):
            write({**problem.inputs, **inputs})
            return ShapeError(message, hint=mend)
    return ShapeError(message)


def _perhaps_in_heads(inputs: Mapping[str, Given]) -> Iterator[tuple[str, dict[str, Given]]]:
    """What may be meant where heads of queries, keys and values are not alike, and what to say of it."""
    parts = {name: inputs[name] for name in ("q", "k", "v") if name in inputs and not has_letters(inputs[name].value)}
    stacks = {name: g for name, g in parts.items() if g.value.ndim > 2}
    others = {name: g for name, g in parts.items() if name not in stacks}
    if not stacks:
        return
    shape, tokens = next(iter(stacks.values())).value.shape, {name: _swapped(g) for name, g in stacks.items()}
    layout = f"--heads-layout {'bnhd'[-len(shape) :]}"
    if not others:
        yield f"do tokens stand before heads? {layout} reads them so", tokens
        for name in stacks:
            yield f"tokens and heads of {name} lie the other way round: swap them", {name: tokens[name]}
        return
    for heads, laid in ((shape[-3], stacks), (shape[-2], tokens)):
        fit = laid is stacks or len(shape) == 3
        if fit and all(g.value.ndim == 2 and g.value.shape[1] % heads == 0 for g in others.values()):
            cut = {name: _swapped(_cut(g, heads)) for name, g in others.items()}
            each = both([f"{name}.reshape({len(g.value)}, {heads}, -1)" for name, g in others.items()])
            first = f"{each}, which {layout} reads" if laid is tokens else f"{each}, each with .swapaxes(0, 1)"
            said = f"{both([*stacks])} {are(stacks)} cut into {heads} heads, and {both([*others])} {are(others)} not"
            yield f"{said}: {first}", laid | cut


def _cut(g: Given, heads: int) -> Given:
    return g._replace(value=g.value.reshape(len(g.value), heads, -1), labels={}, written=None)


def _swapped(g: Given) -> Given:
    return g._replace(value=np.swapaxes(g.value, -3, -2), labels={}, written=None)


def _perhaps_turned(inputs: Mapping[str, Given]) -> list[list[str]]:
    """Operands that may be stored the other way: those that PyTorch's Linear keeps so together, then each by itself."""
    matrices = [name for name, g in inputs.items() if g.value.ndim >= 2 and not has_letters(g.value)]
    stored = [name for name in matrices if inputs[name].source.endswith(".weight")]
    return [*([stored] if stored else []), *([name] for name in matrices)]


def _turned(g: Given) -> Given:
    return g._replace(value=np.swapaxes(g.value, -1, -2), labels={}, written=None)


def _whence(inputs: Mapping[str, Given], files: Sequence[str]) -> str:
    """`all from problem.json`, or `q from q.json, k from k.json`; of many operands the files alone."""
    if len(files) == 1 and len(inputs) > 1 and all(g.source for g in inputs.values()):
        return f"all from {files[0]}"
    if sum(bool(g.source) for g in inputs.values()) > 4:
        return f"read from {both(files)}"
    return ", ".join(f"{name} from {g.source}" for name, g in inputs.items() if g.source)


def write(problem: Problem, *, dtype: str = "float64", rounding: Rounding | None = None) -> Written:
    """The problem's graph, its operands' axes bound; errors name operands, files and the likely mend.

    Where values say how far a graph grows, `rounding` is applied to those of its steps.
    """
    options = problem.settled
    there = problem.inputs.keys() - ({UPSTREAM.name} if problem.backward else set())
    known = {operand.name for operand in problem.calculation.operands_in(problem.inputs)}
    if not {operand.name for operand in problem.calculation.operands if operand.required} <= there <= known:
        raise unlike_declared(problem)
    try:
        return _write(problem, problem.inputs, options, dtype, rounding)
    except ShapeError as error:
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
        made = calculation.graph(**_arguments(calculation, nodes, options), **formulas)
        _, machine = told_apart(rounding)
        values = arrays | {name: _letter(name, value, dtype) for name, value in said.letters.items()}
        kind = kind_of(values, dtype)
        held = _Held(machine, _numbers(calculation, arrays)) if machine else None
        known: Mapping[tuple[str, str], Array] = {}
        if not isinstance(made, (Node, tuple)):
            from attncalc.evaluate import loops  # few calculations have turns

            if isinstance(made, loops.Growth):
                rounded = after_step(kind, rounding)
                first = _in_kind(values, kind, bound.inputs, held)
                made, known = loops.grown(made, first, dtype=kind, after_step=rounded)
        outputs, loop = _returned(made, problem)
        read = {name: _named(g, nodes[name]) if name in nodes else g for name, g in bound.inputs.items()}
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
        values=_in_kind(values, kind, bound.inputs, held),
        kind=kind,
        precise=_in_kind(values, "float64", bound.inputs, None) if held else {},
        bound=bound,
        inputs=read,
        notes=tuple(said.notes),
        named=said.labels,
        asides=tuple(said.asides),
        loop=loop,
        known=known,
    )


class _Held(NamedTuple):
    """What a machine of few digits holds of operands."""

    machine: Machine
    numbers: Collection[str]  # the operands that it rounds: ids, and classes, are none of them

    def of(self, name: str, value: Array) -> Array:
        """An operand's value as the machine has it."""
        if name not in self.numbers:
            return value
        found = self.machine.held(value)
        lost = np.argwhere(np.isfinite(value) & ~np.isfinite(found) & ~np.isneginf(found))
        if len(lost):
            there = name + place_text(lost[0])
            raise DomainError(f"{there} = {value[tuple(lost[0])]:g} overflows: {self.machine.limit}")
        return found


def _numbers(calculation: Calculation, arrays: Mapping[str, Array]) -> set[str]:
    """The operands that are numbers, and neither ids nor classes."""
    found = {UPSTREAM.name}
    for operand in calculation.operands_in(arrays):
        classes = operand.kind == "data" and operand.name in arrays and not np.mod(arrays[operand.name], 1).any()
        if operand.kind in ("real", "logits", "mask", "data") and not classes:
            found.add(operand.name)
    return found


def _in_kind(
    values: Mapping[str, Array], kind: str, inputs: Mapping[str, Given], held: _Held | None
) -> Mapping[str, Array]:
    """The operands' values as numbers of that kind; those of a checkpoint whenever they are asked for, and not kept."""
    found = _Widened(values, kind, held)
    return found if any(g.is_stored for g in inputs.values()) else dict(found)


class _Widened(Mapping[str, Array]):
    """Arrays on a disk as numbers of another kind: all of them at once might need more memory than there is."""

    def __init__(self, arrays: Mapping[str, Array], kind: str, held: _Held | None) -> None:
        self.arrays, self.kind, self.held = arrays, kind, held

    def __getitem__(self, name: str) -> Array:
        value = as_kind(self.arrays[name], self.kind)
        return self.held.of(name, value) if self.held else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)


def _nodes(calculation: Calculation, arrays: Mapping[str, Array], bound: Bound) -> dict[str, Node]:
    """The operands as the nodes that a graph begins with."""
    return {
        o.name: given(o.name, bound.axes[o.name], o.symbol, boolean=arrays[o.name].dtype == bool)
        for o in calculation.operands_in(arrays)
        if o.name in arrays
    }


def _returned(
    made: Node | tuple[Node, ...] | Measured | Loop, problem: Problem
) -> tuple[tuple[Node, ...], Loop | None]:
    """The outputs that a calculation returns, and its loop if it is one; a backward pass starts from a loop's loss."""
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
    """The arrays among the operands by their names, and the formulas by the parameters that take them."""
    formulas = {o.name: o.symbol for o in calculation.operands if o.kind == "expression"}
    held = [o.name for o in calculation.operands if o.kind == "checkpoint"]
    arrays = {name: g.value for name, g in inputs.items() if name not in formulas and name not in held}
    if not formulas:
        return arrays, {}
    from attncalc.language.expression import parse  # a door: few calculations have a formula among their operands

    return arrays, {formulas[name]: parse(str(inputs[name].value)) for name in formulas if name in inputs}


def _letter(name: str, value: Number | None, dtype: str) -> Array:
    """The value of a single number that an option gives; where none does, it is a letter."""
    if value is not None:
        return number(value, np.dtype(dtype))
    from attncalc.evaluate import exact  # SymPy comes in here, and only here

    return exact.letters(name, ()).value


def _arguments(calculation: Calculation, nodes: Mapping[str, Node], options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a calculation's function: operands by their symbols, or the words that stand for them."""
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
    """The weights of each layer of a stack, the first one's first; of a part that has no number, of that alone."""
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
    """The operand with the symbol by which formulas speak of it."""
    return g._replace(symbol=primitive.symbol(node), symbol_latex=primitive.symbol(node, "latex"))


def _wide(value: Array) -> Array:
    """The value as what is checked sees it: float32 would make nothing of small numbers, or too much of large ones."""
    return value.astype(np.float64) if value.dtype == np.float32 else value
