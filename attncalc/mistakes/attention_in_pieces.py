"""Mistakes of attention in pieces: which keys a token finds in the cache, what is rescaled between two blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attncalc.declare.mistake import Mistake, NotThere, Rule, Scope, parts, replaced, wrong
from attncalc.language.graph import Node, inside
from attncalc.language.ops import concat, index, keep_where, part_of, softmax
from attncalc.mistakes.attention_core import CORE, LAYOUT, RESCALED, permuted, tiled
from attncalc.mistakes.masking import MASKS, WINDOWS, factors, logits, triangle

SCALES: dict[str, Callable[[Node, Node], Node]] = {
    "att-no-scale": lambda scores, root: scores,
    "att-scale-dk": lambda scores, root: scores / parts(root, "sqrt")[0],
    "att-scale-multiplied": lambda scores, root: scores * root,
}
"""Mistake → what replaces the quotient of scores and √d_k."""


def _scales(step: str) -> tuple[Mistake, ...]:
    """Attention's mistakes of the scale, which here is a part of another step."""

    def rule(change: Callable[[Node, Node], Node]) -> Rule:
        def scaled(s: Scope) -> Node:
            for node in inside(s.step):
                if node.op == "div" and node.sources[1].op == "sqrt":
                    return replaced(s.this, node, change(*node.sources))
            raise NotThere("scaled")

        return scaled

    return tuple(replace(m, at=(step,), rule=rule(SCALES[m.id])) for m in CORE if m.id in SCALES)


def _chosen(several: tuple[Mistake, ...], *ids: str, at: str = "") -> tuple[Mistake, ...]:
    """Some of attention's mistakes, in another step where that is told."""
    return tuple(replace(m, at=(at,)) if at else m for m in several if m.id in ids)


# A cache


def _kept(part: Node) -> tuple[Node, int]:
    """All keys, or all values, and how many of them a token finds."""
    return part.sources[0] if part.op == "slice" else part, part.shape[-2]


def _sees(first: Callable[[int], int], last: Callable[[int, int], int]) -> Rule:
    """Scores and output with other tokens than the first t in the cache, of n that there will be."""

    def rule(s: Scope) -> Node:
        scoring = s.step.args["name"] == "scores"
        query, part = factors(s) if scoring else parts(s.this, "matmul")
        whole, t = _kept(part)
        start, stop = first(t), last(t, whole.shape[-2])
        if start >= stop:
            raise NotThere("a token before it")
        found = part_of(whole, "m", start, stop)
        return query @ found.T if scoring else s.weights @ found

    return rule


def _first_key_alone(s: Scope) -> Node:
    x = logits(s)
    return softmax(keep_where(index("m", x.axes[-1:], "j") <= 0, x, -float("inf")))


def _newest_key_first(s: Scope) -> Node:
    query, keys = factors(s)
    places = reversed(range(keys.shape[-2]))
    return query @ concat([part_of(keys, "m", j, j + 1) for j in places], "m").T


def _bytes(change: Callable[[int, Node, Node], Node]) -> Rule:
    """Another product of the bytes of a number, the tokens so far, and the numbers of each."""

    def rule(s: Scope) -> Node:
        tokens, width = parts(parts(s.this, "mul")[1], "mul")
        return change(s.options["bytes"], tokens, width)

    return rule


def _at_the_end(rule: Rule) -> Rule:
    """A rule for what all tokens give, and not for what one does."""
    return lambda s: s.this if s.step.args["group"] else rule(s)


KV_CACHE = (
    *_scales("weights"),
    wrong(
        "mask-strict",
        "scores output",
        _sees(lambda t: 0, lambda t, n: t - 1),
        says="the cache before the token's own key and value are in it",
        hint="Does a token's own key go into the cache before its query looks, or after?",
    ),
    wrong(
        "cache-stale",
        "scores output",
        _sees(lambda t: 0, lambda t, n: t - 1),
        says="the cache before the token's own key and value are in it",
        hint="Is a token's own key in the cache when its query looks?",
        alias_of="mask-strict",
    ),
    wrong(
        "mask-missing",
        "scores output",
        _sees(lambda t: 0, lambda t, n: n),
        says="all keys, those of later tokens too",
        hint="Which keys are in the cache when this token comes?",
    ),
    wrong(
        "kv-cache-unused",
        "scores output",
        _sees(lambda t: t - 1, lambda t, n: t),
        says="the token's own key and value alone",
        hint="What does the token find in the cache?",
    ),
    wrong(
        "mask-causal-align",
        "weights",
        _first_key_alone,
        says="a causal mask that takes the single query for the first one: it sees the first key alone",
        hint="In which row of the causal mask does this token's query stand?",
    ),
    wrong(
        "kv-keys-prepended",
        "scores",
        _newest_key_first,
        says="new keys in front of the others, new values behind them",
        hint="Do the keys and the values in the cache stand in the same order?",
    ),
    *_chosen(CORE, "att-linear-norm", "att-exp-unnormalised", "att-no-softmax", "att-scores-negated", "att-k-for-v"),
    wrong(
        "kv-bytes-keys-alone",
        "cached_bytes",
        _bytes(lambda size, m, width: size * (m * parts(width, "add")[0])),
        says="the bytes of the keys, without those of the values",
        hint="How many matrices are kept?",
    ),
    wrong(
        "kv-bytes-numbers",
        "cached_bytes",
        _bytes(lambda size, m, width: m * width),
        says="how many numbers are kept, not how many bytes",
        hint="How many bytes does a number take?",
    ),
    wrong(
        "kv-bytes-one-token",
        "cached_bytes",
        _bytes(lambda size, m, width: size * width),
        says="the bytes of one token alone",
        hint="How many tokens are in the cache by now?",
    ),
    *tiled("output"),
    *(replace(m, rule=_at_the_end(m.rule)) for m in (*LAYOUT, *permuted("output")) if m.rule),
)

# Blocks


def _carried(change: Callable[[Node, Node, Node], Node]) -> Rule:
    """A sum or a mixture made in another way of the factor, of what was carried, and of what the block adds."""

    def rule(s: Scope) -> Node:
        carried, new = parts(s.this, "add")
        factor, before = parts(carried, "mul")
        return change(factor, before, new)

    return rule


def _mixed(s: Scope) -> Node:
    """What stands above the line of the output."""
    return parts(s.this, "div", "per")[0]


def _each_by_itself(averaged: bool) -> Rule:
    """The values mixed by the softmax of every block, added up or averaged."""

    def rule(s: Scope) -> Node:
        if s.step.args["name"] == "output":
            mixed = _mixed(s)
            return mixed / int(mixed.args["group"].rpartition(" ")[2]) if averaged else mixed
        new = parts(s.this, "add")[1] if s.this.op == "add" else s.this
        mixed = softmax(s.scores) @ parts(new, "matmul")[1]
        return mixed if new is s.this else parts(parts(s.this, "add")[0], "mul")[1] + mixed

    return rule


WHOLE_ROW = "Over which keys do the weights of a query sum to 1: those of a block, or all of them?"

FLASH = (
    *(
        wrong(
            "flash-no-rescale",
            at,
            _carried(lambda factor, before, new: before + new),
            says="what was carried is not rescaled by e^(old − new)",
            hint=RESCALED,
        )
        for at in ("sum accumulator", "sum", "accumulator")
    ),
    wrong(
        "flash-rescale-inverted",
        "sum accumulator",
        _carried(lambda factor, before, new: before / factor + new),
        says="rescaled by e^(new − old) in place of e^(old − new)",
        hint="If the maximum has grown, do the earlier exponentials become larger, or smaller?",
    ),
    *(
        wrong(
            "flash-not-carried",
            at,
            _carried(lambda factor, before, new: new),
            says="the earlier blocks are forgotten",
            hint="What is carried from one block to the next?",
        )
        for at in ("sum accumulator", "sum", "accumulator")
    ),
    *(
        wrong("flash-block-softmax", "accumulator output", _each_by_itself(averaged), says=says, hint=WHOLE_ROW)
        for averaged, says in (
            (True, "a softmax for every block, and the mean of the blocks' outputs"),
            (False, "a softmax for every block, and the sum of the blocks' outputs"),
        )
    ),
    wrong(
        "flash-block-maximum",
        "maximum",
        lambda s: parts(s.this, "maximum")[1],
        says="the largest score of the block, not of all so far",
        hint="Can a running maximum become smaller?",
    ),
    *_scales("scores"),
    wrong(
        "flash-block-offset",
        "scores",
        triangle(lambda j, i: parts(j, "add")[0] <= i),
        says="the causal mask starts anew in every block",
        hint="Which key of the whole row is the first one of this block?",
    ),
    *_chosen(MASKS, "mask-missing", "mask-fill-zero", "mask-transposed", "mask-offset", at="scores"),
    *_chosen(MASKS, "mask-causal-align"),
    wrong(
        "att-exp-unnormalised",
        "output",
        _mixed,
        says="the mixture, not divided by the sum",
        hint="What do the weights of a row sum to?",
    ),
    *WINDOWS,
    *tiled("accumulator"),
    *LAYOUT,
    *permuted("output"),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"kv-cache": KV_CACHE, "flash": FLASH}
"""Calculation → its mistakes, the commonest first."""
