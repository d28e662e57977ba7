"""The pictures of a page: drawn with characters, or as a PNG or SVG file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from attncalc.record.pictures import Bars, Curves, HeatMap, Landscape, Picture, Plane
from attncalc.render import View
from attncalc.render.page import Page
from attncalc.render.pictures.bars import bars
from attncalc.render.pictures.canvas import curves, landscape, plane
from attncalc.render.pictures.maps import heat_map

TITLE = "bold color(63)"  # as the titles of steps
DRAWN: dict[type, Any] = {HeatMap: heat_map, Bars: bars, Curves: curves, Landscape: landscape, Plane: plane}


def drawn(picture: Picture, view: View) -> Iterator[Text]:
    """A picture below its title."""
    yield Text(view.spell(picture.title), TITLE)
    yield Text()
    yield from DRAWN[type(picture)](picture, view)


def png(page: Page, view: View) -> bytes:
    """The pictures as one PNG file."""
    return _figure(page, view, "png")


def svg(page: Page, view: View) -> str:
    """The pictures as one SVG file, whose text stays text."""
    return _figure(page, view, "svg").decode()


def _figure(page: Page, view: View, format: str) -> bytes:
    from attncalc.render.pictures.figure import figure  # a door: Matplotlib

    return figure(tuple(block for block in page.blocks if type(block) in DRAWN), view, format)
