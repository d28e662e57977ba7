"""Quantisation: arrays in few bits, the error of that, and products of their codes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Annotated, Any, Literal

from attncalc.common.errors import OptionError
from attncalc.common.system import NamedTuple
from attncalc.declare.calculation import at_most, calculation, same
from attncalc.declare.operands import AT_LEAST_1, Exercise, With
from attncalc.language.graph import Node, as_node, group, output, step
from attncalc.language.ops import (
    absolute,
    concat,
    exponent,
    maximum,
    minimum,
    outer,
    part_of,
    peak,
    ratio,
    rounded,
)


class Grid(NamedTuple):
    """The numbers that codes can be: whole ones, or those of a floating-point type."""

    most: int  # the largest
    bits: int | None = None  # of the fraction; None if codes are whole numbers
    least: int = 0  # the exponent of the smallest normal number


GRIDS = {
    "int8": Grid(127),
    "int4": Grid(7),
    "float8_e4m3fn": Grid(448, 3, -6),
    "float8_e5m2": Grid(57344, 2, -14),
    "mxfp4": Grid(6, 1, 0),
}

ABOUT = {
    "scale": "The entry of the largest size gets the last code, and no other falls outside. One entry that is far "
    "larger than the others makes the scale coarse for all: rows or blocks with scales of their own keep it to itself.",
    "zero_point": "Numbers on one side of 0, as those behind a ReLU, would leave half of the codes unused. The range "
    "is shifted instead, by whole steps, so that 0 has a code of its own: padding must not become something else.",
    "spacing": "A floating-point number keeps a fixed count of digits, so that its neighbours are nearer where it is "
    "small. Below the smallest normal number they draw no nearer, and 0 is one of them.",
    "power": "A scale of eight bits holds powers of 2 alone, which multiply without rounding anything. The largest "
    "entry of the block may then lie beyond the largest code, and is cut off there.",
    "eight_bits": "Stored is the exponent and 127, from 0 to 254. A block of zeros has no exponent and gets the least "
    "scale, 2^−127, as in torchao; its codes are 0 whatever the scale is.",
    "product": "Codes are narrow, and multiplied and added up exactly, in wider numbers. The scales are the same all "
    "along the axis that is summed, so that they come behind the sum: two factors for each entry.",
}
"""What a teacher would add to the reason of a step."""

BLOCKS = "mxfp4"


def _settled(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The option that another one settles: mxfp4 has a scale for each block."""
    kind, per = given["kind"], given["per"]
    if given["zero_point"] and GRIDS[kind].bits is not None:
        raise OptionError(f"--zero-point is for whole numbers, and --kind {kind} has none", hint="--kind int8 or int4")
    if kind == BLOCKS and per not in (None, "block"):
        raise OptionError(f"--kind mxfp4 has a scale for each block, but --per {per} is given")
    if given["zero_point"] and per == "block":
        raise OptionError("--zero-point is for a tensor or a row, but --per block is given")
    return {"per": "block" if kind == BLOCKS else "tensor"} if per is None else None


@calculation(
    x="n d",
    w="d p",
    check=_settled,
    laws={
        "no entry is off by more than half a step": lambda f, x: at_most(abs(f(x)["error"]), f(x)["scale"] / 2),
        "what was quantised stays as it is": lambda f, x: same(f(f(x).result), f(x)),
        "with a scale a row, no row hears of another": lambda f, x: same(
            f(x[:1], per="row"), f(x, per="row").result[:1]
        ),
        "a power of 2 passes through mxfp4": lambda f, x: same(f(4 * x, kind="mxfp4"), 4 * f(x, kind="mxfp4").result),
        "0 stays 0": lambda f, x: same(f(0 * x, zero_point=True), 0),
    },
    reference="Jacob et al. 2018, Quantization and Training of Neural Networks, eq. 1 (zero point); Dettmers et al. "
    "2022, LLM.int8(), section 2 (absmax, rows); Micikevicius et al. 2022, FP8 Formats for Deep Learning, table 1; OCP "
    "Microscaling Formats (MX) Specification 1.0, section 6.3",
    exercise=Exercise(one_of=({"kind": "int8", "per": "row"}, {"kind": "int4", "per": "tensor"})),
)
def quantize(
    X: Annotated[Node, "what is to be stored, or comes into a layer"],
    W: Annotated[Node | None, "a matrix that it is multiplied by, which is quantised too"] = None,
    *,
    kind: Annotated[
        Literal["int8", "int4", "float8_e4m3fn", "float8_e5m2", "mxfp4"], "the numbers that codes can be"
    ] = "int8",
    per: Annotated[
        Literal["tensor", "row", "block"] | None, "what has a scale of its own; of W a column or a block of it"
    ] = None,
    block: Annotated[int, "so many entries of a row are a block", AT_LEAST_1, With(("per=block", "kind=mxfp4"))] = 32,
    zero_point: Annotated[
        bool, "the code of 0 is moved, so that the codes span from the least entry to the largest"
    ] = False,
) -> tuple[Node, ...]:
    """Store numbers in few bits: codes and the scale that they are multiplied by, and what is lost.

    x ≈ scale·code. By absmax the scale is max |x| over the largest code; with a zero point z, x ≈ scale·(code − z) for
    codes from 0 on. Codes are whole numbers, or those of a float of eight or four bits; mxfp4 has a power of 2 as the
    scale of each block. With W the product is that of the codes, the scales behind it.
    """
    size = X.axes[-1].size
    width = min(block, size) if per == "block" else size
    if size % width:
        raise OptionError(f"--block {block}: {size} entries of a row cannot be cut into blocks of {width}")
    several, stored, products = width < size, [], []
    for i in range(size // width):
        with group(f"block {i + 1}") if several else nullcontext():
            start, stop = i * width, (i + 1) * width
            codes, scale, back = _quantised(part_of(X, "d", start, stop), kind, per, zero_point)
            stored.append(back)
            if W is not None:
                with group("w"):
                    theirs, other, _ = _quantised(part_of(W, "d", start, stop), kind, per, False)
                summed = step("summed", codes @ theirs, "codes by codes, which are narrow; their sum is exact")
                joint = scale * other if per == "tensor" else outer(scale, other)
                joint = step("scales", joint, "what one step of either comes to in the product")
                why = "the scales are the same all along the sum, and come behind it"
                products.append(step("product", summed * joint, why, about=ABOUT["product"]))
    whole = stored[0]
    if several:
        whole = step("dequantised", concat(stored, "d"), "the blocks side by side again")
    error = step("error", whole - X, "what is lost: half a step at most, unless a code is cut off")
    if W is None:
        return whole, error
    product = products[0]
    if several:
        for more in products[1:]:
            product = product + more
        product = step("product", product, "what the blocks come to, added up in wide numbers")
    return product, whole, error, output("product_error", product - X @ W, "the product's, from that of X and W")


def _quantised(x: Node, kind: str, per: str | None, zero_point: bool) -> tuple[Node, Node, Node]:
    """Codes less their zero point, their scale, and what both come to."""
    grid = GRIDS[kind]
    if zero_point:
        return _shifted(x, 2 * grid.most + 1, per)
    size = step("largest", _reduced(absolute(x), per), "the size of the largest entry, whatever its sign")
    if kind == BLOCKS:
        why = "the power of two in the largest entry, that of the largest code taken out"
        power = step("exponent", in_eight_bits(exponent(size) - 2), why, about=ABOUT["eight_bits"])
        scale = step("scale", as_node(2) ** power, "a power of two: it rounds nothing", about=ABOUT["power"])
    else:
        scale = step("scale", size / grid.most, "so that the largest entry gets the last code", about=ABOUT["scale"])
    scaled = step("scaled", ratio(x, scale), "in steps of the scale")
    if grid.bits is None:
        codes = step("codes", rounded(scaled), "the nearest whole number, the even one of two as near")
    else:
        smallest = as_node(2) ** grid.least
        apart = as_node(2) ** (exponent(maximum(absolute(scaled), smallest)) - grid.bits)
        spacing = step("spacing", apart, "how far its neighbours are apart there", about=ABOUT["spacing"])
        near = rounded(scaled / spacing) * spacing
        if kind == BLOCKS:
            near = maximum(as_node(-grid.most), minimum(near, grid.most))
        codes = step("codes", near, "the nearest number that the type has, the even one of two as near")
    return codes, scale, step("dequantised", codes * scale, "what the code stands for")


def in_eight_bits(power: Node) -> Node:
    """The nearest exponent that a scale of eight bits can have, E8M0 with a bias of 127; 255 is no number."""
    return maximum(as_node(-127), minimum(power, 127))


def _shifted(x: Node, last: int, per: str | None) -> tuple[Node, Node, Node]:
    """With a zero point: codes from 0 to the last."""
    low = step("lowest", minimum(as_node(0), -_reduced(-x, per)), "the least entry, or none where all are positive")
    high = step("highest", maximum(as_node(0), _reduced(x, per)), "the largest entry, or none where all are negative")
    scale = step("scale", (high - low) / last, "the whole range in as many steps as there are between codes")
    zero = step("zero_point", rounded(ratio(-low, scale)), "the code of nothing", about=ABOUT["zero_point"])
    scaled = step("scaled", ratio(x, scale), "in steps of the scale")
    codes = step("codes", minimum(rounded(scaled) + zero, last), "the nearest code, counted from the least entry")
    moved = codes - zero
    return moved, scale, step("dequantised", moved * scale, "what the code stands for, from that of nothing on")


def _reduced(x: Node, per: str | None) -> Node:
    """The largest entry of what has a scale of its own: along the axis that a product sums, or along all of both."""
    along = peak(x, "d")
    return peak(along) if per == "tensor" else along
