"""Operands fitted to their declared rank, turned, indexed and labelled, their written entries moving along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.errors import InputError
from attncalc.common.text import amount, both, near, quoted, visible
from attncalc.inputs.given import spoken
from attncalc.inputs.reading import matching, part_of
from attncalc.language.axes import leading_names

if TYPE_CHECKING:
    from attncalc.declare.operands import Operand
    from attncalc.record.trace import Given


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


_TOKEN_AXES = ("n", "m", "N", "T", "V")  # along which tokens or samples lie, where several operands share one list


def with_labels(
    given: Given, labels: Any, operand: Operand, place: str, *, alone: bool, axes: Sequence[str] = ()
) -> Given:
    """The operand with the labels that stand beside it; `axes` names its axes where the file does.

    A list labels the rows; in an object an axis is called by its name, or by its position from 0. Where a list stands
    beside several operands (it is not alone), it labels those that have so many rows of tokens.
    """
    if labels is None:
        return given
    names = _axis_names(operand, given.value.ndim, axes)
    if isinstance(labels, dict):
        own = matching(operand.name, labels, place)
        if own is not None and isinstance(labels[own], list | dict):
            return with_labels(given, labels[own], operand, f"{place}/{own}", alone=True, axes=axes)
        places = {str(i): i for i in range(len(names))} | {name: i for i, name in enumerate(names)}
        found = {places[key]: _words(words, f"{place}/{key}") for key, words in labels.items() if key in places}
    elif isinstance(labels, list):
        rows = max(given.value.ndim - 2, 0)
        if not given.value.ndim or not (
            alone or (names[rows] in _TOKEN_AXES and len(labels) == given.value.shape[rows])
        ):
            return given
        found = {rows: _words(labels, place)}
    else:
        raise InputError(f"{place} must be a list, or an object of axes and their lists")
    for axis, words in found.items():
        if len(words) != given.value.shape[axis]:
            raise InputError(f"{place}: {amount(len(words), 'label')} for an axis of size {given.value.shape[axis]}")
    return given._replace(labels=found)


def _axis_names(operand: Operand, ndim: int, axes: Sequence[str]) -> list[str]:
    """A name for each axis of the array, those in front of the declared ones called as a calculation calls them."""
    if not axes:
        shape = next((s for s in operand.shapes if len(s) == ndim), max(operand.shapes, key=len, default=()))
        axes = [name if isinstance(name, str) else f"({' '.join(name)})" for name in shape]
    known = list(axes)[-ndim:] if ndim else []
    extra = ndim - len(known)
    return leading_names([extra], ("b",), known)[:extra][::-1] + known


def _words(words: Any, place: str) -> tuple[str, ...]:
    if not isinstance(words, list):
        raise InputError(f"{place} must be a list of texts")
    for i, word in enumerate(words):
        if not isinstance(word, str | int | float) or isinstance(word, bool):
            raise InputError(f"{place}[{i}] is {spoken(word)}, not a text")
        if any("\ud800" <= character <= "\udfff" for character in str(word)):
            raise InputError(f"{place}[{i}]: {quoted(str(word))} holds half a character")
    return tuple(str(word) for word in words)
