"""Calls that mark answers: what answers nothing, what is nothing to an answer, and hints that lead on."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from conftest import Run
from rows import rows

from attncalc.calculations import TABLE
from attncalc.cli.settings import OF_RESULTS, Arithmetic, Shown
from attncalc.common.errors import flag
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.reading.sheets import from_tree, spelled
from attncalc.inputs.problem_files import sample_problem

INPUTS = {"q": [[1, 0, 1], [0, 1, 1]], "k": [[1, 1, 0], [1, 0, 1]], "v": [[2, 0, 1], [1, 1, 0]]}
PROBLEM = {"attncalc": 1, "calculation": "attention", "inputs": INPUTS}
RIGHT = "1.3595 0.6405 0.3595; 1.5 0.5 0.5"
STEPS = "\nhint: it has scores, scaled, weights, output\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("problem.json").write_text(json.dumps(PROBLEM))
    Path("class").mkdir()
    Path("class/ann.json").write_text(json.dumps({"student": "Ann", "output": [[1.36, 0.64, 0.36], [1.5, 0.5, 0.5]]}))


FRACTIONS = {
    "q": {"I": ["1/2", 1, 0], "like": [1, "-1/3", 2]},
    "k": {"I": [1, 0, "1/2"], "like": ["1/3", 1, 0]},
    "v": {"I": [1, 0, 2], "like": ["1/2", 3, -1]},
}


@pytest.fixture
def fractions() -> None:
    Path("fractions.json").write_text(json.dumps({"calculation": "attention", "inputs": FRACTIONS}))


@pytest.mark.usefixtures("fractions")
def test_fractions_and_labels_stand_on_every_page_as_they_were_given(run: Run) -> None:
    for form in ("table", "markdown", "html", "latex"):
        page = run("run", "fractions.json", "-f", form).stdout
        given = page[: page.index("scores")] if form == "table" else page
        assert "-1/3" in given, form
    answer = json.dumps({"scores": "1/2 7/6; -1 0"})
    for form in ("table", "markdown", "html"):
        page = run("run", "fractions.json", "--check", answer, "-f", form).stdout
        assert "7/6" in page, form
        assert "like" in page, form
    exact = run("run", "fractions.json", "--exact", "-f", "latex", "-q").stdout
    assert "hot" not in exact
    assert r"\text{like}" in exact


@pytest.mark.usefixtures("fractions")
def test_what_is_due_stands_beside_what_is_wrong(run: Run) -> None:
    told = run("run", "fractions.json", "--check", '{"scores": "1/2 7/6; -1 0"}', "--reveal").stdout
    assert "-1 → 2" in told
    assert "[[" not in told
    whole = run("run", "fractions.json", "--check", '{"scores": "1/2 1; 2 0"}', "--reveal", "-f", "json").stdout
    assert json.loads(whole)["steps"][0]["cells"] == [[0, 1]]


OPEN = ["?", "-", "…", "...", "_", "null", "None"]


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    "answer",
    [
        *(f"1.36 {sign} 0.36; 1.5 0.5 {sign}" for sign in OPEN),
        *(f"[[1.36, {sign}, 0.36], [1.5, 0.5, {sign}]]" for sign in [*OPEN, '""', '"…"']),
        "1.36,,0.36;1.5,0.5,",
        '{"output": "1.36 n/a 0.36; 1.5 0.5 ?"}',
        '{"output": [[1.36, null, 0.36], [1.5, 0.5, "…"]]}',
    ],
)
def test_what_is_not_done_may_be_left_open_where_an_answer_is_typed(run: Run, answer: str) -> None:
    told = run("run", "problem.json", "--check", answer).stdout
    assert "2 entries are not answered" in told
    assert "×" not in told
    wrong = run("run", "problem.json", "--check", answer.replace("1.5", "1.6")).stdout
    assert "· – ·   1.36     –  0.36\n    × · –    1.6   0.5     –\n" in wrong


TURNED = "1.36 1.50; 0.64 0.5; 0.36 ?"


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("table", "    {}\n    1.36   1.5\n    0.64   0.5\n    0.36     –\n"),
        ("plain", "hint: {}\nanswered: 1.36 1.5; 0.64 0.5; 0.36 –\n"),
        (
            "markdown",
            "output as written: {}:\n\n```\n      0      1\n0  1.36    1.5\n1  0.64    0.5\n2  0.36      –\n```\n",
        ),
        ("html", "<caption>as written: {}</caption>"),
    ],
)
def test_an_answer_of_another_shape_is_shown_as_it_is(run: Run, form: str, told: str) -> None:
    page = run("run", "problem.json", "--check", TURNED, "-f", form).stdout
    assert told.format("the answer is 3 × 2, and 2 × 3 is asked for") in page
    assert "×" not in page.replace("3 × 2", "").replace("2 × 3", "")
    assert "as written" not in run("run", "problem.json", "--check", "1", "-f", form).stdout


def test_an_answer_that_is_transposed_shows_its_shape(run: Run) -> None:
    right, turned = "1.36 0.64 0.36; 1.50 0.50 0.50", "1.36 1.50; 0.65 0.50; 0.36 0.50"
    assert run("run", "problem.json", "--check", right).returncode == 0
    told = run("run", "problem.json", "--check", turned, "--hints", "rule").stdout
    assert "slip-transposed-answer" in told
    assert "the answer is 3 × 2, and 2 × 3 is asked for\n    1.36   1.5\n" in told


@pytest.mark.parametrize("word", ["1,,2", "1 … 2", "[1, null, 2]"])
def test_an_operand_has_no_gaps(run: Run, word: str) -> None:
    done = run("softmax", word)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_page_that_tells_where_one_points_names_no_option(run: Run) -> None:
    assert "--cell" in run("run", "problem.json").stdout
    assert "--cell" not in run("run", "problem.json", "-f", "html").stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ('{"score": [[1, 2], [1, 1]]}', 'attention has no step "score"\nhint: did you mean scores?\n'),
        ('{"scroes": 1}', 'attention has no step "scroes"\nhint: did you mean scores?\n'),
        ('{"score": 3}', "the sheet answers no step of attention" + STEPS),
        ("{}", "the sheet answers no step of attention" + STEPS),
        ('{"steps": {}}', "the sheet answers no step of attention" + STEPS),
        ('{"steps": [{"name": "scores"}]}', "the sheet answers no step of attention" + STEPS),
        ('{"student": "Bob", "notes": "none"}', "the sheet answers no step of attention" + STEPS),
    ],
)
def test_what_answers_no_step_is_no_answer(run: Run, answer: str, told: str) -> None:
    done = run("run", "problem.json", "--check", answer)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"Error: {told}")
    Path("class/bob.json").write_text(answer)
    marked = run("grade", "problem.json", "class", "-f", "json")
    fault = told.split("\n", maxsplit=1)[0].replace("the sheet", "class/bob.json")
    assert [one.get("error", "") for one in json.loads(marked.stdout)["students"]] == ["", fault]


def test_a_blank_sheet_of_what_is_asked_for_earns_nothing(run: Run) -> None:
    Path("problem.json").write_text(json.dumps({**PROBLEM, "ask": ["weights", "output"]}))
    assert "0 of 4 marks" in run("run", "problem.json", "--check", "{}").stdout


@pytest.mark.thorough
@rows("name", TABLE)
def test_every_step_can_stand_on_a_sheet_by_its_name(name: str) -> None:
    for step in Key(sample_problem(name)).names.order:
        assert spelled(step) in from_tree({spelled(step): [1.0], "student": "Ann"}, "").steps


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "commas"),
    [
        (["softmax", "1.5 0", "--check"], "0,8176 0,1824"),
        (["softmax", "1.5 0", "--check"], "0,8176, 0,1824"),
        (["attention", "problem.json", "--check"], RIGHT.replace(".", ",")),
        (["norm"], "1,5 2"),
        (["norm"], "-1,5 2,5e-1"),
    ],
)
def test_what_is_typed_may_have_decimal_commas(run: Run, words: list[str], commas: str) -> None:
    points = commas.replace(", ", " ").replace(",", ".")
    done = run(*words, commas, "--decimal", ",", "-f", "plain")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(*words, points, "-f", "plain").stdout
    refused = run(*words, "1,2,3", "--decimal", ",")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith('Error: "1,2,3" has two decimal commas in a number\nhint: with --decimal ,')


VALUES = {
    "show": "output", "cell": "output[0,0]", "depth": "1", "detail": "full", "round": "2", "accumulate": "float32",
}  # fmt: skip


@pytest.mark.parametrize("answer", ["≈0.50 ~ 1/2", "√0.25,≈√(1/4)", "5.0·10^-1 50.0%"])
def test_what_is_typed_may_be_what_a_hand_writes(run: Run, answer: str) -> None:
    assert run("softmax", "3,3", "--check", answer).stdout.endswith("right: 2 of 2 marks\n")


@pytest.mark.thorough
@pytest.mark.parametrize("name", OF_RESULTS)
def test_what_is_of_results_is_nothing_to_an_answer(run: Run, name: str) -> None:
    option = [flag(name), *([VALUES[name]] if name in VALUES else [])]
    done = run("attention", "problem.json", "--check", RIGHT, *option)
    assert (done.returncode, done.stdout) == (2, "")
    mend = "hint: --hints rule says what is wrong, and attncalc explain CALCULATION what is right\n" * (
        name == "explain"
    )
    told = f"Error: --check marks an answer, and {flag(name)} is of a result: give only one of them\n{mend}"
    assert done.stderr == told


def test_every_other_option_has_its_part_in_marking() -> None:
    """Where it goes, as what, in which colours and decimals, of which step, and in which type it was stored."""
    others = {*Shown._fields, *Arithmetic._fields} - {*OF_RESULTS}
    assert others == {"format", "output", "get", "digits", "color", "standalone", "dtype"}


def test_how_a_saved_result_was_carried_out_is_no_obstacle_to_marking(run: Run) -> None:
    Path("saved.json").write_text(run("run", "problem.json", "--round", "2", "-f", "json").stdout)
    assert run("run", "saved.json", "--check", RIGHT).returncode == 0


OF_SAVED = (
    "attention saved.json --check 1",
    "check 1 saved.json",
    "run saved.json --check 1",
    "grade saved.json a.json",
)


@pytest.mark.parametrize("call", OF_SAVED)
def test_stored_steps_that_the_inputs_do_not_give_are_told(run: Run, call: str) -> None:
    saved = json.loads(run("run", "problem.json", "-f", "json").stdout)
    told = "scores as stored is not what the inputs give; the inputs are gone by\n"
    Path("a.json").write_text('{"output": 1}')
    for wrong in (False, True):
        saved["steps"][0]["value"][0][0] += wrong
        Path("saved.json").write_text(json.dumps(saved))
        assert run(*call.split()).stderr.count(told) == wrong
    done = run("attention", "saved.json", "--causal", "--check", "1")  # another problem than the one that is stored
    assert told not in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("option", "calculation"),
    [("--causal", "attention"), ("--no-causal", "attention"), ("--causal", "grad attention")],
)
def test_run_says_where_an_option_of_a_calculation_belongs(run: Run, option: str, calculation: str) -> None:
    Path("problem.json").write_text(json.dumps({**PROBLEM, "calculation": calculation}))
    done = run("run", "problem.json", option)
    assert (done.returncode, done.stdout) == (2, "")
    _, mend = done.stderr.split("attncalc run has no option")[1].split(": attncalc ")
    assert mend == f"{calculation} problem.json {option}\n"
    assert run(*shlex.split(mend)).returncode == 0


@pytest.mark.thorough
@pytest.mark.parametrize("sheets", ["class", "class/", "class/ann.json"])
def test_a_key_behind_its_sheets_is_told(run: Run, sheets: str) -> None:
    done = run("grade", sheets, "problem.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"hint: the key comes before the sheets: attncalc grade problem.json {sheets}\n" in done.stderr
    assert run("grade", "problem.json", sheets).returncode == 0
    assert "comes before" not in run("grade", "none.json", "problem.json").stderr


@pytest.mark.release
@pytest.mark.parametrize(
    "roster", ["student\nAnn Lee\n", "Name;Mark\nAnn Lee;\n", "First name,Last name,id\nAnn,Lee,7\n"]
)
def test_a_roster_has_its_names_where_a_class_list_has_them(run: Run, roster: str) -> None:
    Path("roster.csv").write_text(roster)
    assert run("quiz", "softmax", "--roster", "roster.csv", "--seed", "1", "-o", "quiz").returncode == 0
    assert [one["student"] for one in json.loads(Path("quiz/keys.json").read_text())["variants"]] == ["Ann Lee"]
    for words in (["run", "quiz/keys.json"], ["check", "1,2", "quiz/keys.json"]):
        done = run(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "hint: it holds the problems of a class: attncalc grade quiz/keys.json SHEETS" in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["problem.json", "key.json"])
def test_what_stands_beside_the_key_is_no_sheet(run: Run, key: str) -> None:
    run("quiz", "softmax", "--seed", "1", "-o", "quiz")
    marked = run("grade", f"quiz/{key}", "quiz", "-f", "json")
    assert [one["student"] for one in json.loads(marked.stdout)["students"]] == ["quiz"]


@pytest.mark.thorough
def test_a_sample_that_is_a_folder_is_written_as_one(run: Run, samples: Path) -> None:
    asked = run("sample", "tiny-llama")
    assert (asked.returncode, asked.stdout) == (2, "")
    words = asked.stderr.split("hint: attncalc ")[1].split(" writes it")[0]
    assert run(*words.split()).returncode == 0
    written, own = (
        {each.name: each.read_bytes() for each in at.iterdir()} for at in (Path("tiny-llama"), samples / "tiny-llama")
    )
    assert written == own
    assert run("model", "tiny-llama", "3,1,4", "-q").returncode == 0


@pytest.mark.thorough
def test_the_noise_of_a_narrower_type_is_told(run: Run) -> None:
    """NumPy's root of a whole number is of 64 bits, and what it divides is so from there on."""
    random = np.random.default_rng(0)
    q, k, v = (random.normal(size=(2, 4, 5, 8)).astype(np.float32) for _ in range(3))
    for name, value in {"q": q, "k": k, "v": v}.items():
        np.save(f"{name}.npy", value)
    shares = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(8))
    np.save("out.npy", shares / shares.sum(-1, keepdims=True) @ v)
    words = ("attention", "q.npy", "k.npy", "v.npy", "--check", "out.npy")
    done = run(*words)
    assert done.returncode == 0
    assert "right but for float32's noise" in " ".join(done.stdout.split())
    done = run(*words, "--dtype", "float64")
    assert done.returncode == 1
    assert "that is float32's noise, and --dtype float32 allows it" in " ".join(done.stdout.split())
    assert run(*words, "--dtype", "float32").returncode == 0
    np.save("out.npy", 1.001 * np.load("out.npy"))
    assert "noise" not in run(*words).stdout


@pytest.mark.release
def test_a_step_that_no_problem_has_is_told_before_any_sheet_is_marked(run: Run) -> None:
    Path("roster.csv").write_text("student\nAnn\nBob\n")
    run("quiz", "attention", "--roster", "roster.csv", "--seed", "3", "-o", "quiz")
    Path("policy.toml").write_text("[points]\nscroes = 2\n")
    done = run("grade", "quiz/keys.json", "quiz", "--policy", "policy.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'Error: attention has no step "scroes"\nhint: did you mean scores?\n'
    assert run("grade", "quiz/keys.json", "quiz", "--points", "scores=2").returncode == 1


def test_pages_tell_marks_to_two_decimals_and_documents_all_of_them(run: Run) -> None:
    words = ("grade", "problem.json", "class", "--points", "output=2.1111111")
    assert "4.22 of 4.22" in run(*words).stdout
    assert json.loads(run(*words, "-f", "json").stdout)["students"][0]["score"] == 4.222222
    checked = run("run", "problem.json", "--check", RIGHT, "--points", "output=2.1111111").stdout
    assert "right  4.22 of 4.22" in checked
    assert "right: 4.22 of 4.22 marks" in checked
