"""The mistakes of optimisers: the correction, ε, decay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import absolute, sqrt

START = "The moments start at 0. Are they fair averages at t = 1?"
GROWS = "What grows with t in the correction?"
EPSILON = "Where does ε stand, under the root or beside it?"


def _corrected(divisor: Callable[[Node, int], Node]) -> Callable[[Scope], Node]:
    """The moments with another correction, a function of β and of the step's number."""

    def rule(s: Scope) -> Node:
        moment, _ = parts(s.this, "div")
        beta = s.options["beta1" if s.step.args["name"] == "first_corrected" else "beta2"]
        t = int(s.step.args["group"].rpartition(" ")[2])
        return moment / divisor(as_node(beta), t)

    return rule


def _from_zero(beta: Node, t: int) -> Node:
    if t == 1:
        return as_node(0)
    return 1 - beta ** (t - 1)


def _moved(s: Scope, way: Node) -> Node:
    rate: float = s.options["lr"]
    return -(rate * way)


def _adam(s: Scope) -> tuple[Node, Node, float]:
    """The corrected moments and ε, of Adam without decay."""
    if s.options["kind"] not in ("adam", "adamw") or s.options["weight_decay"]:
        raise NotThere("adam")
    return s.first_corrected, s.second_corrected, s.options["eps"]


def _absolute(s: Scope) -> Node:
    past, new = parts(s.this, "add")
    share, squares = parts(new, "mul")
    return past + share * absolute(parts(squares, "pow")[0])


def _whole_gradient(s: Scope) -> Node:
    past, new = parts(s.this, "add")
    return past + parts(new, "mul")[1]


def _swapped(given: Mapping[str, Any]) -> dict[str, float]:
    if given["kind"] not in ("adam", "adamw"):
        raise NotThere("adam")
    return {"beta1": given["beta2"], "beta2": given["beta1"]}


def _decayed_by_all(s: Scope) -> Node:
    move, decay = parts(s.this, "sub")
    if not s.options["lr"]:
        raise NotThere("lr")
    return move - parts(decay, "mul")[1]


def _ratio(s: Scope) -> Node:
    """1/√(1 − β₂ᵗ): by how much √v̂ is larger than √v."""
    return 1 / sqrt(parts(s.second_corrected, "div")[1])


ADAM = (
    wrong(
        "adam-no-bias",
        "first_corrected second_corrected",
        lambda s: parts(s.this, "div")[0],
        says="m and v without the correction",
        hint=START,
    ),
    wrong(
        "adam-bias-no-power",
        "first_corrected second_corrected",
        _corrected(lambda beta, t: 1 - beta),
        says="divided by 1 − β in every step",
        hint=GROWS,
    ),
    wrong(
        "adam-t-from-0",
        "first_corrected second_corrected",
        _corrected(_from_zero),
        says="steps counted from 0",
        hint="What is t in the first step?",
    ),
    wrong(
        "adam-t-plus-1",
        "first_corrected second_corrected",
        _corrected(lambda beta, t: 1 - beta ** (t + 1)),
        says="t is one too large",
        hint="What is t in the first step?",
    ),
    wrong(
        "adam-eps-inside",
        "update",
        lambda s: _moved(s, _adam(s)[0] / sqrt(_adam(s)[1] + _adam(s)[2])),
        says="√(v̂ + ε): ε under the root",
        hint=EPSILON,
    ),
    wrong(
        "adam-eps-hat",
        "update",
        lambda s: _moved(s, _adam(s)[0] / (sqrt(_adam(s)[1]) + _adam(s)[2] * _ratio(s))),
        says="ε beside the uncorrected √v",
        hint="Is ε added before the correction, or after it?",
        kind="convention",
    ),
    wrong(
        "adam-no-sqrt",
        "update",
        lambda s: _moved(s, _adam(s)[0] / (_adam(s)[1] + _adam(s)[2])),
        says="m̂/(v̂ + ε): no root",
        hint="In what unit is v: that of the gradient, or its square?",
    ),
    wrong(
        "adam-v-abs",
        "second_moment",
        _absolute,
        says="v averages |g| in place of g²",
        hint="In what unit is v: that of the gradient, or its square?",
    ),
    wrong(
        "adam-betas-swapped",
        options=_swapped,
        says="β₁ and β₂ are swapped",
        hint="Which moment remembers longer?",
    ),
    wrong(
        "adam-m-no-1mb",
        "first_moment",
        _whole_gradient,
        says="m = β₁m + g",
        hint="How much does a new gradient weigh in a running mean?",
    ),
    wrong(
        "adamw-l2",
        options=chosen(kind={"adamw": "adam"}),
        says="the decay λθ is added to the gradient",
        hint="Is the decay divided by √v?",
    ),
    wrong(
        "adamw-decay-no-lr",
        "update",
        _decayed_by_all,
        says="−λθ without the learning rate",
        hint="Is the decay scaled by the learning rate?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"optimizer": ADAM}
"""Calculation → its mistakes, the commonest first."""
