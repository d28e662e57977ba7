"""Loops: a turn's graph, evaluated again and again, what comes out of one turn going into the next.

For what depends on values, so that it cannot be one graph: a descent that stops when it settles. A loop holds no
arithmetic; it keeps the first and the last turns for the reader. Where every turn is longer than the one before, as
with tokens that are chosen one by one, the graph grows instead, until a value says that it is enough.

Before a loop runs its turn is made ready: what no turn changes is worked out once, every value has its place, and a
turn is a list of calls: a hundred thousand turns over a dozen single numbers would else go into telling nodes apart.
It gives what evaluate gives, by the same kernels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attncalc.common import system
from attncalc.common.errors import OptionError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.evaluate.values import Machine, Rounding, by_key, evaluate, plan, told_apart
from attncalc.language.axes import Axes, align, names
from attncalc.language.graph import Node


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


@dataclass(frozen=True)
class Loop:
    """What a calculation returns whose turns depend on values."""

    turn: str  # what a turn is called: "iteration"
    start: Mapping[str, Any]  # the values that go into the first turn, by the names of its inputs
    steps: tuple[Node, ...]  # the roots of a turn's graph
    carry: Mapping[str, Node]  # input → the node whose value it gets at the next turn
    turns: int
    results: tuple[Node, ...]  # the steps whose last values are the outputs, the result first
    stop: Callable[[Values], End | None] | None = None  # asked after every turn
    first: int = 1  # the number of the first turn
    rows: tuple[Node, ...] = ()  # the steps that make up a table with a row for each turn
    loss: Node | None = None  # what a backward pass starts from, in the first turn; nothing has a gradient without it


@dataclass(frozen=True)
class Growth:
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
            if loop.stop and (end := loop.stop(turn.values)):
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
        order = plan(tuple(roots), keep=lambda node: True).order
        self.places = {node: place for place, node in enumerate(order)}
        moves: set[Node] = set()
        for node in order:
            if node.args.get("name") in changing if node.op == "input" else not moves.isdisjoint(node.sources):
                moves.add(node)
        fixed = [node for node in order if node not in moves]
        known = evaluate(fixed, state, dtype=dtype, after_step=after_step)
        self.by_hand, self.machine = told_apart(after_step)
        self.rounded = self.machine.rounded(order, ()) if self.machine else ()
        self.numbers = np.dtype(dtype).kind == "f"
        self.template = [self.bare(node, known[node]) if node in known else None for node in order]
        self.inputs = [(node, self.places[node]) for node in order if node in moves and node.op == "input"]
        self.work = [
            (self.places[node], self.call(node), *self.from_where(node))
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

    def call(self, node: Node) -> Callable[..., Any]:
        """What gives the node's value from those of its sources."""
        if node.op == "step":
            by_hand = self.by_hand
            return (lambda value: by_hand(np.asarray(value))) if by_hand else lambda value: value
        found = self.called(node)
        if self.machine is None or node not in self.rounded:
            return found
        return partial(_by_machine, self.machine, node, found)

    def called(self, node: Node) -> Callable[..., Any]:
        """The primitive's kernel, as it takes the values of the sources."""
        kernel = node.row.kernel
        quick = node.row.quick(node) if self.numbers and node.row.quick else None
        if not node.row.elementwise:
            return quick or partial(_on_arrays, partial(kernel, node))
        lies = names(node.axes)
        if all(lies[len(lies) - len(source.axes) :] == names(source.axes) for source in node.sources):  # for NumPy
            return quick or (kernel if self.numbers else partial(_on_arrays, kernel))
        return partial(_aligned, kernel, [source.axes for source in node.sources], node.axes)


def _by_machine(machine: Machine, node: Node, kernel: Callable[..., Any], *values: Any) -> Any:
    value = np.asarray(kernel(*values))
    made = machine.made(node, value, [np.asarray(value) for value in values])
    return made if node.axes else made[()]


def _on_arrays(kernel: Callable[..., Any], *values: Any) -> Array:
    return np.asarray(kernel(*map(np.asarray, values)))


def _aligned(kernel: Callable[..., Any], axes: list[Axes], target: Axes, *values: Any) -> Array:
    laid = [align(np.asarray(value), own, target) for value, own in zip(values, axes, strict=True)]
    return np.asarray(kernel(*laid))
