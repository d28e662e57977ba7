"""The mistakes of latent attention: what is compared and scaled, which norm is left out, what is cached."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, Scope, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import sqrt
from attncalc.mistakes.masking import MASKS
from attncalc.mistakes.rotary import ROPE_MISSING, layout


def _by_meaning(s: Scope) -> Node:
    """The scale of the part that is not turned."""
    scores, root = parts(s.this, "div")
    return scores / sqrt(parts(parts(root, "sqrt")[0], "add")[0])


def _latent_alone(s: Scope) -> Node:
    size, rest = parts(s.this, "mul")
    tokens, width = parts(rest, "mul")
    return size * (tokens * parts(width, "add")[0])


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
        ROPE_MISSING,
        layout("rope_"),
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
    ),
}
"""Calculation → its mistakes, the commonest first."""
