"""Sines, cosines and tangents, entry by entry, and the hyperbolic tangent."""

from __future__ import annotations

import numpy as np

from attncalc.graph import OPS, Node
from attncalc.ops.arithmetic import function
from attncalc.ops.functions import sqrt
from attncalc.ops.kernels import arccos as angle_of
from attncalc.ops.kernels import either


def sin(x: Node) -> Node:
    """The sine of an angle in radians."""
    return Node("sin", x)


def cos(x: Node) -> Node:
    """The cosine of an angle in radians."""
    return Node("cos", x)


def tan(x: Node) -> Node:
    """The tangent of an angle in radians."""
    return Node("tan", x)


OPS |= {
    "sin": function(
        either(np.sin, "sin"), "sin", r"\sin", lambda g, y, node, a: [g * cos(a)], "the slope of sin x is cos x"
    ),
    "cos": function(
        either(np.cos, "cos"), "cos", r"\cos", lambda g, y, node, a: [-(g * sin(a))], "the slope of cos x is −sin x"
    ),
    "tan": function(
        either(np.tan, "tan"),
        "tan",
        r"\tan",
        lambda g, y, node, a: [g * (1 + y**2)],
        "the slope of tan x is 1 + tan² x",
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
        about="tanh lies between −1 and 1: small numbers pass nearly as they are (tanh 0.1 = 0.0997), large ones "
        "level off (tanh 3 = 0.9951).",
    ),
}
