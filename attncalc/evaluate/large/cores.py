"""Work on all cores at once: threads over pieces, with NumPy's linear algebra limited to one core in each.

A linear algebra library that starts its own threads for every small product spends its time waking them, most of all
on a busy machine. It is limited to one thread here. If threadpoolctl does not know the library, such as Apple's, its
threads are left alone, and the pieces are done one after the other.
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
    """The results of the work on every piece, in order; as many run at a time as there are cores.

    This thread works too, instead of waiting for the others.
    """
    left = deque(enumerate(pieces))
    made: dict[int, Made] = {}
    total = len(left)

    def share() -> None:
        try:
            while (one := _taken(left)) is not None:
                place, piece = one
                made[place] = work(piece)
                system.tell("block", len(made), total)  # only this thread has the listener
        finally:
            left.clear()  # if a thread fails or is interrupted, the others stop after their present piece

    one_core = partial(linear_algebra().limit, limits=1)
    if not linear_algebra().lib_controllers:
        share()
    else:
        # If the library uses OpenMP, the limit must be set in each thread.
        with one_core(), ThreadPoolExecutor(max(1, count() - 1), initializer=one_core) as pool:
            others = [pool.submit(share) for _ in range(count() - 1)]
            share()
            for other in others:
                other.result()
        system.tell("block", total, total)
    return [made[place] for place in range(total)]


def _taken(left: deque[Piece]) -> Piece | None:
    """Take the next piece, which no other thread then gets; None if none is left."""
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
    """A controller of the loaded linear algebra libraries, including NumPy's if threadpoolctl knows it."""
    return ThreadpoolController().select(user_api="blas")
