"""A finding says what is behind an answer: sound, carried on, mistakes by their names, or a slip."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.calculations import typed
from attncalc.common.errors import amount, flag
from attncalc.common.numerals import Array
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.homework.diagnosis.comparing import (
    OFTEN,
    Digits,
    chance,
    comes_out,
    fits,
    fitting,
    is_as_lost,
    is_filled,
    is_lost,
    is_near,
    is_right,
    largest,
    largest_error,
    nearly,
    odds,
    says_nothing,
    within_a_unit,
)
from attncalc.homework.diagnosis.explaining import Explanation, ids, is_about, within, without_mistake
from attncalc.homework.diagnosis.key import Key, Question
from attncalc.homework.diagnosis.solutions import Own, is_meant
from attncalc.homework.reading.answers import (
    BY_HAND,
    LEAST_DECIMALS,
    LEAST_FIGURES,
    NOISE,
    ROUND_OFF,
    Answer,
    as_parts,
    from_parts,
    split,
)
from attncalc.language.graph import Node, steps, walk
from attncalc.record.numbers import shortest
from attncalc.record.verdicts import (
    EARLY,
    FOLLOWS,
    MISSING,
    MISTAKE,
    MOST_MAPPED,
    RIGHT,
    SLIP,
    SOUND,
    TO_ROUNDING,
    UNEXPLAINED,
    Finding,
    Wrong,
)

if TYPE_CHECKING:
    from attncalc.homework.diagnosis.slips import Slip

MOST_NAMED = MOST_MAPPED**2
"""How many wrong entries are named, at most: all those of the largest map that a page draws."""

LAST_DIGIT = Finding(TO_ROUNDING, hint="one unit off in the last digit", close=True)
FROM_ROUNDED = Finding(
    EARLY, hint="right method, from earlier steps that were rounded: keep more digits on the way", close=True
)
PERHAPS = Finding(UNEXPLAINED, hint="may be rounding: keep more digits, or say how you round", close=True)
UNDONE = Finding(UNEXPLAINED, hint="what is wrong is 0 throughout, the rest is right: leave blank what is not done")
EVEN = Finding(
    UNEXPLAINED,
    hint="every row is shared out evenly: which of its entries should be larger than others, and by what?",
    void=True,
)
ALL_TO_ONE = Finding(
    UNEXPLAINED, hint="every row gives all to its largest entry: is anything left for the others?", void=True
)
MAY_BE_CHANCE, TOO_FEW = "a known mistake may give this, but so may chance", "too few digits to tell"
FILLED = Finding(UNEXPLAINED, hint="one number throughout, where this step has another or several", void=True)
_TAKEN = "right method, {}: keep more digits on the way"
_KEPT_FEWER = "may be rounding to {kept} on the way{where}: keep more digits, or say so on the sheet (rounding)"
GROWN = Finding(
    UNEXPLAINED,
    hint="it follows from arrays before it that are right but for noise: what is too small to be seen there grew here",
)
ANOTHER_SHIFT = "shifted by another number than the maximum, which changes no share"
CARRIED = Finding(FOLLOWS, hint="worked out rightly from an earlier step that is wrong")
FROM_UNDECIDED = Finding(FOLLOWS, hint="worked out rightly from an earlier step as it is written", close=True)


def located(wrong: Array) -> Wrong:
    """Where entries are wrong; the first of them are listed."""
    count = int(np.count_nonzero(wrong))
    if not count or not wrong.ndim:
        return Wrong(((),) * count, count)
    first = np.unravel_index(np.flatnonzero(wrong)[:MOST_NAMED], wrong.shape)
    axes = range(wrong.ndim)
    along = (np.flatnonzero(wrong.any(axis=tuple(other for other in axes if other != axis))) for axis in axes)
    spans = tuple(range(int(at[0]), int(at[-1]) + 1) for at in along)
    return Wrong(tuple(zip(*(at.tolist() for at in first), strict=True)), count, spans)


def incomplete(found: Finding, blank: Array, wrong: Array) -> Finding:
    """The finding on a step with blank entries: what was found of the others, or, if these are right, MISSING."""
    if found.verdict not in SOUND:
        return replace(found, wrong=located(wrong))
    hint = f"{amount(int(blank.sum()), 'entry is', 'entries are')} not answered"
    return Finding(MISSING, hint=hint, wrong=located(blank))


def slipped(found: Slip, also: Sequence[Mistake] = ()) -> Finding:
    """The finding of a slip, and of mistakes that would give the same to so few digits."""
    hint = f"{found.hint} {also[0].hint}" if also else found.hint
    return Finding(SLIP, kind="slip", mistakes=(found.id,), also=ids(also), hint=hint, says=found.says)


def mistaken(
    key: Key, step: StepKey, explanations: Sequence[Explanation], wrong: Wrong, *, separately: bool = True
) -> Finding:
    """The finding of the likeliest mistakes, and beside them of what would explain as much."""
    best, *others = explanations
    named = ids(best)
    ties = [ids(other) for other in others if ids(other) != named]
    aliases = [rule.id for name in named for rule in key.known if rule.alias_of == name and key.solutions.by(rule)]
    return Finding(
        MISTAKE,
        kind=best[0].kind,
        mistakes=named,
        also=tuple(dict.fromkeys(["+".join(tie) for tie in ties] + aliases)),
        hint=best[0].hint,
        says="; ".join(_said(key, mistake) for mistake in best),
        separate=_separating(key, step, explanations) if ties and separately else None,
        wrong=wrong,
    )


def _said(key: Key, mistake: Mistake) -> str:
    """What is said of a mistake: its wrong rule, and if it changes options, how these would be set."""
    if mistake.options is None:
        return mistake.says
    given = key.problem.settled
    others = {name: value for name, value in mistake.options(given).items() if value != given[name]}
    return f"{mistake.says} ({'; '.join(_other_setting(name, value, given[name]) for name, value in others.items())})"


def _other_setting(name: str, value: Any, given: Any) -> str:
    """How an option is set in place of what was given: `--layout half, where the problem says interleaved`."""
    if value is None:
        return f"without {flag(name)}, where the problem says {typed(given)}"
    if isinstance(value, bool):
        return f"with {flag(name)}, where the problem is without" if value else f"without {flag(name)}"
    return f"{flag(name)} {typed(value)}, where the problem says {typed(given)}"


def _separating(key: Key, step: StepKey, explanations: Sequence[Explanation]) -> dict[str, Any] | None:
    """Operands that tell explanations apart, found once for a key."""
    if key.large or any(given.is_stored for given in key.problem.inputs.values()):  # nobody has another checkpoint
        return None
    tie = (step, tuple(map(ids, explanations)))
    if tie not in key.separated:
        from attncalc.homework.diagnosis.separating import separating  # a door: few answers tie

        key.separated[tie] = separating(key, step, explanations)
    return key.separated[tie]


OF_FLOAT32 = 6
"""Numbers of this many decimals come from a machine, and may be off by float32's noise; hands write fewer."""


_NOT_FINITE = "an entry is not a {} number"


def unexplained(answer: Answer, expected: Array, *others: Array, possible: bool = False) -> Finding:
    """The finding that nothing explains an answer, with what seems to stand in the way.

    With more digits it may be what is expected, or one of the `others` that would be as right. It is `possible` that a
    mistake explains it, though that may be chance.
    """
    # whether all that is answered are the first digits of a value, to within one unit of the last one
    begun = any((is_near(answer, value) | ~answer.answered).all() for value in (expected, *others))
    hint = _in_the_way(answer, expected, possible=possible, begun=begun)
    return Finding(UNEXPLAINED, hint=hint, close=begun and hint.startswith(TOO_FEW))


def stopped(answer: Answer, expected: Array, seconds: float) -> Finding:
    """The finding that an answer is wrong, and that time ended before everything was tried."""
    hint = f"diagnosis stopped after {seconds:g} s: a known mistake may be behind this"
    hint = f"{_NOT_FINITE.format('finite')}; {hint}" if is_lost(answer, expected) else hint
    return Finding(UNEXPLAINED, hint=f"{hint}{_how_far(answer, expected)}", stopped=True)


LARGEST_PART = 64
"""The largest denominator that a factor is told with."""


def multiplied(answer: Answer, expected: Array) -> Finding | None:
    """Whether a dump is what is right times a number, as when a loss is summed in place of averaged."""
    size = float(np.sum(np.square(expected), where=np.isfinite(expected)))
    if answer.shape != expected.shape or np.count_nonzero(expected) < 2 or not size:
        return None
    with np.errstate(all="ignore"):
        factor = float(np.sum(answer.value * expected, where=np.isfinite(expected))) / size
    if not np.isfinite(factor) or not factor or not fits(answer.times(1 / factor), expected).all():
        return None
    said, asks, size = f"{factor:.4g}".replace("-", "−"), "", abs(factor)
    parts = ((round(size * under), under) for under in range(1, LARGEST_PART + 1))
    over, under = next(((over, u) for over, u in parts if abs(size * u - over) <= answer.noise * over), (0, 0))
    if 1 in (over, under) or abs(over - under) == 1:
        from fractions import Fraction  # a door: fractions take their time to load, and few answers are such

        said = f"{'−' * (factor < 0)}{Fraction(over, under)}"
        if under == 1 < over:
            asks = f": is a sum over {over} taken in place of a mean?"
        elif under > 1:
            asks = f": is a mean over {under} taken in place of {f'one over {over}' if over > 1 else 'a sum'}?"
    return Finding(UNEXPLAINED, hint=f"it is {said} times what is right, throughout{asks}")


def _how_far(answer: Answer, expected: Array) -> str:
    """How far a large dump is off: this tells rounding from another rule, and in two figures gives no entry away."""
    if not answer.dumped or answer.value.size <= MOST_NAMED:
        return ""
    most, all_of = (shortest(float(f"{size:.2g}")) for size in (largest_error(answer, expected), largest(expected)))
    return f"; off by up to {most}, in entries of up to {all_of}"


def _in_the_way(answer: Answer, expected: Array, *, possible: bool, begun: bool) -> str:
    if not np.isfinite(answer.value[answer.answered]).all() and np.isfinite(expected).all():
        complex_ = any(text is not None and split(text) for text in answer.text.flat)
        return _NOT_FINITE.format("real" if complex_ else "finite")
    size = largest(expected)
    precise = answer.stored == "float64" if answer.dumped else answer.used >= OF_FLOAT32 and not answer.stored
    noise = precise and (largest_error(answer, expected) or 0) <= NOISE["float32"] * size
    if answer.dumped or noise:
        of_noise = "; that is float32's noise, and --dtype float32 allows it" if noise else ""
        return f"no known mistake gives this{_how_far(answer, expected)}{of_noise}"
    even = comes_out(expected, 10.0**-answer.used)
    only_zeros = not answer.informative and 0 < size < 10.0**-answer.used
    if not even and (only_zeros or (begun and not answer.enough.all() and answer.used < LEAST_FIGURES)):
        return f"{TOO_FEW}: write at least {LEAST_DECIMALS} decimals{' of each' if answer.value.size > 1 else ''}"
    if possible and even:
        return f"{MAY_BE_CHANCE}, with numbers so few and small"
    if possible and not answer.exact.all():
        return f"{TOO_FEW} why: write at least {max(LEAST_FIGURES, answer.used + 1)} decimals"
    right = fits(answer, expected)[answer.answered]
    wrong = int((~right).sum())
    telling = even or answer.used >= LEAST_FIGURES or bool(answer.exact.all())
    if 1 < wrong <= right.size // (2 if telling else 4):  # else more digits would tell more
        return f"{wrong} entries are wrong, {_the_others(right.size - wrong)} right: work these out once more"
    if not even and answer.used < LEAST_FIGURES and not answer.exact.all():
        return f"no known mistake: {LEAST_FIGURES} decimals or more would tell more"
    return "no known mistake gives this"


def _the_others(count: int) -> str:
    return f"all {count} others are" if count > 2 else "both others are"


# An answer counts as right as written, one unit off in the last digit, or rounded on the way, by any right rule.


FAR = 0.1
"""Rounding by more than this share of a step's largest entry is believed only if no mistake gives what was written."""


@np.errstate(all="ignore")  # 0, −∞ and blank rows say nothing of a shift
def is_another_shift(key: Key, question: Question) -> bool:
    """Whether rows are right but for another shift of a softmax's scores: a term in each row, or a factor of powers.

    If there are own scores that are shifted, the step should follow from these.
    """
    step, answer, right = question[:3]
    first, node = key.shifted, key.nodes[step]
    if first is None or first in question.own:
        return False
    over = next((behind.args["over"] for behind in walk(key.nodes[first]) if "over" in behind.args), None)
    if over not in node.names:
        return False
    along, is_power = node.names.index(over), step != first
    told = answer.answered.sum(along, keepdims=True)
    if not np.isin(told, (0, *range(2, right.shape[along] + 1))).all():  # one number alone tells of no shift
        return False
    if is_power and not key.is_moved_by_a_shift(step):
        return False
    ends = (answer.value - answer.unit / 2, answer.value + answer.unit / 2)
    low, high = (end / right if is_power else end - right for end in ends)
    low, high = np.where(answer.answered, low, -np.inf), np.where(answer.answered, high, np.inf)
    shift = (low.max(along, keepdims=True) + high.min(along, keepdims=True)) / 2
    found = fits(answer, right * shift) & (shift > 0) if is_power else fits(answer, right + shift)
    return bool((found | ~answer.answered).all())


def as_written(key: Key, question: Question) -> Finding | None:
    """Whether a step is right as it is written."""
    return Finding(RIGHT) if any(is_right(question.answer, value) for value in _right_values(key, question)) else None


def sound(key: Key, question: Question) -> Finding | None:
    """Whether a step is right as it is written, one unit off in its last digit, or rounded on the way."""
    answer = question.answer
    if right := as_written(key, question):
        return right
    if not answer.enough[answer.answered].any():
        return None
    close = any(nearly(answer, value).all() for value in _right_values(key, question))
    close = close and not _comes_out_throughout(key, question)
    if close and answer.used >= LEAST_FIGURES:
        return LAST_DIGIT
    early = _rounded_early(key, question) if question.by_hand else None
    return LAST_DIGIT if early is None and close else early


def is_far(key: Key, question: Question) -> bool:
    """Whether an answer is so far from what is right by any rule that rounding would have moved it much."""
    values = [value for solution in question.right if (value := key.value(question.step, solution)) is not None]
    alike = [value for value in values if value.shape == question.answer.shape]
    return all(largest_error(question.answer, value) > FAR * np.max(np.abs(value), initial=0.0) for value in alike)


def within_rounding(key: Key, question: Question) -> Finding | None:
    """Whether rounding may give each entry by itself, though no manner gives all of them: that proves nothing."""
    answer, expected = question.answer, question.expected
    if not (question.by_hand and answer.enough.all()) or answer.exact.any() or not answer.informative:
        return None
    values = key.rounded(key.nodes[question.step], question.kept).values
    if values.shape[1:] != answer.shape or _comes_out_throughout(key, question):
        return None
    with np.errstate(invalid="ignore"):
        least, most = values.min(axis=0) - answer.unit, values.max(axis=0) + answer.unit
        within = (least <= answer.value) & (answer.value <= most)
    return PERHAPS if (within | fits(answer, expected)).all() else None


def at_fewer_digits(key: Key, question: Question, *, surely: bool) -> Finding | None:
    """Whether the right method gives an answer if fewer digits are kept on the way than it has.

    Only its writer can say whether that was so, or a mistake. With `surely`, it must fit too well for chance.
    """
    step, answer, expected, own = question[:4]
    if not question.by_hand or not answer.informative or answer.exact.any():
        return None
    for decimals in range(answer.used - 1, 0 if surely else LEAST_DECIMALS - 1, -1):
        fewer = question._replace(kept=((decimals, 0),))
        for base in (own, None) if own and question.own_are_right else (None,):
            rounded = key.rounded(key.nodes[step], fewer.kept, base).values
            hits = fitting(answer, rounded) if rounded.shape[1:] == answer.shape else ()
            found = [odds(answer, rounded[hit], expected, tried=len(rounded)) for hit in hits]
            if any(one.convince if surely else answer.value.size > 1 and one.share < OFTEN for one in found):
                at = rounded_at(key, fewer, key.nodes[step], base)
                where = f" at {at}" if at else ""
                return replace(PERHAPS, hint=_KEPT_FEWER.format(where=where, kept=amount(decimals, "decimal")))
    return None


def with_a_constant_taken(
    key: Key, question: Question, before: Mapping[StepKey, Answer], found: Collection[Finding], *, surely: bool
) -> Finding | None:
    """Whether the right method gives an answer if one constant is taken to few decimals, as √3 or e are by hand.

    The answer may have been rounded on the way besides. After wrong own values it is carried on. A constant may be
    behind own values if it was `found` to be taken so, or if it gives the answers `before` as they are written. With
    `surely`, it must fit too well for chance.
    """
    answer, node = question.answer, key.nodes[question.step]
    if not question.by_hand or answer.exact.any() or not answer.informative or is_far(key, question):
        return None
    told = {one.hint for one in found if one.verdict == EARLY}
    behind = {one.said for one in key.taken(node, {}) if _TAKEN.format(one.said) in told}
    if question.own and question.own_are_right:
        behind |= _taken_before(key, {step: before[step] for step in question.own if step in before})
    taken = [*key.taken(node, question.own), *(one for one in key.taken(node, {}) if one.said in behind)]
    taken = [one for one in taken if one.decimals < answer.used]  # else it is rounding on the way like any other
    likely: list[tuple[float, Finding]] = []
    for base in question.bases:
        values = key.values([one.root for one in taken], base)
        against = without_mistake(key, question, base)
        for (said, _, root), value in zip(taken, values, strict=True):
            slack = _slack_beside(key, question, root, base, value)
            if slack is None:
                continue
            chances = odds(answer, value, against, values, slack=slack)
            off, slip = largest_error(answer, value), _by_a_slip(answer, value, against)
            if surely and chances.convince and slip < chances.most:
                early = Finding(EARLY, hint=_TAKEN.format(said), close=True)
                likely.append((off, early if base is None or question.own_are_right else CARRIED))
            tried = chances.tried if answer.value.size == 1 else 1
            if not surely and tried * chances.share < OFTEN and slip < OFTEN:
                likely.append((off, replace(PERHAPS, hint=f"may be {said}: keep more digits on the way")))
    return min(likely, key=itemgetter(0))[1] if likely else None


def _taken_before(key: Key, before: Mapping[StepKey, Answer]) -> set[str]:
    """The constants that, taken to few decimals, give each of these steps that uses them, but for its last digit."""
    given: dict[str, list[bool]] = {}
    for step, answer in before.items():
        taken = key.taken(key.nodes[step], {})
        for one, value in zip(taken, key.values([one.root for one in taken]), strict=True):
            given.setdefault(one.said, []).append(value.shape == answer.shape and bool(nearly(answer, value).all()))
    return {said for said, alike in given.items() if all(alike)}


def _by_a_slip(answer: Answer, value: Array, right: Array) -> float:
    """How likely a slip is to give a single number that is as near to the right one as a value is; 0 for several."""
    if answer.value.size > 1:
        return 0.0
    return float(np.max(answer.unit)) / (2 * largest(value - right) or np.inf)


def _slack_beside(key: Key, question: Question, root: Node, base: Own | None, value: Array) -> Array | float | None:
    """How far an answer may lie from a value that gives it, but for rounding; None if the value does not give it."""
    answer = question.answer
    if not is_about(answer, value):
        return None
    if fits(answer, value).all():
        return 0.0
    return answer.unit if nearly(answer, value).all() or rounded_at(key, question, root, base) is not None else None


def is_undone(answer: Answer, expected: Array) -> bool:
    """Whether some rows are right, and all others are 0 throughout, which they should not be."""
    right = fits(answer, expected)
    if expected.ndim < 2 or not (answer.answered & answer.enough).any() or right.all():
        return False
    done = right.all(axis=-1)
    return bool((expected[done] != 0).any() and not answer.value[~done].any() and expected[~done].any(axis=-1).all())


def even_or_all_to_one(answer: Answer, expected: Array) -> Finding | None:
    """Whether every row shares 1 out evenly among its places, or gives all to the largest, though it should not."""
    if not expected.ndim or not answer.answered.all() or not np.isfinite(expected).all() or (expected < 0).any():
        return None
    counts = (expected > 0).sum(axis=-1, keepdims=True)
    if (np.abs(expected.sum(axis=-1) - 1) > ROUND_OFF).any() or counts.max() < 2 or fits(answer, expected).all():
        return None
    even = np.where(expected > 0, 1 / np.maximum(counts, 1), 0.0)
    largest_alone = expected == expected.max(axis=-1, keepdims=True)
    if fits(answer, even).all():
        return EVEN
    all_to_one = (answer.value == 0) | (largest_alone & (answer.value == 1))
    return ALL_TO_ONE if all_to_one.all() and (answer.value.sum(axis=-1) == 1).all() else None


def digits_kept(answer: Answer, declared: int | None) -> Digits:
    """The digits to which an answer's writer may have rounded: as many as are written, one more, or those declared.

    If all entries have equally many significant figures, as many of these may have been kept, too.
    """
    decimals = {answer.used, answer.used + 1} | (set() if declared is None else {declared})
    written = answer.figures[answer.answered & ~answer.exact & (answer.value != 0)]
    alike = written.size and written.min() == written.max() >= LEAST_FIGURES
    figures = (int(written[0]), int(written[0]) + 1) if alike else ()
    return (*((d, 0) for d in sorted(decimals)), *((0, f) for f in figures))


def rounded_at(key: Key, question: Question, node: Node, own: Own | None) -> str | None:
    """The step whose rounding explains an answer, "" where it is no single one; None where rounding does not."""
    answer = question.answer
    if not answer.informative:
        return None  # zeros may stand for no answer
    if (answer.exact & np.isfinite(answer.value)).any() and question.kept[0][0] < LEAST_DECIMALS:
        return None  # nobody works with fewer than two decimals and then writes a fraction or a root
    rounded = key.rounded(node, question.kept, own)
    alike = rounded.values.shape[1:] == answer.shape
    hits = fitting(answer, rounded.values).tolist() if alike else []
    if alike and not hits:
        near = fitting(answer, rounded.values[rounded.manners.throughout], within_a_unit)
        hits = rounded.manners.throughout[near].tolist()
    if _comes_out_throughout(key, question):  # whole numbers are not rounded to three or four figures
        hits = [hit for hit in hits if not rounded.manners.digits[hit, 2]]
    exact = key.values([node], own)[0]
    if not hits or (np.isfinite(exact) & np.isinf(answer.value)).any():
        return None  # nobody rounds a number to ∞
    return rounded.culprit(hits[0], exact, np.maximum(0.5 * answer.unit, answer.noise * np.abs(exact)))


def _right_values(key: Key, question: Question) -> Iterator[Array]:
    """The right values of a step, each in the form that the answer has, if the form is free."""
    step, answer, expected = question[:3]
    own_count = question.own_are_right and any(key.nodes[behind].sources[0].row.in_form_of for behind in question.own)
    bases = [None, question.own] if own_count else [None]
    found = (key.value(step, solution, base) for solution in question.right for base in bases)
    alike = (value for value in found if value is not None and value.shape == expected.shape)
    return (_as_answered(key, step, value, answer) for value in alike)


def _as_answered(key: Key, step: StepKey, value: Array, answer: Answer) -> Array:
    """A value in the form that an answer has, if several are equally right, such as multiples of an eigenvector."""
    in_form_of = key.nodes[step].sources[0].row.in_form_of
    if in_form_of is None or value.shape != answer.shape or not np.isfinite(answer.value).all():
        return value
    if step in key.complex:
        return as_parts(in_form_of(from_parts(value), from_parts(answer.value)))
    return np.asarray(in_form_of(value, answer.value))


def _rounded_early(key: Key, question: Question) -> Finding | None:
    """Whether a step follows from own values that were rounded, or from rounding on the way to it."""
    step, answer = question.step, question.answer
    own = question.own if question.own_are_right else {}
    behind = key.alternatives_behind(own) if own else []
    follows = key.value(step, own=own) if () in behind else None
    if follows is not None and nearly(answer, follows).all():
        return FROM_ROUNDED
    for solution in question.right:
        for base in (None, own) if solution.alternatives in behind else (None,):
            hit = rounded_at(key, question, solution.steps[step], base) if step in solution.steps else None
            if hit is not None:
                where = f" at {hit}" if hit else ""
                hint = f"right method, rounded too early{where}: keep more digits on the way"
                return Finding(EARLY, hint=hint, close=True)
    return None


def _comes_out_throughout(key: Key, question: Question) -> bool:
    """Whether all steps up to this one come out evenly in the written digits, so that nothing was rounded."""
    if question.answer.value.size > BY_HAND:
        return False
    named = [node.key for node in steps(key.nodes[question.step])]
    key.foresee(named)
    values = [key.value(name) for name in named]
    return all(value is not None and comes_out(value, 10.0**-question.answer.used) for value in values)


# An error is carried on where a step is worked out rightly from own values of which some are wrong.
#
# It may follow from what stands on the sheet, with rounding on the way, or from the same numbers with more digits than
# stand there, if somebody keeps them in a calculator.


def carried(key: Key, question: Question, answers: Mapping[StepKey, Answer], made: Sequence[Mistake]) -> Finding | None:
    """Whether a step follows from the writer's own earlier ones, or from the mistakes made in these."""
    step, answer, expected, own = question[:4]
    if question.own_are_right or _are_one_number(question):
        return None
    follows = key.value(step, own=own)
    turned = [np.matrix_transpose(expected)] if _are_transposed(key, question, answers) else []
    for value in (follows, *turned, *_following(key, question, made)):
        if value is None or value.shape != answer.shape:
            continue
        if is_as_lost(answer, value):
            return CARRIED
        if np.isnan(value).any() or (value is not follows and says_nothing(value, expected)):
            continue
        if is_right(answer, value) or (answer.enough.any() and nearly(answer, value).all()):
            return CARRIED
    if not question.by_hand or follows is None or says_nothing(follows, expected):
        return None
    if rounded_at(key, question, key.nodes[step], own) is not None or _has_more_digits(key, question, answers, follows):
        return CARRIED
    return None


def follows_at_once(key: Key, question: Question, answers: Mapping[StepKey, Answer]) -> Finding | None:
    """Whether a step follows from the writer's own earlier ones, as these are written or with more digits."""
    if question.own_are_right or _are_one_number(question):
        return None
    answer, follows = question.answer, key.value(question.step, own=question.own)
    if follows is None or follows.shape != answer.shape or np.isnan(follows).any():
        return None
    with_more = question.by_hand and not says_nothing(follows, question.expected)
    with_more = with_more and _has_more_digits(key, question, answers, follows)
    return CARRIED if is_right(answer, follows) or with_more else None


def _are_one_number(question: Question) -> bool:
    """Whether one number fills a step and all own values before it."""
    answer = question.answer.value
    return is_filled(answer, question.expected) and all((own == answer.flat[0]).all() for own in question.own.values())


def _are_transposed(key: Key, question: Question, answers: Mapping[StepKey, Answer]) -> bool:
    """Whether a square step is made of own values that are all right but transposed, so that it may be, too."""
    if not question.by_hand or question.expected.ndim < 2:
        return False
    from attncalc.homework.diagnosis.slips import is_transposed  # a door: most answers have no slip

    right = {step: value for step in question.own if (value := key.value(step)) is not None and value.ndim > 1}
    square = question.expected.shape[-2] == question.expected.shape[-1]
    return square and bool(right) and all(is_transposed(answers[step], value) for step, value in right.items())


def _following(key: Key, question: Question, made: Sequence[Mistake]) -> Iterator[Array | None]:
    """What follows from own values by an alternative rule, and by the mistakes made, also from the true operands.

    An alternative is tried only if there is no own value of a step that it writes, which would speak against it.
    """
    for solution in question.right:
        at = tuple(word for rule in solution.rules for word in rule.at)  # none where the rules are options
        if solution.rules and not any(is_meant(step, at) for step in question.own):
            yield key.value(question.step, solution, question.own)
    if made and (wrong := key.solutions.by(*made)) and question.step in wrong.steps:
        for own in (None, question.own) if question.by_hand else (None,):
            value = key.value(question.step, wrong, own)
            if value is not None:
                yield key.written_out(question.step, wrong.steps[question.step], value, question.answer.shape)


def _has_more_digits(key: Key, question: Question, answers: Mapping[StepKey, Answer], follows: Array) -> bool:
    """Whether a step follows from earlier ones as they were before they were rounded for the sheet."""
    answer = question.answer
    half = {step: np.where(answers[step].exact, 0.0, 0.5 * answers[step].unit) for step in question.own}
    moved = key.most_moved(key.nodes[question.step], question.own, half) if follows.shape == answer.shape else None
    if moved is None or not answer.enough.all() or chance(question.expected, answer.unit + 2 * moved) > OFTEN:
        return False
    return bool((within(answer, follows, moved) | fits(answer, follows)).all())
