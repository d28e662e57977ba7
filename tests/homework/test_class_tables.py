"""The answers of a class in one CSV file: a student a row, an entry of a step a column."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncalc.errors import InputError
from attncalc.homework.grading import submissions
from attncalc.inputs import Reading


def test_each_row_is_a_sheet(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("student,w[0,0],w[0,1],result\nAnn,1/2,,3\nBob,1,2,3\n")
    ann, bob = submissions([str(path)], "key.json", Reading())
    assert (ann.name, ann.source, bob.name, bob.source) == ("Ann", "class.csv:2", "Bob", "class.csv:3")
    assert ann.sheet is not None
    assert {name: answer.text.tolist() for name, answer in ann.sheet.steps.items()} == {
        "w": [["1/2", None]],
        "result": "3",
    }


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("\n\n student,w[0]\nAnn,1\n")
    (ann,) = submissions([str(path)], "key.json", Reading())
    assert ann.source == "class.csv:4"


def test_a_wide_heading_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text(f"student,w{' ' * 100_000}x\nAnn,1\n")
    (ann,) = submissions([str(path)], "key.json", Reading())
    assert ann.sheet is not None
    assert len(*ann.sheet.steps) == 100_002


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("w[0],w[2]", "class.csv:2: a step lacks columns: 2 of 3 are there"),
        ("w[999999,999999],v", "class.csv:2: a step lacks columns: 1 of 1,000,000,000,000 are there"),
        ("w[0],w[0]", 'class.csv:2: two columns, 2 and 3, hold the same of "w"'),
        ("w,w", 'class.csv:2: two columns, 2 and 3, hold the same of "w"'),
        ("w[0],w", "class.csv:2: the columns of one step have places of different kinds"),
        (",w", "class.csv:1:2: the column has no name"),
    ],
    ids=["a gap", "a place far out", "a place twice", "a step twice", "places of two kinds", "no name"],
)
def test_columns_that_cannot_be_a_step(tmp_path: Path, columns: str, message: str) -> None:
    path = tmp_path / "class.csv"
    path.write_text(f"student,{columns}\nAnn,1,2\n")
    with pytest.raises(InputError) as error:
        submissions([str(path)], "key.json", Reading())
    assert error.value.message == message
