"""Descent: from a point downhill, iteration after iteration, until it settles, diverges or has made its steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from attncalc.axes import Axis
from attncalc.calculation import calculation, operand
from attncalc.calculations.calculus import VARIABLES, Formula, Point, coordinates, listed_by_name
from attncalc.calculations.optimisation import RULES, Kind, Parameters, checked, updated
from attncalc.calculations.positions import at_least
from attncalc.errors import OptionError
from attncalc.expression import Expression
from attncalc.gradient import slopes
from attncalc.graph import Node, as_node, given, letter, note, step
from attncalc.loops import End, Loop
from attncalc.ops import take
from attncalc.program import Values
from attncalc.trace import Trace

SETTLED = 1e-12
"""A descent has settled where slope and update are this small, beside 1 and beside the point."""
FLOW_PARTS = 8
"""The path of dθ/dt = −∇f is followed in so many parts of an iteration."""


def _rose(trace: Trace) -> Iterator[str]:
    """A warning where the descent ends higher than it began, although nothing has overflowed."""
    began, ended = (s.value for s in (trace.steps[1], trace.outputs[1]))
    if trace.warnings or began is None or ended is None or began.dtype.kind != "f":
        return
    if ended > began and ended > abs(began):
        yield (
            f"the descent climbs: f has gone from {began[()]:.6g} to {ended[()]:.6g}; the steps are too long, or f has "
            "no bottom there (a smaller --lr tells)"
        )


@calculation(
    expression=operand("", kind="expression"),
    remarks=_rose,
    reference="Cauchy 1847; Goodfellow, Bengio and Courville 2016, sections 4.3 and 8.3",
)
def descend(
    f: Formula,
    *,
    start: Annotated[Point, "where to begin: x=3,y=1, or 3 where there is one variable"] = None,
    lr: Annotated[float, "the learning rate: how long the steps are"] = 0.1,
    steps: Annotated[int, "how many updates are made, unless it settles before"] = 10,
    optimizer: Annotated[Kind, "how a slope becomes a step"] = "gd",
    p: Annotated[Parameters, ""] = Parameters(),
    flow: Annotated[bool, "beside it the path of ever shorter steps, dθ/dt = −∇f, at the time lr × iteration"] = False,
) -> Loop:
    """Walk downhill from a point, against the slope, step by step.

    θ ← θ + update, and update = −lr·∇f(θ) for gd; the other optimisers as in `optimizer`. Iteration 0 is the start,
    so that the point of iteration k has k updates behind it; every iteration takes the slope anew, at its own point.
    The last one has arrived and makes no update. It stops where the slope is 0 to rounding, and at the last finite
    point where it diverges. The result is the last point, with f there beside it.
    """
    at = coordinates(f, start, "--start")
    at_least(0, steps=steps)
    checked(optimizer, lr, p)
    variables = {name: letter(name, value) for name, value in at.items()}
    alone = len(at) == 1
    point = step("point", _vector([*variables.values()], variables), "where this iteration stands; iteration 0 is the start")
    value = step("value", f.at(variables), "how high it is here: it should fall from one iteration to the next")
    slope = _slope(f, variables)
    uphill = step("gradient", slope, "the slope here, and not the height: it points uphill, and is taken anew every time")
    t = given("t", ())
    memory = {name: given(f"last_{name}", point.axes) for name in RULES[optimizer].memory}
    move, remembered = updated(optimizer, point, uphill, lr, t, p, memory)
    carry = _parts(point + move, variables) | {f"last_{name}": node for name, node in remembered.items()}
    begin: dict[str, Any] = {f"last_{name}": np.zeros([axis.size for axis in point.axes]) for name in memory}
    if memory:
        carry, begin = carry | {"t": t + 1}, begin | {"t": 1}
    along: tuple[Node, ...] = ()
    if flow:
        here = {name: given(f"flow_{name}", ()) for name in at}
        there = _flowed(f, here, lr)
        along = (step("flow", _vector([*here.values()], variables), "…"),)
        carry |= {f"flow_{name}": node for name, node in there.items()}
        begin |= {f"flow_{name}": value for name, value in at.items()}
    return Loop(
        turn="iteration",
        start=begin,
        steps=(point, value, uphill, move, *along),
        carry=carry,
        turns=steps,
        results=(point, value),
        stop=_stop(point, value, uphill, move),
        first=0,
        last=(point, value, uphill, *along),
    )
