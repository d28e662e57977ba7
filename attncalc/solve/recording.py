"""Values → Steps: what a reader is shown of an evaluated graph, and what no reader may be shown unwarned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attncalc.common.arrays import Array
from attncalc.language import notation
from attncalc.language.axes import Axes, names
from attncalc.language.graph import Node
from attncalc.language.steps import about
from attncalc.record.trace import Check, Step

if TYPE_CHECKING:
    from attncalc.evaluate.loops import Loop, Turn


class Kept(NamedTuple):
    """What a trace was recorded from, as far as something may be asked of it later."""

    named: Sequence[Node]
    values: Mapping[Node, Array]
    operands: Mapping[str, Array]
    kind: str = ""  # of number, in a large run that does not keep every step
    loop: Loop | None = None
    turns: Sequence[Turn] = ()  # of the loop, those that were kept


class Recorded(NamedTuple):
    """What has been evaluated: steps, outputs, what is to be said of them, and the graph behind them."""

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
    """The record of a named node: its formula in every form, and its value where that is kept."""
    expression = node.sources[0]
    return Step(
        name=node.args["name"],
        group=node.args["group"],
        axes=node.names,
        shape=node.shape if value is None else value.shape,
        value=value,
        symbol=notation.symbol(node),
        symbol_latex=notation.symbol(node, "latex"),
        formula=notation.formula(node),
        sizes=notation.sizes(node),
        latex=notation.formula(node, "latex"),
        about=about(node),
        why=node.args["why"],
        labels={axis.name: labels[axis.name] for axis in node.axes if len(labels.get(axis.name, ())) == axis.size},
        names=labels.get(expression.args[points], ()) if (points := expression.row.points) else (),
        gradient_of=node.args["of"],
        check=check,
        drift=drift,
    )


def turn_group(loop: Loop, number: int, node: Node) -> str:
    """The group of a step in a turn of a loop: `iteration 3`."""
    return "/".join(filter(None, (f"{loop.turn} {number}", node.args["group"])))


def drop(step: Step, dropped: frozenset[str]) -> Step:
    """An output without the axis along which a vector stood for a row."""
    kept = [i for i, name in enumerate(step.axes) if name.removesuffix("'") not in dropped]
    if len(kept) == len(step.axes) or step.value is None:
        return step
    shape = tuple(step.shape[i] for i in kept)
    return step._replace(value=step.value.reshape(shape), shape=shape, axes=tuple(step.axes[i] for i in kept))


def spread_again(gradient: Step, axes: Axes) -> Step:
    """A broadcast operand's gradient with all the axes that it was given with, those of size 1 too."""
    if gradient.value is None:
        return gradient
    front = len(gradient.axes) - sum(axis.size > 1 for axis in axes)  # of a Jacobian: the result's own axes
    shape = gradient.shape[:front] + tuple(axis.size for axis in axes)
    return gradient._replace(
        value=gradient.value.reshape(shape),
        shape=shape,
        axes=gradient.axes[:front] + names(axes),
        check=gradient.check and gradient.check._replace(numeric=gradient.check.numeric.reshape(shape)),
    )
