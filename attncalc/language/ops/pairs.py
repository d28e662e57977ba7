"""Pairs of adjacent tokens in words: how often each occurs, and merging pairs into new tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from attncalc.common.errors import ShapeError
from attncalc.common.numerals import Array
from attncalc.language.axes import Axes, Axis, names
from attncalc.language.graph import Node
from attncalc.language.kernels import zeros
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op, Pick

WHY_NO_GRADIENT = "which letters stand beside one another does not change little by little"


def pair_counts(words: Node, counts: Node, first: Axis, second: Axis) -> Node:
    """How often each token of `first` is followed by each of `second`, in words that occur `counts` times.

    Words are rows of ids, padded with an id that is on neither axis.
    """
    return Node("pair_counts", words, counts, first=first, second=second)


def commonest(table: Node, of: str) -> Node:
    """The row and column, along a new axis `pair`, of the largest entry of a table, the first if there are several."""
    return Node("commonest", table, of=of)


def joined(words: Node, pairs: Node, new: int, of: str, *, by_rank: bool = True) -> Node:
    """Words with each of the pairs of ids merged into a new token, with ids from `new` on.

    The pairs are merged one after the other, each from left to right, and later tokens move up. Without `by_rank` the
    leftmost of all pairs always comes first. `of` is the axis whose labels say what the ids stand for.
    """
    return Node("joined", words, pairs, new=new, of=of, by_rank=by_rank)


def _counted(args: dict[str, Any], words: Axes, counts: Axes) -> Axes:
    if len(words) != 2 or counts != words[:1]:
        raise ShapeError("every word needs a count")
    return args["first"], args["second"]


def _everything(node: Node) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for source in node.sources for name in source.names))


def _whole(x: Array) -> list[Any]:
    """Ids as whole numbers; −1 for entries of an answer that are not finite."""
    known = x.astype(np.float64)
    found: list[Any] = np.where(np.isfinite(known), known, -1).astype(np.int64).tolist()
    return found


def _numbers(ids: Sequence[int], pattern: Array) -> Array:
    """Ids as numbers of the dtype of `pattern`."""
    nothing = zeros((len(ids),), pattern)
    return np.asarray(nothing + np.array(ids, dtype=nothing.dtype))


def _pairs(words: Sequence[Sequence[int]]) -> Iterator[tuple[int, tuple[int, int]]]:
    """(the word's number, the two ids) of each pair of neighbours."""
    for w, word in enumerate(words):
        for pair in pairwise(word):
            yield w, pair


def _each(node: Node, work: Callable[..., Array], *values: Array) -> Array:
    """The work applied to the sources' named axes, once for each place of the unnamed axes in front."""
    own = [len(source.axes) for source in node.sources]
    fronts = [value.shape[: value.ndim - axes] for value, axes in zip(values, own, strict=True)]
    front = np.broadcast_shapes(*fronts)
    if not front:
        return work(node, *values)
    laid = [np.broadcast_to(v, (*front, *v.shape[v.ndim - axes :])) for v, axes in zip(values, own, strict=True)]
    found = [work(node, *(value[at] for value in laid)) for at in np.ndindex(front)]
    return np.stack(found).reshape(*front, *node.shape)


def _pair_counts(node: Node, words: Array, counts: Array) -> Array:
    found = zeros(node.shape, counts)
    for w, (a, b) in _pairs(_whole(words)):
        if 0 <= a < node.shape[0] and 0 <= b < node.shape[1]:
            found[a, b] = found[a, b] + counts[w]
    return found


def _pair_counts_cell(node: Node, at: At, look: Look) -> Cell:
    words, each = node.sources
    (w, t), pair = words.axes, tuple(at[axis.name] for axis in node.axes)
    rows = [[int(look(0, {w.name: i, t.name: j})) for j in range(t.size)] for i in range(w.size)]
    among = tuple(Pick(1, {each.names[0]: i}) for i, found in _pairs(rows) if found == pair)
    return Form("+", among) if among else Literal(0)


def _place(args: dict[str, Any], table: Axes) -> Axes:
    if len(table) != 2:
        raise ShapeError("pairs stand in a table of two axes")
    return (Axis("pair", 2),)


def _commonest(node: Node, table: Array) -> Array:
    place = np.unravel_index(np.argmax(table.astype(np.float64)), table.shape)
    return _numbers(list(map(int, place)), table)


def _commonest_cell(node: Node, at: At, look: Look) -> Cell:
    """The argmax of the rows' maxima, or the argmax within that row."""
    rows, columns = node.sources[0].axes
    table = [[Pick(0, {rows.name: i, columns.name: j}) for j in range(columns.size)] for i in range(rows.size)]
    if at["pair"] == 0:
        return Form("argmax", tuple(Form("max", tuple(row)) for row in table))
    largest = [max(look(0, place.at) for place in row) for row in table]
    return Form("argmax", tuple(table[largest.index(max(largest))]))


def _joined_axes(args: dict[str, Any], words: Axes, pairs: Axes) -> Axes:
    if len(words) != 2 or len(pairs) > 2 or not pairs or pairs[-1].size != 2:
        raise ShapeError("words are rows of ids, and a pair has two")
    return words


def _join(node: Node, word: list[int], pairs: list[tuple[int, int]]) -> tuple[list[int], list[list[int]]]:
    """A word's ids when all pairs are merged, and for each of them the places of its parts."""
    ids, places = list(word), [[t] for t in range(len(word))]

    def at(i: int, rank: int) -> None:
        ids[i : i + 2], places[i : i + 2] = [node.args["new"] + rank], [places[i] + places[i + 1]]

    if node.args["by_rank"]:
        for rank, pair in enumerate(pairs):
            i = 0
            while i < len(ids) - 1:
                if (ids[i], ids[i + 1]) == pair:
                    at(i, rank)
                i += 1
        return ids, places
    while (i := next((i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) in pairs), -1)) >= 0:
        at(i, pairs.index((ids[i], ids[i + 1])))
    return ids, places


def _known(pairs: Array) -> list[tuple[int, int]]:
    return [(a, b) for a, b in _whole(pairs.reshape(-1, 2))]


def _joined(node: Node, words: Array, pairs: Array) -> Array:
    found = zeros(node.shape, words)
    for w, word in enumerate(_whole(words)):
        ids, _ = _join(node, word, _known(pairs))
        found[w] = _numbers(ids + word[-1:] * (len(word) - len(ids)), words)
    return found


def _joined_cell(node: Node, at: At, look: Look) -> Cell:
    """The id that has moved to this place, or the new one that was made there."""
    (w, t), pairs = node.axes, node.sources[1].axes
    word = [int(look(0, {w.name: at[w.name], t.name: j})) for j in range(t.size)]
    places = np.ndindex(*(axis.size for axis in pairs))
    among = np.array([look(1, dict(zip(names(pairs), place, strict=True))) for place in places])
    ids, parts = _join(node, word, _known(among))
    place = at[t.name]
    if place < len(ids) and len(parts[place]) > 1:
        return Literal(ids[place])
    return Pick(0, {w.name: at[w.name], t.name: parts[place][0] if place < len(ids) else t.size - 1})


OPS |= {
    "pair_counts": Op(
        lambda node, *values: _each(node, _pair_counts, *values),
        _counted,
        "paired({0}, {1})",
        r"\operatorname{{paired}}({0}, {1})",
        _pair_counts_cell,
        no_gradient=WHY_NO_GRADIENT,
        about="paired(words, counts) is a table: a row for each first token, a column for each second one. Of "
        "three equal letters in a row the first and the second are a pair, and so are the second and the third.",
        mixes=_everything,
        flops=None,
    ),
    "commonest": Op(
        lambda node, *values: _each(node, _commonest, *values),
        _place,
        "commonest({0})",
        r"\operatorname{{commonest}}({0})",
        _commonest_cell,
        no_gradient=WHY_NO_GRADIENT,
        about="commonest(pairs) are the row and the column of the largest count; of several the first row, and in it "
        "the first column.",
        mixes=_everything,
        flops=None,
        points="of",
    ),
    "joined": Op(
        lambda node, *values: _each(node, _joined, *values),
        _joined_axes,
        lambda node, words, pairs: (
            f"{'join' if node.args['by_rank'] else 'leftmost'}({words}, {pairs}, {node.args['new']})"
        ),
        lambda node, words, pairs: (
            rf"\operatorname{{{'join' if node.args['by_rank'] else 'leftmost'}}}({words}, {pairs}, {node.args['new']})"
        ),
        _joined_cell,
        no_gradient=WHY_NO_GRADIENT,
        about="join(words, pair, id) goes through each word from left to right; where the pair stands, it writes id in "
        "its place, and what is behind moves up.",
        mixes=_everything,
        flops=None,
        points="of",
    ),
}
