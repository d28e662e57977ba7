"""Exact results held against floats: as numbers, step by step, and with no float among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from attncalc.evaluate.exact import exact
from attncalc.evaluate.values import evaluate
from attncalc.record.trace import Step, Trace
from attncalc.solve.problem import Problem
from attncalc.solve.solver import write

Array = NDArray[Any]
DIGITS = 30
MANY_DIGITS = 60
RTOL, ATOL = 1e-12, 1e-13  # of floats, which have rounded at every step


def numbers(value: Array, at: Mapping[Any, Any] | None = None) -> Array:
    """Exact entries to thirty digits, as floats; letters stand for the numbers that are given for them."""
    letters_ = at or {}
    with mpmath.workdps(DIGITS):
        entries = sympy.lambdify(list(letters_), value.ravel().tolist(), "mpmath", cse=True)(*letters_.values())
        return np.array([complex(entry) for entry in entries]).reshape(value.shape)


def in_many_digits(problem: Problem) -> dict[str, Array]:
    """Every step by its key in numbers of sixty digits, cut to them at each step: a whole model has no exact form."""

    def cut(value: Array) -> Array:
        found = value.copy()
        for at, entry in np.ndenumerate(value):
            if isinstance(entry, sympy.Basic) and not entry.is_Integer:  # these stand for classes, too
                found[at] = sympy.N(entry, MANY_DIGITS)
        return found

    given = {name: exact(operand) for name, operand in problem.inputs.items()}
    given = {name: operand._replace(value=cut(operand.value)) for name, operand in given.items()}
    written = write(problem._replace(inputs=given), dtype="object")
    values = evaluate(written.roots, written.values, dtype="object", given=written.known, after_step=cut)
    return {node.path: value for node, value in values.items() if node.op == "step" and value.dtype == object}


def told_apart(trace: Trace) -> dict[str, Step]:
    """The steps and outputs that are numbers, by their keys."""
    steps = (*trace.steps, *trace.outputs)
    return {step.key: step for step in steps if step.value is not None and step.value.dtype.kind in "fcO"}


def holds_no_float(value: Array, what: str) -> None:
    """No entry is a float, nor holds one of SymPy's."""
    for entry in value.flat:
        assert not isinstance(entry, float | np.floating), f"a float stands in {what}"
        assert not getattr(entry, "has", lambda _: False)(sympy.Float), f"a float has got into {what}: {entry}"


def agree(exact: Trace, floats: Trace) -> None:
    """Step by step the same numbers, and no float among the exact ones."""
    found, wanted = told_apart(exact), told_apart(floats)
    for key, step in wanted.items():
        value = found[key].value
        assert value is not None
        assert step.value is not None
        if value.dtype != object:
            assert not step.axes or value.dtype == step.value.dtype, f"{key} is of floats"
            continue
        holds_no_float(value, key)
        assert_allclose(numbers(value), step.value.astype(complex), rtol=RTOL, atol=ATOL, err_msg=key)
