"""Values as HTML: tables with headings, entries to link to and to point at, shades and their legends."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from html import escape
from itertools import count
from typing import TypeAlias

from attncalc.common.errors import visible
from attncalc.common.system import NamedTuple
from attncalc.record.numbers import format_number, parted
from attncalc.render import View, tex
from attncalc.render.mathml import mathml
from attncalc.render.page import (
    BLANK,
    GAP,
    Limits,
    Line,
    Matrix,
    Page,
    Place,
    Table,
    axes,
    heading,
    label,
    number,
    streamed,
    window,
)

WIDE = 8  # tables with more columns may have to be scrolled, by keyboard too
DEEPEST = 9  # the number of the deepest shade
WIDTHS = range(50, 101, 10)  # widths of tables on paper, relative to their type size
LABEL, DIGITS, STREAMED = 16, 4, 9  # assumed letters of a row's label or index, and of an entry not written yet
PLACE = r"\[(?:&[lg]t;|[^][; ])* (?:&[lg]t;|[^][;]){1,30}\]"
COMPARED = r"\([^][(),]{1,30} (?:[=≤≥≠]|&[lg]t;) [^][(),]{1,30}\)"
RANGE = r"(?:\[[^][;\s]{1,30}\])*\[[^][;\s]{1,20}[…-][^][;\s]{1,20}\]"
NAME = rf"∂L/∂\w+(?:{RANGE})?|\b[a-z]+ \d+/\w+|{RANGE}"  # a gradient's name, or `block 1/scores`
COMPLEX = r"-?[\d.]+ [-+] [\d.]+i\b"
WHOLE_NUMBER = rf"{NAME}|{PLACE}|{COMPARED}|{COMPLEX}|−\(-[\d.]+(?:e-\d+)?|[\d.]+e-\d+|\|[-−\d.]+\|[²\0]"
BRACKETS = reduce(lambda inner, _: rf"\([^()]*(?:{inner}[^()]*)*\)", range(4), r"\([^()]*\)")  # nested up to five deep
POWER = rf"\^([a-z]*{BRACKETS}|\[[^\[\]]*\]|[-−]?\d+(?:\.\d+)?(?:e-?\d+)?|[-−]?∞|[-−]?\w+)"
"""`^0.5`, `^(−∞)`, `^min(0, 1)`, `^[3]`, `^x`."""
LONG_POWER = 28
"""A longer exponent stays on the line with its ^, since a superscript would be torn at the line's end."""
WHOLE = 1e-5  # how far the sum of a row of shares may be from 1


class Link(NamedTuple):
    """A line of the table of contents."""

    id: str
    text: str
    is_step: bool


class Layout(NamedTuple):
    """The settings for writing the parts of a page."""

    page: Page
    view: View
    limits: Limits
    links: dict[str, Link] | None  # id → link, for all parts written so far; None inside another page

    def anchor(self, name: str, said: str = "", *, is_step: bool = False) -> str:
        """A unique id for a part; with words the part is listed in the contents."""
        found = anchor(name)
        if self.links is None or not found or found in self.links:
            return ""
        self.links[found] = Link(found, said, is_step)
        return found

    def another(self, name: str) -> str:
        """The id of a further part with the same name."""
        return next(filter(None, (self.anchor(f"{name}{number}") for number in count(2))), "") if self.links else ""

    @property
    def is_pointed_at(self) -> bool:
        """Whether entries show how they were made when they are pointed at."""
        return any(self.page.told.values())


def anchor(name: str) -> str:
    """The id of a part of that name."""
    return re.sub(r"\s", "_", visible(name))


def text(words: str) -> str:
    """Any text, escaped for HTML."""
    return escape(visible(words), quote=True)


def whole_numbers(words: str) -> str:
    """Arithmetic in which no line breaks within 1e-05, −(-2, `[4 < 2]` or `(4 > 2)`, or before the power of |-3|²."""
    return with_powers(text(words))


def with_powers(written: str) -> str:
    """Escaped text without breaks in numbers, and with powers as superscripts.

    The ^ and brackets of powers stay in the text, hidden, for copying it and for screen readers.
    """
    powers: list[str] = []

    def put_by(power: re.Match[str]) -> str:
        if len(power[1]) > LONG_POWER:
            return power[0]
        powers.append(power[1])
        return "\0"  # which no escaped text contains

    whole = kept_whole(re.sub(POWER, put_by, written))
    above = map(_raised, powers)
    return re.sub("\0", lambda _: next(above), whole)


def _raised(power: str) -> str:
    inside = power[1:-1] if power.startswith("(") else power
    before, behind = ("^", "") if inside == power else ("^(", element("span", ")", "caret"))
    return element("sup", element("span", before, "caret") + with_powers(inside) + behind)


def kept_whole(written: str) -> str:
    """Escaped text in which lines don't break within a number or a comparison."""
    return re.sub(WHOLE_NUMBER, lambda number: element("span", number[0], "whole"), written)


def element(name: str, inside: str, of: str = "", **attributes: str) -> str:
    """`element("td", "1", "gap")` → `<td class="gap">1</td>`."""
    said = attributes_of({"class": of} | attributes if of else attributes)
    return f"<{name}{said}>{inside}</{name}>"


def attributes_of(named: Mapping[str, str]) -> str:
    """`{"data_at": "0,1"}` → ` data-at="0,1"`."""
    return "".join(f' {key.replace("_", "-")}="{text(value)}"' for key, value in named.items())


Block: TypeAlias = "str | Iterable[str]"
"""A block of lines: text, or pieces of it that are made while they are written."""


def around(name: str, inside: Iterable[str], of: str = "", **attributes: str) -> Iterator[str]:
    """An element as `element` writes it, piece by piece."""
    closing = f"</{name}>"
    yield element(name, "", of, **attributes).removesuffix(closing)
    yield from inside
    yield closing


def below(blocks: Iterable[Block]) -> Iterator[str]:
    """Blocks one below the other."""
    for place, block in enumerate(blocks):
        yield from ["\n"] if place else []
        yield from [block] if isinstance(block, str) else block


def named(anchor: str) -> dict[str, str]:
    """The id attribute of an element that can be linked to."""
    return {"id": anchor} if anchor else {}


def value(table: Table, lines: Sequence[Line], layout: Layout, anchor: str = "") -> Iterator[Block]:
    """A step's value: the arithmetic of its entries if that is short, then its tables, or the words in their place."""
    if not table.shape and table.can_be_shown:
        *links, value = lines[0].links if lines else (number(table, layout.view),)
        worked = element("span", whole_numbers("".join(f"{link} = " for link in links)), "chain") if links else ""
        yield single(table, text(f"{table.name} = ") + worked, "strong", value, layout)
        return
    if lines:
        yield element("ul", "".join(element("li", whole_numbers(line.text)) for line in lines), "worked")
    if not table.can_be_shown:
        yield element("p", text(table.instead), "faint")
        return
    scale = scale_of(table)
    left_out, matrices = "", streamed(table, layout.view)
    if not matrices:
        shown = window(table, layout.view, layout.limits)
        left_out, matrices = shown.left_out, [(matrix, matrix.entries) for matrix in shown.matrices]
    figures = (_figure(table, matrix, entries, layout, anchor, scale) for matrix, entries in matrices)
    yield around("div", below(figures), "stack", **_number(table, layout))
    if scale is not None:
        yield element("p", scale.legend, "scale faint")
    if left_out:
        yield element("p", f"{GAP} {left_out} (--all shows them)", "faint")


def single(table: Table, chain: str, name: str, entry: str, layout: Layout) -> str:
    """A single number after the arithmetic that leads to it."""
    number = element(name, _entry(table, (), entry), "blank" if table.blank else "", **_told(table, (), layout))
    return element("p", chain + number, "value", **_number(table, layout))


class Scale(NamedTuple):
    """The meaning of a table's shades."""

    most: float  # the value of the deepest shade
    signs: str  # `h` for shares; for gradients `p` for positive values, `m` for negative ones, or `mp`

    def of(self, value: float) -> str:
        """The class of an entry's shade: `h3` for a share, `p3` and `m3` for positive and negative values."""
        if math.isnan(value):
            return ""
        level = min(round(DEEPEST * abs(value) / self.most), DEEPEST)
        sign = "h" if self.signs == "h" else "m" if value < 0 else "p"
        return f"{sign}{level}" if level else ""

    @property
    def legend(self) -> str:
        """The legend: shades beside the numbers that they stand for."""
        most = text(format_number(self.most))
        said = "the shade of a share" if self.signs == "h" else "striped is below 0" if "m" in self.signs else ""
        below = f"−{most} {swatches('m', range(DEEPEST, 0, -2))} " if "m" in self.signs else ""
        above = f" {swatches(self.signs[-1], range(1, DEEPEST + 1, 2))} {most}" if self.signs != "m" else ""
        return f"{below}0{above}" + (f": {element('span', said, 'whole')}" if said else "")


def swatches(sign: str, levels: range) -> str:
    """Shades side by side."""
    return "".join(f'<span class="swatch {sign}{level}"></span>' for level in levels)


def scale_of(table: Table) -> Scale | None:
    """The scale of gradients, and of shares, which are at least 0 and sum to 1 in each row; None for other values.

    Operands have none either, since the entries of a bias may sum to 1 by chance.
    """
    entries = table.value
    if (
        entries is None
        or table.source
        or entries.dtype.kind != "f"
        or not table.shape
        or entries.size < 2
        or table.names
    ):
        return None
    if table.name.startswith("grad_") or table.symbol.startswith("∂"):
        most = float(abs(entries).max()) if entries.min() < entries.max() else 0  # equal numbers need no shades
        signs = "m" * bool((entries < 0).any()) + "p" * bool((entries > 0).any())
        return Scale(most, signs) if 0 < most < float("inf") else None
    is_share = table.shape[-1] > 1 and entries.min() >= 0 and bool((abs(entries.sum(axis=-1) - 1) < WHOLE).all())
    digits = 0 if entries.size > table.shape[-1] else 2  # a row by itself may sum to 1 by chance: 0.5, 0, 0.5
    if is_share and bool((abs(entries - entries.round(digits)) > WHOLE).any()):  # 0s and 1s need no shades
        return Scale(1.0, "h")
    return None


Entries: TypeAlias = Iterable[tuple[str, ...]]


def _figure(
    table: Table, matrix: Matrix, entries: Entries, layout: Layout, anchor: str, scale: Scale | None
) -> Iterator[str]:
    """A matrix, which can be scrolled if it is wide, by keyboard too."""
    wide = {"tabindex": "0", "role": "region", "aria_label": table.name} if len(matrix.columns) > WIDE else {}
    drawn = around("table", _matrix(table, matrix, entries, layout, anchor, scale))
    kind = on_paper(_breadth(table, matrix)) + " wide" * bool(wide) + " scroll"
    return around("figure", around("div", drawn, kind.strip(), **wide))


def _breadth(table: Table, matrix: Matrix) -> float:
    """About how wide a matrix will be, relative to its type size."""
    names = [1 if j is None else len(label(table, axes(table)[1], j)) for j in matrix.columns]
    entries = [max(map(len, column)) for column in zip(*matrix.entries, strict=True)] or [STREAMED] * len(names)
    rows = [LABEL if axes(table)[0] in table.labels else DIGITS] * (len(table.shape) > 1)
    return sum(0.64 * size + 0.9 for size in [*rows, *map(max, names, entries)])


def on_paper(breadth: float) -> str:
    """The class of a table that is too wide for paper: it is set in smaller type, or its rows are folded."""
    if breadth < WIDTHS[0] * 0.8:
        return ""
    fitting = next((width for width in WIDTHS if breadth <= width), None)
    return f"broad w{fitting}" if fitting else "folded"


def _matrix(
    table: Table, matrix: Matrix, lines: Entries, layout: Layout, anchor: str, scale: Scale | None
) -> Iterator[str]:
    row_axis, column_axis = axes(table)
    is_row = len(table.shape) == 1
    span = {"scope": "colgroup", "colspan": str(len(matrix.columns))}
    above = element("th", axis_names(column_axis), "axis", **span)
    names = [_name(table, column_axis, j, scope="col") for j in matrix.columns]
    corner = ("", "") if is_row else ("<td></td>", element("th", axis_names(row_axis), "axis", scope="col"))
    unseen = element("span", text(f"{table.symbol}, {table.sizes}"), "unseen")
    named = re.sub(r"\w+(?= = )", lambda axis: axis_names(axis[0]), text(heading(table, matrix)))
    yield element("caption", unseen + named)
    yield element("thead", element("tr", corner[0] + above) + element("tr", corner[1] + "".join(names)))
    is_quiet = table.number not in layout.page.origins and not layout.page.told.get(table.number)
    is_plain = is_quiet and table.value is not None and table.value.dtype.kind == "f" and not table.names
    yield "<tbody>"
    for i, entries in zip(matrix.rows, lines, strict=True):
        row = [] if is_row else [_name(table, row_axis, i, scope="row")]
        before = matrix.at if is_row or i is None else (*matrix.at, i)
        linked = f' id="{"-".join([text(anchor), *map(str, before)])}-' if anchor else ""
        numbers = table.value[before].tolist() if scale and table.value is not None and i is not None else None
        for j, entry in zip(matrix.columns, entries, strict=True):
            if i is None or j is None:
                row.append(element("td", GAP, "gap"))
                continue
            shade = scale.of(numbers[j]) if scale and numbers else "blank" if table.blank and entry == BLANK else ""
            said = (f' class="{shade}"' if shade else "") + (f'{linked}{j}"' if linked else "")
            if not is_plain:  # entries of a large value are plain numbers
                said += attributes_of(_told(table, (*before, j), layout))
            written = entry if is_plain else _entry(table, (*before, j), entry)
            row.append(f"<td{said}>{written}</td>")
        yield element("tr", "".join(row))
    yield "</tbody>"


def _number(table: Table, layout: Layout) -> dict[str, str]:
    """The attribute with the table's number, by which entries made from it refer to it."""
    return {"data_value": str(table.number)} if table.number in layout.page.origins else {}


def _told(table: Table, at: Place, layout: Layout) -> dict[str, str]:
    """The attributes of an entry: what is shown when it is pointed at, and its place if others refer to it."""
    place = {"data_at": ",".join(map(str, at))} if table.number in layout.page.origins else {}
    told = layout.page.told.get(table.number, {}).get(at)
    if told is None:
        return place
    return place | {"data_how": told.how} | ({"data_from": told.origins} if told.origins else {})


def _entry(table: Table, at: tuple[int, ...], entry: str) -> str:
    """An entry: an ordinary number as it is, an exact one as a formula with its decimals."""
    if table.value is None or table.value.dtype != object or table.names:
        return text(entry)
    _, sign, decimals = parted(entry)
    return mathml(tex.exact(table.value[at])) + text(sign + decimals)


def _name(table: Table, axis: str, index: int | None, *, scope: str) -> str:
    """The heading of a row or a column: its label, or its index."""
    if index is None:
        return element("th", GAP, "gap", scope=scope)
    name = text(label(table, axis, index))
    if axis not in table.labels:
        return element("th", name, scope=scope)
    return element("th", element("bdi", name), "label", scope=scope)


LOWERED = re.compile(r"(?<![^\W_])([^\W\d_]|Σ|mean|max|min|softmax)_([^\Wᵀ²³]+)")
"""A letter or a sum with a subscript, in a formula as text; names of steps don't match."""


def axis_names(words: str) -> str:
    """Names of axes with subscripts: `d_model` with its model below."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", text(words))


def formula_text(words: str) -> str:
    """A formula as text, with the subscripts of sums and letters, `Σ_n` and `h_0`, set below."""
    return re.sub(LOWERED, lambda found: f"{found[1]}<sub>{axis_names(found[2])}</sub>", with_powers(text(words)))
