"""Traces are data: they go through pickle and into another process, come back equal, and tell what they told before."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import attncalc as ac
from attncalc.calculations import TABLE
from attncalc.common.errors import AttncalcError
from attncalc.inputs.problem_files import sample_problem
from attncalc.record.trace import NOTHING, Given, Step, Trace, alike
from attncalc.solve import asking
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

HOW: dict[str, tuple[Backward | None, dict[str, Any]]] = {
    "as it is": (None, {}),
    "rounded": (None, {"round_to": 2}),
    "expanded": (None, {"expand": True}),
    "in 32 bits": (None, {"dtype": "float32"}),
    "backward": (Backward(gradcheck=True), {}),
}
EXACTLY = ("attention", "softmax", "cosine", "dot", "matmul", "layernorm", "descend")


def traces(names: Sequence[str]) -> dict[str, Trace]:
    """The samples in every way that they can be carried out in, but few of them exactly, which takes long."""
    found = {}
    for name in names:
        for how, (backward, mode) in HOW.items():
            try:
                found[f"{name}, {how}"] = solve(sample_problem(name)._replace(backward=backward), **mode)
            except AttncalcError:
                continue  # it has no gradient
    found |= {f"{name}, exactly": solve(sample_problem(name), exact=True) for name in EXACTLY}
    letters = np.array(sympy.symbols("a b c"))
    return found | {"letters": ac.softmax(letters), "its backward pass": ac.softmax(letters).grad()}


def told(trace: Trace) -> list[Any]:
    """What is worked out later, of the first and the last entry of each step."""
    found: list[Any] = []
    for step in (*trace.steps, *trace.outputs):
        found += [asking.is_worked_out(trace, step), asking.left_over(trace, step)]
        for at in {(0,) * len(step.shape), tuple(size - 1 for size in step.shape)}:
            found += [asking.arithmetic(trace, step, at), asking.origins(trace, step, at)]
    return found


def again(trace: Trace) -> tuple[Trace, list[Any]]:
    """The work of another process."""
    return trace, told(trace)


@pytest.fixture(scope="module")
def every(request: pytest.FixtureRequest) -> dict[str, Trace]:
    """The traces of all calculations for a release, of one in three otherwise."""
    return traces([*TABLE][:: 1 if request.config.getoption("--release") else 3])


@pytest.mark.release
def test_ids_are_whole_numbers(every: dict[str, Trace]) -> None:
    ids = {name: step for name, trace in every.items() for step in (*trace.steps, *trace.outputs) if step.names}
    assert ids
    assert {step.value.dtype.kind for step in ids.values() if step.value is not None} == {"i"}


@pytest.mark.thorough
def test_every_trace_goes_through_pickle_and_comes_back_equal(every: dict[str, Trace]) -> None:
    for number, (name, trace) in enumerate(every.items()):
        back = pickle.loads(pickle.dumps(trace))  # noqa: S301  (what was written a moment ago)
        assert back == trace, name
        assert hash(back) == hash(trace), name
        assert repr(back) == repr(trace), name
        if number % 4 == 0:  # all are told in another process
            assert alike(tuple(told(back)), tuple(told(trace))), name


@pytest.mark.release
def test_a_trace_goes_to_another_process_and_comes_back_equal(
    every: dict[str, Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))  # where the other process finds `again`
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        few = dict(islice(every.items(), 0, None, 3))  # each calculation in some of its ways
        for (name, trace), (back, said) in zip(few.items(), pool.map(again, few.values(), chunksize=20), strict=True):
            assert back == trace, name
            assert alike(tuple(said), tuple(told(trace))), name


def test_what_was_not_kept_is_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from attncalc.solve import large, problem

    whole = solve(sample_problem("attention"))
    monkeypatch.setattr(problem, "LARGE", 1)
    monkeypatch.setattr(large, "SMALL", 0)
    trace = solve(sample_problem("attention"))
    back = pickle.loads(pickle.dumps(trace))  # noqa: S301  (what was written a moment ago)
    assert back == trace != whole
    assert trace.find("scores").value is None
    np.testing.assert_allclose(back["scores"], whole["scores"])
    assert told(back) == told(trace)


def test_a_trace_and_its_steps_are_frozen() -> None:
    trace = ac.softmax([1, 2, 3])
    with pytest.raises(AttributeError, match="a trace is frozen: notes cannot be set"):
        trace.notes = ("changed",)
    with pytest.raises(AttributeError, match="frozen"):
        del trace.notes
    with pytest.raises(AttributeError):
        trace.steps[0].why = "changed"  # type: ignore[misc]  # it must fail
    with pytest.raises(TypeError, match="nothing can be set"):
        NOTHING["n"] = ("a",)  # type: ignore[index]  # it must fail


def test_traces_are_equal_by_their_values() -> None:
    trace = ac.softmax([1, 2, 3])
    assert trace == ac.softmax([1, 2, 3])
    assert trace != ac.softmax([1, 2, 4])
    assert trace != ac.softmax([1, 2, 3], round_to=2)
    assert trace != "softmax"
    assert len({trace, ac.softmax([1, 2, 3]), ac.softmax([1, 2, 4])}) == 2
    first, second = trace.steps[:2]
    assert first == ac.softmax([1, 2, 3]).steps[0] != second
    assert first._replace(value=None) != first
    assert first != first.name
    assert first.name not in trace.steps


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0, 2.0]), np.array([1, 2]), False),
        (np.array([1.0]), np.array([[1.0]]), False),
        (np.array([1.0]), 1.0, False),
        (np.array([sympy.sqrt(2)]), np.array([sympy.sqrt(2)]), True),
        (np.array([sympy.sqrt(2)]), np.array([sympy.sqrt(3)]), False),
        (float("nan"), float("nan"), True),
        ({"a": np.ones(2)}, {"a": np.ones(2)}, True),
        ({"a": np.ones(2)}, {"b": np.ones(2)}, False),
        ((1, (np.ones(2),)), (1, (np.ones(2),)), True),
        ((1, 2), (1, 2, 3), False),
        (ac.softmax([1]).steps[0], "softmax", False),
        (None, ac.softmax([1]).steps[0], False),
    ],
)
def test_alike(left: Any, right: Any, same: bool) -> None:
    assert alike(left, right) is same


def test_operands_and_problems_are_equal_by_their_values() -> None:
    one, other = Given(np.ones(2)), Given(np.zeros(2))
    assert one == Given(np.ones(2)) != other
    assert hash(one) == hash(Given(np.ones(2)))
    softmax = sample_problem("softmax").calculation
    assert Problem(softmax, {"x": one}) == Problem(softmax, {"x": Given(np.ones(2))}) != Problem(softmax, {"x": other})
    assert pickle.loads(pickle.dumps(softmax)) is softmax  # noqa: S301  (as above)


def test_a_step_holds_no_callable() -> None:
    trace = ac.attention([[1, 0]], [[1, 0], [0, 1]], [[1, 2], [3, 4]], causal=False)
    assert isinstance(trace.steps[0], Step)
    assert not any(callable(field) for step in trace.steps for field in step)
