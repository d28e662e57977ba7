"""The arithmetic of single entries, as a page of its own."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from test_samples import PROBLEMS, posed

import attncalc as ac
from attncalc.record.trace import Entry, Trace
from attncalc.render import View, entries, render, traces, worked
from attncalc.render.page import Part
from attncalc.solve.solver import solve


@pytest.mark.parametrize("form", ["table", "plain"])
def test_indices_say_whence_they_count_behind_a_number_too(dot: Trace, form: str) -> None:
    page = str(render(dot, form, View(cells=("dot", "products[1]", "products[0]"))))
    assert page.count("meets its partner in b (indices from 0)\n") == page.count("(indices from 0)") == 1


def test_indices_say_once_whence_they_count(dot: Trace) -> None:
    page = str(render(dot, "table", View(cells=("products[1]", "products[0]", "dot"))))
    assert page.count("(indices from 0)") == 1
    assert "products[1] = 0.2×0.3 = 0.06\nproducts[0] = 0.8×0.7 = 0.56\n" in page


def test_entries_may_be_named_with_commas_between_them(dot: Trace) -> None:
    page = str(render(dot, "table", View(cells=("products[1],products[0],dot",))))
    assert page == str(render(dot, "table", View(cells=("products[1]", "products[0]", "dot"))))


@pytest.mark.parametrize(
    "found",
    [
        lambda: ac.layernorm([0.5, 1, 1 / 3]),
        lambda: ac.batchnorm([1, 2, 3]),
        lambda: ac.groupnorm([0.5, 1, 1 / 3], groups=1),
        lambda: ac.attention([1, 2], [[1, 2], [3, 4]], [[1], [0]]),
        lambda: ac.ffn([1, 2], [[1, 0], [2, 1]], w2=[[1], [1]]),
        lambda: ac.conv([1, 2, 3], [1, -1]),
    ],
    ids=["layernorm", "batchnorm", "groupnorm", "attention", "ffn", "conv"],
)
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_places_of_what_was_a_vector_are_told_and_asked_for_alike(found: Any, backward: bool) -> None:
    trace = found().grad() if backward else found()
    assert render(trace, "table", View(cells=("all",)))
    places = [line.place for _, line in entries.cells(trace, View(cells=("all",)))]
    assert places == [line.place for _, line in entries.cells(trace, View(cells=tuple(places)))]


@pytest.mark.parametrize("form", ["table", "plain", "html", "markdown", "latex"])
def test_what_rounding_left_of_a_0_is_told(form: str) -> None:
    vectors = [0.1, 0.2, -0.3], [1.0, 1.0, 1.0]
    number, matrix = ac.dot(*vectors), ac.outer([1.0, 2.0], [ac.dot(*vectors).result])
    cell, page = (
        re.sub("</?span[^>]*>", "", str(render(number, form, view)).replace("\n", " "))
        for view in (View(cells=("dot",), width=200), View(width=200))
    )
    assert "0 but for rounding, which leaves 2.776e-17" in cell
    assert "dot is 0 but for rounding, and shown as 0: its terms cancel, and floats leave 2.776e-17 of it" in page
    assert "but for rounding" not in str(render(matrix, form, View(width=200))), "a small number was meant"


def test_a_single_number_has_none(dot: Trace) -> None:
    assert "indices" not in str(render(dot, "table", View(cells=("dot",))))


@pytest.mark.parametrize(
    ("view", "places"),
    [
        (View(), ["products[0]", "products[1]", "products[2]", "dot"]),
        (View(show=("products",)), ["products[0]", "products[1]", "products[2]"]),
        (View(get="products"), ["products[0]", "products[1]", "products[2]"]),
        (View(quiet=True), ["dot"]),
    ],
    ids=["every step", "those to show", "the one to get", "the result"],
)
def test_all_are_those_of_what_is_to_be_seen(dot: Trace, view: View, places: list[str]) -> None:
    assert [line.place for _, line in entries.cells(dot, view._replace(cells=("all",)))] == places


def test_a_narrow_page_breaks_lines_before_a_sign_and_keeps_numbers_whole(dot: Trace) -> None:
    page = render(dot, "table", View(cells=("dot",), width=40, digits=6))
    assert isinstance(page, str)
    assert page.splitlines()[2:] == [
        "dot = 0.800000×0.700000",
        "      + 0.200000×0.300000",
        "      + (-0.100000)×(-0.200000)",
        "    = 0.640000",
    ]
    whole = render(dot, "plain", View(cells=("dot",), width=40, digits=6))
    assert isinstance(whole, str)
    assert whole.splitlines()[2:] == [
        "dot = 0.800000×0.700000 + 0.200000×0.300000 + (-0.100000)×(-0.200000) = 0.640000"
    ]


def test_a_masked_entry_is_told_in_words_and_is_a_number_to_machines() -> None:
    trace = ac.attention([[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 2], [3, 4]], causal=True)
    view = View(cells=("masked[0,1]",))
    assert "masked[0,1] = −∞ (masked: 1 > 0)\n" in str(render(trace, "table", view))
    [cell] = json.loads(str(render(trace, "json", view)))["cells"]
    assert (cell["arithmetic"], cell["value"]) == ("masked: 1 > 0", "−∞")


def test_a_float_is_not_written_as_the_exact_number_before_it() -> None:
    """Equal numbers of two kinds are one key of a dictionary, and so of what is kept of the numbers written so far."""
    assert worked.written((Entry(Fraction(-3, 8), False),)) == "-3/8"
    assert worked.written((Entry(-0.375, False),)) == "-0.375"


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_an_entry_of_the_result_is_told_as_fully_as_on_its_page(name: str) -> None:
    """Where it is only handed on, with the arithmetic of the step that made it; a page may tell values of parts."""
    trace = solve(posed(name))
    for part in traces.page_or_outline(trace, View()).all(Part):
        for step in part.steps if part.kind == "result" else ():
            for line in step.lines[:1]:
                place = line._replace(name=step.heading.key).place
                [(_, found)] = entries.cells(trace, View(cells=(place,)))
                assert [len(found.links), found.links[-1].split(" (")[0]] == [
                    len(line.links),
                    line.links[-1].split(" (")[0],
                ]


@pytest.mark.parametrize("form", ["table", "plain", "html", "markdown", "latex"])
@pytest.mark.parametrize("options", [{"causal": True}, {"window": 1}, {"causal": True, "exact": True}], ids=str)
def test_why_a_score_behind_a_weight_is_masked_stands_on_the_same_page(form: str, options: dict[str, Any]) -> None:
    rows = [[1, 0], [0, 1], [1, 1]]
    trace = ac.attention(rows, rows, rows, **options)
    reason = str(render(trace, form, View(cells=("masked[0,2]",)))).splitlines()
    told = str(render(trace, form, View(cells=("weights[0,2]",))))
    assert told.count("masked: ") == len(np.flatnonzero(np.isneginf(trace["masked"][0].astype(float))))
    if form in ("table", "plain"):
        assert next(line for line in reason if "masked: " in line) in told.splitlines()
    beside = str(render(trace, form, View(cells=("weights[0,2]", "masked[0,2]"))))
    assert len(re.findall(r"masked}?: ", beside)) == 1


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ('"x,y",the', '"x,y",the'),
        ('the,"x,y"', 'the,"x,y"'),
        ('1,"x,y"', '1,"x,y"'),
        ('"the","a:b"', 'the,"a:b"'),
        ("0,1", "0,1"),
    ],
)
def test_an_entry_is_named_as_it_is_asked_for(asked: str, named: str) -> None:
    """A label that holds a comma stands in quotes, as on the page."""
    rows: Any = {"x,y": [1, 2], "the": [3, 4], "a:b": [0, 1]}
    trace = ac.attention(rows)
    page = str(render(trace, "plain", View(cells=(f"weights[{asked}]",))))
    assert f"\nweights[{named}] = " in page
    assert str(render(trace, "plain", View(cells=(f"weights[{named}]",)))) == page
