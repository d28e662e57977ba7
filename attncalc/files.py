"""Writing a file so that it is either whole or not there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from attncalc.errors import AttncalcError
from attncalc.text import reason, visible


def write_file(path: Path, content: bytes) -> None:
    """Write the file whole: beside it first, then in its place, with the mode that it had.

    Devices and pipes (`/dev/null`, `>(…)`) are written to as they are.
    """
    try:
        if is_device(path):
            path.write_bytes(content)
        else:
            _replace(path, content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(path, reason(error)) from None


def unwritable(path: Path, why: str, hint: str = "") -> AttncalcError:
    """The error that says why a file cannot be written."""
    return AttncalcError(f"cannot write {visible(str(path), 200)}: {why}", hint=hint)


def is_device(path: Path) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(f".attncalc-{os.urandom(8).hex()}.tmp")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):  # there is no file yet: the mode is a new one's
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    finally:  # when interrupted or terminated as well, nothing half-written stays behind
        beside.unlink(missing_ok=True)
