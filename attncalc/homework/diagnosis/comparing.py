"""An answer is compared with a value: right as it is written, or one unit off in its last digit.

The value is the reference, never the answer, and nothing broadcasts: both have one shape. An infinite entry is right
only where the value is the same infinity; for −∞, as in masked scores, a large negative number will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product

import numpy as np

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.mistake import StepKey
from attncalc.evaluate.values import evaluate, needed, plan
from attncalc.homework.diagnosis.solutions import Own
from attncalc.homework.reading.answers import (
    BY_HAND,
    LEAST_DECIMALS,
    LEAST_FIGURES,
    ROUND_OFF,
    Answer,
    Tolerance,
    as_floats,
)
from attncalc.language.graph import Node, walk, walk_to

AS_MINUS_INFINITY = -750.0
"""From here on down a number stands for −∞ in masked scores: its exponential is 0. Scores may be added to −10000."""
AS_SHOWN = 1e-6
"""How far, relative to it, a value may lie from a number of few digits that it is shown as: 0.099999998 as 0.1."""
ROUGHLY = 0.1
"""If a few entries are further off than this, relative to the largest, the others need not be compared."""
LEFT_OVER = 1e-12
"""What cancellation may leave of a 0, relative to the largest entry."""
BEYOND_NOISE = 16
"""A stored number that is off by more than this many times its noise may be a slip."""


def fits(answer: Answer, value: Array) -> Array:
    """Where the answer is right as it is written: within half a unit of its last digit.

    A 1 or a 0.4 has too few digits to be a rounded number: it is right where the value is just that, at least to as
    many decimals as the other entries have. Zeros throughout fit only 0, since they may stand for no answer. Many
    values may stand on a leading axis.
    """
    close = _within_digits(answer, value)
    if answer.tolerance is None and not answer.informative:
        close &= np.abs(value) <= noise(answer, value) + answer.nil
    return close | ~answer.answered  # what is left blank speaks for nothing, and against nothing


def is_right(answer: Answer, value: Array) -> bool:
    """Whether every entry is right as it is written; here 0.000 is right for any number below 0.0005."""
    zeros = not answer.informative and answer.value.size <= BY_HAND and bool(answer.enough.all())
    return bool(((_within_digits if zeros else fits)(answer, value) | ~answer.answered).all())


def stands_out(answer: Answer, value: Array, times: float = BEYOND_NOISE) -> bool:
    """Whether some entry is off by more than `times` the noise of its type; a smaller error may have no cause."""
    if answer.slack is None or answer.shape != value.shape:
        return True
    return bool((np.abs(answer.value - value) > times * answer.slack)[~fits(answer, value)].any())


def nearly(answer: Answer, value: Array) -> Array:
    """Where the answer is right, or is one unit off in its last digit and the value has more digits."""
    if answer.exact.all():
        return fits(answer, value)
    with np.errstate(invalid="ignore"):
        rounded = np.rint(value / answer.unit) * answer.unit
        has_more = np.abs(value - rounded) > noise(answer, value)
        may_be_off = answer.enough & ~answer.exact & ((answer.decimals >= LEAST_DECIMALS) | has_more)
        near = np.abs(answer.value - rounded) <= answer.unit * (1 + 1e-6) + noise(answer, value)
    return np.asarray(fits(answer, value) | (may_be_off & near & answer.informative))


def within_a_unit(answer: Answer, value: Array) -> Array:
    """Where the answer is right, or is off by one unit of its last digit at most, as after rounding on the way."""
    return np.asarray(fits(answer, value) | (is_near(answer, value) & answer.enough & ~answer.exact))


def is_near(answer: Answer, value: Array) -> Array:
    """Where the answer is no further than one unit of its last digit from a value."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(answer.value - value) <= answer.unit * (1 + 1e-6))


def may_fit(answer: Answer, value: Array) -> bool:
    """Whether an answer may fit a value, by a look at its first entries, so that not all need be compared."""
    if answer.value.size <= BY_HAND or answer.slack is not None or answer.tolerance is not None:
        return True
    given, due = answer.value.flat[:BY_HAND], value.flat[:BY_HAND]
    finite = np.isfinite(due)
    return np.allclose(given[finite], due[finite], rtol=0, atol=ROUGHLY * largest(due))


Close = Callable[[Answer, Array], Array]
"""`fits`, `nearly` or `within_a_unit`."""


def fitting(answer: Answer, values: Array, close: Close = fits) -> Array:
    """The indices of the values, along their leading axis, that an answer fits throughout."""
    return np.flatnonzero(close(answer, values).reshape(len(values), -1).all(axis=1))


def comes_out(value: Array, unit: Array | float) -> bool:
    """Whether every finite entry is a multiple of a unit, so that it has no further digits."""
    finite = (value / unit)[np.isfinite(value)]
    return bool(np.all(np.abs(finite - np.rint(finite)) <= 1e-9 * np.maximum(1, np.abs(finite))))


def says_nothing(value: Array, expected: Array) -> bool:
    """Whether a value is NaN somewhere, or 0 throughout where it should not be: nothing follows from it."""
    return bool(np.isnan(value).any() or (not np.any(value) and np.any(expected)))


def is_filled(value: Array, expected: Array) -> bool:
    """Whether one number fills a step that should vary; in a step of equal entries only a wrong 0 or ∞ counts."""
    value = value[~np.isnan(value)]
    one = value.flat[0] if value.size else np.nan
    if not value.size or value.size < min(expected.size, 2) or not (value == one).all() or (expected == one).all():
        return False
    return not np.isfinite(one) or one == 0 or not (expected == expected.flat[0]).all()


def is_lost(answer: Answer, value: Array) -> bool:
    """Whether an entry that should be finite is not."""
    if answer.shape != value.shape:
        return False
    return bool((~np.isfinite(answer.value) & answer.answered & np.isfinite(value)).any())


def is_as_lost(answer: Answer, value: Array) -> bool:
    """Whether an answer and a value are NaN at the same places, and the answer is right elsewhere."""
    lost = lost_alike(answer, value)
    return bool(lost.any() and (fits(answer, value) | lost).all())


def lost_alike(answer: Answer, value: Array) -> Array:
    """Where both the answer and a value are NaN; many values may stand on a leading axis."""
    return np.isnan(answer.value) & answer.answered & np.isnan(value)


def largest(value: Array) -> float:
    """The size of the largest finite entry, 0 where there is none."""
    return float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))


def largest_error(answer: Answer, value: Array) -> float:
    """The largest distance among the entries that are answered and finite."""
    with np.errstate(invalid="ignore"):
        return largest(answer.value - value)


def furthest(answer: Answer, value: Array) -> tuple[tuple[int, ...], float]:
    """The place of the entry that is furthest off, and how far that is; ∞ where only one of the two is finite."""
    with np.errstate(all="ignore"):
        off = np.asarray(answer.value - value)
        np.abs(off, out=off)
    np.nan_to_num(off, copy=False, nan=np.inf, posinf=np.inf)
    off[fits(answer, value) & np.isinf(off)] = 0.0  # masked in both
    place = tuple(map(int, np.unravel_index(int(off.argmax()), off.shape)))
    return place, float(off[place])


def times_allowed(answer: Answer, value: Array) -> float:
    """The error of the worst entry as a multiple of what is allowed; more than 1 is wrong."""
    right = fits(answer, value)
    if not (np.isfinite(answer.value) | right).all():
        return math.inf
    most = noise(answer, value) if answer.tolerance is None else _allowed(answer.tolerance, value)
    with np.errstate(all="ignore"):
        share = np.asarray(answer.value - value)  # no further array is made, as a dump may be large
        np.divide(np.abs(share, out=share), most, out=share)
    np.nan_to_num(share, copy=False, nan=0.0, posinf=math.inf)
    return float(max(share.max(where=~right, initial=0.0), min(share.max(where=right, initial=0.0), 1.0)))


def noise(answer: Answer, value: Array) -> Array:
    """How far an answer may lie from a value because numbers of its type are not exact."""
    if answer.slack is not None:
        return answer.slack
    finite = np.asarray(np.abs(value, dtype=np.float64))  # written over below, as an answer may be large
    finite[~np.isfinite(value)] = 0.0
    size = np.max(finite, axis=tuple(range(-answer.value.ndim, 0)), keepdims=True, initial=0.0)
    left_over = LEFT_OVER if answer.noise <= ROUND_OFF else answer.noise  # sums of narrower numbers leave more
    finite *= answer.noise
    finite += left_over * np.maximum(size, answer.terms)
    return finite


def _within_digits(answer: Answer, value: Array) -> Array:
    """Where the value is within half a unit of the last digit, or within a tolerance.

    A tolerance narrower than the written digits does not ask for more of them.
    """
    if answer.tolerance is not None:
        allowed, half = _allowed(answer.tolerance, value), 0.5 * answer.unit * (1 + 1e-9)
        return _within(answer, value, np.maximum(allowed, np.where(answer.enough & ~answer.exact, half, 0.0)))
    distance = noise(answer, value)
    if answer.value.size <= BY_HAND or not answer.exact.all():  # else no digit is a rounded one
        others = 0.5 * 10.0**-answer.used if answer.used >= LEAST_DECIMALS else 0.0
        shown = AS_SHOWN * np.abs(value) if answer.value.size <= BY_HAND else 0.0
        of_few_digits = np.maximum(shown, np.where(answer.exact, 0.0, others))
        half = np.where(answer.enough & ~answer.exact, 0.5 * answer.unit, of_few_digits)
        distance = half * (1 + 1e-9) + distance
    return _within(answer, value, distance)


def _allowed(tolerance: Tolerance, value: Array) -> Array:
    return np.asarray(tolerance.atol + tolerance.rtol * np.abs(value))


def _within(answer: Answer, value: Array, distance: Array | float) -> Array:
    """Where the answer is within a distance of the value; an infinity is near only to its like."""
    written = answer.value
    with np.errstate(invalid="ignore"):
        off = np.asarray(written - value)
        close = np.abs(off, out=off) <= distance
    masked = np.isneginf(value) & (written <= AS_MINUS_INFINITY)
    infinite = masked | (np.isposinf(value) & np.isposinf(written))
    return np.where(np.isfinite(value), close & np.isfinite(written), infinite)


# An explanation must fit better than chance, so it is estimated here how often an answer fits a value by chance.


BY_CHANCE, BY_CHANCE_OF_FEW = 0.01, 0.001
"""An explanation must fit by chance less often than this; the second is for answers with few decimals."""
OFTEN = 0.05
"""Where a share of all answers larger than this would fit as well, rounding on the way explains nothing."""
OUTLYING = 5
"""Entries larger than this many times the largest right one are outliers."""


class Odds(NamedTuple):
    """How likely a fit by chance is: how many values are tried, and the share of all answers that fit one of them."""

    tried: float
    share: float
    most: float  # a fit that is less likely than this by chance is convincing

    @property
    def convince(self) -> bool:
        """Whether the answer fits too well for chance."""
        return self.tried * self.share < self.most


def odds(
    answer: Answer,
    value: Array,
    right: Array,
    others: Sequence[Array] = (),
    *,
    tried: int = 0,
    slack: Array | float = 0.0,
    prior: float = 1.0,
) -> Odds:
    """How likely it is that an answer fits one of the tried values by chance.

    `others` are the values tried along with this one (those equal to the right value do not count); `tried` more were
    tried besides. Each entry where the value is wrong counts with the share of the usual range that its digits leave
    open, but the last entry of a row with a known sum does not count, nor does a row that repeats another. `slack`
    widens what is left open; `prior` is below 1 for a value that is likelier to be written than others.
    """
    width = np.where(answer.exact, 0.0, answer.unit) + slack
    if answer.tolerance is not None:
        width = np.maximum(width, 2 * np.where(np.isfinite(value), _allowed(answer.tolerance, value), 0.0))
    width = np.broadcast_to(np.maximum(width, 2 * noise(answer, value)), value.shape)
    left_open = np.where(answer.enough, width, 2 * noise(answer, value))
    telling = ~_alike(value, right, left_open) & answer.answered
    same_shape = [other for other in others if other.shape == value.shape]
    sums = _has_known_sums(right) and _same_sums(answer.value, right, left_open)
    if sums:
        same_shape = [other for other in same_shape if _same_sums(other, right, left_open)]
    shares = sums and np.all((right >= 0) & (right <= 1))
    share = np.minimum(1.0, width / ((1.0 if shares else _range([*same_shape, value], right)) or 1.0))
    rows: dict[bytes, float] = {}
    for known, row, wrong in zip(*(rows_of(part) for part in (telling, share, value)), strict=True):
        told = np.sort(row[known])[: max(int(known.sum()) - 1, 1)] if sums else row[known]
        if told.size:
            rows[wrong.round(9).tobytes()] = float(np.prod(told))
    could_be_hit = (o for o in same_shape if _could_be_written(answer, o) and not _alike(o, right, left_open).all())
    few = 0 < answer.used < LEAST_FIGURES and not comes_out(value, 10.0**-answer.used)
    count = tried + max(sum(1 for _ in could_be_hit), 1)
    return Odds(prior * count, float(np.prod([*rows.values()])), BY_CHANCE_OF_FEW if few else BY_CHANCE)


def chance(exact: Array, width: Array) -> float:
    """The share of all answers of that size that lie within a width of the exact one."""
    size = largest(exact) or 1.0
    return float(np.prod(np.minimum(1.0, np.where(np.isfinite(width), width, size) / size)))


def is_by_rule(answer: Answer, value: Array, right: Array) -> bool:
    """Whether few digits were written because a value has no more, where the right one has: 14 in place of √14."""
    unit = 10.0**-answer.used
    if answer.used >= LEAST_FIGURES or not comes_out(value, unit) or comes_out(right, unit):
        return False
    return not _alike(value, right, np.asarray(unit)).all()


def _alike(value: Array, right: Array, width: Array) -> Array:
    """Where a value equals the right one, to within a width."""
    if value.shape != right.shape:
        return np.zeros(value.shape, dtype=bool)
    with np.errstate(invalid="ignore"):
        close = np.abs(value - right) <= width
    return np.asarray(close | (value == right) | (np.isnan(value) & np.isnan(right)))


def rows_of(value: Array) -> Array:
    """The rows of a value in one table; a number is a row of one."""
    return value.reshape(-1, value.shape[-1]) if value.ndim else value.reshape(1, 1)


def _has_known_sums(right: Array) -> bool:
    """Whether all rows sum to 1, as shares do, or all to 0, as differences of shares do."""
    if not right.ndim or right.shape[-1] < 2 or not np.isfinite(right).all():
        return False
    sums, size = right.sum(axis=-1), np.abs(right).sum(axis=-1)
    return any(bool(np.all(np.abs(sums - known) <= LEFT_OVER * 1e3 * size)) for known in (0, 1))


def _same_sums(a: Array, b: Array, width: Array) -> bool:
    """Whether the rows of two values have the same sums."""
    if not a.ndim or a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.abs(a.sum(axis=-1) - b.sum(axis=-1)) <= width.sum(axis=-1)))


def _could_be_written(answer: Answer, value: Array) -> bool:
    """Whether a value comes out evenly where the answer has too few digits to fit any other."""
    few = ~answer.enough
    if not few.any() or answer.used >= LEAST_DECIMALS:
        return True
    return bool(np.isfinite(value[few]).all()) and comes_out(value[few], answer.unit[few])


def _range(values: Sequence[Array], right: Array) -> float:
    """The widest spread of an entry over the right value and those tried; outliers are cut, except in the last one.

    Zeros stand for the right value if that has another shape.
    """
    most = OUTLYING * largest(right)
    alike = [right if right.shape == values[-1].shape else np.zeros(values[-1].shape), *values]
    finite = np.array([np.where(np.isfinite(value), value, 0.0) for value in alike])
    if most:
        finite[:-1] = np.clip(finite[:-1], -most, most)
    return float(np.max(np.ptp(finite, axis=0), initial=0.0))


# Rounding on the way: what a step becomes if somebody rounds the numbers in between, in every usual manner.
#
# A step is spelled out into the operations that one writes down: exponentials, products, sums, roots. Each of these is
# a place where numbers may be rounded; a manner of rounding says where, how and to how many digits. All manners run in
# one evaluation, along a leading axis.


MODES = ("half-up", "half-even", "truncate")
MOST_PLACES = 24
"""With more places than this, no single one is rounded, or spared, by itself."""
THROUGHOUT = 4
"""How many of the first scopes round everywhere, or at every step."""

Digits = tuple[tuple[int, int], ...]
"""Pairs of decimals and significant figures that somebody may have rounded to; figures count where they are not 0."""

_INSIDE = "~"
"""The group of what is written down inside a step."""


class Manners(NamedTuple):
    """Many manners of rounding: for each, how, to how many digits, and at which places."""

    digits: Array  # [manner, 3]: the mode, the decimals, and the figures, 0 where decimals are meant
    where: Array  # [manner, place]
    spared: Sequence[str]  # for each manner, the one earlier step that it does not round; "" if there is none
    throughout: Array  # the manners that round to decimals at every step, so that a result may be one unit off

    def at(self, place: int, value: Array) -> Array:
        """The value as each manner rounds it at that place; the manners are its leading axis."""
        if value.dtype.kind != "f" or not self.where[:, place].any():
            return value
        shape = (-1, *(1,) * (value.ndim - 1))
        mode, decimals, figures = (column.reshape(shape) for column in self.digits.T)
        with np.errstate(all="ignore"):
            if figures.any():
                size = np.where(value == 0, 1, np.abs(value))
                fine = figures - 1 - np.floor(np.log10(np.where(np.isfinite(size), size, 1)))
                decimals = np.where(figures > 0, fine, decimals)
            scale = 10.0**decimals
            rounded = _rounded(value * scale, mode) / scale
        chosen = self.where[:, place].reshape(shape) & np.isfinite(value)
        return np.where(chosen, rounded, value)


def _rounded(x: Array, mode: Array) -> Array:
    size = np.abs(x)
    up, even, cut = np.floor(size + 0.5 + 1e-9), np.rint(size), np.floor(size + 1e-9)
    return np.copysign(np.where(mode == 0, up, np.where(mode == 1, even, cut)), x)


class Rounded(NamedTuple):
    """What a step becomes by rounding: a value for each manner."""

    values: Array  # [manner, …]
    manners: Manners

    def culprit(self, manner: int, exact: Array, half: Array) -> str:
        """The step to blame: a manner that spares it alone gives the exact value; "" if no single step is to blame."""
        digits, spared = self.manners.digits, self.manners.spared
        alike = [i for i in np.flatnonzero((digits == digits[manner]).all(axis=1)).tolist() if spared[i]]
        found = {spared[i] for i in alike if (np.abs(self.values[i] - exact) <= half * (1 + 1e-9)).all()}
        return found.pop() if len(found) == 1 else ""


class Spelled:
    """A step, spelled out to the places where a hand may round."""

    def __init__(self, node: Node, known: dict[Node, Node]) -> None:
        self.root = _spelled_out(node, known)
        self.places = [node for node in walk(self.root) if node.op == "step"]

    @cached_property
    def inside(self) -> Array:
        """Which places lie inside a step, and are no steps themselves."""
        return np.array([place.args["group"] == _INSIDE for place in self.places], dtype=bool)

    def rounded(self, operands: Mapping[str, Array], kept: Digits, own: Own | None = None) -> Rounded:
        """The step's value in every manner of rounding to so many digits."""
        manners = self._manners(kept, own or {})
        count = len(manners.where)
        order = plan([self.root], given=(own or {}).keys(), keep=lambda node: False)
        there = {node: i for i, node in enumerate(self.places)}
        turns = iter([there[node] for node in order.order if node.op == "step"])

        def after_step(value: Array) -> Array:  # evaluate asks for each step in the order of its plan
            place = next(turns)
            node = self.places[place]
            front = value if value.ndim > len(node.axes) else np.broadcast_to(value, (count, *value.shape))
            return manners.at(place, front)

        value = evaluate(order, operands, given=own, after_step=after_step)[self.root]
        if value.ndim == len(self.root.axes):
            value = np.broadcast_to(value, (count, *value.shape))
        return Rounded(as_floats(value), manners)

    def _manners(self, kept: Digits, own: Own) -> Manners:
        """Every usual manner of rounding to so many digits."""
        scopes = list(self._scopes(own))
        every = [
            ((mode, *digits), *scope, number < THROUGHOUT and not digits[1])
            for digits in kept
            for mode in range(len(MODES))
            for number, scope in enumerate(scopes[:THROUGHOUT] if digits[1] else scopes)
        ]
        digits, where, spared, throughout = zip(*every, strict=True)
        return Manners(np.array(digits), np.array(where), spared, np.flatnonzero(throughout))

    def _scopes(self, own: Own) -> Iterator[tuple[Array, str]]:
        """The places that one may round at, with the step left out: all, steps alone, all but one, a single one."""
        free = np.array([place.key not in own for place in self.places], dtype=bool)
        steps = free & ~self.inside
        last = np.array([place is self.root for place in self.places], dtype=bool)
        yield free, ""
        yield free & ~last, ""
        yield steps, ""
        yield steps & ~last, ""
        each = free if free.sum() <= MOST_PLACES else steps
        if each.sum() <= MOST_PLACES:
            for place in np.flatnonzero(each):
                one = np.arange(len(self.places)) == place
                name = "" if self.inside[place] or last[place] else self.places[place].args["name"]
                yield free & ~one, name
                if not self.inside[place]:
                    yield steps & ~one, name
                yield one, ""


TAKEN = (4, 3, 2, 1)
"""The decimals that a constant may have been taken to."""


class Taken(NamedTuple):
    """What a step becomes if one of its constants is taken to few decimals, or all are to equally many."""

    said: str  # √3 taken as 1.7
    decimals: int
    root: Node


def taken(root: Node, own: Collection[StepKey] = ()) -> Iterator[Taken]:
    """What a spelled-out step becomes if one of its constants, or all of them, are taken to few decimals.

    Constants behind own steps stay as they are.
    """
    found: dict[str, tuple[float, dict[Node, _Instead]]] = {}
    for node in needed(root, given=own):
        for name, value, instead in node.row.constants(node):
            found.setdefault(name, (value, {}))[1][node] = instead
    for name, (value, _) in found.items():
        near = [round(value, decimals) for decimals in TAKEN]
        cut = [math.floor(value * 10**decimals) / 10**decimals for decimals in TAKEN]
        for number in sorted({*near, *cut} - {0, value}, key=lambda number: abs(number - value)):
            yield _taken(root, {name: number}, found)
    apart: dict[frozenset[Node], list[str]] = {}  # √3 and 1/√3 may be the same constant: only one is taken
    for name, (_, places) in found.items():
        apart.setdefault(frozenset(places), []).append(name)
    for names, decimals in product(product(*apart.values()), TAKEN) if len(apart) > 1 else ():
        numbers = {name: round(found[name][0], decimals) for name in names}
        if all(numbers.values()):
            yield _taken(root, numbers, found)


_Instead = Callable[..., Node]
"""Makes a primitive's node from its sources, with a number in place of its constant."""


def _taken(
    root: Node, numbers: Mapping[str, float], found: Mapping[str, tuple[float, Mapping[Node, _Instead]]]
) -> Taken:
    """What a step becomes with these numbers in place of the constants of their names."""
    places = {node: (instead, x) for name, x in numbers.items() for node, instead in found[name][1].items()}
    new: dict[Node, Node] = {}
    for node in walk(root):
        sources = [new[source] for source in node.sources]
        instead, number = places.get(node, (None, 0.0))
        new[node] = instead(number, *sources) if instead else node.over(sources)
    [first, *others] = (f"{name} as {number:g}" for name, number in numbers.items())
    said = " and ".join([first.replace(" as ", " taken as "), *others])
    return Taken(said, max(len(f"{number:g}".partition(".")[2]) for number in numbers.values()), new[root])


def _spelled_out(root: Node, new: dict[Node, Node]) -> Node:
    """The graph behind a step, with a place for rounding after every number that one writes down.

    `new` holds the nodes that were spelled out before, since the steps of a calculation share most of theirs.
    """

    def written_down(node: Node) -> Node:
        if node.row.flops == 0 or node.row.no_gradient:  # its numbers are written down elsewhere
            return node
        return Node("step", node, name="", group=_INSIDE, why="", symbol="", shown=False, of=None)

    def opened(node: Node) -> Node:
        """A primitive by its definition, as far down as it has one."""
        definition = node.row.body or node.row.by_hand
        body = definition(node, *node.sources) if definition else None
        if body is None or body is node:
            return written_down(node)
        known: dict[Node, Node] = {source: source for source in walk(*node.sources)}
        for part in walk(body):
            if part not in known:
                copy = part.over([known[source] for source in part.sources])
                known[part] = opened(copy) if part.op != "step" else copy
        return known[body]

    for node in walk_to(new.__contains__, root):
        if node in new:
            continue
        sources = [new[source] for source in node.sources]
        if node.op == "step" and sources[0].op == "step" and sources[0].args["group"] == _INSIDE:
            sources = [*sources[0].sources]  # the step itself is the place where that is written down
        copy = node.over(sources)
        new[node] = copy if node.op == "step" else opened(copy)
    return new[root]
