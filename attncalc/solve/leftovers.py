"""Why entries are 0: terms that cancel except for rounding errors (1.1e-16), or a factor that is 0."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from attncalc.common.errors import are, both, place_text
from attncalc.common.numerals import Array
from attncalc.evaluate.values import FAINT, UNSURE, Known, applied, by_key, evaluate, has_faint
from attncalc.language.axes import align, find
from attncalc.language.graph import Node, given, inside, walk
from attncalc.language.kernels import doubled
from attncalc.language.primitive import symbol

if TYPE_CHECKING:  # few entries are computed with twice the digits
    from attncalc.language.doubled_kernels import Double

MARGIN = 64
"""Values of up to so many rounding errors, relative to the sizes of the terms, count as 0."""
DEEP = 8
"""After many steps an error may be so many times that of one kernel."""


@np.errstate(all="ignore")  # overflow is reported elsewhere
def digits_left(steps: Sequence[Node], values: Mapping[Node, Array], operands: Mapping[str, Array]) -> tuple[str, ...]:
    """Warnings on steps whose formula loses so many digits that computing with twice the digits does not help.

    Steps that depend on matrix products are left out, since every known error bound would be far too large.
    """
    known = Known(values, operands, (), {}, walk(*steps))
    numbers = [np.abs(x[x != 0]) for x in operands.values() if x.dtype.kind == "f" and x.any()]
    nothing = UNSURE * min((np.min(x) for x in numbers), default=1.0)  # how far off a 0 may be
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
"""How many times operands are moved to other values nearby."""


class Leftovers:
    """Finds entries that are only rounding errors in the steps of one graph, and remembers them for later steps."""

    def __init__(self, values: Mapping[Node, Array], operands: Mapping[str, Array]) -> None:
        self.values, self.operands = values, operands
        self.known: dict[Node, Array | None] = {}

    def of(self, step: Node) -> Array | None:
        """A mask of a step's entries that are left over from terms that cancel; None if there is none."""
        if step not in self.known:
            self.known[step] = self._found(step)
        return self.known[step]

    def allowed(self, step: Node) -> Array:
        """How large a step's entries may be by rounding errors alone."""
        return np.asarray(MARGIN * np.finfo(self.values[step].dtype).eps * self._terms(step.sources[0]))

    @np.errstate(all="ignore")  # terms may overflow although they cancel
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
        """A mask of small entries that are right although terms cancel, by error bounds for rounded operands."""
        rounded = {name: doubled().rounded(operand) for name, operand in self.operands.items()}
        return self._is_right(step, self._doubled(step, self.operands, rounded))

    def _stays(self, step: Node) -> Array:
        """A mask of small entries that are right although terms cancel, since moving the operands hardly changes them.

        The bounds of `_is_meant` are too large for √(x² + 1) − x: they treat each x in the formula as another number.
        """
        sure = self._doubled(step, self.operands, {})
        stays = self._is_right(step, sure)
        rng = np.random.default_rng(0)
        for _ in range(MOVED if stays.any() else 0):
            moved = {name: _moved(operand, rng) for name, operand in self.operands.items()}
            stays &= np.abs(self._doubled(step, moved, {}).head - sure.head) < 0.5 * np.abs(sure.head)
        return stays

    def _doubled(self, step: Node, operands: Mapping[str, Array], rests: Mapping[str, Double]) -> Double:
        """A step's value with twice the digits, from operands of which some are known with twice the digits, too."""
        known = Known(self.values, operands, (), rests, walk(step), handed_on=doubled().rounded)
        return known.doubled(step.sources[0])

    def _is_right(self, step: Node, sure: Double) -> Array:
        """A mask of the entries of a step that are the same with twice the digits, which are known well enough."""
        value, size = self.values[step], np.abs(sure.head)
        near = np.abs(sure.head - value) <= np.finfo(value.dtype).eps * size
        return np.asarray(near & (DEEP * sure.doubt < 0.5 * size))

    def _made_of_nothing(self, step: Node) -> Array:
        """A mask of entries that become 0 when left-over entries in the steps behind are set to 0."""
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
        """Why a step, or one of the parts that it is put together from, is all 0: which values are 0, or cancel."""
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
        """Why a formula is all 0; "" for a function of one value, such as a softmax of fully masked scores."""
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
        """Whether a formula is 0 only by underflow: it is not 0 if all nonzero numbers in it are replaced by 1."""
        others = {
            str(i): value if source.row.truth or _is_number(source) else (value != 0).astype(float)
            for i, (source, value) in enumerate(zip(node.sources, self._values(*node.sources), strict=True))
        }
        again = node.over([given(str(i), source.axes) for i, source in enumerate(node.sources)])
        return bool(np.any(evaluate([again], others)[again]))

    def _behind_nothing(self, node: Node) -> list[Node]:
        """The nodes of a zero formula that are 0 and make all of it 0, whatever the others are."""
        sources = () if node.op == "step" else node.sources
        zeros = [source for source in sources if not source.row.truth and self._is_nothing(source)]
        for alone in zeros:
            if self._is_enough(node, [alone]):
                return self._behind_nothing(alone)
        if zeros and self._is_enough(node, zeros):
            return [behind for source in zeros for behind in self._behind_nothing(source)]
        return [node] if node.op == "input" or node.sources or node.args.get("symbol") else []

    def _is_nothing(self, node: Node) -> bool:
        """Whether a node is all 0, except for rounding errors."""
        value = self._values(node)[0]
        if value.dtype.kind != "f":  # a mask
            return not np.any(value)
        if node.op == "step" and node in self.values:  # in a loop, `values` holds nodes that are no steps too
            return bool(np.all((value == 0) | (False if (gone := self.of(node)) is None else gone)))
        least = MARGIN * np.finfo(value.dtype).eps * self._terms(node)
        return bool(np.all(np.abs(value) <= least))

    def size_of_terms(self, step: Node) -> float:
        """The size of the largest terms that are summed in a step's entries."""
        terms = self._terms(step.sources[0])
        return float(np.max(terms, initial=0.0, where=np.isfinite(terms)))

    def _is_enough(self, node: Node, zeros: Sequence[Node]) -> bool:
        """Whether a primitive gives 0 if these sources are 0, whatever the others are."""
        rng, values = np.random.default_rng(0), self._values(*node.sources)
        others = {
            str(i): value if source.row.truth else rng.random(source.shape) * (source not in zeros)
            for i, (source, value) in enumerate(zip(node.sources, values, strict=True))
        }
        again = node.over([given(str(i), source.axes) for i, source in enumerate(node.sources)])
        return bool(np.all(evaluate([again], others)[again] == 0))

    def _terms(self, node: Node, *, only_moved: bool = True) -> Array:
        """For each entry the sum of the absolute values of its terms.

        If a step only moves another step's entries, adds them up or scales them all by one number, the terms are the
        other step's.
        """
        if node.op == "step":
            if only_moved:
                return self._terms(node.sources[0])
            size, nothing = np.abs(self.values[node]), self.of(node)  # a left-over entry has the error of its terms
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
        return applied(terms, node, inner)

    def _of_chosen(self, node: Node, inner: Sequence[Array]) -> Array:
        """The terms of the entries that a choice has taken, which are found by their size."""
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
    """An operand with each of its floats changed in the last digits."""
    if operand.dtype.kind != "f":
        return operand
    return np.asarray(operand * (1 + MARGIN * np.finfo(operand.dtype).eps * rng.uniform(-1, 1, operand.shape)))


def _is_number(node: Node) -> bool:
    """Whether a node is made of numbers and sizes alone, such as √d_k."""
    return node.op in ("constant", "size") or (bool(node.sources) and all(map(_is_number, node.sources)))
