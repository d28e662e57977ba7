"""Letters on the command line: which words are shapes of them, and what has none."""

from __future__ import annotations

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


REFUSED = {
    "which of them ranks first": (("mips",), "which is the larger of two letters is not known"),
    "what is drawn": (("scaling",), "numbers that are drawn at random have no closed form"),
    "a shape without entries": (("matmul", "0x3", "3x2"), "a would have no letters: its shape is 0 × 3"),
    "more shapes than operands": (("dot", "3", "3", "3"), "dot takes 2 operands (a and b), but 3 words were given"),
    "shapes that clash, of which none is stored": (("matmul", "2x3", "2x3"), "(2×3)(2×3) (all from letters)\n"),
}


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_letters_is_told(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run(*words, "--symbolic")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "--transpose" not in done.stderr
