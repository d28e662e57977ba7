"""Statistics: published examples, what stands at the edge of the definitions, what is refused, and laws."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError, DomainError, NoGradient, NotExact
from attncalc.record.trace import Given
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
few = settings(max_examples=30)


@st.composite
def distributions(draw: st.DrawFn, size: int = 4, *, positive: bool = False) -> Array:
    """Shares that sum to 1, some of them 0 unless all must be positive."""
    parts = draw(st.lists(st.integers(1 if positive else 0, 1000), min_size=size, max_size=size))
    assume(sum(parts))
    return np.array(parts) / sum(parts)


class TestExpectation:
    def test_mean_variance_and_deviation(self) -> None:
        t = ac.expectation([1, 2, 4, 9])
        assert [float(t[name]) for name in ("mean", "variance")] == [4, 9.5]
        assert_array_equal(t["squares"], [9, 4, 0, 25])
        assert float(t["standard_deviation"]) == pytest.approx(3.0822, abs=5e-5)

    def test_a_sample_divides_by_one_less(self) -> None:
        t = ac.expectation([1, 2, 4, 9], sample=True)
        assert float(t["variance"]) == pytest.approx(38 / 3, rel=1e-15)
        assert "n − 1" in t.find("variance").formula
        assert "n − 1" in t.find("variance").why

    def test_weighs_by_probabilities(self) -> None:
        t = ac.expectation([0, 10, 100], [0.9, 0.09, 0.01])
        assert_allclose([float(t["mean"]), float(t["variance"])], [1.9, 9 + 100 - 1.9**2], rtol=1e-14)

    @pytest.mark.parametrize("offset", [1e8, 1e12])
    def test_a_large_mean_does_not_drown_the_variance(self, offset: float) -> None:
        """E[x²] − E[x]² would be 2.0 and 0.0 here."""
        assert float(ac.expectation(offset + np.array([1, 2, 3, 4]))["variance"]) == 1.25

    def test_is_the_first_output(self) -> None:
        assert [step.name for step in ac.expectation([1, 2]).outputs] == ["mean", "variance", "standard_deviation"]

    def test_several_distributions_of_the_same_values(self) -> None:
        values, probabilities = [0.0, 10, 100], [[0.9, 0.09, 0.01], [0.5, 0.25, 0.25]]
        found = ac.expectation(values, probabilities)
        for i, own in enumerate(probabilities):
            for name in ("mean", "variance", "standard_deviation"):
                assert_allclose(found[name][i], ac.expectation(values, own)[name], rtol=1e-15)

    def test_a_slope_of_the_mean(self) -> None:
        found = ac.expectation([1.0, 2, 4], [0.5, 0.25, 0.25]).grad()
        assert_array_equal(found["grad_values"], [0.5, 0.25, 0.25])
        assert_array_equal(found["grad_probabilities"], [1, 2, 4])

    @pytest.mark.thorough
    @few
    @given(st.lists(st.floats(-100, 100), min_size=2, max_size=6), st.floats(-10, 10), st.floats(-100, 100))
    def test_stretching_and_shifting(self, values: list[float], stretch: float, shift: float) -> None:
        one, other = ac.expectation(values), ac.expectation(stretch * np.array(values) + shift)
        assert_allclose(other["mean"], stretch * one["mean"] + shift, atol=1e-10)
        assert_allclose(other["variance"], stretch**2 * one["variance"], rtol=1e-8, atol=1e-8)


class TestEntropy:
    @pytest.mark.parametrize(
        ("p", "base", "expected"),
        [
            ([0.5, 0.25, 0.125, 0.125], 2, 1.75),  # Cover and Thomas, example 2.1.1
            ([0.5, 0.5], 2, 1),
            ([0.1] * 10, 10, 1),
            ([1, 0, 0], "e", 0),
            ([0.25] * 4, "e", math.log(4)),
        ],
        ids=str,
    )
    def test_published(self, p: list[float], base: Any, expected: float) -> None:
        assert float(ac.entropy(p, base=base).result) == pytest.approx(expected, rel=1e-15)

    def test_nothing_times_minus_infinity_is_nothing(self) -> None:
        t = ac.entropy([0.5, 0.5, 0], base=2)
        assert_array_equal(t["logs"], [-1, -1, -np.inf])
        assert_array_equal(t["terms"], [-0.5, -0.5, 0])
        assert float(t.result) == 1
        assert not t.warnings

    def test_certainty_is_zero_and_not_minus_zero(self) -> None:
        assert not np.signbit(ac.entropy([1, 0]).result)

    def test_its_slope(self) -> None:
        found = ac.entropy([0.5, 0.25, 0.25], base=2).grad(gradcheck=True)
        assert_allclose(found.result, -np.log2([0.5, 0.25, 0.25]) - 1 / math.log(2), rtol=1e-14)

    def test_at_an_impossible_outcome_it_rises_without_bound(self) -> None:
        assert ac.entropy([1, 0]).grad().result.tolist() == [-1, math.inf]

    @few
    @given(distributions())
    def test_is_largest_where_all_are_alike(self, p: Array) -> None:
        found = float(ac.entropy(p).result)
        assert -1e-15 <= found <= math.log(4) + 1e-15
        with mpmath.workdps(50):
            exactly = -mpmath.fsum(x * mpmath.log(x) for x in map(mpmath.mpf, p.tolist()) if x)
        assert found == pytest.approx(float(exactly), abs=1e-15)


class TestDivergence:
    def test_published(self) -> None:
        """Cover and Thomas, example 2.3.1."""
        p, q = [0.5, 0.5], [0.25, 0.75]
        assert float(ac.kl(p, q, base=2).result) == pytest.approx(1 - math.log2(3) / 2, rel=1e-14)
        assert float(ac.kl(q, p, base=2).result) == pytest.approx(0.75 * math.log2(3) - 1, rel=1e-14)

    def test_where_p_is_nothing_a_term_is_nothing(self) -> None:
        t = ac.kl([0.5, 0.5, 0, 0], [0.25, 0.25, 0.5, 0], base=2)
        assert_array_equal(t["ratios"], [2, 2, 0, 0])
        assert_array_equal(t["terms"], [0.5, 0.5, 0, 0])
        assert float(t.result) == 1

    def test_what_q_rules_out_and_p_does_not(self) -> None:
        t = ac.kl([0.5, 0.5], [1, 0])
        assert t.result == np.inf
        assert t.to_dict()["result"] == "Infinity"
        assert t.warnings == ("the divergence is infinite: q[1] is 0, and p[1] = 0.5 says that it can happen",)

    @pytest.mark.parametrize(
        ("p", "q", "said"),
        [
            pytest.param([0.5, 0.5], [[0.5, 0.5], [1, 0]], "q[1,1] is 0, and p[1] = 0.5 says", id="of q"),
            pytest.param([[1, 0], [0.5, 0.5]], [1, 0], "q[1] is 0, and p[1,1] = 0.5 says", id="of p"),
            pytest.param([[1, 0], [0.5, 0.5]], [[1, 0]] * 2, "q[1,1] is 0, and p[1,1] = 0.5 says", id="of both"),
        ],
    )
    def test_in_a_batch_it_says_where(self, p: Any, q: Any, said: str) -> None:
        (warning,) = ac.kl(p, q).warnings
        assert said in warning

    def test_its_slopes(self) -> None:
        p, q = np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.5, 0.25])
        found = ac.kl(p, q).grad(gradcheck=True)
        assert_allclose(found["grad_p"], np.log(p / q) + 1, rtol=1e-14)
        assert_allclose(found["grad_q"], -p / q, rtol=1e-14)

    def test_the_slope_to_q_where_p_is_nothing(self) -> None:
        assert_array_equal(ac.kl([1, 0, 0], [0.5, 0.5, 0]).grad(wrt=["q"]).result, [-2, 0, 0])

    @pytest.mark.thorough
    @few
    @given(distributions(), distributions(positive=True))
    def test_is_never_below_zero_and_is_what_cross_entropy_adds(self, p: Array, q: Array) -> None:
        found = float(ac.kl(p, q).result)
        assert found >= -1e-15
        crossed = ac.cross_entropy(probabilities=q, target=p).result
        assert_allclose(found, crossed - ac.entropy(p).result, atol=1e-13)


class TestBayes:
    def test_published(self) -> None:
        """Eddy 1982: of 1,000 women 10 are ill; 80% of these and 9.6% of the others test positive."""
        t = ac.bayes([0.01, 0.99], [0.8, 0.096])
        assert float(t.result[0]) == pytest.approx(0.0776, abs=5e-5)

    def test_numbers_that_tell_the_usual_mistakes_apart(self) -> None:
        t = ac.bayes([0.1, 0.9], [0.8, 0.25])
        assert_allclose(t["joint"], [0.08, 0.225])
        assert float(t["evidence"]) == pytest.approx(0.305)
        assert_allclose(t.result, [16 / 61, 45 / 61], rtol=1e-15)

    def test_a_column_of_outcomes(self) -> None:
        table = [[0.5, 0.5], [0.1, 0.9], [0.75, 0.25]]
        prior = [0.2, 0.3, 0.5]
        t = ac.bayes(prior, table)
        assert_allclose(t.result.sum(axis=0), 1)
        for k in (0, 1):
            seen = ac.bayes(prior, table, observed=k)
            assert_allclose(seen.result, t.result[:, k])
            assert seen.find("joint").formula == f"prior ⊙ likelihood[k={k}]"

    def test_a_batch_of_priors(self) -> None:
        priors, likelihood = [[0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], [0.8, 0.25]
        t = ac.bayes(priors, [likelihood] * 3)
        assert_allclose(t.result, [ac.bayes(prior, likelihood).result for prior in priors])

    def test_one_table_serves_a_batch_of_priors(self) -> None:
        priors, table = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], [[0.1, 0.9], [0.2, 0.8], [0.5, 0.5]]
        assert_allclose(ac.bayes(priors, table).result, [ac.bayes(prior, table).result for prior in priors])
        seen = ac.bayes(priors, table, observed=1)
        assert_allclose(seen.result, ac.bayes(priors, table).result[..., 1])
        assert all(step.check is not None and step.check.agrees for step in seen.grad(gradcheck=True).outputs)

    @pytest.mark.parametrize(
        ("prior", "likelihood", "observed", "said"),
        [
            ([[0.5, 0.5], [0, 1]], [[0.5, 0.5], [1, 0]], None, "of row 1 (counted from 0) allows what was seen"),
            (
                [[0.2, 0.3, 0.5], [0, 1, 0]],
                [[0.1, 0.9], [0, 1], [0.5, 0.5]],
                None,
                "of row 1 (counted from 0) allows column 0",
            ),
            (
                [[0, 1, 0], [0.2, 0.3, 0.5]],
                [[0.1, 0.9], [0, 1], [0.5, 0.5]],
                0,
                "of row 0 (counted from 0) allows column 0",
            ),
            ([0, 1], [[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [1, 0]]], 1, "of row 1 (counted from 0) allows column 1"),
        ],
    )
    def test_in_a_batch_it_says_where_nothing_can_be_learnt(
        self, prior: Any, likelihood: Any, observed: int | None, said: str
    ) -> None:
        with pytest.raises(DomainError) as caught:
            ac.bayes(prior, likelihood, observed=observed)
        assert caught.value.message.startswith(f"no hypothesis {said}: its evidence is 0")

    def test_evidence_after_evidence(self) -> None:
        once = ac.bayes([0.1, 0.9], [0.8, 0.25]).result
        twice = ac.bayes(once, [0.8, 0.25]).result
        assert_allclose(twice, ac.bayes([0.1, 0.9], [0.64, 0.0625]).result)

    def test_its_slopes(self) -> None:
        found = ac.bayes([0.1, 0.9], [0.8, 0.25]).grad([1, 0], gradcheck=True)
        assert_allclose(found["grad_likelihood"], [0.1 * 0.225 / 0.305**2, -0.9 * 0.08 / 0.305**2], rtol=1e-13)
        assert all(step.check is not None and step.check.agrees for step in found.outputs)


class TestLikelihood:
    def test_bernoulli(self) -> None:
        t = ac.likelihood([1, 0, 1, 1], p=0.6)
        assert_allclose(t.result, math.log(0.6**3 * 0.4), rtol=1e-15)
        assert float(t["maximum_likelihood_estimate"]) == 0.75

    def test_categorical(self) -> None:
        t = ac.likelihood([0, 2, 1, 0], distribution="categorical", probabilities=[0.5, 0.3, 0.2])
        assert_allclose(t.result, math.log(0.5 * 0.2 * 0.3 * 0.5), rtol=1e-15)
        assert_array_equal(t["maximum_likelihood_estimate"], [0.5, 0.25, 0.25])

    def test_normal(self) -> None:
        x = [1.2, 0.8, 2.1, 1.5]
        t = ac.likelihood(x, distribution="normal", mean=1, std=0.5)
        with mpmath.workdps(50):
            exactly = mpmath.fsum(mpmath.log(mpmath.npdf(mpmath.mpf(one), 1, mpmath.mpf("0.5"))) for one in x)
        assert_allclose(t.result, float(exactly), rtol=1e-14)
        assert_allclose(t["maximum_likelihood_estimate"], [np.mean(x), np.std(x)], rtol=1e-14)

    def test_poisson(self) -> None:
        t = ac.likelihood([2, 0, 3, 1], distribution="poisson", rate=1.5)
        assert_allclose(t["probabilities"][:2], [1.125 * math.exp(-1.5), math.exp(-1.5)], rtol=1e-15)
        assert float(t["maximum_likelihood_estimate"]) == 1.5

    def test_densities_too_small_for_a_float_have_a_logarithm(self) -> None:
        t = ac.likelihood([100], distribution="normal", mean=0, std=1)
        assert_array_equal(t["probabilities"], [0])
        assert_allclose(t.result, -5000 - math.log(2 * math.pi) / 2, rtol=1e-15)

    def test_counts_too_large_for_a_factorial(self) -> None:
        t = ac.likelihood([1000], distribution="poisson", rate=1000)
        with mpmath.workdps(50):
            exactly = mpmath.mpf(1000) ** 1000 * mpmath.exp(-1000) / mpmath.factorial(1000)
        assert_allclose(t["probabilities"], [float(exactly)], rtol=1e-11)
        assert_allclose(t.result, float(mpmath.log(exactly)), rtol=1e-12)
        assert not t.warnings

    def test_an_observation_that_cannot_be(self) -> None:
        t = ac.likelihood([1, 0], p=1)
        assert t.result == -np.inf
        assert t.warnings == ("observations[1] has the probability 0, so the likelihood is 0 and its logarithm −∞",)

    def test_of_many_observations_that_cannot_be_the_first_three_are_named(self) -> None:
        named = [warning.split()[0] for warning in ac.likelihood([0, 1, 0, 0, 0, 0], p=1).warnings]
        assert named == ["observations[0]", "observations[2]", "observations[3]"]

    def test_the_slope_to_measurements(self) -> None:
        found = ac.likelihood([1.0, 4], distribution="normal", mean=2, std=0.5).grad(gradcheck=True)
        assert_allclose(found.result, [4, -8], rtol=1e-14)

    @pytest.mark.parametrize(
        "given_",
        [
            {"p": 0.5},
            {"distribution": "poisson", "rate": 2},
            {"distribution": "categorical", "probabilities": [0.5, 0.5]},
        ],
        ids=str,
    )
    def test_what_is_counted_has_no_slope(self, given_: dict[str, Any]) -> None:
        with pytest.raises(NoGradient):
            ac.likelihood([1, 0], **given_).grad()

    @pytest.mark.thorough
    @few
    @given(st.lists(st.integers(0, 1), min_size=1, max_size=8), st.floats(0.01, 0.99))
    def test_no_parameter_is_likelier_than_the_estimate(self, x: list[int], p: float) -> None:
        best = float(ac.likelihood(x, p=p)["maximum_likelihood_estimate"])
        assert float(ac.likelihood(x, p=p).result) <= float(ac.likelihood(x, p=best).result) + 1e-12

    @pytest.mark.thorough
    @few
    @given(st.lists(st.floats(-5, 5), min_size=2, max_size=6, unique=True), st.floats(-5, 5), st.floats(0.1, 5))
    def test_nor_are_two(self, x: list[float], mean: float, std: float) -> None:
        t = ac.likelihood(x, distribution="normal", mean=mean, std=std)
        own, spread = t["maximum_likelihood_estimate"].tolist()
        assume(spread > 1e-3)
        best = ac.likelihood(x, distribution="normal", mean=own, std=spread)
        assert float(t.result) <= float(best.result) + 1e-9


def test_a_letter_tells_no_class() -> None:
    letters = {"observations": Given(np.array(sympy.symbols("a b"), dtype=object))}
    shares = {"probabilities": Given(np.array([0.5, 0.5]))}
    with pytest.raises(NotExact, match="classes must be given as numbers"):
        solve(Problem(load("likelihood"), letters | shares, {"distribution": "categorical"}), exact=True)


class TestRounding:
    """Shares that were rounded when they were written do not sum to 1 by that much, and by no more."""

    @pytest.mark.parametrize(
        ("p", "said"),
        [([0.33, 0.33, 0.33], "p sums to 0.99"), ([0.667, 0.334], "p sums to 1.001"), ([0.1] * 10, "")],
        ids=str,
    )
    def test_lets_pass(self, p: list[float], said: str) -> None:
        notes = ac.entropy(p).notes
        assert notes == ((f"{said}: taken as rounded, and used as it is",) if said else ())

    @pytest.mark.parametrize("bits", [11, 8], ids=["float16", "bfloat16"])
    @pytest.mark.parametrize("size", [3, 7, 1000])
    def test_lets_pass_what_half_precision_leaves(self, bits: int, size: int) -> None:
        shares = np.random.default_rng(size).dirichlet(np.ones(size))
        fractions, exponents = np.frexp(shares)
        halves = np.ldexp(np.round(np.ldexp(fractions, bits)), exponents - bits)
        assert abs(halves.sum() - 1) > 1e-6, "or there would be nothing to let pass"
        assert ac.entropy(halves).notes[0].endswith("taken as rounded, and used as it is")

    @pytest.mark.parametrize(
        "p",
        [
            pytest.param([0.5, 0.484375] + [0.0] * 50, id="zeros, which have no last digit"),
            pytest.param([0.5, 0.484375], id="a sixty-fourth that is missing"),
            pytest.param([0.3, 0.3, 0.3], id="tenths, which are taken as exact"),
            pytest.param([0.5, 0.4], id="two tenths"),
            pytest.param([0.25, 0.25, 0.25], id="a quarter that is missing"),
            pytest.param([0.333, 0.333, 0.32], id="more than thousandths explain"),
            pytest.param([0.03] * 32, id="0.96 of so many hundredths that rounding alone might explain it"),
        ],
    )
    def test_refuses(self, p: list[float]) -> None:
        with pytest.raises(DomainError, match="and probabilities sum to 1"):
            ac.entropy(p)


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a probability below 0": ("entropy", {"p": [1.5, -0.5]}, r"p\[0\] = 1.5 is above 1"),
    "a row of a batch": ("entropy", {"p": [[0.5, 0.5], [0.5, 0.75]]}, r"row 1 of p \(counted from 0\) sums to 1.25"),
    "percentages": ("kl", {"p": [0.5, 0.5], "q": [50, 50]}, r"q\[0\] = 50 is above 1"),
    "another base": ("kl", {"p": [1.0], "q": [1.0], "base": 5}, "--base must be e, 2 or 10, not 5"),
    "a sample of one": ("expectation", {"values": [3.0], "sample": True}, "n − 1 is 0"),
    "a sample with probabilities": (
        "expectation",
        {"values": [1, 2], "probabilities": [0.5, 0.5], "sample": True},
        "--sample is for data that all count alike",
    ),
    "a prior that is none": ("bayes", {"prior": [0.5, 0.4], "likelihood": [1, 1]}, "prior sums to 0.9"),
    "a likelihood above 1": ("bayes", {"prior": [0.5, 0.5], "likelihood": [2, 1]}, r"likelihood\[0\] = 2 is above 1"),
    "what nobody allows": ("bayes", {"prior": [1, 0], "likelihood": [0, 1]}, "no hypothesis allows what was seen"),
    "a column that nobody allows": (
        "bayes",
        {"prior": [0.5, 0.5], "likelihood": [[1, 0], [1, 0]], "observed": 1},
        "no hypothesis allows column 1",
    ),
    "a column that is not there": (
        "bayes",
        {"prior": [0.5, 0.5], "likelihood": [[0.5, 0.5], [1, 0]], "observed": 2},
        "--observed 2 is not one of likelihood's columns, 0 to 1",
    ),
    "no columns": ("bayes", {"prior": [0.5, 0.5], "likelihood": [0.5, 1], "observed": 0}, "--observed picks a column"),
    "no parameter": ("likelihood", {"observations": [1, 0]}, "the bernoulli distribution needs --p"),
    "half of the parameters": (
        "likelihood",
        {"observations": [1.0], "distribution": "normal", "mean": 1},
        "the normal distribution needs --std",
    ),
    "another's parameter": (
        "likelihood",
        {"observations": [1], "p": 0.5, "rate": 2},
        "--rate belongs to the poisson distribution",
    ),
    "a throw of 2": ("likelihood", {"observations": [0, 2], "p": 0.5}, r"observations\[1\] = 2: a Bernoulli trial"),
    "half a count": (
        "likelihood",
        {"observations": [0.5], "distribution": "poisson", "rate": 1},
        r"observations\[0\] = 0.5 is not a count",
    ),
    "a class that is not there": (
        "likelihood",
        {"observations": [2], "distribution": "categorical", "probabilities": [0.5, 0.5]},
        r"observations\[0\] = 2 is not one of the 2 positions",
    ),
    "no width": ("likelihood", {"observations": [1], "distribution": "normal", "mean": 0, "std": 0}, "--std must be"),
    "p above 1": ("likelihood", {"observations": [1], "p": 1.5}, "--p must be from 0 to 1, not 1.5"),
    "a rate of 0": ("likelihood", {"observations": [1], "distribution": "poisson", "rate": 0}, "--rate must be"),
}


@pytest.mark.parametrize(("name", "given_", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(name: str, given_: dict[str, Any], message: str) -> None:
    with pytest.raises(AttncalcError, match=message):
        getattr(ac, name)(**given_)


def test_a_softmax_along_the_first_axis_may_have_a_masked_row() -> None:
    """Each axis has its own rows: here it is the columns that need something left to share."""
    x = np.array([[-np.inf, -np.inf], [0, 0]])
    assert_array_equal(ac.softmax(x, axis=0).result, [[0, 0], [1, 1]])
    with pytest.raises(DomainError, match="column 0 of x"):
        ac.softmax(np.transpose(x), axis=0)
