"""Norms: PyTorch's numbers, the usual slips told apart, laws, and rows without any spread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calculations.peers import PEERS
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.common.errors import DomainError, OptionError

Array = NDArray[Any]
P = PEERS["norms"]
rows = arrays(np.float64, (3, 4), elements=st.floats(-100, 100))


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm", "batchnorm"])
def test_is_what_pytorch_gives(name: str) -> None:
    shift = {} if name == "rmsnorm" else {"beta": P["beta"]}
    assert_allclose(getattr(ac, name)(P["x"], P["gamma"], eps=P["eps"], **shift).result, P[name], rtol=1e-14)


def test_epsilon_stands_under_the_root() -> None:
    t = ac.layernorm([[1.0, 2.0, 3.0, 4.0]], eps=0.1)
    assert_array_equal(t["variance"], [1.25])
    assert_allclose(t["standard_deviation"], np.sqrt([1.35]))
    assert_allclose(ac.rmsnorm([[1.0, 2.0, 3.0, 4.0]], eps=0.1)["root_mean_square"], np.sqrt([7.6]))


def test_a_vector_is_one_row_and_comes_back_as_a_vector() -> None:
    assert ac.layernorm([1.0, 2.0, 3.0]).result.shape == (3,)


def test_layernorm_is_by_token_and_batchnorm_by_feature() -> None:
    x = np.array(P["x"])
    assert_allclose(ac.layernorm(x).result, ac.batchnorm(x.T).result.T, rtol=1e-14)


def test_a_batch_of_one_is_told() -> None:
    t = ac.batchnorm([[1.0, 2.0]])
    assert_array_equal(t.result, [[0, 0]])
    assert "one sample" in t.notes[0]


@pytest.mark.parametrize("entry", [0.1, 1 / 3, 1e16, 1e-300])
def test_a_constant_row_has_no_spread(entry: float) -> None:
    assert_array_equal(ac.layernorm([[entry] * 3]).result, [[0, 0, 0]])
    with pytest.raises(DomainError, match="divides by 0 there"):
        ac.layernorm([[entry] * 3], eps=0)


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm", "batchnorm"])
@pytest.mark.parametrize("power", [-600, -531, -510, 510, 600], ids="2^{}".format)
def test_without_epsilon_squares_that_overflow_or_vanish_cost_no_digits(name: str, power: int) -> None:
    x = np.array([[1.0, 2.0, 4.0, -3.0], [0.5, 7.0, 1.0, 2.0], [3.0, 0.25, -1.0, 5.0]])
    scaled = getattr(ac, name)(x * 2.0**power, eps=0)
    assert_allclose(scaled.result, getattr(ac, name)(x, eps=0).result, rtol=1e-15)
    assert all("is right" in warning for warning in scaled.warnings)


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm", "batchnorm"])
@pytest.mark.parametrize("size", [1e155, 1e200, 1e300], ids=str)
def test_a_gradient_that_would_vanish_on_its_way_back_is_refused(name: str, size: float) -> None:
    x = np.array([[1.0, 2.0, 4.0, -3.0], [0.5, 7.0, 1.0, 2.0], [3.0, 0.25, -1.0, 5.0]])
    with pytest.raises(DomainError, match="what comes back through it vanishes"):
        getattr(ac, name)(x * size, eps=0).grad(x**2)


def test_a_large_offset_costs_no_digits() -> None:
    assert_allclose(ac.layernorm([[1e8 + 1, 1e8 + 2, 1e8 + 3, 1e8 + 4]])["variance"], [1.25])


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm", "batchnorm"])
def test_epsilon_below_0_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match="--eps must be at least 0"):
        getattr(ac, name)([[1.0, 2.0]], eps=-1)


class TestLaws:
    @given(rows)
    def test_layernorm_gives_mean_0_and_variance_1(self, x: Array) -> None:
        t = ac.layernorm(x, eps=1e-3)
        assert_allclose(t["normalized"].mean(-1), 0, atol=1e-12)
        assert_allclose(t["normalized"].var(-1), t["variance"] / (t["variance"] + 1e-3), atol=1e-9)

    @given(rows, st.floats(-50, 50))
    def test_layernorm_ignores_a_shift_of_all_features(self, x: Array, shift: float) -> None:
        assert_allclose(ac.layernorm(x + shift, eps=0.1).result, ac.layernorm(x, eps=0.1).result, atol=1e-10)

    @given(rows)
    def test_rmsnorm_is_layernorm_where_the_mean_is_0(self, x: Array) -> None:
        centered = x - x.mean(-1, keepdims=True)
        assert_allclose(ac.rmsnorm(centered, eps=0.1).result, ac.layernorm(centered, eps=0.1).result, atol=1e-10)

    @pytest.mark.thorough
    @given(rows)
    def test_the_gradient_of_layernorm_is_at_right_angles_to_a_shift(self, x: Array) -> None:
        found = ac.layernorm(x, eps=0.1).grad(np.arange(12.0).reshape(3, 4))
        assert_allclose(found["grad_x"].sum(-1), 0, atol=1e-10)
