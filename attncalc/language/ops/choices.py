"""Comparisons, and choices made by them: masks, minimum and maximum, the largest along an axis, rankings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attncalc.common.errors import NotExact, ShapeError
from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.axes import Axes, Axis, align, together
from attncalc.language.graph import Node
from attncalc.language.kernels import either, is_exact
from attncalc.language.ops.basics import (
    HELD,
    along,
    axis_of,
    beside,
    drop,
    entrywise,
    function,
    keep,
    keep_where,
    last,
    logarithm,
    moved,
    named,
    of_one,
    of_two,
    pick,
    row,
    sign,
    source_axes,
)
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op

held = of_one("held")
"""x, held constant in the backward pass: a shift that cancels, such as a row's maximum before its softmax."""
logical_not = of_one("not")
"""Whether x does not hold."""
rounded = of_one("round")
"""The nearest whole number; of two as near, the even one."""
floor = of_one("floor")
"""The largest whole number ≤ x."""
exponent = of_one("exponent")
"""The exponent of the largest power of 2 that is ≤ x, for x ≥ 0; −∞ for 0."""
held_or_0 = of_one("held_or_0")
"""x, held constant in the backward pass, with 0 for −∞, the maximum of a fully masked row."""
compare_equal = of_two("equal")
"""Whether two entries are equal."""
minimum = of_two("minimum")
"""The smaller of two entries."""
maximum = of_two("maximum")
"""The larger of two entries."""


def _masks(node: Node) -> bool:
    """Whether the entries that are not chosen become −∞."""
    otherwise = node.sources[2]
    return otherwise.op == "constant" and bool(otherwise.args["value"] == -np.inf)


def _where_cell(node: Node, at: At, look: Look) -> Any:
    if look(0, pick(node, 0, at).at):
        return pick(node, 1, at)
    return Literal("masked") if _masks(node) else pick(node, 2, at)


def _about_choice(node: Node) -> str:
    if not _masks(node):
        return ""
    return (
        "−∞ goes in before the softmax, so that its share is e^−∞ = 0 and the other keys share the whole. A 0 there "
        "would still contribute e⁰ = 1, and a 0 put in after the softmax would leave the row's sum below 1. −10⁹ works "
        "too, except that a fully masked row would still get weights, and that float16 only reaches 65,504."
    )


def _compared(numeric: Any, name: str) -> Any:
    """The kernel of a comparison: NumPy's for floats, the function `name` of exact_kernels for exact numbers."""
    kernel = either(numeric, name)
    return lambda a, b: kernel(a, b).astype(bool)


def _choice(kernel: Any, sign: str, latex: str, binds: float, takes: tuple[float, ...]) -> Op:
    """The row of a comparison or a logical operation: true or false at each place."""
    text = f"{{0}} {sign} {{1}}" if len(takes) > 1 else f"{sign} {{0}}"
    told = {"no_gradient": "it is a choice", "flops": 0, "truth": True}
    return row(kernel, text, latex, entrywise(sign), binds=binds, takes=takes, **told)


_FLAT = "it is flat but for its jumps; training hands the gradient straight through it"


def _to_whole(kernel: Any, name: str) -> Op:
    """The row of a function that rounds to whole numbers."""
    template = rf"\operatorname{{{{{name}}}}}({{0}})"
    return row(kernel, f"{name}({{0}})", template, entrywise(name), rounds=False, no_gradient=_FLAT, jumps=True)


def _one_of_two(numeric: Any, name: str, which: str, first: Callable[[Node, Node], Node]) -> Op:
    """The row of minimum or maximum; `first` says where the first of the two entries is taken."""
    return row(
        either(numeric, name),
        f"{name[:3]}({{0}}, {{1}})",
        rf"\{name[:3]}({{0}}, {{1}})",
        entrywise(name[:3]),
        vjp=lambda g, y, node, a, b: [keep_where(first(a, b), g, 0), keep_where(first(a, b), 0, g)],
        because=f"{name[:3]} hands the gradient to the {which} of the two alone (the first, if they are equal)",
        doubled=name,
        rounds=False,
    )


OPS |= {
    "round": _to_whole(either(np.rint, "nearest_whole"), "round"),
    "floor": _to_whole(either(np.floor, "floor"), "floor"),
    "exponent": row(
        # log2 would round the exponent of 8·(1 − ε) up to 3
        either(lambda x: np.where(x == 0, -np.inf, np.frexp(x)[1] - 1).astype(x.dtype), "exponent"),
        "floor(log₂({0}))",
        r"\operatorname{{floor}}(\log_{{2}}({0}))",
        lambda node, at, look: Form("floor", (Form("log₂", (pick(node, 0, at),)),)),
        rounds=False,
        no_gradient=_FLAT,
        jumps=True,
        body=lambda node, x: floor(logarithm(x, 2)),
    ),
    "abs": row(
        np.abs,
        "|{0}|",
        "|{0}|",
        entrywise("abs"),
        vjp=lambda g, y, node, a: [g * sign(a)],
        because="the slope of |x| is the sign of x (0 at 0, by convention)",
        doubled="absolute",
        rounds=False,
    ),
    "sign": function(
        either(np.sign, "sign"),
        "sign",
        r"\operatorname{{sign}}",
        lambda g, y, node, a: [None],
        "a sign is flat wherever it does not jump: its slope is 0",
    ),
    "maximum": _one_of_two(np.maximum, "maximum", "larger", lambda a, b: b <= a),
    "minimum": _one_of_two(np.minimum, "minimum", "smaller", lambda a, b: a <= b),
    "where": row(
        lambda keep, x, otherwise: np.where(keep.astype(bool), x, otherwise),
        lambda node, keep, x, otherwise: f"{x} where {keep}, else {otherwise}",
        lambda node, keep, x, otherwise: rf"\begin{{cases}} {x} & {keep} \\ {otherwise} & \text{{else}} \end{{cases}}",
        _where_cell,
        binds=4,
        takes=(4, 3, 3),
        vjp=lambda g, y, node, keep, a, b: [None, keep_where(keep, g, 0), keep_where(keep, 0, g)],
        because="what was masked does not affect the result, so its gradient is 0",
        about=_about_choice,
        chooses=True,
        flops=0,
        doubled="where",
    ),
    "held": row(
        lambda x: x,
        "{0}",
        "{0}",
        moved,
        vjp=lambda g, y, node, a: [None],
        because=HELD,
        flops=0,
        doubled="same",
        view=True,
    ),
    "less_equal": _choice(_compared(np.less_equal, "at_most"), "≤", r"{0} \le {1}", 4, (3, 3)),
    "less": _choice(_compared(np.less, "below"), "<", "{0} < {1}", 4, (3, 3)),
    "equal": _choice(np.equal, "=", "{0} = {1}", 4, (3, 3)),
    "and": _choice(np.logical_and, "and", r"{0} \land {1}", 5, (5, 5)),
    "not": _choice(np.logical_not, "not", r"\lnot {0}", 4, (0,)),
}


def peak(x: Node, over: str | None = None) -> Node:
    """The largest entry along an axis (the last one)."""
    return Node("peak", x, over=over or last(x))


def first_maximum(x: Node, over: str) -> Node:
    """1 at the first of the largest entries along the axis, else 0."""
    return Node("first_maximum", x, over=over)


def ranking(scores: Node, top: int, *left_out: Node) -> Node:
    """The positions (from 0) of the largest entries along the last axis, largest first, except those left out."""
    return Node("ranking", scores, *left_out, top=top, of=scores.names[-1])


def _peak(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    if not is_exact(x):
        return np.asarray(np.max(x, axis=axis))
    return np.asarray(kernels.exact().peak(x, axis, letters=kernels.has_letters(x)))


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


def _ranking_text(node: Node, scores: str, *left_out: str) -> str:
    top = node.args["top"]
    which = "place of the largest" if top == 1 else f"places of the largest {top}"
    return f"{which} of {scores}" + (f" except where {' or '.join(left_out)}" if left_out else "")


def _ranking_latex(node: Node, scores: str, *left_out: str) -> str:
    exceptions = r"\text{ except where }" + r" \text{ or } ".join(left_out) if left_out else ""
    top = node.args["top"]
    which = r"\operatorname{argmax}" if top == 1 else rf"\operatorname{{argtop}}_{{{top}}}"
    return f"{which}({scores}){exceptions}"


def _ranking_cell(node: Node, at: At, look: Look) -> Cell:
    """The argmax of the entries that are neither left out nor ranked before."""
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
        doubled="peak",
        rounds=False,
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
    "held_or_0": row(
        lambda x: np.asarray(np.where(x == -np.inf, kernels.zeros(x.shape, x), x)),
        "{0}",
        "{0}",
        lambda node, at, look: Literal(0) if look(0, at) == -np.inf else moved(node, at, look),
        vjp=lambda g, y, node, x: [None],
        because=HELD,
        flops=0,
        doubled="held_or_0",
    ),
    "ranking": Op(
        _ranking,
        _ranked,
        _ranking_text,
        _ranking_latex,
        _ranking_cell,
        binds=4,
        takes=(3, 9, 9, 9),
        no_gradient="a ranking jumps where two entries change places",
        mixes=lambda node: (node.sources[0].names[-1],),
        places=source_axes,
        points="of",
    ),
}
