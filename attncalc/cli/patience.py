"""How long exact numbers and letters may take: SymPy has no bound of its own, and what takes minutes is rarely read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attncalc.alarm import TooLongError, alarm
from attncalc.errors import NotExact
from attncalc.ops.kernels import WITHOUT

MOST_SECONDS = 20.0
"""Of the processor's time, so that a busy machine refuses nothing that an idle one answers."""


@contextmanager
def patience() -> Iterator[None]:
    """Raise NotExact where what is inside takes too long, or nests its expressions too deeply."""
    try:
        with alarm(MOST_SECONDS, of_the_processor=True):
            yield
    except TooLongError:
        raise NotExact(f"the exact entries take more than {MOST_SECONDS:g} seconds", hint=WITHOUT) from None
    except RecursionError:
        raise NotExact("the exact entries have grown too deep", hint=WITHOUT) from None
