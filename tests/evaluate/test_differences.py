"""Central differences: they find the slope without calculus, and tell a wrong gradient from a right one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from slopes import slope

from attncalc.evaluate import differences
from attncalc.evaluate.differences import compare, slopes
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, given
from attncalc.language.ops import absolute, exp, maximum, softmax, sqrt, total

Array = NDArray[Any]
N, M, D = Axis("n", 3), Axis("m", 4), Axis("d", 2)
X, Y = given("x", (N, D)), given("y", (M, D))
RNG = np.random.default_rng(5)
VALUES = {"x": RNG.normal(size=(3, 2)), "y": RNG.normal(size=(4, 2))}

CASES = [
    pytest.param(X**3, "x", lambda x, g: 3 * x**2 * g, id="a cube"),
    pytest.param(exp(X), "x", lambda x, g: np.exp(x) * g, id="an exponential"),
    pytest.param(total(total(X * X)), "x", lambda x, g: 2 * x * g, id="a single number"),
    pytest.param(X @ Y.T, "x", lambda x, g: g @ VALUES["y"], id="a product's left factor"),
    pytest.param(X @ Y.T, "y", lambda y, g: g.T @ VALUES["x"], id="its right factor"),
]


def upstream(node: Node) -> Array:
    return np.random.default_rng(6).normal(size=tuple(axis.size for axis in node.axes))


@pytest.mark.parametrize(("node", "name", "known"), CASES)
def test_they_come_near_the_slope_that_calculus_knows(node: Node, name: str, known: Any) -> None:
    found = slopes(node, name, VALUES, upstream(node)).mean(axis=0)
    assert_allclose(found, known(VALUES[name], upstream(node)), rtol=1e-7, atol=1e-8)


def test_they_agree_with_one_entry_at_a_time() -> None:
    node = softmax(X @ Y.T)
    found = slopes(node, "x", VALUES, upstream(node)).mean(axis=0)
    assert_allclose(found, slope(node, "x", VALUES, upstream(node)), atol=1e-9)


def test_an_operand_that_the_output_ignores_has_the_slope_0() -> None:
    assert (slopes(X + 0, "y", VALUES, np.ones((3, 2))).mean(axis=0) == 0).all()
    assert (slopes(total(total(X)), "y", VALUES, np.ones(())).mean(axis=0) == 0).all()


def test_moving_them_in_several_runs_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = slopes(X @ Y.T, "y", VALUES, np.ones((3, 4))).mean(axis=0)
    monkeypatch.setattr(differences, "MOVED_AT_ONCE", 40)
    assert_allclose(slopes(X @ Y.T, "y", VALUES, np.ones((3, 4))).mean(axis=0), whole, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("node", "name", "known"), CASES)
@pytest.mark.parametrize(
    ("spoil", "agrees"),
    [
        pytest.param(lambda g: g, True, id="right"),
        pytest.param(lambda g: -g, False, id="the sign turned"),
        pytest.param(lambda g: 1.001 * g, False, id="a thousandth off"),
        pytest.param(lambda g: g + 1e-3 * (np.arange(g.size).reshape(g.shape) == 0), False, id="one entry off"),
    ],
)
def test_a_wrong_gradient_is_told_from_a_right_one(node: Node, name: str, known: Any, spoil: Any, agrees: bool) -> None:
    right = known(VALUES[name], upstream(node))
    check = compare(node, name, spoil(right), VALUES, upstream(node))
    assert check.agrees == agrees
    assert check.max_error == pytest.approx(np.abs(check.numeric - spoil(right)).max())


KINKS = [
    pytest.param(maximum(X, 0), 1.0, id="the right side"),
    pytest.param(maximum(X, 0), 0.0, id="the left side"),
    pytest.param(absolute(X), 0.25, id="between both"),
    pytest.param(maximum(X, 0) + absolute(X), 2.0, id="the right side of two"),
]


@pytest.mark.parametrize(("node", "given"), KINKS)
def test_at_a_kink_the_gradient_lies_between_the_slopes_of_both_sides(node: Node, given: float) -> None:
    values = {"x": np.zeros((3, 2))}
    right = compare(node, "x", np.full((3, 2), given), values, np.ones((3, 2)))
    assert (right.agrees, right.kinks) == (True, 6)
    wrong = compare(node, "x", np.full((3, 2), given + 2.5), values, np.ones((3, 2)))
    assert (wrong.agrees, wrong.kinks) == (False, 0)


def test_where_the_slope_changes_fast_finer_differences_come_nearer() -> None:
    check = compare(X / sqrt(X * X + 1e-6), "x", np.full((3, 2), 1000.0), {"x": np.zeros((3, 2))}, np.ones((3, 2)))
    assert (check.agrees, check.kinks) == (True, 0)
