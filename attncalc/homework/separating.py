"""Operands that tell mistakes apart: small whole numbers of the problem's sizes, drawn until every way differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes
from attncalc.errors import AttncalcError, OptionError
from attncalc.homework.drawing import redrawn
from attncalc.homework.ways import Ways
from attncalc.mistake import Mistake, StepKey
from attncalc.writing import write

if TYPE_CHECKING:
    from attncalc.homework.key import Key
    from attncalc.problem import Problem

APART = 5e-3
"""Two ways differ visibly where an entry differs by so much."""
DRAWS, FEW_DRAWS = 12, 2
"""So often other numbers are drawn; with other sizes, since those do it at once if at all, less often."""


def separating(key: Key, step: StepKey, ties: Sequence[Sequence[Mistake]]) -> dict[str, Any] | None:
    """Operands with which no two of these ways give the same step: of the problem's sizes, else with sizes one larger.

    None if there are none, or none are found.
    """
    for larger in _enlargements(key.axes):
        for seed in range(FEW_DRAWS if larger else DRAWS):
            try:
                inputs = redrawn(key.problem, key.axes, np.random.default_rng(seed), larger)
            except OptionError:
                break
            except AttncalcError:
                continue
            problem = key.problem._replace(inputs=inputs)
            if tells_apart(problem, step, ties):
                return {name: _plain(given.value) for name, given in problem.inputs.items()}
    return None


def _enlargements(axes: Mapping[str, Axes]) -> Iterator[dict[str, int]]:
    """New sizes: none, one for each axis by itself, and for two that may have to be alike."""
    sizes = {axis.name: axis.size for found in axes.values() for axis in found if not axis.parts}
    yield {}
    yield from ({name: size + 1} for name, size in sizes.items())
    yield from ({a: sizes[a] + 1, b: sizes[b] + 1} for a, b in combinations(sizes, 2) if sizes[a] == sizes[b])


def tells_apart(problem: Problem, step: StepKey, ties: Sequence[Sequence[Mistake]]) -> bool:
    """Whether a step differs in all these ways, from one to the other and from what is right."""
    try:
        written = write(problem)
        ways = Ways(problem, written)
    except AttncalcError:
        return False
    found = []
    for way in (ways.right, *(ways.way(*mistakes) for mistakes in ties)):
        if way is None or step not in way.steps:
            return False
        found.append(ways.values([way.steps[step]])[way.steps[step]])
    return all(apart(a, b) for i, a in enumerate(found) for b in found[:i])


def apart(a: Array, b: Array) -> bool:
    """Whether one sees that two values differ."""
    if a.shape != b.shape:
        return True
    with np.errstate(invalid="ignore"):
        off = np.abs(a - b)
    return bool(np.any(off > APART) or np.any(np.isfinite(a) != np.isfinite(b)))


def _plain(value: Array) -> Any:
    if value.dtype.kind == "f" and (value % 1 == 0).all():
        return value.astype(int).tolist()
    return value.tolist()
