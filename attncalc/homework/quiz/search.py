"""A quiz is searched for: a new problem with friendly numbers on which every known mistake shows.

Many problems are drawn, and the best is kept: in the steps that are asked for, as many mistakes as possible change the
answers, each in its own way. Among equals, mistakes also show in the result alone, and numbers have few decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from attncalc.common.errors import AttncalcError, DomainError, OptionError, ShapeError, both, near, quoted
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple, grouped
from attncalc.declare.mistake import StepKey
from attncalc.declare.operands import UPSTREAM, Option
from attncalc.evaluate.values import Plan, evaluate, plan
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.separating import APART, Draw, repeated
from attncalc.homework.diagnosis.solutions import is_meant
from attncalc.homework.quiz.templates import ANYTHING, WHATEVER, Asks, Wanted, template, varies
from attncalc.homework.quiz.worksheets import DECIMALS
from attncalc.homework.reading.answers import ROUND_OFF, as_parts
from attncalc.homework.reading.asked import asked as asked_for
from attncalc.homework.reading.keys_file import LEVELS
from attncalc.homework.reading.sheets import EVERYTHING, Asked
from attncalc.language.axes import Axes
from attncalc.language.graph import Node, steps
from attncalc.record.trace import NOTHING
from attncalc.solve.problem import Problem
from attncalc.solve.solver import write

TEMPLATES = 6
"""How many templates are tried, if there are several, until one shows every mistake."""
FEWEST_DRAWS, MOST_DRAWS = 16, 200
BY_CHANCE = 3
"""If this many draws all give the template's numbers, there is nothing to draw."""
PATIENCE = 4
"""How many times longer to draw while mistakes are still hidden."""
WORK = 30_000
"""About how many nodes are evaluated in all, so that large problems are drawn less often."""
MOST_ENTRIES = 2_000
"""The most numbers that have to be filled in by hand."""

FEW = 0.01
"""Multiples of this come out with few decimals."""
LARGE = {"easy": 20, "medium": 50, "hard": 200}
"""The largest friendly number of each level."""
UNFRIENDLY = {"easy": 30, "medium": 10, "hard": 3}
"""The weight of unfriendly numbers, compared with mistakes that do not show in the result alone."""

DULL = 5
"""The weight of each row or column that is dull."""
SURE = 0.999
"""A row of shares with a larger one is nearly one-hot, so that the other shares can hardly be seen."""


NO_ANSWERS: Array = np.zeros(0)


class Quiz(NamedTuple):
    """A problem, and what the search for it has shown."""

    problem: Problem
    hidden: tuple[str, ...] = ()  # mistakes that do not show on it
    alike: tuple[tuple[str, str], ...] = ()  # mistakes that it does not tell apart
    cost: tuple[float, ...] = ()  # of what the search avoids, the worst first
    dull: int = 0  # how many of its rows and columns are alike, or hold nothing to work on
    sure: int = 0  # how many rows of shares are nearly one-hot
    pain: float = 0.0  # how unfriendly its answers are
    toil: float = 0.0  # the cost of unfriendly and dull numbers, whatever mistakes show
    largest: float = 0.0  # the largest number that is worked out
    answers: Array = NO_ANSWERS  # all of them, in a row
    operands: Mapping[str, Array] = NOTHING  # as its graph takes them

    @property
    def flawless(self) -> bool:
        """Whether every mistake shows, and none looks like another."""
        return not self.hidden and not self.alike


class Board(NamedTuple):
    """The steps of problems that differ only in their numbers: the right ones, and those by every known mistake."""

    order: Plan
    by_rule: Plan  # only the right steps, and everything on the way to them
    right: Mapping[StepKey, Node]
    wrong: tuple[tuple[str, Mapping[StepKey, Node]], ...]  # a mistake's id, and what it makes of the steps
    result: StepKey
    operands: Mapping[str, Array] | None  # None if the board fits other numbers as well
    asked: Asked  # which of their entries are asked for

    @property
    def of_whole_steps(self) -> Board:
        """The same board with all entries of its steps asked for."""
        return self._replace(asked=EVERYTHING)


def quiz(name: str, seed: int, wanted: Wanted = ANYTHING) -> Quiz:
    """A new problem of a calculation, or of its derivative ("grad attention"); the same seed and wishes give the same.

    It is chosen so that mistakes show in what is asked for.
    """
    best: Quiz | None = None
    for number in range(TEMPLATES if varies(name) else 1):
        found = _best(template(name, np.random.default_rng([seed, number]), wanted), seed, wanted)
        best = found if best is None or found.cost < best.cost else best
        if best.flawless:
            break
    assert best is not None, "there is a template"
    return best


def weighed(problem: Problem, asks: Asks = WHATEVER) -> Quiz:
    """A given problem, with the mistakes that do not show on it, or look like others."""
    return weigh(problem, board_of(Key(problem), asks), LEVELS[-1])


# Sizes


def resized(problem: Problem, sizes: Mapping[str, int]) -> tuple[Problem, Mapping[str, Axes], dict[str, int]]:
    """The problem with its options set to the sizes asked for; the axes of its operands; and all sizes to draw in."""
    name, given_by = problem.calculation.name, problem.calculation.sizes
    bound = write(problem).bound
    axes, known = bound.axes, bound.sizes
    options, chosen = dict(problem.options), dict(problem.calculation.exercise.sizes)
    for size, value in sizes.items():
        option = problem.calculation.option(given_by.get(size, size))
        counts = option is not None and _counts(option)
        if size not in known and not counts:
            numbers = [o.name for o in problem.calculation.options if _counts(o) and o.name in problem.options]
            there = list(dict.fromkeys([*known, *(name for name in numbers if type(problem.options[name]) is int)]))
            mend = near(size, there) or (f"it has {both(there)}" if there else "")
            raise OptionError(f"{name} has no size {quoted(size)}", hint=mend)
        if option is not None and counts:
            options[option.name] = value
        chosen |= {axis: value for axis in known if axis == size or given_by.get(axis) == size}
    return problem._replace(options=options), axes, _together(problem, chosen, axes)


def _counts(option: Option) -> bool:
    """Whether an option may be the number of something."""
    return int in option.types and not option.many


def _together(problem: Problem, sizes: dict[str, int], axes: Mapping[str, Axes]) -> dict[str, int]:
    """The sizes, with as many key heads as query heads if the number of key heads is not given."""
    parts = {part.name for own in axes.values() for axis in own for part in axis.parts}
    follows = "h" in sizes and "g" in parts - sizes.keys() and problem.options.get("kv_heads") is None
    return sizes | {"g": sizes["h"]} if follows else sizes


# The search


def _best(start: Problem, seed: int, wanted: Wanted) -> Quiz:
    """The best of many draws."""
    problem, axes, sizes = resized(start, wanted.sizes)
    level, asks = wanted.level, wanted.asks
    best: Quiz | None = None
    board: Board | None = None
    fault: AttncalcError | None = None
    draw, draws, moved, sure = 0, FEWEST_DRAWS, False, 0
    while draw < draws or (draw < PATIENCE * draws and best is not None and best.hidden):
        random = np.random.default_rng([seed, draw])
        draw += 1
        try:
            calm = draw > FEWEST_DRAWS < 2 * sure
            inputs = Draw(problem, axes, random, sizes, level, calm=calm).operands(wanted.inputs)
            drawn = problem._replace(inputs=inputs)
            if board is None or board.operands is not None:
                key = Key(drawn)
                if key.complex and draw < FEWEST_DRAWS:
                    continue  # complex steps are not asked for, and other numbers may give real ones
                board = board_of(key, asks)
                draws = min(MOST_DRAWS, max(FEWEST_DRAWS, WORK // len(board.order.order)))
            found = by_rule(drawn, board, level)
            sure += draw <= FEWEST_DRAWS and found.sure > 0
            moved = moved or not all(np.array_equal(x.value, problem.inputs[name].value) for name, x in inputs.items())
            if not moved and draw == BY_CHANCE:
                draws = 0  # there is nothing in it to draw
            if best is not None and best.cost <= (0, found.toil):
                continue
            found = beside_mistakes(found, board)
        except AttncalcError as error:
            fault = error
            if isinstance(error, ShapeError | OptionError) and best is None:
                break
            continue
        if best is None or found.cost < best.cost:
            best = found
    if best is None:
        raise fault or OptionError(f"no friendly problem of {problem.name} was found with these sizes")
    return weigh(best.problem, board_of(Key(best.problem), asks), level)


def board_of(key: Key, asks: Asks) -> Board:
    """The board of a problem: the steps that are asked for, by the rules, and by each mistake that changes them."""
    chosen = asked_for(*asks, key.names)
    every = [step for step in chosen.steps or key.steps if step not in chosen.shown]
    asked = [step for step in every if key.value(step) is not None and step not in key.complex]
    entries = [chosen.entries(step) for step in asked]
    values = key.values(key.nodes[step] for step in asked)
    count = sum(value.size if where is None else where.sum() for value, where in zip(values, entries, strict=True))
    if count > MOST_ENTRIES:
        mend = "smaller sizes: --size n=3"
        raise OptionError(f"there would be {count:,} numbers to fill in, and {MOST_ENTRIES:,} are the most", hint=mend)
    right = {step: key.nodes[step].sources[0] for step in asked}
    wrong = []
    told = {node.key for node in steps(*(key.nodes[step] for step in chosen.shown))}
    for mistake in key.known:
        if mistake.kind in ("alternative", "convention") or mistake.alias_of:
            continue
        if told and mistake.at and not any(is_meant(step, mistake.at) for step in key.nodes if step not in told):
            continue  # nobody makes it in a step that the worksheet shows
        found, usual = key.solutions.by(mistake), key.solutions.right.steps
        if found is not None and any(found.steps.get(step) != usual.get(step) for step in asked):  # else made later
            wrong.append((mistake.id, {step: found.steps[step].sources[0] for step in asked if step in found.steps}))
    nodes = [*right.values(), *(node for _, steps in wrong for node in steps.values())]
    order = plan(list(dict.fromkeys(nodes)), keep=lambda node: False)
    worked = [node.sources[0] for node in steps(*right.values())]
    rightly = plan(list(dict.fromkeys([*right.values(), *worked])), keep=lambda node: False)
    written, operands = write(key.problem), key.solutions.operands
    lasting = written.loop is None and operands.keys() == written.values.keys()
    return Board(order, rightly, right, tuple(wrong), key.result, None if lasting else operands, chosen)


def _entries(value: Array, step: StepKey, board: Board) -> Array:
    """The entries of a step that are asked for; all of them if a mistake has changed its shape."""
    where = board.asked.entries(step)
    return value if where is None or where.shape != value.shape else value[where]


def weigh(problem: Problem, board: Board, level: str) -> Quiz:
    """A problem with the mistakes that hide on it, and what it costs."""
    return beside_mistakes(by_rule(problem, board, level), board)


def by_rule(problem: Problem, board: Board, level: str) -> Quiz:
    """A problem with its answers, and how dull, unfriendly and large the numbers are, whatever mistakes show on it."""
    operands = write(problem).values if board.operands is None else board.operands
    found = evaluate(board.by_rule, operands, careful=False)
    for step, node in board.right.items():
        if found[node].dtype.kind not in "biuf":  # by a mistake there may be complex ones
            raise DomainError(f"{step[1]} holds no real numbers")
    answers = [_entries(np.asarray(found[node], np.float64), step, board) for step, node in board.right.items()]
    real = [found[node] for node in board.by_rule.roots if found[node].dtype.kind in "biuf"]
    worked = [np.asarray(value, dtype=np.float64) for value in real]
    shares = [rows for rows in map(_shares, worked) if len(rows)]
    sure = sum(map(_sure, shares))
    dull = _dullness(problem) + sum(map(_equal_shares, shares)) + sure
    pain = round(sum(_unfriendly(value, LARGE[level]) for value in answers) / len(answers), 6)
    toil = UNFRIENDLY[level] * pain + DULL * dull
    largest = max((float(np.abs(value[np.isfinite(value)]).max(initial=0)) for value in worked), default=0.0)
    row = np.concatenate([value.ravel() for value in answers])
    return Quiz(problem, dull=dull, sure=sure, pain=pain, toil=toil, largest=largest, answers=row, operands=operands)


def beside_mistakes(one: Quiz, board: Board) -> Quiz:
    """A problem that was looked at by the rules, with the mistakes that hide on it, and what it costs."""
    found = evaluate(board.order, one.operands, careful=False)  # hundreds of values, compared by few digits
    every = [board.right, *(steps for _, steps in board.wrong)]
    names = ["", *(name for name, _ in board.wrong)]
    differ = np.zeros((len(every), len(every)), dtype=bool)
    at_the_end = differ
    for step in board.right:
        made = {i: _entries(np.asarray(found[each[step]]), step, board) for i, each in enumerate(every) if step in each}
        values = {i: as_parts(value) for i, value in made.items()}
        seen = _differing(values, len(every))
        differ = differ | seen
        if step == board.result:
            at_the_end = seen
    shown = {name for i, name in enumerate(names) if differ[0, i]}
    hidden = dict.fromkeys(name for name in names[1:] if name not in shown)
    pairs = [(i, j) for i, j in combinations(range(1, len(names)), 2) if names[i] != names[j]]
    pairs = [(i, j) for i, j in pairs if differ[0, i] and differ[0, j]]
    alike = dict.fromkeys((names[i], names[j]) for i, j in pairs if not differ[i, j])
    quiet = int(np.sum(differ[0] & ~at_the_end[0]))
    mixed = sum(not at_the_end[i, j] for i, j in pairs)
    cost = 2 * len(hidden) + len(alike), round(3 * quiet + mixed + one.toil, 6)
    return one._replace(hidden=tuple(hidden), alike=tuple(alike), cost=cost)


def _dullness(problem: Problem) -> int:
    """How many rows and columns of the operands are constant or repeated, plus how many pairs of operands are alike."""
    named = {name: given.value for name, given in problem.inputs.items() if given.value.dtype.kind in "fi"}
    values = [value for name, value in named.items() if name != UPSTREAM.name]
    floats = [value for value in values if value.dtype.kind == "f" and value.ndim]
    constant = sum(int(np.sum(np.ptp(value, axis=-2) == 0)) for value in floats if value.ndim > 1 < value.shape[-2])
    constant += sum(int(np.ptp(value) == 0) for value in values if value.ndim == 1 < value.size)
    again = sum(repeated(value) for value in floats if value.ndim > 1)
    pairs = combinations([value for value in floats if value.size > 1], 2)
    return constant + again + sum(a.shape == b.shape and np.array_equal(np.abs(a), np.abs(b)) for a, b in pairs)


def _equal_shares(rows: Array) -> int:
    """How many rows of shares have two equal ones, which come from equal scores."""
    equal = (np.diff(rows) <= ROUND_OFF) & (rows[:, 1:] > ROUND_OFF)
    return int(np.sum(equal.any(axis=-1)))


def _sure(rows: Array) -> int:
    """How many rows of shares are nearly one-hot; rows with one share alone are masked, and do not count."""
    return int(np.sum((rows[:, -1] > SURE) & (rows[:, -2] > 0)))


def _shares(value: Array) -> Array:
    """The rows of a value that are shares, which sum to 1; each row is sorted."""
    if not value.ndim or value.shape[-1] < 2 or not np.isfinite(value).all() or (value < 0).any():
        return np.zeros((0, 2))
    rows = np.sort(value.reshape(-1, value.shape[-1]))
    return np.asarray(rows[np.abs(rows.sum(axis=-1) - 1) < ROUND_OFF])


def _differing(values: Mapping[int, Array], count: int) -> Array:
    """A table of `count` by `count`: whether two values of a step, by their numbers, visibly differ."""
    seen = np.zeros((count, count), dtype=bool)
    there = np.array([*values])
    groups = grouped(values, lambda i: values[i].shape)
    seen[np.ix_(there, there)] = len(groups) > 1  # so do shapes; values of one shape are compared below
    for group in groups.values():
        stacked = np.array([values[i].ravel() for i in group], dtype=np.float64)
        finite = np.isfinite(stacked)
        with np.errstate(invalid="ignore"):
            off = np.abs(stacked[:, None] - stacked) > APART
        if not finite.all():
            off |= finite[:, None] != finite
        seen[np.ix_(group, group)] = off.any(axis=-1)
    return seen


def _unfriendly(value: Array, large: float) -> float:
    """How unfriendly numbers are: 0 if all are small, come out with few decimals, and are not all the same."""
    finite = value[np.isfinite(value)]
    if not finite.size:
        return 1.0
    size = np.abs(finite)
    parts = finite / FEW
    odd = np.abs(parts - np.rint(parts)) > ROUND_OFF * np.maximum(1, np.abs(parts))
    tiny = (size > 0) & (size < 5 * 10.0**-DECIMALS)
    told = float(np.mean(odd + 3.0 * tiny + np.log10(np.maximum(1, size / large))))
    return told + float(finite.size > 1 and np.ptp(finite) == 0)
