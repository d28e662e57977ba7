"""Formulas: what is printed is what is computed, in text and in LaTeX, and reads like mathematics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from reader import from_latex, latex_fault, read
from trees import LETTERS, plain, scalars

from attncalc.evaluate import evaluate
from attncalc.graph import Node
from attncalc.notation import formula


def value_of(node: Node) -> float:
    """The value, where neither it nor anything on the way to it is beyond what numbers say well."""
    operands = {name: np.asarray(value) for name, value in LETTERS.items()}
    known = evaluate([node], operands, keep=lambda _: True)
    assume(plain(known.values()))
    return float(known[node])


@given(scalars)
def test_a_formula_read_by_the_rules_of_school_gives_the_value(node: Node) -> None:
    value = value_of(node)
    assert read(formula(node), LETTERS) == pytest.approx(value, rel=1e-9)


@given(scalars)
def test_so_does_its_latex(node: Node) -> None:
    value, latex = value_of(node), formula(node, "latex")
    assert not latex_fault(latex)
    assert read(from_latex(latex), LETTERS) == pytest.approx(value, rel=1e-9)
