"""Primitives that run along an axis: sums, means, maxima, softmax, norms, rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attncalc.axes import Axes, Axis, align, find, position, together, without
from attncalc.cells import At, Cell, Form, Literal, Look, along, pick
from attncalc.errors import NotExact, ShapeError
from attncalc.graph import OPS, Node, Number, Op
from attncalc.notation import latex_axis
from attncalc.ops import kernels
from attncalc.ops.elementwise import arccos, exp, log, power, sqrt
from attncalc.ops.kernels import Array, is_exact


def _axis(node: Node, source: int = 0) -> int:
    return position(node.sources[source].axes, node.args["over"])


def _drop(args: dict[str, Any], x: Axes, *rest: Axes) -> Axes:
    return without(x, find(x, args["over"]).name)


def _keep(args: dict[str, Any], x: Axes, *rest: Axes) -> Axes:
    find(x, args["over"])
    return x


def _subscript(node: Node, style: str = "text") -> str:
    """The axis, where it is not the last one: a formula shows what is not the rule."""
    over = node.args["over"]
    if node.sources[0].names[-1:] == (over,):
        return ""
    return f"_{{{latex_axis(over)}}}" if style == "latex" else f"_{over}"


def _mixes(node: Node) -> tuple[str, ...]:
    return (node.args["over"],)


def _named(name: str, latex: str) -> dict[str, Any]:
    return {
        "text": lambda node, x, *rest: f"{name}{_subscript(node)}({x})",
        "latex": lambda node, x, *rest: f"{latex}{_subscript(node, 'latex')}({x})",
        "mixes": _mixes,
    }


def _sum_text(node: Node, x: str) -> str:
    return f"Σ{_subscript(node)}{'' if x.startswith('(') else ' '}{x}"


def _sum_cell(node: Node, at: At, look: Look) -> Cell:
    return Form("+", along(node, node.args["over"], at))


def _mean(node: Node, x: Array) -> Array:
    axis = _axis(node)
    first = np.sum(x, axis=axis, keepdims=True) / x.shape[axis]
    if is_exact(x) or not np.isfinite(first).all():
        return np.asarray(np.squeeze(first, axis))
    # What the first division rounded away is put back, so that equal entries have just themselves as their mean.
    return np.asarray(np.squeeze(first, axis) + np.sum(x - first, axis=axis) / x.shape[axis])


def _mean_cell(node: Node, at: At, look: Look) -> Cell:
    return Form("/", (_sum_cell(node, at, look), Literal(find(node.sources[0].axes, node.args["over"]).size)))


def _softmax(node: Node, x: Array) -> Array:
    axis = _axis(node)
    if is_exact(x):
        exponentials = kernels.exp(x)
    else:
        top = np.max(x, axis=axis, keepdims=True)
        exponentials = x - np.where(np.isfinite(top), top, 0)
        np.exp(exponentials, out=exponentials)
    sums = np.sum(exponentials, axis=axis, keepdims=True)
    # A row that is −∞ throughout mixes nothing: its weights are 0, as in PyTorch's attention and ONNX's.
    return np.asarray(exponentials / np.where(sums == 0, 1, sums))


def _softmax_cell(node: Node, at: At, look: Look) -> Cell:
    row = along(node, node.args["over"], at)
    if all(look(0, entry.at) == -np.inf for entry in row):
        return Literal("all masked: 0")
    return Form("/", (Form("exp", (pick(node, 0, at),)), Form("+", tuple(Form("exp", (x,)) for x in row))))


def _log_sum_exp(node: Node, x: Array) -> Array:
    axis = _axis(node)
    if is_exact(x):
        return np.asarray(kernels.log(np.asarray(np.sum(kernels.exp(x), axis=axis))))
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    sums = np.sum(np.exp(x - top), axis=axis)
    return np.asarray(np.log(sums) + np.squeeze(top, axis=axis))


def _log_sum_exp_cell(node: Node, at: At, look: Look) -> Cell:
    row = along(node, node.args["over"], at)
    return Form("ln", (Form("+", tuple(Form("exp", (x,)) for x in row)),))


def _peak(node: Node, x: Array) -> Array:
    axis = _axis(node)
    if not is_exact(x):
        return np.asarray(np.max(x, axis=axis))
    import sympy  # only where exact numbers are at work

    if kernels.has_letters(x):
        return np.asarray(np.apply_along_axis(lambda entries: sympy.Max(*entries), axis, x))
    return np.asarray(np.apply_along_axis(lambda entries: max(entries, key=lambda e: sympy.N(e, 30)), axis, x))


def _first_maximum(node: Node, x: Array) -> Array:
    axis = _axis(node)
    result = np.zeros_like(x)
    np.put_along_axis(result, np.argmax(x, axis=axis, keepdims=True), 1, axis=axis)
    return result


def _first_maximum_cell(node: Node, at: At, look: Look) -> Cell:
    row = [look(0, place.at) for place in along(node, node.args["over"], at)]
    return Literal(int(row.index(max(row)) == at[node.args["over"]]))


def _root(node: Node, total: Array, x: Array) -> Array:
    p = node.args["p"]
    if is_exact(total):
        import sympy  # only where exact numbers are at work

        exponent = 1 / sympy.nsimplify(p, rational=True)
        return np.asarray(np.frompyfunc(lambda t: sympy.Pow(t, exponent), 1, 1)(total))
    size, axis, limits = np.abs(x), _axis(node, 1), np.finfo(total.dtype)
    top = np.max(size, axis=axis, keepdims=True)
    unit = np.where(top == 0, 1, top)
    largest = np.squeeze(unit, axis)
    power_ = largest**p
    # 1/p is not exact, which shows in roots of large numbers: the largest entry's power is taken out of them.
    plain = np.sqrt(total) if p == 2 else (total / power_) ** (1 / p) * largest
    safe = (power_ > limits.tiny / limits.eps) & (power_ < limits.max * limits.eps)
    if safe.all():
        return np.asarray(plain)
    # The powers overflow or vanish though the norm does not: divide by the largest entry first.
    return np.where(safe, plain, np.sum((size / unit) ** p, axis=axis) ** (1 / p) * largest)


def _root_text(node: Node, total: str, x: str) -> str:
    p = node.args["p"]
    if p == 2:
        return f"√{total}"
    shown = int(p) if float(p).is_integer() else p
    return f"{total}^(1/{shown})"


def _root_vjp(g: Node, y: Node, node: Node, total: Node, x: Node) -> Sequence[Node | None]:
    p = node.args["p"]
    return [g / (2 * y) if p == 2 else g / (p * power(y, p - 1)), None]


def _root_cell(node: Node, at: At, look: Look) -> Cell:
    p, total = node.args["p"], pick(node, 0, at)
    return Form("√", (total,)) if p == 2 else Form("^", (total, Form("/", (Literal(1), Literal(p)))))


def _unit(x: Array, axis: int) -> Array:
    top = np.max(np.abs(x), axis=axis, keepdims=True)
    scaled = x / np.where(top == 0, 1, top)
    return np.asarray(scaled / np.sqrt(np.sum(scaled * scaled, axis=axis, keepdims=True)))


def _cosine(node: Node, dot: Array, norms: Array, a: Array, b: Array) -> Array:
    if is_exact(dot, norms):
        return np.asarray(dot / norms)
    limits = np.finfo(norms.dtype)
    small, large = limits.tiny / limits.eps, limits.max * limits.eps
    safe = (norms > small) & (norms < large) & (np.abs(dot) < large)
    value = dot / norms
    if not safe.all():
        # The products overflow or vanish though the angle does not: go by vectors of unit length.
        left, right = _unit(a, _axis(node, 2)), _unit(b, _axis(node, 3))
        value = np.where(safe, value, np.sum(left * right, axis=-1))
    return np.clip(value, -1, 1)


def _angle(node: Node, cosine: Array, a: Array, b: Array) -> Array:
    if is_exact(cosine):
        import sympy  # only where exact numbers are at work

        return np.asarray(np.frompyfunc(lambda c: sympy.acos(c) * 180 / sympy.pi, 1, 1)(cosine))
    left, right = _unit(a, _axis(node, 1)), _unit(b, _axis(node, 2))
    # arccos loses a small angle's digits; the half-angle's tangent keeps them.
    apart, sum_ = np.linalg.norm(left - right, axis=-1), np.linalg.norm(left + right, axis=-1)
    angle = 2 * np.arctan2(apart, sum_)
    same = np.abs(np.cos(angle) - cosine) <= np.sqrt(np.finfo(cosine.dtype).eps)  # not so for one rounded by hand
    return np.asarray(np.degrees(np.where(same, angle, np.arccos(np.clip(cosine, -1, 1)))).astype(cosine.dtype))


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
    "sum": Op(
        lambda node, x: np.asarray(np.sum(x, axis=_axis(node))),
        _drop,
        _sum_text,
        lambda node, x: rf"\sum_{{{latex_axis(node.args['over'])}}} {x}",
        _sum_cell,
        binds=2,
        takes=(1,),
        vjp=lambda g, y, node, x: [g],
        because="every term of a sum gets the same gradient",
        about="Σ adds along one axis, the last one unless a subscript names another; that axis is gone afterwards.",
        mixes=_mixes,
    ),
    "mean": Op(
        _mean,
        _drop,
        cell=_mean_cell,
        vjp=lambda g, y, node, x: [g / x.size(node.args["over"])],
        because="every entry of a mean gets its equal share of the gradient",
        about="The sum over how many there are, along the last axis unless a subscript names another.",
        body=lambda node, x: total(x, node.args["over"]) / x.size(node.args["over"]),
        **_named("mean", r"\operatorname{mean}"),
    ),
    "peak": Op(
        _peak,
        _drop,
        cell=lambda node, at, look: Form("max", along(node, node.args["over"], at)),
        vjp=lambda g, y, node, x: [g * first_maximum(x, node.args["over"])],
        because="only the largest entry is felt (the first, where several are)",
        about="max with one argument is the largest entry along an axis, which is gone afterwards.",
        **_named("max", r"\max"),
    ),
    "first_maximum": Op(
        _first_maximum,
        _keep,
        cell=_first_maximum_cell,
        vjp=lambda g, y, node, x: [None],
        because="it stays as it is until two entries change places: its slope is 0",
        **_named("largest", r"\operatorname{largest}"),
    ),
    "softmax": Op(
        _softmax,
        _keep,
        cell=_softmax_cell,
        vjp=lambda g, y, node, x: [y * (g - total(g * y, node.args["over"]))],
        because="the shares of a row sum to 1: each is pulled against the row's weighted mean",
        about="e^x makes every score positive, and dividing by their sum makes shares of them. Only differences "
        "count: the score that is 1 above another gets e ≈ 2.718 times its share, wherever the two lie. The sum runs "
        "along one axis alone, the last one unless a subscript names another: of a table, each row sums to 1, a "
        "column need not.",
        body=lambda node, x: (e := exp(x)) / total(e, node.args["over"]),
        **_named("softmax", r"\operatorname{softmax}"),
    ),
    "log_sum_exp": Op(
        _log_sum_exp,
        _drop,
        cell=_log_sum_exp_cell,
        vjp=lambda g, y, node, x: [g * softmax(x, node.args["over"])],
        because="the slope of ln Σ exp is the softmax",
        about="logsumexp is a soft maximum: never below the largest entry, and above it by ln n at most, where all n "
        "are alike.",
        body=lambda node, x: log(total(exp(x), node.args["over"])),
        **_named("logsumexp", r"\operatorname{logsumexp}"),
    ),
    "root_of_sum": Op(
        _root,
        lambda args, total, x: total,
        _root_text,
        lambda node, total, x: (
            rf"\sqrt{{{total}}}" if node.args["p"] == 2 else rf"\left({total}\right)^{{1/{node.args['p']}}}"
        ),
        _root_cell,
        binds=1,
        takes=(0, 9),
        vjp=_root_vjp,
        because=lambda node, source: (
            "the slope of √x is 1/(2√x)" if node.args["p"] == 2 else "the slope of the p-th root y is 1/(p·y^(p−1))"
        ),
        body=lambda node, total, x: sqrt(total) if node.args["p"] == 2 else power(total, 1 / node.args["p"]),
        about=lambda node: (
            "A length is squared, added, then rooted, in that order: √(3² + 4²) = 5, and not 3 + 4 = 7."
            if node.args["p"] == 2
            else ""
        ),
        mixes=_mixes,
    ),
    "cosine_ratio": Op(
        _cosine,
        lambda args, dot, norms, a, b: dot,
        "{0} / {1}",
        r"\frac{{{0}}}{{{1}}}",
        lambda node, at, look: Form("/", (pick(node, 0, at), pick(node, 1, at))),
        binds=2.5,
        takes=(2, 1, 9, 9),
        vjp=lambda g, y, node, dot, norms, a, b: [g / norms, -(g * y / norms), None, None],
        because=OPS["div"].because,
        body=lambda node, dot, norms, a, b: dot / norms,
        about="Both lengths are divided out, not their squares: the vector against itself gives 1.",
        mixes=_mixes,
    ),
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
        mixes=_mixes,
        binds=2.5,
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
    ),
}


def degrees(value: Number) -> Node:
    """An angle given in radians as a number of degrees."""
    from attncalc.graph import constant

    return constant(180 * value) / constant(float(np.pi), "π")


def total(x: Node, over: str | None = None) -> Node:
    """The sum along an axis (the last one)."""
    return Node("sum", x, over=over or x.names[-1])


def mean(x: Node, over: str | None = None) -> Node:
    """The mean along an axis (the last one)."""
    return Node("mean", x, over=over or x.names[-1])


def peak(x: Node, over: str | None = None) -> Node:
    """The largest entry along an axis (the last one)."""
    return Node("peak", x, over=over or x.names[-1])


def first_maximum(x: Node, over: str) -> Node:
    """1 where the first of the largest entries along the axis stands, else 0."""
    return Node("first_maximum", x, over=over)


def softmax(x: Node, over: str | None = None) -> Node:
    """Shares that sum to 1 along an axis (the last one): exp(x) / Σ exp(x)."""
    return Node("softmax", x, over=over or x.names[-1])


def log_sum_exp(x: Node, over: str | None = None) -> Node:
    """ln Σ exp(x) along an axis (the last one)."""
    return Node("log_sum_exp", x, over=over or x.names[-1])


def root_of_sum(sums: Node, x: Node, p: Number, over: str | None = None) -> Node:
    """The p-th root of Σ|x|^p, given that sum; it goes by x itself where the powers overflow or vanish."""
    return Node("root_of_sum", sums, x, p=p, over=over or x.names[-1])


def cosine_ratio(dot: Node, norms: Node, a: Node, b: Node, over: str | None = None) -> Node:
    """a·b over ‖a‖·‖b‖, given both; it goes by the vectors themselves where the products overflow or vanish."""
    return Node("cosine_ratio", dot, norms, a, b, over=over or a.names[-1])


def angle_between(cosine: Node, a: Node, b: Node, over: str | None = None) -> Node:
    """The angle in degrees between two vectors whose cosine is given."""
    return Node("angle", cosine, a, b, over=over or a.names[-1])


def ranking(scores: Node, top: int, *left_out: Node) -> Node:
    """The positions (from 0) of the largest entries along the last axis, best first, but for those left out."""
    return Node("ranking", scores, *left_out, top=top, of=scores.names[-1])
