"""The recipes of docs/courses.md, carried out: each whose packages and programs are there.

Those for notebooks are in no extra, since they bring a whole Jupyter with them:

    python -m venv /tmp/notebooks
    /tmp/notebooks/bin/pip install -e '.[test]' nbgrader otter-grader ipykernel
    /tmp/notebooks/bin/python -m pytest -rs tests/test_courses.py
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from generate import ENVIRONMENT, fill

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/courses.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
ABSENT = "{} is in no extra: the docstring says how to have it"


def block(recipe: str, fence: str) -> str:
    """What a recipe says that a file or a cell holds."""
    [found] = re.findall(rf"^```{fence}\n(.*?)^```$", RECIPES[recipe], re.MULTILINE | re.DOTALL)
    return str(found)


def carried_out(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def program(name: str) -> str:
    found = shutil.which(name, path=ENVIRONMENT["PATH"])
    if found is None:
        pytest.skip(f"{name} is not on this machine")
    return found


def test_every_recipe_is_carried_out_here() -> None:
    assert {*RECIPES} == {"Gradescope", "nbgrader", "otter", "Make", "GitHub Classroom"}


@pytest.mark.thorough
def test_gradescope(samples: Path, tmp_path: Path) -> None:
    program("bash")
    assert fill(RECIPES["Gradescope"], shutil.copytree(samples, tmp_path / "samples")) == RECIPES["Gradescope"]


@pytest.fixture
def homework(run: Run, tmp_path: Path) -> Path:
    """A folder with a quiz for two students, a policy, and the sheet of one of them, filled in rightly."""
    (tmp_path / "class.csv").write_text("student\nAda\nBob\n", encoding="utf-8")
    assert run("quiz", "dot", "--ask", "dot", "--seed", "1", "--roster", "class.csv", "-o", "hw").returncode == 0
    (tmp_path / "policy.toml").write_text('cells = "each"\n', encoding="utf-8")
    (tmp_path / "sheets").mkdir()
    hand_in(tmp_path, "Ada", off=0)
    return tmp_path


def hand_in(folder: Path, student: str, off: float) -> None:
    told = json.loads((folder / f"hw/{student}/problem.json").read_text(encoding="utf-8"))["inputs"]
    sheet = {"student": student, "dot": float(np.dot(told["a"], told["b"])) + off}
    (folder / f"sheets/{student}.json").write_text(json.dumps(sheet), encoding="utf-8")


@pytest.mark.thorough
def test_make(homework: Path) -> None:
    make, grades = program("make"), homework / "grades.json"
    (homework / "Makefile").write_text(block("Make", "make"), encoding="utf-8")

    def made() -> dict[str, Any]:
        done = carried_out([make], homework)
        assert done.returncode == 0, done.stderr
        students = json.loads(grades.read_text(encoding="utf-8"))["students"]
        return {one["student"]: one["score"] for one in students}

    assert made() == {"Ada": 2}
    assert (homework / "feedback/Ada.html").exists()
    assert "up to date" in carried_out([make], homework).stdout
    hand_in(homework, "Bob", off=3)
    assert made() == {"Ada": 2, "Bob": 0}, "an answer that is wrong is no fault of the run"
    (homework / "policy.toml").write_text("[points]\ndot = 3\n", encoding="utf-8")
    assert made() == {"Ada": 6, "Bob": 0}
    (homework / "sheets/Bob.json").write_text("{", encoding="utf-8")
    done = carried_out([make], homework)
    assert (done.returncode, grades.exists()) == (2, False), "what cannot be read is one"


@pytest.mark.thorough
@pytest.mark.parametrize(("answer", "status"), [([0.122, 0.331, 0.547], 0), ([0.3, 0.3, 0.4], 1), (None, 1)])
def test_github_classroom(run: Run, tmp_path: Path, answer: list[float] | None, status: int) -> None:
    bash = program("bash")
    assert run("quiz", "softmax", "--seed", "4", "--ask", "softmax", "-o", ".").returncode == 0
    if answer is not None:
        (tmp_path / "sheet.json").write_text(json.dumps({"softmax": answer}), encoding="utf-8")
    (tmp_path / "key.json").unlink()
    *_, command = re.findall(r"- run: (.+)", block("GitHub Classroom", "yaml"))
    (tmp_path / "step.sh").write_text(command, encoding="utf-8")
    summary = tmp_path / "summary.md"
    done = carried_out([bash, "-e", "step.sh"], tmp_path, GITHUB_STEP_SUMMARY=str(summary))
    assert (done.returncode, done.stderr) == (status, "")
    told = summary.read_text(encoding="utf-8")
    assert ("wrong" in told) == bool(status)
    assert answer == [0.122, 0.331, 0.547] or not re.search(r"0\.(12|33|54)", told)


def shares(x: list[float]) -> Any:
    powers = np.exp(x)
    return powers / powers.sum()


def test_otter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    otter = pytest.importorskip("otter", reason=ABSENT.format("otter-grader"))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/q1.py").write_text(block("otter", "python"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    notebook = otter.Notebook(tests_dir="tests")
    right = notebook.check("q1", global_env={"softmax": shares})
    wrong = notebook.check("q1", global_env={"softmax": lambda x: shares([-each for each in x])})
    assert [found.passed_all_public for found in (right, wrong)] == [True, False]
    said = repr(wrong)
    assert "softmax: mistake" in said
    assert "Does the largest score get the largest share?" in said
    assert not [value for value in shares([2, 1, 0.1]) if f"{value:.3f}" in said]


ANSWERS = {
    "Ada": (4, "    return (w := shares(q @ k.T / np.sqrt(k.shape[1]))), w @ v"),
    "Bob": (1, "    return (w := shares(q @ k.T)), w @ v"),
    "Eve": (0, "    raise NotImplementedError"),
}
"""What students write, and what they earn: Bob has not divided, and goes on from there."""
WRITTEN = """import numpy as np

def shares(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)

def attention(q, k, v):
    q, k, v = map(np.array, (q, k, v))
"""


def notebook(answer: str) -> str:
    """A notebook with the function that students write, and the cell that gives it points."""

    def cell(name: str, source: str, **told: Any) -> dict[str, Any]:
        own = {"grade_id": name, "schema_version": 3, "task": False, **told}
        head: dict[str, Any] = {"cell_type": "code", "id": name, "execution_count": None, "outputs": []}
        return {**head, "metadata": {"nbgrader": own}, "source": source}

    solution = cell("mine", WRITTEN + answer, grade=False, solution=True, locked=False)
    test = cell("test", block("nbgrader", "python"), grade=True, solution=False, locked=True, points=4)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": [solution, test], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole)


def test_nbgrader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nbgrader", reason=ABSENT.format("nbgrader"))
    from nbgrader.api import Gradebook  # type: ignore[import-not-found]  # a door: see above

    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'course'\n")
    places = {"source": "    ### BEGIN SOLUTION\n    ...\n    ### END SOLUTION"}
    places |= {f"submitted/{student}": answer for student, (_, answer) in ANSWERS.items()}
    for place, answer in places.items():
        (tmp_path / place / "week5").mkdir(parents=True)
        (tmp_path / place / "week5/attention.ipynb").write_text(notebook(answer), encoding="utf-8")
    for step in (["generate_assignment", "--create"], ["autograde", "--create"]):
        # nbgrader wants a home and Jupyter's folders, which are not to be this user's own
        own = {name: str(tmp_path / name.lower()) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
        done = carried_out([sys.executable, "-m", "nbgrader", *step, "week5"], tmp_path, **own)
        assert done.returncode == 0, done.stderr[-3000:]
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as book:
        found = {one.student.id: one.score for one in book.assignment_submissions("week5")}
    assert found == {student: points for student, (points, _) in ANSWERS.items()}
