"""Attention in pieces: one token at a time beside a cache of keys and values, or one block of keys at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from attncalc.calculations.attention import (
    Context,
    Keys,
    Mask,
    Queries,
    Tokens,
    ToKeys,
    ToQueries,
    ToValues,
    Values,
    queries_keys_values,
    shared_heads,
)
from attncalc.calculations.attention_options import (
    Causal,
    CausalAlign,
    MaskKind,
    Rules,
    Scale,
    Window,
    as_seen,
    fully_masked,
    note_alignment,
    said_of,
    scaled,
)
from attncalc.common.errors import ShapeError, both
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, operand
from attncalc.language.axes import describe, find
from attncalc.language.graph import NOT_SHIFTED, Node, aside, constant, group, in_letters, note, output, step
from attncalc.language.ops import (
    absolute,
    concat,
    exp,
    held,
    held_or_0,
    index,
    keep_where,
    maximum,
    over_all,
    part_of,
    peak,
    per,
    rename,
    softmax,
    total,
)
from attncalc.record.trace import Trace

ABOUT = {
    "scores": "Earlier queries need not be computed again: they may not see this token, so their results have not "
    "changed. The work for one token grows with the number of tokens so far, not with its square.",
    "cached": "That is for one key head of one layer; a model caches as much for each of them. Fewer key heads, each "
    "shared by several query heads, make the cache smaller.",
    "maximum": "With the running maximum subtracted no exponential is above 1, so nothing overflows.",
    "sum": "Earlier exponentials used the old maximum: e^(s − old)·e^(old − new) = e^(s − new), so one factor for each "
    "query corrects all of them.",
    "accumulator": "The same factor corrects the values mixed so far. Their weights are still exponentials, not yet "
    "divided by their sum.",
    "output": "Divided by the full sum they are softmax's weights, though a whole row of weights was never stored.",
}
"""What a teacher would add to the reason of a step."""


@calculation(
    q="n d_k",
    k="n d_k",
    v="n d_v",
    x="n d_model",
    wq="d_model d_k",
    wk="d_model d_k",
    wv="d_model d_v",
    leading=("h",),
    laws={"the rows are those of causal attention": lambda f, q, k, v: same(f(q, k, v)["largest_difference"], 0)},
    remarks=fully_masked,
    pictures=("weights",),
    reference="Shazeer 2019, Fast Transformer Decoding: One Write-Head is All You Need, section 2.4",
)
def kv_cache(
    Q: Queries = None,
    K: Keys = None,
    V: Values = None,
    *,
    X: Tokens = None,
    W_Q: ToQueries = None,
    W_K: ToKeys = None,
    W_V: ToValues = None,
    scale: Scale = "default",
    bytes: Annotated[
        float, "how many bytes a cached number takes: 2 in float16, 4 in float32, 0.5 in int4", ABOVE_0
    ] = 2,
) -> tuple[Node, Node]:
    """Causal attention one token at a time, keeping the keys and values of past tokens.

    Each token brings one query, one key and one value, and attends to all cached keys, its own included. The rows
    are those of causal attention (`largest_difference` says how exactly), at the price of the memory that the cache
    takes: d_k + d_v numbers for every token, key head and layer.
    """
    Q, K, V = queries_keys_values("kv-cache", (Q, K, V), X, (W_Q, W_K, W_V), keys="n")
    _must_match("n", Q=Q, K=K, V=V)
    K, V = shared_heads(K, V, Q, None)
    cached = rename(K, "n", "m"), rename(V, "n", "m")
    rows = []
    for t in range(Q.axes[-2].size):
        with group(f"token {t + 1}"):
            query = part_of(Q, "n", t, t + 1)
            keys, values = (part_of(kept, "m", 0, t + 1) for kept in cached)
            why = "only the new query, n, is compared with the keys so far, m: one row instead of a whole table"
            scores = step("scores", query @ keys.T, why, about=ABOUT["scores"])
            weights = step(
                "weights",
                softmax(scaled(query.size("d_k"), scores, scale)),
                "the new token divides its attention among past tokens and itself",
            )
            rows.append(step("output", weights @ values, "mix the values seen so far by those weights"))
            width = K.size("d_k") + V.size("d_v")
            why = "keys and values are needed again for later tokens, queries are not"
            each = constant(bytes, "bytes", "bytes")
            aside("cached_bytes", each * (keys.size("m") * width), why, about=ABOUT["cached"])
    whole = step("output", concat(rows, "n"), "the same rows that causal attention gives all at once")
    apart = absolute(whole - _causal(Q, *cached, scale))
    return whole, output("largest_difference", over_all(peak, apart), "from causal attention over all tokens at once")


def _must_match(axis: str, **several: Node | None) -> None:
    """Raise for an axis of different sizes: pieces are taken from each by itself, and would not meet there."""
    having = {s: node.axes for s, node in several.items() if node is not None and axis in node.names}
    if len({find(axes, axis).size for axes in having.values()}) > 1:
        facts = [f"{symbol} is {describe(axes)}" for symbol, axes in having.items()]
        raise ShapeError(f"{both(facts)}, but {axis} must be of one size")


def _causal(Q: Node, K: Node, V: Node, scale: float | str) -> Node:
    """Causal attention all at once, without steps."""
    scores = Q @ K.T
    i, j = (index(name, scores.axes[-2:], symbol) for name, symbol in (("n", "i"), ("m", "j")))
    return softmax(keep_where(j <= i, scaled(Q.size("d_k"), scores, scale), -np.inf)) @ V


MOST_BLOCKS = 64
"""By default keys are cut into at most so many blocks, since each block updates everything that is carried."""


def _saw_nothing(trace: Trace) -> Iterator[str]:
    """A warning for queries whose keys are masked in every block."""
    sums = [step for step in trace.steps if step.name == "sum"][-1:]
    for seen in sums:
        if seen.value is not None and (empty := np.argwhere(seen.value == 0).tolist()):
            yield said_of(empty, seen.axes, seen.labels)


@calculation(
    q="n d_k",
    k="m d_k",
    v="m d_v",
    x="n d_model",
    wq="d_model d_k",
    wk="d_model d_k",
    wv="d_model d_v",
    context="m d_model",
    mask=operand("n m", kind="mask", broadcasts=True),
    leading=("h",),
    remarks=_saw_nothing,
    laws={
        "the block size does not matter": lambda f, q, k, v: same(f(q, k, v, block=1), f(q, k, v, block=len(k))),
        "reordering the keys, together with their values, changes nothing": lambda f, q, k, v: same(
            f(q, *shuffled(k, v)), f(q, k, v)
        ),
    },
    reference="Dao et al. 2022, FlashAttention, section 3.1; Milakov and Gimelshein 2018, Online normalizer "
    "calculation for softmax, algorithm 3",
)
def flash(
    Q: Queries = None,
    K: Keys = None,
    V: Values = None,
    *,
    X: Tokens = None,
    W_Q: ToQueries = None,
    W_K: ToKeys = None,
    W_V: ToValues = None,
    context: Context = None,
    M: Mask = None,
    block: Annotated[int | None, "how many keys are processed together: 2, or of many a 64th", AT_LEAST_1] = None,
    causal: Causal = False,
    causal_align: CausalAlign = "start",
    mask_kind: MaskKind = None,
    window: Window = None,
    scale: Scale = "default",
) -> Node:
    """Attention one block of keys at a time, without ever holding a whole row of scores.

    Each query keeps three things: the largest score so far, the sum of the exponentials relative to it, and the
    values mixed by them. A new maximum scales the earlier two by e^(old − new). The output equals attention's. While
    a query has seen masked keys alone its maximum is −∞, and 0 is subtracted.
    """
    Q, K, V = queries_keys_values("flash", (Q, K, V), X, (W_Q, W_K, W_V), context)
    _must_match("m", K=K, V=V, M=M)
    K, V = shared_heads(K, V, Q, None)
    queries, size = Q.axes[-2].size, K.axes[-2].size
    rules = Rules(causal=causal, causal_align=causal_align, window=window, scale=scale)
    note_alignment(queries, size, rules)
    before_all = causal and causal_align == "end" and queries > size  # the first queries come before the first key
    all_seen = M is None and window is None and not before_all  # causal hides the first key from no other query
    width = block or max(2, -(-size // MOST_BLOCKS))
    carried: tuple[Node, Node, Node] | None = None
    for number, start in enumerate(range(0, size, width), start=1):
        with group(f"block {number}"):
            keys, values = (_block(whole, start, start + width) for whole in (K, V))
            part = _block(M, start, start + width) if M is not None and "m" in M.names else M
            seen = as_seen(scaled(Q.size("d_k"), Q @ keys.T, scale), part, rules, start, size)
            scores = step("scores", seen, "only the keys of this block")
            carried = _carry(scores, values, carried, held if all_seen else held_or_0)
    assert carried is not None, "an axis holds at least one key"
    _, sums, mixed = carried
    why = "one division at the end instead of one for every weight; the numbers are those of attention at once"
    if all_seen:
        return step("output", mixed / sums, why, about=ABOUT["output"])
    why += "; for a query that sees no key the sum is 0, and so is the output"
    return step("output", per(mixed, sums, sums), why, about=ABOUT["output"])


def _block(whole: Node, start: int, end: int) -> Node:
    """Those of a block of keys."""
    return part_of(whole, "m", start, min(end, next(axis.size for axis in whole.axes if axis.name == "m")))


def _carry(
    scores: Node, values: Node, before: tuple[Node, Node, Node] | None, subtracted: Callable[[Node], Node]
) -> tuple[Node, Node, Node]:
    """The running maximum, sum and mixture after one more block; `subtracted` is what a maximum is as a shift."""
    whys = (
        "the largest score so far, which is subtracted before e^x",
        "what this block adds; what came before is rescaled, since the maximum may have grown"
        if before and not in_letters()
        else "the sum of the exponentials so far, by which the result is divided at the end",
        "the values mixed so far, not yet divided by the sum",
    )
    top = peak(scores)
    if in_letters():
        note(NOT_SHIFTED)
        shares = exp(scores)
        sums, mixed = total(shares), shares @ values
        if before is not None:
            sums, mixed = before[1] + sums, before[2] + mixed
    else:
        top = step("maximum", top if before is None else maximum(before[0], top), whys[0], about=ABOUT["maximum"])
        shares = exp(scores - subtracted(top))
        sums, mixed = total(shares), shares @ values
        if before is not None:
            shrunk = exp(held(before[0]) - subtracted(top))
            sums, mixed = shrunk * before[1] + sums, shrunk * before[2] + mixed
    sums = step("sum", sums, whys[1], about=ABOUT["sum"])
    return top, sums, step("accumulator", mixed, whys[2], about=ABOUT["accumulator"])
