"""The arithmetic on pages of the samples: what is shown as 0 comes to 0; numbers keep name and digits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from test_samples import PROBLEMS, posed

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.record.trace import Arithmetic, Entry, Step, Trace
from attncalc.solve.asking import arithmetic, left_over, why_nothing
from attncalc.solve.backward import IGNORED, IN_JUMPS
from attncalc.solve.problem import Backward
from attncalc.solve.recording import Behind, entry, place
from attncalc.solve.solver import behind, solve


def steps_of(name: str) -> Iterator[tuple[Trace, Step, Behind]]:
    """The steps of a sample's floats, and of its backward pass."""
    for backward in (None, Backward()):
        with suppress(AttncalcError):
            trace = solve(posed(name)._replace(backward=backward))
            graph = behind(trace)
            for step in (*trace.steps, *trace.outputs):
                if step.value is None or step.value.dtype.kind != "f":
                    continue
                if graph.knows(step):
                    yield trace, step, graph


def words_in(told: Arithmetic) -> str:
    return "".join(part for part in told if isinstance(part, str))


def numbers_in(told: Arithmetic) -> list[Any]:
    return [part.value for part in told if isinstance(part, Entry)]


ADD_TO_NOTHING = {"encoder-block", "decoder-block"}
"""A gradient there is the sum of what is left over and of what is as small, and not."""


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_a_page_shows_as_0_is_told_with_what_it_shows(name: str) -> None:
    for trace, step, graph in steps_of(name):
        nothing = left_over(trace, step)
        value = np.asarray(step.value)
        shown = value if nothing is None else np.where(nothing, 0, value)
        for at in list(map(tuple, np.argwhere(shown == 0).tolist()))[:9]:
            node, around = graph.found(step) or pytest.fail(step.key)
            told = graph.arithmetic(step, at)
            assert told or not entry(node, place(node, step, at), around.look), (step.key, at)
            if nothing is not None and nothing[at] and name not in ADD_TO_NOTHING:
                assert not [x for x in numbers_in(told) if 0 < abs(x) < 1e-12], (step.key, at, told)


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_0_all_over_says_what_makes_it_so(name: str) -> None:
    """A gradient; of other steps a vector whose entries are 0 as they are, where something in its formula is."""
    shown: dict[str, list[bool]] = {}
    told: list[str] = []
    for trace, step, _ in steps_of(name):
        nothing = left_over(trace, step)
        is_nothing = bool(np.all((step.value == 0) | (False if nothing is None else nothing)))
        why = why_nothing(trace, step)
        shown.setdefault(step.symbol, []).append(is_nothing)
        if step.gradient_of is None:
            assert not why or (len(step.shape) == 1 and not np.any(step.value)), (step.key, why)
            continue
        ignored = step.why.endswith((IGNORED, IN_JUMPS))
        assert why.startswith("all 0, since ") == (is_nothing and not ignored), (step.key, why)
        told += re.findall(r"∂L/∂[\w']+(?= is 0| are 0|, | and )", why)
    assert all(any(shown[symbol]) for symbol in told), told


def test_the_part_of_a_gradient_that_is_0_says_what_makes_it_so() -> None:
    trace = solve(posed("rnn-gru")._replace(backward=Backward()))
    step = trace.find("time step 1/grad_from_input")
    assert why_nothing(trace, step) == "0 at gates=0…1, since ∂L/∂gates[gate=0] and from_state are 0"


@pytest.mark.parametrize("block", [1, 2])
def test_a_mask_of_truths_is_no_number_that_is_0(block: int) -> None:
    x, seen = np.eye(2), np.tri(2, dtype=bool)
    trace = ac.flash(x, x, x, mask=seen, block=block).grad()
    assert not [why for step in trace.steps if "mask" in (why := why_nothing(trace, step))]


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_numbers_of_one_name_keep_it(name: str) -> None:
    for _, step, graph in steps_of(name):
        for at in list(np.ndindex(step.shape))[:2] if "π" in step.formula else ():
            assert math.pi not in numbers_in(graph.arithmetic(step, at)), step.key


def test_numbers_of_a_formula_keep_their_digits() -> None:
    trace = solve(posed("activation")._replace(options={"kind": "gelu-tanh"}))
    step = next(step for step in trace.outputs if step.name == "derivative")
    words = words_in(arithmetic(trace, step, (0,)))
    assert "0.134145" in words
    assert "π" in words


def test_what_norms_take_from_another_part_has_rounded_too() -> None:
    for dtype in ("float64", "float32"):
        trace = solve(posed("decoder-block"), dtype=dtype)
        step = next(step for step in trace.steps if step.key == "norm3/mean")
        np.testing.assert_array_equal(left_over(trace, step), [True, False])
        assert arithmetic(trace, step, (0,))
        assert arithmetic(trace, step, (1,))
