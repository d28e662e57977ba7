"""What is said on the command line wins, and what it overrules is said: for every calculation and operand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calculations.cases import EXPECTED
from numpy.testing import assert_array_equal
from rows import rows

from attncalc.calculations import TABLE, load
from attncalc.declare.operands import WEIGHTS
from attncalc.inputs.calls import Gathered, gather
from attncalc.inputs.reading import Reading

NAMES = [name for name in TABLE if name in EXPECTED]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def saved(file: str, held: Any) -> str:
    Path(file).write_text(json.dumps(held, default=lambda array: array.tolist()))
    return f"@{file}"


def numbers(name: str) -> dict[str, Any]:
    """The operands of the calculation's first case that are numbers."""
    return {each: np.asarray(value) for each, value in EXPECTED[name].cases[0].arrays().items()}


def called(name: str, words: list[str], named: dict[str, str]) -> Gathered:
    return gather(load(name), words, named, {}, Reading())


@pytest.mark.thorough
@rows("name", NAMES)
def test_an_operand_given_by_name_wins_over_a_problem(name: str) -> None:
    inputs = numbers(name)
    file = saved("p.json", {"calculation": name, "inputs": inputs})
    for operand, value in inputs.items():
        if value.dtype.kind != "f" or operand not in {each.name for each in load(name).operands}:
            continue  # words, and weights of a layer, have no option of their own
        found = called(name, [file], {operand: saved("own.json", value / 2)})
        for each in inputs:
            assert_array_equal(found.inputs[each].value, value / 2 if each == operand else inputs[each])
        assert f"{operand} of p.json is overruled by @own.json" in found.notes


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in NAMES if load(name).weights])
def test_weights_beside_a_result_are_for_that_result(name: str) -> None:
    """The next layer: `encoder-block first.json --weights second.npz`, in whatever order the words stand."""
    inputs = numbers(name)
    first = next(iter(inputs))
    others = {each: value / 2 for each, value in inputs.items() if each != first}
    document = {"calculation": name, "inputs": inputs, "result": inputs[first] / 4, "outputs": {"y": inputs[first] / 4}}
    file, weights = saved("first.json", document), saved("second.json", others)
    for words, named in (
        ([file], {WEIGHTS: weights}),
        ([], {first: file, WEIGHTS: weights}),
        ([], {WEIGHTS: weights, first: file}),
    ):
        found = called(name, words, named)
        assert_array_equal(found.inputs[first].value, inputs[first] / 4)
        for each, value in others.items():
            assert_array_equal(found.inputs[each].value, value)


@pytest.mark.parametrize("words", [("a.json", "b.json"), ("b.json", "a.json")])
def test_of_two_files_that_hold_an_operand_the_one_passed_over_is_named(words: tuple[str, ...]) -> None:
    rows = {"q": [[1, 0]], "k": [[1, 0]], "v": [[1, 2]]}
    saved("a.json", rows)
    saved("b.json", rows)
    first, second = words
    found = called("attention", [], {"q": first, "k": second})
    assert found.inputs["v"].source == f"{first}#v"
    assert any("of" in note and second in note and "overruled" in note for note in found.notes)
