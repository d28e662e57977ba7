"""How numbers are rounded, written and aligned."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rows import rows

from attncalc.record.numbers import (
    exact_text,
    format_column,
    format_number,
    parted,
    round_half_up,
    shortest,
    texts,
    widened,
)
from attncalc.record.surds import decimal

INF, NAN = math.inf, math.nan
X = sympy.Symbol("x")

finite = st.floats(allow_nan=False, allow_infinity=False)
ordinary = st.floats(-1e6, 1e6)


ROUNDED = [
    (2.675, 2, 2.68),  # the float64 lies below
    (1.115, 2, 1.12),
    (0.5, 0, 1.0),
    (2.5, 0, 3.0),
    (-2.5, 0, -3.0),
    (-2.675, 2, -2.68),
    (0.12345, 4, 0.1235),
    (9.995, 2, 10.0),
    (0.1 + 0.2, 2, 0.3),
    (1.0, 3, 1.0),
    (1e22, 2, 1e22),
    (123.456, 400, 123.456),
    (1e-7, 30, 1e-7),
    (-INF, 2, -INF),
    (INF, 2, INF),
]


@pytest.mark.parametrize(("number", "decimals", "expected"), ROUNDED, ids=str)
def test_rounding_is_that_of_paper(number: float, decimals: int, expected: float) -> None:
    assert round_half_up(np.array([number]), decimals)[0] == expected


def test_rounding_leaves_no_negative_zero() -> None:
    assert not np.signbit(round_half_up(np.array([-0.0004, -0.0]), 3)).any()


def test_rounding_passes_nan_and_whole_numbers_through() -> None:
    assert np.isnan(round_half_up(np.array([NAN]), 2)).all()
    integers = np.array([1, 2])
    assert round_half_up(integers, 2) is integers
    assert round_half_up(np.array("memory"), 2) == "memory"


def test_rounding_judges_float32_by_its_own_digits() -> None:
    rounded = round_half_up(np.array([2.675], dtype=np.float32), 2)
    assert rounded.dtype == np.float32
    assert str(rounded[0]) == "2.68"


def test_rounding_of_complex_numbers_rounds_both_parts() -> None:
    assert round_half_up(np.array([2.675 - 1.115j]), 2)[0] == 2.68 - 1.12j


@given(arrays(np.float64, 5, elements=finite), st.integers(0, 8))
def test_rounding_equals_decimal_arithmetic_on_the_digits_as_written(values: np.ndarray, decimals: int) -> None:
    exactly = Context(prec=1000, rounding=ROUND_HALF_UP)
    unit = Decimal(1).scaleb(-decimals)
    expected = [float(Decimal(repr(x)).quantize(unit, context=exactly)) for x in values.tolist()]
    assert round_half_up(values, decimals).tolist() == expected


@given(st.integers(-(10**9), 10**9), st.integers(1, 6))
def test_every_half_is_rounded_away_from_zero(whole: int, decimals: int) -> None:
    half = Decimal(whole).scaleb(-decimals) + Decimal(5).scaleb(-decimals - 1).copy_sign(whole)
    expected = float(Decimal(whole + (1 if whole >= 0 else -1)).scaleb(-decimals))
    assert round_half_up(np.array([float(half)]), decimals)[0] == expected


NUMBERS = [
    (0.64, None, "0.64"),
    (0.6399999999999999, None, "0.64"),  # what is left of 0.64 in float64
    (0.97849719, None, "0.9785"),
    (0.50003, None, "0.5000"),  # rounded, and says so
    (2.0, None, "2"),
    (-0.0, None, "0"),
    (-0.00004, None, "-4e-05"),
    (1.747e-7, None, "1.747e-07"),
    (6.9877e-4, None, "6.988e-04"),
    (0.0005, None, "0.0005"),
    (0.00099996, None, "0.0010"),  # a thousandth, when it is rounded
    (123456789012.0, None, "123456789012"),
    (1e300, None, "1e+300"),
    (1234567890.5, None, "1.235e+09"),
    (INF, None, "∞"),
    (-INF, None, "−∞"),
    (NAN, None, "NaN"),
    (1 + 2j, None, "1 + 2i"),
    (-0.5 - 1.25j, None, "-0.50 - 1.25i"),
    (7, None, "7"),
    (0.64, 4, "0.6400"),
    (2.675, 2, "2.68"),
    (2.0, 3, "2"),
    (0.1, 20, "0.10000000000000000000"),  # and not 0.10000000000000000555
    (123456789.1, 10, "123456789.1000000000"),
    (1.5e-30, 12, "1.50000000000e-30"),
    (0.0001, 2, "1.0e-04"),
    (np.float32(0.1), 6, "0.100000"),
    (sympy.Rational(1, 2), None, "1/2 = 0.5"),
    (sympy.Rational(1, 3), None, "1/3 ≈ 0.3333"),
    (sympy.Integer(3), None, "3"),
    (sympy.sqrt(3) / 3, 2, "√3/3 ≈ 0.58"),
    (sympy.sqrt(2), 30, "√2 ≈ 1.414213562373095048801688724210"),  # more than a float has
    (sympy.exp(2000), None, "e²⁰⁰⁰ ≈ 3.881e+868"),  # larger and smaller than any float
    (-sympy.exp(-2000), 2, "-e^(-2000) ≈ -2.6e-869"),
    (sympy.Rational(1, 2) - sympy.cos(sympy.pi / 3), None, "0"),
    (X + 1, None, "x + 1"),
]


@rows(("number", "digits", "expected"), NUMBERS, ids=[f"{n} to {d}" for n, d, _ in NUMBERS])
def test_a_number_alone(number: object, digits: int | None, expected: str) -> None:
    assert format_number(number, digits) == expected


COLUMNS = [
    ("whole numbers", [1.0, -20.0], ["  1", "-20"]),
    ("as few decimals as give all", [0.5, 0.25, 3.0], ["0.50", "0.25", "3.00"]),
    ("four at most", [1 / 3, 1.0], ["0.3333", "1.0000"]),
    ("masked", [0.5, -INF], ["0.5", " −∞"]),
    ("faint among others", [1.2e-7, 0.5], ["1.2e-07", "0.5000 "]),
    ("all faint", [1.747e-7, 6.988e-4, 0.0], ["1.747e-07", "6.988e-04", "0        "]),
    ("complex", [1 + 2j, -0.5 - 1j], [" 1.0 + 2.0i", "-0.5 - 1.0i"]),
    ("truth", [True, False], ["1", "0"]),
    ("none", [], []),
]


@pytest.mark.parametrize(("values", "expected"), [row[1:] for row in COLUMNS], ids=[row[0] for row in COLUMNS])
def test_a_column(values: list[complex], expected: list[str]) -> None:
    assert format_column(values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.0051, 0.0032], ["0.01   ", "3.2e-03"]), ([0.00091, 0.0003], ["9.1e-04", "3.0e-04"])],
    ids=["one that is not faint keeps its decimals", "none that is not: all are scientific"],
)
def test_a_column_of_small_numbers_to_few_decimals(values: list[float], expected: list[str]) -> None:
    assert format_column(values, 2) == expected


def test_exact_entries_stand_beside_their_decimals() -> None:
    column = [sympy.Integer(1), sympy.sqrt(3) / 3, -sympy.oo]
    assert format_column(np.array(column, dtype=object)) == ["   1         ", "√3/3 ≈ 0.5774", "  −∞         "]


def test_what_is_exact_ends_at_the_sign_behind_it_whatever_it_begins_with() -> None:
    column = [1 / (1 + sympy.exp(2)), sympy.Rational(1, 2), sympy.Integer(10)]
    assert format_column(np.array(column, dtype=object)) == [
        "1/(1 + e²) ≈ 0.1192",
        "       1/2 = 0.5   ",
        "        10         ",
    ]


@given(st.lists(ordinary, min_size=1, max_size=8), st.integers(0, 8))
def test_a_column_is_aligned_and_right_to_half_a_unit(values: list[float], digits: int) -> None:
    column = format_column(values, digits)
    assert len(set(map(len, column))) == 1
    points = {text.index(".") for text in column if "." in text}
    assert len(points) <= 1
    for text, value in zip(column, values, strict=True):
        assert float(text) != 0 or value == 0
        assert not text.strip().startswith("-0.") or value < 0
        slack = 0.5 * 10.0**-digits if "e" not in text else 0.5 * abs(value)
        assert abs(float(text) - value) <= slack * (1 + 1e-9) + math.ulp(value)


@given(arrays(np.float64, (2, 3), elements=ordinary))
def test_a_table_has_one_number_of_decimals(values: np.ndarray) -> None:
    fixed = [text for text in texts(values).flat if "e" not in text]
    assert len({len(text.partition(".")[2]) for text in fixed}) <= 1


@given(st.floats())
def test_shortest_brings_the_same_number_back(number: float) -> None:
    assert float(shortest(number)) == number or math.isnan(number)


SHORTEST = [
    (32.0, "32"),
    (0.1, "0.1"),
    (-0.0, "0"),
    (1e16, "1e+16"),
    (np.float32(0.1), "0.1"),
    (np.int64(7), "7"),
    (np.True_, "true"),
    (1.5 - 2j, "1.5-2i"),
    (-INF, "-inf"),
    (sympy.sqrt(3) / 3, "sqrt(3)/3"),
    (-sympy.oo, "-inf"),
    (-2 * sympy.log(3), "-2*ln(3)"),
    (sympy.E, "exp(1)"),
]


@pytest.mark.parametrize(("number", "expected"), SHORTEST, ids=[text for _, text in SHORTEST])
def test_shortest(number: object, expected: str) -> None:
    assert shortest(number) == expected


def test_float32_is_widened_to_the_same_digits() -> None:
    assert widened(np.array([0.1, 2.675], dtype=np.float32)).tolist() == [0.1, 2.675]


EXACT = [
    (1 / (1 + sympy.exp(sympy.sqrt(3) / 3)), "1/(1 + e^(√3/3))"),
    (2 * sympy.sqrt(3), "2·√3"),
    (sympy.exp(-X), "e^(-x)"),
    (sympy.exp(X**2), "e^(x²)"),
    (sympy.sqrt(X**3 + X**2 * sympy.exp(1)), "√(x³ + e·x²)"),
    (sympy.E, "e"),
    (sympy.sqrt(X + 1), "√(x + 1)"),
    (1 / sympy.sqrt(X), "1/√x"),
    (X**2 / 2, "x²/2"),
    (sympy.Symbol("q_00") * sympy.Symbol("q_10,2") ** 12, "q₀₀·q_10,2¹²"),
    (sympy.pi / 2, "π/2"),
    (sympy.log(2), "ln(2)"),
    (1 + 2 * sympy.I, "1 + 2·i"),
    (-sympy.oo, "−∞"),
    (3, "3"),
]


@pytest.mark.parametrize(("entry", "expected"), EXACT, ids=[text for _, text in EXACT])
def test_exact_text(entry: object, expected: str) -> None:
    assert exact_text(entry) == expected


@pytest.mark.parametrize(
    ("entry", "parts"),
    [
        ("√3/3 ≈ 0.5774", ("√3/3", " ≈ ", "0.5774")),
        ("1/2 = 0.5", ("1/2", " = ", "0.5")),
        ("3", ("3", "", "")),
    ],
)
def test_an_exact_entry_and_its_decimals(entry: str, parts: tuple[str, str, str]) -> None:
    assert parted(entry) == parts


def test_what_cancels_as_far_as_anybody_looks_is_nothing() -> None:
    e = sympy.exp(sympy.sqrt(2))
    nothing = 1 / (1 + 1 / e) - e / (1 + e)  # which SymPy takes for 1e-125 or so
    assert format_number(np.array(nothing, dtype=object)).endswith(" ≈ 0")
    assert decimal(nothing) == 0
    assert format_number(np.array(sympy.exp(-500), dtype=object)) == "e^(-500) ≈ 7.125e-218"
