"""Recurrences in place of attention: a state of fixed size to which every token adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculations.activations import ACTIVATIONS, activated
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
from attncalc.calculations.sequence import conv
from attncalc.common.errors import DomainError, ShapeError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import Weights
from attncalc.language.axes import describe
from attncalc.language.graph import Node, as_node, aside, group, output, step
from attncalc.language.ops import (
    absolute,
    affine,
    concat,
    exp,
    index,
    keep_where,
    maximum,
    minimum,
    outer,
    over_all,
    part_of,
    peak,
    rename,
    softplus,
    spread,
    stack,
    take,
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
    "decay": "Between two tokens the state follows h′ = A·h, whose solution after a time δ is e^(δ·A)·h (δ is Δ in the "
    "paper). A is below 0, so that this is a share: near 1 for a small δ, which passes the token over, and near 0 for "
    "a large one, which starts anew. A is diagonal: each entry of the state fades at a rate of its own.",
    "added": "The paper holds x for a time δ, which adds (e^(δ·A) − 1)/A·B·x (ZOH). Its code adds δ·B·x, the same but "
    "for what is of second order in δ; so does whoever runs its checkpoints.",
    "scan": "Two tokens in a row are one: a·(c·h + d) + b is (a·c)·h + (a·d + b). So neighbours may be joined first, "
    "then pairs of them. Every round doubles how far a token has looked back: n tokens take log₂ n rounds, not n.",
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
    _must_be_as_many({"Q": Q, "K": K, "V": V}, "one query, one key and one value")
    K, V = shared_heads(K, V, Q, None)
    Q = spread(Q, (*(axis for axis in K.axes[:-2] if axis not in Q.axes), *Q.axes))
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
            why = "the keys so far, added up: a query times them is what its weights sum to"
            sums = step("sum", own if sums is None else sums + own, why, about=ABOUT["sum"])
            why = "what the query finds along itself, by the sum of its weights: a mean of the values so far"
            rows.append(step("output", mixed / total(query * sums, "d_k"), why))
    result = step("output", concat(rows, "n"), "one row for each token")
    theirs = _at_once(Q, rename(K, "n", "m"), rename(V, "n", "m"), unnormalised)
    why = "of the parallel form from the recurrence"
    return result, output("largest_difference", over_all(peak, absolute(result - theirs)), why)


def _must_be_as_many(rows: Mapping[str, Node], brought: str) -> None:
    if len({whole.axes[-2].size for whole in rows.values()}) > 1:
        facts = ", ".join(f"{symbol} is {describe(whole.axes)}" for symbol, whole in rows.items())
        raise ShapeError(f"{facts}, but every token brings {brought}: n must be of one size")


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


def _no_rate_is_0(given: Mapping[str, Any]) -> None:
    """ZOH divides by A, whose entries are below 0 whenever they come from their logarithms."""
    if given["discretization"] == "zoh" and not given["a_log"] and (given["a"] == 0).any():
        raise DomainError("a has an entry 0, by which ZOH divides", hint="--discretization euler does without")


def _a_gate(f: Any, x: Array, delta: Array) -> bool:
    """Theorem 1 of the paper, for the first two tokens of one channel: with one state, A = −1 and B = C = 1."""
    (x_1, x_2), gates = x[:2, :1], 1 / (1 + np.exp(-delta[:2, :1]))
    ones = np.ones((2, 1))
    found = f(x[:2, :1], delta[:2, :1], -ones[:1], ones, ones, delta_softplus=True, discretization="zoh")
    first = gates[0] * x_1
    return same(found, np.array([first, (1 - gates[1]) * first + gates[1] * x_2]))


@calculation(
    x="n d",
    delta="n d",
    a="d s",
    b="n s",
    c="n s",
    skip="d",
    check=_no_rate_is_0,
    laws={
        "the scan in parallel gives the same rows": lambda f, x, delta, a, b, c: same(
            f(x, delta, a, b, c)["largest_difference"], 0
        ),
        "an output does not depend on later tokens": lambda f, x, delta, a, b, c: same(
            f(x[:1], delta[:1], a, b[:1], c[:1]), f(x, delta, a, b, c).result[:1]
        ),
        "c times the tokens give c times the outputs": lambda f, x, delta, a, b, c: same(
            f(3 * x, delta, a, b, c), 3 * f(x, delta, a, b, c).result
        ),
        "where nothing fades, it is linear attention without its division": lambda f, x, delta, a, b, c: same(
            f(x, delta, 0 * a, b, c), np.tril(c @ b.T) @ (delta * x)
        ),
        "with A = −1 and B = C = 1 it is a gate, (1 − σ(δ))·h + σ(δ)·x": _a_gate,
    },
    reference="Gu and Dao 2023, Mamba, eq. 2 and 4, algorithm 2 and theorem 1; the scan: Blelloch 1990, Prefix Sums "
    "and Their Applications",
)
def ssm(
    X: Annotated[Node, "what comes in, a row for each token and a column for each channel"],
    delta: Annotated[Node, "how long each token lasts for each channel"],
    A: Annotated[Node, "how fast each entry of a channel's state fades, below 0"],
    B: Annotated[Node, "what each token writes to, an entry of the state each"],
    C: Annotated[Node, "what each token reads from"],
    *,
    D: Annotated[Node | None, "what each channel hands on of its input beside the state"] = None,
    a_log: Annotated[bool, "a is stored as its logarithm: A = −e^a"] = False,
    delta_softplus: Annotated[bool, "delta comes as a layer left it: softplus makes it positive"] = False,
    discretization: Annotated[Literal["euler", "zoh"], "what is added: δ·B·x, or (e^(δ·A) − 1)/A·B·x"] = "euler",
) -> tuple[Node, Node]:
    """A selective state space model, Mamba's scan: each token says how much of the state fades and what is written.

    h = e^(δ·A) ⊙ h + δ·B·x for each token and channel, whose output is C·h + D·x. δ, B and C come from the token
    itself, which is what is selective. Beside it stands the scan in parallel, in log₂ n rounds, which gives the same
    rows: `largest_difference` says how exactly.
    """
    _must_be_as_many({"X": X, "δ": delta, "B": B, "C": C}, "one row of each")
    held = Scanned(X, delta, A, B, C, D)
    result, decay, added = selective_scan(
        held, a_log=a_log, delta_softplus=delta_softplus, discretization=discretization
    )
    theirs = _scanned(decay, added) @ C
    with group("scan"):
        theirs = aside("output", theirs if D is None else theirs + D * X, "read all at once: the same rows")
    why = "of the scan in parallel from the recurrence"
    return result, output("largest_difference", over_all(peak, absolute(result - theirs)), why)


class Scanned(NamedTuple):
    """What a selective scan goes over, and what it keeps."""

    X: Node
    delta: Node
    A: Node
    B: Node
    C: Node
    D: Node | None


def selective_scan(held: Scanned, *, a_log: bool, delta_softplus: bool, discretization: str) -> tuple[Node, Node, Node]:
    """One token after the other: the rows that are read, and what fades and what is added between two states."""
    X, delta, A, B, C, D = held
    if a_log:
        A = step("rates", -exp(A), "negative whatever is learned, so that the state fades and never grows")
    if delta_softplus:
        delta = step("durations", softplus(delta), "positive whatever the layer says: no token takes its time back")
    whole = (*(delta * X).axes, A.axes[-1])
    why = "the share of the state that is left when the token is over"
    decay = step("decay", exp(spread(outer(delta, A), whole)), why, about=ABOUT["decay"])
    if discretization == "zoh":
        why = "the token, held for its time: what it adds early has already faded in part"
        added = step("added", (decay - 1) / A * outer(X, B), why, about=ABOUT["added"])
    else:
        why = "the token, the more of it the longer it lasts, spread over the entries of the state"
        added = step("added", outer(delta * X, B), why, about=ABOUT["added"])
    states: list[Node] = []
    rows = []
    for t in range(X.axes[-2].size):
        with group(f"token {t + 1}"):
            new = take(added, "n", t)
            state = new if not states else take(decay, "n", t) * states[-1] + new
            states.append(step("state", state, "each channel has a row of its own, which remembers all tokens so far"))
            rows.append(step("read", states[-1] @ take(C, "n", t), "what the token asks for of each channel's row"))
    read = stack(rows, "n")
    result = step("output", read if D is None else read + D * X, "one row for each token" if D is None else PAST)
    return result, decay, added


PAST = "each channel's input goes past the state, too"


def _scanned(decay: Node, added: Node) -> Node:
    """The states of all tokens in rounds, in each of which a token takes in what stands twice as far before it."""
    n, reach, turn = decay.axes[-3].size, 1, 1
    while reach < n:
        with group(f"scan/round {turn}"):
            behind, ahead = part_of(decay, "n", 0, n - reach), part_of(decay, "n", reach, n)
            joined = ahead * part_of(added, "n", 0, n - reach) + part_of(added, "n", reach, n)
            why = "each token takes in what stands before it, faded by its own share"
            state = aside("state", concat([part_of(added, "n", 0, reach), joined], "n"), why, about=ABOUT["scan"])
            if 2 * reach < n:
                why = "the share that is left once all that were joined are over"
                decay = aside("decay", concat([part_of(decay, "n", 0, reach), ahead * behind], "n"), why)
        added, reach, turn = state, 2 * reach, turn + 1
    return added


def selective_layer(X: Node, weights: Weights) -> Node:
    """Mamba's layer: a short convolution, the scan by what each token says of itself, and a gate.

    The convolution is cut where its windows would reach tokens to come.
    """
    W = {name: found for name, found in weights.items() if found is not None}
    n, size = X.axes[-2], W["kernel"].axes[-1].size
    inner = step("inner", affine(X, W["wx"], W.get("bx")), "the channels to be remembered, more than a token has")
    gate = step("gate", affine(X, W["wz"], W.get("bz")), "as many beside them, which say how much gets through")
    with group("conv"):
        row = rename(rename(inner.T, "n", "l"), "d", "c")
        seen = conv.graph(row, rename(W["kernel"], "d", "c"), padding=(size - 1,), depthwise=True)
    causal = rename(rename(part_of(seen, "l_out", 0, n.size), "l_out", "n"), "c", "d").T
    beside = causal + W["kernel_bias"] if "kernel_bias" in W else causal
    convolved = step("convolved", beside, "each channel over the token and the few before it, none of those to come")
    x = step("x", activated(convolved, "silu"), ACTIVATIONS["silu"].why)
    narrow = step("narrow", x @ W["wr"], "how long the token lasts, told in few numbers for all channels")
    delta = step("delta", affine(narrow, W["wdt"], W.get("bdt")), "and for every channel: a short token is passed over")
    B = step("b", x @ W["wb"], "which entries of the state the token writes to, the same for all channels")
    C = step("c", x @ W["wc"], "which entries of the state the token asks for")
    with group("scan"):
        held = Scanned(x, delta, W["a"], B, C, W.get("skip"))
        found = selective_scan(held, a_log=True, delta_softplus=True, discretization="euler")[0]
    opened = step("gate_activated", activated(gate, "silu"), "near 0 nothing gets through, far above it all")
    gated = step("gated", found * opened, "what the token remembers, as far as it lets it through")
    return step("output", affine(gated, W["wo"], W.get("bo")), "the channels mixed again, to the width of a token")
