"""What every formula is made of: operands, numbers, sizes and steps; sums, products and powers, entry by entry.

The kernels of primitives without sources take the dtype of the value to make: (node, dtype) → value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from attncalc.common.errors import NotExact, both
from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.axes import Axes, align, find, names, position, together, without
from attncalc.language.graph import Node, Number, as_node, constant, walk
from attncalc.language.kernels import number
from attncalc.language.primitive import (
    NUMBERS_OF_ONE_NAME,
    OPS,
    At,
    Cell,
    Form,
    Literal,
    Look,
    Op,
    Pick,
    formula,
    latex_axis,
    number_text,
    symbol,
)


def pick(node: Node, source: int, at: At) -> Pick:
    """The source's entry at the same place, along the axes that the source has."""
    return Pick(source, {name: at[name] for name in node.sources[source].names})


def entrywise(sign: str) -> Callable[[Node, At, Look], Form]:
    """The cell of an elementwise primitive: the same operation on the entries at the same place."""

    def cell(node: Node, at: At, look: Look) -> Form:
        return Form(sign, tuple(pick(node, i, at) for i in range(len(node.sources))))

    return cell


def moved(node: Node, at: At, look: Look) -> Pick:
    """The cell of a primitive that hands its source's entry on unchanged."""
    return pick(node, 0, at)


def along(node: Node, axis: str, at: At, source: int = 0) -> tuple[Pick, ...]:
    """The source's entries along an axis that the primitive sums over or mixes."""
    size = next(a.size for a in node.sources[source].axes if a.name == axis)
    first = pick(node, source, {**at, axis: 0}).at  # looked up once: a vector may have millions of entries
    return tuple(Pick(source, {**first, axis: i}) for i in range(size))


def called(node: Node) -> str:
    """The name by which a reason calls a value, transposed or repeated as it may be; "" if it has none."""
    while node.op == "transpose" or node.row.stays:
        node = node.sources[0]
    named = node.op in ("step", "input", "size") or (node.op == "constant" and node.args["symbol"])
    return symbol(node) if named else ""


def same_along(node: Node, source: int) -> str:
    """`n and h`: the axes along which the source is repeated; "" if there are none."""
    own = node.sources[source].names
    lost = [name for name in node.names if name not in own]
    return both(lost) if lost else ""


HELD = "it is held constant: the result does not depend on it"
"""Why a shift that cancels gets no gradient, such as a row's maximum before its softmax."""


def straight_past(steps: Sequence[Node]) -> str:
    """The words before a rule that combines two slopes, so that the steps between them get no gradient."""
    names = [symbol(step) for step in steps if step.op == "step"]
    return f"straight past {both(names)}, by both slopes in one: " if names else ""


HERE = ", here "
"""Stands between a rule and what it was applied to."""


def because_of_factors(node: Node, source: int) -> str:
    """Why a factor gets its gradient, with the other factor's name."""
    other = called(node.sources[1 - source])
    return "each factor gets the gradient times the other factor" + (f"{HERE}{other}" if other else "")


def row(kernel: Any, text: Any, latex: Any, cell: Any, **more: Any) -> Op:
    """The row of a primitive that works entry by entry."""
    return Op(kernel, lambda args, *sources: together(*sources), text, latex, cell, elementwise=True, **more)


def function(kernel: Any, name: str, latex: str, vjp: Any, because: str, **more: Any) -> Op:
    """The row of a function of one number, written as its name before brackets."""
    return row(kernel, name + "({0})", latex + "({0})", entrywise(name), vjp=vjp, because=because, **more)


def of_one(op: str) -> Callable[[Node], Node]:
    """The function by which authors apply a primitive to one source."""
    return lambda x: Node(op, x)


def of_two(op: str) -> Callable[[Node, Node | Number], Node]:
    """The function by which authors apply a primitive to two sources, the second of which may be a number."""
    return lambda a, b: Node(op, a, as_node(b))


absolute = of_one("abs")
"""|x|."""
sign = of_one("sign")
"""−1, 0 or 1."""
sqrt = of_one("sqrt")
"""The square root."""
exp = of_one("exp")
"""e to the x."""
log = of_one("log")
"""The natural logarithm."""
arccos = of_one("arccos")
"""The angle in radians, from 0 to π, whose cosine is x."""
tanh = of_one("tanh")
"""The hyperbolic tangent."""
inverse = of_one("inverse")
"""The inverse of a square matrix."""
softmax_slopes = of_one("softmax_slopes")
"""The Jacobian of a softmax: p_i·(δ_ij − p_j)."""
ratio = of_two("ratio")
"""a / b, and 0 where a is 0, whatever b is."""
weigh = of_two("weigh")
"""Weights ⊙ values, and 0 where the weight is 0, whatever the value is: 0·log 0 = 0."""
outer = of_two("outer")
"""The outer product: every entry of a times every entry of b, at each place of the axes that both have."""
solve = of_two("solve")
"""The x for which matrix·x = b."""


def moving(kernel: Any, axes: Any, *written: Any, **more: Any) -> Op:
    """The row of a primitive that only moves entries to other places."""
    return Op(kernel, axes, *written, **more)._replace(flops=0, doubled="moved")


def written_as(op: str) -> dict[str, Any]:
    """The fields of a row that looks like another one in formulas, and gives the same reasons for its gradient."""
    alike = ("text", "latex", "binds", "takes", "sign", "boxed", "because")
    return {field: getattr(OPS[op], field) for field in alike}


def _given_axes(args: dict[str, Any]) -> Any:
    raise AssertionError("a node without sources is made with its axes")


def _given_value(node: Node, dtype: np.dtype[Any]) -> Array:
    raise AssertionError("the value of an operand is given to evaluate")


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


def _roots(of: Node) -> Iterator[tuple[str, float, Callable[..., Node]]]:
    """√n and 1/√n of a whole number n, each with its value and the node that another value would make."""
    x = of.args["axis"].size if of.op == "size" else of.args["value"] if of.op == "constant" else 0
    if x > 0 and x == round(x):
        yield f"√{x:g}", math.sqrt(x), lambda root, _: constant(root)
        yield f"1/√{x:g}", 1 / math.sqrt(x), lambda over, _: constant(1 / over)


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


def _leaf(kernel: Any, cell: Any, text: Any = "{a[symbol]}", latex: Any = "", **more: Any) -> Op:
    return Op(kernel, _given_axes, text, latex or text, cell, flops=0, **more)


OPS |= {
    "input": _leaf(_given_value, moved),
    "constant": _leaf(
        lambda node, dtype: number(node.args["value"], dtype),
        _literal,
        _number_text,
        _number_latex,
        constants=lambda node: [("π", math.pi, constant)] if node.args["symbol"] == "π" else [],
    ),
    "constants": _leaf(
        lambda node, dtype: np.array([number(value, dtype)[()] for value in node.args["values"]], dtype=dtype),
        lambda node, at, look: Literal(node.args["values"][at[node.names[0]]]),
    ),
    "identity": _leaf(
        _identity,
        lambda node, at, look: Literal(int(all(at[name] == at[name.removesuffix("'")] for name in node.names))),
        latex=r"\delta",
    ),
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
        doubled="moved",
        because="passed on unchanged",
        hands_on=True,
        narrow=True,
        view=True,
    ),
}


def _sign(sign: Callable[[Any, Any], Any]) -> Callable[[Node], Callable[[Any, Any], Any] | None]:
    """Python's operator if there are two sources: on NumPy values it does what the kernel does, but faster."""
    return lambda node: sign if len(node.sources) == 2 else None


def _add(*terms: Array) -> Array:
    return reduce(np.add, terms)


def _quotient(a: Array, b: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)


def halfway(name: str, value: Node, why: str, *, shown: bool = True) -> Node:
    """A step that a VJP makes for a value too hard to work out within the gradient; its group is not known yet."""
    return Node("step", value, name=name, group=None, why=why, symbol=name, shown=shown, of=None, about="")


def entry_by_entry(node: Node) -> str:
    """The sign of an elementwise product: `⊙`, or `·` if one factor is a single number."""
    return "⊙" if node.sources[0].axes and node.sources[1].axes else "·"


def _because_of_difference(node: Node, source: int) -> str:
    if source:
        return "what is subtracted gets the gradient with its sign changed"
    taken = walk(node.sources[1], into=lambda inner: inner.sources if inner.row.stays else ())[0]
    cancels = f"; {formula(taken)} cancels in the end, and gets none" if taken.row.because == HELD else ""
    return f"a difference passes its gradient on to what it starts from{cancels}"


def _summed(terms: Sequence[str], gap: str) -> str:
    return " + ".join(terms if len(terms) <= 6 else (*terms[:3], gap, terms[-1]))


OPS |= {
    "add": row(
        _add,
        lambda node, *terms: _summed(terms, "…"),
        lambda node, *terms: _summed(terms, r"\ldots"),
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
        doubled="add",
        loses=kernels.cancels,
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
        because=_because_of_difference,
        noun="difference",
        quick=_sign(operator.sub),
        doubled="sub",
        loses=kernels.cancels,
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
        doubled="neg",
        rounds=False,
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
        because=because_of_factors,
        about=lambda node: (
            "⊙ multiplies entries that stand in the same place: nothing is added up, and the shape stays."
            if all(source.axes for source in node.sources)
            else ""
        ),
        noun="product",
        quick=_sign(operator.mul),
        doubled="mul",
        terms=np.multiply,
    ),
    "div": row(
        kernels.divide,
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
        doubled="div",
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


OPS |= {
    "pow": row(
        kernels.power,
        lambda node, base, exponent: base + "²" if is_square(node) else f"{base}^{exponent}",
        "{0}^{{{1}}}",
        entrywise("^"),
        binds=1,
        takes=(0, 0),
        raises=True,
        quick=lambda node: None if node.axes else operator.pow,
        doubled="power",
        loses=lambda node, value, x, p: bool((np.abs(p) > 2).any()) or p.ndim > 0,
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
        constants=lambda node: [("e", math.e, lambda base, x: exp(x * math.log(base)))],
        doubled="exp",
        loses=kernels.beyond(4),
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
        doubled="log",
        loses=kernels.near_1,
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
        constants=lambda node: _roots(node.sources[0]),
        doubled="sqrt",
        boxed=True,
    ),
}


# Along an axis.


def axis_of(node: Node, source: int = 0) -> int:
    """The position, among a source's axes, of the axis `over` along which the primitive runs."""
    return position(node.sources[source].axes, node.args["over"])


def drop(args: dict[str, Any], x: Axes, *rest: Axes) -> Axes:
    """The axes of a result that has lost the axis `over`."""
    return without(x, find(x, args["over"]).name)


def keep(args: dict[str, Any], x: Axes, *rest: Axes) -> Axes:
    """The axes of a result that keeps the axis `over`."""
    find(x, args["over"])
    return x


def _subscript(node: Node, style: str = "text") -> str:
    """The axis as a subscript, if it is not the last one, which goes without saying."""
    over = node.args["over"]
    if node.sources[0].names[-1:] == (over,):
        return ""
    return f"_{{{latex_axis(over)}}}" if style == "latex" else f"_{over}"


def mixes(node: Node) -> tuple[str, ...]:
    """The axis `over`, as the one along which entries mix."""
    return (node.args["over"],)


def source_axes(node: Node) -> Axes:
    """The source's axes, as the places of a primitive that works on every entry of its source."""
    return node.sources[0].axes


def named(name: str, latex: str) -> dict[str, Any]:
    """The fields of a row for a function of the entries along an axis, written `name(x)`."""
    return {
        "text": lambda node, x, *rest: f"{name}{_subscript(node)}({x})",
        "latex": lambda node, x, *rest: f"{latex}{_subscript(node, 'latex')}({x})",
        "mixes": mixes,
    }


def sum_text(node: Node, x: str) -> str:
    """How a sum along an axis is written."""
    return f"Σ{_subscript(node)}{'' if x.startswith('(') else ' '}{x}"


def sum_latex(node: Node, x: str) -> str:
    """The same in LaTeX."""
    return rf"\sum_{{{latex_axis(node.args['over'])}}} {x}"


def _sum(node: Node, x: Array) -> Array:
    return kernels.total(x, axis_of(node))


def sum_cell(node: Node, at: At, look: Look) -> Form:
    """The cell of a sum along an axis."""
    return Form("+", along(node, node.args["over"], at))


OPS |= {
    "sum": Op(
        _sum,
        drop,
        sum_text,
        sum_latex,
        sum_cell,
        binds=2,
        takes=(1,),
        vjp=lambda g, y, node, x: [g],
        because="every term of a sum gets the same gradient",
        about="Σ adds along one axis, the last one unless a subscript names another; that axis is gone afterwards.",
        mixes=mixes,
        places=source_axes,
        narrow=True,
        adds=True,
        doubled="total",
        loses=kernels.cancels_along,
        terms=_sum,
    ),
}


def _random_normal(node: Node, dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "O":
        raise NotExact("numbers that are drawn at random have no closed form")
    generator = np.random.default_rng(node.args["seed"])
    return generator.standard_normal(node.shape).astype(dtype)


OPS |= {
    "random_normal": Op(
        _random_normal,
        lambda args: args["like"],
        "N(0, 1)",
        r"\mathcal{{N}}(0, 1)",
        lambda node, at, look: Literal(
            float(_random_normal(node, np.dtype(float))[tuple(at[name] for name in node.names)])
        ),
        flops=0,
    ),
}


def random_normal(axes: Axes, *seed: int) -> Node:
    """Independent numbers from the normal distribution with mean 0 and variance 1; equal seeds give equal numbers."""
    return Node("random_normal", like=axes, seed=seed)


# The functions with which most calculations are written. They make nodes, also of other families, whose rows are
# imported when a node is made.


def pi() -> Node:
    """The number π, which formulas call by its name."""
    return constant(math.pi, "π")


def power(x: Node, p: Node | Number) -> Node:
    """x to the p; the first power is x itself."""
    return x if p == 1 else Node("pow", x, as_node(p))


def logarithm(x: Node, base: int | str = "e") -> Node:
    """The logarithm to the base e, 2 or 10."""
    return Node({"e": "log", 2: "log2", 10: "log10"}[base], x)


def keep_where(keep: Node, x: Node | Number, otherwise: Node | Number) -> Node:
    """x where `keep` holds, `otherwise` elsewhere."""
    return Node("where", keep, as_node(x), as_node(otherwise))


def per(a: Node, b: Node, length: Node) -> Node:
    """a / b, and 0 where the length is 0, which has no slope there: 0 is taken by convention."""
    return Node("per", a, b, length)


def affine(x: Node, W: Node, b: Node | None) -> Node:
    """x·W + b, a linear layer applied to each row; x·W without a bias."""
    return x @ W if b is None else x @ W + b


def last(x: Node) -> str:
    """The last axis, which goes without saying; "" for a single number, which has none and is refused."""
    return x.names[-1] if x.axes else ""


def total(x: Node, over: str | None = None) -> Node:
    """The sum along an axis (the last one)."""
    return Node("sum", x, over=over or last(x))


def mean(x: Node, over: str | None = None) -> Node:
    """The mean along an axis (the last one)."""
    return Node("mean", x, over=over or last(x))


def beside(gradient: Node, slopes: Node) -> Node:
    """A gradient that can be multiplied by these slopes: spread over their axes if it has others, as in a Jacobian."""
    front = tuple(axis for axis in gradient.axes if axis not in slopes.axes)
    return spread(gradient, front + slopes.axes) if front else gradient


def over_all(reduce: Callable[[Node, str], Node], x: Node) -> Node:
    """Reduce every axis, the last one first, by a sum or a mean: `over_all(mean, losses)` is one number."""
    for name in x.names[::-1]:
        x = reduce(x, name)
    return x


def softmax(x: Node, over: str | None = None) -> Node:
    """Shares that sum to 1 along an axis (the last one): exp(x) / Σ exp(x)."""
    return Node("softmax", x, over=over or last(x))


def log_sum_exp(x: Node, over: str | None = None) -> Node:
    """ln Σ exp(x) along an axis (the last one)."""
    return Node("log_sum_exp", x, over=over or last(x))


def log_share(x: Node, whole: Node, over: str) -> Node:
    """The logarithm of a share, x − whole with whole = ln Σ exp(x), accurate however large the scores are."""
    return Node("log_share", x, whole, over=over)


def root_of_sum(sums: Node, x: Node, p: Number, over: str | None = None) -> Node:
    """The p-th root of Σ|x|^p, given that sum; it is computed from x itself if the powers overflow or vanish."""
    return Node("root_of_sum", sums, x, p=p, over=over or last(x))


def root_of_mean(squares: Node, x: Node, over: str | None = None, weights: Node | None = None) -> Node:
    """The root of the mean of x², given that mean; it is computed from x itself if the squares overflow or vanish.

    With weights the mean is Σ weights·x².
    """
    more = () if weights is None else (weights,)
    return Node("root_of_mean", squares, x, *more, over=over or last(x))


def cosine_ratio(dot: Node, norms: Node, a: Node, b: Node, over: str | None = None) -> Node:
    """a·b / (‖a‖·‖b‖), given both; it is computed from the vectors themselves if the products overflow or vanish."""
    return Node("cosine_ratio", dot, norms, a, b, over=over or last(a))


def angle_between(cosine: Node, a: Node, b: Node, over: str | None = None) -> Node:
    """The angle in degrees between two vectors whose cosine is given."""
    return Node("angle", cosine, a, b, over=over or last(a))


def repeat(x: Node, old: str, new: str, times: int) -> Node:
    """x with each entry along an axis repeated `times` times: key heads that consecutive query heads share."""
    return Node("repeat", x, old=old, new=new, times=times)


def concat(parts: Sequence[Node], over: str) -> Node:
    """The parts concatenated along an axis."""
    return parts[0] if len(parts) == 1 else Node("concat", *parts, over=over)


def rename(x: Node, old: str, new: str) -> Node:
    """x with an axis renamed: a query's tokens read as keys. Invisible in formulas."""
    return Node("rename", x, old=old, new=new)


def spread(x: Node, axes: Axes) -> Node:
    """x repeated along the axes that it lacks."""
    return x if x.axes == axes or x.names == names(axes) else Node("spread", x, to=axes)


def index(name: str, within: Axes, symbol: str) -> Node:
    """The position (from 0) of each place along an axis: `index("m", scores.axes, "j")` is that of each key."""
    return Node("index", axes=within, along=find(within, name), symbol=symbol)
