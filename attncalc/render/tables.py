"""The page that a student reads: what was given, then every step with its formula, its reason and its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from attncalc.numbers import format_number, shortest, texts
from attncalc.render.flow import assembled, chain, flow
from attncalc.render.grid import FAINT, grid
from attncalc.render.view import View, asked_for, beside, shown
from attncalc.render.worked import in_the_step
from attncalc.trace import Given, Step, Trace

ACCENT = "bold color(32)"  # a blue that black and white carry alike, and that the colour-blind tell from ALARM
ALARM = "bold color(166)"  # an orange
REASON = "italic"
RESULT = "bold"

Numbered = list[tuple[int, Step]]

LONGEST_INLINE = 40  # characters of an operand that is repeated in its line
SHORTEST_RULE, LONGEST_RULE = 40, 80


def page(trace: Trace, view: View) -> str:
    """The steps and the result; with `quiet` or `get` one value alone."""
    lines = grid(asked_for(trace, view), view) if view.bare else list(_page(trace, view))
    return assembled(lines, view)


def _page(trace: Trace, view: View) -> Iterator[Text]:
    numbered = shown(trace, view)
    last = _last(trace, numbered)
    margin = len(str(len(trace.steps))) + 2  # names begin to the right of the steps' numbers
    middle = [*_head(trace, view), *_steps(numbered[: len(numbered) - len(last)], margin, view)]
    results = list(_results(trace, numbered, last, margin, view))[1:]
    yield from middle
    if results:
        longest = max(line.cell_len for line in (*middle, *results))
        length = min(max(longest, SHORTEST_RULE), view.columns or LONGEST_RULE)
        yield Text()
        yield Text(view.spell("━━ result ".ljust(length, "━")), ACCENT)
        yield from results
        yield Text(view.spell("━" * length), ACCENT)


# What was given


def _head(trace: Trace, view: View) -> Iterator[Text]:
    yield Text(view.spell(trace.calculation), ACCENT)
    yield from flow(Text(view.spell(trace.summary)), view.columns)
    if trace.inputs:
        yield Text()
    for name, operand in trace.inputs.items():
        yield from flow(_operand(name, operand, view), view.columns, indent=2, hang=4)
    usual = trace.problem.calculation.defaults if trace.problem else {}
    chosen = [f"{name} = {_option(value)}" for name, value in trace.options.items() if value != usual.get(name)]
    if chosen:
        yield from flow(Text(view.spell(", ".join(chosen))), view.columns, indent=2, hang=4)


def _operand(name: str, operand: Given, view: View) -> Text:
    """`q ← q.json, n=2 × d_k=3: 1 0 1; 0 1 1`."""
    axes = operand.axes or ("",) * operand.value.ndim
    sizes = " × ".join(
        f"{axis}={size}" if axis else str(size) for axis, size in zip(axes, operand.value.shape, strict=True)
    )
    line = Text().append(view.spell(name), "bold")
    line.append(view.spell(f" ← {operand.source}" if operand.source else ""))
    line.append(view.spell(f", {sizes}" if sizes else ""))
    values = _inline(operand)
    if values and values != operand.source:
        line.append(view.spell(f": {values}"))
    if operand.note:
        line.append(view.spell(f" ({operand.note})"), REASON)
    return line


def _inline(operand: Given) -> str:
    """A small operand as one would type it: `1 0 1; 0 1 1`."""
    value = operand.value
    if value.size > LONGEST_INLINE or value.ndim > 2:
        return ""
    rows = value.reshape(-1, value.shape[-1] if value.ndim else 1)
    written = operand.written.reshape(rows.shape) if operand.written is not None else texts(rows)
    line = "; ".join(" ".join(map(str, row)) for row in written)
    return line if len(line) <= LONGEST_INLINE else ""


def _option(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_option, value))
    return value if isinstance(value, str) else shortest(value)


# Steps


def _steps(numbered: Numbered, margin: int, view: View, style: str = "") -> Iterator[Text]:
    part = ""
    for number, step in numbered:
        yield Text()
        if step.group != part:
            part = step.group
            yield from _part(part, view)
        yield from _step(number, step, margin, view, style)


def _part(group: str, view: View) -> Iterator[Text]:
    if group:
        sides = view.spell("──")
        yield from flow(
            Text.assemble((f"{sides} ", FAINT), (view.spell(group), "bold"), (f" {sides}", FAINT)), view.columns
        )
        yield Text()


def _step(number: int | None, step: Step, margin: int, view: View, style: str = "") -> Iterator[Text]:
    """A step's line, its reason, its arithmetic where that is short, and its value."""
    start = Text().append(f"{number or '':>{margin - 2}}  ", FAINT).append(view.spell(step.name), ACCENT)
    yield from chain(start, [Text(view.spell(link)) for link in _links(step)], view.columns)
    if step.why:
        yield from flow(Text(view.spell(step.why), REASON), view.columns, indent=margin)
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
    yield from _findings(step, margin, view)


def _links(step: Step) -> Iterator[str]:
    """`= ∂L/∂scores`, `= Q·Kᵀ`, `= [2×3]·[3×2]`, `→ [2×2]`."""
    if step.symbol != step.name:
        yield f"= {step.symbol}"
    if step.formula:
        yield f"= {step.formula}"
    if step.sizes:
        yield f"= {step.sizes}"
    shape = f"[{'×'.join(map(str, step.shape))}]"
    if step.shape and step.sizes != shape:
        yield f"→ {shape}"


def _worked_out(place: str, arithmetic: str, value: str, view: View, *, indent: int, style: str = "") -> Iterator[Text]:
    """`dot = 0.8×0.7 + 0.2×0.3 + 0.1×0.2 = 0.64`."""
    links = [Text(view.spell(f"= {arithmetic}"))] if arithmetic else []
    yield from chain(
        Text(view.spell(place)), [*links, Text(view.spell(f"= {value}"), style)], view.columns, indent=indent
    )


def _findings(step: Step, margin: int, view: View) -> Iterator[Text]:
    """What a check, and rounding at each step, have shown."""
    lines = []
    if step.check is not None:
        verdict, style = ("agree", REASON) if step.check.agrees else ("DISAGREE", ALARM)
        difference = format_number(step.check.max_error)
        lines.append(Text(f"central differences {verdict}: largest difference {difference}", style))
    if step.drift is not None:
        drift = f"largest drift from full precision: {format_number(step.drift)}" if step.drift else "no drift so far"
        lines.append(Text(drift, REASON))
    if lines:
        yield Text()
    for line in lines:
        yield from flow(line, view.columns, indent=margin, hang=2)


# The result


def _last(trace: Trace, numbered: Numbered) -> Numbered:
    """The steps from the result on, if they are all outputs: the page ends with them."""
    outputs = {output.key: output for output in trace.outputs}
    keys = [step.key for _, step in numbered]
    result = trace.outputs[0].key
    last = numbered[keys.index(result) :] if result in keys else []
    return [(number, outputs[step.key]) for number, step in last] if all(s.key in outputs for _, s in last) else []


def _results(trace: Trace, numbered: Numbered, last: Numbered, margin: int, view: View) -> Iterator[Text]:
    """The last steps; or the result once more, if it stands further up; then the outputs that are no steps."""
    result = trace.outputs[0]
    yield from _steps(last, margin, view, RESULT)
    for number, step in numbered:
        if step.key == result.key and not last:
            yield Text()
            yield from flow(
                Text().append(view.spell(result.key), ACCENT).append(f", step {number}"), view.columns, indent=margin
            )
            yield Text()
            yield from grid(result, view, indent=margin, style=RESULT)
    for output in beside(trace, view):
        yield Text()
        yield from _step(None, output, margin, view, RESULT)
