"""How help and reference cards speak of operands, of options, and of the derivatives that any calculation may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.common.text import either

if TYPE_CHECKING:  # help is written before NumPy is loaded
    from attncalc.declare.operands import Operand, Option, Shape


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


def operand_words(operand: Operand) -> str:
    """The operand's type as Python spells it: `Numbers | Literal["alibi"] | None`."""
    kinds = {"expression": "str", "tokens": "Numbers | str", "model": "Mapping[str, object]"}
    words = ", ".join(f'"{word}"' for word in operand.words)
    found = [kinds.get(operand.kind, "Numbers"), *([f"Literal[{words}]"] if words else [])]
    return " | ".join([*found, *([] if operand.required else ["None"])])


def type_words(option: Option) -> str:
    """The option's type as Python spells it: `float | Literal["default", "none"]`, `int | Iterable[int] | None`."""
    kinds = {bool: "bool", int: "int", float: "Number", str: "str", dict: "Mapping[str, Number] | str"}
    found = [kinds[kind] for kind in option.types if kind is not str or not option.choices]
    if option.choices:
        words = ", ".join(f'"{word}"' for word in option.choices)
        found.append(f"Literal[{words}]")
    if option.many:
        found += [f"Iterable[{' | '.join(found)}]"]
    return " | ".join([*found, *(["None"] if option.default is None else [])])


def shape_words(operand: Operand) -> str:
    """`[n, (h d_k)]`, alternatives with `or`; a single number has no axes, and a formula is text."""
    return "text" if operand.kind == "expression" else either(map(_shape, operand.shapes))


def _shape(shape: Shape) -> str:
    axes = (axis if isinstance(axis, str) else f"({' '.join(axis)})" for axis in shape)
    return f"[{', '.join(axes)}]"


class Derivative(NamedTuple):
    """What is said of a derivative, and the options that are its own."""

    says: str  # with a place for the calculation's name
    options: Mapping[str, tuple[str, str]]  # name → what it takes ("" for a switch), and what it is for


DERIVATIVES = {
    "grad": Derivative(
        "The backward pass of {}.",
        {
            "wrt": ("NAME,NAME,…", "only these gradients"),
            "gradcheck": ("", "compare each gradient with central differences"),
        },
    ),
    "jacobian": Derivative(
        "The Jacobian of {}: how every entry of the result changes with every entry of an operand.",
        {"wrt": ("NAME,NAME,…", "only with respect to these")},
    ),
}
"""What stands before a calculation's name → the derivative."""
