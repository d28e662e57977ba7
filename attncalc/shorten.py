"""Graph → the same graph without what changes nothing: factors 1, terms 0, double signs, numbers left unmultiplied.

A backward pass is written by rules that do not look around, and it starts from ∂L/∂L = 1: what they make of a slope
that is 2·x reads `1·(2·x) + 0`. The rules here look at one primitive at a time, from the sources on, and stop at named
steps; they bring signs and numbers to the front, multiply those out, and leave everything else as it was written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from fractions import Fraction

from attncalc.axes import together
from attncalc.graph import Node, as_node
from attncalc.ops import spread

FEW_DIGITS = 12
"""Numbers are multiplied out as long as the product has so few digits that a reader sees where it is from."""


def shortened(root: Node, leaves: Collection[Node] = ()) -> Node:
    """The expression as a person would write it, up to steps and `leaves`; the steps of a backward pass are opened."""
    new: dict[Node, Node] = {}
    for node in _expression(root, leaves):
        if _is_leaf(node, leaves):
            new[node] = node
            continue
        sources = [new[source] for source in node.sources]
        if node.op == "step":
            new[node] = sources[0]
        elif node.op in _RULES:
            new[node] = spread(_RULES[node.op](*sources), node.axes)
        else:
            new[node] = node if sources == [*node.sources] else Node(node.op, *sources, **node.args)
    return new[root]


def _is_leaf(node: Node, leaves: Collection[Node]) -> bool:
    return not node.sources or node in leaves or (node.op == "step" and node.args["of"] is None)


def _expression(root: Node, leaves: Collection[Node]) -> list[Node]:
    """The nodes of the expression, sources first."""
    seen: set[Node] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(() if _is_leaf(node, leaves) else node.sources)
    return sorted(seen, key=lambda node: node.serial)


def _number(node: Node) -> Fraction | None:
    """The number that a node is, by the digits that it is written with; one with a name of its own is none."""
    while node.op == "spread":
        node = node.sources[0]
    if node.op != "constant" or node.args["symbol"] or not math.isfinite(node.args["value"]):
        return None
    return Fraction(str(node.args["value"]))


def _written(value: Fraction) -> Node | None:
    """A number in a formula, if it has few digits."""
    if abs(value) >= 10**FEW_DIGITS:
        return None
    if value.denominator == 1:
        return as_node(int(value))
    short = float(value)
    return as_node(short) if Fraction(repr(short)) == value and len(repr(short)) <= FEW_DIGITS else None


def _positive(node: Node) -> tuple[bool, Node]:
    """Whether a minus stands in front, and what is behind it."""
    value = _number(node)
    if value is not None and value < 0:
        return True, _negative(node)
    return (True, node.sources[0]) if node.op == "neg" else (False, node)


def _negative(a: Node) -> Node:
    value = _number(a)
    if value is not None:
        return as_node(int(-value)) if value.denominator == 1 else as_node(-float(value))
    if a.op == "neg":
        return a.sources[0]
    return a.sources[1] - a.sources[0] if a.op == "sub" else Node("neg", a)


def _sum(*terms: Node) -> Node:
    kept = [term for term in terms if _number(term) != 0]
    if len(kept) > 2:
        return Node("add", *kept)
    if len(kept) < 2:
        return kept[0] if kept else as_node(0)
    (minus_a, a), (minus_b, b) = map(_positive, kept)
    if minus_b:
        return _difference(kept[0], b)
    return _difference(b, a) if minus_a else _folded(kept[0], b, 1) or kept[0] + b


def _difference(a: Node, b: Node) -> Node:
    minus, size = _positive(b)
    if _number(a) == 0:
        return _negative(b)
    if _number(b) == 0:
        return a
    return _sum(a, size) if minus else _folded(a, b, -1) or a - b


def _folded(a: Node, b: Node, sign: int) -> Node | None:
    left, right = _number(a), _number(b)
    return None if left is None or right is None else _written(left + sign * right)


def _product(a: Node, b: Node) -> Node:
    left, right = _number(a), _number(b)
    if 0 in (left, right):
        return as_node(0)
    if left == 1 or right == 1:
        return b if left == 1 else a
    (minus_a, a), (minus_b, b) = _positive(a), _positive(b)
    if minus_a or minus_b:
        size = _product(a, b)
        return size if minus_a == minus_b else _negative(size)
    if right is not None and left is None:  # numbers stand in front
        a, b, left, right = b, a, right, left
    if left is not None:
        inner = b.sources[0] if b.op == "mul" else b
        number = _number(inner)
        front = None if number is None else _written(left * number)
        if front is not None:
            return _product(front, b.sources[1]) if b.op == "mul" else front
    elif b.op == "mul" and _number(b.sources[0]) is not None:
        return _product(b.sources[0], _product(a, b.sources[1]))
    if a.op in ("div", "ratio") and _number(a.sources[0]) is not None:  # 1/n of something is that over n
        return _quotient(_product(a.sources[0], b), a.sources[1])
    return a * b


def _quotient(a: Node, b: Node) -> Node:
    top, bottom = _number(a), _number(b)
    if top == 0 and bottom != 0:
        return as_node(0)
    if bottom == 1:
        return a
    (minus_a, a), (minus_b, b) = _positive(a), _positive(b)
    if minus_a or minus_b:
        size = _quotient(a, b)
        return size if minus_a == minus_b else _negative(size)
    folded = _written(top / bottom) if top is not None and bottom else None
    return folded or a / b


def _power(a: Node, p: Node) -> Node:
    return a if _number(p) == 1 else a**p


_RULES: dict[str, Callable[..., Node]] = {
    "neg": _negative,
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _quotient,
    "pow": _power,
}
