"""The cost of a calculation in FLOPs and bytes, counted on its graph without computing anything.

A multiplication and an addition count as one each, so a product [n, k]·[k, m] costs 2·n·k·m. An exponential, a root or
another function of one number counts as one. Moving and choosing entries costs nothing, and neither does a number that
is known beforehand, such as √d_k. Iterative algorithms, such as those for eigenvalues, are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from attncalc.common.system import NamedTuple
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node, inside, walk


class Count:
    """A count as a sum of products of sizes, 2·n·m·d_k + 5·n·m; `int` gives its number."""

    __slots__ = ("terms",)

    def __init__(self, terms: Iterable[tuple[int, Axes]] = ()) -> None:
        # the factors in sorted order → (how often, the factors in the order of writing)
        self.terms: dict[Axes, tuple[int, Axes]] = {}
        for times, factors in terms:
            key = tuple(sorted(factors))
            before, written = self.terms.get(key, (0, factors))
            self.terms[key] = (before + times, written)

    def __iter__(self) -> Iterator[tuple[int, Axes]]:
        return iter(self.terms.values())

    def __rmul__(self, times: int) -> Count:
        return Count((times * often, factors) for often, factors in self)

    def __int__(self) -> int:
        return sum(often * math.prod(axis.size for axis in factors) for often, factors in self)

    def __str__(self) -> str:
        """`2·n·m·d_k + 5·n·m`; just the number if one name stands for several sizes."""
        sizes: dict[str, set[int]] = {}
        for _, factors in self:
            for axis in factors:
                sizes.setdefault(axis.name, set()).add(axis.size)
        if any(len(known) > 1 for known in sizes.values()):
            return str(int(self))
        return " + ".join(_product(often, factors) for often, factors in self) or "0"

    def spoken(self, names: Mapping[str, str], products: Mapping[tuple[str, str], Axis]) -> Count:
        """The same count with sizes renamed, and with products of two sizes written as one size."""
        return Count((often, _spoken(factors, names, products)) for often, factors in self)


class Cost(NamedTuple):
    """What a step costs."""

    flops: Count
    values: Count  # how many new numbers it holds; a step that only moves entries holds none
    whole: bool  # whether all of it could be counted


def entries(axes: Axes) -> Count:
    """How many numbers a value with these axes holds; a composite axis is the product of its parts."""
    return Count([(1, _flat(axes))])


def flops(node: Node) -> Count:
    """The floating-point operations of one primitive."""
    each = node.row.flops
    times = each(node) if callable(each) else each
    return times * entries(node.row.places(node)) if times else Count()


def by_step(roots: Iterable[Node]) -> dict[str, Cost]:
    """Step's key → its cost: that of the primitives between it and the steps that it uses."""
    counted: set[Node] = set()
    costs: dict[str, Cost] = {}
    known = _known_beforehand(roots := list(roots))
    for node in walk(*roots):
        if node.op == "step":
            parts = [part for part in inside(node) if part not in known and part not in counted]
            counted.update(parts)
            made = any(part.row.flops != 0 for part in parts)
            costs[node.path] = Cost(
                total(map(flops, parts)),
                entries(node.axes) if made else Count(),
                all(part.row.flops is not None for part in parts),
            )
    return costs


def total(counts: Iterable[Count]) -> Count:
    """The sum of several counts."""
    return Count(term for count in counts for term in count)


def _known_beforehand(roots: Iterable[Node]) -> set[Node]:
    """Single numbers that do not depend on operands: √d_k, 8·h/H."""
    known: set[Node] = set()
    for node in walk(*roots):
        if not node.axes and node.op not in ("input", "step") and known.issuperset(node.sources):
            known.add(node)
    return known


def _flat(axes: Axes) -> Axes:
    return tuple(part for axis in axes for part in (_flat(axis.parts) if axis.parts else (axis,)))


def _spoken(factors: Axes, names: Mapping[str, str], products: Mapping[tuple[str, str], Axis]) -> Axes:
    left = [axis._replace(name=names.get(axis.name, axis.name)) for axis in factors]
    for pair, whole in products.items():
        while all(part in [axis.name for axis in left] for part in pair):
            at = [next(i for i, axis in enumerate(left) if axis.name == part) for part in pair]
            left = [whole if i == max(at) else axis for i, axis in enumerate(left) if i != min(at)]
    return tuple(left)


def _product(often: int, factors: Axes) -> str:
    """A term as text, `2·n²·d_model`, with sizes of vectors last."""
    names = sorted((axis.name for axis in factors), key=lambda name: name.startswith("d"))
    raised = {1: "", 2: "²", 3: "³"}
    powers = (name + raised.get(p := names.count(name), f"^{p}") for name in dict.fromkeys(names))
    return "·".join([*([str(often)] if often != 1 or not names else []), *powers])
