"""The operands and options of one call, from the words of the command line and what their files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from attncalc.calculation import Operand
from attncalc.errors import InputError, OptionError
from attncalc.inputs.documents import UPSTREAM, document_inputs, document_options, flat_options
from attncalc.inputs.literals import looks_numeric
from attncalc.inputs.names import matching
from attncalc.inputs.objects import JsonFile
from attncalc.inputs.resolve import Found, Tables, find, read_found, read_label, read_word
from attncalc.text import both, near, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Calculation
    from attncalc.inputs.reading import Reading
    from attncalc.trace import Given

_TABLES = ("vocabulary", "table", "keys")  # operands whose row labels may be other operands
_DATA = Operand("data", "data", (("m", "d"),), True, False, "real", False, "")


@dataclass(frozen=True)
class Gathered:
    """What one call has been given."""

    inputs: dict[str, Given]  # in the order of the calculation's operands
    options: dict[str, Any]  # those that were given, in a file or on the command line
    notes: tuple[str, ...]  # what the reader should know of how it was read


@dataclass
class _Sources:
    """Where each operand comes from: a word of the command line, or a file that holds several by name."""

    words: dict[str, str] = field(default_factory=dict)
    files: dict[str, Found] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def gather(
    calculation: Calculation,
    positional: Sequence[str],
    named: Mapping[str, str],
    options: Mapping[str, Any],
    reading: Reading,
    *,
    backward: bool = False,
) -> Gathered:
    """The operands of one call: `positional` words in the order of the operands, `named` ones, and what files supply.

    A file that holds several operands by name supplies those that have no word of their own, and its options; what is
    given on the command line wins. `backward` lets a saved backward pass be the problem.
    """
    operands = [*calculation.operands, UPSTREAM] if backward or UPSTREAM.name in named else [*calculation.operands]
    sources = _assign(calculation, operands, positional, named, reading, backward=backward)
    by_name = {operand.name: operand for operand in operands}
    for name in reading.transpose:
        if name not in by_name:
            raise OptionError(f"--transpose {quoted(name)}: {calculation.name} has no such operand", hint=near(name, by_name))
        if name not in sources.words and name not in sources.files:
            raise OptionError(f"--transpose {name}: {name} is not given")
    inputs: dict[str, Given] = {}
    tables: dict[str, Given] = {}
    if reading.data is not None:
        table = read_word(reading.data, _DATA, reading, {})
        if 0 not in table.labels:
            raise InputError(f"{table.source or 'the table of --data'} has no row labels", hint="--labels reads the first column as labels")
        tables[table.source] = table
    for operand in sorted(operands, key=lambda operand: operand.name not in _TABLES):
        if operand.name in sources.words or operand.name in sources.files:
            given = _read(operand, sources, reading, tables)
            inputs[operand.name] = given
            if operand.name in _TABLES and given.labels.get(0):
                tables[operand.name] = given
    in_order = {operand.name: inputs[operand.name] for operand in operands if operand.name in inputs}
    return Gathered(in_order, sources.options | dict(options), tuple(reading.notes))
