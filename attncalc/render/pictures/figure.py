"""The pictures as a PNG or SVG file, by Matplotlib: without a display, and independent of the user's settings."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import AttncalcError, NoPicture, visible
from attncalc.record.numbers import texts
from attncalc.record.pictures import Bars, Curves, HeatMap, Landscape, Marks, Picture, Plane, Ticks
from attncalc.render import View
from attncalc.render.pictures.sides import few_decimals

if TYPE_CHECKING:  # Matplotlib may not be installed
    from matplotlib.axes import Axes

SHADES = "Blues"  # small is light
SIGNED = "PuOr"  # if both signs occur, each has its own colour: orange below 0, and white is 0
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito's
DASHES = ("-", "--", ":", "-.")  # so that lines differ not only by their colours
WIDTH, HEIGHT, LARGEST = 5.6, 4.2, 16.0  # inches of a picture
PAGE = 40.0  # inches of all of them together, to either side
NUMBERED = 20  # up to so many rows and columns, shades have numbers in them
TICKS = 24  # labels along a side
LONGEST_LABEL = 24  # characters
LEVELS = 12
DARK = 0.6  # on darker shades, as a share of the deepest, white numbers are easier to read
PATIENT = 24  # up to so many points of a path, each has its number
FONT = "DejaVu Sans"  # which comes with Matplotlib
FARTHEST = 1e307  # Matplotlib adds margins to an axis, and numbers end at 1.8e308
BOXES = "Last Resort"  # as does this font, whose characters are boxes that name the script


def figure(pictures: tuple[Picture, ...], view: View, format: str) -> bytes:
    """All the pictures in one file; the same bytes for the same numbers."""
    leaves = [*_leaves(pictures)]
    numbers = (leaf for leaf in leaves if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")
    if any((np.abs(each[np.isfinite(each)]) > FARTHEST).any() for each in numbers):
        fault = f"numbers beyond {FARTHEST:g} are not drawn to a file: Matplotlib's axes end there"
        raise NoPicture(fault, hint="--plot draws them in characters")
    count = len(pictures)
    columns = min(count, 1 if count == 1 else 2 if count <= 4 else 3)
    rows = ceil(count / columns)
    with _own_settings(format, "".join(visible(leaf) for leaf in leaves if isinstance(leaf, str))):
        from matplotlib.figure import Figure

        drawn = Figure(figsize=_size(pictures, rows, columns), layout="constrained")
        for number, picture in enumerate(pictures, start=1):
            axes = drawn.add_subplot(rows, columns, number)
            axes.set_title(_label(picture.title, 60))
            DRAWN[type(picture)](axes, picture, view)
        file = BytesIO()
        metadata = {"Software": None} if format == "png" else {"Date": None, "Creator": None}
        drawn.savefig(file, format=format, dpi=150, metadata=metadata)
    return file.getvalue()


@contextmanager
def _own_settings(format: str, text: str) -> Iterator[None]:
    """Matplotlib's defaults, without the user's settings; labels are no formulas, and SVG text stays text."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # it reports fonts, and faults in files that are not used here
    window = os.environ.pop("MPLBACKEND", None)  # no window is needed, and a wrong name would make the import fail
    try:
        import matplotlib
    except ImportError:
        fault = f"Matplotlib draws {format.upper()} files, but it is not installed"
        raise AttncalcError(fault, hint="pip install 'attncalc[plot]'") from None
    finally:
        logger.setLevel(level)
        if window is not None:
            os.environ["MPLBACKEND"] = window
    with warnings.catch_warnings(), matplotlib.rc_context(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about characters that no font has: they are drawn as boxes
        logger.setLevel(logging.CRITICAL)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "text.parse_math": False,
                "font.family": fonts_for(text),
                "svg.fonttype": "none",
                "svg.hashsalt": "attncalc",
                "axes.titlesize": "medium",
            }
        )
        try:
            yield
        finally:
            logger.setLevel(level)


def fonts_for(text: str) -> list[str]:
    """The font that is always there, and the first ones found that have the characters it lacks."""
    from matplotlib.font_manager import findfont, fontManager, get_font

    missing = {ord(character) for character in text} - get_font(findfont(FONT)).get_charmap().keys()
    found = [FONT]
    for entry in fontManager.ttflist if missing else ():
        if entry.style == "normal" and entry.weight == 400 and not entry.name.startswith(BOXES):
            with suppress(OSError, RuntimeError):  # a font that is gone, or in a format that cannot be drawn
                has = missing & get_font(entry.fname).get_charmap().keys()
                found += [entry.name] if has else []
                missing -= has
    return found


def _leaves(value: Any) -> Iterator[Any]:
    """The words, arrays and numbers that pictures are made of."""
    if isinstance(value, tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _size(pictures: tuple[Picture, ...], rows: int, columns: int) -> tuple[float, float]:
    """The size in inches, larger for matrices and vectors with many entries."""
    tallest = max([len(p.values) / 4 + 1 for p in pictures if isinstance(p, HeatMap | Bars)] + [HEIGHT])
    widest = max([p.values.shape[1] / 2.5 + 1.5 for p in pictures if isinstance(p, HeatMap)] + [WIDTH])
    return min(columns * min(widest, LARGEST), PAGE), min(rows * min(tallest, LARGEST), PAGE)


def _heat_map(axes: Axes, picture: HeatMap, view: View) -> None:
    low, high = picture.low, picture.high if picture.high > picture.low else picture.low + 1
    if signed := low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    seen = np.isfinite(picture.values)
    if picture.hidden is not None:
        seen &= ~picture.hidden
    values = np.ma.array(picture.values, mask=~seen)
    shades = axes.imshow(values, cmap=SIGNED if signed else SHADES, vmin=low, vmax=high, aspect="auto")
    shades.get_cmap().set_bad("#e8e8e8")
    axes.figure.colorbar(shades, ax=axes)
    _side(axes, "x", picture.columns)
    _side(axes, "y", picture.rows)
    if max(picture.values.shape) <= NUMBERED:
        reach = max(abs(low), abs(high)) if signed else high - low
        for (row, column), text in np.ndenumerate(few_decimals(picture.values, view)):
            depth = picture.values[row, column] - (0 if signed else low)
            dark = seen[row, column] and abs(depth) > DARK * reach
            said = text if seen[row, column] or not np.isfinite(picture.values[row, column]) else f"{text}\nmasked"
            size = "small" if len(text) <= 5 else "x-small"
            axes.text(column, row, said, ha="center", va="center", color="w" if dark else "k", fontsize=size)


def _bars(axes: Axes, picture: Bars, view: View) -> None:
    places = np.arange(len(picture.values))
    heights = np.where(np.isfinite(picture.values), picture.values, 0)
    drawn = axes.barh(places, heights, color=[LINES[int(height < 0)] for height in heights])
    labels = [str(text) for text in texts(picture.values, view.digits)]
    axes.bar_label(drawn, labels=labels, padding=3, fontsize="small")
    axes.margins(x=0.2)
    axes.axvline(0, color="k", linewidth=0.8)
    _side(axes, "y", picture.ticks)
    axes.invert_yaxis()


def _side(axes: Axes, side: str, ticks: Ticks) -> None:
    """The labels along a side; if there are many, only some of them."""
    places = list(range(0, len(ticks.labels), ceil(len(ticks.labels) / TICKS)))
    labels = [_label(ticks.labels[place]) for place in places]
    turned = {"rotation": 90} if side == "x" and sum(map(len, labels)) > 2 * TICKS else {}
    getattr(axes, f"set_{side}ticks")(places, labels, **turned)
    getattr(axes, f"set_{side}label")(_label(ticks.name))


def _curves(axes: Axes, picture: Curves, view: View) -> None:
    for number, line in enumerate(picture.lines):
        color, dashes = LINES[number % len(LINES)], DASHES[number % len(DASHES)]
        axes.plot(line.x, line.y, dashes, color=color, label=_label(line.name))
    if picture.marks is not None:
        _marks(axes, picture.marks, "k")
    if all(np.array_equal(line.x, np.rint(line.x)) for line in picture.lines):  # steps, positions: whole
        axes.locator_params("x", integer=True)
    axes.set_xlabel(_label(picture.across))
    axes.grid(visible=True, alpha=0.3)
    if len(picture.lines) > 1 or picture.marks is not None:
        _legend(axes)
    else:
        axes.set_ylabel(_label(picture.lines[0].name))


def _plane(axes: Axes, picture: Plane, view: View) -> None:
    """Arrows from the origin, to scale."""
    for arrow in picture.arrows:
        color, dashes = LINES[arrow.kind % len(LINES)], DASHES[arrow.kind % len(DASHES)]
        axes.plot([0, arrow.x], [0, arrow.y], dashes, color=color, marker="o", markevery=[1])
        axes.annotate(_label(arrow.name), (arrow.x, arrow.y), (5, 5), textcoords="offset points")
    axes.plot([0], [0], "ko", markersize=3)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.15)
    axes.grid(visible=True, alpha=0.3)
    axes.set_xlabel("\n".join(filter(None, (_label(picture.across), picture.note))), fontsize="small")
    axes.set_ylabel(_label(picture.up))


def _landscape(axes: Axes, picture: Landscape, view: View) -> None:
    """Contours with equal shares of the plane between them."""
    from matplotlib.colors import BoundaryNorm

    heights = np.ma.masked_invalid(picture.heights)
    levels = np.unique(np.quantile(heights.compressed() if heights.count() else [0.0], np.linspace(0, 1, LEVELS)))
    if len(levels) > 1:
        shades = axes.contourf(picture.x, picture.y, heights, levels, cmap=SHADES, norm=BoundaryNorm(levels, 256))
        axes.figure.colorbar(shades, ax=axes)
    _marks(axes, picture.marks, "w")
    axes.set_xlabel(_label(picture.across))
    axes.set_ylabel(_label(picture.up))
    _legend(axes)


def _legend(axes: Axes) -> None:
    """The legend of the lines, below the axes, since curves may fill all the space between them."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)


def _marks(axes: Axes, marks: Marks, color: str) -> None:
    """Points; a path also as a line, with the numbers of its points, or only of its ends if there are many."""
    edge = "k" if color == "w" else "w"
    points = "o-" if marks.ordered else "o"
    name = _label(marks.name)
    axes.plot(marks.x, marks.y, points, color=color, markeredgecolor=edge, linewidth=0.8, label=name, zorder=3)
    if marks.ordered:
        places = [*enumerate(zip(marks.x.tolist(), marks.y.tolist(), strict=True))]
        for number, place in places if len(places) <= PATIENT else (places[0], places[-1]):
            around = {"boxstyle": "round,pad=0.1", "facecolor": "w", "alpha": 0.6, "linewidth": 0}
            axes.annotate(str(number), place, (5, 5), textcoords="offset points", fontsize="small", bbox=around)


def _label(text: str, longest: int = LONGEST_LABEL) -> str:
    """The user's words as a label, with no character that acts."""
    return visible(text, longest)


DRAWN: dict[type, Any] = {HeatMap: _heat_map, Bars: _bars, Curves: _curves, Landscape: _landscape, Plane: _plane}
