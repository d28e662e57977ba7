"""Operands as exact numbers or as letters; what follows from them is exact by itself, and is tidied step by step."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from attncalc.arrays import Array
from attncalc.errors import NotExact
from attncalc.ops.exact import MOST_EXACT, exactly, refuse_many
from attncalc.ops.kernels import MOST_DIGITS, WITHOUT
from attncalc.text import shape_text, visible
from attncalc.trace import LETTERS, Given

if TYPE_CHECKING:
    from attncalc.calculation import Calculation, Operand
    from attncalc.exact.extents import Extents
    from attncalc.exact.tidying import Tidier

LARGEST = 20_000
"""So many operations may a step's entries hold together: beyond that nobody reads them, and SymPy grows slow."""
TIDIED = 400
"""Entries of more operations than this are left as they come out."""

_FACTOR = re.compile(r"([*/]?)(?:(pi)|sqrt\(([^/()]+)(?:/([^()]+))?\)|([\d.]+(?:[eE][+-]?\d+)?))", re.ASCII)


def exact(given: Given) -> Given:
    """The operand as exact numbers: each by the digits that it was written with, 0.1 as 1/10, 1/3 as a third."""
    if given.value.dtype.kind != "f":
        return given
    refuse_many(given.value.size)
    if given.written is None:
        return given._replace(value=exactly(given.value))
    entries = [_entry(text) for text in given.written.flat]
    value = np.empty(len(entries), dtype=object)
    value[:] = entries
    return given._replace(value=value.reshape(given.value.shape))


def _entry(text: str) -> Any:
    """An entry in the grammar of attncalc.inputs.entries, which has already read it once."""
    text = str(text).strip()
    if text.casefold() in ("-inf", "-infinity"):
        return -sympy.oo
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    result = sympy.Integer(sign)
    for mark, pi, above, below, decimal in _FACTOR.findall(rest):
        factor = sympy.pi if pi else _decimal(decimal) if decimal else _root(above, below or "1")
        result = result / factor if mark == "/" else result * factor
    return result


def _root(above: str, below: str) -> Any:
    return sympy.sqrt(_decimal(above) / _decimal(below))


def _decimal(text: str) -> Any:
    if len(text) > MOST_DIGITS:
        raise NotExact(
            f"an entry is written with {len(text):,} characters, but the limit is {MOST_DIGITS:,}", hint=WITHOUT
        )
    figures, _, exponent = text.casefold().partition("e")
    if not figures.strip("0."):
        return sympy.Integer(0)
    if abs(int(exponent or 0)) > MOST_DIGITS:  # SymPy would write out the power of ten
        raise NotExact(f"the entry {visible(text, 40)} has more than {MOST_DIGITS:,} digits", hint=WITHOUT)
    return sympy.Rational(text)


SHAPE = re.compile(r"\d{1,3}(x\d{1,3})*", re.ASCII)
SMALL = 2
"""The size of an axis of letters that nothing else tells."""


def is_shape(word: str) -> bool:
    """Whether a word is the shape of an operand of letters: `2x3`, or `3` for a vector."""
    return SHAPE.fullmatch(word) is not None


def in_letters(
    calculation: Calculation, inputs: Mapping[str, Given], shapes: Mapping[str, Sequence[int]], known: Mapping[str, int]
) -> dict[str, Given]:
    """The operands, those without numbers filled with letters: of the shape that was asked for, or a small one.

    Axes of one name have one size: `--q 2x3` makes k's d_k three as well. `known` are sizes that options give.
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
            # What makes no sense as a size is refused by the calculation that it is an option of.
            small = [math.prod(max(1, sizes.get(part, SMALL)) for part in _parts(axis)) for axis in operand.shapes[0]]
            filled[operand.name] = letters(operand.name, shapes.get(operand.name, small))
    return filled


def can_be_letters(operand: Operand) -> bool:
    """Whether letters may stand for an operand's numbers: not where these may be the numbers of classes or tokens."""
    return operand.kind in ("real", "logits") or (operand.kind == "data" and len(operand.shapes) == 1)


def _parts(axis: str | tuple[str, ...]) -> tuple[str, ...]:
    return (axis,) if isinstance(axis, str) else axis


def letters(name: str, shape: Sequence[int]) -> Given:
    """An operand of letters: `q` of shape 2×3 is q₀₀ … q₁₂, each a real number."""
    if 0 in shape:
        raise NotExact(f"{name} would have no letters: its shape is {shape_text(shape)}", hint=f"{name} as 2x3 has six")
    if math.prod(shape) > MOST_EXACT:
        fact = f"{name} would have {math.prod(shape):,} letters, but the limit is {MOST_EXACT:,}"
        raise NotExact(fact, hint=f"{name} as 2x3 has six")
    value = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        below = ",".join(map(str, place)) if any(i > 9 for i in place) else "".join(map(str, place))
        value[place] = sympy.Symbol(f"{name}_{below}" if below else name, real=True)
    return Given(value, LETTERS)


def step_tidier() -> Callable[[Array], Array]:
    """What tidies the values of one evaluation, step by step: what it has read and measured once it knows again."""
    from attncalc.exact.extents import Extents  # letters, and operands that are read, need neither
    from attncalc.exact.tidying import Tidier

    return partial(tidy, tidier=Tidier(), extents=Extents())


def tidy(value: Array, tidier: Tidier, extents: Extents) -> Array:
    """The entries over one denominator, common factors taken out; refuses what has grown too large to read."""
    if value.dtype != object:
        return value
    known = [extents.of(entry) for entry in value.flat]
    longest = max((extent.digits for extent in known), default=0)
    if longest > MOST_DIGITS:
        raise NotExact(
            f"the exact entries have grown to {longest:,.0f} digits, but the limit is {MOST_DIGITS:,}", hint=WITHOUT
        )
    sizes = [3 * extent.parts for extent in known]  # a part is an operation at most, or a fraction with a sign
    if sum(sizes) > LARGEST:
        sizes = [extents.operations(entry) for entry in value.flat]
    if sum(sizes) > LARGEST:
        raise NotExact(
            f"the exact entries have grown to {sum(sizes):,} operations, but the limit is {LARGEST:,}",
            hint="fewer rows, or rounder numbers, stay readable; without --exact any size will do",
        )

    def tidied_one(entry: Any) -> Any:
        found = tidier.tidy(entry)  # over one denominator a high power of a sum has all of its digits
        return found if extents.of(found).digits <= MOST_DIGITS else entry

    tidied = [
        tidied_one(entry) if size <= TIDIED or extents.operations(entry) <= TIDIED else entry
        for entry, size in zip(value.flat, sizes, strict=True)
    ]
    result = np.empty(len(tidied), dtype=object)
    result[:] = tidied
    return result.reshape(value.shape)
