"""A sheet, which may be a stranger's, has limits: so many bytes, so much time, and no more of either.

They are the same for one sheet and for many. A sheet is no link, pipe or device (`Reading` with `most` refuses those),
and what takes too much costs that sheet alone. A call from Python has no limit of time: the alarm of a process belongs
to whoever runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attncalc.common.errors import InputError
from attncalc.common.patience import TooLongError, alarm

MOST_BYTES = 4 * 2**20
MOST_SECONDS = 20.0


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
