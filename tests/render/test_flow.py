"""Formulas and sentences that are wider than the page."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.text import Text

from attncalc.render.terminal import Chain, broken

FORMULAS = {
    "outside brackets rather than within": (
        "(e^a + 3)·(b + c)/(1 + e^(a/2))",
        24,
        ["(e^a + 3)·(b + c)", "/(1 + e^(a/2))"],
    ),
    "before the value": ("2·(2 + e^a)/(1 + e^a) ≈ 2.6605", 24, ["2·(2 + e^a)/(1 + e^a)", "≈ 2.6605"]),
    "within brackets rather than after a word": ("x·(a + bbbbbbbb + cccccc)", 20, ["x·(a + bbbbbbbb", "+ cccccc)"]),
    "a Σ keeps what it sums": ("probabilities·Σ losses", 20, ["probabilities·", "Σ losses"]),
    "before a factor in brackets": ("√(2 / π)·(x + 0.04·x^3)", 16, ["√(2 / π)", "·(x + 0.04·x^3)"]),
    "a negative number stays with its factor": ("a + (-0.1)×(-0.2)", 16, ["a", "+ (-0.1)×(-0.2)"]),
    "between the members of a list": (
        "[a[n=2] / b[n=2]; a[n=3] / b[n=3]]",
        28,
        ["[a[n=2] / b[n=2];", "a[n=3] / b[n=3]]"],
    ),
    "before ⊙": ("exponentials ⊙ gradients", 20, ["exponentials", "⊙ gradients"]),
}


@pytest.mark.parametrize(("text", "width", "lines"), FORMULAS.values(), ids=FORMULAS)
def test_a_formula_is_broken_where_it_is_read_best(text: str, width: int, lines: Sequence[str]) -> None:
    assert [line.plain for line in broken(Text(text), width)] == lines


def test_a_name_that_would_be_torn_gets_a_line_of_its_own() -> None:
    links = [Text("= ∂L/∂standard_deviation / (2·standard_deviation)"), Text("= [1] / (2·[1])")]
    assert [line.plain for line in Chain(Text("grad_variance"), links).lines(32)] == [
        "grad_variance",
        "    = ∂L/∂standard_deviation",
        "      / (2·standard_deviation)",
        "    = [1] / (2·[1])",
    ]
