"""Learning-rate schedules: PyTorch's and the paper's numbers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from calculations.training import TORCH
from hypothesis import given, strategies
from numpy.testing import assert_allclose

import attncalc as ac
from attncalc.common.errors import OptionError


def test_a_cosine_is_that_of_torch() -> None:
    known = TORCH["schedule"]
    assert_allclose(ac.schedule(**known["options"]).result, known["lr"], rtol=1e-12, atol=1e-17)


def test_the_first_transformer_s_learning_rates() -> None:
    assert_allclose(ac.schedule(at=(1, 4000, 10000)).result, [1.747e-7, 6.988e-4, 4.419e-4], rtol=2e-4)


def test_row_i_is_step_i_from_1() -> None:
    found = ac.schedule(kind="linear", lr=1, steps=4, warmup=2)
    assert found.find("lr").labels["step"] == ("1", "2", "3", "4")
    assert found.result.tolist() == [0.5, 1, 0.5, 0]


@pytest.mark.thorough
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
