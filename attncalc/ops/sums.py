"""Sums and means along an axis, and how the row of any primitive that runs along one is written."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, find, position, without
from attncalc.cells import At, Cell, Form, Literal, Look, along
from attncalc.graph import OPS, Node, Op
from attncalc.notation import latex_axis
from attncalc.ops import kernels
from attncalc.ops.functions import total
from attncalc.ops.kernels import is_exact


def axis_of(node: Node, source: int = 0) -> int:
    """Where the axis stands along which the primitive runs: its position among those of a source."""
    return position(node.sources[source].axes, node.args["over"])


def drop(args: dict[str, Any], x: Axes, *rest: Axes) -> Axes:
    """The axes of a result that has lost that one."""
    return without(x, find(x, args["over"]).name)


def keep(args: dict[str, Any], x: Axes, *rest: Axes) -> Axes:
    """The axes of a result that still has it."""
    find(x, args["over"])
    return x


def _subscript(node: Node, style: str = "text") -> str:
    """The axis, where it is not the last one: a formula shows what is not the rule."""
    over = node.args["over"]
    if node.sources[0].names[-1:] == (over,):
        return ""
    return f"_{{{latex_axis(over)}}}" if style == "latex" else f"_{over}"


def mixes(node: Node) -> tuple[str, ...]:
    """That axis is the one along which entries meet."""
    return (node.args["over"],)


def source_axes(node: Node) -> Axes:
    """The axes of what it looks at: every entry of its source."""
    return node.sources[0].axes


def named(name: str, latex: str) -> dict[str, Any]:
    """How a primitive is written that is a function of the entries along an axis."""
    return {
        "text": lambda node, x, *rest: f"{name}{_subscript(node)}({x})",
        "latex": lambda node, x, *rest: f"{latex}{_subscript(node, 'latex')}({x})",
        "mixes": mixes,
    }


def _sum(node: Node, x: Array) -> Array:
    return kernels.total(x, axis_of(node))


def _sum_text(node: Node, x: str) -> str:
    return f"Σ{_subscript(node)}{'' if x.startswith('(') else ' '}{x}"


def _sum_cell(node: Node, at: At, look: Look) -> Cell:
    return Form("+", along(node, node.args["over"], at))


def _mean(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    first = np.sum(x, axis=axis, keepdims=True) / x.shape[axis]
    if is_exact(x) or not np.isfinite(first).all():
        return np.asarray(np.squeeze(first, axis))
    # What the first division rounded away is put back, so that equal entries have just themselves as their mean.
    return np.asarray(np.squeeze(first, axis) + np.sum(x - first, axis=axis) / x.shape[axis])


def _mean_cell(node: Node, at: At, look: Look) -> Cell:
    return Form("/", (_sum_cell(node, at, look), Literal(find(node.sources[0].axes, node.args["over"]).size)))


OPS |= {
    "sum": Op(
        _sum,
        drop,
        _sum_text,
        lambda node, x: rf"\sum_{{{latex_axis(node.args['over'])}}} {x}",
        _sum_cell,
        binds=2,
        takes=(1,),
        vjp=lambda g, y, node, x: [g],
        because="every term of a sum gets the same gradient",
        about="Σ adds along one axis, the last one unless a subscript names another; that axis is gone afterwards.",
        mixes=mixes,
        places=source_axes,
        narrow=True,
        adds=True,
        terms=_sum,
    ),
    "mean": Op(
        _mean,
        drop,
        cell=_mean_cell,
        vjp=lambda g, y, node, x: [g / x.size(node.args["over"])],
        because="every entry of a mean gets its equal share of the gradient",
        about="The sum divided by how many there are, along the last axis unless a subscript names another.",
        body=lambda node, x: total(x, node.args["over"]) / x.size(node.args["over"]),
        places=source_axes,
        narrow=True,
        terms=_mean,
        **named("mean", r"\operatorname{mean}"),
    ),
}
