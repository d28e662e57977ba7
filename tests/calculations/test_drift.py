"""Nothing drifts: whatever is changed in what is computed changes what is printed, or the graph refuses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from calculations.cases import EXPECTED
from calculations.test_registry import CASES
from calculations.trial import Case
from numpy.typing import NDArray
from readback.arithmetic import comes_to, spelled

from attncalc.calculations import attention, attention_options, distances, load, probability
from attncalc.common.errors import ShapeError
from attncalc.declare.calculation import Calculation
from attncalc.evaluate.values import evaluate
from attncalc.language.graph import Node, rewrite, steps
from attncalc.language.primitive import formula
from attncalc.record.trace import Given, Trace
from attncalc.solve import asking
from attncalc.solve.problem import Problem, Written
from attncalc.solve.recording import Kept, record
from attncalc.solve.solver import solve, write

Array = NDArray[Any]

SPOILT: dict[str, Callable[[Node], Node]] = {
    "add": lambda node: node.sources[0] - node.sources[1],
    "sub": lambda node: node.sources[0] + node.sources[1],
    "mul": lambda node: node.sources[0] + node.sources[1],
    "div": lambda node: node.sources[0] * node.sources[1],
    "neg": lambda node: node.sources[0] * 1,
    "pow": lambda node: node.sources[0] * 3,
    "exp": lambda node: node.sources[0] ** 2,
    "sqrt": lambda node: node.sources[0] * 1,
    "abs": lambda node: node.sources[0] * 1,
    "tanh": lambda node: node.sources[0] * 1,
    "sum": lambda node: Node("mean", node.sources[0], over=node.args["over"]),
    "mean": lambda node: Node("sum", node.sources[0], over=node.args["over"]),
    "peak": lambda node: Node("sum", node.sources[0], over=node.args["over"]),
    "softmax": lambda node: node.sources[0] ** 2,
    "less_equal": lambda node: node.sources[0] < node.sources[1],
    "less": lambda node: node.sources[0] <= node.sources[1],
}
"""Another operation in the place of each."""
RESIDUE = 1e-12


def written(name: str, case: Case) -> Written:
    inputs = {operand: Given(value) for operand, value in case.arrays().items()}
    return write(Problem(load(name), inputs, case.options))


def recorded(nodes: list[Node], graph: Written) -> Trace:
    values, named = evaluate(nodes, graph.values), steps(*nodes)
    found = tuple(record(node, values[node], {}) for node in named)
    return Trace("demo", "", {}, {}, found, found[-1:], behind=Kept(named, values, graph.values))


def line(trace: Trace, name: str, at: tuple[int, ...]) -> str:
    return spelled(asking.arithmetic(trace, trace.find(name), at))


def spots(name: str) -> dict[str, Case]:
    """Every operation of a calculation that another can take the place of, and the first case that has it."""
    found: dict[str, Case] = {}
    for case in (case for other, case in CASES if other == name):
        graph = written(name, case)
        if graph.loop is None:
            kinds = {inner.op for step in steps(*graph.roots) for inner in inside(step)}
            found = dict.fromkeys(sorted(kinds & SPOILT.keys()), case) | found
    return found


def inside(step: Node) -> list[Node]:
    """What a step's formula is made of, up to the steps that it speaks of."""
    found, stack = [], list(step.sources)
    while stack:
        node = stack.pop()
        if node.op != "step":
            found.append(node)
            stack.extend(shown(node))
    return found


def shown(node: Node) -> list[Node]:
    """The sources that a primitive's text speaks of; some only help it to its digits, or say what is left out."""
    marks = [f"⟨{i}⟩" for i in range(len(node.sources))]
    template = node.row.text
    text = template(node, *marks) if callable(template) else template.format(*marks, a=node.args)
    return [source for source, mark in zip(node.sources, marks, strict=True) if mark in text]


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", {name: None for name, _ in CASES})
def test_another_operation_is_another_formula_and_another_line(name: str) -> None:
    for op, case in spots(name).items():
        is_another(name, case, op)


def is_another(name: str, case: Case, op: str) -> None:
    graph = written(name, case)
    before = recorded(list(graph.roots), graph)
    owner = next(step for step in steps(*graph.roots) if op in {node.op for node in inside(step)})
    try:
        after = recorded(spoilt(graph, owner, op), graph)
    except ShapeError:
        return  # the graph refuses it, which is as good
    key = "/".join(filter(None, owner.key))
    old, new = before.find(key), after.find(key)
    assert new.formula != old.formula
    assert new.latex != old.latex
    if new.axes != old.axes:
        return  # an axis came in with what was taken out
    changed = np.argwhere(np.asarray(new.value != old.value))
    for at in [tuple(place) for place in changed[:3].tolist()]:
        if abs(float(np.asarray(new.value)[at])) > RESIDUE:  # what rounding alone has left has no line
            assert line(after, key, at) != line(before, key, at)
            comes_out(after, key, at)


def spoilt(graph: Written, owner: Node, op: str) -> list[Node]:
    """The graph with another operation in the first such place of one step."""
    target = next(node for node in reversed(inside(owner)) if node.op == op)
    return rewrite(list(graph.roots), lambda node: SPOILT[op](node) if node is target else None)


def comes_out(trace: Trace, name: str, at: tuple[int, ...]) -> None:
    """The arithmetic of a changed entry is that of its changed value."""
    value, shown = trace[name][at], line(trace, name, at)
    if np.isfinite(value) and "…" not in shown:
        assert comes_to(shown, float(value))


TWO = {"q": [[1.0, 0, 1], [0, 1, 1]], "k": [[1.0, 1, 0], [1, 0, 1]], "v": [[2.0, 0, 1], [1, 1, 0]]}


class TestAnAuthorWhoWritesSomethingElse:
    """The same by changing what the author's words mean, in the author's own module."""

    def run(self, calculation: Calculation, **operands: Any) -> Trace:
        return solve(Problem(calculation, {name: Given(np.array(value)) for name, value in operands.items()}))

    def test_a_scale_that_is_another_is_printed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(attention_options, "sqrt", lambda x: x * 2)
        trace = self.run(attention.attention, **TWO)
        step = trace.find("scaled")
        assert (step.formula, step.sizes, step.latex) == (
            "scores / (d_k·2)",
            "[2×2] / (3·2)",
            r"\frac{\text{scores}}{d_{k} \cdot 2}",
        )
        assert line(trace, "scaled", (0, 0)) == "1.0 / (3.0×2.0)"

    def test_a_distance_that_adds_is_printed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Node, "__sub__", Node.__add__)
        trace = self.run(distances.euclidean, a=[1.0, 2], b=[3.0, 5])
        assert trace.find("difference").formula == "a + b"
        assert line(trace, "difference", (0,)) == "1.0 + 3.0"
        assert trace.result == pytest.approx(65**0.5)

    def test_a_softmax_without_its_shift_is_printed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(probability, "held", lambda x: x * 0)
        assert self.run(probability.softmax, x=[1.0, 2]).find("shifted").formula == "x − max(x)·0"

    def test_a_product_without_its_transpose_is_refused_even_for_squares(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Node, "T", property(lambda self: self))
        square = {name: np.eye(2) for name in "qkv"}
        with pytest.raises(ShapeError, match="cannot form Q·K"):
            self.run(attention.attention, **square)


def test_a_gradient_is_of_what_was_changed() -> None:
    """A change before the backward pass is in it: the scale taken away doubles nothing by accident."""
    graph = written("attention", EXPECTED["attention"].cases[0])
    from attncalc.language.gradients import gradients
    from attncalc.language.graph import given

    (weights,) = [node for node in steps(graph.result) if node.args["name"] == "weights"]
    (scaled,) = [node for node in steps(graph.result) if node.args["name"] == "scaled"]
    (bare,) = rewrite([weights], lambda node: node.sources[0].sources[0] if node is scaled else None)
    Q = graph.operands["q"]
    with_scale, without = (gradients(node, given("g", node.axes), [Q])[Q] for node in (weights, bare))
    assert formula(with_scale) == "∂L/∂scores·K"
    assert [node.args["name"] for node in steps(with_scale)].count("grad_scaled") == 1
    assert [node.args["name"] for node in steps(without)].count("grad_scaled") == 0
