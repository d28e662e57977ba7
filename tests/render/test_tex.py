"""Words, numbers and arithmetic in LaTeX: signs are set, and nothing in them acts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from readback.arithmetic import apart, number, number_of_latex
from readback.latex import formula_fault
from trees import LETTERS, scalars

from attncalc.evaluate.values import evaluate
from attncalc.language.graph import Node
from attncalc.render import tex
from attncalc.render.worked import written
from attncalc.solve.recording import entry

WORDS = [
    ("plain words, 3 of them", "plain words, 3 of them"),
    ("d_k", r"d\_k"),
    ("50% of $5 & #1", r"50\% of \$5 \& \#1"),
    ("{a}~b^c", r"\{a\}\textasciitilde{}b\textasciicircum{}c"),
    ("<|>", r"\textless{}\textbar{}\textgreater{}"),
    (r"\input{x}", r"\textbackslash{}input\{x\}"),
    ("--all", "-{}-all"),
    ("x² ≤ √Qᵀ", r"x$^{2}$ $\le$ $\surd$Q$^{\top}$"),
    ("λ²", r"$\lambda^{2}$"),
    ("$√", r"\$$\surd$"),
    ("γ and λ", r"$\gamma$ and $\lambda$"),
    ("two\nlines", r"two\textbackslash{}nlines"),
    ("\u202eevil", r"\textbackslash{}u202eevil"),
    ("日本 é", "日本 é"),
]


@pytest.mark.parametrize(("words", "latex"), WORDS, ids=[words for words, _ in WORDS])
def test_text(words: str, latex: str) -> None:
    assert tex.text(words) == latex


HARMLESS = {"textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", "dots"}


@given(st.text())
def test_no_sign_of_anybodys_text_acts(words: str) -> None:
    latex = tex.text(words)
    bare = re.sub(r"\$[^$]*\$", "", re.sub(r"\\[&#%_{}$]", "", latex))
    commands = set(re.findall(r"\\([a-zA-Z]+)", bare))
    assert commands <= {
        "textbackslash",
        "textasciicircum",
        "textasciitilde",
        "textless",
        "textgreater",
        "textbar",
        "dots",
    }
    assert not set("&#%_^~$\n") & set(bare)
    assert bare.count("{") == bare.count("}")


def test_our_own_sentences_hold_small_formulas() -> None:
    assert tex.sentence("e^−∞ is 0, whatever d_k is") == r"$e^{-\infty}$ is 0, whatever $d_{k}$ is"
    assert tex.sentence("divided by √d_k") == r"divided by $\sqrt{d_{k}}$"
    assert tex.sentence("grad_scores and x_12") == r"grad\_scores and x\_12"


ARITHMETIC = [
    ("0.8×0.7 + 0.2×0.3", r"0.8\times0.7 + 0.2\times0.3"),
    ("√(0.8² + 0.2²)", r"\sqrt{0.8^{2} + 0.2^{2}}"),
    ("√3/3", r"\sqrt{3}/3"),
    ("√(1 + √(2 + x))", r"\sqrt{1 + \sqrt{2 + x}}"),
    ("(9 + 16)^(1/2)", "(9 + 16)^{1/2}"),
    ("e^−2.5 / (e^0 + e^(−1))", r"\frac{e^{-2.5}}{e^{0} + e^{-1}}"),
    ("max(1, 2, −∞)", r"\max(1, 2, -\infty)"),
    ("argmax(1, taken)", r"\text{argmax}(1,\text{ taken})"),
    ("1.25e-05", r"1.25 \times10^{-5}"),
    ("1e-05²", r"(1 \times10^{-5})^{2}"),
    ("√(3 + 2e-06²)", r"\sqrt{3 + (2 \times10^{-6})^{2}}"),
    ("3e-05 / 1.5e-05", r"\frac{3 \times10^{-5}}{1.5 \times10^{-5}}"),
    ("2×sign(−1) + onto₁", r"2\times\text{sign}(-1) + \text{onto}_{1}"),
    ("6.02e+23", r"6.02 \times10^{23}"),
    ("NaN", r"\text{NaN}"),
    ("1.5 + 2i", "1.5 + 2i"),
    ("log₁₀(0.2)", r"\log_{10}(0.2)"),
    ("180 / π", r"\frac{180}{\pi}"),
    ("√((1 + 2) / 3) − 1 / √4", r"\sqrt{\frac{1 + 2}{3}} - \frac{1}{\sqrt{4}}"),
    ("(1 / 2)×3 + 4 / (5 − 6 / 7)", r"(\frac{1}{2})\times3 + \frac{4}{5 - \frac{6}{7}}"),
    ("e^2.5) / 3 + 1 / (2 +", r"e^{2.5}) / 3 + 1 / (2 +"),  # lines that were broken inside brackets
    ("1 / 2 / 3", "1 / 2 / 3"),
    ("1 + (1 / 2) / 3", r"1 + \frac{\frac{1}{2}}{3}"),
    ("1 − √max((6 − 5) / 3, 0)", r"1 - \sqrt{\max(\frac{6 - 5}{3}, 0)}"),
    ("−∞ (masked)", r"-\infty\text{ (masked)}"),
    ("1 at the first maximum, else 0", r"1\text{ at the first maximum},\text{ else }0"),
]


@pytest.mark.parametrize(("line", "latex"), ARITHMETIC, ids=[line for line, _ in ARITHMETIC])
def test_arithmetic(line: str, latex: str) -> None:
    assert tex.arithmetic(line) == latex
    assert not formula_fault(latex)


TINY = st.sampled_from([1e-5, -2.5e-7, 3.0, 0.5, 6.02e23, 1.25e-9])


@pytest.mark.thorough
@given(scalars, st.lists(TINY, min_size=len(LETTERS), max_size=len(LETTERS)))
def test_a_line_comes_in_latex_to_what_it_comes_to_in_text(node: Node, numbers: list[float]) -> None:
    operands = {name: np.asarray(value) for name, value in zip(LETTERS, numbers, strict=True)}
    known = evaluate([node], operands, keep=lambda _: True)
    line = written(entry(node, {}, lambda source, at: known[source][()]))
    assume(line)
    # Far from 0 a wave makes another number of one unit in the last place, which two ways of reading may differ by.
    assume(not re.search("sin|cos|tan", line) or max(np.max(np.abs(value)) for value in known.values()) < 1000)
    assert not formula_fault(tex.arithmetic(line)), line
    ways, why = apart(line)
    for part in filter(None, (*ways, why)):
        latex = tex.arithmetic(part)
        assert not formula_fault(latex), latex
        assert_allclose(number_of_latex(latex), number(part), rtol=1e-12, err_msg=latex)


def test_a_power_of_a_power_is_no_fault_to_tex() -> None:
    assert tex.arithmetic("2^3^4") == "2^{3}{}^{4}"


@given(st.text(alphabet="√^()²e+−-×/12.5max πé\\{}%$&#_~ ", max_size=30))
def test_arithmetic_is_always_in_balance(line: str) -> None:
    bare = re.sub(r"\\[{}]", "", tex.arithmetic(line))
    assert bare.count("{") == bare.count("}")


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("n", "n"),
        ("d_k", "d_{k}"),
        ("d_model", r"d_{\text{model}}"),
        ("(h d_k)", r"(h\,d_{k})"),
        ("rank", r"\text{rank}"),
        ("m'", "m'"),
    ],
)
def test_axes(name: str, latex: str) -> None:
    assert tex.axis(name) == latex


class TestExact:
    def test_surds_and_letters(self) -> None:
        import sympy

        q = sympy.Symbol("q_12")
        assert tex.exact(sympy.sqrt(3) / 3 * q) == r"\frac{\sqrt{3} q_{12}}{3}"
        assert tex.exact(3) == "3"

    def test_a_letter_cannot_be_a_command(self) -> None:
        import sympy

        assert tex.exact(sympy.Symbol(r"\input{/etc/passwd}")) == r"\text{\textbackslash{}input\{/etc/passwd\}}"


@pytest.mark.parametrize(("character", "there"), [("a", True), ("é", True), ("ß", True), ("中", False), ("«", False)])
def test_glyphs_of_every_engine(character: str, there: bool) -> None:
    assert tex.has_a_glyph(character) is there
