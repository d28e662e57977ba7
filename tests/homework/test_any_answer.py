"""Whatever numbers of the right shape stand on a sheet, every step of every calculation has a verdict."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from attncalc.calculations import TABLE
from attncalc.problem import solve
from attncalc.samples import problem
from attncalc.trace import Trace

Array = NDArray[np.float64]


def one_wrong(value: Array) -> Array:
    return np.where(np.arange(value.size).reshape(value.shape) == value.size // 2, value + 1, value)


MANNERS: dict[str, Callable[[Array], Array]] = {
    "one entry wrong": one_wrong,
    "all entries wrong": lambda value: 1.7 * value + 0.3,
    "every other entry far off": lambda value: np.where(np.arange(value.size).reshape(value.shape) % 2, 1e308, value),
}


@cache
def solved(name: str) -> Trace:
    return solve(problem(name))


def numbers(trace: Trace) -> dict[str, Array]:
    """The steps that a sheet can answer in finite real numbers."""
    named = {step.key: np.asarray(step.value) for step in trace.steps if step.value is not None}
    return {name: v.astype(float) for name, v in named.items() if v.dtype.kind in "fiu" and np.isfinite(v).all()}


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("name", TABLE)
def test_every_answer_has_a_verdict(name: str, manner: str) -> None:
    trace = solved(name)
    sheet = {step: MANNERS[manner](value).tolist() for step, value in numbers(trace).items()}
    judged = {step.name: step.verdict for step in trace.check(sheet).steps}
    assert judged.keys() == sheet.keys()
    assert all(judged.values())


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("name", TABLE)
def test_every_result_alone_has_a_verdict(name: str, manner: str) -> None:
    trace = solved(name)
    if trace.result.dtype.kind not in "fiu" or not np.isfinite(trace.result).all():
        return
    (step,) = trace.check(MANNERS[manner](trace.result.astype(float)).tolist()).steps
    assert step.verdict
