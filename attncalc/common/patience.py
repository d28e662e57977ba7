"""Work that takes long: how far it has got, told to whoever listens, and an end for what has no bound of its own."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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


Listener = Callable[[str, int, int | None], None]
"""Takes what is counted ("iteration"), how many are done, and how many there may be, None where nobody knows."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int, total: int | None = None) -> None:
    """So many are done, of so many: `tell("iteration", 500, 10_000)`. Where nobody listens it costs next to nothing."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """Whatever works inside is heard by the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
