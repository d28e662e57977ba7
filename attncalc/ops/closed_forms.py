"""Eigenvalues and singular values of exact matrices, where they have a closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

import numpy as np

from attncalc.arrays import Array
from attncalc.errors import NotExact
from attncalc.ops.kernels import has_letters
from attncalc.text import visible

LARGEST = 30
"""Polynomials of a higher degree take SymPy long, and have coefficients of hundreds of digits."""
LARGEST_OF_LETTERS = 2
LARGEST_OF_SURDS = 40
"""Rows times the degree that roots may have together (√2 and √3 have 4): beyond, SymPy takes long."""
DIGITS = 30  # to which expressions are compared
IN_FLOATS = "without --exact eigenvalues are found to full precision"
Parts = TypeVar("Parts")


def _remembered(function: Callable[[Array], Parts]) -> Callable[[Array], Parts]:
    """The function of a matrix, found once where its parts are asked for one after the other."""

    @lru_cache(maxsize=16)
    def found(shape: tuple[int, ...], *entries: Any) -> Parts:
        return function(_objects(list(entries)).reshape(shape))

    @wraps(function)
    def asked(matrix: Array) -> Parts:
        return found(matrix.shape, *matrix.flat)

    return asked


def characteristic_polynomial(matrix: Array) -> Array:
    """The coefficients of det(λ·I − matrix), from the highest power on."""
    return _objects(_polynomial(matrix).all_coeffs())


def _polynomial(matrix: Array) -> Any:
    """det(λ·I − matrix), over no more than the numbers that hold its coefficients: those with √2, say."""
    import sympy
    from sympy.polys.matrices import DomainMatrix

    exact, rows = sympy.Matrix(matrix), len(matrix)
    if rows <= LARGEST_OF_LETTERS:
        return exact.charpoly("λ")
    if has_letters(matrix):
        raise NotExact("eigenvalues of letters are found up to 2 × 2: beyond, their formulas fill pages")
    if rows > LARGEST:
        raise NotExact(
            f"exact matrices are taken apart up to {LARGEST} × {LARGEST}, and this one has {rows} rows", hint=IN_FLOATS
        )
    surds = [part.exp.q for part in exact.atoms(sympy.Pow) if part.exp.is_Rational and not part.exp.is_Integer]
    if rows * math.prod(surds) > LARGEST_OF_SURDS:
        raise NotExact(f"{len(surds)} different roots are too many in a matrix of {rows} rows", hint=IN_FLOATS)
    over = DomainMatrix.from_Matrix(exact, extension=True)
    if over.domain.is_EX:  # π beside √2: SymPy has no numbers of which it is one, and finds no factors in good time
        raise NotExact("exact matrices that hold both roots and π or e are taken apart up to 2 × 2", hint=IN_FLOATS)
    return sympy.Poly(over.charpoly(), sympy.Symbol("λ"), domain=over.domain)


@_remembered
def eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, largest first, and their eigenvectors of unit length as columns."""
    import sympy

    exact = sympy.Matrix(matrix)
    # Roots by Cardano's and Ferrari's formulas fill pages too, and the eigenvectors to them are beyond SymPy.
    polynomial = _polynomial(matrix)
    roots = _roots(polynomial)
    if sum(roots.values()) < len(matrix):
        equation = str(polynomial.as_expr()).replace("**", "^").replace("*", "·")
        raise NotExact(
            f"some eigenvalues are no roots of a quadratic, so that there is no short closed form of them: "
            f"0 = {visible(equation, 200)}",
            hint=IN_FLOATS,
        )
    values, vectors = [], []
    for value in _largest_first(list(roots)):
        for vector in _eigenspace(exact, value, roots[value]):
            values.append(value)
            vectors.append(_unit(vector))
    return _objects(values), _objects(sympy.Matrix.hstack(*vectors).tolist())


def _roots(polynomial: Any) -> dict[Any, int]:
    """The roots that are fractions or surds, each with how often it is one: those of factors of degree 1 and 2."""
    import sympy

    if polynomial.domain.is_Composite or polynomial.domain.is_EX:  # of letters, or of surds: as far as SymPy sees
        found: dict[Any, int] = sympy.roots(polynomial, cubics=False, quartics=False)
        return found
    result: dict[Any, int] = {}
    for factor, count in polynomial.factor_list()[1]:
        if factor.degree() <= 2:
            result |= dict.fromkeys(sympy.roots(factor), count)
    return result


@_remembered
def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Left singular vectors as columns, singular values, right singular vectors as rows."""
    import sympy

    exact = sympy.Matrix(matrix)
    if exact.rows > exact.cols:
        u, s, vt = svd(np.asarray(matrix.T))
        left, right = _turned(vt.T, u.T)
        return left, s, right
    if has_letters(matrix) and exact.rows > 1 and exact.cols > LARGEST_OF_LETTERS:
        raise NotExact(
            "singular values of letters are found up to 2 × 2, and of a single row or column: beyond, their formulas "
            "fill pages"
        )
    squares, vectors = eigen(_objects((exact * exact.T).tolist()))
    columns, sizes = sympy.Matrix(vectors), [sympy.sqrt(square) for square in squares]
    rows: list[Any] = []
    for column, size in enumerate(sizes):
        image = exact.T * columns[:, column]
        rows.append(image / size if size != 0 else _at_right_angles(rows, exact.cols))
    return vectors, _objects(sizes), _objects(sympy.Matrix.hstack(*rows).T.tolist())


def _eigenspace(matrix: Any, value: Any, count: int) -> list[Any]:
    """So many vectors that the matrix stretches by this value: the last one repeated where there are not as many."""
    import sympy

    found: list[Any] = (matrix - value * sympy.eye(matrix.rows)).nullspace(iszerofunc=vanishes)
    if matrix.is_symmetric():
        found = sympy.GramSchmidt(found)
    if not found:
        raise NotExact(f"no closed form of the eigenvectors to {value} was found")
    return (found + found[-1:] * count)[:count]


def _at_right_angles(vectors: list[Any], size: int) -> Any:
    """A unit vector at right angles to all of these."""
    import sympy

    rows = sympy.Matrix.hstack(*vectors).T if vectors else sympy.zeros(1, size)
    return _unit(rows.nullspace(iszerofunc=vanishes)[0])


def _unit(vector: Any) -> Any:
    """The vector with length 1 and, if it is of numbers, its largest entry positive."""
    import sympy

    if all(entry.is_number for entry in vector):
        vector = vector.applyfunc(lambda entry: sympy.radsimp(sympy.expand(entry)))  # no root below a fraction's line
    squares = sum(entry * (entry.conjugate() if entry.is_number else entry) for entry in vector)
    length = sympy.sqrt(sympy.expand(squares))
    if not all(entry.is_number for entry in vector):
        return vector / length
    largest = max((complex(entry.evalf(DIGITS)) for entry in vector), key=lambda entry: round(abs(entry), 12))
    place = next(i for i, entry in enumerate(vector) if abs(complex(entry.evalf(DIGITS)) - largest) < 1e-12)
    pivot = vector[place]
    phase = pivot.conjugate() / sympy.Abs(pivot) if not pivot.is_real else sympy.sign(pivot)
    return vector * phase / length


def _turned(vectors: Array, rows: Array) -> tuple[Array, Array]:
    """Columns with their largest entry positive, and the rows that belong to them turned alike."""
    from attncalc.ops.decompose import turned

    if not all(entry.is_number for entry in vectors.flat):
        return vectors, rows
    signs = turned(vectors.astype(np.float64)).astype(int)
    return np.asarray(vectors * signs), np.asarray(rows * signs[:, None])


def _largest_first(values: list[Any]) -> list[Any]:
    """The values in the order that floats have; of letters that with the root added, which SymPy gives last, first."""
    from attncalc.ops.decompose import sized

    if not all(value.is_number for value in values):
        return values[::-1]
    return [values[i] for i in sized(np.array([complex(value.evalf(DIGITS)) for value in values]))]


def vanishes(entry: Any) -> bool | None:
    """Whether an expression is 0: judged by its digits where it is a number."""
    import sympy

    if entry.is_number:
        return bool(abs(entry.evalf(DIGITS)) < 10.0 ** -(DIGITS // 2))
    answer = sympy.simplify(entry).is_zero
    return None if answer is None else bool(answer)


def _objects(entries: list[Any]) -> Array:
    """A vector, or a matrix from its rows."""
    result = np.empty((len(entries), *([len(entries[0])] if isinstance(entries[0], list) else [])), dtype=object)
    result[...] = entries
    return result
