"""A class in CSV files: whose row says what, and what is wrong in a row costs that row alone."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st

import attncalc as ac
from attncalc.common.errors import InputError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.marking.whole_class import Settings, grade
from attncalc.homework.reading import answers, sheets
from attncalc.homework.reading.class_lists import class_list
from attncalc.homework.reading.submissions import submissions
from attncalc.inputs.reading import Reading

TRACE = ac.softmax([1, 2])
KEY = Key(TRACE.problem)
TEXT = st.one_of(st.sampled_from('"\n\r,; \t@S'), st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
IT_HAS = "it has shifted, exponentials, sum, softmax"
HEAD = "student,softmax[0],softmax[1]"
NOBODY = '2.csv:1: no column says whose a row is (call the column of the names "student")'
QUOTE = "a quote does not enclose a whole cell, or is not closed"
NOT_CLOSED = "a quote is not closed, so that no row below it can be told"
POINT = "write a decimal point: 1.5; a table with decimal commas is read with --decimal ,"


def graded(*paths: Path) -> list[tuple[str, str]]:
    """Each student with the verdict, or with why there is none."""
    words = [str(path) for path in paths]
    found = grade(TRACE.problem, submissions(words, "key.json", Reading(), KEY.names), Reading(), Settings())
    return [(one.student, one.marked.verdict if one.marked is not None else one.fault) for one in found]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param(f"{HEAD}\nAnn,0.269,0.731\nBob,0.5,0.5\n", ["Ann right", "Bob wrong"], id="a row each"),
        pytest.param("softmax[1], Student ,softmax[0]\n0.731,Ann,0.269\n", ["Ann right"], id="columns in any order"),
        pytest.param("student;softmax[0];softmax[1]\nAnn;0,269;0,731\n", ["Ann right"], id="decimal commas"),
        pytest.param("student,sum\nAnn,1.368\n", ["Ann right"], id="a single number"),
        pytest.param("student,sum\nAnn,1/2\nBob,1.368\n", ["Ann wrong", "Bob right"], id="a single number, exactly"),
        pytest.param(f"{HEAD}\nAnn,,\n", ["Ann wrong"], id="nothing answered"),
        pytest.param(
            "student,softmax[1]\nAnn,0.731\nBob,0.5\nCy,\n",
            ["Ann right", "Bob wrong", "Cy wrong"],
            id="a form with some entries",
        ),
        pytest.param(
            "student,sum,softmax[0]\nAnn,1.368,0.269\nBob,1.368,\n",
            ["Ann right", "Bob wrong"],
            id="a form's entries left out",
        ),
        pytest.param(
            f"{HEAD}\nAnn,0.269,0.731\nBob,x,0.5\nCleo,0.269,0.731\n",
            ["Ann right", 'Bob class.csv:3:2: "x" is not a number', "Cleo right"],
            id="a cell that is no number",
        ),
        pytest.param(f"{HEAD}\n,0.269,0.731\n", ["class.csv:2 right"], id="a row without a name"),
        pytest.param(
            f'{HEAD}\nAnn,0.269,0.731\n"Lee, Bob,0.269,0.731\nCleo,0.269,"0.731"\nDi,0.269,"0.731\n',
            [
                "Ann right",
                f"class.csv:3 class.csv:3: {QUOTE}: lines 3 to 4 are one row",
                f"class.csv:5 class.csv:5: {NOT_CLOSED}",
            ],
            id="quotes left open",
        ),
        pytest.param(
            f'{HEAD}\nAnn,0.269,"0.731\nBob,0.269,0.731\nCleo,0.269,"\nDi,0.269,0.731\n',
            [
                'Ann class.csv:2:3: "0.731\\nBob,0.269,0.731\\nCleo,0.269," is not a number',
                "Di right",
            ],
            id="a quote that a later one closes",
        ),
        pytest.param(
            f'{HEAD}\nAnn,0.269,"0.731\nBob,0.269,0.731\n",\nCleo,0.269,0.731\n',
            [
                "Ann class.csv:2: has 4 cells where line 1 has 3 (take out the delimiter at the end of the line)",
                "Cleo right",
            ],
            id="a cell with another student's row",
        ),
        pytest.param(
            f'{HEAD},remarks\nAnn,0.269,0.731,"a\nb"\nBob,0.269,0.731,"ok\n\nCleo,0.269,0.731,\n',
            ["Ann right", f"class.csv:4 class.csv:4: {NOT_CLOSED}"],
            id="a remark that is not closed",
        ),
        pytest.param(
            f'{HEAD},a,b\nAnn,0.269,0.731,"1\n2","3\n4\nBob,0.269,0.731,,\n',
            [f"class.csv:3 class.csv:3: {NOT_CLOSED}"],
            id="the line of a quote that is not closed is its own",
        ),
        pytest.param(
            f'{HEAD},remarks\nAnn,0.269,0.731,"\nZoe,0.269,0.731,{"long " * 40_000}\nZoe,0.269,0.731,"\nBob,0.5,0.5,\n',
            ["class.csv:2 class.csv:2: a cell is too long: lines 2 to 4 are one row", "Bob wrong"],
            id="a cell beyond what is read",
        ),
        pytest.param(
            'student;softmax[0];softmax[1];"remarks, if\nany"\nAnn;0,269;0,731;"none,\n"\n',
            ["Ann right"],
            id="a heading of several lines",
        ),
        pytest.param(
            f'{HEAD},remarks\nAnn,0.269,0.731,"I did,\nas you said"\nBob,0.269,0.731,\n',
            ["Ann right", "Bob right"],
            id="remarks of several lines",
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
            "sep=;\nstudent, the;softmax[0];softmax[1];remarks\nAnn;0,269;0,731;a, b, c\n",
            ["Ann right"],
            id="a delimiter that is named",
        ),
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


@pytest.mark.thorough
@given(st.lists(st.lists(st.text(TEXT, max_size=20), min_size=2, max_size=2), max_size=8))
def test_nothing_in_a_cell_makes_a_row(tmp_path_factory: pytest.TempPathFactory, remarks: list[list[str]]) -> None:
    path = tmp_path_factory.getbasetemp() / "remarks.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", "remarks", "softmax[0]", "why", "softmax[1]"])
        writer.writerows([f"S{i}", *before, *after] for i, (before, after) in enumerate(answered(remarks)))
    rows = class_list(path, Reading(), KEY.names)
    assert rows is not None
    assert [row.name for row in rows] == [f"S{i}" for i in range(len(remarks))]
    assert all(row.sheet is not None for row in rows)


def answered(remarks: list[list[str]]) -> Iterator[tuple[list[str], list[str]]]:
    """Each student's cells, where a remark stands beside either answer."""
    for before, after in remarks:
        yield [before, "0.269"], [after, "0.731"]


def test_a_list_of_too_many_rows_is_listed_and_the_others_are_marked(run: Run, tmp_path: Path) -> None:
    for name, count in (("long", 4), ("full", 3)):
        (tmp_path / f"{name}.csv").write_text(f"{HEAD}\n" + "".join(f"S{i},0.269,0.731\n,,\n" for i in range(count)))
    run("softmax", "1,2", "-o", "key.json")
    done = run("grade", "key.json", "long.csv", "full.csv", "--max-rows", "3", "-f", "json")
    rows = [(row["student"], row["verdict"], row.get("error")) for row in json.loads(done.stdout)["students"]]
    fault = "long.csv has more than 3 rows, the most that is marked"
    assert (done.returncode, rows[0]) == (2, ("long", "unreadable", fault))
    assert rows[1:] == [(f"S{i}", "right", None) for i in range(3)]
    alone = run("grade", "key.json", "long.csv", "--max-rows", "3")
    assert alone.returncode == 2
    assert alone.stdout.splitlines()[1].split()[:2] == ["long", "unreadable"]
    assert run("grade", "key.json", "long.csv", "--max-rows", "4").returncode == 0


@pytest.mark.thorough
def test_no_list_has_more_than_ten_thousand_rows_unless_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text(f"{HEAD}\n" + "Ann,0.269,0.731\n" * 100_001)
    (one,) = submissions([str(path)], "key.json", Reading(), KEY.names)
    assert one.error == "class.csv has more than 10,000 rows, the most that is marked"


def test_a_row_has_the_time_of_a_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(cells: Sequence[str], *rest: Any, **more: Any) -> Any:
        while "9" in cells:
            pass
        return from_text(cells, *rest, **more)

    from_text = answers.from_text
    monkeypatch.setattr(answers, "from_text", slow)
    monkeypatch.setattr(sheets, "MOST_SECONDS", 0.05)
    for words in (["class.csv"], ["class.csv", "other.csv"]):
        for name in words:
            (tmp_path / name).write_text(f"{HEAD}\nAnn,0.269,0.731\nBob,9,9\nCy,0.269,0.731\n")
        found = submissions([str(tmp_path / name) for name in words], "key.json", Reading(), KEY.names)
        assert [one.error for one in found] == ["", "it takes more than 0.05 seconds to be read", ""] * len(words)


@pytest.mark.parametrize(
    ("texts", "rows"),
    [
        pytest.param(
            [f"{HEAD}\nAnn,0.269,0.731\nBob,0.5,0.5\n", "Name;softmax[0];softmax[1]\nCy;0,269;0,731\nDi;0,5;0,5\n"],
            ["Ann right", "Bob wrong", "Cy right", "Di wrong"],
            id="a class over two files",
        ),
        pytest.param(
            [f"{HEAD}\nAnn,0.269,0.731\n", "@student,Bob\n@softmax\n0.5,0.5\n", "0.269,0.731\n"],
            ["Ann right", "Bob wrong", "2 right"],
            id="a list, a sheet and a result",
        ),
        pytest.param(
            [
                f"{HEAD}\nAnn,0.269,0.731\n",
                "softmax[0],softmax[1]\n0.269,0.731\n",
                "pupil,softmax[0],softmax[1]\nBob,0.269,0.731\nCy,0.5,0.5\n",
            ],
            ["Ann right", "1 right", f"2 {NOBODY}"],
            id="a row without a name is that of whom the file is called after, several are nobody's",
        ),
        pytest.param(
            [f"{HEAD}\nAnn,0.269,0.731\n", "student,softmax[0],sofmax[1]\nBob,0.269,0.731\n", "\n \n"],
            ["Ann right", '1 1.csv:1:3: softmax has no step "sofmax" (did you mean softmax?)', "2 2.csv is empty"],
            id="a list with a fault costs that list alone",
        ),
    ],
)
def test_each_list_of_several_files_is_a_class(tmp_path: Path, texts: list[str], rows: list[str]) -> None:
    paths = [tmp_path / f"{i}.csv" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    assert [" ".join(one).replace(f"{tmp_path}/", "") for one in graded(*paths)] == rows


def test_rows_of_lists_that_are_called_alike_say_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("monday/class.csv", "tuesday/class.csv", "late.csv"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{HEAD}\nAnn,0.269,0.731\n")
    found = submissions(["monday", "tuesday", "late.csv"], "key.json", Reading(), KEY.names)
    assert [one.source for one in found] == ["monday/class.csv:2", "tuesday/class.csv:2", "late.csv:2"]


@pytest.mark.parametrize("words", ["class.csv", "class.csv late.csv"])
def test_a_report_is_not_written_over_a_list(run: Run, tmp_path: Path, words: str) -> None:
    for name in ("class.csv", "late.csv"):
        (tmp_path / name).write_text(f"{HEAD}\nAnn,0.269,0.731\n")
    run("softmax", "1,2", "-o", "key.json")
    done = run("grade", "key.json", *words.split(), "--report", "csv", "-o", "class.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: cannot write class.csv: the calculation reads it\n")
    assert (tmp_path / "class.csv").read_text().startswith(HEAD)


HEADINGS = {
    "a form": (
        "Timestamp,Email Address,Student Name,softmax[0],softmax[1],Any comments?",
        "2026/11/21 10:02:11 AM GMT+1,ann@x.org,Ann Lee,0.269,0.731,hard!",
        ["Timestamp", "Email Address", "Any comments?"],
    ),
    "a course": (
        '"First name","Surname","ID number","Email address","State","Grade/10.00",softmax[0],softmax[1]',
        '"Ann","Lee","1234567","ann@x.org","Finished","7.50",0.269,0.731',
        ["ID number", "Email address", "State", "Grade/10.00"],
    ),
    "a spreadsheet with decimal commas": (
        "\ufeffName;Group;softmax[0];softmax[1];Points;;",
        "Ann Lee;2;0,269;0,731;1.5;;",
        ["Group", "Points"],
    ),
    "numbers that students have": ("Matriculation number,softmax[0],softmax[1]", "Ann Lee,0.269,0.731", []),
    "the best name of several": ("ID,Name,Student,softmax[0],softmax[1]", "7,A.,Ann Lee,0.269,0.731", ["ID", "Name"]),
    "text under what is nearly a step": ("Name,softmax[0],softmax[1],Sums", "Ann Lee,0.269,0.731,1 / 2", ["Sums"]),
    "marks beside answers": (
        "Name,softmax[0],softmax[0] (marks),softmax[1],softmax[1]: why?,softmax: marks,(all)",
        "Ann Lee,0.269,2,0.731,2,4,8",
        ["softmax[0] (marks)", "softmax[1]: why?", "softmax: marks", "(all)"],
    ),
    "text under a step with a remark": (
        "Name,softmax[0],softmax[1],sum (how?)",
        "Ann Lee,0.269,0.731,added",
        ["sum (how?)"],
    ),
    "places as programs write them": ("Name,softmax[0],softmax [ 1 ]", "Ann Lee,0.269,0.731", []),
}


@pytest.mark.parametrize(("headings", "row", "others"), HEADINGS.values(), ids=HEADINGS)
def test_what_is_beside_the_answers_is_passed_over(tmp_path: Path, headings: str, row: str, others: list[str]) -> None:
    path, reading = tmp_path / "class.csv", Reading()
    path.write_text(f"{headings}\n{row}\n", encoding="utf-8")
    rows = class_list(path, reading, KEY.names)
    assert rows is not None
    [one] = rows
    assert one.sheet is not None
    assert (one.name, Marker(KEY).mark(one.sheet).verdict) == ("Ann Lee", "right")
    assert [re.findall('"(.*?)"', note) for note in reading.notes] == ([others] if others else [])


def test_a_heading_is_told_as_it_stands(run: Run, tmp_path: Path) -> None:
    """Its place may have commas, which part no cells."""
    (tmp_path / "list.csv").write_text('student,sum,"w [0, 1]?",sum[0,0]-x\nAnn,1,no,no\n')
    run("softmax", "1,2", "-o", "key.json")
    said = '"w [0, 1]?" and "sum[0,0]-x" are no steps of softmax'
    assert said in run("grade", "key.json", "list.csv").stderr


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0.269,0.731\n", id="a result"),
        pytest.param("@student,Ann\n@softmax\n0.269,0.731\n", id="a sheet in blocks"),
        pytest.param("x[0],x[1]\n0.269,0.731\n", id="a result whose labels have places"),
        pytest.param("name,value\ncat,0.269\ndog,0.731\n", id="a result whose rows have names"),
    ],
)
def test_another_table_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ann.csv"
    path.write_text(text)
    assert class_list(path, Reading(), KEY.names) is None


def test_each_row_is_a_sheet(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("student,sum[0,0],sum[0,1],result\nAnn,1/2,,3\nBob,1,2,3\n")
    ann, bob = submissions([str(path)], "key.json", Reading(), KEY.names)
    assert (ann.name, ann.source, bob.name, bob.source) == ("Ann", "class.csv:2", "Bob", "class.csv:3")
    assert ann.sheet is not None
    assert {name: answer.text.tolist() for name, answer in ann.sheet.steps.items()} == {
        "sum": [["1/2", None]],
        "result": "3",
    }


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("\n\n student,softmax[0]\nAnn,1\n")
    (ann,) = submissions([str(path)], "key.json", Reading(), KEY.names)
    assert ann.source == "class.csv:4"


def test_a_wide_heading_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text(f"student,sum,w{' ' * 100_000}x\nAnn,1,2\n")
    (ann,) = submissions([str(path)], "key.json", Reading(), KEY.names)
    assert ann.sheet is not None
    assert [*ann.sheet.steps] == ["sum"]


@pytest.mark.parametrize(
    ("columns", "message", "hint"),
    [
        ("student,softmax[0],softmax[2]", 'class.csv:1: "softmax" has no entry "[2]"', 'its last one is "[1]"'),
        (
            "student,softmax[1],softmax[2]",
            'class.csv:1: "softmax" has no entry "[2]"',
            "in a list places are counted from 0, whatever --index-base prints",
        ),
        ("student,softmax[999999,999999],sum", 'class.csv:1: "softmax" has too many entries: 1,000,000,000,000', ""),
        ("student,sum[0],sum[0]", 'class.csv:1: two columns, 2 and 3, hold the same of "sum"', ""),
        ("student,sum,sum", 'class.csv:1: two columns, 2 and 3, hold the same of "sum"', ""),
        ("student,sum,Student", 'class.csv:1: two columns, 1 and 3, are called "student"', "leave one of them"),
        ("First Name,Name,sum,name", 'class.csv:1: two columns, 2 and 4, are called "name"', "leave one of them"),
        ("student,sum[0],sum", 'class.csv:1: the columns of "sum" have places of different kinds', ""),
        ("student,,sum", "class.csv:1:2: the column has no name", ""),
        ("student,sum,", "class.csv:1:3: the column has no name", ""),
        ("student,sum,sofmax", 'class.csv:1:3: softmax has no step "sofmax"', "did you mean softmax?"),
        ("student,softmax[0],sofmax[1]", 'class.csv:1:3: softmax has no step "sofmax"', "did you mean softmax?"),
        ("student,sum,w[0]", 'class.csv:1:3: softmax has no step "w"', IT_HAS),
        (
            "student,softmax[0],softmax[1] (three decimals)",
            'class.csv:1:3: "softmax[1] (three decimals)" is no step of softmax, and what stands below are numbers',
            'call the column "softmax[1]"',
        ),
        (
            "student,softmax[0],sum: three decimals",
            'class.csv:1:3: "sum: three decimals" is no step of softmax, and what stands below are numbers',
            'call the column "sum"',
        ),
        ("name,w[0],w[1]", 'class.csv:1:2: softmax has no step "w"', IT_HAS),
        ("student,mail,w", "class.csv:1: no column is a step of softmax", IT_HAS),
        (
            "pupil,softmax[0],softmax[1]",
            "class.csv:1: no column says whose a row is",
            'call the column of the names "student"',
        ),
    ],
    ids=[
        "a place too far",
        "places from 1 on",
        "a place far out",
        "a place twice",
        "a step twice",
        "students twice",
        "names twice",
        "places of two kinds",
        "no name",
        "no last name",
        "a step misspelt",
        "a step misspelt once",
        "a place in no step",
        "a place with a remark",
        "a step with a remark",
        "places in no step alone",
        "no step",
        "nobody's",
    ],
)
def test_columns_that_cannot_be_a_step(tmp_path: Path, columns: str, message: str, hint: str) -> None:
    path = tmp_path / "class.csv"
    path.write_text(f"{columns}\nAnn,1,2\n")
    with pytest.raises(InputError) as error:
        submissions([str(path)], "key.json", Reading(), KEY.names)
    assert (error.value.message, error.value.hint) == (message, hint)


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
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:4]] == [["Ann", "wrong"], ["Bob", "right"], []]
    assert done.stderr == 'note: 2 sheets are from "Ann": class.csv:2 and class.csv:4; class.csv:4 counts\n'
    first = run("grade", "key.json", "class.csv", "--first")
    assert [line.split()[:2] for line in first.stdout.splitlines()[1:4]] == [["Ann", "right"], ["Bob", "right"], []]
    assert first.stderr.endswith("; class.csv:2 counts\n")


@pytest.mark.thorough
def test_a_report_of_an_earlier_run_is_told_and_passed_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(f"{HEAD}\nAnn,0.269,0.731\nBob,0.5,0.5\n")
    run("softmax", "1,2", "-o", "key.json")
    first = run("grade", "key.json", "*.csv", "-o", "grades.csv")
    again = run("grade", "key.json", "*.csv", "-o", "grades.csv")
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout), again.stderr + first.stderr
    assert again.stderr == "note: grades.csv is a report, no sheet, and passed over\n"
    report = (tmp_path / "grades.csv").read_text()
    (tmp_path / "grades.csv").write_text("\ufeff" + report.replace(",", ";"))  # as a spreadsheet saves it
    run("grade", "key.json", "class.csv", "-o", "grades.json")
    run("grade", "key.json", "class.csv", "-f", "gradescope", "-o", "each")
    everything = run("grade", "key.json", ".", "-o", "grades.md")
    assert everything.stdout == first.stdout
    assert everything.stderr.count("is a report, no sheet, and passed over\n") == 4


def test_a_report_alone_and_the_key_alone_are_no_sheets(run: Run, tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(json.dumps(ac.softmax([0, 1]).to_dict()))
    (tmp_path / "list.csv").write_text("student,softmax[0],softmax[1]\nAnn,0.2689,0.7311\n")
    assert run("grade", "key.json", "list.csv", "-o", "g.json").returncode == 0
    for word in ("g.json", "key.json"):
        done = run("grade", "key.json", word)
        said = "Error: there is no sheet to grade\nhint: a key is not marked, nor a report\n"
        assert (done.returncode, done.stderr) == (2, said)


def test_columns_that_are_passed_over_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(f"{HEAD},mail,group\nAnn,0.269,0.731,a@x.org,2\n")
    run("softmax", "1,2", "-o", "key.json")
    done = run("grade", "key.json", "class.csv")
    assert done.returncode == 0
    assert done.stderr == 'note: class.csv: "mail" and "group" are no steps of softmax, and passed over\n'


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("softmax[1]", True),
        ("softmax[1],sum", True),
        ("softmax[0]", False),
        ("softmax[0],softmax[1]", False),
        ("sum", False),
    ],
)
def test_places_that_may_be_meant_from_1_are_told(run: Run, tmp_path: Path, columns: str, said: bool) -> None:
    """A form that asks for single entries and counts them from 1 is read otherwise, and nothing else would tell."""
    (tmp_path / "key.json").write_text(json.dumps(TRACE.to_dict()))
    (tmp_path / "class.csv").write_text(f"student,{columns}\nAnn{',0.3' * (columns.count(',') + 1)}\n")
    done = run("grade", "key.json", "class.csv")
    assert ("no column is of a first entry; in a list places are counted from 0" in done.stderr) is said


@pytest.mark.parametrize("file", ["list.csv", "sheet.json"])
def test_a_place_that_somebody_has_written_is_told_as_it_was_written(run: Run, tmp_path: Path, file: str) -> None:
    """What pages tell of places of ours is counted from 1 where that is asked for."""
    (tmp_path / "key.json").write_text(json.dumps(TRACE.to_dict()))
    (tmp_path / "ann.json").write_text('{"softmax": [0.2689, 0.7312]}')
    (tmp_path / "list.csv").write_text("student,softmax[1],softmax[2]\nEve,0.3,0.7\n")
    (tmp_path / "sheet.json").write_text('{"student": "Eve", "softmax[2]": 0.7}')
    done = run("grade", "key.json", "ann.json", file, "--index-base", "1")
    assert 'has no entry "[2]"' in done.stdout
