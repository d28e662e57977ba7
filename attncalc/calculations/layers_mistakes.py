"""The mistakes of layers: embeddings and their scale, the skip path, another activation."""

from __future__ import annotations

from attncalc.graph import Node
from attncalc.mistake import Mistake, Scope, chosen, parts, right, wrong
from attncalc.ops import concat, sqrt

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

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "embed": (
        right("emb-scaled-in-the-sum", "embeddings output", _scaled_in_the_sum, says="√d·E + positions in one"),
        wrong(
            "emb-scale-missing",
            options=chosen(scale={True: False}),
            says="E + positions, without √d",
            hint=SCALED,
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
    "ffn": ACTIVATION,
}
"""Calculation → its mistakes, the commonest first."""
