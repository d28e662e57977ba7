"""Sheets as people write them: values to so many decimals, and what is found of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.declare.mistake import StepKey
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.marking.marker import Marker
from attncalc.homework.reading.answers import Answer, Sheet, from_text
from attncalc.homework.reading.sheets import spelled
from attncalc.record.numbers import round_half_up
from attncalc.record.verdicts import Finding, Marked

Array = NDArray[Any]


def written(value: Array, decimals: int) -> Answer:
    """A value as it is written down to so many decimals."""
    rounded = round_half_up(np.asarray(value, float), decimals)
    texts = ["-inf" if entry == -np.inf else f"{entry:.{decimals}f}" for entry in rounded.ravel()]
    return from_text(texts, rounded.shape, lambda at: f"entry {at}")


def answered(marker: Marker, steps: Mapping[StepKey, Answer]) -> Marked:
    """A sheet with these steps, marked."""
    return marker.mark(Sheet({spelled(key): answer for key, answer in steps.items()}))


def finding(marker: Marker, step: StepKey, answer: Answer) -> Finding:
    """What is found of one step by itself."""
    return answered(marker, {step: answer}).steps[0].finding


def right_steps(key: Key, decimals: int) -> dict[StepKey, Answer]:
    """Every step as it should be, to so many decimals."""
    values = {step: key.value(step) for step in key.steps}
    return {step: written(value, decimals) for step, value in values.items() if value is not None}
