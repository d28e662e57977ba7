"""What is left over where terms cancel: told from small numbers that are meant, and through steps that only move."""

from __future__ import annotations

import numpy as np
import pytest

from attncalc.evaluate.values import evaluate
from attncalc.language.axes import Axis, composite
from attncalc.language.graph import Node, building, given, step
from attncalc.language.ops import (
    absolute,
    concat,
    keep_where,
    maximum,
    peak,
    rename,
    rotate,
    split,
    spread,
    sqrt,
)
from attncalc.solve.leftovers import Leftovers

N, D = Axis("n", 2), composite(Axis("h", 2), Axis("d_k", 2))
M, TURNED, HALF = Axis("m", 2), Axis("d", 2), Axis("pair", 1)
X, Y, TENTH, HUGE = given("x", (N, D)), given("y", (N, D)), given("tenth", ()), given("huge", ())
FAINT, PAIR, ROW, OTHER = given("faint", ()), given("pair", (TURNED,)), given("row", (N, M)), given("other", (N, M))
COSINE, SINE = given("cosine", (HALF,)), given("sine", (HALF,))
VALUES = {
    "faint": np.array(1e-17),
    "pair": np.array([0.1 + 0.2, 0.1]),
    "cosine": np.array([0.1]),
    "sine": np.array([0.3]),
    "row": np.array([[0.1 + 0.2, 5.0], [0.1 + 0.2, 6.0]]),
    "other": np.array([[0.3, 5.0], [0.3, 5.0]]),
    "tenth": np.array(0.1),
    "huge": np.array(1e9),
    "x": np.array([[0.1 + 0.2, 1.0, 2.0, 3.0], [4.0, 1e-17, 6.0, 7.0]]),
    "y": np.array([[0.3, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
}
GONE_IN_HEAD = [[True, False], [False, False]]
GONE = [[True, False, False, False], [False] * 4]  # 0.1 + 0.2 − 0.3; 1e-17 was given

STEPS: list[tuple[str, Node, object]] = [
    ("a difference", X - Y, GONE),
    (
        "a step that cuts another one into heads",
        split(step("q", X - Y)),
        np.swapaxes(np.reshape(GONE, (2, 2, 2)), 0, 1),
    ),
    ("a step that renames what another one moved", rename(step("t", step("q", X - Y)), "n", "m"), GONE),
    ("a difference laid beside something else", concat([X - Y, Y], "n"), GONE + [[False] * 4] * 2),
    ("a hundred tenths less 10: each addition has rounded", Node("add", *[TENTH] * 100) - 10, True),
    ("what is larger than rounding was meant", Node("add", *[TENTH] * 100) - (10 - 1e-12), None),
    ("a hundredth of it was meant as well", (Node("add", *[TENTH] * 100) - (10 - 1e-12)) / 100, None),
    ("a step that doubles another one", step("q", X - Y) * 2, GONE),
    ("a step that divides it by the root of a size", step("q", X - Y) / sqrt(X.size("n")), GONE),
    ("a product with it is nothing either", step("q", X - Y) * step("r", X + Y), GONE),
    ("nor is a quotient", step("q", X - Y) / step("r", X + 1), GONE),
    ("nor what is made of that", step("s", step("q", X - Y) / step("r", X + 1)) * step("t", Y + 2), GONE),
    ("a small number that stays where the operand moves a little", HUGE / sqrt(HUGE**2 + 1) - 1, None),
    ("its size", absolute(X - Y), GONE),
    ("the larger of two, of which both are nothing", maximum(X - Y, Y - X), GONE),
    ("the largest of each row", peak(absolute(ROW - OTHER)), [True, False]),
    ("a small number that is chosen was meant, whatever was not", maximum(spread(FAINT, (N, D)), -X), None),
    ("what is chosen by a condition", keep_where(Y <= X, X - Y, 0), GONE),
    ("a pair that is turned", rotate(PAIR, COSINE, SINE, "half"), [True, False]),
    ("a sum with something is something", step("q", X - Y) + step("r", X + 1), None),
]


@pytest.mark.parametrize(("expression", "expected"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS])
def test_left_over(expression: Node, expected: object) -> None:
    with building():
        made = step("s", expression)
    values = evaluate([made], VALUES)
    found = Leftovers(values, VALUES).of(made)
    if expected is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, expected)
