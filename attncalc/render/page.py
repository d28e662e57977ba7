"""A page: blocks of data, made from a record, that every format writes; and how much of a value fits on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan, prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from attncalc.common.errors import amount, visible
from attncalc.common.numerals import Array, is_number
from attncalc.common.system import NamedTuple, loaded
from attncalc.render import TABLE, View

if TYPE_CHECKING:  # few pages have pictures, and only a terminal's need Rich
    from rich.text import Text

    from attncalc.record.pictures import Picture


# What a page shows, as blocks of data: makers make them from records, and every writer can write all of them.


NOTHING: Mapping[Any, Any] = MappingProxyType({})

Place = tuple[int, ...]
B = TypeVar("B")


class Heading(NamedTuple):
    """The heading of a page, a part of it or a step."""

    text: str
    number: int | None = None  # the step's number
    key: str = ""  # the step's full name, with its group


BACKWARD = ", backward"
"""Follows the name of a part that is shown a second time, for its gradients: `norm1, backward`."""


class Span(NamedTuple):
    """A part of a text, and how it is set: strong, emphasis, code, or plain."""

    text: str
    kind: str = ""


class Paragraph(NamedTuple):
    """Running text."""

    text: str
    kind: str = ""  # its role: where, why, about, remark, code, sound, wrong, onward, own
    latex: str = ""  # the same text in LaTeX, if it holds formulas
    spans: tuple[Span, ...] = ()  # the same text in spans, if parts of it are set differently


class Note(NamedTuple):
    """A remark on a calculation."""

    text: str
    kind: str  # "note", "warning", "option", "finding", "alarm" or "silent"


class Formula(NamedTuple):
    """A formula, the same with sizes in place of names, and the shape of its result."""

    symbol: str
    text: str = ""
    sizes: str = ""
    outcome: str = ""
    symbol_latex: str = ""
    latex: str = ""


class Line(NamedTuple):
    """An entry and its arithmetic: `scores[0,1] = 1×1 + 0×0 + 1×1 = 2`."""

    name: str
    at: Place
    arithmetic: str  # "" if the entry is only handed on, or given
    links: tuple[str, ...]  # what follows the place, each after an equals sign
    labels: tuple[str, ...] = ()  # the place by labels, if its axes have any
    why: str = ""  # what follows the value in brackets: `masked`, or the comparison that decided

    @property
    def place(self) -> str:
        """`scores[0,1]`, or `scores[the,cat]` with labels; for a scalar just the step's name."""
        return f"{self.name}[{','.join(self.labels or map(str, self.at))}]" if self.at else self.name

    @property
    def value(self) -> str:
        """The entry as text, without what follows it in brackets."""
        return self.links[-1].removesuffix(f" ({self.why})")

    @property
    def text(self) -> str:
        """The whole line."""
        return " = ".join((self.place, *self.links))


class Arithmetic(NamedTuple):
    """Entries with their arithmetic."""

    lines: tuple[Line, ...]


class Ends(NamedTuple):
    """The entries that a page can show of a value that was not kept."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    entries: Mapping[Place, Array]  # place in the stack → the entries of the matrix there, for those that are shown


class Table(NamedTuple):
    """A value: a number, a row, a matrix with its axes' names and labels, or a stack of them."""

    name: str
    value: Array | None  # with 0 for mere rounding errors, such as 1.1e-16; None if it was not kept
    axes: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = NOTHING
    names: tuple[str, ...] = ()  # what integer entries stand for
    symbol: str = ""
    symbol_latex: str = ""
    full: Array | None = None  # the value with rounding errors
    ends: Ends | None = None
    source: str = ""  # of an operand: where it is from,
    note: str = ""  # how it was read,
    typed: str = ""  # and how a user would type it, if it is small
    written: Array | None = None  # its entries as they were given, if some are like 1/3 or sqrt(2)
    number: int = 0  # identifies the table, for entries that point at one another
    blank: bool = False  # whether numbers in it are to be filled in
    decimal: str = "."  # the decimal mark in its numbers
    factors: tuple[Table, ...] = ()  # of a matrix product: the two matrices as they are used in it, and the bias
    stand_in: str = ""  # the words in place of a value that the page shows elsewhere, or not at all

    @property
    def can_be_shown(self) -> bool:
        """Whether there are entries to show."""
        return 0 not in self.shape and not self.stand_in and (self.value is not None or self.ends is not None)

    @property
    def is_words(self) -> bool:
        """Whether the value is text, as that of an operand that is a formula."""
        return self.value is not None and self.value.dtype.kind == "U"

    @property
    def single(self) -> str:
        """A single number as it was given, or the text of a formula."""
        return str(self.value) if self.is_words else str(self.value).replace(".", self.decimal)

    @property
    def sizes(self) -> str:
        """`n=2 × d_k=3`."""
        named = zip(self.axes, self.shape, strict=True)
        return " × ".join(str(size) if axis.isdigit() else f"{axis}={size}" for axis, size in named)

    @property
    def instead(self) -> str:
        """The words in place of a value that was not kept, or has no entries."""
        if self.stand_in:
            return self.stand_in
        if self.value is not None:
            return f"no entries: {'×'.join(map(str, self.shape))}"
        return "too large to keep (--all keeps it)"


LEFT_OUT = "–"
"""Stands for an entry that was left blank."""
MOST_PLACES = 12
"""The most places of wrong entries that are named, each an entry, a row or a matrix."""


class Verdict(NamedTuple):
    """A marked step of a sheet."""

    name: str
    verdict: str
    marks: str
    sound: bool
    mistake: str = ""  # the mistake behind it
    hint: str = ""
    revealed: str = ""
    apart: str = ""  # the words on operands for which equally good explanations give different answers
    wrong: str = ""  # which entries are wrong, in words, if they are too many for `places`
    places: tuple[tuple[int, ...], ...] = ()  # which entries are wrong; fewer indices stand for a whole row or matrix
    map: tuple[tuple[bool, ...], ...] = ()  # the same as a small map, row by row
    given: tuple[tuple[str, ...], ...] = ()  # the answer, in the rows of the map
    stack: tuple[int, ...] = ()  # the sizes of all axes but that of the columns, over which the rows of the map run
    first: int = 0  # the index of the first row and column
    labels: tuple[tuple[str, ...], ...] = ()  # of each axis, () if it has none
    axes: tuple[str, ...] = ()  # the names of the axes
    misshapen: str = ""  # the shape of the answer, if it is the wrong one, so that no entry is right or wrong

    @property
    def caption(self) -> str:
        """The caption of the map."""
        if self.misshapen:
            return f"as written: {self.misshapen}"
        return "as written, × where it is wrong" if self.given else "× where it is wrong"

    @property
    def along(self) -> str:
        """The names of the rows' axes, `h,n`, if there are several."""
        return ",".join(self.axes[:-1]) if len(self.axes) > 2 else ""

    @property
    def wrong_entries(self) -> str:
        """Which entries are wrong, in words: `every entry`, `all of h=0, [1,river,2]`."""
        if () in self.places:
            return "every entry"
        told = " ".join(map(self._entries, self.places[:MOST_PLACES])).removesuffix(";")
        more = len(self.places) - MOST_PLACES
        return (f"{told} and {more} more" if more > 0 else told) or self.wrong

    def _entries(self, place: tuple[int, ...]) -> str:
        names = [name for axis, index in enumerate(place) for name in self._names(axis, [index])]
        if len(place) > len(self.stack):
            return f"[{','.join(names)}]"
        axes = self.axes or ("row",)
        return f"all of {', '.join(f'{axis}={name}' for axis, name in zip(axes, names, strict=False))};"

    @property
    def columns(self) -> tuple[str, ...]:
        """The headings of the map's columns."""
        return self._names(-1, range(len(self.map[0])))

    def _names(self, axis: int, places: Iterable[int]) -> tuple[str, ...]:
        """The places along an axis by their labels, or by their indices."""
        words = self.labels[axis] if self.labels else ()
        return tuple(visible(words[place]) if words else str(place + self.first) for place in places)

    @property
    def signs(self) -> Iterator[tuple[str, ...]]:
        """The rows of the map: × for a wrong entry, – for one left blank, else a dot, or nothing if it is misshapen."""
        given = self.given if self.map and self.given else tuple(("",) * len(row) for row in self.map)
        for row, cells in zip(self.map, given, strict=True):
            signs = (LEFT_OUT if cell == LEFT_OUT else "×" for cell in cells)
            right = "" if self.misshapen else "·"
            yield tuple(sign if wrong else right for wrong, sign in zip(row, signs, strict=True))

    @property
    def answered(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """(row's name, the answer with × at wrong entries) for each row of the map."""
        given = self.given or tuple(("·",) * len(row) for row in self.map)
        for number, (row, cells) in enumerate(zip(self.signs, given, strict=True)):
            at = enumerate(_place(number, self.stack))
            name = ",".join(part for axis, index in at for part in self._names(axis, [index]))
            yield name, tuple(f"{cell} ×" if sign == "×" else cell for cell, sign in zip(cells, row, strict=True))

    @property
    def besides(self) -> Iterator[str]:
        """Further remarks on the answer, below its map or in place of one."""
        if self.wrong_entries and (not self.map or len(self.stack) > 1):
            yield f"wrong entries: {self.wrong_entries}"
        if self.given and not self.map:
            yield f"answered: {self.given[0][0]}"
        yield from filter(None, (self.revealed, self.apart))


class Row(NamedTuple):
    """A line of a table of words."""

    cells: tuple[str, ...]
    sound: bool = True


class Rows(NamedTuple):
    """A table of words; `code` are the columns that hold names, `right` those that hold numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    code: frozenset[int] = frozenset()
    right: frozenset[int] = frozenset()


WIDEST_NAME = 32  # characters; beside a longer name there are no words, and it has a line to itself


def room(names: Iterable[str]) -> int:
    """How many columns are needed for the names that have words beside them."""
    return max((len(name) for name in names if len(name) <= WIDEST_NAME), default=4)


class Spot(NamedTuple):
    """A step on a map: how far off it is, and the words on it."""

    name: str
    text: str
    word: str  # the verdict, unless it is right
    said: str
    times: float  # the largest error as a multiple of the tolerance; more than 1 is wrong
    loud: bool  # whether a reader should look at it first


class Map(NamedTuple):
    """The steps of each part side by side, as links to their details; `instead` is for formats without links."""

    caption: str
    names: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Spot | None, ...]], ...]
    instead: Rows | None


class Point(NamedTuple):
    """An item of a list: a name, a sentence or a formula, and words about it."""

    text: str
    words: str = ""
    mark: str = ""  # what is in front of it: a number, a dot
    latex: str = ""  # the formula in LaTeX
    value: str = ""  # what the name stands for, as a user would type it
    fields: tuple[str, ...] = ()  # in a list for programs: the fields of a plain line, separated by tabs


class Points(NamedTuple):
    """A list of points; `room` is the width of the names that have words beside them, and 0 puts words below."""

    points: tuple[Point, ...]
    room: int = 0


class Part(NamedTuple):
    """Blocks that belong together."""

    kind: str
    """It is "given", "steps", "result", "section", "opened", "exercises" or "exercise"; within steps and results
    "group", or "between" groups, and in these "step" or, of a result that stood above, "again"; or "cells"."""
    heading: Heading
    blocks: tuple[Any, ...]

    def all(self, kind: type[B]) -> Iterator[B]:
        """Its blocks of this type."""
        return (block for block in self.blocks if isinstance(block, kind))

    def one(self, kind: type[B]) -> B:
        """The one block of this type."""
        return next(self.all(kind))

    @property
    def lines(self) -> list[Line]:
        """The entries with arithmetic in it."""
        return [line for block in self.all(Arithmetic) for line in block.lines]

    @property
    def steps(self) -> list[Part]:
        """The steps in its groups."""
        return [step for group in self.all(Part) for step in group.all(Part)]


Block: TypeAlias = (
    "Heading | Paragraph | Note | Formula | Arithmetic | Table | Picture | Verdict | Rows | Map | Points | Part"
)


class Told(NamedTuple):
    """What is shown when an entry is pointed at."""

    how: str  # "output[0,1] = 0.5×2 + 0.5×5 = 3.5, from weights at n=0 and V at d_v=1"
    origins: str  # the same for the script: "3:0,0-1;1:0-1,2", a table's number and the places along its axes


class Page(NamedTuple):
    """A page, and what is shown when its entries are pointed at."""

    title: str
    blocks: tuple[Any, ...]
    told: Mapping[int, Mapping[Place, Told]] = NOTHING  # table's number → place → what is shown
    origins: frozenset[int] = frozenset()  # the numbers of tables from which entries were made
    values: bool = False  # whether it holds nothing but values
    steps: int = 0  # how many there are, shown or not

    def all(self, kind: type[B]) -> Iterator[B]:
        """Its blocks of a kind."""
        return (block for block in self.blocks if isinstance(block, kind))


def write(page: Page, format: str, view: View | None = None) -> str | bytes:
    """A page in a format of `PAGES` or `PICTURES`."""
    if not TABLE[format].opens:
        page = page._replace(blocks=tuple(_laid_open(page.blocks)))
    content: str | bytes = loaded(f"render.{TABLE[format].where}")(page, view or View())
    return content


def _laid_open(blocks: Iterable[Any]) -> Iterator[Any]:
    """The blocks for a format without links: without the details behind a map, and with words in the map's place."""
    for block in blocks:
        if isinstance(block, Map):
            yield from () if block.instead is None else (block.instead,)
        elif not isinstance(block, Part):
            yield block
        elif block.kind != "opened":
            yield block._replace(blocks=tuple(_laid_open(block.blocks))) if block.kind == "section" else block


# A value as tables of text: the last two axes make a table, axes in front a stack; of large tables only the ends.


GAP = "…"
BLANK, NOT_ASKED = "____", "–"
"""Stand for an entry to fill in, and for one that is not asked for, which in a ruled table would look like a box."""
LARGE = 20_000  # entries
LEAST_HIDDEN = 3  # rows or columns; fewer are shown, since a gap takes a line itself


class Limits(NamedTuple):
    """How much of a value is shown, unless the view asks for everything."""

    rows: int = 24
    columns: int = 40
    tables: int = 8


class Matrix(NamedTuple):
    """One matrix: which indices of its rows and columns are shown, and their entries as text."""

    at: Place  # its place in the stack
    rows: tuple[int | None, ...]  # None is a gap; a vector is one row
    columns: tuple[int | None, ...]
    entries: tuple[tuple[str, ...], ...]  # "…" in a gap


class Window(NamedTuple):
    """The matrices of a value that are shown, and in words what is left out."""

    matrices: tuple[Matrix, ...]
    left_out: str = ""  # "22 more columns and 3 more rows"


def streamed(table: Table, view: View) -> list[tuple[Matrix, Iterable[tuple[str, ...]]]]:
    """The matrices of a large value of floats, with lines that are made while they are written; empty for others."""
    value = table.value
    is_plain = value is not None and value.dtype.kind == "f" and not (table.names or table.blank or table.stand_in)
    if not view.everything or value is None or not is_plain or value.size < LARGE or table.decimal != ".":
        return []
    from attncalc.record.numbers import lines  # a door: NumPy, which pages without numbers do without

    height, breadth, number = whole(table.shape)
    rows, columns = tuple(range(height)), tuple(range(breadth))
    found = [Matrix(_place(at, table.shape[:-2]), rows, columns, ()) for at in range(number)]
    return list(zip(found, lines(value.reshape(number, height, breadth), view.digits), strict=True))


def shown_entries(table: Table, view: View, limits: Limits) -> int:
    """How many entries of a value are shown."""
    size = whole(table.shape)
    most = size if view.everything else limits
    return min(size.rows, most.rows) * min(size.columns, most.columns) * min(size.tables, most.tables)


def window(table: Table, view: View, limits: Limits) -> Window:
    """As much of a value as the limits allow; a single number is a matrix of one entry."""
    if not table.can_be_shown:
        return Window(())
    limits = whole(table.shape) if view.everything else limits
    height, breadth, number = whole(table.shape)
    rows, columns = ends(height, limits.rows), ends(breadth, limits.columns)
    places = matrices(table.shape, limits)
    parts = [_part(table, at, rows, columns) for at in places]
    found = []
    for at, lines in zip(places, _entries(table, parts, view), strict=True):
        if len(columns) < breadth:
            for line in lines:
                line.insert(-1, GAP)
        if len(rows) < height:
            lines.insert(-1, [GAP] * len(lines[0]))
        found.append(Matrix(at, _with_gap(rows, height), _with_gap(columns, breadth), tuple(map(tuple, lines))))
    missing = (breadth - len(columns), "column"), (height - len(rows), "row"), (number - len(places), "table")
    return Window(tuple(found), left_out(missing))


def whole(shape: Sequence[int]) -> Limits:
    """The limits at which all of a value is shown: the numbers of its rows, columns and matrices."""
    height, breadth = (1, 1, *shape)[-2:]
    return Limits(height, breadth, prod(shape[:-2]))


def sized(shape: Sequence[int]) -> str:
    """`2×3`; `[3]` for a vector, since its length alone could be taken for a number."""
    return f"[{shape[0]}]" if len(shape) == 1 else "×".join(map(str, shape))


def ends(size: int, most: int) -> list[int]:
    """The indices of an axis that are shown: all, or the first ones and the last."""
    return list(range(size)) if size <= most else [*range(most - LEAST_HIDDEN), size - 1]


def abridged(items: Sequence[Any], most: int, gap: Any) -> list[Any]:
    """The items; of more than `most` only the first ones, the gap and the last."""
    return [*items] if len(items) <= most else [*items[: most - 2], gap, items[-1]]


def matrices(shape: Sequence[int], limits: Limits) -> list[Place]:
    """The places of those matrices of a stack that are shown."""
    return [_place(number, shape[:-2]) for number in ends(prod(shape[:-2]), limits.tables)]


def _place(number: int, sizes: Sequence[int]) -> Place:
    """The place with this number, counting the places along axes of these sizes from 0."""
    return tuple(number // prod(sizes[axis + 1 :]) % size for axis, size in enumerate(sizes))


def _part(table: Table, at: Place, rows: Sequence[int], columns: Sequence[int]) -> Array:
    """Some rows and columns of one matrix of a stack; a vector counts as one row."""
    if table.value is None:
        assert table.ends is not None, "asked of what can be shown"
        below = [[table.ends.rows.index(i)] for i in rows]
        return table.ends.entries[at][below, [table.ends.columns.index(i) for i in columns]]
    chosen: Array = table.value if table.written is None else table.written
    if table.shape:
        chosen = chosen[at][[[i] for i in rows], [*columns]] if len(table.shape) > 1 else chosen[[*columns]]
    return chosen.reshape(len(rows), len(columns))


def _with_gap(indices: Sequence[int], size: int) -> tuple[int | None, ...]:
    return tuple(indices) if len(indices) == size else (*indices[:-1], None, indices[-1])


def _entries(table: Table, parts: Sequence[Array], view: View) -> Sequence[list[list[str]]]:
    """The entries of parts as text; ids with the word that they stand for, `queen (4)`; words as they are."""
    if table.blank:
        return [[[NOT_ASKED if isnan(entry) else BLANK for entry in line] for line in part] for part in parts]
    if table.names:
        return [[[visible(f"{table.names[int(i)]} ({int(i)})") for i in line] for line in part] for part in parts]
    if table.is_words:
        return [[[visible(str(words)) for words in line] for line in part] for part in parts]
    if table.written is not None:
        return [[[visible(str(entry)) for entry in line] for line in part] for part in parts]
    from attncalc.record.numbers import written_alike  # a door: NumPy, which pages without numbers do without

    written = written_alike(parts, view.digits)
    if table.decimal == ".":
        return written
    return [[[entry.replace(".", table.decimal) for entry in line] for line in part] for part in written]


def number(table: Table, view: View) -> str:
    """A single number, as text."""
    return window(table, view, Limits()).matrices[0].entries[0][0]


def located(table: Table, matrix: Matrix) -> Iterator[tuple[Place, str]]:
    """The entries that are shown, with their places."""
    for i, line in zip(matrix.rows, matrix.entries, strict=True):
        for j, entry in zip(matrix.columns, line, strict=True):
            if i is not None and j is not None:
                yield (*matrix.at, i, j)[-len(table.shape) :] if table.shape else (), entry


def left_out(hidden: Iterable[tuple[int, str]]) -> str:
    """`22 more columns and 3 more rows`; "" if nothing is hidden."""
    parts = [amount(count, f"more {thing}") for count, thing in hidden if count]
    return " and ".join(parts)


def axes(table: Table) -> tuple[str, str]:
    """The names of the row axis and of the column axis; a vector has only columns."""
    down, across = ("", "", *table.axes)[-2:]
    return down, across


class Labelled(Protocol):
    """Anything with labels along its axes."""

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Axis → its labels."""


def label(table: Labelled, axis: str, index: int) -> str:
    """The label of an index along an axis, or the index itself."""
    labels = table.labels.get(axis)
    return visible(labels[index]) if labels else str(index)


def bare(name: str) -> str:
    """A name without capitals and underscores, to compare it with another: `wq` for `W_Q`."""
    return name.replace("_", "").casefold()


def spoken(table: Labelled, axis: str, index: int) -> str:
    """How a user asks for a place along an axis: by its label, or by its index if the label is ambiguous.

    If labels are numbers, an index would be ambiguous too, so the axis stands in front of the label: `step=4000`.
    """
    labels = table.labels.get(axis, ())
    word = labels[index] if labels else ""
    if not word or labels.count(word) > 1 or '"' in word or word != word.strip() or word == str(index):
        return str(index)
    if is_number(word):
        return f"{axis}={visible(word)}" if all(map(is_number, labels)) or str(index) in labels else str(index)
    return f'"{visible(word)}"' if any(sign in word for sign in ",[]:") else visible(word)


def heading(table: Table, matrix: Matrix) -> str:
    """The heading of a matrix in a stack: `b = 1, h = 0`."""
    return ", ".join(f"{axis} = {label(table, axis, i)}" for axis, i in zip(table.axes, matrix.at, strict=False))


# What tables and pictures on a terminal share.


FAINT = "dim"  # for indices, lines and gaps; not fainter, since they must be visible on any background


def right(text: str, width: int) -> str:
    """Text right-aligned in so many columns, whatever the width of its characters."""
    from rich.cells import cell_len  # a door, as below: only terminal pages need Rich

    return " " * (width - cell_len(text)) + text


def shortened(text: str, width: int, view: View) -> str:
    """A label cut to so many columns, ending in `…` if it was longer."""
    from rich.cells import cell_len, set_cell_size

    text, gap = view.spell(text), view.spell(GAP)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width) if width <= len(gap) else set_cell_size(text, width - len(gap)) + gap


def missing(view: View, *hidden: tuple[int, str]) -> Iterator[Text]:
    """`… 22 more columns and 3 more rows (--all shows them)`, if any are hidden."""
    from rich.text import Text

    if words := left_out(hidden):
        yield Text(view.spell(f"{GAP} {words} (--all shows them)"), FAINT)
