"""What stands in front of the answers of a CSV sheet: who wrote it, and to how many decimals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rows import rows

import attncalc as ac
from attncalc.common.errors import InputError
from attncalc.homework.reading.answers import Sheet
from attncalc.homework.reading.sheets import NO_EFFECT, from_contents, from_tree
from attncalc.inputs.csv_files import TextFile
from attncalc.inputs.reading import Reading


def read(text: str) -> Sheet:
    return from_contents(TextFile("s.csv", text), Reading())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=ascii)
def test_lines_end_as_they_like(end: str) -> None:
    sheet = read(end.join(["@student,Ann", "@rounding,02", "@w", "0.5", ""]))
    assert (sheet.student, sheet.decimals, [*sheet.steps]) == ("Ann", 2, ["w"])


def test_a_line_separator_in_a_cell_ends_no_line() -> None:
    with pytest.raises(InputError, match=r"^s\.csv:3:1: "):
        read("@student,Ann\n@w\nx\u2028@student,Bob\n")


ODD = "s.csv: rounding is a number of decimals from 0 to 15"


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("@rounding,²", ODD),
        ("@rounding,16", ODD),
        ("@rounding,00003", ODD),
        ("@student,Ann\n@student,Bob", 's.csv:2: "@student" stands twice'),
    ],
    ids=["a raised digit", "too many", "five digits", "two students"],
)
def test_what_is_no_head(head: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(f"{head}\n@w\n1\n")
    assert error.value.message == message


PLACES: dict[str, Callable[[str], Any]] = {
    "beside the steps": lambda word: {"steps": {"w": [0.5]}, word: 1},
    "beside steps at the top": lambda word: {"w": [0.5], word: 1},
    "in a step of a list": lambda word: {
        "steps": [{"name": "v", "value": [1]}, {"name": "w", "value": [0.5], word: 1}]
    },
    "in a list of steps": lambda word: [{"name": "w", "value": [0.5], word: 1}],
}


@rows("word", NO_EFFECT)
@pytest.mark.parametrize("place", PLACES)
def test_what_only_the_key_may_say_has_no_effect_and_is_told(word: str, place: str) -> None:
    sheet = from_tree(PLACES[place](word), "s.json")
    assert sheet.notes == (f's.json: "{word}" has no effect: a sheet holds answers only',)
    assert sheet.steps["w"].value.tolist() == [0.5]


TABLES = {
    "numbers alone": ("0.5,0.25\n1,2", (2, 2)),
    "labels of columns": ("cat,dog\n0.5,0.25", (1, 2)),
    "labels of rows": ("cat,0.5\ndog,0.25", (2, 1)),
    "labels of both, as a saved result has them": (",cat,dog\ncat,1,0.5\ndog,0.5,1", (2, 2)),
    "a row without answers": ("?,-\n0.5,0.25", (2, 2)),
    "a column without answers": ("?,0.5\n,0.25", (2, 2)),
}


@pytest.mark.parametrize(("table", "shape"), TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("head", ["", "@w\n"], ids=["the result", "a block"])
def test_labels_are_no_answers(head: str, table: str, shape: tuple[int, int]) -> None:
    (answer,) = read(head + table).steps.values()
    assert answer.shape == shape


def test_a_word_among_labelled_answers_has_its_place() -> None:
    (answer,) = read(",cat,dog\ncat,1,0.5\ndog,x,1").steps.values()
    assert str(answer.wordy) == 's.csv:3:2: "x" is not a number'


BELOW = "the rows of a step stand below a line @weights"
BY_NAME = 'steps stand by their names at the top, or under "steps"'


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param("weights\n0.36,0.64\n", BELOW, id="a name by itself"),
        pytest.param("weights:\n0.36 0.64\n", BELOW, id="a name with a colon"),
        pytest.param("0.36\n0.36,0.64\n", "", id="a number by itself"),
    ],
)
def test_a_step_without_its_mark_is_told_how_to_begin(text: str, hint: str) -> None:
    with pytest.raises(InputError) as error:
        read(text)
    assert error.value.hint == hint


def test_a_list_of_steps_needs_nothing_around_it() -> None:
    assert [*from_tree([{"name": "w", "value": [1]}, {"name": "v", "value": [2]}], "s.json").steps] == ["w", "v"]


def test_steps_under_another_word_are_told_where_they_stand() -> None:
    with pytest.raises(InputError) as error:
        from_tree({"answers": {"w": [1]}}, "s.json")
    assert (error.value.message, error.value.hint) == ("s.json: answers is an object, not numbers", BY_NAME)


@pytest.mark.parametrize(
    ("tree", "of"),
    [
        pytest.param({"attncalc": 1, "calculation": "softmax", "inputs": {"x": [1, 2]}}, " of softmax", id="a problem"),
        pytest.param({"calculation": "grad softmax", "x": [1, 2]}, " of grad softmax", id="one written by hand"),
        pytest.param({"calculation": 3}, "", id="one of no name"),
    ],
)
def test_a_problem_is_no_sheet(tree: dict[str, object], of: str) -> None:
    with pytest.raises(InputError) as error:
        from_tree(tree, "p.json")
    assert error.value.message == f"p.json is a problem{of} without answers, where answers are wanted"
    assert error.value.hint == 'answers stand under "steps", by their names'


@pytest.mark.parametrize(
    "answered", [{"result": [1]}, {"steps": {}}, {"steps": {"w": [1]}}], ids=["one", "none", "some"]
)
def test_a_problem_with_answers_is_a_sheet(answered: dict[str, object]) -> None:
    assert from_tree({"calculation": "softmax", "inputs": {"x": [1]}, **answered}, "p.json").source == "p.json"


UNREAD = {
    "a word": "@student,Ann\n@w\n1,2\n3\n",
    "a row that is too long": "@w\n@student,Ann\n1,2\n1,2,3\n",
    "one table": "@student,Ann\n1,2\n3\n",
    "a rounding": "@student,Ann\n@rounding,99\n@w\n1\n",
    "an object": {"student": "Ann", "steps": {"w": {"x": 1}}},
    "rows of two lengths": {"student": "Ann", "w": [[1, 2], [3]]},
    "no steps": {"student": "Ann", "steps": 3},
    "a problem": {"student": "Ann", "calculation": "softmax"},
    "too many decimals": {"student": "Ann", "w": [1], "rounding": 99},
}


@rows("sheet", UNREAD.values(), ids=UNREAD)
def test_what_cannot_be_read_is_of_whoever_says_so_on_it(sheet: str | dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / f"sheet.{'csv' if isinstance(sheet, str) else 'json'}"
    path.write_text(sheet if isinstance(sheet, str) else json.dumps(sheet))
    class_ = ac.grade(ac.softmax([1, 2]), [path])
    assert [(one.student, one.marked) for one in class_] == [("Ann", None)]


OURS = {
    "the problems of a class": lambda: ac.quiz("dot", seed=1, roster=["Ann"]).files()["keys.json"],
    "the report of a class": lambda: ac.grade(ac.dot([1], [2]), {"Ann": {"dot": 3}}).report("json"),
    "a report for Gradescope": lambda: ac.grade(ac.dot([1], [2]), {"Ann": {"dot": 3}}).feedback("Ann", "gradescope"),
    "the report of a sheet": lambda: json.dumps(ac.dot([1], [2]).check({"dot": 3}).to_dict()),
    "the report of a sheet ": lambda: json.dumps(ac.dot([1], [2]).check({"dot": 2}).to_dict()),
}


@rows(("what", "made"), OURS.items(), ids=OURS)
def test_what_we_have_written_ourselves_is_no_sheet(what: str, made: Callable[[], str]) -> None:
    with pytest.raises(InputError, match=rf"^s\.json is {what.strip()}, and no sheet$"):
        from_tree(json.loads(made()), "s.json")
