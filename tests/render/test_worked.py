"""The arithmetic in front of a value, where it says more than the value does."""

from __future__ import annotations

import pytest

from attncalc.render.worked import leading


@pytest.mark.parametrize(
    ("arithmetic", "value", "shown"),
    [
        ("1×1 + 0×0", "1", "1×1 + 0×0"),
        ("0", "0", ""),
        ("e^(-2)", "e^(-2) ≈ 0.1353", ""),
        ("1 / 2", "1/2 = 0.5", "1 / 2"),
        ("e^0", "1", "e^0"),
        ("", "3", ""),
    ],
)
def test_what_is_the_value_itself_is_not_said_twice(arithmetic: str, value: str, shown: str) -> None:
    assert leading(arithmetic, value) == shown
