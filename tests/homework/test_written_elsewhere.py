"""What tutorials write, checked by the installed command: where they slip it is named, where they round it is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import Run

TINY: dict[str, Any] = {"q": [[1, 0, 1], [0, 1, 1]], "k": [[1, 1, 0], [1, 0, 1]], "v": [[2, 0, 1], [1, 1, 0]]}
BIASED = TINY | {"bias": [[0, 0.5], [0.25, 0]]}
X, W1, W2, Y = np.eye(2), np.array([[1, 2], [3, 1]]), np.array([[1, 0, 1], [0, 1, 1]]), np.zeros((2, 3))
NETWORK: dict[str, Any] = {"x": X.tolist(), "y": Y.tolist(), "w1": W1.tolist(), "w2": W2.tolist()}
ERRORS = X @ W1 @ W2 - Y  # all of z1 is positive, so that ReLU lets it through
LAYER: dict[str, Any] = {"x": [[1, -2], [0.5, 1]], "w1": [[1, 2, -1], [0, 1, 1]], "w2": [[1, 0], [2, 1], [0, -1]]}


class Case(NamedTuple):
    """A call, what goes in, what was written, and what is to be found of it."""

    call: str
    operands: dict[str, Any]
    answer: Any
    verdict: str  # of the whole
    mistake: str | None = None
    kind: str | None = None


def texts(value: Any, decimals: int = 4) -> Any:
    """Nested lists of numbers as they are written."""
    return [texts(part, decimals) for part in value] if np.ndim(value) else f"{value:.{decimals}f}"


def columns(exponents: list[float]) -> Any:
    """Sines and cosines in turn, a column each, of four positions."""
    angles = np.arange(4)[:, None] / 10000.0 ** np.array(exponents)
    return texts(np.where(np.arange(len(exponents)) % 2 == 0, np.sin(angles), np.cos(angles)))


def turned(x: list[float], angles: list[float]) -> Any:
    """A vector of two pairs, each turned by its angle."""
    pairs = np.array(x).reshape(2, 2)
    c, s = np.cos(angles), np.sin(angles)
    return texts(np.stack([pairs[:, 0] * c - pairs[:, 1] * s, pairs[:, 0] * s + pairs[:, 1] * c], 1).ravel())


SCORES = np.array([[1, 2], [1, 1]])
UNSCALED = np.exp(SCORES) / np.exp(SCORES).sum(1, keepdims=True) @ np.array(TINY["v"])
CASES = {
    "attention without the root of d_k": Case(
        "attention", TINY, texts(UNSCALED, 3), "wrong", "att-no-scale", "misconception"
    ),
    "a gradient with 1/N for the loss 1/N·Σ‖·‖²": Case(
        "mlp", NETWORK, {"delta2": texts(ERRORS / 2)}, "wrong", "mse-no-2"
    ),
    "the delta of a linear output is the gradient of the output": Case(
        "mlp", NETWORK, {"delta2": texts(ERRORS)}, "right"
    ),
    "rotation by frequencies of the whole model's width": Case(
        "rope --positions 2", {"x": [1, -2, 3, 0.5]}, turned([1, -2, 3, 0.5], [2, 2 / 10000 ** (2 / 12)]), "wrong",
        "rope-theta-dmodel",
    ),
    "a bias by position beside scaled scores": Case(
        "attention --scale none", BIASED, {"biased": texts(SCORES / np.sqrt(3) + BIASED["bias"])}, "wrong", "t5-scaled"
    ),
    "the tenth iteration that is the eleventh": Case(
        "descend --start 3 --lr 0.1 --steps 10", {"expression": "x**2"}, {"point": "0.27", "value": "0.07"}, "wrong",
        "gd-off-by-one",
    ),
    "weights whose last digit comes from rounded exponentials": Case(
        "attention", TINY, {"weights": [["0.359", "0.641"], ["0.500", "0.500"]]}, "right-to-rounding"
    ),
    "what follows from such weights": Case(
        "attention", TINY,
        {"weights": [["0.359", "0.641"], ["0.500", "0.500"]],
         "output": [["1.359", "0.641", "0.359"], ["1.500", "0.500", "0.500"]]},
        "right-to-rounding",
    ),
    "a cosine of a rounded product of norms": Case(
        "cosine", {"a": [0.8, 0.2, 0.1], "b": [0.7, 0.3, 0.2]}, "0.97", "rounded-early"
    ),
    "a mask of −∞ inside the scaling": Case(
        "attention --causal", TINY,
        {"scores": [["1", "2"], ["1", "1"]], "masked": [["1", "-inf"], ["1", "1"]],
         "scaled": [["0.577", "-inf"], ["0.577", "0.577"]], "output": [["2", "0", "1"], ["1.5", "0.5", "0.5"]]},
        "right",
    ),
    "the index of the column for that of the pair": Case(
        "sinusoidal --n 4 --d 6", {}, columns([2 * j / 6 for j in range(6)]), "wrong", "pe-exp-double"
    ),
    "the index of the pair": Case(
        "sinusoidal --n 4 --d 6", {}, columns([2 * (j // 2) / 6 for j in range(6)]), "right"
    ),
    "within two parts in a hundred": Case("softmax --rtol 0.02", {"x": [1, 2]}, ["0.2730", "0.7270"], "right"),
    "not within one": Case("softmax --rtol 0.01", {"x": [1, 2]}, ["0.2730", "0.7270"], "wrong"),
    "within five thousandths": Case("softmax --atol 0.005", {"x": [1, 2]}, ["0.2730", "0.7270"], "right"),
    "not within four": Case("softmax --atol 0.004", {"x": [1, 2]}, ["0.2730", "0.7270"], "wrong"),
    "ReLU where GELU was asked for": Case(
        "ffn --activation gelu", LAYER,
        texts(np.maximum(np.array(LAYER["x"]) @ LAYER["w1"], 0) @ LAYER["w2"], 3), "wrong", "gelu-relu", "convention",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_was_written_is_judged(case: Case, run: Run, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(case.answer))
    words = case.call.split()
    if "expression" in case.operands:
        words[1:1] = [case.operands["expression"]]
    elif case.operands:
        (tmp_path / "operands.json").write_text(json.dumps(case.operands))
        words[1:1] = ["operands.json"]
    done = run(*words, "--check", "answer.json", "--hints", "rule", "-f", "json")
    assert done.returncode == (case.verdict == "wrong"), done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"] == case.verdict
    assert next((step["mistake"] for step in report["steps"] if step["mistake"]), None) == case.mistake
    if case.kind:
        assert [step["kind"] for step in report["steps"] if step["mistake"]] == [case.kind]
