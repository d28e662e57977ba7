"""Formulas: what is printed is what is computed, in text and in LaTeX, and reads like mathematics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from readback.arithmetic import number_of_latex, real
from readback.latex import formula_fault
from trees import LETTERS, plain, scalars

from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, constant, step
from attncalc.language.graph import given as operand
from attncalc.language.ops import concat, exp, outer, power, root_of_sum, total
from attncalc.language.primitive import formula, sizes, symbol


def value_of(node: Node) -> float:
    """The value, where neither it nor anything on the way to it is beyond what numbers say well."""
    operands = {name: np.asarray(value) for name, value in LETTERS.items()}
    known = evaluate([node], operands, keep=lambda _: True)
    assume(plain(known.values()))
    return float(known[node])


@pytest.mark.thorough
@given(scalars)
def test_a_formula_read_by_the_rules_of_school_gives_the_value(node: Node) -> None:
    value = value_of(node)
    assert real(formula(node), LETTERS) == pytest.approx(value, rel=1e-9)


@pytest.mark.thorough
@given(scalars)
def test_so_does_its_latex(node: Node) -> None:
    value, latex = value_of(node), formula(node, "latex")
    assert not formula_fault(latex)
    assert number_of_latex(latex, LETTERS).real == pytest.approx(value, rel=1e-9)


X, Y = operand("x", (Axis("n", 3),), "x"), operand("y", (Axis("m", 2),), "y")


@pytest.mark.parametrize(
    ("node", "text", "latex", "with_sizes"),
    [
        pytest.param(X + constant(0.1, "ε"), "x + ε", r"x + \epsilon", "[3] + 0.1", id="a number that an option gives"),
        pytest.param(X + constant(np.pi, "π"), "x + π", r"x + \pi", "[3] + π", id="a number of one name"),
        pytest.param(
            X / constant(2.0, "bandwidth"), "x / bandwidth", r"\frac{x}{\text{bandwidth}}", "[3] / 2", id="a word"
        ),
    ],
)
def test_a_named_number_is_spoken_of_by_its_name(node: Node, text: str, latex: str, with_sizes: str) -> None:
    assert (formula(node), formula(node, "latex"), sizes(node)) == (text, latex, with_sizes)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        pytest.param(-2 * X * exp(X), "(−2)·x ⊙ exp(x)", id="a number in front"),
        pytest.param(X * (-2 * X * exp(X)), "x ⊙ ((−2)·x ⊙ exp(x))", id="a number that is no longer in front"),
        pytest.param(X * (X * exp(X)), "x ⊙ x ⊙ exp(x)", id="no number"),
    ],
)
def test_products_of_two_signs_read_in_one_way(node: Node, text: str) -> None:
    assert formula(node) == text
    assert formula(node, "latex").count(r"\left(") == text.count("((") + text.count("(−")


@pytest.mark.parametrize(
    ("name", "text", "latex"),
    [
        pytest.param("gamma", "γ", r"\gamma", id="a Greek letter"),
        pytest.param("b_1", "b_1", "b_{1}", id="what stands below"),
        pytest.param("m_hat", "m\u0302", r"\hat{m}", id="a hat"),
    ],
)
def test_a_symbol_is_spelled_as_in_textbooks(name: str, text: str, latex: str) -> None:
    node = operand(name, (), name)
    assert (symbol(node), symbol(node, "latex")) == (text, latex)


SLOPE = step("∂L/∂k", operand("k", (Axis("m", 2), Axis("d", 3))))


@pytest.mark.parametrize(
    ("node", "text", "latex"),
    [
        pytest.param(
            SLOPE.T,
            "∂L/∂kᵀ",
            r"\left(\frac{\partial L}{\partial k}\right)^\top",
            id="a fraction only in LaTeX, transposed",
        ),
        pytest.param(SLOPE**2, "∂L/∂k²", r"\left(\frac{\partial L}{\partial k}\right)^{2}", id="and squared"),
        pytest.param(-outer(X, Y), "−x ⊗ y", r"-x \otimes y", id="an outer product, which binds as products do"),
        pytest.param(
            root_of_sum(total(X**2), X, 2), "√(Σ x²)", r"\sqrt{\sum_{n} x^{2}}", id="a square root, which has a sign"
        ),
        pytest.param(
            root_of_sum(total(X**3), X, 3),
            "(Σ x^3)^(1/3)",
            r"\left(\sum_{n} x^{3}\right)^{1/3}",
            id="another root, which is a power",
        ),
        pytest.param(power(X, X / 2), "x^(x / 2)", r"x^{\frac{x}{2}}", id="raised in LaTeX, which holds it together"),
    ],
)
def test_brackets_stand_where_each_notation_needs_them(node: Node, text: str, latex: str) -> None:
    assert (formula(node), formula(node, "latex")) == (text, latex)


@pytest.mark.parametrize(
    ("terms", "text"),
    [(6, "x1 + x2 + x3 + x4 + x5 + x6"), (7, "x1 + x2 + x3 + … + x7"), (1000, "x1 + x2 + x3 + … + x1000")],
)
def test_a_sum_of_many_terms_is_shortened_in_its_middle(terms: int, text: str) -> None:
    node = Node("add", *(operand(f"x{i}", (), f"x{i}") for i in range(1, terms + 1)))
    assert formula(node) == text


@pytest.mark.parametrize(("nested", "inside"), [(13, "x"), (14, "…"), (1000, "…")])
def test_what_nests_too_deeply_is_cut(nested: int, inside: str) -> None:
    node = operand("x", ())
    for _ in range(nested):
        node = exp(node)
    assert formula(node) == "exp(" * 13 + inside + ")" * 13


def test_sizes_of_vectors_laid_one_after_the_other_are_added() -> None:
    ends = concat([X, operand("z", (Axis("n", 1),), "z")], "n")
    assert (formula(ends), sizes(ends)) == ("[x; z]", "[3 + 1]")
