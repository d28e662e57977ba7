"""Why entries are 0: what rounding left over of terms that cancel (1.1e-16), and the factor that is 0."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from attncalc.common.errors import are, both, place_text
from attncalc.common.numerals import Array
from attncalc.evaluate.values import FAINT, UNSURE, Known, by_key, evaluate, has_faint
from attncalc.language.axes import align, find
from attncalc.language.graph import Node, given, inside, walk
from attncalc.language.kernels import doubled
from attncalc.language.primitive import symbol

if TYPE_CHECKING:  # few entries are looked at in twice the digits
    from attncalc.language.doubled_kernels import Double

MARGIN = 64
"""So many rounding errors, relative to the sizes of the terms, are taken for nothing."""
DEEP = 8
"""What stands at the end of many steps is off by so many times what one kernel leaves."""


@np.errstate(all="ignore")  # what overflows is told elsewhere
def digits_left(steps: Sequence[Node], values: Mapping[Node, Array], operands: Mapping[str, Array]) -> tuple[str, ...]:
    """What is to be said of steps whose formula, as it is written, loses digits that twice as many don't bring back.

    Of what a sum of products is in, nothing is said: no bound is known that would not be far too large.
    """
    known = Known(values, operands, (), {}, walk(*steps))
    numbers = [np.abs(x[x != 0]) for x in operands.values() if x.dtype.kind == "f" and x.any()]
    nothing = UNSURE * min((np.min(x) for x in numbers), default=1.0)  # what a 0 may be off by
    found = []
    for step in filter(known.is_known, steps):
        pair = known.doubled(step.sources[0], math.inf)
        off = np.where(values[step] == 0, pair.doubt > nothing, pair.doubt / np.abs(values[step]))
        if not (off > UNSURE).any():
            continue
        at = np.unravel_index(int(np.argmax(off)), off.shape)
        place = step.path + place_text(at)
        digits = math.floor(-math.log10(off[at]))
        many = f"{digits} digit{'s' if digits > 1 else ''} of {place} {'are' if digits > 1 else 'is'} sure"
        found.append(f"{many if digits > 0 else f'no digit of {place} is sure'}: its terms nearly cancel there")
    return tuple(found)


MOVED = 4
"""So often the operands are moved, each time to other places nearby."""


class Leftovers:
    """What rounding left over in the steps of one graph; what is found of a step serves those that are built on it."""

    def __init__(self, values: Mapping[Node, Array], operands: Mapping[str, Array]) -> None:
        self.values, self.operands = values, operands
        self.known: dict[Node, Array | None] = {}

    def of(self, step: Node) -> Array | None:
        """True where a step's entry is left over from terms that cancel; None where no entry is."""
        if step not in self.known:
            self.known[step] = self._found(step)
        return self.known[step]

    def allowed(self, step: Node) -> Array:
        """How large an entry of a step may be by rounding alone."""
        return np.asarray(MARGIN * np.finfo(self.values[step].dtype).eps * self._terms(step.sources[0]))

    @np.errstate(all="ignore")  # terms may overflow though they cancel
    def _found(self, step: Node) -> Array | None:
        if not has_faint(self.values[step]):
            return None
        size = np.abs(self.values[step])
        small = (size > 0) & np.isfinite(size)
        found = small & (size <= self.allowed(step))
        of_nothing = small & self._made_of_nothing(step)
        if found.any():
            found &= ~(self._is_meant(step) | self._stays(step)) | of_nothing
        faint = FAINT * np.finfo(size.dtype).eps * max(1.0, np.max(size, initial=0.0, where=np.isfinite(size)))
        found |= of_nothing & (size < faint)
        return found if found.any() else None

    def _is_meant(self, step: Node) -> Array:
        """Where a small entry is right although terms cancel: it stays where the last digits of the operands move."""
        kernels, value = doubled(), self.values[step]
        moved = {name: kernels.rounded(operand) for name, operand in self.operands.items()}
        known = Known(self.values, self.operands, (), moved, walk(step), handed_on=kernels.rounded)
        sure = known.doubled(step.sources[0])
        near = np.abs(sure.head - value) <= np.finfo(value.dtype).eps * np.abs(sure.head)
        return np.asarray(near & (DEEP * sure.doubt < 0.5 * np.abs(sure.head)))

    def _stays(self, step: Node) -> Array:
        """Where a small entry is right although terms cancel: wherever the operands move a little, it hardly does.

        The bound of `_is_meant` takes each place of an operand in a formula for another number: √(x² + 1) − x.
        """
        kernels, value = doubled(), self.values[step]

        def found(operands: Mapping[str, Array]) -> Double:
            known = Known(self.values, operands, (), {}, walk(step), handed_on=kernels.rounded)
            return known.doubled(step.sources[0])

        sure = found(self.operands)
        size = np.abs(sure.head)
        stays = (np.abs(sure.head - value) <= np.finfo(value.dtype).eps * size) & (DEEP * sure.doubt < 0.5 * size)
        rng = np.random.default_rng(0)
        for _ in range(MOVED if stays.any() else 0):
            moved = {name: _moved(operand, rng) for name, operand in self.operands.items()}
            stays &= np.abs(found(moved).head - sure.head) < 0.5 * size
        return np.asarray(stays)

    def _made_of_nothing(self, step: Node) -> Array:
        """Where an entry is 0 once those that are left over in the steps behind it are."""
        sources = {source for inner in (step, *inside(step)) for source in inner.sources if source.op == "step"}
        nothing = {source: self.of(source) for source in sources if source in self.values}
        if all(where is None for where in nothing.values()):
            return np.zeros(step.shape, bool)
        clean = {
            s: self.values[s] if gone is None else np.where(gone, 0, self.values[s]) for s, gone in nothing.items()
        }
        source = step.sources[0]
        made = clean[source] if source in clean else evaluate([source], self.operands, given=by_key(clean))[source]
        return np.asarray(made == 0)

    @np.errstate(all="ignore")
    def why_nothing(self, step: Node) -> str:
        """Why a step is 0 all over, or a part of it that is laid beside others: what is 0 there, or cancels."""
        made, home = step.sources[0], step.args["group"]
        while made.row.copies:
            made = made.sources[0]
        if self._is_nothing(step):
            return f"all 0, since {why}" if (why := self._told(made, home)) else ""
        told, start, over = [], 0, made.args.get("over", "")
        for part in made.sources if over and made.row.joins else ():
            size = find(part.axes, over).size if over in part.names else 1
            if self._is_nothing(part) and (why := self._told(part, home)):
                told.append(f"0 at {over}={start}{f'…{start + size - 1}' * (size > 1)}, since {why}")
            start += size
        return "; ".join(told)

    def _told(self, node: Node, home: str) -> str:
        """Why a formula that is 0 all over is so; "" of a function of one value, as a softmax where all is masked."""
        names: dict[str, None] = {}
        others: dict[str, None] = {}
        for behind in self._behind_nothing(node):
            if behind.op == "step" or not behind.sources or behind.row.flops == 0:
                names[symbol(behind, home=home)] = None
            elif np.any(self._terms(behind)):
                others["its terms cancel" if behind is node else "the terms of a factor cancel"] = None
            elif self._vanishes(behind):
                others["numbers so small are 0 in floats"] = None
            elif len(behind.sources) > 1:
                others["one factor is 0 wherever another is not"] = None
        told = [f"{both(list(names))} {are(names)} 0"] if names else []
        return " and ".join((*told, *others))

    def _vanishes(self, node: Node) -> bool:
        """Whether a formula is 0 only since numbers near 0 are: it is not for others that are 0 at the same places."""
        others = {
            str(i): value if source.row.truth or _is_number(source) else (value != 0).astype(float)
            for i, (source, value) in enumerate(zip(node.sources, self._values(*node.sources), strict=True))
        }
        again = node.over([given(str(i), source.axes) for i, source in enumerate(node.sources)])
        return bool(np.any(evaluate([again], others)[again]))

    def _behind_nothing(self, node: Node) -> list[Node]:
        """What is 0 in a formula that is, so that the rest of it does not matter."""
        sources = () if node.op == "step" else node.sources
        zeros = [source for source in sources if not source.row.truth and self._is_nothing(source)]
        for alone in zeros:
            if self._is_enough(node, [alone]):
                return self._behind_nothing(alone)
        if zeros and self._is_enough(node, zeros):
            return [behind for source in zeros for behind in self._behind_nothing(source)]
        return [node] if node.op == "input" or node.sources or node.args.get("symbol") else []

    def _is_nothing(self, node: Node) -> bool:
        """Whether a node is 0 all over, but for what rounding has left."""
        value = self._values(node)[0]
        if value.dtype.kind != "f":  # a mask
            return not np.any(value)
        if node.op == "step" and node in self.values:  # a loop's values hold those of all other nodes, too
            return bool(np.all((value == 0) | (False if (gone := self.of(node)) is None else gone)))
        least = MARGIN * np.finfo(value.dtype).eps * self._terms(node)
        return bool(np.all(np.abs(value) <= least))

    def size_of_terms(self, step: Node) -> float:
        """How large the terms are that the entries of a step are sums of."""
        terms = self._terms(step.sources[0])
        return float(np.max(terms, initial=0.0, where=np.isfinite(terms)))

    def _is_enough(self, node: Node, zeros: Sequence[Node]) -> bool:
        """Whether a primitive gives 0 wherever these of its sources are 0, whatever the others are."""
        rng, values = np.random.default_rng(0), self._values(*node.sources)
        others = {
            str(i): value if source.row.truth else rng.random(source.shape) * (source not in zeros)
            for i, (source, value) in enumerate(zip(node.sources, values, strict=True))
        }
        again = node.over([given(str(i), source.axes) for i, source in enumerate(node.sources)])
        return bool(np.all(evaluate([again], others)[again] == 0))

    def _terms(self, node: Node, *, only_moved: bool = True) -> Array:
        """The sizes of the terms that an entry is the sum of, added up without their signs.

        Where another step's entries are only moved, as when they are cut into heads, added up, or scaled by a number
        that is the same for all of them, it is looked through.
        """
        if node.op == "step":
            if only_moved:
                return self._terms(node.sources[0])
            size, nothing = np.abs(self.values[node]), self.of(node)  # what is made of nothing is nothing as well
            return size if nothing is None else np.where(nothing, self._terms(node.sources[0]), size)
        row = node.row
        moves = row.flops == 0 and bool(node.sources) and not row.truth
        terms = row.kernel if moves else row.terms
        if terms is None and row.rounds:
            return np.abs(self._values(node)[0])
        alone = only_moved and sum(not _is_number(source) for source in node.sources) == 1
        inner = [self._terms(source, only_moved=alone) for source in node.sources]
        if terms is None:
            return self._of_chosen(node, inner)
        if not row.elementwise:
            return np.asarray(terms(node, *inner))
        laid = [align(term, source.axes, node.axes) for term, source in zip(inner, node.sources, strict=True)]
        return np.asarray(terms(*laid))

    def _of_chosen(self, node: Node, inner: Sequence[Array]) -> Array:
        """The terms of those entries that a choice has taken: they are as large as what came of it."""
        places = node.row.places(node)
        value, *sources = (np.abs(found) for found in self._values(node, *node.sources))
        value = align(value, node.axes, places)
        chosen = [
            np.where(align(size, source.axes, places) == value, align(term, source.axes, places), 0)
            for size, term, source in zip(sources, inner, node.sources, strict=True)
        ]
        gone = tuple(at for at, axis in enumerate(places) if axis not in node.axes)
        return np.asarray(np.max(np.broadcast_arrays(*chosen), axis=(0, *(at + 1 for at in gone))))

    def _values(self, *nodes: Node) -> list[Array]:
        found = evaluate(nodes, self.operands, given=by_key(self.values))
        return [found[node] for node in nodes]


def _moved(operand: Array, rng: np.random.Generator) -> Array:
    """An operand with each of its floats off by some last digits."""
    if operand.dtype.kind != "f":
        return operand
    return np.asarray(operand * (1 + MARGIN * np.finfo(operand.dtype).eps * rng.uniform(-1, 1, operand.shape)))


def _is_number(node: Node) -> bool:
    """Whether it is a number of the formula, as √d_k is."""
    return node.op in ("constant", "size") or (bool(node.sources) and all(map(_is_number, node.sources)))
