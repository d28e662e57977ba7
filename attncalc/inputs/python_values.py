"""Arrays from Python: lists, NumPy, torch and JAX by the array protocols, data frames with labels, exact numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from attncalc.common.errors import EXACT_DIGITS, InputError, either, quoted, visible
from attncalc.common.numerals import BOOLEANS_HINT, NARROW, Array
from attncalc.declare.operands import Operand
from attncalc.inputs.given import (
    Index,
    brackets,
    build,
    check_finite,
    flatten,
    from_array,
    index_of,
    looks_numeric,
    read_expression,
    read_tokens,
    spoken,
)
from attncalc.record.trace import Given


def to_given(value: Any, operand: Operand, dtype: str = "float64") -> Given:
    """A Python value as an operand; its entries are checked as those of a file are, and copied.

    Object arrays of SymPy numbers or symbols, Fractions or Decimals keep their exact entries; text is read as numbers.
    Arrays of float32 are widened, unless `dtype`, the type to compute in, is float32 as well.
    """
    if isinstance(value, Given):
        return value
    name = operand.name
    if isinstance(value, str):
        if operand.kind == "tokens":
            return read_tokens(value, name)
        if operand.kind == "expression":
            return read_expression(value)
        known = f"an array or {either(operand.words)}" if operand.words else "an array"
        file = "attncalc.attention(**json.load(open(PATH))) is a call with a file's operands"
        typed = looks_numeric(value) and "numbers stand in lists: [[1, 2], [3, 4]]"
        hint = typed or (file if value.endswith(".json") else "numpy.load and the like read files")
        raise InputError(f"{name} is the text {quoted(value)}, not {known}", hint=hint)
    if operand.kind == "expression":
        raise InputError(f"{name} is a {type(value).__name__}, and a formula is text", hint='write "x**2 + sin(y)"')
    refuse_held_tensor(value, name)
    labels = _frame_labels(value)
    if isinstance(value, dict) and value and all(isinstance(label, str) for label in value):
        labels, value = {0: tuple(value)}, list(value.values())  # rows by their labels, as JSON has them
    array: Any = value if isinstance(value, list | tuple) else _as_array(value, name)
    if isinstance(array, np.ndarray) and array.dtype == object and any(map(_holds, set(map(type, array.flat)))):
        array = array.tolist()  # a column with a row in each cell, as tables of vectors have it
    if isinstance(array, list | tuple):
        given = _from_entries(*flatten(opened_lists(array, name), brackets("", name)), operand)
    elif array.dtype.kind in "OUST":  # exact numbers, letters, text
        given = _from_entries(array.ravel().tolist(), array.shape, operand)
    else:
        given = from_array(array, operand.kind, brackets("", name), dtype)
    return given._replace(labels=labels) if labels else given


def is_fraction(given: Given) -> bool:
    """Whether an operand holds Python's exact numbers, which were not turned into SymPy's."""
    return given.value.dtype == object and any(isinstance(entry, Fraction) for entry in given.value.flat)


def in_floats(given: Given) -> Given:
    """An operand of exact numbers as floats; any other is left as it is."""
    if given.value.dtype != object or not all(_is_a_number(entry) for entry in given.value.flat):
        return given
    return given._replace(value=given.value.astype(np.float64))


def _is_a_number(entry: Any) -> bool:
    return isinstance(entry, Real) or not getattr(entry, "free_symbols", True)


def refuse_held_tensor(value: Any, name: str) -> None:
    """Raise for a tensor that NumPy cannot see: one that records gradients, or lies on another device."""
    if getattr(value, "requires_grad", False) is True:
        raise InputError(f"{name} is a tensor that requires a gradient: give {name}.detach().cpu()")
    device = getattr(value, "device", None)
    where = getattr(device, "type", None)  # torch's; other libraries' devices convert by themselves
    if isinstance(where, str) and where not in ("cpu", "meta"):
        raise InputError(f"{name} is a tensor on {quoted(str(device))[1:-1]}: give {name}.detach().cpu()")


def _frame_labels(value: Any) -> dict[int, tuple[str, ...]]:
    """The labels of a data frame or a series, if they are text; a default index of numbers is none."""
    arrow = getattr(value, "column_names", None)
    if arrow is None and not hasattr(value, "to_numpy"):
        return {}
    columns = arrow or getattr(value, "columns", None)  # in Arrow's tables these are the arrays themselves
    found = {}
    for axis, labels in enumerate((getattr(value, "index", None), columns)):
        words = list(labels) if labels is not None and not callable(labels) else []
        if words and all(isinstance(word, str) for word in words):
            found[axis] = tuple(words)
    return found


def stored_numbers(value: Any, name: str) -> tuple[Array, str]:
    """The numbers of an array from Python, and the type in which it holds them."""
    refuse_held_tensor(value, name)
    array = _as_array(value, name)
    if array.dtype.kind not in "fiubc":
        raise InputError(f"{quoted(name)} holds {array.dtype.name} entries, not numbers")
    return array, narrow(value) or array.dtype.name


def narrow(value: Any) -> str:
    """The type of 16 bits or 8 in which an array from Python holds its numbers; "" for any other."""
    own = str(getattr(value, "dtype", "")).removeprefix("torch.")
    return own if own in NARROW else ""


def widened(value: Any) -> Any:
    """A tensor of torch, widened if NumPy does not have its type; anything else as it is."""
    return value.float() if hasattr(value, "float") and narrow(value) not in ("", "float16") else value


def _as_array(value: Any, name: str) -> Array:
    """What NumPy sees in a value."""
    value = widened(value)
    if isinstance(value, set | frozenset | dict):
        raise InputError(f"{name} is a {type(value).__name__}, which has no order of entries", hint="give nested lists")
    if np.ma.isMaskedArray(value) and np.ma.getmaskarray(value).any():
        raise InputError(f"{name} is a masked array with masked entries", hint="give numbers, and the mask by itself")
    try:
        if hasattr(value, "__array__"):
            array = np.asarray(value)
        elif hasattr(value, "to_numpy"):
            array = np.asarray(value.to_numpy())
        else:
            array = np.from_dlpack(value) if hasattr(value, "__dlpack__") else np.asarray(value)
    except Exception as error:  # whatever a foreign array raises is told as what could not be read
        first = str(error).partition("\n")[0]
        raise InputError(f"{name}: NumPy cannot read this {type(value).__name__}: {quoted(first)}") from error
    if array.dtype.name in NARROW and not np.issubdtype(array.dtype, np.floating):  # ml_dtypes' own
        return array.astype(np.float32)
    if array.dtype == object and array.ndim == 0 and not isinstance(array[()], _EXACT):
        raise InputError(f"{name} is {spoken(value) if value is not None else 'None'}, not an array")
    return array


_EXACT = (Real, Decimal)


@dataclass(frozen=True)
class _Together:
    """Arrays of one type, which NumPy may lack, as one array."""

    dtype: str
    array: Array

    def __array__(self, dtype: object = None, copy: object = None) -> Array:
        return self.array


def together(value: Any, name: str) -> Any:
    """A list of arrays of one narrow type and one shape as one array of that type; anything else as it is."""
    if not isinstance(value, list | tuple) or not value:
        return value
    rows = [together(value[0], name)]
    if not (own := narrow(rows[0])):
        return value
    rows += [together(each, name) for each in value[1:]]
    if any(narrow(row) != own for row in rows):
        return value
    for row in rows:
        refuse_held_tensor(row, name)
    arrays = [_as_array(row, name) for row in rows]
    return _Together(own, np.stack(arrays)) if len({array.shape for array in arrays}) == 1 else value


def opened_lists(value: Any, name: str) -> Any:
    """Nested lists in which every array is turned into a list as well."""
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [opened_lists(item, name) for item in value] if any(map(_holds, set(map(type, value)))) else list(value)
    refuse_held_tensor(value, name)
    return _as_array(value, name).tolist() if _holds(type(value)) else value


def _holds(kind: type) -> bool:
    """Whether a value of this type may hold several entries."""
    if issubclass(kind, str | bytes | np.generic):
        return False
    return issubclass(kind, Sequence) or hasattr(kind, "__array__")


def _from_entries(entries: Sequence[Any], shape: Index, operand: Operand) -> Given:
    """An operand from Python numbers; those that are exact stay exact."""
    place = brackets("", operand.name)
    if 0 in shape:
        raise InputError(f"{operand.name} is empty")
    values = [entry.item() if isinstance(entry, np.generic) else entry for entry in entries]
    if operand.kind == "tokens" or not any(_is_exact(value) for value in values):
        return build(values, shape, operand.kind, place)
    exact = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        exact[i] = _exact(value, operand, place(index_of(i, shape)))
    return Given(exact.reshape(shape))


def _is_exact(value: Any) -> bool:
    """Whether a number is exact, or a symbol: not a float, not an int, which any array may hold."""
    return isinstance(value, Fraction | Decimal) or hasattr(value, "free_symbols")


def _exact(value: Any, operand: Operand, at: str) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        raise InputError(
            f"{at} is {value!r}, among exact numbers", hint=BOOLEANS_HINT if isinstance(value, bool) else ""
        )
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InputError(f"{at}: {value} is not a finite number")
        if value and abs(value.adjusted()) > EXACT_DIGITS:  # the fraction would write out the power of ten
            fact = f"{visible(str(value), 40)} has more than {EXACT_DIGITS:,} digits as a fraction"
            raise InputError(f"{at}: {fact}", hint="give float(…)")
        return Fraction(value)
    if isinstance(value, float):
        try:
            check_finite(value, operand.kind)
        except InputError as error:
            raise error.within(at) from None
        return Fraction(repr(value)) if math.isfinite(value) else value
    if isinstance(value, Integral | Fraction) or getattr(value, "is_extended_real", None) is not False:
        return value
    raise InputError(f"{at} is {type(value).__name__}, not a real number")
