"""One kernel for softmax(x)·V with scaled and masked scores x: it never holds more scores than fit in a core's cache.

The scale is multiplied into Q, exponentials are taken in place, the division comes after V, and keys that no query of a
block may see are skipped. The kernel replaces exactly this pattern of primitives, with the same results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain, pairwise, product, repeat

import numpy as np

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.evaluate.large import exponential
from attncalc.evaluate.large.cores import on_all
from attncalc.evaluate.values import evaluate
from attncalc.language.axes import align
from attncalc.language.graph import Node, walk

ROWS, EDGE = 512, 128
KEYS = {"float32": 640, "float64": 256}
"""How many queries and keys are taken at a time, and how many keys if some are masked: scores stay in a core's cache.

Measured: 640 keys of float32 take 2 % less time per score than 512, on a processor without AVX-512.
"""
SAFE = {"float32": 60.0, "float64": 300.0}
"""Up to this |score| no maximum need be subtracted: neither a row's sum nor its smallest term leaves the range."""


class Band(NamedTuple):
    """Which keys a query may see: i − before ≤ j ≤ i + after, and j < keys."""

    before: float = math.inf
    after: float = math.inf
    keys: float = math.inf

    def and_also(self, other: Band) -> Band:
        """The keys that both bands allow."""
        return Band(*map(min, self, other))


class Pattern(NamedTuple):
    """The arguments of the kernel for a product of attention weights and values."""

    Q: Node
    K: Node  # transposed, [d, m]
    V: Node
    scale: float
    band: Band


def match(node: Node) -> Pattern | None:
    """The pattern of a node that is (softmax of scaled and masked scores)·V; None for any other."""
    if node.op != "matmul" or len(node.sources[1].axes) < 2:
        return None
    weights, V = _named(node.sources[0]), node.sources[1]
    if weights.op != "softmax" or weights.args["over"] != weights.axes[-1].name != V.names[-1]:
        return None
    x, scale, band = _named(weights.sources[0]), 1.0, Band()
    while x.op != "matmul":
        if x.op == "where":
            allowed = _band(x.sources[0], x.names[-2:])
            if allowed is None or _number(x.sources[2]) != -math.inf:
                return None
            band, x = band.and_also(allowed), _named(x.sources[1])
        elif x.op in ("div", "mul") and (number := _number(x.sources[1])) is not None and number > 0:
            scale = scale / number if x.op == "div" else scale * number
            x = _named(x.sources[0])
        else:
            return None
    Q, K = x.sources
    if len(Q.axes) < 2 or len(K.axes) < 2 or Q.names[-1] != K.names[-2] or x.names[-2:] != weights.names[-2:]:
        return None
    return Pattern(Q, K, V, scale, band)


def _named(node: Node) -> Node:
    while node.op == "step":
        node = node.sources[0]
    return node


def _number(node: Node) -> float | None:
    """The value of a node that is a single number and does not depend on operands; None for any other."""
    if node.axes or any(part.op in ("input", "step") for part in walk(node)):
        return None
    return float(evaluate([node], {})[node])


def _band(node: Node, names: tuple[str, ...]) -> Band | None:
    """The band of keys that a condition on positions allows; None if that is no band."""
    if node.op == "and":
        parts = [_band(source, names) for source in node.sources]
        return None if parts[0] is None or parts[1] is None else parts[0].and_also(parts[1])
    if node.op not in ("less", "less_equal"):
        return None
    left, right = (_places(source, names) for source in node.sources)
    if left is None or right is None:
        return None
    i, j, constant = (a - b for a, b in zip(left, right, strict=True))
    slack = -constant - (1 if node.op == "less" else 0)  # i·query + j·key ≤ slack, for whole numbers
    if not float(slack).is_integer():
        return None
    bands: dict[tuple[float, float], Band] = {
        (-1, 1): Band(after=slack),
        (1, -1): Band(before=slack),
        (0, 1): Band(keys=slack + 1),
    }
    return bands.get((i, j))


def _places(node: Node, names: tuple[str, ...]) -> tuple[float, float, float] | None:
    """A sum of positions and numbers as (the query position's factor, the key position's factor, the constant)."""
    if node.op == "index" and node.args["along"].name in names:
        return (1, 0, 0) if node.args["along"].name == names[0] else (0, 1, 0)
    number = _number(node)
    if number is not None:
        return 0, 0, number
    if node.op not in ("add", "sub") or len(node.sources) != 2:
        return None
    left, right = (_places(source, names) for source in node.sources)
    if left is None or right is None:
        return None
    sign = 1 if node.op == "add" else -1
    i, j, constant = (a + sign * b for a, b in zip(left, right, strict=True))
    return i, j, constant


def attend(node: Node, pattern: Pattern, values: Mapping[Node, Array]) -> Array:
    """The value of a node with this pattern, from the values of Q, of K transposed, and of V."""
    leads = node.axes[:-2]
    shape = tuple(axis.size for axis in leads)
    Q, K, V = (align(values[part], part.axes, leads + part.axes[-2:]) for part in pattern[:3])
    Q, K, V = (np.broadcast_to(part, shape + part.shape[-2:]) for part in (Q, K, V))
    result = np.empty(node.shape, values[pattern.Q].dtype)
    shift = not pattern.scale * _longest(Q, -1) * _longest(K, -2) <= SAFE[result.dtype.name]
    by_table = not shift and result.dtype == np.float64 and exponential.pays()

    def block(place: tuple[tuple[int, ...], slice]) -> None:
        at, rows = place
        with np.errstate(all="ignore"):  # the code that reads the result finds and reports what overflows
            _block(Q[at], K[at], V[at], result[at][rows], rows.start, pattern, shift=shift, by_table=by_table)

    blocks = _blocks(result.shape[-2])
    on_all(block, [(at, rows) for rows in blocks for at in product(*map(range, shape))])
    return result


def _blocks(count: int) -> list[slice]:
    """The queries in blocks, the last ones first, which see most keys under a causal mask, and small ones at the end.

    So no core is left alone with a large block at the end. The number of cores does not matter.
    """
    sizes = chain([ROWS // 4] * 4, [ROWS // 2] * 2, repeat(ROWS))
    bounds = [0]
    while bounds[-1] < count:
        bounds.append(min(count, bounds[-1] + next(sizes)))
    return [slice(*pair) for pair in pairwise(bounds)][::-1]


def _longest(rows: Array, axis: int) -> float:
    """The largest Euclidean length of the vectors along an axis."""
    return math.sqrt(float(np.max(np.einsum("...ij,...ij->...i" if axis == -1 else "...ij,...ij->...j", rows, rows))))


def _block(
    Q: Array, K: Array, V: Array, out: Array, start: int, pattern: Pattern, *, shift: bool, by_table: bool
) -> None:
    """Compute the rows `out` of the result from query `start` on, tile by tile.

    With `shift` each row's largest score so far is subtracted. For `by_table`, scores are scaled to the table's units.
    """
    count, band = len(out), pattern.band
    scale = Q.dtype.type(pattern.scale / (exponential.UNIT if by_table else 1))
    queries = np.asfortranarray(Q[start : start + count] * scale)  # the memory order for the product with the keys
    mixed, sums = np.zeros((count, V.shape[-1]), out.dtype), np.zeros((count, 1), out.dtype)
    top = np.full((count, 1), -np.inf, out.dtype)
    most = KEYS[out.dtype.name]
    room, beside, ones = np.empty(count * most, out.dtype), exponential.room(), np.ones((most, 1), out.dtype)
    for rows, keys in _tiles(band, start, start + count, K.shape[-1], most):
        tall, wide = rows.stop - rows.start, keys.stop - keys.start
        weights = room[: tall * wide].reshape(tall, wide)
        np.matmul(queries[rows], K[:, keys], out=weights)
        if shift:
            _hide(weights, band, start + rows.start, keys.start, -math.inf)
            higher = np.maximum(top[rows], weights.max(axis=-1, keepdims=True))
            base = np.where(np.isfinite(higher), higher, 0)
            weights -= base
            shrunk = np.exp(top[rows] - base)  # what was added so far had a smaller shift
            mixed[rows] *= shrunk
            sums[rows] *= shrunk
            top[rows] = higher
        if by_table:
            exponential.exponentiate(weights, beside)
        else:
            np.exp(weights, out=weights)
        if not shift:
            _hide(weights, band, start + rows.start, keys.start, 0)
        mixed[rows] += weights @ V[keys]
        sums[rows] += weights @ ones[:wide]  # faster than a sum
    np.divide(mixed, np.where(sums == 0, 1, sums), out=out)


def _tiles(band: Band, start: int, stop: int, keys: int, most: int) -> Iterator[tuple[slice, slice]]:
    """The tiles of a block: slices of its queries, counted from its start, and of keys that some of them see.

    A tile has at most `most` keys, and fewer if some are masked, so that little is computed in vain.
    """
    left, last = max(0, start - band.before), min(keys, band.keys, stop + band.after)
    first_hidden = start + band.after + 1  # to the first query
    while left < last:
        all_see = left < first_hidden and left >= stop - 1 - band.before
        right = min(left + most, first_hidden if all_see else left + EDGE, last)
        top, bottom = max(start, left - band.after), min(stop, right + band.before)
        yield slice(int(top) - start, int(bottom) - start), slice(int(left), int(right))
        left = right


def _hide(tile: Array, band: Band, start: int, left: int, value: float) -> None:
    """Set the tile's entries to a value where the query does not see the key."""
    rows, keys = tile.shape
    if left + keys - 1 <= start + band.after and left >= start + rows - 1 - band.before:
        return  # every query sees every key
    i, j = np.arange(start, start + rows)[:, None], np.arange(left, left + keys)
    if math.isfinite(band.after):
        tile[j > i + int(band.after)] = value
    if math.isfinite(band.before):
        tile[j < i - int(band.before)] = value
