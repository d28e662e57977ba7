"""How long exact numbers and letters may take: SymPy has no bound of its own, and what takes minutes is rarely read."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attncalc.errors import NotExact
from attncalc.ops.kernels import WITHOUT

MOST_SECONDS = 20.0
"""Of the processor's time, so that a busy machine refuses nothing that an idle one answers."""


class _TooLongError(BaseException):
    """Not an Exception, since SymPy passes over some of those and goes on."""


@contextmanager
def patience() -> Iterator[None]:
    """Raise NotExact where what is inside takes too long, or nests its expressions too deeply.

    The time is limited where the system has a timer of the processor's time, in the main thread, which gets signals.
    """
    try:
        with _timer():
            yield
    except _TooLongError:
        raise NotExact(f"the exact entries take more than {MOST_SECONDS:g} seconds", hint=WITHOUT) from None
    except RecursionError:
        raise NotExact("the exact entries have grown too deep", hint=WITHOUT) from None


@contextmanager
def _timer() -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(number: int, frame: Any) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
