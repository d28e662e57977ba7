"""Quizzes: a new problem with friendly numbers on which every known mistake shows, a blank sheet, a key, a worksheet.

The problem is drawn anew from a calculation's sample: its operands keep their sorts (classes stay classes, shares sum
to 1), its sizes may be others. Of many draws the one is taken on which fewest mistakes hide behind what is right, or
behind one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncalc import samples
from attncalc.errors import AttncalcError, OptionError
from attncalc.homework.drawing import LARGEST, redrawn
from attncalc.homework.key import Key
from attncalc.homework.separating import apart
from attncalc.problem import Problem
from attncalc.text import both, near, quoted
from attncalc.writing import write

Array = NDArray[Any]
Random = np.random.Generator

LEVELS = tuple(LARGEST)
DRAWS = 60
ENOUGH = 20
"""After so many draws one on which every mistake shows is taken at once."""
MOST = 1e4
"""A result beyond this is no friendly one."""


class Quiz(NamedTuple):
    """A problem, and what the search for it has shown."""

    problem: Problem
    hidden: tuple[str, ...]  # mistakes that do not show on it
    alike: tuple[tuple[str, str], ...]  # mistakes that it does not tell apart


def quiz(name: str, *, seed: int, sizes: Mapping[str, int], level: str = "medium") -> Quiz:
    """A new problem of a calculation; the same seed, sizes and level give the same one."""
    sample = samples.problem(name)
    axes = write(sample).bound.axes
    known = [axis.name for found in axes.values() for each in found for axis in (each.parts or (each,))]
    options = dict(sample.options)
    for size, value in sizes.items():
        option = sample.calculation.option(size)
        if size not in known and (option is None or int not in option.types):
            raise OptionError(
                f"{name} has no size {quoted(size)}", hint=near(size, known) or f"it has {both(dict.fromkeys(known))}"
            )
        if size not in known:
            options[size] = value
    best: Quiz | None = None
    fault: AttncalcError | None = None
    for draw in range(DRAWS):
        random = np.random.default_rng([seed, draw])
        try:
            inputs = redrawn(sample, axes, random, sizes, level)
            found = _judged(sample._replace(inputs=inputs, options=options))
        except AttncalcError as error:
            fault = error
            continue
        if found is not None and (best is None or _faults(found) < _faults(best)):
            best = found
        if best is not None and not _faults(best) and draw >= ENOUGH - 1:
            break
    if best is None:
        raise fault or OptionError(f"no friendly problem of {name} was found with these sizes")
    return best


def _judged(problem: Problem) -> Quiz | None:
    """A problem with the mistakes that hide on it; None where its result is not friendly."""
    key = Key(problem)
    right = key.value(key.result)
    if right is None or not _friendly(right):
        return None
    values: dict[str, list[Array]] = {}
    for mistake, way in key.mistakes:
        if mistake.kind != "convention" and key.result in way.steps:
            values.setdefault(mistake.id, []).extend(key.values([way.steps[key.result]]))
    spoils = {name: found for name, found in values.items() if not all(np.isnan(value).any() for value in found)}
    hidden = [name for name, found in spoils.items() if not any(apart(value, right) for value in found)]
    alike = [
        (a, b)
        for a, b in combinations(spoils, 2)
        if a not in hidden and b not in hidden and not any(apart(x, y) for x in spoils[a] for y in spoils[b])
    ]
    return Quiz(problem, tuple(hidden), tuple(alike))


def _friendly(value: Array) -> bool:
    finite = value[np.isfinite(value)]
    return bool(finite.size and (np.abs(finite) < MOST).all() and (finite.size == 1 or np.ptp(finite) > 0))


def _faults(found: Quiz) -> int:
    return 2 * len(found.hidden) + len(found.alike)
