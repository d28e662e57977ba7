"""Outputs with the axes that their reader knows: without a row that a vector stood for, with those of size 1 again."""

from __future__ import annotations

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, names
from attncalc.trace import Step


def drop(step: Step, dropped: frozenset[str]) -> Step:
    """An output without the axis along which a vector stood for a row."""
    gone = [i for i, name in enumerate(step.axes) if name.removesuffix("'") in dropped]
    if not gone or step.value is None:
        return step
    value = np.squeeze(step.value, axis=tuple(gone))
    kept = tuple(name for name in step.axes if name.removesuffix("'") not in dropped)
    shown, origins = step.arithmetic, step.origins

    def whole(at: tuple[int, ...]) -> tuple[int, ...]:
        rest = iter(at)
        return tuple(0 if i in gone else next(rest) for i in range(len(step.axes)))

    def at_rows() -> Array | None:
        found = step.left_over() if step.left_over else None
        return None if found is None else np.squeeze(found, axis=tuple(gone))

    return step._replace(
        value=value,
        shape=value.shape,
        axes=kept,
        arithmetic=shown and (lambda at: shown(whole(at))),
        origins=origins and (lambda at: origins(whole(at))),
        left_over=at_rows,
    )


def spread_again(gradient: Step, axes: Axes) -> Step:
    """A broadcast operand's gradient with all the axes that it was given with, those of size 1 too."""
    if gradient.value is None:
        return gradient
    kept = [axis.name for axis in axes if axis.size > 1]
    front = len(gradient.axes) - len(kept)  # of a Jacobian: the result's own axes
    shape = gradient.shape[:front] + tuple(axis.size for axis in axes)
    shown, origins, left_over = gradient.arithmetic, gradient.origins, gradient.left_over

    def inner(at: tuple[int, ...]) -> tuple[int, ...]:
        rest = at[front:]
        return at[:front] + tuple(i for i, axis in zip(rest, axes, strict=True) if axis.size > 1)

    def outer() -> Array | None:
        found = left_over() if left_over else None
        return None if found is None else found.reshape(shape)

    return gradient._replace(
        value=gradient.value.reshape(shape),
        shape=shape,
        axes=gradient.axes[:front] + names(axes),
        check=gradient.check and gradient.check._replace(numeric=gradient.check.numeric.reshape(shape)),
        arithmetic=shown and (lambda at: shown(inner(at))),
        origins=origins and (lambda at: origins(inner(at))),
        left_over=outer,
    )
