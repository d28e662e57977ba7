"""Lines without boxes, for screen readers and pipes: formulas also in words, numbers in full, one line for each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from attncalc.common.errors import amount
from attncalc.common.numerals import Array
from attncalc.record.numbers import numeric, shortest, texts, widened
from attncalc.render import View
from attncalc.render.glyphs import to_words
from attncalc.render.page import Arithmetic, Formula, Heading, Note, Page, Paragraph, Part, Points, Rows, Table, Verdict


def write(page: Page, view: View) -> str:
    """The page as lines that can be read out; for a value alone, its rows."""
    lines = [(line,) if isinstance(line, str) else line for line in _lines(page, view)]
    return "".join("\t".join(map(view.spell, line)) + "\n" for line in lines)


def _lines(page: Page, view: View) -> Iterator[str | Sequence[str]]:
    if page.values:
        yield from _values(page.blocks, view)
        return
    counts = next((part for part in page.all(Part) if any(line.at for line in part.lines)), None)
    for number, block in enumerate(page.blocks):
        if isinstance(block, Heading | Paragraph):
            yield block.text
        elif isinstance(block, Verdict):
            yield from _verdict(block)
        elif isinstance(block, Rows):
            yield from _rows(block)
        elif isinstance(block, Part):
            if block.kind == "cells":
                yield from [""] if number else []
                yield from _cells(block, counts=block is counts)
            else:
                yield from _part(block, view)


def _part(part: Part, view: View) -> Iterator[str | Sequence[str]]:
    steps = part.steps
    if part.kind == "given":
        yield from map(_operand, part.all(Table))
        yield from (note.text for note in part.all(Note))
    elif part.kind in ("steps", "result"):
        for each in part.blocks:
            if isinstance(each, Paragraph):  # on turns that are left out
                yield from ["", each.text]
                continue
            for step in each.all(Part):
                yield from _step(step, view) if step.kind == "step" else []
        if part.kind == "result" and not view.show:
            yield from ["", f"result: {steps[0].heading.key}", *_values(steps[0].blocks, view)]
    else:
        yield from _section(part, view)


def _operand(table: Table) -> str:
    source = f" from {table.source}" if table.source else ""
    note = f", {table.note}" if table.note else ""
    return f"{table.name}{source}: {table.value if table.is_words else _sizes(table)}{note}"


def _step(part: Part, view: View) -> Iterator[str]:
    name = part.heading.key
    yield from ["", f"step {part.heading.number}: {name}" if part.heading.number else f"output: {name}"]
    table = part.one(Table)
    for block in part.blocks:
        if isinstance(block, Formula):
            words = to_words(block.text)
            yield from [f"formula: {block.text}"] if block.text else []
            yield from [f"in words: {words}"] if words != block.text else []
            yield from [f"shape: {_sizes(table)}"] if table.shape else []
        elif isinstance(block, Paragraph):
            yield f"why: {block.text}" if block.kind == "why" else block.text
    yield from _labels(table)
    lines = part.lines
    every = len(lines) == prod(table.shape)
    yield from (f"worked out: {' = '.join(line.links) if every else line.text}" for line in lines)
    yield from (note.text for note in part.all(Note) if note.kind != "silent")
    if table.names and table.full is not None:
        yield f"stands for: {', '.join(table.names[int(i)] for i in table.full.ravel())}"
    yield from _values(part.blocks, view)


def _cells(part: Part, *, counts: bool) -> Iterator[str]:
    """The arithmetic of entries, below their step's formula; if it `counts`, it says that indices count from 0."""
    formula = part.one(Formula)
    why = part.one(Paragraph)
    arithmetic = part.one(Arithmetic)
    counted = " (indices from 0)" if counts else ""
    yield f"{part.heading.text} = {formula.text}"
    yield f"{why.text}{counted}".strip()
    yield from (line.text for line in arithmetic.lines)
    yield from (note.text for note in part.all(Note))


def _section(part: Part, view: View) -> Iterator[str | Sequence[str]]:
    """A heading and its contents; for a list that programs read, only the list."""
    points = [point for block in part.all(Points) for point in block.points]
    if any(point.fields for point in points):
        yield from (point.fields for point in points)
        return
    yield from ["", part.heading.text]
    for block in part.blocks:
        if isinstance(block, Paragraph):
            yield block.text
        elif isinstance(block, Points):
            for point in block.points:
                words = to_words(point.text) if point.latex else point.text
                yield point.mark.removeprefix("· ") + point.text + (f": {point.value}" if point.value else "")
                yield from [f"in words: {words}"] if words != point.text else []
                yield from [point.words] if point.words else []
        elif isinstance(block, Table):
            yield from _given(block, view) if part.kind == "exercises" else _result(block, view)
        elif isinstance(block, Verdict):
            yield from _verdict(block)
        elif isinstance(block, Rows):
            yield from _rows(block)
        elif isinstance(block, Part) and part.kind == "exercises":
            yield from _step(block, view) if block.kind == "exercise" else ["", block.heading.text]


def _given(table: Table, view: View) -> Iterator[str]:
    """An operand and its entries, which a listener finds nowhere else."""
    yield from [_operand(table), *_labels(table)]
    yield from [] if table.is_words else _values([table], view)


def _result(table: Table, view: View) -> Iterator[str]:
    yield from [f"result: {table.name}", *_values([table], view)]


def _labels(table: Table) -> Iterator[str]:
    return (f"{axis}: {', '.join(labels)}" for axis, labels in table.labels.items())


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield f"step: {verdict.name}"
    reached, _, out_of = verdict.marks.partition(" of ")
    yield f"verdict: {verdict.verdict}, {reached} of {amount(out_of, 'mark')}"
    told = {
        "mistake": verdict.mistake,
        "hint": verdict.hint,
        "shape": verdict.misshapen * (verdict.misshapen not in verdict.hint),
        "answered": "; ".join(" ".join(row) for row in verdict.given),
        "wrong entries": verdict.wrong_entries,
        "would tell apart": verdict.apart,
        "revealed": verdict.revealed,
    }
    yield from (f"{name}: {words}" for name, words in told.items() if words)


def _rows(rows: Rows) -> Iterator[str]:
    """A line for each row, with each cell after the name of its column."""
    for row in rows.rows:
        named = (f"{name}: {cell}" if name else cell for name, cell in zip(rows.head, row.cells, strict=True) if cell)
        yield "; ".join(named)


# Values


def _values(blocks: Sequence[Any], view: View) -> Iterator[str]:
    for table in (block for block in blocks if isinstance(block, Table)):
        if not table.blank:
            lines = [[table.instead]] if table.full is None else rows(table.full, view.digits)
            if table.written is not None:
                lines = np.atleast_2d(table.written).tolist()
            yield from (" ".join(map(str, line)).replace(".", table.decimal) for line in lines)


def rows(value: Array, digits: int | None = None) -> Iterator[list[str]]:
    """The rows of a value: a number or a vector is one row; an empty row separates the matrices of a stack."""
    written = np.atleast_2d(_entries(value, digits))
    for number, matrix in enumerate(written.reshape(-1, *written.shape[-2:])):
        if number:
            yield []
        yield from matrix.tolist()


def _entries(value: Array, digits: int | None) -> Array:
    """The entries as text that every program can read, infinities too, without blanks inside.

    With `digits`, exact numbers are written as decimals, unless they hold letters.
    """
    if digits is not None and value.dtype == object:
        decimals = numeric(value)
        value, digits = (value, None) if decimals is None else (decimals, digits)
    if digits is None:
        written = [shortest(x) for x in widened(value).ravel().tolist()]
    else:
        written = [
            text.replace("−∞", "-inf").replace("∞", "inf").replace("NaN", "nan") for text in texts(value, digits).flat
        ]
    result = np.empty(value.shape, dtype=object)
    result.ravel()[:] = [text.replace(" ", "") for text in written]
    return result


def _sizes(table: Table) -> str:
    """`n 2 by m 3`."""
    names = table.axes or ("",) * len(table.shape)
    named = (f"{name} {size}".strip() for name, size in zip(names, table.shape, strict=True))
    return " by ".join(named) or "a single number"
