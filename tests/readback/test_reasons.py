"""Numbers and slopes in what is said of primitives: each is quoted here as it stands, written out, and worked out."""

from __future__ import annotations

import numpy as np
import pytest
from language.ops.examples import EXAMPLES

from attncalc.language.primitive import OPS
from readback import text
from readback.meaning import Tensor, worth

NUMBERS = [
    ("pow", "4² = 16, and 2² + 2² = 8", ["4²", "16"], ["2² + 2²", "8"]),
    ("exp", "1 more in x is 2.718 times as much", ["e", "2.718"]),
    ("exp", "float64 beyond x = 709.78", ["ln(1.7976931348623157e+308)", "709.78"]),
    ("exp", "float32 beyond 88.72", ["ln(3.4028234663852886e+38)", "88.72"]),
    ("root_of_sum", "√(3² + 4²) = 5, not 3 + 4 = 7", ["√(3² + 4²)", "5"], ["3 + 4", "7"]),
    ("softmax", "e ≈ 2.718 times", ["e", "2.718"]),
    ("tanh", "tanh 0.1 = 0.0997", ["tanh(0.1)", "0.0997"]),
    ("tanh", "tanh 3 = 0.9951", ["tanh(3)", "0.9951"]),
    ("sigmoid", "½ at 0, 0.7311 at 1 and 0.9933 at 5", ["σ(0)", "0.5"], ["σ(1)", "0.7311"], ["σ(5)", "0.9933"]),
    ("sigmoid", "σ(−x) = 1 − σ(x)", ["σ(−x)", "1 − σ(x)"]),
    ("sigmoid", "σ(x) = 1/(1 + e^−x)", ["σ(x)", "1 / (1 + exp(−x))"]),
]
"""Primitive, words, and equalities that they state: the left side, and the right one to the digits that it has."""
SLOPES = [
    ("div", "the slope of 1/x is −1/x²", "1 / x", "−1 / x²"),
    ("pow", "the slope of x^p is p·x^(p−1)", "x^p", "p·x^(p − 1)"),
    ("log", "the slope of ln x is 1/x", "ln(x)", "1 / x"),
    ("log2", "the slope of log₂ x is 1/(x·ln 2)", "log₂(x)", "1 / (x·ln(2))"),
    ("log10", "the slope of log₁₀ x is 1/(x·ln 10)", "log₁₀(x)", "1 / (x·ln(10))"),
    ("sqrt", "the slope of √x is 1/(2√x)", "√x", "1 / (2·√x)"),
    ("angle", "the slope of arccos x is −1/√(1 − x²)", "arccos(x)", "−1 / √(1 − x²)"),
    ("arccos", "the slope of arccos x is −1/√(1 − x²)", "arccos(x)", "−1 / √(1 − x²)"),
    ("sin", "the slope of sin x is cos x", "sin(x)", "cos(x)"),
    ("cos", "the slope of cos x is −sin x", "cos(x)", "−sin(x)"),
    ("tan", "the slope of tan x is 1 + tan² x", "tan(x)", "1 + tan(x)²"),
    ("tanh", "the slope of tanh x is 1 − tanh² x", "tanh(x)", "1 − tanh(x)²"),
    ("erf", "the slope of erf x is the bell curve 2/√π·exp(−x²)", "erf(x)", "(2 / √π)·exp(−x²)"),
    ("sigmoid", "the slope of σ is σ·(1 − σ)", "σ(x)", "σ(x)·(1 − σ(x))"),
]
"""Primitive, words, a function and its slope."""
X, P, STEP = 0.37, 2.6, 1e-6


def said(op: str) -> str:
    """All that is said of a primitive, about it and beside its backward steps."""
    words = []
    for example in EXAMPLES[op]:
        node, _ = example.graph()
        row = OPS[op]
        words.append(row.about(node) if callable(row.about) else row.about)
        words += [row.because(node, i) if callable(row.because) else row.because for i in range(len(node.sources))]
    return "\n".join(words)


def number(formula: str, x: float = X) -> float:
    names = {"x": Tensor((), np.asarray(x)), "p": Tensor((), np.asarray(P))}
    return float(worth(text.parse(formula, names), names)[0].numbers)


@pytest.mark.parametrize(("op", "words", "equalities"), [(op, words, rest) for op, words, *rest in NUMBERS])
def test_numbers_that_are_told_are_true(op: str, words: str, equalities: list[list[str]]) -> None:
    assert words in said(op)
    for left, right in equalities:
        decimals = len(right.partition(".")[2]) if right.replace(".", "").isdigit() else 9
        assert abs(number(left) - number(right)) <= 10.0**-decimals, (left, right)  # 709.78 is cut, not rounded


@pytest.mark.parametrize(("op", "words", "function", "slope"), SLOPES)
def test_slopes_that_are_told_are_true(op: str, words: str, function: str, slope: str) -> None:
    assert words in said(op)
    measured = (number(function, X + STEP) - number(function, X - STEP)) / (2 * STEP)
    assert number(slope) == pytest.approx(measured, rel=1e-6)
