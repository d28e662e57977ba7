"""The mistakes of products of matrices and of their decompositions; the orders in which eigenvalues may stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from attncalc.graph import Node
from attncalc.mistake import Mistake, NotThere, Rule, Scope, flipped, like, parts, right, wrong
from attncalc.ops import concat, part_of, singular_parts, total


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


def _of_transpose(s: Scope) -> Node:
    """U or Vᵀ of Aᵀ, which is V or Uᵀ of A."""
    A = s.a
    square = A.shape[-2] == A.shape[-1]
    u, _, vt = singular_parts(like(A.T, A) if square else A.T)
    return u if s.step.args["name"] == "u" else vt


def _largest_left_out(s: Scope) -> Node:
    rank, k = s.options["rank"], s.s.axes[-1]
    if not 0 <= rank < k.size - 1:
        raise NotThere("several left out")
    return total(part_of(s.s, k.name, rank, rank + 1))


SVD = (
    wrong(
        "svd-not-rooted",
        "s",
        lambda s: s.this**2,
        says="the eigenvalues of Aᵀ·A, of which no root was taken",
        hint="How far does A stretch, and how far do A and then Aᵀ?",
    ),
    wrong(
        "svd-v-not-transposed",
        "vt",
        lambda s: flipped(s.this),
        says="V in place of Vᵀ",
        hint="Do the directions stand in the rows, or in the columns?",
    ),
    wrong(
        "svd-u-v-swapped",
        "u vt",
        _of_transpose,
        says="U and V are exchanged: those of Aᵀ",
        hint="Which directions belong to what goes into A, and which to what comes out?",
    ),
    wrong(
        "svd-error-not-rooted",
        "error",
        lambda s: s.this**2,
        says="the sum of the squares, without the root",
        hint="Is that a length, or its square?",
    ),
    wrong(
        "svd-error-spectral",
        "error",
        _largest_left_out,
        says="the largest singular value left out: the error in the spectral norm",
        hint="Which norm was asked for?",
        kind="convention",
    ),
)

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
    "svd": SVD,
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
