"""What leaves the program: results on standard output or in files, everything else on standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from attncalc.common.errors import AttncalcError, OptionError, near, reason, visible
from attncalc.common.system import is_device, unwritable, write_file

SIGNS = "√ᵀ∂∞−×·…│"  # what a stream must be able to carry, or everything is spelled in ASCII


def prepare_streams() -> None:
    """Let both streams escape signs that their encoding lacks, rather than fail, and lose nothing.

    Under PYTHONUNBUFFERED, standard output writes only once, and drops what a nearly full disk did not take.
    """
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and isinstance(out.buffer, io.RawIOBase):
        encoding = out.encoding
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(out.detach()), encoding, newline="\n")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None if it was closed; another program may have set any object
            stream.reconfigure(errors="backslashreplace")


def deliver(content: str | bytes | Iterable[str], path: Path | None) -> None:
    """Write a result where it goes, a large one piece by piece: to a file, or to standard output."""
    if path is None:
        write(content)
    elif isinstance(content, (str, bytes)):
        write_file(path, content.encode() if isinstance(content, str) else content)
    else:
        write_file(path, (piece.encode() for piece in content))


def write_page(text: str, path: Path | None = None) -> None:
    """Write a page of our own words where it goes; standard output may lack some of their signs."""
    deliver(text if path else spell(text, sys.stdout), path)


def write(content: str | bytes | Iterable[str]) -> None:
    """Write a result to standard output, whole and at once unless it comes in pieces, or say why that failed."""
    if sys.stdout is None:
        raise AttncalcError("cannot write the result: standard output is closed")
    try:
        if isinstance(content, bytes):
            if not hasattr(sys.stdout, "buffer"):
                raise AttncalcError("cannot write the result: standard output takes text alone", hint="-o FILE")
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.writelines([content] if isinstance(content, str) else content)
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError):  # drop what is buffered, or Python would try it once more at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise  # the reader has stopped reading, which is no error
        raise AttncalcError(f"cannot write the result: {reason(error)}") from None


def say(kind: str, *texts: str) -> None:
    """Lines on standard error: `note: …`, `warning: …`, `Error: …`, `hint: …`."""
    for text in texts if sys.stderr is not None else ():
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


def are_one_place(one: TextIO | None, other: TextIO | None) -> bool:
    """Whether two streams have the same reader: both go to one terminal, file or pipe."""
    try:
        return bool(one and other and os.path.samestat(os.fstat(one.fileno()), os.fstat(other.fileno())))
    except (OSError, ValueError):  # closed, or a program's own
        return False


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


OTHERWISE = {".htm": ".html", ".markdown": ".md", ".latex": ".tex"}
"""Other spellings of suffixes."""


def format_of(path: Path, suffixes: Mapping[str, str]) -> str:
    """The format that the suffix of a file stands for."""
    suffix = path.suffix.lower()
    usual = OTHERWISE.get(suffix, suffix)
    if usual not in suffixes:
        known = f"known suffixes are {', '.join(suffixes)}; for any other, give -f FORMAT"
        meant = near(suffix[1:], suffixes.values(), said={form: each for each, form in suffixes.items()})
        raise OptionError(f"cannot tell the format of {visible(str(path), 80)} from its suffix", hint=meant or known)
    return suffixes[usual]


def refuse_unwritable(path: Path, inputs: Iterable[str] = ()) -> None:
    """Raise for a path that cannot or must not be written, before anything is computed.

    A symbolic link is refused, since what it points to was not named; so is a file that the call reads.
    """
    try:
        if is_device(path):
            return
        if path.is_symlink():
            mend = f"name the file itself: {visible(os.path.realpath(path), 80)}"
            raise unwritable(path, "it is a symbolic link", mend)
        if path.is_dir():
            raise unwritable(path, "it is a folder", f"name a file in it: {visible(str(path / 'result.json'), 80)}")
        if not path.parent.is_dir():
            raise unwritable(path, f"there is no folder {visible(str(path.parent), 80)}")
        if path.exists() and not os.access(path, os.W_OK):
            raise unwritable(path, "it is read-only")
        for source in inputs:
            if path.exists() and Path(source).exists() and path.samefile(source):
                raise unwritable(path, "the calculation reads it", "choose another name")
        if path.exists() and _is_piped_in(path):
            raise unwritable(path, "it is on standard input", "choose another name")
    except OSError as error:  # a name that is too long, a folder that must not be entered
        raise unwritable(path, reason(error)) from None


def _is_piped_in(path: Path) -> bool:
    """Whether standard input is redirected from this file, although no word of the call names it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()))
    except (OSError, ValueError, AttributeError):  # standard input is closed, or no file of the system
        return False


def make_folder(folder: Path) -> None:
    """Make a folder if there is none, with those that it is in."""
    refuse_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, reason(error)) from None


def refuse_folder(folder: Path) -> None:
    """Raise for a folder that cannot be made or must not be written into, before anything is computed."""
    try:
        there = next(path for path in (folder, *folder.parents) if path.is_symlink() or path.exists())
        if not there.exists():
            raise unwritable(folder, f"{_itself(there, folder)} is a symbolic link to nothing")
        if not there.is_dir():
            mend = "name a folder, which need not be there yet"
            raise unwritable(folder, f"{_itself(there, folder)} is no folder", mend)
        if not os.access(there, os.W_OK | os.X_OK):
            raise unwritable(folder, f"{_itself(there, folder)} is read-only")
    except OSError as error:  # a name that is too long, a folder that must not be entered
        raise unwritable(folder, reason(error)) from None


def _itself(there: Path, folder: Path) -> str:
    return "it" if there == folder else visible(str(there), 80)


def write_folder(folder: Path, contents: Mapping[str, str | bytes], anew: Container[str] = ()) -> None:
    """Write files into a folder and folders in it, which are made if there are none: all of them, or none.

    A file that is there already with other contents is refused, since somebody may have filled it in, unless it is to
    be written `anew`.
    """
    refuse_folder(folder)
    stored = {name: text.encode() if isinstance(text, str) else text for name, text in contents.items()}
    inside = dict.fromkeys((folder / name).parent for name in stored)
    made = [parent for own in inside for parent in (own, *own.parents) if not parent.exists()]
    placed: list[Path] = []
    try:
        for own in inside:
            own.mkdir(parents=True, exist_ok=True)
        for name, content in stored.items():
            refuse_unwritable(folder / name)
            there = folder / name
            if name not in anew and there.exists() and not (there.is_file() and there.read_bytes() == content):
                raise unwritable(there, "there is another one already", "name another folder")
        for name, content in stored.items():
            if not (folder / name).exists():
                placed.append(folder / name)
            if name in anew or not (folder / name).exists():
                write_file(folder / name, content)
    except BaseException as error:
        for path in placed:
            path.unlink(missing_ok=True)
        for parent in made:
            with suppress(OSError):  # somebody else may have put something into it
                parent.rmdir()
        if isinstance(error, OSError):
            raise unwritable(folder, reason(error)) from None
        raise
