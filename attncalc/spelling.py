"""How operands and options are spelled in a command's help and on a reference card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attncalc.text import either, flag

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
    return "" if option.default is None or option.default is False else _typed(option.default)


def set_otherwise(changed: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """How other options are set than those that were given: `--layout half, where the problem says interleaved`."""
    others = {name: value for name, value in changed.items() if value != given[name]}
    return "; ".join(_other_setting(name, value, given[name]) for name, value in others.items())


def _other_setting(name: str, value: Any, given: Any) -> str:
    if isinstance(value, bool):
        return f"with {flag(name)}, where the problem is without" if value else f"without {flag(name)}"
    return f"{flag(name)} {_typed(value)}, where the problem says {_typed(given)}"


def _typed(value: Any) -> str:
    if value is True:
        return "on"
    if isinstance(value, tuple):
        return ",".join(map(_typed, value))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def shape_words(operand: Operand) -> str:
    """`[n, (h d_k)]`, alternatives with `or`; a single number has no axes, and a formula is text."""
    return "text" if operand.kind == "expression" else either(map(_shape, operand.shapes))


def _shape(shape: Shape) -> str:
    axes = (axis if isinstance(axis, str) else f"({' '.join(axis)})" for axis in shape)
    return f"[{', '.join(axes)}]"
