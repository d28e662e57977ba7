"""A problem has many solutions: the right one, those by alternative rules, and those with mistakes in them.

A mistake of the forward pass is written into the graph before the gradient is taken, so that the wrong gradients
follow; a mistake of the backward pass is written in after it. All graphs share their nodes: what solutions have in
common is evaluated once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from posixpath import commonpath
from typing import Any

import numpy as np

from attncalc.common.errors import AttncalcError, DomainError, ShapeError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple, go_on
from attncalc.declare.calculation import checked
from attncalc.declare.mistake import Mistake, NotThere, Scope, StepKey, names
from attncalc.evaluate.values import evaluate, is_given, needed
from attncalc.language.axes import Axes
from attncalc.language.graph import Node, rewrite, steps, walk, walk_to
from attncalc.solve.problem import Problem, Written
from attncalc.solve.solver import write

Own = Mapping[StepKey, Array]
"""The own values of somebody: what they have written for steps."""

_VARIANT = "~"  # behind the name of an operand that other options read differently
_SAID = ("why", "symbol", "shown", "ways", "edges", "option")  # what a step says beside its value


class Solution(NamedTuple):
    """A problem solved: its steps, and the rules that were used in place of the calculation's own."""

    steps: Mapping[StepKey, Node]
    rules: tuple[Mistake, ...] = ()

    @property
    def alternatives(self) -> tuple[Mistake, ...]:
        """Those of the rules that are as right."""
        return tuple(rule for rule in self.rules if rule.kind == "alternative")

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """Those of the rules that are wrong."""
        return tuple(rule for rule in self.rules if rule.kind != "alternative")


class _Forward(NamedTuple):
    """A graph before any gradient is taken."""

    roots: list[Node | None]  # the result, then every step; None cannot be formed
    order: list[Node]  # every node behind them, sources first
    operands: Mapping[str, Node]
    options: Mapping[str, Any]
    inputs: Mapping[StepKey, Node]  # operands, and the letters that options give
    as_due: Mapping[StepKey, Node]  # every step as it should be
    untouched: dict[tuple[str, ...], set[Node]]  # what a rule that writes these steps leaves as it is, once asked for
    by_one: dict[Mistake, _Writing | None]  # what a single rule makes of it, once asked for; None: nothing
    backward: dict[Node, list[Node]]  # the gradients of each result that was asked for


class Gap(NamedTuple):
    """The part of a graph between steps that somebody has written down and one that is made of them."""

    step: StepKey
    ends: Own
    front: Mapping[StepKey, Node]  # those steps, and what is behind them


class Solutions:
    """The solutions of one problem."""

    def __init__(self, problem: Problem, written: Written) -> None:
        self.problem = problem
        self.operands: dict[str, Array] = dict(written.values)
        self._pool = _Pool()
        self._careful = written.loop is None  # else its values are those of a loop's turns
        self._forward: dict[tuple[Mistake, ...], _Forward] = {(): self._pooled(problem, written)}
        self._values: dict[Node, Array] = {}
        self._behind: dict[Node, set[tuple[StepKey, tuple[int, ...]]]] = {}  # the steps of each, with their shapes
        self.right = self._solved(())
        self._asked = frozenset(self.right.steps.values())
        self._in_order = sorted(self.right.steps.items(), key=lambda item: item[1].serial)
        result = self._forward[()].roots[0]
        assert result is not None, "the right solution has a result"
        self.differentiated = result if problem.backward else None  # the forward pass, as it should be
        is_step = problem.backward is None and written.loop is not None
        self.result: StepKey = result.key if is_step else written.outputs[0].key

    def by(self, *rules: Mistake) -> Solution | None:
        """The solution by these rules; None where one of them does not apply, or where they change nothing."""
        go_on()
        try:
            found = self._solved(rules)
        except (AttncalcError, NotThere):
            return None
        return found if self._is_another(found) else None

    def _is_another(self, solution: Solution) -> bool:
        """Whether a solution has another step than the right one; the first that tells is enough."""
        there = any(solution.steps.get(key) is not node for key, node in self._in_order)
        return there or len(solution.steps) > len(self._in_order)

    def by_two(self, one: Solution, other: Solution, gap: Gap) -> Solution | None:
        """The step after a gap by two rules that both apply within it; None as in `by`, or where one rule is enough.

        No other step is formed, which saves much in a model of many layers. There must be no gradient.
        """
        go_on()
        rules = *one.rules, *other.rules
        try:
            forward = self._under(tuple(rule for rule in rules if rule.options))
            begun: Node | None = forward.as_due[gap.step]
            for rule in one.rules:
                begun = self._writing(forward.roots, rule, forward).of(begun) if rule.rule else begun
            root = self._writing([begun], rules[-1], forward, gap).of(begun) if rules[-1].rule else begun
        except (AttncalcError, LookupError):
            return None
        alone = (solution.steps.get(gap.step) for solution in (self.right, one, other))
        if root is None or root in alone or self._looks_behind(root, gap):
            return None
        return Solution({gap.step: root}, rules)

    def _looks_behind(self, root: Node, gap: Gap) -> bool:
        """Whether a rule has used steps from before the gap that the right step does not use."""

        def met(node: Node) -> set[StepKey]:
            return {node.key for node in needed(node, given=gap.ends) if node.op == "step"}

        return not met(root) & gap.front.keys() <= met(self.right.steps[gap.step]) | gap.ends.keys()

    def gap(self, step: StepKey, own: Own) -> Gap:
        """The gap between own steps and another step."""
        front = walk(*(self.right.steps[key] for key in own))
        return Gap(step, own, {node.key: node for node in front if node.op == "step"})

    def changed(self, rule: Mistake) -> frozenset[str]:
        """The options that a mistake changes."""
        options = self._forward[()].options
        others = rule.options(options) if rule.options else {}
        return frozenset(name for name, value in others.items() if value != options.get(name))

    def values(self, nodes: Sequence[Node], own: Own | None = None) -> dict[Node, Array]:
        """The nodes' values, from the true operands or from somebody's own values of steps."""
        if own:
            return self.values_once(nodes, own)
        new = [node for node in nodes if node not in self._values]
        if new:
            self._values |= self._evaluated(new, {})
        return {node: self._values[node] for node in nodes}

    def values_once(self, nodes: Sequence[Node], own: Own | None) -> dict[Node, Array]:
        """The nodes' values, as in `values`, but none is kept: nobody asks for them again."""
        found: dict[Node, Array] = {}
        for usable, alike in self._by_usable(nodes, own or {}):
            found |= self._evaluated(alike, usable)
        return found

    def usable(self, own: Own | None, node: Node) -> Own:
        """The own values that have the shapes of the steps behind a node, which a mistake may have changed."""
        return self._by_usable([node], own)[0][0] if own else {}

    def _evaluated(self, nodes: Sequence[Node], given: Own) -> dict[Node, Array]:
        """The nodes' values; NaN throughout for a node that has none because of a mistake or of own values."""
        try:
            careful = self._careful and not self._asked.isdisjoint(nodes)  # not in wrong steps alone
            return evaluate(nodes, self.operands, given=given, keep=lambda _: False, careful=careful)
        except DomainError:
            if len(nodes) == 1:
                return {nodes[0]: np.full(nodes[0].shape, np.nan)}
            return {node: self._evaluated([node], given)[node] for node in nodes}

    def _by_usable(self, nodes: Sequence[Node], own: Own) -> list[tuple[Own, list[Node]]]:
        """The nodes, grouped by the own values that have the shapes of the steps behind them."""
        found: dict[frozenset[StepKey], list[Node]] = {}
        for node in nodes:
            if node not in self._behind:
                self._behind[node] = {(step.key, step.shape) for step in walk(node) if step.op == "step"}
            odd = frozenset(step for step, shape in self._behind[node] if step in own and own[step].shape != shape)
            found.setdefault(odd, []).append(node)
        return [({step: own[step] for step in own if step not in odd}, alike) for odd, alike in found.items()]

    def _solved(self, rules: tuple[Mistake, ...]) -> Solution:
        """The problem solved by these rules: options first, then forward steps, then those of the gradient."""
        forward = self._under(tuple(rule for rule in rules if rule.options))
        backward = self.problem.backward
        writing = [rule for rule in rules if rule.rule]
        if backward is None and writing:
            roots, _ = self._before_the_gradient(writing[:-1], forward)
            last = self._writing(roots, writing[-1], forward)
            return Solution(_AsAsked({root.key: root for root in roots if root and root.op == "step"}, last), rules)
        roots, later = self._before_the_gradient(writing, forward)
        if backward is not None and not backward.jacobian:
            roots = [*roots, *self._gradients(roots[0], forward)]
        for rule in later:
            written = self._writing(roots, rule, forward)
            roots = [written.of(root) for root in roots]
        there = [root for root in roots if root]
        named = there if backward is None else steps(*there)  # without a gradient, every step is a root
        return Solution({node.key: node for node in named if node.op == "step"}, rules)

    # The graph before the gradient

    def _under(self, rules: tuple[Mistake, ...]) -> _Forward:
        """The graph under the options that these rules change."""
        known = self._forward.get(rules)
        if known is None:
            options = self._forward[()].options
            for rule in rules:
                assert rule.options, "only such are asked for"
                options = {**options, **rule.options(options)}
            given = {name: value for name, value in options.items() if value is not None}
            problem = self.problem._replace(options=given)
            known = self._forward[rules] = self._pooled(problem, write(problem))
        return known

    def _pooled(self, problem: Problem, written: Written) -> _Forward:
        """A written problem in nodes of the pool; an operand that is read differently gets a name of its own."""
        values = written.values
        if written.loop is not None:
            from attncalc.homework.diagnosis.unrolling import unrolled  # a door: few calculations are loops

            roots, start = unrolled(written.loop, written.values)
            values = {**values, **start}
        else:
            further = written.outputs if problem.backward is None or problem.backward.jacobian else ()
            roots = [written.result, *steps(written.result, *further, *written.asides)]
        new: dict[Node, Node] = {}
        for node in walk(*roots, *written.operands.values()):
            args = node.args
            if node.op == "input" and not ((given := written.inputs.get(args["name"])) and given.is_stored):
                args = args | {"name": self._operand(args["name"], values[args["name"]])}
            new[node] = self._pool.node(node.op, [new[source] for source in node.sources], args, node.axes)
        operands = {name: new[node] for name, node in written.operands.items()}
        options = problem.calculation.defaults | checked(problem.calculation, problem.options)
        pooled = [new[root] for root in roots]
        order = walk(*pooled)
        letters = {key: node for node in order if node.op == "input" and (key := _key(node))}
        inputs = letters | {("", name): node for name, node in operands.items()}
        as_due = {node.key: node for node in order if node.op == "step"}
        return _Forward([*pooled], order, operands, options, inputs, as_due, {}, {}, {})

    def _operand(self, name: str, value: Array) -> str:
        """The name of an operand with this value, which is added where it is new."""
        while not np.array_equal(self.operands.setdefault(name, value), value):
            name += _VARIANT
        return name

    def _gradients(self, result: Node | None, forward: _Forward) -> list[Node]:
        """The gradients of a result, if it has the shape of the right one, which the upstream gradient fits."""
        right = self._forward[()].roots[0]
        if result is None or right is None or result.axes != right.axes:
            return []
        assert self.problem.backward, "a backward pass is asked for"
        from attncalc.solve.backward import backward_pass  # a door: most problems have none

        if result not in forward.backward:
            told = result is right  # nobody reads of the others
            found = backward_pass(self.problem.backward, self.problem.calculation, result, forward.operands, told=told)
            forward.backward[result] = self._pool.take_in(*found)
        return forward.backward[result]

    # A rule written into a graph

    def _before_the_gradient(
        self, rules: Sequence[Mistake], forward: _Forward
    ) -> tuple[list[Node | None], list[Mistake]]:
        """The graph with rules written into its forward steps, and the rules left over, which write the gradient's."""
        roots, later = forward.roots, []
        for rule in rules:
            try:
                written = self._writing(roots, rule, forward)
            except NotThere:
                if self.problem.backward is None:
                    raise
                later.append(rule)
            else:
                roots = [written.of(root) for root in roots]
        return roots, later

    def _writing(self, roots: list[Node | None], rule: Mistake, forward: _Forward, gap: Gap | None = None) -> _Writing:
        """A rule that is being written into a graph; if it is the first, it is kept, since many pairs begin with it."""
        if roots is not forward.roots:
            return _Writing(self._pool, roots, rule, forward, gap)
        if rule not in forward.by_one:
            forward.by_one[rule] = None
            forward.by_one[rule] = _Writing(self._pool, roots, rule, forward)
        if (found := forward.by_one[rule]) is None:
            raise NotThere(*rule.at)
        return found


class _Writing:
    """A rule that is being written into a graph: into the first layer that it changes, and into others once asked for.

    Nothing before a gap is written anew. Raises NotThere if the rule finds nothing to change, and an AttncalcError if
    the first step that it writes, or another in the same part, cannot be formed.
    """

    def __init__(
        self, pool: _Pool, roots: Sequence[Node | None], rule: Mistake, forward: _Forward, gap: Gap | None = None
    ) -> None:
        self._pool, self._rule, self._options = pool, rule, forward.options
        self._new: dict[Node | None, Node | None] = {}  # what nodes become; None where that cannot be formed
        self._known: dict[StepKey, Node] = {**forward.inputs, **(gap.front if gap else {})}
        self._untouched = _untouched(forward, rule)
        self._ends = gap.ends if gap else {}
        self._due = forward.as_due
        self._order: Sequence[Node] = forward.order
        if roots is not forward.roots:  # another rule was written before: its steps are the due ones
            self._order = walk_to(self._is_end, *filter(None, roots))
            self._due = {**self._due, **{node.key: node for node in self._order if node.op == "step"}}
        self._at = 0
        self._first: str | None = None  # the part that is changed first
        self._begun = False
        while self._at < len(self._order) and not self._is_behind_the_first(self._order[self._at]):
            self._write_next()
        if self._first is None:
            raise NotThere(*rule.at)
        self._begun = True

    def _is_behind_the_first(self, node: Node) -> bool:
        """Whether a node is a step of another layer than the one that is changed first."""
        return self._first is not None and is_outside(node, enclosing_layer(self._first))

    def of(self, node: Node | None) -> Node | None:
        """What a node of the graph has become; None where it cannot be formed."""
        while node and self._at < len(self._order) and self._order[self._at].serial <= node.serial:
            self._write_next()
        return self._new.get(node, node)

    def _is_end(self, node: Node) -> bool:
        """Whether a node stays as it is, and all that it is made of."""
        return node in self._untouched or is_given(node, self._ends)

    def _write_next(self) -> None:
        node = self._order[self._at]
        self._at += 1
        if self._is_end(node):
            if node.op == "step":
                self._known[node.key] = node
            return
        found = node if self._new.keys().isdisjoint(node.sources) else self._copy(node)
        if (key := _key(node)) is not None:
            if is_meant(key, self._rule.at):
                copy, found = found, self._by_rule(node, found, key[0])
                if self._first is None and found not in (None, copy):
                    self._first = key[0]
            if found is not None:
                self._known[key] = found
        if found is not node:
            self._new[node] = found

    def _by_rule(self, node: Node, copy: Node | None, group: str) -> Node | None:
        """What the rule makes of a node; None where that cannot be formed.

        The node stays as it is if it lacks parts that the rule expects, as most problems have them.
        """
        assert self._rule.rule, "it writes steps"
        scope = Scope(copy or node, self._known, self._options, partial(self._as_due, group))
        try:
            expression = self._rule.rule(scope)
        except AttncalcError:
            if self._begun or (self._first is not None and not _are_of_one_part(group, self._first)):
                return None
            raise
        except (LookupError, StopIteration, ValueError):
            return copy
        [found] = self._pool.take_in(expression)
        if copy is None and self._is_over_what_was(found, enclosing_layer(group)):
            return None
        return found if node.op == "input" else self._pool.node("step", [found], node.args)

    def _is_over_what_was(self, node: Node, layer: str) -> bool:
        """Whether a node is over another layer as that was before the rule was written into it."""
        met = walk_to(partial(is_outside, layer=layer), node)
        return any(is_outside(node, layer) and self._new.get(node, node) is not node for node in met)

    def _as_due(self, group: str, step: StepKey) -> Node:
        """The right expression of a step, over what nodes outside the part that it shares with a group have become."""
        if step not in self._due:
            raise NotThere(step[1])
        shared = commonpath([group, step[0]])

        def is_outside(node: Node) -> bool:
            return node.op == "step" and commonpath([shared, node.key[0]]) != shared

        def new(node: Node) -> Node | None:
            return self._new.get(node) if is_outside(node) else None

        try:
            [found] = rewrite(self._due[step].sources, new, lambda node: () if is_outside(node) else node.sources)
        except ShapeError as error:
            raise NotThere(step[1]) from error
        return found

    def _copy(self, node: Node) -> Node | None:
        """A node over what its sources have become; None where it cannot be formed."""
        sources = [self._new.get(source, source) for source in node.sources]
        there = [source for source in sources if source is not None]
        if len(there) < len(sources):
            return None
        try:
            return self._pool.over(node, there)
        except ShapeError:
            return None


class _AsAsked(Mapping[StepKey, Node]):
    """The steps of a graph with a rule written into it, each formed once asked for; some may not be there."""

    def __init__(self, steps: Mapping[StepKey, Node], writing: _Writing) -> None:
        self._steps, self._writing = steps, writing

    def __getitem__(self, key: StepKey) -> Node:
        found = self._writing.of(self._steps[key])
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[StepKey]:
        return (key for key, node in self._steps.items() if self._writing.of(node) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _untouched(forward: _Forward, rule: Mistake) -> set[Node]:
    """The nodes of a graph that are not made of any step that a rule writes."""
    known = forward.untouched.get(rule.at)
    if known is None:
        known = forward.untouched[rule.at] = set()
        for node in forward.order:
            if known.issuperset(node.sources) and not ((key := _key(node)) and is_meant(key, rule.at)):
                known.add(node)
    return known


@lru_cache(maxsize=2**15)  # every rule is written into the same steps
def is_meant(step: StepKey, at: tuple[str, ...]) -> bool:
    """Whether a rule that writes `at` writes a step, named alone or together with the last of its parts."""
    group, name = step
    within = bool(group) and f"{group.rpartition('/')[2]}/{name}" in at
    return within or any(names(word, name) for word in at)


def writes(mistakes: Iterable[Mistake], steps: Collection[StepKey]) -> bool:
    """Whether some of these mistakes write one of these steps."""
    return any(is_meant(step, mistake.at) for step in steps for mistake in mistakes)


def _are_of_one_part(group: str, other: str) -> bool:
    """Whether one of two parts is the other, or within it."""
    return commonpath([group, other]) in (group, other)


@lru_cache(maxsize=4096)
def enclosing_layer(group: str) -> str:
    """The layer that a part is in; "" for what is in none."""
    found = re.match(r".*?layer \d+", group)
    return found[0] if found else ""


def is_outside(node: Node, layer: str) -> bool:
    """Whether a node is a step that is not in this layer."""
    return node.op == "step" and enclosing_layer(node.key[0]) != layer


def _key(node: Node) -> StepKey | None:
    """The key by which a rule speaks of a node; None if it has no name."""
    if node.op == "input":
        return "", node.args["name"].rstrip(_VARIANT)
    return node.key if node.op == "step" else None


class _Pool:
    """The nodes of many graphs; equal ones are made once and shared."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Node] = {}
        self._made: dict[Node, Hashable] = {}  # with their arguments as they stand in keys

    def node(self, op: str, sources: Sequence[Node], args: Mapping[str, Any], axes: Axes | None = None) -> Node:
        """The node with that primitive, sources and arguments; ShapeError where it cannot be formed."""
        return self._known_or_made(op, sources, args, _frozen(args), axes)

    def over(self, node: Node, sources: Sequence[Node]) -> Node:
        """A node of the pool over other sources; ShapeError where it cannot be formed."""
        return self._known_or_made(node.op, sources, node.args, self._made[node], None)

    def _known_or_made(
        self, op: str, sources: Sequence[Node], args: Mapping[str, Any], frozen: Hashable, axes: Axes | None
    ) -> Node:
        key = (op, tuple(map(id, sources)), frozen, None if sources else axes)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Node(op, *sources, axes=axes, **args)
            self._made[found] = frozen
        return found

    def take_in(self, *roots: Node) -> list[Node]:
        """A graph in nodes of the pool; what a node of the pool is made of is in it already."""
        new: dict[Node, Node] = {}
        for node in walk_to(self._made.__contains__, *roots):
            own = node in self._made
            new[node] = node if own else self.node(node.op, [new[s] for s in node.sources], node.args, node.axes)
        return [new[root] for root in roots]


def _frozen(args: Mapping[str, Any]) -> Hashable:
    if not args:  # as most have none
        return ()
    items = tuple((name, value) for name, value in sorted(args.items()) if name not in _SAID)
    try:
        hash(items)
    except TypeError:
        return repr(items)
    return items
