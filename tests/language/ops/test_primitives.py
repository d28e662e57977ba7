"""Every primitive against itself: kernel, definition, arithmetic, text and LaTeX must tell the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from language.ops.examples import EXAMPLES, Example
from language.ops.working import SPOKEN, cell_of, defined, narrow, same, value, worked
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from readback.latex import formula_fault
from rows import rows

from attncalc.common.errors import NotExact, ShapeError
from attncalc.evaluate.values import evaluate
from attncalc.language import axes as ax
from attncalc.language.axes import Axis
from attncalc.language.exact_kernels import exactly
from attncalc.language.graph import Node
from attncalc.language.primitive import OPS, Literal, Pick, formula, sizes

Array = NDArray[Any]
FLAT = [(op, e) for op, examples in EXAMPLES.items() for e in examples]
every_example = rows(("op", "example"), FLAT, ids=[f"{op}: {e}" for op, e in FLAT])
EXACT = [(op, e) for op, e in FLAT if op != "random_normal"]
every_exact_example = rows(("op", "example"), EXACT, ids=[f"{op}: {e}" for op, e in EXACT])
LEAD = Axis("lead", 2)
MOVED = ("rename", "split", "merge", "repeat")


def test_every_primitive_has_an_example() -> None:
    missing = sorted(OPS.keys() - EXAMPLES.keys())
    assert not missing, f"add to tests/language/ops/examples.py a row for {', '.join(missing)}: a graph that ends in it"
    assert not EXAMPLES.keys() - OPS.keys()


@rows("op", OPS)
def test_a_row_has_a_gradient_and_a_reason_or_says_why_not(op: str) -> None:
    row = OPS[op]
    has_sources = any(example.graph()[0].sources for example in EXAMPLES.get(op, ()))
    assert bool(row.vjp) + bool(row.no_gradient) == has_sources, "either vjp= or no_gradient="
    if row.vjp and op not in ("rename", "transpose"):  # those say nothing: an entry is felt as it was elsewhere
        assert row.because, "because= says in a line why the sources get these gradients"


@every_example
class TestEachExample:
    def test_ends_in_its_primitive(self, op: str, example: Example) -> None:
        assert example.graph()[0].op == op

    def test_has_the_axes_that_its_value_has(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        assert value(node, example.values(operands)).shape == tuple(axis.size for axis in node.axes)

    def test_kernel_is_the_definition(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands)
        same(value(node, values), value(defined(node), values), 14)

    def test_float32_stays_float32(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands)
        found, wide = value(node, narrow(values), "float32"), value(node, values)
        if wide.dtype.kind == "f":
            assert found.dtype == np.float32
            same(found, wide.astype(np.float32), 4)
        else:
            assert_array_equal(found, wide)

    @pytest.mark.thorough
    def test_cells_work_out_to_the_entries(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        known = evaluate([node, *node.sources, *operands], example.values(operands), keep=lambda _: True)
        for at in np.ndindex(known[node].shape):
            place = dict(zip(node.names, at, strict=True))
            cell = cell_of(node, place, known)
            if not (isinstance(cell, Literal) and str(cell.value).startswith(SPOKEN)):
                assert_allclose(worked(cell, node, known), float(known[node][at]), rtol=1e-12, atol=1e-14)

    def test_text_and_latex_leave_nothing_to_fill_in(self, op: str, example: Example) -> None:
        node = example.graph()[0]
        for text in (formula(node), sizes(node)):
            assert not set("{}") & set(text), text
        assert not formula_fault(formula(node, "latex")), formula(node, "latex")

    def test_a_leading_axis_of_all_operands_passes_through(self, op: str, example: Example) -> None:
        if example.alone:
            with pytest.raises(ShapeError):
                example.graph(dict.fromkeys(range(len(example.operands)), LEAD))
        else:
            passes_through(example, range(len(example.operands)))

    @pytest.mark.thorough
    def test_a_leading_axis_of_one_operand_passes_through(self, op: str, example: Example) -> None:
        for i in range(len(example.operands)):
            try:
                example.graph({i: LEAD})
            except ShapeError:
                continue  # neither side has all the axes: an outer product is asked for, never arrived at
            passes_through(example, [i])

    @pytest.mark.thorough
    def test_an_axis_without_a_name_passes_through(self, op: str, example: Example) -> None:
        """Copies that are moved a little, and policies of rounding, stand in front of all operands or of one."""
        for lead in ({}, *({i: LEAD} for i in range(len(example.operands) * (not example.alone)))):
            try:
                node, operands = example.graph(lead)
            except ShapeError:
                continue  # neither side has all the axes
            drawn = [example.values(operands, seed) for seed in range(3)]
            for stacked in [[name] for name in drawn[0]] + [list(drawn[0])]:
                several = {n: np.stack([v[n] for v in drawn]) if n in stacked else drawn[0][n] for n in drawn[0]}
                found = value(node, several)
                for i in range(3 if stacked else 0):
                    alone = value(node, {n: v[i] if n in stacked else v for n, v in several.items()})
                    assert_allclose(found[i] if found.ndim > alone.ndim else found, alone, rtol=1e-13, atol=1e-14)

    def test_what_costs_nothing_computes_nothing(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        known = evaluate([node, *node.sources], example.values(operands), keep=lambda _: True)
        if node.row.flops == 0 and node.sources:
            there = {0.0, 1.0}.union(*(known[source].astype(float).flat for source in node.sources))
            assert set(known[node].astype(float).flat) <= there

    def test_what_hands_entries_on_costs_nothing(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        known = evaluate([node, *node.sources, *operands], example.values(operands), keep=lambda _: True)
        places = (dict(zip(node.names, at, strict=True)) for at in np.ndindex(known[node].shape))
        assert node.row.flops == 0 or not all(isinstance(cell_of(node, place, known), Pick) for place in places)

    def test_says_what_memory_its_value_takes(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        known = evaluate([node, *node.sources], example.values(operands), keep=lambda _: True)
        shown = any(np.shares_memory(known[node], known[source]) for source in node.sources)
        assert node.row.view == shown
        assert not node.sources or node.row.truth == (known[node].dtype == bool)

    def test_an_entry_is_no_larger_than_its_terms(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        if node.row.terms is not None:
            known = evaluate([node, *node.sources], example.values(operands), keep=lambda _: True)
            sizes = [np.abs(known[source]) for source in node.sources]
            if node.row.elementwise:
                laid = (ax.align(size, s.axes, node.axes) for size, s in zip(sizes, node.sources, strict=True))
                terms = node.row.terms(*laid)
            else:
                terms = node.row.terms(node, *sizes)
            assert (np.abs(known[node]) <= terms * (1 + 1e-12)).all()

    def test_what_it_adds_up_may_be_added_in_parts(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        if node.row.adds:
            known = evaluate([node, *node.sources], example.values(operands), keep=lambda _: True)
            (name,) = node.row.mixes(node)
            parts = np.zeros(node.shape)
            for place in range(node.sources[0].shape[ax.position(node.sources[0].axes, name)]):
                at = [known[s].take([place], axis=ax.position(s.axes, name)) for s in node.sources]
                parts += node.row.kernel(node, *at)
            assert_allclose(parts, known[node], rtol=1e-13, atol=1e-14)

    def test_entries_meet_along_the_axes_that_it_says_it_mixes(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands)
        mixes = node.row.mixes(node)
        lost = {name for source in node.sources for name in source.names} - set(node.names)
        assert op in MOVED or lost <= set(mixes), "an axis that is lost is mixed"
        for name in set(node.names) - set(mixes):
            sizes_along = {axis.size for some in (node, *node.sources) for axis in some.axes if axis.name == name}
            assert len(sizes_along) == 1, f"{name} changes its size, so its places are not the same ones"
            apart(node, operands, values, name)


def passes_through(example: Example, which: Iterable[int]) -> None:
    """Evaluating a stack of operands gives the stack of what each gives."""
    node, operands = example.graph()
    stacked, _ = example.graph(dict.fromkeys(which, LEAD))
    drawn = [example.values(operands, seed) for seed in range(LEAD.size)]
    names = [operands[i].args["name"] for i in which]
    several = {n: np.stack([v[n] for v in drawn]) if n in names else drawn[0][n] for n in drawn[0]}
    found = value(stacked, several)
    if not names:
        return
    assert set(stacked.names) == {LEAD.name, *node.names} or node.op == "size"
    for i in range(LEAD.size):
        alone = value(node, {n: v[i] if n in names else v for n, v in several.items()})
        if LEAD.name not in stacked.names:
            assert_allclose(found, alone)
            continue
        rest = ax.without(stacked.axes, LEAD.name)
        here = np.take(found, i, axis=ax.position(stacked.axes, LEAD.name))
        assert_allclose(ax.align(here, rest, node.axes), alone, rtol=1e-13, atol=1e-14)


def apart(node: Node, operands: list[Node], values: Mapping[str, Array], name: str) -> None:
    """What one place along an axis holds does not reach another place."""
    before = value(node, values)
    changed = dict(values)
    for operand in operands:
        if name in operand.names:
            moved = values[operand.args["name"]].copy()
            first = np.moveaxis(moved, ax.position(operand.axes, name), 0)[:1]  # a view: what is written reaches moved
            first[...] = ~first if moved.dtype == bool else first * 0.7
            changed[operand.args["name"]] = moved
    where = ax.position(node.axes, name)
    rest = range(1, before.shape[where])
    assert_array_equal(np.take(value(node, changed), rest, axis=where), np.take(before, rest, axis=where))


@every_exact_example
class TestEachExactExample:
    @pytest.mark.thorough
    def test_exact_numbers_give_what_floats_give(self, op: str, example: Example) -> None:
        import sympy

        node, operands = example.graph()
        values = example.values(operands)
        found = value(node, {n: v if v.dtype == bool else exactly(v) for n, v in values.items()}, "object")
        entries = [sympy.sympify(entry, strict=True) for entry in found.ravel().tolist()]
        assert not any(entry.has(sympy.Float) for entry in entries), "a float has spoilt the exact numbers"
        digits = np.array([float(entry.evalf(30)) if entry.is_number else bool(entry) for entry in entries])
        same(digits.reshape(found.shape).astype(float), value(node, values).astype(float), 14)

    @pytest.mark.thorough
    def test_cells_of_exact_numbers_work_out_to_the_entries(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = {n: v if v.dtype == bool else exactly(v) for n, v in example.values(operands).items()}
        known = evaluate([node, *node.sources, *operands], values, dtype="object", keep=lambda _: True)
        for at in np.ndindex(known[node].shape):
            cell = cell_of(node, dict(zip(node.names, at, strict=True)), known)
            if not (isinstance(cell, Literal) and str(cell.value).startswith(SPOKEN)):
                assert_allclose(worked(cell, node, known), float(known[node][at]), rtol=1e-12, atol=1e-14)


def test_what_is_drawn_has_no_closed_form() -> None:
    (drawn,) = EXAMPLES["random_normal"]
    with pytest.raises(NotExact):
        value(drawn.graph()[0], {}, "object")
