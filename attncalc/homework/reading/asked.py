"""A problem's `ask` and `shown` are read: steps and single entries that are asked for, and steps that it tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import InputError, both, place_text, quoted
from attncalc.common.numerals import Array
from attncalc.declare.mistake import StepKey
from attncalc.homework.reading.sheets import PLACED, Asked, StepNames, spelled

_PARTED = re.compile(r",(?![^\[]*\])")
KEYS = ("ask", "shown")


def words_of(words: Iterable[str]) -> list[str]:
    """`scores,weights[1,0]` → ["scores", "weights[1,0]"]: commas within brackets do not separate words."""
    return [part.strip() for word in words for part in _PARTED.split(word) if part.strip()]


def from_document(document: Mapping[str, Any], names: StepNames, source: str = "") -> Asked:
    """What the `ask` and `shown` of a document mean; its owner may have written them by hand."""
    ask, shown = (_listed(document.get(key), key, source) for key in KEYS)
    return asked(ask, shown, names)


def _listed(value: Any, key: str, source: str) -> list[str]:
    given = words_of([value]) if isinstance(value, str) else value
    if given is not None and not (isinstance(given, list) and all(isinstance(word, str) for word in given)):
        where = f"{source}: " if source else ""
        raise InputError(f'{where}"{key}" is no list of steps', hint=f'"{key}": ["weights", "output[1,0]"]')
    return given or []


def asked(ask: Sequence[str], shown: Sequence[str], names: StepNames) -> Asked:
    """The steps and entries that the words of `ask` name, and the steps that those of `shown` name."""
    steps: dict[StepKey, Array | None] = {}
    for word in ask:
        entry = PLACED.fullmatch(word)
        of, bracket, place = word.partition("[")
        if entry is None and bracket and of and names.meant(of):
            first = place_text([0] * len(names.shape_of(of)))
            hint = f"a place is of whole numbers, and the first is {of}{first}" if first else "it is a single number"
            raise InputError(f"{of} has no entry {quoted(bracket + place)}", hint=hint)
        step = names.find(entry[1] if entry else word)
        if entry is None:
            steps[step] = None
            continue
        at, shape = tuple(map(int, re.findall(r"[0-9]+", entry[2]))), names.shape_of(entry[1])
        if len(at) != len(shape) or any(i >= size for i, size in zip(at, shape, strict=True)):
            last = ",".join(str(size - 1) for size in shape)
            mend = f"its last one is [{last}], and the first is counted as 0" if shape else "it is a single number"
            raise InputError(f"{spelled(step)} has no entry [{entry[2]}]", hint=mend)
        where = steps.setdefault(step, np.zeros(shape, dtype=bool))
        if where is not None:
            where[at] = True
    told = tuple(dict.fromkeys(names.find(word) for word in shown))
    if clash := [quoted(spelled(step)) for step in told if step in steps]:
        raise InputError(f"{both(clash)} cannot be asked for and shown at once", hint="leave it out of one of them")
    order = [step for step in names.order if step in steps]
    return Asked({step: steps[step] for step in order} if ask else None, told)
