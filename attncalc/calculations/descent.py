"""Descent: from a point downhill, iteration after iteration, until it settles, diverges or has taken all its steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from attncalc.calculations.calculus import VARIABLES, Formula, Point, coordinates, listed_by_name, scenery
from attncalc.calculations.optimisation import DEFAULTS, RULES, SYMBOLS, OptimizerKind, Parameters, tell_idle, updated
from attncalc.common.errors import DomainError
from attncalc.common.numerals import Array
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import FROM_0_ON, Exercise, operand
from attncalc.declare.sweeps import Sweep, every_turn, turns
from attncalc.evaluate.loops import End, Loop, Program, Values
from attncalc.language.expression import parse
from attncalc.language.gradients import slopes
from attncalc.language.graph import Expression, Node, as_node, given, letter, note, rewrite, step
from attncalc.language.ops import take
from attncalc.record.pictures import Curves, Line, Picture
from attncalc.record.trace import Trace

SETTLED = 1e-12
"""A descent has settled when an update is this small, relative to the distance from the start."""
PARTS = 8
"""The path dθ/dt = −∇f is followed in so many parts of an iteration, or in more if it bends sharply."""
MOST_PARTS = 1024
NEAR = 1e-6
"""The number of parts is enough if twice as many change the places by no more than this, relative to the path."""
LONGEST_LOOKED_AT = 1000
"""How many iterations are examined for that."""
TIME, NUMBER = "time ", "number of the step"  # names of inputs that cannot be variables of a formula


def _risen(trace: Trace) -> Iterator[str]:
    """A warning where a descent ends higher than it began."""
    began, ended = trace["iteration 0/value"], trace["value"]
    if not trace.warnings and began.dtype.kind == "f" and ended > began:
        yield f"f has risen from {began[()]:.6g} to {ended[()]:.6g}: the steps are too long (a smaller --lr shows)"


def _downhill(trace: Trace, sweep: Sweep) -> Iterator[Picture]:
    """The way through one variable or two, and how the height falls from iteration to iteration."""
    whole = every_turn(trace, sweep)
    points = np.stack([np.atleast_1d(point) for _, point in turns(whole, "iteration", "point")])
    numbers, heights = zip(*turns(whole, "iteration", "value"), strict=True)
    known = whole.find("iteration 0/point").labels.get(VARIABLES)
    names = known or [*parse(str(trace.inputs["expression"].value)).variables]
    if 0 < len(names) <= 2:
        which = "the iterations" if len(points) == numbers[-1] + 1 else "the first and the last iterations"
        yield scenery(sweep, "value", dict(zip(names, points.T, strict=True)), which)
    yield Curves("the value along the iterations", "iteration", (Line("f", np.array(numbers), np.array(heights)),))


@calculation(
    expression=operand("", kind="expression"),
    remarks=_risen,
    laws={
        "on x² every step multiplies x by 1 − 2·lr": lambda f, c, steps: same(
            f("x**2", start=c, lr=0.1, steps=steps), c * (1 - 2 * 0.1) ** steps
        ),
        "at the minimum it stays put": lambda f, c: same(f(f"(x - {c})**2", start=c), c),
        "two descents, one after the other, make one": lambda f, c, steps: same(
            f("x**4", start=float(f("x**4", start=c, lr=0.01, steps=steps).result), lr=0.01, steps=steps),
            f("x**4", start=c, lr=0.01, steps=2 * steps),
        ),
    },
    pictures=_downhill,
    reference="Cauchy 1847; Goodfellow, Bengio and Courville 2016, Deep Learning, sections 4.3 and 8.3",
    exercise=Exercise(
        one_of=tuple(
            {"start": start, "lr": lr, "steps": 3} for start in (-4, -3, 2, 3, 4, 5) for lr in (0.1, 0.2, 0.25)
        ),
        formulas={
            "easy": ("x**2", "(x - 1)**2"),
            "medium": ("x**2 - 2*x", "x**2 + x", "(x + 1)**2"),
            "hard": ("x**2 + sin(x)", "x**4/10 - x**2", "x**2 + exp(-x)"),
        },
    ),
)
def descend(
    f: Formula,
    *,
    start: Annotated[Point, "the starting point: x=3,y=1, or 3 for a single variable"] = None,
    lr: Annotated[float, "the learning rate: how long the steps are", FROM_0_ON] = 0.1,
    steps: Annotated[int, "how many updates are made, unless it settles earlier", FROM_0_ON] = 10,
    optimizer: Annotated[OptimizerKind, "how a gradient becomes an update"] = "gd",
    p: Annotated[Parameters, ""] = DEFAULTS,
    flow: Annotated[
        bool, "also show the limit of ever shorter steps, the path dθ/dt = −∇f at the time lr·iteration"
    ] = False,
) -> Loop:
    """Walk downhill from a point, step by step, against the gradient.

    θ ← θ + update, where update = −lr·∇f(θ) for gd; the other optimisers are those of `optimizer`. Iteration 0 is the
    start, so that the point of iteration k has k updates behind it; the last iteration's update is shown but not made.
    A descent ends early once updates no longer move the point; if it diverges, it ends at the last finite iteration.
    The result is the last point; the value of f there and a table of the iterations are additional outputs.
    """
    at = coordinates(f, start, "--start")
    tell_idle(optimizer, p)
    variables = {name: letter(name, value) for name, value in at.items()}
    height = f.at(variables)
    downs = slopes(height, as_node(1), [*variables.values()])
    point = step("point", _vector(at, variables.values()), "where the descent stands; iteration 0 is the start")
    value = step("value", height, "the value of f here; a descent brings it down, though not at every iteration")
    why = "the slope here, not the value: it points uphill, and is computed anew at every point"
    gradient = step("gradient", _vector(at, downs), why)
    t = given(NUMBER, (), "t")
    names = RULES[optimizer].memory
    memory = {name: given(f"last {name}", point.axes, f"{SYMBOLS[name]}_last") for name in names}
    update, remembered = updated(optimizer, point, gradient, lr, t, p, memory)
    carry = _coordinates(at, point + update) | {f"last {name}": node for name, node in remembered.items()}
    begin: dict[str, Any] = {f"last {name}": np.zeros([axis.size for axis in point.axes]) for name in names}
    beside: tuple[Node, ...] = ()
    if flow:
        beside, begin, carry = _with_flow(f, at, lr, steps, begin, carry)
    shown = (point, value, gradient, update, *beside)
    return Loop(
        turn="iteration",
        start=begin | {NUMBER: 1},
        steps=shown,
        carry=carry | {NUMBER: t + 1},
        turns=steps + 1,
        results=(point, value),
        stop=_stop(at, point, {"value of f": value, "slope": gradient, "update": update}),
        first=0,
        rows=shown,
    )


def _vector(at: Mapping[str, float], parts: Any) -> Node:
    """A number where there is one variable; else a vector of one entry for each."""
    nodes = dict(zip(at, parts, strict=True))
    return listed_by_name(nodes) if len(nodes) > 1 else next(iter(nodes.values()))


def _coordinates(at: Mapping[str, float], point: Node) -> dict[str, Node]:
    """The variables of a point."""
    return {name: take(point, VARIABLES, i) if point.axes else point for i, name in enumerate(at)}


def _stop(at: Mapping[str, float], point: Node, watched: Mapping[str, Node]) -> Callable[[Values], End | None]:
    """When a descent ends early: what is watched is no longer finite, or the updates no longer move the point."""
    start = np.array([*map(float, at.values())])[() if point.axes else 0]

    def stop(values: Values) -> End | None:
        sizes = {name: _size(values.number(node)) for name, node in watched.items()}
        way = _size(values.number(point) - start)
        broken = [name for name, size in sizes.items() if not math.isfinite(size)]
        if broken and way == 0:
            raise DomainError(f"the {broken[0]} is not finite where the descent starts", hint="--start elsewhere")
        if broken:
            reason = f"the descent diverges: at the next point the {broken[0]} is not finite (a smaller --lr helps)"
            return End(reason, failed=True)
        return End("it has settled: updates no longer move the point") if sizes["update"] <= SETTLED * way else None

    return stop


def _size(value: Any) -> float:
    """The entries without their signs, added up; not finite where one of them is not."""
    if isinstance(value, np.ndarray) and value.ndim:
        return float(sum(map(abs, value.tolist())))
    return float(abs(value))


def _with_flow(
    f: Expression, at: Mapping[str, float], lr: float, steps: int, begin: dict[str, Any], carry: dict[str, Node]
) -> tuple[tuple[Node, ...], dict[str, Any], dict[str, Node]]:
    """The path of dθ/dt = −∇f beside the descent: its step, and what it begins with and carries on."""
    here = {name: given(TIME + name, (), f"{name}(t)") for name in at}
    why = "the solution of dθ/dt = −∇f at the time t = lr·iteration, where ever shorter steps lead; by Runge and Kutta"
    path = step("flow", _vector(at, here.values()), why)
    note("flow is where ever shorter steps lead in the same time, t = lr·iteration")
    parts = _parts(f, at, lr, steps)
    there = _flowed(f, here, lr, parts, parts)
    return (
        (path,),
        begin | {TIME + name: value for name, value in at.items()},
        carry | {TIME + name: node for name, node in there.items()},
    )


def _parts(f: Expression, at: Mapping[str, float], lr: float, steps: int) -> int:
    """In how many parts of an iteration the path is to be followed: half the first number that changes nothing."""
    parts, found = PARTS, _path(f, at, lr, steps, PARTS)
    while parts < MOST_PARTS:
        finer = _path(f, at, lr, steps, 2 * parts)
        if np.isfinite(finer).all() and np.allclose(found, finer, rtol=0, atol=NEAR * np.abs(finer).max(initial=0)):
            return parts
        parts, found = 2 * parts, finer
    fault = f"the path dθ/dt = −∇f can't be followed, even in {MOST_PARTS:,} parts of an iteration"
    why = "it bends too sharply" if np.isfinite(found).all() else "it leaves all bounds, or bends too sharply"
    raise DomainError(f"{fault}: {why}", hint="a smaller --lr, fewer --steps, or no --flow")


def _path(f: Expression, at: Mapping[str, float], lr: float, steps: int, parts: int) -> Array:
    """Where the path is at each iteration, [iterations, variables], until it has settled or left all bounds."""
    there = _flowed(f, {name: given(name, (), name) for name in at}, lr, parts, 1)
    state: dict[str, Any] = {name: np.float64(value) for name, value in at.items()}
    program = Program(there.values(), state, at)
    found = np.empty((min(steps, LONGEST_LOOKED_AT), len(at)))
    with np.errstate(all="ignore"):
        for row in range(len(found)):
            for _ in range(parts):
                values = program.run(state)
                state = {name: values.number(node) for name, node in there.items()}
            found[row] = [*state.values()]
            moved = np.abs(found[row] - found[row - 1]) if row else np.inf
            if not np.all(moved > SETTLED * np.abs(found[row])):  # also false for infinity
                found[row:] = found[row]
                break
    return found


def _flowed(f: Expression, here: Mapping[str, Node], lr: float, parts: int, many: int) -> dict[str, Node]:
    """Where the path is after so many parts of an iteration, by the classical method of Runge and Kutta."""
    time = lr / parts
    slope = slopes(f.node, as_node(1), [*f.variables.values()])

    def downhill(point: Mapping[str, Node]) -> dict[str, Node]:
        places = {node: point[name] for name, node in f.variables.items()}
        return {name: -node for name, node in zip(f.variables, rewrite(slope, places.get), strict=True)}

    def moved(point: Mapping[str, Node], way: Mapping[str, Node], by: float) -> dict[str, Node]:
        return {name: node + by * way[name] if name in way else node for name, node in point.items()}

    point = dict(here)
    for part in range(many):
        first = downhill(point)
        second = downhill(moved(point, first, time / 2))
        third = downhill(moved(point, second, time / 2))
        fourth = downhill(moved(point, third, time))
        mean = {name: first[name] + 2 * second[name] + 2 * third[name] + fourth[name] for name in first}
        point = {
            name: step(f"{name}_{part + 1}", node, "a part of the path", shown=False)
            for name, node in moved(point, mean, time / 6).items()
        }
    return point
