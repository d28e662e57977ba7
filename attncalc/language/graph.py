"""The graph that a calculation is: nodes, the primitives that they apply, and the walks and rewrites over them.

A node applies a primitive (a row of the table OPS) to its sources. It knows its axes from the
moment it is made, so that a wrong shape is refused where it arises, with the formula that could not be formed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from attncalc.common.errors import ShapeError
from attncalc.common.system import NamedTuple
from attncalc.language import axes as ax
from attncalc.language.axes import Axes
from attncalc.language.primitive import OPS, Op, formula, symbol

if TYPE_CHECKING:  # fractions take their time to load
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


def constant(value: Number, symbol: str = "", option: str = "") -> Node:
    """A number in a formula; a named one (`π`, `ε`) is printed by its name. It may be an option's, of another name."""
    return Node("constant", axes=(), value=value, symbol=symbol, option=option)


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


def rewrite(
    roots: Sequence[Node],
    change: Callable[[Node], Node | None],
    into: Callable[[Node], Sequence[Node]] = attrgetter("sources"),
) -> list[Node]:
    """The graph built anew where `change(node)` returns a replacement: expansion and mistakes are both this.

    Where `into` goes no further, what is behind a node stays as it is.
    """
    new: dict[Node, Node] = {}
    for node in walk(*roots, into=into):
        copy = node.over([new[source] for source in node.sources]) if into(node) else node
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


# What an author says while a graph is written: the names and reasons of steps, their parts, notes, labels of axes.
#
# A step is a node, and carries its name and its reason. The rest is kept beside the nodes, in the frame of one problem.
#
# Seen from inside, a step has the definition of every primitive that it applies as sub-steps in a group of its name. It
# keeps its own way of computing (a softmax that takes the maximum away first), so that what is shown of the definition
# never spoils the result.


class Building:
    """What is kept beside the nodes while one problem's graph is written."""

    def __init__(self) -> None:
        self.groups: list[str] = []  # the parts that steps written now belong to, the innermost last
        self.notes: list[str] = []  # choices that the reader is told of
        self.taken: list[tuple[str, str]] = []  # operands, and which of the notes say how one was taken
        self.labels: dict[str, tuple[str, ...]] = {}  # axis → words for its places, where the author made it
        self.asides: list[Node] = []  # steps that are shown although the result does not go through them
        self.known: dict[str, tuple[str, ...]] = {}  # axis → the labels that came with the operands
        self.letters: dict[str, Number | None] = {}  # numbers that options give by name; None stays a letter
        self.exact = False  # whether the operands are fractions, surds or letters
        self.lettered = False  # whether one of them holds letters, of which none is known to be the largest


_building: ContextVar[Building] = ContextVar("building")


@contextmanager
def building() -> Iterator[Building]:
    """The frame in which one problem's graph is written; it yields what is kept beside the nodes."""
    state = Building()
    token = _building.set(state)
    try:
        yield state
    finally:
        _building.reset(token)


def note(text: str, of: str = "") -> None:
    """Tell the reader of a choice: `K was not given: keys = queries`; `of` is the operand that was taken so."""
    state = _building.get(None)
    if state is not None and text not in state.notes:
        state.notes.append(text)
        state.taken += [(of, text)] if of else []


def label(axis: str, words: Sequence[str]) -> None:
    """Name the places of an axis that the author made: the parts of a count, the columns of a report."""
    state = _building.get(None)
    if state is not None:
        state.labels[axis] = tuple(words)


def words_of(axis: str) -> tuple[str, ...]:
    """The labels that came with the operands for an axis: a vocabulary's words."""
    state = _building.get(None)
    return state.known.get(axis, ()) if state is not None else ()


def in_exact_numbers() -> bool:
    """Whether the operands are fractions, surds or letters, among which nothing is ever rounded."""
    state = _building.get(None)
    return state is not None and state.exact


NOT_SHIFTED = "which letter is the largest is not known: none is subtracted first, which changes nothing in the end"


def in_letters() -> bool:
    """Whether an operand holds letters: what must be known to be larger than another is then left out."""
    state = _building.get(None)
    return state is not None and state.lettered


@contextmanager
def group(name: str) -> Iterator[None]:
    """Steps written inside belong to this part or turn: `with group("self-attention"):`; groups nest."""
    state = _building.get()
    state.groups.append(name)
    try:
        yield
    finally:
        state.groups.pop()


def step(
    name: str,
    value: Node,
    why: str = "",
    *,
    symbol: str = "",
    shown: bool = True,
    of: str | None = None,
    about: str = "",
) -> Node:
    """Give a value a name and a reason: an identity, at which formulas stop and which the backward pass names too.

    `of` is the step whose gradient it holds, where a calculation works its own backward pass out. `about` is what a
    teacher would add to the reason, for those who ask.
    """
    state = _building.get(None)
    within = "/".join(state.groups) if state else ""
    said: dict[str, Any] = {"name": name, "group": within, "why": why, "symbol": symbol or name}
    return Node("step", value, **said, shown=shown, of=of, about=about)


def output(name: str, value: Node, why: str = "", *, symbol: str = "") -> Node:
    """A result that is not one of the steps: shown beside the result, asked for by its name."""
    return step(name, value, why, symbol=symbol, shown=False)


def aside(name: str, value: Node, why: str = "", *, about: str = "") -> Node:
    """A step that is shown although the result does not go through it: bytes that are cached, a check."""
    node = step(name, value, why, about=about)
    _building.get().asides.append(node)
    return node


def letter(name: str, value: Number | None) -> Node:
    """A single number that an option gives, spoken of by its name (`x` of `--at x=3`); None leaves it a letter."""
    _building.get().letters[name] = value
    return given(name, ())


def about(step: Node) -> tuple[str, ...]:
    """What a teacher would add to a step's reason: of the step itself, then of each primitive in its formula."""
    texts = [step.args.get("about", "")]
    for node in reversed(inside(step)):  # the outermost first, as one reads a formula
        said = node.row.about
        texts.append(said(node) if callable(said) else said)
    return tuple(text for text in dict.fromkeys(texts) if text)


def labels_of_parts(
    nodes: Iterable[Node], words: Mapping[str, tuple[str, ...]]
) -> dict[Node, dict[str, tuple[str, ...]]]:
    """The labels of parts of an axis, of nodes in order: the words of their places, or `m=2` where it has none."""
    found: dict[Node, dict[str, tuple[str, ...]]] = {}
    for node, starts in _starts(nodes).items():
        found[node] = {}
        for axis in node.axes:
            if (start := starts.get(axis.name)) is not None:
                said = words.get(axis.name, ())[start : start + axis.size]
                numbers = tuple(f"{axis.name}={start + i}" for i in range(axis.size)) if start else ()
                found[node][axis.name] = said if len(said) == axis.size else numbers
    return found


def _starts(nodes: Iterable[Node]) -> dict[Node, dict[str, int]]:
    """Where the parts of an axis begin, in what is made from them too; an axis that gets another name begins anew.

    A gradient's begin where those of the step do that it is of.
    """
    found: dict[Node, dict[str, int]] = {}
    named: dict[tuple[str, str], Node] = {}
    for node in nodes:
        if node.op == "step" and node.args["of"] is None:
            named[node.key] = node
        elif node.op == "step":
            of = named.get((node.args["group"], node.args["of"]))
            if of in found:
                found[node] = found[of]
            continue
        if not node.row.starts and found.keys().isdisjoint(node.sources):
            continue
        told = {
            (axis.name, found[source][axis.name])
            for source in node.sources
            for axis in source.axes
            if axis in node.axes and axis.name in found.get(source, {})
        }
        found[node] = {name: at for name, at in told if sum(name == other for other, _ in told) == 1}
        if node.row.starts:
            before = found.get(node.sources[0], {}).get(node.args["over"], 0)
            found[node][node.args["over"]] = before + node.args[node.row.starts]
    return found


def expanded(roots: Sequence[Node]) -> list[Node]:
    """For every step behind the roots, the sub-steps of its definition, in their places in the order of the steps."""
    found: list[Node] = []
    for step in walk(*roots):
        if step.op == "step":
            found.extend(_substeps(step))
    return found


def _substeps(step: Node) -> list[Node]:
    """The sub-steps of one step: each primitive of a body, and the body as a whole."""
    made: list[Node] = []
    names: dict[str, int] = {}
    for node in inside(step):
        body = node.row.body(node, *node.sources) if node.row.body else None
        if body is None or (formula(body) == formula(node) and not _goes_on(body, node.sources)):
            continue
        new: dict[Node, Node] = {source: source for source in walk(*node.sources)}
        for part in walk(body):
            if part not in new:
                copy = part.over([new[source] for source in part.sources])
                silent = not part.sources or part.row.text == "{0}"  # what formulas don't show is no step either
                new[part] = copy if silent else _named(copy, step.path, node, names)
                made += [copy] if new[part] is copy else [copy, new[part]]
    for i, part in enumerate(made):  # shown before the step that they define, in the order in which they are worked out
        part.serial = step.serial - 1 + (i + 1) / (len(made) + 1)
    return [part for part in made if part.op == "step"]


def _goes_on(body: Node, sources: Sequence[Node]) -> bool:
    """Whether a definition is of several primitives."""
    return any(part.sources and part not in sources for part in body.sources)


def _named(value: Node, within: str, whole: Node, names: dict[str, int]) -> Node:
    word = value.row.noun or value.op
    names[word] = names.get(word, 0) + 1
    name = word if names[word] == 1 else f"{word}_{names[word]}"
    why = f"in the definition of {formula(whole)}"
    return Node("step", value, name=name, group=within, why=why, symbol=name, shown=True, of=None)


class Expression(NamedTuple):
    """A formula in letters: its text as it was typed, its graph, and the letters in the order in which they come."""

    text: str
    node: Node
    variables: Mapping[str, Node]

    def at(self, values: Mapping[str, Node]) -> Node:
        """The formula with other nodes in place of its letters."""
        places = {node: values[name] for name, node in self.variables.items() if name in values}
        return rewrite([self.node], places.get)[0]
