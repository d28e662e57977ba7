"""Mistakes of attention in whole models: whose keys are used, what is rotated, and how positions are given."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.declare.mistake import NotThere, Rule, Scope, like, parts, replaced, until_steps, wrong
from attncalc.language.axes import find
from attncalc.language.graph import Node, walk
from attncalc.language.ops import (
    bucket,
    compare_equal,
    concat,
    index,
    keep_where,
    outer,
    part_of,
    rotate,
    softmax,
    sqrt,
)
from attncalc.language.ops.moves import reread
from attncalc.mistakes.layer_norm import of_norm
from attncalc.mistakes.masking import logits, width
from attncalc.mistakes.projections import factors, unbiased
from attncalc.mistakes.rotary import turns


def _own(weights: Node) -> Node:
    """Whether a key is the query's own token's."""
    square = weights.axes[-2:]
    if square[0].size != square[1].size:
        raise NotThere("as many keys as queries")
    i, j = (index(axis.name, square, letter) for axis, letter in zip(square, "ij", strict=True))
    return compare_equal(i, j)


def _bucketed(source: Callable[[Node], Node], *, swapped: bool) -> Rule:
    """Scores with T5's biases of other buckets."""

    def rule(s: Scope) -> Node:
        own = next((node for node in walk(s.this, into=until_steps) if node.op == "bucket"), None)
        if own is None:
            raise NotThere("buckets")
        buckets, most, causal = (own.args[name] for name in ("buckets", "max_distance", "causal"))
        return replaced(s.this, own, bucket(source(own.sources[0]), buckets, most, causal=causal != swapped))

    return rule


def _scaled_though(s: Scope) -> Node:
    """Weights of scores that are scaled, where none of the model are."""
    if "scaled" in s:
        raise NotThere("unscaled scores")
    return softmax(logits(s) / sqrt(width(s)))


def _of_the_one_before(s: Scope) -> Node:
    """What each token has, with that of the one before it; the first token has that of the last."""
    name, size = s.this.axes[-2][:2]
    return concat([part_of(s.this, name, size - 1, size), part_of(s.this, name, 0, size - 1)], name)


def _last_turned(s: Scope) -> Node:
    """The last entries of a head turned, where the first ones are."""
    turned, _ = parts(s.this, "concat")
    (x, cosines, sines), name = parts(turned, "rotate"), turned.names[-1]
    whole, size = parts(x, "slice")[0], turned.axes[-1].size
    count = find(whole.axes, name).size
    last = rotate(part_of(whole, name, count - size, count), cosines, sines, turned.args["layout"])
    return concat([part_of(whole, name, 0, count - size), last], name)


def _exchanged(one: str, other: str) -> Rule:
    """Two projections with each other's weights and biases."""

    def rule(s: Scope) -> Node:
        group, name = s.step.key
        made = s.due(other if name == one else one)
        if group.rpartition("/")[2] == "attention":  # self-attention
            return like(made, s.this)
        tokens, own = factors(s)
        product = tokens @ like(parts(made.sources[0] if made.op == "add" else made, "matmul")[1], own)
        return product + reread(made.sources[1], product.axes[-1:]) if made.op == "add" else product

    return rule


def _signed_and_unmasked(s: Scope) -> Node:
    """Scores with ALiBi's penalty as a difference, which is below 0 for keys that come later, and nothing masked."""
    scores, lost = parts(parts(s.this, "where")[1], "sub")
    slopes, distances = parts(lost, "outer")
    return scores - outer(slopes, parts(distances, "abs")[0])


def _slopes_reversed(s: Scope) -> Node:
    scores, lost = parts(s.this, "sub")
    slopes, distances = parts(lost, "outer")
    name, heads = slopes.axes[-1][:2]
    return scores - outer(concat([part_of(slopes, name, i, i + 1) for i in reversed(range(heads))], name), distances)


def _values_turned(s: Scope) -> Node:
    """Values turned as the keys are, before the heads that share them take them."""
    keys = s.due("k_rotated")
    K, cosines, sines = parts(keys, "rotate")
    return like(rotate(like(s.this, K), cosines, sines, keys.args["layout"]), s.this)


def _normed_last(s: Scope) -> Node:
    """Queries or keys turned first, and normalised then."""
    group, name = s.step.key
    if name != "output":
        return parts(s.this, "rotate")[0]
    attention, _, norm = group.rpartition("/")
    turned = s.due(f"{norm[0]}_rotated", attention)
    _, cosines, sines = parts(turned, "rotate")
    x = of_norm(s.step)
    return replaced(s.this, x, rotate(x, cosines, sines, turned.args["layout"]))


OWN_TOKENS = (
    *(
        wrong(
            f"att-own-{what}",
            "attention/weights cross-attention/weights",
            rule,
            says=f"a token's own {says}",
            hint="Does each token look at itself, too?",
        )
        for what, rule, says in (
            ("score-zero", lambda s: softmax(keep_where(_own(s.this), 0, logits(s))), "score is 0"),
            (
                "weight-zero",
                lambda s: keep_where(_own(s.this), 0, s.this),
                "weight is 0, and the rest is not shared out again",
            ),
            (
                "score-masked",
                lambda s: softmax(keep_where(_own(s.this), logits(s) - 10000, logits(s))),
                "score is 10000 less: it looks at itself only where it sees nothing else",
            ),
        )
    ),
    *(
        wrong(
            "att-of-token-before",
            f"attention/{what}",
            _of_the_one_before,
            says="each token's place is taken by the one before it",
            hint="Whose query, and whose key, is a row?",
        )
        for what in ("q_heads", "k_heads", "q_rotated", "k_rotated")
    ),
)
TURNED = (
    *(turns(f"attention/{what}")[-1] for what in ("q_rotated", "k_rotated")),
    wrong(
        "rope-on-v",
        "attention/v_heads",
        _values_turned,
        says="the values are turned too",
        hint="Which of q, k and v go into the scores?",
    ),
    wrong(
        "qk-norm-after-rope",
        "q-norm/output k-norm/output attention/q_rotated attention/k_rotated",
        _normed_last,
        says="queries and keys are turned first, and normalised then",
        hint="Are queries of this model normalised before they are turned, or after?",
    ),
    wrong(
        "rope-last-dims",
        "attention/q_rotated attention/k_rotated",
        _last_turned,
        says="the last entries of each head are turned, not the first",
        hint="Which entries of a head does this model turn?",
    ),
)
BIASED = (
    *(
        wrong(
            name,
            "attention/biased",
            rule,
            says=says,
            hint="Which distances share a bucket, and on which side of the query does a key stand?",
        )
        for name, rule, says in (
            ("t5-bidir", _bucketed(lambda distance: distance, swapped=True), "the buckets of the other stack"),
            ("t5-sign", _bucketed(lambda distance: -distance, swapped=False), "query − key in place of key − query"),
        )
    ),
    wrong(
        "bias-missing",
        "attention/q attention/k attention/v",
        unbiased,
        says="queries, keys and values without their biases",
        hint="Which of the projections of this model have a bias?",
    ),
    *(
        wrong(
            "qkv-exchanged",
            f"attention/{one} attention/{other} cross-attention/{one} cross-attention/{other}",
            _exchanged(one, other),
            says=f"W_{one.upper()} and W_{other.upper()} are exchanged",
            hint="Which matrix makes what a token looks for, which what it is found by, and which what it passes on?",
        )
        for one, other in (("q", "k"), ("k", "v"), ("q", "v"))
    ),
    wrong(
        "t5-scaled",
        "cross-attention/weights",
        _scaled_though,
        says="Q·Kᵀ/√d_k, where nothing is scaled",
        hint="Does this model scale its scores at all?",
    ),
    wrong(
        "mask-missing",
        "attention/masked",
        _signed_and_unmasked,
        says="nothing is masked, and a key that comes later gets a larger score the further away it is",
        hint="May the first query look at the last key?",
    ),
    wrong(
        "alibi-slopes-reversed",
        "attention/biased",
        _slopes_reversed,
        says="the slopes from the last head to the first",
        hint="Which head looks furthest back: the first, or the last?",
    ),
)
