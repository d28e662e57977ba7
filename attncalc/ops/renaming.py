"""An axis under another name, and a value spread over the axes that it lacks: no entry moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, align, find, unique
from attncalc.cells import At, Cell, Look, Pick, moved
from attncalc.errors import ShapeError
from attncalc.graph import OPS, Node, Op
from attncalc.ops.functions import rename


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
    new = [name for name in node.names if name not in node.sources[0].names]
    return f"{x} for every {', '.join(new)}" if new else x


OPS |= {
    "rename": Op(
        lambda node, x: x,
        _renamed,
        "{0}",
        "{0}",
        _rename_cell,
        vjp=lambda g, y, node, x: [rename(g, node.args["new"], node.args["old"])],
        takes=(9,),
        flops=0,
        view=True,
    ),
    "spread": Op(
        _spread,
        _spread_axes,
        _spread_text,
        "{0}",
        moved,
        binds=4,
        takes=(3,),
        vjp=lambda g, y, node, x: [g],
        because="what was copied to all gets the sum of their gradients",
        flops=0,
        view=True,
    ),
}
