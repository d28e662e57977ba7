"""A trace in a notebook: a fragment in the notebook's colours, Markdown, and one display of formulas."""

from __future__ import annotations

import re

import pytest
from rows import rows
from solved import ONE_OF_EACH, Tried, page_in, solved

from attncalc.record.trace import Trace
from attncalc.render import View


@pytest.mark.spread
@rows("tried", ONE_OF_EACH, by=lambda tried: tried.name)
class TestEveryCalculation:
    @pytest.mark.thorough
    def test_latex_is_one_display_of_every_formula(self, tried: Tried) -> None:
        trace = solved(tried)
        latex = trace._repr_latex_()
        assert re.fullmatch(r"\$\$\\begin\{aligned\}.*\\end\{aligned\}\$\$", latex, re.DOTALL)
        assert len(re.findall(r"\$\$", latex)) == 2
        told = [step for step in trace.steps if step.latex != step.symbol_latex]
        assert all(f"{step.symbol_latex} &= {step.latex}" in latex for step in told)

    @pytest.mark.thorough
    def test_html_is_a_fragment_without_a_script(self, tried: Tried) -> None:
        page = solved(tried)._repr_html_()
        assert page.startswith('<div class="attncalc">')
        assert page.endswith("</div>\n")
        assert not re.search(r"<script|<html|<meta|data-how| hidden>", page)


def test_every_rule_keeps_to_the_trace(attention: Trace) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", attention._repr_html_(), re.DOTALL)
    selectors = [part.strip() for rule in re.findall(r"([^{}]+)\{", style) for part in rule.split(",")]
    assert all(selector.startswith(".attncalc") for selector in selectors)


def test_the_steps_are_those_of_the_page(attention: Trace) -> None:
    pages = (page_in("html", attention, View()), attention._repr_html_())
    whole, part = (re.findall(r"<td[^>]*>([^<]*)</td>", page) for page in pages)
    assert whole == part
    assert attention._repr_markdown_() == page_in("markdown", attention, View())
