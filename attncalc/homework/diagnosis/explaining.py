"""Explanations are the mistakes that give what a hand has written, likelier ones first.

One mistake is tried first: as it is written, then but for the last digit, then with rounding on the way. Two mistakes
come last. Each is tried on the writer's own values, then on the true operands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice, product

import numpy as np

from attncalc.common.numerals import Array
from attncalc.declare.mistake import WHERE, Mistake, StepKey, in_places
from attncalc.evaluate.values import is_given, needed
from attncalc.homework.diagnosis.comparing import (
    Close,
    Odds,
    comes_out,
    fits,
    fitting,
    is_by_rule,
    is_lost,
    largest,
    lost_alike,
    nearly,
    odds,
)
from attncalc.homework.diagnosis.key import FEW, Key, Question
from attncalc.homework.diagnosis.solutions import Own, Solution, writes
from attncalc.homework.reading.answers import BY_HAND, Answer
from attncalc.homework.reading.sheets import spelled
from attncalc.language.graph import walk

Explanation = tuple[Mistake, ...]
"""Mistakes that, made together, give what was written."""

COPIED, AGAIN, PAIRED = 0.1, 0.02, 10.0
"""Priors, below 1 for what is likelier: a value that stands on the page already, a mistake that was made before, and
two mistakes at once."""
BY_RULE, RESHAPED = 0.02, 0.1
"""Priors of a round number that nobody gets by rounding the right one, and of an answer of another shape: a known rule
is likely to be behind them."""
COUNTED = 0.02
"""The prior of whole numbers that another convention gives, as when places are counted from 1."""
MOST_PAIRS = 3000
"""How many pairs of mistakes are tried at most; this takes some seconds if a whole layer is in the gap."""
MOST_HEADS = 16
"""The most heads of which each is tried by itself."""
CUT = "fused-qkv-order"
OF_MANY = ("h", "b")
"""The axes of heads, and of the items of a batch: a mistake may be made in some of them alone."""
BY_ROUNDING = 30
"""Rounding on the way moves a number by at most this many units of its last digit plus 2 % of the largest."""


def explanations(key: Key, question: Question, *, as_written: bool = False) -> Iterator[list[Explanation]]:
    """The explanations of an answer in groups, likelier ones first; those of a group explain it equally well.

    With `as_written`, only single mistakes without any rounding are tried.
    """
    singles = likelier_first(key, question)
    around = _around(question, singles)
    for close in (fits,) if as_written else (fits, nearly):
        for base in question.bases:
            yield _matching(key, question, singles, base, close)
            yield _matching(key, question, around, question.before, close, tried=len(singles)) if base else []
    if as_written:
        return
    if question.by_hand:
        for base in question.bases:
            yield _matching_rounded(key, question, singles, base)
        yield _matching_in_full(key, question, singles)
    somewhere = in_some_places(key, question, singles)
    yield from _by_digits(key, question, somewhere, tried=len(singles))
    if question.answer.value.size <= BY_HAND and not is_lost(question.answer, question.expected):
        both = candidates_for(question, pairs(key, question))
        yield from _by_digits(key, question, both, tried=len(singles))


def likelier_first(key: Key, question: Question) -> list[Solution]:
    """The solutions with a mistake that have the step, likelier ones first."""
    late = -1 if is_lost(question.answer, question.expected) else 1  # what is not finite went wrong early
    apart = _are_apart(key)
    found = candidates_for(question, key.wrong)
    return sorted(found, key=lambda one: (-late * key.begins(one.mistakes), apart and one.mistakes[0].id == CUT))


def in_rows(key: Key, question: Question) -> Iterator[list[Explanation]]:
    """The explanations of a handwritten answer by one mistake, made only in the rows, heads or items that are wrong."""
    if question.by_hand:
        singles = candidates_for(question, key.wrong)
        somewhere = in_some_places(key, question, singles, [*WHERE])
        yield from _by_digits(key, question, somewhere, tried=len(singles))


def made_again(key: Key, question: Question, made: Collection[Mistake]) -> list[Explanation]:
    """The mistakes made elsewhere on the sheet that explain this step as well, which says too little by itself."""
    if not made or not key.is_small(question.step):
        return []  # a large step says enough
    candidates = [one for one in candidates_for(question, key.wrong) if one.mistakes[0] in made]
    return next(filter(None, _by_digits(key, question, candidates, prior=AGAIN)), [])


def made_as_well(key: Key, question: Question, made: Sequence[Mistake]) -> list[Explanation]:
    """The mistakes that explain a step if those `made` before it were carried on with more digits than written."""
    if not key.is_small(question.step):
        return []
    gap = _gap(key, question)
    later = [one.mistakes[0] for one in key.wrong if not one.alternatives and writes(one.mistakes, gap)]
    both = candidates_for(question, (key.solutions.by(*made, mistake) for mistake in later if mistake not in made))
    candidates = [one._replace(rules=one.rules[-1:]) for one in both]
    return next(filter(None, (_matching(key, question, candidates, None, close) for close in (fits, nearly))), [])


def made_throughout(key: Key, questions: Sequence[Question]) -> list[Explanation]:
    """The mistakes that explain several steps, none of which says enough by itself."""
    if not all(key.is_small(question.step) for question in questions):
        return []  # a large one says enough
    found = candidates_for(questions[0], key.wrong) if questions else []
    for question in questions:
        found = [one for one in found if question.step in one.steps]
        found = [found[hit] for hit in hits(question.answer, values_of(key, question, found), nearly)]
    return [one.mistakes for one in found if _convince(key, questions, one)]


def _convince(key: Key, questions: Sequence[Question], solution: Solution) -> bool:
    """Whether a solution fits these steps, taken together, too well for chance."""
    tried, share, most = 1.0, 1.0, 1.0
    for question in questions:
        [value] = key.values([solution.steps[question.step]])
        others = _distinct(values_of(key, question, candidates_for(question, key.wrong)))
        slack = 0.0 if fits(question.answer, value).all() else question.answer.unit
        alone = odds(question.answer, value, question.expected, others, slack=slack)
        tried, share, most = max(tried, alone.tried), share * alone.share, min(most, alone.most)
    return Odds(tried, share, most).convince


def possible(key: Key, question: Question) -> list[Mistake]:
    """The mistakes that give what was written, though it may be chance, likelier ones first.

    None is named for a large answer, nor one that gives the same as no mistake would. Blank entries do not count.
    """
    answer = question.answer
    if answer.value.size > BY_HAND or not key.is_small(question.step):
        return []
    candidates = candidates_for(question, key.wrong)
    candidates.sort(key=lambda one: (one.mistakes[0].kind == "convention", -key.begins(one.mistakes)))
    found: list[Mistake] = []
    for base in question.bases:
        values, follows = values_of(key, question, candidates, base), without_mistake(key, question, base)
        telling = (hit for hit in hits(answer, values) if not np.array_equal(values[hit], follows, equal_nan=True))
        found += [mistake for hit in telling for mistake in candidates[hit].mistakes]
    return list(dict.fromkeys(found))


def hits(answer: Answer, values: Sequence[Array], close: Close = fits) -> list[int]:
    """The indices of the values that an answer fits, where NaN in both counts as a fit."""
    alike = [i for i, value in enumerate(values) if value.shape == answer.shape]
    number = max(1, FEW // max(answer.value.size, 1))  # small values many at a time, which is faster
    parts = [alike[start : start + number] for start in range(0, len(alike), number)]

    def is_as_close(answer: Answer, values: Array) -> Array:
        return close(answer, values) | lost_alike(answer, values)

    return [part[hit] for part in parts for hit in fitting(answer, np.array([values[i] for i in part]), is_as_close)]


def ids(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """The ids of mistakes, each once."""
    return tuple(dict.fromkeys(mistake.id for mistake in mistakes))


# Which mistakes are tried


def _are_apart(key: Key) -> bool:
    """Whether a checkpoint holds queries, keys and values apart, so that hardly anybody cuts them wrongly."""
    modules = key.names.of_modules
    return modules is not None and not any(step[1] == "q" for one in modules.fused.values() for step in one.steps)


def candidates_for(question: Question, solutions: Iterable[Solution | None]) -> list[Solution]:
    """The solutions that exist and have the question's step."""
    return [found for found in solutions if found and question.step in found.steps]


def _around(question: Question, candidates: Iterable[Solution]) -> list[Solution]:
    """The candidates that make a step from other own values than the usual rules do, further back on the sheet."""
    if not question.by_hand or not question.own:
        return []
    others = question.before.keys() - question.own.keys()

    def reads_others(candidate: Solution) -> bool:
        met = needed(candidate.steps[question.step].sources[0], given=question.before)
        return any(is_given(node, question.before) and node.key in others for node in met)

    return [candidate for candidate in candidates if others and reads_others(candidate)]


def pairs(key: Key, question: Question) -> Iterator[Solution]:
    """The solutions with two mistakes that both lie between the writer's own steps and this one.

    If a mistake has several forms, the first is the likeliest, so pairs of first forms come first. If the answer has
    another shape than it should, one of the two must give the step another shape.
    """
    gap = _gap(key, question)
    within = [
        i
        for i, one in enumerate(key.wrong)
        if not one.alternatives and (one.mistakes[0].options or writes(one.mistakes, gap))
    ]
    names = [key.wrong[i].mistakes[0].id for i in within]
    form = {i: names[:at].count(names[at]) for at, i in enumerate(within)}
    pairs: Iterable[tuple[int, int]] = sorted(combinations(within, 2), key=lambda pair: form[pair[0]] + form[pair[1]])
    if question.answer.shape != question.expected.shape:
        shape = key.nodes[question.step].shape
        reshaped = {i for i in within if (x := key.wrong[i].steps.get(question.step)) is None or x.shape != shape}
        pairs = ((i, j) for i, j in pairs if i in reshaped or j in reshaped)
    dumped = question.answer.dumped and key.problem.backward is None
    between = key.solutions.gap(question.step, question.own) if dumped else None
    for i, j in islice(pairs, MOST_PAIRS):
        if (found := key.wrong_twice(i, j, between)) is not None:
            yield found


def _gap(key: Key, question: Question) -> list[StepKey]:
    """The steps between the writer's own ones and this one.

    For a gradient, all steps of the forward pass are among them, even those whose values it does not use.
    """
    roots = filter(None, (key.nodes[question.step], key.solutions.differentiated))
    between = walk(*roots, into=lambda node: [s for s in node.sources if not is_given(s, question.own)])
    return [node.key for node in between if node.op == "step"]


# What they give


def _by_digits(
    key: Key, question: Question, candidates: Sequence[Solution], *, tried: int = 0, prior: float = 1.0
) -> Iterator[list[Explanation]]:
    """The candidates that give what was written, then those that give it but for the last digit, from each base."""
    for close, base in product((fits, nearly), question.bases):
        yield _matching(key, question, candidates, base, close, tried=tried, prior=prior)


def _matching(
    key: Key,
    question: Question,
    candidates: Sequence[Solution],
    own: Own | None,
    close: Close,
    *,
    tried: int = 0,
    prior: float = 1.0,
) -> list[Explanation]:
    """The candidates that give what was written, too well for chance."""
    answer = question.answer
    candidates = open_to(key, candidates, own)
    if not candidates or (close is nearly and not answer.enough.any()):
        return []
    values = values_of(key, question, candidates, own)
    against = without_mistake(key, question, own)
    slack = answer.unit if close is nearly else 0.0
    found = []
    for i in hits(answer, values, close):
        likely = prior * _prior(key, question, candidates[i].mistakes, values[i], against)
        if odds(answer, values[i], against, _distinct(values), tried=tried, slack=slack, prior=likely).convince:
            found.append(candidates[i])
    return likelier(found)


def _matching_rounded(
    key: Key, question: Question, candidates: Sequence[Solution], own: Own | None
) -> list[Explanation]:
    """The candidates that give what was written if numbers were rounded on the way."""
    answer = question.answer
    candidates = open_to(key, candidates, own)
    values = values_of(key, question, candidates, own)
    against = without_mistake(key, question, own)
    found = []
    for candidate, value in zip(candidates, values, strict=True):
        if value.shape == answer.shape and is_about(answer, value):
            rounded = key.rounded(candidate.steps[question.step], question.kept, own).values
            slack = np.ptp(np.where(np.isfinite(rounded), rounded, 0), axis=0)
            near = rounded.shape[1:] == answer.shape and fitting(answer, rounded).size
            if near and odds(answer, value, against, _distinct(values), slack=slack).convince:
                found.append(candidate)
    return likelier(found)


def _matching_in_full(key: Key, question: Question, candidates: Sequence[Solution]) -> list[Explanation]:
    """The candidates that give what was written if its writer computed on with unrounded own values."""
    answer, own = question.answer, question.own
    candidates = open_to(key, candidates, own) if own else []
    values = values_of(key, question, candidates, own)
    against = without_mistake(key, question, own)
    half = {step: np.full(value.shape, 0.5 * 10.0**-answer.used) for step, value in own.items()}
    found = []
    for candidate, value in zip(candidates, values, strict=True):
        if value.shape == answer.shape and is_about(answer, value):
            moved = key.most_moved(candidate.steps[question.step], own, half)
            if moved is not None and (within(answer, value, moved) | fits(answer, value)).all():
                slack = 2 * moved
                if odds(answer, value, against, _distinct(values), slack=slack).convince:
                    found.append(candidate)
    return likelier(found)


def within(answer: Answer, value: Array, moved: Array) -> Array:
    """Where an answer differs from a value by no more than half a unit of its last digit plus what `moved` allows."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(answer.value - value) <= 0.5 * answer.unit * (1 + 1e-6) + moved)


def in_some_places(
    key: Key, question: Question, singles: Sequence[Solution], along: Sequence[str] = OF_MANY
) -> list[Solution]:
    """The solutions with a mistake made only in the heads, items of a batch or other parts in which an answer is wrong.

    If the step no longer has heads, as they have been mixed, each head is tried by itself.
    """
    step, answer = key.nodes[question.step], question.answer
    if answer.shape != question.expected.shape:
        return []
    wrong = ~fits(answer, question.expected) & answer.answered
    found: dict[str, list[int]] = {}
    for axis in (step.names.index(name) for name in along if name in step.names):
        spoilt = wrong.any(axis=tuple(other for other in range(wrong.ndim) if other != axis))
        found |= {} if spoilt.all() or not spoilt.any() else {step.names[axis]: np.flatnonzero(spoilt).tolist()}
    several = [found] if found else []
    if "h" not in step.names:
        number = max((axis.size for node in walk(step) for axis in node.axes if axis.name == "h"), default=0)
        several += [found | {"h": [head]} for head in range(number)] if number <= MOST_HEADS else []
    gap = [key.nodes[made] for made in _gap(key, question) if made in key.nodes]
    mixed = max((node for node in gap if "h" in node.names), key=lambda node: node.serial, default=None)
    mistakes = []
    for one in singles:
        [mistake, *more] = one.mistakes
        if more or one.alternatives:
            continue
        if mixed is not None and (other := one.steps.get(mixed.key)):
            group, name = mixed.key
            place = spelled((group.rpartition("/")[2], name))
            mistakes += [in_places(mistake, places, place, other.sources[0]) for places in several]
        elif mistake.rule:
            mistakes += [in_places(mistake, places) for places in several]
    return candidates_for(question, map(key.solutions.by, mistakes))


def open_to(key: Key, candidates: Sequence[Solution], own: Own | None) -> list[Solution]:
    """The candidates whose alternatives may be behind the own values."""
    behind = key.alternatives_behind(own)
    return [candidate for candidate in candidates if candidate.alternatives in behind]


def values_of(key: Key, question: Question, candidates: Sequence[Solution], own: Own | None = None) -> list[Array]:
    """The values that the candidates give a step."""
    made = [candidate.steps[question.step] for candidate in candidates]
    shape = question.answer.shape
    return [key.written_out(question.step, *each, shape) for each in zip(made, key.values(made, own), strict=True)]


def likelier(found: Sequence[Solution]) -> list[Explanation]:
    """The explanations by the usual rules, or if there are none, all: a mistake in an alternative is less likely."""
    usual = [candidate.mistakes for candidate in found if not candidate.alternatives]
    return usual or [candidate.mistakes for candidate in found]


def without_mistake(key: Key, question: Question, own: Own | None) -> Array:
    """What a step would be without a mistake: what follows from own values, if that has its shape, or what is right."""
    follows = key.value(question.step, own=own) if own else None
    return question.expected if follows is None or follows.shape != question.expected.shape else follows


def _prior(key: Key, question: Question, mistakes: Explanation, value: Array, against: Array) -> float:
    """The prior of a value that these mistakes give: below 1 if it is likelier to be written than others."""
    if len(mistakes) > 1:
        return PAIRED
    if mistakes[0].kind == "convention" and comes_out(value, 1) and comes_out(against, 1):
        return COUNTED
    copied = COPIED if _stands_there(key, question, value) else 1.0
    reshaped = RESHAPED if value.shape != against.shape else 1.0
    return copied * reshaped * (BY_RULE if is_by_rule(question.answer, value, against) else 1.0)


def _stands_there(key: Key, question: Question, value: Array) -> bool:
    """Whether a value equals an operand or an earlier step, so that it may have been copied."""
    serial = key.nodes[question.step].serial
    earlier = [step for step, node in key.nodes.items() if node.serial < serial]
    key.foresee(earlier)
    stands = (known for step in earlier if (known := key.value(step)) is not None)
    there = (*question.own.values(), *key.solutions.operands.values(), *stands)
    return any(other.shape == value.shape and np.array_equal(other, value) for other in there)


def _distinct(values: Sequence[Array]) -> list[Array]:
    """The values that differ."""
    return [*{(value.shape, value.round(9).tobytes()): value for value in values}.values()]


def is_about(answer: Answer, value: Array) -> bool:
    """Whether rounding could turn a value into what was written: a quick test before a closer look."""
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.value - value)
    return bool(np.all((off <= BY_ROUNDING * answer.unit + 0.02 * largest(value)) | ~np.isfinite(value)))
