"""Banks: problems are picked for everybody, and all of a student's are marked as one sheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run

from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.banks import picked, read_bank
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading

TOML = """
[softmax]
title = "Shares"
points = 3
draw = true
[dot]
points = 2
draw = true
[attention]
points = 5
"""
STUDENTS = ("Ada", "Bob", "Eve")
POINTS = {"softmax": 3, "dot": 2, "attention": 5}


@pytest.fixture
def bank(samples: Path, tmp_path: Path) -> Path:
    """A folder of problems."""
    folder = tmp_path / "bank"
    folder.mkdir()
    for name in POINTS:
        (folder / f"{name}.json").write_bytes((samples / f"{name}.json").read_bytes())
    (folder / "bank.toml").write_text(TOML)
    (tmp_path / "class.csv").write_text("student\nAda\nBob\nEve\n")
    return folder


def fill(folder: Path, sheets: Path, **told: str) -> None:
    """Answer the sheets of a folder rightly."""
    sheets.mkdir(exist_ok=True)
    for path in folder.rglob("problem.json"):
        key = Key(load_document(str(path), Reading()).problem)
        sheet: dict[str, Any] = json.loads(path.with_name("sheet.json").read_text()) | told
        found = {name: key.value(key.names.find(name)) for name in sheet["steps"]}
        sheet["steps"] = {name: np.round(value, 4).tolist() for name, value in found.items() if value is not None}
        (sheets / f"{'-'.join(path.relative_to(folder).parts[:-1])}.json").write_text(json.dumps(sheet))


def report(run: Run, *words: str) -> dict[str, dict[str, Any]]:
    found = json.loads(run("grade", *words, "--report", "json").stdout)
    return {row["student"]: row for row in found["students"]}


@pytest.mark.thorough
def test_everybody_has_so_many_problems_in_the_order_of_the_bank(bank: Path) -> None:
    keys = picked(read_bank(str(bank)), STUDENTS, 2, 1, "medium")
    own = {student: [one.name for one in keys.of(student)] for student in STUDENTS}
    assert all(names == sorted(names, key=[*POINTS].index) and len({*names}) == 2 for names in own.values())
    drawn = [str(one.held.problem.inputs) for one in keys.variants if one.name != "attention"]
    assert len({*drawn}) == len(drawn)
    assert len({one.id for one in keys.variants if one.name == "attention"}) <= 1
    again = picked(read_bank(str(bank)), STUDENTS, 2, 1, "medium")
    assert [one.id for one in again.variants] == [one.id for one in keys.variants]


@pytest.mark.release
def test_all_problems_of_a_student_are_one_sheet(run: Run, bank: Path) -> None:
    home = bank.parent
    done = run("quiz", "--bank", "bank", "--pick", "2", "--roster", "class.csv", "--seed", "1", "-o", "hw")
    assert (done.returncode, done.stdout) == (0, "")
    assert not done.stderr or done.stderr.startswith("note: the problems of some students earn ")
    fill(home / "hw", home / "sheets")
    variants = json.loads((home / "hw/keys.json").read_text())["variants"]
    own = {student: [row["name"] for row in variants if row["student"] == student] for student in STUDENTS}
    found = report(run, "hw/keys.json", "sheets")
    assert {name: (row["verdict"], row["score"]) for name, row in found.items()} == {
        name: ("right", sum(POINTS[each] for each in names)) for name, names in own.items()
    }
    missing = own["Ada"][0]
    (home / f"sheets/Ada-1-{missing}.json").unlink()
    row = report(run, "hw/keys.json", "sheets", "--jobs", "2")["Ada"]
    full = sum(POINTS[each] for each in own["Ada"])
    assert (row["score"], row["out_of"], row["verdict"]) == (full - POINTS[missing], full, "wrong")
    assert run("grade", "hw/keys.json", "sheets", "-o", "grades.json").returncode == 1
    assert run("grade", "--regrade", "grades.json", "--marks", "0+1", "-o", "half.json").returncode == 1
    half = json.loads((home / "half.json").read_text())["students"]
    assert {row["student"]: row["out_of"] for row in half}["Ada"] == full


@pytest.mark.thorough
@pytest.mark.spread(5)
@pytest.mark.parametrize(
    "policy",
    [
        "--marks 0+1",
        "--cells each",
        "--points sum=3,output=0.5",
        "--points softmax/sum=3,dot/dot=0,sum=2",
        "--follow full --marks 0+1 --points dot=0",
    ],
)
def test_a_bank_is_marked_by_another_policy_as_it_would_be_anew(run: Run, bank: Path, policy: str) -> None:
    """What all steps of a problem earn together stays, whatever each of them does."""
    home, most = bank.parent, 8  # what the steps of a softmax would earn by themselves
    (bank / "bank.toml").write_text(TOML.replace("points = 3", f"points = {most}").replace("points = 5", ""))
    run("quiz", "--bank", "bank", "--roster", "class.csv", "--seed", "1", "-o", "hw")
    fill(home / "hw", home / "sheets")
    (home / "sheets/Bob-2-dot.json").unlink()
    path = home / "sheets/Eve-1-softmax.json"
    sheet = json.loads(path.read_text())
    sheet["steps"]["sum"] = 99
    path.write_text(json.dumps(sheet))
    assert run("grade", "hw/keys.json", "sheets", "-o", "grades.json").returncode == 1
    again = run("grade", "--regrade", "grades.json", *policy.split(), "-f", "json", "-o", "again.json")
    assert again.returncode == 1, again.stderr
    anew = report(run, "hw/keys.json", "sheets", *policy.split())
    found = {row["student"]: row for row in json.loads((home / "again.json").read_text())["students"]}
    for student, row in anew.items():
        marks = [
            [(step["name"], step["score"], step["out_of"]) for step in each["steps"]] for each in (row, found[student])
        ]
        assert marks[0] == marks[1]
        assert sum(out_of for name, _, out_of in marks[0] if name.startswith("softmax/")) == most


def test_a_policy_that_misspells_a_problem_is_told(run: Run, bank: Path) -> None:
    home = bank.parent
    run("quiz", "--bank", "bank", "--roster", "class.csv", "--seed", "1", "-o", "hw")
    fill(home / "hw", home / "sheets")
    for points, fault in {
        "softmax/sun=2": 'Error: softmax has no step "sun"\nhint: did you mean sum?\n',
        "sofmax/sum=2": 'has no step "sofmax/sum"',
    }.items():
        told = run("grade", "hw/keys.json", "sheets", "--points", points)
        assert told.returncode == 2
        assert fault in told.stderr


@pytest.mark.thorough
def test_problems_of_a_student_are_replaced_all_or_one_by_one(run: Run, bank: Path) -> None:
    home = bank.parent
    assert run("quiz", "--bank", "bank", "--roster", "class.csv", "--seed", "1", "-o", "hw").returncode == 0

    def own() -> dict[tuple[str, str], str]:
        rows = json.loads((home / "hw/keys.json").read_text())["variants"]
        return {(row["student"], row["name"]): row["problem"] for row in rows}

    def replaced(*words: str) -> set[tuple[str, str]]:
        before = own()
        done = run("quiz", "--replace", *words, "--seed", "5", "-o", "hw")
        assert done.returncode == 0, done.stderr
        assert own().keys() == before.keys()
        return {each for each, name in own().items() if before[each] != name}

    assert replaced("Ada") == {("Ada", "softmax"), ("Ada", "dot")}
    assert replaced("bob#dot") == {("Bob", "dot")}
    assert own()["Bob", "dot"] in (home / "hw/Bob/2-dot/sheet.json").read_text()
    assert (home / "hw/Ada/1-softmax/worksheet.md").read_text().startswith("# Shares (3 points)\n")
    fill(home / "hw", home / "sheets")
    assert {row["score"] for row in report(run, "hw/keys.json", "sheets").values()} == {10}
    for word, said in {"Ada#attention": "are the same for all", "Ada#dott": "did you mean dot?"}.items():
        assert said in run("quiz", "--replace", word, "-o", "hw").stderr


@pytest.mark.thorough
def test_a_class_list_has_columns_for_all_problems(run: Run, bank: Path) -> None:
    home = bank.parent
    assert run("quiz", "--bank", "bank", "--roster", "class.csv", "--seed", "1", "-o", "hw").returncode == 0
    rows = json.loads((home / "hw/keys.json").read_text())["variants"]
    own = {(row["student"], row["name"]): row["inputs"] for row in rows}
    dots = {name: np.dot(own[name, "dot"]["a"], own[name, "dot"]["b"]) for name in STUDENTS}
    heads = 'student,dot/dot,"attention/output[0,0]",softmax/softmax[0],remark'
    (home / "list.csv").write_text(
        f"{heads}\nAda,{dots['Ada']},,,late\nBob,{dots['Bob'] + 1},1,0.5,\nEve,,,,\n", encoding="utf-8"
    )
    done = run("grade", "hw/keys.json", "list.csv", "-f", "json")
    found = {row["student"]: row for row in json.loads(done.stdout)["students"]}
    assert (found["Ada"]["source"], [*found]) == ("list.csv:2", [*STUDENTS])
    assert done.stderr == 'note: list.csv: "remark" is no step of these problems, and passed over\n'
    verdicts = {name: {step["name"]: step["verdict"] for step in row["steps"]} for name, row in found.items()}
    assert verdicts["Ada"]["dot/dot"] == "right"
    assert {verdicts["Ada"][step] for step in ("softmax/softmax", "attention/output")} == {"missing"}
    assert verdicts["Bob"]["dot/dot"] in ("slip", "unexplained", "mistake")
    (home / "one.json").write_text(json.dumps({"problem": "dot", "dot": int(dots["Eve"]), "student": "Eve"}))
    assert report(run, "hw/keys.json", "one.json")["Eve"]["score"] > 0


def test_a_class_list_of_problems_that_not_everybody_has(run: Run, bank: Path) -> None:
    words = ("--bank", "bank", "--pick", "1", "--roster", "class.csv", "--seed", "2", "-o", "hw")
    assert run("quiz", *words).returncode == 0
    own = {row["student"]: row["name"] for row in json.loads((bank.parent / "hw/keys.json").read_text())["variants"]}
    assert own == {"Ada": "attention", "Bob": "attention", "Eve": "dot"}
    listed = bank.parent / "list.csv"
    listed.write_text('student,dot/dot,"attention/output[0,0]"\nAda,,1\nBob,,\nEve,1,\n')  # nothing of softmax
    done = run("grade", "hw/keys.json", "list.csv", "-f", "json")
    rows = {row["student"]: row for row in json.loads(done.stdout)["students"]}
    assert (done.returncode, [*rows], done.stderr) == (1, ["Ada", "Bob", "Eve"], "")
    assert {name: row["steps"][0]["name"].partition("/")[0] for name, row in rows.items()} == own
    listed.write_text("student,dot/dot\nAda,1\nBob,1\n")
    said = '"Bob" has no problem "dot" (theirs are "attention")'
    assert said in " ".join(run("grade", "hw/keys.json", "list.csv").stdout.split())
    listed.write_text("student,dots/dot\nAda,1\n")
    fault = 'Error: list.csv:1:2: there is no problem "dots"\nhint: did you mean dot?\n'
    assert run("grade", "hw/keys.json", "list.csv").stderr == fault


@pytest.mark.thorough
def test_without_a_roster_it_is_for_all(run: Run, bank: Path) -> None:
    home = bank.parent
    assert run("quiz", "--bank", "bank", "--seed", "1", "-f", "markdown", "-o", "hw").returncode == 0
    assert sorted(path.name for path in (home / "hw").iterdir()) == ["1-softmax", "2-dot", "3-attention", "keys.json"]
    worksheet = (home / "hw/1-softmax/worksheet.md").read_text()
    assert worksheet.startswith("# Shares (3 points)\n")
    assert "Name: " in worksheet
    fill(home / "hw", home / "sheets", student="Zoe")
    fill(home / "hw", home / "more", student="Max")
    assert {name: row["score"] for name, row in report(run, "hw/keys.json", "sheets", "more").items()} == {
        "Zoe": 10,
        "Max": 10,
    }
    sheet = json.loads((home / "sheets/2-dot.json").read_text())
    (home / "sheets/2-dot.json").write_text(json.dumps({**sheet, "problem": ""}))
    done = run("grade", "hw/keys.json", "sheets")
    assert (done.returncode, "does not tell which of 3 problems it is of" in done.stdout) == (2, True)


@pytest.mark.thorough
def test_nothing_of_the_key_is_in_what_students_get(run: Run, bank: Path) -> None:
    assert run("quiz", "--bank", "bank", "--roster", "class.csv", "--seed", "1", "-o", "hw").returncode == 0
    for path in (bank.parent / "hw").rglob("problem.json"):
        key = Key(load_document(str(path), Reading()).problem)
        value = key.value(key.names.find("result"))
        assert value is not None
        entries = {f"{entry:.4f}" for entry in np.ravel(value).tolist() if entry % 1}
        for other in path.parent.iterdir():
            assert not [entry for entry in entries if entry in other.read_text(encoding="utf-8")]


FAULTS = {
    "no bank": ("--bank nowhere", "", "nowhere has no bank.toml"),
    "more than there are": ("--bank bank --pick 4", TOML, "the bank has 3 problems, and 4 are to be picked"),
    "a pick of nothing": ("dot --pick 2", TOML, "--pick is of a bank"),
    "a calculation": ("dot --bank bank", TOML, '"dot" cannot change them'),
    "sizes": ("--bank bank --size n=3", TOML, "--size cannot change them"),
    "a misspelt problem": ("--bank bank", "[sofmax]\n", "there is no file sofmax.json"),
    "a misspelt key": ("--bank bank", '[softmax]\ntitel = "x"\n', '"titel" says nothing of a problem'),
    "no end": ("--bank bank", "[softmax]\npoints = inf\n", "points is a number from 0 on"),
    "no number": ("--bank bank", "[softmax]\npoints = true\n", "points is a number from 0 on"),
    "a title of the whole": (
        "--bank bank",
        'title = "x"\n',
        "no file title.json\nhint: there is a table for each problem",
    ),
    "no table": ("--bank bank", "softmax = 1\n", "softmax is no table"),
    "no TOML": ("--bank bank", "[softmax", "is no TOML"),
}


@pytest.mark.spread(3)
@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_one_line_and_leaves_nothing(run: Run, bank: Path, what: str) -> None:
    words, text, fault = FAULTS[what]
    (bank / "bank.toml").write_text(text)
    done = run("quiz", *words.split(), "-o", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert fault in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert not (bank.parent / "x").exists()
