"""Attention without a softmax: a state of one size that every token adds to, whatever the number of tokens is."""

from __future__ import annotations

from typing import Annotated, Literal

from attncalc.calculations.attention import (
    Keys,
    Queries,
    Tokens,
    ToKeys,
    ToQueries,
    ToValues,
    Values,
    queries_keys_values,
    shared_heads,
)
from attncalc.common.errors import ShapeError
from attncalc.declare.calculation import calculation, same
from attncalc.language.axes import describe
from attncalc.language.graph import Node, as_node, aside, group, output, step
from attncalc.language.ops import (
    absolute,
    concat,
    exp,
    index,
    keep_where,
    maximum,
    minimum,
    over_all,
    part_of,
    peak,
    rename,
    total,
)

ABOUT = {
    "q_features": "e^(q·k) cannot be taken apart into something of q and something of k; φ(q)·φ(k) can. this φ "
    "is elu(x) + 1: x + 1 above 0, e^x below it. So no weight is negative, and no sum is 0.",
    "state": "It has d_k·d_v numbers and keeps them for any number of tokens. A cache of keys and values grows with "
    "every token. What was added cannot be told apart again, which is the price.",
    "sum": "φ(q) times this sum is the sum of the weights that the query gives to all keys so far: what softmax "
    "divides by.",
    "scores": "(φ(Q)·φ(K)ᵀ)·V with a table of n × n, and φ(Q)·(φ(K)ᵀ·V) with one of d_k × d_v, are the same product, "
    "with other brackets. The table is quicker to train with on short texts, the state to write with.",
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
    laws={
        "the table of all tokens at once gives the same rows": lambda f, q, k, v: same(
            f(q, k, v)["largest_difference"], 0
        ),
        "an output does not depend on later tokens": lambda f, q, k, v: same(
            f(q[:1], k[:1], v[:1]), f(q, k, v).result[:1]
        ),
        "the first output is the first value": lambda f, q, k, v: same(f(q, k, v).result[0], v[0]),
        "c times the values give c times the outputs": lambda f, q, k, v, c: same(
            f(q, k, c * v), c * f(q, k, v).result
        ),
    },
    pictures=("weights",),
    reference="Katharopoulos et al. 2020, Transformers are RNNs, eq. 7, 9–12 and 18–20",
)
def linear_attention(
    Q: Queries = None,
    K: Keys = None,
    V: Values = None,
    *,
    X: Tokens = None,
    W_Q: ToQueries = None,
    W_K: ToKeys = None,
    W_V: ToValues = None,
    feature: Annotated[Literal["elu", "none"], "φ of queries and keys: elu(x) + 1, or nothing"] = "elu",
    unnormalised: Annotated[bool, "leave out the division by the sum of the weights"] = False,
) -> tuple[Node, Node]:
    """Causal attention whose weights are products of features, so that one state stands for all tokens so far.

    S = S + φ(k)ᵀ·v and z = z + φ(k) for each token, whose output is φ(q)·S / (φ(q)·z). Beside it stands the parallel
    form, a table of all queries and keys, which gives the same rows: `largest_difference` says how exactly.
    """
    Q, K, V = queries_keys_values("linear-attention", (Q, K, V), X, (W_Q, W_K, W_V), keys="n")
    if len({whole.axes[-2].size for whole in (Q, K, V)}) > 1:
        facts = ", ".join(f"{symbol} is {describe(whole.axes)}" for symbol, whole in zip("QKV", (Q, K, V), strict=True))
        raise ShapeError(f"{facts}, but every token brings one query, one key and one value: n must be of one size")
    K, V = shared_heads(K, V, Q, None)
    if feature == "elu":
        why = "no feature is negative, so that weights are shares"
        Q = step("q_features", _positive(Q), why, about=ABOUT["q_features"])
        K = step("k_features", _positive(K), "the same for keys, each by itself: no query is needed for it")
    state = sums = None
    rows = []
    for t in range(Q.axes[-2].size):
        with group(f"token {t + 1}"):
            query, key, value = (part_of(whole, "n", t, t + 1) for whole in (Q, K, V))
            added = key.T @ value
            why = "the token's value is written along its key, on top of all that came before"
            state = step("state", added if state is None else state + added, why, about=ABOUT["state"])
            mixed = query @ state
            if unnormalised:
                rows.append(step("output", mixed, "what the query finds along itself, not divided by anything"))
                continue
            own = total(key, "n")
            why = "the keys so far, added up: what the weights of any query sum to"
            sums = step("sum", own if sums is None else sums + own, why, about=ABOUT["sum"])
            why = "what the query finds along itself, by the sum of its weights: a mean of the values so far"
            rows.append(step("output", mixed / total(query * sums, "d_k"), why))
    result = step("output", concat(rows, "n"), "one row for each token")
    theirs = _at_once(Q, rename(K, "n", "m"), rename(V, "n", "m"), unnormalised)
    why = "of the parallel form from the recurrence"
    return result, output("largest_difference", over_all(peak, absolute(result - theirs)), why)


def _positive(x: Node) -> Node:
    """elu(x) + 1, without the −1 + 1 in which low precision would lose e^x; its slope at 0 is 1."""
    return maximum(as_node(0), x) + exp(minimum(x, 0))


def _at_once(Q: Node, K: Node, V: Node, unnormalised: bool) -> Node:
    """The parallel form: every query with every key, those to come left out."""
    with group("parallel"):
        scores = aside("scores", Q @ K.T, "every query with every key, all at once", about=ABOUT["scores"])
        i, j = (index(name, scores.axes[-2:], symbol) for name, symbol in (("n", "i"), ("m", "j")))
        seen = aside(
            "masked",
            keep_where(j <= i, scores, 0),
            "keys to come weigh nothing; no exponential follows, so that no infinity is needed",
        )
        shares = seen if unnormalised else aside("weights", seen / total(seen), "each row is divided by its sum")
        return aside("output", shares @ V, "the values mixed by those weights: the same rows")
