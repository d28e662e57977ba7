"""Losses that compare: matching pairs with others, a preferred answer with another, a policy with an old one."""

from __future__ import annotations

from typing import Annotated, Literal

from attncalc.calculations.similarity import unit_rows
from attncalc.common.errors import OptionError, ShapeError, both
from attncalc.declare.calculation import at_most, calculation, same
from attncalc.declare.operands import ABOVE_0, FROM_0_ON, Exercise, With
from attncalc.language.axes import describe, find
from attncalc.language.graph import Node, constant, step
from attncalc.language.ops import exp, index, log_softmax, maximum, mean, minimum, select, softplus, sqrt, total


@calculation(
    a="n d",
    b="m d",
    laws={
        "a and b may change places": lambda f, a: same(f(a, 2 * a[::-1]), f(2 * a[::-1], a)),
        "with cosines the lengths do not count": lambda f, a, c: same(f(a, abs(c) * a + a), f(a, a)) if c else True,
    },
    reference="van den Oord et al. 2018, Representation Learning with Contrastive Predictive Coding, eq. 4; "
    "Radford et al. 2021, Learning Transferable Visual Models From Natural Language Supervision, figure 3",
    exercise=Exercise(sizes={"n": 3, "m": 3, "d": 2}),
)
def contrastive_loss(
    A: Annotated[Node, "one side of each pair, a row each: pictures, or queries"],
    B: Annotated[Node, "the other side, in the same order: texts, or what is to be found"],
    *,
    temperature: Annotated[float, "what similarities are divided by", ABOVE_0] = 0.07,
    kind: Annotated[Literal["clip", "infonce"], "clip: both ways; infonce: from a to b alone"] = "clip",
    raw: Annotated[bool, "dot products in place of cosines"] = False,
) -> Node:
    """How well each row finds the one that it belongs to among all the others.

    Row i of a belongs to row i of b. Each row of similarities is a guess among all the b's, of which the one in its
    own place is right: the mean of −ln softmax(sim(a, b)/τ) there. CLIP takes the mean of that and the same the other
    way round; 0.07 is where its temperature starts.
    """
    if A.shape[-2] != B.shape[-2]:
        raise ShapeError(f"a is {describe(A.axes)} and b is {describe(B.axes)}, but pairs have two sides each")
    if not raw:
        A = step("unit_a", unit_rows(A), "only directions are compared")
        B = step("unit_b", unit_rows(B), "lengths would let a long row be like all others")
    similarities = step("similarities", A @ B.T, "every a with every b: pairs that belong together are on the diagonal")
    logits = step(
        "logits",
        similarities / constant(temperature, "tau", "temperature"),
        "a low temperature makes small leads large",
    )
    loss = _found(logits, "a", "n", "m", "every row asks: which b is mine?")
    if kind == "infonce":
        return step("loss", loss, "one way alone: no b asks for its a")
    other = _found(logits, "b", "m", "n", "every column asks: which a is mine?")
    return step("loss", (loss + other) / 2, "both ways count the same")


def _found(logits: Node, side: str, own: str, over: str, why: str) -> Node:
    """The mean surprise of one side at its own partners."""
    logs = step(f"log_shares_{side}", log_softmax(logits, over=over), why)
    right = select(logs, index(own, (find(logs.axes, own),), "i"), over)
    partner = "only the partner, on the diagonal, counts; the others are there to be told from it"
    losses = step(f"losses_{side}", -right, partner)
    return step(f"loss_{side}", mean(losses), "the mean over all pairs")


@calculation(
    chosen="n",
    rejected="n",
    ref_chosen="n",
    ref_rejected="n",
    new="n",
    old="n",
    ref="n",
    advantages="n",
    rewards="n",
    laws={
        "dpo: a policy that is the reference learns ln 2": lambda f, chosen: same(
            f(chosen, 2 * chosen, ref_chosen=chosen, ref_rejected=2 * chosen), 0.6931471805599453
        ),
        "ppo: the first step from the old policy has the ratio 1": lambda f, chosen: same(
            f(kind="ppo", new=chosen, old=chosen, advantages=chosen), -chosen.mean()
        ),
        "grpo: the group's advantages have the mean 0": lambda f, chosen: at_most(
            abs(f(kind="grpo", new=chosen, old=chosen, ref=chosen, rewards=chosen)["advantages"].mean()), 1e-9
        ),
    },
    reference="Rafailov et al. 2023, Direct Preference Optimization, eq. 7; Schulman et al. 2017, Proximal Policy "
    "Optimization Algorithms, eq. 7; Shao et al. 2024, DeepSeekMath, eq. 3 and 4",
)
def preference_loss(
    chosen: Annotated[Node | None, "dpo: ln π(answer) of each answer that was preferred"] = None,
    rejected: Annotated[Node | None, "dpo: of the one that was not"] = None,
    chosen_0: Annotated[Node | None, "dpo: of the preferred ones under the reference"] = None,
    rejected_0: Annotated[Node | None, "dpo: of the others under the reference"] = None,
    new: Annotated[Node | None, "ppo, grpo: ln π of each answer (or token) under the policy that learns"] = None,
    old: Annotated[Node | None, "ppo, grpo: under the policy that wrote it"] = None,
    ref: Annotated[Node | None, "grpo: under the reference, from which it is not to drift"] = None,
    advantages: Annotated[Node | None, "ppo: how much better each was than expected"] = None,
    rewards: Annotated[Node | None, "grpo: the rewards of a group of answers to one question"] = None,
    *,
    kind: Annotated[Literal["dpo", "ppo", "grpo"], "the loss"] = "dpo",
    beta: Annotated[
        float | None, "how strongly the reference holds: dpo 0.1, grpo 0.04", With(("kind=dpo", "kind=grpo"))
    ] = None,
    clip: Annotated[
        float, "ppo, grpo: ratios count between 1 − ε and 1 + ε", ABOVE_0, With(("kind=ppo", "kind=grpo"))
    ] = 0.2,
    eps: Annotated[float, "grpo: added to the group's deviation", FROM_0_ON, With(("kind=grpo",))] = 1e-4,
) -> Node:
    """What a language model learns from being preferred, or from being rewarded.

    dpo: the mean of −ln σ(β·(ln π/π_ref of the chosen − ln π/π_ref of the rejected)). ppo: minus the mean of
    min(r·A, clip(r, 1 − ε, 1 + ε)·A) with r = π/π_old. grpo: the same, where an answer's advantage is its reward less
    the group's mean, divided by the group's deviation (of a sample, as TRL takes it) plus a small number; β times an
    estimate of the divergence from the reference is taken off.
    """
    given = {
        "chosen": chosen,
        "rejected": rejected,
        "ref_chosen": chosen_0,
        "ref_rejected": rejected_0,
        "new": new,
        "old": old,
        "ref": ref,
        "advantages": advantages,
        "rewards": rewards,
    }
    found = _those(kind, given)
    if kind == "dpo":
        return _dpo(found, 0.1 if beta is None else beta)
    now, before, *others = found
    ratio = step("ratios", exp(now - before), "how much more often this is written now than when it was drawn")
    if kind == "ppo":
        return step("loss", -mean(_clipped(ratio, others[0], clip)), "a reward is to grow, a loss is to shrink")
    anchor, reward = others
    centred = step("centred", reward - mean(reward), "better or worse than the other answers to the same question")
    if reward.shape[-1] < 2:
        raise ShapeError("rewards holds one answer, and a group is two or more: nothing is better or worse alone")
    spread = sqrt(total(centred**2) / (reward.size("n") - 1))
    spread = step("deviation", spread, "the group's own spread; the mean was taken from it, so one less is counted")
    gain = centred / (spread + constant(eps, "delta", "eps")) if eps else centred / spread
    gain = step("advantages", gain, "no second model has to foresee rewards: the group tells")
    gap = step("gaps", anchor - now, "positive where the policy has moved away from an answer")
    drift = step("divergences", exp(gap) - gap - 1, "how far the two have come apart; it is never negative")
    kept = _clipped(ratio, gain, clip) - constant(0.04 if beta is None else beta, "beta", "beta") * drift
    return step("loss", -mean(kept), "a reward is to grow, a loss is to shrink")


NEEDED = {
    "dpo": ("chosen", "rejected", "ref_chosen", "ref_rejected"),
    "ppo": ("new", "old", "advantages"),
    "grpo": ("new", "old", "ref", "rewards"),
}


def _those(kind: str, given: dict[str, Node | None]) -> list[Node]:
    """The operands that a kind is made of; an OptionError where one is missing, or another is given."""
    missing = [name for name in NEEDED[kind] if given[name] is None]
    if missing:
        raise OptionError(f"--kind {kind} needs {both(NEEDED[kind])}, but {both(missing)} {_are(missing)} missing")
    idle = [name for name, value in given.items() if value is not None and name not in NEEDED[kind]]
    if idle:
        raise OptionError(f"--kind {kind} is made of {both(NEEDED[kind])}, but {both(idle)} {_are(idle)} given")
    return [value for name in NEEDED[kind] if (value := given[name]) is not None]


def _are(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _dpo(found: list[Node], beta: float) -> Node:
    chosen, rejected, chosen_0, rejected_0 = found
    up = step("log_ratios_chosen", chosen - chosen_0, "how much likelier the answer became than it was")
    down = step("log_ratios_rejected", rejected - rejected_0, "the same of the answer that was not preferred")
    margin = step(
        "margins", constant(beta, "beta", "beta") * (up - down), "the implicit reward of the one, less the other's"
    )
    losses = step("losses", softplus(-margin), "the surprise at what people preferred")
    return step("loss", mean(losses), "the mean over all pairs")


def _clipped(ratio: Node, advantage: Node, clip: float) -> Node:
    """The smaller of what a ratio gains, and what it would gain within the bounds."""
    e = constant(clip, "ε", "clip")
    gained = step("gained", ratio * advantage, "good answers more often, bad ones less")
    held = step("held", minimum(maximum(ratio, 1 - e), 1 + e), "one batch is to change the policy no further")
    bounded = step("bounded", held * advantage, "what would be gained within the bounds")
    return step("kept", minimum(gained, bounded), "the smaller one: a step too far earns nothing, a step back counts")
