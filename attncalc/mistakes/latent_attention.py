"""The mistakes of latent attention: what is compared and scaled, which norm is left out, what is cached."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import sqrt
from attncalc.mistakes.attention_core import CORE, GRADIENTS
from attncalc.mistakes.masking import MASKS
from attncalc.mistakes.rotary import IN_ATTENTION
from attncalc.mistakes.several_heads import HEADS


def _by_meaning(s: Scope) -> Node:
    """The scale of the part that is not turned."""
    scores, root = parts(s.this, "div")
    return scores / sqrt(parts(parts(root, "sqrt")[0], "add")[0])


def _latent_alone(s: Scope) -> Node:
    size, rest = parts(s.this, "mul")
    tokens, width = parts(rest, "mul")
    return size * (tokens * parts(width, "add")[0])


OF_ONE_PRODUCT = {"att-scale-after", "att-exp-zero-is-0"}
OF_LONGER_KEYS = {"rope-theta-dmodel", "rope-exp-i", "rope-positive-exp", "rope-same-theta", "rope-wrong-base"}
"""Mistakes that the two numbers of a key that are turned on most sheets do not show."""
NOT_HERE = OF_ONE_PRODUCT | OF_LONGER_KEYS | {"rope-mixed-layout", "cache-positions-reset"}
OF_EVERY_ATTENTION = tuple(m for m in (*CORE, *IN_ATTENTION, *HEADS, *GRADIENTS) if m.id not in NOT_HERE)

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "latent-attention": (
        wrong(
            "mla-scale-dk",
            "scaled",
            _by_meaning,
            says="divided by √d_k alone",
            hint="How wide are the vectors that are compared, both parts together?",
        ),
        wrong(
            "mla-no-position",
            "scores",
            lambda s: parts(s.this, "add")[0],
            says="without the part that is turned",
            hint="What tells a head where a token stands?",
        ),
        wrong(
            "mla-latent-norm-missing",
            "kv-norm/output",
            lambda s: parts(s.squares, "pow")[0],
            says="the latent as it is, not normalised",
            hint="What happens to the latent before keys and values are drawn from it?",
        ),
        wrong(
            "mla-bytes-all-heads",
            "cached_bytes",
            lambda s: s.due("full_bytes"),
            says="the bytes of all heads' keys and values",
            hint="Which vector of a token is kept, and which are made of it again?",
        ),
        wrong(
            "mla-bytes-latent-alone",
            "cached_bytes",
            _latent_alone,
            says="the bytes of the latent, without those of the part that is turned",
            hint="Can a key that was turned be made from the latent?",
        ),
        *(mistake for mistake in MASKS if not mistake.options),
        *OF_EVERY_ATTENTION,
    ),
}
"""Calculation → its mistakes, the commonest first."""
