"""Shares that sum to 1 and their logarithms: softmax, logsumexp, products with 0·∞ = 0, powers of mean logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.axes import align, position, together
from attncalc.language.graph import Node, as_node, walk
from attncalc.language.kernels import is_exact
from attncalc.language.ops.basics import (
    along,
    axis_of,
    beside,
    called,
    drop,
    entrywise,
    exp,
    function,
    keep,
    last,
    log,
    log_sum_exp,
    mixes,
    moved,
    named,
    per,
    pick,
    power,
    ratio,
    row,
    softmax,
    source_axes,
    straight_past,
    sum_latex,
    sum_text,
    total,
    weigh,
    written_as,
)
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op, Pick


def log_softmax(x: Node, *shares: Node, over: str | None = None) -> Node:
    """The logarithms of the shares along an axis (the last one), computed without the shares: x − ln Σ exp(x).

    If the shares are a step already, they may be given too, and the backward pass calls them by that step's name.
    """
    return Node("log_softmax", x, *shares, over=over or last(x))


def safely(value: Node, otherwise: Node, watched: Node) -> Node:
    """The value; where `watched` is 0, overflows or nearly vanishes, `otherwise`, the same number found in another way.

    Formulas and exact numbers use only the value, the backward pass only `otherwise`, which has a slope everywhere.
    """
    return Node("safely", value, otherwise, watched)


def _ratio(a: Array, b: Array) -> Array:
    nothing = a == 0
    if is_exact(a, b):
        endless = (b == 0) & ~nothing
        return np.asarray(np.where(endless, a * kernels.number(np.inf, a.dtype), a / np.where(nothing | endless, 1, b)))
    return np.asarray(np.where(nothing, a, np.divide(a, np.where(nothing, 1, b))))


def _per(a: Array, b: Array, length: Array) -> Array:
    nothing = length == 0
    return np.asarray(np.where(nothing, 0 * a, np.divide(a, np.where(nothing, 1, b))))


def _per_cell(node: Node, at: At, look: Look) -> Cell:
    if look(2, pick(node, 2, at).at) == 0:
        return Literal(0)
    return Form("/", (pick(node, 0, at), pick(node, 1, at)))


def _weigh(weights: Array, values: Array) -> Array:
    nothing = weights == 0
    return np.asarray(np.where(nothing, weights, np.multiply(weights, np.where(nothing, 1, values))))


def _takes_nothing(sign: str, other: Any) -> bool:
    """Whether 0 times a number, or 0 divided by it, is 0 by the ordinary rules."""
    if sign == "/" and other == 0:
        return False
    return getattr(other, "is_finite", None) is not False and bool(not isinstance(other, float) or np.isfinite(other))


def _unless_nothing(sign: str) -> Callable[[Node, At, Look], Cell]:
    """The cell of × or / that is 0 where the first entry is 0; 0·∞ and 0/0 are told in words."""

    def cell(node: Node, at: At, look: Look) -> Cell:
        first, second = pick(node, 0, at), pick(node, 1, at)
        if look(0, first.at) == 0 and not _takes_nothing(sign, look(1, second.at)):
            return Literal(f"zero {'divided by' if sign == '/' else 'times'} anything counts as zero")
        return Form(sign, (first, second))

    return cell


def _log_softmax(node: Node, x: Array, *shares: Array) -> Array:
    axis = position(node.axes, node.args["over"])
    if is_exact(x):
        return np.asarray(x - kernels.log(np.asarray(np.sum(kernels.exp(x), axis=axis, keepdims=True))))
    shifted, _, rest = _shifted(x, axis)
    return np.asarray(shifted - rest)


def _shifted(x: Array, axis: int) -> tuple[Array, Array, Array]:
    """The scores minus the largest, the largest, and ln Σ exp of these differences, accurate to the last digit.

    That sum is 1 + the others' exponentials. These may be too small to change 1, but ln(1 + s) ≈ s still needs them.
    """
    top = np.max(x, axis=axis, keepdims=True)
    bounded = np.isfinite(top)
    top = np.where(bounded, top, 0)
    shifted = x - top
    sizes = np.exp(shifted)
    alone = np.argmax(shifted, axis=axis, keepdims=True)
    first = np.take_along_axis(sizes, alone, axis=axis)
    np.put_along_axis(sizes, alone, 0, axis=axis)
    others = np.sum(sizes, axis=axis, keepdims=True)
    return shifted, top, np.where(bounded, np.log1p(others), np.log(others + first))


def _log_softmax_vjp(g: Node, y: Node, node: Node, x: Node, *shares: Node) -> Sequence[Node | None]:
    over = node.args["over"]
    share = shares[0] if shares else softmax(x, over)
    return [g - share * beside(total(g, over), share), *(None for _ in shares)]


def _log_softmax_because(node: Node, source: int) -> str:
    shares = node.sources[1:]
    each = "raising a score raises the logarithm of its own share, and lowers all of them by that share"
    this = "".join(map(called, shares)) or "the shares"
    return f"{straight_past(shares)}{each}: where −c comes in at one entry alone, this is c·({this}, less 1 there)"


def _log_share(node: Node, x: Array, whole: Array) -> Array:
    laid = align(whole, node.sources[1].axes, node.axes)
    plain = np.asarray(x - laid)
    if is_exact(x, whole):
        return plain
    shifted, top, rest = _shifted(x, position(node.axes, node.args["over"]))
    # If scores are large, `whole` has lost digits of `rest`, and x − whole would lack them.
    own = np.abs(laid - (top + rest)) <= 4 * np.finfo(x.dtype).eps * np.abs(laid)  # false if rounded by hand
    return np.where(own, shifted - rest, plain)


def _safely(value: Array, otherwise: Array, watched: Array) -> Array:
    if is_exact(value):
        return value
    size = np.abs(watched)
    return np.where(kernels.has_all_digits(size) & (size < np.finfo(size.dtype).max), value, otherwise)


def _safely_because(node: Node, source: int) -> str:
    value, otherwise = (_spoken_of(way) for way in node.sources[:2])
    return straight_past([step for step in value if step not in otherwise]).removesuffix(": ")


def _spoken_of(value: Node) -> list[Node]:
    """The steps that a formula names."""
    behind = walk(value, into=lambda node: () if node.op == "step" else node.sources)
    return [node for node in behind if node.op == "step"]


def _slopes(node: Node, p: Array) -> Array:
    size = p.shape[-1]
    delta = np.eye(size, dtype=p.dtype if p.dtype != object else np.int64)
    return np.asarray(p[..., :, None] * (delta - p[..., None, :]))


def _slopes_cell(node: Node, at: At, look: Look) -> Cell:
    j = node.names[-1]
    i = node.names[-2]
    row = {name: place for name, place in at.items() if name not in (i, j)}
    return Form(
        "×", (Pick(0, {**row, j: at[i]}), Form("−", (Literal(int(at[i] == at[j])), Pick(0, {**row, j: at[j]}))))
    )


def _logarithm(kernel: Any, sign: str, base: int) -> Op:
    """The row of a logarithm with a base other than e."""
    return function(
        kernel,
        sign,
        rf"\log_{{{{{base}}}}}",
        lambda g, y, node, x: [ratio(g, x * log(as_node(base)))],
        f"the slope of {sign} x is 1/(x·ln {base})",
        constants=lambda node: [(f"ln {base}", math.log(base), lambda number, x: log(x) / number)],
        doubled=f"log{base}",
        loses=kernels.near_1,
    )


OPS |= {
    "softmax_slopes": Op(
        _slopes,
        lambda args, p: (*p[:-1], p[-1]._replace(name=f"{p[-1].name}'"), p[-1]),
        "{0}_i·(δ_ij − {0}_j)",
        r"{{{0}}}_i \left(\delta_{{ij}} - {{{0}}}_j\right)",
        _slopes_cell,
        binds=2,
        takes=(0,),
        no_gradient="it is a derivative already; grad gives its products at any size",
        mixes=lambda node: node.sources[0].names[-1:],
    ),
    "weigh": row(
        _weigh,
        cell=_unless_nothing("×"),
        vjp=lambda g, y, node, weights, values: [weigh(g, values), weigh(weights, g)],
        doubled="weigh",
        about="0 times anything is 0 here, 0·log 0 too: what p·log p comes to as p goes to 0.",
        **written_as("mul"),
    ),
    "ratio": row(
        _ratio,
        cell=_unless_nothing("/"),
        doubled="unless_nothing",
        vjp=lambda g, y, node, a, b: [ratio(g, b), -ratio(g * y, b)],
        about="Zero divided by anything counts as zero, even by zero: there is nothing to be shared out.",
        **written_as("div"),
    ),
    "per": row(
        _per,
        cell=_per_cell,
        vjp=lambda g, y, node, a, b, length: [per(g, b, length), -per(g * y, b, length), None],
        **written_as("div"),
    ),
    "log2": _logarithm(kernels.log2, "log₂", 2),
    "log10": _logarithm(kernels.log10, "log₁₀", 10),
    "log_softmax": Op(
        _log_softmax,
        keep,
        cell=lambda node, at, look: Form("−", (pick(node, 0, at), _log_sum_exp_cell(node, at, look))),
        vjp=_log_softmax_vjp,
        because=_log_softmax_because,
        about="Computed as x − ln Σ e^x, not from the share: a share below 5·10⁻³²⁴ is 0 in float64, and ln 0 is −∞.",
        body=lambda node, x, *shares: x - log_sum_exp(x, node.args["over"]),
        flops=5,  # a maximum, two differences, an exponential and a sum
        doubles_memory=True,
        **named("ln softmax", r"\ln \operatorname{softmax}"),
    ),
    "log_share": Op(
        _log_share,
        lambda args, x, whole: together(x, whole),
        cell=entrywise("−"),
        vjp=lambda g, y, node, x, whole: [g, -total(g, node.args["over"])],
        about="The logarithm of a share is the score minus the logarithm of the total: ln(e^x / Σ e^x) = x − ln Σ e^x.",
        body=lambda node, x, whole: x - whole,
        mixes=mixes,
        **written_as("sub"),
    ),
    "safely": row(
        _safely,
        "{0}",
        "{0}",
        moved,
        takes=(9,),
        vjp=lambda g, y, node, value, otherwise, watched: [None, g, None],
        because=_safely_because,
        body=lambda node, value, otherwise, watched: value,
        flops=0,
    ),
}


def _softmax(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    if is_exact(x):
        exponentials = kernels.exp(x)
    else:
        top = np.max(x, axis=axis, keepdims=True)
        exponentials = x - np.where(np.isfinite(top), top, 0)
        np.exp(exponentials, out=exponentials)
    sums = np.sum(exponentials, axis=axis, keepdims=True)
    # A row of −∞ alone has weights 0, as in the attention of PyTorch and ONNX.
    return np.asarray(kernels.divide(exponentials, np.where(sums == 0, 1, sums)))


def _softmax_cell(node: Node, at: At, look: Look) -> Cell:
    row = along(node, node.args["over"], at)
    if all(look(0, entry.at) == -np.inf for entry in row):
        return Literal("all masked")
    return Form("/", (Form("exp", (pick(node, 0, at),)), Form("+", tuple(Form("exp", (x,)) for x in row))))


def _log_sum_exp(node: Node, x: Array) -> Array:
    axis = axis_of(node)
    if is_exact(x):
        return np.asarray(kernels.log(np.asarray(np.sum(kernels.exp(x), axis=axis))))
    _, top, rest = _shifted(x, axis)
    return np.asarray(np.squeeze(top + rest, axis=axis))


_logarithm_of_sum: dict[str, Any] = {
    "text": lambda node, x: f"ln({sum_text(node, f'exp({x})')})",
    "latex": lambda node, x: rf"\ln({sum_latex(node, f'e^{{{x}}}')})",
    "mixes": mixes,
}


def _log_sum_exp_cell(node: Node, at: At, look: Look) -> Cell:
    row = along(node, node.args["over"], at)
    return Form("ln", (Form("+", tuple(Form("exp", (x,)) for x in row)),))


OPS |= {
    "softmax": Op(
        _softmax,
        keep,
        cell=_softmax_cell,
        vjp=lambda g, y, node, x: [y * (g - total(g * y, node.args["over"]))],
        because=lambda node, source: (
            f"a softmax's shares sum to 1 over {node.args['over']}, so only differences from the weighted mean "
            "gradient there count"
        ),
        about="e^x makes every score positive, and dividing by the sum makes shares of them. Only differences count: a "
        "score that is 1 above another gets e ≈ 2.718 times its share. The sum runs along one axis only, the last one "
        "unless a subscript names another: in a table each row sums to 1, a column need not.",
        body=lambda node, x: (e := exp(x)) / total(e, node.args["over"]),
        doubled="softmax",
        flops=5,  # a maximum, a difference, an exponential, a sum and a quotient
        doubles_memory=True,
        **named("softmax", r"\operatorname{softmax}"),
    ),
    "log_sum_exp": Op(
        _log_sum_exp,
        drop,
        cell=_log_sum_exp_cell,
        vjp=lambda g, y, node, x: [beside(g, x) * softmax(x, node.args["over"])],
        because="the slope of ln Σ exp is the softmax",
        about="logsumexp is a soft maximum: never below the largest entry, and above it by at most ln n, when all n "
        "are equal.",
        body=lambda node, x: log(total(exp(x), node.args["over"])),
        flops=4,  # a maximum, a difference, an exponential and a sum
        places=source_axes,
        doubles_memory=True,
        **_logarithm_of_sum,
    ),
}


def antilog(mean: Node, p: Node, base: int | str) -> Node:
    """The base to the power of −mean log p, given that exponent; computed from p itself where digits would be lost."""
    return Node("antilog", mean, p, base=base, over=p.names[-1])


def _antilog(node: Node, mean: Array, p: Array) -> Array:
    base = node.args["base"]
    plain = kernels.exp(mean) if base == "e" else kernels.power(kernels.number(base, mean.dtype), mean)
    if is_exact(mean, p):
        return np.asarray(plain)
    # The rounding error of a large logarithm grows in its power, so p's powers of 2, which are exact, are taken out.
    share, twos = np.frexp(p)
    axis, n = axis_of(node, 1), node.sources[1].axes[axis_of(node, 1)].size
    whole, rest = np.divmod(-np.sum(twos, axis=axis), n)
    direct = np.ldexp(np.exp(rest / n * math.log(2) - np.mean(np.log(share), axis=axis)), whole)
    margin = 16 * np.finfo(p.dtype).eps * (1 + np.abs(np.log(plain)))  # farther off if rounded by hand
    return np.asarray(np.where(np.abs(direct - plain) <= margin * plain, direct, plain), plain.dtype)


def _antilog_text(node: Node, mean: str, p: str) -> str:
    power = mean if mean.startswith("(") else f"({mean})"  # a whole formula has brackets already
    return f"exp{power}" if node.args["base"] == "e" else f"{node.args['base']}^{mean}"


OPS |= {
    "antilog": Op(
        _antilog,
        lambda args, mean, p: mean,
        _antilog_text,
        lambda node, mean, p: f"{node.args['base']}^{{{mean}}}",
        lambda node, at, look: (
            Form("exp", (pick(node, 0, at),))
            if node.args["base"] == "e"
            else Form("^", (Literal(node.args["base"]), pick(node, 0, at)))
        ),
        binds=1,
        takes=(0, 9),
        vjp=lambda g, y, node, mean, p: [
            g * (y if node.args["base"] == "e" else y * log(as_node(node.args["base"]))),
            None,
        ],
        because=lambda node, source: (
            "the exponential is its own slope" if node.args["base"] == "e" else "the slope of a^x is a^x·ln a"
        ),
        about=lambda node: str(OPS["exp"].about) if node.args["base"] == "e" else "",
        body=lambda node, mean, p: exp(mean) if node.args["base"] == "e" else power(as_node(node.args["base"]), mean),
        mixes=mixes,
        noun="exponentials",
        boxed=True,
        narrow=True,
    ),
}
