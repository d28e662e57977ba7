"""LaTeX for the user's own document, or as a document by itself: formulas, matrices, the result in a box."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from attncalc.render import View, tex
from attncalc.render.latex_values import CONTINUED, LINE, STRUT, Link, fits, spelled_out, value
from attncalc.render.page import (
    BLANK,
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
    Table,
    Verdict,
    axes,
    heading,
    label,
    window,
)

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
"""
SET = {"strong": "textbf", "emphasis": "emph", "code": "texttt"}
"""Kind of span → its command."""
INNERMOST = r"\\begin\{cases\}(?:(?!\\(?:begin|end)\{).)*\\end\{cases\}"
CASES = re.compile(rf"(\\left\({INNERMOST}\\right\)|{INNERMOST})")


def write(page: Page, view: View) -> str:
    """The page to put into a document, or as a document by itself; or just a value."""
    if page.values:
        parts = [part for table in page.all(Table) for part in _alone(table, view)]
    else:
        parts = list(_blocks(page, view))
    body = "\n".join(parts) + "\n"
    if any(part.kind == "exercises" for part in page.all(Part)):
        return f"{EXERCISES}\\begin{{document}}\n\\pagestyle{{plain}}\n{body}\\end{{document}}\n"
    body = body.strip() + "\n"
    return _document(body) if view.standalone else body


def equations(page: Page, view: View) -> str:
    """The steps as one display of equations, for pages that can set formulas but no other LaTeX."""
    lines: list[str] = []
    parts = [part for part in page.all(Part) if part.kind in ("steps", "result")]
    for step in (step for part in parts for group in part.all(Part) for step in group.all(Part)):
        table, formula = step.one(Table), step.one(Formula)
        first = [Link(formula.latex, 0)] if formula.latex and step.kind != "again" else []
        lines += _equations(table, [*first, *value(table, view).links])
    return "$$\\begin{aligned}\n  " + " \\\\[1ex]\n  ".join(lines) + "\n\\end{aligned}$$"


def _alone(table: Table, view: View) -> list[str]:
    """A value by itself, without a name: a matrix and its decimals, or a list of entries with their places."""
    links = value(table, view).links
    listed = any(link.listed for link in links)
    wide = sum(link.width for link in links if not link.below or link.listed) > LINE
    if listed or (view.standalone and wide and not view.everything):
        within = "align*" if view.standalone else "aligned"  # `aligned` can be used in a formula, like a matrix
        lines = " \\\\\n  ".join(_equations(table, links))
        return [f"\\begin{{{within}}}\n  {lines}\n\\end{{{within}}}"]
    parts: list[str] = []
    before = None
    for link in links:
        if link.relation == CONTINUED:
            parts[-1] += f" {link.latex}"
        elif link.below == before:  # the decimals of the part before
            parts[-1] += f" {link.relation} {link.latex}"
        else:
            parts.append(link.latex)
        before = link.below
    return [_display(part) for part in parts] if view.standalone else parts


def _document(body: str) -> str:
    strange = sorted({character for character in body if not tex.has_a_glyph(character)})
    lines = [f"\\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\\texttt{{U+{ord(c):04X}}}}}\n" for c in strange]
    if lines:
        lines = ["\\ifdefined\\DeclareUnicodeCharacter % pdfTeX has no glyphs for these\n", *lines, "\\fi\n"]
    return f"{PREAMBLE}{''.join(lines)}\\begin{{document}}\n\n{body}\n\\end{{document}}\n"


def _display(latex: str) -> str:
    return f"\\[\n  {latex}\n\\]"


# The page's parts


def _blocks(page: Page, view: View) -> Iterator[str]:
    alone = view.standalone or any(part.kind == "exercises" for part in page.all(Part))
    for kind, run in groupby(page.blocks, key=type):
        if kind is Heading:
            titles = [tex.text(block.text) for block in run]
            yield from (rf"\section*{{{t}}}" if alone else rf"% {t}; needs \usepackage{{amsmath}}" for t in titles)
        else:
            yield from _run(kind, run, view)


def _run(kind: type, blocks: Iterable[Any], view: View) -> Iterator[str]:
    """Consecutive blocks of one type; verdicts make a table."""
    if kind is Verdict:
        yield _verdicts(list(blocks))
    else:
        yield from (part for block in blocks for part in _block(block, view))


def _block(block: Any, view: View) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from _paragraph(block)
    elif isinstance(block, Note):
        said = tex.sentence(block.text)
        yield f"\n\\textbf{{Warning:}} {said}" if block.kind == "warning" else f"\n\\emph{{{said}}}"
    elif isinstance(block, Rows):
        yield _rows(block)
    elif isinstance(block, Points):
        yield _points(block)
    elif isinstance(block, Table):
        yield _chain(block, value(block, view).links)
    elif isinstance(block, Part):
        yield from PARTS.get(block.kind, _section)(block, view)


def _paragraph(block: Paragraph) -> Iterator[str]:
    if block.kind == "":
        yield tex.sentence(block.text)
    elif block.kind == "onward":
        return  # hints with commands don't belong in a document
    elif block.kind == "blank":
        yield "\n" + rf"{tex.text(block.text)}: \underline{{\hspace{{7cm}}}}\hfill Date: \underline{{\hspace{{3cm}}}}"
    elif block.kind == "code":
        yield f"\\texttt{{{tex.text(block.text)}}}"
    else:
        yield f"\n{_text(block)}"


def _text(block: Paragraph) -> str:
    set_apart = "".join(rf"\{SET[kind]}{{{tex.text(part)}}}" if kind else tex.text(part) for part, kind in block.spans)
    return set_apart or tex.sentence(block.text)


def _section(part: Part, view: View) -> Iterator[str]:
    yield f"\n\\subsection*{{{tex.text(part.heading.text)}}}"
    for kind, run in groupby(part.blocks, key=type):
        yield from _run(kind, run, view)


def _points(block: Points) -> str:
    lines = "\n".join(f"  \\item {_point(point)}" for point in block.points)
    return f"\\begin{{itemize}}\n{lines}\n\\end{{itemize}}"


def _point(point: Point) -> str:
    said = f"${_breakable(point.latex)}$" if point.latex else tex.sentence(point.text)
    said = f"{said} = {tex.text(point.value)}" if point.value else said
    return ": ".join(filter(None, (said, tex.sentence(point.words))))


def _cells(part: Part, view: View) -> Iterator[str]:
    """The arithmetic of entries, below their step's formula."""
    formula, why = part.one(Formula), part.one(Paragraph)
    arithmetic, table = part.one(Arithmetic), part.one(Table)
    yield f"\n\\paragraph{{{tex.text(part.heading.text)}}} {tex.sentence(why.text)}{_shape(table)}"
    links = [] if _is_wide(formula) else [Link(formula.latex, LINE)]
    yield from [_in_a_paragraph(formula)] if _is_wide(formula) else []
    for line in arithmetic.lines:
        links += spelled_out(formula, line, " = ".join(line.links))
    yield _chain(formula, links)
    yield from (f"\n{tex.sentence(note.text)}" for note in part.all(Note))


def _given(part: Part, view: View) -> Iterator[str]:
    """The operands, as many side by side as fit on a line."""
    row: list[str] = []
    room = LINE
    yield rf"\subsection*{{{tex.text(part.heading.text)}}}"
    for table in part.all(Table):
        if table.is_words:  # a formula, as it was typed
            yield rf"\noindent {tex.text(table.name)}: {tex.text(str(table.value))}"
            continue
        shown = value(table, view)
        for link in shown.links:
            width = len(table.symbol) + len(link.below) + link.width + 6
            if row and width > room:
                yield _display(" \\qquad ".join(row))
                row, room = [], LINE
            row.append(f"{_named(table, link)} {link.relation} {link.latex}")
            room -= width
        if shown.left_out:
            yield from [*([_display(" \\qquad ".join(row))] if row else []), shown.left_out]
            row, room = [], LINE
    if row:
        yield _display(" \\qquad ".join(row))
    if chosen := [note.text for note in part.all(Note)]:
        yield f"\n\\noindent with {tex.sentence(', '.join(chosen))}"


def _steps(part: Part, view: View) -> Iterator[str]:
    boxed = part.kind == "result"
    if any(part.all(Part)):
        yield f"\n\\subsection*{{{tex.text(part.heading.text)}}}"
    group = ""
    for each in part.blocks:
        if isinstance(each, Paragraph):  # turns that are left out
            yield f"\n\\noindent\\emph{{{tex.sentence(each.text)}}}"
            continue
        if each.heading.text != group:
            group = each.heading.text
            yield f"\n\\subsubsection*{{{tex.text(group)}}}"
        for step in each.all(Part):
            yield from _step(step, view, boxed=boxed)


def _step(part: Part, view: View, *, boxed: bool) -> Iterator[str]:
    """A step's name and reason, then a chain: its formula, its arithmetic if that is short, its value."""
    formula, table = part.one(Formula), part.one(Table)
    said = list(part.all(Paragraph))
    why = " ".join(tex.sentence(block.text) for block in said if block.kind == "why")
    number = f"{part.heading.number}. " if part.heading.number else ""
    yield f"\n\\paragraph{{{number}{tex.text(part.heading.text)}}} {why}{_shape(table)}"
    yield from (f"\n{block.latex or tex.sentence(block.text)}" for block in said if block.kind in ("where", "about"))
    links: list[Link] = []
    if formula.latex and part.kind != "again":
        links += [] if _is_wide(formula) else [Link(formula.latex, len(formula.text))]
        yield from [_in_a_paragraph(formula)] if _is_wide(formula) else []
    for line in part.lines:
        worked = line.links if table.shape else line.links[:-1]
        if worked and fits(table, told := " = ".join(worked)):
            links += spelled_out(table, line, told)
    shown = value(table, view)
    whole = all(link.relation != CONTINUED for link in shown.links)
    links += [link._replace(latex=f"\\boxed{{{link.latex}}}") if boxed and whole else link for link in shown.links]
    if not table.shape and part.lines and part.lines[0].why:
        behind = part.lines[0].why
        latex = rf"{links[-1].latex}\quad {tex.behind(behind)}"
        links[-1] = links[-1]._replace(latex=latex, width=links[-1].width + len(behind) + 2)
    if links:
        yield _chain(table, links)
    found = [tex.sentence(note.text) for note in part.all(Note) if note.kind != "silent"]
    yield from (remark for remark in (shown.left_out, *found) if remark)


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    """Marked steps as a table."""
    lines = [
        r"\noindent\begin{tabular}{lllp{0.5\linewidth}}",
        rf"step & verdict & marks & mistake and hint \\ \hline{STRUT}",
    ]
    for verdict in verdicts:
        short = map(tex.text, (verdict.name, verdict.verdict, verdict.marks))
        wrong = f"wrong entries: {verdict.wrong_entries}" if verdict.wrong_entries else ""
        rows = "; ".join(" ".join(row) for row in verdict.given) if verdict.revealed else ""
        due = (f"answered: {rows}" if rows else "", verdict.revealed)
        told = r" \newline ".join(map(tex.text, filter(None, (verdict.mistake, verdict.hint, wrong, *due))))
        lines.append(" & ".join([*short, told]) + r" \\")
    return "\n".join([*lines, r"\end{tabular}"])


def _rows(rows: Rows) -> str:
    """A table of words in its own paragraph; the last column takes the rest of the line's width."""
    columns = "".join("r" if i in rows.right else "l" for i in range(len(rows.head) - 1))
    lines = [" & ".join(map(tex.text, cells)) + r" \\" for cells in (rows.head, *(row.cells for row in rows.rows))]
    drawn = "\n".join(
        [rf"\noindent\begin{{tabular}}{{{columns}p{{0.4\linewidth}}}}", lines[0] + rf" \hline{STRUT}", *lines[1:]]
    )
    return f"\n{drawn}\n\\end{{tabular}}\n"


# Exercises

EXERCISES = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.2cm]{geometry}
\usepackage{amsmath}
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex}
\newcommand{\room}[1]{\rule[-1.2ex]{0pt}{4.2ex}\hspace{#1}}
"""
WHOLE = Limits(rows=64, columns=64, tables=64)
TIMES = r" \times "
WIDE = 8
"""Printed tables with at least so many columns have narrow boxes."""


def _exercises(part: Part, view: View) -> Iterator[str]:
    """What is given, or what is to be computed."""
    yield rf"\subsection*{{{tex.text(part.heading.text)}}}"
    for block in part.blocks:
        if isinstance(block, Part) and block.kind == "exercise":
            yield from _exercise(block)
        elif isinstance(block, Part):
            yield rf"\subsubsection*{{{tex.text(block.heading.text)}}}"
        elif isinstance(block, Table) and block.shape:
            yield from _kept_together([f"{_math(block)}, {_sizes(block)}", *_boxes(block)])
        elif isinstance(block, Table):
            yield f"{_math(block)} $=$ {tex.text(block.single)}\n"
        else:
            yield f"\n{_text(block)}"


def _exercise(part: Part) -> Iterator[str]:
    table = part.one(Table)
    formula = "".join(rf"\quad ${f.symbol_latex} = {f.latex}$" for f in part.all(Formula) if f.latex)
    told = [rf"\textbf{{{part.heading.number}. {tex.text(part.heading.text)}}}{formula}"]
    told += [rf"\emph{{{tex.sentence(block.text)}}}" for block in part.all(Paragraph)]
    if not table.shape:
        told.append(rf"{tex.text(table.name)} $=$ \underline{{\room{{4cm}}}}")
    drawn = list(_boxes(table))
    yield from _kept_together(told + drawn[:1])
    yield from (part for box in drawn[1:] for part in _kept_together([box]))


def _math(table: Table) -> str:
    return f"${table.symbol_latex}$" if table.symbol_latex else tex.text(table.symbol)


def _sizes(table: Table) -> str:
    parts = (f"{tex.axis(axis)} = {size}" for axis, size in zip(table.axes, table.shape, strict=True))
    return f"${TIMES.join(parts)}$"


def _kept_together(parts: Sequence[str]) -> Iterator[str]:
    """Paragraphs without page breaks between them."""
    yield "\n" + r"\begin{minipage}{\linewidth}\setlength{\parskip}{1ex}"
    yield "\n\n".join(parts)
    yield r"\end{minipage}" + "\n"


def _boxes(table: Table) -> Iterator[str]:
    """Every number of a value, or a box for each, in ruled tables."""
    for matrix in window(table, View(everything=True), WHOLE).matrices if table.shape else ():
        yield _ruled(table, matrix)


def _ruled(table: Table, matrix: Matrix) -> str:
    """A ruled table with its axes in the corner."""
    down, across = axes(table)
    columns = [tex.text(label(table, across, j)) for j in matrix.columns if j is not None]
    corner = r" $\backslash$ ".join(f"${tex.axis(axis)}$" for axis in (down, across) if axis)
    lines = [" & ".join([corner, *columns])]
    width = 1.9 if len(columns) < WIDE else 13 / len(columns) - 0.42
    room = rf"\room{{{max(width, 0.4):.2g}cm}}"
    for i, entries in zip(matrix.rows, matrix.entries, strict=True):
        name = tex.text(label(table, down, i)) if len(table.shape) > 1 and i is not None else ""
        lines.append(" & ".join([name, *(room if entry == BLANK else entry for entry in entries)]))
    body = "\n".join(rf"{line} \\ \hline" for line in lines)
    place = heading(table, matrix)
    above = f"{tex.text(place)}\n\n" if place else ""
    size = r"\small" if len(columns) >= WIDE else ""
    return rf"{above}{size}\begin{{tabular}}{{|r|{'r|' * len(columns)}}}\hline" + f"\n{body}\n" + r"\end{tabular}"


# Chains


def _is_wide(formula: Formula) -> bool:
    return len(formula.symbol) + len(formula.text) > LINE


def _in_a_paragraph(formula: Formula) -> str:
    """A formula wider than a line, as text that TeX can break."""
    return f"\n{{\\raggedright\\noindent$\\displaystyle {_symbol(formula)} = {_breakable(formula.latex)}$\\par}}"


def _breakable(latex: str) -> str:
    """A formula that TeX may break in a paragraph, also inside brackets: for that, their size is fixed.

    Those of cases stay, since there is nothing to break in them.
    """
    parts = CASES.split(latex)
    parts[::2] = (re.sub(r"\\(left|right)(?=\W)", lambda sign: rf"\big{sign[1][0]}", part) for part in parts[::2])
    return "".join(parts).replace("; ", r";\allowbreak ")


def _chain(of: Formula | Table, links: Sequence[Link]) -> str:
    """The links on one line if they fit, otherwise below one another."""
    width = len(of.symbol) + sum(link.width + 3 for link in links)
    if width <= LINE and not any(link.below for link in links):
        return _display(" ".join([_symbol(of), *(f"{link.relation} {link.latex}" for link in links)]))
    return "\\begin{align*}\n  " + " \\\\\n  ".join(_equations(of, links)) + "\n\\end{align*}"


def _equations(of: Formula | Table, links: Sequence[Link]) -> list[str]:
    """The links as aligned equations; the first, and each that is a part of the value, begins with the step's name."""
    lines: list[str] = []
    before = None  # the part of the value on the line above
    for link in links:
        left = "" if link.relation == CONTINUED or link.below == before else _named(of, link)
        lines.append(f"{left} &{link.relation} {link.latex}".strip())
        before = None if link.relation == CONTINUED else link.below
    return lines


def _symbol(of: Formula | Table) -> str:
    return of.symbol_latex or rf"\text{{{tex.text(of.symbol)}}}"


def _named(of: Formula | Table, link: Link) -> str:
    return f"{{{_symbol(of)}}}_{{{link.below}}}" if link.below else _symbol(of)


def _shape(table: Table) -> str:
    r"""` ($n \times m = 2 \times 3$)`."""
    names, lengths = r" \times ".join(map(tex.axis, table.axes)), r" \times ".join(map(str, table.shape))
    return f" (${names} = {lengths}$)" if table.shape else ""


PARTS = {"given": _given, "steps": _steps, "result": _steps, "cells": _cells, "exercises": _exercises}
"""Kind of part → the function that writes it; any other kind is written as a section."""
