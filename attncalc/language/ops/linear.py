"""Linear algebra: products, transposes, outer products, the solution of a system of equations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from attncalc.common.errors import DomainError, ShapeError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.language import kernels
from attncalc.language.axes import Axes, Axis, align, names, together, unique, without
from attncalc.language.graph import Node
from attncalc.language.kernels import is_exact
from attncalc.language.ops.basics import (
    along,
    because_of_factors,
    called,
    entrywise,
    halfway,
    moved,
    moving,
    outer,
    pick,
    rename,
    same_along,
    solve,
    spread,
    total,
)
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op


class _Product(NamedTuple):
    """The axes of a product: the inner one, which is summed, the rows, the columns, and leading axes of both factors.

    The right factor is a matrix if its second to last axis is the inner one. It is a vector if its last axis is the
    inner one and the left factor also has all the axes before that.
    """

    inner: str
    rows: Axes  # () where the left factor is a vector
    columns: Axes  # () where the right factor is a vector
    leads: Axes


@lru_cache(maxsize=512)  # every evaluation of a product asks, and the problems of a class have the same shapes
def _product(a: Axes, b: Axes) -> _Product:
    if not a or not b:
        raise ShapeError("a product of matrices needs vectors or matrices on both sides")
    inner = a[-1]
    vector = len(b) == 1 or (b[-1].name == inner.name and set(names(b[:-1])) <= set(names(a[:-2])))
    against = b[-1] if vector else b[-2]
    if inner.name != against.name or inner.size != against.size:
        raise _clash(a, b, inner, against)
    columns = () if vector else b[-1:]
    rows = a[-2:-1] if len(a) > 1 and a[-2].name not in names(b) else ()
    leads = together(a[: len(a) - 1 - len(rows)], b[: len(b) - 1 - len(columns)])
    return _Product(inner.name, rows, columns, leads)


def _clash(a: Axes, b: Axes, inner: Axis, against: Axis) -> ShapeError:
    left, right = "×".join(str(x.size) for x in a[-2:]), "×".join(str(x.size) for x in b[-2:])
    if inner.name == against.name:
        return ShapeError(f"the inner sizes must agree, (m×n)(n×p) → (m×p), and here they are ({left})({right})")
    return ShapeError(f"the inner axes must be the same, but {inner.name} is not {against.name}")


def _matmul_axes(args: dict[str, Any], a: Axes, b: Axes) -> Axes:
    product = _product(a, b)
    return unique(product.leads + product.rows + product.columns)


def _matmul(node: Node, a: Array, b: Array) -> Array:
    left, right = (source.axes for source in node.sources)
    product = _product(left, right)
    inner = left[-1:]
    a = align(a, left, product.leads + product.rows + inner) if product.rows else align(a, left, product.leads + inner)
    b = align(b, right, product.leads + inner + product.columns)
    if not product.rows:
        a = a[..., None, :]
    if not product.columns:
        b = b[..., None]
    value = kernels.product(a, b)
    if not product.columns:
        value = value[..., 0]
    if not product.rows:
        value = value[..., 0, :] if product.columns else value[..., 0]
    return np.asarray(value)


def _matmul_latex(node: Node, a: str, b: str) -> str:
    between = r" \cdot " if r"\text" in a + b else " "  # words side by side would run together
    return f"{a}{between}{b}"


def _matmul_cell(node: Node, at: At, look: Look) -> Form:
    inner = node.sources[0].axes[-1].name
    pairs = zip(along(node, inner, at, 0), along(node, inner, at, 1), strict=True)
    return Form("+", tuple(Form("×", pair) for pair in pairs))


def _matmul_vjp(g: Node, y: Node, node: Node, a: Node, b: Node) -> Sequence[Node]:
    product = _product(a.axes, b.axes)
    to_a = g @ b.T if product.columns else outer(g, b) if product.rows else g * b
    if product.rows:
        return [to_a, a.T @ g if product.columns else g @ a]
    return [to_a, outer(a, g) if product.columns else g * a]


def _matmul_transposed(node: Node) -> Node | None:
    """The transpose of a product, (A·B)ᵀ = Bᵀ·Aᵀ; None if a factor is a vector."""
    a, b = node.sources
    return b.T @ a.T if min(len(a.axes), len(b.axes)) >= 2 else None


def _products(node: Node, a: Node, b: Node) -> Node | None:
    """A matrix product as a sum of elementwise products; None if the axes of its factors do not allow that."""
    inner = a.axes[-1]
    whole = (*(axis for axis in node.axes if axis.name in names(a.axes)), inner)
    whole += tuple(axis for axis in node.axes if axis not in whole)
    if len(set(names(whole))) < len(whole) or not {*names(a.axes), *names(b.axes)} <= set(names(whole)):
        return None
    summed = total(spread(a, whole) * spread(b, whole), inner.name)
    return summed if names(summed.axes) == node.names else spread(summed, node.axes)


def _swapped(args: dict[str, Any], a: Axes) -> Axes:
    if len(a) < 2:
        raise ShapeError("only a matrix can be transposed")
    return (*a[:-2], a[-1], a[-2])


def _product_because(node: Node, source: int) -> str:
    """Why a factor gets its gradient: the sum over all places that use an entry, weighted by the other factor."""
    own, other = (called(node.sources[i]) for i in (source, 1 - source))
    if not (places := same_along(node, source)):
        return because_of_factors(node, source)
    it, by = own or ("the left factor", "the right factor")[source], other or "the other factor"
    used = f"each entry of {it} is used at every place of {places}"
    return f"{used}: what comes back from there is weighted by {by} and added up"


def _outer_parts(a: Axes, b: Axes) -> tuple[Axes, Axes, Axes]:
    shared = tuple(axis for axis in a if axis.name in names(b))
    return shared, without(a, *names(shared)), without(b, *names(shared))


def _outer_axes(args: dict[str, Any], a: Axes, b: Axes) -> Axes:
    shared, left, right = _outer_parts(a, b)
    together(shared, tuple(axis for axis in b if axis.name in names(shared)))
    return shared + left + right


def _outer(node: Node, a: Array, b: Array) -> Array:
    (left, right), target = (source.axes for source in node.sources), node.axes
    return np.asarray(align(a, left, target) * align(b, right, target))


def _outer_vjp(g: Node, y: Node, node: Node, a: Node, b: Node) -> Sequence[Node]:
    if len(a.axes) == len(b.axes) == 1 and a.names != b.names:
        return [g @ b, a @ g]
    return [g * b, g * a]


OPS |= {
    "matmul": Op(
        _matmul,
        _matmul_axes,
        "{0}·{1}",
        _matmul_latex,
        _matmul_cell,
        binds=2,
        takes=(2, 1),
        sign="·",
        vjp=_matmul_vjp,
        because=_product_because,
        about="Entry [i,j] is row i of the left and column j of the right, multiplied entry by entry and added up. So "
        "the inner sizes must agree, that axis is gone afterwards, and in general A·B is not B·A.",
        mixes=lambda node: (node.sources[0].axes[-1].name,),
        flops=2,
        places=lambda node: (*node.axes, node.sources[0].axes[-1]),
        adds=True,
        terms=_matmul,
        by_hand=_products,
        transposed=_matmul_transposed,
    ),
    "transpose": moving(
        lambda node, a: np.swapaxes(a, -1, -2),
        _swapped,
        "{0}ᵀ",
        r"{0}^\top",
        moved,
        binds=1,
        takes=(0,),
        vjp=lambda g, y, node, a: [g.T],
        transposed=lambda node: node.sources[0],
        about="Rows become columns: the entry at [i,j] moves to [j,i]. A transpose is the inverse only if the columns "
        "have length 1 and are orthogonal to one another.",
        view=True,
    ),
    "outer": Op(
        _outer,
        _outer_axes,
        "{0} ⊗ {1}",
        r"{0} \otimes {1}",
        entrywise("×"),
        binds=2,
        takes=(1, 1),
        sign="⊗",
        vjp=_outer_vjp,
        because=_product_because,
        about="Every entry of the one times every entry of the other: the sizes need not agree, and nothing is added "
        "up.",
        doubled="outer",
    ),
}


MOST_UNKNOWNS = 3
"""With more unknowns the arithmetic of a solution fills a page."""
_DEPENDENT = "the system has no single solution: its columns depend on one another"


def _solve_axes(args: dict[str, Any], matrix: Axes, b: Axes) -> Axes:
    if len(matrix) < 2 or matrix[-1].size != matrix[-2].size or not b or matrix[-2] != b[-1]:
        raise ShapeError("a square system and a right-hand side of the same length are needed")
    together(matrix[:-2], b[:-1])
    return (*max(matrix[:-2], b[:-1], key=len), matrix[-1])


def _solve(node: Node, matrix: Array, b: Array) -> Array:
    """The solution of each system; if many are tried, along an unnamed axis, NaN for those without a solution."""
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
    found: Array | None = kernels.exact().solve(matrix, b)
    if found is None:
        raise DomainError(_DEPENDENT)
    return found


def _solve_cell(node: Node, at: At, look: Look) -> Cell:
    """Cramer's rule for a few unknowns; a phrase for more, which have no short arithmetic."""
    row, (unknown, size) = node.sources[1].names[-1], node.axes[-1][:2]
    matrix = [[pick(node, 0, {**at, row: i, unknown: j}) for j in range(size)] for i in range(size)]
    right = along(node, row, at, 1)
    if size > MOST_UNKNOWNS:
        for source, entries in ((0, chain(*matrix)), (1, iter(right))):  # so that the caller sees which entries it uses
            for entry in entries:
                look(source, entry.at)
        return Literal(f"a number of the solution of {size} equations")
    there = [[right[i] if j == at[unknown] else entry for j, entry in enumerate(line)] for i, line in enumerate(matrix)]
    return Form("/", (_determinant(there), _determinant(matrix)))


def _determinant(matrix: Sequence[Sequence[Cell]]) -> Cell:
    """The determinant of a small matrix, expanded along its first row."""
    if len(matrix) < 2:
        return matrix[0][0] if matrix else Literal(1)
    found, *others = (Form("×", (entry, _determinant(_without(matrix, 0, j)))) for j, entry in enumerate(matrix[0]))
    for j, term in enumerate(others):
        found = Form("+" if j % 2 else "−", (found, term))
    return found


def _without(matrix: Sequence[Sequence[Cell]], row: int, column: int) -> list[list[Cell]]:
    """A matrix without a row and a column."""
    return [[entry for j, entry in enumerate(line) if j != column] for i, line in enumerate(matrix) if i != row]


def _solve_vjp(g: Node, y: Node, node: Node, a: Node, b: Node) -> list[Node]:
    matrix = called(a) or "the matrix"
    why = (
        f"the solution moves with the right side by the inverse of {matrix}: back it goes through the transpose of that"
    )
    back = halfway("carried_back", solve(a.T, g), why)
    return [-outer(back, y), back]


def _solve_because(node: Node, source: int) -> str:
    matrix = called(node.sources[0]) or "the matrix"
    if source:
        return f"the right side gets what was carried back through {matrix}"
    return f"where {matrix} grows, the solution shrinks: minus what comes back, times each entry of the solution"


def _inverse_axes(args: dict[str, Any], a: Axes) -> Axes:
    if len(a) < 2 or a[-1].size != a[-2].size:
        raise ShapeError("only a square matrix has an inverse")
    return (*a[:-2], a[-1], a[-2])


def _inverse(node: Node, a: Array) -> Array:
    """The inverse of each matrix; if many are tried, along an unnamed axis, NaN for those without one."""
    one = np.eye(a.shape[-1], dtype=int)
    if is_exact(a):
        columns = np.vectorize(_solve_exactly, signature="(i,j),(i)->(j)", otypes=[object])(a[..., None, :, :], one)
        return np.asarray(np.swapaxes(columns, -1, -2))
    dependent = np.linalg.matrix_rank(a) < len(one)
    if dependent.any() and a.ndim == len(node.axes):
        raise DomainError("the matrix has no inverse: its columns depend on one another")
    found = np.linalg.inv(np.where(dependent[..., None, None], one, a.astype(np.float64))).astype(a.dtype)
    return np.where(dependent[..., None, None], np.nan, found)


def _inverse_cell(node: Node, at: At, look: Look) -> Cell:
    """An entry of the inverse: the cofactor of the transposed place over the determinant."""
    (row, column), size = node.sources[0].names[-2:], node.axes[-1].size
    if size > MOST_UNKNOWNS:
        return Literal("an entry of the inverse")
    matrix = [[pick(node, 0, {**at, row: i, column: j}) for j in range(size)] for i in range(size)]
    rest = _determinant(_without(matrix, at[row], at[column]))
    return Form("/", (Form("neg", (rest,)) if (at[row] + at[column]) % 2 else rest, _determinant(matrix)))


def _inverse_vjp(g: Node, y: Node, node: Node, a: Node) -> list[Node]:
    columns, rows = y.names[-2:]
    inner, outside = f"{columns}'", f"{rows}'"
    slopes = rename(rename(g, columns, inner), rows, outside)
    return [-(rename(y.T, columns, inner) @ slopes @ rename(y.T, rows, outside))]


OPS |= {
    "solve": Op(
        _solve,
        _solve_axes,
        "{0}⁻¹·{1}",
        "{0}^{{-1}} {1}",
        _solve_cell,
        binds=2,
        takes=(0, 1),
        sign="·",
        vjp=_solve_vjp,
        because=_solve_because,
        mixes=lambda node: node.sources[0].names[-2:],
        flops=None,
    ),
    "inverse": Op(
        _inverse,
        _inverse_axes,
        "{0}⁻¹",
        "{0}^{{-1}}",
        _inverse_cell,
        binds=1,
        takes=(0,),
        vjp=_inverse_vjp,
        because="where a matrix moves, its inverse moves the other way, seen through the inverse on both sides",
        mixes=lambda node: node.sources[0].names[-2:],
        flops=None,
    ),
}
