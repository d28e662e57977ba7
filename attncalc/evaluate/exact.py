"""Operands as exact numbers or as letters; everything computed from them is then exact too."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from attncalc.common.errors import EXACT_DIGITS, WITHOUT_EXACT, NotExact, shape_text, visible
from attncalc.language.exact_kernels import MOST_EXACT, exactly, refuse_many
from attncalc.record.trace import LETTERS, Given

_FACTOR = re.compile(r"([*/]?)(?:(pi)|(sqrt|ln|exp)\(([^/()]+)(?:/([^()]+))?\)|([\d.]+(?:[eE][+-]?\d+)?))", re.ASCII)


def exact(given: Given) -> Given:
    """The operand as exact numbers, each exactly as it was written: 0.1 as one tenth, 1/3 as one third."""
    if given.value.dtype.kind != "f":
        return given
    refuse_many(given.value.size)
    if given.written is None:
        return given._replace(value=exactly(given.value))
    entries = [_entry(text) for text in given.written.flat]
    value = np.empty(len(entries), dtype=object)
    value[:] = entries
    return given._replace(value=value.reshape(given.value.shape))


def _entry(text: str) -> Any:
    """The exact value of an entry, which attncalc.common.numerals has already accepted."""
    text = str(text).strip()
    if text.casefold() in ("-inf", "-infinity"):
        return -sympy.oo
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    result = sympy.Integer(sign)
    for mark, pi, function, above, below, decimal in _FACTOR.findall(rest):
        factor = sympy.pi if pi else _decimal(decimal) if decimal else _of(function, above, below or "1")
        result = result / factor if mark == "/" else result * factor
    return result


def _of(function: str, above: str, below: str) -> Any:
    known = {"sqrt": sympy.sqrt, "ln": sympy.log, "exp": sympy.exp}
    return known[function](_decimal(above) / _decimal(below))


def _decimal(text: str) -> Any:
    if len(text) > EXACT_DIGITS:
        raise NotExact(
            f"an entry is written with {len(text):,} characters, but the limit is {EXACT_DIGITS:,}", hint=WITHOUT_EXACT
        )
    figures, _, exponent = text.casefold().partition("e")
    if not figures.strip("0."):
        return sympy.Integer(0)
    if abs(int(exponent or 0)) > EXACT_DIGITS:  # SymPy would write the power of ten out
        raise NotExact(f"the entry {visible(text, 40)} has more than {EXACT_DIGITS:,} digits", hint=WITHOUT_EXACT)
    return sympy.Rational(text)


def letters(name: str, shape: Sequence[int]) -> Given:
    """An operand of letters: `q` of shape 2×3 is q₀₀ … q₁₂, each a real number."""
    if 0 in shape:
        raise NotExact(f"{name} would have no letters: its shape is {shape_text(shape)}", hint=f"{name} as 2x3 has six")
    if math.prod(shape) > MOST_EXACT:
        fact = f"{name} would have {math.prod(shape):,} letters, but the limit is {MOST_EXACT:,}"
        raise NotExact(fact, hint=f"{name} as 2x3 has six")
    value = np.empty(shape, dtype=object)
    name = name.replace("_", "")  # the only underscore is that before the place: `refchosen_0`
    for place in np.ndindex(*shape):
        below = ",".join(map(str, place)) if any(i > 9 for i in place) else "".join(map(str, place))
        value[place] = sympy.Symbol(f"{name}_{below}" if below else name, real=True)
    return Given(value, LETTERS)
