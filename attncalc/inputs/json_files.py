"""JSON and JSON lines, read strictly: its faults in plain words, and its arrays by their names, paths and labels.

Python's own parser reads it; we refuse duplicate keys, keep the digits of numbers, and put its errors in plain words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import isinf
from typing import TYPE_CHECKING, Any

from attncalc.common.errors import InputError, quoted, visible
from attncalc.common.numerals import KEPT_DIGITS, parse_number
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import Operand
from attncalc.inputs.given import (
    Digits,
    Index,
    brackets,
    from_lists,
    is_literal,
    read_expression,
    read_literal,
    read_tokens,
    spoken,
)
from attncalc.inputs.reading import (
    Contents,
    Reading,
    calculation_of,
    labelled_row,
    matching,
    missing,
    part_of,
    several,
    with_labels,
)
from attncalc.record.trace import NOTHING, Given

if TYPE_CHECKING:  # few calls read JSON
    import json


def parse_json(text: str, source: str) -> Any:
    """The value of a JSON text; in a text that is not large its numbers are `Digits`."""
    if len(text) > KEPT_DIGITS:
        try:
            return _load(text, source)
        except ValueError as error:
            if isinstance(error, InputError):
                raise  # else a whole number of thousands of digits: read as text, it is refused with its place
    return _load(text, source, parse_int=Digits, parse_float=Digits, parse_constant=Digits)


def parse_json_lines(text: str, source: str) -> tuple[Any, list[str] | None]:
    """The rows of a JSON lines text and their labels: arrays, or objects with one array each and perhaps its label."""
    rows = [
        (number, _parse_line(line, number, source))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if len(rows) == 1:
        return rows[0][1], None
    return _records(rows, source) if any(isinstance(row, dict) for _, row in rows) else ([row for _, row in rows], None)


def _load(text: str, source: str, **numbers: Any) -> Any:
    import json  # a door: a call without files is not to wait for it

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        known = dict(found)
        if len(known) < len(found):
            raise _duplicate(text, source, json.loads)
        return known

    try:
        return json.loads(text, object_pairs_hook=pairs, **numbers)
    except json.JSONDecodeError as error:
        raise _syntax(error, source) from None
    except RecursionError:
        raise InputError(f"{source}: lists and objects are nested too deeply") from None


def _parse_line(line: str, number: int, source: str) -> Any:
    try:
        return parse_json(line, source)
    except InputError as error:
        moved = error.message.replace(f"{source}:1:", f"{source}:{number}:", 1)
        raise InputError(moved, hint=error.hint) from None


def _records(rows: list[tuple[int, Any]], source: str) -> tuple[Any, list[str] | None]:
    """The arrays of JSON lines that are objects, and the labels beside them."""
    arrays: list[Any] = []
    labels: list[str] = []
    first: set[str] | None = None
    for number, row in rows:
        place = f"{source}:{number}"
        if not isinstance(row, dict):
            raise InputError(f"{place}: this line is not an object, but others are")
        if first is not None and row.keys() != first:
            raise InputError(f"{place}: this line has other keys than the one before")
        first = set(row)
        held = [value for value in row.values() if isinstance(value, list | Digits | int | float)]
        words = [value for value in row.values() if type(value) is str]
        if len(held) != 1 or len(words) > 1:
            raise InputError(f"{place}: an object in a line must hold one array, and at most one text, its label")
        arrays.append(held[0])
        labels += words
    return arrays, labels or None


def _duplicate(text: str, source: str, loads: Callable[..., str]) -> InputError:
    """The fault of a key that occurs twice in one object, with its place."""
    keys: list[set[str]] = []
    for match in re.finditer(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}]', text):
        if match.group() == "{":
            keys.append(set())
        elif match.group() == "}":
            keys.pop()
        elif match.group(2):
            key = loads(match.group(1), strict=False)
            if key in keys[-1]:
                return InputError(
                    f"{_place(text, match.start(), source)}: the key {quoted(key)} occurs twice in one object"
                )
            keys[-1].add(key)
    raise AssertionError("the parser has seen a key twice, so that it is in the text")


def _place(text: str, position: int, source: str) -> str:
    line = text.count("\n", 0, position) + 1
    return f"{source}:{line}:{position - text.rfind(chr(10), 0, position)}"


_EXPECTED = {
    "Expecting value": "a value is expected",
    "Expecting property name": 'a key in double quotes, or "}", is expected',
    "Expecting ':'": 'a ":" is expected',
    "Expecting ','": "a comma or a closing bracket is expected",
    "Extra data": "the text should end",
}


def _syntax(error: json.JSONDecodeError, source: str) -> InputError:
    """A syntax error in our words: what stands there, what is expected, and the likely mend."""
    if error.msg.startswith("Illegal trailing comma"):  # as Python has it from 3.13 on, which points at the comma
        wanted = "Expecting property name" if "object" in error.msg else "Expecting value"
        behind = error.doc[error.pos + 1 :]
        error = type(error)(wanted, error.doc, len(error.doc) - len(behind.lstrip(" \t\r\n")))
    rest = error.doc[error.pos : error.pos + 80]
    place = f"{source}:{error.lineno}:{error.colno}"
    expected = next((words for start, words in _EXPECTED.items() if error.msg.startswith(start)), None)
    if expected is None:  # inside a text in quotes
        unclosed = "Unterminated" in error.msg
        what = "is not closed" if unclosed else "holds a character that JSON writes with a backslash"
        return InputError(f"{place}: a text in quotes {what}")
    before = error.doc[: error.pos].rstrip()[-1:]
    if not error.doc.strip():
        return InputError(f"{source} is empty")
    if not rest.strip():
        return InputError(
            f"{place}: the text ends where {expected}", hint="a bracket is not closed, or the file was cut"
        )
    token = re.match(r"[\w.+-]+|.", rest, re.DOTALL)
    assert token, "there is a character that is no blank"
    hint = next((mend for pattern, mend in _MENDS if re.match(pattern, before + rest, re.ASCII | re.DOTALL)), "")
    if error.msg.startswith("Extra data") and not hint:
        hint = "one value a line is read from a .jsonl file"
    return InputError(f"{place}: {quoted(token.group())} stands where {expected}", hint=hint)


# What is wrong, told by the character before the error and by what follows.
_MENDS = (
    (r",[]}]", "take out the comma before it"),
    (r".?'", 'JSON has double quotes: "'),
    (r".?(//|/\*|#)", "JSON has no comments: take it out"),
    (r".?([Nn]a[Nn]|[+-]?inf|\+Inf|[+-]?INF|None\b)", "every entry must be a finite number"),
    (r".?(True|False)\b", "JSON writes true and false"),
    (r".?\.\d", "write a digit before the point: 0.5"),
    (r".?\+[\d.]", "leave out the plus sign"),
    (r".?[−–—‐‑‒]", "the minus sign is another character: write an ASCII -"),
    (r".?[“”„«»‘’]", 'the quotes are typographic: write "'),
    (r"0[xX]", "write the number in decimal digits"),
    (r"0\d", "a number does not begin with 0"),
    (r"\d,\d", "a comma is missing, or the decimal mark is not a point"),
    (r"[\d\]][\d[]", "a comma is missing"),
    (r"\d\.", "write a digit behind the point: 1.0"),
    (r"\d;", "each row is a list of its own: [[1, 2], [3, 4]]"),
    (r".?([/*]|sqrt|pi)", 'put the number in quotes: "1/3", "sqrt(2)"'),
    (r".?[^\x00-\x7f]", "that character is not part of JSON: blanks and digits are ASCII"),
    (r"\d[eEdD]", "the exponent is missing or not written as e3"),
    (r".?[A-Za-z_]", "names and texts stand in double quotes"),
)


_MAX_DEPTH = 8  # of nested objects around the only array
_NO_ARRAYS = ("labels", "options")  # keys of an object that hold none
_SAID_AGAIN = (("steps/", "outputs/"), ("steps/", "exact/"), ("outputs/", "exact/"))  # of a saved result


class Entry(NamedTuple):
    """A value inside a JSON file, with what stands beside it."""

    path: str  # "q", "steps/weights"
    value: Any
    labels: Any = None
    axes: tuple[str, ...] = ()
    alone: bool = True  # whether the labels are its own, and not those of several arrays


class JsonFile(Contents):
    """A JSON file; `under` is where in it the tree stands, with labels that stand beside the tree."""

    def __init__(self, source: str, tree: Any, under: str = "", labels: Any = None) -> None:
        super().__init__(source)
        self.tree = tree  # its numbers are Digits, where the file is not large
        self.members = tree if isinstance(tree, dict) else NOTHING
        self.under = under
        self.labels = labels

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of an object that may be operands."""
        return tuple(key for key, value in self.members.items() if key not in _NO_ARRAYS and _may_be_array(value))

    def array(self, name: str | None, operand: Operand, reading: Reading) -> Given:
        """The array of that name or path, or the one that is meant for the operand."""
        if isinstance(self.tree, dict):
            if calculation_of(self) is not None and not name:
                return self._built(self._result(), operand)
            own = name or matching(operand.name, self.names, self.source)
            if own is not None:
                return self._built(self.entry(own), operand)
        given = self._built(Entry("", self.tree, self.labels), operand)
        return labelled_row(given, name) if name else given

    def _built(self, entry: Entry, operand: Operand) -> Given:
        """The operand in an entry."""
        path = self.under + entry.path
        source = f"{self.source}#{visible(entry.path, 80)}" if entry.path else self.source
        value = entry.value
        if isinstance(value, dict):
            return self._inside(entry, operand)
        if operand.kind == "tokens" and type(value) is str:
            return read_tokens(value, source)._replace(source=source)
        if operand.kind == "expression" and isinstance(value, str):
            return read_expression(value)._replace(source=source)
        place = brackets(self.source, visible(path, 80))
        if operand.kind == "expression":
            raise InputError(f"{place(())} is {spoken(value)}, but a formula is text in quotes")
        if value is None and path.startswith("steps/"):
            raise InputError(f"{place(())} was too large to be saved", hint="--all saves every step whole")
        if not isinstance(value, list | str | int | float):
            raise InputError(f"{place(())} is {spoken(value)}, not an array")
        if is_literal(value, operand.kind):
            return read_literal(value, place(()), operand.kind)._replace(source=source)
        given = from_lists(value, operand.kind, place)._replace(source=source)
        return with_labels(given, entry.labels, operand, f"{self.source}: labels", alone=entry.alone, axes=entry.axes)

    def _inside(self, entry: Entry, operand: Operand) -> Given:
        """The array in an object without an array for the operand: the only one, or rows under their labels."""
        tree = entry.value
        arrays = [key for key, value in tree.items() if key not in _NO_ARRAYS and isinstance(value, list | dict)]
        labels = tree.get("labels", entry.labels)
        prefix = f"{entry.path}/" if entry.path else ""
        if len(arrays) == 1 and entry.path.count("/") < _MAX_DEPTH:
            return self._built(Entry(prefix + arrays[0], tree[arrays[0]], labels), operand)
        flat = all(
            isinstance(value, list) and not any(isinstance(v, list | dict) for v in value) for value in tree.values()
        )
        vector = operand.shapes and all(len(shape) == 1 for shape in operand.shapes)
        if arrays and flat and not vector:
            return self._labelled(tree, prefix, operand)
        raise several([prefix + key for key in arrays], operand.name, self.source)

    def _labelled(self, tree: dict[str, Any], prefix: str, operand: Operand) -> Given:
        """The rows of an object whose keys label them."""
        keys = list(tree)

        def place(index: Index) -> str:
            where = brackets(self.source, visible(self.under + prefix + (keys[index[0]] if index else ""), 80))
            return where(index[1:])

        rows = from_lists(list(tree.values()), operand.kind, place)
        source = f"{self.source}#{visible(prefix[:-1], 80)}" if prefix else self.source
        rows = with_labels(rows._replace(source=source), keys, operand, f"{self.source}: the keys", alone=True)
        return rows.noted("keys", "keys read as row labels")

    def _entries(self) -> Iterator[Entry]:
        """Every value by its path; the steps of a saved result by their group and name."""
        alone = sum(isinstance(value, list | dict) for key, value in self.tree.items() if key not in _NO_ARRAYS) == 1
        for key, value in self.tree.items():
            labels = self.tree.get("labels", self.labels)
            if key == "steps" and isinstance(value, list):
                yield from saved_steps(value)
            elif key not in _NO_ARRAYS:
                yield Entry(key, value, labels, alone=alone)
                if isinstance(value, dict):
                    inner = value.get("labels", labels)
                    yield from (
                        Entry(f"{key}/{name}", held, inner, alone=len(value) == 1)
                        for name, held in value.items()
                        if name not in _NO_ARRAYS
                    )

    def entry(self, name: str) -> Entry:
        """The entry of that path, in any case, or of that name at the end of a path."""
        entries = {entry.path: entry for entry in self._entries()}
        if name in entries:
            return entries[name]
        folded = name.casefold()
        tails = {path for path in entries if path.casefold() == folded or path.casefold().endswith("/" + folded)}
        for kept, again in _SAID_AGAIN:
            tails -= {path for path in tails if path.startswith(again) and kept + path.removeprefix(again) in tails}
        if len(tails) > 1:
            raise InputError(f"{self.source}: {quoted(name)} occurs in several places: {', '.join(sorted(tails))}")
        if not tails:
            held = [path for path, entry in entries.items() if isinstance(entry.value, list)]
            raise missing(name, list(dict.fromkeys(path.rpartition("/")[2] for path in held)), self.source)
        return entries[tails.pop()]

    def _result(self) -> Entry:
        """The result of a saved document, with the labels and the axes of the step that it is."""
        outputs = self.tree.get("outputs")
        first = next(iter(outputs), None) if isinstance(outputs, dict) else None
        if "result" not in self.tree and first is None:
            raise InputError(
                f"{self.source} is a problem and holds no result",
                hint=f"name one of its operands ({part_of(self.source, 'inputs/')}…), or save its result and give that",
            )
        value = self.tree["result"] if "result" in self.tree else outputs[first]
        step = next((e for e in self._entries() if e.path == f"steps/{first}"), None)
        return Entry("result", value, *((step.labels, step.axes) if step else (None, ())))


def plain(tree: Any, source: str) -> Any:
    """The value with its numbers as numbers: whole ones as int, the others as float."""
    try:
        return _plain(tree)
    except InputError as error:
        raise error.within(source) from None
    except RecursionError:
        raise InputError(f"{source}: lists and objects are nested too deeply") from None


def _plain(tree: Any) -> Any:
    if isinstance(tree, Digits):
        if re.fullmatch(r"-?[0-9]{1,18}", tree):
            return int(tree)
        value = float(tree)
        return parse_number(tree) if isinf(value) and tree[-1].isdigit() else value  # 1e999 is refused
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    return [_plain(value) for value in tree] if isinstance(tree, list) else tree


def shape_in(tree: Any) -> tuple[tuple[int, ...], Any]:
    """The shape of nested lists, by the first of each, and their first entry."""
    shape: tuple[int, ...] = ()
    while isinstance(tree, list) and tree:
        shape, tree = (*shape, len(tree)), tree[0]
    return shape, tree


def _may_be_array(value: Any) -> bool:
    return isinstance(value, list | dict | str | int | float) and not isinstance(value, bool)


def saved_steps(steps: list[Any]) -> Iterator[Entry]:
    """The steps of a saved result by their group and name."""
    for step in steps:
        if isinstance(step, dict) and isinstance(step.get("name"), str):
            axes = step.get("axes")
            names = tuple(axes) if isinstance(axes, list) and all(isinstance(axis, str) for axis in axes) else ()
            path = "/".join(filter(None, ("steps", str(step.get("group") or ""), step["name"])))
            yield Entry(path, step.get("value"), step.get("labels"), names)
