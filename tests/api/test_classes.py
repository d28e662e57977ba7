"""Quizzes and classes from Python are those of the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

import attncalc as ac
from attncalc.common.errors import AttncalcError, InputError, OptionError


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def encoded(files: dict[str, str | bytes]) -> dict[str, bytes]:
    return {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}


MINE = {"attncalc": 1, "calculation": "softmax", "inputs": {"x": [2, 1, 0]}, "ask": ["softmax"]}
QUIZZES: dict[str, tuple[list[str], Any]] = {
    "a calculation": (["dot", "--seed", "3"], lambda: ac.quiz("dot", seed=3)),
    "sizes": (["dot", "--seed", "3", "--size", "n=2"], lambda: ac.quiz("dot", seed=3, sizes={"n": 2})),
    "options": (
        ["softmax", "--seed", "3", "--temperature", "0.5", "--level", "easy"],
        lambda: ac.quiz("softmax", seed=3, options={"temperature": 0.5}, level="easy"),
    ),
    "a gradient": (
        ["grad", "softmax", "--seed", "3", "--ask", "grad_x"],
        lambda: ac.quiz("grad softmax", seed=3, ask="grad_x"),
    ),
    "a roster": (["dot", "--seed", "3", "--roster", "class.csv"], lambda: ac.quiz("dot", seed=3, roster=["Ann", "Bö"])),
    "a document": (["mine.json"], lambda: ac.quiz(MINE)),
    "for all": (
        ["mine.json", "--seed", "3", "--roster", "class.csv"],
        lambda: ac.quiz(MINE, seed=3, roster=["Ann", "Bö"]),
    ),
    "a bank": (["--bank", "bank", "--seed", "3"], lambda: ac.quiz(bank="bank", seed=3)),
}


@pytest.mark.release
@pytest.mark.spread(3)
@pytest.mark.parametrize("row", QUIZZES)
def test_a_quiz_is_that_of_the_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    words, call = QUIZZES[row]
    (tmp_path / "class.csv").write_text("student\nAnn\nBö\n", encoding="utf-8")
    (tmp_path / "bank").mkdir()
    (tmp_path / "bank/bank.toml").write_text("[mine]\npoints = 3\n", encoding="utf-8")
    for name in ("mine.json", "bank/mine.json"):
        (tmp_path / name).write_text(json.dumps(MINE), encoding="utf-8")
    done = run("quiz", *words, "-o", "q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    assert encoded(call().files()) == written(tmp_path / "q")


@pytest.mark.thorough
def test_what_a_quiz_tells_of_itself() -> None:
    found = ac.quiz("dot", seed=3, roster=["Ann", "Bob"])
    assert list(found.problems) == ["Ann", "Bob"]
    assert (found.hidden, found.alike) == ((), ())
    assert ac.quiz(MINE).hidden == ac.quiz(ac.softmax([2, 1, 0]), ask="softmax").hidden
    assert {*ac.quiz("dot", seed=3).files(["html"], export=["moodle"])} >= {"worksheet.html", "moodle.xml", "key.json"}
    kept = ac.quiz("dot", seed=3, inputs={"a": [1, 2, 3]}).problems[""]
    assert kept["inputs"]["a"] == [1, 2, 3]


FAULTS: dict[str, tuple[Any, str]] = {
    "nothing": (ac.quiz, "a quiz is of a calculation"),
    "both": (lambda: ac.quiz("dot", bank="bank"), "a bank has problems as they are"),
    "no such": (lambda: ac.quiz("dott"), 'there is no document "dott"'),
    "an option": (lambda: ac.quiz("dot", options={"causal": True}), 'dot has no "causal"'),
    "a level": (lambda: ac.quiz("dot", level="eazy"), 'level must be easy, medium or hard, not "eazy"'),
    "a format": (lambda: ac.quiz("dot", seed=3).files(["doc"]), '"doc" is not'),
    "twice": (lambda: ac.quiz("dot", roster=["Ann", "ann"]), 'the roster names "ann" twice'),
    "no name": (lambda: ac.quiz("dot", roster=[""]), "a roster is a list of names"),
    "a list": (lambda: ac.quiz([1, 2]), "a problem is a file, a Trace or a dictionary"),  # type: ignore[arg-type] # refused
    "no key": (lambda: ac.grade("nothing.json", "."), 'there is no document "nothing.json"'),
    "no sheets": (lambda: ac.grade(MINE, []), "there is no sheet to grade"),
    "no student": (lambda: ac.grade(MINE, {"Ann": [1, 2, 3]})["Bob"], 'there is no sheet of "Bob"'),
    "unread": (lambda: ac.grade(MINE, {"Ann": "nothing.json"})["Ann"], "there is no file nothing.json"),
    "no report": (lambda: ac.grade(MINE, {"Ann": [1, 2, 3]}).report("doc"), 'no report in the format "doc"'),
}


@pytest.mark.thorough
@pytest.mark.parametrize("row", FAULTS)
def test_what_cannot_be_done_is_told(row: str) -> None:
    call, said = FAULTS[row]
    with pytest.raises(AttncalcError, match=said):
        call()


@pytest.mark.thorough
def test_a_class_is_marked_as_by_the_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("key.json").write_text(json.dumps(MINE), encoding="utf-8")
    Path("sheets").mkdir()
    Path("sheets/Ann.json").write_text('{"softmax": [0.665, 0.245, 0.09]}', encoding="utf-8")
    Path("sheets/Bob.json").write_text('{"softmax": [0.3, 0.245, 0.09]}', encoding="utf-8")
    Path("sheets/Eve.json").write_text("{", encoding="utf-8")
    Path("by.toml").write_text('cells = "each"\n', encoding="utf-8")
    Path("by_hand.csv").write_text("student,step,marks,why\nBob,softmax,2,asked\n", encoding="utf-8")
    words = ["--policy", "by.toml", "--override", "by_hand.csv"]
    done = run("grade", "key.json", "sheets", *words, "-f", "json", "--feedback", "back", cwd=tmp_path)
    grades = ac.grade("key.json", "sheets", policy="by.toml", overrides="by_hand.csv")
    assert grades.report() == done.stdout
    assert grades.feedback("bob") == Path("back/Bob.html").read_text(encoding="utf-8")
    assert (grades.marks, len(grades)) == ({"Ann": 2.0, "Bob": 2.0, "Eve": None}, 3)
    assert grades.by(ac.Policy(marks="0+1")).marks["Ann"] == 1
    assert "Bob" not in grades.anonymous().report()
    assert str(grades).startswith("student")
    assert json.loads(grades.feedback("Bob", "gradescope"))["score"] == 2
    with pytest.raises(InputError):
        grades["Eve"]
    with pytest.raises(OptionError):
        grades.feedback("Bob", "doc")
