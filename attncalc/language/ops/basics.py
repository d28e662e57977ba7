"""What every formula is made of: operands, numbers, sizes and steps; sums, products and powers, entry by entry.

The kernels of the primitives without sources are asked for a value of a kind: (node, dtype) → value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from attncalc.common.errors import NotExact
from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.axes import Axes, align, together
from attncalc.language.graph import Node
from attncalc.language.kernels import number
from attncalc.language.ops import log, power
from attncalc.language.primitive import NUMBERS_OF_ONE_NAME, OPS, At, Cell, Form, Literal, Look, Op, Pick, number_text


def pick(node: Node, source: int, at: At) -> Pick:
    """The source's entry at the same place, by the axes that it has."""
    return Pick(source, {name: at[name] for name in node.sources[source].names})


def entrywise(sign: str) -> Callable[[Node, At, Look], Form]:
    """The cell of an elementwise primitive: the same operation on the entries at the same place."""

    def cell(node: Node, at: At, look: Look) -> Form:
        return Form(sign, tuple(pick(node, i, at) for i in range(len(node.sources))))

    return cell


def moved(node: Node, at: At, look: Look) -> Pick:
    """The cell of a primitive that only hands its source's entry on."""
    return pick(node, 0, at)


def along(node: Node, axis: str, at: At, source: int = 0) -> tuple[Pick, ...]:
    """The source's entries along an axis that the result has lost, or that it mixes."""
    size = next(a.size for a in node.sources[source].axes if a.name == axis)
    first = pick(node, source, {**at, axis: 0}).at  # looked up once: a vector may have millions of entries
    return tuple(Pick(source, {**first, axis: i}) for i in range(size))


def row(kernel: Any, text: Any, latex: Any, cell: Any, **more: Any) -> Op:
    """The row of a primitive that works entry by entry."""
    return Op(kernel, _all, text, latex, cell, elementwise=True, **more)


def function(kernel: Any, name: str, latex: str, vjp: Any, because: str, **more: Any) -> Op:
    """The row of a function of one number, written as its name before brackets."""
    return row(kernel, name + "({0})", latex + "({0})", entrywise(name), vjp=vjp, because=because, **more)


def _given_axes(args: dict[str, Any]) -> Any:
    raise AssertionError("a node without sources is made with its axes")


def _given_value(node: Node, dtype: np.dtype[Any]) -> Array:
    raise AssertionError("the value of an operand is given to evaluate")


def _numbers(node: Node, dtype: np.dtype[Any]) -> Array:
    return np.array([number(value, dtype)[()] for value in node.args["values"]], dtype=dtype)


def _identity(node: Node, dtype: np.dtype[Any]) -> Array:
    ones = np.eye(int(np.prod(node.shape[: len(node.shape) // 2])))
    return np.asarray(kernels.exact().exactly(ones) if dtype.kind == "O" else ones.astype(dtype)).reshape(node.shape)


def _index(node: Node, dtype: np.dtype[Any]) -> Array:
    along = node.args["along"]
    if dtype.kind != "O":
        positions = np.arange(along.size, dtype=dtype)
    else:
        positions = np.array([number(i, dtype)[()] for i in range(along.size)], dtype=dtype)
    return np.broadcast_to(align(positions, (along,), node.axes), node.shape)


def _number_text(node: Node) -> str:
    return str(node.args["symbol"] or number_text(node.args["value"]))


def _number_latex(node: Node) -> str:
    text = _number_text(node)
    for character, command in (("−", "-"), ("∞", r"\infty"), ("π", r"\pi"), ("ε", r"\epsilon")):
        text = text.replace(character, command)
    if node.args["symbol"] or "e" not in text:
        return text
    digits, _, exponent = text.partition("e")  # 1e-08 would be read as e − 08
    return ("" if digits == "1" else rf"{digits} \cdot ") + f"10^{{{int(exponent)}}}"


def _literal(node: Node, at: At, look: Look) -> Cell:
    symbol, value = node.args["symbol"], node.args["value"]
    if symbol in NUMBERS_OF_ONE_NAME:
        return Literal(symbol)
    digits = isinstance(value, float) and 0 < value < np.inf and not value.is_integer()
    return Literal(repr(value) if digits else value)  # a number of the formula keeps all its digits: 0.044715


def _is_diagonal(node: Node, at: At, look: Look) -> Cell:
    return Literal(int(all(at[name] == at[name.removesuffix("'")] for name in node.names)))


def _leaf(kernel: Any, cell: Any, text: Any = "{a[symbol]}", latex: Any = "") -> Op:
    return Op(kernel, _given_axes, text, latex or text, cell, flops=0)


OPS |= {
    "input": _leaf(_given_value, moved),
    "constant": _leaf(lambda node, dtype: number(node.args["value"], dtype), _literal, _number_text, _number_latex),
    "constants": _leaf(_numbers, lambda node, at, look: Literal(node.args["values"][at[node.names[0]]])),
    "identity": _leaf(_identity, _is_diagonal, latex=r"\delta"),
    "size": _leaf(
        lambda node, dtype: number(node.args["axis"].size, dtype),
        lambda node, at, look: Literal(node.args["axis"].size),
        "{a[axis].name}",
    ),
    "index": _leaf(_index, lambda node, at, look: Literal(at[node.args["along"].name])),
    "step": Op(
        lambda node, x: x,
        lambda args, x: x,
        "{a[symbol]}",
        "{a[symbol]}",
        moved,
        vjp=lambda g, y, node, x: [g],
        flops=0,
        because="passed on unchanged",
        hands_on=True,
        narrow=True,
        view=True,
    ),
}


def _all(args: dict[str, Any], *sources: Axes) -> Axes:
    return together(*sources)


def _sign(sign: Callable[[Any, Any], Any]) -> Callable[[Node], Callable[[Any, Any], Any] | None]:
    """Python's own sign for two terms: NumPy has given it the kernel's meaning."""
    return lambda node: sign if len(node.sources) == 2 else None


def _add(*terms: Array) -> Array:
    return reduce(np.add, terms)


def _quotient(a: Array, b: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)


def entry_by_entry(node: Node) -> str:
    """The sign of a product of entries in the same place, `·` where one factor is a single number."""
    return "⊙" if node.sources[0].axes and node.sources[1].axes else "·"


def _add_text(node: Node, *terms: str) -> str:
    return _summed(terms, "…")


def _add_latex(node: Node, *terms: str) -> str:
    return _summed(terms, r"\ldots")


def _summed(terms: Sequence[str], gap: str) -> str:
    return " + ".join(terms if len(terms) <= 6 else (*terms[:3], gap, terms[-1]))


OPS |= {
    "add": row(
        _add,
        _add_text,
        _add_latex,
        entrywise("+"),
        binds=3,
        takes=(3, 2.5),
        vjp=lambda g, y, node, *terms: [g] * len(terms),
        because="a sum passes its gradient on to each of its terms",
        about=lambda node: (
            "A term that lacks an axis, such as a bias, is added equally everywhere along it."
            if any(source.axes and len(source.axes) < len(node.axes) for source in node.sources)
            else ""
        ),
        flops=lambda node: len(node.sources) - 1,
        noun="sum_of_terms",
        quick=_sign(operator.add),
        hands_on=True,
        terms=_add,
    ),
    "sub": row(
        np.subtract,
        "{0} − {1}",
        "{0} - {1}",
        entrywise("−"),
        binds=3,
        takes=(3, 2.5),
        vjp=lambda g, y, node, a, b: [g, -g],
        because=lambda node, source: (
            "what is subtracted gets the gradient with its sign changed"
            if source
            else "a difference passes its gradient on to what it starts from"
        ),
        noun="difference",
        quick=_sign(operator.sub),
        terms=np.add,
    ),
    "neg": row(
        lambda x: 0 - x,  # np.negative would make −0 of 0
        "−{0}",
        "-{0}",
        entrywise("neg"),
        binds=3,
        takes=(2.5,),
        vjp=lambda g, y, node, a: [-g],
        because="a minus sign changes the sign of the gradient",
        noun="opposite",
        terms=np.positive,
    ),
    "mul": row(
        np.multiply,
        lambda node, a, b: f"{a} ⊙ {b}" if entry_by_entry(node) == "⊙" else f"{a}·{b}",
        lambda node, a, b: rf"{a} \odot {b}" if entry_by_entry(node) == "⊙" else rf"{a} \cdot {b}",
        entrywise("×"),
        binds=2,
        takes=(2, 2),
        sign=entry_by_entry,
        vjp=lambda g, y, node, a, b: [g * b, g * a],
        because="each factor gets the gradient times the other factor",
        about=lambda node: (
            "⊙ multiplies entries that stand in the same place: nothing is added up, and the shape stays."
            if all(source.axes for source in node.sources)
            else ""
        ),
        noun="product",
        quick=_sign(operator.mul),
        terms=np.multiply,
    ),
    "div": row(
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
        noun="quotient",
        divides=True,
        quick=_sign(operator.truediv),
        boxed=True,
        terms=_quotient,
    ),
}


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


OPS |= {
    "pow": row(
        kernels.power,
        _power_text,
        "{0}^{{{1}}}",
        entrywise("^"),
        binds=1,
        takes=(0, 0),
        raises=True,
        quick=lambda node: None if node.axes else operator.pow,
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
    "exp": row(
        kernels.exp,
        "exp({0})",
        "e^{{{0}}}",
        entrywise("exp"),
        vjp=lambda g, y, node, a: [g * y],
        because="the exponential is its own slope",
        about="e^x is positive for every x, 1 at 0 and 0 at −∞; 1 more in x is 2.718 times as much. It outgrows "
        "float64 beyond x = 709.78 and float32 beyond 88.72.",
        noun="exponentials",
        boxed=True,
    ),
    "log": function(
        kernels.log,
        "ln",
        r"\ln",
        lambda g, y, node, a: [Node("ratio", g, a)],
        "the slope of ln x is 1/x",
        about="ln is the natural logarithm, which e^x undoes: 0 at 1, negative below, −∞ at 0. It turns products into "
        "sums.",
        noun="logarithm",
    ),
    "sqrt": row(
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
        noun="root",
        boxed=True,
    ),
}


def _random_normal(node: Node, dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "O":
        raise NotExact("numbers that are drawn at random have no closed form")
    generator = np.random.default_rng(node.args["seed"])
    return generator.standard_normal(node.shape).astype(dtype)


def _cell(node: Node, at: At, look: Look) -> Literal:
    return Literal(float(_random_normal(node, np.dtype(float))[tuple(at[name] for name in node.names)]))


OPS |= {
    "random_normal": Op(_random_normal, lambda args: args["like"], "N(0, 1)", r"\mathcal{{N}}(0, 1)", _cell, flops=0),
}


def random_normal(axes: Axes, *seed: int) -> Node:
    """Independent numbers from the normal distribution with mean 0 and variance 1; equal seeds give equal numbers."""
    return Node("random_normal", like=axes, seed=seed)
