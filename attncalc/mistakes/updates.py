"""The two ways to write an update: as the number added to the point, or as the number subtracted from it."""

from __future__ import annotations

from attncalc.declare.mistake import NotThere, Scope, alternative, replaced, until_steps
from attncalc.language.graph import Node, walk


def _taken_away(s: Scope) -> Node:
    """The update with its sign turned, or a point from which it is taken away."""
    if s.step.args["name"] == "update":
        return -s.this
    found = s.this
    for node in walk(s.this, into=until_steps):
        if node.op == "add":
            found = replaced(found, node, node.sources[0] - node.sources[1])
    if found is s.this:
        raise NotThere("update")
    return found


TAKEN_AWAY = alternative(
    "update-taken-away",
    "update point",
    _taken_away,
    says="lr times the direction, and the point minus it",
)
