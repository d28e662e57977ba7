"""Quizzes: what is drawn shows every known mistake, and what is handed out is read again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from homework.sheets import answered, right_steps, written
from readback.text import KEYWORDS
from rows import rows

from attncalc.calculations import TABLE, load
from attncalc.common.errors import NoGradient, OptionError
from attncalc.homework.diagnosis.key import Key, known
from attncalc.homework.marking.marker import Marker
from attncalc.homework.quiz.handouts import exercises_of, files, key_document, worksheet_name
from attncalc.homework.quiz.search import Quiz, quiz
from attncalc.homework.quiz.templates import Wanted, template
from attncalc.homework.reading.asked import asked
from attncalc.homework.reading.keys_file import LEVELS
from attncalc.homework.reading.sheets import Asked, from_contents, from_tree, spelled
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.inputs.resolve import opened
from attncalc.language.graph import walk
from attncalc.language.primitive import symbol
from attncalc.record.numbers import shortest
from attncalc.record.verdicts import MISSING, SOUND
from attncalc.solve.problem import Problem
from attncalc.solve.solver import solve

PDFLATEX = shutil.which("pdflatex")
BACKWARD = ["softmax", "cross-entropy", "attention", "pairwise", "layernorm", "linear-regression", "mlp"]
REFUSED = [name for name in TABLE if load(name).exercise.refused]
KINDS = [
    (name, kind)
    for name in TABLE
    for option in load(name).options
    for kind in option.choices
    if option.name == "kind" and name not in REFUSED
]
MADE = [*(name for name in TABLE if name not in REFUSED), *(f"grad {name}" for name in BACKWARD)]

# What no numbers can tell apart: with one rotation for a vector of the size d, both are θ = base^(−i/d).
ALIKE = {"rope": {("rope-theta-dmodel", "rope-exp-i")}}


@cache
def made(name: str, level: str = "medium", seed: int = 1) -> Quiz:
    return quiz(name, seed, Wanted(level=level))


@cache
def handed_out(name: str) -> dict[str, str]:
    return files(made(name).problem, ("markdown", "latex", "html", "table"))


def read_again(name: str, folder: Path) -> Problem:
    (folder / "problem.json").write_text(handed_out(name)["problem.json"])
    return load_document(str(folder / "problem.json"), Reading()).problem


@pytest.mark.thorough
@rows(("name", "kind"), KINDS)
def test_there_is_a_problem_of_every_kind(name: str, kind: str) -> None:
    problem = template(name, np.random.default_rng(1), Wanted({"kind": kind}))
    assert problem.options["kind"] == kind
    assert solve(problem).result.size


WITH_FEW = (
    *("relu", "leaky-relu", "elu", "sigmoid", "tanh", "gelu-sigmoid", "silu", "softplus"),
    *("gd", "momentum", "nesterov", "adagrad", "rmsprop", "constant"),
)
"""Kinds whose own mistakes nobody has looked for yet."""


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "kind"), [each for each in KINDS if each[1] not in WITH_FEW])
def test_three_mistakes_can_be_made_in_every_kind(name: str, kind: str) -> None:
    problem = template(name, np.random.default_rng(1), Wanted({"kind": kind}))
    mistakes = [wrong.mistakes[0] for wrong in Key(problem).wrong]
    assert len({m.id for m in mistakes if m.kind != "alternative" and not m.alias_of}) >= 3


@pytest.mark.spread(20)
@pytest.mark.parametrize("name", MADE)
class TestEveryCalculation:
    @pytest.mark.thorough
    def test_shows_every_mistake_and_tells_them_apart(self, name: str) -> None:
        found = made(name)
        assert (found.hidden, set(found.alike)) == ((), ALIKE.get(name, set()))

    @pytest.mark.thorough
    def test_has_the_same_key_when_the_problem_is_read_again(self, name: str, tmp_path: Path) -> None:
        assert key_document(read_again(name, tmp_path)) == handed_out(name)["key.json"]

    @pytest.mark.release
    @pytest.mark.parametrize("sheet", ["sheet.json", "sheet.csv"])
    def test_takes_a_blank_sheet_as_not_answered(self, name: str, sheet: str, tmp_path: Path) -> None:
        (tmp_path / sheet).write_text(handed_out(name)[sheet])
        marker = Marker(Key(read_again(name, tmp_path)))
        marked = marker.mark(from_contents(opened(str(tmp_path / sheet), Reading()), Reading()))
        assert {step.finding.verdict for step in marked.steps} == {MISSING}
        assert (marked.score, marked.student, marked.notes) == (0, "", ())

    @pytest.mark.thorough
    def test_takes_a_sheet_filled_in_to_four_decimals_as_right(self, name: str, tmp_path: Path) -> None:
        key = Key(read_again(name, tmp_path))
        assert answered(Marker(key), right_steps(key, 4))

    @pytest.mark.thorough
    def test_asks_for_the_same_steps_on_every_sheet(self, name: str) -> None:
        handed = handed_out(name)
        asked = list(json.loads(handed["sheet.json"])["steps"])
        assert re.findall("^@(?!student)(.+)$", handed["sheet.csv"], re.MULTILINE) == asked
        numbered = re.findall(r"^\*\*(\d+)\.", handed["worksheet.md"], re.MULTILINE)
        assert len(numbered) == len(asked) == handed["worksheet.tex"].count(r"\textbf{")

    def test_has_a_box_for_every_number(self, name: str) -> None:
        handed = handed_out(name)
        blanks = handed["sheet.csv"].count("?")
        assert handed["sheet.json"].count("null") == blanks
        assert handed["worksheet.tex"].count(r"\room{") == blanks
        assert handed["worksheet.md"].count("&emsp;" * 3) == blanks

    def test_takes_what_follows_from_steps_that_it_tells_as_right(self, name: str) -> None:
        """They are told in four decimals, and the result is worked out from those."""
        key = Key(made(name).problem)
        values = {step: value for step in key.steps if (value := key.value(step)) is not None}
        told = {step: np.round(value, 4) for step, value in key.own_behind(key.result, values).items()}
        result = key.value(key.result, own=told)
        assert result is not None
        if key.result not in key.complex:
            marked = answered(Marker(key, asked=Asked({key.result: None}, (*told,))), {key.result: written(result, 4)})
            assert marked.verdict in SOUND

    def test_asks_for_single_entries(self, name: str) -> None:
        key = Key(made(name).problem)
        step = key.names.find([*json.loads(handed_out(name)["sheet.json"])["steps"]][-1])
        value = key.value(step)
        assert value is not None
        place = f"[{','.join(str(size - 1) for size in value.shape)}]" if value.shape else ""
        wants = asked([spelled(step) + place], [], key.names)
        assert wants.written() == {"ask": [spelled(step) + place]}
        whole, sheet = handed_out(name), files(key.problem, ("markdown", "latex", "html", "table"), wants)
        assert sheet["sheet.json"].count("null") == sheet["sheet.csv"].count("?") == 1
        passed_over = {text.count("–") - whole[file].count("–") for file, text in sheet.items() if "worksheet" in file}
        assert passed_over == {value.size - 1}
        entry = shortest(np.ravel(value)[-1])
        marked = Marker(key, asked=wants).mark(from_tree({spelled(step) + place: entry}, ""))
        assert (marked.score, marked.out_of, [each.asked for each in marked.steps]) == (2, 2, [True])

    @pytest.mark.parametrize("form", ["html", "table"])
    def test_has_a_box_for_every_number_on_other_worksheets_too(self, name: str, form: str) -> None:
        page = handed_out(name)[worksheet_name(form)]
        assert len(re.findall("_{4,}", page)) == handed_out(name)["sheet.csv"].count("?") + page.count("Name: ____")

    @pytest.mark.skipif(not PDFLATEX, reason="needs pdflatex")
    def test_has_a_worksheet_that_latex_sets_without_a_line_too_long(self, name: str, tmp_path: Path) -> None:
        (tmp_path / "worksheet.tex").write_text(handed_out(name)["worksheet.tex"])
        command = [str(PDFLATEX), "-interaction=nonstopmode", "-halt-on-error", "worksheet.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0
        assert b"Overfull" not in done.stdout


@pytest.mark.spread
@pytest.mark.parametrize("name", ["dot", "softmax", "attention", "kl", "descend", "embed"])
def test_the_same_seed_gives_the_same_files(name: str) -> None:
    assert files(quiz(name, 1).problem).items() <= handed_out(name).items()


@pytest.mark.spread
@pytest.mark.parametrize("name", ["dot", "softmax", "attention", "complexity", "derivative", "sinusoidal"])
def test_another_seed_gives_another_problem(name: str) -> None:
    problems = {files(quiz(name, seed).problem)["problem.json"] for seed in range(4)}
    assert len(problems) > 1


@pytest.mark.release
@pytest.mark.spread(5)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["cosine", "softmax", "attention", "layernorm", "mlp"])
def test_every_level_shows_every_mistake(name: str, level: str) -> None:
    assert made(name, level).flawless


@pytest.mark.release
def test_harder_levels_have_larger_numbers() -> None:
    largest = [max(np.abs(g.value).max() for g in made("attention", level).problem.inputs.values()) for level in LEVELS]
    assert largest[0] <= 2 < largest[1] <= 3 < largest[2]


@pytest.mark.release
@pytest.mark.parametrize(
    ("name", "step"),
    [("norm", "norm"), ("project", "coefficient"), ("eigen", "eigenvalues"), ("entropy", "entropy"), ("kl", "ratios")],
)
def test_numbers_come_out_where_they_can(name: str, step: str) -> None:
    value = Key(made(name, "easy").problem).value(("", step))
    assert value is not None
    np.testing.assert_allclose(value * 100, np.round(value * 100), atol=1e-9)


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize(
    ("name", "sizes", "shapes"),
    [
        ("attention", {"n": 2, "d_k": 4}, {"q": (2, 4), "k": (3, 4), "v": (3, 2)}),
        ("attention", {"n": 1, "m": 1, "d_k": 1, "d_v": 1}, {"q": (1, 1), "k": (1, 1), "v": (1, 1)}),
        ("multihead", {"h": 3}, {"wq": (5, 6), "wk": (5, 6), "wo": (6, 3)}),
        ("multihead", {"heads": 1}, {"wq": (5, 2), "wk": (5, 2), "wo": (2, 3)}),
        ("pairwise", {"n": 2}, {"x": (2, 3)}),
        ("embed", {"n": 5}, {"tokens": (5,), "table": (4, 4)}),
        ("grad attention", {"n": 2, "d_v": 4}, {"q": (2, 4), "v": (3, 4), "upstream": (2, 4)}),
        ("grad pairwise", {"n": 2}, {"x": (2, 3), "upstream": (2, 2)}),
    ],
    ids=lambda value: ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else None,
)
def test_has_the_sizes_that_are_asked_for(name: str, sizes: dict[str, int], shapes: dict[str, Any]) -> None:
    inputs = quiz(name, 1, Wanted(sizes=sizes)).problem.inputs
    assert {operand: inputs[operand].value.shape for operand in shapes} == shapes


@pytest.mark.parametrize(
    ("name", "sizes", "words"),
    [
        ("attention", {"d": 3}, 'attention has no size "d"'),
        ("attention", {"n": 60, "m": 60}, "numbers to fill in"),
        ("dot", {"m": 3}, 'dot has no size "m"'),
        ("grad dot", {"m": 3}, 'dot has no size "m"'),
        *((name, {}, f"{name} makes no quiz") for name in REFUSED),
        *((f"grad {name}", {}, f"{name} makes no quiz") for name in REFUSED),
    ],
)
def test_refuses_what_makes_no_quiz(name: str, sizes: dict[str, int], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        quiz(name, 1, Wanted(sizes=sizes))


@pytest.mark.parametrize("ask", [["outer[1,0]"], ["outer[1,0]", "outer[63,63]"]])
def test_of_a_large_step_few_entries_may_be_asked_for(ask: list[str]) -> None:
    """It was refused by all that it has, though nobody fills them in."""
    wanted = Wanted(sizes={"m": 64, "n": 64}, asks=(ask, []))
    assert len(quiz("outer", 1, wanted).answers) == len(ask)
    with pytest.raises(OptionError, match="there would be 4,096 numbers to fill in"):
        quiz("outer", 1, wanted._replace(asks=(["outer"], [])))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["derivative", "gradient", "descend"])
def test_the_worksheet_of_a_formula_does_not_tell_its_derivative(name: str) -> None:
    handed = handed_out(name)
    work = handed["worksheet.md"].partition("## Work out")[2]
    assert "$" not in work


@pytest.mark.parametrize("name", ["mips", "alibi", "descend"])
def test_what_has_no_gradient_makes_no_quiz_of_one(name: str) -> None:
    with pytest.raises(NoGradient):
        quiz(f"grad {name}", 1)


@pytest.mark.release
@pytest.mark.parametrize(("name", "arrives"), [("dot", False), ("softmax", True)])
def test_a_gradient_arrives_at_results_of_several_numbers(name: str, arrives: bool) -> None:
    found = [made(f"grad {name}", seed=seed).problem.inputs.get("upstream") for seed in range(3)]
    assert [each is not None for each in found] == [arrives] * 3
    assert len({str(each.value) for each in found if each}) == (3 if arrives else 0)


NAMED = ["cosine", "attention", "perplexity", "bayes", "layernorm", "grad attention", "grad cross-entropy"]


@pytest.mark.thorough
@pytest.mark.spread
@pytest.mark.parametrize("name", NAMED)
def test_a_mistake_made_throughout_is_named(name: str) -> None:
    key = Key(made(name).problem)
    marker = Marker(key)
    missed = []
    for wrong in key.wrong:
        [mistake] = wrong.mistakes
        if mistake.kind == "convention" or wrong.alternatives:
            continue
        values = {step: key.value(step, wrong) for step in key.steps}
        sheet = {step: written(value, 4) for step, value in values.items() if value is not None}
        findings = [step.finding for step in answered(marker, sheet).steps]
        named = {part for found in findings for name in (*found.mistakes, *found.also) for part in name.split("+")}
        if mistake.id not in named:
            missed.append((mistake.id, findings))
    assert not missed


@pytest.mark.thorough
def test_a_blank_sheet_takes_answers_where_they_belong() -> None:
    sheet = json.loads(handed_out("dot")["sheet.json"])
    key = Key(made("dot").problem)
    sheet["student"] = "Ann"
    sheet["steps"] = {step[1]: np.asarray(key.value(step)).tolist() for step in key.steps}
    marked = Marker(key).mark(from_tree(sheet, "sheet.json"))
    assert (marked.student, marked.verdict) == ("Ann", "right")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_descent_goes_on_to_its_last_update(seed: int) -> None:
    problem = made("descend", seed=seed).problem
    turns = {group for group, _ in Key(problem).nodes if group}
    assert len(turns) >= problem.options["steps"]


@pytest.mark.thorough
@pytest.mark.spread(20)
@pytest.mark.parametrize("name", MADE)
def test_a_worksheet_speaks_of_what_stands_on_it_alone(name: str) -> None:
    """A step that is neither asked for nor told is written as what it is made of."""
    problem = made(name).problem
    key, trace = Key(problem), solve(problem, keep_all=True)
    leaves = [node for node in walk(*key.nodes.values()) if node.op in ("input", "size", "index", "constant")]
    known = {"λ", *KEYWORDS, *map(symbol, leaves)}
    values = {step: trace.find(spelled(step)).value for step in key.steps}
    real = [step for step, value in values.items() if value is not None and value.dtype.kind in "biuf"]
    for step in {real[len(real) // 2], real[-1]}:
        [exercise] = exercises_of(trace, key, Asked({step: None}))
        told = " ".join((exercise.step.formula, *exercise.made_of))
        for other in {symbol(node) for node in key.nodes.values()} - known - {symbol(key.nodes[step])}:
            assert not re.search(rf"(?<!\w){re.escape(other)}(?![\w(])", told), (step, other, told)


MLP: dict[str, Any] = {
    "calculation": "mlp",
    "inputs": {
        "x": [[1, -1], [0.5, 2]],
        "y": [0, 2],
        "w1": [[1, -0.5, 0.2], [0.4, 1, -1]],
        "b1": [0, 0.1, -0.1],
        "w2": [[0.5, -1, 1], [1, 0.3, -0.2], [0, 1, 1]],
        "b2": [0.1, 0, -0.1],
    },
    "options": {"activation": "tanh", "loss": "cross-entropy"},
}
SQUARED = MLP["inputs"] | {"y": [[1, 0, 0], [0, 0, 1]]}


@pytest.mark.thorough
@pytest.mark.parametrize("words", [(), ("--roster", "class.csv")])
def test_a_worksheet_names_no_file_and_says_what_counts_from_0(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(MLP))
    (tmp_path / "class.csv").write_text("student\nAda\nBob\n")
    done = run("quiz", "secret.json", *words, "--index-base", "1", "-f", "html,markdown", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0
    sheets = [*(tmp_path / "out").rglob("worksheet.*")]
    assert len(sheets) == (4 if words else 2)
    for sheet in sheets:
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"secret|keys\.json", text)
        assert "0 is the first along h2, though rows and columns count from 1" in text


WITH_PLACES = [
    name
    for name in MADE
    if {operand.kind for operand in load(name.removeprefix("grad ")).operands} & {"tokens", "integers"}
]


@pytest.mark.spread(len(WITH_PLACES))
@pytest.mark.parametrize("name", WITH_PLACES)
def test_a_worksheet_says_of_all_places_that_they_count_from_0(name: str) -> None:
    problem, text = made(name).problem, handed_out(name)["worksheet.md"]
    for operand in problem.calculation.operands:
        given = problem.inputs.get(operand.name)
        if given is not None and operand.kind in ("tokens", "integers"):
            assert "Its numbers count from 0: 0 is the first along" in text, operand.name


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "step", "axis"),
    [
        ("beam", "chosen", "next"),
        ("sampling", "order", "V"),
        ("t5-bias", "buckets", "buckets"),
        ("bpe", "words", "symbol"),
    ],
)
def test_a_worksheet_says_that_answers_count_from_0(name: str, step: str, axis: str) -> None:
    assert f"Numbers of {step} count from 0: 0 is the first along {axis}*" in handed_out(name)["worksheet.md"]


def test_a_target_that_tells_no_classes_is_not_said_to_count(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mlp.json").write_text(json.dumps(MLP | {"options": {"loss": "mse"}, "inputs": SQUARED}))
    assert run("quiz", "mlp.json", "-o", "out", cwd=tmp_path).returncode == 0
    assert "count from 0" not in (tmp_path / "out" / "worksheet.md").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_quiz_tells_nothing_of_mistakes_behind_what_is_asked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mlp.json").write_text(json.dumps(MLP))
    said = run("quiz", "mlp.json", "--ask", "z1", "-o", "out", cwd=tmp_path).stderr
    of_the_loss = {mistake.id for mistake in known("mlp") if "loss" in mistake.at}
    assert of_the_loss
    assert not [each for each in of_the_loss if each in said]


@pytest.mark.thorough
def test_matrices_of_a_stack_stand_apart_on_a_sheet(tmp_path: Path) -> None:
    one = quiz("multihead", 1, Wanted({"heads": 2}))
    key = Key(one.problem)
    blocks = files(one.problem)["sheet.csv"].split("@")
    [weights] = [block for block in blocks if block.startswith("weights\n")]
    heads, rows_each, _ = key.nodes[key.names.find("weights")].shape
    assert [len(part.splitlines()) for part in weights.removeprefix("weights\n").split("\n\n")] == [rows_each] * heads


@pytest.mark.parametrize("place", ["the,cat", "-1,0", "0;1", ":,0", "0,*", ""])
def test_a_place_that_is_none_is_told(run: Run, tmp_path: Path, place: str) -> None:
    """The step that it is of is there."""
    done = run("quiz", "attention", "--ask", f"weights[{place}]", "--seed", "1", "-o", "out", cwd=tmp_path)
    assert done.stderr.splitlines() == [
        f'Error: weights has no entry "[{place}]"',
        "hint: a place is of whole numbers, and the first is weights[0,0]",
    ]
