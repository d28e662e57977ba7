"""The HTML page: whole and well-formed, every number in a table with headings, nothing fetched, user text inert."""

from __future__ import annotations

import re
from base64 import b64encode
from contextlib import suppress
from functools import cache
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from rows import rows
from solved import ONE_OF_EACH, Tried, page_in, reasons_of, solved, tables
from test_samples import PROBLEMS, posed

import attncalc as ac
from attncalc.cli.reference import mistakes_page
from attncalc.common.errors import AttncalcError, visible
from attncalc.homework.diagnosis.slips import listed
from attncalc.record.numbers import texts
from attncalc.record.trace import Entry, Given, Remark, Trace
from attncalc.render import View, html, pieces, pointing, traces
from attncalc.render.html_values import axis_names, whole_numbers
from attncalc.render.page import Page, Paragraph, Verdict
from attncalc.solve.asking import LOOKED_AT
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve

BELOW, SHARE = (f'<span class="whole">{said}</span></p>' for said in ("striped is below 0", "the shade of a share"))
VOID = {"meta", "input", "wbr"}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'\"onmouseover=alert(1)",
    "</td></table></style>",
    "&lt;b&gt;",
    "javascript:alert(1)",
    "\u202eevil\x1b[31m\nFAIL",
    "]]>--><!--",
    "</script><script>alert(1)</script>",
    "\u2028alert(1)\u2029",
    "\u200f\u2067right to left\u2069",
    "${alert(1)}`{{constructor}}",
    "\x00\ufeff",
]


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str]
    inside: list[str]  # its text, that of the elements within included

    @property
    def text(self) -> str:
        return "".join(self.inside)


class Reader(HTMLParser):
    """Reads a page and insists that every element is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"an attribute twice in {tag}"
        element = Element(tag, {name: value or "" for name, value in attrs}, [])
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.inside.append(data)

    def all(self, tag: str, **attributes: str) -> list[Element]:
        return [e for e in self.elements if e.tag == tag and attributes.items() <= e.attributes.items()]


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


@cache
def page_of(tried: Tried) -> tuple[str, Reader]:
    """The page of a case, and what a reader finds in it."""
    page = page_in("html", solved(tried), View())
    return page, read(page)


def shown(trace: Trace) -> list[Any]:
    """The values that a page draws: where a step is the result, that stands at its end alone."""
    return [table for table in tables(trace, pointing.page(trace, View())) if table.stand_in != pointing.THE_RESULT]


@pytest.mark.spread
@rows("tried", ONE_OF_EACH, by=lambda tried: tried.name)
class TestEveryCalculation:
    def test_every_number_stands_in_the_page(self, tried: Tried) -> None:
        trace = solved(tried)
        _, reader = page_of(tried)
        cells = [cell.text for cell in reader.all("td") if cell.text]
        arrays = [step for step in shown(trace) if step.value.ndim]
        numbers = [text for step in arrays if not step.names for text in texts(step.value).flat]
        named = [f"{step.names[i]} ({i})" for step in arrays if step.names for i in step.value.astype(int).flat]
        assert sorted(cells) == sorted(numbers + named)
        scalars = " ".join(e.text for e in reader.all("p", **{"class": "value"}))
        assert all(texts(step.value).item() in scalars for step in shown(trace) if not step.value.ndim)

    def test_every_table_has_a_caption_and_every_heading_its_scope(self, tried: Tried) -> None:
        _, reader = page_of(tried)
        assert len(reader.all("caption")) == len(reader.all("table"))
        assert all(caption.text for caption in reader.all("caption"))
        assert all(heading.attributes["scope"] in ("row", "col", "colgroup") for heading in reader.all("th"))

    def test_every_step_is_named_explained_and_has_its_formula(self, tried: Tried) -> None:
        trace = solved(tried)
        _, reader = page_of(tried)
        headings = [heading.text for heading in reader.all("h3")]
        assert all(f"{number}{step.name}" in headings for number, step in enumerate(trace.steps, start=1))
        formulas = [formula.text for formula in reader.all("annotation")]
        told = [step for step in trace.steps if step.latex != step.symbol_latex]
        assert all(f"{step.symbol_latex} = {step.latex}" in formulas for step in told)
        reasons = [reason.text for reason in reader.all("p", **{"class": "why"})]
        for whys in zip((step.why for step in trace.steps), reasons_of(trace), strict=True):
            spelled = (re.sub(html.LETTERED, r"\1\2", why) for why in whys)
            assert {*spelled} & {*reasons}, whys

    def test_it_is_laid_out_for_those_who_hear_it(self, tried: Tried) -> None:
        _, reader = page_of(tried)
        levels = [int(element.tag[1]) for element in reader.elements if re.fullmatch("h[1-6]", element.tag)]
        assert levels[0] == 1
        assert levels.count(1) == len(reader.all("main")) == len(reader.all("title")) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels)), "a level of headings is left out"
        ids = [e.attributes["id"] for e in reader.elements if "id" in e.attributes]
        assert len(set(ids)) == len(ids)
        for element in reader.elements:
            for name in ("aria-describedby", "aria-labelledby", "for", "headers"):
                assert set(element.attributes.get(name, "").split()) <= set(ids)

    @pytest.mark.thorough
    def test_a_parser_that_minds_finds_no_fault(self, tried: Tried) -> None:
        minding = pytest.importorskip("tinyhtml5.parser", reason="the extra `test` brings the parser that minds")
        parser = minding.HTMLParser()
        parser.parse(page_of(tried)[0])
        assert not parser.errors

    def test_what_an_entry_was_made_from_stands_in_the_page(self, tried: Tried) -> None:
        _, reader = page_of(tried)
        places: dict[str, set[str]] = {}  # of each value, by its number
        number = ""
        for element in reader.elements:
            number = element.attributes.get("data-value", number)
            if "data-at" in element.attributes:
                places.setdefault(number, set()).add(element.attributes["data-at"])
        for cell in reader.elements:
            for block in filter(None, re.split("[; ]", cell.attributes.get("data-from", ""))):
                number, _, spans = block.partition(":")
                ends = [span.partition("-")[::2] for span in spans.split(",")] if spans else []
                assert ",".join(first for first, _ in ends) in places[number]
                assert ",".join(last or first for first, last in ends) in places[number]

    def test_nothing_is_fetched(self, tried: Tried) -> None:
        page, reader = page_of(tried)
        assert {"src", "style", "action"}.isdisjoint(name for e in reader.elements for name in e.attributes)
        ids = {f"#{e.attributes['id']}" for e in reader.elements if "id" in e.attributes}
        assert ids >= {e.attributes["href"] for e in reader.elements if "href" in e.attributes}
        assert not re.search(r"url\(|@import|https?:", page)


def test_the_policy_lets_pass_this_style_and_this_script_alone(dot: Trace) -> None:
    reader = read(page_in("html", dot, View()))
    (policy,) = reader.all("meta", **{"http-equiv": "Content-Security-Policy"})
    rules = dict(rule.strip().split(" ", 1) for rule in policy.attributes["content"].split(";"))
    for tag in ("style", "script"):
        (element,) = reader.all(tag)
        assert rules[f"{tag}-src"] == f"'sha256-{b64encode(sha256(element.text.encode()).digest()).decode()}'"
    assert rules["default-src"] == "'none'"


class TestHostileText:
    @pytest.fixture(params=HOSTILE)
    def text(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.mark.thorough
    def test_labels_sources_and_notes_are_only_text(self, make: Any, text: str) -> None:
        def page(words: str) -> Reader:
            step = make.step(
                "x", np.ones((2, 1, 1)), "b n m", labels={"b": ("one", words), "n": (words,), "m": (words,)},
                names=("", words), why=words,
            )  # fmt: skip
            given = Given(
                np.ones((1, 2)),
                source=words,
                remarks=(Remark("shape", words),),
                labels={1: (words, "")},
                axes=("n", "d"),
            )
            more = {"options": {"scale": words}, "notes": (words,), "warnings": (words,)}
            lines = {"x": lambda at: (f"max({words}", ")")}
            trace = make.trace(step, arithmetic=lines, inputs={"q": given}, **more)
            return read(page_in("html", trace._replace(calculation=words, summary=words), View()))

        reader, tame = page(text), page("tame")
        assert [(e.tag, sorted(e.attributes)) for e in reader.elements] == [
            (e.tag, sorted(e.attributes)) for e in tame.elements
        ]
        assert [e.text.replace("tame", visible(text)) for e in tame.elements] == [e.text for e in reader.elements]


class TestArithmetic:
    def test_an_entry_tells_how_it_was_made(self) -> None:
        import attncalc as ac

        trace = ac.attention([[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [0, 1, 1]], [[1, 2, 3], [4, 5, 6]])
        told = dict(told_by(page_in("html", trace, View())))
        assert told["scores[0,1] = 1×0 + 0×1 + 1×1 = 1, from Q at n=0 and K at m=1"] == "0:0,0-2;1:1,0-2"
        assert "scaled[1,1] = 2 / √3 = 1.1547, from scores at n=1, m=1" in told
        assert sum(how.startswith("output[") for how in told) == 6

    def test_an_entry_says_what_it_was_made_from(self) -> None:
        import attncalc as ac

        trace = ac.attention([[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 2], [3, 4]], causal=True)
        words = dict(how.partition(" = ")[::2] for how, _ in told_by(page_in("html", trace, View())))
        assert words["masked[0,1]"] == "−∞ (masked: 1 > 0)"
        assert words["masked[1,0]"] == "0.0000 (0 ≤ 1), from scaled at n=1, m=0"
        assert words["output[1,1]"].endswith(", from weights at n=1 and V at d_v=1")

    def test_an_entry_of_a_gradient_lights_forward_values_too(self) -> None:
        import attncalc as ac

        trace = ac.matmul([[1, 2]], [[3], [4]]).grad([[5]])
        words = [how for how, _ in told_by(page_in("html", trace, View()))]
        assert "grad_b[1,0] = 2×5 = 10, from A at n=1 and ∂L/∂product" in words

    def test_a_value_in_another_part_is_named_with_it(self) -> None:
        import attncalc as ac

        trace = ac.optimizer([[1.0], [2.0]], start=[0.0], kind="gd", lr=1.0)
        words = [how for how, _ in told_by(page_in("html", trace, View()))]
        assert any(how.startswith("point") and "of step 1" in how for how in words)

    def test_an_entry_that_was_only_moved_tells_nothing(self, make: Any) -> None:
        step = make.step("x", [[5.0]], "n m")
        trace = make.trace(step, arithmetic={"x": lambda at: (Entry(5.0, brackets=False),)})
        assert "data-how=" not in page_in("html", trace, View())

    @pytest.mark.thorough
    def test_a_large_page_works_out_no_more_than_its_share(self, make: Any) -> None:
        worked: list[tuple[int, ...]] = []

        def arithmetic(at: tuple[int, ...]) -> Any:
            worked.append(at)
            return ("1 + 1",)

        steps = [make.step(f"x{i}", np.ones((30, 30)), "n m") for i in range(3)]
        trace = make.trace(*steps, arithmetic={f"x{i}": arithmetic for i in range(3)})
        page = page_in("html", trace, View(everything=True))
        assert page.count("data-how=") == 1800 <= pointing.MOST_WORKED
        assert len(worked) <= 1800 + len(steps) * (LOOKED_AT**2 + 1)  # and those looked at for the step's own line

    def test_what_has_more_entries_than_that_names_the_command(self, make: Any) -> None:
        step = make.step("x", np.ones((50, 50)), "n m")
        page = page_in("html", make.trace(step, arithmetic={"x": lambda at: ("1 + 1",)}), View(everything=True))
        assert "the arithmetic of an entry: --cell 'x[0,0]'" in unescape(page)
        assert "data-how=" not in page

    def test_only_what_is_shown_is_worked_out(self, make: Any) -> None:
        step = make.step("x", np.ones((90, 90)), "n m")
        assert (
            page_in("html", make.trace(step, arithmetic={"x": lambda at: ("1 + 1",)}), View()).count("data-how=")
            == 22 * 38
        )

    def test_without_any_there_is_no_hint(self, attention: Trace) -> None:
        assert html.HINT not in page_in("html", attention, View())


def told_by(page: str) -> list[tuple[str, str]]:
    """What the entries of a page tell, and where the script looks for what they were made from."""
    cells = [e.attributes for e in read(page).elements if "data-how" in e.attributes]
    return [(cell["data-how"], cell.get("data-from", "")) for cell in cells]


@pytest.mark.thorough
def test_a_page_of_many_large_values_stays_one_that_opens(make: Any) -> None:
    steps = [make.step(f"x{i}", np.ones((4, 8, 64, 64)), "b h n m") for i in range(100)]
    page = page_in("html", make.trace(*steps), View())
    assert page.count("<td>") < 1.5 * html.MOST_SHOWN
    assert "… 58 more columns and 60 more rows and 31 more tables (--all shows them)" in page


def test_signs_in_sentences_stand_below_and_above(make: Any) -> None:
    page = make.trace(make.step("x", [1.0], "n", why="keep d_k, s_k², W_UK and chosen_0, e^x, and e^−∞ is 0"))
    below = "keep d<sub>k</sub>, s<sub>k</sub>², W<sub>UK</sub> and chosen<sub>0</sub>"
    above = "e<sup>x</sup>, and e<sup>−∞</sup> is 0".replace("<sup>", '<sup><span class="caret">^</span>')
    assert f'<p class="why">{below}, {above}</p>' in page_in("html", page, View())


def test_large_values_are_windowed_and_say_so(make: Any) -> None:
    trace = make.trace(make.step("x", np.arange(6000.0).reshape(60, 100), "n m"))
    page = page_in("html", trace, View())
    assert "… 62 more columns and 38 more rows (--all shows them)" in page
    assert len(read(page).all("td", **{"class": "gap"})) == 39 + 22  # a row of them, and one in every other row
    assert sum(bool(cell.text) for cell in read(page_in("html", trace, View(everything=True))).all("td")) == 6000


def test_quiet_and_get_show_one_value_alone(attention: Trace) -> None:
    reader = read(page_in("html", attention, View(get="weights")))
    assert len(reader.all("table")) == 1
    assert not reader.all("h1") + reader.all("h3") + reader.all("math")
    assert read(page_in("html", attention, View(quiet=True))).all("caption")[0].text.startswith("output")


def test_show_leaves_out_the_rest(attention: Trace) -> None:
    assert [h.text for h in read(page_in("html", attention, View(show=("scores",)))).all("h3")] == ["1scores"]


def test_groups_and_findings(grouped: Trace) -> None:
    reader = read(page_in("html", grouped, View()))
    titles = ["encoder 1/self-attention", "encoder 2/self-attention", "Result: encoder 1/self-attention", "Result"]
    assert [heading.text for heading in reader.all("h2")] == titles
    assert "largest drift from full precision: 0.0012" in [p.text for p in reader.all("p")]


def test_a_page_can_be_ascii(attention: Trace) -> None:
    page = page_in("html", attention, View(unicode=False))
    assert page.isascii()
    assert [e.text for e in read(page).all("td")] == [
        e.text for e in read(page_in("html", attention, View())).all("td")
    ]


def test_exact_entries_are_formulas_with_their_decimals(make: Any) -> None:
    import sympy

    value = np.array([[sympy.sqrt(3) / 3, sympy.Symbol("q_0")]], dtype=object)
    (surd, letter) = [
        cell.text for cell in read(page_in("html", make.trace(make.step("x", value, "n m")), View())).all("td")
    ][1:]
    assert surd.endswith(r"\frac{\sqrt{3}}{3} ≈ 0.5774")
    assert letter.endswith("q_{0}")


def test_cells_are_listed_under_their_formulas(dot: Trace) -> None:
    reader = read(page_in("html", dot, View(cells=("products[1]", "dot"))))
    assert [heading.text for heading in reader.all("h3")] == ["products", "dot"]
    assert [line.text for line in reader.all("li")] == [
        "products[1] = 0.2×0.3 = 0.06",
        "dot = 0.8×0.7 + 0.2×0.3 + (-0.1)×(-0.2) = 0.64",
    ]
    assert not reader.all("table")


@pytest.mark.thorough
def test_a_large_page_is_made_piece_by_piece_and_says_the_same(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = np.random.default_rng(3).normal(size=(2, 120, 100)).round(3) * 1e-3
    trace = make.trace(make.step("x", stack, "h n m"), make.step("grad_x", stack[0, :50] / 7, "n m"))
    made = pieces(trace, "html", View(everything=True))
    assert not isinstance(made, (str, bytes))
    lines = list(made)
    assert max(map(len, lines)) < 0.02 * sum(map(len, lines)), "a row at a time"
    monkeypatch.setattr("attncalc.render.page.LARGE", stack.size + 1)
    assert "".join(lines) == page_in("html", trace, View(everything=True))


def test_of_zeros_and_ones_no_shade_is_made_though_rows_sum_to_1(make: Any) -> None:
    trace = make.trace(
        make.step("chosen", [[0.0, 1.0], [1.0, 0.0]], "n m"), make.step("p", [[0.2, 0.8], [0.5, 0.5]], "k m")
    )
    assert page_in("html", trace).count("the shade of a share") == 1


def test_a_row_by_itself_may_sum_to_1_by_chance(make: Any) -> None:
    trace = make.trace(make.step("margins", [0.5, 0.0, 0.5], "n"), make.step("p", [0.2689, 0.7311], "n"))
    assert page_in("html", trace).count("the shade of a share") == 1


@pytest.mark.thorough
def test_no_line_ends_within_an_option_and_what_its_sign_has_below_stands_there() -> None:
    page = page_in("html", solve(posed("optimizer-adamw")))
    (chosen,) = re.findall(r'<p class="faint">(<span class="option">.*?)</p>', page)
    assert unescape(re.sub(r"</?(?:span|sub)[^>]*>", "", chosen)).startswith(
        "kind = adamw, lr = 0.1, beta1 = β1 = 0.9, "
    )
    assert '<span class="option">beta1 = β<sub>1</sub> = 0.9,</span> ' in chosen
    assert chosen.count(',</span> <span class="option">') == 5  # no line begins with a comma


@pytest.mark.thorough
def test_the_shape_of_a_vector_is_not_read_as_a_number() -> None:
    page = page_in("html", solve(posed("mlp-classes")))
    assert '<h2>step 1</h2><span class="sizes">17 steps → new_b2 [2]</span>' in page


@pytest.mark.thorough
def test_no_line_of_a_narrow_page_ends_within_a_number_or_between_an_option_and_what_is_typed_behind_it() -> None:
    page = page_in("html", solve(posed("batchnorm")))
    assert 'standard_deviation[0] = √(0.6667 + <span class="whole">1e-05</span>) = 0.8165' in page
    assert '<span class="whole">|-3|²</span>' in page_in(
        "html", solve(posed("minkowski")._replace(backward=Backward()))
    )
    assert 'floats leave <span class="whole">5.551e-17</span> of it' in page_in("html", solve(posed("decoder-block")))
    grads = page_in("html", solve(posed("preference-loss")._replace(backward=Backward())))
    assert '= <span class="whole">−(-0.1583</span>×0.1)' in grads
    chosen = page_in("html", solve(posed("sampling")))
    assert '<span class="whole">[0.8438 &lt; 0.5118]</span> + <span class="whole">[0.9580 &lt; 0.5118]</span>' in chosen
    assert '<span class="whole">(0.5 ≥ 0.25)</span>' in whole_numbers("0 (0.5 ≥ 0.25)")
    assert '<span class="option">eps = ε = <span class="whole">1e-08</span>,</span> ' in page_in(
        "html", solve(posed("optimizer-adamw"))
    )
    in_a_notebook = html.fragment(traces.page(solve(posed("batchnorm")), View()), View())
    assert '<span class="option">--cell all</span>' in in_a_notebook
    assert '<span class="option">--cell &#x27;normalized[0,2]&#x27;</span>' in in_a_notebook
    assert "--cell" not in page  # where one points
    assert '<span class="option">(--sample</span> divides' in page_in("html", solve(posed("expectation")))


@pytest.mark.parametrize(
    "words", ["0 - 1i", "-0.7071 + 0.0000i", "∂L/∂K[self-attention]", "[6][gates=0…1]", "block 1/scores", "step 2/w_1"]
)
def test_no_line_ends_within_a_name_or_a_complex_number(words: str) -> None:
    assert whole_numbers(f"a = {words} ⊙ b") == f'a = <span class="whole">{words}</span> ⊙ b'


POWERS = [
    "weights[0,1] = e^0.28868 / (e^0.28868 + e^(−∞)) = 0",
    "e^((1 − 2)/3) + 2^1e-05 + |-3|^3 + 2^(b < 3)",
    "[2^3 < 10]×(1 − 0.5)^2, from x at n=<1>",
    "1 / (1 + e^(−(0.5 + ((1 − (1 + 1))))))",
    "e^min(1, 0) + 2^[2×2] + x^p − y^−∞",
    "1/(1 + e^−x)",
]


@pytest.mark.parametrize("words", POWERS)
def test_a_power_stands_above_the_line_and_keeps_its_signs(words: str) -> None:
    raised = whole_numbers(words)
    assert raised.count("<sup>") == words.count("^")
    assert unescape(re.sub(r"<[^>]*>", "", raised)) == words  # what is copied
    assert "^" not in re.sub(r'<span class="caret">[^<]*</span>', "", raised)  # what is seen
    depth = 0
    for tag in re.findall(r"</?\w+", raised):  # each is closed in the one that it is opened in
        depth += -1 if tag.startswith("</") else 1
        assert depth >= 0
    assert depth == 0


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_result_whose_step_stands_above_is_not_told_twice(name: str) -> None:
    page = page_in("html", solve(posed(name)))
    steps, _, result = page.partition('<section class="result">')
    for number, step in re.findall(r'<h3><span class="number">(\d+)</span>([^<]+)', result):
        above = re.search(rf'<h3><span class="number">{number}</span>{step}<.*?</section>', steps, re.DOTALL)
        again = re.search(rf'<h3><span class="number">{number}</span>{step}<.*?</section>', result, re.DOTALL)
        if above and again:
            assert ("the same numbers as the result</p>" in above[0]) == ("<table>" in again[0])
            assert not re.search('class="(?:worked|chain)"', again[0])


@pytest.mark.thorough
def test_every_part_can_be_linked_to() -> None:
    """Those between parts too, of which several have one name."""
    page = page_in("html", solve(posed("transformer")))
    titles = re.findall(r"<summary><h[23]>.*?</summary>", page)
    assert [title for title in titles if 'class="link"' not in title] == []


def test_gradients_that_are_all_one_number_have_no_shade() -> None:
    page = page_in("html", solve(posed("attention")._replace(backward=Backward())))
    seed = re.search(r'class="number">\d+</span>grad_output<.*?</section>', page, re.DOTALL)
    assert seed
    assert 'class="p' not in seed[0].replace('class="passes"', "")


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_line_of_a_narrow_page_ends_within_a_comparison(name: str, backward: bool) -> None:
    problem = posed(name)
    with suppress(AttncalcError):  # not every one has a gradient
        page = page_in(
            "html", solve(problem._replace(backward=problem.backward or Backward()) if backward else problem)
        )
        worked = "".join(re.findall(r'<ul class="worked">.*?</ul>|<span class="chain">.*?</span>(?=<strong)', page))
        loose = re.sub(r'<span class="whole">.*?</span>', "", worked)
        assert re.findall(r"\[(?:&[lg]t;|[^][; ])* (?:[=≤≥≠]|&[lg]t;) (?:&[lg]t;|[^][;])*\]", loose) == []


@pytest.mark.release
def test_a_part_that_is_folded_tells_what_comes_of_it() -> None:
    page = page_in("html", solve(posed("encoder-block")))
    assert "<details><summary><h2>Given</h2>" not in page
    assert "<details><summary><h2>Given</h2>" in page_in("html", solve(posed("transformer")))
    assert '<h2>self-attention</h2><span class="sizes">12 steps → output 3×4</span>' in page
    assert '<h2>step 1</h2><span class="sizes">6 steps → point <span class="chain">= 0.6429</span></span>' in page_in(
        "html", solve(posed("optimizer"))
    )


def test_a_sign_between_two_names_has_room_on_both_sides() -> None:
    """A row of one operator and of `mtext`, which is space to MathML, is an operator as a whole."""
    page = page_in("html", solve(posed("batchnorm")))
    assert '<mi mathvariant="normal">output</mi><mo>=</mo><mi mathvariant="normal">normalized</mi>' in page


def test_steps_of_one_name_stand_each_by_itself_in_the_contents(make: Any) -> None:
    steps = [make.step("output", [1.0, 2.0], "n", group=group) for group in ("", "b")]
    contents = page_in("html", make.trace(*steps, make.step("end", 1.0))).partition("</nav>")[0].partition("<nav")[2]
    assert "<details>" not in contents
    assert contents.count(">output</a>") == 2


def test_a_gradient_that_is_handed_on_is_drawn_as_any_other() -> None:
    html = page_in("html", ac.residual([[1.0, 2.0]], f=[[0.5, 0.5]], norm="post").grad())
    formulas = re.findall('<p class="formula">(.*)</p>', html)
    assert formulas
    assert [formula for formula in formulas if not formula.startswith("<math")] == []


@pytest.mark.release
@rows("tried", ONE_OF_EACH)
def test_below_a_sum_stands_what_it_runs_over(tried: Tried) -> None:
    """No `Σ_n` nor `h_0` is left as it is typed in the line of sizes, and no legend ends within its last words."""
    page = page_in("html", solved(tried))
    sizes = " ".join(re.findall(r'<span class="sizes">(= .*?)</span>', re.sub("<sub>.*?</sub>", "", page)))
    assert re.findall(r"(?<![^\W_])(?:[^\W\d_]|Σ|mean|max|min|softmax)_.*", sizes) == []
    legends = re.findall(r'<p class="scale faint">.*?</p>', page)
    ends = {"h": SHARE, "m": BELOW, "mp": BELOW, "p": "</p>"}
    signs = ["".join(sorted(set(re.findall('"swatch (.)', legend)))) for legend in legends]
    assert [legend for legend, kind in zip(legends, signs, strict=True) if not legend.endswith(ends[kind])] == []
    assert [legend for legend, kind in zip(legends, signs, strict=True) if kind == "p" and "span>:" in legend] == []


@pytest.mark.parametrize(
    ("entries", "signs", "legend"),
    [
        ([1.0, 4.0], "p", "0 4"),
        ([-1.0, 0.0], "m", "−1 0: striped is below 0"),
        ([-1.0, 4.0], "mp", "−4 0 4: striped is below 0"),
    ],
)
def test_a_legend_tells_of_the_signs_that_there_are(make: Any, entries: list[float], signs: str, legend: str) -> None:
    page = page_in("html", make.trace(make.step("grad_x", entries, "n"), make.step("end", 1.0)))
    (drawn,) = re.findall(r'<p class="scale faint">(.*?)</p>', page)
    assert " ".join(re.sub("<[^>]*>", "", drawn).split()) == legend
    assert set(re.findall(r'"swatch (.)', drawn)) == set(signs)


@pytest.mark.thorough
def test_a_sentence_writes_an_axis_as_the_tables_do() -> None:
    axes = {axis for tried in ONE_OF_EACH for step in solved(tried).steps for axis in step.axes}
    for name in {part for axis in axes for part in re.findall(r"\w+", axis) if "_" in part}:
        told = html.write(Page("ffn", (Paragraph(f"used at every place of {name}", "why"),)), View())
        assert f'<p class="why">used at every place of {axis_names(name)}</p>' in told
        assert re.fullmatch(r"\w+<sub>\w+</sub>", axis_names(name))


def test_no_name_of_a_step_or_an_option_is_taken_for_that_of_an_axis() -> None:
    told = html.write(Page("t5", (Paragraph("k_rotated and kv_heads, q_rope", "why"),)), View())
    assert '<p class="why">k_rotated and kv_heads, q_rope</p>' in told
    page = page_in("html", solve(posed("t5-bias")))
    assert '<span class="option">n = 6,</span> <span class="option">max_distance = 6</span>' in page


def test_a_caption_writes_axes_as_the_heads_of_its_columns_do() -> None:
    page = page_in("html", solve(posed("conv")))
    assert "h<sub>out</sub> = 0, w<sub>out</sub> = 1</caption>" in page


def test_what_is_handed_on_by_the_same_name_says_where_it_comes_from() -> None:
    html = page_in("html", ac.residual([[1.0, 2.0]], f=[[0.5, 0.5]], norm="post").grad())
    slope, at_the_norm = (rf"\frac{{\partial L}}{{\partial \text{{output}}{part}}}" for part in ("", r"_{\text{norm}}"))
    assert f"{at_the_norm} = {slope}</annotation>" in html
    assert f">{slope}</annotation>" not in html


def test_a_list_has_its_title_and_what_is_told_of_a_sentence_stands_below_it() -> None:
    page = html.write(mistakes_page(listed("softmax")), View())
    titles = ["<h1>Mistakes</h1>", "<h2>softmax</h2>", "<h2>any calculation</h2>"]
    assert re.findall("<h[12]>.*</h[12]>", page) == titles
    points = re.findall("<li>(.*?)</li>", page)
    assert points
    assert [point for point in points if not re.fullmatch('[^<?]+(<su.>[^?]*)?<p class="why">.*[?.]</p>', point)] == []


def test_a_long_name_is_broken_behind_its_sign_and_by_itself(make: Any) -> None:
    page = page_in("html", make.trace(make.step("maximum_likelihood_estimate", 1.0), make.step("log_shares", 1.0)))
    assert "</span>maximum_<wbr>likelihood_<wbr>estimate</h3>" in page
    assert ">log_shares</h3>" in page


@pytest.mark.thorough
def test_what_a_formula_speaks_of_is_drawn_as_it_is() -> None:
    text = page_in("html", solve(posed("scaling")), View())
    (where, *_) = re.findall(r'<p class="where">where (.*?)</p>', text)
    assert where.count("<math") == 5
    assert "𝒩" in where


def test_a_mistake_has_its_signs_as_a_reason_has_them() -> None:
    verdict = Verdict("scaled", "mistake", "0 of 2", sound=False, mistake="divided by d_k", hint="Is that √d_k?")
    written = html.write(Page("attention", (verdict,)), View())
    assert "<p>divided by d<sub>k</sub></p>" in written
    assert '<p class="why">Is that √d<sub>k</sub>?</p>' in written
