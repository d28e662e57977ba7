"""What ONNX's operators say of the same inputs: the numbers of its reference implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose

import attncalc as ac

ONNX: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data/onnx.json").read_text(encoding="utf-8"))
LOOSE = 1e-11  # its normalisations keep ε in float32


@pytest.mark.thorough
@pytest.mark.parametrize(
    "entry", ONNX["entries"], ids=[f"{each['operator']}: {each['name']}" for each in ONNX["entries"]]
)
def test_is_as_the_operator(entry: dict[str, Any]) -> None:
    found = getattr(ac, entry["calculation"].replace("-", "_"))(**entry["call"])
    assert_allclose(found.result, entry["result"], rtol=LOOSE, atol=LOOSE)
