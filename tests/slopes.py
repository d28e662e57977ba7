"""The slope of a graph, found by moving one entry at a time: the witness for every gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.evaluate.values import evaluate
from attncalc.language.graph import Node

Array = NDArray[Any]


def slope(node: Node, name: str, operands: Mapping[str, Array], upstream: Array, h: float = 1e-3) -> Array:
    """The slope of Σ upstream ⊙ node with respect to each entry of an operand, from four points beside it."""
    x = operands[name]
    result = np.empty(x.shape)

    def loss(at: tuple[int, ...], by: float) -> float:
        moved = x.copy()
        moved[at] += by
        value = evaluate([node], {**operands, name: moved})[node]
        return math.fsum((upstream * np.where(np.isfinite(value), value, 0)).ravel().tolist())

    for at in np.ndindex(x.shape):
        result[at] = (8 * (loss(at, h) - loss(at, -h)) - (loss(at, 2 * h) - loss(at, -2 * h))) / (12 * h)
    return result
