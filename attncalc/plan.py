"""The order in which a graph is evaluated, and after which node each value is let go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from attncalc.graph import Node, walk

Keys = Collection[tuple[str, str]]


class Plan(NamedTuple):
    """What evaluate runs by; a loop makes it once and runs it at every turn."""

    roots: tuple[Node, ...]
    order: tuple[Node, ...]  # sources first
    release: tuple[tuple[Node, ...], ...]  # for each place in the order, the values that nobody needs any more


def named(node: Node) -> bool:
    """Whether a value is kept to the end: that of a step is, for the reader."""
    return node.op == "step"


def plan(roots: Sequence[Node], *, given: Keys = (), keep: Callable[[Node], bool] = named) -> Plan:
    """The nodes behind the roots in order; behind a given step, by its (group, name), nothing is needed."""
    order = walk(*roots, into=lambda node: () if is_given(node, given) else node.sources)
    last: dict[Node, int] = {}
    for place, node in enumerate(order):
        if not is_given(node, given):
            for source in node.sources:
                last[source] = place
    wanted = set(roots)
    release: list[list[Node]] = [[] for _ in order]
    for node, place in last.items():
        if node not in wanted and not keep(node):
            release[place].append(node)
    return Plan(tuple(roots), tuple(order), tuple(map(tuple, release)))


def is_given(node: Node, given: Keys) -> bool:
    """Whether a step's value is given, so that it is not computed."""
    return bool(given) and node.op == "step" and node.key in given
