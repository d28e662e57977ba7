"""Loops: the graph of one turn, evaluated again and again, with the results of each turn going into the next.

They are for calculations that depend on values and cannot be one graph, such as a descent that stops when it converges.
A loop does no arithmetic of its own; it keeps the first and the last turns for the reader. If every turn is longer than
the one before, as when tokens are chosen one by one, the graph grows instead, until a value says that it is enough.

Before a loop runs, its turn is compiled to a list of calls: what no turn changes is computed once, and every value gets
a place in a list. A hundred thousand turns over a dozen single numbers would otherwise spend their time looking up
nodes. The results are those of evaluate, by the same kernels.
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
    """The values of one turn, for any node of its graph; iteration goes over the named steps alone."""

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
        """The value of a node that is a single number, without an array around it."""
        return self._values[self._places[node]]


class End(NamedTuple):
    """Why a loop ends early; if `failed`, the last turn is dropped, unless it is the only one, with a warning."""

    reason: str
    failed: bool = False


@dataclass(frozen=True)
class Loop:
    """Returned by a calculation whose turns depend on values."""

    turn: str  # what a turn is called: "iteration"
    start: Mapping[str, Any]  # the values that go into the first turn, by the names of its inputs
    steps: tuple[Node, ...]  # the roots of a turn's graph
    carry: Mapping[str, Node]  # input → the node whose value it gets in the next turn
    turns: int
    results: tuple[Node, ...]  # the steps whose last values are the outputs, the result first
    stop: Callable[[Values], End | None] | None = None  # asked after every turn
    first: int = 1  # the number of the first turn
    rows: tuple[Node, ...] = ()  # the steps that make up a table with a row for each turn
    loss: Node | None = None  # where a backward pass starts, in the first turn; without it there are no gradients


@dataclass(frozen=True)
class Growth:
    """Returned by a calculation whose graph grows turn by turn until a value says that it is enough."""

    turn: str  # what a turn is called: "token"
    steps: Iterator[Node]  # it writes one turn at a time, in a group of its own, and yields the step to look at
    turns: int
    enough: Callable[[Array], bool]  # whether that step's value ends the loop
    results: Callable[[], tuple[Node, ...]]  # writes the results after the last turn, the main one first


KEPT = 6
"""How many turns are kept at the beginning, and at the end."""
MOST = 10_000_000
"""The limit for the number of turns; so many take minutes."""
MOST_KEPT = 50_000
"""The limit if all turns are kept; so many take half a gigabyte."""


class Turn(NamedTuple):
    """A turn that is kept: its number and its values."""

    number: int
    values: Values
    inputs: Mapping[str, Array]


class Ran(NamedTuple):
    """A finished loop: the turns that were kept, how many there were, and why it ended early, if it did."""

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
    """Run the loop turn by turn, until it stops itself or its number of turns is reached."""
    if loop.turns > MOST:
        raise OptionError(f"{loop.turns:,} {loop.turn}s are asked for, but {MOST:,} is the limit")
    start = {**operands, **loop.start}
    program = Program((*loop.steps, *loop.carry.values()), start, loop.carry, dtype=dtype, after_step=after_step)
    first: list[Turn] = []
    latest: deque[Turn] = deque(maxlen=None if keep_all else KEPT + 1)  # one of them may be dropped
    end, state = None, start
    with np.errstate(all="ignore"):  # the code that reads the steps finds and reports what overflows or is undefined
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
    """The results after the turns that were needed, and the values of all steps by their keys."""
    known: dict[tuple[str, str], Array] = {}
    for done, chosen in enumerate(growth.steps, start=1):
        values = evaluate([chosen], operands, dtype=dtype, given=known, after_step=after_step)
        known |= by_key(values)
        system.tell(growth.turn, done, growth.turns)
        if growth.enough(values[chosen]):
            break
    return growth.results(), known


class Program:
    """The graph behind some roots as a list of calls; `changing` names the inputs that change at every turn."""

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
        """The values of all nodes for these inputs."""
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
        """The places of the first source, of the second, and of any others."""
        places = [self.places[source] for source in node.sources]
        return places[0], places[1] if len(places) > 1 else None, tuple(places[2:])

    def bare(self, node: Node, value: Array) -> Any:
        """The value, without an array around it if it is a single float."""
        return value[()] if self.numbers and not node.axes else value

    def call(self, node: Node) -> Callable[..., Any]:
        """The function that computes the node's value from those of its sources."""
        if node.op == "step":
            by_hand = self.by_hand
            return (lambda value: by_hand(np.asarray(value))) if by_hand else lambda value: value
        found = self.called(node)
        if self.machine is None or node not in self.rounded:
            return found
        return partial(_by_machine, self.machine, node, found)

    def called(self, node: Node) -> Callable[..., Any]:
        """The primitive's kernel as a function of the sources' values."""
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
