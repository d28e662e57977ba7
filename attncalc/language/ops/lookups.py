"""Entries picked by number: one place of an axis, rows of a table, the entry of a class; buckets and counts."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import NotExact, ShapeError
from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.axes import Axes, Axis, align, find, names, position, together, unique, without
from attncalc.language.graph import Node
from attncalc.language.kernels import either, has_letters, is_exact, zeros
from attncalc.language.ops.basics import (
    beside,
    entrywise,
    index,
    keep_where,
    last,
    mixes,
    moved,
    moving,
    of_one,
    pick,
    row,
    source_axes,
    spread,
    weigh,
)
from attncalc.language.ops.choices import compare_equal
from attncalc.language.ops.parts import laying
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op, Pick, latex_axis, symbol


def _taken(args: dict[str, Any], x: Axes) -> Axes:
    axis = find(x, args["over"])
    if not 0 <= args["at"] < axis.size:
        raise ShapeError(f"there is no place {args['at']} on an axis of {axis.size}")
    return without(x, axis.name)


def _take(node: Node, x: Array) -> Array:
    behind = -position(node.sources[0].axes, node.args["over"]) - 1
    return np.asarray(x[(..., node.args["at"], *[slice(None)] * behind)])


def _take_vjp(g: Node, y: Node, node: Node, x: Node) -> list[Node]:
    place = -1 - x.names[::-1].index(node.args["over"])
    cut = len(g.axes) + place + 1
    axes = (*g.axes[:cut], x.axes[place], *g.axes[cut:])
    here = compare_equal(index(node.args["over"], axes, node.args["over"]), node.args["at"])
    return [keep_where(here, spread(g, axes), 0)]


def _stacked(args: dict[str, Any], *rows: Axes) -> Axes:
    if not rows[0] or any(row != rows[0] for row in rows):
        raise ShapeError("only rows of the same length can stand below one another")
    return unique((*rows[0][:-1], Axis(args["over"], len(rows)), rows[0][-1]))


def _looked_up(args: dict[str, Any], table: Axes, numbers: Axes) -> Axes:
    """The table's axes, with the axis that the numbers point into replaced by the numbers' own axes."""
    over = find(table, args["over"])
    own = _own(numbers, table)
    before = table.index(over)
    return unique((*table[:before], *own, *table[before + 1 :]))


def _own(numbers: Axes, table: Axes) -> Axes:
    own = tuple(axis for axis in numbers if axis not in table)
    if not own:
        raise ShapeError("the numbers of the rows need an axis of their own")
    return own


def _rows(numbers: Array, size: int) -> tuple[Array, Array]:
    """The numbers as places of an axis, 0 for those that are out of range; and a mask of those in range.

    Operands are checked when they are read, but numbers in an answer to a step may point nowhere: nothing is looked up
    or added there.
    """
    if is_exact(numbers):
        return numbers.astype(np.int64), np.array(True)
    there = (numbers >= 0) & (numbers < size) & (numbers == np.floor(numbers))
    return np.where(there, numbers, 0).astype(np.int64), there


def _places(numbers: Array, counted: Axes, over: str, table: Axes, result: Axes, front: tuple[int, ...]) -> Any:
    """The NumPy index that picks the entries of a look-up from the table.

    `front` are the sizes of unnamed axes in front; if the numbers have such axes too, both are indexed together.
    """
    index: list[Any] = [...]
    if numbers.ndim > len(counted):
        each = np.ix_(*map(np.arange, front)) if front else ()
        index = [place.reshape(*place.shape, *(1,) * len(result)) for place in each]
    for axis in table:
        if axis.name == over:
            index.append(align(numbers, counted, result))
        else:
            index.append(align(np.arange(axis.size), (axis,), result))
    return tuple(index)


def _lookup(node: Node, table: Array, numbers: Array) -> Array:
    axes, counted = (source.axes for source in node.sources)
    front = table.shape[: table.ndim - len(axes)]
    rows, there = _rows(numbers, find(axes, node.args["over"]).size)
    found = np.asarray(table[_places(rows, counted, node.args["over"], axes, node.axes, front)])
    return found if there.all() else np.where(align(there, counted, node.axes), found, np.nan)


def _front(node: Node) -> str:
    """The `:, ` in front of numbers that pick columns, not rows: `xᵀ[:, tokens]`."""
    table = node.sources[0].names
    return ":, " if len(table) > 1 and table[-1] == node.args["over"] else ""


def _lookup_cell(node: Node, at: At, look: Look) -> Cell:
    numbers = pick(node, 1, at)
    row = int(look(1, numbers.at))
    return Pick(0, {name: at.get(name, row) for name in node.sources[0].names})


def _lookup_vjp(g: Node, y: Node, node: Node, table: Node, numbers: Node) -> list[Node | None]:
    own = names(_own(numbers.axes, table.axes))
    return [Node("collect", g, numbers, into=find(table.axes, node.args["over"]), own=own), None]


def _collected(args: dict[str, Any], g: Axes, numbers: Axes) -> Axes:
    own = args["own"]
    at = names(g).index(own[0]) if own[0] in names(g) else -1
    if names(g)[at : at + len(own)] != own or not set(names(numbers)) <= set(names(g)):
        raise ShapeError("every row needs the number of the row that it is added to")
    return unique((*g[:at], args["into"], *g[at + len(own) :]))


def _collect(node: Node, g: Array, numbers: Array) -> Array:
    axes, counted = (source.axes for source in node.sources)
    front = np.broadcast_shapes(g.shape[: g.ndim - len(axes)], numbers.shape[: numbers.ndim - len(counted)])
    result = zeros((*front, *node.shape), g)
    rows, there = _rows(numbers, node.args["into"].size)
    felt = g if there.all() else np.where(align(there, counted, axes), g, 0)
    np.add.at(result, _places(rows, counted, node.args["into"].name, node.axes, axes, front), felt)
    return result


def _collect_cell(node: Node, at: At, look: Look) -> Cell:
    row, own = at[node.args["into"].name], [find(node.sources[1].axes, name) for name in node.args["own"]]
    rest = {name: place for name, place in at.items() if name != node.args["into"].name}
    places = np.ndindex(*(axis.size for axis in own))
    among = [{**rest, **dict(zip(node.args["own"], place, strict=True))} for place in places]
    felt = tuple(Pick(0, place) for place in among if int(look(1, pick(node, 1, place).at)) == row)
    return Form("+", felt) if felt else Literal("used nowhere")


def _limits(args: dict[str, Any]) -> tuple[int, int, list[int]]:
    """How many buckets a direction has, how many of them hold a single distance, and where each of the others begins.

    Bucket e + j begins at the first whole distance r with e + ln(r/e)/ln(D/e)·(B − e) ≥ e + j. It is found in whole
    numbers, since a logarithm's rounding error must not decide.
    """
    own = args["buckets"] if args["causal"] else args["buckets"] // 2
    exact, largest = own // 2, args["max_distance"]
    rest = own - exact
    begins = []
    for j in range(1, rest):
        distance = math.floor(exact * (largest / exact) ** (j / rest)) - 1
        while distance**rest * exact**j < largest**j * exact**rest:
            distance += 1
        begins.append(distance)
    return own, exact, begins


def _bucket(node: Node, relative: Array) -> Array:
    own, exact, begins = _limits(node.args)
    places = relative.astype(np.int64)
    distance = np.maximum(-places, 0) if node.args["causal"] else np.abs(places)
    far = exact + np.searchsorted(np.asarray(begins, dtype=np.int64), distance, side="right")
    bucket = np.where(distance < exact, distance, far)
    return bucket if node.args["causal"] else bucket + np.where(places > 0, own, 0)


def _bucket_cell(node: Node, at: At, look: Look) -> Cell:
    own, exact, _ = _limits(node.args)
    here = pick(node, 0, at)
    place = int(look(0, here.at))
    side = own if place > 0 and not node.args["causal"] else 0
    if node.args["causal"] and place >= 0:
        return Literal(0)
    distance: Cell = Form("abs", (here,))
    if abs(place) >= exact:
        share = Form("/", (_log_of_ratio(distance, exact), _log_of_ratio(Literal(node.args["max_distance"]), exact)))
        far = Form("+", (Literal(exact), Form("floor", (Form("×", (share, Literal(own - exact))),))))
        distance = Form("min", (far, Literal(own - 1)))
    return Form("+", (Literal(side), distance)) if side else distance


def _log_of_ratio(above: Cell, below: int) -> Cell:
    return Form("ln", (Form("/", (above, Literal(below))),))


OPS |= {
    "take": moving(
        _take,
        _taken,
        "{0}[{a[over]}={a[at]}]",
        lambda node, x: f"{{{x}}}_{{{latex_axis(node.args['over'])}={node.args['at']}}}",
        lambda node, at, look: Pick(0, {**at, node.args["over"]: node.args["at"]}),
        takes=(0,),
        quick=lambda node: operator.itemgetter(node.args["at"]) if len(node.sources[0].axes) == 1 else None,
        vjp=_take_vjp,
        because="only the place that was taken gets the gradient",
        mixes=mixes,
        view=True,
    ),
    "stack": laying(
        lambda node, *rows: np.stack(np.broadcast_arrays(*rows), axis=-2),
        _stacked,
        lambda node, at, look: pick(node, at[node.args["over"]], at),
        vjp=lambda g, y, node, *rows: [take(g, node.args["over"], i) for i in range(len(rows))],
        because="each row gets its own row of the gradient",
    ),
    "lookup": Op(
        _lookup,
        _looked_up,
        lambda node, table, numbers: f"{table}[{_front(node)}{numbers}]",
        lambda node, table, numbers: rf"{table}\left[{_front(node)}{numbers}\right]",
        _lookup_cell,
        takes=(1, 9),
        picks=lambda node: 1,
        numbered=(1, "over"),
        vjp=_lookup_vjp,
        because="a row of the table gets the gradients of all the places where it was used",
        about="Row t of the table, unchanged, with rows counted from 0: the same as a one-hot row (1 at t, else 0) "
        "times the table.",
        mixes=mixes,
        flops=0,
    ),
    "collect": Op(
        _collect,
        _collected,
        "{0} summed by {1}",
        r"\operatorname{{sum\,by}}_{{{1}}}({0})",
        _collect_cell,
        binds=4,
        takes=(3, 3),
        vjp=lambda g, y, node, x, numbers: [lookup(g, numbers, node.args["into"].name), None],
        because="every row gets the gradient of the row that it was added to",
        mixes=lambda node: (*node.args["own"], node.args["into"].name),
        places=source_axes,
    ),
    "bucket": Op(
        _bucket,
        lambda args, x: x,
        "bucket({0})",
        r"\operatorname{{bucket}}({0})",
        _bucket_cell,
        no_gradient="a bucket jumps from one number to the next",
    ),
}


def take(x: Node, over: str, at: int) -> Node:
    """x at one place of an axis, which is dropped: a row of a matrix, a time step."""
    return Node("take", x, over=over, at=at)


def stack(rows: Sequence[Node], over: str) -> Node:
    """Rows stacked along a new axis in front of the last."""
    return Node("stack", *rows, over=over)


def lookup(table: Node, numbers: Node, over: str) -> Node:
    """The entries of the table at the numbered places of an axis: rows of an embedding by the tokens' ids."""
    return Node("lookup", table, numbers, over=over)


def bucket(relative: Node, buckets: int, max_distance: int, *, causal: bool) -> Node:
    """T5's bucket of a relative position (key − query).

    The first half of a direction's buckets holds one distance each; in the other half they widen with the logarithm of
    the distance up to `max_distance`, beyond which all share the last. Keys to the right have buckets of their own,
    unless `causal`, where they share bucket 0.
    """
    return Node("bucket", relative, buckets=buckets, max_distance=max_distance, causal=causal)


_factorial = either(
    lambda x: kernels.each(lambda k: float(math.factorial(int(k))) if 0 <= k <= 170 else math.inf, x), "factorial"
)


def _log_factorial(x: Array) -> Array:
    if is_exact(x):
        return np.asarray(kernels.log(_factorial(x)))
    return kernels.each(_log_factorial_of, x)


def _log_factorial_of(k: float) -> float:
    try:
        return math.lgamma(k + 1) if k >= 0 else math.inf  # 1/k! is 0 below 0
    except OverflowError:  # beyond 1e305
        return math.inf


def _known(places: Array) -> Array:
    if has_letters(places):
        raise NotExact("a letter does not tell which place is meant: classes must be given as numbers")
    return places


def _selected(args: dict[str, Any], x: Axes, places: Axes) -> Axes:
    find(x, args["over"])
    return together(without(x, args["over"]), places)


def _select(node: Node, x: Array, places: Array) -> Array:
    (left, right), axis = (source.axes for source in node.sources), find(node.sources[0].axes, node.args["over"])
    among = align(x, left, (*node.axes, axis))
    at = align(_known(places), right, node.axes)[..., None].astype(np.intp)
    rank = max(among.ndim, at.ndim)
    among, at = (value.reshape((1,) * (rank - value.ndim) + value.shape) for value in (among, at))
    lead = np.broadcast_shapes(among.shape[:-1], at.shape[:-1])
    there = (at >= 0) & (at < axis.size)
    places = np.broadcast_to(np.where(there, at, 0), (*lead, 1))
    found = np.take_along_axis(np.broadcast_to(among, (*lead, axis.size)), places, axis=-1)
    return np.asarray(np.where(there, found, kernels.zeros((), found))[..., 0])


def _select_cell(node: Node, at: At, look: Look) -> Cell:
    place, axis = int(look(1, pick(node, 1, at).at)), find(node.sources[0].axes, node.args["over"])
    if not 0 <= place < axis.size:
        return Literal(0)
    return Pick(0, {name: place if name == axis.name else at[name] for name in node.sources[0].names})


def _counts(node: Node) -> bool:
    """Whether positions are picked by a step's places: the entries picked are then those places themselves."""
    positions, places = node.sources
    return positions.op == "index" and places.op == "step"


def _row(node: Node) -> str:
    """The `i, ` in front of the place, if entries on the diagonal of a matrix are picked: `log_shares[i, i]`."""
    x, places = node.sources
    alone = names(without(x.axes, node.args["over"]))
    return f"{symbol(places)}, " if places.op == "index" and places.names == alone and len(alone) == 1 else ""


def _select_vjp(g: Node, y: Node, node: Node, x: Node, places: Node) -> Sequence[Node | None]:
    chosen = one_hot(places, find(x.axes, node.args["over"]))
    return [weigh(chosen, beside(g, chosen)), None]


def _one_hot(node: Node, places: Array) -> Array:
    hits = _known(places)[..., None] == np.arange(node.axes[-1].size)
    zero = kernels.zeros(hits.shape, places)
    return np.where(hits, zero + 1, zero)


_COUNTED = "counts are whole numbers, so they have no slope"
OPS |= {
    "whole": row(lambda x: x, "{0}", "{0}", moved, takes=(9,), no_gradient=_COUNTED, flops=0, view=True),
    "factorial": row(_factorial, "{0}!", "{0}!", entrywise("!"), binds=1, takes=(0,), no_gradient=_COUNTED),
    "log_factorial": row(
        _log_factorial,
        "ln({0}!)",
        r"\ln({0}!)",
        lambda node, at, look: Form("ln", (Form("!", (pick(node, 0, at),)),)),
        takes=(0,),
        no_gradient=_COUNTED,
    ),
    "select": Op(
        _select,
        _selected,
        lambda node, x, places: places if _counts(node) else f"{x}[{_row(node)}{places}]",
        lambda node, x, places: places if _counts(node) else rf"{{{x}}}_{{{_row(node)}{places}}}",
        _select_cell,
        takes=(0, 9),
        picks=lambda node: -1 if _counts(node) else 1,
        numbered=(1, "over"),
        vjp=_select_vjp,
        because="only the entry that was picked gets the gradient",
        about="From each row only the entry of the right class; the others play no part in it.",
        mixes=mixes,
        flops=0,
    ),
    "one_hot": Op(
        _one_hot,
        lambda args, places: unique((*places, args["axis"])),
        "onehot({0})",
        r"\operatorname{{onehot}}({0})",
        lambda node, at, look: Literal(int(look(0, pick(node, 0, at).at) == at[node.names[-1]])),
        no_gradient="it is a choice",
        flops=0,
        unit="axis",
        numbered=(0, "axis"),
    ),
}


whole = of_one("whole")
"""x itself, without a gradient, since only whole numbers make sense here."""
factorial = of_one("factorial")
"""x! of whole numbers."""
log_factorial = of_one("log_factorial")
"""The natural logarithm of x!, which does not overflow."""


def select(x: Node, places: Node, over: str | None = None) -> Node:
    """The entry of x at the position (from 0) `places` along an axis (the last one); 0 if there is no such position."""
    return Node("select", x, places, over=over or last(x))


def one_hot(places: Node, axis: Axis) -> Node:
    """1 at the position `places` along a new last axis, else 0."""
    return Node("one_hot", places, axis=axis)
