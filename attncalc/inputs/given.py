"""Entries checked and made into operands: of typed text, nested lists or arrays, each fault with its place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeGuard

import numpy as np

from attncalc.common.errors import InputError, amount, quoted, shape_text, visible
from attncalc.common.numerals import (
    BOOLEANS_HINT,
    GAPS_HINT,
    NOT_FINITE,
    STORED,
    Array,
    is_number,
    parse_number,
    vanishes,
    with_slashes,
)
from attncalc.declare.operands import Kind
from attncalc.record.trace import Given

MAX_CELLS = 10**8
MAX_DEPTH = 32  # of nested lists; NumPy itself ends at 64 axes

_TRUTH = {"true": True, "false": False}
_BLANKS = str.maketrans("[];,", "    ")

# Patterns that few calls need are compiled when they do.
_SCALAR = r"(?:np|numpy)\.(?:float|int)\d+\(([^()]*)\)"
_PRINTED = r"(?:(?:np|numpy|jnp|torch)\.)?(?:array|asarray|Array|tensor)\((.*)\)"
"""An array as NumPy, PyTorch and JAX print it, and as Python makes it; behind its numbers may stand `dtype=…`."""
_IN_ROWS = r"\[([^\[\]]*;[^\[\]]*)\]"
"""A matrix as Octave has it: `[1 2; 3 4]`."""
_COMMAS = r"[-+]?\d+,\d+(?:\s+[-+]?\d+,\d+)+"
"""A row of pairs, or of numbers with decimal commas: `0,5 1,25`."""

_DECIMAL = r"(?<=\d),(?=\d)"
DECIMAL_HINT = "--decimal , reads the commas as decimal marks"

Index = tuple[int, ...]
Place = Callable[[Index], str]
"""What messages call an entry, or a row of entries: (1, 0) → `q.json: q[1][0]` or `q.csv:2:1`; () is the whole."""


class Digits(str):
    """A number of a JSON file with the digits that were written; its type tells it from text in quotes."""

    __slots__ = ()


def brackets(source: str, key: str = "") -> Place:
    """Places in nested lists: (1, 0) → `q.json: q[1][0]`."""

    def place(index: Index) -> str:
        inside = key + "".join(f"[{i}]" for i in index)
        return f"{source}: {inside}" if source and inside else source or inside

    return place


def index_of(flat: int, shape: Index) -> Index:
    """The place of the entry with that number, counted from 0."""
    return tuple(int(i) for i in np.unravel_index(flat, shape)) if shape else ()


def spoken(item: Any) -> str:
    """What messages call something that stands in place of a number."""
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


def from_lists(tree: Any, kind: Kind, place: Place) -> Given:
    """An operand from nested lists of entries, or from one entry."""
    entries, shape = flatten(tree, place)
    return build(entries, shape, kind, place)


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
        many = amount(lengths[odd], "entry", "entries") if lengths[odd] else "no entries"
        raise InputError(
            f"{place(index_of(odd, shape))} has {many} where the first has {lengths[0]}",
            hint="the rows of an array are equally long",
        )


def build(entries: Sequence[Any], shape: Index, kind: Kind, place: Place) -> Given:
    """An operand from its entries in order: numbers, numbers as text, true and false for a mask, words for tokens."""
    if kind == "tokens":
        return Given(_tokens(entries, shape, place))
    if len(entries) > MAX_CELLS:
        raise InputError(f"{place(())} has more than {MAX_CELLS:,} entries")
    types = set(map(type, entries))
    if types <= {int, float}:
        return from_numbers(entries, shape, kind, place)
    entries = [with_slashes(entry) if type(entry) is str else entry for entry in entries]
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
    given = Given(np.array(values, dtype=np.float64).reshape(shape), written=written.reshape(shape))
    return given.noted("digits", next(filter(None, map(_lost, written, values)), ""))


def _lost(text: str, value: float) -> str:
    """What to say of an entry that 64 bits do not hold as it was written; the tail of 0.1 is no loss."""
    if value == 0 and vanishes(text):
        return f"{quoted(text)} is too small for 64 bits and became 0"
    if abs(value) >= EVERY_INTEGER and re.fullmatch(r"[+-]?[0-9]+", text) and int(text) != value:
        return f"{quoted(text)} has more digits than 64 bits hold and became {value:.0f}"
    return ""


EVERY_INTEGER = 2.0**53
"""Up to here 64 bits hold every whole number."""


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


def parse_entry(text: str, kind: Kind) -> float:
    """An entry of an operand of this kind: a number; −∞ if it means masked; true and false in a mask."""
    word = text.strip(" ").casefold()
    if kind == "mask" and word in _TRUTH:
        return _TRUTH[word]
    if word in ("-inf", "-infinity"):
        return check_finite(-math.inf, kind)
    value = parse_number(text)
    if kind == "integers" and not value.is_integer():
        raise InputError(f"{quoted(text)} is not a whole number")
    return value


def is_entry(text: str, kind: Kind) -> bool:
    """Whether a text is meant as an entry of such an operand: a number, or true and false in a mask."""
    return is_number(text) or (kind == "mask" and text.strip(" ").casefold() in _TRUTH)


def check_finite(value: float, kind: Kind) -> float:
    """The value itself; raises for one that is not finite, except −∞ in a mask, a bias or logits."""
    if math.isfinite(value) or (value == -math.inf and kind in ("logits", "mask")):
        return value
    if value == -math.inf:
        raise InputError(
            "-inf is not a finite number", hint="only a mask, a bias or the logits of a softmax may hold it"
        )
    raise InputError(f"{value} is not a finite number")


def _tokens(entries: Sequence[Any], shape: Index, place: Place) -> Array:
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


def from_numbers(entries: Sequence[Any], shape: Index, kind: Kind, place: Place) -> Given:
    """An operand from numbers in order."""
    try:
        value = np.array(entries, dtype=np.float64).reshape(shape)
    except OverflowError:
        odd = next(i for i, entry in enumerate(entries) if abs(entry) >= 2**1024)
        raise InputError(f"{place(index_of(odd, shape))}: a whole number above 1.8e308 is too large") from None
    _check_entries(value, kind, place)
    return _held(value, (entry for entry in entries if type(entry) is int and abs(entry) >= EVERY_INTEGER))


def _held(value: Array, whole: Iterable[int]) -> Given:
    """An operand, with a note on the first of these whole numbers that it does not hold exactly."""
    return Given(value).noted("digits", next((said for each in whole if (said := _lost(str(each), float(each)))), ""))


def from_array(value: Array, kind: Kind, place: Place, dtype: str = "float64", *, mapped: bool = False) -> Given:
    """An operand from an array that was stored as one: its type, size and entries are checked, and copied.

    Its numbers are widened to float64, except float32 if that is the type to compute in. An array that is mapped from a
    disk is neither copied nor widened: whoever uses it does that.
    """
    if mapped and value.size and value.dtype.name in STORED:
        _check_entries(value, kind, place)
        return Given(value)
    if value.dtype.kind not in "fiub":
        what = "complex numbers" if value.dtype.kind == "c" else f"{value.dtype.name} entries"
        raise InputError(f"{place(())} holds {what}, not real numbers")
    if value.size == 0:
        raise InputError(f"{place(())} is empty: its shape is {shape_text(value.shape)}")
    if value.dtype.kind == "b":
        if kind != "mask":
            raise InputError(f"{place(())} holds true and false, not numbers", hint=BOOLEANS_HINT)
        return Given(value.astype(bool))
    if kind == "tokens" and value.dtype.kind in "iu":
        return _ids(value, place)
    numbers = value.astype("float32" if dtype == value.dtype.name == "float32" else "float64")
    _check_entries(numbers, kind, place)
    if kind == "tokens":
        return _ids(numbers, place)
    held = _held(numbers, value[np.abs(numbers) >= EVERY_INTEGER].tolist() if value.dtype.kind in "iu" else ())
    return held.noted("bits", AS_BITS if kind != "mask" and may_be_bits(value) else "")


def _ids(value: Array, place: Place) -> Given:
    """Whole numbers as ids; those of more than 63 bits are none."""
    beyond = np.flatnonzero(np.abs(value.astype(float)) >= 2.0**63)
    if beyond.size:
        at = index_of(int(beyond[0]), value.shape)
        raise InputError(f"{place(at)}: {value[at]} is neither an id nor a word", hint="ids are whole numbers, from 0")
    return Given(value.astype(np.int64))


LEAST_BITS = 2**13
"""The bits of a bfloat16, read as a whole number, are no smaller than this, unless it is positive and next to 0."""
AS_BITS = "if these are the bits of bfloat16, save (x.astype('uint32') << 16).view('float32')"


def may_be_bits(value: Array) -> bool:
    """Whether whole numbers may be the bits of bfloat16, which NumPy holds so if it has no type for them."""
    return value.dtype.name == "uint16" and bool((value >= LEAST_BITS).any())


def _check_entries(value: Array, kind: Kind, place: Place) -> None:
    """Raise for an entry that is not finite, or not whole although whole numbers are wanted."""
    finite = np.isfinite(value)
    if not finite.all():
        for flat in np.flatnonzero(~finite):
            index = index_of(int(flat), value.shape)
            try:
                check_finite(float(value[index]), kind)
            except InputError as error:
                raise error.within(place(index)) from None
    if kind in ("integers", "tokens"):
        broken = np.flatnonzero(value % 1)
        if broken.size:
            index = index_of(int(broken[0]), value.shape)
            raise InputError(f"{place(index)}: {value[index]} is not a whole number")


def looks_numeric(text: str, kind: Kind = "real") -> bool:
    """Whether a word is numeric text, which is a literal even if there is a file of that name.

    `nan` and `inf` alone are not, nor is `[CLS]`: they may be names.
    """
    text = as_typed(text)
    parts = text.translate(_BLANKS).split()
    if text.startswith("["):
        return not parts or any(is_entry(part.strip('"'), kind) for part in parts)
    return all(is_entry(part, kind) for part in parts) and any(part.casefold() not in NOT_FINITE for part in parts)


def is_literal(value: Any, kind: Kind = "real") -> TypeGuard[str]:
    """Whether a text in quotes is an array as it is typed, `1/2 1 0; 1 0 2`, and not a single number or word."""
    return type(value) is str and re.search(r"[\s,;\[]", value.strip()) is not None and looks_numeric(value, kind)


def as_typed(text: str) -> str:
    """What Python or Octave print, as a list or rows: `array([1, 2], dtype=float32)`, `(1, 2)`, `[1 2; 3 4]`."""
    text = text.strip()
    if "(" in text:
        text = re.sub(_SCALAR, r"\1", text)
        printed = re.fullmatch(_PRINTED, text, re.DOTALL)
        text = text if printed is None else re.split(r",\s*[a-z_]+=", printed[1], maxsplit=1)[0].strip(", \n")
    if text.startswith(("(", "[(")) and text.endswith((")", "]")):
        text = _as_lists(text)
    rows = re.fullmatch(_IN_ROWS, text) if text[:1] == "[" else None
    return rows[1] if rows else text


def _as_lists(text: str) -> str:
    """Tuples as lists: `(1, sqrt(2))` → `[1, sqrt(2)]`."""
    found, is_call = "", []
    for sign in text:
        if sign == "(":
            is_call.append(found[-1:].isalpha())
        if (sign == "(" and not is_call[-1]) or (sign == ")" and is_call and not is_call.pop()):
            found = found + "[" if sign == "(" else found.rstrip(", ") + "]"
        else:
            found += sign
    return found


def read_literal(text: str, name: str, kind: Kind) -> Given:
    """A literal's array; `name` is the operand's, for errors, which count rows and entries from 1."""
    text = as_typed(text)
    if text.startswith("["):
        return from_lists(nested(text, name), kind, brackets("", name))
    if re.search(r";\s*$", text):
        raise InputError(f"{name}: there is no row after the last ;", hint="take it out: a ; stands between rows")
    split = re.split("[;\n]", text)
    rows = [[entry for part in row.split(",") for entry in part.split() or [""]] for row in split]
    tree: Any = rows if len(rows) > 1 else rows[0] if len(rows[0]) > 1 else rows[0][0]

    def place(index: Index) -> str:
        words = ("row", "entry") if len(rows) > 1 else ("entry",)
        counted = [f"{word} {i + 1}" for word, i in zip(words, index, strict=False)]
        return f"{name}: {', '.join(counted)}" if counted else name

    try:
        given = from_lists(tree, kind, place)
    except InputError as fault:
        with_points = [re.sub(_DECIMAL, ".", row, flags=re.ASCII).replace(",", " ").split() for row in split]
        even = len({len(row) for row in with_points}) == 1 < len(with_points[0])
        if even and len({*map(len, rows)}) > 1 and all(is_number(x) for row in with_points for x in row):
            fault.hint = DECIMAL_HINT
        raise
    twofold = all(re.fullmatch(_COMMAS, row.strip(), re.ASCII) for row in split)
    other = "a comma and a blank part numbers alike; with --decimal , the commas are decimal marks"
    return given.noted("decimal", other if twofold else "")


def nested(text: str, name: str) -> list[Any]:
    """The lists of `[[1, 2], [1/3, sqrt(2)]]`, entries as text; blanks will do for commas, as NumPy prints them."""
    root: list[Any] = []
    stack = [root]
    before = ""  # the token before
    for match in re.finditer(r'\[|\]|,|"[^"]*"|[^\[\],\s"]+|"', text):
        token = match.group()
        if token == "," and before in ("", ",", "["):
            raise InputError(f"{name}: there is no number before character {match.start() + 1} of {quoted(text)}")
        if token == "]" and (before == "," or len(stack) == 1):
            fault = "there is no number before the" if before == "," else "there is no [ for the"
            raise InputError(f"{name}: {fault} ] at character {match.start() + 1} of {quoted(text)}")
        if len(stack) == 1 and root:
            raise InputError(f"{name}: the list ends before character {match.start() + 1} of {quoted(text)}")
        if token == "[":
            stack[-1].append([])
            stack.append(stack[-1][-1])
        elif token == "]":
            stack.pop()
        elif token != ",":
            stack[-1].append(token.strip('"'))
        before = token
    if len(stack) > 1:
        raise InputError(f"{name}: a bracket of {quoted(text)} is not closed", hint="add ]")
    found: list[Any] = root[0]
    return found


def read_tokens(text: str, name: str) -> Given:
    """Ids, or words of a vocabulary, between blanks or commas; ids may stand in brackets, as JSON has them.

    Those of a batch are lists in a list, or rows of ids with a ; between them.
    """
    rows = text.split(";") if re.fullmatch(r"[-\d\s,]+(;[-\d\s,]+)+", text, re.ASCII) else []
    if rows or re.match(r"\s*\[\s*\[", text):
        tree = [re.split(r"[\s,]+", row.strip(" ,")) for row in rows] or nested(text, name)
        tokens, shape = flatten(tree, brackets("", name))
    else:
        listed = re.fullmatch(r"\s*\[([-\d\s,]*)\]\s*", text, re.ASCII)
        tokens = [word for word in re.split(r"[\s,]+", listed[1] if listed else text) if word]
        shape = (len(tokens),)
    if not tokens:
        raise InputError(f"{name}: there are no tokens", hint="give ids (1,2,3) or words of the vocabulary")
    ids = all(re.fullmatch(r"-?\d{1,18}", token, re.ASCII) for token in tokens)
    return build([Digits(token) if ids else token for token in tokens], shape, "tokens", brackets("", name))


def read_expression(text: str) -> Given:
    """A formula: its text, which the calculation reads itself."""
    return Given(np.array(text.strip()))
