"""Which part of an array is asked for, `[0, 1:9:2]` as NumPy indexes or `.T`: parsed, checked and cut out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from types import EllipsisType
from typing import Protocol

import numpy as np

from attncalc.common.errors import InputError, amount, quoted, shape_text
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.record.trace import Given

Place = int | slice | EllipsisType | None
"""None puts in an axis of size 1, like NumPy's `newaxis`."""

_END = re.compile(r"\.T\Z|\[[^\[\]]*\]\Z")
_NUMBER = r"\s*([+-]?\d{1,18})?\s*"
_SLICE = re.compile(rf"{_NUMBER}:{_NUMBER}(?::{_NUMBER})?", re.ASCII)
_MEND = "an index is whole numbers and slices, parted by commas: [0, 1:9:2]"


class Part(NamedTuple):
    """One pair of brackets, or `.T`, which has no places and swaps the last two axes."""

    text: str
    places: tuple[Place, ...] = ()

    def cut(self, array: Array, source: str) -> Array:
        """The part of an array that is called `source`; it is not copied."""
        if self.places:
            return np.asarray(array[self._fitted(array.shape, source)], dtype=array.dtype)
        if array.ndim < 2:
            raise InputError(f"{source} has no .T: it has {_told(array.shape)}")
        return array.swapaxes(-1, -2)

    def of(self, given: Given) -> Given:
        """The part of an operand, with its written entries, and the labels of the axes that stay."""
        ndim = given.value.ndim
        value = self.cut(given.value, given.source)
        written = None if given.written is None else self.cut(given.written, given.source)
        if self.places:
            fitted = self._fitted(given.value.shape, given.source)
            axes = enumerate(place for place in fitted if place is not None)
            whole = [(ndim, slice(None)) if place is None else next(axes) for place in fitted]
            stay = [(axis, place) for axis, place in whole if isinstance(place, slice)]
        else:
            stay = [(axis, slice(None)) for axis in (*range(ndim - 2), ndim - 1, ndim - 2)]
        labels = {i: given.labels[axis][place] for i, (axis, place) in enumerate(stay) if axis in given.labels}
        return given._replace(value=value, written=written, labels=labels, source=given.source + self.text)

    def _fitted(self, shape: tuple[int, ...], source: str) -> tuple[int | slice | None, ...]:
        """A place for each axis of that shape, and for new axes; raises if one does not fit."""
        places = self.places if ... in self.places else (*self.places, ...)
        rest = len(shape) - len(places) + places.count(None) + 1
        if rest < 0:
            raise InputError(f"{source} has no {self.text}: it has {_told(shape)}")
        at = places.index(...)
        whole = (*places[:at], *[slice(None)] * rest, *places[at + 1 :])
        fitted = tuple(place for place in whole if not isinstance(place, EllipsisType))
        for axis, (place, size) in enumerate(zip((p for p in fitted if p is not None), shape, strict=True)):
            there = f"axis {axis} has {amount(size, 'entry', 'entries')}"
            if isinstance(place, int) and not -size <= place < size:
                raise InputError(f"{source} has no {self.text}: {there}, 0 to {size - 1}")
            if isinstance(place, slice) and size and not range(size)[place]:
                raise InputError(f"{source}{self.text} is empty: {there}")
        return fitted


class Cut(Protocol):
    """Picks a part of an array: a `Part`, or one that knows how heads lie."""

    @property
    def text(self) -> str:
        """How it is written behind a name."""

    def cut(self, array: Array, source: str) -> Array:
        """The part of an array that it picks."""

    def of(self, given: Given) -> Given:
        """The part of an operand that it picks."""


Parts = Sequence[Cut]


def split(word: str, names: Collection[str], *, labels: bool = False) -> tuple[str, tuple[Part, ...]]:
    """The name in front and the parts behind it; one of `names` is taken as it is, whatever it ends in.

    If a name may also be a row's label, as `labels` says, it keeps its `.T`.
    """
    ends: list[str] = []
    rest = word
    while rest not in names and (found := _END.search(rest)):
        ends.insert(0, found.group())
        rest = rest[: found.start()]
    if labels and rest and rest not in names and ".T" in ends:
        return word, ()
    return rest, tuple(Part(end, () if end == ".T" else _places(end, word)) for end in ends)


def _places(text: str, word: str) -> tuple[Place, ...]:
    """What the brackets hold; NumPy takes a comma behind the last place, too."""
    words = text[1:-1].split(",")
    if len(words) > 1 and not words[-1].strip():
        words.pop()
    if sum(each.strip() == "..." for each in words) > 1:
        raise InputError(f"{quoted(word)}: ... stands twice in {text}", hint=_MEND)
    return tuple(_place(each, text, word) for each in words)


def _place(text: str, index: str, word: str) -> Place:
    if text.strip() == "...":
        return ...
    if text.strip() in ("None", "newaxis", "np.newaxis"):
        return None
    if found := _SLICE.fullmatch(text):
        start, stop, step = (None if number is None else int(number) for number in found.groups())
        if step == 0:
            raise InputError(f"{quoted(word)}: {index} has a step of 0, which never gets on", hint=_MEND)
        return slice(start, stop, step)
    if not re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text, re.ASCII):
        raise InputError(f"{quoted(word)}: {quoted(text.strip())} is no place in an array", hint=_MEND)
    return int(text)


def _told(shape: tuple[int, ...]) -> str:
    many = amount(len(shape), "axis", "axes")
    return f"{many} ({shape_text(shape)})" if shape else "no axis, since it is a single number"
