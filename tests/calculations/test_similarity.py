"""Search among vectors: all pairs, the largest inner product, analogies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError, DomainError, OptionError, ShapeError
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
few = settings(max_examples=20)
seeds = st.integers(0, 10_000)

WORDS = {
    "cat": [0.8, 0.2, 0.1, 0],
    "dog": [0.7, 0.3, 0.2, 0],
    "king": [0.1, 0.9, 0.7, 0],
    "queen": [0.1, 0.9, -0.6, 0],
    "man": [0.2, 0.1, 0.8, 0],
    "woman": [0.2, 0.1, -0.7, 0],
    "airplane": [0.1, 0, 0.1, 0.9],
}
TABLE = list(WORDS.values())
METRICS = load("pairwise").option("metric")
assert METRICS is not None
every_metric = pytest.mark.parametrize("metric", METRICS.choices)
PAIRED: dict[str, Any] = {
    "cosine-similarity": ac.cosine,
    "cosine": lambda a, b: ac.cosine(a, b, distance=True),
    "euclidean": ac.euclidean,
    "sqeuclidean": lambda a, b: ac.euclidean(a, b, squared=True),
    "manhattan": ac.manhattan,
    "chebyshev": ac.chebyshev,
    "minkowski": ac.minkowski,
    "dot": ac.dot,
}


@pytest.mark.thorough
@every_metric
def test_each_pair_is_what_the_calculation_of_two_vectors_gives(metric: str) -> None:
    found = ac.pairwise(TABLE, metric=metric).result
    for i, a in enumerate(TABLE):
        for j, b in enumerate(TABLE):
            assert found[i, j] == pytest.approx(float(PAIRED[metric](a, b).result), rel=1e-13, abs=1e-15)


@every_metric
def test_rows_against_themselves_are_symmetric(metric: str) -> None:
    found = ac.pairwise(TABLE, metric=metric).result
    assert_allclose(found, found.T, rtol=1e-15, atol=1e-16)


@every_metric
def test_a_row_is_0_from_itself_wherever_it_stands_so_that_its_gradient_is_of_the_others(metric: str) -> None:
    rng = np.random.default_rng(3)
    x, upstream = rng.normal(size=(4, 3)), rng.normal(size=(4, 4))
    found = ac.pairwise(x, metric=metric).grad(upstream, gradcheck=True)
    apart = ac.pairwise(x, x, metric=metric).grad(upstream)
    assert_allclose(found.result, apart["grad_x"] + apart["grad_y"], rtol=1e-12, atol=1e-13)
    assert found.outputs[0].check is not None
    assert found.outputs[0].check.agrees


def test_pairs_of_vectors_near_the_ends_of_the_range() -> None:
    x, y = np.array([[3e200, 4e200]]), np.array([[4e-200, 3e-200]])
    assert ac.pairwise(x, y).result[0, 0] == pytest.approx(0.96, rel=1e-15)
    assert ac.pairwise(x, [[0, 0]], metric="euclidean").result[0, 0] == pytest.approx(5e200, rel=1e-15)


def test_labels_of_the_rows_stand_on_both_sides() -> None:
    document = load_document("samples/pairwise.json", Reading())
    step = solve(Problem(load("pairwise"), document.inputs, document.options)).outputs[0]
    assert step.labels["n"] == step.labels["m"] == tuple(WORDS)


class TestRanking:
    def test_points_at_the_largest_and_says_their_names(self) -> None:
        document = load_document("samples/mips.json", Reading())
        trace = solve(Problem(load("mips"), document.inputs, document.options))
        ranking = trace.outputs[0]
        assert [ranking.names[i] for i in trace.result] == ["king", "queen"]

    def test_is_of_whole_numbers(self) -> None:
        assert ac.mips([1, 0, 0, 0], TABLE, top=2).result.dtype.kind == "i"

    def test_gives_equal_ones_in_their_order(self) -> None:
        assert_array_equal(ac.mips([1.0], [[2], [5], [5], [2], [5]], top=5).result, [1, 2, 4, 0, 3])

    def test_goes_by_value_and_not_by_size(self) -> None:
        assert_array_equal(ac.mips([1.0], [[-5], [1], [-2]], top=3).result, [1, 2, 0])

    @few
    @given(seeds, st.integers(1, 6))
    def test_is_a_sort(self, seed: int, top: int) -> None:
        rng = np.random.default_rng(seed)
        q, keys = rng.normal(size=3), rng.normal(size=(6, 3))
        assert_array_equal(ac.mips(q, keys, top=top).result, np.argsort(-(keys @ q))[:top])

    def test_of_a_batch_of_queries(self) -> None:
        rng = np.random.default_rng(0)
        q, keys = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
        assert_array_equal(ac.mips(q, keys, top=2).result, [ac.mips(one, keys, top=2).result for one in q])

    @pytest.mark.parametrize("top", [0, -1, 8])
    def test_of_more_than_there_are_is_refused(self, top: int) -> None:
        with pytest.raises(AttncalcError, match=f"the best {top} of 7 were asked for"):
            ac.mips([1, 0, 0, 0], TABLE, top=top)


class TestAnalogy:
    """king − man + woman."""

    GIVEN = (WORDS["king"], WORDS["man"], WORDS["woman"], TABLE)

    def test_is_the_queen(self) -> None:
        trace = ac.analogy(*self.GIVEN, top=1)
        assert list(WORDS)[int(trace.result[0])] == "queen"
        assert_allclose(trace["target"], [0.1, 0.9, -0.8, 0], atol=1e-15)

    def test_leaves_its_three_inputs_out(self) -> None:
        ranked = [list(WORDS)[i] for i in ac.analogy(*self.GIVEN, top=4).result]
        assert not {"king", "man", "woman"} & set(ranked)

    def test_leaves_out_an_input_that_is_no_word_without_ado(self) -> None:
        assert ac.analogy([1, 0, 0, 0], WORDS["man"], WORDS["woman"], TABLE, top=5).result.shape == (5,)

    def test_the_ranking_ends_where_the_inputs_alone_are_left(self) -> None:
        king, man, woman = self.GIVEN[:3]
        trace = ac.analogy(king, man, woman, [king, man, woman, WORDS["queen"]])
        assert trace.result.tolist() == [3]
        assert trace.notes == (
            "the ranking ends after 1: the other rows of vocabulary are the inputs, which are left out",
        )

    def test_the_ranking_ends_where_the_vocabulary_does(self) -> None:
        trace = ac.analogy([1, 2], [3, 5], [4, 1], [[1, 1], [3, 4]])
        assert sorted(trace.result) == [0, 1]
        assert trace.notes == ("the ranking ends after 2: vocabulary has no more rows",)

    def test_of_a_batch(self) -> None:
        many = np.stack([WORDS["king"], WORDS["cat"]])
        trace = ac.analogy(many, WORDS["man"], WORDS["woman"], TABLE, top=2)
        assert_array_equal(trace.result[0], ac.analogy(*self.GIVEN, top=2).result)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        pytest.param(
            lambda: ac.pairwise([[1, 2], [0, 0]]), DomainError, r"x is the zero vector \(row 1", id="a zero row"
        ),
        pytest.param(lambda: ac.pairwise([[1, 2]], [[0, 0]], metric="cosine"), DomainError, "y is the zero", id="of y"),
        pytest.param(lambda: ac.pairwise([[1, 2]], [[1, 2, 3]]), ShapeError, "d", id="widths"),
        pytest.param(lambda: ac.pairwise([[1.0]], metric="minkowski", p=0), OptionError, "--p must be", id="p"),
        pytest.param(
            lambda: ac.analogy([1, 0], [0, 1], [0, 1], [[0, 0], [1, 1]]),
            DomainError,
            "vocabulary is the zero",
            id="a word",
        ),
        pytest.param(
            lambda: ac.analogy([1, 1], [1, 1], [0, 0], [[1, 2]], top=1),
            DomainError,
            r"a − b \+ c is the zero vector: it has no direction",
            id="target",
        ),
        pytest.param(
            lambda: ac.analogy([[1, 0]] * 2, [[0, 1]] * 3, [0, 1], [[1, 1]]),
            ShapeError,
            "b must be of one size",
            id="batches",
        ),
        pytest.param(
            lambda: ac.analogy([[1, 0]] * 2, [0, 1], [0, 1], [[[1, 1]]] * 3),
            ShapeError,
            "b must be of one size",
            id="batches of words",
        ),
        pytest.param(
            lambda: ac.analogy([1, 0], [0, 1], [0, 1], [[1, 1]], top=0), OptionError, "at least 1", id="top 0"
        ),
        pytest.param(
            lambda: ac.analogy([1, 0], [0, 1], [0, 1], [[1, 0], [0, 1]]), DomainError, "none is left", id="inputs alone"
        ),
    ],
)
def test_what_has_no_answer_is_refused(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_distances_of_a_zero_row_are_as_good_as_any() -> None:
    assert ac.pairwise([[0, 0], [3, 4]], metric="euclidean").result[0, 1] == 5


@every_metric
def test_what_pairs_are_compared_by_is_told(metric: str) -> None:
    why = ac.pairwise(TABLE, metric=metric).find("distances").why
    measure = {"cosine-similarity": "the cosine of their angle", "dot": "their dot product"}
    assert f"row j of x by {measure.get(metric, f'their {metric} distance')}" in why
