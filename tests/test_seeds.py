"""The numbers of the five introductions in docs/seeds.md, each by its command; the right ones where those are wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from rows import rows

VALUES = ["--a", "0.8,0.2,0.1", "--b", "0.7,0.3,0.2"]
TWO, THREE = "attention-two-tokens.json", "attention-three-tokens.json"
BACKWARD = "attention-two-tokens-backward.json"
SQUARE = ["descend", "x**2", "--start", "3", "--lr", "0.1"]

# What stands where, the call, and its numbers to the decimals that are written here.
NUMBERS: list[tuple[str, list[str], Any, Any]] = [
    ("sheet: inner product", ["dot", "1,2,3", "4,5,6"], 32, 0),
    ("sheet: outer product", ["outer", "1,2,3", "4,5,6"], [[4, 5, 6], [8, 10, 12], [12, 15, 18]], 0),
    ("sheet: five tokens", ["complexity", "--n", "5", "--get", "comparisons"], 25, 0),
    ("2.1.1: derivative of x² at 3", ["derivative", "x**2", "--at", "3"], 6, 0),
    ("2.1.1: gradient of x² + y²", ["gradient", "x**2 + y**2", "--at", "x=3,y=-1"], [6, -2], 0),
    ("2.1.1: after one step", [*SQUARE, "--steps", "1"], 2.4, 1e-12),
    ("2.1.1: after two", [*SQUARE, "--steps", "2"], 1.92, 1e-12),
    ("2.1.1: after three", [*SQUARE, "--steps", "3"], 1.536, 1e-12),
    ("2.1.1: x after ten, not 0.27", [*SQUARE, "--steps", "10"], 0.3221, 0.5e-4),
    ("2.1.1: f after ten, not 0.07", [*SQUARE, "--steps", "10", "--get", "value"], 0.1038, 0.5e-4),
    ("2.1.1: x after eleven", [*SQUARE, "--steps", "11"], 0.2577, 0.5e-4),
    ("4.2: cat times dog", ["cosine", *VALUES, "--get", "dot"], 0.64, 1e-12),
    ("4.2: length of cat", ["cosine", *VALUES, "--get", "norm_a"], 0.8307, 0.5e-4),
    ("4.2: length of dog", ["cosine", *VALUES, "--get", "norm_b"], 0.7874, 0.5e-4),
    ("4.2.1: cosine, not 0.97", ["cosine", *VALUES], 0.9785, 0.5e-4),
    ("4.2.1: 0.97 is of rounded lengths", ["cosine", *VALUES, "--round", "2"], 0.97, 1e-12),
    ("4.2.2: distance", ["euclidean", *VALUES], 0.1732, 0.5e-4),
    (
        "5.2: variances for σ = 2, which is no variance",
        ["scaling", "--dk", "4,64", "--sigma", "2", "--trials", "1", "--get", "predicted_variance"],
        [4 * 2**4, 64 * 2**4],
        0,
    ),
    ("9.1: scores", ["attention", TWO, "--get", "scores"], [[1, 2], [1, 1]], 0),
    ("9.1: scaled", ["attention", TWO, "--get", "scaled"], [[0.577, 1.155], [0.577, 0.577]], 0.5e-3),
    ("9.1: weights, not 0.359", ["attention", TWO, "--get", "weights"], [[0.3595, 0.6405], [0.5, 0.5]], 0.5e-4),
    (
        "9.1: 0.359 is of rounded steps",
        ["attention", TWO, "--round", "3", "--get", "weights"],
        [[0.359, 0.641], [0.5, 0.5]],
        1e-12,
    ),
    ("9.1: output", ["attention", TWO], [[1.3595, 0.6405, 0.3595], [1.5, 0.5, 0.5]], 0.5e-4),
    (
        "9.2: gradient of V",
        ["grad", "attention", BACKWARD, "--get", "grad_v"],
        [[0.3595, 0.5, 0.3595], [0.6405, 0.5, 0.6405]],
        0.5e-4,
    ),
    ("9.2: of the weights", ["grad", "attention", BACKWARD, "--get", "grad_weights"], [[3, 1], [0, 1]], 1e-12),
    (
        "9.2: of what went into the softmax",
        ["grad", "attention", BACKWARD, "--get", "grad_scaled"],
        [[0.4605, -0.4605], [-0.25, 0.25]],
        0.5e-4,
    ),
    (
        "9.2: of Q",
        ["grad", "attention", BACKWARD, "--get", "grad_q"],
        [[0, 0.2659, -0.2659], [0, -0.1443, 0.1443]],
        0.5e-4,
    ),
    (
        "9.2: of K",
        ["grad", "attention", BACKWARD, "--get", "grad_k"],
        [[0.2659, -0.1443, 0.1216], [-0.2659, 0.1443, -0.1216]],
        0.5e-4,
    ),
    (
        "formulas 5: learning rates",
        ["schedule", "--kind", "noam", "--d-model", "512", "--warmup", "4000", "--at", "1,4000,10000"],
        [1.747e-7, 6.988e-4, 4.419e-4],
        [0.5e-10, 0.5e-7, 0.5e-7],
    ),
    (
        "dive 5.4: weights",
        ["attention", THREE, "--get", "weights"],
        [[0.4011, 0.1978, 0.4011], [0.1978, 0.4011, 0.4011], [0.2483, 0.2483, 0.5035]],
        0.5e-4,
    ),
    ("dive 5.5: output", ["attention", THREE], [[3, 4], [3.4067, 4.4067], [3.5105, 4.5105]], 0.5e-4),
    (
        "dive 5, with a causal mask",
        ["attention", THREE, "--causal"],
        [[1, 2], [2.3395, 3.3395], [3.5105, 4.5105]],
        0.5e-4,
    ),
]


@pytest.mark.thorough
@rows(("words", "expected", "within"), [row[1:] for row in NUMBERS], ids=[row[0] for row in NUMBERS])
def test_a_number(
    run: Callable[..., Any], root: Path, words: Sequence[str], expected: ArrayLike, within: ArrayLike
) -> None:
    done = run(*words, "-q", "-f", "plain", cwd=root / "samples")
    assert done.returncode == 0, done.stderr
    found = np.array([[float(cell) for cell in line.split()] for line in done.stdout.split("\n") if line])
    wanted = np.atleast_2d(np.asarray(expected, dtype=float))
    assert found.shape == wanted.shape
    assert (np.abs(found - wanted) <= within).all()
