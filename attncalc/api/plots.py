"""Which pictures a trace has: those that its calculation declares, else what its result looks like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from pathlib import Path

import numpy as np

from attncalc.common.errors import NoPicture, OptionError, near, quoted
from attncalc.common.numerals import Array
from attncalc.common.system import write_file
from attncalc.record.numbers import numeric
from attncalc.record.pictures import Bars, Curves, HeatMap, Line, Picture, Ticks
from attncalc.record.trace import Step, Trace
from attncalc.render import PICTURES, View, beside, operand_steps, render, shown
from attncalc.render.traces import table
from attncalc.solve.problem import Problem
from attncalc.solve.sweep import sweep

MOST = 8
"""The most pictures that are drawn unless all are asked for."""
LONG = 40
"""The fewest entries of a vector without labels that is drawn as a curve."""


@np.errstate(all="ignore")  # the ends of an axis may be as far apart as numbers reach
def illustrated(trace: Trace, view: View) -> Trace:
    """The trace with its pictures; if the view names steps, with the pictures of these."""
    found = list(_chosen(trace, view))
    if not found:
        raise NoPicture(_why_not(trace, view))
    if view.everything or len(found) <= MOST:
        return trace._replace(pictures=tuple(found))
    note = f"{MOST} of {len(found)} pictures are drawn: --all draws every one, --get NAME those of one step"
    return trace._replace(pictures=tuple(found[:MOST]), notes=(*trace.notes, note))


def plotted(trace: Trace, path: str | Path | None, width: int | None) -> str:
    """The pictures as text; or written to a file, whose path comes back."""
    form = "table" if path is None else Path(path).suffix.lower().removeprefix(".")
    if path is not None and form not in PICTURES:
        hint = near(form, PICTURES, f"{Path(path).stem}.")
        raise OptionError(f"pictures are drawn to .png and .svg files, not to {quoted(str(path))}", hint=hint)
    content = render(illustrated(trace, View(everything=True)), form, View(plot=True, quiet=True, width=width))
    if path is None:
        return str(content)
    write_file(Path(path), content.encode() if isinstance(content, str) else content)
    return str(path)


def _chosen(trace: Trace, view: View) -> Iterator[Picture]:
    if view.get is not None:
        yield from drawn([trace.find(view.get)], trace)
    elif view.show:
        yield from drawn([*(step for _, step in shown(trace, view)), *beside(trace, view)], trace)
    else:
        yield from _declared(trace) or drawn(_default(trace), trace)


def _declared(trace: Trace) -> list[Picture]:
    """The pictures that the calculation declares, as far as the trace has them; none for a backward pass."""
    problem = trace.problem
    if not isinstance(problem, Problem) or problem.backward is not None or problem.calculation.pictures is None:
        return []
    declared = problem.calculation.pictures
    if not callable(declared):
        operands = operand_steps(trace)
        made = {step.key: step for step in (*trace.steps, *trace.outputs)}.values()
        named = {name: [step for step in made if step.name == name] for name in declared}
        found = [named[name] or [operands[name]] for name in declared if named[name] or name in operands]
        return list(drawn((step for steps in found for step in steps), trace))
    if any(given.value.dtype == object and numeric(given.value) is None for given in trace.inputs.values()):
        return []  # there is nothing to see of letters
    yielded = declared(trace, sweep(trace))
    return [picture for each in yielded for picture in (drawn([each], trace) if isinstance(each, Step) else [each])]


def _default(trace: Trace) -> Sequence[Step]:
    """The result; for a backward pass, every gradient; for a single number, the last step of several numbers."""
    if isinstance(trace.problem, Problem) and trace.problem.backward is not None:
        return trace.outputs
    if trace.result.ndim:
        return trace.outputs[:1]
    return [step for step in trace.steps if step.value is not None and step.value.size > 1][-1:]


def _why_not(trace: Trace, view: View) -> str:
    if view.get is not None or view.show:
        return f"there is no picture of {view.get or ', '.join(view.show)}: only decimal numbers, and several, have one"
    kind = trace.result.dtype.kind
    if kind == "c":
        why = "its numbers are complex"
    elif kind == "U" or (kind == "O" and numeric(trace.result) is None):
        why = "it holds letters"
    else:
        why = "it is a single number"
    return f"{trace.calculation} has no picture of this result: {why}"


# Steps as pictures


def drawn(steps: Iterable[Step], trace: Trace) -> Iterator[Picture]:
    """What each step looks like: a vector as bars or a curve, a matrix as shades, a stack matrix by matrix."""
    for step in steps:
        read = table(step, trace, View()).value
        value = None if read is None else numeric(read)
        if value is not None and value.size > 1:
            yield from _pictured(step, value, trace)


def _pictured(step: Step, value: Array, trace: Trace) -> Iterator[Picture]:
    if value.ndim == 1:
        yield _vector(step.key, value, _ticks(step, 0))
        return
    low, high = span(value)
    hidden = _hidden(step, value, trace)
    rows, columns = _ticks(step, -2), _ticks(step, -1)
    for number in range(prod(value.shape[:-2])):
        at = tuple(int(i) for i in np.unravel_index(number, value.shape[:-2]))
        place = ", ".join(f"{axis} = {_ticks(step, i).labels[at[i]]}" for i, axis in enumerate(step.axes[:-2]))
        title = f"{step.key}, {place}" if place else step.key
        if 1 in value.shape[-2:]:
            side, ticks = (columns, rows) if value.shape[-1] == 1 else (rows, columns)
            of_one = f", {side.name} = {side.labels[0]}" if side.own else ""
            yield _vector(f"{title}{of_one}", value[at].ravel(), ticks)
        else:
            yield HeatMap(title, value[at], rows, columns, low, high, None if hidden is None else hidden[at])


def _vector(title: str, value: Array, ticks: Ticks) -> Picture:
    if ticks.own or len(value) < LONG:
        return Bars(title, value, ticks)
    return Curves(title, ticks.name, (Line(title, np.arange(len(value)), value),))


def _ticks(step: Step, position: int) -> Ticks:
    axis, size = step.axes[position], step.shape[position]
    return Ticks(axis, step.labels.get(axis) or tuple(map(str, range(size))), axis in step.labels)


def span(value: Array) -> tuple[float, float]:
    """The range that shades stand for: from 0 if that is not far below the smallest entry."""
    finite = value[np.isfinite(value)]
    if not finite.size:
        return 0.0, 0.0
    low, high = float(finite.min()), float(finite.max())
    if low >= 0 and (low <= high / 2 or low == high):
        return 0.0, high
    return (low, 0.0) if low == high else (low, high)


def _hidden(step: Step, value: Array, trace: Trace) -> Array | None:
    """Where a step before it, in the same part, has −∞ and this one is 0: softmax of what a mask hides."""
    for other in trace.steps:
        if other.group == step.group and other.axes == step.axes and other.key != step.key and other.value is not None:
            scores = numeric(other.value)
            if scores is not None and scores.shape == value.shape and (masked := np.isneginf(scores)).any():
                return np.asarray(masked & (value == 0))
    return None
