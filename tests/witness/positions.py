"""Positions worked a second time, by loops over plain numbers; as in witness.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from witness.vectors import Matrix, Values, Vector, times, turned


def sinusoidal(
    n: int = 1,
    d: int = 2,
    base: float = 10000,
    start: int = 0,
    layout: str = "interleaved",
    properties: bool = False,
    offset: int = 1,
) -> Values:
    pairs = (d + 1) // 2
    frequencies = [math.exp(-2 * i / d * math.log(base)) for i in range(pairs)]

    def row(p: int) -> list[float]:
        sines, cosines = ([f(p * frequency) for frequency in frequencies] for f in (math.sin, math.cos))
        if layout == "concatenated":
            return (sines + cosines)[:d]
        return [entry for pair in zip(sines, cosines, strict=True) for entry in pair][:d]

    rows = [row(start + p) for p in range(n)]
    found = {
        "frequencies": frequencies,
        "angles": [[(start + p) * frequency for frequency in frequencies] for p in range(n)],
        "encoding": rows,
    }
    if properties:
        found |= {"products": times(rows, turned(rows)), "shifted": [row(start + p + offset) for p in range(n)]}
    return found


def frequencies_of(d: int, base: float, rows: int, scaling: str = "none", **given: Any) -> tuple[list[float], float]:
    """The frequencies after scaling, and the factor of cosines and sines."""
    factor: Any = given.get("factor")
    trained = given.get("original_length", 0)
    length = given.get("length", rows)
    if scaling == "base":
        base *= factor
    elif scaling == "ntk":
        base *= factor ** (d / (d - 2))
    elif scaling == "dynamic":
        base *= (factor * max(length, trained) / trained - factor + 1) ** (d / (d - 2))
    plain = [1 / base ** (2 * i / d) for i in range(d // 2)]
    if scaling == "linear":
        return [f / factor for f in plain], 1
    if scaling == "longrope":
        divisors = given["long_factor"] if length > trained else given["short_factor"]
        times_ = factor or length / trained
        default = math.sqrt(1 + math.log(times_) / math.log(trained)) if times_ > 1 else 1.0
        return [f / by for f, by in zip(plain, divisors, strict=True)], given.get("attention_factor") or default
    if scaling == "llama3":
        low, high = given.get("low_freq_factor", 1), given.get("high_freq_factor", 4)
        found = []
        for f in plain:
            wavelength = 2 * math.pi / f
            if wavelength < trained / high:
                found.append(f)
            elif wavelength > trained / low:
                found.append(f / factor)
            else:
                smooth = (trained / wavelength - low) / (high - low)
                found.append((1 - smooth) * f / factor + smooth * f)
        return found, 1
    if scaling == "yarn":
        return _yarn(plain, d, base, trained, given)
    return plain, 1


def _yarn(plain: Vector, d: int, base: float, trained: int, given: Values) -> tuple[list[float], float]:
    factor = given.get("factor") or given["length"] / trained

    def pair_that_turns(turns: float) -> float:
        return d * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_that_turns(given.get("beta_fast", 32)), pair_that_turns(given.get("beta_slow", 1))
    if not given.get("no_truncate"):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, d - 1)
    ramp = [min(max((i - low) / ((high - low) or 0.001), 0), 1) for i in range(d // 2)]

    def scale(by: float) -> float:
        return 0.1 * by * math.log(factor) + 1 if factor > 1 else 1.0

    attention = given.get("attention_factor")
    if attention is None and given.get("mscale"):
        attention = scale(given["mscale"]) / scale(given["mscale_all_dim"])
    found = [f / factor * share + f * (1 - share) for f, share in zip(plain, ramp, strict=True)]
    return found, scale(1) if attention is None else attention


def rotated(row: Vector, angles: Vector, strength: float = 1, layout: str = "interleaved") -> list[float]:
    """A row whose pairs are turned, one complex number each; what is left over behind the pairs stays."""
    dims = 2 * len(angles)
    result = list(row)
    for i, angle in enumerate(angles):
        a, b = (i, i + dims // 2) if layout == "half" else (2 * i, 2 * i + 1)
        whole = complex(row[a], row[b]) * strength * complex(math.cos(angle), math.sin(angle))
        result[a], result[b] = whole.real, whole.imag
    return result


def rope(
    x: Matrix,
    positions: Vector | None = None,
    base: float = 10000,
    layout: str = "interleaved",
    dims: int | None = None,
    inverse: bool = False,
    properties: bool = False,
    **scaling: Any,
) -> Values:
    dims = dims or len(x[0])
    places = positions or list(range(len(x)))
    frequencies, strength = frequencies_of(dims, base, len(x), **scaling)
    if inverse:
        strength = 1 / strength
    angles = [[p * frequency for frequency in frequencies] for p in places]
    found: Values = {
        "frequencies": frequencies,
        "angles": angles,
        "cosines": [[strength * math.cos(a) for a in row] for row in angles],
        "sines": [[strength * math.sin(a) for a in row] for row in angles],
        "rotated": [
            rotated(row, [-a if inverse else a for a in turns], strength, layout)
            for row, turns in zip(x, angles, strict=True)
        ],
    }
    if properties:
        query, key = ([rotated(x[i], turns, strength, layout) for turns in angles] for i in (0, min(1, len(x) - 1)))
        found |= {
            "norms": [math.hypot(*row) for row in x],
            "rotated_norms": [math.hypot(*row) for row in found["rotated"]],
            "products": times(query, turned(key)),
        }
    return found


def slopes(heads: int) -> list[float]:
    """As the paper's code has it, by recursion."""
    if heads & (heads - 1) == 0:
        first = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [first ** (i + 1) for i in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return slopes(below) + slopes(2 * below)[0::2][: heads - below]


def alibi(heads: int = 1, n: int = 1, m: int | None = None, causal: bool = False) -> Values:
    keys = n if m is None else m
    distances = [[abs(i - j) for j in range(keys)] for i in range(n)]
    bias = [
        [[-math.inf if causal and j > i else -slope * distances[i][j] for j in range(keys)] for i in range(n)]
        for slope in slopes(heads)
    ]
    return {"slopes": slopes(heads), "distances": distances, "bias": bias}


def bucket(relative: int, buckets: int, farthest: int, causal: bool) -> int:
    """As in mesh-tensorflow; the logarithm's last digit is rounded away, since it must not decide."""
    own = buckets if causal else buckets // 2
    side = own if relative > 0 and not causal else 0
    distance = max(-relative, 0) if causal else abs(relative)
    exact = own // 2
    if distance < exact:
        return side + distance
    share = round(math.log(distance / exact) / math.log(farthest / exact) * (own - exact), 12)
    return side + min(exact + math.floor(share), own - 1)


def t5_bias(
    table: Matrix | None = None,
    n: int = 1,
    m: int | None = None,
    buckets: int | None = None,
    max_distance: int = 128,
    causal: bool = False,
) -> Values:
    count = buckets or (len(table) if table else 32)
    relative = [[j - i for j in range(m or n)] for i in range(n)]
    numbers = [[bucket(r, count, max_distance, causal) for r in row] for row in relative]
    found: Values = {"relative_positions": relative, "buckets": numbers}
    if table:
        found["bias"] = [[[table[number][h] for number in row] for row in numbers] for h in range(len(table[0]))]
    return found


WITNESSES: dict[str, Callable[..., Values]] = {
    "sinusoidal": sinusoidal,
    "rope": rope,
    "alibi": alibi,
    "t5-bias": t5_bias,
}
