"""Labels written beside an array in a JSON object: `"labels": ["the", "cat"]` for its rows, or `{axis: [...]}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attncalc.axes import leading_names
from attncalc.errors import InputError
from attncalc.inputs.arrays import spoken
from attncalc.inputs.names import matching
from attncalc.text import amount, quoted

if TYPE_CHECKING:
    from attncalc.calculation import Operand
    from attncalc.trace import Given

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
