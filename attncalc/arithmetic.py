"""One entry of a step, with its numbers in place: `0.8×0.7 + 0.2×0.3 + 0.1×0.2`.

The primitives say how an entry is made from entries of their sources; this follows them until it meets steps,
operands and numbers, whose values it writes down, with brackets where a reader needs them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attncalc.cells import At, Cell, EntryOf, Form, Literal, Pick
from attncalc.graph import Node
from attncalc.trace import Arithmetic, Entry

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
