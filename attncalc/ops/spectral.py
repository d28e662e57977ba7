"""Primitives that take a matrix apart: characteristic polynomial, eigenvalues and eigenvectors, singular values.

Vectors have unit length and their largest entry by absolute value is positive (of several, the first); values are
sorted by their size, largest first. A stack of matrices is worked one matrix at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import numpy as np

from attncalc.axes import Axes, Axis
from attncalc.cells import At, Cell, Form, Literal, Look, Pick
from attncalc.errors import DomainError, ShapeError
from attncalc.graph import OPS, Node, Op
from attncalc.ops.kernels import Array, is_exact

TIE = 1e-10
"""Sizes that differ by less, relative to the largest, are equal: rounding does not decide an order or a sign."""

_NO_SLOPE = "eigenvalues and singular values have no slope where two of them meet, and the vectors jump there"


def sized(values: Array) -> list[int]:
    """The order from the largest to the smallest; among equal sizes by real part, then by imaginary part."""
    sizes = np.abs(values)
    slack = TIE * np.max(sizes, initial=0.0)
    by_size = np.argsort(-sizes, kind="stable").tolist()
    order: list[int] = []
    while by_size:
        equal = [i for i in by_size if sizes[by_size[0]] - sizes[i] <= slack]
        order += sorted(equal, key=lambda i: (-values[i].real, -values[i].imag))
        by_size = by_size[len(equal) :]
    return order


def turned(vectors: Array) -> Array:
    """What to multiply each column by, so that its largest entry becomes positive."""
    sizes = np.abs(vectors)
    largest = np.argmax(sizes >= (1 - TIE) * sizes.max(axis=0), axis=0)
    entries = np.take_along_axis(vectors, largest[None], axis=0)[0]
    return np.asarray(np.conj(entries) / np.abs(entries))


def _eigen(matrix: Array) -> tuple[Array, Array]:
    if is_exact(matrix):
        from attncalc.ops import closed_forms

        return closed_forms.eigen(matrix)
    try:
        values, vectors = np.linalg.eigh(matrix) if np.array_equal(matrix, matrix.T) else np.linalg.eig(matrix)
    except np.linalg.LinAlgError as error:
        raise DomainError(f"the eigenvalues were not found: {error}") from None
    order = sized(values)
    values, vectors = values[order], vectors[:, order]
    if not _is_triangular(matrix):  # there, the diagonal holds the eigenvalues to the last digit, however small
        values = _without_dust(values, len(matrix) * np.max(np.abs(values), initial=0.0))
    if values.dtype.kind == "f" and vectors.dtype.kind == "c":
        vectors = _real_parts(vectors)
    return values, _cleaned(matrix, values, vectors * turned(vectors))


def _real_parts(vectors: Array) -> Array:
    """Real vectors for real eigenvalues that rounding had made a complex pair: its real and its imaginary part."""
    real, imaginary = vectors.real.copy(), vectors.imag
    second = np.flatnonzero(imaginary.any(axis=0))[1::2]
    real[:, second] = imaginary[:, second]
    return np.asarray(real / np.linalg.norm(real, axis=0))


def _cleaned(matrix: Array, values: Array, vectors: Array) -> Array:
    """The eigenvectors with 0 for entries that are dust, where that fits the matrix no worse."""

    def residual(columns: Array) -> Array:
        return np.asarray(np.linalg.norm(matrix @ columns - columns * values, axis=0))

    clean = _without_dust(vectors, len(matrix))
    slack = len(matrix) * np.finfo(matrix.dtype).eps * np.abs(values)
    return np.where(residual(clean) <= 2 * residual(vectors) + slack, clean, vectors)


def _svd(matrix: Array) -> tuple[Array, Array, Array]:
    if is_exact(matrix):
        from attncalc.ops import closed_forms

        return closed_forms.svd(matrix)
    try:
        u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError as error:
        raise DomainError(f"the singular values were not found: {error}") from None
    signs = turned(u)
    u, vt = u * signs, vt * signs[:, None]
    zero = s <= max(matrix.shape) * np.finfo(s.dtype).eps * s.max()
    if not _is_diagonal(matrix):
        s = np.where(zero, 0, s)
        u, vt = _without_dust(u, len(matrix)), _without_dust(vt, len(matrix))
    free = turned(vt.T)[:, None]  # a singular value of 0 ties its two vectors to nothing: each has a sign of its own
    return u, s, np.where(zero[:, None], vt * free, vt)


def _without_dust(values: Array, size: float) -> Array:
    """The values with 0 for real and imaginary parts that rounding alone can have made, beside numbers of this size."""
    dust = size * np.finfo(values.dtype).eps
    if values.dtype.kind == "f":
        return np.where(np.abs(values) <= dust, 0, values)
    real, imaginary = (np.where(np.abs(part) <= dust, 0, part) for part in (values.real, values.imag))
    return np.asarray(real + 1j * imaginary) if imaginary.any() else real


def _is_triangular(matrix: Array) -> bool:
    return not np.tril(matrix, -1).any() or not np.triu(matrix, 1).any()


def _is_diagonal(matrix: Array) -> bool:
    return not np.tril(matrix, -1).any() and not np.triu(matrix, 1).any()


def _each(matrices: Array, function: Callable[[Array], Array]) -> Array:
    """The function of every matrix of a stack, in double precision; single precision is brought back at the end."""
    wide = matrices if is_exact(matrices) else matrices.astype(np.float64)
    found = [function(matrix) for matrix in wide.reshape(-1, *matrices.shape[-2:])]
    result = np.stack(found).reshape(*matrices.shape[:-2], *found[0].shape)
    if matrices.dtype == np.float32:
        return result.astype(np.complex64 if result.dtype.kind == "c" else np.float32)
    return result


def _characteristic_polynomial(node: Node, a: Array) -> Array:
    """Faddeev and LeVerrier: each coefficient is a trace, and the traces give the next matrix."""
    if is_exact(a):
        from attncalc.ops import closed_forms

        return _each(a, closed_forms.characteristic_polynomial)
    size = a.shape[-1]
    coefficients, matrix = [np.ones(a.shape[:-2], a.dtype)], np.zeros_like(a)
    for k in range(1, size + 1):
        matrix = a @ matrix + coefficients[-1][..., None, None] * np.eye(size, dtype=a.dtype)
        coefficients.append(-np.trace(a @ matrix, axis1=-2, axis2=-1) / k)
    return np.stack(coefficients, axis=-1) + 0  # + 0 makes 0 of −0


def _eigenvalues(node: Node, a: Array, polynomial: Array | None = None) -> Array:
    values = _each(a, lambda matrix: _eigen(matrix)[0])
    if polynomial is None or is_exact(a):
        return values
    true = _characteristic_polynomial(node, a)
    if np.allclose(polynomial, true, rtol=1e-6, atol=1e-6 * np.max(np.abs(true))):
        return values
    return _roots(np.broadcast_to(polynomial, true.shape))  # another polynomial was given: its roots are followed


def _roots(polynomials: Array) -> Array:
    found = [np.roots(coefficients) for coefficients in polynomials.reshape(-1, polynomials.shape[-1])]
    sorted_ = np.stack([roots[sized(roots)] for roots in found])
    return sorted_.reshape(*polynomials.shape[:-1], -1)


def _coefficient_cell(node: Node, at: At, look: Look) -> Cell:
    """Up to its sign a sum of determinants: of all square parts of that size along the diagonal."""
    (rows, columns), order = node.sources[0].axes[-2:], at[node.names[-1]]
    rest = {name: i for name, i in at.items() if name != node.names[-1]}
    signed: tuple[list[Cell], list[Cell]] = ([], [])
    for part in combinations(range(rows.size), order):
        for turned_ in permutations(part):
            factors = (Pick(0, {**rest, rows.name: i, columns.name: j}) for i, j in zip(part, turned_, strict=True))
            odd = sum(a > b for a, b in combinations(turned_, 2)) + order
            signed[odd % 2].append(Form("×", tuple(factors)))
    added, taken = (Form("+", tuple(terms)) for terms in signed)
    if not order:
        return Literal(1)
    return Form("−", (added, taken)) if added.parts and taken.parts else Form("neg", (taken,))


def _eigenvalue_cell(node: Node, at: At, look: Look) -> Cell:
    """The formula for a quadratic, where the polynomial is one; else a word, since there is no short arithmetic."""
    if len(node.sources) < 2 or node.axes[-1].size != 2:
        return Literal("a root of the characteristic polynomial")
    rest = {name: i for name, i in at.items() if name != node.names[-1]}
    power = node.sources[1].names[-1]
    p, q = (Pick(1, {**rest, power: i}) for i in (1, 2))
    root = Form("√", (Form("−", (Form("^", (p, Literal(2))), Form("×", (Literal(4), q)))),))
    ahead = _quadratic_sign(*(look(1, pick.at) for pick in (p, q)), place=at[node.names[-1]])
    return Form("/", (Form("+" if ahead > 0 else "−", (Form("neg", (p,)), root)), Literal(2)))


def _quadratic_sign(p: Any, q: Any, *, place: int) -> int:
    """Whether the root stands before the larger or the smaller solution, sorted as eigenvalues are."""
    roots = [(-p + sign * np.emath.sqrt(float(p * p - 4 * q))) / 2 for sign in (1, -1)]
    return 1 if sized(np.array(roots))[place] == 0 else -1


def _square(a: Axes) -> int:
    if len(a) < 2 or a[-1].size != a[-2].size:
        sizes = " × ".join(str(axis.size) for axis in a[-2:]) or "a single number"
        raise ShapeError(f"only a square matrix has eigenvalues, and it is {sizes}", hint="svd works for any matrix")
    return a[-1].size


def _polynomial_axes(args: dict[str, Any], a: Axes) -> Axes:
    return (*a[:-2], Axis("power", _square(a) + 1))


def _eigenvalue_axes(args: dict[str, Any], a: Axes, *polynomial: Axes) -> Axes:
    return (*a[:-2], Axis("k", _square(a)))


def _eigenvector_axes(args: dict[str, Any], a: Axes) -> Axes:
    return (*a[:-1], Axis("k", _square(a)))


def _rank(a: Axes) -> Axis:
    if len(a) < 2:
        raise ShapeError("a matrix is needed")
    return Axis("k", min(a[-2].size, a[-1].size))


def _lost(node: Node) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in (*node.sources[0].names[-2:], node.names[-1], "power")))


def _row(kernel: Any, axes: Any, words: str, cell: str, **more: Any) -> Op:
    return Op(
        kernel,
        axes,
        words,
        rf"\operatorname{{{{{words.partition(' of ')[0].replace(' ', '~')}}}}}({{0}})",
        more.pop("at", lambda node, at, look: Literal(cell)),
        binds=4,
        takes=(0,),
        mixes=_lost,
        no_gradient=_NO_SLOPE,
        **more,
    )


OPS |= {
    "characteristic_polynomial": Op(
        _characteristic_polynomial,
        _polynomial_axes,
        "det(λ·I − {0})",
        r"\det(\lambda I - {0})",
        _coefficient_cell,
        takes=(3,),
        mixes=_lost,
        no_gradient=_NO_SLOPE,
    ),
    "eigenvalues": _row(_eigenvalues, _eigenvalue_axes, "eigenvalues of {0}", "", at=_eigenvalue_cell),
    "eigenvectors": _row(
        lambda node, a: _each(a, lambda matrix: _eigen(matrix)[1]),
        _eigenvector_axes,
        "eigenvectors of {0}",
        "an entry of a unit vector v with a·v = λ·v",
    ),
    "left_singular_vectors": _row(
        lambda node, a: _each(a, lambda matrix: _svd(matrix)[0]),
        lambda args, a: (*a[:-1], _rank(a)),
        "left singular vectors of {0}",
        "an entry of a unit vector u with aᵀ·u = s·v",
    ),
    "singular_values": _row(
        lambda node, a: _each(a, lambda matrix: _svd(matrix)[1]),
        lambda args, a: (*a[:-2], _rank(a)),
        "singular values of {0}",
        "the root of an eigenvalue of aᵀ·a",
    ),
    "right_singular_vectors": _row(
        lambda node, a: _each(a, lambda matrix: _svd(matrix)[2]),
        lambda args, a: (*a[:-2], _rank(a), a[-1]),
        "right singular vectors of {0}, as rows",
        "an entry of a unit vector v with a·v = s·u",
    ),
}


def characteristic_polynomial(a: Node) -> Node:
    """The coefficients of det(λ·I − a), from the highest power on."""
    return Node("characteristic_polynomial", a)


def eigenvalues(a: Node, polynomial: Node | None = None) -> Node:
    """The numbers λ for which a·v = λ·v, largest first; of that polynomial, where one is given that is not a's."""
    return Node("eigenvalues", a) if polynomial is None else Node("eigenvalues", a, polynomial)


def eigenvectors(a: Node) -> Node:
    """The directions that a matrix only stretches, as columns, in the order of the eigenvalues."""
    return Node("eigenvectors", a)


def singular_parts(a: Node) -> tuple[Node, Node, Node]:
    """u [m, k], s [k] and vt [k, n] with a = u·diag(s)·vt, where k is the smaller side of a."""
    return Node("left_singular_vectors", a), Node("singular_values", a), Node("right_singular_vectors", a)
