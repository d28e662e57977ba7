"""The mistakes of optimisers and schedules: the correction, ε, decay, which branch holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from attncalc.graph import Node, as_node
from attncalc.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.ops import absolute, maximum, minimum, sqrt

START = "The first moment starts at 0: is it then a fair average at t = 1?"
GROWS = "What grows with t in the correction?"
EPSILON = "Where does ε stand, under the root or beside it?"
BRANCH = "Which of the two is smaller during the warm-up?"


def _corrected(divisor: Callable[[float, int], Node | float]) -> Callable[[Scope], Node]:
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
    return -(s.options["lr"] * way)


def _adam(s: Scope) -> tuple[Node, Node, float]:
    """The corrected moments and ε, of Adam without decay."""
    if s.options["kind"] not in ("adam", "adamw") or s.options["weight_decay"]:
        raise NotThere("adam")
    return s.first_corrected, s.second_corrected, s.options["eps"]


def _uncorrected(s: Scope) -> Node:
    m, _, eps = _adam(s)
    return _moved(s, m / (sqrt(s.second_moment) + eps))


def _absolute(s: Scope) -> Node:
    past, new = parts(s.this, "add")
    share, squares = parts(new, "mul")
    return past + share * absolute(parts(squares, "pow")[0])


def _whole_gradient(s: Scope) -> Node:
    past, new = parts(s.this, "add")
    return past + parts(new, "mul")[1]


def _swapped(given: dict[str, float] | object) -> dict[str, float]:
    assert isinstance(given, dict), "options come by their names"
    if given["kind"] not in ("adam", "adamw"):
        raise NotThere("adam")
    return {"beta1": given["beta2"], "beta2": given["beta1"]}


def _decayed_by_all(s: Scope) -> Node:
    move, decay = parts(s.this, "sub")
    if not s.options["lr"]:
        raise NotThere("lr")
    return move - parts(decay, "mul")[1]


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
        says="t one too large",
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
        hint="In what unit is v?",
    ),
    wrong(
        "adam-v-abs",
        "second_moment",
        _absolute,
        says="v of |g| in place of g²",
        hint="In what unit is v?",
    ),
    wrong(
        "adam-betas-swapped",
        options=lambda given: _swapped(dict(given)),
        says="β₁ and β₂ exchanged",
        hint="Which moment remembers longer?",
    ),
    wrong(
        "adam-m-no-1mb",
        "first_moment",
        _whole_gradient,
        says="m = β₁m + g",
        hint="How much does a new gradient count in a running mean?",
    ),
    wrong(
        "adamw-l2",
        options=chosen(kind={"adamw": "adam"}),
        says="the decay λθ added to the gradient",
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


def _ratio(s: Scope) -> Node:
    """1/√(1 − β₂ᵗ): by how much √v̂ is larger than √v."""
    return 1 / sqrt(parts(s.second_corrected, "div")[1])


def _noam(s: Scope) -> tuple[Node, Node, Node, Node]:
    """d^(−1/2), s^(−1/2), s and warmup^(−3/2)."""
    width, smaller = parts(s.this, "mul")
    late, early = parts(smaller, "minimum")
    steps, warm = parts(early, "mul")
    return width, late, steps, warm


def _warmed(s: Scope) -> Node:
    width, late, steps, warm = _noam(s)
    count = parts(warm, "pow")[0]
    return width * minimum(late, steps * count ** -Fraction(1, 2))


def _from_step_zero(s: Scope) -> Node:
    width, _, steps, warm = _noam(s)
    before = steps - 1
    return width * minimum(before ** -Fraction(1, 2), before * warm)


def _grown(s: Scope) -> Node:
    width, _, _, _ = _noam(s)
    return parts(width, "pow")[0] ** Fraction(1, 2) * parts(s.this, "mul")[1]


def _larger(s: Scope) -> Node:
    width, late, steps, warm = _noam(s)
    return width * maximum(late, steps * warm)


NOAM = (
    wrong("noam-step0", "lr", _from_step_zero, says="steps counted from 0", hint="What is 0^(−1/2)?"),
    wrong("noam-max", "lr", _larger, says="the larger of the two", hint=BRANCH),
    wrong(
        "noam-w05", "lr", _warmed, says="s·warmup^(−1/2)", hint="Do the two branches meet at the end of the warm-up?"
    ),
    wrong("noam-dplus", "lr", _grown, says="d_model^(+1/2)", hint="Does a wider model take longer steps?"),
    wrong(
        "noam-no-d",
        "lr",
        lambda s: parts(s.this, "mul")[1],
        says="without d_model^(−1/2)",
        hint="Does a wider model take longer steps?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"optimizer": ADAM, "schedule": NOAM}
"""Calculation → its mistakes, the commonest first."""
