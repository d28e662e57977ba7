"""The mistakes of distances."""

from __future__ import annotations

from attncalc.calculations.vectors_mistakes import length
from attncalc.mistake import Mistake, parts, wrong
from attncalc.ops import absolute, mean, peak, total

UNITS = "In what unit is the answer: that of the entries, or its square?"


ORDER = "Were the differences squared before they were added up?"


EUCLIDEAN = (
    wrong(
        "euc-squared",
        "distance",
        lambda s: parts(s.this, "root_of_sum")[0],
        says="no root is taken",
        hint=UNITS,
    ),
    wrong(
        "euc-manhattan",
        "squares distance",
        lambda s: absolute(s.difference) if s.step.args["name"] == "squares" else parts(s.this, "root_of_sum")[0],
        says="the absolute differences, added up",
        hint=ORDER,
    ),
    wrong(
        "euc-sum-first",
        "sum",
        lambda s: total(s.difference) ** 2,
        says="added up before squaring",
        hint=ORDER,
    ),
    wrong(
        "euc-norm-diff",
        "distance",
        lambda s: absolute(length(s.a) - length(s.b)),
        says="the difference of the lengths",
        hint="What is the distance between two different vectors of one length?",
    ),
    wrong(
        "euc-plus",
        "difference",
        lambda s: s.a + s.b,
        says="a + b in place of a − b",
        hint="How far is a point from itself?",
    ),
    wrong(
        "euc-mean",
        "sum",
        lambda s: mean(s.squares),
        says="the mean of the squares in place of their sum",
        hint="Does Pythagoras add up, or average?",
    ),
    wrong(
        "euc-max",
        "distance",
        lambda s: peak(absolute(s.difference)),
        says="the largest difference",
        hint="Which differences count?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"euclidean": EUCLIDEAN}
"""Calculation → its mistakes, the commonest first."""
