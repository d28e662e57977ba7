"""The wheel and the sdist: what they hold, and a wheel that is installed and run far from the repository."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(built.glob("*.whl")))


@pytest.mark.thorough
def test_the_wheel_holds_the_package_and_its_samples(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    files = [path for path in (ROOT / "attncalc").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    package = {str(path.relative_to(ROOT)) for path in files}
    samples = {f"attncalc/{path.relative_to(ROOT)}" for path in (ROOT / "samples").rglob("*") if path.is_file()}
    assert {"attncalc/py.typed", "attncalc/__init__.pyi"} <= package
    assert package | samples <= names
    assert any(name.endswith("share/man/man1/attncalc.1") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0].partition("-")[0] for name in wheel.namelist()}
    assert tops == {"attncalc"}
    assert not [name for name in wheel.namelist() if name.endswith((".pyc", ".orig")) or "/tests/" in name]


def test_the_sdist_can_be_tested(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        ".ci/run",
        "docs/generate.py",
    }
    tests = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}
    assert wanted | tests <= names


def test_the_citation_says_what_the_project_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    listed = [f"  - {word}" for word in project["keywords"]]
    said = [f"version: {project['version']}", f"license: {project['license']}", *listed]
    assert [line for line in said if line not in cited] == []


RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from attncalc.__main__ import main; main()"


@pytest.mark.thorough
def test_an_installed_wheel_has_its_samples(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    wheel.extractall(installed)  # noqa: S202 - our own archive, built a moment ago
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(installed), "sample", "attention"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == (ROOT / "samples/attention.json").read_text(encoding="utf-8")
