"""Which entries are nothing but what rounding left over where the terms of a sum cancel: 1.1e-16 in place of 0."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import align
from attncalc.evaluate import by_key, evaluate
from attncalc.graph import Node

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
