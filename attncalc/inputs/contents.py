"""Files that hold arrays as bytes or as tables, told the same things as a JSON file: its names, and one array."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from attncalc.errors import InputError
from attncalc.inputs.arrays import brackets
from attncalc.inputs.csv_files import blocks, read_table
from attncalc.inputs.literals import read_expression, read_tokens
from attncalc.inputs.moves import labelled_row
from attncalc.inputs.names import choose
from attncalc.inputs.numeric import from_array
from attncalc.text import visible

if TYPE_CHECKING:
    from typing import TypeAlias

    from attncalc.arrays import Array
    from attncalc.calculation import Operand
    from attncalc.inputs.binary import Loaders
    from attncalc.inputs.objects import JsonFile
    from attncalc.inputs.reading import Reading
    from attncalc.trace import Given


class ArrayFile(NamedTuple):
    """An npy file, whose array has no name, or the named arrays of an npz or safetensors file."""

    source: str
    loaders: Loaders

    @property
    def table(self) -> bool:
        """Whether it says nothing of vectors and matrices; here every axis was stored."""
        return False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its arrays."""
        return tuple(name for name in self.loaders if name)

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The array of that name, or the one that is meant for the operand."""
        if operand.kind == "expression":
            raise InputError(f"{self.source} holds arrays, and {operand.name} is a formula")
        value, source = self.stored(name, operand)
        return from_array(value, operand.kind, brackets(source))._replace(source=source)

    def stored(self, name: str | None, operand: Operand) -> tuple[Array, str]:
        """The array as it was stored, and what it is called in errors."""
        chosen = "" if name is None and "" in self.loaders else choose(name, operand.name, self.names, self.source)
        return self.loaders[chosen](), f"{self.source}#{visible(chosen, 80)}" if chosen else self.source


class TextFile(NamedTuple):
    """Rows and cells, or several such tables under lines `@name`; for tokens, words."""

    source: str
    text: str

    @property
    def table(self) -> bool:
        """Whether it says nothing of vectors and matrices, as rows and cells do."""
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its tables, where it has several."""
        return tuple(blocks(self.text, self.source))

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The table, the one of that name or meant for the operand, or the row of that label."""
        if operand.kind == "tokens":
            return read_tokens(self.text, self.source)._replace(source=self.source)
        if operand.kind == "expression":
            return read_expression(self.text)._replace(source=self.source)
        tables = blocks(self.text, self.source)
        if not tables:
            given = read_table(self.text, self.source, operand.kind, reading)._replace(source=self.source)
            return labelled_row(given, name) if name else given
        chosen = choose(name, operand.name, list(tables), self.source)
        given = read_table(tables[chosen], self.source, operand.kind, reading)
        return given._replace(source=f"{self.source}#{visible(chosen, 80)}")


if TYPE_CHECKING:
    Contents: TypeAlias = JsonFile | ArrayFile | TextFile  # said, since these files import one another
