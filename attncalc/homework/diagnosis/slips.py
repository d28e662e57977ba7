"""Slips are faults of the hand, which no rule is behind: one entry, a sign, the decimal point, a misread number.

They are looked for last, and only where most of a step is right, or where one slip explains all that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from string import digits

import numpy as np

from attncalc.common.arrays import Array
from attncalc.declare.mistake import StepKey
from attncalc.evaluate.values import evaluate, is_given
from attncalc.homework.diagnosis.catalogue import (
    ENTRY,
    FIRST_ROW,
    INPUT,
    PERCENT,
    POINT,
    REST,
    ROWS,
    SIGN,
    TRANSPOSED,
    Slip,
)
from attncalc.homework.diagnosis.chance import odds
from attncalc.homework.diagnosis.comparing import comes_out, fits, fitting
from attncalc.homework.diagnosis.excerpts import BLOCK, most_entries
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.solutions import Own
from attncalc.homework.reading.answers import BY_HAND, LEAST_FIGURES, Answer
from attncalc.language.graph import walk

LEAST_RIGHT = 2
"""So many entries must be right for the only wrong one to be a slip."""
MOST_MISREAD = 200
"""So many entries of operands at most are tried to have been misread."""
MOST_DIGITS = 4
"""So many digits of each, the first ones, are tried to have been misread."""
MOST_ROWS = 6
POWERS = (1, 2, 3)

Reading = tuple[tuple[int, ...], float]
"""The place of an entry of an operand, and what may be read there."""


def slip_behind(key: Key, question: Question, value: Array, base: Own) -> Slip | None:
    """The slip that makes of a value what was written, if one does; `base` are the steps that the value is made of."""
    answer = question.answer
    right = fits(answer, value)
    if not (np.isfinite(answer.value) | right).all():
        return None
    if _in_percent(answer, value):
        return PERCENT
    if not answer.enough.any() and not comes_out(value, 10.0**-answer.used):
        return None
    for slip, changes in _CHANGES.items():
        if _is_one_of(answer, list(changes(value, right)), value, right):
            return slip
    if right.size > BY_HAND:
        return ENTRY if (~right).sum() == 1 else None
    if _first_row_only(key, question.step, answer, right):
        return FIRST_ROW
    if right.size > LEAST_RIGHT and (~right).sum() == 1:
        return ENTRY
    if _last_made_up(answer, value, right):
        return REST
    return INPUT if _misread(key, question, value, base) else None


def _is_one_of(answer: Answer, changed: list[Array], value: Array, right: Array) -> bool:
    """Whether an answer is one of several values, in digits enough where it is wrong, or too well for chance."""
    made = [other for other in changed if fits(answer, other).all()]
    telling = bool((answer.figures[~right] >= LEAST_FIGURES).all())
    return bool(made) and (telling or any(odds(answer, o, value, tried=len(changed)).convince for o in made))


def _transposed(value: Array, right: Array) -> Iterator[Array]:
    if value.ndim == 2 and value.shape[0] == value.shape[1] and value.shape[0] > 1:
        yield value.T


def _signs(value: Array, right: Array) -> Iterator[Array]:
    """All signs turned, or those of few entries beside right ones."""
    yield -value
    if 2 * int((~right).sum()) <= right.size:
        yield np.where(right, value, -value)


def _points(value: Array, right: Array) -> Iterator[Array]:
    """Every point moved alike, or that of the one entry which is wrong."""
    alone = (~right).sum() == 1 and right.size > 1
    for power in POWERS:
        for moved in (value * 10.0**power, value / 10.0**power):
            yield moved
            if alone:
                yield np.where(right, value, moved)


def _rows(value: Array, right: Array) -> Iterator[Array]:
    if value.ndim == 2 and 2 <= len(value) <= MOST_ROWS:
        yield from (value[list(order)] for order in permutations(range(len(value))))


_CHANGES: dict[Slip, Callable[[Array, Array], Iterator[Array]]] = {
    TRANSPOSED: _transposed,
    SIGN: _signs,
    POINT: _points,
    ROWS: _rows,
}
"""What each slip may make of a value, of which some entries are right in the answer."""


def _in_percent(answer: Answer, value: Array) -> bool:
    shares = answer.of_a_hundred()
    return bool((np.abs(value) <= 1).all() and shares.enough.all() and fits(shares, value).all())


def _first_row_only(key: Key, step: StepKey, answer: Answer, right: Array) -> bool:
    """Whether the first row is right and the others are as they were in a step before."""
    if right.ndim != 2 or len(right) < 2 or not right[0].all() or right[1:].all():
        return False
    expression = key.nodes[step].sources[0]
    before = [node for node in (expression, *expression.sources) if node.op == "step"]
    values = key.solutions.values(before) if before else {}
    return any(v.shape == right.shape and fits(answer, v)[1:].all() for v in values.values())


def _misread(key: Key, question: Question, value: Array, base: Own) -> bool:
    """Whether one number of an operand, misread as people misread, explains the whole, too well for chance.

    An operand that only goes into steps which are answered before would have shown there.
    """
    expression = key.nodes[question.step].sources[0]
    base = key.solutions.usable(base, expression)
    behind = walk(expression, into=lambda node: () if is_given(node, base) else node.sources)
    used = {node.args["name"] for node in behind if node.op == "input"}
    operands = {name: operand for name, operand in key.solutions.operands.items() if name in used}
    for readings in (_misreadings, _other_digits):
        for name, operand in operands.items():
            if operand.dtype.kind != "f" or not 0 < operand.size <= MOST_MISREAD:
                continue
            any_number = _measures(key, name)
            tried = [read for read in readings(operand) if any_number or read[1] in operand]
            if not tried or len(tried) * most_entries(expression) > BLOCK:
                continue
            stacked = np.stack([operand] * len(tried))
            for i, (at, entry) in enumerate(tried):
                stacked[(i, *at)] = entry
            read_so = {**key.solutions.operands, name: stacked}
            found = evaluate([expression], read_so, given=base, keep=lambda _: False)[expression]
            if found.shape != (len(tried), *value.shape) or found.dtype.kind == "c":
                continue
            hits = fitting(question.answer, found)
            if any(odds(question.answer, found[hit], value, tried=len(tried)).convince for hit in hits):
                return True
    return False


def _last_made_up(answer: Answer, value: Array, right: Array) -> bool:
    """Whether of shares that sum to 1 only two are wrong, the last of a row and what it makes up for."""
    if not right.ndim or right.sum() < LEAST_RIGHT or not _are_shares(value):
        return False
    row = ~right.reshape(-1, right.shape[-1])
    at = row.any(axis=1)
    if at.sum() != 1 or row[at].sum() != 2 or not row[at][0, -1]:
        return False
    shares = answer.value.reshape(row.shape)[at][0]
    return bool((shares >= 0).all() and abs(shares.sum() - 1) <= 1e-9)


def _are_shares(value: Array) -> bool:
    return bool((value >= 0).all() and np.allclose(value.sum(axis=-1), 1))


def _measures(key: Key, name: str) -> bool:
    """Whether an operand may hold any numbers, and not only those of classes or rows that there are."""
    operand = key.problem.calculation.operand(name)
    return operand is None or operand.kind in ("real", "logits")


def _misreadings(operand: Array) -> Iterator[Reading]:
    """Each entry as it may have been misread: another sign, 0, one more or less, a neighbour, a moved point."""
    for at in np.ndindex(operand.shape):
        entry = float(operand[at])
        near = {-entry, 0.0, 1.0, entry + 1, entry - 1, entry * 10, entry / 10}
        for axis in range(operand.ndim):
            for off in (-1, 1):
                place = list(at)
                place[axis] += off
                if 0 <= place[axis] < operand.shape[axis]:
                    near.add(float(operand[tuple(place)]))
        yield from ((at, other) for other in near if other != entry and np.isfinite(other))


def _other_digits(operand: Array) -> Iterator[Reading]:
    """Each entry with another digit in one of its places."""
    for at in np.ndindex(operand.shape):
        written = f"{float(operand[at]):.15g}"
        if "e" not in written:
            places = [i for i, digit in enumerate(written) if digit.isdigit()][:MOST_DIGITS]
            yield from (
                (at, float(written[:i] + d + written[i + 1 :])) for i in places for d in digits if d != written[i]
            )
