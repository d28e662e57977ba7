"""Letters on the command line: which words are shapes of them, and what has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run

LETTERS = {
    "a shape by position": (("softmax", "2"), "exp(x_0)/(exp(x_0)+exp(x_1)) exp(x_1)/(exp(x_0)+exp(x_1))\n"),
    "the number of a class is no shape": (
        ("cross-entropy", "2", "1"),
        "-log(exp(logits_1)/(exp(logits_0)+exp(logits_1)))\n",
    ),
    "no operands at all": (("dot",), "a_0*b_0+a_1*b_1\n"),
    "a target without one": (("linear-regression", "--x", "1x1", "--w", "1x1"), "(w_00*x_00-y_00)**2\n"),
    "numbers among letters": (("dot", "1,2"), "b_0+2*b_1\n"),
    "the shape of a target": (("linear-regression", "1x1", "1x1", "1x1"), "(w_00*x_00-y_00)**2\n"),
    "a high power beside small steps": (("derivative", "x**806"), "806*x**805\n"),
    "a shape for the place that a name leaves": (("matmul", "2x1", "--a", "1,2"), "b_00+2*b_10\n"),
}


@pytest.mark.parametrize(("words", "expected"), LETTERS.values(), ids=LETTERS)
def test_letters(run: Run, words: tuple[str, ...], expected: str) -> None:
    assert run(*words, "--symbolic", "--quiet", "--format", "plain").stdout == expected


SAVED = {
    "a vector": ("softmax", "3"),
    "matrices, one of them of numbers": ("matmul", "2x3", "--b", "1 2; 3 4; 5 6"),
    "so many that a place has two digits": ("attention", "--q", "12x1", "--k", "1x1"),
    "a derivative": ("grad", "dot", "2", "2"),
    "weights": ("multihead", "--heads", "2"),
}


@pytest.mark.parametrize("words", SAVED.values(), ids=SAVED)
@pytest.mark.release
def test_a_saved_result_in_letters_runs_again(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    saved = run(*words, "--symbolic", "--format", "json").stdout
    (tmp_path / "saved.json").write_text(saved, encoding="utf-8")
    done = run("run", "saved.json", "--symbolic", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout) == json.loads(saved)


NO_LETTERS = {
    "of another place": '{"calculation": "softmax", "inputs": {"x": ["x_0", "x_2"]}}',
    "of another operand": '{"calculation": "softmax", "inputs": {"x": ["y_0", "y_1"]}}',
    "beside a number": '{"calculation": "softmax", "inputs": {"x": ["x_0", 2]}}',
}


@pytest.mark.parametrize("document", NO_LETTERS.values(), ids=NO_LETTERS)
def test_text_that_is_not_just_the_letters_is_no_number(run: Run, tmp_path: Path, document: str) -> None:
    (tmp_path / "saved.json").write_text(document, encoding="utf-8")
    done = run("run", "saved.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "inputs/x[0]" in done.stderr
    assert "is not a number" in done.stderr


REFUSED = {
    "which of them ranks first": (("mips",), "which is the larger of two letters is not known"),
    "which of them ranks first beside numbers beyond floats": (
        ("grad", "encoder-block", "--x=-1 5e-324; 5e-324 1e160", "--w1=-1e-160; 2", "--gamma1=0,3", "--heads=2"),
        "which is the larger of two letters is not known",
    ),
    "a number of heads that there is not": (("encoder-block", "--heads=-1"), "--heads must be at least 1, not -1"),
    "what is drawn": (("scaling",), "numbers that are drawn at random have no closed form"),
    "a shape without entries": (("matmul", "0x3", "3x2"), "a would have no letters: its shape is 0 × 3"),
    "more shapes than operands": (("dot", "3", "3", "3"), "dot takes 2 operands (a and b), but 3 words were given"),
    "shapes that clash, of which none is stored": (("matmul", "2x3", "2x3"), "(2×3)(2×3) (all from letters)\n"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_letters_is_told(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run(*words, "--symbolic")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "--transpose" not in done.stderr
