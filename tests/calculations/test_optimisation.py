"""Optimisers and schedules: PyTorch's numbers, the papers' laws, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from calculations.training import TORCH
from hypothesis import given, strategies
from numpy.testing import assert_allclose

import attncalc as ac
from attncalc.calculations.optimisation import RULES
from attncalc.errors import OptionError


@pytest.mark.parametrize("row", TORCH["optimisers"])
def test_points_are_those_of_torch_optim(row: str) -> None:
    known = TORCH["optimisers"][row]
    found = ac.optimizer(TORCH["gradients"], TORCH["start"], **known["options"])
    points = [found[f"step {t}/point"] for t in range(1, 5)]
    assert_allclose(points, known["points"], rtol=1e-13)
    assert_allclose(found.result, known["points"][-1], rtol=1e-13)


def test_a_cosine_is_that_of_torch() -> None:
    known = TORCH["schedule"]
    assert_allclose(ac.schedule(**known["options"]).result, known["lr"], rtol=1e-12, atol=1e-17)


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
    notes = " ".join(ac.optimizer([[1.0]], [0], kind=kind, momentum=0.5, beta1=0.5, beta2=0.5, eps=1e-3).notes)
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


def test_the_first_transformer_s_learning_rates() -> None:
    assert_allclose(ac.schedule(at=(1, 4000, 10000)).result, [1.747e-7, 6.988e-4, 4.419e-4], rtol=2e-4)


def test_row_i_is_step_i_from_1() -> None:
    found = ac.schedule(kind="linear", lr=1, steps=4, warmup=2)
    assert found.find("lr").labels["step"] == ("1", "2", "3", "4")
    assert found.result.tolist() == [0.5, 1, 0.5, 0]


@pytest.mark.parametrize("kind", ["noam", "cosine", "linear", "constant"])
@given(warmup=strategies.integers(1, 20), rest=strategies.integers(1, 20))
def test_a_rate_climbs_in_a_straight_line_and_never_again(kind: str, warmup: int, rest: int) -> None:
    rates = ac.schedule(kind=kind, warmup=warmup, steps=warmup + rest, lr=3).result
    assert_allclose(rates[:warmup], rates[0] * np.arange(1, warmup + 1), rtol=1e-12)
    assert (np.diff(rates[warmup - 1 :]) <= 1e-15).all()
    if kind != "noam":
        assert rates.max() == pytest.approx(3)


def test_chosen_steps_are_rows_of_the_whole() -> None:
    whole = ac.schedule(kind="cosine", steps=20, warmup=5)
    assert (
        ac.schedule(kind="cosine", steps=20, warmup=5, at=(3, 20, 7)).result.tolist()
        == whole.result[[2, 19, 6]].tolist()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--steps must be given"),
        ({"kind": "cosine", "at": (1,)}, "--steps must be given"),
        ({"at": (0,)}, "--at names step 0"),
        ({"steps": 3, "at": (4,)}, "names step 4"),
        ({"steps": 0}, "at least 1"),
        ({"steps": 3, "warmup": 0}, "--warmup must be at least 1"),
        ({"kind": "linear", "steps": 3, "warmup": 3}, "leaves no steps"),
        ({"steps": 3, "d_model": 0}, "--d-model must be at least 1"),
    ],
)
def test_schedule_refuses(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ac.schedule(**options)
