"""Steps seen from inside: the definition of every primitive that a step applies, as sub-steps of its own.

The sub-steps stand beside the step, in a group of its name; the step itself keeps its own way of computing (a softmax
that takes the maximum away first), so that what is shown of the definition never spoils the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from attncalc.graph import Node, inside, walk
from attncalc.notation import formula


def expanded(roots: Sequence[Node]) -> list[Node]:
    """For every step behind the roots, the sub-steps of its definition, in their places in the order of the steps."""
    found: list[Node] = []
    for step in walk(*roots):
        if step.op == "step":
            found.extend(_substeps(step))
    return found


def _substeps(step: Node) -> list[Node]:
    """The sub-steps of one step: each primitive of a body, and the body as a whole."""
    made: list[Node] = []
    names: dict[str, int] = {}
    for node in inside(step):
        body = node.row.body(node, *node.sources) if node.row.body else None
        if body is None or formula(body) == formula(node):
            continue
        new: dict[Node, Node] = {source: source for source in walk(*node.sources)}
        for part in walk(body):
            if part not in new:
                copy = part.over([new[source] for source in part.sources])
                silent = not part.sources or part.row.text == "{0}"  # what formulas don't show is no step either
                new[part] = copy if silent else _named(copy, step.path, node, names)
                made += [copy] if new[part] is copy else [copy, new[part]]
    for i, part in enumerate(made):  # shown before the step that they define, in the order in which they are worked out
        part.serial = step.serial - 1 + (i + 1) / (len(made) + 1)
    return [part for part in made if part.op == "step"]


def _named(value: Node, within: str, whole: Node, names: dict[str, int]) -> Node:
    word = value.row.noun or value.op
    names[word] = names.get(word, 0) + 1
    name = word if names[word] == 1 else f"{word}_{names[word]}"
    why = f"in the definition of {formula(whole)}"
    return Node("step", value, name=name, group=within, why=why, symbol=name, shown=True, of=None)
