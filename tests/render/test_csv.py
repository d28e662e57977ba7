"""CSV: the result with its labels, every step as a sheet, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest

from attncalc.record.trace import Trace
from attncalc.render import View, render

BOTH = {"n": ("the", "cat"), "m": ("a", "b,c")}


def text(trace: Trace, **view: Any) -> str:
    page = render(trace, "csv", View(**view))
    assert isinstance(page, str)
    return page


@pytest.mark.parametrize(
    ("value", "axes", "labels", "view", "expected"),
    [
        (0.64, "", {}, {}, "0.64\n"),
        ([1.0, -0.1], "n", {}, {}, "1,-0.1\n"),
        ([1.0, -np.inf], "m", {"m": ("king", "queen")}, {}, "king,queen\n1,-inf\n"),
        ([[1, 2], [3, 4]], "n m", {}, {}, "1,2\n3,4\n"),
        ([[1, 2], [3, 4]], "n m", {"n": ("the", "cat")}, {}, "the,1,2\ncat,3,4\n"),
        ([[1, 2], [3, 4]], "n m", {"n": ("the", "cat"), "m": ("2", "8")}, {}, "the,1,2\ncat,3,4\n"),
        ([[1, 2], [3, 4]], "n m", BOTH, {}, ',a,"b,c"\nthe,1,2\ncat,3,4\n'),
        ([[[1], [2]], [[3], [4]]], "h n m", {"n": ("the", "cat")}, {}, "1\n2\n\n3\n4\n"),
        ([0.125, 0.5], "n", {}, {"digits": 2}, "0.13,0.50\n"),
        ([[1.0]], "n m", {"n": ("猫",)}, {"unicode": False}, "\\u732b,1\n"),
    ],
    ids=["number", "vector", "columns", "matrix", "rows", "numbers for labels", "both", "stack", "digits", "ascii"],
)
def test_the_result(make: Any, value: Any, axes: str, labels: Any, view: dict[str, Any], expected: str) -> None:
    assert text(make.trace(make.step("x", value, axes, labels=labels)), **view) == expected


def test_everything_is_a_sheet_of_steps_and_outputs(grouped: Trace) -> None:
    assert text(grouped, everything=True) == (
        "@encoder 1/self-attention/q\n1,2\n"
        "@encoder 1/self-attention/weights\n0,0.125,0.25\n\n0.375,0.5,0.625\n"
        "@encoder 2/self-attention/weights\n1,1.125,1.25\n\n1.375,1.5,1.625\n"
        "@angle\n11.9\n"
    )


def test_show_picks_the_steps_of_a_sheet(dot: Trace) -> None:
    assert text(dot, show=("products",), digits=2) == "@products\n0.56,0.06,0.02\n"
    assert text(dot, show=("products",), quiet=True, digits=2) == "0.64\n"


def test_get_is_one_step(dot: Trace) -> None:
    assert text(dot, get="products", digits=2) == "0.56,0.06,0.02\n"


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\\tx"),
        ("\rx", "'\\rx"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb", "a\\nb"),
        ("1+1", "1+1"),
    ],
    ids=ascii,
)
def test_labels_run_nothing(make: Any, label: str, shown: str) -> None:
    page = text(make.trace(make.step("x", [-1.0, 2.0], "n", labels={"n": (label, "k")})))
    assert list(csv.reader(page.splitlines())) == [[shown, "k"], ["-1", "2"]]
