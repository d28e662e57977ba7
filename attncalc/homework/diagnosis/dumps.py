"""What a machine has stored is explained by the mistakes that it is nearest to, or by another number.

Noise grows with the numbers of a row, so rows that overflow are passed over. A number that is searched for fits more
dumps than a known mistake does, so it is named only where no mistake is as near.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from attncalc.homework.diagnosis.comparing import fits, is_lost, stands_out
from attncalc.homework.diagnosis.explaining import (
    Explanation,
    candidates_for,
    in_some_places,
    likelier,
    likelier_first,
    pairs,
)
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.nearest import is_within, matched, nearest
from attncalc.homework.diagnosis.other_numbers import (
    may_have_other_numbers,
    numbers_found,
    of_other_numbers,
    searches,
)
from attncalc.homework.diagnosis.solutions import Own, Solution

PERMUTED = "heads-permuted"
HEADS = ("h", "g")
"""The axes of the heads of queries and of keys."""
ON_THE_WAY = 1e3
"""A row with an entry this many times as large as its right ones is about to overflow."""


def explanations(
    key: Key, question: Question, *, as_written: bool = False, beside: Explanation = ()
) -> Iterator[list[Explanation]]:
    """The explanations of a dump in groups, likelier ones first; those of a group explain it equally well.

    With `as_written`, only single mistakes made throughout are tried; `beside` are the mistakes that were found before.
    """
    singles = likelier_first(key, question)
    bases = _bases(key, question)
    known = {solution.mistakes for solution in key.wrong}
    numbers = (mistake for mistake in beside if mistake.options and (mistake,) not in known)
    singles += candidates_for(question, map(key.solutions.by, numbers))
    for base in bases:
        found = nearest(key, question, singles, base, beside)
        if found and question.answer.slack is not None:
            found = _nearer_still(key, question, found, base, beside)
        if found and not as_written and not is_within(key, question, found, base):
            yield from numbers_found(key, question, beside, within=True)  # the mistakes found are only near
        yield likelier([*_throughout(key, question, singles, found, base), *found])
    for told, base in product(_rows_told(question), bases):
        yield likelier(nearest(key, told, singles, base, beside))
    if as_written or is_lost(question.answer, question.expected):
        return
    yield _heads_permuted(key, question)
    somewhere = in_some_places(key, question, singles)
    for base in bases:
        yield likelier(nearest(key, question, somewhere, base, beside))
    yield from numbers_found(key, question, beside)


def two_at_once(key: Key, question: Question) -> Iterator[list[Explanation]]:
    """The explanations of a dump by two mistakes at once, if its step is small and it is off by more than noise."""
    answer, right = question.answer, question.expected
    if key.is_small(question.step) and not is_lost(answer, right) and stands_out(answer, right):
        yield likelier(nearest(key, question, candidates_for(question, pairs(key, question)), question.bases[0]))


def _rows_told(question: Question) -> Iterator[Question]:
    """A dump without the rows that overflow, then without those about to, whose noise is as large as they are.

    By the mistake that is looked for they may be finite. If all other rows are right, these tell of no mistake.
    """
    answer, right = question.answer, question.expected
    if answer.shape != right.shape or not right.size or not right.ndim:
        return
    size, usual = (
        np.abs(np.where(np.isfinite(right), x, 0)).max(axis=-1, keepdims=True) for x in (answer.value, right)
    )
    for most in (np.finfo(float).max, ON_THE_WAY * usual):
        told = (size <= most) & np.ones(answer.shape, dtype=bool)
        rows = replace(
            answer, value=np.where(told, answer.value, np.nan), text=np.where(told, answer.text, np.array(None))
        )
        if not told.all() and not fits(rows, right).all():
            yield question._replace(answer=rows)


def _bases(key: Key, question: Question) -> list[Own | None]:
    """What a dump may have been worked out from; if no step before it is given, what its layer should get is first."""
    alone = {} if question.own else key.given_to(question.step)
    return [alone, *question.bases] if alone else question.bases  # one layer takes less time than all before it


def _throughout(
    key: Key, question: Question, singles: Sequence[Solution], found: Sequence[Solution], own: Own | None
) -> list[Solution]:
    """Mistakes made in every layer that explain a step from the true operands.

    After wrong own values another mistake may seem to fit: a model that has its norms elsewhere stores other states,
    after which a norm seems to be missing.
    """
    if not found or not own or question.own_are_right:
        return []
    options = [one for one in singles if one.mistakes[0].options and one not in found]
    near = nearest(key, question, options, None)
    return near if near and is_within(key, question, near, None) else []


def _heads_permuted(key: Key, question: Question) -> list[Explanation]:
    """The explanation that a dump has the right heads in another order, which it names."""
    step, answer, right = key.nodes[question.step], question.answer, question.expected
    known = next((mistake for mistake in key.known if mistake.id == PERMUTED), None)
    axes = [part for axis in step.axes for part in axis.parts or (axis,)]
    place = next((number for number, axis in enumerate(axes) if axis.name in HEADS), None)
    if known is None or place is None or answer.shape != right.shape:
        return []
    shape = [axis.size for axis in axes]
    order = matched(answer.laid(lambda part: part.reshape(shape)), right.reshape(shape), place)
    return [(replace(known, says=f"{known.says}: {', '.join(map(str, order))}"),)] if order else []


def _nearer_still(
    key: Key, question: Question, found: Sequence[Solution], own: Own | None, beside: Explanation
) -> list[Solution]:
    """The solutions nearest to a dump, among those found and those with another number in place of the problem's."""
    others = of_other_numbers(key, question)
    near = nearest(key, question, [*found, *others], own, beside) if others else [*found]
    if may_have_other_numbers(key, question):
        sought = [one for search in searches(key, question, beside) for one in search()]
        among = nearest(key, question, [*near, *sought], own, beside) if sought else near
        if among and not any(one in near for one in among):
            return among
    return near
