"""Work on all cores at once: threads over pieces, with NumPy's own linear algebra kept to one core each.

A library of linear algebra that starts threads of its own for every small product spends its time on waking them, most
of all on a busy machine. OpenBLAS, which NumPy's wheels bring, is told to leave that to the threads here; where NumPy
stands on another library, its threads are left as they are and the pieces are done one after the other.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from attncalc import progress

Piece = TypeVar("Piece")
Made = TypeVar("Made")


class _Threads(NamedTuple):
    """How a library of linear algebra tells, and is told, how many threads it starts."""

    get: Callable[[], int]
    set: Callable[[int], Any]


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
                progress.tell("block", len(made), total)  # heard in this thread alone
        finally:
            left.clear()  # where a thread fails, or is interrupted, the others end with the piece that they have

    if _openblas() is None:
        share()
    else:
        with _one_core_each(), ThreadPoolExecutor(max(1, count() - 1)) as pool:
            others = [pool.submit(share) for _ in range(count() - 1)]
            share()
            for other in others:
                other.result()
        progress.tell("block", total, total)
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


@contextmanager
def _one_core_each() -> Iterator[None]:
    threads = _openblas()
    assert threads is not None, "asked before"
    before = threads.get()
    threads.set(1)
    try:
        yield
    finally:
        threads.set(before)


@cache
def _openblas() -> _Threads | None:
    """OpenBLAS as NumPy has loaded it, by the names that its wheels give it; None where it is another library."""
    import ctypes

    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    for path in (path for folder in folders for path in sorted(folder.glob("*openblas*"))):
        try:
            library = ctypes.CDLL(str(path))
            return _Threads(
                library.scipy_openblas_get_num_threads64_,
                library.scipy_openblas_set_num_threads64_,
            )
        except (OSError, AttributeError):
            continue
    return None
