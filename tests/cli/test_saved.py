"""A saved result tells how it was carried out, so that `run` gives the same; and what was noted of its operands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calculations.cases import EXPECTED
from conftest import Run
from rows import rows

from attncalc.calculations import TABLE

NAMES = [name for name in TABLE if name in EXPECTED]
WAYS = {"rounded": ["--round", "2"], "narrow": ["--dtype", "float32"], "exact": ["--exact"], "letters": ["--symbolic"]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.spread(9)
@pytest.mark.release
@rows(("name", "way"), [(name, way) for name in NAMES for way in WAYS], by=lambda name, way: name)
def test_run_gives_what_was_saved(run: Run, name: str, way: str, samples: Path) -> None:
    words = [name] if way == "letters" else [name, f"{samples / name}.json"]
    saved = run(*words, *WAYS[way], "-f", "json")
    if saved.returncode:
        assert way in ("exact", "letters"), saved.stderr  # not every calculation has these forms
        return
    Path("saved.json").write_text(saved.stdout)
    first, again = json.loads(saved.stdout), json.loads(run("run", "saved.json", "-f", "json").stdout)
    assert {**again, "notes": 0} == {**first, "notes": 0}  # they are on how it was read the first time
    assert json.dumps(again["inputs"]) == json.dumps(first["inputs"])


def test_whole_numbers_are_saved_as_they_were_typed(run: Run) -> None:
    done = run("matmul", "1 2.0; -3 0", "1e3 0.5; -0 2", "-o", "saved.json")
    assert (done.returncode, done.stderr) == (0, "")
    inputs = '"inputs": {"a": [[1, 2.0], [-3, 0]], "b": [[1000, 0.5], [-0.0, 2]]}'
    assert inputs in Path("saved.json").read_text()
    assert ": 1 2.0; -3 0\n" in run("run", "saved.json").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["derivative", "x^2", "--at", "2"], "  at = 2\n"),  # and not h, though it is saved
        (["complexity", "--model", "llama-2-7b", "--layers", "6"], "layers = 6,"),  # what is usual without a model
    ],
    ids=["usual", "usual but for a word"],
)
def test_an_option_that_nobody_gave_is_not_told_afterwards(run: Run, words: list[str], told: str) -> None:
    Path("saved.json").write_text(run(*words, "-f", "json").stdout)
    first, again = run(*words).stdout, run("run", "saved.json").stdout
    assert told in first
    assert told in again


def test_what_the_command_line_says_wins_and_is_said(run: Run) -> None:
    Path("saved.json").write_text(run("softmax", "1,2,4", "--round", "1", "-f", "json").stdout)
    done = run("run", "saved.json", "--round", "3", "-qf", "json")
    assert done.stderr == "note: round of saved.json is overruled by --round\n"
    assert json.loads(done.stdout) == json.loads(run("softmax", "1,2,4", "--round", "3", "-qf", "json").stdout)


@pytest.mark.parametrize("settings", [{"round": -1}, {"dtype": "int8"}, {"exact": 1}, {"ronud": 2}, [1]])
def test_what_is_no_setting_is_refused(run: Run, settings: object) -> None:
    problem = {"calculation": "softmax", "inputs": {"x": [1, 2]}, "settings": settings}
    Path("p.json").write_text(json.dumps(problem))
    done = run("run", "p.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: p.json: ")


NOTED = {
    "digits": (
        "9007199254740993,1",
        '"9007199254740993" has more digits than 64 bits hold and became 9007199254740992',
    ),
    "a small number": ("1e-400,1", '"1e-400" is too small for 64 bits and became 0'),
    "commas and blanks": (
        "1,5 2,5",
        "a comma and a blank part numbers alike; with --decimal , the commas are decimal marks",
    ),
    "a file's header": ("x.csv", "first row read as column labels"),
    "perhaps one column": (
        "german.csv",
        "read as two columns; with --decimal , it is one, of numbers with decimal commas",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["table", "plain", "json", "csv", "markdown", "latex", "html"])
@pytest.mark.parametrize(("word", "said"), NOTED.values(), ids=NOTED)
def test_what_is_noted_of_an_operand_is_said_in_every_format(run: Run, form: str, word: str, said: str) -> None:
    Path("x.csv").write_text("a,b\n1,2\n")
    Path("german.csv").write_text("1,234\n2,5\n")
    done = run("softmax", word, "-f", form)
    assert f"note: x: {said}\n" in done.stderr
    if form == "json":
        assert said in [note["text"] for note in json.loads(done.stdout)["notes"] if note["operand"] == "x"]


@pytest.mark.parametrize("form", ["table", "json", "csv"])
@pytest.mark.parametrize(("word", "said"), NOTED.values(), ids=NOTED)
def test_a_report_says_what_is_noted_of_an_operand_as_well(run: Run, form: str, word: str, said: str) -> None:
    Path("x.csv").write_text("a,b\n1,2\n")
    Path("german.csv").write_text("1,234\n2,5\n")
    assert run("softmax", word, "-o", "saved.json").returncode == 0
    Path("asked.json").write_text(json.dumps({"calculation": "softmax", "inputs": {"x": word.split(",")}}))
    calls = [("softmax", word, "--check", "1,0"), ("check", "1,0", "asked.json")]
    for call in calls if word[0].isdigit() and " " not in word else calls[:1]:
        done = run(*call, "-f", form)
        assert f"note: x: {said}\n" in done.stderr
        if form == "json":
            assert said in [note["text"] for note in json.loads(done.stdout)["notes"] if note["operand"] == "x"]


TAKEN = {
    "keys and values": (
        ["attention", "1,2;3,4"],
        "q",
        "only q was given, as one matrix: keys = queries and values = keys",
    ),
    "a mask": (
        ["attention", "1,2;3,4", "1,0;0,1", "1,2;3,4", "--mask", "1,0;1,1"],
        "mask",
        "mask read as keep (1 or true: may look)",
    ),
    "classes": (["cross-entropy", "1,2;3,4", "0,1"], "target", "target read as the numbers of the right classes"),
    "scores": (["grad", "softmax", "0.25,0.75"], "x", "x: the entries sum to 1, as probabilities do"),
    "rounded shares": (["entropy", "0.333,0.333,0.333"], "p", "p sums to 0.999: taken as rounded"),
}


@pytest.mark.parametrize(("call", "operand", "said"), TAKEN.values(), ids=TAKEN)
def test_what_is_taken_for_an_operand_stands_in_the_document(
    run: Run, call: list[str], operand: str, said: str
) -> None:
    for more in ([], ["--check", "1,2;3,4"]):
        done = run(*call, *more, "-f", "json")
        assert done.stderr.count(f"note: {said}") == 1
        (note,) = [note for note in json.loads(done.stdout)["notes"] if note["kind"] == "default"]
        assert note["operand"] == operand
        assert note["text"].startswith(said)
    page = run(*call)
    assert (page.stdout.count(said), page.stderr.count(said)) == (1, 1)  # read apart


def test_grading_says_what_is_noted_of_its_keys_operands(run: Run) -> None:
    Path("key.json").write_text('{"calculation": "softmax", "inputs": {"x": [9007199254740993, 1]}}')
    Path("ann.json").write_text('{"steps": {"softmax": [1, 0]}}')
    done = run("grade", "key.json", "ann.json")
    assert done.returncode == 0
    assert 'note: key.json: x: "9007199254740993" has more digits than 64 bits hold' in done.stderr


@pytest.mark.parametrize("file", ["expanded.json", "expanded.csv", "expanded.npz"])
@pytest.mark.parametrize(
    "call", [["attention", "attention-causal.json"], ["grad", "layernorm", "layernorm.json"]], ids=str
)
def test_definitions_that_were_saved_as_well_are_no_answers(
    run: Run, call: list[str], file: str, samples: Path
) -> None:
    words = [*call[:-1], str(samples / call[-1])]
    assert run(*words, "--expand", "--all", "-o", file).returncode == 0
    done = run(*words, "--check", file, "-f", "json")
    assert done.returncode == 0, done.stderr
    assert "no step of ours, passed over" in done.stderr
    assert len(json.loads(done.stdout)["steps"]) > 3
    Path("typo.json").write_text('{"steps": {"weights/exponentials": [1, 2], "weihgts": [1, 2]}}')
    assert run(*words, "--check", "typo.json").returncode == 2
