"""The samples: one for every calculation, each can be worked out, and the worked examples come out as they should."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike
from rows import rows

from attncalc.calculations import TABLE, load
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.record.trace import Trace
from attncalc.render import View, render
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import solve

SAMPLES = Path(__file__).parents[1] / "samples"
PROBLEMS = sorted(path.stem for path in SAMPLES.glob("*.json") if "calculation" in json.loads(path.read_text("utf-8")))


def posed(name: str) -> Problem:
    """The problem of a sample, which may be a backward pass."""
    reading = Reading()
    document = load_document(str(SAMPLES / f"{name}.json"), reading)
    assert not [note for note in reading.notes if "passed over" in note]
    calculation = document.calculation.removeprefix("grad ")
    backward = None if calculation == document.calculation else Backward()
    return Problem(load(calculation), document.inputs, document.options, backward)


def work_out(name: str) -> Trace:
    return solve(posed(name))


@rows("name", TABLE)
def test_every_calculation_has_one(name: str) -> None:
    document = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    assert document["calculation"] == name


@pytest.mark.thorough
@rows("name", PROBLEMS)
def test_each_can_be_worked_out(name: str) -> None:
    assert work_out(name).steps


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "transformer"])
def test_each_has_a_page_whose_entries_tell_what_they_were_made_from(name: str) -> None:
    """A vector that is worked out as a matrix of one row too: the output has an axis less than its step."""
    assert " data-how=" in str(render(work_out(name), "html", View()))


@pytest.mark.spread
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_saved_of_each_is_right(name: str, tmp_path: Path) -> None:
    trace, sheet = solve(posed(name), keep_all=True), tmp_path / "sheet.csv"
    sheet.write_text(str(render(trace, "csv", View(everything=True))), encoding="utf-8")
    marked = trace.check(sheet)
    assert {step.name: step.verdict for step in marked.steps if step.verdict != "right"} == {}
    assert {output.name for output in trace.outputs} <= {step.name for step in marked.steps}


def test_each_has_its_line() -> None:
    said = set(re.findall(r"^- `([^`]+)`", (SAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert said == {path.name for path in SAMPLES.iterdir()} - {"README.md"}


# Worked by hand, to the decimals that are written here.
EXAMPLES = [
    ("dot", "dot", 32),
    ("outer", "outer", [[4, 5, 6], [8, 10, 12], [12, 15, 18]]),
    ("norm", "norm", 7),
    ("cosine", "dot", 0.64),
    ("cosine", "norm_a", 0.8307),
    ("cosine", "norm_b", 0.7874),
    ("cosine", "cosine", 0.9785),
    ("euclidean", "distance", 0.1732),
    ("manhattan", "distance", 7),
    ("chebyshev", "distance", 4),
    ("minkowski", "distance", 6),
    ("project", "projection", [4, 2]),
    ("project", "residual", [-1, 2]),
    ("matmul", "product", [[8, 4, 4], [2, 9, 6], [7, 5, 1]]),
    ("attention-two-tokens", "scores", [[1, 2], [1, 1]]),
    ("attention-two-tokens", "weights", [[0.3595, 0.6405], [0.5, 0.5]]),
    ("attention-two-tokens", "output", [[1.3595, 0.6405, 0.3595], [1.5, 0.5, 0.5]]),
    ("attention-two-tokens-backward", "grad_v", [[0.3595, 0.5, 0.3595], [0.6405, 0.5, 0.6405]]),
    ("attention-two-tokens-backward", "grad_weights", [[3, 1], [0, 1]]),
    ("attention-two-tokens-backward", "grad_scaled", [[0.4605, -0.4605], [-0.25, 0.25]]),
    ("attention-two-tokens-backward", "grad_q", [[0, 0.2659, -0.2659], [0, -0.1443, 0.1443]]),
    ("attention-two-tokens-backward", "grad_k", [[0.2659, -0.1443, 0.1216], [-0.2659, 0.1443, -0.1216]]),
    (
        "attention-three-tokens",
        "weights",
        [[0.4011, 0.1978, 0.4011], [0.1978, 0.4011, 0.4011], [0.2483, 0.2483, 0.5035]],
    ),
    ("attention-three-tokens", "output", [[3, 4], [3.4067, 4.4067], [3.5105, 4.5105]]),
    ("attention-causal", "output", [[1, 2], [2.3395, 3.3395], [3.5105, 4.5105]]),
    ("flash", "output", [[3, 4], [3.4067, 4.4067], [3.5105, 4.5105]]),
    ("qkv", "q", [[1, 1, 2, 2], [0, 1, 1, 0], [2, 2, 0, 3]]),
    ("qkv", "k", [[1, 1, 3, 0], [1, 0, 1, 1], [2, 2, 1, 1]]),
    ("qkv", "v", [[1, 1, 2, 2], [0, 2, 0, 1], [2, 3, 3, 0]]),
    ("attention-unscaled", "scores", [[8, 5, 8], [4, 1, 3], [4, 5, 11]]),
]


@rows(("name", "step", "expected"), EXAMPLES, ids=[f"{name} {step}" for name, step, _ in EXAMPLES])
def test_the_worked_examples(name: str, step: str, expected: ArrayLike) -> None:
    value = work_out(name)[step]
    assert value.shape == np.shape(expected)
    np.testing.assert_allclose(value, np.asarray(expected), rtol=0, atol=0.5e-4)


def test_king_less_man_plus_woman_is_nearest_to_queen() -> None:
    ranking = work_out("analogy").find("ranking")
    assert ranking.value is not None
    assert ranking.names[ranking.value[0]] == "queen"
