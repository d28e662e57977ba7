"""Programs: what is evaluated many times gives what is evaluated once, for every kind of number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from language.ops.examples import EXAMPLES, Example
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from rows import rows

from attncalc.evaluate.loops import Program
from attncalc.evaluate.values import evaluate
from attncalc.language.exact_kernels import exactly
from attncalc.language.graph import given, step
from attncalc.language.ops import exp, listed, take

Array = NDArray[Any]
FLAT = [(op, example) for op, examples in EXAMPLES.items() for example in examples if example.operands]


@rows(("op", "example"), FLAT, ids=[f"{op}: {example}" for op, example in FLAT])
def test_every_primitive_gives_what_evaluate_gives(op: str, example: Example) -> None:
    node, operands = example.graph()
    values = example.values(operands)
    known = evaluate([node], values)[node]
    everything = Program([node], values, [*values]).run(values)[node]
    nothing = Program([node], values, ()).run(values)[node]
    assert_allclose(everything.astype(float), known.astype(float), rtol=1e-13, err_msg=op)
    assert_allclose(nothing.astype(float), known.astype(float), rtol=1e-13, err_msg=op)


def test_what_changes_is_worked_out_anew_and_the_rest_is_kept() -> None:
    a, b = given("a", ()), given("b", ())
    kept, moved = step("kept", exp(a)), step("moved", a * b + exp(a))
    state = {"a": np.array(1.0), "b": np.array(2.0)}
    program = Program([kept, moved], state, ["b"])
    for value in (2.0, -3.0):
        found = program.run(state | {"b": np.array(value), "a": np.array(99.0)})
        assert float(found[moved]) == pytest.approx(value + np.e)
        assert float(found[kept]) == pytest.approx(np.e)
        assert [*found] == [kept, moved]
        assert len(found) == 2


@pytest.mark.parametrize("dtype", ["float64", "float32", "object"])
def test_numbers_and_vectors_of_every_kind(dtype: str) -> None:
    x, y = given("x", ()), given("y", ())
    point = step("point", listed([x**2, x / y - 1], "variable"))
    back = step("back", take(point, "variable", 1) * 3)
    state: dict[str, Array] = {"x": np.array(3.0), "y": np.array(4.0)}
    state = {name: exactly(v) if dtype == "object" else v.astype(dtype) for name, v in state.items()}
    found = Program([point, back], state, ["x"], dtype=dtype).run(state)
    assert found[point].astype(float).tolist() == [9, -0.25]
    assert float(found[back]) == -0.75
    assert found[point].dtype == found[back].dtype == np.dtype(dtype)


def test_steps_are_rounded_before_the_next_uses_them() -> None:
    x = given("x", ())
    third = step("third", x / 3)
    program = Program(
        [step("whole", third * 3)], {"x": np.array(1.0)}, ["x"], after_step=lambda v: np.asarray(np.round(v, 1))
    )
    found = program.run({"x": np.array(1.0)})
    assert float(found[third]) == 0.3
    assert [float(found[node]) for node in found] == [0.3, 0.9]
