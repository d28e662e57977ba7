"""Sheets and findings as JSON between processes: what a type says of its parts is written, and read again."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from attncalc.common.errors import InputError

Value = TypeVar("Value")
_DOCUMENTS = ("Json", "MarkedDocument", "MarkedStepDocument", "PolicyDocument", "RemarkDocument")
UNSEEN = {"Array": NDArray[Any], **dict.fromkeys(_DOCUMENTS, Any)}
"""Types that only a type checker loads."""


def to_json(value: Any) -> str:
    """A line of JSON."""
    return json.dumps(_told(value), separators=(",", ":"))


def from_json(kind: type[Value], text: str | bytes) -> Value:
    """The value of a type, from a line of JSON."""
    read: Callable[[Any], Value] = _reader(kind)  # type: ignore[arg-type] # a type can be hashed
    return read(json.loads(text))


def _told(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [
            value.dtype.str if value.dtype != object else "O",
            value.shape,
            [_told(entry) for entry in value.ravel().tolist()],
        ]
    if isinstance(value, np.generic):  # what NumPy makes of an array without axes
        return value.item()
    if isinstance(value, InputError):
        return [value.message, value.hint]
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, range):
        return [value.start, value.stop]
    if is_dataclass(value):
        return [_told(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return {key: _told(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_told(part) for part in value]
    return str(value) if isinstance(value, Path) else value


def _array(told: Any) -> np.ndarray[Any, Any]:
    if not isinstance(told, list):
        return np.asarray(told)
    kind, shape, entries = told
    found = np.empty(len(entries), dtype=kind)
    found[:] = entries
    return found.reshape(shape)


_OWN: dict[Any, Callable[[Any], Any]] = {
    np.ndarray: _array,
    InputError: lambda told: InputError(told[0], hint=told[1]),
    range: lambda told: range(*told),
    bytes: b64decode,
    Path: Path,
}
"""Types that are not written as a list of their parts."""


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function that makes a value of a type from what JSON tells of it."""
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if hasattr(origin, "__value__"):  # the name of a type, as NumPy's NDArray is one from 2.5 on
        return _reader(origin.__value__)
    if origin in (Union, UnionType):
        known = [part for part in parts if part is not NoneType]
        inner = _reader(known[0]) if len(known) == 1 else _as_it_is
        return lambda told: None if told is None else inner(told)
    if origin in _OWN:
        return _OWN[origin]
    if origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        every = _reader(parts[0])
        return lambda told: tuple(map(every, told))
    if origin is list and parts:
        each = _reader(parts[0])
        return lambda told: [each(one) for one in told]
    if origin is tuple:
        return _together(tuple, [_reader(part) for part in parts])
    if origin in (Mapping, dict) and parts:
        inner = _reader(parts[1])
        return lambda told: {key: inner(value) for key, value in told.items()}
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        hints = get_type_hints(kind, localns=UNSEEN)
        names = [field.name for field in fields(kind)] if is_dataclass(kind) else [*getattr(kind, "_fields", ())]
        return _together(lambda values: kind(*values), [_reader(hints[name]) for name in names])
    return _as_it_is


def _as_it_is(told: Any) -> Any:
    return told


def _together(make: Callable[[Any], Any], readers: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    return lambda told: make(read(part) for read, part in zip(readers, told, strict=True))
