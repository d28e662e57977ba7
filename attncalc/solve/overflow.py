"""What overflows or has no value: a result is refused, naming the entry where it went wrong; a step is warned of."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attncalc.common.arrays import Array
from attncalc.common.errors import DomainError
from attncalc.common.text import both
from attncalc.language.graph import Node, walk
from attncalc.record.trace import Step, Trace


def must_be_finite(trace: Trace, roots: Iterable[Node], *, infinite: bool) -> tuple[str, ...]:
    """Refuse results that overflow, have no value or were divided by what has lost its digits; warn of steps."""
    values = (step.value for step in (*trace.steps, *trace.outputs))
    if all(value is None or value.dtype.kind not in "fO" or _is_ordinary(value) for value in values):
        return ()
    return _told(trace, roots, infinite=infinite)


def _is_ordinary(value: Array) -> bool:
    if value.dtype.kind != "f" or not np.isfinite(value).all():
        return False
    tiny = np.finfo(value.dtype).tiny
    return not ((value < tiny) & (value > -tiny) & (value != 0)).any()  # truth values alone beside a large step


def _told(trace: Trace, roots: Iterable[Node], *, infinite: bool) -> tuple[str, ...]:
    """Refuse results that overflow or have no value, naming the entry where it went wrong first; warn of steps.

    A result may be −∞ where an operand was, and infinite where the calculation may be (a divergence may). A step that
    overflows and is divided by is refused too: the quotient is 0, which nobody would see to be wrong. So is one that
    is divided by where it nearly vanishes, since it has lost its digits there, and one that overflows where what comes
    back through it vanishes.
    """
    wrong = _no_number if infinite else _wrong
    broken = [s for s in (*trace.steps, *trace.outputs) if (v := _floats(s.value)) is not None and wrong(v)]
    for output in trace.outputs:
        value = _floats(output.value)
        if value is None or np.isfinite(value).all():
            continue
        if np.isnan(value).any() or (not infinite and (np.isposinf(value).any() or not _masked(trace))):
            raise DomainError(_overflow(broken[0] if broken else output))
    divisors = _divisors(roots, alone=True)
    for made in trace.steps:
        if made.gradient_of is None and made.key in divisors and (at := _nearly_vanishes(made)) is not None:
            raise DomainError(f"{made.key}{at} = {made.formula} nearly vanishes, and has lost digits: it is divided by")
    if not broken:
        return ()
    if not _divisors(roots).isdisjoint(made.key for made in broken):
        raise DomainError(_overflow(broken[0]))
    lost = next((made for made in broken if _comes_back_as_nothing(made, trace)), None)
    if lost is not None:
        raise DomainError(f"{_overflow(lost)}, and what comes back through it vanishes")
    them = "it" if len(broken) == 1 else "them"
    return (f"{both(step.key for step in broken)} overflow; the result does not use {them}, and is right",)


def _nearly_vanishes(made: Step) -> str | None:
    """The place of a number of a step, `[0,1]`, that is too small for all of its digits; None where it has none."""
    value = _floats(made.value)
    if value is None:
        return None
    size = np.abs(value)
    small = np.argwhere((size > 0) & (size < np.finfo(value.dtype).tiny))
    return _place(small[0]) if len(small) else None


def _comes_back_as_nothing(made: Step, trace: Trace) -> bool:
    """Whether the gradient of a step vanishes where the step overflows."""
    for s in trace.steps:
        if s.gradient_of is not None and (s.group, s.name) == (made.group, f"grad_{made.name}"):
            value, slopes = _floats(made.value), _floats(s.value)
            if value is not None and slopes is not None:
                return bool((np.abs(slopes[..., _beyond(value)]) < np.finfo(slopes.dtype).tiny).any())
    return False


def _divisors(roots: Iterable[Node], *, alone: bool = False) -> set[str]:
    """The steps that something is divided by: alone, or also as a part of the divisor."""
    found: set[str] = set()

    def into(source: Node) -> Iterable[Node]:
        return () if source.op == "step" or (alone and not source.row.stays) else source.sources

    for node in walk(*roots):
        if node.row.divides:
            behind = walk(node.sources[1], into=into)
            found.update(source.path for source in behind if source.op == "step")
    return found


def _floats(value: Array | None) -> Array | None:
    """The value where it is of floats; of exact numbers, what is infinite or undefined among zeros."""
    if value is not None and value.dtype.kind == "O":
        import sympy  # exact numbers are at hand

        limits = {sympy.oo: np.inf, -sympy.oo: -np.inf, sympy.zoo: np.nan, sympy.nan: np.nan}
        return np.array([limits.get(entry, 0.0) for entry in value.flat]).reshape(value.shape)
    return value if value is not None and value.dtype.kind == "f" else None


def _masked(trace: Trace) -> bool:
    """Whether an operand holds −∞."""
    values = (_floats(given.value) for given in trace.inputs.values())
    return any(value is not None and np.isneginf(value).any() for value in values)


def _no_number(value: Array) -> bool:
    return bool(np.isnan(value).any())


def _wrong(value: Array) -> bool:
    return bool(_beyond(value).any())


def _beyond(value: Array) -> Array:
    """Where it overflows or has no value."""
    return np.asarray(~(value < np.inf))  # NaN is below nothing


def _overflow(step: Step) -> str:
    value = _floats(step.value)
    assert value is not None
    assert step.value is not None
    bad = np.argwhere(~np.isfinite(value) & ~np.isneginf(value))
    if not len(bad):
        bad = np.argwhere(~np.isfinite(value))
    entry = f"{step.key}{_place(bad[0])} = {step.formula}"
    if np.isnan(value[tuple(bad[0])]):
        return f"{entry} has no value there (a division by 0, ∞ − ∞ or the like)"
    if step.value.dtype == object:
        return f"{entry} is infinite there"
    largest = np.finfo(value.dtype).max
    return f"{entry} overflows: it is beyond {largest:.2g}, the largest {value.dtype}"


def _place(index: Array) -> str:
    """`[0,1]`; "" of a single number, which has none."""
    return f"[{','.join(map(str, index))}]" if len(index) else ""
