"""Positions that are added to the tokens: sinusoidal encodings, and learned ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from attncalc.calculations.frequencies import powers_of
from attncalc.common.errors import OptionError, ShapeError
from attncalc.common.text import amount, flag
from attncalc.declare.calculation import calculation
from attncalc.declare.laws import alike_along_diagonals, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, Exercise
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node, as_node, identity, named_size
from attncalc.language.ops import cos, index, outer, part_of, put_together, rename, rotate, sin
from attncalc.language.steps import aside, step
from attncalc.record.trace import Step, Trace

if TYPE_CHECKING:
    from attncalc.declare.sweeps import Sweep
    from attncalc.record.pictures import Picture

PAIRS = {"interleaved": "interleaved", "concatenated": "half"}
"""How a sinusoidal layout places a sine and its cosine, in the words for pairs."""

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


def sinusoidal_encoding(axes: Axes) -> Node:
    """The sinusoidal encoding as a part of another calculation, without steps of its own."""
    places, width = axes
    frequencies = powers_of(as_node(10000), Axis("pair", (width.size + 1) // 2), named_size("d", width.size))
    return woven(outer(index(places.name, (places,), "p"), frequencies), width)


def first_places(table: Node, places: Axis) -> Node:
    """Learned positions: the first rows of their table, one for each token."""
    known, size = table.axes[-2][:2]
    if size < places.size:
        raise ShapeError(
            f"{amount(size, 'position')} ({known}) cannot place {amount(places.size, 'token')} ({places.name})"
        )
    return rename(part_of(table, known, 0, places.size), known, places.name)


FEWEST_WAVED, MOST_WAVES = 50, 3
"""Waves are drawn over so many positions at least, and of so many pairs at most."""


def _waves(trace: Trace, sweep: Sweep) -> Iterator[Picture | Step]:
    """The encoding, and the sines of its first pairs as waves along the positions."""
    from attncalc.record.pictures import Curves, Line  # here, since few calls draw

    yield trace.find("encoding")
    start = trace.options["start"]
    columns = sweep.again(n=max(trace.options["n"], FEWEST_WAVED), properties=False).result.T
    places = np.arange(start, start + columns.shape[1])
    sines = range(0, len(columns), 2) if trace.options["layout"] == "interleaved" else range((len(columns) + 1) // 2)
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
    offset: Annotated[int, "the shift that --properties shows"] = 1,
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
