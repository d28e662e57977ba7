"""Matrices: products of several of them, eigenvalues, singular values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from attncalc.common.errors import OptionError, ShapeError
from attncalc.declare.calculation import calculation, same
from attncalc.language.graph import Node, constant, in_exact_numbers, label, output, step
from attncalc.language.ops import (
    characteristic_polynomial,
    eigenvalues,
    eigenvectors,
    index,
    keep_where,
    rename,
    root_of_sum,
    safely,
    singular_parts,
    sqrt,
    total,
)
from attncalc.record.trace import Trace

Factor = Annotated[Node | None, "a further factor"]


@calculation(
    a="m n",
    b="n p",
    c="p q",
    d="q r",
    e="r s",
    f="s t",
    g="t u",
    h="u v",
    laws={
        "the transpose of a product is the product of the transposes, in reverse order": lambda f, a, b: same(
            f(b.T, a.T), f(a, b).result.T
        ),
        "a factor c can be taken out in front": lambda f, a, b, c: same(f(c * a, b), c * f(a, b).result),
        "a sum is multiplied out term by term": lambda f, a, b: same(
            f(a, b + b[::-1]), f(a, b).result + f(a, b[::-1]).result
        ),
    },
    reference="Golub and Van Loan 2013, Matrix Computations, section 1.1; as numpy.linalg.multi_dot",
)
def matmul(
    A: Annotated[Node, "the left matrix"],
    B: Annotated[Node, "the right matrix: as many rows as the left one has columns"],
    C: Factor = None,
    D: Factor = None,
    E: Factor = None,
    F: Factor = None,
    G: Factor = None,
    H: Factor = None,
) -> Node:
    """Multiply matrices: each row of the left one with each column of the right one.

    (m×n)(n×p) → (m×p): the inner sizes must agree. Further factors follow, multiplied from left to right.
    """
    factors = [A, B, C, D, E, F, G, H]
    given = [factor for factor in factors if factor is not None]
    if factors[: len(given)] != given:
        raise OptionError("matmul's factors must be given without a gap: a, b, c, …")
    why = "entry i, j is the dot product of row i of the left factor and column j of the right one"
    product = A
    for i, factor in enumerate(given[1:], start=1):
        last = i == len(given) - 1
        product = step("product" if last else f"product_{i}", product @ factor, why)
    return product


WRITTEN_OUT = 4
"""Up to so many rows the characteristic polynomial is a step; beyond, rounding spoils inexact coefficients."""
NEARLY_DEPENDENT, NEARLY_EQUAL = 1e-7, 1e-4
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _defective(trace: Trace) -> Iterator[str]:
    """A warning where a matrix has too few directions of its own."""
    if all(step.name != "eigenvectors" for step in trace.outputs):  # the trace of a gradient
        return
    vectors = trace["eigenvectors"]
    if vectors.dtype.kind in "fc":
        smallest = np.linalg.svd(np.atleast_2d(vectors), compute_uv=False)[..., -1]  # one row gives one number
        if (smallest < NEARLY_DEPENDENT).any():
            values = trace["eigenvalues"]
            apart = np.abs(values[..., None] - values[..., None, :])
            lost = bool(((apart > 0) & (apart < NEARLY_EQUAL * np.max(np.abs(values)))).any())
            yield (
                "the eigenvectors depend on one another: the matrix is defective, it has fewer directions of its own "
                f"than columns{', and about half of the digits of a repeated eigenvalue may be lost' * lost}"
            )


@calculation(
    a="n m",
    remarks=_defective,
    laws={
        "the eigenvalues sum to the trace": lambda f, a: same(f(a @ a.T).result.sum(), (a @ a.T).trace()),
        "their product is the determinant": lambda f, a: same(f(a @ a.T).result.prod(), np.linalg.det(a @ a.T)),
        "A·v is λ·v": lambda f, a: same((t := f(a @ a.T))["a_v"], t["lambda_v"]),
    },
    reference="Golub and Van Loan 2013, Matrix Computations, chapters 7 and 8",
)
def eigen(A: Annotated[Node, "a square matrix"]) -> tuple[Node, ...]:
    """The directions that a matrix only stretches, and by how much.

    A·v = λ·v. The eigenvectors are the columns of a matrix, of length 1; of the two signs that each may have, it has
    the one with which its largest entry by absolute value is positive. Eigenvalues come by absolute value, largest
    first (of equal ones the positive first, of a pair of complex ones that with the positive imaginary part). Up to
    4 × 4, and of exact matrices of any size, the coefficients of the characteristic polynomial det(λ·I − A) are a step;
    some texts have det(A − λ·I), which is the same times (−1)ⁿ. `a_v` and `lambda_v`, beside the result, are A·v and
    λ·v, column by column: they must agree.
    """
    size, columns = A.axes[-2].size, A.axes[-1].size
    if size != columns:
        raise ShapeError(
            f"only a square matrix has eigenvalues, but a is {size} × {columns}", hint="svd works for any matrix"
        )
    polynomial = None
    if size <= WRITTEN_OUT or in_exact_numbers():
        label("power", ["λ" + str(power).translate(SUPERSCRIPTS) * (power != 1) for power in range(size, -1, -1)])
        polynomial = step(
            "characteristic_polynomial",
            characteristic_polynomial(A),
            "0 where λ·I − A sends some direction to 0: there A just stretches that direction by λ",
        )
    why = (
        "the roots of that polynomial"
        if polynomial
        else "computed without the polynomial, whose roots would lose digits"
    )
    values = step("eigenvalues", eigenvalues(A, polynomial), why, symbol="lambda")
    vectors = step(
        "eigenvectors", eigenvectors(A), "one column for each eigenvalue: A·v = λ·v; any multiple of v would do"
    )
    turned = output("a_v", A @ rename(vectors, "n", "m"), "A times each eigenvector")
    stretched = output("lambda_v", values * vectors, "each eigenvector times its eigenvalue: the same as A·v")
    return values, vectors, turned, stretched


@calculation(
    a="m n",
    laws={
        "u·s·vt is the matrix again": lambda f, a: same(f(a)["rebuilt"], a),
        "the squares of s sum to the squares of all entries": lambda f, a: same((f(a).result ** 2).sum(), (a**2).sum()),
        "the transpose has the same singular values": lambda f, a: same(f(a.T), f(a)),
    },
    reference="Eckart and Young 1936; Golub and Van Loan 2013, Matrix Computations, section 2.4",
)
def svd(
    A: Annotated[Node, "any matrix"],
    *,
    rank: Annotated[int | None, "keep this many singular values: the best approximation of that rank"] = None,
) -> tuple[Node, ...]:
    """Any matrix as a rotation, a stretch along the axes, and another rotation.

    A = u·diag(s)·vt with the singular values s largest first, the columns of u and the rows of vt of length 1 and at
    right angles to one another, as many as the smaller side of A (the "thin" form). The largest entry by absolute value
    of each column of u is positive. `rebuilt`, beside the result, is their product. With a rank r, the approximation
    u·diag(s₁ … s_r, 0 …)·vt lies nearer to A than any other matrix of that rank; the error is the length of the
    difference (Frobenius), √Σ s² over what was left out.
    """
    left, size, right = singular_parts(A)
    u = step("u", left, "the output directions, one a column, turned so that its largest entry is positive")
    why = "how far each direction is stretched: the roots of the eigenvalues of Aᵀ·A; those not 0 count the rank"
    s = step("s", size, why)
    vt = step("vt", right, "the input directions, one a row")
    if rank is None:
        return s, u, vt, output("rebuilt", (u * s) @ vt, "the three multiplied give A again: so one checks them")
    most = s.axes[-1].size
    if not 0 <= rank <= most:
        raise OptionError(f"--rank must be from 0 to {most}, the smaller side of a, not {rank}")
    kept = s if rank == most else keep_where(index("k", s.axes[-1:], "k") < constant(rank, "r", "rank"), s, 0)
    near = step("approximation", (u * kept) @ vt, "the directions that are stretched the most carry most of the matrix")
    missing = A - near
    squares, rows = total(total(missing**2)), root_of_sum(total(missing**2), missing, 2)
    error = step(
        "error",
        safely(sqrt(squares), root_of_sum(total(rows**2), rows, 2), squares),
        "the size of what is missing (Frobenius norm): √Σ s² of the singular values left out",
    )
    return near, error, s, u, vt
