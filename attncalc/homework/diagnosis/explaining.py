"""Explanations are the mistakes that give what was written, likelier ones first.

One mistake as it is written, then but for the last digit, then with rounding on the way; then two mistakes. Each first
on the writer's own values, then on the true operands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, islice, product

import numpy as np

from attncalc.common.numerals import Array
from attncalc.declare.mistake import WHERE, Mistake, StepKey, in_places
from attncalc.evaluate.values import is_given
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
    stands_out,
)
from attncalc.homework.diagnosis.key import FEW, Key, Question
from attncalc.homework.diagnosis.solutions import Own, Solution, writes
from attncalc.homework.reading.answers import BY_HAND, Answer
from attncalc.language.graph import walk

Explanation = tuple[Mistake, ...]
"""Mistakes that, made together, give what was written."""

COPIED, AGAIN, PAIRED = 0.1, 0.02, 10.0
"""What stands on the page already is so much likelier to be written down, and what was done wrong to be done again;
two mistakes at once are so much less likely."""
BY_RULE, RESHAPED = 0.02, 0.1
"""A round number that nobody has by rounding what is right is so much likelier to come from a known rule, and so is an
answer of another shape."""
COUNTED = 0.02
"""Whole numbers that another convention gives, as of places counted from 1, are so much likelier than others."""
MOST_PAIRS = 3000
"""So many pairs are tried, which takes some seconds where a whole layer is between."""
MOST_HEADS = 16
"""Of so many heads at most each is tried by itself."""
PERMUTED, CUT = "heads-permuted", "fused-qkv-order"
OF_MANY = ("h", "b")
"""What heads, and items of a batch, are along: of each somebody may think anew."""
HEADS = ("h", "g")
"""What heads of queries and of keys are along."""
ANOTHER_BASE = "rope-wrong-base"
BASES = (10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8)
"""The bases of turns that are tried first."""
EPSILONS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
FACTORS = (0.02, 0.06, 0.2, 0.5, 0.7, 0.9, 1.1, 1.4, 2, 5, 16, 50)
"""The same of what is added to a norm's mean square, and of what scores are multiplied by."""
SCALINGS = ("factor", "original_length", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow")
"""The numbers by which frequencies are scaled for longer texts."""
APART = 1.25
"""The logarithms of these lie by this apart, at most."""
ROUGHLY = 0.8
"""By this the nearest of them is to be nearer than what is right, for others to be tried."""
GOLDEN = (3 - 5**0.5) / 2, (5**0.5 - 1) / 2
"""Where between two bases others are tried."""
NARROWED, MORE_NARROWED = 18, 32
"""So often what lies between two numbers is narrowed: a base, of which a few figures are told, and another one."""
CLOSELY = 0.05
"""By this nearer than at first a number must be by then, or within the noise, for it to be narrowed further."""
MOST_NUMBERS = 32
"""So many whole numbers are tried."""
ON_THE_WAY = 1e3
"""What is so many times as large as what is right is about to overflow."""
AS_NEAR = 1.5
"""So many times as far off a base of fewer figures may be."""
BEHIND = 4
"""Behind a mistake, so many times what its type leaves of sums tell of another one."""
FAR = 30
"""Rounding on the way moves a number by no more than so many units of its last digit and 2 % of the largest."""


def explanations(
    key: Key, question: Question, *, as_written: bool = False, beside: Explanation = ()
) -> Iterator[list[Explanation]]:
    """What would explain an answer, likelier explanations first; those that explain it equally well together.

    `as_written` is for one mistake without any rounding on the way, and no more. Two at once in a dump are looked for
    by `pairs_in_dump`.
    """
    singles = _candidates(question, key.wrong)
    late = -1 if is_lost(question.answer, question.expected) else 1  # what is lost was lost at once
    apart = _are_apart(key)
    singles.sort(key=lambda one: (-late * key.begins(one.mistakes), apart and one.mistakes[0].id == CUT))
    dumped = question.answer.dumped or not key.is_small(question.step)
    if dumped:
        bases = _bases(key, question)
        known = {solution.mistakes for solution in key.wrong}
        numbers = (mistake for mistake in beside if mistake.options and (mistake,) not in known)
        singles += _candidates(question, map(key.solutions.by, numbers))  # that were found before
        for base in bases:
            found = _nearest(key, question, singles, base, beside)
            if found and question.answer.slack is not None:
                found = _nearer_still(key, question, found, base, beside)
            if found and not as_written and not _is_within(key, question, found, base):
                yield from _numbers_found(key, question, beside, within=True)  # a rule is only near
            yield _likelier([*_throughout(key, question, singles, found, base), *found])
        for told, base in product(_rows_told(question), bases):
            yield _likelier(_nearest(key, told, singles, base, beside))
        if as_written or is_lost(question.answer, question.expected):
            return
        yield _heads_permuted(key, question)
        somewhere = _in_some_places(key, question, singles)
        for base in bases:
            yield _likelier(_nearest(key, question, somewhere, base, beside))
        yield from _numbers_found(key, question, beside)
        return
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
    somewhere = _in_some_places(key, question, singles)
    for close in (fits, nearly):
        for base in question.bases:
            yield _matching(key, question, somewhere, base, close, tried=len(singles))
    if question.answer.value.size <= BY_HAND and not is_lost(question.answer, question.expected):
        pairs = _candidates(question, _pairs(key, question))
        for close in (fits, nearly):
            for base in question.bases:
                yield _matching(key, question, pairs, base, close, tried=len(singles))


def in_rows(key: Key, question: Question) -> Iterator[list[Explanation]]:
    """One mistake in those rows alone that are wrong, of what a hand has written."""
    if question.by_hand:
        singles = _candidates(question, key.wrong)
        somewhere = _in_some_places(key, question, singles, [*WHERE])
        for close, base in product((fits, nearly), question.bases):
            yield _matching(key, question, somewhere, base, close, tried=len(singles))


def _rows_told(question: Question) -> Iterator[Question]:
    """A dump without the rows that are lost, then without those on the way there: noise is as large as they are.

    What overflows behind a row may be a number by the same rule. Rows that are right tell of none.
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
    """What a dump may have been worked out from; where no step before it is shown, its layer alone may be wrong."""
    alone = {} if question.own else key.given_to(question.step)
    return [alone, *question.bases] if alone else question.bases  # one layer takes less time than all before it


def pairs_in_dump(key: Key, question: Question) -> Iterator[list[Explanation]]:
    """Two mistakes at once that would explain a dump, where they are few enough to be tried, and it is noticeable."""
    answer = question.answer
    small = answer.dumped and key.is_small(question.step)
    if small and not is_lost(answer, question.expected) and stands_out(answer, question.expected):
        pairs = _candidates(question, _pairs(key, question))
        yield _likelier(_nearest(key, question, pairs, question.bases[0]))


def made_again(key: Key, question: Question, made: Collection[Mistake]) -> list[Explanation]:
    """Those of the mistakes made elsewhere on the sheet that give a step which says too little by itself."""
    if not made or not key.is_small(question.step):
        return []  # it says enough
    candidates = [one for one in _candidates(question, key.wrong) if one.mistakes[0] in made]
    ways = product((fits, nearly), question.bases)
    found = (_matching(key, question, candidates, base, close, prior=AGAIN) for close, base in ways)
    return next(filter(None, found), [])


def made_as_well(key: Key, question: Question, made: Sequence[Mistake]) -> list[Explanation]:
    """The mistakes that give a step together with those made before it, of which more digits were kept than written."""
    if not key.is_small(question.step):
        return []
    gap = _gap(key, question)
    later = [one.mistakes[0] for one in key.wrong if not one.alternatives and writes(one.mistakes, gap)]
    both = _candidates(question, (key.solutions.by(*made, mistake) for mistake in later if mistake not in made))
    candidates = [one._replace(rules=one.rules[-1:]) for one in both]
    return next(filter(None, (_matching(key, question, candidates, None, close) for close in (fits, nearly))), [])


def made_throughout(key: Key, questions: Sequence[Question]) -> list[Explanation]:
    """The mistakes that explain several steps, none of which says enough by itself."""
    if not all(key.is_small(question.step) for question in questions):
        return []  # a large one says enough
    found = _candidates(questions[0], key.wrong) if questions else []
    for question in questions:
        found = [one for one in found if question.step in one.steps]
        found = [found[hit] for hit in _hits(question.answer, _values(key, question, found), nearly)]
    return [one.mistakes for one in found if _convince(key, questions, one)]


def _convince(key: Key, questions: Sequence[Question], solution: Solution) -> bool:
    """Whether a solution that gives every one of these steps does so too well for chance, together."""
    tried, share, most = 1.0, 1.0, 1.0
    for question in questions:
        [value] = key.values([solution.steps[question.step]])
        others = _distinct(_values(key, question, _candidates(question, key.wrong)))
        slack = 0.0 if fits(question.answer, value).all() else question.answer.unit
        alone = odds(question.answer, value, question.expected, others, slack=slack)
        tried, share, most = max(tried, alone.tried), share * alone.share, min(most, alone.most)
    return Odds(tried, share, most).convince


def possible(key: Key, question: Question) -> list[Mistake]:
    """The mistakes that give what was written, though it may be chance, likelier ones first.

    Of more than a hand writes none may, and of a step that is not finished those that give what is there. What follows
    without a mistake is none's.
    """
    answer = question.answer
    if answer.value.size > BY_HAND or not key.is_small(question.step):
        return []
    candidates = _candidates(question, key.wrong)
    candidates.sort(key=lambda one: (one.mistakes[0].kind == "convention", -key.begins(one.mistakes)))
    found: list[Mistake] = []
    for base in question.bases:
        values, follows = _values(key, question, candidates, base), without_mistake(key, question, base)
        hits = (hit for hit in _hits(answer, values) if not np.array_equal(values[hit], follows, equal_nan=True))
        found += [mistake for hit in hits for mistake in candidates[hit].mistakes]
    return list(dict.fromkeys(found))


def _hits(answer: Answer, values: Sequence[Array], close: Close = fits) -> list[int]:
    """The numbers of the values that an answer is; a mistake that leaves no number somewhere has none just there."""
    alike = [i for i, value in enumerate(values) if value.shape == answer.shape]
    number = max(1, FEW // max(answer.value.size, 1))  # at once, which is faster, of small ones
    parts = [alike[start : start + number] for start in range(0, len(alike), number)]

    def is_as_close(answer: Answer, values: Array) -> Array:
        return close(answer, values) | lost_alike(answer, values)

    return [part[hit] for part in parts for hit in fitting(answer, np.array([values[i] for i in part]), is_as_close)]


def ids(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """What mistakes are called."""
    return tuple(dict.fromkeys(mistake.id for mistake in mistakes))


# Which mistakes are tried


def _are_apart(key: Key) -> bool:
    """Whether a checkpoint holds queries, keys and values apart, so that hardly anybody cuts them from one matrix."""
    modules = key.names.of_modules
    return modules is not None and not any(step[1] == "q" for one in modules.fused.values() for step in one.steps)


def _candidates(question: Question, solutions: Iterable[Solution | None]) -> list[Solution]:
    """Those of the solutions that there are, and that have the step."""
    return [found for found in solutions if found and question.step in found.steps]


def _around(question: Question, candidates: Iterable[Solution]) -> list[Solution]:
    """Those that make a small step of other own values than it is made of, past the ones that stand between."""
    if not question.by_hand or not question.own:
        return []
    others = question.before.keys() - question.own.keys()

    def reads_others(candidate: Solution) -> bool:
        met = walk(
            candidate.steps[question.step].sources[0], into=lambda n: () if is_given(n, question.before) else n.sources
        )
        return any(is_given(node, question.before) and node.key in others for node in met)

    return [candidate for candidate in candidates if others and reads_others(candidate)]


def _pairs(key: Key, question: Question) -> Iterator[Solution]:
    """The solutions with two mistakes that both lie between the writer's own steps and this one.

    Of a mistake that takes several forms the first is the likeliest, and so are pairs of such.
    What is of another shape than it should be is so by one of the two.
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
    """The steps that are made between the writer's own ones and this one.

    A gradient is made of the forward pass too, also of steps whose values it does not take.
    """
    roots = filter(None, (key.nodes[question.step], key.solutions.differentiated))
    between = walk(*roots, into=lambda node: [s for s in node.sources if not is_given(s, question.own)])
    return [node.key for node in between if node.op == "step"]


# What they give


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
    candidates = _open_to(key, candidates, own)
    if not candidates or (close is nearly and not answer.enough.any()):
        return []
    values = _values(key, question, candidates, own)
    against = without_mistake(key, question, own)
    slack = answer.unit if close is nearly else 0.0
    found = []
    for i in _hits(answer, values, close):
        likely = prior * _likelihood(key, question, candidates[i].mistakes, values[i], against)
        if odds(answer, values[i], against, _distinct(values), tried=tried, slack=slack, prior=likely).convince:
            found.append(candidates[i])
    return _likelier(found)


def _matching_rounded(
    key: Key, question: Question, candidates: Sequence[Solution], own: Own | None
) -> list[Explanation]:
    """The candidates that give what was written with rounding on the way."""
    answer = question.answer
    candidates = _open_to(key, candidates, own)
    values = _values(key, question, candidates, own)
    against = without_mistake(key, question, own)
    found = []
    for candidate, value in zip(candidates, values, strict=True):
        if value.shape == answer.shape and is_about(answer, value):
            rounded = key.rounded(candidate.steps[question.step], question.kept, own).values
            slack = np.ptp(np.where(np.isfinite(rounded), rounded, 0), axis=0)
            near = rounded.shape[1:] == answer.shape and fitting(answer, rounded).size
            if near and odds(answer, value, against, _distinct(values), slack=slack).convince:
                found.append(candidate)
    return _likelier(found)


def _matching_in_full(key: Key, question: Question, candidates: Sequence[Solution]) -> list[Explanation]:
    """The candidates that give what was written from own values before they were rounded for the sheet."""
    answer, own = question.answer, question.own
    candidates = _open_to(key, candidates, own) if own else []
    values = _values(key, question, candidates, own)
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
    return _likelier(found)


def within(answer: Answer, value: Array, moved: Array) -> Array:
    """Where an answer is as near to a value as rounding and what moves it leave it."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(answer.value - value) <= 0.5 * answer.unit * (1 + 1e-6) + moved)


def _nearest(
    key: Key, question: Question, candidates: Sequence[Solution], own: Own | None, beside: Explanation = ()
) -> list[Solution]:
    """The candidates that a dump is nearest to; behind a mistake the noise adds up, and another one must stand out."""
    from attncalc.homework.diagnosis.dumps import nearest  # a door: few answers are dumps

    candidates = _open_to(key, candidates, own)
    against = without_mistake(key, question, own)
    made = {*ids(beside)}  # whichever form of a mistake it was
    if beside and not stands_out(question.answer, against, BEHIND):
        candidates = [candidate for candidate in candidates if made.issuperset(ids(candidate.mistakes))]
    nodes = [candidate.steps[question.step].sources[0] for candidate in candidates]
    found = [candidates[number] for number in nearest(key, question, nodes, own, against)]
    return sorted(found, key=lambda one: not made.issuperset(ids(one.mistakes)))  # what was made before is made again


def _throughout(
    key: Key, question: Question, singles: Sequence[Solution], found: Sequence[Solution], own: Own | None
) -> list[Solution]:
    """Mistakes of all layers that give a step from the true operands, where others give it behind wrong own values.

    A model that has its norms elsewhere stores other states, so that behind these a norm seems to be missing.
    """
    if not found or not own or question.own_are_right:
        return []
    options = [one for one in singles if one.mistakes[0].options and one not in found]
    near = _nearest(key, question, options, None)
    return near if near and _is_within(key, question, near, None) else []


def _is_within(key: Key, question: Question, found: Sequence[Solution], own: Own | None) -> bool:
    """Whether one of the candidates gives a dump within the noise of its type; of large ones that is not asked."""
    return not key.is_small(question.step) or bool(_hits(question.answer, _values(key, question, found, own)))


def _in_some_places(
    key: Key, question: Question, singles: Sequence[Solution], along: Sequence[str] = OF_MANY
) -> list[Solution]:
    """Mistakes in some heads or items of a batch alone, or along other axes: in those that are wrong.

    Where heads have been mixed it is each by itself.
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
            place = "/".join(filter(None, (group.rpartition("/")[2], name)))
            mistakes += [in_places(mistake, places, place, other.sources[0]) for places in several]
        elif mistake.rule:
            mistakes += [in_places(mistake, places) for places in several]
    return _candidates(question, map(key.solutions.by, mistakes))


def _heads_permuted(key: Key, question: Question) -> list[Explanation]:
    """That the heads of a dump are the right ones in another order, whichever it is."""
    step, answer, right = key.nodes[question.step], question.answer, question.expected
    known = next((mistake for mistake in key.known if mistake.id == PERMUTED), None)
    axes = [part for axis in step.axes for part in axis.parts or (axis,)]
    place = next((number for number, axis in enumerate(axes) if axis.name in HEADS), None)
    if known is None or place is None or answer.shape != right.shape:
        return []
    from attncalc.homework.diagnosis.dumps import matched  # a door: few answers are dumps

    shape = [axis.size for axis in axes]
    order = matched(answer.laid(lambda part: part.reshape(shape)), right.reshape(shape), place)
    return [(replace(known, says=f"{known.says}: {', '.join(map(str, order))}"),)] if order else []


def _nearer_still(
    key: Key, question: Question, found: Sequence[Solution], own: Own | None, beside: Explanation
) -> list[Solution]:
    """What a dump is nearest to within the noise of its type: mistakes, or another number in place of the problem's.

    A number that is sought fits more than one that is known: it is told only where no mistake is as near.
    """
    others = _of_other_numbers(key, question)
    nearest = _nearest(key, question, [*found, *others], own, beside) if others else [*found]
    if _may_have_other_numbers(key, question):
        sought = [one for search in _searches(key, question, beside) for one in search()]
        among = _nearest(key, question, [*nearest, *sought], own, beside) if sought else nearest
        if among and not any(one in nearest for one in among):
            return among
    return nearest


def _may_have_other_numbers(key: Key, question: Question) -> bool:
    return question.answer.shape == question.expected.shape and key.is_small(question.step)


def _numbers_found(
    key: Key, question: Question, beside: Explanation, *, within: bool = False
) -> Iterator[list[Explanation]]:
    """Another number in place of one of the problem's, whichever it is; `within` the noise alone, if so asked."""
    if not _may_have_other_numbers(key, question):
        return
    own = question.bases[0]
    searches: list[Callable[[], list[Solution]]] = [
        *_searches(key, question, beside),
        lambda: _nearest(key, question, _of_other_numbers(key, question), own),
    ]
    for found in (search() for search in searches):
        if found and (not within or _is_within(key, question, found, own)):
            yield _likelier(found)


def _searches(key: Key, question: Question, beside: Explanation) -> list[Callable[[], list[Solution]]]:
    """What looks for another number in place of each of the problem's, whichever it is."""
    settled = key.problem.settled
    option = next((name for name in ("rope_base", "base") if settled.get(name)), "")
    sought: list[tuple[str, Sequence[float], Callable[[Mistake, float], Mistake], Explanation | None]] = []
    if option:
        sought.append((ANOTHER_BASE, BASES, _instead(option, "base"), beside))
    if settled.get("eps"):
        sought.append(("ln-wrong-eps", EPSILONS, _instead("eps", "ε"), None))
    sought += [(name, FACTORS, _times, None) for name in ("att-other-scale", "scale-embedding-other")]
    caps = [("softcap-other", name, "cap") for name in ("softcap", "final_softcap")]
    scalings = [("rope-scaling-other", f"rope_{name}", name.replace("_", " ")) for name in SCALINGS]
    for known, name, called in (*caps, *scalings):
        if number := settled.get(name):
            sought.append((known, [number * factor for factor in FACTORS], _instead(name, called), None))
    return [partial(_number_found, key, question, *each) for each in sought]


def _of_other_numbers(key: Key, question: Question) -> list[Solution]:
    """Other whole numbers in place of one of the problem's: of few that differ each is tried."""
    settled = key.problem.settled
    axes = [axis for node in key.nodes.values() for axis in node.axes]
    n, width = (max((axis.size for axis in axes if axis.name == name), default=0) for name in ("n", "d_k"))
    tried = (
        ("window", "window-other-size", "window", range(1, n)),
        ("rope", "rope-other-dims", "rope_dims", range(2, width, 2)),
        (
            "max_distance",
            "t5-other-distance",
            "max_distance",
            (128, *range(1, 2 * n)) if settled.get("bias") == "t5" else (),
        ),
    )
    found = []
    for there, name, option, numbers in tried:
        for known in key.known if settled.get(there) else ():
            others = [number for number in numbers[:MOST_NUMBERS] if number != settled[option]]
            rules = [_counted(known, option, number) for number in others if known.id == name]
            if rules and _is_touched(key, question, rules[-1]):
                found += [key.solutions.by(rule) for rule in rules]
    return _candidates(question, found)


@cache
def _counted(known: Mistake, option: str, number: int) -> Mistake:
    return replace(known, options=lambda _: {option: number}, says=f"another number: {number}")


def _is_touched(key: Key, question: Question, rule: Mistake) -> bool:
    """Whether a rule makes something else of a step than is right, behind own values."""
    own = question.bases[0]
    made = _values(key, question, _candidates(question, [key.solutions.by(rule)]), own)
    return any(not np.array_equal(x, without_mistake(key, question, own), equal_nan=True) for x in made)


def _instead(option: str, called: str) -> Callable[[Mistake, float], Mistake]:
    return lambda known, number: replace(
        known, options=lambda _: {option: number}, says=f"another {called}: about {number:g}"
    )


def _times(known: Mistake, factor: float) -> Mistake:
    return replace(known, rule=lambda s: s.this * factor, says=f"{known.says.rpartition(' ')[0]} about {factor:g}")


def _number_found(
    key: Key,
    question: Question,
    id: str,
    usual: Sequence[float],
    rule: Callable[[Mistake, float], Mistake],
    beside: Explanation | None = None,
) -> list[Solution]:
    """The number that a dump is nearest to, in as few figures as will do; all but a base within the type's noise."""
    known = next((mistake for mistake in key.known if mistake.id == id), None)
    if known is None:
        return []
    from attncalc.homework.diagnosis.dumps import distance  # a door: few answers are dumps

    own, tried = question.bases[0], dict[float, tuple[float, list[Solution], list[Array]]]()

    def off(number: float) -> float:
        number = float(f"{number:.9g}")
        if number not in tried:
            made = _candidates(question, [key.solutions.by(rule(known, number))])
            values = [x for x in _values(key, question, made, own) if x.shape == question.expected.shape]
            far = min([distance(question.answer, x, question.expected) for x in values], default=np.inf)
            tried[number] = far, made, values
        return tried[number][0]

    def is_within(number: float) -> bool:
        return off(number) < np.inf and all(fits(question.answer, x).all() for x in tried[number][2])

    if not _is_touched(key, question, rule(known, usual[-1])):
        return []
    nearest = float(f"{min(usual, key=off):.9g}")
    most = 1.0 if beside is not None else ROUGHLY
    if off(nearest) >= most * distance(question.answer, without_mistake(key, question, own), question.expected):
        return []
    low, high, best = np.log(nearest) - APART, np.log(nearest) + APART, nearest
    for narrowed in range(NARROWED if beside is not None else MORE_NARROWED):
        a, b = (low + share * (high - low) for share in GOLDEN)
        low, high = (low, b) if off(np.exp(a)) < off(np.exp(b)) else (a, high)
        best = min(tried, key=off)
        if narrowed == NARROWED and off(best) > CLOSELY * off(nearest) and not is_within(best):
            return []
    rounded = next((x for n in range(1, 7) if off(x := float(f"{best:.{n}g}")) <= AS_NEAR * off(best)), best)
    made = tried[rounded][1]
    if beside is not None:
        return _nearest(key, question, made, own, beside)
    return _nearest(key, question, made, own) if is_within(rounded) else []


def _open_to(key: Key, candidates: Sequence[Solution], own: Own | None) -> list[Solution]:
    """Those of the candidates whose alternatives may be behind the own values."""
    behind = key.alternatives_behind(own)
    return [candidate for candidate in candidates if candidate.alternatives in behind]


def _values(key: Key, question: Question, candidates: Sequence[Solution], own: Own | None = None) -> list[Array]:
    """The values that the candidates give a step."""
    made = [candidate.steps[question.step] for candidate in candidates]
    shape = question.answer.shape
    return [key.written_out(question.step, *each, shape) for each in zip(made, key.values(made, own), strict=True)]


def _likelier(found: Sequence[Solution]) -> list[Explanation]:
    """Those by the usual rules, if there are any: a mistake in an alternative is two things that somebody did."""
    usual = [candidate.mistakes for candidate in found if not candidate.alternatives]
    return usual or [candidate.mistakes for candidate in found]


def without_mistake(key: Key, question: Question, own: Own | None) -> Array:
    """What a step would be without a mistake: what follows from own values, if that has its shape, or what is right."""
    follows = key.value(question.step, own=own) if own else None
    return question.expected if follows is None or follows.shape != question.expected.shape else follows


def _likelihood(key: Key, question: Question, mistakes: Explanation, value: Array, against: Array) -> float:
    """How much likelier than others a value is to be what somebody wrote who made these mistakes."""
    if len(mistakes) > 1:
        return PAIRED
    if mistakes[0].kind == "convention" and comes_out(value, 1) and comes_out(against, 1):
        return COUNTED
    copied = COPIED if _stands_there(key, question, value) else 1.0
    reshaped = RESHAPED if value.shape != against.shape else 1.0
    return copied * reshaped * (BY_RULE if is_by_rule(question.answer, value, against) else 1.0)


def _stands_there(key: Key, question: Question, value: Array) -> bool:
    """Whether a value is that of an operand or of an earlier step, so that it may have been copied."""
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
    """Whether rounding could bring a value to what was written; to look closer is work."""
    with np.errstate(invalid="ignore"):
        off = np.abs(answer.value - value)
    return bool(np.all((off <= FAR * answer.unit + 0.02 * largest(value)) | ~np.isfinite(value)))
