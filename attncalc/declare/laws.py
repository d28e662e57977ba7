"""What a law of a calculation is written with: results on both sides, and that they are the same.

A law is one line beside the definition, `"a shift changes nothing": lambda f, x, c: same(f(x + c), f(x))`. `f` is the
calculation; the other parameters are its operands in their declared shapes, whole numbers for its options, and `c`, a
number above 0. A test draws them at random, and the reference card names the laws that it has proved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attncalc.common.arrays import Array
from attncalc.record.trace import Trace

Law = Callable[..., bool]
"""(the calculation, operands and options by their names) → whether it holds for them."""

TOLERANCE = 1e-9  # of the largest number of either side


def same(left: Any, right: Any) -> bool:
    """Whether two results (or arrays, or numbers) agree but for rounding."""
    left, right = value(left), value(right)
    return bool(np.all(np.abs(left - right) <= _slack(left, right)))


def at_most(left: Any, right: Any) -> bool:
    """Whether no entry of the left is larger than that of the right, but for rounding."""
    left, right = value(left), value(right)
    return bool(np.all(left <= right + _slack(left, right)))


def value(side: Any) -> Array:
    """A result's value; arrays and numbers are themselves."""
    return side.result if isinstance(side, Trace) else np.asarray(side)


def _slack(left: Array, right: Array) -> float:
    return TOLERANCE * max(1.0, float(np.max(np.abs(left), initial=0)), float(np.max(np.abs(right), initial=0)))


def shares(x: Array) -> Array:
    """Numbers made into shares that are positive and sum to 1 along the last axis."""
    grown = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def shuffled(*arrays: Array) -> list[Array]:
    """Arrays of as many rows, their rows in another order, the same for all of them."""
    order = np.random.default_rng(len(arrays[0])).permutation(len(arrays[0]))
    return [array[order] for array in arrays]


def alike_along_diagonals(table: Any) -> bool:
    """Whether each entry is that one row up and one column to the left: it depends on i − j alone."""
    square = value(table)
    return same(square[..., 1:, 1:], square[..., :-1, :-1])


def one_right(x: Array) -> Array:
    """1 where the largest of each row stands, else 0."""
    return np.asarray(np.eye(x.shape[-1])[x.argmax(axis=-1)])
