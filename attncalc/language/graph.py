"""The graph that a calculation is: nodes, the primitives that they apply, and the walks and rewrites over them.

A node applies a primitive (a row of the table OPS) to its sources. It knows its axes from the
moment it is made, so that a wrong shape is refused where it arises, with the formula that could not be formed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from attncalc.common.errors import ShapeError
from attncalc.language import axes as ax
from attncalc.language.axes import Axes
from attncalc.language.notation import formula, symbol
from attncalc.language.primitive import OPS, Op

if TYPE_CHECKING:
    from fractions import Fraction

Number: TypeAlias = "int | float | Fraction"


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
        """The last two axes swapped."""
        known: Node | None = self.row.transposed(self) if self.row.transposed else None
        return known or Node("transpose", self)

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
        return f"<{formula(self)}: {ax.describe(self.axes)}>"


def as_node(value: Node | Number) -> Node:
    """A node, or a number made into one."""
    return value if isinstance(value, Node) else constant(value)


def constant(value: Number, symbol: str = "") -> Node:
    """A number in a formula; a named one (`π`, `ε`) is printed by its name."""
    return Node("constant", axes=(), value=value, symbol=symbol)


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
    node.axes = ()
    plain = [_untransposed(source) for source in node.sources]
    sized = [source for source in plain if source.axes]  # single numbers fit whatever stands beside them
    clashing = sized if len(sized) > 1 else plain
    facts = " but ".join(f"{symbol(source)} is {ax.describe(source.axes)}" for source in clashing)
    return ShapeError(f"cannot form {formula(node)}: {facts}; {error.message}", hint=error.hint)


def _untransposed(node: Node) -> Node:
    """What a node is the transpose of; itself where it is none."""
    known: Node | None = node.row.transposed(node) if node.row.transposed else None
    return known if known is not None and known in node.sources else node
