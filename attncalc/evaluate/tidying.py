"""Exact entries over one denominator: in lowest terms, common factors taken out, one exponential per term.

SymPy's own `together` is general and slow. Here only sums and quotients of fractions, roots, exponentials and letters
occur. An entry is read as one product, and a sum in it as a factor whose terms are remembered. A part that several
entries share, such as the denominator of a softmax's row, is read only once.

The size of entries is measured in the same way: their parts, their longest number, and the operations in them, counted
as SymPy counts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import sympy

from attncalc.common.errors import EXACT_DIGITS, WITHOUT_EXACT, NotExact
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.language.exact_kernels import digits, is_share, value_of_roots

ONE, ZERO = sympy.Integer(1), sympy.Integer(0)
LARGEST = 20_000
"""The most operations in all entries of a step: more would not be read, and SymPy would grow slow."""
TIDIED = 400
"""Entries with more operations than this are not tidied."""
MOST_TERMS = 64
"""Products of sums are multiplied out, if that makes them shorter, up to so many terms."""


def step_tidier() -> Callable[[Array], Array]:
    """A function that tidies the values of one evaluation step by step, and remembers what it has read."""
    return partial(tidy, tidier=Tidier(), extents=Extents())


def tidy(value: Array, tidier: Tidier, extents: Extents) -> Array:
    """The entries, each over one denominator; raise NotExact if they have grown too large to read."""
    if value.dtype != object:
        return value
    known = [extents.of(entry) for entry in value.flat]
    longest = max((extent.digits for extent in known), default=0)
    if longest > EXACT_DIGITS:
        raise NotExact(
            f"the exact entries have grown to {longest:,.0f} digits, but the limit is {EXACT_DIGITS:,}",
            hint=WITHOUT_EXACT,
        )
    sizes = [3 * extent.parts for extent in known]  # a bound: a part is one operation, or a fraction with a sign
    if sum(sizes) > LARGEST:
        sizes = [extents.operations(entry) for entry in value.flat]
    if sum(sizes) > LARGEST:
        raise NotExact(
            f"the exact entries have grown to {sum(sizes):,} operations, but the limit is {LARGEST:,}",
            hint="fewer rows, or rounder numbers, stay readable; without --exact any size will do",
        )

    def tidied_one(entry: Any) -> Any:
        found = tidier.tidy(entry)  # tidying may multiply a high power out into long numbers
        return found if extents.of(found).digits <= EXACT_DIGITS else entry

    tidied = [
        tidied_one(entry) if size <= TIDIED or extents.operations(entry) <= TIDIED else entry
        for entry, size in zip(value.flat, sizes, strict=True)
    ]
    result = np.empty(len(tidied), dtype=object)
    result[:] = tidied
    return result.reshape(value.shape)


class Product(NamedTuple):
    """number · root · e^exponent · the powers of all other factors."""

    number: Any  # a fraction
    root: Any  # of numbers: √3, or 1
    exponent: Any  # made of fractions and roots; other exponentials are factors like any others
    powers: dict[Any, Any]  # factor → its power, negative in the denominator

    def times(self, other: Product) -> Product:
        """The product of both; factors that cancel are dropped."""
        if self is NOTHING or other is NOTHING:
            return other if self is NOTHING else self
        number = other.number if self.number is ONE else self.number * other.number
        root, exponent, powers = self.root, self.exponent, self.powers
        if other.root is not ONE:
            more, root = (root * other.root).as_coeff_Mul()
            number *= more
        if other.exponent is not ZERO:
            exponent = other.exponent if exponent is ZERO else exponent + other.exponent
        if other.powers:
            powers = dict(powers)
            for factor, power in other.powers.items():
                powers[factor] = powers.get(factor, 0) + power
                if not powers[factor]:
                    del powers[factor]
        return Product(number, root, exponent, powers)

    def to_the(self, power: int) -> Product:
        """The product to a whole power."""
        number, root, exponent, powers = self
        if number is not ONE:
            number **= power
        if root is not ONE:
            more, root = (root**power).as_coeff_Mul()
            number *= more
        if exponent is not ZERO:
            exponent *= power
        return Product(number, root, exponent, {factor: own * power for factor, own in powers.items()})


NOTHING = Product(ONE, ONE, ZERO, {})


def _factor(factor: Any, power: Any = 1) -> Product:
    """The product that is one factor to a power."""
    return Product(ONE, ONE, ZERO, {factor: power})


class Tidier:
    """Brings expressions over one denominator, and remembers every part that it has read."""

    def __init__(self) -> None:
        self._products: dict[Any, Product] = {}
        self._terms: dict[Any, Sequence[Product]] = {}  # sum that is a factor → its terms
        self._values: dict[Any, float | None] = {}

    def tidy(self, entry: Any) -> Any:
        """The entry over one denominator."""
        if not isinstance(entry, sympy.Expr) or entry.is_Atom or entry.is_Function:
            return entry
        return self._written(self._product(entry))

    def _product(self, entry: Any) -> Product:
        product = self._products.get(entry)
        if product is None:
            product = self._products[entry] = self._read(entry)
        return product

    def _read(self, entry: Any) -> Product:
        if entry.is_Rational:
            return Product(entry, ONE, ZERO, {})
        if entry.is_Mul:
            product = NOTHING
            for factor in entry.args:
                product = product.times(self._product(factor))
            return product
        if entry.is_Add:
            return self._sum([self._product(term) for term in entry.args])
        if entry.is_Pow:
            return self._power(*entry.args)
        if entry is sympy.E:
            return Product(ONE, ONE, ONE, {})
        if isinstance(entry, sympy.exp):
            (exponent,) = entry.args
            if self._value(exponent) is not None:
                return Product(ONE, ONE, exponent, {})
            times, rest = exponent.as_coeff_Mul()
            return _factor(sympy.exp(rest), _plain(times))
        return _factor(entry)

    def _power(self, base: Any, power: Any) -> Product:
        if base.is_Rational:
            whole = base**power
            return Product(ONE, whole, ZERO, {}) if power.is_Rational else _factor(whole)
        if power.is_Integer:
            return self._product(base).to_the(int(power))
        whole = self.tidy(base) ** power
        product = NOTHING
        for factor in sympy.Mul.make_args(whole):
            if factor.is_Pow and factor.exp.is_Rational and not factor.exp.is_Integer and not factor.base.is_Rational:
                product = product.times(_factor(factor.base, factor.exp))
            elif factor.is_Pow and not factor.exp.is_Rational:
                product = product.times(_factor(factor))
            else:
                product = product.times(self._product(factor))
        return product

    def _sum(self, terms: Sequence[Product]) -> Product:
        """The terms' common factors, times the sum of the remaining terms as one factor."""
        taken = NOTHING
        spread: Sequence[Product] | None = terms
        while spread is not None:
            if not spread:
                return Product(ZERO, ONE, ZERO, {})
            common = self._common(spread)
            taken = taken.times(common)
            under = common.to_the(-1)
            terms = spread if common is NOTHING else [term.times(under) for term in spread]
            spread = self._spread(terms)
        if len(terms) == 1:
            return taken.times(terms[0])
        whole = sympy.Add(*map(self._written, terms))
        if len(whole.args) != len(terms):  # SymPy has simplified the sum
            return taken.times(self._product(whole))
        factor = _factor(whole)
        self._terms[whole] = terms
        self._products[whole] = factor
        return taken.times(factor)

    def _common(self, terms: Sequence[Product]) -> Product:
        """The common part of all terms: the largest common fraction, a common root, and each factor's lowest power.

        The lowest power of e is taken out too if it is negative, or if that makes the exponents shorter: one of the
        remaining terms is then without e.
        """
        above = math.gcd(*(term.number.p for term in terms))
        below = math.lcm(*(term.number.q for term in terms))
        if all(term.number.p < 0 for term in terms):
            above = -above
        number = ONE if above == below else sympy.Rational(above, below)
        root = terms[0].root
        if any(term.root is not root and term.root != root for term in terms):
            root = ONE
        exponent = self._lowest_exponent([term.exponent for term in terms])
        lowest: dict[Any, Any] = {}
        for factor in {factor: 0 for term in terms for factor in term.powers}:
            power = min(term.powers.get(factor, 0) for term in terms)
            if power:
                lowest[factor] = power
        if number is ONE and root is ONE and exponent is ZERO and not lowest:
            return NOTHING
        return Product(number, root, exponent, lowest)

    def _lowest_exponent(self, exponents: Sequence[Any]) -> Any:
        lowest = min(exponents, key=lambda own: self._value(own) or 0.0) if len(set(exponents)) > 1 else exponents[0]
        if (self._value(lowest) or 0.0) <= 0:
            return lowest
        left = sum(_width(own - lowest) for own in exponents)
        return lowest if left < sum(map(_width, exponents)) else ZERO

    def _spread(self, terms: Sequence[Product]) -> Sequence[Product] | None:
        """The terms with sums in them multiplied out and like terms added up; None if nothing gets shorter."""
        loose: list[Product] = []
        for term in terms:
            within = None
            if len(term.powers) == 1:
                ((factor, power),) = term.powers.items()
                within = self._terms.get(factor) if power == 1 else None
            if within is None:
                loose.append(term)
            else:
                before = term._replace(powers={})
                loose.extend(before.times(part) for part in within)
        out = self._multiplied_out(loose)
        if out is not None:
            return out
        return None if len(loose) == len(terms) else _added(loose)

    def _multiplied_out(self, terms: Sequence[Product]) -> Sequence[Product] | None:
        """The terms with all products of sums multiplied out; None if that is longer."""
        if not any(factor in self._terms for term in terms for factor in term.powers):
            return None
        out: list[Product] = []
        for term in terms:
            parts = [term._replace(powers={f: p for f, p in term.powers.items() if f not in self._terms or p < 0})]
            for factor, power in term.powers.items():
                within = self._terms.get(factor)
                if within is None or power < 0:
                    continue
                if not isinstance(power, int) or len(parts) * len(within) ** power > MOST_TERMS:
                    return None
                for _ in range(power):
                    parts = _added([one.times(other) for one in parts for other in within])
            out += parts
        out = _added(out)
        return out if sum(map(self._length, out)) < sum(map(self._length, terms)) else None

    def _length(self, term: Product) -> int:
        """About how long a term is on paper."""
        length = sum(_width(part) for part in term[:3] if part is not ONE and part is not ZERO)
        for factor, power in term.powers.items():
            within = self._terms.get(factor)
            length += sum(map(self._length, within)) if within else _width(factor)
            length += power != 1
        return length + 1

    def _value(self, exponent: Any) -> float | None:
        """The exponent as a float, to compare it with others; None unless it is made of fractions and their roots."""
        if exponent not in self._values:
            self._values[exponent] = value_of_roots(exponent)
        return self._values[exponent]

    def _written(self, product: Product) -> Any:
        """The product as an expression, with at most one power of e in every term."""
        number, root, exponent, powers = product
        sums = [factor for factor, power in powers.items() if factor in self._terms and power == 1]
        if len(sums) == 1 and (number.p < 0 or (self._value(exponent) or 0.0) > 0):
            powers = dict(powers)
            del powers[sums[0]]
            before = Product(ONE if number.p > 0 else -ONE, ONE, exponent, {})
            number, exponent = abs(number), ZERO
            factors = [sympy.Add(*(self._written(before.times(term)) for term in self._terms[sums[0]]))]
        else:
            factors = []
        for factor, power in powers.items():
            if isinstance(factor, sympy.exp):
                factors.append(sympy.exp(power * factor.args[0]))
            else:
                factors.append(factor if power == 1 else factor**power)
        if root is not ONE:
            factors.append(root)
        if exponent is not ZERO:
            factors.append(sympy.exp(exponent))
        if number is ONE and len(factors) == 1:
            return factors[0]
        if len(factors) == 1 and (factors[0].is_Add or isinstance(factors[0], sympy.exp)):
            return sympy.Mul(number, factors[0], evaluate=False)  # not multiplied out
        if number and len(factors) == 2 and is_share(*factors):
            return sympy.Mul(*([] if number is ONE else [number]), *factors, evaluate=False)
        return sympy.Mul(number, *factors)


def _added(terms: Iterable[Product]) -> list[Product]:
    """The terms with like terms, which differ in their number alone, added up."""
    numbers: dict[Any, Any] = {}
    firsts: dict[Any, Product] = {}
    for term in terms:
        key = (term.root, term.exponent, frozenset(term.powers.items()))
        firsts.setdefault(key, term)
        numbers[key] = numbers.get(key, ZERO) + term.number
    return [firsts[key]._replace(number=number) for key, number in numbers.items() if number]


def _width(expression: Any) -> int:
    """About how many characters an expression takes on paper; 0 for the number 0."""
    if expression.is_Rational:
        return (
            len(str(abs(expression.p))) + (len(str(expression.q)) + 1 if expression.q != 1 else 0) if expression else 0
        )
    return 1 + sum(map(_width, expression.args))


def _plain(power: Any) -> Any:
    """A power as a Python int if it is whole."""
    return int(power) if power.is_Integer else power


class Extent(NamedTuple):
    """How many parts an expression has, including itself, and how many digits its longest number has."""

    parts: int
    digits: float


class Extents:
    """Measures expressions, and remembers every part that it has measured."""

    def __init__(self) -> None:
        self._extents: dict[Any, Extent] = {}
        self._counts: dict[Any, int] = {}

    def of(self, entry: Any) -> Extent:
        """How large an entry is."""
        known = self._extents.get(entry)
        if known is None:
            parts, longest = 1, digits(entry) if entry.is_Rational else 1.0
            for part in map(self.of, entry.args):
                parts, longest = parts + part.parts, max(longest, part.digits)
            known = self._extents[entry] = Extent(parts, longest)
        return known

    def operations(self, entry: Any) -> int:
        """How many operations the entry holds; signs and fraction bars count too."""
        known = self._counts.get(entry)
        if known is None:
            known = self._counts[entry] = self._counted(entry)
        return known

    def _counted(self, entry: Any) -> int:
        if entry.is_Rational:
            return int(entry.p < 0) + int(entry.q != 1)
        if entry.is_Mul:
            return self._counted_in_product(entry)
        inner = sum(map(self.operations, entry.args))
        if entry.is_Add:
            below_zero = sum(map(_is_below_zero, entry.args))  # a minus replaces a plus
            return inner - below_zero + len(entry.args) - 1 + (below_zero == len(entry.args))
        if isinstance(entry, (sympy.Max, sympy.Min)):
            return inner + len(entry.args) - 1
        if entry.is_Pow and entry.exp == -1:
            return inner  # the fraction bar replaces the sign of the exponent
        return inner + (entry.is_Pow or entry.is_Function or entry is sympy.E)

    def _counted_in_product(self, product: Any) -> int:
        number, factors = product.as_coeff_mul()
        above: list[Any] = []
        below: list[Any] = []
        for factor in factors:
            (below if _is_below_line(factor) else above).append(factor)
        # A factor in the denominator loses the sign of its exponent.
        inner = sum(map(self.operations, factors)) - len(below)
        fraction = bool(below) or number.q != 1
        for whole, side in ((abs(number.p), above), (number.q, below)):
            if whole != 1:
                # SymPy multiplies a number into a sum only if there is a fraction bar.
                if fraction and len(side) == 1 and (sum_ := side[0] if side is above else 1 / side[0]).is_Add:
                    inner += self.operations(whole * sum_) - self.operations(sum_) - 1
                side.append(whole)
        return inner + int(number.p < 0) + max(len(above) - 1, 0) + len(below)


def _is_below_zero(term: Any) -> bool:
    """Whether a term has a minus in front."""
    number = term.args[0] if term.is_Mul else term
    return bool(number.is_Rational and number.p < 0)


def _is_below_line(factor: Any) -> bool:
    """Whether a factor belongs in the denominator: a power with a negative exponent."""
    return bool(
        (factor.is_Pow and _is_below_zero(factor.exp))
        or (isinstance(factor, sympy.exp) and _is_below_zero(factor.args[0]))
    )
