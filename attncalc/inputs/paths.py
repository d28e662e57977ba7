"""Paths: how they are said, whether there is anything of that name, and which suffixes are read."""

from __future__ import annotations

import stat
from pathlib import Path

from attncalc.text import visible

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
