"""The signs of formulas spelled in ASCII, for streams that lack them, and in words, for readers who listen."""

from __future__ import annotations

import re
import unicodedata

_SIGNS = {
    "·": "*",
    "⊙": ".*",
    "⊗": "(x)",
    "×": "x",
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "∂": "d",
    "∇": "grad ",
    "Σ": "sum ",
    "∏": "prod ",
    "⌊": "floor(",
    "⌋": ")",
    "⌈": "ceil(",
    "⌉": ")",
    "½": "0.5",
    "¬": "not ",
    "∞": "inf",
    "‖": "||",
    "←": "<-",
    "→": "->",
    "…": "...",
    "°": " deg",
    "′": "'",
    "√": "sqrt ",
    "╲": "\\",
    "│": "|",
    "┼": "+",
    "─": "-",
    "━": "=",
}
_ASCII = str.maketrans(_SIGNS)
_ROOT = re.compile(r"√(\(|[\w.]+)")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᵗⁿˣ]+")
_LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_GREEK = re.compile("[Α-Ωα-ω]")
_HAT = re.compile(r"(?<![A-Za-zÀ-ɏ])(?:[A-Za-z]\u0302|ŷ)(?!\w)")  # only over a single letter: in a word it is an accent

_WORDS = (
    (r"(?<=\de)−(?=\d)", "-"),
    (r"∂L/∂(\w+)", r"the gradient at \1"),
    (r"‖([^‖]*)‖", r"the norm of \1"),
    (r"\|([^|]*)\|", r"the absolute value of \1"),
    (r"√", "the square root of "),
    (r"Σ\s*", "the sum of "),
    (r"([\w)\]])ᵀ", r"\1 transposed"),
    (r"²", " squared"),
    (r"\^", " to the power "),
    (r"\s*⊙\s*", " times entry by entry "),
    (r"\s*⊗\s*", " outer product with "),
    (r"\s*[·×]\s*", " times "),
    (r"\s+/\s+", " divided by "),
    (r"\s*±\s*", " plus or minus "),
    (r"(?<=[\w)\]]) − ", " minus "),
    (r"−\s*", "minus "),
    (r" ≤ ", " is at most "),
    (r"∞", "infinity"),
    (r"°", " degrees"),
)


def to_ascii(text: str) -> str:
    """The text for a stream that lacks `√` or `ᵀ`: `sqrt(d_k)`, `Q*K^T`, `gamma`; all other characters are escaped."""
    if text.isascii():
        return text
    text = _HAT.sub(lambda found: unicodedata.normalize("NFD", found[0])[0] + "_hat", text)
    text = text.replace("Σ ", "Σ").replace("Σ(", "sum(").replace("∏ ", "∏")
    text = _ROOT.sub(lambda found: "sqrt(" if found[1] == "(" else f"sqrt({found[1]})", text)
    text = _RAISED.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text)
    text = _LOWERED.sub(lambda found: "_" + unicodedata.normalize("NFKC", found[0]), text)
    text = _GREEK.sub(lambda found: _greek(found[0]), text.translate(_ASCII))
    return text.encode("ascii", "backslashreplace").decode()


def _greek(character: str) -> str:
    """`γ` → `gamma`, `Δ` → `Delta`."""
    word = unicodedata.name(character).rpartition(" ")[2]
    return word.capitalize() if character.isupper() else word.lower()


def to_words(formula: str) -> str:
    """The formula as people say it: `Q·Kᵀ` → `Q times K transposed`."""
    for sign, words in _WORDS:
        formula = re.sub(sign, words, formula)
    return formula
