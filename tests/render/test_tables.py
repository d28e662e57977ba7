"""The page: its order, what is said of each step, how it fits narrow, plain and coloured terminals."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from render.conftest import ByHand
from rich.cells import cell_len
from solved import page_in
from test_samples import PROBLEMS, posed

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.record.trace import Check, Given, Remark, Trace
from attncalc.render import View, operand_steps, render
from attncalc.render.traces import formula
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

ANSI = re.compile(r"\x1b\[[\d;]*m")


def page(trace: Trace, **view: Any) -> str:
    text = render(trace, "table", View(**view))
    assert isinstance(text, str)
    return text


DOT = """\
dot
The inner product.

  a ← words.csv#cat, n=3: 0.8 0.2 -0.1
  b, n=3: 0.7 0.3 -0.2

1  products = a ⊙ b = [3] ⊙ [3] → [3]
   each entry of a meets its partner in b

   products[0] = 0.8×0.7 = 0.56
   products[1] = 0.2×0.3 = 0.06
   products[2] = -0.1×(-0.2) = 0.02

   n │    0     1     2
   ──┼─────────────────
     │ 0.56  0.06  0.02

━━ result ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
2  dot = a·b = [3]·[3]
   one number says how far they agree
   dot = 0.8×0.7 + 0.2×0.3 + (-0.1)×(-0.2) = 0.64
━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
"""

ATTENTION_ASCII = """\
attention
Each query mixes the values.

  q <- q.json, n=2 x d_k=3: 1 0 1; 0 1 1
  causal = true

1  scores = Q*K^T
          = [2x3]*[2x3]^T -> [2x2]
   compare all with all

   n \\ m | the  cat
   ------+---------
     the |   1    2
     cat |   1    1

2  masked = scores where j <= i,
            else -inf -> [2x2]

   n \\ m |    the     cat
   ------+---------------
     the | 0.3333    -inf
     cat | 0.3333  0.3333

3  weights = softmax(masked) -> [2x2]

   n \\ m | the  cat
   ------+---------
     the | 1.0  0.0
     cat | 0.5  0.5

== result ==============================
4  output = weights*V -> [2x3]
   mix the values

   n \\ d_v |   0    1    2
   --------+--------------
       the | 2.0  0.0  1.0
       cat | 1.5  0.5  0.5
========================================
"""

GROUPED = """\
demo
A demonstration.

── encoder 1/self-attention ──

1  q = Q = x·W_Q → [1×2]

   n ╲ d │ 0  1
   ──────┼─────
       0 │ 1  2

2  weights = softmax(q) → [2×1×3]

   the same numbers as the result

   largest drift from full precision: 0.0012

── encoder 2/self-attention ──

3  weights = softmax(q) → [2×1×3]

   h = 0
   n ╲ m │     0      1      2
   ──────┼────────────────────
       0 │ 1.000  1.125  1.250

   h = 1
   n ╲ m │     0      1      2
   ──────┼────────────────────
       0 │ 1.375  1.500  1.625

   no drift so far

━━ result ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
   encoder 1/self-attention/weights, step 2

   h = 0
   n ╲ m │     0      1      2
   ──────┼────────────────────
       0 │ 0.000  0.125  0.250

   h = 1
   n ╲ m │     0      1      2
   ──────┼────────────────────
       0 │ 0.375  0.500  0.625

   angle = arccos(cosine)
   angle = 11.9
━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
"""


def test_a_vector_calculation_shows_its_arithmetic_as_on_paper(dot: Trace) -> None:
    assert page(dot) == DOT


def test_a_narrow_page_without_the_signs_of_formulas(attention: Trace) -> None:
    assert page(attention, width=40, unicode=False) == ATTENTION_ASCII


def test_groups_a_result_among_the_steps_and_an_output_beside_them(grouped: Trace) -> None:
    assert page(grouped) == GROUPED


@pytest.mark.thorough
@pytest.mark.parametrize("width", [40, 80, 200, None])
@pytest.mark.parametrize("name", ["dot", "attention", "grouped"])
def test_colour_changes_no_character(name: str, width: int | None, request: pytest.FixtureRequest) -> None:
    trace = request.getfixturevalue(name)
    coloured = page(trace, width=width, color=True)
    assert coloured != ANSI.sub("", coloured) == page(trace, width=width)


@pytest.mark.thorough
@pytest.mark.parametrize("width", [40, 41, 55, 80, 200])
@pytest.mark.parametrize("name", ["dot", "attention", "grouped"])
@pytest.mark.parametrize("unicode", [True, False], ids=["unicode", "ascii"])
def test_no_line_is_wider_than_the_page(name: str, width: int, unicode: bool, request: pytest.FixtureRequest) -> None:
    text = page(request.getfixturevalue(name), width=width, unicode=unicode)
    assert max(map(cell_len, text.splitlines())) <= width
    assert unicode or text.isascii()


ROWS = {
    "a matrix, between its rows": (
        "1.5 2.25 3.125; 4 5.5 6; 7 8 9",
        ["  keys, n=3 × d=3: 1.5 2.25 3.125;", "      4 5.5 6; 7 8 9"],
    ),
    "a vector, between its entries": (
        "1.5 2.25 3.125 4 5.5 6 7.5 8",
        ["  keys, d=8: 1.5 2.25 3.125 4 5.5 6 7.5", "      8"],
    ),
    "what is too long to be repeated": (
        "1.5 2.25 3.125 4.0625 5.5 6.75 7.5; 0 0 0 0 0 0 0",
        ["  keys, n=2 × d=7"],
    ),
}


@pytest.mark.parametrize(("written", "lines"), ROWS.values(), ids=ROWS)
def test_an_operand_is_broken_between_its_rows(make: Any, written: str, lines: list[str]) -> None:
    entries = np.array([row.split() for row in written.split("; ")], dtype=object)
    entries = entries[0] if len(entries) == 1 else entries
    given = Given(entries.astype(float), axes=("n", "d")[-entries.ndim :], written=entries)
    found = page(make.trace(make.step("x", [1.0], "n"), inputs={"keys": given}), width=40).splitlines()
    start = next(i for i, line in enumerate(found) if line.startswith("  keys"))
    assert found[start : start + len(lines)] == lines


def test_an_arrow_stands_before_its_file_and_a_formula_in_one_line(make: Any) -> None:
    formula = Given(np.array("(1 - x)**2 + 10*(y - x**2)**2"), "descend-valley.json#expression")
    inputs = {"expression": formula, "probabilities": Given(np.ones(2), "perplexity.json#p", axes=("T",))}
    text = page(make.trace(make.step("x", 1.0), inputs=inputs), width=40)
    assert "  expression\n    ← descend-valley.json#expression:\n      (1 - x)**2 + 10*(y - x**2)**2\n" in text
    assert "  probabilities ← perplexity.json#p,\n      T=2: 1 1\n" in text


def test_a_page_narrower_than_any_is_laid_out_for_forty(dot: Trace) -> None:
    assert page(dot, width=12) == page(dot, width=40)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ({"quiet": True}, "0.64\n"),
        ({"get": "products"}, "n │    0     1     2\n──┼─────────────────\n  │ 0.56  0.06  0.02\n"),
        ({"get": "products", "quiet": True}, "n │    0     1     2\n──┼─────────────────\n  │ 0.56  0.06  0.02\n"),
        ({"quiet": True, "digits": 3}, "0.640\n"),
    ],
    ids=["quiet", "get", "get wins over quiet", "digits"],
)
def test_one_value_alone(dot: Trace, view: dict[str, Any], expected: str) -> None:
    assert page(dot, **view) == expected


def test_asking_for_a_step_that_is_not_there_is_an_error(dot: Trace) -> None:
    with pytest.raises(AttncalcError, match="no step or output called 'product'"):
        page(dot, get="product")


@pytest.mark.parametrize(
    ("show", "numbers"),
    [
        (("encoder 1",), ["1", "2"]),
        (("encoder 2/self-attention/weights", "q"), ["1", "3"]),
        (("encoder 1/self-attention/weights",), ["2"]),
    ],
    ids=["a group", "steps, in the order of the page", "one step"],
)
def test_show_picks_steps_that_keep_their_numbers(grouped: Trace, show: tuple[str, ...], numbers: list[str]) -> None:
    text = page(grouped, show=show)
    assert re.findall(r"^(\d)  ", text, re.MULTILINE) == numbers
    assert "angle" not in text


def test_show_of_a_name_that_several_groups_have_lists_them(grouped: Trace) -> None:
    with pytest.raises(AttncalcError, match=r"encoder 1/self-attention/weights, encoder 2/self-attention/weights"):
        page(grouped, show=("weights",))


@pytest.mark.parametrize(
    ("found", "line"),
    [
        ((True,), "central differences agree: largest difference 3.1e-10\n"),
        (
            (True, 2),
            "central differences agree: largest difference 3.1e-10; 2 entries at a kink, between the slopes of",
        ),
        ((False,), "central differences DISAGREE: largest difference 3.1e-10\n"),
    ],
)
def test_a_gradient_says_what_central_differences_found(make: Any, found: tuple[Any, ...], line: str) -> None:
    check = Check(np.zeros(1), 3.1e-10, *found)
    step = make.step("grad_q", [1.0], "n", symbol="∂L/∂Q", gradient_of="q", check=check)
    text = page(make.trace(step))
    assert "1  grad_q = ∂L/∂Q → [1]\n" in text
    assert f"   {line}" in text


def test_of_a_choice_among_many_the_one_that_is_chosen_is_shown() -> None:
    trace = ac.chebyshev(range(20), [0] * 12 + [90] + [0] * 7)
    page = str(render(trace, "table", View(width=200, cells=("distance",))))
    assert "distance = max(0, 1, 2, …, 78, …, 19) = 78" in page


def test_an_operand_below_a_table_stands_by_itself_and_ones_are_no_table() -> None:
    x = np.arange(56.0).reshape(7, 8) + 1
    page = str(render(ac.pairwise(x, metric="dot").grad(), "table", View(width=100)))
    assert "\n\n  upstream ← ones (the loss is the sum of the result), n=7 × m=7: all 1\n" in page


def test_a_total_is_written_out(make: Any) -> None:
    def total(terms: int) -> str:
        pieces = [piece for i in range(terms) for piece in ((" + ",) if i else ()) + (make.entry(i),)]
        return page(make.trace(make.step("sum", 1.0), arithmetic={"sum": lambda at: tuple(pieces)}))

    assert "sum = 0 + 1 + 2 + 3 + 4 + 5 = 1" in total(6)
    assert "sum = 0 + 1 + 2 + 3 + 4 + 5 + 6 = 1" in total(7)


def test_all_the_results_stand_in_the_panel_when_the_page_ends_with_them(make: Any) -> None:
    q, k, v = (make.step(name, [[1.0]], "n d") for name in "qkv")
    result = page(make.trace(q, k, v, outputs=(q, k, v))).partition("━━ result ")[2]
    assert re.findall(r"^\d  (\w)", result, re.MULTILINE) == ["q", "k", "v"]


def test_options_that_were_left_as_they_are_stay_unsaid(make: Any) -> None:
    usual = {"causal": False, "scale": "default", "dk": (2, 8)}
    calculation: Any = SimpleNamespace(defaults=usual, sizes={})
    problem = Problem(calculation, {})
    options = {"causal": True, "scale": "default", "dk": (2, 32)}
    text = page(make.trace(make.step("x", 1.0), arithmetic={}, options=options, problem=problem))
    assert "  causal = true, dk = 2,32\n" in text


def test_an_operand_keeps_the_digits_it_was_written_with(make: Any) -> None:
    written = np.array([["0.360", "1/3"]])
    operand = Given(
        np.array([[0.36, 1 / 3]]),
        "q.csv",
        written=written,
        axes=("n", "d"),
        remarks=(Remark("shape", "first row read as labels"),),
    )
    text = page(make.trace(make.step("x", 1.0), inputs={"q": operand}))
    assert "  q ← q.csv, n=1 × d=2: 0.360 1/3 (first row read as labels)\n" in text


def test_the_name_of_a_file_of_all_operands_begins_behind_its_arrow(make: Any) -> None:
    """However long it is: a name has no blank at which a line could end."""
    file = "samples/attention-two-tokens-backward.json"
    inputs = {name: Given(np.ones(1), f"{file}#{name}", axes=("n",)) for name in ("a", "b")}
    text = page(make.trace(make.step("x", 1.0), inputs=inputs), width=40)
    assert "\n  ← samples/attention-two-tokens-backw\n      ard.json\n  a, n=1" in text


@pytest.mark.thorough
@given(st.text(max_size=60), st.integers(40, 100))
def test_words_of_others_never_start_a_line_or_widen_it(text: str, width: int) -> None:
    from attncalc.record.trace import Step

    value = np.ones(1)
    step = Step("s", "", ("n",), (1,), value, "s", formula=text, why=text, labels={"n": (text,)})
    operand = Given(value, source=text, axes=("n",), remarks=(Remark("shape", text),))
    trace = Trace("demo", "A demonstration.", {"q": operand}, {"scale": text}, (step,), (step,))
    lines = page(trace, width=width).split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).isprintable()


@pytest.mark.thorough
def test_everything_shows_all_rows_and_columns(make: Any) -> None:
    big = make.trace(make.step("x", np.arange(3000.0).reshape(50, 60), "n m"))
    assert "… 39 more columns and 29 more rows" not in page(big, everything=True)
    words = set(page(big, everything=True, width=80).split())
    assert {str(i) for i in range(3000)} <= words
    assert "--all" in page(big, width=80)


def test_what_rounding_has_left_over_is_shown_as_nothing(make: Any) -> None:
    step = make.step("x", [1.1e-16, 0.25], "n")
    trace = make.trace(step, behind=ByHand({}, np.array([True, False])))
    assert "     │ 0.00  0.25\n" in page(trace)
    assert page(trace, quiet=True).endswith(" │ 0.00  0.25\n")
    assert trace.result[0] == 1.1e-16


def test_a_shape_that_the_sizes_say_already_is_not_said_again(make: Any) -> None:
    handed_on = make.step("grad", [1.0, 2.0], "n", "upstream", sizes="[2]")
    summed = make.step("sums", [1.0, 2.0], "n", "Σ x", sizes="Σ [2×3]")
    assert [formula(step).outcome for step in (handed_on, summed, make.step("loss", 1.0))] == ["", "[2]", ""]


def test_an_axis_is_labelled_wherever_it_stands(make: Any) -> None:
    tokens = ("the", "cat")
    keys = Given(np.eye(2), axes=("m", "d"), labels={0: tokens})
    values = Given(np.ones((2, 3)), axes=("m", "d_v"))
    others = Given(np.ones((3, 3)), axes=("m", "d_v"))
    trace = make.trace(make.step("x", 1.0), inputs={"k": keys, "v": values, "w": others})
    assert [dict(step.labels) for step in operand_steps(trace).values()] == [{"m": tokens}, {"m": tokens}, {}]


def test_what_looks_alike_only_at_its_ends_is_not_said_to_be_the_same(make: Any) -> None:
    column = np.arange(60.0).reshape(60, 1)
    other = column.copy()
    other[40] = 7
    steps = [make.step("x", column, "n d"), make.step("y", other, "n d"), make.step("z", column[:9], "n d")]
    said = page(make.trace(*steps, make.step("again", column[:9], "n d")))
    assert said.count("the same numbers as") == 1
    assert "the same numbers as again, the result" in said


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_number_that_is_the_result_stands_behind_its_name(name: str) -> None:
    trace = solve(posed(name))
    shown = page_in("table", trace, View()).rpartition("━━ result ")[2]
    assert trace.result.shape or f"  {trace.outputs[0].name} = " in shown
