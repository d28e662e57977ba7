"""The mistakes of comparing all pairs: another measure than the one that was asked for."""

from __future__ import annotations

from attncalc.mistake import Mistake, chosen, wrong

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "pairwise": (
        wrong(
            "cos-distance",
            options=chosen(metric={"cosine-similarity": "cosine", "cosine": "cosine-similarity"}),
            says="the cosine in place of 1 − cosine, or the other way round",
            hint="Is the answer for two identical vectors 0, or 1?",
            kind="convention",
        ),
        wrong(
            "cos-dot-normalised",
            options=chosen(metric={"cosine-similarity": "dot", "dot": "cosine-similarity"}),
            says="the dot product in place of the cosine, or the other way round",
            hint="Should the lengths be divided out?",
        ),
        wrong(
            "euc-squared",
            options=chosen(metric={"euclidean": "sqeuclidean"}),
            says="no root is taken",
            hint="In what unit is the answer: that of the entries, or its square?",
        ),
        wrong(
            "euc-manhattan",
            options=chosen(metric={"euclidean": "manhattan"}),
            says="the absolute differences, added up",
            hint="Were the differences squared before they were added up?",
        ),
        wrong(
            "euc-max",
            options=chosen(metric={"euclidean": "chebyshev"}),
            says="the largest difference",
            hint="Which of the differences count?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
