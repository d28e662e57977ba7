"""Mistakes of products, angles and projections."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.vectors import length
from attncalc.declare.mistake import Mistake, NotThere, Scope, flipped, like, parts, wrong
from attncalc.language.graph import Node, constant
from attncalc.language.ops import absolute, arccos, outer, pi, rename, sqrt, total

LENGTHS = "Would doubling one of the vectors change your answer?"


def _over(divisor: Callable[[Scope], Node]) -> Callable[[Scope], Node]:
    """The dot product over another divisor, in the steps where it is made and used."""

    def rule(s: Scope) -> Node:
        return divisor(s) if s.step.args["name"] == "norm_product" else s.dot / s.norm_product

    return rule


def _same_norm(name: str) -> Mistake:
    return wrong(
        "cos-same-norm",
        "norm_product cosine",
        _over(lambda s: getattr(s, f"norm_{name}") ** 2),
        says=f"a·b over {name}·{name}",
        hint="Were both vectors used?",
    )


def _one_norm(name: str) -> Mistake:
    return wrong(
        "cos-one-norm",
        "norm_product cosine",
        _over(lambda s: getattr(s, f"norm_{name}")),
        says=f"a·b over ‖{name}‖ alone",
        hint=LENGTHS,
    )


def _without_roots(s: Scope) -> Node:
    return s.dot / s.norm_product if s.step.args["name"] == "cosine" else parts(s.this, "root_of_sum")[0]


def _absolutes(s: Scope) -> Node:
    return s.dot / s.norm_product if s.step.args["name"] == "cosine" else total(absolute(_vector(s)))


def _vector(s: Scope) -> Node:
    return s.a if s.step.args["name"].endswith("a") else s.b


COSINE = (
    wrong(
        "cos-distance",
        "cosine",
        lambda s: 1 - s.this,
        says="1 − cosine, the distance",
        hint="Is the answer for two identical vectors 0, or 1?",
    ),
    wrong(
        "cos-distance",
        "distance",
        lambda s: s.cosine,
        says="the cosine, in place of 1 − cosine",
        hint="Is the answer for two identical vectors 0, or 1?",
    ),
    wrong(
        "cos-no-sqrt",
        "norm_a norm_b cosine",
        _without_roots,
        says="a·b over (a·a)(b·b): no roots",
        hint="Is the divisor made of lengths, or of their squares?",
    ),
    wrong(
        "cos-double-root",
        "norm_product cosine",
        _over(lambda s: sqrt(s.norm_a * s.norm_b)),
        says="a·b over √(‖a‖·‖b‖): a root too many",
        hint="How many roots were taken?",
    ),
    _same_norm("a"),
    _same_norm("b"),
    wrong(
        "cos-sum-norms",
        "norm_product cosine",
        _over(lambda s: s.norm_a + s.norm_b),
        says="a·b over ‖a‖ + ‖b‖",
        hint=LENGTHS,
    ),
    _one_norm("a"),
    _one_norm("b"),
    wrong(
        "cos-l1",
        "norm_a norm_b cosine",
        _absolutes,
        says="lengths as sums of absolute values",
        hint="How was each length found?",
    ),
    wrong(
        "cos-abs",
        "cosine",
        lambda s: absolute(s.this),
        says="the cosine without its sign",
        hint="What does the cosine say of two vectors that point away from each other?",
    ),
    wrong(
        "cos-angle",
        "cosine",
        lambda s: arccos(s.this),
        says="the angle, in radians",
        hint="Is the angle asked for, or its cosine?",
    ),
    wrong(
        "cos-angle",
        "cosine",
        lambda s: arccos(s.this) * constant(180) / pi(),
        says="the angle, in degrees",
        hint="Is the angle asked for, or its cosine?",
    ),
    wrong(
        "cos-dot-normalised",
        "cosine",
        lambda s: s.dot,
        says="the dot product in place of the cosine",
        hint="Were the lengths divided out?",
    ),
)

DOT = (
    wrong(
        "dot-not-summed",
        "dot",
        lambda s: s.products,
        says="the products, not added up",
        hint="Is the answer a number, a vector or a matrix?",
    ),
    wrong(
        "outer-for-inner",
        "dot",
        lambda s: outer(s.a, rename(s.b, s.b.names[-1], "m")),
        says="the outer product a·bᵀ",
        hint="Is the answer a number, a vector or a matrix?",
    ),
    wrong(
        "cos-dot-normalised",
        "dot",
        lambda s: s.this / (length(s.a) * length(s.b)),
        says="the cosine in place of the dot product",
        hint="Should the lengths be divided out here?",
    ),
)


def _paired(s: Scope) -> Node:
    """The entries of a beside those of b, where there are as many."""
    return s.a * like(s.b, s.a)


OUTER = (
    wrong(
        "outer-swapped",
        "outer",
        lambda s: flipped(s.this),
        says="b·aᵀ in place of a·bᵀ",
        hint="Which of the two vectors gives the rows?",
    ),
    wrong(
        "inner-for-outer",
        "outer",
        lambda s: total(_paired(s)),
        says="the dot product a·b",
        hint="Is the answer a number, a vector or a matrix?",
    ),
    wrong(
        "outer-elementwise",
        "outer",
        _paired,
        says="a ⊙ b, entry by entry",
        hint="How many entries of b does each entry of a meet?",
    ),
)

SHADOW = "If the target were twice as long, would the shadow change?"
NUMBER = "Is a shadow a number, or a vector?"


def _own_square(s: Scope) -> Node:
    return total(s.a**2)


def _swapped(s: Scope) -> Node:
    if "coefficients" in s:
        raise NotThere("a single target")
    name = s.step.args["name"]
    if name == "residual":
        return s.onto - s.projection
    return _own_square(s) if name == "squared_norm" else s.coefficient * s.a


def _column_by_column(s: Scope) -> Node:
    agreements = s.this.sources[1]
    return like(agreements / total(s.onto**2, s.onto.names[-2]), s.this)


PROJECT = (
    wrong(
        "proj-length-once",
        "squared_norm",
        lambda s: length(s.onto),
        says="(a·b/‖b‖)·b: divided by the length once, not twice",
        hint=SHADOW,
    ),
    wrong(
        "proj-length-once",
        "coefficient",
        lambda s: s.dot / length(s.onto),
        says="(a·b/‖b‖)·b: divided by the length once, not twice",
        hint=SHADOW,
    ),
    wrong(
        "proj-not-divided",
        "coefficient",
        lambda s: s.dot,
        says="(a·b)·b: nothing is divided",
        hint=SHADOW,
    ),
    wrong(
        "proj-other-square",
        "squared_norm",
        _own_square,
        says="(a·b/(a·a))·b: divided by the square of the vector, not of the target",
        hint="Which of the two lengths must not matter in the end?",
    ),
    wrong(
        "proj-swapped",
        "squared_norm projection residual",
        _swapped,
        says="the target projected on the vector",
        hint="On which of the two lines does the shadow lie?",
    ),
    wrong(
        "proj-scalar",
        "projection",
        lambda s: s.dot / length(s.onto),
        says="a·b/‖b‖, the length of the shadow",
        hint=NUMBER,
    ),
    wrong(
        "proj-scalar",
        "projection",
        lambda s: s.coefficient,
        says="a·b/(b·b), the coefficient alone",
        hint=NUMBER,
    ),
    wrong(
        "proj-residual",
        "projection",
        lambda s: s.a - s.this,
        says="what is left over, in place of the projection",
        hint="Which of the two parts of the vector points along the target?",
    ),
    wrong(
        "proj-no-gram",
        "coefficients",
        lambda s: like(s.this.sources[1], s.this),
        says="B·Bᵀ·a, without (Bᵀ·B)⁻¹",
        hint="Are the columns of length 1 and at right angles to one another?",
    ),
    wrong(
        "proj-columns-apart",
        "coefficients",
        _column_by_column,
        says="the shadows on the single columns, added up",
        hint="Are the columns at right angles to one another, or is something counted twice?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"dot": DOT, "outer": OUTER, "cosine": COSINE, "project": PROJECT}
"""Calculation → its mistakes, the commonest first."""
