"""The types in which machines store numbers: how a number is rounded to one, and a graph with all values rounded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.evaluate.values import evaluate, is_given, value_of
from attncalc.language.graph import Node, given, walk


class Precision(NamedTuple):
    """A binary floating-point type."""

    bits: int  # significant ones
    least: int  # the exponent of the smallest normal number
    most: float  # the largest finite number
    beyond: float = np.inf  # the value that replaces larger numbers


PRECISIONS = {
    "float8_e5m2": Precision(3, -14, 57344.0),
    "float8_e4m3fn": Precision(4, -6, 448.0, np.nan),  # fn: finite numbers, and NaN
    "bfloat16": Precision(8, -126, float(2.0**128 - 2.0**120)),
    "float16": Precision(11, -14, 65504.0),
    "float32": Precision(24, -126, float(2.0**128 - 2.0**104)),
    "float64": Precision(53, -1022, float(np.finfo(np.float64).max)),
}
"""Type's name (`STORED`) → its precision, the coarsest first."""


def held(value: Array, name: str, by_chance: np.random.Generator | None = None) -> Array:
    """The numbers rounded to a type: to the nearest, ties to even; ∞ or NaN beyond its largest.

    With `by_chance` the rounding is stochastic: up or down, the nearer number with the larger probability.
    """
    bits, _, most, beyond = PRECISIONS[name]
    if value.dtype.kind != "f" or bits >= PRECISIONS["float64"].bits:
        return value
    unit = _unit(value, name)
    with np.errstate(invalid="ignore"):
        units = value / unit
        rounded = (np.rint(units) if by_chance is None else np.floor(units + by_chance.random(units.shape))) * unit
        return np.where(np.abs(rounded) > most, np.copysign(beyond, value), rounded)


def _unit(value: Array, name: str) -> Array:
    """The spacing of the type's numbers around a value."""
    bits, least, *_ = PRECISIONS[name]
    _, exponent = np.frexp(np.where(np.isfinite(value), value, 0.0))
    return np.asarray(np.ldexp(1.0, np.maximum(exponent, least + 1) - bits))


class Rounded(NamedTuple):
    """How an entry has been rounded to a type."""

    name: str
    before: float  # in float32
    below: float  # the type's numbers on both sides; both are the number itself if the type has it
    above: float
    value: float
    by_terms: bool  # whether a sum was rounded after each of its terms, not only at the end


CARRIER = "float32"
"""The type that holds values of narrow types: it has all of their numbers, and products of two."""
_AT_ONCE = 2**16  # entries


Key = tuple[str, str]


class Narrow:
    """A machine that rounds each operand, and the result of each primitive, to a type of few digits.

    Sizes, options and what is computed from these alone are not rounded: they are float32 up to the step they make.
    Choices and moves leave entries as they are. Sums, also those in products and means, are accumulated in float32 and
    then rounded; or, with `accumulate="same"`, they are rounded after each of their terms.
    """

    kind = CARRIER

    def __init__(self, name: str, accumulate: str) -> None:
        self.name, self.accumulate = name, accumulate
        sums = (
            "; sums are added up in float32 first" if accumulate == CARRIER else ", and a sum after each of its terms"
        )
        self.said = f"every value is rounded to {name}{sums}"
        self.limit = f"it is beyond {PRECISIONS[name].most:.5g}, the largest {name}"

    def held(self, value: Array) -> Array:
        """The value rounded to the type. Infinities, which may be masks, stay, even if the type has none."""
        if value.dtype.kind != "f":
            return value
        flat, found = value.reshape(-1), np.empty(value.size, CARRIER)
        for begin in range(0, value.size, _AT_ONCE):  # intermediate results take many times the bytes of the value
            piece = flat[begin : begin + _AT_ONCE]
            found[begin : begin + _AT_ONCE] = np.where(np.isinf(piece), piece, held(piece, self.name))
        return found.reshape(value.shape)

    def rounded(self, order: Sequence[Node], given: Collection[Key]) -> set[Node]:
        """The nodes whose values are rounded."""
        moved: set[Node] = set()
        for node in order:
            if any(source.op == "input" or source in moved for source in node.sources) or is_given(node, given):
                moved.add(node)
            if node.op == "step":
                moved.update(walk(*node.sources, into=lambda made: () if _computes(made) else made.sources))
        return {node for node in moved if node.op not in ("step", "input") and (_computes(node) or not node.sources)}

    def made(self, node: Node, value: Array, sources: Sequence[Array]) -> Array:
        """A primitive's result after rounding; `value` was computed in float32 from the sources' values."""
        if not node.sources and not np.mod(value, 1).any():
            return value  # a step of ids, places or sizes
        if self._by_terms(node) and node.row.adds:
            return self._added(node, sources)
        if self._by_terms(node) and node.row.body:
            inputs = [given(str(i), source.axes) for i, source in enumerate(node.sources)]
            body = node.row.body(node.over(inputs), *inputs)
            values = {str(i): value for i, value in enumerate(sources)}
            return evaluate([body], values, dtype=CARRIER, after_step=self)[body]
        return self.held(value)

    def _by_terms(self, node: Node) -> bool:
        """Whether a primitive is a sum or a mean that is rounded after each term."""
        return self.accumulate == "same" and (node.row.adds or bool(node.row.terms and node.row.body))

    def before(self, node: Node, operands: Mapping[str, Array], known: Mapping[Key, Array]) -> Array | None:
        """A step's entries before they are rounded, in float32; None if nothing is computed."""
        made = node.sources[0]
        if not _computes(made):
            return None
        sources = evaluate(made.sources, operands, dtype=CARRIER, given=known, after_step=self)
        return value_of(made, sources, operands, np.dtype(CARRIER))

    def told(self, node: Node, before: float, value: float) -> Rounded:
        """How an entry has been rounded, from its values before and after."""
        unit = float(_unit(np.asarray(before), self.name))
        below, above = np.floor(before / unit) * unit, np.ceil(before / unit) * unit
        return Rounded(self.name, before, below, above, value, self._by_terms(node.sources[0]))

    def _added(self, node: Node, sources: Sequence[Array]) -> Array:
        """A sum, or a product's sums, rounded after each term."""
        (name,) = node.row.mixes(node)
        places = [source.names.index(name) for source in node.sources]
        found: Array | None = None
        for i in range(sources[0].shape[places[0]]):
            parts = [np.take(value, [i], axis=at) for value, at in zip(sources, places, strict=True)]
            term = self.held(np.asarray(node.row.kernel(node, *parts)))
            found = term if found is None else self.held(found + term)
        return np.zeros(node.shape, CARRIER) if found is None else found


def _computes(node: Node) -> bool:
    """Whether a primitive computes new numbers, not truths or places of an axis."""
    row = node.row
    return row.flops != 0 and not row.points and not row.truth
