"""Practice: what a script that answers rightly, wrongly, oddly or not at all is told, step after step."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from rows import rows

import attncalc as ac
from attncalc.calculations import TABLE, load
from attncalc.cli import app
from attncalc.common.numerals import Array
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.practice.posed import AIDED, OPEN, SHOWN, UNAIDED, Posed, Task
from attncalc.homework.practice.session import Session
from attncalc.homework.quiz.search import quiz
from attncalc.homework.quiz.templates import Wanted
from attncalc.homework.quiz.worksheets import DECIMALS
from attncalc.homework.reading.asked import asked
from attncalc.record.numbers import encode
from attncalc.record.verdicts import Policy
from attncalc.render import View
from attncalc.render.page import Page, write
from attncalc.solve.problem import Problem

CAME_OUT = 1e-9
APART = 5e-3
"""By so much an entry must differ for a mistake to be seen."""
NAMES = [
    *(name for name in TABLE if not load(name).exercise.refused),
    "grad softmax",
    "grad attention",
]


@cache
def drawn(name: str, seed: int, size: int | None = None) -> Problem:
    return quiz(name, seed, Wanted(sizes={"n": size, "m": size} if size else {})).problem


def session(name: str, size: int | None = None) -> Session:
    return Session(lambda number, mistake: Posed(drawn(name, 1 + number, size)))


def answer(task: Task) -> str:
    assert task.step.value is not None
    value = task.step.value.astype(float) if task.step.value.dtype.kind == "b" else task.step.value
    return json.dumps(encode(value))


def said(at: Session, line: str) -> str:
    return " ".join(str(write(Page("practice", tuple(at.hear(line))), "table", View(width=40))).split())


@pytest.mark.thorough
@pytest.mark.spread
@rows("name", NAMES, by=lambda name: name)
def test_right_answers_solve_it(name: str) -> None:
    at = session(name)
    assert at.begin()
    for task in at.posed.tasks:
        assert not at.solved
        told = said(at, answer(task))
        assert task.state == UNAIDED, (task.name, told)
    assert at.solved
    assert not at.ended


@pytest.mark.thorough
@pytest.mark.spread
@rows("name", NAMES, by=lambda name: name)
def test_nothing_is_given_away_and_hints_end_in_the_step(name: str) -> None:
    """What is unknown is shown by the last hint alone, whose step then counts as shown; and all fits 40 columns."""
    at = session(name)
    lines = str(write(Page("practice", tuple(at.begin())), "table", View(width=40))).splitlines()
    assert not [line for line in lines if len(line) > 40 and "│" not in line and " " in line.strip()]
    for task in at.posed.tasks:
        assert task.step.value is not None
        for _ in range(at.posed.left(task)):
            said(at, "hint")
            assert task.state == OPEN
        assert "This step" in said(at, "h")
        assert task.state == SHOWN
        said(at, "next")
    assert not at.solved


@pytest.mark.release
def test_a_session_of_three_without_help_ends_by_itself() -> None:
    at = session("softmax")
    for _ in range(3):
        at.begin()
        for task in at.posed.tasks:
            told = said(at, answer(task))
            assert at.ended or "next" in told
        if not at.ended:
            said(at, "next")
    assert at.ended
    assert at.solved
    assert at.number == 2


@pytest.mark.release
def test_examples_fade_from_the_end() -> None:
    at = Session(lambda number, mistake: Posed(drawn("softmax", 1 + number)), fade=True)
    count = len(at.posed.tasks)
    for number in range(count + 1):
        at.begin()
        asked = [task for task in at.posed.tasks if task.state == OPEN]
        assert asked == at.posed.tasks[count - number :]
        for task in asked:
            said(at, answer(task))
            assert task.state == UNAIDED
        assert at.solved == bool(number)
        assert not at.ended
        said(at, "next")


@pytest.mark.thorough
def test_help_begins_the_row_anew_and_comes_back() -> None:
    at = session("softmax")
    said(at, "why")
    for task in at.posed.tasks:
        said(at, answer(task))
    assert at.posed.tasks[0].state == AIDED
    assert at.solved
    assert at.unaided == 0
    assert at.posed.tasks[0].step.why[:20].casefold() in " ".join(said(at, "next").split()).casefold()


def as_written(entry: float) -> str:
    """A number as it is asked for: with decimals where it does not come out sooner."""
    return f"{entry:.0f}" if abs(entry - round(entry)) < CAME_OUT else f"{entry:.{DECIMALS}f}"


def rounded(value: Array) -> Array:
    return np.round(value.astype(float), DECIMALS)


@pytest.mark.thorough
@pytest.mark.spread(16)
@pytest.mark.parametrize("name", NAMES)
def test_every_known_mistake_is_asked_about(name: str) -> None:
    """Whoever makes one is asked the question that goes with it, or with one that gives the same numbers.

    A single small number may be anybody's: there the question is asked all the same, as it costs nothing.
    """
    at = session(name)
    key, off = at.posed.key, []
    known = [(rule, found) for rule in key.known if rule.kind != "alternative" and (found := key.solutions.by(rule))]
    for rule, wrong in known:
        for task in at.posed.tasks:
            task.answer = task.finding = task.part = None
        for i, task in enumerate(at.posed.tasks):
            step, right = key.names.find(task.name), task.step.value
            assert right is not None
            value = key.value(step, wrong)
            if value is None or value.dtype.kind not in "fiu" or not np.isfinite(value).all():
                break  # nobody writes that down
            if value.shape == right.shape and np.abs(value - right).max() < APART:
                continue
            at.at = i
            told = said(at, json.dumps(np.vectorize(as_written)(value).tolist()).replace('"', ""))
            if task.is_done:
                continue  # by another rule it is right, and the mistake shows later
            others = [(other, key.value(step, found)) for other, found in known]
            alike = [o for o, v in others if v is not None and np.array_equal(rounded(v), rounded(value))]
            assert "Not right yet" in told
            if not any(" ".join(other.hint.split()) in told for other in alike):
                off.append((rule.id, task.name, told))
            break
    assert not off, "\n".join(map(str, off))


def of_entries(*ask: str) -> Session:
    """What is asked for are entries of a problem's weights, of which there are four."""
    problem = Key(ac.attention([[1, 0], [0, 2]], [[1, 1], [0, 1]], [[1, 2], [0, 3]]).problem)
    return Session(lambda number, mistake: Posed(problem.problem, asked(ask, (), problem.names)))


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        pytest.param(["weights[0,1]"], "Only weights[0,1] is asked for.", id="one"),
        pytest.param(
            ["weights[0,1]", "weights[1,0]", "weights[1,1]"],
            "Only weights[0,1], weights[1,0] and weights[1,1] are asked for.",
            id="several",
        ),
        pytest.param([f"weights[{i},{j}]" for i in (0, 1) for j in (0, 1)], "", id="each"),
        pytest.param(["weights"], "", id="the step"),
    ],
)
def test_the_entries_that_are_asked_for_are_told(ask: list[str], told: str) -> None:
    begun = " ".join(str(write(Page("practice", tuple(of_entries(*ask).begin())), "plain", View())).split())
    assert (told in begun) if told else "Only weights" not in begun


@pytest.mark.parametrize(
    ("ask", "line", "told"),
    [
        pytest.param(["weights[0,1]"], "? 0.3302; ? ?", "Right.", id="the entry"),
        pytest.param(["weights[0,1]"], "? 0.5; ? ?", "Not right yet. Look at weights[0,1].", id="a wrong one"),
        pytest.param(["weights[0,1]"], "0.6698 ?; ? ?", "not answered", id="another one"),
        pytest.param(["weights[0,1]", "weights[1,1]"], "? 0.3302; ? ?", "1 entry is not answered", id="one of two"),
        pytest.param(["weights[0,1]", "weights[1,1]"], "? 0.3302; ? 0.5", "Right.", id="both"),
        pytest.param(["weights[0,1]"], "0.6698 0.3302; 0.5 0.5", "Right.", id="all there are"),
        pytest.param(["weights[0,1]"], "0.3302", "Right.", id="the entry alone"),
        pytest.param(["weights[0,1]", "weights[1,1]"], "0.3302 0.5", "Right.", id="both alone"),
        pytest.param(["weights[0,1]"], "0.5", "Not right yet. Look at weights[0,1].", id="a wrong one alone"),
    ],
)
def test_an_answer_may_hold_the_entries_alone_that_are_asked_for(ask: list[str], line: str, told: str) -> None:
    at = of_entries(*ask)
    at.begin()
    assert told in said(at, line)
    assert at.posed.tasks[0].is_done == (told == "Right.")


@pytest.mark.parametrize("ask", ["weights[0,0]", "weights[0,1]", "weights[1,0]", "weights[1,1]"])
def test_another_entry_is_none_that_is_asked_for(ask: str) -> None:
    """Before an answer, and after one that is wrong."""
    for answered in ((), ("0.9 0.9; 0.9 0.9",)):
        at = of_entries(ask)
        at.begin()
        for line in answered:
            assert "Not right" in said(at, line)
        hints = [said(at, "hint") for _ in range(3)]
        assert "Another entry: weights" in hints[-1]
        assert ask not in "".join(hints)


@pytest.mark.thorough
def test_own_wrong_values_are_followed_and_mended() -> None:
    at = session("attention")
    scores, scaled, *_ = at.posed.tasks
    assert scores.step.value is not None
    own = scores.step.value + np.arange(9).reshape(3, 3)
    assert "Not right" in said(at, json.dumps(own.tolist()))
    said(at, "next")
    assert "follows from your own" in said(at, json.dumps((own / 2).tolist()))
    assert "to do" in said(at, "list")
    said(at, "back")
    assert "Right" in said(at, answer(scores))
    assert scaled.state == OPEN


@pytest.mark.thorough
def test_words_and_what_cannot_be_read_are_no_attempts() -> None:
    at = session("attention")
    assert said(at, "help").startswith("An answer is what an operand takes")
    task = at.posed.tasks[0]
    for line in ("1 2;", "abc", "-", "@no-such-file.json", '{"nothing": 1}', "[1, [2]]", ""):
        assert not line or "counts for nothing" in said(at, line), line
        assert not task.tries
        assert task.state == OPEN
    for word in ("skip", "s", "back", "b", "list", "l", "n", "next", "back"):
        said(at, word)
    assert at.at == 1
    for turn in range(3):
        assert ("came before" in said(at, "[[1,2,9],[3,4,9],[9,9,8]]")) == (turn == 2)


@pytest.mark.thorough
def test_large_steps_go_by_rows_and_cells() -> None:
    at = session("attention", 5)
    task = next(task for task in at.posed.tasks if task.in_parts)
    assert task.step.value is not None
    first, second, *rest = task.step.value.tolist()
    assert "[1,0] is next" in said(at, json.dumps(first))
    assert "[2,0] is next" in [said(at, json.dumps(entry)) for entry in second][-1]
    assert "Not right" in said(at, json.dumps([entry + 1 for entry in rest[0]]))
    for row in rest:
        said(at, json.dumps(row))
    assert task.state == UNAIDED


@pytest.mark.release
def test_the_command_in_a_pipe(run: Run) -> None:
    done = run("practice")
    assert "attention" in done.stdout
    assert done.returncode == 0
    done = run("practice", "attention", "--seed", "1", input="why\nquit\n")
    assert done.returncode == 1
    assert "Step 1 of 4" in done.stdout
    at = session("attention")
    lines = [answer(task) for task in at.posed.tasks]
    assert run("practice", "attention", "--seed", "1", input="\nnext\n".join(lines)).returncode == 0
    assert run("practice", "attention", "--seed", "1", input="\n".join(lines)).returncode == 0
    assert run("practice", "attention", "--seed", "1", input=lines[0]).returncode == 1
    assert run("practice", "nothing-such").returncode == 2


@pytest.mark.thorough
def test_decimal_commas_are_written_and_read(run: Run, tmp_path: Path) -> None:
    words = ("practice", "softmax", "--seed", "1", "--print-decimal", ",", "--save", "kept.jsonl", "--no-why")
    done = run(*words, input="0,5 0 1,5\nnext\nhint\nhint\nhint\n", cwd=tmp_path)
    assert "Right. next goes on." in done.stdout
    assert "max(0,5; 0; 1,5) = -1,5" in done.stdout
    assert re.findall(r"\d\.\d", done.stdout) == []
    again = run(*words, input="list\n", cwd=tmp_path)
    assert "unaided" in again.stdout.split("1. scaled")[1].split("2. ")[0]


@pytest.mark.thorough
def test_what_is_saved_goes_on(run: Run, tmp_path: Path) -> None:
    at = session("softmax")
    lines = [answer(task) for task in at.posed.tasks]
    words = ("practice", "softmax", "--seed", "1", "--save", "p.jsonl")
    (tmp_path / "a.json").write_text(lines[1])
    first = run(*words, input=f"hint\n{lines[0]}\n@a.json\nquit\n")
    assert first.returncode == 1, first.stderr
    (tmp_path / "a.json").unlink()
    with (tmp_path / "p.jsonl").open("a") as file:
        file.write('{"said": "1 2')  # the power failed
    second = run("practice", "softmax", "--save", "p.jsonl", input="\n".join(["list", *lines[2:]]))
    assert "goes on" in second.stdout
    assert " ".join(second.stdout.split()).count("to do") == len(lines) - 2
    assert "aided" in second.stdout
    assert second.returncode == 0, second.stdout
    third = run("practice", "softmax", "--save", "p.jsonl", input="list\n")
    assert "to do" not in third.stdout
    assert third.returncode == 0
    for other in ('{"a": 1}', "[" * 9999):
        (tmp_path / "own.json").write_text(other)
        assert run(*words[:-1], "own.json").returncode == 2
        assert (tmp_path / "own.json").read_text() == other


@pytest.mark.thorough
def test_ones_own_problem_comes_back_with_other_numbers_of_its_sizes(run: Run, tmp_path: Path) -> None:
    inputs = {"q": [[0, 2], [1, 1]], "k": [[0, 1], [2, 0]], "v": [[0, 1], [1, -1]]}
    mine = {"calculation": "attention", "inputs": inputs, "ask": ["weights", "output"], "shown": ["scores"]}
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    words = "0.8044 0.1956; 0.3302 0.6698\n0.1956 0.6089; 0.6698 -0.3395\nnext\n"
    done = run("practice", "mine.json", input=words)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Step 1 of 2: weights, n=2 × m=2") == 2
    assert run("practice", "mine.json", "--level", "hard").returncode == 2


def test_now_and_then_it_is_asked_why_and_a_number_that_is_no_reply_is_an_answer() -> None:
    at = session("attention")
    at.begin()
    told = [said(at, answer(task)) for task in at.posed.tasks[:3]][-1]
    reason = at.posed.tasks[2].step.why
    assert f"why there is a step {at.posed.tasks[2].name}?" in told
    assert at.question is not None
    assert at.question.reasons[at.question.right - 1] == reason
    others = {step.why for step in at.posed.trace.steps} - {reason}
    assert len(set(at.question.reasons) - {reason}) == 2
    assert set(at.question.reasons) - {reason} <= others
    right = at.question.right
    assert said(at, str(right)) == "Yes, that is why."
    assert "cannot be read" not in said(at, answer(at.posed.tasks[3]))
    assert at.solved


@pytest.mark.parametrize("off", [1, 2])
def test_a_wrong_reason_is_told_and_costs_nothing(off: int) -> None:
    at = session("attention")
    for task in at.posed.tasks[:3]:
        said(at, answer(task))
    assert at.question is not None
    told = said(at, str((at.question.right - 1 + off) % 3 + 1))
    assert "It is" in told
    assert at.posed.tasks[2].step.why in told
    assert at.posed.tasks[2].state == UNAIDED


@pytest.mark.thorough
def test_nobody_is_asked_who_does_not_want_to_be() -> None:
    at = Session(lambda number, mistake: Posed(drawn("attention", 1 + number)), whys=False)
    assert not any("why there" in said(at, answer(task)) for task in at.posed.tasks)


@pytest.mark.thorough
def test_the_largest_entry_is_foreseen_by_indices_or_labels() -> None:
    at = Session(lambda number, mistake: Posed(drawn("attention", 1 + number)), predict=True)
    task = at.posed.tasks[2]
    at.at = 2
    assert task.step.value is not None
    i, j = np.unravel_index(task.step.value.argmax(), task.step.shape)
    where = f"{task.name}[{i},{j}]"
    labels = ",".join(task.step.labels[axis][k] for axis, k in zip(task.step.axes, (i, j), strict=True))
    for word in (f"[{i},{j}]", f"{i}, {j}", labels):
        assert said(at, word) == "Work it out, and see."
    assert f"The largest is {where}, as you said." in said(at, answer(task))
    task = at.posed.tasks[3]
    said(at, "next")
    assert said(at, "9,9") != "Work it out, and see."  # no place of the step: it is an answer, of the wrong shape


# What answers earn


def by(policy: Policy) -> Session:
    return Session(lambda number, mistake: Posed(drawn("dot", 1 + number), policy=policy), whys=False)


@pytest.mark.thorough
def test_after_the_last_attempt_the_step_is_shown() -> None:
    at = by(Policy(attempts=2))
    task = at.posed.tasks[0]
    assert "1 attempt is left." in said(at, "7 7 7")
    assert said(at, "what is that") != said(at, "8 8 8")  # what cannot be read is no attempt
    assert task.state == SHOWN
    said(at, "next")
    assert "It earns 2 of 4." in said(at, answer(at.posed.tasks[1]))


@pytest.mark.parametrize(
    ("policy", "marks"),
    [
        (Policy(hint_cost=0.25), (3.5, 4)),
        (Policy(hint_cost=0.25, marks="0+1"), (1.75, 2)),
        (Policy(hint_cost=2), (2, 4)),
        (Policy(hint_cost=0.5, points={"dot": 3}), (7, 8)),
    ],
)
def test_a_hint_costs_its_share_of_a_step(policy: Policy, marks: tuple[float, float]) -> None:
    at = by(policy)
    said(at, "hint")
    for task in at.posed.tasks:
        said(at, answer(task))
    assert at.posed.marks == marks


def test_what_follows_earns_what_the_policy_says() -> None:
    found = []
    for follow in ("method", "full", "none"):
        at = by(Policy(follow=follow))
        first, second = at.posed.tasks
        assert first.step.value is not None
        own = first.step.value + np.array([1, 0, 0])
        said(at, json.dumps(own.tolist()))
        said(at, "next")
        said(at, str(own.sum()))
        assert second.finding is not None
        found.append((second.finding.verdict, at.posed.marks))
    assert found == [("follows", (2, 4)), ("follows", (3, 4)), ("follows", (1, 4))]


SAID = {  # as options, and as a policy's file says it
    "marks": ("--marks 0+1", 'marks = "0+1"'),
    "cells": ("--cells each", 'cells = "each"'),
    "follow": ("--follow none", 'follow = "none"'),
    "points": ("--points dot=3,products=0", "points = {dot = 3, products = 0}"),
    "rtol": ("--rtol 0.02", "tolerance = {rtol = 0.02}"),
    "atol": ("--atol 0.5", "tolerance = {atol = 0.5}"),
    "attempts": ("--attempts 1", "attempts = 1"),
    "hint_cost": ("--hint-cost 0.5", "hint_cost = 0.5"),
}


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_what_a_policy_says_is_an_option_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    options, held = SAID[name]
    (tmp_path / "by.toml").write_text(held, encoding="utf-8")
    found: list[Policy] = []

    def session_by(*given: Any) -> Session:
        found.append(given[4])
        return by(given[4])

    monkeypatch.setattr("attncalc.cli.practice._session", session_by)
    monkeypatch.setattr("sys.stdin", None)
    for words in (options.split(), ["--policy", str(tmp_path / "by.toml")]):
        assert app(["practice", "dot", *words], standalone_mode=False) == 1
    assert found[0] == found[1] != Policy()


@pytest.mark.release
def test_practice_takes_options_of_the_calculation_and_of_the_policy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "by.toml").write_text('attempts = 1\nmarks = "0+1"\n', encoding="utf-8")
    words = (
        "practice",
        "attention",
        "--causal",
        "--seed",
        "1",
        "--ask",
        "output",
        "--policy",
        "by.toml",
        "--save",
        "s",
    )
    done = run(*words, input="1 2; 3 4; 5 6\n")
    assert done.stdout.count("with causal = true") == 1
    assert "Step 1 of 1: output" in done.stdout
    assert "That was the last attempt." in done.stdout
    assert "This goes on from where it was left." in run(*words, input="quit\n").stdout
    assert "This goes on" not in run(*words, "--attempts", "3", input="quit\n").stdout
    assert "with scale = 2" in run("practice", "attention", "--set", "scale=2", "--seed", "1", input="quit\n").stdout
    faults = {
        ("dot", "--hint-cost", "-1"): "--hint-cost takes numbers from 0 on",
        ("dot", "--policy", "no.toml"): "there is no file no.toml",
        ("dot", "--ask", "dott"): 'dot has no step "dott"',
        ("dot", "--causal"): "attncalc practice has no option --causal",
        ("dot", "--n", "4"): "attncalc practice has no option --n\nhint: sizes are said together: --size n=4",
        ("--d-k=2", "grad", "attention"): "--size d_k=2",
    }
    for wrong, told in faults.items():
        refused = run("practice", *wrong, input="")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert told in refused.stderr
