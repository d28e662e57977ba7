"""The mistakes of sampling: a temperature turned round, a filter that does not share anew, or that cuts too early."""

from __future__ import annotations

from attncalc.calculations.sampling import summed_up
from attncalc.declare.mistake import Mistake, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import keep_where, total

WHAT_IS_LEFT = "What do the shares that are left sum to?"


def _multiplied(s: Scope) -> Node:
    scores, temperature = parts(s.this, "div")
    return scores * temperature


def _not_shared_anew(s: Scope) -> Node:
    return parts(s.this, "div")[0]


def _too_early(s: Scope) -> Node:
    """Only those are kept whose sum stays below p: the one that reaches it is lost."""
    kept, _ = parts(s.this, "div")
    chosen, shares, _ = parts(kept, "where")
    below = summed_up(shares) <= parts(chosen, "less")[1]
    left = keep_where(below, shares, 0)
    return left / total(left)


def _absolute(s: Scope) -> Node:
    return parts(s.this, "mul")[0]


def _divided_throughout(s: Scope) -> Node:
    unseen, scores, less = parts(s.this, "where")
    return keep_where(unseen, scores, parts(less, "where")[2])


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "sampling": (
        wrong(
            "sampling-temperature-multiplied",
            "scaled",
            _multiplied,
            says="multiplied by T",
            hint="Does a low temperature make the likeliest token likelier?",
        ),
        wrong(
            "sampling-not-renormalised",
            "top_k top_p min_p",
            _not_shared_anew,
            says="what is left is not made to sum to 1 again",
            hint=WHAT_IS_LEFT,
        ),
        wrong(
            "sampling-top-p-too-early",
            "top_p",
            _too_early,
            says="the token that reaches p is cut off too",
            hint="Does the token that reaches p still belong to those that are left?",
        ),
        wrong(
            "sampling-min-p-absolute",
            "least",
            _absolute,
            says="min_p of 1, and not of the likeliest one's share",
            hint="Of whose share is that a part?",
        ),
        wrong(
            "sampling-penalty-divided",
            "penalised",
            _divided_throughout,
            says="scores below 0 divided as well",
            hint="Does dividing a negative score lower it?",
        ),
    )
}
