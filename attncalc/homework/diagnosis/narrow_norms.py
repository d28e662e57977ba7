"""A dump of norms that were worked out in its own narrow type, where float32 is the rule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np

from attncalc.common.numerals import ACCUMULATED, Array
from attncalc.declare.mistake import StepKey
from attncalc.evaluate.precisions import Narrow
from attncalc.evaluate.values import Machine, evaluate, is_given
from attncalc.homework.diagnosis.comparing import fits, largest_error
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.solutions import Own
from attncalc.language.graph import Node, walk

NEARER = 0.1
"""A narrow norm explains what lies by this nearer to it than to what is right."""


class _NarrowNorms:
    """A machine that works out the mean of squares of norms, and its root, in a narrow type, and all else in full."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.limit = machine, machine.limit

    def held(self, value: Array) -> Array:
        """The numbers of an operand, as they are."""
        return value

    def rounded(self, order: Sequence[Node], given: Collection[StepKey]) -> set[Node]:
        """The roots of means, and what is computed between what is normalised and them."""
        found: set[Node] = set()
        for root in order:
            if root.row.normalises:
                x = root.sources[1]
                between = walk(root, into=partial(_up_to, x))
                found.update(node for node in between if node is not x and node.sources and node.op != "step")
        return found

    def made(self, node: Node, value: Array, sources: Sequence[Array]) -> Array:
        """A root of what is beneath it, which goes by no other entries where squares overflow; the machine's own."""
        value = np.sqrt(sources[0]) if node.row.normalises else value
        return self.machine.made(node, value, sources).astype(np.float64)


def _up_to(end: Node, node: Node) -> Sequence[Node]:
    return () if node is end else node.sources


def are_narrow(key: Key, question: Question, value: Array, base: Own) -> bool:
    """Whether an answer is what comes of norms that square in its own narrow type, and add up in that or in float32.

    It must be far nearer to that than to what it should be: the noise of a type hides a little more noise.
    """
    node, answer = key.nodes[question.step], question.answer
    base = key.solutions.usable(base, node)
    behind = walk(node, into=lambda made: () if is_given(made, base) else made.sources)
    if answer.shape != node.shape or not any(made.row.normalises for made in behind):
        return False
    for accumulate in ACCUMULATED:
        norms = _NarrowNorms(Narrow(answer.stored, accumulate))
        found = evaluate([node], key.solutions.operands, given=base, after_step=norms, keep=lambda _: False)[node]
        if fits(answer, found).all() and largest_error(answer, found) < NEARER * largest_error(answer, value):
            return True
    return False
