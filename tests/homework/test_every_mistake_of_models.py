"""Every known mistake, planted in every tiny checkpoint: where it changes what a model returns, it is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checkpoints import NAMES, computed
from homework.test_model_dumps import marker_of, returned

from attncalc.homework.diagnosis.solutions import Solution
from attncalc.homework.reading.sheets import from_python

SLICES = 8
"""So many tests share the mistakes of a model."""
APART = 1e-3
"""What changes an array by less, beside the largest entry of its row, may be noise of float32."""


def changes(wrong: Any, right: Any) -> bool:
    """Whether an array is visibly another one; what is infinite, or no number, is."""
    if wrong.shape != right.shape:
        return True
    both = np.isfinite(wrong) & np.isfinite(right)
    if (both != np.isfinite(right)).any():
        return True
    size = np.where(both, np.abs(right), 0).max(-1, keepdims=True, initial=0)
    return bool((np.abs(np.where(both, wrong - right, 0)) > APART * np.where(size > 0, size, 1)).any())


def fault_of(model: str, solution: Solution) -> str:
    """What is not told of a dump with a mistake; "" where it is named, at what it changes first or before that."""
    marker = marker_of(model)
    key, order = marker.key, [*marker.key.nodes]
    steps = {name: key.names.find(name) for name in returned(computed(model))}
    found = {name: key.value(step, solution) for name, step in steps.items()}
    dump = {name: value for name, value in found.items() if value is not None}
    changed = [steps[name] for name, value in dump.items() if changes(value, key.value(steps[name]))]
    if not changed:
        return ""
    with np.errstate(all="ignore"):
        marked = marker.mark(from_python({name: value.astype(np.float32) for name, value in dump.items()}))
    [mistake] = solution.mistakes
    first = min(changed, key=order.index)
    at = next(((one.finding, one.name) for one in marked.steps if one.mistake), None)
    if at is None:
        return f"{mistake.id}: nothing is named, and it is at {'/'.join(filter(None, first))}"
    told = (*at[0].mistakes, *at[0].also)
    if mistake.id not in told:
        return f"{mistake.id}: {', '.join(told)} is named"
    group, _, name = at[1].rpartition("/")
    return "" if order.index((group, name)) <= order.index(first) else f"{mistake.id}: it is named at {at[1]}"


@pytest.mark.release
@pytest.mark.spread(132)
@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("model", NAMES)
def test_every_mistake_that_changes_what_a_model_returns_is_named(model: str, part: int) -> None:
    told = [fault_of(model, solution) for solution in marker_of(model).key.wrong[part::SLICES]]
    assert [fault for fault in told if fault] == []
