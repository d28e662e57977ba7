"""An answer counts as right as written, one unit off in the last digit, or rounded on the way, by any right rule."""

from __future__ import annotations

import numpy as np

from attncalc.common.arrays import Array
from attncalc.declare.mistake import StepKey
from attncalc.homework.diagnosis.chance import OFTEN, by_rounding, chance
from attncalc.homework.diagnosis.comparing import (
    Tolerance,
    comes_out,
    fits,
    fitting,
    is_right,
    largest_error,
    nearly,
    says_nothing,
)
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.rounding import MOST_DECIMALS
from attncalc.homework.diagnosis.solutions import Own
from attncalc.homework.marking.findings import ABOUT_RIGHT, FROM_ROUNDED, LAST_DIGIT
from attncalc.homework.reading.answers import BY_HAND, LEAST_DECIMALS, LEAST_FIGURES, Answer
from attncalc.homework.reading.complex_numbers import as_parts, from_parts
from attncalc.language.graph import Node, steps
from attncalc.record.verdicts import EARLY, RIGHT, Finding

FAR = 0.1
"""Rounding that moves a step by more of its largest entry is believed only where no mistake gives what was written."""


def sound(key: Key, question: Question, tolerance: Tolerance | None) -> Finding | None:
    """Whether a step is right as it is written, one unit off in its last digit, or rounded on the way."""
    answer = question.answer
    values = _right_values(key, question)
    if any(is_right(answer, value, tolerance) for value in values):
        return Finding(RIGHT)
    if not answer.enough.any():
        return None
    close = not _comes_out_throughout(key, question) and any(nearly(answer, value).all() for value in values)
    if close and answer.used >= LEAST_FIGURES:
        return LAST_DIGIT
    early = _rounded_early(key, question) if question.by_hand else None
    return LAST_DIGIT if early is None and close else early


def is_far(key: Key, question: Question) -> bool:
    """Whether rounding on the way, if it is behind an answer, has moved it far from what is right by any rule."""
    values = [value for solution in question.right if (value := key.value(question.step, solution)) is not None]
    alike = [value for value in values if value.shape == question.answer.shape]
    return all(largest_error(question.answer, value) > FAR * np.max(np.abs(value), initial=0.0) for value in alike)


def within_rounding(key: Key, question: Question) -> Finding | None:
    """Whether rounding on the way reaches the entries one by one, though in no usual manner all at once."""
    answer, expected = question.answer, question.expected
    few = question.digits <= MOST_DECIMALS
    if not (few and question.by_hand and answer.enough.all()) or answer.exact.any():
        return None
    if _comes_out_throughout(key, question):
        return None
    usual = question.own and question.own_are_right and () in key.alternatives_behind(question.own)
    node = key.nodes[question.step]
    reached = [key.rounded(node, question.digits, base).near for base in ([None, question.own] if usual else [None])]
    values = np.concatenate([value for value in reached if value.shape[1:] == answer.shape])
    most = 1.5 * answer.unit  # and one unit off in the last digit
    with np.errstate(invalid="ignore"):
        within = (values.min(axis=0) - most <= answer.value) & (answer.value <= values.max(axis=0) + most)
    by_chance = chance(answer, expected, np.ptp(values, axis=0) + answer.unit) > OFTEN
    if not by_chance and (within | fits(answer, expected)).all() and not says_nothing(answer.value, expected):
        return ABOUT_RIGHT
    return None


def rounded_at(key: Key, question: Question, node: Node, own: Own | None) -> str | None:
    """The step whose rounding explains an answer, "" where it is no single one; None where rounding does not."""
    answer = question.answer
    if not answer.informative:
        return None  # zeros may be what somebody writes who has no answer
    if (answer.exact & np.isfinite(answer.value)).any() and question.digits < LEAST_DECIMALS:
        return None  # nobody works with fewer than two decimals and then writes a fraction or a root
    rounded = key.rounded(node, question.digits, own)
    hits = fitting(answer, rounded.values).tolist() if rounded.values.shape[1:] == answer.shape else []
    if _comes_out_throughout(key, question):  # whole numbers are not read off to three or four figures
        hits = [hit for hit in hits if not rounded.digits[hit][2]]
    exact = key.values([node], own)[0]
    if not hits or (np.isfinite(exact) & np.isinf(answer.value)).any():
        return None  # nobody rounds a number to ∞
    if by_rounding(answer, exact, rounded.values[: hits[0] + 1]) > OFTEN:
        return None
    return rounded.culprit(hits[0], exact, np.maximum(0.5 * answer.unit, answer.noise * np.abs(exact)))


def _right_values(key: Key, question: Question) -> list[Array]:
    """The values that are right for a step, each in the form in which the answer has what is free of it."""
    step, answer, expected = question[:3]
    own_count = question.own_are_right and any(key.nodes[behind].sources[0].row.free for behind in question.own)
    bases = [None, question.own] if own_count else [None]
    found = [key.value(step, solution, base) for solution in question.right for base in bases]
    alike = [value for value in found if value is not None and value.shape == expected.shape]
    return [_as_answered(key, step, value, answer) for value in alike]


def _as_answered(key: Key, step: StepKey, value: Array, answer: Answer) -> Array:
    """A value in the form that an answer has, where several are as right, as multiples of an eigenvector are."""
    free = key.nodes[step].sources[0].row.free
    if free is None or value.shape != answer.shape or not np.isfinite(answer.value).all():
        return value
    if step in key.complex:
        return as_parts(free(from_parts(value), from_parts(answer.value)))
    return np.asarray(free(value, answer.value))


def _rounded_early(key: Key, question: Question) -> Finding | None:
    """Whether a step follows from own values that were rounded, or from rounding at one place or at many."""
    step, answer = question.step, question.answer
    own = question.own if question.own_are_right else {}
    behind = key.alternatives_behind(own) if own else []
    follows = key.value(step, own=own) if () in behind else None
    if follows is not None and (fits(answer, follows).all() or nearly(answer, follows).all()):
        return FROM_ROUNDED
    for solution in question.right:
        for base in (None, own) if solution.alternatives in behind else (None,):
            hit = rounded_at(key, question, solution.steps[step], base) if step in solution.steps else None
            if hit is not None:
                where = f" at {hit}" if hit else ""
                return Finding(EARLY, hint=f"right method, rounded too early{where}: keep more digits on the way")
    return None


def _comes_out_throughout(key: Key, question: Question) -> bool:
    """Whether everything up to a step comes out evenly to the digits that were written: nothing to be rounded."""
    if question.answer.value.size > BY_HAND:
        return False
    named = [node.key for node in steps(key.nodes[question.step])]
    key.foresee(named)
    values = [key.value(name) for name in named]
    return all(value is not None and comes_out(value, 10.0**-question.answer.used) for value in values)
