"""Slices and concatenations along an axis, and pairs of entries rotated by an angle."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import ShapeError
from attncalc.common.numerals import Array
from attncalc.language.axes import Axes, Axis, align, find, position, unique, without
from attncalc.language.graph import Node, as_node
from attncalc.language.ops.basics import concat, mixes, moving, pick, rename, spread
from attncalc.language.primitive import OPS, At, Cell, Form, Look, Op, Pick, latex_axis


def listed(parts: Sequence[Node], over: str) -> Node:
    """Values of one shape stacked along a new last axis."""
    return Node("listed", *parts, over=over)


def part_of(x: Node, over: str, start: int, stop: int) -> Node:
    """The slice of x from `start` up to, not including, `stop` along an axis."""
    whole = start == 0 and stop == find(x.axes, over).size
    return x if whole else Node("slice", x, over=over, start=start, stop=stop)


def _sliced(args: dict[str, Any], x: Axes) -> Axes:
    start, stop, size = args["start"], args["stop"], find(x, args["over"]).size
    if not 0 <= start < stop <= size:
        raise ShapeError(f"there are no places {start}…{stop - 1} on an axis of {size}")
    return tuple(axis._replace(size=stop - start) if axis.name == args["over"] else axis for axis in x)


def _slice(node: Node, x: Array) -> Array:
    behind = -position(node.sources[0].axes, node.args["over"]) - 1
    places: tuple[Any, ...] = (..., slice(node.args["start"], node.args["stop"]), *[slice(None)] * behind)
    return np.asarray(x[places])


def _slice_text(node: Node, x: str) -> str:
    first, last = node.args["start"], node.args["stop"] - 1
    where = f"{first}" if first == last else f"{first}…{last}"
    return f"{x}[{node.args['over']}={where}]"


def _slice_latex(node: Node, x: str) -> str:
    first, last = node.args["start"], node.args["stop"] - 1
    where = f"{first}" if first == last else rf"{first} \ldots {last}"
    return f"{{{x}}}_{{{latex_axis(node.args['over'])}={where}}}"


def _slice_vjp(g: Node, y: Node, node: Node, x: Node) -> list[Node]:
    over, start, stop = node.args["over"], node.args["start"], node.args["stop"]
    parts = [zeros(g, over, 0, start), g, zeros(g, over, stop, find(x.axes, over).size)]
    return [concat([part for part in parts if part is not None], over)]


def zeros(x: Node, over: str, start: int, stop: int) -> Node | None:
    """Zeros of the shape of x, but with `stop − start` places along one axis; None if that is no place."""
    axes = tuple(axis._replace(size=stop - start) if axis.name == over else axis for axis in x.axes)
    return Node("spread", as_node(0), to=axes, part=(over, start, stop - 1)) if stop > start else None


def _joined(args: dict[str, Any], *parts: Axes) -> Axes:
    over = args["over"]
    rest = without(parts[0], over)
    for part in parts[1:]:
        if without(part, over) != rest:
            raise ShapeError(f"but for {over} they must have the same axes, in the same order")
    size = sum(find(part, over).size for part in parts)
    return tuple(axis._replace(size=size) if axis.name == over else axis for axis in parts[0])


def _concat(node: Node, *parts: Array) -> Array:
    named = len(node.axes)
    parts = tuple(align(part, source.axes, node.axes) for part, source in zip(parts, node.sources, strict=True))
    front = np.broadcast_shapes(*(part.shape[: part.ndim - named] for part in parts))
    laid = [np.broadcast_to(part, (*front, *part.shape[part.ndim - named :])) for part in parts]
    return np.concatenate(laid, axis=position(node.axes, node.args["over"]))


def side_by_side(node: Node, *parts: str) -> str:
    """`[a; b]`: sources laid side by side as formulas write them; of many only the first and the last.

    Sizes of vectors are written as a sum: `[3 + 1]`, since `[[3]; [1]]` would be a matrix.
    """
    sizes = [re.fullmatch(r"\[(\d+)\]", part) for part in parts]
    if len(node.axes) == 1 and all(sizes):
        return f"[{' + '.join(_few(tuple(size[1] for size in sizes if size), '…'))}]"
    return f"[{'; '.join(_few(parts, '…'))}]"


def side_by_side_latex(node: Node, *parts: str) -> str:
    """The same in LaTeX."""
    inside = "; ".join(_few(parts, r"\ldots"))
    return rf"\left[{inside}\right]"


def _few(parts: tuple[str, ...], gap: str) -> tuple[str, ...]:
    return parts if len(parts) <= 4 else (parts[0], gap, parts[-1])


def laying(kernel: Any, axes: Any, cell: Any, **more: Any) -> Op:
    """The row of a primitive that lays its sources side by side along an axis."""
    return moving(kernel, axes, side_by_side, side_by_side_latex, cell, mixes=mixes, joins=True, **more)


def _concat_cell(node: Node, at: At, look: Look) -> Cell:
    over, place = node.args["over"], at[node.args["over"]]
    for i, source in enumerate(node.sources):
        size = find(source.axes, over).size
        if place < size:
            return Pick(i, {**at, over: place})
        place -= size
    raise AssertionError("a place beyond the last part")


def _concat_vjp(g: Node, y: Node, node: Node, *parts: Node) -> list[Node]:
    over, start, result = node.args["over"], 0, []
    for part in parts:
        size = find(part.axes, over).size
        result.append(part_of(g, over, start, start + size))
        start += size
    return result


def _listed(args: dict[str, Any], *parts: Axes) -> Axes:
    if any(part != parts[0] for part in parts):
        raise ShapeError("they must have the same axes, in the same order")
    return unique((*parts[0], Axis(args["over"], len(parts))))


OPS |= {
    "slice": moving(
        _slice,
        _sliced,
        _slice_text,
        _slice_latex,
        lambda node, at, look: Pick(0, {**at, node.args["over"]: at[node.args["over"]] + node.args["start"]}),
        takes=(0,),
        vjp=_slice_vjp,
        because="only the places that were taken get the gradient",
        starts="start",
        mixes=mixes,
        view=True,
    ),
    "concat": laying(
        _concat,
        _joined,
        _concat_cell,
        vjp=_concat_vjp,
        because="each part gets its own places of the gradient",
        about="The parts stand one after the other, as they are: nothing is added up.",
    ),
    "listed": laying(
        lambda node, *parts: np.stack(np.broadcast_arrays(*parts), axis=-1),
        _listed,
        lambda node, at, look: Pick(
            at[node.args["over"]], {name: i for name, i in at.items() if name != node.args["over"]}
        ),
        quick=lambda node: None if any(source.axes for source in node.sources) else lambda *numbers: np.array(numbers),
        vjp=lambda g, y, node, *parts: [Node("take", g, over=node.args["over"], at=i) for i in range(len(parts))],
        because="each part gets its own place of the gradient",
    ),
}


INTERLEAVED, HALF = "interleaved", "half"
"""The two layouts of pairs: members side by side (2i, 2i + 1), or half the width apart (i, i + d/2)."""


def _halved(args: dict[str, Any], x: Axes) -> Axes:
    if not x or x[-1].size % 2:
        raise ShapeError(f"pairs need an even number of entries, but {x[-1].name if x else 'a number'} has none such")
    return (*x[:-1], Axis(args["pair"], x[-1].size // 2))


def _every_other_cell(node: Node, at: At, look: Look) -> Cell:
    *front, (pair, _, _) = node.axes
    place = {axis.name: at[axis.name] for axis in front}
    return Pick(0, {**place, node.sources[0].names[-1]: 2 * at[pair] + node.args["first"]})


def _every_other_vjp(g: Node, y: Node, node: Node, x: Node) -> list[Node]:
    nothing = spread(as_node(0), g.axes)
    pair = (nothing, g) if node.args["first"] else (g, nothing)
    return [interleave(*pair, x.names[-1])]


def _doubled(args: dict[str, Any], a: Axes, b: Axes) -> Axes:
    if a != b or not a:
        raise ShapeError("two rows of the same length are woven into one")
    return (*a[:-1], Axis(args["whole"], 2 * a[-1].size))


def _interleave(node: Node, a: Array, b: Array) -> Array:
    whole = np.stack(np.broadcast_arrays(a, b), axis=-1)
    return whole.reshape(*whole.shape[:-2], -1)


def _interleave_cell(node: Node, at: At, look: Look) -> Cell:
    *front, (whole, _, _) = node.axes
    pair, which = divmod(at[whole], 2)
    return Pick(which, {axis.name: at[axis.name] for axis in front} | {node.sources[0].names[-1]: pair})


def _rotated(args: dict[str, Any], x: Axes, cosines: Axes, sines: Axes) -> Axes:
    if cosines != sines or not x or not cosines or x[-1].size != 2 * cosines[-1].size:
        raise ShapeError("every pair of entries is turned by an angle of its own, so there are half as many angles")
    for axis in cosines[:-1]:
        if axis not in x[:-1]:
            raise ShapeError(f"the angles differ along {axis.name}={axis.size}, which is no axis of what they turn")
    return x


def _members(layout: str, size: int) -> tuple[slice, slice]:
    """The slices of the pairs' first members and of their second members."""
    if layout == HALF:
        return slice(None, size // 2), slice(size // 2, None)
    return slice(0, None, 2), slice(1, None, 2)


def _turned(node: Node, x: Array, cosines: Array, sines: Array, less: Any) -> Array:
    axes, angles = node.axes, node.sources[1].axes
    target = (*axes[:-1], angles[-1])
    cosines, sines = align(cosines, angles, target), align(sines, angles, target)
    first, second = _members(node.args["layout"], axes[-1].size)
    turned = (less(x[..., first] * cosines, x[..., second] * sines), x[..., second] * cosines + x[..., first] * sines)
    result = np.empty((*turned[0].shape[:-1], axes[-1].size), turned[0].dtype)
    result[..., first], result[..., second] = turned
    return result


def _pair_of(node: Node, place: int) -> tuple[int, int]:
    """The pair an entry belongs to, and whether it is the first (0) or second (1) member."""
    if node.args["layout"] == HALF:
        member, pair = divmod(place, node.axes[-1].size // 2)
        return pair, member
    return divmod(place, 2)


def _rotate_latex(node: Node, x: str, cosines: str, sines: str) -> str:
    halves = r";\, \text{halves}" if node.args["layout"] == HALF else ""
    return rf"\operatorname{{rotate}}({x};\, {cosines}, {sines}{halves})"


def _rotate_cell(node: Node, at: At, look: Look) -> Cell:
    whole, size = node.axes[-1][:2]
    pair, member = _pair_of(node, at[whole])
    places = (range(size)[members] for members in _members(node.args["layout"], size))
    first, second = (pick(node, 0, {**at, whole: members[pair]}) for members in places)
    angle = {**at, node.sources[1].names[-1]: pair}
    cosine, sine = pick(node, 1, angle), pick(node, 2, angle)
    if member:
        return Form("+", (Form("×", (second, cosine)), Form("×", (first, sine))))
    return Form("−", (Form("×", (first, cosine)), Form("×", (second, sine))))


def _rotate_vjp(g: Node, y: Node, node: Node, x: Node, cosines: Node, sines: Node) -> list[Node]:
    layout, pair = node.args["layout"], cosines.names[-1]
    (a, b), (to_a, to_b) = take_apart(x, layout, pair), take_apart(g, layout, pair)
    return [rotate(g, cosines, -sines, layout), to_a * a + to_b * b, to_b * a - to_a * b]


def _rotate_because(node: Node, source: int) -> str:
    if source:
        return "cosine and sine affect both members of their pair"
    made = node.sources[1].sources[0] if node.sources[1].op == "step" else node.sources[1]
    undone = "a rotation is undone by rotating back, so the gradient is rotated by the opposite angle"
    return undone if made.op != "mul" else f"{undone}; what stretches on the way there does so on the way back, too"


def _rotate_body(node: Node, x: Node, cosines: Node, sines: Node) -> Node:
    a, b = take_apart(x, node.args["layout"], cosines.names[-1])
    return put_together(a * cosines - b * sines, b * cosines + a * sines, node.args["layout"], x.names[-1])


def _last(node: Node) -> tuple[str, ...]:
    return node.sources[0].names[-1], node.names[-1]


OPS |= {
    "every_other": moving(
        lambda node, x: x[..., node.args["first"] :: 2],
        _halved,
        lambda node, x: f"{x}[{node.sources[0].names[-1]}={node.args['first']}, {node.args['first'] + 2}, …]",
        lambda node, x: (
            rf"{{{x}}}_{{{node.sources[0].names[-1]}={node.args['first']}, {node.args['first'] + 2}, \ldots}}"
        ),
        _every_other_cell,
        takes=(0,),
        vjp=_every_other_vjp,
        because="the entries that were skipped get no gradient",
        mixes=_last,
        view=True,
    ),
    "interleave": moving(
        _interleave,
        _doubled,
        "{0} and {1} in turn",
        r"\operatorname{{interleave}}({0}, {1})",
        _interleave_cell,
        binds=4,
        takes=(3, 3),
        vjp=lambda g, y, node, a, b: [every_other(g, first, a.names[-1]) for first in (0, 1)],
        because="each row gets every other entry of the gradient",
        mixes=_last,
    ),
    "rotate": Op(
        lambda node, x, cosines, sines: _turned(node, x, cosines, sines, np.subtract),
        _rotated,
        lambda node, x, cosines, sines: (
            f"rotate({x}; {cosines}, {sines}{'; halves' if node.args['layout'] == HALF else ''})"
        ),
        _rotate_latex,
        _rotate_cell,
        vjp=_rotate_vjp,
        because=_rotate_because,
        body=_rotate_body,
        about="The pair (a, b) rotates by its angle to (a·cos − b·sin, a·sin + b·cos): a quarter turn takes (1, 0) to "
        "(0, 1). Lengths do not change; angles are in radians.",
        mixes=lambda node: (node.names[-1], node.sources[1].names[-1]),
        flops=3,  # two products and a sum
        terms=lambda node, x, cosines, sines: _turned(node, x, cosines, sines, np.add),
    ),
}


def every_other(x: Node, first: int, pair: str) -> Node:
    """Every second entry along the last axis, beginning at `first` (0 or 1); `pair` names the axis that is left."""
    return Node("every_other", x, first=first, pair=pair)


def interleave(a: Node, b: Node, whole: str) -> Node:
    """The entries of a and b alternating along the last axis, a's first; `whole` names that axis."""
    return Node("interleave", a, b, whole=whole)


def take_apart(x: Node, layout: str, pair: str) -> tuple[Node, Node]:
    """The first and the second members of the pairs along the last axis."""
    if layout == INTERLEAVED:
        return every_other(x, 0, pair), every_other(x, 1, pair)
    whole, size = x.axes[-1][:2]
    halves = part_of(x, whole, 0, size // 2), part_of(x, whole, size // 2, size)
    return rename(halves[0], whole, pair), rename(halves[1], whole, pair)


def put_together(a: Node, b: Node, layout: str, whole: str) -> Node:
    """Pairs from their first and second members, along an axis called `whole`."""
    if layout == INTERLEAVED:
        return interleave(a, b, whole)
    return concat([rename(part, part.names[-1], whole) for part in (a, b)], whole)


def rotate(x: Node, cosines: Node, sines: Node, layout: str) -> Node:
    """Every pair (a, b) along the last axis rotated by its angle: (a·cos − b·sin, a·sin + b·cos)."""
    return Node("rotate", x, cosines, sines, layout=layout)
