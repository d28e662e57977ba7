"""What a machine has stored lies nearest to the rule that was meant: at some places first, then throughout.

No digits tell what was meant, and every kernel adds its own noise. So a rule explains a dump if its values lie within
the noise of the type, or if they are far nearer than the right ones and than those of any other rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

import numpy as np

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.homework.diagnosis.comparing import AS_MINUS_INFINITY, BY_CHANCE, fits, odds, rows_of, stands_out
from attncalc.homework.diagnosis.explaining import Explanation, hits, ids, open_to, values_of, without_mistake
from attncalc.homework.diagnosis.key import FEW, Key, Question
from attncalc.homework.diagnosis.solutions import Own, Solution
from attncalc.homework.reading.answers import Answer
from attncalc.language.graph import Node

BEHIND = 4
"""After one mistake, a step must be off by more than this many times the noise of its type to tell of another one."""
SAMPLE, SAMPLE_OF_OTHERS = 12, 4
"""How many rows, and how many places of every axis before them, are looked at first."""
MEANT = 0.1
"""A rule that was meant is off by less than this share of what the right value is off by, and of its own spread."""
NO_NOISE, COARSE = 4, 2**-7
"""A kernel's noise is at most this many times that of its type, or this share of a row, as after multiplying in
bfloat16. Whatever is further off was meant otherwise."""
ALONG = 0.5
"""What is off by less than that share is noise only if its cosine with the way to the right value is below this."""
NEARER = 0.5
"""A rule that is not within the noise of its type is off by less than this share of what the next one is off by."""
WITHIN_NOISE = 0.6
"""A rule that is within the noise of its type is off by less than this share of what the right value is off by."""
AS_NEAR, EXACTLY_AS_NEAR = 1.5, 1e-6
"""Rules that are off by at most this many times as much as the nearest one, or by this little, explain as much."""
NOTICEABLE = 0.08
"""If an answer is off by more than this share of the allowed noise, in the mean, it may be more than noise."""
RUNS, BY_NOISE = 16, 1 / 6
"""How many runs show what rounding does, and what share of the way to a rule that was meant it may lead, at most."""


class Near(NamedTuple):
    """How near a value is to a dump at the places that were looked at."""

    number: int  # of the rule
    off: float
    spread: float  # how far its own entries lie apart
    within: bool  # whether it is within the noise of the type
    away: float  # how far it is from what is right
    along: float  # the cosine between the ways from it to the dump and to what is right, without its sign


def nearest(
    key: Key, question: Question, candidates: Sequence[Solution], own: Own | None, beside: Explanation = ()
) -> list[Solution]:
    """The candidates that a dump is nearest to; after one mistake noise adds up, so that another one must stand out."""
    candidates = open_to(key, candidates, own)
    against = without_mistake(key, question, own)
    made = {*ids(beside)}  # whichever form of a mistake it was
    if beside and not stands_out(question.answer, against, BEHIND):
        candidates = [candidate for candidate in candidates if made.issuperset(ids(candidate.mistakes))]
    nodes = [candidate.steps[question.step].sources[0] for candidate in candidates]
    found = [candidates[number] for number in _explaining(key, question, nodes, own, against)]
    return sorted(found, key=lambda one: not made.issuperset(ids(one.mistakes)))  # what was made before is made again


def is_within(key: Key, question: Question, found: Sequence[Solution], own: Own | None) -> bool:
    """Whether a candidate gives a dump within the noise of its type; taken for granted of a large step."""
    return not key.is_small(question.step) or bool(hits(question.answer, values_of(key, question, found, own)))


def _explaining(key: Key, question: Question, nodes: Sequence[Node], own: Own | None, against: Array) -> list[int]:
    """The numbers of the nodes whose values explain a dump; `against` is its value without a mistake."""
    answer, step = question.answer, key.nodes[question.step]
    if not answer.answered.any():
        return []
    if answer.shape != against.shape:
        return _of_its_shape(key, answer, nodes, own)
    if key.size_behind(question.step) > FEW and len(step.axes) > 1:
        chosen = _places(answer, against, step)
        few, due = answer.laid(lambda part: _cut(part, step, chosen)), _cut(against, step, chosen)
    else:
        chosen, few, due = {}, answer, against
    sizes = _sizes(due)
    right = _off(few, due, sizes)
    tried: list[Near] = []
    alike = [number for number, node in enumerate(nodes) if node.axes == step.sources[0].axes]
    for number, value in zip(alike, key.excerpts([nodes[number] for number in alike], chosen, own), strict=True):
        if value is None or value.shape != few.shape:
            continue
        gaps, away = _finite(_gaps(few, value, sizes)), _finite((due - value) / sizes)
        off, along = _off(few, value, sizes), abs(_cosine(gaps, away))
        tried.append(Near(number, off, _spread(value, sizes), bool(fits(few, value).all()), _size(away), along))
    meant = [near.number for near in _meant(tried, right, _most_noise(few, sizes))]
    values = dict(zip(meant, key.excerpts([nodes[number] for number in meant], chosen, own), strict=True))
    dimensions = _dimensions(_gaps(few, due, sizes))
    in_reach = [near for near in tried if abs(near.away - right) <= WITHIN_NOISE * right]  # others cannot be meant
    noise: list[Array] = []

    def leads_there(near: Near, value: Array) -> bool:
        """Whether it is no chance that a dump lies towards a rule: it is far nearer, or no noise leads so far."""
        if not _points_there(near, right, dimensions, len(in_reach)):
            return False
        if near.off < MEANT * right:
            return True
        if not noise and answer.slack is not None:
            times = key.worked_out_in(question.step, answer.stored, RUNS, own)
            noise.extend(_cut(value, step, chosen) for value in times)
        return _is_no_noise(value, due, sizes, noise)

    telling = [
        near
        for near in tried
        if (value := values.get(near.number)) is not None and (leads_there(near, value) or _tells(few, value, due))
    ]
    if not chosen:
        return [near.number for near in telling]
    everywhere = _off(answer, against, _sizes(against))
    return [near.number for near in telling if _fits_throughout(key, question, nodes[near.number], own, everywhere)]


def distance(answer: Answer, value: Array, right: Array) -> float:
    """How far a dump is from a value, relative to the rows of what is right."""
    return _off(answer, value, _sizes(right))


def _of_its_shape(key: Key, answer: Answer, nodes: Sequence[Node], own: Own | None) -> list[int]:
    """The numbers of the nodes whose values explain a dump of another shape than the right one."""
    tried = []
    alike = [number for number, node in enumerate(nodes) if node.shape == answer.shape]
    for number, value in zip(alike, key.excerpts([nodes[number] for number in alike], {}, own), strict=True):
        if value is not None and value.shape == answer.shape:
            sizes = _sizes(value)
            near = _off(answer, value, sizes), _spread(value, sizes), bool(fits(answer, value).all())
            tried.append(Near(number, *near, np.inf, 0.0))
    return [near.number for near in _meant(tried, np.inf, _most_noise(answer, 1.0))]


def matched(answer: Answer, right: Array, axis: int) -> list[int]:
    """The order in which a dump has the right heads; empty if some are missing, or all in their places."""
    count = right.shape[axis]
    wholes = [
        np.moveaxis(part, axis, 0).reshape(count, -1) for part in (answer.value, right, _sizes(right) + 0 * right)
    ]
    with np.errstate(all="ignore"):
        off = np.array([np.sqrt(np.mean(np.square((own - wholes[1]) / wholes[2]), axis=1)) for own in wholes[0]])
    if not np.isfinite(off).all():
        return []
    order = off.argmin(axis=1)
    near, apart = off[np.arange(count), order], off[np.arange(count), np.arange(count)]
    moved = order != np.arange(count)
    if sorted(order) != [*range(count)] or not moved.any():
        return []
    return order.tolist() if (near < MEANT * apart)[moved].all() and (near <= MEANT * apart[moved].min()).all() else []


def is_noticeable(answer: Answer, value: Array) -> bool:
    """Whether an answer that is right within the noise of its type is off by more than is usual for noise."""
    if answer.slack is None:
        return False
    with np.errstate(all="ignore"):
        part = np.abs(answer.value - value) / answer.slack
    return float(np.sqrt(np.mean(np.square(part), where=np.isfinite(part)))) > NOTICEABLE


def _most_noise(answer: Answer, sizes: Array | float) -> float:
    """How far a dump may lie from what was meant, relative to rows, because its kernel sums in its own way."""
    return NO_NOISE * (answer.noise if answer.slack is None else _size(_finite(answer.slack / sizes)))


def _meant(tried: Sequence[Near], right: float, noise: float) -> list[Near]:
    """The rule that a dump is nearest to, and those that are as near; none where that may be chance."""
    best = min(tried, key=lambda near: near.off, default=None)
    if best is None or not best.off < WITHIN_NOISE * right:
        return []
    alike = [near for near in tried if near.off <= max(AS_NEAR * best.off, EXACTLY_AS_NEAR)]
    if any(near.within for near in alike):
        return [near for near in alike if near.within]
    next_one = min((near.off for near in tried if near not in alike), default=np.inf)
    is_noise = best.off < noise or (best.off < COARSE and best.along < ALONG)
    far = best.off < min(MEANT * right, MEANT * best.spread) and best.off < NEARER * next_one
    return alike if is_noise and far else []


def _points_there(near: Near, right: float, dimensions: float, tried: int) -> bool:
    """Whether a dump lies from what is right in the direction of a rule, by no chance in so many dimensions.

    Even if each entry is within the noise of a narrow type, all of them together may tell.
    """
    return near.off < right and tried * (near.off / right) ** (dimensions - 1) < BY_CHANCE


def _is_no_noise(value: Array, right: Array, sizes: Array, noise: Sequence[Array]) -> bool:
    """Whether rounding leads from what is right only a small part of the way towards a rule.

    Noise may be the same in many entries, as that of a row's norm is; then many entries tell no more than one.
    """
    there = _finite((value - right) / sizes)
    parts = [np.sum(_finite((rounded - right) / sizes) * there) for rounded in noise]
    return bool(parts) and _size(np.array(parts)) < BY_NOISE * float(np.sum(np.square(there)))


def _finite(gaps: Array) -> Array:
    return np.where(np.isfinite(gaps), gaps, 0.0)


def _size(gaps: Array) -> float:
    return float(np.sqrt(np.mean(np.square(gaps))))


def _cosine(a: Array, b: Array) -> float:
    """The cosine of two directions; 0 if one of them is 0."""
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.vdot(a, b)) / lengths if lengths else 0.0


def _dimensions(gaps: Array) -> float:
    """Over how many entries gaps are spread: all, if they are alike; one, if one is far larger than the others."""
    squares = np.square(gaps[np.isfinite(gaps)])
    return float(squares.sum() ** 2 / max(np.square(squares).sum(), np.finfo(float).tiny)) if squares.any() else 1.0


def _places(answer: Answer, right: Array, step: Node) -> dict[str, Array]:
    """Places along every axis but the last: those that are most wrong, and others spread evenly."""
    with np.errstate(all="ignore"):
        wrong = np.nan_to_num(np.abs(answer.value - right), nan=0.0, posinf=1e300)
    found = {}
    for number, axis in enumerate(step.axes[:-1]):
        most = SAMPLE if number == len(step.axes) - 2 else SAMPLE_OF_OTHERS
        if axis.size > most:
            along = wrong.max(axis=tuple(other for other in range(wrong.ndim) if other != number))
            worst = np.argsort(-along, kind="stable")[: most // 2]
            spread = np.linspace(0, axis.size - 1, most - most // 2).round().astype(int)
            found[axis.name] = np.unique([*worst, *spread])
    return found


def _cut(part: Array, step: Node, chosen: Mapping[str, Array]) -> Array:
    for number, axis in enumerate(step.axes):
        if axis.name in chosen:
            part = part.take(chosen[axis.name], axis=number)
    return part


def _sizes(value: Array) -> Array:
    """The size of the largest entry of each row; for a row of zeros, that of all rows."""
    finite = np.where(np.isfinite(value), np.abs(value), 0.0)
    size = finite.max(axis=-1, keepdims=True, initial=0.0) if value.ndim else finite
    return np.where(size > 0, size, finite.max(initial=0.0) or 1.0)


def _gaps(answer: Answer, value: Array, sizes: Array) -> Array:
    """How far entries lie apart, relative to their rows; ∞ where only one of the two is finite, or only one is NaN."""
    with np.errstate(all="ignore"):
        gap = (answer.value - value) / sizes
    masked = np.isneginf(value) & (answer.value <= AS_MINUS_INFINITY)
    same = (answer.value == value) | (np.isnan(answer.value) & np.isnan(value))
    gap = np.where(masked | same | ~answer.answered, 0.0, gap)
    return np.where(np.isnan(gap), np.inf, gap)


def _off(answer: Answer, value: Array, sizes: Array) -> float:
    return _size(_gaps(answer, value, sizes))


def _spread(value: Array, sizes: Array) -> float:
    lost = np.isnan(value)
    if lost.any() and not lost.all():
        return np.inf  # nothing lies further apart than a number and none
    relative = value / sizes
    return float(np.std(relative[np.isfinite(relative)])) if np.isfinite(relative).any() else 0.0


def _tells(answer: Answer, value: Array, right: Array) -> bool:
    """Whether an answer fits too well for chance, by its first rows."""

    def first(part: Array) -> Array:
        return rows_of(part)[:MOST_WEIGHED]

    return odds(answer.laid(first), first(value), first(right)).convince


MOST_WEIGHED = 200
"""How many rows are looked at to see whether a rule fits by chance."""


def _fits_throughout(key: Key, question: Question, node: Node, own: Own | None, right: float) -> bool:
    """Whether a rule explains the whole of a dump, block by block of rows."""
    squares, number, within = 0.0, 0, True
    for where, value in key.in_blocks(node, own):
        part = question.answer.laid(itemgetter(where))
        gaps = _gaps(part, value, _sizes(question.expected[where]))
        squares, number = squares + float(np.square(gaps).sum()), number + gaps.size
        within = within and bool(fits(part, value).all())
    return number > 0 and (within or float(np.sqrt(squares / number)) < MEANT * right)
