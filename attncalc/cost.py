"""Graph → FLOPs and bytes, with no values: what a calculation costs, counted from what it would compute.

A multiplication and an addition count one each, so a product [n, k]·[k, m] costs 2·n·k·m. An exponential, a root or
another function of one number counts as one. Moving entries costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from attncalc.axes import Axes
from attncalc.graph import Node, walk

FREE = frozenset(
    (
        *("concat", "constant", "constants", "every_other", "held", "identity", "index", "input", "interleave"),
        *("listed", "lookup", "merge", "one_hot", "rename", "repeat", "safely", "select", "size", "slice", "split"),
        *("spread", "step", "take", "transpose", "where", "whole", "windows"),
    )
)
"""Primitives that move, name or choose entries, and compute none."""


class Cost(NamedTuple):
    """What a part of a graph costs."""

    flops: int
    values: int  # how many numbers its named steps hold: what a backward pass keeps


def entries(axes: Axes) -> int:
    """How many numbers a value with these axes holds."""
    return math.prod(axis.size for axis in axes)


def flops(node: Node) -> int:
    """The floating-point operations of one primitive."""
    if node.op in FREE:
        return 0
    if node.op == "matmul":
        return 2 * entries(node.axes) * node.sources[0].axes[-1].size
    if node.op == "softmax":  # a maximum, a difference, an exponential, a sum and a quotient for each entry
        return 5 * entries(node.axes)
    if node.op == "rotate":  # two products and a sum for each entry
        return 3 * entries(node.axes)
    if node.op in ("sum", "mean", "peak", "log_sum_exp", "gather", "collect", "fold"):
        return entries(node.sources[0].axes)
    return entries(node.axes)


def by_part(roots: Iterable[Node]) -> dict[str, Cost]:
    """Each step's cost, by its key: that of the primitives between it and the steps before it."""
    counted: set[Node] = set()
    costs: dict[str, Cost] = {}
    for node in walk(*roots):
        if node.op == "step":
            inside = _behind(node, counted)
            counted |= inside
            group, name = node.key
            costs[f"{group}/{name}" if group else name] = Cost(sum(map(flops, inside)), entries(node.axes))
    return costs


def parameters(roots: Iterable[Node], names: Iterable[str]) -> int:
    """How many numbers the operands of these names hold."""
    wanted = set(names)
    return sum(entries(node.axes) for node in walk(*roots) if node.op == "input" and node.args["name"] in wanted)


def _behind(step: Node, counted: set[Node]) -> set[Node]:
    """The primitives that a step's own expression holds, up to the steps and operands that it is made of."""
    inside: set[Node] = set()
    stack = list(step.sources)
    while stack:
        node = stack.pop()
        if node.op not in ("step", "input") and node not in inside and node not in counted:
            inside.add(node)
            stack.extend(node.sources)
    return inside
