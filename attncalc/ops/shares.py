"""Primitives of probability: nothing times infinity, logarithms of shares, the entry that a class picks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from attncalc.axes import Axes, Axis, align, find, position, together, unique, without
from attncalc.cells import At, Cell, Form, Literal, Look, Pick, along, entrywise, moved, pick
from attncalc.errors import NotExact
from attncalc.graph import OPS, Node, Op, as_node
from attncalc.ops import kernels
from attncalc.ops.elementwise import log
from attncalc.ops.kernels import Array, has_letters, is_exact
from attncalc.ops.reduce import log_sum_exp, softmax, total


def _ratio(a: Array, b: Array) -> Array:
    nothing = a == 0
    if is_exact(a, b):
        import sympy  # only where exact numbers are at work

        endless = (b == 0) & ~nothing
        return np.asarray(np.where(endless, sympy.oo, a / np.where(nothing | endless, 1, b)))
    return np.asarray(np.where(nothing, a, np.divide(a, np.where(nothing, 1, b))))


def _weigh(weights: Array, values: Array) -> Array:
    nothing = weights == 0
    return np.asarray(np.where(nothing, weights, np.multiply(weights, np.where(nothing, 1, values))))


def _unless_nothing(sign: str) -> Callable[[Node, At, Look], Cell]:
    """The cell of × or / that is 0 as soon as the first entry is."""

    def cell(node: Node, at: At, look: Look) -> Cell:
        first = pick(node, 0, at)
        return Form(sign, (first, pick(node, 1, at))) if look(0, first.at) != 0 else first

    return cell


def _log_softmax(node: Node, x: Array, *shares: Array) -> Array:
    axis = position(node.axes, node.args["over"])
    if is_exact(x):
        return np.asarray(x - kernels.log(np.asarray(np.sum(kernels.exp(x), axis=axis, keepdims=True))))
    top = np.max(x, axis=axis, keepdims=True)
    shifted = x - np.where(np.isfinite(top), top, 0)
    return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))


def _log_softmax_text(node: Node, x: str, *shares: str) -> str:
    over = node.args["over"]
    return f"ln softmax({x})" if over == node.names[-1] else f"ln softmax_{over}({x})"


def _log_softmax_latex(node: Node, x: str, *shares: str) -> str:
    over = node.args["over"]
    axis = "" if over == node.names[-1] else rf"_{{\text{{{over}}}}}"
    return rf"\ln \operatorname{{softmax}}{axis}({x})"


def _log_softmax_cell(node: Node, at: At, look: Look) -> Cell:
    row = along(node, node.args["over"], at)
    return Form("−", (pick(node, 0, at), Form("ln", (Form("+", tuple(Form("exp", (x,)) for x in row)),))))


def _log_softmax_vjp(g: Node, y: Node, node: Node, x: Node, *shares: Node) -> Sequence[Node | None]:
    over = node.args["over"]
    return [g - (shares[0] if shares else softmax(x, over)) * total(g, over), *(None for _ in shares)]


def _log_share(node: Node, x: Array, whole: Array) -> Array:
    laid = align(whole, node.sources[1].axes, node.axes)
    plain = np.asarray(x - laid)
    if is_exact(x, whole):
        return plain
    axis = position(node.axes, node.args["over"])
    top = np.max(x, axis=axis, keepdims=True)
    shifted = x - np.where(np.isfinite(top), top, 0)
    rest = np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    # The whole holds as many digits of a large score as of the rest, which x − whole then lacks.
    own = np.abs(laid - (top + rest)) <= 4 * np.finfo(x.dtype).eps * np.abs(laid)  # not so for one rounded by hand
    return np.where(own, shifted - rest, plain)


def _safely(value: Array, otherwise: Array, watched: Array) -> Array:
    if is_exact(value):
        return value
    limits, size = np.finfo(watched.dtype), np.abs(watched)
    return np.where((size > limits.tiny / limits.eps) & (size < limits.max), value, otherwise)


def _factorial(x: Array) -> Array:
    if is_exact(x):
        import sympy  # only where exact numbers are at work

        return np.asarray(np.frompyfunc(sympy.factorial, 1, 1)(x))
    return _of_each(x, lambda k: float(math.factorial(int(k))) if k <= 170 else math.inf)


def _log_factorial(x: Array) -> Array:
    if is_exact(x):
        return np.asarray(kernels.log(_factorial(x)))
    return _of_each(x, lambda k: math.lgamma(k + 1))


def _of_each(x: Array, function: Callable[[float], float]) -> Array:
    values = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
    return np.asarray(values.reshape(x.shape).astype(x.dtype))


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
    return [weigh(one_hot(places, find(x.axes, node.args["over"])), g), None]


def _one_hot(node: Node, places: Array) -> Array:
    hits = _known(places)[..., None] == np.arange(node.axes[-1].size)
    zero = kernels.zeros(hits.shape, places)
    return np.where(hits, zero + 1, zero)


def _one_hot_cell(node: Node, at: At, look: Look) -> Cell:
    return Literal(int(look(0, pick(node, 0, at).at) == at[node.names[-1]]))


def softmax_slopes(p: Node) -> Node:
    """How every share of a softmax moves with every score: p_i·(δ_ij − p_j)."""
    return Node("softmax_slopes", p)


def _whole_alone(kernel: Any, text: str, latex: str, cell: Any, **more: Any) -> Op:
    return Op(
        kernel,
        lambda args, x: x,
        text,
        latex,
        cell,
        elementwise=True,
        no_gradient="what is counted comes in whole numbers, which do not move",
        **more,
    )


def _slopes(node: Node, p: Array) -> Array:
    size = p.shape[-1]
    delta = np.eye(size, dtype=p.dtype if p.dtype != object else np.int64)
    return np.asarray(p[..., :, None] * (delta - p[..., None, :]))


def _slopes_axes(args: dict[str, Any], p: Axes) -> Axes:
    return (*p[:-1], p[-1]._replace(name=f"{p[-1].name}'"), p[-1])


def _slopes_cell(node: Node, at: At, look: Look) -> Cell:
    j = node.names[-1]
    i = node.names[-2]
    row = {name: place for name, place in at.items() if name not in (i, j)}
    return Form(
        "×", (Pick(0, {**row, j: at[i]}), Form("−", (Literal(int(at[i] == at[j])), Pick(0, {**row, j: at[j]}))))
    )


OPS |= {
    "softmax_slopes": Op(
        _slopes,
        _slopes_axes,
        "{0}_i·(δ_ij − {0}_j)",
        r"{{{0}}}_i \left(\delta_{{ij}} - {{{0}}}_j\right)",
        _slopes_cell,
        binds=2,
        takes=(0,),
        no_gradient="it is a derivative already; grad gives its products at any size",
    ),
    "weigh": Op(
        _weigh,
        lambda args, weights, values: together(weights, values),
        OPS["mul"].text,
        OPS["mul"].latex,
        _unless_nothing("×"),
        elementwise=True,
        binds=2,
        takes=(2, 2),
        vjp=lambda g, y, node, weights, values: [weigh(g, values), weigh(weights, g)],
        because=OPS["mul"].because,
    ),
    "ratio": Op(
        _ratio,
        lambda args, a, b: together(a, b),
        OPS["div"].text,
        OPS["div"].latex,
        _unless_nothing("/"),
        elementwise=True,
        binds=2,
        takes=(2, 1),
        vjp=lambda g, y, node, a, b: [ratio(g, b), -ratio(g * y, b)],
        because=OPS["div"].because,
    ),
    "log2": Op(
        kernels.log2,
        lambda args, x: x,
        "log₂({0})",
        r"\log_{{2}}({0})",
        entrywise("log₂"),
        elementwise=True,
        vjp=lambda g, y, node, x: [ratio(g, x * log(as_node(2)))],
        because="the slope of log₂ x is 1/(x·ln 2)",
    ),
    "log10": Op(
        kernels.log10,
        lambda args, x: x,
        "log₁₀({0})",
        r"\log_{{10}}({0})",
        entrywise("log₁₀"),
        elementwise=True,
        vjp=lambda g, y, node, x: [ratio(g, x * log(as_node(10)))],
        because="the slope of log₁₀ x is 1/(x·ln 10)",
    ),
    "log_softmax": Op(
        _log_softmax,
        lambda args, x, *shares: x,
        _log_softmax_text,
        _log_softmax_latex,
        _log_softmax_cell,
        vjp=_log_softmax_vjp,
        because="a score raises its own logarithm, and lowers all of them by its share p: where −y/N comes in and Σ y "
        "is 1, this is (p − y)/N",
        body=lambda node, x, *shares: x - log_sum_exp(x, node.args["over"]),
        mixes=lambda node: (node.args["over"],),
    ),
    "log_share": Op(
        _log_share,
        lambda args, x, whole: together(x, whole),
        "{0} − {1}",
        "{0} - {1}",
        entrywise("−"),
        binds=3,
        takes=(3, 2.5),
        vjp=lambda g, y, node, x, whole: [g, -total(g, node.args["over"])],
        because=OPS["sub"].because,
        body=lambda node, x, whole: x - whole,
        mixes=lambda node: (node.args["over"],),
    ),
    "safely": Op(
        _safely,
        lambda args, value, otherwise, watched: together(value, otherwise, watched),
        "{0}",
        "{0}",
        moved,
        elementwise=True,
        takes=(9,),
        vjp=lambda g, y, node, value, otherwise, watched: [None, g, None],
        because="the same number, by the way that neither overflows nor vanishes",
        body=lambda node, value, otherwise, watched: value,
    ),
    "whole": _whole_alone(lambda x: x, "{0}", "{0}", moved, takes=(9,)),
    "factorial": _whole_alone(_factorial, "{0}!", "{0}!", entrywise("!"), binds=1, takes=(0,)),
    "log_factorial": _whole_alone(
        _log_factorial,
        "ln({0}!)",
        r"\ln({0}!)",
        lambda node, at, look: Form("ln", (Form("!", (pick(node, 0, at),)),)),
        takes=(0,),
    ),
    "select": Op(
        _select,
        _selected,
        "{0}[{1}]",
        r"{{{0}}}_{{{1}}}",
        _select_cell,
        takes=(0, 9),
        vjp=_select_vjp,
        because="only the entry that was picked is felt",
        mixes=lambda node: (node.args["over"],),
    ),
    "one_hot": Op(
        _one_hot,
        lambda args, places: unique((*places, args["axis"])),
        "onehot({0})",
        r"\operatorname{{onehot}}({0})",
        _one_hot_cell,
        no_gradient="it is a choice",
    ),
}


def weigh(weights: Node, values: Node) -> Node:
    """weights ⊙ values, and 0 where the weight is 0, whatever the value is: 0·log 0 = 0."""
    return Node("weigh", weights, values)


def ratio(a: Node, b: Node) -> Node:
    """a / b, and 0 where a is 0, whatever b is."""
    return Node("ratio", a, b)


def logarithm(x: Node, base: int | str = "e") -> Node:
    """The logarithm to the base e, 2 or 10."""
    return Node({"e": "log", 2: "log2", 10: "log10"}[base], x)


def log_softmax(x: Node, *shares: Node, over: str | None = None) -> Node:
    """The logarithms of the shares along an axis (the last one), without the shares: x − ln Σ exp(x).

    Where the shares are a step already, the backward pass speaks of them by its name.
    """
    return Node("log_softmax", x, *shares, over=over or x.names[-1])


def log_share(x: Node, whole: Node, over: str) -> Node:
    """x − whole, the logarithm of a share, where the whole is ln Σ exp(x): to all digits, however large the scores."""
    return Node("log_share", x, whole, over=over)


def safely(value: Node, otherwise: Node, watched: Node) -> Node:
    """The value; where what is watched is 0, overflows or nearly vanishes, the same number found another way.

    Formulas and exact numbers know only the value. The backward pass takes the other way, which has a slope everywhere.
    """
    return Node("safely", value, otherwise, watched)


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
