"""Mistakes of attention with several heads: those of every attention, and those of heads."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake
from attncalc.mistakes.attention_core import CORE, GRADIENTS
from attncalc.mistakes.masking import BIASES, CAUSAL, MASKS, SEEN
from attncalc.mistakes.projections import conv1d_transposed, no_bias
from attncalc.mistakes.rotary import IN_ATTENTION
from attncalc.mistakes.several_heads import HEADS, QK_NORM, SINK

OF_HEADS = (*HEADS, conv1d_transposed("q k v output"), *QK_NORM, SINK)
"""Mistakes of heads, of their projections, norms and sinks."""

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "multihead": (
        *CORE,
        *MASKS,
        *BIASES,
        *IN_ATTENTION,
        *SEEN,
        *OF_HEADS,
        *GRADIENTS,
        *CAUSAL,
        no_bias("q k v output"),
    ),
}
"""Calculation → its mistakes, the commonest first."""
