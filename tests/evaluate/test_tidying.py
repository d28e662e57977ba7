"""Exact entries over one denominator: the form that is shown, the same number, and nothing left to do in it."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st
from sympy import E, I, Rational, exp, log, sqrt

from attncalc.evaluate.tidying import Extents, Tidier

x, y, z = sympy.symbols("x y z", real=True)
HALF, THIRD = Rational(1, 2), Rational(1, 3)
NUMBERS = {x: Rational(3, 7), y: Rational(2, 5), z: Rational(1, 9)}
SHARE = exp(-HALF) + exp(HALF) + exp(THIRD)

FORMS: dict[str, tuple[Any, str]] = {
    "a sum over one denominator": (HALF + E / 3, "(3 + 2*E)/6"),
    "common factors taken out": (x * y / 2 + x * z / 3, "x*(3*y + 2*z)/6"),
    "a common root taken out": (sqrt(3) / 3 + 2 * sqrt(3) * E / 5, "sqrt(3)*(5 + 6*E)/15"),
    "what stands above and below cancels": (x / (x + y) + y / (x + y), "1"),
    "like terms of two quotients added": (1 / (1 + E) + 1 / (1 + exp(2)), "(2 + E + exp(2))/((1 + E)*(1 + exp(2)))"),
    "a share begins with a 1": (exp(-HALF) / SHARE, "1/(1 + exp(5/6) + E)"),
    "and so do the other shares of its row": (exp(THIRD) / SHARE, "exp(5/6)/(1 + exp(5/6) + E)"),
    "shares mixed": ((3 * exp(-HALF) - 7 * exp(HALF)) / SHARE / 10, "(3 - 7*E)/(10*(1 + exp(5/6) + E))"),
    "a sum of exponentials stays": (exp(HALF) + 3 * exp(5 * HALF), "exp(1/2) + 3*exp(5/2)"),
    "exponents with a root": (1 / (exp(sqrt(3)) + exp(2 * sqrt(3))), "exp(-sqrt(3))/(1 + exp(sqrt(3)))"),
    "minus over minus": ((-exp(THIRD) - 2) / (-3 * exp(THIRD) - 9), "(exp(1/3) + 2)/(3*(exp(1/3) + 3))"),
    "a minus leaves the denominator": (1 / (-x - y), "-1/(x + y)"),
    "squares of numbers multiplied out where that is shorter": (
        (E - 3) ** 2 + (1 + 2 * E) ** 2,
        "-2*E + 10 + 5*exp(2)",
    ),
    "squares of letters stay": ((x - y) ** 2 + (x - z) ** 2, "(x - y)**2 + (x - z)**2"),
    "a root of a quotient": (1 / (1 + 1 / sqrt(x + y)), "sqrt(x + y)/(sqrt(x + y) + 1)"),
    "a sigmoid of letters": (1 / (1 + exp(-x)), "exp(x)/(exp(x) + 1)"),
    "terms that cancel": ((sqrt(2) + E) * (sqrt(2) - E) - 2 + exp(2), "0"),
    "a share times what cancels": (
        exp(2) / (1 + E + exp(2)) * (1 - (1 + E) / (1 + E + exp(2)) - 1 / (1 + exp(-2) + 1 / E)),
        "0",
    ),
    "inside a function nothing moves": (log(x * y + x) / 2, "log(x*y + x)/2"),
    "a number with i": (I * x / 2 + 1, "(I*x + 2)/2"),
    "a truth value": (x < y, "x < y"),
    "the infinite": (-sympy.oo, "-oo"),
}


@pytest.mark.parametrize(("entry", "text"), FORMS.values(), ids=FORMS)
def test_an_entry_is_shown_over_one_denominator(entry: Any, text: str) -> None:
    assert str(Tidier().tidy(entry)) == text


@pytest.mark.parametrize("entry", [entry for entry, _ in FORMS.values()], ids=FORMS)
def test_what_is_tidy_stays(entry: Any) -> None:
    once = Tidier().tidy(entry)
    assert Tidier().tidy(once) == once


def test_parts_that_were_read_before_change_no_form() -> None:
    tidier = Tidier()
    assert [str(tidier.tidy(entry)) for entry, _ in FORMS.values()] == [text for _, text in FORMS.values()]


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda pair: pair[0] + pair[1]),
        pairs.map(lambda pair: pair[0] * pair[1]),
        pairs.map(lambda pair: pair[0] / (pair[1] ** 2 + 1)),
        inner.map(lambda entry: entry**2),
        inner.map(lambda entry: sqrt(entry**2 + 2)),
        inner.map(lambda entry: -entry / 3),
    )


FRACTIONS = st.fractions(-3, 3, max_denominator=6).map(lambda f: Rational(f.numerator, f.denominator))
LEAVES = st.one_of(FRACTIONS, FRACTIONS.map(exp), st.sampled_from([sqrt(2), sqrt(3), exp(sqrt(2)), x, y, exp(x)]))
ENTRIES = st.recursive(LEAVES, _combined, max_leaves=6)


@pytest.mark.thorough
@given(ENTRIES)
def test_the_number_stays(entry: Any) -> None:
    before, after = (form.subs(NUMBERS).evalf(30) for form in (entry, Tidier().tidy(entry)))
    assert abs(before - after) <= 1e-20 * (1 + abs(before))


@given(st.lists(FRACTIONS, min_size=2, max_size=4, unique=True), FRACTIONS)
def test_shares_are_written_as_sympy_writes_them(scores: list[Any], number: Any) -> None:
    whole = sympy.Add(*map(exp, scores))
    shares = [Tidier().tidy(exp(score) / whole) for score in scores]
    for share in shares:
        form = Tidier().tidy(number * share)
        assert form == form.func(*form.args) if form.args else form == 0
        assert Tidier().tidy(share * (1 - sympy.Add(*shares))) == 0


@pytest.mark.thorough
@given(ENTRIES)
@example(-exp(-6 + 2 * sqrt(2)) / 3)
def test_operations_are_those_that_sympy_counts(entry: Any) -> None:
    """But for one or a tenth: SymPy counts e^(2√2 − 6)/3 as 1/(3·e^(6 − 2√2)), since its exponent is below 0."""
    for form in (entry, Tidier().tidy(entry)):
        assert abs(Extents().operations(form) - sympy.count_ops(form)) <= max(1, sympy.count_ops(form) / 10)


@pytest.mark.parametrize("entry", [entry for entry, _ in FORMS.values() if isinstance(entry, sympy.Expr)], ids=str)
def test_operations_of_plain_forms_are_just_those(entry: Any) -> None:
    assert Extents().operations(entry) == sympy.count_ops(entry)


@given(ENTRIES)
def test_parts_bound_the_operations(entry: Any) -> None:
    extents = Extents()
    assert extents.operations(entry) <= 3 * extents.of(entry).parts
