"""The JSON document: its keys, numbers that come back as they were, text that acts on nothing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attncalc.record.numbers import encode
from attncalc.record.trace import Check, Given, Trace
from attncalc.render import View, render
from attncalc.render.document import document


def text(trace: Trace, **view: Any) -> str:
    page = render(trace, "json", View(**view))
    assert isinstance(page, str)
    return page


def saved(trace: Trace, **view: Any) -> Any:
    return json.loads(text(trace, **view))


def test_the_document_of_a_calculation(attention: Trace) -> None:
    found = saved(attention)
    assert list(found) == ["attncalc", "calculation", "inputs", "labels", "options", "steps", "outputs", "result"]
    assert found["attncalc"] == 1
    assert found["calculation"] == "attention"
    assert found["inputs"] == {"q": [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]}
    assert found["labels"] == {"q": {"n": ["the", "cat"]}}
    assert found["options"] == {"causal": True}
    assert found["steps"][2] == {
        "name": "weights",
        "formula": "softmax(masked)",
        "latex": "\\mathrm{softmax}",
        "axes": ["n", "m"],
        "shape": [2, 2],
        "labels": {"n": ["the", "cat"], "m": ["the", "cat"]},
        "value": [[1.0, 0.0], [0.5, 0.5]],
        "why": "",
    }
    assert found["steps"][1]["value"] == [[1 / 3, "-Infinity"], [1 / 3, 1 / 3]]
    assert list(found["outputs"]) == ["output", "weights"]
    assert found["result"] == found["outputs"]["output"] == [[2.0, 0.0, 1.0], [1.5, 0.5, 0.5]]


def test_a_document_without_labels_has_no_key_for_them(dot: Trace) -> None:
    assert "labels" not in saved(dot)


def test_a_step_carries_its_group_its_check_and_its_drift(grouped: Trace, make: Any) -> None:
    first, second, _ = saved(grouped)["steps"]
    assert first["group"] == "encoder 1/self-attention"
    assert second["drift"] == 0.0012
    assert saved(grouped)["outputs"]["angle"] == 11.9
    gradient = make.step("grad_q", 1.0, gradient_of="q", check=Check(np.ones(()), 3e-10, True))
    (step,) = saved(make.trace(gradient))["steps"]
    assert step["gradient_of"] == "q"
    assert step["check"] == {"agrees": True, "max_error": 3e-10, "numeric": 1.0}


def test_entries_that_stand_for_labels_are_named_beside_their_numbers(make: Any) -> None:
    (step,) = saved(make.trace(make.step("ranking", [1, 0], "rank", names=("king", "queen"))))["steps"]
    assert (step["value"], step["names"]) == ([1, 0], ["queen", "king"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([1, 2]), [1, 2]),
        (np.array([True]), [True]),
        (np.array(2.0), 2.0),
        (np.array([np.nan, np.inf, -np.inf]), ["NaN", "Infinity", "-Infinity"]),
        (np.array([1 + 2j, complex(0, np.inf)]), [{"re": 1.0, "im": 2.0}, {"re": 0.0, "im": "Infinity"}]),
        (np.array([0.1], dtype=np.float32), [0.1]),
        (np.array([sympy.sqrt(3) / 3, sympy.Integer(2), -sympy.oo], dtype=object), ["sqrt(3)/3", 2, "-Infinity"]),
        (np.array(sympy.Rational(1, 3), dtype=object), "1/3"),
        ((2, "inf", None, False, 0.5), [2, "inf", None, False, 0.5]),
        (np.float64(0.5), 0.5),
        (float("inf"), "Infinity"),
    ],
    ids=["int", "bool", "0-d", "not finite", "complex", "float32", "exact", "exact 0-d", "options", "scalar", "inf"],
)
def test_encoding(value: Any, expected: Any) -> None:
    found = encode(value)
    assert found == expected
    assert json.loads(json.dumps(found, allow_nan=False)) == expected


@given(arrays(np.float64, array_shapes(min_dims=0, max_dims=3), elements=st.floats()))
def test_the_same_numbers_come_back(value: np.ndarray) -> None:
    read = np.array(json.loads(json.dumps(encode(value), allow_nan=False)), dtype=object)
    np.testing.assert_array_equal(np.vectorize(float, otypes=[float])(read), value)


def test_digits_round_results_and_never_inputs(make: Any) -> None:
    operand = Given(np.array([2.675]), axes=("n",))
    found = saved(make.trace(make.step("x", [2.675]), inputs={"a": operand}), digits=2)
    assert found["inputs"] == {"a": [2.675]}
    assert found["steps"][0]["value"] == found["outputs"]["x"] == found["result"] == [2.68]


@pytest.mark.parametrize(
    ("view", "expected"),
    [({"quiet": True}, [[2.0, 0.0, 1.0], [1.5, 0.5, 0.5]]), ({"get": "weights"}, [[1.0, 0.0], [0.5, 0.5]])],
    ids=["quiet", "get"],
)
def test_one_value_alone(attention: Trace, view: dict[str, Any], expected: Any) -> None:
    assert saved(attention, **view) == expected


def test_show_picks_steps_and_keeps_the_results(attention: Trace) -> None:
    found = saved(attention, show=("scores",))
    assert [step["name"] for step in found["steps"]] == ["scores"]
    assert list(found["outputs"]) == ["output", "weights"]


def test_large_steps_are_summed_up_unless_everything_is_asked_for(make: Any) -> None:
    value = np.arange(2 * 80 * 80.0).reshape(2, 80, 80)
    trace = make.trace(make.step("large", value), make.step("small", 1.0))
    (large, _) = saved(trace)["steps"]
    assert "value" not in large
    assert large["summary"] == {"min": 0.0, "max": 12799.0, "corner": value[0, :4, :4].tolist()}
    assert saved(trace, everything=True)["steps"][0]["value"] == value.tolist()


HOSTILE = "\x1b[2J \x9b \u202e \n \u200b \x00 猫 \U000e0001"


@pytest.mark.parametrize("unicode", [True, False], ids=["unicode", "ascii"])
def test_no_character_acts_and_all_come_back(make: Any, unicode: bool) -> None:
    trace = make.trace(make.step("x", [1.0], "n", labels={"n": (HOSTILE,)}))
    page = text(trace, unicode=unicode)
    assert page.replace("\n", "").isprintable()
    assert page.isascii() != unicode
    assert json.loads(page)["steps"][0]["labels"]["n"] == [HOSTILE]


def test_the_document_as_python_objects_is_the_document(attention: Trace) -> None:
    assert document(attention) == saved(attention)


LARGE = sympy.Integer(10) ** 400


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([LARGE, sympy.Integer(2)], ["1e+400", 2.0]),
        ([-sympy.sqrt(2) * LARGE], ["-1.414213562373095e+400"]),
        ([sympy.exp(1000), 1 / LARGE], ["1.970071114017047e+434", 0.0]),
        ([LARGE * sympy.I, sympy.Integer(2)], [{"re": 0.0, "im": "1e+400"}, {"re": 2.0, "im": 0.0}]),
        ([sympy.oo, LARGE], ["Infinity", "1e+400"]),
    ],
    ids=["whole", "a root", "a power, and next to nothing", "complex", "beside infinity"],
)
def test_an_exact_number_beyond_floats_has_its_decimals_all_the_same(make: Any, entries: Any, expected: Any) -> None:
    found = saved(make.trace(make.step("x", entries, "n")))
    assert found["result"] == found["outputs"]["x"] == found["steps"][0]["value"] == expected


def test_exact_numbers_are_decimals_with_their_forms_beside_them(make: Any) -> None:
    i = sympy.I
    trace = make.trace(make.step("roots", np.array([i / 2, sympy.sqrt(2)], dtype=object), "k"))
    found = document(trace)
    assert found["result"] == [{"re": 0.0, "im": 0.5}, {"re": 2**0.5, "im": 0.0}]
    assert found["exact"] == {"roots": ["i/2", "√2"]}


def test_letters_are_text_that_programs_read(make: Any) -> None:
    a, b = sympy.symbols("a_0 a_1")
    trace = make.trace(make.step("sum", np.array(sympy.sqrt(a**2 + b), dtype=object)))
    found = document(trace)
    assert found["result"] == found["steps"][0]["value"] == "sqrt(a_0**2 + a_1)"
    assert found["exact"] == {"sum": "√(a₀² + a₁)"}
