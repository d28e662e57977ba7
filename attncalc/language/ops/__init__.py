"""The primitives: one row each, in a table per family, and the functions by which authors write them.

A family is imported when one of its rows is first asked for, which is when a formula has a node of it, or one of its
functions. The two tables here say which one that is; docs/generate.py reads them off the families' files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attncalc.language.axes import Axes, find, names
from attncalc.language.graph import Node, Number, as_node, constant

if TYPE_CHECKING:
    from attncalc.language.ops.basics import *
    from attncalc.language.ops.choices import *
    from attncalc.language.ops.curves import *
    from attncalc.language.ops.lookups import *
    from attncalc.language.ops.moves import *
    from attncalc.language.ops.parts import *
    from attncalc.language.ops.shares import *
    from attncalc.language.ops.sliding import *
    from attncalc.language.ops.spectral import *

ROWS = {
    "basics": "add constant constants div exp identity index input log mul neg pow random_normal size sqrt step sub",
    "choices": "abs and equal first_maximum held held_or_0 less less_equal maximum minimum not peak ranking sign where",
    "curves": "arccos cos cubable elu erf one_plus_erf sigmoid sin softplus tan tanh",
    "linear": "matmul outer solve transpose",
    "lookups": "bucket collect factorial log_factorial lookup one_hot select stack take whole",
    "moves": "gather merge rename repeat reread split spread",
    "parts": "concat every_other interleave listed rotate slice",
    "shares": "antilog log10 log2 log_share log_softmax log_sum_exp per ratio safely softmax softmax_slopes weigh",
    "sliding": "fold windows",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors left_singular_vectors right_singular_vectors "
    "singular_values",
    "sums": "angle cosine_ratio mean root_of_mean root_of_sum sum",
}
"""Family → its rows."""

FUNCTIONS = {
    "basics": "random_normal",
    "choices": "compare_equal first_maximum held held_or_0 logical_not maximum minimum peak ranking",
    "curves": "cos cubable elu erf one_plus_erf sigmoid sin softplus tan",
    "lookups": "bucket factorial log_factorial lookup one_hot select stack take whole",
    "moves": "merge reread split",
    "parts": "every_other interleave listed part_of put_together rotate take_apart",
    "shares": "antilog log_softmax safely",
    "sliding": "Slide windows",
    "spectral": "characteristic_polynomial eigenvalues eigenvectors singular_parts",
    "sums": "degrees",
}
"""Family → what authors write with, beside what stands below, which most calculations need."""


# What most calculations are written with: functions that make nodes, whose rows come in with their families.


def pi() -> Node:
    """The number π, by its name."""
    return constant(math.pi, "π")


def absolute(x: Node) -> Node:
    """|x|."""
    return Node("abs", x)


def sign(x: Node) -> Node:
    """−1, 0 or 1."""
    return Node("sign", x)


def power(x: Node, p: Node | Number) -> Node:
    """x to the p; the first power is x itself."""
    return x if p == 1 else Node("pow", x, as_node(p))


def sqrt(x: Node) -> Node:
    """The square root."""
    return Node("sqrt", x)


def exp(x: Node) -> Node:
    """e to the x."""
    return Node("exp", x)


def log(x: Node) -> Node:
    """The natural logarithm."""
    return Node("log", x)


def logarithm(x: Node, base: int | str = "e") -> Node:
    """The logarithm to the base e, 2 or 10."""
    return Node({"e": "log", 2: "log2", 10: "log10"}[base], x)


def arccos(x: Node) -> Node:
    """The angle in radians, from 0 to π, whose cosine is x."""
    return Node("arccos", x)


def tanh(x: Node) -> Node:
    """The hyperbolic tangent."""
    return Node("tanh", x)


def keep_where(keep: Node, x: Node | Number, otherwise: Node | Number) -> Node:
    """x where `keep` holds, `otherwise` elsewhere."""
    return Node("where", keep, as_node(x), as_node(otherwise))


def ratio(a: Node, b: Node) -> Node:
    """a / b, and 0 where a is 0, whatever b is."""
    return Node("ratio", a, b)


def per(a: Node, b: Node, length: Node) -> Node:
    """a / b, and 0 where the length is 0: it has no slope there, and that is what is taken for one."""
    return Node("per", a, b, length)


def weigh(weights: Node, values: Node) -> Node:
    """weights ⊙ values, and 0 where the weight is 0, whatever the value is: 0·log 0 = 0."""
    return Node("weigh", weights, values)


def affine(x: Node, W: Node, b: Node | None) -> Node:
    """x·W + b, what a layer of weights makes of each row; without a bias x·W."""
    return x @ W if b is None else x @ W + b


def outer(a: Node, b: Node) -> Node:
    """Every entry of a times every entry of b; axes that both have only accompany."""
    return Node("outer", a, b)


def solve(matrix: Node, b: Node) -> Node:
    """The x for which matrix·x = b."""
    return Node("solve", matrix, b)


def total(x: Node, over: str | None = None) -> Node:
    """The sum along an axis (the last one)."""
    return Node("sum", x, over=over or "".join(x.names[-1:]))  # one number has no axis, and is refused


def mean(x: Node, over: str | None = None) -> Node:
    """The mean along an axis (the last one)."""
    return Node("mean", x, over=over or "".join(x.names[-1:]))


def beside(gradient: Node, slopes: Node) -> Node:
    """A gradient as it goes with slopes along an axis that it lacks; its own axes, as a Jacobian's, stay in front."""
    front = tuple(axis for axis in gradient.axes if axis not in slopes.axes)
    return spread(gradient, front + slopes.axes) if front else gradient


def over_all(reduce: Callable[[Node, str], Node], x: Node) -> Node:
    """A sum, a mean or the like along every axis, the last one first: `over_all(mean, losses)` is one number."""
    for name in x.names[::-1]:
        x = reduce(x, name)
    return x


def softmax(x: Node, over: str | None = None) -> Node:
    """Shares that sum to 1 along an axis (the last one): exp(x) / Σ exp(x)."""
    return Node("softmax", x, over=over or "".join(x.names[-1:]))


def softmax_slopes(p: Node) -> Node:
    """How every share of a softmax moves with every score: p_i·(δ_ij − p_j)."""
    return Node("softmax_slopes", p)


def log_sum_exp(x: Node, over: str | None = None) -> Node:
    """ln Σ exp(x) along an axis (the last one)."""
    return Node("log_sum_exp", x, over=over or "".join(x.names[-1:]))


def log_share(x: Node, whole: Node, over: str) -> Node:
    """x − whole, the logarithm of a share, where the whole is ln Σ exp(x): to all digits, however large the scores."""
    return Node("log_share", x, whole, over=over)


def root_of_sum(sums: Node, x: Node, p: Number, over: str | None = None) -> Node:
    """The p-th root of Σ|x|^p, given that sum; it goes by x itself where the powers overflow or vanish."""
    return Node("root_of_sum", sums, x, p=p, over=over or x.names[-1])


def root_of_mean(squares: Node, x: Node, over: str | None = None, weights: Node | None = None) -> Node:
    """The root of the mean of x², given that mean; it goes by x itself where the squares overflow or vanish.

    With weights the mean is Σ weights·x².
    """
    more = () if weights is None else (weights,)
    return Node("root_of_mean", squares, x, *more, over=over or x.names[-1])


def cosine_ratio(dot: Node, norms: Node, a: Node, b: Node, over: str | None = None) -> Node:
    """a·b over ‖a‖·‖b‖, given both; it goes by the vectors themselves where the products overflow or vanish."""
    return Node("cosine_ratio", dot, norms, a, b, over=over or a.names[-1])


def angle_between(cosine: Node, a: Node, b: Node, over: str | None = None) -> Node:
    """The angle in degrees between two vectors whose cosine is given."""
    return Node("angle", cosine, a, b, over=over or a.names[-1])


def repeat(x: Node, old: str, new: str, times: int) -> Node:
    """Each entry of an axis `times` times in a row: key heads that consecutive query heads share."""
    return Node("repeat", x, old=old, new=new, times=times)


def concat(parts: Sequence[Node], over: str) -> Node:
    """The parts one after the other along an axis."""
    return parts[0] if len(parts) == 1 else Node("concat", *parts, over=over)


def rename(x: Node, old: str, new: str) -> Node:
    """The same values with an axis under another name: a query's tokens read as keys. Invisible in formulas."""
    return Node("rename", x, old=old, new=new)


def spread(x: Node, axes: Axes) -> Node:
    """The same value for every place of the axes that x lacks."""
    return x if x.names == names(axes) else Node("spread", x, to=axes)


def index(name: str, within: Axes, symbol: str) -> Node:
    """Each place's position (from 0) along an axis: `index("m", scores.axes, "j")` is each key's."""
    return Node("index", axes=within, along=find(within, name), symbol=symbol)


def load(row: str) -> None:
    """Import the family of a row, which enters its rows in the table."""
    _family(ROWS, row)


def _family(table: dict[str, str], name: str) -> ModuleType:
    for family, members in table.items():
        if name in members.split():
            return import_module(f"{__name__}.{family}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        return getattr(_family(FUNCTIONS, name), name)
