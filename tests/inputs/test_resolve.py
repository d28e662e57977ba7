"""What a word means: standard input, a file, numbers, a row label, a name without its suffix; or may have meant."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import rows

from attncalc.declare.operands import Operand
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import read_operands, read_word
from attncalc.record.trace import Given

Fault = Callable[..., tuple[str, str]]

WORDS = {"words.csv": Given(np.array([[0.8, 0.2], [0.7, 0.3]]), "words.csv", {0: ("cat", "dog"), 1: ("x", "y")})}
VOCABULARY = {"vocabulary": Given(np.array([[1.0, 2.0]]), "problem.json#vocabulary", {0: ("king",)})}


@pytest.fixture(autouse=True)
def some_files(folder: Path) -> None:
    (folder / "a.json").write_text("[1, 2]")
    (folder / "b.csv").write_text("3,4\n")
    (folder / "c.json").write_text("[5]")
    (folder / "c.csv").write_text("6\n")
    (folder / "1,2").write_text("[[7, 8]]")
    (folder / "sub").mkdir()
    (folder / "sub" / "d.json").write_text("[9]")
    (folder / "odd#name.json").write_text("[10]")
    (folder / "two.json").write_text('{"u": [[1, 2], [3, 4]], "w[0]": [11]}')


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def pipe_(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe_


MEANINGS: list[tuple[str, Any, str]] = [
    ("a.json", [1, 2], "a.json"),
    ("@a.json", [1, 2], "a.json"),
    ("path:a.json", [1, 2], "a.json"),
    ("./a.json", [1, 2], "./a.json"),
    ("sub/d.json", [9], "sub/d.json"),
    ("a", [1, 2], "a.json"),
    ("b", [3, 4], "b.csv"),
    ("1,2", [1, 2], ""),
    ("@1,2", [[7, 8]], "1,2"),
    ("odd#name.json", [10], "odd#name.json"),
    ("@odd#name.json", [10], "odd#name.json"),
    ("two.json#u[1]", [3, 4], "two.json#u[1]"),
    ("two#u[1]", [3, 4], "two.json#u[1]"),
    ("@two.json#u[1]", [3, 4], "two.json#u[1]"),
    ("two.json#w[0]", [11], "two.json#w[0]"),
    ("a.json#[1]", 2, "a.json[1]"),
    ("a.json#", [1, 2], "a.json"),
    ("cat", [0.8, 0.2], "words.csv#cat"),
]


@pytest.mark.parametrize(("word", "value", "source"), MEANINGS, ids=[row[0] for row in MEANINGS])
def test_meanings(read: Callable[..., Any], word: str, value: Any, source: str) -> None:
    found = read(word=word, shape="|n", tables=WORDS)
    assert found.value.tolist() == value
    assert found.source == source


def test_a_row_keeps_the_labels_of_the_columns(read: Callable[..., Any]) -> None:
    assert read(word="cat", shape="n", tables=WORDS).labels == {0: ("x", "y")}
    assert read(word="king", shape="n", tables=VOCABULARY).source == "problem.json#vocabulary#king"


FORMULA = "an entry is a number, 1/3, sqrt(2), ln(2), exp(1) or pi: give the result of a formula"
START = "1,2,3 is a vector, - standard input"

UNLABELLED = "a table's first column is read as labels where it holds no number, or with --labels"

MISSES: list[tuple[str, str, str]] = [
    ("kat", 'q: "kat" is no number, no file and no row label', "did you mean cat?"),
    ("zebra", 'q: "zebra" is no number, no file and no row label', START),
    ("tow", 'q: "tow" is no number, no file and no row label', "did you mean two.json?"),
    ("a.jsn", 'q: "a.jsn" is no number, no file and no row label', "did you mean a.json?"),
    ("aa.json", "there is no file aa.json", "did you mean a.json?"),
    ("sub/dd.json", "there is no file sub/dd.json", "did you mean sub/d.json?"),
    ("dot.json", "there is no file dot.json", "attncalc sample dot.json -o dot.json writes the sample"),
    ("samples/dot.json", "there is no file samples/dot.json", "attncalc sample dot.json -o dot.json writes the sample"),
    ("gone/q.json", "there is no file gone/q.json", ""),
    ("tow.json//", "there is no file tow.json//", "did you mean two.json?"),
    ("@tow.json", "there is no file tow.json", "did you mean two.json?"),
    ("path:gone", "there is no file gone", ""),
    ("@", 'q: "@" is no number, no file and no row label', START),
    ("gone.json#u", "there is no file gone.json", ""),
    ("two.json#v", 'two.json holds no "v"', "it holds u, w[0]"),
    ("two.json#u[2]", "two.json#u has no [2]: axis 0 has 2 entries, 0 to 1", ""),
    ("a.json#u", 'a.json is one array without row labels, so there is no "u" in it', UNLABELLED),
    (
        "a.json#1",
        'a.json is one array without row labels, so there is no "1" in it',
        "a.json#[1] is the entry at 1, counted from 0",
    ),
    ("c", 'q: "c" is both the file c.json and the file c.csv', "write @c.json or @c.csv"),
    ("c#u", '"c#u" may be in c.json and c.csv', "give the suffix"),
    ("", "q: the word is empty", "1,2,3 is a vector, q.json a file, - standard input"),
    (" ", "q: the word is empty", "1,2,3 is a vector, q.json a file, - standard input"),
    ("1,2,x", 'q: entry 3: "x" is not a number', ""),
    ("1_000", 'q: "1_000" is not a number', "write a number without underscores: 1000"),
    ("50%", 'q: "50%" is not a number', "write a percentage as a decimal: 0.5 for 50%"),
    ("−1,2", 'q: entry 1: "−1" is not a number', "the minus sign is another character: write an ASCII -"),
    ("e^1/3,1/(1+e)", 'q: entry 1: "e^1/3" is not a number', FORMULA),
    ("32/(sqrt(14)*sqrt(77))", 'q: "32/(sqrt(14)*sqrt(77))" is not a number', FORMULA),
    ("run/b(1).json", "there is no file run/b(1).json", ""),
    ("nan", 'q: "nan" is not a finite number', ""),
    ("inf", 'q: "inf" is not a finite number', ""),
    ("https://x.y/q.json", 'q: "https://x.y/q.json" is not fetched', "download it, and give the file"),
    ("x\x1b[2J\nError: y", 'q: "x\\x1b[2J\\nError: y" is no number, no file and no row label', START),
    ("x\0y", 'q: "x\\x00y" is no number, no file and no row label', START),
    ("x" * 5000, f'q: "{"x" * 79}…" is no number, no file and no row label', START),
]  # fmt: skip


@rows(("word", "message", "hint"), MISSES, ids=[ascii(row[0])[:30] for row in MISSES])
def test_misses(fault: Fault, word: str, message: str, hint: str) -> None:
    assert fault(word=word, tables=WORDS) == (message, hint)


def test_a_miss_without_tables(fault: Fault) -> None:
    assert fault(word="kat") == ('q: "kat" is neither numbers nor a file', START)


def test_a_label_and_a_file_of_one_name(folder: Path, fault: Fault, read: Callable[..., Any]) -> None:
    (folder / "cat.csv").write_text("1,2")
    assert fault(word="cat", tables=WORDS) == (
        'q: "cat" is both the file cat.csv and a row of words.csv',
        "write @cat.csv or words.csv#cat",
    )
    assert read(word="@cat.csv").value.tolist() == [[1, 2]]
    (folder / "cat.csv").unlink()
    (folder / "cat").mkdir()
    assert read(word="cat", shape="n", tables=WORDS).source == "words.csv#cat"


def test_a_label_in_two_tables(fault: Fault) -> None:
    other = {"vocabulary": Given(np.array([[0.1, 0.9]]), "pets.csv", {0: ("cat",)})}
    assert fault(word="cat", tables=WORDS | other) == (
        'q: "cat" is both a row of words.csv and a row of vocabulary',
        "write words.csv#cat or pets.csv#cat",
    )


def test_a_table_that_is_given_twice_is_one(folder: Path) -> None:
    (folder / "words.csv").write_text(",x,y\ncat,1,2\ndog,3,4\n")
    table, word = Operand("vocabulary", "E", (("m", "d"),), named=True), Operand("a", "a", (("d",),))
    given = {"a": "cat", "vocabulary": "./words.csv"}
    inputs, _ = read_operands([word, table], given, {}, Reading(data="words.csv"))
    assert inputs["a"].value.tolist() == [1, 2]


def test_a_file_that_is_never_opened_is_not_proposed(folder: Path, fault: Fault) -> None:
    (folder / "weights.pt").write_text("x")
    assert fault(word="weight.json")[1] == ""


def test_a_row_of_a_labelled_array_in_a_file_is_named_by_its_index(
    folder: Path, fault: Fault, read: Callable[..., Any]
) -> None:
    (folder / "cat.csv").write_text("1,2")
    (folder / "words.json").write_text('{"x": [[1, 2], [3, 4]], "labels": ["dog", "cat"]}')
    words = {"words.json#x": read(word="words.json#x")}
    assert fault(word="cat", tables=words)[1] == "write @cat.csv or words.json#x[1]"
    assert read(word="words.json#x[1]", shape="n").value.tolist() == [3, 4]


def test_numbers_win_over_a_file_and_say_so(operand: Callable[..., Any]) -> None:
    reading = Reading()
    read_word("1,2", operand(), reading, {})
    assert reading.notes == ['q: "1,2" is read as numbers; the file of that name is @1,2']


def test_standard_input(read: Callable[..., Any], fault: Fault, pipe: Callable[[bytes], None]) -> None:
    pipe(b"[[1, 2]]")
    found = read(word="-")
    assert (found.value.tolist(), found.source) == ([[1, 2]], "standard input")
    pipe(b'{"q": [[1, 2]], "k": [[3, 4]]}')
    assert read(word="-#k[0]", shape="n").source == "standard input#k[0]"
    pipe(b"1,x\n")
    assert fault(word="-")[0] == 'standard input:1:2: "x" is not a number'
    pipe(b'{"a": {"b": 1}, "c": [[1], [2]]}')
    assert fault(word="-", shape="n")[1] == "name one: -#a"
    pipe(b"")
    assert fault(word="-") == ("standard input is empty", "")


def test_standard_input_is_read_when_it_is_asked_for(read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert read(word="1,2", shape="n").value.tolist() == [1, 2]


def test_a_terminal_is_told_that_it_is_read(
    read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(io.BytesIO(b"1 2")))
    read(word="-")
    out, err = capsys.readouterr()
    assert (out, err) == ("", "reading standard input; Ctrl-D ends it (on Windows Ctrl-Z and Enter)\n")


def test_no_standard_input(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert fault(word="-") == ("there is no standard input", "")


def test_transposed(read: Callable[..., Any], fault: Fault) -> None:
    found = read("word,x,y\ncat,1,2\n", "q.csv", transpose={"q"})
    assert found.value.tolist() == [[1], [2]]
    assert found.written.tolist() == [["1"], ["2"]]
    assert found.labels == {0: ("x", "y"), 1: ("cat",)}
    assert found.note.endswith("transposed")
    assert fault(word="1,2", transpose={"q"}) == ("q has no two axes to transpose", "leave q out of --transpose")


def test_leading_axes_stay_where_they_are(read: Callable[..., Any]) -> None:
    found = read("[[[1, 2]], [[3, 4]]]", transpose={"q"})
    assert found.value.tolist() == [[[1], [2]], [[3], [4]]]


def test_tokens_are_words_and_not_paths(read: Callable[..., Any]) -> None:
    assert read(word="a b", kind="tokens").value.tolist() == ["a", "b"]
    assert read(word="a", kind="tokens").value.tolist() == ["a"]
    assert read(word="@a.json", kind="tokens").value.tolist() == [1, 2]
