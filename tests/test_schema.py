"""docs/schema.json: it is as the types of documents say, and what is written has its keys and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from jsonschema import Draft202012Validator
from schema import schema

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"
SCHEMA = json.loads((ROOT / "docs/schema.json").read_text(encoding="utf-8"))
CLOSED = {
    name: {**kind, "additionalProperties": False} if "properties" in kind else kind
    for name, kind in SCHEMA["$defs"].items()
}
"""Each kind without a key beyond those that it names."""

PROBLEMS = [path for path in sorted(SAMPLES.glob("*.json")) if '"attncalc"' in path.read_text(encoding="utf-8")]


def faults(kind: str, document: Any) -> list[str]:
    validator = Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": CLOSED})
    return [f"{error.json_path}: {error.message}"[:200] for error in validator.iter_errors(document)]


def test_the_file_is_what_the_types_say() -> None:
    assert schema() == SCHEMA, "docs/generate.py makes it anew"
    Draft202012Validator.check_schema(SCHEMA)


def test_every_sample_is_a_problem() -> None:
    assert PROBLEMS
    found = {path.name: faults("Problem", json.loads(path.read_text(encoding="utf-8"))) for path in PROBLEMS}
    assert {name: said for name, said in found.items() if said} == {}


RESULTS = [
    ["run", "attention.json", "--explain", "--cell", "weights[0,0]"],
    ["run", "attention.json", "--round", "2"],
    ["run", "softmax.json", "--exact"],
    ["dot", "--symbolic"],
    ["grad", "cross-entropy", "cross-entropy.json", "--gradcheck"],
    ["jacobian", "softmax", "1,2,3"],
    ["model", "tiny-llama", "1,2"],
    *(
        pytest.param(["run", path.name], marks=[pytest.mark.thorough, pytest.mark.spread(5)], id=path.name)
        for path in PROBLEMS
        if path.stem != "attention"
    ),
]


@pytest.mark.thorough
@pytest.mark.parametrize("words", RESULTS, ids=" ".join)
def test_a_result_is_a_document(run: Run, words: list[str]) -> None:
    done = run(*words, "-f", "json", cwd=SAMPLES)
    assert (done.returncode, faults("Document", json.loads(done.stdout))) == (0, [])


@pytest.fixture
def home(run: Run, tmp_path: Path) -> Path:
    """A key, a sheet that is wrong, one that cannot be read, and a mark changed by hand."""
    assert run("run", SAMPLES / "attention.json", "-o", "key.json", cwd=tmp_path).returncode == 0
    key = json.loads((tmp_path / "key.json").read_text(encoding="utf-8"))
    steps = {step["name"]: step["value"] for step in key["steps"]}
    steps["output"] = [[9 for _ in row] for row in steps["output"]]
    sheets = tmp_path / "sheets"
    sheets.mkdir()
    (sheets / "ada.json").write_text(json.dumps({"student": "ada", "steps": steps}), encoding="utf-8")
    (sheets / "bob.json").write_text("{", encoding="utf-8")
    (tmp_path / "log.csv").write_text("student,step,marks,why\nada,output,1,as said\n", encoding="utf-8")
    return tmp_path


@pytest.mark.thorough
def test_what_a_quiz_writes_is_a_problem_and_a_key(run: Run, tmp_path: Path) -> None:
    assert run("quiz", "attention", "--seed", "7", "-o", "quiz", cwd=tmp_path).returncode == 0
    kinds = {"problem": "Problem", "key": "Document"}
    held = {name: json.loads((tmp_path / f"quiz/{name}.json").read_text(encoding="utf-8")) for name in kinds}
    assert {name: faults(kind, held[name]) for name, kind in kinds.items()} == {"problem": [], "key": []}


@pytest.mark.parametrize("words", [[], ["--reveal", "--marks", "0+1", "--points", "output=3"]], ids=" ".join)
def test_a_marked_sheet_is_a_report(run: Run, home: Path, words: list[str]) -> None:
    done = run("check", "sheets/ada.json", "key.json", *words, "-f", "json", cwd=home)
    assert (done.returncode, faults("MarkedDocument", json.loads(done.stdout))) == (1, [])


@pytest.mark.thorough
@pytest.mark.parametrize("words", [[], ["--audit", "--override", "log.csv"]], ids=" ".join)
def test_a_marked_class_is_a_report(run: Run, home: Path, words: list[str]) -> None:
    done = run("grade", "key.json", "sheets", *words, "-f", "json", "--jobs", "1", cwd=home)
    assert (done.returncode, faults("ClassDocument", json.loads(done.stdout))) == (2, [])


def test_a_key_too_many_or_too_few_is_seen() -> None:
    problem = json.loads((SAMPLES / "attention.json").read_text(encoding="utf-8"))
    assert faults("Problem", {**problem, "more": 1})
    assert faults("Problem", {key: value for key, value in problem.items() if key != "calculation"})
    assert faults("Problem", {**problem, "calculation": "gradient of attention"})
    assert faults("Document", problem)
