"""Who fills sheets up with one number, or leaves a cell blank: the one earns nothing, the other costs that cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calculations.cases import EXPECTED
from conftest import Run
from homework.problems import PROBLEMS
from rows import rows
from solved import ALL, Tried, solved

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import AttncalcError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Sheet, from_text
from attncalc.homework.reading.sheets import spelled
from attncalc.record.trace import Given
from attncalc.record.verdicts import MISTAKE, SOUND, UNEXPLAINED
from attncalc.solve import asking
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

EVERY = [(name, number, entry) for name in PROBLEMS for number in (0,) for entry in ("0", "0.00", "inf", "0.50", "1")]


@pytest.mark.release
@pytest.mark.spread
@rows(
    ("name", "number", "entry"),
    EVERY,
    ids=[f"{n} {i} {e}" for n, i, e in EVERY],
    by=lambda name, number, entry: name,
    thorough=lambda name, number, entry: name.endswith("-block") or entry in ("0.00", "1"),
)
def test_one_number_in_every_cell_earns_nothing_but_where_it_is_right(name: str, number: int, entry: str) -> None:
    key = Key(PROBLEMS[name][number])
    shapes = {
        step: value.shape for step in key.steps if (value := key.value(step)) is not None and step not in key.complex
    }
    sheet = Sheet(
        {spelled(step): from_text([entry] * int(np.prod(shape)), shape, str) for step, shape in shapes.items()}
    )
    for step in Marker(key).mark(sheet).steps:
        expected = key.value(key.names.find(step.name))
        if step.verdict not in SOUND and expected is not None and np.unique(expected).size > 1:
            assert (step.score, "+" in (step.mistake or "")) == (0, False), (step.name, step.finding)
            assert step.verdict in (MISTAKE, UNEXPLAINED)


@pytest.mark.parametrize(
    ("entry", "mistake"), [("5.260", "norm-no-root+norm-sum-first"), ("5.26", None), ("3.142", None)]
)
def test_a_number_that_nobody_fills_up_with_may_come_of_two_mistakes(entry: str, mistake: str | None) -> None:
    """2·Σa in every entry is the gradient of the squared sum."""
    assert ac.norm([1.2, -0.7, 2.13]).grad().check({"grad_a": [entry] * 3})["grad_a"].mistake == mistake


@pytest.mark.spread(8)
@pytest.mark.thorough
@rows("tried", [tried for tried in ALL if tried.backward], by=lambda tried: tried.name)
@pytest.mark.parametrize("zero", [0, 1e-18])
def test_what_a_page_says_is_0_is_right_as_0_whatever_rounding_leaves_of_it(tried: Tried, zero: Any) -> None:
    trace = solved(tried)
    nothing = {
        step.key: np.full(step.shape, zero, dtype=object).tolist()
        for step in trace.steps
        if step.value is not None
        and step.value.dtype == float
        and (step.value != 0).any()
        and (left := asking.left_over(trace, step)) is not None
        and (left | (step.value == 0)).all()
    }
    if nothing:
        assert {step.name: step.verdict for step in trace.check({"steps": nothing}).steps if step.name in nothing} == (
            dict.fromkeys(nothing, "right")
        )


@pytest.mark.thorough
@pytest.mark.spread
@rows("tried", ALL, by=lambda tried: tried.name)
def test_what_a_page_has_is_right_whatever_the_operands(tried: Tried) -> None:
    """Shares near 1 leave gradients that nearly cancel, of which a key and a page have other last digits."""
    case, rng = EXPECTED[tried.name].cases[tried.number], np.random.default_rng(tried.number)
    kinds = {operand.name: operand.kind for operand in load(tried.name).operands}
    inputs = {
        name: Given(rng.normal(size=value.shape).round(1) * 3 if kinds.get(name) in ("real", "logits") else value)
        for name, value in case.arrays().items()
    }
    try:
        trace = solve(Problem(load(tried.name), inputs, case.options, Backward() if tried.backward else None))
    except AttncalcError:
        pytest.skip("not with these operands")
    values = {step.key: step.value for step in trace.steps if step.value is not None and step.value.dtype.kind in "fi"}
    assert [step for step in trace.check(values).steps if step.name in values and step.verdict not in SOUND] == []


def test_what_an_exact_0_and_what_rounding_leaves_come_to_is_0() -> None:
    trace = ac.bayes([0.2, 0.3, 0.5], [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], observed=1).grad()
    assert trace.check([0, 0, 0]).verdict == "right"
    assert trace.check([0, 0, 1]).verdict == "wrong"


def test_what_follows_from_numbers_that_are_not_all_the_same_may_be_one_number() -> None:
    """Every score 0 gives equal weights."""
    trace = ac.attention([[1, 2], [0, 1]], [[1, 0], [3, 1]], [[1, 5], [2, 0]])
    told = trace.check({"scaled": [[1.5, 1.5], [2.5, 2.5]], "weights": [["0.500", "0.500"], ["0.500", "0.500"]]})
    assert told["weights"].verdict == "follows"


def test_a_place_that_follows_may_be_the_first_one() -> None:
    """Whoever divides by no penalty finds the first of two texts best, place 0, and it is no filled one."""
    shares = [[0.1, 0.5, 0.4], [0.2, 0.1, 0.7], [0.5, 0.3, 0.2]]
    trace = ac.beam(shares, beam=2, length=3, length_penalty=1, from_probabilities=True)
    scores = np.log([0.4 * 0.5, 0.5 * 0.7 * 0.5])
    told = trace.check({"normalised": [f"{x:.4f}" for x in scores], "best": [0], "sequence": [2, 0, 0]})
    assert [step.mistake or step.verdict for step in told.steps] == ["beam-no-penalty", "follows", "follows"]


WEIGHTS = [["0.107", "0.107", "0.787"], ["0.245", "0.665", "0.090"], ["0.274", "0.452", "0.274"]]
Q, K = [[1, 0, 2, -1], [0, 2, 1, 1], [1, -1, 0, 2]], [[1, 1, 0, 0], [0, 1, 1, 1], [2, 0, 1, -1]]
V = [[3, 1], [2, 0], [1, 3]]
TRACE = ac.attention(Q, K, V)


def test_a_blank_cell_voids_itself() -> None:
    """It costs the accuracy and not the method; what comes later is judged as if it were there."""
    blank = [["0.107", None, "0.787"], *WEIGHTS[1:]]
    told = TRACE.check({"weights": blank, "output": TRACE.result.round(3).tolist()})
    assert (told["weights"].verdict, told["weights"].score) == ("missing", 1)
    assert told["weights"].to_dict(reveal=False)["cells"] == [[0, 1]]
    assert told["output"].verdict == "right"


def test_a_mistake_is_named_beside_a_blank_cell() -> None:
    weights = ac.attention(*(TRACE.inputs[name].value for name in "qkv"), scale="none")["weights"].round(4).tolist()
    weights[0][0] = None
    assert TRACE.check({"weights": weights})["weights"].mistake == "att-no-scale"


@pytest.mark.parametrize(
    ("entries", "verdict", "cells"),
    [
        pytest.param({"weights[1,0]": "0.245"}, "right", [], id="right"),
        pytest.param({"weights[1,0]": 0.37}, "unexplained", [[1, 0]], id="wrong"),
        pytest.param({"weights[1,0]": "0.245", "weights[2, 1]": "0.425"}, "unexplained", [[2, 1]], id="one of two"),
    ],
)
def test_single_entries_are_answers(entries: dict[str, Any], verdict: str, cells: list[Any]) -> None:
    (step,) = TRACE.check(entries).steps
    assert (step.verdict, step.to_dict(reveal=False)["cells"]) == (verdict, cells)


def test_an_entry_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match=r'weights has no entry "\[5,0\]"'):
        TRACE.check({"weights[5,0]": 1})


def test_the_step_that_is_asked_for_is_checked_and_nothing_is_dumped(run: Run, samples: Path) -> None:
    answer = "[[1,0,0],[0,1,0],[0.25,0.5,0.25]]"
    page = run("attention", str(samples / "attention.json"), "--get", "weights", "--check", answer)
    assert page.returncode == 1
    assert "weights" in page.stdout
    assert "0.25" in page.stdout
    assert "{" not in page.stdout


EVEN = [
    ("softmax", ["0.333"] * 3, {}),
    ("softmax", ["1/3"] * 3, {}),
    ("attention", [["0.333", "0.333", "0.333"]] * 3, {}),
    ("attention", [["1", "0", "0"], ["0.500", "0.500", "0"], ["0.333", "0.333", "0.333"]], {"causal": True}),
]


@pytest.mark.parametrize(("name", "answer", "options"), EVEN)
def test_who_shares_out_evenly_is_asked_what_should_be_larger(name: str, answer: Any, options: dict[str, Any]) -> None:
    rows = [[1, 2], [0, 1], [1, 1]], [[1, 0], [3, 1], [0, 2]], [[1, 5], [2, 0], [0, 1]]
    operands = ([1, 2, 3],) if name == "softmax" else rows
    marked = getattr(ac, name)(*operands, **options).check({"weights" if options or len(operands) > 1 else "": answer})
    [step] = marked.steps
    assert (step.verdict, step.score) == (UNEXPLAINED, 0)
    assert step.hint is not None
    assert step.hint.startswith("every row is shared out evenly")


def test_who_gives_all_to_the_largest_is_asked_what_is_left() -> None:
    rows = [[1, 2], [0, 1], [1, 1]], [[1, 0], [3, 1], [0, 2]], [[1, 5], [2, 0], [0, 1]]
    trace = ac.attention(*rows)
    largest = np.eye(3, dtype=int)[np.argmax(trace["weights"], axis=-1)].tolist()
    [step] = trace.check({"weights": largest}).steps
    assert (step.verdict, step.score) == (UNEXPLAINED, 0)
    assert step.hint == "every row gives all to its largest entry: is anything left for the others?"
    [other] = trace.check({"weights": [[1, 0, 0]] * 3}).steps
    assert other.hint != step.hint


def test_what_is_shared_out_evenly_may_be_right() -> None:
    assert ac.softmax([2, 2, 2]).check(["0.333"] * 3).verdict == "right"


def test_where_few_entries_are_wrong_it_is_told_how_many() -> None:
    trace = ac.attention([[1, 2], [0, 1], [1, 1]], [[1, 0], [3, 1], [0, 2]], [[1, 5], [2, 0], [0, 1]])
    scores = [[1, 5, 4], [0, 1.25, 2], [1, 4, 2.75]]
    marked = trace.check({"scores": scores, "scaled": (np.array(scores) / 2**0.5).round(4)})
    assert marked["scores"].hint == "2 entries are wrong, all 7 others are right: work these out once more"
    assert marked["scores"].finding.wrong.cells == ((1, 1), (2, 2))
    assert marked["scaled"].verdict == "follows"
