"""Mistakes of activations: another form of GELU, or only a part of it."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, chosen, like, wrong
from attncalc.language.graph import as_node
from attncalc.language.ops import exp, one_plus_erf, pi, sqrt, tanh

FACTOR = "Which probability multiplies x?"


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "activation": (
        wrong(
            "gelu-tanh",
            options=chosen(kind={"gelu": "gelu-tanh", "gelu-tanh": "gelu"}),
            says="the other form of GELU: with tanh in place of erf, or the other way round",
            hint="Which form of the function was asked for?",
            kind="convention",
        ),
        wrong(
            "gelu-sigmoid",
            options=chosen(kind={"gelu": "gelu-sigmoid", "gelu-tanh": "gelu-sigmoid"}),
            says="x·σ(1.702x)",
            hint="Which form of the function was asked for?",
            kind="convention",
        ),
        wrong(
            "gelu-cdf-only",
            "output",
            lambda s: one_plus_erf(s.when("kind", "gelu").x / sqrt(as_node(2))) / 2,
            says="Φ(x), without the x in front",
            hint="What should the function make of a large x?",
        ),
        wrong(
            "gelu-no-sqrt2",
            "output",
            lambda s: s.when("kind", "gelu").x / 2 * one_plus_erf(s.x),
            says="erf(x) in place of erf(x/√2)",
            hint="What stands inside erf?",
        ),
        wrong(
            "gelu-pdf",
            "output",
            lambda s: s.when("kind", "gelu").x * (exp(-(s.x**2) / 2) / sqrt(2 * pi())),
            says="x·φ(x): the density",
            hint=FACTOR,
        ),
        wrong(
            "gelu-no-half",
            "output",
            lambda s: s.when("kind", "gelu").x * one_plus_erf(s.x / sqrt(as_node(2))),
            says="without the ½",
            hint=FACTOR,
        ),
        wrong(
            "gelu-tanh-no-cubic",
            "output",
            lambda s: s.when("kind", "gelu", "gelu-tanh").x / 2 * (1 + tanh(sqrt(2 / pi()) * s.x)),
            says="½x(1 + tanh(√(2/π)·x)): without the cube",
            hint="What stands beside x inside tanh?",
        ),
        wrong(
            "gelu-silu",
            options=chosen(kind={"gelu": "silu", "gelu-tanh": "silu"}),
            says="x·σ(x)",
            hint=FACTOR,
        ),
        wrong(
            "gelu-relu",
            options=chosen(kind={"gelu": "relu", "gelu-tanh": "relu"}),
            says="max(0, x)",
            hint=FACTOR,
        ),
        wrong(
            "bp-output-deriv-missing",
            "grad_x",
            lambda s: like(s.grad_output, s.this),
            says="the slope of the activation is left out",
            hint="Which slope belongs to the activation at the output?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
