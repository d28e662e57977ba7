"""Random expressions for Hypothesis: over single numbers, and over arrays with named axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from attncalc.common.errors import ShapeError
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, constant, given
from attncalc.language.ops import (
    absolute,
    cos,
    exp,
    keep_where,
    log,
    maximum,
    mean,
    outer,
    sin,
    softmax,
    sqrt,
    tanh,
    total,
)

LETTERS: Mapping[str, float] = {"x": 0.5, "y": -2.0, "z": 1.25, "w": -0.75}
"""Single numbers and their values."""

_numbers = st.one_of(
    st.sampled_from([given(letter, ()) for letter in LETTERS]), st.sampled_from([-2, 0.5, 2, 3]).map(constant)
)


def _combined(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    binary = st.tuples(inner, inner)
    condition = binary.map(lambda two: two[0] <= two[1]) | binary.map(lambda two: two[0] < two[1])
    return st.one_of(
        binary.map(lambda two: two[0] + two[1]),
        binary.map(lambda two: two[0] - two[1]),
        binary.map(lambda two: two[0] * two[1]),
        binary.map(lambda two: two[0] / two[1]),
        binary.map(lambda two: maximum(*two)),
        st.tuples(inner, inner, inner).map(lambda three: Node("add", *three)),
        st.tuples(condition, inner, inner).map(lambda three: keep_where(*three)),
        st.tuples(condition, condition, inner).map(lambda three: keep_where(three[0] & three[1], three[2], 1)),
        inner.map(lambda one: -one),
        inner.map(lambda one: one**2),
        inner.map(lambda one: absolute(one) ** 1.5),
        inner.map(lambda one: one**-1),
        inner.map(lambda one: sqrt(absolute(one))),
        inner.map(lambda one: log(absolute(one))),
        inner.map(exp),
        inner.map(tanh),
        inner.map(sin),
    )


scalars = st.recursive(_numbers, _combined, max_leaves=8)
"""Expressions over the letters; some have no value (a division by 0)."""


def plain(values: Iterable[NDArray[Any]]) -> bool:
    """Whether all are of a size at which two ways of working them out agree: none huge, none left over near 0."""
    return all(np.isfinite(v) and abs(v) < 1e6 and (v == 0 or abs(v) > 1e-9) for v in values)


AXES = {"n": Axis("n", 2), "m": Axis("m", 3), "d": Axis("d", 2)}
_DECLARED = {"a": "n m", "b": "m d", "c": "n", "e": "m", "f": "n d"}
ARRAYS = {name: given(name, tuple(AXES[axis] for axis in axes.split())) for name, axes in _DECLARED.items()}
"""Operands whose axes overlap in every way."""


def entries(seed: int) -> dict[str, NDArray[np.float64]]:
    """Values for the arrays."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=tuple(axis.size for axis in node.axes)) for name, node in ARRAYS.items()}


_KINDS: dict[str, Callable[[Node, Node, str], Node]] = {
    "add": lambda one, other, axis: one + other,
    "sub": lambda one, other, axis: one - other,
    "mul": lambda one, other, axis: one * other,
    "div": lambda one, other, axis: one / (2 + cos(other)),
    "where": lambda one, other, axis: keep_where(one <= other, one, 2 * other),
    "square": lambda one, other, axis: one**2 / 4,
    "tanh": lambda one, other, axis: tanh(one),
    "sin": lambda one, other, axis: sin(one),
    "sum": lambda one, other, axis: total(one, axis),
    "mean": lambda one, other, axis: mean(one, axis),
    "softmax": lambda one, other, axis: softmax(one, axis),
    "matmul": lambda one, other, axis: one @ other,
    "transpose": lambda one, other, axis: one.T,
    "outer": lambda one, other, axis: outer(one, other),
}


@st.composite
def arrays(draw: st.DrawFn) -> Node:
    """An expression over the arrays, of up to ten primitives; what the axes refuse is left out."""
    made = list(ARRAYS.values())
    for _ in range(draw(st.integers(1, 10))):
        one, other = (draw(st.sampled_from(made)) for _ in range(2))
        axis = draw(st.sampled_from(sorted(AXES)))
        kind = draw(st.sampled_from(sorted(_KINDS)))
        try:
            made.append(_KINDS[kind](one, other, axis))
        except ShapeError:
            continue
    return made[-1]
