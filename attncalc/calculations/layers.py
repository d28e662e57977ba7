"""Layers: activations, feed-forward networks, residual connections, embeddings and the way back to words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from attncalc.calculation import calculation, operand
from attncalc.calculations.normalisation import layernorm
from attncalc.calculations.positions import first_places, sinusoidal_encoding
from attncalc.errors import OptionError
from attncalc.graph import Node, as_node, constant, group, output, step
from attncalc.ops import (
    elu,
    exp,
    keep_where,
    lookup,
    maximum,
    one_plus_erf,
    sigmoid,
    softmax,
    softplus,
    spread,
    sqrt,
    tanh,
)
from attncalc.text import either

Kind = Literal[
    "relu", "leaky-relu", "elu", "sigmoid", "tanh", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "softplus"
]
FfnActivation = Annotated[
    Literal[
        "relu", "leaky-relu", "elu", "sigmoid", "tanh", "gelu", "gelu-tanh", "gelu-sigmoid", "silu", "softplus",
        "swiglu", "geglu",
    ],
    "the function; swiglu and geglu are gated by w3",
]
GATED = {"swiglu": "silu", "geglu": "gelu"}
ALPHA = {"leaky-relu": 0.01, "elu": 1}
"""The activations that have a parameter, and its default."""

Alpha = Annotated[float | None, "the slope below 0 of leaky-relu (0.01), the depth of elu (1)"]


@dataclass(frozen=True)
class Activation:
    """A function of one number: (x, inner, α) → value, with the inner expression that its definition speaks of."""

    value: Callable[[Node, Node, float], Node]
    slope: Callable[[Node, Node, Node, float], Node]  # (x, inner, value, α)
    why: str
    inner: Callable[[Node], Node] | None = None
    because: str = ""  # of the inner expression


def _pi() -> Node:
    return constant(math.pi, "π")


def _tanh_inner(x: Node) -> Node:
    return sqrt(2 / _pi()) * (x + 0.044715 * x**3)


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(
        lambda x, inner, alpha: maximum(as_node(0), x),
        lambda x, inner, y, alpha: keep_where(as_node(0) < x, 1, 0),
        "what is negative is cut off; its slope at 0 is taken as 0",
    ),
    "leaky-relu": Activation(
        lambda x, inner, alpha: keep_where(as_node(0) < x, x, alpha * x),
        lambda x, inner, y, alpha: keep_where(as_node(0) < x, 1, alpha),
        "what is negative is made small rather than cut off, so that it keeps a slope",
    ),
    "elu": Activation(
        lambda x, inner, alpha: elu(x, alpha),
        lambda x, inner, y, alpha: keep_where(as_node(0) < x, 1, y + alpha),
        "what is negative sinks to −α and no further",
    ),
    "sigmoid": Activation(
        lambda x, inner, alpha: sigmoid(x),
        lambda x, inner, y, alpha: y * (1 - y),
        "any number becomes one between 0 and 1: 1/(1 + e^−x)",
    ),
    "tanh": Activation(
        lambda x, inner, alpha: tanh(x),
        lambda x, inner, y, alpha: 1 - y**2,
        "any number becomes one between −1 and 1, and 0 stays 0",
    ),
    "gelu": Activation(
        lambda x, inner, alpha: x / 2 * one_plus_erf(inner),
        lambda x, inner, y, alpha: one_plus_erf(inner) / 2 + x * exp(-(inner**2)) / sqrt(2 * _pi()),
        "x, in the proportion Φ(x) of a bell curve that lies below it: half of (1 + erf)",
        inner=lambda x: x / sqrt(as_node(2)),
        because="erf counts in units of √2 standard deviations",
    ),
    "gelu-tanh": Activation(
        lambda x, inner, alpha: x / 2 * (1 + tanh(inner)),
        lambda x, inner, y, alpha: (
            (1 + tanh(inner)) / 2 + x / 2 * (1 - tanh(inner) ** 2) * (sqrt(2 / _pi()) * (1 + 0.134145 * x**2))
        ),
        "close to x·Φ(x), never more than 0.0005 away from it",
        inner=_tanh_inner,
        because="a cubic under tanh follows erf closely",
    ),
    "gelu-sigmoid": Activation(
        lambda x, inner, alpha: x * sigmoid(inner),
        lambda x, inner, y, alpha: sigmoid(inner) + 1.702 * (x * (sigmoid(inner) * (1 - sigmoid(inner)))),
        "a coarser stand-in for x·Φ(x), up to 0.02 away from it",
        inner=lambda x: 1.702 * x,
        because="stretched so, the sigmoid follows Φ",
    ),
    "silu": Activation(
        lambda x, inner, alpha: x * sigmoid(x),
        lambda x, inner, y, alpha: sigmoid(x) + y * (1 - sigmoid(x)),
        "x, in a proportion that grows with x: σ opens the gate",
    ),
    "softplus": Activation(
        lambda x, inner, alpha: softplus(x),
        lambda x, inner, y, alpha: sigmoid(x),
        "a ReLU whose corner is rounded off",
    ),
}
"""The functions by their names. The slopes are those that the backward pass finds; a test holds them against it."""


def activated(x: Node, kind: str, alpha: float | None = None, *, inner: Node | None = None) -> Node:
    """An activation of x, without steps of its own."""
    function = ACTIVATIONS[kind]
    return function.value(x, inner or _inner(x, function), _alpha(kind, alpha))


def _inner(x: Node, function: Activation) -> Node:
    return function.inner(x) if function.inner else x


def _alpha(kind: str, alpha: float | None) -> float:
    if alpha is not None and kind not in ALPHA:
        raise OptionError(f"--alpha goes with {either(ALPHA)}, and the activation is {kind}")
    return ALPHA.get(kind, 0) if alpha is None else alpha


@calculation(
    x="| n | n m",
    reference="Hendrycks and Gimpel 2016, Gaussian Error Linear Units; as torch.nn.functional (gelu-tanh: approximate='tanh')",
)
def activation(
    x: Annotated[Node, "any numbers: each is taken by itself"],
    *,
    kind: Annotated[Kind, "which function"] = "relu",
    alpha: Alpha = None,
) -> tuple[Node, Node]:
    """Bend a number: the step between two matrices without which they would be one matrix.

    GELU is x·Φ(x) = ½x·(1 + erf(x/√2)); gelu-tanh and gelu-sigmoid (x·σ(1.702x)) stand in for it. The slope is an
    output beside the value; at a corner it is the one from the left, as in PyTorch.
    """
    function = ACTIVATIONS[kind]
    inner = step("inner", function.inner(x), function.because) if function.inner else x
    value = step("output", activated(x, kind, alpha, inner=inner), function.why)
    slope = spread(function.slope(x, inner, value, _alpha(kind, alpha)), x.axes)
    return value, output("derivative", slope, "how fast the value moves with x")


@calculation(
    x="n d_model",
    w1="d_model d_ff",
    b1="d_ff",
    w2="d_ff d_out",
    b2="d_out",
    w3="d_model d_ff",
    b3="d_ff",
    reference="Vaswani et al. 2017, eq. 2; Shazeer 2020, GLU Variants Improve Transformer",
)
def ffn(
    X: Annotated[Node, "the tokens, one a row"],
    W_1: Annotated[Node, "the way up"],
    b_1: Annotated[Node | None, "its bias"] = None,
    W_2: Annotated[Node | None, "the way back down"] = None,
    b_2: Annotated[Node | None, "its bias"] = None,
    *,
    W_3: Annotated[Node | None, "what the activated part opens and closes (swiglu, geglu)"] = None,
    b_3: Annotated[Node | None, "its bias"] = None,
    activation: FfnActivation = "relu",
) -> Node:
    """Think about every token by itself: up to a wider space, a bend, and back.

    act(x·W₁ + b₁)·W₂ + b₂; the gated forms are (act(x·W₁ + b₁) ⊙ (x·W₃ + b₃))·W₂ + b₂, with SiLU for swiglu and GELU
    (by erf) for geglu. No token sees another one here.
    """
    if W_2 is None:
        raise OptionError("ffn needs x, w1 and w2, and w2 must still be given")
    gated = activation in GATED
    if gated != (W_3 is not None) or (b_3 is not None and not gated):
        needs = f"--activation {activation} needs w3, and it must still be given"
        raise OptionError(needs if gated else f"w3 and b3 go with {either(GATED)}, and the activation is {activation}")
    kind = GATED.get(activation, activation)
    hidden = step("hidden", _linear(X, W_1, b_1), "room to tell more apart than the token's own width allows")
    bent = step("activated", activated(hidden, kind), ACTIVATIONS[kind].why)
    if W_3 is not None:
        passed = step("linear", _linear(X, W_3, b_3), "what may pass")
        bent = step("gated", bent * passed, "each entry passes as far as its gate is open")
    return step("output", _linear(bent, W_2, b_2), "back to the token's own width")


def _linear(x: Node, W: Node, b: Node | None) -> Node:
    return x @ W if b is None else x @ W + b


@calculation(x="n d", f="n d", reference="He et al. 2015, Deep Residual Learning; Vaswani et al. 2017, section 3.1")
def residual(
    X: Annotated[Node, "what goes into the sublayer"],
    F: Annotated[Node, "what comes out of it"],
    *,
    alpha: Annotated[float, "how much of it is added"] = 1,
    norm: Annotated[Literal["none", "post"], "post: layer norm of the sum, without gain and shift"] = "none",
) -> Node:
    """Add what a sublayer found to what went into it.

    x + α·F(x), and with post-norm its layer norm. Read along the depth of a network it is one Euler step of the
    differential equation h′ = F(h), with a step of length α: a deep network is a path, walked in small steps.
    """
    scaled = step("scaled", alpha * F, "below 1 it keeps many layers from blowing up; the length of the Euler step")
    added = step("sum", X + scaled, "what was there stays there, and the gradient has a way past the sublayer")
    if norm == "none":
        return step("output", added, "h + α·F(h): one Euler step of h′ = F(h)")
    with group("norm"):
        normalized = layernorm.graph(added)
    return step("output", normalized, "the sum is normalised, skip path included: post-norm")


@calculation(
    tokens=operand("n", kind="tokens", of="V"),
    table="V d",
    positions="p d",
    reference="Vaswani et al. 2017, section 3.4",
)
def embed(
    tokens: Annotated[Node, "ids, or words of the table's labels"],
    E: Annotated[Node, "the embeddings, one row for each word of the vocabulary"],
    *,
    P: Annotated[Node | Literal["sinusoidal"] | None, "what is added for the place: sinusoidal, or one row each"] = None,
    scale: Annotated[bool, "multiply the embeddings by √d"] = False,
) -> tuple[Node, ...]:
    """Look up a vector for every token, and add one for its place.

    E[token] (times √d with scale) + positions. Looking up row t is multiplying by a vector with a single 1 at t; in
    the backward pass a row gets the gradients of all the places where its word stands.
    """
    rows = lookup(E, tokens, "V")
    embeddings = step(
        "embeddings",
        sqrt(E.size("d")) * rows if scale else rows,
        "√d keeps the words from being drowned by the places" if scale else "a word's number says nothing; its row does",
    )
    if P is None:
        return (step("output", embeddings, "no positions are added: the order of the words is not told"),)
    places = sinusoidal_encoding(embeddings.axes[-2:]) if P == "sinusoidal" else first_places(P, embeddings.axes[-2])
    positions = step("positions", places, "the same word elsewhere becomes another vector")
    return (step("output", embeddings + positions, "added, not set beside it: the width stays d"),)


@calculation(h="n d", table="V d", reference="Press and Wolf 2017, Using the Output Embedding to Improve Language Models")
def unembed(
    H: Annotated[Node, "the last layer's vectors, one a row"],
    E: Annotated[Node, "the embeddings: the same table as on the way in (tied weights)"],
) -> tuple[Node, Node]:
    """Turn vectors back into words: how well each fits every row of the embedding table.

    H·Eᵀ are the logits, one for each word of the vocabulary, and their softmax the probabilities. The table serves
    twice, on the way in and on the way out.
    """
    logits = step("logits", H @ E.T, "the dot product of a vector with every word's")
    return step("probabilities", softmax(logits), "shares that sum to 1 over the vocabulary"), logits
