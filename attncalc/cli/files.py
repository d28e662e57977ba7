"""Which files a call may write: told before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from attncalc.files import is_device, unwritable, write_file
from attncalc.text import reason, visible

__all__ = ["refuse_unwritable", "write_file"]


def refuse_unwritable(path: Path, inputs: Iterable[str] = ()) -> None:
    """Raise for a path that cannot or must not be written, before anything is computed.

    A symbolic link is refused, since what it points to was not named; so is a file that the call reads.
    """
    try:
        _refuse_unwritable(path, inputs)
    except OSError as error:  # a name that is too long, a folder that must not be entered
        raise unwritable(path, reason(error)) from None


def _refuse_unwritable(path: Path, inputs: Iterable[str]) -> None:
    if is_device(path):
        return
    if path.is_symlink():
        raise unwritable(path, "it is a symbolic link", f"name the file itself: {visible(str(path.resolve()), 80)}")
    if path.is_dir():
        raise unwritable(path, "it is a folder", f"name a file in it: {visible(str(path / 'result.json'), 80)}")
    if not path.parent.is_dir():
        raise unwritable(path, f"there is no folder {visible(str(path.parent), 80)}")
    if path.exists() and not os.access(path, os.W_OK):
        raise unwritable(path, "it is read-only")
    for source in inputs:
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise unwritable(path, "the calculation reads it", "choose another name")
