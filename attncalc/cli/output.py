"""What leaves the program: results on standard output or in a file, everything else on standard error."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from attncalc.errors import AttncalcError
from attncalc.text import reason, visible

if TYPE_CHECKING:
    from pathlib import Path

SIGNS = "√ᵀ∂∞−×·…│"  # what a stream must be able to carry, or everything is spelled in ASCII


def prepare_streams() -> None:
    """Let both streams spell what their encoding lacks rather than fail on it, and none lose what it is given.

    Under PYTHONUNBUFFERED, standard output writes once, and forgets what a disk that is nearly full did not take.
    """
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and isinstance(out.buffer, io.RawIOBase):
        encoding = out.encoding
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(out.detach()), encoding, newline="\n")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is when it was closed before we started
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # TextIO, but really a TextIOWrapper


def deliver(content: str | bytes, path: Path | None) -> None:
    """Write a result where it goes: to a file, or to standard output."""
    if path is None:
        write(content)
    else:
        from attncalc.files import write_file  # here, since most results go to standard output

        write_file(path, content.encode() if isinstance(content, str) else content)


def write_page(text: str, path: Path | None = None) -> None:
    """Write a page of our own words where it goes; standard output may lack some of their signs."""
    deliver(text if path else spell(text, sys.stdout), path)


def write(content: str | bytes) -> None:
    """Write a result to standard output, whole and at once, or say why that failed."""
    if sys.stdout is None:
        raise AttncalcError("cannot write the result: standard output is closed")
    try:
        if isinstance(content, str):
            sys.stdout.write(content)
        else:
            sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except OSError as error:
        _discard_output()
        if isinstance(error, BrokenPipeError):
            raise  # nobody reads on, which is nobody's fault
        raise AttncalcError(f"cannot write the result: {reason(error)}") from None


def _discard_output() -> None:
    """Let what is still buffered go nowhere, or the interpreter would try to write it once more as it ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(kind: str, text: str) -> None:
    """A line on standard error: `note: …`, `warning: …`, `Error: …`, `hint: …`."""
    if sys.stderr is None:
        return
    with suppress(OSError):  # a reader who has closed standard error does not want to know
        sys.stderr.write(spell(f"{kind}: {visible(text)}\n", sys.stderr))
        sys.stderr.flush()


def say_fault(fault: AttncalcError) -> None:
    """What went wrong in one line, and the likely mend in another."""
    say("Error", fault.message)
    if fault.hint:
        say("hint", fault.hint)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody is looking at the stream."""
    return stream is not None and stream.isatty()


def wants_color(choice: str) -> bool:
    """Whether standard output takes colour: as asked, else by NO_COLOR, FORCE_COLOR, TERM=dumb and the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"


def width() -> int | None:
    """How many columns standard output has: COLUMNS, else the terminal's; None (no limit) in a pipe."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns) > 0:
        return int(columns)
    if not is_terminal(sys.stdout):
        return None
    with suppress(OSError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    return None


def carries_signs(stream: TextIO | None) -> bool:
    """Whether the stream's encoding has the signs of formulas."""
    try:
        SIGNS.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def spell(text: str, stream: TextIO | None) -> str:
    """The text as the stream can carry it."""
    if text.isascii() or carries_signs(stream):
        return text
    from attncalc.render.glyphs import to_ascii

    return to_ascii(text)
