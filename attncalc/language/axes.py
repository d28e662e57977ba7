"""Named axes: they check shapes, and give formulas their sizes, tables their headings and errors their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import ShapeError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple


class Axis(NamedTuple):
    """A named axis; a composite axis, such as `(h d_k)` for heads side by side, knows its parts."""

    name: str
    size: int
    parts: tuple[Any, ...] = ()  # of Axis; a NamedTuple cannot name itself


Axes = tuple[Axis, ...]


def composite(*parts: Axis) -> Axis:
    """The axis that holds its parts side by side, the last one running fastest."""
    size = 1
    for part in parts:
        size *= part.size
    return Axis(f"({' '.join(part.name for part in parts)})", size, parts)


def names(axes: Axes) -> tuple[str, ...]:
    """The axes' names, in order."""
    return tuple(axis.name for axis in axes)


def describe(axes: Axes) -> str:
    """`n=3 × d_k=4`, or `a single number`."""
    return " × ".join(f"{axis.name}={axis.size}" for axis in axes) or "a single number"


def find(axes: Axes, name: str) -> Axis:
    """The axis called `name`."""
    for axis in axes:
        if axis.name == name:
            return axis
    raise ShapeError(f"there is no axis {name} among {describe(axes)}")


def position(axes: Axes, name: str) -> int:
    """The position of `name`, counted from the right (−1 is last), so that leading axes may be added or removed."""
    return names(axes).index(find(axes, name).name) - len(axes)


def without(axes: Axes, *dropped: str) -> Axes:
    """The axes except the named ones."""
    return tuple(axis for axis in axes if axis.name not in dropped)


def unique(axes: Axes) -> Axes:
    """The axes themselves; raise ShapeError if two share a name."""
    if len(set(names(axes))) < len(axes):
        raise ShapeError(f"two axes would share a name: {describe(axes)}")
    return axes


def together(*several: Axes) -> Axes:
    """The axes of an elementwise result: one operand's axes must include all others', and sizes must agree."""
    widest = max(several, key=len)
    for axes in several:
        for axis in axes:
            same = next((other for other in widest if other.name == axis.name), None)
            if same is None:
                raise ShapeError(f"neither side has all the axes of the other ({axis.name} is on one side only)")
            if same.size != axis.size:
                raise ShapeError(f"{axis.name} must be of one size")
    return widest


def align(value: Array, axes: Axes, target: Axes) -> Array:
    """The value transposed and reshaped so that NumPy broadcasts it against `target` by the axes' names.

    Unnamed axes in front (a batch of rounding policies) stay in front.
    """
    if axes == target:
        return value
    extra = value.ndim - len(axes)
    mine, theirs = names(axes), names(target)
    if not extra and theirs[len(theirs) - len(mine) :] == mine:
        return value
    order = [mine.index(name) for name in theirs if name in mine]
    moved = value.transpose([*range(extra), *(extra + i for i in order)])
    sizes = dict(zip([mine[i] for i in order], moved.shape[extra:], strict=True))
    return moved.reshape(*moved.shape[:extra], *(sizes.get(name, 1) for name in theirs))


def bind(
    shape: Sequence[int],
    declared: Sequence[str | tuple[str, ...]],
    *,
    leading: Sequence[str] = (),
    known: dict[str, int],
) -> Axes:
    """The named axes of a value of this shape, read from the right.

    Axes in front of the declared ones get the names in `leading` (innermost first). The sizes of parts of composite
    axes follow from those in `known`, and are added there: `(h d_k)` of size 6 with h=2 gives d_k=3.
    """
    extra = len(shape) - len(declared)
    front = tuple(Axis(leading[extra - 1 - i], shape[i]) for i in range(extra))
    return unique(front + tuple(_bound(name, size, known) for name, size in zip(declared, shape[extra:], strict=True)))


def _bound(declared: str | tuple[str, ...], size: int, known: dict[str, int]) -> Axis:
    if isinstance(declared, str):
        return Axis(declared, size)
    unknown = [name for name in declared if name not in known]
    have = int(np.prod([known[name] for name in declared if name in known]))
    if not unknown and have == size:
        pass
    elif len(unknown) == 1 and size % have == 0:
        known[unknown[0]] = size // have
    else:
        rule = " × ".join(f"{name}={known[name]}" if name in known else name for name in declared)
        raise ShapeError(f"an axis of {size} cannot be split into {rule}")
    return composite(*(Axis(name, known[name]) for name in declared))


def leading_names(ranks: Iterable[int], pool: Sequence[str], taken: Iterable[str]) -> list[str]:
    """Names for up to max(ranks) leading axes, the innermost first; two of them are heads and batch."""
    most = max(ranks, default=0)
    chosen = list(pool) if most == 1 else ["h", "b"]
    chosen += [f"b{i}" for i in range(2, most + 1)]
    used = set(taken)
    return [f"{name}_" if name in used else name for name in chosen]
