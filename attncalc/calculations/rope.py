"""Positions that turn: rotary embeddings (RoPE), and the scalings that reach beyond the trained length."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from attncalc.axes import Axis
from attncalc.calculation import calculation
from attncalc.calculations.positions import powers_of
from attncalc.errors import OptionError, ShapeError
from attncalc.graph import Node, Number, as_node, aside, constant, constants, note, step
from attncalc.ops import (
    concat,
    cos,
    index,
    log,
    maximum,
    minimum,
    outer,
    part_of,
    power,
    rename,
    root_of_sum,
    rotate,
    sin,
    spread,
    sqrt,
    take,
    total,
)
from attncalc.text import either

Optional = float | None


@dataclass(frozen=True)
class Rotation:
    """How positions turn vectors: the options of rope, which attention has under --rope-…."""

    base: Annotated[float, "frequencies are base^(−2i/d)"] = 10000
    layout: Annotated[
        Literal["interleaved", "half"],
        "which two make a pair: (2i, 2i + 1) as in the paper, or (i, i + d/2) as in Llama",
    ] = "interleaved"
    dims: Annotated[int | None, "turn the first so many dimensions only"] = None
    scaling: Annotated[
        Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"],
        "how frequencies change for longer texts than were trained on",
    ] = "none"
    factor: Annotated[Optional, "how many times longer the text may be"] = None
    original_length: Annotated[int | None, "the length that was trained on"] = None
    length: Annotated[int | None, "the length of this text (dynamic, longrope); as many as there are positions"] = None
    low_freq_factor: Annotated[Optional, "llama3: pairs with fewer turns than this are slowed down (1)"] = None
    high_freq_factor: Annotated[Optional, "llama3: pairs with more turns than this stay as they are (4)"] = None
    beta_fast: Annotated[Optional, "yarn: pairs with more turns than this stay as they are (32)"] = None
    beta_slow: Annotated[Optional, "yarn: pairs with fewer turns than this are slowed down (1)"] = None
    attention_factor: Annotated[Optional, "yarn, longrope: what cosines and sines are multiplied by"] = None
    mscale: Annotated[Optional, "yarn: the attention factor's numerator, with mscale-all-dim"] = None
    mscale_all_dim: Annotated[Optional, "yarn: its denominator"] = None
    no_truncate: Annotated[bool, "yarn: the ramp's ends are not rounded to whole pairs"] = False
    short_factor: Annotated[
        tuple[float, ...] | None, "longrope: a divisor for each pair, within the trained length"
    ] = None
    long_factor: Annotated[tuple[float, ...] | None, "longrope: a divisor for each pair, beyond it"] = None


_OWN = {
    "low_freq_factor": ("llama3",),
    "high_freq_factor": ("llama3",),
    "beta_fast": ("yarn",),
    "beta_slow": ("yarn",),
    "attention_factor": ("yarn", "longrope"),
    "mscale": ("yarn",),
    "mscale_all_dim": ("yarn",),
    "no_truncate": ("yarn",),
    "short_factor": ("longrope",),
    "long_factor": ("longrope",),
}
"""The options that belong to some scalings only."""

_NEEDS = {
    "none": (),
    "base": ("factor",),
    "linear": ("factor",),
    "ntk": ("factor",),
    "dynamic": ("factor", "original_length"),
    "yarn": ("factor", "original_length"),
    "longrope": ("short_factor", "long_factor", "original_length"),
    "llama3": ("factor", "original_length"),
}
"""What each scaling cannot do without."""

Named = Callable[[str, Node, str], Node]
"""`step`, or `output` where the step is not to be shown: (name, value, why) → the named value."""


def frequencies_of(rotation: Rotation, pairs: Axis, length: int | None, named: Named = step) -> Node:
    """The frequency of every pair, after scaling; `length` is that of the text, where it is known."""
    _check(rotation)
    width = 2 * pairs.size
    plain = powers_of(as_node(rotation.base), pairs, width)
    value = _scaled(rotation, plain, pairs, length, named)
    return named("frequencies", value, "the first pair turns fastest; each pair has a frequency of its own")


def _scaled(rotation: Rotation, plain: Node, pairs: Axis, length: int | None, named: Named) -> Node:
    """The frequencies as the scaling has them, as in Hugging Face transformers' modeling_rope_utils."""
    base, factor, scaling = as_node(rotation.base), rotation.factor, rotation.scaling
    if scaling == "none":
        return plain
    width = 2 * pairs.size
    if scaling == "longrope":
        return plain / _divisors(rotation, pairs, length)
    if scaling == "dynamic":
        assert factor is not None
        assert rotation.original_length is not None
        text = max(_length(rotation, length), rotation.original_length)
        stretched = as_node(factor) * text / rotation.original_length - (as_node(factor) - 1)
        return powers_of(base * power(stretched, _exponent(width)), pairs, width)
    factor_ = as_node(_factor(rotation))
    if scaling == "base":
        return powers_of(factor_ * base, pairs, width)
    if scaling == "ntk":
        return powers_of(base * power(factor_, _exponent(width)), pairs, width)
    if scaling == "linear":
        return plain / factor_
    unscaled = named("unscaled", plain, "the frequencies that were trained")
    turns = _yarn_ramp if scaling == "yarn" else _llama3_ramp
    kept = named("kept", turns(rotation, unscaled, pairs), "pairs that turn often stay as they are, slow ones stretch")
    return unscaled * kept + unscaled / factor_ * (1 - kept)


def _exponent(width: int) -> Node:
    """d / (d − 2): the base grows so that the last pair is slowed down by the factor, and the first not at all."""
    d = Node("size", axes=(), axis=Axis("d", width))
    return d / (d - 2)


def _clipped(x: Node) -> Node:
    return minimum(maximum(x, 0), 1)


def _yarn_ramp(rotation: Rotation, unscaled: Node, pairs: Axis) -> Node:
    """How much of each frequency YaRN keeps: all up to the pair `low`, nothing from `high` on."""
    width = 2 * pairs.size
    low, high = (
        width * math.log((rotation.original_length or 0) / (turns * 2 * math.pi)) / (2 * math.log(rotation.base))
        for turns in (rotation.beta_fast or 32, rotation.beta_slow or 1)
    )
    if not rotation.no_truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low == high:
        high += 0.001  # as in transformers, so that nothing is divided by 0
    i = index(pairs.name, (pairs,), "i")
    return 1 - _clipped((i - low if low else i) / (high - low))


def _llama3_ramp(rotation: Rotation, unscaled: Node, pairs: Axis) -> Node:
    """How much of each frequency Llama 3.1 keeps, by how often the pair turned within the trained length."""
    low = 1 if rotation.low_freq_factor is None else rotation.low_freq_factor
    high = 4 if rotation.high_freq_factor is None else rotation.high_freq_factor
    if not low < high:
        raise OptionError(f"--low-freq-factor must be below --high-freq-factor, and they are {low} and {high}")
    turns = as_node(rotation.original_length or 0) * unscaled / (2 * constant(math.pi, "π"))
    return _clipped((turns - low) / (as_node(high) - low))


def _divisors(rotation: Rotation, pairs: Axis, length: int | None) -> Node:
    """LongRoPE's divisor of each pair: one list within the trained length, another beyond it."""
    assert rotation.original_length is not None
    long = _length(rotation, length) > rotation.original_length
    name = "long_factor" if long else "short_factor"
    given = rotation.long_factor if long else rotation.short_factor
    assert given is not None
    if len(given) != pairs.size:
        raise OptionError(f"--{name.replace('_', '-')} has {len(given)} numbers, and there are {pairs.size} pairs")
    return constants(given, pairs, name)


def _length(rotation: Rotation, length: int | None) -> int:
    if rotation.length is not None:
        return rotation.length
    if length is None:
        raise OptionError(f"--length must say how long the text is: --scaling {rotation.scaling} goes by it")
    return length


def _factor(rotation: Rotation) -> Number:
    """How many times longer the text may be: as given, or by its length."""
    if rotation.factor is not None:
        return rotation.factor
    assert rotation.length is not None
    assert rotation.original_length is not None
    return Fraction(rotation.length, rotation.original_length)


def attention_factor(rotation: Rotation) -> Node | None:
    """What YaRN and LongRoPE multiply cosines and sines by; None where it is 1."""
    if rotation.scaling not in ("yarn", "longrope"):
        return None
    if rotation.attention_factor is not None:
        return as_node(rotation.attention_factor)
    if rotation.scaling == "longrope" and rotation.factor is None and rotation.length is None:
        raise OptionError("--factor (or --length) must be given, for longrope's attention factor goes by it")
    factor = _factor(rotation)
    if factor <= 1:
        return None
    if rotation.scaling == "longrope":
        return sqrt(1 + log(as_node(factor)) / log(as_node(rotation.original_length or 0)))
    if rotation.mscale and rotation.mscale_all_dim:
        return _yarn_factor(factor, rotation.mscale) / _yarn_factor(factor, rotation.mscale_all_dim)
    return _yarn_factor(factor)


def _yarn_factor(factor: Number, scale: float = 1) -> Node:
    return as_node(0.1 * scale) * log(as_node(factor)) + 1


def _check(rotation: Rotation) -> None:
    """Refuse options that are missing, out of range, or another scaling's."""
    default = Rotation()
    for name, scalings in _OWN.items():
        if getattr(rotation, name) != getattr(default, name) and rotation.scaling not in scalings:
            raise OptionError(
                f"{_flag(name)} goes with --scaling {either(scalings)}, and the scaling is {rotation.scaling}"
            )
    if rotation.factor is not None and rotation.scaling == "none":
        raise OptionError("--factor goes with --scaling, and none is given", hint="--scaling linear is the simplest")
    for name in _NEEDS[rotation.scaling]:
        by_length = name == "factor" and rotation.scaling == "yarn" and rotation.length and rotation.original_length
        if getattr(rotation, name) is None and not by_length:
            raise OptionError(f"--scaling {rotation.scaling} needs {_flag(name)}")
    for name in ("base", "factor", "original_length", "length", "beta_fast", "beta_slow", "attention_factor"):
        value = getattr(rotation, name)
        if value is not None and not value > 0:
            raise OptionError(f"{_flag(name)} must be greater than 0, and not {value}")
    if rotation.scaling == "yarn" and rotation.base == 1:
        raise OptionError("--base must not be 1 for yarn: all pairs would turn alike")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


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


def turn_by_place(X: Node, frequencies: Node, positions: Node, rotation: Rotation) -> Node:
    """X turned by its places, as a part of another calculation, without steps of its own."""
    angles = outer(positions, frequencies)
    strength = attention_factor(rotation)
    cosines, sines = cos(angles), sin(angles)
    if strength is not None:
        cosines, sines = strength * cosines, strength * sines
    return turned(X, cosines, sines, rotation)


@calculation(
    x="n d",
    positions="n",
    leading=("h",),
    reference="Su et al. 2021, RoFormer, eq. 15 and 34; scalings as in Hugging Face transformers, modeling_rope_utils",
)
def rope(
    X: Annotated[Node, "queries or keys, one a row: a head's vectors, since the frequencies go by their width"],
    positions: Annotated[Node | None, "each row's position; 0, 1, 2 … where they are not given"] = None,
    *,
    rotation: Annotated[Rotation, ""] = Rotation(),
    inverse: Annotated[bool, "turn back"] = False,
    properties: Annotated[bool, "show that lengths are kept, and that q_m·k_n depends on m − n alone"] = False,
) -> Node:
    """Turn pairs of a vector by angles that grow with its position, so that dot products tell how far two are apart.

    The pair (a, b) number i at position p becomes (a·cos pθ − b·sin pθ, a·sin pθ + b·cos pθ) with θ = base^(−2i/d).
    d is the width of the vector that is turned (a head's, not the model's), and positions begin at 0. Which two make a
    pair is a convention: neighbours (the paper, GPT-J) or entries half the width apart (GPT-NeoX, Llama in
    transformers). Queries and keys are turned, values are not.
    """
    place = X.axes[-2]
    pairs = Axis("pair", rotated_dims(X, rotation) // 2)
    length = place.size if positions is None else None
    frequencies = frequencies_of(rotation, pairs, length)
    where = index(place.name, (place,), "p") if positions is None else positions
    angles = step("angles", outer(where, frequencies), "a place further on means an angle further, in radians")
    strength = attention_factor(rotation)
    if strength is not None and inverse:
        strength = 1 / strength
    cosines, sines = cos(angles), sin(angles)
    if strength is not None:
        note("cosines and sines carry the attention factor: lengths change by it, and scores by its square")
        cosines, sines = strength * cosines, strength * sines
    cosines = step("cosines", cosines, "how much of an entry stays with it")
    sines = step("sines", sines, "how much goes over to the other one of the pair")
    result = step(
        "rotated",
        turned(X, cosines, -sines if inverse else sines, rotation),
        "the pair turns back by the same angle" if inverse else "the length stays, the direction tells the place",
    )
    if properties:
        _properties(X, cosines, sines, rotation, result)
    return result


def _properties(X: Node, cosines: Node, sines: Node, rotation: Rotation, result: Node) -> None:
    aside("norms", root_of_sum(total(X**2), X, 2), "the lengths before")
    aside("rotated_norms", root_of_sum(total(result**2), result, 2), "the lengths after: a turn keeps them")
    name, rows = X.names[-2], X.axes[-2].size
    q, k = (turned(spread(take(X, name, i), X.axes), cosines, sines, rotation) for i in (0, rows > 1))
    aside(
        "products",
        q @ rename(k, name, "m").T,
        "one query at every place against one key at every place: the same along each diagonal, whatever the place",
    )
