"""What a word means: standard input, a file, numbers, a row label or a name without its suffix, in that order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from attncalc.calculation import Operand
from attncalc.errors import InputError
from attncalc.inputs.fitting import fit
from attncalc.inputs.literals import looks_numeric, read_expression, read_literal, read_tokens
from attncalc.inputs.paths import FORMATS, exists, is_folder, shown
from attncalc.text import both, quoted, visible

if TYPE_CHECKING:
    from attncalc.inputs.contents import Contents
    from attncalc.inputs.reading import Reading
    from attncalc.trace import Given

TABLE = Operand("data", "data", (("m", "d"),), help="the table whose row labels may be operands")
_LABELLED = ("vocabulary", "table", "keys")  # operands whose row labels may be other operands
_LONGEST_PATH = 4096  # characters
_LEFT_OUT = (".json", ".csv", ".tsv", ".npy")  # suffixes that a name may lack, in the working directory

Tables = Mapping[str, "Given"]
"""The tables whose row labels may be operands, by what they are called: `words.csv`, `vocabulary`."""


class Found(NamedTuple):
    """An array in a file: by name or path, or the one that is meant for its operand."""

    contents: Contents
    name: str | None = None
    at: tuple[int, ...] = ()


def find(word: str, operand: Operand, reading: Reading) -> Found | None:
    """The file that a word means, if it means one; numbers, tokens, row labels and the operand's own words are none."""
    if operand.means(word):
        return None
    if word == "-":
        return Found(reading.standard_input())
    if word.startswith("-#"):
        from attncalc.inputs.held import picked

        return picked(reading.standard_input(), word[2:])
    path = _marked(word)
    if path is not None:
        found = Found(reading.file(path)) if exists(path) else _inside(path, reading)
        if found is None:
            raise _no_file(path)
        return found
    if operand.kind == "expression":
        return Found(reading.file(word)) if Path(word).suffix.lower() in FORMATS and exists(word) else None
    if operand.kind == "tokens" or looks_numeric(word, operand.kind):
        return None
    paths = _paths(word)
    if len(paths) > 1:
        return None  # which of them is meant cannot be told, and is an error where the word is read
    return Found(reading.file(paths[0])) if paths else _inside(word, reading)


def read_word(word: str, operand: Operand, reading: Reading, tables: Tables) -> Given:
    """The operand that a word of the command line means."""
    if word == "-" or word.startswith("-#") or _marked(word) is not None:
        found = find(word, operand, reading)
        assert found, "the word names a file, or that was an error"
        return _read_found(found, operand, reading)
    if operand.kind == "tokens":
        return read_tokens(word, operand.name)
    if operand.kind == "expression":
        file = find(word, operand, reading)
        if file is None and Path(word).suffix.lower() in FORMATS:
            raise _no_file(word)
        return _read_found(file, operand, reading) if file else read_expression(word)
    if looks_numeric(word, operand.kind):
        if exists(word):
            reading.tell(
                f"{operand.name}: {quoted(word)} is read as numbers; the file of that name is @{visible(word)}"
            )
        given = read_literal(word, operand.name, operand.kind)
        return shaped(given, operand, reading, table=not word.lstrip().startswith("["))
    meanings = {f"the file {shown(path)}": path for path in _paths(word)}
    labelled = {f"a row of {name}": table for name, table in tables.items() if word in table.labels.get(0, ())}
    if len(meanings) + len(labelled) > 1:
        raise InputError(
            f"{operand.name}: {quoted(word)} is both {both([*meanings, *labelled])}",
            hint=_unambiguous(word, [*meanings.values()], [*labelled.values()]),
        )
    for table in labelled.values():
        from attncalc.inputs.moves import labelled_row

        return shaped(labelled_row(table, word), operand, reading, table=False)
    found = find(word, operand, reading)
    if found is None:
        from attncalc.inputs.misses import miss

        raise miss(word, operand, tables)
    return _read_found(found, operand, reading)


def read_operands(
    operands: Sequence[Operand], words: Mapping[str, str], files: Mapping[str, Found], reading: Reading
) -> dict[str, Given]:
    """Each operand from its word, else from the file that holds it; tables first, since their labels may be words."""
    piped = [name for name, word in words.items() if word == "-"]
    if len(piped) > 1 and not reading.standard_input().names:
        raise InputError(
            f"standard input holds one array, and {both(piped)} are both to be read from it",
            hint=f'pipe in an object: {{"{piped[0]}": [...], "{piped[1]}": [...]}}',
        )
    inputs: dict[str, Given] = {}
    tables: dict[str, Given] = {}
    if reading.data is not None:
        data = read_word(reading.data, TABLE, reading, {})
        if 0 not in data.labels:
            raise InputError(
                f"{data.source or '--data'} has no row labels", hint="--labels takes the first column as labels"
            )
        tables[data.source] = data
    for operand in sorted(operands, key=lambda operand: operand.name not in _LABELLED):
        if operand.name in words:
            inputs[operand.name] = read_word(words[operand.name], operand, reading, tables)
        elif operand.name in files:
            from attncalc.inputs.held import read_held

            inputs[operand.name] = read_held(files[operand.name], operand, reading, tables)
        if operand.name in _LABELLED and operand.name in inputs and inputs[operand.name].labels.get(0):
            tables[operand.name] = inputs[operand.name]
    return {operand.name: inputs[operand.name] for operand in operands if operand.name in inputs}


def spoken_words(operands: Sequence[Operand], words: Mapping[str, str], files: Mapping[str, Found]) -> dict[str, str]:
    """The operands in whose place a word stands (`--bias alibi`), and those words, which are options."""
    spoken = {}
    for operand in operands:
        word = words.get(operand.name)
        if word is None and operand.name in files:
            from attncalc.inputs.held import word_in

            word = word_in(files[operand.name])
        if word is not None and operand.means(word):
            spoken[operand.name] = word
    return spoken


def _read_found(found: Found, operand: Operand, reading: Reading) -> Given:
    from attncalc.inputs.held import read_found  # here, as everything of files is, which a literal needs none of

    return read_found(found, operand, reading)


def _no_file(path: str) -> InputError:
    from attncalc.inputs.misses import near_files

    return InputError(f"there is no file {shown(path)}", hint=near_files(path))


def shaped(given: Given, operand: Operand, reading: Reading, *, table: bool) -> Given:
    """The operand turned where that is asked for, and with the rank that is declared."""
    if operand.name in reading.transpose:
        from attncalc.inputs.moves import transposed

        given = transposed(given, operand.name)
    return fit(given, operand, table=table)


def _marked(word: str) -> str | None:
    """The path of `@PATH` or `path:PATH`."""
    return next((word[len(mark) :] for mark in ("@", "path:") if word.startswith(mark) and len(word) > len(mark)), None)


def _paths(word: str) -> list[str]:
    """The files that a word may name: itself, or with a suffix that was left out."""
    candidates = [word]
    if word and Path(word).name == word:
        candidates += [word + suffix for suffix in _LEFT_OUT]
    return [path for path in candidates if exists(path) and not is_folder(path)]


def _inside(word: str, reading: Reading) -> Found | None:
    """What `FILE#name` picks, if there is such a file."""
    for match in re.finditer("#", word[:_LONGEST_PATH]):
        paths = _paths(word[: match.start()])
        if len(paths) > 1:
            raise InputError(f"{quoted(word)} may be in {both(map(shown, paths))}", hint="give the suffix")
        if paths:
            from attncalc.inputs.held import picked

            return picked(reading.file(paths[0]), word[match.end() :])
    return None


def _unambiguous(word: str, paths: Sequence[str], tables: Sequence[Given]) -> str:
    ways = [f"@{shown(path)}" for path in paths] + [_row(word, table) for table in tables]
    return f"write {' or '.join(ways)}"


def _row(word: str, table: Given) -> str:
    """How to write a labelled row that no file can be taken for; an array of a file is indexed, as it has no keys."""
    if "#" in table.source:
        return f"{table.source}[{table.labels[0].index(word)}]"
    return f"{table.source}#{visible(word)}"
