"""The mistakes of several heads: which columns a head takes, and how the heads are joined again."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.declare.mistake import NotThere, Scope, like, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import concat, mean, merge, part_of, softmax, split, spread, sqrt, total
from attncalc.language.ops.moves import reread
from attncalc.mistakes.attention_core import IN_BLOCKS, divided, model_width, permuted, tiled
from attncalc.mistakes.masking import logits


def _strided(s: Scope) -> Node:
    (source,) = parts(s.this, "split")
    heads, inner = source.axes[-1].parts
    columns = reread(source, (*source.axes[:-1], inner, heads))
    return spread(columns, s.this.axes)


def _first_for_all(s: Scope) -> Node:
    name, size = s.this.axes[-3][:2]
    return concat([part_of(s.this, name, 0, 1)] * size, name)


def _backwards(s: Scope) -> Node:
    (heads,) = parts(s.this, "merge")
    name, size = heads.axes[-3][:2]
    return like(merge(concat([part_of(heads, name, i, i + 1) for i in reversed(range(size))], name)), s.this)


def _alternating(s: Scope) -> Node:
    (heads,) = parts(s.this, "merge")
    h, n, d = heads.axes[-3:]
    return reread(spread(heads, (*heads.axes[:-3], n, d, h)), s.this.axes)


def _pooled(pool: Callable[[Node, str], Node]) -> Callable[[Scope], Node]:
    def rule(s: Scope) -> Node:
        heads = s.heads
        return pool(heads, heads.axes[-3].name)

    return rule


def _weights_joined(s: Scope) -> Node:
    joined = merge(s.weights)
    return like(joined, s.this) if joined.axes[-1].size == s.this.axes[-1].size else joined


def _unprojected(s: Scope) -> Node:
    alike = s.concatenated.axes[-1].size == s.this.axes[-1].size
    return like(s.concatenated, s.this) if alike else s.concatenated


def _projected(s: Scope, change: Callable[[Node, Node], Node]) -> Node:
    """The last projection done in another way, its bias kept."""
    if s.this.op == "add":
        product, bias = s.this.sources
        return change(*parts(product, "matmul")) + bias
    return change(*parts(s.this, "matmul"))


def _unnormed(s: Scope) -> Node:
    """What the norm of queries or keys is taken of."""
    return parts(s.squares, "pow")[0] if "squares" in s else parts(s.centered, "sub")[0]


def _normed_by_head(s: Scope) -> Node:
    """Each head by itself where the norm is of all of them together."""
    x, divisor = parts(s.this, "div")
    if not x.axes[-1].parts:
        raise NotThere("heads side by side")
    inside, *_ = parts(divisor, "sqrt", "root_of_mean")
    _, eps = parts(inside, "add")
    own = split(x)
    if "centered" in s:
        own = own - mean(own)
    return like(merge(own / sqrt(mean(own**2) + eps)), s.this)


def _without_sink(s: Scope) -> Node:
    alone, _ = parts(s.this, "mul")
    return alone


QK_NORM = (
    wrong(
        "qk-norm-missing",
        "q-norm/output k-norm/output",
        _unnormed,
        says="without a norm: queries and keys are compared as they are",
        hint="How long is a query when it meets the keys?",
    ),
    wrong(
        "qk-norm-of-each-head",
        "q-norm/normalized k-norm/normalized",
        _normed_by_head,
        says="each head's entries normalised by themselves",
        hint="Over how many entries is the mean of the squares taken?",
    ),
)
SINK = wrong(
    "sink-missing",
    "weights",
    _without_sink,
    says="no sink: the keys share the whole weight",
    hint="Must a query give all of its weight to keys?",
)

HEADS = (
    wrong(
        "mh-split-reshape",
        "q_heads k_heads v_heads",
        lambda s: reread(parts(s.this, "split")[0], s.this.axes),
        says="reshaped to (h, n, d_k) without a transpose",
        hint="Which numbers does the first token give to the second head?",
    ),
    wrong(
        "mh-split-strided",
        "q_heads k_heads v_heads",
        _strided,
        says="each head takes every h-th column",
        hint="Does a head take a block of neighbouring columns, or every h-th one?",
    ),
    wrong(
        "mh-merge-reshape",
        "concatenated",
        lambda s: reread(parts(s.this, "merge")[0], s.this.axes),
        says="reshaped from (h, n, d_v) to (n, h·d_v) without a transpose",
        hint="Which tokens does the first row of the result hold?",
    ),
    wrong(
        "mh-concat-reversed",
        "concatenated",
        _backwards,
        says="the heads from the last to the first",
        hint="In what order are the heads laid side by side?",
    ),
    wrong(
        "mh-concat-interleaved",
        "concatenated",
        _alternating,
        says="the entries of the heads alternate",
        hint="In what order are the heads laid side by side?",
    ),
    wrong(
        "mh-mean",
        "concatenated output",
        _pooled(mean),
        says="the heads averaged",
        hint="How wide should the result be?",
    ),
    wrong(
        "mh-sum",
        "concatenated output",
        _pooled(total),
        says="the heads added up",
        hint="How wide should the result be?",
    ),
    wrong(
        "mh-scale-dmodel",
        "scaled",
        divided(model_width),
        says="√d_model inside the heads",
        hint="Over how many entries did each head's dot products sum?",
    ),
    wrong(
        "mh-no-wo",
        "output",
        _unprojected,
        says="without W_O",
        hint="Is a projection still to come?",
    ),
    wrong(
        "mh-wo-transposed",
        "output",
        lambda s: _projected(s, lambda joined, W: joined @ like(W.T, W)),
        says="times W_Oᵀ",
        hint="Has W_O a row for each entry of the heads, or a column?",
    ),
    wrong(
        "mh-shared-projection",
        "q_heads k_heads v_heads",
        _first_for_all,
        says="the first head's columns for every head",
        hint="Would two heads then differ?",
    ),
    wrong(
        "mh-softmax-over-heads",
        "weights",
        lambda s: softmax(logits(s), logits(s).names[-3]),
        says="the softmax runs over the heads",
        hint="Along which axis do the weights sum to 1?",
    ),
    wrong(
        "mh-merge-weights",
        "concatenated",
        _weights_joined,
        says="the weights are laid side by side, without the values",
        hint="Where did V go?",
    ),
    tiled("scores heads"),
    *IN_BLOCKS,
    *permuted("concatenated"),
    wrong(
        "layout-bnhd",
        "concatenated",
        lambda s: reread(parts(s.this, "merge")[0], s.this.axes),
        says="reshaped from (h, n, d_v) to (n, h·d_v) without a transpose",
        hint="Which axis comes first: heads, or tokens?",
        alias_of="mh-merge-reshape",
    ),
)
"""Mistakes of several heads."""
