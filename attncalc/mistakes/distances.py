"""Mistakes of lengths and distances: the power, the sum, the root; which difference is taken, and how it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attncalc.calculations.vectors import length
from attncalc.declare.mistake import Mistake, NotThere, Options, Rule, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import absolute, mean, peak, sqrt, total

UNITS = "In what unit is the answer: that of the entries, or its square?"
ORDER = "Were the differences squared before they were added up?"
LARGEST = "Which of the differences count?"
EACH_ENTRY = "What is done with each entry before they are added up?"


def _for(is_meant: Callable[[Any], bool], rule: Rule) -> Rule:
    """A rule for norms of some powers alone."""

    def of_such(s: Scope) -> Node:
        if not is_meant(s.options["p"]):
            raise NotThere("p")
        return rule(s)

    return of_such


def _squares(p: Any) -> bool:
    return bool(p == 2)


def _is_finite(p: Any) -> bool:
    return bool(p != "inf")


def _has_root(p: Any) -> bool:
    return p not in (1, "inf")


def _other_root(p: Any) -> bool:
    return p not in (1, 2, "inf")


def _keeps_signs(p: Any) -> bool:
    """Whether a power of a negative number is negative."""
    return p == "inf" or _is_odd(p)


def _is_odd(p: Any) -> bool:
    return bool(p != "inf" and p % 2 == 1)


def _power_for(is_meant: Callable[[Any], bool], p: int) -> Options:
    """Another power, where one of these was asked for."""

    def change(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if not is_meant(given["p"]):
            raise NotThere("p")
        return {"p": p}

    return change


def _added_up(entries: Callable[[Node], Node]) -> Rule:
    """Of each entry something else than its power, and the sum of that without a root."""
    return lambda s: entries(s.a) if s.step.args["name"] == "powers" else total(entries(s.a))


def _no_root(id: str, at: str) -> Mistake:
    return wrong(
        id,
        at,
        _for(_has_root, lambda s: s.sum),
        says="no root is taken",
        hint="What undoes the power in the end?",
    )


def _square_root(id: str, at: str) -> Mistake:
    return wrong(
        id,
        at,
        _for(_other_root, lambda s: sqrt(s.sum)),
        says="the square root of the sum, whatever the power is",
        hint="Which root undoes this power?",
    )


NORM = (
    _no_root("norm-no-root", "norm"),
    wrong(
        "norm-not-squared",
        "powers norm",
        _for(_squares, _added_up(lambda a: a)),
        says="Σa: the entries were not squared",
        hint=EACH_ENTRY,
    ),
    wrong(
        "norm-not-squared",
        "powers norm",
        _for(_squares, _added_up(absolute)),
        says="Σ|a|: the entries were not squared",
        hint=EACH_ENTRY,
    ),
    wrong(
        "norm-not-squared",
        "powers",
        _for(_squares, lambda s: s.a),
        says="√Σa: the entries were not squared",
        hint=EACH_ENTRY,
    ),
    wrong(
        "norm-sum-first",
        "sum",
        _for(_squares, lambda s: total(s.a) ** 2),
        says="(Σa)²: added up before squaring",
        hint="Which comes first: squaring, or adding up?",
    ),
    wrong(
        "norm-max",
        "norm",
        _for(_is_finite, lambda s: peak(absolute(s.a))),
        says="the largest entry",
        hint="Do the other entries count as well?",
    ),
    wrong(
        "norm-mean",
        "sum",
        _for(_is_finite, lambda s: mean(s.powers)),
        says="the mean of the powers in place of their sum",
        hint="Does a further entry make a vector longer?",
    ),
    wrong(
        "norm-euclidean",
        options={"p": 2},
        says="√Σa², whatever the power is",
        hint="Which power was asked for?",
    ),
    _square_root("norm-square-root", "norm"),
    wrong(
        "norm-no-abs",
        "powers",
        _for(_keeps_signs, lambda s: s.a if s.options["p"] == "inf" else s.a ** int(s.options["p"])),
        says="the entries with their signs",
        hint="May a negative entry make a vector shorter?",
    ),
)


def _plus(id: str) -> Mistake:
    return wrong(
        id,
        "difference",
        lambda s: s.a + s.b,
        says="a + b in place of a − b",
        hint="How far is a point from itself?",
    )


MANHATTAN = (
    wrong(
        "man-no-abs",
        "absolute",
        lambda s: s.difference,
        says="Σ(a − b): the differences with their signs",
        hint="May a step back undo a step forward?",
    ),
    wrong(
        "man-sum-first",
        "distance",
        lambda s: absolute(total(s.difference)),
        says="|Σ(a − b)|: added up before the signs are dropped",
        hint="Which comes first: dropping the signs, or adding up?",
    ),
    wrong(
        "man-squared",
        "absolute distance",
        lambda s: total(s.difference**2) if s.step.args["name"] == "distance" else s.difference**2,
        says="Σ(a − b)²: the squares of the differences",
        hint="What is added up here: sizes, or their squares?",
    ),
    wrong(
        "man-euclidean",
        "distance",
        lambda s: length(s.difference),
        says="√Σ(a − b)²: the straight line",
        hint="Which way is measured: the straight one, or the one along the axes?",
    ),
    wrong(
        "man-norm-diff",
        "distance",
        lambda s: absolute(total(absolute(s.a)) - total(absolute(s.b))),
        says="the difference of Σ|a| and Σ|b|",
        hint="How far apart are (1, 0) and (0, 1)?",
    ),
    _plus("man-plus"),
    wrong(
        "man-mean",
        "distance",
        lambda s: mean(s.absolute),
        says="the mean of the absolute differences in place of their sum",
        hint="Is a walk the sum of its parts, or their average?",
    ),
    wrong(
        "man-max",
        "distance",
        lambda s: peak(s.absolute),
        says="the largest difference",
        hint=LARGEST,
    ),
)

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
        hint="How far apart are two different vectors of the same length?",
    ),
    _plus("euc-plus"),
    wrong(
        "euc-mean",
        "sum",
        lambda s: mean(s.squares),
        says="the mean of the squares in place of their sum",
        hint="Does Pythagoras add the squares, or average them?",
    ),
    wrong(
        "euc-max",
        "distance",
        lambda s: peak(absolute(s.difference)),
        says="the largest difference",
        hint=LARGEST,
    ),
)

CHEBYSHEV = (
    wrong(
        "cheb-no-abs",
        "absolute",
        lambda s: s.difference,
        says="max(a − b): the differences with their signs",
        hint="May a long step back be shorter than a small step forward?",
    ),
    wrong(
        "cheb-manhattan",
        "distance",
        lambda s: total(s.absolute),
        says="Σ|a − b|: the differences were added up",
        hint=LARGEST,
    ),
    wrong(
        "cheb-euclidean",
        "distance",
        lambda s: length(s.difference),
        says="√Σ(a − b)²: the straight line",
        hint=LARGEST,
    ),
    wrong(
        "cheb-norm-diff",
        "distance",
        lambda s: absolute(peak(absolute(s.a)) - peak(absolute(s.b))),
        says="the difference of max|a| and max|b|",
        hint="How far apart are (1, 0) and (0, 1)?",
    ),
    _plus("cheb-plus"),
)


MINKOWSKI = (
    _no_root("mink-no-root", "distance"),
    _square_root("mink-square-root", "distance"),
    wrong(
        "mink-no-abs",
        "powers",
        _for(_is_odd, lambda s: s.difference ** int(s.options["p"])),
        says="the powers of the differences with their signs",
        hint="May a step back undo a step forward?",
    ),
    wrong(
        "mink-euclidean",
        options=_power_for(_other_root, 2),
        says="√Σ(a − b)², whatever the power is",
        hint="Which power was asked for?",
    ),
    wrong(
        "mink-manhattan",
        options=_power_for(_has_root, 1),
        says="Σ|a − b|, whatever the power is",
        hint="Which power was asked for?",
    ),
    wrong(
        "mink-mean",
        "sum",
        _for(_is_finite, lambda s: mean(s.powers)),
        says="the mean of the powers in place of their sum",
        hint="Does a further axis bring two points nearer?",
    ),
    wrong(
        "mink-max",
        "distance",
        _for(_is_finite, lambda s: peak(absolute(s.difference))),
        says="the largest difference",
        hint=LARGEST,
    ),
    _plus("mink-plus"),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "norm": NORM,
    "euclidean": EUCLIDEAN,
    "manhattan": MANHATTAN,
    "chebyshev": CHEBYSHEV,
    "minkowski": MINKOWSKI,
}
"""Calculation → its mistakes, the commonest first."""
