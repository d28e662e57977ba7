"""The entries of an array: the text of a number read by a small grammar, and what an operand's kind allows.

    entry   = ["+" | "-"] factor {("*" | "/") factor}
    factor  = decimal | "pi" | "sqrt(" decimal ["/" decimal] ")"
    decimal = 12, 0.5, .5, 1e-3 …, in ASCII digits

Nothing else is a number: `float` would also take `1_0`, `nan` and the digits of other scripts.
"""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING

from attncalc.errors import InputError
from attncalc.text import quoted

if TYPE_CHECKING:
    from attncalc.calculation import Kind

BOOLEANS_HINT = "true and false stand in masks alone: write 1 and 0"

_DECIMAL = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_FACTOR = rf"(?:{_DECIMAL}|pi|sqrt\({_DECIMAL}(?:/{_DECIMAL})?\))"
_PLAIN = re.compile(rf"[+-]?{_DECIMAL}", re.ASCII)
GAPS_HINT = "arrays have no gaps: every entry must be a number"
KEPT_DIGITS = 2**18  # characters of text up to which each number keeps the digits that it was written with
NOT_FINITE = ("nan", "inf", "infinity")
_TRUTH = {"true": True, "false": False}


class Digits(str):
    """A number of a JSON file in the digits that stand there, told from text in quotes by its type."""

    __slots__ = ()


def parse_number(text: str) -> float:
    """A finite number as a person writes it: `0.5`, `1e-3`, `1/3`, `sqrt(2)`, `1/sqrt(3)`, `-pi/2`."""
    text = text.strip(" ")
    if _PLAIN.fullmatch(text):
        value = float(text)
    elif _is_product(text):
        value = _product(text)
    else:
        from attncalc.inputs.mends import mend

        raise InputError(_fault(text), hint=mend(text))
    return _in_range(value, text)


def parse_entry(text: str, kind: Kind) -> float:
    """An entry of an operand of this kind: a number; −∞ where it means masked; true and false in a mask."""
    word = text.strip(" ").casefold()
    if kind == "mask" and word in _TRUTH:
        return _TRUTH[word]
    if word in ("-inf", "-infinity"):
        return check_finite(-math.inf, kind)
    value = parse_number(text)
    if kind == "integers" and not value.is_integer():
        raise InputError(f"{quoted(text)} is not a whole number")
    return value


def check_finite(value: float, kind: Kind) -> float:
    """The value itself; raises for one that is not finite, except −∞ in a mask, a bias or logits."""
    if math.isfinite(value) or (value == -math.inf and kind in ("logits", "mask")):
        return value
    if value == -math.inf:
        raise InputError(
            "-inf is not a finite number", hint="only a mask, a bias or the logits of a softmax may hold it"
        )
    raise InputError(f"{value} is not a finite number")


def is_number(text: str, kind: Kind = "real") -> bool:
    """Whether a text is meant as a number, finite or not: what tells data from headers and literals from names."""
    text = text.strip(" ")
    word = text.casefold()
    return bool(
        _PLAIN.fullmatch(text)
        or word.lstrip("+-") in NOT_FINITE
        or _is_product(text)
        or (kind == "mask" and word in _TRUTH)
    )


def vanishes(text: str) -> bool:
    """Whether the number written here is not 0, so that a value of 0 means it was too small for 64 bits."""
    return re.search(r"[1-9]", re.split("[eE]", text, maxsplit=1)[0]) is not None


def _is_product(text: str) -> bool:
    if text[:1] not in tuple("+-.0123456789ps"):  # most names end here, before the pattern is compiled
        return False
    return re.fullmatch(rf"[+-]?{_FACTOR}(?:[*/]{_FACTOR})*", text, re.ASCII) is not None


def _product(text: str) -> float:
    value = -1.0 if text.startswith("-") else 1.0
    for operator, written in re.findall(rf"([*/]?)({_FACTOR})", text, re.ASCII):
        factor = _in_range(_factor(written, text), text)
        value = _in_range(_quotient(value, factor, text) if operator == "/" else value * factor, text)
    return value


def _factor(written: str, text: str) -> float:
    if written == "pi":
        return math.pi
    if not written.startswith("sqrt"):
        return float(written)
    radicand, _, divisor = written[5:-1].partition("/")
    above, below = (_in_range(float(part), text) for part in (radicand, divisor or "1"))
    quotient = _quotient(above, below, written)
    if sys.float_info.min <= quotient < math.inf:
        return math.sqrt(quotient)
    return math.sqrt(above) / math.sqrt(below)  # a root may fit where its radicand does not


def _in_range(value: float, text: str) -> float:
    if not math.isfinite(value):
        raise InputError(f"{quoted(text)} is too large: 64-bit numbers end at 1.8e308")
    return value


def _quotient(above: float, below: float, text: str) -> float:
    if below == 0:
        raise InputError(f"{quoted(text)} divides by zero")
    return above / below


def _fault(text: str) -> str:
    if not text:
        return "there is no number"
    finite = text.casefold().lstrip("+-") not in NOT_FINITE
    return f"{quoted(text)} is not a {'' if finite else 'finite '}number"
