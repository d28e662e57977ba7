"""JSON objects: which key is meant, labels beside the arrays, paths into a saved result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Fault = Callable[..., tuple[str, str]]

KEYS: list[tuple[str, str]] = [
    ('{"q": [[1]], "k": [[2]]}', "q"),
    ('{"Q": [[1]], "K": [[2]]}', "Q"),
    ('{"query": [[1]], "key": [[2]]}', "query"),
    ('{"Queries": [[1]], "k": [[2]]}', "Queries"),
    ('{"data": [[1]]}', "data"),
    ('{"name": "tiny", "data": [[1]]}', "data"),
    ('{"q": {"values": [[1]]}}', "q/values"),
    ('{"a": {"b": [[1]]}}', "a/b"),
]


@pytest.mark.parametrize(("text", "key"), KEYS, ids=[row[0] for row in KEYS])
def test_the_key_that_is_meant(read: Callable[..., Any], text: str, key: str) -> None:
    found = read(text)
    assert found.value.tolist() == [[1]]
    assert found.source == f"q.json#{key}"


LABELS: list[tuple[str, dict[int, tuple[str, ...]]]] = [
    ('{"q": [[1, 2], [3, 4]], "labels": ["the", "cat"]}', {0: ("the", "cat")}),
    ('{"q": [[1, 2], [3, 4]], "labels": {"n": ["the", "cat"]}}', {0: ("the", "cat")}),
    ('{"q": [[1, 2]], "labels": {"d": ["x", "y"], "n": ["a"]}}', {1: ("x", "y"), 0: ("a",)}),
    ('{"q": [[1, 2]], "labels": {"q": ["a"], "k": ["b", "c"]}}', {0: ("a",)}),
    ('{"q": [[1, 2]], "labels": {"1": ["x", "y"]}}', {1: ("x", "y")}),
    ('{"q": [[1, 2]], "labels": {"Q": {"d": ["x", "y"]}}}', {1: ("x", "y")}),
    ('{"q": [[1, 2]], "k": [[1], [2]], "labels": ["a", "b"]}', {}),
    ('{"q": [[1], [2]], "k": [[1], [2]], "labels": ["a", "b"]}', {0: ("a", "b")}),
    ('{"q": [[[1], [2]]], "labels": ["a", "b"]}', {1: ("a", "b")}),
    ('{"q": [[[1], [2]]], "labels": {"b": ["x"], "n": ["a", "b"]}}', {0: ("x",), 1: ("a", "b")}),
    ('{"q": [[[[1]], [[2]]]], "labels": {"h": ["x", "y"], "b": ["z"]}}', {0: ("z",), 1: ("x", "y")}),
    ('{"q": [1, 2], "labels": ["a", "b"]}', {0: ("a", "b")}),
    ('{"q": {"v": [[1]], "labels": ["a"]}}', {0: ("a",)}),
    ('{"q": [[1]], "labels": [7]}', {0: ("7",)}),
    ('{"cat": [1, 2], "dog": [3, 4]}', {0: ("cat", "dog")}),
]


@pytest.mark.parametrize(("text", "labels"), LABELS, ids=[row[0] for row in LABELS])
def test_labels(read: Callable[..., Any], text: str, labels: dict[int, tuple[str, ...]]) -> None:
    assert read(text).labels == labels


def test_keys_that_label_rows_are_told(read: Callable[..., Any]) -> None:
    found = read('{"cat": [0.8, 0.2], "dog": [0.7, 0.3]}')
    assert found.value.tolist() == [[0.8, 0.2], [0.7, 0.3]]
    assert (found.source, found.note) == ("q.json", "keys read as row labels")


LISTED = "the rows of an array are equally long"

FAULTS: list[tuple[str, str, str]] = [
    (
        '{"a": [1], "b": [2], "c": [[3]]}',
        "q.json holds several arrays, none called q: a, b, c",
        "name one: q.json#a",
    ),
    ("{}", "q.json holds no array", ""),
    ('{"a":' * 20 + "[[1]]" + "}" * 20, "q.json holds no array", ""),
    ('{"q": null}', "q.json holds no array", ""),
    ('{"q": true}', "q.json holds no array", ""),
    ('{"re": 1, "im": 2}', "q.json holds no array", ""),
    (
        '{"q": [[1]], "Q": [[2]]}',
        'q.json holds "q" and "Q", and each of them may be q',
        "name one: q.json#q",
    ),
    (
        '{"query": [[1]], "queries": [[2]]}',
        'q.json holds "query" and "queries", and each of them may be q',
        "name one: q.json#query",
    ),
    ('{"q": "cat"}', 'q.json: q: "cat" is not a number', ""),
    ('{"q": [[1, "x"]]}', 'q.json: q[0][1]: "x" is not a number', ""),
    ('{"q": [[1, 2], [3]]}', "q.json: q[1] has 1 entry where the first has 2", LISTED),
    ('{"cat": [1, 2], "dog": [3]}', "q.json: dog has 1 entry where the first has 2", LISTED),
    (
        '{"cat": [1, 2], "dog": [3, null]}',
        "q.json: dog[1]: null is not a number",
        "arrays have no gaps: every entry must be a number",
    ),
    ('{"q": [[1]], "labels": ["a", "b"]}', "q.json: labels: 2 labels for an axis of size 1", ""),
    ('{"q": [[1]], "labels": {"n": ["a", "b"]}}', "q.json: labels: 2 labels for an axis of size 1", ""),
    ('{"q": [[1]], "labels": [null]}', "q.json: labels[0] is null, not a text", ""),
    ('{"q": [[1]], "labels": {"n": "a"}}', "q.json: labels/n must be a list of texts", ""),
    ('{"q": [[1]], "labels": 3}', "q.json: labels must be a list, or an object of axes and their lists", ""),
    ('{"q": [[1]], "labels": ["\\ud800"]}', 'q.json: labels[0]: "\\ud800" holds half a character', ""),
    (
        '{"a\\u001b": [1], "b": [[2]]}',
        "q.json holds several arrays, none called q: a\\x1b, b",
        "name one: q.json#a\\x1b",
    ),
]


@pytest.mark.parametrize(("text", "message", "hint"), FAULTS, ids=[row[0] for row in FAULTS])
def test_faults(fault: Fault, text: str, message: str, hint: str) -> None:
    assert fault(text) == (message, hint)


SAVED = {
    "attncalc": 1,
    "calculation": "attention",
    "inputs": {"q": [[1, 0]], "k": [[0, 1]], "labels": ["cat"]},
    "options": {"causal": False},
    "steps": [
        {"name": "scores", "axes": ["n", "m"], "value": [[5, 6]], "labels": {"n": ["cat"], "m": ["x", "y"]}},
        {"name": "weights", "group": "layer 1/self", "axes": ["n", "m"], "value": [[0.5, 0.5]]},
        {"name": "output", "axes": ["n", "d_v"], "value": [[7, 8]], "labels": {"n": ["cat"]}},
        {"name": "large", "summary": {"shape": [9, 9]}},
    ],
    "outputs": {"output": [[7, 8]], "weights": [[0.5, 0.5]], "angle": 30},
    "exact": {"output": [["7", "8"]], "angle": "30", "scores": [["5", "6"]]},
    "result": [[7, 8]],
}

PICKS: list[tuple[str, Any, dict[int, tuple[str, ...]], str]] = [
    ("q.json", [[7, 8]], {0: ("cat",)}, "q.json#result"),
    ("q.json#result", [[7, 8]], {}, "q.json#result"),
    ("q.json#scores", [[5, 6]], {0: ("cat",), 1: ("x", "y")}, "q.json#steps/scores"),
    ("q.json#steps/scores", [[5, 6]], {0: ("cat",), 1: ("x", "y")}, "q.json#steps/scores"),
    ("q.json#steps/Scores", [[5, 6]], {0: ("cat",), 1: ("x", "y")}, "q.json#steps/scores"),
    ("q.json#output", [[7, 8]], {0: ("cat",)}, "q.json#steps/output"),
    ("q.json#outputs/weights", [[0.5, 0.5]], {}, "q.json#outputs/weights"),
    ("q.json#angle", 30, {}, "q.json#outputs/angle"),
    ("q.json#exact/angle", 30, {}, "q.json#exact/angle"),
    ("q.json#layer 1/self/weights", [[0.5, 0.5]], {}, "q.json#steps/layer 1/self/weights"),
    ("q.json#k", [[0, 1]], {0: ("cat",)}, "q.json#inputs/k"),
    ("q.json#inputs/q", [[1, 0]], {0: ("cat",)}, "q.json#inputs/q"),
    ("q.json#scores[0]", [5, 6], {0: ("x", "y")}, "q.json#steps/scores[0]"),
    ("q.json#scores[-1][1]", 6, {}, "q.json#steps/scores[-1][1]"),
    ("q.json#scores[0,1]", 6, {}, "q.json#steps/scores[0,1]"),
]


@pytest.mark.parametrize(("word", "value", "labels", "source"), PICKS, ids=[row[0] for row in PICKS])
def test_parts_of_a_saved_result(
    read: Callable[..., Any], word: str, value: Any, labels: dict[int, tuple[str, ...]], source: str
) -> None:
    found = read(json.dumps(SAVED), word=word)
    assert found.value.tolist() == value
    assert found.labels == labels
    assert found.source == source


PICK_FAULTS = [
    ("q.json#wieghts", 'q.json holds no "wieghts"', "did you mean q.json#weights?"),
    ("q.json#large", "q.json: steps/large was too large to be saved", "--all saves every step whole"),
    ("q.json#scores[1]", "q.json#steps/scores has no [1]: axis 0 has 1 entry, 0 to 0", ""),
    ("q.json#scores[0][0][0]", "q.json#steps/scores[0][0] has no [0]: it has no axis, since it is a single number", ""),
    (
        "q.json#weights",
        'q.json: "weights" occurs in several places: outputs/weights, steps/layer 1/self/weights',
        "",
    ),
]


@pytest.mark.parametrize(("word", "message", "hint"), PICK_FAULTS, ids=[row[0] for row in PICK_FAULTS])
def test_parts_that_are_not_there(fault: Fault, word: str, message: str, hint: str) -> None:
    assert fault(json.dumps(SAVED), word=word) == (message, hint)


def test_a_problem_has_no_result(fault: Fault) -> None:
    assert fault('{"calculation": "dot", "inputs": {"a": [1]}}') == (
        "q.json is a problem and holds no result",
        "name one of its operands (q.json#inputs/…), or save its result and give that",
    )


def test_rows_by_their_labels(read: Callable[..., Any], fault: Fault) -> None:
    assert read('{"cat": [1, 2], "dog": [3, 4]}', word="q.json#dog").value.tolist() == [3, 4]
    assert fault("[[1]]", word="q.json#dog")[0] == 'q.json is one array without row labels, so there is no "dog" in it'
