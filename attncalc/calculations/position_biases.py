"""Positions as biases added to the scores: ALiBi's slopes, T5's buckets."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from attncalc.calculations.attention_options import check_buckets, slopes_of
from attncalc.calculations.positions import needed
from attncalc.common.errors import ShapeError, amount
from attncalc.declare.calculation import alike_along_diagonals, at_most, calculation
from attncalc.declare.operands import AT_LEAST_1, Exercise
from attncalc.language.axes import Axis
from attncalc.language.graph import Node, note, step
from attncalc.language.ops import absolute, bucket, index, keep_where, lookup, outer

Keys = Annotated[int | None, "how many keys; as many as queries if not given", AT_LEAST_1]


@calculation(
    infinite=True,
    laws={
        "the bias depends only on i − j": lambda f, heads, n: alike_along_diagonals(f(heads=heads, n=n)),
        "it never adds to a score": lambda f, heads, n: at_most(f(heads=heads, n=n), 0),
    },
    reference="Press, Smith and Lewis 2022, Train Short, Test Long, section 3; slopes as in the paper's code",
    exercise=Exercise(one_of=tuple({"heads": heads, "n": n} for heads in (2, 4, 8) for n in (3, 4))),
)
def alibi(
    *,
    heads: Annotated[int, "how many heads", AT_LEAST_1] = 1,
    n: Annotated[int | None, "how many queries", AT_LEAST_1] = None,
    m: Keys = None,
    causal: Annotated[bool, "a query sees itself and what comes before it; the rest is −∞"] = False,
) -> tuple[Node, Node]:
    """Lower each score in proportion to the distance between its query and key.

    −slope·|i − j| is added to the scaled scores before the softmax. Each head has its own slope, 2^(−8h/H) for heads
    h = 1…H, so that some look near and some far. Nothing is added to the embeddings, and nothing is learned.
    """
    n = needed("n", n)
    m = n if m is None else m
    slopes = step(
        "slopes", slopes_of(heads), "a geometric sequence: heads with steep slopes look near, heads with flat ones far"
    )
    axes = (Axis("n", n), Axis("m", m))
    i, j = index("n", axes, "i"), index("m", axes, "j")
    distances = step("distances", absolute(i - j), "how far apart query and key are, in either direction")
    bias = -outer(slopes, distances)
    if causal:
        bias = keep_where(j <= i, bias, -np.inf)
    return step("bias", bias, "added to the scaled scores: distant keys are penalised, in texts of any length"), slopes


@calculation(
    table="buckets h",
    laws={"the bucket depends only on key − query": lambda f, n: alike_along_diagonals(f(n=n))},
    reference="Raffel et al. 2020, T5, section 2.1; as in mesh-tensorflow",
    exercise=Exercise(one_of=tuple({"n": n, "max_distance": most} for n in (4, 5) for most in (6, 8, 12))),
)
def t5_bias(
    table: Annotated[Node | None, "the learned biases, a row for each bucket and a column for each head"] = None,
    *,
    n: Annotated[int | None, "how many queries", AT_LEAST_1] = None,
    m: Keys = None,
    buckets: Annotated[int | None, "how many buckets; as many as the table has rows, or 32 without one"] = None,
    max_distance: Annotated[int, "from this distance on, all share one bucket"] = 128,
    causal: Annotated[bool, "the decoder's buckets: none for keys to the right"] = False,
) -> tuple[Node, ...]:
    """Sort relative positions into buckets, and look up each head's bias for them.

    The distance is key − query. Each near distance has its own bucket; far ones share buckets that widen
    logarithmically up to max_distance. Unless causal, half of the buckets are for keys to the right. T5 adds the bias
    to Q·Kᵀ without dividing by √d_k.
    """
    n = needed("n", n)
    m = n if m is None else m
    rows = table.axes[-2].size if table is not None else 32
    buckets = rows if buckets is None else buckets
    check_buckets(buckets, max_distance, causal=causal)
    if table is not None and rows != buckets:
        raise ShapeError(f"the table has {amount(rows, 'row')} for {amount(buckets, 'bucket')}")
    axes = (Axis("n", n), Axis("m", m))
    relative = step(
        "relative_positions", index("m", axes, "j") - index("n", axes, "i"), "key − query: the past is negative"
    )
    why = "each near distance gets its own bucket, far ones share them by their logarithm"
    why += "; all keys ahead share the first" if causal else "; keys ahead have the second half of the buckets"
    numbers = step("buckets", bucket(relative, buckets, max_distance, causal=causal), why)
    note("T5 adds this bias to Q·Kᵀ itself, without dividing by √d_k (attncalc attention --scale none)")
    if table is None:
        return (numbers,)
    return step(
        "bias", lookup(table.T, numbers, "buckets"), "each head has learned its own bias for each bucket"
    ), numbers
