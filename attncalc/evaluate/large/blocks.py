"""Evaluates a large graph in blocks along an axis whose places do not depend on one another, on all cores.

It takes little memory and gives what evaluate gives, by the same kernels, except for rounding where sums are taken in
another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attncalc.common.numerals import Array
from attncalc.evaluate.large import fused
from attncalc.evaluate.large.cores import on_all
from attncalc.evaluate.large.layout import SHARES, Layout, bytes_of, lay_out, places
from attncalc.evaluate.values import Known, Plan, Portion, Values, at_places, evaluate, plan, portion, value_of
from attncalc.language.graph import Node


def evaluate_large(
    roots: Sequence[Node] | Layout, operands: Mapping[str, Array], *, dtype: str = "float64"
) -> dict[Node, Array]:
    """The values of the roots alone, for a graph of floats."""
    layout = roots if isinstance(roots, Layout) else lay_out(roots, np.dtype(dtype).itemsize)
    values = Values(operands)
    known = Known(values, operands, (), {}, layout.order)
    with np.errstate(all="ignore"):  # the code that reads the result finds and reports what overflows or is undefined
        for stage in layout.stages():
            for node in stage.whole:
                if node.op == "input" and node not in layout.roots:
                    continue
                values[node] = _whole(node, layout, values, operands, dtype)
                if node.row.loses and known.shows_rounding(node):
                    values[node] = known.in_full(node)
            values |= _in_blocks(stage.targets, layout, known, dtype)
            for node in stage.released:
                values.pop(node, None)
    return {node: values[node] for node in layout.roots}


def _whole(
    node: Node, layout: Layout, values: Mapping[Node, Array], operands: Mapping[str, Array], dtype: str
) -> Array:
    if node.op == "step":
        return values[node.sources[0]]
    if node in layout.fused:
        return fused.attend(node, layout.fused[node], values)
    return value_of(node, values, operands, np.dtype(dtype))


def _in_blocks(targets: Sequence[Node], layout: Layout, known: Known, dtype: str) -> dict[Node, Array]:
    """The values of the targets: blocks put side by side, or sums over blocks added up."""
    axis, values = layout.axis, known.values
    if axis is None or not targets:
        return {}
    _, row = _planned(targets, layout, values, 1)
    itemsize = np.dtype(dtype).itemsize
    rows = places(row, axis, itemsize, sum(bytes_of(target, itemsize) for target in targets if target in layout.adding))
    smaller = {count: _planned(targets, layout, values, count) for count in {rows, axis.size % rows or rows}}
    taken = smaller[rows][0].taken
    there = {source: values[source] for source, _ in taken.values()}  # operands are looked up once for all blocks
    whole_ones = {n: source for n, (source, along) in taken.items() if not along}
    rests = {name: known.doubled(source) for name, source in whole_ones.items() if source.row.doubled}

    def block(start: int) -> tuple[list[Array], list[Array]]:
        """The results of one block: parts of values, and partial sums."""
        at = {axis: slice(start, min(start + rows, axis.size))}
        part, order = smaller[min(rows, axis.size - start)]
        given = {
            name: at_places(there[source], source.axes, at if along else {})
            for name, (source, along) in part.taken.items()
        }
        found = evaluate(order, given, dtype=dtype, rests=rests)
        made = list(zip(targets, (found[root] for root in part.roots), strict=True))
        return [v for t, v in made if t not in layout.adding], [v for t, v in made if t in layout.adding]

    kept = [target for target in targets if target not in layout.adding]
    first, sums = block(0)
    whole = [np.empty(t.shape, v.dtype) for t, v in zip(kept, first, strict=True)]

    def put(start: int, made: Sequence[Array]) -> None:
        for target, all_of_it, value in zip(kept, whole, made, strict=True):
            at_places(all_of_it, target.axes, {axis: slice(start, start + rows)})[...] = value

    def share(starts: Sequence[int]) -> list[Array]:
        total: list[Array] = []
        for start in starts:
            made, added = block(start)
            put(start, made)
            total = [a + b for a, b in zip(total, added, strict=True)] if total else added
        return total

    put(0, first)
    for added in on_all(share, _shares(range(rows, axis.size, rows), SHARES if sums else axis.size)):
        sums = [a + b for a, b in zip(sums, added, strict=True)]
    return dict(zip((*kept, *(t for t in targets if t in layout.adding)), (*whole, *sums), strict=True))


def _planned(targets: Sequence[Node], layout: Layout, values: Mapping[Node, Array], count: int) -> tuple[Portion, Plan]:
    """The graph of a block with so many places, and its plan."""
    assert layout.axis is not None, "there are blocks over an axis alone"
    part = portion(targets, {layout.axis: count}, values.__contains__, layout.adding)
    return part, plan(part.roots, keep=lambda node: False)


def _shares(starts: Sequence[int], most: int) -> list[Sequence[int]]:
    """The blocks in at most so many runs of neighbours."""
    length = max(1, -(-len(starts) // most))
    return [starts[i : i + length] for i in range(0, len(starts), length)]
