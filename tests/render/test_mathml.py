"""LaTeX → MathML: each form, well-formed whatever comes, and every formula that attncalc writes."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from solved import ALL, Tried, solved

from attncalc.language.primitive import _GREEK
from attncalc.render.mathml import FUNCTIONS, LETTERS, OPERATORS, mathml
from attncalc.solve import asking

CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2, "msubsup": 3, "munderover": 3}
WITH_ARGUMENTS = {
    "frac",
    "sqrt",
    "hat",
    "text",
    "operatorname",
    "mathcal",
    "left",
    "right",
    "begin",
    "end",
    "partial",
    "\\",
    ",",
}
BRACKET = '<mo stretchy="false" lspace="0" rspace="0">{}</mo>'
TIMES = '<mo lspace="0" rspace=".17em">\u2062</mo>'
OF, APART = "<mo>\u2061</mo>", '<mo lspace="0" rspace=".17em">\u2061</mo>'


def inside(latex: str) -> str:
    """The elements between `<mrow>` and its end, without the annotation."""
    found = re.fullmatch(
        r'<math displaystyle="true"><semantics><mrow>(.*)</mrow><annotation .*</annotation></semantics></math>',
        mathml(latex),
        re.DOTALL,
    )
    assert found
    return found[1]


def test_every_greek_letter_of_a_formula_is_known() -> None:
    assert {*_GREEK} <= LETTERS.keys()


@pytest.mark.parametrize(
    ("latex", "xml"),
    [
        pytest.param("Q", "<mi>Q</mi>", id="a letter"),
        pytest.param("12.5", "<mn>12.5</mn>", id="a number"),
        pytest.param("a - b", "<mi>a</mi><mo>−</mo><mi>b</mi>", id="an operator"),
        pytest.param(
            "(-b) - c = -d",
            f'{BRACKET.format("(")}<mo form="prefix">−</mo><mi>b</mi>{BRACKET.format(")")}<mo>−</mo><mi>c</mi>'
            '<mo>=</mo><mo form="prefix">−</mo><mi>d</mi>',
            id="a minus in front of a number, and between two",
        ),
        pytest.param("Q K", f"<mi>Q</mi>{TIMES}<mi>K</mi>", id="factors side by side"),
        pytest.param(r"Q K^\top", f"<mi>Q</mi>{TIMES}<msup><mi>K</mi><mi>⊤</mi></msup>", id="transposed"),
        pytest.param("d_{k}", "<msub><mi>d</mi><mrow><mi>k</mi></mrow></msub>", id="below"),
        pytest.param("x_{i}^{2}", None, id="below and above"),
        pytest.param(r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>", id="a fraction"),
        pytest.param(r"\sqrt{2}", "<msqrt><mrow><mn>2</mn></mrow></msqrt>", id="a root"),
        pytest.param(r"\sqrt[3]{2}", "<mroot><mrow><mn>2</mn></mrow><mrow><mn>3</mn></mrow></mroot>", id="a cube root"),
        pytest.param(
            r"\hat{m}",
            '<mover accent="true"><mrow><mi>m</mi></mrow><mo stretchy="false">^</mo></mover>',
            id="a hat",
        ),
        pytest.param(r"\text{norm of a}", '<mi mathvariant="normal">norm\u00a0of\u00a0a</mi>', id="words"),
        pytest.param(r"\text{a\_b}", '<mi mathvariant="normal">a_b</mi>', id="an escape in words"),
        pytest.param(r"\sum_{n} x", "<munder><mo>∑</mo><mrow><mi>n</mi></mrow></munder><mi>x</mi>", id="a sum"),
        pytest.param(
            r"\ln(x)", f"<mi>ln</mi>{OF}{BRACKET.format('(')}<mi>x</mi>{BRACKET.format(')')}", id="a function"
        ),
        pytest.param(
            r"\ln \operatorname{softmax}(x)",
            f"<mi>ln</mi>{APART}<mi>softmax</mi>{OF}{BRACKET.format('(')}<mi>x</mi>{BRACKET.format(')')}",
            id="a function of another",
        ),
        pytest.param(r"\ln x", f"<mi>ln</mi>{APART}<mi>x</mi>", id="a function of a letter"),
        pytest.param(
            r"\ln\left(x\right)",
            f"<mi>ln</mi>{OF}<mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>",
            id="of what is in brackets",
        ),
        pytest.param(
            r"\operatorname{softmax}(x)",
            f"<mi>softmax</mi>{OF}{BRACKET.format('(')}<mi>x</mi>{BRACKET.format(')')}",
            id="a function by its name",
        ),
        pytest.param(
            r"\mathcal{N}(0)",
            f"<mi>𝒩</mi>{OF}{BRACKET.format('(')}<mn>0</mn>{BRACKET.format(')')}",
            id="a distribution",
        ),
        pytest.param(
            r"\operatorname{singular~values}(A)",
            f"<mi>singular\u00a0values</mi>{OF}{BRACKET.format('(')}<mi>A</mi>{BRACKET.format(')')}",
            id="a function whose name has a blank",
        ),
        pytest.param(r"\left(a\right)", "<mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow>", id="brackets that grow"),
        pytest.param(r"\left. a \right|", "<mrow><mi>a</mi><mo>|</mo></mrow>", id="a bracket on one side"),
        pytest.param(r"\partial L", "<mi>∂</mi><mi>L</mi>", id="∂ clings to its L"),
        pytest.param("a < b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>", id="an angle is escaped"),
        pytest.param(
            r"\begin{cases} x & i \\ 0 & \text{else} \end{cases}",
            '<mrow><mo>{</mo><mtable class="cases">'
            "<mtr><mtd><mi>x</mi></mtd><mtd><mi>i</mi></mtd></mtr>"
            '<mtr><mtd><mn>0</mn></mtd><mtd><mi mathvariant="normal">else</mi></mtd></mtr></mtable></mrow>',
            id="cases",
        ),
        pytest.param(r"\unheardof", "<mtext>unheardof</mtext>", id="an unknown command is read out"),
    ],
)
def test_each_form(latex: str, xml: str | None) -> None:
    xml = xml or "<msubsup><mi>x</mi><mrow><mi>i</mi></mrow><mrow><mn>2</mn></mrow></msubsup>"
    assert inside(latex) == xml


def test_the_latex_goes_along() -> None:
    assert '<annotation encoding="application/x-tex">a &lt; b</annotation>' in mathml("a < b")


def parsed(latex: str) -> ET.Element:
    """The formula as a tree, each fraction and script with as many parts as it must have."""
    tree = ET.fromstring(mathml(latex))  # noqa: S314  (it is our own output that is parsed)
    assert all(len(node) == CHILDREN[node.tag] for node in tree.iter() if node.tag in CHILDREN)
    return tree


@given(st.text(alphabet=r"\{}[]()^_&<>|'\"ab12 +-.fracsqrtextleigh", max_size=40))
def test_any_text_gives_well_formed_mathml(latex: str) -> None:
    assert parsed(latex).tag == "math"


@pytest.mark.thorough
@pytest.mark.spread
@rows("tried", ALL, by=lambda tried: tried.name)
def test_every_formula_of_every_calculation(tried: Tried) -> None:
    known = {*LETTERS, *OPERATORS, *FUNCTIONS, *WITH_ARGUMENTS}
    trace = solved(tried)
    for step in trace.steps:
        for latex in (step.latex, step.symbol_latex, *asking.unshown(trace, step).values()):
            assert set(re.findall(r"\\([A-Za-z]+|.)", latex)) <= known, f"teach mathml.py the commands of {latex}"
            words = "".join(parsed(latex)[0][0].itertext()).replace("\u00a0", " ")
            assert all(word in words for word in re.findall(r"\\text\{([^{}]*)\}", latex))


LONG = " + ".join([r"\text{aaaaaaaa}"] * 4)
ROWS = ["aaaaaaaa", *["+aaaaaaaa"] * 3]


@pytest.mark.parametrize(
    ("latex", "rows"),
    [
        pytest.param("a = b + c", [], id="a short one stays whole"),
        pytest.param(f"-a = {LONG}", ["−a", "=aaaaaaaa", *ROWS[1:]], id="before = and each +"),
        pytest.param(
            rf"a = \left({LONG[:51]}\right)^2", ["a", f"=({''.join(ROWS[:3])})2"], id="short brackets stay whole"
        ),
        pytest.param(
            rf"a = \left({LONG} + \frac{{a}}{{b}}\right)", ["a", f"=({''.join(ROWS)}+ab)"], id="brackets are as tall"
        ),
        pytest.param(
            rf"a = \left[{LONG}; {LONG}\right]^\top",
            ["a", "=[aaaaaaaa", *ROWS[1:3], "+aaaaaaaa;", *ROWS[:3], "+aaaaaaaa]⊤"],
            id="within long brackets too",
        ),
        pytest.param(
            r"\lVert \text{aaaaaaaa} + \text{aaaaaaaa}\rVert = |\text{aaaaaaaa} - b| + 1",
            ["‖aaaaaaaa+aaaaaaaa‖", "=|aaaaaaaa−b|", "+1"],
            id="a norm is not cut",
        ),
        pytest.param(rf"a = \frac{{{LONG}}}{{{LONG}}}", ["a", "=" + "".join(ROWS * 2)], id="a fraction is not cut"),
        pytest.param(
            r"\text{aaaaaaaaaaaa}_{n=0} \cdot f(-b, -\text{aaaaaaaaaaaa}) - d",
            ["aaaaaaaaaaaan=0", "·f(−b,−aaaaaaaaaaaa)", "−d"],
            id="no sign that leads, no argument, nothing below",
        ),
    ],
)
def test_a_long_formula_is_cut_where_a_line_may_end(latex: str, rows: list[str]) -> None:
    root = ET.fromstring(mathml(latex))  # noqa: S314 - ours
    parts = [each for part in root[0][0] for each in (part if part.get("class") == "long" else [part])]
    found = ["".join(part.itertext()).translate({0x2061: None, 0x2062: None}) for part in parts]
    assert (found if "long" in root.get("class", "") else []) == rows
    for part in parts[1:] if rows else []:  # a sign that begins a line stands between operands
        assert part[0].get("form") == ("infix" if part[0].tag == "mo" else None)


@pytest.mark.parametrize(
    ("latex", "grown"),
    [
        (r"\operatorname{softmax}(\frac{a}{b})", 2),
        (r"\operatorname{mean}(\sum_{i} a_{i})^{2} + f(x)", 2),
        (r"\max(a, \operatorname{round}(\frac{a}{b}) \cdot c)", 4),
        (r"f(x) + \frac{a}{b}", 0),
    ],
)
def test_brackets_grow_around_what_is_tall(latex: str, grown: int) -> None:
    assert mathml(latex).count('stretchy="true"') == grown
