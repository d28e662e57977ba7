"""How one entry of a result is made from entries of its sources: the scalar expressions that primitives give.

An entry's place is told by axis names, `{"n": 0, "m": 1}`, so that a row of the table of primitives can say
"the same place in the source" without counting axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from attncalc.graph import Node

At = Mapping[str, int]
Look = Callable[[int, At], Any]
"""(source's number, place) → the value there: what a choice (a mask, a maximum) needs to say which way it went."""
EntryOf = Callable[["Node", At], Any]
"""(node, place) → the value there, of any node: what an entry's arithmetic and its origins are found with."""


class Pick(NamedTuple):
    """The entry of a source at a place."""

    source: int
    at: At


class Form(NamedTuple):
    """An operation on entries: a sign of attncalc.arithmetic (`+`, `×`, `√`, …) or a function's name."""

    sign: str
    parts: tuple[Cell, ...]


class Literal(NamedTuple):
    """A number, or a word such as `masked`, that stands in the arithmetic for itself."""

    value: Any


Cell = Pick | Form | Literal


def pick(node: Node, source: int, at: At) -> Pick:
    """The source's entry at the same place, by the axes that it has."""
    return Pick(source, {name: at[name] for name in node.sources[source].names})


def entrywise(sign: str) -> Callable[[Node, At, Look], Form]:
    """The cell of an elementwise primitive: the same operation on the entries at the same place."""

    def cell(node: Node, at: At, look: Look) -> Form:
        return Form(sign, tuple(pick(node, i, at) for i in range(len(node.sources))))

    return cell


def moved(node: Node, at: At, look: Look) -> Pick:
    """The cell of a primitive that only hands its source's entry on."""
    return pick(node, 0, at)


def along(node: Node, axis: str, at: At, source: int = 0) -> tuple[Pick, ...]:
    """The source's entries along an axis that the result has lost, or that it mixes."""
    size = next(a.size for a in node.sources[source].axes if a.name == axis)
    first = pick(node, source, {**at, axis: 0}).at  # looked up once: a vector may have millions of entries
    return tuple(Pick(source, {**first, axis: i}) for i in range(size))
