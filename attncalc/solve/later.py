"""What is worked out later of a trace: how an entry comes about, what it was made from, a value that was not kept.

The graph is kept beside a trace as long as the trace lives. Where it is not at hand, because the trace comes out of a
cache or from another process, the trace's problem is solved again in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.errors import AttncalcError
from attncalc.record.trace import Arithmetic, Origin, Step, Trace
from attncalc.solve.behind import Behind, TurnsBehind
from attncalc.solve.recording import Kept
from attncalc.solve.solver import solve


def behind(trace: Trace) -> Behind | None:
    """The graph behind a trace; None of a trace without a problem."""
    found = trace.behind
    if found is None and trace.problem is not None:
        found = solve(trace.problem, **trace.mode._asdict()).behind
    if isinstance(found, Kept):
        found = _made_of(found)
        object.__setattr__(trace, "behind", found)
    return found if isinstance(found, Behind) else None


def _made_of(kept: Kept) -> Behind:
    if kept.loop is not None:
        return TurnsBehind(kept, kept.loop)
    if not kept.kind:
        return Behind(kept)
    from attncalc.solve.large import LargeBehind  # the door to large runs, which few are

    return LargeBehind(kept)


def is_worked_out(trace: Trace, step: Step) -> bool:
    """Whether there is arithmetic behind a step: there is none behind an operand or a table of turns."""
    graph = behind(trace)
    return graph is not None and graph.knows(step)


def arithmetic(trace: Trace, step: Step, at: tuple[int, ...]) -> Arithmetic:
    """The arithmetic of one entry; empty where it is only handed on, or given."""
    graph = behind(trace)
    return graph.arithmetic(step, at) if graph else ()


def origins(trace: Trace, step: Step, at: tuple[int, ...]) -> tuple[Origin, ...]:
    """The entries of steps and operands that one entry was made from."""
    graph = behind(trace)
    return graph.origins(step, at) if graph else ()


def left_over(trace: Trace, step: Step) -> Array | None:
    """Where entries are what rounding left of terms that cancel (1.1e-16 for 0): a page shows 0 there."""
    if step.value is None or step.value.dtype.kind != "f":
        return None
    graph = behind(trace)
    return graph.left_over(step) if graph else None


def entries(trace: Trace, step: Step, places: Sequence[Sequence[int]] | None) -> Array:
    """A step's entries at some places along each axis, None for all of them; what was not kept is worked out now."""
    if step.value is not None:
        return step.value if places is None else step.value[np.ix_(*places)]
    graph = behind(trace)
    if graph is None:
        raise AttncalcError(f"{step.key} was too large to keep")
    return graph.entries(step, places)
