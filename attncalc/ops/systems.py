"""The primitive of linear systems: the vector that a matrix turns into a given one."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, align, together
from attncalc.cells import At, Form, Literal, Look, along, pick
from attncalc.errors import DomainError, ShapeError
from attncalc.graph import OPS, Node, Op
from attncalc.ops.functions import outer, solve
from attncalc.ops.kernels import is_exact

_DEPENDENT = "the system has no single solution: its columns depend on one another"


def _solve_axes(args: dict[str, Any], matrix: Axes, b: Axes) -> Axes:
    if len(matrix) < 2 or matrix[-1].size != matrix[-2].size or not b or matrix[-2] != b[-1]:
        raise ShapeError("a square system and a right-hand side of the same length are needed")
    together(matrix[:-2], b[:-1])
    return (*max(matrix[:-2], b[:-1], key=len), matrix[-1])


def _solve(node: Node, matrix: Array, b: Array) -> Array:
    """The solution of each system; where many are tried, along an axis without a name, NaN for those that have none."""
    (left, right), leads = (source.axes for source in node.sources), node.axes[:-1]
    matrix, b = align(matrix, left, leads + left[-2:]), align(b, right, leads + right[-1:])
    if is_exact(matrix, b):
        return np.asarray(np.vectorize(_solve_exactly, signature="(i,j),(i)->(j)", otypes=[object])(matrix, b))
    one, stacked = np.eye(matrix.shape[-1]), matrix.ndim > len(leads) + 2 or b.ndim > len(leads) + 1
    limits, largest = np.finfo(matrix.dtype), np.max(np.abs(matrix), axis=(-2, -1))
    unfit = ~(largest < limits.max) | ((largest > 0) & (largest < limits.tiny))
    if unfit.any() and not stacked:
        raise DomainError("the system has no solution in floating point: its entries overflow or nearly vanish")
    matrix = np.where(unfit[..., None, None], one, matrix)
    dependent = np.linalg.matrix_rank(matrix) < len(one)
    if dependent.any() and not stacked:
        raise DomainError(_DEPENDENT)
    # LAPACK's single precision is not worth its rounding in systems this small.
    wide = np.where(dependent[..., None, None], one, matrix).astype(np.float64)
    found = np.linalg.solve(wide, b[..., None].astype(np.float64))[..., 0].astype(b.dtype)
    return np.where((unfit | dependent)[..., None], np.nan, found)


def _solve_exactly(matrix: Array, b: Array) -> Array:
    import sympy  # only where exact numbers are at work

    from attncalc.ops.closed_forms import vanishes

    system = sympy.Matrix(matrix)
    # Columns of letters that are no multiples of one another are none for these primes either.
    primes = {letter: sympy.prime(100 + i) for i, letter in enumerate(sorted(system.free_symbols, key=str))}
    if system.subs(primes).rank(iszerofunc=vanishes) < system.rows:
        raise DomainError(_DEPENDENT)
    return np.array(system.LUsolve(sympy.Matrix(b)).tolist(), dtype=object)[:, 0]


def _solve_cell(node: Node, at: At, look: Look) -> Form:
    """A row of the inverse times the right-hand side."""
    row, (unknown, size) = node.sources[1].names[-1], node.axes[-1][:2]
    turned = np.array(
        [[look(0, pick(node, 0, {**at, row: i, unknown: j}).at) for i in range(size)] for j in range(size)]
    )
    chosen = np.array([int(j == at[unknown]) for j in range(size)])
    inverse = _solve_exactly(turned, chosen) if is_exact(turned) else np.linalg.solve(turned, chosen)
    return Form("+", tuple(Form("×", (Literal(x), y)) for x, y in zip(inverse, along(node, row, at, 1), strict=True)))


OPS |= {
    "solve": Op(
        _solve,
        _solve_axes,
        "{0}⁻¹·{1}",
        "{0}^{{-1}} {1}",
        _solve_cell,
        binds=2,
        takes=(0, 1),
        vjp=lambda g, y, node, a, b: [-outer(solve(a.T, g), y), solve(a.T, g)],
        because="the transposed system carries the gradient back",
        mixes=lambda node: node.sources[0].names[-2:],
        flops=None,
    ),
}
