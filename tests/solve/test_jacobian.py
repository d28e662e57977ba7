"""Jacobians: contracted with an upstream gradient they are the backward pass, for every sample that has one."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from attncalc.calculations import load
from attncalc.common.errors import AttncalcError, ShapeError
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.language.ops.basics import HERE
from attncalc.record.trace import Given
from attncalc.solve import asking
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

SAMPLES = sorted(
    path
    for path in (Path(__file__).parents[2] / "samples").glob("*.json")
    if json.loads(path.read_text(encoding="utf-8")).get("calculation", " ").count(" ") == 0
)


def forward_and_backward(path: Path, backward: Backward, **more: Given) -> Problem:
    document = load_document(str(path), Reading())
    return Problem(load(document.calculation), {**document.inputs, **more}, document.options, backward)


@pytest.mark.spread
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_contracted_with_an_upstream_gradient_it_is_the_backward_pass(path: Path) -> None:
    document = load_document(str(path), Reading())
    result = solve(Problem(load(document.calculation), document.inputs, document.options)).result
    upstream = np.random.default_rng(7).integers(-3, 4, result.shape).astype(float)
    try:
        slopes = solve(forward_and_backward(path, Backward(), upstream=Given(upstream)))
    except AttncalcError:
        with pytest.raises(AttncalcError):
            solve(forward_and_backward(path, Backward(jacobian=True)))
        return
    jacobian = solve(forward_and_backward(path, Backward(jacobian=True)))
    assert not any("from the loss" in step.why for step in jacobian.steps), "it has none"
    assert all(into for _, into, _ in asking.edges(jacobian))
    by_operand = {step.name.removeprefix("jacobian_"): step for step in jacobian.outputs}
    for step in slopes.outputs:
        found = by_operand.get(step.name.removeprefix("grad_"), by_operand.get("jacobian"))
        if found is None:  # the result ignores this operand
            assert step.value is not None
            assert not step.value.any()
            continue
        assert found.value is not None
        assert step.value is not None
        contracted = np.tensordot(upstream, found.value, upstream.ndim)
        np.testing.assert_allclose(contracted, step.value, rtol=1e-9, atol=1e-12)


def test_the_softmax_has_its_closed_form() -> None:
    import attncalc as ac

    p = ac.softmax([1.0, 2.0, 3.0]).result
    trace = solve(Problem(load("softmax"), {"x": Given(np.array([1.0, 2.0, 3.0]))}, {}, Backward(jacobian=True)))
    assert trace.outputs[0].formula == "softmax_i·(δ_ij − softmax_j)"
    np.testing.assert_allclose(trace.result, np.diag(p) - np.outer(p, p), atol=1e-15)


def test_what_would_be_too_large_is_refused_with_the_way_round() -> None:
    big = Given(np.ones((40, 40)))
    with pytest.raises(ShapeError, match="would have 2,560,000 entries") as refused:
        solve(Problem(load("matmul"), {"a": big, "b": big}, {}, Backward(jacobian=True)))
    assert "grad" in refused.value.hint


@pytest.mark.spread
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_no_reason_says_the_same_rule_twice(path: Path) -> None:
    with suppress(AttncalcError):  # not every one has a gradient
        said = [step.why.split("; ") for step in solve(forward_and_backward(path, Backward())).steps]
        rules = [[part.split(HERE)[0] for part in parts] for parts in said]
        assert [parts for parts in rules if len({*parts}) < len(parts)] == []
