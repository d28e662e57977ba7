"""Softmax and its logarithm: shares that sum to 1, at the ends of the range as well, and what has none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.common.errors import AttncalcError, DomainError, OptionError, ShapeError

Array = NDArray[Any]
few = settings(max_examples=30)
INF = math.inf
scores = arrays(float, st.integers(1, 6), elements=st.floats(-700, 700))


@pytest.mark.parametrize(
    ("x", "shares"),
    [
        pytest.param([0, 0], [0.5, 0.5], id="equal"),
        pytest.param([1000, 1000], [0.5, 0.5], id="a thousand"),
        pytest.param([-1000, -1001], [1 / (1 + math.exp(-1)), 1 / (1 + math.e)], id="minus a thousand"),
        pytest.param([1e308, 1e308], [0.5, 0.5], id="the largest numbers"),
        pytest.param([1e308, -1e308], [1, 0], id="both ends"),
        pytest.param([-1e308, -1e308, -1e308], [1 / 3] * 3, id="the smallest numbers"),
        pytest.param([0, -INF, 0], [0.5, 0, 0.5], id="a masked score"),
        pytest.param([-INF, 3], [0, 1], id="all but one masked"),
        pytest.param([-INF, -1e308], [0, 1], id="masked beside the smallest"),
        pytest.param([5], [1], id="one alone"),
    ],
)
def test_shares_are_right_wherever_scores_are(x: list[float], shares: list[float]) -> None:
    assert_allclose(ac.softmax(x).result, shares, rtol=1e-15, atol=0)
    with np.errstate(divide="ignore"):
        logarithms = np.log(shares)
    if max(x) - min(x) < 1e308:
        assert_allclose(ac.log_softmax(x).result, logarithms, rtol=1e-14, atol=1e-300)


def test_the_logarithm_keeps_what_the_share_cannot_hold() -> None:
    t = ac.log_softmax([0, -1000])
    assert_array_equal(t.result, [0, -1000])
    assert ac.softmax([0, -1000]).result[1] == 0


def test_shares_of_a_hundred_million_keep_their_digits() -> None:
    found = ac.log_softmax([1e8, 1e8 + 1]).result
    assert_allclose(found, [-math.log1p(math.e), -math.log1p(math.exp(-1))], rtol=1e-7)


def test_float32_stays_float32_at_its_own_ends() -> None:
    t = ac.softmax([3e38, -3e38, 0], dtype="float32")
    assert t.result.dtype == np.float32
    assert_array_equal(t.result, [1, 0, 0])


@pytest.mark.parametrize(
    ("axis", "sums"), [(-1, (2, 3)), (2, (2, 3)), (1, (2, 4)), (-2, (2, 4)), (0, (3, 4)), (-3, (3, 4))], ids=str
)
def test_shares_sum_to_1_along_the_axis_that_is_said(axis: int, sums: tuple[int, int]) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    t = ac.softmax(x, axis=axis)
    assert_allclose(t.result.sum(axis=axis), np.ones(sums))
    assert t["sum"].shape == sums
    assert_allclose(ac.log_softmax(x, axis=axis).result, np.log(t.result), rtol=1e-12)


def test_a_divergence_is_infinite_only_where_q_is_0() -> None:
    assert ac.kl([0.6, 0.4], [1, 0]).result == np.inf
    assert float(ac.kl([0.6, 0.4], [1, 1e-300]).result) == pytest.approx(275.637199492, rel=1e-11)
    with pytest.raises(DomainError, match=r"p/q overflows: q\[1\] = 4.002e-321 is not 0, but too small"):
        ac.kl([[0.6, 0.4], [1, 0]], [1, 4e-321])


class TestLaws:
    @pytest.mark.thorough
    @few
    @given(scores)
    def test_rows_sum_to_1(self, x: Array) -> None:
        shares = ac.softmax(x).result
        assert (shares >= 0).all()
        assert shares.sum() == pytest.approx(1, rel=4e-16 * x.size)

    @pytest.mark.thorough
    @few
    @given(scores, st.integers(-(2**20), 2**20))
    def test_a_shift_changes_nothing(self, x: Array, shift: int) -> None:
        whole = np.round(x)
        assert_array_equal(ac.softmax(whole + shift).result, ac.softmax(whole).result)

    @pytest.mark.thorough
    @few
    @given(scores, st.floats(0.1, 10))
    def test_a_temperature_divides(self, x: Array, t: float) -> None:
        divided = x / t  # each quotient is rounded, and so is the difference of two of them, which is an exponent
        off = 2 * np.finfo(float).eps * (10 + np.abs(divided).max())
        assert_allclose(ac.softmax(x, temperature=t).result, ac.softmax(divided).result, rtol=off, atol=1e-300)

    @pytest.mark.thorough
    @few
    @given(scores)
    def test_the_order_stays(self, x: Array) -> None:
        assert (np.diff(ac.softmax(np.sort(x)).result) >= 0).all()

    @pytest.mark.thorough
    @few
    @given(scores)
    def test_the_logarithm_is_the_logarithm(self, x: Array) -> None:
        assert_allclose(np.exp(ac.log_softmax(x).result), ac.softmax(x).result, rtol=1e-12, atol=1e-300)

    @pytest.mark.thorough
    @few
    @given(scores.filter(lambda x: x.size > 1))
    def test_the_gradient_of_a_row_sums_to_0(self, x: Array) -> None:
        upstream = np.linspace(-1, 1, x.size)
        assert ac.softmax(x).grad(upstream).result.sum() == pytest.approx(0, abs=1e-14)

    def test_heat_flattens_and_cold_chooses(self) -> None:
        x = [1.0, 2, 3]
        assert_allclose(ac.softmax(x, temperature=1e6).result, [1 / 3] * 3, atol=1e-6)
        assert_allclose(ac.softmax(x, temperature=1e-3).result, [0, 0, 1], atol=1e-12)


def test_ones_upstream_give_a_gradient_of_0_and_a_note_why() -> None:
    t = ac.softmax([1, 2, 3]).grad()
    assert_allclose(t.result, [0, 0, 0], atol=1e-16)
    assert "sums to 1" in t.notes[-1]
    assert "--upstream" in t.notes[-1]
    assert not ac.softmax([1, 2, 3]).grad([1, 0, 0]).notes


@pytest.mark.parametrize("calculation", [ac.softmax, ac.log_softmax], ids=["softmax", "log-softmax"])
@pytest.mark.parametrize(
    ("x", "said"),
    [
        pytest.param([-INF, -INF], "x is −∞ throughout", id="a vector"),
        pytest.param([[1, 2], [-INF, -INF]], r"row 1 of x \(counted from 0\) is −∞ throughout", id="a row"),
        pytest.param([[[1, 2], [0, 0]], [[-INF, -INF], [1, 1]]], "row 1,0 of x", id="a row of a batch"),
    ],
)
def test_a_row_that_is_masked_throughout_is_an_error_that_names_it(calculation: Any, x: Any, said: str) -> None:
    with pytest.raises(DomainError, match=said):
        calculation(x)


def test_along_another_axis_it_is_a_column() -> None:
    x = [[1, -INF], [2, -INF]]
    with pytest.raises(DomainError, match="−∞ throughout"):
        ac.softmax(x, axis=0)
    assert_allclose(ac.softmax([[1, -INF], [-INF, 2], [1, 1]], axis=0).result.sum(axis=0), [1, 1])
    assert_allclose(ac.softmax([[-INF, -INF], [1, 2]], axis=0).result, [[0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        pytest.param(lambda: ac.softmax([1, INF]), AttncalcError, "x|∞|inf", id="infinite"),
        pytest.param(lambda: ac.softmax([1, math.nan]), AttncalcError, "x|nan|NaN", id="no number"),
        pytest.param(lambda: ac.softmax([1, 2], axis=1), ShapeError, "there is no axis 1: x has 1", id="an axis"),
        pytest.param(lambda: ac.softmax([1, 2], axis=-2), ShapeError, "there is no axis -2", id="an axis backwards"),
        pytest.param(lambda: ac.softmax([1], temperature=0), OptionError, "--temperature must be greater", id="cold"),
        pytest.param(
            lambda: ac.softmax([1], temperature=-1), OptionError, "--temperature must be greater", id="colder"
        ),
        pytest.param(lambda: ac.softmax([]), AttncalcError, "empty", id="nothing"),
    ],
)
def test_what_has_no_answer_is_refused(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_an_infinite_gradient_is_told_with_its_place() -> None:
    trace = ac.kl([0.5, 0.5, 0], [0.25, 0.25, 0.5]).grad()
    assert trace["grad_p"][2] == -np.inf
    assert trace.notes == ("grad_p[2] is −∞: the slope grows without bound there",)
    assert ac.kl([0.5, 0.5], [0.25, 0.75]).grad().notes == ()


@pytest.mark.parametrize(
    "trace",
    [ac.kl([0.5, 0.5], [0, 1]), ac.perplexity([0.5, 0]), ac.cross_entropy([[0, -np.inf]], [1])],
    ids=lambda trace: trace.calculation,
)
def test_an_infinite_result_is_told_once_and_is_no_overflow(trace: ac.Trace) -> None:
    assert trace.result == np.inf
    assert len(trace.warnings) == 1
    assert "infinite" in trace.warnings[0]
