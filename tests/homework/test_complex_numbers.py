"""Complex answers: as people write them, part by part, in every form of sheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncalc as ac
from attncalc.common.errors import InputError
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import joined, literal, split
from attncalc.homework.reading.sheets import read_sheet
from attncalc.inputs.reading import Reading

TURN = ac.eigen([[0, -2], [1, 2]])
"""Its eigenvalues are 1 ± i."""
CYCLE = ac.eigen([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
"""Its eigenvalues are the cube roots of 1."""
REAL = ac.eigen([[2, 1], [1, 2]])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1+2i", ("1", "+2")),
        ("1 - 2i", ("1", "-2")),
        ("1+2j", ("1", "+2")),
        ("2I", ("0", "2")),
        ("-i", ("0", "-1")),
        ("3 + j", ("3", "+1")),
        ("−0.50−0.87i", ("-0.50", "-0.87")),
        ("1e-3+2e+1i", ("1e-3", "+2e+1")),
        ("-1/2 - sqrt(3)/2*i", ("-1/2", "-sqrt(3)/2")),
        ("1", None),
        ("pi", None),
        ("hi", None),
        ("1++2i", None),
        ("nani", None),
        ("", None),
    ],
)
def test_parts(text: str, parts: tuple[str, str] | None) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("1 - 2i, 2", ["1-2i", "2"]),
        ("1+i 1-i", ["1+i", "1-i"]),
        ("1 i; 0 -i", [["1", "i"], ["0", "-i"]]),
        ("1 2", None),
        ("i.csv", None),
        ("i", None),
        ("inf", "inf"),
        ("∞, -∞", ["∞", "-∞"]),
        ("nan", None),
        ('[["1+i", "2"], [0, "-i"]]', [["1+i", "2"], ["0", "-i"]]),
        ("[1 + i, 1 - i]", ["1+i", "1-i"]),
        ('["hi", 1]', None),
        ("36%, 64.0%", ["36%", "64.0%"]),
        ("36.5% 0.635", ["36.5%", "0.635"]),
        ("50%", "50%"),
        ("50%.csv", None),
        ("%", None),
    ],
)
def test_literals(text: str, entries: list[Any] | str | None) -> None:
    assert literal(text, "answer") == entries


@pytest.mark.parametrize("text", ["1 - 3", "1 -2 i", "- i", "2 - pi", "0.5 - ?"])
def test_a_dash_that_stands_for_no_answer_is_no_sign(text: str) -> None:
    assert joined(text) == text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("trace", "answer", "verdict"),
    [
        pytest.param(TURN, ["1+i", "1-i"], "right", id="whole numbers"),
        pytest.param(TURN, ["1 - 1j", "1 + 1j"], "right", id="in another order"),
        pytest.param(TURN, [1 + 1j, 1 - 1j], "right", id="numbers of Python"),
        pytest.param(TURN, np.array([1 - 1j, 1 + 1j]), "right", id="an array"),
        pytest.param(TURN, [{"re": 1, "im": 1}, {"re": "1.00", "im": "-1.00"}], "right", id="as JSON has them"),
        pytest.param(CYCLE, ["1", "-0.50+0.87i", "-0.50-0.87i"], "right", id="rounded, and a real one"),
        pytest.param(CYCLE, ["-0.500-0.867i", "1", "-0.500+0.866i"], "right-to-rounding", id="the last digit"),
        pytest.param(CYCLE, ["1", "-0.50-0.85i", "-0.50-0.87i"], "wrong", id="one part is wrong"),
        pytest.param(TURN, ["1+i", "1+i"], "wrong", id="a sign is wrong"),
        pytest.param(TURN, ["1", "1"], "wrong", id="the real parts alone"),
        pytest.param(TURN, ["1+i"], "wrong", id="one of them"),
        pytest.param(TURN, ["1+i", None], "wrong", id="a blank"),
        pytest.param(REAL, ["2+i", "2-i"], "wrong", id="where they are real"),
        pytest.param(
            TURN,
            {"eigenvalues": ["1-i", "1+i"], "eigenvectors": [["2", "1"], ["-1+i", "-0.5-0.5i"]]},
            "right",
            id="with vectors of any length",
        ),
        pytest.param(
            TURN,
            {"eigenvalues": ["1-i", "1+i"], "eigenvectors": [["2", "1"], ["-1-i", "-0.5+0.5i"]]},
            "wrong",
            id="each vector at the other's eigenvalue",
        ),
    ],
)
def test_marks(trace: Any, answer: Any, verdict: str) -> None:
    assert trace.check(answer).verdict == verdict


def test_an_entry_is_wrong_where_either_part_is() -> None:
    [step] = TURN.check(["1+i", "2-2i"]).to_dict()["steps"]
    assert (step["cells"], step["given"]) == ([[1]], [{"re": 1.0, "im": 1.0}, {"re": 2.0, "im": -2.0}])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sheet.csv", "@eigenvalues\n1 - i,1 + i\n@eigenvectors\n1,1\n-0.5+0.5i,-0.5-0.5i\n"),
        ("blanks.csv", "@eigenvalues\n1 - i\n1 + i\n@eigenvectors\n2 2\n-1+i -1 - i\n"),
        ("headless.csv", "@eigenvectors\n1+i,1-i\n-i,i\n"),
        ("sheet.json", json.dumps({"eigenvalues": ["1+1j", {"re": 1, "im": -1}]})),
        ("list.json", json.dumps([{"re": 1, "im": 1}, "1-i"])),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_sheets(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert TURN.check(tmp_path / name).verdict == "right"


@pytest.mark.parametrize(
    ("trace", "stored", "part", "verdict"),
    [
        pytest.param(TURN, np.array([1 - 1j, 1 + 1j]), "", "right", id="one array"),
        pytest.param(TURN, np.array([1 - 1j, 1 + 1j], dtype="c8"), "", "right", id="in half the bytes"),
        pytest.param(TURN, np.array([1 - 1j, 1 + 2j]), "", "wrong", id="another number"),
        pytest.param(TURN, {"eigenvalues": np.array([1 - 1j, 1 + 1j])}, "", "right", id="a step by its name"),
        pytest.param(TURN, {"mine": np.array([1 - 1j, 1 + 1j])}, "#mine", "right", id="one array of several"),
        pytest.param(TURN, {"mine": np.array([[1 - 1j, 1 + 1j]])}, "#mine[0]", "right", id="a row of one"),
        pytest.param(CYCLE, np.linalg.eigvals(CYCLE.inputs["a"].value), "", "right", id="what NumPy gives"),
        pytest.param(REAL, np.array([3 + 0j, 1 + 0j]), "", "right", id="real ones, stored as complex"),
    ],
)
def test_stored_arrays(trace: Any, stored: Any, part: str, verdict: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.npz"
    if isinstance(stored, dict):
        np.savez(path, **stored)
    else:
        path = tmp_path / "answer.npy"
        np.save(path, stored)
    sheet = read_sheet(f"{path}{part}", Reading())
    assert Marker(Key(trace.problem)).mark(sheet).verdict == verdict


BEYOND = ac.kl([1, 0], [0, 1])
"""Its divergence is ∞."""
EVEN = ac.kl([0.5, 0.5], [0.5, 0.5])


@pytest.mark.parametrize(
    ("trace", "word", "verdict"),
    [
        (BEYOND, "inf", "right"),
        (BEYOND, "∞", "right"),
        (BEYOND, "-inf", "wrong"),
        (BEYOND, "1", "wrong"),
        (BEYOND, '{"terms": ["∞", 0], "divergence": "inf"}', "right"),
        (EVEN, "inf", "wrong"),
        (EVEN, '{"steps": {"divergence": 0}}', "right"),
        (EVEN, '{"steps": {"divergence": 1}}', "wrong"),
    ],
)
def test_what_is_typed(trace: Any, word: str, verdict: str) -> None:
    assert Marker(Key(trace.problem)).mark(read_sheet(word, Reading())).verdict == verdict


def test_a_typed_sheet_that_is_cut_says_where() -> None:
    with pytest.raises(InputError, match=r"answer:1:14: the text ends"):
        read_sheet('{"terms": [1,', Reading())


def test_a_file_is_not_hidden_by_a_number_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inf.json").write_text("1")
    monkeypatch.chdir(tmp_path)
    assert read_sheet("inf", Reading()).source == "inf.json"


def test_a_part_of_a_saved_result_may_be_complex(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(TURN.to_dict()))
    sheet = read_sheet(f"{path}#eigenvalues", Reading())
    assert Marker(Key(TURN.problem)).mark(sheet).verdict == "right"


FAULTS = {
    "one part of two": ([{"re": None, "im": 1}, 1], 'answer[0]: of {"re": …, "im": …} the part "re" is not answered'),
    "a blank for the other": ([1, {"re": 1, "im": "?"}], 'answer[1]: of {"re": …, "im": …} the part "im" is not'),
    "a word for a part": ([{"re": "a", "im": 1}, 1], 'answer[0]: "a + 1i" is not a number'),
    "more than anybody writes": (np.full((65, 65), 1j), "answer has 4,225 complex entries, and at most 4,096 are read"),
}


@pytest.mark.parametrize(("answer", "message"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_read_is_said(answer: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        TURN.check(answer)
    assert message in caught.value.message


def test_neither_part_is_no_answer() -> None:
    [step] = TURN.check([{"re": None, "im": None}, "1-i"]).to_dict()["steps"]
    assert (step["verdict"], step["given"]) == ("missing", [None, {"re": 1.0, "im": -1.0}])


def test_a_step_that_is_always_real_refuses_them() -> None:
    with pytest.raises(InputError, match='"2i" is not a number'):
        ac.softmax([1, 2]).check(["0.3", "2i"])
