"""The laws that calculations declare: each holds for whatever operands, options and numbers are drawn."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from attncalc.calculations import TABLE, load
from attncalc.common.errors import AttncalcError
from attncalc.declare import calculation
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import Operand

Array = NDArray[Any]
LAWS = [(name, words) for name in TABLE for words in load(name).laws]
QUARTERS = st.integers(-8, 8).map(lambda i: i / 4)  # few bits, so that what should be equal is equal but for rounding


@pytest.mark.spread
@pytest.mark.parametrize(("name", "words"), LAWS, ids=[f"{name}: {words}" for name, words in LAWS])
@settings(
    max_examples=settings.default.max_examples // 3 if settings.default else 10,
    suppress_health_check=[HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_it_holds(name: str, words: str, data: st.DataObject) -> None:
    calculation, law = load(name), load(name).laws[words]
    drawn = Drawing(calculation, data)
    given = {p: drawn.argument(p) for p in list(inspect.signature(law).parameters)[1:]}
    try:
        assert law(partial(calculation, **drawn.said()), **given)
    except AttncalcError:
        reject()  # a zero vector, an odd width: there is nothing that the law could be about


class Drawing:
    """Operands, options and numbers for one law, whose axes of one name are of one size."""

    def __init__(self, calculation: Calculation, data: st.DataObject) -> None:
        self.calculation, self.data = calculation, data
        self.sizes: dict[str, int] = {}

    def argument(self, name: str) -> Any:
        meant = self.calculation.operand(name)
        if name == "c" and not (meant and meant.required):
            return self.data.draw(st.integers(1, 12), label="4·c") / 4
        if name in self.calculation.declaration.families:
            held = self.calculation.declaration.families[name]
            return {o.name: self.operand(o) for o in self.calculation.operands if o.name in held and o.required}
        if operand := self.calculation.operand(name):
            return self.model() if operand.kind == "model" else self.operand(operand)
        option = self.calculation.option(name)
        assert option, f"{name} is no operand of {self.calculation.name} and none of its options"
        assert int in option.types
        return self.data.draw(st.integers(1, 6), label=name)

    def model(self) -> dict[str, Any]:
        """What a model cannot do without: its embedding, and one layer of each stack."""
        layers = self.calculation.declaration.layers.items()
        stacks = {stack: [{o.name: self.operand(o) for o in layer if o.required}] for stack, layer in layers}
        embedding = self.calculation.operand("embedding")
        assert embedding, "a model begins with the embeddings of its words"
        return {"embedding": self.operand(embedding), **stacks, "heads": self.sizes["h"]}

    def operand(self, operand: Operand) -> Array:
        shape = self.data.draw(st.sampled_from(operand.under(self.calculation.defaults).shapes))
        sizes = [
            self.size(axis) if isinstance(axis, str) else int(np.prod([self.size(part) for part in axis]))
            for axis in shape
        ]
        entries = QUARTERS if operand.kind != "tokens" else st.integers(0, self.size(operand.of) - 1)
        dtype = np.int64 if operand.kind == "tokens" else np.float64
        return self.data.draw(arrays(dtype, tuple(sizes), elements=entries), label=operand.name)

    def size(self, axis: str) -> int:
        if axis not in self.sizes:
            ways = st.integers(2, 4)
            if axis == "g":  # key heads, which query heads share
                ways = st.sampled_from([1, self.size("h")])
            self.sizes[axis] = self.data.draw(ways, label=axis)
        return self.sizes[axis]

    def said(self) -> Mapping[str, int]:
        """The sizes that an option must tell."""
        return {option: self.sizes[axis] for axis, option in self.calculation.sizes.items() if axis in self.sizes}


TELLING = [
    ("same: rounding is forgiven", calculation.same(1.0, 1.0 + 1e-12), True),
    ("same: nothing else is", calculation.same([1.0, 2.0], [1.0, 2.001]), False),
    ("same: what is no number is never the same", calculation.same([np.nan], [np.nan]), False),
    ("at most: one entry too large", calculation.at_most([1.0, 3.0], [2.0, 2.0]), False),
    ("at most: as large", calculation.at_most([1.0, 2.0], 2.0), True),
    ("diagonals: of one number each", calculation.alike_along_diagonals(np.array([[1, 2], [3, 1]])), True),
    ("diagonals: of several numbers", calculation.alike_along_diagonals(np.array([[1, 2], [3, 4]])), False),
    (
        "one right: at the largest",
        calculation.same(calculation.one_right(np.array([[1.0, 3.0], [2.0, 0.0]])), [[0, 1], [1, 0]]),
        True,
    ),
]


@pytest.mark.parametrize(("told", "expected"), [row[1:] for row in TELLING], ids=[row[0] for row in TELLING])
def test_what_laws_are_written_with(told: bool, expected: bool) -> None:
    assert told is expected


def test_shuffled_rows_stay_together() -> None:
    rows = np.arange(5.0)
    one, other = calculation.shuffled(rows, 10 * rows)
    assert calculation.same(10 * one, other)
    assert not calculation.same(one, rows)
