"""Exact results held against floats: as numbers, step by step, and with no float among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from attncalc.record.trace import Step, Trace

Array = NDArray[Any]
DIGITS = 30
RTOL, ATOL = 1e-12, 1e-13  # of floats, which have rounded at every step


def numbers(value: Array, at: Mapping[Any, Any] | None = None) -> Array:
    """Exact entries to thirty digits, as floats; letters stand for the numbers that are given for them."""
    letters_ = at or {}
    with mpmath.workdps(DIGITS):
        entries = sympy.lambdify(list(letters_), value.ravel().tolist(), "mpmath", cse=True)(*letters_.values())
        return np.array([complex(entry) for entry in entries]).reshape(value.shape)


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
