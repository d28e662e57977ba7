"""Gradescope's autograder: its zip is unpacked into a folder like Gradescope's, and run there."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import pytest
from conftest import Run
from homework.test_banks import fill
from jsonschema import Draft202012Validator

import attncalc as ac
from attncalc.common.errors import InputError, OptionError
from attncalc.homework.quiz.autograders import FILE
from attncalc.homework.reports.class_reports import VISIBILITIES

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="Gradescope's programs are of bash")

TEXT, NUMBER, SHOWN = {"type": "string"}, {"type": "number"}, {"enum": list(VISIBILITIES)}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


RESULTS = closed(
    score=NUMBER,
    execution_time=NUMBER,
    output=TEXT,
    output_format=FORMAT,
    test_output_format=FORMAT,
    test_name_format=FORMAT,
    visibility=SHOWN,
    stdout_visibility=SHOWN,
    extra_data={"type": "object"},
    leaderboard={"type": "array", "items": closed(name=TEXT, value={}, order=TEXT)},
    tests={
        "type": "array",
        "items": closed(
            score=NUMBER,
            max_score=NUMBER,
            status={"enum": ["passed", "failed"]},
            name=TEXT,
            name_format=FORMAT,
            number=TEXT,
            output=TEXT,
            output_format=FORMAT,
            tags={"type": "array", "items": TEXT},
            visibility=SHOWN,
            extra_data={"type": "object"},
        ),
    },
) | {"anyOf": [{"required": ["score"]}, {"properties": {"tests": {"items": {"required": ["score"]}}}}]}
"""What may stand in results.json, as https://gradescope-autograders.readthedocs.io/en/latest/specs says."""


class Gradescope(NamedTuple):
    """A folder like `/autograder`."""

    at: Path
    environment: Mapping[str, str]

    def set_up(self, package: bytes) -> None:
        """Unpack the zip as `unzip` does, with the rights of its files."""
        with zipfile.ZipFile(io.BytesIO(package)) as archive:
            archive.extractall(self.at / "source")
            for info in archive.infolist():
                (self.at / "source" / info.filename).chmod(info.external_attr >> 16 & 0o777)
        shutil.copy(self.at / "source/run_autograder", self.at)

    def submit(self, files: Mapping[str, Any], *users: str) -> tuple[dict[str, Any], str]:
        """What a submission of these files comes to, and what the program has printed."""
        shutil.rmtree(self.at / "submission", ignore_errors=True)
        (self.at / "submission").mkdir()
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (self.at / "submission" / name).write_text(text, encoding="utf-8")
        rows = [{"email": f"u{i}@example.com", "id": i, "name": name} for i, name in enumerate(users)]
        told = {"id": 1, "submission_method": "upload", "users": rows, "previous_submissions": []}
        (self.at / "submission_metadata.json").write_text(json.dumps(told), encoding="utf-8")
        done = subprocess.run(
            [self.at / "run_autograder", self.at],
            env={**self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        results = json.loads((self.at / "results/results.json").read_text(encoding="utf-8"))
        Draft202012Validator(RESULTS).validate(results)
        return results, done.stdout + done.stderr


@pytest.fixture
def gradescope(tmp_path: Path, clean: dict[str, str]) -> Gradescope:
    here = os.pathsep.join((str(Path(sys.executable).parent), clean["PATH"]))
    return Gradescope(tmp_path / "auto grader", {**clean, "PATH": here})


def zipped(run: Run, folder: Path, *words: str) -> bytes:
    done = run("quiz", *words, "--export", "gradescope", "-o", "q", cwd=folder)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return (folder / "q/gradescope.zip").read_bytes()


def right_answers(folder: Path) -> dict[str, dict[str, Any]]:
    """A sheet for each problem in a folder, by the folder's name, filled in rightly."""
    fill(folder, folder / "filled")
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (folder / "filled").glob("*.json")}


@cache
def shares(visibility: str = "visible") -> bytes:
    """The zip of a quiz with one step."""
    package = ac.quiz("softmax", seed=4, ask="softmax").files(export=["gradescope"], visibility=visibility)[FILE]
    assert isinstance(package, bytes)
    return package


SOFTMAX = ("softmax", "--seed", "4", "--ask", "softmax")
RIGHT = {"softmax": [0.122, 0.3315, 0.5465]}


@pytest.mark.thorough
def test_the_zip_has_programs_the_key_and_always_the_same_bytes(run: Run, tmp_path: Path) -> None:
    package = zipped(run, tmp_path, *SOFTMAX)
    archive = zipfile.ZipFile(io.BytesIO(package))
    rights = {info.filename: oct(info.external_attr >> 16) for info in archive.infolist()}
    assert rights == {"setup.sh": "0o100755", "run_autograder": "0o100755", "key.json": "0o100644"}
    assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert archive.read("key.json") == (tmp_path / "q/key.json").read_bytes()
    for name in ("setup.sh", "run_autograder"):
        assert subprocess.run([BASH, "-n"], input=archive.read(name), check=False).returncode == 0
    shutil.rmtree(tmp_path / "q")
    assert zipped(run, tmp_path, *SOFTMAX) == package
    assert shares() == package


SUBMISSIONS: dict[str, tuple[dict[str, Any], float, str]] = {
    "right": ({"sheet.json": RIGHT}, 2, "right: 2 of 2 marks"),
    "wrong": ({"mine.csv": "@softmax\n0.5,0.3,0.2\n"}, 0, "wrong: 0 of 2 marks; first wrong at softmax"),
    "a blank sheet beside it": (
        {"sheet.csv": "@student,\n@softmax\n?,?,?\n", "sheet.json": RIGHT, "notes.pdf": "…"},
        2,
        "right: 2 of 2 marks",
    ),
    "a broken one beside it": ({"a.json": "{", "b.json": RIGHT}, 2, "right: 2 of 2 marks"),
    "nothing that is a sheet": ({"scan.pdf": "…"}, 0, "scan.pdf is a document, not numbers"),
    "nothing that may be one": ({"readme.rst": "…"}, 0, "holds no sheet"),
    "nothing": ({}, 0, "holds no sheet"),
    "none that can be read": ({"a.json": "{", "b.json": "["}, 0, "b.json:1:"),
}


@pytest.mark.spread(2)
@pytest.mark.parametrize("row", SUBMISSIONS)
def test_a_submission_is_marked(gradescope: Gradescope, row: str) -> None:
    gradescope.set_up(shares())
    files, score, said = SUBMISSIONS[row]
    results, _ = gradescope.submit(files, "Zoë Müller")
    assert (results["score"], results["visibility"], results["stdout_visibility"]) == (score, "visible", "hidden")
    assert said in results["output"]
    assert sum(test["score"] for test in results["tests"]) == score


@pytest.mark.thorough
def test_a_wrong_answer_is_told_why_and_not_what_is_right(gradescope: Gradescope) -> None:
    gradescope.set_up(shares("after_published"))
    results, _ = gradescope.submit({"sheet.json": {"softmax": [0.3, 0.3, 0.4]}}, "Ada")
    [test] = results["tests"]
    assert (test["status"], test["max_score"], results["visibility"]) == ("failed", 2, "after_published")
    assert not [value for value in RIGHT["softmax"] if f"{value:.3f}"[1:] in json.dumps(results)]


@pytest.mark.thorough
def test_a_policy_beside_the_key_says_what_answers_earn(gradescope: Gradescope) -> None:
    gradescope.set_up(shares())
    (gradescope.at / "source/policy.toml").write_text("[points]\nsoftmax = 5\n", encoding="utf-8")
    assert gradescope.submit({"sheet.json": RIGHT}, "Ada")[0]["score"] == 10


NAMES = ("Zoë Müller", "Ἀδα", "Bob", "u3@example.com")


@pytest.mark.thorough
def test_everybody_is_marked_by_their_own_problem(run: Run, tmp_path: Path, gradescope: Gradescope) -> None:
    (tmp_path / "class.csv").write_text("\n".join(("student", *NAMES, "")), encoding="utf-8")
    gradescope.set_up(zipped(run, tmp_path, "softmax", "--seed", "1", "--roster", "class.csv"))
    sheets = right_answers(tmp_path / "q")
    assert all(re.fullmatch(r"[\w-]+", name) for name in sheets)

    def submit(sheet: str, *users: str, **changed: Any) -> tuple[dict[str, Any], str]:
        return gradescope.submit({"sheet.json": sheets[sheet] | changed}, *users)

    results, printed = submit("Zoë-Müller", normalize("NFD", "zoë  müller"))
    assert (results["score"] > 0, results["score"]) == (True, sum(test["max_score"] for test in results["tests"]))
    assert "right" in printed
    assert submit("Ἀδα", "Ἀδα")[0]["score"] == results["score"]
    assert submit("Bob", "someone", "Bob")[0]["score"] == results["score"]  # a group, of which Bob is one
    at_home = submit("u3-example-com", "a", "b", "c", "called otherwise at home")  # found by the address
    assert at_home[0]["score"] == results["score"]


@pytest.mark.release
def test_somebody_elses_sheet_earns_what_it_is_worth_on_ones_own_problem(
    run: Run, tmp_path: Path, gradescope: Gradescope
) -> None:
    (tmp_path / "class.csv").write_text("\n".join(("student", *NAMES, "")), encoding="utf-8")
    gradescope.set_up(zipped(run, tmp_path, "softmax", "--seed", "1", "--roster", "class.csv"))
    ada = right_answers(tmp_path / "q")["Ἀδα"]
    results, printed = gradescope.submit({"sheet.json": ada}, "Bob")
    assert results["score"] < sum(test["max_score"] for test in results["tests"])
    assert "Ἀδα" not in json.dumps(results, ensure_ascii=False), "whose it is, is the teacher's to know"
    assert "Bob: the sheet is of the problem of Ἀδα" in printed
    assert 'Bob: the sheet says that it is of "Ἀδα"' in printed
    results, _ = gradescope.submit({"sheet.json": ada}, "Eve")
    assert results["score"] == 0
    assert 'no problem for "Eve"' in results["output"]


@pytest.mark.thorough
def test_all_sheets_of_a_bank_come_at_once(run: Run, samples: Path, tmp_path: Path, gradescope: Gradescope) -> None:
    (tmp_path / "bank").mkdir()
    for name in ("dot", "softmax"):
        (tmp_path / f"bank/{name}.json").write_bytes((samples / f"{name}.json").read_bytes())
    (tmp_path / "bank/bank.toml").write_text(
        "[softmax]\ndraw = true\npoints = 3\n[dot]\npoints = 2\n", encoding="utf-8"
    )
    (tmp_path / "class.csv").write_text("student\nAda\nBob\n", encoding="utf-8")
    gradescope.set_up(zipped(run, tmp_path, "--bank", "bank", "--roster", "class.csv", "--seed", "2"))
    own = {f"{name}.json": sheet for name, sheet in right_answers(tmp_path / "q").items() if name.startswith("Ada")}
    assert len(own) == 2
    assert gradescope.submit(own, "Ada")[0]["score"] == 5
    own.popitem()
    assert 0 < gradescope.submit(own, "Ada")[0]["score"] < 5
    results, _ = gradescope.submit(own | {"other.json": "{"}, "Ada")
    assert "could not be read" in results["output"]


FAULTS: dict[str, tuple[Sequence[str], str]] = {
    "no file": (["--student", "@nowhere.json"], "nowhere.json"),
    "nobody": (["--student", "@nobody.json"], "nobody.json does not say who has handed in"),
    "no name": (["--student", " "], "the student has no name"),
    "a word": (["--visibility", "never"], "--visibility"),
    "no report for it": (["--visibility", "hidden"], "--visibility is of Gradescope's reports"),
    "nothing to mark": (["--student", "Ada", "--regrade", "old.json"], "--student says whose the sheets are"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("row", FAULTS)
def test_what_cannot_be_meant_is_told(run: Run, tmp_path: Path, row: str) -> None:
    (tmp_path / "problem.json").write_text('{"calculation": "softmax", "inputs": {"x": [1, 2, 3]}}', encoding="utf-8")
    (tmp_path / "sheet.json").write_text('{"softmax": [0.09, 0.2447, 0.6652]}', encoding="utf-8")
    (tmp_path / "nobody.json").write_text('{"users": [{"id": 3}]}', encoding="utf-8")
    run("grade", "problem.json", "sheet.json", "-o", "old.json")
    words, said = FAULTS[row]
    sheets = [] if "--regrade" in words else ["problem.json", "sheet.json"]
    done = run("grade", *sheets, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_quiz_takes_a_visibility_for_an_autograder_only(run: Run, tmp_path: Path) -> None:
    done = run("quiz", "dot", "--export", "moodle", "--visibility", "hidden", "-o", "q")
    assert (done.returncode, done.stdout, (tmp_path / "q").exists()) == (2, "", False)
    assert "--visibility is of Gradescope's autograder" in done.stderr


def test_from_python_a_student_is_known_too(tmp_path: Path) -> None:
    problem = {"calculation": "softmax", "inputs": {"x": [1, 2, 3]}}
    (tmp_path / "a.json").write_text('{"student": "Bob", "softmax": [0.09, 0.2447, 0.6652]}', encoding="utf-8")
    (tmp_path / "b.json").write_text("{", encoding="utf-8")
    grades = ac.grade(problem, tmp_path, student="Ada")
    assert (list(grades.marks), len(grades)) == (["Ada"], 1)
    assert 'Ada: the sheet says that it is of "Bob"' in grades.notes
    assert json.loads(grades.feedback("Ada", "gradescope", visibility="hidden"))["visibility"] == "hidden"
    with pytest.raises(OptionError, match="visibility must be"):
        grades.feedback("Ada", "gradescope", visibility="never")
    with pytest.raises(OptionError, match="visible, hidden"):
        ac.quiz("dot", seed=3).files(export=["gradescope"], visibility="never")
    with pytest.raises(InputError, match="does not say"):
        ac.grade(problem, tmp_path, student=f"@{tmp_path}/a.json")
