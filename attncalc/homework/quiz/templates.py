"""A template is what a quiz is drawn from: a calculation's sample, changed where its declaration says so.

What has operands gets other numbers; what has none gets other options, and what takes a formula another formula.
"""

from __future__ import annotations

import numpy as np

from attncalc.calculations import load
from attncalc.common.errors import OptionError
from attncalc.declare.operands import UPSTREAM
from attncalc.inputs.problem_files import sample_problem
from attncalc.record.trace import Given
from attncalc.solve.build import write
from attncalc.solve.problem import Problem, told_apart

LEVELS = ("easy", "medium", "hard")


def template(problem: str, random: np.random.Generator, level: str) -> Problem:
    """The problem that a quiz of a calculation, or of its backward pass, starts from: its numbers are then drawn anew.

    A gradient arrives at every entry of a result; that of a single number is 1, as for a loss.
    """
    name, backward = told_apart(problem)
    exercise = load(name).exercise
    if exercise.refused:
        raise OptionError(f"{name} makes no quiz: {exercise.refused}", hint=exercise.instead)
    sample = sample_problem(name)
    options = dict(sample.options)
    inputs = {operand: given._replace(source="") for operand, given in sample.inputs.items()}
    if exercise.one_of:
        options |= exercise.one_of[random.integers(len(exercise.one_of))]
    if level == LEVELS[-1]:
        options |= exercise.at_hard
    if exercise.formulas:
        choice = exercise.formulas[level]
        inputs["expression"] = Given(np.array(choice[random.integers(len(choice))]))
    whole = sample._replace(inputs=inputs, options=options)
    if backward and not backward.jacobian and (shape := write(whole).result.shape):
        inputs[UPSTREAM.name] = Given(np.ones(shape))
    return whole._replace(backward=backward)


def varies(problem: str) -> bool:
    """Whether templates of a calculation differ in more than their numbers."""
    exercise = load(told_apart(problem)[0]).exercise
    return bool(exercise.formulas) or len(exercise.one_of) > 1
