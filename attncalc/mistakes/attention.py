"""Mistakes of attention with one head, and of projecting queries, keys and values."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake
from attncalc.mistakes.attention_core import (
    CORE,
    DMODEL,
    GRADIENTS,
    IN_BLOCKS,
    KEYS_AND_VALUES,
    LAYOUT,
    permuted,
    tiled,
)
from attncalc.mistakes.masking import BIASES, CAUSAL, MASKS, MINUS_ONE, SEEN
from attncalc.mistakes.projections import PROJECTIONS
from attncalc.mistakes.rotary import IN_ATTENTION

PORTED = (*SEEN, *tiled("output"), *IN_BLOCKS, *LAYOUT, *permuted("output"))
"""Mistakes of kernels: which keys are seen, and how heads are laid out."""

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "qkv": PROJECTIONS,
    "attention": (
        *CORE,
        KEYS_AND_VALUES,
        DMODEL,
        *MASKS,
        MINUS_ONE,
        *BIASES,
        *IN_ATTENTION,
        *PORTED,
        *GRADIENTS,
        *CAUSAL,
    ),
}
"""Calculation → its mistakes, the commonest first."""
