"""The same graph evaluated elsewhere: with other options, or over a range of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.declare.sweeps import Sweep
from attncalc.evaluate.values import evaluate
from attncalc.language.graph import steps
from attncalc.record.numbers import numeric
from attncalc.record.trace import Given, Trace
from attncalc.solve.problem import Problem, problem_of
from attncalc.solve.solver import solve, write


def sweep(trace: Trace) -> Sweep:
    """The ways to evaluate the trace's problem elsewhere."""
    problem = _in_decimals(problem_of(trace))
    return Sweep(partial(again, problem), partial(over, problem))


def again(problem: Problem, **changed: Any) -> Trace:
    """The same calculation with other operands or options; every turn of a loop is kept."""
    arrays = {name: value for name, value in changed.items() if problem.calculation.operand(name)}
    inputs = {name: Given(np.asarray(value, dtype=np.float64)) for name, value in arrays.items()}
    options = {name: value for name, value in changed.items() if name not in arrays}
    return solve(
        problem._replace(inputs={**problem.inputs, **inputs}, options={**problem.options, **options}), keep_all=True
    )


def over(problem: Problem, name: str, places: Mapping[str, Array]) -> Array:
    """The value of a step that is a single number, for all values in `places` of the numbers it depends on.

    The arrays have the same shape, which is the result's. In a loop it is the step of the first turn.
    """
    written = write(problem)
    loop = written.loop
    roots = written.roots if loop is None else loop.steps
    node = next(node for node in steps(*roots) if node.args["name"] == name and not node.axes)
    start = {} if loop is None else {n: np.asarray(value, dtype=np.float64) for n, value in loop.start.items()}
    values = evaluate([node], {**written.values, **start, **places})[node]
    return np.broadcast_to(values, np.broadcast_shapes(*(place.shape for place in places.values())))


def _in_decimals(problem: Problem) -> Problem:
    """The problem with floats in place of exact numbers, which is enough for pictures."""
    inputs = {}
    for name, given in problem.inputs.items():
        value = numeric(given.value) if given.value.dtype == object else None
        inputs[name] = given if value is None else given._replace(value=value)
    return problem._replace(inputs=inputs)
