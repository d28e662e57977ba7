"""Matrices taken apart: published examples, order and signs, repeated and complex eigenvalues, approximations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError, DomainError, NotExact, ShapeError
from attncalc.record.trace import Given, Trace
from attncalc.solve import asking
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]
few = settings(max_examples=40)

squares = st.integers(1, 5).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=st.integers(-9, 9).map(float))  # whole: the cases that people type
)
any_shape = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-100, 100, allow_subnormal=False))
)


ROOT = sympy.sqrt(2)


def exactly(name: str, a: Any, **options: Any) -> Trace:
    entries = np.array(a)
    value = entries if entries.dtype == object else entries.astype(float)
    return solve(Problem(load(name), {"a": Given(value)}, options), exact=True)


def upright(vectors: Array) -> bool:
    """Whether the largest entry of each column by absolute value is positive, or one that is as large."""
    sizes = np.abs(vectors)
    largest = sizes > (1 - 1e-9) * sizes.max(axis=0)
    return bool((largest & (vectors.real > (1 - 1e-9) * sizes)).any(axis=0).all())


EIGEN: dict[str, tuple[Any, list[Any], list[float]]] = {  # the matrix, its eigenvalues, its characteristic polynomial
    "by the quadratic formula": ([[4, 1], [2, 3]], [5, 2], [1, -7, 10]),
    "symmetric": ([[2, 1], [1, 2]], [3, 1], [1, -4, 3]),
    "Strang's Markov matrix": ([[0.8, 0.3], [0.2, 0.7]], [1, 0.5], [1, -1.5, 0.5]),
    "a quarter turn": ([[0, -1], [1, 0]], [1j, -1j], [1, 0, 1]),
    "by size, the positive one first": ([[0, 2], [2, 0]], [2, -2], [1, 0, -4]),
    "the negative one larger": ([[1, 0], [0, -3]], [-3, 1], [1, 2, -3]),
    "larger by a millionth": ([[1, 0], [0, -1.000001]], [-1.000001, 1], [1, 1e-6, -1.000001]),
    "larger by what rounding makes": ([[1, 0], [0, -1 - 1e-14]], [1, -1], [1, 0, -1]),
    "singular": ([[1, 2], [2, 4]], [5, 0], [1, -5, 0]),
    "three": ([[2, 0, 0], [0, 3, 4], [0, 4, 9]], [11, 2, 1], [1, -14, 35, -22]),
    "a cycle of three": (
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
        [1, complex(-0.5, math.sqrt(3) / 2), complex(-0.5, -math.sqrt(3) / 2)],
        [1, 0, 0, -1],
    ),
    "four": (np.diag([1, 2, 3, 4]), [4, 3, 2, 1], [1, -10, 35, -50, 24]),
    "triangular": ([[1, 2], [0, 3]], [3, 1], [1, -4, 3]),
    "one": ([[7]], [7], [1, -7]),
    "tiny ones on a diagonal": ([[1, 0], [0, 1e-20]], [1, 1e-20], [1, -1, 1e-20]),
}


class TestEigen:
    @pytest.mark.parametrize(("a", "values", "polynomial"), EIGEN.values(), ids=EIGEN)
    def test_published(self, a: Any, values: list[Any], polynomial: list[float]) -> None:
        t = ac.eigen(a)
        assert_allclose(t.result, values, rtol=1e-14, atol=1e-15)
        assert_allclose(t["characteristic_polynomial"], polynomial, rtol=1e-14, atol=1e-14)
        assert_array_equal(t.result == 0, np.array(values) == 0)
        assert np.iscomplexobj(t["eigenvectors"]) == np.iscomplexobj(t.result) == np.iscomplexobj(np.array(values))

    @pytest.mark.parametrize(
        ("a", "polynomial"),
        [
            pytest.param([[1e10, 0], [0, 1e-10]], [1, -1e10, 1], id="two"),
            pytest.param([[1e5, 1, 0], [0, 1, 0], [2, 0, 1e-5]], [1, -100001.00001, 100001.00001, -1], id="three"),
            pytest.param(np.diag([1e7, 1, 1e-7]), [1, -10000001.0000001, 10000001.0000001, -1], id="graded"),
        ],
    )
    def test_a_small_determinant_beside_large_entries_keeps_its_digits(self, a: Any, polynomial: list[float]) -> None:
        assert_allclose(ac.eigen(a)["characteristic_polynomial"], polynomial, rtol=1e-14)

    def test_a_determinant_that_overflows_leaves_the_eigenvalues(self) -> None:
        t = ac.eigen([[4e160, 1e160], [2e160, 3e160]])
        assert_allclose(t.result, [5e160, 2e160], rtol=1e-14)
        assert t.warnings == ("characteristic_polynomial overflows; the result does not use it, and is right",)
        assert "√((-7e+160)² − 4×NaN)" in worked(t, "eigenvalues", 0)

    def test_hilbert_s_matrix(self) -> None:
        t = ac.eigen([[1, 1 / 2, 1 / 3], [1 / 2, 1 / 3, 1 / 4], [1 / 3, 1 / 4, 1 / 5]])
        assert_allclose(t.result, [1.4083189271, 0.1223270659, 0.0026873404], atol=5e-11)

    def test_the_result_is_the_eigenvalues(self) -> None:
        t = ac.eigen([[4, 1], [2, 3]])
        assert [step.name for step in t.outputs] == ["eigenvalues", "eigenvectors", "a_v", "lambda_v"]
        assert_allclose(t["eigenvectors"], np.array([[1, -1], [1, 2]]) / np.sqrt([2, 5]), rtol=1e-15)

    def test_the_polynomial_s_columns_have_names(self) -> None:
        step = ac.eigen(np.eye(3)).find("characteristic_polynomial")
        assert step.labels["power"] == ("λ³", "λ²", "λ", "λ⁰")
        assert "characteristic_polynomial" not in ac.eigen(np.eye(5))

    def test_shows_the_quadratic_formula(self) -> None:
        t = ac.eigen([[4, 1], [2, 3]])
        assert worked(t, "eigenvalues", 1) == "(−(-7) − √((-7)² − 4×10)) / 2"
        assert worked(t, "characteristic_polynomial", 1) == "−(4 + 3)"
        assert worked(t, "characteristic_polynomial", 2) == "4×3 − 1×2"

    @pytest.mark.thorough
    @few
    @given(squares)
    def test_each_vector_is_only_stretched(self, a: Array) -> None:
        t = ac.eigen(a)
        scale = max(1.0, float(np.abs(a).max()))
        assert_allclose(t["a_v"], t["lambda_v"], atol=1e-12 * scale * len(a))
        assert_allclose(t["a_v"], a @ t["eigenvectors"], atol=1e-12 * scale)
        assert_allclose(np.linalg.norm(t["eigenvectors"], axis=0), 1, rtol=1e-13)
        assert upright(t["eigenvectors"])

    @pytest.mark.thorough
    @few
    @given(squares)
    def test_sum_and_product_are_trace_and_determinant(self, a: Array) -> None:
        values = ac.eigen(a).result
        scale = max(1.0, float(np.abs(a).max())) * len(a)
        assert_allclose(values.sum(), np.trace(a), atol=1e-7 * scale)
        assert_allclose(np.prod(values), np.linalg.det(a), atol=1e-7 * scale ** len(a))
        sizes = np.abs(values)
        assert (sizes[:-1] >= sizes[1:] - 1e-9 * scale).all()

    @pytest.mark.thorough
    @few
    @given(squares)
    def test_the_polynomial_vanishes_at_the_eigenvalues(self, a: Array) -> None:
        t = ac.eigen(a)
        if len(a) <= 4:
            assert_allclose(
                t["characteristic_polynomial"], sympy_polynomial(a), atol=1e-9 * max(1.0, np.abs(a).max()) ** 4
            )

    @few
    @given(squares)
    def test_those_of_a_symmetric_matrix_stand_at_right_angles(self, a: Array) -> None:
        vectors = ac.eigen(a + a.T)["eigenvectors"]
        assert vectors.dtype == np.float64
        assert_allclose(vectors.T @ vectors, np.eye(len(a)), atol=1e-13)

    def test_a_stack_of_matrices(self) -> None:
        stack = np.array([[[4, 1], [2, 3]], [[0, -1], [1, 0]]])
        t = ac.eigen(stack)
        assert_allclose(t.result, np.array([[5, 2], [1j, -1j]]))
        for i, a in enumerate(stack):
            assert_allclose(t["eigenvectors"][i], ac.eigen(a)["eigenvectors"])

    def test_an_eigenvalue_that_rounding_makes_a_complex_pair_stays_real(self) -> None:
        t = ac.eigen(np.arange(25).reshape(5, 5))
        assert_array_equal(t.result[2:], 0)
        assert t["eigenvectors"].dtype == np.float64
        assert_allclose(t["a_v"], t["lambda_v"], atol=1e-12)

    def test_too_few_directions_are_told(self) -> None:
        t = ac.eigen([[1, 1], [0, 1]])
        assert_array_equal(t["eigenvectors"], [[1, 1], [0, 0]])
        assert "defective" in t.warnings[0]
        assert not ac.eigen([[1, 0], [0, 1]]).warnings

    def test_a_wrong_polynomial_is_followed(self) -> None:
        """Who works on with coefficients of their own gets the roots of those."""
        from attncalc.evaluate.values import evaluate
        from attncalc.solve.solver import write

        written = write(Problem(load("eigen"), {"a": Given(np.array([[4.0, 1], [2, 3]]))}))
        own = {("", "characteristic_polynomial"): np.array([1.0, -6, 8])}
        values = evaluate(written.roots, written.values, given=own)
        assert_allclose(values[written.result], [4, 2])

    def test_a_rounded_polynomial_is_followed(self) -> None:
        t = solve(Problem(load("eigen"), {"a": Given(np.array([[0.84, 0.33], [0.21, 0.75]]))}), round_to=1)
        assert_allclose(t["characteristic_polynomial"], [1, -1.6, 0.6])
        assert_allclose(t.result, [1, 0.6])

    def test_complex_pairs_in_a_document(self) -> None:
        assert ac.eigen([[0, -1], [1, 0]]).to_dict()["result"] == [{"re": 0.0, "im": 1.0}, {"re": 0.0, "im": -1.0}]

    def test_single_precision_stays(self) -> None:
        t = solve(Problem(load("eigen"), {"a": Given(np.array([[0.0, -1], [1, 0]]))}), dtype="float32")
        assert t.result.dtype == np.complex64

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("a", "values"),
        [
            ([[4, 1], [2, 3]], ["5", "2"]),
            ([[1, 1], [1, 0]], ["(1 + sqrt(5))/2", "(1 - sqrt(5))/2"]),
            ([[0, -1], [1, 0]], ["I", "-I"]),
            ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], ["1", "-1/2 + sqrt(3)*I/2", "-1/2 - sqrt(3)*I/2"]),
            ([[2, 1, 0], [1, 3, ROOT], [0, ROOT, 5]], ["7/2 + sqrt(21)/2", "3", "7/2 - sqrt(21)/2"]),
            ([[ROOT, 1, 0], [1, ROOT, 0], [0, 0, 1]], ["1 + sqrt(2)", "1", "-1 + sqrt(2)"]),
        ],
        ids=str,
    )
    def test_closed_forms(self, a: list[list[float]], values: list[str]) -> None:
        t = exactly("eigen", a)
        assert [sympy.simplify(x - sympy.S(y)) for x, y in zip(t.result, values, strict=True)] == [0] * len(values)
        vectors = sympy.Matrix(t["eigenvectors"].tolist())
        assert sympy.simplify(sympy.Matrix(a) * vectors - vectors * sympy.diag(*t.result)).is_zero_matrix
        floats = np.array(vectors.evalf().tolist(), complex)
        assert_allclose(floats, ac.eigen(np.array(a, float))["eigenvectors"], atol=1e-13)

    @pytest.mark.parametrize(
        ("a", "message"),
        [
            (np.eye(31), "up to 30 × 30, and this one has 31 rows"),
            ([[2, 1, 0], [1, 3, 1], [0, 1, 5]], r"no roots of a quadratic, .*: 0 = λ\^3 - 10·λ\^2 \+ 29·λ - 23"),
            (np.vander([1 / 3, 2 / 7, 3 / 11, 5 / 13]), r"no roots of a quadratic, .{200,300}(\n|$)"),
            ([[sympy.sqrt(2 + i + j) for i in range(4)] for j in range(4)], "different roots are too many in a matrix"),
            ([[sympy.pi, 1, 0], [1, ROOT, 0], [0, 0, 1]], "hold both roots and π or e are taken apart up to 2 × 2"),
        ],
        ids=["31 rows", "a cubic that does not fall apart", "long digits", "many roots", "a root and π"],
    )
    def test_where_there_is_no_closed_form(self, a: Any, message: str) -> None:
        with pytest.raises(NotExact, match=message):
            exactly("eigen", a)

    def test_the_polynomial_is_a_step_at_any_size(self) -> None:
        blocks = np.kron(np.eye(3), [[0.5, 1], [1, 0.5]])
        t = exactly("eigen", blocks.tolist())
        half, x = sympy.Rational(1, 2), sympy.Symbol("x")
        expected = sympy.Poly((x - 3 * half) ** 3 * (x + half) ** 3, x).all_coeffs()
        assert t["characteristic_polynomial"].tolist() == expected
        assert t.find("characteristic_polynomial").labels["power"] == ("λ⁶", "λ⁵", "λ⁴", "λ³", "λ²", "λ", "λ⁰")
        assert t.result.tolist() == [3 * half] * 3 + [-half] * 3
        vectors = sympy.Matrix(t["eigenvectors"].tolist())
        assert vectors.rank() == 6
        assert_array_equal(t["a_v"] - t["lambda_v"], 0)

    @pytest.mark.thorough
    def test_letters(self) -> None:
        a, b, c = sympy.symbols("a b c", real=True)
        given_ = {"a": Given(np.array([[a, b], [b, c]], dtype=object))}
        t = solve(Problem(load("eigen"), given_), exact=True)
        assert sympy.simplify(sum(t.result.tolist()) - a - c) == 0
        assert sympy.simplify(t.result[0] - t.result[1] - sympy.sqrt((a - c) ** 2 + 4 * b**2)) == 0
        assert_array_equal([sympy.simplify(x) for x in (t["a_v"] - t["lambda_v"]).flat], 0)
        with pytest.raises(NotExact, match="letters are found up to 2 × 2"):
            solve(Problem(load("eigen"), {"a": Given(np.full((3, 3), a))}), exact=True)
        with pytest.raises(NotExact, match="letters are found up to 2 × 2, and of a single row or column"):
            solve(Problem(load("svd"), {"a": Given(np.full((3, 2), a))}), exact=True)


BLOCKS = [
    [[0, 0]],
    [[2, 2]],
    [[0, 0, 0]],
    [[3, 3], [3]],
    [[2, 2, 2], [-1]],
    [[4, 4], [2], [1]],
    [[1, 1], [1, 1]],
    [[0.5, 0.5], [-0.25, -0.25]],
]
"""The eigenvalues in each Jordan block: as many directions as there are blocks."""


def blockwise(blocks: list[list[float]], seed: int) -> Array:
    """A matrix with these blocks in other coordinates, whose entries are few digits."""
    n = sum(map(len, blocks))
    jordan = np.diag([float(value) for block in blocks for value in block])
    ends = np.cumsum([len(block) for block in blocks]) - 1
    jordan += np.diag([float(i not in ends) for i in range(n - 1)], 1)
    rng = np.random.default_rng(seed)
    turn = np.tril(rng.integers(-2, 3, (n, n)), -1) + np.eye(n)
    turn = turn @ (np.triu(rng.integers(-2, 3, (n, n)), 1) + np.eye(n))
    return np.asarray((turn @ jordan @ np.linalg.inv(turn).round()).round(6))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
def test_equal_eigenvalues_of_a_defective_matrix_are_equal(blocks: list[list[float]], seed: int) -> None:
    a = blockwise(blocks, seed)
    t = ac.eigen(a)
    values, vectors = t["eigenvalues"], t["eigenvectors"]
    assert [*values] == sorted((value for block in blocks for value in block), key=abs, reverse=True)
    assert_allclose(a @ vectors, vectors * values, atol=1e-12)
    assert np.linalg.matrix_rank(vectors) == len(blocks)
    assert upright(vectors)
    assert not any("digits" in warning for warning in t.warnings)


class TestSvd:
    def test_published(self) -> None:
        """Strang, Introduction to Linear Algebra, section 7.2."""
        t = ac.svd([[3, 0], [4, 5]])
        assert_allclose(t.result, np.sqrt([45, 5]), rtol=1e-15)
        assert_allclose(t["u"], np.array([[1, 3], [3, -1]]) / math.sqrt(10), rtol=1e-15)
        assert_allclose(t["vt"], np.array([[1, 1], [1, -1]]) / math.sqrt(2), rtol=1e-15)
        assert [step.name for step in t.outputs] == ["s", "u", "vt", "rebuilt"]

    @pytest.mark.thorough
    @few
    @given(any_shape)
    def test_the_parts_make_the_matrix(self, a: Array) -> None:
        t = ac.svd(a)
        scale = max(1.0, float(np.abs(a).max()))
        assert_allclose(t["u"] * t["s"] @ t["vt"], a, atol=1e-13 * scale)
        k = min(a.shape)
        assert_allclose(t["u"].T @ t["u"], np.eye(k), atol=1e-13)
        assert_allclose(t["vt"] @ t["vt"].T, np.eye(k), atol=1e-13)
        assert (np.diff(t["s"]) <= 0).all()
        assert (t["s"] >= 0).all()
        assert upright(t["u"])

    @pytest.mark.thorough
    @few
    @given(any_shape, st.integers(0, 4))
    def test_no_matrix_of_that_rank_is_nearer(self, a: Array, rank: int) -> None:
        rank = min(rank, *a.shape)
        t = ac.svd(a, rank=rank)
        scale = max(1.0, float(np.abs(a).max()))
        assert_allclose(t["error"], math.sqrt(float((t["s"][rank:] ** 2).sum())), atol=1e-12 * scale)
        assert np.linalg.matrix_rank(t.result, tol=1e-9 * scale) <= rank
        other = np.random.default_rng(0).normal(size=(a.shape[0], rank)) @ np.ones((rank, a.shape[1]))
        assert float(t["error"]) <= np.linalg.norm(a - other) + 1e-9 * scale

    @pytest.mark.parametrize("power", [-900, -530, 530, 900], ids="2^{}".format)
    def test_the_error_needs_no_squares_that_overflow_or_vanish(self, power: int) -> None:
        found, ordinary = (ac.svd(size * np.array([[1.0, 2], [3, 4]]), rank=1)["error"] for size in (2.0**power, 1))
        assert_allclose(np.ldexp(found, -power), ordinary, rtol=1e-14)

    def test_with_a_rank_the_approximation_is_the_result(self) -> None:
        t = ac.svd([[1, 2, 3], [4, 5, 6]], rank=1)
        assert [step.name for step in t.outputs][:2] == ["approximation", "error"]
        assert_array_equal(ac.svd([[1, 2], [3, 4]], rank=0).result, 0)

    def test_what_rounding_leaves_of_a_zero_is_zero(self) -> None:
        assert_array_equal(ac.svd([[1, 2], [2, 4]])["s"][1:], 0)
        assert_array_equal(ac.svd([[1, 0], [0, 1e-20]])["s"], [1, 1e-20])

    @pytest.mark.parametrize(
        "a", [[[3, 0], [4, 5]], [[1, 2], [2, 4]], [[1, 0], [0, 1], [1, 1]], [[1, 1, 0]], [[0, 0], [0, 0]]], ids=str
    )
    def test_closed_forms(self, a: list[list[float]]) -> None:
        t = exactly("svd", a)
        u, vt = (sympy.Matrix(t[name].tolist()) for name in ("u", "vt"))
        assert sympy.simplify(u * sympy.diag(*t["s"]) * vt - sympy.Matrix(a)).is_zero_matrix
        assert sympy.simplify(vt * vt.T - sympy.eye(vt.rows)).is_zero_matrix
        assert_allclose(t["s"].astype(float), ac.svd(a)["s"], atol=1e-14)


REFUSED: dict[str, tuple[str, dict[str, Any], type[AttncalcError], str]] = {
    "a matrix that is not square": ("eigen", {"a": [[1, 2, 3], [4, 5, 6]]}, ShapeError, "a is 2 × 3"),
    "a vector": ("eigen", {"a": [1, 2]}, ShapeError, "a is 1 × 2"),
    "a rank above the smaller side": (
        "svd",
        {"a": [[1, 2, 3]], "rank": 2},
        AttncalcError,
        "--rank must be from 0 to 1",
    ),
}


@pytest.mark.parametrize(("name", "given_", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(name: str, given_: dict[str, Any], kind: type[AttncalcError], message: str) -> None:
    with pytest.raises(kind, match=message):
        getattr(ac, name)(**given_)


def test_of_a_symmetric_matrix_equal_eigenvalues_have_slopes_too() -> None:
    assert_allclose(ac.eigen([[2, 0], [0, 2]]).grad([1, 1]).result, np.eye(2), atol=1e-15)


@pytest.mark.parametrize(
    ("a", "message"),
    [([[0, 1], [-1, 0]], "where all eigenvalues are real"), ([[1, 1], [0, 1]], "that is not symmetric meet, at 1")],
    ids=["complex", "defective"],
)
def test_where_eigenvalues_have_no_slope_says_so(a: list[list[float]], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        ac.eigen(a).grad()


def worked(trace: Trace, name: str, *at: int) -> str:
    """The arithmetic of an entry as a reader sees it."""
    from attncalc.render.worked import written

    return written(asking.arithmetic(trace, trace.find(name), at))


def sympy_polynomial(a: Array) -> list[float]:
    whole = sympy.Matrix(len(a), len(a), [int(x) for x in a.ravel()])
    return [float(c) for c in whole.charpoly().all_coeffs()]


@pytest.mark.parametrize("exact", [False, True])
def test_a_complex_eigenvalue_is_told_with_an_i(exact: bool) -> None:
    problem = Problem(load("eigen"), {"a": Given(np.array([[0.0, -1], [1, 0]]))}, backward=Backward())
    with pytest.raises(DomainError, match=r"a has the eigenvalue 0\+1i$"):
        solve(problem, exact=exact)
