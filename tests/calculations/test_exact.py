"""Exact numbers and letters, for every calculation and option: they come to what floats come to, and hold no float."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from calculations.cases import EXPECTED
from calculations.trial import Case
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from reader import read, spelled

from attncalc.calculation import Option
from attncalc.calculations import TABLE, load
from attncalc.errors import AttncalcError, NoGradient, NotExact
from attncalc.exact import letters
from attncalc.problem import Backward, Problem, solve
from attncalc.trace import Entry, Given, Step, Trace

Array = NDArray[Any]
NAMES = [name for name in TABLE if name in EXPECTED and not EXPECTED[name].inexact]
CASES = [
    (name, replace(case, options={**case.options, "steps": 1}) if "steps" in case.options else case)
    for name in NAMES
    for case in EXPECTED[name].cases
    if case.operands
]
SMOOTH = [(name, case) for name, case in CASES if not (EXPECTED[name].no_gradient or case.no_gradient)]
DIGITS = 30
RTOL, ATOL = 1e-12, 1e-13  # of floats, which have rounded at every step


def _values(option: Option) -> list[Any]:
    """The words and truth values that an option may be."""
    return [*option.choices, *([True, False] if bool in option.types else [])]


def _options() -> Iterator[tuple[str, str, Any]]:
    """Every value of every option that no case has, save those that a calculation borrows from another."""
    for name in NAMES:
        calculation = load(name)
        borrowed = tuple(prefix for _, prefix in calculation.declaration.bundles.values() if prefix)
        for option in calculation.options:
            had = [case.options.get(option.name, option.default) for case in EXPECTED[name].cases]
            if not (borrowed and option.name.startswith(borrowed)):
                yield from ((name, option.name, value) for value in _values(option) if value not in had)


OPTIONS = list(_options())


def small(case: Case) -> dict[str, Array]:
    """The case's operands with at most two places along each axis, and round numbers in them."""
    rng = np.random.default_rng(3)
    arrays = {}
    for name, drawn in case.arrays().items():
        said = case.operands[name]
        if not isinstance(said, str) or drawn.dtype.kind != "f":
            arrays[name] = drawn
            continue
        shape = tuple(min(size, 2) for size in drawn.shape)
        quarters = rng.permutation(np.arange(1, max(9, np.prod(shape) + 1)))[: np.prod(shape)].reshape(shape) / 4
        arrays[name] = quarters if "positive" in said else quarters * rng.choice([-1, 1], shape)
    return arrays


def whole(case: Case) -> dict[str, Array]:
    """The case's operands as they are."""
    return case.arrays()


def run(name: str, case: Case, backward: Backward | None = None) -> tuple[Trace, Trace]:
    """The case in floats and in exact numbers, on small operands, or on its own where those do not go together."""
    for drawn in (small, whole) if name != "rope" else (whole,):  # of two columns some rules divide by d − 2
        problem = Problem(load(name), {n: Given(v) for n, v in drawn(case).items()}, case.options, backward)
        try:
            return solve(problem), solve(problem, exact=True)
        except AttncalcError:
            if drawn is whole:
                raise
    raise AssertionError("whole operands are tried last")


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
        for entry in value.flat:
            assert not isinstance(entry, float | np.floating), f"a float stands in {key}"
            assert not getattr(entry, "has", lambda _: False)(sympy.Float), f"a float has got into {key}: {entry}"
        assert_allclose(numbers(value), step.value.astype(complex), rtol=RTOL, atol=ATOL, err_msg=key)


def comes_out(trace: Trace) -> None:
    """The arithmetic of a step's first and last entry, worked by the rules of school, is the entry."""
    for step in told_apart(trace).values():
        value = step.value
        if step.arithmetic is None or value is None or value.dtype != object or not value.size:
            continue
        for at in {(0,) * value.ndim, tuple(size - 1 for size in value.shape)}:
            pieces = step.arithmetic(at)
            entries = [piece.value for piece in pieces if isinstance(piece, Entry)]
            line = "" if not entries else spelled(tuple(map(_as_float, pieces)))
            if line and "…" not in line and not any(sympy.sympify(entry).has(sympy.I) for entry in entries):
                assert read(line) == pytest.approx(complex(value[at]).real, rel=1e-9, abs=1e-12), f"{step.key}{at}"


def _as_float(piece: str | Entry) -> str | Entry:
    return piece if isinstance(piece, str) else piece._replace(value=float(piece.value))


def is_a_line(refusal: NotExact) -> bool:
    """Whether what cannot be exact is said as every error is: one line, and how to go on in another."""
    return bool(refusal.message) and not set("\n\r") & set(refusal.message + refusal.hint)


def holds(name: str, case: Case, backward: Backward | None = None) -> None:
    """In exact numbers the case comes to what floats come to."""
    floats, exact = run(name, case, backward)
    agree(exact, floats)
    comes_out(exact)


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case}" for name, case in CASES])
def test_exact_numbers_give_what_floats_give(name: str, case: Case) -> None:
    holds(name, case)


@pytest.mark.parametrize(("name", "case"), SMOOTH, ids=[f"{name}: {case}" for name, case in SMOOTH])
def test_exact_gradients_are_those_of_floats(name: str, case: Case) -> None:
    try:
        holds(name, case, Backward())
    except NotExact as refusal:  # sines and cosines of whole angles have no shorter form, and grow beyond the limit
        if not (is_a_line(refusal) and (name == "rope" or case.options.get("rope"))):
            raise


@pytest.mark.parametrize(
    ("name", "option", "value"), OPTIONS, ids=[f"{name}: {option}={value}" for name, option, value in OPTIONS]
)
def test_every_option_can_be_exact(name: str, option: str, value: Any) -> None:
    faults = []
    for case in EXPECTED[name].cases:
        varied = replace(case, options={**case.options, option: value})
        try:
            solve(Problem(load(name), {n: Given(v) for n, v in varied.arrays().items()}, varied.options))
        except AttncalcError as error:
            faults.append(error.message)
            continue
        if case.operands:
            holds(name, varied)
        return
    raise AssertionError(f"no case goes with --{option} {value}: {faults}")


def in_letters(name: str, case: Case) -> tuple[dict[str, Given], dict[Any, Any]]:
    """The case's random operands as letters, and the numbers for which they stand; the others as they are."""
    operands: dict[str, Given] = {}
    stand_for: dict[Any, Any] = {}
    for operand, value in small(case).items():
        declared = load(name).operand(operand)
        numeric = declared is not None and declared.kind in ("real", "logits")
        if numeric and isinstance(case.operands[operand], str) and value.dtype.kind == "f":
            operands[operand] = letters(operand, value.shape)
            stand_for |= dict(zip(operands[operand].value.flat, map(mpmath.mpf, value.flat), strict=True))
        else:
            operands[operand] = Given(value)
    return operands, stand_for


@pytest.mark.parametrize("backward", [None, Backward()], ids=["forward", "backward"])
@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case}" for name, case in CASES])
def test_numbers_put_in_for_letters_give_the_numbers(name: str, case: Case, backward: Backward | None) -> None:
    operands, stand_for = in_letters(name, case)
    try:
        given = {n: Given(v) for n, v in small(case).items()}
        floats = solve(Problem(load(name), given, case.options, backward))
    except NoGradient:
        return
    except AttncalcError:
        pytest.skip("two places along each axis are too few for it")
    try:
        symbolic = solve(Problem(load(name), operands, case.options, backward), exact=True)
    except NotExact as refusal:  # some have no closed form, or need to know which letter is larger
        if not is_a_line(refusal):
            raise
        return
    for found, wanted in zip(symbolic.outputs, floats.outputs, strict=True):
        assert found.value is not None
        assert wanted.value is not None
        if found.value.dtype == object:
            assert_allclose(numbers(found.value, stand_for), wanted.value.astype(complex), rtol=RTOL, atol=ATOL)
