"""Progress: how far a long work has got, told by whoever works to whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
