"""Nested lists and stored arrays made into operands, with every fault named by the place of the entry that has it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.errors import InputError
from attncalc.inputs.entries import BOOLEANS_HINT, GAPS_HINT, Digits, parse_entry, vanishes
from attncalc.text import amount, quoted, visible
from attncalc.trace import Given

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncalc.calculation import Kind

MAX_CELLS = 10**8
MAX_DEPTH = 32  # of nested lists; NumPy itself ends at 64 axes

Index = tuple[int, ...]
Place = Callable[[Index], str]
"""How an entry, or a row of them, is spoken of: (1, 0) → `q.json: q[1][0]` or `q.csv:2:1`; () is the whole."""


def brackets(source: str, key: str = "") -> Place:
    """Places in nested lists: (1, 0) → `q.json: q[1][0]`."""

    def place(index: Index) -> str:
        inside = key + "".join(f"[{i}]" for i in index)
        return f"{source}: {inside}" if source and inside else source or inside

    return place


def flatten(tree: Any, place: Place) -> tuple[Sequence[Any], Index]:
    """The entries of nested lists in order, and their shape; ragged, empty and too deep ones are refused."""
    items: Sequence[Any] = [tree]
    shape: Index = ()
    while any(issubclass(kind, list | tuple) for kind in set(map(type, items))):
        if len(shape) == MAX_DEPTH:
            raise InputError(f"{place(())} is nested more than {MAX_DEPTH} deep")
        _check_level(items, shape, place)
        if not items[0]:
            raise InputError(f"{place(index_of(0, shape))} is empty")
        shape = (*shape, len(items[0]))
        if math.prod(shape) > MAX_CELLS:
            raise InputError(f"{place(())} has more than {MAX_CELLS:,} entries")
        items = list(chain.from_iterable(items))
    return items, shape


def build(entries: Sequence[Any], shape: Index, kind: Kind, place: Place) -> Given:
    """An operand from its entries in order: numbers, numbers as text, true and false for a mask, words for tokens."""
    if kind == "tokens":
        return Given(_tokens(entries, shape, place))
    if len(entries) > MAX_CELLS:
        raise InputError(f"{place(())} has more than {MAX_CELLS:,} entries")
    types = set(map(type, entries))
    if types <= {int, float}:
        from attncalc.inputs.numeric import from_numbers  # of files and of Python; a literal's are text

        return from_numbers(entries, shape, kind, place)
    values: list[float] = []
    for i, entry in enumerate(entries):
        try:
            values.append(_value(entry, kind))
        except InputError as error:
            raise error.within(place(index_of(i, shape))) from None
    truth = [isinstance(value, bool) for value in values]
    if any(truth):
        if not all(truth):
            odd = place(index_of(truth.index(not truth[0]), shape))
            raise InputError(f"{odd}: a mask holds either true and false or numbers, not both")
        return Given(np.array(values, dtype=bool).reshape(shape))
    written = np.empty(len(values), dtype=object)
    written[:] = [str(entry) if isinstance(entry, str) else repr(entry) for entry in entries]
    lost = [text for text, value in zip(written, values, strict=True) if value == 0 and vanishes(text)]
    return Given(
        np.array(values, dtype=np.float64).reshape(shape),
        written=written.reshape(shape),
        note=f"{quoted(lost[0])} is too small for 64 bits and became 0" if lost else "",
    )


def _check_level(items: Sequence[Any], shape: Index, place: Place) -> None:
    """Raise unless all items are lists, and equally long."""
    lists = [isinstance(item, list | tuple) for item in items]
    if not all(lists):
        odd = lists.index(not lists[0])
        expected = f"a list of {len(items[0])}" if lists[0] else "a number"
        raise InputError(f"{place(index_of(odd, shape))} is {spoken(items[odd])} where {expected} is expected")
    lengths = [len(item) for item in items]
    if len(set(lengths)) > 1:
        odd = next(i for i, length in enumerate(lengths) if length != lengths[0])
        raise InputError(
            f"{place(index_of(odd, shape))} has {_entries(lengths[odd])} where the first has {lengths[0]}",
            hint="the rows of an array are equally long",
        )


def _value(entry: Any, kind: Kind) -> float:
    """One entry's value; raises the fact alone, without its place."""
    if isinstance(entry, str):
        return parse_entry(entry, kind)
    if isinstance(entry, bool) and kind == "mask":
        return entry
    if isinstance(entry, bool):
        raise InputError(f"{spoken(entry)} is not a number", hint=BOOLEANS_HINT)
    if isinstance(entry, int | float):
        return parse_entry(repr(entry), kind)
    if entry is None:
        raise InputError("null is not a number", hint=GAPS_HINT)
    if isinstance(entry, dict) and entry.keys() == {"re", "im"}:
        raise InputError("a complex number is not read", hint="operands are real")
    raise InputError(f"{spoken(entry)} is not a number")


def _tokens(entries: Sequence[Any], shape: Index, place: Place) -> NDArray[Any]:
    """Ids as integers, words as text."""
    for i, entry in enumerate(entries):
        text = type(entry) is str
        if not text and not re.fullmatch(r"-?[0-9]{1,18}", str(entry)):
            fact = f"{spoken(entry)} is neither an id nor a word"
            raise InputError(f"{place(index_of(i, shape))}: {fact}", hint="ids are whole numbers, from 0")
    if not any(type(entry) is str for entry in entries):
        return np.array([int(entry) for entry in entries], dtype=np.int64).reshape(shape)
    words = np.empty(len(entries), dtype=object)
    words[:] = [str(entry) for entry in entries]
    return words.reshape(shape)


def index_of(flat: int, shape: Index) -> Index:
    """Where the entry of that number stands, counted from 0."""
    return tuple(int(i) for i in np.unravel_index(flat, shape)) if shape else ()


def _entries(number: int) -> str:
    return amount(number, "entry", "entries") if number else "no entries"


def spoken(item: Any) -> str:
    """What stands in the place of a number, in words."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, Digits):
        return visible(item, 80)
    if isinstance(item, str):
        return quoted(item)
    if item is None:
        return "null"
    if isinstance(item, dict):
        return "an object"
    if isinstance(item, list | tuple):
        return "a list"
    if isinstance(item, int | float):
        return "a number"
    return f"a value of type {type(item).__name__}"
