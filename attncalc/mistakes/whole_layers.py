"""Mistakes of a whole layer: those of its parts, and of how the parts are joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, inside, parts, wrong
from attncalc.language.graph import Node
from attncalc.mistakes.attention_core import CORE, GRADIENTS
from attncalc.mistakes.layer_norm import (
    LAYER,
    MEAN_HELD,
    NO_GAIN,
    OF_EACH_NORM,
    PLUS_ONE,
    RMS,
    STATISTICS_HELD,
    WHAT_ELSE,
    another_epsilon,
)
from attncalc.mistakes.masking import BIASES, MASKS, SEEN
from attncalc.mistakes.projections import ACTIVATION, GATES, conv1d_transposed, unbiased
from attncalc.mistakes.rotary import IN_ATTENTION
from attncalc.mistakes.several_heads import HEADS, QK_NORM, SINK


def _normed(s: Scope) -> Node:
    """The skip path behind the norm in place of before it."""
    layer, number = s.step.args["group"], s.step.args["name"][-1]
    norm = "/".join(filter(None, (layer, f"norm{number}"))), "output"
    if s.options["norm_at"] == "after" or norm not in s.known:
        raise NotThere("norm")
    return s.known[norm] + parts(s.this, "add")[1]


def _through_a_norm(back: Callable[[Scope, str], Node]) -> Callable[[Scope], Node]:
    """The gradient of a sum, by what the norm behind it is taken to give `back`, beside what goes past the norm."""

    def rule(s: Scope) -> Node:
        terms = parts(s.this, "add")
        [centered] = [term for term in terms if term.op == "step" and term.key[1] == "grad_centered"]
        norm = centered.key[0]
        through = centered, s.known[norm, "grad_mean"]
        past = [term for term in terms if not {term, *term.sources}.intersection(through)]
        return reduce(add, [*past, back(s, norm)])

    return rule


_MEAN_HELD = _through_a_norm(lambda s, norm: s.known[norm, "grad_centered"])
_STATISTICS_HELD = _through_a_norm(
    lambda s, norm: s.known[norm, "grad_normalized"] / s.known[norm, "standard_deviation"]
)
_SUMS = "grad_residual1 grad_residual2 grad_residual3 grad_x"
BACKWARD = (
    wrong("dln-mean-fixed", _SUMS, _MEAN_HELD, says=MEAN_HELD, hint=WHAT_ELSE),
    wrong("dln-statistics-fixed", _SUMS, _STATISTICS_HELD, says=STATISTICS_HELD, hint=WHAT_ELSE),
)
"""Mistakes of the backward pass through a norm, where its input is the sum that goes past the next part as well."""

RESIDUALS = ("residual1 residual2 residual3", "residual1", "residual2", "residual3")
"""The residual sums of a layer: all of them, and each by itself."""
JOINS = (
    *(
        wrong(
            "block-pre-for-post",
            options=options,
            says="the norm before each part in place of after each sum, or the other way round",
            hint="Is what goes past each part normalised as well?",
            kind="convention",
        )
        for options in (
            chosen(norm={"post": "pre", "pre": "post"}),
            chosen(norm_at={"post": "pre", "pre": "post"}),
            chosen(norm={"rms": "rms", "layer": "layer"}, norm_at={None: "post"}),
        )
    ),
    *(
        wrong(
            "block-residual-from-normed",
            sums,
            _normed,
            says="LN(x) + F(LN(x))",
            hint="What goes past the part: x, or its normalised form?",
        )
        for sums in RESIDUALS
    ),
    *(
        wrong(
            "block-no-residual",
            sums,
            lambda s: parts(s.this, "add")[1],
            says="F(LN(x)) alone",
            hint="Where did x go?",
        )
        for sums in RESIDUALS
    ),
)

LATER = (
    PLUS_ONE,
    wrong(
        "block-not-parallel",
        options=chosen(parallel={True: False}),
        says="the parts one after the other, not side by side",
        hint="What does the feed-forward network of this layer see: its input, or what attention made of it?",
    ),
    wrong(
        "residual-scale-missing",
        options={"residual_scale": 1},
        says="what the parts find is added as it is, not scaled",
        hint="How much of a part's result does this model add?",
    ),
    wrong(
        "block-pre-for-after",
        options=chosen(norm_at={"after": "pre"}),
        says="the norm before each part in place of behind it",
        hint="Is it what goes into a part that this model normalises, or what comes out?",
        kind="convention",
    ),
    wrong(
        "norm-layer-for-rms",
        options=chosen(norm={"rms": "layer"}),
        says="a layer norm in place of an RMS norm",
        hint="Does this model's norm subtract a mean?",
        kind="convention",
    ),
)
"""Mistakes with what later models changed in a layer."""


def unbiased_in(attention: str) -> tuple[Mistake, ...]:
    """Each projection of a layer without its bias; the layer's attention has that name."""
    return tuple(
        wrong(
            "bias-missing",
            at,
            unbiased,
            says="without its bias",
            hint="Which of the projections of this model have a bias?",
        )
        for at in (
            *(f"{attention}/{name}" for name in ("q", "k", "v", "output")),
            *(f"feed-forward/{name}" for name in ("hidden", "output")),
        )
    )


def transposed_in(*attentions: str) -> Mistake:
    """All matrices of a layer that lie the other way."""
    within = [f"{attention}/{name}" for attention in attentions for name in ("q", "k", "v", "output")]
    return conv1d_transposed(" ".join((*within, *(f"feed-forward/{name}" for name in ("hidden", "linear", "output")))))


OWN = (*CORE, *MASKS, *BIASES, *IN_ATTENTION, *SEEN, *HEADS, SINK)
ONCE = tuple(mistake for mistake in (*SEEN, *IN_ATTENTION) if mistake.options)
"""Mistakes of a layer's self-attention that are options of the layer."""


def of_layer(numbers: str, *attentions: str, beside: Sequence[str] = ()) -> tuple[Mistake, ...]:
    """The mistakes of a layer with norms of these numbers and attentions of these names, its own one first.

    Norms that stand `beside` those of its parts are computed alike.
    """
    norms = [*(f"norm{number}" for number in numbers), *beside]
    return (
        *JOINS,
        *ACTIVATION,
        *inside(GATES, "feed-forward"),
        *LATER,
        *unbiased_in(attentions[0]),
        *inside(OWN, *attentions),
        transposed_in(*attentions),
        *QK_NORM,
        *ONCE,
        *inside(LAYER, *norms),
        *inside((*RMS, NO_GAIN), *norms),
        *inside(GRADIENTS, *attentions),
        *inside(OF_EACH_NORM, *norms),
        *BACKWARD,
        *another_epsilon("ln"),
    )


def without_nils(mistakes: tuple[Mistake, ...]) -> tuple[Mistake, ...]:
    """The mistakes without one that needs scores of 0: behind a norm they hardly are."""
    return tuple(mistake for mistake in mistakes if mistake.id != "att-exp-zero-is-0")
