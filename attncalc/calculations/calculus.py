"""Calculus on formulas that a user types: derivatives by the limit and by the rules, gradients, Hessians."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np

from attncalc.common.errors import OptionError, both, near
from attncalc.common.numerals import Array
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import Exercise, operand, options_of
from attncalc.declare.sweeps import Sweep
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.expression import parse
from attncalc.language.gradients import slopes
from attncalc.language.graph import (
    Expression,
    Node,
    as_node,
    aside,
    constant,
    constants,
    label,
    letter,
    note,
    output,
    rewrite,
    step,
)
from attncalc.language.ops import listed, stack
from attncalc.record.pictures import Curves, Landscape, Line, Marks, Picture
from attncalc.record.trace import Step, Trace

Formula = Annotated[Expression, "a formula: x**2 + sin(y)"]
Point = dict[str, float] | float | None
VARIABLES = "variable"
MOST_BENDS = 30
"""The most variables for which the Hessian is given."""
TENTHS = 6
"""How many times h is divided by 10."""


def coordinates(f: Expression, point: Point, flag: str) -> dict[str, float]:
    """The value of each variable, in the order in which the point gives them."""
    names = [*f.variables]
    example = f"{flag} {','.join(f'{name}=1' for name in names or ['x'])}"
    if point is None:
        raise OptionError(f"{flag} must be given", hint=f"write {example}")
    if not isinstance(point, dict):
        if len(names) > 1:
            raise OptionError(f"{flag} is one number, but the formula has {both(names)}", hint=f"write {example}")
        return {(names or ["x"])[0]: point}
    unknown = [name for name in point if names and name not in names]
    missing = [name for name in names if name not in point]
    if unknown or missing:
        fault = f"gives {both(unknown)}" if unknown else f"lacks {both(missing)}"
        raise OptionError(
            f"{flag} {fault}, but the formula has {both(names)}", hint=near(unknown[0], names) if unknown else example
        )
    return dict(point)


def letters(f: Expression, point: Point, flag: str) -> dict[str, Node]:
    """The variables as nodes: with their values at a point, or left as letters where none is given."""
    if point is not None:
        return {name: letter(name, value) for name, value in coordinates(f, point, flag).items()}
    names = [*f.variables] or ["x"]
    kept = "are left as letters" if len(names) > 1 else "is left as a letter"
    note(f"{flag} is not given: {both(names)} {kept}")
    return {name: letter(name, None) for name in names}


def listed_by_name(parts: Mapping[str, Node], axis: str = VARIABLES) -> Node:
    """A vector of one entry for each variable, labelled with their names."""
    label(axis, [*parts])
    return listed([*parts.values()], axis)


PLACES = 241
"""The number of places along a curve; each side of a landscape has a third of them."""
STEEP = 3
"""Slopes are drawn up to so many times the heights; beside a pole nothing else would be visible."""


def reach(values: Array, least: float = 0.0) -> tuple[float, float]:
    """A range that holds the values with some room on both sides; it is at least so wide."""
    low, high = float(values.min()), float(values.max())
    room = max(0.25 * (high - low), (least - high + low) / 2, 0.0) or max(1.0, abs(low))
    return low - room, high + room


def scenery(sweep: Sweep, height: str, way: Mapping[str, Array], word: str) -> Picture:
    """The step `height` around a way through one variable or two, with the way on it."""
    ordered = len(next(iter(way.values()))) > 1
    if len(way) == 1:
        ((name, x),) = way.items()
        places = np.linspace(*reach(x), PLACES)
        line = Line("f", places, sweep.over(height, {name: places}))
        return Curves(f"f({name})", name, (line,), Marks(word, x, sweep.over(height, {name: x}), ordered))
    (across, x), (up, y) = way.items()
    widest = max(float(np.ptp(x)), float(np.ptp(y)))
    xs, ys = (np.linspace(*reach(values, 0.8 * widest), PLACES // 3) for values in (x, y))
    heights = sweep.over(height, dict(zip((across, up), np.meshgrid(xs, ys), strict=True)))
    return Landscape(f"f({across}, {up})", across, up, xs, ys, heights, Marks(word, x, y, ordered))


def _with_slope(trace: Trace, sweep: Sweep) -> Iterator[Picture]:
    """The function and its derivative around the point, or around 0 where there is none."""
    names = [*parse(str(trace.inputs["expression"].value)).variables] or ["x"]
    point = options_of(trace)["at"]
    at = next(iter(point.values())) if isinstance(point, dict) else point
    places = np.linspace(*reach(np.array([-2.0, 2.0] if at is None else [float(at)])), PLACES)
    heights, slopes_there = (sweep.over(name, {names[0]: places}) for name in ("function", "derivative"))
    known = heights[np.isfinite(heights)]
    steep = STEEP * max(float(known.max(initial=0) - known.min(initial=0)), 1.0)
    slopes_there = np.where(np.isfinite(heights) & (np.abs(slopes_there) <= steep), slopes_there, np.nan)
    lines = (Line("f", places, heights), Line("derivative", places, slopes_there))
    here = None if at is None else np.array([float(at)])
    marks = None if here is None else Marks("the point", here, sweep.over("function", {names[0]: here}))
    yield Curves(f"f({names[0]}) and its derivative", names[0], lines, marks)


CLOSE = (1e-4, 1e-5, 1e-6)
"""The distances on each side of a point at which slopes of chords show whether it is a corner."""


def _corners(trace: Trace) -> Iterator[str]:
    """A warning for each variable in which the slopes of chords settle on both sides, and not at the same number."""
    f, at = parse(str(trace.inputs["expression"].value)), options_of(trace)["at"]
    if at is None or trace.result.dtype.kind != "f":
        return
    here = {name: float(value) for name, value in coordinates(f, at, "--at").items()}
    for name, slope in zip(here if f.variables else (), trace.result.ravel().tolist(), strict=False):
        widths = max(1.0, abs(here[name])) * np.array([*CLOSE, *(-width for width in CLOSE)])
        places = constants((here[name], *(here[name] + widths).tolist()), Axis("place", 1 + len(widths)), name)
        height = f.at({**{other: as_node(value) for other, value in here.items()}, name: places})
        there, *heights = np.broadcast_to(evaluate([height], {})[height], 1 + len(widths)).tolist()
        chords = ((np.array(heights) - there) / widths + 0.0).reshape(2, len(CLOSE))
        right, left = chords[:, -1].tolist()
        sizes = np.abs([there, *heights]).max() + abs(here[name]) * np.abs(chords).max()  # rounding of f and argument
        lost = 8 * np.finfo(float).eps * sizes / widths[len(CLOSE) - 1]
        *_, before, last = np.abs(np.diff(chords)).T
        settled = last <= np.maximum(before / 2, lost)  # near a corner, but not at it, they diverge
        if settled.all() and 100 * max(*last, lost) < abs(right - left) > 1e-4 * max(1, abs(left), abs(right)):
            yield (
                f"the slope in {name} is {left:.4g} before and {right:.4g} behind the point: f has a corner there, and "
                f"no derivative; {slope:.6g} is what the rules of calculus give"
            )


@calculation(
    expression=operand("", kind="expression"),
    laws={
        "of a sum it is the sum": lambda f, c: same(
            f("sin(x) + x**3", at=c), f("sin(x)", at=c).result + f("x**3", at=c).result
        ),
        "of a product u·v it is u′·v + u·v′": lambda f, c: same(
            f("sin(x) * x**3", at=c), f("sin(x)", at=c).result * c**3 + np.sin(c) * f("x**3", at=c).result
        ),
        "of u(v(x)) it is u′(v(x))·v′(x), the chain rule": lambda f, c: same(
            f("sin(x**3)", at=c), f("sin(x)", at=c**3).result * f("x**3", at=c).result
        ),
    },
    remarks=_corners,
    pictures=_with_slope,
    reference="Cauchy 1821, Cours d'analyse; Goodfellow, Bengio and Courville 2016, Deep Learning, section 4.3",
    exercise=Exercise(
        one_of=tuple({"at": x} for x in (-2, -1, 1, 2, 3)),
        formulas={
            "easy": ("x**2 + 3*x", "2*x**2 - x", "x**2 - 4*x + 1"),
            "medium": ("x**3 - 3*x", "x**3 + 2*x**2", "x**4 - x"),
            "hard": ("x*exp(x)", "sin(x)*x**2", "exp(-x**2)", "x/(1 + x**2)"),
        },
    ),
)
def derivative(
    f: Formula,
    *,
    at: Annotated[Point, "the point: 3, or x=3; without it the variable stays a letter"] = None,
    h: Annotated[
        tuple[float, ...], "the distance between the chord's ends; a single number is divided by ten five times"
    ] = (0.1,),
) -> tuple[Node, Node]:
    """How fast a function rises at a point: the limit of the slopes of ever shorter chords.

    f′(x) = lim (f(x + h) − f(x)) / h as h → 0. The error of the quotients shrinks about as fast as h; the derivative
    itself is found by the rules of calculus, without any h. At a corner (|x|, relu and max where their sides meet)
    there is no derivative, and a slope is given by convention: 0 for |x| and relu at 0. The value of f is an
    additional output.
    """
    if len(f.variables) > 1:
        raise OptionError(
            f"a derivative is in one variable, but the formula has {both(f.variables)}",
            hint="attncalc gradient takes the derivative in each of them",
        )
    ((name, x),) = letters(f, at, "--at").items()
    height = f.at({name: x})
    there = output("function", height, "the value of f at the point")
    widths = constants(_widths(h), Axis("h", len(_widths(h))), "h")
    label("h", [str(width).removesuffix(".0") for width in _widths(h)])
    why = "slopes of chords; as their ends come together the quotients settle, until rounding spoils the difference"
    aside("difference_quotients", (f.at({name: x + widths}) - height) / widths, why)
    (slope,) = slopes(height, as_node(1), [x])
    slope = aside("derivative", slope, "the same limit, found by the rules of calculus for every x at once")
    if at is None:
        return step("value", slope, "no point was given, so it stays a formula"), there
    point = constant(coordinates(f, at, "--at")[name])
    (settled,) = rewrite([slope.sources[0]], {x: point}.get)
    return step("value", settled, "the derivative at the point: how steep f is there"), there


def _widths(h: Sequence[float | Fraction]) -> tuple[float | Fraction, ...]:
    """The h's, largest first."""
    if not h or 0 in h:
        raise OptionError("--h must not be 0: a chord has two ends", hint="--h 0.1, or several: --h 1,0.1,0.01")
    if len(h) > 1:
        return tuple(h)
    tenths = [h[0] / 10**i for i in range(TENTHS)]
    return tuple(width if isinstance(width, Fraction) else float(f"{width:.15g}") for width in tenths)


def _around(trace: Trace, sweep: Sweep) -> Iterator[Picture | Step]:
    """The function around the point; of more than two variables the slopes."""
    point = options_of(trace)["at"]
    names = [*parse(str(trace.inputs["expression"].value)).variables]
    if point is None or len(names) > 2 or not names:
        yield trace.outputs[0]
        return
    at = {names[0]: point} if not isinstance(point, dict) else point
    yield scenery(sweep, "value", {name: np.array([float(at[name])]) for name in at}, "the point")


@calculation(
    expression=operand("", kind="expression"),
    laws={
        "with one variable it is the derivative": lambda f, c: same(f("x**2", at=c), [2 * c]),
        "the Hessian is symmetric": lambda f, c: same(
            (bends := f("sin(x*y) + x**2*y", at={"x": c, "y": -c})["hessian"]), bends.T
        ),
    },
    remarks=_corners,
    pictures=_around,
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, section 4.3",
    exercise=Exercise(
        one_of=tuple({"at": {"x": x, "y": y}} for x in (-2, -1, 1, 2, 3) for y in (-2, -1, 1, 2)),
        formulas={
            "easy": ("x**2 + 3*y", "x*y + y**2", "x**2 + x*y"),
            "medium": ("x**2*y - y**2", "x**2 + x*y + sin(y)", "x**3 - x*y**2"),
            "hard": ("x*exp(y)", "sin(x*y)", "x**2*y + exp(x - y)"),
        },
    ),
)
def gradient(
    f: Formula, *, at: Annotated[Point, "the point: x=3,y=-1; without it the variables stay letters"] = None
) -> tuple[Node, ...]:
    """The slope of a function in each of its variables; together they point where it rises fastest.

    ∇f has one entry ∂f/∂x for each variable, in the order in which `at` gives them. Additional outputs are the value of
    f and the Hessian: how each slope changes with each variable. At a corner a slope is given by convention: 0 for |x|.
    """
    variables = letters(f, at, "--at")
    value = f.at(variables)
    there = output("value", value, "the value of f at the point")
    over = [*variables.values()]
    partials = {}
    for name, slope in zip(variables, slopes(value, as_node(1), over), strict=True):
        why = f"how fast f rises with {name} while the others stay"
        partials[name] = step(f"partial_{name}", slope, why, symbol=f"∂f/∂{name}")
    whole = step("gradient", listed_by_name(partials), "it points uphill, where f rises fastest; −∇f points downhill")
    if len(over) > MOST_BENDS:
        note(f"the Hessian of {len(over)} variables is left out: it is given up to {MOST_BENDS}")
        return whole, there
    rows = [slopes(partial.sources[0], as_node(1), over) for partial in partials.values()]
    hessian = stack(
        [listed_by_name(dict(zip(variables, row, strict=True)), f"{VARIABLES}'") for row in rows], VARIABLES
    )
    return (
        whole,
        output("hessian", hessian, "the slope of each slope: how the gradient changes from place to place"),
        there,
    )
