"""Products of matrices: the shape rule, several factors, laws."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import attncalc as ac
from attncalc.common.errors import AttncalcError

few = settings(max_examples=20)
sizes = st.lists(st.integers(1, 4), min_size=3, max_size=6)


def drawn(seed: int, sides: list[int]) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(a, b)) for a, b in pairwise(sides)]


def test_an_entry_is_a_row_times_a_column() -> None:
    t = ac.matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert_array_equal(t.result, [[19, 22], [43, 50]])
    (step,) = t.steps
    assert (step.formula, step.sizes, step.latex) == ("A·B", "[2×2]·[2×2]", "A B")


def test_a_vector_is_one_row_and_the_result_a_vector_again() -> None:
    assert_array_equal(ac.matmul([1, 2], [[5, 6], [7, 8]]).result, [19, 22])


def test_several_factors_have_a_step_each() -> None:
    t = ac.matmul(*drawn(0, [2, 3, 4, 2]))
    assert [(step.name, step.formula) for step in t.steps] == [("product_1", "A·B"), ("product", "product_1·C")]


@few
@given(st.integers(0, 999), sizes)
def test_the_product_is_numpys(seed: int, sides: list[int]) -> None:
    factors = drawn(seed, sides)
    assert_allclose(ac.matmul(*factors).result, np.linalg.multi_dot(factors), rtol=1e-12, atol=1e-12)


@few
@given(st.integers(0, 999), sizes)
def test_a_transposed_product_is_that_of_the_transposes_turned_round(seed: int, sides: list[int]) -> None:
    factors = drawn(seed, sides)
    turned = ac.matmul(*[factor.T for factor in reversed(factors)]).result
    assert_allclose(turned, ac.matmul(*factors).result.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("factors", "said", "hint"),
    [
        pytest.param({"a": (2, 3), "b": (4, 2)}, r"(m×n)(n×p) → (m×p), and here they are (2×3)(4×2)", "", id="inner"),
        pytest.param({"a": (2, 3), "b": (2, 3)}, "A is m=2 × n=3 but B is n=2 × p=3", "--transpose", id="transposed"),
        pytest.param({"a": (2, 3), "b": (3, 4), "c": (3, 4)}, "cannot form product_1·C", "", id="a later one"),
        pytest.param({"a": (2, 3), "b": (3, 4), "d": (4, 4)}, "without a gap: a, b, c", "", id="a gap"),
        pytest.param({"a": (2, 3)}, "matmul needs a and b, but b is missing", "", id="one alone"),
    ],
)
def test_what_cannot_be_multiplied_is_refused(factors: dict[str, tuple[int, int]], said: str, hint: str) -> None:
    with pytest.raises(AttncalcError) as error:
        ac.matmul(**{name: np.ones(shape) for name, shape in factors.items()})
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert hint in error.value.hint
