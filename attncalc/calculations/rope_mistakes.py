"""The mistakes of rotary positions: which two make a pair, whose width counts, which way they turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncalc.calculations.positions import sinusoidal_encoding
from attncalc.graph import Node, as_node, named_size
from attncalc.mistake import Mistake, NotThere, Scope, chosen, like, parts, wrong
from attncalc.ops import concat, index, outer, part_of, repeat, rotate

MODELS = (2, 3, 4, 6, 8, 12, 16)
"""So many heads a model may have whose width is taken for that of a head."""
PAIR = "Which two numbers make a pair?"
WIDTH = "How long is the vector that is turned?"
LAST = "Does the last pair turn fast, or slowly?"


def _frequencies(exponent: Callable[[Node, int], Node]) -> Callable[[Scope], Node]:
    """Frequencies with another exponent, a function of the pair and the width of what is turned."""

    def rule(s: Scope) -> Node:
        if s.options.get("scaling", s.options.get("rope_scaling")) != "none":
            raise NotThere("plain frequencies")
        pairs = s.this.axes[-1]
        base = s.options.get("base", s.options.get("rope_base"))
        return as_node(base) ** -exponent(index(pairs.name, (pairs,), "i"), 2 * pairs.size)

    return rule


def _of_model(heads: int) -> Mistake:
    return wrong(
        "rope-theta-dmodel",
        "frequencies",
        _frequencies(lambda i, d: 2 * i / named_size("d_model", heads * d)),
        says="base^(−2i/d_model): the width of the model in place of the head's",
        hint=WIDTH,
    )


def _mixed(s: Scope) -> Node:
    """Angles for neighbours, partners half the width apart."""
    x, cosines, sines = parts(s.this, "rotate")
    name, size = x.axes[-1][:2]
    along = [repeat(part, part.names[-1], name, 2) for part in (cosines, sines)]
    first, second = part_of(x, name, 0, size // 2), part_of(x, name, size // 2, size)
    return x * along[0] + concat([-second, first], name) * along[1]


def _turned_back(s: Scope) -> Node:
    x, cosines, sines = parts(s.this, "rotate")
    return rotate(x, cosines, -sines, s.this.args["layout"])


def _one_further(s: Scope) -> Node:
    places, frequencies = parts(s.this, "outer")
    return outer(places + 1, frequencies)


def _layout(prefix: str) -> Mistake:
    return wrong(
        "rope-half-split",
        options=chosen(**{f"{prefix}layout": {"interleaved": "half", "half": "interleaved"}}),
        says="pairs (i, i + d/2) in place of neighbours, or the other way round",
        hint=PAIR,
        kind="convention",
    )


def _another_base(prefix: str) -> Mistake:
    return wrong(
        "rope-wrong-base",
        options=chosen(**{f"{prefix}base": {10000: 500000, 500000: 10000}}),
        says="another base: 500000 in place of 10000, or the other way round",
        hint="Which base was given?",
    )


FREQUENCIES = (
    *map(_of_model, MODELS),
    wrong(
        "rope-exp-i",
        "frequencies",
        _frequencies(lambda i, d: i / named_size("d", d)),
        says="base^(−i/d)",
        hint="How fast does the last pair turn?",
    ),
    wrong(
        "rope-positive-exp",
        "frequencies",
        _frequencies(lambda i, d: -(2 * i / named_size("d", d))),
        says="base^(+2i/d)",
        hint=LAST,
    ),
    wrong(
        "rope-theta-from-1",
        "frequencies",
        _frequencies(lambda i, d: 2 * (i + 1) / named_size("d", d)),
        says="pairs counted from 1",
        hint="By which angle does the first pair turn at position 1?",
    ),
    wrong(
        "rope-same-theta",
        "frequencies",
        lambda s: 0 * s.this + 1,
        says="the same angle for every pair",
        hint="Has each pair an angle of its own?",
    ),
)
"""Mistakes of the frequencies, which an attention that turns its queries and keys has too."""

ROPE = (
    _layout(""),
    wrong(
        "rope-mixed-layout",
        "rotated",
        _mixed,
        says="angles for pairs of neighbours, partners half the width apart",
        hint="Do both numbers of a pair turn by the same angle?",
    ),
    *FREQUENCIES,
    _another_base(""),
    wrong(
        "rope-inverse",
        "rotated",
        _turned_back,
        says="turned the other way: [c s; −s c]",
        hint="Turn (1, 0) by 90° in your head: where does it point?",
    ),
    wrong(
        "rope-pos-from-1",
        "angles",
        _one_further,
        says="positions from 1",
        hint="Does position 0 turn anything?",
    ),
    wrong(
        "rope-degrees",
        "angles",
        lambda s: s.this * as_node(np.pi / 180),
        says="angles in degrees",
        hint="In which mode is the calculator?",
    ),
)


def _turned_values(s: Scope) -> Node:
    """The values turned as the keys are."""
    P, V = parts(s.this, "matmul")
    if P.args.get("name") != "weights":
        raise NotThere("weights")
    K, cosines, sines = parts(s.k_rotated, "rotate")
    layout = s.k_rotated.sources[0].args["layout"]
    return P @ like(rotate(like(V, K), cosines, sines, layout), V)


def _added(s: Scope) -> Node:
    x = parts(s.this, "rotate")[0]
    return x + sinusoidal_encoding(x.axes[-2:])


IN_ATTENTION = (
    _layout("rope_"),
    *FREQUENCIES,
    _another_base("rope_"),
    wrong(
        "rope-q-only",
        "k_rotated",
        lambda s: parts(s.this, "rotate")[0],
        says="the keys are not turned",
        hint="If both tokens move one place on, should their score change?",
    ),
    wrong(
        "rope-on-v",
        "output heads",
        _turned_values,
        says="the values are turned too",
        hint="Which of q, k and v go into the scores?",
    ),
    wrong(
        "rope-added",
        "q_rotated k_rotated",
        _added,
        says="sinusoids added in place of a turn",
        hint="Is a rotary position added, or does it turn?",
    ),
)
"""Mistakes of an attention that turns its queries and keys."""

MISTAKES: dict[str, tuple[Mistake, ...]] = {"rope": ROPE}
"""Calculation → its mistakes, the commonest first."""
