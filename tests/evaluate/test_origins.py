"""Where an entry comes from: nothing else moves it, and what is told is as short as it can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from language.ops.examples import EXAMPLES, Example
from language.ops.working import SPOKEN, cell_of, value
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from rows import rows

import attncalc as ac
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, given, step
from attncalc.language.ops import index, keep_where, total
from attncalc.language.primitive import At, Literal
from attncalc.record.trace import Origin
from attncalc.solve import asking
from attncalc.solve.recording import MOST_FOLLOWED, origins

Array = NDArray[Any]
N, M, D = Axis("n", 2), Axis("m", 3), Axis("d", 4)
Q, K, MASK = given("q", (N, D), "Q"), given("k", (M, D), "K"), given("keep", (N, M), boolean=True)
SCORES = step("scores", Q @ K.T)
VALUES = {
    "q": np.arange(8.0).reshape(2, 4),
    "k": np.arange(12.0).reshape(3, 4),
    "keep": np.array([[True, False, True]] * 2),
}


def whence(node: Node, at: At, operands: Mapping[str, Array]) -> tuple[Origin, ...]:
    def look(source: Node, place: At) -> Any:
        return evaluate([source], operands)[source][tuple(place[name] for name in source.names)]

    return origins(node, at, look)


def told(found: tuple[Origin, ...]) -> str:
    """`q[0,0-3] scores[1,2]`; an operand's name stands in brackets."""
    blocks = []
    for origin in found:
        spans = [str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in origin.ranges.values()]
        blocks.append(f"{f'({origin.of})' if origin.operand else origin.of}[{','.join(spans)}]")
    return " ".join(blocks)


@pytest.mark.parametrize(
    ("node", "at", "expected"),
    [
        pytest.param(Q @ K.T, {"n": 1, "m": 2}, "(q)[1,0-3] (k)[2,0-3]", id="a row and a column"),
        pytest.param(step("s", SCORES / 2), {"n": 0, "m": 1}, "scores[0,1]", id="a step, and nothing behind it"),
        pytest.param(step("s", SCORES), {"n": 0, "m": 1}, "scores[0,1]", id="a step under another name"),
        pytest.param(Q.T, {"n": 1, "d": 3}, "(q)[1,3]", id="what is only moved"),
        pytest.param(total(SCORES), {"n": 1}, "scores[1,0-2]", id="a row"),
        pytest.param(total(Q) / total(total(Q)), {"n": 1}, "(q)[0-1,0-3]", id="a row and all rows are all rows"),
        pytest.param(keep_where(MASK, SCORES, 0), {"n": 0, "m": 0}, "scores[0,0] (keep)[0,0]", id="what is let be"),
        pytest.param(keep_where(MASK, SCORES, 0), {"n": 0, "m": 1}, "(keep)[0,1]", id="what a mask hides"),
        pytest.param(
            keep_where(index("m", (N, M), "j") <= index("n", (N, M), "i"), SCORES, 0), {"n": 0, "m": 1}, "",
            id="nothing",
        ),
        pytest.param(Q * Q, {"n": 0, "d": 0}, "(q)[0,0]", id="an entry used twice"),
    ],
)  # fmt: skip
def test_an_entry_comes_from(node: Node, at: At, expected: str) -> None:
    assert told(whence(node, at, VALUES)) == expected


def test_places_that_fill_no_block_are_told_in_stretches() -> None:
    x = given("x", (Axis("n", 6),))
    node = keep_where(given("here", (Axis("n", 6),), boolean=True), x, 0)
    operands = {"x": np.arange(6.0), "here": np.array([True, False, True, True, False, True])}
    felt = " ".join(told(whence(total(node), {}, operands)).split()[:3])
    assert felt == "(x)[0] (x)[2-3] (x)[5]"


def test_what_nobody_could_look_at_is_not_told() -> None:
    x = given("x", (Axis("n", MOST_FOLLOWED + 1),))
    assert whence(total(x), {}, {"x": np.zeros(MOST_FOLLOWED + 1)}) == ()


@pytest.mark.parametrize(("entries", "blocks"), [(39, 40), (40, 0)], ids=["as many as one can see", "one more"])
def test_more_blocks_than_one_can_see_are_not_told(entries: int, blocks: int) -> None:
    along = (Axis("n", 2 * entries),)
    every_other = keep_where(given("here", along, boolean=True), given("x", along), 0)
    operands = {"x": np.arange(2.0 * entries), "here": np.arange(2 * entries) % 2 == 0}
    assert len(whence(total(every_other), {}, operands)) == blocks  # each entry, and all of what decides


FLAT = [(op, example) for op, examples in EXAMPLES.items() for example in examples if example.operands]


@pytest.mark.thorough
@rows(("op", "example"), FLAT, ids=[f"{op}: {example}" for op, example in FLAT])
def test_nothing_else_moves_an_entry(op: str, example: Example) -> None:
    node, operands = example.graph()
    values, others = example.values(operands), example.values(operands, 1)
    known = evaluate([node, *node.sources, *operands], values, keep=lambda _: True)
    for at in np.ndindex(known[node].shape):
        place = dict(zip(node.names, at, strict=True))
        cell = cell_of(node, place, known)
        if isinstance(cell, Literal) and str(cell.value).startswith(SPOKEN):
            continue
        moved = {name: value.copy() for name, value in others.items()}
        for origin in whence(node, place, values):
            (operand,) = (o for o in operands if o.args["name"] == origin.of)
            block = np.ix_(*(list(origin.ranges[name]) for name in operand.names))
            moved[origin.of][block] = values[origin.of][block]
        assert_allclose(value(node, moved)[at], known[node][at], rtol=1e-12, atol=1e-14)


class TestOfATrace:
    def test_a_result_that_lost_its_row_comes_from_the_row(self) -> None:
        trace = ac.attention([1, 0], [[1, 0], [0, 1]], [[1, 2, 3], [4, 5, 6]])
        output = trace.outputs[0]
        assert output.shape == (3,)
        assert told(asking.origins(trace, output, (2,))) == "weights[0,0-1] (v)[0-1,2]"

    def test_a_gradient_comes_from_forward_values(self) -> None:
        trace = ac.matmul([[1, 2]], [[3], [4]]).grad()
        assert told(asking.origins(trace, trace.find("grad_b"), (1, 0))) == "(a)[0,1] grad_product[0,0]"

    def test_an_update_comes_from_the_one_before(self) -> None:
        trace = ac.optimizer([[1.0, 2.0], [3.0, 4.0]], start=[0.0, 0.0])
        assert told(asking.origins(trace, trace.find("step 2/point"), (1,))) == "step 1/point[1] step 2/update[1]"

    def test_a_turn_of_a_loop_comes_from_its_own_steps(self) -> None:
        trace = ac.descend("x**2", start={"x": 3}, steps=3)
        assert told(asking.origins(trace, trace.find("iteration 2/update"), ())) == "iteration 2/gradient[]"
