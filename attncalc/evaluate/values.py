"""Graph and operands → values: floats, exact numbers and symbols alike, with given steps and rounding at each step.

The operands decide the kind of numbers: float64 or float32 arrays, or object arrays of SymPy numbers. Numbers in
formulas and sizes are converted to the same kind, so that none widens another.

Values in which rounding errors would show are computed with twice the digits here, and large ones for some places only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from attncalc.common import system
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.language import kernels as doors
from attncalc.language.axes import Axes, Axis, align
from attncalc.language.graph import Node, given, walk_to

if TYPE_CHECKING:
    from attncalc.language.doubled_kernels import Double

Keys = Collection[tuple[str, str]]


class Machine(Protocol):
    """A machine of few digits, which rounds each value."""

    limit: str  # `it is beyond 448, the largest float8_e4m3fn`

    def held(self, value: Array) -> Array:
        """An operand's numbers as the machine stores them."""

    def rounded(self, order: Sequence[Node], given: Keys) -> Container[Node]:
        """The nodes whose values it rounds."""

    def made(self, node: Node, value: Array, sources: Sequence[Array]) -> Array:
        """A primitive's value after rounding, from the value in full and those of its sources."""


ByHand = Callable[[Array], Array]
Rounding = ByHand | Machine
"""How the value of each step is rounded before the next one uses it, or the value of each primitive."""


class Plan(NamedTuple):
    """The order in which evaluate works; a loop makes it once and uses it at every turn."""

    roots: tuple[Node, ...]
    order: tuple[Node, ...]  # sources first
    release: tuple[tuple[Node, ...], ...]  # for each place in the order, the values that are no longer needed after it


def named(node: Node) -> bool:
    """Whether a node is a step; the values of steps are kept to the end, for the reader."""
    return node.op == "step"


def plan(roots: Sequence[Node], *, given: Keys = (), keep: Callable[[Node], bool] = named) -> Plan:
    """The plan to evaluate the roots; nothing behind a `given` step, named by (group, name), is needed.

    Operands are left out unless they are wanted themselves: those of a large model are never all in memory.
    """
    order = [node for node in needed(*roots, given=given) if node.op != "input" or node in roots or keep(node)]
    last: dict[Node, int] = {}
    for place, node in enumerate(order):
        if not is_given(node, given):
            for source in node.sources:
                last[source] = place
    wanted = set(roots)
    release: list[list[Node]] = [[] for _ in order]
    for node, place in last.items():
        if node not in wanted and not keep(node) and node.op != "input":
            release[place].append(node)
    return Plan(tuple(roots), tuple(order), tuple(map(tuple, release)))


def is_given(node: Node, given: Keys) -> bool:
    """Whether a step's value is given, so that it is not computed."""
    return bool(given) and node.op == "step" and node.key in given


def needed(*roots: Node, given: Keys) -> list[Node]:
    """The nodes behind the roots, sources first; behind a given step none is needed."""
    return walk_to(lambda node: is_given(node, given), *roots)


class Values(dict[Node, Array]):
    """The values of nodes; an operand's value is looked up whenever it is needed, and not held."""

    def __init__(self, operands: Mapping[str, Array]) -> None:
        super().__init__()
        self.operands = operands

    def __missing__(self, node: Node) -> Array:
        if node.op != "input":
            raise KeyError(node)
        return self.operands[node.args["name"]]


def evaluate(
    roots: Sequence[Node] | Plan,
    operands: Mapping[str, Array],
    *,
    dtype: str | type[Any] = np.float64,
    given: Mapping[tuple[str, str], Array] | None = None,
    after_step: Rounding | None = None,
    keep: Callable[[Node], bool] = named,
    rests: Mapping[str, Double] | None = None,
    careful: bool = True,
    unsure: set[Node] | None = None,
    counted: bool = False,
) -> dict[Node, Array]:
    """The values of the roots and of every step behind them.

    `given` holds values for steps by their (group, name): nothing behind them is evaluated. `after_step` rounds the
    value of each step before the next one uses it (rounding by hand), or is a machine that rounds each primitive. Other
    values are released after their last use. `rests` holds operands that are known with twice the digits. Unless
    `careful`, digits lost to rounding stay lost, as in the turns of a loop, and always with `after_step`. Nodes whose
    lost digits cannot all be recovered are added to `unsure`. If `counted`, steps are reported to a listener.
    """
    given = given or {}
    careful = careful and after_step is None
    order = roots if isinstance(roots, Plan) else plan(roots, given=given.keys(), keep=keep)
    by_hand, machine = told_apart(after_step)
    rounded = machine.rounded(order.order, given.keys()) if machine else ()
    kind = np.dtype(dtype)
    values = Values(operands)
    known = Known(values, operands, given, rests or {}, order.order)
    done, steps = 0, sum(node.op == "step" for node in order.order) if counted else 0
    with np.errstate(all="ignore"):  # the code that reads the steps finds and reports what overflows or is undefined
        for node, released in zip(order.order, order.release, strict=True):
            system.go_on()
            if node.op == "step":
                value = given[node.key] if is_given(node, given) else values[node.sources[0]]
                values[node] = by_hand(value) if by_hand else value
                if counted:
                    system.tell("step", done := done + 1, steps)
            else:
                values[node] = value_of(node, values, operands, kind)
                if machine and node in rounded:
                    values[node] = machine.made(node, values[node], [values[source] for source in node.sources])
                if careful and node.row.loses and known.shows_rounding(node):
                    values[node] = known.in_full(node)
            for source in released:
                del values[source]
    if unsure is not None:
        unsure |= known.unsure
    return dict(values)


def evaluate_one(root: Node, operands: Mapping[str, Array], **how: Any) -> Array:
    """The value of one node, as `evaluate` gives it; no other value is kept."""
    return evaluate([root], operands, keep=lambda _: False, **how)[root]


def told_apart(rounding: Rounding | None) -> tuple[ByHand | None, Machine | None]:
    """The rounding as (function that rounds steps by hand, machine that rounds primitives), one of them None."""
    return (rounding, None) if rounding is None or callable(rounding) else (None, rounding)


def by_key(values: Mapping[Node, Array]) -> dict[tuple[str, str], Array]:
    """The values of the steps among these nodes by (group, name), as `given` of another evaluation takes them."""
    return {node.key: value for node, value in values.items() if node.op == "step"}


def value_of(node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], dtype: np.dtype[Any]) -> Array:
    """The value of one node, which is no step, from those of its sources."""
    if node.op == "input":
        return operands[node.args["name"]]
    if not node.sources:
        return np.asarray(node.row.kernel(node, dtype))
    return applied(node.row.kernel, node, [values[source] for source in node.sources])


def applied(kernel: Callable[..., Any], node: Node, values: Sequence[Array]) -> Array:
    """What a kernel makes of the sources' values: one that works entry by entry takes no node."""
    return np.asarray(kernel(*laid(node, values)) if node.row.elementwise else kernel(node, *values))


def laid(node: Node, values: Sequence[Array]) -> Sequence[Array]:
    """The sources' values with the axes of a node that works entry by entry, and as they are for any other."""
    if not node.row.elementwise:
        return values
    return [align(value, source.axes, node.axes) for value, source in zip(values, node.sources, strict=True)]


# Digits lost to rounding are recovered where the next primitive would show their loss, as 1 − tanh² x or the sine of a
# large angle do. They are computed with twice the digits from values that are still in memory, a few steps back.


DEEPEST_STEPS = 3
"""Values farther back have lost digits themselves, and a long chain of sums would be recomputed again and again."""


UNSURE = 1e-8
"""If even twice the digits leave a larger relative error, fewer than eight digits of a number are known."""
FAINTEST = 2.0**-90
"""What is left of terms that cancel even with twice the digits counts as 0 if it is smaller, relative to them."""


class Known:
    """The values in memory while a graph is evaluated, from which digits lost to rounding are recovered."""

    def __init__(
        self,
        values: Mapping[Node, Array],
        operands: Mapping[str, Array],
        given: Keys,
        rests: Mapping[str, Double],
        order: Sequence[Node],
        handed_on: Callable[[Array], Double] | None = None,
    ) -> None:
        self.values, self.operands, self.given, self.rests, self.order = values, operands, given, rests, order
        self.handed_on = handed_on  # how a group takes a value of another group, by default as an exact float
        self.found_known: dict[Node, bool] = {}
        self.unsure: set[Node] = set()  # nodes of which few digits are known, even with twice the digits

    @cached_property
    def parts(self) -> Mapping[Node, str]:
        """Node → its group; a node that is no step has the group of the last node that uses it."""
        found = {node: node.args["group"] for node in self.order if node.op == "step"}
        for node in reversed(self.order):
            for source in node.sources:
                found.setdefault(source, found.get(node, ""))
        return found

    def shows_rounding(self, node: Node) -> bool:
        """Whether rounding errors of the sources show in the value of a node, and can be recovered."""
        row = node.row
        if self.values[node].dtype.kind != "f" or not (row.adds or any(map(self._is_rounded, node.sources))):
            return False
        if row.loses not in (doors.cancels, doors.cancels_along) and (
            self.values[node].size > doors.SHOWN_ENTRY_BY_ENTRY or not all(map(self.is_known, node.sources))
        ):  # the last digits of a large value are not worth a hundred times the time
            return False
        sources = laid(node, [self.values[source] for source in node.sources])
        return bool(row.loses and row.loses(node, self.values[node], *sources))

    def _is_rounded(self, node: Node) -> bool:
        """Whether a value has a rounding error that can be recovered; choices and moves add none."""
        stack, seen = [node], {node}
        while stack:
            made = stack.pop()
            if is_given(made, self.given):
                continue
            if not made.sources:
                is_float = made.op == "constant" and not isinstance(made.args["value"], int)
                if is_float or made.args.get("name") in self.rests:
                    return True
            elif made.row.doubled and made.row.rounds and made.row.flops != 0:
                return True
            elif made.row.doubled:
                stack += [source for source in made.sources if source not in seen]
                seen.update(made.sources)
        return False

    def is_known(self, node: Node) -> bool:
        """Whether everything behind a value is known with twice the digits, which a matrix product is not.

        Terms made of the same rounded value may cancel exactly, but a function of a rounded value has no more digits.
        """
        found, stack = self.found_known, [node]
        while stack:
            made = stack[-1]
            behind = made.sources if made.row.doubled and not is_given(made, self.given) else ()
            if new := [source for source in behind if source not in found]:
                stack += new
                continue
            found[stack.pop()] = (bool(made.row.doubled) or not made.sources) and all(found[each] for each in behind)
        return found[node]

    def in_full(self, node: Node) -> Array:
        """The value of a node from its sources before they were rounded; the ordinary value if that is not finite."""
        value, (head, _, doubt) = self.values[node], self.doubled(node)
        scale = max(np.max(np.abs(self.values[source]), initial=0) for source in node.sources)
        is_faint = (doubt <= FAINTEST * scale) & ((doubt <= np.abs(value)) | (value == 0))
        if (doubt > UNSURE * np.abs(head)).any():
            self.unsure.add(node)
        head = np.where((np.abs(head) <= doubt) & is_faint, 0, head).astype(value.dtype)
        return np.where(np.isfinite(head), head, value)

    def doubled(self, node: Node, deepest: float = DEEPEST_STEPS) -> Double:
        """A value with twice the digits, computed from values up to so many steps behind it.

        Values of another group are taken as they are, so that a group gives the same results as when it stands alone.
        """
        kernels, values, home = doors.doubled(), self.values, self.parts.get(node, "")

        def ends(made: Node) -> bool:
            return made in values and (is_given(made, self.given) or self.parts.get(made, "") != home)

        depth = {node: 0}  # how many steps lie between the node and this one
        stack = [node]
        while stack:
            made = stack.pop()
            within = depth[made] + (made.op == "step")
            if within <= deepest and not ends(made) and made.row.doubled:
                for source in made.sources:
                    if source not in depth or depth[source] > within:
                        depth[source] = within
                        stack.append(source)
        found: dict[Node, Double] = {}
        for made in sorted(depth, key=attrgetter("serial")):
            sources = [found[source] for source in made.sources if source in found]
            if not made.sources:
                pair = self._leaf(made)
            elif ends(made):
                pair = ((not is_given(made, self.given) and self.handed_on) or kernels.exactly)(values[made])
            elif len(sources) == len(made.sources) and made.row.doubled:
                pair = _in_twice_the_digits(made, sources)
                if made.op == "step" and made in values:
                    pair = kernels.as_far_as_known(pair, values[made])
            elif made in values:
                pair = kernels.rounded(values[made])
            elif made is node:
                pair = kernels.exactly(np.full(node.shape, np.nan))
            else:
                continue
            shape = pair.head.shape
            found[made] = kernels.Double(*(p if p.shape == shape else np.broadcast_to(p, shape) for p in pair))
        return found[node]

    def _leaf(self, node: Node) -> Double:
        if node.args.get("name") in self.rests:
            return self.rests[node.args["name"]]
        kernels = doors.doubled()
        found: Double = (
            kernels.number(node.args["value"])
            if node.op == "constant"
            else kernels.exactly(value_of(node, self.values, self.operands, np.dtype(float)))
        )
        return found


def _in_twice_the_digits(node: Node, sources: Sequence[Double]) -> Double:
    kernels = doors.doubled()
    kernel: Callable[..., Double] = getattr(kernels, node.row.doubled)
    if not node.row.elementwise:
        return kernel(node, *sources)
    pairs = zip(sources, node.sources, strict=True)
    return kernel(*(kernels.Double(*(align(part, own.axes, node.axes) for part in pair)) for pair, own in pairs))


# Some places of a value, computed from the same places of its sources alone.
#
# A smaller graph is written for them, in which each axis that is cut has the number of these places as its size. A
# primitive that mixes entries along an axis cannot be cut along it, and its value is needed as a whole.


_Cut = tuple[Node, frozenset[Axis]]
"""A node, and the axes along which only some of its places are needed."""


class Portion(NamedTuple):
    """A graph for some places of some axes; its inputs are parts of other nodes' values."""

    roots: tuple[Node, ...]
    taken: Mapping[str, tuple[Node, frozenset[Axis]]]  # input → the node that it is cut from, and along which axes


def divides(node: Node, axis: Axis) -> bool:
    """Whether each place of a value along an axis depends only on the same place of the sources."""
    return (
        axis in node.axes
        and axis.name not in node.row.mixes(node)
        and (node.row.copies or any(axis in source.axes for source in node.sources))
    )


def portion(
    targets: Sequence[Node],
    sizes: Mapping[Axis, int],
    known: Callable[[Node], bool],
    adding: Container[Node] = (),
) -> Portion:
    """The graph of the targets for so many places of the axes; its inputs are nodes that are known or cannot be cut.

    A node that is `adding` sums over the axis: it gives the sum over these places.
    """
    sources: dict[_Cut, tuple[_Cut, ...]] = {}
    roots = [(target, frozenset(sizes).intersection(target.axes)) for target in targets]
    stack = list(roots)
    while stack:
        node, cut = at = stack.pop()
        if at in sources:
            continue
        within = frozenset(sizes) if node in adding else cut
        ends = known(node) or not node.sources or (node not in adding and not all(divides(node, axis) for axis in cut))
        sources[at] = () if ends else tuple((source, within.intersection(source.axes)) for source in node.sources)
        stack.extend(sources[at])
    new: dict[_Cut, Node] = {}
    taken: dict[str, tuple[Node, frozenset[Axis]]] = {}
    for node, cut in sorted(sources, key=lambda at: at[0].serial):
        smaller = {axis: axis._replace(size=sizes[axis]) for axis in cut}
        if sources[node, cut]:
            args = {name: _resized(value, smaller) for name, value in node.args.items()}
            new[node, cut] = Node(node.op, *(new[source] for source in sources[node, cut]), **args)
        else:
            name = f"{len(taken)}"
            taken[name] = node, cut
            new[node, cut] = given(name, _resized(node.axes, smaller))
    return Portion(tuple(new[root] for root in roots), taken)


def _resized(value: Any, smaller: Mapping[Axis, Axis]) -> Any:
    """A node's argument with its axes cut to their smaller sizes."""
    if isinstance(value, Axis):
        return smaller.get(value, value)
    if isinstance(value, tuple) and any(isinstance(part, Axis) for part in value):
        return tuple(_resized(part, smaller) for part in value)
    return value


def entries(
    node: Node,
    chosen: Mapping[Axis, Sequence[int]],
    values: Mapping[Node, Array],
    operands: Mapping[str, Array],
    dtype: str,
) -> Array:
    """A node's entries at some places of its axes, from known values and the operands."""
    if node in values or not node.sources:
        whole = values[node] if node in values else value_of(node, values, operands, np.dtype(dtype))
        return at_places(whole, node.axes, chosen)
    chosen = {axis: places for axis, places in chosen.items() if places != range(axis.size)}
    cut = {axis: places for axis, places in chosen.items() if divides(node, axis)}
    sizes = {axis: len(places) for axis, places in cut.items()}
    smaller = portion([node], sizes, values.__contains__)
    inputs = {
        name: entries(source, {axis: cut[axis] for axis in along}, values, operands, dtype)
        for name, (source, along) in smaller.taken.items()
    }
    found = evaluate_one(smaller.roots[0], inputs, dtype=dtype)
    return at_places(found, node.axes, {axis: places for axis, places in chosen.items() if axis not in cut})


def at_places(value: Array, axes: Axes, chosen: Mapping[Axis, slice] | Mapping[Axis, Sequence[int]]) -> Array:
    """The value at the chosen places, or all places along an axis without a choice."""
    for number, axis in enumerate(axes):
        if axis in chosen:
            value = value[(*[slice(None)] * number, chosen[axis])]
    return value


FAINT = 2.0**23
"""Entries smaller than so many rounding errors of the largest one may be left over from terms that cancel."""
FAINTEST_SHARE = 1e-3
"""In a narrow type that limit would exceed the entries; there, smaller shares of the largest entry are faint."""


def has_faint(value: Array) -> bool:
    """Whether an entry is so small, compared with the largest, that it may be left over from terms that cancel."""
    if value.dtype.kind != "f":
        return False
    size = np.abs(value)
    largest = np.max(size, initial=0.0, where=np.isfinite(size))
    faint = min(FAINT * np.finfo(value.dtype).eps, FAINTEST_SHARE)
    return bool(largest < faint or ((size > 0) & (size < faint * largest)).any())
