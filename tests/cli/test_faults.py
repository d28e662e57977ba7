"""What a caller is told: calls at fault, each with its whole message, to be read aloud."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from faulty_calls import CALLS, FILES
from rows import rows

from attncalc.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the calls read."""
    made = tmp_path_factory.mktemp("faults")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    np.save(made / "complex.npy", np.array([1j]))
    np.save(made / "objects.npy", np.array([{}], dtype=object))
    (made / "folder").mkdir()
    return made


@pytest.mark.thorough
@rows(("line", "message", "hint"), [(line, *said) for line, said in CALLS.items()], ids=CALLS)
def test_a_fault_is_one_line_and_its_mend_another(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    message: str,
    hint: str,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert app(shlex.split(line), standalone_mode=False) == 2
    said = capsys.readouterr()
    assert said.err == f"Error: {message}\n" + (f"hint: {hint}\n" if hint else "")
    assert said.out == ""


def test_no_call_has_written_anything(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {*FILES, "complex.npy", "objects.npy", "folder"}


HOSTILE = {
    "an escape": "\x1b[2J",
    "a new line": "a\nError: forged",
    "a carriage return": "a\rError: forged",
    "a right-to-left override": "\u202egnissim",
    "a byte that is no UTF-8": "\udcff",
    "a control of eight bits": "\x9b31m",
    "markup": "[red]x[/red] :smile:",
}
PLACES = {
    "command": ["{}"],
    "option": ["cosine", "--{}"],
    "operand": ["cosine", "{}", "1"],
    "step": ["cosine", "1", "2", "--get", "{}"],
    "choice": ["cosine", "1", "2", "-f", "{}"],
    "number": ["softmax", "1,2", "--temperature", "{}"],
    "file": ["cosine", "1", "2", "-o", "{}.x"],
    "document": ["run", "{}"],
    "sample": ["sample", "{}"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_the_caller_wrote_stays_text(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: list[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app([word.replace("{}", text) for word in place], standalone_mode=False) == 2
    said = capfd.readouterr()
    lines = said.err.splitlines()
    assert said.out == ""
    assert [line.partition(": ")[0] for line in lines] in (["Error"], ["Error", "hint"])
    assert said.err.replace("\n", "").isprintable()


@pytest.mark.thorough
@pytest.mark.parametrize("place", [words for name, words in PLACES.items() if name != "step"])
def test_a_very_long_word_is_cut(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app([word.replace("{}", "x" * 5_000) for word in place], standalone_mode=False) == 2
    assert all(len(line) < 500 for line in capfd.readouterr().err.splitlines())
