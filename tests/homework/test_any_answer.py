"""Whatever numbers of the right shape stand on a sheet, every step of every calculation has a verdict."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rows import rows

import attncalc as ac
from attncalc.calculations import TABLE, load
from attncalc.common.errors import AttncalcError
from attncalc.declare.operands import Operand
from attncalc.inputs.problem_files import sample_problem
from attncalc.record.trace import Trace
from attncalc.solve.solver import solve

Array = NDArray[np.float64]


def one_wrong(value: Array) -> Array:
    return np.where(np.arange(value.size).reshape(value.shape) == value.size // 2, value + 1, value)


MANNERS: dict[str, Callable[[Array], Array]] = {
    "one entry wrong": one_wrong,
    "all entries wrong": lambda value: 1.7 * value + 0.3,
    "every other entry far off": lambda value: np.where(np.arange(value.size).reshape(value.shape) % 2, 1e308, value),
}

EVERY = [(name, manner) for name in TABLE for manner in MANNERS]
LONG = ("transformer", "decoder-block", "encoder-block")


def later(name: str, manner: str) -> bool:
    """Whether judging it is left to --thorough: a sheet of hundreds of steps, and the manners that tell least."""
    return name in LONG or manner == "one entry wrong"


@cache
def solved(name: str) -> Trace:
    return solve(sample_problem(name))


def numbers(trace: Trace) -> dict[str, Array]:
    """The steps that a sheet can answer in finite real numbers."""
    named = {step.key: np.asarray(step.value) for step in trace.steps if step.value is not None}
    return {name: v.astype(float) for name, v in named.items() if v.dtype.kind in "fiu" and np.isfinite(v).all()}


@pytest.mark.release
@pytest.mark.spread
@rows(("name", "manner"), EVERY, by=lambda name, manner: name, thorough=later)
def test_every_answer_has_a_verdict(name: str, manner: str) -> None:
    trace = solved(name)
    sheet = {step: MANNERS[manner](value).tolist() for step, value in numbers(trace).items()}
    judged = {step.name: step.verdict for step in trace.check(sheet).steps}
    assert judged.keys() == sheet.keys()
    assert all(judged.values())


@pytest.mark.thorough
@pytest.mark.spread
@rows(("name", "manner"), EVERY, by=lambda name, manner: name, thorough=later)
def test_every_result_alone_has_a_verdict(name: str, manner: str) -> None:
    trace = solved(name)
    if trace.result.dtype.kind not in "fiu" or not np.isfinite(trace.result).all():
        return
    (step,) = trace.check(MANNERS[manner](trace.result.astype(float)).tolist()).steps
    assert step.verdict


def drawn(operand: Operand, size: int, rng: np.random.Generator) -> Any:
    """An operand whose axes all have one size, in the shape that is declared last for the larger ones."""
    shape = operand.shapes[0 if size < 3 else -1]
    sizes = [size ** (len(axis) if isinstance(axis, tuple) else 1) for axis in shape]
    if operand.kind in ("integers", "tokens", "data"):
        return rng.integers(0, size, sizes).tolist()
    return (rng.random(sizes) < 0.7 if operand.kind == "mask" else rng.integers(-2, 3, sizes)).tolist()


def short(name: str, size: int) -> Trace | None:
    """The sample's problem with other operands, whose axes all have this size; None where there is no such problem."""
    rng, sample = np.random.default_rng(size), sample_problem(name)
    operands = filter(None, map(load(name).operand, sample.inputs))
    given = {o.name: drawn(o, size, rng) for o in operands if o.kind not in ("expression", "model")}
    try:
        trace: Trace = getattr(ac, name.replace("-", "_"))(**{**sample.options, **given})
    except AttncalcError:
        return None
    return trace if trace.result.dtype.kind in "fiu" and np.isfinite(trace.result).all() else None


NEVER = {
    **dict.fromkeys(("bayes", "beam", "entropy", "kl", "perplexity"), "whole numbers at random are no probabilities"),
    **dict.fromkeys(("derivative", "descend", "gradient"), "a formula has no axes"),
    "complexity": "its result is told in words",
    "decoder-only": "the sample's query heads share one key head, whose columns are fewer",
    "rnn": "the sample's kind needs weights of several gates",
    "sampling": "the sample leaves four tokens",
    "speculative": "the target has a row more than the draft",
    "t5-bias": "there are at least four buckets",
    "transformer": "its operands are a model and words",
}
"""Calculations without a problem of such operands, and why; the tests above judge their samples."""


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_so_it_has_where_all_axes_are_short(name: str) -> None:
    traces = [trace for size in (1, 2, 3) if (trace := short(name, size))]
    assert bool(traces) == (name not in NEVER)
    for trace in traces:
        (step,) = trace.check((1.3 * trace.result + 0.37).tolist()).steps
        assert step.verdict


FAILED_ONCE: dict[str, tuple[Callable[[], Trace], Any]] = {
    "one row of logits": (lambda: ac.cross_entropy([2, 1, 0.1], 0), 0.5),
    "a token that is another": (lambda: solved("transformer"), [0, 7, 8, 10, 10, 1]),
    "a bucket that there is not": (
        lambda: ac.t5_bias([[1, 2], [3, 4], [5, 6], [7, 8]], n=2, buckets=4),
        {"buckets": [[0, 99], [1, 0]], "bias": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]},
    ),
    "a reading of 0, by which nothing can be divided": (lambda: ac.project([-0.8], [[-1.1]]), [1.2345]),
    "own numbers that no system has": (
        lambda: ac.project([1, 2, 3], [[1, 0], [0, 1], [0, 0]]),
        {"gram": [[1, 1], [1, 1]], "coefficients": [1, 3]},
    ),
    "own numbers with complex roots": (
        lambda: ac.eigen([[4, 1], [2, 3]]),
        {"characteristic_polynomial": [9, 0, 1], "eigenvalues": [5, 2.5]},
    ),
    "a third as an order": (lambda: ac.minkowski([1, 2, 3], [2, 2, 5], p=Fraction(1, 3)), 0.123),
    "vectors that are far longer than others": (
        lambda: ac.cosine([[1e308, 3, -1, 1e308], [1e308, 1, 0.5, -1]], [-1e308, 0, 1, 1], distance=True),
        [-0.512, 0.251],
    ),
    "a step that is made of other parts later on": (
        lambda: ac.linear_regression([[3, -2], [-1, 1]], [[-3], [3]], [[-1], [3]], [3], lr=0.1, steps=3),
        [[1.234], [5.678]],
    ),
    "the gradient at one number": (lambda: ac.activation(-1.1).grad(), 0.3),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("make", "answer"), FAILED_ONCE.values(), ids=FAILED_ONCE)
def test_what_ended_in_a_fault_once_is_judged(make: Callable[[], Trace], answer: Any) -> None:
    assert all(step.verdict for step in make().check(answer).steps)
