"""Variants are drawn: problems with other numbers for everybody, and the same work.

They have the sizes, the signs and the digits of one of them, show the same mistakes, and come out as friendly; no two
have many answers in common.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count as count_up
from itertools import islice
from math import inf

import numpy as np

from attncalc.common.errors import AttncalcError
from attncalc.common.numerals import Array
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.separating import APART, redrawn
from attncalc.homework.quiz.search import WHATEVER, Asks, Quiz, board_of, quiz, resized, weigh
from attncalc.homework.quiz.templates import ANYTHING, Wanted, template, varies
from attncalc.solve.problem import Problem

STREAM = 1
"""Behind the seed, so that variants are other problems than those that a search draws."""
STARTS = 4
"""So many problems are tried as the one that the others are like, until there are enough."""
IN_COMMON = 0.5
"""So large a share of the answers that differ at all two variants may have in common."""
AS_FRIENDLY = 0.15
"""So much friendlier than another a variant may be; a step in which no number comes out counts 1."""
FIRST_DRAWS, DRAWS_EACH = 64, 40
"""So often numbers are drawn before the variants are counted, and at most for each of them."""
GROWTH = 1.02
"""Drawing twice as often goes on while it finds more by this."""


def for_class(
    name: str,
    count: int,
    *,
    seed: int,
    sizes: Mapping[str, int],
    level: str,
    wanted: Wanted = ANYTHING,
    asks: Asks = WHATEVER,
) -> list[Quiz]:
    """So many problems of a calculation; fewer where no more are found that are different and equally hard."""
    best: list[Quiz] = []
    for own in range(seed, seed + STARTS):
        first = quiz(name, seed=own, sizes=sizes, level=level, wanted=wanted, asks=asks)
        for wide in (False, True):
            found = variants(first.problem, count, seed=own, level=level, kept=wanted.inputs, asks=asks, wide=wide)
            if len(found) < 2 and varies(name):
                return _chosen(_templates(name, seed, sizes, level, wanted, asks), count)
            best = max(best, found, key=len)
            if len(best) >= count:
                return best
    return best


def variants(
    model: Problem,
    count: int,
    *,
    seed: int,
    level: str,
    kept: Container[str] = (),
    asks: Asks = WHATEVER,
    taken: Sequence[Problem] = (),
    wide: bool = False,
) -> list[Quiz]:
    """So many problems like one, none of them like those that are taken; fewer where no more are found."""
    key = Key(model)
    numbers = {name: given.value for name, given in model.inputs.items() if given.value.dtype.kind == "f"}
    stay = {name for name in model.inputs if name in kept or (name in numbers and not np.isfinite(numbers[name]).all())}
    like = {name: value for name, value in numbers.items() if name not in stay}
    board = board_of(key, asks)

    def weighed(problem: Problem) -> Quiz:
        return weigh(problem, board if board.operands is None else board_of(Key(problem), asks), level)

    def drawn() -> Iterator[Quiz | None]:
        known = {_numbers(problem) for problem in (model, *taken)}
        for number in count_up():
            random = np.random.default_rng([seed, STREAM, number])
            found = None
            with suppress(AttncalcError):  # numbers for which there is no result
                problem = model._replace(inputs=redrawn(model, key.axes, random, {}, level, stay, like, wide=wide))
                found = weighed(problem) if _is_new(problem, known) else None
            yield found

    return _chosen(drawn(), count, _flaws(weighed(model)), [weighed(problem) for problem in taken])


def _templates(
    name: str, seed: int, sizes: Mapping[str, int], level: str, wanted: Wanted, asks: Asks
) -> Iterator[Quiz | None]:
    """The templates of a calculation that has no numbers to draw: other options, other formulas."""
    known: set[Hashable] = set()
    for number in count_up():
        start = template(name, np.random.default_rng([seed, number]), level, wanted)
        problem = resized(start, sizes).problem
        yield weigh(problem, board_of(Key(problem), asks), level) if _is_new(problem, known) else None


def _is_new(problem: Problem, known: set[Hashable]) -> bool:
    before = len(known)
    known.add(_numbers(problem))
    return len(known) > before


def _numbers(problem: Problem) -> Hashable:
    """What tells a problem from others."""
    inputs = ((name, str(given.value.tolist())) for name, given in problem.inputs.items())
    return *inputs, *((name, str(value)) for name, value in problem.options.items())


Flaws = tuple[float, int]
"""How many mistakes hide, and how dull the numbers are."""
ANY: Flaws = (inf, 0)


def _flaws(one: Quiz) -> Flaws:
    return one.cost[0], one.dull


def _chosen(
    drawn: Iterator[Quiz | None], count: int, most_flaws: Flaws = ANY, taken: Sequence[Quiz] = ()
) -> list[Quiz]:
    """Of what is drawn so many as belong together, beside those that are taken."""
    found: list[Quiz] = []
    best: list[Quiz] = []
    done, most = 0, FIRST_DRAWS + DRAWS_EACH * count
    many = min(most, max(FIRST_DRAWS, 2 * count))
    while True:
        found += filter(None, islice(drawn, many - done))
        before, best, done = len(best), _together(found, count, most_flaws, taken), many
        if len(best) >= count or done >= most or (done > FIRST_DRAWS and len(best) <= GROWTH * before):
            return best
        many = min(most, 2 * many)


def _together(found: Sequence[Quiz], count: int, most_flaws: Flaws, taken: Sequence[Quiz]) -> list[Quiz]:
    """So many that are equally hard and have few answers in common, the friendliest; fewer where there are no more."""
    fewest = min([most_flaws, *map(_flaws, (*taken, *found))])
    sound = [one for one in found if _flaws(one) <= fewest]
    if taken:
        least, most = (pick(one.pain for one in taken) for pick in (min, max))
        return _different([one for one in sound if most - AS_FRIENDLY <= one.pain <= least + AS_FRIENDLY], count, taken)
    best: list[Quiz] = []
    for least in sorted({one.pain for one in sound}):
        alike = [one for one in sound if least <= one.pain <= least + AS_FRIENDLY]
        if len(alike) > len(best):
            best = max(best, _different(alike, count, ()), key=len)
        if len(best) >= count:
            break
    return best


def _different(found: Sequence[Quiz], count: int, taken: Sequence[Quiz]) -> list[Quiz]:
    """So many of them as have few answers in common, in their order."""
    shapes = {one.answers.shape for one in (*taken, *found)}
    if len(shapes) > 1:  # of templates, whose numbers of steps differ
        return [*found[:count]]
    rows = np.array([one.answers for one in (*taken, *found)])
    rows = rows[:, ~_same(rows, rows[0]).all(axis=0)]
    kept, chosen = [*range(len(taken))], []
    for i in range(len(taken), len(rows)):
        same = _same(rows[kept], rows[i])
        common = same.mean(axis=1) if same.size else np.ones(len(kept))  # all answers are those of all
        if not (common > IN_COMMON).any():
            kept.append(i)
            chosen.append(found[i - len(taken)])
        if len(chosen) == count:
            break
    return chosen


def _same(rows: Array, one: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(rows - one) <= APART) | (rows == one) | (np.isnan(rows) & np.isnan(one)))
