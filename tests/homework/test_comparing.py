"""What comes out evenly to the digits that were written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attncalc.homework.diagnosis.comparing import comes_out


@pytest.mark.parametrize(
    ("value", "unit", "even"),
    [
        pytest.param([8.5, -2], 0.1, True, id="tenths"),
        pytest.param([8.45], 0.1, False, id="hundredths"),
        pytest.param([0.3], 0.1, True, id="no float"),
        pytest.param([8, -np.inf], 1, True, id="what is masked has no digits"),
        pytest.param([2.5, 8], [0.1, 1], True, id="each to its own unit"),
        pytest.param([8, 2.5], [0.1, 1], False, id="each to its own unit, the other way round"),
        pytest.param([1200], 100, True, id="hundreds"),
    ],
)
def test_what_comes_out_has_no_more_digits_than_the_unit(value: Any, unit: Any, even: bool) -> None:
    assert comes_out(np.array(value, float), np.asarray(unit, float)) == even
