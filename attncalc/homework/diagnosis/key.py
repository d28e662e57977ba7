"""The key holds what a problem's steps should be, by usual and alternative rules, and what mistakes make of them.

A question is one step that is to be judged, with the own values of its writer.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np

from attncalc.calculations import TABLE, WHOLE
from attncalc.common.errors import DomainError, NotExact
from attncalc.common.numerals import NARROW, Array
from attncalc.common.system import NamedTuple, loaded
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.evaluate.values import at_places, evaluate, evaluate_one, is_given, needed, plan, portion
from attncalc.homework.diagnosis.comparing import LEFT_OVER, Digits, Rounded, Spelled, Taken, largest, taken
from attncalc.homework.diagnosis.solutions import (
    Gap,
    Own,
    Solution,
    Solutions,
    enclosing_layer,
    is_meant,
    is_outside,
    writes,
)
from attncalc.homework.reading.answers import ROUND_OFF, Answer, as_floats, as_parts
from attncalc.homework.reading.sheets import MOST_BYTES, StepNames
from attncalc.language.graph import Node, walk, walk_to
from attncalc.record.trace import NOTHING, Given, remarked
from attncalc.solve.leftovers import Leftovers
from attncalc.solve.problem import Problem, is_large
from attncalc.solve.solver import solve, write


def known(calculation: str) -> tuple[Mistake, ...]:
    """The mistakes of a calculation, and the alternatives to its rules, from the file of its family."""
    module = f"attncalc.mistakes.{(TABLE | WHOLE)[calculation][0]}"
    if find_spec(module) is None:
        return ()
    found: tuple[Mistake, ...] = import_module(module).MISTAKES.get(calculation, ())
    return found


# An excerpt is a large step at some of its places, worked out without the others wherever nothing mixes them.
#
# So a dump of millions of numbers is judged in seconds: every mistake is tried at a few places, and those that fit are
# worked out in blocks of rows and compared with the whole. A dump that nothing explains takes no longer. The memory
# taken is that of a few blocks, and a mistake that needs a larger value as a whole is not tried.


LARGE = 2**20
"""If a step, or a value behind it, has more entries, it is not worked out for every mistake."""
FEW = 2**14
"""The most entries for which everything is tried: rounding in every manner, and two mistakes at once."""
BLOCK = 2**20
"""A mistake is not tried if one of its values has more entries at the chosen places."""
AT_ONCE = 2**18
"""About how many entries are worked out at a time."""

Whole = dict[Node, Array]
"""Whole values that several excerpts need."""


def entries_of(node: Node) -> int:
    """The number of entries of a node's value; 0 for positions, which are one row repeated."""
    return 0 if node.op == "index" else prod(node.shape)


def most_entries(node: Node, known: dict[Node, int] | None = None) -> int:
    """The number of entries of the largest value behind a node; `known` holds such numbers that were found before."""
    found = {} if known is None else known
    for each in walk_to(found.__contains__, node):
        found[each] = max(entries_of(each), *(found[source] for source in each.sources), 0)
    return found[node]


def rows(node: Node) -> str | None:
    """The axis along which the rows of a step lie, None where it has no rows."""
    return node.names[-2] if len(node.axes) > 1 else None


def excerpt(
    node: Node,
    operands: Mapping[str, Array],
    chosen: Mapping[str, Array],
    own: Own = NOTHING,
    whole: Whole | None = None,
    shared: Container[Node] = (),
    *,
    careful: bool = True,
) -> Array | None:
    """A node's value at some places of its axes; None where that needs a large value as a whole.

    A value without those axes, such as a sum over everything, is worked out as a whole, and kept in `whole` if it is
    `shared` by other nodes. If it is `careful`, digits lost in sums are looked for.
    """
    whole = {} if whole is None else whole
    places = {axis: chosen[axis.name].tolist() for axis in node.axes if axis.name in chosen}
    sizes = {axis: len(at) for axis, at in places.items()}

    def ends(made: Node) -> bool:
        if made in whole or is_given(made, own):
            return True
        kept = made in shared and bool(made.sources) and chosen.keys().isdisjoint(made.names)
        return kept and made is not node and most_entries(made) <= LARGE

    part = portion([node], sizes, known=ends)
    inner = [made for made, _ in part.taken.values() if made.sources and not is_given(made, own)]
    if any(most_entries(made) > LARGE for made in inner) or most_entries(part.roots[0]) > BLOCK:
        return None
    new = [made for made, _ in part.taken.values() if made not in whole]
    found = evaluate(new, operands, given=own, keep=lambda made: False, careful=careful)
    whole |= {made: value for made, value in found.items() if made in shared}
    found = {made: found[made] if made in found else whole[made] for made, _ in part.taken.values()}
    inputs = {
        name: at_places(found[made], made.axes, {axis: places[axis] for axis in cut})
        for name, (made, cut) in part.taken.items()
    }
    return evaluate_one(part.roots[0], inputs, careful=careful)


def in_blocks(node: Node, operands: Mapping[str, Array], own: Own = NOTHING) -> Iterator[tuple[Any, Array]]:
    """A large value in blocks of rows, each with its place in the whole; none if it cannot be worked out in blocks."""
    axis = rows(node)
    if axis is None:
        return
    size = node.axes[-2].size
    step = max(1, AT_ONCE * size // max(most_entries(node), 1))
    whole: Whole = {}
    behind = set(walk(node))
    for start in range(0, size, step):
        end = min(start + step, size)
        value = excerpt(node, operands, {axis: np.arange(start, end)}, own, whole, behind)
        if value is None:
            return
        yield (..., slice(start, end), slice(None)), value


MOST_MOVED = 200
"""The most own values that are moved one by one."""
LONGEST_NUMBER = 64
"""Bytes that a number takes, with what stands around it, where every number of a problem is written out."""
MUCH_NEARER = 0.1
"""By chance a number that is wrong by both of two rules may lie nearer to one of them, but hardly by this factor."""


class Key:
    """What a problem's steps should be, and the wrong solutions that are known of it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem._replace(inputs={name: _floats(name, given) for name, given in problem.inputs.items()})
        written = write(self.problem)
        if written.loop is None and is_large(written):
            from attncalc.solve import large  # a door: few problems are

            large.must_fit_for_checking(written, problem.name)
        self.solutions = Solutions(self.problem, written)
        self.dropped, self.axes, self.broadcast = written.bound.dropped, written.bound.axes, written.bound.broadcast
        self.nodes = dict(sorted(self.solutions.right.steps.items(), key=lambda item: item[1].serial))
        self.result = self.solutions.result
        self.labels, self.remarks = written.labels, remarked(written.inputs)
        self.steps = [step for step, node in self.nodes.items() if node.args["shown"] or step == self.result]
        shapes = {step: node.shape for step, node in self.nodes.items()}
        stored = any(given.is_stored for given in problem.inputs.values())
        modules = loaded("homework.reading.modules:by_module")(problem.inputs, shapes) if stored else None
        self.names = StepNames(problem.name, shapes, self.steps, self.result, modules)
        self.separated: dict[tuple[StepKey, tuple[tuple[str, ...], ...]], dict[str, Any] | None] = {}
        self._pairs: dict[tuple[int, int], Solution | None] = {}
        self._spelled: dict[Node, Spelled] = {}
        self._written_down: dict[Node, Node] = {}
        self._taken: dict[tuple[Node, frozenset[StepKey]], list[Taken]] = {}
        self._rounded: dict[tuple[Node, Digits], Rounded] = {}
        self._sizes: dict[Node, int] = {}
        self._large: dict[Node, Array] = {}
        self._slack: dict[tuple[StepKey, str], Array] = {}
        self._terms: dict[StepKey, float] = {}
        self._moved: dict[StepKey, bool] = {}
        self._begin: dict[tuple[Mistake, ...], int] = {}
        self._behind: tuple[Own, list[tuple[Mistake, ...]]] = {}, []
        self._must_have_an_answer()

    def _must_have_an_answer(self) -> None:
        """Let the solver refuse a problem in which something overflows that the result uses."""
        few = [node.sources[0] for step, node in self.nodes.items() if self.is_small(step)]
        small = [node for step, node in self.nodes.items() if not self.is_small(step) and not self._is_large(node)]
        if any(map(_overflows, self.solutions.values(few).values())) or (small and self._overflow_among(small)):
            solve(self.problem)

    def _overflow_among(self, nodes: Sequence[Node]) -> bool:
        """Whether one of these steps overflows, or one behind them; no value is kept."""
        found = []

        def look(value: Array) -> Array:
            found.append(_overflows(value))
            return value

        used = {source for node in walk(*nodes) for source in node.sources}
        last = [node for node in nodes if node not in used]
        evaluate(last, self.solutions.operands, after_step=look, keep=lambda node: False)
        return any(found)

    @property
    def of_model(self) -> bool:
        """Whether the problem is a model as it is stored, which nobody works out as homework."""
        return self.problem.calculation.name in WHOLE

    # What is right, and what is wrong

    @cached_property
    def known(self) -> tuple[Mistake, ...]:
        """The rules that are known beside the calculation's own: mistakes and alternatives."""
        return known(self.problem.calculation.name)

    @cached_property
    def right(self) -> list[Solution]:
        """The usual solution, and those by an alternative rule that lead to the same result with these operands.

        An alternative that writes the result itself is right whatever result it gives.
        """
        usual = self.solutions.right
        if self.large:
            return [usual]
        others = [self.solutions.by(rule) for rule in self.known if rule.kind == "alternative"]
        return [usual, *(other for other in others if other is not None and self._leads_to_the_result(other))]

    @property
    def alternatives(self) -> list[Mistake]:
        """The alternative rules by which solutions are right."""
        return [rule for solution in self.right for rule in solution.rules]

    def _leads_to_the_result(self, solution: Solution) -> bool:
        if writes(solution.rules, [self.result]):
            return True
        if sum(map(entries_of, self.nodes.values())) <= LARGE:  # else they are too many to be kept
            self.foresee(self.steps, solution)  # a wrong step is compared with all of these
        value, right = self.value(self.result, solution), self.value(self.result)
        if value is None or right is None or value.shape != right.shape:
            return False
        return bool(np.allclose(value, right, rtol=ROUND_OFF, atol=LEFT_OVER * self.largest_operand, equal_nan=True))

    @cached_property
    def wrong(self) -> list[Solution]:
        """The solutions with one mistake, in the usual rules or in an alternative; aliases of mistakes are left out.

        One in an alternative is listed only if the mistake gives other numbers there than in the usual rules.
        """
        mistakes = [rule for rule in self.known if rule.kind != "alternative" and not rule.alias_of]
        usual = [found for mistake in mistakes if (found := self.solutions.by(mistake)) is not None]
        if not self.is_small(self.result):
            return usual
        both = [
            (solution, found)
            for rule in self.alternatives
            for solution in usual
            if solution.mistakes[0].at and (found := self.solutions.by(rule, *solution.rules)) is not None
        ]
        pairs = [self._written_by_mistakes(solution, found) for solution, found in both]
        self.values([node for steps in pairs for pair in steps for node in pair])  # at once, which is faster
        return usual + [found for (_, found), steps in zip(both, pairs, strict=True) if self._differ(steps)]

    def _written_by_mistakes(self, solution: Solution, other: Solution) -> list[tuple[Node, Node]]:
        """The steps that a solution's mistakes change, in another one and in it; of like layers, only the first."""
        at = tuple(word for mistake in solution.mistakes for word in mistake.at)
        found: dict[StepKey, tuple[Node, Node]] = {}
        for step, right in self.nodes.items():
            alike = re.sub(r"layer \d+", "layer", step[0]), step[1]
            if alike not in found and is_meant(step, at):
                changed, there = solution.steps.get(step), other.steps.get(step)
                if changed is not None and there is not None and changed is not right:
                    found[alike] = there, changed
        return [*found.values()]

    def _differ(self, steps: Iterable[tuple[Node, Node]]) -> bool:
        """Whether the two steps of any pair have different numbers."""
        pairs = [self.values(pair) for pair in steps]
        return any(not np.allclose(a, b, equal_nan=True) for a, b in pairs if a.shape == b.shape)

    def wrong_twice(self, i: int, j: int, gap: Gap | None = None) -> Solution | None:
        """The solution with the mistakes of the i-th and the j-th wrong one; None if both change one step or option.

        With a gap, it has only the step at the end of that.
        """
        if gap or (i, j) not in self._pairs:
            first, second = self.wrong[i], self.wrong[j]
            [a], [b] = first.mistakes, second.mistakes
            clash = a.id == b.id or set(a.at) & set(b.at) or self.solutions.changed(a) & self.solutions.changed(b)
            if gap:
                return None if clash else self.solutions.by_two(first, second, gap)
            found = None if clash else self.solutions.by(a, b)
            single = found is not None and found.steps in (first.steps, second.steps)
            self._pairs[i, j] = None if single else found
        return self._pairs[i, j]

    def begins(self, mistakes: tuple[Mistake, ...]) -> int:
        """The index of the first step that mistakes write; a mistake that begins later spoils fewer steps."""
        if mistakes not in self._begin:
            places = (i for i, step in enumerate(self.nodes) if writes(mistakes, [step]))
            self._begin[mistakes] = next(places, -1)
        return self._begin[mistakes]

    def alternatives_behind(self, own: Own | None) -> list[tuple[Mistake, ...]]:
        """The alternatives by which somebody may have got their own values; () stands for the usual rules.

        A solution is left out if an own value is much nearer to another one, since nobody changes rules on the way.
        Numbers that are wrong by every rule leave out none.
        """
        if not own or len(self.right) == 1:
            return [solution.rules for solution in self.right]
        if self._behind[0] is not own:  # the same are asked for again and again
            self._behind = own, [s.rules for s in self.right if not self._speaks_for_another(own, s)]
        return self._behind[1]

    def _speaks_for_another(self, own: Own, solution: Solution) -> bool:
        others = [other for other in self.right if other is not solution]
        return any(
            _much_nearer(as_parts(given), self.value(step, other), self.value(step, solution))
            for other in others
            for step, given in own.items()
        )

    # Values

    def slack(self, step: StepKey, stored: str) -> Array | None:
        """How far a step may be off if it was worked out in a type of fewer digits; None for others, and large steps.

        The step is worked out a few times with operands and every step rounded to the type. So is measured how far the
        entries of a row go astray, beside rows of its size.
        """
        node, right = self.nodes[step], self.value(step)
        from attncalc.homework.reading.stored_types import TIMES, allowed  # a door: few answers are dumps

        if stored not in (*NARROW, "float32") or right is None or self._is_large(node) or step in self.complex:
            return None
        if (step, stored) not in self._slack:
            self._slack[step, stored] = allowed(right, self.worked_out_in(step, stored, TIMES), stored)
        return self._slack[step, stored]

    def worked_out_in(self, step: StepKey, stored: str, times: int, own: Own | None = None) -> Iterator[Array]:
        """A step worked out several times in a narrow type, with random rounding; own values stay as they are."""
        for i in range(times):
            yield self._worked_out_in(self.nodes[step].sources[0], stored, np.random.default_rng(i), own)

    def _worked_out_in(self, root: Node, stored: str, by_chance: np.random.Generator, own: Own | None) -> Array:
        """A value worked out in a narrow type, but for what depends on positions alone, which is worked out in full.

        A number beyond the type's range stays as it is, since losing it is no noise.
        """
        from attncalc.evaluate.precisions import held  # a door: few answers are dumps

        operands = self.solutions.operands
        rounded = {name for name, x in operands.items() if x.dtype.kind == "f" and not np.array_equal(x, np.rint(x))}
        own = self.solutions.usable(own, root)
        order = plan([root], given=own.keys(), keep=lambda node: False)
        moved: set[Node] = set()
        for node in order.order:
            if is_given(node, own) or any(
                s in moved or (s.op == "input" and s.args["name"] in rounded) for s in node.sources
            ):
                moved.add(node)
        turns = iter([node for node in order.order if node.op == "step"])

        def near(value: Array) -> Array:
            found = held(value, stored, by_chance)
            return np.where(np.isfinite(found), found, value)

        def after_step(value: Array) -> Array:  # evaluate asks for each step in the order of its plan
            return near(value) if next(turns) in moved else value

        inputs = {name: near(x) if name in rounded else x for name, x in operands.items()}
        return as_floats(evaluate(order, inputs, given=own, after_step=after_step)[root])

    def value(self, step: StepKey, solution: Solution | None = None, own: Own | None = None) -> Array | None:
        """What a step should be: from the true operands, or as it follows from own values of steps before it.

        A complex step has a last axis of two, the real and the imaginary part; one that is told in words has no value.
        It may not be written over: others get the same array.
        """
        node = (solution or self.solutions.right).steps.get(step)
        if node is None:
            return None
        expression = node.sources[0]
        if not own and self._is_large(expression):
            value = self._in_blocks(expression)
        else:
            value = self.solutions.values([expression], own)[expression]
        if value.dtype.kind not in "biufc":
            return None
        found = as_floats(value)[...]
        found.flags.writeable = False
        return found

    def values(self, nodes: Iterable[Node], own: Own | None = None) -> list[Array]:
        """The values of steps' expressions."""
        expressions = [node.sources[0] for node in nodes]
        found = self.solutions.values(expressions, own)
        return [as_floats(found[node]) for node in expressions]

    def written_out(self, step: StepKey, made: Node, value: Array, shape: tuple[int, ...]) -> Array:
        """What a mistake makes of a step, written in that shape: a mean of all rows may be repeated in each."""
        right = self.nodes[step]
        kept = tuple(axis for axis in right.axes if axis in made.axes)
        if value.shape == shape or shape != right.shape or made.axes != kept or value.shape != made.shape:
            return value
        return np.broadcast_to(value.reshape([axis.size if axis in kept else 1 for axis in right.axes]), shape)

    def foresee(self, steps: Iterable[StepKey], solution: Solution | None = None) -> Own:
        """What steps should be, without large ones: all are worked out together, which is faster than one by one."""
        nodes = self.nodes if solution is None else solution.steps
        every = {step: nodes[step].sources[0] for step in steps if step in nodes}
        small = {step: expression for step, expression in every.items() if not self._is_large(expression)}
        values = self.solutions.values([*small.values()])
        return {step: values[expression] for step, expression in small.items()}

    def rounded(self, node: Node, kept: Digits, own: Own | None = None) -> Rounded:
        """What a step becomes if numbers are rounded to so many digits on the way to it."""
        spelled = self._spelled_out(node)
        if own := self.solutions.usable(own, node):
            return spelled.rounded(self.solutions.operands, kept, own)
        if (node, kept) not in self._rounded:
            self._rounded[node, kept] = spelled.rounded(self.solutions.operands, kept)
        return self._rounded[node, kept]

    def taken(self, node: Node, own: Own) -> list[Taken]:
        """What a step becomes if constants are taken to few decimals; own steps stay as they are."""
        place = node, frozenset(own)
        if place not in self._taken:
            self._taken[place] = [*taken(self._spelled_out(node).root, own)]
        return self._taken[place]

    def _spelled_out(self, node: Node) -> Spelled:
        if node not in self._spelled:
            self._spelled[node] = Spelled(node, self._written_down)
        return self._spelled[node]

    def own_behind(self, step: StepKey, own: Own) -> dict[StepKey, Array]:
        """The own values that a step is made of, by the usual rules or by an alternative."""
        written = [solution.steps[step].sources[0] for solution in self.right if step in solution.steps]
        return {node.key: own[node.key] for node in needed(*written, given=own) if is_given(node, own)}

    def given_to(self, step: StepKey) -> Own:
        """The right values that the layer of a step gets from earlier layers; empty where there are none."""
        layer = enclosing_layer(step[0])
        met = walk_to(partial(is_outside, layer=layer), self.nodes[step])
        given = [node.key for node in met if is_outside(node, layer)]
        return self.foresee(given) if layer and any(enclosing_layer(group) for group, _ in given) else {}

    def most_moved(self, node: Node, own: Own, off: Mapping[StepKey, Array]) -> Array | None:
        """About how far a step can move if own values are off by so much; None if there are too many of them.

        Each own value is moved by itself, all in one evaluation along a leading axis; at its first place none moves.
        """
        own = self.solutions.usable(own, node)
        count = sum(value.size for value in own.values())
        if not 0 < count <= MOST_MOVED:
            return None
        stacked = {step: np.repeat(value[None], count + 1, axis=0) for step, value in own.items()}
        places = [(step, at) for step, value in own.items() for at in np.ndindex(value.shape)]
        for number, (step, at) in enumerate(places, 1):
            stacked[step][(number, *at)] += off[step][at]
        found = evaluate_one(node.sources[0], self.solutions.operands, given=stacked, careful=False)
        if found.shape != (count + 1, *node.shape):
            return None
        if found.dtype.kind == "b":  # true and false are 1 and 0 on a sheet
            found = found.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nan_to_num(np.abs(found[1:] - found[0]), nan=0.0).sum(axis=0))

    # Sizes

    @cached_property
    def large(self) -> bool:
        """Whether the result is too large to be worked out by every known rule."""
        return self._is_large(self.nodes[self.result])

    @cached_property
    def largest_operand(self) -> float:
        """The largest number that goes in."""
        operands = self.solutions.operands.values()
        return max((largest(value) for value in operands if value.dtype.kind == "f"), default=0.0)

    @cached_property
    def room(self) -> int:
        """The bytes that the one answer may have: a sheet's, or what all numbers of a large problem take."""
        inside = sum(prod(node.shape) for node in self.nodes.values())
        given = sum(value.size for value in self.solutions.operands.values())
        return max(MOST_BYTES, LONGEST_NUMBER * (inside + given))

    @cached_property
    def shifted(self) -> StepKey | None:
        """The step in which a softmax subtracts the maximum, where any other number would do."""
        rules = [rule for rule in self.known if rule.any_shift]
        return next((step for step in self.nodes if rules and writes(rules, [step])), None)

    def is_moved_by_a_shift(self, step: StepKey) -> bool:
        """Whether a step becomes e times as large if the shifted scores grow by 1, as their exponentials do."""
        if step not in self._moved:
            right, moved = self.value(step), None
            if self.shifted is not None and (scores := self.value(self.shifted)) is not None:
                moved = self.value(step, own={self.shifted: scores + 1})
            is_moved = right is not None and moved is not None and np.allclose(moved, right * np.e, atol=0)
            self._moved[step] = bool(is_moved)
        return self._moved[step]

    def size_of_terms(self, step: StepKey) -> float:
        """How large the terms are whose sums are the entries of a small step.

        Where terms cancel, one way of computing may leave an exact 0, which tells nothing of them, and another not.
        """
        if step not in self._terms:
            self._terms[step] = max(found.size_of_terms(self.nodes[step]) for found in self._left_over)
        return self._terms[step]

    @cached_property
    def _left_over(self) -> Sequence[Leftovers]:
        """What rounding leaves over in all small steps: once with digits lost in sums, once with these recovered."""
        small, operands = [self.nodes[step] for step in self.nodes if self.is_small(step)], self.solutions.operands
        return [Leftovers(evaluate(small, operands, careful=careful), operands) for careful in (False, True)]

    def is_small(self, step: StepKey) -> bool:
        """Whether a step and the values behind it are small enough to try everything that may explain it."""
        return self.size_behind(step) <= FEW

    def size_behind(self, step: StepKey) -> int:
        """The number of entries of the largest value behind a step."""
        return self._most_entries(self.nodes[step].sources[0])

    @cached_property
    def shared(self) -> frozenset[Node]:
        """The nodes of the usual solution, which others share."""
        return frozenset(walk(*self.nodes.values()))

    def excerpts(self, nodes: Sequence[Node], chosen: Mapping[str, Array], own: Own | None) -> Iterator[Array | None]:
        """The nodes' values at some places of their axes, one after the other; None where `excerpt` has none.

        Small values that are wanted as a whole are worked out many at a time, and what these share only once.
        """
        whole: Whole = {}
        if chosen or any(self._is_large(node) for node in nodes):
            for node in nodes:
                behind, found = self.solutions.usable(own, node), None
                with suppress(DomainError):
                    found = excerpt(node, self.solutions.operands, chosen, behind, whole, self.shared, careful=False)
                yield None if found is None else as_parts(found)
            return
        number = max(1, AT_ONCE // max(map(self._most_entries, nodes), default=1))
        for start in range(0, len(nodes), number):
            some = nodes[start : start + number]
            values = self.solutions.values_once(some, own)
            yield from (as_parts(values[node]) for node in some)

    def in_blocks(self, node: Node, own: Own | None) -> Iterator[tuple[Any, Array]]:
        """A node's value, in blocks of rows unless it is small; each block with its place in the whole."""
        own = self.solutions.usable(own, node)
        if self._most_entries(node) > FEW and rows(node) is not None:
            yield from in_blocks(node, self.solutions.operands, own)
            return
        yield ..., as_parts(self.solutions.values([node], own)[node])

    def _is_large(self, expression: Node) -> bool:
        return self._most_entries(expression) > LARGE

    def _most_entries(self, expression: Node) -> int:
        return most_entries(expression, self._sizes)

    def _in_blocks(self, expression: Node) -> Array:
        if expression not in self._large:
            parts = [value for _, value in in_blocks(expression, self.solutions.operands)]
            whole = np.concatenate(parts, axis=-2) if parts else self.solutions.values([expression])[expression]
            self._large[expression] = whole
        return self._large[expression]

    # Numbers and words

    def in_numbers(self, answer: Answer, step: StepKey) -> Answer:
        """The answer in numbers; raises InputError for words where the step has none, or where they are no labels."""
        if answer.labels is not None and answer.labels[0] == prod(self.nodes[step].shape):
            raise answer.labels[1]
        if answer.wordy is None:
            return answer
        if not answer.value.size:  # it could not be read
            raise answer.wordy
        if step in self.perhaps_complex and answer.in_parts().wordy is None:
            return answer
        words, value = self.words.get(step), self.value(step)
        if words is None or value is None or words.size != answer.value.size:
            raise answer.wordy
        return answer.of_words(*(np.reshape(part, answer.shape) for part in (words, value)))

    @cached_property
    def perhaps_complex(self) -> frozenset[StepKey]:
        """The steps that may be complex, and those that are made of them."""
        first = {node for node in self.nodes.values() if node.sources[0].row.complex}
        return frozenset(step for step, node in self.nodes.items() if first and not first.isdisjoint(walk(node)))

    @cached_property
    def complex(self) -> frozenset[StepKey]:
        """The steps that are complex with these operands."""
        expressions = {step: self.nodes[step].sources[0] for step in self.perhaps_complex}
        values = self.solutions.values([*expressions.values()])
        return frozenset(step for step, node in expressions.items() if values[node].dtype.kind == "c")

    @cached_property
    def words(self) -> dict[StepKey, Array]:
        """The values of steps that are told in words: `memory` rather than 0."""
        found = solve(self.problem).steps if self.problem.calculation.finish else ()
        return {
            (step.group, step.name): step.value
            for step in found
            if step.value is not None and step.value.dtype.kind == "U"
        }


class Question(NamedTuple):
    """A step that is judged."""

    step: StepKey
    answer: Answer
    expected: Array
    own: Mapping[StepKey, Array]  # the own values that the step is made of
    before: Own  # all own values, which a mistake may take in the place of those
    own_are_right: bool
    right: Sequence[Solution]  # the solutions by which it may be right
    kept: Digits  # the digits that may have been kept on the way
    by_hand: bool  # whether it may have been rounded on the way

    @property
    def bases(self) -> list[Own | None]:
        """What it may have been worked out from: own values, or the true operands, which None stands for."""
        return [self.own, None] if self.own else [None]


def _overflows(value: Array) -> bool:
    return value.dtype.kind == "f" and bool(np.isposinf(value).any() or np.isnan(value).any())


def _much_nearer(given: Array, value: Array | None, other: Array | None) -> bool:
    """Whether what is given is so much nearer to a value than to another one that it must be that, but for rounding."""
    if value is None or other is None or not value.shape == other.shape == given.shape:
        return False
    with np.errstate(invalid="ignore"):
        off, far = (float(np.max(np.nan_to_num(np.abs(given - x), nan=0.0), initial=0.0)) for x in (value, other))
    return off < MUCH_NEARER * far - LEFT_OVER


def _floats(name: str, given: Given) -> Given:
    """An operand of exact numbers, as 64-bit floats."""
    if given.value.dtype != object or any(isinstance(entry, str) for entry in given.value.flat):
        return given
    try:
        return given._replace(value=given.value.astype(np.float64))
    except (TypeError, ValueError):
        raise NotExact(f"{name} holds letters, and an answer is checked against numbers") from None
