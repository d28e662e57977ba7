"""Formulas and sentences that are wider than the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, takewhile

import numpy as np
import pytest
from rich.text import Text
from solved import page_in
from test_samples import PROBLEMS, posed

from attncalc.common.errors import AttncalcError
from attncalc.render import View
from attncalc.render.page import Heading, Page, Paragraph, Part, Point, Points, Row, Rows, Table
from attncalc.render.terminal import TIGHT, Chain, Chains, broken, write
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve

FORMULAS = {
    "outside brackets rather than within": (
        "(e^a + 3)·(b + c)/(1 + e^(a/2))",
        24,
        ["(e^a + 3)·(b + c)", "/(1 + e^(a/2))"],
    ),
    "before the value": ("2·(2 + e^a)/(1 + e^a) ≈ 2.6605", 24, ["2·(2 + e^a)/(1 + e^a)", "≈ 2.6605"]),
    "within brackets rather than after a word": ("x·(a + bbbbbbbb + cccccc)", 20, ["x·(a + bbbbbbbb", "+ cccccc)"]),
    "a Σ keeps what it sums": ("probabilities·Σ losses", 20, ["probabilities", "·Σ losses"]),
    "before a factor in brackets": ("√(2 / π)·(x + 0.04·x^3)", 16, ["√(2 / π)", "·(x + 0.04·x^3)"]),
    "a negative number stays with its factor": ("a + (-0.1)×(-0.2)", 16, ["a", "+ (-0.1)×(-0.2)"]),
    "between the members of a list": (
        "[a[n=2] / b[n=2]; a[n=3] / b[n=3]]",
        28,
        ["[a[n=2] / b[n=2];", "a[n=3] / b[n=3]]"],
    ),
    "outside what decides": ("2×[0.5 < 2]×0.56631 + b", 16, ["2×[0.5 < 2]", "×0.56631 + b"]),
    "before what holds elsewhere": ("a where b < 1, else 0", 20, ["a where b < 1,", "else 0"]),
    "before what decides rather than within it": (
        "(a where bbbbb − c ≤ d, else 0) where e − f ≤ g, else 0",
        46,
        ["(a where bbbbb − c ≤ d, else 0)", "where e − f ≤ g, else 0"],
    ),
    "before a condition": ("∂L/∂masked where j ≤ i, else 0", 20, ["∂L/∂masked", "where j ≤ i, else 0"]),
    "before what is repeated": ("∂L/∂losses copied along n", 20, ["∂L/∂losses", "copied along n"]),
    "not behind a bracket that opens": ("a + (−bbbbbbbbbbbb·cccc)", 18, ["a", "+ (−bbbbbbbbbbbb", "  ·cccc)"]),
    "before ⊗": ("hidden ⊗ gradients", 16, ["hidden", "⊗ gradients"]),
    "not behind a bar that opens": ("2^(max(|scaled|, 2^0) − 1)", 22, ["2^(max(|scaled|, 2^0)", "− 1)"]),
    "outside bars": ("max(|2.2689 − 2.2689|, |0.2689 − 0.2689|)", 32, ["max(|2.2689 − 2.2689|,", "|0.2689 − 0.2689|)"]),
    "outside brackets, though the line is short": ("b·0 + (1 − b)·g", 12, ["b·0", "+ (1 − b)·g"]),
    "between arguments": ("max(0, q) + exp(min(q, 0))", 24, ["max(0, q)", "+ exp(min(q, 0))"]),
    "outside a name of two words": ("argmax(left out, 2, left out)", 20, ["argmax(left out, 2,", "left out)"]),
    "before ⊙": ("exponentials ⊙ gradients", 20, ["exponentials", "⊙ gradients"]),
    "before a term rather than within one": (
        "[3×2] ⊗ [8] + [3×2] ⊗ [8] + [3×2] ⊗ [8]",
        22,
        ["[3×2] ⊗ [8]", "+ [3×2] ⊗ [8]", "+ [3×2] ⊗ [8]"],
    ),
    "before a term in brackets rather than within one": (
        "−(0.25×(-1.7352) + 0.5×(-1.4352) + 0.25×(-0.5352))",
        30,
        ["−(0.25×(-1.7352)", "+ 0.5×(-1.4352)", "+ 0.25×(-0.5352))"],
    ),
    "within a term that a line begins with": ("a + 0.1×[0 < 1]×0.5 + c", 14, ["a", "+ 0.1×[0 < 1]", "  ×0.5 + c"]),
    "between arguments rather than within one": (
        "min(max(1.6, 1 − 0.2), 1 + 0.2)",
        26,
        ["min(max(1.6, 1 − 0.2),", "1 + 0.2)"],
    ),
    "between members rather than within one": ("[bbb; ccc ⊙ ddd + eee]", 12, ["[bbb;", "ccc ⊙ ddd", "  + eee]"]),
    "further in, where it goes on with a term": (
        "log_gradients − probabilities ⊙ Σ log_gradients",
        21,
        ["log_gradients", "− probabilities", "  ⊙ Σ log_gradients"],
    ),
    "further in, where it goes on with the first term": (
        "(x / √d)·Kᵀ + (y / √d)·Vᵀ",
        10,
        ["(x / √d)", "  ·Kᵀ", "+ (y / √d)", "  ·Vᵀ"],
    ),
    "further in, where it stands in brackets": (
        "a + bbbb·(cccc − dddd) + e",
        14,
        ["a", "+ bbbb·(cccc", "  − dddd)", "+ e"],
    ),
    "outside of brackets, where a term can begin there": (
        "(aaa − (bbb + ccc) / 4)² + (ddd − (eee + fff) / 4)²",
        40,
        ["(aaa − (bbb + ccc) / 4)²", "+ (ddd − (eee + fff) / 4)²"],
    ),
    "before a case rather than within its condition": (
        "(a where max(b, 1 − c) ≤ 1 + d, else 0)",
        28,
        ["(a", "where max(b, 1 − c) ≤ 1 + d,", "else 0)"],
    ),
}


@pytest.mark.parametrize(("text", "width", "lines"), FORMULAS.values(), ids=FORMULAS)
def test_a_formula_is_broken_where_it_is_read_best(text: str, width: int, lines: Sequence[str]) -> None:
    assert [line.plain for line in broken(Text(text), width)] == lines


def test_a_name_that_would_be_torn_gets_a_line_of_its_own() -> None:
    links = [Text("= ∂L/∂standard_deviation / (2·standard_deviation)"), Text("= [1] / (2·[1])")]
    assert [line.plain for line in Chain(Text("grad_variance"), links).lines(32)] == [
        "grad_variance",
        "    = ∂L/∂standard_deviation",
        "      / (2·standard_deviation)",
        "    = [1] / (2·[1])",
    ]


CHAINS: dict[str, tuple[str, Sequence[str], int, Sequence[str]]] = {
    "it saves brackets": (
        "p[0]",
        ["= 0.6^1×(1 − 0.6)^(1 − 1)", "= 0.6"],
        29,
        ["p[0]", "    = 0.6^1×(1 − 0.6)^(1 − 1)", "    = 0.6"],
    ),
    "the value fits behind": (
        "probabilities[0]",
        ["= ln(0.6)", "= -0.5108"],
        25,
        ["probabilities[0]", "    = ln(0.6) = -0.5108"],
    ),
    "the name is short": ("x", ["= a·bbbb", "= 2"], 10, ["x = a·bbbb", "  = 2"]),
    "a symbol follows it": (
        "grad_gradients",
        ["= ∂L/∂G", "= (a + b)·(c + d)"],
        24,
        ["grad_gradients = ∂L/∂G", "    = (a + b)·(c + d)"],
    ),
}


@pytest.mark.parametrize(("start", "links", "width", "lines"), CHAINS.values(), ids=CHAINS)
def test_what_follows_a_name_stands_below_it_where_that_is_read_better(
    start: str, links: Sequence[str], width: int, lines: Sequence[str]
) -> None:
    assert [line.plain for line in Chain(Text(start), list(map(Text, links))).lines(width)] == lines


def test_the_lines_of_one_step_are_broken_in_the_same_way() -> None:
    chains = [Chain(Text(f"p[{at}]"), [Text(f"= a×(b − {'c' * long})"), Text("= 1")]) for at, long in enumerate((6, 4))]
    assert [line.plain for line in chains[1].lines(20)] == ["p[1] = a×(b − cccc)", "     = 1"]
    assert [line.plain for line in Chains(chains).lines(20)] == [
        "p[0]",
        "    = a×(b − cccccc)",
        "    = 1",
        "p[1]",
        "    = a×(b − cccc)",
        "    = 1",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("width", range(40, 90))
def test_a_sentence_keeps_a_step_of_a_group_and_an_option_together(width: int) -> None:
    said = (
        "wrong: 13 arrays of 77 as they should be; first wrong at layer 0/attention/q_rotated; see --show 'layer 0/*'"
    )
    lines = write(Page("model", (Paragraph(said),)), View(width=width)).splitlines()
    assert " ".join(lines) == said
    assert all(part in "\n".join(lines) for part in ("layer 0/attention/q_rotated", "--show 'layer 0/*'"))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_an_axis_of_what_was_given_is_not_torn(width: int) -> None:
    page = page_in("table", solve(posed("transformer")), View(width=width, show=("encoder 1/*",)))
    assert "(h d_k)=4" in page
    assert re.findall(r"\([a-z]\n +d_.*", page) == []


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("name", ["observations", "x"])
def test_a_file_and_the_name_in_it_are_not_torn(name: str, width: int) -> None:
    given = Table(name, np.ones(4), ("n",), (4,), source=f"likelihood-normal.json#{name}", typed="1 1 1 1", symbol=name)
    page = write(Page("p", (Part("given", Heading("Given"), (given,)),)), View(width=width))
    assert f"likelihood-normal.json#{name}," in page or f"← likelihood-normal.json\n  {name}, n=4:" in page


WHOLE = r"\[[^][;]*\]|\([^][(),]* [<≤=≥>≠] [^][(),]*\)"


@pytest.mark.spread
@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_line_ends_within_a_place_or_behind_a_sign_or_a_bracket_that_opens(
    name: str, backward: bool, width: int
) -> None:
    problem = posed(name)
    with suppress(AttncalcError):  # not every one has a gradient
        trace = solve(problem._replace(backward=problem.backward or Backward()) if backward else problem)
        page = page_in("table", trace, View(width=width))
        torn = [found[0] for found in re.finditer(WHOLE.replace(" ", r"\s+"), page) if "\n" in found[0]]
        assert [part for part in torn if len(re.sub(r"\s+", " ", part)) < width // 2] == []
        assert re.findall(r".*(?:[(√×·⊗⊙]|[( ^·×√−-]\|)$", page, re.MULTILINE) == []


BEGUN = r"( *)([+−-] |[×/⊙⊗·])"


def in_line(page: str) -> Iterator[tuple[str, str, str]]:
    """Lines that begin with a sign, below one as far in with what stands between, each with both signs."""
    lines = page.splitlines()
    for at, line in enumerate(lines):
        if here := re.match(BEGUN, line):
            above = [*takewhile(lambda other: other.startswith(here[1]), lines[:at][::-1])]
            beside = next((n for n, other in enumerate(above) if not other.startswith(f"{here[1]} ")), None)
            if beside is not None and (there := re.match(BEGUN, above[beside])):
                yield "\n".join(above[beside::-1]), there[2], here[2]


@pytest.mark.spread
@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", PROBLEMS)
def test_lines_that_are_as_far_in_are_terms_of_one_sum_or_factors_of_one_product(name: str, width: int) -> None:
    """`− p` and below it `⊙ Σ g` reads as a product of the whole, and so does a term of what is within brackets."""
    problem = posed(name)
    for backward in {problem.backward, Backward()}:
        with suppress(AttncalcError):
            page = page_in("table", solve(problem._replace(backward=backward)), View(width=width))
            for lines, above, below in in_line(page):
                depths = [*accumulate((each in "([") - (each in ")]") for each in lines)]
                assert ((above in TIGHT) == (below in TIGHT), min(depths), depths[-1]) == (True, 0, 0), lines


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_belongs_together_stands_in_one_line(name: str) -> None:
    """`step 3, backward` in a chain, `beta2 = β_2 = 0.95` among the options, and `left out` in a line of arithmetic."""
    problem = posed(name)
    for backward in {problem.backward, Backward()}:
        with suppress(AttncalcError):
            page = page_in("table", solve(problem._replace(backward=backward)), View(width=40))
            assert re.findall(r"left\n *out|all\n *masked|→$", page, re.MULTILINE) == []
            assert re.findall(r"^  .* =$", page.partition("\n\n")[2].partition("\n\n")[0], re.MULTILINE) == []
            chains = re.search(r"^(?:What depends on what|In this order)\n((?:  .*\n)*)", page, re.MULTILINE)
            if chains and "  · " in chains[1]:
                assert [line for line in chains[1].splitlines() if not re.match(" +[·→]", line)] == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sample", "lines"),
    [
        ("scaling", ["where squares = (scores − average)²;", "  scores = Σ(query ⊙ keys);"]),
        ("concentration", ["where variance", "    = mean((cosines − average)²);", "  average = mean(cosines)"]),
    ],
)
def test_each_name_that_a_formula_uses_has_lines_of_its_own(sample: str, lines: Sequence[str]) -> None:
    page = page_in("table", solve(posed(sample)), View(width=40))
    assert "".join(f"   {line}\n" for line in lines) in page


def test_parts_of_the_same_rule_are_parted_at_their_commas() -> None:
    points = Points((Point("step 2/update → step 1/point, step 1/update → start", "a sum"),), 4)
    page = write(Page("p", (Part("section", Heading("h"), (points,)),)), View(width=40))
    assert "  step 2/update → step 1/point,\n    step 1/update → start\n" in page


@pytest.mark.parametrize("width", [40, 80, 100, 160])
def test_a_chain_in_a_table_is_broken_before_its_arrows(width: int) -> None:
    chain = "embedding → layer 0 → layer 1 → final norm → logits → grad_loss → final norm, backward → logits, backward"
    rows = Rows("the parts", ("in", "follow one another"), (Row(("all", chain)),))
    lines = write(Page("p", (Part("section", Heading("h"), (rows,)),)), View(width=width)).splitlines()[2:]
    assert re.sub(" +", " ", " ".join(lines)).removeprefix(" all ") == chain
    assert [line for line in lines if not re.match(r" *(?:all|→|all +embedding|embedding) ?", line)] == []


@pytest.mark.parametrize("sample", ["cross-entropy-weighted", "attention-rope"])
def test_what_stands_below_the_name_of_a_step_begins_below_it(sample: str) -> None:
    page = page_in("table", solve(posed(sample)._replace(backward=Backward())), View(width=66))
    below = re.findall(r"^( *\d+  )[a-z]\w*\n( *)= ", page, re.MULTILINE)
    assert below
    assert [len(start) for start, _ in below] == [len(indent) for _, indent in below]


@pytest.mark.spread
@pytest.mark.parametrize("width", [40, 80, 160])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_shape_that_comes_out_stands_behind_the_last_line_of_a_formula_that_has_room(name: str, width: int) -> None:
    problem = posed(name)
    for backward in {problem.backward, Backward()}:
        with suppress(AttncalcError):
            page = page_in("table", solve(problem._replace(backward=backward)), View(width=width))
            alone = re.findall(r"^(.*)\n +(→ \[[\d×]+\])$", page, re.MULTILINE)
            assert [line for line, shape in alone if len(f"{line} {shape}") <= width] == []


@pytest.mark.parametrize("width", range(40, 90, 3))
def test_a_sentence_keeps_a_formula_and_what_is_meant_together(width: int) -> None:
    said = (
        "each factor gets the gradient times the other factor, here Q; the slope of σ is σ·(1 − σ), of tanh 1 − tanh²"
    )
    page = Page("p", (Part("section", Heading("h"), (Points((Point("a → b", said),), 6),)),))
    assert [
        words for words in ("here Q", "σ·(1 − σ)", "1 − tanh²") if words not in write(page, View(width=width))
    ] == []


@pytest.mark.parametrize("width", range(40, 90, 3))
def test_a_sentence_does_not_tear_what_numbers_are_drawn_from(width: int) -> None:
    said = "1,000 pairs of vectors from N(0, σ²), and from N(0, 1) for each n (seed 0): the same seed draws the same"
    page = write(Page("p", (Paragraph(said, "remark"),)), View(width=width))
    assert [words for words in ("N(0, σ²)", "N(0, 1)") if words not in page] == []


@pytest.mark.parametrize("width", [80, 120, 160, 200])
def test_words_stand_beside_all_ways_or_below_all_of_them(width: int) -> None:
    ways = (f"step {at}/hidden → wx" for at in range(6))
    points = (Point("z → b", "as it is"), Point(", ".join(ways), "twice"), Point("q → x, v → x", "added up"))
    for some in (points, points[::2]):
        lines = write(Page("p", (Part("section", Heading("h"), (Points(some, 12),)),)), View(width=width)).splitlines()
        assert [point.words for point in some if f"        {point.words}" in lines] == (
            [point.words for point in points] if some is points else []
        )
