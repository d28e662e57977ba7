"""Every way of doing a problem: the right one, other routes, and the wrong ones that its mistakes make of it.

A forward mistake is written into the graph before the gradient is taken, so that the wrong gradients follow; a mistake
in the backward pass is written in after it. All graphs share their nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.arrays import Array
from attncalc.backward import backward_pass
from attncalc.errors import AttncalcError, DomainError, ShapeError
from attncalc.evaluate import evaluate
from attncalc.graph import Node, steps, walk
from attncalc.homework.pool import Pool
from attncalc.homework.unrolling import unrolled
from attncalc.mistake import Mistake, NotThere, Scope, StepKey, names
from attncalc.options import checked
from attncalc.problem import Problem
from attncalc.writing import Written, write

Own = Mapping[StepKey, Array]
"""Values that somebody has given for steps."""

_VARIANT = "~"  # behind the name of an operand that other options read in another way


class Way(NamedTuple):
    """One way of doing a problem: the steps that it has, and the mistakes that make it."""

    steps: Mapping[StepKey, Node]
    mistakes: tuple[Mistake, ...] = ()

    @property
    def route(self) -> tuple[Mistake, ...]:
        """The other right route on which it is, () on the usual one."""
        return tuple(mistake for mistake in self.mistakes if mistake.kind == "route")


class _Forward(NamedTuple):
    """A graph as far as no backward pass is taken."""

    roots: list[Node | None]  # the result, then every step; None cannot be formed
    order: list[Node]  # every node behind them, sources first
    operands: Mapping[str, Node]
    options: Mapping[str, Any]
    inputs: Mapping[StepKey, Node]  # operands, and the letters that options give
    as_due: Mapping[StepKey, Node]  # every step as it should be
    untouched: dict[tuple[str, ...], set[Node]]  # what a mistake in these steps leaves as it is, as far as asked for


class Ways:
    """The ways of doing one problem."""

    def __init__(self, problem: Problem, written: Written) -> None:
        self.problem = problem
        self.pool = Pool()
        self.operands: dict[str, Array] = dict(written.values)
        self._forward: dict[tuple[Mistake, ...], _Forward] = {(): self._taken_in(problem, written)}
        self._values: dict[Node, Array] = {}
        self._behind: dict[Node, set[tuple[StepKey, tuple[int, ...]]]] = {}  # the steps of each, with their shapes
        found = self._made(())
        assert found is not None, "the right way can be formed"
        self.right = found
        result = self._forward[()].roots[0]
        assert result is not None, "the right way has a result"
        own = problem.backward is None and written.loop is not None
        self.result: StepKey = result.key if own else written.outputs[0].key

    def way(self, *mistakes: Mistake) -> Way | None:
        """The way that these mistakes make; None where one of them does not apply or changes nothing."""
        try:
            found = self._made(mistakes)
        except (AttncalcError, NotThere):
            return None
        return None if found is None or found.steps == self.right.steps else found

    def values(self, nodes: Sequence[Node], own: Own | None = None) -> dict[Node, Array]:
        """The nodes' values, from the true operands, or from a student's own values of steps."""
        if own:
            found: dict[Node, Array] = {}
            for odd, alike in self._by_odd_shapes(nodes, own).items():
                given = {key: value for key, value in own.items() if key not in odd}
                found |= self._evaluated(alike, given)
            return found
        new = [node for node in nodes if node not in self._values]
        if new:
            self._values |= self._evaluated(new, {})
        return {node: self._values[node] for node in nodes}

    def _evaluated(self, nodes: Sequence[Node], given: Own) -> dict[Node, Array]:
        """The nodes' values; those that a mistake, or a student's own values, leave without one are NaN throughout."""
        try:
            return evaluate(nodes, self.operands, given=given, keep=_nothing)
        except DomainError:
            if len(nodes) == 1:
                return {nodes[0]: np.full(nodes[0].shape, np.nan)}
            return {node: self._evaluated([node], given)[node] for node in nodes}

    def fitting(self, own: Own, node: Node) -> Own:
        """The own values that can be those of the steps behind a node: a mistake may have made them of other shapes."""
        [odd] = self._by_odd_shapes([node], own)
        return {key: value for key, value in own.items() if key not in odd} if odd else own

    def _by_odd_shapes(self, nodes: Sequence[Node], own: Own) -> dict[frozenset[StepKey], list[Node]]:
        """The nodes, by the own values that cannot be those of the steps behind them."""
        found: dict[frozenset[StepKey], list[Node]] = {}
        for node in nodes:
            if node not in self._behind:
                behind = (step for step in walk(node) if step.op == "step")
                self._behind[node] = {(step.key, tuple(axis.size for axis in step.axes)) for step in behind}
            odd = frozenset(k for k, shape in self._behind[node] if k in own and own[k].shape != shape)
            found.setdefault(odd, []).append(node)
        return found

    def _made(self, mistakes: Sequence[Mistake]) -> Way | None:
        optional = tuple(mistake for mistake in mistakes if mistake.options)
        forward = self._under(optional)
        roots, later = forward.roots, []
        for mistake in mistakes:
            if mistake.rule is None:
                continue
            try:
                roots = self._over(roots, mistake, forward)
            except NotThere:
                if self.problem.backward is None:
                    raise
                later.append(mistake)
        if self.problem.backward is not None and not self.problem.backward.jacobian:
            roots = [*roots, *self._backward(roots[0], forward)]
        for mistake in later:
            roots = self._over(roots, mistake, forward)
        there = [root for root in roots if root]
        named = there if self.problem.backward is None else steps(*there)  # but for gradients, every step is a root
        return Way({node.key: node for node in named if node.op == "step"}, tuple(mistakes))

    def _under(self, mistakes: tuple[Mistake, ...]) -> _Forward:
        """The graph under the options that mistakes change."""
        known = self._forward.get(mistakes)
        if known is None:
            options = self._forward[()].options
            for mistake in mistakes:
                assert mistake.options, "only such are asked for"
                options = {**options, **mistake.options(options)}
            given = {name: value for name, value in options.items() if value is not None}
            problem = self.problem._replace(options=given)
            known = self._forward[mistakes] = self._taken_in(problem, write(problem))
        return known

    def _taken_in(self, problem: Problem, written: Written) -> _Forward:
        """A written problem in nodes of the pool; an operand that is read in another way gets a name of its own."""
        values = dict(written.values)
        if written.loop is not None:
            loop = unrolled(written.loop, written.values)
            roots = [*loop.results, *loop.steps]
            values |= loop.start
        else:
            further = written.outputs if problem.backward is None or problem.backward.jacobian else ()
            roots = [written.result, *steps(written.result, *further, *written.asides)]
        new: dict[Node, Node] = {}
        for node in walk(*roots, *written.operands.values()):
            args = node.args
            if node.op == "input":
                args = args | {"name": self._operand(args["name"], values[args["name"]])}
            new[node] = self.pool.node(node.op, [new[source] for source in node.sources], args, node.axes)
        operands = {name: new[node] for name, node in written.operands.items()}
        options = problem.calculation.defaults | checked(problem.calculation, problem.options)
        taken = [new[root] for root in roots]
        order = walk(*taken)
        letters = {key: node for node in order if node.op == "input" and (key := _key(node))}
        inputs = letters | {("", name): node for name, node in operands.items()}
        as_due = {node.key: node for node in order if node.op == "step"}
        return _Forward([*taken], order, operands, options, inputs, as_due, {})

    def _operand(self, name: str, value: Array) -> str:
        while not np.array_equal(self.operands.setdefault(name, value), value):
            name += _VARIANT
        return name

    def _backward(self, result: Node | None, forward: _Forward) -> list[Node]:
        """The gradients of a result, if it has the shape of the right one, which the upstream gradient fits."""
        right = self._forward[()].roots[0]
        if result is None or right is None or result.axes != right.axes:
            return []
        assert self.problem.backward, "a backward pass is asked for"
        found = backward_pass(self.problem.backward, self.problem.calculation, result, forward.operands)
        return self.pool.take_in(*found)

    def _over(self, roots: Sequence[Node | None], mistake: Mistake, forward: _Forward) -> list[Node | None]:
        """The graph with the steps of a mistake written in its way; what cannot be formed behind them is None."""
        new: dict[Node | None, Node | None] = {}  # what becomes another node; None where it cannot be formed
        known: dict[StepKey, Node] = dict(forward.inputs)
        untouched = self._untouched(forward, mistake)
        spoilt = False
        for node in walk(*filter(None, roots), into=lambda node: () if node in untouched else node.sources):
            if node in untouched:
                if node.op == "step":
                    known[node.key] = node
                continue
            copy = node if new.keys().isdisjoint(node.sources) else self._copy(node, new)
            if (key := _key(node)) is not None:
                if is_meant(key, mistake.at):
                    written = self._written(mistake, Scope(copy or node, known, forward.options, forward.as_due))
                    copy = copy if written is None else self._named(node, written)
                    spoilt = spoilt or (written is not None and copy is not node)
                if copy is not None:
                    known[key] = copy
            if copy is not node:
                new[node] = copy
        if not spoilt:
            raise NotThere(*mistake.at)
        return [new.get(root, root) for root in roots]

    def _untouched(self, forward: _Forward, mistake: Mistake) -> set[Node]:
        """The nodes of a graph in front of all steps that a mistake writes, and beside them."""
        known = forward.untouched.get(mistake.at)
        if known is None:
            known = forward.untouched[mistake.at] = set()
            for node in forward.order:
                if known.issuperset(node.sources) and not ((key := _key(node)) and is_meant(key, mistake.at)):
                    known.add(node)
        return known

    def _written(self, mistake: Mistake, scope: Scope) -> Node | None:
        """A step in the way of a mistake; None where it has not what the mistake speaks of, so that it is spared.

        A rule takes apart what a step is on most problems. Where another has fewer parts, or more, it finds nothing.
        """
        assert mistake.rule, "it writes steps"
        try:
            expression = mistake.rule(scope)
        except (LookupError, StopIteration, ValueError) as error:
            if isinstance(error, AttncalcError):
                raise
            return None
        return self.pool.take_in(expression)[0]

    def _named(self, node: Node, expression: Node) -> Node:
        return expression if node.op == "input" else self.pool.node("step", [expression], node.args)

    def _copy(self, node: Node, new: Mapping[Node | None, Node | None]) -> Node | None:
        """A node over what its sources have become."""
        sources = [new.get(source, source) for source in node.sources]
        there = [source for source in sources if source is not None]
        if len(there) < len(sources):
            return None
        try:
            return self.pool.node(node.op, there, node.args)
        except ShapeError:
            return None


def _key(node: Node) -> StepKey | None:
    """How a rule speaks of a node, if it has a name."""
    if node.op == "input":
        return "", node.args["name"].rstrip(_VARIANT)
    return node.key if node.op == "step" else None


def is_meant(key: StepKey, at: Sequence[str]) -> bool:
    """Whether a mistake writes a step: by its name in any part, or by the last of its parts and its name."""
    group, name = key
    within = bool(group) and f"{group.rpartition('/')[2]}/{name}" in at
    return within or any(names(word, name) for word in at)


def _nothing(node: Node) -> bool:
    return False
