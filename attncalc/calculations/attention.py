"""Attention: queries, keys and values, projected or given, and scaled dot-product attention over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from attncalc.calculations.attention_options import (
    DEFAULTS,
    Causal,
    CausalAlign,
    KvHeads,
    MaskFirst,
    MaskKind,
    Padding,
    RopeOn,
    Rotation,
    Rules,
    Scale,
    Softcap,
    Turning,
    Window,
    fully_masked,
    weights_of,
)
from attncalc.common.errors import OptionError, ShapeError, amount, both, example_of
from attncalc.declare.calculation import at_most, calculation, same, shuffled
from attncalc.declare.operands import Exercise, operand
from attncalc.language.graph import Node, note, step
from attncalc.language.ops import affine, rename, repeat

if TYPE_CHECKING:  # few calls draw
    from attncalc.declare.sweeps import Sweep
    from attncalc.record.pictures import Picture
    from attncalc.record.trace import Step, Trace

VASWANI = "Vaswani et al. 2017, Attention Is All You Need"

KEYS = {"n": "m", "s": "t"}
"""The axis of tokens → its name when they are read as keys; s is the axis of a source."""

ABOUT = {
    "q": "Tokens are rows, so the weights stand on the right: x·W + b. PyTorch's Linear stores the transpose of W.",
    "k": "Keys have the same width d_k as queries, because each key is multiplied with each query.",
    "v": "Values may have another width, d_v, which is then the width of the output. In encoder–decoder attention the "
    "keys and values come from the encoder and the queries from the decoder.",
    "mixed": "Row i of the output is a mixture of V's rows: their mean, weighted by row i of the weights. So each "
    "entry lies between the smallest and the largest entry of its column of V.",
}
"""What a teacher would add to the reason of a step."""

Queries = Annotated[Node | None, "the queries, one a row"]
Keys = Annotated[Node | None, "the keys, one a row"]
Values = Annotated[Node | None, "the values, one for each key"]
Tokens = Annotated[Node | None, "the tokens, one a row"]
ToQueries = Annotated[Node | None, "the query projection, with x"]
ToKeys = Annotated[Node | None, "the key projection, with x"]
ToValues = Annotated[Node | None, "the value projection, with x"]
Context = Annotated[Node | None, "what the keys and values are made from, if not x (encoder–decoder attention)"]
Mask = Annotated[Node | None, "which query may see which key; broadcasts from the right"]
Bias = Annotated[Node | Literal["alibi"] | None, "numbers to add to the scores, or alibi; broadcasts from the right"]
RopePositions = Annotated[Node | None, "the tokens' positions, with --rope; 0, 1, 2 … if not given"]
KeyPositions = Annotated[Node | None, "the keys' positions, where they are not the queries'"]
BiasQ = Annotated[Node | None, "the queries' bias"]
BiasK = Annotated[Node | None, "the keys' bias"]
BiasV = Annotated[Node | None, "the values' bias"]


def shared_heads(K: Node, V: Node, Q: Node, kv_heads: int | None) -> tuple[Node, Node]:
    """Keys and values repeated for the query heads that share them, where there are fewer of them."""
    head = next((axis for axis in Q.axes[:-2] if axis.name == "h"), None)
    theirs = next((axis for axis in K.axes[:-2] if axis.name in ("h", "g")), None)
    if kv_heads is not None and kv_heads != (theirs.size if theirs else 1):
        there = theirs.size if theirs else "no axis of heads"
        raise OptionError(f"--kv-heads says {kv_heads}, but the keys have {there}")
    if head is None or theirs is None or (theirs.name == "h" and theirs.size == head.size):
        return K, V
    if head.size % theirs.size:
        queries, keys = amount(head.size, "query head"), amount(theirs.size, "key head")
        raise ShapeError(f"{queries} cannot share {keys} equally: {head.size} is no multiple of it")
    times = head.size // theirs.size
    shared = []
    for part in (K, V):
        old = rename(part, "h", "g") if theirs.name == "h" else part
        shared.append(rename(old, "g", "h") if times == 1 else repeat(old, "g", "h", times))
    return shared[0], shared[1]


def projected(name: str, source: Node, W: Node, b: Node | None, why: str, about: str) -> Node:
    """One projection, with its bias where there is one; queries are Q, whether they are given or made."""
    return step(name, affine(source, W, b), why, about=about, symbol=name.upper() if len(name) == 1 else name)


def project_qkv(
    X: Node, context: Node | None, weights: Sequence[Node], biases: Sequence[Node | None], *, keys: str = ""
) -> tuple[Node, Node, Node]:
    """Queries, keys and values of the tokens; keys and values of the context, where there is one.

    `keys` names the axis of the tokens as keys: in self-attention they are the same tokens, n read as m.
    """
    keys = keys or KEYS[X.names[-2]]
    source = context if context is not None else rename(X, X.names[-2], keys) if keys not in X.names else X
    return (
        projected("q", X, weights[0], biases[0], "what each token is looking for", ABOUT["q"]),
        projected("k", source, weights[1], biases[1], "what each token offers to be found by", ABOUT["k"]),
        projected("v", source, weights[2], biases[2], "what each token passes on when it is attended to", ABOUT["v"]),
    )


@calculation(
    x="n d_model",
    wq="d_model d_k",
    wk="d_model d_k",
    wv="d_model d_v",
    bq="d_k",
    bk="d_k",
    bv="d_v",
    context="m d_model",
    laws={
        "each token is projected by itself": lambda f, x, wq, wk, wv: same(
            f(x[::-1], wq, wk, wv), f(x, wq, wk, wv).result[::-1]
        ),
        "c times the tokens give c times the queries": lambda f, x, wq, wk, wv, c: same(
            f(c * x, wq, wk, wv), c * f(x, wq, wk, wv).result
        ),
    },
    pictures=("q", "k", "v"),
    reference=f"{VASWANI}, section 3.2",
)
def qkv(
    X: Annotated[Node, "the tokens, one a row"],
    W_Q: Annotated[Node, "the query projection"],
    W_K: Annotated[Node, "the key projection"],
    W_V: Annotated[Node, "the value projection"],
    b_Q: BiasQ = None,
    b_K: BiasK = None,
    b_V: BiasV = None,
    *,
    context: Context = None,
) -> tuple[Node, Node, Node]:
    """Project tokens to queries, keys and values.

    Q = X·W_Q, K = X·W_K, V = X·W_V; with a context, K and V are made from that instead.
    """
    Q, K, V = project_qkv(X, context, (W_Q, W_K, W_V), (b_Q, b_K, b_V), keys="n")
    if (ours := Q.axes[-1].size) != (theirs := K.axes[-1].size):
        note(f"queries have d_k={ours} and keys d_k={theirs}: scores Q·Kᵀ need both of one width")
    return Q, K, V


def _compared_and_mixed(trace: Trace, sweep: Sweep) -> Iterator[Picture | Step]:
    """The weights; the keys around the first query, by their angles; what is mixed of values that have two entries."""
    from attncalc.declare.sweeps import fan, vectors_of  # a door: few calls draw
    from attncalc.record.pictures import Arrow, Plane

    yield trace.find("weights")
    queries, keys, values = (vectors_of(trace, name) for name in ("q", "k", "v"))
    if queries and keys:
        (name, query), *_ = queries
        around = fan("keys around a query", (f"q {name}", query), [(f"k {other}", key) for other, key in keys])
        yield from [around] if around else []
    mixed = vectors_of(trace, "output")
    if values and mixed and len(values[0][1]) == 2:
        names = [name for name, _ in keys] if len(keys) == len(values) else [name for name, _ in values]
        arrows = [Arrow(f"v {name}", value[0], value[1], 1) for name, (_, value) in zip(names, values, strict=True)]
        arrows += [Arrow(f"out {name}", value[0], value[1], 0) for name, value in mixed]
        said = "every output lies among the values, nearest to those of the largest weights"
        yield Plane("values, and what is mixed of them", "first entry", "second entry", tuple(arrows), said)


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
    bias=operand("n m", kind="logits", broadcasts=True),
    rope_positions="n",
    rope_key_positions="m",
    leading=("h",),
    pictures=_compared_and_mixed,
    remarks=fully_masked,
    laws={
        "every row of weights sums to 1": lambda f, q, k, v: same(f(q, k, v)["weights"].sum(-1), 1),
        "reordering the keys, together with their values, changes nothing": lambda f, q, k, v: same(
            f(q, *shuffled(k, v)), f(q, k, v)
        ),
        "reordering the queries reorders the outputs": lambda f, q, k, v: same(
            f(*shuffled(q), k, v), *shuffled(f(q, k, v).result)
        ),
        "every output lies between the smallest and the largest value": lambda f, q, k, v: (
            at_most(v.min(0), f(q, k, v)) and at_most(f(q, k, v), v.max(0))
        ),
        "adding the same vector to all keys changes nothing": lambda f, q, k, v, c: same(f(q, k + c, v), f(q, k, v)),
        "scaling the queries is the same as scaling the scores": lambda f, q, k, v: same(
            f(q / q.shape[1] ** 0.5, k, v, scale="none"), f(q, k, v)
        ),
        "causal: the first query sees only the first key": lambda f, q, k, v: same(
            f(q, k, v, causal=True).result[0], v[0]
        ),
    },
    reference=f"{VASWANI}, eq. 1",
    exercise=Exercise(at_hard={"causal": True}),
)
def attention(
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
    B: Bias = None,
    P: RopePositions = None,
    P_K: KeyPositions = None,
    causal: Causal = False,
    causal_align: CausalAlign = "start",
    mask_kind: MaskKind = None,
    padding: Padding = None,
    window: Window = None,
    scale: Scale = "default",
    softcap: Softcap = None,
    kv_heads: KvHeads = None,
    mask_before_scale: MaskFirst = False,
    rope: RopeOn = False,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
) -> tuple[Node, Node]:
    """Each query mixes the values, weighting each by how well its key fits the query.

    softmax(Q·Kᵀ/√d_k)·V, where each row of the weights sums to 1. Leading axes are heads and batches. Where there
    are fewer key heads than query heads, consecutive query heads share one. A query whose keys are all masked gets
    the weights 0 and the output 0.
    """
    Q, K, V = queries_keys_values("attention", (Q, K, V), X, (W_Q, W_K, W_V), context)
    Q, K = rotated_queries_and_keys(
        Q, K, Turning(P, rotation, on=rope, at_end=causal_align == "end", key_positions=P_K)
    )
    K, V = shared_heads(K, V, Q, kv_heads)
    rules = Rules(causal, causal_align, padding, window, scale, softcap, mask_before_scale)
    weights = weights_of(Q, K, M, B, rules)
    return step("output", weights @ V, "mix the values by those weights", about=ABOUT["mixed"]), weights


def queries_keys_values(
    name: str,
    given: tuple[Node | None, Node | None, Node | None],
    X: Node | None,
    weights: Sequence[Node | None],
    context: Node | None = None,
    *,
    keys: str = "m",
) -> tuple[Node, Node, Node]:
    """Queries, keys and values: as given, projected from tokens, or all the same matrix.

    `keys` names the axis of the keys, `name` the calculation, for its errors.
    """
    Q, K, V = given
    if X is not None:
        if Q is not None or K is not None or V is not None:
            raise OptionError(f"{name} takes q, k and v, or x with wq, wk and wv, not both")
        W_Q, W_K, W_V = weights
        if W_Q is None or W_K is None or W_V is None:
            missing = [word for word, W in zip(("wq", "wk", "wv"), weights, strict=True) if W is None]
            still = f": {both(missing)} must still be given" if len(missing) < len(weights) else ""
            raise OptionError(f"{name} from x needs wq, wk and wv{still}")
        return project_qkv(X, context, (W_Q, W_K, W_V), (None, None, None), keys=keys)
    unused = [n for n, node in zip(("wq", "wk", "wv", "context"), (*weights, context), strict=True) if node is not None]
    if unused:
        raise OptionError(f"{both(unused)} {'goes' if len(unused) == 1 else 'go'} with x, but there is no x")
    if Q is None:
        mend = example_of(name) if K is None and V is None else ""
        raise OptionError(f"{name} needs q, k and v (or x with wq, wk and wv): q must still be given", hint=mend)
    if K is None and V is None:
        note("only q was given, as one matrix: keys = queries and values = keys", of="q")
        K = Q if keys in Q.names else rename(Q, "n", keys)
        return Q, K, rename(K, "d_k", "d_v")
    if K is None or V is None:
        raise OptionError(f"{name} needs q, k and v: {'k' if K is None else 'v'} must still be given")
    return Q, K, V


def rotated_queries_and_keys(Q: Node, K: Node, turning: Turning) -> tuple[Node, Node]:
    """The queries and keys of an attention, turned where it turns them."""
    if turning.on:
        from attncalc.calculations.positions import queries_and_keys  # a door: few attentions turn them

        return queries_and_keys(Q, K, turning)
    if turning.positions is not None or turning.key_positions is not None or turning.rotation != DEFAULTS:
        raise OptionError("--rope-… says how positions turn queries and keys, and --rope is not given")
    return Q, K
