"""Operands turned and indexed, their labels and written entries moving along."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attncalc.arrays import Array
from attncalc.errors import InputError
from attncalc.inputs.fitting import moved, noted
from attncalc.inputs.names import part_of
from attncalc.text import both, near, quoted, visible

if TYPE_CHECKING:
    from attncalc.trace import Given


def transposed(given: Given, name: str) -> Given:
    """The operand with its last two axes swapped."""
    ndim = given.value.ndim
    if ndim < 2:
        raise InputError(f"{name} has no two axes to transpose", hint=f"leave {name} out of --transpose")
    swapped = {axis: axis for axis in range(ndim - 2)} | {ndim - 2: ndim - 1, ndim - 1: ndim - 2}
    return noted(moved(given, lambda array: array.swapaxes(-1, -2), swapped), "transposed")


def indexed(given: Given, index: Sequence[int]) -> Given:
    """The entry of the leading axis at each index in turn; negative ones count from the end."""
    for i in index:
        size = given.value.shape[0] if given.value.ndim else 0
        if not -size <= i < size:
            there = f"its leading axis goes from 0 to {size - 1}" if size else "it is a single number"
            raise InputError(f"{given.source} has no [{i}]: {there}")
        given = moved(given, partial(_entry, i), {axis: axis - 1 for axis in range(1, given.value.ndim)})
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
            hint=f"{part_of(given.source, '')}[{label}] is the entry at {label}, counted from 0"
            if label.isdecimal() and label.isascii()
            else "a table's first column is read as labels where it holds no number, or with --labels",
        )
    if not found:
        known = ", ".join(visible(word, 40) for word in labels[:10])
        raise InputError(f"{given.source} has no row {quoted(label)}", hint=near(label, labels) or f"it has {known}")
    row = moved(given, partial(_entry, found[0]), {axis: axis - 1 for axis in range(1, given.value.ndim)})
    return row._replace(source=f"{given.source}#{visible(label)}", note="")


def _entry(i: int, array: Array) -> Array:
    return np.asarray(array[i], dtype=array.dtype)
