"""Mistakes of several heads: which columns a head takes, and how the heads are joined again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import prod

from attncalc.declare.mistake import NotThere, Rule, Scope, like, parts, wrong
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node
from attncalc.language.ops import concat, mean, merge, part_of, softmax, split, spread, sqrt, total
from attncalc.language.ops.moves import reread
from attncalc.mistakes.attention_core import IN_BLOCKS, divided, model_width, permuted, tiled
from attncalc.mistakes.masking import logits
from attncalc.mistakes.projections import by_rows, conv1d_transposed


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
    return lambda s: pool(s.heads, s.heads.axes[-3].name)


def _weights_joined(s: Scope) -> Node:
    joined = merge(s.weights)
    return like(joined, s.this) if joined.axes[-1].size == s.this.axes[-1].size else joined


def _unprojected(s: Scope) -> Node:
    alike = s.concatenated.axes[-1].size == s.this.axes[-1].size
    return like(s.concatenated, s.this) if alike else s.concatenated


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


def _same_tokens(node: Node) -> Node:
    """What is projected, behind the name that its axis has for keys."""
    while node.op != "matmul":
        node = node.sources[0]
    x = node.sources[0]
    return x.sources[0] if x.op == "rename" else x


def _made_at_once(s: Scope) -> dict[str, Node]:
    """Queries, keys and values as one matrix may make them, each with the axes of queries but for its last one."""
    made = {name: s.due(name) for name in "qkv"}
    if len({*map(_same_tokens, made.values())}) > 1:
        raise NotThere("one text")
    front = made["q"].axes[:-1]
    return {name: reread(x, (*front, *x.axes[-1].parts)) for name, x in made.items()}


def _cut(s: Scope, fused: Node, order: str) -> Node:
    """Entries of a row that lie in this order, one kind behind the other."""
    sizes = {name: s.due(name).axes[-1].size for name in order}
    own = s.step.args["name"]
    start = sum(sizes[name] for name in order[: order.index(own)])
    return reread(part_of(fused, "c", start, start + sizes[own]), s.this.axes)


def _flat(x: Node, front: Axes) -> Node:
    """The entries of a row as they lie."""
    return reread(x, (*front, Axis("c", prod(x.shape[len(front) :]))))


def _ordered(order: str) -> Rule:
    def rule(s: Scope) -> Node:
        made = _made_at_once(s)
        front = made["q"].axes[:-2]
        return _cut(s, concat([_flat(x, front) for x in made.values()], "c"), order)

    return rule


def _grouped(s: Scope) -> tuple[dict[str, Node], Axes]:
    """For each group of heads its queries, its key and its value; a single one lies as whole blocks do."""
    made = _made_at_once(s)
    *front, heads, width = made["q"].axes
    groups = made["k"].axes[-2].size
    if groups == 1 or heads.size % groups or {x.axes[-1].size for x in made.values()} != {width.size}:
        raise NotThere("groups")
    each = (*front, Axis("g", groups))
    return {
        name: reread(x, (*each, Axis("r", x.axes[-2].size // groups), Axis("c", width.size)))
        for name, x in made.items()
    }, (*front,)


def _blocks_as_groups(s: Scope) -> Node:
    grouped, front = _grouped(s)
    lying = concat([_flat(x, front) for x in grouped.values()], "c")
    *_, groups, _, width = grouped["q"].axes
    count = grouped["q"].axes[-2].size
    within = reread(lying, (*front, groups, Axis("r", count + 2), width))
    start, stop = {"q": (0, count), "k": (count, count + 1), "v": (count + 1, count + 2)}[s.step.args["name"]]
    return reread(part_of(within, "r", start, stop), s.this.axes)


def _groups_as_blocks(s: Scope) -> Node:
    grouped, front = _grouped(s)
    return _cut(s, _flat(concat([*grouped.values()], "r"), front), "qkv")


FUSED = tuple(
    wrong(
        "fused-qkv-order",
        "q k v",
        rule,
        says=says,
        hint="How do queries, keys and values lie in the matrix that makes all of them?",
    )
    for rule, says in (
        (_blocks_as_groups, "cut head by head from a fused matrix that holds q, k and v in whole blocks"),
        (_groups_as_blocks, "cut in whole blocks from a fused matrix that holds q, k and v head by head"),
        *(
            (_ordered("".join(order)), f"cut from a fused matrix in the order {', '.join(order)}")
            for order in permutations("qkv")
            if order != (*"qkv",)
        ),
    )
)
"""Mistakes of cutting q, k and v from one matrix; grouped heads are cut with their key and value, group by group."""

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
    lambda s: parts(s.this, "mul")[0],
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
        by_rows,
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
    *tiled("heads"),
    *IN_BLOCKS,
    *permuted("concatenated"),
    *FUSED,
    *map(conv1d_transposed, "qkv"),
    conv1d_transposed("output", alias_of="mh-wo-transposed"),
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
