"""Numeric text on the command line, and words as tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attncalc.common.errors import InputError
from attncalc.declare.operands import Kind
from attncalc.inputs.given import looks_numeric, read_literal, read_tokens

LITERALS = {
    "1,2,3": [1, 2, 3],
    "1 2 3": [1, 2, 3],
    "1, 2 ,3": [1, 2, 3],
    " 1  2\t3 ": [1, 2, 3],
    "1 2; 3 4": [[1, 2], [3, 4]],
    "1,2;3,4": [[1, 2], [3, 4]],
    "1;2;3": [[1], [2], [3]],
    "1 2\n3 4": [[1, 2], [3, 4]],
    "[[1,2],[3,4]]": [[1, 2], [3, 4]],
    "[1, 2, 3]": [1, 2, 3],
    "[[1. 2.]\n [3. 4.]]": [[1, 2], [3, 4]],
    '["1/3", 1]': [1 / 3, 1],
    '["1/3", "2"]': [1 / 3, 2],
    '[["1", "-2"], ["1/3", "-inf"]]': [[1, -2], [1 / 3, -math.inf]],
    "[[[1],[2]]]": [[[1], [2]]],
    "[1/3, sqrt(2)]": [1 / 3, math.sqrt(2)],
    "0.5": 0.5,
    "-1,2": [-1, 2],
    "-inf,0": [-math.inf, 0],
    "1/3,pi": [1 / 3, math.pi],
    "sqrt(2)": math.sqrt(2),
    "1e-3,2E3": [0.001, 2000],
    # what Python prints, and Octave
    "(1, 2)": [1, 2],
    "(1,)": [1],
    "((1, 2), (sqrt(4), 1/4))": [[1, 2], [2, 0.25]],
    "[(1, 2), (3, 4)]": [[1, 2], [3, 4]],
    "array([1., 2.])": [1, 2],
    "array([[1., 2.],\n       [3., 4.]], dtype=float32)": [[1, 2], [3, 4]],
    "np.array((1, 2), dtype=np.float32)": [1, 2],
    "tensor([[1., 2.]], device='cuda:0', grad_fn=<MmBackward0>)": [[1, 2]],
    "tensor(0.5, requires_grad=True)": 0.5,
    "Array([1., 2.], dtype=float32)": [1, 2],
    "[np.float64(0.5), np.int64(2)]": [0.5, 2],
    "[1 2; 3 4]": [[1, 2], [3, 4]],
}


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "value"), LITERALS.items(), ids=LITERALS)
def test_literals(text: str, value: Any) -> None:
    assert looks_numeric(text)
    found = read_literal(text, "a", "logits")
    assert found.value.tolist() == value
    assert found.value.dtype == np.float64
    assert found.written is not None
    assert found.written.shape == found.value.shape


def test_entries_are_kept_as_they_were_written() -> None:
    written = read_literal("0.360, 1/3, -0", "a", "real").written
    assert written is not None
    assert written.tolist() == ["0.360", "1/3", "-0"]


@pytest.mark.parametrize("word", ["true,false", "true false; false true", "[[true, false]]"])
def test_a_mask_may_be_true_and_false(word: str) -> None:
    assert looks_numeric(word, "mask")
    assert not looks_numeric(word)
    assert read_literal(word, "mask", "mask").value.dtype == bool


@pytest.mark.parametrize(
    "word",
    [
        "q.json",
        "cat",
        "-x",
        "--q",
        "-",
        "",
        " ",
        "nan",
        "inf",
        "2024_data.csv",
        "1.json",
        "[CLS]",
        '["CLS"]',
        "1,x",
        "the cat",
        "2x3",
        "softmax([1,2])",
        "array(q.json)",
        "(x)",
    ],
)
def test_words_that_are_no_numbers(word: str) -> None:
    assert not looks_numeric(word)


@pytest.mark.parametrize(
    "word", ["-1", "-.5", "-1,2", "-1e3", "-inf,0", "-pi", "-sqrt(2)", "-1/3", "1,,2", "1,nan", "[]", "[1,x]"]
)
def test_words_that_are_meant_as_numbers(word: str) -> None:
    assert looks_numeric(word)


GAPS = "arrays have no gaps: every entry must be a number"
EQUALLY_LONG = "the rows of an array are equally long"

BAD: list[tuple[str, str, str]] = [
    ("1,2;3", "a: row 2 has 1 entry where the first has 2", EQUALLY_LONG),
    (
        "0,5 1; 2 0,3; 1 0",
        "a: row 3 has 2 entries where the first has 3",
        "--decimal , reads the commas as decimal marks",
    ),
    ("1,2;", "a: there is no row after the last ;", "take it out: a ; stands between rows"),
    ("1;", "a: there is no row after the last ;", "take it out: a ; stands between rows"),
    ("1 2; ;", "a: there is no row after the last ;", "take it out: a ; stands between rows"),
    ("1 2; ; 3 4", "a: row 2 has 1 entry where the first has 2", EQUALLY_LONG),
    ("1,,2", "a: entry 2: there is no number", GAPS),
    ("1,2,", "a: entry 3: there is no number", GAPS),
    ("1 2; 3 x", 'a: row 2, entry 2: "x" is not a number', ""),
    ("1,nan", 'a: entry 2: "nan" is not a finite number', ""),
    ("1,1e999", 'a: entry 2: "1e999" is too large: 64-bit numbers end at 1.8e308', ""),
    ("-inf,1", "a: entry 1: -inf is not a finite number", "only a mask, a bias or the logits of a softmax may hold it"),
    ("1/0", 'a: "1/0" divides by zero', ""),
    ("[]", "a is empty", ""),
    ("[[]]", "a[0] is empty", ""),
    ("[[1,2],[3]]", "a[1] has 1 entry where the first has 2", EQUALLY_LONG),
    ("[[1,2],3]", 'a[1] is "3" where a list of 2 is expected', ""),
    ("[1,[2]]", "a[1] is a list where a number is expected", ""),
    ("[1,x]", 'a[1]: "x" is not a number', ""),
    ("[1,,2]", 'a: there is no number before character 4 of "[1,,2]"', ""),
    ("[1,]", 'a: there is no number before the ] at character 4 of "[1,]"', ""),
    ("[1]]", 'a: there is no [ for the ] at character 4 of "[1]]"', ""),
    ("[1] 2", 'a: the list ends before character 5 of "[1] 2"', ""),
    ("[[1,2]", 'a: a bracket of "[[1,2]" is not closed', "add ]"),
    ("[" * 40 + "1" + "]" * 40, "a is nested more than 32 deep", ""),
]


@pytest.mark.parametrize(("text", "message", "hint"), BAD, ids=[row[0][:20] for row in BAD])
def test_bad_literals(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read_literal(text, "a", "real")
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("the cat is", ["the", "cat", "is"]),
        ("the,cat", ["the", "cat"]),
        ("[CLS] the cat", ["[CLS]", "the", "cat"]),
        ("0 2,1", [0, 2, 1]),
        ("[0, 2,1]", [0, 2, 1]),
        ("the 3 cats", ["the", "3", "cats"]),
        ("0,2;1 0", [[0, 2], [1, 0]]),
        ("[[0, 2], [1, 0]]", [[0, 2], [1, 0]]),
        ('[["the", "cat"], ["a", "dog"]]', [["the", "cat"], ["a", "dog"]]),
        ("the ; cat", ["the", ";", "cat"]),
    ],
)
def test_tokens_are_ids_or_words(text: str, value: list[Any]) -> None:
    found = read_tokens(text, "tokens").value
    assert found.tolist() == value
    assert found.dtype == (np.int64 if all(isinstance(entry, int) for entry in np.ravel(value).tolist()) else object)


def test_no_tokens() -> None:
    with pytest.raises(InputError, match="tokens: there are no tokens"):
        read_tokens(" , ", "tokens")


SHAPED: list[tuple[str, str, list[Any] | float, str]] = [
    ("1;2;3", "n", [1, 2, 3], "its one column read as a vector"),
    ("5", "n", [5], "a single number read as a vector of one entry"),
    ("5", "|n", 5, ""),
    ("1,2", "n d", [1, 2], "a vector read as one row"),
    ("1,2;3,4", "n", [[1, 2], [3, 4]], ""),
    ("[[1,2]]", "n", [[1, 2]], ""),
    ("1,2", "n|n d", [1, 2], ""),
]


@pytest.mark.parametrize(("word", "shape", "value", "note"), SHAPED, ids=[f"{r[0]} as {r[1]}" for r in SHAPED])
def test_literals_take_the_rank_that_is_declared(
    read: Callable[..., Any], word: str, shape: str, value: Any, note: str
) -> None:
    found = read(word=word, shape=shape)
    assert found.value.tolist() == value
    assert (found.note, found.source) == (note, "")


KINDS: list[tuple[str, Kind, str]] = [
    ("1.5", "integers", 'q: "1.5" is not a whole number'),
    ("true,1", "mask", "q: entry 2: a mask holds either true and false or numbers, not both"),
]


@pytest.mark.parametrize(("word", "kind", "message"), KINDS)
def test_a_kind_refuses(fault: Callable[..., tuple[str, str]], word: str, kind: Kind, message: str) -> None:
    assert fault(word=word, kind=kind, shape="n")[0] == message
