"""What learning platforms get of a quiz: its gaps, one for every entry, and its text in elements that all of them take.

Answers are fixed there: what follows from an earlier error counts as wrong, and the text says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from html import escape
from math import isfinite, lcm
from typing import Any

import numpy as np

from attncalc.common.errors import visible
from attncalc.common.system import NamedTuple
from attncalc.declare.mistake import Mistake
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.worksheets import DECIMALS, Exercise
from attncalc.render import View
from attncalc.render.page import (
    BLANK,
    Formula,
    Heading,
    Limits,
    Page,
    Paragraph,
    Part,
    Place,
    Table,
    axes,
    heading,
    label,
    number,
    whole,
    window,
)

FIXED = "Each gap is marked by itself: what follows from an earlier error counts as wrong."
BY_HAND = "This step is not marked here: it may be written in several ways, or is no finite number."
OFF = 0.505 * 10**-DECIMALS
"""How far an answer with the decimals that a worksheet asks for may be off."""
WIDER = 10
"""How many times further off an answer may be and still count as a mistake's, if nothing else is near."""
LEFT_OVER = 1e-12
MOST_WEIGHT = 840
"""Gaps are weighted so that all steps count the same, unless a weight might be larger than this."""

Where = tuple[str, Place]
"""An entry: the key of its step, and its place there."""


class Wrong(NamedTuple):
    """An answer that a known mistake gives."""

    mistake: Mistake
    value: float
    off: float


class Gap(NamedTuple):
    """An entry that is asked for."""

    name: str  # identifies its answer
    right: tuple[float, ...]  # by the usual rules, and by alternatives
    weight: int
    wrong: tuple[Wrong, ...]


def gaps(key: Key, exercises: Sequence[Exercise]) -> dict[Where, Gap]:
    """The gaps of a quiz: none for an entry that is no finite number, or a step that may be written in many ways."""
    found: dict[Where, Gap] = {}
    counts = {each.step.key: int((each.boxes == 0).sum()) for each in exercises}
    common = lcm(*filter(None, counts.values()))
    for exercise in exercises:
        step = key.names.find(exercise.step.key)
        if key.nodes[step].sources[0].row.in_form_of is not None:
            continue
        right = [value for each in key.right if (value := key.value(step, each)) is not None]
        wrong = [(each.mistakes[0], value) for each in key.wrong if (value := key.value(step, each)) is not None]
        weight = common // counts[exercise.step.key] if common <= MOST_WEIGHT and counts[exercise.step.key] else 1
        for at, asked in np.ndenumerate(exercise.boxes):
            values = _different(float(value[at]) for value in right if value.shape == exercise.step.shape)
            if asked == 0 and all(map(isfinite, values)):
                others = [(rule, float(value[at])) for rule, value in wrong if value.shape == exercise.step.shape]
                name = f"gap{len(found) + 1}"
                found[exercise.step.key, at] = Gap(name, values, weight, tuple(_told_apart(values, others)))
    return found


def _different(values: Iterator[float]) -> tuple[float, ...]:
    """The values that differ by more than rounding."""
    found: list[float] = []
    for value in values:
        if not any(abs(value - other) <= OFF for other in found):
            found.append(value)
    return tuple(found)


def _told_apart(right: Sequence[float], others: Sequence[tuple[Mistake, float]]) -> Iterator[Wrong]:
    """The answers that known mistakes give: each number once, and none that is nearly right."""
    known = [*right]
    apart = [(rule, value) for rule, value in others if isfinite(value)]
    for rule, value in apart:
        if all(abs(value - other) > 2 * OFF for other in known):
            near = [abs(value - other) for other in (*right, *(one for _, one in apart)) if other != value]
            wide = all(off > 2 * WIDER * OFF for off in near)
            known.append(value)
            yield Wrong(rule, value, WIDER * OFF if wide else OFF)


# The text with its gaps, in elements that every platform takes.


class Writing(NamedTuple):
    """How a platform wants text and gaps."""

    text: Callable[[str], str]
    gap: Callable[[Gap], str]


def body(page: Page, found: Mapping[Where, Gap], how: Writing) -> str:
    """A worksheet's blocks, with gaps in place of its boxes."""
    blocks = [
        block for block in page.blocks if not isinstance(block, Heading) and getattr(block, "kind", "") != "blank"
    ]
    return "\n".join([*_blocks(blocks, found, how), f"<p>{how.text(FIXED)}</p>"])


def _blocks(blocks: Sequence[Any], found: Mapping[Where, Gap], how: Writing, step: str = "") -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Paragraph):
            yield f"<p>{how.text(block.text)}</p>"
        elif isinstance(block, Formula) and block.text:
            yield f"<p>{how.text(f'{block.symbol} = {block.text}')}</p>"
        elif isinstance(block, Table):
            yield from _table(block, found, how, step)
        elif isinstance(block, Part):
            counted = "" if block.heading.number is None else f"{block.heading.number}. "
            name = "h4" if block.kind == "exercise" else "h3"
            yield f"<{name}>{how.text(counted + block.heading.text)}</{name}>"
            yield from _blocks(block.blocks, found, how, block.heading.key)


def _table(table: Table, found: Mapping[Where, Gap], how: Writing, step: str) -> Iterator[str]:
    """A table of values, or of gaps for the entries that are asked for."""

    def entry(text: str, at: Place) -> str:
        if text != BLANK:
            return how.text(text)
        return how.gap(found[step, at]) if (step, at) in found else "–"

    if table.blank and not any(key == step for key, _ in found):
        yield f"<p>{how.text(BY_HAND)}</p>"
        return
    if not table.shape:
        text = number(table, View(everything=True))
        yield f"<p>{how.text(table.symbol or table.name)} = {entry(text, ())}</p>"
        return
    if not table.blank:
        yield f"<p>{how.text(', '.join(filter(None, (table.symbol or table.name, table.sizes))))}</p>"
    down, across = axes(table)
    for matrix in window(table, View(everything=True), Limits(*whole(table.shape))).matrices:
        place = heading(table, matrix)
        corner = how.text(" \\ ".join(filter(None, (down, across))))
        names = "".join(f'<th scope="col">{how.text(label(table, across, j or 0))}</th>' for j in matrix.columns)
        lines = [f"<tr><th>{corner}</th>{names}</tr>"]
        for i, entries in zip(matrix.rows, matrix.entries, strict=True):
            name = how.text(label(table, down, i or 0)) if len(table.shape) > 1 else ""
            places = ((*matrix.at, i or 0, j or 0)[-len(table.shape) :] for j in matrix.columns)
            cells = "".join(f"<td>{entry(text, at)}</td>" for text, at in zip(entries, places, strict=True))
            lines.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
        yield from [f"<p>{how.text(place)}</p>"] if place else []
        yield f"<table><tbody>{''.join(lines)}</tbody></table>"


def plain(text: str) -> str:
    """Text in which nothing acts as markup."""
    return escape(visible(text), quote=False)


def written(value: float) -> str:
    """A number without an exponent, which some platforms take for text; round-off next to 0 becomes 0."""
    return f"{Decimal(f'{0.0 if abs(value) < LEFT_OVER else value:.12g}'):f}"
