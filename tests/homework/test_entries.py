"""Entries as people write them: in per cent, as fractions and roots, with the decimals of what they are made of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import attncalc as ac
from attncalc.homework.reading.answers import read

SHARES = ac.softmax([2, 0, -1, 0.5])  # 0.7101, 0.0961, 0.0354, 0.1584
TWO = ac.softmax([1, 2])  # e / (e + e²) = 0.26894
COSINE = ac.cosine([1, 2], [2, 3])  # 8 / (√5·√13) = 0.9923
PRODUCT = ac.matmul([[1, 2], [3, 4]], [[0, 1], [1, 1]])
ADAM = ac.optimizer([[0.5]], [1], kind="adam", lr=0.1)  # −0.099999998, and 0.900000002
QUARTER_TURN = ac.derivative("x*pi/2", at=1)
ONE_APART = ac.layernorm([1, 3])  # ±0.999995
CHANCE = "a known mistake may give this, but so may chance, with numbers so few and small"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("trace", "answer", "found"),
    [
        pytest.param(SHARES, ["71.0%", "9.6%", "3.5 %", "15.8%"], "right", id="per cent"),
        pytest.param(SHARES, ["71.0%", "9.6%", "3.5%", "15.9%"], "right-to-rounding", id="per cent, one unit off"),
        pytest.param(SHARES, ["71%", "10%", "4%", "16%"], "right", id="whole per cents, as 0.71"),
        pytest.param(SHARES, ["71.0", "9.6", "3.5", "15.8"], "slip-percent", id="per cent without the sign"),
        pytest.param(SHARES, ["0.71%", "0.10%", "0.04%", "0.16%"], "slip-decimal-point", id="a sign too many"),
        pytest.param(COSINE, "99.23%", "right", id="one number in per cent"),
        pytest.param(TWO, ["≈ 0.269", "~0.731"], "right", id="said to be rounded"),
        pytest.param(TWO, ["2.72/10.11", "7.39/10.11"], "rounded-early", id="a fraction of rounded numbers"),
        pytest.param(SHARES, ["5/7", "2/21", "1/28", "10/63"], "unexplained", id="fractions about as large"),
        pytest.param(COSINE, "9/10", "unexplained", id="a fraction that is no rounding"),
        pytest.param(COSINE, "127/128", "unexplained", id="a fraction to whose last digit narrow numbers go"),
        pytest.param(SHARES, ["2/3", "0", "0", "1/3"], "unexplained", id="fractions among whole numbers"),
        pytest.param(COSINE, "8/sqrt(65)", "right", id="a root"),
        pytest.param(COSINE, "8/√65", "right", id="a root by its sign"),
        pytest.param(COSINE, "8√65/65", "right", id="a root behind its factor"),
        pytest.param(COSINE, "8·√(1/65)", "right", id="a root of a fraction"),
        pytest.param(QUARTER_TURN, "π/2", "right", id="π by its letter"),
        pytest.param(QUARTER_TURN, "≈ 2·π/4", "right", id="π behind a sign"),
        pytest.param(QUARTER_TURN, "0.5π", "right", id="π behind its factor"),
        pytest.param(COSINE, "9.923·10^-1", "right", id="a power of ten"),
        pytest.param(COSINE, "9.923 × 10⁻¹", "right", id="a power of ten, raised"),
        pytest.param(COSINE, "99.23*10**(-2)", "right", id="a power of ten, as programs have it"),
        pytest.param(COSINE, "9.923*10", "unexplained", id="ten times"),
        pytest.param(COSINE, "9√65/65", "unexplained", id="another factor"),
        pytest.param(ADAM, {"update": "-0.1"}, "right", id="what only an ε tells from a number of one digit"),
        pytest.param(ADAM, {"point": "9/10"}, "right", id="what only an ε tells from a fraction"),
        pytest.param(ONE_APART, ["-1", "1"], "unexplained", id="an ε that is seen in the sixth digit"),
    ],
)
def test_an_entry_says_how_exact_it_is(trace: Any, answer: Any, found: str) -> None:
    [step] = trace.check(answer).steps
    assert (step.mistake or step.verdict) == found


@pytest.mark.parametrize("answer", [[], [[]], [[], []]], ids=str)
def test_brackets_around_nothing_are_no_answer(answer: Any) -> None:
    assert SHARES.check(answer).steps[0].verdict == "missing"


@pytest.mark.parametrize("text", ["57.6%", "-0.07 %", "110%", "1.10%", "0%"])
def test_per_cent_is_the_nearest_number_with_two_decimals_more(text: str) -> None:
    number = text.rstrip(" %")
    _, decimals, figures = read(number)
    assert read(text) == (float(Fraction(number) / 100), decimals + 2, figures)


def test_where_all_is_whole_more_decimals_are_not_asked_for() -> None:
    [step] = PRODUCT.check([[3, 4], [4, 6]]).steps
    assert step.hint == CHANCE


@pytest.mark.parametrize(
    ("trace", "answer", "verdict"),
    [
        pytest.param(ADAM, "0.900", "right", id="of a vector"),
        pytest.param(ADAM, "0.800", "wrong", id="another one"),
        pytest.param(ac.attention([[1]], [[1]], [[2]]), "2", "right", id="of a matrix"),
        pytest.param(SHARES, "0.7101", "wrong", id="of several entries"),
    ],
)
def test_the_only_entry_needs_no_brackets(trace: Any, answer: str, verdict: str) -> None:
    assert trace.check(answer).verdict == verdict


@pytest.mark.parametrize(
    ("trace", "answer", "hint"),
    [
        pytest.param(SHARES, [1, 0], "the answer is a list of 2 numbers, and a list of 4 numbers is asked for", id="2"),
        pytest.param(SHARES, 9, "the answer is a single number, and a list of 4 numbers is asked for", id="one"),
        pytest.param(
            SHARES,
            [["0", "25"]] * 4,
            "the answer is 4 × 2, and a list of 4 numbers is asked for; a comma parts numbers here: write 0.5 for 0,5",
            id="decimal commas",
        ),
        pytest.param(PRODUCT, [3, 4, 5], "the answer is a list of 3 numbers, and 2 × 2 is asked for", id="a row"),
    ],
)
def test_how_many_entries_there_are_is_not_taken_for_the_answer(trace: Any, answer: Any, hint: str) -> None:
    assert trace.check(answer).steps[0].hint == hint


EUCLIDEAN = ac.euclidean([1, 2, 3], [2, 4, 6])  # √14 = 3.742
SEPARATING = ac.euclidean([1, -2, 2], [3, 1, -1.5])  # √25.25 = 5.025


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("trace", "answer", "found"),
    [
        pytest.param(EUCLIDEAN, 14, "euc-squared", id="the square of what is asked for"),
        pytest.param(EUCLIDEAN, 6, "euc-sum-first", id="another whole number that a rule gives"),
        pytest.param(EUCLIDEAN, 4, "unexplained", id="what is right, rounded"),
        pytest.param(EUCLIDEAN, 3, "unexplained", id="what is right, cut off, though a rule gives it"),
        pytest.param(EUCLIDEAN, 9, "unexplained", id="a whole number that none gives"),
        pytest.param(SEPARATING, 8.5, "euc-manhattan", id="one decimal, and the value has no more"),
        pytest.param(SEPARATING, 3.5, "euc-max", id="one decimal of another rule"),
        pytest.param(SEPARATING, 8.4, "unexplained", id="one decimal that none gives"),
        pytest.param(ac.cosine([1, 2, 3], [2, 4, 7]), 31, "cos-dot-normalised", id="the product that was not divided"),
        pytest.param(ac.cosine([1, 2, 3], [2, 4, 7]), 1, "unexplained", id="a cosine, rounded to a whole number"),
        pytest.param(ac.dot([1, 2], [3, 4]), [[3, 4], [6, 8]], "outer-for-inner", id="another shape"),
        pytest.param(SHARES, [1, 0, 0, 0], "unexplained", id="shares, rounded to whole numbers"),
        pytest.param(SHARES, ["1.0", "0.0", "0.0", "0.0"], "sm-argmax", id="shares that nobody rounds so"),
    ],
)
def test_a_round_number_that_rounding_does_not_give_comes_from_a_rule(trace: Any, answer: Any, found: str) -> None:
    [step] = trace.check(answer).steps
    assert (step.mistake or step.verdict) == found
