"""Primitives of convolution: the windows that slide over an input, and their gradient, which adds them up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attncalc.common.errors import ShapeError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.language.axes import Axes, Axis, names, unique, without
from attncalc.language.graph import Node
from attncalc.language.kernels import zeros
from attncalc.language.ops.basics import moving, source_axes
from attncalc.language.primitive import OPS, At, Cell, Form, Literal, Look, Op, Pick


class Slide(NamedTuple):
    """How windows slide along one axis, replaced by the axes `to` (which window) and `inside` (where in it)."""

    along: Axis
    to: str
    inside: str
    size: int  # of a window
    stride: int
    padding: int
    dilation: int

    @property
    def windows(self) -> int:
        """How many windows there are."""
        return (self.along.size + 2 * self.padding - self.dilation * (self.size - 1) - 1) // self.stride + 1

    def place(self, window: int, inside: int) -> int:
        """The place in the input of a place in a window; it may lie in the padding."""
        return window * self.stride + inside * self.dilation - self.padding


def _opened(args: dict[str, Any], x: Axes) -> Axes:
    slides: Sequence[Slide] = args["slides"]
    for slide in slides:
        if slide.windows < 1:
            reach = slide.dilation * (slide.size - 1) + 1
            raise ShapeError(
                f"a window of {reach} does not fit in {slide.along.name}={slide.along.size} with {slide.padding} "
                f"places of padding on each side"
            )
    rest = without(x, *(slide.along.name for slide in slides))
    return unique((*rest, *_window_axes(slides)))


def _window_axes(slides: Sequence[Slide]) -> Axes:
    windows = (Axis(slide.to, slide.windows) for slide in slides)
    return (*windows, *(Axis(slide.inside, slide.size) for slide in slides))


def _closed(args: dict[str, Any], x: Axes) -> Axes:
    slides: Sequence[Slide] = args["slides"]
    if x[-2 * len(slides) :] != _window_axes(slides):
        raise ShapeError("these are not the windows of that input")
    rest = without(x, *names(_window_axes(slides)))
    return unique((*rest, *(slide.along for slide in slides)))


def _places(slides: Sequence[Slide]) -> tuple[tuple[Array, ...], Array]:
    """The index, for each axis, into the padded input of each place of each window; and a mask of those not padding."""
    several = len(slides)
    found, real = [], np.asarray(True)
    for i, slide in enumerate(slides):
        windows = np.arange(slide.windows).reshape([-1 if j == i else 1 for j in range(2 * several)])
        inside = np.arange(slide.size).reshape([-1 if j == several + i else 1 for j in range(2 * several)])
        place = windows * slide.stride + inside * slide.dilation - slide.padding
        here = (place >= 0) & (place < slide.along.size)
        found.append(np.where(here, place, 0))
        real = real & here
    return tuple(found), real


def _windows(node: Node, x: Array) -> Array:
    places, real = _places(node.args["slides"])
    where: Any = (..., *places)
    entries = x[where]
    return entries if real.all() else np.where(real, entries, zeros((), x))


def _fold(node: Node, x: Array) -> Array:
    slides = node.args["slides"]
    places, real = _places(slides)
    front = x.shape[: x.ndim - 2 * len(slides)]
    result = zeros((*front, *(slide.along.size for slide in slides)), x)
    where: Any = (..., *places)
    np.add.at(result, where, np.where(real, x, zeros((), x)))
    return result


def _windows_cell(node: Node, at: At, look: Look) -> Cell:
    slides: Sequence[Slide] = node.args["slides"]
    rest = {name: at[name] for name in node.sources[0].names if name in at}
    places = {slide.along.name: slide.place(at[slide.to], at[slide.inside]) for slide in slides}
    padded = any(not 0 <= places[slide.along.name] < slide.along.size for slide in slides)
    return Literal(0) if padded else Pick(0, {**rest, **places})


def _fold_cell(node: Node, at: At, look: Look) -> Cell:
    rest = {name: place for name, place in at.items() if name in node.sources[0].names}
    covering = [Pick(0, {**rest, **place}) for place in _covering(node.args["slides"], at)]
    return Form("+", tuple(covering)) if covering else Literal(0)


def _covering(slides: Sequence[Slide], at: At) -> Iterator[dict[str, int]]:
    """The places in windows that cover a place of the input."""
    if not slides:
        yield {}
        return
    slide, *others = slides
    for window in range(slide.windows):
        for inside in range(slide.size):
            if slide.place(window, inside) == at[slide.along.name]:
                for rest in _covering(others, at):
                    yield {slide.to: window, slide.inside: inside, **rest}


def _mixes(node: Node) -> tuple[str, ...]:
    return tuple(name for slide in node.args["slides"] for name in (slide.along.name, slide.to, slide.inside))


OPS |= {
    "windows": moving(
        _windows,
        _opened,
        "windows({0})",
        r"\operatorname{{windows}}({0})",
        _windows_cell,
        vjp=lambda g, y, node, x: [Node("fold", g, slides=node.args["slides"])],
        because="an entry gets the sum of the gradients of all windows that contain it",
        mixes=_mixes,
    ),
    "fold": Op(
        _fold,
        _closed,
        "fold({0})",
        r"\operatorname{{fold}}({0})",
        _fold_cell,
        vjp=lambda g, y, node, x: [Node("windows", g, slides=node.args["slides"])],
        because="every window gets the gradient of the places that it was added to",
        mixes=_mixes,
        places=source_axes,
        terms=_fold,
    ),
}


def windows(x: Node, slides: Sequence[Slide]) -> Node:
    """All windows that slide over the last axes: [.., h, w] → [.., h′, w′, k_h, k_w]; padding is zeros."""
    assert names(x.axes[-len(slides) :]) == tuple(slide.along.name for slide in slides), "windows slide over last axes"
    return Node("windows", x, slides=tuple(slides))
