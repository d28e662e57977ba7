"""Pictures of characters: shades, bars, curves and landscapes, on narrow, plain and coloured pages."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from rich.cells import cell_len

from attncalc.record.numbers import texts
from attncalc.record.pictures import Bars, Curves, HeatMap, Landscape, Line, Marks, Picture, Ticks
from attncalc.record.trace import Trace
from attncalc.render import View, render
from attncalc.render.pictures import shades
from attncalc.render.pictures.sides import round_numbers

ANSI = re.compile(r"\x1b\[[\d;]*m")
WORDS = Ticks("m", ("the", "cat", "sat"), own=True)
INF, NAN = np.inf, np.nan


def indices(name: str, size: int) -> Ticks:
    return Ticks(name, tuple(map(str, range(size))))


def heat_map(values: Any, **more: Any) -> HeatMap:
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    sides = {"rows": indices("n", values.shape[0]), "columns": indices("m", values.shape[1])}
    return HeatMap("weights", values, **{**sides, "low": float(low), "high": float(high), **more})


def bars(*values: float) -> Bars:
    return Bars("scores", np.array(values), indices("n", len(values)))


WEIGHTS = heat_map(
    [[1, 0, 0], [0.25, 0.75, 0], [0.1, 0.3, 0.6]],
    rows=WORDS._replace(name="n"),
    columns=WORDS,
    hidden=np.triu(np.ones((3, 3), dtype=bool), 1),
)
LARGE = heat_map(np.sin(np.arange(60 * 50)).reshape(60, 50))
X = np.linspace(-2, 2, 41)
PARABOLA = Curves(
    "f(x)", "x", (Line("f", X, X**2), Line("slope", X, 2 * X)), Marks("the point", X[30:31], X[30:31] ** 2)
)
WAY = Marks("the iterations", np.array([-1.5, -0.5, 0.1]), np.array([1.0, 0.5, 0.0]), ordered=True)
VALLEY = Landscape("f(x, y)", "x", "y", X, X, X[None, :] ** 2 + X[:, None] ** 2, WAY)
KINDS: dict[str, Picture] = {
    "weights": WEIGHTS,
    "a large matrix": LARGE,
    "bars": bars(1, -2, 0.5),
    "many bars": bars(*range(-30, 60)),
    "curves": PARABOLA,
    "a landscape": VALLEY,
}


def drawn(*pictures: Picture, **view: Any) -> str:
    trace = Trace("demo", "A demonstration.", {}, {}, (), (), pictures=pictures)
    text = render(trace, "table", View(plot=True, quiet=True, **view))
    assert isinstance(text, str)
    return text


# Pages as they were looked at

SEEN = """\
weights

n ╲ m │     the      cat      sat
──────┼──────────────────────────
  the │ ██ 1.00  ×× 0.00  ×× 0.00
  cat │ ░░ 0.25  ▓▓ 0.75  ×× 0.00
  sat │    0.10  ░░ 0.30  ▓▓ 0.60

0 [ ░▒▓█] 1, × masked
"""

SEEN_NARROW = """\
weights

n \\ m | 0 1 2
------+-------
  the | @@xxxx
  cat | ::##xx
  sat | ..--**

m: 0 the, 1 cat, 2 sat
0 [ .:-=+*#%@] 1, x masked
"""

SEEN_BARS = """\
scores

n │
0 │                     ██████████            1.0
1 │ ████████████████████                     -2.0
2 │                     █████                 0.5
3 │                     ████████████████████  2.0
4 │                     ×                      −∞
"""

SEEN_CURVES = """\
f(x)

 4 ┼*                                 +*
   │ *                              ++*
   │  *                           ++ *
   │   **                       ++ **
 2 ┼     *                    ++  *
   │      **                ++  **
   │        **            ++  ●*
   │          **        ++  **
   │            ************
 0 ┼················++··················
   │              ++
   │            ++
   │          ++
-2 ┼        ++
   │      ++
   │    ++
   │  ++
-4 ┼++
   ┼┼────────┼────────┼───────┼────────┼
   -2       -1        0       1        2
                     x

* f   + slope   ● the point
"""

SEEN_LANDSCAPE = """\
f(x, y)

   y
 2 ┼█████████████▓▓▓▓▓▓▓▓▓▓█████████████
   │█████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓█████████
   │█████▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓█████
   │████▓▓▓▒▒▒▒▒░░░░░░░░░░░░▒▒▒▒▒▓▓▓████
 1 ┼███▓0▒▒▒▒▒░░░░░░░░░░░░░░░░▒▒▒▒▒▓▓███
   │█▓▓▓▒▒▒░░░░░            ░░░░░▒▒▒▓▓██
   │█▓▓▓▒▒░░░░░  1           ░░░░░▒▒▓▓▓█
   │▓▓▓▒▒░░░░░                ░░░░░▒▒▓▓▓
   │▓▓▓▒▒░░░░                  ░░░░▒▒▓▓▓
 0 ┼▓▓▓▒▒░░░░         E        ░░░░▒▒▓▓▓
   │▓▓▓▒▒░░░░░                ░░░░░▒▒▓▓▓
   │█▓▓▓▒▒░░░░░              ░░░░░▒▒▓▓▓█
   │█▓▓▓▒▒▒░░░░░            ░░░░░▒▒▒▓▓██
-1 ┼███▓▓▒▒▒▒▒░░░░░░░░░░░░░░░░▒▒▒▒▒▓▓███
   │████▓▓▓▒▒▒▒▒░░░░░░░░░░░░▒▒▒▒▒▓▓▓████
   │█████▓▓▓▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▓▓▓▓▓█████
   │█████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓█████████
-2 ┼█████████████▓▓▓▓▓▓▓▓▓▓█████████████
   ┼┼────────┼────────┼───────┼────────┼
   -2       -1        0       1        2
                     x

0 … E the iterations, E the last
0 [ ░▒▓█] 8, as much of the plane in
each shade
"""


def test_weights_with_their_words() -> None:
    assert drawn(WEIGHTS) == SEEN


def test_weights_where_numbers_have_no_room_in_ascii() -> None:
    wide = WEIGHTS._replace(values=WEIGHTS.values * 1e-300, high=1e-300)
    page = drawn(wide, unicode=False, width=40)
    assert page.replace("1e-300", "1") == SEEN_NARROW


def test_bars_to_both_sides() -> None:
    assert drawn(bars(1, -2, 0.5, 2, -INF)) == SEEN_BARS


def test_curves_with_a_point() -> None:
    assert drawn(PARABOLA, width=40) == SEEN_CURVES


def test_a_way_through_a_valley() -> None:
    assert drawn(VALLEY, width=40) == SEEN_LANDSCAPE


# What holds on every page


@pytest.mark.thorough
@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("color", [False, True], ids=["plain", "coloured"])
@pytest.mark.parametrize("everything", [False, True], ids=["", "all"])
@pytest.mark.parametrize("picture", KINDS.values(), ids=KINDS)
def test_no_line_is_wider_than_the_page(picture: Picture, width: int, color: bool, everything: bool) -> None:
    page = ANSI.sub("", drawn(picture, width=width, color=color, everything=everything))
    assert max(map(cell_len, page.splitlines())) <= width


@pytest.mark.parametrize("picture", KINDS.values(), ids=KINDS)
class TestEveryKind:
    def test_is_ascii_where_the_page_is(self, picture: Picture) -> None:
        assert drawn(picture, unicode=False, width=60).isascii()

    def test_has_no_escapes_without_colour(self, picture: Picture) -> None:
        assert "\x1b" not in drawn(picture)

    def test_has_colour_where_it_is_wanted(self, picture: Picture) -> None:
        assert set(re.findall(r"\x1b(\[[\d;]*m|.)", drawn(picture, color=True))) >= {"[0m"}

    def test_begins_with_its_title(self, picture: Picture) -> None:
        assert drawn(picture).startswith(f"{picture.title}\n\n")


def test_pictures_stand_apart() -> None:
    assert drawn(WEIGHTS, bars(1)) == f"{drawn(WEIGHTS)}\n{drawn(bars(1))}"


def test_the_page_stands_above_its_pictures(attention: Trace) -> None:
    trace = attention._replace(pictures=(WEIGHTS,))
    assert render(trace, "table", View(plot=True)) == str(render(trace, "table")) + "\n" + SEEN


HOSTILE = {
    "an escape": "\x1b[2Jcat",
    "a new line": "cat\nforged",
    "a right-to-left override": "\u202ecat",
    "markup": "[red]cat[/red] :cat:",
}


@pytest.mark.parametrize("label", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("width", [40, 80])
def test_labels_stay_text_on_their_line(label: str, width: int) -> None:
    ticks = Ticks("n", (label, "b"), own=True)
    for picture in (heat_map([[1, 2], [3, 4]], rows=ticks, columns=ticks), Bars("x", np.array([1.0, 2.0]), ticks)):
        page = drawn(picture, width=width)
        assert page.replace("\n", "").isprintable()
        assert "forged" not in [line.strip() for line in page.splitlines()]
        assert "🐱" not in page


@pytest.mark.parametrize("label", ["猫が好き", "🙂🙂", "cat"])
def test_wide_labels_leave_the_columns_straight(label: str) -> None:
    rows = Ticks("n", (label, "b"), own=True)
    page = drawn(heat_map([[1, 2], [3, 4]], rows=rows)).splitlines()
    assert len({cell_len(line.partition("│")[0]) for line in page if "│" in line}) == 1


# Shades


SIGNED = shades.ramp(-1.0, 1.0).colours


def level(value: float, view: View) -> int:
    shade = shades.shade_of(value, -1.0, 1.0, view)
    if view.color:
        return [shades._style(colour) for colour in SIGNED].index(shade.style)
    return shades.DENSER[view.unicode].index(shade.sign)


@pytest.mark.parametrize("view", [View(), View(unicode=False), View(color=True)], ids=["unicode", "ascii", "colour"])
@given(st.lists(st.floats(-1, 1), min_size=2))
def test_a_larger_value_is_never_an_earlier_shade(view: View, values: list[float]) -> None:
    levels = [level(value, view) for value in sorted(values)]
    assert levels == sorted(levels)


@pytest.mark.parametrize("view", [View(), View(unicode=False), View(color=True)], ids=["unicode", "ascii", "colour"])
def test_the_ends_of_the_range_have_the_ends_of_the_ramp(view: View) -> None:
    levels = [level(value, view) for value in np.linspace(-1, 1, 201)]
    assert set(levels) == set(range(max(levels) + 1))
    assert len(set(levels)) == len(SIGNED if view.color else shades.DENSER[view.unicode])


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_no_range_is_too_wide_to_be_shaded(low: float, high: float) -> None:
    low, high = sorted((low, high))
    ramp = shades.DENSER[True]
    assert shades.shade_of(low, low, high, View()).sign == ramp[0]
    assert shades.shade_of(high, low, high, View()).sign == ramp[-1 if high / 2 > low / 2 else 0]


def luminance(color: int) -> float:
    """Of a colour among xterm's 256, as WCAG 2 defines it."""
    steps = (0, 95, 135, 175, 215, 255)
    parts = [steps[(color - 16) // 36], steps[(color - 16) // 6 % 6], steps[(color - 16) % 6]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in parts)]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


RAMPS = pytest.mark.parametrize("ramp", [shades.ABOVE, shades.BELOW], ids=["above", "below"])


@RAMPS
def test_small_is_light_and_the_shades_grow_darker_in_even_steps(ramp: tuple[int, ...]) -> None:
    lightness = [116 * luminance(color) ** (1 / 3) - 16 for color in ramp]
    steps = [before - after for before, after in pairwise(lightness)]
    assert min(steps) > 8
    assert max(steps) < 2.5 * min(steps)


@RAMPS
def test_numbers_can_be_read_on_every_shade(ramp: tuple[int, ...]) -> None:
    for colour in ramp:
        text, behind = map(int, re.findall(r"\((\d+)\)", shades._style(colour)))
        assert contrast(luminance(text), luminance(behind)) > 4.5


@pytest.mark.parametrize(
    ("low", "high", "value", "colour"),
    [
        (-1.0, 4.0, 0.0, 231),
        (-1.0, 4.0, 4.0, shades.ABOVE[-1]),
        (-4.0, 1.0, -4.0, shades.BELOW[-1]),
        (-4.0, 1.0, 1.0, shades.ABOVE[1]),
        (0.0, 2.0, 0.0, 231),
        (0.0, 2.0, 2.0, shades.ABOVE[-1]),
        (-2.0, 0.0, -2.0, shades.BELOW[-1]),
        (-2.0, 0.0, 0.0, 231),
    ],
)
def test_signs_have_their_own_colours(low: float, high: float, value: float, colour: int) -> None:
    assert shades.shade_of(value, low, high, View(color=True)).style == shades._style(colour)


@pytest.mark.parametrize("color", shades.LINES[:5])
def test_lines_can_be_seen_on_white_and_on_black(color: int) -> None:
    assert contrast(luminance(color), 1) > 3
    assert contrast(luminance(color), 0) > 3


ODD = [(-INF, "×", "x", "−∞"), (INF, "∞", "^", "∞"), (NAN, "?", "?", "no value")]


@pytest.mark.parametrize(("value", "sign", "ascii_sign", "said"), ODD, ids=["-inf", "inf", "nan"])
def test_what_has_no_shade_has_a_sign_that_is_explained(value: float, sign: str, ascii_sign: str, said: str) -> None:
    picture = heat_map([[0, value], [1, 2]])
    assert f"{sign * 2} " in drawn(picture)
    assert drawn(picture).endswith(f"] 2, {sign} {said}\n")
    assert f"{ascii_sign * 2} " in drawn(picture, unicode=False)


# Heat maps: nothing is cut


@pytest.mark.thorough
@given(arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.floats(-1e6, 1e6)))
def test_numbers_stand_whole_or_not_at_all(values: Any) -> None:
    for width in (40, 80):
        page = drawn(heat_map(values), width=width, digits=2)
        rows = [line.partition("│")[2] for line in page.splitlines() if "│" in line][1:]
        found = [re.findall(r"[-−\d.e+]+", row) for row in rows]
        assert found in (texts(values, 2).tolist(), [[]] * len(values))


@pytest.mark.parametrize("width", [40, 80, None])
def test_what_is_left_out_is_said(width: int | None) -> None:
    page = drawn(LARGE, width=width)
    last = " ".join(page.rpartition("]")[2].split())
    rows = [line.partition("│ ")[2] for line in page.splitlines() if re.match(r" *\d+ │", line)]
    hidden = {word: int(count) for count, word in re.findall(r"(\d+) more (column|row)s", last)}
    assert len(rows) + hidden["row"] == 60
    columns = rows[0].index("·") // 2 + 1 if "column" in hidden else 50
    assert columns + hidden.get("column", 0) == 50
    assert last.endswith("(--all shows them)")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_with_everything_every_entry_has_its_place(width: int) -> None:
    page = drawn(LARGE._replace(values=np.ones((60, 50)), low=0.0, high=1.0), width=width, everything=True)
    body = page.rpartition("\n\n")[0]
    assert body.count("█") in (60 * 50, 60 * 50 * 2)
    assert "more" not in page


# Bars


@given(st.lists(st.floats(0, 1e300), min_size=2, max_size=30))
def test_a_larger_number_has_no_shorter_bar(values: list[float]) -> None:
    page = drawn(bars(*sorted(values)), unicode=False, width=80).splitlines()[3:]
    lengths = [line.count("#") for line in page]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("values", [(0.0, 0.0), (INF, NAN), (1e308, -1e308)], ids=["nothing", "no number", "huge"])
def test_bars_of_odd_numbers(values: tuple[float, ...]) -> None:
    page = drawn(bars(*values), width=60)
    assert len(page.splitlines()) == 3 + len(values)


# Curves


def signs(page: str, sign: str) -> list[int]:
    """The columns of the rows in which a sign stands first."""
    return [line.index(sign) for line in page.splitlines() if sign in line]


def test_a_rising_line_rises() -> None:
    page = drawn(Curves("f", "x", (Line("f", X, X),)), width=60).rpartition("\n\n")[0]
    columns = signs(page, "*")
    assert columns == sorted(columns, reverse=True)
    assert len(columns) == 18


@pytest.mark.parametrize(
    ("x", "y"),
    [([1.0], [2.0]), ([0.0, 1.0], [NAN, NAN]), ([0.0, 1.0], [5.0, 5.0]), ([0.0, 1.0], [-1e308, 1e308])],
    ids=["one point", "no point", "level", "huge"],
)
@pytest.mark.parametrize("width", [40, 80])
def test_odd_curves_are_drawn(x: list[float], y: list[float], width: int) -> None:
    page = drawn(Curves("f", "x", (Line("f", np.array(x), np.array(y)),)), width=width)
    assert max(map(cell_len, page.splitlines())) <= width


def test_a_gap_in_a_curve_stays_a_gap() -> None:
    y = np.where(np.abs(X) < 1, NAN, X)
    page = drawn(Curves("f", "x", (Line("f", X, y),)), width=60).rpartition("\n\n")[0]
    middle = [line[25:38] for line in page.splitlines()[2:20]]
    assert not any("*" in line for line in middle)


def test_a_way_is_numbered_from_its_start_to_its_end() -> None:
    page = drawn(VALLEY, width=60)
    picture, _, legend = page.rpartition("\n\n")
    assert [picture.count(sign) for sign in "E"] == [1]
    rows = picture.splitlines()
    start, end = (next(i for i, line in enumerate(rows) if re.search(rf"[░▒▓█ ]{sign}[░▒▓█ ]", line)) for sign in "0E")
    assert start < end, "y falls along the way"
    assert legend.startswith("0 … E the iterations, E the last\n")


def test_the_lowest_part_of_a_landscape_is_the_lightest() -> None:
    bare = VALLEY._replace(marks=WAY._replace(x=X[:0], y=X[:0]))
    middle = next(line.partition("┼")[2] for line in drawn(bare).splitlines() if line.startswith(" 0"))
    assert middle[len(middle) // 2] == " "
    assert middle[0] != " "


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12), st.integers(2, 10))
def test_ticks_are_round_and_within(low: float, width: float, most: int) -> None:
    high = low + width
    found = round_numbers(low, high, most)
    slack = 1e-9 * max(abs(low), abs(high), width)
    assert all(low - slack <= tick <= high + slack for tick in found)
    assert len(found) <= most + 1
