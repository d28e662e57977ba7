"""How operands and options are spelled in a command's help and on a reference card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attncalc.text import either

if TYPE_CHECKING:
    from attncalc.calculation import Operand, Option, Shape


def value_word(option: Option) -> str:
    """What an option takes: `N`, `NUMBER|none`, `N,N,…`; "" where it is a switch."""
    kinds = ["NUMBER"] if float in option.types else ["N"] if int in option.types else []
    kinds = ["NAME=NUMBER,…", *kinds] if dict in option.types else kinds
    kinds += option.choices or (["WORD"] if str in option.types else [])
    words = "|".join(kinds)
    return f"{words},{words},…" if option.many else words


def default_word(option: Option) -> str:
    """The default as one would type it: `10000`, `1e-05`, `2,8,32`; a switch is `on`; "" where there is none."""
    return "" if option.default is None or option.default is False else typed(option.default)


def typed(value: Any) -> str:
    """The value of an option as one would type it."""
    if value is True:
        return "on"
    if isinstance(value, tuple):
        return ",".join(map(typed, value))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def shape_words(operand: Operand) -> str:
    """`[n, (h d_k)]`, alternatives with `or`; a single number has no axes, and a formula is text."""
    return "text" if operand.kind == "expression" else either(map(_shape, operand.shapes))


def _shape(shape: Shape) -> str:
    axes = (axis if isinstance(axis, str) else f"({' '.join(axis)})" for axis in shape)
    return f"[{', '.join(axes)}]"
