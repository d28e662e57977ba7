"""How the files of one call are read, and what has been read: a file is opened once, standard input only once."""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from attncalc.errors import InputError, OptionError
from attncalc.inputs import files
from attncalc.text import quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap
    from typing import BinaryIO

    from attncalc.inputs.contents import Contents

STDIN = "standard input"
UNPACKED = 4
"""So many times its own bytes at most an archive that may be a stranger's holds, unpacked."""
_DELIMITERS = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";"}


class Reading:
    """How the files of one call are read; `notes` collects what their reader should be told."""

    def __init__(
        self,
        delimiter: str | None = None,
        decimal: str = ".",
        header: bool | None = None,
        labels: bool | None = None,
        transpose: Collection[str] = frozenset(),
        data: str | None = None,
        most: int | None = None,
    ) -> None:
        self.delimiter = _delimiter(delimiter, decimal)  # None: told by the content
        self.decimal = decimal
        self.header = header  # None: told by the content
        self.labels = labels
        self.transpose = transpose  # the operands that are stored the other way
        self.data = data  # the table whose row labels may be operands
        self.most = most  # bytes of a file that may be a stranger's, and is no link; None for files of one's own
        self.notes: list[str] = []
        self.opened: dict[str, Contents] = {}

    def anew(self, most: int | None = None) -> Reading:
        """A reading of the same kind that has opened no file yet, and opens those with so many bytes at most."""
        fresh = Reading(self.delimiter, self.decimal, self.header, self.labels, self.transpose, self.data, most)
        if STDIN in self.opened:
            fresh.opened[STDIN] = self.opened[STDIN]
        return fresh

    def tell(self, note: str) -> None:
        """Keep a note for the reader, once."""
        if note not in self.notes:
            self.notes.append(note)

    def file(self, path: str) -> Contents:
        """What a file holds."""
        if path not in self.opened:
            if self.most is not None:
                files.must_be_plain(path, self.most)
            self.opened[path] = _open_file(path, self.most)
        return self.opened[path]

    def standard_input(self) -> Contents:
        """What standard input holds; a person at a terminal is told that it is read."""
        if STDIN not in self.opened:
            if sys.stdin is None:
                raise InputError("there is no standard input")
            if sys.stdin.isatty():
                sys.stderr.write("reading standard input; Ctrl-D ends it (on Windows Ctrl-Z and Enter)\n")
            data = files.read_all(sys.stdin.buffer, STDIN, _smaller(self.most, files.MAX_TEXT))
            if not data:
                raise InputError(f"{STDIN} is empty")
            form = files.format_by_content(data, STDIN)
            self.opened[STDIN] = _contents(data, STDIN, form, lambda: BytesIO(data), self.most)
        return self.opened[STDIN]


def _delimiter(word: str | None, decimal: str) -> str | None:
    """The mark between cells that is asked for, by itself or by name, beside the decimal mark that is."""
    if word is not None and len(word) != 1 and word not in _DELIMITERS:
        raise OptionError(f"--delimiter is one character, not {quoted(word)}", hint=f"or {', '.join(_DELIMITERS)}")
    mark = word if word is None else _DELIMITERS.get(word, word)
    if mark in ('"', "\n", "\r"):
        raise OptionError("--delimiter cannot be a quote or a line end")
    if decimal not in (".", ","):
        raise OptionError(f"--decimal is . or , and not {quoted(decimal)}")
    if decimal == mark:
        raise OptionError(f"--delimiter and --decimal are both {quoted(decimal)}")
    return mark


def _smaller(most: int | None, bound: int) -> int:
    return bound if most is None else min(most, bound)


def _open_file(path: str, most: int | None) -> Contents:
    source = files.shown(path)
    form = files.format_by_suffix(path)
    opener = partial(files.open_regular, path)
    if form == "safetensors":  # such a file may be larger than memory: only what is asked for is read
        return _contents(b"", source, form, opener, most)
    if form == "npy":
        if not (array := files.mapped(path, _smaller(most, files.MAX_ARRAYS))):
            raise InputError(f"{source} is empty")
        return _arrays(array, source)
    data = files.read_file(path, _smaller(most, files.MAX_ARRAYS if form == "npz" else files.MAX_TEXT))
    if not data:
        raise InputError(f"{source} is empty")
    return _contents(data, source, form or files.format_by_content(data, source), opener, most)


def _arrays(data: bytes | mmap, source: str) -> Contents:
    """What an npy file holds."""
    from attncalc.inputs import binary
    from attncalc.inputs.contents import ArrayFile

    return ArrayFile(source, {"": partial(binary.read_npy, data, source)})


def _contents(data: bytes, source: str, form: str, opener: Callable[[], BinaryIO], most: int | None = None) -> Contents:
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
