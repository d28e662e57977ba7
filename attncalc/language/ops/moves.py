"""Entries are moved or copied, and keep their values: heads split and merged, axes renamed, values spread."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attncalc.common.errors import ShapeError
from attncalc.common.numerals import Array
from attncalc.language.axes import Axes, Axis, align, composite, describe, find, position, unique
from attncalc.language.graph import Node
from attncalc.language.ops.basics import moved, moving, of_one, rename, repeat, source_axes
from attncalc.language.primitive import OPS, At, Cell, Form, Look, Op, Pick, latex_axis

split = of_one("split")
"""Columns split into heads: [n, (h d)] → [h, n, d]; a head takes neighbouring columns."""
merge = of_one("merge")
"""Heads merged into columns, side by side: [h, n, d] → [n, (h d)]."""


def _split_axes(args: dict[str, Any], x: Axes) -> Axes:
    if len(x) < 2 or len(x[-1].parts) != 2:
        raise ShapeError(
            f"only a last axis that is made of two parts can be split, not {x[-1].name if x else 'a number'}"
        )
    heads, width = x[-1].parts
    return unique((*x[:-2], heads, x[-2], width))


def _split(node: Node, x: Array) -> Array:
    heads, width = node.sources[0].axes[-1].parts
    return np.moveaxis(x.reshape(*x.shape[:-1], heads.size, width.size), -2, -3)


def _split_cell(node: Node, at: At, look: Look) -> Cell:
    whole = node.sources[0].axes[-1]
    heads, width = whole.parts
    rest = {name: i for name, i in at.items() if name not in (heads.name, width.name)}
    return Pick(0, {**rest, whole.name: at[heads.name] * width.size + at[width.name]})


def _merge_axes(args: dict[str, Any], x: Axes) -> Axes:
    if len(x) < 3:
        raise ShapeError("merging heads needs the axes heads, rows and columns")
    return (*x[:-3], x[-2], composite(x[-3], x[-1]))


def _merge_cell(node: Node, at: At, look: Look) -> Cell:
    whole = node.axes[-1]
    heads, width = whole.parts
    head, column = divmod(at[whole.name], width.size)
    return Pick(0, {name: i for name, i in at.items() if name != whole.name} | {heads.name: head, width.name: column})


def _repeated(args: dict[str, Any], x: Axes) -> Axes:
    old = find(x, args["old"])
    new = Axis(args["new"], old.size * args["times"])
    return unique(tuple(new if axis == old else axis for axis in x))


def _repeat_cell(node: Node, at: At, look: Look) -> Cell:
    rest = {name: i for name, i in at.items() if name != node.args["new"]}
    return Pick(0, {**rest, node.args["old"]: at[node.args["new"]] // node.args["times"]})


def _gathered(args: dict[str, Any], x: Axes) -> Axes:
    old = find(x, args["old"])
    if old.size % args["times"]:
        raise ShapeError(f"{old.name}={old.size} cannot be shared out to groups of {args['times']}")
    new = Axis(args["new"], old.size // args["times"])
    return unique(tuple(new if axis == old else axis for axis in x))


def _gather(node: Node, x: Array) -> Array:
    at = position(node.sources[0].axes, node.args["old"]) + x.ndim
    times = node.args["times"]
    return np.asarray(x.reshape(*x.shape[:at], x.shape[at] // times, times, *x.shape[at + 1 :]).sum(axis=at + 1))


def _gather_cell(node: Node, at: At, look: Look) -> Cell:
    old, new, times = (node.args[word] for word in ("old", "new", "times"))
    rest = {name: i for name, i in at.items() if name != new}
    return Form("+", tuple(Pick(0, {**rest, old: at[new] * times + i}) for i in range(times)))


def _split_words(node: Node, x: str) -> str:
    """`q split into heads`, or into parts if the axes are no heads, as for rows of pixels."""
    return f"{x} split into {'heads' if {'h', 'g'} & {*node.names} else 'parts'}"


def _words(template: str | Callable[..., str], latex: str) -> dict[str, Any]:
    return {"text": template, "latex": latex, "binds": 4, "takes": (3,)}


OPS |= {
    "split": moving(
        _split,
        _split_axes,
        cell=_split_cell,
        vjp=lambda g, y, node, x: [merge(g)],
        because="the heads' gradients are put side by side again",
        about="Each row is cut into as many blocks as there are heads: head 0 takes the first columns, head 1 the "
        "next. No entry leaves its row; reshaping the table straight to [h, n, d_k] would mix up the tokens.",
        view=True,
        **_words(_split_words, r"\operatorname{{split}}({0})"),
    ),
    "merge": moving(
        lambda node, x: np.moveaxis(x, -3, -2).reshape(*x.shape[:-3], x.shape[-2], -1),
        _merge_axes,
        cell=_merge_cell,
        vjp=lambda g, y, node, x: [split(g)],
        because="each part takes its own columns of the gradient",
        about="A row is head 0's row, then head 1's, and so on: the blocks stand side by side in the order in which "
        "they were cut, and nothing is added up or averaged.",
        **_words("{0} side by side", r"\operatorname{{concat}}({0})"),
    ),
    "repeat": moving(
        lambda node, x: np.repeat(x, node.args["times"], axis=position(node.sources[0].axes, node.args["old"])),
        _repeated,
        cell=_repeat_cell,
        vjp=lambda g, y, node, x: [Node("gather", g, **node.args | {"old": node.args["new"], "new": node.args["old"]})],
        because="what is shared by several heads gets the sum of their gradients",
        about="Neighbouring query heads share a key head: of 8 query heads and 2 key heads, heads 0 to 3 read key "
        "head 0, heads 4 to 7 key head 1 (grouped-query attention).",
        **_words("{0} shared by {a[times]} heads each", r"\operatorname{{repeat}}_{{{a[times]}}}({0})"),
    ),
    "gather": Op(
        _gather,
        _gathered,
        cell=_gather_cell,
        vjp=lambda g, y, node, x: [repeat(g, node.args["new"], node.args["old"], node.args["times"])],
        because="every head of a group gets the group's gradient",
        mixes=lambda node: (node.args["old"],),
        places=source_axes,
        terms=_gather,
        **_words("{0} summed by groups of {a[times]}", r"\operatorname{{groupsum}}_{{{a[times]}}}({0})"),
    ),
}


def _renamed(args: dict[str, Any], x: Axes) -> Axes:
    find(x, args["old"])
    return unique(tuple(axis._replace(name=args["new"]) if axis.name == args["old"] else axis for axis in x))


def _rename_cell(node: Node, at: At, look: Look) -> Cell:
    old, new = node.args["old"], node.args["new"]
    return Pick(0, {old if name == new else name: i for name, i in at.items() if name in node.names})


def _spread_axes(args: dict[str, Any], x: Axes) -> Axes:
    for axis in x:
        if axis not in args["to"]:
            raise ShapeError(f"{axis.name}={axis.size} is not among the axes to spread over")
    return tuple(args["to"])


def _spread(node: Node, x: Array) -> Array:
    target = node.axes
    laid = align(x, node.sources[0].axes, target)
    extra = laid.shape[: laid.ndim - len(target)] if laid.ndim > len(target) else ()
    return np.broadcast_to(laid, (*extra, *(axis.size for axis in target)))


def _spread_text(node: Node, x: str) -> str:
    if "part" in node.args:
        over, first, last = node.args["part"]
        return f"{x} for {over}={first}" + (f"…{last}" if last > first else "")
    new = [name for name in node.names if name not in node.sources[0].names]
    return f"{x} copied along {', '.join(new)}" if new else x


def _spread_latex(node: Node, x: str) -> str:
    if "part" in node.args:
        over, first, last = node.args["part"]
        return rf"{x} \text{{ for }} {latex_axis(over)}={first}" + (rf" \ldots {last}" if last > first else "")
    new = [latex_axis(name) for name in node.names if name not in node.sources[0].names]
    return rf"{x} \text{{ copied along }} {', '.join(new)}" if new else x


OPS |= {
    "rename": moving(
        lambda node, x: x,
        _renamed,
        "{0}",
        "{0}",
        _rename_cell,
        renames=("old", "new"),
        vjp=lambda g, y, node, x: [rename(g, node.args["new"], node.args["old"])],
        takes=(9,),
        view=True,
    ),
    "spread": moving(
        _spread,
        _spread_axes,
        _spread_text,
        _spread_latex,
        moved,
        binds=4,
        takes=(3,),
        vjp=lambda g, y, node, x: [g],
        because="what was copied to all gets the sum of their gradients",
        copies=True,
        view=True,
    ),
}


def _read(args: dict[str, Any], x: Axes) -> Axes:
    to: Axes = args["to"]
    if math.prod(axis.size for axis in x) != math.prod(axis.size for axis in to):
        raise ShapeError(f"{describe(x)} has not as many entries as {describe(to)}")
    return to


def _cell(node: Node, at: At, look: Look) -> Pick:
    source = node.sources[0].axes
    place = np.ravel_multi_index([at[axis.name] for axis in node.axes], [axis.size for axis in node.axes])
    found = np.unravel_index(place, [axis.size for axis in source])
    return Pick(0, {axis.name: int(i) for axis, i in zip(source, found, strict=True)})


OPS["reread"] = moving(
    lambda node, x: x.reshape((*x.shape[: x.ndim - len(node.sources[0].axes)], *node.shape)),
    _read,
    "{0} reread",
    r"\operatorname{{reread}}({0})",
    _cell,
    takes=(3,),
    binds=4,
    vjp=lambda g, y, node, x: [reread(g, tuple(axis for axis in g.axes if axis not in node.axes) + x.axes)],
    because="the gradient is read back in the same order",
    mixes=lambda node: node.sources[0].names,
    view=True,
)


def reread(x: Node, axes: Axes) -> Node:
    """x reshaped: the same entries in the same order under other axes, as when a transpose was meant."""
    return Node("reread", x, to=axes)
