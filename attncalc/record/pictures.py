"""What a picture shows, as data for the code that draws it: shades, bars, curves, a landscape or arrows."""

from __future__ import annotations

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple


class Ticks(NamedTuple):
    """The labels along a side of a picture."""

    name: str  # of the axis: "n"
    labels: tuple[str, ...]  # one for each place
    own: bool = False  # whether they are the user's words; indices otherwise


class HeatMap(NamedTuple):
    """A matrix as shades from `low` to `high`, which all matrices of a stack share."""

    title: str
    values: Array  # −∞, ∞ and NaN have signs of their own
    rows: Ticks
    columns: Ticks
    low: float
    high: float
    hidden: Array | None = None  # the entries that a mask keeps at 0


class Bars(NamedTuple):
    """A vector, a bar for each entry."""

    title: str
    values: Array
    ticks: Ticks


class Line(NamedTuple):
    """One curve: its points from left to right, with NaN where it has none."""

    name: str
    x: Array
    y: Array


class Marks(NamedTuple):
    """Points in a picture; `ordered` ones form a path, from the first to the last."""

    name: str
    x: Array
    y: Array
    ordered: bool = False


class Curves(NamedTuple):
    """Curves over one axis."""

    title: str
    across: str  # the axis' name
    lines: tuple[Line, ...]
    marks: Marks | None = None


class Landscape(NamedTuple):
    """Heights over a plane, with a path through it."""

    title: str
    across: str
    up: str
    x: Array
    y: Array
    heights: Array  # a row for each y, a column for each x
    marks: Marks


class Arrow(NamedTuple):
    """A vector, from the origin."""

    name: str
    x: float
    y: float
    kind: int = 0  # arrows of one kind have the same colour: queries, keys, values


class Plane(NamedTuple):
    """Vectors in a plane, to scale."""

    title: str
    across: str
    up: str
    arrows: tuple[Arrow, ...]
    note: str = ""  # what may be read off the picture


Picture = HeatMap | Bars | Curves | Landscape | Plane
