"""CONTRIBUTING.md, carried out to the letter: what its recipes add is added to a copy of the repository and tested."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
COPIED = ("attncalc", "docs", "samples", "tests", "pyproject.toml", "CONTRIBUTING.md", "README.md", ".ci")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".[!c]*")

STEP = re.compile(
    r"^ *(?P<where>At the end of|As|In) `(?P<path>[^`]+)`"
    r"(?:, (?P<side>above|below) the line that begins with (?P<ticks>`+) ?(?P<start>.+?) ?(?P=ticks))?:\n\n"
    r"(?: *<!-- fmt: off -->\n)?"
    r"(?P<indent> *)```\w+\n(?P<code>.*?)^ *```$"
    r"|^ *\$ (?P<command>[^\n]+)$",
    re.MULTILINE | re.DOTALL,
)

RECIPES: dict[str, dict[str, str]] = {
    "Add a calculation in ten minutes": {
        "attncalc mse": r"mse = \(0.25 \+ 0.25 \+ 0\) / 3 = 0.1667",
        "attncalc grad mse": "grad_prediction",
        "pytest": r"1[3-9] passed",
    },
    "Add a primitive": {"pytest": r"\d+ passed"},
    "Add a mistake": {"attncalc dot": "the products averaged", "pytest": r"\d+ passed"},
    "Add a format": {
        "attncalc softmax": r"\*\*\* exponentials\nexponentials = exp\(shifted\)",
        "attncalc explain": r"\* Formula",
        "pytest": r"\d+ passed",
    },
    "Add an input file": {"pytest": "2 passed"},
}
"""Recipe → what its commands print, by how they begin."""

NEW = ("mse", "bell", "dot", "org")
"""The rows of the tests' tables that hold what they add, or what that is added to."""

APART = (
    "test_contributing.py",
    "test_packaging.py",
    "test_seeds.py",
    "calculations/test_language_model.py",
    "cli/test_ends.py",
    "cli/test_large.py",
    "cli/test_plot.py",
    "cli/test_progress.py",
    "cli/test_quizzes.py",
    "homework/test_exports.py",
    "homework/test_feedback.py",
    "homework/test_model_dumps.py",
    "homework/test_policies.py",
    "homework/test_reports.py",
    "render/test_browser.py",
)
"""The tests of a few calculations that they name, at length: nothing that is added is looked at by any of them."""


class Edit(NamedTuple):
    """One step of the text: what goes where."""

    where: str
    path: str
    side: str | None
    start: str | None
    code: str

    def carry_out(self, folder: Path) -> None:
        """Do in a folder what the step says."""
        path = folder / self.path
        if self.where == "As":
            assert not path.exists(), f"{self.path} is there already"
            path.write_text(self.code, encoding="utf-8")
            return
        text = path.read_text(encoding="utf-8")
        if self.where == "In":
            lines = text.splitlines(keepends=True)
            found = [number for number, line in enumerate(lines) if line.lstrip().startswith(self.start or "?")]
            assert len(found) == 1, f"{self.path} has {len(found)} lines that begin with {self.start!r}"
            lines.insert(found[0] + (self.side == "below"), self.code + "\n\n" * self.code.startswith("def "))
            text = "".join(lines)
        else:
            text += f"\n\n{self.code}" if path.suffix == ".py" else self.code
        path.write_text(text, encoding="utf-8")


def steps(recipe: str) -> list[Edit | str]:
    """The edits and commands of a recipe, in their order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, heading, rest = text.partition(f"\n## {recipe}\n")
    assert heading, f"there is no recipe called {recipe}"
    found: list[Edit | str] = []
    for match in STEP.finditer(rest.partition("\n## ")[0]):
        if match["command"]:
            found.append(match["command"])
        else:
            code = "".join(line.removeprefix(match["indent"]) for line in match["code"].splitlines(keepends=True))
            found.append(Edit(match["where"], match["path"], match["side"], match["start"], code))
    return found


def edits() -> list[Edit]:
    """Those of all recipes."""
    return [step for recipe in RECIPES for step in steps(recipe) if isinstance(step, Edit)]


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command of the text, with the copy's attncalc."""
    program, *words = shlex.split(command)
    return subprocess.run(
        [sys.executable, *(["-m", program] if program != "python" else []), *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def copied(folder: Path, *recipes: str) -> Path:
    """A copy of the repository, in which recipes are carried out one after the other."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(ROOT / name, folder / name)
    for recipe in recipes:
        for step in steps(recipe):
            if isinstance(step, Edit):
                step.carry_out(folder)
    assert run(folder, "python docs/generate.py --tables").returncode == 0
    return folder


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which all recipes are carried out."""
    return copied(tmp_path_factory.mktemp("contributing"), *RECIPES)


def test_a_calculation_edits_one_file_of_the_package() -> None:
    edited = {step.path for step in steps("Add a calculation in ten minutes") if isinstance(step, Edit)}
    assert {path for path in edited if path.startswith("attncalc/")} == {"attncalc/calculations/losses.py"}


@pytest.mark.thorough
@pytest.mark.parametrize("recipe", RECIPES)
def test_what_a_recipe_adds_works_and_is_tested(copy: Path, recipe: str) -> None:
    printed = dict(RECIPES[recipe])
    for command in [step for step in steps(recipe) if isinstance(step, str)]:
        done = run(copy, command)
        wanted = [text for start, text in printed.items() if command.startswith(f"{start} ")]
        assert done.returncode == ("--check" in command), f"{command}\n{done.stdout[-3000:]}{done.stderr[-1000:]}"
        assert all(re.search(text, done.stdout) for text in wanted), f"{command}\n{done.stdout[-3000:]}"


@pytest.mark.release
def test_the_whole_suite_passes_with_all_that_the_recipes_add(tmp_path: Path) -> None:
    copy = copied(tmp_path, *RECIPES)
    of_what_is_new = " ".join(f"--row {name}" for name in NEW)
    without = " ".join(f"--ignore tests/{name}" for name in APART)
    assert all((ROOT / "tests" / name).exists() for name in APART)
    done = run(copy, f"pytest -q -n 0 -m 'not thorough and not release' {of_what_is_new} {without}")
    assert done.returncode == 0, "\n".join(line[:300] for line in done.stdout.splitlines() if line.startswith("FAILED"))
