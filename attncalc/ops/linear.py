"""Primitives of linear algebra: products, transposes, outer products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, Axis, align, names, together, unique, without
from attncalc.cells import At, Form, Look, along, entrywise, moved
from attncalc.errors import ShapeError
from attncalc.graph import OPS, Node, Op
from attncalc.ops import kernels
from attncalc.ops.functions import outer


class _Product(NamedTuple):
    """How a product reads its factors: which axis is summed, which are rows and columns, which only accompany.

    A right factor is a matrix if its last axis but one is the inner one; it is a vector, for each place of axes that
    accompany it, if the inner one is its last and the left factor is accompanied by the same axes.
    """

    inner: str
    rows: Axes  # () where the left factor is a vector
    columns: Axes  # () where the right factor is a vector
    leads: Axes


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


def _swapped(args: dict[str, Any], a: Axes) -> Axes:
    if len(a) < 2:
        raise ShapeError("only a matrix can be transposed")
    return (*a[:-2], a[-1], a[-2])


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
        vjp=_matmul_vjp,
        because="each factor of a product gets the gradient times the other factor, transposed",
        about="Entry [i,j] is row i of the left and column j of the right, multiplied entry by entry and added up. So "
        "the inner sizes must agree, that axis is gone afterwards, and in general A·B is not B·A.",
        mixes=lambda node: (node.sources[0].axes[-1].name,),
        flops=2,
        places=lambda node: (*node.axes, node.sources[0].axes[-1]),
        adds=True,
        terms=_matmul,
    ),
    "transpose": Op(
        lambda node, a: np.swapaxes(a, -1, -2),
        _swapped,
        "{0}ᵀ",
        r"{0}^\top",
        moved,
        binds=1,
        takes=(0,),
        vjp=lambda g, y, node, a: [g.T],
        about="Rows become columns: the entry at [i,j] moves to [j,i]. A transpose is the inverse only if the columns "
        "have length 1 and are orthogonal to one another.",
        flops=0,
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
        vjp=_outer_vjp,
        because="each vector gets the gradient's products with the other vector, summed",
        about="Every entry of the one times every entry of the other: the sizes need not agree, and nothing is added "
        "up.",
    ),
}
