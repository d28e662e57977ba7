"""Columns split into heads and laid side by side again, and heads that several others share."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, Axis, composite, find, position, unique
from attncalc.cells import At, Cell, Form, Look, Pick
from attncalc.errors import ShapeError
from attncalc.graph import OPS, Node, Op
from attncalc.ops.functions import repeat
from attncalc.ops.sums import source_axes


def split(x: Node) -> Node:
    """Heads out of columns: [n, (h d)] → [h, n, d]; a head takes neighbouring columns."""
    return Node("split", x)


def merge(x: Node) -> Node:
    """Heads into columns, side by side: [h, n, d] → [n, (h d)]."""
    return Node("merge", x)


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


def _merge(node: Node, x: Array) -> Array:
    moved_back = np.moveaxis(x, -3, -2)
    return moved_back.reshape(*moved_back.shape[:-2], -1)


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


def _words(template: str, latex: str) -> dict[str, Any]:
    return {"text": template, "latex": latex, "binds": 4, "takes": (3,)}


OPS |= {
    "split": Op(
        _split,
        _split_axes,
        cell=_split_cell,
        vjp=lambda g, y, node, x: [merge(g)],
        because="the heads' gradients are put side by side again",
        about="Each row is cut into as many blocks as there are heads: head 0 takes the first columns, head 1 the "
        "next. No entry leaves its row; reshaping the table straight to [h, n, d_k] would mix up the tokens.",
        flops=0,
        view=True,
        **_words("{0} split into heads", r"\operatorname{{split}}({0})"),
    ),
    "merge": Op(
        _merge,
        _merge_axes,
        cell=_merge_cell,
        vjp=lambda g, y, node, x: [split(g)],
        because="each head takes its own columns of the gradient",
        about="A row is head 0's row, then head 1's, and so on: the blocks stand side by side in the order in which "
        "they were cut, and nothing is added up or averaged.",
        flops=0,
        **_words("{0} side by side", r"\operatorname{{concat}}({0})"),
    ),
    "repeat": Op(
        lambda node, x: np.repeat(x, node.args["times"], axis=position(node.sources[0].axes, node.args["old"])),
        _repeated,
        cell=_repeat_cell,
        vjp=lambda g, y, node, x: [Node("gather", g, **node.args | {"old": node.args["new"], "new": node.args["old"]})],
        because="what is shared by several heads gets the sum of their gradients",
        about="Neighbouring query heads share a key head: of 8 query heads and 2 key heads, heads 0 to 3 read key "
        "head 0, heads 4 to 7 key head 1 (grouped-query attention).",
        flops=0,
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
