"""What is shown when an entry of a page is pointed at: its arithmetic, and the entries from which it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from attncalc.common.errors import both
from attncalc.common.system import grouped
from attncalc.record.trace import Entry, Origin, Step, Trace
from attncalc.render import View, html, operand_steps, traces
from attncalc.render.page import (
    Limits,
    Note,
    Page,
    Paragraph,
    Part,
    Place,
    Table,
    Told,
    label,
    located,
    shown_entries,
    spoken,
    window,
)
from attncalc.render.worked import leading, links, written
from attncalc.solve import asking

MOST_WORKED = 2_000  # entries of a page for which the arithmetic is prepared
WORDIEST = 240  # characters

THE_RESULT = "the same numbers as the result"

Key = tuple[bool, str]  # whether it is an operand, and its name or its step's key


def page(trace: Trace, view: View) -> Page:
    """The page of a trace with entries to point at, unless it shows only a value or lines of arithmetic."""
    made = traces.page(trace, view, once=False)
    if view.bare or view.cells:
        return made
    made = _once(made)
    return pointed(made, trace, view, html.limits(made))


def _once(page: Page) -> Page:
    """The page with the result's table only at the end, even if its step is in the midst of the others."""
    again = {step.heading.key for part in page.all(Part) for step in part.steps if step.kind == "again"}

    def told(block: Any) -> Any:
        if not isinstance(block, Part) or block.kind == "again":
            return block
        if block.kind != "step" or block.heading.key not in again:
            return block._replace(blocks=tuple(map(told, block.blocks)))
        blocks = (
            each._replace(stand_in=THE_RESULT) if isinstance(each, Table) and each.shape else each
            for each in block.blocks
        )
        return block._replace(blocks=tuple(blocks))

    return page._replace(blocks=tuple(map(told, page.blocks))) if again else page


def pointed(page: Page, trace: Trace, view: View, limits: Limits) -> Page:
    """The page with what is shown for its entries, as far as the limits show them; the result comes first."""
    tables = _Tables(page, trace, view)
    told: dict[int, Mapping[Place, Told]] = {}
    silent, left = dict[int, str](), MOST_WORKED
    for part in tables.steps:
        table = part.one(Table)
        step = tables.made[part.heading.key, table.axes]
        if step.value is None or not asking.is_worked_out(trace, step):
            continue
        count = shown_entries(table, view, limits)
        if count > left:
            silent[id(part)] = f"{step.key}[{','.join('0' * len(step.shape))}]"
            continue
        left -= count
        entries = [entry for matrix in window(table, view, limits).matrices for entry in located(table, matrix)]
        here = {at: tables.told(table, step, at, entry) for at, entry in entries}
        told[tables.numbers[id(table)]] = {at: found for at, found in here.items() if found}

    def numbered(block: Any) -> Any:
        if isinstance(block, Table):
            return block._replace(number=tables.numbers.get(id(block), -1))
        if not isinstance(block, Part):
            return block
        blocks = list(map(numbered, block.blocks))
        if id(block) in silent:
            note = Note(f"the arithmetic of an entry: --cell '{silent[id(block)]}'", "silent")
            blocks.insert(next(i for i, each in enumerate(blocks) if isinstance(each, Table)) + 1, note)
        return block._replace(blocks=tuple(blocks))

    blocks = [block for block in page.blocks if silent or not (isinstance(block, Paragraph) and block.kind == "onward")]
    return page._replace(blocks=tuple(map(numbered, blocks)), told=told, origins=frozenset(tables.origins))


class _Tables:
    """The tables of a page by the step or operand that they show, with their numbers."""

    def __init__(self, page: Page, trace: Trace, view: View) -> None:
        self.trace, self.view = trace, view
        parts = {part.kind: part for part in page.all(Part)}
        steps = [part for kind in ("result", "steps") if kind in parts for part in parts[kind].steps]
        self.steps = [part for part in steps if part.one(Table).stand_in != THE_RESULT]  # others are shown elsewhere
        self.shown: dict[Key, list[Table]] = {(True, table.name): [table] for table in parts["given"].all(Table)}
        for part in self.steps:
            self.shown.setdefault((False, part.heading.key), []).append(part.one(Table))
        self.numbers = {id(table): number for number, table in enumerate(chain.from_iterable(self.shown.values()))}
        self.made = {(step.key, step.axes): step for step in (*trace.outputs, *trace.steps)}  # outputs may lack one
        operands = {(True, name): step for name, step in operand_steps(trace).items()}
        self.known = {key: step for key, step in operands.items() if key in self.shown}
        self.known |= {(False, step.key): step for step in self.made.values()}
        self.origins: set[int] = set()  # the numbers of tables from which entries were made

    def told(self, table: Table, step: Step, at: Place, entry: str) -> Told | None:
        """What is shown for an entry, and the entries from which it was made; None if there is nothing to show."""
        sources = grouped(asking.origins(self.trace, step, at), lambda origin: (origin.operand, origin.of))
        words = [_words(self.known.get(source), found, step.group) for source, found in sources.items()]
        how = _how(self.trace, step, at, _place(table, step, at), entry, words, self.view)
        if not how:
            return None
        there = [[(other, found) for other in self.shown.get(source, ())] for source, found in sources.items()]
        self.origins.update(self.numbers[id(other)] for pairs in there for other, _ in pairs)
        return Told(how, ";".join(_places(pairs, self.numbers) for pairs in there))


def _places(pairs: Iterable[tuple[Table, Iterable[Origin]]], numbers: Mapping[int, int]) -> str:
    """`3:0,0-1 4:0-1`: blocks of one source, in all tables that show it."""
    return " ".join(
        f"{numbers[id(table)]}:{','.join(_span(origin.ranges[axis]) for axis in table.axes)}"
        for table, origins in pairs
        for origin in origins
    )


def _span(along: range) -> str:
    return str(along[0]) if len(along) == 1 else f"{along[0]}-{along[-1]}"


def _words(source: Step | None, blocks: list[Origin], group: str) -> str:
    """`weights at n=0`: one block, with whole axes left out; for several blocks just `entries of weights`."""
    name = source.symbol if source else blocks[0].of
    if source and source.group not in ("", group):
        name = f"{name} of {source.group}"
    if len(blocks) > 1:
        return f"entries of {name}"
    ranges = blocks[0].ranges
    part = (
        [axis for axis, size in zip(source.axes, source.shape, strict=True) if len(ranges[axis]) != size]
        if source
        else ranges
    )
    where = [_along(source, axis, ranges[axis]) for axis in part]
    return f"{name} at {', '.join(where)}" if where else name


def _along(source: Step | None, axis: str, along: range) -> str:
    first, last = (label(source, axis, i) if source else str(i) for i in (along[0], along[-1]))
    return f"{axis}={first}" if len(along) == 1 else f"{axis}={first}…{last}"


def _place(table: Table, step: Step, at: Place) -> str:
    """`scores[the,cat]`, as `--cell` takes it; for a single number just the step's name."""
    words = ",".join(spoken(table, axis, i) for axis, i in zip(table.axes, at, strict=True))
    return f"{step.name}[{words}]" if at else step.name


def _how(trace: Trace, step: Step, at: Place, place: str, entry: str, sources: list[str], view: View) -> str:
    """`scores[the,cat] = 1×1 + 0×0 + 1×1 = 2, from Q at n=the and K at m=cat`."""
    arithmetic = asking.arithmetic(trace, step, at)
    moved = len(arithmetic) == 1 and isinstance(arithmetic[0], Entry)
    worked = "" if moved else leading(written(arithmetic, view.digits, entry), entry)
    if not worked and not sources:
        return ""
    whence = f", from {both(sources)}" if sources else ""
    return " = ".join((place, *links(worked, entry))) + (whence if len(whence) <= WORDIEST else "")
