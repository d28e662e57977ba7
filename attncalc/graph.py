"""The graph that a calculation is: nodes, the primitives that they apply, and the walks and rewrites over them.

A node applies a primitive (a row of the table OPS, filled by attncalc.ops) to its sources. It knows its axes from the
moment it is made, so that a wrong shape is refused where it arises, with the formula that could not be formed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from attncalc import axes as ax
from attncalc.axes import Axes
from attncalc.cells import Cell
from attncalc.errors import ShapeError

if TYPE_CHECKING:
    from fractions import Fraction

Number: TypeAlias = "int | float | Fraction"


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
    body: Callable[..., Node] | None = None  # (node, *sources) → the definition in smaller primitives
    about: str | Callable[[Node], str] = ""  # what a teacher would say of it, for --explain
    complex: bool = False  # of real numbers it may make complex ones

    binds: float = 0
    takes: tuple[float, ...] = (9, 9, 9, 9)
    boxed: bool = False  # in LaTeX its sign holds its sources together, as a root or a bar does: they need no brackets
    raises: bool = False  # in LaTeX its last source stands raised, which needs no brackets either
    noun: str = ""  # what its value is called as a step of its own, where its name is a verb or a sign
    joins: bool = False  # it lays its sources side by side: an entry that is one of theirs has no arithmetic to show
    points: str = ""  # the argument with the axis whose places its entries are, to be shown by their labels

    vjp: Callable[..., Sequence[Node | None]] | None = None  # (gradient, y, node, *sources) → one a source
    because: str | Callable[[Node, int], str] = ""  # said beside the backward step; may depend on which source
    no_gradient: str = ""  # why there is none, for a row without a VJP
    hands_on: bool = False  # the gradient passes unchanged: what was said of it before tells more than `because`
    narrow: bool = False  # the VJP takes a gradient without the axes along which it is the same; elementwise ones do

    flops: int | Callable[[Node], int] | None = 1  # at each place; 0 where nothing is computed, None where not counted
    places: Callable[[Node], Axes] = attrgetter("axes")  # the axes of those places: those of the result, or more
    adds: bool = False  # what it mixes it only adds up: of parts of an axis each gives a share of the sum
    terms: Callable[..., Any] | None = None  # as the kernel, of sizes: those of the terms that an entry is the sum of
    view: bool = False  # its value shows a source's memory and takes none of its own
    truth: bool = False  # its entries are true or false, a byte each
    twice: bool = False  # its kernel holds as much again as its value while it is at work


class _Rows(dict[str, Op]):
    """The rows by the names of their primitives; one that is not there yet is brought in with its family."""

    def __missing__(self, op: str) -> Op:
        from attncalc import ops

        ops.load(op)
        return self[op]


OPS = _Rows()
_serial = itertools.count()
"""Where a node stands in the order of writing, which is the order in which steps are shown."""


class Node:
    """A value that has not been computed yet: a primitive, its sources, its arguments, its axes."""

    __slots__ = ("args", "axes", "op", "serial", "sources")

    def __init__(self, op: str, *sources: Node, axes: Axes | None = None, **args: Any) -> None:
        self.op, self.sources, self.args = op, sources, args
        self.serial: float = next(_serial)
        if axes is not None:
            self.axes = axes
            return
        try:
            self.axes = OPS[op].axes(args, *(source.axes for source in sources))
        except ShapeError as error:
            raise _cannot_form(self, error) from None

    @property
    def row(self) -> Op:
        """The primitive's row in the table."""
        return OPS[self.op]

    @property
    def names(self) -> tuple[str, ...]:
        """The axes' names, in order."""
        return ax.names(self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes, in order: what the value's shape will be."""
        return tuple(axis.size for axis in self.axes)

    @property
    def key(self) -> tuple[str, str]:
        """A step's (group, name)."""
        return self.args["group"], self.args["name"]

    @property
    def path(self) -> str:
        """A step's key as a reader writes it: `self-attention/scores`."""
        return "/".join(filter(None, self.key))

    def over(self, sources: Sequence[Node]) -> Node:
        """The same primitive over other sources; the node itself where they are its own."""
        return self if [*sources] == [*self.sources] else Node(self.op, *sources, **self.args)

    def size(self, name: str) -> Node:
        """An axis' size as a number in a formula: `sqrt(Q.size("d_k"))` is printed √d_k."""
        return Node("size", axes=(), axis=ax.find(self.axes, name))

    @property
    def T(self) -> Node:  # noqa: N802  (the field's own name for it)
        """The last two axes swapped; a transposed product is the product of the transposes, turned round."""
        if self.op == "transpose":
            return self.sources[0]
        if self.op == "matmul" and all(len(source.axes) >= 2 for source in self.sources):
            return self.sources[1].T @ self.sources[0].T
        return Node("transpose", self)

    def __matmul__(self, other: Node) -> Node:
        return Node("matmul", self, other)

    def __add__(self, other: Node | Number) -> Node:
        return Node("add", self, as_node(other))

    def __radd__(self, other: Number) -> Node:
        return Node("add", as_node(other), self)

    def __sub__(self, other: Node | Number) -> Node:
        return Node("sub", self, as_node(other))

    def __rsub__(self, other: Number) -> Node:
        return Node("sub", as_node(other), self)

    def __mul__(self, other: Node | Number) -> Node:
        return Node("mul", self, as_node(other))

    def __rmul__(self, other: Number) -> Node:
        return Node("mul", as_node(other), self)

    def __truediv__(self, other: Node | Number) -> Node:
        return Node("div", self, as_node(other))

    def __rtruediv__(self, other: Number) -> Node:
        return Node("div", as_node(other), self)

    def __neg__(self) -> Node:
        return Node("neg", self)

    def __pow__(self, exponent: Node | Number) -> Node:
        return Node("pow", self, as_node(exponent))

    def __le__(self, other: Node | Number) -> Node:
        return Node("less_equal", self, as_node(other))

    def __lt__(self, other: Node | Number) -> Node:
        return Node("less", self, as_node(other))

    def __and__(self, other: Node) -> Node:
        return Node("and", self, other)

    def __repr__(self) -> str:
        from attncalc.notation import formula

        return f"<{formula(self)}: {ax.describe(self.axes)}>"


def as_node(value: Node | Number) -> Node:
    """A node, or a number made into one."""
    return value if isinstance(value, Node) else constant(value)


def constant(value: Number, symbol: str = "") -> Node:
    """A number in a formula; a named one (`π`, `ε`) is printed by its name."""
    return Node("constant", axes=(), value=value, symbol=symbol)


NUMBERS_OF_ONE_NAME = ("π", "e")
"""Names that say which number is meant; any other, as `ε`, stands for a value that an example puts in its place."""


def constants(values: Sequence[Number], axis: ax.Axis, symbol: str) -> Node:
    """Numbers along an axis, spoken of by one name: the valid lengths of a batch."""
    return Node("constants", axes=(axis,), values=tuple(values), symbol=symbol)


def named_size(name: str, size: int) -> Node:
    """A whole number that formulas call by its name, as they do the size of an axis: the width of a model."""
    return Node("size", axes=(), axis=ax.Axis(name, size))


def identity(axes: Axes) -> Node:
    """1 where an entry meets itself, else 0: the axes, and in front of them a copy of each, `n'` for `n`."""
    return Node("identity", axes=(*(axis._replace(name=f"{axis.name}'") for axis in axes), *axes), symbol="δ")


def given(name: str, axes: Axes, symbol: str = "", *, boolean: bool = False) -> Node:
    """An operand: `name` is its word at the edges, `symbol` what formulas call it."""
    return Node("input", axes=axes, name=name, symbol=symbol or name, boolean=boolean)


def walk(*roots: Node, into: Callable[[Node], Iterable[Node]] = attrgetter("sources")) -> list[Node]:
    """Every node behind the roots, sources first, in the order of creation; it does not recurse.

    `into` says which nodes are behind a node, where that is not all its sources.
    """
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(into(node))
    return sorted(seen, key=attrgetter("serial"))


def steps(*roots: Node) -> list[Node]:
    """The named values behind the roots, in the order in which their author wrote them."""
    return [node for node in walk(*roots) if node.op == "step"]


def inside(step: Node) -> list[Node]:
    """The primitives between a step and the steps and operands that it is made of, in the order of writing."""
    ends = ("step", "input")
    behind = walk(*step.sources, into=lambda node: () if node.op in ends else node.sources)
    return [node for node in behind if node.op not in ends]


def rewrite(roots: Sequence[Node], change: Callable[[Node], Node | None]) -> list[Node]:
    """The graph built anew where `change(node)` returns a replacement: expansion and mistakes are both this."""
    new: dict[Node, Node] = {}
    for node in walk(*roots):
        copy = node.over([new[source] for source in node.sources])
        new[node] = change(copy) or copy
    return [new[root] for root in roots]


def _cannot_form(node: Node, error: ShapeError) -> ShapeError:
    from attncalc.notation import formula, symbol

    node.axes = ()
    plain = [source.sources[0] if source.op == "transpose" else source for source in node.sources]
    sized = [source for source in plain if source.axes]  # single numbers fit whatever stands beside them
    clashing = sized if len(sized) > 1 else plain
    facts = " but ".join(f"{symbol(source)} is {ax.describe(source.axes)}" for source in clashing)
    return ShapeError(f"cannot form {formula(node)}: {facts}; {error.message}", hint=error.hint)
