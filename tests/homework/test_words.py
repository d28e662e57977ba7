"""Steps that are told in words: the word is the answer, in capitals or not; elsewhere a word is no number."""

from __future__ import annotations

import json
from typing import Any

import pytest

import attncalc as ac
from attncalc.common.errors import InputError

COST = ac.complexity(n=512)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sheet", "verdicts"),
    [
        pytest.param({"bound": "memory"}, ["right"], id="the word"),
        pytest.param({"bound": " Memory "}, ["right"], id="in capitals"),
        pytest.param({"bound": "compute"}, ["unexplained"], id="the other word"),
        pytest.param({"bound": "neither"}, ["unexplained"], id="another word"),
        pytest.param({"bound": 0}, ["right"], id="the number that it stands for"),
        pytest.param({"bound": 1}, ["unexplained"], id="the number of the other word"),
        pytest.param({"bound": "?"}, ["missing"], id="no answer"),
        pytest.param({"arithmetic_intensity": 200, "bound": "compute"}, ["unexplained", "follows"], id="what follows"),
    ],
)
def test_a_word_is_an_answer(sheet: dict[str, Any], verdicts: list[str]) -> None:
    assert [step.verdict for step in COST.check(sheet).steps] == verdicts


@pytest.mark.parametrize("sheet", [{"ridge": "memory"}, {"bound": ["memory", "memory"]}], ids=["a number", "too many"])
def test_a_word_where_none_is_asked_for_is_told(sheet: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r'"memory" is not a number$'):
        COST.check(sheet)


def test_a_saved_result_is_a_right_sheet() -> None:
    assert COST.check(json.loads(json.dumps(COST.to_dict()))).verdict == "right"
