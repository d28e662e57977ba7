"""A dump is judged with the noise of the type that its numbers were rounded to, which a wider type may hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import is_

import numpy as np

from attncalc.common.numerals import ACCUMULATED, DTYPES, NARROW, Array
from attncalc.declare.mistake import StepKey
from attncalc.evaluate.precisions import Narrow, held
from attncalc.evaluate.values import Machine, evaluate_one, is_given, needed
from attncalc.homework.diagnosis.comparing import fits, largest, largest_error
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.nearest import RUNS
from attncalc.homework.diagnosis.solutions import Own
from attncalc.homework.reading.answers import FEWEST_DUMPED, NOISE, Answer
from attncalc.homework.reading.stored_types import narrowest
from attncalc.language.graph import Node, walk_to
from attncalc.language.primitive import OPS


def of_its_type(key: Key, step: StepKey, answer: Answer, right: Array) -> Answer:
    """An answer with the noise of the narrow type that it was stored in.

    If the type holds the right value as it is, numbers that fit the type are no sign of it.
    """
    if _comes_out(answer, right):
        return replace(answer, noise=NOISE["float32"], stored="float32", inferred=False)
    slack = key.slack(step, answer.stored)
    if slack is not None and slack.size == answer.value.size:
        return replace(answer, slack=slack.reshape(answer.shape))
    return answer


def _comes_out(answer: Answer, right: Array) -> bool:
    """Whether an inferred type holds the right value as it is, so that the numbers tell of no rounding."""
    return answer.inferred and np.array_equal(held(right, answer.stored), right, equal_nan=True)


def coarsest(key: Key, answers: Mapping[StepKey, Answer]) -> str:
    """The coarsest narrow type that arrays of a dump were rounded to; "" if none were.

    A model with a checkpoint in bfloat16 has such embeddings, whatever type it computes in.
    """
    narrow = ((answer, key.value(step)) for step, answer in answers.items() if answer.stored in NARROW)
    rounded = (answer.stored for answer, right in narrow if right is None or not _comes_out(answer, right))
    return max(rounded, key=NOISE.__getitem__, default="")


def in_part_of_float32(key: Key, step: StepKey, answer: Answer, right: Array) -> Answer:
    """An answer in float64; with the noise of float32 if it is right only so."""
    if right.size != answer.value.size:
        return answer
    right = right.reshape(answer.shape)
    if fits(answer, right).all() or (largest_error(answer, right) > NOISE["float32"] * largest(right)):
        return answer
    slack = key.slack(step, "float32")
    if slack is None:
        return answer
    narrower = replace(answer, slack=slack.reshape(answer.shape), stored="float32", inferred=True)
    return narrower if fits(narrower, right).all() else answer


def among_narrow(answer: Answer, rounded: str) -> Answer:
    """An array in float32, with the noise of the narrow type that other arrays are in.

    A model in bfloat16 may keep its residual stream in float32, as Mamba does: what goes into it is rounded.
    """
    return replace(answer.as_stored(rounded), said=False, inferred=True)


BY_RANKING = 0.25
"""A row comes of another ranking if it is nearer to that than this share of its distance from the right one."""
RANKED = "right but for what {}'s noise ranks otherwise: tokens may go to other experts whose scores are as near"
ROUNDED = "right but for what {}'s noise rounds to another whole number: between two of them either may be as near"


def ranked_otherwise(key: Key, question: Question, stored: str) -> str:
    """What is said if all wrong rows come of numbers that noise ranks or rounds otherwise; "" if they do not.

    Own values behind a ranking were rounded already, so that they are also worked out anew.
    """
    answer = question.answer
    behind = needed(key.nodes[question.step].sources[0], given=question.own)
    ranked = [made for made in behind if made.op in OPS and (OPS[made.op].points or OPS[made.op].jumps)]
    if not ranked or not answer.shape or answer.shape != question.expected.shape:
        return ""
    rounded = {made.key for made in needed(*ranked, given=question.own) if is_given(made, question.own)}
    unranked = {step: value for step, value in question.own.items() if step not in rounded}
    bases = (question.own, unranked, {}) if question.own else ({},)
    away = np.linalg.norm(answer.value - question.expected, axis=-1)
    off = ~fits(answer, question.expected).all(axis=-1)
    for value in (value for base in bases for value in key.worked_out_in(question.step, stored, RUNS, base)):
        near = np.linalg.norm(answer.value - value, axis=-1) < BY_RANKING * away
        off &= ~(near & fits(answer, value).all(axis=-1))
        if not off.any():
            return RANKED if any(OPS[made.op].points for made in ranked) else ROUNDED
    return ""


def judged_as(stored: str, own: str, *, inferred: bool) -> str:
    """What is said of the type that an answer was judged in, if nobody named it; `own` is that of its numbers."""
    if not inferred:
        return f"judged with {stored}'s noise, in which it is stored: --dtype says otherwise"
    if own == "float32" != stored:
        return f"judged with {stored}'s noise, as other arrays are in {stored}: --dtype says otherwise"
    if stored == "float32":
        return (
            "right but for float32's noise: parts of it were worked out in float32, as norms and softmax often are, "
            "and stored as float64; --dtype float64 allows no such noise"
        )
    return f"judged as {stored}, which its numbers are: --dtype says otherwise"


def widened_together(answers: Mapping[StepKey, Answer]) -> dict[StepKey, Answer]:
    """The small arrays of a dump that were widened from a narrow type, as all its arrays tell together.

    Those of few decimals may be handwritten and tell nothing: they are in the type of the others.
    """
    wide = {key: answer for key, answer in answers.items() if answer.stored in ("", *DTYPES)}
    held_in = {key: answer.value.astype(answer.stored or "float32") for key, answer in wide.items()}  # text is shorter
    small = {key: value for key, value in held_in.items() if narrowest(value) in NARROW}
    telling = [value for key, value in small.items() if wide[key].stored]
    telling += [answer.value for answer in answers.values() if answer.inferred and answer.stored in NARROW]
    stored = narrowest(np.concatenate([np.empty(0), *map(np.ravel, telling)]))
    if stored not in NARROW or sum(value.size for value in telling) < FEWEST_DUMPED:
        return {}
    fitting = [key for key, value in small.items() if np.array_equal(held(value, stored), value, equal_nan=True)]
    return {key: replace(wide[key].as_stored(stored), said=False, inferred=True) for key in fitting}


# Norms that were worked out in a dump's own narrow type, where float32 is the rule, are told from noise.


BY_NARROW_NORMS = 0.1
"""A narrow norm explains an answer that is nearer to it than this share of its distance from the right value."""


class _NarrowNorms:
    """A machine that works out a norm's mean of squares and its root in a narrow type, and all else in full."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.limit = machine, machine.limit

    def held(self, value: Array) -> Array:
        """The numbers of an operand, as they are."""
        return value

    def rounded(self, order: Sequence[Node], given: Collection[StepKey]) -> set[Node]:
        """The roots of means, and what is computed on the way to them from what is normalised."""
        found: set[Node] = set()
        for root in order:
            if root.row.normalises:
                x = root.sources[1]
                between = walk_to(partial(is_, x), root)
                found.update(node for node in between if node is not x and node.sources and node.op != "step")
        return found

    def made(self, node: Node, value: Array, sources: Sequence[Array]) -> Array:
        """The machine's value of a node; a root is that of its mean alone, even where squares overflow."""
        value = np.sqrt(sources[0]) if node.row.normalises else value
        return self.machine.made(node, value, sources).astype(np.float64)


def are_narrow(key: Key, question: Question, value: Array, base: Own) -> bool:
    """Whether an answer comes of norms that square in its own narrow type, and add up in that or in float32.

    It must be far nearer to that than to the right value, since a type's noise hides a little more noise.
    """
    node, answer = key.nodes[question.step], question.answer
    base = key.solutions.usable(base, node)
    if answer.shape != node.shape or not any(made.row.normalises for made in needed(node, given=base)):
        return False
    for accumulate in ACCUMULATED:
        norms = _NarrowNorms(Narrow(answer.stored, accumulate))
        found = evaluate_one(node, key.solutions.operands, given=base, after_step=norms)
        if fits(answer, found).all() and largest_error(answer, found) < BY_NARROW_NORMS * largest_error(answer, value):
            return True
    return False
