"""Pages of 160 columns and more: factors stand beside their product, what is worked out in colour; heads in a row."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rows import rows
from solved import ONE_OF_EACH, Tried, page_in, solved
from test_samples import posed

import attncalc as ac
from attncalc.render import View, traces
from attncalc.render.page import Part, Table
from attncalc.render.terminal import ACCENT, ALARM, SOUND, WIDE
from attncalc.solve.solver import solve

LAYERS = ("attention", "matmul", "multihead", "encoder-block", "decoder-only", "mlp")


@pytest.mark.release
@rows("tried", ONE_OF_EACH)
def test_the_factors_make_the_product(tried: Tried) -> None:
    trace = solved(tried)
    for part in traces.page(trace, View(everything=True)).all(Part):
        for table in (step.one(Table) for step in part.steps):
            if table.factors:
                a, b, *added = (np.asarray(factor.value) for factor in table.factors)
                inner = table.factors[0].axes[-1]
                assert [factor.axes[-2:] for factor in table.factors[:2]] == [
                    (table.axes[-2], inner),
                    (inner, table.axes[-1]),
                ]
                assert all(factor.axes[:-2] in ((), table.axes[:-2]) for factor in table.factors)
                assert all(factor.axes in (table.axes, table.axes[-1:]) for factor in table.factors[2:])
                np.testing.assert_allclose(np.asarray(table.value), sum(added, a @ b), rtol=1e-9, atol=1e-12)


@pytest.mark.thorough
def test_most_layers_have_some() -> None:
    pages = [traces.page(solved(tried), View(everything=True)) for tried in ONE_OF_EACH if tried.name in LAYERS]
    assert all(any(step.one(Table).factors for part in page.all(Part) for step in part.steps) for page in pages)


@pytest.mark.release
@rows("tried", ONE_OF_EACH)
def test_no_line_is_wider_than_the_page(tried: Tried) -> None:
    width = WIDE + 40 * (len(tried.name) % 2)
    page = page_in("table", solved(tried), View(width=width, everything=True))
    assert max(map(len, page.splitlines())) <= width


def lines(width: int, *, color: bool = False) -> list[str]:
    return page_in("table", solve(posed("attention")), View(width=width, color=color)).splitlines()


def test_a_narrower_page_has_the_product_alone() -> None:
    found = re.compile(r" +weights +· +V +=  output")
    assert any(map(found.fullmatch, lines(WIDE)))
    assert not any(map(found.fullmatch, lines(WIDE - 1)))


def test_the_row_the_column_and_the_entry_that_are_worked_out_share_a_colour() -> None:
    page = lines(WIDE, color=True)
    first = next(line for line in page if "1.3195" in line and "1.0963" not in line and "│" in line)
    assert re.findall(r"\x1b\[1;38;5;63m *([-0-9.]+)\x1b", first) == ["0.1065", "0.1065", "0.7870", "3", "1.3195"]


def test_a_bias_stands_behind_the_product_that_it_is_added_to() -> None:
    page = page_in("table", solve(posed("ffn")), View(width=WIDE, color=True))
    assert re.search(r"X +· +W_1 +\+ +b_1 +=  hidden\n", re.sub(r"\x1b\[[\d;]*m", "", page))
    lit = [re.findall(r"\x1b\[1;38;5;63m *([-0-9.]+)\x1b", line) for line in page.splitlines() if "│" in line]
    assert list(filter(None, lit))[:3] == [["-1", "0.5"], ["1"], ["1", "-1", "-1.5"]]


@pytest.mark.thorough
def test_heads_stand_in_a_row() -> None:
    page = page_in("table", solve(posed("multihead")), View(width=WIDE))
    assert re.search(r"^ +h = 0 +h = 1$", page, re.MULTILINE)
    assert not re.search(
        r"^ +h = 0 +h = 1$", page_in("table", solve(posed("multihead")), View(width=WIDE - 1)), re.MULTILINE
    )


@pytest.mark.parametrize(("width", "in_a_line"), [(WIDE, 1), (WIDE + 10, 2)])
def test_heads_have_their_factors_beside_them(width: int, in_a_line: int) -> None:
    page = page_in("table", solve(posed("multihead")), View(width=width))
    assert re.search(r"^( +q_heads +· +k_headsᵀ +=  scores){2}$", page, re.MULTILINE)
    found = re.findall(r"^(?: +weights +· +v_heads +=  heads)+$", page, re.MULTILINE)
    assert [line.count("v_heads") for line in found] == [in_a_line] * (2 // in_a_line)


def test_only_the_head_that_is_worked_out_is_in_colour() -> None:
    page = page_in("table", solve(posed("multihead")), View(width=WIDE, color=True, show=("scores",)))
    lit = [re.findall(r"\x1b\[1;38;5;63m *([-0-9.]+)\x1b", line) for line in page.splitlines() if "│" in line]
    assert list(filter(None, lit)) == [["1", "1", "2", "4"], ["2"]]


@pytest.mark.parametrize("heads", [2, 8, 30])
def test_factors_of_more_heads_than_two_lines_hold_are_left_out(heads: int) -> None:
    x = np.ones((2, heads))
    trace = ac.multihead(x, *[np.eye(heads)] * 4, heads=heads)
    page = page_in("table", trace, View(width=WIDE, show=("scores",)))
    assert ("k_headsᵀ  " in page) == (heads == 2)
    assert "h = 1" in page


def test_the_result_of_an_outline_has_its_factors_beside_it() -> None:
    page = page_in("table", solve(posed("latent-attention")), View(width=WIDE))
    assert "\nOutline: " in page
    assert re.search(r"^ +concatenated +· +W_O +=  output$", page, re.MULTILINE)


def test_a_product_whose_columns_are_called_otherwise_has_its_factors_beside_it() -> None:
    page = page_in("table", solve(posed("mlp")), View(width=WIDE))
    assert re.search(r"^ +A_1 +· +W_2 +\+ +b_2 +=  Z_2\n +N ╲ h1 .* h1 ╲ h2 .* N ╲ h2 ", page, re.MULTILINE)


@pytest.mark.parametrize("windows", range(2, 9))
def test_what_stands_above_a_table_among_others_is_not_torn(windows: int) -> None:
    trace = ac.conv(np.ones((1, windows)), np.ones((1, 1)))
    page = page_in("table", trace, View(width=WIDE, show=("windows",)))
    assert re.findall(r"h_out = 0, w_out = (\d)", page) == [str(at) for at in range(windows)]


def test_heads_are_shared_out_evenly_among_lines() -> None:
    page = page_in("table", solve(posed("alibi")), View(width=WIDE))
    heads = re.findall(r"^ +(h = .*)$", page, re.MULTILINE)
    assert [re.sub("  +", ", ", line) for line in heads] == ["h = 0, h = 1", "h = 2, h = 3"]


def test_what_is_in_colour_is_read_on_white_and_on_black() -> None:
    """Of 256 colours few have a contrast of 4.5 with both, and no orange; the best of all has 4.58."""

    def luminance(colour: int) -> float:
        sixths = ((colour - 16) // 36, (colour - 16) // 6 % 6, (colour - 16) % 6)
        shares = [(55 + 40 * each) / 255 if each else 0.0 for each in sixths]
        return float(np.dot([0.2126, 0.7152, 0.0722], [((each + 0.055) / 1.055) ** 2.4 for each in shares]))

    for style, least in ((ACCENT, 4.5), (SOUND, 4.5), (ALARM, 4.4)):
        (light,) = map(luminance, map(int, re.findall(r"\d+", style)))
        assert min(1.05 / (light + 0.05), (light + 0.05) / 0.05) >= least, style


@pytest.mark.parametrize("name", ["attention", "attention-two-tokens", "matmul"])
def test_the_entry_that_is_worked_out_is_no_fainter_than_those_beside_it(name: str) -> None:
    """All others of a result would be bold."""
    result = page_in("table", solve(posed(name)), View(width=WIDE, color=True)).partition("result")[2]
    assert "\x1b[1;38;5;63m" in result
    assert re.findall(r"\x1b\[1m +-?[\d.]+\x1b", result) == []
