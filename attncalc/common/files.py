"""Files by their paths: what is there, how they are said, and writing one so that it is either whole or not there."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from attncalc.common.errors import AttncalcError
from attncalc.common.text import reason, visible


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


FORMATS = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv",
    ".npy": "npy", ".npz": "npz", ".safetensors": "safetensors",
}  # fmt: skip


def shown(path: str) -> str:
    """A path as errors and results say it."""
    return visible(path, 200)


def exists(path: str) -> bool:
    """Whether there is something of that name, be it a link that leads nowhere; what it is shows when it is opened."""
    try:
        Path(path).lstat()
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
    return bool(path)


def is_folder(path: str) -> bool:
    """Whether there is a folder of that name."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: str) -> bool:
    """Whether there is a file of that name: no folder, and no pipe or device that can be read only once."""
    return stat.S_ISREG(_mode(path))


def _mode(path: str) -> int:
    """What kind of thing has that name; 0 where there is none, or none that may be looked at."""
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return 0


def samples_folder() -> Path:
    """Where the samples are: inside the installed package, or at the top of a checkout."""
    installed = Path(__file__).parents[1] / "samples"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "samples"
