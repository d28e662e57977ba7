"""A bar on standard error for work that takes long, where somebody is looking; erased when the work ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TextIO

from attncalc import progress
from attncalc.cli import output

APPEARS = 1.0
"""After so many seconds; what is done sooner needs no bar."""
OFTEN = 0.1
"""It is drawn anew after so many seconds."""
LONGEST, SHORTEST = 40, 5
"""Columns of the bar itself; where there are fewer, the numbers stand alone."""
LEFT = len(" 59 min 59 s left ")
"""Columns for the time that is left, so that the bar keeps its length while that shrinks."""


@contextmanager
def bar(*, quiet: bool = False) -> Iterator[None]:
    """Work inside shows how far it is, on a terminal that can erase a line, unless quiet was asked for."""
    if quiet or not output.is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield
        return
    drawn = Bar(sys.stderr)
    try:
        with progress.told_to(drawn.told):
            yield
    finally:
        drawn.erase()


class Bar:
    """One line of a terminal; `clock` counts seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = monotonic) -> None:
        self.stream, self.clock = stream, clock
        self.began = clock()
        self.due = self.began + APPEARS
        self.shown = ""
        self.signs = "━─" if output.carries_signs(stream) else "#."

    def told(self, what: str, done: int, total: int | None) -> None:
        """Draw what has been heard, if it is time."""
        now = self.clock()
        if now < self.due:
            return
        self.due = now + OFTEN
        self._show(self._line(what, done, total, now - self.began))

    def erase(self) -> None:
        """Leave the line empty, and the cursor at its beginning."""
        if self.shown:
            self._write(f"\r{' ' * len(self.shown)}\r")
            self.shown = ""

    def _line(self, what: str, done: int, total: int | None, seconds: float) -> str:
        if total is None:
            return f"{what} {done:,}, {_time(seconds)}"
        said = f"{what} {done:>{len(f'{total:,}')},} of {total:,}"
        left = f"{_time(seconds * (total - done) / done)} left" if done else ""
        room = min(self._columns() - len(said) - LEFT, LONGEST)
        full = room * done // total
        drawn = self.signs[0] * full + self.signs[1] * (room - full) if room >= SHORTEST else ""
        return " ".join(filter(None, (said, drawn, left)))

    def _show(self, line: str) -> None:
        self.shown, before = line[: self._columns()], len(self.shown)  # first: a signal may end the next line
        self._write("\r" + self.shown.ljust(before))

    def _columns(self) -> int:
        """How wide a line may be: the last column stays free, or the cursor would be on the next line."""
        try:
            return max(os.get_terminal_size(self.stream.fileno()).columns, 20) - 1
        except OSError:
            return 79

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a terminal that has gone away wants no bar
            self.stream.write(text)
            self.stream.flush()


def _time(seconds: float) -> str:
    """`8 s`, `2 min 5 s`, `3 h 7 min`: the two largest units."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
