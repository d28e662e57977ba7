"""A problem's graph as it is written, with all that evaluating and recording it needs, and its kind of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from attncalc.common.arrays import Array
from attncalc.evaluate.loops import Loop
from attncalc.evaluate.values import Rounding
from attncalc.language.graph import Node, walk
from attncalc.language.steps import labels_of_parts
from attncalc.record.trace import Given
from attncalc.solve.binding import Bound


class Written(NamedTuple):
    """A problem's graph, with everything that evaluating and recording it needs."""

    outputs: tuple[Node, ...]  # of the problem: the results, or the gradients
    result: Node  # the calculation's own first output, from which a backward pass starts
    operands: Mapping[str, Node]
    values: Mapping[str, Array]
    bound: Bound
    inputs: Mapping[str, Given]
    notes: tuple[str, ...]
    named: Mapping[str, tuple[str, ...]]  # labels that the calculation itself gives to axes of its making
    asides: tuple[Node, ...]  # steps that are shown although the result does not go through them
    loop: Loop | None  # where the calculation is one whose turns depend on values
    known: Mapping[tuple[str, str], Array]  # steps whose values were needed to write the graph, by their keys

    @property
    def roots(self) -> tuple[Node, ...]:
        """What must be evaluated: a backward pass shows the forward steps too, needed or not."""
        return (self.result, *self.outputs, *self.asides)

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Each axis' labels; an axis read under a second name keeps them."""
        labels = {**self.bound.labels, **self.named}
        for node in walk(*self.roots):
            if node.row.renames:
                old, new = (node.args[word] for word in node.row.renames)
                if old in labels:
                    labels.setdefault(new, labels[old])
        return labels

    def labels_of(self) -> Callable[[Node], Mapping[str, tuple[str, ...]]]:
        """The labels around a node: where it is a part of an axis, or is made from one, those of its places."""
        labels, nodes = self.labels, walk(*self.roots)
        parts = labels_of_parts(nodes, labels)
        return lambda node: labels | parts.get(node, {})


LARGE = 2**25
"""So many entries of all primitives make a run large: its steps are no longer all kept."""


def is_large(written: Written) -> bool:
    """Whether the values of all nodes together are worth a thought of the memory that they take."""
    entries = (math.prod(node.shape) for node in walk(*written.roots) if node.op != "input")
    return sum(entries) >= LARGE


def after_step(kind: str, rounding: Rounding | None) -> Rounding | None:
    """What is done to the value of each step: exact ones are tidied, or refused for their size, others rounded."""
    if kind != "object":
        return rounding
    from attncalc.evaluate import tidying  # SymPy comes in here

    return tidying.step_tidier()


def kind_of(values: Mapping[str, Array], dtype: str) -> str:
    """The kind of number to compute with: exact as soon as one operand is."""
    return "object" if any(value.dtype == object for value in values.values()) else dtype


def as_kind(value: Array, kind: str) -> Array:
    """The value as numbers of that kind; truth values and words stay what they are."""
    if value.dtype.kind in "bUS":
        return value
    if kind != "object":
        with np.errstate(over="ignore"):  # what float32 cannot hold is told by the step that it spoils
            return value.astype(kind, copy=False)
    from attncalc.language.ops.exact_kernels import exactly  # with SymPy, which few need

    return exactly(value)
