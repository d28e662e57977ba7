"""The mistakes of products of matrices; the orders in which eigenvalues may stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from attncalc.graph import Node
from attncalc.mistake import Mistake, NotThere, Rule, Scope, like, parts, right, wrong
from attncalc.ops import concat, part_of


def _entrywise(s: Scope) -> Node:
    A, B = parts(s.this, "matmul")
    return like(A * like(B, A), s.this)


def _turned_round(s: Scope) -> Node:
    A, B = parts(s.this, "matmul")
    return like(like(B, A) @ like(A, B), s.this)


def _in_order(order: Sequence[int]) -> Rule:
    """Eigenvalues, or the columns of their vectors, in another order."""

    def rule(s: Scope) -> Node:
        over = s.this.axes[-1]
        if over.size != len(order):
            raise NotThere(over.name)
        return concat([part_of(s.this, over.name, i, i + 1) for i in order], over.name)

    return rule


ORDERS = [order for size in (2, 3, 4) for order in permutations(range(size)) if order != tuple(range(size))]

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "matmul": (
        wrong(
            "matmul-elementwise",
            "product",
            _entrywise,
            says="A ⊙ B, entry by entry",
            hint="What is multiplied with what: entry with entry, or row with column?",
        ),
        wrong(
            "matmul-order-ba",
            "product",
            _turned_round,
            says="B·A",
            hint="Whose rows are multiplied with whose columns?",
        ),
    ),
    "eigen": tuple(
        right(
            f"eigen-order-{''.join(map(str, order))}",
            "eigenvalues eigenvectors",
            _in_order(order),
            says="another order",
        )
        for order in ORDERS
    ),
}
"""Calculation → its mistakes, the commonest first."""
