"""What the check of a model's dump looks like: a line a layer, the first step that diverges, and what is behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from math import isfinite, prod

import numpy as np

from attncalc.common.errors import AttncalcError, amount, place_text
from attncalc.common.numerals import Array
from attncalc.record.numbers import format_number
from attncalc.record.trace import Trace
from attncalc.record.verdicts import FOLLOWS, SOUND, Marked, MarkedStep
from attncalc.render import View
from attncalc.render.entries import cells
from attncalc.render.page import Arithmetic, Block, Heading, Map, Page, Paragraph, Part, Row, Rows, Spot

MOST_WORKED = 64
"""The arithmetic of an entry is shown for at most this many wrong steps."""
LEAST_BEYOND = 1.01
"""A wrong step is shown to be off by at least this many times the allowed error."""
AROUND = "model"
"""The line of the steps around the layers."""


def page(marked: Marked, trace: Trace | None = None) -> Page:
    """The layers, what diverges first, other mistakes that do not follow from it, and the verdict; then every step.

    The steps serve formats in which one can go from a layer to a step. Of a wrong step, the entry that is furthest off
    is worked out if the trace is given.
    """
    title = f"{marked.calculation}, checked"
    wrong = [step for step in marked.steps if step.verdict not in SOUND]
    blocks: list[Block] = [Heading(title), Part("section", Heading("By layer"), tuple(_maps(marked, wrong)))]
    if wrong:
        told = (*_told(wrong[0]), *_worked(wrong[0], trace))
        blocks.append(Part("section", Heading("First step that diverges", key=wrong[0].name), told))
    others = [step for step in wrong[1:] if step.mistake and step.mistake != wrong[0].mistake]
    if others:
        found = tuple(Paragraph(f"{step.name}: {_blame(step)}") for step in others)
        blocks.append(Part("section", Heading("And besides"), found))
    judged = Counter(step.hint for step in marked.steps if step.verdict in SOUND and step.hint)  # by which type's noise
    blocks += [Paragraph(f"{amount(count, 'array')}: {how}", "remark") for how, count in judged.items()]
    right = amount(len(marked.steps) - len(wrong), "array")
    said = f"{marked.verdict}: {right} of {len(marked.steps)} as they should be"
    said += f"; first wrong at {wrong[0].name}" if wrong else ""
    end = Paragraph(said, "wrong" if wrong else "sound")
    return Page(title, (*blocks, end, Part("opened", Heading("Step by step"), tuple(_opened(marked, wrong, trace)))))


def _maps(marked: Marked, wrong: Sequence[MarkedStep]) -> Iterator[Map]:
    """A map of the layers, with their steps by name, and one of the steps around the layers, in a single line."""
    layers: dict[str, dict[str, Spot]] = {}
    for step in marked.steps:
        part = _part(step.name)
        line, name = (part, step.name.removeprefix(f"{part}/")) if "layer " in part else (AROUND, step.name)
        layers.setdefault(line, {})[name] = _spot(step, wrong)
    around, words = {AROUND: layers.pop(AROUND, {})}, _layers(marked)
    for lines, caption in ((layers, "how far each step of each layer is off"), (around, "what is around the layers")):
        names = tuple(dict.fromkeys(name for line in sorted(lines.values(), key=len, reverse=True) for name in line))
        spots = tuple((part, tuple(map(line.get, names))) for part, line in lines.items())
        yield Map(caption, names, spots, words if lines is layers else None)


NOT_MEASURED = "–"
"""Stands for the error of an array whose shape is not its step's."""


def _spot(step: MarkedStep, wrong: Sequence[MarkedStep]) -> Spot:
    """A step on a map: a wrong one is always shown beyond the allowed error, and a right one within it."""
    is_wrong, times = step.verdict not in SOUND, step.times or 0.0
    word = "first wrong" if wrong and step is wrong[0] else step.verdict if is_wrong else ""
    said = f"{step.name}: {step.mistake or step.verdict}, {_off(step)}"
    times = max(times, LEAST_BEYOND) if is_wrong else min(times, 1.0)
    error = NOT_MEASURED if _is_unlike(step) else f"{step.max_error or 0.0:.2g}"
    return Spot(step.name, error, word, said, times, is_wrong and step.verdict != FOLLOWS)


def _is_unlike(step: MarkedStep) -> bool:
    """Whether an array has another shape than its step, so that its error cannot be measured."""
    return step.max_error is None and step.verdict not in SOUND


def _off(step: MarkedStep) -> str:
    """`off by up to 0.0123, 512 times as far as numbers of its type may be`."""
    if _is_unlike(step):
        return step.finding.hint
    error, times = f"off by up to {format_number(step.max_error or 0.0)}", step.times
    if times is None or not isfinite(times):
        return error
    often = f"{times:,.0f}" if times >= 10 else f"{times:.2g}"
    return f"{error}, {often} times as far as numbers of its type may be"


def _opened(marked: Marked, wrong: Sequence[MarkedStep], trace: Trace | None) -> Iterator[Part]:
    """The findings on each step, part by part, except on the first that diverges, which stand above."""
    first, worked = marked.first_wrong, {step.name for step in wrong[:MOST_WORKED]}
    for part, steps in groupby(marked.steps, key=lambda step: _part(step.name)):
        inside = [step for step in steps if step.name != first]
        told = tuple(
            Part("section", Heading(step.name), tuple(_told_below(step, trace if step.name in worked else None)))
            for step in inside
        )
        state = "wrong" if any(step.name in worked for step in inside) else ""
        yield Part("group", Heading(part, key=state), told)


def _told_below(step: MarkedStep, trace: Trace | None) -> Iterator[Block]:
    yield Paragraph(f"{step.verdict}, {_off(step)}")
    if step.verdict not in SOUND:
        yield from [Paragraph(_blame(step))] if step.mistake else []
        yield from (Paragraph(where) for where in _worst(step))
        yield from _worked(step, trace)


def _worked(step: MarkedStep, trace: Trace | None) -> Iterator[Block]:
    """How far off each head is; how the entry that is furthest off is computed, and what the dump has there."""
    off, at = _astray(step), step.at
    if trace is None or off is None or not at:
        return
    with suppress(AttncalcError):  # a large run has not kept what it is made of
        axes = trace.find(step.name).axes
        if "h" in axes and len(axes) == off.ndim:
            heads = off.max(axis=tuple(place for place, axis in enumerate(axes) if axis != "h"))
            each = (f"{head} by {format_number(float(most))}" for head, most in enumerate(heads))
            yield Paragraph(f"head {', '.join(each)}")
        found = cells(trace, View(cells=(step.name + place_text(at),)))
        yield Arithmetic(tuple(line for _, line in found))
        yield Paragraph(f"the dump has {format_number(float(np.array(step.given, dtype=np.float64)[at]))}")


def _layers(marked: Marked) -> Rows:
    """A line for each layer, and for what lies around the layers."""
    rows = []
    for part, steps in groupby(marked.steps, key=lambda step: _part(step.name)):
        inside = list(steps)
        verdicts = Counter(step.verdict for step in inside)
        how = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        worst = max((step.max_error or 0.0 for step in inside), default=0.0)
        first = next((step.name.removeprefix(f"{part}/") for step in inside if step.verdict not in SOUND), "")
        rows.append(Row((part, how, NOT_MEASURED if any(map(_is_unlike, inside)) else format_number(worst), first)))
    return Rows("the layers", ("part", "arrays", "largest error", "first wrong"), tuple(rows))


def _part(name: str) -> str:
    """The part of a model that a step lies in: `layer 3`, `decoder/layer 3`, `logits`."""
    stack, *inner = name.split("/")
    return f"{stack}/{inner[0]}" if stack in ("encoder", "decoder") and inner else stack


def _told(step: MarkedStep) -> Iterator[Paragraph]:
    yield Paragraph(f"{step.name}: {step.verdict}")
    if step.mistake:
        yield Paragraph(_blame(step))
    if step.hint:
        yield Paragraph(step.hint)
    yield from (Paragraph(where) for where in _worst(step))


def _blame(step: MarkedStep) -> str:
    also = f" (or {', '.join(step.finding.also)})" if step.finding.also else ""
    return f"{step.mistake}{also}: {step.finding.says}"


def _astray(step: MarkedStep) -> Array | None:
    """How far each entry is off; None if the shapes differ, or if there is only one number."""
    given, expected = (np.array(value, dtype=np.float64) for value in (step.given, step.expected))
    if given.shape != expected.shape or not given.ndim:
        return None
    with np.errstate(all="ignore"):
        off = np.abs(given - expected)
    return np.where(np.isnan(off), np.inf, off)


def _worst(step: MarkedStep) -> Iterator[str]:
    """`off most by 0.0123 at [1,5,2]`, `wrong are 12 of 72 entries`, `in head 1 alone`."""
    if not step.at:
        return
    yield f"off most by {format_number(step.max_error or 0.0)} at {place_text(step.at)}"
    number = step.finding.wrong.number
    if not number and step.mistake:
        yield "no entry by itself is further off than numbers of its type may be: all together tell of this mistake"
    if number:
        yield f"wrong are {number} of {prod(step.shape)} entries"
    if len(step.shape) > 2 and step.finding.wrong.cells:
        heads = Counter(cell[-3] for cell in step.finding.wrong.cells)
        if len(heads) < step.shape[-3]:
            yield f"in {'head' if len(heads) == 1 else 'heads'} {', '.join(map(str, sorted(heads)))} alone"
