"""Which files a call may write, and in which format, told before anything is computed; whole folders of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from attncalc.errors import OptionError
from attncalc.files import is_device, unwritable, write_file
from attncalc.text import reason, visible

OTHERWISE = {".htm": ".html", ".markdown": ".md", ".latex": ".tex"}
"""What some write in place of a suffix."""


def format_of(path: Path, suffixes: Mapping[str, str]) -> str:
    """The format that the suffix of a file stands for."""
    suffix = path.suffix.lower()
    usual = OTHERWISE.get(suffix, suffix)
    if usual not in suffixes:
        raise OptionError(
            f"cannot tell the format of {visible(str(path), 80)} from its suffix",
            hint=f"known suffixes are {', '.join(suffixes)}; for any other, give -f FORMAT",
        )
    return suffixes[usual]


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
        raise unwritable(path, "it is a symbolic link", f"name the file itself: {visible(os.path.realpath(path), 80)}")
    if path.is_dir():
        raise unwritable(path, "it is a folder", f"name a file in it: {visible(str(path / 'result.json'), 80)}")
    if not path.parent.is_dir():
        raise unwritable(path, f"there is no folder {visible(str(path.parent), 80)}")
    if path.exists() and not os.access(path, os.W_OK):
        raise unwritable(path, "it is read-only")
    for source in inputs:
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise unwritable(path, "the calculation reads it", "choose another name")


def make_folder(folder: Path) -> None:
    """Make a folder if there is none, with those that it is in."""
    _must_be_no_file(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, reason(error)) from None


def _must_be_no_file(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise unwritable(folder, "it is no folder", "name a folder, which need not be there yet")


def write_folder(folder: Path, contents: Mapping[str, str]) -> None:
    """Write files into a folder, which is made if there is none: all of them, or none.

    A file that is there already with other contents is refused, since somebody may have filled it in.
    """
    _must_be_no_file(folder)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    placed: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in contents:
            refuse_unwritable(folder / name)
            there = folder / name
            if there.exists() and not (there.is_file() and there.read_bytes() == contents[name].encode()):
                raise unwritable(there, "there is another one already", "name another folder")
        for name, content in contents.items():
            if not (folder / name).exists():
                placed.append(folder / name)
                write_file(folder / name, content.encode())
    except BaseException as error:
        for path in placed:
            path.unlink(missing_ok=True)
        for parent in made:
            with suppress(OSError):  # the first of them that was not made, or somebody else has put something into
                parent.rmdir()
        if isinstance(error, OSError):
            raise unwritable(folder, reason(error)) from None
        raise
