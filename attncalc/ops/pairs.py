"""Primitives on pairs of entries: every other entry, two rows woven into one, pairs turned by an angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncalc.arrays import Array
from attncalc.axes import Axes, Axis, align
from attncalc.cells import At, Cell, Form, Look, Pick, pick
from attncalc.errors import ShapeError
from attncalc.graph import OPS, Node, Op, as_node
from attncalc.ops.functions import concat, rename, spread
from attncalc.ops.parts import part_of

INTERLEAVED, HALF = "interleaved", "half"
"""Where a pair's members stand: side by side (2i, 2i + 1), or half the width apart (i, i + d/2)."""


def _halved(args: dict[str, Any], x: Axes) -> Axes:
    if not x or x[-1].size % 2:
        raise ShapeError(f"pairs need an even number of entries, but {x[-1].name if x else 'a number'} has none such")
    return (*x[:-1], Axis(args["pair"], x[-1].size // 2))


def _every_other_text(node: Node, x: str) -> str:
    return f"{x}[{node.sources[0].names[-1]}={node.args['first']}, {node.args['first'] + 2}, …]"


def _every_other_latex(node: Node, x: str) -> str:
    first = node.args["first"]
    return rf"{{{x}}}_{{{node.sources[0].names[-1]}={first}, {first + 2}, \ldots}}"


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


def _interleave_vjp(g: Node, y: Node, node: Node, a: Node, b: Node) -> list[Node]:
    return [every_other(g, first, a.names[-1]) for first in (0, 1)]


def _rotated(args: dict[str, Any], x: Axes, cosines: Axes, sines: Axes) -> Axes:
    if cosines != sines or not x or not cosines or x[-1].size != 2 * cosines[-1].size:
        raise ShapeError("every pair of entries is turned by an angle of its own, so there are half as many angles")
    for axis in cosines[:-1]:
        if axis not in x[:-1]:
            raise ShapeError(f"the angles differ along {axis.name}={axis.size}, which is no axis of what they turn")
    return x


def _members(layout: str, size: int) -> tuple[slice, slice]:
    """Where the first and the second members of the pairs stand."""
    if layout == HALF:
        return slice(None, size // 2), slice(size // 2, None)
    return slice(0, None, 2), slice(1, None, 2)


def _rotate(node: Node, x: Array, cosines: Array, sines: Array) -> Array:
    axes, angles = node.axes, node.sources[1].axes
    target = (*axes[:-1], angles[-1])
    cosines, sines = align(cosines, angles, target), align(sines, angles, target)
    first, second = _members(node.args["layout"], axes[-1].size)
    turned = (x[..., first] * cosines - x[..., second] * sines, x[..., second] * cosines + x[..., first] * sines)
    result = np.empty((*turned[0].shape[:-1], axes[-1].size), turned[0].dtype)
    result[..., first], result[..., second] = turned
    return result


def _pair_of(node: Node, place: int) -> tuple[int, int]:
    """Which pair an entry belongs to, and whether it is its first or second member."""
    if node.args["layout"] == HALF:
        member, pair = divmod(place, node.axes[-1].size // 2)
        return pair, member
    return divmod(place, 2)


def _rotate_text(node: Node, x: str, cosines: str, sines: str) -> str:
    halves = "; halves" if node.args["layout"] == HALF else ""
    return f"rotate({x}; {cosines}, {sines}{halves})"


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


def _rotate_body(node: Node, x: Node, cosines: Node, sines: Node) -> Node:
    a, b = take_apart(x, node.args["layout"], cosines.names[-1])
    return put_together(a * cosines - b * sines, b * cosines + a * sines, node.args["layout"], x.names[-1])


def _last(node: Node) -> tuple[str, ...]:
    return node.sources[0].names[-1], node.names[-1]


OPS |= {
    "every_other": Op(
        lambda node, x: x[..., node.args["first"] :: 2],
        _halved,
        _every_other_text,
        _every_other_latex,
        _every_other_cell,
        takes=(0,),
        vjp=_every_other_vjp,
        because="the entries that were skipped get no gradient",
        mixes=_last,
        flops=0,
        view=True,
    ),
    "interleave": Op(
        _interleave,
        _doubled,
        "{0} and {1} in turn",
        r"\operatorname{{interleave}}({0}, {1})",
        _interleave_cell,
        binds=4,
        takes=(3, 3),
        vjp=_interleave_vjp,
        because="each row gets every other entry of the gradient",
        mixes=_last,
        flops=0,
    ),
    "rotate": Op(
        _rotate,
        _rotated,
        _rotate_text,
        _rotate_latex,
        _rotate_cell,
        vjp=_rotate_vjp,
        because=lambda node, source: (
            "a rotation is undone by rotating back, so the gradient is rotated by the opposite angle"
            if source == 0
            else "cosine and sine affect both members of their pair"
        ),
        body=_rotate_body,
        about="The pair (a, b) rotates by its angle to (a·cos − b·sin, a·sin + b·cos): a quarter turn takes (1, 0) to "
        "(0, 1). Lengths do not change; angles are in radians.",
        mixes=lambda node: (node.names[-1], node.sources[1].names[-1]),
        flops=3,  # two products and a sum
    ),
}


def every_other(x: Node, first: int, pair: str) -> Node:
    """Every second entry along the last axis, from the first (0) or the second (1) on; `pair` names what is left."""
    return Node("every_other", x, first=first, pair=pair)


def interleave(a: Node, b: Node, whole: str) -> Node:
    """The entries of two rows in turn, a's first; `whole` names the axis that they make."""
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
    """Every pair (a, b) along the last axis turned by its angle: (a·cos − b·sin, a·sin + b·cos)."""
    return Node("rotate", x, cosines, sines, layout=layout)
