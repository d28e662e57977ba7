"""The problem to compute: a calculation, its operands bound to named axes, its options, and its graph."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.calculations import DERIVATIVES
from attncalc.common.errors import InputError, OptionError, ShapeError, amount, either, flag, near, quoted
from attncalc.common.numerals import NARROW, Array
from attncalc.common.system import FORMATS, NamedTuple, shown
from attncalc.declare.calculation import Calculation, checked
from attncalc.declare.operands import Operand, Shape, layer_of
from attncalc.evaluate.values import Rounding
from attncalc.language import axes as ax
from attncalc.language.axes import Axes, Axis
from attncalc.language.graph import Node, labels_of_parts, note, walk
from attncalc.language.kernels import exact as exact_kernels
from attncalc.record.trace import NOTHING, WORDS, Given, Trace

if TYPE_CHECKING:  # few calculations are loops
    from attncalc.evaluate.loops import Loop


class Backward(NamedTuple):
    """The request for a backward pass: with respect to which operands (by default all), and whether to check it."""

    wrt: tuple[str, ...] = ()
    gradcheck: bool = False
    jacobian: bool = False  # one gradient for each entry of the result, instead of one for their sum


OF_DERIVATIVES = tuple(DERIVATIVES["grad"].options)  # keys of a Backward that documents hold among the options


def told_apart(name: str) -> tuple[str, Backward | None]:
    """The name of a problem, such as "grad attention" or "jacobian dot", as its calculation's name and derivative."""
    derivative, _, calculation = name.partition(" ")
    return (calculation, Backward(jacobian=derivative == "jacobian")) if derivative in DERIVATIVES else (name, None)


def problem_of(trace: Trace) -> Problem:
    """The problem of a trace as a Problem; records know less of it."""
    assert isinstance(trace.problem, Problem), "what has been computed was posed"
    return trace.problem


class Problem(NamedTuple):
    """A problem, before anything is computed."""

    calculation: Calculation
    inputs: Mapping[str, Given]
    options: Mapping[str, Any] = NOTHING  # those that were given; the others have defaults
    backward: Backward | None = None

    @property
    def name(self) -> str:
        """`attention`, or `grad attention` for its backward pass, `jacobian attention` for its Jacobian."""
        if self.backward is None:
            return self.calculation.name
        return f"{'jacobian' if self.backward.jacobian else 'grad'} {self.calculation.name}"

    @property
    def settled(self) -> dict[str, Any]:
        """Every option: the given value, checked, else what a preset implies, else the default."""
        if not self.options:
            return self.calculation.defaults
        given = checked(self.calculation, self.options)
        return self.calculation.defaults | self.calculation.meant_by(given) | given

    @property
    def recorded(self) -> dict[str, Any]:
        """The options for a record: all, or with a preset only those that it and the defaults do not give."""
        settled = self.settled
        if not (meant := self.calculation.meant_by(settled)):
            return settled
        untold = self.calculation.defaults | meant
        return {name: value for name, value in settled.items() if value != untold[name]}


def posed(
    calculation: Calculation, inputs: Mapping[str, Given], options: Mapping[str, Any], backward: Backward | None
) -> Problem:
    """The problem from what was read; for a derivative, options of a document fill in what the call leaves open."""
    if backward is not None:
        wrt, gradcheck = backward.wrt or options.get("wrt", ()), backward.gradcheck or options.get("gradcheck", False)
        backward = backward._replace(wrt=operands_named(wrt, inputs), gradcheck=gradcheck and not backward.jacobian)
        options = {name: value for name, value in options.items() if name not in OF_DERIVATIVES}
    return Problem(calculation, inputs, options, backward)


_PART = r"(?:\[[^\]]*\]|\.T)*\Z"  # compiled when operands are named as in a file


def operands_named(names: Iterable[str], inputs: Mapping[str, Given]) -> tuple[str, ...]:
    """Our names for operands that are named as here or as in their file: `model.layers.3.self_attn.q_proj.weight`.

    One array may hold several operands. A wrapper's prefix may stand in front, and the model's own may be left out.
    """
    names = tuple(dict.fromkeys(names))
    if all(name in inputs for name in names):
        return names
    stored = {name: re.sub(_PART, "", g.source.partition("#")[2]) for name, g in inputs.items() if "#" in g.source}

    def meant(name: str) -> list[str]:
        if name in inputs:
            return [name]
        theirs = (
            [ours for ours, array in stored.items() if array == name],
            [ours for ours, array in stored.items() if array.partition(".")[2] == name],
            [ours for ours, array in stored.items() if array and name.endswith(f".{array}")],
        )
        return next(filter(None, theirs), [name])

    return tuple(dict.fromkeys(ours for name in names for ours in meant(name)))


# Operands → named axes, from the declaration and the shape of each array.


class Bound(NamedTuple):
    """The operands with named axes, and masks as true and false."""

    inputs: Mapping[str, Given]
    axes: Mapping[str, Axes]
    labels: Mapping[str, tuple[str, ...]]  # axis name → labels
    dropped: frozenset[str]  # row axes that outputs lack, since a vector was given in place of a matrix
    broadcast: Mapping[str, Axes]  # operand → its axes as given, if some of size 1 were removed

    @property
    def sizes(self) -> dict[str, int]:
        """The size of every axis, or of the parts of a composite axis."""
        every = [axis for axes in self.axes.values() for axis in axes]
        return {part.name: part.size for axis in every for part in (axis.parts or (axis,))}


def bind(calculation: Calculation, inputs: Mapping[str, Given], options: Mapping[str, Any]) -> Bound:
    """Name every operand's axes from the right; axes in front of the declared ones are a batch, or heads."""
    ready, dropped = {}, set()
    operands = [operand.under(options) for operand in calculation.operands_in(inputs)]
    stored = any(operand.kind == "checkpoint" for operand in operands)
    for operand in operands:
        if operand.name in inputs:
            g = _one_of_a_batch(operand, inputs[operand.name]) if stored else inputs[operand.name]
            ready[operand.name], row = _as_declared(operand, g, options)
            dropped |= row
    ranks = {name: g.value.ndim for name, g in ready.items()}
    given = [o for o in operands if o.name in ready]
    settled = {o.name: _of_rank(o, ranks[o.name]) for o in given if len(o.shapes) == 1}
    lead, sizes = _surroundings([o for o in given if not o.broadcasts and o.name in settled], ready)
    shapes = {o.name: settled.get(o.name) or _fitting(o, ready[o.name].value.shape, lead, sizes) for o in given}
    declared = {name for shape in shapes.values() for name in flat(shape)}
    extra = {name: ranks[name] - len(shape) for name, shape in shapes.items()}
    leading = ax.leading_names(extra.values(), calculation.leading, declared)
    known = _sizes_said(calculation, options)
    inputs_, axes, broadcast, bound = {}, {}, {}, {}
    labels: dict[str, tuple[str, ...]] = {}
    for name, g in ready.items():
        try:
            bound[name] = ax.bind(g.value.shape, shapes[name], leading=leading, known=known)
        except ShapeError as error:
            raise error.within(name) from None
    several = {axis.name for found in bound.values() for axis in found if axis.size > 1}
    for name, g in ready.items():
        found = bound[name]
        operand = next(o for o in operands if o.name == name)
        most = len(found) if operand.broadcasts else max(extra[name], 0)
        gone = [i for i in range(most) if found[i].size == 1 and (operand.broadcasts or found[i].name in several)]
        read, kept = _without(g, found, gone)
        if len(kept) < len(found):
            broadcast[name] = found
        inputs_[name], axes[name] = read._replace(axes=ax.names(kept)), kept
        for position, words in read.labels.items():
            labels.setdefault(kept[position].name, words)
    for operand in given:
        if operand.kind == "tokens":
            into, vocabulary = _vocabulary(calculation, operand, axes), labels.get(operand.of, ())
            inputs_[operand.name], words = _numbered(inputs_[operand.name], operand, into, vocabulary, stored=stored)
            if words:
                labels[axes[operand.name][-1].name] = words
    return Bound(inputs_, axes, labels, frozenset(dropped), broadcast)


def _sizes_said(calculation: Calculation, options: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of axes that options give: `--heads`."""
    said = {name: options[word] for name, word in calculation.sizes.items() if options.get(word) is not None}
    for name, size in said.items():
        if size < 1:
            raise OptionError(f"{flag(calculation.sizes[name])} must be at least 1, not {size}")
    return said


def flat(shape: Shape) -> list[str]:
    """The names of axes, with composite axes replaced by their parts."""
    return [name for part in shape for name in ([part] if isinstance(part, str) else part)]


def _surroundings(operands: Sequence[Operand], ready: Mapping[str, Given]) -> tuple[int | None, dict[str, int]]:
    """How many leading axes operands with a single declared shape have, and the sizes of their declared axes."""
    sizes: dict[str, int] = {}
    lead = None
    for operand in operands:
        shape, found = operand.shapes[0], ready[operand.name].value.shape
        lead = max(lead or 0, len(found) - len(shape))
        sizes |= {name: size for name, size in zip(shape[::-1], found[::-1], strict=False) if isinstance(name, str)}
    return lead, sizes


def _fitting(operand: Operand, found: Sequence[int], lead: int | None, sizes: Mapping[str, int]) -> Shape:
    """The first of several declared shapes that leaves as many leading axes as the other operands have.

    So with logits [n, C] a target [n] is a class for each row, and a target [n, C] a row of shares for each.
    """
    for shape in operand.shapes:
        if len(found) - len(shape) == lead:
            names = zip(shape[::-1], found[::-1], strict=False)
            if all(sizes.get(name, size) == size for name, size in names if isinstance(name, str)):
                return shape
    return _of_rank(operand, len(found))


def _of_rank(operand: Operand, rank: int) -> Shape:
    """The declared shape for a value of this rank: one of the same rank, else the one with the most axes."""
    exact = [shape for shape in operand.shapes if len(shape) == rank]
    if exact:
        return exact[0]
    largest = max(operand.shapes, key=len)
    return largest[len(largest) - rank :] if operand.broadcasts and rank < len(largest) else largest


def _as_declared(operand: Operand, g: Given, options: Mapping[str, Any]) -> tuple[Given, set[str]]:
    """The operand with at least its declared rank, as a vector may stand for one row; and the axis added for that."""
    if operand.kind == "mask":
        g = _mask(operand, g, options.get(f"{operand.name}_kind"))
    rank, least = g.value.ndim, min(len(shape) for shape in operand.shapes)
    if operand.broadcasts or rank >= least:
        return g, set()
    if rank == 1 and least == 2 and isinstance(operand.shapes[0][0], str):
        labels = {position + 1: words for position, words in g.labels.items()}
        return g._replace(value=g.value[None], written=None, labels=labels), {operand.shapes[0][0]}
    wanted = either({0: "a number", 1: "a vector", 2: "a matrix"}.get(len(s), "an array") for s in operand.shapes)
    found = {0: "a single number", 1: "a vector", 2: "a matrix"}.get(rank, "an array")
    hints = {
        (0, 2): '"1,2,3" is a row, "[[2]]" a matrix of one entry',
        (2, 3): '"[[[1, 2], [3, 4]]]" is a stack of one matrix',
    }
    hint = hints.get((rank, least), "")
    raise ShapeError(f"{operand.name} is {found}, but {wanted} is needed ({_declared(operand)})", hint=hint)


def _one_of_a_batch(operand: Operand, g: Given) -> Given:
    """The single text or image of a batch of one, as frameworks give it to a model."""
    if layer_of(operand.name)[0] or len(g.value.shape) <= max(map(len, operand.shapes)) or len(g.value) > 1:
        return g
    labels = {axis - 1: words for axis, words in g.labels.items() if axis}
    return g._replace(value=g.value[0], written=None if g.written is None else g.written[0], labels=labels)


def _declared(operand: Operand) -> str:
    """The declared shapes as text: `n × d_k`."""
    return " or ".join(
        " × ".join(p if isinstance(p, str) else f"({' '.join(p)})" for p in shape) or "a number"
        for shape in operand.shapes
    )


def _without(g: Given, axes: Axes, gone: Sequence[int]) -> tuple[Given, Axes]:
    """A broadcast operand without these axes of size 1; along an axis that it lacks, it is the same at every place."""
    if not gone:
        return g, axes
    kept = [i for i in range(len(axes)) if i not in gone]
    labels = {kept.index(i): words for i, words in g.labels.items() if i in kept}
    value = np.squeeze(g.value, axis=tuple(gone))
    return g._replace(value=value, written=None, labels=labels), tuple(axes[i] for i in kept)


# Masks and tokens: which keys a query may see, ids in a vocabulary

LONGEST_TEXT = 60
"""The most characters of a text that is shown beside the ids of its words."""


def _vocabulary(calculation: Calculation, tokens: Operand, axes: Mapping[str, Axes]) -> Axis:
    """The axis that tokens point into, from the operand that has it."""
    found = next((axis for own in axes.values() for axis in own if axis.name == tokens.of), None)
    if found is None:
        layers = {f"{stack}/": layer for stack, layer in calculation.declaration.layers.items()}
        known = [(front + o.name, o) for front, own in ({"": calculation.operands} | layers).items() for o in own]
        holders = either(name for name, o in known if any(tokens.of in shape for shape in o.shapes))
        what = "vocabulary" if tokens.of == "V" else "table"
        raise OptionError(f"{calculation.name} has no {what} for {tokens.name}: {holders} must be given")
    return found


def _numbered(
    g: Given, operand: Operand, into: Axis, words: Sequence[str], *, stored: bool
) -> tuple[Given, tuple[str, ...]]:
    """Tokens as ids, and their words if the vocabulary has any; raise InputError for tokens outside the vocabulary.

    The vocabulary of a `stored` model holds pieces of words, into which its tokenizer splits a text.
    """
    if g.value.dtype == object and isinstance(g.value.flat[0], str):
        known = {word: i for i, word in reversed([*enumerate(words)])}
        strange = [word for word in g.value.flat if word not in known]
        if strange:
            missing = next((word for word in strange if not str(word).isdecimal()), strange[0])
            fault = f"{operand.name}: {quoted(missing)} is not among the {amount(len(words), 'word')} of the vocabulary"
            mend = near(missing, words)
            if not words:
                why = "the checkpoint has none for its tokens" if stored else "the rows have no labels"
                fault = f"{operand.name}: {quoted(missing)} is a word, and no words are known: {why}"
                mend = "give ids, or label the rows of the table"
            if str(missing).casefold().endswith(tuple(FORMATS)):
                fault = f"{operand.name}: there is no file {shown(missing)}"
            elif not words and str(missing).replace(".", "", 1).isdecimal():
                fault = f"{operand.name}: {quoted(missing)} is not a whole number"
            if stored:
                mend = "give ids; with the model's tokenizer.json beside its weights, --text makes them of any text"
            raise InputError(fault, hint=mend)
        g = g._replace(value=np.vectorize(known.__getitem__, otypes=[np.int64])(g.value), written=None)
    ids = g.value.astype(np.int64)
    wrong = np.argwhere((ids < 0) | (ids >= into.size))
    if len(wrong):
        place = "".join(f"[{i}]" for i in wrong[0])
        there = f"the vocabulary has {amount(into.size, 'word')}" if into.name == "V" else f"there are {into.size} rows"
        raise InputError(f"{operand.name}{place} is {ids[tuple(wrong[0])]}, but {there}, 0…{into.size - 1}")
    named = tuple(words[i] for i in ids) if words and ids.ndim == 1 else ()
    text = " ".join(named)
    return g._replace(value=ids).noted(WORDS, text if len(text) <= LONGEST_TEXT else ""), named


def _mask(operand: Operand, g: Given, kind: str | None) -> Given:
    """A mask as true (may look) and false, or as numbers to add; its kind, if not given, follows from its entries."""
    value = g.value
    two_valued = value.dtype == bool or bool(np.isin(value, (0, 1)).all())
    option = flag(f"{operand.name}_kind")
    if kind is None:
        kind = "keep" if two_valued else "additive"
        meaning = "1 or true: may look" if two_valued else "its numbers are added"
        note(f"{operand.name} read as {kind} ({meaning}); {option} says otherwise", of=operand.name)
    if kind == "additive":
        return g._replace(value=value.astype(np.float64)) if value.dtype == bool else g
    if not two_valued:
        raise InputError(
            f"{operand.name} is to {kind} what it marks, and has entries other than 0 and 1",
            hint=f"{option} additive adds its numbers to the scores",
        )
    keep = value.astype(bool)
    return g._replace(value=keep if kind == "keep" else ~keep)


# A problem's graph, with everything that evaluating and recording it needs, and its kind of numbers.


class Written(NamedTuple):
    """A problem's graph, with everything that evaluating and recording it needs."""

    outputs: tuple[Node, ...]  # those of the problem: the results, or the gradients
    result: Node  # the calculation's own first output, from which a backward pass starts
    operands: Mapping[str, Node]
    values: Mapping[str, Array]
    kind: str  # the dtype of the numbers to compute with
    bound: Bound
    inputs: Mapping[str, Given]
    notes: tuple[str, ...]
    named: Mapping[str, tuple[str, ...]]  # labels that the calculation gives to axes that it made
    asides: tuple[Node, ...]  # steps that are shown although the result does not depend on them
    loop: Loop | None  # set if the calculation is a loop
    precise: Mapping[str, Array]  # the operands as they were given, if `values` are rounded to a narrow type
    known: Mapping[tuple[str, str], Array]  # steps whose values were needed to write the graph, by their keys

    @property
    def roots(self) -> tuple[Node, ...]:
        """The nodes to evaluate: a backward pass shows the forward steps too, needed or not."""
        return (self.result, *self.outputs, *self.asides)

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Axis → labels; an axis that is renamed keeps its labels."""
        labels = {**self.bound.labels, **self.named}
        for node in walk(*self.roots):
            if node.row.renames:
                old, new = (node.args[word] for word in node.row.renames)
                if old in labels:
                    labels.setdefault(new, labels[old])
        return labels

    def labels_of(self) -> Callable[[Node], Mapping[str, tuple[str, ...]]]:
        """A function that gives a node's labels; for a part of an axis they are the labels of its places."""
        labels, nodes = self.labels, walk(*self.roots)
        parts = labels_of_parts(nodes, labels)
        return lambda node: labels | parts.get(node, {})


LARGE = 2**25
"""A run with so many entries in all its values is large, and its steps are not all kept."""


def is_large(written: Written) -> bool:
    """Whether the values of all nodes together may take too much memory."""
    entries = (math.prod(node.shape) for node in walk(*written.roots) if node.op != "input")
    return sum(entries) >= LARGE


def after_step(kind: str, rounding: Rounding | None) -> Rounding | None:
    """The function for each step's value: exact numbers are tidied, or refused if too large, others are rounded."""
    if kind != "object":
        return rounding
    from attncalc.evaluate import tidying  # SymPy comes in here

    return tidying.step_tidier()


def kind_of(values: Mapping[str, Array], dtype: str) -> str:
    """The dtype to compute with: "object", for exact numbers, as soon as one operand is exact."""
    return "object" if any(value.dtype == object for value in values.values()) else dtype


def as_kind(value: Array, kind: str) -> Array:
    """The value converted to that kind of number; truth values and words stay what they are."""
    if value.dtype.kind in "bUS":
        return value
    if kind != "object":
        with np.errstate(over="ignore"):  # overflow is reported for the step that it spoils
            return value.astype(kind, copy=False)
    return np.asarray(exact_kernels().exactly(value.astype("float64") if value.dtype.name in NARROW else value))
