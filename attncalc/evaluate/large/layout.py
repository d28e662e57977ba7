"""The order in which a large graph is evaluated in blocks: which values are kept, and how many bytes this takes.

Blocks run over one axis. A node's level is the number of times that the axis is mixed behind it, since a value must be
complete before it is mixed. The nodes of a level are evaluated block by block, as late as possible, and only values
that other levels need are kept. A sum over the axis starts no new level: each block adds its share. Attention that the
fused kernel can do is one node, and its scores are not kept.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from functools import partial

from attncalc.common.system import NamedTuple
from attncalc.evaluate.large import fused
from attncalc.evaluate.large.cores import count
from attncalc.evaluate.large.fused import Pattern
from attncalc.evaluate.values import Plan, divides
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, walk

BLOCK = 2**22
"""About how many bytes the values of a block take at a time."""
SHARES = 8
"""How many partial sums are held at a time; it does not depend on the number of cores, since results must not."""


class Stage(NamedTuple):
    """The work of a level."""

    whole: list[Node]  # evaluated as a whole, before the blocks
    targets: list[Node]  # what the blocks compute
    released: list[Node]  # what is no longer needed after the level


class Layout(NamedTuple):
    """A graph's nodes with their levels, for blocks over an axis; without an axis each is evaluated as a whole."""

    roots: tuple[Node, ...]
    order: tuple[Node, ...]
    fused: dict[Node, Pattern]
    axis: Axis | None
    level: dict[Node, int]  # the level with whose blocks a node is evaluated, or before whose blocks if it is whole
    divided: frozenset[Node]  # evaluated in blocks
    adding: frozenset[Node]  # sums over the axis, to which each block of their level adds
    kept: frozenset[Node]  # evaluated in blocks, but needed as a whole

    def stages(self) -> list[Stage]:
        """The work of each level."""
        found = [Stage([], [], []) for _ in range(1 + max(self.level.values(), default=0))]
        last: dict[Node, int] = {}
        for node in self.order:
            stage = found[self.level[node]]
            if node in self.kept or node in self.adding:
                stage.targets.append(node)
            elif node not in self.divided:
                stage.whole.append(node)
            for source in _sources(node, self.fused):
                last[source] = max(last.get(source, 0), self.level[node])
        asked = frozenset(self.roots)
        for node, level in last.items():
            if node not in asked and (node not in self.divided or node in self.kept):
                found[level].released.append(node)
        return found

    def bytes(self, itemsize: int) -> int:
        """The peak memory of the evaluation, without the operands."""
        own = self.kept | self.adding
        stages = ((stage.whole + stage.targets, stage.released) for stage in self.stages())
        return peak(stages, itemsize, own) + (BLOCK * count() if self.axis else 0)


def whole_bytes(order: Plan, itemsize: int) -> int:
    """The peak memory of evaluating a graph without blocks, without the operands."""
    stages = (([node], freed) for node, freed in zip(order.order, order.release, strict=True))
    return peak(stages, itemsize)


def places(row: Plan, axis: Axis, itemsize: int, sums: int = 0) -> int:
    """How many places of an axis make a block; `row` is the plan that evaluates one place.

    `sums` are the bytes of sums over the axis, which a block holds only once. If they counted for each place, a product
    of large matrices would be summed a few columns at a time.
    """
    return max(1, min(axis.size, BLOCK // max(whole_bytes(row, itemsize) - sums, 1)))


def peak(
    stages: Iterable[tuple[Sequence[Node], Sequence[Node]]], itemsize: int, own: Container[Node] = frozenset()
) -> int:
    """The most bytes that are held at a time; each stage makes some values, then releases some.

    A view keeps the value that it shows alive. A node in `own` is an array by itself, even if its primitive is a view.
    """
    live = most = 0
    holders: dict[Node, int] = {}
    for made, freed in stages:
        for node in made:
            owner = _owner(node, own)
            held = holders[owner] = holders.get(owner, 0) + 1
            live += bytes_of(owner, itemsize) if held == 1 else 0
        most = max(most, live + max((bytes_of(node, itemsize) for node in made if node.row.doubles_memory), default=0))
        for node in freed:
            owner = _owner(node, own)
            holders[owner] -= 1
            live -= 0 if holders[owner] else bytes_of(owner, itemsize)
    return most


def _owner(node: Node, own: Container[Node]) -> Node:
    while node.row.view and node not in own:
        node = node.sources[0]
    return node


def bytes_of(node: Node, itemsize: int) -> int:
    """The bytes of a node's value; 0 for operands, which exist already, and for positions, which are views."""
    if node.op in ("input", "index"):
        return 0
    return (1 if node.row.truth else itemsize) * math.prod(node.shape)


def lay_out(roots: Sequence[Node], itemsize: int) -> Layout:
    """The layout that takes the least memory; without blocks if they save nothing.

    An axis is not tried if all values along it take less than the blocks themselves: kv-cache has an axis per token.
    """
    order, patterns = _fused(roots)
    best = _over(None, roots, order, patterns)
    least = best.bytes(itemsize)
    along: dict[Axis, int] = {}
    for node in order:
        for axis in node.axes:
            along[axis] = along.get(axis, 0) + bytes_of(node, itemsize)
    for axis, held in along.items():
        if axis.size > 1 and held > BLOCK * count():
            found = _over(axis, roots, order, patterns)
            if (needed := found.bytes(itemsize)) < least:
                best, least = found, needed
    return best


def _fused(roots: Sequence[Node]) -> tuple[tuple[Node, ...], dict[Node, Pattern]]:
    """The nodes that must be evaluated, and the patterns of those that the fused kernel does.

    It does none whose weights are needed elsewhere too, since these would be computed twice.
    """
    patterns = {node: found for node in walk(*roots) if (found := fused.match(node)) is not None}
    while True:
        order = walk(*roots, into=partial(_sources, patterns=patterns))
        there = set(order)
        needed = [node for node in patterns if node.sources[0] in there or node not in there]
        if not needed:
            return tuple(order), patterns
        for node in needed:
            del patterns[node]


def _sources(node: Node, patterns: dict[Node, Pattern]) -> tuple[Node, ...]:
    """The nodes from which a value is computed: its sources, or queries, keys and values for the fused kernel."""
    return tuple(patterns[node][:3]) if node in patterns else node.sources


def _over(axis: Axis | None, roots: Sequence[Node], order: tuple[Node, ...], patterns: dict[Node, Pattern]) -> Layout:
    """The layout in blocks over an axis."""
    if axis is None:
        nothing = frozenset[Node]()
        numbered = {node: place for place, node in enumerate(order)}
        return Layout(tuple(roots), order, patterns, None, numbered, nothing, nothing, nothing)
    divided = {node for node in order if node.sources and node not in patterns and divides(node, axis)}
    sums = (node for node in order if node.row.adds and node not in patterns and axis not in node.axes)
    adding = {node for node in sums if not divided.isdisjoint(node.sources)}
    level: dict[Node, int] = {}  # for a sum, the level from which on it is complete
    users: dict[Node, list[Node]] = {node: [] for node in order}
    for node in order:
        sources = _sources(node, patterns)
        inside = node in divided
        if node in adding:
            level[node] = 1 + max(level[source] for source in sources)
        else:
            level[node] = max((level[s] + (s in divided and not inside) for s in sources), default=0)
        for source in sources:
            users[source].append(node)

    def turn(node: Node) -> int:
        """The last level whose blocks may still compute what this node uses."""
        return level[node] - (node not in divided)

    kept: set[Node] = set()
    asked = frozenset(roots)
    for node in reversed(order):
        if node in divided:
            turns = [turn(user) for user in users[node]]
            if node not in asked and turns:
                level[node] = min(turns)
            if node in asked or any(
                turn(user) > level[node] or (user not in divided and user not in adding) for user in users[node]
            ):
                kept.add(node)
    stage = {node: level[node] - (node in adding) for node in order}
    return Layout(tuple(roots), order, patterns, axis, stage, frozenset(divided), frozenset(adding), frozenset(kept))
