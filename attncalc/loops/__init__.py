"""Loops: a turn's graph, evaluated again and again, what comes out of one turn going into the next.

For what depends on values, so that it cannot be one graph: a descent that stops when it settles. A loop holds no
arithmetic; it keeps the first and the last turns for the reader. Where every turn is longer than the one before, as
with tokens that are chosen one by one, the graph grows instead, until a value says that it is enough.

Here is what a calculation returns; running evaluates it, by a program that makes a turn's graph ready, and turns
records the turns for a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.arrays import Array
from attncalc.graph import Node

if TYPE_CHECKING:
    from attncalc.loops.program import Values


class End(NamedTuple):
    """Why a loop ends early; `failed` takes the turn back that says so, if it is not the first one, and warns."""

    reason: str
    failed: bool = False


def _never(values: Values) -> End | None:
    return None


class Loop(NamedTuple):
    """What a calculation returns whose turns depend on values."""

    turn: str  # what a turn is called: "iteration"
    start: Mapping[str, Any]  # the values that go into the first turn, by the names of its inputs
    steps: tuple[Node, ...]  # the roots of a turn's graph
    carry: Mapping[str, Node]  # input → the node whose value it gets at the next turn
    turns: int
    results: tuple[Node, ...]  # the steps whose last values are the outputs, the result first
    stop: Callable[[Values], End | None] = _never  # asked after every turn
    first: int = 1  # the number of the first turn
    rows: tuple[Node, ...] = ()  # the steps that make up a table with a row for each turn
    loss: Node | None = None  # what a backward pass starts from, in the first turn; nothing has a gradient without it


class Growth(NamedTuple):
    """What a calculation returns whose graph grows by a turn until a value says that it is enough."""

    turn: str  # what a turn is called: "token"
    steps: Iterator[Node]  # writes a turn at a time, in a group of its own: the step that is looked at
    turns: int
    enough: Callable[[Array], bool]  # asked of that step's value
    results: Callable[[], tuple[Node, ...]]  # written behind the last turn, the result first
