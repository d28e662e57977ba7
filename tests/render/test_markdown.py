"""Markdown as a parser reads it: headings, tables of the right size, formulas untouched, user text inert."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rows import rows
from solved import ALL, ONE_OF_EACH, Tried, page_in, reasons_of, solved, tables

from attncalc.common.errors import visible
from attncalc.record.numbers import texts
from attncalc.record.trace import Given, Remark, Trace
from attncalc.render import View, markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN_MARKUP = {"text", "code_inline", "strong_open", "strong_close", "em_open", "em_close", "softbreak"}
TABLE_PARTS = {"thead_open", "tbody_open", "tr_open", "th_open", "td_open"}
HOSTILE = [
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "![x](http://example.com/x.png)",
    "](http://example.com)",
    "http://example.com and www.example.com",
    "a|b|c",
    "`code` ``more``",
    "`",
    "**bold** _em_ ~~gone~~",
    "$x$ @everyone #1",
    "&lt;b&gt; \\ \\|",
    "# heading",
    "1. item",
    "- item",
    "> quote",
    "two\nlines\r\n---\n",
    "\u202eevil\x1b[31m",
    " ",
]


class Page:
    """What a parser makes of a page."""

    def __init__(self, text: str) -> None:
        self.tokens = PARSER.parse(text)
        self.inline = [child for token in self.tokens for child in token.children or []]

    def texts(self, tag: str) -> list[str]:
        """The text in every element of this name."""
        return [
            "".join(child.content for child in content.children or [])
            for opening, content in zip(self.tokens, self.tokens[1:], strict=False)
            if opening.tag == tag and opening.nesting == 1
        ]

    @property
    def kinds(self) -> set[str]:
        return {child.type for child in self.inline}


@cache
def page_of(tried: Tried) -> Page:
    return Page(page_in("markdown", solved(tried), View(everything=True)))


@pytest.mark.spread
@rows("tried", ONE_OF_EACH, by=lambda tried: tried.name)
class TestEveryCalculation:
    @pytest.mark.thorough
    def test_every_number_stands_in_the_page(self, tried: Tried) -> None:
        trace, page = solved(tried), page_of(tried)
        drawn = [table for table in tables(trace) if not (table.typed or table.stand_in)]
        arrays = [step.value for step in drawn if step.value is not None and step.value.ndim and not step.names]
        cells = [text for text in page.texts("td") if text]
        assert {text for value in arrays for text in texts(value).flat} <= set(cells)
        assert sum(value.size for value in arrays) <= len(cells)

    def test_steps_are_headings_with_reasons(self, tried: Tried) -> None:
        trace, page = solved(tried), page_of(tried)
        assert page.texts("h1") == [trace.calculation]
        headings = page.texts("h3")
        assert all(f"{number}. {step.name}" in headings for number, step in enumerate(trace.steps, start=1))
        said = " ".join(page.texts("p"))
        assert all(why in said for why in reasons_of(trace))

    def test_there_is_only_plain_markup(self, tried: Tried) -> None:
        assert page_of(tried).kinds <= PLAIN_MARKUP


@pytest.mark.release
@rows("tried", ALL)
def test_a_parser_leaves_every_formula_as_it_is(tried: Tried) -> None:
    for step in solved(tried).steps:
        formula = markdown.math(f"{step.symbol_latex} = {step.latex}")
        assert html.unescape(PARSER.renderInline(formula)) == formula
        assert formula.count("$") == 2


@pytest.mark.parametrize(
    ("latex", "written"),
    [
        ("d_{k}", "$d_{k}$"),
        (r"a \\ b", r"$a \cr b$"),
        ("a < b", r"$a \lt  b$"),
        (r"\operatorname{argtop}_{3}", r"$\operatorname{argtop}_ {3}$"),
        (r"a\,b", r"$a\thinspace b$"),
    ],
)
def test_formulas_say_the_same_without_what_markdown_acts_on(latex: str, written: str) -> None:
    assert markdown.math(latex) == written


@rows("words", HOSTILE, ids=map(repr, HOSTILE))
class TestHostileText:
    def test_stands_in_the_page_as_it_is(self, make: Any, words: str) -> None:
        labels = {"n": ("one", words), "m": (words,)}
        step = make.step("x", [[1.0], [2.0]], "n m", labels=labels, why=f"as {words}.")
        source = Given(np.ones(2), source=words, remarks=(Remark("shape", words),), axes=("n",))
        trace = make.trace(step, inputs={"q": source}, options={"scale": words}, notes=(f"so {words}",))
        page = Page(page_in("markdown", trace._replace(warnings=(words,)), View()))
        assert page.kinds <= PLAIN_MARKUP
        assert len([token for token in page.tokens if token.type == "heading_open"]) == 4
        assert [token.type for token in page.tokens].count("table_open") == 1
        seen = visible(words)
        assert page.texts("th") == ["n ╲ m", seen]
        assert page.texts("td") == ["one", "1", seen, "2"]
        assert {f"as {seen}.", f"so {seen}".strip()} <= set(page.texts("p"))


@given(st.text())
def test_no_sign_of_anybodys_text_acts(words: str) -> None:
    for written in (markdown.plain(f"x {words} x"), markdown.code(f"x{words}x")):
        (paragraph, content, _) = PARSER.parse(written)
        assert paragraph.type == "paragraph_open"
        assert {child.type for child in content.children or []} <= {"text", "code_inline"}
        assert "".join(child.content for child in content.children or []) in (
            visible(f"x {words} x"),
            visible(f"x{words}x"),
        )


def test_a_scalar_shows_its_arithmetic_and_a_bold_value(dot: Trace) -> None:
    assert "dot = `0.8×0.7 + 0.2×0.3 + (-0.1)×(-0.2)` = **0.64**" in page_in("markdown", dot, View())


def test_the_result_is_set_apart(attention: Trace) -> None:
    text = page_in("markdown", attention, View())
    assert text.index("\n---\n\n## Result\n") < text.index("### 4. output")


def test_operands_are_a_list(attention: Trace) -> None:
    assert "\n- q from `q.json`, n=2 × d_k=3: `1 0 1; 0 1 1`\n- causal = true\n" in page_in(
        "markdown", attention, View()
    )


def test_a_large_operand_is_a_table(make: Any) -> None:
    trace = make.trace(make.step("x", 1.0), inputs={"q": Given(np.arange(60.0).reshape(3, 20), axes=("n", "d"))})
    assert len(Page(page_in("markdown", trace, View())).texts("td")) == 3 * 21


def test_large_values_are_windowed_and_say_so(make: Any) -> None:
    trace = make.trace(make.step("x", np.arange(6000.0).reshape(60, 100), "n m"))
    assert "… 82 more columns and 38 more rows (`--all` shows them)" in page_in("markdown", trace, View())
    whole = Page(page_in("markdown", trace, View(everything=True)))
    assert set(map(str, range(6000))) <= set(whole.texts("td"))


def test_quiet_and_get_show_one_value_alone(attention: Trace, dot: Trace) -> None:
    page = Page(page_in("markdown", attention, View(get="masked")))
    assert page.texts("td") == ["the", "0.3333", "−∞", "cat", "0.3333", "0.3333"]
    assert {token.type for token in page.tokens if token.nesting == 1} <= {"table_open", *TABLE_PARTS}
    assert page_in("markdown", dot, View(quiet=True)) == "dot = **0.64**\n"
    assert Page(page_in("markdown", dot, View(get="products"))).texts("li") == []


def test_stacks_and_groups(grouped: Trace) -> None:
    page = Page(page_in("markdown", grouped, View()))
    assert "encoder 2/self-attention" in page.texts("h2")
    assert page.texts("p").count("h = 1:") == 2, "those of the result stand in the result alone"
    assert re.search(r"largest drift from full precision: 0\.0012", page_in("markdown", grouped, View()))


def test_a_page_can_be_ascii(attention: Trace) -> None:
    assert page_in("markdown", attention, View(unicode=False)).isascii()


def test_cells_are_listed_under_their_formulas(dot: Trace) -> None:
    assert (
        page_in("markdown", dot, View(cells=("products[1]",))) == "### products\n\n- `products[1] = 0.2×0.3 = 0.06`\n"
    )
