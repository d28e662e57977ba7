"""A term, carried out: forty students, five quizzes, two keys that were corrected late, and what comes back.

The students of this file work out their sheets by formulas of its own, some with a mistake, and write them in every
format that `grade` reads. What each sheet earns is found once more by hand here: entry by entry, by the policy.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from checkpoints import safetensors
from conftest import Run
from numpy.typing import NDArray

from attncalc.common.system import FORMATS

pytestmark = pytest.mark.thorough

Array = NDArray[Any]
Values = dict[str, Array]
Formula = Callable[[Values], Any]

FIRST = ("Zoë", "Ada", "Bob", "José", "Łukasz", "Anne-Marie", "Ἀδα", "O'Neil")
LAST = ("Müller", "van Dijk", "Ng", "Çelik", "Smith")
CLASS = [f"{first} {last}" for last in LAST for first in FIRST]
DECIMALS = 4


class Act(NamedTuple):
    """What a student does at a step where others work it out: the verdict that they earn, and how it comes to it."""

    verdict: str
    mistake: str = ""
    rule: Formula | None = None  # the wrong one that they follow
    spoil: Callable[[Array], Array] | None = None  # what else becomes of their numbers; NaN is left blank


class Policy(NamedTuple):
    """What answers earn."""

    method: int = 1
    accuracy: int = 1
    each: bool = False  # whether every entry earns its share
    follow: str = "method"
    points: Mapping[str, int] = {}

    def marks(self, step: str, verdict: str, right: Array, blank: Array) -> tuple[Fraction, Fraction]:
        """What a step earns, of how many: by its verdict, and by which of its entries are right, and which blank."""
        whole = self.method + self.accuracy
        share = Fraction(int(right.sum()), right.size)
        if verdict == "right":
            found = Fraction(whole)
        elif verdict == "follows" and self.follow == "full":
            filled = Fraction(int((~blank).sum()), blank.size)
            found = self.method + self.accuracy * (filled if self.each else Fraction(filled == 1))
        else:
            follows = verdict == "follows" and self.follow == "method"
            keeps_method = verdict == "slip" or follows or (verdict == "missing" and share > 0)
            found = Fraction(self.method * keeps_method) + self.accuracy * share * self.each
        return found * self.points.get(step, 1), Fraction(whole * self.points.get(step, 1))


class Quiz(NamedTuple):
    """A week: its problem, how it is worked out, what is done wrong, and how it is marked."""

    words: Sequence[str]  # of the command that makes it
    steps: Mapping[str, Formula]
    acts: Sequence[Mapping[str, Act]]  # by turns, those of each student
    policy: Policy
    by: Sequence[str]  # the same, for the command


def shares(scores: Array) -> Array:
    powers = np.exp(scores)
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def one_sign(value: Array) -> Array:
    """The same but for the sign of its largest entry."""
    found = value.copy()
    at = np.unravel_index(np.abs(found).argmax(), found.shape)
    found[at] = -found[at]
    return found


def some(value: Array, count: int, wrong: float | None) -> Array:
    """The same but for so many entries, which are left blank, or far off in different ways."""
    found = value.astype(float).ravel()
    for i in range(count):
        found[-1 - i] = np.nan if wrong is None else found[-1 - i] + wrong * (1.37 + 0.21 * i)
    return found.reshape(value.shape)


def guessed(value: Array) -> Array:
    """Numbers that no rule gives."""
    return np.asarray(7.1234 + 1.9173 * np.arange(value.size) ** 1.3).reshape(value.shape)


HONEST = Act("right")
SIGN = Act("slip", "slip-sign", spoil=one_sign)
GUESS = Act("unexplained", spoil=guessed)
BLANK = Act("missing", spoil=lambda value: np.full(value.shape, np.nan))
ONE_BLANK = Act("missing", spoil=lambda value: some(value, 1, None))
TWO_WRONG = Act("unexplained", spoil=lambda value: some(value, 2, 3.1))


def told(mistake: str, rule: Formula) -> Act:
    return Act("mistake", mistake, rule)


def normal(v: Values) -> Array:
    return np.asarray((v["x"] - v["mean"][:, None]) / np.sqrt(v["variance"] + v["eps"])[:, None])


EPS = 0.1
MINE = {
    "attncalc": 1,
    "calculation": "layernorm",
    "inputs": {"x": [[-3, 2, 0, 1], [2, 3, 2, 0]], "gamma": [2, 0.5, 1, 2], "beta": [2, -2, -3, 3]},
    "options": {"eps": EPS},
    "ask": ["mean", "variance", "normalized", "output"],
}
"""A problem of the teacher's own, the same for all."""
TYPED_WRONG = {**MINE, "inputs": {**MINE["inputs"], "beta": [2, -2, -3, 31]}}  # type: ignore[dict-item] # inputs are a dict

QUIZZES = {
    "attention": Quiz(
        ("attention", "--level", "easy", "--size", "n=2,m=2,d_k=2,d_v=2", "--ask", "weights,output", "--seed", "5"),
        {
            "weights": lambda v: shares(v["q"] @ v["k"].T / np.sqrt(v["k"].shape[1])),
            "output": lambda v: v["weights"] @ v["v"],
        },
        [
            {},
            {"weights": told("att-no-scale", lambda v: shares(v["q"] @ v["k"].T))},
            {"output": SIGN},
            {"weights": told("att-scale-dk", lambda v: shares(v["q"] @ v["k"].T / v["k"].shape[1]))},
            {"output": told("att-k-for-v", lambda v: v["weights"] @ v["k"])},
            {"output": BLANK},
            {"weights": GUESS},
            {"weights": BLANK, "output": ONE_BLANK},
        ],
        Policy(points={"output": 2}),
        ("--points", "output=2"),
    ),
    "own problem": Quiz(
        ("mine.json",),
        {
            "mean": lambda v: v["x"].mean(1),
            "variance": lambda v: ((v["x"] - v["mean"][:, None]) ** 2).mean(1),
            "normalized": normal,
            "output": lambda v: v["gamma"] * v["normalized"] + v["beta"],
        },
        [
            {},
            {"variance": told("ln-ddof1", lambda v: ((v["x"] - v["mean"][:, None]) ** 2).sum(1) / 3)},
            {"output": told("ln-no-beta", lambda v: v["gamma"] * v["normalized"])},
            {"normalized": SIGN},
            {"output": TWO_WRONG},
            {"mean": GUESS, "output": ONE_BLANK},
            {"output": told("ln-gamma-beta-swapped", lambda v: v["beta"] * v["normalized"] + v["gamma"])},
            {"variance": BLANK, "normalized": BLANK, "output": BLANK},
        ],
        Policy(follow="full"),
        ("--follow", "full"),
    ),
    "a backward pass": Quiz(
        ("grad", "linear-regression", "--ask", "errors,loss,grad_predictions,grad_b,grad_w", "--seed", "3"),
        {
            "errors": lambda v: v["x"] @ v["w"] + v["b"] - v["y"],
            "loss": lambda v: np.asarray((v["errors"] ** 2).sum(1).mean()),
            "grad_predictions": lambda v: 2 * v["errors"] / len(v["x"]),
            "grad_b": lambda v: v["grad_predictions"].sum(0),
            "grad_w": lambda v: v["x"].T @ v["grad_predictions"],
        },
        [
            {},
            {"grad_predictions": told("mse-no-2", lambda v: v["errors"] / len(v["x"]))},
            {"grad_b": told("bp-bias-mean", lambda v: v["grad_predictions"].sum(0) / len(v["x"]))},
            {"errors": SIGN},
            {"grad_predictions": told("mse-no-mean", lambda v: 2 * v["errors"]), "grad_w": ONE_BLANK},
            {"loss": BLANK, "grad_w": TWO_WRONG},
        ],
        Policy(),
        (),
    ),
    "a policy of cells": Quiz(
        ("ffn", "--seed", "2"),
        {
            "hidden": lambda v: v["x"] @ v["w1"] + v["b1"],
            "activated": lambda v: np.maximum(v["hidden"], 0),
            "output": lambda v: v["activated"] @ v["w2"] + v["b2"],
        },
        [
            {},
            {"hidden": told("linear-bias-missing", lambda v: v["x"] @ v["w1"])},
            {"activated": told("ffn-no-activation", lambda v: v["hidden"])},
            {"output": TWO_WRONG},
            {"hidden": SIGN, "output": ONE_BLANK},
            {"output": GUESS},
            {"activated": BLANK},
        ],
        Policy(each=True, follow="none", points={"hidden": 3}),
        ("--policy", "cells.toml"),
    ),
    "one number beside another": Quiz(
        ("softmax", "--ask", "softmax", "--seed", "4"),
        {"softmax": lambda v: shares(v["x"] / v["temperature"])},
        [
            {},
            {
                "softmax": told(
                    "sm-base2", lambda v: 2 ** (v["x"] / v["temperature"]) / (2 ** (v["x"] / v["temperature"])).sum()
                )
            },
            {"softmax": told("sm-neg", lambda v: shares(-v["x"] / v["temperature"]))},
            {"softmax": GUESS},
            {},
        ],
        Policy(method=0),
        ("--marks", "0+1"),
    ),
}


class Answered(NamedTuple):
    """A student's sheet: what they have worked with, and what they have written."""

    own: Values  # every number of theirs in full, as it goes into what they make of it
    written: Values  # NaN for what is left blank
    acts: Mapping[str, Act]


def answered(quiz: Quiz, inputs: Values, acts: Mapping[str, Act]) -> Answered:
    own, written = dict(inputs), {}
    for name, formula in quiz.steps.items():
        act = acts.get(name, HONEST)
        value = np.asarray((act.rule or formula)(own), float)
        written[name] = value if act.spoil is None else act.spoil(value)
        own[name] = np.where(np.isnan(written[name]), value, written[name])
    return Answered(own, written, acts)


class Judged(NamedTuple):
    """A step, judged by hand."""

    verdict: str
    score: Fraction
    out_of: Fraction
    sure: bool  # whether the verdict is what the student was up to


def judged(quiz: Quiz, key: Values, sheet: Answered) -> dict[str, Judged]:
    """What a hand makes of a sheet by a key, which may be a wrong one."""
    right, found = dict(key), {}
    for name, formula in quiz.steps.items():
        right[name] = np.asarray(formula(right), float)
        near = 0.5 * 10**-DECIMALS + 1e-9
        good = np.abs(np.nan_to_num(sheet.written[name], nan=np.inf) - right[name]) <= near
        by_own = np.asarray(formula({**sheet.own, **key}), float)
        act, blank = sheet.acts.get(name, HONEST), np.isnan(sheet.written[name])
        if good[~blank].all():
            verdict = "missing" if blank.any() else "right"
        elif act.verdict in ("right", "missing"):
            verdict = "follows" if np.allclose(sheet.own[name], by_own, atol=1e-9) else "unexplained"
        else:
            verdict = act.verdict
        as_meant = all(np.array_equal(sheet.own[name], value) for name, value in key.items())
        sure = as_meant or verdict == "right"
        found[name] = Judged(verdict, *quiz.policy.marks(name, verdict, good, blank), sure)
    return found


# Sheets, as many different people write them


def cells(value: Array) -> Any:
    """Numbers to so many decimals, null for what is blank."""
    return [cells(one) for one in value] if value.ndim else None if np.isnan(value) else round(float(value), DECIMALS)


def text(number: float, blank: str = "?") -> str:
    return blank if np.isnan(number) else f"{number:.{DECIMALS}f}"


def texts(value: Array) -> Any:
    return [texts(one) for one in value] if value.ndim else None if np.isnan(value) else text(float(value))


def blocks(student: str, problem: str, steps: Values, mark: str = ",", decimal: str = ".") -> str:
    lines = [f"@student{mark}{student}", *([f"@problem{mark}{problem}"] if problem else [])]
    for name, value in steps.items():
        rows = value.reshape(-1, (1, *value.shape)[-1])
        lines += [f"@{name}", *(mark.join(text(entry).replace(".", decimal) for entry in row) for row in rows)]
    return "\n".join(lines) + "\n"


def as_json(tree: Callable[[str, str, Values], Any]) -> Callable[[Path, str, str, Answered], None]:
    def write(path: Path, student: str, problem: str, sheet: Answered) -> None:
        whole = tree(student, problem, sheet.written)
        path.with_suffix(".json").write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")

    return write


def as_text(suffix: str, encoding: str, *marks: str) -> Callable[[Path, str, str, Answered], None]:
    def write(path: Path, student: str, problem: str, sheet: Answered) -> None:
        path.with_suffix(suffix).write_text(blocks(student, problem, sheet.written, *marks), encoding=encoding)

    return write


WRITERS: dict[str, Callable[[Path, str, str, Answered], None]] = {
    "JSON": as_json(
        lambda student, problem, steps: {
            "student": student,
            "problem": problem,
            "steps": {name: cells(value) for name, value in steps.items()},
        }
    ),
    "CSV": as_text(".csv", "utf-8"),
    "numbers as text": as_json(
        lambda student, problem, steps: {
            "student": student,
            "problem": problem,
            "steps": [{"name": name, "value": texts(value)} for name, value in steps.items()],
        }
    ),
    "decimal commas": as_text(".csv", "utf-8-sig", ";", ","),
    "names of steps alone": as_json(
        lambda student, problem, steps: {name: texts(value) for name, value in steps.items()} | {"student": student}
    ),
    "UTF-16 with tabs": as_text(".tsv", "utf-16", "\t"),
}
STORED: dict[str, Callable[[Path, Values], object]] = {
    "npz": lambda path, steps: np.savez(path.with_suffix(".npz"), **steps),
    "safetensors": lambda path, steps: path.with_suffix(".safetensors").write_bytes(safetensors(steps)),
}
"""As a machine stores them, with every digit."""
RESULTS: dict[str, Callable[[Path, Array], object]] = {
    "npy": lambda path, value: np.save(path.with_suffix(".npy"), value),
    "a list": lambda path, value: path.with_suffix(".json").write_text(json.dumps(cells(value)), encoding="utf-8"),
    "a line": lambda path, value: path.with_suffix(".jsonl").write_text(json.dumps(texts(value)), encoding="utf-8"),
    "a row": lambda path, value: path.with_suffix(".csv").write_text(
        ",".join(text(entry) for entry in value) + "\n", encoding="utf-8"
    ),
}
"""Of one step: the result by itself."""


def hand_in(folder: Path, number: int, own: Mapping[str, str], sheet: Answered) -> None:
    """A sheet of the student of that number, in a format of their own."""
    folder.mkdir(exist_ok=True)
    path, blank = folder / own["folder"], any(np.isnan(value).any() for value in sheet.written.values())
    if len(sheet.written) == 1 and number % 3 == 0:
        [*RESULTS.values()][number // 3 % len(RESULTS)](path, next(iter(sheet.written.values())))
    elif number % 5 == 0 and not blank:
        [*STORED.values()][number // 5 % len(STORED)](path, sheet.written)
    else:
        [*WRITERS.values()][number % len(WRITERS)](path, own["student"], own["problem"], sheet)


def class_lists(folder: Path, sheets: Mapping[str, Answered]) -> None:
    """What two forms have collected: a row a student, a column an entry."""
    folder.mkdir(exist_ok=True)
    half = len(CLASS) // 2
    for part, mark, decimal in ((CLASS[:half], ",", "."), (CLASS[half:], ";", ",")):
        columns = [
            (f"{name}[{','.join(map(str, at))}]", name, at)
            for name, value in next(iter(sheets.values())).written.items()
            for at in np.ndindex(value.shape)
        ]
        written = io.StringIO()
        writer = csv.writer(written, delimiter=mark)
        writer.writerow(["Timestamp", "Student", *(head for head, _, _ in columns)])
        for student in part:
            entries = [text(float(sheets[student].written[name][at]), "") for _, name, at in columns]
            writer.writerow(["2026-03-02 10:15", student, *(entry.replace(".", decimal) for entry in entries)])
        (folder / f"form {mark == ';'}.csv").write_text(written.getvalue(), encoding="utf-8")


# The term


class Term(NamedTuple):
    """The folder of a term, and the program."""

    home: Path
    run: Run

    def __call__(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = self.run(*words, cwd=self.home)
        assert done.returncode == status, (words, done.stdout, done.stderr)
        return done

    def problems(self, name: str) -> dict[str, dict[str, Any]]:
        """The document of each student's problem."""
        found = json.loads((self.home / name / "keys.json").read_text(encoding="utf-8"))
        return {one["student"]: one for one in found["variants"]}

    def report(self, file: str) -> dict[str, dict[str, Any]]:
        found = json.loads((self.home / file).read_text(encoding="utf-8"))
        return {one["student"]: one for one in found["students"]}


def given(problem: Mapping[str, Any], **told: float) -> Values:
    """A problem's numbers, options among them."""
    numbers = {**problem["inputs"], **problem["options"], **told}
    return {name: np.asarray(value, float) for name, value in numbers.items()}


Hand = Mapping[str, Mapping[str, Judged]]


def holds(
    report: Mapping[str, Mapping[str, Any]], hand: Hand, sheets: Mapping[str, Answered], *, marks_alone: bool
) -> None:
    """Whether a report says of every step of every student what the hand has found: its marks, and why."""
    assert {*report} == {*CLASS} == {*hand}
    off = []
    for student, steps in hand.items():
        found = {step["name"]: step for step in report[student]["steps"]}
        assert [*found] == [*steps], student
        for name, one in steps.items():
            step, act = found[name], sheets[student].acts.get(name)
            verdict = "right" if step["verdict"] in ("right", "right-to-rounding") else step["verdict"]
            marks = float(one.score), float(one.out_of)
            if (step["score"], step["out_of"]) != pytest.approx(marks, abs=1e-6):
                off.append((student, name, step["verdict"], step["score"], one))
            elif marks_alone:
                continue
            elif one.sure and verdict != one.verdict:
                off.append((student, name, step["verdict"], step["mistake"], one))
            elif (
                one.sure
                and one.verdict == "mistake"
                and act is not None
                and act.mistake not in (step["mistake"], *step["also"])
            ):
                off.append((student, name, step["mistake"], step["also"], act.mistake))
    assert not off, "\n".join(map(str, off))
    for student, (score, out_of) in totals(hand).items():
        marks = report[student]["score"], report[student]["out_of"]
        assert marks == pytest.approx((float(score), float(out_of)), abs=1e-6), student


def totals(hand: Hand) -> dict[str, tuple[Fraction, Fraction]]:
    return {
        student: (
            sum((s.score for s in steps.values()), Fraction()),
            sum((s.out_of for s in steps.values()), Fraction()),
        )
        for student, steps in hand.items()
    }


def written(number: Fraction) -> str:
    """As a page has it."""
    return f"{round(float(number), 2):.10g}"


def comes_back(term: Term, name: str, key: str, hand: Hand) -> None:
    """The reports of a class, the pages of its students and the mark sheet of a platform."""
    marks = totals(hand)
    worksheet = [["Identifier", "Full name", "Status", "Grade", "Maximum Grade", "Grade can be changed"]]
    worksheet += [
        [f"Participant {i}", who, "Submitted", "", written(marks[who][1]), "Yes"] for i, who in enumerate(CLASS)
    ]
    with (term.home / "moodle.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(worksheet)
    by, back = QUIZZES[name].by, f"{name} back"
    marking = ("grade", key, f"{name} sheets", *by, "--feedback", back, "--into", "moodle.csv")
    term(*marking, "-o", f"{name}.json", status=1)
    for form in ("html", "markdown", "csv", "junit", "tap", "gradescope"):
        term("grade", "--regrade", f"{name}.json", "-f", form, "-o", f"{name} as {form}", status=1)
    with (term.home / f"{name} as csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"].removeprefix("'"): row for row in csv.DictReader(file)}
    with (term.home / "moodle.csv").open(encoding="utf-8", newline="") as file:
        grades = {row["Full name"]: row["Grade"] for row in csv.DictReader(file)}
    root = ElementTree.fromstring((term.home / f"{name} as junit").read_bytes())  # noqa: S314  (written by ourselves)
    suites = {suite.get("name"): suite for suite in root.iter("testsuite")}
    page = (term.home / f"{name} as html").read_text(encoding="utf-8")
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (term.home / back).iterdir()}
    assert len(pages) == len(CLASS)
    for student in CLASS:
        score, out_of = marks[student]
        assert float(rows[student]["score"]) == pytest.approx(float(score), abs=1e-6)
        assert float(grades[student]) == pytest.approx(float(score), abs=1e-5)
        wrong = sum(one.verdict != "right" for one in hand[student].values())
        assert suites[student].get("failures") == str(wrong)
        stem = student.replace(" ", "-").replace("'", "-")
        results = json.loads((term.home / f"{name} as gradescope/{stem}.json").read_text(encoding="utf-8"))
        assert results["score"] == pytest.approx(float(score), abs=1e-6)
        assert student.replace("'", "&#x27;") in page or student in page
        own = pages[stem]
        assert not [other for other in CLASS if other != student and other in own]
        assert f"{written(score)} of {written(out_of)} mark" in own


def at_work(quiz: Quiz, problems: Mapping[str, Values]) -> dict[str, Answered]:
    """Every student works out their sheet; who does what goes by turns."""
    return {
        student: answered(quiz, problems[student], quiz.acts[i % len(quiz.acts)]) for i, student in enumerate(CLASS)
    }


def by_hand(quiz: Quiz, problems: Mapping[str, Values], sheets: Mapping[str, Answered]) -> Hand:
    return {student: judged(quiz, problems[student], sheets[student]) for student in CLASS}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("term")
    (folder / "class.csv").write_text("\n".join(("student", *CLASS, "")), encoding="utf-8")
    (folder / "cells.toml").write_text('cells = "each"\nfollow = "none"\n[points]\nhidden = 3\n', encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.release) for name in ("attention", "a backward pass")),
        "a policy of cells",
    ],
)
def test_a_sheet_with_numbers_of_their_own(run: Run, home: Path, name: str) -> None:
    term, quiz = Term(home, run), QUIZZES[name]
    term("quiz", *quiz.words, "--roster", "class.csv", "--export", "moodle,qti,gradescope", "-o", name)
    pool = ElementTree.fromstring((home / name / "moodle.xml").read_bytes())  # noqa: S314  (written by ourselves)
    assert len(pool.findall("question[@type='cloze']")) == len(CLASS)
    documents = term.problems(name)
    assert len({json.dumps(one["inputs"]) for one in documents.values()}) == len(CLASS)
    problems = {student: given(one) for student, one in documents.items()}
    sheets = at_work(quiz, problems)
    for i, student in enumerate(CLASS):
        hand_in(home / f"{name} sheets", i, documents[student], sheets[student])
    key = f"{name}/keys.json"
    hand = by_hand(quiz, problems, sheets)
    comes_back(term, name, key, hand)
    holds(term.report(f"{name}.json"), hand, sheets, marks_alone=False)


def corrected(
    term: Term, name: str, keys: tuple[str, str], hands: tuple[Hand, Hand], sheets: Mapping[str, Answered]
) -> None:
    """Mark by a wrong key, and once more by the right one: it is said whose marks that changes, and so it is."""
    by = QUIZZES[name].by
    term("grade", keys[0], f"{name} sheets", *by, "-o", "before.json", status=1)
    holds(term.report("before.json"), hands[0], sheets, marks_alone=True)
    before, after = map(totals, hands)
    changed = [student for student in CLASS if before[student] != after[student]]
    assert 0 < len(changed) < len(CLASS)
    again = ("grade", keys[1], f"{name} sheets", "--regrade", "before.json", "-o", "after.json")
    dry = term(*again, "--dry-run").stdout
    assert not (term.home / "after.json").exists()
    assert dry.endswith(f"the marks of {len(changed)} of {len(CLASS)} students would change\n")
    for student in changed:
        was, now = (f"{written(found[student][0])} of {written(found[student][1])}" for found in (before, after))
        [line] = [line for line in dry.splitlines() if line.startswith(f"{student}  ")]
        assert line.split("  ")[1:] == [was, now] or line.split() == [*student.split(), *was.split(), *now.split()]
    term(*again, status=1)
    holds(term.report("after.json"), hands[1], sheets, marks_alone=False)
    (term.home / "after.json").unlink()


@pytest.mark.release
def test_a_problem_of_ones_own_whose_key_is_corrected_late(run: Run, home: Path) -> None:
    name, term = "own problem", Term(home, run)
    quiz = QUIZZES[name]
    for file, document in (("mine.json", MINE), ("typed wrong.json", TYPED_WRONG)):
        (home / file).write_text(json.dumps(document), encoding="utf-8")
    term("quiz", *quiz.words, "--export", "moodle,qti,canvas,gradescope", "-o", name)
    right, wrong = given(MINE), given(TYPED_WRONG)
    sheets = at_work(quiz, dict.fromkeys(CLASS, right))
    class_lists(home / f"{name} sheets", sheets)
    hands = (by_hand(quiz, dict.fromkeys(CLASS, wrong), sheets), by_hand(quiz, dict.fromkeys(CLASS, right), sheets))
    corrected(term, name, ("typed wrong.json", f"{name}/key.json"), hands, sheets)
    comes_back(term, name, f"{name}/key.json", hands[1])


def test_keys_of_a_class_that_are_corrected_late(run: Run, home: Path) -> None:
    """On the board stood another temperature than in keys.json, and some have read the board."""
    name, term = "one number beside another", Term(home, run)
    quiz = QUIZZES[name]
    term("quiz", *quiz.words, "--roster", "class.csv", "--export", "moodle,qti,gradescope", "-o", name)
    documents, board = term.problems(name), 4.0
    printed = {student: given(one) for student, one in documents.items()}
    meant = {student: given(one, temperature=board) for student, one in documents.items()}
    sheets = at_work(quiz, {student: (printed if i % 7 == 0 else meant)[student] for i, student in enumerate(CLASS)})
    for i, student in enumerate(CLASS):
        hand_in(home / f"{name} sheets", i, documents[student], sheets[student])
    assert {path.suffix for path in (home / f"{name} sheets").iterdir()} == {*FORMATS} - {
        ".ndjson"
    }  # another name for .jsonl
    whole = json.loads((home / name / "keys.json").read_text(encoding="utf-8"))
    for one in whole["variants"]:
        one["options"]["temperature"] = board
    (home / "corrected.json").write_text(json.dumps(whole), encoding="utf-8")
    hands = (by_hand(quiz, printed, sheets), by_hand(quiz, meant, sheets))
    corrected(term, name, (f"{name}/keys.json", "corrected.json"), hands, sheets)
    comes_back(term, name, "corrected.json", hands[1])
