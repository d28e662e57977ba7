"""The graph of a calculation: nodes, the primitives that they apply, and walks and rewrites of the graph.

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
"""Numbers the nodes in the order of writing, in which steps are shown too."""


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
        """A step's key as text: `self-attention/scores`."""
        return "/".join(filter(None, self.key))

    def over(self, sources: Sequence[Node]) -> Node:
        """The same primitive applied to other sources; the node itself if these are its own."""
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
    """A number in a formula, printed as `symbol` (`π`, `ε`) if given; `option` names the option that gave it."""
    return Node("constant", axes=(), value=value, symbol=symbol, option=option)


def constants(values: Sequence[Number], axis: ax.Axis, symbol: str) -> Node:
    """Numbers along an axis, which formulas call by one name: the valid lengths of a batch."""
    return Node("constants", axes=(axis,), values=tuple(values), symbol=symbol)


def named_size(name: str, size: int) -> Node:
    """A whole number that formulas call by its name, as they do the size of an axis: the width of a model."""
    return Node("size", axes=(), axis=ax.Axis(name, size))


def identity(axes: Axes) -> Node:
    """The identity over these axes, 1 where an entry meets itself: in front of them stands a copy of each, `n'`."""
    return Node("identity", axes=(*(axis._replace(name=f"{axis.name}'") for axis in axes), *axes), symbol="δ")


def given(name: str, axes: Axes, symbol: str = "", *, boolean: bool = False) -> Node:
    """An operand: `name` is what users call it, `symbol` what formulas call it."""
    return Node("input", axes=axes, name=name, symbol=symbol or name, boolean=boolean)


def walk(*roots: Node, into: Callable[[Node], Iterable[Node]] = attrgetter("sources")) -> list[Node]:
    """Every node behind the roots, sources first, in the order of creation; without recursion.

    `into` gives the nodes directly behind a node, by default all its sources.
    """
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(into(node))
    return sorted(seen, key=attrgetter("serial"))


def walk_to(ends: Callable[[Node], bool], *roots: Node) -> list[Node]:
    """Every node behind the roots, sources first, but none behind a node for which `ends` is true."""
    return walk(*roots, into=lambda node: () if ends(node) else node.sources)


def steps(*roots: Node) -> list[Node]:
    """The steps behind the roots, in the order in which they were written."""
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
    """The graph with each node replaced for which `change(node)` returns a replacement, as mistakes do.

    Where `into` returns nothing, the node and all that is behind it stay as they are.
    """
    new: dict[Node, Node] = {}
    for node in walk(*roots, into=into):
        copy = node.over([new[source] for source in node.sources]) if into(node) else node
        new[node] = change(copy) or copy
    return [new[root] for root in roots]


def _cannot_form(node: Node, error: ShapeError) -> ShapeError:
    node.axes = ()
    plain = [_untransposed(source) for source in node.sources]
    sized = [source for source in plain if source.axes]  # single numbers fit beside anything
    clashing = sized if len(sized) > 1 else plain
    facts = " but ".join(f"{symbol(source)} is {ax.describe(source.axes)}" for source in clashing)
    return ShapeError(f"cannot form {formula(node)}: {facts}; {error.message}", hint=error.hint)


def _untransposed(node: Node) -> Node:
    """What a node is the transpose of; the node itself if it is not a transpose."""
    known: Node | None = node.row.transposed(node) if node.row.transposed else None
    return known if known is not None and known in node.sources else node


# What an author says while writing a graph: the names and reasons of steps, their groups, notes, labels of axes.
#
# A step is a node that carries its name and its reason. The rest is kept beside the nodes, in the state of one problem.
#
# Expanded, a step shows the definition of every primitive that it applies as sub-steps, in a group named after it. Its
# own value is still computed by its kernel (a softmax subtracts the maximum first), so that showing the definition
# never spoils the result.


class Building:
    """Data kept beside the nodes while one problem's graph is written."""

    def __init__(self) -> None:
        self.groups: list[str] = []  # the parts that steps written now belong to, the innermost last
        self.notes: list[str] = []  # choices that the reader should know
        self.taken: list[tuple[str, str]] = []  # (operand, note) for each note that says how an operand was read
        self.labels: dict[str, tuple[str, ...]] = {}  # axis → words for its places, for axes made by the author
        self.asides: list[Node] = []  # steps that are shown although the result does not depend on them
        self.known: dict[str, tuple[str, ...]] = {}  # axis → the labels that came with the operands
        self.letters: dict[str, Number | None] = {}  # numbers that options give by name; None stays a letter
        self.exact = False  # whether the operands are fractions, surds or letters
        self.lettered = False  # whether one of them holds letters, which cannot be compared by size


_building: ContextVar[Building] = ContextVar("building")


@contextmanager
def building() -> Iterator[Building]:
    """The context in which one problem's graph is written; it yields what is kept beside the nodes."""
    state = Building()
    token = _building.set(state)
    try:
        yield state
    finally:
        _building.reset(token)


def note(text: str, of: str = "") -> None:
    """Tell the reader of a choice: `K was not given: keys = queries`; `of` is the operand that it is about."""
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
    """Whether the operands are fractions, surds or letters, so that nothing is ever rounded."""
    state = _building.get(None)
    return state is not None and state.exact


NOT_SHIFTED = "which letter is the largest is not known: none is subtracted first, which changes nothing in the end"


def in_letters() -> bool:
    """Whether an operand holds letters: steps that must know which number is larger are then left out."""
    state = _building.get(None)
    return state is not None and state.lettered


@contextmanager
def group(name: str) -> Iterator[None]:
    """Put the steps written inside into this group: `with group("self-attention"):`; groups nest."""
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
    """Give a value a name and a reason: an identity node that formulas show by name and the backward pass names too.

    `of` is the step whose gradient it holds, in a calculation that writes its own backward pass. `about` is what a
    teacher would add to the reason, for those who ask.
    """
    state = _building.get(None)
    within = "/".join(state.groups) if state else ""
    said: dict[str, Any] = {"name": name, "group": within, "why": why, "symbol": symbol or name}
    return Node("step", value, **said, shown=shown, of=of, about=about)


def output(name: str, value: Node, why: str = "", *, symbol: str = "") -> Node:
    """An extra result that is not listed among the steps: shown beside the result, and found by its name."""
    return step(name, value, why, symbol=symbol, shown=False)


def aside(name: str, value: Node, why: str = "", *, about: str = "") -> Node:
    """A step that is shown although the result does not depend on it: the bytes of a cache, a check."""
    node = step(name, value, why, about=about)
    _building.get().asides.append(node)
    return node


def letter(name: str, value: Number | None) -> Node:
    """A single number given by an option, with its name in formulas (`x` of `--at x=3`); None leaves it a letter."""
    _building.get().letters[name] = value
    return given(name, ())


def about(step: Node) -> tuple[str, ...]:
    """What a teacher would add to a step's reason: first on the step itself, then on each primitive in its formula."""
    texts = [step.args.get("about", "")]
    for node in reversed(inside(step)):  # the outermost first, as one reads a formula
        said = node.row.about
        texts.append(said(node) if callable(said) else said)
    return tuple(text for text in dict.fromkeys(texts) if text)


def labels_of_parts(
    nodes: Iterable[Node], words: Mapping[str, tuple[str, ...]]
) -> dict[Node, dict[str, tuple[str, ...]]]:
    """Node → axis → labels, for nodes that hold a part of an axis: the labels of these places, or `m=2` without any."""
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
    """Node → axis → the place where the node's part of the axis begins, for parts and for all that is made from them.

    A renamed axis begins at 0 again. The parts of a gradient begin where those of its step do.
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
    """The sub-steps of every step behind the roots, in the order in which they are shown."""
    found: list[Node] = []
    for step in walk(*roots):
        if step.op == "step":
            found.extend(_substeps(step))
    return found


def _substeps(step: Node) -> list[Node]:
    """The sub-steps of one step: each primitive in the definitions of the primitives that it applies."""
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
                silent = not part.sources or part.row.text == "{0}"  # a node that formulas don't show is no step either
                new[part] = copy if silent else _named(copy, step.path, node, names)
                made += [copy] if new[part] is copy else [copy, new[part]]
    for i, part in enumerate(made):  # they are shown before the step that they define, in the order of computation
        part.serial = step.serial - 1 + (i + 1) / (len(made) + 1)
    return [part for part in made if part.op == "step"]


def _goes_on(body: Node, sources: Sequence[Node]) -> bool:
    """Whether a definition has more than one primitive."""
    return any(part.sources and part not in sources for part in body.sources)


def _named(value: Node, within: str, whole: Node, names: dict[str, int]) -> Node:
    word = value.row.noun or value.op
    names[word] = names.get(word, 0) + 1
    name = word if names[word] == 1 else f"{word}_{names[word]}"
    why = f"in the definition of {formula(whole)}"
    return Node("step", value, name=name, group=within, why=why, symbol=name, shown=True, of=None)


class Expression(NamedTuple):
    """A formula in letters: its text as typed, its graph, and its letters in the order of their first use."""

    text: str
    node: Node
    variables: Mapping[str, Node]

    def at(self, values: Mapping[str, Node]) -> Node:
        """The formula's graph with other nodes in place of its letters."""
        places = {node: values[name] for name, node in self.variables.items() if name in values}
        return rewrite([self.node], places.get)[0]
