"""Mistakes of latent attention: what is compared and scaled, which norm is left out, what is cached."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, Scope, inside, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import sqrt
from attncalc.mistakes.attention_core import CORE, GRADIENTS, unscaled
from attncalc.mistakes.layer_norm import NO_GAIN, RMS, another_epsilon
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


OF_ONE_PRODUCT = {"scores", "scaled", "biased", "grad_q", "grad_k"}
"""Steps that are different here, since a score is the sum of two products."""
OF_LONGER_KEYS = {"rope-theta-dmodel", "rope-exp-i", "rope-positive-exp", "rope-same-theta", "rope-wrong-base"}
"""Mistakes that don't show on most sheets, where only two numbers of a key are rotated."""
ELSEWHERE = {
    "rope-mixed-layout",
    "rope-q-offset",
    "rope-on-v",
    "cache-positions-reset",
    "datt-no-scale",
    "datt-scale-dk",
    "att-exp-zero-is-0",
    "att-k-for-v",
    "flash-no-rescale",
    "fused-qkv-order",
    "gqa-tiled",
    "heads-permuted",
    "mask-before-scale",
}
"""Mistakes of things not found here: another order of steps, rotated values, a cache, heads that share keys."""
OF_EVERY_ATTENTION = tuple(
    mistake
    for mistake in (*CORE, *IN_ATTENTION, *HEADS, *GRADIENTS)
    if mistake.id not in OF_LONGER_KEYS | ELSEWHERE and OF_ONE_PRODUCT.isdisjoint(mistake.at)
)

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
            "att-no-scale",
            "scaled",
            unscaled,
            says="the scores are not divided",
            hint="What keeps the scores from growing as the vectors get longer?",
        ),
        *(
            wrong(
                "mla-latent-norm-missing",
                f"{norm}/output",
                lambda s: parts(s.squares, "pow")[0],
                says="the latent as it is, not normalised",
                hint=f"What happens to the latent before {drawn} are drawn from it?",
            )
            for norm, drawn in (("kv-norm", "keys and values"), ("q-norm", "queries"))
        ),
        *inside((*RMS, NO_GAIN), "q-norm", "kv-norm"),
        *another_epsilon("ln"),
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
