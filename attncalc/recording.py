"""Values → Steps: what a reader is shown of an evaluated graph, and what no reader may be shown unwarned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc import notation
from attncalc.errors import DomainError
from attncalc.evaluate import evaluate
from attncalc.graph import Node, walk
from attncalc.text import both
from attncalc.trace import Arithmetic, Check, Notation, Origin, Step, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncalc.cells import At, EntryOf

    Array = NDArray[Any]


class Recorded(NamedTuple):
    """What has been evaluated: steps, outputs, and what is to be said of them."""

    steps: tuple[Step, ...]
    outputs: tuple[Step, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def record(
    node: Node,
    values: Mapping[Node, Array],
    operands: Mapping[str, Array],
    labels: Mapping[str, tuple[str, ...]],
    drift: float | None = None,
    check: Check | None = None,
    look: EntryOf | None = None,
) -> Step:
    """The record of a named node: its formula in every form, its value, and the ways to its arithmetic.

    `look` finds entries of other nodes, where those are not to be evaluated as a whole.
    """
    value, expression = values[node], node.sources[0]
    look = look or _look(values, operands)
    return Step(
        name=node.args["name"],
        group=node.args["group"],
        notation=_notation(node),
        axes=node.names,
        shape=value.shape,
        value=value,
        why=node.args["why"],
        labels={axis.name: labels[axis.name] for axis in node.axes if len(labels.get(axis.name, ())) == axis.size},
        names=labels.get(expression.args["of"], ()) if expression.op == "ranking" else (),
        gradient_of=node.args["of"],
        check=check,
        drift=drift,
        arithmetic=partial(_arithmetic, node, look),
        origins=partial(_origins, node, look),
        left_over=partial(_left_over, node, values, operands),
    )


def _notation(node: Node) -> Callable[[], Notation]:
    """How a named node is written, worked out when it is first asked for."""
    made: Notation | None = None

    def written() -> Notation:
        nonlocal made
        if made is None:
            made = Notation(
                symbol=notation.symbol(node),
                formula=notation.formula(node),
                sizes=notation.sizes(node),
                latex=notation.formula(node, "latex"),
                symbol_latex=notation.symbol(node, "latex"),
                about=notation.about(node),
            )
        return made

    return written


def again(
    step: Step,
    node: Node,
    values: Mapping[Node, Array],
    operands: Mapping[str, Array],
    group: str,
    drift: float | None,
) -> Step:
    """The record of a loop's step at another turn: what is written of it stays, its value and what led to it do not."""
    look = _look(values, operands)
    return step._replace(
        group=group,
        value=values[node],
        drift=drift,
        arithmetic=partial(_arithmetic, node, look),
        origins=partial(_origins, node, look),
        left_over=partial(_left_over, node, values, operands),
    )


def _left_over(node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array]) -> Array | None:
    from attncalc.cancellation import left_over  # a page asks for it, and no document

    return left_over(node, values, operands)


def _look(values: Mapping[Node, Array], operands: Mapping[str, Array]) -> EntryOf:
    """Any node's entry by its place: of a value that was kept, or of one that is worked out when it is first wanted."""
    found: dict[Node, Array] = {}
    kind = object if any(value.dtype == object for value in operands.values()) else np.float64

    def look(source: Node, place: At) -> Any:
        value = values.get(source)
        if value is None:
            if source not in found:
                found[source] = evaluate([source], operands, dtype=kind, given=_named_values(values))[source]
            value = found[source]
        return value[tuple(place[name] for name in source.names)]

    return look


def _arithmetic(node: Node, look: EntryOf, at: tuple[int, ...]) -> Arithmetic:
    """The arithmetic of one entry, from the values of the steps and operands that it is made of."""
    from attncalc import arithmetic  # a page asks for it, and no document

    return arithmetic.entry(node, dict(zip(node.names, at, strict=True)), look)


def _origins(node: Node, look: EntryOf, at: tuple[int, ...]) -> tuple[Origin, ...]:
    """What one entry is made from."""
    from attncalc.origins import origins  # one kind of page asks for it

    return origins(node, dict(zip(node.names, at, strict=True)), look)


def _named_values(values: Mapping[Node, Array]) -> dict[tuple[str, str], Array]:
    return {node.key: value for node, value in values.items() if node.op == "step"}


def drop(step: Step, dropped: frozenset[str]) -> Step:
    """An output without the axis along which a vector stood for a row."""
    gone = [i for i, name in enumerate(step.axes) if name.removesuffix("'") in dropped]
    if not gone or step.value is None:
        return step
    value = np.squeeze(step.value, axis=tuple(gone))
    names = tuple(name for name in step.axes if name.removesuffix("'") not in dropped)
    shown, origins = step.arithmetic, step.origins

    def whole(at: tuple[int, ...]) -> tuple[int, ...]:
        rest = iter(at)
        return tuple(0 if i in gone else next(rest) for i in range(len(step.axes)))

    def at_rows() -> Array | None:
        found = step.left_over() if step.left_over else None
        return None if found is None else np.squeeze(found, axis=tuple(gone))

    return step._replace(
        value=value,
        shape=value.shape,
        axes=names,
        arithmetic=shown and (lambda at: shown(whole(at))),
        origins=origins and (lambda at: origins(whole(at))),
        left_over=at_rows,
    )


def must_be_finite(trace: Trace, roots: Iterable[Node], *, infinite: bool) -> tuple[str, ...]:
    """Refuse results that overflow or have no value, naming the entry where it went wrong first; warn of steps.

    A result may be −∞ where an operand was, and infinite where the calculation may be (a divergence may). A step that
    overflows and is divided by is refused too: the quotient is 0, which nobody would see to be wrong.
    """
    wrong = _no_number if infinite else _wrong
    broken = [s for s in (*trace.steps, *trace.outputs) if (v := _floats(s.value)) is not None and wrong(v)]
    for output in trace.outputs:
        value = _floats(output.value)
        if value is None or np.isfinite(value).all():
            continue
        if np.isnan(value).any() or (not infinite and (np.isposinf(value).any() or not _masked(trace))):
            raise DomainError(_overflow(broken[0] if broken else output))
    if infinite or not broken:
        return ()
    if not _divisors(roots).isdisjoint(made.key for made in broken):
        raise DomainError(_overflow(broken[0]))
    them = "it" if len(broken) == 1 else "them"
    return (f"{both(step.key for step in broken)} overflow; the result goes round {them}, and is right",)


def _divisors(roots: Iterable[Node]) -> set[str]:
    """The steps that something is divided by, alone or as a part of the divisor."""
    found: set[str] = set()
    for node in walk(*roots):
        if node.op == "div":
            behind = walk(node.sources[1], into=lambda source: () if source.op == "step" else source.sources)
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
    return any(_floats(given.value) is not None and np.isneginf(given.value).any() for given in trace.inputs.values())


def _no_number(value: Array) -> bool:
    return bool(np.isnan(value).any())


def _wrong(value: Array) -> bool:
    return not (value < np.inf).all()  # NaN is below nothing


def _overflow(step: Step) -> str:
    value = _floats(step.value)
    assert value is not None
    assert step.value is not None
    bad = np.argwhere(~np.isfinite(value) & ~np.isneginf(value))
    if not len(bad):
        bad = np.argwhere(~np.isfinite(value))
    place = f"[{','.join(map(str, bad[0]))}]" if value.ndim else ""
    entry = f"{step.key}{place} = {step.formula}"
    if np.isnan(value[tuple(bad[0])]):
        return f"{entry} has no value there (a division by 0, ∞ − ∞ or the like)"
    if step.value.dtype == object:
        return f"{entry} is infinite there"
    largest = np.finfo(value.dtype).max
    return f"{entry} overflows: it is beyond {largest:.2g}, the largest {value.dtype}"


def farthest(rounded: Array, full: Array) -> float:
    """The largest distance between two values, wherever both are finite."""
    if full.dtype.kind != "f":
        return 0.0
    both_finite = np.isfinite(rounded) & np.isfinite(full)
    apart = np.subtract(rounded, full, where=both_finite, out=np.zeros_like(full))
    return float(np.max(np.abs(apart), initial=0.0))
