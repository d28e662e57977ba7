"""Markdown that forges and notebooks show: headings, formulas between dollars, tables; user text only stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from attncalc.render import cells
from attncalc.render.glyphs import to_ascii
from attncalc.render.parts import (
    Item,
    divided,
    findings,
    inline,
    lessons,
    operand_steps,
    options,
    outcome,
    sizes,
    summary,
)
from attncalc.render.view import View, as_read, asked_for
from attncalc.render.window import GAP, Limits, Table, heading, label, window
from attncalc.render.worked import ending, in_the_step
from attncalc.text import visible
from attncalc.trace import Given, Step, Trace

LIMITS = Limits(columns=20)
BAR = r"\|"  # a bar inside a cell, which would else end it
WORDS = re.compile(r"[^\W_]+(?:[ '’-][^\W_]+)*")  # letters and digits, in which no sign acts
SIGNS = re.compile(r"^[-+=]|[\\`*\[\]<>~$&|#@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.")
ITEM = re.compile(r"^(\d+)([.)])(?=\s)")  # what would begin a list
MATH = (  # what Markdown would act on before the formula is read as one
    (re.compile(r"\\\\"), r"\\cr"),
    (re.compile("<"), r"\\lt "),
    (re.compile(r"\*"), r"\\ast "),
    (re.compile(r"\\,"), r"\\thinspace "),
    (re.compile(r"\\;"), r"\\thickspace "),
    (re.compile(r"(?<=[^\w\s])_(?=\{)"), "_ "),
)


def page(trace: Trace, view: View) -> str:
    """The trace as a document; with `quiet` or `get` one value alone."""
    if view.cells:
        blocks = _cells(trace, view)
    elif view.bare:
        blocks = _value(as_read(asked_for(trace, view))._replace(arithmetic=None), view)
    else:
        blocks = _whole(trace, view)
    text = "\n\n".join(blocks) + "\n"
    return text if view.unicode else to_ascii(text)


# Text


def plain(text: str) -> str:
    """Running text in which every sign is taken for itself."""
    return ITEM.sub(r"\1\\\2", SIGNS.sub(r"\\\g<0>", visible(text)))


def code(text: str) -> str:
    """Text as code, in which nothing acts; plain words stand as they are."""
    text = visible(text)
    if WORDS.fullmatch(text):
        return text
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.strip() and (text[0] in "` " or text[-1] in "` ") else ""  # one is taken off again
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def math(latex: str) -> str:
    """A formula between dollars."""
    for sign, instead in MATH:
        latex = sign.sub(instead, latex)
    return f"${latex}$"


# The page's parts


def _whole(trace: Trace, view: View) -> Iterator[str]:
    steps, result = divided(trace, view)
    yield f"# {plain(trace.calculation)}"
    yield plain(trace.summary)
    yield from (f"> {plain(note)}" for note in trace.notes)
    yield from (f"> **Warning:** {plain(warning)}" for warning in trace.warnings)
    yield from _given(trace, view)
    yield from _items("", steps, view)
    if result:
        yield "---"
        yield from _items("Result", result, view)
    for title, texts in lessons(trace):
        yield f"## {title}"
        yield "\n".join(f"- {plain(text)}" for text in texts)


def _cells(trace: Trace, view: View) -> Iterator[str]:
    """The entries that are asked for, under their steps' formulas."""
    for step, entries in groupby(cells.lines(trace, view), key=lambda line: line.step):
        yield f"### {plain(step.key)}"
        if step.latex:
            yield _formula(step)
        yield "\n".join(f"- `{visible(line.text)}`" for line in entries)


def _given(trace: Trace, view: View) -> Iterator[str]:
    steps = operand_steps(trace)
    facts = [_operand(step, trace.inputs[name]) for name, step in steps.items()]
    facts += [f"- {plain(words)}" for words in options(trace)]
    if facts:
        yield "## Given"
        yield "\n".join(facts)
    for name, step in steps.items():
        if not inline(trace.inputs[name]):
            yield f"{_symbol(step)}:"
            yield from _value(step, view)


def _operand(step: Step, operand: Given) -> str:
    """`- $Q$ from q.json, n=2 × d_k=3: 1 0 1; 0 1 1`."""
    parts = [_symbol(step) + (f" from {code(operand.source)}" if operand.source else "")]
    parts += [sizes(step)] if step.shape else []
    parts += [code(operand.note)] if operand.note else []
    values = inline(operand)
    return f"- {', '.join(parts)}" + (f": `{values}`" if values else "")


def _symbol(step: Step) -> str:
    return math(step.symbol_latex) if step.symbol_latex else code(step.symbol)


def _items(title: str, items: list[Item], view: View) -> Iterator[str]:
    group = None
    for item in items:
        if item.step.group != group:
            group = item.step.group
            yield f"## {plain(': '.join(filter(None, (title, group))) or 'Steps')}"
        yield from _step(item, view)


def _step(item: Item, view: View) -> Iterator[str]:
    step = item.step
    yield "### " + (f"{item.number}. " if item.number else "") + plain(step.name)
    if not item.again:
        if step.latex:
            yield _formula(step)
        if step.why:
            yield f"*{plain(step.why)}*"
        yield from map(plain, item.about)
    yield from _value(step, view)
    yield from map(plain, findings(step))


def _formula(step: Step) -> str:
    """`$\\text{scores} = Q K^\\top$ = [2×3]·[2×3]ᵀ → [2×2]`, the sizes as code."""
    chain = math(f"{step.symbol_latex} = {step.latex}")
    chain += f" = `{step.sizes}`" if step.sizes else ""
    return chain + (f" → `{comes_out}`" if (comes_out := outcome(step)) else "")


# A value


def _value(step: Step, view: View) -> Iterator[str]:
    if not step.can_be_shown:
        yield plain(summary(step))
        return
    worked = in_the_step(step, view.digits)
    if not step.shape:
        arithmetic, value = worked[0] if worked else ("", window(step, view, LIMITS).tables[0].entries[0][0])
        yield "".join([code(step.name), f" = `{arithmetic}`" if arithmetic else "", f" = **{_entry(value)}**"])
        return
    if worked:
        yield "\n".join(f"- `{step.name}[{i}] = {ending(how, value)}`" for i, (how, value) in enumerate(worked))
    shown = window(step, view, LIMITS)
    for table in shown.tables:
        if place := heading(step, table):
            yield f"{code(place)}:"
        yield _table(step, table)
    if shown.left_out:
        yield f"{GAP} {shown.left_out} (`--all` shows them)"


def _table(step: Step, table: Table) -> str:
    row_axis, column_axis = ("", "", *step.axes)[-2:]
    is_row = len(step.shape) == 1
    corner = column_axis if is_row else f"{row_axis} ╲ {column_axis}"
    drawn = [[corner, *(_name(step, column_axis, j) for j in table.columns)], ["--:"] * (len(table.columns) + 1)]
    for i, entries in zip(table.rows, table.entries, strict=True):
        name = "" if is_row else _name(step, row_axis, i)
        drawn.append([name and f"**{name}**", *map(_entry, entries)])
    return "\n".join(f"| {' | '.join(cell.replace('|', BAR) for cell in line)} |" for line in drawn)


def _entry(text: str) -> str:
    """A number as it is; letters and labels so that nothing in them acts."""
    return code(text) if SIGNS.search(text[1:]) else text


def _name(step: Step, axis: str, index: int | None) -> str:
    """The heading of a row or a column: its label, or its index."""
    return GAP if index is None else code(label(step, axis, index))
