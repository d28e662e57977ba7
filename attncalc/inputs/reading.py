"""How the files of one call are read, and what has been read: a file is opened once, standard input only once."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from attncalc.errors import OptionError
from attncalc.text import quoted

if TYPE_CHECKING:
    from attncalc.inputs.contents import Contents

STDIN = "standard input"
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
            from attncalc.inputs.opening import open_file  # here, since a literal opens none

            self.opened[path] = open_file(path, self.most)
        return self.opened[path]

    def standard_input(self) -> Contents:
        """What standard input holds."""
        if STDIN not in self.opened:
            from attncalc.inputs.opening import standard_input

            self.opened[STDIN] = standard_input(self.most)
        return self.opened[STDIN]


def _delimiter(word: str | None, decimal: str) -> str | None:
    """The mark between cells that is asked for, by itself or by name, beside the decimal mark that is."""
    if word is not None and len(word) != 1 and word not in _DELIMITERS:
        raise OptionError(f"--delimiter is one character, not {quoted(word)}", hint=f"or {', '.join(_DELIMITERS)}")
    mark = word if word is None else _DELIMITERS.get(word, word)
    if mark in ('"', "\n", "\r"):
        raise OptionError("--delimiter cannot be a quote or a line end")
    if decimal not in (".", ","):
        raise OptionError(f"--decimal is . or , not {quoted(decimal)}")
    if decimal == mark:
        raise OptionError(f"--delimiter and --decimal are both {quoted(decimal)}")
    return mark
