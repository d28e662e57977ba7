"""Every sample in exact numbers: to fifteen digits what floats give, step by step, or a refusal that says why."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from calculations.exactness import agree, holds_no_float, in_many_digits, numbers, told_apart
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from test_samples import PROBLEMS, SAMPLES, posed

from attncalc.cli import app
from attncalc.common.errors import AttncalcError, DomainError, NoGradient
from attncalc.record.trace import Trace
from attncalc.render import BINARY, FORMATS, View, render
from attncalc.solve.asking import left_over
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

Array = NDArray[Any]

RANDOM = "numbers that are drawn at random have no closed form"
LARGE = "the exact entries have grown to [0-9,]+ operations, but the limit is 20,000"
DEEP = "exponentials stand three deep in one another, and their exact form fills pages"

REFUSED = {
    "concentration": RANDOM,
    "scaling": RANDOM,
    "encoder-block": LARGE,
    "decoder-block": LARGE,
    "decoder-only": LARGE,
    "transformer": LARGE,
    "mlp-classes": LARGE,
    "optimizer-muon": LARGE,
    "rnn": DEEP,
    "rnn-gru": DEEP,
    "descend-valley": "a power with the exponent 2 has more than 1,000 digits",
}
"""What has no closed form that anyone would read, and why."""
APART = "largest_difference"
"""How far two ways of working something out lie apart: what rounding leaves is what this tells."""
FAINTEST = 1e-10  # of a row's scale: an exact 0 that is not written as one comes to 1e-30 or so
EXACT = [name for name in PROBLEMS if name not in REFUSED]
PAGED = ["cosine", "outer", "attention-causal", "eigen-complex", "kl-infinite", "mips", "alibi"]
"""Samples whose results are numbers by themselves, tables, stacks; masked, complex, infinite; ranks with labels."""
every_exact_sample = pytest.mark.parametrize("name", EXACT)


@cache
def exactly(name: str) -> Trace:
    return solve(posed(name), exact=True)


def slopes_of_a_cubic() -> list[Fraction]:
    """(f(2 + h) − f(2)) / h of x³ − 3x is 9 + 6h + h²."""
    return [9 + 6 * h + h**2 for h in (Fraction(1, 10**i) for i in range(1, 7))]


def adamw_turns() -> tuple[list[Any], list[Any]]:
    """The second turn's corrected second moments and its update, one coordinate at a time."""
    correcteds, updates = [], []
    b1, b2, lr, decay, eps = map(mpmath.mpf, ("0.9", "0.999", "0.1", "0.2", "1e-8"))
    for start, gradients in ((1, ("0.5", "-0.6")), (-2, ("1", "2"))):
        point, first, second = mpmath.mpf(start), mpmath.mpf(0), mpmath.mpf(0)
        for turn, gradient in enumerate(map(mpmath.mpf, gradients), start=1):
            first, second = b1 * first + (1 - b1) * gradient, b2 * second + (1 - b2) * gradient**2
            corrected = second / (1 - b2**turn)
            update = -lr * (first / (1 - b1**turn) / (mpmath.sqrt(corrected) + eps) + decay * point)
            point += update
            if turn == 2:
                correcteds.append(corrected)
                updates.append(update)
    return correcteds, updates


CANCELLING: dict[tuple[str, str], tuple[str, Callable[[], list[Any]]]] = {
    ("derivative", "difference_quotients"): (
        "f(2 + h) and f(2) share the more of their digits the smaller h is",
        slopes_of_a_cubic,
    ),
    ("optimizer-adamw", "step 2/second_corrected"): (
        "1 − β₂² = 0.001999 has three digits fewer than 1 has",
        lambda: adamw_turns()[0],
    ),
    ("optimizer-adamw", "step 2/update"): ("likewise, and the decay nearly cancels the rest", lambda: adamw_turns()[1]),
}
"""Where floats subtract what is nearly the same: why, and the value to as many digits as are wanted."""


@pytest.mark.thorough
@pytest.mark.spread
@every_exact_sample
def test_exact_numbers_are_the_floats_to_fifteen_digits(name: str) -> None:
    floats, exact = told_apart(solve(posed(name))), told_apart(exactly(name))
    assert list(exact) == list(floats)
    for key, step in floats.items():
        value, wanted = exact[key].value, step.value
        assert value is not None
        assert wanted is not None
        if key == APART:
            assert abs(wanted) < TINY
            assert (np.abs(numbers(value)) < EXACT_ZERO).all()
            continue
        if value.dtype != object:  # sizes and counts, the same in both
            assert_array_equal(value, wanted, err_msg=key)
            continue
        holds_no_float(value, key)
        if (name, key) in CANCELLING:
            with mpmath.workdps(30):
                true = np.array([float(x) for x in CANCELLING[name, key][1]()])
            assert_allclose(wanted, true, rtol=1e-9)
            wanted = true
        fifteen_digits(numbers(value), wanted, key)


def fifteen_digits(found: Array, wanted: Array, key: str) -> None:
    """The same infinities; and no entry further off than a unit in the fifteenth digit of its row's largest."""
    finite = np.isfinite(wanted)
    assert_array_equal(found[~finite], wanted[~finite].astype(complex), err_msg=key)
    found, wanted = np.where(finite, found, 0), np.where(finite, wanted, 0)
    largest = np.max(np.atleast_1d(np.abs(wanted)), axis=-1, keepdims=True)
    unit = 10.0 ** (np.floor(np.log10(np.maximum(largest, FAINTEST))) - 14)
    off = np.abs(found - wanted)
    assert (off <= unit).all(), f"{key} is {np.max(off):.2g} off"


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", [*EXACT, "mlp-classes"])  # of that one the updated weights alone grow too large
def test_exact_gradients_are_those_of_floats(name: str) -> None:
    problem = posed(name)._replace(backward=Backward())
    floats, exact = outcome(problem), outcome(problem, exact=True)
    if isinstance(floats, str) or isinstance(exact, str):
        assert exact == floats
    else:
        agree(exact, floats)


def outcome(problem: Problem, *, exact: bool = False) -> Trace | str:
    """What comes of it, or what is said of it where there is no slope."""
    try:
        return solve(problem, exact=exact)
    except (NoGradient, DomainError) as refusal:
        return str(refusal)


@pytest.mark.spread
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_closed_form_says_so_in_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app(["run", str(SAMPLES / f"{name}.json"), "--exact"], standalone_mode=False) == 2
    said = capsys.readouterr()
    error, *hint = said.err.splitlines()
    assert said.out == ""
    assert [line.partition(": ")[0] for line in hint] in ([], ["hint"])
    assert error.startswith("Error: ")
    assert re.fullmatch(f"Error: {REFUSED[name]}", error)


@pytest.mark.release
@pytest.mark.parametrize("page", [each for each in FORMATS if each not in BINARY])
@pytest.mark.parametrize("name", PAGED)
def test_exact_results_go_on_every_page(name: str, page: str) -> None:
    trace = exactly(name)
    assert render(trace, page)
    for output in trace.outputs:
        assert render(trace, page, View(get=output.key, unicode=False))


TINY = 1e-9
EXACT_ZERO = 1e-25
"""What an exact form of 0 that is not written as 0 comes to, with thirty digits; with sixty it is less by far."""
DRAWN = ["concentration", "scaling"]
GROWN = ["transformer"]
"""Its steps hold so many operations that no one reads their exact form, cut after each step or not."""
LOOPS = ["descend", "descend-valley", "mlp-classes"]
COMPARED = [name for name in PROBLEMS if name not in (*DRAWN, *GROWN, *LOOPS)]


def zeros_that_show(problem: Problem) -> list[tuple[str, tuple[int, ...]]]:
    """The entries that are 0 in numbers of many digits, but not in floats, and that a page would show."""
    trace, true = solve(problem), in_many_digits(problem)
    found: list[tuple[str, tuple[int, ...]]] = []
    for key, step in told_apart(trace).items():
        if step.value is None or step.value.dtype.kind != "f" or key not in true:
            continue
        nothing = left_over(trace, step)
        shown = (step.value != 0) & (np.abs(step.value) < TINY) & (True if nothing is None else ~nothing)
        exactly = true[key].reshape(step.shape)  # an output may lack an axis of one
        found += [(key, at) for at in map(tuple, np.argwhere(shown).tolist()) if abs(exactly[at]) < EXACT_ZERO]
    return found


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", COMPARED)
def test_what_is_0_exactly_is_shown_as_0(name: str) -> None:
    assert zeros_that_show(posed(name)) == []
    with suppress(NoGradient, DomainError):
        assert zeros_that_show(posed(name)._replace(backward=Backward())) == []


@pytest.mark.release
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", COMPARED)
def test_so_it_is_of_other_numbers(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = posed(name)
    inputs = {
        operand: each._replace(value=rng.integers(-9, 10, each.value.shape) / 10, written=None)
        if each.value.dtype.kind == "f"
        else each
        for operand, each in problem.inputs.items()
    }
    for one in (problem._replace(inputs=inputs), problem._replace(inputs=inputs, backward=Backward())):
        with suppress(AttncalcError):  # a logarithm of what is below 0, ids that are no whole numbers
            assert zeros_that_show(one) == []
