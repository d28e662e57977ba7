"""A problem → its graph: operands bound to axes, the calculation written over them, the backward pass behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc import notation
from attncalc.arrays import Array
from attncalc.binding import Bound, bind
from attncalc.calculation import UPSTREAM, Calculation, Operand, layer_of
from attncalc.errors import AttncalcError, NoGradient, OptionError, ShapeError
from attncalc.graph import Node, Number, given, walk
from attncalc.loops import Growth, Loop
from attncalc.ops.kernels import has_letters, number
from attncalc.steps import building
from attncalc.text import both, near
from attncalc.trace import Given

if TYPE_CHECKING:
    from attncalc.evaluate import Rounding
    from attncalc.expression import Expression
    from attncalc.problem import Problem


class Written(NamedTuple):
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
    loop: Loop | None  # where the calculation is one whose turns depend on values
    known: Mapping[tuple[str, str], Array]  # steps whose values were needed to write the graph, by their keys

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

    def labels_of(self) -> Callable[[Node], Mapping[str, tuple[str, ...]]]:
        """The labels around a node: where it is a part of an axis, or is made from one, those of its places."""
        labels, nodes = self.labels, walk(*self.roots)
        if all(node.op != "slice" for node in nodes):
            return lambda node: labels
        from attncalc.ops.parts import labels_of_parts  # most graphs take nothing apart

        parts = labels_of_parts(nodes, labels)
        return lambda node: labels | parts.get(node, {})


def after_step(kind: str, rounding: Rounding | None) -> Rounding | None:
    """What is done to the value of each step: exact ones are tidied, or refused for their size, others rounded."""
    if kind != "object":
        return rounding
    from attncalc import exact  # SymPy comes in here

    return exact.step_tidier()


def write(problem: Problem, *, dtype: str = "float64", rounding: Rounding | None = None) -> Written:
    """The problem's graph, its operands' axes bound; errors name operands, files and the likely mend.

    Where values say how far a graph grows, `rounding` is applied to those of its steps.
    """
    options = problem.settled
    _must_be_there(problem)
    try:
        return _write(problem, problem.inputs, options, dtype, rounding)
    except ShapeError as error:
        raise _explained(error, problem, options, dtype) from None


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
        nodes = _nodes(calculation, arrays, bound)
        if calculation.check:
            settled = calculation.check(options | {name: _wide(g.value) for name, g in bound.inputs.items()})
            options = options | dict(settled or {})
        made = calculation.graph(**_arguments(calculation, nodes, options), **formulas)
        values = arrays | {name: _letter(name, value, dtype) for name, value in said.letters.items()}
        kind = kind_of(values, dtype)
        known: Mapping[tuple[str, str], Array] = {}
        if isinstance(made, Growth):
            from attncalc.loops.running import grown  # one calculation grows

            as_kinds = {name: as_kind(value, kind) for name, value in values.items()}
            made, known = grown(made, as_kinds, dtype=kind, after_step=after_step(kind, rounding))
        outputs, loop = _returned(made, problem)
        read = {name: _named(g, nodes[name]) if name in nodes else g for name, g in bound.inputs.items()}
        result = outputs[0]
        if problem.backward:
            from attncalc import backward  # most problems have none

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
        values={name: as_kind(value, kind) for name, value in values.items()},
        bound=bound,
        inputs=read,
        notes=tuple(said.notes),
        named=said.labels,
        asides=tuple(said.asides),
        loop=loop,
        known=known,
    )


def _nodes(calculation: Calculation, arrays: Mapping[str, Array], bound: Bound) -> dict[str, Node]:
    """The operands as the nodes that a graph begins with."""
    return {
        o.name: given(o.name, bound.axes[o.name], o.symbol, boolean=arrays[o.name].dtype == bool)
        for o in calculation.operands_in(arrays)
        if o.name in arrays
    }


def _returned(made: Node | tuple[Node, ...] | Loop, problem: Problem) -> tuple[tuple[Node, ...], Loop | None]:
    """The outputs that a calculation returns, and its loop if it is one; a backward pass starts from a loop's loss."""
    if isinstance(made, Node):
        return (made,), None
    if not isinstance(made, Loop):
        return made, None
    if problem.backward is None:
        return made.results, made
    if made.loss is None:
        name = problem.calculation.name
        raise NoGradient(f"{name} is a loop whose turns depend on values: it has no gradient")
    return (made.loss,), None


def _told_apart(
    calculation: Calculation, inputs: Mapping[str, Given]
) -> tuple[dict[str, Array], dict[str, Expression]]:
    """The arrays among the operands by their names, and the formulas by the parameters that take them."""
    formulas = {o.name: o.symbol for o in calculation.operands if o.kind == "expression"}
    arrays = {name: g.value for name, g in inputs.items() if name not in formulas}
    if not formulas:
        return arrays, {}
    from attncalc.expression import parse

    return arrays, {formulas[name]: parse(str(inputs[name].value)) for name in formulas if name in inputs}


def _letter(name: str, value: Number | None, dtype: str) -> Array:
    """The value of a single number that an option gives; where none does, it is a letter."""
    if value is not None:
        return number(value, np.dtype(dtype))
    from attncalc import exact  # SymPy comes in here, and only here

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
    """The weights of each layer of a stack, the first one's first."""
    for i in range(1, max((layer_of(n)[1] for n in nodes if layer_of(n)[0] == stack), default=0) + 1):
        missing = [o.name for o in layer if o.required and f"{stack} {i}/{o.name}" not in nodes]
        if missing:
            raise OptionError(f"{stack} {i} needs {both(missing)}, which {_is(missing)} missing")
        yield {o.name: nodes.get(f"{stack} {i}/{o.name}") for o in layer}


def _named(g: Given, node: Node) -> Given:
    """The operand with the symbol by which formulas speak of it."""
    return g._replace(symbol=notation.symbol(node), symbol_latex=notation.symbol(node, "latex"))


def _must_be_there(problem: Problem) -> None:
    """Every operand known, every required one given."""
    calculation = problem.calculation
    names = [operand.name for operand in calculation.operands_in(problem.inputs)]
    for name in problem.inputs:
        if name not in names and not (name == UPSTREAM.name and problem.backward):
            raise OptionError(f"{calculation.name} has no operand {name!r}", hint=near(name, names))
    missing = [o.name for o in calculation.operands if o.required and o.name not in problem.inputs]
    if missing:
        needed = both(o.name for o in calculation.operands if o.required)
        hint = "" if problem.inputs else f"attncalc explain {problem.name} says what it takes, with an example"
        if calculation.declaration.families:
            hint = "--weights FILE may hold them by their names"
        tables = {file for g in problem.inputs.values() for file, mark, _ in [g.source.partition("#")] if mark}
        if len(tables) == len(missing) == 1 and (o := calculation.operand(missing[0])) and len(o.shapes[0]) == 2:
            hint = f"--{o.name} {tables.pop()} gives {o.help}"
        raise OptionError(f"{problem.name} needs {needed}, but {both(missing)} {_is(missing)} missing", hint=hint)


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _explained(error: ShapeError, problem: Problem, options: dict[str, Any], dtype: str) -> ShapeError:
    """The error with the files that its operands came from, and whether transposing one of them would mend it."""
    files = dict.fromkeys(g.source.partition("#")[0] for g in problem.inputs.values() if g.source)
    message = f"{error.message} ({_whence(problem.inputs, list(files))})" if files else error.message
    if error.hint:
        return ShapeError(message, hint=error.hint)
    for names in _perhaps_turned(problem.inputs):
        turned = {name: _turned(problem.inputs[name]) for name in names}
        try:
            _write(problem, {**problem.inputs, **turned}, options, dtype)
        except AttncalcError:
            continue
        [name, *more] = names
        if more:
            mend = f"are {both(names)} stored as [out, in]? --transpose {','.join(names)} turns them round"
        elif "transposed" in problem.inputs[name].note.split("; "):
            mend = f"{name} is turned round by --transpose: leave {name} out of it"
        else:
            mend = f"is {problem.inputs[name].source or name} transposed? --transpose {name} turns it round"
        return ShapeError(message, hint=mend)
    return ShapeError(message)


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


def kind_of(values: Mapping[str, Array], dtype: str) -> str:
    """The kind of number to compute with: exact as soon as one operand is."""
    return "object" if any(value.dtype == object for value in values.values()) else dtype


def _wide(value: Array) -> Array:
    """The value as what is checked sees it: float32 would make nothing of small numbers, or too much of large ones."""
    return value.astype(np.float64) if value.dtype == np.float32 else value


def as_kind(value: Array, kind: str) -> Array:
    """The value as numbers of that kind; truth values and words stay what they are."""
    if value.dtype.kind in "bUS":
        return value
    if kind != "object":
        with np.errstate(over="ignore"):  # what float32 cannot hold is told by the step that it spoils
            return value.astype(kind, copy=False)
    from attncalc.ops.exact import exactly  # with SymPy, which few need

    return exactly(value)
