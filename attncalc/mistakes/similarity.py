"""Mistakes of comparing and ranking: another measure than asked for, another order."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.similarity import unit_rows
from attncalc.calculations.vectors import length
from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import ranking as best
from attncalc.language.ops import spread


def _ranked(s: Scope, values: Node) -> Node:
    """The best by other values, as many, and with the same left out."""
    _, *left_out = parts(s.this, "ranking")
    return best(values, s.this.args["top"], *left_out)


def _apart(one: Node, rows: Node) -> Node:
    """How far a vector is from every row."""
    leads = tuple(axis for axis in one.axes[:-1] if axis.name not in rows.names)
    return length(spread(rows, leads + rows.axes) - one)


def _nearest(measured: str, between: Callable[[Scope], tuple[Node, Node]]) -> Callable[[Scope], Node]:
    """Distances in the step that measures, and the smallest of them first."""

    def rule(s: Scope) -> Node:
        distances = _apart(*between(s))
        return distances if s.step.args["name"] == measured else _ranked(s, -distances)

    return rule


def _inputs_kept(s: Scope) -> Node:
    if len(parts(s.this, "ranking")) == 1:
        raise NotThere("inputs")
    return best(s.similarities, s.this.args["top"])


RANKING = (
    wrong(
        "rank-smallest-first",
        "ranking",
        lambda s: _ranked(s, -parts(s.this, "ranking")[0]),
        says="the smallest value first",
        hint="Which value belongs to the best match: the largest, or the smallest?",
    ),
    wrong(
        "rank-from-1",
        "ranking",
        lambda s: s.this + 1,
        says="positions counted from 1",
        hint="What number does the first row have here?",
        kind="convention",
    ),
)

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
    "mips": (
        wrong(
            "cos-dot-normalised",
            "scores",
            lambda s: s.q @ unit_rows(s.keys).T,
            says="divided by the keys' lengths: the order of the cosines",
            hint="May a longer key win because it is longer?",
        ),
        wrong(
            "cos-dot-normalised",
            "scores",
            lambda s: unit_rows(s.q) @ unit_rows(s.keys).T,
            says="the cosines in place of the inner products",
            hint="May a longer key win because it is longer?",
        ),
        wrong(
            "mips-nearest",
            "scores ranking",
            _nearest("scores", lambda s: (s.q, s.keys)),
            says="the keys at the smallest distance",
            hint="Is the nearest key always the one with the largest inner product?",
        ),
        *RANKING,
    ),
    "analogy": (
        wrong(
            "ana-inputs-kept",
            "ranking",
            _inputs_kept,
            says="the three inputs are ranked as well",
            hint="May the answer be one of the three words of the question?",
        ),
        wrong(
            "ana-reversed",
            "target",
            lambda s: s.b - s.a + s.c,
            says="b − a + c in place of a − b + c",
            hint="From which of the two to which other does the step go?",
        ),
        wrong(
            "ana-exchanged",
            "target",
            lambda s: s.a + s.b - s.c,
            says="a + b − c in place of a − b + c",
            hint="Which of the three is taken away?",
        ),
        wrong(
            "cos-dot-normalised",
            "similarities",
            lambda s: s.target @ s.vocabulary.T,
            says="the dot products in place of the cosines",
            hint="Should a longer vector be nearer because it is longer?",
        ),
        wrong(
            "ana-distance",
            "similarities ranking",
            _nearest("similarities", lambda s: (s.target, s.vocabulary)),
            says="the distances in place of the cosines",
            hint="Is nearness meant by place here, or by direction?",
            kind="convention",
        ),
        *RANKING,
    ),
}
"""Calculation → its mistakes, the commonest first."""
