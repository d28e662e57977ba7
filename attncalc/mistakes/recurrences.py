"""The mistakes of linear attention: its features, and what a token's weights are divided by."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import total


def _own(s: Scope) -> Node:
    """What a token adds; the first has nothing before it."""
    return parts(s.this, "add")[1]


def _all_keys(s: Scope) -> Node:
    """The sum over the tokens to come, too."""
    key = _own(s) if s.this.op == "add" else s.this
    part = parts(key, "sum")[0]
    return total(parts(part, "slice")[0], "n")


def _by_keys_alone(s: Scope) -> Node:
    mixed, weights = parts(s.this, "div")
    query, state = parts(mixed, "matmul")
    if s.step.args.get("group", "") == "":
        raise NotThere("a token")
    return query @ (state.T / parts(parts(weights, "sum")[0], "mul")[1]).T


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "linear-attention": (
        # performer-pytorch's issue 40: the kernel was called without what is divided by
        wrong(
            "linear-attention-not-divided",
            "output",
            lambda s: parts(s.this, "div")[0],
            says="not divided by the sum of the weights",
            hint="What do the weights that a query gives to the keys so far sum to?",
        ),
        # flash-linear-attention's pull request 268: what a query is divided by misses earlier keys
        wrong(
            "linear-attention-own-key",
            "sum",
            _own,
            says="the key of the token alone",
            hint="Over which keys does a query share its weight?",
        ),
        # flash-linear-attention's pull request 594: the keys were not added up along the tokens
        wrong(
            "linear-attention-all-keys",
            "sum",
            _all_keys,
            says="the sum of all keys that will ever come",
            hint="Which keys have come when this token comes?",
        ),
        # performer-pytorch's issue 21: divided by the keys, without the query
        wrong(
            "linear-attention-sum-without-query",
            "output",
            _by_keys_alone,
            says="each row of the state divided by its own entry of the sum",
            hint="Is what is divided by one number for a query, or one for every feature?",
        ),
        wrong(
            "linear-attention-no-state",
            "state",
            _own,
            says="the state of the token alone",
            hint="What does the state keep of earlier tokens?",
        ),
        wrong(
            "linear-attention-no-feature",
            "q_features k_features",
            lambda s: parts(parts(s.this, "add")[0], "maximum")[1],
            says="without φ",
            hint="May a weight be negative?",
        ),
        # flash-linear-attention's issue 1261: −1 + 1 is lost in bfloat16
        wrong(
            "linear-attention-elu-alone",
            "q_features k_features",
            lambda s: s.this - 1,
            says="elu(x) without the 1 that is added",
            hint="What is the smallest number that a feature can be?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
