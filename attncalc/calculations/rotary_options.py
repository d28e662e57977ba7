"""The options of rotary embeddings, and whether an attention turns its queries and keys."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from attncalc.declare.operands import ABOVE_0
from attncalc.language.graph import Node

Optional = float | None


class Rotation(NamedTuple):
    """How positions turn vectors: the options of rope, which attention has under --rope-…."""

    base: Annotated[float, "frequencies are base^(−2i/d)", ABOVE_0] = 10000
    layout: Annotated[
        Literal["interleaved", "half"],
        "which two entries make a pair: (2i, 2i + 1) as in the paper, or (i, i + d/2) as in Llama",
    ] = "interleaved"
    dims: Annotated[int | None, "rotate only this many of the first dimensions"] = None
    scaling: Annotated[
        Literal["none", "base", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3"],
        "how the frequencies change for texts longer than the trained length",
    ] = "none"
    factor: Annotated[Optional, "how many times longer than the trained length the text may be", ABOVE_0] = None
    original_length: Annotated[int | None, "the trained length", ABOVE_0] = None
    length: Annotated[
        int | None, "the length of this text (dynamic, longrope); the number of positions if not given", ABOVE_0
    ] = None
    low_freq_factor: Annotated[Optional, "llama3: pairs with fewer turns than this are slowed down (1)"] = None
    high_freq_factor: Annotated[Optional, "llama3: pairs with more turns than this stay as they are (4)"] = None
    beta_fast: Annotated[Optional, "yarn: pairs with more turns than this stay as they are (32)", ABOVE_0] = None
    beta_slow: Annotated[Optional, "yarn: pairs with fewer turns than this are slowed down (1)", ABOVE_0] = None
    attention_factor: Annotated[Optional, "yarn, longrope: what cosines and sines are multiplied by", ABOVE_0] = None
    mscale: Annotated[Optional, "yarn: the attention factor's numerator, with mscale-all-dim"] = None
    mscale_all_dim: Annotated[Optional, "yarn: the attention factor's denominator"] = None
    no_truncate: Annotated[bool, "yarn: the ramp's ends are not rounded to whole pairs"] = False
    short_factor: Annotated[
        tuple[float, ...] | None, "longrope: a divisor for each pair, within the trained length"
    ] = None
    long_factor: Annotated[tuple[float, ...] | None, "longrope: a divisor for each pair, beyond it"] = None


DEFAULTS = Rotation()


class Turning(NamedTuple):
    """Whether and how an attention turns its queries and keys."""

    positions: Node | None = None
    rotation: Rotation = DEFAULTS
    on: bool = False
    at_end: bool = False  # the last query stands beside the last key


UNTURNED = Turning()
