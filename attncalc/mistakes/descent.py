"""Mistakes of gradient descent: the direction, the slope, the number of updates."""

from __future__ import annotations

from attncalc.declare.mistake import Mistake, NotThere, Scope, another, wrong
from attncalc.language.graph import Node
from attncalc.mistakes.updates import TAKEN_AWAY


def _plain_descent(s: Scope) -> Scope:
    """Where the update is −lr times the gradient."""
    return s.when("optimizer", "gd").when("weight_decay", 0)


def _start_again(s: Scope) -> Node:
    """The start as the point of iteration 1 too, so that every point from there on is the one before it."""
    _plain_descent(s)
    if s.step.args["group"] != "iteration 1":
        raise NotThere("the first update")
    return s.known["iteration 0", "point"]


def _ahead(s: Scope) -> Node:
    """The point of iteration 1 as that of iteration 0, so that every point from there on is the one behind it."""
    _plain_descent(s)
    if s.step.args["group"] != "iteration 0":
        raise NotThere("the start")
    return s.due("point", "iteration 1")


def _height(s: Scope) -> Node:
    if s.value.axes != s.this.axes:
        raise NotThere("one variable")
    return s.value


COUNTED = "Is iteration 0 the start, or an update?"
DESCENT = (
    wrong("gd-sign", "update", lambda s: -_plain_descent(s).this, says="x + α·f′(x)", hint="Did f go down?"),
    wrong("gd-f-for-fprime", "gradient", _height, says="α·f(x)", hint="Is that the slope, or the height?"),
    wrong(
        "gd-no-2",
        "gradient",
        lambda s: s.this / 2,
        says="half the slope: x for 2x",
        hint="What is the slope of a square?",
    ),
    *(
        wrong("gd-off-by-one", options=another("steps", change), says=f"one update {more}", hint=COUNTED)
        for change, more in ((lambda there: there + 1, "more"), (lambda there: there - 1, "fewer"))
    ),
    wrong(
        "gd-off-by-one",
        "point",
        _start_again,
        says="iteration 1 is the start, and every point one update late",
        hint=COUNTED,
    ),
    wrong(
        "gd-off-by-one",
        "point",
        _ahead,
        says="one update more at every point, as if iteration 0 were the first",
        hint=COUNTED,
    ),
    wrong(
        "gd-frozen",
        "gradient",
        lambda s: s.known.get(("iteration 0", "gradient"), s.this),
        says="the slope at the start, for every step",
        hint="At which point is the slope of this step taken?",
    ),
    wrong(
        "gd-no-lr",
        "update",
        lambda s: _plain_descent(s).this / s.options["lr"],
        says="x − f′(x)",
        hint="How long is a step?",
    ),
)

MISTAKES: dict[str, tuple[Mistake, ...]] = {"descend": (*DESCENT, TAKEN_AWAY)}
"""Calculation → its mistakes, the commonest first."""
