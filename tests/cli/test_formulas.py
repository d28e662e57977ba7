"""Formulas on the command line: signs in front, points by name, errors in one line."""

from __future__ import annotations

import pytest
from conftest import Run


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "result"),
    [
        (("derivative", "x**2", "--at", "3"), "6"),
        (("derivative", "-x**2", "--at", "x=3"), "-6"),
        (("derivative", "-(x + 1)*2", "--at", "x=3"), "-2"),
        (("derivative", "--at", "-3", "x**2"), "-6"),
        (("derivative", "--at=-1/4", "--", "-x"), "-1"),
        (("gradient", "x**2*y", "--at", "x=3,y=-1"), "-6 9"),
        (("gradient", "x**2*y", "--at", "y=-1, x=3"), "9 -6"),
        (("descend", "x^2", "--start", "3", "--steps", "1"), "2.4"),
        (("schedule", "--at", "4000"), "0.0006987712429686843"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_calculates(run: Run, words: tuple[str, ...], result: str) -> None:
    done = run(words[0], "-q", "-f", "plain", *words[1:])
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{result}\n")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("derivative", "2x", "--at", "3"), 'Error: "2x", character 2: a sign is missing here\nhint: write 2*x'),
        (("derivative", "9**9**9**9", "--at", "3"), "powers end at 1000"),
        (("derivative", "__import__('os')", "--at", "3"), "character 1"),
        (("derivative", "x\x1b[2J", "--at", "3"), r'character 2: "\x1b"'),
        (("gradient", "x*y", "--at", "x=3"), "--at lacks y"),
        (("descend", "x**2"), "--start must be given"),
        (("descend", "ln(x)", "--start", "-1"), "not finite where the descent starts"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else value[:20],
)
def test_refuses_in_one_line(run: Run, words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") <= 2


def test_a_divergence_is_a_warning(run: Run) -> None:
    done = run("descend", "x**2", "--start", "3", "--lr", "1.1", "--steps", "5000", "-q")
    assert done.returncode == 0
    assert "warning: stopped at iteration" in done.stderr


def test_a_saved_result_runs_again(run: Run) -> None:
    saved = run("descend", "x**2 + y", "--start", "x=1/3,y=2", "--optimizer", "adam", "-f", "json", "-o", "d.json")
    assert saved.returncode == 0
    first, again = (run(*words, "-q", "-f", "json") for words in (("run", "d.json"), ("descend", "d.json")))
    assert first.returncode == again.returncode == 0
    assert first.stdout == again.stdout
