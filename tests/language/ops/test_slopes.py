"""Every primitive's gradient: the slope that moving entries finds, the one its definition gives, and its own slope."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from language.ops.examples import EXAMPLES, Example
from language.ops.working import defined, narrow, same, sizes_of, value
from numpy.typing import NDArray
from rows import rows
from slopes import slope

from attncalc.common.errors import NoGradient
from attncalc.language.gradients import gradients
from attncalc.language.graph import Node, given, walk
from attncalc.language.primitive import OPS

Array = NDArray[Any]
HELD = ("held", "held_or_0")  # whose gradient is 0 whatever its slope is
SMOOTH = [(op, e) for op, row in OPS.items() if row.vjp and op not in HELD for e in EXAMPLES.get(op, ()) if e.operands]
every_smooth_example = rows(("op", "example"), SMOOTH, ids=[f"{op}: {e}" for op, e in SMOOTH])


def backward(node: Node, wrt: list[Node]) -> dict[Node, Node]:
    """The gradients of Σ g ⊙ node; a node on which it does not depend is left out."""
    return gradients(node, given("g", node.axes), wrt)


def numbers(node: Node, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=sizes_of(node))


@every_smooth_example
class TestEachGradient:
    @pytest.mark.thorough
    def test_is_the_slope(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands) | {"g": numbers(node, 7)}
        found = backward(node, example.smooth(operands))
        for operand in example.smooth(operands):
            expected = slope(node, operand.args["name"], values, values["g"])
            same(value(found[operand], values) if operand in found else np.zeros_like(expected), expected, 8)

    @pytest.mark.thorough
    def test_is_that_of_the_definition(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        body = defined(node)
        values = example.values(operands) | {"g": numbers(node, 8)}
        written, derived = backward(node, example.smooth(operands)), backward(body, example.smooth(operands))
        assert written.keys() == derived.keys()
        for operand, gradient in written.items():
            assert gradient.names == operand.names
            same(value(gradient, values), value(derived[operand], values), 12)

    @pytest.mark.release
    def test_has_a_slope_of_its_own(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        wrt = example.smooth(operands)
        values = example.values(operands) | {"g": numbers(node, 9)}
        for operand, gradient in backward(node, wrt).items():
            over = [*wrt, next(n for n in walk(gradient) if n.op == "input" and n.args["name"] == "g")]
            weights = numbers(operand, 10)
            second = gradients(gradient, given("w", operand.axes), over)
            for other in over:
                expected = slope(gradient, other.args["name"], values, weights)
                found = value(second[other], {**values, "w": weights}) if other in second else np.zeros_like(expected)
                same(found, expected, 7)

    @pytest.mark.thorough
    def test_is_what_its_jacobian_comes_to(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands) | {"g": numbers(node, 12)}
        front = tuple(axis._replace(name=f"of {axis.name}") for axis in node.axes)
        values["each"] = np.eye(values["g"].size).reshape(node.shape * 2)
        once = gradients(node, given("each", front + node.axes), example.smooth(operands))
        for operand, gradient in backward(node, example.smooth(operands)).items():
            jacobian = value(once[operand], values)
            same(np.tensordot(values["g"], jacobian, values["g"].ndim), value(gradient, values), 12)

    def test_keeps_float32(self, op: str, example: Example) -> None:
        node, operands = example.graph()
        values = example.values(operands) | {"g": numbers(node, 11)}
        for gradient in backward(node, example.smooth(operands)).values():
            assert value(gradient, narrow(values), "float32").dtype == np.float32


@rows("op", [op for op, row in OPS.items() if row.no_gradient])
def test_what_has_no_gradient_says_why(op: str) -> None:
    for example in EXAMPLES[op]:
        node, operands = example.graph()
        if example.smooth(operands):
            with pytest.raises(NoGradient, match=OPS[op].no_gradient):
                backward(node, example.smooth(operands))
