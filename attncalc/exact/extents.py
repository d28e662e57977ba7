"""How large exact entries are: their parts, their longest number, and the operations that they are written with.

The operations are those that SymPy counts, which takes it long: here each part is counted once, however many entries
share it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import sympy

from attncalc.ops.exact import digits


class Extent(NamedTuple):
    """How many parts an expression has, itself among them, and how many digits the longest number in it."""

    parts: int
    digits: float


class Extents:
    """What measures expressions, and remembers every part that it has measured."""

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
        """How many operations it is written with, a sign and the line of a fraction among them."""
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
            below_zero = sum(map(_is_below_zero, entry.args))  # a minus takes the place of a plus
            return inner - below_zero + len(entry.args) - 1 + (below_zero == len(entry.args))
        if isinstance(entry, (sympy.Max, sympy.Min)):
            return inner + len(entry.args) - 1
        if entry.is_Pow and entry.exp == -1:
            return inner  # the line of the fraction in place of the sign
        return inner + (entry.is_Pow or entry.is_Function or entry is sympy.E)

    def _counted_in_product(self, product: Any) -> int:
        number, factors = product.as_coeff_mul()
        above: list[Any] = []
        below: list[Any] = []
        for factor in factors:
            (below if _is_below_line(factor) else above).append(factor)
        # Upside down a factor lacks a sign.
        inner = sum(map(self.operations, factors)) - len(below)
        fraction = bool(below) or number.q != 1
        for whole, side in ((abs(number.p), above), (number.q, below)):
            if whole != 1:
                # SymPy multiplies a sum out by the number before it where there is a line, and there alone.
                if fraction and len(side) == 1 and (sum_ := side[0] if side is above else 1 / side[0]).is_Add:
                    inner += self.operations(whole * sum_) - self.operations(sum_) - 1
                side.append(whole)
        return inner + int(number.p < 0) + max(len(above) - 1, 0) + len(below)


def _is_below_zero(term: Any) -> bool:
    """Whether a minus stands before it."""
    number = term.args[0] if term.is_Mul else term
    return bool(number.is_Rational and number.p < 0)


def _is_below_line(factor: Any) -> bool:
    """Whether it stands below the line of a fraction: a power whose exponent has a minus."""
    return bool(
        (factor.is_Pow and _is_below_zero(factor.exp))
        or (isinstance(factor, sympy.exp) and _is_below_zero(factor.args[0]))
    )
