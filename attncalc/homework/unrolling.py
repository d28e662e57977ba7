"""A loop as one graph: its turns one behind the other, each with its steps in a group of its own.

So a sheet may hold the steps of any turn, what follows is worked out from the writer's own ones, and a mistake that is
made in every turn is written into every turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc.errors import OptionError
from attncalc.graph import Node, walk
from attncalc.loops import Loop
from attncalc.loops.running import run
from attncalc.ops import concat, listed, rename, stack
from attncalc.steps import output

Array = NDArray[Any]

MOST_TURNS = 500


class Unrolled(NamedTuple):
    """A loop as one graph."""

    results: list[Node]  # the outputs, the result first
    steps: list[Node]
    start: dict[str, Array]  # what goes into the first turn beside the operands


def unrolled(loop: Loop, operands: Mapping[str, Array]) -> Unrolled:
    """The turns that a loop makes with these operands, one behind the other."""
    if loop.turns > MOST_TURNS:
        raise OptionError(f"{loop.turns:,} {loop.turn}s are too many to be checked, of which {MOST_TURNS} can be")
    start = {name: np.asarray(value, dtype=np.float64) for name, value in loop.start.items()}
    ran = run(loop._replace(start=start), operands, keep_all=True)
    state: dict[str, Node] = {}
    named: list[Node] = []
    turns: list[dict[Node, Node]] = []
    for turn in ran.kept:
        made = _turn((*loop.steps, *loop.carry.values()), state, f"{loop.turn} {turn.number}")
        named += [node for node in made.values() if node.op == "step"]
        state = {name: made[node] for name, node in loop.carry.items()}
        turns.append(made)
    results = [_output(node, turns[-1][node]) for node in loop.results]
    return Unrolled([*results, *([_table(loop, turns)] if loop.rows else [])], named, start)


def _turn(roots: Sequence[Node], state: Mapping[str, Node], group: str) -> dict[Node, Node]:
    """The nodes of one turn, on what the turn before left."""
    new: dict[Node, Node] = {}
    for node in walk(*roots):
        if node.op == "input":
            new[node] = state.get(node.args["name"], node)
            continue
        sources = [new[source] for source in node.sources]
        args = node.args
        if node.op == "step":
            args = args | {"group": "/".join(filter(None, (group, node.args["group"])))}
        same = sources == [*node.sources] and node.op != "step"
        new[node] = node if same else Node(node.op, *sources, axes=node.axes, **args)
    return new


def _table(loop: Loop, turns: Sequence[Mapping[Node, Node]]) -> Node:
    """The turns below one another, a column for each number that they are told by."""

    def column(x: Node) -> Node:
        return rename(x, x.names[-1], "quantity") if x.axes else listed([x], "quantity")

    rows = [concat([column(made[node]) for node in loop.rows], "quantity") for made in turns]
    return output(f"{loop.turn}s", stack(rows, loop.turn), "every turn at a glance")


def _output(node: Node, last: Node) -> Node:
    """A result, which stands where the last turn left it."""
    return output(node.args["name"], last, node.args["why"], symbol=node.args["symbol"])
