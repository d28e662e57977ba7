"""Proofreads a line of arithmetic: what somebody with a calculator gets from the digits that are printed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[+-]\d+)?|[A-Za-zσπ][A-Za-z₀-₉]*|\S)")
_NUMBERS = {"e": math.e, "π": math.pi, "∞": math.inf}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "ln": math.log,
    "log₂": math.log2,
    "log₁₀": math.log10,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arccos": math.acos,
    "erf": math.erf,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "max": max,
    "min": min,
}


def holds(line: str, result: str, digits: int | None = None) -> bool:
    """Whether the line comes to the result, to as many digits as are shown; what cannot be worked out is let pass.

    A number that ends early, as 1 or 0.5, is so to four decimals, unless a number of digits was asked for.
    """
    try:
        shown = float(result.replace("−", "-"))
        found = _Line(line).whole()
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        return True  # words, letters, what is beyond floats
    mantissa, _, exponent = result.partition("e")
    decimals = len(mantissa.partition(".")[2])
    if digits is None and not exponent:
        decimals = max(decimals, 4)
    unit = 10.0 ** (int(exponent or 0) - decimals)
    return abs(found - shown) <= 0.5 * unit * (1 + 1e-9) or found == shown


class _Line:
    """The rules of school, over numbers alone."""

    def __init__(self, line: str) -> None:
        self.tokens = [*_TOKEN.findall(line.replace("−", "-")), ""]
        self.place = 0

    def take(self, *wanted: str) -> str:
        token = self.tokens[self.place]
        self.place += bool(token) and token in wanted
        return token if token in wanted else ""

    def expect(self, wanted: str) -> None:
        if not self.take(wanted):
            raise ValueError(f"no {wanted}")

    def whole(self) -> float:
        value = self.sum()
        if self.tokens[self.place]:
            raise ValueError("no arithmetic")
        return value

    def sum(self) -> float:
        value = -self.product() if self.take("-") else self.product()
        while sign := self.take("+", "-"):
            value += self.product() if sign == "+" else -self.product()
        return value

    def product(self) -> float:
        value = self.power()
        while sign := self.take("×", "·", "/"):
            value = value / self.power() if sign == "/" else value * self.power()
        return value

    def power(self) -> float:
        if self.take("√"):
            return math.sqrt(self.atom())
        value = self.atom()
        if self.take("²"):
            return value**2
        return math.pow(value, self.signed()) if self.take("^") else value

    def signed(self) -> float:
        return -self.atom() if self.take("-") else self.atom()

    def atom(self) -> float:
        token = self.tokens[self.place]
        self.place += 1
        if token in ("(", "|"):
            value = self.sum()
            self.expect(")" if token == "(" else "|")
            return value if token == "(" else abs(value)
        if token in _FUNCTIONS:
            self.expect("(")
            values = [self.sum()]
            while self.take(","):
                values.append(self.sum())
            self.expect(")")
            return _FUNCTIONS[token](*values)
        return _NUMBERS[token] if token in _NUMBERS else float(token)
