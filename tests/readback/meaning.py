"""What a tree comes to, with tensors whose axes have names: written anew in plain NumPy, so that it can be a witness.

Where a page could be read in several orders (a chain of products, how far a Σ reaches), every order is tried, and they
must agree. What a page does not say (the stride of windows, the maximum distance of buckets) is told by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import pairwise, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from readback.text import Misread, Tree

Array = NDArray[Any]


class Tensor(NamedTuple):
    """Numbers along named axes; a name may come twice, as `n` does in Q·Qᵀ."""

    axes: tuple[str, ...]
    numbers: Array


class Facts(NamedTuple):
    """What stands beside a formula: sizes of axes, the shape that is due, and what formulas do not say."""

    sizes: Mapping[str, int] = {}
    shape: tuple[int, ...] | None = None
    axes: tuple[str, ...] | None = None
    slides: Sequence[Sequence[int]] = ()  # of windows, an axis each: width, stride, padding, dilation
    buckets: tuple[int, int, bool] | None = None
    classes: tuple[str, int] = ("C", 0)  # the axis of a row that is 1 in one place
    into: Mapping[str, int] = {}  # the axis that rows are added up by
    cut: bool = False  # the same index runs over blocks of several sizes
    lists: int = 0  # which of the ways to lay a list's parts is tried


class Order(NamedTuple):
    """One way to read what school leaves open."""

    products: str  # left, right, dots (· before ⊙), entries (⊙ and ⊗ before ·)
    sums: str  # power: Σ reaches over the next factor; product: over all that follow


ORDERS = [Order(products, "power") for products in ("left", "right", "dots", "entries")]
GAP = Tensor((), np.array(np.nan))


class TooLong(Exception):
    """Part of the formula was left out: `…`."""


def worth(tree: Tree, names: Mapping[str, Tensor], facts: Facts = Facts()) -> list[Tensor]:  # noqa: B008  (it is frozen)
    """The values that a formula can be read to have, by the orders in which one may go."""
    several = any(node[0] == "product" and len(node) > 4 for node in every(tree))
    found = [_Worker(names, facts, ORDERS[0]).of(tree)]
    for order in ORDERS[1:] if several else ():
        try:
            found.append(_Worker(names, facts, order).of(tree))
        except Misread:
            found.append(GAP)  # who reads it in this order cannot form it
    return found


def reading(tree: Tree, names: Mapping[str, Tensor]) -> Tensor:
    """The value of a formula over single numbers, which all orders agree on."""
    return _Worker(names, Facts(), ORDERS[0]).of(tree)


def every(tree: Any) -> Iterator[Tree]:
    """The tree and all that is in it."""
    if isinstance(tree, tuple):
        if tree and isinstance(tree[0], str):
            yield tree
        for part in tree:
            yield from every(part)


def single(number: Any) -> Tensor:
    return Tensor((), np.asarray(float(number)))


_NUMBERS = {"π": math.pi, "e": math.e, "∞": math.inf, "i": 1j}


def _sigmoid(x: Array) -> Array:
    return (1 + np.tanh(x / 2)) / 2


_ENTRYWISE: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "ln": np.log,
    "log₂": np.log2,
    "log₁₀": np.log10,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arccos": np.arccos,
    "erf": np.vectorize(math.erf, otypes=[float]),
    "σ": _sigmoid,
    "sigma": _sigmoid,
    "sign": np.sign,
    "abs": np.abs,
    "floor": np.floor,
    "round": np.rint,
}


def _difference(a: Array, b: Array) -> Array:
    """a − b; what is masked stays masked, where the largest of its row is masked too."""
    return np.where((a == -np.inf) & (b == -np.inf), -np.inf, a - b)


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def _logsumexp(x: Array) -> Array:
    top = x.max(-1)
    return np.asarray(top + np.log(np.exp(x - top[..., None]).sum(-1)))


def _first_largest(x: Array) -> Array:
    return np.asarray(np.arange(x.shape[-1]) == x.argmax(-1)[..., None], dtype=float)


_KEEPS: dict[str, Callable[[Array], Array]] = {"softmax": _softmax, "largest": _first_largest}
_DROPS: dict[str, Callable[[Array], Array]] = {
    "Σ": lambda x: x.sum(-1),
    "mean": lambda x: x.sum(-1) / x.shape[-1],
    "max": lambda x: x.max(-1),
    "min": lambda x: x.min(-1),
    "logsumexp": _logsumexp,
}


_HANDLED = {
    "+": "add",
    "−": "sub",
    "/": "div",
    "√": "root",
    "^": "power",
    "ᵀ": "transpose",
    "⁻¹": "inverse",
    "!": "factorial",
    "≤": "at_most",
    "<": "less",
    "=": "equal",
    "and": "both",
    "not": "negation",
    "copied along": "spread",
    "side by side": "merge",
    "summed by": "collect",
    "slice": "part",
    "take": "taken",
    "top": "largest",
}
"""A tree's kind → the method that works it out, where it is not called the same."""


class _Worker:
    def __init__(self, names: Mapping[str, Tensor], facts: Facts, order: Order) -> None:
        self.names, self.facts, self.order = names, facts, order
        self.places = 0  # how many places the i and j of a matrix of slopes run over

    def of(self, tree: Tree, top: bool = True) -> Tensor:
        kind, *parts = tree
        if kind == "name":
            if parts[0] not in self.names:
                raise Misread(f"what is {parts[0]}?")
            return self.names[parts[0]]
        if kind == "number":
            return single(_NUMBERS[parts[0]] if parts[0] in _NUMBERS else parts[0])
        if kind == "…":
            raise TooLong
        if kind == "list":
            return self.listed(list(parts), top)
        if kind == "call":
            return self.call(*parts)
        if kind == "product":
            return self.product(parts)
        if kind == "halves":
            return GAP
        if kind == "δ":
            return Tensor(("_i", "_j"), np.eye(self.places))
        handled: Callable[..., Tensor] = getattr(self, _HANDLED.get(kind, kind.replace(" ", "_")))
        return handled(*(self.of(part, False) if isinstance(part, tuple) else part for part in parts))

    # entry by entry

    def together(self, work: Callable[..., Array], *several: Tensor) -> Tensor:
        if any("_i" in t.axes or "_j" in t.axes for t in several):
            return _over_slopes(work, *several)
        if self.facts.cut:
            several = _cut(several)
        widest = max(several, key=lambda t: len(t.axes))
        laid = [_aligned(t, widest) for t in several]
        with np.errstate(all="ignore"):
            numbers = work(*laid)
        if numbers.shape != widest.numbers.shape:
            raise Misread(f"{[t.axes for t in several]} do not go together")
        return Tensor(widest.axes, numbers)

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(np.add, a, b)

    def sub(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(_difference, a, b)

    def div(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(np.divide, a, b)

    def power(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(np.power, a, b)

    def neg(self, a: Tensor) -> Tensor:
        return Tensor(a.axes, 0 - a.numbers)

    def root(self, a: Tensor) -> Tensor:
        return Tensor(a.axes, np.sqrt(a.numbers))

    def factorial(self, a: Tensor) -> Tensor:
        return Tensor(a.axes, np.vectorize(lambda x: float(math.factorial(round(x))))(a.numbers))

    def at_most(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(np.less_equal, a, b)

    def less(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(np.less, a, b)

    def equal(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(np.equal, a, b)

    def both(self, a: Tensor, b: Tensor) -> Tensor:
        return self.together(np.logical_and, a, b)

    def negation(self, a: Tensor) -> Tensor:
        return Tensor(a.axes, np.logical_not(a.numbers))

    def where(self, condition: Tensor, value: Tensor, otherwise: Tensor) -> Tensor:
        return self.together(lambda c, a, b: np.asarray(np.where(c.astype(bool), a, b)), condition, value, otherwise)

    # products

    def product(self, parts: Sequence[Any]) -> Tensor:
        factors = [self.of(part, False) for part in parts[::2]]
        return self.chain(factors, list(parts[1::2]))

    def chain(self, factors: list[Tensor], signs: list[str]) -> Tensor:
        if not signs:
            return factors[0]
        if self.order.products == "right":
            at = len(signs) - 1
        elif self.order.products == "left":
            at = 0
        else:
            first = "·" if self.order.products == "dots" else "⊙⊗"
            at = next((i for i, sign in enumerate(signs) if sign in first), 0)
        joined = self.times(factors[at], signs[at], factors[at + 1])
        return self.chain([*factors[:at], joined, *factors[at + 2 :]], [*signs[:at], *signs[at + 1 :]])

    def times(self, a: Tensor, sign: str, b: Tensor) -> Tensor:
        if sign == "⊗":
            return _outer(a, b)
        if sign in "⊙×" or not a.axes or "_i" in (*a.axes, *b.axes) or not b.axes:
            return self.together(np.multiply, a, b)
        return _matmul(a, b)

    def transpose(self, a: Tensor) -> Tensor:
        if len(a.axes) < 2:
            raise Misread("only a matrix is transposed")
        return Tensor((*a.axes[:-2], a.axes[-1], a.axes[-2]), np.swapaxes(a.numbers, -1, -2))

    def inverse(self, a: Tensor) -> Tensor:
        if not a.axes:
            return Tensor((), 1 / a.numbers)
        return Tensor((*a.axes[:-2], a.axes[-1], a.axes[-2]), np.linalg.inv(a.numbers))

    def inverse_of_a_matrix(self, a: Tensor) -> Tensor:
        """The inverse of what is square; of anything else, one over every entry."""
        square = a.numbers.ndim > 1 and a.numbers.shape[-1] == a.numbers.shape[-2]
        return self.inverse(a) if square else Tensor(a.axes, 1 / a.numbers)

    # along an axis

    def call(self, function: str, axis: str | None, *arguments: Tree) -> Tensor:
        values = [self.of(argument, False) for argument in arguments]
        if function in _ENTRYWISE and len(values) == 1 and axis is None:
            with np.errstate(all="ignore"):
                return Tensor(values[0].axes, np.asarray(_ENTRYWISE[function](values[0].numbers)))
        if function in ("max", "min") and len(values) > 1:
            choose = np.maximum if function == "max" else np.minimum
            return self.together(lambda *laid: np.asarray(reduce(choose, laid)), *values)
        if function == "argmax":  # of a line of arithmetic: which of its numbers is the largest, from 0
            return single(np.argmax([value.numbers for value in values]))
        if function in ("max", "min") and not values[0].axes:  # of a block of one
            return values[0]
        if function in _DROPS:
            [x] = values
            at = self.axis(x, axis)
            with np.errstate(all="ignore"):
                return Tensor(_without(x.axes, at), np.asarray(_DROPS[function](np.moveaxis(x.numbers, at, -1))))
        if function in _KEEPS:
            [x] = values
            at = self.axis(x, axis)
            return Tensor(x.axes, np.moveaxis(_KEEPS[function](np.moveaxis(x.numbers, at, -1)), -1, at))
        known: dict[str, Callable[..., Tensor]] = {
            "onehot": self.onehot,
            "rotate": self.rotate,
            "windows": self.windows,
            "bucket": self.bucket,
            "paired": self.pairs,
            "commonest": self.commonest,
            "join": self.join,
            "leftmost": partial(self.join, leftmost=True),
            "det": self.polynomial,
            "eigenvalues": self.eigenvalues,
            "eigenvectors": self.eigenvectors,
            "singular values": lambda x: Tensor(("k",), np.linalg.svd(x.numbers)[1]),
            "left singular vectors": lambda x: self.singular(x, 0),
            "right singular vectors": lambda x: self.singular(x, 2),
        }
        if function not in known or axis is not None:
            raise Misread(f"what is {function}?")
        return known[function](*values)

    def axis(self, x: Tensor, name: str | None) -> int:
        if not x.axes:
            raise Misread("a single number has no axis")
        if name is None:
            return len(x.axes) - 1
        if name in x.axes:
            return len(x.axes) - 1 - x.axes[::-1].index(name)
        sizes = [i for i, size in enumerate(x.numbers.shape) if size == self.facts.sizes.get(name)]
        if not sizes and len(x.axes) < 2:
            raise Misread(f"there is no axis {name} in {x.axes}")
        return sizes[0] if sizes else len(x.axes) - 2

    def spread(self, x: Tensor, *axes: str) -> Tensor:
        numbers = x.numbers
        for name in reversed(axes):
            numbers = np.repeat(numbers[None], self.facts.sizes[name], axis=0)
        return Tensor((*axes, *x.axes), numbers)

    def for_places(self, x: Tensor, axis: str, count: int) -> Tensor:
        return Tensor((f"{axis}:", *x.axes), np.repeat(x.numbers[None], count, axis=0))

    # parts, and parts side by side

    def listed(self, parts: list[Tree], top: bool) -> Tensor:
        if any(part == ("…",) for part in parts):
            raise TooLong
        values = [self.of(part, False) for part in parts]
        due = self.facts.shape if top else None
        values = [_in_order(value, values[0].axes) for value in _filled(values)]
        fitting = []
        ranks = {len(value.axes) for value in values}
        if len(ranks) != 1:
            raise Misread("a list of what has not the same axes")
        rank = ranks.pop()
        if len({value.numbers.shape for value in values}) == 1:
            fitting += [("stack", at) for at in (rank, *range(rank))]
        for at in range(rank - 1, -1, -1):
            rests = {_without(value.numbers.shape, at) for value in values}
            if len(rests) == 1 and (due is None or len({value.axes for value in values}) == 1):
                fitting.append(("join", at))
        laid = []
        for how, at in sorted(fitting, key=lambda f: f[0] == "stack" and rank > 0):
            if how == "stack":
                numbers = np.stack([v.numbers for v in values], at)
                axes = (*values[0].axes[:at], "?", *values[0].axes[at:])
            else:
                numbers, axes = np.concatenate([v.numbers for v in values], at), values[0].axes
            if due is None or numbers.shape == due or {*axes} == {*(self.facts.axes or ())}:
                laid.append(Tensor(axes, numbers))
        if laid:
            return laid[self.facts.lists // 2 % len(laid)]
        raise Misread("what is side by side does not fit")

    def part(self, x: Tensor, axis: str, start: int, stop: int | None, step: int) -> Tensor:
        at = self.axis(x, axis)
        found = np.moveaxis(np.moveaxis(x.numbers, at, 0)[start:stop:step], 0, at)
        return Tensor(x.axes, found)

    def taken(self, x: Tensor, axis: str, place: int) -> Tensor:
        """`x[n=1]`: a row of x; whether the axis stays, as one of a single place, is not told apart in print."""
        at = self.axis(x, axis)
        if self.facts.lists % 2:
            return Tensor(x.axes, np.take(x.numbers, [place], axis=at))
        return Tensor(_without(x.axes, at), np.take(x.numbers, place, axis=at))

    def look_up(self, x: Tensor, places: Tensor) -> Tensor:
        """`x[tokens]`: rows of a table; where the places have all axes of x but one, an entry of each row."""
        numbers = places.numbers.astype(int)
        if np.any(numbers != places.numbers) or np.any(numbers < -100):
            raise Misread("places are whole numbers")
        rest = list(x.axes)
        for name in places.axes:
            if name in rest:
                rest.remove(name)
        due = self.facts.axes
        if len(rest) == 1 and len(x.axes) == len(places.axes) + 1:
            at = x.axes.index(rest[0])
            laid = _aligned(places, Tensor(_without(x.axes, at), np.empty(_without(x.numbers.shape, at)))).astype(int)
            safe = np.clip(laid, 0, x.numbers.shape[at] - 1)
            found = np.take_along_axis(x.numbers, np.expand_dims(safe, at), at).squeeze(at)
            return Tensor(_without(x.axes, at), np.where(laid == safe, found, 0))
        if len(x.axes) == 1:
            safe = np.clip(numbers, 0, len(x.numbers) - 1)
            return Tensor(places.axes, np.where(safe == numbers, x.numbers[safe], 0))
        shared = [name for name in places.axes if name in x.axes]
        del due
        if not shared:
            return Tensor((*places.axes, *x.axes[1:]), x.numbers[numbers])
        return self.shared_lookup(x, places, numbers)

    def diagonal(self, x: Tensor, places: Tensor) -> Tensor:
        """`x[i, i]`, where i counts one of the two axes."""
        if len(x.axes) != 2 or len(places.axes) != 1 or places.axes[0] not in x.axes:
            raise Misread("i does not count an axis of a matrix")
        at = places.numbers.astype(int)
        return Tensor(places.axes, x.numbers[at, at])

    def columns(self, x: Tensor, places: Tensor) -> Tensor:
        """`x[:, tokens]`: the columns of those numbers; the places along axes that x has too are its own."""
        numbers = np.moveaxis(x.numbers, -1, 0)
        turned = self.look_up(Tensor((x.axes[-1], *x.axes[:-1]), numbers), places)
        own = [i for i, name in enumerate(turned.axes) if name not in places.axes]
        order = [*own, *(i for i in range(len(turned.axes)) if i not in own)]
        return Tensor(tuple(turned.axes[i] for i in order), np.transpose(turned.numbers, order))

    def shared_lookup(self, x: Tensor, places: Tensor, numbers: Array) -> Tensor:
        """A table for each place along the axes that table and places share: the rows are the axis before the last."""
        front = x.axes[:-2]
        out = tuple(places.axes)
        result = np.empty((*places.numbers.shape, x.numbers.shape[-1]))
        for at in np.ndindex(places.numbers.shape):
            lead = tuple(at[places.axes.index(name)] for name in front)
            result[at] = x.numbers[lead][numbers[at]]
        return Tensor((*out, x.axes[-1]), result)

    def collect(self, x: Tensor, places: Tensor) -> Tensor:
        """The rows of x added up by the number that stands beside each."""
        assert self.facts.axes is not None
        own = [name for name in x.axes if name in places.axes and name not in self.facts.axes]
        own = own or [name for name in x.axes if name in places.axes]
        laid = [name for name in x.axes if name in places.axes]
        size = next(size for name, size in self.facts.into.items())
        first = x.axes.index(own[0])
        axes = [name for name in x.axes if name not in own]
        axes.insert(min(first, len(axes)), "into")
        sizes = dict(zip(x.axes, x.numbers.shape, strict=True)) | {"into": size}
        result = np.zeros([sizes[name] for name in axes])
        order = [places.axes.index(name) for name in laid]
        numbers = np.transpose(places.numbers, order).astype(int)
        for at in np.ndindex(x.numbers.shape):
            where = dict(zip(x.axes, at, strict=True))
            row = numbers[tuple(where[name] for name in laid)]
            result[tuple(row if name == "into" else where[name] for name in axes)] += x.numbers[at]
        return Tensor(tuple(next(iter(self.facts.into)) if name == "into" else name for name in axes), result)

    def at(self, x: Tensor, index: str) -> Tensor:
        self.places = x.numbers.shape[-1]
        return Tensor((*x.axes[:-1], "_" + index), x.numbers)

    def in_turn(self, a: Tensor, b: Tensor) -> Tensor:
        numbers = np.stack([a.numbers, b.numbers], -1)
        return Tensor((*a.axes[:-1], "d"), numbers.reshape(*numbers.shape[:-2], -1))

    def split(self, x: Tensor) -> Tensor:
        heads = self.facts.sizes["h"]
        numbers = x.numbers.reshape(*x.numbers.shape[:-1], heads, -1)
        return Tensor((*x.axes[:-2], "h", x.axes[-2], "d"), np.swapaxes(numbers, -2, -3))

    def merge(self, x: Tensor) -> Tensor:
        numbers = np.swapaxes(x.numbers, -2, -3)
        return Tensor((*x.axes[:-3], x.axes[-2], "d"), numbers.reshape(*numbers.shape[:-2], -1))

    def shared(self, x: Tensor, times: int) -> Tensor:
        return Tensor((*x.axes[:-3], "h", *x.axes[-2:]), np.repeat(x.numbers, times, axis=-3))

    def groups(self, x: Tensor, size: int) -> Tensor:
        *front, heads, n, d = x.numbers.shape
        numbers = x.numbers.reshape(*front, heads // size, size, n, d).sum(-3)
        return Tensor((*x.axes[:-3], "g", *x.axes[-2:]), numbers)

    def reread(self, x: Tensor) -> Tensor:
        assert self.facts.shape is not None
        assert self.facts.axes is not None
        return Tensor(self.facts.axes, x.numbers.reshape(self.facts.shape))

    def largest(self, x: Tensor, count: int, *excluded: Tensor) -> Tensor:
        numbers = x.numbers
        for out in excluded:
            numbers = np.where(_aligned(out, x).astype(bool), -np.inf, numbers)
        return Tensor((*x.axes[:-1], "k"), np.argsort(-numbers, axis=-1, kind="stable")[..., :count].astype(float))

    def onehot(self, places: Tensor) -> Tensor:
        name, size = self.facts.classes
        return Tensor((*places.axes, name), (places.numbers[..., None] == np.arange(size)).astype(float))

    def rotate(self, x: Tensor, cosines: Tensor, sines: Tensor, halves: Tensor | None = None) -> Tensor:
        d = x.numbers.shape[-1]
        members = (slice(None, d // 2), slice(d // 2, None)) if halves else (slice(0, None, 2), slice(1, None, 2))
        a, b = (Tensor((*x.axes[:-1], cosines.axes[-1]), x.numbers[..., member]) for member in members)
        result = np.empty(x.numbers.shape)
        result[..., members[0]] = self.sub(self.times(a, "⊙", cosines), self.times(b, "⊙", sines)).numbers
        result[..., members[1]] = self.add(self.times(b, "⊙", cosines), self.times(a, "⊙", sines)).numbers
        return Tensor(x.axes, result)

    def windows(self, x: Tensor) -> Tensor:
        """Places of the kernel in turn: the slid axes give way to places of the window, and offsets in it."""
        count = len(self.facts.slides)
        front = x.numbers.shape[:-count]
        sizes = x.numbers.shape[-count:]
        laid = [_slide(size, *slide) for size, slide in zip(sizes, self.facts.slides, strict=True)]
        shape = (*front, *(len(at) for at in laid), *(len(at[0]) for at in laid))
        result = np.zeros(shape)
        for where in np.ndindex(*shape[len(front) :]):
            source = [at[w][k] for at, w, k in zip(laid, where[:count], where[count:], strict=True)]
            if all(0 <= place < size for place, size in zip(source, sizes, strict=True)):
                result[(..., *where)] = x.numbers[(..., *source)]
        assert self.facts.axes is not None
        return Tensor(self.facts.axes if len(self.facts.axes) == result.ndim else ("?",) * result.ndim, result)

    def fold(self, x: Tensor) -> Tensor:
        count = len(self.facts.slides)
        assert self.facts.shape is not None
        assert self.facts.axes is not None
        sizes = self.facts.shape[-count:]
        laid = [_slide(size, *slide) for size, slide in zip(sizes, self.facts.slides, strict=True)]
        result = np.zeros(self.facts.shape)
        for where in np.ndindex(*x.numbers.shape[-2 * count :]):
            source = [at[w][k] for at, w, k in zip(laid, where[:count], where[count:], strict=True)]
            if all(0 <= place < size for place, size in zip(source, sizes, strict=True)):
                result[(..., *source)] += x.numbers[(..., *where)]
        return Tensor(self.facts.axes, result)

    def pairs(self, words: Tensor, counts: Tensor) -> Tensor:
        assert self.facts.shape is not None
        assert self.facts.axes is not None
        found = np.zeros(self.facts.shape)
        for word, often in zip(words.numbers, counts.numbers, strict=True):
            for a, b in pairwise(word.astype(int)):
                if a < len(found) and b < len(found):
                    found[a, b] += often
        return Tensor(self.facts.axes, found)

    def commonest(self, table: Tensor) -> Tensor:
        [*place] = np.argwhere(table.numbers == table.numbers.max())[0]
        return Tensor(("pair",), np.array(place, float))

    def join(self, words: Tensor, pairs: Tensor, new: Tensor, *, leftmost: bool = False) -> Tensor:
        """Ids as signs of a text, in which pairs are looked for."""
        table = [*enumerate(pairs.numbers.reshape(-1, 2).astype(int).tolist(), int(new.numbers))]
        signs = {"".join(map(chr, pair)): chr(i) for i, pair in table}
        rows = []
        for row in words.numbers.astype(int):
            text = "".join(map(chr, row))
            if leftmost:
                while found := sorted((text.find(pair), sign) for pair, sign in signs.items() if pair in text):
                    place, sign = found[0]
                    text = text[:place] + sign + text[place + 2 :]
            else:
                for pair, sign in signs.items():
                    text = text.replace(pair, sign)
            rows.append([float(ord(sign)) for sign in text.ljust(len(row), chr(row[-1]))])
        return Tensor(words.axes, np.array(rows))

    def bucket(self, x: Tensor) -> Tensor:
        """T5's: near distances have a bucket each, farther ones share them by their logarithm."""
        assert self.facts.buckets is not None
        buckets, farthest, causal = self.facts.buckets

        def place(distance: float) -> float:
            half, start = buckets, 0
            if causal:
                distance = max(-distance, 0)
            else:
                half //= 2
                start, distance = (half if distance > 0 else 0), abs(distance)
            exact = half // 2
            if distance < exact:
                return start + distance
            far = exact + int(math.log(distance / exact) / math.log(farthest / exact) * (half - exact) + 1e-9)
            return start + min(far, half - 1)

        return Tensor(x.axes, np.vectorize(place, otypes=[float])(x.numbers))

    # matrices taken apart

    def polynomial(self, x: Tensor) -> Tensor:
        return Tensor(("power",), np.poly(x.numbers))

    def eigenvalues(self, x: Tensor) -> Tensor:
        found = np.linalg.eigvals(x.numbers)
        return Tensor(("k",), _real(found[_by_size(found)]))

    def eigenvectors(self, x: Tensor) -> Tensor:
        found, vectors = np.linalg.eig(x.numbers)
        vectors = vectors[:, _by_size(found)]
        return Tensor(("n", "k"), _real(vectors / _signs(vectors)))

    def singular(self, x: Tensor, which: int) -> Tensor:
        u, _, vt = np.linalg.svd(x.numbers, full_matrices=False)
        return Tensor(("m", "k"), vt * _signs(u)[:, None] if which else u * _signs(u))


def _in_order(value: Tensor, axes: tuple[str, ...]) -> Tensor:
    """A value whose axes, if they are these in another order, are in this one."""
    if value.axes == axes or len({*axes}) < len(axes) or {*value.axes} != {*axes}:
        return value
    return Tensor(axes, value.numbers.transpose([value.axes.index(name) for name in axes]))


def _filled(parts: list[Tensor]) -> list[Tensor]:
    """`0 for m=2…3` beside parts with more axes: zeros of theirs, so many along m."""
    pattern = next((part for part in parts if not part.axes or not part.axes[0].endswith(":")), None)
    filled = []
    for part in parts:
        if pattern is None or not part.axes or not part.axes[0].endswith(":"):
            filled.append(part)
            continue
        axis, count = part.axes[0][:-1], len(part.numbers)
        at = pattern.axes.index(axis) if axis in pattern.axes else max(len(pattern.axes) - 2, 0)
        shape = [count if i == at else size for i, size in enumerate(pattern.numbers.shape)]
        filled.append(Tensor(pattern.axes, np.broadcast_to(part.numbers.ravel()[0], shape)))
    return filled


def _cut(several: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Indices that run farther than the others along an axis, as far as those."""
    least: dict[str, int] = {}
    for t in several:
        for name, size in zip(t.axes, t.numbers.shape, strict=True):
            least[name] = min(size, least.get(name, size))
    return tuple(Tensor(t.axes, t.numbers[tuple(slice(least[name]) for name in t.axes)]) for t in several)


def _signs(columns: Array) -> Array:
    """By which each column is divided, so that its largest entry is positive."""
    top = columns[np.abs(columns).argmax(0), range(columns.shape[1])]
    return np.asarray(top / np.abs(top))


def _over_slopes(work: Callable[..., Array], *several: Tensor) -> Tensor:
    """Entries by their i and j: what lacks one of them is the same along it."""
    ends = ("_i", "_j")
    names = [name for t in several for name in t.axes]
    axes = tuple(dict.fromkeys(name for name in names if name not in ends)) + tuple(n for n in ends if n in names)
    laid = []
    for t in several:
        order = [t.axes.index(name) for name in axes if name in t.axes]
        numbers = np.transpose(t.numbers, order)
        sizes = dict(zip(t.axes, t.numbers.shape, strict=True))
        laid.append(numbers.reshape([sizes.get(name, 1) for name in axes]))
    return Tensor(axes, work(*laid))


def _by_size(found: Array) -> Array:
    return np.lexsort((-found.imag, -np.round(found.real, 9), -np.round(np.abs(found), 9)))


def _real(found: Array) -> Array:
    return found.real if np.allclose(found.imag, 0) else found


def _without(things: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    at %= len(things)
    return (*things[:at], *things[at + 1 :])


def _aligned(t: Tensor, widest: Tensor) -> Array:
    """The numbers laid out along the axes of a wider tensor, by their names where these tell, else from the right."""
    if not t.axes or t.axes == widest.axes:
        return t.numbers
    told = len(set(t.axes)) == len(t.axes) and len(set(widest.axes)) == len(widest.axes)
    if told and set(t.axes) <= set(widest.axes):
        order = [t.axes.index(name) for name in widest.axes if name in t.axes]
        numbers = np.transpose(t.numbers, order)
        sizes = zip(widest.axes, widest.numbers.shape, strict=True)
        return numbers.reshape([size if name in t.axes else 1 for name, size in sizes])
    shape = widest.numbers.shape
    if t.numbers.shape == shape[len(shape) - len(t.axes) :]:
        return t.numbers
    fits = [at for at in permutations(range(len(shape)), len(t.axes)) if list(at) == sorted(at)]
    for at in fits:  # the names were changed on the way: the one place where the sizes fit
        if t.numbers.shape == tuple(shape[i] for i in at):
            return t.numbers.reshape([size if i in at else 1 for i, size in enumerate(shape)])
    raise Misread(f"{t.axes}{t.numbers.shape} does not go with {widest.axes}{shape}")


def _matmul(a: Tensor, b: Tensor) -> Tensor:
    leads = set(a.axes[:-2])
    vector = len(b.axes) == 1 or (
        b.axes[-1] == a.axes[-1]
        and a.numbers.shape[-1] == b.numbers.shape[-1]
        and b.axes[-2] != a.axes[-1]
        and (set(b.axes[:-1]) <= leads or a.numbers.shape[-1] != b.numbers.shape[-2])
    )
    left = "abcdefg"[: len(a.axes)]
    inner = left[-1]
    if a.numbers.shape[-1] != b.numbers.shape[-1 if vector else -2]:
        raise Misread(f"the inner sizes of {a.axes} and {b.axes} do not agree")
    right_leads = b.axes[:-1] if vector else b.axes[:-2]
    letters: list[str] = []
    for i, name in enumerate(right_leads):
        shared = [k for k, other in enumerate(a.axes[:-1]) if other == name]
        letters.append(left[shared[0]] if shared else "uvwxyz"[i])
    names = dict(zip(letters, right_leads, strict=True)) | dict(zip(left, a.axes, strict=True))
    right = "".join(letters) + inner + ("" if vector else "t")
    rows = left[-2:-1] if len(a.axes) > 1 and left[-2] not in letters else ""
    front = left[:-1].removesuffix(rows) if rows else left[:-1]
    leads_out = max(front, "".join(letters), key=len)
    out = leads_out + rows + ("" if vector else "t")
    axes = tuple(b.axes[-1] if letter == "t" else names[letter] for letter in out)
    try:
        return Tensor(axes, np.einsum(f"{left},{right}->{out}", a.numbers, b.numbers))
    except ValueError as error:
        raise Misread(f"{a.axes}·{b.axes}: {error}") from None


def _outer(a: Tensor, b: Tensor) -> Tensor:
    shared = [name for name in a.axes if name in b.axes]
    if a.axes == b.axes and len(a.axes) == 1:
        shared = []  # an axis that was renamed on the way
    left, right = "abcdefg"[: len(a.axes)], "uvwxyz"[: len(b.axes)]
    for name in shared:
        right = right.replace(right[b.axes.index(name)], left[a.axes.index(name)])
    common = "".join(left[a.axes.index(name)] for name in shared)
    out = common + "".join(c for c in left if c not in common) + "".join(c for c in right if c not in common)
    names = dict(zip(right, b.axes, strict=True)) | dict(zip(left, a.axes, strict=True))
    return Tensor(tuple(names[c] for c in out), np.einsum(f"{left},{right}->{out}", a.numbers, b.numbers))


def _slide(size: int, width: int, stride: int, padding: int, dilation: int) -> list[list[int]]:
    """For each place of the window, the places that it covers; those outside the axis are zeros."""
    reach = dilation * (width - 1) + 1
    places = (size + 2 * padding - reach) // stride + 1
    return [[w * stride - padding + k * dilation for k in range(width)] for w in range(places)]
