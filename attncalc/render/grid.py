"""A value as lines of text: a number, a row, a table with its axes' names and labels, or a stack of tables.

Numbers stand whole on every page: what does not fit is left out by whole columns and rows, and said to be; with
`everything` a table is split into blocks of columns instead. A table whose entries are too wide for that is told as
a list, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from attncalc.numbers import align
from attncalc.render.flow import flow, right, shortened
from attncalc.render.parts import summary
from attncalc.render.view import View
from attncalc.render.window import GAP, Limits, Table, heading, label, left_out, window
from attncalc.trace import Step

ALWAYS_WHOLE = 12  # columns: what a student writes out by hand is shown whole on the narrowest page
LONGEST_LABEL = 16

BAR, BETWEEN = " │ ", "  "
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

    def label(self, axis: str, index: int | None) -> str:
        """The label of an index along an axis, or the index itself; for None, the sign of a gap."""
        return shortened(GAP if index is None else label(self.step, axis, index), LONGEST_LABEL, self.view)

    def left_out(self, *hidden: tuple[int, str]) -> Iterator[Text]:
        """`… 22 more columns and 3 more rows (--all shows them)`, where any are."""
        if words := left_out(hidden):
            yield from flow(Text(self.view.spell(f"{GAP} {words} (--all shows them)"), FAINT), self.width, hang=2)


class _Column(NamedTuple):
    """A column whose header and cells have been brought to its width."""

    header: str
    cells: list[str]
    width: int
    gap: bool = False  # whether it stands for columns that are left out


class _Matrix(NamedTuple):
    """A matrix as text: a label for each row, and the columns."""

    table: Table
    corner: str
    labels: list[str]
    columns: list[_Column]
    margin: int  # the width of the labels

    def width(self, columns: Sequence[_Column]) -> int:
        """The width of the matrix, were these its columns."""
        return self.margin + len(BAR) + sum(column.width for column in columns) + len(BETWEEN) * (len(columns) - 1)


def _value(page: _Page) -> Iterator[Text]:
    step, view = page.step, page.view
    if not step.can_be_shown:
        yield from flow(Text(view.spell(summary(step)), FAINT), page.width, hang=2)
        return
    tables = window(step, view, Limits()).tables
    if not step.shape:
        yield from flow(Text(view.spell(tables[0].entries[0][0]), page.style), page.width, hang=2)
        return
    hidden = prod(step.shape[:-2]) - len(tables)
    for number, table in enumerate(tables):
        if number:
            yield Text()
        if hidden and number == len(tables) - 1:
            yield from page.left_out((hidden, "table"))
            yield Text()
        if table.at:
            yield from flow(Text(view.spell(heading(step, table)), "bold"), page.width)
        yield from _table(table, page)


def _table(table: Table, page: _Page) -> Iterator[Text]:
    matrix = _matrix(table, page)
    shown = matrix.columns
    if not all(page.holds(matrix.width([column])) for column in matrix.columns):
        yield from _list(table, page)
    elif page.view.everything or len(matrix.columns) <= ALWAYS_WHOLE:
        for number, block in enumerate(_blocks(matrix, page)):
            if number:
                yield Text()
            yield from _drawn(matrix, block, page)
    else:
        shown = _fitting(matrix, page)
        yield from _drawn(matrix, shown, page)
    *_, height, breadth = (1, *page.step.shape)
    hidden_rows = height - sum(row is not None for row in table.rows)
    yield from page.left_out((breadth - sum(not column.gap for column in shown), "column"), (hidden_rows, "row"))


def _matrix(table: Table, page: _Page) -> _Matrix:
    row_axis, column_axis = ("", "", *page.step.axes)[-2:]
    is_row = len(page.step.shape) == 1
    corner = page.view.spell(column_axis if is_row else f"{row_axis} ╲ {column_axis}")
    labels = [""] if is_row else [page.label(row_axis, i) for i in table.rows]
    spelled = list if page.view.unicode else lambda cells: [page.view.spell(cell) for cell in cells]
    columns = [
        _column(page.label(column_axis, j), align(spelled(cells)), gap=j is None)
        for j, cells in zip(table.columns, zip(*table.entries, strict=True), strict=True)
    ]
    return _Matrix(table, corner, labels, columns, max(map(cell_len, [corner, *labels])))


def _column(header: str, cells: list[str], *, gap: bool = False) -> _Column:
    width = max(map(cell_len, (header, *cells)))
    return _Column(right(header, width), [right(cell, width) for cell in cells], width, gap)


def _blocks(matrix: _Matrix, page: _Page) -> list[list[_Column]]:
    """All the columns, in as few groups as fit the page, of about the same size."""
    columns = matrix.columns
    for count in range(1, len(columns) + 1):
        size = -(-len(columns) // count)
        blocks = [columns[start : start + size] for start in range(0, len(columns), size)]
        if all(page.holds(matrix.width(block)) for block in blocks):
            return blocks
    return [[column] for column in columns]


def _fitting(matrix: _Matrix, page: _Page) -> list[_Column]:
    """The columns; or as many of the first as fit, a gap, and the last one."""
    if page.holds(matrix.width(matrix.columns)):
        return matrix.columns
    sign = page.view.spell(GAP)
    *first, last = (column for column in matrix.columns if not column.gap)
    gap = _column(sign, [sign] * len(last.cells), gap=True)
    while first and not page.holds(matrix.width([*first, gap, last])):
        first.pop()
    return [*first, gap, last] if first else [matrix.columns[0]]


def _drawn(matrix: _Matrix, columns: list[_Column], page: _Page) -> Iterator[Text]:
    """The header, a rule, and the rows; labels of one's own are as clear as the numbers, indices fainter."""
    row_axis, column_axis = ("", "", *page.step.axes)[-2:]
    label_style, header_style = ("" if axis in page.step.labels else FAINT for axis in (row_axis, column_axis))
    bar = page.view.spell(BAR)

    def line(name: str, name_style: str, cells: Iterable[str], style: str) -> Text:
        text = Text().append(right(name, matrix.margin), name_style)
        return text.append(bar, FAINT).append(BETWEEN.join(cells), style)

    yield line(matrix.corner, FAINT, (column.header for column in columns), header_style)
    rule = "─" * (matrix.margin + 1) + "┼" + "─" * (matrix.width(columns) - matrix.margin - 2)
    yield Text(page.view.spell(rule), FAINT)
    for number, (row, name) in enumerate(zip(matrix.table.rows, matrix.labels, strict=True)):
        cells = [column.cells[number] for column in columns]
        yield line(name, FAINT if row is None else label_style, cells, FAINT if row is None else page.style)


def _list(table: Table, page: _Page) -> Iterator[Text]:
    """`[0,1]  1/(1 + e^(√3/3)) ≈ 0.3595`, an entry a paragraph."""
    is_row = len(page.step.shape) == 1
    for i, cells in zip(table.rows, table.entries, strict=True):
        for j, entry in zip(table.columns, cells, strict=True):
            if i is not None and j is not None:
                place = f"[{j}]" if is_row else f"[{i},{j}]"
                text = Text.assemble((f"{place}  ", FAINT), (page.view.spell(entry), page.style))
                yield from flow(text, page.width, hang=4, formula=True)
