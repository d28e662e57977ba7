"""Parts of an axis taken out of it, and laid one after the other along it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, Axis, find, position, unique, without
from attncalc.cells import At, Cell, Look, Pick
from attncalc.errors import ShapeError
from attncalc.graph import OPS, Node, Op, as_node
from attncalc.notation import latex_axis
from attncalc.ops.functions import concat, spread


def listed(parts: Sequence[Node], over: str) -> Node:
    """Numbers of one shape one after the other, along a new last axis."""
    return Node("listed", *parts, over=over)


def part_of(x: Node, over: str, start: int, stop: int) -> Node:
    """The places from `start` up to, not including, `stop` along an axis."""
    whole = start == 0 and stop == find(x.axes, over).size
    return x if whole else Node("slice", x, over=over, start=start, stop=stop)


def labels_of_parts(
    nodes: Iterable[Node], words: Mapping[str, tuple[str, ...]]
) -> dict[Node, dict[str, tuple[str, ...]]]:
    """The labels of parts of an axis, of nodes in order: the words of their places, or `m=2` where it has none."""
    found: dict[Node, dict[str, tuple[str, ...]]] = {}
    for node, starts in _starts(nodes).items():
        found[node] = {}
        for axis in node.axes:
            if (start := starts.get(axis.name)) is not None:
                said = words.get(axis.name, ())[start : start + axis.size]
                numbers = tuple(f"{axis.name}={start + i}" for i in range(axis.size)) if start else ()
                found[node][axis.name] = said if len(said) == axis.size else numbers
    return found


def _starts(nodes: Iterable[Node]) -> dict[Node, dict[str, int]]:
    """Where the parts of an axis begin, in what is made from them too; an axis that gets another name begins anew."""
    found: dict[Node, dict[str, int]] = {}
    for node in nodes:
        if node.op != "slice" and found.keys().isdisjoint(node.sources):
            continue
        told = {
            (axis.name, found[source][axis.name])
            for source in node.sources
            for axis in source.axes
            if axis in node.axes and axis.name in found.get(source, {})
        }
        found[node] = {name: at for name, at in told if sum(name == other for other, _ in told) == 1}
        if node.op == "slice":
            before = found.get(node.sources[0], {}).get(node.args["over"], 0)
            found[node][node.args["over"]] = before + node.args["start"]
    return found


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


def _slice_cell(node: Node, at: At, look: Look) -> Cell:
    over = node.args["over"]
    return Pick(0, {**at, over: at[over] + node.args["start"]})


def _slice_vjp(g: Node, y: Node, node: Node, x: Node) -> list[Node]:
    over, start, stop = node.args["over"], node.args["start"], node.args["stop"]
    parts = [_zeros(g, over, start), g, _zeros(g, over, find(x.axes, over).size - stop)]
    return [concat([part for part in parts if part is not None], over)]


def _zeros(x: Node, over: str, size: int) -> Node | None:
    """Zeros of the shape of x, but for the size of one axis."""
    axes = tuple(axis._replace(size=size) if axis.name == over else axis for axis in x.axes)
    return spread(as_node(0), axes) if size else None


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
    front = np.broadcast_shapes(*(part.shape[: part.ndim - named] for part in parts))
    laid = [np.broadcast_to(part, (*front, *part.shape[part.ndim - named :])) for part in parts]
    return np.concatenate(laid, axis=position(node.axes, node.args["over"]))


def side_by_side(node: Node, *parts: str) -> str:
    """`[a; b]`, as a primitive is written that lays its sources side by side; of many the first and the last."""
    return f"[{'; '.join(_few(parts, '…'))}]"


def side_by_side_latex(node: Node, *parts: str) -> str:
    """The same in LaTeX."""
    inside = "; ".join(_few(parts, r"\ldots"))
    return rf"\left[{inside}\right]"


def _few(parts: tuple[str, ...], gap: str) -> tuple[str, ...]:
    return parts if len(parts) <= 4 else (parts[0], gap, parts[-1])


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


def _list_vjp(g: Node, y: Node, node: Node, *parts: Node) -> list[Node]:
    return [Node("take", g, over=node.args["over"], at=i) for i in range(len(parts))]


def _list_cell(node: Node, at: At, look: Look) -> Cell:
    return Pick(at[node.args["over"]], {name: i for name, i in at.items() if name != node.args["over"]})


OPS |= {
    "slice": Op(
        _slice,
        _sliced,
        _slice_text,
        _slice_latex,
        _slice_cell,
        takes=(0,),
        vjp=_slice_vjp,
        because="only the places that were taken get the gradient",
        mixes=lambda node: (node.args["over"],),
        flops=0,
        view=True,
    ),
    "concat": Op(
        _concat,
        _joined,
        side_by_side,
        side_by_side_latex,
        _concat_cell,
        vjp=_concat_vjp,
        because="each part gets its own places of the gradient",
        about="The parts stand one after the other, as they are: nothing is added up.",
        mixes=lambda node: (node.args["over"],),
        flops=0,
        joins=True,
    ),
    "listed": Op(
        lambda node, *parts: np.stack(np.broadcast_arrays(*parts), axis=-1),
        _listed,
        side_by_side,
        side_by_side_latex,
        _list_cell,
        vjp=_list_vjp,
        because="each part gets its own place of the gradient",
        mixes=lambda node: (node.args["over"],),
        flops=0,
        joins=True,
    ),
}
