"""Values that overflow or are undefined: an error for results, naming the first bad entry; a warning for steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attncalc.common.errors import DomainError, both, place_text
from attncalc.common.numerals import Array
from attncalc.evaluate.values import by_key, evaluate
from attncalc.language import primitive
from attncalc.language.graph import Node, inside, walk
from attncalc.language.kernels import exact as exact_kernels
from attncalc.record.trace import Step, Trace
from attncalc.solve.recording import Around, entry, spelled

if TYPE_CHECKING:  # few runs use narrow types
    from attncalc.evaluate.precisions import Narrow

Found = Callable[[Step], "tuple[Node, Around] | None"]
"""A step → its node, and the values around it."""


def told(
    trace: Trace, roots: Iterable[Node], found: Found, narrow: Narrow | None, *, infinite: bool
) -> tuple[str, ...]:
    """Raise DomainError for results that overflow or are undefined, naming the first bad entry; warn of steps.

    A result may be −∞ if an operand is, and infinite if the calculation allows it (a divergence may be). A divisor that
    overflows is an error too, since the quotient is 0, and nobody would see that it is wrong. So is a divisor that
    nearly vanishes, since it has lost digits, and a step that overflows where its gradient vanishes.
    """
    overflow = partial(_overflow, found=found, narrow=narrow)
    wrong = np.isnan if infinite else _beyond
    broken = [s for s in (*trace.steps, *trace.outputs) if (v := _floats(s.value)) is not None and wrong(v).any()]
    asked = _asked_for(trace)
    for output in trace.outputs:  # if any output is undefined, as a function at a point may be, none can be trusted
        value = _floats(output.value)
        if value is None or np.isfinite(value).all() or not (output in asked or np.isnan(value).any()):
            continue
        if np.isnan(value).any() or (not infinite and (np.isposinf(value).any() or not _masked(trace))):
            raise DomainError(overflow(broken[0] if broken else output))
    divisors = _divisors(roots, alone=True)
    for made in trace.steps:
        if made.gradient_of is None and made.key in divisors and (at := _nearly_vanishes(made)) is not None:
            raise DomainError(f"{made.key}{at} = {made.formula} nearly vanishes, and has lost digits: it is divided by")
    if not broken:
        return ()
    if not _divisors(roots).isdisjoint(made.key for made in broken):
        raise DomainError(overflow(broken[0]))
    lost = next((made for made in broken if _comes_back_as_nothing(made, trace)), None)
    if lost is not None:
        raise DomainError(f"{overflow(lost)}, and what comes back through it vanishes")
    word, them = ("overflows", "it") if len({step.key for step in broken}) == 1 else ("overflow", "them")
    return (f"{both(dict.fromkeys(step.key for step in broken))} {word}; the result does not use {them}, and is right",)


def _asked_for(trace: Trace) -> Sequence[Step]:
    """The outputs that will be read: the one that was asked for, or all."""
    asked = trace.mode.asked
    if asked == "":
        return trace.outputs[:1]
    return [output for output in trace.outputs if asked in (output.key, output.name)] or trace.outputs


def _nearly_vanishes(made: Step) -> str | None:
    """The place, `[0,1]`, of a step's first subnormal entry, which has lost digits; None if there is none."""
    value = _floats(made.value)
    if value is None:
        return None
    size = np.abs(value)
    small = np.argwhere((size > 0) & (size < np.finfo(value.dtype).tiny))
    return place_text(small[0]) if len(small) else None


def _comes_back_as_nothing(made: Step, trace: Trace) -> bool:
    """Whether the gradient with respect to a step vanishes where the step overflows."""
    for s in trace.steps:
        if s.gradient_of is not None and (s.group, s.name) == (made.group, f"grad_{made.name}"):
            value, slopes = _floats(made.value), _floats(s.value)
            if value is not None and slopes is not None:
                return bool((np.abs(slopes[..., _beyond(value)]) < np.finfo(slopes.dtype).tiny).any())
    return False


def _divisors(roots: Iterable[Node], *, alone: bool = False) -> set[str]:
    """The steps that are divisors; unless `alone`, also those that are parts of a divisor."""
    found: set[str] = set()

    def into(source: Node) -> Iterable[Node]:
        return () if source.op == "step" or (alone and not source.row.stays) else source.sources

    for node in walk(*roots):
        if node.row.divides:
            behind = walk(node.sources[1], into=into)
            found.update(source.path for source in behind if source.op == "step")
    return found


def _floats(value: Array | None) -> Array | None:
    """The value if it holds floats; for exact numbers their infinite and undefined entries, with 0 for all others."""
    if value is not None and value.dtype.kind == "O":
        return np.asarray(exact_kernels().limits(value))
    return value if value is not None and value.dtype.kind == "f" else None


def _masked(trace: Trace) -> bool:
    """Whether an operand holds −∞."""
    values = (_floats(given.value) for given in trace.inputs.values())
    return any(value is not None and np.isneginf(value).any() for value in values)


def _beyond(value: Array) -> Array:
    """A mask of the entries that are +∞ or undefined."""
    return np.asarray(~(value < np.inf))  # NaN < ∞ is false


def _overflow(step: Step, found: Found, narrow: Narrow | None) -> str:
    """The message on what goes wrong in a step, and where."""
    value = _floats(step.value)
    assert value is not None
    assert step.value is not None
    bad = np.argwhere(~np.isfinite(value) & ~np.isneginf(value))
    if not len(bad):
        bad = np.argwhere(~np.isfinite(value))
    there = f"{step.key}{place_text(bad[0])} = {step.formula}"
    if step.value.dtype != object and (behind := found(step)) and (fault := _fault(*behind)):
        return f"{there} {fault}"
    if narrow:
        return f"{there} overflows: {narrow.limit}"
    if np.isnan(value[tuple(bad[0])]):
        return f"{there} has no value there (a division by 0, ∞ − ∞ or the like)"
    if step.value.dtype == object:
        return f"{there} is infinite there"
    largest = np.finfo(value.dtype).max
    return f"{there} overflows: it is beyond {largest:.2g}, the largest {value.dtype}"


def _fault(node: Node, around: Around) -> str:
    """What goes wrong in the formula of a step that is not finite: a division by 0, or `ln(0)`; "" if not known."""
    made = [inner for inner in inside(node) if inner.sources]
    parts = [*made, *(source for inner in made for source in inner.sources)]
    values = evaluate(parts, around.operands, given=by_key(around.values), careful=False)
    signs = {name: _sign(value) for name, value in around.operands.items()}
    sized = evaluate(parts, signs, given=by_key({node: _sign(value) for node, value in around.values.items()}))
    for inner in made:
        value, sources = values[inner], [values[source] for source in inner.sources]
        from_finite = all(np.isfinite(source).all() for source in sources)
        lost = ~np.isfinite(value) if from_finite else ~(value < np.inf)  # −∞ of −∞ is masked
        if not lost.any() or not all((source < np.inf).all() for source in sources):
            continue
        below = inner.sources[1:2] if inner.row.text == primitive.OPS["div"].text else []
        if any(((values[source] == 0) & (sized[source] == 0)).any() for source in below):
            return "divides by 0 there"
        bad = np.argwhere(np.isnan(value) if np.isnan(value).any() else lost)[0].tolist()
        at = spelled(entry(inner, dict(zip(inner.names, bad, strict=True)), around.look))
        if np.isfinite(sized[inner]).all() and "∞" not in at:
            return f"overflows: it is beyond {np.finfo(value.dtype).max:.2g}, the largest {value.dtype}"
        return f"has no value there: {at}" if np.isnan(value).any() else f"is infinite there: {at}"
    return ""


def _sign(value: Array) -> Array:
    return value if value.dtype == bool else np.asarray(np.sign(value))
