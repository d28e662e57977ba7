"""Soundness: whether a step counts as right, as written, to its last digit or rounded on the way, by any route."""

from __future__ import annotations

import numpy as np

from attncalc.arrays import Array
from attncalc.graph import Node, steps
from attncalc.homework.answers import BY_HAND, LEAST_DECIMALS, LEAST_FIGURES
from attncalc.homework.comparing import (
    OFTEN,
    Tolerance,
    by_rounding,
    chance,
    comes_out,
    fits,
    fitting,
    is_right,
    largest_error,
    nearly,
)
from attncalc.homework.explaining import Question
from attncalc.homework.findings import ABOUT_RIGHT, FROM_ROUNDED, LAST_DIGIT
from attncalc.homework.freedoms import as_answered, is_free
from attncalc.homework.key import Key
from attncalc.homework.rounding import MOST_DECIMALS
from attncalc.homework.verdicts import EARLY, RIGHT, Finding
from attncalc.homework.ways import Own

FAR = 0.1
"""Rounding that moves a step by more of its largest entry is believed only where no mistake gives what was written."""


def right(key: Key, question: Question, tolerance: Tolerance | None) -> Finding | None:
    """Whether a step is right as it is written, one unit off in its last digit, or rounded on the way."""
    step, answer, expected = question[:3]
    bases = [None, question.own] if question.sound and any(is_free(key.nodes[k]) for k in question.own) else [None]
    found = [key.value(step, way, base) for way in question.routes for base in bases]
    values = [value for value in found if value is not None]
    parted = step in key.complex
    values = [as_answered(key.nodes[step], value, answer, parted) for value in values if value.shape == expected.shape]
    if any(is_right(answer, value, tolerance) for value in values):
        return Finding(RIGHT)
    if not answer.enough.any():
        return None
    close = not _all_comes_out(key, question) and any(nearly(answer, value).all() for value in values)
    if close and answer.used >= LEAST_FIGURES:
        return LAST_DIGIT
    early = _rounded_early(key, question) if question.by_hand else None
    return LAST_DIGIT if early is None and close else early


def is_far(key: Key, question: Question) -> bool:
    """Whether rounding on the way, if it is behind an answer, has moved it far from what is right by any route."""
    values = [value for way in question.routes if (value := key.value(question.key, way)) is not None]
    near = [value for value in values if value.shape == question.answer.shape]
    return all(largest_error(question.answer, value) > FAR * np.max(np.abs(value), initial=0.0) for value in near)


def within_rounding(key: Key, question: Question) -> Finding | None:
    """Entries that rounding on the way reaches one by one, though in no usual manner all at once."""
    step, answer, expected = question[:3]
    few = question.digits <= MOST_DECIMALS
    if not (few and question.by_hand and answer.enough.all()) or answer.exact.any() or _all_comes_out(key, question):
        return None
    gone_on = question.own and question.sound and () in key.taken(question.own)
    bases = [None, question.own] if gone_on else [None]
    reached = [key.rounded(key.nodes[step], question.digits, base).near for base in bases]
    values = np.concatenate([value for value in reached if value.shape[1:] == answer.shape])
    most = 1.5 * answer.unit  # and one unit off in the last digit
    with np.errstate(invalid="ignore"):
        within = (values.min(axis=0) - most <= answer.value) & (answer.value <= values.max(axis=0) + most)
    much = chance(answer, expected, np.ptp(values, axis=0) + answer.unit) > OFTEN
    if not much and (within | fits(answer, expected)).all() and not says_nothing(answer.value, expected):
        return ABOUT_RIGHT
    return None


def replayed(key: Key, question: Question, node: Node, own: Own | None) -> str | None:
    """The step whose rounding explains an answer, "" where it is no single one; None where rounding does not."""
    fractions = question.answer.exact & np.isfinite(question.answer.value)
    if not question.answer.informative:
        return None  # zeros may be what somebody writes who has no answer
    if fractions.any() and question.digits < LEAST_DECIMALS:
        return None  # nobody works with fewer than two decimals and then writes a fraction or a root
    rounded = key.rounded(node, question.digits, own)
    answer = question.answer
    hits = fitting(answer, rounded.values).tolist() if rounded.values.shape[1:] == answer.shape else []
    if _all_comes_out(key, question):  # whole numbers are not read off to three or four figures
        hits = [hit for hit in hits if not rounded.digits[hit][2]]
    exact = key.values([node], own)[0]
    if not hits or (np.isfinite(exact) & np.isinf(answer.value)).any():
        return None  # nobody rounds a number to ∞
    if by_rounding(answer, exact, rounded.values[: hits[0] + 1]) > OFTEN:
        return None
    return rounded.culprit(hits[0], exact, np.maximum(0.5 * answer.unit, answer.noise * np.abs(exact)))


def says_nothing(value: Array, expected: Array) -> bool:
    """Whether a value is NaN somewhere, or 0 throughout where it should not be: nothing follows from it."""
    return bool(np.isnan(value).any() or (not np.any(value) and np.any(expected)))


def _rounded_early(key: Key, question: Question) -> Finding | None:
    answer, own = question.answer, question.own if question.sound else {}
    follows = key.value(question.key, own=own) if own and () in key.taken(own) else None
    if follows is not None and (fits(answer, follows).all() or nearly(answer, follows).all()):
        return FROM_ROUNDED
    for way in question.routes:
        for base in (None, own) if own and way.route in key.taken(own) else (None,):
            hit = replayed(key, question, way.steps[question.key], base) if question.key in way.steps else None
            if hit is not None:
                where = f" at {hit}" if hit else ""
                return Finding(EARLY, hint=f"right method, rounded too early{where}: keep more digits on the way")
    return None


def _all_comes_out(key: Key, question: Question) -> bool:
    """Whether everything up to a step comes out evenly to the digits that were written: nothing to be rounded."""
    if question.answer.value.size > BY_HAND:
        return False
    named = [node.key for node in steps(key.nodes[question.key])]
    key.foresee(named)
    values = [key.value(name) for name in named]
    return all(value is not None and comes_out(value, 10.0**-question.answer.used) for value in values)
