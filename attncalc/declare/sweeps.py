"""Which pictures a calculation declares, and what it is handed to make them.

A calculation that says nothing is pictured by its result: a vector as bars, a matrix as shades. One that declares
`pictures` names the steps to show in its place, or gives a function of its trace that yields steps and pictures. What
such a function needs and the trace does not hold (other temperatures, the heights around a path) it asks of the Sweep,
which evaluates the same graph elsewhere: no formula is typed a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import options_of
from attncalc.record.pictures import Picture
from attncalc.record.trace import Step, Trace


class Sweep(NamedTuple):
    """The ways to work a calculation out elsewhere: under other options, or over a whole range of its numbers."""

    again: Callable[..., Trace]  # with other operands or options: again(temperature=2); every turn of a loop is kept
    over: Callable[[str, Mapping[str, Array]], Array]  # a step's value where single numbers are arrays instead


Pictures = tuple[str, ...] | Callable[[Trace, Sweep], Iterable[Picture | Step]]
"""What a calculation declares: the names of steps or operands, or a function that yields what is to be drawn."""


MOST_LINES = 6
"""So many curves one can still tell apart."""
MOST_TURNS = 2_000
"""Of so many turns of a loop every one is drawn; of more those that a page shows."""


def every_turn(trace: Trace, sweep: Sweep) -> Trace:
    """The trace of a loop with all of its turns, unless there are too many."""
    return sweep.again() if options_of(trace)["steps"] <= MOST_TURNS else trace


def turns(trace: Trace, turn: str, name: str) -> list[tuple[int, Any]]:
    """A step's value in each turn of a loop that was kept, with the turn's number: `turns(trace, "step", "loss")`."""
    found = []
    for step in trace.steps:
        word, _, number = step.group.rpartition(" ")
        if step.name == name and word == turn and number.isdigit() and step.value is not None:
            found.append((int(number), step.value))
    return found
