"""Mistakes of matrix products and decompositions; and the orders in which eigenvalues may be listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

from attncalc.declare.mistake import Mistake, NotThere, Rule, Scope, alternative, flipped, like, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import compare_equal, concat, index, keep_where, part_of, singular_parts, total


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


def _quadratic(change: Callable[[Node, Node, Node], Node]) -> Rule:
    """The polynomial of a b; c d with other coefficients behind λ², made of −(a + d), a·d − b·c and b·c; its roots."""

    def rule(s: Scope) -> Node:
        if s.step.args["name"] == "eigenvalues":
            return s.this  # the roots follow, in any order
        p, A = s.this, s.a
        over, rows, columns = p.axes[-1], A.axes[-2], A.axes[-1]
        if rows.size != 2:
            raise NotThere("a quadratic")

        def entry(i: int, j: int) -> Node:
            return total(total(part_of(part_of(A, rows.name, i, i + 1), columns.name, j, j + 1)))

        first, second, last = (part_of(p, over.name, i, i + 1) for i in range(3))
        return concat([first, change(second, last, entry(0, 1) * entry(1, 0))], over.name)

    return rule


def _diagonal(s: Scope) -> Node:
    """The entries of the diagonal, of more than two; of two they are the roots of a polynomial without b·c."""
    A, found = s.a, s.this
    rows, columns = A.axes[-2:]
    if rows.size < 3:
        raise NotThere("more than two")
    on = compare_equal(index(columns.name, A.axes, "j"), index(rows.name, A.axes, "i"))
    return like(total(keep_where(on, A, 0), columns.name), found)


def _not_halved(s: Scope) -> Node:
    if s.this.axes[-1].size != 2:
        raise NotThere("a quadratic")
    return 2 * s.this


EIGEN = (
    wrong(
        "eigen-trace-sign",
        "characteristic_polynomial eigenvalues",
        _quadratic(lambda second, last, bc: concat([-second, last], second.names[-1])),
        says="λ² + tr A·λ + det A: the sign of the trace",
        hint="Multiply (λ − a)·(λ − d) out: which sign does the term with λ have?",
    ),
    wrong(
        "eigen-determinant-plus",
        "characteristic_polynomial eigenvalues",
        _quadratic(lambda second, last, bc: concat([second, last + 2 * bc], second.names[-1])),
        says="a·d + b·c in place of the determinant",
        hint="With which sign does b·c stand in a determinant?",
    ),
    wrong(
        "eigen-diagonal",
        "characteristic_polynomial eigenvalues",
        _quadratic(lambda second, last, bc: concat([second, last + bc], second.names[-1])),
        says="the entries of the diagonal: b·c is missing from the determinant",
        hint="Are there only zeros below the diagonal, or above it?",
    ),
    wrong(
        "eigen-diagonal",
        "eigenvalues",
        _diagonal,
        says="the entries of the diagonal",
        hint="Are there only zeros below the diagonal, or above it?",
    ),
    wrong(
        "eigen-not-halved",
        "eigenvalues",
        _not_halved,
        says="−p ± √(p² − 4·q), not divided by 2",
        hint="What does the formula for a quadratic divide by?",
    ),
)

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
    "eigen": EIGEN
    + tuple(
        alternative(
            f"eigen-order-{''.join(map(str, order))}",
            "eigenvalues eigenvectors",
            _in_order(order),
            says="another order",
        )
        for order in ORDERS
    ),
}
"""Calculation → its mistakes, the commonest first."""
