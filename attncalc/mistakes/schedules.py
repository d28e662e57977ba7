"""Mistakes of learning-rate schedules: where counting starts, which branch is taken, how long the decay is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from attncalc.declare.mistake import Mistake, NotThere, Scope, parts, replaced, wrong
from attncalc.language.graph import Node, as_node, rewrite, walk
from attncalc.language.ops import keep_where, maximum, minimum

WIDER = "Does a wider model take longer steps?"


def _rate(s: Scope) -> Node:
    """A step's expression without the factor in front."""
    return s.this if s.options["lr"] == 1 else parts(s.this, "mul")[1]


def _of_the_rate(rule: Callable[[Scope], Node]) -> Callable[[Scope], Node]:
    """The whole step, of a rule for the rate alone."""
    return lambda s: replaced(s.this, _rate(s), rule(s))


def _noam(s: Scope) -> tuple[Node, Node, Node, Node]:
    """d^(−1/2), s^(−1/2), s and warmup^(−3/2)."""
    width, smaller = parts(_rate(s), "mul")
    late, early = parts(smaller, "minimum")
    steps, warm = parts(early, "mul")
    return width, late, steps, warm


@_of_the_rate
def _warmed(s: Scope) -> Node:
    width, late, steps, warm = _noam(s)
    count = parts(warm, "pow")[0]
    return width * minimum(late, steps * count ** -Fraction(1, 2))


@_of_the_rate
def _from_step_zero(s: Scope) -> Node:
    width, _, steps, warm = _noam(s)
    before = steps - 1
    return width * minimum(before ** -Fraction(1, 2), before * warm)


@_of_the_rate
def _grown(s: Scope) -> Node:
    width, _, _, _ = _noam(s)
    return parts(width, "pow")[0] ** Fraction(1, 2) * parts(_rate(s), "mul")[1]


@_of_the_rate
def _larger(s: Scope) -> Node:
    width, late, steps, warm = _noam(s)
    return width * maximum(late, steps * warm)


NOAM = (
    wrong("noam-step0", "lr", _from_step_zero, says="steps counted from 0", hint="What is 0^(−1/2)?"),
    wrong(
        "noam-max",
        "lr",
        _larger,
        says="the larger of the two branches",
        hint="Which branch is smaller during the warm-up?",
    ),
    wrong(
        "noam-w05", "lr", _warmed, says="step·warmup^(−1/2)", hint="Do the two branches meet at the end of the warm-up?"
    ),
    wrong("noam-dplus", "lr", _grown, says="d_model^(+1/2)", hint=WIDER),
    wrong(
        "noam-no-d",
        "lr",
        _of_the_rate(lambda s: parts(_rate(s), "mul")[1]),
        says="without d_model^(−1/2)",
        hint=WIDER,
    ),
)


def _from_0(s: Scope) -> Node:
    this = s.when("kind", "cosine", "linear", "constant", "wsd").this
    [earlier] = rewrite([this], lambda node: node - 1 if node.op == "constants" else None)
    return earlier


def _warm_up(s: Scope) -> Node:
    """The share of the warm-up that is over."""
    if s.options["kind"] == "noam" or not s.options["warmup"]:
        raise NotThere("a straight warm-up")
    return next(node for node in walk(s.this) if node.op == "div" and node.sources[0].op == "constants")


def _one_step_longer(s: Scope) -> Node:
    climb = _warm_up(s)
    step, warmup = parts(climb, "div")
    return replaced(s.this, climb, step / (warmup + 1))


@_of_the_rate
def _down_from_0(s: Scope) -> Node:
    warmup = _warm_up(s.when("kind", "cosine", "linear")).sources[1].args
    rising, climb, after = parts(_rate(s), "where")
    [moved] = rewrite([after], lambda node: as_node(0) if node.op == "size" and node.args == warmup else None)
    return keep_where(rising, climb, moved)


def _share_of_all(s: Scope) -> Node:
    gone = next(node for node in walk(s.when("kind", "wsd").this) if node.op == "div" and node.sources[0].op == "sub")
    since, _ = parts(gone, "div")
    return replaced(s.this, gone, since / parts(parts(since, "sub")[1], "sub")[0])


def _constant(given: Mapping[str, Any]) -> dict[str, Any]:
    if given["kind"] != "wsd":
        raise NotThere("wsd")
    return {"kind": "constant", "decay": None}


STRAIGHT = (
    # gpt-neox's pull request 1379, verl's issue 3674: the first step changes no weight
    wrong(
        "schedule-from-0",
        "lr",
        _from_0,
        says="step − 1 in place of step",
        hint="Does the first step change anything?",
        kind="convention",
    ),
    # torchtitan's issue 1213: the highest rate is not the one that was asked for
    wrong(
        "schedule-warmup-longer",
        "lr",
        _one_step_longer,
        says="step / (warmup + 1) in place of step / warmup",
        hint="Which rate does the last step of the warm-up have?",
    ),
    # transformers' pull request 4940, fairchem's 1967: the rate drops at the end of the warm-up
    wrong(
        "schedule-down-from-0",
        "lr",
        _down_from_0,
        says="the way down is measured from step 0",
        hint="Do the two branches meet at the end of the warm-up?",
    ),
    # lingua's issue 72: the decay has hardly begun when training ends
    wrong(
        "wsd-share-of-all",
        "lr",
        _share_of_all,
        says="(step − (steps − decay)) / steps in place of (step − (steps − decay)) / decay",
        hint="Which share of the way down is over at the last step?",
    ),
    # surogate's issue 32
    wrong("wsd-stays", options=_constant, says="it never comes down", hint="What does the d of wsd stand for?"),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"schedule": (*NOAM, *STRAIGHT)}
"""Calculation → its mistakes, the commonest first."""
