"""What sequence models used before attention: convolution over neighbours, recurrence over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np

from attncalc.common.errors import OptionError, ShapeError, amount
from attncalc.declare.calculation import at_most, calculation, same
from attncalc.declare.operands import AT_LEAST_1, FROM_0_ON
from attncalc.language.axes import Axes, Axis, describe
from attncalc.language.graph import Node, constants, group, label, note, output, step
from attncalc.language.ops import (
    Slide,
    affine,
    concat,
    merge,
    part_of,
    rename,
    reread,
    sigmoid,
    spread,
    stack,
    take,
    tanh,
    total,
    windows,
)

GATES = {"tanh": "", "gru": "rzn", "lstm": "ifgo"}
"""The gates of each kind, in PyTorch's order: the columns of W_x and W_h hold them side by side."""
ROW, CLASS = "the learned vector as a row of its own", "a token in front, which gathers what is asked of all"


@calculation(
    x="l | h w | c h w",
    kernel="k | kh kw | c kh kw | o c kh kw",
    laws={
        "c times the input gives c times the output": lambda f, x, kernel, c: same(
            f(c * x, kernel), c * f(x, kernel).result
        ),
        "shifting the input shifts the output": lambda f, x, kernel: same(
            f(np.insert(x, 0, 0, axis=-1), kernel).result[..., 1:], f(x, kernel)
        ),
    },
    reference="Goodfellow, Bengio and Courville 2016, Deep Learning, eq. 9.6; depthwise: Howard et al. 2017, "
    "MobileNets, eq. 3; as torch.nn.functional.conv2d",
)
def conv(
    X: Annotated[Node, "a row, an image, or an image with channels in front"],
    K: Annotated[Node, "the kernel: with as many channels as the input, if any; several kernels along a leading axis"],
    *,
    stride: Annotated[
        tuple[int, ...], "how far the window moves each time; one number, or one for each axis", AT_LEAST_1
    ] = (1,),
    padding: Annotated[tuple[int, ...], "how many zeros are added on each side", FROM_0_ON] = (0,),
    dilation: Annotated[tuple[int, ...], "how far apart the entries of the window are", AT_LEAST_1] = (1,),
    depthwise: Annotated[bool, "each channel has a kernel of its own, and channels are not summed"] = False,
) -> Node:
    """Slide a small kernel over an input and measure, at every position, how well the two match.

    Σ window ⊙ kernel at every position. This is cross-correlation, as in deep learning: the kernel is not flipped, as
    it would be in a mathematical convolution. Channels are summed if the kernel has them, unless it is depthwise; a
    kernel without channels is applied to each channel by itself. The result has
    ⌊(l + 2·padding − dilation·(k − 1) − 1)/stride⌋ + 1 positions.
    """
    picture = "h" in X.names[-2:]
    along = X.axes[-2:] if picture else X.axes[-1:]
    inside = K.axes[-2:] if K.names[-1] == "kw" else K.axes[-1:]
    if len(along) != len(inside) or ("c" in K.names and "c" not in X.names):
        raise ShapeError(
            f"x is {' × '.join(X.names)}, but the kernel is {' × '.join(K.names)}",
            hint="a row takes a kernel [k], an image [kh, kw], an image with channels [c, kh, kw] or [o, c, kh, kw]",
        )
    if depthwise and ("o" in K.names or "c" not in K.names):
        raise ShapeError(f"--depthwise needs a kernel [c, kh, kw], and it is {' × '.join(K.names)}")
    slides = _slides(along, inside, stride, padding, dilation)
    seen = step(
        "windows",
        windows(X, slides),
        "the part of the input under the kernel at each position" + ", with zeros beyond the edges" * any(padding),
    )
    if "o" in K.names:
        seen = spread(seen, (*(a for a in X.axes if a not in (*along, *K.axes)), K.axes[-4], *_reordered(seen, K)))
    products = step(
        "products",
        seen * K,
        "entries of the kernel's sign count towards a match, those of the opposite sign against it",
    )
    result = products
    for name in [name for name in K.names[::-1] if name != "o" and not (depthwise and name == "c")]:
        result = total(result, name)
    return step("output", result, "one number for each position; the same kernel is used everywhere")


@calculation(
    x="c h w | n k",
    w="o c kh kw",
    b="o",
    cls="o",
    positions="n o",
    laws={
        "each patch is embedded by itself": lambda f, x, w: same(
            f(2 * x, w) if x.shape[1:] >= w.shape[2:] else 0, 2 * f(x, w).result if x.shape[1:] >= w.shape[2:] else 0
        ),
    },
    reference="Dosovitskiy et al. 2021, An Image is Worth 16x16 Words, eq. 1; as a torch.nn.Conv2d whose stride is its "
    "kernel's size",
)
def patch_embed(
    X: Annotated[Node, "the image, channels in front; or its patches, each a row: channel by channel, row by row"],
    W: Annotated[Node, "the weights, a kernel of a patch's size for each feature"],
    b: Annotated[Node | None, "the bias"] = None,
    cls: Annotated[Node | None, "a learned token that is put in front"] = None,
    positions: Annotated[Node | None, "a learned vector for each token, the one in front included"] = None,
) -> Node:
    """Cut an image into patches, and make each of them a token.

    Patches do not overlap; they are read row by row. Each is multiplied with all of W: a linear layer of the flattened
    patch, [c·kh·kw] to [o]. Then the class token comes in front, and positions are added.
    """
    rows = X if X.names[-1] == "k" else _patches(X, W)
    if rows.axes[-1].size != math.prod(axis.size for axis in W.axes[-3:]):
        there = f"the patches are {describe(rows.axes)}, and a kernel is {describe(W.axes[-3:])}"
        raise ShapeError(f"{there}: both must have as many entries")
    why = "each kernel as a row too, in the same order: one product serves them all"
    kernels = step("kernels", reread(W, (*W.axes[:-3], rows.axes[-1])), why)
    embedded = step("embedded", affine(rows, kernels.T, b), "every patch is a token, one a row")
    if cls is not None:
        row = spread(cls, (*embedded.axes[:-2], Axis("n", 1), cls.axes[-1]))
        embedded = step("with_class", concat([step("class_row", row, ROW), embedded], "n"), CLASS)
    if positions is not None:
        return step("output", embedded + positions, "attention sees no order: each place adds a vector of its own")
    return step("output", embedded, "no positions were given, so the tokens stay as they are")


def _patches(X: Node, W: Node) -> Node:
    """An image as patches of the kernels' size, each a row: channel by channel, row by row."""
    c, kh, kw = W.axes[-3:]
    for side, patch in zip(X.axes[-2:], (kh, kw), strict=True):
        if side.size % patch.size:
            raise ShapeError(f"an image {describe(X.axes)} is not made of whole patches of {kh.size} × {kw.size}")
    if X.axes[-3] != c:
        raise ShapeError(f"an image {describe(X.axes)} has other channels than the kernels, {describe(W.axes[-3:])}")
    slides = _slides(X.axes[-2:], (kh, kw), (kh.size, kw.size), (0,), (1,))
    patches = step("patches", windows(X, slides), "the image in pieces, which do not overlap")
    down, across = (axis for axis in patches.axes if axis.name.endswith("_out"))
    n, entries = Axis("n", down.size * across.size), Axis("e", kh.size * kw.size)
    why = "the patches row by row, and so the entries of each"
    read = step("read", reread(patches, (*X.axes[:-2], n, entries)), why)
    return step("rows", merge(read), "the channels of a patch one behind the other, so that it is one row")


def _reordered(seen: Node, K: Node) -> Axes:
    """The windows' axes, places first and then those of a kernel."""
    return (*(a for a in seen.axes if a.name.endswith("_out")), *K.axes[-3:])


def _slides(
    along: Axes, inside: Axes, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> list[Slide]:
    """How the window moves along each axis."""
    count = len(along)
    moves = zip(
        *(_each(*option, count) for option in (("stride", stride), ("padding", padding), ("dilation", dilation))),
        strict=True,
    )
    return [
        Slide(axis, f"{axis.name}_out", window.name, window.size, *move)
        for axis, window, move in zip(along, inside, moves, strict=True)
    ]


def _each(name: str, values: Sequence[int], count: int) -> Sequence[int]:
    """One number for each axis, from one for all of them."""
    if len(values) not in (1, count):
        raise OptionError(f"--{name} takes one number or {count}, but {len(values)} were given")
    return values if len(values) == count else list(values) * count


@calculation(
    x="n d",
    wx="d gates",
    wh="h gates",
    b="gates",
    h0="h",
    c0="h",
    laws={
        "if W_h is 0 nothing is remembered: only the last input counts": lambda f, x, wx: same(
            f(x, wx, np.zeros(2 * wx.shape[1:])), f(x[-1:], wx, np.zeros(2 * wx.shape[1:]))
        ),
        "reading in two parts, passing the state on, gives the same": lambda f, x, wx, wh: same(
            f(x[1:], wx, wh, h0=f(x[:1], wx, wh).result), f(x, wx, wh)
        ),
        "a state does not depend on later inputs": lambda f, x, wx, wh: same(
            f(x[:-1], wx, wh)["states"], f(x, wx, wh)["states"][:-1]
        ),
        "the state stays between −1 and 1": lambda f, x, wx, wh: at_most(np.abs(f(x, wx, wh)["states"]), 1),
    },
    pictures=("states",),
    reference="Elman 1990; Cho et al. 2014 (GRU); Hochreiter and Schmidhuber 1997 (LSTM); as torch.nn.RNN, GRU, LSTM",
)
def rnn(
    X: Annotated[Node, "the inputs, one time step a row"],
    W_x: Annotated[Node, "the input's weights, the gates' columns side by side (PyTorch's weight_ih, transposed)"],
    W_h: Annotated[Node, "the previous state's weights (PyTorch's weight_hh, transposed)"],
    b: Annotated[Node | None, "the bias"] = None,
    h_0: Annotated[Node | None, "the state before the first step; 0 if not given"] = None,
    c_0: Annotated[Node | None, "lstm: the cell before the first step; 0 if not given"] = None,
    *,
    kind: Annotated[Literal["tanh", "gru", "lstm"], "the kind of cell"] = "tanh",
) -> tuple[Node, ...]:
    """Read a sequence one step at a time, with a state that remembers.

    tanh: h′ = tanh(x·W_x + h·W_h + b). lstm: gates i, f, g, o; c′ = f ⊙ c + i ⊙ g, h′ = o ⊙ tanh(c′). gru: gates r, z,
    n, where n = tanh(x·W_xn + b_n + r ⊙ (h·W_hn)); h′ = (1 − z) ⊙ n + z ⊙ h. The gates are in PyTorch's order.
    PyTorch has two biases, which matters only for the n of a gru: here b is its bias_ih, and bias_hh is 0.
    """
    width, gates = W_h.axes[-2:]
    wanted = max(len(GATES[kind]), 1) * width.size
    if gates.size != wanted:
        parts = f"{len(GATES[kind])}·h = {wanted}" if GATES[kind] else f"h = {wanted}"
        raise ShapeError(
            f"wh has {amount(gates.size, 'column')}, and a {kind} network with h={width.size} needs {parts}"
        )
    if c_0 is not None and kind != "lstm":
        raise OptionError(f"c0 goes with --kind lstm, but the kind is {kind}")
    if kind == "gru" and b is not None:
        note("b is PyTorch's bias_ih: the h·W_hn that the reset gate holds back has no bias of its own")
    nothing = [constants((0,) * width.size, width, name) for name in ("h_0", "c_0")]
    hidden, cell = (given or zeros for given, zeros in zip((h_0, c_0), nothing, strict=True))
    label("gate", tuple(GATES[kind]))
    states = []
    for t in range(X.axes[-2].size):
        with group(f"time step {t + 1}"):
            hidden, cell = _next(kind, take(X, "n", t), hidden, cell, W_x, W_h, b)
        states.append(hidden)
    whole = output("states", stack(states, "n"), "the state after every step")
    last = output("hidden", hidden, "the state after the last step")
    return (last, whole, output("cell", cell, "the cell after the last step")) if kind == "lstm" else (last, whole)


def _next(kind: str, x: Node, hidden: Node, cell: Node, W_x: Node, W_h: Node, b: Node | None) -> tuple[Node, Node]:
    """The state, and the cell, after one more step."""
    from_input, from_state = affine(x, W_x, b), hidden @ W_h
    if kind == "tanh":
        sums = rename(from_input + from_state, "gates", "h")
        return step(
            "hidden", tanh(sums), "the new input and the previous state together, squeezed to between −1 and 1"
        ), cell
    if kind == "lstm":
        sums = step(
            "sums", from_input + from_state, "the new input and the previous state together, for all four gates"
        )
        parts = zip(gate_parts(sums, 4), GATES[kind], strict=True)
        i, f, g, o = (tanh(part) if gate == "g" else sigmoid(part) for part, gate in parts)
        gates = step(
            "gates",
            stack([i, f, g, o], "gate"),
            "i (input) and f (forget) say what to add and what to keep, o (output) what to show; g is the new content",
        )
        i, f, g, o = (output(gate, take(gates, "gate", place)) for place, gate in enumerate(GATES[kind]))
        cell = step(
            "cell",
            f * cell + i * g,
            "keep what f lets stay, add what i lets in; a sum, so the gradient passes as far as f is open",
        )
        return step("hidden", o * tanh(cell), "as much of the cell as o lets out"), cell
    a = step("from_input", from_input, "what the new input contributes")
    u = step(
        "from_state", from_state, "what the previous state contributes; kept apart, since r holds back a part of it"
    )
    (a_r, a_z, a_n), (u_r, u_z, u_n) = gate_parts(a, 3), gate_parts(u, 3)
    r = sigmoid(a_r + u_r)
    gates = step(
        "gates",
        stack([r, sigmoid(a_z + u_z), tanh(a_n + r * u_n)], "gate"),
        "r (reset) holds back the past, z (update) keeps the old state, n is the new one; r acts after W_h",
    )
    z, n = (output(gate, take(gates, "gate", place)) for place, gate in enumerate(GATES[kind]) if gate != "r")
    return step("hidden", (1 - z) * n + z * hidden, "a mixture of the new state and the old one, weighted by z"), cell


def gate_parts(sums: Node, count: int) -> list[Node]:
    """Each gate's share of the columns."""
    size = sums.axes[-1].size // count
    return [rename(part_of(sums, "gates", i * size, (i + 1) * size), "gates", "h") for i in range(count)]
