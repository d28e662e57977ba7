"""What of a step is free: any multiple of an eigenvector is one, and what is 0 may as well be subtracted.

A calculation settles on one of those that are as right, and a sheet need not have the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from attncalc.arrays import Array
from attncalc.graph import Node
from attncalc.homework.answers import Answer
from attncalc.homework.complex_numbers import as_parts, from_parts


def as_answered(node: Node, value: Array, answer: Answer, parted: bool) -> Array:
    """The value of a step in the form of an answer that has another one of those which are as right.

    Both may be parted into real and imaginary parts.
    """
    free = _FREE.get(node.sources[0].op)
    if free is None or value.shape != answer.shape or not np.isfinite(answer.value).all():
        return value
    return as_parts(free(from_parts(value), from_parts(answer.value))) if parted else free(value, answer.value)


def is_free(node: Node) -> bool:
    """Whether a step may have other values that are as right, so that what is worked out from it may too."""
    return node.sources[0].op in _FREE


def _multiples(value: Array, given: Array) -> Array:
    """Each column as long as the one that is given, where that is not 0."""
    at = np.argmax(np.abs(given), axis=-2, keepdims=True)
    there, here = (np.take_along_axis(part, at, axis=-2) for part in (given, value))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = there / here
    return np.where(np.isfinite(factor) & (factor != 0), factor, 1.0) * value


def _turned_along(axis: int, value: Array, given: Array) -> Array:
    """Each vector along that axis turned round where the one that is given points the other way."""
    return np.where((value * given).sum(axis=axis, keepdims=True) < 0, -value, value)


def _turned(value: Array, given: Array) -> Array:
    """A polynomial of which the roots are asked: det(A − λ·I) for det(λ·I − A)."""
    return -value if given[..., 0].sum() < 0 else value


_FREE: dict[str, Callable[[Array, Array], Array]] = {
    "characteristic_polynomial": _turned,
    "eigenvectors": _multiples,
    "left_singular_vectors": partial(_turned_along, -2),
    "right_singular_vectors": partial(_turned_along, -1),
}
"""Primitive → its value in the form of an answer."""
