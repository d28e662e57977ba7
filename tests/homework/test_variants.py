"""Variants: everybody has other numbers and the same work."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from conftest import Run

from attncalc.calculations import load
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.quiz.class_folders import class_files, class_keys, document, files_of, with_another
from attncalc.homework.quiz.search import LARGE, Quiz, quiz, weighed
from attncalc.homework.quiz.templates import ANYTHING, Wanted
from attncalc.homework.quiz.variants import AS_LARGE, IN_COMMON, STARTS, _different, for_class, variants
from attncalc.homework.quiz.worksheets import Wording
from attncalc.homework.reading.keys_file import LEVELS, Keys, read_keys
from attncalc.homework.reading.sheets import EVERYTHING, from_file
from attncalc.inputs.json_files import JsonFile, parse_json
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.record.trace import Given
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

DRAWN = [
    *("dot", "norm", "cosine", "euclidean", "matmul", "project", "softmax", "log-softmax", "cross-entropy", "kl"),
    *("attention", "multihead", "layernorm", "rmsnorm", "ffn", "conv", "linear-regression", "mlp", "optimizer"),
    "grad attention",
]
SMALL = ("dot", "softmax", "layernorm", "grad attention")
CLASS = 12


@cache
def made(name: str, count: int = CLASS, seed: int = 5) -> list[Quiz]:
    return for_class(name, count, seed)


def numbers(problem: Problem) -> dict[str, Any]:
    """The operands but for those that point at something."""
    known = {operand.name: operand.kind for operand in problem.calculation.operands}
    pointing = [name for name, kind in known.items() if kind in ("tokens", "integers") or name == "target"]
    return {name: given.value for name, given in problem.inputs.items() if name not in pointing}


def digits(value: Any) -> list[tuple[int, int]]:
    """How many digits stand before and behind the point of each entry, in any order."""
    texts = [repr(abs(entry)).removesuffix(".0").partition(".") for entry in np.ravel(value).tolist()]
    return sorted((len(whole), len(rest)) for whole, _, rest in texts)


def signs(value: Any) -> list[float]:
    return sorted(np.sign(np.ravel(value)).tolist())


@pytest.mark.spread(6)
@pytest.mark.parametrize(
    "name", [name if name in SMALL else pytest.param(name, marks=pytest.mark.thorough) for name in DRAWN]
)
class TestVariants:
    @pytest.mark.release
    def test_there_are_enough(self, name: str) -> None:
        assert len(made(name)) == CLASS

    @pytest.mark.thorough
    def test_no_two_are_alike(self, name: str) -> None:
        rows = np.array([one.answers for one in made(name)])
        differ = rows[:, ~np.isclose(rows, rows[0], atol=5e-3).all(axis=0)]
        common = [np.isclose(a, b, atol=5e-3).mean() for i, a in enumerate(differ) for b in differ[:i]]
        assert max(common) <= IN_COMMON

    @pytest.mark.thorough
    def test_they_have_the_same_sizes_signs_and_digits(self, name: str) -> None:
        first, *others = [numbers(one.problem) for one in made(name)]
        for operand, value in first.items():
            for other in others:
                assert other[operand].shape == value.shape
                assert (signs(other[operand]), digits(other[operand])) == (signs(value), digits(value))

    @pytest.mark.thorough
    def test_none_is_degenerate_and_every_mistake_shows(self, name: str) -> None:
        assert {(one.dull, one.hidden, one.alike) for one in made(name)} == {(0, (), ())}

    @pytest.mark.thorough
    @pytest.mark.spread(6)
    def test_they_are_made_again_by_their_seed(self, name: str) -> None:
        again = for_class(name, CLASS, 5)
        for one, other in zip(again, made(name), strict=True):
            mine, theirs = numbers(one.problem), numbers(other.problem)
            assert all(np.array_equal(value, theirs[operand]) for operand, value in mine.items())


ENTRIES = {
    "matmul": "product[0,1]", "project": "projection[0]", "softmax": "softmax[0]", "log-softmax": "log_softmax[1]",
    "attention": "scores[0,1]", "multihead": "output[0,0]", "layernorm": "normalized[1,0]", "rmsnorm": "output[0,0]",
    "ffn": "hidden[0,0]", "conv": "output[0,0]", "grad attention": "grad_v[0,0]",
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.spread(6)
@pytest.mark.parametrize("name", ENTRIES)
def test_no_two_have_one_answer_where_one_entry_is_asked_for(name: str) -> None:
    """The other entries of its step, which nobody fills in, may be others."""
    found = for_class(name, CLASS, 5, Wanted(asks=([ENTRIES[name]], ())))
    step, _, place = ENTRIES[name].partition("[")
    at = tuple(map(int, place[:-1].split(",")))
    answers = sorted(float(solve(one.problem, keep_all=True)[step][at]) for one in found)
    assert len(answers) == CLASS
    assert min(np.diff(answers)) > 5e-3


@pytest.mark.thorough
def test_what_does_not_show_in_the_entry_that_is_asked_for_is_told() -> None:
    """The last query sees all keys, so that its row shows no mask."""
    one = quiz("attention", 5, Wanted({"causal": True}, sizes={"n": 3, "m": 3}))
    whole, entry = (weighed(one.problem, ([ask], ())).hidden for ask in ("weights", "weights[2,0]"))
    assert ("mask-missing" in whole, "mask-missing" in entry) == (False, True)


@pytest.mark.release
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.thorough] * (seed > 0)) for seed in range(10)])
def test_scores_of_a_softmax_differ(seed: int) -> None:
    """Equal ones have equal shares, so that half of the work is to write a number again."""
    for one in made("softmax", 4, seed=seed):
        assert len({*one.problem.inputs["x"].value.tolist()}) == one.problem.inputs["x"].value.size
    results = {tuple(np.round(one.answers[-3:], 4)) for one in made("softmax", 4, seed=seed)}
    assert len(results) == 4


@pytest.mark.thorough
def test_a_class_of_forty_has_a_problem_each_of_a_small_calculation() -> None:
    assert len({tuple(np.round(one.answers[-3:], 4)) for one in made("softmax", 40)}) == 40


@pytest.mark.thorough
def test_problems_whose_answers_are_all_alike_are_one() -> None:
    one, two = made("dot")[:2]
    same = [one, one._replace(problem=two.problem)]
    assert _different(same, 2, ()) == same[:1]
    assert _different(same, 2, [one]) == []


@pytest.mark.thorough
def test_shares_are_spread_alike() -> None:
    """Of operands that are shares every row sums to 1."""
    for one in made("kl"):
        for value in numbers(one.problem).values():
            np.testing.assert_allclose(value.sum(-1), 1)


# As hard as what they vary


@pytest.mark.thorough
def test_hundredths_are_hundredths() -> None:
    """1.14, and not the 1.1400000000000001 that 1 + 0.14 is."""
    inputs = {name: Given(np.array([[1.41, -2.27], [3.36, 1.14]])) for name in "ab"}
    for one in variants(Problem(load("matmul"), inputs, {}), 12, seed=1, level="medium"):
        assert {value for each in numbers(one.problem).values() for value in digits(each)} == {(1, 2)}


OWN: dict[str, dict[str, list[list[float]]]] = {
    "whole numbers": {
        "x": [[2, 0, 1, 0], [0, 1, 0, 2], [1, 1, 1, 0]],
        "wq": [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 1, 1, 0]],
        "wk": [[0, 1, 0, 1], [1, 0, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]],
        "wv": [[1, 0, 0, 2], [0, 1, 1, 0], [0, 2, 0, 0], [1, 0, 1, 0]],
        "wo": [[1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, -1]],
    },
    "halves": {
        "x": [[2, -1, 1, 0.5], [0.5, 1, -2, 2], [1, 1.5, 1, -1]],
        "wq": [[1, 0.5, -1, 0], [0.5, 1, 0, 2], [0, -1, 0.5, 1], [1, 0, 1, -0.5]],
        "wk": [[0.5, 1, 0, -1], [1, 0, 0.5, 0], [-1, 0.5, 1, 0], [0, -1, 1, 0.5]],
        "wv": [[1, 0, 0.5, 2], [0, 1, 1, -0.5], [-0.5, 2, 0, 0], [1, 0, -1, 1]],
        "wo": [[1, 0, 0, 0.5], [0, 1, -0.5, 0], [0, 0.5, 1, 0], [1, 0, 0, -1]],
    },
}
"""Problems of teachers, of two heads."""
PROJECTED = Wanted(given=("x", "wq", "wk", "wv"))
HARD: dict[str, tuple[str, Wanted]] = {
    "softmax": ("softmax", ANYTHING),
    "attention": ("attention", ANYTHING),
    "attention of x": ("attention", PROJECTED),
    "heads": ("multihead", Wanted(options={"heads": 2})),
    "log-softmax": ("log-softmax", ANYTHING),
    "gradient": ("grad attention", ANYTHING),
}


def one_hot_rows(problem: Problem) -> int:
    """How many rows that sum to 1 have no second number that is seen; those with one number alone are masked."""
    steps = [np.asarray(step.value) for step in solve(problem, keep_all=True).steps]
    rows = [
        row for value in steps if value.dtype.kind == "f" and value.ndim for row in value.reshape(-1, value.shape[-1])
    ]
    shares = [sorted(row) for row in rows if len(row) > 1 and min(row) >= 0 and abs(sum(row) - 1) < 1e-9]
    return sum(row[-1] > 0.999 and row[-2] > 0 for row in shares)


def largest(problem: Problem) -> float:
    values = [np.asarray(step.value) for step in solve(problem, keep_all=True).steps]
    return max(float(np.abs(value[np.isfinite(value)]).max()) for value in values if value.dtype.kind == "f")


@pytest.mark.thorough
@pytest.mark.spread(20)
@pytest.mark.parametrize(
    ("name", "level"),
    [  # hard ones of two heads are drawn for half a minute
        pytest.param(name, level, marks=pytest.mark.release if (name, level) == ("heads", "hard") else ())
        for name, level in product(HARD, LEVELS)
    ],
)
def test_they_are_as_hard_as_the_problem_for_one(name: str, level: str) -> None:
    calculation, wanted = HARD[name]
    wanted = wanted._replace(level=level)
    alone = [quiz(calculation, 3 + i, wanted).problem for i in range(STARTS)]
    found = [one.problem for one in for_class(calculation, CLASS, 3, wanted)]
    assert len(found) == CLASS
    assert max(map(one_hot_rows, found)) <= max(map(one_hot_rows, alone)) <= 2
    assert max(map(largest, found)) <= max(LARGE[level], AS_LARGE * max(map(largest, alone)))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.release) for seed in (1, 7))])
@pytest.mark.parametrize("what", OWN)
def test_those_of_a_document_are_as_hard_whatever_the_seed(what: str, seed: int) -> None:
    inputs = {name: Given(np.array(value, dtype=float)) for name, value in OWN[what].items()}
    own = Problem(load("multihead"), inputs, {"heads": 2})
    found = [one.problem for one in variants(own, 30, seed=seed, level="medium")]
    assert len(found) == 30
    assert [one_hot_rows(one) for one in (own, *found)] == [0] * 31
    assert max(map(largest, found)) <= max(LARGE["easy"], AS_LARGE * largest(own))


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1 / 3, -2 / 7, 100 / 3, math.sqrt(2), float(np.float32(0.1))])
def test_numbers_that_nobody_has_typed_have_few_digits(number: float) -> None:
    """A fraction, a root, or what a machine has stored ends nowhere."""
    inputs = {name: Given(np.array([[number, 2], [0.5, number]])) for name in "ab"}
    for one in variants(Problem(load("matmul"), inputs, {}), 4, seed=1, level="medium"):
        for value in numbers(one.problem).values():
            assert max(len(rest) for rest in (f"{entry!r}".partition(".")[2] for entry in value.ravel().tolist())) <= 2


@pytest.mark.thorough
@pytest.mark.parametrize("seed", ["0", "1"])
def test_too_few_are_counted_the_same_whatever_the_seed(run: Run, tmp_path: Path, seed: str) -> None:
    (tmp_path / "class.csv").write_text("student\n" + "".join(f"s{i}\n" for i in range(60)))
    (tmp_path / "one.json").write_text('{"calculation": "dot", "inputs": {"a": [1], "b": [-1]}}')
    done = run("quiz", "one.json", "--roster", "class.csv", "--seed", seed, "-o", "hw", cwd=tmp_path)
    found = "Error: only NUMBER problems of one.json that differ and are as hard are found, for 60 students"
    assert (done.returncode, re.sub(r"\d+", "NUMBER", done.stderr.splitlines()[0], count=1)) == (2, found)
    again = run("quiz", "one.json", "--roster", "class.csv", "--seed", "9", "-o", "hw", cwd=tmp_path)
    assert again.stderr == done.stderr


# A class


STUDENTS = ("Ada Lovelace", "Bob", "Cäsar, Gaius", "con")
ROSTER = 'student,mail\nAda Lovelace,ada@x\nBob,\n"Cäsar, Gaius",\ncon,\n'


@cache
def keys() -> Keys:
    found = [one.problem for one in made("softmax", len(STUDENTS))]
    return class_keys(STUDENTS, found, EVERYTHING, "medium", ())


def again(keys: Keys) -> Keys:
    return read_keys(JsonFile("keys.json", parse_json(document(keys), "keys.json")), Reading())


@pytest.mark.thorough
def test_all_is_made_again_from_the_keys() -> None:
    assert class_files(again(keys()), ("markdown",), Wording()) == class_files(keys(), ("markdown",), Wording())


@pytest.mark.thorough
def test_another_problem_is_like_those_of_the_class() -> None:
    new = with_another(again(keys()), "bob", 1)
    own, old = new.of("Bob")[0], keys().of("Bob")[0]
    assert [one.student for one in new.variants] == [*STUDENTS]
    assert (new.replaced[0].id, own.id != old.id, own.folder) == (old.id, True, old.folder)
    values = [one.held.problem.inputs["x"].value for one in (*keys().variants, own)]
    assert len({str(value) for value in values}) == len(values)
    assert len({str(signs(value)) for value in values}) == 1
    assert len({one.id for one in (*new.variants, *with_another(new, "Bob", 1).variants)}) == len(STUDENTS) + 1


@pytest.mark.thorough
@pytest.mark.parametrize("student", ['Ann "Al", B', "Bo; C", "Zoë O'Neil", '"Q"'])
def test_a_sheet_says_its_student_whatever_the_name_is(tmp_path: Path, student: str) -> None:
    keys = class_keys([student], [made("softmax")[0].problem], EVERYTHING, "medium", ())
    for name, text in files_of(keys.variants[0], (), Wording()).items():
        path = tmp_path / Path(name).name
        path.write_text(text, encoding="utf-8")
        if path.stem == "sheet":
            sheet = from_file(str(path), Reading())
            assert (sheet.student, sheet.problem, sheet.notes) == (keys.variants[0].student, keys.variants[0].id, ())


# The command line


def right_sheet(folder: Path, **told: str) -> dict[str, Any]:
    """The sheet of a student's folder, with what is right."""
    key = Key(load_document(str(folder / "problem.json"), Reading()).problem)
    sheet: dict[str, Any] = json.loads((folder / "sheet.json").read_text(encoding="utf-8"))
    values = {name: key.value(key.names.find(name)) for name in sheet["steps"]}
    return {**sheet, **told, "steps": {n: np.round(v, 4).tolist() for n, v in values.items() if v is not None}}


@pytest.fixture(scope="module")
def first_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def home(run: Run, tmp_path: Path, first_home: Path) -> Path:
    """A class with its folders, and a sheet of each that is right: made once, and each test has a copy."""
    if not (first_home / "sheets").exists():
        (first_home / "class.csv").write_text(ROSTER, encoding="utf-8")
        words = ("softmax", "--roster", "class.csv", "--seed", "5", "-f", "markdown", "-o", "hw")
        done = run("quiz", *words, cwd=first_home)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        (first_home / "sheets").mkdir()
        for folder in (first_home / "hw").glob("*/"):
            (first_home / "sheets" / f"{folder.name}.json").write_text(json.dumps(right_sheet(folder)))
    return copytree(first_home, tmp_path, dirs_exist_ok=True)


def graded(run: Run, *words: str) -> tuple[int, dict[str, Any], str]:
    done = run("grade", "hw/keys.json", *words, "--report", "json")
    return done.returncode, {row["student"]: row for row in json.loads(done.stdout)["students"]}, done.stderr


def test_a_folder_each_and_the_keys_beside_them(home: Path) -> None:
    found = sorted(str(path.relative_to(home / "hw")) for path in (home / "hw").rglob("*") if path.is_file())
    own = [f"{folder}/{name}" for folder in ("Ada-Lovelace", "Bob", "Cäsar-Gaius", "con-") for name in NAMES]
    assert found == sorted([*own, "keys.json"])


NAMES = ("problem.json", "sheet.csv", "sheet.json", "worksheet.md")


@pytest.mark.thorough
def test_everybody_is_marked_by_their_own_problem(run: Run, home: Path) -> None:
    for jobs in ("1", "2"):
        status, found, said = graded(run, "sheets", "--jobs", jobs)
        assert (status, said) == (0, "")
        assert {name: row["verdict"] for name, row in found.items()} == dict.fromkeys(STUDENTS, "right")


@pytest.mark.thorough
def test_who_hands_in_anothers_is_told(run: Run, home: Path) -> None:
    theirs = right_sheet(home / "hw/Ada-Lovelace", student="Bob")
    (home / "sheets/Bob.json").write_text(json.dumps(theirs))
    status, found, said = graded(run, "sheets")
    told = "the sheet is of the problem of Ada Lovelace, where it earns 10 of 10"
    assert (status, found["Bob"]["verdict"], found["Ada Lovelace"]["verdict"]) == (1, "wrong", "right")
    assert (found["Bob"]["carried"]["student"], said) == ("Ada Lovelace", f"note: Bob: {told}\n")
    assert told in run("grade", "hw/keys.json", "sheets").stdout
    assert told in run("grade", "hw/keys.json", "sheets", "--report", "csv").stdout
    assert told in run("grade", "hw/keys.json", "sheets", "--report", "html").stdout
    done = run("grade", "hw/keys.json", "sheets", "--feedback", "pages", "--feedback-format", "text")
    assert done.returncode == 1
    assert "Ada" not in (home / "pages/Bob.txt").read_text(encoding="utf-8")
    hidden = run("grade", "hw/keys.json", "sheets", "--anonymous", "--report", "csv")
    assert not [name for name in STUDENTS if name in hidden.stdout + hidden.stderr]


@pytest.mark.thorough
def test_a_report_keeps_whose_problem_it_was(run: Run, home: Path) -> None:
    (home / "sheets/Bob.json").write_text(json.dumps(right_sheet(home / "hw/con-", student="Bob")))
    assert run("grade", "hw/keys.json", "sheets", "-o", "grades.json").returncode == 1
    again = run("grade", "--regrade", "grades.json", "--marks", "0+1")
    assert "of the problem of con" in again.stdout


Change = Callable[[dict[str, Any]], dict[str, Any]]
WITHOUT_NAMES: dict[str, tuple[Change, str, str | None]] = {
    "its hash": (lambda sheet: {**sheet, "student": ""}, "up-7.json", "Bob"),
    "the name in it": (lambda sheet: {**sheet, "student": " bOB ", "problem": ""}, "up-7.json", "Bob"),
    "the name of its file": (lambda sheet: {**sheet, "student": "", "problem": ""}, "bob.json", "Bob"),
    "that of its folder": (lambda sheet: {**sheet, "student": "", "problem": ""}, "con-/sheet.json", None),
    "no name that is known": (lambda sheet: {**sheet, "student": "Zed"}, "up-7.json", None),
    "nothing": (lambda sheet: {**sheet, "student": "", "problem": "x"}, "up-7.json", None),
}


@pytest.mark.parametrize("what", WITHOUT_NAMES)
@pytest.mark.thorough
def test_a_sheet_is_told_by(run: Run, home: Path, what: str) -> None:
    change, file, student = WITHOUT_NAMES[what]
    path = home / "in" / file
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(change(right_sheet(home / "hw/Bob"))))
    _, found, _ = graded(run, "in")
    [row] = found.values()
    if student:
        assert (row["student"], row["verdict"]) == (student, "right")
    elif file.startswith("con"):
        assert (row["student"], row["verdict"]) == ("con", "wrong")
    else:
        assert row["verdict"] == "unreadable"
        assert "no problem for" in row["error"]


@pytest.mark.thorough
def test_sheets_of_all_formats_tell_whose_they_are(run: Run, home: Path) -> None:
    sheet = right_sheet(home / "hw/Bob")
    (home / "in").mkdir()
    rows = {name: value if isinstance(value, list) else [value] for name, value in sheet["steps"].items()}
    blocks = "".join(f"@{name}\n{','.join(map(str, value))}\n" for name, value in rows.items())
    (home / "in/a.csv").write_text(f"@student,Cäsar\n@problem,{sheet['problem']}\n{blocks}", encoding="utf-8")
    assert "no problem for" in graded(run, "in/a.csv")[1]["Cäsar"]["error"]
    (home / "in/b.csv").write_text(f'@student,"Cäsar, Gaius"\n@problem,{sheet["problem"]}\n{blocks}', encoding="utf-8")
    assert graded(run, "in/b.csv")[1]["Cäsar, Gaius"]["carried"]["student"] == "Bob"
    np.savez(home / "in/bob.npz", **{name: np.array(value) for name, value in sheet["steps"].items()})
    assert graded(run, "in/bob.npz")[1]["Bob"]["verdict"] == "right"
    entries = [f"{name}[{i}]" for name, value in rows.items() if name != "sum" for i in range(len(value))]
    values = [str(each) for name, value in rows.items() if name != "sum" for each in value]
    table = f"student,problem,{','.join(entries)}\nBob,,{','.join(values)}\ncon,{sheet['problem']},{','.join(values)}\n"
    (home / "in/list.csv").write_text(table)
    found = graded(run, "in/list.csv")[1]
    assert (found["Bob"]["verdict"], found["con"]["carried"]["student"]) == ("right", "Bob")


@pytest.mark.thorough
def test_folders_that_come_back_as_they_were_handed_out_are_read(run: Run, home: Path) -> None:
    (home / "hw/Bob/sheet.csv").rename(home / "hw/Bob/work.csv")
    (home / "hw/Bob/sheet.json").write_text(json.dumps(right_sheet(home / "hw/Bob")))
    _, found, _ = graded(run, "hw")
    assert {name: row["verdict"] for name, row in found.items()} == dict.fromkeys(STUDENTS, "wrong") | {"Bob": "right"}


@pytest.mark.thorough
def test_the_folders_are_made_again(run: Run, home: Path) -> None:
    done = run("quiz", "hw/keys.json", "-f", "markdown", "-o", "again")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    files = [path.relative_to(home / "hw") for path in (home / "hw").rglob("*") if path.is_file()]
    assert all((home / "again" / path).read_bytes() == (home / "hw" / path).read_bytes() for path in files)


@pytest.mark.thorough
def test_a_student_gets_another_problem(run: Run, home: Path) -> None:
    before = {path: path.read_bytes() for path in (home / "hw").rglob("*") if path.is_file()}
    done = run("quiz", "--replace", "Bob", "--seed", "2", "-o", "hw")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    changed = {path.relative_to(home / "hw").parts[0] for path, text in before.items() if path.read_bytes() != text}
    assert changed == {"Bob", "keys.json"}
    status, found, said = graded(run, "sheets")
    assert (status, found["Bob"]["verdict"]) == (1, "wrong")
    assert "of the problem of Bob that was replaced, where it earns 10 of 10" in said
    (home / "sheets/Bob.json").write_text(json.dumps(right_sheet(home / "hw/Bob")))
    assert graded(run, "sheets")[0] == 0


@pytest.mark.thorough
def test_a_sheet_that_was_filled_in_is_not_written_over(run: Run, home: Path) -> None:
    (home / "hw/Bob/sheet.json").write_text("{}")
    done = run("quiz", "--replace", "Bob", "-o", "hw")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sheet.json is not as it was handed out" in done.stderr


@pytest.mark.thorough
def test_a_document_is_drawn_anew(run: Run, home: Path) -> None:
    inputs = {"a": [12, -0.25, 3], "b": [1.5, 2, -40]}
    (home / "mine.json").write_text(json.dumps({"calculation": "dot", "inputs": inputs, "ask": ["dot"]}))
    done = run("quiz", "mine.json", "--roster", "class.csv", "--seed", "1", "-o", "own")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    rows = json.loads((home / "own/keys.json").read_text(encoding="utf-8"))["variants"]
    assert [row["ask"] for row in rows] == [["dot"]] * len(STUDENTS)
    for operand, value in inputs.items():
        assert {str((signs(row["inputs"][operand]), digits(row["inputs"][operand]))) for row in rows} == {
            str((signs(value), digits(value)))
        }


FAULTS = {
    "too few problems": (("quiz", "alibi", "--roster", "class.csv", "-o", "x"), "only 3 problems of alibi that differ"),
    "nothing to draw": (("quiz", "@fixed.json", "--roster", "class.csv", "-o", "x"), "no numbers that can be drawn"),
    "no roster": (("quiz", "dot", "--roster", "none.csv", "-o", "x"), "there is no file none.csv"),
    "nobody on it": (("quiz", "dot", "--roster", "nobody.csv", "-o", "x"), "names no student"),
    "twice the same": (("quiz", "dot", "--roster", "twice.csv", "-o", "x"), '"ann  lee" stands in line 2 already'),
    "an export": (("quiz", "dot", "--roster", "class.csv", "--export", "canvas", "-o", "x"), "single questions"),
    "sizes of a document": (
        ("quiz", "@fixed.json", "--roster", "class.csv", "--size", "n=3", "-o", "x"),
        "own numbers",
    ),
    "nobody to replace": (("quiz", "--replace", "Zed", "-o", "hw"), 'has no student "Zed"'),
    "no folder": (("quiz", "--replace", "Bob"), "needs the folder of the class"),
    "no keys": (("quiz", "--replace", "Bob", "-o", "."), "no document"),
    "another size": (("quiz", "--replace", "Bob", "--size", "n=4", "-o", "hw"), "--size cannot change it"),
    "another level": (("quiz", "hw/keys.json", "--level", "easy", "-o", "x"), "its own numbers"),
    "other steps": (("quiz", "hw/keys.json", "--ask", "sum", "-o", "x"), "--ask cannot change them"),
    "keys of nobody": (("grade", "empty.json", "sheets"), "holds no problem"),
    "a key without a student": (("grade", "nameless.json", "sheets"), "variants[0] names no student"),
    "a broken problem": (("grade", "broken.json", "sheets"), "variants[0]: there is no calculation called"),
}


@pytest.mark.thorough
@pytest.mark.spread(3)
@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_one_line_and_leaves_nothing(run: Run, home: Path, what: str) -> None:
    (home / "nobody.csv").write_text("student\n")
    (home / "twice.csv").write_text("student\nAnn Lee\nann  lee\n")
    (home / "fixed.json").write_text('{"calculation": "complexity", "options": {"n": 4}}')
    (home / "empty.json").write_text('{"variants": []}')
    (home / "nameless.json").write_text('{"variants": [{"calculation": "dot", "inputs": {"a": [1], "b": [2]}}]}')
    (home / "broken.json").write_text('{"variants": [{"student": "Bob", "calculation": "dott", "inputs": {}}]}')
    words, fault = FAULTS[what]
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    first, *rest = done.stderr.splitlines()
    assert (first.startswith("Error: "), fault in first) == (True, True), done.stderr
    assert all(line.startswith("hint: ") for line in rest)
    assert not (home / "x").exists()
