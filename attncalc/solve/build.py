"""A problem → its graph: operands bound to axes, the calculation written over them, the backward pass behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.errors import NoGradient, OptionError, ShapeError
from attncalc.common.text import both
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import UPSTREAM, Operand, layer_of
from attncalc.evaluate.loops import Growth, Loop, grown
from attncalc.evaluate.values import Rounding
from attncalc.language import notation
from attncalc.language.expression import Expression, parse
from attncalc.language.graph import Node, Number, given
from attncalc.language.ops.kernels import has_letters, number
from attncalc.language.steps import building
from attncalc.record.trace import Given
from attncalc.solve.binding import Bound, bind
from attncalc.solve.problem import Problem
from attncalc.solve.refusals import explained, unlike_declared
from attncalc.solve.written import Written, after_step, as_kind, kind_of


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
            settled = calculation.check(options | {name: _wide(g.value) for name, g in bound.inputs.items()})
            options = options | dict(settled or {})
        made = calculation.graph(**_arguments(calculation, nodes, options), **formulas)
        values = arrays | {name: _letter(name, value, dtype) for name, value in said.letters.items()}
        kind = kind_of(values, dtype)
        known: Mapping[tuple[str, str], Array] = {}
        if isinstance(made, Growth):
            as_kinds = {name: as_kind(value, kind) for name, value in values.items()}
            made, known = grown(made, as_kinds, dtype=kind, after_step=after_step(kind, rounding))
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
    """The weights of each layer of a stack, the first one's first."""
    for i in range(1, max((layer_of(n)[1] for n in nodes if layer_of(n)[0] == stack), default=0) + 1):
        missing = [o.name for o in layer if o.required and f"{stack} {i}/{o.name}" not in nodes]
        if missing:
            raise OptionError(
                f"{stack} {i} needs {both(missing)}, which {'is' if len(missing) == 1 else 'are'} missing"
            )
        yield {o.name: nodes.get(f"{stack} {i}/{o.name}") for o in layer}


def _named(g: Given, node: Node) -> Given:
    """The operand with the symbol by which formulas speak of it."""
    return g._replace(symbol=notation.symbol(node), symbol_latex=notation.symbol(node, "latex"))


def _wide(value: Array) -> Array:
    """The value as what is checked sees it: float32 would make nothing of small numbers, or too much of large ones."""
    return value.astype(np.float64) if value.dtype == np.float32 else value
