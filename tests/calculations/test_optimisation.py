"""Optimisers: PyTorch's numbers, the papers' laws, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from calculations.training import TORCH
from hypothesis import given, strategies
from numpy.testing import assert_allclose

import attncalc as ac
from attncalc.calculations.optimisation import RULES
from attncalc.common.errors import OptionError, ShapeError


@pytest.mark.parametrize("row", TORCH["optimisers"])
def test_points_are_those_of_torch_optim(row: str) -> None:
    known = TORCH["optimisers"][row]
    found = ac.optimizer(TORCH["gradients"], TORCH["start"], **known["options"])
    points = [found[f"step {t}/point"] for t in range(1, 5)]
    assert_allclose(points, known["points"], rtol=1e-13)
    assert_allclose(found.result, known["points"][-1], rtol=1e-13)


@pytest.mark.thorough
@given(strategies.lists(strategies.floats(0.1, 10), min_size=1, max_size=5), strategies.floats(0.01, 100))
def test_without_epsilon_adam_does_not_feel_the_scale_of_the_gradients(gradients: list[float], scale: float) -> None:
    column = np.array(gradients)[:, None]
    one, other = (ac.optimizer(factor * column, [1.0], lr=0.1, eps=0) for factor in (1, scale))
    assert_allclose(one.result, other.result, rtol=1e-9)


@pytest.mark.parametrize("kind", ["adam", "adamw", "rmsprop", "adagrad"])
def test_the_first_step_is_against_the_sign(kind: str) -> None:
    """Adam's is of the length lr, whatever the gradient: the correction takes away that the moments start at 0."""
    found = ac.optimizer([[3.0, -0.5]], [0, 0], kind=kind, lr=0.1, eps=0)
    assert np.sign(found.result).tolist() == [-1, 1]
    if kind in ("adam", "adamw"):
        assert_allclose(found.result, [-0.1, 0.1], rtol=1e-12)


def test_epsilon_stands_outside_the_root_and_after_the_correction() -> None:
    assert float(ac.optimizer([[0.5]], [1], lr=0.5, eps=0.2)["update"][0]) == pytest.approx(-0.5 * 0.5 / (0.5 + 0.2))


def test_weight_decay_is_in_the_gradient_except_in_adamw() -> None:
    adam, adamw = (ac.optimizer([[0.5]], [4], kind=kind, lr=0.1, weight_decay=0.2) for kind in ("adam", "adamw"))
    assert_allclose(adam["decayed_gradient"], [0.5 + 0.2 * 4])
    assert_allclose(adamw.result - ac.optimizer([[0.5]], [4], kind="adam", lr=0.1).result, [-0.1 * 0.2 * 4])


@pytest.mark.parametrize("kind", RULES)
def test_a_parameter_that_an_optimiser_lacks_is_named(kind: str) -> None:
    gradients, start = ([[[1.0]]], [[0]]) if kind == "muon" else ([[1.0]], [0])
    notes = " ".join(ac.optimizer(gradients, start, kind=kind, momentum=0.5, beta1=0.5, beta2=0.5, eps=1e-3).notes)
    for name in ("momentum", "beta1", "beta2", "eps"):
        assert (f"--{name}" in notes) == (name not in RULES[kind].uses)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1}, "--lr must be at least 0"),
        ({"beta1": 1}, "--beta1 must be from 0 up to"),
        ({"beta2": -0.1}, "--beta2 must be from 0 up to"),
        ({"momentum": 1.5}, "--momentum must be from 0 up to"),
        ({"eps": -1}, "--eps must be at least 0"),
        ({"weight_decay": -1}, "--weight-decay must be at least 0"),
        ({"kind": "sgd"}, "--kind must be"),
    ],
)
def test_optimizer_refuses(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ac.optimizer([[1.0]], [0], **options)


def test_only_muon_takes_a_matrix_as_a_whole() -> None:
    rows = [[3.0, 0.0], [0.0, 1.0]]
    assert ac.optimizer([rows], rows, kind="muon").inputs["gradients"].axes == ("t", "r", "k")
    assert ac.optimizer([rows], [0, 0]).inputs["gradients"].axes[-2:] == ("t", "n")  # a batch, as of any operand
    with pytest.raises(ShapeError, match="gradients is a matrix, but an array is needed"):
        ac.optimizer(rows, [0, 0], kind="muon")
    with pytest.raises(OptionError, match="--optimizer must be"):
        ac.descend("x**2", start=1, optimizer="muon")
