"""Graph and operands → values: floats, exact numbers and symbols alike, with given steps and rounding at each step.

What kind of numbers comes out is a property of the operands: float64 or float32 arrays, or object arrays of SymPy
numbers. Numbers in formulas and sizes are brought to the same kind, so that none widens another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from attncalc.axes import align
from attncalc.graph import Node, walk

Array = NDArray[Any]


def evaluate(
    roots: Sequence[Node],
    operands: Mapping[str, Array],
    *,
    dtype: DTypeLike = np.float64,
    given: Mapping[tuple[str, str], Array] | None = None,
    after_step: Callable[[Array], Array] | None = None,
    keep: Callable[[Node], bool] = lambda node: node.op == "step",
) -> dict[Node, Array]:
    """The values of the roots and of every step behind them.

    `given` holds values for steps by their (group, name): the walk stops there. `after_step` is applied to a step's
    value before the next one uses it (rounding by hand). Other values are let go after their last use.
    """
    given = given or {}
    order = _needed(roots, given)
    uses = _uses(order, roots, given)
    values: dict[Node, Array] = {}
    with np.errstate(all="ignore"):  # what overflows or has no answer is found, and told, by whoever reads the steps
        for node in order:
            values[node] = _value(node, values, operands, np.dtype(dtype), given, after_step)
            if node.op == "step" and node.key in given:
                continue
            for source in node.sources:
                uses[source] -= 1
                if not uses[source] and not keep(source):
                    del values[source]
    return values


def _needed(roots: Sequence[Node], given: Mapping[tuple[str, str], Array]) -> list[Node]:
    """The nodes to visit, sources first: behind a given step nothing is needed."""
    if not given:
        return walk(*roots)
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if not (node.op == "step" and node.key in given):
                stack.extend(node.sources)
    return sorted(seen, key=lambda node: node.serial)


def _uses(order: Sequence[Node], roots: Sequence[Node], given: Mapping[tuple[str, str], Array]) -> dict[Node, int]:
    uses = dict.fromkeys(order, 0)
    for node in order:
        if not (node.op == "step" and node.key in given):
            for source in node.sources:
                uses[source] += 1
    for root in roots:
        uses[root] += 1
    return uses


def _value(
    node: Node,
    values: Mapping[Node, Array],
    operands: Mapping[str, Array],
    dtype: np.dtype[Any],
    given: Mapping[tuple[str, str], Array],
    after_step: Callable[[Array], Array] | None,
) -> Array:
    if node.op == "step":
        value = given[node.key] if node.key in given else values[node.sources[0]]
        return after_step(value) if after_step else value
    if node.op == "input":
        return operands[node.args["name"]]
    if node.op == "constant":
        return number(node.args["value"], dtype)
    if node.op == "constants":
        return np.array([number(value, dtype)[()] for value in node.args["values"]], dtype=dtype)
    if node.op == "identity":
        shape = tuple(axis.size for axis in node.axes)
        return np.eye(int(np.prod(shape[: len(shape) // 2])), dtype=dtype).reshape(shape)
    if node.op == "size":
        return number(node.args["axis"].size, dtype)
    if node.op == "index":
        along = node.args["along"]
        positions = align(_positions(along.size, dtype), (along,), node.axes)
        return np.broadcast_to(positions, tuple(axis.size for axis in node.axes))
    if node.row.elementwise:
        sources = [align(values[source], source.axes, node.axes) for source in node.sources]
        return np.asarray(node.row.kernel(*sources))
    return np.asarray(node.row.kernel(node, *(values[source] for source in node.sources)))


def _positions(size: int, dtype: np.dtype[Any]) -> Array:
    if dtype.kind != "O":
        return np.arange(size, dtype=dtype)
    return np.array([number(i, dtype)[()] for i in range(size)], dtype=object)


def number(value: Any, dtype: np.dtype[Any]) -> Array:
    """A number of a formula as the kind that the operands are; a float is exact by its shortest digits."""
    if dtype.kind != "O":
        return np.asarray(float(value) if isinstance(value, Fraction) else value, dtype=dtype)
    import sympy  # only where exact numbers are at work

    if value == float("-inf"):
        return np.asarray(-sympy.oo)
    exact = sympy.pi if value == np.pi else sympy.Rational(*Fraction(repr(value)).as_integer_ratio())
    return np.asarray(exact, dtype=object)


def exactly(values: Array) -> Array:
    """Floats as exact numbers, each by its shortest digits: 0.1 is one tenth."""
    entries = [number(value, np.dtype(object))[()] for value in values.ravel().tolist()]
    result = np.empty(len(entries), dtype=object)
    result[:] = entries
    return result.reshape(values.shape)
