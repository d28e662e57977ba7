"""The mistakes of products and of angles."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.graph import Node, constant
from attncalc.mistake import Mistake, Scope, parts, wrong
from attncalc.ops import absolute, arccos, outer, pi, rename, root_of_sum, sqrt, total

LENGTHS = "Would doubling one of the vectors change your answer?"


def length(x: Node) -> Node:
    """Euclid's length."""
    return root_of_sum(total(x**2), x, 2)


def _over(divisor: Callable[[Scope], Node]) -> Callable[[Scope], Node]:
    """The dot product over another divisor, in the steps where it is made and used."""

    def rule(s: Scope) -> Node:
        return divisor(s) if s.step.args["name"] == "norm_product" else s.dot / s.norm_product

    return rule


def _without_roots(s: Scope) -> Node:
    return s.dot / s.norm_product if s.step.args["name"] == "cosine" else parts(s.this, "root_of_sum")[0]


def _absolutes(s: Scope) -> Node:
    return s.dot / s.norm_product if s.step.args["name"] == "cosine" else total(absolute(_vector(s)))


def _vector(s: Scope) -> Node:
    return s.a if s.step.args["name"].endswith("a") else s.b


def _degrees(s: Scope) -> Node:
    return arccos(s.this) * constant(180) / pi()


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
    wrong(
        "cos-same-norm",
        "norm_product cosine",
        _over(lambda s: s.norm_a**2),
        says="a·b over a·a",
        hint="Were both vectors used?",
    ),
    wrong(
        "cos-same-norm",
        "norm_product cosine",
        _over(lambda s: s.norm_b**2),
        says="a·b over b·b",
        hint="Were both vectors used?",
    ),
    wrong(
        "cos-sum-norms",
        "norm_product cosine",
        _over(lambda s: s.norm_a + s.norm_b),
        says="a·b over ‖a‖ + ‖b‖",
        hint=LENGTHS,
    ),
    wrong(
        "cos-one-norm",
        "norm_product cosine",
        _over(lambda s: s.norm_a),
        says="a·b over ‖a‖ alone",
        hint=LENGTHS,
    ),
    wrong(
        "cos-one-norm",
        "norm_product cosine",
        _over(lambda s: s.norm_b),
        says="a·b over ‖b‖ alone",
        hint=LENGTHS,
    ),
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
        _degrees,
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


MISTAKES: dict[str, tuple[Mistake, ...]] = {"dot": DOT, "cosine": COSINE}
"""Calculation → its mistakes, the commonest first."""
