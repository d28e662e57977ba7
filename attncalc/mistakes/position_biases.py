"""Mistakes of biases by position: slopes of ALiBi, buckets of T5."""

from __future__ import annotations

import numpy as np

from attncalc.declare.mistake import Mistake, Rule, Scope, alternative, chosen, parts, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import absolute, keep_where, maximum, minimum
from attncalc.mistakes.masking import Exponent, by_key, powers, sloped

# ALiBi


def _slopes(exponent: Exponent) -> Rule:
    """Slopes 2^−…, a function of the head's number from 0 and of how many there are."""
    return lambda s: powers(exponent, s.this.axes[-1])


def _by_key(s: Scope) -> Node:
    parts(s.this, "where")  # NotThere without a causal mask: distances then go to both sides
    return by_key(s.this)


def _gaining(s: Scope) -> Node:
    if s.this.op == "where":
        allowed, x, _ = parts(s.this, "where")
        return keep_where(allowed, -x, -np.inf)
    return -s.this


ALIBI = (
    alternative(
        "alibi-by-key", "bias", _by_key, says="+m·j in place of −m·(i − j): a row's constant makes no difference"
    ),
    *sloped("slopes", _slopes),
    wrong(
        "alibi-plus",
        "bias",
        _gaining,
        says="+m·|i − j|",
        hint="Does a key that is far away get a larger score, or a smaller one?",
    ),
    wrong(
        "alibi-no-slope",
        "slopes",
        lambda s: 0 * s.this + 1,
        says="the slope 1 for every head",
        hint="Is there a slope for each head?",
    ),
    wrong(
        "alibi-signed-bidir",
        "distances",
        lambda s: parts(s.this, "abs")[0],
        says="−m·(i − j), with its sign, where nothing is masked",
        hint="Is that a distance, or a difference?",
    ),
)


# T5


def _capped(s: Scope) -> Node:
    """Buckets without the logarithmic part."""
    distance, causal, buckets = s.relative_positions, s.options["causal"], s.options["buckets"]
    if buckets is None:
        buckets = s.table.axes[-2].size if "table" in s else 32
    if causal:
        return minimum(maximum(0 - distance, 0), buckets - 1)
    half = buckets // 2
    later = keep_where(as_node(0) < distance, half, 0)
    return minimum(absolute(distance), half - 1) + later


T5 = (
    wrong(
        "t5-sign",
        "relative_positions",
        lambda s: -s.this,
        says="query − key",
        hint="Is the distance to a key in the past negative, or positive?",
    ),
    *(
        wrong("t5-bidir", options=chosen(causal={reads: not reads}), says=says, hint=hint)
        for reads, says, hint in (
            (True, "the encoder's buckets in a decoder", "Can a decoder see the future?"),
            (False, "the decoder's buckets in an encoder", "Can an encoder see the future?"),
        )
    ),
    wrong(
        "t5-log-bucket",
        "buckets",
        _capped,
        says="without the logarithmic buckets for far distances",
        hint="Which bucket does a far distance fall into?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"alibi": ALIBI, "t5-bias": T5}
"""Calculation → its mistakes, the commonest first."""
