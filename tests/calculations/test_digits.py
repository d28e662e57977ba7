"""No digits are lost where the answer has them: scalar functions in units of the last place, rows by their own scale.

mpmath works the same definitions out in 800 digits: 1 − tanh² x of a large x needs as many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations.activations import ACTIVATIONS

Array = NDArray[Any]
Number = Any
MOST_ULPS = 4
ROOT, CUBIC, STRETCH = mp.sqrt, "0.044715", "1.702"


@pytest.fixture(autouse=True)
def many_digits() -> Any:
    with mp.workdps(800):
        yield


def arguments(seed: int, count: int) -> Array:
    """Small, ordinary and large ones of both signs, and those where a slope is nearly 0."""
    rng = np.random.default_rng(seed)
    spread = 10 ** rng.uniform(-6, 2.8, count) * rng.choice([-1, 1], count)
    return np.concatenate([spread, rng.normal(size=count) * 3, rng.uniform(-37, 40, count), [-1.2784, -0.7518, 20, -7]])


def sigma(x: Number) -> Number:
    return 1 / (1 + mp.exp(-x))


def by_tanh(x: Number) -> Number:
    return x * sigma(2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf(CUBIC) * x**3))


DEFINED: dict[str, Callable[[Number], Number]] = {
    "relu": lambda x: max(x, mp.mpf(0)),
    "leaky-relu": lambda x: x if x > 0 else x / 100,
    "elu": lambda x: x if x > 0 else mp.expm1(x),
    "sigmoid": sigma,
    "tanh": mp.tanh,
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
    "gelu-tanh": by_tanh,
    "gelu-sigmoid": lambda x: x * sigma(mp.mpf(STRETCH) * x),
    "silu": lambda x: x * sigma(x),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
}


def slope(function: Callable[[Number], Number], x: Number) -> Number:
    """A central difference, in so many digits that it is as good as the slope."""
    h = abs(x) * mp.mpf(10) ** -200
    return (function(x + h) - function(x - h)) / (2 * h)


def ulps(found: float, true: Number, factor: float = 1) -> float:
    """How many units of the last place it is off; below the least normal number there are fewer digits.

    So there are where that is multiplied by a factor.
    """
    unit = math.ulp(max(abs(float(true)), np.finfo(float).tiny * max(1, abs(factor))))
    return float(abs(mp.mpf(float(found)) - true) / mp.mpf(unit))


def test_every_activation_is_defined_here() -> None:
    assert DEFINED.keys() == ACTIVATIONS.keys()


@pytest.mark.release
@pytest.mark.parametrize("kind", DEFINED)
@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 12), pytest.param(1, 30, marks=pytest.mark.thorough), pytest.param(2, 100, marks=pytest.mark.release)],
)
def test_activations_and_their_slopes(kind: str, seed: int, count: int) -> None:
    x = arguments(seed, count)
    t = ac.activation(x, kind=kind)
    exact = [mp.mpf(value) for value in x.tolist()]
    values, slopes = ([f(value) for value in exact] for f in (DEFINED[kind], lambda v: slope(DEFINED[kind], v)))
    for found, true in ((t.result, values), (t["derivative"], slopes), (t.grad().result, slopes)):
        off = [ulps(*each) for each in zip(found.tolist(), true, x.tolist(), strict=True)]
        worst = int(np.argmax(off))
        assert off[worst] <= MOST_ULPS, (x[worst], found[worst])


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9, 1e-12], ids=str)
def test_kl_of_nearly_equal_distributions(apart: float) -> None:
    p, q = np.array([0.3, 0.5, 0.2]), np.array([0.3 + apart, 0.5 - apart, 0.2])
    exact = [(mp.mpf(a), mp.mpf(b)) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
    true = mp.fsum(a * mp.log(a / b) for a, b in exact)
    assert abs(mp.mpf(float(ac.kl(p, q).result)) - true) <= 1e-15 * true + mp.mpf(2) ** -100


@pytest.mark.parametrize("gap", [1, 20, 40, 300, 700])
def test_beside_a_large_gap_the_largest_share_has_a_logarithm(gap: float) -> None:
    scores = [gap, 0.0, -1.0]
    whole = mp.fsum(mp.exp(x) for x in scores)
    logs = [mp.log(mp.exp(x) / whole) for x in scores]
    for found in (ac.log_softmax(scores).result, ac.softmax(scores, log=True).result):
        assert max(map(ulps, found.tolist(), logs)) <= MOST_ULPS
    assert ulps(float(ac.cross_entropy(scores, 0).result), -logs[0]) <= MOST_ULPS
    assert ulps(float(ac.cross_entropy(scores, 0, base=2).result), -logs[0] / mp.log(2)) <= MOST_ULPS


def exact_rows(x: Array) -> list[list[Number]]:
    return [[mp.mpf(value) for value in row] for row in x.tolist()]


def within_own_rows(found: Array, true: Sequence[Sequence[Number]]) -> None:
    """SPEC's bound, 1e-15·√n of the scale of the row, that of the result's own entries."""
    for row, exact in zip(found.tolist(), true, strict=True):
        bound = 1e-15 * math.sqrt(len(row)) * float(max(map(abs, exact)))
        assert all(abs(mp.mpf(a) - b) <= bound for a, b in zip(row, exact, strict=True)), (row, bound)


@pytest.mark.thorough
@pytest.mark.parametrize("centre", [0.0, 1e3, 1e8, 1e14, 1e200], ids=str)
@pytest.mark.parametrize("eps", [0.0, 1e-5], ids=str)
def test_rows_far_from_0_keep_what_tells_their_entries_apart(centre: float, eps: float) -> None:
    x = centre + np.random.default_rng(3).normal(size=(4, 5)) * max(1.0, centre / 2.0**46)
    added = mp.mpf(str(eps))

    def normed(row: Sequence[Number], centred: bool = True) -> list[Number]:
        mean = mp.fsum(row) / len(row) if centred else mp.mpf(0)
        root = mp.sqrt(mp.fsum((value - mean) ** 2 for value in row) / len(row) + added)
        return [(value - mean) / root for value in row]

    within_own_rows(ac.layernorm(x, eps=eps).result, [normed(row) for row in exact_rows(x)])
    within_own_rows(ac.batchnorm(x, eps=eps).result.T, [normed(row) for row in exact_rows(x.T)])
    within_own_rows(ac.rmsnorm(x, eps=eps).result, [normed(row, centred=False) for row in exact_rows(x)])


@pytest.mark.thorough
@pytest.mark.parametrize("start", [0, 1000, 10**6, 10**9, 10**12])
def test_far_positions_turn_by_their_own_angle(start: int) -> None:
    places, pairs, d = (start, start + 1), range(4), 8
    angles = [[place * mp.mpf(10000) ** (-mp.mpf(2 * i) / d) for i in pairs] for place in places]
    true = [[f(angle) for angle in row for f in (mp.sin, mp.cos)] for row in angles]
    within_own_rows(ac.sinusoidal(n=2, d=d, start=start).result, true)
    x = np.random.default_rng(4).normal(size=(2, d))
    turned: list[list[Number]] = []
    for row, own in zip(exact_rows(x), angles, strict=True):
        turned.append([])
        for i, angle in enumerate(own):
            a, b = row[2 * i : 2 * i + 2]
            turned[-1] += [a * mp.cos(angle) - b * mp.sin(angle), b * mp.cos(angle) + a * mp.sin(angle)]
    within_own_rows(ac.rope(x, positions=list(places)).result, turned)


@pytest.mark.parametrize("size", [1e160, 1e-160, 1e200, 1e-200], ids=str)
def test_the_length_of_what_is_projected_on_does_not_matter(size: float) -> None:
    a, b = np.array([1.0, 2.0, -3.0]), np.array([2.0, 0.5, 1.0])
    np.testing.assert_allclose(ac.project(a, size * b).result, ac.project(a, b).result, rtol=1e-15)


@pytest.mark.parametrize(
    ("largest", "scale"),
    [
        (8, 2),
        (np.nextafter(8, 0), 1),  # its logarithm to base 2 rounds to 3
        (np.nextafter(8, 9), 2),
        (2**-125, 2**-127),
        (np.nextafter(2**-125, 0), 2**-127),  # the least scale that eight bits hold
        (0, 2**-127),
        (2**129, 2**127),
        (2**140, 2**127),  # the largest
    ],
)
def test_the_scale_of_a_block_is_a_power_of_2_in_eight_bits(largest: float, scale: float) -> None:
    trace = ac.quantize([[largest, 0.0]], kind="mxfp4")
    assert trace["scale"] == [scale]
    assert abs(trace["codes"]).max() == min(6, round(largest / scale))
