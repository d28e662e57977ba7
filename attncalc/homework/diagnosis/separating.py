"""Operands are found that tell mistakes apart: small whole numbers, drawn until every solution differs."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import AttncalcError, OptionError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.declare.operands import UPSTREAM, Operand
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.solutions import Solutions
from attncalc.language.axes import Axes, Axis
from attncalc.record.numbers import HUGE_WHOLE, shortest
from attncalc.record.trace import NOTHING, Given
from attncalc.solve.problem import Problem
from attncalc.solve.solver import write

if TYPE_CHECKING:
    Random = np.random.Generator  # NumPy imports it on first use, which takes a while

# Operands are drawn anew: numbers of the same sort as those of a problem, in its sizes or in others.
#
# Classes stay classes, shares that sum to 1 still do, weights stay small, masks and formulas are kept; any other number
# becomes a small whole one, or a half at the level `hard`.


RANGE = {"easy": (-1, 2), "medium": (-3, 3), "hard": (-5, 5)}
"""The whole numbers that operands may have."""
WEIGHTS = {"easy": (0, 1), "medium": (-1, 1), "hard": (-1, 1)}
"""The same for matrices of weights, whose products are added up."""
CALM = {"easy": (-1, 1), "medium": RANGE["easy"], "hard": RANGE["medium"]}
"""Smaller ones for operands of scores, which make a softmax one-hot if they are far apart."""
REACHES = ("near", "level", "wide")
"""How large numbers drawn like others may be: as large as those, as the level says, or up to 9, or 3 for weights."""
SHARES = ("probabilities", "likelihood")
"""Operands between 0 and 1 that need not sum to 1."""
SUM_OFF = 1e-6
MOST_DECIMALS = 15
ENDLESS = 15
"""A number of this many figures is a fraction or a root; one that is drawn like it has two decimals."""
WIDE = 9


class Draw(NamedTuple):
    """A draw of new operands for a problem."""

    problem: Problem
    axes: Mapping[str, Axes]  # of its operands
    random: Random
    sizes: Mapping[str, int]  # of axes that are to be others
    level: str = "medium"
    like: Mapping[str, Array] = NOTHING  # what operands are drawn like: with as many signs, noughts and digits
    reach: str = REACHES[1]  # how large these may be
    calm: bool = False  # whether the others are smaller than the level says

    def operands(self, kept: Container[str] = ()) -> dict[str, Given]:
        """The operands with other numbers, but for those that are kept.

        An upstream gradient gets the shape of the result. Raises OptionError where an operand whose entries mean
        something would need another size, and whatever else keeps the result from being formed.
        """
        drawn = {
            name: given if name in kept else self.operand(name)
            for name, given in self.problem.inputs.items()
            if name != UPSTREAM.name or name in kept
        }
        if len(drawn) == len(self.problem.inputs):
            return drawn
        shape = write(self.problem._replace(inputs=drawn, backward=None)).result.shape
        return drawn | {UPSTREAM.name: Given(self.entries(UPSTREAM, np.ones(shape), shape))}

    def operand(self, name: str) -> Given:
        """An operand of the same sort, drawn anew, with the labels that it has."""
        given, own = self.problem.inputs[name], self.axes.get(name, ())
        value, operand = given.value, self.problem.calculation.operand(name)
        shape = tuple(self._size(axis) for axis in own) if len(own) == value.ndim else value.shape
        labels = {at: words[: shape[at]] for at, words in given.labels.items() if len(words) >= shape[at]}
        words = self._words(operand) if value.dtype.kind in "OU" else ()
        if words:
            return Given(np.array(self.random.choice(words, shape), dtype=object))
        if operand is None or value.dtype.kind in "OUb" or operand.kind in ("mask", "expression"):
            if shape != value.shape:
                raise OptionError(f"{name} keeps its size: its entries mean something")
            return Given(value, labels=labels)
        return Given(self.entries(operand, value, shape), labels=labels)

    def entries(self, operand: Operand, value: Array, shape: tuple[int, ...]) -> Array:
        """Numbers of the same sort as those of a value."""
        random, numbers = self.random, value.astype(np.float64)
        places = self._places(operand)
        if operand.kind in ("tokens", "integers") or (operand.kind == "data" and places and _whole(numbers)):
            return random.integers(0, max(places, 2), shape).astype(value.dtype)
        if operand.name in self.problem.calculation.exercise.truths:
            return random.integers(0, 2, shape).astype(np.float64)
        broken = bool((numbers % 1 != 0).any())
        is_share = broken and bool((numbers >= 0).all() and (numbers <= 1).all())
        if is_share and numbers.ndim and numbers.shape[-1] > 1 and (np.abs(numbers.sum(-1) - 1) < SUM_OFF).all():
            share = _halved if self.level == "easy" else _tenths
            return np.asarray([share(shape[-1], random) for _ in np.ndindex(shape[:-1])]).reshape(shape)
        is_share = is_share and operand.name in SHARES
        is_positive = broken and bool((numbers > 0).all() and (numbers > 1).any()) and operand.kind != "logits"
        is_weight = operand.symbol.startswith("W")
        least, most = (WEIGHTS if is_weight else CALM if self.calm else RANGE)[self.level]
        if operand.name in self.like:
            model = self.like[operand.name]
            if not (np.abs(model) < HUGE_WHOLE).all():
                fault = f"{operand.name} has a number of more than 15 digits, and none like it is drawn"
                raise OptionError(fault, hint="a problem that is worked by hand has smaller ones")
            most = max(most, WIDE // (3 if is_weight else 1)) if self.reach == REACHES[-1] else most
            most = 0 if is_share or is_positive or self.reach == REACHES[0] else most
            return _full(lambda: _like(model, most, random, near=self.reach == REACHES[0]), telling=True)
        if is_share:
            return np.asarray(random.integers(1, 10, shape) / 10)
        if is_positive:
            return np.asarray(random.integers(1, 5, shape) / 2)
        halves = 0.5 if self.level == "hard" and not is_weight else 0.0
        return _full(lambda: random.integers(least, most + 1, shape) + halves * random.integers(0, 2, shape))

    def _words(self, operand: Operand | None) -> tuple[str, ...]:
        """The words that tokens may be: the labels of the axis that they point into."""
        if operand is None or operand.kind != "tokens":
            return ()
        for name, own in self.axes.items():
            for at, axis in enumerate(own):
                if axis.name == operand.of and at in self.problem.inputs[name].labels:
                    return self.problem.inputs[name].labels[at]
        return ()

    def _places(self, operand: Operand) -> int:
        """How many classes, or tokens, there are to point at: the last axis of what is pointed into."""
        for name in ("table", "logits", "probabilities"):
            if name in self.axes and name != operand.name and self.problem.calculation.operand(name):
                return self._size(self.axes[name][-2 if name == "table" else -1])
        return 0

    def _size(self, axis: Axis) -> int:
        if axis.parts:
            return int(np.prod([self._size(part) for part in axis.parts]))
        return self.sizes.get(axis.name, int(axis.size))


def _full(draw: Callable[[], Array], *, telling: bool = False) -> Array:
    """The first of a few draws without a row or a column of zeros, and, if all are to be `telling`, without repeats."""

    def is_full(drawn: Array) -> bool:
        return bool(drawn.any(axis=-1).all() and drawn.any(axis=-2).all()) and not (telling and repeated(drawn))

    drawn = draw()
    for _ in range(DRAWS):
        if drawn.ndim < 2 or is_full(drawn):
            break
        drawn = draw()
    return drawn


def repeated(matrices: Array) -> int:
    """How many rows and columns of matrices repeat another one."""
    whole = matrices + 0  # −0 is 0
    both_ways = [way.reshape(-1, *way.shape[-2:]).tolist() for way in (whole, np.swapaxes(whole, -1, -2))]
    return sum(len(lines) - len(set(map(tuple, lines))) for way in both_ways for lines in way)


def _like(model: Array, most: int, random: Random, *, near: bool) -> Array:
    """Numbers with the signs, the noughts and the digits of others, in another order.

    Whole parts go up to `most`, or to the largest of the others; those of fractions do not grow if it is to be `near`.
    """
    mixed = random.permutation(model.ravel())
    whole, rest = np.divmod(np.abs(mixed), 1)
    halves = bool(whole.any()) and bool(np.isin(rest, (0, 0.5)).all())
    last_digit = random.integers(1, 10, mixed.shape)
    parts, unit = rest, np.ones(1, dtype=int)
    if not halves and rest.any():
        written = [Decimal(shortest(number)).as_tuple() for number in mixed.tolist()]
        places = [2 if len(each.digits) >= ENDLESS else -int(each.exponent) for each in written]
        unit = 10 ** np.clip(places, 1, MOST_DECIMALS)
        parts = np.where(rest, random.integers(0, unit // 10) * 10 + last_digit, 0)
    digits = np.floor(np.log10(np.maximum(whole, 1)))
    largest = max(int(whole.max()), most if whole.any() else 0)
    first = np.where(digits, 10**digits, (rest == 0) & (largest > 0))
    largest_each = np.where((rest > 0) & near, whole, largest)
    last = np.maximum(np.minimum(10 ** (digits + 1) - 1, largest_each), first)
    drawn = random.integers(first.astype(int), last.astype(int) + 1)
    found = np.sign(mixed) * (drawn * unit + parts) / unit  # 114 / 100 is 1.14, and 1 + 0.14 is not
    return np.asarray(found.reshape(model.shape))


def _whole(numbers: Array) -> bool:
    return bool((numbers % 1 == 0).all() and (numbers >= 0).all())


def _tenths(count: int, random: Random) -> Array:
    """Shares in tenths (or hundredths, where there are many) that sum to 1."""
    parts = 10 if count <= 5 else 100
    cuts = np.sort(random.choice(np.arange(1, parts), size=count - 1, replace=False))
    return np.asarray(np.diff([0, *cuts, parts]) / parts)


def _halved(count: int, random: Random) -> Array:
    """Shares that sum to 1 and are halves of halves, so that their logarithms to base 2 come out."""
    shares = [1.0]
    while len(shares) < count:
        part = shares.pop(int(random.integers(len(shares)))) / 2
        shares += [part, part]
    return np.asarray(random.permutation(shares))


APART = 5e-3
"""Two values differ visibly if an entry differs by more than this."""
DRAWS, FEW_DRAWS = 12, 2
"""How often other numbers are drawn; with other sizes less often, as these help at once or not at all."""


def separating(key: Key, step: StepKey, ties: Sequence[Sequence[Mistake]]) -> dict[str, Any] | None:
    """Operands with which no two of these explanations give the same step; None if none are found.

    They have the problem's sizes, or else sizes one larger.
    """
    for larger in _enlargements(key.axes):
        for seed in range(FEW_DRAWS if larger else DRAWS):
            try:
                inputs = Draw(key.problem, key.axes, np.random.default_rng(seed), larger).operands()
            except OptionError:
                break
            except AttncalcError:
                continue
            problem = key.problem._replace(inputs=inputs)
            if tells_apart(problem, step, ties):
                return {name: _plain(given.value) for name, given in problem.inputs.items()}
    return None


def _enlargements(axes: Mapping[str, Axes]) -> Iterator[dict[str, int]]:
    """New sizes: none, then each axis one larger by itself, then two axes of one size, which may have to be alike."""
    sizes = {axis.name: axis.size for found in axes.values() for axis in found if not axis.parts}
    yield {}
    yield from ({name: size + 1} for name, size in sizes.items())
    yield from ({a: sizes[a] + 1, b: sizes[b] + 1} for a, b in combinations(sizes, 2) if sizes[a] == sizes[b])


def tells_apart(problem: Problem, step: StepKey, ties: Sequence[Sequence[Mistake]]) -> bool:
    """Whether all these mistakes give a step values that differ from one another and from the right one."""
    try:
        solutions = Solutions(problem, write(problem))
    except AttncalcError:
        return False
    found = []
    for solution in (solutions.right, *(solutions.by(*mistakes) for mistakes in ties)):
        if solution is None or step not in solution.steps:
            return False
        found.append(solutions.values([solution.steps[step]])[solution.steps[step]])
    return all(_apart(a, b) for i, a in enumerate(found) for b in found[:i])


def _apart(a: Array, b: Array) -> bool:
    """Whether two values differ visibly."""
    if a.shape != b.shape:
        return True
    with np.errstate(invalid="ignore"):
        off = np.abs(a - b)
    return bool(np.any(off > APART) or np.any(np.isfinite(a) != np.isfinite(b)))


def _plain(value: Array) -> Any:
    if value.dtype.kind == "f" and (value % 1 == 0).all():
        return value.astype(int).tolist()
    return value.tolist()
