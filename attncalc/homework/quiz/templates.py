"""A template is what a quiz is drawn from: a calculation's sample, changed as its declaration or a teacher says.

What has operands gets other numbers; what has none gets other options, and what takes a formula another formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.calculations import load
from attncalc.common.errors import OptionError, both, near, quoted
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import UPSTREAM, Operand
from attncalc.homework.reading.keys_file import LEVELS, USUAL_LEVEL
from attncalc.inputs.problem_files import sample_problem
from attncalc.record.trace import NOTHING, Given
from attncalc.solve.problem import Backward, Problem, told_apart
from attncalc.solve.solver import write

Asks = tuple[Sequence[str], Sequence[str]]
"""The words of `ask`, and those of `shown`; without any, everything is asked for, and nothing is shown."""
WHATEVER: Asks = ((), ())


class Wanted(NamedTuple):
    """What is fixed about a problem before its numbers are drawn."""

    options: Mapping[str, Any] = NOTHING
    inputs: Mapping[str, Given] = NOTHING  # the operands that are kept as they are
    given: tuple[str, ...] = ()  # the operands that the problem should have; empty: those of the sample
    backward: Backward | None = None  # what is asked of a derivative, if that is more than its name says
    sizes: Mapping[str, int] = NOTHING  # of axes, where they should differ from the sample's
    level: str = USUAL_LEVEL  # how easy its numbers are
    asks: Asks = WHATEVER  # the steps in which mistakes should show


ANYTHING = Wanted()
USUAL_SIZE = 3
"""The size of an axis that the sample does not have."""


def template(problem: str, random: np.random.Generator, wanted: Wanted = ANYTHING) -> Problem:
    """The problem that a quiz of a calculation, or of its backward pass, starts from: its numbers are then drawn anew.

    For a backward pass, a gradient arrives at every entry of the result; for a single number it is 1, as for a loss.
    """
    name, backward = told_apart(problem)
    exercise = load(name).exercise
    if exercise.refused:
        raise OptionError(f"{name} makes no quiz: {exercise.refused}", hint=exercise.instead)
    sample = sample_problem(name, wanted.options.get("kind"))
    options = dict(sample.options)
    kind = wanted.options.get("kind", options.get("kind"))
    inputs = {operand: given._replace(source="") for operand, given in sample.inputs.items()}
    if sets := [each for each in exercise.one_of if each.get("kind", kind) == kind]:
        if options.get("kind") != kind:
            options = {}  # they are of another kind
        options |= sets[random.integers(len(sets))]
    if wanted.level == LEVELS[-1]:
        options |= exercise.at_hard
    if exercise.formulas:
        choice = exercise.formulas[wanted.level]
        inputs["expression"] = Given(np.array(choice[random.integers(len(choice))]))
    whole = sample._replace(inputs=inputs, options=options | dict(wanted.options))
    if wanted.given or wanted.inputs:
        whole = whole._replace(inputs=_formed(sample, whole, wanted))
    backward = wanted.backward or backward
    if (
        backward
        and not backward.jacobian
        and UPSTREAM.name not in wanted.inputs
        and (shape := write(whole).result.shape)
    ):
        whole = whole._replace(inputs={**whole.inputs, UPSTREAM.name: Given(np.ones(shape))})
    return whole._replace(backward=backward)


def _formed(sample: Problem, whole: Problem, wanted: Wanted) -> dict[str, Given]:
    """The operands that are wanted, in the sizes of the sample and of the operands that are kept."""
    calculation = sample.calculation
    names = [o.name for o in calculation.operands]
    for name in wanted.given:
        if name not in names:
            raise OptionError(
                f"{calculation.name} has no operand {quoted(name)}", hint=near(name, names) or f"it has {both(names)}"
            )
    sizes = {**write(sample).bound.sizes, **calculation.exercise.sizes}
    sizes |= {axis: whole.options[name] for axis, name in calculation.sizes.items() if whole.options.get(name)}
    for name, given in wanted.inputs.items():
        operand = calculation.operand(name)
        shape = next((s for s in operand.shapes if len(s) == given.value.ndim), ()) if operand else ()
        sizes |= {axis: size for axis, size in zip(shape, given.value.shape, strict=False) if isinstance(axis, str)}
    asked = wanted.given or tuple(sample.inputs)
    found: dict[str, Given] = {}
    for operand in calculation.operands:
        if operand.name in wanted.inputs:
            found[operand.name] = wanted.inputs[operand.name]
        elif operand.name in asked:
            found[operand.name] = _in_sizes(operand, whole.inputs.get(operand.name), sizes)
    return found | {name: given for name, given in wanted.inputs.items() if name == UPSTREAM.name}


def _in_sizes(operand: Operand, given: Given | None, sizes: Mapping[str, int]) -> Given:
    """An operand to be drawn: the sample's, or one of its declared shape, in these sizes."""
    if operand.kind in ("expression", "model") and given is None:
        raise OptionError(f"{operand.name} holds no numbers that could be drawn")
    shapes = [s for s in operand.shapes if given is None or len(s) == given.value.ndim]
    if not shapes:
        return given or Given(np.ones(()))
    shape = tuple(
        sizes.get(axis, USUAL_SIZE) if isinstance(axis, str) else int(np.prod([sizes.get(a, USUAL_SIZE) for a in axis]))
        for axis in shapes[0]
    )
    if given is not None:
        return given if given.value.shape == shape else Given(np.resize(given.value, shape))
    if operand.kind == "mask":
        return Given(np.tril(np.ones(shape, dtype=bool)) if len(shape) > 1 else np.arange(shape[0]) > 0)
    return Given(np.ones(shape, dtype=np.int64 if operand.kind in ("tokens", "integers") else np.float64))


def varies(problem: str) -> bool:
    """Whether templates of a calculation differ in more than their numbers."""
    exercise = load(told_apart(problem)[0]).exercise
    return bool(exercise.formulas) or len(exercise.one_of) > 1
