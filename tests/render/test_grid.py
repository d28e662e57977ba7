"""Values as tables: every number whole at any width, windows that say what they leave out, labels that stay inert."""

from __future__ import annotations

import re
from collections import Counter
from io import StringIO
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from rich.cells import cell_len
from rich.console import Console, Group

from attncalc.record.numbers import texts
from attncalc.render import View
from attncalc.render.page import Table
from attncalc.render.terminal import ENDLESS, Indented, grid

numbers = st.one_of(
    st.floats(-1e4, 1e4),
    st.integers(-(10**6), 10**6).map(float),
    st.sampled_from([0.0, -0.0, 1e-9, 1e300, -np.inf, np.inf, np.nan]),
)


def table(value: Any, axes: str = "", **more: Any) -> Table:
    array = np.asarray(value)
    names = tuple(axes.split()) or tuple("bhnm"[-array.ndim :] if array.ndim else "")
    return Table("s", array, names, array.shape, full=array, **more)


def text_of(value: Table, view: View, indent: int = 0) -> str:
    """A value as a terminal shows it."""
    width = None if view.columns is None else view.columns - indent
    file = StringIO()
    console = Console(
        file=file, width=view.columns or ENDLESS, force_terminal=view.color, color_system="256" if view.color else None
    )
    console.print(Indented(Group(*grid(value, view, width)), indent), crop=False)
    return file.getvalue()


def drawn(value: Any, axes: str = "", *, width: int | None = None, all_of_it: bool = False, **more: Any) -> list[str]:
    view = View(width=width, everything=all_of_it, digits=more.pop("digits", None), unicode=more.pop("unicode", True))
    return text_of(table(value, axes, **more), view, indent=3).splitlines()


def page(text: str) -> list[str]:
    """The lines of an expected page, indented by three as `drawn` does."""
    return [f"   {line}".rstrip() if line else "" for line in text.strip("\n").split("\n")]


def cells(lines: list[str]) -> Counter[str]:
    """The words to the right of the bar, headers and rules left out."""
    ruled = {at - 1 for at, line in enumerate(lines) if "┼" in line}
    above = {at - 1 for at in ruled if lines[at].partition("│")[0].strip() and "╲" not in lines[at]}
    rows = [line for at, line in enumerate(lines) if " │ " in line and at not in ruled | above]
    body = [line.partition(" │ ")[2].split() for line in rows]
    return Counter(word for row in body for word in row)


MATRICES = [
    (
        "whole numbers",
        {"value": [[1.0, 2.0], [-10.0, 0.0]]},
        """
n ╲ m │   0  1
──────┼───────
    0 │   1  2
    1 │ -10  0
""",
    ),
    (
        "a row has no label",
        {"value": [0.5774, -1.0], "axes": "d_k"},
        """
d_k │      0        1
────┼────────────────
    │ 0.5774  -1.0000
""",
    ),
    (
        "a row that is too wide stands where that takes no more lines",
        {
            "value": [17595457609728, 0, 5436350464],
            "axes": "part",
            "width": 40,
            "labels": {"part": ("a", "b", "norms, residuals")},
        },
        """
            part │
─────────────────┼───────────────
               a │ 17595457609728
               b │              0
norms, residuals │     5436350464
""",
    ),
    (
        "a row of one entry lies",
        {"value": [0.6679], "axes": "n", "width": 40},
        """
n │      0
──┼───────
  │ 0.6679
""",
    ),
    (
        "a row that stands has its numbers aligned at their points",
        {"value": [-0.5108, -0.9163, -1.2, 0.5, 0.25], "axes": "n", "width": 40},
        """
n │
──┼────────
0 │ -0.5108
1 │ -0.9163
2 │ -1.2000
3 │  0.5000
4 │  0.2500
""",
    ),
    (
        "else it is parted, and its parts are of about the same size",
        {"value": [0.1234] * 8, "axes": "n", "width": 40},
        """
n │      0       1       2       3
──┼───────────────────────────────
  │ 0.1234  0.1234  0.1234  0.1234

n │      4       5       6       7
──┼───────────────────────────────
  │ 0.1234  0.1234  0.1234  0.1234
""",
    ),
    (
        "masked, with labels",
        {"value": [[1 / 3, -np.inf]], "labels": {"n": ("the",), "m": ("a long label", "猫")}},
        """
n ╲ m │ a long label  猫
──────┼─────────────────
  the │       0.3333  −∞
""",
    ),
    (
        "a stack",
        {"value": [[[1, 2]], [[3, 4]]], "labels": {"h": ("first", "second")}},
        """
h = first
n ╲ m │ 0  1
──────┼─────
    0 │ 1  2

h = second
n ╲ m │ 0  1
──────┼─────
    0 │ 3  4
""",
    ),
    (
        "a batch of heads",
        {"value": np.ones((1, 1, 1, 1))},
        """
b = 0, h = 0
n ╲ m │ 0
──────┼──
    0 │ 1
""",
    ),
    (
        "entries that stand for labels",
        {"value": [1, 0], "axes": "rank", "names": ("king", "queen")},
        """
rank │         0         1
─────┼────────────────────
     │ queen (1)  king (0)
""",
    ),
    (
        "in ASCII",
        {"value": [[0.5, -np.inf]], "labels": {"m": ("café", "猫")}, "unicode": False},
        """
n \\ m | caf\\xe9  \\u732b
------+----------------
    0 |     0.5    -inf
""",
    ),
    (
        "twelve columns are shown whole, in blocks",
        {"value": [np.arange(1000.0, 1012.0)], "width": 40},
        """
n ╲ m │    0     1     2     3
──────┼───────────────────────
    0 │ 1000  1001  1002  1003

n ╲ m │    4     5     6     7
──────┼───────────────────────
    0 │ 1004  1005  1006  1007

n ╲ m │    8     9    10    11
──────┼───────────────────────
    0 │ 1008  1009  1010  1011
""",
    ),
    (
        "a long name of an axis stands over the columns, where more of them fit then",
        {"value": [np.arange(1000.0, 1006.0)], "axes": "iteration quantity", "width": 40},
        """
          │ quantity
iteration │    0     1     2
──────────┼─────────────────
        0 │ 1000  1001  1002

          │ quantity
iteration │    3     4     5
──────────┼─────────────────
        0 │ 1003  1004  1005
""",
    ),
    (
        "and in the corner, where none do",
        {"value": [[1, 2]], "axes": "n d_model", "labels": {"d_model": ("a" * 16, "b" * 16)}, "width": 40},
        """
n ╲ d_model │ aaaaaaaaaaaaaaaa
────────────┼─────────────────
          0 │                1

n ╲ d_model │ bbbbbbbbbbbbbbbb
────────────┼─────────────────
          0 │                2
""",
    ),
    (
        "thirty columns are windowed",
        {"value": [np.arange(1000.0, 1030.0)], "width": 40},
        """
n ╲ m │    0     1     2  …    29
──────┼──────────────────────────
    0 │ 1000  1001  1002  …  1029
… 26 more columns (--all shows them)
""",
    ),
    (
        "exact numbers beside their decimals",
        {"value": np.array([[sympy.sqrt(3) / 3, sympy.Integer(1)]], dtype=object)},
        """
n ╲ m │             0  1
──────┼─────────────────
    0 │ √3/3 ≈ 0.5774  1
""",
    ),
    (
        "entries wider than the page are told in a list",
        {"value": np.array([sum(sympy.symbols("alpha beta gamma delta epsilon zeta"))]), "axes": "n", "width": 40},
        """
[0]  alpha + beta + delta + epsilon
    + gamma + zeta
""",
    ),
    ("nothing", {"value": np.ones((0, 3))}, "no entries: 0×3"),
    ("a number", {"value": 0.97849719}, "0.9785"),
]


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in MATRICES], ids=[row[0] for row in MATRICES])
def test_a_value_as_a_table(given: dict[str, Any], expected: str) -> None:
    assert [line.rstrip() for line in drawn(**given)] == page(expected)


def test_a_tall_value_shows_its_beginning_and_its_end() -> None:
    lines = drawn(np.arange(60.0).reshape(30, 2))
    assert [line.split()[0] for line in lines[2:-1]] == [*map(str, range(21)), "…", "29"]
    assert lines[-1] == "   … 8 more rows (--all shows them)"


def test_many_tables_show_their_beginning_and_their_end() -> None:
    lines = drawn(np.arange(12.0).reshape(12, 1, 1))
    assert [line.strip() for line in lines if "=" in line] == [f"h = {h}" for h in (0, 1, 2, 3, 4, 11)]
    assert "   … 6 more tables (--all shows them)" in lines


@pytest.mark.thorough
@given(arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=9), elements=numbers), st.integers(40, 200))
def test_every_number_is_whole_at_any_width(value: np.ndarray, width: int) -> None:
    lines = drawn(value, width=width, all_of_it=True)
    assert cells(lines) == Counter(texts(value).flat)
    assert max(map(len, lines)) <= width


@pytest.mark.thorough
@given(st.integers(1, 40), st.integers(1, 60), st.integers(40, 200))
def test_a_window_hides_and_counts_but_never_cuts(height: int, breadth: int, width: int) -> None:
    value = np.arange(height * breadth).reshape(height, breadth) * 37
    lines = drawn(value, width=width)
    shown = cells(lines)
    assert shown - Counter({"…": shown["…"]}) <= Counter(map(str, value.flat))
    assert max(map(len, lines)) <= width
    rows = len({line.split()[0] for line in lines if re.match(r" +\d+ │", line)})
    last = " ".join(lines[-2:])
    hidden_rows = int(found[1]) if (found := re.search(r"(\d+) more row", last)) else 0
    hidden_columns = int(found[1]) if (found := re.search(r"(\d+) more column", last)) else 0
    assert rows + hidden_rows == value.shape[0]
    assert rows * (value.shape[1] - hidden_columns) == shown.total() - shown["…"]


@given(st.lists(st.complex_numbers(max_magnitude=1e3), min_size=1, max_size=6), st.integers(40, 100))
def test_complex_numbers_are_whole_too(values: list[complex], width: int) -> None:
    written = " ".join(" ".join(drawn(values, width=width, all_of_it=True)).split())
    assert all(" ".join(text.split()) in written for text in texts(np.array(values)).flat)


HOSTILE = [
    "[red]x[/]",
    "[/]",
    "[link=file:///etc/passwd]x[/link]",
    "[on black black]hidden[/]",
    ":smile:",
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202eevil",
    "a\nb",
    "a\rb",
    "\u200b",
]


@pytest.mark.thorough
@pytest.mark.parametrize("label", HOSTILE, ids=ascii)
@pytest.mark.parametrize("color", [True, False], ids=["colour", "plain"])
def test_labels_are_shown_and_never_act(label: str, color: bool) -> None:
    value = table([[1.0, 2.0], [3.0, 4.0]], labels={"n": (label, "k"), "m": (label, "k")})
    text = re.sub(r"\x1b\[[\d;]*m", "", text_of(value, View(color=color)))
    assert text.count("\n") == 4
    assert text.replace("\n", "").isprintable()
    shown = label.encode("unicode_escape").decode() if not label.isprintable() else label
    assert shown[:10] in text


@given(st.text(min_size=1), st.integers(40, 120))
def test_any_label_leaves_the_page_in_order(label: str, width: int) -> None:
    lines = drawn([[1.5, 2.5]], width=width, labels={"n": (label,), "m": (label, "k")})
    assert all(cell_len(line) <= width for line in lines)
    assert len(lines) in (3, 7)  # one block or two
    assert [word for line in lines for word in line.split()[-2:] if word in ("1.5", "2.5")][-2:] == ["1.5", "2.5"]
