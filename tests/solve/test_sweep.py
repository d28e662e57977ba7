"""A calculation worked out elsewhere: by the same graph, with other options, operands and numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import attncalc as ac
from attncalc.record.trace import Given, Trace
from attncalc.solve.problem import Problem, problem_of
from attncalc.solve.solver import solve
from attncalc.solve.sweep import sweep

SCORES = [1.0, 2.0, 4.0]


def exactly(trace: Trace) -> Trace:
    return solve(problem_of(trace), exact=True)


@pytest.mark.parametrize("temperature", [0.5, 1, 3])
def test_again_with_another_option(temperature: float) -> None:
    there = sweep(ac.softmax(SCORES)).again(temperature=temperature).result
    grown = np.exp(np.array(SCORES) / temperature)
    assert_allclose(there, grown / grown.sum())


def test_again_with_another_operand() -> None:
    there = sweep(ac.activation([1.0], kind="sigmoid")).again(x=[0.0, 2.0])
    assert_allclose(there.result, [0.5, 1 / (1 + np.exp(-2))])


def test_exact_numbers_are_decimals_there() -> None:
    there = sweep(exactly(ac.softmax(SCORES))).again().result
    assert there.dtype == np.float64
    assert_allclose(there, ac.softmax(SCORES).result)


def test_every_turn_of_a_loop_is_kept() -> None:
    here = ac.descend("x**2", start=3, steps=40)
    there = sweep(here).again()
    assert len(here.steps) < len(there.steps)
    assert len([step for step in there.steps if step.name == "point"]) == 41


def test_a_formula_over_a_plane() -> None:
    x, y = np.meshgrid(np.linspace(-2, 2, 5), np.linspace(0, 3, 4))
    here = ac.gradient("x**2 + sin(y)*x", at={"x": 1, "y": 2})
    assert_allclose(sweep(here).over("value", {"x": x, "y": y}), x**2 + np.sin(y) * x)


def test_the_height_of_a_descent_elsewhere() -> None:
    x = np.linspace(-1, 1, 7)
    assert_allclose(sweep(ac.descend("x**4", start=1, steps=2)).over("value", {"x": x}), x**4)


def test_a_formula_without_the_number_is_the_same_everywhere() -> None:
    there = sweep(ac.derivative("5", at=1)).over("function", {"x": np.zeros(3)})
    assert there.tolist() == [5, 5, 5]


def test_what_is_not_swept_stays_as_it_was() -> None:
    trace = ac.softmax(SCORES, temperature=2)
    sweep(trace).again(temperature=9)
    assert trace.options["temperature"] == 2
    assert isinstance(trace.problem, Problem)
    assert isinstance(trace.problem.inputs["x"], Given)
