"""Curves, landscapes and arrows of characters: signs on a grid, with round numbers along its axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from textwrap import wrap

import numpy as np
from rich.text import Text

from attncalc.common.numerals import Array
from attncalc.record.numbers import texts
from attncalc.record.pictures import Curves, Landscape, Marks, Plane
from attncalc.render import View
from attncalc.render.page import FAINT, right
from attncalc.render.pictures.shades import LINES, Shade, legend, shade
from attncalc.render.pictures.sides import round_numbers

WIDEST, HEIGHT = 72, 18
SIGNS = "*+ox#%"
"""A sign for each curve, in ASCII, which every page has and every font sets in one width."""
MARK = {True: "●", False: "@"}
LAST = "E"
ROOM = 1.2  # the picture is larger than the arrows by this factor, for their names


class Canvas:
    """A grid of signs that shows a part of the plane."""

    def __init__(self, across: tuple[float, float], up: tuple[float, float], view: View) -> None:
        self.view, self.across, self.up = view, across, up
        self.heights = round_numbers(*up, 6)
        self.labels = [view.spell(text) for text in texts(np.array(self.heights))]
        self.margin = max(map(len, self.labels))
        self.width = min(WIDEST, (view.columns or 80) - self.margin - 2)
        self.cells = [[Shade(" ")] * self.width for _ in range(HEIGHT)]

    def column(self, x: float) -> int:
        """The column of a place."""
        return _place(x, *self.across, self.width)

    def row(self, y: float) -> int:
        """The row of a height, the highest being 0."""
        return HEIGHT - 1 - _place(y, *self.up, HEIGHT)

    def put(self, column: int, row: int, sign: str, style: str = "") -> None:
        """Put a sign at a place of the grid."""
        self.cells[row][column] = Shade(sign, style)

    def mark(self, column: int, row: int, sign: str) -> None:
        """Put a sign that stands out, on the background colour that is there."""
        behind = self.cells[row][column].style
        self.put(column, row, sign, f"bold {behind}" if " on " in behind else "bold")

    def lines(self, across: str, up: str = "") -> Iterator[Text]:
        """The lines of the grid with its axes and their names."""
        spell = self.view.spell
        if up:
            yield Text(right(spell(up), self.margin + 2), FAINT)
        named = {self.row(height): label for height, label in zip(self.heights, self.labels, strict=True)}
        for number, cells in enumerate(self.cells):
            line = Text().append(right(named.get(number, ""), self.margin), FAINT)
            line.append(spell(" ┼" if number in named else " │"), FAINT)
            for sign, style in cells:
                line.append(sign, style)
            yield line
        ticks = round_numbers(*self.across, max(self.width // 8, 3))
        columns = {self.column(tick): text for tick, text in zip(ticks, texts(np.array(ticks)), strict=True)}
        axis = "".join("┼" if column in columns else "─" for column in range(self.width))
        yield Text(spell(f"{' ' * self.margin} ┼{axis}"), FAINT)
        written = ""
        for column, text in columns.items():
            start = min(self.margin + 2 + column - len(text) // 2, self.margin + 2 + self.width - len(text))
            if start > len(written) or not written:
                written = written.ljust(max(start, 0)) + spell(text)
        yield Text(written, FAINT)
        name = spell(across)
        yield Text(" " * (self.margin + 2 + max((self.width - len(name)) // 2, 0)) + name, FAINT)


def _place(value: float, low: float, high: float, places: int) -> int:
    share = 0.5 if high == low else (value / 2 - low / 2) / (high / 2 - low / 2)  # halved against overflow
    return min(max(round(share * (places - 1)), 0), places - 1)


def curves(picture: Curves, view: View) -> Iterator[Text]:
    """The curves, each with its own sign, the marks over them, and the meaning of the signs."""
    marks = picture.marks
    xs = [line.x for line in picture.lines] + ([marks.x] if marks else [])
    ys = [line.y for line in picture.lines] + ([marks.y] if marks else [])
    canvas = Canvas(_range(xs), _range(ys), view)
    if canvas.up[0] < 0 < canvas.up[1]:
        for column in range(canvas.width):
            canvas.put(column, canvas.row(0), view.spell("·") if view.unicode else ".", FAINT)
    keys = []
    for number, line in reversed([*enumerate(picture.lines)]):  # the first curve on top
        sign, style = SIGNS[number % len(SIGNS)], f"color({LINES[number % len(LINES)]})"
        _draw(canvas, line.x, line.y, sign, style)
        keys.append((sign, style, line.name))
    if marks:
        _mark(canvas, marks)
    yield from canvas.lines(picture.across)
    yield Text()
    yield from _keys([*reversed(keys), *_of_marks(marks, view)], view)


def landscape(picture: Landscape, view: View) -> Iterator[Text]:
    """The heights as bands of shades, equally many places in each, and the path through them."""
    canvas = Canvas(_range([picture.x]), _range([picture.y]), view)
    xs = np.linspace(*canvas.across, canvas.width)
    ys = np.linspace(*canvas.up, HEIGHT)
    finite = np.sort(picture.heights[np.isfinite(picture.heights)])
    for row, y in enumerate(ys[::-1]):
        for column, x in enumerate(xs):
            height = picture.heights[_nearest(picture.y, y), _nearest(picture.x, x)]
            if np.isfinite(height):
                share = float(np.searchsorted(finite, height)) / len(finite)
                canvas.put(column, row, *shade(share, view))
    _mark(canvas, picture.marks)
    yield from canvas.lines(picture.across, picture.up)
    yield Text()
    yield from _keys(_of_marks(picture.marks, view), view)
    if finite.size:
        said = ["as much of the plane in each shade"]
        yield from legend(float(finite[0]), float(finite[-1]), said, view, in_order=True)


def plane(picture: Plane, view: View) -> Iterator[Text]:
    """Arrows from the origin, to scale: a character is about twice as high as wide."""
    ends = np.array([(arrow.x, arrow.y) for arrow in picture.arrows] + [(0.0, 0.0)])
    (left, right), (low, high) = _range([ends[:, 0] * ROOM]), _range([ends[:, 1] * ROOM])
    ratio = Canvas((left, right), (low, high), view).width / (2 * HEIGHT)
    unit = max((right - left) / ratio, high - low) / 2
    middle, centre = (left + right) / 2, (low + high) / 2
    canvas = Canvas((middle - unit * ratio, middle + unit * ratio), (centre - unit, centre + unit), view)
    for arrow in reversed(picture.arrows):
        sign, style = SIGNS[arrow.kind % len(SIGNS)], f"color({LINES[arrow.kind % len(LINES)]})"
        for share in np.linspace(0, 1, 2 * WIDEST):
            canvas.put(canvas.column(arrow.x * share), canvas.row(arrow.y * share), sign, style)
    canvas.mark(canvas.column(0), canvas.row(0), MARK[view.unicode])
    for arrow in reversed(picture.arrows):
        row, first = canvas.row(arrow.y), canvas.column(arrow.x) + 1
        for column, sign in enumerate(view.spell(f" {arrow.name}")[: canvas.width - first], first):
            canvas.put(column, row, sign, "bold")
    yield from canvas.lines(picture.across, picture.up)
    if picture.note:
        yield Text()
        yield from (Text(line) for line in wrap(view.spell(picture.note), view.columns or 80))


def _nearest(places: Array, value: float) -> int:
    return int(np.abs(places - value).argmin())


def _range(values: Sequence[Array]) -> tuple[float, float]:
    """The range of the finite values; for a single value with a little room on both sides."""
    finite = [value[np.isfinite(value)] for value in values]
    whole = np.concatenate(finite) if finite else np.zeros(1)
    low, high = (float(whole.min()), float(whole.max())) if whole.size else (0.0, 1.0)
    return (low, high) if low < high else (low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2)


def _draw(canvas: Canvas, x: Array, y: Array, sign: str, style: str) -> None:
    """Draw a curve: in each column its height, and a vertical stroke to its height in the next column."""
    low, high = canvas.across
    whole = np.isfinite(x)
    places = np.linspace(low, high, canvas.width)
    heights = np.interp(places, x[whole], y[whole], left=np.nan, right=np.nan)
    rows = [canvas.row(float(height)) if np.isfinite(height) else None for height in heights]
    for column, row in enumerate(rows):
        if row is not None:
            canvas.put(column, row, sign, style)
    for column, (row, following) in enumerate(pairwise(rows)):
        if row is not None and following is not None:
            middle = (row + following) // 2
            for between in range(min(row, following) + 1, max(row, following)):
                near_row = (between <= middle) == (row < following)
                canvas.put(column if near_row else column + 1, between, sign, style)


def _mark(canvas: Canvas, marks: Marks) -> None:
    """Draw the marks: one sign for all, or numbers for the first points of a path and a letter for its end."""
    points = [
        (number, canvas.column(x), canvas.row(y))
        for number, (x, y) in enumerate(zip(marks.x.tolist(), marks.y.tolist(), strict=True))
        if np.isfinite(x) and np.isfinite(y)
    ]
    for number, column, row in reversed(points):  # if several share a place, the first is visible
        turn = str(number) if number < 10 else "o"
        canvas.mark(column, row, turn if marks.ordered else MARK[canvas.view.unicode])
    if marks.ordered and len(points) > 1:
        canvas.mark(*points[-1][1:], LAST)


def _of_marks(marks: Marks | None, view: View) -> list[tuple[str, str, str]]:
    if marks is None:
        return []
    if not marks.ordered or len(marks.x) < 2:
        return [("0" if marks.ordered else MARK[view.unicode], "bold", marks.name)]
    others = " … 9 o" if len(marks.x) > 10 else " …" if len(marks.x) > 2 else ""
    return [(f"0{others} {LAST}", "bold", f"{marks.name}, {LAST} the last")]


def _keys(keys: Sequence[tuple[str, str, str]], view: View) -> Iterator[Text]:
    """The meaning of the signs, `* output   + derivative`, on as many lines as needed."""
    line = Text()
    for sign, style, name in keys:
        key = Text().append(view.spell(sign), style).append(view.spell(f" {name}"))
        if line and view.columns and line.cell_len + 3 + key.cell_len > view.columns:
            yield line
            line = Text()
        line.append("   " if line else "").append_text(key)
    yield line
