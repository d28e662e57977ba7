"""What an entry of the HTML page tells when it is pointed at: its arithmetic, and which entries it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from attncalc.render.parts import Item
from attncalc.render.view import View
from attncalc.render.window import Limits, label, window
from attncalc.render.worked import ending, leading, written
from attncalc.text import both
from attncalc.trace import Entry, Origin, Step, Trace

MOST_WORKED = 2_000  # entries of a page whose arithmetic is worked out beforehand
WORDIEST = 240  # characters

Place = tuple[int, ...]


class Told(NamedTuple):
    """What one entry tells."""

    how: str  # "output[0,1] = 0.5×2 + 0.5×5 = 3.5, from weights at n=0 and V at d_v=1"
    origins: str  # the same for the script: "3:0,0-1;1:0-1,2", a value's number and the places along its axes


class Pointing(NamedTuple):
    """What the entries of a page tell."""

    numbers: Mapping[Step, int]  # of each value that entries were made from; those of operands are among them
    told: Mapping[Step, Mapping[Place, Told]]
    silent: frozenset[Step]  # steps that have an arithmetic, of which there is too much for the page


NONE = Pointing({}, {}, frozenset())


def pointing(trace: Trace, operands: Mapping[str, Step], items: Iterable[Item], view: View, limits: Limits) -> Pointing:
    """What is told on a page of these operands and steps; what stands first among the items goes first."""
    steps = [item.step for item in items]
    shown = {(True, name): [step] for name, step in operands.items()}
    for step in steps:
        shown.setdefault((False, step.key), []).append(step)
    known = {(False, step.key): step for step in (*trace.outputs, *trace.steps)}
    known |= {(True, name): step for name, step in operands.items()}
    numbers = {step: number for number, step in enumerate(step for found in shown.values() for step in found)}
    told: dict[Step, Mapping[Place, Told]] = {}
    silent, felt, left = set(), set(), MOST_WORKED
    for step in steps:
        if step.arithmetic is None or step.value is None:
            continue
        entries = list(_entries(step, view, limits))
        if len(entries) > left:
            silent.add(step)
            continue
        left -= len(entries)
        here: dict[Place, Told] = {}
        for at, entry in entries:
            origins = step.origins(at) if step.origins else ()
            sources = _sources(origins)
            words = [_words(known.get(source), found, step.group) for source, found in sources.items()]
            how = _how(step, at, entry, words, view)
            if how:
                there = [[(other, found) for other in shown.get(source, ())] for source, found in sources.items()]
                felt |= {other for pairs in there for other, _ in pairs}
                here[at] = Told(how, ";".join(_places(pairs, numbers) for pairs in there))
        told[step] = here
    return Pointing({step: number for step, number in numbers.items() if step in felt}, told, frozenset(silent))


def _entries(step: Step, view: View, limits: Limits) -> Iterator[tuple[Place, str]]:
    """The entries that are shown, with their places."""
    is_row = len(step.shape) == 1
    for table in window(step, view, limits).tables:
        for i, line in zip(table.rows, table.entries, strict=True):
            for j, entry in zip(table.columns, line, strict=True):
                if i is not None and j is not None:
                    yield () if not step.shape else (j,) if is_row else (*table.at, i, j), entry


def _sources(origins: Iterable[Origin]) -> dict[tuple[bool, str], list[Origin]]:
    found: dict[tuple[bool, str], list[Origin]] = {}
    for origin in origins:
        found.setdefault((origin.operand, origin.of), []).append(origin)
    return found


def _places(pairs: Iterable[tuple[Step, Iterable[Origin]]], numbers: Mapping[Step, int]) -> str:
    """`3:0,0-1 4:0-1`: blocks of one source, in every table that shows it."""
    return " ".join(
        f"{numbers[step]}:{','.join(_span(origin.ranges[axis]) for axis in step.axes)}"
        for step, origins in pairs
        for origin in origins
    )


def _span(along: range) -> str:
    return str(along[0]) if len(along) == 1 else f"{along[0]}-{along[-1]}"


def _words(step: Step | None, blocks: list[Origin], group: str) -> str:
    """`weights at n=0`, as a step of that group says it: a whole axis needs no words, several blocks too many."""
    name = step.symbol if step else blocks[0].of
    if step and step.group not in ("", group):
        name = f"{name} of {step.group}"
    if len(blocks) > 1:
        return f"entries of {name}"
    ranges = blocks[0].ranges
    part = (
        [axis for axis, size in zip(step.axes, step.shape, strict=True) if len(ranges[axis]) != size]
        if step
        else ranges
    )
    where = [_along(step, axis, ranges[axis]) for axis in part]
    return f"{name} at {', '.join(where)}" if where else name


def _along(step: Step | None, axis: str, along: range) -> str:
    first, last = (label(step, axis, i) if step else str(i) for i in (along[0], along[-1]))
    return f"{axis}={first}" if len(along) == 1 else f"{axis}={first}…{last}"


def _how(step: Step, at: Place, entry: str, sources: list[str], view: View) -> str:
    """`scores[0,1] = 1×1 + 0×0 + 1×1 = 2, from Q at n=0 and K at m=1`."""
    assert step.arithmetic is not None, "only what can be worked out is"
    arithmetic = step.arithmetic(at)
    moved = len(arithmetic) == 1 and isinstance(arithmetic[0], Entry)
    worked = "" if moved else leading(written(arithmetic, view.digits), entry)
    if not worked and not sources:
        return ""
    place = f"{step.name}[{','.join(map(str, at))}]" if at else step.name
    whence = f", from {both(sources)}" if sources else ""
    return f"{place} = {ending(worked, entry)}" + (whence if len(whence) <= WORDIEST else "")
