"""An operand brought to the rank that is declared: a table of one row made a vector, a number one entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from attncalc.arrays import Array

if TYPE_CHECKING:
    from attncalc.calculation import Operand
    from attncalc.trace import Given


def fit(given: Given, operand: Operand, *, table: bool) -> Given:
    """The operand with the rank that is declared, where its layout leaves it open.

    A table (rows and cells, without brackets) of one row or one column is a vector where a vector is declared; a single
    number is a vector of one entry where nothing less is declared. A vector where rows are declared stays one, and
    stands for a row, which is said. Other ranks are left as they are.
    """
    ranks = {len(shape) for shape in operand.shapes}
    value = given.value
    if (
        table
        and value.ndim == 2
        and 1 in ranks
        and 1 in value.shape
        and not (operand.broadcasts and value.shape[0] > 1)
    ):
        row = value.shape[0] == 1
        note = "" if value.size == 1 else f"its one {'row' if row else 'column'} read as a vector"
        return noted(moved(given, lambda array: array[0] if row else array[:, 0], {int(row): 0}), note)
    if value.ndim == 0 and 1 in ranks and 0 not in ranks:
        return noted(moved(given, lambda array: array.reshape(1), {}), "a single number read as a vector of one entry")
    if value.ndim == 1 and min(ranks, default=1) == 2 and not operand.broadcasts:
        return noted(given, "a vector read as one row")
    return given


def noted(given: Given, note: str) -> Given:
    """The operand with one more thing said of how it was read."""
    return given._replace(note="; ".join(filter(None, (given.note, note))))


def moved(given: Given, move: Callable[[Array], Array], axes: Mapping[int, int]) -> Given:
    """The value and the written entries moved alike; `axes` says where each axis goes that does not go away."""
    return given._replace(
        value=np.asarray(move(given.value)),
        written=None if given.written is None else np.asarray(move(given.written), dtype=object),
        labels={new: given.labels[old] for old, new in axes.items() if old in given.labels},
    )
