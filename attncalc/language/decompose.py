"""Decompositions of float matrices by LAPACK, with mere rounding errors removed from the parts."""

from __future__ import annotations

import numpy as np

from attncalc.common.errors import DomainError
from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.ordering import sized, turned

MOST_DUST = 16
"""An entry of a unit vector may be dust, a mere rounding error, if it is below so many epsilons for each row."""


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, and eigenvectors as columns, of one matrix."""
    try:
        values, vectors = np.linalg.eigh(matrix) if np.array_equal(matrix, matrix.T) else np.linalg.eig(matrix)
    except np.linalg.LinAlgError as error:
        raise DomainError(f"the eigenvalues were not found: {error}") from None
    size = len(matrix) * np.max(np.abs(np.linalg.eigvals(np.abs(matrix))), initial=0.0)
    values = _equal_made_one(matrix, values, size)
    if not values.imag.any():  # from NumPy 2.5 on the type is complex even then
        values, vectors = values.real, vectors.real
    order = sized(values)
    values, vectors = values[order], vectors[:, order]
    if not _is_triangular(matrix):  # the diagonal of a triangular one holds the eigenvalues to the last digit
        values = _without_dust(values, size)
    if values.dtype.kind == "f" and vectors.dtype.kind == "c":
        vectors = _real_parts(vectors)
    vectors = _of_equal_ones(matrix, values, vectors, size)
    return values, _cleaned(matrix, values, vectors * turned(vectors), size)


MOST_ROWS = 8
"""Equal eigenvalues are looked for in matrices of at most so many rows."""
NEAR = 1e-3
"""Rounding separates equal eigenvalues by no more than this, relative to the matrix."""


def _equal_made_one(matrix: Array, values: Array, size: float) -> Array:
    """The eigenvalues, with one number for those that are in fact equal, where LAPACK finds 2 ± 10⁻⁸."""
    near = np.abs(values[:, None] - values) <= NEAR * size
    if len(matrix) > MOST_ROWS or near.sum() == len(values):
        return values
    different = kernels.exact().different_eigenvalues(matrix)
    if len(different) == len(values):
        return values
    return np.asarray(different[np.argmin(np.abs(values[:, None] - different), axis=1)])


def _of_equal_ones(matrix: Array, values: Array, vectors: Array, size: float) -> Array:
    """The vectors; where a multiple eigenvalue has fewer eigenvectors than its multiplicity, these are repeated."""
    found = vectors.copy()
    for value in {value for value in values.tolist() if np.sum(values == value) > 1}:
        where = np.flatnonzero(values == value)
        _, sizes, rows = np.linalg.svd(matrix - value * np.eye(len(matrix)))
        directions = np.conj(rows[sizes <= np.finfo(matrix.dtype).eps * size]).T
        if 0 < directions.shape[1] < len(where):
            found[:, where] = directions[:, np.arange(len(where)) % directions.shape[1]]
    return found


def _real_parts(vectors: Array) -> Array:
    """Real eigenvectors for real eigenvalues that rounding had made a complex pair: its real and imaginary parts."""
    real, imaginary = vectors.real.copy(), vectors.imag
    second = np.flatnonzero(imaginary.any(axis=0))[1::2]
    real[:, second] = imaginary[:, second]
    return np.asarray(real / np.linalg.norm(real, axis=0))


def _cleaned(matrix: Array, values: Array, vectors: Array, size: float) -> Array:
    """The eigenvectors with 0 for dust, where these fit the matrix no worse."""

    def residual(columns: Array) -> Array:
        return np.asarray(np.linalg.norm(matrix @ columns - columns * values, axis=0))

    clean = _without_dust(vectors, MOST_DUST * len(matrix))
    slack = np.finfo(matrix.dtype).eps * size
    return np.where(residual(clean) <= 2 * residual(vectors) + slack, clean, vectors)


def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Left singular vectors as columns, singular values, right singular vectors as rows, of one matrix."""
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
    free = turned(vt.T)[:, None]  # the two vectors of a singular value 0 have independent signs
    return u, s, np.where(zero[:, None], vt * free, vt)


def _without_dust(values: Array, size: float) -> Array:
    """The values with 0 for real and imaginary parts that may be mere rounding errors of numbers of this size."""
    dust = size * np.finfo(values.dtype).eps
    if values.dtype.kind == "f":
        return np.where(np.abs(values) <= dust, 0, values)
    real, imaginary = (np.where(np.abs(part) <= dust, 0, part) for part in (values.real, values.imag))
    return np.asarray(real + 1j * imaginary) if imaginary.any() else real


def _is_triangular(matrix: Array) -> bool:
    return not np.tril(matrix, -1).any() or not np.triu(matrix, 1).any()


def _is_diagonal(matrix: Array) -> bool:
    return not np.tril(matrix, -1).any() and not np.triu(matrix, 1).any()
