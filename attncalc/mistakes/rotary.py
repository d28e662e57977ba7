"""Mistakes of rotary positions anywhere: what makes a pair, at which frequency, and what is rotated."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.declare.mistake import Mistake, NotThere, Rule, Scope, chosen, like, parts, replaced, wrong
from attncalc.language.graph import Node, as_node, inside, named_size
from attncalc.language.ops import concat, index, keep_where, part_of, rename, repeat, rotate

MODELS = (2, 3, 4, 6, 8, 12, 16)
"""The numbers of heads of a model whose width may be taken for that of a head."""
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


def _heads(s: Scope) -> int | None:
    """How many heads are turned; None for vectors that have none, and for rope alone, which has no scores."""
    try:
        axes = s.due("scores").axes
    except NotThere:
        return None
    return next((axis.size for axis in axes if axis.name == "h"), None)


def _of_model(heads: int) -> Mistake:
    of_heads = _frequencies(lambda i, d: 2 * i / named_size("d_model", heads * d))

    def rule(s: Scope) -> Node:
        if _heads(s) not in (None, heads):
            raise NotThere("so many heads")
        return of_heads(s)

    return wrong(
        "rope-theta-dmodel",
        "frequencies",
        rule,
        says="base^(−2i/d_model): the width of the model in place of the head's",
        hint=WIDTH,
    )


def layout(prefix: str) -> Mistake:
    """Pairs by the other convention; options of rope have another prefix in an attention."""
    return wrong(
        "rope-half-split",
        options=chosen(**{f"{prefix}layout": {"interleaved": "half", "half": "interleaved"}}),
        says="pairs (i, i + d/2) in place of neighbours, or the other way round",
        hint=PAIR,
        kind="convention",
    )


def another_base(prefix: str) -> Mistake:
    """The other one of two bases that models have."""
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


def _turn(s: Scope) -> Node:
    """The turn in a step, which may be of a part of it alone."""
    for node in inside(s.step):
        if node.op == "rotate":
            return node
    raise NotThere("a turn")


def _mixed(s: Scope) -> Node:
    """Angles for neighbours, partners half the width apart."""
    turn = _turn(s)
    x, cosines, sines = turn.sources
    name, size = x.axes[-1][:2]
    along = [repeat(part, part.names[-1], name, 2) for part in (cosines, sines)]
    first, second = part_of(x, name, 0, size // 2), part_of(x, name, size // 2, size)
    return replaced(s.this, turn, x * along[0] + concat([-second, first], name) * along[1])


def _mixed_otherwise(s: Scope) -> Node:
    """Angles for entries half the width apart, partners that are neighbours."""
    turn = _turn(s)
    x, cosines, sines = turn.sources
    name = x.names[-1]
    along = [concat([rename(part, part.names[-1], name)] * 2, name) for part in (cosines, sines)]
    partners = rotate(x, 0 * cosines, 0 * sines + 1, "interleaved")
    return replaced(s.this, turn, x * along[0] + partners * along[1])


def _turned_back(s: Scope) -> Node:
    turn = _turn(s)
    x, cosines, sines = turn.sources
    return replaced(s.this, turn, rotate(x, cosines, -sines, turn.args["layout"]))


def turns(at: str) -> tuple[Mistake, ...]:
    """Mistakes of the turn itself, in the steps that turn."""
    return (
        *(
            wrong(
                "rope-mixed-layout",
                at,
                mixed,
                says=f"angles for {those}, partners {these}",
                hint="Do both numbers of a pair turn by the same angle?",
            )
            for mixed, those, these in (
                (_mixed, "pairs of neighbours", "half the width apart"),
                (_mixed_otherwise, "pairs half the width apart", "that are neighbours"),
            )
        ),
        wrong(
            "rope-inverse",
            at,
            _turned_back,
            says="turned the other way: [c s; −s c]",
            hint="Turn (1, 0) by 90° in your head: where does it point?",
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
    from attncalc.calculations.positions import sinusoidal_encoding  # a door: only rotated vectors need it

    x = parts(s.this, "rotate")[0]
    return x + sinusoidal_encoding(x.axes[-2:])


def _positions(s: Scope) -> Node:
    """Where queries, or keys, stand that are turned."""
    for node in inside(s.step):
        if node.op == "outer":
            return node.sources[0]
    raise NotThere("angles")


def _moved(change: Callable[[Node, int, int], Node]) -> Rule:
    """Other positions, from those due and from how many queries and keys there are."""

    def rule(s: Scope) -> Node:
        *_, n, m = s.due("scores").axes
        places = _positions(s)
        return replaced(s.this, places, change(places, n.size, m.size))

    return rule


def _as_at_start(places: Node, n: int, m: int) -> Node:
    if places.op != "add":
        raise NotThere("queries beside the last keys")
    return places.sources[0]


def _as_at_end(places: Node, n: int, m: int) -> Node:
    if places.op != "index" or m <= n:
        raise NotThere("more keys than queries")
    return places + (m - n)


def _anew(places: Node, n: int, m: int) -> Node:
    """Positions of a cache that begins anew with the queries' own tokens."""
    if places.op in ("input", "rename"):
        raise NotThere("positions that are counted")
    if m <= n:
        return 0 * places  # the tokens come one by one
    if places.op == "add":
        return places.sources[0]
    return keep_where(places < m - n, places, places - (m - n))


def _unturned(s: Scope) -> Node:
    whole = _turn(s).sources[0]
    return whole.sources[0] if whole.op == "slice" else whole


ROPE_MISSING = wrong(
    "rope-missing",
    "q_rotated k_rotated",
    _unturned,
    says="neither queries nor keys are turned",
    hint="Does anything tell this attention where its tokens stand?",
)
OFFSET = "At which position does each query stand, and at which its own key?"


IN_ATTENTION = (
    layout("rope_"),
    *FREQUENCIES,
    another_base("rope_"),
    wrong(
        "rope-q-only",
        "k_rotated",
        _unturned,
        says="the keys are not turned",
        hint="If both tokens move one place on, should their score change?",
    ),
    wrong(
        "rope-k-only",
        "q_rotated",
        _unturned,
        says="the queries are not turned",
        hint="If both tokens move one place on, should their score change?",
    ),
    *turns("q_rotated k_rotated"),
    ROPE_MISSING,
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
    *(
        wrong("rope-q-offset", "q_rotated", _moved(change), says=f"queries turned {by}", hint=OFFSET)
        for change, by in (
            (_as_at_start, "from position 0 on, where they stand beside the last keys"),
            (_as_at_end, "as if they stood beside the last keys"),
            (lambda places, n, m: places + 1, "one position too far"),
            (lambda places, n, m: places - 1, "one position too little"),
        )
    ),
    wrong(
        "cache-positions-reset",
        "q_rotated k_rotated",
        _moved(_anew),
        says="positions from 0 again for new tokens",
        hint="Which position has a new token behind those in the cache?",
    ),
)
"""Mistakes of an attention that turns its queries and keys."""
