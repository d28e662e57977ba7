"""Rounding on the way is tried: a step as it becomes if a hand rounds what it writes down, in every usual manner.

A step is spelled out to what one writes down: exponentials, products, sums, roots. Each of these is a place where
numbers may be rounded; a manner of rounding says where, how and to how many digits. All manners run in one evaluation,
along a leading axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attncalc.common.arrays import Array
from attncalc.evaluate.values import evaluate, plan
from attncalc.homework.diagnosis.solutions import Own
from attncalc.homework.reading.complex_numbers import as_parts
from attncalc.language.graph import Node, walk

MODES = ("half-up", "half-even", "truncate")
FIGURES = (3, 4)
"""The significant figures to which pocket calculators are read off."""
MOST_PLACES = 24
"""In longer calculations it is not asked of each place by itself whether it was rounded."""
LEAST_DECIMALS, MOST_DECIMALS = 2, 8
FEWER = 6
"""Where an answer has the digits of a machine, its writer may have rounded to so many decimals or fewer before."""
ROUGH = 0.1
"""Nobody who writes more digits in the end drops so much of a step's largest entry at one place alone."""

_INSIDE = "~"
"""The group of what is written down inside a step."""


@dataclass(frozen=True, eq=False)
class Manners:
    """Many manners of rounding: for each, how, to how many digits, and at which places."""

    mode: Array
    decimals: Array
    figures: Array  # 0 where decimals are meant
    where: Array  # [manner, place]
    lone: Array  # whether that is one place alone, with fewer digits than are written

    def __len__(self) -> int:
        return len(self.mode)

    def at(self, place: int, value: Array) -> Array:
        """The value as each manner rounds it at that place; the manners are its leading axis."""
        if value.dtype.kind != "f" or not self.where[:, place].any():
            return value
        shape = (len(self), *(1,) * (value.ndim - 1))
        decimals = self.decimals.reshape(shape).astype(float)
        with np.errstate(all="ignore"):
            if self.figures.any():
                size = np.where(value == 0, 1, np.abs(value))
                fine = self.figures.reshape(shape) - 1 - np.floor(np.log10(np.where(np.isfinite(size), size, 1)))
                decimals = np.where(self.figures.reshape(shape) > 0, fine, decimals)
            scale = 10.0**decimals
            rounded = _rounded(value * scale, self.mode.reshape(shape)) / scale
        chosen = self.where[:, place].reshape(shape) & np.isfinite(value)
        lone = self.lone.reshape(shape) & chosen
        if lone.any():
            lost = np.subtract(value, rounded, where=lone, out=np.zeros(lone.shape))
            every = tuple(range(1, value.ndim))
            largest, drop = (np.max(np.abs(x), axis=every, keepdims=True, initial=0.0) for x in (value, lost))
            chosen &= ~(lone & (drop > ROUGH * largest))
        return np.where(chosen, rounded, value)


def _rounded(x: Array, mode: Array) -> Array:
    size = np.abs(x)
    up, even, cut = np.floor(size + 0.5 + 1e-9), np.rint(size), np.floor(size + 1e-9)
    return np.copysign(np.where(mode == 0, up, np.where(mode == 1, even, cut)), x)


@dataclass(frozen=True, eq=False)
class Rounded:
    """What a step becomes: a value for each manner of rounding."""

    values: Array  # [manner, …]
    digits: Sequence[tuple[int, int, int]]  # for each manner, the mode, the decimals and the figures
    spared: Sequence[str]  # for each manner, the one step before the last that it does not round, "" where none is
    near: Array  # the values by those manners that keep about as many digits as the answer has

    def culprit(self, manner: int, exact: Array, half: Array) -> str:
        """The one step without whose rounding a manner gives what is exact; "" where it is no single one."""
        alike = [i for i, digits in enumerate(self.digits) if self.spared[i] and digits == self.digits[manner]]
        found = {self.spared[i] for i in alike if (np.abs(self.values[i] - exact) <= half * (1 + 1e-9)).all()}
        return found.pop() if len(found) == 1 else ""


class Spelled:
    """A step, spelled out to the places where a hand may round."""

    def __init__(self, node: Node, known: dict[Node, Node]) -> None:
        self.root = _spelled_out(node, known)
        self.places = [node for node in walk(self.root) if node.op == "step"]

    @cached_property
    def inside(self) -> Array:
        """Which places are no steps of their own."""
        return np.array([place.args["group"] == _INSIDE for place in self.places], dtype=bool)

    def rounded(self, operands: Mapping[str, Array], decimals: int, own: Own | None = None) -> Rounded:
        """The step's value in every manner of rounding to about so many decimals."""
        manners, spared = self._manners(decimals, own or {})
        order = plan([self.root], given=(own or {}).keys(), keep=lambda node: False)
        there = {node: i for i, node in enumerate(self.places)}
        turns = iter([there[node] for node in order.order if node.op == "step"])

        def after_step(value: Array) -> Array:  # evaluate asks for each step in the order of its plan
            place = next(turns)
            node = self.places[place]
            front = value if value.ndim > len(node.axes) else np.broadcast_to(value, (len(manners), *value.shape))
            return manners.at(place, front)

        value = evaluate(order, operands, given=own, after_step=after_step)[self.root]
        value = value.astype(np.float64) if value.dtype.kind == "b" else value  # true and false are 1 and 0 on a sheet
        if value.ndim == len(self.root.axes):
            value = np.broadcast_to(value, (len(manners), *value.shape))
        value = as_parts(value)
        digits = zip(manners.mode.tolist(), manners.decimals.tolist(), manners.figures.tolist(), strict=True)
        near = (manners.figures > 0) | (manners.decimals >= decimals - 1)
        return Rounded(value, list(digits), spared, value if near.all() else value[near])

    def _manners(self, decimals: int, own: Own) -> tuple[Manners, list[str]]:
        """Every usual manner of rounding to about so many decimals, and for each the step that it spares."""
        most = decimals if decimals <= MOST_DECIMALS else FEWER
        fewer = range(most - 1, LEAST_DECIMALS - 1, -1)
        digits = [(most, 0), (most + 1, 0), *((0, f) for f in FIGURES), *((d, 0) for d in fewer)]
        scopes = list(self._scopes(own))
        every = [(mode, *kept, *scope) for kept in digits for mode in range(len(MODES)) for scope in scopes]
        modes, decimals_kept, figures, where, spared = zip(*every, strict=True)
        places, kept = np.array(where), np.array(decimals_kept)
        lone = (places.sum(axis=1) == 1) & (kept > 0) & (kept < most)
        return Manners(np.array(modes), kept, np.array(figures), places, lone), list(spared)

    def _scopes(self, own: Own) -> Iterator[tuple[Array, str]]:
        """Where one may round, and the step that is spared: everywhere, at the steps alone, at all but one, at one."""
        free = np.array([place.key not in own for place in self.places], dtype=bool)
        steps = free & ~self.inside
        last = np.array([place is self.root for place in self.places], dtype=bool)
        yield free, ""
        yield free & ~last, ""
        yield steps, ""
        yield steps & ~last, ""
        each = free if free.sum() <= MOST_PLACES else steps
        if each.sum() <= MOST_PLACES:
            for place in np.flatnonzero(each):
                one = np.arange(len(self.places)) == place
                name = "" if self.inside[place] or last[place] else self.places[place].args["name"]
                yield free & ~one, name
                if not self.inside[place]:
                    yield steps & ~one, name
                yield one, ""


def _spelled_out(root: Node, new: dict[Node, Node]) -> Node:
    """The graph behind a step with a place after everything that one writes down.

    `new` are the nodes of steps that have been spelled out before: the steps of one calculation have most in common.
    """

    def written_down(node: Node) -> Node:
        if node.row.flops == 0 or node.row.no_gradient:  # nothing that is not written down elsewhere
            return node
        return Node("step", node, name="", group=_INSIDE, why="", symbol="", shown=False, of=None)

    def opened(node: Node) -> Node:
        """A primitive by its definition, as far down as it has one."""
        definition = node.row.body or node.row.by_hand
        body = definition(node, *node.sources) if definition else None
        if body is None or body is node:
            return written_down(node)
        known: dict[Node, Node] = {source: source for source in walk(*node.sources)}
        for part in walk(body):
            if part not in known:
                behind = [known[source] for source in part.sources]
                same = behind == [*part.sources]
                copy = part if same else Node(part.op, *behind, axes=part.axes, **part.args)
                known[part] = opened(copy) if part.op != "step" else copy
        return known[body]

    for node in walk(root, into=lambda node: () if node in new else node.sources):
        if node in new:
            continue
        sources = [new[source] for source in node.sources]
        if node.op == "step" and sources[0].op == "step" and sources[0].args["group"] == _INSIDE:
            sources = [*sources[0].sources]  # the step itself is the place where that is written down
        copy = node if sources == [*node.sources] else Node(node.op, *sources, axes=node.axes, **node.args)
        new[node] = copy if node.op == "step" else opened(copy)
    return new[root]
