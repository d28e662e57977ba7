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
    try:
        return stat.S_ISDIR(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return False
