"""A primitive is one row: two that nobody knows do what all others do, and no reader of graphs keeps a list of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from rows import rows

import attncalc
from attncalc.declare.calculation import Calculation, calculation
from attncalc.evaluate import cost
from attncalc.evaluate.large import blocks
from attncalc.evaluate.large.blocks import evaluate_large
from attncalc.evaluate.values import evaluate
from attncalc.homework.diagnosis.comparing import Spelled
from attncalc.language.axes import Axis, position
from attncalc.language.exact_kernels import exactly
from attncalc.language.graph import Node, given, step
from attncalc.language.ops import ROWS, total
from attncalc.language.ops.basics import function, keep, mixes
from attncalc.language.primitive import OPS, Op, Pick
from attncalc.record.trace import Given, Trace
from attncalc.solve import asking
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

PACKAGE = Path(attncalc.__file__).parent
X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])
NEW = {
    "turned_round": Op(
        lambda node, x: np.flip(x, position(node.axes, node.args["over"])),
        keep,
        "turned({0})",
        r"\operatorname{{turned}}({0})",
        lambda node, at, look: Pick(0, {**at, "d": node.axes[-1].size - 1 - at["d"]}),
        vjp=lambda g, y, node, x: [Node("turned_round", g, over=node.args["over"])],
        because="each entry is felt where it went",
        mixes=mixes,
        flops=0,
        view=True,
    ),
    "cube": function(
        lambda x: x**3,
        "cube",
        r"\operatorname{{cube}}",
        lambda g, y, node, x: [g * (3 * x**2)],
        "the slope of a cube is three times the square",
        body=lambda node, x: x * x * x,
        flops=2,
    ),
}


@pytest.fixture(autouse=True)
def two_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, row in NEW.items():
        monkeypatch.setitem(OPS, name, row)


@calculation(x="n d")
def cubes(x: Node) -> Node:
    """The cubes of rows that are turned round."""
    turned = step("turned", Node("turned_round", x, over="d"), "the last comes first")
    return step("sums", total(Node("cube", turned)), "one number a row")


def solved(value: Any = X, backward: Backward | None = None, **how: Any) -> Trace:
    assert isinstance(cubes, Calculation)
    return solve(Problem(cubes, {"x": Given(np.asarray(value))}, {}, backward), **how)


def test_numbers_formulas_and_the_arithmetic_of_an_entry() -> None:
    trace = solved()
    np.testing.assert_array_equal(trace["turned"], X[:, ::-1])
    np.testing.assert_allclose(trace.result, (X**3).sum(axis=1))
    assert [s.formula for s in trace.steps] == ["turned(x)", "Σ cube(turned)"]
    assert trace.steps[1].latex == r"\sum_{d} \operatorname{cube}(\text{turned})"
    shown = asking.arithmetic(trace, trace.steps[1], (0,))
    assert "".join(str(getattr(p, "value", p)) for p in shown) == "cube(3.0) + cube(-2.0) + cube(1.0)"


def test_exact_numbers_and_letters() -> None:
    assert list(map(str, solved(exactly(X)).result)) == ["20", "243/4"]
    assert list(map(str, solved(np.array([list(sympy.symbols("a b"))])).result)) == ["a**3 + b**3"]


def test_gradients_and_jacobians() -> None:
    trace = solved(backward=Backward(gradcheck=True))
    gradient = trace.outputs[0]
    assert gradient.value is not None
    assert gradient.check is not None
    np.testing.assert_allclose(gradient.value, 3 * X**2)
    np.testing.assert_allclose(gradient.check.numeric, 3 * X**2, rtol=1e-6)
    jacobian = solved(backward=Backward(jacobian=True)).outputs[0].value
    assert jacobian is not None
    np.testing.assert_allclose(jacobian.sum(axis=0), 3 * X**2)


def test_the_definition_and_what_it_costs() -> None:
    assert [s.key for s in solved(expand=True).steps] == ["turned", "sums/product", "sums/product_2", "sums"]
    node = Node("cube", Node("turned_round", given("x", (Axis("n", 2), Axis("d", 3))), over="d"))
    assert (str(cost.flops(node)), str(cost.flops(node.sources[0]))) == ("2·n·d", "0")


def test_blocks_and_places_to_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "places", lambda row, axis, itemsize: 2)
    many = np.arange(21.0).reshape(7, 3)
    x = given("x", (Axis("n", 7), Axis("d", 3)))
    root = total(Node("cube", Node("turned_round", x, over="d")))
    np.testing.assert_array_equal(evaluate_large([root], {"x": many})[root], evaluate([root], {"x": many})[root])
    assert [place.sources[0].op for place in Spelled(root, {}).places] == ["mul", "mul", "sum"]
    by_hand = x @ given("w", (Axis("d", 3), Axis("k", 2)))  # a product of matrices is written down entry by entry
    assert [place.sources[0].op for place in Spelled(by_hand, {}).places] == ["mul", "sum"]


MATCHERS = {
    "language/gradients": "the rules of algebra: each knows what stands inside what it shortens, as −(a − b) is b − a",
    "evaluate/large/fused": "softmax(x)·V and the masks and scales in x, which one kernel does together",
}
"""The modules that look for patterns of several primitives, and why; all others ask a primitive's row."""
PRIMITIVES = set(" ".join(ROWS.values()).split())
LEAVES = {"constant", "constants", "identity", "index", "input", "size", "step"}
"""The graph's own words: operands, numbers, sizes, positions and named steps."""


@pytest.mark.thorough
@rows("module", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_those_that_match_patterns_name_primitives(module: Path) -> None:
    part = str(module.relative_to(PACKAGE).with_suffix(""))
    if not part.startswith(("calculations", "mistakes", "language/ops")):
        named = compared(ast.parse(module.read_text(encoding="utf-8"))) & PRIMITIVES - LEAVES
        assert bool(named) == (part in MATCHERS), f"{part} names {sorted(named)}: what it asks belongs into their rows"


def compared(tree: ast.Module) -> set[str]:
    """The words that a module compares a node's primitive with, or looks it up by."""
    assigned = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Subscript) and any(is_primitive(child) for child in ast.walk(node)):
            found |= set(words(node, assigned))
    return found


def is_primitive(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "op"


def words(node: ast.AST, assigned: dict[str, ast.expr]) -> Iterator[str]:
    """The texts in an expression, and in what its names stand for."""
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        elif isinstance(child, ast.Name) and child.id in assigned:
            yield from words(assigned[child.id], {name: value for name, value in assigned.items() if name != child.id})
