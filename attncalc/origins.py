"""Where an entry comes from: the entries of steps and operands that it is made of.

The same rows that write an entry's arithmetic are followed here, to the places instead of the numbers, and with nothing
left out of a long sum. What decides a choice (the entry of a mask, the number of a row) is a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from attncalc.cells import At, Cell, EntryOf, Form, Pick
from attncalc.graph import Node
from attncalc.trace import Origin

Place = tuple[int, ...]

MOST_FOLLOWED = 2_000  # entries; nobody can look at more at once
MOST_TOLD = 40  # blocks


@np.errstate(all="ignore")  # what overflows on the way is told with the step
def origins(node: Node, at: At, value: EntryOf) -> tuple[Origin, ...]:
    """The entries that a step's entry is made of, in blocks, in the order of the formula; none where they are too many.

    They are those of the steps and operands in the step's own formula, and not those behind them.
    """
    expression = node.sources[0] if node.op == "step" else node
    found: dict[Node, set[Place]] = {}
    seen: set[tuple[Node, Place]] = set()
    ahead: list[tuple[Node, At]] = [(expression, at)]
    while ahead:
        here, there = ahead.pop()
        place = tuple(there[name] for name in here.names)
        if (here, place) in seen:
            continue
        seen.add((here, place))
        if len(seen) > MOST_FOLLOWED:
            return ()
        if here.op in ("step", "input"):
            found.setdefault(here, set()).add(place)
        else:
            ahead.extend(reversed(_sources(here, there, value)))
    blocks = [
        Origin(leaf.args["name"] if leaf.op == "input" else leaf.path, leaf.op == "input", ranges)
        for leaf, places in found.items()
        for ranges in _blocks(leaf.names, places)
    ]
    return tuple(blocks) if len(blocks) <= MOST_TOLD else ()


def _sources(node: Node, at: At, value: EntryOf) -> list[tuple[Node, At]]:
    """The entries of the sources that an entry is made of, and those that were looked at to tell how it is made."""
    looked: list[Pick] = []

    def look(source: int, place: At) -> Any:
        looked.append(Pick(source, place))
        return value(node.sources[source], place)

    picked = list(_picks(node.row.cell(node, at, look)))
    return [(node.sources[pick.source], pick.at) for pick in (*picked, *looked)]


def _picks(cell: Cell) -> Iterator[Pick]:
    if isinstance(cell, Pick):
        yield cell
    elif isinstance(cell, Form):
        for part in cell.parts:
            yield from _picks(part)


def _blocks(names: tuple[str, ...], places: set[Place]) -> Iterator[Mapping[str, range]]:
    """The places as one block where they fill it, else as stretches of rows."""
    spans = [range(min(along), max(along) + 1) for along in zip(*places, strict=True)]
    if prod(map(len, spans)) == len(places):
        yield dict(zip(names, spans, strict=True))
        return
    for before, row in groupby(sorted(places), key=lambda place: place[:-1]):
        lead = [range(i, i + 1) for i in before]
        stretches = groupby(enumerate(place[-1] for place in row), key=lambda pair: pair[1] - pair[0])
        for _, stretch in stretches:
            along = [i for _, i in stretch]
            yield dict(zip(names, [*lead, range(along[0], along[-1] + 1)], strict=True))
