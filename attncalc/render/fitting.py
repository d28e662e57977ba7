"""What fits on a page: the rows and columns of a value, lines broken before signs, tables for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain as joined
from math import prod
from typing import NamedTuple, Protocol

import numpy as np
from rich.box import Box
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from attncalc.common.errors import amount, visible
from attncalc.common.numerals import Array
from attncalc.record.numbers import align, texts
from attncalc.render import Place, Table, View

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


# Formulas on a terminal: broken before their signs where they are wider than the page, and names cut to a width.


GLUE = "\xa0"
"""A blank at which no line is broken."""
WORD = rf"(?:[-+−=≈/⊙→] )?(?:\S*Σ\w* )?[\S{GLUE}]+\s*|\s+"  # a formula is broken before its sign; a Σ keeps its sum
FACTOR = r"(?<=\))(?=/\(|[·×]√?\((?![^()]*\)))"  # between brackets, but for those of a lone number
PIECE = r"[^×·,()|]+[×·,()|]*|[×·,()|]+"  # where a word without blanks may be broken: never in a number


class Chain:
    """`scores = Q·Kᵀ = [2×3]·[3×2]` on one line, or where that is too wide with each `=` below the first.

    Lines that are too wide even so are broken outside brackets rather than within them; further ones hang in.
    """

    def __init__(self, start: Text, links: Sequence[Text] = (), *, hang: int = 2) -> None:
        self.start, self.links, self.hang = start, links, hang

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """The lines on a page of that width."""
        start, links = self.start, self.links
        whole = Text(" ").join([start, *links])
        if not links or whole.cell_len <= width:
            yield from broken(whole, width, hang=self.hang)
            return
        below = start.cell_len + 1
        if below <= width // 2 and not any(_torn(link.plain, width - below - 2) for link in links):
            yield from broken(Text(" ").join([start, links[0]]), width, hang=below + 2)
            links = links[1:]
        else:  # after a long name the formula gets lines of its own
            yield from broken(start, width, hang=2)
            below = 4
        for link in links:
            yield from broken(link, width, indent=below, hang=2)


def broken(text: Text, width: int, *, indent: int = 0, hang: int = 0) -> Iterator[Text]:
    """The text from `indent` on, broken where it is wider than the page; further lines hang in more."""
    if indent + text.cell_len <= width:
        yield _indented(text, indent)
        return
    for number, line in enumerate(text.divide(_breaks(text.plain, width - indent, width - indent - hang))):
        line.rstrip()
        yield _indented(line, indent + hang * (number > 0))


def _indented(text: Text, indent: int) -> Text:
    text.plain = text.plain.replace(GLUE, " ")
    return Text(" " * indent, no_wrap=True).append_text(text)


def _breaks(text: str, first: int, further: int) -> list[int]:
    """The offsets at which lines begin: a first line of so many cells, then lines of so many.

    A line ends at the last sign that the fewest brackets enclose, in a list at a `;`, where that fills half of it.
    """
    found: list[int] = []
    places: list[tuple[int, float]] = []  # where the line may end, and how many brackets are open there
    start = offset = depth = 0
    for word in _pieces(text, further):
        for piece in re.split(FACTOR, word):
            if offset:
                places.append((offset, depth - 0.5 * text[:offset].endswith("; ")))
            while cell_len(text[start : offset + len(piece)].rstrip()) > (further if found else first) and places:
                least = further // 2 if found else first - further // 2
                late = [place for place in places if cell_len(text[start : place[0]]) >= least] or places[-1:]
                fewest = min(open_ for _, open_ in late)
                start = max(place for place, open_ in late if open_ == fewest)
                found.append(start)
                places = [place for place in places if place[0] > start]
            offset += len(piece)
            depth += sum(piece.count(sign) for sign in "([") - sum(piece.count(sign) for sign in ")]")
    return found


def _pieces(text: str, room: int) -> Iterator[str]:
    """What stays together: words; the factors of a long product; the bits of a name that is too long for a line."""
    for word in re.findall(WORD, text):
        if cell_len(word.rstrip()) <= room:
            yield word
            continue
        for piece in re.findall(PIECE, word):
            yield from chop_cells(piece, room) if cell_len(piece.rstrip()) > room else [piece]


def _torn(text: str, room: int) -> bool:
    """Whether a name in the text is too long for a line of that room."""
    return any(cell_len(piece) > room for word in text.split() for piece in re.findall(PIECE, word))


def right(text: str, width: int) -> str:
    """Text at the right of so many columns, however wide its characters are."""
    return " " * (width - cell_len(text)) + text


def shortened(text: str, width: int, view: View) -> str:
    """A label within so many columns, with the sign of a gap where it is cut."""
    text, gap = view.spell(text), view.spell(GAP)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width) if width <= len(gap) else set_cell_size(text, width - len(gap)) + gap


# A value as Rich's tables: a row, a table with its axes' names and labels, or a stack of tables.
#
# Numbers stand whole on every page, so what fits is measured before a table is made: the rest is left out by whole
# columns and rows, and said to be; with `everything` a table is split into blocks of columns instead. A table whose
# entries are too wide for that is told as a list, entry by entry.


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
