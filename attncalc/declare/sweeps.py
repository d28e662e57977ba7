"""Which pictures a calculation declares, and the tools to make them.

By default a picture shows the result: a vector as bars, a matrix as shades. A calculation that declares `pictures`
names the steps to show instead, or gives a function of its trace that yields steps and pictures. If such a function
needs values that the trace does not hold (other temperatures, the heights around a path), it asks the Sweep, which
evaluates the same graph elsewhere, so that no formula is written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import options_of
from attncalc.record.numbers import format_number
from attncalc.record.pictures import Arrow, Picture, Plane
from attncalc.record.trace import Step, Trace


class Sweep(NamedTuple):
    """Ways to evaluate a calculation elsewhere: under other options, or over a range of its numbers."""

    again: Callable[..., Trace]  # with other operands or options: again(temperature=2); every turn of a loop is kept
    over: Callable[[str, Mapping[str, Array]], Array]  # a step's value with arrays in place of single numbers


Pictures = tuple[str, ...] | Callable[[Trace, Sweep], Iterable[Picture | Step]]
"""What a calculation declares: the names of steps or operands, or a function that yields what to draw."""


MOST_LINES = 6
"""More curves than this cannot be told apart."""
MOST_ARROWS = 8
"""More vectors than this cannot be told apart."""
MOST_TURNS = 2_000
"""Up to so many turns of a loop are all drawn; of a longer one, only those that a page shows."""


def every_turn(trace: Trace, sweep: Sweep) -> Trace:
    """The trace of a loop with all of its turns, unless there are too many."""
    return sweep.again() if options_of(trace)["steps"] <= MOST_TURNS else trace


def turns(trace: Trace, turn: str, name: str) -> list[tuple[int, Any]]:
    """(turn's number, value) of a step in each turn of a loop that was kept: `turns(trace, "step", "loss")`."""
    found = []
    for step in trace.steps:
        word, _, number = step.group.rpartition(" ")
        if step.name == name and word == turn and number.isdigit() and step.value is not None:
            found.append((int(number), step.value))
    return found


def vectors_of(trace: Trace, name: str) -> list[tuple[str, Array]]:
    """The rows of a matrix, a step or an operand, with their labels; empty if there are too many or it is no matrix."""
    steps = [step for step in trace.steps if step.key == name and step.value is not None]
    value = steps[0].value if steps else trace.inputs[name].value if name in trace.inputs else None
    if value is None or value.ndim != 2 or len(value) > MOST_ARROWS or not np.isfinite(value.astype(float)).all():
        return []
    given = trace.inputs.get(name)
    labels = (steps[0].labels.get(steps[0].axes[0]) if steps else given.labels.get(0) if given else None) or ()
    return [(labels[i] if labels else str(i), row.astype(float)) for i, row in enumerate(value)]


def fan(title: str, first: tuple[str, Array], others: Iterable[tuple[str, Array]]) -> Plane | None:
    """Vectors of any width drawn around the first one, which lies on the axis; lengths and angles to it are true.

    None if one of them has no direction.
    """
    own, base = float(np.linalg.norm(first[1])), np.asarray(first[1], dtype=float)
    if not own or not np.isfinite(own):
        return None
    arrows, angles = [Arrow(first[0], own, 0.0)], []
    for name, vector in others:
        size = float(np.linalg.norm(vector))
        if not size or not np.isfinite(size):
            return None
        turn = float(np.arccos(np.clip(base @ vector / own / size, -1, 1)))
        arrows.append(Arrow(name, size * np.cos(turn), size * np.sin(turn), 1))
        angles.append(f"{name} {format_number(round(float(np.degrees(turn)), 1))}°")
    said = f"lengths, and angles to {first[0]}, are true: {', '.join(angles)}"
    return Plane(title, f"along {first[0]}", "across it", tuple(arrows), said)
