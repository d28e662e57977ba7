"""`--heads-layout`: q, k, v and answers whose tokens lie in front of their heads are read as if they did not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncalc as ac
from attncalc.cli import app

RNG = np.random.default_rng(5)
Q, K, V = (RNG.normal(size=(2, 3, 4, 5)) for _ in range(3))  # b h n d
RIGHT = ac.attention(Q, K, V)


def swapped(layout: str, *arrays: Any) -> list[Any]:
    """Arrays as a layout has them."""
    alone = [array if layout.startswith("b") else array[0] for array in arrays]
    return [array if "hn" in layout else array.swapaxes(-3, -2) for array in alone]


@pytest.mark.thorough
@pytest.mark.parametrize("layout", ["bhnd", "bnhd", "hnd", "nhd"])
def test_operands_and_answers_of_a_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    monkeypatch.chdir(tmp_path)
    q, k, v, output = swapped(layout, Q, K, V, RIGHT.result)
    weights = RIGHT["weights"] if layout.startswith("b") else RIGHT["weights"][0]
    np.savez("qkv.npz", q=q, k=k, v=v)
    np.savez("right.npz", output=output, weights=weights)
    np.save("alone.npy", output)
    words = ["attention", "qkv.npz", "--heads-layout", layout]
    for answer in ("right.npz", "alone.npy"):
        assert app([*words, "--check", answer], standalone_mode=False) == 0
    assert app([*words, "-o", "r.json"], standalone_mode=False) == 0
    due = RIGHT.result if layout.startswith("b") else RIGHT.result[0]
    assert np.array_equal(json.loads(Path("r.json").read_text())["result"], due)
    other = "nhd" if layout.startswith("b") else "bhnd"
    assert app([*words[:-1], other], standalone_mode=False) == 2


@pytest.mark.parametrize("heads", [(1,), (1, 1)])
def test_a_gradient_is_taken_in_the_shape_in_which_its_operand_was_given(heads: tuple[int, ...]) -> None:
    """An axis of size 1 stands for every head, and is in the gradient, too."""
    pull = ac.attention(Q, K[:1, :1], V[:1, :1], bias=RNG.normal(size=(*heads, 1, 4))).grad()
    shapes = {name: pull[name].shape for name in ("grad_k", "grad_v", "grad_bias")}
    assert shapes == {"grad_k": (1, 1, 4, 5), "grad_v": (1, 1, 4, 5), "grad_bias": (*heads, 1, 4)}
    for name in shapes:
        assert pull.check({name: pull[name]}).verdict == "right"
