"""A graph made ready to be evaluated many times: what no turn changes is worked out once, every value has its place.

It gives what evaluate gives, by the same kernels. A loop of a hundred thousand turns over a dozen single numbers
would spend its time on telling nodes apart; here a turn is a list of calls.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, align, names
from attncalc.evaluate import evaluate
from attncalc.graph import Node
from attncalc.plan import plan

if TYPE_CHECKING:
    from attncalc.evaluate import Rounding

_SIGNS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}
"""NumPy's signs, which call what the kernels of arithmetic call, and do so sooner."""


class Values(Mapping[Node, "Array"]):
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
        if self.numbers and node.op == "take" and len(node.sources[0].axes) == 1:
            return operator.itemgetter(node.args["at"])
        if self.numbers and node.op == "listed" and not any(source.axes for source in node.sources):
            return _vector
        if not node.row.elementwise:
            return partial(_on_arrays, partial(kernel, node))
        if all(_lies_as(source.axes, node.axes) for source in node.sources):
            if not self.numbers:
                return partial(_on_arrays, kernel)
            if node.op == "pow" and not node.axes:
                return operator.pow
            return _SIGNS[node.op] if node.op in _SIGNS and len(node.sources) == 2 else kernel
        return partial(_aligned, kernel, [source.axes for source in node.sources], node.axes)


def _itself(value: Any) -> Any:
    return value


def _vector(*numbers: Any) -> Array:
    return np.array(numbers)


def _on_arrays(kernel: Callable[..., Any], *values: Any) -> Array:
    return np.asarray(kernel(*map(np.asarray, values)))


def _aligned(kernel: Callable[..., Any], axes: list[Axes], target: Axes, *values: Any) -> Array:
    laid = [align(np.asarray(value), own, target) for value, own in zip(values, axes, strict=True)]
    return np.asarray(kernel(*laid))


def _lies_as(axes: Axes, target: Axes) -> bool:
    """Whether NumPy's broadcasting matches the two as they are."""
    return names(target)[len(target) - len(axes) :] == names(axes)
