"""A constant that was taken to few decimals, √3 as 1.7 or e as 2.7, is told as that, and nothing else is called so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attncalc as ac
from attncalc.common.numerals import Array

Q = np.array([[0.5, 1, 0], [1, -0.4, 2], [0, 1, 1], [0.75, 0, -1]])
K = np.array([[1, 0, 0.5], [0.3, 1, 0], [-1, 2, 1], [0, 0.5, 1]])
V = np.array([[1, 0, 2], [0.5, 3, -1], [0, 1, 1], [2, -0.25, 0]])
P = np.array([0.5, 0.3, 0.15, 0.05])
X = np.array([1.3, -0.7, 2.1, 0.4])


def attended(root: float = 3**0.5, e: float = math.e) -> dict[str, Array]:
    scores = Q @ K.T
    scaled = scores / root
    powers = e**scaled
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return {"scores": scores, "scaled": scaled, "weights": weights, "output": weights @ V}


def written(value: Any, decimals: int) -> Any:
    """A value as a hand writes it, in text, so that its last zeros are kept."""
    return np.vectorize(lambda entry: f"{entry:.{decimals}f}")(value).tolist()


ATTENTION = ac.attention(Q, K, V)
TAKEN = {
    "√3 taken as 1.7": {"root": 1.7},
    "√3 taken as 1.73": {"root": 1.73},
    "1/√3 taken as 0.58": {"root": 1 / 0.58},
    "e taken as 2.7": {"e": 2.7},
    "e taken as 2.72": {"e": 2.72},
}


@pytest.mark.parametrize("said", TAKEN)
@pytest.mark.parametrize("decimals", [3, 4])
@pytest.mark.parametrize("alone", [False, True])
def test_a_sheet_is_rounded_early_by_the_constant(said: str, decimals: int, alone: bool) -> None:
    steps = {name: written(value, decimals) for name, value in attended(**TAKEN[said]).items()}
    marked = ATTENTION.check({"output": steps["output"]} if alone else steps)
    assert marked.verdict in ("rounded-early", "right-to-rounding", "right")
    first = next((step for step in marked.steps if step.verdict == "rounded-early"), None)
    if first is None:
        assert said in ("√3 taken as 1.73", "e taken as 2.72")  # too near for these digits to show
        assert decimals == 3
    else:
        assert first.hint == f"right method, {said}: keep more digits on the way"
        assert alone or first.name == ("weights" if said.startswith("e") else "scaled")


OTHERS: dict[str, tuple[str, Callable[[], Any], Any]] = {
    "ln 2 taken as 0.7": ("entropy", lambda: ac.entropy(P, base=2), -np.sum(P * np.log(P)) / 0.7),
    "ln 2 taken as 0.69": ("entropy", lambda: ac.entropy(P, base=2), -np.sum(P * np.log(P)) / 0.69),
    "e taken as 2.7": ("softmax", lambda: ac.softmax(X), 2.7**X / np.sum(2.7**X)),
    "e taken as 2.71": ("output", lambda: ac.activation(X, kind="sigmoid"), 1 / (1 + 2.71**-X)),
    "π taken as 3.1": (
        "probabilities",
        lambda: ac.likelihood(X, distribution="normal", mean=0, std=1),
        np.exp(-(X**2) / 2) / np.sqrt(2 * 3.1),
    ),
}


@pytest.mark.parametrize("shown", [["weights", "output"], ["scores", "scaled", "weights", "output"]])
@pytest.mark.parametrize("taken", [{"root": 1.73}, {"e": 2.72}, {"root": 1.73, "e": 2.72}], ids=str)
def test_what_the_steps_before_hide_is_sought_behind_them(taken: dict[str, float], shown: list[str]) -> None:
    """To three decimals the shares are hardly moved by the constant; mixed of large values they show it."""
    values = attended(**taken)
    values["output"] = values["weights"] @ (10 * V)
    marked = ac.attention(Q, K, 10 * V).check({name: written(values[name], 3) for name in shown})
    assert marked.verdict == "rounded-early"
    assert all(step.score == 2 for step in marked.steps)


def test_a_unit_more_than_a_constant_explains_is_wrong() -> None:
    values = attended(root=1.73, e=2.72)
    values["output"] = values["weights"] @ (10 * V)
    values["output"][1, 2] += 0.05
    [*_, output] = (
        ac.attention(Q, K, 10 * V).check({name: written(values[name], 3) for name in ("weights", "output")}).steps
    )
    assert output.verdict not in ("right", "right-to-rounding", "rounded-early")


@pytest.mark.parametrize("said", OTHERS)
def test_every_constant_is_sought_in_every_calculation(said: str) -> None:
    name, solved, value = OTHERS[said]
    [step] = solved().check({name: written(value, 4)}).steps
    assert (step.verdict, step.hint) == ("rounded-early", f"right method, {said}: keep more digits on the way")


def test_of_constants_that_give_an_answer_the_nearest_is_told() -> None:
    """1/√3 as 0.57 is nearly what e as 2.7 gives."""
    [step] = ATTENTION.check({"weights": written(attended(e=2.7)["weights"], 3)}).steps
    assert step.hint == "right method, e taken as 2.7: keep more digits on the way"
