"""Primitives that move entries without changing them: splitting into heads, merging, repeating, renaming, positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attncalc.axes import Axes, Axis, align, composite, find, names, position, unique, without
from attncalc.cells import At, Cell, Form, Look, Pick, moved
from attncalc.errors import ShapeError
from attncalc.graph import OPS, Node, Op, as_node
from attncalc.notation import latex_axis
from attncalc.ops.kernels import Array


def _renamed(args: dict[str, Any], x: Axes) -> Axes:
    find(x, args["old"])
    return unique(tuple(axis._replace(name=args["new"]) if axis.name == args["old"] else axis for axis in x))


def _rename_cell(node: Node, at: At, look: Look) -> Cell:
    old, new = node.args["old"], node.args["new"]
    return Pick(0, {old if name == new else name: i for name, i in at.items() if name in node.names})


def _split_axes(args: dict[str, Any], x: Axes) -> Axes:
    if len(x) < 2 or len(x[-1].parts) != 2:
        raise ShapeError(
            f"only a last axis that is made of two parts can be split, not {x[-1].name if x else 'a number'}"
        )
    heads, width = x[-1].parts
    return unique((*x[:-2], heads, x[-2], width))


def _split(node: Node, x: Array) -> Array:
    heads, width = node.sources[0].axes[-1].parts
    return np.moveaxis(x.reshape(*x.shape[:-1], heads.size, width.size), -2, -3)


def _split_cell(node: Node, at: At, look: Look) -> Cell:
    whole = node.sources[0].axes[-1]
    heads, width = whole.parts
    rest = {name: i for name, i in at.items() if name not in (heads.name, width.name)}
    return Pick(0, {**rest, whole.name: at[heads.name] * width.size + at[width.name]})


def _merge_axes(args: dict[str, Any], x: Axes) -> Axes:
    if len(x) < 3:
        raise ShapeError("merging heads needs the axes heads, rows and columns")
    return (*x[:-3], x[-2], composite(x[-3], x[-1]))


def _merge(node: Node, x: Array) -> Array:
    moved_back = np.moveaxis(x, -3, -2)
    return moved_back.reshape(*moved_back.shape[:-2], -1)


def _merge_cell(node: Node, at: At, look: Look) -> Cell:
    whole = node.axes[-1]
    heads, width = whole.parts
    head, column = divmod(at[whole.name], width.size)
    return Pick(0, {name: i for name, i in at.items() if name != whole.name} | {heads.name: head, width.name: column})


def _repeated(args: dict[str, Any], x: Axes) -> Axes:
    old = find(x, args["old"])
    new = Axis(args["new"], old.size * args["times"])
    return unique(tuple(new if axis == old else axis for axis in x))


def _repeat_cell(node: Node, at: At, look: Look) -> Cell:
    rest = {name: i for name, i in at.items() if name != node.args["new"]}
    return Pick(0, {**rest, node.args["old"]: at[node.args["new"]] // node.args["times"]})


def _gathered(args: dict[str, Any], x: Axes) -> Axes:
    old = find(x, args["old"])
    if old.size % args["times"]:
        raise ShapeError(f"{old.name}={old.size} cannot be shared out to groups of {args['times']}")
    new = Axis(args["new"], old.size // args["times"])
    return unique(tuple(new if axis == old else axis for axis in x))


def _gather(node: Node, x: Array) -> Array:
    at = position(node.sources[0].axes, node.args["old"]) + x.ndim
    times = node.args["times"]
    return np.asarray(x.reshape(*x.shape[:at], x.shape[at] // times, times, *x.shape[at + 1 :]).sum(axis=at + 1))


def _gather_cell(node: Node, at: At, look: Look) -> Cell:
    old, new, times = (node.args[word] for word in ("old", "new", "times"))
    rest = {name: i for name, i in at.items() if name != new}
    return Form("+", tuple(Pick(0, {**rest, old: at[new] * times + i}) for i in range(times)))


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


def _concat_text(node: Node, *parts: str) -> str:
    shown = parts if len(parts) <= 4 else (parts[0], "…", parts[-1])
    return f"[{'; '.join(shown)}]"


def _concat_latex(node: Node, *parts: str) -> str:
    shown = parts if len(parts) <= 4 else (parts[0], r"\ldots", parts[-1])
    return rf"\left[{'; '.join(shown)}\right]"


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


def _spread_axes(args: dict[str, Any], x: Axes) -> Axes:
    for axis in x:
        if axis not in args["to"]:
            raise ShapeError(f"{axis.name}={axis.size} is not among the axes to spread over")
    return tuple(args["to"])


def _spread(node: Node, x: Array) -> Array:
    target = node.axes
    laid = align(x, node.sources[0].axes, target)
    extra = laid.shape[: laid.ndim - len(target)] if laid.ndim > len(target) else ()
    return np.broadcast_to(laid, (*extra, *(axis.size for axis in target)))


def _spread_text(node: Node, x: str) -> str:
    new = [name for name in node.names if name not in node.sources[0].names]
    return f"{x} for every {', '.join(new)}" if new else x


def _words(template: str, latex: str, **more: Any) -> dict[str, Any]:
    return {"text": template, "latex": latex, "binds": 4, "takes": (3,), **more}


OPS |= {
    "rename": Op(
        lambda node, x: x,
        _renamed,
        "{0}",
        "{0}",
        _rename_cell,
        vjp=lambda g, y, node, x: [rename(g, node.args["new"], node.args["old"])],
        takes=(9,),
    ),
    "split": Op(
        _split,
        _split_axes,
        cell=_split_cell,
        vjp=lambda g, y, node, x: [merge(g)],
        because="the heads' gradients are laid side by side again",
        about="Each row is cut into as many blocks as there are heads: head 0 takes the first columns, head 1 the "
        "next. No entry leaves its row; reading the table as [h, n, d_k] at once would hand one token's numbers to "
        "another.",
        **_words("{0} split into heads", r"\operatorname{{split}}({0})"),
    ),
    "merge": Op(
        _merge,
        _merge_axes,
        cell=_merge_cell,
        vjp=lambda g, y, node, x: [split(g)],
        because="each head takes its own columns of the gradient",
        about="A row is head 0's row, then head 1's, and so on: the blocks stand side by side in the order in which "
        "they were cut, and nothing is added up or averaged.",
        **_words("{0} side by side", r"\operatorname{{concat}}({0})"),
    ),
    "repeat": Op(
        lambda node, x: np.repeat(x, node.args["times"], axis=position(node.sources[0].axes, node.args["old"])),
        _repeated,
        cell=_repeat_cell,
        vjp=lambda g, y, node, x: [Node("gather", g, **node.args | {"old": node.args["new"], "new": node.args["old"]})],
        because="what is shared by several heads gets the sum of their gradients",
        about="Neighbouring query heads share a key head: of 8 query heads and 2 key heads, heads 0 to 3 read key "
        "head 0, heads 4 to 7 key head 1 (grouped-query attention).",
        **_words("{0} shared by {a[times]} heads each", r"\operatorname{{repeat}}_{{{a[times]}}}({0})"),
    ),
    "gather": Op(
        _gather,
        _gathered,
        cell=_gather_cell,
        vjp=lambda g, y, node, x: [repeat(g, node.args["new"], node.args["old"], node.args["times"])],
        because="every head of a group gets the group's gradient",
        mixes=lambda node: (node.args["old"],),
        **_words("{0} summed by groups of {a[times]}", r"\operatorname{{groupsum}}_{{{a[times]}}}({0})"),
    ),
    "slice": Op(
        _slice,
        _sliced,
        _slice_text,
        _slice_latex,
        _slice_cell,
        takes=(0,),
        vjp=_slice_vjp,
        because="only the places that were taken are felt",
        mixes=lambda node: (node.args["over"],),
    ),
    "concat": Op(
        _concat,
        _joined,
        _concat_text,
        _concat_latex,
        _concat_cell,
        vjp=_concat_vjp,
        because="each part gets its own places of the gradient",
        about="The parts stand one after the other, as they are: nothing is added up.",
        mixes=lambda node: (node.args["over"],),
    ),
    "listed": Op(
        lambda node, *parts: np.stack(np.broadcast_arrays(*parts), axis=-1),
        _listed,
        _concat_text,
        _concat_latex,
        _list_cell,
        vjp=_list_vjp,
        because="each part gets its own place of the gradient",
        mixes=lambda node: (node.args["over"],),
    ),
    "spread": Op(
        _spread,
        _spread_axes,
        _spread_text,
        "{0}",
        moved,
        binds=4,
        takes=(3,),
        vjp=lambda g, y, node, x: [g],
        because="what was handed to all gets the sum of their gradients",
    ),
}


def rename(x: Node, old: str, new: str) -> Node:
    """The same values with an axis under another name: a query's tokens read as keys. Invisible in formulas."""
    return Node("rename", x, old=old, new=new)


def split(x: Node) -> Node:
    """Heads out of columns: [n, (h d)] → [h, n, d]; a head takes neighbouring columns."""
    return Node("split", x)


def merge(x: Node) -> Node:
    """Heads into columns, side by side: [h, n, d] → [n, (h d)]."""
    return Node("merge", x)


def repeat(x: Node, old: str, new: str, times: int) -> Node:
    """Each entry of an axis `times` times in a row: key heads that consecutive query heads share."""
    return Node("repeat", x, old=old, new=new, times=times)


def part_of(x: Node, over: str, start: int, stop: int) -> Node:
    """The places from `start` up to, not including, `stop` along an axis."""
    whole = start == 0 and stop == find(x.axes, over).size
    return x if whole else Node("slice", x, over=over, start=start, stop=stop)


def concat(parts: Sequence[Node], over: str) -> Node:
    """The parts one after the other along an axis."""
    return parts[0] if len(parts) == 1 else Node("concat", *parts, over=over)


def listed(parts: Sequence[Node], over: str) -> Node:
    """Numbers of one shape one after the other, along a new last axis."""
    return Node("listed", *parts, over=over)


def spread(x: Node, axes: Axes) -> Node:
    """The same value for every place of the axes that x lacks."""
    return x if x.names == names(axes) else Node("spread", x, to=axes)


def index(name: str, within: Axes, symbol: str) -> Node:
    """Each place's position (from 0) along an axis: `index("m", scores.axes, "j")` is each key's."""
    return Node("index", axes=within, along=find(within, name), symbol=symbol)
