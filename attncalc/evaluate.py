"""Graph and operands → values: floats, exact numbers and symbols alike, with given steps and rounding at each step.

What kind of numbers comes out is a property of the operands: float64 or float32 arrays, or object arrays of SymPy
numbers. Numbers in formulas and sizes are brought to the same kind, so that none widens another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import align
from attncalc.graph import Node
from attncalc.plan import Plan, is_given, named, plan

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    Rounding = Callable[[Array], Array]  # what is done to the value of each step before the next one uses it


def evaluate(
    roots: Sequence[Node] | Plan,
    operands: Mapping[str, Array],
    *,
    dtype: DTypeLike = np.float64,
    given: Mapping[tuple[str, str], Array] | None = None,
    after_step: Rounding | None = None,
    keep: Callable[[Node], bool] = named,
) -> dict[Node, Array]:
    """The values of the roots and of every step behind them.

    `given` holds values for steps by their (group, name): the walk stops there. `after_step` is applied to a step's
    value before the next one uses it (rounding by hand). Other values are let go after their last use.
    """
    given = given or {}
    order = roots if isinstance(roots, Plan) else plan(roots, given=given.keys(), keep=keep)
    kind = np.dtype(dtype)
    values: dict[Node, Array] = {}
    with np.errstate(all="ignore"):  # what overflows or has no answer is found, and told, by whoever reads the steps
        for node, released in zip(order.order, order.release, strict=True):
            if node.op == "step":
                value = given[node.key] if is_given(node, given) else values[node.sources[0]]
                values[node] = after_step(value) if after_step else value
            else:
                values[node] = value_of(node, values, operands, kind)
            for source in released:
                del values[source]
    return values


def by_key(values: Mapping[Node, Array]) -> dict[tuple[str, str], Array]:
    """The values of the steps among these nodes by their (group, name), as they are given to another evaluation."""
    return {node.key: value for node, value in values.items() if node.op == "step"}


def value_of(node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], dtype: np.dtype[Any]) -> Array:
    """The value of one node but a step, from those of its sources."""
    if node.op == "input":
        return operands[node.args["name"]]
    if not node.sources:
        return np.asarray(node.row.kernel(node, dtype))
    if node.row.elementwise:
        sources = [align(values[source], source.axes, node.axes) for source in node.sources]
        return np.asarray(node.row.kernel(*sources))
    return np.asarray(node.row.kernel(node, *(values[source] for source in node.sources)))
