"""Work is shared out among processes, which end with the call, however it ends, and write nothing themselves."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from attncalc.common.errors import AttncalcError

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_AT_ONCE = 16  # items that a process is handed together


def shared_out(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int,
    begin: Callable[..., None],
    given: tuple[Any, ...],
) -> Iterator[Result]:
    """What `work` makes of each item, in their order, by so many processes; each starts with `begin(*given)`."""
    size = max(1, min(MOST_AT_ONCE, len(items) // (4 * jobs)))
    with _signals_held():
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (begin, *given))
    try:
        with _signals_held():
            batches = [pool.submit(_each, work, items[i : i + size]) for i in range(0, len(items), size)]
        for batch in batches:
            yield from batch.result()
    except BrokenProcessPool:
        hint = "where memory was short, fewer --jobs need less of it"
        raise AttncalcError("a process that shared the work was ended from outside", hint=hint) from None
    except BaseException:  # whatever ends this early, an interrupt above all, leaves work that nobody waits for
        for process in active_children():
            process.kill()
        raise
    finally:
        pool.shutdown()


def _begin(begin: Callable[..., None], *given: Any) -> None:
    """Begin as a process of a call: one that is killed can end nobody, so that each looks after it."""
    parent = parent_process()
    assert parent is not None, "a worker was started by the call"

    def end_with_it() -> None:
        parent.join()
        os._exit(1)

    Thread(target=end_with_it, daemon=True).start()
    begin(*given)


def _each(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [work(item) for item in items]


@contextmanager
def _signals_held() -> Iterator[None]:
    """Ctrl-C, or a terminal that is closed, waits until this is over.

    A process that is started meanwhile never sees either, and is ended by us; so is the one that keeps account of what
    they share, which would complain.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
