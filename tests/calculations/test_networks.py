"""Networks that learn: PyTorch's numbers, formulas as the books have them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calculations.training import TORCH
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import DomainError, OptionError, ShapeError
from attncalc.inputs.python_values import to_given
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
X, Y = np.array([[1.0, 2], [3, 0], [0, 1], [2, 2]]), np.array([[5.0], [4], [2], [7]])
W, B = np.array([[0.5], [1.0]]), np.array([0.0])
NETWORK = TORCH["networks"]
GIVEN = {name: NETWORK[name] for name in ("x", "w1", "b1", "w2", "b2")}


@pytest.mark.thorough
@pytest.mark.parametrize("case", NETWORK["cases"], ids=lambda case: " ".join(map(str, case["options"].values())))
def test_a_network_learns_as_torch_s_does(case: dict[str, Any]) -> None:
    found = ac.mlp(**GIVEN, y=case["y"], **case["options"])
    for name, value in case["known"].items():
        assert_allclose(found[name], value, rtol=1e-11, atol=1e-14, err_msg=name)


@pytest.mark.thorough
def test_regression_finds_the_line_of_least_squares() -> None:
    found = ac.linear_regression(X, Y, W, B, lr=0.1, steps=5000)
    known = np.linalg.lstsq(np.hstack([X, np.ones((4, 1))]), Y, rcond=None)[0]
    assert_allclose(np.append(found["new_w"], found["new_b"]), known.ravel(), rtol=1e-8)


def test_the_gradients_are_those_of_the_declared_loss() -> None:
    errors = X @ W + B - Y
    found = ac.linear_regression(X, Y, W, B)
    assert_allclose(found["grad_w"], 2 / 4 * X.T @ errors)
    assert_allclose(found["grad_b"], 2 / 4 * errors.sum(axis=0))
    half = ac.linear_regression(X, Y, W, B, loss="half-mse")
    assert_allclose(2 * half["grad_w"], found["grad_w"])
    assert_allclose(2 * half.result, found.result)


def test_the_formulas_are_those_of_the_books() -> None:
    found = ac.linear_regression(X, Y, W, B)
    assert found.find("grad_w").formula == "2·Xᵀ·errors / N"
    assert found.find("grad_b").formula == "2·Σ_N errors / N"
    net = ac.mlp(**GIVEN, y=[[1, 0], [0, 1], [1, 1]], activation="sigmoid")
    assert [net.find(name).formula for name in ("delta2", "grad_w2", "grad_b2", "delta1", "grad_w1")] == [
        "2·(Z_2 − Y) / N",
        "A_1ᵀ·δ_2",
        "Σ_N δ_2",
        "(δ_2·W_2ᵀ) ⊙ A_1 ⊙ (1 − A_1)",
        "Xᵀ·δ_1",
    ]
    classes = ac.mlp(**GIVEN, y=[0, 1, 1], loss="cross-entropy")
    assert "y read as the numbers of the right classes, counted from 0" in classes.notes
    assert classes.find("delta2").formula == "(probabilities − onehot(Y)) / N"


@pytest.mark.parametrize("classes", [False, True])
def test_what_comes_out_lies_along_the_last_layers_axis(classes: bool) -> None:
    target = {"y": [0, 1, 1], "loss": "cross-entropy"} if classes else {"y": [[1, 0], [0, 1], [1, 1]]}
    net = ac.mlp(**GIVEN, **target)
    assert {axis for step in (*net.steps, *net.grad().steps) for axis in step.axes} == {"N", "d", "h1", "h2"}


def test_the_error_goes_back_through_the_weights_of_the_forward_pass() -> None:
    net = ac.mlp(**GIVEN, y=[[1, 0], [0, 1], [1, 1]], activation="sigmoid", lr=0.5)
    slope = net["a1"] * (1 - net["a1"])
    assert_allclose(net["delta1"], net["delta2"] @ np.array(GIVEN["w2"]).T * slope)
    assert not np.allclose(net["delta1"], net["delta2"] @ net["new_w2"].T * slope, rtol=1e-2)


def test_what_holds_a_gradient_says_of_what() -> None:
    net = ac.mlp(**GIVEN, y=[[1, 0], [0, 1], [1, 1]])
    assert {step.name: step.gradient_of for step in net.steps if step.gradient_of} == {
        "delta2": "z2",
        "grad_w2": "w2",
        "grad_b2": "b2",
        "delta1": "z1",
        "grad_w1": "w1",
        "grad_b1": "b1",
    }


@pytest.mark.parametrize("steps", [1, 3])
def test_the_backward_pass_stops_at_the_loss(steps: int) -> None:
    told = ac.mlp(**GIVEN, y=[[1, 0], [0, 1], [1, 1]], steps=steps).grad().notes
    assert told == (("the loss is that of the first step, before any update",) if steps > 1 else ())
    net = ac.mlp(**GIVEN, y=[[1, 0], [0, 1], [1, 1]], activation="tanh", steps=steps)
    found = net.grad(gradcheck=True)
    names = [step.name for step in found.steps]
    assert names[:4] == ["z1", "a1", "z2", "loss"]
    assert not any(name.startswith("new_") for name in names)
    assert all(step.check is not None and step.check.agrees for step in found.outputs)
    one = ac.mlp(**GIVEN, y=[[1, 0], [0, 1], [1, 1]], activation="tanh")
    assert_allclose(found["grad_w1"], one["grad_w1"], rtol=1e-12)


def test_several_steps_are_single_steps_one_after_the_other() -> None:
    found = ac.linear_regression(X, Y, W, B, lr=0.05, steps=3)
    w, b = W, B
    last = 0.0
    for k in range(1, 4):
        one = ac.linear_regression(X, Y, w, b, lr=0.05)
        last = float(one.result)
        for name in ("loss", "grad_w", "new_w", "new_b"):
            assert_allclose(found[f"step {k}/{name}"], one[name], rtol=1e-13)
        w, b = one["new_w"], one["new_b"]
    assert float(found.result) == pytest.approx(last, rel=1e-13)


def test_a_relu_network_is_exact() -> None:
    import sympy

    calculation = load("mlp")
    given = {"x": [[1, 2], [-1, 1]], "y": [[1], [0]], "w1": [[1, -1], [2, 1]], "w2": [[0.5], [2]]}
    inputs = {o.name: to_given(given[o.name], o) for o in calculation.operands if o.name in given}
    found = solve(Problem(calculation, inputs, {"lr": 0.1}), exact=True)
    floats = ac.mlp(**given, lr=0.1)
    assert found.result.item() == sympy.Rational(65, 4)
    for step in floats.outputs:
        assert_allclose(found[step.name].astype(float), step.value, rtol=1e-14)


def test_it_says_that_training_diverges() -> None:
    found = ac.linear_regression(X, Y, W, B, lr=10, steps=100_000)
    assert np.isfinite(found.result)
    assert np.isfinite(found["new_w"]).all()
    assert "diverges" in found.warnings[0]


@pytest.mark.parametrize("loss", ["mse", "cross-entropy"])
def test_one_table_of_targets_serves_a_batch(loss: str) -> None:
    rng = np.random.default_rng(0)
    x, w1, w2 = (rng.normal(size=shape) for shape in [(2, 4, 3), (3, 5), (5, 2)])
    y = np.array([[0.25, 0.75], [1, 0], [0.5, 0.5], [0, 1]])
    found = ac.mlp(x, y, w1, None, w2, loss=loss)
    alone = [ac.mlp(one, y, w1, None, w2, loss=loss) for one in x]
    assert_allclose(found.result, [each.result for each in alone], rtol=1e-14)
    assert_allclose(found["grad_w2"], sum(each["grad_w2"] for each in alone), rtol=1e-13)


def test_one_number_a_sample_is_a_column() -> None:
    column, row = ([[1.0], [0], [1]], [1.0, 0, 1])
    given = GIVEN | {"w2": [[1.0], [0.3]], "b2": [0.0]}
    assert_allclose(ac.mlp(**given, y=column).result, ac.mlp(**given, y=row).result)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"y": [1, 0, 1]}, ShapeError, "one number for each sample, but 2 come out"),
        ({"y": [[1], [0], [1]]}, ShapeError, "cannot form"),
        ({"y": [[1, 0], [0, 1]]}, ShapeError, "cannot form"),
        ({"w2": None, "b2": None}, OptionError, "w2 is missing"),
        ({"w4": [[1.0]]}, OptionError, "w3 is missing"),
        ({"b3": [1.0]}, OptionError, "b3 is given, but w3 is not"),
        ({"steps": 0}, OptionError, "--steps must be at least 1"),
        ({"activation": "swiglu"}, OptionError, "--activation must be"),
        ({"y": [0, 1, 2], "loss": "cross-entropy"}, DomainError, "not one of the 2 positions"),
        ({"y": [[0.5, 0.6], [1, 0], [0, 1]], "loss": "cross-entropy"}, DomainError, "sum to 1"),
    ],
)
def test_mlp_refuses(changed: dict[str, Any], error: type[Exception], message: str) -> None:
    given = GIVEN | {"y": [[1, 0], [0, 1], [1, 1]]} | changed
    with pytest.raises(error, match=message):
        ac.mlp(**{name: value for name, value in given.items() if value is not None})
