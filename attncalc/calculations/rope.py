"""Positions that turn: rotary embeddings (RoPE), with the scalings by which models reach beyond their trained length."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Literal

from attncalc.axes import Axis
from attncalc.calculation import calculation
from attncalc.calculations.positions import powers_of
from attncalc.errors import OptionError
from attncalc.graph import Node, Number, aside, as_node, constant, constants, note, output, step
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

Optional = float | None


@dataclass(frozen=True)
class Rotation:
    """How positions turn vectors: the options of rope, which attention has under --rope-…."""

    base: Annotated[float, "frequencies are base^(−2i/d)"] = 10000
    layout: Annotated[
        Literal["interleaved", "half"], "which two make a pair: (2i, 2i + 1) as in the paper, or (i, i + d/2) as in Llama"
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
    short_factor: Annotated[tuple[float, ...] | None, "longrope: a divisor for each pair, within the trained length"] = None
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
