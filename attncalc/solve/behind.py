"""The graph behind a trace, with its values: it answers what is asked of a step's entries once the trace is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from attncalc.common.arrays import Array
from attncalc.evaluate.entries import EntryOf, entry, left_over, origins
from attncalc.evaluate.loops import Loop
from attncalc.evaluate.values import by_key, evaluate
from attncalc.language.graph import Node
from attncalc.language.primitive import At
from attncalc.record.trace import Arithmetic, Origin, Step
from attncalc.solve.recording import Kept, turn_group


class Around(NamedTuple):
    """The values that a step's entries are looked up in."""

    values: Mapping[Node, Array]
    operands: Mapping[str, Array]
    look: EntryOf


class Behind:
    """The graph behind a trace that was evaluated once."""

    def __init__(self, kept: Kept) -> None:
        self.named, self.values, self.operands = kept[:3]

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The named nodes by their keys."""
        return {node.path: node for node in self.named}

    @cached_property
    def around(self) -> Around:
        """The values of the whole graph."""
        return Around(self.values, self.operands, looking(self.values, self.operands))

    def found(self, step: Step) -> tuple[Node, Around] | None:
        """The node of a step, and the values around it; None of what is no step of the graph, as an operand."""
        node = self.nodes.get(step.key) if step.formula else None
        return None if node is None else (node, self.around)

    def knows(self, step: Step) -> bool:
        """Whether the step is one of the graph's."""
        return self.found(step) is not None

    def arithmetic(self, step: Step, at: tuple[int, ...]) -> Arithmetic:
        """The arithmetic of one entry, from the values of the steps and operands that it is made of."""
        found = self.found(step)
        return entry(found[0], place(found[0], step, at), found[1].look) if found else ()

    def origins(self, step: Step, at: tuple[int, ...]) -> tuple[Origin, ...]:
        """What one entry is made from."""
        found = self.found(step)
        return origins(found[0], place(found[0], step, at), found[1].look) if found else ()

    def left_over(self, step: Step) -> Array | None:
        """Where entries are what rounding left of terms that cancel; None where none is."""
        found = self.found(step)
        nothing = left_over(found[0], found[1].values, found[1].operands) if found else None
        return None if nothing is None else nothing.reshape(step.shape)

    def entries(self, step: Step, places: Sequence[Sequence[int]] | None) -> Array:
        """Entries of a value that was not kept."""
        raise AssertionError(f"{step.key} was kept")


class TurnsBehind(Behind):
    """The graph behind the trace of a loop, with the values of each turn that was kept."""

    def __init__(self, kept: Kept, loop: Loop) -> None:
        super().__init__(kept)
        self.loop, self.last = loop, kept.turns[-1].number
        self.turns = {turn.number: turn for turn in kept.turns}
        self.made: dict[int, Around] = {}

    def found(self, step: Step) -> tuple[Node, Around] | None:
        """The node of a step, and the values of its turn."""
        number, key = self._told_apart(step)
        node = self.nodes.get(key) if step.formula else None
        if node is None:
            return None
        if number not in self.made:
            _, values, operands = self.turns[number]
            self.made[number] = Around(values, operands, looking(values, operands))
        return node, self.made[number]

    def _told_apart(self, step: Step) -> tuple[int, str]:
        """A step's turn, and its key within it; the results are those of the last turn."""
        turn, _, key = step.key.partition("/")
        word, _, number = turn.rpartition(" ")
        return (int(number), key) if word == self.loop.turn and number.isdecimal() else (self.last, step.key)

    def origins(self, step: Step, at: tuple[int, ...]) -> tuple[Origin, ...]:
        """What one entry is made from: steps of its own turn, and of the one before what was carried on."""
        number, _ = self._told_apart(step)
        carried = self.loop.carry if number > self.loop.first else {}
        found = []
        for origin in super().origins(step, at):
            node = carried.get(origin.of) if origin.operand else None
            if node is not None and node.op == "step" and set(origin.ranges) == set(node.names):
                key = f"{turn_group(self.loop, number - 1, node)}/{node.args['name']}"
                found.append(origin._replace(of=key, operand=False))
            elif origin.operand:
                found.append(origin)
            else:
                found.append(origin._replace(of=f"{self.loop.turn} {number}/{origin.of}"))
        return tuple(found)


def looking(values: Mapping[Node, Array], operands: Mapping[str, Array]) -> EntryOf:
    """Any node's entry by its place: of a value that was kept, or of one that is worked out when it is first wanted."""
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
    """An entry's place along the axes of the node: an output may lack one of size 1, or have one more."""
    given = dict(zip(step.axes, at, strict=True))
    return {name: given.get(name, 0) for name in node.names}
