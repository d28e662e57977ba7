"""The turns of a loop → Steps: a group for each turn that was kept, and a table with a row for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from attncalc.common.numerals import Array
from attncalc.evaluate.loops import Loop, Ran, Turn, run
from attncalc.evaluate.values import Machine, Rounding, told_apart
from attncalc.language.graph import Node, rewrite
from attncalc.language.kernels import number
from attncalc.record.numbers import farthest
from attncalc.record.trace import Origin, Step
from attncalc.solve.problem import Written, after_step, as_kind, is_large
from attncalc.solve.recording import Around, Behind, Kept, Recorded, drop, record


def recorded(name: str, written: Written, loop: Loop, rounding: Rounding | None, *, keep_all: bool) -> Recorded:
    """Run a loop and record the turns that were kept; exact numbers are tidied at each step, others rounded.

    `name` is the problem's name, for the error if a turn does not fit in memory.
    """
    kind = written.kind
    if is_large(written):
        from attncalc.solve import large  # few loops are

        large.must_fit_whole(written, kind, f"a turn of {name}")
    _, machine = told_apart(rounding)
    whole = replace(loop, start=_started(loop, "float64" if machine else kind, None))
    loop = replace(loop, start=_started(loop, kind, machine))
    exact = kind == "object"
    ran = run(loop, written.values, dtype=kind, after_step=after_step(kind, rounding), keep_all=keep_all)
    full: dict[int, Turn] = {}
    if rounding is not None and not exact:
        operands, wide = (written.precise, "float64") if machine else (written.values, kind)
        full = {turn.number: turn for turn in run(whole, operands, dtype=wide, keep_all=keep_all).kept}
    known: dict[Node, Step] = {}
    after = _after_the_first(loop, list(ran.kept[0].values))
    turns = [
        _steps(turn, full.get(turn.number), loop, written.labels, known, after if turn.number > loop.first else {})
        for turn in ran.kept
    ]
    notes, warnings = _said(loop, ran)
    last = turns[-1]
    results = [drop(last[node]._replace(group=node.args["group"]), written.bound.dropped) for node in loop.results]
    return Recorded(
        tuple(step for turn in turns for node, step in turn.items() if node.args["shown"]),
        (*results, *([_table(loop, turns, ran)] if loop.rows else [])),
        notes,
        Kept(tuple(last), {}, {}, loop=loop, turns=ran.kept, rounded=rounding is not None),
        warnings,
    )


def _started(loop: Loop, kind: str, machine: Machine | None) -> dict[str, Array]:
    """The values that go into the first turn, as that kind of number."""
    numbers = np.dtype(kind)
    arrays = {name: as_kind(value, kind) for name, value in loop.start.items() if isinstance(value, np.ndarray)}
    if machine:
        arrays = {name: machine.held(value) for name, value in arrays.items()}
    return {name: arrays[name] if name in arrays else number(value, numbers) for name, value in loop.start.items()}


def _said(loop: Loop, ran: Ran) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The notes and the warnings on how a loop ended."""
    notes: tuple[str, ...] = ()
    if ran.turns > len(ran.kept):
        first = sum(turn.number - ran.kept[0].number == at for at, turn in enumerate(ran.kept))
        few = f"the first {first} and the last {len(ran.kept) - first} are shown"
        notes = (f"of {ran.turns:,} {loop.turn}s {few}; --all shows every one",)
    if ran.end is None:
        return notes, ()
    said = f"stopped at {loop.turn} {ran.kept[-1].number}: {ran.end.reason}"
    return (notes, (said,)) if ran.end.failed else ((said, *notes), ())


BEFORE = "\ufffc"
"""Stands for the number of the previous turn, in formulas that are otherwise the same in all turns."""


def _after_the_first(loop: Loop, nodes: Sequence[Node]) -> Mapping[Node, Node]:
    """Step → the step as later turns write it: values that were carried over are named as the previous turn's steps."""

    def carried(node: Node) -> Node | None:
        step = loop.carry.get(node.args["name"]) if node.op == "input" else None
        if step is None or step.op != "step" or not step.args["shown"]:
            return None
        group = turn_group(loop, BEFORE, step)
        return Node("step", *step.sources, axes=step.axes, **step.args | {"group": group})

    return dict(zip(nodes, rewrite(nodes, carried), strict=True))


def _steps(
    turn: Turn,
    full: Turn | None,
    loop: Loop,
    labels: Mapping[str, tuple[str, ...]],
    known: dict[Node, Step],
    after: Mapping[Node, Node],
) -> dict[Node, Step]:
    """The steps of a turn; what is the same in all turns is made once."""
    found = {}
    for node in turn.values:
        value, written = turn.values[node], after.get(node, node)
        if written not in known:
            known[written] = record(written, value, labels)
        drift = farthest(value, full.values[node]) if full else None
        made = known[written]._replace(group=turn_group(loop, turn.number, node), value=value, drift=drift)
        if BEFORE in made.formula:
            number = str(turn.number - 1)
            made = made._replace(
                formula=made.formula.replace(BEFORE, number),
                latex=made.latex.replace(BEFORE, number),
                sizes=made.sizes.replace(BEFORE, number),
            )
        found[node] = made
    return found


def _table(loop: Loop, turns: list[dict[Node, Step]], ran: Ran) -> Step:
    """A table with a row for each turn and a column for each number that the loop lists."""
    columns = [name for node in loop.rows for name in _columns(turns[0][node])]
    rows = [np.concatenate([np.atleast_1d(_value(turn[node])) for node in loop.rows]) for turn in turns]
    value = np.stack(rows)
    name = f"{loop.turn}s"
    parts = [step for node, step in turns[0].items() if node in loop.rows]
    return Step(
        name=name,
        group="",
        axes=(loop.turn, "quantity"),
        shape=value.shape,
        value=value,
        symbol=name,
        symbol_latex=rf"\text{{{name}}}",
        formula=f"[{'; '.join(step.symbol for step in parts)}]",
        latex=rf"\left[{'; '.join(step.symbol_latex for step in parts)}\right]",
        why=f"the {name} at a glance, a row for each" + _which(ran),
        labels={loop.turn: tuple(str(turn.number) for turn in ran.kept), "quantity": tuple(columns)},
    )


def _which(ran: Ran) -> str:
    """The words that say which turns were kept; "" if all were."""
    numbers = [turn.number for turn in ran.kept]
    gap = next(((a, b) for a, b in pairwise(numbers) if b > a + 1), None)
    return f" that is kept: {numbers[0]} to {gap[0]} and {gap[1]} to {numbers[-1]}" if gap else ""


def _value(step: Step) -> Array:
    assert step.value is not None, "a turn keeps its values"
    return step.value


def _columns(step: Step) -> list[str]:
    """The headings of a step's columns: its name, with an index for each entry of a vector."""
    if not step.shape:
        return [step.name]
    (axis,) = step.axes
    return [f"{step.name}[{word}]" for word in step.labels.get(axis, map(str, range(step.shape[0])))]


def turn_group(loop: Loop, number: int | str, node: Node) -> str:
    """The group of a step in a turn of a loop: `iteration 3`."""
    return "/".join(filter(None, (f"{loop.turn} {number}", node.args["group"])))


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
            self.made[number] = Around(values, operands)
        return node, self.made[number]

    def _told_apart(self, step: Step) -> tuple[int, str]:
        """The turn of a step, and its key within the turn; results belong to the last turn."""
        turn, _, key = step.key.partition("/")
        word, _, number = turn.rpartition(" ")
        return (int(number), key) if word == self.loop.turn and number.isdecimal() else (self.last, step.key)

    def origins(self, step: Step, at: tuple[int, ...]) -> tuple[Origin, ...]:
        """The entries from which one entry is made, in steps of its own turn or carried over from the previous one."""
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
