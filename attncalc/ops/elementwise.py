"""Primitives that work entry by entry: arithmetic, functions of one number, comparisons and choices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from attncalc.axes import Axes, together
from attncalc.cells import At, Form, Literal, Look, entrywise, moved, pick
from attncalc.graph import OPS, Node, Number, Op, as_node
from attncalc.ops import kernels
from attncalc.ops.kernels import Array, either


def _all(args: dict[str, Any], *sources: Axes) -> Axes:
    return together(*sources)


def _row(kernel: Any, text: Any, latex: Any, cell: Any, **more: Any) -> Op:
    return Op(kernel, _all, text, latex, cell, elementwise=True, **more)


def _function(kernel: Any, name: str, latex: str, vjp: Any, because: str, **more: Any) -> Op:
    return _row(kernel, name + "({0})", latex + "({0})", entrywise(name), vjp=vjp, because=because, **more)


def _add(*terms: Array) -> Array:
    return reduce(np.add, terms)


def _add_text(node: Node, *terms: str) -> str:
    return _summed(terms, "…")


def _add_latex(node: Node, *terms: str) -> str:
    return _summed(terms, r"\ldots")


def _summed(terms: Sequence[str], gap: str) -> str:
    return " + ".join(terms if len(terms) <= 6 else (*terms[:3], gap, terms[-1]))


def _power_vjp(g: Node, y: Node, node: Node, x: Node, p: Node) -> Sequence[Node | None]:
    if p.op == "constant":
        value = p.args["value"]
        return [g * (value * x if value == 2 else p * power(x, value - 1)), None]
    return [g * (p * (x ** (p - 1))), g * (y * log(x))]


def is_square(node: Node) -> bool:
    """Whether a power's exponent is the number 2."""
    exponent = node.sources[1]
    return exponent.op == "constant" and bool(exponent.args["value"] == 2)


def _power_text(node: Node, base: str, exponent: str) -> str:
    return base + "²" if is_square(node) else f"{base}^{exponent}"


def _where_cell(node: Node, at: At, look: Look) -> Any:
    if look(0, pick(node, 0, at).at):
        return pick(node, 1, at)
    otherwise = node.sources[2]
    masked = otherwise.op == "constant" and otherwise.args["value"] == -np.inf
    return Literal("masked: −∞") if masked else pick(node, 2, at)


def _where_text(node: Node, keep: str, x: str, otherwise: str) -> str:
    return f"{x} where {keep}, else {otherwise}"


def _where_latex(node: Node, keep: str, x: str, otherwise: str) -> str:
    return rf"\begin{{cases}} {x} & {keep} \\ {otherwise} & \text{{else}} \end{{cases}}"


def _about_choice(node: Node) -> str:
    otherwise = node.sources[2]
    if otherwise.op != "constant" or otherwise.args["value"] != -np.inf:
        return ""
    return (
        "−∞ goes in before the softmax, so that its share is e^−∞ = 0 and the others share out the whole. A 0 there "
        "would still get e⁰ = 1, and a 0 put in after the softmax would leave the row's sum below 1. −10⁹ does as well "
        "until a row is masked throughout, which would then be shared out all the same, and float16 ends at 65,504."
    )


def _where(keep: Array, x: Array, otherwise: Array) -> Array:
    return np.where(keep.astype(bool), x, otherwise)


def _held(x: Array) -> Array:
    # Letters have no maximum that could be known: a shift that cancels is left out among them.
    return kernels.zeros(x.shape, x) if kernels.has_letters(x) else x


def _maximum_cell(node: Node, at: At, look: Look) -> Form:
    return Form("max", (pick(node, 0, at), pick(node, 1, at)))


OPS |= {
    "add": _row(
        _add,
        _add_text,
        _add_latex,
        entrywise("+"),
        binds=3,
        takes=(3, 2.5),
        vjp=lambda g, y, node, *terms: [g] * len(terms),
        because="a sum hands its gradient to each of its terms",
        about=lambda node: (
            "What lacks an axis, as a bias does, is added alike at every place of it."
            if any(source.axes and len(source.axes) < len(node.axes) for source in node.sources)
            else ""
        ),
    ),
    "sub": _row(
        np.subtract,
        "{0} − {1}",
        "{0} - {1}",
        entrywise("−"),
        binds=3,
        takes=(3, 2.5),
        vjp=lambda g, y, node, a, b: [g, -g],
        because=lambda node, source: (
            "what is taken away gets the gradient with its sign turned"
            if source
            else "a difference hands its gradient to what it starts from"
        ),
    ),
    "neg": _row(
        lambda x: 0 - x,  # np.negative would make −0 of 0
        "−{0}",
        "-{0}",
        entrywise("neg"),
        binds=3,
        takes=(2.5,),
        vjp=lambda g, y, node, a: [-g],
        because="the sign turns",
    ),
    "mul": _row(
        np.multiply,
        lambda node, a, b: f"{a} ⊙ {b}" if node.sources[0].axes and node.sources[1].axes else f"{a}·{b}",
        lambda node, a, b: rf"{a} \odot {b}" if node.sources[0].axes and node.sources[1].axes else rf"{a} \cdot {b}",
        entrywise("×"),
        binds=2,
        takes=(2, 2),
        vjp=lambda g, y, node, a, b: [g * b, g * a],
        because="each factor gets the gradient times the other factor",
        about=lambda node: (
            "⊙ multiplies entries that stand in the same place: nothing is added up, and the shape stays."
            if all(source.axes for source in node.sources)
            else ""
        ),
    ),
    "div": _row(
        np.divide,
        "{0} / {1}",
        r"\frac{{{0}}}{{{1}}}",
        entrywise("/"),
        binds=2.5,
        takes=(2, 1),
        vjp=lambda g, y, node, a, b: [g / b, -(g * y / b)],
        because=lambda node, source: (
            "the larger the divisor, the smaller the quotient: the slope of 1/x is −1/x²"
            if source
            else "dividing by a number divides the gradient by it as well"
        ),
    ),
    "pow": _row(
        kernels.power,
        _power_text,
        "{0}^{{{1}}}",
        entrywise("^"),
        binds=1,
        takes=(0, 0),
        vjp=_power_vjp,
        because=lambda node, source: (
            "the slope of a^x is a^x·ln a"
            if source
            else "the slope of a square is twice what was squared"
            if is_square(node)
            else "the power comes down in front: the slope of x^p is p·x^(p−1)"
        ),
        about=lambda node: (
            "A square is never negative, and one large entry counts for more than two of half its size: 4² = 16, and "
            "2² + 2² = 8."
            if is_square(node) and node.axes
            else ""
        ),
    ),
    "exp": _row(
        kernels.exp,
        "exp({0})",
        "e^{{{0}}}",
        entrywise("exp"),
        vjp=lambda g, y, node, a: [g * y],
        because="the exponential is its own slope",
        about="e^x is positive for every x, 1 at 0 and 0 at −∞; 1 more in x is 2.718 times as much. It outgrows "
        "float64 beyond x = 709.78 and float32 beyond 88.72.",
    ),
    "log": _function(
        kernels.log,
        "ln",
        r"\ln",
        lambda g, y, node, a: [Node("ratio", g, a)],
        "the slope of ln x is 1/x",
        about="ln is the natural logarithm, which e^x undoes: 0 at 1, negative below, −∞ at 0. It turns products into "
        "sums.",
    ),
    "sqrt": _row(
        kernels.sqrt,
        "√{0}",
        r"\sqrt{{{0}}}",
        entrywise("√"),
        binds=1,
        takes=(0,),
        vjp=lambda g, y, node, a: [g / (2 * y)],
        because="the slope of √x is 1/(2√x)",
        about=lambda node: (
            "The root undoes the squares: the units are those of the entries again." if node.axes else ""
        ),
    ),
    "abs": _row(
        np.abs,
        "|{0}|",
        "|{0}|",
        entrywise("abs"),
        vjp=lambda g, y, node, a: [g * sign(a)],
        because="the slope of |x| is the sign of x (0 at 0, by convention)",
    ),
    "sign": _function(
        either(np.sign, "sign"),
        "sign",
        r"\operatorname{{sign}}",
        lambda g, y, node, a: [None],
        "a sign is flat wherever it does not jump: its slope is 0",
    ),
    "tanh": _function(
        either(np.tanh, "tanh"),
        "tanh",
        r"\tanh",
        lambda g, y, node, a: [g * (1 - y**2)],
        "the slope of tanh x is 1 − tanh² x",
        about="tanh lies between −1 and 1: small numbers pass nearly as they are (tanh 0.1 = 0.0997), large ones "
        "level off (tanh 3 = 0.9951).",
    ),
    "sin": _function(
        either(np.sin, "sin"), "sin", r"\sin", lambda g, y, node, a: [g * cos(a)], "the slope of sin x is cos x"
    ),
    "cos": _function(
        either(np.cos, "cos"), "cos", r"\cos", lambda g, y, node, a: [-(g * sin(a))], "the slope of cos x is −sin x"
    ),
    "tan": _function(
        either(np.tan, "tan"),
        "tan",
        r"\tan",
        lambda g, y, node, a: [g * (1 + y**2)],
        "the slope of tan x is 1 + tan² x",
    ),
    "arccos": _function(
        either(np.arccos, "acos"),
        "arccos",
        r"\arccos",
        lambda g, y, node, a: [-(g / sqrt(1 - a**2))],
        "the slope of arccos x is −1/√(1 − x²)",
    ),
    "maximum": _row(
        np.maximum,
        "max({0}, {1})",
        r"\max({0}, {1})",
        _maximum_cell,
        vjp=lambda g, y, node, a, b: [keep_where(b <= a, g, 0), keep_where(b <= a, 0, g)],
        because="only the larger one is felt (the first, where they are equal)",
    ),
    "minimum": _row(
        np.minimum,
        "min({0}, {1})",
        r"\min({0}, {1})",
        entrywise("min"),
        vjp=lambda g, y, node, a, b: [keep_where(a <= b, g, 0), keep_where(a <= b, 0, g)],
        because="only the smaller one is felt (the first, where they are equal)",
    ),
    "where": _row(
        _where,
        _where_text,
        _where_latex,
        _where_cell,
        binds=4,
        takes=(4, 3, 3),
        vjp=lambda g, y, node, keep, a, b: [None, keep_where(keep, g, 0), keep_where(keep, 0, g)],
        because="what was masked has no say, so its gradient is 0",
        about=_about_choice,
    ),
    "held": _row(
        _held, "{0}", "{0}", moved, binds=0, no_gradient="it is held constant: the result does not depend on it"
    ),
    "less_equal": _row(
        np.less_equal, "{0} ≤ {1}", r"{0} \le {1}", entrywise("≤"), binds=4, takes=(3, 3), no_gradient="it is a choice"
    ),
    "less": _row(
        np.less, "{0} < {1}", "{0} < {1}", entrywise("<"), binds=4, takes=(3, 3), no_gradient="it is a choice"
    ),
    "equal": _row(
        np.equal, "{0} = {1}", "{0} = {1}", entrywise("="), binds=4, takes=(3, 3), no_gradient="it is a choice"
    ),
    "and": _row(
        np.logical_and,
        "{0} and {1}",
        r"{0} \land {1}",
        entrywise("and"),
        binds=5,
        takes=(5, 5),
        no_gradient="it is a choice",
    ),
    "not": _row(
        np.logical_not, "not {0}", r"\lnot {0}", entrywise("not"), binds=4, takes=(0,), no_gradient="it is a choice"
    ),
}


def exp(x: Node) -> Node:
    """e to the x."""
    return Node("exp", x)


def log(x: Node) -> Node:
    """The natural logarithm."""
    return Node("log", x)


def sqrt(x: Node) -> Node:
    """The square root."""
    return Node("sqrt", x)


def absolute(x: Node) -> Node:
    """|x|."""
    return Node("abs", x)


def sign(x: Node) -> Node:
    """−1, 0 or 1."""
    return Node("sign", x)


def tanh(x: Node) -> Node:
    """The hyperbolic tangent."""
    return Node("tanh", x)


def sin(x: Node) -> Node:
    """The sine of an angle in radians."""
    return Node("sin", x)


def cos(x: Node) -> Node:
    """The cosine of an angle in radians."""
    return Node("cos", x)


def tan(x: Node) -> Node:
    """The tangent of an angle in radians."""
    return Node("tan", x)


def arccos(x: Node) -> Node:
    """The angle in radians, from 0 to π, whose cosine is x."""
    return Node("arccos", x)


def power(x: Node, p: Node | Number) -> Node:
    """x to the p; the first power is x itself."""
    return x if p == 1 else Node("pow", x, as_node(p))


def maximum(a: Node, b: Node | Number) -> Node:
    """The larger of two entries."""
    return Node("maximum", a, as_node(b))


def minimum(a: Node, b: Node | Number) -> Node:
    """The smaller of two entries."""
    return Node("minimum", a, as_node(b))


def keep_where(keep: Node, x: Node | Number, otherwise: Node | Number) -> Node:
    """x where `keep` holds, `otherwise` elsewhere."""
    return Node("where", keep, as_node(x), as_node(otherwise))


def held(x: Node) -> Node:
    """x, held constant for the backward pass; exact numbers need no such shift, and it is 0 there.

    For a shift that cancels, as the maximum taken from a row before its softmax.
    """
    return Node("held", x)


def compare_equal(a: Node, b: Node | Number) -> Node:
    """Whether two entries are equal."""
    return Node("equal", a, as_node(b))


def logical_not(x: Node) -> Node:
    """Whether x does not hold."""
    return Node("not", x)
