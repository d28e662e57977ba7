"""Operands turned, indexed and reduced to vectors, their labels and written entries moving along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.errors import InputError
from attncalc.text import both, near, quoted, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        return noted(_moved(given, lambda array: array[0] if row else array[:, 0], {int(row): 0}), note)
    if value.ndim == 0 and 1 in ranks and 0 not in ranks:
        return noted(_moved(given, lambda array: array.reshape(1), {}), "a single number read as a vector of one entry")
    if value.ndim == 1 and min(ranks, default=1) == 2 and not operand.broadcasts:
        return noted(given, "a vector read as one row")
    return given


def transposed(given: Given, name: str) -> Given:
    """The operand with its last two axes swapped."""
    ndim = given.value.ndim
    if ndim < 2:
        raise InputError(f"{name} has no two axes to transpose", hint=f"leave {name} out of --transpose")
    swapped = {axis: axis for axis in range(ndim - 2)} | {ndim - 2: ndim - 1, ndim - 1: ndim - 2}
    return noted(_moved(given, lambda array: array.swapaxes(-1, -2), swapped), "transposed")


def indexed(given: Given, index: Sequence[int]) -> Given:
    """The entry of the leading axis at each index in turn; negative ones count from the end."""
    for i in index:
        size = given.value.shape[0] if given.value.ndim else 0
        if not -size <= i < size:
            there = f"its leading axis goes from 0 to {size - 1}" if size else "it is a single number"
            raise InputError(f"{given.source} has no [{i}]: {there}")
        given = _moved(given, partial(_entry, i), {axis: axis - 1 for axis in range(1, given.value.ndim)})
    return given._replace(source=given.source + "".join(f"[{i}]" for i in index))


def labelled_row(given: Given, label: str) -> Given:
    """The row that a label names; raises where there is none, or more than one."""
    labels = given.labels.get(0, ())
    found = [i for i, word in enumerate(labels) if word == label]
    if len(found) > 1:
        raise InputError(f"{given.source}: {quoted(label)} labels rows {both(str(i + 1) for i in found)}")
    if not labels:
        raise InputError(
            f"{given.source} is one array without row labels, so there is no {quoted(label)} in it",
            hint="a table's first column is read as labels where it holds no number, or with --labels",
        )
    if not found:
        known = ", ".join(visible(word, 40) for word in labels[:10])
        raise InputError(f"{given.source} has no row {quoted(label)}", hint=near(label, labels) or f"it has {known}")
    row = _moved(given, partial(_entry, found[0]), {axis: axis - 1 for axis in range(1, given.value.ndim)})
    return row._replace(source=f"{given.source}#{visible(label)}", note="")


def noted(given: Given, note: str) -> Given:
    """The operand with one more thing said of how it was read."""
    return given._replace(note="; ".join(filter(None, (given.note, note))))


def _entry(i: int, array: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(array[i], dtype=array.dtype)


def _moved(given: Given, move: Callable[[NDArray[Any]], NDArray[Any]], axes: Mapping[int, int]) -> Given:
    """The value and the written entries moved alike; `axes` says where each axis goes that does not go away."""
    return given._replace(
        value=np.asarray(move(given.value)),
        written=None if given.written is None else np.asarray(move(given.written), dtype=object),
        labels={new: given.labels[old] for old, new in axes.items() if old in given.labels},
    )
