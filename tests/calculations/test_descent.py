"""Descents: the worked example, where they settle and diverge, the flow beside them, and what a loop keeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies
from numpy.testing import assert_allclose
from solved import page_in

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import DomainError, NoGradient, OptionError
from attncalc.common.system import told_to
from attncalc.inputs.python_values import to_given
from attncalc.record.trace import Trace
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve


def whole(text: str, **options: Any) -> Trace:
    """A descent with all its iterations."""
    calculation = load("descend")
    inputs = {"expression": to_given(text, calculation.operands[0])}
    return solve(Problem(calculation, inputs, options), keep_all=True)


def test_the_worked_example() -> None:
    found = ac.descend("x**2", start=3, lr=0.1, steps=10)
    points = [float(found[f"iteration {k}/point"]) for k in range(11)]
    assert_allclose(points[:4], [3, 2.4, 1.92, 1.536], rtol=1e-14)
    assert float(found.result) == points[10] == pytest.approx(0.3221, abs=5e-5)
    assert float(found["value"]) == pytest.approx(0.1038, abs=5e-5)
    assert not found.warnings


def test_iteration_k_has_k_updates_behind_it() -> None:
    found = ac.descend("x**2", start=3, steps=4)
    for k in range(4):
        after = float(found[f"iteration {k}/point"]) + float(found[f"iteration {k}/update"])
        assert float(found[f"iteration {k + 1}/point"]) == after


def test_the_table_has_a_row_for_each_iteration() -> None:
    found = ac.descend("x**2 + y", start={"x": 3, "y": 1}, steps=3).find("iterations")
    assert found.shape == (4, 7)
    assert found.labels["iteration"] == ("0", "1", "2", "3")
    assert found.labels["quantity"][:3] == ("point[x]", "point[y]", "value")


@pytest.mark.parametrize("optimizer", ["gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"])
def test_every_optimiser_finds_the_bottom_of_a_bowl(optimizer: str) -> None:
    lr = 0.5 if optimizer == "adagrad" else 0.05  # whose steps shrink
    found = ac.descend("(x - 1)**2 + 2*(y + 2)**2", start="x=3,y=1", optimizer=optimizer, lr=lr, steps=3000)
    assert_allclose(found.result, [1, -2], atol=0.05)
    assert float(found["value"]) < 0.01


@pytest.mark.parametrize("optimizer", ["gd", "momentum", "adam"])
def test_a_descent_walks_as_the_optimiser_does_by_itself(optimizer: str) -> None:
    found = ac.descend("x**2 + 3*y**2 - x*y", start="x=3,y=1", optimizer=optimizer, lr=0.05, steps=5)
    gradients = [found[f"iteration {k}/gradient"] for k in range(5)]
    assert_allclose(ac.optimizer(gradients, [3, 1], kind=optimizer, lr=0.05).result, found.result, rtol=1e-13)


def test_it_says_where_it_has_settled() -> None:
    found = ac.descend("x**2", start=3, steps=1000)
    assert any("settled" in note and "iteration 117" in note for note in found.notes)
    assert abs(float(found.result)) < 1e-10
    assert not found.warnings


@pytest.mark.parametrize("optimizer", ["gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"])
@pytest.mark.parametrize("start", ["x=0,y=0", "x=1,y=-2", "x=0,y=2"])
def test_a_start_whose_point_or_slope_is_0_has_a_page(optimizer: str, start: str) -> None:
    text = page_in("table", ac.descend("(x - 1)**2 + (y + 2)**2", start=start, steps=1, optimizer=optimizer))
    assert ("all 0, since x and y are 0" in text) == (start == "x=0,y=0")


def test_a_start_at_the_bottom_settles_at_once() -> None:
    found = ac.descend("x**2", start=0, steps=50)
    assert "stopped at iteration 0" in found.notes[0]


@pytest.mark.parametrize(("text", "lr"), [("1e-15*x**2", 0.1), ("x**2", 1e-17), ("1e15*x**2", 1e-16)])
def test_a_tiny_slope_or_step_is_not_taken_for_the_bottom(text: str, lr: float) -> None:
    assert not any("settled" in note for note in ac.descend(text, start=3, lr=lr, steps=20).notes)


def test_it_stops_at_the_last_finite_iteration_where_it_diverges() -> None:
    found = ac.descend("x**2", start=3, lr=1.1, steps=100_000)
    assert np.isfinite(found.result)
    assert abs(float(found.result)) > 1e150
    assert any("diverges" in warning and "stopped at iteration" in warning for warning in found.warnings)
    assert len(found.warnings) == 1


def test_it_says_that_f_has_risen() -> None:
    assert "f has risen from 9 to 345.0" in ac.descend("x**2", start=3, lr=1.1).warnings[0]


@pytest.mark.parametrize(("text", "start"), [("ln(x)", -1), ("sqrt(x)", 0), ("1/x", 0)])
def test_a_start_without_a_value_is_refused(text: str, start: float) -> None:
    with pytest.raises(DomainError, match="not finite where the descent starts"):
        ac.descend(text, start=start)


@pytest.mark.thorough
@given(start=strategies.floats(-3, 3).filter(lambda x: abs(x) > 0.01), lr=strategies.floats(0.001, 0.2))
def test_the_flow_is_the_solution_of_its_equation(start: float, lr: float) -> None:
    found = ac.descend("x**2", start=start, lr=lr, steps=5, flow=True)
    for k in range(6):
        assert float(found[f"iteration {k}/flow"]) == pytest.approx(start * math.exp(-2 * lr * k), rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("lr", [0.1, 1, 3, 10])
def test_the_flow_is_followed_however_long_an_iteration_is(lr: float) -> None:
    """A method of Runge and Kutta whose parts are too long for a steep valley leaves it, or stands still beside it."""
    found = ac.descend("x**2 + 20*y**2", start={"x": 1, "y": 1}, lr=lr, steps=2, flow=True)
    for k in range(min(3, found["iterations"].shape[0])):
        assert_allclose(found[f"iteration {k}/flow"], np.exp([-2 * lr * k, -40 * lr * k]), rtol=0, atol=2e-6)


@pytest.mark.thorough
def test_the_flow_along_a_bent_valley_ends_where_both_slopes_are_0() -> None:
    """Rosenbrock's function, milder: it was followed in parts that were too long, to a point where y has a slope."""
    text, start = "(1 - x)**2 + 10*(y - x**2)**2", {"x": -1, "y": 1}
    found = whole(text, start=start, lr=0.3, steps=100, optimizer="adam", flow=True)
    x, y, parts = -1.0, 1.0, 3000
    for k in range(1, 101):
        for _ in range(parts):  # by Heun's method, in short steps
            slope = -2 * (1 - x) - 40 * x * (y - x * x), 20 * (y - x * x)
            a, b = x - 0.3 / parts * slope[0], y - 0.3 / parts * slope[1]
            other = -2 * (1 - a) - 40 * a * (b - a * a), 20 * (b - a * a)
            x, y = x - 0.15 / parts * (slope[0] + other[0]), y - 0.15 / parts * (slope[1] + other[1])
        if k in (1, 2, 100):
            assert_allclose(found[f"iteration {k}/flow"], [x, y], rtol=0, atol=5e-6)


@pytest.mark.parametrize(("text", "why"), [("-x**4", "leaves all bounds"), ("100*x**2", "bends too sharply")])
def test_a_flow_that_cannot_be_followed_is_refused(text: str, why: str) -> None:
    with pytest.raises(DomainError, match=why) as caught:
        ac.descend(text, start=2, lr=1, steps=3, flow=True)
    assert "no --flow" in caught.value.hint


@pytest.mark.thorough
def test_shorter_steps_come_nearer_to_the_flow() -> None:
    apart = []
    for parts in (1, 10, 100):
        found = whole("x**4 + y**2", start={"x": 1, "y": 1}, lr=0.1 / parts, steps=5 * parts, flow=True)
        last = f"iteration {5 * parts}"
        apart.append(np.abs(found[f"{last}/point"] - found[f"{last}/flow"]).max())
    assert apart[1] < apart[0] / 5
    assert apart[2] < apart[1] / 5


def test_a_long_descent_keeps_its_ends_and_says_so() -> None:
    found = ac.descend("x**2", start=3, lr=0.01, steps=100)
    groups = list(dict.fromkeys(step.group for step in found.steps))
    assert groups == [f"iteration {k}" for k in (0, 1, 2, 3, 4, 5, 95, 96, 97, 98, 99, 100)]
    assert "of 101 iterations" in found.notes[-1]
    assert len({step.group for step in whole("x**2", start=3, lr=0.01, steps=100).steps}) == 101


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    with told_to(lambda *said: told.append(said)):
        ac.descend("x**2", start=3, lr=0.001, steps=3)
    assert told == [("iteration", done, 4) for done in (1, 2, 3, 4)]


def test_rounding_at_each_step_is_told_by_its_drift() -> None:
    calculation = load("descend")
    inputs = {"expression": to_given("x**2", calculation.operands[0])}
    found = solve(Problem(calculation, inputs, {"start": 3}), round_to=2)
    assert float(found["iteration 2/point"]) == 1.92
    assert float(found["iteration 10/point"]) == pytest.approx(0.32)
    drift = found.find("point").drift
    assert drift is not None
    assert 0 < drift < 0.01


def test_exact_numbers_stay_fractions() -> None:
    import sympy

    calculation = load("descend")
    inputs = {"expression": to_given("x**2", calculation.operands[0])}
    found = solve(Problem(calculation, inputs, {"start": 3}), exact=True)
    assert found.result.item() == 3 * sympy.Rational(4, 5) ** 10


def test_a_variable_may_be_called_as_the_loop_s_own_inputs_are() -> None:
    names = ("t", "last_first_moment", "time_x", "point")
    start = dict.fromkeys(names, 1.0)
    found = ac.descend("+".join(f"{name}**2" for name in names), start=start, optimizer="adam", flow=True, steps=3)
    assert_allclose(found.result, found.result[0])
    assert_allclose(found["iteration 1/flow"], math.exp(-0.2), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--start must be given"),
        ({"start": {"y": 1}}, "gives y, but the formula has x"),
        ({"start": 1, "steps": -1}, "--steps must be at least 0"),
        ({"start": 1, "lr": -0.1}, "--lr must be at least 0"),
        ({"start": 1, "optimizer": "sgd"}, "--optimizer must be"),
        ({"start": 1, "beta1": 2}, "--beta1"),
    ],
)
def test_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ac.descend("x**2", **options)


def test_a_descent_has_no_gradient() -> None:
    with pytest.raises(NoGradient, match="a loop"):
        ac.descend("x**2", start=1).grad()


def test_the_library_keeps_every_turn_where_it_is_asked_to() -> None:
    found = ac.descend("x**2", start=3, lr=0.1, steps=50, keep_all=True)
    assert float(found["iteration 30/point"]) == pytest.approx(3 * 0.8**30, rel=1e-12)
    assert not found.notes
    with pytest.raises(ac.AttncalcError, match="no step or output") as told:
        ac.descend("x**2", start=3, lr=0.1, steps=50)["iteration 30/point"]
    assert "keep_all=True" in told.value.hint
