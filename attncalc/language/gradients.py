"""Graph → graph: the backward pass, which names its own steps and is explained by the same machinery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attncalc.common.errors import NoGradient
from attncalc.language.axes import Axes
from attncalc.language.graph import Node, as_node, walk
from attncalc.language.notation import symbol
from attncalc.language.ops import spread, total
from attncalc.language.shorten import shortened


class Reason(NamedTuple):
    """Why a node gets the gradient that it gets."""

    text: str
    lasting: bool = True  # whether it still tells something where another follows


def gradients(
    output: Node, upstream: Node, wrt: Sequence[Node], *, of: str = "L", word: str = "grad"
) -> dict[Node, Node]:
    """The gradient of the loss with respect to each node in `wrt`, given its gradient with respect to `output`.

    Every step between them gets a gradient step of its own, made in the order of the chain rule. A node that the
    output does not depend on gets none. `of` is what is differentiated, by the name that formulas give it, and `word`
    what the steps' names begin with. Axes that the upstream gradient has beside the output's (one gradient for each
    entry of the output: a Jacobian) stay in front.
    """
    front = tuple(axis for axis in upstream.axes if axis.name not in output.names)
    own = {axis.name for axis in front}
    operands = {("", node.args["name"]) for node in wrt if node.op == "input"}
    forward = walk(output)
    needed = set(wrt)
    for node in forward:
        if any(source in needed for source in node.sources):
            needed.add(node)
    contributions: dict[Node, list[Node]] = {output: [upstream]}
    reasons = {output: [Reason("the gradient that arrives at the result from the loss")]}
    named = {node.sources[0]: node for node in forward if node.op == "step"}
    found: dict[Node, Node] = {}
    for node in reversed(forward):
        if node not in needed or node not in contributions:
            continue
        parts = contributions.pop(node)
        gradient = _added(parts, front + node.axes)
        if node.op == "step" or node in wrt:
            why = "; ".join(dict.fromkeys(reason.text for reason in reasons[node]))
            also = "_step" if node.op == "step" and node.key in operands else ""  # an operand may be called like a step
            gradient = gradient_step(node, spread(gradient, front + node.axes), why, of, word, also)
            if node in wrt:
                found[node] = gradient
        if not node.sources:
            continue
        if node.row.vjp is None:
            raise NoGradient(f"{symbol(named.get(node, node))} has no gradient: {node.row.no_gradient}")
        if front or not _may_lack_axes(gradient, node):
            gradient = spread(gradient, front + node.axes)
        vjps = node.row.vjp(gradient, named.get(node, node), node, *node.sources)
        for i, (source, part) in enumerate(zip(node.sources, vjps, strict=True)):
            if part is not None and source in needed:
                contributions.setdefault(source, []).append(_fit(part, source, node, own))
                reasons.setdefault(source, []).extend(_because(node, i, reasons[node], inside=node not in named))
    return found


def slopes(output: Node, upstream: Node, wrt: Sequence[Node]) -> list[Node]:
    """The gradients as one expression each, without steps of their own: 0 where the output does not depend on it.

    An expression goes back as far as `upstream`, the loss's gradient with respect to the output (1, for the loss
    itself), so that a calculation can give the steps of a backward pass their names.
    """
    found = gradients(output, upstream, wrt)
    short = dict(zip(found, shortened([*found.values()], (upstream,)), strict=True))
    return [short[node] if node in short else spread(as_node(0), node.axes) for node in wrt]


def gradient_step(of: Node, value: Node, why: str, loss: str = "L", word: str = "grad", also: str = "") -> Node:
    """The step that holds the gradient of the loss with respect to a step or an operand."""
    name, within = (of.args["name"], of.args["group"]) if of.op == "step" else (of.args["name"], "")
    return Node(
        "step",
        value,
        name=f"{word}_{name}{also}",
        group=within,
        why=why,
        symbol=gradient_symbol(of, loss),
        shown=True,
        of=name,
    )


def gradient_symbol(of: Node, loss: str = "L") -> str:
    """How formulas speak of the gradient of the loss with respect to a step or an operand."""
    return f"∂{loss}/∂{of.args['symbol']}"


def _may_lack_axes(gradient: Node, node: Node) -> bool:
    """Whether the VJP takes the gradient as it is; an elementwise one joins it with each of the sources."""
    return node.row.narrow or (node.row.elementwise and all(_comparable(gradient, s) for s in node.sources))


def _comparable(a: Node, b: Node) -> bool:
    return set(a.names) <= set(b.names) or set(b.names) <= set(a.names)


def _added(parts: Sequence[Node], axes: Axes) -> Node:
    """The sum of the contributions; they are spread over the node's axes where they lack different ones."""
    if len(parts) == 1:
        return parts[0]
    widest = max(parts, key=lambda part: len(part.axes))
    if not all(_comparable(part, widest) for part in parts):
        parts = [spread(part, axes) for part in parts]
    return Node("add", *parts)


def _because(node: Node, source: int, before: list[Reason], *, inside: bool) -> list[Reason]:
    """Why the source gets the gradient that it gets, `before` being why the node got its own.

    What happens inside a step is told nowhere else, so its reasons are carried along. A primitive that has no reason of
    its own, as it only moves entries, leaves them as they are.
    """
    because, hands_on = node.row.because, node.row.hands_on
    if not because:
        return before
    carried = [reason for reason in before if reason.lasting] if inside and node.op != "step" else []
    if carried and hands_on:
        return carried
    return [*carried, Reason(because(node, source) if callable(because) else because, lasting=not hands_on)]


def _fit(gradient: Node, source: Node, node: Node, own: set[str]) -> Node:
    """A source's share of a gradient with the source's axes: summed over others, but for a Jacobian's own in front."""
    if node.row.elementwise:  # there, what is the same all along an axis still counts once for each place of it
        lost = tuple(axis for axis in node.axes if axis.name not in {*source.names, *gradient.names})
        gradient = spread(gradient, lost + gradient.axes)
    for name in gradient.names:
        if name not in source.names and name not in own:
            gradient = total(gradient, name)
    return gradient
