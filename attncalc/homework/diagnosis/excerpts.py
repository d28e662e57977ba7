"""Excerpts are a large step at some of its rows, worked out without the other rows wherever nothing mixes them.

So a dump of millions of numbers is judged in seconds: every mistake is tried on a few rows, and what fits is worked out
in blocks of rows and compared with the whole. What nothing explains is searched no longer than that: the memory taken
is that of a few blocks, and a mistake that has to work a larger value out as a whole is not tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from attncalc.common.arrays import Array
from attncalc.evaluate.large.portions import at_places, portion
from attncalc.evaluate.values import evaluate
from attncalc.language.graph import Node, walk

LARGE = 2**20
"""So many entries of a step, or of one behind it, are too many to be worked out for every mistake."""
FEW = 2**16
"""Of up to so many entries everything is tried: rounding in every manner, and two mistakes at once."""
SAMPLE = 12
"""So many rows are tried."""
BLOCK = 2**22
"""About so many entries are worked out at a time; a mistake of which a value has more even so is not tried."""


def entries_of(node: Node) -> int:
    """The number of entries of a node's value; positions are a row of numbers at most, shown over and over."""
    return 0 if node.op == "index" else math.prod(node.shape)


def most_entries(node: Node) -> int:
    """The number of entries of the largest value behind a node."""
    return max(map(entries_of, walk(node)))


def rows(node: Node) -> str | None:
    """The axis whose entries are the rows of a step, None where it has none."""
    return node.names[-2] if len(node.axes) > 1 else None


def sample(size: int) -> Array:
    """Places all over an axis, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, SAMPLE).round().astype(int))


def at_rows(nodes: Sequence[Node], operands: Mapping[str, Array], axis: str, chosen: Array) -> list[Array | None]:
    """The nodes' values at some places of an axis; None where that takes a large value as a whole.

    Whatever has not that axis, as a sum over everything has not, is a whole in the portion too.
    """
    places = {along: chosen.tolist() for node in nodes for along in node.axes if along.name == axis}
    part = portion(nodes, dict.fromkeys(places, len(chosen)), known=lambda node: False)
    refused = {name for name, (node, _) in part.taken.items() if node.sources and most_entries(node) > LARGE}
    taken = {name: at for name, at in part.taken.items() if name not in refused}
    whole = evaluate([node for node, _ in taken.values()], operands, keep=lambda node: False)
    inputs = {
        name: at_places(whole[node], node.axes, {a: places[a] for a in cut}) for name, (node, cut) in taken.items()
    }
    lost = {node for node in walk(*part.roots) if node.op == "input" and node.args["name"] in refused}
    few = [root for root in part.roots if lost.isdisjoint(walk(root)) and most_entries(root) <= BLOCK]
    found = evaluate(few, inputs, keep=lambda node: False)
    return [found.get(root) for root in part.roots]


def in_blocks(node: Node, operands: Mapping[str, Array]) -> Iterator[tuple[slice, Array]]:
    """A large value, some rows at a time; nothing comes where it cannot be had so."""
    axis = rows(node)
    if axis is None:
        return
    size = node.axes[-2].size
    step = max(1, BLOCK * size // max(most_entries(node), 1))
    for start in range(0, size, step):
        part = slice(start, min(start + step, size))
        [value] = at_rows([node], operands, axis, np.arange(part.start, part.stop))
        if value is None:
            return
        yield part, value
