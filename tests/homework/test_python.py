"""Marking from Python: `t.check`, `assert_close` for tests, `score` for scripts; any kind of answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Run

import attncalc as ac
from attncalc.homework.reports.marked_sheets import shown
from attncalc.record.trace import Trace
from attncalc.render import PAGES, View

Q, K, V = [[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 1]], [[2, 0, 1], [1, 1, 0]]
TRACE = ac.attention(Q, K, V)
RIGHT = TRACE.result
ROUNDED = [[f"{entry:.4f}" for entry in row] for row in RIGHT]
UNSCALED = ac.attention(Q, K, V, scale="none")


class Tensor:
    """What another library's array looks like: it can be made NumPy's."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(RIGHT, dtype=dtype)


class Differentiated(Tensor):
    requires_grad = True


class OnADevice(Tensor):
    device = SimpleNamespace(type="cuda")


def steps_of(trace: Trace) -> dict[str, Any]:
    return {name: trace[name] for name in trace}


def as_safetensors(name: str, value: Any) -> bytes:
    header = {name: {"dtype": "F64", "shape": value.shape, "data_offsets": [0, value.nbytes]}}
    told = json.dumps(header).encode()
    return len(told).to_bytes(8, "little") + told + bytes(value)


QUESTION = "What keeps the scores from growing as the vectors get longer?"
SOUND: dict[str, Any] = {
    "an array": RIGHT,
    "a narrower array": RIGHT.astype(np.float32),
    "lists": RIGHT.tolist(),
    "lists of a narrower array's numbers": RIGHT.astype(np.float32).tolist(),
    "a narrower array made wide": RIGHT.astype(np.float32).astype(np.float64),
    "a tuple of arrays": tuple(RIGHT),
    "a step of arrays": {"output": [*RIGHT]},
    "a step that is a tuple of arrays": {"output": tuple(RIGHT)},
    "a step of lists and arrays": {"weights": TRACE["weights"], "output": [RIGHT[0].tolist(), RIGHT[1]]},
    "a sheet of arrays in lists": {"steps": {name: [*value] for name, value in steps_of(TRACE).items()}},
    "a list of steps of arrays": [{"name": "output", "value": [*RIGHT]}],
    "texts": ROUNDED,
    "an array of texts": np.array(ROUNDED),
    "another library's array": Tensor(),
    "the result by its name": {"output": RIGHT},
    "every step": steps_of(TRACE),
    "some steps": {"weights": TRACE["weights"], "output": ROUNDED},
    "a sheet": {"student": "Ann", "steps": {"weights": TRACE["weights"].tolist(), "output": ROUNDED}},
    "a list of steps": [{"name": "weights", "value": TRACE["weights"]}, {"name": "output", "value": ROUNDED}],
    "a sheet of arrays": {"steps": steps_of(TRACE)},
    "a saved result": TRACE.to_dict(),
}
WRONG: dict[str, Any] = {
    "an array": UNSCALED.result,
    "lists": UNSCALED.result.tolist(),
    "lists of a narrower array's numbers": UNSCALED.result.astype(np.float32).tolist(),
    "lists of numbers as wide as the right ones": (RIGHT + 1e-6).tolist(),
    "a step": {"scaled": UNSCALED["scores"]},
    "a sheet": {"steps": {"output": UNSCALED.result}},
    "blank": {"output": None},
    "nothing": None,
    "empty": [],
    "another shape": [1, 2, 3],
    "not a number": np.full((2, 3), np.nan),
}
UNREADABLE: dict[str, Any] = {
    "an unknown step": {"wieghts": RIGHT},
    "no step at all": {},
    "truth values": [[True]],
    "an object": object(),
    "a function": len,
    "words": [["a", "b"]],
    "an array of words": np.array([["a", "b"]]),
    "ragged": [[1, 2], [3]],
    "a step that is an object": {"output": {"value": 1}},
    "a file that is not there": "nowhere.json",
    "a path that is not there": Path("nowhere.csv"),
    "a tensor with a gradient": Differentiated(),
    "a tensor on another device": OnADevice(),
    "complex numbers": RIGHT + 1j,
}


@pytest.mark.thorough
@pytest.mark.parametrize("answer", SOUND.values(), ids=SOUND)
def test_what_is_right_passes_with_every_mark(answer: Any) -> None:
    ac.assert_close(TRACE, answer)
    assert ac.score(TRACE, answer) == 1
    assert TRACE.check(answer)


@pytest.mark.thorough
@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG)
def test_what_is_wrong_fails_without_a_mark(answer: Any) -> None:
    with pytest.raises(AssertionError, match="attention is not right"):
        ac.assert_close(TRACE, answer)
    assert ac.score(TRACE, answer) == 0
    assert not TRACE.check(answer)


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_fails_and_says_why(answer: Any) -> None:
    with pytest.raises(AssertionError, match=r"^the answer cannot be marked: ."):
        ac.assert_close(TRACE, answer)
    assert ac.score(TRACE, answer) == 0
    with pytest.raises(ac.AttncalcError):
        TRACE.check(answer)


def test_the_message_names_step_mistake_and_hint_and_gives_nothing_away() -> None:
    with pytest.raises(AssertionError) as caught:
        ac.assert_close(TRACE, {"weights": UNSCALED["weights"], "output": UNSCALED.result})
    first, *lines = str(caught.value).splitlines()
    assert first == "attention is not right"
    assert lines[0].startswith("  weights: mistake: att-no-scale")
    assert lines[0].endswith("?")
    assert lines[1].startswith("  output: follows")
    right = [*RIGHT.flat, *TRACE["weights"].flat]
    numbers = {f"{entry:.{digits}f}" for entry in right for digits in (2, 4)} - {"0.50", "0.5000", "1.50", "1.5000"}
    assert not any(number in str(caught.value) for number in numbers)


def test_a_share_of_the_marks() -> None:
    assert ac.score(TRACE, {"weights": TRACE["weights"], "output": UNSCALED.result}) == 0.5


def test_a_single_number_of_any_kind() -> None:
    trace = ac.dot([1, 2], [3, 4])
    for answer in (11, 11.0, "11", "22/2", np.float32(11), np.array(11), Fraction(11)):
        ac.assert_close(trace, answer)
    assert ac.score(trace, 12) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("sheet.json", lambda path: path.write_text(json.dumps({"steps": {"output": ROUNDED}}))),
        ("sheet.csv", lambda path: path.write_text("@output\n" + "\n".join(map(",".join, ROUNDED)))),
        ("result.npy", lambda path: np.save(path, RIGHT)),
        ("steps.npz", lambda path: np.savez(path, **steps_of(TRACE))),
        ("steps.jsonl", lambda path: path.write_text(json.dumps({"output": ROUNDED}))),
        ("steps.safetensors", lambda path: path.write_bytes(as_safetensors("output", RIGHT))),
    ],
    ids=["json", "csv", "npy", "npz", "jsonl", "safetensors"],
)
def test_a_sheet_in_a_file(tmp_path: Path, kind: type, name: str, write: Callable[[Path], object]) -> None:
    write(tmp_path / name)
    ac.assert_close(TRACE, kind(tmp_path / name))
    assert ac.score(TRACE, kind(tmp_path / name)) == 1


def test_how_much_is_told_is_said_in_one_of_three_words() -> None:
    sheet = {"weights": UNSCALED["weights"].tolist()}
    for hints, told in (("none", (None, None)), ("question", (QUESTION, None)), ("rule", (QUESTION, "att-no-scale"))):
        marked = TRACE.check(sheet, hints=hints)
        [step] = marked.to_dict()["steps"]
        assert (step["hint"], step["mistake"]) == told
        assert ("nothing divided" in str(marked)) == (hints == "rule")
        assert marked["weights"].mistake == "att-no-scale"
    with pytest.raises(ac.OptionError, match="hints must be none, question or rule"):
        TRACE.check(sheet, hints="all")


@pytest.mark.thorough
@pytest.mark.parametrize("reveal", [False, True], ids=["hidden", "revealed"])
def test_the_report_is_the_command_lines(run: Run, tmp_path: Path, *, reveal: bool) -> None:
    sheet = {"steps": {"weights": UNSCALED["weights"].tolist(), "output": ROUNDED}}
    (tmp_path / "sheet.json").write_text(json.dumps(sheet))
    (tmp_path / "problem.json").write_text(json.dumps(TRACE.to_dict()))
    flags = ("--reveal",) if reveal else ()
    done = run("check", "sheet.json", "problem.json", "-f", "json", *flags)
    marked = TRACE.check(sheet, reveal=reveal)
    assert json.loads(done.stdout) == marked.to_dict()
    assert (marked.verdict, marked.first_wrong, marked.score, marked.out_of) == ("wrong", "weights", 2, 4)
    assert (marked["weights"].verdict, marked["weights"].mistake) == ("mistake", "att-no-scale")


@pytest.mark.parametrize("form", PAGES)
@pytest.mark.parametrize(
    "answer", [{"weights": [[0.5, 0.5], [1, 0]]}, {"weights": [0.5, 1]}], ids=["wrong", "misshapen"]
)
def test_what_is_revealed_stands_on_every_page(answer: dict[str, Any], form: str) -> None:
    due = f"{TRACE['weights'][0, 0]:.4f}"
    pages = {reveal: shown(TRACE.check(answer, reveal=reveal), form, View()) for reveal in (True, False)}
    assert (due in pages[True], due in pages[False]) == (True, False)


def test_a_list_of_steps_is_an_answer_on_the_command_line(run: Run) -> None:
    done = run("softmax", "0,0", "--check", ' [ {"name": "softmax", "value": [0.5, 0.5]}]')
    assert (done.returncode, done.stderr) == (0, "")


def test_a_step_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        TRACE.check(RIGHT)["weights"]


def test_the_trace_comes_first() -> None:
    for call in (ac.assert_close, ac.score):
        with pytest.raises(ac.OptionError, match="a Trace comes first"):
            call(RIGHT, TRACE)


@pytest.mark.thorough
def test_a_backward_pass_is_marked_too() -> None:
    trace = TRACE.grad([[1, 0, 1], [0, 1, 0]])
    ac.assert_close(trace, {"grad_v": trace["grad_v"]})
    assert ac.score(trace, {"grad_v": -trace["grad_v"]}) < 1


def test_marking_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    ac.score(TRACE, {"tolerance": 9, "output": UNSCALED.result})
    ac.assert_close(TRACE, RIGHT)
    assert capfd.readouterr() == ("", "")


@pytest.mark.thorough
def test_nothing_of_it_is_loaded_before_it_is_asked_for() -> None:
    program = "import sys, attncalc; attncalc.dot([1], [2]); print([m for m in sys.modules if 'homework' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_both_are_among_the_public_names() -> None:
    assert {"assert_close", "score"} <= set(dir(ac))


def test_savez_without_names_holds_the_result_or_is_told_how_to_name(tmp_path: Path) -> None:
    t = ac.softmax([1, 2, 4])
    np.savez(tmp_path / "one.npz", t.result)
    np.savez(tmp_path / "two.npz", t["exponentials"], t.result)
    assert t.check(tmp_path / "one.npz")
    with pytest.raises(ValueError, match='softmax has no step "arr_0"') as caught:
        t.check(tmp_path / "two.npz")
    assert caught.value.hint == (  # type: ignore[attr-defined] # ours has one
        "numpy.savez(FILE, softmax=…) names an array; it has shifted, exponentials, sum, softmax"
    )
