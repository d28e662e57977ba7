"""Questions about a trace: how an entry is computed, which entry teaches most, what a formula refers to."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.common.errors import AttncalcError
from attncalc.common.numerals import Array
from attncalc.common.system import NamedTuple
from attncalc.declare.operands import UPSTREAM
from attncalc.evaluate.values import evaluate
from attncalc.language.graph import Node, walk
from attncalc.language.primitive import NUMBERS_OF_ONE_NAME, formula, latex_axis, symbol
from attncalc.record.trace import Arithmetic, Entry, Origin, Step, Trace
from attncalc.solve.problem import Problem
from attncalc.solve.recording import Behind
from attncalc.solve.solver import behind, machine

if TYPE_CHECKING:  # few runs use narrow types
    from attncalc.evaluate.precisions import Rounded


def is_worked_out(trace: Trace, step: Step) -> bool:
    """Whether a step has arithmetic, which operands and tables of turns have not."""
    return behind(trace).knows(step)


def arithmetic(trace: Trace, step: Step, at: tuple[int, ...], deepest: int | None = None) -> Arithmetic:
    """The arithmetic of one entry, down to some depth; empty if the entry is given or only handed on."""
    return behind(trace).arithmetic(step, at, deepest)


def rounding(trace: Trace, step: Step, at: tuple[int, ...]) -> Rounded | None:
    """How an entry has been rounded in a run in a narrow type; None in other runs, and if nothing is computed."""
    narrow = machine(trace.mode.dtype, trace.mode.accumulate)
    return behind(trace).rounding(step, at, narrow) if narrow else None


LOOKED_AT = 3  # places along an axis, from which one is chosen to show its arithmetic
LOOKED_AT_CHOICES = 12  # the same for a vector whose entries are computed in several ways


def telling(trace: Trace, step: Step, like: Mapping[str, int]) -> tuple[int, ...] | None:
    """The place of the entry whose arithmetic teaches most; None if the step has no arithmetic.

    The first choice is the place that earlier steps showed, `like` (axis → place), then one off the diagonal, as long
    as no number in its arithmetic is 0. Otherwise it is the entry with the fewest zeros, itself not 0 if possible. In a
    sparse table, where the first entries have at most one number, it is the largest entry. If a vector's entries are
    computed in several ways, it is the one with the longest arithmetic; if some are masked, one of those; if some are
    rounded, one that rounding has changed.
    """
    if not is_worked_out(trace, step) or 0 in step.shape:
        return None
    several = len(step.shape) == 1 and (" where " in step.formula or "; " in step.formula)
    last = (LOOKED_AT_CHOICES if several else LOOKED_AT) - 1
    first = [0 if at < len(step.shape) - 2 else last for at in range(len(step.shape))]
    along = [
        {*range(min(size, most + 1)), min(like.get(axis, 0), size - 1)}
        for axis, size, most in zip(step.axes, step.shape, first, strict=True)
    ]

    def strangeness(at: tuple[int, ...]) -> tuple[int, bool]:
        left = sum(i != like.get(axis, i) for axis, i in zip(step.axes, at, strict=True))
        return left, len(set(at[-2:])) < len(at[-2:])

    near = sorted(product(*map(sorted, along)), key=strangeness)
    if len(step.shape) > 2:  # of a stack, the second matrix is looked at last
        wide = [sorted({*places, min(1, size - 1)}) for places, size in zip(along, step.shape, strict=True)]
        near += [at for at in product(*wide) if at not in near]
    masks = "else −∞" in step.formula and any(entry_of(trace, step, at) == -np.inf for at in near)
    nothing = left_over(trace, step)
    best, most = None, (False, False, False, 0)
    for at in near:
        numbers, value = _numbers(trace, step, at), entry_of(trace, step, at)
        if not numbers:
            continue
        found = (
            bool(value != 0 and (nothing is None or not nothing[at])),
            masks and bool(value == -np.inf),
            not _is_handed_on(numbers, value) and not _is_decided(trace, step, at),
            sum(bool(number != 0) for number in numbers),
        )
        if found > most:
            best, most = at, found
        if best == at and found == (True, masks, True, len(numbers)) and not several:
            break
    if best is None or len(_numbers(trace, step, best)) < 2:
        far = largest(step)
        return far if far is not None and len(_numbers(trace, step, far)) > 1 else best
    return best


def _is_handed_on(numbers: list[Any], entry: Any) -> bool:
    """Whether an entry is a single number, only moved; a recomputed entry may differ in the last digit."""
    if len(numbers) != 1 or not isinstance(entry, float):
        return numbers == [entry]
    return math.isclose(numbers[0], entry, rel_tol=1e-12)


def _numbers(trace: Trace, step: Step, at: tuple[int, ...]) -> list[Any]:
    """The numbers in an entry's arithmetic; both are taken for 0 in a difference of equals, as in e^(2 − 2)."""
    pieces = arithmetic(trace, step, at)
    found = [piece.value for piece in pieces if isinstance(piece, Entry)]
    signs = ["(", *(piece if isinstance(piece, str) else "" for piece in pieces), ")"]
    for i, number in enumerate(at for at, piece in enumerate(pieces[:-2]) if isinstance(piece, Entry)):
        before, between, behind = signs[number], signs[number + 2], signs[number + 4]
        if before.endswith("(") and between == " − " and behind.startswith(")") and found[i] == found[i + 1]:
            found[i : i + 2] = [0, 0]
    return found


COMPARISONS = (" < ", " > ", " = ", " ≤ ", " ≥ ", " ≠ ")


def _is_decided(trace: Trace, step: Step, at: tuple[int, ...]) -> bool:
    """Whether an entry's arithmetic is only the comparison that decides it: `1 > 0`, and not `0.5×2 (1 > 0)`."""
    words = [piece for piece in arithmetic(trace, step, at) if isinstance(piece, str)]
    return len(words) == 1 and words[0] in COMPARISONS


def largest(step: Step) -> tuple[int, ...] | None:
    """The place of the finite entry with the largest absolute value; None if there is none."""
    value = step.value
    if value is None or not value.size or value.dtype.kind not in "fiu":
        return None
    size = np.where(np.isfinite(value), np.abs(value), -1)
    at = np.unravel_index(int(np.argmax(size)), value.shape)
    return tuple(map(int, at)) if size[at] >= 0 else None


def ranked(trace: Trace, step: Step) -> list[tuple[int, float]]:
    """The candidates from which a step picks the one with the largest score, best first, each with its softmax share.

    Empty if the step picks several, or by more than one row of scores.
    """
    if not step.names or step.value is None or step.value.size != 1 or not is_worked_out(trace, step):
        return []
    found = origins(trace, step, (0,) * len(step.shape))
    rows = [origin for origin in found if not origin.operand and len(step.names) in map(len, origin.ranges.values())]
    if len(found) != 1 or not rows:
        return []
    places = [list(along) for along in rows[0].ranges.values()]
    scores = entries(trace, trace.find(rows[0].of), places).ravel()
    if scores.size != len(step.names) or scores.dtype.kind != "f" or not np.isfinite(scores).all():
        return []
    shares = np.exp(scores - scores.max())
    order = np.argsort(-scores, kind="stable")
    return [(int(i), float(shares[i] / shares.sum())) for i in order] if order[0] == step.value.item() else []


MOVED = 0.1
"""Operands are moved by up to about this share of their size, to see which values stay the same."""


@np.errstate(all="ignore")  # undefined values for other operands do not matter
def same_whatever(trace: Trace, pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """For each pair of steps or operands, by name, whether both have the same numbers for other operands too.

    For loops, large runs and problems that do not work with other operands, only the given operands decide.
    """
    if not pairs:
        return []  # as on most pages, which take less time than drawing random numbers
    graph = behind(trace)
    kept = [(_kept(trace, one), _kept(trace, other)) for one, other in pairs]
    same = [one is None or other is None or _agree(one, other) for one, other in kept]
    if type(graph) is not Behind or any(value.dtype.kind not in "fiub" for value in graph.operands.values()):
        return same
    nodes = [graph.nodes[name] for pair in pairs for name in pair if name in graph.nodes]
    for sign in (1.0, -1.0):  # values that depend on signs, as the slope of |x| does, differ for opposite operands
        moved = _moved(graph.operands, sign)
        with suppress(AttncalcError, ArithmeticError, LookupError, ValueError, TypeError):
            found = {node.path: value for node, value in evaluate(nodes, moved).items()} | moved
            same = [
                as_before and (one not in found or other not in found or _agree(found[one], found[other]))
                for (one, other), as_before in zip(pairs, same, strict=True)
            ]
    return same


def _moved(operands: Mapping[str, Array], sign: float) -> dict[str, Array]:
    """Operands near the given ones, or near their opposites; an upstream gradient of ones stays as it is."""
    rng = np.random.default_rng(0)
    return {
        name: sign * value + rng.uniform(-MOVED, MOVED, value.shape) * max(1.0, float(np.max(np.abs(value), initial=0)))
        if value.dtype.kind == "f" and np.isfinite(value).all() and not (name == UPSTREAM.name and (value == 1).all())
        else value
        for name, value in operands.items()
    }


def _kept(trace: Trace, name: str) -> Array | None:
    """The value of a step or an operand."""
    return trace.find(name).value if name in trace else trace.inputs[name].value if name in trace.inputs else None


def _agree(one: Array, other: Array) -> bool:
    """Whether two values are equal except for rounding."""
    if "O" in (one.dtype.kind, other.dtype.kind) or one.size != other.size:
        return True
    size = max(float(np.max(np.abs(value[np.isfinite(value)]), initial=1.0)) for value in (one, other))
    return bool(np.allclose(one.ravel(), other.ravel(), rtol=1e-9, atol=1e-9 * size, equal_nan=True))


class Factor(NamedTuple):
    """A matrix in a product, or a term added to it: a step's key or an operand's name, and how it is used there."""

    name: str
    is_operand: bool
    is_turned: bool  # whether it is transposed
    axes: tuple[str, ...]


def factors(trace: Trace, step: Step) -> list[Factor]:
    """The two matrices, or stacks of them, whose product a step is, and the bias added to it, if any.

    Empty if the step is no such product of steps and operands.
    """
    node = behind(trace).nodes.get(step.key)
    if node is None or len(step.shape) < 2:
        return []
    first = node.sources[0]
    while first.row.renames:
        first = first.sources[0]
    made, *added = first.sources if first.row.hands_on and len(first.sources) > 1 else (first,)
    in_front = made.names[:-2]
    is_product = made.row.adds and made.row.sign == "·" and made.names == first.names
    if not is_product or any(len(each.names) < 2 or each.names[:-2] not in ((), in_front) for each in made.sources):
        return []
    if len(added) > 1 or any(each.names not in (made.names, made.names[-1:]) for each in added):
        return []
    called = dict(zip(made.names, node.names, strict=True))
    found = []
    for source in (*made.sources, *added):
        plain, is_turned = source, False
        while plain.row.renames or (plain.row.view and plain.row.transposed):
            is_turned ^= not plain.row.renames
            plain = plain.sources[0]
        if plain.op not in ("step", "input"):
            return []
        is_operand = plain.op == "input"
        name = plain.args["name"] if is_operand else plain.path
        found.append(Factor(name, is_operand, is_turned, tuple(called.get(name, name) for name in source.names)))
    return found


def signs(trace: Trace) -> dict[str, tuple[str, Any]]:
    """The named numbers in formulas, such as ε for eps: option's name, or else their own → (name in formulas, number).

    Sizes of axes that values show are left out, and so are numbers that differ from group to group. The size of a part
    of an axis, as in `(h d_k)`, is under the option that gives it, heads. A state that was not given is 0.
    """
    known = {axis for held in (trace.inputs.values(), trace.steps) for each in held for axis in each.axes}
    found: dict[str, dict[tuple[str, Any], None]] = {}
    for node in walk(*(spoken for named in behind(trace).named for spoken in _leaves(named))):
        said = node.args
        if node.op == "constant" and said["symbol"] not in ("", *NUMBERS_OF_ONE_NAME):
            found.setdefault(said["option"] or symbol(node), {})[symbol(node), said["value"]] = None
        elif node.op == "size" and said["axis"].name not in known:
            found.setdefault(said["axis"].name, {})[symbol(node), said["axis"].size] = None
        elif node.op == "constants":
            options = [name for name, value in trace.options.items() if value == said["values"]]
            if options or {*said["values"]} == {0}:
                value = said["values"] if options else 0
                found.setdefault(options[0] if options else symbol(node), {})[symbol(node), value] = None
    told = {name: next(iter(numbers)) for name, numbers in found.items() if len(numbers) == 1}
    for option, sizes in _parts(trace).items():
        if len(sizes) == 1:
            letter, size = sizes.pop()
            sign, number = told.get(option, ("", size))
            told[option] = f"{sign} = {letter}" if sign and number == size else letter, size
    return told


def _parts(trace: Trace) -> dict[str, set[tuple[str, int]]]:
    """Option → the (name, size) of the parts of axes whose size it gives: `heads` → h = 2 of (h d_k)."""
    options = trace.problem.calculation.sizes if isinstance(trace.problem, Problem) else {}
    found: dict[str, set[tuple[str, int]]] = {}
    for axis in {axis for node in walk(*behind(trace).named) for axis in node.axes} if options else ():
        for part in axis.parts or (axis,):
            if part.name in options:
                found.setdefault(options[part.name], set()).add((part.name, part.size))
    return found


def _leaves(named: Node) -> list[Node]:
    """The nodes in the formula of a step: other steps, operands, sizes and numbers."""
    stops = walk(named.sources[0], into=lambda node: () if node.op == "step" else node.sources)
    return [node for node in stops if node.op == "step" or not node.sources]


def unshown(trace: Trace, step: Step) -> dict[str, str]:
    """The definitions that a step's formula needs and the page lacks: `angles = i ⊗ frequencies` → the same in LaTeX.

    A letter that counts places is one of them, unless the step's reason names it: `i = 0…1 along pair`.
    """
    found = behind(trace).found(step)
    told: dict[str, str] = {}
    counted: dict[tuple[str, str], dict[int, None]] = {}
    left = [found[0]] if found else []
    while left:
        speaking = left.pop(0)
        leaves = _leaves(speaking)
        hidden = [node for node in leaves if node.op == "step" and not node.args["shown"]]
        shown = {each.key for each in (*trace.steps, *trace.outputs)} if hidden else set()
        for node in hidden:
            if node.path not in shown:
                text, latex = (f"{symbol(node, style)} = {formula(node, style)}" for style in ("text", "latex"))
                if renamed := node.sources[0].row.renames:  # the same numbers along an axis with another name
                    new = node.sources[0].args[renamed[1]]
                    text, latex = f"{text} along {new}", rf"{latex} \text{{ along }} {latex_axis(new)}"
                left += [node] if text not in told else []
                told[text] = latex
        said, places = formula(speaking), [leaf for leaf in leaves if leaf.op == "index"]
        for node in sorted(places, key=lambda leaf: _named_at(said, symbol(leaf))):
            if _named_at(said, symbol(node)) >= 0 > _named_at(step.why, symbol(node)):
                along = node.args["along"]
                if (along.name, along.size) == (symbol(node), 1) and along.name in step.axes:
                    continue  # it has one place, which is the heading of the step's own table
                counted.setdefault((symbol(node), along.name), {})[along.size] = None
    return told | dict(_counted(*letter, sorted(sizes)) for letter, sizes in counted.items())


def _named_at(text: str, letter: str) -> int:
    """The position of a letter as a whole word in a text; −1 if it is not there."""
    found = re.search(rf"(?<!\w){letter}(?!\w)", text)
    return found.start() if found else -1


def _counted(letter: str, along: str, sizes: Sequence[int]) -> tuple[str, str]:
    """The places that a letter counts, as text and LaTeX: `i = 0…1 along pair`; groups may differ in their sizes."""
    text, latex = (
        f"{letter} = {either.join(f'0{gap}{size - 1}' if size > 1 else '0' for size in sizes)}"
        for gap, either in (("…", " or "), (r" \ldots ", r" \text{ or } "))
    )
    if along == letter:
        return text, latex
    return f"{text} along {along}", rf"{latex} \text{{ along }} {latex_axis(along)}"


def numbered(trace: Trace) -> dict[str, str]:
    """Operand or step → the axis along which its entries are places, counted from 0."""
    found: dict[str, str] = {}
    for node in walk(*behind(trace).named):
        if node.row.numbered:
            source, axis = node.row.numbered
            held = walk(node.sources[source], into=lambda held: held.sources if held.row.elementwise else ())
            told = {each for each in held if each.op in ("input", "step")}
            found |= {each.path if each.op == "step" else each.args["name"]: _axis(node, axis) for each in told}
        elif node.op == "step" and node.sources[0].row.points:
            found[node.path] = _axis(node.sources[0], node.sources[0].row.points)
    return found


def _axis(node: Node, argument: str) -> str:
    axis = node.args[argument]
    return axis if isinstance(axis, str) else axis.name


def edges(trace: Trace) -> list[tuple[str, str, str]]:
    """(value, the step that uses it, the rule by which its gradient comes back from there), for a backward pass.

    The result is used by "", the loss, except in a Jacobian, which has no loss.
    """
    has_loss = not trace.calculation.startswith("jacobian ")
    return [
        ("/".join(filter(None, (node.args["group"], node.args["of"]))), into, rule)
        for node in behind(trace).named
        for into, rule in node.args.get("edges") or ()
        if into or has_loss
    ]


def ways(trace: Trace) -> dict[str, str]:
    """Key → the sentence that lists where the gradient comes back from, for gradients that come from several steps."""
    return {node.path: node.args["ways"] for node in behind(trace).named if node.args.get("ways")}


def origins(trace: Trace, step: Step, at: tuple[int, ...]) -> tuple[Origin, ...]:
    """The entries of steps and operands that one entry was made from."""
    return behind(trace).origins(step, at)


def left_over(trace: Trace, step: Step) -> Array | None:
    """A mask of the entries that are only rounding errors of terms that cancel (1.1e-16): a page shows 0 for them."""
    return behind(trace).left_over(step) if _is_float(step.value) else None


def why_nothing(trace: Trace, step: Step) -> str:
    """Why a value, or one of the parts that a gradient is put together from, is all 0; "" if there is none.

    Of steps that are no gradients only vectors are looked at, whose page would otherwise show 0×2 + 0×3 for each entry.
    """
    if not _is_float(step.value):
        return ""
    if step.gradient_of is None:
        has_zeros = len(step.shape) == 1 and not np.any(step.value)
    else:
        has_zeros = bool(np.any(step.value == 0)) or left_over(trace, step) is not None
    return behind(trace).why_nothing(step) if has_zeros else ""


def hinging(trace: Trace, step: Step) -> Array | None:
    """A mask of the entries that depend on mere rounding errors behind them: a 1.1e-16, shown as 0, that is above 0."""
    return behind(trace).hinging(step) if _is_float(step.value) else None


def _is_float(value: Array | None) -> bool:
    return value is not None and value.dtype.kind == "f"


def entry_of(trace: Trace, step: Step, at: Sequence[int]) -> Any:
    """One entry of a step; if the value was not kept, the entry is computed now."""
    return np.asarray(entries(trace, step, [[i] for i in at]), dtype=object).item()  # an exact number is no array


def entries(trace: Trace, step: Step, places: Sequence[Sequence[int]] | None) -> Array:
    """A step's entries at some places along each axis, None for all; computed now if the value was not kept."""
    if step.value is not None:
        return step.value if places is None else step.value[np.ix_(*places)]
    return behind(trace).entries(step, places)
