"""LaTeX pages: in balance, every number in them, user text inert; and where TeX is there, they compile."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from readback.latex import formula_fault
from rows import rows
from solved import ALL, ONE_OF_EACH, Tried, page_in, reasons_of, solved, tables
from test_samples import posed

from attncalc.common.errors import visible
from attncalc.record.numbers import texts
from attncalc.record.trace import Given, Remark, Trace
from attncalc.render import View, entries, latex, latex_values, tex, traces
from attncalc.render.latex_values import CONTINUED, LINE, STRUT, value
from attncalc.render.page import Formula, Line
from attncalc.solve.solver import solve

DOCUMENT = View(standalone=True)
PDFLATEX = shutil.which("pdflatex")
HOSTILE = [
    r"\input{/etc/passwd}",
    r"\write18{rm -rf /}",
    r"}\end{document}",
    "$x$ & # % ~ ^ _",
    "^^5cinput",
    "a\\\\[9cm]",
    "-- ?` !` ''",
    "two\nlines\u202e\x1b[31m",
    "日本語 «ñ» 🐈 łß",
]


@pytest.mark.parametrize(
    ("formula", "broken"),
    [
        pytest.param(r"\left(a + b\right)", r"\bigl(a + b\bigr)", id="brackets that a line may end in"),
        pytest.param(
            r"\left(\begin{cases} \left(a\right) & b \end{cases}\right) \cdot \left(c\right)",
            r"\left(\begin{cases} \left(a\right) & b \end{cases}\right) \cdot \bigl(c\bigr)",
            id="brackets as tall as the cases in them",
        ),
        pytest.param("[a; b]", r"[a;\allowbreak b]", id="a list"),
    ],
)
def test_a_long_formula_may_break_where_a_reader_would(formula: str, broken: str) -> None:
    assert latex._breakable(formula) == broken


def fault(page: str) -> str:
    """What TeX would stumble over, or ""."""
    text = re.sub(r"(?<!\\)%.*", "", page)
    opened: list[str] = []
    for mark, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
        if mark == "begin":
            opened.append(name)
        elif not opened or opened.pop() != name:
            return f"\\end{{{name}}} comes too soon"
    bare = re.sub(r"\\[{}$]", "", text)
    depths = list(accumulate({"{": 1, "}": -1}[brace] for brace in re.findall("[{}]", bare)))
    if min(depths) < 0 or depths[-1]:
        return "braces do not match"
    dollars = bare.count("$")
    return "a $ is missing" if dollars % 2 else f"{opened[-1]} does not end" if opened else ""


def compiles(page: str, folder: Path) -> str:
    """What TeX says against the page, or ""."""
    (folder / "page.tex").write_text(page, encoding="utf-8")
    assert PDFLATEX
    words = [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False)
    errors = re.findall(r"^! .*|^Overfull \\hbox.*", done.stdout, re.MULTILINE)
    assert errors or not done.returncode, done.stdout[-500:]
    return "\n".join(errors)


@pytest.mark.spread
@rows("tried", ONE_OF_EACH, by=lambda tried: tried.name)
class TestEveryCalculation:
    def test_every_number_stands_in_the_page(self, tried: Tried) -> None:
        trace = solved(tried)
        page = page_in("latex", trace, View(everything=True))
        entries = set(re.split(r"[&{}$\s]|\\\\|\\boxed|=", re.sub(r"\\text\{[^{}]*\}", "", page)))
        for step in tables(trace):
            assert step.value is not None
            numbers = {tex.arithmetic(text) for text in texts(step.value).flat} if not step.names else set()
            assert {n for n in numbers if " " not in n and "{" not in n} <= entries, step.name

    def test_every_step_has_its_reason_and_its_formula(self, tried: Tried) -> None:
        trace = solved(tried)
        page = page_in("latex", trace, View())
        for number, (step, why) in enumerate(zip(trace.steps, reasons_of(trace), strict=True), start=1):
            assert f"\\paragraph{{{number}. {tex.text(step.name)}}} {tex.sentence(why)}" in page
            assert step.latex in page or latex._breakable(step.latex) in page


@rows("tried", ONE_OF_EACH, by=lambda tried: tried.name)
def test_an_axis_of_several_letters_is_a_word(tried: Tried) -> None:
    """`gate` is no product of g, a, t and e."""
    written = [latex for step in solved(tried).steps for latex in (step.latex, step.symbol_latex)]
    drawn = [re.sub(r"\\text\{[^{}]*\}", "", latex) for latex in written]
    assert [latex for latex in drawn if re.search(r"(?<![\\\w])[a-z]{2,}=\d", latex)] == []


@pytest.mark.thorough
@pytest.mark.spread
@rows("tried", ALL, by=lambda tried: tried.name, thorough=lambda tried: tried not in ONE_OF_EACH)
def test_every_page_is_in_balance_and_ascii(tried: Tried) -> None:
    page = page_in("latex", solved(tried), DOCUMENT)
    assert not fault(page)
    assert page.isascii()


@rows("words", HOSTILE, ids=map(repr, HOSTILE))
class TestHostileText:
    def page(self, make: Any, words: str) -> Trace:
        labels = {"n": ("one", words), "m": (words,), "b": (words,)}
        step = make.step("x", [[[1.0], [2.0]]], "b n m", labels=labels, why=words, latex="y", symbol_latex="x")
        best = make.step("best", [1], "rank", names=("", words), latex="y", symbol_latex="x")
        source = Given(
            np.ones((1, 2)),
            source=words,
            remarks=(Remark("shape", words),),
            labels={1: (words, words)},
            axes=("n", "d"),
        )
        trace: Trace = make.trace(step, best, inputs={"q": source}, options={"scale": words}, notes=(words,))
        return trace._replace(warnings=(words,), summary=words)

    def test_does_nothing(self, make: Any, words: str) -> None:
        page = page_in("latex", self.page(make, words), DOCUMENT)
        tame = page_in("latex", self.page(make, "tame"), DOCUMENT)
        preamble, _, body = page.partition(r"\begin{document}")
        assert not fault(page)
        assert body == tame.partition(r"\begin{document}")[2].replace("tame", tex.text(words))
        assert preamble.isascii()

    @pytest.mark.thorough
    @pytest.mark.skipif(not PDFLATEX, reason="needs pdflatex")
    def test_compiles(self, make: Any, words: str, tmp_path: Path) -> None:
        assert "! " not in compiles(page_in("latex", self.page(make, words), DOCUMENT), tmp_path)
        assert visible(words).isprintable()


LONG = ("analogy", "bpe", "complexity-llama", "likelihood-normal")


@pytest.mark.thorough
@pytest.mark.parametrize("name", LONG)
def test_every_entry_of_a_sample_fits_the_lines_of_a_page(name: str) -> None:
    trace = solve(posed(name))
    for step, line in entries.cells(trace, View(cells=("all",))):
        assert latex_values.fits(traces.formula(step), " = ".join(line.links)), line.place


def test_a_root_that_no_line_holds_is_a_power() -> None:
    line = f"√(({'1.25 + ' * 20}1) / 4) × 2"
    formula = Formula("x", "", "", "x", "")
    broken = list(latex_values.spelled_out(formula, Line("x", (), line, (line,)), line))
    assert broken[-1].latex.endswith(r"/ 4)^{1/2} \times 2")
    assert all(link.width <= LINE for link in broken)


@pytest.mark.skipif(not PDFLATEX, reason="needs pdflatex")
class TestCompiling:
    @pytest.mark.thorough
    def test_one_page_of_each_calculation(self, tmp_path: Path) -> None:
        pages = [page_in("latex", solved(tried), View()) for tried in ONE_OF_EACH]
        assert not compiles(f"{latex.PREAMBLE}\\begin{{document}}\n{''.join(pages)}\\end{{document}}", tmp_path)

    @pytest.mark.parametrize("name", ["attention", "dot", "grouped"])
    def test_a_document_by_itself(self, name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        assert not compiles(page_in("latex", request.getfixturevalue(name), DOCUMENT), tmp_path)

    @pytest.mark.thorough
    def test_every_entry_of_what_has_long_lines(self, tmp_path: Path) -> None:
        every = View(cells=("all",))
        pages = [page_in("latex", solve(posed(name)), every) for name in LONG]
        assert not compiles(f"{latex.PREAMBLE}\\begin{{document}}\n{''.join(pages)}\\end{{document}}", tmp_path)

    @pytest.mark.thorough
    def test_large_wide_and_exact_values(self, make: Any, tmp_path: Path) -> None:
        import sympy

        letters = sum(sympy.Symbol(f"q_{i}") ** 2 for i in range(30))
        steps = [
            make.step("large", np.random.default_rng(0).normal(size=(50, 70)), "n m", latex="x", symbol_latex="y"),
            make.step("surds", np.array([[sympy.sqrt(3) / 3, sympy.E]], dtype=object), "n m", latex="x"),
            make.step("wide", np.array([letters, 1 / letters], dtype=object), "n", latex="x"),
            make.step("infinite", [[np.inf, -np.inf, 1e-9, 1e12]], "n m", latex="x"),
        ]
        for view in (DOCUMENT, View(standalone=True, everything=True)):
            errors = compiles(page_in("latex", make.trace(*steps), view), tmp_path)
            assert "! " not in errors


class TestMatrices:
    def latex(self, make: Any, entries: Any, axes: str, view: View | None = None, **more: Any) -> list[str]:
        return [link.latex for link in value(make.table("x", entries, axes, **more), view or View()).links]

    @pytest.mark.parametrize(
        ("entries", "axes", "labels", "expected"),
        [
            pytest.param(2.5, "", {}, "2.5", id="a number"),
            pytest.param([1, 2], "n", {}, r"\begin{bmatrix} 1 & 2 \end{bmatrix}", id="a vector"),
            pytest.param([[1, 2], [3, 4]], "n m", {}, r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}", id="a matrix"),
            pytest.param(
                [[1], [3]], "n m", {"n": ("a_b", "c")},
                r"\begin{array}{r|r} \text{a\_b} & 1 \\ \text{c} & 3 \end{array}", id="labels beside",
            ),
            pytest.param(
                [1, 3], "n", {"n": ("a", "b")},
                r"\begin{array}{rr} \text{a} & \text{b} \\ \hline" + STRUT + r" 1 & 3 \end{array}", id="labels above",
            ),
            pytest.param(
                [[1, 3]], "n m", {"n": ("a",), "m": ("b", "c")},
                r"\begin{array}{r|rr}  & \text{b} & \text{c} \\ \hline" + STRUT + r" \text{a} & 1 & 3 \end{array}",
                id="both",
            ),
        ],
    )  # fmt: skip
    def test_framed_by_labels_where_there_are_some(
        self, make: Any, entries: Any, axes: str, labels: dict[str, tuple[str, ...]], expected: str
    ) -> None:
        assert self.latex(make, entries, axes, labels=labels) == [expected]

    def test_a_stack_is_told_apart(self, make: Any) -> None:
        page = page_in(
            "latex", make.trace(make.step("w", np.ones((2, 1, 1)), "h n m", symbol_latex="w", latex="v")), View()
        )
        assert r"{w}_{\text{h = 0}} &= \boxed{\begin{bmatrix} 1 \end{bmatrix}}" in page
        assert r"{w}_{\text{h = 1}} &= " in page

    def test_wide_values_are_windowed_and_say_so(self, make: Any) -> None:
        step = make.table("x", np.arange(6000.0).reshape(60, 100) + 0.5, "n m")
        (link,), left_out = value(step, View())
        assert link.width <= LINE
        assert r"\cdots & 99.5 \\" in link.latex
        assert r"\vdots & \vdots" in link.latex
        assert left_out == r"\dots{} 92 more columns and 38 more rows (-{}-all shows them)"

    def test_all_of_a_wide_value_comes_in_blocks(self, make: Any) -> None:
        entries = np.arange(6000.0).reshape(60, 100)
        links = value(make.table("x", entries, "n m"), View(everything=True)).links
        assert all(link.width <= LINE for link in links)
        body = " ".join(link.latex.partition(STRUT)[2] for link in links)
        assert {str(int(x)) for x in entries.flat} <= set(body.split())

    def test_an_exact_value_is_followed_by_its_decimals(self, make: Any) -> None:
        import sympy

        entries = np.array([sympy.sqrt(3) / 3, sympy.Integer(2)], dtype=object)
        exact, decimals = value(make.table("x", entries, "n"), View()).links
        assert exact.latex == r"\begin{bmatrix} \frac{\sqrt{3}}{3} & 2 \end{bmatrix}"
        assert (decimals.relation, decimals.latex) == (r"\approx", r"\begin{bmatrix} 0.5774 & 2 \end{bmatrix}")

    def test_entries_too_wide_for_a_matrix_come_one_by_one(self, make: Any) -> None:
        import sympy

        long = sum(sympy.Symbol(f"q_{i}") for i in range(20))
        links = value(make.table("x", np.array([[long, long]], dtype=object), "n m"), View()).links
        assert [(link.below, link.relation) for link in links] == [
            ("0,0", "="), ("", CONTINUED), ("0,1", "="), ("", CONTINUED)
        ]  # fmt: skip


def test_quiet_and_get_give_the_matrix_alone(attention: Trace) -> None:
    assert page_in("latex", attention._replace(outputs=attention.steps[:1]), View(quiet=True)) == (
        r"\begin{array}{r|rr}  & \text{the} & \text{cat} \\ \hline"
        + STRUT
        + r" \text{the} & 1 & 2 \\ \text{cat} & 1 & 1 \end{array}"
        "\n"
    )
    assert not fault(page_in("latex", attention, View(get="weights", standalone=True)))


HALF = r"\begin{bmatrix} \frac{1}{2} & 1 \end{bmatrix} = \begin{bmatrix} 0.5 & 1 \end{bmatrix}"
FIRST = [f"q{i}" for i in sorted(range(30), key=str)]
PRODUCTS = r"\text{q1} + " + " + ".join(rf"{i} \text{{q{i}}}" for i in range(2, 9))
BY_ITSELF: dict[str, tuple[Any, str, str]] = {
    "a number": ("sqrt(2)", "", r"\sqrt{2} \approx 1.4142"),
    "a vector": (["1/2", "1"], "n", HALF),
    "a stack": ([[["1/2", "1"]], [["1/2", "1"]]], "h n m", f"{HALF}\n{HALF}"),
    "entries too wide for a matrix": (
        ["pi", "+".join(f"q{i}" for i in range(30))],
        "n",
        "\\begin{aligned}\n  {\\text{x}}_{0} &= \\pi \\approx 3.1416 \\\\\n  {\\text{x}}_{1} &= "
        + " \\\\\n  &\\quad {}+ ".join(" + ".join(part) for part in (FIRST[:12], FIRST[12:24], FIRST[24:]))
        + "\n\\end{aligned}",
    ),
    "fractions that are wide in a line alone": (
        ["1/2", f"({'+'.join(f'{i}*q{i}' for i in range(1, 9))})/({'+'.join(f'{i}*r{i}' for i in range(1, 9))})"],
        "n",
        (
            "\\begin{aligned}\n  {\\text{x}}_{0} &= \\frac{1}{2} = 0.5 \\\\\n  {\\text{x}}_{1} &= "
            rf"\frac{{{PRODUCTS}}}{{{PRODUCTS.replace('q', 'r')}}}"
            "\n\\end{aligned}"
        ),
    ),
}


@pytest.mark.parametrize(("entries", "axes", "expected"), BY_ITSELF.values(), ids=BY_ITSELF)
def test_an_exact_value_by_itself(make: Any, entries: Any, axes: str, expected: str) -> None:
    import sympy

    step = make.step("x", np.vectorize(sympy.sympify, otypes=[object])(entries), axes)
    trace = make.trace(step)
    found = page_in("latex", trace, View(quiet=True))
    assert found.splitlines() == expected.splitlines()
    assert not fault(page_in("latex", trace, View(quiet=True, standalone=True)))


def test_a_scalar_is_a_chain_of_equations(dot: Trace) -> None:
    made = dot.steps[1]._replace(latex="a b", symbol_latex=r"\text{dot}")
    page = page_in("latex", dot._replace(steps=(made,), outputs=(made,)), View())
    assert r"\text{dot} = a b = 0.8\times0.7 + 0.2\times0.3 + (-0.1)\times(-0.2) = \boxed{0.64}" in page


def test_fragments_need_amsmath_alone_and_documents_bring_it(attention: Trace) -> None:
    fragment = attention.to_latex()
    assert fragment.startswith("% attention; needs \\usepackage{amsmath}\n")
    assert "documentclass" not in fragment
    document = attention.to_latex(standalone=True)
    assert set(re.findall(r"\\usepackage(?:\[[^]]*\])?\{(\w+)\}", document)) == {"amsmath", "geometry"}
    assert document.isascii()


@pytest.mark.thorough
def test_formulas_on_pages_have_no_fault() -> None:
    assert not any(formula_fault(step.latex) for tried in ONE_OF_EACH for step in solved(tried).steps)


def test_cells_are_equations(dot: Trace) -> None:
    page = page_in("latex", dot, View(cells=("products[1]",)))
    assert r"{\text{products}}_{1} &= 0.2\times0.3 = 0.06" in page
    assert not fault(page)


@pytest.mark.parametrize(
    ("line", "room", "lines"),
    [
        ("1 + 2 = 3", 20, ["1 + 2 = 3"]),
        ("10 + 20 + 30 = 60", 10, ["10 + 20", " + 30 = 60"]),
        ("(10 + 20)/2 − 30", 14, ["(10 + 20)/2", " − 30"]),
        ("−(10 + 20 + 30)", 10, ["−(10 + 20", " + 30)"]),
        ("√(10 + 20 + 30)", 10, ["√(10 + 20 + 30)"]),
        ("2×exp(min(10, 20)) + 300", 10, ["2×exp(min(10, 20))", " + 300"]),
        ("e^min(10, 20) + 300", 10, ["e^min(10, 20)", " + 300"]),
        ("max(10, 20, 30)", 10, ["max(10,", " 20, 30)"]),
    ],
)
def test_long_arithmetic_is_broken_between_terms(line: str, room: int, lines: list[str]) -> None:
    assert latex_values._lines(line, room) == lines


def test_arithmetic_that_no_line_holds_is_left_out(make: Any) -> None:
    step = make.step("x", np.array(1.0), "")
    terms = " + ".join(f"{i}²" for i in range(100, 140))
    assert latex_values.fits(step, terms)
    assert latex_values.fits(step, f"√({terms})"), "as a power of the sum"
    assert not latex_values.fits(step, "1" * 200)


def test_a_number_or_a_letter_in_a_name_stands_below_it_and_is_no_factor() -> None:
    """`\\text{gram 1}` is read as a product with 1, and `\\text{W 1 new}` as one of three."""
    found = [step for tried in ONE_OF_EACH for step in solved(tried).steps]
    names = {step.symbol_latex.replace(rf"_{{\text{{{step.group}}}}}", "") for step in found}  # without its part
    assert [name for name in names if re.search(r"\\text\{([A-Za-z]'? [^}]*|[^}]* (\d+|[A-Za-z]))\}", name)] == []


def test_an_index_of_a_slope_is_of_what_stands_below_its_line() -> None:
    """An index of the whole fraction would be smaller than its place, and larger than the name that it is of."""
    found = [step.latex for tried in ONE_OF_EACH if tried.backward for step in solved(tried).steps]
    indexed = r"\\frac\{\\partial [^{}]*\}\{\\partial (\\text\{[^}]*\}|[^{}])(_\{\\text\{[^}]*\}\})?\}"
    assert [text for text in found if re.search(indexed + "_", text)] == []
    assert any(match[2] for text in found for match in re.finditer(indexed, text)), "none has an index"
