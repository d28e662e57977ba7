"""Slips of the hand, which no rule is behind: one entry, a sign, the decimal point, a misread number.

They are looked for last, and only where most of a step is right, or where one slip explains all that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from string import digits
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncalc.arrays import Array
from attncalc.evaluate import evaluate
from attncalc.graph import walk
from attncalc.homework.answers import BY_HAND, LEAST_FIGURES, Answer
from attncalc.homework.comparing import comes_out, fits, fitting, odds
from attncalc.homework.excerpts import BLOCK, largest
from attncalc.mistake import StepKey
from attncalc.plan import is_given

if TYPE_CHECKING:
    from attncalc.homework.explaining import Question
    from attncalc.homework.key import Key
    from attncalc.homework.ways import Own

LEAST_RIGHT = 2
"""So many entries must be right for the only wrong one to be a slip."""
MOST_MISREAD = 200
"""So many entries of operands at most are tried to have been misread."""
MOST_DIGITS = 4
"""So many digits of each, the first ones, are tried to have been misread."""
MOST_ROWS = 6
POWERS = (1, 2, 3)


Readings = Callable[[Array], Iterator[tuple[tuple[int, ...], float]]]
"""An operand → the places of its entries, with what may be read there."""


class Slip(NamedTuple):
    """A slip: what it is called, what was done, and a pointer."""

    id: str
    says: str
    hint: str


TRANSPOSED = Slip("slip-transposed-answer", "the answer is transposed", "What does each row of this step stand for?")
SIGN = Slip("slip-sign", "a sign is wrong", "Look at the signs once more.")
PERCENT = Slip("slip-percent", "written in per cent", "Is that a share of 1, or of 100?")
POINT = Slip("slip-decimal-point", "the decimal point is moved", "Look at the decimal point once more.")
ROWS = Slip("slip-rows-permuted", "rows are in the wrong order", "Is every row where it belongs?")
FIRST_ROW = Slip("slip-one-row-only", "only the first row was worked out", "Were the other rows worked out as well?")
ENTRY = Slip("slip-one-entry", "one entry is wrong, all others are right", "Work this entry out once more.")
REST = Slip(
    "slip-complement",
    "one entry is wrong, and the last one of its row is what was left of 1",
    "Work out every entry of that row by itself. Their sum is the check.",
)
INPUT = Slip(
    "slip-copied-input",
    "one number of an operand was misread",
    "Compare the numbers that you used with those that were given.",
)
FINAL = Slip(
    "slip-final-rounding", "one unit off in the last digit, which counts as right", "Is the last digit rounded?"
)

SLIPS = (TRANSPOSED, SIGN, PERCENT, POINT, ROWS, FIRST_ROW, ENTRY, REST, INPUT, FINAL)
"""Every slip that is known; the last one goes by its verdict, right to rounding."""


def slips(key: Key, question: Question, value: Array, base: Own) -> Slip | None:
    """The slip that explains an answer beside a value, if one does; `base` are the steps that the value is made of."""
    step, answer = question[:2]
    right = fits(answer, value)
    if not (np.isfinite(answer.value) | right).all():
        return None
    if _in_percent(answer, value):
        return PERCENT
    if not answer.enough.any() and not comes_out(value, 10.0**-answer.used):
        return None
    telling = bool((answer.figures[~right] >= LEAST_FIGURES).all())
    for found, others in _WHOLE:
        tried = list(others(value, right))
        made = [other for other in tried if fits(answer, other).all()]
        if made and (telling or any(odds(answer, other, value, tried=len(tried)).convince for other in made)):
            return found
    if right.size > BY_HAND:
        return ENTRY if (~right).sum() == 1 else None
    if _first_row_only(key, step, answer, right):
        return FIRST_ROW
    if right.size > LEAST_RIGHT and (~right).sum() == 1:
        return ENTRY
    if _left_over(answer, value, right):
        return REST
    return INPUT if _misread(key, question, value, base) else None


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


_WHOLE: tuple[tuple[Slip, Callable[[Array, Array], Iterator[Array]]], ...] = (
    (TRANSPOSED, _transposed),
    (SIGN, _signs),
    (POINT, _points),
    (ROWS, _rows),
)
"""What each slip may make of a step, of which one knows what is right and where the answer is."""


def _in_percent(answer: Answer, value: Array) -> bool:
    shares = answer.of_a_hundred()
    return bool((np.abs(value) <= 1).all() and shares.enough.all() and fits(shares, value).all())


def _first_row_only(key: Key, step: StepKey, answer: Answer, right: Array) -> bool:
    """Whether the first row is right and the others are as they were in a step before."""
    if right.ndim != 2 or len(right) < 2 or not right[0].all() or right[1:].all():
        return False
    expression = key.nodes[step].sources[0]
    before = [node for node in (expression, *expression.sources) if node.op == "step"]
    values = key.ways.values(before) if before else {}
    return any(v.shape == right.shape and fits(answer, v)[1:].all() for v in values.values())


def _misread(key: Key, question: Question, value: Array, base: Own) -> bool:
    """Whether one number of an operand, misread as people misread, explains the whole."""
    return any(_read_so(key, question, value, base, readings) for readings in (_misreadings, _other_digits))


def _read_so(key: Key, question: Question, value: Array, base: Own, readings: Readings) -> bool:
    """Whether one of these readings of an operand explains the whole, too well for chance.

    An operand that only goes into steps which are answered before would have shown there.
    """
    answer, node = question.answer, key.nodes[question.key].sources[0]
    base = key.ways.fitting(base, node)
    behind = walk(node, into=lambda node: () if is_given(node, base) else node.sources)
    used = {n.args["name"] for n in behind if n.op == "input"}
    for name, operand in key.ways.operands.items():
        if name not in used or operand.dtype.kind != "f" or not 0 < operand.size <= MOST_MISREAD:
            continue
        changed = list(readings(operand))
        if not _measures(key, name):
            changed = [(at, entry) for at, entry in changed if entry in operand]
        if not changed or len(changed) * largest(node) > BLOCK:
            continue
        moved = np.stack([operand] * len(changed))
        for i, (at, entry) in enumerate(changed):
            moved[(i, *at)] = entry
        read = {**key.ways.operands, name: moved}
        found = evaluate([node], read, given=base, keep=lambda node: False)[node]
        if found.shape != (len(changed), *value.shape) or found.dtype.kind == "c":
            continue
        if any(odds(answer, found[hit], value, tried=len(changed)).convince for hit in fitting(answer, found)):
            return True
    return False


def _left_over(answer: Answer, value: Array, right: Array) -> bool:
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


def _misreadings(operand: Array) -> Iterator[tuple[tuple[int, ...], float]]:
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


def _other_digits(operand: Array) -> Iterator[tuple[tuple[int, ...], float]]:
    """Each entry with another digit in one of its places."""
    for at in np.ndindex(operand.shape):
        written = f"{float(operand[at]):.15g}"
        if "e" not in written:
            places = [i for i, digit in enumerate(written) if digit.isdigit()][:MOST_DIGITS]
            yield from (
                (at, float(written[:i] + d + written[i + 1 :])) for i in places for d in digits if d != written[i]
            )
