"""exp by a table: as near to the real exponential as is said, over all that it takes, and in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from attncalc.evaluate.large import exponential, fused

WITHIN = 2e-15
"""What is said of every entry, of itself."""


def errors(x: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
    """How far each power is from exp(x·UNIT), of itself, by 50 digits."""
    with mp.workdps(50):
        unit = mp.log(2) / 2**exponential.BITS
        return np.array(
            [float(mpf(float(p)) / mp.exp(mpf(float(entry)) * unit) - 1) for entry, p in zip(x, found, strict=True)]
        )


@pytest.mark.thorough
@pytest.mark.parametrize("largest", [1e-12, 1.0, 20.0, 300.0, exponential.LIMIT])
def test_each_is_as_near_as_is_said(largest: float) -> None:
    x = np.random.default_rng(5).uniform(-largest, largest, 3000) / exponential.UNIT
    found = x.copy()
    exponential.exponentiate(found, exponential.room())
    assert np.abs(errors(x, found)).max() < WITHIN


def test_where_the_rounding_turns() -> None:
    """Halves, where r changes its sign; whole numbers; a power of two, where i begins anew."""
    whole = np.array([-(2**exponential.BITS), -1, 0, 1, 2**exponential.BITS - 1, 2**exponential.BITS], float)
    x = np.concatenate([whole, whole + 0.5, np.nextafter(whole + 0.5, np.inf), np.nextafter(whole + 0.5, -np.inf)])
    found = x.copy()
    exponential.exponentiate(found, exponential.room())
    assert np.abs(errors(x, found)).max() < WITHIN


def test_many_are_taken_in_pieces_and_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponential, "PIECE", 7)
    x = np.linspace(-9, 9, 30).reshape(5, 6)
    found = x / exponential.UNIT
    exponential.exponentiate(found, exponential.room())
    np.testing.assert_allclose(found, np.exp(x), rtol=2 * WITHIN)


def test_the_kernel_asks_for_nothing_beyond_the_limit() -> None:
    assert fused.SAFE["float64"] <= exponential.LIMIT


@pytest.mark.parametrize(
    ("targets", "pays"),
    [
        ({"exp": {"dd": {"current": "FMA3__AVX2", "available": "AVX512_SKX FMA3__AVX2 baseline"}}}, True),
        ({"exp": {"dd": {"current": "X86_V3", "available": "X86_V4 X86_V3 baseline"}}}, True),
        ({"exp": {"dd": {"current": "AVX512_SKX", "available": "AVX512_SKX FMA3__AVX2 baseline"}}}, False),
        ({"exp": {"dd": {"current": "X86_V4", "available": "X86_V4 X86_V3 baseline"}}}, False),
        ({}, True),
    ],
    ids=["AVX2 of NumPy 2.0", "AVX2 of NumPy 2.4", "AVX-512 of NumPy 2.0", "AVX-512 of NumPy 2.4", "another processor"],
)
def test_it_is_taken_where_numpy_has_no_better(
    monkeypatch: pytest.MonkeyPatch, targets: dict[str, Any], *, pays: bool
) -> None:
    monkeypatch.setattr(np.lib.introspect, "opt_func_info", lambda **_: targets)
    assert exponential.pays() is pays
