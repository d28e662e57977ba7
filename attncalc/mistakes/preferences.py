"""Mistakes of losses that compare: one direction of two, a temperature, a reference, a clip on the wrong side."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, Scope, alternative, chosen, parts, remade, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import log, maximum, mean, sigmoid, sqrt, total
from attncalc.mistakes.cross_entropy import to_base

HOW_LOW = "What does a low temperature do to small leads?"
TOWARDS = "Towards which answer is the policy to move?"
AS_WHAT = "How likely was that answer before anything was learned?"
TOO_FAR = "What does a step too far earn?"
TOGETHER = "Is that the loss of all pairs together, or of one on average?"


CONTRASTIVE = (
    wrong(
        "clip-one-way",
        options=chosen(kind={"clip": "infonce"}),
        says="from a to b alone",
        hint="Who else looks for a partner?",
        kind="convention",
    ),
    # train-CLIP's pull request 3
    wrong(
        "clip-not-normalised",
        options=chosen(raw={False: True}),
        says="dot products in place of cosines",
        hint="Should a longer row be more like all others?",
    ),
    wrong(
        "clip-temperature-multiplied", "logits", remade("div", lambda z, t: z * t), says="multiplied by τ", hint=HOW_LOW
    ),
    wrong("clip-no-temperature", "logits", lambda s: s.similarities, says="τ left out", hint=HOW_LOW),
    wrong(
        "clip-sum",
        "loss_a loss_b",
        remade("mean", total),
        says="the sum over the pairs in place of their mean",
        hint=TOGETHER,
        kind="convention",
    ),
    *(to_base(base, "log_shares_a log_shares_b") for base in (2, 10)),
)


def _without_reference(s: Scope) -> Node:
    beta, _ = parts(s.this, "mul")
    return beta * (s.chosen - s.rejected)


PREFERENCES = (
    alternative("dpo-by-sigmoid", "losses", lambda s: -log(sigmoid(s.margins)), says="−ln σ(margin)"),
    # Liger-Kernel's pull request 387
    wrong(
        "dpo-no-reference",
        "margins",
        _without_reference,
        says="the reference left out",
        hint=AS_WHAT,
    ),
    wrong(
        "dpo-no-reference",
        "log_ratios_chosen log_ratios_rejected",
        remade("sub", lambda policy, _: policy),
        says="the reference left out",
        hint=AS_WHAT,
    ),
    wrong("dpo-no-beta", "margins", lambda s: parts(s.this, "mul")[1], says="β left out", hint=AS_WHAT),
    wrong("dpo-swapped", "margins", lambda s: -s.this, says="the rejected in place of the chosen", hint=TOWARDS),
    *(to_base(base, "losses") for base in (2, 10)),
    wrong(
        "dpo-sum",
        "loss",
        remade("mean", total),
        says="the sum over the pairs in place of their mean",
        hint=TOGETHER,
        kind="convention",
    ),
    wrong("ppo-no-clip", "kept", lambda s: s.gained, says="the ratio is not clipped", hint=TOO_FAR),
    wrong("ppo-clip-only", "kept", lambda s: s.bounded, says="the clipped ratio alone", hint="Which of two is kept?"),
    # baselines' issue 1156 and rsl_rl's 46, which ask why it is not so
    wrong("ppo-max", "kept", lambda s: maximum(s.gained, s.bounded), says="the larger of the two", hint=TOO_FAR),
    wrong("ppo-log-ratio", "ratios", lambda s: s.new - s.old, says="ln r in place of r", hint="What is r for equals?"),
    # tinker-cookbook's issue 579
    wrong(
        "grpo-no-deviation",
        "advantages",
        lambda s: s.centred,
        says="not divided by the deviation",
        hint="How far apart are the rewards of this group?",
        kind="convention",
    ),
    wrong(
        "grpo-population",
        "deviation",
        lambda s: sqrt(mean(s.centred**2)),
        says="the deviation of a whole population, not of a sample",
        hint="Does the deviation divide by n, or by one less?",
        kind="convention",
    ),
    wrong("grpo-no-mean", "centred", lambda s: s.rewards, says="the mean is not taken off", hint="Better than what?"),
    wrong(
        "grpo-kl-plain",
        "divergences",
        lambda s: -s.gaps,
        says="ln π/π_ref in place of its estimate",
        hint="Can a divergence be negative?",
        kind="convention",
    ),
    wrong("preference-sign", "loss", lambda s: -s.this, says="the sign of the loss", hint=TOWARDS),
)
MISTAKES: dict[str, tuple[Mistake, ...]] = {"contrastive-loss": CONTRASTIVE, "preference-loss": PREFERENCES}
