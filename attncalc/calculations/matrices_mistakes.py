"""The mistakes of products of matrices."""

from __future__ import annotations

from attncalc.graph import Node
from attncalc.mistake import Mistake, Scope, like, parts, wrong


def _entrywise(s: Scope) -> Node:
    A, B = parts(s.this, "matmul")
    return like(A * like(B, A), s.this)


def _turned_round(s: Scope) -> Node:
    A, B = parts(s.this, "matmul")
    return like(like(B, A) @ like(A, B), s.this)


MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "matmul": (
        wrong(
            "matmul-elementwise",
            "product",
            _entrywise,
            says="A ⊙ B, entry by entry",
            hint="What meets what: an entry an entry, or a row a column?",
        ),
        wrong(
            "matmul-order-ba",
            "product",
            _turned_round,
            says="B·A",
            hint="Whose rows meet whose columns?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
