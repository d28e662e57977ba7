"""Exact numbers as a reader sees them: `√3/3`, `1/(1 + e^(√3/3))`, in text and in LaTeX.

SymPy is imported here and by the exact kernels. This module is imported only when there is an exact number.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import sympy
from sympy.core.evalf import PrecisionExhausted
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from attncalc.common.numerals import Array
from attncalc.language.exact_kernels import figures

MOST_ORDERED = 400
"""Terms are not sorted in numbers with more parts than this, since SymPy sorts by evaluating them all."""


@cache
def _parts(number: Any) -> int:
    return 1 + sum(map(_parts, getattr(number, "args", ())))


def _order(number: Any) -> str | None:
    """The `order` setting for SymPy's printer: "none" leaves the terms of a long number as they stand."""
    return "none" if _parts(number) > MOST_ORDERED else None


class _Once:
    """A printer that remembers sums that many entries share, since SymPy sorts their terms by evaluating them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(settings)  # type: ignore[call-arg]  # SymPy's printer is the next base class
        self._sums: dict[Any, str] = {}

    def _print_Add(self, sum_: Any, order: Any = None) -> str:  # noqa: N802  (SymPy's name for it)
        if sum_ not in self._sums:
            order = _order(sum_) or order
            self._sums[sum_] = str(super()._print_Add(sum_, order))  # type: ignore[misc]  # SymPy's, as above
        return self._sums[sum_]

    def _print_Mul(self, product: Any) -> str:  # noqa: N802  (SymPy's name for it)
        settings = self._settings  # type: ignore[attr-defined]  # SymPy's, as above
        before, settings["order"] = settings["order"], _order(product)
        try:
            return str(super()._print_Mul(product))  # type: ignore[misc]  # SymPy's, as above
        finally:
            settings["order"] = before


class _Plain(_Once, StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's own text."""


class _Latex(_Once, LatexPrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's own LaTeX."""


SIGNS = {sympy.E: "e", sympy.I: "i", sympy.pi: "π", sympy.oo: "∞", -sympy.oo: "−∞"}
NAMES = {sympy.log: "ln", sympy.acos: "arccos", sympy.Max: "max", sympy.Min: "min"}


class _Printer(_Once, StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's own text, with the signs used on paper."""

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        """As SymPy's, but with brackets around e^x in a power: SymPy takes it for a function, which needs none."""
        written = str(super().parenthesize(item, level, strict=strict))
        return f"({written})" if isinstance(item, sympy.exp) and level >= PRECEDENCE["Pow"] else written

    def _in_brackets(self, part: Any) -> str:
        return str(self.parenthesize(part, PRECEDENCE["Pow"]))

    def _print_Pow(self, power: Any, rational: bool = False) -> str:  # noqa: N802  (SymPy's name for it)
        if power.exp == sympy.Rational(1, 2):
            return f"√{self._in_brackets(power.base)}"
        if power.exp == sympy.Rational(-1, 2) and not rational:
            return f"1/√{self._in_brackets(power.base)}"
        return str(super()._print_Pow(power, rational=rational))

    def _print_ExpBase(self, power: Any) -> str:  # noqa: N802  (SymPy's name for it)
        return f"e^{self._in_brackets(power.args[0])}"

    def _print_Abs(self, size: Any) -> str:  # noqa: N802  (SymPy's name for it)
        return f"|{self._print(size.args[0])}|"

    def _sign(self, number: Any) -> str:
        return SIGNS[number]

    def _called(self, function: Any) -> str:
        return f"{NAMES[function.func]}({self.stringify(function.args, ', ')})"

    _print_Exp1 = _print_ImaginaryUnit = _print_Pi = _sign  # noqa: N815  (SymPy's names)
    _print_Infinity = _print_NegativeInfinity = _sign  # noqa: N815  (SymPy's names)
    _print_log = _print_acos = _print_Max = _print_Min = _called  # noqa: N815  (SymPy's names)


LOST = 1e-90
"""SymPy works with about a hundred digits: a smaller result may be only what is left of terms that cancel."""

_PRINTER, _PLAIN = _Printer(), _Plain()


@cache
def text(number: Any) -> str:
    """An exact number, or an expression in letters, as one line of text."""
    return str(_PRINTER.doprint(number)).replace("**", "^").replace("*", "·")


@cache
def latex(number: Any, letters: tuple[tuple[Any, str], ...] = ()) -> str:
    """The same in LaTeX; `letters` gives the LaTeX of letters."""
    return str(_latex_printer(letters).doprint(number))


@cache
def _latex_printer(letters: tuple[tuple[Any, str], ...]) -> _Latex:
    return _Latex(ln_notation=True, inv_trig_style="full", symbol_names=dict(letters))


@cache
def plain(number: Any) -> str:
    """The same as program code: `sqrt(3)/3`, `1/(1 + exp(sqrt(3)/3))`."""
    return str(_PLAIN.doprint(number))


@cache
def value(number: Any) -> complex:
    """The number as a complex, evaluated once however often it is shown."""
    known = figures(number) if _parts(number) > MOST_ORDERED else None
    found = complex(number if known is None else known)
    return 0j if 0 < abs(found) < LOST and _cancels(number) else found


def decimal(number: Any) -> float | None:
    """The number as a float, None if it holds letters."""
    if getattr(number, "free_symbols", None):
        return None
    known = figures(number) if _parts(number) > MOST_ORDERED else None
    found = float(sympy.N(number, 20) if known is None else known)
    return 0.0 if 0 < abs(found) < LOST and _cancels(number) else found


def _cancels(number: Any) -> bool:
    """Whether SymPy finds no digit of the number, since its terms cancel."""
    try:
        sympy.N(number, 15, strict=True)
    except PrecisionExhausted:
        return True
    return False


@cache
def taken_apart(number: Any) -> Any:
    """A number as nested tuples (function, parts), from which it can be rebuilt without evaluating it again."""
    parts = number.args if isinstance(number, sympy.Basic) else ()
    return (number.func, tuple(map(taken_apart, parts))) if parts else number


@cache
def put_together(number: Any) -> Any:
    """The number rebuilt from such tuples, unevaluated: `(1 − 5·√15)/10` is not multiplied out."""
    if not isinstance(number, tuple):
        return number
    function, parts = number
    return function(*map(put_together, parts), evaluate=False)


def array_of(shape: tuple[int, ...], numbers: Iterable[Any]) -> Array:
    """An array of numbers rebuilt from such tuples."""
    array = np.empty(shape, dtype=object)
    array.ravel()[:] = [put_together(number) for number in numbers]
    return array
