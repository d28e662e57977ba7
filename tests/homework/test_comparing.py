"""What comes out evenly to the digits that were written, and how likely an answer is by rounding in some manner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from homework.sheets import written

from attncalc.homework.diagnosis.comparing import by_rounding, comes_out


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


@pytest.mark.parametrize(
    ("values", "share"),
    [
        pytest.param([0.5, 0.5], 0.02, id="one answer of fifty"),
        pytest.param([0.501, 0.504, 0.496], 0.02, id="all written as 0.50"),
        pytest.param([0.5, 0.51, 0.52, 0.521], 0.06, id="three that are written otherwise"),
    ],
)
def test_rounding_explains_less_the_more_answers_it_may_give(values: list[float], share: float) -> None:
    answer = written(np.array(0.5), 2)
    assert by_rounding(answer, np.array(0.5), np.array(values)) == pytest.approx(share)
