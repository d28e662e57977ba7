"""Primitives that decompose a matrix: characteristic polynomial, eigenvalues and eigenvectors, singular values.

A stack of matrices is decomposed one by one; ordering.py says how the parts are ordered and signed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, permutations
from math import perm
from typing import Any

import numpy as np

from attncalc.common.errors import DomainError, ShapeError
from attncalc.common.numerals import Array
from attncalc.language import decompose, kernels
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node
from attncalc.language.kernels import has_letters, is_exact
from attncalc.language.ops.basics import (
    beside,
    halfway,
    index,
    inverse,
    keep_where,
    of_one,
    rename,
    spread,
    straight_past,
    total,
)
from attncalc.language.ops.choices import compare_equal
from attncalc.language.ordering import sized
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op, Pick

SAME = 1e-6
"""Polynomials count as the same if their coefficients differ by less than this."""
MOST_TERMS = 720
"""A coefficient that is the sum of more products than this is described in words."""

OTHER = "l"
"""The name of a second axis of eigenvalues or singular values, to form all pairs of them."""
_TURNS = "unit vectors turn the faster, the nearer their values lie to one another"


def _eigenvectors(node: Node, a: Array) -> Array:
    vectors = _part(a, "eigen", 1)
    if node.args:  # they are part of a gradient
        _must_have_slopes(a)
    return vectors


def _not_real(eigenvalue: complex) -> str:
    return f"{_AT_MOST_REAL}: a has the eigenvalue {f'{eigenvalue:.4g}'.replace('j', 'i')}"


def _must_have_slopes(a: Array) -> None:
    """Refuse complex eigenvalues, and equal ones of a matrix that is not symmetric: they have no derivative."""
    values = _part(a, "eigen", 0)
    if is_exact(a):
        if twisted := [value for value in values.flat if value.is_real is False]:
            raise DomainError(_not_real(complex(twisted[0])))
        return
    if values.dtype.kind == "c":
        raise DomainError(_not_real(values[values.imag != 0].flat[0]))
    ordered = np.sort(values, axis=-1)
    meet = np.diff(ordered, axis=-1) <= SAME * np.max(np.abs(values), axis=-1, keepdims=True, initial=0)
    lopsided = (a != np.swapaxes(a, -1, -2)).any(axis=(-2, -1))[..., None]
    if (meet & lopsided).any():
        where = ordered[..., 1:][meet & lopsided].flat[0]
        raise DomainError(
            f"there is no slope where two eigenvalues of a matrix that is not symmetric meet, at {where:.4g}"
        )


_AT_MOST_REAL = "there is a gradient where all eigenvalues are real"


def _eigenvalue_slopes(g: Node, y: Node, node: Node, a: Node, *polynomial: Node) -> list[Node | None]:
    rows, columns = a.names[-2:]
    why = "the directions that are only stretched, one a column, of length 1, in the order of the eigenvalues"
    vectors = halfway("eigenvectors", Node("eigenvectors", a, slopes=True), why)
    undone = halfway("inverse", inverse(vectors), "row i of it times eigenvector i is 1, and times any other one 0")
    across = rename(vectors, rows, columns)
    return [((beside(g, across) * across) @ undone).T, *(None for _ in polynomial)]


def _eigenvector_slopes(g: Node, y: Node, node: Node, a: Node) -> list[Node]:
    rows, columns = a.names[-2:]
    values, vectors = eigenvalues(a), Node("eigenvectors", a, slopes=True)
    k = values.names[-1]
    turned, across = rename(vectors, k, OTHER), rename(vectors, rows, columns)
    slopes = g - vectors * beside(total(beside(g, vectors) * vectors, rows), vectors)
    inside = _apart(values, rename(values, k, OTHER)) * (turned.T @ slopes)
    return [(across @ inside.T @ inverse(turned)).T]


def _apart(values: Node, others: Node) -> Node:
    """1/(v_k − v_l) for all pairs of values, 0 on the diagonal; `others` are the same values along the second axis."""
    k = values.axes[-1]
    both = (*values.axes[:-1], k._replace(name=OTHER), k)
    itself = compare_equal(index(OTHER, both, OTHER), index(k.name, both, k.name))
    apart = spread(values, both) - spread(others, both)
    return keep_where(itself, 0, 1 / keep_where(itself, 1, apart))


def _directions(a: Node) -> tuple[Node, Node, Node]:
    """The three parts of a matrix's singular value decomposition, as steps."""
    left, sizes, right = singular_parts(a)
    return (
        halfway("u", left, "the output directions, one a column, of length 1"),
        halfway("s", sizes, "how far each direction is stretched"),
        halfway("vt", right, "the input directions, one a row, of length 1"),
    )


def _singular_value_slopes(g: Node, y: Node, node: Node, a: Node) -> list[Node]:
    left, _, right = _directions(a)
    return [(beside(g, left) * left) @ right]


def _left_slopes(g: Node, y: Node, node: Node, a: Node) -> list[Node]:
    left, sizes, right = _directions(a)
    return [_turns("u", (left, left.T), (g, g.T), sizes) @ right]


def _right_slopes(g: Node, y: Node, node: Node, a: Node) -> list[Node]:
    left, sizes, right = _directions(a)
    return [left @ _turns("vt", (right.T, right), (g.T, g), sizes).T]


def _turns(name: str, vectors: tuple[Node, Node], g: tuple[Node, Node], sizes: Node) -> Node:
    """The step for the gradient of singular vectors: how they turn within the space that they span, and out of it.

    The vectors and their gradients `g` are each given twice: as columns and as rows.
    """
    k = sizes.names[-1]
    turned, across = rename(vectors[0], k, OTHER), rename(vectors[1], k, OTHER)
    along = across @ g[0]
    why = "entry l, k is 1/(s_k² − s_l²), and 0 where l is k: the nearer two values lie, the faster their vectors turn"
    others = halfway(f"s_{OTHER}", rename(sizes, k, OTHER), "", shown=False)
    apart = halfway("apart", _apart(sizes**2, others**2), why)
    why = "what is gained where direction k turns toward direction l, which stays at right angles to it"
    inside = halfway(f"turn_{name}", apart * (along - rename(g[1], k, OTHER) @ vectors[0]) * sizes, why)
    why = "the turns, in the directions themselves; and what comes back at right angles to all of them"
    return halfway(f"moved_{name}", turned @ inside + (g[0] - turned @ along) / sizes, why)


def _characteristic_polynomial(node: Node, a: Array) -> Array:
    """The coefficients: up to its sign each one is the sum of all principal minors of one size.

    They are written out as products, since formulas with traces lose a small determinant beside large entries.
    """
    if is_exact(a):
        return _each(a, kernels.exact().characteristic_polynomial)
    size = a.shape[-1]
    coefficients = [np.ones(a.shape[:-2], a.dtype)]
    for order in range(1, size + 1):
        signed = (sign * a[..., rows, columns].prod(axis=-1) for sign, rows, columns in _products(size, order))
        coefficients.append(sum(signed, np.zeros_like(coefficients[0])))
    return np.stack(coefficients, axis=-1) + 0  # + 0 makes 0 of −0


def _products(size: int, order: int) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """The terms of the coefficient of λ^(size − order), each as a sign and the rows and columns of its factors."""
    for rows in combinations(range(size), order):
        for columns in permutations(rows):
            inversions = sum(a > b for a, b in combinations(columns, 2))
            yield (-1) ** (inversions + order), rows, columns


def _part(matrices: Array, taken: str, which: int) -> Array:
    """One part of the decomposition `taken` ("eigen" or "svd") of each matrix in a stack."""
    function = getattr(kernels.exact() if is_exact(matrices) else decompose, taken)
    return _each(matrices, lambda matrix: function(matrix)[which])


def _each(matrices: Array, function: Callable[[Array], Array]) -> Array:
    """The function of every matrix in a stack, in double precision; float32 matrices give float32 results."""
    wide = matrices if is_exact(matrices) else matrices.astype(np.float64)
    found = [function(matrix) for matrix in wide.reshape(-1, *matrices.shape[-2:])]
    result = np.stack(found).reshape(*matrices.shape[:-2], *found[0].shape)
    if matrices.dtype == np.float32:
        return result.astype(np.complex64 if result.dtype.kind == "c" else np.float32)
    return result


def _eigenvalues(node: Node, a: Array, polynomial: Array | None = None) -> Array:
    values = _part(a, "eigen", 0)
    if polynomial is None or is_exact(a):
        return values
    true = _characteristic_polynomial(node, a)
    size = np.max(np.abs(true), where=np.isfinite(true), initial=0)  # a determinant may overflow though no root does
    own = np.asarray(np.all(np.isclose(polynomial, true, rtol=SAME, atol=SAME * size, equal_nan=True), axis=-1))
    if own.all():
        return values
    # The given polynomial is another one, or was rounded by hand: its own roots are taken.
    return np.where(own[..., None], values, _roots(polynomial))


def _roots(polynomials: Array) -> Array:
    """The roots of each polynomial, sorted as eigenvalues are; NaN if a leading 0 or a NaN makes them fewer."""
    most = polynomials.shape[-1] - 1
    result = np.full((polynomials.size // (most + 1), most), np.nan, dtype=np.complex128)
    for row, coefficients in zip(result, polynomials.reshape(-1, most + 1), strict=True):
        if np.isfinite(coefficients).all():
            found = np.roots(coefficients)
            row[: len(found)] = found[sized(found)]
    real = result if result.imag.any() else result.real
    return real.reshape(*polynomials.shape[:-1], most)


def _coefficient_cell(node: Node, at: At, look: Look) -> Cell:
    """The cell of a coefficient: the positive products minus the negative ones."""
    (rows, columns), order = node.sources[0].axes[-2:], at[node.names[-1]]
    if perm(rows.size, order) > MOST_TERMS:
        return Literal("a sum of determinants along the diagonal")
    rest = {name: i for name, i in at.items() if name != node.names[-1]}
    signed: tuple[list[Cell], list[Cell]] = ([], [])
    for sign, *places in _products(rows.size, order):
        factors = (Pick(0, {**rest, rows.name: i, columns.name: j}) for i, j in zip(*places, strict=True))
        signed[sign < 0].append(Form("×", tuple(factors)))
    added, taken = (Form("+", tuple(terms)) for terms in signed)
    if not order:
        return Literal(1)
    return Form("−", (added, taken)) if added.parts and taken.parts else Form("neg", (taken,))


def _eigenvalue_cell(node: Node, at: At, look: Look) -> Cell:
    """The quadratic formula if the polynomial is quadratic; else words, since there is no short arithmetic."""
    if len(node.sources) < 2 or node.axes[-1].size != 2:
        return Literal("a root of the characteristic polynomial")
    rest = {name: i for name, i in at.items() if name != node.names[-1]}
    power = node.sources[1].names[-1]
    p, q = (Pick(1, {**rest, power: i}) for i in (1, 2))
    root = Form("√", (Form("−", (Form("^", (p, Literal(2))), Form("×", (Literal(4), q)))),))
    ahead = _quadratic_sign(*(look(1, pick.at) for pick in (p, q)), place=at[node.names[-1]])
    return Form("/", (Form("+" if ahead > 0 else "−", (Form("neg", (p,)), root)), Literal(2)))


def _quadratic_sign(p: Any, q: Any, *, place: int) -> int:
    """The sign, 1 or −1, before the root in the solution that is sorted to this place."""
    if has_letters(np.array([p, q])):
        return -1 if place else 1
    # Python's floats overflow without a warning.
    p, q = (number.item() if isinstance(number, np.generic) else number for number in (p, q))
    roots = [(-float(p) + sign * np.emath.sqrt(float(p * p - 4 * q))) / 2 for sign in (1, -1)]
    return 1 if sized(np.array(roots))[place] == 0 else -1


def _square(a: Axes) -> int:
    if len(a) < 2 or a[-1].size != a[-2].size:
        sizes = " × ".join(str(axis.size) for axis in a[-2:]) or "a single number"
        raise ShapeError(f"only a square matrix has eigenvalues, but it is {sizes}", hint="svd works for any matrix")
    return a[-1].size


def _rank(a: Axes) -> Axis:
    if len(a) < 2:
        raise ShapeError("a matrix is needed")
    return Axis("k", min(a[-2].size, a[-1].size))


def _lost(node: Node) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*node.sources[0].names[-2:], node.names[-1], "power")))


def _multiples(value: Array, given: Array) -> Array:
    """Each column scaled to match the given one at its largest entry, unless that is 0."""
    at = np.argmax(np.abs(given), axis=-2, keepdims=True)
    there, here = (np.take_along_axis(part, at, axis=-2) for part in (given, value))
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = there / here
    return np.where(np.isfinite(factor) & (factor != 0), factor, 1.0) * value


def _turned_along(value: Array, given: Array, *, axis: int) -> Array:
    """Each vector along the axis, with its sign changed if the given one points the other way."""
    return np.where((value * given).sum(axis=axis, keepdims=True) < 0, -value, value)


def _told(words: str) -> Callable[[Node, At, Look], Cell]:
    """A cell in words, for entries without short arithmetic."""
    return lambda node, at, look: Literal(words)


def _row(kernel: Any, axes: Any, words: str, cell: Callable[[Node, At, Look], Cell], **more: Any) -> Op:
    return Op(
        kernel,
        axes,
        words,
        rf"\operatorname{{{{{words.partition(' of ')[0].replace(' ', '~')}}}}}({{0}})",
        cell,
        binds=4,
        takes=(0,),
        mixes=_lost,
        flops=None,  # found by iteration
        **more,
    )


OPS |= {
    "characteristic_polynomial": Op(
        _characteristic_polynomial,
        lambda args, a: (*a[:-2], Axis("power", _square(a) + 1)),
        "det(λ·I − {0})",
        r"\det(\lambda I - {0})",
        _coefficient_cell,
        takes=(3,),
        mixes=_lost,
        no_gradient="what is asked for are its roots, whose slopes come from the matrix itself",
        flops=None,
        in_form_of=lambda value, given: -value if given[..., 0].sum() < 0 else value,  # det(A − λ·I) for det(λ·I − A)
    ),
    "eigenvalues": _row(
        _eigenvalues,
        lambda args, a, *polynomial: (*a[:-2], Axis("k", _square(a))),
        "eigenvalues of {0}",
        _eigenvalue_cell,
        complex=True,
        vjp=_eigenvalue_slopes,
        because=lambda node, source: (
            f"{straight_past(node.sources[1:])}entry i, j moves an eigenvalue by entry j of its vector, times entry i "
            "of its row of the inverse"
        ),
    ),
    "eigenvectors": _row(
        _eigenvectors,
        lambda args, a: (*a[:-1], Axis("k", _square(a))),
        "eigenvectors of {0}",
        _told("an entry of a unit vector v with A·v = λ·v"),
        vjp=_eigenvector_slopes,
        because=_TURNS,
        complex=True,
        in_form_of=_multiples,
    ),
    "left_singular_vectors": _row(
        lambda node, a: _part(a, "svd", 0),
        lambda args, a: (*a[:-1], _rank(a)),
        "left singular vectors of {0}",
        _told("an entry of a unit vector u with Aᵀ·u = s·v"),
        vjp=_left_slopes,
        because=_TURNS,
        in_form_of=partial(_turned_along, axis=-2),
    ),
    "singular_values": _row(
        lambda node, a: _part(a, "svd", 1),
        lambda args, a: (*a[:-2], _rank(a)),
        "singular values of {0}",
        _told("the root of an eigenvalue of Aᵀ·A"),
        vjp=_singular_value_slopes,
        because="entry i, j moves a singular value by u_i·v_j, the product of entries of its two unit vectors",
    ),
    "right_singular_vectors": _row(
        lambda node, a: _part(a, "svd", 2),
        lambda args, a: (*a[:-2], _rank(a), a[-1]),
        "right singular vectors of {0}, as rows",
        _told("an entry of a unit vector v with A·v = s·u"),
        vjp=_right_slopes,
        because=_TURNS,
        in_form_of=partial(_turned_along, axis=-1),
    ),
}


characteristic_polynomial = of_one("characteristic_polynomial")
"""The coefficients of det(λ·I − a), highest power first."""
eigenvectors = of_one("eigenvectors")
"""The eigenvectors of a matrix, as columns, in the order of the eigenvalues."""


def eigenvalues(a: Node, polynomial: Node | None = None) -> Node:
    """The eigenvalues of a, largest first; the roots of `polynomial`, if it is given and not that of a."""
    return Node("eigenvalues", a) if polynomial is None else Node("eigenvalues", a, polynomial)


def singular_parts(a: Node) -> tuple[Node, Node, Node]:
    """u [m, k], s [k] and vt [k, n] with a = u·diag(s)·vt, where k is the smaller side of a."""
    return Node("left_singular_vectors", a), Node("singular_values", a), Node("right_singular_vectors", a)
