"""Excerpts: a large step at some of its rows, worked out without the other rows wherever nothing mixes them.

So a dump of millions of numbers is judged in seconds: every wrong way is tried on a few rows, and what fits is worked
out in blocks of rows and compared with the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.axes import align
from attncalc.evaluate import evaluate
from attncalc.graph import Node, walk

Array = NDArray[Any]

LARGE = 2**20
"""So many entries of a step, or of one behind it, are too many to be worked out for every way."""
SAMPLE = 12
"""So many rows are tried."""
BLOCK = 2**22
"""About so many entries are worked out at a time."""
_ROW_BY_ROW = ("step", "matmul", "transpose", "outer", "held", "rotate", "index")
"""Primitives that take rows as they come, beside the elementwise ones and those that run over another axis."""


def entries_of(node: Node) -> int:
    """The number of entries of a node's value; positions are a row of numbers at most, shown over and over."""
    return 0 if node.op == "index" else math.prod(node.shape)


def largest(node: Node) -> int:
    """The number of entries of the largest value behind a node."""
    return max(map(entries_of, walk(node)))


def rows(node: Node) -> str | None:
    """The axis whose entries are the rows of a step, None where it has none."""
    return node.names[-2] if len(node.axes) > 1 else None


def sample(size: int) -> Array:
    """Places all over an axis, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, SAMPLE).round().astype(int))


def at_rows(nodes: Sequence[Node], operands: Mapping[str, Array], axis: str, chosen: Array) -> list[Array | None]:
    """The nodes' values at some places of an axis; None where that takes a large value as a whole."""
    parted = {node for node in walk(*nodes) if axis in node.names and _row_by_row(node, axis)}
    whole, pieces = set[Node](), set[Node]()
    stack = list(nodes)
    while stack:  # what is needed at those rows, and what is needed as a whole
        node = stack.pop()
        if node in pieces or node in whole:
            continue
        if node in parted:
            pieces.add(node)
            stack.extend(node.sources)
        else:
            whole.add(node)
    refused = {node for node in whole if largest(node) > LARGE}
    values: dict[Node, Array] = evaluate([*whole - refused], operands, keep=lambda node: False)
    values = {node: _taken(value, node, axis, chosen) for node, value in values.items() if node in whole}
    with np.errstate(all="ignore"):
        for node in sorted(pieces, key=lambda node: node.serial):
            if all(source in values for source in node.sources):
                values[node] = _value(node, values, operands, axis, chosen)
    return [values.get(node) for node in nodes]


def in_blocks(node: Node, operands: Mapping[str, Array]) -> Iterator[tuple[slice, Array]]:
    """A large value, some rows at a time; nothing comes where it cannot be had so."""
    axis = rows(node)
    if axis is None:
        return
    size = node.axes[-2].size
    step = max(1, BLOCK * size // max(largest(node), 1))
    for start in range(0, size, step):
        part = slice(start, min(start + step, size))
        [value] = at_rows([node], operands, axis, np.arange(part.start, part.stop))
        if value is None:
            return
        yield part, value


def _row_by_row(node: Node, axis: str) -> bool:
    if node.op == "input" or node.row.elementwise:
        return True
    if node.op == "matmul":
        return node.sources[0].names[-1] != axis
    return node.op in _ROW_BY_ROW or node.args.get("over", axis) != axis


def _taken(value: Array, node: Node, axis: str, chosen: Array) -> Array:
    return value.take(chosen, axis=node.names.index(axis)) if axis in node.names else value


def _value(node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], axis: str, chosen: Array) -> Array:
    """A node's value at the chosen rows, from those of its sources."""
    if node.op == "input":
        return _taken(operands[node.args["name"]], node, axis, chosen)
    if node.op == "step":
        return values[node.sources[0]]
    if node.op == "index":
        along = node.args["along"]
        places = chosen if along.name == axis else np.arange(along.size)
        shape = tuple(len(chosen) if each.name == axis else each.size for each in node.axes)
        return np.broadcast_to(align(places.astype(np.float64), (along,), node.axes), shape)
    if node.row.elementwise:
        return np.asarray(node.row.kernel(*(align(values[s], s.axes, node.axes) for s in node.sources)))
    return np.asarray(node.row.kernel(node, *(values[source] for source in node.sources)))
