"""Layers: feed-forward networks, residual connections, embeddings and the way back to words."""

from __future__ import annotations

from typing import Annotated, Literal

from attncalc.calculation import calculation, operand
from attncalc.calculations.activations import ACTIVATIONS, ActivationKind, activated
from attncalc.calculations.normalisation import layernorm
from attncalc.calculations.positions import first_places, sinusoidal_encoding
from attncalc.errors import OptionError
from attncalc.graph import Node
from attncalc.laws import same, shuffled
from attncalc.ops import affine, lookup, softmax, sqrt
from attncalc.steps import group, step
from attncalc.text import either

FfnActivation = Annotated[Literal[ActivationKind, "swiglu", "geglu"], "the function; swiglu and geglu are gated by w3"]
GATED = {"swiglu": "silu", "geglu": "gelu"}


@calculation(
    x="n d_model",
    w1="d_model d_ff",
    b1="d_ff",
    w2="d_ff d_out",
    b2="d_out",
    w3="d_model d_ff",
    b3="d_ff",
    laws={
        "every token is worked on by itself": lambda f, x, w1, b1, w2, b2: same(
            f(x[:1], w1, b1, w2, b2), f(x, w1, b1, w2, b2).result[:1]
        )
    },
    reference="Vaswani et al. 2017, eq. 2; Shazeer 2020, GLU Variants Improve Transformer",
)
def ffn(
    X: Annotated[Node, "the tokens, one a row"],
    W_1: Annotated[Node, "the way up"],
    b_1: Annotated[Node | None, "its bias"] = None,
    W_2: Annotated[Node | None, "the way back down"] = None,
    b_2: Annotated[Node | None, "its bias"] = None,
    W_3: Annotated[Node | None, "what the activated part opens and closes (swiglu, geglu)"] = None,
    b_3: Annotated[Node | None, "its bias"] = None,
    *,
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
    hidden = step("hidden", affine(X, W_1, b_1), "room to tell more apart than the token's own width allows")
    bent = step("activated", activated(hidden, kind), ACTIVATIONS[kind].why)
    if W_3 is not None:
        passed = step("linear", affine(X, W_3, b_3), "what may pass")
        bent = step("gated", bent * passed, "each entry passes as far as its gate is open")
    return step("output", affine(bent, W_2, b_2), "back to the token's own width")


@calculation(
    x="n d",
    f="n d",
    laws={"a sublayer that finds nothing changes nothing": lambda f, x: same(f(x, 0 * x), x)},
    reference="He et al. 2015, Deep Residual Learning; Vaswani et al. 2017, section 3.1",
)
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
    laws={
        "without positions, words in another order are rows in that order": lambda f, tokens, table: same(
            f(*shuffled(tokens), table), *shuffled(f(tokens, table).result)
        )
    },
    reference="Vaswani et al. 2017, section 3.4",
)
def embed(
    tokens: Annotated[Node, "ids, or words of the table's labels"],
    E: Annotated[Node, "the embeddings, one row for each word of the vocabulary"],
    *,
    P: Annotated[
        Node | Literal["sinusoidal", "none"] | None, "what is added for the place: sinusoidal, or one row each"
    ] = None,
    scale: Annotated[bool, "multiply the embeddings by √d"] = False,
) -> tuple[Node, ...]:
    """Look up a vector for every token, and add one for its place.

    E[token] (times √d with scale) + positions. Looking up row t is multiplying by a vector with a single 1 at t; in
    the backward pass a row gets the gradients of all the places where its word stands.
    """
    rows = lookup(E, tokens, "V")
    embeddings = step(
        "embeddings",
        sqrt(E.size(E.names[-1])) * rows if scale else rows,
        "√d keeps the words from being drowned by the places"
        if scale
        else "a word's number says nothing; its row does",
    )
    if P is None or P == "none":
        return (step("output", embeddings, "no positions are added: the order of the words is not told"),)
    places = sinusoidal_encoding(embeddings.axes[-2:]) if P == "sinusoidal" else first_places(P, embeddings.axes[-2])
    positions = step("positions", places, "the same word elsewhere becomes another vector")
    return (step("output", embeddings + positions, "added, not set beside it: the width stays d"),)


@calculation(
    h="n d",
    table="V d",
    laws={"the probabilities of every place sum to 1": lambda f, h, table: same(f(h, table).result.sum(-1), 1)},
    reference="Press and Wolf 2017, Using the Output Embedding to Improve Language Models",
)
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
