"""Primitives of classes and counts: the entry that a class picks, one-hot rows, factorials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, Axis, align, find, together, unique, without
from attncalc.cells import At, Cell, Form, Literal, Look, Pick, entrywise, moved, pick
from attncalc.errors import NotExact
from attncalc.graph import OPS, Node, Op
from attncalc.ops import kernels
from attncalc.ops.arithmetic import row
from attncalc.ops.functions import beside, weigh
from attncalc.ops.kernels import has_letters, is_exact


def _factorial(x: Array) -> Array:
    if is_exact(x):
        return np.asarray(np.frompyfunc(_exact_factorial, 1, 1)(x))
    return kernels.each(lambda k: float(math.factorial(int(k))) if 0 <= k <= 170 else math.inf, x)


def _exact_factorial(k: Any) -> Any:
    import sympy  # only where exact numbers are at work

    most = kernels.MOST_DIGITS
    if k.is_number and (k > most or math.lgamma(float(k) + 1) > math.log(10) * most):
        raise NotExact(f"{k.evalf(5)}! has more than {most:,} digits", hint=kernels.WITHOUT)
    return sympy.factorial(k)


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


def _select_vjp(g: Node, y: Node, node: Node, x: Node, places: Node) -> Sequence[Node | None]:
    chosen = one_hot(places, find(x.axes, node.args["over"]))
    return [weigh(chosen, beside(g, chosen)), None]


def _one_hot(node: Node, places: Array) -> Array:
    hits = _known(places)[..., None] == np.arange(node.axes[-1].size)
    zero = kernels.zeros(hits.shape, places)
    return np.where(hits, zero + 1, zero)


def _one_hot_cell(node: Node, at: At, look: Look) -> Cell:
    return Literal(int(look(0, pick(node, 0, at).at) == at[node.names[-1]]))


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
        "{0}[{1}]",
        r"{{{0}}}_{{{1}}}",
        _select_cell,
        takes=(0, 9),
        vjp=_select_vjp,
        because="only the entry that was picked gets the gradient",
        about="From each row only the entry of the right class; the others play no part in it.",
        mixes=lambda node: (node.args["over"],),
        flops=0,
    ),
    "one_hot": Op(
        _one_hot,
        lambda args, places: unique((*places, args["axis"])),
        "onehot({0})",
        r"\operatorname{{onehot}}({0})",
        _one_hot_cell,
        no_gradient="it is a choice",
        flops=0,
    ),
}


def whole(x: Node) -> Node:
    """x itself, of which only whole numbers have a meaning, so that it has no slope."""
    return Node("whole", x)


def factorial(x: Node) -> Node:
    """x! of whole numbers."""
    return Node("factorial", x)


def log_factorial(x: Node) -> Node:
    """The natural logarithm of x!, which does not overflow."""
    return Node("log_factorial", x)


def select(x: Node, places: Node, over: str | None = None) -> Node:
    """Along an axis of x (the last one), the entry whose position (from 0) `places` tells; 0 where it is not there."""
    return Node("select", x, places, over=over or x.names[-1])


def one_hot(places: Node, axis: Axis) -> Node:
    """Along a new last axis 1 at the position that `places` tells, else 0."""
    return Node("one_hot", places, axis=axis)
