"""What masks and tokens are read as, by their kinds: who may look at whom, ids in a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attncalc.axes import Axes, Axis
from attncalc.calculation import Calculation, Operand
from attncalc.errors import InputError, OptionError
from attncalc.steps import note
from attncalc.text import amount, either, flag, near, quoted
from attncalc.trace import Given

LONGEST_TEXT = 60
"""Characters of a text that is told beside the ids of its words."""


def vocabulary(calculation: Calculation, tokens: Operand, axes: Mapping[str, Axes]) -> Axis:
    """The axis that tokens point into, of whichever operand has it."""
    found = next((axis for own in axes.values() for axis in own if axis.name == tokens.of), None)
    if found is None:
        holders = either(o.name for o in calculation.operands if any(tokens.of in shape for shape in o.shapes))
        raise OptionError(f"{calculation.name} has no vocabulary for {tokens.name}: {holders} must be given")
    return found


def numbered(g: Given, operand: Operand, into: Axis, words: Sequence[str]) -> tuple[Given, tuple[str, ...]]:
    """Tokens as ids, and their words where the vocabulary has any; each must be one of the vocabulary's."""
    if g.value.dtype == object and isinstance(g.value.flat[0], str):
        known = {word: i for i, word in reversed([*enumerate(words)])}
        missing = next((word for word in g.value.flat if word not in known), None)
        if missing is not None:
            fault = f"{operand.name}: {quoted(missing)} is not among the {amount(len(words), 'word')} of the vocabulary"
            if not words:
                fault = f"{operand.name}: {quoted(missing)} is a word, and no words are known: the rows have no labels"
            raise InputError(fault, hint=near(missing, words) if words else "give ids, or label the rows of the table")
        g = g._replace(value=np.vectorize(known.__getitem__, otypes=[np.int64])(g.value), written=None)
    ids = g.value.astype(np.int64)
    wrong = np.argwhere((ids < 0) | (ids >= into.size))
    if len(wrong):
        place = "".join(f"[{i}]" for i in wrong[0])
        there = f"the vocabulary has {amount(into.size, 'word')}, 0…{into.size - 1}"
        raise InputError(f"{operand.name}{place} is {ids[tuple(wrong[0])]}, but {there}")
    named = tuple(words[i] for i in ids) if words and ids.ndim == 1 else ()
    text = " ".join(named)
    said = "; ".join(filter(None, (g.note, text if len(text) <= LONGEST_TEXT else "")))
    return g._replace(value=ids, note=said), named


def mask(operand: Operand, g: Given, kind: str | None) -> Given:
    """A mask as true (may look) and false, or as numbers to add: by its kind, or by what its entries are."""
    value = g.value
    two_valued = value.dtype == bool or bool(np.isin(value, (0, 1)).all())
    option = flag(f"{operand.name}_kind")
    if kind is None:
        kind = "keep" if two_valued else "additive"
        meaning = "1 or true: may look" if two_valued else "its numbers are added"
        note(f"{operand.name} read as {kind} ({meaning}); {option} says otherwise")
    if kind == "additive":
        return g._replace(value=value.astype(np.float64)) if value.dtype == bool else g
    if not two_valued:
        raise InputError(
            f"{operand.name} is to {kind} what it marks, and has entries other than 0 and 1",
            hint=f"{option} additive adds its numbers to the scores",
        )
    keep = value.astype(bool)
    return g._replace(value=keep if kind == "keep" else ~keep)
