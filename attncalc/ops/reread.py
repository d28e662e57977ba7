"""The one primitive that mistakes alone are written with: entries read on in the order in which they are stored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, describe
from attncalc.cells import At, Look, Pick
from attncalc.errors import ShapeError
from attncalc.graph import OPS, Node, Op


def _read(args: dict[str, Any], x: Axes) -> Axes:
    to: Axes = args["to"]
    if math.prod(axis.size for axis in x) != math.prod(axis.size for axis in to):
        raise ShapeError(f"{describe(x)} has not as many entries as {describe(to)}")
    return to


def _reread(node: Node, x: Array) -> Array:
    front = x.shape[: x.ndim - len(node.sources[0].axes)]
    return x.reshape((*front, *node.shape))


def _cell(node: Node, at: At, look: Look) -> Pick:
    source = node.sources[0].axes
    place = np.ravel_multi_index([at[axis.name] for axis in node.axes], [axis.size for axis in node.axes])
    found = np.unravel_index(place, [axis.size for axis in source])
    return Pick(0, {axis.name: int(i) for axis, i in zip(source, found, strict=True)})


def _vjp(g: Node, y: Node, node: Node, x: Node) -> list[Node]:
    front = tuple(axis for axis in g.axes if axis not in node.axes)
    return [reread(g, front + x.axes)]


OPS["reread"] = Op(
    _reread,
    _read,
    "{0} reread",
    r"\operatorname{{reread}}({0})",
    _cell,
    takes=(3,),
    binds=4,
    vjp=_vjp,
    because="the gradient is read back in the same order",
    mixes=lambda node: node.sources[0].names,
    flops=0,
    view=True,
)


def reread(x: Node, axes: Axes) -> Node:
    """The same entries in the same order under other axes: what a reshape does that should have been a transpose."""
    return Node("reread", x, to=axes)
