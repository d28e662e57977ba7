"""What fits on a page: the rows and columns of a value, and in words what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from attncalc.common.errors import amount, visible
from attncalc.common.numerals import Array
from attncalc.record.numbers import texts
from attncalc.render import Place, Table, View

if TYPE_CHECKING:
    from rich.text import Text

# A value as tables of text: its last two axes make a table, those in front a stack; large ones by their ends.


GAP = "…"
BLANK = "____"
LEAST_HIDDEN = 3  # a gap takes a line itself


class Limits(NamedTuple):
    """How much of a value is shown; with the view's `everything`, all of it."""

    rows: int = 24
    columns: int = 40
    tables: int = 8


class Matrix(NamedTuple):
    """One matrix: which indices of its rows and columns are shown, and their entries as text."""

    at: Place  # its place along the axes in front
    rows: tuple[int | None, ...]  # None is a gap; a vector is one row
    columns: tuple[int | None, ...]
    entries: tuple[tuple[str, ...], ...]  # a gap's are "…"


class Window(NamedTuple):
    """The matrices of a value that are shown, and in words what is not."""

    matrices: tuple[Matrix, ...]
    left_out: str = ""  # "22 more columns and 3 more rows"


def window(table: Table, view: View, limits: Limits) -> Window:
    """As much of a value as the limits let be shown; a single number is a matrix of one entry."""
    if not table.can_be_shown:
        return Window(())
    limits = whole(table.shape) if view.everything else limits
    height, breadth, number = whole(table.shape)
    rows, columns = ends(height, limits.rows), ends(breadth, limits.columns)
    places = matrices(table.shape, limits)
    chosen = np.stack([_part(table, at, rows, columns) for at in places])
    found = []
    for at, entries in zip(places, _entries(table, chosen, view), strict=True):
        lines = [[*line] for line in entries.tolist()]
        if len(columns) < breadth:
            for line in lines:
                line.insert(-1, GAP)
        if len(rows) < height:
            lines.insert(-1, [GAP] * len(lines[0]))
        found.append(Matrix(at, _with_gap(rows, height), _with_gap(columns, breadth), tuple(map(tuple, lines))))
    missing = (breadth - len(columns), "column"), (height - len(rows), "row"), (number - len(places), "table")
    return Window(tuple(found), left_out(missing))


def whole(shape: Sequence[int]) -> Limits:
    """The limits that let all of a value be shown: how many rows, columns and matrices it has."""
    height, breadth = (1, 1, *shape)[-2:]
    return Limits(height, breadth, prod(shape[:-2]))


def ends(size: int, most: int) -> list[int]:
    """The indices that are shown of an axis: all of them, or the first ones and the last."""
    return list(range(size)) if size <= most else [*range(most - LEAST_HIDDEN), size - 1]


def matrices(shape: Sequence[int], limits: Limits) -> list[Place]:
    """The places of the matrices of a stack that are shown."""
    numbers = ends(prod(shape[:-2]), limits.tables)
    return [tuple(int(i) for i in np.unravel_index(number, shape[:-2])) for number in numbers]


def _part(table: Table, at: Place, rows: Sequence[int], columns: Sequence[int]) -> Array:
    """Some rows and columns of one matrix of a stack, a vector being a row."""
    if table.value is None:
        assert table.ends is not None, "asked of what can be shown"
        there = [[kept.index(i) for i in chosen] for kept, chosen in zip(table.ends[:2], (rows, columns), strict=True)]
        return table.ends.entries[at][np.ix_(*there)]
    rank = len(table.shape)
    places = [*([i] for i in at), rows, columns][-rank:] if rank else []
    chosen = table.value[np.ix_(*places)] if rank else table.value  # an exact number by itself is no array
    return chosen.reshape(len(rows), len(columns))


def _with_gap(indices: Sequence[int], size: int) -> tuple[int | None, ...]:
    return tuple(indices) if len(indices) == size else (*indices[:-1], None, indices[-1])


def _entries(table: Table, chosen: Array, view: View) -> Array:
    """The entries as text; those that stand for something by its name, `queen (4)`; words as they are."""
    if table.blank:
        return np.full(chosen.shape, BLANK, dtype=object)
    if not table.names and not table.is_words:
        return texts(chosen, view.digits)
    result = np.empty(chosen.shape, dtype=object)
    named = (f"{table.names[int(i)]} ({int(i)})" for i in chosen.ravel()) if table.names else map(str, chosen.flat)
    result.ravel()[:] = [visible(words) for words in named]
    return result


def number(table: Table, view: View) -> str:
    """A single number, as text."""
    return window(table, view, Limits()).matrices[0].entries[0][0]


def located(table: Table, matrix: Matrix) -> Iterator[tuple[Place, str]]:
    """The entries that are shown, with their places."""
    for i, line in zip(matrix.rows, matrix.entries, strict=True):
        for j, entry in zip(matrix.columns, line, strict=True):
            if i is not None and j is not None:
                yield (*matrix.at, i, j)[-len(table.shape) :] if table.shape else (), entry


def left_out(hidden: Iterable[tuple[int, str]]) -> str:
    """`22 more columns and 3 more rows`; "" where nothing is."""
    parts = [amount(count, f"more {thing}") for count, thing in hidden if count]
    return " and ".join(parts)


def axes(table: Table) -> tuple[str, str]:
    """The names of the axes of rows and of columns; a vector has columns alone."""
    down, across = ("", "", *table.axes)[-2:]
    return down, across


class Labelled(Protocol):
    """What has labels along its axes."""

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """An axis → its labels."""


def label(table: Labelled, axis: str, index: int) -> str:
    """The label of an index along an axis, or the index itself."""
    labels = table.labels.get(axis)
    return visible(labels[index]) if labels else str(index)


def heading(table: Table, matrix: Matrix) -> str:
    """Which matrix of a stack it is: `b = 1, h = 0`."""
    return ", ".join(f"{axis} = {label(table, axis, i)}" for axis, i in zip(table.axes, matrix.at, strict=False))


# What tables and pictures on a terminal share.


FAINT = "dim"  # indices, lines and gaps: no weaker than that, since a reader must see them on any background


def right(text: str, width: int) -> str:
    """Text at the right of so many columns, however wide its characters are."""
    from rich.cells import cell_len  # a door, as below: only what a terminal shows needs Rich

    return " " * (width - cell_len(text)) + text


def shortened(text: str, width: int, view: View) -> str:
    """A label within so many columns, with the sign of a gap where it is cut."""
    from rich.cells import cell_len, set_cell_size

    text, gap = view.spell(text), view.spell(GAP)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width) if width <= len(gap) else set_cell_size(text, width - len(gap)) + gap


def missing(view: View, *hidden: tuple[int, str]) -> Iterator[Text]:
    """`… 22 more columns and 3 more rows (--all shows them)`, where any are."""
    from rich.text import Text

    if words := left_out(hidden):
        yield Text(view.spell(f"{GAP} {words} (--all shows them)"), FAINT)
