"""Probability: from scores to shares, and their logarithms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from attncalc.calculation import calculation, operand
from attncalc.errors import DomainError, OptionError, ShapeError
from attncalc.graph import Node, step
from attncalc.ops import exp, held, log_sum_exp, peak, total

Axis = Annotated[int, "the axis along which the shares sum to 1; −1 is the last"]


def _chosen(x: Node, axis: int) -> str:
    """The name of an axis told by its number."""
    if not -len(x.names) <= axis < len(x.names):
        raise ShapeError(f"there is no axis {axis}: x has {len(x.names)} of them, counted from 0 or back from −1")
    return x.names[axis]


def _not_all_masked(values: Mapping[str, Any]) -> None:
    x = values["x"]
    if x.dtype.kind != "f":
        return
    empty = np.argwhere(np.isneginf(x).all(axis=-1))
    if len(empty):
        row = f"row {','.join(map(str, empty[0]))} of x (counted from 0)" if empty.shape[1] else "x"
        raise DomainError(
            f"{row} is −∞ throughout: nothing is left to share out",
            hint="let one entry of it stay finite; attention gives such a query the weights 0",
        )


@calculation(x=operand("n", kind="logits"), check=_not_all_masked, reference="Bridle 1990")
def softmax(
    x: Annotated[Node, "scores, also called logits; −inf where masked"],
    *,
    axis: Axis = -1,
    temperature: Annotated[float, "scores are divided by it: above 1 flattens, below 1 sharpens"] = 1,
) -> Node:
    """Turn scores into shares that are positive and sum to 1.

    exp(x/T) / Σ exp(x/T) along the axis. The largest score is taken away first, which changes nothing and keeps the
    exponentials from overflowing.
    """
    over = _chosen(x, axis)
    scores = x
    if temperature != 1:
        if not temperature > 0:
            raise OptionError(f"--temperature must be greater than 0, and not {temperature}")
        scores = step("scaled", x / temperature, "above 1 the shares become more alike, below 1 less so")
    shifted = step("shifted", scores - held(peak(scores, over)), "the shares stay as they are, and e^x cannot overflow")
    exponentials = step("exponentials", exp(shifted), "every score becomes positive, and gaps become ratios")
    sums = step("sum", total(exponentials, over), "the whole that is shared out")
    return step("softmax", exponentials / sums, "each entry's share of the whole")


@calculation(x=operand("n", kind="logits"), check=_not_all_masked)
def log_softmax(x: Annotated[Node, "scores, also called logits"], *, axis: Axis = -1) -> Node:
    """The logarithms of the softmax, without leaving the safe range of numbers.

    x − ln Σ exp(x) along the axis; the logarithm of a share too small to hold is still a plain number.
    """
    over = _chosen(x, axis)
    largest = held(peak(x, over))
    shifted = step("shifted", x - largest, "e^x cannot overflow once the largest score is 0")
    whole = step("logsumexp", largest + log_sum_exp(shifted, over), "the logarithm of the whole; a soft maximum")
    return step("log_softmax", x - whole, "a ratio of exponentials is a difference of logarithms")
