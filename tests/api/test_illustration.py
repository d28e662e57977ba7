"""Which pictures a trace has: what calculations declare, what results look like, and where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rich.cells import cell_len

import attncalc as ac
from attncalc.api.plots import MOST, illustrated
from attncalc.calculations import TABLE, load
from attncalc.common.errors import AttncalcError, NoPicture
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.record.pictures import Bars, Curves, HeatMap, Landscape, Picture, Plane
from attncalc.record.trace import Trace
from attncalc.render import View, render
from attncalc.solve.problem import Backward, Problem, problem_of
from attncalc.solve.solver import solve

SAMPLES = Path(__file__).parents[2] / "samples"
PROBLEMS = sorted(path.stem for path in SAMPLES.glob("*.json") if "calculation" in json.loads(path.read_text("utf-8")))
WITHOUT = {"eigen-complex"}  # complex numbers


def work_out(name: str) -> Trace:
    document = load_document(str(SAMPLES / f"{name}.json"), Reading())
    *derivative, calculation = document.calculation.split(" ")
    backward = Backward() if derivative else None
    return solve(Problem(load(calculation), document.inputs, document.options, backward))


def pictures(trace: Trace, **view: Any) -> tuple[Picture, ...]:
    return illustrated(trace, View(**view)).pictures


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_sample_is_drawn_or_has_no_picture(name: str) -> None:
    trace = work_out(name)
    if name in WITHOUT:
        with pytest.raises(NoPicture, match="has no picture of this result: its numbers are complex"):
            illustrated(trace, View())
        return
    drawn = illustrated(trace, View(everything=True))
    for width in (40, 80, 200):
        for unicode in (True, False):
            page = render(drawn, "table", View(plot=True, quiet=True, width=width, unicode=unicode))
            assert isinstance(page, str)
            assert max(map(cell_len, page.splitlines())) <= width
            assert unicode or page.isascii()


def test_every_calculation_has_a_sample_among_them() -> None:
    assert set(TABLE) <= set(PROBLEMS)


DECLARED = [(name, load(name).pictures) for name in TABLE if isinstance(load(name).pictures, tuple)]


@pytest.mark.release
@pytest.mark.parametrize(("name", "declared"), DECLARED, ids=[name for name, _ in DECLARED])
def test_what_is_declared_by_name_is_there(name: str, declared: tuple[str, ...]) -> None:
    trace = work_out(name)
    known = {step.name for step in (*trace.steps, *trace.outputs)} | {operand.name for operand in load(name).operands}
    assert set(declared) <= known
    titles = " ".join(picture.title for picture in pictures(trace, everything=True))
    assert any(step in titles for step in declared)


# What is in them


def test_weights_carry_the_words_of_the_tokens_and_what_was_hidden() -> None:
    problem = problem_of(work_out("attention"))
    weights, *_ = pictures(solve(problem._replace(options={"causal": True})))
    assert isinstance(weights, HeatMap)
    assert weights.rows.labels == weights.columns.labels == ("the", "cat", "is")
    assert weights.hidden is not None
    assert weights.hidden.tolist() == [[False, True, True], [False, False, True], [False] * 3]
    assert (weights.low, weights.high) == (0, 1)


def test_arrows_have_the_lengths_and_angles_of_vectors() -> None:
    _, keys, values = pictures(work_out("attention"))
    assert isinstance(keys, Plane)
    query, *others = keys.arrows
    assert [arrow.name for arrow in keys.arrows] == ["q the", "k the", "k cat", "k is"]
    assert_allclose([np.hypot(arrow.x, arrow.y) for arrow in others], np.sqrt([2, 3, 6]))
    assert_allclose([query.x * arrow.x for arrow in others], [1, 1, 5])  # the scores
    assert isinstance(values, Plane)
    assert [(arrow.name, arrow.x, arrow.y) for arrow in values.arrows[:2]] == [("v the", 3, 1), ("v cat", 2, 0)]
    *_, pair, _ = pictures(work_out("rope"))
    assert isinstance(pair, Plane)
    before, after = pair.arrows
    assert_allclose(np.hypot(before.x, before.y), np.hypot(after.x, after.y))


def test_what_was_asked_for_is_drawn() -> None:
    _, waves = pictures(ac.sinusoidal(n=12, d=4))
    assert isinstance(waves, Curves)
    assert all(len(line.x) == 12 for line in waves.lines)


@pytest.mark.parametrize("name", ["layernorm", "rmsnorm"])
def test_a_norm_is_drawn_before_and_after(name: str) -> None:
    assert [picture.title for picture in pictures(work_out(name))] == ["x", "normalized"]


def test_heads_share_one_range() -> None:
    first, second = pictures(work_out("multihead"))
    assert isinstance(first, HeatMap)
    assert isinstance(second, HeatMap)
    assert (first.low, first.high) == (second.low, second.high)
    assert [first.title, second.title] == ["weights, h = 0", "weights, h = 1"]


@pytest.mark.thorough
def test_softmax_against_temperature_is_softmax() -> None:
    shares, curves = pictures(ac.softmax([1.0, 2.0, 4.0], temperature=2))
    assert isinstance(shares, Bars)
    assert isinstance(curves, Curves)
    assert_allclose(sum(line.y for line in curves.lines), 1)
    place = 17
    at_one = ac.softmax([1.0, 2.0, 4.0], temperature=float(curves.lines[0].x[place])).result
    assert_allclose([line.y[place] for line in curves.lines], at_one)
    assert curves.marks is not None
    assert curves.marks.x.tolist() == [2, 2, 2]
    assert_allclose(curves.marks.y, shares.values)


@pytest.mark.thorough
def test_of_many_shares_the_largest_are_followed() -> None:
    _, curves = pictures(ac.softmax(np.arange(20.0)))
    assert isinstance(curves, Curves)
    assert [line.name for line in curves.lines] == [f"softmax[{i}]" for i in range(14, 20)]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["relu", "gelu", "silu", "tanh", "softplus"])
def test_an_activation_with_its_slope_and_the_given_numbers(kind: Any) -> None:
    trace = ac.activation([[-1.5, 0.25], [6.0, 2.0]], kind=kind)
    (curves,) = pictures(trace)
    assert isinstance(curves, Curves)
    value, slope = curves.lines
    assert value.x.min() < -6 < 6 < value.x.max()
    smooth = np.abs(value.x[1:-1]) > 0.1
    assert_allclose(np.gradient(value.y, value.x)[1:-1][smooth], slope.y[1:-1][smooth], atol=2e-3)
    assert curves.marks is not None
    assert_allclose(curves.marks.y, trace.result.ravel())


def test_a_descent_of_one_variable_lies_on_its_curve() -> None:
    curve, fall = pictures(ac.descend("x**2", start=3, lr=0.1, steps=10))
    assert isinstance(curve, Curves)
    assert isinstance(fall, Curves)
    assert curve.marks is not None
    assert_allclose(curve.marks.x, 3 * 0.8 ** np.arange(11))
    assert_allclose(curve.marks.y, curve.marks.x**2)
    assert_allclose(curve.lines[0].y, curve.lines[0].x ** 2, atol=1e-12)
    assert_allclose(fall.lines[0].y, curve.marks.y)


def test_a_descent_of_two_variables_lies_in_its_landscape() -> None:
    land, _ = pictures(ac.descend("x**2 + 4*y**2", start={"x": 2, "y": -1}, steps=30))
    assert isinstance(land, Landscape)
    assert (land.across, land.up) == ("x", "y")
    assert_allclose(land.heights, land.x[None, :] ** 2 + 4 * land.y[:, None] ** 2, atol=1e-12)
    assert len(land.marks.x) == 31
    assert land.x.min() < land.marks.x.min() < land.marks.x.max() < land.x.max()
    assert land.y.min() < land.marks.y.min() < land.marks.y.max() < land.y.max()


def test_of_a_very_long_descent_the_ends_are_drawn() -> None:
    curve, _ = pictures(ac.descend("x**2", start=1, lr=1e-4, steps=3000))
    assert isinstance(curve, Curves)
    assert curve.marks is not None
    assert (curve.marks.name, len(curve.marks.x)) == ("the first and the last iterations", 12)


def test_a_descent_of_three_variables_shows_how_it_falls() -> None:
    (fall,) = pictures(ac.descend("x**2 + y**2 + z**2", start={"x": 1, "y": 2, "z": 3}))
    assert isinstance(fall, Curves)
    assert (np.diff(fall.lines[0].y) < 0).all()


def test_the_derivative_beside_its_function() -> None:
    (curves,) = pictures(ac.derivative("sin(x)", at=1))
    assert isinstance(curves, Curves)
    function, slope = curves.lines
    assert_allclose(function.y, np.sin(function.x))
    assert_allclose(slope.y, np.cos(slope.x))


def test_where_a_function_has_no_value_its_derivative_is_not_drawn() -> None:
    (curves,) = pictures(ac.derivative("log(x)", at=0.5))
    assert isinstance(curves, Curves)
    function, slope = curves.lines
    assert np.isnan(slope.y[function.x < 0]).all()


def test_a_schedule_marks_the_steps_that_were_asked_for() -> None:
    (curves,) = pictures(ac.schedule(kind="noam", d_model=512, warmup=4000, at=(1, 4000, 10000)))
    assert isinstance(curves, Curves)
    (line,) = curves.lines
    assert_allclose(line.y, 512**-0.5 * np.minimum(line.x**-0.5, line.x * 4000**-1.5))
    assert curves.marks is not None
    assert curves.marks.x.tolist() == [1, 4000, 10000]


def test_the_waves_of_an_encoding() -> None:
    encoding, waves = pictures(ac.sinusoidal(n=4, d=6, start=3))
    assert isinstance(encoding, HeatMap)
    assert isinstance(waves, Curves)
    for pair, line in enumerate(waves.lines):
        assert_allclose(line.y, np.sin(line.x * 10000 ** (-2 * pair / 6)), atol=1e-12)


@pytest.mark.thorough
def test_the_loss_along_many_steps() -> None:
    (curves,) = pictures(work_out("mlp-classes"))
    assert isinstance(curves, Curves)
    assert len(curves.lines[0].x) == 200
    assert curves.lines[0].y[-1] < curves.lines[0].y[0]


def test_every_gradient_of_a_backward_pass() -> None:
    titles = [picture.title for picture in pictures(work_out("attention").grad())]
    assert titles == ["grad_q", "grad_k", "grad_v"]


def test_a_row_that_rounding_has_left_over_is_nothing() -> None:
    (grad,) = pictures(ac.softmax([1.0, 2.0, 3.0]).grad())
    assert isinstance(grad, Bars)
    assert np.abs(grad.values).max() == 0


@pytest.mark.thorough
def test_exact_numbers_are_drawn_as_decimals() -> None:
    trace = solve(problem_of(ac.softmax([1, 2, 3])), exact=True)
    bars = pictures(trace)[0]
    assert isinstance(bars, Bars)
    assert_allclose(bars.values, ac.softmax([1.0, 2.0, 3.0]).result)


def test_a_long_vector_is_a_curve() -> None:
    (bars,) = pictures(ac.log_softmax(np.arange(39.0)))
    assert isinstance(bars, Bars)
    (curve,) = pictures(ac.log_softmax(np.arange(40.0)))
    assert isinstance(curve, Curves)
    assert curve.lines[0].y.shape == (40,)


# What is asked for


@pytest.mark.parametrize(
    ("view", "titles"),
    [
        ({"get": "scores"}, ["scores"]),
        ({"show": ("weights", "output")}, ["weights", "output"]),
        ({}, ["weights", "keys around a query", "values, and what is mixed of them"]),
    ],
    ids=["get", "show", "nothing"],
)
def test_the_steps_that_are_asked_for(view: dict[str, Any], titles: list[str]) -> None:
    assert [picture.title for picture in pictures(work_out("attention"), **view)] == titles


NONE = {
    "a single number": (lambda: ac.dot([2.0], [3.0]), {}, "dot has no picture .* it is a single number"),
    "a step that is one": (lambda: ac.cosine([1.0, 2], [3, 4]), {"get": "dot"}, "there is no picture of dot"),
    "complex numbers": (lambda: ac.eigen([[0, -1], [1, 0]]), {}, "eigen has no picture .* complex"),
    "letters": (lambda: ac.gradient("x*y"), {}, "gradient has no picture .* holds letters"),
}


@pytest.mark.parametrize(("make", "view", "message"), NONE.values(), ids=NONE)
def test_where_there_is_no_picture(make: Any, view: dict[str, Any], message: str) -> None:
    with pytest.raises(NoPicture, match=message):
        illustrated(make(), View(**view))


def test_many_pictures_are_not_all_drawn_unless_asked_for() -> None:
    trace = ac.alibi(heads=12, n=3)
    some, every = illustrated(trace, View()), illustrated(trace, View(everything=True))
    assert (len(some.pictures), len(every.pictures)) == (MOST, 12)
    assert some.notes[-1] == "8 of 12 pictures are drawn: --all draws every one, --get NAME those of one step"
    assert every.notes == trace.notes


# From Python


@pytest.mark.thorough
def test_a_trace_draws_itself() -> None:
    page = ac.softmax([1.0, 2.0]).plot(width=40)
    assert page.startswith("softmax\n\nn │\n0 │ ███")
    assert max(map(cell_len, page.splitlines())) <= 40


def test_a_trace_draws_every_picture_that_it_has() -> None:
    page = ac.alibi(heads=12, n=3).plot()
    assert [f"bias, h = {head}\n" in page for head in range(13)] == [True] * 12 + [False]


@pytest.mark.parametrize(("name", "hint"), [("x.jpg", "did you mean x.png?"), ("x", ""), ("png", "")])
def test_other_files_are_no_pictures(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(AttncalcError, match=r"drawn to \.png and \.svg files") as told:
        ac.softmax([1.0, 2.0]).plot(tmp_path / name)
    assert told.value.hint == hint
    assert not list(tmp_path.iterdir())
