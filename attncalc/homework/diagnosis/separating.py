"""Operands are found that tell mistakes apart: small whole numbers, drawn until every solution differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.errors import AttncalcError, OptionError
from attncalc.declare.mistake import Mistake, StepKey
from attncalc.homework.diagnosis.drawing import redrawn
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.diagnosis.solutions import Solutions
from attncalc.language.axes import Axes
from attncalc.solve.build import write
from attncalc.solve.problem import Problem

APART = 5e-3
"""One sees that two values differ where an entry differs by so much."""
DRAWS, FEW_DRAWS = 12, 2
"""So often other numbers are drawn; with other sizes, since those do it at once if at all, less often."""


def separating(key: Key, step: StepKey, ties: Sequence[Sequence[Mistake]]) -> dict[str, Any] | None:
    """Operands with which no two of these explanations give the same step; None if there are none, or none are found.

    They have the problem's sizes, or else sizes one larger.
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
    """Whether a step differs by all these mistakes, from one to the other and from what is right."""
    try:
        solutions = Solutions(problem, write(problem))
    except AttncalcError:
        return False
    found = []
    for solution in (solutions.right, *(solutions.by(*mistakes) for mistakes in ties)):
        if solution is None or step not in solution.steps:
            return False
        found.append(solutions.values([solution.steps[step]])[solution.steps[step]])
    return all(_apart(a, b) for i, a in enumerate(found) for b in found[:i])


def _apart(a: Array, b: Array) -> bool:
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
