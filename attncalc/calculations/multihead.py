"""Attention with several heads: split, attend side by side, merge, project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Annotated, Literal

from attncalc.calculations.attention import (
    VASWANI,
    BiasK,
    BiasQ,
    BiasV,
    Context,
    KeyPositions,
    Mask,
    RopePositions,
    project_qkv,
    projected,
    rotated_queries_and_keys,
    shared_heads,
)
from attncalc.calculations.attention_options import (
    DEFAULTS,
    Causal,
    CausalAlign,
    KvHeads,
    Learned,
    MaskFirst,
    MaskKind,
    MaxDistance,
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
from attncalc.calculations.normalisation import Epsilon, Style, normed
from attncalc.common.errors import OptionError, both
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import Exercise, With, operand
from attncalc.language.graph import Node, note, step
from attncalc.language.ops import merge, split

ABOUT = {
    "heads": "Every head does the same with its own numbers; nothing passes between the heads here.",
    "output": "So far head 0's results fill the first columns, head 1's the next ones; W_O lets each output column "
    "draw on all heads. With W_O the projections have 4·d_model² parameters, however many heads there are.",
}
"""What a teacher would add to the reason of a step."""

Heads = Annotated[int, "how many heads"]
Bias = Annotated[
    Node | Literal["alibi", "t5"] | None, "numbers to add to the scores, alibi, or t5; broadcasts from the right"
]
Sinks = Annotated[Node | None, "for each head a score that takes its share of every query's weight, without a value"]
BiasTable = Annotated[
    Node | None, "t5: the learned biases, a row for each bucket of distances and a column for each head"
]
QkNorm = Annotated[bool, "normalise queries and keys before they are turned and compared"]
QkNormOver = Annotated[
    Literal["head", "all"],
    "what --qk-norm is taken over: each head by itself, or all side by side",
    With(("qk_norm",)),
]


NORMED_Q, NORMED_K = (f"d_k | qk_norm_over=all: ({heads} d_k)" for heads in "hg")
"""The shapes of the gains of norms of queries and keys."""


class Attending(NamedTuple):
    """How an attention of several heads differs from that of 2017: its options, which every block has."""

    kv_heads: KvHeads = None
    causal_align: CausalAlign = "start"
    window: Window = None
    scale: Scale = "default"
    softcap: Softcap = None
    mask_before_scale: MaskFirst = False
    max_distance: MaxDistance = 128
    qk_norm: QkNorm = False
    qk_norm_over: QkNormOver = "head"
    rope: RopeOn = False


AS_IN_2017 = Attending()


class Sight(NamedTuple):
    """Who looks at whom in one attention, and how."""

    M: Node | None = None
    padding: tuple[int, ...] | None = None
    causal: bool = False
    attending: Attending = AS_IN_2017
    B: Node | str | None = None
    P: Node | None = None
    P_K: Node | None = None
    rotation: Rotation = DEFAULTS


@calculation(
    x="n d_model",
    wq="d_model (h d_k)",
    wk="d_model (g d_k)",
    wv="d_model (g d_v)",
    wo="(h d_v) d_out",
    bq="(h d_k)",
    bk="(g d_k)",
    bv="(g d_v)",
    bo="d_out",
    context="m d_model",
    mask=operand("h n m", kind="mask", broadcasts=True),
    bias=operand("h n m", kind="logits", broadcasts=True),
    rope_positions="n",
    rope_key_positions="m",
    sinks="h",
    bias_table="buckets h",
    q_gamma=NORMED_Q,
    k_gamma=NORMED_K,
    sizes={"h": "heads", "g": "kv_heads"},
    pictures=("weights",),
    remarks=fully_masked,
    laws={
        "reordering the tokens reorders the outputs": lambda f, x, wq, wk, wv, wo: same(
            f(*shuffled(x), wq, wk, wv, wo), *shuffled(f(x, wq, wk, wv, wo).result)
        ),
        "every head's weights sum to 1 for each query": lambda f, x, wq, wk, wv, wo: same(
            f(x, wq, wk, wv, wo)["weights"].sum(-1), 1
        ),
    },
    reference=f"{VASWANI}, section 3.2.2; fewer key heads: Ainslie et al. 2023, GQA, section 2.2; "
    "torch.nn.MultiheadAttention with its weights transposed",
    exercise=Exercise(sizes={"d_model": 5, "d_out": 3}, at_hard={"causal": True}),
)
def multihead(
    X: Annotated[Node, "the tokens, one a row"],
    W_Q: Annotated[Node, "the query projection, the heads' columns side by side"],
    W_K: Annotated[Node, "the key projection; g is the number of key heads"],
    W_V: Annotated[Node, "the value projection"],
    W_O: Annotated[Node, "the output projection"],
    b_Q: BiasQ = None,
    b_K: BiasK = None,
    b_V: BiasV = None,
    b_O: Annotated[Node | None, "the output's bias"] = None,
    *,
    context: Context = None,
    M: Mask = None,
    B: Bias = None,
    P: RopePositions = None,
    P_K: KeyPositions = None,
    s: Sinks = None,
    table: BiasTable = None,
    gamma_Q: Annotated[Node | None, "the gain of the queries' norm; 1 if not given"] = None,
    gamma_K: Annotated[Node | None, "the gain of the keys' norm; 1 if not given"] = None,
    heads: Heads = 1,
    causal: Causal = False,
    mask_kind: MaskKind = None,
    padding: Padding = None,
    attending: Annotated[Attending, ""] = AS_IN_2017,
    eps: Annotated[Epsilon, With(("qk_norm",))] = 1e-5,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
) -> tuple[Node, Node]:
    """Several attention heads side by side, each on its own block of columns.

    Concat(head₁, …, head_h)·W_O, where head i attends with the i-th block of columns of Q, K and V, and scales by
    1/√d_k, with d_k its own width. With fewer key heads (grouped-query attention) consecutive query heads share one.
    --qk-norm is an RMS norm, of each head as in Qwen3, or over all of them as in OLMo 2.
    """
    weights, biases = (W_Q, W_K, W_V, W_O), (b_Q, b_K, b_V, b_O)
    note(_parameters(weights, biases))
    learned = {"sinks": s, "bias_table": table, "q_gamma": gamma_Q, "k_gamma": gamma_K}
    sight = Sight(M, padding, causal, attending, B, P, P_K, rotation)
    return several_heads(X, context, weights, biases, sight, learned, Style("rms", eps))


def several_heads(
    X: Node,
    context: Node | None,
    weights: Sequence[Node],
    biases: Sequence[Node | None],
    sight: Sight,
    learned: Mapping[str, Node | None],
    style: Style,
) -> tuple[Node, Node]:
    """Attention over several heads, with the projections and biases of q, k, v and the output; also the weights.

    `learned` holds sinks, T5's table, and the gains of norms in the given style.
    """
    how = sight.attending
    Q, K, V = project_qkv(X, context, weights[:3], biases[:3])
    gains = [name for name in ("q_gamma", "q_beta", "k_gamma", "k_beta") if learned.get(name) is not None]
    if gains and not how.qk_norm:
        raise OptionError(f"{both(gains)} {'goes' if len(gains) == 1 else 'go'} with --qk-norm")
    if how.qk_norm and how.qk_norm_over == "all":
        Q, K = normed(Q, "q-norm", learned, style), normed(K, "k-norm", learned, style)
    why = "each head takes its own block of neighbouring columns"
    Q = step("q_heads", split(Q), why)
    K, V = step("k_heads", split(K), why), step("v_heads", split(V), why)
    if how.qk_norm and how.qk_norm_over == "head":
        Q, K = normed(Q, "q-norm", learned, style), normed(K, "k-norm", learned, style)
    at_end = how.causal_align == "end"
    Q, K = rotated_queries_and_keys(Q, K, Turning(sight.P, sight.rotation, how.rope, at_end, sight.P_K))
    K, V = shared_heads(K, V, Q, how.kv_heads)
    rules = Rules(
        sight.causal,
        how.causal_align,
        sight.padding,
        how.window,
        how.scale,
        how.softcap,
        how.mask_before_scale,
        how.max_distance,
    )
    shares = weights_of(Q, K, sight.M, sight.B, rules, Learned(learned.get("sinks"), learned.get("bias_table")))
    mixed = step("heads", shares @ V, "each head mixes its values by its own weights", about=ABOUT["heads"])
    joined = step(
        "concatenated", merge(mixed), "one row for each token again, in which the results of head 0 come first"
    )
    why = "the output projection mixes the results of the heads"
    return projected("output", joined, weights[3], biases[3], why, ABOUT["output"]), shares


def _parameters(weights: Sequence[Node], biases: Sequence[Node | None]) -> str:
    """How many numbers are learned, and that it is 4·d² where all projections are square."""
    sizes = [prod(W.shape) for W in weights]
    d = weights[0].axes[0].size
    square = all(size == d * d for size in sizes)
    rule = f"4·d_model² = 4·{d}² = {sum(sizes)}" if square else f"{' + '.join(map(str, sizes))} = {sum(sizes)}"
    bias = sum(b.axes[-1].size for b in biases if b is not None)
    return f"parameters: {rule}" + (f", and {bias} in the biases" if bias else "")
