"""The largest entries along an axis: their value, the place of the first, a ranking of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, Axis, align, together
from attncalc.cells import At, Cell, Form, Literal, Look, along, moved
from attncalc.errors import NotExact, ShapeError
from attncalc.graph import OPS, Node, Op
from attncalc.ops import kernels
from attncalc.ops.arithmetic import row as elementwise
from attncalc.ops.functions import beside
from attncalc.ops.kernels import is_exact
from attncalc.ops.sums import axis_of, drop, keep, named, source_axes


def peak(x: Node, over: str | None = None) -> Node:
    """The largest entry along an axis (the last one)."""
    return Node("peak", x, over=over or x.names[-1])


def first_maximum(x: Node, over: str) -> Node:
    """1 where the first of the largest entries along the axis stands, else 0."""
    return Node("first_maximum", x, over=over)


def ranking(scores: Node, top: int, *left_out: Node) -> Node:
    """The positions (from 0) of the largest entries along the last axis, best first, but for those left out."""
    return Node("ranking", scores, *left_out, top=top, of=scores.names[-1])


def held_or_0(x: Node) -> Node:
    """x, held constant for the backward pass; 0 where it is −∞, the maximum of a row that is masked throughout.

    Letters have no maximum that could be known, and it is 0 among them.
    """
    return Node("held_or_0", x)


def _held_or_0(x: Array) -> Array:
    nothing = np.full(x.shape, True) if kernels.has_letters(x) else x == -np.inf
    return np.asarray(np.where(nothing, kernels.zeros(x.shape, x), x))


def _held_or_0_cell(node: Node, at: At, look: Look) -> Cell:
    return Literal(0) if look(0, at) == -np.inf else moved(node, at, look)


def _peak(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    if not is_exact(x):
        return np.asarray(np.max(x, axis=axis))
    import sympy  # only where exact numbers are at work

    if kernels.has_letters(x):
        # Of letters none is known to be larger, which SymPy would find out of every pair of them.
        told_apart = not all(getattr(entry, "is_Symbol", False) for entry in x.flat)
        return np.asarray(np.apply_along_axis(lambda entries: sympy.Max(*entries, evaluate=told_apart), axis, x))
    return np.asarray(np.apply_along_axis(lambda entries: max(entries, key=lambda e: sympy.N(e, 30)), axis, x))


def _first_maximum(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    result = np.zeros_like(x)
    np.put_along_axis(result, np.argmax(x, axis=axis, keepdims=True), 1, axis=axis)
    return result


def _first_maximum_cell(node: Node, at: At, look: Look) -> Cell:
    row = [look(0, place.at) for place in along(node, node.args["over"], at)]
    return Literal(int(row.index(max(row)) == at[node.args["over"]]))


def _ranked(args: dict[str, Any], scores: Axes, *left_out: Axes) -> Axes:
    if together(scores, *left_out) != scores:
        raise ShapeError("what is left out has axes that the scores lack")
    if not 1 <= args["top"] <= scores[-1].size:
        raise ShapeError(f"the best {args['top']} of {scores[-1].size} were asked for")
    return (*scores[:-1], Axis("rank", args["top"]))


def _ranking(node: Node, scores: Array, *left_out: Array) -> Array:
    if kernels.has_letters(scores):
        raise NotExact("which is the larger of two letters is not known", hint="give them numbers")
    ordered = scores.astype(np.float64)
    for mask, source in zip(left_out, node.sources[1:], strict=True):
        out = align(mask, source.axes, node.sources[0].axes)
        ordered = np.where(out.astype(bool), -np.inf, ordered)
    return np.argsort(-ordered, axis=-1, kind="stable")[..., : node.args["top"]]


def _ranking_cell(node: Node, at: At, look: Look) -> Cell:
    """Which is the largest of those that are neither left out nor ranked before it."""
    over = node.args["of"]
    row: list[Cell] = [*along(node, over, at)]
    values = [float(look(0, place.at)) for place in along(node, over, at)]
    for i in range(1, len(node.sources)):
        for j, place in enumerate(along(node, over, at, i)):
            if look(i, place.at):
                row[j], values[j] = Literal("left out"), -np.inf
    for j in sorted(range(len(row)), key=lambda j: -values[j])[: at["rank"]]:
        row[j] = Literal("taken")
    return Form("argmax", tuple(row))


OPS |= {
    "peak": Op(
        _peak,
        drop,
        cell=lambda node, at, look: Form("max", along(node, node.args["over"], at)),
        vjp=lambda g, y, node, x: [beside(g, x) * first_maximum(x, node.args["over"])],
        because="only the largest entry gets the gradient (the first, if several are equal)",
        about="max with one argument is the largest entry along an axis, which is gone afterwards.",
        places=source_axes,
        **named("max", r"\max"),
    ),
    "first_maximum": Op(
        _first_maximum,
        keep,
        cell=_first_maximum_cell,
        vjp=lambda g, y, node, x: [None],
        because="it stays as it is until two entries change places: its slope is 0",
        **named("largest", r"\operatorname{largest}"),
    ),
    "held_or_0": elementwise(
        _held_or_0,
        "{0}",
        "{0}",
        _held_or_0_cell,
        vjp=lambda g, y, node, x: [None],
        because="it is held constant: the result does not depend on it",
        flops=0,
    ),
    "ranking": Op(
        _ranking,
        _ranked,
        lambda node, scores, *left_out: f"largest {node.args['top']} of {scores}",
        lambda node, scores, *left_out: rf"\operatorname{{top}}_{{{node.args['top']}}}({scores})",
        _ranking_cell,
        binds=4,
        takes=(3, 9, 9, 9),
        no_gradient="a ranking jumps where two entries change places",
        mixes=lambda node: (node.sources[0].names[-1],),
        places=source_axes,
        points="of",
    ),
}
