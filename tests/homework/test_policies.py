"""What answers earn is a policy: by each, marks are those that a hand finds; and a class is marked again by another."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

import attncalc as ac
from attncalc.common.errors import OptionError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.sheets import from_tree
from attncalc.homework.reports.class_reports import REPORTS
from attncalc.record.verdicts import CELLS, FOLLOWING, MARKS, VERDICTS, Policy, earned

TODAY = {"follows": 1, "slip": 1, "mistake": 0, "unexplained": 0, "missing": 0}
"""Of two marks, by what the specification says; whatever is right earns both."""
Q, K, V = [[0, 2], [1, 1]], [[0, 1], [2, 0]], [[0, 1], [1, -1]]
KEY = Key(ac.attention(Q, K, V).problem)
RIGHT = {"weights": [[0.8044, 0.1956], [0.3302, 0.6698]], "output": [[0.1956, 0.6089], [0.6698, -0.3395]]}
UNSCALED = {"weights": [[0.8808, 0.1192], [0.2689, 0.7311]], "output": [[0.1192, 0.7616], [0.7311, -0.4621]]}
SHEETS: dict[str, Any] = {
    "right": RIGHT,
    "mistaken": UNSCALED,
    "one sign": {**RIGHT, "output": [[0.1956, 0.6089], [0.6698, 0.3395]]},
    "two of four": {**RIGHT, "output": [[0.1956, 0.6089], [0.5123, -0.2717]]},
    "a blank": {**RIGHT, "output": [[0.1956, None], [0.6698, -0.3395]]},
    "nothing": {"weights": [[None] * 2] * 2, "output": [[None] * 2] * 2},
    "filled": {**RIGHT, "output": [[0.1956, 0.1956], [0.1956, 0.1956]]},
    "one row follows": {
        "weights": [[0.8044, 0.1956], [0.4, 0.6]],
        "output": [[0.1956, 0.6089], [0.6, -0.2]],
    },
    "it follows, but for a blank": {
        "weights": [[0.8044, 0.1956], [0.4, 0.6]],
        "output": [[0.1956, 0.6089], [0.6, None]],
    },
}
BLANKS = {"a blank": 1, "it follows, but for a blank": 1}
BY_HAND = {  # verdict and right entries of the first step and of the second
    "right": (("right", 4), ("right", 4)),
    "mistaken": (("mistake", 0), ("follows", 0)),
    "one sign": (("right", 4), ("slip", 3)),
    "two of four": (("right", 4), ("unexplained", 2)),
    "a blank": (("right", 4), ("missing", 3)),
    "nothing": (("missing", 0), ("missing", 0)),
    "filled": (("right", 4), ("unexplained", 0)),
    "one row follows": (("slip", 2), ("follows", 2)),
    "it follows, but for a blank": (("slip", 2), ("follows", 2)),
}
POLICIES = [Policy(*names) for names in product(MARKS, CELLS, FOLLOWING)]


def by_hand(verdict: str, right: int, policy: Policy, blank: int = 0) -> Fraction:
    """The marks of a step of four entries, of which so many are right, and so many are left blank."""
    method, accuracy = {"1+1": (1, 1), "0+1": (0, 1)}[policy.marks]
    if verdict == "right":
        return Fraction(method + accuracy)
    if verdict == "follows" and policy.follow == "full":  # what is blank follows from nothing
        right = 4 - blank
        return method + accuracy * (Fraction(right, 4) if policy.cells == "each" else Fraction(blank == 0))
    share = Fraction(right, 4) if policy.cells == "each" else 0
    keeps = (
        verdict == "slip" or (verdict == "missing" and right) or (verdict == "follows" and policy.follow == "method")
    )
    return Fraction(method * bool(keeps)) + accuracy * share


@pytest.mark.spread(3)
@pytest.mark.parametrize("narrow", [{}, {"rtol": 1e-9}, {"atol": 0}, {"rtol": 1e-6, "atol": 1e-8}], ids=str)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_marks_are_those_that_a_hand_finds(policy: Policy, narrow: dict[str, float]) -> None:
    """A tolerance narrower than the digits that were written asks for no more of them."""
    policy = Policy(policy.marks, policy.cells, policy.follow, points={"output": 3}, **narrow)
    marker = Marker(KEY, policy=policy)
    for name, steps in SHEETS.items():
        marked = marker.mark(from_tree({"steps": steps}, name))
        assert tuple(step.verdict for step in marked.steps) == tuple(verdict for verdict, _ in BY_HAND[name]), name
        (first, second), blank = BY_HAND[name], BLANKS.get(name, 0)
        marks = [by_hand(*first, policy), 3 * by_hand(*second, policy, blank)]
        assert [step.score for step in marked.steps] == pytest.approx(list(map(float, marks))), name
        assert marked.out_of == 4 * (2 if policy.marks == "1+1" else 1)


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_usual_policy_is_what_the_specification_says(verdict: str, share: float) -> None:
    left_blank = verdict == "missing" and share
    assert earned(verdict, share, Policy()) == (1 if left_blank else TODAY.get(verdict, 2))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"marks": "2+1"}, 'marks must be 1+1 or 0+1, not "2+1"'),
        ({"cells": "some"}, "cells must be all or each"),
        ({"cells": 3}, "cells must be all or each, not 3"),
        ({"follow": "ful"}, "follow must be method, full or none"),
        ({"points": {"output": -1}}, "points of output must be a number from 0 on, not -1"),
        ({"points": {"output": float("inf")}}, "points of output must be a number from 0 on, not inf"),
        ({"atol": float("inf")}, "atol must be a number from 0 on, not inf"),
        ({"attempts": 1.5}, "attempts must be a whole number, not 1.5"),
        ({"attempts": None}, "attempts must be a number from 0 on, not None"),
        ({"rtol": "1"}, "rtol must be a number from 0 on, not '1'"),
        ({"hint_cost": True}, "hint_cost must be a number from 0 on, not True"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as error:
        Policy(**given)
    assert error.value.message.startswith(said)


@pytest.fixture
def home(run: Run, tmp_path: Path) -> Path:
    problem = {"calculation": "attention", "inputs": {"q": Q, "k": K, "v": V}}
    (tmp_path / "problem.json").write_text(json.dumps(problem))
    (tmp_path / "sheets").mkdir()
    for name, steps in SHEETS.items():
        (tmp_path / f"sheets/{name}.json").write_text(json.dumps({"student": name, "steps": steps}))
    (tmp_path / "policy.toml").write_text(
        'cells = "each"\nfollow = "full"\n[points]\noutput = 3\n[tolerance]\natol=0.2\n'
    )
    return tmp_path


def graded(path: Path) -> dict[str, Any]:
    """A report without what regrading cannot know: where the sheets are."""
    whole: dict[str, Any] = json.loads(path.read_text())
    return whole


GRADE = ("grade", "problem.json", "sheets")


@pytest.mark.thorough
def test_a_file_says_what_the_options_say(run: Run, home: Path) -> None:
    options = ["--cells", "each", "--follow", "full", "--points", "output=3", "--atol", "0.2"]
    assert run(*GRADE, *options, "-o", "a.json").returncode == 1
    done = run(*GRADE, "--policy", "policy.toml", "-o", "b.json")
    assert graded(home / "a.json") == graded(home / "b.json")
    assert done.stdout.endswith("policy: marks 1+1, cells each, follow full, points output=3, atol 0.2\n")
    policy = {"marks": "1+1", "cells": "each", "follow": "full", "points": {"output": 3}, "atol": 0.2}
    assert graded(home / "b.json")["policy"] == policy
    report = run("check", "sheets/one sign.json", "problem.json", "--policy", "policy.toml", "-f", "json").stdout
    assert json.loads(report)["policy"] == policy
    run(*GRADE, "--policy", "policy.toml", "--marks", "0+1", "-o", "c.json")
    assert graded(home / "c.json")["policy"] == {**policy, "marks": "0+1"}


@pytest.mark.release
@pytest.mark.parametrize("options", ["--cells each", "--marks 0+1 --follow none", "--points output=3 --cells each"])
def test_regrading_gives_the_marks_of_grading_anew(run: Run, home: Path, options: str) -> None:
    run(*GRADE, "-o", "old.json")
    run(*GRADE, *options.split(), "-o", "anew.json")
    dry = run("grade", "--regrade", "old.json", *options.split(), "--dry-run", "-o", "again.json")
    assert not (home / "again.json").exists()
    done = run("grade", "--regrade", "old.json", *options.split(), "-o", "again.json")
    assert graded(home / "again.json") == graded(home / "anew.json")
    old, new = (
        {one["student"]: (one["score"], one["out_of"]) for one in graded(home / f)["students"]}
        for f in ("old.json", "anew.json")
    )
    told = [line for line in dry.stdout.splitlines() if line.split("  ")[0] in old]
    assert [line.split("  ")[0] for line in told] == [name for name in old if old[name] != new[name]]
    assert dry.stdout.endswith(f"the marks of {len(told)} of {len(old)} students would change\n")
    assert done.stdout.startswith(dry.stdout.replace("would change", "change"))


@pytest.mark.thorough
@pytest.mark.parametrize("form", sorted({*REPORTS} - {"gradescope"}))
def test_a_report_of_marks_found_again_has_standard_output_to_itself(run: Run, home: Path, form: str) -> None:
    run(*GRADE, "-o", "old.json")
    alone = run(*GRADE, "--cells", "each", "-f", form)
    again = run("grade", "--regrade", "old.json", "--cells", "each", "-f", form)
    assert again.stdout == alone.stdout
    assert "note: two of four: 2.5 of 4, before it was 2 of 4\n" in again.stderr
    assert again.stderr.endswith(" of 9 students change\n")


@pytest.mark.thorough
def test_a_corrected_key_is_a_regrade_too(run: Run, home: Path) -> None:
    run(*GRADE, "--cells", "each", "-o", "old.json")
    assert run(*GRADE, "--regrade", "old.json", "--dry-run").stdout == "the marks of 0 of 9 students change\n".replace(
        "change", "would change"
    )
    problem = json.loads((home / "problem.json").read_text())
    (home / "problem.json").write_text(json.dumps({**problem, "options": {"scale": "none"}}))
    done = run(*GRADE, "--regrade", "old.json", "-o", "new.json")
    marks = {one["student"]: one["score"] for one in graded(home / "new.json")["students"]}
    assert (marks["mistaken"], marks["right"]) == (4, 1)
    assert graded(home / "new.json")["policy"]["cells"] == "each"  # as the report was marked
    assert "mistaken" in done.stdout.partition("the marks of")[0]


@pytest.mark.thorough
def test_marks_changed_by_hand_are_logged_and_stay(run: Run, home: Path) -> None:
    (home / "marks.csv").write_text("Student;Step;Marks;Why\none sign;output;1,5;minus hardly legible\n")
    done = run(*GRADE, "--override", "marks.csv", "-o", "old.json")
    assert done.stdout.endswith("changed by hand: one sign, output: 1.5 in place of 1: minus hardly legible\n")
    log = {"student": "one sign", "step": "output", "from": 1, "to": 1.5, "why": "minus hardly legible"}
    assert graded(home / "old.json")["log"] == [log]
    run("grade", "--regrade", "old.json", "--cells", "each", "-o", "new.json")
    assert graded(home / "new.json")["log"] == [{**log, "from": 1.75}]
    student = next(one for one in graded(home / "new.json")["students"] if one["student"] == "one sign")
    assert (student["score"], student["steps"][1]["score"], student["steps"][1]["verdict"]) == (3.5, 1.5, "slip")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "files", "said"),
    [
        ("--policy no.toml", {}, "there is no file no.toml"),
        ("--policy bad.toml", {"bad.toml": "marks ="}, "bad.toml is no TOML"),
        (
            "--policy bad.toml",
            {"bad.toml": 'mark = "1+1"'},
            'bad.toml: a policy has no "mark"\nhint: did you mean marks?',
        ),
        ("--policy bad.toml", {"bad.toml": 'cells = "one"'}, 'bad.toml: cells must be all or each, not "one"'),
        ("--policy bad.toml", {"bad.toml": "points = 3"}, "bad.toml: points is a number, not a table"),
        ("--policy bad.json", {"bad.json": "[]"}, "bad.json is a list, not an object"),
        ("--points output=3,output=2", {}, '--points gives "output" twice\nhint: a step has one weight: leave one'),
        (
            "--override m.csv",
            {"m.csv": "student,step,marks,why\nright,output,1,\nright,output,2,\n"},
            'm.csv:3: the marks of "right" for output are changed twice\nhint: leave one of the lines, this or m.csv:2',
        ),
        ("--points outpt=3", {}, 'attention has no step "outpt"\nhint: did you mean output?'),
        ("--cells one", {}, "cells must be all or each"),
        ("--dry-run", {}, "--dry-run says what --regrade would change"),
        ("--override m.csv", {"m.csv": ""}, "m.csv is empty"),
        (
            "--override m.csv",
            {"m.csv": "student,step,marks,marks,why\nright,output,1,2,\n"},
            'm.csv has two columns "marks"\nhint: leave one of them',
        ),
        ("--override m.csv", {"m.csv": "student,step,marks\n"}, 'm.csv has no column "why"'),
        (
            "--override m.csv",
            {"m.csv": "student,step,marks,why\nrigt,output,1,\n"},
            'm.csv:2: there is no student "rigt"',
        ),
        (
            "--override m.csv",
            {"m.csv": "student,step,marks,why\nright,outpt,1,\n"},
            'm.csv:2: the sheet of "right" has',
        ),
        ("--override m.csv", {"m.csv": "student,step,marks,why\nright,output,9,\n"}, "m.csv:2: output earns 2 at most"),
        ("--override m.csv", {"m.csv": "student,step,marks,why\nright,output,x,\n"}, 'm.csv:2: "x" is not a number'),
        ("--override m.csv", {"m.csv": "student,step,marks,why\nright,output,1,a,b\n"}, "m.csv:2: there are 5 cells"),
        ("--regrade problem.json", {}, "problem.json is no report on a class"),
    ],
)
def test_a_fault_is_one_line(run: Run, home: Path, words: str, files: dict[str, str], said: str) -> None:
    for name, text in files.items():
        (home / name).write_text(text)
    done = run(*GRADE, *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {said}")


@pytest.mark.thorough
def test_a_report_knows_no_exactness_but_its_own(run: Run, home: Path) -> None:
    run(*GRADE, "-o", "old.json")
    done = run("grade", "--regrade", "old.json", "--rtol", "0.1")
    assert done.stderr.endswith("hint: name the key and the sheets too, and they are judged again\n")
