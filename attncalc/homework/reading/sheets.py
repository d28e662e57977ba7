"""A sheet is read from JSON by the names of steps, from CSV in blocks, or as the result alone.

A sheet holds answers and nothing else: a tolerance, a score or a key that stands in it has no effect, and is told.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from attncalc.common.errors import InputError
from attncalc.common.files import FORMATS
from attncalc.common.text import both, quoted, visible
from attncalc.declare.operands import Operand
from attncalc.homework.reading import answers
from attncalc.homework.reading.answers import Answer, with_roots
from attncalc.homework.reading.complex_numbers import joined, literal, split
from attncalc.inputs.csv_files import (
    DECIMAL_COMMA,
    Row,
    TextFile,
    blocks,
    check_length,
    has_point,
    is_text,
    parted,
    table_rows,
    with_points,
)
from attncalc.inputs.given import brackets
from attncalc.inputs.json_files import JsonFile, parse_json, plain
from attncalc.inputs.opening import opened
from attncalc.inputs.reading import Contents, Reading
from attncalc.inputs.resolve import find, read_found, read_word
from attncalc.inputs.shaping import indexed
from attncalc.inputs.stored_arrays import ArrayFile
from attncalc.record.trace import Given

if TYPE_CHECKING:
    from attncalc.inputs.resolve import Found

BESIDE = ("student", "rounding", "notes")
"""What a sheet may hold beside its steps."""
OF_DOCUMENTS = (
    "attncalc", "calculation", "inputs", "labels", "options", "cells", "outputs", "exact", "result", "lesson"
)  # fmt: skip
NO_EFFECT = ("tolerance", "rtol", "atol", "score", "verdict", "key", "path", "expected")
"""What only the key's owner may say."""
LONGEST_NAME = 200
MOST_TOLD = 12
MOST_STEPS = 5000
MOST_DIGITS = 15
_OF_ROOTS = re.compile(r'[-+−\d√./*·×(),;\[\]"\s%sqrtpiej]+', re.ASCII)
"""Text of numbers: with a root in it, it is no file's name."""

ANSWER = Operand("answer", "answer", ((),), kind="logits", broadcasts=True)


@dataclass(frozen=True)
class Sheet:
    """What somebody has answered."""

    steps: Mapping[str, Answer]  # by the names of steps; "" is the result
    student: str = ""
    source: str = ""
    decimals: int | None = None  # to which the writer says to have rounded
    notes: tuple[str, ...] = field(default=())  # what the marker should be told


def read_sheet(word: str, reading: Reading) -> Sheet:
    """The sheet, or the result alone, that a word of the command line means: a file, `-`, JSON or numbers."""
    word = answers.with_roots(word) if _OF_ROOTS.fullmatch(word) else word
    typed = literal(word, ANSWER.name)
    found = find(word, ANSWER, reading) if typed is None or word.strip().isalpha() else None
    if found is None and typed is not None:
        return Sheet({"": answers.from_lists(typed, brackets("", ANSWER.name))})
    if found is None and word.lstrip().startswith("{"):
        return from_tree(parse_json(word, ANSWER.name), "")
    if found is None:
        given = read_word(word, ANSWER, reading, {})
        return Sheet({"": _as_read(given, ANSWER.name, table=not word.lstrip().startswith("["))})
    return from_contents(found.contents, reading, found)


def from_file(path: str, reading: Reading) -> Sheet:
    """The sheet that a file is."""
    return from_contents(opened(path, reading), reading)


def from_contents(contents: Contents, reading: Reading, found: Found | None = None) -> Sheet:
    """The sheet that a file holds."""
    if found is not None and (found.name or found.at):
        return _part(found, reading)
    if isinstance(contents, JsonFile):
        return from_tree(contents.tree, contents.source)
    if isinstance(contents, TextFile):
        return _from_csv(contents.text, contents.source, reading)
    assert isinstance(contents, ArrayFile), "there is no fourth kind of file"
    loaders, source = contents.loaders, contents.source
    return Sheet({n: answers.from_array(load(), brackets(source, n)) for n, load in loaders.items()}, source=source)


def from_python(answer: Any, most: int | None = None) -> Sheet:
    """The sheet that a value from Python is: steps by their names, a sheet as a dictionary or a file, or the result.

    A file has no more than `most` bytes.
    """
    if isinstance(answer, PathLike) or (isinstance(answer, str) and answer.endswith(tuple(FORMATS))):
        return from_file(fspath(answer), Reading(most=most))
    if isinstance(answer, Mapping):
        return from_tree({str(name): value for name, value in answer.items()}, "")
    if isinstance(answer, list) and _are_steps(answer):
        return from_tree(answer, "")
    return Sheet({"": answers.from_python(answer, ANSWER.name)})


def from_tree(tree: Any, source: str) -> Sheet:
    """The sheet that a JSON value is: an object of steps or a list of them, a saved result, or the result alone."""
    if isinstance(tree, list) and _are_steps(tree):
        tree = {"steps": tree}
    if not isinstance(tree, dict):
        return Sheet({"": _answer(tree, "", source)}, source=source)
    if "steps" in tree:
        steps = _listed(tree["steps"], source)
        others = [name for name in tree if name not in ("steps", *BESIDE, *OF_DOCUMENTS)]
    elif "calculation" in tree or "result" in tree:
        _refuse_problem(tree, source)
        steps = {"": tree.get("result")}
        others = [name for name in tree if name not in (*BESIDE, *OF_DOCUMENTS)]
    else:
        others = [name for name in tree if name in NO_EFFECT]
        steps = {name: value for name, value in tree.items() if name not in (*BESIDE, *others)}
    _refuse_many(len(steps), source)
    return Sheet(
        {name: _answer(value, name, source) for name, value in steps.items()},
        student=_student(tree.get("student"), source),
        source=source,
        decimals=_decimals(tree.get("rounding"), source),
        notes=_without_effect(others, source),
    )


def _are_steps(items: list[Any]) -> bool:
    """Whether a list holds steps, and not entries, of which complex ones are objects too."""
    return any(isinstance(item, dict) and item.keys() != {"re", "im"} for item in items)


def _refuse_problem(tree: Mapping[str, Any], source: str) -> None:
    """A problem as it was set is no sheet in which nothing is answered: somebody has named the wrong file."""
    if not {"result", "outputs"} & tree.keys():
        called = tree["calculation"]
        of = f" of {visible(called, 80)}" if isinstance(called, str) else ""
        raise InputError(
            f"{source or 'the answer'} is a problem{of} without answers, where answers are wanted",
            hint='answers stand under "steps", by their names',
        )


def _refuse_many(steps: int, source: str) -> None:
    if steps > MOST_STEPS:
        raise InputError(f"{source or 'the sheet'} has {steps:,} steps, and {MOST_STEPS:,} are read at most")


def _without_effect(names: Sequence[str], source: str) -> tuple[str, ...]:
    """A note on what stands in a sheet and is passed over; of many names, the first ones."""
    if not names:
        return ()
    known = list(dict.fromkeys(names))
    said = both(map(quoted, known), MOST_TOLD)
    where = f"{source}: " if source else ""
    return (f"{where}{said} {'has' if len(known) == 1 else 'have'} no effect: a sheet holds answers only",)


def _part(found: Found, reading: Reading) -> Sheet:
    """`FILE#name`: one array of a file as the result; complex ones too, which no operand is."""
    contents = found.contents
    if isinstance(contents, ArrayFile):
        value, source = contents.stored(found.name, ANSWER)
        part = indexed(Given(value, source=source), found.at)
        return Sheet({"": answers.from_array(part.value, brackets("", part.source))}, source=part.source)
    if isinstance(contents, JsonFile) and contents.names and found.name and not found.at:
        entry = contents.entry(found.name)
        if isinstance(entry.value, list):
            source = f"{contents.source}#{visible(entry.path, 80)}"
            return Sheet({"": answers.from_lists(entry.value, brackets("", source))}, source=source)
    given = read_found(found, ANSWER, reading)
    return Sheet({"": _as_read(given, given.source)}, source=given.source)


def _as_read(given: Given, name: str, *, table: bool = False) -> Answer:
    """An answer that was read as operands are."""
    entries = given.value if given.written is None else given.written
    return answers.from_text(entries.ravel().tolist(), given.value.shape, brackets("", name), table=table)


def _listed(steps: Any, source: str) -> dict[str, Any]:
    """Steps by their names, from an object or from a list of objects with a name and a value."""
    if isinstance(steps, dict):
        return steps
    if not isinstance(steps, list):
        raise InputError(f"{source}: steps is neither an object of steps nor a list of them")
    found: dict[str, Any] = {}
    for i, step in enumerate(steps):
        if not isinstance(step, dict) or type(step.get("name")) is not str:
            raise InputError(f"{source}: steps[{i}] has no name", hint='a step is {"name": "weights", "value": [[…]]}')
        group = step.get("group")
        name = f"{group}/{step['name']}" if group and isinstance(group, str) else step["name"]
        if name in found:
            raise InputError(f"{source}: steps has {quoted(name)} twice")
        if "value" in step:
            found[name] = step["value"]
    return found


def _answer(value: Any, name: str, source: str) -> Answer:
    place = brackets(source, visible(name, 80))
    if isinstance(value, dict):
        hint = 'steps stand by their names at the top, or under "steps"'
        raise InputError(f"{place(())} is an object, not numbers", hint=hint)
    if hasattr(value, "__array__"):
        return answers.from_python(value, place(()))
    return answers.from_lists(value, place)


def _student(name: Any, source: str) -> str:
    if name is None:
        return ""
    if not isinstance(name, str):
        raise InputError(f"{source}: student is to be a text")
    return visible(name.strip(), LONGEST_NAME)


def _decimals(rounding: Any, source: str) -> int | None:
    """To how many decimals somebody says to have rounded: `3`, or {"decimals": 3}."""
    plainly = plain(rounding, source)
    number = plainly.get("decimals") if isinstance(plainly, dict) else plainly
    if number is None:
        return None
    if isinstance(number, str) and re.fullmatch(r"\s*\d{1,4}\s*", number, re.ASCII):
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_DIGITS:
        raise InputError(f"{source}: rounding is a number of decimals from 0 to {MOST_DIGITS}")
    return number


def _from_csv(text: str, source: str, reading: Reading) -> Sheet:
    """The blocks of a CSV file, or its one table as the result; lines `@student,Ann` stand in front."""
    told, rest = _told(text, source)
    tables = blocks(rest)
    _refuse_many(len(tables), source)
    if not tables:
        return replace(told, steps={"": _result(rest, source, reading)})
    rows = {name: entry_rows(table, source, reading) for name, table in tables.items()}
    return replace(told, steps={name: _table(block, source, reading) for name, block in rows.items()})


def _result(text: str, source: str, reading: Reading) -> Answer:
    """The one table of a file; if that fails, a bare name in front was perhaps meant to begin a block."""
    try:
        return _table(table_rows(text, source, reading)[0], source, reading)
    except InputError as error:
        title = re.match(r"\s*([^\W\d][\w/]*):?[,;\t ]*$", text, re.MULTILINE)
        hint = f"the rows of a step stand below a line @{title[1]}" if title else ""
        raise InputError(error.message, hint=error.hint or hint) from None


def _told(text: str, source: str) -> tuple[Sheet, str]:
    """What lines such as `@student,Ann` and `@rounding,3` say, and the text with them emptied."""
    said: dict[str, str] = {}
    idle: list[str] = []
    titles = set()
    lines = list(io.StringIO(text, newline=""))
    for i, line in enumerate(lines):
        if not line.lstrip('" ').startswith("@"):
            continue
        name, _, value = line.strip().lstrip('"').removeprefix("@").partition(_mark(line))
        name = name.strip().strip('"')
        if not value.strip(",;\t ") and name not in BESIDE:
            if name in titles:
                raise InputError(f"{source}:{i + 1}: {quoted(name)} is answered twice")
            titles.add(name)
            continue
        lines[i] = "\n"
        if name in said:
            raise InputError(f"{source}:{i + 1}: {quoted('@' + name)} stands twice")
        if name in BESIDE:
            said[name] = value.strip().strip(",;\t").strip('"')
        else:
            idle.append(name)
    student, decimals = _student(said.get("student"), source), _decimals(said.get("rounding"), source)
    return Sheet({}, student, source, decimals, _without_effect(idle, source)), "".join(lines)


def _mark(line: str) -> str:
    return next((mark for mark in "\t;" if mark in line), ",")


def _table(rows: Sequence[Row], source: str, reading: Reading) -> Answer:
    if not rows:
        return answers.nothing((0, 0))
    left, above = _labelled(rows, reading)
    rows = rows[above:]

    def place(at: tuple[int, ...]) -> str:
        return f"{source}:{rows[at[0]].line}:{at[1] + left + 1}" if len(at) == 2 else source

    cells = [cell for row in rows for cell in row.cells[left:]]
    return answers.from_text(cells, (len(rows), len(rows[0].cells) - left), place, table=True)


def _labelled(rows: Sequence[Row], reading: Reading) -> tuple[bool, bool]:
    """Whether the first column and the first row are labels, as a saved result has them: words, and no number."""
    left = _are_words([row.cells[0] for row in rows]) if reading.labels is None else reading.labels
    above = _are_words(rows[0].cells[left:]) if reading.header is None else reading.header
    return (left, above) if len(rows) > above and len(rows[0].cells) > left else (False, False)


def _are_words(cells: Sequence[str]) -> bool:
    numbers = any(split(cell) for cell in cells) or all(cell.casefold() in answers.BLANK for cell in cells)
    return is_text(cells, "real") and not numbers


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""In quotes among commas this may be a number above a thousand as well."""


def entry_rows(text: str, source: str, reading: Reading) -> list[Row]:
    """The rows of a table of answers, all of one length, with decimal points."""
    rows, delimiter = parted(joined(with_roots(text)), source, reading)
    for row in rows:
        check_length(row, rows[0], source)
    if reading.decimal == ",":
        return [with_points(row, source) for row in rows]
    if any(has_point(cell) for row in rows for cell in row.cells) or not has_commas(rows, delimiter):
        return rows
    return [with_points(row, source) for row in rows]


def has_commas(rows: Iterable[Row], delimiter: str) -> bool:
    """Whether there are decimal commas in a table of answers."""
    found = [cell for row in rows for cell in row.cells if DECIMAL_COMMA.fullmatch(cell)]
    return any(delimiter != "," or not _THOUSANDS.fullmatch(cell) for cell in found)
