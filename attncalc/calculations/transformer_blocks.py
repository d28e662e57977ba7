"""Transformer blocks: attention and feed-forward network, each with its residual connection and its norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from attncalc.calculations.attention import VASWANI, KeyPositions, Mask, RopePositions
from attncalc.calculations.attention_options import DEFAULTS, Causal, MaskKind, Padding, Rotation, fully_masked
from attncalc.calculations.layers import FfnActivation, ffn
from attncalc.calculations.multihead import AS_IN_2017, NORMED_K, NORMED_Q, Attending, Bias, Heads, Sight, several_heads
from attncalc.calculations.normalisation import Epsilon, NormOffset, Style, normed
from attncalc.common.errors import OptionError
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import Declared, Exercise, Weights, With, operand, weight
from attncalc.language.graph import Node, group, step

Norm = Annotated[
    Literal["post", "pre", "both", "sandwich", "after", "layer", "rms"],
    "which norm (layer, rms), or where it goes: after each sum (post), before each part (pre), …",
]
NormAt = Annotated[
    Literal["post", "pre", "both", "sandwich", "after"] | None,
    "where the norm goes: after each sum (post), before each part (pre), before the part and after the sum (both), "
    "before and after the part (sandwich), or after the part alone",
]


GAINS = With(("gamma1", "gamma2", "gamma3", "post_gamma1", "post_gamma2", "post_gamma3", "q_gamma", "k_gamma"))
"""The learned gains of norms in any kind of block."""


class Joining(NamedTuple):
    """How the parts of a layer are joined: options that every block has."""

    norm_at: NormAt = None
    norm_offset: Annotated[NormOffset, GAINS] = 0
    parallel: Annotated[bool, "attention and feed-forward network side by side, both from the layer's input"] = False
    residual_scale: Annotated[float, "what each part's output is multiplied by before it is added"] = 1


JOINED = Joining()
MemoryPadding = Annotated[tuple[int, ...] | None, "how many of the memory's rows are valid, like --padding"]


def _attention_weights(prefix: str = "", mark: str = "", what: str = "") -> dict[str, Declared]:
    """The projections of an attention and their biases; a second attention's carry a prefix and a mark."""
    axes = {
        "q": ("d_model", "(h d_k)"),
        "k": ("d_model", "(g d_k)"),
        "v": ("d_model", "(g d_v)"),
        "o": ("(h d_v)", "d_model"),
    }
    named = {"q": "queries", "k": "keys", "v": "values", "o": "output"}
    found = {}
    for letter, (into, out) in axes.items():
        heads = "the g key heads'" if letter in "kv" else "the heads'"
        text = f"the projection to the {what}{named[letter]}, {heads} columns side by side"
        found[f"{prefix}w{letter}"] = weight(f"{into} {out}", f"W_{letter.upper()}{mark}", text, required=True)
        found[f"{prefix}b{letter}"] = weight(out, f"b_{letter.upper()}{mark}", "its bias")
    return found


def _norm_weights(*numbers: int) -> dict[str, Declared]:
    found = {}
    for before, mark, what in (("", "", "norm"), ("post_", "'", "the norm after part")):
        for i in numbers:
            found[f"{before}gamma{i}"] = weight("d_model", f"gamma_{i}{mark}", f"{what} {i}'s gain; 1 if not given")
            found[f"{before}beta{i}"] = weight("d_model", f"beta_{i}{mark}", f"{what} {i}'s shift; 0 if not given")
    return found


LEARNED = {
    f"{letter}_{name}": weight(axes, f"{name}_{letter.upper()}", f"the {what} of the {whose}' norm, with --qk-norm")
    for letter, whose, axes in (("q", "queries", NORMED_Q), ("k", "keys", NORMED_K))
    for name, what in (("gamma", "gain"), ("beta", "shift"))
} | {
    "sinks": weight("h", "s", "for each head a score that takes its share of every query's weight, without a value"),
    "bias_table": weight("buckets h", "table", "with --bias t5: a row for each bucket of distances, a column a head"),
}
"""What a layer's self-attention may learn besides its projections."""


FEED_FORWARD = {
    "w1": weight("d_model d_ff", "W_1", "the feed-forward network's first weights (up)", required=True),
    "b1": weight("d_ff", "b_1", "its bias"),
    "w2": weight("d_ff d_model", "W_2", "the second layer's weights (back down)", required=True),
    "b2": weight("d_model", "b_2", "its bias"),
    "w3": weight("d_model d_ff", "W_3", "the weights of the part that the activation gates (swiglu, geglu …)"),
    "b3": weight("d_ff", "b_3", "its bias"),
}
ENCODER = _attention_weights() | FEED_FORWARD | _norm_weights(1, 2) | LEARNED
CROSS = _attention_weights("cross_", "'", "second attention's ")
DECODER = _attention_weights() | CROSS | FEED_FORWARD | _norm_weights(1, 2, 3) | LEARNED
"""Name → weight of a layer."""

Part = Callable[[Node], Node]


class Design(NamedTuple):
    """What the blocks of a model have in common."""

    style: Style
    at: str
    activation: str
    joining: Joining
    bare: tuple[int, ...] = ()  # the parts without a norm in front


SELF, CROSS_ATTENTION = "self-attention", "cross-attention"


def designed(
    norm: str, activation: str, eps: float, joining: Joining, *, kind: str = "layer", at: str = "post"
) -> Design:
    """A design from the options of a block, whose norm is usually of that kind and stands there."""
    if norm in ("layer", "rms"):
        kind = norm
    elif norm != at and joining.norm_at not in (None, norm):
        raise OptionError(f"--norm {norm} and --norm-at {joining.norm_at} say two places: --norm is then layer or rms")
    else:
        at = norm
    at = joining.norm_at or at
    if joining.parallel and at not in ("pre", "sandwich"):
        raise OptionError(f"--parallel parts have their norms inside (--norm-at pre or sandwich), and here it is {at}")
    return Design(Style("rms" if kind == "rms" else "layer", eps, joining.norm_offset), at, activation, joining)


def encoder_layer(
    X: Node,
    weights: Weights,
    design: Design,
    sight: Sight,
    name: str = SELF,
    processed: Part | None = None,
    attended: Part | None = None,
) -> Node:
    """Self-attention, in a group of that name, then the feed-forward network, or what takes the place of either."""
    own = attended or _attention(name, None, weights, "", design, sight)
    return joined(X, [own, processed or feed_forward(weights, design)], weights, design)


def decoder_layer(
    X: Node,
    memory: Node,
    weights: Weights,
    design: Design,
    own: Sight,
    seen: tuple[Node | None, tuple[int, ...] | None] = (None, None),
    name: str = SELF,
) -> Node:
    """Self-attention, attention to what the encoder found, then the feed-forward network.

    `seen` are the mask and the padding of what the encoder found, whose scores are scaled as the layer's own are.
    """
    cross = Sight(*seen, attending=AS_IN_2017._replace(scale=own.attending.scale))
    informed = _attention(CROSS_ATTENTION, memory, weights, "cross_", design, cross)
    first = _attention(name, None, weights, "", design, own)
    return joined(X, [first, informed, feed_forward(weights, design)], weights, design)


def joined(X: Node, parts: list[Part], weights: Weights, design: Design) -> Node:
    """The parts one after the other, or side by side; then they share a norm, but for those that have their own."""
    if not design.joining.parallel:
        for i, part in enumerate(parts, start=1):
            X = _wrapped(X, i, weights, design, part)
        return X
    result, shared = X, normed(X, "norm1", weights, design.style)
    for i, part in enumerate(parts, start=1):
        own = i > 1 and any(weights.get(f"{name}{i}") is not None for name in ("gamma", "beta"))
        within = normed(X, f"norm{i}", weights, design.style) if own else shared
        result = _added(result, part(within), i, weights, design)
    return result


def _wrapped(x: Node, number: int, weights: Weights, design: Design, part: Part) -> Node:
    """A part with its residual connection and its norms, wherever they stand."""
    bare = design.at in ("post", "after") or number in design.bare
    within = x if bare else normed(x, f"norm{number}", weights, design.style)
    total = _added(x, part(within), number, weights, design)
    if design.at == "post":
        return normed(total, f"norm{number}", weights, design.style)
    return normed(total, f"post-norm{number}", weights, design.style) if design.at == "both" else total


def _added(x: Node, found: Node, number: int, weights: Weights, design: Design) -> Node:
    """The sum of what goes past a part and what the part found."""
    if design.at in ("sandwich", "after"):
        name = "post-norm" if design.at == "sandwich" else "norm"
        found = normed(found, f"{name}{number}", weights, design.style)
    scale = design.joining.residual_scale
    why = "the input is kept, and the gradient has a path around this part"
    return step(f"residual{number}", x + (found if scale == 1 else scale * found), why)


def _attention(name: str, context: Node | None, weights: Weights, prefix: str, design: Design, sight: Sight) -> Part:
    """Attention over several heads; queries are the tokens', keys and values theirs or the context's."""

    def part(x: Node) -> Node:
        with group(name):
            found, _ = several_heads(
                x,
                context,
                [W for letter in "qkvo" if (W := weights[f"{prefix}w{letter}"]) is not None],
                [weights[f"{prefix}b{letter}"] for letter in "qkvo"],
                sight,
                {} if prefix else {learned: weights.get(learned) for learned in LEARNED},
                design.style,
            )
        return found

    return part


def feed_forward(weights: Weights, design: Design) -> Part:
    """The feed-forward network of a layer."""

    def part(x: Node) -> Node:
        with group("feed-forward"):
            found: Node = ffn.graph(
                x,
                weights["w1"],
                weights.get("b1"),
                weights["w2"],
                weights.get("b2"),
                W_3=weights.get("w3"),
                b_3=weights.get("b3"),
                activation=design.activation,
            )
        return found

    return part


LOOKING: dict[str, Any] = {
    "mask": operand("h n m", kind="mask", broadcasts=True),
    "bias": operand("h n m", kind="logits", broadcasts=True),
    "rope_positions": "n",
    "rope_key_positions": "m",
}
"""The operands for a layer's self-attention on masks and positions."""
SIZES = {"h": "heads", "g": "kv_heads"}


@calculation(
    x="n d_model",
    weights=ENCODER,
    **LOOKING,
    sizes=SIZES,
    remarks=fully_masked,
    laws={
        "reordering the tokens reorders the outputs": lambda f, x, weights: same(
            f(*shuffled(x), weights=weights), *shuffled(f(x, weights=weights).result)
        )
    },
    pictures=("weights",),
    reference=f"{VASWANI}, section 3.1; pre-norm: Xiong et al. 2020, figure 1; as torch.nn.TransformerEncoderLayer",
    exercise=Exercise(sizes={"d_model": 5}, one_of=({"eps": 0.1},), at_hard={"causal": True}),
)
def encoder_block(
    X: Annotated[Node, "the tokens, one a row"],
    *,
    weights: Weights,
    M: Mask = None,
    B: Bias = None,
    P: RopePositions = None,
    P_K: KeyPositions = None,
    heads: Heads = 1,
    norm: Norm = "post",
    activation: FfnActivation = "relu",
    eps: Epsilon = 1e-5,
    causal: Causal = False,
    mask_kind: MaskKind = None,
    padding: Padding = None,
    attending: Annotated[Attending, ""] = AS_IN_2017,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
    joining: Annotated[Joining, ""] = JOINED,
) -> Node:
    """One layer of an encoder: each token attends to all, then is processed by itself.

    post: y = norm(x + attention(x)), z = norm(y + ffn(y)), as in the paper; pre: y = x + attention(norm(x)),
    z = y + ffn(norm(y)), as in most models since. Biases that are not given are 0, gains 1. Tokens are rows, so the
    weights stand on the right, x·W: PyTorch's Linear stores their transposes. What later models changed are options.
    """
    design = designed(norm, activation, eps, joining)
    block = encoder_layer(X, weights, design, Sight(M, padding, causal, attending, B, P, P_K, rotation))
    return step("output", block, "as wide as the input, so that blocks can be stacked")


@calculation(
    x="n d_model",
    memory="s d_model",
    weights=DECODER,
    **LOOKING,
    memory_mask=operand("n s", kind="mask", broadcasts=True),
    sizes=SIZES,
    remarks=fully_masked,
    laws={
        "the order of the memory's rows does not matter": lambda f, x, memory, weights: same(
            f(x, *shuffled(memory), weights=weights), f(x, memory, weights=weights)
        ),
        "a token does not depend on those after it": lambda f, x, memory, weights: same(
            f(x[:1], memory, weights=weights), f(x, memory, weights=weights).result[:1]
        ),
    },
    pictures=("weights",),
    reference=f"{VASWANI}, section 3.1; as torch.nn.TransformerDecoderLayer",
    exercise=Exercise(sizes={"n": 3, "d_model": 5}, one_of=({"eps": 0.1},)),
)
def decoder_block(
    X: Annotated[Node, "the tokens so far, one a row"],
    memory: Annotated[Node, "the encoder's output, one row for each token of the source"],
    *,
    weights: Weights,
    M: Mask = None,
    B: Bias = None,
    P: RopePositions = None,
    P_K: KeyPositions = None,
    M_S: Annotated[Node | None, "which token may see which row of the memory"] = None,
    heads: Heads = 1,
    norm: Norm = "post",
    activation: FfnActivation = "relu",
    eps: Epsilon = 1e-5,
    no_causal: Annotated[bool, "let tokens see the ones after them, too"] = False,
    mask_kind: MaskKind = None,
    padding: Padding = None,
    memory_mask_kind: Annotated[MaskKind, With(("memory_mask",))] = None,
    memory_padding: MemoryPadding = None,
    attending: Annotated[Attending, ""] = AS_IN_2017,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
    joining: Annotated[Joining, ""] = JOINED,
) -> Node:
    """One layer of a decoder: attend to the tokens so far, then to the encoder's output, then process each token.

    Causal self-attention, attention with the decoder's queries and the encoder's keys and values, feed-forward network;
    each with its residual connection and its norm, as in encoder-block. What later models changed are options; those of
    attention are the self-attention's, but for --scale, which is for both.
    """
    design = designed(norm, activation, eps, joining)
    own = Sight(M, padding, not no_causal, attending, B, P, P_K, rotation)
    block = decoder_layer(X, memory, weights, design, own, (M_S, memory_padding))
    return step("output", block, "as wide as the input, so that blocks can be stacked")


@calculation(
    x="n d_model",
    weights=ENCODER,
    **LOOKING,
    sizes=SIZES,
    remarks=fully_masked,
    laws={
        "a token does not depend on those after it": lambda f, x, weights: same(
            f(x[:1], weights=weights, activation="relu"), f(x, weights=weights, activation="relu").result[:1]
        ),
    },
    pictures=("weights",),
    reference="Radford et al. 2019, GPT-2, section 2.3; Touvron et al. 2023, LLaMA, section 2.2; fewer key heads: "
    "Ainslie et al. 2023, GQA, section 2.2; windows: Jiang et al. 2023, Mistral 7B, section 2; softcap and sandwich: "
    "Gemma Team 2024, Gemma 2, section 2; sinks: Xiao et al. 2024, Efficient Streaming Language Models with Attention "
    "Sinks, eq. 2, whose sink has the score 0; as in transformers",
    exercise=Exercise(
        sizes={"n": 3, "d_model": 5}, one_of=({"eps": 0.1, "rope": False, "rope_layout": "interleaved"},)
    ),
)
def decoder_only(
    X: Annotated[Node, "the tokens so far, one a row"],
    *,
    weights: Weights,
    M: Mask = None,
    B: Bias = None,
    P: RopePositions = None,
    P_K: KeyPositions = None,
    heads: Heads = 1,
    norm: Norm = "rms",
    activation: FfnActivation = "swiglu",
    eps: Epsilon = 1e-5,
    no_causal: Annotated[bool, "let tokens see the ones after them, too"] = False,
    mask_kind: MaskKind = None,
    padding: Padding = None,
    attending: Annotated[Attending, ""] = AS_IN_2017,
    rotation: Annotated[Rotation, "rope_"] = DEFAULTS,
    joining: Annotated[Joining, ""] = JOINED,
) -> Node:
    """One layer of a language model of today: attend to the tokens so far, then process each token.

    y = x + attention(norm(x)), z = y + ffn(norm(y)), with an RMS norm and a gated network (w3) unless told otherwise:
    that is Llama's layer, with --rope --rope-layout half. GPT-2's is --norm layer --activation gelu-tanh; Gemma's has
    --norm-offset 1 and geglu-tanh, Gemma 2's --norm-at sandwich and --softcap besides; Falcon's and GPT-NeoX's is
    --parallel; Qwen 3's has --qk-norm, gpt-oss's sinks; OLMo 2's --norm-at after,
    and --qk-norm over all heads.
    """
    design = designed(norm, activation, eps, joining, kind="rms", at="pre")
    block = encoder_layer(X, weights, design, Sight(M, padding, not no_causal, attending, B, P, P_K, rotation))
    return step("output", block, "as wide as the input, so that blocks can be stacked")
