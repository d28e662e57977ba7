"""Sinusoidal positions: the paper's formula, laws, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.common.errors import AttncalcError, NoGradient


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

    @pytest.mark.thorough
    @given(st.integers(2, 12), st.integers(1, 8), st.floats(2, 1e6))
    def test_products_depend_on_the_distance_alone(self, n: int, half: int, base: float) -> None:
        products = ac.sinusoidal(n=n, d=2 * half, base=base, properties=True)["products"]
        for distance in range(n):
            assert_allclose(np.diagonal(products, distance), products[0, distance], atol=1e-12 * half)

    def test_has_no_gradient_for_there_is_nothing_to_move(self) -> None:
        with pytest.raises(NoGradient, match="nothing that could have a gradient"):
            ac.sinusoidal(n=2, d=2).grad()


REFUSED = [
    ("sinusoidal", {"d": 4}, "--n must be given"),
    ("sinusoidal", {"n": 0, "d": 4}, "--n must be at least 1"),
    ("sinusoidal", {"n": 2, "d": 4, "base": 0}, "--base must be greater than 0"),
    ("sinusoidal", {"n": 2, "d": 5, "properties": True}, "even --d"),
]


@pytest.mark.parametrize(("name", "call", "said"), REFUSED, ids=[f"{name}: {said}" for name, _, said in REFUSED])
def test_what_makes_no_sense_is_refused(name: str, call: dict[str, Any], said: str) -> None:
    with pytest.raises(AttncalcError, match=said):
        getattr(ac, name)(**call)
