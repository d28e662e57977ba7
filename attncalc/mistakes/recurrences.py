"""The mistakes of recurrences: features and what weights are divided by; how a state fades and what it takes in."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import outer, take, total


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


def _late(s: Scope) -> Node:
    """The state with the token before in the place of this one; before the first there is none."""
    if s.this.op != "add":
        return 0 * s.this
    faded, new = s.this.sources
    return faded + take(s.added, "n", new.args["at"] - 1)


def _read_before(s: Scope) -> Node:
    """What is read before the token is written: what its state begins with."""
    state, asked = parts(s.this, "matmul")
    if state.sources[0].op != "add":
        return 0 * s.this
    return parts(state.sources[0], "add")[0].sources[1] @ asked


def _without_time(s: Scope) -> Node:
    if s.options["discretization"] == "zoh":
        raise NotThere("euler")
    return outer(s.x, s.b)


BELOW_0 = "What becomes of the state if nothing new comes in?"
HELD = "Which of the two does the paper's own code do?"


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
        # mamba-minimal's issue 29 and VMamba's 88: where does the minus sign come from?
        wrong(
            "ssm-a-log-positive",
            "rates",
            lambda s: -s.this,
            says="A above 0",
            hint=BELOW_0,
        ),
        # 1bit-MONSTER's pull request 1469: what is stored is A already
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
        # mamba-notes' issue 1: h_t from x_{t−1}, as Euler's method has it
        wrong(
            "ssm-input-late",
            "state",
            _late,
            says="what the token before it adds, and not its own",
            hint="Does a token's output know of the token itself?",
        ),
        wrong(
            "ssm-read-before",
            "read",
            _read_before,
            says="read from the state before the token is added",
            hint="Does a token's output know of the token itself?",
        ),
        wrong(
            "ssm-no-state",
            "state",
            lambda s: parts(s.this, "add")[1],
            says="what the token adds, and nothing of earlier ones",
            hint="What does the state keep of earlier tokens?",
        ),
        wrong(
            "ssm-no-decay",
            "state",
            lambda s: parts(parts(s.this, "add")[0], "mul")[1] + parts(s.this, "add")[1],
            says="nothing of the state fades",
            hint="How much of the state is left when a token is over?",
        ),
        wrong(
            "ssm-decay-linear",
            "decay",
            lambda s: 1 + parts(s.this, "exp")[0],
            says="1 + the exponent in place of its exponential",
            hint="Can a share be below 0?",
        ),
        wrong(
            "ssm-added-without-delta",
            "added",
            _without_time,
            says="as if every token lasted for 1",
            hint="Does a token that lasts long add as much as a short one?",
        ),
        wrong(
            "ssm-no-skip",
            "output",
            lambda s: parts(s.this, "add")[0],
            says="without what goes past the state",
            hint="Which way goes past the state?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
