"""How positions turn vectors: the options of rotary embeddings, and the turning itself."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from attncalc.axes import Axis
from attncalc.calculation import ABOVE_0
from attncalc.calculations.frequencies import attention_factor, frequencies_of
from attncalc.errors import OptionError, ShapeError
from attncalc.graph import Node, output, step
from attncalc.ops import concat, cos, index, outer, part_of, rename, rotate, sin

Optional = float | None


class Rotation(NamedTuple):
    """How positions turn vectors: the options of rope, which attention has under --rope-…."""

    base: Annotated[float, "frequencies are base^(−2i/d)", ABOVE_0] = 10000
    layout: Annotated[
        Literal["interleaved", "half"],
        "which two make a pair: (2i, 2i + 1) as in the paper, or (i, i + d/2) as in Llama",
    ] = "interleaved"
    dims: Annotated[int | None, "turn the first so many dimensions only"] = None
    scaling: Annotated[
        Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"],
        "how frequencies change for longer texts than were trained on",
    ] = "none"
    factor: Annotated[Optional, "how many times longer the text may be", ABOVE_0] = None
    original_length: Annotated[int | None, "the length that was trained on", ABOVE_0] = None
    length: Annotated[
        int | None, "the length of this text (dynamic, longrope); as many as there are positions", ABOVE_0
    ] = None
    low_freq_factor: Annotated[Optional, "llama3: pairs with fewer turns than this are slowed down (1)"] = None
    high_freq_factor: Annotated[Optional, "llama3: pairs with more turns than this stay as they are (4)"] = None
    beta_fast: Annotated[Optional, "yarn: pairs with more turns than this stay as they are (32)", ABOVE_0] = None
    beta_slow: Annotated[Optional, "yarn: pairs with fewer turns than this are slowed down (1)", ABOVE_0] = None
    attention_factor: Annotated[Optional, "yarn, longrope: what cosines and sines are multiplied by", ABOVE_0] = None
    mscale: Annotated[Optional, "yarn: the attention factor's numerator, with mscale-all-dim"] = None
    mscale_all_dim: Annotated[Optional, "yarn: its denominator"] = None
    no_truncate: Annotated[bool, "yarn: the ramp's ends are not rounded to whole pairs"] = False
    short_factor: Annotated[
        tuple[float, ...] | None, "longrope: a divisor for each pair, within the trained length"
    ] = None
    long_factor: Annotated[tuple[float, ...] | None, "longrope: a divisor for each pair, beyond it"] = None


DEFAULTS = Rotation()


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
        raise OptionError(f"--dims must be an even number from 2 to {size}, the width, and not {dims}")
    if dims % 2:
        raise ShapeError(
            f"pairs are turned, and the width {X.axes[-1].name}={size} is odd",
            hint=f"--dims {size - 1} leaves the last one as it is" if size > 1 else "",
        )
    return dims


class Turning(NamedTuple):
    """Whether and how an attention turns its queries and keys."""

    positions: Node | None = None
    rotation: Rotation = DEFAULTS
    on: bool = False
    at_end: bool = False  # the last query stands beside the last key


UNTURNED = Turning()
ABOUT = (
    "Queries and keys are turned, values are not. At place p the pair i turns by p·θ_i, so that place 0 leaves a "
    "vector as it is, and the product of a query and a key depends on how far apart they are, not on where they stand."
)
"""What a teacher would add to the reason of the step."""


def rotated_queries_and_keys(Q: Node, K: Node, turning: Turning) -> tuple[Node, Node]:
    """The steps `q_rotated` and `k_rotated` of an attention, where it turns them."""
    positions, rotation = turning.positions, turning.rotation
    if not turning.on:
        if positions is not None or rotation != DEFAULTS:
            raise OptionError("--rope-… says how positions turn queries and keys, and --rope is not given")
        return Q, K
    n, m = Q.axes[-2], K.axes[-2]
    i, j = index(n.name, (n,), "i"), index(m.name, (m,), "j")
    if turning.at_end and n.size != m.size:
        i = i + (m.size - n.size)
    if positions is not None:
        if n.size != m.size:
            raise OptionError(
                f"rope_positions are those of queries and keys alike, and there are {n.size} and {m.size}"
            )
        i, j = positions, rename(positions, n.name, m.name)
    pairs = Axis("pair", rotated_dims(Q, rotation) // 2)
    length = max(n.size, m.size) if positions is None else None
    try:
        frequencies = frequencies_of(rotation, pairs, length, output)
        q, k = (_turned_by_place(X, frequencies, where, rotation) for X, where in ((Q, i), (K, j)))
    except OptionError as error:
        raise OptionError(error.message.replace("--", "--rope-"), hint=error.hint.replace("--", "--rope-")) from None
    why = "what a score sees of two places is how far they are apart"
    return step("q_rotated", q, why, about=ABOUT), step("k_rotated", k, why)


def _turned_by_place(X: Node, frequencies: Node, positions: Node, rotation: Rotation) -> Node:
    angles = outer(positions, frequencies)
    strength = attention_factor(rotation)
    cosines, sines = cos(angles), sin(angles)
    if strength is not None:
        cosines, sines = strength * cosines, strength * sines
    return turned(X, cosines, sines, rotation)
