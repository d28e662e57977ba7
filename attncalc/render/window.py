"""A value as tables of text: its last two axes make a table, those in front a stack; large ones by their ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncalc.numbers import texts
from attncalc.render.view import View
from attncalc.text import amount, visible
from attncalc.trace import Step

if TYPE_CHECKING:
    from attncalc.arrays import Array

GAP = "…"
LEAST_HIDDEN = 3  # a gap takes a line itself


class Limits(NamedTuple):
    """How much of a value is shown; with the view's `everything`, all of it."""

    rows: int = 24
    columns: int = 40
    tables: int = 8


class Table(NamedTuple):
    """One matrix: which indices of its rows and columns are shown, and their entries as text."""

    at: tuple[int, ...]  # its place along the axes in front
    rows: tuple[int | None, ...]  # None is a gap; a vector is one row
    columns: tuple[int | None, ...]
    entries: tuple[tuple[str, ...], ...]  # a gap's are "…"


class Window(NamedTuple):
    """The tables of a value that are shown, and in words what is not."""

    tables: tuple[Table, ...]
    left_out: str = ""  # "22 more columns and 3 more rows"


def window(step: Step, view: View, limits: Limits) -> Window:
    """As much of the step's value as the limits let be shown; a single number is a table of one entry."""
    if not step.can_be_shown:
        return Window(())
    sizes = (prod(step.shape[:-2]), *(1, 1, *step.shape)[-2:])
    shown = [_ends(size, most, view) for size, most in zip(sizes, (limits.tables, *limits[:2]), strict=True)]
    numbers, rows, columns = shown
    places = [tuple(int(i) for i in np.unravel_index(number, step.shape[:-2])) for number in numbers]
    chosen = np.stack([table_at(step, at, rows, columns) for at in places])
    found = []
    for at, entries in zip(places, _entries(step, chosen, view), strict=True):
        table = [[*line] for line in entries.tolist()]
        if len(columns) < sizes[2]:
            for line in table:
                line.insert(-1, GAP)
        if len(rows) < sizes[1]:
            table.insert(-1, [GAP] * len(table[0]))
        found.append(Table(at, _with_gap(rows, sizes[1]), _with_gap(columns, sizes[2]), tuple(map(tuple, table))))
    missing = [sizes[i] - len(shown[i]) for i in (2, 1, 0)]
    return Window(tuple(found), left_out(zip(missing, ("column", "row", "table"), strict=True)))


def table_at(step: Step, at: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> Array:
    """Some rows and columns of one matrix of a stack, a vector being a row; of a value not kept these alone."""
    rank = len(step.shape)
    places = [*([i] for i in at), rows, columns][-rank:] if rank else []
    if step.value is not None:
        chosen = step.value[np.ix_(*places)] if rank else step.value  # an exact number by itself is no array
        return chosen.reshape(len(rows), len(columns))
    assert step.entries is not None, "asked of what can be shown"
    return step.entries(places).reshape(len(rows), len(columns))


def _ends(size: int, most: int, view: View) -> list[int]:
    """The indices that are shown of an axis: all of them, or the first ones and the last."""
    return list(range(size)) if view.everything or size <= most else [*range(most - LEAST_HIDDEN), size - 1]


def _with_gap(indices: Sequence[int], size: int) -> tuple[int | None, ...]:
    return tuple(indices) if len(indices) == size else (*indices[:-1], None, indices[-1])


def _entries(step: Step, chosen: Array, view: View) -> Array:
    """The entries as text; those that stand for something by its name, `queen (4)`; words as they are."""
    if not step.names and not is_words(step):
        return texts(chosen, view.digits)
    result = np.empty(chosen.shape, dtype=object)
    named = (f"{step.names[int(i)]} ({int(i)})" for i in chosen.ravel()) if step.names else map(str, chosen.flat)
    result.ravel()[:] = [visible(words) for words in named]
    return result


def is_words(step: Step) -> bool:
    """Whether the value is no number but text: an operand that is a formula."""
    return step.value is not None and step.value.dtype.kind == "U"


def left_out(hidden: Iterable[tuple[int, str]]) -> str:
    """`22 more columns and 3 more rows`; "" where nothing is."""
    parts = [amount(count, f"more {thing}") for count, thing in hidden if count]
    return " and ".join(parts)


def label(step: Step, axis: str, index: int) -> str:
    """The label of an index along an axis, or the index itself."""
    labels = step.labels.get(axis)
    return visible(labels[index]) if labels else str(index)


def heading(step: Step, table: Table) -> str:
    """Which matrix of a stack it is: `b = 1, h = 0`."""
    return ", ".join(f"{axis} = {label(step, axis, i)}" for axis, i in zip(step.axes, table.at, strict=False))
