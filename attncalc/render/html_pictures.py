"""Pictures in the HTML page, as inline SVG: shades, bars, curves, landscapes, arrows, and their scales."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.record.numbers import format_number
from attncalc.record.pictures import Bars, Curves, HeatMap, Landscape, Marks, Picture, Plane
from attncalc.render import View
from attncalc.render.html_values import element, text
from attncalc.render.page import left_out
from attncalc.render.pictures.sides import few_decimals, round_numbers

WIDTH, HEIGHT, SIDE, FOOT, TOP = 560, 320, 60, 36, 22  # pixels of a picture, and of its left, bottom and top margins
CELL = (58, 28)  # the size of a cell with a number in it
SMALL = 16  # the size of a cell without one
NUMBERED = 12  # up to so many columns, cells have numbers
MOST = 64  # rows and columns that are drawn
DASHES = ("", "7 4", "2 3", "9 3 2 3")  # so that lines differ not only by their colours
DEEPEST = 0.8  # the opacity of the deepest shade, on which numbers can still be read


def picture(of: Picture, view: View) -> str:
    """A picture below its title; screen readers read the title and the scale."""
    drawn, width, height, said = DRAWN[type(of)](of, view)
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "role": "img", "aria_label": of.title}
    words = [element("figcaption", text(of.title)), element("svg", "".join(drawn), **size)]
    return element(
        "figure", "\n".join([*words, *([element("p", text(said), "scale faint")] if said else [])]), "picture"
    )


def _svg(name: str, of: str = "", inside: str = "", **attributes: Any) -> str:
    written = {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in attributes.items()}
    return element(name, inside, of, **{key: value for key, value in written.items() if value})


def _words(x: float, y: float, said: str, anchor: str = "middle", of: str = "") -> str:
    return _svg("text", of, text(said), x=float(x), y=float(y), text_anchor=anchor)


def _shade(value: float, low: float, high: float) -> dict[str, Any]:
    """The attributes of a shade: small values are light, and if both signs occur, each has its own colour."""
    most = max(abs(low), abs(high)) if low < 0 else high
    share = min(abs(value) / most, 1.0) if most and isfinite(value) else 0.0
    return {"of": "below" if value < 0 else "above", "fill_opacity": float(round(DEEPEST * share, 3) or 1e-9)}


Drawing = tuple[list[str], float, float, str]


def _heat_map(of: HeatMap, view: View) -> Drawing:
    rows, columns = (size if view.everything else min(size, MOST) for size in of.values.shape)
    numbered = columns <= NUMBERED
    width, height = CELL if numbered else (SMALL, SMALL)
    left = 12.0 + 7.5 * max([len(name) for name in of.rows.labels[:rows]] + [len(of.rows.name)])
    written = few_decimals(of.values, view) if numbered else None
    drawn = [_words(left - 8, 16, of.rows.name, "end", "axis"), _words(left, 12, of.columns.name, "start", "axis")]
    every = 1 if numbered else 5
    drawn += [_words(left + (j + 0.5) * width, 28, of.columns.labels[j]) for j in range(0, columns, every)]
    for i in range(rows):
        y = 34.0 + i * height
        drawn += [_words(left - 8, y + height * 0.65, of.rows.labels[i], "end")] if numbered or not i % 5 else []
        for j in range(columns):
            entry, x = float(of.values[i, j]), left + j * width
            masked = entry == -np.inf or (of.hidden is not None and bool(of.hidden[i, j]))
            shade = {"of": "masked"} if masked else _shade(entry, of.low, of.high)
            drawn.append(_svg("rect", x=x, y=y, width=float(width - 1), height=float(height - 1), **shade))
            if written is not None:
                said = "masked" if masked else str(written[i, j])
                drawn.append(_words(x + width / 2, y + height * 0.65, said))
    hidden = (of.values.shape[0] - rows, "row"), (of.values.shape[1] - columns, "column")
    gone = left_out(hidden)
    low, high = format_number(of.low), format_number(of.high)
    signs = "; orange below 0, blue above" if of.low < 0 < of.high else ""
    said = f"from {low} to {high}, small is light{signs}" + (f"; {gone} (--all shows them)" if gone else "")
    return drawn, left + columns * width + 4, 40.0 + rows * height, said


def _bars(of: Bars, view: View) -> Drawing:
    count = len(of.values) if view.everything else min(len(of.values), MOST)
    values = [float(value) if isfinite(value) else 0.0 for value in of.values[:count]]
    left = 12.0 + 7.5 * max(len(name) for name in of.ticks.labels[:count])
    low, high = min(0.0, *values), max(0.0, *values)
    unit = (WIDTH - left - 70) / ((high - low) or 1.0)
    drawn = []
    for i, value in enumerate(values):
        y, x = 4.0 + 22 * i, left + (min(value, 0.0) - low) * unit
        kind = "below" if value < 0 else "above"
        drawn.append(_words(left - 6, y + 14, of.ticks.labels[i], "end"))
        drawn.append(_svg("rect", kind, x=x, y=y, width=float(abs(value) * unit), height=18.0, fill_opacity=DEEPEST))
        drawn.append(_words(x + abs(value) * unit + 5, y + 14, format_number(of.values[i], view.digits), "start"))
    return drawn, WIDTH, 10.0 + 22 * count, ""


class _Frame:
    """A part of the plane, mapped to pixels."""

    def __init__(self, xs: Sequence[Array], ys: Sequence[Array], *, square: bool = False) -> None:
        (self.left, right), (self.low, high) = _range(xs), _range(ys)
        self.across, self.up = right - self.left, high - self.low
        self.x_unit, self.y_unit = (WIDTH - SIDE - 18) / self.across, (HEIGHT - FOOT - TOP) / self.up
        if square:
            self.x_unit = self.y_unit = min(self.x_unit, self.y_unit)
        self.width, self.height = self.across * self.x_unit, self.up * self.y_unit

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point, in pixels."""
        return SIDE + (x - self.left) * self.x_unit, TOP + self.height - (y - self.low) * self.y_unit

    def axes(self, across: str, up: str = "") -> Iterator[str]:
        """Round numbers along both sides, and the names of the axes."""
        foot = TOP + self.height
        yield _svg("path", "rule", d=f"M{SIDE} {TOP}V{foot:g}H{SIDE + self.width:g}")
        for tick in round_numbers(self.left, self.left + self.across, 7):
            yield _words(self.at(tick, 0)[0], foot + 15, format_number(tick))
        for tick in round_numbers(self.low, self.low + self.up, 6):
            yield _words(SIDE - 5, self.at(0, tick)[1] + 4, format_number(tick), "end")
        if self.low < 0 < self.low + self.up:
            yield _svg("path", "rule", d=f"M{SIDE} {self.at(0, 0)[1]:g}h{self.width:g}", stroke_dasharray="2 4")
        yield _words(SIDE + self.width / 2, foot + 31, across, of="axis")
        yield _words(4, 12, up, "start", "axis") if up else ""

    def size(self) -> tuple[float, float]:
        """The size of the whole drawing."""
        return SIDE + self.width + 18, self.height + FOOT + TOP


def _range(values: Sequence[Array]) -> tuple[float, float]:
    whole = np.concatenate([np.ravel(value)[np.isfinite(np.ravel(value))] for value in values])
    low, high = (float(whole.min()), float(whole.max())) if whole.size else (0.0, 1.0)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _path(frame: _Frame, x: Array, y: Array, of: str, **more: str) -> str:
    """A line through points, with gaps at NaN."""
    steps, pen = [], "M"
    for here, there in zip(x.tolist(), y.tolist(), strict=True):
        if isfinite(here) and isfinite(there):
            steps.append(f"{pen}{' '.join(f'{each:.5g}' for each in frame.at(here, there))}")
        pen = "L" if isfinite(here) and isfinite(there) else "M"
    return _svg("path", of, d="".join(steps), **more)


def _marks(frame: _Frame, marks: Marks) -> Iterator[str]:
    if marks.ordered:
        yield _path(frame, marks.x, marks.y, "way")
    for x, y in zip(marks.x.tolist(), marks.y.tolist(), strict=True):
        if isfinite(x) and isfinite(y):
            there = frame.at(x, y)
            yield _svg("circle", "mark", cx=there[0], cy=there[1], r=3.5)


def _curves(of: Curves, view: View) -> Drawing:
    marks = [of.marks] if of.marks else []
    xs = [line.x for line in of.lines] + [each.x for each in marks]
    frame = _Frame(xs, [line.y for line in of.lines] + [each.y for each in marks])
    drawn = list(frame.axes(of.across))
    _, height = frame.size()
    for number, line in enumerate(of.lines):
        dashes, kind = DASHES[number % len(DASHES)], f"line-{number % 6}"
        drawn.append(_path(frame, line.x, line.y, kind, stroke_dasharray=dashes))
        y = height + 4 + 18 * number
        drawn.append(_svg("path", kind, d=f"M{SIDE} {y:g}h34", stroke_dasharray=dashes))
        drawn.append(_words(SIDE + 42, y + 4, line.name, "start"))
    drawn += [part for each in marks for part in _marks(frame, each)]
    return drawn, WIDTH, height + 18 * len(of.lines) + 4, f"● {of.marks.name}" if of.marks else ""


def _landscape(of: Landscape, view: View) -> Drawing:
    """Heights as shades, equally many places in each, and the path through them."""
    frame = _Frame([of.x], [of.y])
    across, up = (range(0, len(places), max(len(places) // 48, 1)) for places in (of.x, of.y))
    finite = np.sort(of.heights[np.isfinite(of.heights)])
    wide, high = frame.width / len(across), frame.height / len(up)
    drawn = []
    for i in up:
        for j in across:
            if isfinite(of.heights[i, j]):
                share = DEEPEST * float(np.searchsorted(finite, of.heights[i, j])) / len(finite)
                x, y = frame.at(float(of.x[j]), float(of.y[i]))
                left, top = min(x, SIDE + frame.width - wide), max(y - high, float(TOP))
                dense = float(round(share, 2) or 1e-9)
                shape = {"x": left, "y": top, "width": wide, "height": high, "fill_opacity": dense}
                drawn.append(_svg("rect", "above", "", **shape, shape_rendering="crispEdges"))
    drawn += [*frame.axes(of.across, of.up), *_marks(frame, of.marks)]
    scale = f"heights from {format_number(finite[0])} to {format_number(finite[-1])}; " if finite.size else ""
    return drawn, *frame.size(), f"{scale}as much of the plane in each shade; ● {of.marks.name}"


def _plane(of: Plane, view: View) -> Drawing:
    """Arrows from the origin, to scale."""
    ends = np.array([(arrow.x, arrow.y) for arrow in of.arrows] + [(0.0, 0.0)])
    frame = _Frame([ends[:, 0] * 1.15], [ends[:, 1] * 1.15], square=True)
    drawn = list(frame.axes(of.across, of.up))
    start = frame.at(0, 0)
    for arrow in of.arrows:
        end = frame.at(arrow.x, arrow.y)
        kind = f"line-{arrow.kind}"
        drawn.append(_svg("path", kind, d=f"M{start[0]:g} {start[1]:g}L{end[0]:g} {end[1]:g}",
                          stroke_dasharray=DASHES[arrow.kind % len(DASHES)]))  # fmt: skip
        drawn.append(_svg("circle", f"end-{arrow.kind}", cx=end[0], cy=end[1], r=4.0))
        drawn.append(_words(end[0] + 7, end[1] - 5, arrow.name, "start"))
    width, height = frame.size()
    return drawn, width + 90, height, of.note


DRAWN: dict[type, Any] = {HeatMap: _heat_map, Bars: _bars, Curves: _curves, Landscape: _landscape, Plane: _plane}
