"""Operands drawn anew: numbers of the same sort as those of a problem, in its sizes or in others.

Classes stay classes, shares that sum to 1 still do, masks and formulas are kept; any other number becomes a small
whole one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.axes import Axes
from attncalc.calculation import Calculation, Operand
from attncalc.errors import OptionError
from attncalc.problem import Problem
from attncalc.trace import Given

Array = NDArray[Any]
Random = np.random.Generator

LARGEST = {"easy": 2, "medium": 3, "hard": 5}
"""The largest whole number that an operand may have; easy ones are not below 0, hard ones have halves too."""


def redrawn(
    problem: Problem, axes: Mapping[str, Axes], random: Random, sizes: Mapping[str, int], level: str = "medium"
) -> dict[str, Given]:
    """The operands with other numbers; `sizes` are those of axes that are to be others.

    Raises OptionError where an operand whose entries mean something would have to be of another size.
    """
    return {name: Given(_operand(name, problem, axes, sizes, level, random)) for name in problem.inputs}


def _operand(
    name: str, sample: Problem, axes: Mapping[str, Axes], sizes: Mapping[str, int], level: str, random: Random
) -> Array:
    """An operand of the sample's sort, drawn anew."""
    value, own = sample.inputs[name].value, axes.get(name, ())
    operand = sample.calculation.operand(name)
    shape = tuple(_size(axis, sizes) for axis in own) if len(own) == value.ndim else value.shape
    if operand is None or value.dtype.kind in "OUb" or operand.kind in ("mask", "expression"):
        if shape != value.shape:
            raise OptionError(f"{name} keeps its size: its entries mean something")
        return value
    return _entries(operand, value, shape, _places(operand, sample.calculation, axes, sizes), level, random)


def _size(axis: Any, sizes: Mapping[str, int]) -> int:
    if axis.parts:
        return int(np.prod([_size(part, sizes) for part in axis.parts]))
    return sizes.get(axis.name, int(axis.size))


def _places(operand: Operand, calculation: Calculation, axes: Mapping[str, Axes], sizes: Mapping[str, int]) -> int:
    """How many classes, or tokens, there are to point at: the last axis of what is pointed into."""
    for name in ("table", "logits", "probabilities"):
        if name in axes and name != operand.name and calculation.operand(name):
            axis = axes[name][-2 if name == "table" else -1]
            return _size(axis, sizes)
    return 0


def _entries(operand: Operand, value: Array, shape: tuple[int, ...], places: int, level: str, random: Random) -> Array:
    numbers = value.astype(np.float64)
    share = bool((numbers >= 0).all() and (numbers <= 1).all() and (numbers % 1 != 0).any())
    if operand.kind in ("tokens", "integers") or (operand.kind == "data" and places and _whole(numbers)):
        return random.integers(0, max(places, 2), shape).astype(value.dtype)
    if share and abs(float(numbers.sum()) - 1) < 1e-6 and numbers.ndim == 1 and len(numbers) > 1:
        return _summing_to_one(shape, random)
    if share:
        return np.asarray(random.integers(1, 10, shape) / 10)
    most = LARGEST[level]
    drawn = random.integers(0 if level == "easy" else -most, most + 1, shape).astype(np.float64)
    return drawn + 0.5 * random.integers(0, 2, shape) if level == "hard" else drawn


def _whole(numbers: Array) -> bool:
    return bool((numbers % 1 == 0).all() and (numbers >= 0).all())


def _summing_to_one(shape: tuple[int, ...], random: Random) -> Array:
    """Shares in tenths (or hundredths, where there are many) that sum to 1."""
    parts = 10 if shape[-1] <= 5 else 100
    cuts = np.sort(random.choice(np.arange(1, parts), size=shape[-1] - 1, replace=False))
    return np.asarray(np.diff([0, *cuts, parts]) / parts)
