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
from attncalc.errors import NotExact
from attncalc.graph import Node
from attncalc.ops.kernels import WITHOUT
from attncalc.plan import Plan, is_given, named, plan

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    Rounding = Callable[[Array], Array]  # what is done to the value of each step before the next one uses it

MOST_EXACT = 20_000


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


def value_of(node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], dtype: np.dtype[Any]) -> Array:
    """The value of one node but a step, from those of its sources."""
    if node.op == "input":
        return operands[node.args["name"]]
    if node.op == "constant":
        return number(node.args["value"], dtype)
    if node.op == "constants":
        return np.array([number(value, dtype)[()] for value in node.args["values"]], dtype=dtype)
    if node.op == "identity":
        shape = node.shape
        ones = np.eye(int(np.prod(shape[: len(shape) // 2])))
        return (exactly(ones) if dtype.kind == "O" else ones.astype(dtype)).reshape(shape)
    if node.op == "size":
        return number(node.args["axis"].size, dtype)
    if node.op == "index":
        along = node.args["along"]
        positions = align(_positions(along.size, dtype), (along,), node.axes)
        return np.broadcast_to(positions, node.shape)
    if not node.sources:
        if dtype.kind == "O":
            raise NotExact("numbers that are drawn at random have no closed form")
        return np.asarray(node.row.kernel(node)).astype(dtype)
    if node.row.elementwise:
        sources = [align(values[source], source.axes, node.axes) for source in node.sources]
        return np.asarray(node.row.kernel(*sources))
    return np.asarray(node.row.kernel(node, *(values[source] for source in node.sources)))


def _positions(size: int, dtype: np.dtype[Any]) -> Array:
    if dtype.kind != "O":
        return np.arange(size, dtype=dtype)
    return np.array([number(i, dtype)[()] for i in range(size)], dtype=object)


def refuse_many(size: int) -> None:
    """Raise NotExact where so many numbers are to be made exact that nobody reads them, and SymPy grows slow."""
    if size > MOST_EXACT:
        raise NotExact(f"{size:,} entries are not made exact: the limit is {MOST_EXACT:,}", hint=WITHOUT)


def number(value: Any, dtype: np.dtype[Any]) -> Array:
    """A number of a formula as the kind that the operands are; a float is exact by its shortest digits."""
    if dtype.kind != "O":
        return np.asarray(value, dtype=dtype)
    from fractions import Fraction

    import sympy  # only where exact numbers are at work

    if isinstance(value, sympy.Basic):
        return np.asarray(value, dtype=object)
    if value == float("-inf"):
        return np.asarray(-sympy.oo)
    named = {np.pi: sympy.pi, np.e: sympy.E}.get(value)
    return np.asarray(named or sympy.Rational(*Fraction(str(value)).as_integer_ratio()), dtype=object)


def exactly(values: Array) -> Array:
    """Floats and fractions as exact numbers, each float by its shortest digits: 0.1 is one tenth."""
    refuse_many(values.size)
    entries = [number(value, np.dtype(object))[()] for value in values.ravel().tolist()]
    result = np.empty(len(entries), dtype=object)
    result[:] = entries
    return result.reshape(values.shape)
