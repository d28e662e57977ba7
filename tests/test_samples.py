"""The samples: one for every calculation, each can be worked out, and the worked examples come out as they should."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from rows import rows

from attncalc.calculations import TABLE, load
from attncalc.common.errors import AttncalcError
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


WITHOUT_EFFECT = {
    "attention kv_heads": "there is one head, as it says",
    "conv dilation": "the input is too small for another",
    "decoder-block causal_align": "a token sees itself and those before it, from wherever one counts",
    "decoder-only causal_align": "as above",
    "transformer causal_align": "as above",
    "decoder-block norm_offset": "its norms have no gain that it could be added to",
    "encoder-block norm_offset": "as above",
    "decoder-only rope_dims": "two entries are all",
    "decoder-only rope_layout": "two entries are one pair in either",
    "decoder-only rope_base": "one pair turns by 1, whatever the base",
    "latent-attention rope_dims": "as above",
    "latent-attention rope_layout": "as above",
    "latent-attention rope_base": "as above",
    **dict.fromkeys(
        (f"{name} kv_heads" for name in ("encoder-block", "decoder-block", "multihead", "transformer")),
        "any other number does not fit",
    ),
    "transformer heads": "any other number does not fit",
}
"""Options that change nothing in a sample when they are the only ones given, and why."""


def told(trace: Trace) -> tuple[Any, ...]:
    """What a trace says, but for its reasons, which may name an option."""
    return trace.notes, [step._replace(why="") for step in (*trace.steps, *trace.outputs)]


@pytest.mark.thorough
@pytest.mark.spread(8)
@pytest.mark.parametrize("name", [name for name in TABLE if name != "model"])
def test_an_option_changes_something_or_tells_that_it_does_not(name: str) -> None:
    """`--causal-align end` without `--causal` was as good as none, without a word."""
    problem = posed(name)
    plain, usual = solve(problem), problem.settled
    for option in problem.calculation.options:
        numbers = (1, 2, 3) if int in option.types else (0.3, 2.0) if float in option.types else ()
        each = [not usual[option.name]] if bool in option.types else [*(option.choices or numbers)]
        silent = []
        for value in each if not option.many else ():
            with suppress(AttncalcError):
                found = solve(problem._replace(options=dict(problem.options) | {option.name: value}))
                silent += [told(found) == told(plain)] if value != usual[option.name] else []
        assert not silent or not all(silent) or f"{name} {option.name}" in WITHOUT_EFFECT, option.name


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
