"""Mistakes of quantisation: scales for the wrong range, codes cut off or rounded in another way, zero points."""

from __future__ import annotations

from collections.abc import Callable

from attncalc.calculations.quantisation import BLOCKS, GRIDS, in_eight_bits
from attncalc.declare.mistake import Mistake, NotThere, Scope, chosen, parts, wrong
from attncalc.language.graph import Node
from attncalc.language.ops import absolute, exponent, floor, logarithm, ratio, rounded, sign


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


def _of_blocks(power: Callable[[Node], Node]) -> Callable[[Scope], Node]:
    """The exponent of a block's scale, from the size of its largest entry."""
    return lambda s: in_eight_bits(power(s.when("kind", BLOCKS).largest))


def _ceiling(x: Node) -> Node:
    return -floor(-logarithm(x, 2))


def _without_abs(node: Node) -> Node:
    """A largest entry, or the largest of these, of x in place of |x|."""
    if node.op == "abs":
        return node.sources[0]
    return node.over([_without_abs(parts(node, "peak")[0])])


RANGE = "Which entry gets the last code?"
NEAREST = "Which code is nearest?"
ONE_OF_TWO = "Which of two codes is taken that are as near?"

POWERS = "Which power of 2 is in the largest entry, and which in the largest code?"

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
        # aiter's pull request 3992: halves are rounded away from 0, not to the even code
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
            lambda s: _without_abs(s.when("zero_point", False).this),
            says="the largest entry in place of the largest size",
            hint="Which entry has the most to lose?",
        ),
        # vllm's pull request 43557: ⌊log₂(a/6)⌋ is not ⌊log₂ a⌋ − 2
        wrong(
            "quantize-mx-divided-first",
            "exponent",
            _of_blocks(lambda size: exponent(size / 6)),
            says="divided by 6 before the exponent is taken",
            hint=POWERS,
            kind="convention",
        ),
        # aiter's pull request 3212, as NVIDIA has it: no entry is cut off, and small ones lose a bit
        wrong(
            "quantize-mx-divided-and-up",
            "exponent",
            _of_blocks(lambda size: _ceiling(size / 6)),
            says="divided by 6 before the exponent is taken, which is rounded up",
            hint=POWERS,
            kind="convention",
        ),
        # torchao's pull request 516 names it CEIL, beside the specification's FLOOR
        wrong(
            "quantize-mx-rounded-up",
            "exponent",
            _of_blocks(lambda size: _ceiling(size) - 2),
            says="the exponent is rounded up",
            hint=POWERS,
            kind="convention",
        ),
        # mase's pull request 321: the exponent is rounded up, and nothing is subtracted from it
        wrong(
            "quantize-mx-ceiling",
            "exponent",
            _of_blocks(_ceiling),
            says="the exponent is rounded up, and nothing taken out of it",
            hint=POWERS,
        ),
        # vllm's pull request 53110: the largest entry becomes 1, and small ones are lost
        wrong(
            "quantize-mx-code-forgotten",
            "exponent",
            _of_blocks(exponent),
            says="nothing is taken out for the largest code",
            hint=POWERS,
        ),
        # the rule of int8 and of nvfp4, whose scales are no powers of 2
        wrong(
            "quantize-mx-no-power",
            "scale",
            lambda s: s.when("kind", BLOCKS).largest / GRIDS[BLOCKS].most,
            says="largest / 6, which is no power of 2",
            hint="Which numbers can a scale be that is stored as an exponent?",
        ),
        # llm-awq's issue 193 and tflite-micro's 2327: a range on one side of 0
        wrong(
            "quantize-range-without-0",
            "lowest highest",
            lambda s: parts(s.this, "minimum", "maximum")[1],
            says="a range that does not reach 0",
            hint="Which code has 0?",
        ),
        wrong(
            "quantize-zero-point-kept",
            "dequantised",
            lambda s: s.when("zero_point", True).codes * s.scale,
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
