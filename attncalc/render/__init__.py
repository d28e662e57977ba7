"""A page: blocks of data about a record, what of it is shown, and the one table of formats that write it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from attncalc.common.errors import NARROWEST, AttncalcError, visible
from attncalc.common.numerals import Array
from attncalc.common.system import loaded
from attncalc.record.trace import Step, Trace

if TYPE_CHECKING:  # few pages have some
    from attncalc.record.pictures import Picture


# What of a trace is shown, and on what kind of page.


class View(NamedTuple):
    """The reader's wishes and the page's limits."""

    digits: int | None = None  # None: up to four in tables and formulas, all of them elsewhere
    show: tuple[str, ...] = ()  # steps or groups to show; none named: all
    get: str | None = None  # one step or output, its value alone
    quiet: bool = False  # the result alone
    cells: tuple[str, ...] = ()  # the arithmetic of these entries alone: "scores[0,1]", or "all"
    everything: bool = False  # nothing left out, however large
    width: int | None = None  # columns of the page; None: as wide as its content
    color: bool = False
    plot: bool = False  # the trace's pictures below the page; in its place where it is quiet
    standalone: bool = False  # LaTeX as a document by itself
    trace: Trace | None = None  # what is shown, for whoever has to ask for an entry of it
    unicode: bool = True  # whether the page can carry √ and ᵀ; ASCII forms otherwise

    @property
    def bare(self) -> bool:
        """Whether a value alone is asked for."""
        return self.quiet or self.get is not None

    @property
    def columns(self) -> int | None:
        """The page's width, as far as anything is laid out for it."""
        return None if self.width is None else max(self.width, NARROWEST)

    def spell(self, text: str) -> str:
        """Text as the page can carry it; whatever in it would act rather than print is shown."""
        text = visible(text)
        if self.unicode:
            return text
        from attncalc.render.glyphs import to_ascii  # for the few pages that need it

        return to_ascii(text)


def asked_for(trace: Trace, view: View) -> Step:
    """The one step or output whose value `get` or `quiet` asks for."""
    return trace.outputs[0] if view.get is None else trace.find(view.get)


def value_of(step: Step) -> Array:
    """The step's value, if it was kept."""
    if step.value is None:
        raise AttncalcError(f"{step.key} was too large to keep", hint="--all keeps every step")
    return step.value


def shown(trace: Trace, view: View) -> list[tuple[int, Step]]:
    """The steps to show, with their numbers from 1."""
    wanted = _wanted(trace, view)
    return [(number, step) for number, step in enumerate(trace.steps, start=1) if step.key in wanted]


def beside(trace: Trace, view: View) -> list[Step]:
    """The outputs to show that are not among the steps."""
    steps, wanted = {step.key for step in trace.steps}, _wanted(trace, view)
    return [step for step in trace.outputs if step.key not in steps and step.key in wanted]


def _wanted(trace: Trace, view: View) -> set[str]:
    """The keys of the steps and outputs that `show` names, by themselves or by their group."""
    everything = {step.key for step in (*trace.steps, *trace.outputs)}
    wanted: set[str] = set()
    for name in view.show:
        within = {key for key in everything if key.startswith(f"{name}/")}
        wanted |= within or {trace.find(name).key}
    return wanted if view.show else everything


# What a page shows, as blocks of data: a maker makes them of a record, and every writer writes all of them.


NOTHING: Mapping[Any, Any] = MappingProxyType({})

Place = tuple[int, ...]
B = TypeVar("B")


class Heading(NamedTuple):
    """What a page, a part of it or a step is called."""

    text: str
    number: int | None = None  # of a step
    key: str = ""  # by which a step is asked for, where that is longer


class Paragraph(NamedTuple):
    """Running text."""

    text: str
    kind: str = ""  # "why", "about", "remark", "code", "sound" or "wrong": what it is to its surroundings


class Note(NamedTuple):
    """What is said beside a calculation."""

    text: str
    kind: str  # "note", "warning", "option", "finding", "alarm" or "silent": who says it, and how loud


class Formula(NamedTuple):
    """A formula, with sizes in place, and the shape that comes out."""

    symbol: str
    text: str = ""
    sizes: str = ""
    outcome: str = ""
    symbol_latex: str = ""
    latex: str = ""


class Line(NamedTuple):
    """An entry and how it comes about: `scores[0,1] = 1×1 + 0×0 + 1×1 = 2`."""

    name: str
    at: Place
    arithmetic: str  # "" where the entry is passed on, or given; else words, as `masked`, where no arithmetic gives it
    links: tuple[str, ...]  # what stands behind the place, each after a sign of equality

    @property
    def place(self) -> str:
        """`scores[0,1]`; a scalar's place is its step."""
        return f"{self.name}[{','.join(map(str, self.at))}]" if self.at else self.name

    @property
    def value(self) -> str:
        """The entry, as text, without the words behind it."""
        return self.links[-1].removesuffix(f" ({self.arithmetic})")

    @property
    def text(self) -> str:
        """The whole line."""
        return " = ".join((self.place, *self.links))


class Arithmetic(NamedTuple):
    """Entries that are worked out."""

    lines: tuple[Line, ...]


class Ends(NamedTuple):
    """The entries that a page can show of a value that was not kept."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    entries: Mapping[Place, Array]  # of each matrix of a stack that is shown, by its place


class Table(NamedTuple):
    """A value: a number, a row, a matrix with its axes' names and labels, or a stack of them."""

    name: str
    value: Array | None  # 0 where rounding left 1.1e-16 over of terms that cancel; None where it was not kept
    axes: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = NOTHING
    names: tuple[str, ...] = ()  # what integer entries stand for
    symbol: str = ""
    symbol_latex: str = ""
    full: Array | None = None  # with what rounding has left
    ends: Ends | None = None
    source: str = ""  # of an operand: where it is from,
    note: str = ""  # how it was read,
    typed: str = ""  # and how one would type it, where it is small
    number: int = 0  # by which the entries of a page point at one another
    blank: bool = False  # to be filled in

    @property
    def can_be_shown(self) -> bool:
        """Whether there are entries to show."""
        return 0 not in self.shape and (self.value is not None or self.ends is not None)

    @property
    def is_words(self) -> bool:
        """Whether the value is no number but text: an operand that is a formula."""
        return self.value is not None and self.value.dtype.kind == "U"

    @property
    def sizes(self) -> str:
        """`n=2 × d_k=3`."""
        named = zip(self.axes, self.shape, strict=True)
        return " × ".join(str(size) if axis.isdigit() else f"{axis}={size}" for axis, size in named)

    @property
    def instead(self) -> str:
        """What is said in place of a value that was not kept, or that has no entries."""
        if self.value is not None:
            return f"no entries: {'×'.join(map(str, self.shape))}"
        return "too large to keep (--all keeps it)"


class Verdict(NamedTuple):
    """A step of a sheet, marked."""

    name: str
    verdict: str
    marks: str
    sound: bool
    mistake: str = ""  # what is behind it
    hint: str = ""
    revealed: str = ""
    apart: str = ""  # operands that would tell apart what explains it equally well
    wrong: str = ""  # which entries are wrong, in words
    map: tuple[tuple[bool, ...], ...] = ()  # the same as a map, row by row, where it is small


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


WIDEST_NAME = 32  # characters of a name that words stand beside; a longer one has a line to itself


def room(names: Iterable[str]) -> int:
    """How many columns names need that words stand beside."""
    return max((len(name) for name in names if len(name) <= WIDEST_NAME), default=4)


class Point(NamedTuple):
    """One thing that is said: a name, a sentence or a formula, and words about it."""

    text: str
    words: str = ""
    mark: str = ""  # what stands in front of it: a number, a dot
    latex: str = ""  # of a formula
    value: str = ""  # what a name stands for, as one would type it
    fields: tuple[str, ...] = ()  # of a list that programs read: a line of plain, with tabs between


class Points(NamedTuple):
    """Several of these; names that words stand beside have so many columns, and 0 puts words below."""

    points: tuple[Point, ...]
    room: int = 0


class Part(NamedTuple):
    """Blocks that belong together."""

    kind: str  # "given", "steps", "result", "group", "step", "again", "cells", "section", "exercises" or "exercise"
    heading: Heading
    blocks: tuple[Any, ...]

    def all(self, kind: type[B]) -> Iterator[B]:
        """Its blocks of a kind."""
        return (block for block in self.blocks if isinstance(block, kind))

    def one(self, kind: type[B]) -> B:
        """The one block of a kind."""
        return next(self.all(kind))

    @property
    def lines(self) -> list[Line]:
        """The entries that are worked out in it."""
        return [line for block in self.all(Arithmetic) for line in block.lines]

    @property
    def steps(self) -> list[Part]:
        """The steps in its groups."""
        return [step for group in self.all(Part) for step in group.all(Part)]


Block: TypeAlias = (
    "Heading | Paragraph | Note | Formula | Arithmetic | Table | Picture | Verdict | Rows | Points | Part"
)


class Told(NamedTuple):
    """What one entry tells when it is pointed at."""

    how: str  # "output[0,1] = 0.5×2 + 0.5×5 = 3.5, from weights at n=0 and V at d_v=1"
    origins: str  # the same for the script: "3:0,0-1;1:0-1,2", a table's number and the places along its axes


class Page(NamedTuple):
    """A page, and what its entries tell where they can be pointed at."""

    title: str
    blocks: tuple[Any, ...]
    told: Mapping[int, Mapping[Place, Told]] = NOTHING  # by the numbers of tables
    felt: frozenset[int] = frozenset()  # the tables that entries were made from
    values: bool = False  # whether it is nothing but values
    steps: int = 0  # how many there are, be they shown or not

    def all(self, kind: type[B]) -> Iterator[B]:
        """Its blocks of a kind."""
        return (block for block in self.blocks if isinstance(block, kind))


__all__ = ["BINARY", "FORMATS", "NUMBERS", "PAGES", "PICTURES", "SUFFIXES", "TABLE", "View", "render", "write"]


class Format(NamedTuple):
    """One row: a format of pages, of the record itself, of its numbers alone, or of the pictures of a page."""

    where: str  # "markdown:write": only the module of the format that is asked for is imported
    suffix: str = ""  # of its files
    holds: Literal["page", "record", "numbers", "pictures"] = "page"
    binary: bool = False  # bytes; the others are text that ends in a newline


TABLE: dict[str, Format] = {
    "table": Format("terminal:write", ".txt"),
    "plain": Format("plain:write"),
    "json": Format("document:page", ".json", "record"),
    "csv": Format("csv_:page", ".csv", "numbers"),
    "markdown": Format("markdown:write", ".md"),
    "latex": Format("latex:write", ".tex"),
    "html": Format("html:write", ".html"),
    "npy": Format("binary:npy", ".npy", "numbers", binary=True),
    "npz": Format("binary:npz", ".npz", "numbers", binary=True),
    "png": Format("pictures:png", ".png", "pictures", binary=True),
    "svg": Format("pictures:svg", ".svg", "pictures"),
}
"""Name → row, in the order in which they are named to a reader."""

PAGES = tuple(name for name, row in TABLE.items() if row.holds == "page")
PICTURES = tuple(name for name, row in TABLE.items() if row.holds == "pictures")
NUMBERS = tuple(name for name, row in TABLE.items() if row.holds == "numbers")
BINARY = tuple(name for name, row in TABLE.items() if row.binary)
FORMATS = tuple(name for name in TABLE if name not in PICTURES)
"""What a trace is shown in, but for pictures."""
SUFFIXES = {row.suffix: name for name, row in TABLE.items() if row.suffix}


def pages_and(*others: str) -> tuple[str, ...]:
    """The formats of a page, and those that its maker writes by itself."""
    return tuple(name for name in TABLE if name in PAGES or name in others)


def render(trace: Trace, format: str, view: View | None = None) -> str | bytes:
    """The trace in a format of the table: bytes for those in `BINARY`, text for the others."""
    view = view or View()
    if TABLE[format].holds in ("record", "numbers"):
        content: str | bytes = _function(format)(trace, view)
        return content
    from attncalc.render import traces  # a door: numbers alone need no page

    page = traces.page(trace, view._replace(plot=True, quiet=True, cells=()) if format in PICTURES else view)
    if format == "html" and not view.bare and not view.cells:
        from attncalc.render import html, pointing  # a door: what else is written has nothing to point at

        page = pointing.pointed(page, trace, view, html.limits(page))
    return write(page, format, view)


def write(page: Page, format: str, view: View | None = None) -> str | bytes:
    """A page in a format of `PAGES` or `PICTURES`."""
    content: str | bytes = _function(format)(page, view or View())
    return content


def _function(format: str) -> Any:
    return loaded(f"render.{TABLE[format].where}")
