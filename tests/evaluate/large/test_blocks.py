"""Evaluation in blocks: for every calculation, over every axis, what evaluating it whole gives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from calculations.cases import EXPECTED
from calculations.trial import Case
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from rows import rows

from attncalc.calculations import TABLE, load
from attncalc.common import system
from attncalc.evaluate.large import blocks, cores, layout
from attncalc.evaluate.large.blocks import evaluate_large
from attncalc.evaluate.large.layout import Layout, lay_out
from attncalc.evaluate.values import entries, evaluate
from attncalc.language.graph import Node, walk
from attncalc.record.trace import Given
from attncalc.solve.problem import Backward, Problem, Written
from attncalc.solve.solver import write

Array = NDArray[np.float64]
CASES = [(name, case) for name in TABLE if name in EXPECTED for case in EXPECTED[name].cases]
SMOOTH = [(name, case) for name, case in CASES if not (EXPECTED[name].no_gradient or case.no_gradient)]
BOUND = 1e-13
"""Of the largest entry: sums are taken in another order, and an exponential may come without its shift."""
FIFTH_POWERS = 1e-12
"""Of what goes through muon's five iterations, each of which multiplies the rounding of the one before."""


def later(name: str, case: Case) -> bool:
    """Whether it is not one of the calculation's first two cases."""
    return case not in EXPECTED[name].cases[:2]


def written(name: str, case: Case, backward: Backward | None = None) -> Written | None:
    """The case's graph; None where the calculation is a loop, or has no numbers."""
    inputs = {operand: Given(value) for operand, value in case.arrays().items()}
    found = write(Problem(load(name), inputs, case.options, backward))
    return None if found.loop or any(value.dtype.kind in "OUS" for value in found.values.values()) else found


def layouts(roots: tuple[Node, ...]) -> list[Layout]:
    """One for each axis that the graph has, and one without."""
    order, patterns = layout._fused(roots)
    axes = dict.fromkeys(axis for node in order for axis in node.axes if axis.size > 1)
    return [layout._over(axis, roots, order, patterns) for axis in (None, *axes)]


def agree(found: Mapping[Node, Array], whole: Mapping[Node, Array], where: str, bound: float = BOUND) -> None:
    for node, value in found.items():
        wanted = whole[node]
        assert value.dtype == wanted.dtype
        scale = np.max(np.abs(wanted), initial=1, where=np.isfinite(wanted)) if wanted.dtype.kind == "f" else 1
        assert_allclose(value, wanted, rtol=0, atol=bound * scale, err_msg=f"{node!r} {where}")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two or three places to a block, so that there are several and a last one that is smaller."""
    monkeypatch.setattr(blocks, "places", lambda *of: 2)


def calls_of(function: Callable[[], object]) -> int:
    """How many calls of functions it takes."""
    counted = 0

    def count(frame: object, event: str, what: object) -> None:
        nonlocal counted
        counted += event.endswith("call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["attention", "kv-cache", "flash", "rnn"])
def test_laying_out_twice_as_many_tokens_takes_about_twice_as_long(name: str) -> None:
    """An axis for each token was laid out over all the graph: 1,024 tokens of kv-cache took half a minute."""

    def taken(n: int) -> int:
        sizes = {operand: np.ones((n, 2)) for operand in ("q", "k", "v")}
        if name == "rnn":
            sizes = {"x": np.ones((n, 2)), "wx": np.ones((2, 2)), "wh": np.ones((2, 2))}
        found = write(Problem(load(name), {operand: Given(value) for operand, value in sizes.items()}, {}))
        return calls_of(lambda: lay_out(found.outputs[:1], 8))

    assert taken(80) <= 2.5 * taken(40)


def check(found: Written, bound: float = BOUND) -> None:
    whole = evaluate(found.roots, found.values, keep=lambda node: True)
    named = tuple(node for node in walk(*found.roots) if node.op == "step")
    for roots in (found.outputs, named):
        for each in layouts(roots):
            agree(evaluate_large(each, found.values), whole, f"over {each.axis}", bound)


@pytest.mark.spread
@rows(("name", "case"), CASES, by=lambda name, case: name, thorough=later)
class TestEachCase:
    @pytest.mark.thorough
    def test_gives_in_blocks_what_it_gives_whole(self, name: str, case: Case) -> None:
        if (found := written(name, case)) is not None:
            check(found)

    def test_gives_some_entries_as_all_of_them(self, name: str, case: Case) -> None:
        if (found := written(name, case)) is None:
            return
        whole = evaluate(found.roots, found.values, keep=lambda node: True)
        for node in whole:
            if node.op == "step":
                chosen = {axis: [0, axis.size - 1] for axis in node.axes}
                some = entries(node, chosen, {}, found.values, "float64")
                wanted = whole[node][np.ix_(*chosen.values())]
                scale = np.max(np.abs(wanted), initial=1, where=np.isfinite(wanted)) if wanted.dtype.kind == "f" else 1
                assert_allclose(some, wanted, rtol=0, atol=BOUND * scale, err_msg=repr(node))


@pytest.mark.release
@pytest.mark.spread
@rows(("name", "case"), SMOOTH, by=lambda name, case: name, thorough=later)
def test_a_gradient_in_blocks_is_the_gradient(name: str, case: Case) -> None:
    if (found := written(name, case, Backward())) is not None:
        check(found, FIFTH_POWERS if case.options.get("kind") == "muon" else BOUND)


def matrix(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.thorough
@pytest.mark.parametrize("count", [1, 3])
def test_the_number_of_cores_changes_nothing(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Partial sums are taken over the same blocks, however many threads take them."""
    inputs = {name: Given(matrix(i, 30, 4)) for i, name in enumerate("qkv")}
    found = write(Problem(load("attention"), inputs, {"bias": "alibi"}, Backward()))
    before = [evaluate_large(each, found.values) for each in layouts(found.outputs)]
    monkeypatch.setattr(cores, "count", lambda: count)
    for each, values in zip(layouts(found.outputs), before, strict=True):
        again = evaluate_large(each, found.values)
        assert all(np.array_equal(again[node], value) for node, value in values.items())


def test_float32_stays_float32() -> None:
    """In the blocks of every axis, and in the entries of steps that are not kept, which have constants of their own."""
    inputs = {name: Given(matrix(i, 6, 4)) for i, name in enumerate("qkv")}
    found = write(Problem(load("attention"), inputs, {"bias": "alibi", "softcap": 5.0}), dtype="float32")
    whole = evaluate(found.roots, found.values, dtype="float32", keep=lambda node: True)
    for each in layouts(found.outputs):
        values = evaluate_large(each, found.values, dtype="float32")
        assert {value.dtype for value in values.values()} == {np.dtype("float32")}
    for node in whole:
        if node.op == "step":
            some = entries(node, {axis: [1, 2] for axis in node.axes}, {}, found.values, "float32")
            assert some.dtype == whole[node].dtype, node


def test_progress_is_told() -> None:
    inputs = {name: Given(matrix(i, 30, 4)) for i, name in enumerate("qkv")}
    found = write(Problem(load("attention"), inputs, {"bias": "alibi"}))
    (each,) = [one for one in layouts(found.outputs[:1]) if one.axis and one.axis.name == "n"]
    told: list[tuple[str, int, int | None]] = []
    with system.told_to(lambda *told_of: told.append(told_of)):
        evaluate_large(each, found.values)
    assert {(what, total) for what, _, total in told} == {("block", 14)}  # of 15: the first says what the values are
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1] == ("block", 14, 14)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_work_on_all_cores_keeps_its_order_and_ends_where_a_piece_fails(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(cores, "count", lambda: count)
    assert cores.on_all(lambda piece: piece**2, range(30)) == [piece**2 for piece in range(30)]
    assert cores.on_all(lambda piece: piece, []) == []
    begun = []

    def fail(piece: int) -> None:
        begun.append(piece)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cores.on_all(fail, range(30))
    assert len(begun) <= count


LINEAR = {
    "attention": ({"causal": True}, None),
    "attention with a cap": ({"softcap": 5.0}, None),
    "its backward pass": ({}, Backward()),
    "the backward pass with a cap": ({"softcap": 5.0}, Backward()),
}


@pytest.mark.parametrize(("options", "backward"), LINEAR.values(), ids=LINEAR)
def test_memory_grows_with_n_and_not_with_its_square(options: dict[str, float], backward: Backward | None) -> None:
    """Counted of the graph, whose operands are broadcast and take no room."""

    def needed(n: int) -> int:
        inputs = {name: Given(np.broadcast_to(1.0, (n, 64))) for name in "qkv"}
        found = write(Problem(load("attention"), inputs, options, backward))
        return lay_out(found.outputs if backward else found.outputs[:1], 8).bytes(8)

    assert needed(2**17) < 2.1 * needed(2**16)
    assert needed(2**16) < 2**30


def test_the_weights_are_worked_out_once_where_they_are_wanted() -> None:
    inputs = {name: Given(matrix(i, 30, 4)) for i, name in enumerate("qkv")}
    found = write(Problem(load("attention"), inputs))
    assert lay_out(found.outputs[:1], 8).fused
    assert not lay_out(found.outputs, 8).fused
