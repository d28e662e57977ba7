"""Attention with several heads: split, attend side by side, merge, project."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated

from attncalc.calculations.attention import (
    VASWANI,
    Bias,
    BiasK,
    BiasQ,
    BiasV,
    Context,
    KvHeads,
    Mask,
    Rope,
    RopePositions,
    project_qkv,
    projected,
    rotated_queries_and_keys,
    shared_heads,
)
from attncalc.calculations.attention_options import (
    DEFAULTS,
    UNTURNED,
    Causal,
    CausalAlign,
    MaskFirst,
    MaskKind,
    Padding,
    Rotation,
    Rules,
    Scale,
    Softcap,
    Turning,
    Window,
    fully_masked,
    weights_of,
)
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import Exercise, operand
from attncalc.language.graph import Node, note, step
from attncalc.language.ops import merge, split

ABOUT = {
    "heads": "Every head does the same with its own numbers; nothing passes between the heads here.",
    "output": "So far head 0's results fill the first columns, head 1's the next ones; W_O lets each output column "
    "draw on all heads. With W_O the projections have 4·d² parameters, however many heads there are.",
}
"""What a teacher would add to the reason of a step."""

Heads = Annotated[int, "how many heads"]


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
    reference=f"{VASWANI}, section 3.2.2; torch.nn.MultiheadAttention with its weights transposed",
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
    heads: Heads = 1,
    kv_heads: KvHeads = None,
    causal: Causal = False,
    causal_align: CausalAlign = "start",
    mask_kind: MaskKind = None,
    padding: Padding = None,
    window: Window = None,
    scale: Scale = "default",
    softcap: Softcap = None,
    mask_before_scale: MaskFirst = False,
    rope: Rope = False,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
) -> tuple[Node, Node]:
    """Several attention heads side by side, each on its own block of columns.

    Concat(head₁, …, head_h)·W_O, where head i attends with the i-th block of columns of Q, K and V, and scales by
    1/√d_k, with d_k its own width. With fewer key heads (grouped-query attention) consecutive query heads share one.
    """
    rules = Rules(causal, causal_align, padding, window, scale, softcap, mask_before_scale)
    turning = Turning(P, rotation, on=rope, at_end=causal_align == "end")
    weights, biases = (W_Q, W_K, W_V, W_O), (b_Q, b_K, b_V, b_O)
    note(_parameters(weights, biases))
    return several_heads(X, context, weights, biases, rules, M=M, B=B, kv_heads=kv_heads, turning=turning)


def several_heads(
    X: Node,
    context: Node | None,
    weights: Sequence[Node],
    biases: Sequence[Node | None],
    rules: Rules,
    *,
    M: Node | None = None,
    B: Node | str | None = None,
    kv_heads: int | None = None,
    turning: Turning = UNTURNED,
) -> tuple[Node, Node]:
    """Attention over several heads, with the projections and biases of q, k, v and the output; also the weights."""
    Q, K, V = project_qkv(X, context, weights[:3], biases[:3])
    why = "each head takes its own block of neighbouring columns"
    Q = step("q_heads", split(Q), why)
    K, V = step("k_heads", split(K), why), step("v_heads", split(V), why)
    Q, K = rotated_queries_and_keys(Q, K, turning)
    K, V = shared_heads(K, V, Q, kv_heads)
    shares = weights_of(Q, K, M, B, rules)
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
    rule = f"4·d² = 4·{d}² = {sum(sizes)}" if square else f"{' + '.join(map(str, sizes))} = {sum(sizes)}"
    bias = sum(b.axes[-1].size for b in biases if b is not None)
    return f"parameters: {rule}" + (f", and {bias} in the biases" if bias else "")
