"""Variants are drawn: problems with other numbers for everybody, and the same work.

They have the sizes, the signs and the digits of one problem, their model, show the same mistakes, and are as friendly;
no two have many answers in common.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from contextlib import suppress
from itertools import count as count_up
from itertools import islice
from typing import TypeVar

import numpy as np

from attncalc.common.errors import AttncalcError
from attncalc.common.numerals import Array
from attncalc.common.system import tell
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.separating import APART, REACHES, Draw
from attncalc.homework.quiz.search import LARGE, Board, Quiz, beside_mistakes, board_of, by_rule, quiz, resized, weigh
from attncalc.homework.quiz.templates import ANYTHING, WHATEVER, Asks, Wanted, template, varies
from attncalc.homework.reading.keys_file import LEVELS
from attncalc.solve.problem import Problem

STREAM = 1
"""Stands behind the seed, so that variants are not the problems that a search draws."""
STARTS = 4
"""How many problems are tried as the model of the others, until there are enough."""
IN_COMMON = 0.5
"""The largest share of answers that two variants may have in common; answers that are the same in all do not count."""
AS_FRIENDLY = 0.15
"""How much friendlier than another a variant may be; a step in which no number comes out counts 1."""
AS_LARGE = 2
"""How many times as large as the model's numbers those of a variant may be, if they are large at all."""
FIRST_DRAWS, DRAWS_EACH = 64, 40
"""How often to draw at first, and how often more for each variant before some of them may be duller."""
MORE_DRAWS, SOON = 1_000, 256
"""The most draws after these; and the draws after which to give up if there will hardly be enough variants."""
GROWTH, MANY = 1.02, 1.5
"""Drawing ends if new problems grow by GROWTH or less, or variants do although problems fit for them grow by MANY."""


def for_class(name: str, count: int, seed: int, wanted: Wanted = ANYTHING) -> list[Quiz]:
    """`count` problems of a calculation; fewer if no more are found that are different and equally hard."""
    level, kept, asks = wanted.level, wanted.inputs, wanted.asks
    best: list[Quiz] = []
    firsts: list[Quiz] = []
    for start in (*range(STARTS), *range(STARTS)):
        own, dull = seed + start, len(firsts) == STARTS
        if not dull:
            firsts.append(quiz(name, own, wanted))
        first = firsts[start]
        found = variants(first.problem, count, seed=own, level=level, kept=kept, asks=asks, near=False, dull=dull)
        if len(found) < 2 and varies(name):
            return _templates(name, first, count, seed, wanted)
        best = max(best, found, key=len)
        if len(best) >= count:
            break
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
    near: bool = True,
    dull: bool = True,
) -> list[Quiz]:
    """`count` problems like a model, and unlike those that are `taken`; fewer if no more are found.

    They are as hard as the model if they are to be `near` it, else as hard as the level allows; if `dull`, some may be
    duller than others. Mistakes that show on the model show on them too, somewhere in a step that is asked for.
    """
    key = Key(model)
    numbers = {name: given.value for name, given in model.inputs.items() if given.value.dtype.kind == "f"}
    stay = {name for name in model.inputs if name in kept or (name in numbers and not np.isfinite(numbers[name]).all())}
    like = {name: value for name, value in numbers.items() if name not in stay}
    board = board_of(key, asks)
    own = beside_mistakes(by_rule(model, board, level), board.of_whole_steps)

    def board_for(problem: Problem) -> Board:
        return board if board.operands is None else board_of(Key(problem), asks)

    def seen(problem: Problem) -> Quiz | None:
        one = by_rule(problem, board_for(problem), level)
        return one if _is_as_hard(one, own, None if near else level) else None

    def shown(one: Quiz) -> Quiz | None:
        found = beside_mistakes(one, board_for(one.problem).of_whole_steps)
        return found if found.cost[0] <= own.cost[0] else None

    def drawn(reach: str) -> Iterator[Problem | None]:
        known = {_numbers(problem) for problem in (model, *taken)}
        for number in count_up():
            random = np.random.default_rng([seed, STREAM, number])
            found = None
            with suppress(AttncalcError):  # numbers that have a meaning cannot always be drawn
                draw = Draw(model, key.axes, random, {}, level, like, reach)
                found = model._replace(inputs=draw.operands(stay))
            yield found if found is not None and _is_new(found, known) else None

    others = [by_rule(problem, board_for(problem), level) for problem in taken]
    best: list[Quiz] = []
    for reach in REACHES:
        found = _chosen(drawn(reach), seen, shown, count, others, dull=dull)
        if len(found) < len(best):
            break
        best = found
        if len(best) >= count:
            break
    return [beside_mistakes(one, board_for(one.problem)) for one in best]


def _is_as_hard(one: Quiz, model: Quiz, level: str | None) -> bool:
    """Whether no more rows are one-hot than in the model, and numbers are no larger than there, or than the level has.

    Without a level, it must also be as friendly as the model, and no duller.
    """
    if level is None and (abs(one.pain - model.pain) > AS_FRIENDLY or one.dull > model.dull):
        return False
    return one.sure <= model.sure and one.largest <= max(LARGE[level or LEVELS[0]], AS_LARGE * model.largest)


def _templates(name: str, first: Quiz, count: int, seed: int, wanted: Wanted) -> list[Quiz]:
    """Variants of a calculation that has no numbers to draw: other options, other formulas."""

    def drawn() -> Iterator[Problem | None]:
        known: set[Hashable] = set()
        for number in count_up():
            start = template(name, np.random.default_rng([seed, number]), wanted)
            problem, *_ = resized(start, wanted.sizes)
            yield problem if _is_new(problem, known) else None

    def seen(problem: Problem) -> Quiz | None:
        found = weigh(problem, board_of(Key(problem), wanted.asks), wanted.level)
        return found if found.cost[0] <= first.cost[0] and found.dull <= first.dull else None

    return _chosen(drawn(), seen, lambda one: one, count)


def _is_new(problem: Problem, known: set[Hashable]) -> bool:
    before = len(known)
    known.add(_numbers(problem))
    return len(known) > before


def _numbers(problem: Problem) -> Hashable:
    """The operands and options of a problem, by which it differs from others."""
    inputs = ((name, str(given.value.tolist())) for name, given in problem.inputs.items())
    return *inputs, *((name, str(value)) for name, value in problem.options.items())


def _chosen(
    drawn: Iterator[Problem | None],
    seen: Callable[[Problem], Quiz | None],
    shown: Callable[[Quiz], Quiz | None],
    count: int,
    taken: Sequence[Quiz] = (),
    *,
    dull: bool = True,
) -> list[Quiz]:
    """Of the problems drawn, `count` that are alike in friendliness, and unlike those `taken`; fewer if need be.

    A problem that is not new is drawn as None. All are `seen` by the rules; candidates are `shown` with the mistakes
    that hide on them: the least dull first, and after a while, if `dull`, duller ones.
    """
    waiting: list[Quiz] = []
    found: list[Quiz] = []
    best: list[Quiz] = []
    done, new, most = 0, 0, FIRST_DRAWS + DRAWS_EACH * count
    many = min(most, max(FIRST_DRAWS, 2 * count))
    while True:
        before = len(best), len(found), new
        for problem in islice(drawn, many - done):
            tell("draw", done := done + 1)
            if problem is not None:
                new += 1
                waiting += _without_faults(seen, problem)
        least = min((one.dull for one in (*waiting, *found)), default=0)
        fewest = sum(one.dull == least for one in (*waiting, *found))
        ended = done > FIRST_DRAWS and new <= GROWTH * before[2]
        enough = ended or done >= most or (done >= SOON and fewest * most < count * done)
        for worst in sorted({one.dull for one in (*waiting, *found)}):
            found += (one for each in waiting if each.dull <= worst for one in _without_faults(shown, each))
            waiting = [one for one in waiting if one.dull > worst]
            sound = [one for one in found if one.dull <= worst]
            best = _alike(sound, count, taken)
            if len(best) >= count or (sound and not (enough and dull)):
                break
        no_more = enough and len(best) <= GROWTH * before[0] and len(found) >= MANY * before[1]
        too_rare = done >= SOON and (len(found) + len(waiting)) * (most + MORE_DRAWS) < count * done
        at_end = ended or no_more or too_rare or done >= most + MORE_DRAWS or (enough and not dull)
        if len(best) >= count or at_end:
            return best
        many = min(most + MORE_DRAWS if enough else most, 2 * many)


T = TypeVar("T")


def _without_faults(look: Callable[[T], Quiz | None], at: T) -> list[Quiz]:
    """What `look` finds, in a list; an empty list if it finds nothing, or raises an error."""
    with suppress(AttncalcError):
        return [found for found in [look(at)] if found is not None]
    return []


def _alike(sound: Sequence[Quiz], count: int, taken: Sequence[Quiz]) -> list[Quiz]:
    """The friendliest problems that are as friendly as one another, and as those taken."""
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
    """Up to `count` of the problems, in their order, no two of which have many answers in common."""
    shapes = {one.answers.shape for one in (*taken, *found)}
    if len(shapes) > 1:  # templates differ in their number of steps
        return [*found[:count]]
    rows = np.array([one.answers for one in (*taken, *found)])
    rows = rows[:, ~_same(rows, rows[0]).all(axis=0)]
    kept, chosen = [*range(len(taken))], []
    for i in range(len(taken), len(rows)):
        same = _same(rows[kept], rows[i])
        common = same.mean(axis=1) if same.size else np.ones(len(kept))  # no answer differs at all
        if not (common > IN_COMMON).any():
            kept.append(i)
            chosen.append(found[i - len(taken)])
        if len(chosen) == count:
            break
    return chosen


def _same(rows: Array, one: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(rows - one) <= APART) | (rows == one) | (np.isnan(rows) & np.isnan(one)))
