"""Vectors and distances: worked examples, numbers near the ends of the range, laws, what has no answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import DomainError, OptionError, ShapeError
from attncalc.record.trace import Given
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
few = settings(max_examples=20)
CAT, DOG = [0.8, 0.2, 0.1], [0.7, 0.3, 0.2]


@pytest.mark.parametrize(
    ("trace", "name", "value"),
    [
        pytest.param(ac.dot([1, 2, 3], [4, 5, 6]), "dot", 32, id="dot"),
        pytest.param(ac.cosine(CAT, DOG), "dot", 0.64, id="cat · dog"),
        pytest.param(ac.cosine(CAT, DOG), "norm_a", 0.8307, id="the length of cat"),
        pytest.param(ac.cosine(CAT, DOG), "norm_b", 0.7874, id="the length of dog"),
        pytest.param(ac.cosine(CAT, DOG), "cosine", 0.9785, id="cosine"),
        pytest.param(ac.euclidean(CAT, DOG), "distance", 0.1732, id="euclidean"),
        pytest.param(ac.cosine(CAT, DOG, distance=True), "distance", 0.0215, id="cosine distance"),
        pytest.param(ac.cosine([1, 0], [1, 1]), "angle", 45, id="an angle in degrees"),
        pytest.param(ac.norm([2, 3, 6]), "norm", 7, id="norm"),
        pytest.param(ac.minkowski([1, 2, 3], [4, 6, 8]), "distance", 6, id="3³ + 4³ + 5³ = 6³"),
    ],
)
def test_worked_examples(trace: ac.Trace, name: str, value: float) -> None:
    assert round(float(trace[name]), 4) == value


def test_the_outer_product_of_the_cheat_sheet() -> None:
    assert_array_equal(ac.outer([1, 2, 3], [4, 5, 6]).result, [[4, 5, 6], [8, 10, 12], [12, 15, 18]])


class TestRoundingByHand:
    """Two decimals at every step, as on paper: the tutorial's 0.97."""

    T = ac.cosine(CAT, DOG, round_to=2)

    @pytest.mark.parametrize(
        ("name", "value"), [("dot", 0.64), ("norm_a", 0.83), ("norm_b", 0.79), ("norm_product", 0.66), ("cosine", 0.97)]
    )
    def test_gives_what_the_tutorial_prints(self, name: str, value: float) -> None:
        assert float(self.T[name]) == value

    def test_says_how_far_each_step_has_drifted(self) -> None:
        full = ac.cosine(CAT, DOG)
        for step in self.T.steps:
            assert step.drift == pytest.approx(abs(float(self.T[step.name] - full[step.name])))


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e308, 1e-308, 5e-324], ids=str)
class TestNearTheEndsOfTheRange:
    """Squares overflow or vanish there, and the answers do not."""

    def test_the_norm_is_right(self, size: float) -> None:
        for p in (2, 3, 1.5):
            found = float(ac.norm([size, 0, 0], p=p).result)
            assert found == pytest.approx(size, rel=1e-15)

    def test_so_is_that_of_several_entries(self, size: float) -> None:
        if 1e-308 < size < 1e308:
            assert float(ac.norm([3 * size, 4 * size]).result) == pytest.approx(5 * size, rel=1e-15)
            assert float(ac.norm([3 * size, -4 * size, 5 * size], p=3).result) == pytest.approx(6 * size, rel=1e-15)

    def test_the_cosine_is_right(self, size: float) -> None:
        assert float(ac.cosine([size, size], [size, 0]).result) == pytest.approx(math.sqrt(0.5), rel=1e-15)
        assert float(ac.cosine([size, 0], [-1, 0]).result) == -1
        if 1e-308 < size < 1e308:
            found = ac.cosine([3 * size, 4 * size], [4 / size, 3 / size])
            assert float(found.result) == pytest.approx(0.96, rel=1e-15)
            assert float(found["angle"]) == pytest.approx(math.degrees(math.acos(0.96)), rel=1e-12)

    def test_the_distance_is_right(self, size: float) -> None:
        if 1e-308 < size < 1e308:
            assert float(ac.euclidean([3 * size, 0], [0, 4 * size]).result) == pytest.approx(5 * size, rel=1e-15)


@pytest.mark.thorough
@pytest.mark.parametrize("power", [-1000, -530, -510, 510, 530, 1000], ids="2^{}".format)
@pytest.mark.parametrize("name", ["cosine", "pairwise"])
def test_the_gradient_of_a_cosine_needs_no_squares(name: str, power: int) -> None:
    a, b = np.array([[1.0, 2.0, -3.0]]), np.array([[0.5, -1.0, 4.0]])
    found, ordinary = (getattr(ac, name)(size * a, b).grad() for size in (2.0**power, 1.0))
    (left, right) = ("grad_a", "grad_b") if name == "cosine" else ("grad_x", "grad_y")
    assert_allclose(np.ldexp(found[left], power), ordinary[left], rtol=1e-14)
    assert_allclose(found[right], ordinary[right], rtol=1e-14)


def test_rows_beside_one_whose_squares_overflow_are_right() -> None:
    distances = ac.pairwise([[1e200, 0], [3, 4]], [[0, 0]], metric="euclidean").result
    assert_allclose(distances, np.array([[1e200], [5]]), rtol=1e-15)


def test_a_step_that_overflows_on_the_way_is_told() -> None:
    t = ac.norm([3e200, 4e200])
    assert float(t.result) == pytest.approx(5e200)
    assert "overflow" in t.warnings[0]


def test_a_result_that_overflows_is_an_error_that_names_the_entry() -> None:
    with pytest.raises(DomainError, match=r"products\[1\] = a ⊙ b overflows"):
        ac.dot([1, 1e200], [1, 1e200])


def test_the_norm_of_nothing_but_zeros_is_zero() -> None:
    assert [float(ac.norm([0, 0], p=p).result) for p in (1, 2, 3, "inf")] == [0, 0, 0, 0]


@pytest.mark.parametrize("exact", [False, True], ids=["floats", "exact"])
@pytest.mark.parametrize(
    ("name", "operands", "options"),
    [
        pytest.param("norm", {"a": [0, 0]}, {"p": 1}, id="norm, p = 1"),
        pytest.param("norm", {"a": [0, 0]}, {}, id="norm"),
        pytest.param("norm", {"a": [0, 0]}, {"p": 3}, id="norm, p = 3"),
        pytest.param("norm", {"a": [0, 0]}, {"p": "inf"}, id="norm, p = ∞"),
        pytest.param("euclidean", {"a": [1, 2], "b": [1, 2]}, {}, id="euclidean"),
        pytest.param("minkowski", {"a": [1, 2], "b": [1, 2]}, {"p": 1.5}, id="minkowski"),
    ],
)
def test_the_slope_of_a_length_of_0_is_taken_as_0(
    name: str, operands: dict[str, list[int]], options: dict[str, Any], exact: bool
) -> None:
    problem = Problem(load(name), {word: Given(np.array(v)) for word, v in operands.items()}, options, Backward())
    found = solve(problem, exact=exact)
    assert [found[f"grad_{word}"].tolist() for word in operands] == [[0, 0]] * len(operands)


def test_a_slope_that_goes_beyond_the_range_is_not_taken_as_0() -> None:
    with pytest.raises(DomainError, match="overflows"):
        ac.norm([3e-200, 4e-200], p=3).grad()


def test_a_whole_power_is_written_without_a_point() -> None:
    assert ac.minkowski([1, 2], [4, 6], p=3.0).find("distance").latex.endswith("^{1/3}")


def test_a_root_below_the_first_has_no_slope_at_0() -> None:
    with pytest.raises(DomainError, match="is infinite there"):
        ac.norm([0, 0], p=0.5).grad()


@pytest.mark.parametrize("angle", [1e-9, 1e-6, 0.1, 90, 179.9999999], ids=str)
def test_small_angles_keep_their_digits(angle: float) -> None:
    turned = [math.cos(math.radians(angle)), math.sin(math.radians(angle))]
    assert float(ac.cosine([1, 0], turned)["angle"]) == pytest.approx(angle, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        pytest.param(lambda: ac.cosine([0, 0], [1, 2]), DomainError, "a is the zero vector: it has no dir", id="zero"),
        pytest.param(lambda: ac.cosine([1, 2], [0, 0]), DomainError, "b is the zero vector", id="the other one"),
        pytest.param(
            lambda: ac.cosine([[1, 2], [0, 0]], [[1, 2], [1, 2]]),
            DomainError,
            r"zero vector \(row 1, counted",
            id="a row",
        ),
        pytest.param(lambda: ac.project([1, 2], [0, 0]), DomainError, "onto is the zero vector", id="a projection"),
        pytest.param(
            lambda: ac.project([[1, 2], [3, 4]], [[1, 1], [0, 0]]), DomainError, r"\(row 1, counted", id="projections"
        ),
        pytest.param(
            lambda: ac.project([1, 2, 3], [[1, 2], [1, 2], [1, 2]]), DomainError, "depend on one another", id="columns"
        ),
        pytest.param(lambda: ac.norm([1], p=0), OptionError, "--p must be greater than 0, not 0", id="p = 0"),
        pytest.param(lambda: ac.minkowski([1], [2], p=-1), OptionError, "--p must be greater than 0", id="p < 0"),
        pytest.param(lambda: ac.dot([1, 2], [1, 2, 3]), ShapeError, "a is n=2 but b is n=3", id="lengths"),
        pytest.param(
            lambda: ac.dot(1, [1, 2]), ShapeError, "a is a single number, but a vector is needed", id="a number"
        ),
    ],
)
def test_what_has_no_answer_is_refused(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as raised:
        call()
    assert "\n" not in str(raised.value)


numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
vectors = arrays(float, st.just(4), elements=numbers)
DISTANCES: dict[str, Any] = {
    "euclidean": ac.euclidean,
    "manhattan": ac.manhattan,
    "chebyshev": ac.chebyshev,
    "minkowski": ac.minkowski,
}


@pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES.keys())
class TestEveryDistance:
    @pytest.mark.thorough
    @few
    @given(a=vectors, b=vectors, c=vectors)
    def test_is_no_longer_than_a_detour(self, distance: Any, a: Array, b: Array, c: Array) -> None:
        direct, first, second = (float(distance(*pair).result) for pair in ((a, c), (a, b), (b, c)))
        assert direct <= (first + second) * (1 + 1e-12)

    @pytest.mark.thorough
    @few
    @given(a=vectors, b=vectors)
    def test_is_the_same_both_ways(self, distance: Any, a: Array, b: Array) -> None:
        assert float(distance(a, b).result) == float(distance(b, a).result)

    @pytest.mark.thorough
    @few
    @given(a=vectors, b=vectors, shift=numbers)
    def test_ignores_where_both_stand(self, distance: Any, a: Array, b: Array, shift: float) -> None:
        moved = float(distance(a + shift, b + shift).result)
        assert moved == pytest.approx(float(distance(a, b).result), rel=1e-9, abs=1e-9)

    @pytest.mark.thorough
    @few
    @given(a=vectors)
    def test_is_0_to_oneself(self, distance: Any, a: Array) -> None:
        assert float(distance(a, a).result) == 0


class TestLaws:
    @few
    @given(vectors, st.floats(-100, 100), st.sampled_from([1, 1.5, 2, 3, "inf"]))
    def test_a_norm_grows_with_its_vector(self, a: Array, c: float, p: Any) -> None:
        larger, length = float(ac.norm(c * a, p=p).result), float(ac.norm(a, p=p).result)
        assert larger == pytest.approx(abs(c) * length, rel=1e-12, abs=1e-300)

    @few
    @given(vectors, st.sampled_from([(1, 1.5), (1.5, 2), (2, 3), (3, "inf")]))
    def test_a_norm_shrinks_with_its_power(self, a: Array, powers: tuple[Any, Any]) -> None:
        lower, higher = (float(ac.norm(a, p=p).result) for p in powers)
        assert higher <= lower * (1 + 1e-12)

    @pytest.mark.thorough
    @few
    @given(vectors, vectors, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
    def test_cosine_ignores_lengths(self, a: Array, b: Array, c: float, d: float) -> None:
        assume(a.any() and b.any())
        assert float(ac.cosine(c * a, d * b).result) == pytest.approx(float(ac.cosine(a, b).result), abs=1e-14)

    @few
    @given(vectors, vectors)
    def test_cosine_stays_between_minus_1_and_1(self, a: Array, b: Array) -> None:
        assume(a.any() and b.any())
        assert -1 <= float(ac.cosine(a, b).result) <= 1
        assert 0 <= float(ac.cosine(a, b)["angle"]) <= 180

    @few
    @given(vectors, vectors)
    def test_the_dot_product_is_no_larger_than_the_lengths(self, a: Array, b: Array) -> None:
        assert abs(float(ac.dot(a, b).result)) <= float(ac.norm(a).result * ac.norm(b).result) * (1 + 1e-12)

    @pytest.mark.thorough
    @few
    @given(vectors, vectors)
    def test_a_projection_projects_to_itself_and_leaves_a_right_angle(self, a: Array, onto: Array) -> None:
        assume(np.abs(onto).max() > 0.1)
        t = ac.project(a, onto)
        size = max(1.0, float(np.abs(a).max() * np.abs(onto).max()))
        assert_allclose(ac.project(t["projection"], onto).result, t["projection"], rtol=1e-12, atol=1e-12 * size)
        assert abs(float(t["residual"] @ onto)) <= 1e-10 * size

    @few
    @given(st.integers(0, 1000), st.integers(1, 3))
    def test_so_does_one_onto_a_subspace(self, seed: int, k: int) -> None:
        rng = np.random.default_rng(seed)
        a, onto = rng.normal(size=4), rng.normal(size=(4, k))
        assume(np.linalg.cond(onto) < 100)
        t = ac.project(a, onto)
        assert_allclose(ac.project(t["projection"], onto).result, t["projection"], rtol=1e-9, atol=1e-9)
        assert_allclose(onto.T @ t["residual"], np.zeros(k), atol=1e-9)
        if k == 1:
            assert_allclose(t.result, ac.project(a, onto[:, 0]).result, rtol=1e-9, atol=1e-9)


def test_a_sum_that_is_rounded_away_by_hand_has_the_root_0() -> None:
    assert float(ac.norm([0.01, 0.02], round_to=2)["norm"]) == 0


def test_a_matrix_of_columns_is_told_from_a_batch_of_vectors() -> None:
    a, onto = np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([[1.0, 1], [1, 2], [0, 1]])
    t = ac.project(a, onto)
    assert "coefficient" in t
    for i in range(3):
        assert_allclose(t.result[i], ac.project(a[i], onto[i]).result)


def test_several_vectors_are_projected_onto_one_target() -> None:
    a, onto = np.array([[1.0, 2], [3, 4]]), np.array([1.0, 3])
    t = ac.project(a, onto)
    for i in range(2):
        assert_allclose(t.result[i], ac.project(a[i], onto).result, rtol=1e-15)
        assert_allclose(t["residual"][i], ac.project(a[i], onto)["residual"], rtol=1e-15)


@pytest.mark.parametrize("lead", [(2,), (3,), (2, 4)])
def test_several_vectors_are_projected_onto_one_subspace(lead: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, onto = rng.normal(size=(*lead, 4)), rng.normal(size=(4, 2))
    t = ac.project(a, onto)
    assert_allclose(t["coefficients"], (np.linalg.pinv(onto) @ a[..., None])[..., 0], rtol=1e-12)
    assert_allclose(t.result, (onto @ np.linalg.pinv(onto) @ a[..., None])[..., 0], rtol=1e-12)
    assert_allclose(t["residual"] + t.result, a, rtol=1e-12)
    assert all(step.check is not None and step.check.agrees for step in t.grad(a**2, gradcheck=True).outputs)


@pytest.mark.parametrize("lead_a", [(), (2,)])
@pytest.mark.parametrize("lead_b", [(), (2,)])
def test_a_batch_of_outer_products_has_the_batch_in_front(lead_a: tuple[int, ...], lead_b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(*lead_a, 3)), rng.normal(size=(*lead_b, 2))
    assert_allclose(ac.outer(a, b).result, a[..., :, None] * b[..., None, :], rtol=1e-15)


def test_a_row_of_zeros_among_columns_is_no_zero_vector() -> None:
    assert_allclose(ac.project([1, 2, 3], [[1, 2], [1, 1], [0, 0]]).result, [1, 2, 0], rtol=1e-14)


def test_dependent_columns_beside_independent_ones_are_told() -> None:
    with pytest.raises(DomainError, match="columns depend on one another"):
        ac.project([[1, 1], [1, 1]], [[[1, 0], [0, 1]], [[1, 2], [2, 4]]])


ROOT = sympy.sqrt(2)
DEPENDENT = {
    "numbers": [[1, 4, 7], [2, 5, 8], [3, 6, 9]],
    "roots": [[ROOT, 2], [1, ROOT], [ROOT, 2]],
    "letters": [[sympy.Symbol(f"x{i}{j}", real=True) for j in range(3)] for i in range(2)],
}


@pytest.mark.parametrize("columns", DEPENDENT.values(), ids=DEPENDENT)
def test_exact_columns_that_depend_on_one_another_are_told(columns: list[list[Any]]) -> None:
    given_ = {"a": Given(np.ones(len(columns))), "onto": Given(np.array(columns, object))}
    with pytest.raises(DomainError, match="columns depend on one another"):
        solve(Problem(load("project"), given_), exact=True)
