"""Formulas in ASCII and in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc.render.glyphs import to_ascii, to_words

SPELLED = [
    ("Q·Kᵀ", "Q*K^T", "Q times K transposed"),
    ("scores / √d_k", "scores / sqrt(d_k)", "scores divided by the square root of d_k"),
    ("√(variance + ε)", "sqrt(variance + epsilon)", "the square root of (variance + ε)"),
    ("γ ⊙ x + β", "gamma .* x + beta", "γ times entry by entry x + β"),
    ("∂L/∂scores·K", "dL/dscores*K", "the gradient at scores times K"),
    ("‖a‖·‖b‖", "||a||*||b||", "the norm of a times the norm of b"),
    ("|a − b|", "|a - b|", "the absolute value of a minus b"),
    ("Σ(x)", "sum(x)", "the sum of (x)"),
    ("√(Σ x²)", "sqrt(sum x^2)", "the square root of (the sum of x squared)"),
    ("180°/π", "180 deg/pi", "180 degrees/π"),
    ("2⁻⁸", "2^-8", "2⁻⁸"),
    ("√(variance + 1e-05)", "sqrt(variance + 1e-05)", "the square root of (variance + 1e-05)"),
    ("p ± √q", "p +- sqrt(q)", "p plus or minus the square root of q"),
    ("else −∞", "else -inf", "else minus infinity"),
    ("scores where j ≤ i", "scores where j <= i", "scores where j is at most i"),
    ("n ╲ m", "n \\ m", "n ╲ m"),
    ("softmax(masked)", "softmax(masked)", "softmax(masked)"),
    ("‖ŷ − y‖", "||y_hat - y||", "the norm of ŷ minus y"),
    ("α·m\u0302/√v\u0302", "alpha*m_hat/sqrt(v_hat)", "α times m\u0302/the square root of v\u0302"),
    ("m\u0302 / (1 − β₁ᵗ)", "m_hat / (1 - beta_1^t)", "m\u0302 divided by (1 minus β₁ᵗ)"),
    ("(−1)ⁿ ∏ p", "(-1)^n prod p", "(minus 1)ⁿ ∏ p"),
    ("Q[n=1]·K[n=0…1]ᵀ", "Q[n=1]*K[n=0...1]^T", "Q[n=1] times K[n=0…1] transposed"),
    ("½x, 1 − P(¬A)", "0.5x, 1 - P(not A)", "½x, 1 minus P(¬A)"),
    ("⌊(l + 2p)/s⌋", "floor((l + 2p)/s)", "⌊(l + 2p)/s⌋"),
    ("hôte", "h\\xf4te", "hôte"),
    ("café", "caf\\xe9", "café"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("formula", "ascii_form", "words"), SPELLED, ids=[row[1] for row in SPELLED])
def test_a_formula_in_ascii_and_in_words(formula: str, ascii_form: str, words: str) -> None:
    assert to_ascii(formula) == ascii_form
    assert to_words(formula) == words


@given(st.text())
def test_ascii_holds_nothing_else(text: str) -> None:
    assert to_ascii(text).isascii()


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_stays_as_it_is(text: str) -> None:
    assert to_ascii(text) == text
