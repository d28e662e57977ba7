"""The arithmetic of single entries: `scores[0,1] = Q·Kᵀ = 1×1 + 0×0 + 1×1 = 2`, indices from 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from attncalc.errors import ShapeError
from attncalc.numbers import format_number
from attncalc.render.view import View, as_read, asked_for, shown
from attncalc.render.window import table_at
from attncalc.render.worked import leading, links, written
from attncalc.trace import Step, Trace

MOST = 2_000  # entries whose arithmetic is written in one call


class Line(NamedTuple):
    """An entry and how it comes about."""

    step: Step
    at: tuple[int, ...]
    arithmetic: str  # "" where the entry is passed on unchanged, or given; else words, as `masked`, where none gives it
    value: str

    @property
    def place(self) -> str:
        """`scores[0,1]`; a scalar's place is its step."""
        return f"{self.step.key}[{','.join(map(str, self.at))}]" if self.at else self.step.key

    @property
    def links(self) -> list[str]:
        """What stands behind the place, each after a sign of equality."""
        return links(self.arithmetic, self.value)

    @property
    def text(self) -> str:
        """`scores[0,1] = 1×1 + 0×0 + 1×1 = 2`."""
        return " = ".join((self.place, *self.links))


def lines(trace: Trace, view: View) -> Iterator[Line]:
    """The entries that are asked for, in order: those of one step, or of every step that is to be shown."""
    if view.cells == ("all",):
        for step in [asked_for(trace, view)] if view.bare else [step for _, step in shown(trace, view)]:
            yield from _of_step(step, None, view)
    else:
        for word in view.cells:
            name, at = _parted(word)
            yield from _of_step(trace.find(name), at, view)


def page(trace: Trace, view: View) -> str:
    """A line an entry, with the step's formula in front where the step changes; the first says whence indices count."""
    rows: list[str] = []
    last, told = None, False
    for line in lines(trace, view):
        if line.step is not last:
            rows += [""] if rows else []
            counted = " (indices from 0)" if line.at and not told else ""
            rows += _chained(line.step.key, [f"= {line.step.formula}"], view)
            rows += _flowing(f"{line.step.why}{counted}".strip(), view)
            last, told = line.step, told or bool(counted)
        rows += _chained(line.place, [f"= {link}" for link in line.links], view)
    return "".join(f"{row}\n" for row in rows)


def _chained(start: str, links: list[str], view: View) -> Iterable[str]:
    """`scores[0,1] = 1×1 + 0×0 = 1`, or where the page is narrower with each `=` below the first, as in the steps."""
    start, *links = map(view.spell, (start, *links))
    whole = " ".join((start, *links))
    if view.columns is None or len(whole) <= view.columns:
        return [whole]
    from rich.text import Text  # a page that is wide enough, or has no width, does without

    from attncalc.render.flow import chain

    return (row.plain for row in chain(Text(start), list(map(Text, links)), view.columns))


def _flowing(words: str, view: View) -> Iterable[str]:
    """A sentence, broken between words."""
    words = view.spell(words)
    if view.columns is None or len(words) <= view.columns:
        return [words]
    from rich.text import Text

    from attncalc.render.flow import flow

    return (row.plain for row in flow(Text(words), view.columns))


def entries(trace: Trace, view: View) -> list[dict[str, Any]]:
    """The same for machines: step, indices from 0, formula, arithmetic, value."""
    return [
        {"step": line.step.key, "at": list(line.at), "formula": line.step.formula, "arithmetic": line.arithmetic}
        | {"value": line.value}
        for line in lines(trace, view)
    ]


def _parted(word: str) -> tuple[str, tuple[int, ...] | None]:
    """`scores[0,1]` or `scores:0,1` → ("scores", (0, 1)); `scores` alone is every entry of it."""
    name, mark, rest = word.replace("]", "").replace("[", ":").rpartition(":")
    if not mark:
        return word, None
    parts = [part.strip() for part in rest.split(",")] if rest else []
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise ShapeError(f"{word} is not an entry: indices are whole numbers from 0, as in scores[0,1]")
    return name, tuple(map(int, parts))


def _of_step(step: Step, at: tuple[int, ...] | None, view: View) -> Iterator[Line]:
    step = as_read(step)
    places = [at] if at is not None else islice(np.ndindex(*step.shape), MOST)
    for place in places:
        shape = " × ".join(f"{name}={size}" for name, size in zip(step.axes, step.shape, strict=True))
        if len(place) != len(step.shape) or any(i >= size for i, size in zip(place, step.shape, strict=True)):
            asked = ",".join(map(str, place))
            raise ShapeError(f"{step.key} has no entry [{asked}]: it is {shape or 'a single number'}, indices from 0")
        arithmetic = step.arithmetic(place) if step.arithmetic else ()
        entry = table_at(step, place[:-2], *([i] for i in (0, 0, *place)[-2:]))[0, 0]
        value = format_number(entry, view.digits)
        yield Line(step, place, leading(written(arithmetic, view.digits), value), value)
