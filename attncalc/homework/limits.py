"""The limits of a sheet, which may be a stranger's: so many bytes, so much time, and no more of either.

They are the same for one sheet and for many. A sheet is no link, pipe or device (`Reading` with `most` refuses those),
and what takes too much costs that sheet alone. A call from Python has no limit of time: the alarm of a process belongs
to whoever runs it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attncalc.alarm import TooLongError, alarm
from attncalc.errors import InputError

if TYPE_CHECKING:
    from attncalc.homework.key import Key

MOST_BYTES = 4 * 2**20
MOST_SECONDS = 20.0
LONGEST_NUMBER = 64
"""Bytes that a number takes, with what stands around it, where every number of a problem is written out."""


def room(key: Key) -> int:
    """The bytes that the one answer to a problem may have: a sheet's, or what all numbers of a large problem take."""
    inside = sum(math.prod(node.shape) for node in key.nodes.values())
    given = sum(value.size for value in key.ways.operands.values())
    return max(MOST_BYTES, LONGEST_NUMBER * (inside + given))


@contextmanager
def limited(what: str = "it", *, timed: bool = True) -> Iterator[None]:
    """Whatever takes too long, too much memory or too deep a nesting is told as a fault of the sheet.

    Raises InputError. The time is limited where the system has an alarm to set.
    """
    try:
        with alarm(MOST_SECONDS if timed else 0):
            yield
    except TooLongError:
        raise InputError(f"{what} took more than {MOST_SECONDS:g} seconds") from None
    except MemoryError:
        raise InputError(f"{what} takes more memory than there is") from None
    except RecursionError:
        raise InputError(f"{what} is nested too deeply") from None
