"""Probabilities where scores are asked for are remarked upon, with what takes them; scores are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rows import rows

import attncalc as ac
from attncalc.calculations import TABLE, conditions, load

SHARES = {1: np.array([0.7, 0.2, 0.1]), 2: np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.25, 0.5, 0.25]])}
BESIDE: dict[str, dict[str, Any]] = {
    "cross-entropy": {"target": 0},
    "next-token-loss": {"targets": [0, 1, 2]},
    "speculative": {"tokens": [0, 1]},
}
"""What else a calculation needs."""
SCORES = [(name, o.name) for name in TABLE for o in load(name).operands if o.kind == "logits" and not o.broadcasts]
ORDINARY = {
    "scores": [2, 1, 0.1],
    "one-hot": [1, 0, 0],
    "a negative one": [0.7, 0.5, -0.2],
    "one above 1": [1.5, -0.5, 0],
    "shares of less": [0.7, 0.2, 0.05],
    "one entry": [1],
    "one entry, masked": [-np.inf, 1, -np.inf],
}


def remarked(name: str, operand: str, value: Any, **options: Any) -> list[str]:
    """The notes on an operand that looks like probabilities, the other operands of scores being none."""
    others = {each: 5 * np.eye(3)[: 2 if each == "draft" else 3] for of, each in SCORES if of == name}
    others |= BESIDE.get(name, {})
    trace = getattr(ac, name.replace("-", "_"))(**others | {operand: value}, **options)
    return [note for note in trace.notes if note.startswith(f"{operand}: the entries sum to 1")]


@rows(("name", "operand"), SCORES)
def test_probabilities_are_remarked_upon(name: str, operand: str) -> None:
    shapes = next(o for o in load(name).operands if o.name == operand).shapes[0]
    value = SHARES[len(shapes)][: 2 if operand == "draft" else 3]
    (note,) = remarked(name, operand, value)
    has_option = any(option.name == "from_probabilities" for option in load(name).options)
    assert ("--from-probabilities" in note) == has_option
    assert not remarked(name, operand, value * 3)
    if has_option:
        shares = dict.fromkeys((each for of, each in SCORES if of == name), SHARES[len(shapes)])
        shares |= {"draft": SHARES[2][:2]} if "draft" in shares else {}
        trace = getattr(ac, name.replace("-", "_"))(**shares | BESIDE.get(name, {}), from_probabilities=True)
        assert not any("as scores all the same" in each for each in trace.notes)


@rows(("what", "value"), ORDINARY.items(), ids=ORDINARY)
def test_scores_are_not(what: str, value: list[float]) -> None:
    assert not remarked("softmax", "x", value), what


def test_logarithms_give_them_back_as_the_note_says() -> None:
    assert np.allclose(ac.softmax(np.log(SHARES[1])).result, SHARES[1])


def test_what_is_looked_at_is_the_axis_that_is_shared_out() -> None:
    columns = SHARES[2].T
    assert remarked("softmax", "x", columns, axis=0)
    assert not remarked("softmax", "x", columns)


def test_many_rows_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def counted(row: Any) -> float:
        read.append(row)
        return 0.0

    monkeypatch.setattr(conditions, "_slack", counted)
    assert conditions._are_shares(np.full((5000, 2), 0.5), -1)
    assert 0 < len(read) <= conditions.FIRST_ROWS
