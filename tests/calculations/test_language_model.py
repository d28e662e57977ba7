"""Models as they are stored, beside what `transformers` computes of them (tests/data/make_models.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncalc as ac
from attncalc.inputs.checkpoints import read_checkpoint
from attncalc.inputs.reading import Reading

MODELS = Path(__file__).parents[1] / "data" / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.npz"))
IDS = [3, 1, 4, 1, 5, 9]
CLOSE = 1e-12
LESS_CLOSE = {"bloom": 1e-8}
"""Its GELU has √(2/π) in eight digits."""


def reference(name: str) -> dict[str, Any]:
    with np.load(MODELS / f"{name}.npz") as held:
        return dict(held)


@pytest.mark.parametrize("name", NAMES)
def test_all_numbers_are_those_of_the_original(name: str) -> None:
    t, expected = ac.load(MODELS / name)(IDS), reference(name)
    close = LESS_CLOSE.get(name, CLOSE)
    for key in ("logits", "hidden", "loss"):
        np.testing.assert_allclose(t[key], expected[key], rtol=0, atol=close, err_msg=key)
    for i, weights in enumerate(expected["attentions"]):
        np.testing.assert_allclose(t[f"layer {i}/attention/weights"], weights, rtol=0, atol=close)


def gradient_of(name: str, expected: dict[str, Any]) -> Any:
    """The gradient by a tensor; those of experts are put into one, as the tensors are."""
    if "{e}" not in name:
        return expected[f"grad {name}"]
    each = [expected.get(f"grad {name.replace('{e}', str(e))}") for e in range(9)]
    return np.stack([gradient for gradient in each if gradient is not None])


@pytest.mark.parametrize("name", NAMES)
def test_every_gradient_is_that_of_the_original(name: str) -> None:
    held, expected = read_checkpoint(str(MODELS / name), Reading()), reference(name)
    found = ac.load(MODELS / name)(IDS).grad()
    for path, file in held.found.items():
        gradient = gradient_of(file.name or "", expected)
        for part in file.at:
            gradient = part.cut(gradient, path)
        group, _, inner = path.rpartition("/")
        ours = found[f"{group}/grad_{inner}"]
        np.testing.assert_allclose(ours, gradient, rtol=0, atol=LESS_CLOSE.get(name, CLOSE), err_msg=path)


@pytest.mark.parametrize("name", NAMES)
def test_the_text_goes_on_as_with_the_original(name: str) -> None:
    expected = reference(name)["tokens"]
    t = ac.load(MODELS / name)(IDS, generate=len(expected) - len(IDS))
    assert t["tokens"].tolist() == expected.tolist()
