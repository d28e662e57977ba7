"""A value as Rich's tables: a row, a table with its axes' names and labels, or a stack of tables.

Numbers stand whole on every page, so what fits is measured before a table is made: the rest is left out by whole
columns and rows, and said to be; with `everything` a table is split into blocks of columns instead. A table whose
entries are too wide for that is told as a list, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain as joined
from typing import NamedTuple

from rich.box import Box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from attncalc.record.numbers import align
from attncalc.render.flow import Chain, right, shortened
from attncalc.render.page import Table
from attncalc.render.view import View
from attncalc.render.window import GAP, Limits, Matrix, axes, heading, label, left_out, located, whole, window

ALWAYS_WHOLE = 12  # columns: what a student writes out by hand is shown whole on the narrowest page
LONGEST_LABEL = 16

BETWEEN = 2  # blanks between columns
FAINT = "dim"  # indices, lines and gaps: no weaker than that, since a reader must see them on any background


class Ruled(Box):
    """A rule below the headings, crossed where the labels end; the labels bring their bar with them."""

    def __init__(self, rule: str, cross: str) -> None:
        blank = "    \n"
        super().__init__(blank * 2 + f" {rule}{cross} \n" + blank * 5, ascii=rule.isascii())

    def get_row(self, widths: Iterable[int], level: str = "row", edge: bool = True) -> str:
        """The rule over columns of these widths."""
        first, *others = widths
        behind = sum(others) + len(others)
        return self.head_row_horizontal * (first - 1) + self.head_row_cross + self.head_row_horizontal * behind


BOXES = {True: Ruled("─", "┼"), False: Ruled("-", "+")}
"""By whether the page has more than ASCII."""


class _Column(NamedTuple):
    """A column: its heading, and its cells, which have one width."""

    heading: str
    cells: Sequence[str]
    gap: bool = False  # whether it stands for columns that are left out

    @property
    def width(self) -> int:
        return max(cell_len(self.heading), cell_len(self.cells[0]))


class _Grid(NamedTuple):
    """A matrix as text: a label for each row, and the columns."""

    matrix: Matrix
    corner: str
    labels: Sequence[str]
    columns: Sequence[_Column]

    @property
    def margin(self) -> int:
        return max(map(cell_len, (self.corner, *self.labels)))

    def fits(self, columns: Sequence[_Column], width: int | None) -> bool:
        """Whether a page of that width holds these columns."""
        needed = self.margin + 3 + sum(column.width for column in columns) + BETWEEN * (len(columns) - 1)
        return width is None or needed <= width


def grid(table: Table, view: View, width: int | None, style: str = "") -> Iterator[RenderableType]:
    """A value on a page of that width; `style` is that of its numbers."""
    if not table.can_be_shown:
        yield Text(view.spell(table.instead), FAINT)
        return
    shown = window(table, view, Limits()).matrices
    if not table.shape:
        yield Text(view.spell(shown[0].entries[0][0]), style)
        return
    hidden = whole(table.shape).tables - len(shown)
    for number, matrix in enumerate(shown):
        if number:
            yield Text()
        if hidden and number == len(shown) - 1:
            yield from missing(view, (hidden, "table"))
            yield Text()
        if matrix.at:
            yield Text(view.spell(heading(table, matrix)), "bold")
        yield from _matrix(matrix, table, view, width, style)


def missing(view: View, *hidden: tuple[int, str]) -> Iterator[Text]:
    """`… 22 more columns and 3 more rows (--all shows them)`, where any are."""
    if words := left_out(hidden):
        yield Text(view.spell(f"{GAP} {words} (--all shows them)"), FAINT)


def _matrix(matrix: Matrix, table: Table, view: View, width: int | None, style: str) -> Iterator[RenderableType]:
    whole_grid = _grid(matrix, table, view)
    shown = columns = whole_grid.columns
    if not all(whole_grid.fits([column], width) for column in columns):
        for at, entry in located(table, matrix):
            place = f"[{','.join(map(str, at[len(matrix.at) :]))}]"
            yield Chain(Text.assemble((f"{place}  ", FAINT), (view.spell(entry), style)), hang=4)
    elif view.everything or len(columns) <= ALWAYS_WHOLE:
        for number, block in enumerate(_blocks(whole_grid, width)):
            if number:
                yield Text()
            yield _drawn(whole_grid, block, table, view, style)
    else:
        shown = _fitting(whole_grid, view, width)
        yield _drawn(whole_grid, shown, table, view, style)
    size = whole(table.shape)
    rows = sum(row is not None for row in matrix.rows)
    yield from missing(
        view, (size.columns - sum(not column.gap for column in shown), "column"), (size.rows - rows, "row")
    )


def _grid(matrix: Matrix, table: Table, view: View) -> _Grid:
    down, across = axes(table)
    is_row = len(table.shape) == 1

    def name(axis: str, index: int | None) -> str:
        return shortened(GAP if index is None else label(table, axis, index), LONGEST_LABEL, view)

    columns = []
    for j, cells in zip(matrix.columns, zip(*matrix.entries, strict=True), strict=True):
        spelled = cells if view.unicode else [view.spell(cell) for cell in cells]
        columns.append(_Column(name(across, j), align(spelled), gap=j is None))
    corner = view.spell(across if is_row else f"{down} ╲ {across}")
    return _Grid(matrix, corner, [""] if is_row else [name(down, i) for i in matrix.rows], columns)


def _blocks(grid: _Grid, width: int | None) -> Sequence[Sequence[_Column]]:
    """All the columns, in as few groups as fit the page, of about the same size."""
    columns = grid.columns
    for count in range(1, len(columns) + 1):
        size = -(-len(columns) // count)
        blocks = [columns[start : start + size] for start in range(0, len(columns), size)]
        if all(grid.fits(block, width) for block in blocks):
            return blocks
    return [[column] for column in columns]


def _fitting(grid: _Grid, view: View, width: int | None) -> Sequence[_Column]:
    """The columns; or as many of the first as fit, a gap, and the last one."""
    if grid.fits(grid.columns, width):
        return grid.columns
    sign = view.spell(GAP)
    *first, last = (column for column in grid.columns if not column.gap)
    gap = _Column(sign, [sign] * len(last.cells), gap=True)
    while first and not grid.fits([*first, gap, last], width):
        first.pop()
    return [*first, gap, last] if first else [grid.columns[0]]


def _drawn(grid: _Grid, columns: Sequence[_Column], table: Table, view: View, style: str) -> RichTable:
    """The headings, a rule, and the rows; labels of one's own are as clear as the numbers, indices fainter."""
    row_style, heading_style = ("" if axis in table.labels else FAINT for axis in axes(table))
    box, bar = BOXES[view.unicode], view.spell(" │")
    drawn = RichTable(box=box, show_edge=False, padding=0, border_style=FAINT, header_style="", safe_box=False)
    drawn.add_column(Text(grid.corner + bar, FAINT), justify="right", no_wrap=True, width=grid.margin + 2)
    widths = [column.width + (BETWEEN - 1 if number else 0) for number, column in enumerate(columns)]
    for column, width in zip(columns, widths, strict=True):
        drawn.add_column(Text(right(column.heading, width), heading_style), no_wrap=True, width=width)
    for number, (row, name) in enumerate(zip(grid.matrix.rows, grid.labels, strict=True)):
        words = Text(name, FAINT if row is None else row_style).append(bar, FAINT)
        spread = (right(column.cells[number], width) for column, width in zip(columns, widths, strict=True))
        cells = (Text(cell, FAINT if row is None else style) for cell in spread)
        drawn.add_row(*joined((words,), cells))
    return drawn
