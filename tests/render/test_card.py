"""The reference card in each of its formats."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import cache

import pytest
from readback.latex import formula_fault

from attncalc.api.explain import card
from attncalc.calculations import TABLE
from attncalc.common.errors import NARROWEST
from attncalc.record.card import Card
from attncalc.render import View, tex
from attncalc.render.cards import FORMATS
from attncalc.render.cards import shown as page

SPELLED: dict[str, Callable[[str], str]] = {
    "table": str,
    "plain": str,
    "markdown": str,
    "latex": tex.sentence,
    "html": html.escape,
}
"""A format that is text → how it spells words of ours."""


@cache
def of(name: str) -> Card:
    return card(name)


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("format", SPELLED)
@pytest.mark.parametrize("name", TABLE)
def test_tells_all_that_is_on_the_card(name: str, format: str) -> None:
    known = of(name)
    text = page(known, format, View())
    if format == "html":
        text = re.sub("</su[bp]>", "", text.replace("<sub>", "_").replace("<sup>", "^"))
        text = re.sub('<span class="(?:option|whole)">(.*?)</span>', r"\1", text)
    shown = " ".join((text.replace("\\", "") if format == "markdown" else text).split())
    helps = [*(line.help for line in known.operands), *known.laws, known.summary]
    wanted = [SPELLED[format](words) for words in (*helps, *(line.flag for line in known.options))]
    if format in ("table", "plain"):  # others set formulas as LaTeX and MathML
        wanted += [line.formula for line in known.steps]
    missing = [words for words in wanted if " ".join(words.split()) not in shown]
    assert not missing


@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_on_a_wide_page_words_stand_beside_what_they_are_of(name: str) -> None:
    lines = page(of(name), "table", View(width=160)).splitlines()
    bare = [line for line in lines if re.fullmatch(r"  (\w+ (\(.*\) )?\[[^]]*\](, optional)?|--[\w-]+( \S+)?)", line)]
    assert [line for line in bare if len(line) < 56] == []


@pytest.mark.thorough
@pytest.mark.parametrize("width", [NARROWEST, 80, 120])
@pytest.mark.parametrize(
    "name", ["attention", "softmax", "kv-cache", "encoder-block", "rope", "residual", "grad attention"]
)
def test_keeps_to_the_width(name: str, width: int) -> None:
    lines = page(of(name), "table", View(width=width)).splitlines()
    assert max(map(len, lines)) <= width


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("width", [NARROWEST, 80])
@pytest.mark.parametrize("name", TABLE)
def test_breaks_a_list_of_choices_between_them(name: str, width: int) -> None:
    known = of(name)
    written = set(re.split(r"[|\s]", page(known, "table", View(width=width))))
    chosen = [line.takes for line in known.options if "|" in line.takes]
    assert not {choice for takes in chosen for choice in takes.split("|")} - written


@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_leaves_words_whole_on_the_narrowest_page(name: str) -> None:
    known = of(name)
    written = set(page(known, "table", View(width=NARROWEST)).split())
    told = [*(line.help for line in known.operands), *(line.help for line in known.options)]
    wanted = {word for words in told for word in words.split()}
    assert not {word for word in wanted if len(word) < 16} - written


@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_has_a_spelling_for_every_sign_in_ascii(name: str) -> None:
    assert not re.findall(r"\\[xuU][0-9a-f]+", page(of(name), "table", View(unicode=False)))


@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_sets_its_formulas_as_latex_in_markdown(name: str) -> None:
    faults = {latex: formula_fault(latex) for latex in re.findall(r"\$([^$]+)\$", page(of(name), "markdown", View()))}
    assert not {latex: fault for latex, fault in faults.items() if fault}


@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_is_one_object_as_json(name: str) -> None:
    known = of(name)
    told = json.loads(page(known, "json", View()))
    assert told["card"] == name
    assert [step["formula"] for step in told["steps"]] == [line.formula for line in known.steps]
    assert told["flops"]["here"] == known.flops_here
    assert told["laws"] == list(known.laws)
    assert "result" in told["example"]


def test_numbers_its_steps() -> None:
    text = page(of("attention"), "table", View(width=80))
    assert "  1. scores = Q·Kᵀ → [n, m]\n     compare every query with every key\n" in text
    assert "  4. output = weights·V → [n, d_v]\n" in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("width", "line"),
    [
        (80, "  --causal +a query sees itself"),
        (80, "  --causal-align start.end +start: query i sees"),
        (NARROWEST, "  --causal +a query sees itself"),
        (NARROWEST, "  --causal-align start.end$"),
    ],
)
def test_lays_options_out_in_two_columns_but_for_a_name_that_takes_half_the_page(width: int, line: str) -> None:
    assert re.search(f"^{line}", page(of("attention"), "table", View(width=width)), re.MULTILINE)


def test_counts_with_the_sizes_of_the_example() -> None:
    text = page(of("attention"), "table", View())
    assert "for the example, n=3, d_k=4, m=3, d_v=2" in text
    assert re.search(r"^  scores +2·n·m·d_k = 72$", text, re.MULTILINE)


def test_says_formulas_in_words_for_those_who_listen() -> None:
    assert "in words: scores = Q times K transposed" in page(of("attention"), "plain", View())


@pytest.mark.parametrize("format", FORMATS)
def test_can_be_spelled_in_ascii(format: str) -> None:
    assert page(of("attention"), format, View(unicode=False)).isascii()


def test_colours_reach_the_terminal_alone() -> None:
    assert "\x1b[" in page(of("softmax"), "table", View(color=True))
    assert "\x1b[" not in page(of("softmax"), "table", View())


@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_no_formula_has_brackets_twice(name: str) -> None:
    known = of(name)
    for text in (known.formula, *(line.formula for line in known.steps), *(line.formula for line in known.gradient)):
        opened: list[int] = []
        pairs = set()
        for at, sign in enumerate(text):
            if sign == "(":
                opened.append(at)
            elif sign == ")":
                pairs.add((opened.pop(), at))
        assert not [pair for pair in pairs if (pair[0] + 1, pair[1] - 1) in pairs], text


def test_a_reason_does_not_begin_with_a_colon_where_its_formula_is_wide() -> None:
    assert '</math></span><p class="why">each hypothesis with each token behind it' in page(of("beam"), "html", View())


@pytest.mark.spread
@pytest.mark.parametrize("width", [NARROWEST, 60, 80])
@pytest.mark.parametrize("name", TABLE)
def test_a_formula_is_broken_between_its_words_and_beside_its_number(name: str, width: int) -> None:
    text = page(of(name), "table", View(width=width))
    assert not re.search(r"(?m)^ +\d+\.$", text)
    lines = text.splitlines()
    for step in of(name).steps:
        for word in re.findall(r"[^\W\d_]{3,}", step.formula):
            assert any(word in line for line in lines), word
