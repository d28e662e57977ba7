"""Mistakes of optimisers: the bias correction, ε, weight decay; what Lion and Muon make of the momentum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attncalc.declare.mistake import Mistake, NotThere, Options, Scope, chosen, parts, replaced, until_steps, wrong
from attncalc.language.graph import Node, as_node, walk
from attncalc.language.ops import absolute, sign, sqrt
from attncalc.mistakes.updates import TAKEN_AWAY

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


def _divided(divisor: Callable[[Scope, Node, float], Node]) -> Callable[[Scope], Node]:
    """Adam's update with m̂ over something else, a function of v̂ and ε."""

    def rule(s: Scope) -> Node:
        update = s.when("kind", "adam", "adamw").this
        (ratio,) = [node for node in walk(update, into=until_steps) if node.op == "div"]
        return replaced(update, ratio, s.first_corrected / divisor(s, s.second_corrected, s.options["eps"]))

    return rule


def _absolute(s: Scope) -> Node:
    past, new = parts(s.this, "add")
    share, squares = parts(new, "mul")
    return past + share * absolute(parts(squares, "pow")[0])


def _whole_gradient(s: Scope) -> Node:
    past, new = parts(s.when("kind", "adam", "adamw").this, "add")
    return past + parts(new, "mul")[1]


def _betas_swapped(*kinds: str) -> Options:
    def change(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if given["kind"] not in kinds:
            raise NotThere(*kinds)
        return {"beta1": given["beta2"], "beta2": given["beta1"]}

    return change


def _decayed_by_all(s: Scope) -> Node:
    move, decay = parts(s.this, "sub")
    if not s.options["lr"]:
        raise NotThere("lr")
    return move - parts(decay, "mul")[1]


def _ratio(s: Scope) -> Node:
    """1/√(1 − β₂ᵗ): by how much √v̂ is larger than √v."""
    return 1 / sqrt(parts(s.second_corrected, "div")[1])


def _decayed_gradient(s: Scope) -> Node:
    """Lion with the decay in what the blend is made of, so that it changes signs."""
    if s.options["kind"] != "lion" or not s.options["weight_decay"]:
        raise NotThere("lion")
    if s.step.args["name"] == "update":
        return parts(s.this, "sub")[0]
    past, new = parts(s.this, "add")
    share, gradient = parts(new, "mul")
    _, decay = parts(s.due("update"), "sub")
    return past + share * (gradient + parts(decay, "mul")[1])


def _lion(s: Scope, way: Callable[[Node], Node]) -> Node:
    """Lion's move with something else in the place of the blend's sign."""
    moved = parts(s.when("kind", "lion").this, "sub")[0] if s.options["weight_decay"] else s.this
    (direction,) = [node for node in walk(moved, into=until_steps) if node.op == "sign"]
    return replaced(s.this, direction, way(s.blend))


def _of_three(s: Scope) -> Node:
    """The iteration of Newton and Schulz itself, (3·X − XXᵀX)/2, which settles at 1."""
    number = int(s.step.args["name"].removeprefix("iterate_"))
    before: Node = getattr(s, f"iterate_{number - 1}")
    cube: Node = getattr(s, f"cube_{number}")
    return 1.5 * before - 0.5 * cube


def _not_scaled(s: Scope) -> Node:
    """Muon's move without the root of rows over columns, which only a tall matrix has."""
    (scaled,) = [node for node in walk(s.this, into=until_steps) if node.op == "mul" and node.sources[1] is s.tall]
    return replaced(s.this, scaled, s.tall)


LION = (
    # bitsandbytes' issue 1992
    wrong(
        "lion-l2",
        "blend first_moment update",
        _decayed_gradient,
        says="the decay λθ is added to the gradient",
        hint="Does the decay go through the sign?",
    ),
    wrong(
        "lion-no-sign",
        "update",
        lambda s: _lion(s, lambda blend: blend),
        says="the blend itself, not its sign",
        hint="How long is lion's step in a coordinate whose gradient is small?",
    ),
    wrong(
        "lion-new-momentum",
        "update",
        lambda s: _lion(s, lambda blend: sign(s.first_moment)),
        says="the sign of m, which has already taken the gradient in",
        hint="Which comes first, the step or the memory?",
    ),
    wrong(
        "lion-betas-swapped",
        options=_betas_swapped("lion"),
        says="β₁ and β₂ are swapped",
        hint="Which fades more slowly, what is remembered or what the step is made of?",
    ),
)

MUON = (
    wrong(
        "muon-no-nesterov",
        "blend",
        lambda s: s.when("kind", "muon").first_moment,
        says="m itself is made orthogonal",
        hint="How much does this step's gradient weigh?",
        kind="convention",
    ),
    wrong(
        "muon-not-normalised",
        "iterate_0",
        lambda s: parts(s.this, "div")[0],
        says="not divided by its size before the iterations",
        hint="How large may a singular value be, for the iterations to settle?",
    ),
    wrong(
        "muon-cubic",
        "iterate_1 iterate_2 iterate_3 iterate_4 iterate_5",
        _of_three,
        says="1.5·X − 0.5·XXᵀX in place of the quintic",
        hint="How many powers of s do the coefficients a, b, c weigh?",
    ),
    wrong(
        "muon-no-scale",
        "update",
        _not_scaled,
        says="√(rows/columns) left out",
        hint="Is a tall matrix moved as far as a wide one?",
    ),
)

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
        _divided(lambda s, v, eps: sqrt(v + eps)),
        says="√(v̂ + ε): ε under the root",
        hint=EPSILON,
    ),
    wrong(
        "adam-eps-hat",
        "update",
        _divided(lambda s, v, eps: sqrt(v) + eps * _ratio(s)),
        says="ε beside the uncorrected √v",
        hint="Is ε added before the correction, or after it?",
        kind="convention",
    ),
    wrong(
        "adam-no-sqrt",
        "update",
        _divided(lambda s, v, eps: v + eps),
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
        options=_betas_swapped("adam", "adamw"),
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

MISTAKES: dict[str, tuple[Mistake, ...]] = {"optimizer": (*ADAM, *LION, *MUON, TAKEN_AWAY)}
"""Calculation → its mistakes, the commonest first."""
