"""Operands that tell mistakes apart: small whole numbers of the problem's sizes, drawn until every way differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attncalc.errors import AttncalcError
from attncalc.homework.ways import Ways
from attncalc.mistake import Mistake
from attncalc.trace import Given
from attncalc.writing import write

if TYPE_CHECKING:
    from attncalc.homework.key import Key
    from attncalc.problem import Problem

Array = NDArray[Any]

APART = 5e-3
"""Two ways differ visibly where an entry differs by so much."""
DRAWS = 12


def separating(key: Key, ties: Sequence[Sequence[Mistake]]) -> dict[str, Any] | None:
    """Operands like those of the problem with which no two of these ways give the same; None if none are found."""
    for seed in range(DRAWS):
        problem = key.problem._replace(inputs=redrawn(key.problem, np.random.default_rng(seed)))
        if tells_apart(problem, ties):
            return {name: _plain(given.value) for name, given in problem.inputs.items()}
    return None


def tells_apart(problem: Problem, ties: Sequence[Sequence[Mistake]]) -> bool:
    """Whether the results of all these ways differ, from one another and from what is right."""
    try:
        written = write(problem)
    except AttncalcError:
        return False
    ways = Ways(problem, written)
    result, found = ways.result, []
    for way in (ways.right, *(ways.way(*mistakes) for mistakes in ties)):
        if way is None or result not in way.steps:
            return False
        found.append(ways.values([way.steps[result]])[way.steps[result]])
    return all(apart(a, b) for i, a in enumerate(found) for b in found[:i])


def apart(a: Array, b: Array) -> bool:
    """Whether one sees that two values differ."""
    if a.shape != b.shape:
        return True
    with np.errstate(invalid="ignore"):
        off = np.abs(a - b)
    return bool(np.any(off > APART) or np.any(np.isfinite(a) != np.isfinite(b)))


def redrawn(problem: Problem, random: np.random.Generator) -> dict[str, Given]:
    """The operands with other numbers: whole ones where any number will do, the same where they mean something."""
    operands = {operand.name: operand for operand in problem.calculation.operands_in(problem.inputs)}
    return {
        name: given._replace(value=_drawn(given.value, random), written=None, source="", note="")
        if name not in operands or operands[name].kind == "real"
        else given
        for name, given in problem.inputs.items()
    }


def _drawn(value: Array, random: np.random.Generator) -> Array:
    if value.dtype.kind != "f":
        return value
    shares = (value >= 0).all() and (value <= 1).all() and value.size > 1
    if shares and abs(float(value.sum()) - 1) < 1e-6:
        parts = random.integers(1, 9, value.shape)
        return np.asarray(parts / parts.sum())
    if (value >= 0).all() and (value <= 1).all() and not (value % 1 == 0).all():
        return np.asarray(random.integers(1, 10, value.shape) / 10)
    return random.integers(-3, 4, value.shape).astype(np.float64)


def _plain(value: Array) -> Any:
    if value.dtype.kind == "f" and (value % 1 == 0).all():
        return value.astype(int).tolist()
    return value.tolist()
