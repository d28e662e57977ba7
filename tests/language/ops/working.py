"""What the tests of primitives share: evaluating one node, comparing, and working an entry's cell out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from attncalc.evaluate.values import evaluate
from attncalc.language.graph import Node, rewrite
from attncalc.language.primitive import Cell, Form, Literal, Pick

Array = NDArray[Any]


def value(node: Node, operands: Mapping[str, Array], dtype: str = "float64") -> Array:
    """The node's value alone."""
    return evaluate([node], operands, dtype=dtype)[node]


def narrow(operands: Mapping[str, Array]) -> dict[str, Array]:
    """The operands in single precision."""
    return {name: v if v.dtype == bool else v.astype(np.float32) for name, v in operands.items()}


def sizes_of(node: Node) -> tuple[int, ...]:
    return tuple(axis.size for axis in node.axes)


def same(found: Array, expected: Array, digits: int = 9) -> None:
    """The two agree to so many digits of the largest entry, and of each."""
    assert found.shape == expected.shape
    largest = float(np.max(np.abs(expected), initial=1.0, where=np.isfinite(expected)))
    assert_allclose(found, expected, rtol=10.0**-digits, atol=10.0**-digits * largest)


def defined(node: Node) -> Node:
    """The node by its body, where it has one."""

    def by_body(copy: Node) -> Node | None:
        return copy.row.body(copy, *copy.sources) if copy.op == node.op and copy.row.body else None

    return rewrite([node], by_body)[0]


def entry(node: Node, place: Mapping[str, int], known: Mapping[Node, Array]) -> Any:
    return known[node][tuple(place[name] for name in node.names)]


SIGNS: dict[str, Any] = {
    "+": lambda *parts: math.fsum(parts),
    "−": lambda a, b: a - b,
    "×": lambda *parts: math.prod(parts),
    "/": lambda a, b: a / b,
    "√": math.sqrt,
    "^": lambda a, b: a**b,
    "neg": lambda a: -a,
    "abs": abs,
    "exp": math.exp,
    "ln": math.log,
    "log₂": math.log2,
    "log₁₀": math.log10,
    "!": lambda x: math.factorial(int(x)),
    "max": max,
    "min": min,
    "erf": math.erf,
    "floor": math.floor,
    "round": round,
    "argmax": lambda *parts: parts.index(max(parts)),
    "tanh": math.tanh,
    "sin": math.sin,
    "tan": math.tan,
    "cos": math.cos,
    "arccos": math.acos,
    "sign": np.sign,
    "≤": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "not": lambda a: not a,
}
SPOKEN = (
    "an entry of a unit vector",
    "a root of the characteristic polynomial",
    "the root of an eigenvalue",
    "an entry of the inverse",
    "a number of the solution",
)
"""What cells say of entries that no short arithmetic gives."""
WORDS = {"π": math.pi, "masked": -math.inf, "taken": -math.inf, "left out": -math.inf, "used nowhere": 0.0}


def cell_of(node: Node, place: Mapping[str, int], known: Mapping[Node, Array]) -> Cell:
    """How the entry at a place is made; an operand's is itself."""
    if node.op == "input":
        return Literal(entry(node, place, known))
    return node.row.cell(node, place, lambda i, there: entry(node.sources[i], there, known))


def worked(cell: Cell, node: Node, known: Mapping[Node, Array]) -> float:
    """What an entry's cell comes to."""
    if isinstance(cell, Pick):
        return float(entry(node.sources[cell.source], cell.at, known))
    if isinstance(cell, Form):
        return float(SIGNS[cell.sign](*(worked(part, node, known) for part in cell.parts)))
    if node.op == "constant" and node.args["symbol"] == cell.value:
        return float(node.args["value"])
    return float(WORDS.get(cell.value, cell.value))
