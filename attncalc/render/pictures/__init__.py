"""The pictures of a trace: drawn with characters on a page, or as a PNG or SVG file."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from attncalc.pictures import Bars, Curves, HeatMap, Picture
from attncalc.render.flow import assembled, flow
from attncalc.render.pictures.bars import bars
from attncalc.render.pictures.canvas import curves, landscape
from attncalc.render.pictures.maps import heat_map
from attncalc.render.view import View
from attncalc.trace import Trace

TITLE = "bold color(32)"  # as the titles of steps


def page(trace: Trace, view: View) -> str:
    """The pictures one below the other, each with its title."""
    return assembled(_page(trace, view), view)


def _page(trace: Trace, view: View) -> Iterator[Text]:
    for number, picture in enumerate(trace.pictures):
        if number:
            yield Text()
        yield from flow(Text(view.spell(picture.title), TITLE), view.columns, hang=2)
        yield Text()
        yield from _drawn(picture, view)


def _drawn(picture: Picture, view: View) -> Iterator[Text]:
    if isinstance(picture, HeatMap):
        return heat_map(picture, view)
    if isinstance(picture, Bars):
        return bars(picture, view)
    return curves(picture, view) if isinstance(picture, Curves) else landscape(picture, view)


def png(trace: Trace, view: View) -> bytes:
    """The pictures as one PNG file."""
    from attncalc.render.pictures.figure import figure

    return figure(trace, view, "png")


def svg(trace: Trace, view: View) -> str:
    """The pictures as one SVG file, whose text stays text."""
    from attncalc.render.pictures.figure import figure

    return figure(trace, view, "svg").decode()
