"""`attncalc quiz`: the files of a new problem, all of them or none, and the key of one that is there."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from conftest import Run

from attncalc.common.errors import either
from attncalc.render import PAGES

NAMES = ("problem.json", "sheet.json", "sheet.csv", "key.json", "worksheet.md", "worksheet.tex")
DOT = ("quiz", "dot", "--seed", "1", "-o", "quiz")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def first_quiz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home") / "quiz"


@pytest.fixture
def quiz(run: Run, tmp_path: Path, first_quiz: Path) -> Path:
    """A quiz of attention, with its files: made once, and each test has a copy."""
    if not first_quiz.exists():
        words = ("attention", "--seed", "1", "--size", "n=3,d_k=4", "--level", "easy", "-o", first_quiz)
        done = run("quiz", *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return copytree(first_quiz, tmp_path / "quiz")


def test_writes_every_file_and_says_nothing(quiz: Path) -> None:
    assert sorted(contents(quiz)) == sorted(NAMES)
    assert all(content.endswith(b"\n") for content in contents(quiz).values())


def test_the_problem_has_the_sizes_and_not_the_answers(quiz: Path) -> None:
    problem = json.loads((quiz / "problem.json").read_text())
    assert list(problem) == ["attncalc", "calculation", "inputs", "labels", "options"]
    assert [len(problem["inputs"]["q"]), len(problem["inputs"]["q"][0])] == [3, 4]


@pytest.mark.thorough
def test_a_natural_name_draws_its_kind(run: Run, tmp_path: Path) -> None:
    assert run("quiz", "grad", "relu", "--size", "n=3", "--seed", "1", "-o", "quiz").returncode == 0
    assert json.loads((tmp_path / "quiz/problem.json").read_text())["options"] == {"kind": "relu"}


@pytest.mark.release
def test_the_same_seed_writes_the_same_files(run: Run, quiz: Path) -> None:
    again = ("quiz", "attention", "--seed", "1", "--size", "d_k=4", "--size", "n=3", "--level", "easy", "-o")
    assert run(*again, "again/and/again").returncode == 0
    assert contents(quiz.parent / "again/and/again") == contents(quiz)
    assert run(*again, "quiz").returncode == 0


@pytest.mark.thorough
def test_the_key_is_made_again_byte_for_byte(run: Run, quiz: Path) -> None:
    done = run("quiz", "--key", "quiz/problem.json", "-o", "key.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (quiz.parent / "key.json").read_bytes() == (quiz / "key.json").read_bytes()
    assert run("quiz", "--key", "quiz/problem.json").stdout == (quiz / "key.json").read_text()


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.parametrize("sheet", ["sheet.json", "sheet.csv"])
@pytest.mark.parametrize("against", ["problem.json", "key.json"])
def test_a_blank_sheet_is_checked_as_not_answered(run: Run, quiz: Path, sheet: str, against: str) -> None:
    done = run("check", f"quiz/{sheet}", f"quiz/{against}", "-f", "json")
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr, report["score"]) == (1, "", 0)
    assert {step["verdict"] for step in report["steps"]} == {"missing"}


@pytest.mark.thorough
def test_the_key_is_right_against_its_problem(run: Run, quiz: Path) -> None:
    done = run("check", "quiz/key.json", "quiz/problem.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert run("grade", "quiz/key.json", "quiz/sheet.csv").returncode == 1


@pytest.mark.parametrize("against", ["key.json", "problem.json"], ids=["against the key", "against itself"])
@pytest.mark.release
def test_a_problem_is_no_answer(run: Run, quiz: Path, against: str) -> None:
    done = run("check", "quiz/problem.json", f"quiz/{against}")
    assert (done.returncode, done.stdout) == (2, "")
    assert " without answers, where answers are wanted\nhint: answers stand under" in done.stderr


@pytest.mark.release
@pytest.mark.spread
@pytest.mark.parametrize("form", PAGES)
def test_a_worksheet_has_every_format_of_pages(run: Run, quiz: Path, form: str) -> None:
    words = ("attention", "--seed", "1", "--size", "n=3,d_k=4", "--level", "easy", "-o", form)
    assert run("quiz", *words, "-f", form).returncode == 0
    made = contents(quiz.parent / form)
    [name] = made.keys() - {"problem.json", "sheet.json", "sheet.csv", "key.json"}
    assert made.items() - {(name, made[name])} <= contents(quiz).items()
    page = made[name].decode()
    assert all(step in page for step in ["Work out", *json.loads(made["sheet.json"])["steps"]])


@pytest.mark.thorough
def test_worksheets_are_written_in_several_formats(run: Run, tmp_path: Path) -> None:
    assert run(*DOT, "-f", "html,latex", "-f", "plain").returncode == 0
    found = {path.name for path in (tmp_path / "quiz").glob("worksheet*")}
    assert found == {"worksheet.html", "worksheet.tex", "worksheet.txt"}


@pytest.mark.thorough
def test_a_listener_hears_the_numbers_and_what_is_asked(run: Run, tmp_path: Path) -> None:
    assert run(*DOT, "-f", "plain").returncode == 0
    problem = json.loads((tmp_path / "quiz/problem.json").read_text())["inputs"]
    a, b = (" ".join(map(str, problem[name])) for name in ("a", "b"))
    page = (tmp_path / "quiz/worksheet.txt").read_text()
    assert f"\n\nGiven\na: n 3\n{a}\nb: n 3\n{b}\n\nWork out\n" in page
    assert "\nstep 1: products\nformula: a ⊙ b\nin words: a times entry by entry b\nshape: n 3\n" in page


def test_a_formula_that_is_given_is_said_once(run: Run, tmp_path: Path) -> None:
    assert run("quiz", "derivative", "--seed", "1", "-f", "plain", "-o", "quiz").returncode == 0
    formula = json.loads((tmp_path / "quiz/problem.json").read_text())["inputs"]["expression"]
    assert (tmp_path / "quiz/worksheet.txt").read_text().count(formula) == 1


@pytest.mark.thorough
def test_without_a_seed_it_says_which_one_it_took(run: Run, tmp_path: Path) -> None:
    said = run("quiz", "dot", "-o", "one").stderr
    seed = said.removeprefix("note: --seed ").partition(" ")[0]
    run("quiz", "dot", "--seed", seed, "-o", "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.thorough
def test_says_once_what_it_cannot_tell_apart(run: Run) -> None:
    done = run("quiz", "rope", "--seed", "1", "-o", "quiz")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "note: this problem does not tell rope-theta-dmodel from rope-exp-i\n"


@pytest.mark.release
@pytest.mark.parametrize("words", [("grad", "softmax"), ("grad softmax",)], ids=["two words", "one"])
def test_a_quiz_of_a_backward_pass_is_checked_like_any(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run("quiz", *words, "--seed", "1", "-o", "quiz")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    problem, sheet = (json.loads((tmp_path / "quiz" / name).read_text()) for name in ("problem.json", "sheet.json"))
    assert (problem["calculation"], list(problem["inputs"])) == ("grad softmax", ["x", "upstream"])
    assert "grad_x" in sheet["steps"]
    assert "# grad softmax\n\nThe backward pass of softmax. " in (tmp_path / "quiz/worksheet.md").read_text()
    assert run("check", "quiz/key.json", "quiz/problem.json").returncode == 0
    sheet["steps"] = {"grad_x": np.subtract(0, json.loads((tmp_path / "quiz/key.json").read_text())["result"]).tolist()}
    (tmp_path / "wrong.json").write_text(json.dumps(sheet))
    assert run("grade", "quiz/problem.json", "quiz/key.json", "wrong.json").returncode == 1


OWN = {"calculation": "attention", "inputs": {"q": [[0, 2], [1, 1]], "k": [[0, 1], [2, 0]], "v": [[0, 1], [1, -1]]}}


@pytest.mark.thorough
@pytest.mark.parametrize("command", [("quiz", "-o", "quiz"), ("practice",)])
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("gone.json", 'there is no document "gone.json"'),
        ("gone/own.JSON", 'there is no document "gone/own.JSON"'),
        ("made", "made is a folder"),
        ("gone.jsn", 'there is no file "gone.jsn"'),
        ("./gone", 'there is no file "./gone"'),
        ("softmaks", 'there is no calculation called "softmaks"'),
    ],
)
def test_a_document_that_is_not_there_is_no_misspelt_calculation(
    run: Run, tmp_path: Path, command: tuple[str, ...], word: str, said: str
) -> None:
    (tmp_path / "made").mkdir()
    done = run(*command, word)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"Error: {said}")


def test_a_quiz_is_made_of_a_problem_of_ones_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(json.dumps(OWN))
    done = run("quiz", "own.json", "--ask", "weights[1,0],output", "--show-steps", "scaled", "-o", "quiz")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == ""
    assert sorted(contents(tmp_path / "quiz")) == sorted(NAMES)
    problem, key, sheet = (
        json.loads((tmp_path / "quiz" / f"{n}.json").read_text()) for n in ("problem", "key", "sheet")
    )
    assert problem["inputs"] == OWN["inputs"]
    assert (problem["ask"], problem["shown"]) == (key["ask"], key["shown"]) == (["weights[1,0]", "output"], ["scaled"])
    assert sheet["steps"] == {"weights[1,0]": None, "output": [[None, None], [None, None]]}
    assert "@weights\n-,-\n?,-\n" in (tmp_path / "quiz/sheet.csv").read_text()
    work = (tmp_path / "quiz/worksheet.md").read_text()
    assert "| **0** | 1.4142 | 0.0000 |" in work.partition("## Work out")[0]
    assert "scores" not in work.partition("## Work out")[0]
    assert run("quiz", "quiz/problem.json", "-o", "again").returncode == 0  # what is asked stands in the problem
    assert contents(tmp_path / "again") == contents(tmp_path / "quiz")
    assert run("quiz", "--key", "quiz/problem.json").stdout == (tmp_path / "quiz/key.json").read_text()


@pytest.mark.thorough
def test_a_problem_that_hides_mistakes_is_made_all_the_same_and_says_so(run: Run, tmp_path: Path) -> None:
    zeros = {name: np.zeros((2, 2)).tolist() for name in "qkv"}
    (tmp_path / "own.json").write_text(json.dumps(OWN | {"inputs": zeros}))
    done = run("quiz", "own.json", "-o", "quiz")
    assert (done.returncode, sorted(contents(tmp_path / "quiz"))) == (0, sorted(NAMES))
    assert re.match("note: on this problem .*att-no-scale.* cannot be seen", done.stderr)
    told = run("quiz", "rope", "--seed", "1", "-o", "rope").stderr
    assert run("quiz", "rope/problem.json", "-o", "again").stderr == told


@pytest.mark.thorough
def test_what_is_asked_for_and_left_out_costs_its_marks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(json.dumps(OWN | {"ask": ["weights[1,0]", "output"], "shown": ["scaled"]}))
    sheets = {
        "right": ({"weights[1,0]": 0.3302, "output": [[0.1956, 0.6089], [0.6698, -0.3395]]}, 4),
        "left out": ({"output": [[0.1956, 0.6089], [0.6698, -0.3395]]}, 2),
        "wrong beside": ({"weights": [[9, 9], [0.3302, 9]], "scores": [[7, 7], [7, 8]]}, 2),
        "one blank": ({"weights[1,0]": 0.3302, "output": [[0.1956, 0.6089], [0.6698, None]]}, 3),
        "nothing": ({}, 0),
    }
    for name, (steps, _) in sheets.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"steps": steps}))
    run("grade", "own.json", *(f"{name}.json" for name in sheets), "-o", "report.json")
    graded = json.loads((tmp_path / "report.json").read_text())["students"]
    found = {one["student"]: (one["score"], one["out_of"]) for one in graded}
    assert found == {name: (marks, 4) for name, (_, marks) in sheets.items()}
    for name, (_, marks) in sheets.items():
        report = json.loads(run("check", f"{name}.json", "own.json", "-f", "json").stdout)
        assert (report["score"], report["out_of"], report["verdict"] == "right") == (marks, 4, marks == 4)


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize(
    ("words", "options", "inputs"),
    [
        (("attention", "--causal"), {"causal": True}, ["q", "k", "v"]),
        (("grad", "attention", "--causal", "--wrt", "q"), {"causal": True, "wrt": ["q"]}, ["q", "k", "v", "upstream"]),
        (("attention", "--given", "x,wq,wk,wv"), {}, ["x", "wq", "wk", "wv"]),
        (("attention", "--given", "x,wq,wk,wv", "--wq", "[[1,2],[3,4]]"), {}, ["x", "wq", "wk", "wv"]),
        (("attention", "--set", "causal=true", "--set", "scale=2"), {"scale": 2, "causal": True}, ["q", "k", "v"]),
        (("sampling", "--set", "seed=3"), {"seed": 3}, ["logits"]),
        (("layernorm", "--eps", "0.5"), {"eps": 0.5}, ["x", "gamma", "beta"]),
        (("encoder-block", "--norm", "rms", "--ask", "output"), {"norm": "rms"}, ["x"]),
    ],
    ids=" ".join,
)
def test_a_quiz_takes_what_its_calculation_takes(
    run: Run, tmp_path: Path, words: tuple[str, ...], options: dict[str, object], inputs: list[str]
) -> None:
    done = run("quiz", *words, "--seed", "1", "-o", "quiz")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    problem = json.loads((tmp_path / "quiz/problem.json").read_text())
    assert problem["options"].items() >= options.items()
    assert list(problem["inputs"])[: len(inputs)] == inputs
    if "--wq" in words:
        assert problem["inputs"]["wq"] == [[1, 2], [3, 4]]
    assert run("check", "quiz/key.json", "quiz/problem.json").returncode == 0


@pytest.mark.release
def test_a_worksheet_tells_what_it_is_to_tell(run: Run, tmp_path: Path) -> None:
    told = {}
    for words in ("", "--formulas names", "--formulas none", "--formulas none --reasons", "--no-reasons"):
        assert run("quiz", "attention", "--seed", "1", *words.split(), "-o", f"quiz{words}").returncode == 0
        work = (tmp_path / f"quiz{words}/worksheet.md").read_text().partition("## Work out")[2]
        told[words] = ("Q K^" in work, "from Q and K" in work, "compare every query" in work)
    assert told == {
        "": (True, False, True),
        "--formulas names": (False, True, False),
        "--formulas none": (False, False, False),
        "--formulas none --reasons": (False, False, True),
        "--no-reasons": (True, False, False),
    }


FAULTS: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing named": (("quiz",), "quiz takes the name of one calculation"),
    "two named": (("quiz", "dot", "norm", "-o", "quiz"), "quiz takes the name of one calculation"),
    "a derivative of nothing": (("quiz", "grad", "-o", "quiz"), "quiz grad needs the name of a calculation"),
    "a command": (("quiz", "check", "-o", "quiz"), 'quiz is for calculations, and "check" is none'),
    "a mistake": (("quiz", "att-no-scale", "-o", "quiz"), '"att-no-scale" is a mistake, not a calculation'),
    "a derivative of two": (("quiz", "grad", "dot", "norm", "-o", "quiz"), "quiz takes the name of one calculation"),
    "a derivative of what has none": (("quiz", "grad", "mips", "-o", "quiz"), "ranking has no gradient"),
    "an unknown name": (("quiz", "attenton", "-o", "quiz"), 'no calculation called "attenton"'),
    "no folder": (("quiz", "dot"), "-o must name a folder"),
    "a model": (("quiz", "transformer", "-o", "quiz"), "transformer makes no quiz"),
    "drawn at random": (("quiz", "concentration", "-o", "quiz"), "concentration makes no quiz"),
    "an unknown level": (("quiz", "dot", "--level", "hardest", "-o", "quiz"), "--level takes easy, medium or hard"),
    "an empty level": (("quiz", "dot", "--level", "", "-o", "quiz"), "--level takes easy, medium or hard"),
    "a seed that is none": (("quiz", "dot", "--seed", "-1", "-o", "quiz"), "--seed takes a whole number"),
    "an unknown size": (("quiz", "dot", "--size", "m=3", "-o", "quiz"), 'dot has no size "m"'),
    "a size of nothing": (("quiz", "dot", "--size", "n=0", "-o", "quiz"), "--size n takes a whole number from 1"),
    "too large a size": (("quiz", "dot", "--size", "n=65", "-o", "quiz"), "--size n takes a whole number from 1"),
    "a size twice": (
        ("quiz", "dot", "--size", "n=3,n=4", "-o", "quiz"),
        '--size gives "n" twice',
    ),
    **{
        f"an option twice, {words}": (
            ("quiz", "attention", *words.split(), "-o", "quiz"),
            '--scale is given twice: "2" and "3"',
        )
        for words in ("--set scale=2 --set scale=3", "--scale 2 --set scale=3")
    },
    "a size without a name": (("quiz", "dot", "--size", "3", "-o", "quiz"), "--size takes sizes by the names of axes"),
    "sizes that do not go": (("quiz", "conv", "--size", "kh=9", "-o", "quiz"), "9"),
    "too much to fill in": (("quiz", "outer", "--size", "m=64,n=64", "-o", "quiz"), "numbers to fill in"),
    "a key with a seed": (("quiz", "--key", "problem.json", "--seed", "1"), "cannot change it"),
    "a key that is not there": (("quiz", "--key", "nowhere.json"), "nowhere.json"),
    "a format that is none": (("quiz", "dot", "-f", "md", "-o", "quiz"), f'--format takes {either(PAGES)}, not "md"'),
    "a format for numbers": (("quiz", "dot", "-f", "json", "-o", "quiz"), f"--format takes {either(PAGES)}"),
    "an entry that is not there": (("quiz", "dot", "--ask", "products[9]", "-o", "quiz"), "products has no entry [9]"),
    "a step that is not there": (("quiz", "dot", "--ask", "sums", "-o", "quiz"), 'dot has no step "sums"'),
    "asked and shown": (("quiz", "dot", "--ask", "dot", "--show-steps", "dot", "-o", "quiz"), "at once"),
    "no operand": (("quiz", "dot", "--given", "a,c", "-o", "quiz"), 'dot has no operand "c"'),
    "too few operands": (("quiz", "attention", "--given", "x,wq", "-o", "quiz"), "wk and wv must still be given"),
    "set without a value": (("quiz", "dot", "--set", "seed", "-o", "quiz"), "--set takes an option with its value"),
    "set where there is nothing to set": (("quiz", "dot", "--set", "seed=3", "-o", "quiz"), 'no option "seed"'),
    "set to what is none": (("quiz", "sampling", "--set", "seeds=3", "-o", "quiz"), 'no option "seeds"'),
    "an option of another": (("quiz", "dot", "--causal", "-o", "quiz"), "attncalc quiz has no option --causal"),
    "a sample with a seed": (("quiz", "@nowhere", "--seed", "1", "-o", "quiz"), "has its own numbers"),
    "two of one name": (("quiz", "dot", "-f", "table,plain", "-o", "quiz"), "would both be worksheet.txt"),
    "a key with a format": (("quiz", "--key", "problem.json", "-f", "html"), "cannot change it"),
    "a key with a name": (("quiz", "dot", "--key", "problem.json"), "name no calculation with it"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_line_and_leaves_nothing(run: Run, tmp_path: Path, words: tuple[str, ...], fault: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    first, *rest = done.stderr.splitlines()
    assert first.startswith("Error: ")
    assert fault in first
    assert [line.partition(":")[0] for line in rest] in ([], ["hint"])
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_problem_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "problem.json").write_text("{}")
    first, hint = run("quiz", "problem.json", "-o", "quiz").stderr.splitlines()
    assert first == "Error: problem.json does not name its calculation"
    assert hint.startswith("hint: it has a key like")


def full(folder: Path) -> None:
    folder.mkdir()
    (folder / "worksheet.tex").write_text("mine")


def a_file(folder: Path) -> None:
    folder.write_text("")


def linked(folder: Path) -> None:
    folder.mkdir()
    (folder / "key.json").symlink_to(folder.parent / "elsewhere")


def a_folder_in_the_way(folder: Path) -> None:
    (folder / "sheet.csv").mkdir(parents=True)


@pytest.mark.thorough
@pytest.mark.parametrize("before", [full, a_file, linked, a_folder_in_the_way])
def test_all_files_are_written_or_none(run: Run, tmp_path: Path, before: object) -> None:
    assert callable(before)
    before(tmp_path / "quiz")
    there = sorted(tmp_path.rglob("*"))
    done = run("quiz", "dot", "-o", "quiz")  # nor is told how to make again what was not made
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: cannot write ")
    assert sorted(tmp_path.rglob("*")) == there


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("file/deeper/still", "file is no folder"),
        ("link", "it is a symbolic link to nothing"),
        ("link/deeper", "link is a symbolic link to nothing"),
        ("n" * 300, "file name too long"),
    ],
    ids=["below a file", "a link", "below a link", "a long name"],
)
def test_a_folder_that_cannot_be_made_is_told_first_and_why(run: Run, tmp_path: Path, folder: str, why: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("elsewhere")
    done = run("quiz", "dot", "-o", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: cannot write ")
    assert f": {why}\n" in done.stderr


@pytest.mark.thorough
def test_a_file_is_no_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "quiz").write_text("mine")
    done = run(*DOT)
    assert (done.returncode, done.stdout) == (2, "")
    said = "Error: cannot write quiz: it is no folder\nhint: name a folder, which need not be there yet\n"
    assert (done.stderr, (tmp_path / "quiz").read_text()) == (said, "mine")


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_in_the_place_of_a_file_is_not_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "quiz").mkdir()
    os.mkfifo(tmp_path / "quiz/key.json")
    done = run(*DOT)
    assert (done.returncode, [path.name for path in (tmp_path / "quiz").iterdir()]) == (2, ["key.json"])
    assert "there is another one already" in done.stderr


@pytest.mark.thorough
def test_a_sheet_that_somebody_has_filled_in_stays(run: Run, tmp_path: Path) -> None:
    assert run(*DOT).returncode == 0
    sheet = tmp_path / "quiz" / "sheet.csv"
    sheet.write_text(sheet.read_text().replace("?", "1"))
    filled = contents(tmp_path / "quiz")
    assert "there is another one already" in run(*DOT).stderr
    assert contents(tmp_path / "quiz") == filled
