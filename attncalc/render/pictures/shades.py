"""Shades and colours: what a share of the way from the lowest value to the highest looks like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from rich.text import Text

from attncalc.common.system import NamedTuple
from attncalc.record.numbers import format_number
from attncalc.render import View

DENSER = {True: " ░▒▓█", False: " .:-=+*#%@"}
"""By whether the page has more than ASCII: from the lowest value to the highest, ever more ink."""

BRIGHTER = (54, 25, 30, 36, 77, 190)
"""The same in colour, near viridis: each lighter than the one before by about as much, to the colour-blind too."""

WHITE, BLACK = 231, 16
LIGHT = 2  # from this colour on black is easier to read on it than white

LINES = (32, 166, 29, 133, 136, 102)
"""Colours of lines, which a white and a black page both carry."""

ODD = {True: ("×", "∞", "?"), False: ("x", "^", "?")}
"""The signs of what has no shade: hidden by a mask or −∞, ∞, and no number at all."""


class Shade(NamedTuple):
    """How a place is filled: with a sign, in a style."""

    sign: str
    style: str = ""


def shade(share: float, view: View) -> Shade:
    """A share from 0 to 1 of the way from the lowest to the highest."""
    if view.color:
        return Shade(" ", _style(_level(share, len(BRIGHTER))))
    ramp = DENSER[view.unicode]
    return Shade(ramp[_level(share, len(ramp))])


def shade_of(value: float, low: float, high: float, view: View, *, hidden: bool = False) -> Shade:
    """The shade of a value in the range of its picture; a sign of its own where it is beyond all ranges."""
    masked, infinite, none = ODD[view.unicode]
    if hidden or value == -np.inf:
        return Shade(masked)
    if not np.isfinite(value):
        return Shade(infinite if value > 0 else none)
    half = high / 2 - low / 2  # halved, so that no difference overflows
    return shade(0.0 if half == 0 else (value / 2 - low / 2) / half, view)


def _level(share: float, levels: int) -> int:
    return min(max(int(share * levels), 0), levels - 1)


def _style(level: int) -> str:
    return f"color({BLACK if level >= LIGHT else WHITE}) on color({BRIGHTER[level]})"


def legend(low: float, high: float, remarks: Iterable[str], view: View) -> Iterator[Text]:
    """`0 [ ░▒▓█] 0.6405, × masked`."""
    first, last = (format_number(bound, view.digits) for bound in (low, high))
    line = Text(view.spell(f"{first} ["))
    for level in range(len(BRIGHTER if view.color else DENSER[view.unicode])):
        if view.color:
            line.append("  ", _style(level))
        else:
            line.append(DENSER[view.unicode][level])
    line.append(view.spell(f"] {', '.join([last, *remarks])}"))
    yield line
