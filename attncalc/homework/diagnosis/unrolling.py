"""A loop is written as one graph: its turns stand one behind the other, each with its steps in a group of its own.

So a sheet may hold the steps of any turn, what follows is worked out from own values of the turns before, and a
mistake is written into every turn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from attncalc.common.errors import OptionError
from attncalc.common.numerals import Array
from attncalc.evaluate.loops import Loop, run
from attncalc.language import ops
from attncalc.language.graph import Node, output, walk

MOST_TURNS = 500


def unrolled(loop: Loop, operands: Mapping[str, Array]) -> tuple[list[Node], dict[str, Array]]:
    """The turns that a loop makes with these operands: its outputs, the result first, then all its steps.

    It also returns what goes into the first turn besides the operands.
    """
    if loop.turns > MOST_TURNS:
        raise OptionError(f"{loop.turns:,} {loop.turn}s are too many to be checked, of which {MOST_TURNS} can be")
    start = {name: np.asarray(value, dtype=np.float64) for name, value in loop.start.items()}
    ran = run(replace(loop, start=start), operands, keep_all=True)
    state: dict[str, Node] = {}
    named: list[Node] = []
    turns: list[dict[Node, Node]] = []
    for turn in ran.kept:
        made = _turn((*loop.steps, *loop.carry.values()), state, f"{loop.turn} {turn.number}", loop.carry)
        named += [node for node in made.values() if node.op == "step"]
        state = {name: made[node] for name, node in loop.carry.items()}
        turns.append(made)
    told = ((node.args, turns[-1][node]) for node in loop.results)  # a result stands where the last turn left it
    results = [output(args["name"], last, args["why"], symbol=args["symbol"]) for args, last in told]
    return [*results, *([_table(loop, turns)] if loop.rows else []), *named], start


def _turn(roots: Sequence[Node], state: Mapping[str, Node], group: str, carried: Collection[str]) -> dict[Node, Node]:
    """The nodes of one turn, on what the turn before left.

    If a step shows what the turn begins with, such as the point of an iteration, the others are made of that step, so
    that they follow from whatever point somebody has written there.
    """

    def in_group(node: Node, source: Node) -> Node:
        within = "/".join(filter(None, (group, node.args["group"])))
        return Node("step", source, axes=node.axes, **node.args | {"group": within})

    nodes = walk(*roots)
    left = {node: state.get(node.args["name"], node) for node in nodes if node.op == "input"}
    new = dict(left)
    for node in nodes:
        if letters := _shown(node, carried):
            source = node.sources[0]
            new[node] = shown = in_group(
                node, source.over([left[x] for x in letters]) if source.sources else left[source]
            )
            several = (
                [ops.take(shown, source.args["over"], i) for i in range(len(letters))] if source.sources else [shown]
            )
            new |= zip(letters, several, strict=True)
    for node in nodes:
        if node in new:
            continue
        sources = [new[source] for source in node.sources]
        if node.op == "step":
            new[node] = in_group(node, *sources)
        else:
            new[node] = node.over(sources)
    return new


def _shown(node: Node, carried: Collection[str]) -> Sequence[Node]:
    """The inputs that a step shows of those that turns hand on: one, several in a list, or none."""
    if node.op != "step":
        return ()
    source = node.sources[0]
    letters = source.sources if source.row.joins and not any(x.axes for x in source.sources) else (source,)
    return letters if all(x.op == "input" and x.args["name"] in carried for x in letters) else ()


def _table(loop: Loop, turns: Sequence[Mapping[Node, Node]]) -> Node:
    """The turns below one another, a column for each number that they are told by."""

    def column(x: Node) -> Node:
        return ops.rename(x, x.names[-1], "quantity") if x.axes else ops.listed([x], "quantity")

    rows = [ops.concat([column(made[node]) for node in loop.rows], "quantity") for made in turns]
    return output(f"{loop.turn}s", ops.stack(rows, loop.turn), "every turn at a glance")
