"""Smooth functions of one number: sines, tanh, sigmoid, softplus, ELU, the error function."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from attncalc.common.numerals import Array
from attncalc.language import kernels
from attncalc.language.graph import Node, as_node
from attncalc.language.kernels import arccos as angle_of
from attncalc.language.kernels import either, is_exact
from attncalc.language.ops.basics import exp, function, keep_where, log, moved, of_one, of_two, pi, pick, row, sqrt
from attncalc.language.primitive import OPS, At, Form, Literal, Look

sin = of_one("sin")
"""The sine of an angle in radians."""
cos = of_one("cos")
"""The cosine of an angle in radians."""
tan = of_one("tan")
"""The tangent of an angle in radians."""
erf = of_one("erf")
"""The error function: the share of a bell curve's area within x√2 of its middle."""
one_plus_erf = of_one("one_plus_erf")
"""1 + erf x, to the last digit even where erf x is nearly −1."""
sigmoid = of_one("sigmoid")
"""1 / (1 + exp(−x)), which never overflows."""
softplus = of_one("softplus")
"""ln(1 + exp x), which never overflows."""
cubable = of_one("cubable")
"""x, cut off where its cube would overflow: for functions that have long been constant there. Invisible in formulas."""
elu = of_two("elu")
"""x above 0, α·(exp x − 1) below; α is the second."""


OPS |= {
    "sin": function(
        either(np.sin, "sin"),
        "sin",
        r"\sin",
        lambda g, y, node, a: [g * cos(a)],
        "the slope of sin x is cos x",
        doubled="sin",
        loses=kernels.beyond(1),
    ),
    "cos": function(
        either(np.cos, "cos"),
        "cos",
        r"\cos",
        lambda g, y, node, a: [-(g * sin(a))],
        "the slope of cos x is −sin x",
        doubled="cos",
        loses=kernels.beyond(0.5),
    ),
    "tan": function(
        either(np.tan, "tan"),
        "tan",
        r"\tan",
        lambda g, y, node, a: [g * (1 + y**2)],
        "the slope of tan x is 1 + tan² x",
        doubled="tan",
        loses=kernels.beyond(0.5),
    ),
    "arccos": function(
        angle_of,
        "arccos",
        r"\arccos",
        lambda g, y, node, a: [-(g / sqrt(1 - a**2))],
        "the slope of arccos x is −1/√(1 − x²)",
    ),
    "tanh": function(
        either(np.tanh, "tanh"),
        "tanh",
        r"\tanh",
        lambda g, y, node, a: [g * (1 - y**2)],
        "the slope of tanh x is 1 − tanh² x",
        doubled="tanh",
        about="tanh lies between −1 and 1: small numbers pass nearly as they are (tanh 0.1 = 0.0997), large ones "
        "level off (tanh 3 = 0.9951).",
    ),
}


_erf = either(partial(kernels.each, math.erf), "erf")


def _one_plus_erf(x: Array) -> Array:
    if is_exact(x):
        return np.asarray(1 + _erf(x))
    return kernels.each(math.erfc, -x)  # far below 0, 1 + erf x would be a difference of two numbers next to 1


def _logistic(x: Array) -> Array:
    e = np.exp(-np.abs(x))  # never overflows; both cases below are 1/(1 + e⁻ˣ)
    return np.asarray(np.where(x < 0, e, 1) / (1 + e))


_sigmoid = either(_logistic, "sigmoid")


def _softplus(x: Array) -> Array:
    if is_exact(x):
        return np.asarray(kernels.log(np.asarray(1 + kernels.exp(x))))
    return np.asarray(np.logaddexp(0, x))


def _elu(x: Array, alpha: Array) -> Array:
    if is_exact(x, alpha):
        return np.where((x > 0).astype(bool), x, alpha * (kernels.exp(x) - 1))
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _cubable(x: Array) -> Array:
    if is_exact(x):
        return x
    limit = np.cbrt(np.finfo(x.dtype).max) / 4  # beyond float64's 1e102 a cubic under tanh has long been at ±1
    return np.clip(x, -limit, limit)


def _elu_cell(node: Node, at: At, look: Look) -> Any:
    x = pick(node, 0, at)
    if look(0, x.at) > 0:
        return x
    return Form("×", (pick(node, 1, at), Form("−", (Form("exp", (x,)), Literal(1)))))


def _bell(x: Node) -> Node:
    """The slope of erf: 2/√π·exp(−x²)."""
    return 2 / sqrt(pi()) * exp(-(x**2))


_SLOPE_OF_ERF = "the slope of erf x is the bell curve 2/√π·exp(−x²)"


OPS |= {
    "erf": function(
        _erf, "erf", r"\operatorname{{erf}}", lambda g, y, node, x: [g * _bell(x)], _SLOPE_OF_ERF, doubled="erf"
    ),
    "one_plus_erf": row(
        _one_plus_erf,
        "1 + erf({0})",
        r"1 + \operatorname{{erf}}({0})",
        lambda node, at, look: Form("+", (Literal(1), Form("erf", (pick(node, 0, at),)))),
        vjp=lambda g, y, node, x: [g * _bell(x)],
        because=_SLOPE_OF_ERF,
        body=lambda node, x: 1 + erf(x),
        doubled="one_plus_erf",
        loses=kernels.beyond(1),
        binds=3,
    ),
    "sigmoid": row(
        _sigmoid,
        "σ({0})",
        r"\sigma({0})",
        lambda node, at, look: Form(
            "/", (Literal(1), Form("+", (Literal(1), Form("exp", (Form("neg", (pick(node, 0, at),)),)))))
        ),
        vjp=lambda g, y, node, x: [g * (y * (1 - y))],
        because="the slope of σ is σ·(1 − σ)",
        about="σ(x) = 1/(1 + e^−x) is ½ at 0, 0.7311 at 1 and 0.9933 at 5; σ(−x) = 1 − σ(x).",
        body=lambda node, x: 1 / (1 + exp(-x)),
        doubled="sigmoid",
        loses=kernels.beyond(4),
    ),
    "softplus": row(
        _softplus,
        "ln(1 + exp({0}))",
        r"\ln(1 + e^{{{0}}})",
        lambda node, at, look: Form("ln", (Form("+", (Literal(1), Form("exp", (pick(node, 0, at),)))),)),
        vjp=lambda g, y, node, x: [g * sigmoid(x)],
        because="the slope of ln(1 + e^x) is σ(x)",
        body=lambda node, x: log(1 + exp(x)),
        doubled="softplus",
        loses=kernels.beyond(4),
    ),
    "cubable": row(
        _cubable,
        "{0}",
        "{0}",
        moved,
        vjp=lambda g, y, node, x: [g],
        because="the same number, unless it is so large that nothing moves with it any more",
        takes=(9,),
        flops=0,
        doubled="same",
    ),
    "elu": row(
        _elu,
        "{0} where 0 < {0}, else {1}·(exp({0}) − 1)",
        r"\begin{{cases}} {0} & 0 < {0} \\ {1} \cdot (e^{{{0}}} - 1) & \text{{else}} \end{{cases}}",
        _elu_cell,
        vjp=lambda g, y, node, x, alpha: [g * keep_where(as_node(0) < x, 1, y + alpha), None],
        because="above 0 the slope is 1; below, α·exp(x), which is the value + α",
        body=lambda node, x, alpha: keep_where(as_node(0) < x, x, alpha * (exp(x) - 1)),
        binds=4,
        takes=(0, 0),
        doubled="elu",
    ),
}
