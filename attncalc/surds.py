"""Exact numbers as a reader sees them: `√3/3`, `1/(1 + e^(√3/3))`, in text and in LaTeX.

SymPy is imported here, and by what makes exact numbers; nothing imports this before an exact number is at hand.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy
from sympy.printing.str import StrPrinter


class _Printer(StrPrinter):  # type: ignore[misc]  # SymPy ships no types
    """SymPy's own printer, with the signs that are written on paper."""

    def _print_Exp1(self, expr: Any) -> str:  # noqa: N802  (SymPy finds its methods by these names)
        return "e"

    def _print_exp(self, expr: Any) -> str:
        return f"e^{self.parenthesize(expr.args[0], 1000, strict=True)}"

    def _print_ExpBase(self, expr: Any) -> str:  # noqa: N802
        return self._print_exp(expr)

    def _print_Pi(self, expr: Any) -> str:  # noqa: N802
        return "π"

    def _print_Infinity(self, expr: Any) -> str:  # noqa: N802
        return "∞"

    def _print_NegativeInfinity(self, expr: Any) -> str:  # noqa: N802
        return "−∞"

    def _print_log(self, expr: Any) -> str:
        return f"ln({self._print(expr.args[0])})"

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        return f"|{self._print(expr.args[0])}|"

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Mul(expr)).replace("*", "·")

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802
        base, exponent = expr.args
        if exponent == sympy.Rational(1, 2):
            inner = self._print(base)
            return f"√{inner}" if base.is_Atom and base.is_nonnegative is not False else f"√({inner})"
        if exponent == sympy.Rational(-1, 2):
            return f"1/{self._print_Pow(sympy.Pow(base, sympy.Rational(1, 2), evaluate=False))}"
        return str(super()._print_Pow(expr, rational=rational)).replace("**", "^")


@cache
def text(number: Any) -> str:
    """An exact number, or an expression in letters, on one line."""
    return str(_Printer({"order": "none"}).doprint(number))


@cache
def latex(number: Any) -> str:
    """The same in LaTeX."""
    return str(sympy.latex(number, ln_notation=True))


def decimal(number: Any) -> float | None:
    """The number as a float, None where it holds letters."""
    if getattr(number, "free_symbols", None):
        return None
    return float(sympy.N(number, 20))
