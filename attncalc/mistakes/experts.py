"""Mistakes of experts: which ones are chosen, how much each counts, and when the softmax is taken."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, chosen, wrong
from attncalc.mistakes.projections import ACTIVATION, CLAMPS, GATES, OF_EXPERTS, gates_unscaled, no_bias

WHOLE = "Do the gates of a token share a whole in this model?"

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "experts": (
        # torchtitan's issue 1448
        wrong(
            "experts-not-renormalised",
            options=chosen(no_renormalise={False: True}),
            says="the probabilities of those chosen, as they are",
            hint=WHOLE,
            kind="convention",
        ),
        wrong(
            "experts-softmax-before-topk",
            options=chosen(no_renormalise={False: True}),
            says="the probabilities of those chosen, as they are",
            hint=WHOLE,
            kind="convention",
            alias_of="experts-not-renormalised",
        ),
        # mlxcel's pull request 391: the shares of the chosen always sum to 1
        wrong(
            "experts-softmax-after-topk",
            options=chosen(no_renormalise={True: False}),
            says="the gates of those chosen share a whole",
            hint=WHOLE,
            kind="convention",
        ),
        *OF_EXPERTS,
        gates_unscaled("routed_scale"),
        wrong(
            "experts-capacity-ignored",
            options={"capacity": None},
            says="no expert turns a token away",
            hint="How many tokens has an expert room for?",
        ),
        *GATES,
        *CLAMPS,
        *ACTIVATION,
        no_bias("logits hidden expert_outputs"),
    ),
}
"""Calculation → its mistakes, the commonest first."""
