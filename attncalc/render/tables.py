"""The page that a student reads: what was given, then every step with its formula, its reason and its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from attncalc.numbers import format_number
from attncalc.render.flow import GLUE, assembled, chain, flow
from attncalc.render.grid import FAINT, grid
from attncalc.render.parts import (
    Item,
    common_file,
    divided,
    findings,
    inline,
    lessons,
    operand_steps,
    options,
    outcome,
    sizes,
)
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.worked import in_the_step
from attncalc.text import NARROWEST
from attncalc.trace import Given, Step, Trace

ACCENT = "bold color(32)"  # a blue that black and white carry alike, and that the colour-blind tell from ALARM
ALARM = "bold color(166)"  # an orange
REASON = "italic"
RESULT = "bold"

LONGEST_ROW = NARROWEST - 8  # what is left of the narrowest page beside the indent and a `;`
SHORTEST_RULE, LONGEST_RULE = 40, 80


def page(trace: Trace, view: View) -> str:
    """The steps and the result; with `quiet` or `get` one value alone."""
    lines = grid(as_read(asked_for(trace, view)), view) if view.bare else list(_page(trace, view))
    return assembled(lines, view)


def _page(trace: Trace, view: View) -> Iterator[Text]:
    middle, last = divided(trace, view)
    margin = len(str(len(trace.steps))) + 2  # names begin to the right of the steps' numbers
    lines = [*_head(trace, view), *_steps(middle, margin, view)]
    results = list(_steps(last, margin, view, RESULT))[1:]
    yield from lines
    if results:
        longest = max(line.cell_len for line in (*lines, *results))
        length = min(max(longest, SHORTEST_RULE), view.columns or LONGEST_RULE)
        yield Text()
        yield Text(view.spell("━━ result ".ljust(length, "━")), ACCENT)
        yield from results
        yield Text(view.spell("━" * length), ACCENT)
    for title, texts in lessons(trace):
        yield Text()
        yield Text(view.spell(title), ACCENT)
        for text in texts:
            yield from flow(Text(view.spell(f"· {text}")), view.columns or LONGEST_RULE, hang=2)


# What was given


def _head(trace: Trace, view: View) -> Iterator[Text]:
    yield Text(view.spell(trace.calculation), ACCENT)
    yield from flow(Text(view.spell(trace.summary)), view.columns)
    if trace.inputs or options(trace):
        yield Text()
    common = common_file(trace)
    from_there = {name: bool(common) and given.source == f"{common}#{name}" for name, given in trace.inputs.items()}
    lines = {name: _operand(step, trace.inputs[name], common, view) for name, step in operand_steps(trace).items()}
    for name, line in lines.items():
        if not from_there[name]:
            yield from _by_rows(line, view)
    if common:
        yield from flow(Text(view.spell(f"← {common}")), view.columns, indent=2, hang=4)
    for name, line in lines.items():
        if from_there[name]:
            yield from _by_rows(line, view)
    if chosen := ", ".join(options(trace)):
        yield from flow(Text(view.spell(chosen)), view.columns, indent=2, hang=4)


def _operand(step: Step, operand: Given, common: str, view: View) -> Text:
    """`q ← q.json, n=2 × d_k=3: 1 0 1; 0 1 1`."""
    line = Text().append(view.spell(step.name), "bold")
    source = "" if operand.source == f"{common}#{step.name}" else operand.source
    line.append(view.spell(f" ← {source}" if source else ""))
    line.append(view.spell(f", {sizes(step)}" if step.shape else ""))
    values = inline(operand)
    if values and values != operand.source:
        line.append(view.spell(": ")).append(_glued(view.spell(values)))
    if operand.note:
        line.append(view.spell(f" ({operand.note})"), REASON)
    return line


def _glued(values: str) -> str:
    """The rows of a matrix, each in one piece if it fits on any page."""
    rows = values.split("; ")
    return "; ".join(row.replace(" ", GLUE) if len(row) <= LONGEST_ROW else row for row in rows) if rows[1:] else values


def _by_rows(line: Text, view: View) -> Iterator[Text]:
    """An operand's line, broken between the rows of its matrix rather than within them."""
    for part in flow(line, view.columns, indent=2, hang=4):
        part.plain = part.plain.replace(GLUE, " ")
        yield part


# Steps


def _steps(items: list[Item], margin: int, view: View, style: str = "") -> Iterator[Text]:
    part = ""
    for item in items:
        yield Text()
        if item.step.group != part and not item.again:
            part = item.step.group
            yield from _part(part, view)
        yield from _again(item, margin, view, style) if item.again else _step(item, margin, view, style)


def _part(group: str, view: View) -> Iterator[Text]:
    if group:
        sides = view.spell("──")
        yield from flow(
            Text.assemble((f"{sides} ", FAINT), (view.spell(group), "bold"), (f" {sides}", FAINT)), view.columns
        )
        yield Text()


def _step(item: Item, margin: int, view: View, style: str) -> Iterator[Text]:
    """A step's line, its reason, its arithmetic where that is short, and its value."""
    step = item.step
    start = Text().append(f"{item.number or '':>{margin - 2}}  ", FAINT).append(view.spell(step.name), ACCENT)
    yield from chain(start, [Text(view.spell(link)) for link in _links(step)], view.columns)
    if step.why:
        yield from flow(Text(view.spell(step.why), REASON), view.columns, indent=margin)
    for text in item.about:
        yield Text()
        yield from flow(Text(view.spell(text)), view.columns or LONGEST_RULE, indent=margin)
    if item.about and step.shape == ():
        yield Text()
    worked = in_the_step(step, view.digits)
    if step.value is not None and step.value.ndim == 0:
        arithmetic, value = worked[0] if worked else ("", format_number(step.value[()], view.digits))
        yield from _worked_out(step.name, arithmetic, value, view, indent=margin, style=style)
    else:
        if worked:
            yield Text()
        for index, (arithmetic, value) in enumerate(worked):
            yield from _worked_out(f"{step.name}[{index}]", arithmetic, value, view, indent=margin)
        yield Text()
        yield from grid(step, view, indent=margin, style=style)
    found = findings(step)
    if found:
        yield Text()
    alarm = step.check is not None and not step.check.agrees
    for line in found:
        yield from flow(Text(line, ALARM if alarm else REASON), view.columns, indent=margin, hang=2)


def _links(step: Step) -> Iterator[str]:
    """`= ∂L/∂scores`, `= Q·Kᵀ`, `= [2×3]·[3×2]`, `→ [2×2]`."""
    if step.symbol != step.name:
        yield f"= {step.symbol}"
    if step.formula:
        yield f"= {step.formula}"
    if step.sizes:
        yield f"= {step.sizes}"
    if comes_out := outcome(step):
        yield f"→ {comes_out}"


def _worked_out(place: str, arithmetic: str, value: str, view: View, *, indent: int, style: str = "") -> Iterator[Text]:
    """`dot = 0.8×0.7 + 0.2×0.3 + 0.1×0.2 = 0.64`."""
    links = [Text(view.spell(f"= {arithmetic}"))] if arithmetic else []
    yield from chain(
        Text(view.spell(place)), [*links, Text(view.spell(f"= {value}"), style)], view.columns, indent=indent
    )


def _again(item: Item, margin: int, view: View, style: str) -> Iterator[Text]:
    """A result that stands further up, by its name and number."""
    title = Text().append(view.spell(item.step.key), ACCENT).append(f", step {item.number}")
    yield from flow(title, view.columns, indent=margin, hang=2)
    yield Text()
    yield from grid(item.step, view, indent=margin, style=style)
