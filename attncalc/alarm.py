"""An end for work that has no bound of its own: it is given up after so much time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TooLongError(BaseException):
    """The time is over; not an Exception, since searches pass over those and go on."""


@contextmanager
def alarm(seconds: float, *, of_the_processor: bool = False) -> Iterator[None]:
    """Raise TooLongError where what is inside takes more than so many seconds, by the clock or of the processor's time.

    0 seconds are no limit; nor is there one where the system has no timer, or outside the main thread, which alone gets
    signals.
    """
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    timer, sent = (
        (signal.ITIMER_VIRTUAL, signal.SIGVTALRM) if of_the_processor else (signal.ITIMER_REAL, signal.SIGALRM)
    )

    def give_up(number: int, frame: Any) -> None:
        raise TooLongError

    try:
        before = signal.signal(sent, give_up)
    except ValueError:  # not in the main thread
        yield
        return
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(sent, before)
