"""Layers: feed-forward networks, residual connections, embeddings and the way back to words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from attncalc.calculations.activations import ACTIVATIONS, ActivationKind, activated
from attncalc.calculations.normalisation import layernorm
from attncalc.calculations.positions import first_places, sinusoidal_encoding
from attncalc.common.errors import OptionError
from attncalc.declare.calculation import calculation, same, shuffled
from attncalc.declare.operands import Exercise, operand
from attncalc.language.graph import Node, constant, group, note, step
from attncalc.language.ops import affine, lookup, maximum, minimum, softmax, spread, sqrt, take

FfnActivation = Annotated[
    Literal[ActivationKind, "swiglu", "geglu", "geglu-tanh", "reglu", "glu", "swiglu-clamped"],
    "the function; those with glu in their names are gated: they take w3; clamped: between −7 and 7, and w3's part + 1",
]
GATED = {
    "swiglu": "silu",
    "geglu": "gelu",
    "geglu-tanh": "gelu-tanh",
    "reglu": "relu",
    "glu": "sigmoid",
    "swiglu-clamped": "gelu-sigmoid",
}
CLAMPED = {"swiglu-clamped": 7}
"""Gated forms with both parts clamped to a limit, as in gpt-oss."""


def bent(hidden: Node, linear: Callable[[], Node] | None, activation: str) -> Node:
    """What a network's first layer gives, through its function; of a gated one also the part that the gate is for."""
    kind, limit = GATED.get(activation, activation), CLAMPED.get(activation)
    if limit is not None:
        why = "what opens the gate stays below a limit, so that no entry grows without end"
        hidden = step("clamped", minimum(hidden, limit), why)
    found = step("activated", activated(hidden, kind), ACTIVATIONS[kind].why)
    if linear is None:
        return found
    passed = step("linear", linear(), "the part that the gate lets through or holds back")
    if limit is None:
        return step("gated", found * passed, "each entry passes in proportion to its gate")
    why = "the other part stays within the same limit, on both sides"
    passed = step("linear_clamped", minimum(maximum(passed, -limit), limit), why)
    return step(
        "gated", found * (passed + 1), "each entry passes in proportion to its gate, and so does the one that is added"
    )


@calculation(
    x="n d_model",
    w1="d_model d_ff",
    b1="d_ff",
    w2="d_ff d_out",
    b2="d_out",
    w3="d_model d_ff",
    b3="d_ff",
    laws={
        "every token is processed by itself": lambda f, x, w1, b1, w2, b2: same(
            f(x[:1], w1, b1, w2, b2), f(x, w1, b1, w2, b2).result[:1]
        )
    },
    reference="Vaswani et al. 2017, eq. 2; Shazeer 2020, GLU Variants Improve Transformer, eq. 5 and 6",
)
def ffn(
    X: Annotated[Node, "the tokens, one a row"],
    W_1: Annotated[Node, "the first layer's weights (up)"],
    b_1: Annotated[Node | None, "its bias"] = None,
    W_2: Annotated[Node | None, "the second layer's weights (back down)"] = None,
    b_2: Annotated[Node | None, "its bias"] = None,
    W_3: Annotated[Node | None, "the weights of the part that the activation gates (swiglu, geglu …)"] = None,
    b_3: Annotated[Node | None, "its bias"] = None,
    *,
    activation: FfnActivation = "relu",
) -> Node:
    """Process every token by itself: up to a wider space, a nonlinear function, and back.

    act(x·W₁ + b₁)·W₂ + b₂; the gated forms are (act(x·W₁ + b₁) ⊙ (x·W₃ + b₃))·W₂ + b₂, with SiLU for swiglu, GELU
    (by erf) for geglu. gpt-oss keeps both parts within ±7 and adds 1 to the second. Tokens do not interact here.
    """
    if W_2 is None:
        raise OptionError("ffn needs x, w1 and w2, and w2 must still be given")
    gated = activation in GATED
    if gated != (W_3 is not None) or (b_3 is not None and not gated):
        if gated:
            raise OptionError(f"--activation {activation} needs w3, which is missing")
        others = "w3 and b3 go with swiglu or geglu, or another gated form"
        raise OptionError(f"{others}, but the activation is {activation}")
    hidden = step(
        "hidden", affine(X, W_1, b_1), "a wider space, with room for more features than the token's own width"
    )
    inner = bent(hidden, None if W_3 is None else lambda: affine(X, W_3, b_3), activation)
    return step("output", affine(inner, W_2, b_2), "back to the token's own width")


@calculation(
    x="n d_in",
    w="d_in d_out",
    a="d_in r",
    b="r d_out",
    laws={
        "merged and not, the output is the same": lambda f, x, w, a, b: same(
            (t := f(x, w, a, b, alpha=3)).result, t["merged_output"]
        ),
        "with B = 0, as it starts, nothing is changed": lambda f, x, w, a, b: same(f(x, w, a, 0 * b), x @ w),
    },
    reference="Hu et al. 2021, LoRA: Low-Rank Adaptation of Large Language Models, eq. 3",
    exercise=Exercise(sizes={"n": 2, "d_in": 3, "r": 2, "d_out": 2}, one_of=({"alpha": 4}, {"alpha": 8})),
)
def lora(
    X: Annotated[Node, "the tokens, one a row"],
    W: Annotated[Node, "the weights of the layer, which stay as they are"],
    A: Annotated[Node, "the trained weights down to r numbers"],
    B: Annotated[Node, "the trained weights back up; 0 at the start"],
    *,
    alpha: Annotated[float | None, "the change is multiplied by α/r; r where it is not given"] = None,
) -> tuple[Node, Node, Node]:
    """A layer whose weights are frozen, with a trained change of low rank beside it.

    x·W + (α/r)·(x·A)·B. Rows are tokens, so that W is [d_in, d_out]; files of PyTorch hold the transposes, and the
    paper writes W + B·A. Additional outputs are the weights merged, W + (α/r)·A·B, and what they give, which is the
    same.
    """
    (d_in, r), d_out = A.shape[-2:], B.shape[-1]
    scale = constant(float(r if alpha is None else alpha), "alpha", "alpha") / A.size("r")
    base = step("base", X @ W, "what the layer gave before it was adapted")
    down = step("down", X @ A, "every token is squeezed into r numbers")
    change = step("change", down @ B, "back to the layer's width: whatever was learned has at most rank r")
    scaled = step("scaled", scale * change, "so scaled, another r needs no other learning rate")
    result = step("output", base + scaled, "the change is added, and W itself is never touched")
    merged = step("merged", W + scale * (A @ B), "for use the change goes into the weights, and costs nothing more")
    again = step("merged_output", X @ merged, "one product in place of three, and the same numbers")
    trained, all_of_them = r * (d_in + d_out), d_in * d_out
    note(
        f"A and B have {trained:,} parameters, r·(d_in + d_out), which are trained; W has {all_of_them:,}, d_in·d_out, "
        f"which are frozen, so that nothing is done with their gradient"
    )
    return result, merged, again


@calculation(
    x="n d",
    f="n d",
    laws={"a sublayer whose output is 0 changes nothing": lambda f, x: same(f(x, 0 * x), x)},
    reference="He et al. 2015, Deep Residual Learning, eq. 1; Vaswani et al. 2017, section 3.1",
)
def residual(
    X: Annotated[Node, "the input of the sublayer"],
    F: Annotated[Node, "the output of the sublayer"],
    *,
    alpha: Annotated[float, "what the output is multiplied by before it is added"] = 1,
    norm: Annotated[Literal["none", "post"], "post: layer norm of the sum, without gain and shift"] = "none",
) -> Node:
    """Add a sublayer's output to its input.

    x + α·F(x), followed by layer norm with post-norm. Seen along the depth of a network it is one Euler step of the
    differential equation h′ = F(h), with step length α: a deep network follows a path in small steps.
    """
    scaled = step(
        "scaled",
        constant(alpha, "alpha", "alpha") * F,
        "α = 1: the sublayer's output counts in full"
        if alpha == 1
        else "an α below 1 keeps a stack of many layers from blowing up; it is the length of the Euler step",
    )
    added = step("sum", X + scaled, "the input is kept, and the gradient has a path around the sublayer")
    if norm == "none":
        return step("output", added, "h + α·F(h): one Euler step of h′ = F(h)")
    with group("norm"):
        normalized = layernorm.graph(added)
    return step("output", normalized, "post-norm: the whole sum is normalised, the skip path included")


@calculation(
    tokens=operand("n", kind="tokens", of="V"),
    table=operand("V d", named=True),
    positions="p d",
    types=operand("n", kind="tokens", of="t"),
    type_table="t d",
    laws={
        "without positions, reordering the words reorders the rows": lambda f, tokens, table: same(
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
        Node | Literal["sinusoidal", "sinusoidal-concatenated", "none"] | None,
        "what is added for the position: sinusoidal (concatenated: sines first, then cosines), or one row each",
    ] = None,
    S: Annotated[Node | None, "which of several texts each token is of, counted from 0; all of the first"] = None,
    T: Annotated[Node | None, "what is added for the text that a token is of, one row each"] = None,
    scale: Annotated[bool, "multiply the embeddings by √d"] = False,
) -> tuple[Node, ...]:
    """Look up a vector for every token, and add one for its position.

    E[token] (times √d with scale) + positions. Looking up row t is the same as multiplying a one-hot vector by the
    table; in the backward pass a row gets the sum of the gradients of all places where its word occurs. BERT, which
    reads two texts at a time, adds a third vector: it says which of them a token is of.
    """
    rows = lookup(E, tokens, "V")
    embeddings = step(
        "embeddings",
        sqrt(E.size(E.names[-1])) * rows if scale else rows,
        "without √d the positions would outweigh the embeddings"
        if scale
        else "a word's id means nothing by itself; its row of the table is learned",
    )
    result = embeddings
    if T is not None:
        rows = spread(take(T, T.names[-2], 0), embeddings.axes) if S is None else lookup(T, S, T.names[-2])
        result = result + step("types", rows, "the same word gets another vector in another text")
    if P is None or P == "none":
        why = "no positions are added: the result does not tell the order of the words"
        return (step("output", result, why),)
    if isinstance(P, str):
        places = sinusoidal_encoding(embeddings.axes[-2:], P.partition("-")[2] or "interleaved")
    else:
        places = first_places(P, embeddings.axes[-2])
    positions = step("positions", places, "the same word gets another vector at another position")
    return (step("output", result + positions, "added, not concatenated: the width stays d"),)


@calculation(
    h="n d",
    table=operand("V d", named=True),
    laws={"the probabilities at every position sum to 1": lambda f, h, table: same(f(h, table).result.sum(-1), 1)},
    reference="Press and Wolf 2017, Using the Output Embedding to Improve Language Models",
)
def unembed(
    H: Annotated[Node, "the last layer's vectors, one a row"],
    E: Annotated[Node, "the embeddings: the same table as on the way in (tied weights)"],
) -> tuple[Node, Node]:
    """Turn vectors back into words: how well each fits every row of the embedding table.

    H·Eᵀ gives the logits, one for each word of the vocabulary, and their softmax the probabilities. The same table
    serves twice: to embed words and to score them.
    """
    logits = step("logits", H @ E.T, "the dot product of each vector with every word's embedding")
    return step("probabilities", softmax(logits), "probabilities that sum to 1 over the vocabulary"), logits
