"""Short cuts with exact numbers give what SymPy's general functions give."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attncalc.language.exact_kernels import (
    FACTORED,
    arccos,
    at_most,
    below,
    figures,
    maximum,
    minimum,
    peak,
    power,
    quotient,
    sqrt,
    value_of_roots,
)

FRACTIONS = [sympy.Rational(p, q) for p, q in product(range(-6, 7), range(1, 7))]
OTHERS: dict[str, Any] = {
    "a fifth of the circle": (1 + sympy.sqrt(5)) / 4,
    "an eighth of half": sympy.sqrt(2 + sympy.sqrt(2)) / 2,
    "a cosine": sympy.cos(3),
    "an exponential": sympy.exp(-1),
    "a letter": sympy.Symbol("x", real=True),
    "infinity": sympy.oo,
}


@pytest.mark.thorough
@pytest.mark.parametrize("root", [1, 2, 3, 5, 7])
def test_angles_of_fractions_times_roots(root: int) -> None:
    for fraction in FRACTIONS:
        cosine = fraction * sympy.sqrt(root)
        assert arccos(cosine) == sympy.acos(cosine), cosine


@pytest.mark.parametrize("cosine", OTHERS.values(), ids=OTHERS)
def test_angles_of_other_numbers(cosine: Any) -> None:
    assert arccos(cosine) == sympy.acos(cosine)


@pytest.mark.parametrize("exponent", [-2, 2, sympy.Rational(1, 2)], ids=str)
def test_powers_of_fractions(exponent: Any) -> None:
    for fraction in filter(None, FRACTIONS):
        assert power(fraction, exponent) == fraction**exponent, fraction


@given(st.integers(0, FACTORED + 9), st.integers(1, FACTORED + 9))
@example(18, 50)
@example(32_749**2, 2 * 181**2)
def test_square_roots_of_fractions(p: int, q: int) -> None:
    fraction = sympy.Rational(p, q)
    assert sympy.srepr(sqrt(fraction)) == sympy.srepr(sympy.sqrt(fraction))


def test_square_roots_with_every_small_factor() -> None:
    for number in range(1, 400):
        assert sqrt(sympy.Integer(number)) == sympy.sqrt(number), number


roots = st.tuples(st.fractions(-9, 9, max_denominator=9), st.integers(2, 7)).map(
    lambda both: sympy.Rational(both[0]) * sympy.sqrt(both[1])
)
exponents = st.lists(roots, min_size=1, max_size=3).map(lambda terms: sympy.Add(*terms))


@given(exponents, st.lists(exponents, min_size=1, max_size=3))
def test_quotients_of_exponentials(above: Any, under: list[Any]) -> None:
    x, y = sympy.exp(above), sympy.Add(*map(sympy.exp, under))
    assert sympy.srepr(quotient(x, y)) == sympy.srepr(x / y)
    assert sympy.srepr(quotient(y, x)) == sympy.srepr(y / x)


@given(exponents)
def test_values_of_roots_and_their_bounds(x: Any) -> None:
    value, bound = value_of_roots(x), value_of_roots(x, bound=True)
    assert value == pytest.approx(float(x.evalf(30)), rel=1e-9, abs=1e-12)
    assert bound is not None
    assert abs(float(x.evalf(30))) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("x", [sympy.exp(1), sympy.Symbol("x"), sympy.oo, sympy.sqrt(-2), sympy.Integer(10) ** 400])
def test_others_have_no_value_of_roots(x: Any) -> None:
    assert value_of_roots(x) is None


def nested(parts: st.SearchStrategy[sympy.Expr]) -> st.SearchStrategy[sympy.Expr]:
    """Sums, products, roots and exponentials of these."""
    pairs = st.tuples(parts, parts)
    roots = parts.map(lambda x: sympy.sqrt(1 + x * x))
    sums, products = pairs.map(lambda both: both[0] + both[1]), pairs.map(lambda both: both[0] * both[1])
    return sums | products | roots | parts.map(lambda x: sympy.exp(-sympy.sqrt(1 + x * x)))


exact_numbers = st.recursive(st.fractions(-9, 9, max_denominator=9).map(sympy.Rational), nested, max_leaves=5)


@pytest.mark.thorough
@given(exact_numbers, exact_numbers)
def test_the_order_of_exact_numbers_is_that_of_their_digits(x: sympy.Expr, y: sympy.Expr) -> None:
    difference = float(sympy.N(x - y, 50))
    assume(abs(difference) > 1e-40)
    assert (below(x, y), at_most(x, y)) == (difference < 0, difference < 0)
    assert (maximum(x, y), minimum(x, y)) == ((y, x) if difference < 0 else (x, y))


@pytest.mark.thorough
@given(exact_numbers)
def test_figures_are_right_or_none(x: sympy.Expr) -> None:
    known = figures(x)
    assert known is None or abs(known - sympy.N(x, 60)) <= 1e-28 * abs(known)


@pytest.mark.parametrize("finite", [sympy.Integer(0), sympy.Rational(-1, 3), sympy.sqrt(2), sympy.exp(-sympy.sqrt(2))])
def test_infinities_have_their_order_and_no_figures(finite: sympy.Expr) -> None:
    assert all(figures(limit) is None for limit in (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan))
    assert (below(-sympy.oo, finite), below(finite, -sympy.oo), at_most(finite, sympy.oo)) == (True, False, True)
    assert (maximum(-sympy.oo, finite), minimum(finite, -sympy.oo), maximum(sympy.oo, finite)) == (
        finite,
        -sympy.oo,
        sympy.oo,
    )
    limits = np.array([finite, -sympy.oo, finite / 2 - 1], dtype=object)
    assert peak(limits, 0, letters=False) == finite


def test_what_cancels_has_no_figures_and_yet_an_order() -> None:
    large, third = sympy.sqrt(2) * 10**40, sympy.Rational(1, 3)
    left = sympy.Add(sympy.sqrt(2 * 10**80 + 1), -large, third, evaluate=False)
    assert figures(sympy.Add(sympy.sqrt(8), -2 * sympy.sqrt(2), evaluate=False)) is None
    assert below(third, left)
    assert not below(left, third)
    assert at_most(third, third + 0)
