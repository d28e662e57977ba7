"""Large runs: pages say what they say of a run that keeps every step, and what is asked for is kept."""

from __future__ import annotations

import json
import re
from typing import Any

import checkpoints
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import attncalc as ac
from attncalc.calculations import load
from attncalc.common.errors import TooLarge
from attncalc.evaluate.large import memory
from attncalc.evaluate.large.blocks import evaluate_large
from attncalc.homework.diagnosis.key import Key
from attncalc.record.trace import Given
from attncalc.render import View, render
from attncalc.solve import large as run
from attncalc.solve import problem
from attncalc.solve.problem import Backward, Problem, problem_of
from attncalc.solve.solver import solve

Array = NDArray[Any]


def numbers(*shape: int) -> Given:
    """Whole numbers, so that sums come out alike in every order."""
    return Given(np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(float))


QKV = {"q": numbers(30, 4), "k": numbers(50, 4), "v": numbers(50, 3)}
HEADS = {"q": numbers(3, 30, 4), "k": numbers(3, 50, 4), "v": numbers(3, 50, 3)}
TOKENS = {"x": numbers(30, 4)} | {name: numbers(4, 4) for name in ("wq", "wk", "wv", "wo")}
PROBLEMS = {
    "attention": Problem(load("attention"), QKV, {"causal": True}),
    "a stack of heads": Problem(load("attention"), HEADS, {"bias": "alibi"}),
    "queries without keys": Problem(load("attention"), QKV, {"padding": (0,)}),
    "multihead": Problem(load("multihead"), TOKENS, {"heads": 2}),
    "its backward pass": Problem(load("attention"), QKV, {}, Backward()),
}
every_problem = pytest.mark.parametrize("of", PROBLEMS.values(), ids=PROBLEMS)


@pytest.fixture
def as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run counts as large, and no step as small."""
    monkeypatch.setattr(problem, "LARGE", 1)
    monkeypatch.setattr(run, "SMALL", 0)


@pytest.mark.spread
@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
@every_problem
def test_a_page_shows_what_it_shows_of_a_run_that_keeps_all(
    request: pytest.FixtureRequest, of: Problem, form: str
) -> None:
    view = View(width=100, show=("**",))  # an outline tells the largest entry of what is kept
    whole = render(solve(of), form, view)
    request.getfixturevalue("as_large")
    trace = solve(of)
    assert any(step.value is None for step in trace.steps)
    found = render(trace, form, view)
    if form == "html":  # where every value is kept, entries tell how they come about
        cells = re.compile(r"<(t[dh])[^>]*>(.*?)</\1>")
        assert cells.findall(str(found)) == cells.findall(str(whole))
    else:
        assert found == whole


@pytest.mark.thorough
@every_problem
def test_the_document_says_summary_and_whole_results(request: pytest.FixtureRequest, of: Problem) -> None:
    whole = json.loads(render(solve(of), "json", View(everything=True)))
    request.getfixturevalue("as_large")
    found = json.loads(render(solve(of), "json"))
    assert_allclose(found["result"], whole["result"], atol=1e-12)
    assert found["inputs"] == whole["inputs"]
    summaries = [step for step in found["steps"] if "summary" in step]
    assert summaries
    for step in summaries:
        assert "value" not in step
        corner = step["summary"]["corner"]
        value = np.array(next(s["value"] for s in whole["steps"] if s["name"] == step["name"]), dtype=float)
        assert_allclose(
            np.array(corner, dtype=float), value[(0,) * max(value.ndim - 2, 0)][..., :4, :4][:4], atol=1e-12
        )


@pytest.mark.thorough
@every_problem
def test_what_is_asked_for_alone_is_kept(request: pytest.FixtureRequest, of: Problem) -> None:
    whole = solve(of)
    request.getfixturevalue("as_large")
    for step in whole.steps:
        alone = solve(of, asked=step.key)
        assert_allclose(alone[step.key], whole[step.key], atol=1e-12)
        assert [other.key for other in alone.steps if other.value is not None] == [step.key]
    assert_allclose(solve(of, asked="").result, whole.result, atol=1e-12)


@pytest.mark.thorough
@every_problem
def test_entries_and_their_arithmetic_are_there(request: pytest.FixtureRequest, of: Problem) -> None:
    whole = solve(of)
    request.getfixturevalue("as_large")
    trace = solve(of)
    for step in trace.steps:
        at = tuple(size // 2 for size in step.shape)
        view = View(cells=(f"{step.key}[{','.join(map(str, at))}]",))
        assert render(trace, "table", view) == render(whole, "table", view)
        assert_allclose(trace[step.key], whole[step.key], atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("asked", ["", "result", "logits", "layer 1/attention/weights", "next", "layers"])
def test_a_model_is_worked_out_once(monkeypatch: pytest.MonkeyPatch, as_large: None, asked: str) -> None:
    """What is told of a whole model, as the next tokens, was read off steps that were each worked out again."""
    monkeypatch.setattr(run, "SMALL", 2**24)
    whole, runs = checkpoints.computed("llama"), []

    def counted(*given: Any, **how: Any) -> Any:
        runs.append(given)
        return evaluate_large(*given, **how)

    monkeypatch.setattr(run, "evaluate_large", counted)
    trace = solve(problem_of(whole), asked=asked)
    assert_allclose(trace[asked or "result"], whole[asked or "result"], atol=1e-12)
    assert len(runs) == 1


def test_queries_that_see_nothing_are_told_of(as_large: None) -> None:
    (warning,) = solve(PROBLEMS["queries without keys"]).warnings
    assert warning.startswith("every key is masked for query 0, query 1, query 2, query 3, query 4 and 25 more")


def test_queries_that_mix_zeros_alone_see_something(as_large: None) -> None:
    zeros, some = np.zeros((300, 2)), np.ones((300, 2))
    inputs = {"q": Given(some), "k": Given(some), "v": Given(zeros)}
    for options in ({"causal": True}, {"window": 1}, {"padding": (3,)}):
        assert solve(Problem(load("attention"), inputs, options)).warnings == ()


FULL = {
    "every step": ({"keep_all": True}, "attention with every step kept", "the result alone"),
    "rounded steps": ({"round_to": 3}, "attention with every step kept", "the result alone"),
    "exact numbers": ({"exact": True}, "attention with every step kept", ""),
    "the weights": ({"asked": "weights"}, "attention", ""),
}


@pytest.mark.parametrize(("how", "what", "mend"), FULL.values(), ids=FULL)
def test_what_does_not_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch, as_large: None, how: dict[str, Any], what: str, mend: str
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2**23)
    rows = {name: Given(np.ones((2000 if "exact" not in how else 300, 4))) for name in "qkv"}
    with pytest.raises(TooLarge) as caught:
        solve(Problem(load("attention"), rows), **how)
    said = f"{what} needs [0-9,]+ bytes of memory, but only 8,388,608 are available"
    assert re.fullmatch(said, str(caught.value))
    assert mend in caught.value.hint


def test_marking_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch, as_large: None) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(TooLarge, match=r"^checking attention needs"):
        Key(Problem(load("attention"), {name: Given(np.ones((600, 4))) for name in "qkv"}))


def test_the_library_computes_a_step_when_it_is_asked_for(as_large: None) -> None:
    q, k, v = (given.value for given in QKV.values())
    trace = ac.attention(q, k, v)
    assert_allclose(trace["weights"].sum(axis=1), 1)
    assert_allclose(trace["weights"] @ v, trace.result)


def test_small_runs_keep_every_step() -> None:
    assert all(step.value is not None for step in solve(PROBLEMS["attention"]).steps)
