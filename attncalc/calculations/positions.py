"""Positions: their frequencies, vectors rotated by them, encodings added to the tokens, and learned ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from attncalc.calculations.attention_options import Rotation, Turning
from attncalc.common.errors import OptionError, ShapeError, amount, are, either, flag
from attncalc.declare.calculation import alike_along_diagonals, calculation, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, Exercise, With, options_of
from attncalc.declare.sweeps import Sweep
from attncalc.language.axes import Axes, Axis, describe, find
from attncalc.language.graph import (
    Node,
    Number,
    as_node,
    aside,
    constant,
    constants,
    identity,
    named_size,
    note,
    output,
    step,
)
from attncalc.language.ops import (
    concat,
    cos,
    index,
    log,
    maximum,
    minimum,
    outer,
    part_of,
    pi,
    power,
    put_together,
    rename,
    rotate,
    sin,
    sqrt,
)
from attncalc.language.primitive import symbol
from attncalc.record.pictures import Curves, Line, Picture
from attncalc.record.trace import Step, Trace

# The frequencies of sinusoidal and rotary positions, and scalings for texts longer than in training.
#
# The scalings are those of Hugging Face transformers, modeling_rope_utils.


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

NEEDS = {
    "none": (),
    "base": ("factor",),
    "linear": ("factor",),
    "ntk": ("factor",),
    "dynamic": ("factor", "original_length"),
    "yarn": ("factor", "original_length"),
    "longrope": ("short_factor", "long_factor", "original_length"),
    "llama3": ("factor", "original_length"),
}
"""Scaling → the options that it needs."""

Named = Callable[[str, Node, str], Node]
"""`step`, or `output` if the step is not shown: (name, value, why) → the named value."""


def powers_of(base: Node, pairs: Axis, width: Node) -> Node:
    """One frequency for each pair of a vector: base^(−2i/d), where i counts pairs and not columns."""
    return base ** -(2 * index(pairs.name, (pairs,), "i") / width)


def frequencies_of(rotation: Rotation, pairs: Axis, of: Axis, length: int | None, named: Named = step) -> Node:
    """The frequency of every pair `of` a width, after scaling; `length` is that of the text, where it is known."""
    _check(rotation)
    width = named_size(of.name if rotation.dims is None else "dims", 2 * pairs.size)
    plain = powers_of(as_node(rotation.base), pairs, width)
    value = _scaled(rotation, plain, pairs, width, length, named)
    return named("frequencies", value, "the first pair rotates fastest; each pair has its own frequency")


def _scaled(rotation: Rotation, plain: Node, pairs: Axis, width: Node, length: int | None, named: Named) -> Node:
    """The frequencies as the scaling has them, as in Hugging Face transformers' modeling_rope_utils."""
    base, factor, scaling = as_node(rotation.base), rotation.factor, rotation.scaling
    if scaling == "none":
        return plain
    if scaling == "longrope":
        return plain / _divisors(rotation, pairs, length)
    if scaling == "dynamic":
        assert factor is not None
        assert rotation.original_length is not None
        text = max(_length(rotation, length), rotation.original_length)
        stretched = as_node(factor) * text / rotation.original_length - (as_node(factor) - 1)
        return powers_of(base * power(stretched, _exponent(width)), pairs, width)
    factor_ = constant(_factor(rotation), "factor", "factor")
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
        high += 0.001  # as in transformers, to avoid a division by 0
    note(
        f"yarn keeps the pairs up to {low:g} and slows down those from {high:g} on: pair "
        f"d·ln(L/(2π·turns))/(2·ln base) makes {fast:g} and {slow:g} turns in the L = {rotation.original_length} "
        f"positions of training"
    )
    if rotation.factor is not None and rotation.length is not None:
        note("yarn goes by the factor that is given, so the length of the text has no effect")
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


def score_factor(rotation: Rotation) -> Node | None:
    """What latent attention multiplies its scores by with YaRN, as in DeepSeek-V2's code; None where that is 1."""
    if rotation.scaling != "yarn" or not rotation.mscale_all_dim or _factor(rotation) <= 1:
        return None
    return _yarn_factor(_factor(rotation), rotation.mscale_all_dim) ** 2


def _yarn_factor(factor: Number, scale: float = 1) -> Node:
    tenth = round(0.1 * scale, 15)  # 0.07, not 0.06999999999999999, whose digits an exact result would show
    return as_node(tenth) * log(as_node(factor)) + 1


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
    for name in NEEDS[rotation.scaling]:
        by_length = name == "factor" and rotation.scaling == "yarn" and rotation.length and rotation.original_length
        if getattr(rotation, name) is None and not by_length:
            raise OptionError(f"--scaling {rotation.scaling} needs {flag(name)}")
    if rotation.scaling == "yarn" and rotation.base == 1:
        raise OptionError("--base must not be 1 for yarn: all pairs would turn alike")


# Vectors rotated by their positions: pairs of entries by angles that grow with the position.


ABOUT = (
    "Queries and keys are rotated, values are not. At position p pair i is rotated by the angle p·θ_i, so position 0 "
    "leaves a vector as it is, and the dot product of a query and a key depends only on how far apart they are."
)
"""What a teacher would add to the reason of the step."""


def queries_and_keys(Q: Node, K: Node, turning: Turning) -> tuple[Node, Node]:
    """The steps `q_rotated` and `k_rotated` of an attention."""
    positions, theirs, rotation = turning.positions, turning.key_positions, turning.rotation
    n, m = Q.axes[-2], K.axes[-2]
    i, j = index(n.name, (n,), "p"), index(m.name, (m,), "p")
    if turning.at_end and n.size != m.size:
        i = i + (m.size - n.size)
    if positions is not None and theirs is None:
        if n.size != m.size:
            raise OptionError(
                f"rope_positions apply to queries and keys alike, and there are "
                f"{amount(n.size, 'query', 'queries')} and {amount(m.size, 'key')}",
                hint="rope_key_positions are those of the keys alone",
            )
        theirs = rename(positions, n.name, m.name)
    i, j = i if positions is None else positions, j if theirs is None else theirs
    pairs = Axis("pair", rotated_dims(Q, rotation) // 2)
    length = max(n.size, m.size) if positions is None and theirs is None else None
    try:
        frequencies = frequencies_of(rotation, pairs, Q.axes[-1], length, output)
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
    for places in cosines.axes[:-1]:
        if places.name in X.names and find(X.axes, places.name) != places:
            given = f"{amount(places.size, 'position')} {are(range(places.size))} given"
            raise ShapeError(f"{given}, but {symbol(X)} is {describe(X.axes)}: there is one for each of its rows")
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


PAIRS = {"interleaved": "interleaved", "concatenated": "half"}
"""Sinusoidal layout of sines and cosines → the word for the same layout of pairs."""

Base = Annotated[float, "the wavelengths range from 2π to 2π times this", ABOVE_0]
Count = Annotated[int | None, "how many positions", AT_LEAST_1]


def needed(name: str, size: int | None) -> int:
    """A size that has no default, or the error that asks for its option."""
    if size is None:
        raise OptionError(f"{flag(name)} must be given", hint=f"write {flag(name)} 4")
    return size


def woven(angles: Node, width: Axis, layout: str = "interleaved") -> Node:
    """Sines and cosines as columns; an odd width ends in a sine without its cosine."""
    whole = put_together(sin(angles), cos(angles), PAIRS[layout], width.name)
    return part_of(whole, width.name, 0, width.size)


def sinusoidal_encoding(axes: Axes, layout: str = "interleaved") -> Node:
    """The sinusoidal encoding as a part of another calculation, without steps of its own."""
    places, width = axes
    frequencies = powers_of(as_node(10000), Axis("pair", (width.size + 1) // 2), named_size(width.name, width.size))
    return woven(outer(index(places.name, (places,), "p"), frequencies), width, layout)


def first_places(table: Node, places: Axis) -> Node:
    """Learned positions: the first rows of their table, one for each token."""
    known, size = table.axes[-2][:2]
    if size < places.size:
        raise ShapeError(
            f"{amount(size, 'position')} ({known}) cannot place {amount(places.size, 'token')} ({places.name})"
        )
    return rename(part_of(table, known, 0, places.size), known, places.name)


FEWEST_WAVED, MOST_WAVES = 3, 3
"""Waves are drawn over at least so many positions, and for at most so many pairs."""


def _waves(trace: Trace, sweep: Sweep) -> Iterator[Picture | Step]:
    """The encoding, and the sines of its first pairs as waves along the positions."""
    yield trace.find("encoding")
    options = options_of(trace)
    start, columns = options["start"], trace.result.T
    if columns.shape[1] < FEWEST_WAVED:
        return
    places = np.arange(start, start + columns.shape[1])
    sines = range(0, len(columns), 2) if options["layout"] == "interleaved" else range((len(columns) + 1) // 2)
    lines = tuple(Line(f"column {at}", places, columns[at]) for at in sines[:MOST_WAVES])
    yield Curves("the first sines along the positions", "position", lines)


@calculation(
    laws={
        "PE_i·PE_j depends only on i − j": lambda f, n, d: alike_along_diagonals((e := f(n=n, d=2 * d).result) @ e.T),
        "every position has the length √(d/2)": lambda f, n, d: same((f(n=n, d=2 * d).result ** 2).sum(-1), d),
    },
    pictures=_waves,
    reference="Vaswani et al. 2017, Attention Is All You Need, section 3.5",
    exercise=Exercise(
        one_of=tuple(
            {"n": n, "d": d, "start": start, "base": base}
            for n, d in ((3, 4), (4, 4), (3, 6), (4, 6))
            for start in (0, 1, 2, 5)
            for base in (100, 10000)
        )
    ),
)
def sinusoidal(
    *,
    n: Count = None,
    d: Annotated[int | None, "the width of the encoding, d_model", AT_LEAST_1] = None,
    base: Base = 10000,
    start: Annotated[int, "the first position"] = 0,
    layout: Annotated[
        Literal["interleaved", "concatenated"], "sines and cosines alternating, or all sines before all cosines"
    ] = "interleaved",
    properties: Annotated[
        bool, "show that PE_i·PE_j depends only on i − j, and that a shift is a matrix product"
    ] = False,
    offset: Annotated[int, "the shift that --properties shows", With(("properties",))] = 1,
) -> Node:
    """Encode each position by sines and cosines of many wavelengths.

    PE[p, 2i] = sin(p·base^(−2i/d)) and PE[p, 2i + 1] = cos(p·base^(−2i/d)), with positions from 0. i is the number
    of the pair, not of the column: the two columns of a pair share one frequency.
    """
    n, d = needed("n", n), needed("d", d)
    places, width, pairs = Axis("n", n), Axis("d", d), Axis("pair", (d + 1) // 2)
    why = "the first pair rotates fastest, the last slowest; both columns of a pair share one frequency"
    frequencies = step("frequencies", powers_of(as_node(base), pairs, named_size("d", d)), why)
    position = index("n", (places,), "p")
    angles = outer(position + start if start else position, frequencies)
    angles = step(
        "angles", angles, "each step to the next position rotates a pair by the pair's own frequency, in radians"
    )
    encoding = step(
        "encoding",
        woven(angles, width, layout),
        "two angles can share a sine; with the cosine beside it each angle is told apart",
    )
    if properties:
        _properties(encoding, frequencies, layout, offset)
    return encoding


def _properties(encoding: Node, frequencies: Node, layout: str, offset: int) -> None:
    if encoding.axes[-1].size % 2:
        raise OptionError("--properties need an even --d: the last sine has no cosine beside it")
    products = encoding @ rename(encoding, "n", "m").T
    aside("products", products, "PE_i·PE_j is the same along each diagonal: it depends only on i − j")
    further = frequencies if offset == 1 else offset * frequencies
    shift = aside(
        "shift",
        rotate(identity(encoding.axes[-1:]), cos(further), -sin(further), PAIRS[layout]),
        "one matrix for all positions: it rotates every pair by the angle that the shift adds",
    )
    aside("shifted", rename(encoding, "d", "d'") @ shift, f"PE_p times that matrix is PE_(p + {offset})")
