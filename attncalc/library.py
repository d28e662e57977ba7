"""A call from Python: operands by position or by name, options by name, and `dtype` and `round_to`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from attncalc.arrays import DTYPES, Array
from attncalc.calculation import UPSTREAM, WEIGHTS, Calculation
from attncalc.calculations import load
from attncalc.errors import OptionError
from attncalc.inputs import to_given
from attncalc.problem import Backward, Problem, solve
from attncalc.text import amount, both, either, visible
from attncalc.trace import Trace


def function(name: str) -> Calculation:
    """The calculation of that name, with what `help` and an editor's completion ask of a function."""
    calculation = load(name)
    word = calculation.name.replace("-", "_")
    vars(calculation).update(__name__=word, __doc__=calculation.doc, __signature__=_signature(calculation))
    return calculation


def _signature(calculation: Calculation) -> Signature:
    """Operands, options with their defaults, `weights` that hold several operands, `dtype` and `round_to`."""
    by_position = [
        Parameter(o.name, Parameter.POSITIONAL_OR_KEYWORD, default=Parameter.empty if o.required else None)
        for o in calculation.operands
        if o.positional
    ]
    by_name = {o.name: None for o in calculation.operands if not o.positional} | calculation.defaults
    by_name |= {WEIGHTS: None} if calculation.has_weights else {}
    settings = {"dtype": "float64", "round_to": None}
    named = [Parameter(n, Parameter.KEYWORD_ONLY, default=default) for n, default in (by_name | settings).items()]
    return Signature([*by_position, *named], return_annotation=Trace)


def solve_call(calculation: Calculation, operands: Sequence[Any], named: Mapping[str, Any]) -> Trace:
    """A call from Python: operands by position or by name, options by name, and `dtype` and `round_to`."""
    positional = [operand.name for operand in calculation.operands if operand.positional]
    if len(operands) > len(positional):
        raise OptionError(
            f"{calculation.name} takes {amount(len(positional), 'operand')} by position ({', '.join(positional)}), "
            f"but {len(operands)} were given"
        )
    by_name = dict(zip(positional, operands, strict=False))
    twice = [name for name in named if name in by_name]
    if twice:
        raise OptionError(f"{calculation.name} was given {both(twice)} twice, by position and by name")
    settings = {name: check(named[name]) for name, check in _SETTINGS.items() if name in named}
    given = by_name | {name: value for name, value in named.items() if name not in settings}
    together = given.get(WEIGHTS)
    if calculation.operand(WEIGHTS) is None and (
        isinstance(together, Mapping) or (together is None and calculation.has_weights)
    ):
        given = dict(given.pop(WEIGHTS, None) or {}) | given
    for operand in calculation.operands:
        if operand.kind == "model" and given.get(operand.name) is not None:
            from attncalc.inputs.models import from_model  # one calculation has a model

            given = from_model(given.pop(operand.name), calculation) | given
    arrays = {name: value for name, value in given.items() if (o := calculation.operand(name)) and not o.means(value)}
    options = {name: value for name, value in given.items() if name not in arrays}
    inputs = {}
    for operand in calculation.operands_in(arrays):
        if arrays.get(operand.name) is not None:
            inputs[operand.name] = to_given(arrays[operand.name], operand, settings.get("dtype", "float64"))
    return solve(Problem(calculation, inputs, options), **settings)


def backward(problem: Problem, upstream: Any, wrt: tuple[str, ...], *, gradcheck: bool, like: Array) -> Trace:
    """The backward pass of a problem, from Python, in numbers as wide as those of the result."""
    inputs = dict(problem.inputs)
    if upstream is not None:
        inputs[UPSTREAM.name] = to_given(upstream, UPSTREAM)
    dtype = "float32" if like.dtype == np.float32 else "float64"
    return solve(problem._replace(inputs=inputs, backward=Backward(wrt, gradcheck)), dtype=dtype)


def _known_dtype(dtype: Any) -> str:
    """`float32` or `float64`, however it was said."""
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = str(dtype)
    if name not in DTYPES:
        raise OptionError(f"dtype must be {either(DTYPES)}, not {visible(name, 80)}")
    return name


def _decimals(decimals: Any) -> int | None:
    """A number of decimals, or None for no rounding."""
    if decimals is None:
        return None
    if isinstance(decimals, bool) or not isinstance(decimals, int | np.integer) or decimals < 0:
        said = visible(repr(decimals), 80)
        raise OptionError(f"round_to must be a whole number of decimals, 0 or more, not {said}")
    return int(decimals)


_SETTINGS: dict[str, Callable[[Any], Any]] = {"dtype": _known_dtype, "round_to": _decimals}
"""What a call takes beside operands and options, each with its check."""
