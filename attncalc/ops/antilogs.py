"""The way back from a mean of logarithms, with the digits that the mean has lost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attncalc.arrays import Array
from attncalc.cells import At, Cell, Form, Literal, Look, pick
from attncalc.graph import OPS, Node, Op, as_node
from attncalc.ops import kernels
from attncalc.ops.functions import exp, log, power
from attncalc.ops.kernels import is_exact
from attncalc.ops.sums import axis_of, mixes


def antilog(mean: Node, p: Node, base: int | str) -> Node:
    """The base to the power of −mean log p, given that mean; it goes by p itself where digits would be lost."""
    return Node("antilog", mean, p, base=base, over=p.names[-1])


def _antilog(node: Node, mean: Array, p: Array) -> Array:
    base = node.args["base"]
    plain = kernels.exp(mean) if base == "e" else kernels.power(kernels.number(base, mean.dtype), mean)
    if is_exact(mean, p):
        return np.asarray(plain)
    # A large logarithm's last digit is many digits of its power: p's powers of 2 are taken out, which are exact.
    share, twos = np.frexp(p)
    axis, n = axis_of(node, 1), node.sources[1].axes[axis_of(node, 1)].size
    whole, rest = np.divmod(-np.sum(twos, axis=axis), n)
    direct = np.ldexp(np.exp(rest / n * math.log(2) - np.mean(np.log(share), axis=axis)), whole)
    margin = 16 * np.finfo(p.dtype).eps * (1 + np.abs(np.log(plain)))  # not so near where it was rounded by hand
    return np.asarray(np.where(np.abs(direct - plain) <= margin * plain, direct, plain), plain.dtype)


def _antilog_text(node: Node, mean: str, p: str) -> str:
    return f"exp({mean})" if node.args["base"] == "e" else f"{node.args['base']}^{mean}"


def _antilog_latex(node: Node, mean: str, p: str) -> str:
    return f"{node.args['base']}^{{{mean}}}"


def _antilog_cell(node: Node, at: At, look: Look) -> Cell:
    base, mean = node.args["base"], pick(node, 0, at)
    return Form("exp", (mean,)) if base == "e" else Form("^", (Literal(base), mean))


def _antilog_vjp(g: Node, y: Node, node: Node, mean: Node, p: Node) -> Sequence[Node | None]:
    base = node.args["base"]
    return [g * (y if base == "e" else y * log(as_node(base))), None]


OPS |= {
    "antilog": Op(
        _antilog,
        lambda args, mean, p: mean,
        _antilog_text,
        _antilog_latex,
        _antilog_cell,
        binds=1,
        takes=(0, 9),
        vjp=_antilog_vjp,
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
