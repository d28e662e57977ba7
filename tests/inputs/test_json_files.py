"""JSON and JSON lines: the arrays that they give, and every fault with its place and its mend."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import rows

from attncalc.common.numerals import KEPT_DIGITS
from attncalc.declare.operands import Kind

Fault = Callable[..., tuple[str, str]]

GOOD: list[tuple[str, Any]] = [
    ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ("[[1, 2.50], [1e3, -0.5]]", [[1, 2.5], [1000, -0.5]]),
    ('[["1/3", "sqrt(2)"]]', [[1 / 3, math.sqrt(2)]]),
    ('[["1", 2]]', [[1, 2]]),
    ("[1, 2]", [1, 2]),
    ("3", 3),
    ('"1/2 1; 0.25 2"', [[1 / 2, 1], [0.25, 2]]),
    ('"1, 2"', [1, 2]),
    ('"[[1, 2], [3, 4]]"', [[1, 2], [3, 4]]),
    ("[[[1], [2]]]", [[[1], [2]]]),
    ("\ufeff[[1]]", [[1]]),
    ("[[1,\r\n2]]\r\n", [[1, 2]]),
    ("[[1e-999]]", [[0]]),
]


@pytest.mark.parametrize(("text", "value"), GOOD, ids=[row[0] for row in GOOD])
def test_arrays(read: Callable[..., Any], text: str, value: Any) -> None:
    found = read(text)
    assert found.value.tolist() == value
    assert found.value.dtype == np.float64
    assert found.source == "q.json"


def test_numbers_keep_the_digits_that_they_were_written_with(read: Callable[..., Any]) -> None:
    found = read('[[0.360, 1e2, "1/3"], [-0, 12345678901234567890, 0.10]]')
    assert found.written.tolist() == [["0.360", "1e2", "1/3"], ["-0", "12345678901234567890", "0.10"]]


def test_a_number_that_vanishes_is_told(read: Callable[..., Any]) -> None:
    assert read("[[1e-999, 0.0]]").note == '"1e-999" is too small for 64 bits and became 0'
    assert read('[["exp(-800)", 1]]').note == '"exp(-800)" is too small for 64 bits and became 0'
    assert not read('[["0/3", "0*2", "ln(1)", "1/ln(2)*0", "sqrt(0/4)", "-0e5"]]').note  # these are 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"1 2; 3"', "q.json: row 2 has 1 entry where the first has 2"),
        ('{"q": "1 2; 3"}', "q.json: q: row 2 has 1 entry where the first has 2"),
        ('{"q": "1 2; 3 ３"}', 'q.json: q: "1 2; 3 ３" is not a number'),
    ],
)
def test_faults_of_what_is_typed_in_quotes(fault: Fault, text: str, message: str) -> None:
    assert fault(text)[0] == message


def test_numbers_that_are_typed_in_quotes_keep_their_digits(read: Callable[..., Any]) -> None:
    assert read('{"q": "0.360 1/3 ½"}').written.tolist() == ["0.360", "1/3", "1/2"]
    assert read('{"q": ["½", 1]}').written.tolist() == ["1/2", "1"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(read: Callable[..., Any], encoding: str) -> None:
    found = read('{"q": [[1]], "labels": ["café"]}'.encode(encoding))
    assert found.labels == {0: ("café",)}


EQUALLY_LONG = "the rows of an array are equally long"
BOOLEANS = "true and false stand in masks alone: write 1 and 0"
MASKED = "only a mask, a bias or the logits of a softmax may hold it"
GAPS = "arrays have no gaps: every entry must be a number"
CUT = "a bracket is not closed, or the file was cut"
FINITE = "every entry must be a finite number"
TOO_LARGE = "is too large: 64-bit numbers end at 1.8e308"

STRUCTURE: list[tuple[str, str, str]] = [
    ("[[1, 2], [3]]", "q.json: [1] has 1 entry where the first has 2", EQUALLY_LONG),
    ("[[[1], [2]], [[3], []]]", "q.json: [1][1] has no entries where the first has 1", EQUALLY_LONG),
    ("[[1, 2], 3]", "q.json: [1] is 3 where a list of 2 is expected", ""),
    ('[[1, 2], "x"]', 'q.json: [1] is "x" where a list of 2 is expected', ""),
    ("[[1, 2], null]", "q.json: [1] is null where a list of 2 is expected", ""),
    ("[[1, 2], {}]", "q.json: [1] is an object where a list of 2 is expected", ""),
    ("[1, [2]]", "q.json: [1] is a list where a number is expected", ""),
    ("[]", "q.json is empty", ""),
    ("[[]]", "q.json: [0] is empty", ""),
    ("[[true, 1]]", "q.json: [0][0]: true is not a number", BOOLEANS),
    ("[[1, false]]", "q.json: [0][1]: false is not a number", BOOLEANS),
    ("[[null]]", "q.json: [0][0]: null is not a number", GAPS),
    ('[["x"]]', 'q.json: [0][0]: "x" is not a number', ""),
    ('[["1_0"]]', 'q.json: [0][0]: "1_0" is not a number', "write a number without underscores: 1000"),
    ('[["\\u0661"]]', 'q.json: [0][0]: "١" is not a number', "digits are written 0 to 9"),
    ('[[""]]', "q.json: [0][0]: there is no number", GAPS),
    ('[["\\u001b[2J"]]', 'q.json: [0][0]: "\\x1b[2J" is not a number', ""),
    ("[[NaN]]", 'q.json: [0][0]: "NaN" is not a finite number', ""),
    ("[[Infinity]]", 'q.json: [0][0]: "Infinity" is not a finite number', ""),
    ("[[-Infinity]]", "q.json: [0][0]: -inf is not a finite number", MASKED),
    ('[["-inf"]]', "q.json: [0][0]: -inf is not a finite number", MASKED),
    ("[[1e999]]", f'q.json: [0][0]: "1e999" {TOO_LARGE}', ""),
    (f"[[1], [{'9' * 400}]]", f'q.json: [1][0]: "{"9" * 79}…" {TOO_LARGE}', ""),
    (f"[[{'9' * 5000}]]", f'q.json: [0][0]: "{"9" * 79}…" {TOO_LARGE}', ""),
    ('[[{"a": 1}]]', "q.json: [0][0]: an object is not a number", ""),
    ('[[{"re": 1, "im": 2}]]', "q.json: [0][0]: a complex number is not read", "operands are real"),
    ("null", "q.json is null, not an array", ""),
    ("true", "q.json: true is not a number", BOOLEANS),
    ('"x"', 'q.json: "x" is not a number', ""),
    ("[" * 40 + "1" + "]" * 40, "q.json is nested more than 32 deep", ""),
    ("[" * 100_000, "q.json: lists and objects are nested too deeply", ""),
    ('{"a":' * 100_000, "q.json: lists and objects are nested too deeply", ""),
    ("", "q.json is empty", ""),
    (" \n", "q.json is empty", ""),
]


@rows(("text", "message", "hint"), STRUCTURE, ids=[ascii(row[0])[:30] for row in STRUCTURE])
def test_faults_of_structure(fault: Fault, text: str, message: str, hint: str) -> None:
    assert fault(text) == (message, hint)


VALUE, SEPARATOR, KEY = (
    "stands where a value is expected",
    "stands where a comma or a closing bracket is expected",
    'stands where a key in double quotes, or "}", is expected',
)

SYNTAX: list[tuple[str, str, str]] = [
    ("[1, 2,]", f'q.json:1:7: "]" {VALUE}', "take out the comma before it"),
    ('{"q": [1],}', f'q.json:1:11: "}}" {KEY}', "take out the comma before it"),
    ("{'q': 1}", f'q.json:1:2: "\'" {KEY}', 'JSON has double quotes: "'),
    ("{q: 1}", f'q.json:1:2: "q" {KEY}', "names and texts stand in double quotes"),
    ("[1 2]", f'q.json:1:4: "2" {SEPARATOR}', "a comma is missing"),
    ("[[1]\n [2]]", f'q.json:2:2: "[" {SEPARATOR}', "a comma is missing"),
    ("[01]", f'q.json:1:3: "1" {SEPARATOR}', "a number does not begin with 0"),
    ("[.5]", f'q.json:1:2: ".5" {VALUE}', "write a digit before the point: 0.5"),
    ("[1.]", f'q.json:1:3: "." {SEPARATOR}', "write a digit behind the point: 1.0"),
    ("[+1]", f'q.json:1:2: "+1" {VALUE}', "leave out the plus sign"),
    ("[1/3]", f'q.json:1:3: "/" {SEPARATOR}', 'put the number in quotes: "1/3", "sqrt(2)"'),
    ("[sqrt(2)]", f'q.json:1:2: "sqrt" {VALUE}', 'put the number in quotes: "1/3", "sqrt(2)"'),
    ("[nan]", f'q.json:1:2: "nan" {VALUE}', FINITE),
    ("[-inf]", f'q.json:1:2: "-inf" {VALUE}', FINITE),
    ("[None]", f'q.json:1:2: "None" {VALUE}', FINITE),
    ("[True]", f'q.json:1:2: "True" {VALUE}', "JSON writes true and false"),
    ("[0x10]", f'q.json:1:3: "x10" {SEPARATOR}', "write the number in decimal digits"),
    ("[−1]", f'q.json:1:2: "−" {VALUE}', "the minus sign is another character: write an ASCII -"),
    ("[“1”]", f'q.json:1:2: "“" {VALUE}', 'the quotes are typographic: write "'),
    ("[1,\u00a02]", f'q.json:1:4: "\\xa0" {VALUE}', "that character is not part of JSON: blanks and digits are ASCII"),
    ("[１]", f'q.json:1:2: "１" {VALUE}', "that character is not part of JSON: blanks and digits are ASCII"),
    ("[1;2]", f'q.json:1:3: ";" {SEPARATOR}', "each row is a list of its own: [[1, 2], [3, 4]]"),
    ("[1e]", f'q.json:1:3: "e" {SEPARATOR}', "the exponent is missing or not written as e3"),
    ("[[1, 2], [3, 4]", "q.json:1:16: the text ends where a comma or a closing bracket is expected", CUT),
    ('{"q": ', "q.json:1:7: the text ends where a value is expected", CUT),
    ('{"q" 1}', 'q.json:1:6: "1" stands where a ":" is expected', ""),
    ("[1] [2]", 'q.json:1:5: "[" stands where the text should end', "a comma is missing"),
    ("// x\n[1]", f'q.json:1:1: "/" {VALUE}', "JSON has no comments: take it out"),
    ("# x\n[1]", f'q.json:1:1: "#" {VALUE}', "JSON has no comments: take it out"),
    ("q", f'q.json:1:1: "q" {VALUE}', "names and texts stand in double quotes"),
    ('["x]', "q.json:1:2: a text in quotes is not closed", ""),
    ('["a\nb"]', "q.json:1:4: a text in quotes holds a character that JSON writes with a backslash", ""),
    ('["\\x"]', "q.json:1:3: a text in quotes holds a character that JSON writes with a backslash", ""),
    ('{"q": [1],\n "q": [2]}', 'q.json:2:2: the key "q" occurs twice in one object', ""),
    ('{"a": {"b": 1, "c": {}, "b": "{"}}', 'q.json:1:25: the key "b" occurs twice in one object', ""),
    ('{"\\u0071": 1, "q": 2}', 'q.json:1:15: the key "q" occurs twice in one object', ""),
]


@rows(("text", "message", "hint"), SYNTAX, ids=[ascii(row[0])[:30] for row in SYNTAX])
def test_faults_of_syntax(fault: Fault, text: str, message: str, hint: str) -> None:
    assert fault(text) == (message, hint)


MASKS: list[tuple[str, Any, type]] = [
    ("[[true, false]]", [[True, False]], np.bool_),
    ("[[1, 0]]", [[1.0, 0.0]], np.float64),
    ('[[0, "-Infinity"], [-Infinity, "-inf"]]', [[0.0, -math.inf], [-math.inf, -math.inf]], np.float64),
    ('[["true", "false"]]', [[True, False]], np.bool_),
]


@pytest.mark.parametrize(("text", "value", "dtype"), MASKS, ids=[row[0] for row in MASKS])
def test_masks(read: Callable[..., Any], text: str, value: Any, dtype: type) -> None:
    found = read(text, kind="mask")
    assert found.value.tolist() == value
    assert found.value.dtype == dtype


OF_A_KIND: list[tuple[str, Kind, str]] = [
    ("[[true, 1]]", "mask", "q.json: [0][1]: a mask holds either true and false or numbers, not both"),
    ("[[1, 1.5]]", "integers", 'q.json: [0][1]: "1.5" is not a whole number'),
    ("[true]", "tokens", "q.json: [0]: true is neither an id nor a word"),
    ('["the", 1.5]', "tokens", "q.json: [1]: 1.5 is neither an id nor a word"),
    ("[null]", "tokens", "q.json: [0]: null is neither an id nor a word"),
]


@pytest.mark.parametrize(("text", "kind", "message"), OF_A_KIND, ids=[row[0] for row in OF_A_KIND])
def test_a_kind_refuses(fault: Fault, text: str, kind: Kind, message: str) -> None:
    assert fault(text, word="@q.json", kind=kind)[0] == message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["the", "cat"]', ["the", "cat"]),
        ('"the cat"', ["the", "cat"]),
        ("[1, 2]", [1, 2]),
        ('[["the", "cat"]]', [["the", "cat"]]),
        ('["the", 1]', ["the", "1"]),
    ],
)
def test_tokens(read: Callable[..., Any], text: str, value: list[Any]) -> None:
    assert read(text, word="@q.json", kind="tokens", shape="n").value.tolist() == value


def test_words_of_tokens_are_no_file_without_a_mark(read: Callable[..., Any]) -> None:
    assert read("[1, 2]", kind="tokens", shape="n").value.tolist() == ["q.json"]


LINES: list[tuple[str, Any, dict[int, tuple[str, ...]]]] = [
    ("[1, 2]\n\n[3, 4]\n", [[1, 2], [3, 4]], {}),
    ("1\n2\n", [1, 2], {}),
    ('{"word": "cat", "v": [1, 2]}\n{"word": "dog", "v": [3, 4]}', [[1, 2], [3, 4]], {0: ("cat", "dog")}),
    ('{"v": [1]}\n{"v": [2]}', [[1], [2]], {}),
    ('{"q": [[1]]}\n', [[1]], {}),
]


@pytest.mark.parametrize(("text", "value", "labels"), LINES, ids=[ascii(row[0]) for row in LINES])
@pytest.mark.parametrize("file", ["q.jsonl", "q.ndjson"])
def test_json_lines(
    read: Callable[..., Any], text: str, value: Any, labels: dict[int, tuple[str, ...]], file: str
) -> None:
    found = read(text, file)
    assert found.value.tolist() == value
    assert found.labels == labels


def test_json_lines_are_told_by_their_content(read: Callable[..., Any]) -> None:
    assert read("[1, 2]\n[3, 4]\n", "q").value.tolist() == [[1, 2], [3, 4]]
    assert read("[[1, 2],\n[3, 4]]\n", "q").value.tolist() == [[1, 2], [3, 4]]


BAD_LINES = [
    ("[1]\n[2,]\n", 'q.jsonl:2:4: "]" stands where a value is expected'),
    ("[1, 2]\n[3]\n", "q.jsonl: [1] has 1 entry where the first has 2"),
    ('{"v": [1]}\n3\n', "q.jsonl:2: this line is not an object, but others are"),
    ('{"v": [1]}\n{"w": [1]}\n', "q.jsonl:2: this line has other keys than the one before"),
    (
        '{"w": "cat"}\n{"w": "dog"}',
        "q.jsonl:1: an object in a line must hold one array, and at most one text, its label",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD_LINES, ids=[ascii(row[0]) for row in BAD_LINES])
def test_bad_json_lines(fault: Fault, text: str, message: str) -> None:
    assert fault(text, "q.jsonl")[0] == message


class TestLarge:
    """Texts of more characters than KEPT_DIGITS, whose numbers are floats from the start."""

    ROWS = KEPT_DIGITS // 10

    def text(self, last: str) -> str:
        return json.dumps([[0.5, 0.25]] * self.ROWS)[:-1] + f", [1, {last}]]"

    def test_value(self, read: Callable[..., Any]) -> None:
        found = read(self.text("2"))
        assert found.value.shape == (self.ROWS + 1, 2)
        assert found.value[-1].tolist() == [1, 2]
        assert found.written is None

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("last", "fact"),
        [
            ("NaN", ": nan is not a finite number"),
            ("Infinity", ": inf is not a finite number"),
            ("-Infinity", ": -inf is not a finite number"),
            ("1e999", ": inf is not a finite number"),
            ("9" * 400, ": a whole number above 1.8e308 is too large"),
            ("9" * 5000, f': "{"9" * 79}…" is too large: 64-bit numbers end at 1.8e308'),
            ("true", ": true is not a number"),
            ("null", ": null is not a number"),
            ('"x"', ': "x" is not a number'),
            ("{}", ": an object is not a number"),
        ],
    )
    def test_faults_have_their_place(self, fault: Fault, last: str, fact: str) -> None:
        assert fault(self.text(last))[0] == f"q.json: [{self.ROWS}][1]{fact}"

    def test_a_ragged_row(self, fault: Fault) -> None:
        assert fault(self.text("2, 3"))[0] == f"q.json: [{self.ROWS}] has 3 entries where the first has 2"

    def test_masked_entries(self, read: Callable[..., Any]) -> None:
        assert read(self.text("-Infinity"), kind="mask").value[-1].tolist() == [1, -math.inf]

    @pytest.mark.thorough
    def test_numbers_as_text(self, read: Callable[..., Any]) -> None:
        assert read(self.text('"1/3"')).value[-1].tolist() == [1, 1 / 3]
