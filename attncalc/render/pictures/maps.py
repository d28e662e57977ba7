"""Heat maps of characters: a matrix as shades, with its numbers in them if they fit."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from attncalc.common.system import NamedTuple
from attncalc.record.numbers import align
from attncalc.record.pictures import HeatMap, Ticks
from attncalc.render import View
from attncalc.render.page import FAINT, LEAST_HIDDEN, abridged, missing, right, shortened
from attncalc.render.pictures.shades import ODD, Shade, legend, shade_of
from attncalc.render.pictures.sides import LONGEST_NARROW, MOST_ROWS, count, few_decimals, label

WIDEST = 100  # columns, if the page has no width
MOST_NUMBERED = 24  # columns
BAR = " │ "


class _Layout(NamedTuple):
    """The layout of a map: the places that are shown, None for a gap, and the width of each."""

    rows: list[int | None]
    columns: list[int | None]
    margin: int  # the width of the rows' labels
    cell: int
    between: str
    numbers: list[list[str]] | None  # the numbers of each column in the rows that are shown; None if they don't fit

    def width(self) -> int:
        """The width of a line."""
        return self.margin + len(BAR) + self.cell * len(self.columns) + len(self.between) * (len(self.columns) - 1)


def heat_map(picture: HeatMap, view: View) -> Iterator[Text]:
    """The map with the labels of its rows and columns, and the legend of the shades."""
    layout = _layout(picture, view)
    for number, columns in enumerate(_blocks(layout, view)):
        if number:
            yield Text()
        yield from _map(picture, layout._replace(columns=columns), view)
    yield Text()
    if layout.numbers is None and picture.columns.own:
        words = (f"{i} {picture.columns.labels[i]}" for i in layout.columns if i is not None)
        yield Text(view.spell(f"{picture.columns.name}: {', '.join(words)}"))
    yield from legend(picture.low, picture.high, _odd(picture, view), view)
    height, width = picture.values.shape
    yield from missing(view, (width - count(layout.columns), "column"), (height - count(layout.rows), "row"))


def _layout(picture: HeatMap, view: View) -> _Layout:
    """The first layout that fits: with numbers, with wide cells, with narrow ones, with columns left out."""
    height, width = picture.values.shape
    rows = abridged(range(height), height if view.everything else MOST_ROWS, None)
    columns: list[int | None] = [*range(width)]
    labels = [label(picture.rows, row, view) for row in rows]
    margin = max(map(cell_len, [*labels, _corner(picture, view)]))
    plain = _Layout(rows, columns, margin, 2, "", None)
    numbered = _numbered(plain, picture, view) if width <= MOST_NUMBERED else []
    for layout in (*numbered, plain, plain._replace(cell=1)):
        if layout.width() <= (view.columns or WIDEST):
            return layout
    room = max(((view.columns or WIDEST) - margin - len(BAR)) // plain.cell, LEAST_HIDDEN)
    return plain if view.everything else plain._replace(columns=abridged(columns, room, None))


def _numbered(plain: _Layout, picture: HeatMap, view: View) -> list[_Layout]:
    """The layouts with numbers, the first one also with room for the columns' names."""
    numbers = _numbers(picture, plain.rows, view)
    longest = max(cell_len(text) for column in numbers for text in column)
    named = max(cell_len(view.spell(name)) for name in picture.columns.labels)
    beside = 2 if view.color else 3  # a number has a blank on both sides, and without colours its shade
    layout = plain._replace(between="" if view.color else "  ", numbers=numbers)
    return [layout._replace(cell=room + beside) for room in (max(longest, min(named, LONGEST_NARROW)), longest)]


def _numbers(picture: HeatMap, rows: list[int | None], view: View) -> list[list[str]]:
    """The entries of each column as text, aligned on their decimal points."""
    written = few_decimals(picture.values[[row for row in rows if row is not None]], view)
    return [align([view.spell(text) for text in column]) for column in written.T.tolist()]


def _blocks(layout: _Layout, view: View) -> Iterator[list[int | None]]:
    """All columns, in as many parts as the page needs."""
    room = len(layout.columns)
    if layout.width() > (view.columns or WIDEST):
        room = ((view.columns or WIDEST) - layout.margin - len(BAR)) // layout.cell
    for first in range(0, len(layout.columns), room):
        yield layout.columns[first : first + room]


def _map(picture: HeatMap, layout: _Layout, view: View) -> Iterator[Text]:
    bar, rule = view.spell(BAR), view.spell("─")
    line = Text().append(right(_corner(picture, view), layout.margin), FAINT).append(bar, FAINT)
    yield line.append(_header(picture.columns, layout, view), "" if layout.numbers and picture.columns.own else FAINT)
    below = layout.width() - layout.margin - 2
    yield Text(rule * (layout.margin + 1) + view.spell("┼") + rule * below, FAINT)
    for place, row in enumerate(layout.rows):
        name = right(label(picture.rows, row, view), layout.margin)
        line = Text().append(name, "" if picture.rows.own else FAINT).append(bar, FAINT)
        for number, column in enumerate(layout.columns):
            line.append(layout.between if number else "")
            above = place - (row != place)  # rows after a gap have moved up by one
            text = layout.numbers[column][above] if layout.numbers and column is not None else ""
            line.append(*_cell(picture, row, column, text, layout.cell, view))
        yield line


def _cell(picture: HeatMap, row: int | None, column: int | None, number: str, width: int, view: View) -> Shade:
    if row is None or column is None:
        return Shade(view.spell("·").ljust(width), FAINT)
    hidden = picture.hidden is not None and bool(picture.hidden[row, column])
    sign, style = shade_of(float(picture.values[row, column]), picture.low, picture.high, view, hidden=hidden)
    if not number:
        return Shade(sign * width, style)
    if view.color:
        return Shade(f"{sign}{number.rjust(width - 2)} ", style)
    return Shade(f"{sign * 2} {number.rjust(width - 3)}")


def _header(ticks: Ticks, layout: _Layout, view: View) -> str:
    """The labels above the columns; above narrow ones only some indices."""
    if layout.numbers is not None:
        room, behind = (layout.cell - 2, " ") if view.color else (layout.cell, "")
        names = [shortened(ticks.labels[column or 0], room, view) for column in layout.columns]
        return layout.between.join(right(name, layout.cell - len(behind)) + behind for name in names)
    longest = max(len(str(column or 0)) for column in layout.columns) + 1
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 10_000) if n * layout.cell >= longest)
    line = ""
    for number, column in enumerate(layout.columns):
        if column is not None and column % every == 0 and len(line) <= number * layout.cell:
            line = line.ljust(number * layout.cell) + str(column)
    return line


def _corner(picture: HeatMap, view: View) -> str:
    return view.spell(f"{picture.rows.name} ╲ {picture.columns.name}")


def _odd(picture: HeatMap, view: View) -> Iterator[str]:
    """The meaning of signs that are no shades."""
    masked, infinite, none = ODD[view.unicode]
    if picture.hidden is not None and picture.hidden.any():
        yield f"{masked} masked"
    elif (picture.values == float("-inf")).any():
        yield f"{masked} −∞"
    if (picture.values == float("inf")).any():
        yield f"{infinite} ∞" if view.unicode else f"{infinite} inf"
    if (picture.values != picture.values).any():
        yield f"{none} no value"
