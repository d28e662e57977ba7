"""One entry of a step: its arithmetic with its numbers in place, its origins, and whether rounding left it over.

The primitives say how an entry is made from entries of their sources. This follows them until it meets steps, operands
and numbers: for the arithmetic, `0.8×0.7 + 0.2×0.3`, it writes their values down, with brackets where a reader needs
them; for the origins it tells their places, with nothing left out of a long sum. What decides a choice (the entry of a
mask, the number of a row) is an origin too. Left over is what stands for 0 where the terms of a sum cancel: 1.1e-16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from attncalc.common.arrays import Array
from attncalc.evaluate.values import by_key, evaluate
from attncalc.language.axes import align
from attncalc.language.graph import Node
from attncalc.language.primitive import At, Cell, Form, Literal, Pick
from attncalc.record.trace import Arithmetic, Entry, Origin

EntryOf = Callable[[Node, At], Any]
"""(node, place) → the value there, of any node: what an entry's arithmetic and its origins are found with."""
_Pieces = tuple[list["str | Entry"], float]
"""The pieces of an entry's arithmetic, and how tightly they hold together, in the numbers of `Op.binds`."""
_Where = tuple[Node, tuple[int, ...]]

NEGATED = 4
"""A sign in front of something: it may stand at the start of a sum, and nowhere else without brackets."""
_INFIX = {"+": (" + ", 3, NEGATED, 3), "−": (" − ", 3, NEGATED, 2.5), "×": ("×", 2, 2, 2), "/": (" / ", 2.5, 2, 1)}
"""An operation's sign, how tightly it holds together, and up to what its first and its other parts come bare."""
_COMPARE = {"≤": " ≤ ", "<": " < ", "=": " = ", "and": " and "}
LONGEST = 8
"""A sum or a choice of more terms is shortened in the middle: the rule is plain by then; no one reads such lines."""
MOST_TERMS = 2**20
"""An entry that is made of more is not spelled out at all: that would take more time and memory than its value did."""


@np.errstate(all="ignore")  # what overflows on the way is told with the step
def entry(node: Node, at: At, value: EntryOf) -> Arithmetic:
    """The arithmetic of a step's entry; empty where the entry is only handed on, or a number as it stands."""
    expression = node.sources[0] if node.op == "step" else node
    if _is_leaf(expression):
        return ()
    pieces, _ = _of_node(expression, at, value, {})
    alone = len(pieces) == 1 and isinstance(pieces[0], Entry)
    return () if alone and expression.row.joins else _joined(pieces)


def _is_leaf(node: Node) -> bool:
    return node.op in ("step", "input")


def _of_node(node: Node, at: At, value: EntryOf, known: dict[_Where, _Pieces]) -> _Pieces:
    """The pieces of an entry's arithmetic; what stands in it in several places is worked out once."""
    if _is_leaf(node):
        return [Entry(value(node, at), brackets=False)], 0
    mixed = node.row.mixes(node)
    if any(axis.size > MOST_TERMS for source in node.sources for axis in source.axes if axis.name in mixed):
        return ["…"], 0
    where = node, tuple(at[name] for name in node.names)
    if where not in known:
        cell = node.row.cell(node, at, lambda source, place: value(node.sources[source], place))
        known[where] = _of_cell(node, cell, value, known)
    return known[where]


def _of_cell(node: Node, cell: Cell, value: EntryOf, known: dict[_Where, _Pieces]) -> _Pieces:
    if isinstance(cell, Pick):
        return _of_node(node.sources[cell.source], cell.at, value, known)
    if isinstance(cell, Literal):
        if isinstance(cell.value, str):
            return [cell.value], 0
        return [Entry(cell.value, brackets=False)], 0
    parts = [_of_cell(node, part, value, known) for part in _shortened(cell)]
    return _form(cell, parts)


def _shortened(form: Form) -> Iterable[Cell]:
    if form.sign not in ("+", "max", "argmax") or len(form.parts) <= LONGEST:
        return form.parts
    return (*form.parts[:3], Literal("…"), form.parts[-1])


def _form(form: Form, parts: list[_Pieces]) -> _Pieces:
    sign = form.sign
    if sign in _INFIX:
        mark, level, first, others = _INFIX[sign]
        if len(parts) == 1:
            return parts[0]
        pieces = _bracketed(parts[0], first, first=True)
        for part in parts[1:]:
            if sign == "+" and part[1] == NEGATED:  # a − b, and not a + (−b)
                pieces += [" − ", *part[0][1:]]
            else:
                pieces += [mark, *_bracketed(part, others)]
        return pieces, level
    if sign in _COMPARE:
        left, right = parts
        return [*left[0], _COMPARE[sign], *right[0]], 4
    if sign == "neg":
        return ["−", *_bracketed(parts[0], 1)], NEGATED
    if sign == "√":
        return ["√", *_bracketed(parts[0], 0, first=True)], 1
    if sign == "^":
        base, exponent = parts
        power = "²" if exponent[0] == [Entry(2, brackets=False)] else None
        raised = [power] if power else ["^", *_bracketed(exponent, 0)]
        return [*_bracketed(base, 0), *raised], 1
    if sign == "abs":
        return ["|", *parts[0][0], "|"], 0
    if sign == "exp":
        return ["e^", *_bracketed(parts[0], 0)], 1
    if sign == "!":
        return [*_bracketed(parts[0], 0), "!"], 1
    inside: list[str | Entry] = []
    for pieces, _ in parts:
        inside += [", ", *pieces] if inside else pieces
    return [f"{sign}(", *inside, ")"], 0


def _bracketed(part: _Pieces, level: float, *, first: bool = False) -> list[str | Entry]:
    pieces, holds = part
    if holds > level:
        return ["(", *pieces, ")"]
    if isinstance(pieces[0], Entry) and not first:
        return [pieces[0]._replace(brackets=True), *pieces[1:]]
    return list(pieces)


def _joined(pieces: Iterable[str | Entry]) -> Arithmetic:
    """Neighbouring words made one."""
    result: list[str | Entry] = []
    for piece in pieces:
        if isinstance(piece, str) and result and isinstance(result[-1], str):
            result[-1] += piece
        else:
            result.append(piece)
    return tuple(result)


Place = tuple[int, ...]

MOST_FOLLOWED = 2_000  # entries; nobody can look at more at once
MOST_TOLD = 40  # blocks


@np.errstate(all="ignore")  # what overflows on the way is told with the step
def origins(node: Node, at: At, value: EntryOf) -> tuple[Origin, ...]:
    """The entries that a step's entry is made of, in blocks, in the order of the formula; none where they are too many.

    They are those of the steps and operands in the step's own formula, and not those behind them.
    """
    expression = node.sources[0] if node.op == "step" else node
    found: dict[Node, set[Place]] = {}
    seen: set[tuple[Node, Place]] = set()
    ahead: list[tuple[Node, At]] = [(expression, at)]
    while ahead:
        here, there = ahead.pop()
        place = tuple(there[name] for name in here.names)
        if (here, place) in seen:
            continue
        seen.add((here, place))
        if len(seen) > MOST_FOLLOWED:
            return ()
        if here.op in ("step", "input"):
            found.setdefault(here, set()).add(place)
        else:
            ahead.extend(reversed(_sources(here, there, value)))
    blocks = [
        Origin(leaf.args["name"] if leaf.op == "input" else leaf.path, leaf.op == "input", ranges)
        for leaf, places in found.items()
        for ranges in _blocks(leaf.names, places)
    ]
    return tuple(blocks) if len(blocks) <= MOST_TOLD else ()


def _sources(node: Node, at: At, value: EntryOf) -> list[tuple[Node, At]]:
    """The entries of the sources that an entry is made of, and those that were looked at to tell how it is made."""
    looked: list[Pick] = []

    def look(source: int, place: At) -> Any:
        looked.append(Pick(source, place))
        return value(node.sources[source], place)

    picked = list(_picks(node.row.cell(node, at, look)))
    return [(node.sources[pick.source], pick.at) for pick in (*picked, *looked)]


def _picks(cell: Cell) -> Iterator[Pick]:
    if isinstance(cell, Pick):
        yield cell
    elif isinstance(cell, Form):
        for part in cell.parts:
            yield from _picks(part)


def _blocks(names: tuple[str, ...], places: set[Place]) -> Iterator[Mapping[str, range]]:
    """The places as one block where they fill it, else as stretches of rows."""
    spans = [range(min(along), max(along) + 1) for along in zip(*places, strict=True)]
    if prod(map(len, spans)) == len(places):
        yield dict(zip(names, spans, strict=True))
        return
    for before, row in groupby(sorted(places), key=lambda place: place[:-1]):
        lead = [range(i, i + 1) for i in before]
        stretches = groupby(enumerate(place[-1] for place in row), key=lambda pair: pair[1] - pair[0])
        for _, stretch in stretches:
            along = [i for _, i in stretch]
            yield dict(zip(names, [*lead, range(along[0], along[-1] + 1)], strict=True))


MARGIN = 16
"""So many rounding errors, relative to the sizes of the terms, are taken for nothing."""
SUSPICIOUS = 1e-9
"""Entries this small beside the largest one are looked into; others cannot be left-overs worth the trouble."""


@np.errstate(all="ignore")  # terms may overflow though they cancel
def left_over(step: Node, values: Mapping[Node, Array], operands: Mapping[str, Array]) -> Array | None:
    """True where a step's entry is left over from terms that cancel; None where no entry is."""
    value = values[step]
    if value.dtype.kind != "f":
        return None
    size = np.abs(value)
    largest = np.max(size, initial=0.0, where=np.isfinite(size))
    if not ((size > 0) & (size < SUSPICIOUS * max(largest, SUSPICIOUS))).any() and largest >= SUSPICIOUS:
        return None
    terms = _terms(step.sources[0], values, operands)
    found = (size > 0) & np.isfinite(size) & (size <= MARGIN * np.finfo(value.dtype).eps * terms)
    return found if found.any() else None


def _terms(
    node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], *, only_moved: bool = True
) -> Array:
    """The sizes of the terms that an entry is the sum of, added up without their signs.

    Where another step's entries are only moved, as when they are cut into heads, added up, or scaled by a number that
    is the same for all of them, it is looked through.
    """
    if node.op == "step":
        return _terms(node.sources[0], values, operands) if only_moved else np.abs(values[node])
    row = node.row
    moves = row.flops == 0 and bool(node.sources) and not row.elementwise
    terms = row.kernel if moves else row.terms
    if terms is None:
        return np.abs(evaluate([node], operands, given=by_key(values))[node])
    alone = only_moved and sum(not _is_number(source) for source in node.sources) == 1
    inner = [_terms(source, values, operands, only_moved=alone) for source in node.sources]
    if not row.elementwise:
        return np.asarray(terms(node, *inner))
    laid = [align(term, source.axes, node.axes) for term, source in zip(inner, node.sources, strict=True)]
    return np.asarray(terms(*laid))


def _is_number(node: Node) -> bool:
    """Whether it is a number of the formula, as √d_k is."""
    return node.op in ("constant", "size") or (bool(node.sources) and all(map(_is_number, node.sources)))
