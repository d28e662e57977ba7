"""Exact numbers inside a line of arithmetic: brackets where the signs beside them would tear them apart."""

from __future__ import annotations

import pytest
import sympy
from readback.arithmetic import real

from attncalc.record.trace import Arithmetic, Entry
from attncalc.render.worked import written

SUM = Entry(1 + sympy.sqrt(2), brackets=False)
ROOT = Entry(sympy.sqrt(2), brackets=False)
QUOTIENT = Entry(sympy.together((1 + sympy.sqrt(2)) / 3), brackets=False)
LETTER = Entry(sympy.Symbol("a_0"), brackets=False)
SQUARE = Entry(sympy.Symbol("a_0") ** 2, brackets=False)
FLOAT = Entry(0.25, brackets=False)


@pytest.mark.parametrize(
    ("arithmetic", "line"),
    [
        (("√", SUM), "√(1 + √2)"),
        (("√", QUOTIENT), "√((1 + √2)/3)"),
        (("√", SQUARE), "√(a₀²)"),
        (("√", LETTER), "√a₀"),
        (("√", FLOAT), "√0.25"),
        ((SUM, "×", ROOT), "(1 + √2)×√2"),
        ((SUM, " / ", ROOT), "(1 + √2) / √2"),
        ((QUOTIENT, "×", ROOT), "((1 + √2)/3)×√2"),
        ((SUM, " − ", ROOT), "1 + √2 − √2"),
        ((ROOT, "²"), "(√2)²"),
        ((LETTER, "²"), "a₀²"),
        ((FLOAT, "²"), "0.25²"),
        (("e^", SQUARE), "e^(a₀²)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_number_of_several_signs_keeps_together(arithmetic: Arithmetic, line: str) -> None:
    assert written(arithmetic) == line
    values = [piece.value for piece in arithmetic if isinstance(piece, Entry)]
    if not any(getattr(value, "free_symbols", ()) for value in values):
        in_floats = "".join(piece if isinstance(piece, str) else f"({float(piece.value)})" for piece in arithmetic)
        assert real(line) == pytest.approx(real(in_floats))
