"""Markdown for forges and notebooks: headings, formulas between dollars, tables; user text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from attncalc.common.errors import visible
from attncalc.render import View
from attncalc.render.glyphs import to_ascii
from attncalc.render.page import BLANK as BOX
from attncalc.render.page import (
    GAP,
    Arithmetic,
    Formula,
    Heading,
    Limits,
    Matrix,
    Note,
    Page,
    Paragraph,
    Part,
    Point,
    Points,
    Rows,
    Span,
    Table,
    Verdict,
    axes,
    heading,
    label,
    number,
    window,
)

LIMITS = Limits(columns=20)
EXERCISE = Limits(rows=64, columns=64, tables=64)
ROOM = "&emsp;" * 3
"""Makes an empty cell wide enough to write in."""
BLANK = r"\_"
SET = {"strong": "**", "emphasis": "*"}
"""Kind of span → the marks around it."""
BAR = r"\|"  # a bar inside a cell, which would otherwise end the cell
WORDS = re.compile(r"[^\W_]+(?:[ '’-][^\W_]+)*")  # letters and digits, which need no escaping
SIGNS = re.compile(r"^[-+=]|[\\`*\[\]<>~$&|#@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.")
ITEM = re.compile(r"^(\d+)([.)])(?=\s)")  # would begin a list
MATH = (  # signs that Markdown would act on before the formula is read
    (re.compile(r"\\\\"), r"\\cr"),
    (re.compile("<"), r"\\lt "),
    (re.compile(r"\*"), r"\\ast "),
    (re.compile(r"\\,"), r"\\thinspace "),
    (re.compile(r"\\;"), r"\\thickspace "),
    (re.compile(r"(?<=[^\w\s])_(?=\{)"), "_ "),
)


def write(page: Page, view: View) -> str:
    """The page as a document, or just a value."""
    text = "\n\n".join(_blocks(page.blocks, view)) + "\n"
    return text if view.unicode else to_ascii(text)


# Text


def plain(text: str) -> str:
    """Running text with all signs of Markdown escaped."""
    return ITEM.sub(r"\1\\\2", SIGNS.sub(r"\\\g<0>", visible(text)))


def code(text: str) -> str:
    """Text as code, in which no sign acts; plain words stay as they are."""
    text = visible(text)
    if WORDS.fullmatch(text):
        return text
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.strip() and (text[0] in "` " or text[-1] in "` ") else ""  # one blank is removed again
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def math(latex: str) -> str:
    """A formula between dollars."""
    for sign, instead in MATH:
        latex = sign.sub(instead, latex)
    return f"${latex}$"


# Blocks


def _blocks(blocks: Sequence[Any], view: View) -> Iterator[str]:
    for kind, run in groupby(blocks, key=type):
        if kind is Verdict:
            yield from _verdicts(list(run))
            continue
        for block in run:
            yield from _block(block, view)


def _block(block: Any, view: View) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"# {plain(block.text)}"
    elif isinstance(block, Paragraph):
        yield _paragraph(block)
    elif isinstance(block, Note):
        warned = "**Warning:** " if block.kind == "warning" else ""
        yield f"> {warned}{plain(block.text)}"
    elif isinstance(block, Rows):
        yield _rows(block)
    elif isinstance(block, Points):
        yield "\n".join(_point(point, bool(block.room)) for point in block.points)
    elif isinstance(block, Table):
        yield from _value(block, [], view)
    elif isinstance(block, Part):
        yield from PARTS.get(block.kind, _section)(block, view)


def _paragraph(block: Paragraph) -> str:
    if block.kind == "code":
        return f"`{block.text}`"
    if block.kind == "blank":
        return f"{plain(block.text)}: {BLANK * 20}"
    if block.spans:
        return "".join(map(_span, block.spans))
    mark = {"why": "*", "remark": "*", "sound": "**", "wrong": "**"}.get(block.kind, "")
    return f"{mark}{plain(block.text)}{mark}"


def _span(span: Span) -> str:
    if span.kind in ("", "code"):
        return code(span.text) if span.kind else plain(span.text)
    said = span.text.strip()  # marks beside blanks have no effect
    before, after = span.text.split(said) if said else (span.text, "")
    mark = SET[span.kind] if said else ""
    return f"{before}{mark}{plain(said)}{mark}{after}"


def _given(part: Part, view: View) -> Iterator[str]:
    tables = list(part.all(Table))
    facts = [*map(_operand, tables), *(f"- {plain(note.text)}" for note in part.all(Note))]
    if facts:
        yield "## Given"
        yield "\n".join(facts)
    for table in tables:
        if not table.typed:
            yield f"{_symbol(table)}:"
            yield from _value(table, [], view)


def _operand(table: Table) -> str:
    """`- $Q$ from q.json, n=2 × d_k=3: 1 0 1; 0 1 1`."""
    parts = [_symbol(table) + (f" from {code(table.source)}" if table.source else "")]
    parts += [table.sizes] if table.shape else []
    parts += [code(table.note)] if table.note else []
    return f"- {', '.join(parts)}" + (f": `{table.typed}`" if table.typed else "")


def _symbol(table: Table) -> str:
    return math(table.symbol_latex) if table.symbol_latex else code(table.symbol)


def _steps(part: Part, view: View) -> Iterator[str]:
    title = "Result" if part.kind == "result" else ""
    yield from ["---"] if title else []
    for group in part.blocks:
        if isinstance(group, Paragraph):  # on turns that are left out
            yield from _block(group, view)
            continue
        yield f"## {plain(': '.join(filter(None, (title, group.heading.text))) or part.heading.text)}"
        for step in group.all(Part):
            yield from _step(step, view)


def _step(part: Part, view: View) -> Iterator[str]:
    yield "### " + (f"{part.heading.number}. " if part.heading.number else "") + plain(part.heading.text)
    for block in part.blocks if part.kind == "step" else ():
        if isinstance(block, Formula):
            yield from _formula(block)
        elif isinstance(block, Paragraph):
            yield from _block(block, view)
    lines = part.lines
    for table in part.all(Table):
        yield from _value(table, lines, view)
    yield from (plain(note.text) for note in part.all(Note) if note.kind != "silent")


def _formula(formula: Formula) -> Iterator[str]:
    """`$\\text{scores} = Q K^\\top$ = [2×3]·[2×3]ᵀ → [2×2]`, the sizes as code."""
    if formula.latex:
        chain = math(f"{formula.symbol_latex} = {formula.latex}") + (f" = `{formula.sizes}`" if formula.sizes else "")
        yield chain + (f" → `{formula.outcome}`" if formula.outcome else "")


def _cells(part: Part, view: View) -> Iterator[str]:
    """The arithmetic of entries, below their step's formula."""
    yield f"### {plain(part.heading.text)}"
    for formula in part.all(Formula):
        yield from _formula(formula)
    for arithmetic in part.all(Arithmetic):
        yield "\n".join(f"- `{visible(line.text)}`" for line in arithmetic.lines)
    yield from (plain(note.text) for note in part.all(Note))


def _section(part: Part, view: View) -> Iterator[str]:
    yield f"## {plain(part.heading.text)}"
    for table in part.all(Table):
        part = part._replace(blocks=(*part.blocks[:-1], Paragraph(f"{table.name}:"), table))
    yield from _blocks(part.blocks, view)


def _point(point: Point, named: bool) -> str:
    """`- `q [n, d_k]`: the queries`."""
    if point.value:
        return f"- {plain(point.text)}: {code(point.value)}"
    said = math(point.latex) if point.latex else code(point.text) if named else plain(point.text)
    mark = point.mark if point.mark[:1].isdigit() else "- "
    return mark + ": ".join(filter(None, (said, plain(point.words))))


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Marked steps as a table, and below it the answers."""
    lines = ["| step | verdict | marks | mistake | hint |", "|---|---|---|---|---|"]
    for verdict in verdicts:
        told = map(plain, (verdict.verdict, verdict.marks, verdict.mistake, verdict.hint))
        lines.append(f"| {' | '.join([code(verdict.name), *told])} |")
    yield "\n".join(lines)
    for verdict in verdicts:
        if verdict.map:
            yield f"{code(verdict.name)} {plain(verdict.caption)}:"
            yield _answered(verdict)
        yield from (f"{code(verdict.name)}: {plain(words)}" for words in verdict.besides)


def _answered(verdict: Verdict) -> str:
    """The answer as text in columns, with × at wrong entries."""
    lines = [(verdict.along, verdict.columns), *verdict.answered]
    wide = max(len(cell.removesuffix(" ×")) for _, cells in lines for cell in cells)
    edge = max(len(name) for name, _ in lines) if verdict.stack else 0
    drawn = []
    for name, cells in lines:
        spaced = (f"{cell.removesuffix(' ×'):>{wide}}{' ×' if cell.endswith('×') else '  '}" for cell in cells)
        drawn.append(visible(f"{name[:edge]:>{edge}}  {' '.join(spaced)}".rstrip()))
    return "\n".join(["```", *drawn, "```"])


def _rows(rows: Rows) -> str:
    """A table of words."""

    def drawn(cells: Sequence[str]) -> str:
        return f"| {' | '.join((code if i in rows.code else plain)(cell) for i, cell in enumerate(cells))} |"

    rule = "".join("|--:" if i in rows.right else "|---" for i in range(len(rows.head)))
    return "\n".join([drawn(rows.head), f"{rule}|", *(drawn(row.cells) for row in rows.rows)])


# Exercises


def _exercises(part: Part, view: View) -> Iterator[str]:
    """What is given, or what is to be computed."""
    yield f"## {plain(part.heading.text)}"
    for block in part.blocks:
        if isinstance(block, Part):
            yield from _exercise(block) if block.kind == "exercise" else [f"### {plain(block.heading.text)}"]
        elif isinstance(block, Table):
            yield f"{_symbol(block)}, {plain(block.sizes)}" if block.shape else f"{_symbol(block)} = `{block.single}`"
            yield from _boxes(block)
        else:
            yield _paragraph(block)


def _exercise(part: Part) -> Iterator[str]:
    table = part.one(Table)
    formula = "".join(f": {math(f'{f.symbol_latex} = {f.latex}')}" for f in part.all(Formula) if f.latex)
    yield f"**{part.heading.number}. {plain(part.heading.text)}**{formula}"
    yield from (f"*{plain(block.text)}*" for block in part.all(Paragraph))
    if not table.shape:
        yield f"{plain(table.name)} = {ROOM}{BLANK * 11}"
    yield from _boxes(table)


def _boxes(table: Table) -> Iterator[str]:
    """Every number of a value, or an empty cell for each."""
    for matrix in window(table, View(everything=True), EXERCISE).matrices if table.shape else ():
        place = heading(table, matrix)
        yield from [plain(place)] if place and table.blank else []
        yield _matrix(table, matrix)


# A value


def _value(table: Table, lines: Sequence[Any], view: View) -> Iterator[str]:
    if not table.can_be_shown:
        yield plain(table.instead)
        return
    if not table.shape:
        *worked, value = lines[0].links if lines else (number(table, view),)
        yield "".join([code(table.name), *(f" = `{each}`" for each in worked), f" = **{_entry(value)}**"])
        return
    if lines:
        yield "\n".join(f"- `{line.text}`" for line in lines)
    shown = window(table, view, LIMITS)
    for matrix in shown.matrices:
        if place := heading(table, matrix):
            yield f"{code(place)}:"
        yield _matrix(table, matrix)
    if shown.left_out:
        yield f"{GAP} {shown.left_out} (`--all` shows them)"


def _matrix(table: Table, matrix: Matrix) -> str:
    down, across = axes(table)
    is_row = len(table.shape) == 1
    corner = across if is_row else f"{down} ╲ {across}"
    drawn = [[corner, *(_name(table, across, j) for j in matrix.columns)], ["--:"] * (len(matrix.columns) + 1)]
    for i, entries in zip(matrix.rows, matrix.entries, strict=True):
        name = "" if is_row else _name(table, down, i)
        drawn.append([name and f"**{name}**", *(ROOM if entry == BOX else _entry(entry) for entry in entries)])
    return "\n".join(f"| {' | '.join(cell.replace('|', BAR) for cell in line)} |" for line in drawn)


def _entry(text: str) -> str:
    """An entry: a number as it is, letters and labels escaped."""
    return code(text) if SIGNS.search(text[1:]) else text


def _name(table: Table, axis: str, index: int | None) -> str:
    """The heading of a row or a column: its label, or its index."""
    return GAP if index is None else code(label(table, axis, index))


PARTS = {"given": _given, "steps": _steps, "result": _steps, "cells": _cells, "exercises": _exercises}
"""Kind of part → the function that writes it; any other kind is written as a section."""
