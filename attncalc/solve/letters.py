"""Operands of letters: which operands may be letters, words that give their shapes, small default shapes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from attncalc.common.errors import NotExact
from attncalc.declare.calculation import Calculation
from attncalc.declare.operands import Operand
from attncalc.evaluate.exact import letters
from attncalc.record.trace import Given
from attncalc.solve.problem import flat

SHAPE = re.compile(r"\d{1,3}(x\d{1,3})*", re.ASCII)
SMALL = 2
"""The size of an axis of letters if nothing else gives it."""


def is_shape(word: str) -> bool:
    """Whether a word is the shape of an operand of letters: `2x3`, or `3` for a vector."""
    return SHAPE.fullmatch(word) is not None


def in_letters(
    calculation: Calculation, inputs: Mapping[str, Given], shapes: Mapping[str, Sequence[int]], known: Mapping[str, int]
) -> dict[str, Given]:
    """The operands, with letters for those without numbers, in the shape that was asked for, or a small one.

    Axes with the same name have the same size: `--q 2x3` makes k's d_k 3 too. `known` are sizes that options give.
    """
    wanted = [o for o in calculation.operands if o.required]
    if not wanted and not inputs:
        wanted = [o for o in calculation.operands if o.positional]
    wanted += [o for o in calculation.operands if o.name in shapes and o not in wanted]
    sizes = {"g": known["h"], **known} if "h" in known else dict(known)  # key heads, as many as query heads
    for operand in calculation.operands:
        shape = inputs[operand.name].value.shape if operand.name in inputs else shapes.get(operand.name)
        declared = next((s for s in operand.shapes if shape is not None and len(s) == len(shape)), ())
        sizes |= {axis: size for axis, size in zip(declared, shape or (), strict=False) if isinstance(axis, str)}
    filled = dict(inputs)
    for operand in wanted:
        if operand.name not in filled:
            if not can_be_letters(operand):
                raise NotExact(f"{operand.name} cannot be letters ({operand.help}): it must be given")
            # A senseless size is refused later, by the calculation with that option.
            small = [math.prod(max(1, sizes.get(part, SMALL)) for part in flat((axis,))) for axis in operand.shapes[0]]
            filled[operand.name] = letters(operand.name, shapes.get(operand.name, small))
    return filled


def can_be_letters(operand: Operand) -> bool:
    """Whether letters may stand for an operand's numbers, which they may not if these can be classes or tokens."""
    return operand.kind in ("real", "logits") or (operand.kind == "data" and len(operand.shapes) == 1)
