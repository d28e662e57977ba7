"""Graph and operands → values: floats, exact numbers and symbols alike, with given steps and rounding at each step.

What kind of numbers comes out is a property of the operands: float64 or float32 arrays, or object arrays of SymPy
numbers. Numbers in formulas and sizes are brought to the same kind, so that none widens another.

Central differences are values too: the slope found by moving one entry at a time, without any calculus.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common import system
from attncalc.common.errors import OptionError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.language import kernels as doors
from attncalc.language.axes import Axes, Axis, align, names
from attncalc.language.graph import Node, given, walk
from attncalc.record.trace import Check

if TYPE_CHECKING:
    from attncalc.language.doubled_kernels import Double

Rounding = Callable[[Array], Array]
"""What is done to the value of each step before the next one uses it."""
Keys = Collection[tuple[str, str]]


class Plan(NamedTuple):
    """What evaluate runs by; a loop makes it once and runs it at every turn."""

    roots: tuple[Node, ...]
    order: tuple[Node, ...]  # sources first
    release: tuple[tuple[Node, ...], ...]  # for each place in the order, the values that nobody needs any more


def named(node: Node) -> bool:
    """Whether a value is kept to the end: that of a step is, for the reader."""
    return node.op == "step"


def plan(roots: Sequence[Node], *, given: Keys = (), keep: Callable[[Node], bool] = named) -> Plan:
    """The nodes behind the roots in order; behind a given step, by its (group, name), nothing is needed."""
    order = walk(*roots, into=lambda node: () if is_given(node, given) else node.sources)
    last: dict[Node, int] = {}
    for place, node in enumerate(order):
        if not is_given(node, given):
            for source in node.sources:
                last[source] = place
    wanted = set(roots)
    release: list[list[Node]] = [[] for _ in order]
    for node, place in last.items():
        if node not in wanted and not keep(node):
            release[place].append(node)
    return Plan(tuple(roots), tuple(order), tuple(map(tuple, release)))


def is_given(node: Node, given: Keys) -> bool:
    """Whether a step's value is given, so that it is not computed."""
    return bool(given) and node.op == "step" and node.key in given


def evaluate(
    roots: Sequence[Node] | Plan,
    operands: Mapping[str, Array],
    *,
    dtype: str | type[Any] = np.float64,
    given: Mapping[tuple[str, str], Array] | None = None,
    after_step: Rounding | None = None,
    keep: Callable[[Node], bool] = named,
    rests: Mapping[str, Double] | None = None,
    careful: bool = True,
) -> dict[Node, Array]:
    """The values of the roots and of every step behind them.

    `given` holds values for steps by their (group, name): the walk stops there. `after_step` is applied to a step's
    value before the next one uses it (rounding by hand). Other values are let go after their last use. `rests` holds
    operands that are known in twice the digits. Unless `careful`, lost digits stay lost, as they do in the turns of a
    loop; and who rounds by hand has lost them.
    """
    given = given or {}
    careful = careful and after_step is None
    order = roots if isinstance(roots, Plan) else plan(roots, given=given.keys(), keep=keep)
    kind = np.dtype(dtype)
    values: dict[Node, Array] = {}
    known = Known(values, operands, given, rests or {}, order.order)
    with np.errstate(all="ignore"):  # what overflows or has no answer is found, and told, by whoever reads the steps
        for node, released in zip(order.order, order.release, strict=True):
            system.go_on()
            if node.op == "step":
                value = given[node.key] if is_given(node, given) else values[node.sources[0]]
                values[node] = after_step(value) if after_step else value
            else:
                values[node] = value_of(node, values, operands, kind)
                if careful and node.row.loses and known.shows_rounding(node):
                    values[node] = known.in_full(node)
            for source in released:
                del values[source]
    return values


def by_key(values: Mapping[Node, Array]) -> dict[tuple[str, str], Array]:
    """The values of the steps among these nodes by their (group, name), as they are given to another evaluation."""
    return {node.key: value for node, value in values.items() if node.op == "step"}


def value_of(node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], dtype: np.dtype[Any]) -> Array:
    """The value of one node but a step, from those of its sources."""
    if node.op == "input":
        return operands[node.args["name"]]
    if not node.sources:
        return np.asarray(node.row.kernel(node, dtype))
    if node.row.elementwise:
        sources = [align(values[source], source.axes, node.axes) for source in node.sources]
        return np.asarray(node.row.kernel(*sources))
    return np.asarray(node.row.kernel(node, *(values[source] for source in node.sources)))


# What rounding left of a value is found again where the next primitive shows it: 1 − tanh² x, and the sine of a large
# angle, have no right digit else. Numbers of twice the digits go as far back as values are at hand, through few steps.


DEEPEST_STEPS = 3
"""What is further behind has lost digits of its own, and a long chain of sums would be gone through again and again."""


FAINTEST = 2.0**-90
"""What is left of terms that cancel in twice the digits too, beside them: nothing."""


class Known:
    """What is at hand of a graph while it is evaluated; what rounding left of its values is found from it."""

    def __init__(
        self,
        values: Mapping[Node, Array],
        operands: Mapping[str, Array],
        given: Keys,
        rests: Mapping[str, Double],
        order: Sequence[Node],
        handed_on: Callable[[Array], Double] | None = None,
    ) -> None:
        self.values, self.operands, self.given, self.rests, self.order = values, operands, given, rests, order
        self.handed_on = handed_on  # what one part takes another part's value for: a float that is what it is
        self.found_known: dict[Node, bool] = {}

    @cached_property
    def parts(self) -> Mapping[Node, str]:
        """The part that each node belongs to, which is that of the first step that it is in."""
        found = {node: node.args["group"] for node in self.order if node.op == "step"}
        for node in reversed(self.order):
            for source in node.sources:
                found.setdefault(source, found.get(node, ""))
        return found

    def shows_rounding(self, node: Node) -> bool:
        """Whether the value of a node shows what rounding left of its sources, and that can be found."""
        row = node.row
        if self.values[node].dtype.kind != "f" or not (row.adds or any(map(self._is_rounded, node.sources))):
            return False
        if row.loses not in (doors.cancels, doors.cancels_along) and (
            self.values[node].size > doors.SHOWN_ENTRY_BY_ENTRY or not all(map(self._is_known, node.sources))
        ):  # the last digits of a large value are not worth a hundred times its time
            return False
        sources = [self.values[source] for source in node.sources]
        if row.elementwise:
            laid = zip(sources, node.sources, strict=True)
            sources = [align(value, source.axes, node.axes) for value, source in laid]
        return bool(row.loses and row.loses(node, self.values[node], *sources))

    def _is_rounded(self, node: Node) -> bool:
        """Whether it may be told what rounding left of a value; choices and moves give entries as they are."""
        stack, seen = [node], {node}
        while stack:
            made = stack.pop()
            if is_given(made, self.given):
                continue
            if not made.sources:
                is_float = made.op == "constant" and not isinstance(made.args["value"], int)
                if is_float or made.args.get("name") in self.rests:
                    return True
            elif made.row.doubled and made.row.rounds and made.row.flops != 0:
                return True
            elif made.row.doubled:
                stack += [source for source in made.sources if source not in seen]
                seen.update(made.sources)
        return False

    def _is_known(self, node: Node) -> bool:
        """Whether all that a value is made of is known in twice the digits: a sum of products is not.

        Two values made of the same rounded one may cancel to all their digits; a function of one can have no more.
        """
        found, stack = self.found_known, [node]
        while stack:
            made = stack[-1]
            behind = made.sources if made.row.doubled and not is_given(made, self.given) else ()
            if new := [source for source in behind if source not in found]:
                stack += new
                continue
            found[stack.pop()] = (bool(made.row.doubled) or not made.sources) and all(found[each] for each in behind)
        return found[node]

    def in_full(self, node: Node) -> Array:
        """The value of a node from its sources as they were before rounding; as it is where that is no number."""
        value, (head, _, doubt) = self.values[node], self.doubled(node)
        scale = max(np.max(np.abs(self.values[source]), initial=0) for source in node.sources)
        is_faint = (doubt <= FAINTEST * scale) & ((doubt <= np.abs(value)) | (value == 0))
        head = np.where((np.abs(head) <= doubt) & is_faint, 0, head).astype(value.dtype)
        return np.where(np.isfinite(head), head, value)

    def doubled(self, node: Node) -> Double:
        """A value in twice the digits.

        A part takes what another part has handed on as it is, so that it gives what the same calculation gives alone.
        """
        kernels, values, home = doors.doubled(), self.values, self.parts.get(node, "")

        def ends(made: Node) -> bool:
            return made in values and (is_given(made, self.given) or self.parts.get(made, "") != home)

        depth = {node: 0}  # how many steps lie between
        stack = [node]
        while stack:
            made = stack.pop()
            within = depth[made] + (made.op == "step")
            if within <= DEEPEST_STEPS and not ends(made) and made.row.doubled:
                for source in made.sources:
                    if source not in depth or depth[source] > within:
                        depth[source] = within
                        stack.append(source)
        found: dict[Node, Double] = {}
        for made in sorted(depth, key=attrgetter("serial")):
            sources = [found[source] for source in made.sources if source in found]
            if not made.sources:
                pair = self._leaf(made)
            elif ends(made):
                pair = ((not is_given(made, self.given) and self.handed_on) or kernels.exactly)(values[made])
            elif len(sources) == len(made.sources) and made.row.doubled:
                pair = _in_twice_the_digits(made, sources)
                if made.op == "step" and made in values:
                    pair = kernels.as_far_as_known(pair, values[made])
            elif made in values:
                pair = kernels.rounded(values[made])
            elif made is node:
                pair = kernels.exactly(np.full(node.shape, np.nan))
            else:
                continue
            found[made] = kernels.Double(*(np.broadcast_to(part, pair.head.shape) for part in pair))
        return found[node]

    def _leaf(self, node: Node) -> Double:
        if node.args.get("name") in self.rests:
            return self.rests[node.args["name"]]
        kernels = doors.doubled()
        found: Double = (
            kernels.number(node.args["value"])
            if node.op == "constant"
            else kernels.exactly(value_of(node, self.values, self.operands, np.dtype(float)))
        )
        return found


def _in_twice_the_digits(node: Node, sources: Sequence[Double]) -> Double:
    kernels = doors.doubled()
    if node.row.elementwise:
        laid = zip(sources, node.sources, strict=True)
        sources = [kernels.Double(*(align(part, own.axes, node.axes) for part in pair)) for pair, own in laid]
    found: Double = getattr(kernels, node.row.doubled)(node, *sources)
    return found


WITHIN = 1e-6
"""How far the two may lie apart, relative to the largest of the gradient, of the loss, and of 1."""
MOVED_AT_ONCE = 4_000_000
"""So many numbers at most are moved in one evaluation: the moved copies of an operand stand on a leading axis."""


def compare(output: Node, name: str, gradient: Array, operands: Mapping[str, Array], upstream: Array) -> Check:
    """Central differences of Σ upstream ⊙ output with respect to the operand called `name`, beside its gradient."""
    numeric = central_differences(output, name, operands, upstream)
    loss = np.abs(upstream * evaluate([output], operands)[output]).sum()
    largest = float(np.max(np.abs(numeric - gradient), initial=0.0))
    scale = max(1.0, float(loss), float(np.max(np.abs(gradient), initial=0.0)))
    return Check(numeric, largest, bool(largest <= WITHIN * scale))


def central_differences(output: Node, name: str, operands: Mapping[str, Array], upstream: Array) -> Array:
    """(L(x + h) − L(x − h)) / 2h for every entry x of the operand, where L = Σ upstream ⊙ output."""
    x = operands[name].astype(np.float64)
    steps = np.cbrt(np.finfo(np.float64).eps) * np.maximum(np.abs(x), 1.0)
    slopes = np.empty(x.size)
    at_once = max(1, MOVED_AT_ONCE // (x.size + upstream.size))
    for start in range(0, x.size, at_once):
        which = np.arange(start, min(start + at_once, x.size))
        move = np.zeros((which.size, x.size))
        move[np.arange(which.size), which] = steps.ravel()[which]
        move = move.reshape(which.size, *x.shape)
        moved = ({**operands, name: x + sign * move} for sign in (1, -1))
        up, down = (_losses(output, values, upstream, which.size) for values in moved)
        slopes[which] = (up - down) / (2 * steps.ravel()[which])
    return slopes.reshape(x.shape)


def _losses(output: Node, operands: Mapping[str, Array], upstream: Array, count: int) -> Array:
    """One loss for each moved copy; an output that the moved operand has no part in is the same for all of them."""
    values = evaluate([output], operands, keep=lambda node: False, careful=False)[output]
    return np.broadcast_to((values * upstream).sum(axis=tuple(range(-upstream.ndim, 0))), (count,))


# Loops: a turn's graph, evaluated again and again, what comes out of one turn going into the next.
#
# For what depends on values, so that it cannot be one graph: a descent that stops when it settles. A loop holds no
# arithmetic; it keeps the first and the last turns for the reader. Where every turn is longer than the one before, as
# with tokens that are chosen one by one, the graph grows instead, until a value says that it is enough.
#
# Before a loop runs its turn is made ready: what no turn changes is worked out once, every value has its place, and a
# turn is a list of calls: a hundred thousand turns over a dozen single numbers would else go into telling nodes apart.
# It gives what evaluate gives, by the same kernels.


class Values(Mapping[Node, Any]):
    """The values of one turn: of any node, and to go through, of its named steps."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: Mapping[Node, int], values: list[Any]) -> None:
        self._places, self._values = places, values

    def __getitem__(self, node: Node) -> Array:
        return np.asarray(self._values[self._places[node]])

    def __iter__(self) -> Iterator[Node]:
        return (node for node in self._places if node.op == "step")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def number(self, node: Node) -> Any:
        """A single number, as it is."""
        return self._values[self._places[node]]


class End(NamedTuple):
    """Why a loop ends early; `failed` takes the turn back that says so, if it is not the first one, and warns."""

    reason: str
    failed: bool = False


def _never(values: Values) -> End | None:
    return None


class Loop(NamedTuple):
    """What a calculation returns whose turns depend on values."""

    turn: str  # what a turn is called: "iteration"
    start: Mapping[str, Any]  # the values that go into the first turn, by the names of its inputs
    steps: tuple[Node, ...]  # the roots of a turn's graph
    carry: Mapping[str, Node]  # input → the node whose value it gets at the next turn
    turns: int
    results: tuple[Node, ...]  # the steps whose last values are the outputs, the result first
    stop: Callable[[Values], End | None] = _never  # asked after every turn
    first: int = 1  # the number of the first turn
    rows: tuple[Node, ...] = ()  # the steps that make up a table with a row for each turn
    loss: Node | None = None  # what a backward pass starts from, in the first turn; nothing has a gradient without it


class Growth(NamedTuple):
    """What a calculation returns whose graph grows by a turn until a value says that it is enough."""

    turn: str  # what a turn is called: "token"
    steps: Iterator[Node]  # writes a turn at a time, in a group of its own: the step that is looked at
    turns: int
    enough: Callable[[Array], bool]  # asked of that step's value
    results: Callable[[], tuple[Node, ...]]  # written behind the last turn, the result first


KEPT = 6
"""So many turns are kept at the beginning, and as many at the end."""
MOST = 10_000_000
"""So many turns take minutes, and no more are made."""
MOST_KEPT = 50_000
"""So many turns take half a gigabyte where all are kept, and no more are."""


class Turn(NamedTuple):
    """One turn that is kept: its number and its values."""

    number: int
    values: Values
    inputs: Mapping[str, Array]


class Ran(NamedTuple):
    """A loop that has ended: the turns that were kept, how many there were, and why it ended early, if it did."""

    kept: list[Turn]
    turns: int
    end: End | None


def run(
    loop: Loop,
    operands: Mapping[str, Array],
    *,
    dtype: str = "float64",
    after_step: Rounding | None = None,
    keep_all: bool = False,
) -> Ran:
    """Turn after turn, until the loop's own reason to stop or its number of turns."""
    if loop.turns > MOST:
        raise OptionError(f"{loop.turns:,} {loop.turn}s are asked for, but {MOST:,} is the limit")
    start = {**operands, **loop.start}
    program = Program((*loop.steps, *loop.carry.values()), start, loop.carry, dtype=dtype, after_step=after_step)
    first: list[Turn] = []
    latest: deque[Turn] = deque(maxlen=None if keep_all else KEPT + 1)  # one of them may be taken back
    end, state = None, start
    with np.errstate(all="ignore"):  # what overflows or has no answer is found, and told, by whoever reads the steps
        for done in range(loop.turns):
            turn = Turn(loop.first + done, program.run(state), state)
            (first if len(first) < KEPT else latest).append(turn)
            if len(latest) > MOST_KEPT:
                raise OptionError(
                    f"--all keeps every {loop.turn}, but at most {MOST_KEPT:,} are kept",
                    hint="without --all the first and the last are shown",
                )
            state = start | {name: turn.values[node] for name, node in loop.carry.items()}
            end = loop.stop(turn.values)
            if end:
                break
            system.tell(loop.turn, done + 1, loop.turns)
    made = [*first, *latest]
    if end and end.failed and len(made) > 1:
        made.pop()
    count = made[-1].number - loop.first + 1
    if not keep_all and count > 2 * KEPT:
        made = [*made[:KEPT], *made[-KEPT:]]
    return Ran(made, count, end)


def grown(
    growth: Growth, operands: Mapping[str, Array], *, dtype: str = "float64", after_step: Rounding | None = None
) -> tuple[tuple[Node, ...], dict[tuple[str, str], Array]]:
    """The results behind the turns that were needed, and the steps' values by their keys, so that none is lost."""
    known: dict[tuple[str, str], Array] = {}
    for done, chosen in enumerate(growth.steps, start=1):
        values = evaluate([chosen], operands, dtype=dtype, given=known, after_step=after_step)
        known |= by_key(values)
        system.tell(growth.turn, done, growth.turns)
        if growth.enough(values[chosen]):
            break
    return growth.results(), known


class Program:
    """The graph behind some roots; `changing` names the inputs whose values are another at every turn."""

    def __init__(
        self,
        roots: Collection[Node],
        state: Mapping[str, Array],
        changing: Collection[str],
        *,
        dtype: str = "float64",
        after_step: Rounding | None = None,
    ) -> None:
        order = plan(tuple(roots)).order
        self.places = {node: place for place, node in enumerate(order)}
        moves: set[Node] = set()
        for node in order:
            if node.args.get("name") in changing if node.op == "input" else not moves.isdisjoint(node.sources):
                moves.add(node)
        fixed = [node for node in order if node not in moves]
        known = evaluate(fixed, state, dtype=dtype, after_step=after_step)
        self.numbers = np.dtype(dtype).kind == "f"
        self.template = [self.bare(node, known[node]) if node in known else None for node in order]
        self.inputs = [(node, self.places[node]) for node in order if node in moves and node.op == "input"]
        self.work = [
            (self.places[node], self.call(node, after_step), *self.from_where(node))
            for node in order
            if node in moves and node.op != "input"
        ]

    def run(self, state: Mapping[str, Array]) -> Values:
        """The values that follow from a state."""
        values = self.template.copy()
        for node, place in self.inputs:
            values[place] = self.bare(node, state[node.args["name"]])
        for place, call, first, second, others in self.work:
            if second is None:
                values[place] = call(values[first])
            elif others:
                values[place] = call(values[first], values[second], *[values[other] for other in others])
            else:
                values[place] = call(values[first], values[second])
        return Values(self.places, values)

    def from_where(self, node: Node) -> tuple[int, int | None, tuple[int, ...]]:
        """The places of the first source, of the second one, and of any others."""
        places = [self.places[source] for source in node.sources]
        return places[0], places[1] if len(places) > 1 else None, tuple(places[2:])

    def bare(self, node: Node, value: Array) -> Any:
        """A single float without the array around it."""
        return value[()] if self.numbers and not node.axes else value

    def call(self, node: Node, after_step: Rounding | None) -> Callable[..., Any]:
        """What gives the node's value from those of its sources."""
        if node.op == "step":
            return (lambda value: after_step(np.asarray(value))) if after_step else _itself
        kernel = node.row.kernel
        quick = node.row.quick(node) if self.numbers and node.row.quick else None
        if not node.row.elementwise:
            return quick or partial(_on_arrays, partial(kernel, node))
        if all(_lies_as(source.axes, node.axes) for source in node.sources):
            return quick or (kernel if self.numbers else partial(_on_arrays, kernel))
        return partial(_aligned, kernel, [source.axes for source in node.sources], node.axes)


def _itself(value: Any) -> Any:
    return value


def _on_arrays(kernel: Callable[..., Any], *values: Any) -> Array:
    return np.asarray(kernel(*map(np.asarray, values)))


def _aligned(kernel: Callable[..., Any], axes: list[Axes], target: Axes, *values: Any) -> Array:
    laid = [align(np.asarray(value), own, target) for value, own in zip(values, axes, strict=True)]
    return np.asarray(kernel(*laid))


def _lies_as(axes: Axes, target: Axes) -> bool:
    """Whether NumPy's broadcasting matches the two as they are."""
    return names(target)[len(target) - len(axes) :] == names(axes)


# Some places of a value, worked out from the same places of what it is made of, and from nothing more.
#
# A graph is written anew for them: each axis that is cut gets the size of what is taken of it, wherever no primitive
# mixes its entries. What cannot be cut so is taken from the value as a whole.


_Cut = tuple[Node, frozenset[Axis]]
"""A node, and the axes along which only some of its places are needed."""


class Portion(NamedTuple):
    """A graph for some places of some axes; its inputs are places of the values of other nodes."""

    roots: tuple[Node, ...]
    taken: Mapping[str, tuple[Node, frozenset[Axis]]]  # input → the node that it is cut from, and along which axes


def divides(node: Node, axis: Axis) -> bool:
    """Whether each place of an axis of a value follows from the same place of what the value is made of."""
    return (
        axis in node.axes
        and axis.name not in node.row.mixes(node)
        and (node.row.copies or any(axis in source.axes for source in node.sources))
    )


def portion(
    targets: Sequence[Node],
    sizes: Mapping[Axis, int],
    known: Callable[[Node], bool],
    adding: Container[Node] = (),
) -> Portion:
    """The graph of the targets for so many places of the axes; it ends at nodes that are known, or cannot be cut.

    A node that is `adding` has lost the axis in a sum: what it gives is that sum over the places.
    """
    sources: dict[_Cut, tuple[_Cut, ...]] = {}
    roots = [(target, frozenset(sizes).intersection(target.axes)) for target in targets]
    stack = list(roots)
    while stack:
        node, cut = at = stack.pop()
        if at in sources:
            continue
        within = frozenset(sizes) if node in adding else cut
        ends = known(node) or not node.sources or (node not in adding and not all(divides(node, axis) for axis in cut))
        sources[at] = () if ends else tuple((source, within.intersection(source.axes)) for source in node.sources)
        stack.extend(sources[at])
    new: dict[_Cut, Node] = {}
    taken: dict[str, tuple[Node, frozenset[Axis]]] = {}
    for node, cut in sorted(sources, key=lambda at: at[0].serial):
        smaller = {axis: axis._replace(size=sizes[axis]) for axis in cut}
        if sources[node, cut]:
            args = {name: _resized(value, smaller) for name, value in node.args.items()}
            new[node, cut] = Node(node.op, *(new[source] for source in sources[node, cut]), **args)
        else:
            name = f"{len(taken)}"
            taken[name] = node, cut
            new[node, cut] = given(name, _resized(node.axes, smaller))
    return Portion(tuple(new[root] for root in roots), taken)


def _resized(value: Any, smaller: Mapping[Axis, Axis]) -> Any:
    """An argument, its axes cut."""
    if isinstance(value, Axis):
        return smaller.get(value, value)
    if isinstance(value, tuple) and any(isinstance(part, Axis) for part in value):
        return tuple(_resized(part, smaller) for part in value)
    return value


def entries(
    node: Node,
    chosen: Mapping[Axis, Sequence[int]],
    values: Mapping[Node, Array],
    operands: Mapping[str, Array],
    dtype: str,
) -> Array:
    """A node's entries at some places of its axes, from the values that are known and the operands."""
    if node in values or not node.sources:
        whole = values[node] if node in values else value_of(node, values, operands, np.dtype(dtype))
        return at_places(whole, node.axes, chosen)
    chosen = {axis: places for axis, places in chosen.items() if places != range(axis.size)}
    cut = {axis: places for axis, places in chosen.items() if divides(node, axis)}
    sizes = {axis: len(places) for axis, places in cut.items()}
    smaller = portion([node], sizes, values.__contains__)
    inputs = {
        name: entries(source, {axis: cut[axis] for axis in along}, values, operands, dtype)
        for name, (source, along) in smaller.taken.items()
    }
    (found,) = (evaluate(smaller.roots, inputs, dtype=dtype, keep=lambda other: False)[root] for root in smaller.roots)
    return at_places(found, node.axes, {axis: places for axis, places in chosen.items() if axis not in cut})


def at_places(value: Array, axes: Axes, chosen: Mapping[Axis, slice] | Mapping[Axis, Sequence[int]]) -> Array:
    """The places of a value along its axes; all of them along an axis that is not named."""
    for number, axis in enumerate(axes):
        if axis in chosen:
            value = value[(*[slice(None)] * number, chosen[axis])]
    return value
