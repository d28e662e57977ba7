"""Positions that are added: printed tables, the paper's code and T5's own buckets, laws, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from calculations.peers import PEERS
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.errors import AttncalcError, NoGradient


class TestSinusoidal:
    def test_is_the_papers_formula_column_by_column(self) -> None:
        encoding = ac.sinusoidal(n=50, d=6).result
        for p, column in ((0, 0), (1, 0), (49, 1), (7, 2), (7, 3), (31, 5)):
            angle = p / 10000 ** (2 * (column // 2) / 6)
            assert encoding[p, column] == pytest.approx((math.cos if column % 2 else math.sin)(angle), abs=1e-15)

    def test_the_exponent_goes_by_the_pair_and_not_by_the_column(self) -> None:
        assert_allclose(ac.sinusoidal(n=1, d=6)["frequencies"], [1, 10000 ** (-1 / 3), 10000 ** (-2 / 3)])

    def test_position_0_has_sines_0_and_cosines_1(self) -> None:
        assert_array_equal(ac.sinusoidal(n=1, d=6).result, [[0, 1, 0, 1, 0, 1]])

    def test_concatenated_is_interleaved_in_another_order(self) -> None:
        turns, halves = (ac.sinusoidal(n=5, d=8, layout=layout).result for layout in ("interleaved", "concatenated"))
        assert_array_equal(np.concatenate([turns[:, 0::2], turns[:, 1::2]], axis=1), halves)

    def test_start_is_a_window_on_the_same_table(self) -> None:
        assert_allclose(ac.sinusoidal(n=3, d=6, start=4).result, ac.sinusoidal(n=7, d=6).result[4:], atol=1e-15)

    @pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
    def test_a_shift_is_one_matrix(self, layout: str) -> None:
        t = ac.sinusoidal(n=4, d=6, layout=layout, properties=True, offset=3)
        assert_allclose(t["shifted"], ac.sinusoidal(n=4, d=6, layout=layout, start=3).result, atol=1e-14)
        assert_allclose(t["shift"] @ t["shift"].T, np.eye(6), atol=1e-15)

    @given(st.integers(2, 12), st.integers(1, 8), st.floats(2, 1e6))
    def test_products_depend_on_the_distance_alone(self, n: int, half: int, base: float) -> None:
        products = ac.sinusoidal(n=n, d=2 * half, base=base, properties=True)["products"]
        for distance in range(n):
            assert_allclose(np.diagonal(products, distance), products[0, distance], atol=1e-12 * half)

    def test_has_no_gradient_for_there_is_nothing_to_move(self) -> None:
        with pytest.raises(NoGradient, match="nothing that could have a gradient"):
            ac.sinusoidal(n=2, d=2).grad()


class TestAlibi:
    @pytest.mark.parametrize("heads", PEERS["alibi"])
    def test_slopes_are_those_of_the_papers_code(self, heads: str) -> None:
        assert_allclose(ac.alibi(heads=int(heads), n=1)["slopes"], PEERS["alibi"][heads], rtol=1e-6)

    def test_eight_heads_halve_from_a_half(self) -> None:
        assert_array_equal(ac.alibi(heads=8, n=1)["slopes"], [2.0**-h for h in range(1, 9)])

    def test_one_head_has_the_slope_2_to_the_minus_8(self) -> None:
        assert ac.alibi(n=2)["slopes"] == 2.0**-8

    def test_causal_hides_what_comes_later(self) -> None:
        bias = ac.alibi(heads=2, n=3, causal=True).result
        assert_array_equal(np.isneginf(bias), np.broadcast_to(~np.tri(3, dtype=bool), (2, 3, 3)))
        assert_array_equal(
            bias[0], np.where(np.tri(3, dtype=bool), -(2.0**-4) * (np.arange(3)[:, None] - np.arange(3)), -np.inf)
        )

    def test_heads_that_are_no_power_of_two_are_told(self) -> None:
        assert "no power of two" in ac.alibi(heads=6, n=1).notes[0]
        assert ac.alibi(heads=8, n=1).notes == ()


class TestT5:
    @pytest.mark.parametrize(
        "peer", PEERS["buckets"], ids=lambda p: f"{p['buckets']} to {p['max_distance']}, {p['causal']}"
    )
    def test_buckets_are_those_of_transformers(self, peer: dict[str, Any]) -> None:
        n = len(peer["values"]) // 2 + 1
        options = {name: peer[name] for name in ("buckets", "max_distance", "causal")}
        found = ac.t5_bias(n=n, m=n, **options).result
        assert_array_equal(found[0], peer["values"][n - 1 :])  # the first query: keys 0 and to the right
        assert_array_equal(found[-1], peer["values"][:n])  # the last one: keys to the left, and itself

    def test_the_logarithms_last_digit_does_not_decide(self) -> None:
        """ln(16/8)/ln(128/8) is a fourth, however it is rounded; the bucket of distance 16 begins just there."""
        assert list(ac.t5_bias(n=33, m=1).result[[15, 16, 31, 32], 0]) == [9, 10, 11, 12]

    def test_the_past_is_negative_and_the_future_has_buckets_of_its_own(self) -> None:
        t = ac.t5_bias(n=2, m=2)
        assert_array_equal(t["relative_positions"], [[0, 1], [-1, 0]])
        assert_array_equal(t.result, [[0, 17], [1, 0]])

    def test_without_a_table_the_buckets_are_the_result(self) -> None:
        assert ac.t5_bias(n=2).outputs[0].name == "buckets"

    def test_a_row_of_the_table_gets_the_gradients_of_all_its_places(self) -> None:
        t = ac.t5_bias([[1.0], [2.0], [3.0], [4.0]], n=3, max_distance=4)
        counted = np.bincount(t["buckets"].ravel(), minlength=4)
        assert_array_equal(t.grad().result, counted[:, None])


REFUSED = [
    ("sinusoidal", {"d": 4}, "--n must be given"),
    ("sinusoidal", {"n": 0, "d": 4}, "--n must be at least 1"),
    ("sinusoidal", {"n": 2, "d": 4, "base": 0}, "--base must be greater than 0"),
    ("sinusoidal", {"n": 2, "d": 5, "properties": True}, "even --d"),
    ("alibi", {"n": 2, "heads": 0}, "--heads must be at least 1"),
    ("alibi", {"heads": 2}, "--n must be given"),
    ("t5_bias", {"n": 2, "buckets": 7}, "an even number"),
    ("t5_bias", {"n": 2, "max_distance": 8}, "--max-distance must be more than 8"),
    ("t5_bias", {"n": 2, "table": [[1.0]] * 8, "buckets": 6}, "8 rows"),
]


@pytest.mark.parametrize(("name", "call", "said"), REFUSED, ids=[f"{name}: {said}" for name, _, said in REFUSED])
def test_what_makes_no_sense_is_refused(name: str, call: dict[str, Any], said: str) -> None:
    with pytest.raises(AttncalcError, match=said):
        getattr(ac, name)(**call)
