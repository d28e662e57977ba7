"""Kernels in double-double arithmetic: a number is a float, its rounding error, and a bound on how far off both are.

Error-free sums and products are those of Dekker and Knuth, as in Hida, Li and Bailey 2001, Library for Double-Double
and Quad-Double Arithmetic. The error bound is carried along, so that it is known how many digits of a value are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache, reduce, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from attncalc.common.numerals import Array
from attncalc.language.axes import align, position
from attncalc.language.graph import Node

ULP = 2.0**-53
FINEST = 2.0**-102
"""The relative error of a function computed with twice the digits."""
SPLITTER = 2.0**27 + 1
LARGEST_SPLIT = 2.0**995
"""Beyond this the product with the splitter overflows."""
LARGEST_EXPONENT = 2000.0
"""Beyond this an exponential is 0 or ∞."""
LONGEST_PRODUCT = 64
"""Whole powers up to this one are computed as products, all others by the logarithm."""
REMEMBERED, FEW = 64, 1024
"""How many results a function remembers, of arguments with at most so many entries."""


class Double(NamedTuple):
    """head + tail, and a bound on how far that is from the true number."""

    head: Array
    tail: Array
    doubt: Array


def exactly(x: Any) -> Double:
    """A float taken as exact, without a rounding error."""
    head = np.asarray(x, np.float64)
    return Double(head, np.zeros_like(head), np.zeros_like(head))


def rounded(x: Any) -> Double:
    """A float whose rounding error is not known, from a kernel that is right except for the last digits."""
    x = np.asarray(x)
    unit = np.finfo(x.dtype).eps / 2 if x.dtype.kind == "f" else ULP
    head = x.astype(np.float64)
    return Double(head, np.zeros_like(head), np.abs(head) * (8 * float(unit)))


def as_far_as_known(pair: Double, value: Array) -> Double:
    """The pair, but with the rounded value and no tail where the tail is smaller than its own error bound."""
    told = ~(np.abs(pair.tail) <= pair.doubt) | (pair.doubt == 0)
    return Double(np.where(told, pair.head, value), np.where(told, pair.tail, 0), pair.doubt)


def number(value: Any) -> Double:
    """A number of a formula, exact by its decimal digits."""
    if value in (math.pi, math.e):
        return PI if value == math.pi else EULER
    head = float(value)
    if not math.isfinite(head):
        return exactly(head)
    rest = (Fraction(repr(value)) if isinstance(value, float) else Fraction(value)) - Fraction(head)
    return Double(np.asarray(head), np.asarray(float(rest)), np.asarray(abs(float(rest)) * ULP))


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    whole = a + b
    part = whole - a
    return whole, (a - (whole - part)) + (b - part)


def _split(a: Array) -> tuple[Array, Array]:
    large = SPLITTER * a
    high = large - (large - a)
    if np.isnan(high).any():  # the product has overflowed
        scale = np.where(np.abs(a) > LARGEST_SPLIT, 2.0**-28, 1.0)
        large = SPLITTER * (a * scale)
        high = (large - (large - a * scale)) / scale
    return high, a - high


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    whole = np.asarray(a * b)
    (ah, al), (bh, bl) = _split(a), _split(b)
    return whole, ((ah * bh - whole) + ah * bl + al * bh) + al * bl


def _made(head: Array, tail: Array, doubt: Array) -> Double:
    whole = np.asarray(head + tail)
    return Double(whole, np.asarray(tail - (whole - head)), np.asarray(doubt))


def add(*terms: Double) -> Double:
    """A sum."""
    return reduce(_added, terms)


def _added(x: Double, y: Double) -> Double:
    head, rest = _sum(x.head, y.head)
    tail, least = _sum(x.tail, y.tail)
    doubt = x.doubt + y.doubt + ULP * (np.abs(rest) * ULP + np.abs(tail)) + np.abs(least)
    rest = rest + tail
    head, rest = _sum(head, rest)
    return _made(head, rest + least, doubt)


def neg(x: Double) -> Double:
    """The opposite."""
    return Double(0 - x.head, 0 - x.tail, x.doubt)


def sub(x: Double, y: Double) -> Double:
    """A difference."""
    return add(x, neg(y))


def mul(x: Double, y: Double) -> Double:
    """A product."""
    head, rest = _product(x.head, y.head)
    cross, over = x.head * y.tail, x.tail * y.head
    doubt = np.abs(x.head) * y.doubt + np.abs(y.head) * x.doubt + ULP * (np.abs(rest) * ULP + abs(cross) + abs(over))
    return _made(head, rest + (cross + over), doubt)


def div(x: Double, y: Double) -> Double:
    """A quotient."""
    first = np.asarray(x.head / y.head)
    left = sub(x, mul(exactly(first), y))
    second = np.asarray(left.head / y.head)
    left = sub(left, mul(exactly(second), y))
    third = left.head / y.head
    head, rest = _sum(first, second)
    doubt = (x.doubt + np.abs(first) * y.doubt + left.doubt) / np.abs(y.head) + ULP * np.abs(third)
    return _made(head, rest + third, doubt)


def unless_nothing(x: Double, y: Double) -> Double:
    """A quotient that is 0 where the dividend is 0."""
    return _chosen(x.head == 0, x, div(x, Double(np.where(x.head == 0, 1, y.head), y.tail, y.doubt)))


def weigh(x: Double, y: Double) -> Double:
    """A product that is 0 where the weight is 0."""
    return _chosen(x.head == 0, x, mul(x, Double(np.where(x.head == 0, 1, y.head), y.tail, y.doubt)))


def _chosen(which: Array, x: Double, y: Double) -> Double:
    return Double(*(np.where(which, a, b) for a, b in zip(x, y, strict=True)))


def where(keep: Double, x: Double, y: Double) -> Double:
    """x where `keep` holds, else y."""
    return _chosen(keep.head != 0, x, y)


def maximum(x: Double, y: Double) -> Double:
    """The larger one."""
    return _chosen((x.head > y.head) | ((x.head == y.head) & (x.tail >= y.tail)), x, y)


def minimum(x: Double, y: Double) -> Double:
    """The smaller one."""
    return _chosen((x.head < y.head) | ((x.head == y.head) & (x.tail <= y.tail)), x, y)


def absolute(x: Double) -> Double:
    """The absolute value."""
    return _chosen(x.head < 0, neg(x), x)


def moved(node: Node, *sources: Double) -> Double:
    """A primitive that only moves entries: its kernel applied to head, tail and doubt."""
    return Double(*(np.asarray(node.row.kernel(node, *parts)) for parts in zip(*sources, strict=True)))


def same(x: Double) -> Double:
    """The source, unchanged."""
    return x


def held_or_0(x: Double) -> Double:
    """x, with 0 in the place of −∞."""
    return _chosen(x.head == -np.inf, exactly(0.0), x)


def sqrt(x: Double) -> Double:
    """The square root."""
    head = np.sqrt(x.head)
    left = sub(x, mul(exactly(head), exactly(head)))
    below = np.where(head == 0, 1, 2 * head)
    tail = left.head / below
    return _made(head, tail, (x.doubt + left.doubt) / below + ULP * np.abs(tail) + tail * tail / below)


def _along(node: Node, x: Double) -> Double:
    """The value with the axis that is summed over moved to the front."""
    axis = position(node.sources[0].axes, node.args["over"])
    return Double(*(np.moveaxis(part, axis, 0) for part in x))


def _total(x: Double) -> Double:
    """The pairwise sum along the first axis."""
    while len(x.head) > 1:
        half = len(x.head) // 2
        odd = Double(*(part[2 * half :] for part in x))
        x = add(Double(*(part[:half] for part in x)), Double(*(part[half : 2 * half] for part in x)))
        if len(odd.head):
            x = Double(*(np.concatenate(both) for both in zip(x, odd, strict=True)))
    return Double(*(part[0] for part in x))


def total(node: Node, x: Double) -> Double:
    """The sum along an axis."""
    return _total(_along(node, x))


def mean(node: Node, x: Double) -> Double:
    """The mean along an axis."""
    laid = _along(node, x)
    return div(_total(laid), exactly(float(len(laid.head))))


def peak(node: Node, x: Double) -> Double:
    """The largest along an axis."""
    laid = _along(node, x)
    top = laid.head == laid.head.max(axis=0)
    at = np.argmax(np.where(top, laid.tail, -np.inf), axis=0)[None]
    return Double(*(np.take_along_axis(part, at, axis=0)[0] for part in laid))


def outer(node: Node, a: Double, b: Double) -> Double:
    """Every entry of one times every entry of the other."""
    sources = zip((a, b), node.sources, strict=True)
    x, y = (Double(*(align(part, source.axes, node.axes) for part in value)) for value, source in sources)
    return mul(x, y)


Found = TypeVar("Found")


def _remembering(function: Callable[..., Found]) -> Callable[..., Found]:
    """The same function, with its last results at hand: every layer of a model turns by the same angles."""

    @lru_cache(maxsize=REMEMBERED)
    def found(*numbers: tuple[tuple[bytes, tuple[int, ...]], ...]) -> Found:
        return function(*(Double(*(np.frombuffer(data).reshape(shape) for data, shape in parts)) for parts in numbers))

    @wraps(function)
    def asked(*numbers: Double) -> Found:
        if sum(x.head.size for x in numbers) > FEW:
            return function(*numbers)
        return found(*(tuple((np.float64(part).tobytes(), np.shape(part)) for part in x) for x in numbers))

    return asked


PI = Double(*map(np.asarray, (math.pi, 1.2246467991473532e-16, 3e-33)))
EULER = Double(*map(np.asarray, (math.e, 1.4456468917292502e-16, 3e-33)))
LN2 = Double(*map(np.asarray, (0.6931471805599453, 2.3190468138462996e-17, 6e-34)))
LN10 = Double(*map(np.asarray, (2.302585092994046, -2.1707562233822494e-16, 1e-32)))
QUARTER = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
"""π/2 in three parts."""
HALVINGS = 6
TERMS = 13
LONG_TERMS = 7
"""So many terms of the series need twice the digits, for arguments within 1/180 of 0."""
TURNS = 2.0**50
"""Angles beyond this are not reduced: their last digit is as large as a whole turn."""


@cache
def _one_over_factorial(n: int) -> Double:
    return number(Fraction(1, math.factorial(n)))


def _scaled(x: Double, factor: Any) -> Double:
    """x times a power of 2, which is exact."""
    return Double(*(np.asarray(part * factor) for part in x))


def _expm1_of_small(r: Double) -> Double:
    """exp(r) − 1 where r lies within a third of 0."""
    r = _scaled(r, 0.5**HALVINGS)
    tail = np.zeros_like(r.head)
    for n in range(TERMS, LONG_TERMS, -1):  # these terms are so small that a float has enough digits
        tail = tail * r.head + 1 / math.factorial(n)
    found = rounded(tail)
    for n in range(LONG_TERMS, 0, -1):
        found = add(_one_over_factorial(n), mul(found, r))
    found = mul(found, r)
    for _ in range(HALVINGS):
        found = add(_scaled(found, 2.0), mul(found, found))
    return found


def _by_turns(x: Double) -> tuple[Array, Double]:
    """n and exp(r) − 1, where x = n·ln 2 + r with whole n and small r."""
    beyond = np.abs(x.head) > LARGEST_EXPONENT
    x = _chosen(beyond, exactly(np.copysign(LARGEST_EXPONENT, x.head)), x)
    times = np.rint(np.where(np.isfinite(x.head), x.head, 0) / math.log(2))
    return times, _expm1_of_small(sub(x, mul(exactly(times), LN2)))


def exp(x: Double) -> Double:
    """The exponential."""
    times, rest = _by_turns(x)
    found, whole = add(exactly(1.0), rest), times.astype(np.int64)
    half = whole // 2  # 2 to the power by itself may overflow where the result does not
    found = Double(*(np.ldexp(np.ldexp(part, half), whole - half) for part in found))
    off = np.where(times == 0, np.abs(rest.head), np.abs(found.head))  # e⁰ is exactly 1
    return found._replace(doubt=found.doubt + off * FINEST)


def expm1(x: Double) -> Double:
    """exp(x) − 1."""
    times, rest = _by_turns(x)
    rest = rest._replace(doubt=rest.doubt + np.abs(rest.head) * FINEST)
    return _chosen(times == 0, rest, sub(exp(x), exactly(1.0)))


def log(x: Double) -> Double:
    """The natural logarithm: NumPy's, improved by one Newton step."""
    first = np.log(x.head)
    off = sub(mul(x, exp(exactly(-first))), exactly(1.0))
    found = add(exactly(first), sub(off, _scaled(mul(off, off), 0.5)))
    return found._replace(doubt=found.doubt + x.doubt / np.abs(x.head))


def log2(x: Double) -> Double:
    """The logarithm to the base 2."""
    return div(log(x), LN2)


def log10(x: Double) -> Double:
    """The logarithm to the base 10."""
    return div(log(x), LN10)


@_remembering
def power(x: Double, p: Double) -> Double:
    """A power; a product if the exponent is a small whole number."""
    if p.head.ndim == 0 and p.tail == 0 and float(p.head).is_integer() and abs(p.head) <= LONGEST_PRODUCT:
        found = exactly(1.0)
        for digit in f"{int(abs(p.head)):b}":
            found = mul(found, found)
            found = mul(found, x) if digit == "1" else found
        return found if p.head >= 0 else div(exactly(1.0), found)
    found = exp(mul(p, log(x)))
    return _chosen((x.head == 0) & (p.head > 0), x, found)


@_remembering
def _sine_and_cosine(x: Double) -> tuple[Double, Double]:
    times = np.rint(np.where(np.abs(x.head) < TURNS, x.head, 0) / QUARTER[0])
    rest = x
    for part in QUARTER:
        rest = sub(rest, mul(exactly(times), exactly(part)))
    rest = rest._replace(doubt=rest.doubt + np.abs(times) * 2.0**-160)
    square = mul(rest, rest)
    sine, cosine = (_series(square, first) for first in (1, 0))
    sine = mul(sine, rest)
    turn = (times % 4).astype(int)
    odd = turn % 2 == 1
    sine, cosine = _chosen(odd, cosine, sine), _chosen(odd, sine, cosine)
    far = rounded(np.full_like(x.head, np.nan))
    sine = _chosen(turn >= 2, neg(sine), sine)
    cosine = _chosen((turn == 1) | (turn == 2), neg(cosine), cosine)
    near = np.abs(x.head) < TURNS
    return _chosen(near, sine, far), _chosen(near, cosine, far)


def _series(square: Double, first: int) -> Double:
    """Σ (−square)^n / (2n + first)!, of the sine (1) without its factor x, or of the cosine (0)."""
    found = exactly(0.0)
    for n in range(14, -1, -1):
        found = sub(_one_over_factorial(2 * n + first), mul(found, square))
    return found


def sin(x: Double) -> Double:
    """The sine."""
    return _sine_and_cosine(x)[0]


def cos(x: Double) -> Double:
    """The cosine."""
    return _sine_and_cosine(x)[1]


def tan(x: Double) -> Double:
    """The tangent."""
    return div(*_sine_and_cosine(x))


def sigmoid(x: Double) -> Double:
    """1/(1 + e^−x)."""
    e = exp(neg(absolute(x)))
    return div(_chosen(x.head < 0, e, exactly(1.0)), add(exactly(1.0), e))


def tanh(x: Double) -> Double:
    """The hyperbolic tangent, by e^(−2|x|) − 1."""
    e = expm1(_scaled(absolute(x), -2.0))
    size = div(neg(e), add(exactly(2.0), e))
    return _chosen(x.head < 0, neg(size), size)


def softplus(x: Double) -> Double:
    """ln(1 + e^x)."""
    more = log(add(exactly(1.0), exp(neg(absolute(x)))))
    return add(maximum(x, exactly(0.0)), more)


def elu(x: Double, alpha: Double) -> Double:
    """x above 0, α·(e^x − 1) below."""
    below = mul(alpha, expm1(minimum(x, exactly(0.0))))
    return _chosen(x.head > 0, x, below)


WIDEST_SERIES = 2.0
"""The error function is computed by a series up to this |x|, and as 1 − erfc beyond."""


def erf(x: Double) -> Double:
    """The error function."""
    near = np.abs(x.head) <= WIDEST_SERIES
    inside = _chosen(near, x, exactly(0.0))
    square = mul(inside, inside)
    term = found = mul(div(exactly(2.0), sqrt(PI)), mul(inside, exp(neg(square))))
    for n in range(1, 60):
        term = div(mul(term, _scaled(square, 2.0)), exactly(2.0 * n + 1))
        found = add(found, term)
    outside = sub(exactly(1.0), _erfc(absolute(x)))
    outside = _chosen(x.head < 0, neg(outside), outside)
    return _chosen(near, found, outside)


def _erfc(x: Double) -> Double:
    head = np.fromiter(map(math.erfc, x.head.ravel().tolist()), np.float64, x.head.size).reshape(x.head.shape)
    bell = 2 / math.sqrt(math.pi) * np.exp(-x.head * x.head)
    return add(rounded(head), Double(-bell * x.tail, 0 * head, np.abs(bell * x.tail) * (8 * ULP)))


def one_plus_erf(x: Double) -> Double:
    """1 + erf x."""
    return _chosen(x.head < -1, _erfc(neg(x)), add(exactly(1.0), erf(x)))


def softmax(node: Node, x: Double) -> Double:
    """Softmax along an axis."""
    laid = _along(node, x)
    top = Double(*(part[None] for part in peak(node, x)))
    sizes = exp(sub(laid, top))
    shares = div(sizes, Double(*(part[None] for part in _total(sizes))))
    axis = position(node.axes, node.args["over"])
    return Double(*(np.moveaxis(part, 0, axis) for part in shares))
