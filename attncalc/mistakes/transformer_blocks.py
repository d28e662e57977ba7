"""Mistakes of transformer blocks, each of which is a whole layer."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake
from attncalc.mistakes.whole_layers import of_layer, without_nils

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "encoder-block": of_layer("12", "self-attention"),
    "decoder-block": of_layer("123", "self-attention", "cross-attention"),
    "decoder-only": without_nils(of_layer("12", "self-attention")),
}
"""Calculation → its mistakes, the commonest first."""
