"""Evaluation: floats, exact numbers and letters alike, values given for steps, rounding after each step."""

from __future__ import annotations

import weakref
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given as examples
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from trees import arrays, entries

import attncalc as ac
from attncalc.evaluate.values import evaluate, plan
from attncalc.language.axes import Axis
from attncalc.language.exact_kernels import exactly
from attncalc.language.graph import Node, as_node, constant, given, step
from attncalc.language.kernels import number
from attncalc.language.ops import exp, index, keep_where, softmax, sqrt, total
from attncalc.record.numbers import round_half_up

Array = NDArray[Any]
N, M = Axis("n", 2), Axis("m", 3)
X = given("x", (N, M))
SCORES = step("scores", X * 2, "…")
WEIGHTS = step("weights", softmax(SCORES), "…")
OUTPUT = step("output", total(WEIGHTS * SCORES), "…")
VALUES = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])


def only(node: Node, operands: dict[str, Array], **how: Any) -> Array:
    return evaluate([node], operands, **how)[node]


def test_the_steps_are_kept_and_the_rest_is_let_go() -> None:
    values = evaluate([OUTPUT], {"x": VALUES})
    assert {node.args["name"] for node in values} == {"scores", "weights", "output"}


def test_a_value_dies_when_nobody_needs_it_any_more() -> None:
    alive: list[int] = []
    seen: list[weakref.ref[Array]] = []

    class Watched(np.ndarray[Any, Any]):
        pass

    def watch(value: Array) -> Array:
        alive.append(sum(ref() is not None for ref in seen))
        kept = value.view(Watched)
        seen.append(weakref.ref(kept))
        return kept

    node = X
    for i in range(10):
        node = step(f"s{i}", node + 1, "…")
    evaluate([node], {"x": VALUES}, after_step=watch, keep=lambda _: False)
    assert max(alive) <= 2


@pytest.mark.parametrize("key", [("", "scores"), ("", "weights")], ids=["scores", "weights"])
def test_a_given_step_stops_the_walk_there(key: tuple[str, str]) -> None:
    values = evaluate([OUTPUT], {"x": VALUES})
    node = next(node for node in values if node.key == key)
    assert_array_equal(only(OUTPUT, {"x": VALUES}, given={key: values[node]}), values[OUTPUT])
    assert_array_equal(only(WEIGHTS, {}, given={("", "scores"): np.zeros((2, 3))}), np.full((2, 3), 1 / 3))


def test_what_a_given_step_is_worth_reaches_the_steps_behind_it_alone() -> None:
    zero = np.zeros((2, 3))
    values = evaluate([OUTPUT], {"x": VALUES}, given={("", "weights"): zero})
    assert_array_equal(values[OUTPUT], [0, 0])
    assert_array_equal(values[SCORES], 2 * VALUES)


def test_each_step_is_rounded_before_the_next_one_uses_it() -> None:
    third = step("third", X / 3, "…")
    whole = step("whole", third * 3, "…")
    found = evaluate([whole], {"x": np.ones((2, 3))}, after_step=partial(round_half_up, decimals=2))
    assert_array_equal(found[third], np.full((2, 3), 0.33))
    assert_array_equal(found[whole], np.full((2, 3), 0.99))


def test_a_plan_made_once_serves_every_turn() -> None:
    made = plan([OUTPUT])
    for seed in range(3):
        values = {"x": np.random.default_rng(seed).normal(size=(2, 3))}
        assert_array_equal(evaluate(made, values)[OUTPUT], only(OUTPUT, values))


@examples(arrays(), st.integers(0, 99))
def test_rounding_policies_on_an_axis_in_front_are_as_many_runs(node: Node, seed: int) -> None:
    several = [entries(seed + i) for i in range(3)]
    together = only(node, {name: np.stack([one[name] for one in several]) for name in several[0]})
    for i, one in enumerate(several):
        alone = only(node, one)
        np.testing.assert_allclose(together[i], alone, rtol=1e-10, atol=1e-10 * max(1.0, float(np.abs(alone).max())))


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(X / sqrt(X.size("m")), id="a size"),
        pytest.param(0.1 * X + 3, id="numbers"),
        pytest.param(X * constant(Fraction(1, 3)), id="a fraction"),
        pytest.param(X - index("m", X.axes, "j"), id="positions"),
        pytest.param(keep_where(index("m", X.axes, "j") <= index("n", X.axes, "i"), X, -np.inf), id="a mask"),
        pytest.param(exp(X) ** 0.5, id="a power"),
    ],
)
def test_nothing_in_a_formula_widens_float32(node: Node) -> None:
    assert only(node, {"x": VALUES.astype(np.float32)}, dtype="float32").dtype == np.float32


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0.1, sympy.Rational(1, 10)),
        (3, sympy.Integer(3)),
        (Fraction(2, 3), sympy.Rational(2, 3)),
        (1e-5, sympy.Rational(1, 10**5)),
        (float("-inf"), -sympy.oo),
        (np.pi, sympy.pi),
    ],
    ids=str,
)
def test_a_number_of_a_formula_is_exact_by_its_shortest_digits(value: float, exact: sympy.Basic) -> None:
    assert number(value, np.dtype(object))[()] == exact


def test_exact_operands_give_exact_results() -> None:
    found = only(X / sqrt(X.size("m")) + 0.1, {"x": exactly(VALUES)}, dtype="object")
    assert found[0, 0] == sympy.sqrt(3) / 3 + sympy.Rational(1, 10)


def test_letters_give_formulas() -> None:
    a, b = sympy.symbols("a b")
    scores = given("s", (N,))
    found = only(softmax(scores), {"s": np.array([a, b], dtype=object)}, dtype="object")
    assert found[0] == sympy.exp(a) / (sympy.exp(a) + sympy.exp(b))


def test_exactly_keeps_the_shape_of_a_single_number() -> None:
    assert exactly(np.array(0.5)).shape == ()


def test_overflow_is_left_to_whoever_reads_the_steps() -> None:
    assert np.isposinf(only(exp(as_node(1000)), {}))


def test_what_cannot_be_told_from_0_is_0() -> None:
    """The last rate of a cosine schedule is 1 + cos π: it was shown as 2.2e-67, which was left of twice the digits."""
    assert ac.schedule(kind="cosine", steps=10, warmup=2).result[-1] == 0
