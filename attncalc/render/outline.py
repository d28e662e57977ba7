"""The outline of a long calculation: its parts, each with its outcome and the option that shows it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from math import prod
from typing import Any

from attncalc.common.errors import amount, visible
from attncalc.common.system import grouped
from attncalc.record.numbers import format_number
from attncalc.record.trace import FACTS, Step, Trace, alike
from attncalc.render import View, beside, shown
from attncalc.render.page import (
    BACKWARD,
    GAP,
    Arithmetic,
    Block,
    Heading,
    Page,
    Paragraph,
    Part,
    Point,
    Points,
    Row,
    Rows,
    Table,
    abridged,
    sized,
    spoken,
)
from attncalc.render.traces import (
    beginning,
    is_backward,
    kinks,
    left_over,
    lessons,
    onward,
    parts_of,
    ranked,
    table,
)
from attncalc.render.worked import handed_on, worked_lines
from attncalc.solve import asking

MOST_OUTPUTS = 4  # outputs that are shown whole; of more, only the result
MOST_PLACES = 8  # places or words that are listed for a step
MOST_IN_A_ROW = 12  # names of parts
MOST_ROWS = 60  # parts that are listed; of further ones only the number is given
ARROW = " → "
OPENED_BY = 1  # the column with the option that shows a part
BELOW = "(below)"  # stands there for a step that the page itself shows


def page(trace: Trace, view: View) -> Page:
    """What was given, the parts down to the level that is asked for, and the result."""
    return Page(trace.calculation, tuple(_blocks(trace, view)), steps=len(trace.steps))


def _blocks(trace: Trace, view: View) -> Iterator[Block]:
    yield from beginning(trace, outlined=True)
    steps = shown(trace, view)
    depth = _depth(steps) if view.depth is None else view.depth
    further = (step for step in beside(trace, view) if step.axes[1:] != (FACTS,))
    outputs = _told(trace.outputs)
    if all(is_backward(output, trace) for output in outputs):
        keys = [step.key for step in trace.steps]
        outputs = tuple(sorted(outputs, key=lambda output: keys.index(output.key)))
    entries = [*_entries(steps, depth, trace, view), *(_row("", step, trace, view) for step in further)]
    entries = _marked(entries, outputs)
    number = amount(len(steps), "step") + " kept" * bool(trace.gaps)
    parts = sum(row.cells[OPENED_BY] != "" for row in entries)
    if parts < len(steps):
        number += f" in {amount(parts, 'part')}"
    head = ("part", "opened by", "what comes of it")
    listed = Rows("the parts", head, tuple(_few(entries)), code=frozenset({OPENED_BY}))
    yield from _drawn(steps, trace)
    yield Part("section", Heading(f"Outline: {number}"), (listed,))
    yield from (Paragraph(words) for words in _found(steps))
    last = _of_words(trace, view)
    yield from [Part("section", Heading("How close it was"), (last,))] if last else []
    drawn = (part for _, part in parts_of(trace, view, outputs))
    result = [_with_origin(part, output, trace, view) for part, output in zip(drawn, outputs, strict=True)]
    yield Part("result", Heading("Result"), (Part("group", Heading(trace.outputs[0].group), tuple(result)),))
    yield from lessons(trace)
    yield from trace.pictures if view.plot else ()
    deeper = "--depth N lists the parts in it, " if any(step.key.count("/") >= depth for _, step in steps) else ""
    yield Paragraph(
        f"A part opens by what stands beside it; {deeper}--all opens all of them, and draws what was given.", "onward"
    )
    yield from onward(result, view)


def _told(outputs: tuple[Step, ...]) -> tuple[Step, ...]:
    """The outputs that are shown: tables of facts with vectors and numbers, if any; else a few, or the result."""
    if any(output.axes[1:] == (FACTS,) for output in outputs):
        told = (o for o in outputs if o.axes[1:] == (FACTS,) or not o.shape[1:])
        return tuple(told)
    return outputs if len(outputs) <= MOST_OUTPUTS else outputs[:1]


def _with_origin(part: Part, output: Step, trace: Trace, view: View) -> Part:
    """An output that is only handed on, with the arithmetic of its original step, which is not on this page."""
    step, lines = output, part.lines
    while not lines:
        found = None if 0 in step.shape else handed_on(step, (0,) * len(step.shape), trace)
        if found is None:
            return part
        step, _ = found
        if output.value is None or step.value is None or not alike(step.value, output.value):
            return part
        worked = worked_lines(step, table(step, trace, view), trace, view, {})
        there = [line._replace(name=step.key).place for line in worked]
        lines = [
            line._replace(name=output.key, links=(place, *line.links))
            for line, place in zip(worked, there, strict=True)
        ]
    if step is output:
        return part
    at = next(at for at, block in enumerate(part.blocks) if isinstance(block, Table))
    return part._replace(blocks=(*part.blocks[:at], Arithmetic(tuple(lines)), *part.blocks[at:]))


# The parts


def _depth(steps: list[tuple[int, Step]]) -> int:
    """How many levels are listed: one, or two if everything is in one part, or in two deep ones, like an encoder."""
    keys = [step.key.split("/") for _, step in steps]
    if all(len(key) > 1 and key[0] == keys[0][0] for key in keys):
        return 2
    deep = len({key[0] for key in keys if len(key) > 1}) <= 2 and any(len(key) > 3 for key in keys)
    return 2 if deep else 1


def _entries(steps: list[tuple[int, Step]], depth: int, trace: Trace, view: View) -> Iterator[Row]:
    """A row for each group down to this depth, for each step outside groups, and for each gap of left-out turns.

    A backward pass may reach a layer twice, for its values and for its weights: both are one row.
    """

    def part(item: tuple[int, Step]) -> tuple[bool, str, bool]:
        number, step = item
        names = step.group.split("/") if step.group else []
        alone = len(names) < depth
        return (True, str(number), False) if alone else (False, "/".join(names[:depth]), is_backward(step, trace))

    gathered = grouped(steps, part)
    before, gaps = "", trace.gaps
    width = max((len(name) for alone, name, _ in gathered if alone), default=0)
    for (alone, name, backward), inside in gathered.items():
        number, last = inside[-1]
        within = last.key.split("/")[0]
        if before != within and before in gaps:
            yield Row((GAP, "", f"{gaps[before].said}; --all keeps every one"))
        before = within
        if alone:
            yield _row(f"{number:>{width}} ", last, trace, view)
        else:
            yield _group(name, [step for _, step in inside], trace, view, backward=backward)


def _row(number: str, step: Step, trace: Trace, view: View) -> Row:
    return Row((f"{number}{step.key}", f"--show {_word(step.key)}", _outcome("", step, trace, view)))


def _marked(entries: Iterable[Row], outputs: Iterable[Step]) -> list[Row]:
    """The rows; those of steps that the page shows below say so."""
    opened = {f"--show {_word(output.key)}" for output in outputs}
    rows = ((row, row.cells[OPENED_BY] in opened) for row in entries)
    return [Row((row.cells[0], BELOW, *row.cells[2:])) if is_below else row for row, is_below in rows]


def _group(name: str, inside: list[Step], trace: Trace, view: View, *, backward: bool) -> Row:
    last = inside[-1]
    outcome = f"{amount(len(inside), 'step')}{ARROW}{last.key.removeprefix(f'{name}/')}"
    pattern = f"{name}/*"
    if backward:
        pattern = f"{name}/grad_*" if all(step.group == name for step in inside) else f"{name}/**/grad_*"
    return Row((name + BACKWARD * backward, f"--show {_word(pattern)}", _outcome(outcome, last, trace, view)))


def _outcome(name: str, step: Step, trace: Trace, view: View) -> str:
    """`29 steps → norm2/output 4×4: largest -1.7747 at [cat,2]`."""
    said = " ".join(filter(None, (name, sized(step.shape) if prod(step.shape) > 1 else "")))
    return ": ".join(filter(None, (said, _telling(step, trace, view))))


def _word(pattern: str) -> str:
    """A pattern quoted for the shell."""
    return f"'{pattern}'" if set(pattern) & set(" *") else pattern


def _telling(step: Step, trace: Trace, view: View) -> str:
    """What best describes a step: its words, its single number, or its entry farthest from 0."""
    if words := ranked(trace, step, view):
        (name, share), *others = words
        return f"{name} {share}" + (f", then {others[0][0]} {others[0][1]}" if others else "")
    at = asking.largest(step)
    if at is None:
        return ""
    kept = table(step, trace, view)
    assert kept.value is not None, "the largest entry is one that was kept"
    value = format_number(kept.value[at], view.digits)
    if (kept.value.dtype.kind in "iu" and kept.value.size > 1) or kept.names:  # places, which have no order
        places = kept.value.ravel().tolist()
        told = [kept.names[int(i)] if kept.names else str(i) for i in places[:MOST_PLACES]]
        return visible(", ".join(told + [GAP] * (len(places) > MOST_PLACES)))
    if kept.value.size == 1:
        return value
    if (kept.value == kept.value[at]).all():
        return f"all {value}, but for rounding" if len(left_over(kept)) else f"all {value}"
    return f"{'largest' if kept.value[at] > 0 else 'lowest'} {value} at {_place(kept, at)}"  # the farthest from 0


def _place(kept: Table, at: tuple[int, ...]) -> str:
    return f"[{','.join(spoken(kept, axis, i) for axis, i in zip(kept.axes, at, strict=True))}]"


def _few(entries: list[Row]) -> list[Row]:
    """The rows; of many only the first ones and the last."""
    left = len(entries) - MOST_ROWS + 1
    return abridged(entries, MOST_ROWS, Row((f"… {left} more, as those before", "", "")))


# The order of the parts


def _drawn(steps: list[tuple[int, Step]], trace: Trace) -> Iterator[Block]:
    """The order of the outermost parts, and the order inside each part, once for all that are alike."""
    keys = [_way(step, trace) for _, step in steps]
    if any(len(key) > 1 for key in keys):
        rows = tuple(Row(cells) for cells in followed(keys, trace.gaps) if ARROW in cells[1])
        drawn: Block = Rows("in this order", ("in", "follow one another"), rows)
        if len(rows) == 1:  # only the outermost order, which needs no table
            drawn = Points((Point(rows[0].cells[1], mark="· "),))
        yield from [Part("section", Heading("In this order"), (drawn,))] if rows else []


def _way(step: Step, trace: Trace) -> list[str]:
    """The names in a step's key; the outermost group has `, backward` after it in a backward pass."""
    first, *rest = step.key.split("/")
    return [first + BACKWARD if rest and is_backward(step, trace) else first, *rest]


def where(trace: Trace, view: View) -> Iterator[Block]:
    """Where the shown parts are: the order of the parts, level by level, with those that are shown in brackets."""
    keys = [_way(step, trace) for step in trace.steps]
    opened = {"/".join(_way(step, trace)) for _, step in shown(trace, view)}
    within: list[str] = []
    lines: list[Row] = []
    while True:
        inside = [key for key in keys if key[: len(within)] == within and len(key) > len(within)]
        names = list(dict.fromkeys(key[len(within)] for key in inside))
        marked = {key[len(within)] for key in inside if "/".join(key) in opened}
        around = _around(names, marked)
        drawn = (f"[{name}]" if name in marked else name for name in _with_gaps(around, () if within else trace.gaps))
        lines.append(Row(("/".join(within) or "all", ARROW.join(drawn))))
        within = [*within, *marked]
        held = [key for key in inside if key[: len(within)] == within]
        if len(marked) != 1 or len(held) < 2 or all("/".join(key) in opened for key in held):
            break
    yield Part("section", Heading("Where this is"), (Rows("the parts", ("in", "follow one another"), tuple(lines)),))


def followed(keys: list[list[str]], gaps: Collection[str] = (), within: str = "") -> Iterator[tuple[str, str]]:
    """`source → encoder 1 → …`, then the same inside each part that is unlike all before it."""
    order = [name for name, _ in groupby(keys, key=lambda key: key[0])]
    inside = grouped(keys, lambda key: key[0])
    parts = {name: [rest for _, *rest in found if rest] for name, found in inside.items()}
    names = [name for name in dict.fromkeys(order) if parts[name] or within or len(order) < MOST_ROWS]
    yield within or "all", ARROW.join(_with_gaps(abridged(names, MOST_IN_A_ROW, GAP), gaps))
    seen: dict[str, str] = {}
    for name, found in parts.items():
        drawn = repr(found)
        if found and any(len(rest) > 1 for rest in found) and drawn not in seen:
            seen[drawn] = name
            yield from followed([*found], (), f"{within}/{name}" if within else name)


def _around(names: list[str], marked: Collection[str]) -> list[str]:
    """The names; of many only the ends, and the marked ones with their neighbours."""
    near = {at + by for at, name in enumerate(names) if name in marked for by in (-1, 0, 1)} | {0, len(names) - 1}
    if len(names) <= MOST_IN_A_ROW or len(near) > MOST_IN_A_ROW:
        return abridged(names, MOST_IN_A_ROW, GAP)
    runs = groupby(enumerate(names), key=lambda item: item[0] in near)
    return [name for kept, run in runs for name in ([name for _, name in run] if kept else [GAP])]


def _with_gaps(names: Iterable[str], gaps: Collection[str]) -> Iterator[str]:
    """The names, with a gap sign where turns between them are left out."""
    signs = (sign for name in names for sign in ((name, GAP) if name in gaps else (name,)))
    return (sign for sign, _ in groupby(signs))


# Findings


def _found(steps: list[tuple[int, Step]]) -> Iterator[str]:
    """The findings of central differences and of rounding, for all steps together."""
    checks: Mapping[str, Any] = {step.key: step.check for _, step in steps if step.check is not None}
    wrong = [key for key, check in checks.items() if not check.agrees]
    if checks:
        worst = format_number(max(check.max_error for check in checks.values()))
        verdict = f"DISAGREE at {', '.join(wrong)}" if wrong else f"agree at all {len(checks)} gradients"
        yield f"central differences {verdict}: largest difference {worst}{kinks(sum(c.kinks for c in checks.values()))}"
    drifts = [step.drift for _, step in steps if step.drift is not None]
    if drifts:
        yield f"largest drift from full precision: {format_number(max(drifts))}"


def _of_words(trace: Trace, view: View) -> Rows | None:
    """A table of the words that were picked, each with its runners-up; None if no word was picked."""
    rows = [(step, ranked(trace, step, view)) for _, step in shown(trace, view)]
    told = [
        Row((step.group or step.name, *(f"{word} {share}" for word, share in words))) for step, words in rows if words
    ]
    if not told:
        return None
    most = max(len(row.cells) for row in told)
    head = ("", "picked", *(f"{place}." for place in range(2, most)))
    return Rows("the shares of the likeliest", head, tuple(row for row in told if len(row.cells) == most))
