"""No output takes the place of an input, however that came in; no verdict's repr gives an answer away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attncalc.calculations import TABLE
from attncalc.common.errors import AttncalcError
from attncalc.inputs.problem_files import sample_problem
from attncalc.record.numbers import shortest
from attncalc.solve.solver import solve

PROBLEM = {"calculation": "softmax", "inputs": {"x": [1, 2]}, "result": [0.25, 0.75]}
CALLS = {
    "an operand": ["softmax", "-", "-o", "p.json"],
    "a part of one": ["softmax", "-#result", "-o", "p.json"],
    "a document": ["run", "-", "-o", "p.json"],
    "an answer": ["softmax", "1,2", "--check", "-", "-o", "p.json"],
    "an answer to check": ["check", "-", "q.json", "-o", "p.json"],
    "a problem to check against": ["check", "1,2", "-", "-o", "p.json"],
    "a list of sheets": ["grade", "q.json", "-", "--report", "json", "-o", "p.json"],
    "a picture of it": ["softmax", "-", "-f", "json", "-o", "./p.json"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("words", CALLS.values(), ids=CALLS)
def test_a_file_on_standard_input_is_not_written_over(words: list[str], tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    for name in ("q.json", "r.json"):
        (tmp_path / name).write_text(json.dumps(PROBLEM))
    file.write_text(text := "r.json\n" if words[0] == "grade" else json.dumps(PROBLEM))
    with file.open() as piped:
        done = subprocess.run(
            [sys.executable, "-m", "attncalc", *words],
            check=False,
            stdin=piped,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    assert file.read_text() == text
    assert (done.returncode, done.stdout) == (2, "")
    assert "p.json" in done.stderr


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", TABLE)
def test_the_repr_of_a_verdict_gives_no_answer_away(name: str) -> None:
    try:
        problem = sample_problem(name)
    except AttncalcError:
        pytest.skip("it has no sample of its name")
    result = solve(problem).result
    if result.dtype.kind != "f":
        pytest.skip("its result is no table of numbers")
    marked = solve(problem).check(np.round(result, 3) + 0.017)
    answers = {text for each in result.flat if len(text := shortest(each)) > 8}
    assert not [text for text in answers if text in repr(marked) + repr(marked.steps)]


@pytest.mark.thorough
def test_a_start_is_a_word_or_an_id() -> None:
    problem = sample_problem("transformer")
    options = {**problem.options, "start": "1"}
    by_number = solve(problem._replace(options={**problem.options, "start": 1})).result
    assert (solve(problem._replace(options=options)).result == by_number).all()
