"""The sides of a picture: how many places are shown, their labels, round numbers along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attncalc.common.numerals import Array
from attncalc.record.numbers import texts
from attncalc.record.pictures import Ticks
from attncalc.render import View
from attncalc.render.page import GAP, shortened

DIGITS = 2  # decimals in a picture; its table has more
MOST_ROWS = 40
LONGEST_LABEL, LONGEST_NARROW = 16, 8
NARROW = 60  # columns of a page


def count(places: Sequence[int | None]) -> int:
    """How many places are shown."""
    return sum(place is not None for place in places)


def label(ticks: Ticks, place: int | None, view: View) -> str:
    """The label of a place; shorter on a narrow page."""
    longest = LONGEST_NARROW if view.columns and view.columns < NARROW else LONGEST_LABEL
    return shortened(GAP if place is None else ticks.labels[place], longest, view)


def few_decimals(values: Array, view: View) -> Array:
    """The entries as text with two decimals, or with those of a table if asked for, or if an entry would become 0."""
    written = texts(values, DIGITS if view.digits is None else view.digits)
    return texts(values) if view.digits is None and any("e" in text for text in written.flat) else written


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """At most `most` numbers from `low` to `high` that are 1, 2 or 5 times a power of ten apart."""
    width = (high - low) / most
    if not 0 < width < math.inf:
        return [low]
    power = 10.0 ** math.floor(math.log10(width))
    apart = next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= width)
    first, last = math.ceil(low / apart - 1e-9), math.floor(high / apart + 1e-9)
    found = [float(f"{i * apart:.12g}") for i in range(first, last + 1)]
    return found if len(found) > 1 and np.isfinite(found).all() else [low, high]
