"""Options, each checked against its declaration before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attncalc.calculation import Calculation, Option
from attncalc.errors import OptionError
from attncalc.text import either, near


def checked(calculation: Calculation, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, each checked against its declaration."""
    known = {option.name: option for option in calculation.options}
    result = {}
    for name, value in options.items():
        if name not in known:
            words = [*known, *(operand.name for operand in calculation.operands)]
            raise OptionError(f"{calculation.name} has no operand or option {name!r}", hint=near(name, words))
        result[name] = value if value is None else _checked(known[name], value)
    return result


def _checked(option: Option, value: Any) -> Any:
    if option.many:
        items = [value] if isinstance(value, (str, int, float)) else value
        return tuple(_checked(replace(option, many=False), item) for item in items)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        if bool in option.types:
            return value
    elif isinstance(value, str):
        if value in option.choices or (str in option.types and not option.choices):
            return value
    elif isinstance(value, int | float):
        if np.isfinite(value) or "inf" not in option.choices:
            if float in option.types and np.isfinite(value):
                return value
            if int in option.types and float(value).is_integer():
                return int(value)
        elif value > 0:
            return "inf"
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}
    allowed = either(
        [words[kind] for kind in option.types if kind is not str or not option.choices] + [*option.choices]
    )
    raise OptionError(f"{option.flag} must be {allowed}, and not {value!r}", hint=near(str(value), option.choices))
