"""The mistakes of attention with one head, and of projecting queries, keys and values."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake
from attncalc.mistakes.attention_core import CORE, DMODEL, GRADIENTS
from attncalc.mistakes.masking import BIASES, CAUSAL, MASKS
from attncalc.mistakes.projections import PROJECTIONS
from attncalc.mistakes.rotary import IN_ATTENTION

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "qkv": PROJECTIONS,
    "attention": (*CORE, DMODEL, *MASKS, *BIASES, *IN_ATTENTION, *GRADIENTS, *CAUSAL),
}
"""Calculation → its mistakes, the commonest first."""
