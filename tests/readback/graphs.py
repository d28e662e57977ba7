"""Everything that is read back: every row's examples and every calculation's cases, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from calculations.cases import EXPECTED
from language.ops.examples import EXAMPLES, Example
from numpy.typing import NDArray
from solved import ALL, Tried

from attncalc.calculations import load
from attncalc.common.errors import NoGradient
from attncalc.evaluate.values import by_key, evaluate
from attncalc.language.gradients import gradients
from attncalc.language.graph import Node, given, steps, walk
from attncalc.language.primitive import OPS
from attncalc.record.trace import Given
from attncalc.solve.problem import Backward, Problem
from attncalc.solve.solver import write

Array = NDArray[Any]
ROWS = [(op, example) for op, examples in EXAMPLES.items() for example in examples]
SMOOTH = [(op, example) for op, example in ROWS if OPS[op].vjp and example.operands]
CALCULATED = ALL


class Printed(NamedTuple):
    """Nodes that a page has a formula for, with the group that each is printed in; and the values of all nodes."""

    nodes: list[tuple[Node, str]]
    known: Mapping[Node, Array]


def of_row(op: str, example: Example) -> Printed:
    """The formula of the row itself, between operands."""
    node, operands = example.graph()
    return Printed([(node, "")], evaluate([node], example.values(operands), keep=lambda _: True))


def of_gradient(op: str, example: Example) -> Printed:
    """The formulas of a row's backward steps."""
    node, operands = example.graph()
    values = example.values(operands) | {"g": np.random.default_rng(7).normal(size=node.shape).round(2)}
    found = list(gradients(node, given("g", node.axes), example.smooth(operands)).values())
    named = [step for step in walk(*found) if step.op == "step"]
    return Printed([(step.sources[0], "") for step in named], evaluate([*found, node], values, keep=lambda _: True))


@cache
def of_calculation(tried: Tried) -> Printed | None:
    """The formulas of all steps of a case; None where it has no gradient."""
    case = EXPECTED[tried.name].cases[tried.number]
    inputs = {name: Given(value) for name, value in case.arrays().items()}
    try:
        written = write(Problem(load(tried.name), inputs, case.options, Backward() if tried.backward else None))
    except NoGradient:
        return None
    known = dict(evaluate(written.roots, written.values, given=written.known, keep=lambda _: True))
    named = steps(*written.roots)
    while missing := [step.sources[0] for step in named if step.sources[0] not in known]:  # behind what was given
        given_ = {node: value for node, value in known.items() if node.op == "step"}
        known |= evaluate(missing, written.values, given=by_key(given_), keep=lambda _: True)
        named = steps(*written.roots, *missing)
    return Printed([(step.sources[0], step.args["group"]) for step in named], known)


def everything() -> Iterator[tuple[str, Printed]]:
    """All of it, by what it is called."""
    for op, example in ROWS:
        yield f"{op}: {example}", of_row(op, example)
    for op, example in SMOOTH:
        yield f"grad {op}: {example}", of_gradient(op, example)
    for tried in CALCULATED:
        if printed := of_calculation(tried):
            yield str(tried), printed
