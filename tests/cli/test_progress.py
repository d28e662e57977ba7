"""The bar of long works: seen through a terminal, never in a pipe, and gone without a trace when the work ends."""

from __future__ import annotations

import io
import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import pytest

from attncalc.cli import progress
from attncalc.cli.progress import APPEARS, OFTEN, Bar
from attncalc.progress import tell, told_to

posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")

# f has its minimum at 0 and is left at once: with so small a rate no descent settles or ends.
LONG = ["descend", "x**2 + y**2", "--start", "x=3,y=1", "--lr", "1e-9", "--get", "point"]


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Screen(io.StringIO):
    """A terminal of one line, in whatever encoding."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # StringIO has none
        return self._encoding

    def line(self) -> str:
        """What a reader sees after all that was written."""
        return seen(self.getvalue())


def seen(text: str) -> str:
    """The last line of a terminal to which `text` was written: a carriage return overwrites from the beginning."""
    line = ""
    for part in text.rpartition("\n")[2].split("\r"):
        line = part + line[len(part) :]
    return line


def drawn(clock: Clock, screen: Screen, *said: tuple[str, int, int | None]) -> str:
    """The bar after these, one `OFTEN` apart from the time that it appears."""
    bar = Bar(screen, clock)
    clock.now = APPEARS
    for each in said:
        bar.told(*each)
        clock.now += OFTEN
    return screen.line()


class TestLine:
    @pytest.mark.parametrize(
        ("said", "line"),
        [
            pytest.param(("token", 1, 4), f"token 1 of 4 {'━' * 10}{'─' * 30} 3 s left", id="a quarter"),
            pytest.param(("sheet", 4, 4), f"sheet 4 of 4 {'━' * 40} 0 s left", id="all"),
            pytest.param(("token", 0, 4), f"token 0 of 4 {'─' * 40}", id="nothing yet, nothing to reckon with"),
            pytest.param(
                ("iteration", 1_000, 1_000_000),
                f"iteration     1,000 of 1,000,000 {'─' * 29} 16 min 39 s left",
                id="the bar gives way to large numbers",
            ),
            pytest.param(("row", 10, 1_000_000), f"row        10 of 1,000,000 {'─' * 35} 27 h 46 min left", id="hours"),
            pytest.param(("block", 12, None), "block 12, 1 s", id="nobody knows how many there are"),
        ],
    )
    def test_says_how_far_and_how_long(self, said: tuple[str, int, int | None], line: str) -> None:
        assert drawn(Clock(), Screen(), said) == line

    def test_is_spelled_as_the_terminal_can(self) -> None:
        assert drawn(Clock(), Screen("ascii"), ("token", 1, 4)) == f"token 1 of 4 {'#' * 10}{'.' * 30} 3 s left"

    def test_leaves_nothing_of_a_longer_one_before(self) -> None:
        line = drawn(Clock(), Screen(), ("iteration", 100, None), ("turn", 1, None))
        assert line.rstrip() == "turn 1, 1 s"


class TestTimes:
    def test_what_is_soon_done_has_no_bar(self) -> None:
        clock, screen = Clock(), Screen()
        bar = Bar(screen, clock)
        for clock.now in (0.0, 0.5, 0.99 * APPEARS):
            bar.told("token", 1, 2)
        bar.erase()
        assert screen.getvalue() == ""

    def test_it_is_not_drawn_more_often_than_can_be_seen(self) -> None:
        clock, screen = Clock(), Screen()
        bar = Bar(screen, clock)
        for clock.now in (APPEARS, APPEARS + 0.9 * OFTEN, APPEARS + 1.1 * OFTEN):
            bar.told("token", 1, 2)
        assert screen.getvalue().count("token") == 2

    def test_erasing_leaves_an_empty_line(self) -> None:
        clock, screen = Clock(), Screen()
        bar = Bar(screen, clock)
        clock.now = APPEARS
        bar.told("token", 1, 2)
        assert screen.line()
        bar.erase()
        assert screen.line().strip() == ""
        assert screen.getvalue().endswith("\r")


@pytest.mark.parametrize(
    ("terminal", "term", "quiet", "wanted"),
    [
        pytest.param(True, "xterm", False, True, id="a terminal"),
        pytest.param(False, "xterm", False, False, id="a pipe"),
        pytest.param(True, "dumb", False, False, id="a terminal that cannot erase"),
        pytest.param(True, "xterm", True, False, id="quiet was asked for"),
    ],
)
def test_where_there_is_a_bar(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, term: str, quiet: bool, wanted: bool
) -> None:
    screen = Screen()
    monkeypatch.setattr(screen, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(progress, "APPEARS", 0.0)
    with progress.bar(quiet=quiet):
        tell("token", 1, 4)
    assert ("token 1 of 4" in screen.getvalue()) is wanted
    assert seen(screen.getvalue()).strip() == ""


def test_nobody_is_told_outside() -> None:
    told: list[int] = []
    with told_to(lambda what, done, total: told.append(done)):
        tell("token", 1, 3)
    tell("token", 2, 3)
    assert told == [1]


class Done(NamedTuple):
    """A call whose standard error is a terminal."""

    status: int
    stdout: bytes
    screen: str  # everything that was written to the terminal


def in_terminal(
    command: Sequence[str],
    words: Sequence[str],
    *,
    end: signal.Signals | None = None,
    columns: int = 80,
) -> Done:
    """The call; with `end` it gets that signal as soon as something is on the screen."""
    import fcntl
    import pty
    import termios

    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    surroundings = {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        [*command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal, env=surroundings
    )
    os.close(terminal)
    screen = b""
    with suppress(OSError):  # the other side is closed
        while select.select([reader], [], [], 60)[0] and (written := os.read(reader, 4096)):
            screen += written
            if end is not None:
                process.send_signal(end)
                end = None
    stdout, _ = process.communicate(timeout=30)
    os.close(reader)
    return Done(process.returncode, stdout, screen.decode())


@posix
class TestInATerminal:
    # The signal comes when the bar is there, so that a million of iterations are never made.
    @pytest.mark.parametrize(
        ("end", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupted", "terminated"]
    )
    def test_a_signal_erases_the_bar(self, attncalc_command: list[str], end: signal.Signals, status: int) -> None:
        done = in_terminal(attncalc_command, [*LONG, "--steps", "5000000"], end=end)
        assert (done.status, done.stdout) == (status, b"")
        assert "of 5,000,001" in done.screen
        assert "\n" not in done.screen
        assert seen(done.screen).strip() == ""

    def test_what_is_calculated_is_the_same(self, attncalc_command: list[str]) -> None:
        call = [*LONG, "--steps", "80000", "-f", "json"]
        done = in_terminal(attncalc_command, call, columns=60)
        piped = subprocess.run([*attncalc_command, *call], capture_output=True, check=False)
        assert (done.status, piped.returncode) == (0, 0)
        assert done.stdout == piped.stdout
        assert "of 80,001" in done.screen
        assert [seen(line).strip() for line in done.screen.splitlines()[-1:]] == [piped.stderr.decode().strip()]
        assert max(len(part.rstrip()) for part in done.screen.partition("note")[0].split("\r")) < 60
        assert b"of 80,001 \xe2" not in piped.stderr
