"""Explaining: the wrong ways that give what was written, likelier ones first.

One mistake as it is written, then but for the last digit, then with rounding on the way; then two mistakes. Each first
on the writer's own earlier steps, then on the true operands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from attncalc.arrays import Array
from attncalc.graph import Node
from attncalc.homework.answers import BY_HAND, Answer
from attncalc.homework.comparing import (
    AGAIN,
    BY_RULE,
    COPIED,
    COUNTED,
    PAIRED,
    RESHAPED,
    Close,
    Odds,
    comes_out,
    fits,
    fitting,
    is_by_rule,
    nearly,
    odds,
)
from attncalc.homework.excerpts import at_rows, in_blocks, rows, sample
from attncalc.homework.key import Key
from attncalc.homework.rounding import MOST_DECIMALS
from attncalc.homework.ways import Own, Way, is_meant
from attncalc.mistake import Mistake, StepKey

Match = tuple[Mistake, ...]
"""Mistakes that, made together, give what was written."""
Ways = Sequence[tuple[Match, Way]]

MOST_PAIRS = 400
FAR = 30
"""Rounding on the way moves a number by no more than so many units of its last digit and 2 % of the largest."""


class Question(NamedTuple):
    """A step that is judged."""

    key: StepKey
    answer: Answer
    expected: Array
    own: Mapping[StepKey, Array]  # the writer's own values of the steps that it is made of
    sound: bool  # whether all of those are right
    routes: Sequence[Way]  # by which it may be right
    digits: int  # the decimals that were worked with
    by_hand: bool  # whether it may have been rounded on the way

    @property
    def bases(self) -> list[Own | None]:
        """What it may have been worked out from: the writer's own steps, the true operands."""
        return [self.own, None] if self.own else [None]


def explanations(key: Key, question: Question, *, as_written: bool = False) -> Iterator[list[Match]]:
    """What would explain an answer, likelier explanations first; those that explain it equally well together.

    `as_written` is for one mistake without any rounding on the way, and no more.
    """
    singles = [((m,), way) for m, way in key.mistakes if question.key in way.steps]
    singles.sort(key=lambda single: -_place(key, single[0]))
    if key.large:
        yield _matching_rows(key, question, singles)
        return
    for close in (fits,) if as_written else (fits, nearly):
        for base in question.bases:
            yield _matching(key, question, singles, base, close)
    if as_written:
        return
    if question.by_hand and question.digits <= MOST_DECIMALS:
        for base in question.bases:
            yield _matching_rounded(key, question, singles, base)
    if question.answer.value.size <= BY_HAND and key.has_few(question.key):
        pairs = list(_pairs(key, question))
        for close in (fits, nearly):
            for base in question.bases:
                yield _matching(key, question, pairs, base, close, tried=len(singles))


def together(key: Key, questions: Sequence[Question]) -> list[Match]:
    """The mistakes that explain several steps, none of which says enough by itself; a large one says enough."""
    if key.large:
        return []
    return [(mistake,) for mistake, way in key.mistakes if _explains_all(key, questions, way)]


def _explains_all(key: Key, questions: Sequence[Question], way: Way) -> bool:
    """Whether a way gives every one of these steps, together too well for chance."""
    if not all(question.key in way.steps for question in questions):
        return False
    tried, share, most = 1.0, 1.0, 1.0
    for question in questions:
        [value] = key.values([way.steps[question.key]])
        if value.shape != question.answer.shape or not nearly(question.answer, value).all():
            return False
        others = _distinct(key.values([w.steps[question.key] for _, w in key.mistakes if question.key in w.steps]))
        slack = 0.0 if fits(question.answer, value).all() else question.answer.unit
        alone = odds(question.answer, value, question.expected, others, slack=slack)
        tried, share, most = max(tried, alone.tried), share * alone.share, min(most, alone.most)
    return Odds(tried, share, most).convince


def again(key: Key, question: Question, made: Collection[Mistake]) -> list[Match]:
    """Those of the mistakes made elsewhere on the sheet that give a step which says too little by itself.

    A large one says enough.
    """
    if key.large:
        return []
    ways = [((m,), way) for m, way in key.mistakes if m in made and question.key in way.steps]
    for close in (fits, nearly):
        for base in question.bases:
            if found := _matching(key, question, ways, base, close, prior=AGAIN):
                return found
    return []


def beside(key: Key, question: Question, made: Sequence[Mistake]) -> list[Match]:
    """The mistakes that give a step together with those made before it, gone on from with more digits than written."""
    if key.large:
        return []
    gap = _gap(key, question)
    later = [m for m, way in key.mistakes if way.mistakes == (m,) and any(is_meant(step, m.at) for step in gap)]
    pairs = [((m,), way) for m in later if m not in made and (way := key.ways.way(*made, m)) is not None]
    ways = [(found, way) for found, way in pairs if question.key in way.steps]
    return next((found for close in (fits, nearly) if (found := _matching(key, question, ways, None, close))), [])


def possible(key: Key, question: Question) -> bool:
    """Whether some mistake gives what was written, though it may be chance; of more than a hand writes none may."""
    if question.answer.value.size > BY_HAND:
        return False
    nodes = [way.steps[question.key] for _, way in key.mistakes if question.key in way.steps]
    values = [value for base in question.bases for value in key.values(nodes, base)]
    return any(value.shape == question.answer.shape and fits(question.answer, value).all() for value in values)


def ids(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """What mistakes are called."""
    return tuple(dict.fromkeys(mistake.id for mistake in mistakes))


def _place(key: Key, mistakes: Sequence[Mistake]) -> int:
    """Where mistakes begin among the steps; what begins later spoils less of what may be right."""
    return min((i for i, step in enumerate(key.nodes) if any(is_meant(step, m.at) for m in mistakes)), default=-1)


def _pairs(key: Key, question: Question) -> Iterator[tuple[Match, Way]]:
    """Two mistakes that both lie between the writer's own steps and this one."""
    gap = _gap(key, question)
    within = [
        i
        for i, (m, way) in enumerate(key.mistakes)
        if way.mistakes == (m,) and (m.options or any(is_meant(step, m.at) for step in gap))
    ]
    for number, (i, j) in enumerate(combinations(within, 2)):
        if number == MOST_PAIRS:
            return
        way = key.pair(i, j)
        if way is not None and question.key in way.steps:
            yield (key.mistakes[i][0], key.mistakes[j][0]), way


def _gap(key: Key, question: Question) -> list[StepKey]:
    """The steps that are made on the way from the writer's own ones."""
    seen: set[Node] = set()
    stack = [key.nodes[question.key]]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(s for s in node.sources if not (s.op == "step" and s.key in question.own))
    return [node.key for node in seen if node.op == "step"]


def _matching(
    key: Key, question: Question, ways: Ways, own: Own | None, close: Close, *, tried: int = 0, prior: float = 1.0
) -> list[Match]:
    """The ways that give what was written, too well for chance."""
    answer, taken = question.answer, key.taken(own)
    ways = [(made, way) for made, way in ways if way.route in taken]
    if not ways or (close is nearly and not answer.enough.any()):
        return []
    values = key.values([way.steps[question.key] for _, way in ways], own)
    against = _against(key, question, own)
    slack = answer.unit if close is nearly else 0.0
    alike = [i for i, value in enumerate(values) if value.shape == answer.shape]
    if not alike:
        return []
    found = []
    for i in (alike[hit] for hit in fitting(answer, np.array([values[i] for i in alike]), close)):
        likely = prior * (PAIRED if len(ways[i][0]) > 1 else _likely(key, question, ways[i][0][0], values[i], against))
        by_chance = odds(answer, values[i], against, _distinct(values), tried=tried, slack=slack, prior=likely)
        if by_chance.convince:
            found.append(ways[i])
    return _likelier(found)


def _matching_rounded(key: Key, question: Question, ways: Ways, own: Own | None) -> list[Match]:
    """The ways that give what was written with rounding on the way."""
    taken = key.taken(own)
    ways = [(made, way) for made, way in ways if way.route in taken]
    answer, nodes = question.answer, [way.steps[question.key] for _, way in ways]
    values = key.values(nodes, own)
    against = _against(key, question, own)
    found = []
    for way, value, node in zip(ways, values, nodes, strict=True):
        if value.shape == answer.shape and _is_about(answer, value):
            rounded = key.rounded(node, question.digits, own).near
            slack = np.ptp(np.where(np.isfinite(rounded), rounded, 0), axis=0)
            near = rounded.shape[1:] == answer.shape and fitting(answer, rounded).size
            if near and odds(answer, value, against, _distinct(values), slack=slack).convince:
                found.append(way)
    return _likelier(found)


def _likelier(found: Ways) -> list[Match]:
    """Those on the usual route, if there are any: a mistake on another one is two things that somebody did."""
    usual = [made for made, way in found if not way.route]
    return usual or [made for made, _ in found]


def _matching_rows(key: Key, question: Question, ways: Ways) -> list[Match]:
    """The ways that give a large step: at some of its rows, too well for chance, and then at all."""
    node, answer = key.nodes[question.key], question.answer
    axis = rows(node)
    if axis is None or answer.shape != question.expected.shape:
        return []
    chosen = sample(node.axes[-2].size)
    few, against = answer.laid(lambda part: part.take(chosen, axis=-2)), question.expected.take(chosen, axis=-2)
    alike = [(made, way.steps[question.key].sources[0]) for made, way in ways]
    alike = [(made, wrong) for made, wrong in alike if wrong.axes == node.axes]
    values = at_rows([wrong for _, wrong in alike], key.ways.operands, axis, chosen)
    tried = [(made, wrong, value) for (made, wrong), value in zip(alike, values, strict=True) if value is not None]
    others = _distinct([value for *_, value in tried])
    return [
        made
        for made, wrong, value in tried
        if fits(few, value).all()
        and odds(few, value, against, others).convince
        and _fits_throughout(answer, wrong, key.ways.operands)
    ]


def _fits_throughout(answer: Answer, node: Node, operands: Mapping[str, Array]) -> bool:
    """Whether a large answer is a node's value, looked at in blocks of rows."""
    compared = False
    for part, value in in_blocks(node, operands):
        if not fits(answer.laid(itemgetter((..., part, slice(None)))), value).all():
            return False
        compared = True
    return compared


def _against(key: Key, question: Question, own: Own | None) -> Array:
    """What a step would be without the mistake that is looked for."""
    follows = key.value(question.key, own=own) if own else None
    return question.expected if follows is None or follows.shape != question.expected.shape else follows


def _likely(key: Key, question: Question, mistake: Mistake, value: Array, against: Array) -> float:
    """How much likelier than others a value is to be what somebody wrote who made a mistake."""
    copied = COPIED if _stands_there(key, question, value) else 1.0
    reshaped = RESHAPED if value.shape != against.shape else 1.0
    if mistake.kind == "convention" and comes_out(value, 1) and comes_out(against, 1):
        return COUNTED
    return copied * reshaped * (BY_RULE if is_by_rule(question.answer, value, against) else 1.0)


def _stands_there(key: Key, question: Question, value: Array) -> bool:
    """Whether a value is that of an operand or of an earlier step, so that it may have been copied."""
    serial = key.nodes[question.key].serial
    earlier = [k for k, node in key.nodes.items() if node.serial < serial]
    key.foresee(earlier)
    stands = (v for k in earlier if (v := key.value(k)) is not None)
    there = (*question.own.values(), *key.ways.operands.values(), *stands)
    return any(other.shape == value.shape and np.array_equal(other, value) for other in there)


def _distinct(values: Sequence[Array]) -> list[Array]:
    """The values that differ."""
    return [*{(value.shape, value.round(9).tobytes()): value for value in values}.values()]


def _is_about(answer: Answer, value: Array) -> bool:
    """Whether rounding could bring a value to what was written; to look closer is work."""
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.value - value)
    size = float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))
    return bool(np.all((off <= FAR * answer.unit + 0.02 * size) | ~np.isfinite(value)))
