"""Learning-rate schedules: the learning rate at each step, from the first to the last."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from attncalc.common.errors import OptionError
from attncalc.declare.calculation import at_most, calculation, same
from attncalc.declare.operands import AT_LEAST_1, FROM_0_ON, Exercise, With, options_of
from attncalc.declare.sweeps import Sweep
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, as_node, constants, label, named_size, step
from attncalc.language.ops import cos, keep_where, maximum, minimum, pi, spread, sqrt
from attncalc.record.pictures import Curves, Line, Marks, Picture
from attncalc.record.trace import Trace

MOST_ROWS = 1_000_000
ENDING = ("cosine", "linear", "wsd")
"""Kinds that decay to 0 at the last step."""
MOST_RATES = 400
"""The most steps for which a curve is evaluated."""


def _climb_and_descent(trace: Trace, sweep: Sweep) -> Iterator[Picture]:
    """The learning rate along all steps; those that were asked for are marked."""
    options = options_of(trace)
    asked = options["at"]
    steps = options["steps"] or max(asked)
    shown = np.unique(np.linspace(1, steps, min(steps, MOST_RATES)).astype(int))
    rates = sweep.again(at=tuple(shown.tolist()), steps=steps).result
    marks = Marks("the steps asked for", np.array(asked), sweep.again().result) if asked else None
    yield Curves("learning rate", "step", (Line("lr", shown, rates),), marks)


@calculation(
    laws={
        "noam is highest at the end of the warm-up": lambda f, warmup, steps: at_most(
            f(warmup=warmup, steps=warmup + steps), f(warmup=warmup, at=(warmup,))
        ),
        "noam: four times the width gives half the rate": lambda f, d_model, steps: same(
            2 * f(d_model=4 * d_model, steps=steps).result, f(d_model=d_model, steps=steps)
        ),
        "cosine and linear end at 0": lambda f, warmup, steps: all(
            same(f(kind=kind, warmup=warmup, steps=warmup + steps).result[-1], 0)
            for kind in ("cosine", "linear", "wsd")
        ),
        "the warm-up rises in a straight line": lambda f, warmup, c: same(
            f(kind="constant", warmup=warmup, lr=c, steps=warmup), c * np.arange(1, warmup + 1) / warmup
        ),
    },
    pictures=_climb_and_descent,
    reference="Vaswani et al. 2017, Attention Is All You Need, eq. 3 (noam); Loshchilov and Hutter 2017, SGDR, "
    "eq. 5 (cosine); Hu et al. 2024, MiniCPM, section 4 (wsd)",
    exercise=Exercise(
        one_of=(
            *(
                {"kind": "noam", "d_model": d, "warmup": warmup, "at": (1, warmup, 4 * warmup)}
                for d in (4, 16, 25)
                for warmup in (4, 9, 16)
            ),
            *(
                {"kind": kind, "lr": lr, "warmup": warmup, "steps": 9} | ({"decay": 4} if kind == "wsd" else {})
                for kind in (*ENDING, "constant")
                for lr in (0.3, 0.7, 2.5)
                for warmup in (3, 4)
            ),
        )
    ),
)
def schedule(
    *,
    kind: Annotated[
        Literal["noam", "cosine", "linear", "constant", "wsd"], "the shape of the schedule after the warm-up"
    ] = "noam",
    d_model: Annotated[int, "the width of the model (noam)", AT_LEAST_1, With(("kind=noam",))] = 512,
    warmup: Annotated[int | None, "the number of steps of the warm-up (noam 4000, else 0)", FROM_0_ON] = None,
    lr: Annotated[float, "the highest learning rate; for noam a factor in front"] = 1,
    steps: Annotated[int | None, "how many steps there are; cosine and linear reach 0 at the last", AT_LEAST_1] = None,
    decay: Annotated[int | None, "wsd: over so many of the last steps lr comes down (a tenth)", AT_LEAST_1] = None,
    decay_kind: Annotated[
        Literal["cosine", "linear", "1-sqrt"], "wsd: the shape of the way down", With(("kind=wsd",))
    ] = "cosine",
    at: Annotated[tuple[int, ...] | None, "only these steps, counted from 1"] = None,
) -> Node:
    """The learning rate at every step: first a warm-up, then a decay.

    noam: lr·d_model^(−1/2)·min(step^(−1/2), step·warmup^(−3/2)). The others rise to lr over the warm-up, by lr/warmup
    a step; then cosine falls to 0 along half a wave, linear along a straight line, and constant stays. wsd (warm-up,
    stable, decay) stays too, and falls to 0 over the last steps alone, so that training can go on from any point before
    them. Row i is step i, and steps are counted from 1: at step 0 noam has no value.
    """
    warm = warmup if warmup is not None else 4000 if kind == "noam" else 0
    if kind == "noam" and warm < 1:
        raise OptionError(f"--warmup must be at least 1 for noam, not {warm}")
    shown = _asked(steps, at, ends=kind in ENDING)
    last = 0 if kind != "wsd" else decay if decay is not None else max(1, (steps or 0) // 10)
    if decay is not None and kind != "wsd":
        raise OptionError(f"--decay goes with --kind wsd, and the kind is {kind}")
    if kind in ENDING and warm + max(last, 1) > (steps or 0):
        down = f" and --decay {last}" if last else ""
        raise OptionError(f"--warmup {warm}{down} leave{'' if last else 's'} no steps of {steps} to come down in")
    label("step", [str(s) for s in shown])
    s = constants(shown, Axis("step", len(shown)), "step")
    rate = _noam(s, d_model, warm) if kind == "noam" else _climbed(kind, s, warm, steps or 0, (last, decay_kind))
    whys = {
        "noam": "a straight rise, then 1/√step: the smaller of the two counts, and they meet at the end of the warm-up",
        "cosine": "down along half a cosine wave: slowly at first, and slowly at the end",
        "linear": "down in a straight line, to 0 at the last step",
        "constant": "the same rate to the end",
        "wsd": "the same rate for long, and down only at the end: the run can be made longer before that",
    }
    return step("lr", rate if lr == 1 else lr * rate, whys[kind])


def _asked(steps: int | None, at: tuple[int, ...] | None, *, ends: bool) -> tuple[int, ...]:
    """The steps that are named, or all of them. How many there are must be known of a schedule that comes to an end."""
    if steps is None and (at is None or ends):
        raise OptionError(f"--steps must be given: {'how long it is' if at else 'how many rows there are'}")
    if at is None and (steps or 0) > MOST_ROWS:
        raise OptionError(
            f"--steps {steps} makes a row for each step, but {MOST_ROWS:,} is the limit",
            hint="--at 1,1000,1000000 shows these steps alone",
        )
    shown = tuple(range(1, (steps or 0) + 1)) if at is None else at
    outside = [s for s in shown if s < 1 or s > (steps or s)]
    if outside:
        raise OptionError(f"--at names step {outside[0]}, and steps go from 1 to {steps or '…'}")
    return shown


def _noam(s: Node, d_model: int, warmup: int) -> Node:
    half = Fraction(1, 2)
    return named_size("d_model", d_model) ** -half * minimum(s**-half, s * named_size("warmup", warmup) ** (-3 * half))


def _climbed(kind: str, s: Node, warmup: int, steps: int, last: tuple[int, str]) -> Node:
    """The share of the highest learning rate: the climb, and what follows it."""
    start, end = (named_size("warmup", warmup), named_size("steps", steps))
    since, length = (s - start, end - start) if warmup else (s, end)
    after = {
        "cosine": lambda: (1 + cos(pi() * since / length)) / 2,
        "linear": lambda: (end - s) / length,
        "constant": lambda: as_node(1),
        "wsd": lambda: _stable(s, end, *last),
    }[kind]()
    return keep_where(s <= start, s / start, after) if warmup else spread(after, s.axes)


def _stable(s: Node, end: Node, decay: int, kind: str) -> Node:
    """1, and the way down over the last steps."""
    length = named_size("decay", decay)
    gone = (s - (end - length)) / length
    down = {
        "cosine": lambda: (1 + cos(pi() * gone)) / 2,
        "linear": lambda: 1 - gone,
        "1-sqrt": lambda: 1 - sqrt(maximum(gone, 0)),
    }
    return keep_where(s <= end - length, 1, down[kind]())
