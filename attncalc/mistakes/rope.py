"""The mistakes of rotary positions: other pairs, frequencies by another width, a turn the other way."""

from __future__ import annotations

import numpy as np

from attncalc.declare.mistake import Mistake, NotThere, Scope, parts, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import concat, index, outer, part_of, repeat, rotate
from attncalc.mistakes.rotary import FREQUENCIES, another_base, layout


def _mixed(s: Scope) -> Node:
    """Angles for neighbours, partners half the width apart."""
    x, cosines, sines = parts(s.this, "rotate")
    name, size = x.axes[-1][:2]
    along = [repeat(part, part.names[-1], name, 2) for part in (cosines, sines)]
    first, second = part_of(x, name, 0, size // 2), part_of(x, name, size // 2, size)
    return x * along[0] + concat([-second, first], name) * along[1]


def _turned_back(s: Scope) -> Node:
    x, cosines, sines = parts(s.this, "rotate")
    return rotate(x, cosines, -sines, s.this.args["layout"])


def _one_further(s: Scope) -> Node:
    places, frequencies = parts(s.this, "outer")
    return outer(places + 1, frequencies)


def _from_0(s: Scope) -> Node:
    places, frequencies = parts(s.this, "outer")
    if places.op != "input":
        raise NotThere("positions")
    return outer(index(places.names[-1], places.axes, "p"), frequencies)


ROPE = (
    layout(""),
    wrong(
        "rope-mixed-layout",
        "rotated",
        _mixed,
        says="angles for pairs of neighbours, partners half the width apart",
        hint="Do both numbers of a pair turn by the same angle?",
    ),
    *FREQUENCIES,
    another_base(""),
    wrong(
        "rope-inverse",
        "rotated",
        _turned_back,
        says="turned the other way: [c s; −s c]",
        hint="Turn (1, 0) by 90° in your head: where does it point?",
    ),
    wrong(
        "rope-pos-from-1",
        "angles",
        _one_further,
        says="positions from 1",
        hint="Does position 0 turn anything?",
    ),
    wrong(
        "rope-degrees",
        "angles",
        lambda s: s.this * as_node(np.pi / 180),
        says="angles in degrees",
        hint="In which mode is the calculator?",
    ),
    wrong(
        "cache-positions-reset",
        "angles",
        _from_0,
        says="positions from 0 again for new tokens",
        hint="Which position has a new token behind those in the cache?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"rope": ROPE}
"""Calculation → its mistakes, the commonest first."""
