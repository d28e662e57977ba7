"""Shades and colours for values between the lowest and the highest of a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from rich.text import Text

from attncalc.common.system import NamedTuple
from attncalc.record.numbers import format_number
from attncalc.render import View

DENSER = {True: " ░▒▓█", False: " .:-=+*#%@"}
"""Whether the page may contain more than ASCII → its shades, from the lowest value to the highest."""

ABOVE = (231, 189, 111, 68, 25)
"""The same in colour: small values are light, and the shades are about equally far apart."""
BELOW = (231, 223, 209, 166, 94)
"""The colours of values below 0, with white for 0: orange, which the colour-blind tell from the blue above 0."""

WHITE, BLACK = 231, 16
DARK = (ABOVE[-1], BELOW[-1])  # colours on which white is easier to read than black

LINES = (32, 166, 29, 133, 136, 102)
"""Colours of lines, visible on white and on black pages."""

ODD = {True: ("×", "∞", "?"), False: ("x", "^", "?")}
"""The signs for values without a shade: masked or −∞, ∞, and NaN."""


class Shade(NamedTuple):
    """How a place is filled: with a sign in a style."""

    sign: str
    style: str = ""


class Ramp(NamedTuple):
    """The colours from the lower bound to the upper."""

    low: float
    high: float
    colours: tuple[int, ...]


def ramp(low: float, high: float) -> Ramp:
    """The colours of a range; if it has both signs, each has its own colour, equally deep at equal distance from 0."""
    if low < 0 < high:
        most = max(-low, high)
        return Ramp(-most, most, (*reversed(BELOW[1:]), *ABOVE))
    return Ramp(low, high, BELOW[::-1] if low < 0 else ABOVE)


def shade(share: float, view: View, colours: tuple[int, ...] = ABOVE) -> Shade:
    """The shade for a share from 0 (the lowest value) to 1 (the highest)."""
    if view.color:
        return Shade(" ", _style(colours[_level(share, len(colours))]))
    signs = DENSER[view.unicode]
    return Shade(signs[_level(share, len(signs))])


def shade_of(value: float, low: float, high: float, view: View, *, hidden: bool = False) -> Shade:
    """The shade of a value in the range of its picture; a special sign if it is masked, infinite or NaN."""
    masked, infinite, none = ODD[view.unicode]
    if hidden or value == -np.inf:
        return Shade(masked)
    if not np.isfinite(value):
        return Shade(infinite if value > 0 else none)
    found = ramp(low, high)
    if view.color:
        low, high = found.low, found.high
    half = high / 2 - low / 2  # halved so that the difference does not overflow
    return shade(0.0 if half == 0 else (value / 2 - low / 2) / half, view, found.colours)


def _level(share: float, levels: int) -> int:
    return min(max(int(share * levels), 0), levels - 1)


def _style(colour: int) -> str:
    return f"color({WHITE if colour in DARK else BLACK}) on color({colour})"


def legend(low: float, high: float, remarks: Iterable[str], view: View, *, in_order: bool = False) -> Iterator[Text]:
    """The legend, `0 [ ░▒▓█] 0.6405, × masked`; `in_order` if shades stand for ranks, whatever the signs of values."""
    found = Ramp(low, high, ABOVE) if in_order else ramp(low, high)
    bounds = (found.low, found.high) if view.color else (low, high)
    first, last = (format_number(bound, view.digits) for bound in bounds)
    line = Text(view.spell(f"{first} ["))
    if view.color:
        for colour in found.colours:
            line.append("  ", _style(colour))
    else:
        line.append(DENSER[view.unicode])
    line.append(view.spell(f"] {', '.join([last, *remarks])}"))
    yield line
