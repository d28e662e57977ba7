"""Mistakes that every attention may have, forward and backward: what is divided, compared and mixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attncalc.declare.mistake import (
    Mistake,
    NotThere,
    Rule,
    Scope,
    alternative,
    chosen,
    flipped,
    like,
    parts,
    replaced,
    wrong,
)
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, inside, named_size
from attncalc.language.ops import (
    compare_equal,
    concat,
    exp,
    held_or_0,
    index,
    keep_where,
    maximum,
    merge,
    part_of,
    peak,
    rename,
    softmax,
    spread,
    sqrt,
    total,
)
from attncalc.language.ops.moves import reread
from attncalc.mistakes.masking import by_key, factors, logits, width


def unscaled(s: Scope) -> Node:
    """What is divided by √d_k."""
    return parts(s.this, "div", "mul")[0]


def mixture(s: Scope) -> tuple[Node, Node]:
    """The weights, and the values that are mixed by them."""
    weights, mixed = parts(s.this, "matmul")
    if weights.args.get("name") != "weights":
        raise NotThere("weights")
    return weights, mixed


def values(s: Scope) -> Node:
    """The values that are mixed, before anybody shares them."""
    return s.v_heads if "v_heads" in s else s.v


def divided(size: Callable[[Scope], Node]) -> Callable[[Scope], Node]:
    """Scores over the root of another size than d_k."""

    def rule(s: Scope) -> Node:
        x, root = parts(s.this, "div")
        other, right_one = size(s), parts(root, "sqrt")[0]
        if other.args["axis"].size == right_one.args["axis"].size:
            raise NotThere
        return x / sqrt(other)

    return rule


def model_width(s: Scope) -> Node:
    """d_model, or the width of two heads where it is not told; not 4, whose root is d_k itself."""
    tokens = s.x if "x" in s else _projected(s)
    if tokens is not None:
        return tokens.size(tokens.names[-1])
    d_k = width(s).args["axis"]
    if d_k.size == 2:
        raise NotThere
    return named_size("d_model", 2 * d_k.size)


def _projected(s: Scope) -> Node | None:
    """What queries are made of, where a step makes them."""
    if "q" not in s or s.q.op != "step":
        return None
    made = s.q.sources[0]
    product = made.sources[0] if made.op == "add" else made
    return product.sources[0] if product.op == "matmul" else None


def queries(s: Scope) -> Node:
    """How many queries there are, where there are not as many keys."""
    n, m = s.scores.axes[-2:]
    if n.size == m.size:
        raise NotThere
    return s.scores.size(n.name)


def _scaled_after(s: Scope) -> Node:
    return unscaled(s) if s.step.args["name"] == "scaled" else s.this / sqrt(width(s))


def _scaled_first(s: Scope) -> Node:
    if s.options.get("scale", "default") != "default":
        raise NotThere("the usual scale")
    return parts(s.this, "div")[0] if s.step.args["name"] == "scaled" else s.this / sqrt(width(s))


def _shared_by_all(s: Scope) -> Node:
    e = exp(logits(s))
    return e / total(total(e))


def _zero_for_one(s: Scope) -> Node:
    x = logits(s)
    e = keep_where(compare_equal(x, 0), 0, exp(x))
    whole = total(e)
    return e / keep_where(compare_equal(whole, 0), 1, whole)  # 0 / 0 for a fully masked row is another mistake


def _compared(change: Callable[[Node, Node], Node]) -> Rule:
    """Queries and keys compared in another way."""
    return lambda s: change(*factors(s))


def _columns_mix(s: Scope) -> Node:
    P, V = mixture(s)
    return flipped(P) @ V


def _keys_for_values(s: Scope) -> Node:
    P, V = mixture(s)
    _, K = factors(s)
    return P @ (like(K, V) if K.axes[-1].size == V.axes[-1].size else K)


def _taken_for_one_another(s: Scope) -> Node:
    """K and V in one another's places, where they have the same shape."""
    if "k_rotated" in s:
        raise NotThere("keys as they are given")
    if s.step.args["name"] == "scores":
        Q, K = factors(s)
        return Q @ like(s.v, K).T
    P, V = mixture(s)
    return P @ like(s.k, V)


def _tiled(s: Scope) -> Node:
    """Key heads in turn, h mod g, in place of one for neighbouring query heads."""
    shared = next((node for node in inside(s.step) if node.op == "repeat" and node.args["new"] == "h"), None)
    if shared is None or shared.args["times"] == 1 or shared.sources[0].axes[-3].size == 1:
        raise NotThere("shared key heads")
    once = rename(shared.sources[0], shared.args["old"], "h")
    return replaced(s.this, shared, concat([once] * shared.args["times"], "h"))


def tiled(mixed: str) -> tuple[Mistake, ...]:
    """Grouped query heads that take the key heads in turn, in the step that mixes values too, or in one alone."""
    return tuple(
        wrong(
            "gqa-tiled",
            at,
            _tiled,
            says=f"query heads take the {heads} in turn",
            hint="Which query heads share a key head: neighbours, or every other one?",
        )
        for at, heads in ((f"scores {mixed}", "key heads"), ("scores", "key heads"), (mixed, "heads of values"))
    )


def _unscaled_blocks(size: int) -> Rule:
    """Exponentials of blocks of keys, each relative to the largest score so far."""

    def rule(s: Scope) -> Node:
        x = logits(s)
        m = x.axes[-1]
        if m.size <= size:
            raise NotThere("several blocks")
        top, shares = None, []
        for start in range(0, m.size, size):
            block = part_of(x, m.name, start, min(start + size, m.size))
            top = peak(block) if top is None else maximum(top, peak(block))
            shares.append(exp(block - held_or_0(top)))
        whole = concat(shares, m.name)
        return whole / total(whole)

    return rule


RESCALED = "By which maximum were the earlier exponentials shifted, and by which are these?"
BLOCKS = (16, 32, 64, 128)
"""The numbers of keys that kernels process together."""

IN_BLOCKS = tuple(
    wrong(
        "flash-no-rescale",
        "weights",
        _unscaled_blocks(size),
        says=f"what was carried from one block of {size} keys to the next is not rescaled by e^(old − new)",
        hint=RESCALED,
    )
    for size in BLOCKS
)
"""A kernel in blocks that forgets to rescale."""


# The order of heads and tokens


def _heads_of(s: Scope) -> Node:
    """What has a place for every head, and is joined or handed on."""
    found = s.this.sources[0] if s.this.op == "merge" else s.this
    if len(found.axes) < 3 or found.names[-3] != "h" or "h" not in found.names:
        raise NotThere("heads")
    return found


def _in_order(order: Callable[[int], Sequence[int]]) -> Rule:
    """The heads in another order, of as many as there are."""

    def rule(s: Scope) -> Node:
        heads = _heads_of(s)
        count = heads.axes[-3].size
        places = [*order(count)]
        if sorted(places) != [*range(count)] or count < 3 or places == [*range(count)]:
            raise NotThere("several heads")
        other = concat([part_of(heads, "h", i, i + 1) for i in places], "h")
        return other if heads is s.this else like(merge(other), s.this)

    return rule


def _exchanged_from(i: int) -> Callable[[int], Sequence[int]]:
    return lambda count: [*range(i), i + 1, i, *range(i + 2, count)] if i + 1 < count else []


def _by_groups(groups: int) -> Callable[[int], Sequence[int]]:
    return lambda count: [] if count % groups else [h for g in range(groups) for h in range(g, count, groups)]


ORDERS: tuple[Callable[[int], Sequence[int]], ...] = (
    lambda count: [*range(1, count), 0],
    lambda count: [count - 1, *range(count - 1)],
    *map(_exchanged_from, range(7)),
    *map(_by_groups, (2, 3, 4)),
)
"""Orders of heads that result from a wrong loop or from exchanged groups."""


def permuted(at: str) -> tuple[Mistake, ...]:
    """Heads in another order than they were made in."""
    return tuple(
        wrong(
            "heads-permuted",
            at,
            _in_order(order),
            says="the heads in another order",
            hint="Which head stands at which place?",
        )
        for order in ORDERS
    )


def _tokens_first(s: Scope, *, read_again: bool) -> Node:
    """[n, h, d] in place of [h, n, d]: as it is, or its numbers read as if they lay as they should."""
    heads = _heads_of(s)
    *batch, h, n, d = heads.axes
    turned = spread(heads, (*batch, n, h, d))
    if read_again or n.size == h.size:
        return reread(turned, heads.axes)
    return turned


LAYOUT = tuple(
    wrong(
        "layout-bnhd",
        "output",
        partial(_tokens_first, read_again=again),
        says=f"laid out as [n, h, d] in place of [h, n, d]{more}",
        hint="Which axis comes first: heads, or tokens?",
        kind="convention",
    )
    for again, more in ((False, ""), (True, ", and read as if it were not"))
)
"""Heads and tokens in the other order."""


CORE = (
    alternative(
        "att-scaled-first",
        "scores scaled",
        _scaled_first,
        says="queries or keys divided by √d_k before the product",
    ),
    alternative(
        "mask-before-scale",
        options=chosen(mask_before_scale={True: False, False: True}),
        says="−∞ before the scaling, or after it",
    ),
    alternative(
        "alibi-by-key",
        "biased",
        lambda s: by_key(s.when("causal", True).this),
        says="+m·j in place of −m·(i − j): a row's constant makes no difference",
    ),
    wrong(
        "att-no-scale",
        "scaled",
        unscaled,
        says="softmax(Q·Kᵀ)·V, with nothing divided",
        hint="What keeps the scores from growing as the vectors get longer?",
    ),
    wrong(
        "att-scale-dk",
        "scaled",
        lambda s: parts(s.this, "div")[0] / width(s),
        says="divided by d_k in place of √d_k, or scaled twice",
        hint="If a sum has four times as many terms, how many times as large is it, typically?",
    ),
    wrong(
        "att-scale-dv",
        "scaled",
        divided(lambda s: values(s).size(values(s).names[-1])),
        says="divided by √d_v",
        hint="Over how many entries did each dot product sum?",
    ),
    *(
        wrong(
            "att-scale-n",
            "scaled",
            divided(tokens),
            says="divided by √n",
            hint="Over how many entries did each dot product sum?",
        )
        for tokens in (lambda s: s.scores.size(s.scores.names[-1]), queries)
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
        says="(softmax(Q·Kᵀ)/√d_k)·V: divided after the softmax",
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
        lambda s: logits(s) / total(logits(s)),
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
        _compared(lambda Q, K: Q @ like(K, K.T)),
        says="Q·K, with K as it is stored",
        hint="Is a row of Q multiplied with a row of K, or with a column?",
    ),
    wrong(
        "att-qk-swapped",
        "scores",
        _compared(lambda Q, K: like(K @ Q.T, Q @ K.T)),
        says="K·Qᵀ",
        hint="Do the rows of the scores belong to the queries, or to the keys?",
    ),
    wrong(
        "att-q-for-k",
        "scores",
        _compared(lambda Q, K: Q @ like(Q, K).T),
        says="Q·Qᵀ",
        hint="Which matrix is being searched?",
    ),
    wrong(
        "att-scores-negated",
        "scores",
        lambda s: -s.this,
        says="−Q·Kᵀ",
        hint="Which key gets the largest weight: the one most like the query, or the one least like it?",
    ),
    wrong(
        "att-p-transposed",
        "output heads",
        _columns_mix,
        says="Pᵀ·V",
        hint="Whose weights mix the values into row i of the output?",
    ),
    wrong(
        "att-k-for-v",
        "output heads",
        _keys_for_values,
        says="P·K",
        hint="Which matrix do the weights mix?",
    ),
)
"""Mistakes of the core of every attention."""

KEYS_AND_VALUES = wrong(
    "att-kv-swapped",
    "scores output",
    _taken_for_one_another,
    says="K and V are exchanged",
    hint="Which matrix is compared with Q, and which one is mixed?",
)

DMODEL = wrong(
    "att-scale-dmodel",
    "scaled",
    divided(model_width),
    says="divided by √d_model",
    hint="Over how many entries did each dot product sum?",
)


# The backward pass


ROWS = "Do the rows of dS sum to 0?"


def _by_jacobian(P: Node, G: Node) -> Node:
    """The Jacobian diag(P) − P·Pᵀ of each row, whose entries are numbers of their own, times the gradient."""
    *front, along = P.axes
    square = (*front, Axis("place", along.size), along)
    mine, other = spread(rename(P, along.name, "place"), square), spread(P, square)
    on = compare_equal(index("place", square, "i"), index(along.name, square, "j"))
    return rename(total((keep_where(on, mine, 0) - mine * other) * spread(G, square)), "place", along.name)


def slopes(at: str, behind: Callable[[Scope], tuple[Node, Node]]) -> tuple[Mistake, ...]:
    """The mistakes of the slopes of a softmax, at the steps that it gives: from its shares P and their gradient dP."""

    def giving(change: Callable[[Node, Node], Node]) -> Callable[[Scope], Node]:
        return lambda s: change(*behind(s))

    return (
        alternative("jac-written-out", at, giving(_by_jacobian), says="dS = (diag(P) − P·Pᵀ)·dP"),
        wrong(
            "jac-diag-only",
            at,
            giving(lambda P, G: G * (P * (1 - P))),
            says="P ⊙ (1 − P) ⊙ dP: the diagonal of the Jacobian alone",
            hint="If one weight of a row rises, what must the others do?",
        ),
        wrong(
            "jac-missing",
            at,
            giving(lambda P, G: G),
            says="dS = dP",
            hint=ROWS,
        ),
        wrong(
            "jac-p-only",
            at,
            giving(lambda P, G: P * G),
            says="dS = P ⊙ dP",
            hint=ROWS,
        ),
        wrong(
            "jac-plus",
            at,
            giving(lambda P, G: P * (G + total(G * P))),
            says="P ⊙ (dP + Σ(P ⊙ dP))",
            hint=ROWS,
        ),
    )


CONSTANT = "Which constant of the forward pass comes back in the gradient?"
INDEX = "Over which index does the sum run?"
FACTOR = "Which factor does the gradient of a product need: its own, or the other one?"


def _spread_out(s: Scope) -> tuple[Node, Node]:
    """The weights and their gradient, in the step behind the softmax."""
    weights, pulled = parts(s.this, "mul")
    if weights.op != "step" or weights.args["name"] != "weights":
        raise NotThere("weights")
    gradient, _ = parts(pulled, "sub")
    return weights, gradient


def _down_the_columns(s: Scope) -> Node:
    P, G = _spread_out(s)
    return P * (G - total(G * P, P.names[-2]))


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


GRADIENTS = (
    *slopes(_BEHIND, _spread_out),
    wrong(
        "jac-columns",
        _BEHIND,
        _down_the_columns,
        says="the sums taken down the columns",
        hint=ROWS,
    ),
    wrong(
        "datt-dv-p",
        "grad_v grad_v_heads",
        lambda s: like(s.weights, s.weights.T) @ parts(s.this, "matmul")[1],
        says="dV = P·dO",
        hint="Does the sum run over the queries, or over the keys?",
    ),
    wrong(
        "datt-no-scale",
        "grad_scores",
        lambda s: parts(s.this, "div")[0],
        says="without the 1/√d_k of the forward pass",
        hint=CONSTANT,
    ),
    wrong(
        "datt-scale-dk",
        "grad_scores",
        lambda s: parts(s.this, "div")[0] / width(s),
        says="divided by d_k in place of √d_k",
        hint=CONSTANT,
    ),
    wrong(
        "datt-dk-untransposed",
        "grad_k grad_k_heads",
        _behind_scores(lambda dS, Q, K: like(dS, dS.T) @ Q),
        says="dK = dS·Q",
        hint=INDEX,
    ),
    wrong(
        "datt-dq-transposed",
        "grad_q grad_q_heads",
        _behind_scores(lambda dS, Q, K: flipped(dS) @ K),
        says="dQ = dSᵀ·K",
        hint=INDEX,
    ),
    wrong(
        "datt-swapped",
        "grad_q grad_k grad_q_heads grad_k_heads",
        _exchanged,
        says="dQ and dK are swapped",
        hint=FACTOR,
    ),
    wrong(
        "datt-wrong-partner",
        "grad_q grad_k grad_q_heads grad_k_heads",
        _own_partner,
        says="dQ = dS·Q, dK = dSᵀ·K",
        hint=FACTOR,
    ),
)
"""Mistakes of the backward pass."""
