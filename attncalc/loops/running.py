"""Loops run: a turn's graph evaluated again and again, and graphs that grow by a turn, until a value says enough."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncalc import progress
from attncalc.arrays import Array
from attncalc.errors import OptionError
from attncalc.evaluate import by_key, evaluate
from attncalc.graph import Node
from attncalc.loops.program import Program

if TYPE_CHECKING:
    from attncalc.evaluate import Rounding
    from attncalc.loops import End, Growth, Loop
    from attncalc.loops.program import Values

KEPT = 6
"""So many turns are kept at the beginning, and as many at the end."""
MOST = 10_000_000
"""So many turns take minutes, and no more are made."""
MOST_KEPT = 50_000
"""So many turns take half a gigabyte where all are kept, and no more are."""


class Turn(NamedTuple):
    """One turn that is kept: its number and its values."""

    number: int
    values: Values
    inputs: Mapping[str, Array]


class Ran(NamedTuple):
    """A loop that has ended: the turns that were kept, how many there were, and why it ended early, if it did."""

    kept: list[Turn]
    turns: int
    end: End | None


def run(
    loop: Loop,
    operands: Mapping[str, Array],
    *,
    dtype: str = "float64",
    after_step: Rounding | None = None,
    keep_all: bool = False,
) -> Ran:
    """Turn after turn, until the loop's own reason to stop or its number of turns."""
    if loop.turns > MOST:
        raise OptionError(f"{loop.turns:,} {loop.turn}s are asked for, but {MOST:,} is the limit")
    start = {**operands, **loop.start}
    program = Program((*loop.steps, *loop.carry.values()), start, loop.carry, dtype=dtype, after_step=after_step)
    first: list[Turn] = []
    latest: deque[Turn] = deque(maxlen=None if keep_all else KEPT + 1)  # one of them may be taken back
    end, state = None, start
    with np.errstate(all="ignore"):  # what overflows or has no answer is found, and told, by whoever reads the steps
        for done in range(loop.turns):
            turn = Turn(loop.first + done, program.run(state), state)
            (first if len(first) < KEPT else latest).append(turn)
            if len(latest) > MOST_KEPT:
                raise OptionError(
                    f"--all keeps every {loop.turn}, but at most {MOST_KEPT:,} are kept",
                    hint="without --all the first and the last are shown",
                )
            state = start | {name: turn.values[node] for name, node in loop.carry.items()}
            end = loop.stop(turn.values)
            if end:
                break
            progress.tell(loop.turn, done + 1, loop.turns)
    made = [*first, *latest]
    if end and end.failed and len(made) > 1:
        made.pop()
    count = made[-1].number - loop.first + 1
    if not keep_all and count > 2 * KEPT:
        made = [*made[:KEPT], *made[-KEPT:]]
    return Ran(made, count, end)


def grown(
    growth: Growth, operands: Mapping[str, Array], *, dtype: str = "float64", after_step: Rounding | None = None
) -> tuple[tuple[Node, ...], dict[tuple[str, str], Array]]:
    """The results behind the turns that were needed, and the steps' values by their keys, so that none is lost."""
    known: dict[tuple[str, str], Array] = {}
    for done, chosen in enumerate(growth.steps, start=1):
        values = evaluate([chosen], operands, dtype=dtype, given=known, after_step=after_step)
        known |= by_key(values)
        progress.tell(growth.turn, done, growth.turns)
        if growth.enough(values[chosen]):
            break
    return growth.results(), known
