"""Mistakes of rotary positions outside of attention: wrong positions and angles."""

from __future__ import annotations

import numpy as np

from attncalc.declare.mistake import Mistake, NotThere, Scope, parts, remade, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import index, outer
from attncalc.mistakes.rotary import FREQUENCIES, another_base, layout, turns


def _from_0(s: Scope) -> Node:
    places, frequencies = parts(s.this, "outer")
    if places.op != "input":
        raise NotThere("positions")
    return outer(index(places.names[-1], places.axes, "p"), frequencies)


ROPE = (
    layout(""),
    *turns("rotated"),
    *FREQUENCIES,
    another_base(""),
    wrong(
        "rope-pos-from-1",
        "angles",
        remade("outer", lambda places, frequencies: outer(places + 1, frequencies)),
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
