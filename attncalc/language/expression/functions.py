"""The functions and the constants that an expression may name, as graphs and as plain numbers."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable
from typing import NamedTuple

from attncalc.language.graph import Node, as_node, constant
from attncalc.language.ops import (
    absolute,
    arccos,
    cos,
    erf,
    exp,
    log,
    logarithm,
    maximum,
    minimum,
    one_plus_erf,
    pi,
    sigmoid,
    sign,
    sin,
    softplus,
    sqrt,
    tan,
    tanh,
)


class Function(NamedTuple):
    """A function of an expression: its graph, its value at plain numbers, and whether it takes several."""

    graph: Callable[..., Node]
    value: Callable[..., float]
    several: bool = False


def _pairwise(choose: Callable[[Node, Node], Node]) -> Callable[..., Node]:
    def graph(first: Node, *others: Node) -> Node:
        for other in others:
            first = choose(first, other)
        return first

    return graph


def _sigmoid(x: float) -> float:
    return (1 + math.tanh(x / 2)) / 2


FUNCTIONS: dict[str, Function] = {
    "exp": Function(exp, math.exp),
    "log": Function(log, math.log),
    "ln": Function(log, math.log),
    "log2": Function(lambda x: logarithm(x, 2), math.log2),
    "log10": Function(lambda x: logarithm(x, 10), math.log10),
    "sqrt": Function(sqrt, math.sqrt),
    "abs": Function(absolute, math.fabs),
    "sign": Function(sign, lambda x: float((x > 0) - (x < 0))),
    "sin": Function(sin, math.sin),
    "cos": Function(cos, math.cos),
    "tan": Function(tan, math.tan),
    "arccos": Function(arccos, math.acos),
    "acos": Function(arccos, math.acos),
    "tanh": Function(tanh, math.tanh),
    "erf": Function(erf, math.erf),
    "sigmoid": Function(sigmoid, _sigmoid),
    "relu": Function(lambda x: maximum(as_node(0), x), lambda x: max(0.0, x)),
    "softplus": Function(softplus, lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x)))),
    "silu": Function(lambda x: x * sigmoid(x), lambda x: x * _sigmoid(x)),
    "gelu": Function(lambda x: x / 2 * one_plus_erf(x / sqrt(as_node(2))), lambda x: x / 2 * math.erfc(-x / 2**0.5)),
    "max": Function(_pairwise(maximum), max, several=True),
    "min": Function(_pairwise(minimum), min, several=True),
}

CONSTANTS: dict[str, Callable[[], Node]] = {
    "pi": pi,
    "e": lambda: constant(math.e, "e"),
}

RESERVED = frozenset(keyword.kwlist) | {"I", "inf", "infinity", "nan", "oo", "zoo"}
"""Names that mean something else elsewhere, and would be misread as letters of a formula."""
