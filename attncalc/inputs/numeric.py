"""Operands from what are numbers already, entry by entry or as an array that was stored: checked, and copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.arrays import Array
from attncalc.errors import InputError
from attncalc.inputs.arrays import index_of
from attncalc.inputs.entries import BOOLEANS_HINT, check_finite
from attncalc.text import shape_text
from attncalc.trace import Given

if TYPE_CHECKING:
    from attncalc.calculation import Kind
    from attncalc.inputs.arrays import Index, Place


def from_array(value: Array, kind: Kind, place: Place, dtype: str = "float64") -> Given:
    """An operand from an array that was stored as one: its type, size and entries are checked, and copied.

    Its numbers are widened to float64, but for those of float32 where that is computed in.
    """
    if value.dtype.kind not in "fiub":
        what = "complex numbers" if value.dtype.kind == "c" else f"{value.dtype.name} entries"
        raise InputError(f"{place(())} holds {what}, not real numbers")
    if value.size == 0:
        raise InputError(f"{place(())} is empty: its shape is {shape_text(value.shape)}")
    if value.dtype.kind == "b":
        if kind != "mask":
            raise InputError(f"{place(())} holds true and false, not numbers", hint=BOOLEANS_HINT)
        return Given(value.astype(bool))
    if kind == "tokens" and value.dtype.kind in "iu":
        return Given(value.astype(np.int64))
    numbers = value.astype("float32" if dtype == value.dtype.name == "float32" else "float64")
    _check_entries(numbers, kind, place)
    return Given(numbers.astype(np.int64) if kind == "tokens" else numbers)


def from_numbers(entries: Sequence[Any], shape: Index, kind: Kind, place: Place) -> Given:
    """An operand from numbers in order."""
    try:
        value = np.array(entries, dtype=np.float64).reshape(shape)
    except OverflowError:
        odd = next(i for i, entry in enumerate(entries) if abs(entry) >= 2**1024)
        raise InputError(f"{place(index_of(odd, shape))}: a whole number above 1.8e308 is too large") from None
    _check_entries(value, kind, place)
    return Given(value)


def _check_entries(value: Array, kind: Kind, place: Place) -> None:
    """Raise for an entry that is not finite, or not whole where whole numbers are wanted."""
    finite = np.isfinite(value)
    if not finite.all():
        for flat in np.flatnonzero(~finite):
            index = index_of(int(flat), value.shape)
            try:
                check_finite(float(value[index]), kind)
            except InputError as error:
                raise error.within(place(index)) from None
    if kind in ("integers", "tokens"):
        broken = np.flatnonzero(value % 1)
        if broken.size:
            index = index_of(int(broken[0]), value.shape)
            raise InputError(f"{place(index)}: {value[index]} is not a whole number")
