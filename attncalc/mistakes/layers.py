"""Mistakes of layers: embeddings and their scale, the skip path, another activation, the logits."""

from __future__ import annotations

from attncalc.calculations.similarity import unit_rows
from attncalc.declare.mistake import Mistake, Scope, alternative, chosen, like, parts, remade, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import concat, sigmoid, sqrt, total
from attncalc.mistakes.cross_entropy import DOWN_THE_COLUMNS
from attncalc.mistakes.embeddings import LEFT_OUT, all_but
from attncalc.mistakes.projections import ACTIVATION, BENT, CLAMPS, GATES, no_bias, weights_transposed

SCALED = "Is the embedding multiplied by anything first?"


def _scaled_in_the_sum(s: Scope) -> Node:
    if s.when("scale", True).step.args["name"] == "embeddings":
        return parts(s.this, "mul")[1]
    scaled = sqrt(s.embeddings.size(s.embeddings.names[-1])) * s.embeddings
    return sum((getattr(s, name) for name in ("types", "positions") if name in s), scaled)


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
    DOWN_THE_COLUMNS,
)

HOW_STRONG = "What stands in front of the change?"
LORA = (
    # FastVideo's pull request 870
    wrong("lora-no-scale", "scaled", lambda s: s.change, says="α/r left out", hint=HOW_STRONG),
    # LLMs-from-scratch's issue 821, mlx-vlm's issue 841
    wrong(
        "lora-alpha-alone",
        "scaled",
        lambda s: s.this * s.a.size("r"),
        says="α in place of α/r",
        hint=HOW_STRONG,
    ),
    wrong(
        "lora-root",
        "scaled",
        lambda s: s.this * sqrt(s.a.size("r")),
        says="α/√r in place of α/r",
        hint=HOW_STRONG,
        kind="convention",
    ),
    wrong("lora-no-base", "output", lambda s: s.scaled, says="the change alone", hint="Is W still used?"),
    # candle-lora's issue 26
    wrong(
        "lora-merged-twice",
        "output",
        lambda s: s.this + s.scaled,
        says="the change counted twice, as beside weights that are merged",
        hint="Is the change in the weights already?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "lora": LORA,
    "embed": (
        alternative("emb-scaled-in-the-sum", "embeddings output", _scaled_in_the_sum, says="√d·E + positions in one"),
        wrong(
            "emb-scale-missing",
            options=chosen(scale={True: False}),
            says="E + positions, without √d",
            hint=SCALED,
        ),
        *LEFT_OUT,
        wrong(
            "emb-scale-divided",
            "embeddings",
            remade("mul", lambda root, rows: rows / root),
            says="E/√d + positions",
            hint=SCALED,
        ),
        wrong(
            "pe-concat-to-embedding",
            "output",
            lambda s: concat([all_but(s, "positions"), s.positions], s.embeddings.names[-1]),
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
        *BENT,
        *GATES,
        *CLAMPS,
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
