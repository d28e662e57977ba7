"""Formulas as operands: typed, in files, on standard input, in documents; text throughout, and never evaluated here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attncalc.calculations import load
from attncalc.common.errors import InputError
from attncalc.inputs.calls import gather
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.python_values import to_given
from attncalc.inputs.reading import Reading

CALCULATION = load("gradient")


def read(word: str) -> str:
    return str(gather(CALCULATION, [word], {}, {}, Reading()).inputs["expression"].value)


@pytest.mark.parametrize("text", ["x**2", "2", "1,2,3", "x", "[1,2]", "exp", "-x", "q.v", "x/y"])
def test_a_word_is_taken_as_it_stands(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("1,2,3")
    assert read(text) == text


@pytest.mark.parametrize(
    ("name", "content"),
    [("f.txt", "x**2\n"), ("f.json", '"x**2"'), ("f.json", '{"expression": "x**2"}'), ("f.json", '{"f": "x**2"}')],
)
def test_a_file_holds_one(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    word = f"@{tmp_path / name}" + ("#f" if '"f"' in content else "")
    assert read(word) == "x**2"


def test_a_document_holds_one_with_its_point(tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    file.write_text(
        '{"calculation": "gradient", "inputs": {"expression": "x*y"}, "options": {"at": {"x": "1/3", "y": 2}}}'
    )
    document = load_document(str(file), Reading())
    assert str(document.inputs["expression"].value) == "x*y"
    assert document.options == {"at": {"x": "1/3", "y": 2}}
    gathered = gather(CALCULATION, [str(file)], {}, {}, Reading())
    assert str(gathered.inputs["expression"].value) == "x*y"
    assert gathered.options == document.options


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("f.json", "[1, 2]", "a formula is text"),
        ("f.json", '{"expression": null}', "holds no array"),
        ("f.json", '{"expression": {"a": 1}}', "holds no array"),
        ("f.npy", b"", "is empty"),
    ],
)
def test_what_is_no_text_is_refused(name: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read(f"@{tmp_path / name}")


def test_an_array_file_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.ones(3))
    with pytest.raises(InputError, match="holds arrays, and expression is a formula"):
        read(str(tmp_path / "f.npy"))


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match="there is no file"):
        read("nowhere.json")


def test_python_gives_text() -> None:
    operand = CALCULATION.operands[0]
    assert str(to_given(" x**2 ", operand).value) == "x**2"
    with pytest.raises(InputError, match="a formula is text"):
        to_given(3.0, operand)
