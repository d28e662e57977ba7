"""Accuracy: every number against fifty digits, for ordinary input and near the ends of the range.

An error is held against the scale of its row, the largest value that the row mixes: an entry near 0 that is a
difference of larger ones has no digits of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import attncalc as ac

Array = NDArray[Any]
Row = Sequence[mpmath.mpf]
DIGITS = 50
SEEDS = range(4)
SIZES = [2, 5, 64]


@pytest.fixture(autouse=True)
def fifty_digits() -> Any:
    with mpmath.workdps(DIGITS):
        yield


def exactly(x: Array) -> Any:
    """The very numbers that the floats are, as nested lists."""
    return [exactly(row) for row in x] if x.ndim else mpmath.mpf(float(x))


def drawn(seed: int, *shape: int, size: float = 1.0) -> Array:
    return np.random.default_rng(seed).normal(size=shape) * size


def dotted(a: Row, b: Row) -> mpmath.mpf:
    return mpmath.fsum(x * y for x, y in zip(a, b, strict=True))


def shares(x: Row) -> list[mpmath.mpf]:
    top = max(x)
    sizes = [mpmath.exp(e - top) for e in x]
    return [size / mpmath.fsum(sizes) for size in sizes]


def near(found: Array, true: Any, scale: Any, n: int, unit: float = 1e-15) -> None:
    """Each entry within √n units of its row's scale."""
    flat = [entry for row in true for entry in row] if isinstance(true[0], list) else true
    scales = np.broadcast_to(np.asarray(scale, float), found.shape).ravel()
    for entry, exact, size in zip(found.ravel(), flat, scales, strict=True):
        assert abs(mpmath.mpf(float(entry)) - exact) <= unit * math.sqrt(n) * size, (entry, exact)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", SEEDS)
class TestOrdinaryInput:
    def test_softmax(self, seed: int, n: int) -> None:
        x = drawn(seed, n, size=3)
        true = shares(exactly(x))
        near(ac.softmax(x).result, true, float(max(true)), n)

    def test_log_softmax(self, seed: int, n: int) -> None:
        x = drawn(seed, n, size=3)
        true = [mpmath.log(share) for share in shares(exactly(x))]
        near(ac.log_softmax(x).result, true, float(max(map(abs, true))), n)

    def test_dot(self, seed: int, n: int) -> None:
        a, b = drawn(seed, n), drawn(seed + 10, n)
        near(ac.dot(a, b).result[None], [dotted(exactly(a), exactly(b))], np.abs(a * b).max(), n)

    def test_norm(self, seed: int, n: int) -> None:
        a = drawn(seed, n)
        for p in (1, 1.5, 2, 3, 7):
            true = mpmath.fsum(abs(x) ** mpmath.mpf(p) for x in exactly(a)) ** (1 / mpmath.mpf(p))
            near(ac.norm(a, p=p).result[None], [true], float(true), n)

    def test_cosine(self, seed: int, n: int) -> None:
        a, b = drawn(seed, n), drawn(seed + 10, n)
        x, y = exactly(a), exactly(b)
        cosine = dotted(x, y) / mpmath.sqrt(dotted(x, x) * dotted(y, y))
        t = ac.cosine(a, b)
        near(t.result[None], [cosine], 1, n)
        near(t["angle"][None], [mpmath.degrees(mpmath.acos(cosine))], 180, n)

    @pytest.mark.thorough
    @pytest.mark.parametrize(("distance", "p"), [("euclidean", 2), ("manhattan", 1), ("minkowski", 3)], ids=str)
    def test_distances(self, distance: str, p: int, seed: int, n: int) -> None:
        a, b = drawn(seed, n), drawn(seed + 10, n)
        true = mpmath.fsum(abs(x - y) ** p for x, y in zip(exactly(a), exactly(b), strict=True)) ** (mpmath.mpf(1) / p)
        calculation: Callable[..., ac.Trace] = getattr(ac, distance)
        near(calculation(a, b).result[None], [true], float(true), n)

    @pytest.mark.thorough
    @pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
    def test_attention(self, causal: bool, seed: int, n: int) -> None:
        q, k, v = (drawn(seed + i, n, 8) for i in range(3))
        t = ac.attention(q, k, v, causal=causal)
        root = mpmath.sqrt(8)
        keys, columns = exactly(k), list(zip(*exactly(v), strict=True))
        for i, query in list(enumerate(exactly(q)))[:: max(1, n // 8)]:
            seen = i + 1 if causal else n
            weights = shares([dotted(query, key) / root for key in keys[:seen]])
            near(t["weights"][i][:seen], weights, float(max(weights)), n)
            mixed = [dotted(weights, column[:seen]) for column in columns]
            near(t.result[i], mixed, np.abs(v[:seen]).max(), n)


@pytest.mark.parametrize("size", [1e150, 1e200, 1e-150, 1e-200], ids=str)
@pytest.mark.parametrize("n", SIZES)
class TestNearTheEndsOfTheRange:
    def test_norm(self, n: int, size: float) -> None:
        a = drawn(1, n, size=size)
        true = mpmath.sqrt(dotted(exactly(a), exactly(a)))
        near(ac.norm(a).result[None], [true], float(true), n)

    def test_cosine(self, n: int, size: float) -> None:
        a, b = drawn(1, n, size=size), drawn(2, n, size=size)
        x, y = exactly(a), exactly(b)
        true = dotted(x, y) / (mpmath.sqrt(dotted(x, x)) * mpmath.sqrt(dotted(y, y)))
        near(ac.cosine(a, b).result[None], [true], 1, n)
        near(ac.pairwise(a, b).result.ravel(), [true], 1, n)

    def test_euclidean(self, n: int, size: float) -> None:
        a, b = drawn(1, n, size=size), drawn(2, n, size=size)
        difference = [x - y for x, y in zip(exactly(a), exactly(b), strict=True)]
        true = mpmath.sqrt(dotted(difference, difference))
        near(ac.euclidean(a, b).result[None], [true], float(true), n)


@pytest.mark.parametrize("size", [1e150, 1e-150, 1e-160, 1e-200], ids=str)
@pytest.mark.parametrize("counts", ["alike", "a sample", "by probabilities"])
def test_standard_deviation_near_the_ends_of_the_range(counts: str, size: float) -> None:
    x = size * np.array([1.0, 2.5, 7.25, -3.0])
    p = [0.1, 0.2, 0.3, 0.4] if counts == "by probabilities" else None
    values, weights = exactly(x), exactly(np.array([0.25] * 4 if p is None else p))
    deviations = [value - dotted(weights, values) for value in values]
    variance = dotted(weights, [deviation**2 for deviation in deviations]) * (4 / 3 if counts == "a sample" else 1)
    found = ac.expectation(x, p, sample=counts == "a sample")["standard_deviation"]
    near(found[None], [mpmath.sqrt(variance)], size, 4)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 1e-10, 1e-100, 1e-300, 1e-310], ids=str)
@pytest.mark.parametrize("base", ["e", 2, 10])
@pytest.mark.parametrize("n", SIZES)
def test_perplexity_of_what_was_held_nearly_impossible(n: int, base: int | str, size: float) -> None:
    p = np.random.default_rng(n).random((3, n)) * size
    true = [1 / mpmath.fprod(mpmath.root(entry, n) for entry in row) for row in exactly(p)]
    found = ac.perplexity(p, base=base).result
    for entry, exact in zip(found, true, strict=True):
        near(entry[None], [exact], float(exact), n)


@pytest.mark.parametrize("offset", [1e3, 1e8, 1e15], ids=str)
def test_scores_far_from_0_lose_nothing_but_their_own_digits(offset: float) -> None:
    x = offset + np.array([0.0, 1.0, 2.0, 5.0])
    true = shares(exactly(x))
    near(ac.softmax(x).result, true, 1, 4)
    near(ac.log_softmax(x).result, [mpmath.log(share) for share in true], 5, 4)


def test_float32_is_as_good_as_float32_can_be() -> None:
    q, k, v = (drawn(i, 16, 8).astype(np.float32) for i in range(3))
    t = ac.attention(q, k, v, dtype="float32")
    assert t.result.dtype == np.float32
    root = mpmath.sqrt(8)
    columns = list(zip(*exactly(v), strict=True))
    for i, query in enumerate(exactly(q)):
        weights = shares([dotted(query, key) / root for key in exactly(k)])
        near(t.result[i], [dotted(weights, column) for column in columns], np.abs(v).max(), 16, unit=6e-7)
