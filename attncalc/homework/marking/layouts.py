"""Answers are laid out in the shapes of their steps: people write rows for columns, and tables are filled up."""

from __future__ import annotations

import math

import numpy as np

from attncalc.common.arrays import Array
from attncalc.declare.mistake import StepKey
from attncalc.homework.diagnosis.key import Key
from attncalc.homework.reading.answers import Answer


def laid_out(key: Key, answer: Answer, step: StepKey, value: Array) -> Answer | None:
    """The answer in the shape of the step's value, if it has that shape as people write it.

    A row or a column is a vector, and a vector the only row or column of a matrix; the only entry is written without
    brackets; a table holds a stack of matrices one below the other, and a single number. The answer to a complex step
    is laid out in its parts.
    """
    shape = _shape(key, step, value)
    if answer.shape not in _shapes(key, answer, step, value) or answer.value.size != math.prod(shape):
        return None
    laid = answer if answer.shape == shape else answer.laid(lambda part: part.reshape(shape))
    return laid.in_parts() if step in key.complex else laid


def _shape(key: Key, step: StepKey, value: Array) -> tuple[int, ...]:
    """The shape of a step's value, a complex number counted as one."""
    return value.shape[:-1] if step in key.complex else value.shape


def unpadded(key: Key, answer: Answer, step: StepKey) -> Answer:
    """A table without the blank columns and rows with which spreadsheets fill it up to the width of others."""
    value = key.value(step)
    if value is None or not answer.table or answer.value.ndim != 2 or not answer.answered.any():
        return answer
    shapes = _shapes(key, answer, step, value)
    if answer.shape in shapes:
        return answer
    rows, columns = (int(np.flatnonzero(answer.answered.any(axis=axis))[-1]) + 1 for axis in (1, 0))
    holding = [shape for shape in shapes if len(shape) == 2 and shape[0] >= rows and shape[1] >= columns]
    rows, columns = min(holding, default=(rows, columns))
    return answer.laid(lambda part: part[:rows, :columns])


def _shapes(key: Key, answer: Answer, step: StepKey, value: Array) -> set[tuple[int, ...]]:
    """The shapes in which people write a step's value."""
    axes = key.nodes[step].axes
    shapes = {shape := _shape(key, step, value)}
    if len(shape) == len(axes):
        shapes.add(tuple(axis.size for axis in axes if axis.name not in key.dropped))
    for shape in list(shapes):
        if len(shape) == 1:
            shapes |= {(1, *shape), (*shape, 1)}
        if len(shape) == 2 and 1 in shape:
            shapes.add((math.prod(shape),))
        if math.prod(shape) == 1:
            shapes.add(())
        if answer.table and not shape:
            shapes.add((1, 1))
        if answer.table and len(shape) > 2:
            shapes.add((math.prod(shape[:-1]), shape[-1]))
    return shapes
