"""An error is carried on where a step is worked out rightly from own values of which some are wrong.

It may follow from what stands on the sheet, with rounding on the way, or from the same numbers with more digits than
stand there, as somebody works who keeps them in a machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from attncalc.common.arrays import Array
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.evaluate.values import evaluate
from attncalc.homework.diagnosis.chance import OFTEN, chance
from attncalc.homework.diagnosis.comparing import fits, is_right, nearly, says_nothing
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.solutions import is_meant
from attncalc.homework.marking.findings import CARRIED
from attncalc.homework.marking.soundness import rounded_at
from attncalc.homework.reading.answers import Answer
from attncalc.record.verdicts import Finding

MOST_MOVED = 200
"""So many own values at most are moved one by one."""


def carried(key: Key, question: Question, answers: Mapping[StepKey, Answer], made: Sequence[Mistake]) -> Finding | None:
    """Whether a step is what follows from the writer's own earlier ones, or from the mistakes that they made."""
    if question.own_are_right:
        return None
    step, answer, expected, own = question[:4]
    follows = key.value(step, own=own)
    for value in (follows, *_following(key, question, made)):
        if value is None or value.shape != answer.shape or says_nothing(value, expected):
            continue
        if is_right(answer, value) or (answer.enough.any() and nearly(answer, value).all()):
            return CARRIED
    if not question.by_hand or follows is None or says_nothing(follows, expected):
        return None
    if rounded_at(key, question, key.nodes[step], own) is not None or _has_more_digits(key, question, answers, follows):
        return CARRIED
    return None


def _following(key: Key, question: Question, made: Sequence[Mistake]) -> Iterator[Array | None]:
    """What follows from own values by an alternative rule, and by the mistakes that were made from the true operands.

    An alternative is one that nothing speaks against: no own value is that of a step which it writes.
    """
    for solution in question.right:
        at = [word for rule in solution.rules for word in rule.at]  # none where the rules are options
        if solution.rules and not any(is_meant(step, at) for step in question.own):
            yield key.value(question.step, solution, question.own)
    if made and (wrong := key.solutions.by(*made)):
        yield key.value(question.step, wrong)


def _has_more_digits(key: Key, question: Question, answers: Mapping[StepKey, Answer], follows: Array) -> bool:
    """Whether a step is what earlier ones give as they were before they were rounded for the sheet."""
    answer = question.answer
    half = {step: np.where(answers[step].exact, 0.0, 0.5 * answers[step].unit) for step in question.own}
    moved = _most_moved(key, question, half) if follows.shape == answer.shape else None
    if moved is None or not answer.enough.all() or chance(answer, question.expected, answer.unit + 2 * moved) > OFTEN:
        return False
    with np.errstate(invalid="ignore"):
        near = np.abs(answer.value - follows) <= 0.5 * answer.unit * (1 + 1e-6) + moved
    return bool((near | fits(answer, follows)).all())


def _most_moved(key: Key, question: Question, off: Mapping[StepKey, Array]) -> Array | None:
    """How far a step moves at most, nearly, where own values are off by so much; None where there are too many.

    Every own value is moved by itself, all in one evaluation along a leading axis, whose first place moves none.
    """
    node, solutions = key.nodes[question.step], key.solutions
    own = solutions.usable(question.own, node)
    count = sum(value.size for value in own.values())
    if not 0 < count <= MOST_MOVED:
        return None
    stacked = {step: np.repeat(value[None], count + 1, axis=0) for step, value in own.items()}
    places = [(step, at) for step, value in own.items() for at in np.ndindex(value.shape)]
    for number, (step, at) in enumerate(places, 1):
        stacked[step][(number, *at)] += off[step][at]
    expression = node.sources[0]
    found = evaluate([expression], solutions.operands, given=stacked, keep=lambda _: False)[expression]
    if found.shape != (count + 1, *node.shape):
        return None
    if found.dtype.kind == "b":  # true and false are 1 and 0 on a sheet
        found = found.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(np.abs(found[1:] - found[0]), nan=0.0).sum(axis=0))
