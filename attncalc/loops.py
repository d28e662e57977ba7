"""Loops: a turn's graph, evaluated again and again, what comes out of one turn going into the next.

For what depends on values, so that it cannot be one graph: a descent that stops when it settles, tokens that are
chosen one by one. A loop holds no arithmetic; it keeps the first and the last turns for the reader.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from attncalc.evaluate import Array, evaluate
from attncalc.graph import Node
from attncalc.plan import plan

Values = Mapping[Node, Array]
KEPT = 5
"""So many turns are kept at the beginning, and as many at the end."""

progress: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("progress", default=None)
"""Told after every turn what turns, how many are done and how many there may be; the command line draws a bar."""


def _never(values: Values) -> str:
    return ""


class Loop(NamedTuple):
    """What a calculation returns whose turns depend on values."""

    turn: str  # what a turn is called: "iteration"
    start: Mapping[str, Array]  # the values that go into the first turn, by the names of its inputs
    steps: tuple[Node, ...]  # the roots of a turn's graph
    carry: Mapping[str, Node]  # input → the node whose value it gets at the next turn
    turns: int
    results: tuple[Node, ...]  # the steps whose last values are the outputs, the result first
    stop: Callable[[Values], str] = _never  # why the loop ends after this turn, or "" to go on
    first: int = 1  # the number of the first turn


class Turn(NamedTuple):
    """One turn that is kept: its number and its values."""

    number: int
    values: Values
    inputs: Mapping[str, Array]


class Ran(NamedTuple):
    """A loop that has ended: the turns that were kept, how many there were, and why it ended early, if it did."""

    kept: list[Turn]
    count: int
    reason: str


def run(
    loop: Loop,
    operands: Mapping[str, Array],
    *,
    dtype: str = "float64",
    after_step: Callable[[Array], Array] | None = None,
    keep_all: bool = False,
) -> Ran:
    """Turn after turn, until the loop's own reason to stop or its number of turns."""
    first: list[Turn] = []
    last: deque[Turn] = deque(maxlen=None if keep_all else KEPT)
    reason, count = "", 0
    for turn in _turns(loop, operands, dtype, after_step):
        count += 1
        (first if len(first) < KEPT else last).append(turn)
        reason = loop.stop(turn.values)
        if reason:
            break
    return Ran([*first, *last], count, reason)


def _turns(
    loop: Loop, operands: Mapping[str, Array], dtype: str, after_step: Callable[[Array], Array] | None
) -> Iterator[Turn]:
    order = plan([*loop.steps, *loop.carry.values()])
    told = progress.get()
    state: dict[str, Any] = {**operands, **loop.start}
    for i in range(loop.turns):
        values = evaluate(order, state, dtype=dtype, after_step=after_step)
        yield Turn(loop.first + i, values, state)
        state = {**state, **{name: values[node] for name, node in loop.carry.items()}}
        if told:
            told(loop.turn, i + 1, loop.turns)
