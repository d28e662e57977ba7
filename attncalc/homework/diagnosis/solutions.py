"""A problem has many solutions: the right one, those by alternative rules, and those with mistakes in them.

A mistake of the forward pass is written into the graph before the gradient is taken, so that the wrong gradients
follow; a mistake of the backward pass is written in after it. All graphs share their nodes: what solutions have in
common is evaluated once.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from attncalc.common.errors import AttncalcError, DomainError, ShapeError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple, go_on
from attncalc.declare.calculation import checked
from attncalc.declare.mistake import Mistake, NotThere, Scope, StepKey, names
from attncalc.evaluate.values import evaluate, is_given
from attncalc.language.axes import Axes
from attncalc.language.graph import Node, steps, walk
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
    untouched: dict[tuple[str, ...], set[Node]]  # what a rule for these steps leaves as it is, as far as asked for
    by_one: dict[tuple[Mistake, ...], _Rewritten]  # what single rules make of it, as far as asked for
    backward: dict[Node, list[Node]]  # the gradients of results that rules make of it


class Gap(NamedTuple):
    """What lies between steps that somebody has written down and the one that comes of them."""

    step: StepKey
    ends: Own
    front: Mapping[StepKey, Node]  # those steps, and what is behind them


_Rewritten: TypeAlias = "tuple[list[Node | None], list[Mistake]]"
"""Roots, and the rules that are still to be written into them."""


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
        return None if found.steps == self.right.steps else found

    def by_two(self, one: Solution, other: Solution, gap: Gap) -> Solution | None:
        """A step by two rules that are both made behind somebody's own steps; None as above, or where one is enough.

        No other step is looked at, which in a model of many layers is far less. There must be no gradient.
        """
        go_on()
        rules = *one.rules, *other.rules
        try:
            forward = self._under(tuple(rule for rule in rules if rule.options))
            roots, _ = self._before_the_gradient(one.rules, forward)
            begun = [root for root in roots if root and root.op == "step" and root.key == gap.step]
            [root] = self._rewritten([*begun[:1]], rules[-1], forward, gap)
        except (AttncalcError, NotThere, ValueError):
            return None
        alone = (solution.steps.get(gap.step) for solution in (self.right, one, other))
        if root is None or root in alone or self._looks_behind(root, gap):
            return None
        return Solution({gap.step: root}, rules)

    def _looks_behind(self, root: Node, gap: Gap) -> bool:
        """Whether a rule has looked through own steps at what is behind them, which nobody has written down."""

        def met(node: Node) -> set[StepKey]:
            found = walk(node, into=lambda node: () if is_given(node, gap.ends) else node.sources)
            return {node.key for node in found if node.op == "step"}

        return not met(root) & gap.front.keys() <= met(self.right.steps[gap.step]) | gap.ends.keys()

    def gap(self, step: StepKey, own: Own) -> Gap:
        """What lies between own steps and another."""
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
        """The same, of nodes that nobody asks for again: none is kept."""
        own, found = own or {}, dict[Node, Array]()
        for odd, alike in self._by_odd_shapes(nodes, own).items():
            found |= self._evaluated(alike, {step: value for step, value in own.items() if step not in odd})
        return found

    def usable(self, own: Own | None, node: Node) -> Own:
        """The own values that can be those of the steps behind a node: a mistake may have given them other shapes."""
        if not own:
            return {}
        [odd] = self._by_odd_shapes([node], own)
        return {step: value for step, value in own.items() if step not in odd} if odd else own

    def _evaluated(self, nodes: Sequence[Node], given: Own) -> dict[Node, Array]:
        """The nodes' values; those that a mistake, or own values, leave without one are NaN throughout."""
        try:
            careful = self._careful and not self._asked.isdisjoint(nodes)  # who errs is not helped to more digits
            return evaluate(nodes, self.operands, given=given, keep=lambda _: False, careful=careful)
        except DomainError:
            if len(nodes) == 1:
                return {nodes[0]: np.full(nodes[0].shape, np.nan)}
            return {node: self._evaluated([node], given)[node] for node in nodes}

    def _by_odd_shapes(self, nodes: Sequence[Node], own: Own) -> dict[frozenset[StepKey], list[Node]]:
        """The nodes, grouped by those own values that cannot be of the steps behind them."""
        found: dict[frozenset[StepKey], list[Node]] = {}
        for node in nodes:
            if node not in self._behind:
                self._behind[node] = {(step.key, step.shape) for step in walk(node) if step.op == "step"}
            odd = frozenset(step for step, shape in self._behind[node] if step in own and own[step].shape != shape)
            found.setdefault(odd, []).append(node)
        return found

    def _solved(self, rules: Sequence[Mistake]) -> Solution:
        """The problem solved by these rules: options first, then the steps before the gradient, then those of it."""
        forward = self._under(tuple(rule for rule in rules if rule.options))
        backward = self.problem.backward
        roots, later = self._before_the_gradient(tuple(rules), forward)
        if backward is not None and not backward.jacobian:
            roots = [*roots, *self._gradients(roots[0], forward)]
        for rule in later:
            roots = self._rewritten(roots, rule, forward)
        there = [root for root in roots if root]
        named = there if backward is None else steps(*there)  # but for gradients, every step is a root
        return Solution({node.key: node for node in named if node.op == "step"}, tuple(rules))

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
        values = dict(written.values)
        if written.loop is not None:
            from attncalc.homework.diagnosis.unrolling import unrolled  # a door: few calculations are loops

            roots, start = unrolled(written.loop, written.values)
            values |= start
        else:
            further = written.outputs if problem.backward is None or problem.backward.jacobian else ()
            roots = [written.result, *steps(written.result, *further, *written.asides)]
        new: dict[Node, Node] = {}
        for node in walk(*roots, *written.operands.values()):
            args = node.args
            if node.op == "input":
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

    def _before_the_gradient(self, rules: tuple[Mistake, ...], forward: _Forward) -> _Rewritten:
        """The graph with the steps that rules write, and the rules that find none: those of steps of the gradient.

        That of one rule is kept: it begins that of every two.
        """
        if not rules:
            return forward.roots, []
        if rules not in forward.by_one:
            roots, later = self._before_the_gradient(rules[:-1], forward)
            try:
                found = self._rewritten(roots, rules[-1], forward), later
            except NotThere:
                if self.problem.backward is None:
                    raise
                found = roots, [*later, rules[-1]]
            if len(rules) > 1:
                return found
            forward.by_one[rules] = found
        return forward.by_one[rules]

    def _rewritten(
        self, roots: list[Node | None], rule: Mistake, forward: _Forward, gap: Gap | None = None
    ) -> list[Node | None]:
        """The graph with its steps as a rule writes them; what cannot be formed behind them is None.

        In front of a gap nothing is written anew.

        Raises NotThere where the rule finds nothing to change.
        """
        if rule.rule is None:
            return roots
        new: dict[Node | None, Node | None] = {}  # what becomes another node; None where it cannot be formed
        known: dict[StepKey, Node] = dict(forward.inputs)
        untouched = self._untouched(forward, rule)
        changed = False
        if gap:
            known |= gap.front

        def ends(node: Node) -> bool:
            return node in untouched or (gap is not None and is_given(node, gap.ends))

        for node in walk(*filter(None, roots), into=lambda node: () if ends(node) else node.sources):
            if ends(node):
                if node.op == "step":
                    known[node.key] = node
                continue
            copy = node if new.keys().isdisjoint(node.sources) else self._copy(node, new)
            if (key := _key(node)) is not None:
                if is_meant(key, rule.at):
                    by_rule = self._by_rule(rule, Scope(copy or node, known, forward.options, forward.as_due))
                    if by_rule is not None:
                        copy = by_rule if node.op == "input" else self._pool.node("step", [by_rule], node.args)
                        changed = changed or copy is not node
                if copy is not None:
                    known[key] = copy
            if copy is not node:
                new[node] = copy
        if not changed:
            raise NotThere(*rule.at)
        return [new.get(root, root) for root in roots]

    def _untouched(self, forward: _Forward, rule: Mistake) -> set[Node]:
        """The nodes of a graph in front of all steps that a rule writes, and beside them."""
        known = forward.untouched.get(rule.at)
        if known is None:
            known = forward.untouched[rule.at] = set()
            for node in forward.order:
                if known.issuperset(node.sources) and not ((key := _key(node)) and is_meant(key, rule.at)):
                    known.add(node)
        return known

    def _by_rule(self, rule: Mistake, scope: Scope) -> Node | None:
        """A step by a rule; None where it lacks the parts that the rule takes it to have on most problems."""
        assert rule.rule, "it writes steps"
        try:
            expression = rule.rule(scope)
        except (LookupError, StopIteration, ValueError) as error:
            if isinstance(error, AttncalcError):
                raise
            return None
        return self._pool.take_in(expression)[0]

    def _copy(self, node: Node, new: Mapping[Node | None, Node | None]) -> Node | None:
        """A node over what its sources have become; None where it cannot be formed."""
        sources = [new.get(source, source) for source in node.sources]
        there = [source for source in sources if source is not None]
        if len(there) < len(sources):
            return None
        try:
            return self._pool.over(node, there)
        except ShapeError:
            return None


def is_meant(step: StepKey, at: Sequence[str]) -> bool:
    """Whether a rule writes a step: by its name in any part, or by the last of its parts and its name."""
    group, name = step
    within = bool(group) and f"{group.rpartition('/')[2]}/{name}" in at
    return within or any(names(word, name) for word in at)


def writes(mistakes: Iterable[Mistake], steps: Collection[StepKey]) -> bool:
    """Whether some of these mistakes write one of these steps."""
    return any(is_meant(step, mistake.at) for step in steps for mistake in mistakes)


def _key(node: Node) -> StepKey | None:
    """How a rule speaks of a node, if it has a name."""
    if node.op == "input":
        return "", node.args["name"].rstrip(_VARIANT)
    return node.key if node.op == "step" else None


class _Pool:
    """Nodes of many graphs; of equal ones, only the first is made."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Node] = {}
        self._made: dict[Node, Hashable] = {}  # with their arguments as they stand in keys

    def node(self, op: str, sources: Sequence[Node], args: Mapping[str, Any], axes: Axes | None = None) -> Node:
        """The node with that primitive, sources and arguments; ShapeError where it cannot be formed."""
        return self._known_or_made(op, sources, args, _frozen(args), axes)

    def over(self, node: Node, sources: Sequence[Node]) -> Node:
        """What a node of the pool is over other sources; ShapeError where it cannot be formed."""
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
        """A graph in nodes of the pool; those that are in it already are not looked behind."""
        new: dict[Node, Node] = {}
        for node in walk(*roots, into=lambda node: () if node in self._made else node.sources):
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
