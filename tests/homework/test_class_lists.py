"""A class in one CSV file: whose row says what, and what is wrong in a row costs that row alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.test_commands import Run

import attncalc as ac
from attncalc.errors import InputError
from attncalc.homework.class_lists import class_list
from attncalc.homework.grading import Settings, grade
from attncalc.homework.submissions import submissions
from attncalc.inputs import Reading

TRACE = ac.softmax([1, 2])
HEAD = "student,softmax[0],softmax[1]"
POINT = "write a decimal point: 1.5; a table with decimal commas is read with --decimal ,"


def graded(path: Path) -> list[tuple[str, str]]:
    """Each student with the verdict, or with why there is none."""
    found = grade(TRACE.problem, submissions([str(path)], "key.json", Reading()), Reading(), Settings())
    return [(one.student, one.marked.verdict if one.marked is not None else one.fault) for one in found]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param(f"{HEAD}\nAnn,0.269,0.731\nBob,0.5,0.5\n", ["Ann right", "Bob wrong"], id="a row each"),
        pytest.param("softmax[1], Student ,softmax[0]\n0.731,Ann,0.269\n", ["Ann right"], id="columns in any order"),
        pytest.param("student;softmax[0];softmax[1]\nAnn;0,269;0,731\n", ["Ann right"], id="decimal commas"),
        pytest.param("student,sum\nAnn,1.368\n", ["Ann right"], id="a single number"),
        pytest.param(f"{HEAD}\nAnn,,\n", ["Ann wrong"], id="nothing answered"),
        pytest.param(
            f"{HEAD}\nAnn,0.269,0.731\nBob,x,0.5\nCleo,0.269,0.731\n",
            ["Ann right", 'Bob class.csv:3:2: "x" is not a number', "Cleo right"],
            id="a cell that is no number",
        ),
        pytest.param(f"{HEAD}\n,0.269,0.731\n", ["class.csv:2 right"], id="a row without a name"),
        pytest.param(
            f"{HEAD},mail\nAnn,1,2,3\n",
            ['Ann softmax has no step "mail" (it has shifted, exponentials, sum, softmax)'],
            id="a column that is no step",
        ),
        pytest.param(
            f"{HEAD}\nAnn,0.269\nBob,0.269,0.731\nLee, Cy,0.269,0.731\nDi,0.269,0.731,\n",
            [
                "Ann class.csv:2: has 2 cells where line 1 has 3",
                "Bob right",
                "Lee class.csv:4: has 4 cells where line 1 has 3",
                "Di class.csv:5: has 4 cells where line 1 has 3 (take out the delimiter at the end of the line)",
            ],
            id="rows that are too short or too long",
        ),
        pytest.param(
            "softmax[0],softmax[1],student\n0.269,0.731\n0.269,0.731,Bob\n",
            ["class.csv:2 class.csv:2: has 2 cells where line 1 has 3", "Bob right"],
            id="a row too short for a name",
        ),
        pytest.param(
            "student;softmax[0];softmax[1]\nAnn;0,269;0,731\nBob;0.269;0.731\nCy;0,269;0.731\n",
            [
                "Ann right",
                "Bob right",
                f'Cy class.csv:4:2: "0,269" is not a number ({POINT})',
            ],
            id="each with a decimal mark of their own",
        ),
        pytest.param(f'{HEAD}\nAnn,"0,269","0,731"\n', ["Ann right"], id="decimal commas in quotes"),
        pytest.param(
            'student,sum\nAnn,"1,368"\n',
            [f'Ann class.csv:2:2: "1,368" is not a number ({POINT})'],
            id="a comma in quotes that may part thousands",
        ),
        pytest.param(f"{HEAD}\nAnn,0.269,0.731\n,,\n,,\n", ["Ann right"], id="rows that only fill the page"),
        pytest.param(f"{HEAD}\nAnn,n/a,N/A\n", ["Ann wrong"], id="not available"),
    ],
)
def test_each_row_is_marked(tmp_path: Path, text: str, rows: list[str]) -> None:
    path = tmp_path / "class.csv"
    path.write_text(text)
    assert [" ".join(one) for one in graded(path)] == rows


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0.269,0.731\n", id="a result"),
        pytest.param("@student,Ann\n@softmax\n0.269,0.731\n", id="a sheet in blocks"),
        pytest.param("students,softmax[0],softmax[1]\nAnn,0.269,0.731\n", id="a column of another name"),
    ],
)
def test_another_table_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ann.csv"
    path.write_text(text)
    assert class_list(path, Reading()) is None


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
        ("w[0],w[2]", 'class.csv:1: "w" lacks columns: 2 of 3 are there'),
        ("w[999999,999999],v", 'class.csv:1: "w" lacks columns: 1 of 1,000,000,000,000 are there'),
        ("w[0],w[0]", 'class.csv:1: two columns, 2 and 3, hold the same of "w"'),
        ("w,w", 'class.csv:1: two columns, 2 and 3, hold the same of "w"'),
        ("w[0],w", 'class.csv:1: the columns of "w" have places of different kinds'),
        (",w", "class.csv:1:2: the column has no name"),
        ("w,", "class.csv:1:3: the column has no name"),
    ],
    ids=["a gap", "a place far out", "a place twice", "a step twice", "places of two kinds", "no name", "no last name"],
)
def test_columns_that_cannot_be_a_step(tmp_path: Path, columns: str, message: str) -> None:
    path = tmp_path / "class.csv"
    path.write_text(f"student,{columns}\nAnn,1,2\n")
    with pytest.raises(InputError) as error:
        submissions([str(path)], "key.json", Reading())
    assert error.value.message == message


def test_what_cannot_be_read_has_a_row_that_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ann.csv").write_bytes(b"\xff\xfe\x00")
    done = run("softmax", "1,2", "-o", "key.json")
    done = run("grade", "key.json", "ann.csv")
    assert done.returncode == 2
    assert done.stdout.splitlines()[1].split()[:3] == ["ann", "unreadable", "ann.csv:1:3:"]


def test_whoever_hands_in_twice_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(f"{HEAD}\nAnn,0.269,0.731\nBob,0.269,0.731\nAnn,0.5,0.5\n")
    run("softmax", "1,2", "-o", "key.json")
    done = run("grade", "key.json", "class.csv")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:4]] == ["Ann", "Bob", "Ann"]
    assert done.stderr == 'note: 2 sheets are from "Ann": class.csv:2 and class.csv:4\n'
