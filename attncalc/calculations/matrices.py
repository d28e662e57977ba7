"""Matrices: products of several of them."""

from __future__ import annotations

from typing import Annotated

from attncalc.calculation import calculation
from attncalc.errors import OptionError
from attncalc.graph import Node, step

Factor = Annotated[Node | None, "a further factor"]


@calculation(a="m n", b="n p", c="p q", d="q r", e="r s", f="s t", g="t u", h="u v")
def matmul(
    A: Annotated[Node, "the left matrix"],
    B: Annotated[Node, "the right matrix: as many rows as the left one has columns"],
    C: Factor = None,
    D: Factor = None,
    E: Factor = None,
    F: Factor = None,
    G: Factor = None,
    H: Factor = None,
) -> Node:
    """Multiply matrices: rows of the left with columns of the right.

    (m×n)(n×p) → (m×p): the inner sizes must agree. Further factors are multiplied on, from left to right.
    """
    factors = [A, B, C, D, E, F, G, H]
    given = [factor for factor in factors if factor is not None]
    if factors[: len(given)] != given:
        raise OptionError("matmul's factors must be given without a gap: a, b, c, …")
    why = "entry i, j is row i of the left factor times column j of the right one"
    product = A
    for i, factor in enumerate(given[1:], start=1):
        last = i == len(given) - 1
        product = step("product" if last else f"product_{i}", product @ factor, why)
    return product
