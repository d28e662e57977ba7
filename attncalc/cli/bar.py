"""How far a long work has got, on standard error, while somebody is looking; it is erased when the work ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

from attncalc.cli import output
from attncalc.common.system import told_to

if TYPE_CHECKING:  # Rich is loaded when a work is long
    from rich.progress import Progress, TaskID

APPEARS = 1.0
"""The seconds before a bar appears; what is done sooner needs none, and does not load Rich."""
REDRAWN = 0.1
"""The seconds after which it is drawn again."""
ROOMY = 60
"""The fewest columns with room for two times: how long it has taken, and how long it may take."""


@contextmanager
def bar(*, quiet: bool = False) -> Iterator[None]:
    """Show how far the work inside has got, on a terminal that can erase a line, unless it is to be quiet."""
    if quiet or not output.is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield
        return
    drawn = Bar()
    try:
        with told_to(drawn.told):
            yield
    finally:
        drawn.erase()


class Bar:
    """A line for each thing that is counted: `iteration 1,000 of 5,000 ━━━━━ 0:00:04`."""

    def __init__(self) -> None:
        self.due = monotonic() + APPEARS
        self.progress: Progress | None = None
        self.tasks: dict[str, TaskID] = {}

    def told(self, what: str, done: int, total: int | None) -> None:
        """Draw how much is done, if it is time."""
        now = monotonic()
        if now < self.due:
            return
        self.due = now + REDRAWN
        numbers = f"{done:,}" if total is None else f"{done:>{len(f'{total:,}')},} of {total:,}"
        with suppress(OSError):  # a terminal that has gone away wants no bar
            if self.progress is None:
                self.progress = _progress()
            if what not in self.tasks:
                self.tasks[what] = self.progress.add_task(what, total=total, completed=done)
            self.progress.update(self.tasks[what], description=f"{what} {numbers}", completed=done, total=total)
            self.progress.start()  # once is enough
            self.progress.refresh()

    def erase(self) -> None:
        """Leave nothing on the terminal."""
        if self.progress is None:
            return
        with suppress(OSError):
            try:
                self.progress.stop()
            except IndexError:  # a signal came while it started: all that Rich has done is to hide the cursor
                self.progress.console.show_cursor()


def _progress() -> Progress:
    """Rich's progress, which is drawn when it is told to, not by a thread of its own."""
    from rich.console import Console  # a door: most works are done before any bar
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    console = Console(stderr=True)
    whole = Column(no_wrap=True)  # no number is cut: the bar gives way
    times = [TimeElapsedColumn(whole)] if console.width >= ROOMY else []
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *times,
        TimeRemainingColumn(table_column=whole),
        console=console,
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
