"""Every primitive against itself: kernel, definition, gradient, arithmetic, text and LaTeX must tell the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from ops.examples import EXAMPLES, Example
from reader import latex_fault
from slopes import slope

from attncalc import axes as ax
from attncalc.axes import Axis
from attncalc.cells import Cell, Form, Literal, Pick
from attncalc.errors import NoGradient, ShapeError
from attncalc.evaluate import evaluate, exactly
from attncalc.gradients import gradients
from attncalc.graph import OPS, Node, given, rewrite
from attncalc.notation import formula, sizes

Array = NDArray[Any]
FLAT = [(op, e) for op, examples in EXAMPLES.items() for e in examples]
every_example = pytest.mark.parametrize(("op", "example"), FLAT, ids=[f"{op}: {e}" for op, e in FLAT])
SMOOTH = [(op, e) for op, e in FLAT if op in OPS and OPS[op].vjp and e.operands]
every_smooth_example = pytest.mark.parametrize(("op", "example"), SMOOTH, ids=[f"{op}: {e}" for op, e in SMOOTH])
LEAD = Axis("lead", 2)
MOVED = ("rename", "split", "merge", "repeat")


def value(node: Node, operands: Mapping[str, Array], dtype: str = "float64") -> Array:
    return evaluate([node], operands, dtype=dtype)[node]


def reals(nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if not node.args["boolean"]]


def backward(node: Node, wrt: list[Node], name: str = "g") -> dict[Node, Node]:
    """The gradients of Σ g ⊙ node; a node on which it does not depend is left out."""
    return gradients(node, given(name, node.axes), wrt)


def numbers(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def same(found: Array, expected: Array, digits: int = 9) -> None:
    assert found.shape == expected.shape
    largest = float(np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected)))
    assert_allclose(found, expected, rtol=10.0**-digits, atol=10.0**-digits * largest)


def test_every_primitive_has_an_example() -> None:
    missing = sorted(OPS.keys() - EXAMPLES.keys())
    assert not missing, f"add to tests/ops/examples.py a row for {', '.join(missing)}: a graph that ends in it"
    assert not EXAMPLES.keys() - OPS.keys()


@pytest.mark.parametrize("op", OPS)
def test_a_row_has_a_gradient_and_a_reason_or_says_why_not(op: str) -> None:
    row = OPS[op]
    has_sources = any(example.graph()[0].sources for example in EXAMPLES.get(op, ()))
    assert bool(row.vjp) + bool(row.no_gradient) == has_sources, "either vjp= or no_gradient="
    if row.vjp and op not in ("step", "rename", "transpose"):  # those hand on the reason of what they name or turn
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
        narrow = {name: v if v.dtype == bool else v.astype(np.float32) for name, v in values.items()}
        found, wide = value(node, narrow, "float32"), value(node, values)
        if wide.dtype.kind == "f":
            assert found.dtype == np.float32
            same(found, wide.astype(np.float32), 4)
        else:
            assert_array_equal(found, wide)

    def test_exact_numbers_give_what_floats_give(self, op: str, example: Example) -> None:
        import sympy

        node, operands = example.graph()
        values = example.values(operands)
        found = value(node, {n: v if v.dtype == bool else exactly(v) for n, v in values.items()}, "object")
        entries = [sympy.sympify(entry, strict=True) for entry in found.ravel().tolist()]
        assert not any(entry.has(sympy.Float) for entry in entries), "a float has spoilt the exact numbers"
        digits = np.array([float(entry.evalf(30)) if entry.is_number else bool(entry) for entry in entries])
        same(digits.reshape(found.shape).astype(float), value(node, values).astype(float), 14)

    def test_cells_work_out_to_the_entries(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        known = evaluate([node, *node.sources, *operands], example.values(operands), keep=lambda _: True)
        for at in np.ndindex(known[node].shape):
            place = dict(zip(node.names, at, strict=True))
            cell = node.row.cell(node, place, lambda i, there: entry(node.sources[i], there, known)) if node.op != "input" else Literal(known[node][at])
            if not (isinstance(cell, Literal) and str(cell.value).startswith(SPOKEN)):
                assert_allclose(worked(cell, node, known), float(known[node][at]), rtol=1e-12, atol=1e-14)

    def test_text_and_latex_leave_nothing_to_fill_in(self, op: str, example: Example) -> None:
        node = example.graph()[0]
        for text in (formula(node), sizes(node)):
            assert not set("{}") & set(text), text
        assert not latex_fault(formula(node, "latex")), formula(node, "latex")

    def test_a_leading_axis_of_all_operands_passes_through(self, op: str, example: Example) -> None:
        if example.alone:
            with pytest.raises(ShapeError):
                example.graph(dict.fromkeys(range(len(example.operands)), LEAD))
        else:
            passes_through(example, range(len(example.operands)))

    def test_a_leading_axis_of_one_operand_passes_through(self, op: str, example: Example) -> None:
        for i in range(len(example.operands)):
            try:
                example.graph({i: LEAD})
            except ShapeError:
                continue  # neither side has all the axes: an outer product is asked for, never arrived at
            passes_through(example, [i])

    def test_an_axis_without_a_name_passes_through(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        drawn = [example.values(operands, seed) for seed in range(3)]
        for stacked in [[name] for name in drawn[0]] + [list(drawn[0])]:
            several = {n: np.stack([v[n] for v in drawn]) if n in stacked else drawn[0][n] for n in drawn[0]}
            found = value(node, several)
            for i in range(3 if stacked else 0):
                alone = value(node, {n: v[i] if n in stacked else v for n, v in several.items()})
                assert_allclose(found[i] if found.ndim > alone.ndim else found, alone, rtol=1e-13, atol=1e-14)

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


def defined(node: Node) -> Node:
    """The node by its body, where it has one."""
    return rewrite([node], lambda copy: copy.row.body(copy, *copy.sources) if copy.op == node.op and copy.row.body else None)[0]


def entry(node: Node, place: Mapping[str, int], known: Mapping[Node, Array]) -> Any:
    return known[node][tuple(place[name] for name in node.names)]


SIGNS: dict[str, Any] = {
    "+": lambda *parts: math.fsum(parts),
    "−": lambda a, b: a - b,
    "×": lambda *parts: math.prod(parts),
    "/": lambda a, b: a / b,
    "√": math.sqrt,
    "^": lambda a, b: a**b,
    "neg": lambda a: -a,
    "abs": abs,
    "exp": math.exp,
    "ln": math.log,
    "log₂": math.log2,
    "log₁₀": math.log10,
    "!": lambda x: math.factorial(int(x)),
    "max": max,
    "min": min,
    "erf": math.erf,
    "floor": math.floor,
    "argmax": lambda *parts: parts.index(max(parts)),
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "arccos": math.acos,
    "sign": np.sign,
    "≤": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "not": lambda a: not a,
}
SPOKEN = (
    "an entry of a unit vector",
    "a root of the characteristic polynomial",
    "the root of an eigenvalue",
)
"""What cells say of entries that no short arithmetic gives."""
WORDS = {"π": math.pi, "masked: −∞": -math.inf, "taken": -math.inf, "left out": -math.inf}


def worked(cell: Cell, node: Node, known: Mapping[Node, Array]) -> float:
    """What an entry's cell comes to."""
    if isinstance(cell, Pick):
        return float(entry(node.sources[cell.source], cell.at, known))
    if isinstance(cell, Form):
        return float(SIGNS[cell.sign](*(worked(part, node, known) for part in cell.parts)))
    if node.op in ("constant",) and node.args["symbol"] == cell.value:
        return float(node.args["value"])
    return float(WORDS.get(cell.value, cell.value))


def passes_through(example: Example, which: Any) -> None:
    """Evaluating a stack of operands gives the stack of what each gives."""
    node, operands = example.graph()
    stacked, with_lead = example.graph(dict.fromkeys(which, LEAD))
    drawn = [example.values(operands, seed) for seed in range(LEAD.size)]
    names = [operands[i].args["name"] for i in which]
    several = {n: np.stack([v[n] for v in drawn]) if n in names else drawn[0][n] for n in drawn[0]}
    found = value(stacked, several)
    if not names:
        return
    assert set(stacked.names) == {LEAD.name, *node.names} or not node.sources and node.op == "size"
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
            at = [slice(None)] * moved.ndim
            at[ax.position(operand.axes, name)] = 0  # type: ignore[call-overload]  # a place among the slices
            moved[tuple(at)] = ~moved[tuple(at)] if moved.dtype == bool else moved[tuple(at)] * 0.7
            changed[operand.args["name"]] = moved
    where = ax.position(node.axes, name)
    rest = range(1, before.shape[where])
    assert_array_equal(np.take(value(node, changed), rest, axis=where), np.take(before, rest, axis=where))


@every_smooth_example
class TestEachGradient:
    def test_is_the_slope(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands) | {"g": numbers(tuple(axis.size for axis in node.axes), 7)}
        found = backward(node, reals(operands))
        for operand in reals(operands):
            expected = slope(node, operand.args["name"], values, values["g"])
            same(value(found[operand], values) if operand in found else np.zeros_like(expected), expected, 8)

    def test_is_that_of_the_definition(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        body = defined(node)
        values = example.values(operands) | {"g": numbers(tuple(axis.size for axis in node.axes), 8)}
        written, derived = backward(node, reals(operands)), backward(body, reals(operands))
        assert written.keys() == derived.keys()
        for operand, gradient in written.items():
            assert gradient.names == operand.names
            same(value(gradient, values), value(derived[operand], values), 12)

    def test_has_a_slope_of_its_own(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        wrt = reals(operands)
        values = example.values(operands) | {"g": numbers(tuple(axis.size for axis in node.axes), 9)}
        for operand, gradient in backward(node, wrt).items():
            over = [*wrt, next(n for n in ancestors(gradient) if n.op == "input" and n.args["name"] == "g")]
            weights = numbers(tuple(axis.size for axis in operand.axes), 10)
            second = gradients(gradient, given("w", operand.axes), over)
            for other in over:
                expected = slope(gradient, other.args["name"], values, weights)
                found = value(second[other], {**values, "w": weights}) if other in second else np.zeros_like(expected)
                same(found, expected, 7)

    def test_keeps_float32(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands) | {"g": numbers(tuple(axis.size for axis in node.axes), 11)}
        narrow = {name: v if v.dtype == bool else v.astype(np.float32) for name, v in values.items()}
        for gradient in backward(node, reals(operands)).values():
            assert value(gradient, narrow, "float32").dtype == np.float32


def ancestors(node: Node) -> list[Node]:
    from attncalc.graph import walk

    return walk(node)


@pytest.mark.parametrize("op", [op for op, row in OPS.items() if row.no_gradient])
def test_what_has_no_gradient_says_why(op: str) -> None:
    for example in EXAMPLES[op]:
        node, operands = example.graph()
        if reals(operands) and op != "held":
            with pytest.raises(NoGradient, match=OPS[op].no_gradient):
                backward(node, reals(operands))
