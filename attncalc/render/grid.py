"""A value as lines of text: a number, a row, a table with its axes' names and labels, or a stack of tables.

Numbers stand whole on every page: what does not fit is left out by whole columns and rows, and said to be; with
`everything` a table is split into blocks of columns instead. A table whose entries are too wide for that is told as
a list, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from attncalc.numbers import align, format_number, texts
from attncalc.render.flow import flow
from attncalc.render.view import View
from attncalc.trace import Step

Array = NDArray[Any]

MOST_ROWS, MOST_COLUMNS, MOST_TABLES = 24, 40, 8
ALWAYS_WHOLE = 12  # columns: what a student writes out by hand is shown whole on the narrowest page
LEAST_HIDDEN = 3  # a gap takes a line itself
LONGEST_LABEL = 16

GAP, BAR, BETWEEN = "…", " │ ", "  "
FAINT = "dim"  # indices, lines and gaps: no weaker than that, since a reader must see them on any background


def grid(step: Step, view: View, *, indent: int = 0, style: str = "") -> list[Text]:
    """The step's value as lines that begin `indent` columns from the margin; `style` is that of its numbers."""
    page = _Page(step, view, None if view.columns is None else view.columns - indent, style)
    return [Text(" " * indent).append_text(line) if line else line for line in _value(page)]


class _Page(NamedTuple):
    """What is drawn, and where."""

    step: Step
    view: View
    width: int | None
    style: str

    def holds(self, width: int) -> bool:
        """Whether lines of this width fit."""
        return self.width is None or width <= self.width

    def label(self, axis: str, index: int) -> str:
        """The label of an index along an axis, or the index itself."""
        labels = self.step.labels.get(axis)
        text = self.view.spell(labels[index]) if labels else str(index)
        if cell_len(text) <= LONGEST_LABEL:
            return text
        gap = self.view.spell(GAP)
        return set_cell_size(text, LONGEST_LABEL - len(gap)) + gap


class _Column(NamedTuple):
    header: str
    cells: list[str]
    width: int
    gap: bool = False  # whether it stands for columns that are left out


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A matrix as text: a label for each row, and the columns."""

    corner: str
    labels: list[str]
    columns: list[_Column]
    margin: int  # the width of the labels
    label_style: str
    header_style: str

    def width(self, columns: Sequence[_Column]) -> int:
        """The width of the matrix, were these its columns."""
        return self.margin + len(BAR) + sum(column.width for column in columns) + len(BETWEEN) * (len(columns) - 1)


def _value(page: _Page) -> Iterator[Text]:
    step, view = page.step, page.view
    value = step.value
    if value is None:
        facts = {name: fact for name, fact in (step.summary or {}).items() if np.ndim(fact) == 0}
        words = "".join(f", {name} {format_number(fact, view.digits)}" for name, fact in facts.items())
        return flow(Text(view.spell(f"too large to keep{words} (--all keeps it)"), FAINT), page.width, hang=2)
    if value.size == 0:
        return iter([Text(view.spell(f"no entries: {'×'.join(map(str, value.shape))}"), FAINT)])
    if value.ndim == 0:
        return flow(Text(_entries(step, value, view).item(), page.style), page.width, hang=2)
    return _tables(value if value.ndim > 1 else value[np.newaxis], page)


def _tables(value: Array, page: _Page) -> Iterator[Text]:
    """The last two axes as a table; for each index of the axes in front of them one, under a heading."""
    view, leading = page.view, value.shape[:-2]
    numbers = _ends(prod(leading), MOST_TABLES, view)
    rows, columns = _ends(value.shape[-2], MOST_ROWS, view), _ends(value.shape[-1], MOST_COLUMNS, view)
    stack = value.reshape(-1, *value.shape[-2:])[np.ix_(numbers, rows, columns)]
    previous = -1
    for number, entries in zip(numbers, _entries(page.step, stack, view), strict=True):
        if number and leading:
            yield Text()
        if number > previous + 1:
            yield from _left_out([(number - previous - 1, "table")], page)
            yield Text()
        if leading:
            yield from _heading(np.unravel_index(number, leading), page)
        previous = number
        yield from _table(entries, rows, columns, page)


def _table(entries: Array, rows: list[int], columns: list[int], page: _Page) -> Iterator[Text]:
    step, view = page.step, page.view
    row_axis, column_axis = ("", "", *step.axes)[-2:]
    is_row = len(step.shape) == 1
    corner = view.spell(column_axis if is_row else f"{row_axis} ╲ {column_axis}")
    labels = [""] if is_row else [page.label(row_axis, i) for i in rows]
    matrix = _Matrix(
        corner,
        labels,
        [_column(page.label(column_axis, j), align(list(cells))) for j, cells in zip(columns, entries.T, strict=True)],
        margin=max(map(cell_len, [corner, *labels])),
        label_style="" if row_axis in step.labels else FAINT,
        header_style="" if column_axis in step.labels else FAINT,
    )
    hidden_rows = 0 if is_row else step.shape[-2] - len(rows)
    hidden_columns = step.shape[-1] - len(columns)
    if not all(page.holds(matrix.width([column])) for column in matrix.columns):
        yield from _list(entries, rows, columns, page)
    elif view.everything or step.shape[-1] <= ALWAYS_WHOLE:
        for number, block in enumerate(_blocks(matrix, page)):
            if number:
                yield Text()
            yield from _drawn(matrix, block, hidden_rows, page)
    else:
        fitting = _fitting(matrix, hidden_columns, page)
        hidden_columns = step.shape[-1] - sum(not column.gap for column in fitting)
        yield from _drawn(matrix, fitting, hidden_rows, page)
    if hidden_columns or hidden_rows:
        yield from _left_out([(hidden_columns, "column"), (hidden_rows, "row")], page)


def _column(header: str, cells: list[str], *, gap: bool = False) -> _Column:
    return _Column(header, cells, max(cell_len(header), *map(cell_len, cells)), gap)


def _ends(count: int, most: int, view: View) -> list[int]:
    """The indices that are shown of an axis: all, or the first ones and the last."""
    return list(range(count)) if view.everything or count <= most else [*range(most - LEAST_HIDDEN), count - 1]


def _entries(step: Step, chosen: Array, view: View) -> Array:
    """The entries as text; those that stand for something by its name, `queen (4)`."""
    if step.names:
        written = [f"{step.names[int(i)]} ({int(i)})" for i in chosen.ravel()]
    else:
        written = list(texts(chosen, view.digits).flat)
    result = np.empty(chosen.size, dtype=object)
    result[:] = written if view.unicode and not step.names else [view.spell(text) for text in written]
    return result.reshape(chosen.shape)


def _heading(index: Sequence[Any], page: _Page) -> Iterator[Text]:
    """`b = 1, h = 0`."""
    places = (f"{axis} = {page.label(axis, int(i))}" for axis, i in zip(page.step.axes, index, strict=False))
    return flow(Text(", ".join(places), "bold"), page.width)


def _blocks(matrix: _Matrix, page: _Page) -> list[list[_Column]]:
    """All the columns, in as few groups as fit the page, of about the same size."""
    columns = matrix.columns
    for count in range(1, len(columns) + 1):
        size = -(-len(columns) // count)
        blocks = [columns[start : start + size] for start in range(0, len(columns), size)]
        if all(page.holds(matrix.width(block)) for block in blocks):
            return blocks
    return [[column] for column in columns]


def _fitting(matrix: _Matrix, hidden: int, page: _Page) -> list[_Column]:
    """The columns; or as many of the first as fit, a gap, and the last one."""
    *first, last = matrix.columns
    if not hidden and page.holds(matrix.width(matrix.columns)):
        return matrix.columns
    sign = page.view.spell(GAP)
    gap = _column(sign, [sign] * len(last.cells), gap=True)
    while first and not page.holds(matrix.width([*first, gap, last])):
        first.pop()
    return [*first, gap, last] if first else [matrix.columns[0]]


def _drawn(matrix: _Matrix, columns: list[_Column], hidden_rows: int, page: _Page) -> Iterator[Text]:
    spell = page.view.spell
    gaps = [spell(GAP)] * len(columns)
    rule = "─" * (matrix.margin + 1) + "┼" + "─" * (matrix.width(columns) - matrix.margin - 2)
    yield _line(
        matrix, columns, (matrix.corner, FAINT), ([column.header for column in columns], matrix.header_style), page
    )
    yield Text(spell(rule), FAINT)
    for number, label in enumerate(matrix.labels):
        if hidden_rows and number == len(matrix.labels) - 1:
            yield _line(matrix, columns, (spell(GAP), FAINT), (gaps, FAINT), page)
        cells = [column.cells[number] for column in columns]
        yield _line(matrix, columns, (label, matrix.label_style), (cells, page.style), page)


def _line(
    matrix: _Matrix, columns: list[_Column], label: tuple[str, str], cells: tuple[list[str], str], page: _Page
) -> Text:
    """A label and its cells, each with a style, everything set to the right."""
    padded = [" " * (column.width - cell_len(cell)) + cell for cell, column in zip(cells[0], columns, strict=True)]
    line = Text(" " * (matrix.margin - cell_len(label[0])))
    return line.append(*label).append(page.view.spell(BAR), FAINT).append(BETWEEN.join(padded), cells[1])


def _list(entries: Array, rows: list[int], columns: list[int], page: _Page) -> Iterator[Text]:
    """`[0,1]  1/(1 + e^(√3/3)) ≈ 0.3595`, an entry a paragraph."""
    is_row = len(page.step.shape) == 1
    for (n, m), entry in np.ndenumerate(entries):
        place = f"[{columns[m]}]" if is_row else f"[{rows[n]},{columns[m]}]"
        yield from flow(Text.assemble((f"{place}  ", FAINT), (entry, page.style)), page.width, hang=4)


def _left_out(hidden: Iterable[tuple[int, str]], page: _Page) -> Iterator[Text]:
    """`… 22 more columns and 3 more rows (--all shows them)`."""
    parts = [f"{count} more {thing}{'s' * (count > 1)}" for count, thing in hidden if count]
    return flow(Text(page.view.spell(f"{GAP} {' and '.join(parts)} (--all shows them)"), FAINT), page.width, hang=2)
