"""Slips are faults of the hand, which no rule is behind: one entry, a sign, the decimal point, a misread number.

They are looked for last, and only where most of a step is right, or where one slip explains all that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, permutations
from string import digits

import numpy as np

from attncalc.calculations import TABLE
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.mistake import StepKey
from attncalc.evaluate.values import evaluate_one, needed
from attncalc.homework.diagnosis.comparing import (
    BEYOND_NOISE,
    comes_out,
    fits,
    fitting,
    may_fit,
    nearly,
    odds,
    rows_of,
    stands_out,
)
from attncalc.homework.diagnosis.key import BLOCK, Key, Question, known, most_entries
from attncalc.homework.diagnosis.solutions import Own
from attncalc.homework.reading.answers import LEAST_FIGURES, Answer

LARGEST_HALF = 65_504
HALVES = ("bfloat16", "float16")


class Slip(NamedTuple):
    """A slip: what it is called, what was done, and a hint."""

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
COLUMNS = Slip("slip-columns-permuted", "columns are in the wrong order", "Is every column where it belongs?")
SWAPPED = Slip("slip-entries-swapped", "two entries have changed places", "Is every number where it belongs?")
COPIED = Slip("slip-row-copied", "a row is another one, written once more", "Is every row worked out by itself?")
PART = Slip("slip-part-only", "only a part of the step is given", "How many numbers does this step have?")
HALF = Slip(
    "half-overflow",
    f"a number is beyond {LARGEST_HALF:,}, the largest of float16, and what is made of it is lost",
    "How large do the numbers become on the way, and which type holds them?",
)
NO_UPCAST = Slip(
    "norm-no-upcast",
    "a norm's mean of squares in the type that its entries are stored in, not in float32",
    "In which type are the squares of a row added up, and how large do they become?",
)
FINAL = Slip(
    "slip-final-rounding", "one unit off in the last digit, which counts as right", "Is the last digit rounded?"
)

UNTOLD = (ENTRY, REST)
"""Those that say where a step is wrong, and not how."""
SLIPS = (
    *(TRANSPOSED, SIGN, PERCENT, POINT, ROWS, COLUMNS, SWAPPED, COPIED, FIRST_ROW, PART, ENTRY, REST, INPUT),
    *(HALF, NO_UPCAST, FINAL),
)
"""Every slip that is known; the last one is told by its verdict alone, right to rounding."""


LEAST_RIGHT = 2
"""How many entries must be right for the only wrong one to be a slip."""
MOST_MISREAD = 200
"""The most entries of an operand in which a misread number is looked for."""
MOST_DIGITS = 4
"""How many digits of a number, from the first on, are tried as misread."""
MOST_ROWS = 6
"""The most rows, columns, or entries of a vector that are tried in every order."""
MOST_COPIED = 100
"""The most rows among which one is looked for that was written twice."""
AT_ONCE = 10_000
"""How many entries are compared at once, at most."""
POWERS = (1, 2, 3)

Reading = tuple[tuple[int, ...], float]
"""The place of an entry of an operand, and what may be read there."""


def slip_behind(key: Key, question: Question, value: Array, base: Own) -> Slip | None:
    """The slip that turns a value into what was written, if one does; `base` are the steps that it is made of."""
    answer = question.answer
    right = fits(answer, value)
    if not (np.isfinite(answer.value) | right).all():
        return HALF if _overflows_in_half(key, question, base) else None
    if answer.stored in HALVES:
        from attncalc.homework.diagnosis.noise import are_narrow  # a door: few answers are dumps

        if are_narrow(key, question, value, base):
            return NO_UPCAST
    if _in_percent(answer, value):
        return PERCENT
    if not answer.enough.any() and not comes_out(value, 10.0**-answer.used):
        return None
    if not stands_out(answer, value):
        return None
    for slip, changes in _CHANGES.items():
        if _is_one_of(answer, changes(value, right), value, right):
            return slip
    if answer.dumped:
        return ENTRY if (~right).sum() == 1 and _sticks_out(answer, value, right) else None
    if _first_row_only(key, question.step, answer, right):
        return FIRST_ROW
    if (right & answer.answered).sum() >= LEAST_RIGHT and (~right).sum() == 1:
        return ENTRY
    if _last_made_up(answer, value, right):
        return REST
    return INPUT if _misread(key, question, value, base) else None


def _sticks_out(answer: Answer, value: Array, right: Array) -> bool:
    """Whether what is wrong is off by far more than anything that is right."""
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.value - value)
    off = np.where(np.isfinite(off), off, np.where(right, 0.0, np.inf))
    return bool(off[~right].min() > BEYOND_NOISE * off[right].max(initial=0.0))


def _overflows_in_half(key: Key, question: Question, base: Own) -> bool:
    """Whether an answer is what float16 gives: lost where a number on the way overflows, and right elsewhere."""
    node, answer = key.nodes[question.step], question.answer
    beyond = []

    def held(value: Array) -> Array:
        beyond.append(bool((np.isfinite(value) & (np.abs(value) > LARGEST_HALF)).any()))
        return np.where(np.abs(value) > LARGEST_HALF, np.copysign(np.inf, value), value)

    base = key.solutions.usable(base, node)
    found = evaluate_one(node, key.solutions.operands, given=base, after_step=held)
    if found.shape != answer.shape or not found.ndim or not any(beyond):
        return False
    in_lost_row = np.isnan(answer.value) & ~np.isfinite(found).all(axis=-1, keepdims=True)
    return bool((fits(answer, found) | in_lost_row).all())


def is_transposed(answer: Answer, expected: Array) -> bool:
    """Whether an answer has rows and columns exchanged, in each head if it has several."""
    turned = answer.laid(np.matrix_transpose) if answer.value.ndim > 1 else answer
    return turned.shape == expected.shape and bool(turned.answered.all() and nearly(turned, expected).all())


def part_given(answer: Answer, expected: Array) -> Slip | None:
    """The slip of giving one entry of a vector, or one row of a table, in place of all; it says which one."""
    if expected.ndim == 0 or len(expected) > MOST_COPIED or answer.value.size != expected[:1].size:
        return None
    alone = answer.laid(lambda value: value.reshape(expected.shape[1:]))
    found = [i for i, part in enumerate(expected) if fits(alone, part).all()]
    if not found or not alone.answered.all():
        return None
    if not alone.enough.all() and not comes_out(expected[found[0]], 10.0**-answer.used):
        return None
    what = "entry" if expected.ndim == 1 else "row"
    return PART._replace(says=f"{what} {found[0]} alone is given, counted from 0")


def _is_one_of(answer: Answer, changed: Iterable[Array], value: Array, right: Array) -> bool:
    """Whether an answer is one of the changed values: its wrong entries have enough digits, or it is no chance."""
    telling = bool((answer.figures[~right] >= LEAST_FIGURES).all())
    made: list[Array] = []
    tried, changed = 0, iter(changed)
    while several := [*islice(changed, max(1, AT_ONCE // max(1, value.size)))]:
        tried += len(several)
        likely = [other for other in several if may_fit(answer, other)]
        made += [likely[hit] for hit in fitting(answer, np.array(likely))] if likely else []
        if made and telling:
            return True
    return any(odds(answer, other, value, tried=tried).convince for other in made)


def _transposed(value: Array, right: Array) -> Iterator[Array]:
    if value.ndim > 1 and value.shape[-2] == value.shape[-1] > 1:
        yield np.matrix_transpose(value)


def _signs(value: Array, right: Array) -> Iterator[Array]:
    """All signs turned, or those of the wrong entries, if they are no more than the right ones."""
    yield -value
    if 2 * int((~right).sum()) <= right.size:
        yield np.where(right, value, -value)


def _points(value: Array, right: Array) -> Iterator[Array]:
    """Every decimal point moved alike, or that of the only wrong entry."""
    alone = (~right).sum() == 1 and right.size > 1
    for power in POWERS:
        for operation in (np.multiply, np.divide):
            yield (moved := operation(value, 10.0**power))
            if alone:
                yield np.where(right, value, moved)


def _in_another_order(value: Array, axis: int) -> Iterator[Array]:
    if value.ndim >= 2 and 2 <= value.shape[axis] <= MOST_ROWS:
        yield from (value.take(order, axis) for order in permutations(range(value.shape[axis])))


def _swapped(value: Array, right: Array) -> Iterator[Array]:
    """The only two entries that are wrong, each in the other's place; of a vector any order."""
    if np.count_nonzero(~right) == 2:
        changed = value.copy()
        one, other = map(tuple, np.argwhere(~right))
        changed[one], changed[other] = value[other], value[one]
        yield changed
    elif value.ndim == 1 and 2 <= value.size <= MOST_ROWS:
        yield from (value.take(order) for order in permutations(range(value.size)))


def _copied(value: Array, right: Array) -> Iterator[Array]:
    """The only row that is wrong, with another one in its place."""
    if value.ndim < 2:
        return
    rows = rows_of(value)
    wrong = np.flatnonzero(~rows_of(right).all(axis=-1))
    if len(wrong) == 1 and len(rows) <= MOST_COPIED:
        for row in rows:
            changed = rows.copy()
            changed[wrong] = row
            yield changed.reshape(value.shape)


_CHANGES: dict[Slip, Callable[[Array, Array], Iterator[Array]]] = {
    TRANSPOSED: _transposed,
    SIGN: _signs,
    POINT: _points,
    ROWS: lambda value, _: _in_another_order(value, -2),
    COLUMNS: lambda value, _: _in_another_order(value, -1),
    SWAPPED: _swapped,
    COPIED: _copied,
}
"""What each slip may make of a value, of which some entries are right in the answer."""


def _in_percent(answer: Answer, value: Array) -> bool:
    if not may_fit(answer, 100 * value):
        return False
    shares = answer.of_a_hundred()
    telling = shares.enough.all() and (answer.figures > 1).any()  # many a share is about 1 %
    return bool((np.abs(value) <= 1).all() and telling and fits(shares, value).all())


def _first_row_only(key: Key, step: StepKey, answer: Answer, right: Array) -> bool:
    """Whether the first row is right and the others are as they were in a step before."""
    if right.ndim != 2 or len(right) < 2 or not right[0].all() or right[1:].all():
        return False
    expression = key.nodes[step].sources[0]
    before = [node for node in (expression, *expression.sources) if node.op == "step"]
    values = key.solutions.values(before) if before else {}
    return any(v.shape == right.shape and fits(answer, v)[1:].all() for v in values.values())


def _misread(key: Key, question: Question, value: Array, base: Own) -> bool:
    """Whether one misread number of an operand explains the whole step, too well for chance.

    Operands that go only into own values are not tried: what was misread would have shown there.
    """
    expression = key.nodes[question.step].sources[0]
    base = key.solutions.usable(base, expression)
    behind = needed(expression, given=base)
    used = {node.args["name"] for node in behind if node.op == "input"}
    operands = {name: operand for name, operand in key.solutions.operands.items() if name in used}
    sizes = {axis.name: axis.size for node in behind for axis in node.axes}
    for readings in (_misreadings, _other_digits):
        for name, operand in operands.items():
            tried = _readings(key, name, operand, sizes, readings) if 0 < operand.size <= MOST_MISREAD else []
            if not tried or len(tried) * most_entries(expression) > BLOCK:
                continue
            stacked = np.stack([operand] * len(tried))
            for i, (at, entry) in enumerate(tried):
                stacked[(i, *at)] = entry
            read_so = {**key.solutions.operands, name: stacked}
            found = evaluate_one(expression, read_so, given=base, careful=False)
            if found.shape != (len(tried), *value.shape) or found.dtype.kind == "c":
                continue
            hits = fitting(question.answer, found)
            if any(odds(question.answer, found[hit], value, tried=len(tried)).convince for hit in hits):
                return True
    return False


def _readings(
    key: Key, name: str, operand: Array, sizes: Mapping[str, int], readings: Callable[[Array], Iterator[Reading]]
) -> list[Reading]:
    """The places of an operand with what may be read there: numbers as people misread them, or the other tokens."""
    declared = key.problem.calculation.operand(name)
    if declared is not None and declared.of:
        tokens = range(min(sizes.get(declared.of, 0), MOST_MISREAD))
        return [(at, token) for at in np.ndindex(operand.shape) for token in tokens if token != operand[at]]
    if operand.dtype.kind != "f":
        return []
    any_number = declared is None or declared.kind in ("real", "logits")  # else only those that occur, as of classes
    return [read for read in readings(operand) if any_number or read[1] in operand]


def _last_made_up(answer: Answer, value: Array, right: Array) -> bool:
    """Whether only two shares of one row are wrong, the last of which makes up for the other to the sum of 1."""
    if not right.ndim or right.sum() < LEAST_RIGHT or not _are_shares(value):
        return False
    row = ~rows_of(right)
    at = row.any(axis=1)
    if at.sum() != 1 or row[at].sum() != 2 or not row[at][0, -1]:
        return False
    shares = rows_of(answer.value)[at][0]
    return bool((shares >= 0).all() and abs(shares.sum() - 1) <= 1e-9)


def _are_shares(value: Array) -> bool:
    return bool((value >= 0).all() and np.allclose(value.sum(axis=-1), 1))


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


ANY = "any calculation"
"""The slips are listed under this name."""


def listed(calculation: str | None = None) -> list[dict[str, str]]:
    """Every mistake of a calculation, or of all, and the slips: id, wrong rule, hint, kind."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for name in [calculation] if calculation else TABLE:
        for m in known(name):
            if m.kind != "alternative":
                row = {"calculation": name, "id": m.id, "kind": m.kind, "says": m.says, "hint": m.hint}
                rows.setdefault((name, m.id), row | {"alias_of": m.alias_of})
    for slip in SLIPS:
        row = {"calculation": ANY, "id": slip.id, "kind": "slip", "says": slip.says, "hint": slip.hint}
        rows[ANY, slip.id] = row | {"alias_of": ""}
    return list(rows.values())
