"""What a marker cannot read is said, and has marks by hand: sheets on paper, entries that are no numbers, odd files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

import attncalc as ac
from attncalc.common.errors import InputError
from attncalc.homework.reports.students import code

PROBLEM = {"calculation": "attention", "inputs": {"q": [[0, 2], [1, 1]], "k": [[0, 1], [2, 0]], "v": [[0, 1], [1, -1]]}}
WEIGHTS, OUTPUT = [[0.8044, 0.1956], [0.3302, 0.6698]], [[0.1956, 0.6089], [0.6698, -0.3395]]
OTHERS = [[0.1956, 0.6089], [0.5123, -0.2717]]  # of which two entries are right
SHEETS: dict[str, Any] = {
    "Ann": {"weights": WEIGHTS, "output": OUTPUT},
    "Bob": {"weights": WEIGHTS, "output": OTHERS},
}
EMPTY = "Cy"  # the file of whom is empty
ABSENT = ("Dot", "Eve Ö.")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A class with the same problem for everybody, of which one file is empty and two students have none."""
    students = [*SHEETS, EMPTY, *ABSENT]
    keys = {"variants": [{"student": name, "problem": f"p{i}", **PROBLEM} for i, name in enumerate(students)]}
    (tmp_path / "keys.json").write_text(json.dumps(keys))
    (tmp_path / "sheets").mkdir()
    for name, steps in SHEETS.items():
        (tmp_path / f"sheets/{name}.json").write_text(json.dumps({"student": name, "steps": steps}))
    (tmp_path / f"sheets/{EMPTY}.json").write_text("")
    return tmp_path


GRADE = ("grade", "keys.json", "sheets")
LIST = "student,step,marks,why\n"


def report(path: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(path.read_text())
    return whole


def scores(path: Path) -> dict[str, Any]:
    return {one["student"]: one["score"] for one in report(path)["students"]}


# Who has handed in nothing


@pytest.mark.thorough
def test_who_has_handed_in_nothing_is_told(run: Run, home: Path) -> None:
    done = run(*GRADE, "-o", "r.json")
    assert "\n2 students have no sheet: Dot and Eve Ö.\n" in done.stdout
    assert report(home / "r.json")["absent"] == [*ABSENT]
    for form in ("markdown", "html", "plain", "latex"):
        assert "2 students have no sheet: Dot and Eve Ö." in run(*GRADE, "-f", form).stdout, form
    again = run("grade", "--regrade", "r.json", "-o", "s.json")
    assert "2 students have no sheet: Dot and Eve Ö.\n" in again.stdout
    assert report(home / "s.json")["absent"] == [*ABSENT]
    hidden = run(*GRADE, "--anonymous", "-o", "r.json").stdout
    assert "Dot" not in hidden
    assert report(home / "r.json")["absent"] == sorted(map(code, ABSENT))
    assert "no sheet" not in run(*GRADE, "--student", "Ann").stdout  # as a platform has one student's marked


@pytest.mark.thorough
def test_it_is_told_in_python_too(home: Path) -> None:
    grades = ac.grade(home / "keys.json", home / "sheets")
    assert grades.absent == ABSENT
    assert grades.to_dict()["absent"] == [*ABSENT]
    assert "2 students have no sheet" in str(grades)
    (home / "m.csv").write_text(f"{LIST}Dot,weights,2,on paper\n")
    by_hand = ac.grade(home / "keys.json", home / "sheets", overrides=home / "m.csv")
    assert (by_hand.absent, by_hand.marks["Dot"]) == (ABSENT[1:], 2)
    assert by_hand.by(ac.Policy(points={"weights": 2})).marks["Dot"] == 4


# Marks by hand


@pytest.mark.thorough
def test_a_sheet_on_paper_and_one_that_cannot_be_read_have_marks_by_hand(run: Run, home: Path) -> None:
    rows = "dot,weights,2,on paper\nDot,output,1,on paper\nCy,output,1.5,read by eye\n"
    (home / "m.csv").write_text(LIST + rows)
    done = run(*GRADE, "--override", "m.csv", "-o", "r.json")
    assert done.returncode == 1, "nothing is left that cannot be read"
    assert scores(home / "r.json") == {"Ann": 4, "Bob": 2, "Cy": 1.5, "Dot": 3}
    assert report(home / "r.json")["absent"] == ["Eve Ö."]
    assert "note: Cy: sheets/Cy.json is empty; all marks are by hand\n" in done.stderr
    run(*GRADE, "-o", "old.json")
    run("grade", "--regrade", "old.json", "--override", "m.csv", "-o", "s.json")
    assert scores(home / "s.json") == scores(home / "r.json")
    run("grade", "--regrade", "r.json", "-o", "t.json")
    assert report(home / "t.json")["students"] == report(home / "r.json")["students"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("row", "said"),
    [("Dott,weights,2,", 'there is no student "Dott"'), ("Dot,weights,3,", "weights earns 2 at most, not 3")],
)
def test_who_is_not_on_the_roster_has_none(run: Run, home: Path, row: str, said: str) -> None:
    (home / "m.csv").write_text(f"{LIST}{row}\n")
    done = run(*GRADE, "--override", "m.csv")
    assert (done.returncode, done.stdout, f"m.csv:2: {said}" in done.stderr) == (2, "", True)


@pytest.mark.thorough
def test_each_of_several_problems_has_marks_by_hand(run: Run, tmp_path: Path) -> None:
    problems = {"dot": {"a": [1, 2], "b": [3, 4]}, "norm": {"a": [3, 4]}, "softmax": {"x": [0, 1]}}
    picked = {"Ann": ("dot", "norm"), "Bob": ("norm", "softmax")}
    rows = [
        {"student": student, "problem": f"{student}{name}", "name": name, "calculation": name, "inputs": problems[name]}
        for student, names in picked.items()
        for name in names
    ]
    (tmp_path / "keys.json").write_text(json.dumps({"variants": [{**row, "ask": [row["name"]]} for row in rows]}))
    (tmp_path / "ann.json").write_text('{"student": "Ann", "problem": "Anndot", "steps": {"dot": 11}}')
    (tmp_path / "m.csv").write_text(f"{LIST}Bob,softmax/softmax,2,on paper\n")
    done = run("grade", "keys.json", "ann.json", "--override", "m.csv", "-o", "r.json")
    assert "Bob      wrong    2 of 4" in done.stdout
    run("grade", "keys.json", "ann.json", "-o", "old.json")
    done = run("grade", "--regrade", "old.json", "--override", "m.csv")
    assert done.stderr.endswith("hint: name the key and the sheets too\n"), "others have other problems"
    done = run("grade", "keys.json", "ann.json", "--regrade", "old.json", "--override", "m.csv")
    assert "Bob      wrong    2 of 4" in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(("points", "marks"), [("output=1.5", 2.25), ("output=0.5", 0.75), ("weights=3", 1.5)])
def test_marks_by_hand_keep_their_share_of_a_step(run: Run, home: Path, points: str, marks: float) -> None:
    """Whoever was raised is not lowered by a step that earns more, and no change is lost with one that earns less."""
    (home / "m.csv").write_text(f"{LIST}Bob,output,1.5,right idea\n")
    run(*GRADE, "--override", "m.csv", "-o", "old.json")
    for words in ((), GRADE[1:]):
        run("grade", *words, "--regrade", "old.json", "--points", points, "-o", "new.json")
        [change] = report(home / "new.json")["log"]
        assert (change["to"], change["why"]) == (marks, "right idea")


@pytest.mark.thorough
def test_whose_marks_by_hand_are_dropped_is_told(run: Run, home: Path) -> None:
    (home / "m.csv").write_text(f"{LIST}Bob,output,2,right idea\nAnn,weights,1,late\n")
    run(*GRADE, "--override", "m.csv", "-o", "old.json")
    done = run("grade", "keys.json", "sheets/Ann.json", "--regrade", "old.json")
    assert "note: " not in done.stderr, "Bob is on the roster, and has his mark without a sheet"
    keys = report(home / "keys.json")
    (home / "keys.json").write_text(json.dumps({"variants": keys["variants"][:1]}))
    done = run("grade", "keys.json", "sheets/Ann.json", "--regrade", "old.json")
    assert "there is no such step any more, and its marks by hand are dropped: Bob, output\n" in done.stderr


@pytest.mark.thorough
def test_a_report_with_marks_by_hand_is_not_written_over(run: Run, home: Path) -> None:
    (home / "m.csv").write_text(f"{LIST}Bob,output,2,right idea\n")
    run(*GRADE, "--override", "m.csv", "-o", "r.json")
    before = (home / "r.json").read_text()
    done = run(*GRADE, "-o", "r.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: r.json has marks by hand that would be lost: Bob, output: 2: right idea\n"
        "hint: --regrade r.json with another -o FILE keeps them\n"
    )
    assert (home / "r.json").read_text() == before
    run(*GRADE, "--override", "m.csv", "--cells", "each", "-o", "r.json")  # as a Makefile does it
    assert report(home / "r.json")["policy"]["cells"] == "each"
    run(*GRADE, "--regrade", "r.json", "-o", "s.json")
    assert report(home / "s.json")["log"] == report(home / "r.json")["log"]


# Marking again


@pytest.mark.thorough
def test_options_change_the_policy_that_a_report_was_marked_by(run: Run, home: Path) -> None:
    run(*GRADE, "--cells", "each", "--follow", "full", "--points", "output=2", "-o", "old.json")
    (home / "p.toml").write_text('marks = "0+1"\n')
    for words in ((), GRADE[1:]):
        run("grade", *words, "--regrade", "old.json", "--points", "weights=3", "-o", "new.json")
        policy = {"marks": "1+1", "cells": "each", "follow": "full", "points": {"output": 2, "weights": 3}}
        assert report(home / "new.json")["policy"] == policy
        run("grade", *words, "--regrade", "old.json", "--policy", "p.toml", "-o", "new.json")  # is whole by itself
        assert report(home / "new.json")["policy"] == {"marks": "0+1", "cells": "all", "follow": "method"}


@pytest.mark.thorough
def test_what_a_sheet_would_earn_as_anothers_is_no_longer_told_by_another_policy(run: Run, home: Path) -> None:
    sheet = {"student": "Bob", "problem": "p0", "steps": SHEETS["Ann"]}
    (home / "sheets/Bob.json").write_text(json.dumps(sheet))
    assert "the problem of Ann, where it earns 4 of 4" in run(*GRADE, "-o", "old.json").stderr
    same = run("grade", "--regrade", "old.json").stderr
    assert "the problem of Ann, where it earns 4 of 4" in same
    other = run("grade", "--regrade", "old.json", "--points", "output=3").stderr
    assert "the problem of Ann\n" in other


@pytest.mark.thorough
def test_whose_sheet_is_of_another_problem_is_told_so_and_not_whose(run: Run, home: Path) -> None:
    sheet = {"student": "Bob", "problem": "p0", "steps": SHEETS["Ann"]}
    (home / "sheets/Bob.json").write_text(json.dumps(sheet))
    for form, suffix in {"html": "html", "markdown": "md", "text": "txt"}.items():
        run(*GRADE, "--feedback", "back", "--feedback-format", form)
        text = (home / f"back/Bob.{suffix}").read_text()
        assert ("This sheet is of another problem than yours" in text, "Ann" in text) == (True, False)
    told = json.loads(run("grade", "keys.json", "sheets/Bob.json", "-f", "gradescope").stdout)["output"]
    assert ("of another problem than yours" in told, "Ann" in told) == (True, False)


# Entries that cannot be read

HEAD = ",".join(
    f'"{place}"' for place in ("weights[0,0]", "weights[0,1]", "weights[1,0]", "weights[1,1]", "output[0,0]")
)
FAULTS: dict[str, tuple[Any, str]] = {
    "a unit": ("0.67 nats", '"0.67 nats" is not a number'),
    "a word": ([["x", 0.6089], [0.6698, -0.3395]], '"x" is not a number'),
    "a truth": ([[True, 0.6089], [0.6698, -0.3395]], "true is not a number"),
    "an object": ({"a": 1}, "is an object, not numbers"),
    "ragged rows": ([[0.1956, 0.6089], [0.6698]], "output"),
    "a formula": ([["=A1", 0.6089], [0.6698, -0.3395]], '"=A1" is not a number'),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("value", "said"), FAULTS.values(), ids=FAULTS)
def test_an_entry_that_cannot_be_read_costs_its_step_alone(run: Run, home: Path, value: Any, said: str) -> None:
    (home / "sheets/Bob.json").write_text(
        json.dumps({"student": "Bob", "steps": {"weights": WEIGHTS, "output": value}})
    )
    done = run("grade", "keys.json", "sheets/Bob.json", "-o", "r.json")
    assert done.returncode == 1
    [student] = report(home / "r.json")["students"]
    assert [(step["verdict"], step["score"]) for step in student["steps"]] == [("right", 2), ("unexplained", 0)]
    assert student["steps"][1]["hint"].startswith("it cannot be read: ")
    assert said in student["steps"][1]["hint"]
    assert f"{said}" in done.stderr
    assert "the other steps are marked\n" in done.stderr
    with pytest.raises(InputError, match=r"output|answer"):  # who checks an own answer mends it
        ac.attention(**PROBLEM["inputs"]).check({"weights": WEIGHTS, "output": value})


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Bob.csv", "@weights\n0.8044,0.1956\n0.3302,0.6698\n@output\n0.1956,x\n0.6698,-0.3395\n"),
        ("Bob.csv", "@weights\n0.8044,0.1956\n0.3302,0.6698\n@output\n0.1956,0.6089\n0.6698\n"),
        (
            "list.csv",
            f"student,{HEAD}\nBob,0.8044,0.1956,0.3302,0.6698,1.5 nats\n",
        ),
        ("Bob.json", json.dumps({"weights": WEIGHTS, "output[0,0]": "1.5 nats"})),
    ],
    ids=["a table", "a ragged table", "a class list", "a single entry"],
)
def test_so_it_does_in_every_kind_of_sheet(run: Run, home: Path, name: str, text: str) -> None:
    (home / name).write_text(text)
    run("grade", "keys.json", name, "-o", "r.json")
    [student] = report(home / "r.json")["students"]
    assert [(step["name"], step["score"]) for step in student["steps"]] == [("weights", 2), ("output", 0)]


@pytest.mark.parametrize(
    "steps", [{"output": "x"}, {"weights": "x", "output": "y"}, {"weights": [None], "output": "y"}]
)
def test_where_no_entry_can_be_read_the_sheet_cannot_be(home: Path, steps: dict[str, Any]) -> None:
    (home / "sheets/Bob.json").write_text(json.dumps({"student": "Bob", "steps": steps}))
    [one] = ac.grade(home / "keys.json", home / "sheets/Bob.json")
    assert one.marked is None
    assert "is not a number" in one.error


@pytest.mark.thorough
def test_what_cannot_be_read_names_nobody_where_nobody_is_to_be_named(run: Run, home: Path) -> None:
    (home / "sheets/Bob.json").write_text(json.dumps({"student": "Bob", "steps": {"weights": WEIGHTS, "output": "y"}}))
    done = run(*GRADE, "--anonymous", "-f", "json")
    assert "Bob" not in done.stdout + done.stderr


# Decimal commas

COMMAS = {
    "weights": [["0,8044", "0,1956"], ["0,3302", "0,6698"]],
    "output": [["0,1956", "0,6089"], ["0,6698", "-0,3395"]],
}


@pytest.mark.thorough
def test_decimal_commas_in_texts_are_read(run: Run, home: Path) -> None:
    (home / "sheets/Bob.json").write_text(json.dumps({"student": "Bob", "steps": COMMAS}))
    (home / "sheets/Cy.csv").write_text(
        "@weights\n0.8044,0.1956\n0.3302,0.6698\n@output\n0.1956,0.6089\n0.6698,-0.3395\n"
    )
    (home / "sheets/Cy.json").unlink()
    for words in ((), ("--decimal", ",")):
        run(*GRADE, *words, "-o", "r.json")
        assert scores(home / "r.json") == {"Ann": 4, "Bob": 4, "Cy": 4}, words


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("1,500", None),
        (["1,500", "0,25"], [1.5, 0.25]),
        (["1,500", "0.25"], None),
        ("1,5e-2", 0.015),
        (["-,5"], [-0.5]),
    ],
)
def test_a_comma_that_may_part_thousands_is_not_read_as_a_decimal_one(home: Path, answer: Any, read: Any) -> None:
    trace = ac.norm([3, 4])
    if read is None:
        with pytest.raises(InputError, match="is not a number"):
            trace.check(answer)
    else:
        assert trace.check(answer).steps[0].given == read


# One number, in brackets


@pytest.mark.parametrize("answer", [5, [5], [[5]], [[[5]]], "5"])
def test_a_single_number_may_stand_in_brackets(answer: Any) -> None:
    assert ac.norm([3, 4]).check(answer)


def test_several_numbers_are_no_single_one() -> None:
    assert not ac.norm([3, 4]).check([[5, 5]])


# What is no sheet


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("suffix", "what"),
    [
        *((suffix, "is a document") for suffix in ("docx", "doc", "odt", "rtf", "pdf", "pages")),
        *((suffix, "is a spreadsheet") for suffix in ("xlsx", "xls", "ods", "numbers")),
        *((suffix, "is a picture") for suffix in ("png", "jpg", "jpeg", "heic", "JPG")),
        ("zip", "is compressed"),
    ],
)
def test_what_is_handed_in_as_something_else_is_listed(run: Run, home: Path, suffix: str, what: str) -> None:
    (home / f"sheets/Dot.{suffix}").write_bytes(b"PK\x03\x04")
    (home / "sheets/Cy.json").unlink()
    for words in ("sheets", f"sheets/Dot.{suffix}"):
        done = run("grade", "keys.json", words)
        assert done.returncode == 2
        assert f"sheets/Dot.{suffix} {what}" in " ".join(done.stdout.split())


@pytest.mark.thorough
def test_what_is_passed_over_is_told(run: Run, home: Path) -> None:
    for name in ("worksheet.md", "worksheet.tex", "worksheet.pdf", ".DS_Store"):
        (home / f"sheets/{name}").write_text("as the quiz has made it")
    assert "passed over" not in run(*GRADE).stderr
    for name in ("README.md", "Dot.txt"):
        (home / f"sheets/{name}").write_text("0.5")
    assert "note: sheets/Dot.txt and sheets/README.md are no sheets, and passed over\n" in run(*GRADE).stderr


# What a page of feedback shows


@pytest.mark.thorough
@pytest.mark.parametrize(("form", "suffix"), [("html", "html"), ("markdown", "md"), ("text", "txt")])
def test_what_follows_rightly_has_no_crosses(run: Run, home: Path, form: str, suffix: str) -> None:
    """Its entries are not those of the key, and there is nothing in them to be mended."""
    steps = {"weights": [[0.8808, 0.1192], [0.2689, 0.7311]], "output": [[0.1192, 0.7616], [0.7311, -0.4621]]}
    (home / "sheets/Bob.json").write_text(json.dumps({"student": "Bob", "steps": steps}))
    run(*GRADE, "--feedback", "back", "--feedback-format", form)
    text = (home / f"back/Bob.{suffix}").read_text()
    assert "0.8808" in text
    assert not any(number in text for number in ("0.7616", "-0.4621"))
    assert "worked out rightly from an earlier step" in " ".join(text.split())


@pytest.mark.thorough
def test_rows_of_a_stack_say_what_they_are(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mha.json").write_text(
        json.dumps(
            {
                "calculation": "multihead",
                "inputs": {
                    "x": [[1, 0], [0, 2]],
                    "wq": [[1, 2], [0, 1]],
                    "wk": [[1, 0], [1, 1]],
                    "wv": [[1, 0], [0, 1]],
                    "wo": [[1, 0], [0, 1]],
                },
                "options": {"heads": 2},
            }
        )
    )
    (tmp_path / "ann.json").write_text('{"scores": [[[9, 1], [2, 3]], [[1, 9], [2, 3]]]}')
    for form, suffix in {"html": "html", "markdown": "md"}.items():
        run("grade", "mha.json", "ann.json", "--feedback", "back", "--feedback-format", form)
        text = re.sub(r"<[^>]*>", " ", (tmp_path / f"back/ann.{suffix}").read_text())
        assert re.search(r"(?m)(^|  )h,n +0 +1", text), text
