"""Random vectors: the same seed gives the same numbers, and the numbers are what theory says within their spread."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import NoGradient, NotExact, OptionError
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]

TRIALS = 4000
SLACK = 5 / math.sqrt(2 * TRIALS)  # five standard errors of a variance, relative


class TestConcentration:
    def test_the_seed_decides(self) -> None:
        one, same, other = (ac.concentration(n=(2, 8), trials=50, seed=seed) for seed in (1, 1, 2))
        for name in one:
            assert_array_equal(one[name], same[name])
            assert (one[name] != other[name]).all()

    def test_a_dimension_s_numbers_do_not_depend_on_the_others(self) -> None:
        assert_array_equal(
            ac.concentration(n=(8,), trials=50)["spread"], ac.concentration(n=(2, 8), trials=50)["spread"][1:]
        )

    @pytest.mark.thorough
    def test_cosines_gather_at_zero(self) -> None:
        n = np.array([2, 8, 32, 128])
        t = ac.concentration(n=tuple(n.tolist()), trials=TRIALS)
        assert (np.abs(t["mean_cosine"]) < 5 / np.sqrt(n * TRIALS)).all()
        assert_allclose(t["spread"], 1 / np.sqrt(n), rtol=SLACK)

    def test_distances_grow_alike(self) -> None:
        ratio = ac.concentration(n=(2, 8, 32, 128, 512), trials=200).result
        assert (np.diff(ratio) < 0).all()
        assert 1 < ratio[-1] < 1.5

    def test_columns_are_named_by_their_dimension(self) -> None:
        t = ac.concentration(n=(2, 8), trials=5)
        assert t.find("spread").labels["n"] == ("2", "8")
        assert "seed 0" in t.notes[0]


class TestScaling:
    def test_the_seed_decides(self) -> None:
        one, same, other = (ac.scaling(dk=(4, 16), trials=50, seed=seed) for seed in (1, 1, 2))
        for name in one:
            assert_array_equal(one[name], same[name])
            assert name == "predicted_variance" or (one[name] != other[name]).all()

    @pytest.mark.thorough
    @pytest.mark.spread
    @pytest.mark.parametrize("sigma", [0.5, 1, 2])
    def test_the_variance_is_what_the_rule_says(self, sigma: float) -> None:
        t = ac.scaling(dk=(4, 16, 64), trials=TRIALS, sigma=sigma)
        assert_allclose(t["predicted_variance"], np.array([4, 16, 64]) * sigma**4, rtol=1e-15)
        assert_allclose(t["sampled_variance"], t["predicted_variance"], rtol=2 * SLACK)

    @pytest.mark.release
    def test_unscaled_one_key_takes_nearly_all(self) -> None:
        t = ac.scaling(dk=(4, 64, 1024))
        assert (np.diff(t["max_weight_unscaled"]) > 0).all()
        assert t["max_weight_unscaled"][-1] > 0.95
        assert np.ptp(t["max_weight_scaled"]) < 0.05
        assert t["max_weight_scaled"].max() < 0.5

    def test_with_one_entry_scaling_changes_nothing(self) -> None:
        t = ac.scaling(dk=(1,), trials=20)
        assert_array_equal(t["max_weight_scaled"], t["max_weight_unscaled"])


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "no dimension": ("concentration", {"n": (0, 2)}, "--n takes dimensions of at least 1"),
    "one twice": ("scaling", {"dk": (4, 4)}, "--dk names a dimension twice"),
    "no trial": ("concentration", {"trials": 0}, "--trials must be at least 1"),
    "a seed below 0": ("scaling", {"seed": -1}, "--seed must be at least 0"),
    "no width": ("scaling", {"sigma": 0}, "--sigma must be greater than 0"),
    "more than memory holds": ("concentration", {"n": (10**6,), "trials": 10**6}, "take fewer --trials|are more than"),
}


@pytest.mark.parametrize(("name", "given_", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(name: str, given_: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        getattr(ac, name)(**given_)


def test_what_is_drawn_has_no_closed_form() -> None:
    with pytest.raises(NotExact, match="drawn at random"):
        solve(Problem(load("concentration"), {}, {"n": (2,), "trials": 5}), exact=True)


def test_there_is_nothing_to_have_a_gradient() -> None:
    with pytest.raises(NoGradient, match="given nothing that could have a gradient"):
        ac.concentration(n=(2,), trials=5).grad()
