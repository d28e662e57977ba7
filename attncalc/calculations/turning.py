"""Vectors turned by their places: pairs of entries by angles that grow with the position."""

from __future__ import annotations

from attncalc.calculations.frequencies import attention_factor, frequencies_of
from attncalc.calculations.rotary_options import Rotation, Turning
from attncalc.common.errors import OptionError, ShapeError
from attncalc.common.text import amount
from attncalc.language.axes import Axis
from attncalc.language.graph import Node
from attncalc.language.ops import concat, cos, index, outer, part_of, rename, rotate, sin
from attncalc.language.steps import output, step

ABOUT = (
    "Queries and keys are rotated, values are not. At position p pair i is rotated by the angle p·θ_i, so position 0 "
    "leaves a vector as it is, and the dot product of a query and a key depends only on how far apart they are."
)
"""What a teacher would add to the reason of the step."""


def queries_and_keys(Q: Node, K: Node, turning: Turning) -> tuple[Node, Node]:
    """The steps `q_rotated` and `k_rotated` of an attention."""
    positions, rotation = turning.positions, turning.rotation
    n, m = Q.axes[-2], K.axes[-2]
    i, j = index(n.name, (n,), "i"), index(m.name, (m,), "j")
    if turning.at_end and n.size != m.size:
        i = i + (m.size - n.size)
    if positions is not None:
        if n.size != m.size:
            raise OptionError(
                f"rope_positions apply to queries and keys alike, and there are "
                f"{amount(n.size, 'query', 'queries')} and {amount(m.size, 'key')}"
            )
        i, j = positions, rename(positions, n.name, m.name)
    pairs = Axis("pair", rotated_dims(Q, rotation) // 2)
    length = max(n.size, m.size) if positions is None else None
    try:
        frequencies = frequencies_of(rotation, pairs, length, output)
        q, k = (_turned_by_place(X, frequencies, where, rotation) for X, where in ((Q, i), (K, j)))
    except OptionError as error:
        raise OptionError(error.message.replace("--", "--rope-"), hint=error.hint.replace("--", "--rope-")) from None
    why = "a score then depends on how far apart query and key are, not on where they are"
    return step("q_rotated", q, why, about=ABOUT), step("k_rotated", k, why)


def _turned_by_place(X: Node, frequencies: Node, positions: Node, rotation: Rotation) -> Node:
    cosines, sines = cosines_and_sines(outer(positions, frequencies), attention_factor(rotation))
    return turned(X, cosines, sines, rotation)


def cosines_and_sines(angles: Node, strength: Node | None) -> tuple[Node, Node]:
    """What pairs are turned with, times the attention factor where there is one."""
    cosines, sines = cos(angles), sin(angles)
    return (cosines, sines) if strength is None else (strength * cosines, strength * sines)


def turned(X: Node, cosines: Node, sines: Node, rotation: Rotation) -> Node:
    """The vectors of X with each of their pairs turned; dimensions behind the first `dims` stay as they are."""
    name, size = X.axes[-1][:2]
    dims = rotated_dims(X, rotation)
    pairs = rotate(part_of(X, name, 0, dims), cosines, sines, rotation.layout)
    return pairs if dims == size else concat([pairs, part_of(X, name, dims, size)], name)


def rotated_dims(X: Node, rotation: Rotation) -> int:
    """How many dimensions are turned: an even number of them."""
    size = X.axes[-1].size
    dims = size if rotation.dims is None else rotation.dims
    if rotation.dims is not None and (dims % 2 or not 2 <= dims <= size):
        raise OptionError(f"--dims must be an even number from 2 to {size}, the width, not {dims}")
    if dims % 2:
        raise ShapeError(
            f"pairs are rotated, but the width {X.axes[-1].name}={size} is odd",
            hint=f"--dims {size - 1} leaves the last one unpaired" if size > 1 else "",
        )
    return dims
