"""What the values of a calculation are: the name that signatures give them, and the types of float that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray  # takes its time to load, and only a type checker reads it

Array: TypeAlias = "NDArray[Any]"
"""Floats, whole numbers or truths; as an array of objects, exact numbers or letters."""

DTYPES = ("float64", "float32")
"""The floating-point types that a run may be in, the usual one first."""
