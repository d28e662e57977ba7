"""Lines for listeners and pipes: what is said of a step, and numbers that come back as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attncalc.record.trace import Trace
from attncalc.render import View, render
from attncalc.render.plain import rows

DOT = """\
dot
The inner product.
a from words.csv#cat: n 3
b: n 3

step 1: products
formula: a ⊙ b
in words: a times entry by entry b
shape: n 3
why: each entry of a meets its partner in b
worked out: 0.8×0.7 = 0.56
worked out: 0.2×0.3 = 0.06
worked out: -0.1×(-0.2) = 0.02
0.5599999999999999 0.06 0.020000000000000004

step 2: dot
formula: a·b
in words: a times b
why: one number says how far they agree
worked out: 0.8×0.7 + 0.2×0.3 + (-0.1)×(-0.2) = 0.64
0.6399999999999999

result: dot
0.6399999999999999
"""


def plain(trace: Trace, **view: Any) -> str:
    text = render(trace, "plain", View(**view))
    assert isinstance(text, str)
    return text


def test_steps_as_lines_to_be_read_out(dot: Trace) -> None:
    assert plain(dot) == DOT


def test_a_step_says_its_labels_its_group_and_its_drift(grouped: Trace, attention: Trace) -> None:
    assert "step 3: encoder 2/self-attention/weights\n" in plain(grouped)
    assert "largest drift from full precision: 0.0012\n" in plain(grouped)
    assert "n: the, cat\nm: the, cat\n1 2\n1 1\n" in plain(attention)


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (32.0, None, "32\n"),
        ([1.0, 0.1], None, "1 0.1\n"),
        ([[1.0, -np.inf], [np.nan, 1e-7]], None, "1 -inf\nnan 1e-07\n"),
        (np.arange(8).reshape(2, 2, 2), None, "0 1\n2 3\n\n4 5\n6 7\n"),
        ([1.5 + 2j, -1j], None, "1.5+2i 0-1i\n"),
        ([True, False], None, "true false\n"),
        (np.array([0.1], dtype=np.float32), None, "0.1\n"),
        ([0.5, -np.inf], 3, "0.500 -inf\n"),
        (0.64, 1, "0.6\n"),
    ],
    ids=["number", "vector", "matrix", "stack", "complex", "truth", "float32", "digits", "digits of a number"],
)
def test_one_value_alone(make: Any, value: Any, digits: int | None, expected: str) -> None:
    assert plain(make.trace(make.step("x", value)), quiet=True, digits=digits) == expected


def test_entries_that_stand_for_labels_are_numbers_and_said_in_words(make: Any) -> None:
    trace = make.trace(make.step("ranking", [1, 0], "rank", names=("king", "queen")))
    assert "stands for: queen, king\n1 0\n" in plain(trace)
    assert plain(trace, quiet=True) == "1 0\n"


def test_user_text_stays_on_its_line(make: Any) -> None:
    trace = make.trace(make.step("x", [1.0], "n", labels={"n": ("a\nresult: 1\x1b[2J",)}))
    assert "n: a\\nresult: 1\\x1b[2J\n" in plain(trace)


@given(arrays(np.float64, array_shapes(min_dims=1, max_dims=3), elements=st.floats()))
def test_the_same_numbers_come_back(value: np.ndarray) -> None:
    read = [float(word) for line in rows(value) for word in line]
    np.testing.assert_array_equal(np.reshape(read, value.shape), value)


ROOT = sympy.sqrt(19) / 3


@pytest.mark.parametrize(
    ("entry", "digits", "row"),
    [(ROOT, None, "sqrt(19)/3"), (ROOT, 2, "1.45"), (sympy.Symbol("a_0") ** 2, None, "a_0**2"),
     (sympy.Symbol("a_0") ** 2, 2, "a_0**2"), (sympy.oo, 2, "inf")],
    ids=["exact", "to digits", "a letter", "a letter to digits", "infinite"],
)  # fmt: skip
def test_exact_numbers_are_what_programs_read(entry: Any, digits: int | None, row: str) -> None:
    assert list(rows(np.array(entry, dtype=object), digits)) == [[row]]
