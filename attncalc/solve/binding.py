"""Operands → named axes: which axis of each array is which, from its declaration and its shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.common.errors import InputError, OptionError, ShapeError
from attncalc.common.text import amount, either, flag, near, quoted
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import Operand, Shape
from attncalc.language import axes as ax
from attncalc.language.axes import Axes, Axis
from attncalc.language.steps import note
from attncalc.record.trace import Given


class Bound(NamedTuple):
    """The operands with their axes named; masks turned into true and false."""

    inputs: Mapping[str, Given]
    axes: Mapping[str, Axes]
    labels: Mapping[str, tuple[str, ...]]  # axis name → labels
    dropped: frozenset[str]  # the axes that a vector lacks that was given where rows were declared
    broadcast: Mapping[str, Axes]  # operand → its axes as they were given, where some of them are of size 1


def bind(calculation: Calculation, inputs: Mapping[str, Given], options: Mapping[str, Any]) -> Bound:
    """Name every operand's axes, from the right; what stands in front of the declared ones is a batch, or heads."""
    ready, dropped = {}, set()
    operands = calculation.operands_in(inputs)
    for operand in operands:
        if operand.name in inputs:
            ready[operand.name], row = _as_declared(operand, inputs[operand.name], options)
            dropped |= row
    ranks = {name: g.value.ndim for name, g in ready.items()}
    given = [o for o in operands if o.name in ready]
    settled = {o.name: _of_rank(o, ranks[o.name]) for o in given if len(o.shapes) == 1}
    lead, sizes = _surroundings([o for o in given if not o.broadcasts and o.name in settled], ready)
    shapes = {o.name: settled.get(o.name) or _fitting(o, ready[o.name].value.shape, lead, sizes) for o in given}
    declared = {name for shape in shapes.values() for name in _flat(shape)}
    extra = {name: ranks[name] - len(shape) for name, shape in shapes.items()}
    leading = ax.leading_names(extra.values(), calculation.leading, declared)
    known = _sizes_said(calculation, options)
    inputs_, axes, broadcast = {}, {}, {}
    labels: dict[str, tuple[str, ...]] = {}
    for name, g in ready.items():
        try:
            found = ax.bind(g.value.shape, shapes[name], leading=leading, known=known)
        except ShapeError as error:
            raise error.within(name) from None
        operand = next(o for o in operands if o.name == name)
        read, kept = _without_ones(g, found) if operand.broadcasts else (g, found)
        if len(kept) < len(found):
            broadcast[name] = found
        inputs_[name], axes[name] = read._replace(axes=ax.names(kept)), kept
        for position, words in read.labels.items():
            labels.setdefault(kept[position].name, words)
    for operand in given:
        if operand.kind == "tokens":
            into = _vocabulary(calculation, operand, axes)
            inputs_[operand.name], words = _numbered(inputs_[operand.name], operand, into, labels.get(operand.of, ()))
            if words:
                labels[axes[operand.name][-1].name] = words
    return Bound(inputs_, axes, labels, frozenset(dropped), broadcast)


def _sizes_said(calculation: Calculation, options: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of axes that options give: `--heads`."""
    said = {name: options[word] for name, word in calculation.sizes.items() if options.get(word) is not None}
    for name, size in said.items():
        if size < 1:
            raise OptionError(f"{flag(calculation.sizes[name])} must be at least 1, not {size}")
    return said


def _flat(shape: Shape) -> list[str]:
    return [name for part in shape for name in ([part] if isinstance(part, str) else part)]


def _surroundings(operands: Sequence[Operand], ready: Mapping[str, Given]) -> tuple[int | None, dict[str, int]]:
    """What operands with a single declared shape tell of the rest: how many axes lead, and how large the others are."""
    sizes: dict[str, int] = {}
    lead = None
    for operand in operands:
        shape, found = operand.shapes[0], ready[operand.name].value.shape
        lead = max(lead or 0, len(found) - len(shape))
        sizes |= {name: size for name, size in zip(shape[::-1], found[::-1], strict=False) if isinstance(name, str)}
    return lead, sizes


def _fitting(operand: Operand, found: Sequence[int], lead: int | None, sizes: Mapping[str, int]) -> Shape:
    """Of several declared shapes the first that leaves as many leading axes as the other operands have.

    So a target [n] beside logits [n, C] is a class for each row, and a target [n, C] a row of shares for each.
    """
    for shape in operand.shapes:
        if len(found) - len(shape) == lead:
            names = zip(shape[::-1], found[::-1], strict=False)
            if all(sizes.get(name, size) == size for name, size in names if isinstance(name, str)):
                return shape
    return _of_rank(operand, len(found))


def _of_rank(operand: Operand, rank: int) -> Shape:
    """The declared shape that a value of this rank has: the same rank, else the largest, with axes in front."""
    exact = [shape for shape in operand.shapes if len(shape) == rank]
    if exact:
        return exact[0]
    largest = max(operand.shapes, key=len)
    return largest[len(largest) - rank :] if operand.broadcasts and rank < len(largest) else largest


def _as_declared(operand: Operand, g: Given, options: Mapping[str, Any]) -> tuple[Given, set[str]]:
    """The operand with the rank that is declared at least: a vector stands for one row."""
    if operand.kind == "mask":
        g = _mask(operand, g, options.get(f"{operand.name}_kind"))
    rank, least = g.value.ndim, min(len(shape) for shape in operand.shapes)
    if operand.broadcasts or rank >= least:
        return g, set()
    if rank == 1 and least == 2 and isinstance(operand.shapes[0][0], str):
        labels = {position + 1: words for position, words in g.labels.items()}
        return g._replace(value=g.value[None], written=None, labels=labels), {operand.shapes[0][0]}
    wanted = either({0: "a number", 1: "a vector", 2: "a matrix"}.get(len(s), "an array") for s in operand.shapes)
    found = {0: "a single number", 1: "a vector"}.get(rank, "an array")
    hint = '"[[2]]" is a matrix of one entry' if rank == 0 and least == 2 else ""
    raise ShapeError(f"{operand.name} is {found}, but {wanted} is needed ({_declared(operand)})", hint=hint)


def _declared(operand: Operand) -> str:
    """`n × d_k`, as the declaration has it."""
    return " or ".join(
        " × ".join(p if isinstance(p, str) else f"({' '.join(p)})" for p in shape) or "a number"
        for shape in operand.shapes
    )


def _without_ones(g: Given, axes: Axes) -> tuple[Given, Axes]:
    """A broadcast operand without its axes of size 1: by names, what is not there serves every place."""
    gone = [i for i, axis in enumerate(axes) if axis.size == 1]
    kept = [i for i in range(len(axes)) if i not in gone]
    labels = {kept.index(i): words for i, words in g.labels.items() if i in kept}
    value = np.squeeze(g.value, axis=tuple(gone))
    return g._replace(value=value, written=None, labels=labels), tuple(axes[i] for i in kept)


# Masks and tokens: who may look at whom, ids in a vocabulary

LONGEST_TEXT = 60
"""Characters of a text that is told beside the ids of its words."""


def _vocabulary(calculation: Calculation, tokens: Operand, axes: Mapping[str, Axes]) -> Axis:
    """The axis that tokens point into, of whichever operand has it."""
    found = next((axis for own in axes.values() for axis in own if axis.name == tokens.of), None)
    if found is None:
        holders = either(o.name for o in calculation.operands if any(tokens.of in shape for shape in o.shapes))
        raise OptionError(f"{calculation.name} has no vocabulary for {tokens.name}: {holders} must be given")
    return found


def _numbered(g: Given, operand: Operand, into: Axis, words: Sequence[str]) -> tuple[Given, tuple[str, ...]]:
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


def _mask(operand: Operand, g: Given, kind: str | None) -> Given:
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
