"""Rotary position embeddings (RoPE)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from attncalc.calculations.attention_options import DEFAULTS, Rotation
from attncalc.calculations.positions import attention_factor, cosines_and_sines, frequencies_of, rotated_dims, turned
from attncalc.declare.calculation import alike_along_diagonals, calculation, same
from attncalc.declare.operands import Exercise
from attncalc.declare.sweeps import Sweep, vectors_of
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, aside, note, step
from attncalc.language.ops import index, outer, rename, root_of_sum, spread, take, total
from attncalc.record.numbers import format_number
from attncalc.record.pictures import Arrow, Curves, Line, Picture, Plane
from attncalc.record.trace import Step, Trace

FEWEST_TURNS, MOST_PAIRS = 3, 4
"""Rotations are drawn over at least so many positions, and for at most so many pairs."""


def _turning(trace: Trace, sweep: Sweep) -> Iterator[Picture | Step]:
    """The angles, the turned vectors, and how fast the first pairs turn along positions 0, 1, 2 …"""
    yield trace.find("angles")
    yield trace.outputs[0]
    yield from _turned(trace)
    if "positions" in trace.inputs or trace.options["scaling"] in ("dynamic", "longrope"):
        return  # these scalings depend on the number of positions
    count, width = trace.find("angles").shape[-2], trace.inputs["x"].value.shape[-1]
    if count < FEWEST_TURNS:
        return
    places = np.arange(count)
    cosines = sweep.again(x=np.zeros((len(places), width)), properties=False)["cosines"].T
    lines = tuple(Line(f"pair {i}", places, column) for i, column in enumerate(cosines[:MOST_PAIRS]))
    yield Curves("the cosines of the first pairs along the positions", "position", lines)


def _turned(trace: Trace) -> Iterator[Picture]:
    """The first pair of a vector before and after, with the angle between: of the token that turns farthest."""
    before, after = vectors_of(trace, "x"), vectors_of(trace, trace.outputs[0].key)
    if not before or len(before) != len(after):
        return
    angles = trace.find("angles").value
    if angles is None:
        return
    number, pair = len(before) - 1, (0, 1) if trace.options["layout"] == "interleaved" else (0, angles.shape[-1])
    (name, own), (_, rotated) = before[number], after[number]
    angle = format_number(round(float(np.degrees(angles[number, 0])), 1))
    vectors = (f"x {name}", own, 1), ("turned", rotated, 0)
    ends = tuple(Arrow(said, float(vector[pair[0]]), float(vector[pair[1]]), kind) for said, vector, kind in vectors)
    said = f"entries {pair[0]} and {pair[1]} of x {name}; turned by {angle}°, as long as before"
    yield Plane("one pair, before and after", f"entry {pair[0]}", f"entry {pair[1]}", ends, said)


@calculation(
    x="n d",
    positions="n",
    leading=("h",),
    laws={
        "lengths do not change": lambda f, x: same((f(x).result ** 2).sum(-1), (x**2).sum(-1)),
        "q_m·k_n depends only on m − n": lambda f, x: alike_along_diagonals((r := f(0 * x + x[0]).result) @ r.T),
        "rotating back restores the vector": lambda f, x: same(f(f(x).result, inverse=True), x),
        "position 0 is not rotated": lambda f, x: same(f(x).result[0], x[0]),
    },
    pictures=_turning,
    reference="Su et al. 2021, RoFormer, eq. 15 and 34; linear: Chen et al. 2023, Position Interpolation, eq. 4; ntk "
    "and yarn: Peng et al. 2024, YaRN, eq. 16, 20 and 22; scalings as in Hugging Face transformers, "
    "modeling_rope_utils",
    exercise=Exercise(one_of=({"properties": False},)),
)
def rope(
    X: Annotated[Node, "queries or keys, one a row: the vectors of one head, since their width sets the frequencies"],
    positions: Annotated[Node | None, "each row's position; 0, 1, 2 … if not given"] = None,
    *,
    rotation: Annotated[Rotation, ""] = DEFAULTS,
    inverse: Annotated[bool, "rotate back"] = False,
    properties: Annotated[bool, "show that lengths do not change, and that q_m·k_n depends only on m − n"] = False,
) -> Node:
    """Rotate pairs of a vector's entries by angles that grow with its position.

    The pair (a, b) number i at position p becomes (a·cos pθ − b·sin pθ, a·sin pθ + b·cos pθ) with θ = base^(−2i/d), so
    that the dot product of two rotated vectors depends on how far apart they are. d is the width of the vector rotated
    (a head's, not the model's), and positions start at 0. Which two make a pair is a convention: neighbours (the paper,
    GPT-J) or entries half the width apart (GPT-NeoX, Llama in transformers). Queries and keys are rotated, values not.
    """
    place = X.axes[-2]
    pairs = Axis("pair", rotated_dims(X, rotation) // 2)
    length = place.size if positions is None else None
    frequencies = frequencies_of(rotation, pairs, X.axes[-1], length)
    strength = attention_factor(rotation)
    if strength is not None:
        note("cosines and sines carry the attention factor: lengths change by it, and scores by its square")
    where = index(place.name, (place,), "p") if positions is None else positions
    angles = step("angles", outer(where, frequencies), "the angle grows in proportion to the position p, in radians")
    if strength is not None and inverse:
        strength = 1 / strength
    cosines, sines = cosines_and_sines(angles, strength)
    cosines = step("cosines", cosines, "how much each entry keeps of itself")
    sines = step("sines", sines, "how much each entry takes from the other one of its pair")
    result = step(
        "rotated",
        turned(X, cosines, -sines if inverse else sines, rotation),
        _why_rotated(rotation.layout, inverse=inverse),
    )
    if properties:
        _properties(X, cosines, sines, rotation, result)
    return result


def _why_rotated(layout: str, *, inverse: bool) -> str:
    pair = "neighbours (a, b)" if layout == "interleaved" else "(a, b), half the width apart,"
    if inverse:
        return f"{pair} become (a·cos + b·sin, b·cos − a·sin): rotated back by the same angle"
    return f"{pair} become (a·cos − b·sin, a·sin + b·cos): the direction now encodes the position"


def _properties(X: Node, cosines: Node, sines: Node, rotation: Rotation, result: Node) -> None:
    aside("norms", root_of_sum(total(X**2), X, 2), "the lengths before the rotation")
    kept = "a rotation keeps them" if attention_factor(rotation) is None else "the attention factor stretches them"
    aside("rotated_norms", root_of_sum(total(result**2), result, 2), f"the lengths after: {kept}")
    name, rows = X.names[-2], X.axes[-2].size
    q, k = (turned(spread(take(X, name, i), X.axes), cosines, sines, rotation) for i in (0, min(rows - 1, 1)))
    aside(
        "products",
        q @ rename(k, name, "m").T,
        "one query at every position times one key at every position: the same along each diagonal",
    )
