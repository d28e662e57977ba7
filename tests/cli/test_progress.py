"""The bar of long works: seen through a terminal, never in a pipe, and gone without a trace when the work ends."""

from __future__ import annotations

import io
import os
import re
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

import pytest
from checkpoints import computed

from attncalc.cli import bar
from attncalc.common.system import tell, told_to

posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")

# f has its minimum at 0 and is left at once: with so small a rate no descent settles or ends.
LONG = ["descend", "x**2 + y**2", "--start", "x=3,y=1", "--lr", "1e-9", "--get", "point"]


class Screen(io.StringIO):
    """Standard error as a terminal, in whatever encoding."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # StringIO has none
        return self._encoding

    def isatty(self) -> bool:
        return True


CONTROL = re.compile(r"(\r|\n|\x1b\[\d*[A-Za-z]|\x1b\[\?25[lh])")


def seen(text: str) -> list[list[str]]:
    """What stands on the lines of a terminal after each thing that was written to it."""
    lines, row, found = [""], 0, list[list[str]]()
    for part in CONTROL.split(text):
        if part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif part == "\x1b[1A":
            row -= 1
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part and not CONTROL.match(part):
            lines[row] += part
            found.append([line for line in lines if line])
    return [*found, [line for line in lines if line]]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal of 80 columns on which a bar appears at once."""
    screen = Screen()
    monkeypatch.setattr(bar, "APPEARS", 0.0)
    monkeypatch.setattr(bar, "REDRAWN", 0.0)
    for name, value in {"TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    return screen


@contextmanager
def watched(screen: Screen, *, quiet: bool = False) -> Iterator[None]:
    """A long work before the screen."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stderr", screen)  # here, since pytest sets its own before each test
        with bar.bar(quiet=quiet):
            yield


@pytest.mark.parametrize(
    ("said", "line"),
    [
        pytest.param(("token", 1, 4), "token 1 of 4 ━", id="a quarter"),
        pytest.param(("sheet", 4, 4), "sheet 4 of 4 ━", id="all"),
        pytest.param(("iteration", 1_000, 1_000_000), "iteration     1,000 of 1,000,000 ", id="large numbers"),
        pytest.param(("block", 12, None), "block 12 ", id="nobody knows how many there are"),
        pytest.param(("[red]", 1, 2), "[red] 1 of 2", id="no markup"),
    ],
)
def test_says_how_far_it_is(screen: Screen, said: tuple[str, int, int | None], line: str) -> None:
    with watched(screen):
        tell(*said)
    states = seen(screen.getvalue())
    assert any(state and state[-1].startswith(line) for state in states)
    assert states[-1] == []


def test_what_stands_within_another_has_a_line_of_its_own(screen: Screen) -> None:
    with watched(screen):
        tell("token", 1, 4)
        tell("block", 2, 3)
    assert any([line[:10] for line in state] == ["token 1 of", "block 2 of"] for state in seen(screen.getvalue()))
    assert seen(screen.getvalue())[-1] == []


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_no_number_is_cut(screen: Screen, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with watched(screen):
        tell("iteration", 1_000, 5_000_000)
    drawn = {line for state in seen(screen.getvalue()) for line in state}
    assert any("1,000 of 5,000,000" in line for line in drawn)
    assert not any("…" in line or len(line) > columns for line in drawn)


def test_is_spelled_as_the_terminal_can(screen: Screen) -> None:
    screen._encoding = "ascii"
    with watched(screen):
        tell("token", 1, 4)
    assert "token 1 of 4" in screen.getvalue()
    assert screen.getvalue().isascii()


def test_what_is_soon_done_has_no_bar(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bar, "APPEARS", 60.0)
    with watched(screen):
        tell("token", 1, 2)
    assert screen.getvalue() == ""


def test_it_is_not_drawn_more_often_than_can_be_seen(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bar, "REDRAWN", 60.0)
    with watched(screen):
        for done in range(1, 100):
            tell("token", done, 100)
    assert "  1 of 100" in screen.getvalue()
    assert "2 of 100" not in screen.getvalue()


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
    screen: Screen, monkeypatch: pytest.MonkeyPatch, terminal: bool, term: str, quiet: bool, wanted: bool
) -> None:
    monkeypatch.setattr(screen, "isatty", lambda: terminal)
    monkeypatch.setenv("TERM", term)
    with watched(screen, quiet=quiet):
        tell("token", 1, 4)
    assert ("token 1 of 4" in screen.getvalue()) is wanted


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
    when: bytes = b" of ",
    columns: int = 80,
) -> Done:
    """The call; with `end` it gets that signal as soon as `when` is on the screen."""
    import fcntl
    import pty
    import termios

    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    surroundings = {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"}
    surroundings.pop("COLUMNS", None)
    process = subprocess.Popen(
        [*command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal, env=surroundings
    )
    os.close(terminal)
    screen = b""
    with suppress(OSError):  # the other side is closed
        while select.select([reader], [], [], 60)[0] and (written := os.read(reader, 4096)):
            screen += written
            if end is not None and when in screen:
                process.send_signal(end)
                end = None
    stdout, _ = process.communicate(timeout=30)
    os.close(reader)
    return Done(process.returncode, stdout, screen.decode())


def test_the_steps_of_a_model_are_counted() -> None:
    """Its forward pass of few tokens was silent, however large its weights."""
    heard: list[tuple[str, int, int | None]] = []
    with told_to(lambda *told: heard.append(told)):
        computed("llama")
    assert len(heard) > 70
    assert heard == [("step", i, len(heard)) for i in range(1, len(heard) + 1)]


@posix
class TestInATerminal:
    # The signal comes when the bar is there, so that a million of iterations are never made.
    @pytest.mark.release
    @pytest.mark.parametrize(
        ("end", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupted", "terminated"]
    )
    def test_a_signal_erases_the_bar(self, attncalc_command: list[str], end: signal.Signals, status: int) -> None:
        done = in_terminal(attncalc_command, [*LONG, "--steps", "5000000"], end=end)
        assert (done.status, done.stdout) == (status, b"")
        assert "of 5,000,001" in done.screen
        assert done.screen.rpartition("\x1b[?25")[2].startswith("h"), "the cursor is seen again"
        assert seen(done.screen)[-1] == []

    @pytest.mark.thorough
    def test_a_signal_while_it_starts_leaves_nothing(self, attncalc_command: list[str]) -> None:
        call = [*LONG, "--steps", "5000000"]
        done = in_terminal(attncalc_command, call, end=signal.SIGINT, when=b"\x1b")
        assert (done.status, done.stdout, seen(done.screen)[-1]) == (130, b"", [])
        assert done.screen.rpartition("\x1b[?25")[2].startswith("h"), "the cursor is seen again"

    @pytest.mark.release
    def test_what_is_calculated_is_the_same(self, attncalc_command: list[str]) -> None:
        call = [*LONG, "--steps", "300000", "-f", "json"]  # longer than a bar is waited for
        done = in_terminal(attncalc_command, call, columns=60)
        piped = subprocess.run([*attncalc_command, *call], capture_output=True, check=False)
        assert (done.status, piped.returncode) == (0, 0)
        assert done.stdout == piped.stdout
        assert "of 300,001" in done.screen
        assert seen(done.screen)[-1] == [piped.stderr.decode().strip()]
        assert max(len(line) for state in seen(done.screen)[:-2] for line in state) <= 60
        assert b"of 300,001 \xe2" not in piped.stderr
