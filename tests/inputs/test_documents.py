"""Documents that are run or checked: what they name is there, and what is not is told with near names."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncalc.calculations import load
from attncalc.common.errors import InputError
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import OF_DOCUMENTS, Reading
from attncalc.record.documents import Document
from attncalc.solve.problem import Backward, posed

QKV = {"q": [[1, 0]], "K": [[0, 1]], "values": [["1/3", 3]]}
PROBLEM = {
    "attncalc": 1,
    "calculation": "attention",
    "inputs": QKV,
    "options": {"causal": True, "scale": "1/sqrt(3)", "causal-align": "end", "window": 2},
    "steps": [{"name": "scores", "value": [[0.5]]}],
}


def save(folder: Path, document: Any) -> None:
    (folder / "p.json").write_text(document if isinstance(document, str) else json.dumps(document))


@pytest.mark.parametrize("word", ["p.json", "p", "@p.json", "path:p.json"])
def test_a_problem(folder: Path, word: str) -> None:
    save(folder, PROBLEM)
    found = load_document(word, Reading())
    assert found.calculation == "attention"
    assert {name: given.value.tolist() for name, given in found.inputs.items()} == {
        "q": [[1, 0]],
        "k": [[0, 1]],
        "v": [[1 / 3, 3]],
    }
    assert found.options == {"causal": True, "scale": pytest.approx(3**-0.5), "causal_align": "end", "window": 2}
    assert [type(value) for value in found.options.values()] == [bool, float, str, int]
    assert found.document["steps"][0]["value"] == [[0.5]]
    assert found.inputs["q"].source == "p.json#q"
    written = found.inputs["v"].written
    assert written is not None
    assert written.tolist() == [["1/3", "3"]]


@pytest.mark.parametrize(
    "beside", [{"Causal": True}, {"options": {"causal": True}}, {"causal": False, "options": {"causal": True}}]
)
def test_operands_and_options_may_stand_beside_the_calculation(folder: Path, beside: dict[str, Any]) -> None:
    save(folder, {"calculation": "attention", "title": "by hand", **QKV, **beside})
    found = load_document("p.json", Reading())
    assert list(found.inputs) == ["q", "k", "v"]
    assert found.options == {"causal": True}
    assert found.inputs["k"].source == "p.json#K"


def test_a_backward_pass(folder: Path) -> None:
    save(folder, PROBLEM | {"calculation": "grad attention", "inputs": QKV | {"upstream": [[1, 0]]}})
    found = load_document("p.json", Reading())
    assert found.calculation == "grad attention"
    assert found.inputs["upstream"].value.tolist() == [[1, 0]]


@pytest.mark.parametrize("wrt", [["b", "a"], "b,a", "b, a", "b a"])
def test_operands_are_named_in_a_list_or_as_on_the_command_line(folder: Path, wrt: Any) -> None:
    save(folder, {"calculation": "grad dot", "a": [1, 2], "b": [3, 4], "options": {"wrt": wrt, "gradcheck": False}})
    assert load_document("p.json", Reading()).options == {"wrt": ("b", "a"), "gradcheck": False}


@pytest.mark.parametrize(
    ("said", "options", "asked_for"),
    [
        pytest.param(Backward(), {}, Backward(), id="nothing by either"),
        pytest.param(Backward(), {"wrt": ("b",)}, Backward(wrt=("b",)), id="operands by the document"),
        pytest.param(Backward(wrt=("a",)), {"wrt": ("b",)}, Backward(wrt=("a",)), id="operands by the call as well"),
        pytest.param(Backward(), {"gradcheck": True}, Backward(gradcheck=True), id="differences"),
        pytest.param(Backward(gradcheck=True), {"gradcheck": False}, Backward(gradcheck=True), id="them by the call"),
        pytest.param(
            Backward(jacobian=True), {"gradcheck": True}, Backward(jacobian=True), id="them where there are none"
        ),
    ],
)
def test_a_document_asks_for_gradients_where_the_call_does_not(
    said: Backward, options: dict[str, Any], asked_for: Backward
) -> None:
    found = posed(load("attention"), {}, options | {"scale": 2}, said)
    assert (found.backward, found.options) == (asked_for, {"scale": 2})


def test_a_document_gives_the_problem_that_it_holds(folder: Path) -> None:
    save(folder, {"calculation": "grad attention", "inputs": QKV, "options": {"wrt": "q", "causal": True}})
    problem = load_document("p.json", Reading()).problem
    assert (problem.name, problem.backward, problem.options) == (
        "grad attention",
        Backward(wrt=("q",)),
        {"causal": True},
    )


def test_labels(folder: Path) -> None:
    save(folder, {"calculation": "attention", "inputs": QKV, "labels": {"n": ["cat"], "q": ["dog"]}})
    found = load_document("p.json", Reading())
    assert found.inputs["q"].labels == {0: ("dog",)}
    assert found.inputs["k"].labels == {}


def test_operands_that_are_null_are_not_given(folder: Path) -> None:
    save(folder, PROBLEM | {"inputs": QKV | {"mask": None}})
    assert list(load_document("p.json", Reading()).inputs) == ["q", "k", "v"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(PROBLEM).encode())))
    assert load_document("-", Reading()).inputs["q"].source == "standard input#q"


FAULTS: list[tuple[str, Any, str, str]] = [
    (
        "no object",
        [[1]],
        "p.json is not a document",
        "a document is a JSON object with its calculation, as -o FILE.json without -q saves it",
    ),
    (
        "no calculation",
        {"inputs": QKV},
        "p.json does not name its calculation",
        'it has a key like "calculation": "attention"',
    ),
    (
        "a calculation that is no name",
        {"calculation": 3},
        "p.json does not name its calculation",
        'it has a key like "calculation": "attention"',
    ),
    (
        "an unknown calculation",
        {"calculation": "atention"},
        'p.json: there is no calculation called "atention"',
        "did you mean attention",
    ),
    (
        "an unknown backward pass",
        {"calculation": "grad atention"},
        'p.json: there is no calculation called "grad atention"',
        "did you mean attention",
    ),
    (
        "a derivative that there is none of",
        {"calculation": "hessian attention"},
        'p.json: there is no calculation called "hessian attention"',
        "",
    ),
    (
        "another version",
        PROBLEM | {"attncalc": 2},
        'p.json: the document is of version "2", but only 1 can be read',
        "",
    ),
    (
        "an unknown operand",
        {"calculation": "dot", "inputs": {"a": [1], "bb": [2]}},
        'p.json: dot has no operand "bb"',
        "did you mean b?",
    ),
    (
        "upstream without a backward pass",
        PROBLEM | {"inputs": QKV | {"upstream": [[1]]}},
        'p.json: attention has no operand "upstream"',
        "it has q, k, v",
    ),
    (
        "an unknown option",
        PROBLEM | {"options": {"casual": True}},
        'p.json: attention has no option "casual"',
        "did you mean causal?",
    ),
    (
        "an option of derivatives without one",
        PROBLEM | {"options": {"gradcheck": True}},
        'p.json: attention has no option "gradcheck"',
        "it has causal, causal_align",
    ),
    (
        "a gradient check that is no switch",
        {"calculation": "grad dot", "inputs": {}, "options": {"gradcheck": 1}},
        "p.json: options/gradcheck is 1, not true or false",
        "",
    ),
    (
        "gradients that are no names",
        {"calculation": "grad dot", "inputs": {}, "options": {"wrt": None}},
        "p.json: options/wrt is null, not a list of operands' names",
        "",
    ),
    (
        "gradients that are a number",
        {"calculation": "grad dot", "inputs": {}, "options": {"wrt": 3}},
        "p.json: options/wrt is 3, not a list of operands' names",
        "",
    ),
    (
        "a gradient that is null among names",
        {"calculation": "grad dot", "inputs": {}, "options": {"wrt": ["a", None]}},
        "p.json: options/wrt[1] is null, not the name of an operand",
        "",
    ),
    (
        "a gradient that is a number among names",
        {"calculation": "grad dot", "inputs": {}, "options": {"wrt": ["a", 3]}},
        "p.json: options/wrt[1] is 3, not the name of an operand",
        "",
    ),
    (
        "a gradient that is a list among names",
        {"calculation": "grad dot", "inputs": {}, "options": {"wrt": [["a"]]}},
        "p.json: options/wrt[0] is a list, not the name of an operand",
        "",
    ),
    (
        "an option that is no number",
        PROBLEM | {"options": {"scale": "1/0"}},
        'p.json: options/scale: "1/0" divides by zero',
        "",
    ),
    (
        "an option that is too large a number",
        '{"calculation": "norm", "inputs": {"a": [3, 4]}, "options": {"p": 1e999}}',
        'p.json: "1e999" is too large: 64-bit numbers end at 1.8e308',
        "",
    ),
    (
        "a bad entry",
        {"calculation": "dot", "inputs": {"a": [1, True], "b": [1, 2]}},
        "p.json: inputs/a[1]: true is not a number",
        "true and false stand in masks alone: write 1 and 0",
    ),
    (
        "an object as an operand",
        {"calculation": "dot", "inputs": {"a": {"x": [1], "y": [2]}, "b": [1]}},
        "p.json holds several arrays, none called a: a/x, a/y",
        "name one: p.json#a/x",
    ),
    (
        "an operand by itself, and again among the weights",
        {"calculation": "multihead", "inputs": {"wq": [[1]], "weights": {"wq": [[2]]}}},
        'p.json: inputs hold wq twice, once as "wq"',
        "",
    ),
    (
        "a duplicate key",
        '{"calculation": "dot",\n "calculation": "norm"}',
        'p.json:2:2: the key "calculation" occurs twice in one object',
        "",
    ),
    (
        "no JSON",
        "{",
        'p.json:1:2: the text ends where a key in double quotes, or "}", is expected',
        "a bracket is not closed",
    ),
]


@pytest.mark.parametrize(("document", "message", "hint"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_faults(folder: Path, document: Any, message: str, hint: str) -> None:
    save(folder, document)
    with pytest.raises(InputError) as caught:
        load_document("p.json", Reading())
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gone", 'there is no document "gone"'),
        ("1,2", 'there is no document "1,2"'),
        ("@gone.json", "there is no file gone.json"),
        ("p.npy", "p.npy is not a document"),
        ("p.json#steps", '"p.json#steps" is a part of a document'),
    ],
)
def test_no_document(folder: Path, word: str, message: str) -> None:
    np.save(folder / "p.npy", np.eye(2))
    save(folder, {"calculation": "softmax", "inputs": {"x": [1, 2]}, "steps": []})
    with pytest.raises(InputError) as caught:
        load_document(word, Reading())
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ({"option": {"causal": True}}, '"option" is passed over: a document has no such key; did you mean options?'),
        ({"asks": ["weights"]}, '"asks" is passed over: a document has no such key; did you mean ask?'),
        ({"points": 3}, '"points" is passed over: a document has no such key'),
        ({"title": "by hand", "ask": ["weights"], "settings": {}}, None),
    ],
)
def test_a_key_that_nothing_reads_is_told(folder: Path, beside: dict[str, Any], told: str | None) -> None:
    save(folder, {"calculation": "attention", "inputs": QKV, **beside})
    reading = Reading()
    load_document("p.json", reading)
    assert reading.notes == ([f"p.json: {told}"] if told else [])


@pytest.mark.parametrize("misspelt", [{"casual": True}, {"causal-allign": "end"}, {"maskk": [[1]]}])
def test_one_beside_operands_too(folder: Path, misspelt: dict[str, Any]) -> None:
    save(folder, {"calculation": "attention", **QKV, **misspelt})
    reading = Reading()
    load_document("p.json", reading)
    meant = {"casual": "causal", "causal-allign": "causal_align", "maskk": "mask"}[next(iter(misspelt))]
    assert [f"did you mean {meant}" in note for note in reading.notes] == [True]


def test_the_keys_of_documents_are_those_of_their_types() -> None:
    assert {*OF_DOCUMENTS} == {*Document.__annotations__, "ask", "shown"}
