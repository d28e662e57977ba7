"""Transformer blocks: attention and feed-forward network, each with its residual connection and its norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from attncalc.calculations.attention import VASWANI, Mask
from attncalc.calculations.attention_options import Causal, MaskKind, Padding, Rules, fully_masked
from attncalc.calculations.layers import FfnActivation, ffn
from attncalc.calculations.multihead import Heads, several_heads
from attncalc.calculations.normalisation import Epsilon, layernorm
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import Declared, Exercise, Weights, operand, weight
from attncalc.language.graph import Node, group, step

Norm = Annotated[Literal["post", "pre"], "where the layer norm goes: after each sum (post) or before each part (pre)"]
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
    for i in numbers:
        found[f"gamma{i}"] = weight("d_model", f"gamma_{i}", f"norm {i}'s gain; 1 if not given")
        found[f"beta{i}"] = weight("d_model", f"beta_{i}", f"norm {i}'s shift; 0 if not given")
    return found


FEED_FORWARD = {
    "w1": weight("d_model d_ff", "W_1", "the feed-forward network's first weights (up)", required=True),
    "b1": weight("d_ff", "b_1", "its bias"),
    "w2": weight("d_ff d_model", "W_2", "the second layer's weights (back down)", required=True),
    "b2": weight("d_model", "b_2", "its bias"),
    "w3": weight("d_model d_ff", "W_3", "the weights of the part that the activation gates (swiglu, geglu)"),
    "b3": weight("d_ff", "b_3", "its bias"),
}
ENCODER = _attention_weights() | FEED_FORWARD | _norm_weights(1, 2)
CROSS = _attention_weights("cross_", "'", "second attention's ")
DECODER = _attention_weights() | CROSS | FEED_FORWARD | _norm_weights(1, 2, 3)
"""The weights of a layer by their names."""

Part = Callable[[Node], Node]


class Design(NamedTuple):
    """What the blocks of a model have in common."""

    norm: str = "post"
    activation: str = "relu"
    eps: float = 1e-5


class Sight(NamedTuple):
    """Who may look at whom in one attention."""

    M: Node | None = None
    padding: tuple[int, ...] | None = None
    causal: bool = False


def encoder_layer(X: Node, weights: Weights, design: Design, sight: Sight) -> Node:
    """Self-attention, then the feed-forward network."""
    attended = _wrapped(
        X, 1, weights, design, lambda x: _attention("self-attention", x, None, weights, "", design, sight)
    )
    return _wrapped(attended, 2, weights, design, lambda x: _feed_forward(x, weights, design))


def decoder_layer(X: Node, memory: Node, weights: Weights, design: Design, own: Sight, cross: Sight) -> Node:
    """Self-attention, attention to what the encoder found, then the feed-forward network."""
    attended = _wrapped(
        X, 1, weights, design, lambda x: _attention("self-attention", x, None, weights, "", design, own)
    )
    informed = _wrapped(
        attended,
        2,
        weights,
        design,
        lambda x: _attention("cross-attention", x, memory, weights, "cross_", design, cross),
    )
    return _wrapped(informed, 3, weights, design, lambda x: _feed_forward(x, weights, design))


def _wrapped(x: Node, number: int, weights: Weights, design: Design, part: Part) -> Node:
    """A part with its residual connection, and its norm behind the sum or in front of the part."""
    why = "the input is kept, and the gradient has a path around this part"
    name = f"residual{number}"
    if design.norm == "pre":
        return step(name, x + part(_norm(x, number, weights, design)), why)
    return _norm(step(name, x + part(x), why), number, weights, design)


def _norm(x: Node, number: int, weights: Weights, design: Design) -> Node:
    with group(f"norm{number}"):
        normalized: Node = layernorm.graph(
            x, weights.get(f"gamma{number}"), weights.get(f"beta{number}"), eps=design.eps
        )
    return normalized


def _attention(
    name: str, x: Node, context: Node | None, weights: Weights, prefix: str, design: Design, sight: Sight
) -> Node:
    """Attention over several heads; queries are the tokens', keys and values theirs or the context's."""
    with group(name):
        found, _ = several_heads(
            x,
            context,
            [W for letter in "qkvo" if (W := weights[f"{prefix}w{letter}"]) is not None],
            [weights[f"{prefix}b{letter}"] for letter in "qkvo"],
            Rules(causal=sight.causal, padding=sight.padding),
            M=sight.M,
        )
    return found


def _feed_forward(x: Node, weights: Weights, design: Design) -> Node:
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


@calculation(
    x="n d_model",
    weights=ENCODER,
    mask=operand("n m", kind="mask", broadcasts=True),
    sizes={"h": "heads"},
    remarks=fully_masked,
    laws={
        "reordering the tokens reorders the outputs": lambda f, x, weights: same(
            f(*shuffled(x), weights=weights), *shuffled(f(x, weights=weights).result)
        )
    },
    pictures=("weights",),
    reference=f"{VASWANI}, section 3.1; pre-norm: Xiong et al. 2020; as torch.nn.TransformerEncoderLayer",
    exercise=Exercise(sizes={"d_model": 5}, one_of=({"eps": 0.1},), at_hard={"causal": True}),
)
def encoder_block(
    X: Annotated[Node, "the tokens, one a row"],
    *,
    weights: Weights,
    M: Mask = None,
    heads: Heads = 1,
    norm: Norm = "post",
    activation: FfnActivation = "relu",
    eps: Epsilon = 1e-5,
    causal: Causal = False,
    mask_kind: MaskKind = None,
    padding: Padding = None,
) -> Node:
    """One layer of an encoder: each token attends to all, then is processed by itself.

    post: y = norm(x + attention(x)), z = norm(y + ffn(y)), as in the paper; pre: y = x + attention(norm(x)),
    z = y + ffn(norm(y)), as in most models since. Biases that are not given are 0, gains 1. Tokens are rows, so the
    weights stand on the right, x·W: PyTorch's Linear stores their transposes.
    """
    block = encoder_layer(X, weights, Design(norm, activation, eps), Sight(M, padding, causal))
    return step("output", block, "as wide as the input, so that blocks can be stacked")


@calculation(
    x="n d_model",
    memory="s d_model",
    weights=DECODER,
    mask=operand("n m", kind="mask", broadcasts=True),
    memory_mask=operand("n s", kind="mask", broadcasts=True),
    sizes={"h": "heads"},
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
    M_S: Annotated[Node | None, "which token may see which row of the memory"] = None,
    heads: Heads = 1,
    norm: Norm = "post",
    activation: FfnActivation = "relu",
    eps: Epsilon = 1e-5,
    no_causal: Annotated[bool, "let tokens see the ones after them, too"] = False,
    mask_kind: MaskKind = None,
    padding: Padding = None,
    memory_mask_kind: MaskKind = None,
    memory_padding: MemoryPadding = None,
) -> Node:
    """One layer of a decoder: attend to the tokens so far, then to the encoder's output, then process each token.

    Causal self-attention, attention with the decoder's queries and the encoder's keys and values, feed-forward network;
    each with its residual connection and its norm, as in encoder-block.
    """
    design = Design(norm, activation, eps)
    own, cross = Sight(M, padding, causal=not no_causal), Sight(M_S, memory_padding)
    block = decoder_layer(X, memory, weights, design, own, cross)
    return step("output", block, "as wide as the input, so that blocks can be stacked")
