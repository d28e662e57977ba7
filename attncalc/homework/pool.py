"""Nodes of many graphs, equal ones once: what the ways of doing a problem have in common is evaluated once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from attncalc.axes import Axes
from attncalc.graph import Node, walk

_SAID = ("why", "symbol", "shown")  # what a step says beside its value


class Pool:
    """Makes nodes; an equal one is made only once."""

    def __init__(self) -> None:
        self.known: dict[Hashable, Node] = {}
        self.made: set[Node] = set()

    def node(self, op: str, sources: Sequence[Node], args: Mapping[str, Any], axes: Axes | None = None) -> Node:
        """The node with that primitive, sources and arguments; ShapeError where it cannot be formed."""
        key = (op, tuple(map(id, sources)), _frozen(args), None if sources else axes)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Node(op, *sources, axes=axes, **args)
            self.made.add(found)
        return found

    def take_in(self, *roots: Node) -> list[Node]:
        """A graph, made of nodes of the pool; those that are in it already are not looked behind."""
        new: dict[Node, Node] = {}
        for node in walk(*roots, into=lambda node: () if node in self.made else node.sources):
            own = node in self.made
            new[node] = node if own else self.node(node.op, [new[s] for s in node.sources], node.args, node.axes)
        return [new[root] for root in roots]


def _frozen(args: Mapping[str, Any]) -> Hashable:
    if not args:  # as most have none
        return ()
    items = tuple((name, value) for name, value in sorted(args.items()) if name not in _SAID)
    try:
        hash(items)
    except TypeError:
        return repr(items)
    return items
