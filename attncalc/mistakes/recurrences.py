"""Mistakes of recurrences: features and the divisor of weights; how a state fades and what it takes in."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import total
from attncalc.mistakes.state_spaces import SCAN


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


HELD = "Which of the two does the paper's own code do?"


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "linear-attention": (
        # performer-pytorch's issue 40: the kernel was called without the divisor
        wrong(
            "linear-attention-not-divided",
            "output",
            lambda s: parts(s.this, "div")[0],
            says="not divided by the sum of the weights",
            hint="What do the weights that a query gives to the keys so far sum to?",
        ),
        # flash-linear-attention's pull request 268: the divisor of a query misses earlier keys
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
    "ssm": (
        # mamba's issues 19, 114 and 121, mamba-minimal's 2: the code does not do what equation 4 says
        wrong(
            "ssm-zoh-for-euler",
            options=chosen(discretization={"euler": "zoh"}),
            says="the token fades while it lasts",
            hint=HELD,
            kind="convention",
        ),
        wrong(
            "ssm-euler-for-zoh",
            options=chosen(discretization={"zoh": "euler"}),
            says="the token does not fade while it lasts",
            hint="Does a token fade while it lasts?",
            kind="convention",
        ),
        # 1bit-MONSTER's pull request 1469: the stored value is A already
        wrong(
            "ssm-a-log-twice",
            options=chosen(a_log={False: True}),
            says="A = −e^a of what is A already",
            hint="Is what is stored A itself, or its logarithm?",
        ),
        wrong(
            "ssm-a-log-as-a",
            options=chosen(a_log={True: False}),
            says="the logarithm taken for A itself",
            hint="Is what is stored A itself, or its logarithm?",
        ),
        wrong(
            "ssm-no-softplus",
            options=chosen(delta_softplus={True: False}),
            says="δ as the layer left it, without softplus",
            hint="May a token last less than no time?",
        ),
        *SCAN,
    ),
}
"""Calculation → its mistakes, the commonest first."""
