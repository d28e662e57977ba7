"""Some places of a value, worked out from the same places of what it is made of, and from nothing more.

A graph is written anew for them: each axis that is cut gets the size of what is taken of it, wherever no primitive
mixes its entries. What cannot be cut so is taken from the value as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.common.arrays import Array
from attncalc.evaluate.values import evaluate, value_of
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node, given

_Cut = tuple[Node, frozenset[Axis]]
"""A node, and the axes along which only some of its places are needed."""


class Portion(NamedTuple):
    """A graph for some places of some axes; its inputs are places of the values of other nodes."""

    roots: tuple[Node, ...]
    taken: Mapping[str, tuple[Node, frozenset[Axis]]]  # input → the node that it is cut from, and along which axes


def divides(node: Node, axis: Axis) -> bool:
    """Whether each place of an axis of a value follows from the same place of what the value is made of."""
    return (
        axis in node.axes
        and axis.name not in node.row.mixes(node)
        and (node.row.copies or any(axis in source.axes for source in node.sources))
    )


def portion(
    targets: Sequence[Node],
    sizes: Mapping[Axis, int],
    known: Callable[[Node], bool],
    adding: Container[Node] = (),
) -> Portion:
    """The graph of the targets for so many places of the axes; it ends at nodes that are known, or cannot be cut.

    A node that is `adding` has lost the axis in a sum: what it gives is that sum over the places.
    """
    sources: dict[_Cut, tuple[_Cut, ...]] = {}
    roots = [(target, frozenset(sizes).intersection(target.axes)) for target in targets]
    stack = list(roots)
    while stack:
        node, cut = at = stack.pop()
        if at in sources:
            continue
        within = frozenset(sizes) if node in adding else cut
        ends = known(node) or not node.sources or (node not in adding and not all(divides(node, axis) for axis in cut))
        sources[at] = () if ends else tuple((source, within.intersection(source.axes)) for source in node.sources)
        stack.extend(sources[at])
    new: dict[_Cut, Node] = {}
    taken: dict[str, tuple[Node, frozenset[Axis]]] = {}
    for node, cut in sorted(sources, key=lambda at: at[0].serial):
        smaller = {axis: axis._replace(size=sizes[axis]) for axis in cut}
        if sources[node, cut]:
            args = {name: _resized(value, smaller) for name, value in node.args.items()}
            new[node, cut] = Node(node.op, *(new[source] for source in sources[node, cut]), **args)
        else:
            name = f"{len(taken)}"
            taken[name] = node, cut
            new[node, cut] = given(name, _resized(node.axes, smaller))
    return Portion(tuple(new[root] for root in roots), taken)


def _resized(value: Any, smaller: Mapping[Axis, Axis]) -> Any:
    """An argument, its axes cut."""
    if isinstance(value, Axis):
        return smaller.get(value, value)
    if isinstance(value, tuple) and any(isinstance(part, Axis) for part in value):
        return tuple(_resized(part, smaller) for part in value)
    return value


def entries(
    node: Node,
    chosen: Mapping[Axis, Sequence[int]],
    values: Mapping[Node, Array],
    operands: Mapping[str, Array],
    dtype: str,
) -> Array:
    """A node's entries at some places of its axes, from the values that are known and the operands."""
    if node in values or not node.sources:
        whole = values[node] if node in values else value_of(node, values, operands, np.dtype(dtype))
        return at_places(whole, node.axes, chosen)
    chosen = {axis: places for axis, places in chosen.items() if places != range(axis.size)}
    cut = {axis: places for axis, places in chosen.items() if divides(node, axis)}
    sizes = {axis: len(places) for axis, places in cut.items()}
    smaller = portion([node], sizes, values.__contains__)
    inputs = {
        name: entries(source, {axis: cut[axis] for axis in along}, values, operands, dtype)
        for name, (source, along) in smaller.taken.items()
    }
    (found,) = (evaluate(smaller.roots, inputs, dtype=dtype, keep=lambda other: False)[root] for root in smaller.roots)
    return at_places(found, node.axes, {axis: places for axis, places in chosen.items() if axis not in cut})


def at_places(value: Array, axes: Axes, chosen: Mapping[Axis, slice] | Mapping[Axis, Sequence[int]]) -> Array:
    """The places of a value along its axes; all of them along an axis that is not named."""
    for number, axis in enumerate(axes):
        if axis in chosen:
            value = value[(*[slice(None)] * number, chosen[axis])]
    return value
