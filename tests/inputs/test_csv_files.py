"""CSV: what stands between cells, what is a label, what is a decimal comma, and every fault with its line and cell."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from operands import an_operand
from rows import rows

from attncalc.common.errors import InputError
from attncalc.common.numerals import KEPT_DIGITS
from attncalc.declare.operands import Kind
from attncalc.inputs import csv_files
from attncalc.inputs.csv_files import TextFile, read_table, without_mark
from attncalc.inputs.reading import Reading

Fault = Callable[..., tuple[str, str]]

PLAIN: list[tuple[str, Any]] = [
    ("1,2\n3,4\n", [[1, 2], [3, 4]]),
    ("1;2\n3;4", [[1, 2], [3, 4]]),
    ("1\t2\n3\t4", [[1, 2], [3, 4]]),
    ("1 2\n3    4\n", [[1, 2], [3, 4]]),
    (" 1 , 2 \n3,4", [[1, 2], [3, 4]]),
    ("1\n2\n3\n", [[1], [2], [3]]),
    ("5", [[5]]),
    ("\n\n1,2\n\n  \n3,4\n\n", [[1, 2], [3, 4]]),
    ("1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
    ("1,2\r3,4\r", [[1, 2], [3, 4]]),
    ("\ufeff1,2\n", [[1, 2]]),
    ('"1","2"\n"3","4"', [[1, 2], [3, 4]]),
    ("sqrt(2),1/3\npi,-.5", [[math.sqrt(2), 1 / 3], [math.pi, -0.5]]),
    ("1e3,2E-3\n", [[1000, 0.002]]),
    ("| 1 | 2 |\n|---|---|\n| 3 | 4 |\n", [[1, 2], [3, 4]]),
    ("\r\n|  |  |\r\n| :-: | --- |\r\n| 1 | -2 |\r\n| 3 | 4 |", [[1, -2], [3, 4]]),
    ("|1|\n|2|", [[1], [2]]),
]


@pytest.mark.parametrize(("text", "value"), PLAIN, ids=[ascii(row[0]) for row in PLAIN])
def test_tables_without_labels(read: Callable[..., Any], text: str, value: Any) -> None:
    found = read(text, "q.csv")
    assert found.value.tolist() == value
    assert (found.labels, found.note, found.source) == ({}, "", "q.csv")


def test_cells_are_kept_as_they_were_written(read: Callable[..., Any]) -> None:
    assert read("0.360, 1/3\n-0,1e2\n", "q.csv").written.tolist() == [["0.360", "1/3"], ["-0", "1e2"]]


ROW, COLUMN = "first row read as column labels", "first column read as row labels"

LABELLED: list[tuple[str, Any, dict[int, tuple[str, ...]], str]] = [
    ("x,y\n1,2\n", [[1, 2]], {1: ("x", "y")}, ROW),
    ("cat,1,2\ndog,3,4", [[1, 2], [3, 4]], {0: ("cat", "dog")}, COLUMN),
    ("| | x |\n|-|-|\n| cat | 1 |\n| dog | 3 |", [[1], [3]], {1: ("x",), 0: ("cat", "dog")}, f"{ROW}; {COLUMN}"),
    ("cat,1,2", [[1, 2]], {0: ("cat",)}, COLUMN),
    ("word,x,y\ncat,1,2\ndog,3,4", [[1, 2], [3, 4]], {1: ("x", "y"), 0: ("cat", "dog")}, f"{ROW}; {COLUMN}"),
    (",0,1\ncat,1,2", [[1, 2]], {1: ("0", "1"), 0: ("cat",)}, f"{ROW}; {COLUMN}"),
    (",0,1\n0,1,2\n1,3,4", [[1, 2], [3, 4]], {1: ("0", "1"), 0: ("0", "1")}, f"{ROW}; {COLUMN}"),
    (",x,y\ncat,1,2", [[1, 2]], {1: ("x", "y"), 0: ("cat",)}, f"{ROW}; {COLUMN}"),
    ("New York,1\nLos Angeles,3", [[1], [3]], {0: ("New York", "Los Angeles")}, COLUMN),
    ('"a, b",1\n"c",2', [[1], [2]], {0: ("a, b", "c")}, COLUMN),
    ("2024-01-31,1\n2024-02-29,2", [[1], [2]], {0: ("2024-01-31", "2024-02-29")}, COLUMN),
    ("id\n1\n2", [[1], [2]], {1: ("id",)}, ROW),
    ("id,a\n1,2\n3,4", [[1, 2], [3, 4]], {1: ("id", "a")}, ROW),
    ("cat 1 2\ndog 3 4", [[1, 2], [3, 4]], {0: ("cat", "dog")}, COLUMN),
    ("猫,1\n犬,2", [[1], [2]], {0: ("猫", "犬")}, COLUMN),
    ("=1+1,1\ncat,2\ndog,3", [[1], [2], [3]], {0: ("=1+1", "cat", "dog")}, COLUMN),
    ("[red]x,1\n[/],2", [[1], [2]], {0: ("[red]x", "[/]")}, COLUMN),
]


@pytest.mark.parametrize(("text", "value", "labels", "note"), LABELLED, ids=[ascii(r[0]) for r in LABELLED])
def test_text_in_the_first_row_and_column_is_labels(
    read: Callable[..., Any], text: str, value: Any, labels: dict[int, tuple[str, ...]], note: str
) -> None:
    found = read(text, "q.csv")
    assert found.value.tolist() == value
    assert (found.labels, found.note) == (labels, note)


OVERRULED: list[tuple[str, dict[str, Any], Any, dict[int, tuple[str, ...]]]] = [
    ("1,2\n3,4", {"header": True}, [[3, 4]], {1: ("1", "2")}),
    (",1,2\ncat,3,4", {"header": True}, [[3, 4]], {0: ("cat",), 1: ("1", "2")}),
    (",1,2\n3,4,5", {"header": True, "labels": True}, [[4, 5]], {0: ("3",), 1: ("1", "2")}),
    ("1,2\n3,4", {"labels": True}, [[2], [4]], {0: ("1", "3")}),
    ("2019,2020\n3,4", {"header": True, "labels": False}, [[3, 4]], {1: ("2019", "2020")}),
    (",a,b\n0,1,2\n1,3,4", {"labels": True}, [[1, 2], [3, 4]], {0: ("0", "1"), 1: ("a", "b")}),
    ("50%,1\n75%,2", {"labels": True}, [[1], [2]], {0: ("50%", "75%")}),
    ("=a,1\n=b,2", {"labels": True}, [[1], [2]], {0: ("=a", "=b")}),
]


@pytest.mark.parametrize(("text", "how", "value", "labels"), OVERRULED, ids=[f"{r[0]!a} {r[1]}" for r in OVERRULED])
def test_labels_are_as_the_call_says(
    read: Callable[..., Any], text: str, how: dict[str, Any], value: Any, labels: dict[int, tuple[str, ...]]
) -> None:
    found = read(text, "q.csv", **how)
    assert found.value.tolist() == value
    assert found.labels == labels


COMMAS = "commas read as decimal marks"
TWO_COLUMNS = "read as two columns; with --decimal , it is one, of numbers with decimal commas"

DECIMALS: list[tuple[str, dict[str, Any], Any, str]] = [
    ("1,5;2\n", {}, [[1.5, 2]], COMMAS),
    ("0,5;1,5\n2;3", {}, [[0.5, 1.5], [2, 3]], COMMAS),
    ("cat;0,8;0,2\ndog;0,7;0,3", {}, [[0.8, 0.2], [0.7, 0.3]], f"{COLUMN}; {COMMAS}"),
    ("1,5\t2,5\n", {}, [[1.5, 2.5]], COMMAS),
    ("1,5;2,5", {"decimal": ","}, [[1.5, 2.5]], ""),
    ("1,5;2,5", {"delimiter": ";"}, [[1.5, 2.5]], COMMAS),
    ("1,5\n2,5", {"decimal": ","}, [[1.5], [2.5]], ""),
    ("1,5 2,5", {"decimal": ","}, [[1.5, 2.5]], ""),
    ("1;2\n", {"decimal": ","}, [[1, 2]], ""),
    ("1|2\n3|4", {"delimiter": "|"}, [[1, 2], [3, 4]], ""),
    ("1\t2", {"delimiter": "tab"}, [[1, 2]], ""),
    (",,,\n1,2\n,,,\n3,4\n,,\n", {}, [[1, 2], [3, 4]], ""),
    ("1  2", {"delimiter": "blank"}, [[1, 2]], ""),
    ("1,5\n2,5", {"delimiter": ";"}, [[1.5], [2.5]], COMMAS),
    ("1,234\n2,5\n", {}, [[1, 234], [2, 5]], TWO_COLUMNS),
    ("-1,05\r\n\r\n+2,25\r\n", {}, [[-1, 5], [2, 25]], TWO_COLUMNS),
    ("@q\n1,234\n2,5\n@k\n1,2\n", {}, [[1, 234], [2, 5]], TWO_COLUMNS),
    ("1,234\n2,5\n", {"delimiter": ","}, [[1, 234], [2, 5]], ""),
    ("1,234\n2,5\n", {"decimal": ","}, [[1.234], [2.5]], ""),
    ("1,-234\n2,5\n", {}, [[1, -234], [2, 5]], ""),
    ("1,2.5\n2,55\n", {}, [[1, 2.5], [2, 55]], ""),
    ("a,b\n1,25\n2,55\n", {}, [[1, 25], [2, 55]], ROW),
    ("sep=;\n1,5;2\n", {}, [[1.5, 2]], COMMAS),
    ("sep=;\r\n1,5\r\n2,25\r\n", {}, [[1.5], [2.25]], COMMAS),
    ('"SEP=,"\n1,25\n2,55\n', {}, [[1, 25], [2, 55]], ""),
    ("sep=\t\na b\t1\nc\t2", {}, [[1], [2]], COLUMN),
    ("sep=|\n1|2\n3|4", {}, [[1, 2], [3, 4]], ""),
    ("sep=;;;\n@q\n1;2;3\n@k\n3,5;4\n", {}, [[1, 2, 3]], ""),
    ("sep=;\n1|2\n", {"delimiter": "|"}, [[1, 2]], ""),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "how", "value", "note"),
    DECIMALS,
    ids=[f"{row[0]!a} {row[1]}" for row in DECIMALS],
)
def test_delimiters_and_decimal_commas(
    read: Callable[..., Any], text: str, how: dict[str, Any], value: Any, note: str
) -> None:
    found = read(text, "q.csv", **how)
    assert found.value.tolist() == value
    assert found.note == note


@given(st.lists(st.decimals(-(10**6), 10**6, places=3).map(str), min_size=1, max_size=9))
def test_a_column_of_decimal_commas_is_read_or_noted(numbers: list[str]) -> None:
    text = "\n".join(numbers).replace(".", ",")
    found = TextFile("q.csv", text).array(None, an_operand(), Reading())
    assert found.note == TWO_COLUMNS
    marked = TextFile("q.csv", f"sep=;\n{text}").array(None, an_operand(), Reading())
    assert marked.value.ravel().tolist() == [float(number) for number in numbers]


def test_lines_below_the_mark_of_a_delimiter_are_those_of_the_file(fault: Fault) -> None:
    assert fault("sep=;\n1;2\n3;x\n", "q.csv")[0] == 'q.csv:3:2: "x" is not a number'
    assert fault("sep=;\n", "q.csv")[0] == "q.csv is empty"


def test_decimal_commas_are_kept_as_points(read: Callable[..., Any]) -> None:
    assert read("0,360;1\n", "q.csv").written.tolist() == [["0.360", "1"]]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("½,1\n1,2\n", [["1/2", "1"], ["1", "2"]]),
        ("½;1\n1⁄4;1½\n", [["1/2", "1"], ["1/4", "3/2"]]),
        ("½ ¼\n", ["1/2", "1/4"]),
        ("a,½\nb,1\n", ["1/2", "1"]),
        ("½,¼\n1,2\n", [["1/2", "1/4"], ["1", "2"]]),
    ],
)
def test_signs_of_fractions_are_numbers_and_no_labels(read: Callable[..., Any], text: str, written: Any) -> None:
    assert read(text, "q.csv").written.ravel().tolist() == np.ravel(written).tolist()


OVERRULE = "a first row or column of labels holds no number; --header and --labels overrule"
FRACTION = "write a fraction with an ASCII slash: 1/2, 3/2 for 1½"
GAPS = "arrays have no gaps: every entry must be a number"
PAGE = "that is a page for readers: attncalc reads again what it writes with -f json, csv, npy or npz"
THOUSANDS = "write numbers without separators between thousands"
AMBIGUOUS = "can be read in two ways: as the numbers"
TWO_WAYS = "--decimal , for decimal commas; otherwise put each row on a line of its own"
SEVERAL = "several numbers stand in one place: each row needs a line, or a list, of its own"
SEPARATORS = "write a number without blanks or separators: 1000"
POINT = "write a decimal point: 1.5; a table with decimal commas is read with --decimal ,"

FAULTS: list[tuple[str, dict[str, Any], str, str]] = [
    ("1,x,3\n4,5,6", {}, '1:2: "x" is not a number', OVERRULE),
    ("1,2\n3,x\n", {}, '2:2: "x" is not a number', ""),
    ("\n\n1,2\n\n3,x\n", {}, '5:2: "x" is not a number', ""),
    ("cat,1\ndog,x", {}, '2:2: "x" is not a number', ""),
    ("a,1\n2,3", {}, '1:1: "a" is not a number', OVERRULE),
    ("a,b\n1,2\n3,c", {}, '3:2: "c" is not a number', ""),
    ("x,y\n1,2", {"header": False}, '1:1: "x" is not a number', ""),
    ("cat,2\ndog,4", {"labels": False}, '1:1: "cat" is not a number', OVERRULE),
    ("1,,2", {}, "1:2: there is no number", GAPS),
    ("1,2\n,3\n", {}, "2:1: there is no number", GAPS),
    ("1,2,\n3,4,\n", {}, "1:3: there is no number", GAPS),
    ("1,2\n3,4,\n", {}, "2: has 3 cells where line 1 has 2", "take out the delimiter at the end of the line"),
    ("1,2\n3\n", {}, "2: has 1 cell where line 1 has 2", ""),
    ("\n1,2\n\n3,4,5\n", {}, "4: has 3 cells where line 2 has 2", ""),
    ("# c\n1,2\n", {}, "2: has 2 cells where line 1 has 1", "comments are not read: take out line 1"),
    ("1,2\n# c\n", {}, "2: has 1 cell where line 1 has 2", "comments are not read: take out line 2"),
    ("0.5  0.2\n──┼──\n", {}, "2: has 1 cell where line 1 has 2", PAGE),
    ("# x\n\n| n | 0 |\n| --- | --- |\n", {}, "3: has 5 cells where line 1 has 2", PAGE),
    ("| n ╲ m | 0 |\n| --: | --: |\n| **0** | 1 |\n", {}, '1:1: "n ╲ m" is not a number', PAGE),
    ("| 1 | 2 |\n|---|---|\n\n| 3 |", {}, "4: has 1 cell where line 1 has 2", ""),
    ("| 1 | x |\n|---|---|\n| 3 | 4 |", {}, '1:2: "x" is not a number', OVERRULE),
    ("% x\n\\begin{align*}\n", {}, "2: has 1 cell where line 1 has 2", PAGE),
    ("cat,1\n,2", {}, "2:1: there is no row label", "write one"),
    (",1,2\ncat,3,4", {}, "1:1: there is no row label", "--header takes the first row as column labels"),
    (",1,2\n3,4,5", {}, "1:1: there is no number", "if the first row and column are labels: --header --labels"),
    ("0,5 1\n1 -0,3\n0 1\n", {}, "3: has 1 cell where line 1 has 2", "--decimal , reads the commas as decimal marks"),
    ("2,1/½", {}, '1:2: "1/½" is not a number', FRACTION),
    ("a,,c\n1,2,3", {}, "1:2: there is no label in the header row", "--no-header takes it as numbers"),
    (",a,b\n0,1,2", {}, "1:1: there is no label in the header row", "--labels takes the first column as row labels"),
    (
        "1,5;2,5",
        {},
        f'1: "1,5;2,5" {AMBIGUOUS} 1.5 and 2.5 with decimal commas, or as the rows 1,5 and 2,5',
        TWO_WAYS,
    ),
    (
        "1,2;3,4\n5,6;7,8\n",
        {},
        f'1: "1,2;3,4" {AMBIGUOUS} 1.2 and 3.4 with decimal commas, or as the rows 1,2 and 3,4',
        TWO_WAYS,
    ),
    ("1,2,3;4,5,6", {}, '1:1: "1,2,3" is not a number', SEVERAL),
    ("1.5;2,5", {"decimal": ","}, '1:1: "1.5" has a point among decimal commas', THOUSANDS),
    ("1,5;2.5\n", {}, '1:1: "1,5" is not a number', POINT),
    ("1,5 2,5", {}, '1:2: "5 2" is not a number', SEPARATORS),
    ('"1,5","2"\n', {}, '1:1: "1,5" is not a number', POINT),
    ('"1,000",2', {}, '1:1: "1,000" is not a number', POINT),
    ('"1,000.5",2', {}, '1:1: "1,000.5" is not a number', SEPARATORS),
    ("1 000,2", {}, '1:1: "1 000" is not a number', SEPARATORS),
    ("1'000,2", {}, "1:1: \"1'000\" is not a number", SEPARATORS),
    ("1_000,2\n3,4", {}, '1:1: "1_000" is not a number', "write a number without underscores: 1000"),
    ("1_000\n2\n", {}, '1:1: "1_000" is not a number', "write a number without underscores: 1000"),
    ("50%\n20%\n", {}, '1:1: "50%" is not a number', "write a percentage as a decimal: 0.5 for 50%"),
    ("１,2", {}, '1:1: "１" is not a number', "digits are written 0 to 9"),
    ("1,−2\n", {}, '1:2: "−2" is not a number', "the minus sign is another character: write an ASCII -"),
    ("$1,2", {}, '1:1: "$1" is not a number', "leave out the currency sign"),
    ("0x10,1", {}, '1:1: "0x10" is not a number', "write the number in decimal digits"),
    ("1D3,2", {}, '1:1: "1D3" is not a number', "write the exponent with an e: 1e3"),
    ("1+2j,1", {}, '1:1: "1+2j" is not a number', "operands are real"),
    ("1,NA\n", {}, '1:2: "NA" is not a number', GAPS),
    ("=1+1,2", {}, '1:1: "=1+1" is not a number', "save the values in place of the formulas"),
    ("x,y\n=A1,2\n=A2,3", {}, '2:1: "=A1" is not a number', "save the values in place of the formulas"),
    ("2#3,1", {}, '1:1: "2#3" is not a number', OVERRULE),
    ("nan,1\n", {}, '1:1: "nan" is not a finite number', ""),
    ("1,inf\n", {}, '1:2: "inf" is not a finite number', ""),
    ("1,-inf\n", {}, "1:2: -inf is not a finite number", "only a mask, a bias or the logits of a softmax may hold it"),
    ("1e999,1", {}, '1:1: "1e999" is too large: 64-bit numbers end at 1.8e308', ""),
    ("1/0,1", {}, '1:1: "1/0" divides by zero', ""),
    ("1,true", {}, '1:2: "true" is not a number', "true and false stand in masks alone: write 1 and 0"),
    ('1,"2\n3,4', {}, "1: a quote does not enclose a whole cell, or is not closed", ""),
    ('1,2\n1,"a"b\n', {}, "2: a quote does not enclose a whole cell, or is not closed", ""),
    ("9" * 200_000 + ",1", {}, "1: a cell is too long", ""),
    ("1,2\u20283,4", {}, '1:2: "2\\u20283" is not a number', OVERRULE),
    ("1,\x1b[2J\n", {}, '1:2: "\\x1b[2J" is not a number', OVERRULE),
]  # fmt: skip


@rows(("text", "how", "message", "hint"), FAULTS, ids=[ascii(r[:2])[:40] for r in FAULTS])
def test_faults(fault: Fault, text: str, how: dict[str, Any], message: str, hint: str) -> None:
    assert fault(text, "q.csv", **how) == (f"q.csv:{message}", hint)


@pytest.mark.parametrize("text", ["a,b,c", "cat\ndog", "x", "x,y\n", "word,x\n"])
def test_labels_without_numbers(fault: Fault, text: str) -> None:
    assert fault(text, "q.csv") == ("q.csv has labels but no numbers", "")


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\ufeff"])
def test_nothing_in_it(fault: Fault, text: str) -> None:
    assert fault(text, "q.csv") == ("q.csv is empty", "")


VECTORS: list[tuple[str, str, Any, dict[int, tuple[str, ...]], str]] = [
    ("1,2,3", "n", [1, 2, 3], {}, "its one row read as a vector"),
    ("1\n2\n3", "n", [1, 2, 3], {}, "its one column read as a vector"),
    ("x,y\n1,2", "n", [1, 2], {0: ("x", "y")}, f"{ROW}; its one row read as a vector"),
    ("a,1\nb,2", "n", [1, 2], {0: ("a", "b")}, f"{COLUMN}; its one column read as a vector"),
    ("7", "n", [7], {}, ""),
    ("1,2\n3,4", "n", [[1, 2], [3, 4]], {}, ""),
    ("1,2", "n|n d", [1, 2], {}, "its one row read as a vector"),
    ("1,2\n3,4", "n|n d", [[1, 2], [3, 4]], {}, ""),
    ("1,2", "n d", [[1, 2]], {}, ""),
]


@pytest.mark.parametrize(
    ("text", "shape", "value", "labels", "note"), VECTORS, ids=[f"{r[0]!a} as {r[1]}" for r in VECTORS]
)
def test_a_table_of_one_row_or_column_is_a_vector_where_one_is_declared(
    read: Callable[..., Any], text: str, shape: str, value: Any, labels: dict[int, tuple[str, ...]], note: str
) -> None:
    found = read(text, "q.csv", shape=shape)
    assert found.value.tolist() == value
    assert (found.labels, found.note) == (labels, note)
    assert found.written.shape == found.value.shape


def test_a_mask_may_be_true_and_false(read: Callable[..., Any], fault: Fault) -> None:
    found = read("true,false\nfalse,true\n", "q.csv", kind="mask")
    assert found.value.tolist() == [[True, False], [False, True]]
    assert (
        fault("true,0\n", "q.csv", kind="mask")[0]
        == "q.csv:1:2: a mask holds either true and false or numbers, not both"
    )
    assert read("0,-inf\n0,0\n", "q.csv", kind="mask").value.tolist() == [[0, -math.inf], [0, 0]]


def test_tokens_are_the_words_of_a_text(read: Callable[..., Any]) -> None:
    assert read("the cat\nis", "q.txt", word="@q.txt", kind="tokens").value.tolist() == ["the", "cat", "is"]


SHEET = "@student,Ann\n@q\n1,2\n@steps/k\ncat,3,4\n"


def test_blocks(read: Callable[..., Any], fault: Fault) -> None:
    assert read(SHEET, "q.csv").value.tolist() == [[1, 2]]
    found = read(SHEET, "q.csv", word="q.csv#steps/k")
    assert (found.value.tolist(), found.labels, found.source) == ([[3, 4]], {0: ("cat",)}, "q.csv#steps/k")
    assert fault("@a\n1\n@b\n2\n", "q.csv") == ("q.csv holds several arrays, none called q: a, b", "name one: q.csv#a")
    assert fault("@q\n1,2\n@k\n3,x\n", "q.csv", word="q.csv#k")[0] == 'q.csv:4:2: "x" is not a number'


def test_a_row_by_its_label(read: Callable[..., Any], fault: Fault) -> None:
    words = "word,x,y\ncat,1,2\ndog,3,4\ncat,5,6\n"
    found = read(words, "q.csv", word="q.csv#dog", shape="n")
    assert (found.value.tolist(), found.labels, found.source) == ([3, 4], {0: ("x", "y")}, "q.csv#dog")
    assert fault(words, "q.csv", word="q.csv#dgo") == ('q.csv has no row "dgo"', "did you mean dog?")
    assert fault(words, "q.csv", word="q.csv#cat") == ('q.csv: "cat" labels rows 1 and 3', "")
    assert (
        fault("1,2", "q.csv", word="q.csv#cat")[0]
        == 'q.csv is one array without row labels, so there is no "cat" in it'
    )


WORDS = ("\r\n", "1e999", "true", "3,4.5\n")
any_table = st.lists(
    st.lists(
        st.sampled_from([*"01-,;\n. \t", "\n", ",", "1,2\n", "1e5", "-0.25", "x", "a,b\n", "\r\n", "1e999", "true"])
    ),
    max_size=12,
).map(lambda parts: "".join(chain.from_iterable(parts)))
any_reading = st.fixed_dictionaries(
    {},
    optional={
        "delimiter": st.sampled_from([",", ";", " ", "\t"]),
        "header": st.booleans(),
        "labels": st.booleans(),
    },
)


class TestLarge:
    """Tables of more characters than KEPT_DIGITS."""

    ROWS = KEPT_DIGITS // 6

    def test_value(self, read: Callable[..., Any]) -> None:
        found = read("0.5,-1e1\n" * self.ROWS, "q.csv")
        assert found.value.shape == (self.ROWS, 2)
        assert found.value[-1].tolist() == [0.5, -10]

    @pytest.mark.thorough
    @pytest.mark.spread
    @pytest.mark.parametrize(
        ("cell", "fact"),
        [
            ("", "there is no number"),
            ("1-2", '"1-2" is not a number'),
            ("-1e999", '"-1e999" is too large: 64-bit numbers end at 1.8e308'),
        ],
    )
    @pytest.mark.parametrize("label", ["", "cat,"])
    def test_faults_have_their_place(self, fault: Fault, cell: str, fact: str, label: str) -> None:
        message = fault(f"{label}0.5,1\n" * self.ROWS + f"{label}2,{cell}\n", "q.csv", kind="mask")[0]
        assert message == f"q.csv:{self.ROWS + 1}:{3 if label else 2}: {fact}"

    @pytest.mark.thorough
    def test_memory_is_in_proportion(self) -> None:
        text = "".join(f"{i / 7},{-i / 3},{i}\n" for i in range(100_000))
        tracemalloc.start()
        try:
            value = read_table(text, "q.csv", "real", Reading()).value
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 3 * value.nbytes

    @given(any_table, st.sampled_from(["real", "integers", "mask", "logits"]), any_reading)
    def test_is_read_as_a_small_one(self, text: str, kind: Kind, how: dict[str, Any]) -> None:
        """What is large is taken for 100 characters here, so that both ways come up."""
        assume(text.strip())
        large = text + 100 * "\n"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_files, "KEPT_DIGITS", 100)
            patch.setattr(csv_files, "_as_floats", lambda text, cells: cells)
            quickly = self.outcome(large, kind, how)
            patch.setattr(csv_files, "_of_digits", lambda *given: None)
            assert quickly == self.outcome(large, kind, how)

    @staticmethod
    def outcome(text: str, kind: Kind, how: dict[str, Any]) -> object:
        try:
            found = read_table(text, "q.csv", kind, Reading(**how))
        except InputError as error:
            return error.message, error.hint
        return found.value.tolist(), found.labels, [each for each in found.remarks if each.kind != "digits"]


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), min_size=1, max_size=5
    ),
    st.sampled_from([",", ";", "\t", " "]),
)
def test_what_is_printed_is_read_back(rows: list[list[float]], delimiter: str) -> None:
    text = "\n".join(delimiter.join(map(repr, row)) for row in rows)
    found = read_table(text, "q.csv", "real", Reading())
    assert np.array_equal(found.value, rows)
    assert found.labels == {}


label = st.text(st.characters(categories=["L"]), min_size=1, max_size=5).filter(
    lambda word: word.casefold() not in ("nan", "inf", "infinity", "pi")
)


@given(st.lists(label, min_size=2, max_size=2), st.lists(label, min_size=2, max_size=2))
def test_labels_are_read_back(columns: list[str], rows: list[str]) -> None:
    text = f",{','.join(columns)}\n{rows[0]},1,2\n{rows[1]},3,4\n"
    found = read_table(text, "q.csv", "real", Reading())
    assert found.labels == {0: tuple(rows), 1: tuple(columns)}
    assert found.value.tolist() == [[1, 2], [3, 4]]


def test_the_lines_that_begin_blocks_are_read_in_one_way() -> None:
    """Where an end of a line could be read in two, sixty of them were in 2⁶⁰, and nobody waited for that."""
    text = "@a\r\n" * 60 + "1,2"
    assert without_mark(text) == (text, None)
