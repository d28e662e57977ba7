"""What the values of a calculation are: the names that signatures give them, and the types of float that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # NumPy's types take their time to load, and only a type checker reads these
    from collections.abc import Mapping
    from decimal import Decimal
    from fractions import Fraction
    from os import PathLike
    from typing import Protocol

    from numpy.typing import NDArray

    class HasArray(Protocol):
        """What NumPy can read: its own arrays, and those of PyTorch, pandas and others."""

        def __array__(self) -> NDArray[Any]: ...

    class Listed(Protocol):
        """Numbers in lists or tuples, in as many levels as one likes; no text alone, and no dictionary."""

        def __len__(self) -> int: ...
        def __contains__(self, item: object, /) -> bool: ...
        def count(self, item: Any, /) -> int: ...  # noqa: D102  (a dictionary has none)
        def __getitem__(self, index: int, /) -> Entry | Listed: ...

    Number = float | Fraction | Decimal
    Entry = complex | Fraction | Decimal | HasArray | str

Array: TypeAlias = "NDArray[Any]"
"""Floats, whole numbers or truths; as an array of objects, exact numbers or letters."""

Numbers: TypeAlias = "complex | Fraction | Decimal | HasArray | Listed"
"""What an operand may be in Python: an array, a number, or numbers in lists; exact ones too."""

Answers: TypeAlias = "Numbers | str | PathLike[str] | Mapping[str, object]"
"""What may be marked: a result, steps by their names, a sheet or the path of one."""

DTYPES = ("float64", "float32")
"""The floating-point types that a run may be in, the usual one first."""
