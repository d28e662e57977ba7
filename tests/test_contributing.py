"""CONTRIBUTING.md, carried out to the letter: its calculation is added to a copy of the repository, run and tested."""

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
SECTION = "## Add a calculation in ten minutes"
COPIED = ("attncalc", "samples", "tests", "pyproject.toml", "README.md")

STEP = re.compile(
    r"^ *(?P<where>At the end of|As|In) `(?P<path>[^`]+)`"
    r"(?:, (?P<side>above|below) the line that begins with (?P<ticks>`+) ?(?P<start>.+?) ?(?P=ticks))?:\n\n"
    r"(?P<indent> *)```\w+\n(?P<code>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^ *\$ (.+)$", re.MULTILINE)


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
            lines.insert(found[0] + (self.side == "below"), self.code)
            text = "".join(lines)
        else:
            text += self.code
        path.write_text(text, encoding="utf-8")


def section() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.partition(SECTION)[2].partition("\n## ")[0]


def edits() -> list[Edit]:
    found = []
    for match in STEP.finditer(section()):
        code = "".join(line.removeprefix(match["indent"]) for line in match["code"].splitlines(keepends=True))
        found.append(Edit(match["where"], match["path"], match["side"], match["start"], code))
    return found


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which every step was carried out."""
    folder = tmp_path_factory.mktemp("contributing")
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    for edit in edits():
        edit.carry_out(folder)
    return folder


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command of the text, with the copy's attncalc."""
    program, *words = shlex.split(command)
    return subprocess.run(
        [sys.executable, "-m", program, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_text_says_where_each_piece_goes() -> None:
    assert [(edit.where, edit.path) for edit in edits()] == [
        ("At the end of", "attncalc/calculations/losses.py"),
        ("In", "attncalc/calculations/__init__.py"),
        ("As", "samples/mse.json"),
        ("In", "samples/README.md"),
        ("In", "tests/calculations/cases.py"),
        ("In", "tests/witness_probability.py"),
        ("In", "tests/witness_probability.py"),
    ]
    assert len(COMMAND.findall(section())) == 3


def test_the_command_is_there_and_right(changed: Path) -> None:
    forward, backward, _ = COMMAND.findall(section())
    done = run(changed, forward)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mse = (0.25 + 0.25 + 0) / 3 = 0.1667" in done.stdout
    done = run(changed, backward)
    assert (done.returncode, done.stderr) == (0, "")
    assert "grad_prediction" in done.stdout


def test_its_tests_are_run_and_pass(changed: Path) -> None:
    done = run(changed, COMMAND.findall(section())[2])
    assert done.returncode == 0, done.stdout[-3000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed, done.stdout[-300:]
    assert int(passed[1]) > 20, "the tests over the table have not been asked"
