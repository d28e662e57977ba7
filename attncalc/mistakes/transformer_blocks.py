"""The mistakes of transformer blocks: those of their parts, and of how the parts are joined."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, inside, parts, wrong
from attncalc.language.graph import Node
from attncalc.mistakes.attention_core import CORE
from attncalc.mistakes.layer_norm import LAYER, another_epsilon
from attncalc.mistakes.masking import MASKS, SEEN
from attncalc.mistakes.projections import ACTIVATION
from attncalc.mistakes.several_heads import HEADS


def _normed(s: Scope) -> Node:
    """The skip path behind the norm in place of before it."""
    number = s.step.args["name"][-1]
    if (f"norm{number}", "output") not in s.known:
        raise NotThere("norm")
    return s.known[f"norm{number}", "output"] + parts(s.this, "add")[1]


RESIDUALS = "residual1 residual2 residual3"
JOINS = (
    wrong(
        "block-pre-for-post",
        options=chosen(norm={"post": "pre", "pre": "post"}),
        says="the norm before each part in place of after each sum, or the other way round",
        hint="Is what goes past each part normalised as well?",
        kind="convention",
    ),
    wrong(
        "block-residual-from-normed",
        RESIDUALS,
        _normed,
        says="LN(x) + F(LN(x))",
        hint="What goes past the part: x, or its normalised form?",
    ),
    wrong(
        "block-no-residual",
        RESIDUALS,
        lambda s: parts(s.this, "add")[1],
        says="F(LN(x)) alone",
        hint="Where did x go?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "encoder-block": (
        *JOINS,
        *ACTIVATION,
        *inside((*CORE, *MASKS, *SEEN, *HEADS), "self-attention"),
        *inside(LAYER, "norm1", "norm2"),
        *another_epsilon("ln"),
    ),
    "decoder-block": (
        *JOINS,
        *ACTIVATION,
        *inside((*CORE, *MASKS, *SEEN, *HEADS), "self-attention", "cross-attention"),
        *inside(LAYER, "norm1", "norm2", "norm3"),
        *another_epsilon("ln"),
    ),
}
"""Calculation → its mistakes, the commonest first."""
