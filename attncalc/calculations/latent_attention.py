"""Latent attention: the keys and values of all heads are made from one narrow vector, which is cached instead."""

from __future__ import annotations

from typing import Annotated, Any

from attncalc.calculations.attention import Mask, RopePositions, rotated_queries_and_keys
from attncalc.calculations.attention_options import (
    DEFAULTS,
    Causal,
    MaskKind,
    Padding,
    Rotation,
    Rules,
    Scale,
    Turning,
    fully_masked,
    shared_out,
)
from attncalc.calculations.multihead import Heads
from attncalc.calculations.normalisation import Epsilon, Style, normed
from attncalc.calculations.positions import score_factor
from attncalc.common.errors import OptionError
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import ABOVE_0, Exercise, Weights, With, operand
from attncalc.language.graph import Node, aside, constant, group, note, output, step
from attncalc.language.ops import absolute, affine, merge, over_all, peak, rename, split

ABOUT = {
    "latent": "It is as wide as a few heads, and stands for the keys and values of all of them: what has to be kept of "
    "a token does not grow with the number of heads.",
    "k_rope": "Turned keys cannot be made from a latent that was stored before it is known how far away the query will "
    "be: a turn between W_UQ and W_UK would keep the two from being multiplied beforehand. So the position has "
    "columns of its own.",
    "scores": "The first product compares what the tokens mean, the second where they stand. Side by side they are one "
    "product of vectors that are d_k + d_r wide, which is what the scale counts.",
    "sharpened": "It is 0.1·m·ln(factor) + 1 for the m of --rope-mscale-all-dim, squared, since queries "
    "and keys would each be multiplied by it. The part that is turned has the attention factor besides.",
    "absorbed": "q·(c·W_UK)ᵀ is (q·W_UKᵀ)·cᵀ: the matrix goes to the query, of which there is one while text is "
    "written, and not to the keys, of which there are thousands. No key and no value is ever made.",
    "cached_bytes": "DeepSeek-V2 keeps 512 + 64 numbers of a token in each layer, where 128 heads of its size would "
    "have 40,960.",
}
"""What a teacher would add to the reason of a step."""


EPS = 1e-6
AXES: dict[str, Any] = {
    "wuq": "d_q (h d_k)",
    "wqr": "d_q (h d_r)",
    "wdkv": "d_model c",
    "wuk": "c (h d_k)",
    "wuv": "c (h d_v)",
    "wkr": "d_model d_r",
    "wo": "(h d_v) d_out",
    "wdq": "d_model d_q",
    "q_gamma": "d_q",
    "kv_gamma": "c",
}
NEEDED = tuple(AXES)[:7]


@calculation(
    x="n d_model",
    **AXES,
    mask=operand("h n m", kind="mask", broadcasts=True),
    rope_positions="n",
    sizes={"h": "heads"},
    pictures=("weights",),
    remarks=fully_masked,
    laws={
        "the absorbed form gives the same rows": lambda f, x, wdq, wuq, wqr, wdkv, wuk, wuv, wkr, wo: same(
            f(x, wuq, wqr, wdkv, wuk, wuv, wkr, wo, wdq=wdq)["largest_difference"], 0
        ),
    },
    reference="DeepSeek-AI 2024, DeepSeek-V2, section 2.1 and appendix C, eq. 37–47; as in transformers' DeepseekV3",
    exercise=Exercise(at_hard={"causal": True}),
)
def latent_attention(
    X: Annotated[Node, "the tokens, one a row"],
    W_UQ: Annotated[Node, "from the queries' latent (or the tokens) up to all heads' queries"],
    W_QR: Annotated[Node, "from the same to the parts of the queries that are turned"],
    W_DKV: Annotated[Node, "down to the latent of keys and values"],
    W_UK: Annotated[Node, "from the latent up to all heads' keys"],
    W_UV: Annotated[Node, "from the latent up to all heads' values"],
    W_KR: Annotated[Node, "to the part of a key that is turned, which all heads share"],
    W_O: Annotated[Node, "the output projection"],
    *,
    W_DQ: Annotated[Node | None, "down to the queries' latent; without it queries are made from the tokens"] = None,
    gamma_Q: Annotated[Node | None, "the gain of an RMS norm of the queries' latent"] = None,
    gamma_KV: Annotated[Node | None, "the gain of an RMS norm of the latent"] = None,
    M: Mask = None,
    P: RopePositions = None,
    heads: Heads = 1,
    causal: Causal = False,
    mask_kind: MaskKind = None,
    padding: Padding = None,
    scale: Scale = "default",
    eps: Annotated[Epsilon, With(("q_gamma", "kv_gamma"))] = EPS,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
    bytes: Annotated[
        float, "how many bytes a cached number takes: 2 in float16, 4 in float32, 0.5 in int4", ABOVE_0
    ] = 2,
) -> tuple[Node, Node, Node]:
    """Attention whose keys and values come from one narrow vector for each token, which is cached in their place.

    c = x·W_DKV, K = c·W_UK, V = c·W_UV; positions turn a part of its own, W_KR for the keys and W_QR for the queries:
    softmax((Q·Kᵀ + Q_R·K_Rᵀ)/√(d_k + d_r))·V. Beside it stands the absorbed form, which makes no keys and values, and
    what is cached.
    """
    held = (W_UQ, W_QR, W_DKV, W_UK, W_UV, W_KR, W_O, W_DQ, gamma_Q, gamma_KV)
    weights = dict(zip(AXES, held, strict=True))
    rules = Rules(causal=causal, padding=padding, scale=scale)
    made = through_latents(X, weights, M, rules, Turning(P, rotation, on=True), eps)
    Q, K_R, V, latent, shares = made.Q, made.K_R, made.V, made.latent, made.shares
    with group("absorbed"):
        lent = aside("q_absorbed", Q @ split(W_UK).T, "the query takes W_UK to itself", about=ABOUT["absorbed"])
        aside("scores", lent @ latent.T + made.where, "the latent itself is compared: the same scores")
        drawn = aside("latent_heads", shares @ latent, "the latent itself is mixed")
        theirs = aside("heads", drawn @ split(W_UV), "W_UV comes last, once for each query: the same heads")
    size, cached = constant(bytes, "bytes", "bytes"), latent.size("c") + K_R.size("d_r")
    aside(
        "cached_bytes",
        size * (latent.size("m") * cached),
        "the latent and the turned part of every token, which are all that is kept of it",
        about=ABOUT["cached_bytes"],
    )
    each = Q.size("d_k") + K_R.size("d_r") + V.size("d_v")
    why = "what the keys and values of all heads would take"
    aside("full_bytes", size * (latent.size("m") * (Q.size("h") * each)), why)
    apart = output(
        "largest_difference", over_all(peak, absolute(made.mixed - theirs)), "of the absorbed form from the other"
    )
    return made.result, shares, apart


class Through(NamedTuple):
    """What an attention through a latent makes on its way."""

    result: Node
    shares: Node
    mixed: Node  # the results of the heads
    Q: Node
    K_R: Node
    V: Node
    latent: Node
    where: Node  # the products of the rotated parts


def through_latents(
    X: Node, weights: Weights, M: Node | None, rules: Rules, turning: Turning, eps: float = EPS
) -> Through:
    """Attention by weights of these names, without the absorbed form."""
    style = Style("rms", eps)
    W_UQ, W_QR, W_DKV, W_UK, W_UV, W_KR, W_O = (_given(weights, name) for name in NEEDED)
    source = _queried(X, W_UQ, weights["wdq"], weights["q_gamma"], style)
    Q = step("q", affine(source, W_UQ, None), "what each head of a token is looking for")
    Q = step("q_heads", split(Q), "each head takes its own block of neighbouring columns")
    why = "a part of each query that position will turn; the rest of it knows no position"
    Q_R = step("q_rope", split(affine(source, W_QR, None)), why)
    tokens = rename(X, "n", "m")
    latent = step(
        "latent", tokens @ W_DKV, "one narrow vector for each token, from which all heads draw", about=ABOUT["latent"]
    )
    if weights["kv_gamma"] is not None:
        latent = normed(latent, "kv-norm", weights, style)
    K = step("k_heads", split(latent @ W_UK), "each head draws its keys out of the same latent")
    V = step("v_heads", split(latent @ W_UV), "and its values")
    K_R = step("k_rope", tokens @ W_KR, "one such part of a key for all heads", about=ABOUT["k_rope"])
    Q_R, K_R = rotated_queries_and_keys(Q_R, K_R, turning)
    where = Q_R @ K_R.T
    scores = step("scores", Q @ K.T + where, "what fits, and where it stands", about=ABOUT["scores"])
    sharpness = score_factor(turning.rotation)
    if sharpness is not None:
        why = "a longer text has more keys to share its weight among: YaRN draws the scores apart"
        scores = step("sharpened", sharpness * scores, why, about=ABOUT["sharpened"])
    shares = shared_out(scores, Q.size("d_k") + Q_R.size("d_r"), M, None, rules)
    mixed = step("heads", shares @ V, "each head mixes its values by its own weights")
    joined = step("concatenated", merge(mixed), "one row for each token again")
    result = step("output", joined @ W_O, "the output projection mixes the results of the heads")
    return Through(result, shares, mixed, Q, K_R, V, latent, where)


def _given(weights: Weights, name: str) -> Node:
    W = weights[name]
    assert W is not None, "whoever calls has seen that it is there"
    return W


def _queried(X: Node, W_UQ: Node, W_DQ: Node | None, gamma: Node | None, style: Style) -> Node:
    """What queries are made from: a latent of their own, or the tokens."""
    if W_DQ is None:
        if gamma is not None:
            raise OptionError("q_gamma goes with wdq, of whose latent it is the gain")
        if W_UQ.axes[-2].size != X.axes[-1].size:
            raise OptionError(
                f"without wdq queries are made from the tokens: wuq has {W_UQ.axes[-2].size} rows for "
                f"d_model={X.axes[-1].size}"
            )
        note("d_q is d_model here: without wdq queries are made from the tokens")
        return rename(X, "d_model", "d_q")
    latent = step("q_latent", X @ W_DQ, "queries go through a narrow vector, too: fewer weights to learn")
    return latent if gamma is None else normed(latent, "q-norm", {"q_gamma": gamma}, style)
