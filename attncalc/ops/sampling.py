"""The primitive that draws random numbers: the same ones whenever its seed is the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes
from attncalc.cells import At, Literal, Look
from attncalc.errors import NotExact
from attncalc.graph import OPS, Node, Op


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
