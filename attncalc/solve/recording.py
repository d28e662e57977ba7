"""Values → Steps, and what is behind them: an entry's arithmetic, its origins, what rounding left over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import AttncalcError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.evaluate.values import by_key, evaluate, has_faint, named
from attncalc.language import primitive
from attncalc.language.axes import Axes, names
from attncalc.language.graph import Node, about, inside
from attncalc.language.primitive import At, Cell, Form, Literal, Pick
from attncalc.record.trace import Arithmetic, Check, Entry, Origin, Step

if TYPE_CHECKING:
    from attncalc.evaluate.loops import Loop, Turn
    from attncalc.evaluate.precisions import Narrow, Rounded
    from attncalc.solve.leftovers import Leftovers


class Kept(NamedTuple):
    """What a trace was recorded from, kept for later questions."""

    named: Sequence[Node]
    values: Mapping[Node, Array]
    operands: Mapping[str, Array]
    kind: str = ""  # the dtype of a large run that does not keep every step, else ""
    loop: Loop | None = None
    turns: Sequence[Turn] = ()  # the turns of the loop that were kept
    rounded: bool = False  # whether steps are rounded, so that an entry is its arithmetic's result, rounded


class Recorded(NamedTuple):
    """The result of an evaluation: steps, outputs, notes on them, and the graph behind them."""

    steps: tuple[Step, ...]
    outputs: tuple[Step, ...]
    notes: tuple[str, ...]
    behind: Kept
    warnings: tuple[str, ...] = ()


def record(
    node: Node,
    value: Array | None,
    labels: Mapping[str, tuple[str, ...]],
    drift: float | None = None,
    check: Check | None = None,
) -> Step:
    """The Step for a named node: its formula in every form, and its value if that is kept."""
    expression = node.sources[0]
    points, formula = expression.row.points, primitive.formula(node)
    made = Step(
        name=node.args["name"],
        group=node.args["group"],
        axes=node.names,
        shape=node.shape if value is None else value.shape,
        value=value,
        symbol=primitive.symbol(node),
        symbol_latex=primitive.symbol(node, "latex"),
        formula=formula,
        sizes=primitive.sizes(node, formula),
        latex=primitive.formula(node, "latex"),
        about=about(node),
        why=node.args["why"],
        labels={axis.name: labels[axis.name] for axis in node.axes if len(labels.get(axis.name, ())) == axis.size},
        gradient_of=node.args["of"],
        check=check,
        drift=drift,
    )
    return made.as_ids(labels.get(expression.args[points], ())) if points else made


def drop(step: Step, dropped: frozenset[str]) -> Step:
    """An output without the row axis that was added because a vector stood for one row."""
    kept = [i for i, name in enumerate(step.axes) if name.removesuffix("'") not in dropped]
    if len(kept) == len(step.axes) or step.value is None:
        return step
    shape = tuple(step.shape[i] for i in kept)
    return step._replace(value=step.value.reshape(shape), shape=shape, axes=tuple(step.axes[i] for i in kept))


def spread_again(gradient: Step, read: Axes, axes: Axes) -> Step:
    """A broadcast operand's gradient with all the axes that it was given with, including those of size 1."""
    if gradient.value is None:
        return gradient
    front = len(gradient.axes) - len(read)  # in a Jacobian the result's own axes stand in front
    shape = gradient.shape[:front] + tuple(axis.size for axis in axes)
    return gradient._replace(
        value=gradient.value.reshape(shape),
        shape=shape,
        axes=gradient.axes[:front] + names(axes),
        check=gradient.check and gradient.check._replace(numeric=gradient.check.numeric.reshape(shape)),
    )


# One entry of a step: its arithmetic with numbers in place, and its origins.
#
# The cells of primitives say how an entry is made from entries of their sources. They are followed down to steps,
# operands and numbers. The arithmetic, `0.8×0.7 + 0.2×0.3`, is written with their values, and with brackets where a
# reader needs them. The origins are their places, with nothing left out of a long sum. An entry that decides a choice
# (the entry of a mask, the number of a row) is an origin too.


EntryOf = Callable[[Node, At], Any]
"""(node, place) → the value there, for any node."""
_Pieces = tuple[list["str | Entry"], float]
"""The pieces of an entry's arithmetic, and their precedence as in `Op.binds`."""
_Where = tuple[Node, tuple[int, ...]]

NEGATED = 4
"""The precedence of a term with a minus in front: it needs brackets anywhere but at the start of a sum."""
_INFIX = {"+": (" + ", 3, NEGATED, 3), "−": (" − ", 3, NEGATED, 2.5), "×": ("×", 2, 2, 2), "/": (" / ", 2.5, 2, 1)}
"""Operation → its sign, its precedence, and the loosest precedences of its first and other parts without brackets."""
_OPPOSITE = {"≤": ">", "<": "≥", "=": "≠"}
"""A comparison → what is written if it does not hold, so that every line is true."""
LONGEST = 8
"""A sum or a choice with more terms is shortened in the middle, since the rule is clear from the first ones."""
EQUALS = " = "
"""Stands between two forms of an entry's arithmetic; a comparison may contain this sign too."""
MOST_TERMS = 2**20
"""An entry made of more terms is not written out, since that would take more time and memory than its value did."""


@np.errstate(all="ignore")  # overflow is reported with the step
def entry(node: Node, at: At, value: EntryOf, deepest: int | None = None) -> Arithmetic:
    """The arithmetic of a step's entry; empty if the entry is only handed on, or is just a number.

    The comparison that chose it follows in brackets, in its true form: `0.5×2 (0.9 ≥ 0.4)`. If the entry itself is a
    truth, a chosen number or masked, the arithmetic is only that comparison. A choice inside a formula is a factor, 1
    or 0, as in `[0.3 < 0.5] + [0.7 < 0.5]`, followed by the same line with numbers, `1 + 0`. Below `deepest` nested
    operations only the parts' values are written.
    """
    expression = node.sources[0] if node.op == "step" else node
    if _is_leaf(expression):
        return ()
    writer = _Writer(value, deepest=deepest)
    if expression.row.truth:
        return _joined(writer.deciding(expression, at))
    here, there = expression, at
    while not (_is_leaf(here) or _is_long(here)):
        cell = writer.cell(here, there)
        if here.row.chooses:
            writer.give(here.sources[0], there)
        if not isinstance(cell, Pick):
            break
        here, there = here.sources[cell.source], cell.at
    pieces, _ = writer.of_node(here, there)
    alone = len(pieces) == 1
    if writer.factors:
        plain, _ = _Writer(value, brackets=False, deepest=deepest).of_node(here, there)
        pieces = [*pieces, EQUALS, *plain] if len(plain) > 1 else pieces
    if why := list(writer.reasons):
        if not alone:
            return _joined([*pieces, " (", *why, ")"])
        return _joined([*pieces, ": ", *why] if here.row.chooses else why)  # masked
    return () if alone and expression.row.joins else _joined(pieces)


def _is_leaf(node: Node) -> bool:
    return node.op in ("step", "input")


def _is_long(node: Node) -> bool:
    """Whether an entry is made of so many others that it is not written out."""
    mixed = node.row.mixes(node)
    return any(axis.size > MOST_TERMS for source in node.sources for axis in source.axes if axis.name in mixed)


def _is(node: Node, number: int) -> bool:
    """Whether a node is this number."""
    return node.op == "constant" and bool(node.args["value"] == number)


class _Writer:
    """Writes an entry's arithmetic; with `brackets` a choice inside it is a factor, `[0.3 < 0.5]`."""

    def __init__(self, value: EntryOf, *, brackets: bool = True, deepest: int | None = None) -> None:
        self.value, self.brackets, self.deepest = value, brackets, deepest
        self.depth = 0
        self.known: dict[tuple[_Where, int], _Pieces] = {}  # a part that occurs several times is written once
        self.reasons: list[str | Entry] = []  # the comparisons that follow the line
        self.factors = False  # whether it contains a choice as a factor

    def cell(self, node: Node, at: At) -> Cell:
        """The cell of an entry of a node."""
        return node.row.cell(node, at, lambda source, place: self.value(node.sources[source], place))

    def give(self, condition: Node, at: At) -> None:
        """Add the comparison behind a choice to `reasons`, unless it is there already."""
        told = self.deciding(condition, {name: at[name] for name in condition.names})
        known = "".join(map(str, self.reasons))
        if told and "".join(map(str, told)) not in known:
            self.reasons += [" and ", *told] if self.reasons else told

    def deciding(self, node: Node, at: At) -> list[str | Entry]:
        """The comparisons that decide a truth, in their true form: `0.9505 ≥ 0.4`."""
        truth = self._truth(node, at)
        if truth.sign in _OPPOSITE:
            return self._compared(node, truth, holds=bool(self.value(node, at)))
        picks = [(node.sources[pick.source], pick.at) for pick in truth.parts if isinstance(pick, Pick)]
        false = [pick for pick in picks if not self.value(*pick)] if len(picks) > 1 else []
        told: list[str | Entry] = []
        for pick in false[:1] or picks:
            if found := self.deciding(*pick):
                told += [" and ", *found] if told else found
        return told

    def _truth(self, node: Node, at: At) -> Form:
        """The cell of a truth; an empty form for a mask, or for a test of places, as on a diagonal."""
        if _is_leaf(node):
            return Form("", ())
        cell = self.cell(node, at)
        if not isinstance(cell, Form):
            return Form("", (cell,))
        of_places = cell.sign == "=" and all(source.op in ("index", "constant") for source in node.sources)
        return Form("", ()) if of_places else cell

    def _compared(self, node: Node, truth: Form, *, holds: bool) -> list[str | Entry]:
        """A comparison with numbers in place, or its opposite if it does not hold."""
        plain = _Writer(self.value, brackets=False)
        left, right = (plain.of_part(node, part)[0] for part in truth.parts)
        return [*left, f" {truth.sign if holds else _OPPOSITE[truth.sign]} ", *right]

    def _tests(self, node: Node, at: At, *, holds: bool) -> list[list[str | Entry]]:
        """The comparisons that together are equivalent to a truth; empty if it has no such form."""
        truth = self._truth(node, at)
        if truth.sign in _OPPOSITE:
            return [self._compared(node, truth, holds=holds)]
        if len(truth.parts) > 1 and not holds:
            return []
        found = [
            self._tests(node.sources[part.source], part.at, holds=holds != (truth.sign == "not"))
            for part in truth.parts
            if isinstance(part, Pick)
        ]
        return [test for tests in found for test in tests] if all(found) else []

    def of_node(self, node: Node, at: At) -> _Pieces:
        """The arithmetic of a node's entry."""
        if _is_leaf(node):
            return [Entry(self.value(node, at), brackets=False)], 0
        if _is_long(node):
            return ["…"], 0
        where = (node, tuple(at[name] for name in node.names)), self.depth if self.deepest else 0
        if where not in self.known:
            cell = self.cell(node, at)
            if isinstance(cell, Form) and self.depth == self.deepest:
                return [Entry(self.value(node, at), brackets=False)], 0
            self.depth += isinstance(cell, Form)
            chosen = self._as_factors(node, at) if self.brackets and node.row.chooses else None
            self.known[where] = chosen or self._of_cell(node, cell)
            self.depth -= isinstance(cell, Form)
        return self.known[where]

    def _as_factors(self, node: Node, at: At) -> _Pieces | None:
        """A choice between a value and 0, as `0.8×[0.3 < 0.5]`; None for any other choice, which `reasons` explain."""
        condition, *sources = node.sources
        first = not _is(sources[0], 0)
        source, other = sources if first else sources[::-1]
        place = {name: at[name] for name in condition.names}
        tests = self._tests(condition, place, holds=first) if _is(other, 0) else []
        there = Pick(node.sources.index(source), {name: at[name] for name in source.names})
        if not tests or not _is_finite(self.value(source, there.at)):
            self.give(condition, at)
            return None
        self.factors = True
        factors = [(["[", *test, "]"], 0.0) for test in tests]
        if not _is(source, 1):
            factors.insert(0, self.of_part(node, there))
        return _form(Form("×", (there,) * len(factors)), factors)

    def _of_cell(self, node: Node, cell: Cell) -> _Pieces:
        if isinstance(cell, Pick):
            return self.of_node(node.sources[cell.source], cell.at)
        if isinstance(cell, Literal):
            if isinstance(cell.value, str):
                return [cell.value], 0
            return [Entry(cell.value, brackets=False)], 0
        parts = [self.of_part(node, part) for part in _shortened(node, cell, self.value)]
        return _form(cell, parts)

    def of_part(self, node: Node, cell: Cell) -> _Pieces:
        """The arithmetic of a part of a form; a value in place of words, as for an entry of a unit vector."""
        pieces, holds = self._of_cell(node, cell)
        if isinstance(cell, Pick) and len(pieces) == 1 and isinstance(pieces[0], str) and " " in pieces[0]:
            return [Entry(self.value(node.sources[cell.source], cell.at), brackets=False)], 0
        return pieces, holds


def _is_finite(number: Any) -> bool:
    """Whether 0 times a number is 0."""
    return not isinstance(number, (float, np.floating)) or bool(np.isfinite(number))


def _shortened(node: Node, form: Form, value: EntryOf) -> Iterable[Cell]:
    """The parts of a form; of many only the first and last ones, and for a choice also the chosen one."""
    count = len(form.parts)
    if form.sign not in ("+", "max", "argmax") or count <= LONGEST:
        return form.parts
    kept = {0, 1, 2, count - 1}
    if form.sign != "+":
        kept.add(max(range(count), key=lambda i: _largest(node, form.parts[i], value)))
    found: list[Cell] = []
    for i in sorted(kept):
        found += [Literal("…")] if i and i - 1 not in kept else []
        found.append(form.parts[i])
    return found


def _largest(node: Node, cell: Cell, value: EntryOf) -> Any:
    """The value by which a choice compares a part: an entry, or the largest of several."""
    if isinstance(cell, Pick):
        return value(node.sources[cell.source], cell.at)
    parts = cell.parts if isinstance(cell, Form) else ()
    return max((_largest(node, part, value) for part in parts), default=-np.inf)


def _form(form: Form, parts: list[_Pieces]) -> _Pieces:
    sign = form.sign
    if sign in _INFIX:
        mark, level, first, others = _INFIX[sign]
        if len(parts) == 1:
            return parts[0]
        pieces = _bracketed(parts[0], first, first=True)
        for part in parts[1:]:
            if sign == "+" and part[0][0] == "−":  # a − b, not a + (−b); also for the first term of a sum in a sum
                pieces += [" − ", *part[0][1:]]
            elif sign == "+" and (size := _taken_away(part[0])):
                pieces += [" − ", *size]
            else:
                pieces += [mark, *_bracketed(part, others)]
        return pieces, level
    if sign in _OPPOSITE or sign == "and":
        left, right = parts
        return [*left[0], f" {sign} ", *right[0]], 4
    if sign == "neg":
        return ["−", *_bracketed(parts[0], 1)], NEGATED
    if sign == "√":
        return ["√", *_bracketed(parts[0], 0, first=True)], 1
    if sign == "^":
        base, exponent = parts
        power = "²" if exponent[0] == [Entry(2, brackets=False)] else None
        raised = [power] if power else ["^", *_bracketed(exponent, 0)]
        return [*_bracketed(base, 0), *raised], 1
    if sign == "abs":
        return ["|", *parts[0][0], "|"], 0
    if sign == "exp":
        return ["e^", *_bracketed(parts[0], 0)], 1
    if sign == "!":
        return [*_bracketed(parts[0], 0), "!"], 1
    inside: list[str | Entry] = []
    for pieces, _ in parts:
        inside += [", ", *pieces] if inside else pieces
    return [f"{sign}(", *inside, ")"], 0


def _taken_away(pieces: list[str | Entry]) -> list[str | Entry]:
    """The term without its minus, `1×2` for `(-1)×2`, if only its first number is negative; empty for any other."""
    first, *others = pieces
    numbers = [piece.value for piece in pieces if isinstance(piece, Entry)]
    below = [isinstance(number, (int, float, np.number)) and -np.inf < number < 0 for number in numbers]
    factor = others and isinstance(others[0], str) and others[0].startswith(("×", " / "))
    if isinstance(first, Entry) and factor and below[0] and not any(below[1:]):
        return [first._replace(value=-first.value), *others]
    return []


def _bracketed(part: _Pieces, level: float, *, first: bool = False) -> list[str | Entry]:
    pieces, holds = part
    if holds > level:
        return ["(", *pieces, ")"]
    if isinstance(pieces[0], Entry) and not first:
        return [pieces[0]._replace(brackets=True), *pieces[1:]]
    return list(pieces)


def spelled(pieces: Arithmetic) -> str:
    """Arithmetic as text: `ln(0)`."""
    return "".join(piece if isinstance(piece, str) else _spelled(piece) for piece in pieces)


def _spelled(number: Entry) -> str:
    text = f"{number.value:.4g}".replace("-", "−").replace("inf", "∞")
    return f"({text})" if number.brackets and text.startswith("−") else text


def _joined(pieces: Iterable[str | Entry]) -> Arithmetic:
    """The pieces with neighbouring texts joined."""
    result: list[str | Entry] = []
    for piece in pieces:
        if isinstance(piece, str) and result and isinstance(result[-1], str):
            result[-1] += piece
        else:
            result.append(piece)
    return tuple(result)


Place = tuple[int, ...]

MOST_FOLLOWED = 2_000  # entries; nobody can look at more at once
MOST_TOLD = 40  # blocks


@np.errstate(all="ignore")  # overflow is reported with the step
def origins(node: Node, at: At, value: EntryOf) -> tuple[Origin, ...]:
    """The entries from which a step's entry is made, in blocks, in the order of the formula; empty if too many.

    They are entries of the steps and operands in the step's own formula, not of those behind these.
    """
    expression = node.sources[0] if node.op == "step" else node
    found: dict[Node, set[Place]] = {}
    seen: set[tuple[Node, Place]] = set()
    ahead: list[tuple[Node, At]] = [(expression, at)]
    while ahead:
        here, there = ahead.pop()
        place = tuple(there[name] for name in here.names)
        if (here, place) in seen:
            continue
        seen.add((here, place))
        if len(seen) > MOST_FOLLOWED:
            return ()
        if _is_leaf(here):
            found.setdefault(here, set()).add(place)
        elif here.row.adds and _added(here) >= MOST_FOLLOWED:
            return ()
        else:
            ahead.extend(reversed(_sources(here, there, value)))
    blocks = [
        Origin(leaf.args["name"] if leaf.op == "input" else leaf.path, leaf.op == "input", ranges)
        for leaf, places in found.items()
        for ranges in _blocks(leaf.names, places)
    ]
    return tuple(blocks) if len(blocks) <= MOST_TOLD else ()


def _added(node: Node) -> int:
    """How many entries of a source are summed in one entry of a node."""
    mixed = node.row.mixes(node)
    return max(prod(axis.size for axis in source.axes if axis.name in mixed) for source in node.sources)


def _sources(node: Node, at: At, value: EntryOf) -> list[tuple[Node, At]]:
    """The entries of the sources from which an entry is made, and those that decide how it is made."""
    looked: list[Pick] = []

    def look(source: int, place: At) -> Any:
        looked.append(Pick(source, place))
        return value(node.sources[source], place)

    picked = list(_picks(node.row.cell(node, at, look)))
    return [(node.sources[pick.source], pick.at) for pick in (*picked, *looked)]


def _picks(cell: Cell) -> Iterator[Pick]:
    if isinstance(cell, Pick):
        yield cell
    elif isinstance(cell, Form):
        for part in cell.parts:
            yield from _picks(part)


def _blocks(names: tuple[str, ...], places: set[Place]) -> Iterator[Mapping[str, range]]:
    """The places as one block if they fill it, otherwise as stretches of rows."""
    spans = [range(min(along), max(along) + 1) for along in zip(*places, strict=True)]
    if prod(map(len, spans)) == len(places):
        yield dict(zip(names, spans, strict=True))
        return
    for before, row in groupby(sorted(places), key=lambda place: place[:-1]):
        lead = [range(i, i + 1) for i in before]
        stretches = groupby(enumerate(place[-1] for place in row), key=lambda pair: pair[1] - pair[0])
        for _, stretch in stretches:
            along = [i for _, i in stretch]
            yield dict(zip(names, [*lead, range(along[0], along[-1] + 1)], strict=True))


# The graph behind a trace, with its values, to answer questions about entries once the trace is made.


MOST_OFF = 1e-6
"""An entry's arithmetic must reproduce it with at most this relative error."""


class Around:
    """The values in which a step's entries are looked up."""

    def __init__(
        self, values: Mapping[Node, Array], operands: Mapping[str, Array], look: EntryOf | None = None
    ) -> None:
        self.values, self.operands = values, operands
        self.look = look or looking(values, operands)
        self.faint: dict[Node, bool] = {}  # step → whether it has entries that may be left over
        self.hidden_digits: dict[Node, Array] = {}  # step → a mask of entries with digits that no earlier step shows
        self.clean: dict[Node, tuple[Array, EntryOf] | None] = {}

    @cached_property
    def leftovers(self) -> Leftovers:
        """The finder of entries that are only rounding errors."""
        from attncalc.solve.leftovers import Leftovers  # a door: most pages have no faint entry

        return Leftovers(self.values, self.operands)

    def left_over(self, step: Node) -> Array | None:
        """A mask of a step's entries that are left over from terms that cancel; None if there is none."""
        if step not in self.faint:
            self.faint[step] = has_faint(self.values[step])
        return self.leftovers.of(step) if self.faint[step] else None

    def look_for(self, node: Node, at: At) -> EntryOf:
        """The values for an entry's arithmetic: those that pages show, if they reproduce the entry."""
        found = self.cleaned(node)
        return found[1] if found and found[0][tuple(at[name] for name in node.names)] else self.look

    def cleaned(self, node: Node) -> tuple[Array, EntryOf] | None:
        """A mask of entries that stay the same if left-over entries behind them are 0, and the values with these 0s."""
        if node not in self.clean:
            self.clean[node] = self._cleaned(node)
        return self.clean[node]

    def _cleaned(self, node: Node) -> tuple[Array, EntryOf] | None:
        behind = {source for made in (node, *inside(node)) for source in made.sources if named(source)}
        gone = {step: self.left_over(step) for step in behind if step in self.values and step is not node}
        clean = {step: np.where(where, 0, self.values[step]) for step, where in gone.items() if where is not None}
        value = self.values.get(node)
        if not clean or value is None:
            return None
        values = {**self.values, **clean}
        with np.errstate(all="ignore"):
            made = self._made_of(values, node)
            return np.abs(made - value) <= MOST_OFF * np.abs(value), looking(values, self.operands)

    def _made_of(self, values: Mapping[Node, Array], node: Node) -> Array:
        """A step computed from these values of other steps."""
        own = {key: given for key, given in by_key(values).items() if key != node.key}
        return evaluate([node], self.operands, dtype=self.values[node].dtype.name, given=own)[node]

    def has_hidden_digits(self, node: Node, at: At) -> bool:
        """Whether an entry has digits that the recorded values of earlier steps do not give."""
        value = self.values.get(node)
        if value is None or value.dtype.kind != "f":
            return False
        if node not in self.hidden_digits:
            shown = self._made_of(self.values, node)
            with np.errstate(all="ignore"):
                apart = np.abs(value - shown)
                off = apart > MOST_OFF * np.abs(value)
                if off.any():  # if terms cancel, both may be mere rounding errors, which are shown as 0
                    nothing = (value == 0) | (False if (left := self.left_over(node)) is None else left)
                    off &= ~nothing | (apart > (self.leftovers.allowed(node) if nothing.any() else 0))
            self.hidden_digits[node] = off
        return bool(self.hidden_digits[node][tuple(at[name] for name in node.names)])

    @cached_property
    def shown(self) -> EntryOf:
        """Entries as pages show them, with 0 for those that are left over."""
        clean = dict(self.values)
        for step in filter(named, self.values):
            if (nothing := self.left_over(step)) is not None:
                clean[step] = np.where(nothing, 0, self.values[step])
        return looking(clean, self.operands)


MOST_CACHED = 100  # entries whose arithmetic is cached


class Behind:
    """The graph behind a trace that was evaluated once."""

    def __init__(self, kept: Kept) -> None:
        self.named, self.values, self.operands = kept[:3]
        self.looks_for_digits = not (kept.rounded or kept.kind)  # whether to look for digits that no earlier step shows
        self.cached: dict[tuple[str, tuple[int, ...], int | None], Arithmetic] = {}

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The named nodes by their keys."""
        return {node.path: node for node in self.named}

    @cached_property
    def around(self) -> Around:
        """The values of the whole graph."""
        return Around(self.values, self.operands)

    def found(self, step: Step) -> tuple[Node, Around] | None:
        """The node of a step, and the values around it; None if it is no step of the graph, such as an operand."""
        node = self.nodes.get(step.key) if step.formula else None
        return None if node is None else (node, self.around)

    def kept_around(self, step: Step) -> tuple[Node, Around] | None:
        """The same, but None if not all values around the step were kept."""
        return self.found(step)

    def knows(self, step: Step) -> bool:
        """Whether the step belongs to the graph."""
        return self.found(step) is not None

    def arithmetic(self, step: Step, at: tuple[int, ...], deepest: int | None = None) -> Arithmetic:
        """The arithmetic of one entry, from the values of the steps and operands that it is made of.

        It is cached, since the code that chooses an entry and the code that shows it both ask.
        """
        asked = (step.key, at, deepest)
        if asked not in self.cached:
            if len(self.cached) >= MOST_CACHED:
                self.cached.clear()
            self.cached[asked] = self._arithmetic(step, at, deepest)
        return self.cached[asked]

    def _arithmetic(self, step: Step, at: tuple[int, ...], deepest: int | None) -> Arithmetic:
        found = self.found(step)
        if not found:
            return ()
        node, around = found
        where = place(node, step, at)
        if self.looks_for_digits and around.has_hidden_digits(node, where):
            return ()
        nothing = self.left_over(step)
        look = around.look_for(node, where) if nothing is None or not nothing[at] else around.shown
        return entry(node, where, look, deepest)

    def rounding(self, step: Step, at: tuple[int, ...], machine: Narrow) -> Rounded | None:
        """How a machine of few digits has rounded one entry; None if nothing is computed there."""
        if (found := self.found(step)) is None:
            return None
        node, around = found
        before = machine.before(node, around.operands, by_key(around.values))
        here = tuple(place(node, step, at).values())
        if before is None or not np.isfinite(before[here]):
            return None
        return machine.told(node, float(before[here]), float(around.values[node][here]))

    def origins(self, step: Step, at: tuple[int, ...]) -> tuple[Origin, ...]:
        """The entries from which one entry is made."""
        found = self.found(step)
        return origins(found[0], place(found[0], step, at), found[1].look) if found else ()

    def left_over(self, step: Step) -> Array | None:
        """A mask of entries that are left over from terms that cancel; None if there is none."""
        found = self.kept_around(step)
        nothing = found[1].left_over(found[0]) if found else None
        return None if nothing is None else nothing.reshape(step.shape)

    def why_nothing(self, step: Step) -> str:
        """Why a step, or one of the parts that it is put together from, is all 0; "" if there is none."""
        found = self.kept_around(step)
        return found[1].leftovers.why_nothing(found[0]) if found else ""

    def hinging(self, step: Step) -> Array | None:
        """A mask of entries that depend on left-over entries behind them, and would change if these were 0."""
        found, nothing = self.kept_around(step), self.left_over(step)
        gone = found[1].cleaned(found[0]) if found else None
        if found is None or gone is None:
            return None
        same = gone[0] | ~np.isfinite(found[1].values[found[0]])
        return ~(same if nothing is None else same | nothing.reshape(same.shape)).reshape(step.shape)

    def entries(self, step: Step, places: Sequence[Sequence[int]] | None) -> Array:
        """Entries of a value that was not kept, if they can be computed again."""
        raise AttncalcError(f"{step.key} was too large to keep")


def looking(values: Mapping[Node, Array], operands: Mapping[str, Array]) -> EntryOf:
    """A function that looks up any node's entry; a value that was not kept is computed when it is first needed."""
    found: dict[Node, Array] = {}
    kind = object if any(value.dtype == object for value in operands.values()) else np.float64

    def look(source: Node, at: At) -> Any:
        value = values.get(source)
        if value is None:
            if source not in found:
                found[source] = evaluate([source], operands, dtype=kind, given=by_key(values))[source]
            value = found[source]
        return value[tuple(at[name] for name in source.names)]

    return look


def place(node: Node, step: Step, at: tuple[int, ...]) -> At:
    """An entry's place along the axes of its node; the output may have one axis of size 1 fewer or more."""
    given = dict(zip(step.axes, at, strict=True))
    return {name: given.get(name, 0) for name in node.names}
