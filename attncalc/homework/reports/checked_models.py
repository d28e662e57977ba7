"""What the check of a model's dump looks like: a line a layer, the first step that diverges, and what is behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from math import prod

import numpy as np

from attncalc.common.errors import amount
from attncalc.record.numbers import format_number
from attncalc.record.verdicts import SOUND, Marked, MarkedStep
from attncalc.render.page import Block, Heading, Page, Paragraph, Part, Row, Rows


def page(marked: Marked) -> Page:
    """The layers, what diverges first, other mistakes that do not follow from it, and the verdict."""
    title = f"{marked.calculation}, checked"
    wrong = [step for step in marked.steps if step.verdict not in SOUND]
    blocks: list[Block] = [Heading(title), Part("section", Heading("By layer"), (_layers(marked),))]
    if wrong:
        blocks.append(Part("section", Heading("First step that diverges"), tuple(_told(wrong[0]))))
    others = [step for step in wrong[1:] if step.mistake and step.mistake != wrong[0].mistake]
    if others:
        found = tuple(Paragraph(f"{step.name}: {_blame(step)}") for step in others)
        blocks.append(Part("section", Heading("And besides"), found))
    right = amount(len(marked.steps) - len(wrong), "array")
    said = f"{marked.verdict}: {right} of {len(marked.steps)} as they should be"
    said += f"; first wrong at {wrong[0].name}" if wrong else ""
    return Page(title, (*blocks, Paragraph(said, "wrong" if wrong else "sound")))


def _layers(marked: Marked) -> Rows:
    """A line for each layer, and for what lies around the layers."""
    rows = []
    for part, steps in groupby(marked.steps, key=lambda step: _part(step.name)):
        inside = list(steps)
        verdicts = Counter(step.verdict for step in inside)
        how = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        worst = max((step.max_error or 0.0 for step in inside), default=0.0)
        first = next((step.name.removeprefix(f"{part}/") for step in inside if step.verdict not in SOUND), "")
        rows.append(Row((part, how, format_number(worst), first)))
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


def _worst(step: MarkedStep) -> Iterator[str]:
    """`off most by 0.0123 at [1,5,2]; wrong are 12 of 72 entries, in head 1: 12`."""
    given, expected = (np.array(value, dtype=np.float64) for value in (step.given, step.expected))
    if given.shape != expected.shape or not given.ndim:
        return
    with np.errstate(all="ignore"):
        off = np.abs(given - expected)
    off = np.where(np.isnan(off), np.inf, off)
    at = np.unravel_index(int(off.argmax()), off.shape)
    yield f"off most by {format_number(float(off[at]))} at [{','.join(map(str, at))}]"
    number = step.finding.wrong.number
    if number:
        yield f"wrong are {number} of {prod(step.shape)} entries"
    if len(step.shape) > 2 and step.finding.wrong.cells:
        heads = Counter(cell[-3] for cell in step.finding.wrong.cells)
        if len(heads) < step.shape[-3]:
            yield f"in {'head' if len(heads) == 1 else 'heads'} {', '.join(map(str, sorted(heads)))} alone"
