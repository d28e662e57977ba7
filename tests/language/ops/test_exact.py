"""Short cuts with exact numbers give what SymPy's general functions give."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import sympy

from attncalc.language.exact_kernels import arccos, power

FRACTIONS = [sympy.Rational(p, q) for p, q in product(range(-6, 7), range(1, 7))]
OTHERS: dict[str, Any] = {
    "a fifth of the circle": (1 + sympy.sqrt(5)) / 4,
    "an eighth of half": sympy.sqrt(2 + sympy.sqrt(2)) / 2,
    "a cosine": sympy.cos(3),
    "an exponential": sympy.exp(-1),
    "a letter": sympy.Symbol("x", real=True),
    "infinity": sympy.oo,
}


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
