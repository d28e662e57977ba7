"""Every line of arithmetic, as it is printed, comes to the result that is printed behind it: floats, exact, letters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from calculations.cases import EXPECTED
from calculations.test_exact import in_letters, posed
from solved import ALL, ONE_OF_EACH, Tried, solved

import attncalc as ac
from attncalc.common.errors import NoGradient, NotExact
from attncalc.record.numbers import format_number, parted
from attncalc.record.trace import Trace
from attncalc.render.worked import links, written
from attncalc.solve import later
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve
from readback.arithmetic import number
from readback.meaning import TooLong

DRAWN = 6  # entries that are looked at of each step


def printed(trace: Trace) -> Iterator[tuple[str, str]]:
    """(line, result) of entries of every step: the first, the last and some that are drawn."""
    rng = np.random.default_rng(len(trace.steps))
    for step in trace.steps:
        value = step.value
        if value is None or not value.size or value.dtype.kind not in "fO" or not later.is_worked_out(trace, step):
            continue
        noise = later.left_over(trace, step)
        for flat in sorted({0, value.size - 1, *rng.integers(value.size, size=DRAWN).tolist()}):
            at = tuple(int(i) for i in np.unravel_index(flat, value.shape))
            arithmetic = later.arithmetic(trace, step, at)
            if not arithmetic or (noise is not None and noise[at]):
                continue
            result = format_number(value[at])
            line, found = written(arithmetic, None, result), parted(result)[0]
            if len(links(line, result)) == 2 and "…" not in line and line != found:
                yield line, found


def unit(result: str) -> float:
    """Half of the last digit that is shown: a number that ends early is so to four decimals."""
    mantissa, _, exponent = result.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent) - decimals if exponent else -max(decimals, 4))


def false(trace: Trace) -> list[str]:
    """The equalities between floats that are not true as they stand."""
    found = []
    for line, result in printed(trace):
        try:
            value = number(line, {}).real
        except TooLong:
            continue
        shown = float(result.replace("−", "-").replace("∞", "inf"))
        if value != shown and not abs(value - shown) <= unit(result) * (1 + 1e-6):
            found.append(f"{line} = {result}, but it is {value}")
    return found


@pytest.mark.parametrize("tried", ALL, ids=str)
def test_an_equality_of_floats_is_true(tried: Tried, request: pytest.FixtureRequest) -> None:
    if tried not in ONE_OF_EACH and not request.config.getoption("thorough"):
        pytest.skip("with --thorough")
    assert false(solved(tried)) == []


def named(letter: str) -> str:
    """A letter as a page shows it: `x_0` → x₀."""
    head, mark, tail = letter.rpartition("_")
    return head + tail.translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")) if mark else letter


@pytest.mark.parametrize("lettered", [False, True], ids=["exactly", "in letters"])
@pytest.mark.parametrize("tried", ONE_OF_EACH, ids=str)
def test_an_equality_of_exact_numbers_or_letters_is_true(
    tried: Tried, lettered: bool, request: pytest.FixtureRequest
) -> None:
    if tried.backward and not request.config.getoption("thorough"):
        pytest.skip("with --thorough")
    case, expected = EXPECTED[tried.name].cases[tried.number], EXPECTED[tried.name]
    if expected.inexact or not case.operands or "steps" in case.options:
        pytest.skip("nothing exact to read")
    letters: dict[str, float] = {}
    try:
        problem, _ = posed(tried.name, case, Backward() if tried.backward else None)
        if lettered:
            problem, stand_for = in_letters(problem, case)
            letters = {named(str(letter)): float(value) for letter, value in stand_for.items()}
        trace = solve(problem, exact=True)
    except (NotExact, NoGradient) as error:
        pytest.skip(str(error))
    for line, result in printed(trace):
        try:
            left, right = number(line, letters), number(result, letters)
        except TooLong:
            continue
        assert abs(left - right) <= 1e-9 * max(1, abs(right)), f"{line} = {result}"


def test_the_numbers_of_a_line_have_as_many_digits_as_it_takes() -> None:
    trace = ac.optimizer([[0.0332, 0.1], [0.1, 0.2]], [0.0, 1.0], kind="adam")
    assert false(trace) == []
