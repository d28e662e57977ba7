"""What a backward pass adds to a problem: gradients or a Jacobian, and central differences to compare them with."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import NoGradient, NotExact, OptionError, ShapeError, both, either, near, place_text
from attncalc.common.numerals import Array
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import UPSTREAM
from attncalc.evaluate.differences import compare
from attncalc.evaluate.values import evaluate
from attncalc.language import axes as ax
from attncalc.language import primitive
from attncalc.language.gradients import gradient_step, gradient_symbol, gradients
from attncalc.language.graph import Node, as_node, given, identity, step, walk
from attncalc.language.kernels import has_letters
from attncalc.language.ops import spread
from attncalc.record.trace import ONES, Check, Given
from attncalc.solve.problem import Backward, Problem, Written

LARGEST_JACOBIAN = 1_000_000
MOST_LISTED = 12
"""A message lists at most so many operands."""

IGNORED = "does not depend on it"
IN_JUMPS = "the result changes with it only in jumps, and between them its slope is 0"


def backward_pass(
    backward: Backward, calculation: Calculation, result: Node, nodes: Mapping[str, Node], *, told: bool = True
) -> tuple[Node, ...]:
    """The gradients of all operands that are asked for; steps have their reasons if `told`."""
    wrt = _differentiable(backward, calculation, nodes)
    upstream = given(UPSTREAM.name, result.axes)
    found = gradients(result, upstream, wrt, told=told)
    seen = walk(result) if len(found) < len(wrt) else ()

    def nothing(node: Node) -> Node:
        why = IN_JUMPS if node in seen else f"the result, {result.args['name']}, {IGNORED}"
        return gradient_step(node, spread(as_node(0), node.axes), why)

    return tuple(found[node] if node in found else nothing(node) for node in wrt)


def jacobian(
    backward: Backward,
    calculation: Calculation,
    result: Node,
    nodes: Mapping[str, Node],
    options: Mapping[str, Any],
) -> tuple[Node, ...]:
    """The Jacobians with respect to the operands, by one backward pass for all entries of the result."""
    wrt = _differentiable(backward, calculation, nodes)
    for node in wrt:
        entries = math.prod(result.shape) * math.prod(node.shape)
        if entries > LARGEST_JACOBIAN:
            raise ShapeError(
                f"the Jacobian of {primitive.symbol(result)} ({ax.describe(result.axes)}) with respect to "
                f"{primitive.symbol(node)} ({ax.describe(node.axes)}) would have {entries:,} entries, but the limit is "
                f"{LARGEST_JACOBIAN:,}",
                hint="grad gives the product of an upstream gradient with it, at any size",
            )
    closed = calculation.slopes(result, options) if calculation.slopes else None
    if closed is not None:
        return (step("jacobian", closed, "raising a score raises its own share and lowers every other one"),)
    found = gradients(result, identity(result.axes), wrt, of=primitive.symbol(result), word="jacobian")
    return tuple(found[node] for node in wrt if node in found)


def smooth_operands(calculation: Calculation, names: Collection[str]) -> list[str]:
    """The given operands that can have a gradient."""
    return [o.name for o in calculation.operands_in(names) if o.name in names and o.kind in ("real", "logits")]


def _differentiable(backward: Backward, calculation: Calculation, nodes: Mapping[str, Node]) -> list[Node]:
    """The operands that are asked for (by default all that can have a gradient); raise OptionError for any other."""
    smooth = smooth_operands(calculation, nodes)
    if not smooth:
        raise _nothing_smooth(calculation)
    for name in backward.wrt:
        if name in nodes and name not in smooth:
            raise OptionError(
                f"there is no gradient with respect to {name!r}, which is held constant: {both(smooth)} can have one",
                hint="the --bias of attention adds numbers to the scores that have one" if name == "mask" else "",
            )
        if name not in smooth:
            those = both(smooth, MOST_LISTED)
            raise OptionError(
                f"there is no gradient with respect to {name!r}: {calculation.name} was given {those}",
                hint=near(name, smooth),
            )
    return [nodes[name] for name in (backward.wrt or smooth)]


def _nothing_smooth(calculation: Calculation) -> NoGradient:
    """The error that no operand can have a gradient, with those that could be given."""
    fact = f"{calculation.name} was given nothing that could have a gradient"
    could = [operand.name for operand in calculation.operands if operand.kind in ("real", "logits")]
    if could:
        return NoGradient(fact, hint=f"it has one with respect to {either(could)}")
    if any(operand.kind == "expression" for operand in calculation.operands):
        mend = "the calculations derivative and gradient differentiate the formula, by its own variables"
        return NoGradient(f"{fact}: it takes a formula, and no array of numbers", hint=mend)
    return NoGradient(f"{fact}: it takes no array of numbers")


def upstream_of(upstream: Given | None, result: Node, dropped: frozenset[str]) -> Given:
    """The gradient of the loss with respect to the result: as given, or by default ones: the loss is then the sum."""
    shape = result.shape
    if upstream is None:
        told = ONES if shape else "one (the loss is the result itself)"
        return Given(np.ones(shape), told, axes=result.names)
    value = upstream.value
    if value.shape != shape:
        read = tuple(axis.size for axis in result.axes if axis.name not in dropped)
        one_row = value.ndim == 1 and value.shape == shape[-1:] and value.size == math.prod(shape)
        one_row |= len(read) == 1 and value.ndim == 2 and 1 in value.shape and value.size == read[0]  # of a table
        if value.shape != read and not one_row:
            raise ShapeError(
                f"upstream is {'×'.join(map(str, value.shape)) or 'a single number'}, "
                f"and the result that it belongs to is {ax.describe(result.axes)}"
            )
        value = value.reshape(shape)
    return upstream._replace(value=value, axes=result.names)


def gradchecks(written: Written) -> dict[Node, Check]:
    """The comparison of each operand's gradient with central differences."""
    if any(has_letters(value) for value in written.values.values()):
        raise NotExact("there are no central differences of letters", hint="give the operands numbers for --gradcheck")
    operands = {
        name: value.astype(np.float64) if value.dtype == object else value for name, value in written.values.items()
    }
    values = evaluate(written.roots, operands)
    found = {(node.args["group"], node.args["symbol"]): node for node in written.outputs}
    return {
        gradient: compare(written.result, name, values[gradient], operands, operands[UPSTREAM.name])
        for name, node in written.operands.items()
        if (gradient := found.get((name.rpartition("/")[0], gradient_symbol(node)))) is not None
    }


def flat(problem: Problem, written: Written, values: Mapping[Node, Array]) -> tuple[str, ...]:
    """A note if the loss is by default the sum of a result that always sums to a constant, so that gradients are 0."""
    if (
        problem.backward is None
        or problem.backward.jacobian
        or UPSTREAM.name in problem.inputs
        or not written.result.axes
    ):
        return ()
    result = values[written.result]
    if result.dtype.kind != "f" or not result.size:
        return ()
    size = max(float(np.max(np.abs(v), initial=0.0)) for v in (values[node] for node in written.outputs))
    moving = _moving(written)
    symbol, names = primitive.symbol(written.result), written.result.names
    for axis in reversed(range(result.ndim) if size <= 1e-9 else ()):
        sums = np.sum(result, axis=axis)
        if np.allclose(sums, sums.flat[0]) and _stay(written, moving, sums, axis):
            constant = f"{sums.flat[0] if abs(sums.flat[0]) > 1e-9 else 0:.4g}"
            along = f" along {names[axis]}" if axis < result.ndim - 1 else ""
            is_whole = along or result.ndim == 1
            rows = f"{symbol if is_whole else f'each row of {symbol}'} sums to {constant}{along}"
            rows += f", whatever {both(moving)} may be"
            why = "upstream is all ones (the loss is that sum), so the gradient of every operand is 0"
            return (f"{rows}; {why}. {_to_see_more(symbol, result.shape, names)}",)
    return ()


def steep(written: Written, values: Mapping[Node, Array]) -> tuple[str, ...]:
    """A note on each gradient that is infinite somewhere."""
    told = []
    for node in written.outputs:
        value = values[node]
        if value.dtype.kind == "f" and np.isinf(value).any():
            first = tuple(np.argwhere(np.isinf(value))[0])
            infinite = "∞" if value[first] > 0 else "−∞"
            told.append(f"{node.path}{place_text(first)} is {infinite}: the slope grows without bound there")
    return tuple(told)


MOST_TYPED = 24  # entries of an upstream gradient that a user would type


def _to_see_more(symbol: str, shape: tuple[int, ...], names: Sequence[str]) -> str:
    """A hint how to ask for a gradient that is not 0."""
    if len(shape) > 2 or math.prod(shape) > MOST_TYPED:
        return f"For another loss: --upstream, {' × '.join(names)}"
    ones = np.zeros(shape, int)
    ones.flat[0] = 1
    typed = "; ".join(" ".join(map(str, row)) for row in np.atleast_2d(ones))
    return f"With the first entry of {symbol} as the loss: --upstream '{typed}'"


def _moving(written: Written) -> list[str]:
    """The operands with respect to which there is a gradient."""
    by_symbol = {node.args["symbol"] for node in written.outputs}
    return [name for name, node in written.operands.items() if gradient_symbol(node) in by_symbol]


def _stay(written: Written, moving: Sequence[str], sums: Array, axis: int) -> bool:
    """Whether sums along an axis stay the same for other operands too; those of relu(−1, −2), which are 0, do not."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        moved = dict(written.values)
        for name in moving:
            value = moved[name].astype(np.float64)
            reach = 2 * max(1.0, float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value))))
            moved[name] = value + rng.normal(scale=reach, size=value.shape)
        if not np.allclose(np.sum(evaluate([written.result], moved)[written.result], axis=axis), sums):
            return False
    return True
