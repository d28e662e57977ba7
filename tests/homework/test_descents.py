"""Sheets of a descent, iteration by iteration: what is late by one, and what follows from a point that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import attncalc as ac

DOWN = ac.descend("x**2", start=3, lr=0.1, steps=4)
VALLEY = ac.descend("x**2 + y**2", start={"x": 3, "y": 1}, lr=0.1, steps=4)
START, BY = 3.0, 0.8
"""Every step multiplies x by 1 − 2·lr."""


def listed(*points: float, name: str = "point", first: int = 0) -> dict[str, Any]:
    """A sheet of points, or of the squares that are the values there."""
    numbers = [x if name == "point" else x**2 for x in points]
    return {f"iteration {i}/{name}": f"{x:.4f}" for i, x in enumerate(numbers, first)}


def down(start: float, count: int) -> list[float]:
    return [start * BY**k for k in range(count)]


LATE = [START, *down(START, 4)]
EARLY = down(START * BY, 4)
SLIPPED = [START, *down(2.3, 4)]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sheet", "found"),
    [
        pytest.param(listed(*down(START, 5)), ["right"] * 5, id="right"),
        pytest.param(listed(*LATE), ["right", "gd-off-by-one", *["follows"] * 3], id="the start is iteration 1"),
        pytest.param(
            listed(*LATE) | {"point": f"{LATE[-1]:.4f}"},
            ["right", "gd-off-by-one", *["follows"] * 4],
            id="the start is iteration 1, with the result",
        ),
        pytest.param(listed(*LATE[1:], first=1), ["gd-off-by-one", *["follows"] * 3], id="no iteration 0"),
        pytest.param(listed(*LATE[1:], name="value", first=1), ["gd-off-by-one"] * 4, id="its heights"),
        pytest.param({"point": f"{LATE[-1]:.4f}"}, ["gd-off-by-one"], id="one update fewer"),
        pytest.param(listed(*EARLY), ["gd-off-by-one", *["follows"] * 3], id="iteration 0 is the first update"),
        pytest.param(listed(START, *EARLY[1:]), ["right", "gd-off-by-one", *["follows"] * 2], id="but for the start"),
        pytest.param(listed(*EARLY, name="value"), ["gd-off-by-one"] * 4, id="the heights of later points"),
        pytest.param({"point": f"{START * BY**5:.4f}"}, ["gd-off-by-one"], id="one update more"),
        pytest.param(listed(*SLIPPED), ["right", "unexplained", *["follows"] * 3], id="one point is wrong"),
    ],
)
def test_an_error_is_told_where_it_is_made(sheet: Mapping[str, Any], found: list[str]) -> None:
    assert [step.mistake or step.verdict for step in DOWN.check(sheet).steps] == found


def test_a_vector_is_gone_on_from() -> None:
    points = zip(SLIPPED, down(1, 5), strict=True)
    sheet = {f"iteration {i}/point": [f"{x:.4f}", f"{y:.4f}"] for i, (x, y) in enumerate(points)}
    verdicts = [step.verdict for step in VALLEY.check(sheet).steps]
    assert verdicts == ["right", "unexplained", "follows", "follows", "follows"]
