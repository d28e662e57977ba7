"""The mistakes of quantisation: scales of the wrong range, codes that are cut or rounded otherwise, zero points."""

from __future__ import annotations

from attncalc.calculations.quantisation import GRIDS
from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.language.graph import Node, as_node
from attncalc.language.ops import absolute, floor, logarithm, ratio, rounded, sign


def _whole_codes(s: Scope) -> Node:
    """What is rounded to whole codes; codes of floats are rounded in another way."""
    if GRIDS[s.options["kind"]].bits is not None or s.options["zero_point"]:
        raise NotThere("whole codes")
    return parts(s.this, "round")[0]


def _truncated(s: Scope) -> Node:
    scaled = _whole_codes(s)
    return sign(scaled) * floor(absolute(scaled))


def _away_from_0(s: Scope) -> Node:
    scaled = _whole_codes(s)
    return sign(scaled) * floor(absolute(scaled) + 0.5)


def _one_code_more(s: Scope) -> Node:
    size, most = parts(s.this, "div")
    if s.options["zero_point"] or GRIDS[s.options["kind"]].bits is not None:
        raise NotThere("whole codes")
    return size / (most + 1)


def _power(s: Scope) -> tuple[Node, Node]:
    if s.options["kind"] != "mxfp4":
        raise NotThere("mxfp4")
    return as_node(2), s.largest


def _divided_first(s: Scope) -> Node:
    two, size = _power(s)
    return two ** floor(logarithm(size / 6, 2))


def _ceiling(s: Scope) -> Node:
    two, size = _power(s)
    return two ** -floor(-logarithm(size, 2))


def _signed(s: Scope) -> Node:
    """The largest entry in place of the largest size."""
    if s.options["zero_point"]:
        raise NotThere("absmax")
    return _without_abs(s.this)


def _without_abs(node: Node) -> Node:
    """A largest entry, or the largest of these, of x in place of |x|."""
    if node.op == "abs":
        return node.sources[0]
    return node.over([_without_abs(parts(node, "peak")[0])])


def _range_of_its_own(s: Scope) -> Node:
    return parts(s.this, "minimum", "maximum")[1]


def _kept(s: Scope) -> Node:
    if not s.options["zero_point"]:
        raise NotThere("a zero point")
    return s.codes * s.scale


RANGE = "Which entry gets the last code?"
NEAREST = "Which code is nearest?"
ONE_OF_TWO = "Which of two codes is taken that are as near?"

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "quantize": (
        wrong(
            "quantize-not-scaled-back",
            "dequantised",
            lambda s: parts(s.this, "mul")[0],
            says="the codes themselves, not multiplied by the scale",
            hint="What is one step of the codes worth?",
        ),
        wrong(
            "quantize-scale-multiplied",
            "scaled",
            lambda s: s.this.sources[0] * s.scale,
            says="multiplied by the scale in place of divided",
            hint="How many steps of the scale is an entry?",
        ),
        # tt-metal's pull request 56327: codes are cut off where they should be rounded
        wrong("quantize-truncated", "codes", _truncated, says="the fraction of a code is cut off", hint=NEAREST),
        # aiter's pull request 3992: halves away from 0, and not to the even code
        wrong(
            "quantize-half-away",
            "codes",
            _away_from_0,
            says="halves are rounded away from 0, not to the even code",
            hint=ONE_OF_TWO,
            kind="convention",
        ),
        wrong(
            "quantize-one-code-more",
            "scale",
            _one_code_more,
            says="one code more than there are above 0",
            hint=RANGE,
        ),
        wrong(
            "quantize-signed-range",
            "largest",
            _signed,
            says="the largest entry in place of the largest size",
            hint="Which entry has the most to lose?",
        ),
        # vllm's pull request 43557: ⌊log₂(a/6)⌋ is not ⌊log₂ a⌋ − 2
        wrong(
            "quantize-mx-divided-first",
            "scale",
            _divided_first,
            says="divided by 6 before the exponent is taken",
            hint="Which power of 2 is in the largest entry, and which in the largest code?",
            kind="convention",
        ),
        # mase's pull request 321: the exponent rounded up, and nothing taken out of it
        wrong(
            "quantize-mx-ceiling",
            "scale",
            _ceiling,
            says="the exponent is rounded up, and nothing taken out of it",
            hint="Which power of 2 is in the largest entry, and which in the largest code?",
        ),
        # llm-awq's issue 193 and tflite-micro's 2327: a range on one side of 0
        wrong(
            "quantize-range-without-0",
            "lowest highest",
            _range_of_its_own,
            says="a range that does not reach 0",
            hint="Which code has 0?",
        ),
        wrong(
            "quantize-zero-point-kept",
            "dequantised",
            _kept,
            says="the zero point is not taken away again",
            hint="What does the code of 0 stand for?",
        ),
        wrong(
            "quantize-zero-point-sign",
            "zero_point",
            lambda s: rounded(ratio(s.lowest, s.scale)),
            says="round(lowest / scale), without the minus sign",
            hint="Which code does the least entry get?",
        ),
        wrong(
            "quantize-per-tensor",
            options=chosen(per={"row": "tensor"}),
            says="one scale for all",
            hint="How many scales are there?",
            kind="convention",
        ),
        wrong(
            "quantize-scale-of-x-alone",
            "product",
            lambda s: s.summed * s.scale,
            says="without the scale of W",
            hint="How many scales does a product of codes have?",
        ),
    ),
}
"""Calculation → its mistakes, the commonest first."""
