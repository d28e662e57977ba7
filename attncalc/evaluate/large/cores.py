"""Work on all cores at once: threads over pieces, with NumPy's own linear algebra kept to one core each.

A library of linear algebra that starts threads of its own for every small product spends its time on waking them, most
of all on a busy machine. It is told to leave that to the threads here; where it is one that threadpoolctl does not
know, as Apple's, its threads are left as they are and the pieces are done one after the other.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from attncalc.common import system

Piece = TypeVar("Piece")
Made = TypeVar("Made")


def on_all(work: Callable[[Piece], Made], pieces: Iterable[Piece]) -> list[Made]:
    """What the work makes of every piece, in their order; as many at a time as there are cores.

    This thread works as the others do, rather than wait for them.
    """
    left = deque(enumerate(pieces))
    made: dict[int, Made] = {}
    total = len(left)

    def share() -> None:
        try:
            while (one := _taken(left)) is not None:
                place, piece = one
                made[place] = work(piece)
                system.tell("block", len(made), total)  # heard in this thread alone
        finally:
            left.clear()  # where a thread fails, or is interrupted, the others end with the piece that they have

    one_core = partial(linear_algebra().limit, limits=1)
    if not linear_algebra().lib_controllers:
        share()
    else:
        # Where the library counts by OpenMP, each thread has a number of its own.
        with one_core(), ThreadPoolExecutor(max(1, count() - 1), initializer=one_core) as pool:
            others = [pool.submit(share) for _ in range(count() - 1)]
            share()
            for other in others:
                other.result()
        system.tell("block", total, total)
    return [made[place] for place in range(total)]


def _taken(left: deque[Piece]) -> Piece | None:
    """The next of the pieces, which no other thread then has; None where none is left."""
    try:
        return left.popleft()
    except IndexError:
        return None


def count() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def linear_algebra() -> ThreadpoolController:
    """The libraries of linear algebra that are loaded, NumPy's among them, where it is a known one."""
    return ThreadpoolController().select(user_api="blas")
