"""The frequencies of sinusoidal and rotary positions, and the scalings that reach beyond the trained length.

The scalings are those of Hugging Face transformers, modeling_rope_utils.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from attncalc.calculations.rotary_options import Rotation
from attncalc.common.errors import OptionError
from attncalc.common.text import amount, either, flag
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, Number, as_node, constants, named_size
from attncalc.language.ops import index, log, maximum, minimum, pi, power, sqrt
from attncalc.language.steps import note, step

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


def powers_of(base: Node, pairs: Axis, width: Node) -> Node:
    """One frequency for each pair of a vector: base^(−2i/d), where i counts pairs and not columns."""
    return base ** -(2 * index(pairs.name, (pairs,), "i") / width)


def frequencies_of(rotation: Rotation, pairs: Axis, length: int | None, named: Named = step) -> Node:
    """The frequency of every pair, after scaling; `length` is that of the text, where it is known."""
    _check(rotation)
    width = _width(rotation, pairs)
    plain = powers_of(as_node(rotation.base), pairs, width)
    value = _scaled(rotation, plain, pairs, length, named)
    return named("frequencies", value, "the first pair rotates fastest; each pair has its own frequency")


def _scaled(rotation: Rotation, plain: Node, pairs: Axis, length: int | None, named: Named) -> Node:
    """The frequencies as the scaling has them, as in Hugging Face transformers' modeling_rope_utils."""
    base, factor, scaling = as_node(rotation.base), rotation.factor, rotation.scaling
    if scaling == "none":
        return plain
    width = _width(rotation, pairs)
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
    unscaled = named("unscaled", plain, "the frequencies as trained")
    turns = _yarn_ramp if scaling == "yarn" else _llama3_ramp
    kept = named(
        "kept",
        turns(rotation, unscaled, pairs),
        "the share kept of each frequency: fast pairs stay as they are, slow ones are stretched",
    )
    return unscaled * kept + unscaled / factor_ * (1 - kept)


def _width(rotation: Rotation, pairs: Axis) -> Node:
    """How many dimensions are rotated: d, or the first `dims` of them."""
    return named_size("d" if rotation.dims is None else "dims", 2 * pairs.size)


def _exponent(d: Node) -> Node:
    """d / (d − 2): the base grows so that the last pair is slowed down by the factor, and the first not at all."""
    return d / (d - 2)


def _clipped(x: Node) -> Node:
    return minimum(maximum(x, 0), 1)


def _yarn_ramp(rotation: Rotation, unscaled: Node, pairs: Axis) -> Node:
    """How much of each frequency YaRN keeps: all up to the pair `low`, nothing from `high` on."""
    width = 2 * pairs.size
    fast, slow = rotation.beta_fast or 32, rotation.beta_slow or 1
    low, high = (
        width * math.log((rotation.original_length or 0) / (turns * 2 * math.pi)) / (2 * math.log(rotation.base))
        for turns in (fast, slow)
    )
    if not rotation.no_truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low == high:
        high += 0.001  # as in transformers, so that nothing is divided by 0
    note(
        f"yarn keeps the pairs up to {low:g} and slows down those from {high:g} on: pair "
        f"d·ln(L/(2π·turns))/(2·ln base) makes {fast:g} and {slow:g} turns in the L = {rotation.original_length} "
        f"positions of training"
    )
    i = index(pairs.name, (pairs,), "i")
    return 1 - _clipped((i - low if low else i) / (high - low))


def _llama3_ramp(rotation: Rotation, unscaled: Node, pairs: Axis) -> Node:
    """How much of each frequency Llama 3.1 keeps, by how often the pair turned within the trained length."""
    low = 1 if rotation.low_freq_factor is None else rotation.low_freq_factor
    high = 4 if rotation.high_freq_factor is None else rotation.high_freq_factor
    if not low < high:
        raise OptionError(f"--low-freq-factor must be below --high-freq-factor, but they are {low} and {high}")
    turns = as_node(rotation.original_length or 0) * unscaled / (2 * pi())
    return _clipped((turns - low) / (as_node(high) - low))


def _divisors(rotation: Rotation, pairs: Axis, length: int | None) -> Node:
    """LongRoPE's divisor of each pair: one list within the trained length, another beyond it."""
    assert rotation.original_length is not None
    long = _length(rotation, length) > rotation.original_length
    name = "long_factor" if long else "short_factor"
    given = rotation.long_factor if long else rotation.short_factor
    assert given is not None
    if len(given) != pairs.size:
        raise OptionError(f"{flag(name)} has {amount(len(given), 'number')} for {amount(pairs.size, 'pair')}")
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
    from fractions import Fraction  # heavy for its size, and few texts are that long

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
    default = type(rotation)()
    for name, scalings in _OWN.items():
        if getattr(rotation, name) != getattr(default, name) and rotation.scaling not in scalings:
            raise OptionError(
                f"{flag(name)} goes with --scaling {either(scalings)}, but the scaling is {rotation.scaling}"
            )
    if rotation.factor is not None and rotation.scaling == "none":
        raise OptionError("--factor goes with --scaling, which is not given", hint="--scaling linear is the simplest")
    for name in _NEEDS[rotation.scaling]:
        by_length = name == "factor" and rotation.scaling == "yarn" and rotation.length and rotation.original_length
        if getattr(rotation, name) is None and not by_length:
            raise OptionError(f"--scaling {rotation.scaling} needs {flag(name)}")
    if rotation.scaling == "yarn" and rotation.base == 1:
        raise OptionError("--base must not be 1 for yarn: all pairs would turn alike")
