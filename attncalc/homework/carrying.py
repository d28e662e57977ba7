"""Carrying: whether a step is worked out rightly from the writer's own earlier ones, of which some are wrong.

From what stands on the sheet, with rounding on the way, or from the same numbers with more digits than stand there, as
who keeps them in a machine goes on from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attncalc.arrays import Array
from attncalc.evaluate import evaluate
from attncalc.homework.answers import Answer
from attncalc.homework.comparing import OFTEN, chance, fits, is_right, nearly
from attncalc.homework.explaining import Question
from attncalc.homework.findings import CARRIED
from attncalc.homework.key import Key
from attncalc.homework.soundness import replayed, says_nothing
from attncalc.homework.verdicts import Finding
from attncalc.homework.ways import Own, Way, is_meant
from attncalc.mistake import Mistake, StepKey

MOST_MOVED = 200
"""So many own values at most are moved one by one."""


def carried(key: Key, question: Question, answers: Mapping[StepKey, Answer], made: Sequence[Mistake]) -> Finding | None:
    """Whether a step is what follows from the writer's own earlier ones, or from the mistakes that they made."""
    if question.sound:
        return None
    step, answer, expected, own = question[:4]
    follows = key.value(step, own=own)
    way = key.ways.way(*made) if made else None
    others = [key.value(step, route, own) for route in question.routes if route.route and _begins_later(route, own)]
    for value in (follows, *others, key.value(step, way) if way else None):
        if value is None or value.shape != answer.shape or says_nothing(value, expected):
            continue
        if is_right(answer, value) or (answer.enough.any() and nearly(answer, value).all()):
            return CARRIED
    if not question.by_hand or follows is None or says_nothing(follows, expected):
        return None
    if replayed(key, question, key.nodes[step], own) is not None or _with_more_digits(key, question, answers, follows):
        return CARRIED
    return None


def _begins_later(route: Way, own: Own) -> bool:
    """Whether nothing that somebody has written is a step which a route writes: it may begin behind."""
    return not any(is_meant(step, mistake.at) for mistake in route.route for step in own)


def _with_more_digits(key: Key, question: Question, answers: Mapping[StepKey, Answer], follows: Array) -> bool:
    """Whether a step is what earlier ones give as they were before they were rounded for the sheet."""
    answer = question.answer
    half = {k: np.where(answers[k].exact, 0.0, 0.5 * answers[k].unit) for k in question.own}
    moved = _moved(key, question, half) if follows.shape == answer.shape else None
    if moved is None or not answer.enough.all() or chance(answer, question.expected, answer.unit + 2 * moved) > OFTEN:
        return False
    with np.errstate(invalid="ignore"):
        near = np.abs(answer.value - follows) <= 0.5 * answer.unit * (1 + 1e-6) + moved
    return bool((near | fits(answer, follows)).all())


def _moved(key: Key, question: Question, off: Mapping[StepKey, Array]) -> Array | None:
    """How far a step moves at most, nearly, where own values are off by so much; None where there are too many."""
    node = key.nodes[question.key]
    own = key.ways.fitting(question.own, node)
    count = sum(value.size for value in own.values())
    if not 0 < count <= MOST_MOVED:
        return None
    stacked = {step: np.repeat(value[None], count + 1, axis=0) for step, value in own.items()}
    number = 1  # the first one stays as it is
    for step, value in own.items():
        for at in np.ndindex(value.shape):
            stacked[step][(number, *at)] += off[step][at]
            number += 1
    found = evaluate([node.sources[0]], key.ways.operands, given=stacked, keep=lambda _: False)[node.sources[0]]
    if found.shape != (count + 1, *node.shape):
        return None
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(np.abs(found[1:] - found[0]), nan=0.0).sum(axis=0))
