"""Positions that are added to scores: the paper's code, T5's own buckets, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calculations.peers import PEERS
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.common.errors import AttncalcError


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
