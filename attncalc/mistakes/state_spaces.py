"""Mistakes of state spaces: of a state that fades and takes in tokens, and of a layer with such a state."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.declare.mistake import Mistake, Rule, Scope, inside, parts, replaced, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import concat, exp, index, outer, part_of, sigmoid, softplus, spread, take


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


BELOW_0 = "What becomes of the state if nothing new comes in?"
LEARNED = "Which of the rates of this layer were learned, and where are they kept?"

SCAN = (
    # mamba-minimal's issue 29 and VMamba's 88: where does the minus sign come from?
    wrong(
        "ssm-a-log-positive",
        "rates",
        lambda s: -s.this,
        says="A above 0",
        hint=BELOW_0,
    ),
    wrong(
        "ssm-a-ignored",
        "rates",
        lambda s: 0 * s.this - 1,
        says="A = −1 throughout",
        hint=LEARNED,
    ),
    # the initial values of S4D-real: they stay if a checkpoint's A_log is not loaded
    wrong(
        "ssm-a-not-loaded",
        "rates",
        lambda s: 0 * s.this - index(s.this.names[-1], s.this.axes[-1:], "s") - 1,
        says="A = −1, −2, … along the state, as before any training",
        hint=LEARNED,
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
        lambda s: outer(s.when("discretization", None, "euler").x, s.b),
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
)
"""Mistakes of a scan."""


def _ahead(by: Callable[[int], int]) -> Rule:
    """Windows that end so many tokens behind theirs, of as many as they reach back."""

    def rule(s: Scope) -> Node:
        seen = s.this
        while seen.op != "slice":
            seen = seen.sources[0]
        name, kept = seen.args["over"], seen.args["stop"]
        whole = seen.sources[0]
        first = by(whole.axes[-1].size - kept)
        return replaced(s.this, seen, part_of(whole, name, first, first + kept))

    return rule


def _past_the_gate(s: Scope) -> Node:
    """What goes past the state added behind the gate."""
    found, gate = parts(s.this, "mul")
    read, past = parts(found, "add")
    return read * gate + past


def _biased_after(s: Scope) -> Node:
    """δ's bias added to what softplus has made positive."""
    product, bias = parts(parts(s.this, "softplus")[0], "add")
    return softplus(product) + bias


def _turned_round(s: Scope) -> Node:
    seen, kernel = parts(s.this, "mul")
    return seen * concat([part_of(kernel, "k", i, i + 1) for i in reversed(range(kernel.axes[-1].size))], "k")


def _the_other(one: str, other: str) -> Rule:
    return lambda s: s.due(other if s.step.args["name"] == one else one)


ORDER = "In which order do the parts of this projection lie?"


def _exchanged(id: str, one: str, other: str, says: str) -> Mistake:
    return wrong(id, f"{one} {other}", _the_other(one, other), says=says, hint=ORDER)


def _biasless(at: str) -> Mistake:
    return wrong(
        "bias-missing",
        at,
        lambda s: parts(s.this, "add")[0],
        says="without its bias",
        hint="Which of the projections of this layer have a bias, and has its convolution one?",
    )


_OF_THE_LAYER = (
    _exchanged("gate-up-swapped", "inner", "gate", "what is remembered and its gate are exchanged"),
    _exchanged("ssm-b-c-swapped", "b", "c", "what a token writes to and what it reads from are exchanged"),
    *map(_biasless, ("inner", "gate", "convolved", "delta", "output")),
    *(
        wrong(
            "ssm-conv-looks-ahead",
            "convolved",
            _ahead(by),
            says=says,
            hint="Which tokens stand in the window of the first one?",
        )
        for by, says in (
            (lambda reach: reach, "windows that begin at their token"),
            (lambda reach: reach // 2, "windows with their token in the middle, or behind it"),
            (lambda reach: (reach + 1) // 2, "windows with their token in the middle, or in front of it"),
        )
    ),
    wrong(
        "ssm-conv-linear",
        "x",
        lambda s: s.convolved,
        says="no SiLU behind the convolution",
        hint="What is done to a channel between the convolution and the state?",
    ),
    wrong(
        "ssm-gate-linear",
        "gated",
        lambda s: parts(s.this, "mul")[0] * s.gate,
        says="times the gate itself, without SiLU",
        hint="What does a gate do where it is far below 0?",
    ),
    wrong(
        "ssm-gate-sigmoid",
        "gated",
        lambda s: parts(s.this, "mul")[0] * sigmoid(s.gate),
        says="times the gate's sigmoid, not its SiLU",
        hint="What does a gate do where it is far above 0?",
    ),
    wrong(
        "ssm-skip-past-gate",
        "gated",
        _past_the_gate,
        says="what goes past the state goes past the gate, too",
        hint="Where do the two ways meet, before the gate or behind it?",
    ),
    wrong(
        "gate-missing",
        "gated",
        lambda s: parts(s.this, "mul")[0],
        says="no gate: all that is read goes on",
        hint="What does the gate let through?",
    ),
)
_OF_ITS_PARTS = (
    wrong(
        "conv-flipped",
        "conv/products",
        _turned_round,
        says="the kernel turned round, as in a mathematical convolution",
        hint="Is the kernel turned round before it slides over the tokens?",
    ),
    wrong(
        "ssm-no-softplus",
        "scan/durations",
        lambda s: parts(s.this, "softplus")[0],
        says="δ as the layer left it, without softplus",
        hint="May a token last less than no time?",
    ),
    *(
        wrong(
            "ssm-a-log-as-a",
            "scan/rates",
            rule,
            says=says,
            hint="Is what is stored A itself, or its logarithm?",
        )
        for rule, says in (
            (lambda s: parts(parts(s.this, "neg")[0], "exp")[0], "the logarithm taken for A itself"),
            (lambda s: -parts(parts(s.this, "neg")[0], "exp")[0], "the logarithm taken for −A"),
        )
    ),
    wrong(
        "ssm-bias-after-softplus",
        "scan/durations",
        _biased_after,
        says="softplus before the bias is added",
        hint="Is the bias of δ added in the layer, or to what is positive already?",
    ),
    wrong(
        "ssm-decay-without-delta",
        "scan/decay",
        lambda s: exp(spread(s.rates, s.this.axes)),
        says="the state fades as if every token lasted for 1",
        hint="Does a token that lasts long leave as much of the state as a short one?",
    ),
    # the initial value of D: it stays if a checkpoint's D is not loaded
    wrong(
        "ssm-skip-not-loaded",
        "scan/output",
        lambda s: parts(s.this, "add")[0] + s.x,
        says="D = 1, as before any training",
        hint="How much of its input does each channel hand on?",
    ),
    wrong(
        "ssm-zoh-for-euler",
        "scan/added",
        lambda s: (s.decay - 1) / s.rates * outer(s.x, s.b),
        says="the token fades while it lasts",
        hint="Which of the two does the paper's own code do?",
        kind="convention",
    ),
)
_OF_ALL_TOKENS = ("decay", "added", "rates", "output")
LAYER = (
    *inside(_OF_THE_LAYER, "ssm"),
    *_OF_ITS_PARTS,
    *(one for m in SCAN for one in (inside([m], "scan") if m.at[0] in _OF_ALL_TOKENS else (m,))),
)
"""Mistakes of a layer with a state: in its parts, and in the scan, whose tokens are groups."""
