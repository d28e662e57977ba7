"""Search among vectors: all pairs, the best match for a query, analogies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

from attncalc.calculations.conditions import meet
from attncalc.calculations.vectors import length, not_zero
from attncalc.common.errors import DomainError
from attncalc.declare.calculation import calculation, same
from attncalc.declare.operands import ABOVE_0, AT_LEAST_1, Exercise, With, operand
from attncalc.language.graph import Node, note, step
from attncalc.language.ops import absolute, compare_equal, peak, power, rename, root_of_sum, spread, total
from attncalc.language.ops import ranking as best

Metric = Literal[
    "cosine-similarity", "cosine", "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "dot"
]


def _have_directions(values: Mapping[str, Any]) -> None:
    """A check that no row is zero, where the metric is an angle."""
    if values["metric"].startswith("cosine"):
        not_zero(*(name for name in ("x", "y") if name in values))(values)


@calculation(
    x="n d",
    y="m d",
    check=_have_directions,
    laws={
        "it is symmetric if y is x": lambda f, x: same(f(x), f(x).result.T),
        "every row's similarity to itself is 1": lambda f, x: same(f(x).result.diagonal(), 1),
        "reordering the rows of x reorders the result": lambda f, x, y: same(f(x[::-1], y), f(x, y).result[::-1]),
    },
    reference="Manning et al. 2008, Introduction to Information Retrieval, section 6.3 (cosines); as "
    "scipy.spatial.distance.cdist",
    exercise=Exercise(sizes={"n": 3, "d": 3}),
)
def pairwise(
    x: Annotated[Node, "vectors, one a row"],
    y: Annotated[Node | None, "vectors, one a row; x itself if not given"] = None,
    *,
    metric: Annotated[Metric, "cosine is 1 − similarity, as in SciPy"] = "cosine-similarity",
    p: Annotated[float, "the power of the minkowski metric", ABOVE_0, With(("metric=minkowski",))] = 3,
) -> Node:
    """The similarity or distance between every row of x and every row of y, or of x itself."""
    other = rename(x, "n", "m") if y is None else y
    by = _MEASURES.get(metric, f"their {metric} distance")
    why = f"row i, column j compares row i of x with row j of {'x' if y is None else 'y'} by {by}"
    if metric == "dot":
        return step("distances", x @ other.T, why)
    if metric in ("cosine-similarity", "cosine"):
        units = step("unit_x", unit_rows(x), "its length no longer counts, only where it points")
        others = rename(units, "n", "m") if y is None else step("unit_y", unit_rows(y), "y's rows, of length 1 too")
        similarity = units @ others.T
        return step("distances", similarity if metric == "cosine-similarity" else 1 - similarity, why)
    leads = max(x.axes[:-2], other.axes[:-2], key=len)
    pairs = (*leads, x.axes[-2], *other.axes[-2:])
    difference = spread(x, pairs) - spread(other, pairs)
    return step("distances", _distance(difference, metric, p), why)


_MEASURES = {
    "cosine-similarity": "the cosine of their angle: the larger, the more alike",
    "dot": "their dot product: the larger, the more alike",
    "minkowski": "their minkowski distance: the larger p, the more the largest difference decides",
}
"""Metric → how it compares, for all that are not among the distances."""


def unit_rows(x: Node) -> Node:
    """Every row divided by its length."""
    return x / length(x)


def _distance(difference: Node, metric: str, p: float) -> Node:
    if metric == "manhattan":
        return total(absolute(difference))
    if metric == "chebyshev":
        return peak(absolute(difference))
    if metric == "minkowski":
        return root_of_sum(total(power(absolute(difference), p)), difference, p)
    squares = total(difference**2)
    return squares if metric == "sqeuclidean" else root_of_sum(squares, difference, 2)


@calculation(
    q="d",
    keys=operand("m d", named=True),
    laws={
        "a longer query finds the same keys": lambda f, q, keys, c: same(f(c * q, keys), f(q, keys)),
        "the first one's score is the largest": lambda f, q, keys: same((keys @ q)[f(q, keys).result], max(keys @ q)),
    },
    pictures=("scores",),
    reference="Shrivastava and Li 2014, Asymmetric LSH (ALSH) for Sublinear Time Maximum Inner Product Search, "
    "section 1",
    exercise=Exercise(sizes={"m": 4}),
)
def mips(
    q: Annotated[Node, "the query"],
    keys: Annotated[Node, "the keys, one a row"],
    *,
    top: Annotated[int, "how many of the best to list"] = 1,
) -> tuple[Node, Node]:
    """Find the keys with the largest inner product with a query.

    Attention's scores are these inner products; its softmax then mixes all keys' values instead of picking the best.
    """
    scores = step("scores", q @ keys.T, "one inner product for each key: attention's scores before scaling")
    ranked = step(
        "ranking",
        best(scores, top),
        "positions of the best keys, best first; attention would weight all of them instead",
    )
    return ranked, scores


def _left_to_rank(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """How many rows the ranking can hold: those that are none of the inputs, so far as they were asked for."""
    not_zero("vocabulary")(values)
    rows, given = values["vocabulary"], [values[name] for name in ("a", "b", "c")]
    if not meet(rows[..., 0, :], *given) or any(value.shape[-1] != rows.shape[-1] for value in given):
        return {}
    not_zero("a − b + c")({"a − b + c": values["a"] - values["b"] + values["c"]})
    taken = [(rows == value[..., None, :]).all(axis=-1) for value in given]
    left = rows.shape[-2] - int(np.max(np.sum(taken[0] | taken[1] | taken[2], axis=-1)))
    if not left:
        raise DomainError("every row of vocabulary is one of the three inputs: none is left to rank")
    if left >= values["top"]:
        return {}
    inputs = "the other rows of vocabulary are the inputs, which are left out"
    note(f"the ranking ends after {left}: {inputs if left < rows.shape[-2] else 'vocabulary has no more rows'}")
    return {"top": left}


@calculation(
    a="d",
    b="d",
    c="d",
    vocabulary=operand("m d", named=True),
    check=_left_to_rank,
    pictures=("similarities",),
    reference="Mikolov, Yih and Zweig 2013, Linguistic Regularities in Continuous Space Word Representations, "
    "section 4",
    exercise=Exercise(sizes={"m": 5}),
)
def analogy(
    a: Annotated[Node, "the vector to start from, such as king"],
    b: Annotated[Node, "what is subtracted from it, such as man"],
    c: Annotated[Node, "what is added to it, such as woman"],
    vocabulary: Annotated[Node, "the vectors to search, one a row"],
    *,
    top: Annotated[int, "how many of the nearest to list", AT_LEAST_1] = 3,
) -> tuple[Node, Node]:
    """Solve an analogy: the vectors of a vocabulary that are nearest to a − b + c.

    king − man + woman: the step from man to king, taken from woman. The three inputs are left out of the ranking.
    """
    target = step("target", a - b + c, "the step from b to a, taken from c")
    similarities = step(
        "similarities", unit_rows(target) @ unit_rows(vocabulary).T, "cosines: nearness by direction, not by length"
    )
    inputs = [_same_row(vocabulary, vector) for vector in (a, b, c)]
    ranked = step(
        "ranking",
        best(similarities, top, *inputs),
        "positions of the nearest, best first, with the three inputs left out",
    )
    return ranked, similarities


def _same_row(rows: Node, vector: Node) -> Node:
    """Which rows are the vector itself."""
    leads = tuple(axis for axis in vector.axes[:-1] if axis.name not in rows.names)
    return compare_equal(peak(absolute(spread(rows, leads + rows.axes) - vector)), 0)
