"""Values → Steps: what a reader is shown of an evaluated graph, and what no reader may be shown unwarned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncalc import notation
from attncalc.arrays import Array
from attncalc.evaluate import by_key, evaluate
from attncalc.graph import Node
from attncalc.trace import Arithmetic, Check, Notation, Origin, Step, Trace

if TYPE_CHECKING:
    from attncalc.cells import At, EntryOf


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
    return Step(
        name=node.args["name"],
        group=node.args["group"],
        notation=_notation(node),
        axes=node.names,
        shape=value.shape,
        value=value,
        why=node.args["why"],
        labels={axis.name: labels[axis.name] for axis in node.axes if len(labels.get(axis.name, ())) == axis.size},
        names=labels.get(expression.args[points], ()) if (points := expression.row.points) else (),
        gradient_of=node.args["of"],
        check=check,
        drift=drift,
        **ways(node, values, operands, look),
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


def ways(
    node: Node, values: Mapping[Node, Array], operands: Mapping[str, Array], look: EntryOf | None = None
) -> dict[str, Any]:
    """The ways to what a reader may ask of a step's entries; none is gone before."""
    look = look or _look(values, operands)
    return {
        "arithmetic": partial(_arithmetic, node, look),
        "origins": partial(_origins, node, look),
        "left_over": partial(_left_over, node, values, operands),
    }


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
                found[source] = evaluate([source], operands, dtype=kind, given=by_key(values))[source]
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


def must_be_finite(trace: Trace, roots: Iterable[Node], *, infinite: bool) -> tuple[str, ...]:
    """Refuse results that overflow, have no value or were divided by what has lost its digits; warn of steps."""
    values = (step.value for step in (*trace.steps, *trace.outputs))
    if all(value is None or value.dtype.kind not in "fO" or _is_ordinary(value) for value in values):
        return ()
    from attncalc import overflow  # few values are infinite, masked or too small for all of their digits

    return overflow.told(trace, roots, infinite=infinite)


def _is_ordinary(value: Array) -> bool:
    if value.dtype.kind != "f" or not np.isfinite(value).all():
        return False
    tiny = np.finfo(value.dtype).tiny
    return not ((value < tiny) & (value > -tiny) & (value != 0)).any()  # truth values alone beside a large step
