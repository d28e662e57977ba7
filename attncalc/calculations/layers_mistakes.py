"""The mistakes of layers: embeddings and their scale, the skip path, another activation, the way back to words."""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.calculations.similarity import unit_rows
from attncalc.graph import Node
from attncalc.mistake import Mistake, NotThere, Scope, chosen, like, parts, right, wrong
from attncalc.ops import concat, sigmoid, softmax, sqrt, total

WHICH = "Which activation was asked for?"
SCALED = "Is the embedding multiplied by anything first?"


def _divided(s: Scope) -> Node:
    root, rows = parts(s.this, "mul")
    return rows / root


def _scaled_in_the_sum(s: Scope) -> Node:
    if s.step.args["name"] == "embeddings":
        return parts(s.this, "mul")[1]
    scaled = sqrt(s.embeddings.size(s.embeddings.names[-1])) * s.embeddings
    return scaled + s.positions if "positions" in s else scaled


def _beside(s: Scope) -> Node:
    return concat([s.embeddings, s.positions], s.embeddings.names[-1])


ACTIVATION = (
    wrong(
        "gelu-relu",
        options=chosen(activation={"relu": "gelu", "gelu": "relu", "gelu-tanh": "relu"}),
        says="ReLU in place of GELU, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
    wrong(
        "gelu-tanh",
        options=chosen(activation={"gelu": "gelu-tanh", "gelu-tanh": "gelu"}),
        says="the other form of GELU: with tanh in place of erf, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
    wrong(
        "gelu-silu",
        options=chosen(activation={"gelu": "silu", "silu": "gelu"}),
        says="SiLU in place of GELU, or the other way round",
        hint=WHICH,
        kind="convention",
    ),
)


def _over_places(s: Scope) -> Node:
    if len(s.logits.axes) < 2:
        raise NotThere("rows")
    return softmax(s.logits, s.logits.names[-2])


def factors(s: Scope) -> Sequence[Node]:
    """The tokens of a layer, and its weights."""
    return parts(s.this.sources[0] if s.this.op == "add" else s.this, "matmul")


def with_product(s: Scope, product: Node) -> Node:
    """A layer with another product of tokens and weights, its bias kept."""
    return product + s.this.sources[1] if s.this.op == "add" else product


def _unbiased(s: Scope) -> Node:
    factors(s)
    return parts(s.this, "add")[0]


def _by_rows(s: Scope) -> Node:
    tokens, W = factors(s)
    return with_product(s, tokens @ like(W.T, W))


def no_bias(at: str) -> Mistake:
    """A layer without its bias."""
    return wrong(
        "linear-bias-missing",
        at,
        _unbiased,
        says="x·W, without the bias",
        hint="Is anything to be added to the product?",
    )


def weights_transposed(at: str) -> Mistake:
    """Square weights used as PyTorch stores them."""
    return wrong(
        "linear-weights-transposed",
        at,
        _by_rows,
        says="x·Wᵀ in place of x·W",
        hint="With what is a token multiplied: with the columns of W, or with its rows?",
    )


UNEMBED = (
    wrong(
        "unembed-not-transposed",
        "logits",
        lambda s: like(s.h @ like(s.table, s.table.T), s.this),
        says="H·E in place of H·Eᵀ",
        hint="Does a word stand in a row of the table, or in a column?",
    ),
    wrong(
        "cos-dot-normalised",
        "logits",
        lambda s: unit_rows(s.h) @ unit_rows(s.table).T,
        says="the cosines in place of the dot products",
        hint="Should the lengths be divided out here?",
    ),
    wrong(
        "unembed-scaled",
        "logits",
        lambda s: s.this / sqrt(s.h.size(s.h.names[-1])),
        says="divided by √d, as attention's scores are",
        hint="Are the scores of words scaled as well?",
        kind="convention",
    ),
    wrong(
        "unembed-no-softmax",
        "probabilities",
        lambda s: s.logits,
        says="the logits in place of the probabilities",
        hint="Can a probability be below 0, or above 1?",
    ),
    wrong(
        "sm-no-exp",
        "probabilities",
        lambda s: s.logits / total(s.logits),
        says="z/Σz: no exponentials",
        hint="Which function makes every score positive?",
    ),
    wrong(
        "sm-sigmoid",
        "probabilities",
        lambda s: sigmoid(s.logits),
        says="σ(z), each score by itself",
        hint="What do the probabilities sum to?",
    ),
    wrong(
        "ce-axis0",
        "probabilities",
        _over_places,
        says="the softmax down the columns",
        hint="What do the rows sum to?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "embed": (
        right("emb-scaled-in-the-sum", "embeddings output", _scaled_in_the_sum, says="√d·E + positions in one"),
        wrong(
            "emb-scale-missing",
            options=chosen(scale={True: False}),
            says="E + positions, without √d",
            hint=SCALED,
        ),
        wrong(
            "pe-missing",
            "output",
            lambda s: parts(s.this, "add")[0],
            says="the embeddings alone, without the positions",
            hint="Would another order of the words change the result?",
        ),
        wrong("emb-scale-divided", "embeddings", _divided, says="E/√d + positions", hint=SCALED),
        wrong(
            "pe-concat-to-embedding",
            "output",
            _beside,
            says="the positions are set beside the embedding, not added",
            hint="How wide is a sum of two vectors?",
        ),
    ),
    "residual": (
        wrong(
            "block-no-residual",
            "sum",
            lambda s: parts(s.this, "add")[1],
            says="F(x) alone",
            hint="Where did x go?",
        ),
    ),
    "ffn": (
        *ACTIVATION,
        wrong(
            "ffn-no-activation",
            "activated",
            lambda s: s.hidden,
            says="x·W₁·W₂, without the activation",
            hint="What are two layers with nothing between them?",
        ),
        no_bias("hidden output linear"),
        weights_transposed("hidden output linear"),
    ),
    "unembed": UNEMBED,
}
"""Calculation → its mistakes, the commonest first."""
