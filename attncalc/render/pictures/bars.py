"""Bars of characters: one for each entry of a vector, followed by its number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from attncalc.record.numbers import format_column
from attncalc.record.pictures import Bars
from attncalc.render import View
from attncalc.render.page import FAINT, abridged, missing, right
from attncalc.render.pictures.shades import LINES, ODD
from attncalc.render.pictures.sides import MOST_ROWS, count, label

LONGEST = 40  # columns
EIGHTHS = "▏▎▍▌▋▊▉█"
ABOVE, BELOW = (f"color({color})" for color in LINES[:2])


def bars(picture: Bars, view: View) -> Iterator[Text]:
    """A line for each entry: its label, its bar (from 0 to the left if it is negative), its number."""
    every = range(len(picture.values))
    places = abridged(every, len(every) if view.everything else MOST_ROWS, None)
    names = [label(picture.ticks, place, view) for place in places]
    numbers = [view.spell(text) for text in format_column(picture.values, view.digits)]
    head = view.spell(picture.ticks.name)
    margin = max(map(cell_len, [*names, head]))
    room = min(LONGEST, (view.columns or 80) - margin - max(map(len, numbers)) - 5)
    finite = picture.values[np.isfinite(picture.values)]
    low, high = min(0.0, float(finite.min(initial=0))), max(0.0, float(finite.max(initial=0)))
    half = high / 2 - low / 2 or 1.0  # halved so that the difference does not overflow
    left = round(-low / 2 / half * room)
    bar = view.spell("│")
    yield Text().append(f"{right(head, margin)} {bar}", FAINT)
    for place, name in zip(places, names, strict=True):
        line = Text().append(right(name, margin), "" if picture.ticks.own else FAINT).append(f" {bar} ", FAINT)
        if place is not None:
            value = float(picture.values[place])
            line.append_text(_bar(value, value / 2 / half, left, room, view)).append(f" {numbers[place]}")
        yield line
    yield from missing(view, (len(picture.values) - count(places), "bar"))


def _bar(value: float, share: float, left: int, room: int, view: View) -> Text:
    """The bar within its room, of which `left` columns are for values below 0."""
    if not np.isfinite(value):
        masked, infinite, none = ODD[view.unicode]
        return Text((" " * left + (masked if value < 0 else infinite if value > 0 else none)).ljust(room))
    if value < 0:
        length = -share * room
        whole = int(length)
        drawn = ("▐" if length - whole >= 0.25 else "") + "█" * whole if view.unicode else "#" * round(length)
        return Text(drawn.rjust(left).ljust(room), BELOW)
    eighths = round(share * room * 8)
    whole, rest = divmod(eighths, 8)
    drawn = "█" * whole + (EIGHTHS[rest - 1] if rest else "") if view.unicode else "#" * round(share * room)
    return Text((" " * left + drawn).ljust(room), ABOVE)
