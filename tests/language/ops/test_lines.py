"""The line of arithmetic of every primitive, forward and backward: read by the rules of school, it is the entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from language.ops.examples import EXAMPLES, Example
from language.ops.working import SPOKEN, sizes_of
from numpy.typing import NDArray
from readback.arithmetic import comes_to, spelled
from rows import rows

from attncalc.evaluate.values import evaluate
from attncalc.language.gradients import gradients
from attncalc.language.graph import Node, given, step, walk
from attncalc.language.primitive import OPS, At
from attncalc.record.trace import Entry
from attncalc.solve.recording import entry

Array = NDArray[Any]
FLAT = [(op, e) for op, examples in EXAMPLES.items() for e in examples]
SMOOTH = [(op, e) for op, e in FLAT if OPS[op].vjp and e.operands]
WITHOUT = {
    **dict.fromkeys(("input", "step"), "given as it is"),
    **dict.fromkeys(("concat", "stack"), "only handed on"),
    **dict.fromkeys(("and", "not"), "of masks, which are given: no comparison decides"),
    **dict.fromkeys(("eigenvectors", "left_singular_vectors", "right_singular_vectors"), SPOKEN[0]),
    "singular_values": SPOKEN[2],
}
"""Primitives whose entries no line of numbers gives, and what they are."""


def lines(node: Node, values: dict[str, Array]) -> list[tuple[str, float]]:
    """The lines that work out a few entries of a step, drawn anew for every primitive, and the entries."""
    known = evaluate([node], values, keep=lambda _: True)

    def look(source: Node, place: At) -> Any:
        value = known[source] if source in known else evaluate([source], values)[source]
        return value[tuple(place[name] for name in source.names)]

    places = list(np.ndindex(sizes_of(node)))
    drawn = np.random.default_rng(len(places)).permutation(len(places))[:6]
    found = []
    for at in (places[i] for i in drawn):
        pieces = entry(node, dict(zip(node.names, at, strict=True)), look)
        line = spelled(pieces)
        if any(isinstance(piece, Entry) for piece in pieces) and "…" not in line:
            found.append((line, float(known[node][at])))
    return found


def come_out(worked: list[tuple[str, float]]) -> None:
    for line, value in worked:
        assert comes_to(line, value), line


@pytest.mark.thorough
@rows("op", OPS)
def test_every_primitive_has_a_line(op: str) -> None:
    graphs = [(example, *example.graph()) for example in EXAMPLES[op]]
    worked = [lines(step("result", node, "…"), example.values(operands)) for example, node, operands in graphs]
    assert any(worked) == (op not in WITHOUT)


@pytest.mark.thorough
@rows(("op", "example"), FLAT, ids=[f"{op}: {e}" for op, e in FLAT])
def test_a_line_comes_to_the_entry(op: str, example: Example) -> None:
    node, operands = example.graph()
    come_out(lines(step("result", node, "…"), example.values(operands)))


@pytest.mark.thorough
@rows(("op", "example"), SMOOTH, ids=[f"{op}: {e}" for op, e in SMOOTH])
def test_a_line_of_its_gradient_comes_to_the_entry(op: str, example: Example) -> None:
    node, operands = example.graph()
    values = example.values(operands) | {"g": np.random.default_rng(7).normal(size=sizes_of(node)).round(2)}
    for gradient in gradients(node, given("g", node.axes), example.smooth(operands)).values():
        for named in (n for n in walk(gradient) if n.op == "step"):
            come_out(lines(named, values))
