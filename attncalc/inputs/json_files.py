"""JSON and JSON lines, read strictly: no duplicate keys, syntax errors in plain words, numbers with their digits."""

from __future__ import annotations

import json
import re
from typing import Any

from attncalc.errors import InputError
from attncalc.inputs.entries import KEPT_DIGITS, Digits
from attncalc.text import quoted


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
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        known = dict(found)
        if len(known) < len(found):
            raise _duplicate(text, source)
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
    """The arrays of objects, and the texts beside them."""
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


def _duplicate(text: str, source: str) -> InputError:
    """The fault of a key that occurs twice in one object, with its place."""
    keys: list[set[str]] = []
    for match in re.finditer(r'("(?:[^"\\]|\\.)*")(\s*:)?|[{}]', text):
        if match.group() == "{":
            keys.append(set())
        elif match.group() == "}":
            keys.pop()
        elif match.group(2):
            key = json.loads(match.group(1), strict=False)
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
        error = json.JSONDecodeError(wanted, error.doc, len(error.doc) - len(behind.lstrip(" \t\r\n")))
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
