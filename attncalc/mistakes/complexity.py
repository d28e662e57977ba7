"""The mistakes of counting what a transformer costs: a matrix that is forgotten."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, Scope, like, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import listed


def _without_output_projection(s: Scope) -> Node:
    """Every part's parameters, the projections (the first part) without W_O."""
    told = s.options
    width = told["heads"] * (told["latent_d_v"] or told["d_k"] or told["d_model"] // told["heads"])
    forgotten = (told["layers"] + 2 * told["decoder_layers"]) * width * told["d_model"]
    (parts,) = s.this.axes
    return s.this - like(listed([as_node(forgotten), *[as_node(0)] * (parts.size - 1)], parts.name), s.this)


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "complexity": (
        wrong(
            "mh-params-3d2",
            "parameters",
            _without_output_projection,
            says="3·d_model² for the projections: W_O forgotten",
            hint="Have you counted every matrix in the picture?",
        ),
    ),
}
"""Calculation → its mistakes."""
