"""A file or standard input opened, and what its bytes hold by their format."""

from __future__ import annotations

import sys
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from attncalc.errors import InputError
from attncalc.inputs import files
from attncalc.inputs.paths import shown
from attncalc.inputs.reading import STDIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap
    from typing import BinaryIO

    from attncalc.inputs.contents import Contents

UNPACKED = 4
"""So many times its own bytes at most an archive that may be a stranger's holds, unpacked."""


def standard_input(most: int | None = None) -> Contents:
    """What standard input holds, `most` bytes if that is said; a person at a terminal is told that it is read."""
    if sys.stdin is None:
        raise InputError("there is no standard input")
    if sys.stdin.isatty():
        sys.stderr.write("reading standard input; Ctrl-D ends it (on Windows Ctrl-Z and Enter)\n")
    data = files.read_all(sys.stdin.buffer, STDIN, _smaller(most, files.MAX_TEXT))
    if not data:
        raise InputError(f"{STDIN} is empty")
    return contents_of(data, STDIN, files.format_by_content(data, STDIN), lambda: BytesIO(data), most)


def open_file(path: str, most: int | None = None) -> Contents:
    """What a file holds; one that may be a stranger's is no link, and has `most` bytes."""
    if most is not None:
        files.must_be_plain(path, most)
    source = shown(path)
    form = files.format_by_suffix(path)
    opener = partial(files.open_regular, path)
    if form == "safetensors":  # such a file may be larger than memory: only what is asked for is read
        return contents_of(b"", source, form, opener, most)
    if form == "npy":
        if not (array := files.mapped(path, _smaller(most, files.MAX_ARRAYS))):
            raise InputError(f"{source} is empty")
        return _arrays(array, source)
    data = files.read_file(path, _smaller(most, files.MAX_ARRAYS if form == "npz" else files.MAX_TEXT))
    if not data:
        raise InputError(f"{source} is empty")
    return contents_of(data, source, form or files.format_by_content(data, source), opener, most)


def _smaller(most: int | None, bound: int) -> int:
    return bound if most is None else min(most, bound)


def _arrays(data: bytes | mmap, source: str) -> Contents:
    """What an npy file holds."""
    from attncalc.inputs import binary
    from attncalc.inputs.contents import ArrayFile

    return ArrayFile(source, {"": partial(binary.read_npy, data, source)})


def contents_of(
    data: bytes, source: str, form: str, opener: Callable[[], BinaryIO], most: int | None = None
) -> Contents:
    """What bytes of a known format hold."""
    if form == "npy":
        return _arrays(data, source)
    if form in ("npz", "safetensors"):
        from attncalc.inputs import binary
        from attncalc.inputs.contents import ArrayFile

        if form == "npz":
            unpacked = _smaller(None if most is None else UNPACKED * most, binary.MAX_MEMBERS_BYTES)
            return ArrayFile(source, binary.npz_members(data, source, unpacked))
        return ArrayFile(source, binary.safetensors_members(opener, source))
    text = files.decode(data, source)
    if form == "csv":
        from attncalc.inputs.contents import TextFile

        return TextFile(source, text)
    from attncalc.inputs.json_files import parse_json, parse_json_lines
    from attncalc.inputs.objects import JsonFile

    if form == "json":
        return JsonFile(source, parse_json(text, source))
    tree, labels = parse_json_lines(text, source)
    return JsonFile(source, tree, labels=labels)
