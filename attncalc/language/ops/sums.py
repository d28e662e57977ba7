"""Means along an axis, lengths from sums of powers, and angles between vectors.

Lengths and angles are right even if their squares overflow or vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.axes import align, find, without
from attncalc.language.graph import Node, Number, constant
from attncalc.language.kernels import arccos as angle_of
from attncalc.language.kernels import is_exact
from attncalc.language.kernels import sqrt as root
from attncalc.language.ops.basics import (
    absolute,
    arccos,
    axis_of,
    beside,
    drop,
    mixes,
    named,
    per,
    pi,
    pick,
    power,
    sign,
    source_axes,
    sqrt,
    sum_cell,
    total,
    written_as,
)
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op


def _mean(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    first = np.sum(x, axis=axis, keepdims=True) / x.shape[axis]
    if is_exact(x):
        return np.asarray(np.squeeze(first, axis))
    if not np.isfinite(first).all():
        return np.asarray(np.sum(x / x.shape[axis], axis=axis))  # the sum may overflow where the mean does not
    # The rounding error of the first division is added back, so that the mean of equal entries is exactly that entry.
    return np.asarray(np.squeeze(first, axis) + np.sum(x - first, axis=axis) / x.shape[axis])


OPS |= {
    "mean": Op(
        _mean,
        drop,
        cell=lambda node, at, look: Form(
            "/", (sum_cell(node, at, look), Literal(find(node.sources[0].axes, node.args["over"]).size))
        ),
        vjp=lambda g, y, node, x: [g / x.size(node.args["over"])],
        because="every entry of a mean gets its equal share of the gradient",
        about="The sum divided by how many there are, along the last axis unless a subscript names another.",
        body=lambda node, x: total(x, node.args["over"]) / x.size(node.args["over"]),
        places=source_axes,
        narrow=True,
        doubled="mean",
        loses=kernels.cancels_along,
        terms=_mean,
        **named("mean", r"\operatorname{mean}"),
    ),
}


def _root(node: Node, total: Array, x: Array) -> Array:
    p = node.args["p"]
    if is_exact(total):
        return np.asarray(kernels.exact().root(total, p))
    p = float(p)  # a Fraction would turn floats into Fractions
    if _of_other_sums(node):
        return np.asarray(np.sqrt(total) if p == 2 else total ** (1 / p))
    unit, largest, power_, safe = _largest(node, x, p)
    # 1/p is not exact, which shows in roots of large numbers, so the power of the largest entry is taken out.
    plain = np.sqrt(total) if p == 2 else (total / power_) ** (1 / p) * largest
    if safe.all():
        return np.asarray(plain)
    return np.where(safe, plain, np.sum((np.abs(x) / unit) ** p, axis=axis_of(node, 1)) ** (1 / p) * largest)


def _root_of_mean(node: Node, squares: Array, x: Array, *weights: Array) -> Array:
    plain = np.asarray(root(squares))
    if is_exact(squares) or _of_other_sums(node):
        return plain
    unit, largest, _, safe = _largest(node, x, 2)
    # Something added to tiny squares may give them all their digits back.
    safe = safe | kernels.has_all_digits(squares) & np.isfinite(squares)
    if safe.all():
        return plain
    axis, parts = axis_of(node, 1), (x / unit) ** 2
    if weights:
        mean = np.sum(parts * align(weights[0], node.sources[2].axes, node.sources[1].axes), axis=axis)
    else:
        mean = np.mean(parts, axis=axis)
    return np.where(safe, plain, np.sqrt(mean) * largest)


def _of_other_sums(node: Node) -> bool:
    """Whether the sums under the root are not those of x, since a mistake has put sums along another axis there."""
    return node.sources[0].names != tuple(name for name in node.sources[1].names if name != node.args["over"])


def _largest(node: Node, x: Array, p: Number) -> tuple[Array, Array, Array, Array]:
    """The largest absolute value of each row, with and without the axis; its power; whether that is safe to use.

    If powers overflow or vanish although their root does not, x is divided by the largest entry first.
    """
    unit, limits = _top(node, 1, x), np.finfo(x.dtype)
    largest = np.squeeze(unit, axis_of(node, 1))
    power_ = largest**p
    return unit, largest, power_, kernels.has_all_digits(power_) & (power_ < limits.max * limits.eps)


def _top(node: Node, source: int, x: Array) -> Array:
    """The largest absolute entry of each row of a source; 1 for a row of zeros, which can be divided by it too."""
    top = np.max(np.abs(x), axis=axis_of(node, source), keepdims=True)
    return np.where(top == 0, 1, top)


def _shown(p: float) -> str:
    return str(int(p) if float(p).is_integer() else p)


def _root_vjp(g: Node, y: Node, node: Node, total: Node, x: Node) -> Sequence[Node | None]:
    p = node.args["p"]
    if total.op == "step":
        return [per(g, 2 * y if p == 2 else p * power(y, p - 1), y), None]
    # No step shows the sum, so the gradient goes straight to x, and the squares need none.
    share = per(x, y, y) if p == 2 else sign(x) * power(per(absolute(x), y, y), p - 1)
    return [None, beside(g, share) * share]


def _root_because(node: Node, source: int) -> str:
    if node.sources[0].op != "step":
        return "a length grows the fastest along its own vector x, at the rate x/‖x‖ (0 at 0, by convention)"
    return (
        f"the slope of {'√x is 1/(2√x)' if node.args['p'] == 2 else 'the p-th root y is 1/(p·y^(p−1))'} "
        f"(0 at 0, by convention)"
    )


def _root_cell(node: Node, at: At, look: Look) -> Cell:
    p, total = node.args["p"], pick(node, 0, at)
    return Form("√", (total,)) if p == 2 else Form("^", (total, Form("/", (Literal(1), Literal(p)))))


def _unit(node: Node, source: int, x: Array) -> Array:
    axes, scaled = node.sources[source].axes, x / _top(node, source, x)
    unit = scaled / np.sqrt(np.sum(scaled * scaled, axis=axis_of(node, source), keepdims=True))
    return align(unit, axes, (*node.axes, find(axes, node.args["over"])))


def _cosine(node: Node, dot: Array, norms: Array, a: Array, b: Array) -> Array:
    if is_exact(dot, norms):
        return np.asarray(dot / norms)
    limits = np.finfo(norms.dtype)
    large = limits.max * limits.eps
    safe = kernels.has_all_digits(norms) & (norms < large) & (np.abs(dot) < large)
    value = dot / norms
    if not safe.all():
        # The products overflow or vanish although the angle does not: use vectors of unit length.
        left, right = _unit(node, 2, a), _unit(node, 3, b)
        value = np.where(safe, value, np.sum(left * right, axis=-1))
    return np.clip(value, -1, 1)


def _multiple(node: Node, dot: Array, square: Array, a: Array, b: Array) -> Array:
    square = align(square, node.sources[1].axes, node.axes)
    plain = np.asarray(dot / square)
    if is_exact(dot, square):
        return plain
    safe = kernels.has_all_digits(square) & np.isfinite(square) & np.isfinite(dot)
    if safe.all():
        return plain
    (left, long), (right, short) = (_scaled_down(node, source, x) for source, x in ((2, a), (3, b)))
    return np.where(safe, plain, np.sum(left * right, axis=-1) / np.sum(right * right, axis=-1) * (long / short))


def _scaled_down(node: Node, source: int, x: Array) -> tuple[Array, Array]:
    """A vector divided by its largest absolute entry, and that entry."""
    axes, axis, top = node.sources[source].axes, axis_of(node, source), _top(node, source, x)
    laid = (*node.axes, find(axes, node.args["over"]))
    return align(x / top, axes, laid), align(np.squeeze(top, axis), without(axes, node.args["over"]), node.axes)


def _angle(node: Node, cosine: Array, a: Array, b: Array) -> Array:
    if is_exact(cosine):
        return np.asarray(angle_of(cosine) * 180 / kernels.number(np.pi, cosine.dtype))
    left, right = _unit(node, 1, a), _unit(node, 2, b)
    # arccos loses the digits of a small angle; the tangent of the half-angle keeps them.
    apart, sum_ = np.linalg.norm(left - right, axis=-1), np.linalg.norm(left + right, axis=-1)
    angle = 2 * np.arctan2(apart, sum_)
    same = np.abs(np.cos(angle) - cosine) <= np.sqrt(np.finfo(cosine.dtype).eps)  # false if rounded by hand
    return np.asarray(np.degrees(np.where(same, angle, np.arccos(np.clip(cosine, -1, 1)))).astype(cosine.dtype))


def _quotient_of_vectors(kernel: Any, about: str = "") -> Op:
    """The row of a quotient whose kernel uses the vectors themselves where dividend or divisor overflow or vanish."""
    return Op(
        kernel,
        lambda args, above, below, a, b: above,
        cell=lambda node, at, look: Form("/", (pick(node, 0, at), pick(node, 1, at))),
        vjp=lambda g, y, node, above, below, a, b: [g / below, -(g * y / below), None, None],
        body=lambda node, above, below, a, b: above / below,
        about=about,
        mixes=mixes,
        narrow=True,
        **written_as("div"),
    )


OPS |= {
    "root_of_sum": Op(
        _root,
        lambda args, total, x: total,
        lambda node, total, x: f"√{total}" if node.args["p"] == 2 else f"{total}^(1/{_shown(node.args['p'])})",
        lambda node, total, x: (
            rf"\sqrt{{{total}}}" if node.args["p"] == 2 else rf"\left({total}\right)^{{1/{_shown(node.args['p'])}}}"
        ),
        _root_cell,
        binds=1,
        takes=(0, 9),
        vjp=_root_vjp,
        because=_root_because,
        body=lambda node, total, x: sqrt(total) if node.args["p"] == 2 else power(total, 1 / node.args["p"]),
        about=lambda node: (
            "For a length, square first, then add, then take the root: √(3² + 4²) = 5, not 3 + 4 = 7."
            if node.args["p"] == 2
            else ""
        ),
        mixes=mixes,
        boxed=True,
        narrow=True,
    ),
    "root_of_mean": Op(
        _root_of_mean,
        lambda args, squares, x, *weights: squares,
        cell=lambda node, at, look: Form("√", (pick(node, 0, at),)),
        vjp=lambda g, y, node, squares, *rest: [g / (2 * y), *(None for _ in rest)],
        body=lambda node, squares, *rest: sqrt(squares),
        about=OPS["sqrt"].about,
        mixes=mixes,
        noun="root",
        narrow=True,
        normalises=True,
        **written_as("sqrt"),
    ),
    "cosine_ratio": _quotient_of_vectors(
        _cosine, about="Divide by both lengths, not by their squares: a vector compared with itself gives 1."
    ),
    "multiple": _quotient_of_vectors(_multiple),
    "angle": Op(
        _angle,
        lambda args, cosine, a, b: cosine,
        "arccos({0}) · 180°/π",
        r"\arccos({0}) \cdot 180^\circ / \pi",
        lambda node, at, look: Form(
            "/", (Form("×", (Form("arccos", (pick(node, 0, at),)), Literal(180))), Literal("π"))
        ),
        vjp=lambda g, y, node, cosine, a, b: [-(g * degrees(1) / sqrt(1 - cosine**2)), None, None],
        because="the slope of arccos x is −1/√(1 − x²), and a radian is 180°/π",
        body=lambda node, cosine, a, b: arccos(cosine) * degrees(1),
        mixes=mixes,
        binds=2.5,
        narrow=True,
    ),
}


def degrees(value: Number) -> Node:
    """An angle in radians converted to degrees."""
    return constant(180 * value) / pi()


def multiple(dot: Node, square: Node, a: Node, b: Node) -> Node:
    """a·b / b·b, given both; computed from the vectors themselves where these overflow or vanish."""
    return Node("multiple", dot, square, a, b, over=b.names[-1])
