"""Kernels for exact numbers, by SymPy, up to a size beyond which nobody would read the result.

Matrices are decomposed if their eigenvalues and singular values have a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any, TypeVar

import numpy as np
import sympy
from sympy.polys.matrices import DomainMatrix

from attncalc.common.errors import EXACT_DIGITS, WITHOUT_EXACT, NotExact, visible
from attncalc.common.numerals import Array
from attncalc.language.ordering import sized, turned

LARGEST_FACTOR = 10_000
"""The largest factor of a logarithm whose exponential is still written as a power."""
LARGEST_EXPONENT = math.log(10) * EXACT_DIGITS
MOST_EXACT = 20_000
LONG = 50
"""SymPy does not simplify the exponential, or the reciprocal, of a sum with more operations than this."""
FACTORED = 2**30
"""Below this SymPy finds all square factors of a number, as here; of larger ones it may leave some under the root."""


def number(value: Any) -> Any:
    """A number of a formula as an exact number; a float counts as its shortest decimal: 0.1 is one tenth."""
    if isinstance(value, sympy.Basic):
        return value
    if value in (math.inf, -math.inf):
        return sympy.oo if value > 0 else -sympy.oo
    named = {np.pi: sympy.pi, np.e: sympy.E}.get(value)
    return named or sympy.Rational(*Fraction(str(value)).as_integer_ratio())


def function(name: str) -> Callable[..., Any]:
    """The function of exact numbers with this name: the one in this module, which has limits, or else SymPy's."""
    found: Callable[..., Any] = globals().get(name) or getattr(sympy, name)
    return found


def exactly(values: Array) -> Array:
    """Floats and fractions as exact numbers; a float counts as its shortest decimal."""
    refuse_many(values.size)
    result = np.empty(values.size, dtype=object)
    result[:] = [number(value) for value in values.ravel().tolist()]
    return result.reshape(values.shape)


def limits(values: Array) -> Array:
    """The exact numbers that are infinite or undefined as ±inf and nan; 0 in the place of all others."""
    floats = {sympy.oo: np.inf, -sympy.oo: -np.inf, sympy.zoo: np.nan, sympy.nan: np.nan}
    return np.array([floats.get(entry, 0.0) for entry in values.flat]).reshape(values.shape)


def refuse_many(size: int) -> None:
    """Raise NotExact for more numbers than SymPy can handle fast and anybody would read."""
    if size > MOST_EXACT:
        raise NotExact(f"{size:,} entries are not made exact: the limit is {MOST_EXACT:,}", hint=WITHOUT_EXACT)


def exp(x: Any) -> Any:
    """The exponential of an exact number."""
    x = sympy.Integer(0) + x  # a fraction of Python's becomes one of SymPy's
    if not _is_long(x) and (bound := value_of_roots(x, bound=True)) is not None and bound < LARGEST_EXPONENT:
        return sympy.exp(x)
    bends = (sympy.exp, sympy.tanh, sympy.erf)  # nested three deep, SymPy takes minutes to add two of them
    if x.is_number and any(part.args[0].has(*bends) for part in x.atoms(*bends)):
        raise NotExact(
            "exponentials stand three deep in one another, and their exact form fills pages", hint=WITHOUT_EXACT
        )
    size = _figures(x, DIGITS, {}) if x.is_number and (x.args or x.is_Rational) else sympy.Integer(0)
    if abs(size) > LARGEST_EXPONENT:
        raise NotExact(f"e to the {size.evalf(5)} has more than {EXACT_DIGITS:,} digits", hint=WITHOUT_EXACT)
    if _has_a_large_factor(x):
        fact = "e to a logarithm times a number of many digits would be a power of as many digits"
        raise NotExact(fact, hint=WITHOUT_EXACT)
    return sympy.exp(x, evaluate=x.has(sympy.log, sympy.I) or not _is_long(x))


def quotient(x: Any, y: Any) -> Any:
    """x / y; of an exponential and a sum, without a search for factors that cancel."""
    if isinstance(x, sympy.exp):
        below = sympy.Pow(y, -1)
        return sympy.Mul(below, x, evaluate=not is_share(below, x))
    return x / y


def is_share(below: Any, above: Any) -> bool:
    """Whether these are one over a sum and an exponential, whose product SymPy leaves as it is, in this order."""
    per_sum = below.is_Pow and below.base.is_Add and below.exp is sympy.S.NegativeOne
    return per_sum and isinstance(above, sympy.exp)


def value_of_roots(x: Any, *, bound: bool = False) -> float | None:
    """An expression made of fractions and their roots as a float; None if it is anything else, or too large for one.

    With `bound`, every term counts by its absolute value: no value is larger than its bound.
    """
    try:
        return _value_of_roots(x, abs if bound else float)
    except OverflowError:
        return None


def _value_of_roots(x: Any, signed: Callable[[float], float]) -> float | None:
    if x.is_Rational:
        return signed(x.p / x.q)
    if x.is_Pow:
        base, power = x.args
        rational = base.is_Rational and power.is_Rational and base.p > 0
        return float((base.p / base.q) ** (power.p / power.q)) if rational else None
    if not (x.is_Add or x.is_Mul):
        return None
    parts = [part for part in (_value_of_roots(part, signed) for part in x.args) if part is not None]
    if len(parts) < len(x.args):
        return None
    return math.fsum(parts) if x.is_Add else math.prod(parts)


def _has_a_large_factor(x: Any) -> bool:
    """Whether a logarithm may be multiplied by a large number, so that SymPy would write out a huge power."""
    if not x.has(sympy.log):
        return False
    around = x.xreplace({part: sympy.Dummy() for part in x.atoms(sympy.log)})
    return any(abs(part.p) > LARGEST_FACTOR for part in around.atoms(sympy.Rational))


def sigmoid(x: Any) -> Any:
    """1 / (1 + e⁻ˣ) of an exact number."""
    below = 1 + exp(-x)
    return sympy.Pow(below, -1, evaluate=not _is_long(below))


def _is_long(x: Any) -> bool:
    """Whether this is a sum so long that SymPy would look for its sign in ever more digits, in vain."""
    return bool(x.is_Add and x.is_number and x.count_ops() > LONG)


def power(x: Any, p: Any) -> Any:
    """An exact number to the p."""
    x, p = sympy.Integer(0) + x, sympy.Integer(0) + p
    if p == 2 and x.is_Rational and digits(x) * 2 <= EXACT_DIGITS:
        return x * x  # faster than SymPy's power
    bounded = p.is_number and not p.is_infinite
    size = abs(p.p) if p.is_Integer and p.p.bit_length() < 64 else abs(p.evalf(5)) if bounded else 0
    if x.is_number and x not in (-1, 0, 1) and digits(x) * size > EXACT_DIGITS:
        exponent = p if p.is_Integer else p.evalf(5)
        raise NotExact(
            f"a power with the exponent {exponent} has more than {EXACT_DIGITS:,} digits", hint=WITHOUT_EXACT
        )
    return x**p


def arccos(c: Any) -> Any:
    """The angle of an exact cosine.

    If the cosine's square is rational but not a multiple of 1/4, the angle is no rational multiple of π (Niven,
    Irrational Numbers, 1956, corollary 3.12, applied to twice the angle), and SymPy need not look for one.
    """
    quarters = sympy.Integer(4) * c * c
    return sympy.acos(c, evaluate=not quarters.is_Rational or quarters in (0, 1, 2, 3, 4))


def log(x: Any, *base: int) -> Any:
    """The logarithm of an exact number: −∞ at 0, where SymPy's infinity has no sign."""
    return -sympy.oo if x == 0 else sympy.log(x, *base)


def factorial(k: Any) -> Any:
    """k! of a whole number."""
    if k.is_number and (k > EXACT_DIGITS or math.lgamma(float(k) + 1) > LARGEST_EXPONENT):
        raise NotExact(f"{k.evalf(5)}! has more than {EXACT_DIGITS:,} digits", hint=WITHOUT_EXACT)
    return sympy.factorial(k)


def root(x: Array, p: Any) -> Any:
    """The p-th root of every entry."""
    exponent = 1 / number(p)
    return np.frompyfunc(lambda entry: sqrt(entry) if p == 2 else sympy.Pow(entry, exponent), 1, 1)(x)


def sqrt(x: Any) -> Any:
    """The square root of an exact number; of a fraction of small numbers much faster than SymPy's."""
    x = sympy.Integer(0) + x
    if not (x.is_Rational and 0 < x.p < FACTORED and x.q < FACTORED):
        return sympy.sqrt(x)
    (above, left), (below, under) = map(_square_part, (x.p, x.q))
    return sympy.Rational(above, below * under) * sympy.sqrt(left * under)


def _square_part(number: int) -> tuple[int, int]:
    """(k, s) with number = k²·s, where s has no square factor."""
    k, s, rest, factor = 1, 1, number, 2
    while factor**3 <= rest:
        times = 0
        while not rest % factor:
            rest, times = rest // factor, times + 1
        k, s, factor = k * factor ** (times // 2), s * factor ** (times % 2), factor + 1
    last = math.isqrt(rest)  # the rest is 1, a prime or two primes
    return (k * last, s) if last * last == rest else (k, s * rest)


def maximum(x: Any, y: Any) -> Any:
    """The larger of two exact numbers."""
    return x if at_most(y, x) else y


def minimum(x: Any, y: Any) -> Any:
    """The smaller of two exact numbers."""
    return x if at_most(x, y) else y


def nearest_whole(x: Any) -> Any:
    """The nearest whole number; of two as near, the even one."""
    below = floor(x)
    rest = x - below - sympy.Rational(1, 2)
    return below + below % 2 if rest == 0 else below if at_most(rest, 0) else below + 1


def floor(x: Any) -> Any:
    """The largest whole number ≤ x."""
    if getattr(x, "free_symbols", None):
        raise NotExact("which whole number is nearest to a letter is not known", hint="give it a number")
    return sympy.floor(x)


def exponent(x: Any) -> Any:
    """The exponent of the largest power of 2 that is ≤ x; −∞ for 0."""
    return -sympy.oo if x == 0 else floor(sympy.log(x, 2))


def at_most(x: Any, y: Any) -> bool:
    """x ≤ y, decided by their digits, or by SymPy if these are equal."""
    side = _side(x, y)
    return bool(x <= y) if side is None else side < 0


def below(x: Any, y: Any) -> bool:
    """x < y, decided in the same way."""
    side = _side(x, y)
    return bool(x < y) if side is None else side < 0


def _side(x: Any, y: Any) -> int | None:
    """The sign of x − y if its digits tell, else None."""
    if not (getattr(x, "args", ()) or getattr(y, "args", ())) or not (x + y).is_number:
        return None  # SymPy compares fractions well, and letters have no order
    known = figures(x - y)
    return int(sympy.sign(known)) if known is not None and known.is_Float else None


def figures(number: Any) -> Any:
    """A number to thirty digits; None if so many are not found at once, for example because terms cancel.

    SymPy's own evalf evaluates every part of a part again and again with more digits: nested numbers take minutes.
    """
    found, again = (_figures(sympy.Integer(0) + number, places, {}) for places in (2 * DIGITS, 4 * DIGITS))
    if not (found.is_number and found.is_finite and again.is_finite) or again.is_zero:
        return None
    return again if abs(found - again) < 10.0**-DIGITS * abs(again) else None


def _figures(number: Any, places: int, known: dict[Any, Any]) -> Any:
    """A number to so many digits, each part evaluated once; if parts cancel, fewer digits are right."""
    if number not in known:
        parts = [part if number.is_Pow and part.is_Rational else _figures(part, places, known) for part in number.args]
        known[number] = (number.func(*parts) if parts else number).evalf(places)
    return known[number]


def peak(x: Array, axis: int, *, letters: bool) -> Any:
    """The largest entry along an axis; of letters, whose order is not known, the expression max(…)."""
    if not letters:
        return np.apply_along_axis(lambda entries: max(entries, key=_in_order), axis, x)
    told_apart = not all(getattr(entry, "is_Symbol", False) for entry in x.flat)  # else SymPy would compare every pair
    return np.apply_along_axis(lambda entries: sympy.Max(*entries, evaluate=told_apart), axis, x)


def _in_order(number: Any) -> Any:
    if getattr(number, "is_Rational", False):
        return number  # SymPy compares fractions well
    known = figures(number)
    return sympy.N(number if known is None else known, DIGITS)


def solve(matrix: Array, b: Array) -> Array | None:
    """The solution of a linear system; None if its columns are linearly dependent."""
    system = sympy.Matrix(matrix)
    # Columns of letters that are independent stay independent with these primes in their place.
    primes = {letter: sympy.prime(100 + i) for i, letter in enumerate(sorted(system.free_symbols, key=str))}
    if system.subs(primes).rank(iszerofunc=vanishes) < system.rows:
        return None
    return np.array(system.LUsolve(sympy.Matrix(b)).tolist(), dtype=object)[:, 0]


def product(a: Array, b: Array) -> Array:
    """A matrix product; the terms of an entry are added all at once, so that SymPy looks at each only once."""
    if all(getattr(x, "is_Rational", True) for value in (a, b) for x in value.flat):
        return np.asarray(np.matmul(a, b))
    rows, columns = a[..., :, None, :], np.swapaxes(b, -1, -2)[..., None, :, :]
    shape = np.broadcast_shapes(rows.shape, columns.shape)
    rows, columns = np.broadcast_to(rows, shape), np.broadcast_to(columns, shape)
    value = np.empty(shape[:-1], dtype=object)
    for at in np.ndindex(value.shape):
        value[at] = sympy.Add(*(_times(x, y) for x, y in zip(rows[at], columns[at], strict=True)))
    return value


def total(x: Array, axis: int) -> Array:
    """A sum along an axis, added all at once as in a product."""
    return np.asarray(np.apply_along_axis(lambda entries: sympy.Add(*entries), axis, x))


def _times(x: Any, y: Any) -> Any:
    """The product of two entries; 0 times an expression is 0, without SymPy asking whether that is finite."""
    for entry, other in ((x, y), (y, x)):
        if entry == 0 and getattr(other, "args", ()):
            return entry
    return x * y


def digits(number: Any) -> float:
    """About how many digits the longer of a fraction's numerator and denominator has; 1 for other numbers."""
    if not number.is_Rational:
        return 1
    return max(1.0, math.log10(2) * max(int(number.p).bit_length(), int(number.q).bit_length()))


LARGEST = 30
"""Characteristic polynomials of a higher degree take SymPy long, and have coefficients of hundreds of digits."""
LARGEST_OF_LETTERS = 2
LARGEST_OF_SURDS = 40
"""The limit for rows × the degree of all roots together (4 for √2 and √3); beyond it SymPy takes long."""
DIGITS = 30  # with which expressions are compared
IN_FLOATS = "without --exact eigenvalues are found to full precision"
Parts = TypeVar("Parts")


def _remembered(function: Callable[[Array], Parts]) -> Callable[[Array], Parts]:
    """The function with a cache by the matrix's entries, since its results are asked for one after the other."""

    @lru_cache(maxsize=16)
    def found(shape: tuple[int, ...], *entries: Any) -> Parts:
        return function(_objects(list(entries)).reshape(shape))

    @wraps(function)
    def asked(matrix: Array) -> Parts:
        return found(matrix.shape, *matrix.flat)

    return asked


def characteristic_polynomial(matrix: Array) -> Array:
    """The coefficients of det(λ·I − matrix), highest power first."""
    return _objects(_polynomial(matrix).all_coeffs())


def _polynomial(matrix: Array) -> Any:
    """det(λ·I − matrix), over the smallest field that holds its coefficients: the rational numbers and √2, say."""
    exact, rows = sympy.Matrix(matrix), len(matrix)
    if rows <= LARGEST_OF_LETTERS:
        return exact.charpoly("λ")
    if exact.free_symbols:
        raise NotExact("eigenvalues of letters are found up to 2 × 2: beyond, their formulas fill pages")
    if rows > LARGEST:
        raise NotExact(
            f"exact matrices are taken apart up to {LARGEST} × {LARGEST}, and this one has {rows} rows", hint=IN_FLOATS
        )
    surds = [part.exp.q for part in exact.atoms(sympy.Pow) if part.exp.is_Rational and not part.exp.is_Integer]
    if rows * math.prod(surds) > LARGEST_OF_SURDS:
        raise NotExact(f"{len(surds)} different roots are too many in a matrix of {rows} rows", hint=IN_FLOATS)
    over = DomainMatrix.from_Matrix(exact, extension=True)
    if over.domain.is_EX:  # π beside √2: SymPy has no field for these, and finds no factors in good time
        raise NotExact("exact matrices that hold both roots and π or e are taken apart up to 2 × 2", hint=IN_FLOATS)
    return sympy.Poly(over.charpoly(), sympy.Symbol("λ"), domain=over.domain)


@_remembered
def different_eigenvalues(matrix: Array) -> Array:
    """The distinct eigenvalues of a matrix of floats, whose entries count as their shortest decimals."""
    size = sympy.Integer(2) ** math.frexp(float(np.max(np.abs(matrix))))[1]  # near 1 roots are found, near 10³⁰⁰ not
    roots = _polynomial(exactly(matrix) / size).sqf_part().nroots(n=20, maxsteps=200)
    return np.array([complex(root * size) for root in roots])


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, largest first, and their eigenvectors of unit length as columns."""
    exact = sympy.Matrix(matrix)
    # Roots by Cardano's and Ferrari's formulas fill pages too, and their eigenvectors are beyond SymPy.
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
    """The roots that are fractions or surds, from factors of degree 1 and 2, each with its multiplicity."""
    if polynomial.domain.is_Composite or polynomial.domain.is_EX:  # with letters or mixed surds: what SymPy finds
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
    exact = sympy.Matrix(matrix)
    if exact.rows > exact.cols:
        u, s, vt = svd(np.asarray(matrix.T))
        left, right = _turned(vt.T, u.T)
        return left, s, right
    if exact.free_symbols and exact.rows > 1 and exact.cols > LARGEST_OF_LETTERS:
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
    """`count` eigenvectors to this eigenvalue; if there are fewer, the last one is repeated."""
    found: list[Any] = (matrix - value * sympy.eye(matrix.rows)).nullspace(iszerofunc=vanishes)
    if matrix.is_symmetric():
        found = sympy.GramSchmidt(found)
    if not found:
        raise NotExact(f"no closed form of the eigenvectors to {value} was found")
    return (found + found[-1:] * count)[:count]


def _at_right_angles(vectors: list[Any], size: int) -> Any:
    """A unit vector orthogonal to all of these."""
    rows = sympy.Matrix.hstack(*vectors).T if vectors else sympy.zeros(1, size)
    return _unit(rows.nullspace(iszerofunc=vanishes)[0])


def _unit(vector: Any) -> Any:
    """The vector scaled to length 1 and, if it holds no letters, with its largest entry positive."""
    if all(entry.is_number for entry in vector):
        vector = vector.applyfunc(lambda entry: sympy.radsimp(sympy.expand(entry)))  # no root in a denominator
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
    """The columns with signs that make their largest entries positive, and the matching rows with the same signs."""
    if not all(entry.is_number for entry in vectors.flat):
        return vectors, rows
    signs = turned(vectors.astype(np.float64)).astype(int)
    return np.asarray(vectors * signs), np.asarray(rows * signs[:, None])


def _largest_first(values: list[Any]) -> list[Any]:
    """The values sorted as floats are; with letters in reverse, since SymPy gives the one with +√… last."""
    if not all(value.is_number for value in values):
        return values[::-1]
    return [values[i] for i in sized(np.array([complex(value.evalf(DIGITS)) for value in values]))]


def vanishes(entry: Any) -> bool | None:
    """Whether an expression is 0, by its digits if it is a number; None if that is not known."""
    if entry.is_number:
        return bool(abs(entry.evalf(DIGITS)) < 10.0 ** -(DIGITS // 2))
    answer = sympy.simplify(entry).is_zero
    return None if answer is None else bool(answer)


def _objects(entries: list[Any]) -> Array:
    """A vector, or a matrix from its rows."""
    result = np.empty((len(entries), *([len(entries[0])] if isinstance(entries[0], list) else [])), dtype=object)
    result[...] = entries
    return result
