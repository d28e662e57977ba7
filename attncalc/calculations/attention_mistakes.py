"""The mistakes of attention: what is divided, where the softmax runs, whose values are mixed, who may look at whom."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncalc.calculations.positions_mistakes import by_key
from attncalc.calculations.rope_mistakes import IN_ATTENTION
from attncalc.graph import Node, rewrite
from attncalc.mistake import Mistake, NotThere, Scope, chosen, flipped, like, parts, right, wrong
from attncalc.ops import (
    compare_equal,
    concat,
    exp,
    keep_where,
    logical_not,
    mean,
    merge,
    part_of,
    rename,
    softmax,
    spread,
    sqrt,
    total,
)
from attncalc.ops.reread import reread

SCALE = "What keeps the scores from growing as the vectors get longer?"


# What a rule speaks of


def unscaled(s: Scope) -> Node:
    """What is divided by √d_k."""
    return parts(s.this, "div", "mul")[0]


def factors(s: Scope) -> tuple[Node, Node]:
    """Queries and keys, as they are compared."""
    Q, keys = parts(s.this if s.step.args["name"] == "scores" else s.scores, "matmul")
    return Q, keys.T


def mixture(s: Scope) -> tuple[Node, Node]:
    """The weights, and the values that are mixed by them."""
    weights, mixed = parts(s.this, "matmul")
    if weights.args.get("name") != "weights":
        raise NotThere("weights")
    return weights, mixed


def width(s: Scope) -> Node:
    """d_k, the length of what is compared."""
    Q, _ = factors(s)
    return Q.size(Q.names[-1])


def values(s: Scope) -> Node:
    """The values that are mixed, before anybody shares them."""
    return s.v_heads if "v_heads" in s else s.v


def logits(s: Scope) -> Node:
    """What the softmax is taken of."""
    return parts(s.this, "softmax")[0]


# The core


def _divided(size: Callable[[Scope], Node]) -> Callable[[Scope], Node]:
    def rule(s: Scope) -> Node:
        x, root = parts(s.this, "div")
        size_, right = size(s), parts(root, "sqrt")[0]
        if size_.args["axis"].size == right.args["axis"].size:
            raise NotThere
        return x / sqrt(size_)

    return rule


def _by_model(s: Scope) -> Node:
    """√d_model; where the model's width is not told, that of two heads, unless its root is d_k itself."""
    if "x" in s:
        return s.x.size(s.x.names[-1])
    d_k = width(s).args["axis"]
    if d_k.size == 2:
        raise NotThere
    return Node("size", axes=(), axis=d_k._replace(name="d_model", size=2 * d_k.size))


def _scaled_after(s: Scope) -> Node:
    return unscaled(s) if s.step.args["name"] == "scaled" else s.this / sqrt(width(s))


def _scaled_first(s: Scope) -> Node:
    if s.options.get("scale", "default") != "default":
        raise NotThere("the usual scale")
    return parts(s.this, "div")[0] if s.step.args["name"] == "scaled" else s.this / sqrt(width(s))


def _by_key(s: Scope) -> Node:
    if not s.options["causal"]:
        raise NotThere("causal")
    return by_key(s.this)


def _shared_by_all(s: Scope) -> Node:
    e = exp(logits(s))
    return e / total(total(e))


def _zero_for_one(s: Scope) -> Node:
    x = logits(s)
    e = keep_where(compare_equal(x, 0), 0, exp(x))
    return e / total(e)


def _keys_as_stored(s: Scope) -> Node:
    Q, K = factors(s)
    return Q @ like(K, K.T)


def _queries_for_keys(s: Scope) -> Node:
    Q, K = factors(s)
    return Q @ like(Q, K).T


def _swapped(s: Scope) -> Node:
    Q, K = factors(s)
    return like(K @ Q.T, s.this)


def _columns_mix(s: Scope) -> Node:
    P, V = mixture(s)
    return flipped(P) @ V


def _keys_for_values(s: Scope) -> Node:
    P, V = mixture(s)
    _, K = factors(s)
    return P @ (like(K, V) if K.axes[-1].size == V.axes[-1].size else K)


def _linear(s: Scope) -> Node:
    x = logits(s)
    return x / total(x)


CORE = (
    right(
        "att-scaled-first",
        "scores scaled",
        _scaled_first,
        says="queries or keys divided by √d_k before the product",
    ),
    right(
        "mask-before-scale",
        options=chosen(mask_before_scale={True: False, False: True}),
        says="−∞ before the scaling, or after it",
    ),
    right("alibi-by-key", "biased", _by_key, says="+m·j in place of −m·(i − j): a row's constant makes no difference"),
    wrong(
        "att-no-scale",
        "scaled",
        unscaled,
        says="softmax(Q·Kᵀ)·V, with nothing divided",
        hint=SCALE,
    ),
    wrong(
        "att-scale-dk",
        "scaled",
        lambda s: parts(s.this, "div")[0] / width(s),
        says="divided by d_k in place of √d_k, or scaled twice",
        hint="Variances add up; what does the typical size of a sum do?",
    ),
    wrong(
        "att-scale-dv",
        "scaled",
        _divided(lambda s: values(s).size(values(s).names[-1])),
        says="divided by √d_v",
        hint="Which index did each dot product sum over?",
    ),
    wrong(
        "att-scale-n",
        "scaled",
        _divided(lambda s: s.scores.size(s.scores.names[-1])),
        says="divided by √n",
        hint="Which index did each dot product sum over?",
    ),
    wrong(
        "att-scale-multiplied",
        "scaled",
        lambda s: parts(s.this, "div")[0] * sqrt(width(s)),
        says="multiplied by √d_k",
        hint="Did the scores become larger or smaller?",
    ),
    wrong(
        "att-scale-after",
        "scaled weights",
        _scaled_after,
        says="softmax(Q·Kᵀ)/√d_k·V: divided after the softmax",
        hint="Do the weights of a row still sum to 1?",
    ),
    wrong(
        "att-softmax-cols",
        "weights",
        lambda s: softmax(logits(s), logits(s).names[-2]),
        says="the softmax runs down the columns",
        hint="Who shares out the 100 %: each query, or each key?",
    ),
    wrong(
        "att-softmax-all",
        "weights",
        _shared_by_all,
        says="one softmax over all scores at once",
        hint="What does one row of the weights sum to?",
    ),
    wrong(
        "att-linear-norm",
        "weights",
        _linear,
        says="each score over its row's sum, without exponentials",
        hint="What becomes of a negative score?",
    ),
    wrong(
        "att-exp-unnormalised",
        "weights",
        lambda s: exp(logits(s)),
        says="exponentials that are not divided by their sum",
        hint="What does one row of the weights sum to?",
    ),
    wrong(
        "att-no-softmax",
        "weights",
        logits,
        says="the scores themselves as weights",
        hint="Which step turns scores into weights?",
    ),
    wrong(
        "att-softmax-twice",
        "weights",
        lambda s: softmax(s.this),
        says="softmax of the softmax",
        hint="How many times were the rows normalised?",
    ),
    wrong(
        "att-exp-zero-is-0",
        "weights",
        _zero_for_one,
        says="e⁰ taken as 0",
        hint="What is any number to the power 0?",
    ),
    wrong(
        "att-k-not-transposed",
        "scores",
        _keys_as_stored,
        says="Q·K, with K as it is stored",
        hint="A row of Q meets which line of K?",
    ),
    wrong(
        "att-qk-swapped",
        "scores",
        _swapped,
        says="K·Qᵀ",
        hint="Whose are the rows of the table of scores?",
    ),
    wrong(
        "att-q-for-k",
        "scores",
        _queries_for_keys,
        says="Q·Qᵀ",
        hint="Which matrix is being searched?",
    ),
    wrong(
        "att-p-transposed",
        "output heads",
        _columns_mix,
        says="Pᵀ·V",
        hint="Row i of the output mixes values by whose weights?",
    ),
    wrong(
        "att-k-for-v",
        "output heads",
        _keys_for_values,
        says="P·K",
        hint="What is it that is mixed?",
    ),
)
"""Mistakes of the core, which every attention has."""

DMODEL = wrong(
    "att-scale-dmodel",
    "scaled",
    _divided(_by_model),
    says="divided by √d_model",
    hint="Over how many entries did each dot product sum?",
)


# Masks


def _masking(s: Scope) -> tuple[Node, Node]:
    """Who may look at whom, and the scores that are masked."""
    allowed, x, _ = parts(s.this, "where")
    return allowed, x


def _otherwise(fill: Callable[[Node], Node | float]) -> Callable[[Scope], Node]:
    """Another number where −∞ belongs."""

    def rule(s: Scope) -> Node:
        allowed, x = _masking(s)
        return keep_where(allowed, x, fill(x))

    return rule


def _after(s: Scope) -> Node:
    allowed, x, _ = parts(s.masked, "where")
    return keep_where(allowed, softmax(x), 0)


def _unmasked(s: Scope) -> Node:
    if s.this.op == "where":
        return _masking(s)[1]
    return parts(s.this, "add")[0]


def _triangle(change: Callable[[Node, Node], Node], fill: float = -np.inf) -> Callable[[Scope], Node]:
    """Another triangle in place of j ≤ i."""

    def rule(s: Scope) -> Node:
        allowed, x = _masking(s)
        met = []

        def other(node: Node) -> Node | None:
            if node.op != "less_equal":
                return None
            met.append(node)
            return change(*node.sources)

        [changed] = rewrite([allowed], other)
        if not met:
            raise NotThere("causal")
        return keep_where(changed, x, fill)

    return rule


def _rows_for_columns(s: Scope) -> Node:
    allowed, x = _masking(s)
    n, m = x.names[-2:]
    if n in allowed.names:
        raise NotThere("a mask of keys")
    return keep_where(rename(allowed, m, n), x, -np.inf)


MASKS = (
    wrong(
        "mask-missing",
        "masked",
        _unmasked,
        says="nothing is masked",
        hint="May the first query look at the last key?",
    ),
    wrong(
        "mask-after-softmax",
        "weights",
        _after,
        says="masked after the softmax, without sharing out anew",
        hint="Does each row still sum to 1?",
    ),
    wrong(
        "mask-fill-zero",
        "masked",
        _otherwise(lambda x: 0),
        says="0 in place of −∞, or scores times the mask",
        hint="What is e⁰?",
    ),
    wrong(
        "mask-additive-01",
        "masked",
        _otherwise(lambda x: x - 1),
        says="the mask's 0 and 1 added to the scores",
        hint="How negative must a forbidden score be?",
    ),
    wrong(
        "mask-additive-01",
        "masked",
        lambda s: keep_where(_masking(s)[0], _masking(s)[1] + 1, _masking(s)[1]),
        says="the mask's 0 and 1 added to the scores",
        hint="How negative must a forbidden score be?",
    ),
    wrong(
        "mask-plus-inf",
        "masked",
        _otherwise(lambda x: np.inf),
        says="+∞ in place of −∞",
        hint="For which infinity is e^x 0?",
    ),
    wrong(
        "mask-strict",
        "masked",
        _triangle(lambda j, i: j < i),
        says="a token may not look at itself",
        hint="May a token look at itself?",
    ),
    wrong(
        "mask-strict",
        "masked",
        _triangle(lambda j, i: j < i, -1e9),
        says="a token may not look at itself",
        hint="May a token look at itself?",
    ),
    wrong(
        "mask-transposed",
        "masked",
        _triangle(lambda j, i: i <= j),
        says="a token sees itself and what comes after it",
        hint="Is the forbidden corner above the diagonal or below it?",
    ),
    wrong(
        "mask-inverted",
        "masked",
        lambda s: keep_where(logical_not(_masking(s)[0]), _masking(s)[1], -np.inf),
        says="hides what it should keep",
        hint="Does a 1 in the mask mean keep, or hide?",
    ),
    wrong(
        "mask-offset",
        "masked",
        _triangle(lambda j, i: j <= i + 1),
        says="a token sees one place ahead",
        hint="May a token look one place ahead?",
    ),
    wrong(
        "mask-query-rows",
        "masked",
        _rows_for_columns,
        says="padding hides rows of queries in place of columns of keys",
        hint="Is a padded token being read, or reading?",
    ),
    wrong(
        "mask-causal-align",
        options=chosen(causal_align={"start": "end", "end": "start"}, causal={True: True}),
        says="the triangle is aligned at the other end",
        hint="Which key does the last query end on?",
        kind="convention",
    ),
)
"""Mistakes of masks."""


# Biases


def _scaled_with(s: Scope) -> Node:
    scaled, slopes = parts(s.this, "sub")
    return scaled - slopes / sqrt(width(s))


def _bias_after(s: Scope) -> Node:
    scaled, slopes = parts(s.biased, "sub")
    return softmax(scaled) - slopes


def _scaled_though(s: Scope) -> Node:
    if "scaled" in s:
        raise NotThere("unscaled scores")
    scores, bias = parts(s.this, "add")
    return scores / sqrt(width(s)) + bias


BIASES = (
    wrong(
        "alibi-scaled-too",
        "biased",
        _scaled_with,
        says="(Q·Kᵀ − m·distance)/√d_k",
        hint="Is the bias added before the scaling, or after it?",
    ),
    wrong(
        "alibi-after-softmax",
        "weights",
        _bias_after,
        says="the bias after the softmax",
        hint="Do the rows still sum to 1?",
    ),
    wrong(
        "t5-scaled",
        "biased",
        _scaled_though,
        says="Q·Kᵀ/√d_k + bias, where nothing is scaled",
        hint="Does this model scale its scores at all?",
    ),
)
"""Mistakes of biases by position."""


# Several heads


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


def _unprojected(s: Scope) -> Node:
    alike = s.concatenated.axes[-1].size == s.this.axes[-1].size
    return like(s.concatenated, s.this) if alike else s.concatenated


def _projected(s: Scope, change: Callable[[Node, Node], Node]) -> Node:
    """The last projection done in another way, its bias kept."""
    if s.this.op == "add":
        product, bias = s.this.sources
        return change(*parts(product, "matmul")) + bias
    return change(*parts(s.this, "matmul"))


HEADS = (
    wrong(
        "mh-split-reshape",
        "q_heads k_heads v_heads",
        lambda s: reread(parts(s.this, "split")[0], s.this.axes),
        says="reshaped to (h, n, d_k) without a transpose",
        hint="Write down which numbers the first token gives to the second head.",
    ),
    wrong(
        "mh-split-strided",
        "q_heads k_heads v_heads",
        _strided,
        says="every h-th column to a head",
        hint="Does a head take a block of neighbouring columns, or every h-th one?",
    ),
    wrong(
        "mh-merge-reshape",
        "concatenated",
        lambda s: reread(parts(s.this, "merge")[0], s.this.axes),
        says="reshaped from (h, n, d_v) to (n, h·d_v) without a transpose",
        hint="Does row 1 of the result hold the first token alone?",
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
        says="the heads' entries alternate",
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
        _divided(_by_model),
        says="√d_model inside the heads",
        hint="Over how many entries did each head's dot products sum?",
    ),
    wrong(
        "mh-no-wo",
        "output",
        _unprojected,
        says="without W_O",
        hint="Is there one projection left?",
    ),
    wrong(
        "mh-wo-transposed",
        "output",
        lambda s: _projected(s, lambda joined, W: joined @ like(W.T, W)),
        says="times W_Oᵀ",
        hint="Which side of W_O meets the heads?",
    ),
    wrong(
        "mh-shared-projection",
        "q_heads k_heads v_heads",
        _first_for_all,
        says="the first head's columns for every head",
        hint="Would the heads then differ?",
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
        "heads",
        lambda s: like(s.weights, s.this),
        says="the weights laid side by side, and no values",
        hint="Where did V go?",
    ),
)
"""Mistakes of several heads."""


# The backward pass


def _spread_out(s: Scope) -> tuple[Node, Node]:
    """The weights and their gradient, in the step behind the softmax."""
    weights, pulled = parts(s.this, "mul")
    if weights.op != "step" or weights.args["name"] != "weights":
        raise NotThere("weights")
    gradient, _ = parts(pulled, "sub")
    return weights, gradient


def _behind_softmax(change: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
    """The gradient behind the softmax in another way."""
    return lambda s: change(*_spread_out(s))


_BEHIND = "grad_masked grad_biased grad_capped grad_scaled grad_scores"


def _behind_scores(change: Callable[[Node, Node, Node], Node]) -> Callable[[Scope], Node]:
    """The gradient of queries or keys, from that of the scores, in another way."""

    def rule(s: Scope) -> Node:
        parts(s.this, "matmul")
        return change(s.grad_scores, *factors(s))

    return rule


def _of_queries(s: Scope) -> bool:
    return bool(s.step.args["of"].startswith("q"))


def _exchanged(s: Scope) -> Node:
    of_queries = _of_queries(s)
    return _behind_scores(lambda dS, Q, K: like(dS.T @ Q if of_queries else dS @ K, s.this))(s)


def _own_partner(s: Scope) -> Node:
    of_queries = _of_queries(s)
    return _behind_scores(lambda dS, Q, K: dS @ like(Q, K) if of_queries else dS.T @ like(K, Q))(s)


BACKWARD = (
    wrong(
        "jac-diag-only",
        _BEHIND,
        _behind_softmax(lambda P, G: G * (P * (1 - P))),
        says="P ⊙ (1 − P) ⊙ dP: the diagonal of the Jacobian alone",
        hint="If one weight of a row rises, what must the others do?",
    ),
    wrong(
        "jac-missing",
        _BEHIND,
        _behind_softmax(lambda P, G: G),
        says="dS = dP",
        hint="Do the rows of dS sum to 0?",
    ),
    wrong(
        "jac-p-only",
        _BEHIND,
        _behind_softmax(lambda P, G: P * G),
        says="dS = P ⊙ dP",
        hint="Do the rows of dS sum to 0?",
    ),
    wrong(
        "jac-plus",
        _BEHIND,
        _behind_softmax(lambda P, G: P * (G + total(G * P))),
        says="P ⊙ (dP + Σ P⊙dP)",
        hint="Do the rows of dS sum to 0?",
    ),
    wrong(
        "jac-columns",
        _BEHIND,
        _behind_softmax(lambda P, G: P * (G - total(G * P, P.names[-2]))),
        says="the sums taken down the columns",
        hint="Do the rows of dS sum to 0?",
    ),
    wrong(
        "datt-dv-p",
        "grad_v grad_v_heads",
        lambda s: like(s.weights, s.weights.T) @ parts(s.this, "matmul")[1],
        says="dV = P·dO",
        hint="Which index is summed: that of the queries, or that of the keys?",
    ),
    wrong(
        "datt-no-scale",
        "grad_scores",
        lambda s: parts(s.this, "div")[0],
        says="without the 1/√d_k of the forward pass",
        hint="Where does the constant of the forward pass appear again?",
    ),
    wrong(
        "datt-scale-dk",
        "grad_scores",
        lambda s: parts(s.this, "div")[0] / width(s),
        says="divided by d_k in place of √d_k",
        hint="Where does the constant of the forward pass appear again?",
    ),
    wrong(
        "datt-dk-untransposed",
        "grad_k grad_k_heads",
        _behind_scores(lambda dS, Q, K: like(dS, dS.T) @ Q),
        says="dK = dS·Q",
        hint="Which index is summed?",
    ),
    wrong(
        "datt-dq-transposed",
        "grad_q grad_q_heads",
        _behind_scores(lambda dS, Q, K: flipped(dS) @ K),
        says="dQ = dSᵀ·K",
        hint="Which index is summed?",
    ),
    wrong(
        "datt-swapped",
        "grad_q grad_k grad_q_heads grad_k_heads",
        _exchanged,
        says="dQ and dK exchanged",
        hint="The gradient of a product needs the other factor.",
    ),
    wrong(
        "datt-wrong-partner",
        "grad_q grad_k grad_q_heads grad_k_heads",
        _own_partner,
        says="dQ = dS·Q, dK = dSᵀ·K",
        hint="The gradient of a product needs the other factor.",
    ),
)
"""Mistakes of the backward pass."""

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "attention": (*CORE, DMODEL, *MASKS, *BIASES, *IN_ATTENTION, *BACKWARD),
    "multihead": (*CORE, *MASKS, *BIASES, *IN_ATTENTION, *HEADS, *BACKWARD),
}
"""Calculation → its mistakes, the commonest first."""
