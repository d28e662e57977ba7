"""The key to a problem: what every step should be, by the right way and by other routes that are as right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.errors import InputError, NotExact
from attncalc.graph import Node, walk
from attncalc.homework.answers import ROUND_OFF, Answer
from attncalc.homework.comparing import LEFT_OVER
from attncalc.homework.complex_numbers import as_parts
from attncalc.homework.excerpts import FEW, LARGE, entries_of, in_blocks, largest
from attncalc.homework.mistakes import known
from attncalc.homework.rounding import Rounded, Spelled
from attncalc.homework.ways import Own, Way, Ways, is_meant
from attncalc.mistake import Mistake, StepKey
from attncalc.plan import is_given
from attncalc.problem import Problem, is_large, solve
from attncalc.text import listed, near, quoted
from attncalc.trace import Given
from attncalc.writing import write

MOST_LISTED = 12
MUCH_NEARER = 0.1
"""What is wrong both ways may by chance lie nearer to the one than to the other, but hardly by so much."""


def spelled(key: StepKey) -> str:
    """How a step is asked for: `GROUP/NAME`, or the bare name at the top."""
    return "/".join(part for part in key if part)


class Key:
    """What a problem's steps should be, and the wrong ways that are known of it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = _in_floats(problem)
        written = write(self.problem)
        if written.loop is None and is_large(written):
            from attncalc.large import run as large  # few problems are

            large.must_fit_for_checking(written, problem.name)
        self.ways = Ways(self.problem, written)
        self.dropped, self.axes = written.bound.dropped, written.bound.axes
        self.nodes = dict(sorted(self.ways.right.steps.items(), key=lambda item: item[1].serial))
        self.separated: dict[tuple[StepKey, tuple[tuple[str, ...], ...]], dict[str, Any] | None] = {}
        self._spelled: dict[Node, Spelled] = {}
        self._written_down: dict[Node, Node] = {}
        self._sizes: dict[Node, int] = {}
        self._large: dict[Node, Array] = {}
        self._rounded: dict[tuple[Node, int], Rounded] = {}
        self._by_name = {spelled(key): key for key in self.nodes}
        self.result = self.ways.result
        self.steps = [key for key, node in self.nodes.items() if node.args["shown"] or key == self.result]
        self._must_have_an_answer()

    def _must_have_an_answer(self) -> None:
        """Refuse a problem in which something overflows that the result uses, in the words of whoever works it out."""
        small = [node.sources[0] for node in self.nodes.values() if not self._is_large(node.sources[0])]
        if any(np.isposinf(value).any() or np.isnan(value).any() for value in self._numbers(small)):
            solve(self.problem)

    def _numbers(self, expressions: Sequence[Node]) -> Iterator[Array]:
        """The values of those that are real numbers."""
        return (value for value in self.ways.values(expressions).values() if value.dtype.kind == "f")

    @cached_property
    def known(self) -> tuple[Mistake, ...]:
        """The mistakes that are known of the calculation, and its other right routes."""
        return known(self.problem.calculation.name)

    @cached_property
    def large(self) -> bool:
        """Whether the result takes so much to be worked out that it is not done for every way there is."""
        return largest(self.nodes[self.result]) > LARGE

    @cached_property
    def size(self) -> float:
        """The largest number that goes in."""
        numbers = [value[np.isfinite(value)] for value in self.ways.operands.values() if value.dtype.kind == "f"]
        return max((float(np.max(np.abs(entries), initial=0.0)) for entries in numbers), default=0.0)

    @cached_property
    def mistakes(self) -> list[tuple[Mistake, Way]]:
        """The mistakes that apply, on the right way and on other routes, but for the ones that are another's alias."""
        wrong = [m for m in self.known if m.kind != "route" and not m.alias_of]
        found = [(m, way) for m in wrong if (way := self.ways.way(m)) is not None]
        direct = dict(found)
        other = [
            (m, way)
            for route in (m for way in self.routes for m in way.mistakes)
            for m in direct
            if (way := self.ways.way(route, m)) is not None
        ]
        pairs = [self._written(way, direct[m], m) for m, way in other]
        self.values([node for nodes in pairs for pair in nodes for node in pair])  # at once, which is faster
        return found + [one for one, nodes in zip(other, pairs, strict=True) if self._differ(nodes)]

    def _written(self, way: Way, other: Way, mistake: Mistake) -> list[tuple[Node, Node]]:
        """The steps that a mistake writes, on one route and on another."""
        meant = [step for step in way.steps if is_meant(step, mistake.at) and step in other.steps]
        return [(way.steps[step], other.steps[step]) for step in meant]

    def _differ(self, steps: Iterable[tuple[Node, Node]]) -> bool:
        """Whether two steps, of any of these, have other numbers."""
        pairs = [self.values(pair) for pair in steps]
        return any(not np.allclose(a, b, equal_nan=True) for a, b in pairs if a.shape == b.shape)

    @cached_property
    def routes(self) -> list[Way]:
        """The right way, and the other ones that are as right: with these operands they lead to the same result.

        A route that writes the result itself in another way says by that what else counts as one.
        """
        if self.large:
            return [self.ways.right]
        found = [self.ways.way(m) for m in self.known if m.kind == "route"]
        right = self.value(self.result)
        return [self.ways.right, *(way for way in found if way is not None and self._leads_to(right, way))]

    def _leads_to(self, right: Array | None, way: Way) -> bool:
        if any(is_meant(self.result, mistake.at) for mistake in way.mistakes):
            return True
        value = self.value(self.result, way)
        if value is None or right is None or value.shape != right.shape:
            return False
        return bool(np.allclose(value, right, rtol=ROUND_OFF, atol=LEFT_OVER * self.size, equal_nan=True))

    def taken(self, own: Own | None) -> list[tuple[Mistake, ...]]:
        """The routes that somebody may have gone, of which one may go on from their own steps; () is the usual one.

        Where routes have other numbers, theirs are the ones of this route; nobody goes on in one from those of another.
        Numbers that are wrong on every route tell of none.
        """
        if not own or len(self.routes) == 1:
            return [way.mistakes for way in self.routes]
        return [
            way.mistakes
            for way in self.routes
            if not any(
                _much_nearer(as_parts(given), self.value(key, other), self.value(key, way))
                for other in self.routes
                if other is not way
                for key, given in own.items()
            )
        ]

    @cached_property
    def pairs(self) -> dict[tuple[int, int], Way | None]:
        """The ways that two mistakes make together, as far as they were asked for."""
        return {}

    def pair(self, i: int, j: int) -> Way | None:
        """The way that the i-th and the j-th mistake make together; two that write one step are no pair."""
        if (i, j) not in self.pairs:
            (a, first), (b, second) = self.mistakes[i], self.mistakes[j]
            clash = a.id == b.id or set(a.at) & set(b.at) or (a.options and b.options)
            way = None if clash else self.ways.way(a, b)
            single = way is not None and way.steps in (first.steps, second.steps)
            self.pairs[i, j] = None if single else way
        return self.pairs[i, j]

    def value(self, key: StepKey, way: Way | None = None, own: Own | None = None) -> Array | None:
        """What a step should be: from the true operands, or as it follows from own values of steps before it.

        A complex step has a last axis of two, the real and the imaginary part; one that is told in words has no value.
        """
        node = (way or self.ways.right).steps.get(key)
        if node is None:
            return None
        expression = node.sources[0]
        if not own and self._is_large(expression):
            value = self._in_blocks(expression)
        else:
            value = self.ways.values([expression], own)[expression]
        return as_parts(value).astype(np.float64) if value.dtype.kind in "biufc" else None

    def true(self, keys: Iterable[StepKey]) -> Own:
        """The values that steps have with the true operands; of large ones none."""
        few = {key: self.nodes[key].sources[0] for key in keys if not self._is_large(self.nodes[key].sources[0])}
        values = self.ways.values([*few.values()])
        return {key: values[expression] for key, expression in few.items()}

    def foresee(self, keys: Iterable[StepKey]) -> None:
        """Work out what these steps should be, together: one by one, each would begin with the operands anew."""
        expressions = [self.nodes[key].sources[0] for key in keys]
        self.ways.values([expression for expression in expressions if not self._is_large(expression)])

    def has_few(self, key: StepKey) -> bool:
        """Whether a step and those behind it are small enough for everything to be tried that may explain it."""
        return self._largest(self.nodes[key].sources[0]) <= FEW

    def _is_large(self, expression: Node) -> bool:
        return self._largest(expression) > LARGE

    def _largest(self, expression: Node) -> int:
        """The number of entries of the largest value behind an expression."""
        sizes = self._sizes
        for node in walk(expression, into=lambda node: () if node in sizes else node.sources):
            sizes[node] = max(entries_of(node), *(sizes[source] for source in node.sources), 0)
        return sizes[expression]

    def _in_blocks(self, expression: Node) -> Array:
        if expression not in self._large:
            parts = list(in_blocks(expression, self.ways.operands))
            whole = np.concatenate([value for _, value in parts], axis=-2) if parts else None
            self._large[expression] = self.ways.values([expression])[expression] if whole is None else whole
        return self._large[expression]

    def values(self, nodes: Iterable[Node], own: Own | None = None) -> list[Array]:
        """The values of steps' expressions."""
        expressions = [node.sources[0] for node in nodes]
        found = self.ways.values(expressions, own)
        return [as_parts(found[node]).astype(np.float64, copy=False) for node in expressions]

    def rounded(self, node: Node, decimals: int, own: Own | None = None) -> Rounded:
        """What a step becomes by rounding on the way to it, to about so many decimals."""
        if node not in self._spelled:
            self._spelled[node] = Spelled(node, self._written_down)
        own = self.ways.fitting(own, node) if own else None
        if own:
            return self._spelled[node].rounded(self.ways.operands, decimals, own)
        if (node, decimals) not in self._rounded:
            self._rounded[node, decimals] = self._spelled[node].rounded(self.ways.operands, decimals)
        return self._rounded[node, decimals]

    def used(self, key: StepKey, own: Own) -> list[StepKey]:
        """The steps with own values that a step is made of."""
        behind = walk(self.nodes[key].sources[0], into=lambda node: () if is_given(node, own) else node.sources)
        return [node.key for node in behind if is_given(node, own)]

    def find(self, name: str) -> StepKey:
        """The step of that name, `GROUP/NAME` or bare; "" and `result` are the result."""
        found = self.named(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{quoted(name)} occurs in several groups: {listed(map(spelled, found), MOST_LISTED)}")
        raise InputError(f"{self.problem.name} has no step {quoted(name)}", hint=self.near(name) or self.has)

    @property
    def has(self) -> str:
        """Which steps there are: `it has scores, scaled, weights, output`."""
        return f"it has {listed(map(spelled, self.steps), MOST_LISTED)}"

    def named(self, name: str) -> list[StepKey]:
        """The steps that a name may mean: one, none, or those of several groups."""
        if name in self._by_name:
            return [self._by_name[name]]
        if name in ("", "result"):
            return [self.result]
        return [key for key in self.nodes if key[1] == name or spelled(key).casefold() == name.casefold()]

    def near(self, name: str) -> str:
        """Which steps may have been meant by a name that none has; "" where none is near."""
        return near(name, map(spelled, self.steps))

    def read(self, answer: Answer, key: StepKey) -> Answer:
        """The answer in numbers; raises InputError for words where the step has none."""
        if answer.wordy is None:
            return answer
        if key in self.perhaps_complex and answer.in_parts().wordy is None:
            return answer
        words, value = self.words.get(key), self.value(key)
        if words is None or value is None or words.size != answer.value.size:
            raise answer.wordy
        return answer.of_words(*(np.reshape(part, answer.shape) for part in (words, value)))

    @cached_property
    def perhaps_complex(self) -> frozenset[StepKey]:
        """The steps that may be complex, and those that are made of them."""
        first = {node for node in self.nodes.values() if node.sources[0].row.complex}
        return frozenset(key for key, node in self.nodes.items() if first and not first.isdisjoint(walk(node)))

    @cached_property
    def complex(self) -> frozenset[StepKey]:
        """The steps that are complex with these operands."""
        values = self.ways.values([self.nodes[key].sources[0] for key in self.perhaps_complex])
        return frozenset(key for key in self.perhaps_complex if values[self.nodes[key].sources[0]].dtype.kind == "c")

    @cached_property
    def words(self) -> dict[StepKey, Array]:
        """What is told in words: `memory` rather than 0."""
        found = solve(self.problem).steps if self.problem.calculation.finish else ()
        return {
            (step.group, step.name): step.value
            for step in found
            if step.value is not None and step.value.dtype.kind == "U"
        }


def _much_nearer(given: Array, value: Array | None, other: Array | None) -> bool:
    """Whether what is given is a value, but for rounding on the way, and not another one."""
    if value is None or other is None or not value.shape == other.shape == given.shape:
        return False
    with np.errstate(invalid="ignore"):
        off, far = (float(np.max(np.nan_to_num(np.abs(given - x), nan=0.0), initial=0.0)) for x in (value, other))
    return off < MUCH_NEARER * far - LEFT_OVER


def _in_floats(problem: Problem) -> Problem:
    """The problem with exact operands as 64-bit numbers."""
    return problem._replace(inputs={name: _floats(name, given) for name, given in problem.inputs.items()})


def _floats(name: str, given: Given) -> Given:
    if given.value.dtype != object or any(isinstance(entry, str) for entry in given.value.flat):
        return given
    try:
        return given._replace(value=given.value.astype(np.float64))
    except (TypeError, ValueError):
        raise NotExact(f"{name} holds letters, and an answer is checked against numbers") from None
