"""What a primitive is: one row with everything that anybody needs to know of it, and the table of all rows.

How one entry of a result is made from entries of its sources is told by a cell: a scalar expression. An entry's place
is told by axis names, `{"n": 0, "m": 1}`, so that a row can say "the same place in the source" without counting axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

from attncalc.language.axes import Axes

At = Mapping[str, int]
Look = Callable[[int, At], Any]
"""(source's number, place) → the value there: what a choice (a mask, a maximum) needs to say which way it went."""


class Pick(NamedTuple):
    """The entry of a source at a place."""

    source: int
    at: At


class Form(NamedTuple):
    """An operation on entries: a sign of attncalc.evaluate.entries (`+`, `×`, `√`, …) or a function's name."""

    sign: str
    parts: tuple[Cell, ...]


class Literal(NamedTuple):
    """A number, or a word such as `masked`, that stands in the arithmetic for itself."""

    value: Any


Cell = Pick | Form | Literal


class Op(NamedTuple):
    """A primitive: everything that anybody needs to know of it, in one row.

    Text and LaTeX are templates over the sources ({0}, {1}, …) and the arguments ({a[over]}), or functions of
    (node, *sources' texts). `binds` says how tightly the result holds together (0 an atom, 1 a power, 2 a product,
    2.5 a quotient, 3 a sum, 4 a comparison), `takes` up to what each source may come without brackets.

    The fields stand in groups: what it computes, how it is written, its gradient, and what it costs. A row that leaves
    out all that has a default is one that works on its entries one by one, in one operation each.
    """

    kernel: Callable[..., Any]  # (node, *values) → value; elementwise rows: (*aligned values) → value
    axes: Callable[..., Axes]  # (args, *sources' axes) → axes
    text: str | Callable[..., str]
    latex: str | Callable[..., str]
    cell: Callable[..., Cell]  # (node, at, look) → how one entry is made from entries of the sources
    elementwise: bool = False
    mixes: Callable[..., tuple[str, ...]] = lambda node: ()  # the axes along which entries meet
    copies: bool = False  # its source's entries, the same all along the axes that the source lacks
    renames: tuple[str, str] | None = None  # the arguments with an axis' name in the source, and with its name here
    starts: str = ""  # the argument with the place, along `over`, where the part of the source begins that it is
    divides: bool = False  # by its second source, which may be nothing that has lost its digits
    transposed: Callable[..., Any] | None = None  # (node) → its transpose as a formula has it, where that is no `ᵀ`
    body: Callable[..., Any] | None = None  # (node, *sources) → the definition in smaller primitives, a node
    about: str | Callable[..., str] = ""  # what a teacher would say of it (of a node of it), for --explain
    complex: bool = False  # of real numbers it may make complex ones
    quick: Callable[..., Any] | None = None  # (node) → a function of bare numbers that is sooner done than the kernel
    by_hand: Callable[..., Any] | None = None  # as the body: what one writes down by hand, where it has no body
    free: Callable[..., Any] | None = None  # (value, another) → the value in the form of another that is as right

    binds: float = 0
    takes: tuple[float, ...] = (9, 9, 9, 9)
    sign: str | Callable[[Any], str] = ""  # of a product: beside one of another sign it needs brackets
    boxed: bool = False  # in LaTeX its sign holds its sources together, as a root or a bar does: they need no brackets
    raises: bool = False  # in LaTeX its last source stands raised, which needs no brackets either
    noun: str = ""  # what its value is called as a step of its own, where its name is a verb or a sign
    joins: bool = False  # it lays its sources side by side: an entry that is one of theirs has no arithmetic to show
    points: str = ""  # the argument with the axis whose places its entries are, to be shown by their labels

    vjp: Callable[..., Sequence[Any]] | None = None  # (gradient, y, node, *sources) → a node or None for each source
    because: str | Callable[..., str] = ""  # said beside the backward step; may depend on (node, which source)
    no_gradient: str = ""  # why there is none, for a row without a VJP
    hands_on: bool = False  # the gradient passes unchanged: what was said of it before tells more than `because`
    narrow: bool = False  # the VJP takes a gradient without the axes along which it is the same; elementwise ones do

    flops: int | Callable[..., int] | None = 1  # at each place; 0 where nothing is computed, None where not counted
    places: Callable[..., Axes] = attrgetter("axes")  # the axes of those places: those of the result, or more
    adds: bool = False  # what it mixes it only adds up: of parts of an axis each gives a share of the sum
    terms: Callable[..., Any] | None = None  # as the kernel, of sizes: those of the terms that an entry is the sum of
    view: bool = False  # its value shows a source's memory and takes none of its own
    truth: bool = False  # its entries are true or false, a byte each
    twice: bool = False  # its kernel holds as much again as its value while it is at work

    @property
    def stays(self) -> bool:
        """Whether its entries are those of its source, and only the axes have other names, or are more."""
        return self.copies or self.renames is not None


class Rows(dict[str, Op]):
    """The rows by the names of their primitives; one that is not there yet is brought in with its family.

    That is the door between the language and its words: nothing here imports a family.
    """

    def __missing__(self, op: str) -> Op:
        import_module("attncalc.language.ops").load(op)
        return self[op]


OPS = Rows()
