"""Options, each checked against its declaration before anything is computed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Rational
from typing import Any

from attncalc.common.errors import InputError, OptionError
from attncalc.common.numerals import written_number
from attncalc.common.text import either, near, quoted, visible
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import Option

LARGEST_WHOLE = 10**15
"""Whole numbers beyond are none that a float is sure of, and count nothing that a computer holds."""


def checked(calculation: Calculation, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, each checked against its declaration."""
    result = {}
    for name, value in options.items():
        option, opposite = calculation.option(name), calculation.opposite(name)
        if option is None and opposite is not None and isinstance(value, bool):
            result[opposite.name] = not value
            continue
        if option is None:
            words = [o.name for o in calculation.options] + [o.name for o in calculation.operands]
            raise OptionError(f"{calculation.name} has no operand or option {name!r}", hint=near(name, words))
        # None, or null in a document, is as if it were not given.
        result[name] = option.default if value is None else read(option, value)
    return result


def read(option: Option, value: Any) -> Any:
    """The value as the option has it, text as one writes it too; or the error that says what the option may be."""
    if getattr(value, "ndim", None) == 0:  # a number of NumPy's, or a tensor of one
        value = value.item()
    if option.many:
        if isinstance(value, str) and value not in option.choices:
            value = [part.strip() for part in value.split(",")]
        items = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
        return tuple(read(option._replace(many=False), item) for item in items)
    if isinstance(value, str) and dict in option.types:
        value = assignments(value, option.flag)
    if isinstance(value, bool):
        if bool in option.types:
            return value
    elif isinstance(value, Mapping):
        if dict in option.types:
            return _by_name(option, value)
    elif isinstance(value, str):
        if value in option.choices or (str in option.types and not option.choices):
            return value
        if float in option.types or int in option.types:
            with suppress(InputError):  # which says of a word that it is no number; of an option more is known
                return read(option, written_number(value))
    elif isinstance(value, Rational | float) and (number := _as_number(option, value)) is not None:
        return number
    raise _refused(option, value)


def _by_name(option: Option, values: Mapping[Any, Any]) -> dict[str, Any]:
    """Numbers by the names of variables, each checked as a number."""
    number = option._replace(types=(float,))
    numbers = {n: _number(item, option.flag) if isinstance(item, str) else item for n, item in values.items()}
    return {_name(name, option): read(number, item) for name, item in numbers.items()}


def _as_number(option: Option, value: Rational | float) -> Rational | float | str | None:
    """The number as the option has it, within its range; None where it takes no such number."""
    size = _size(value)
    if math.isfinite(size) and not option.range.holds(size):
        raise OptionError(f"{option.flag} must be {option.range}, not {size:.15g}")
    if size == math.inf and "inf" in option.choices:
        return "inf"
    if float in option.types and math.isfinite(size):
        return value
    if int not in option.types or not size.is_integer():
        return None
    if abs(size) > LARGEST_WHOLE:
        raise OptionError(f"{option.flag} must be a whole number of up to 15 digits, not {size:g}")
    return int(size)


def _refused(option: Option, value: Any) -> OptionError:
    """The error that says what an option may be."""
    words = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a word",
        dict: "numbers by name (x=3,y=-1)",
    }
    kinds = [words[kind] for kind in option.types if kind is not str or not option.choices]
    hint = near(value, option.choices) if isinstance(value, str) else ""
    allowed = either([*kinds, *option.choices])
    found = quoted(value) if isinstance(value, str) else visible(repr(value), 80)
    return OptionError(f"{option.flag} must be {allowed}, not {found}", hint=hint)


def assignments(text: str, flag: str) -> dict[str, Rational | float] | Rational | float:
    """`x=3,y=-1` as numbers by their names, or a single number without a name."""
    found: dict[str, Rational | float] = {}
    parts = re.split(r"[,;\s]+", re.sub(r"\s*=\s*", "=", text.strip(" ,;")))
    for part in parts:
        name, equals, number = part.rpartition("=")
        if not equals and len(parts) > 1:
            raise OptionError(f"{flag} has {quoted(part)} without a name", hint="each number has one: x=3,y=-1")
        value = _number(number, flag)
        if not equals:
            return value
        if name in found:
            raise OptionError(f"{flag} gives {quoted(name)} twice")
        found[name] = value
    return found


def _number(text: str, flag: str) -> Rational | float:
    """The number of an assignment."""
    try:
        return written_number(text)
    except InputError as error:
        raise OptionError(f"{flag}: {error.message}", hint=error.hint or "write x=3,y=-1") from None


def _name(name: Any, option: Option) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise OptionError(f"{option.flag}: {quoted(str(name))} is not the name of a variable", hint="write x=3,y=-1")
    return name


def _size(value: Rational | float) -> float:
    """The number as a float; a whole number beyond floats is infinite among them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
