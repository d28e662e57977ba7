"""One HTML file that needs nothing else: formulas as MathML, values as tables, each entry's arithmetic to point at."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from itertools import groupby
from typing import Any

from attncalc.common.errors import visible
from attncalc.common.system import NamedTuple
from attncalc.record.numbers import parted
from attncalc.render import View, tex
from attncalc.render.dress import NOTEBOOK_STYLE, PAGE_STYLE, SCRIPT, STYLE
from attncalc.render.mathml import mathml
from attncalc.render.page import (
    BLANK,
    GAP,
    Formula,
    Heading,
    Limits,
    Line,
    Matrix,
    Note,
    Page,
    Paragraph,
    Part,
    Place,
    Point,
    Points,
    Row,
    Rows,
    Table,
    Verdict,
    axes,
    heading,
    label,
    number,
    whole,
    window,
)

LIMITS = (Limits(), Limits(12, 12, 4), Limits(6, 8, 2))
MOST_SHOWN = 20_000  # entries of a page; where there would be more, each value shows less of itself
WIDE = 8  # columns from which on a table may have to be scrolled, by keyboard too
HINT = "Point at a number, tap it, or walk through a table with the arrow keys, to see what it was made from."


def write(page: Page, view: View) -> str:
    """The page as a file that runs its own script at most."""
    return shell(page.title, _body(page, view), SCRIPT if page.told else "", unicode=view.unicode)


def fragment(page: Page, view: View) -> str:
    """The page as a part of somebody else's, in that one's colours and without a script."""
    return f'<div class="attncalc">\n<style>{STYLE}{NOTEBOOK_STYLE}</style>\n{_body(page, view)}</div>\n'


# The file


def shell(title: str, body: str, script: str = "", *, unicode: bool = True) -> str:
    """A file that needs nothing else; its policy lets pass its own style and script, and no other."""
    style = STYLE + PAGE_STYLE
    allowed = [f"style-src {_hash(style)}", *([f"script-src {_hash(script)}"] if script else [])]
    policy = "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])
    run = f"<script>{script}</script>\n" if script else ""
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main class="attncalc">\n{body}</main>\n{run}</body>\n</html>\n'
    )
    return page if unicode else page.encode("ascii", "xmlcharrefreplace").decode()


def _hash(text: str) -> str:
    """How a content security policy names the one text that it lets pass."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def text(words: str) -> str:
    """Anybody's text, which does nothing but stand there."""
    return escape(visible(words), quote=True)


def element(name: str, inside: str, of: str = "", **attributes: str) -> str:
    """`element("td", "1", "gap")` → `<td class="gap">1</td>`."""
    if of:
        attributes = {"class": of} | attributes
    said = "".join(f' {key.replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    return f"<{name}{said}>{inside}</{name}>"


def _sentence(words: str) -> str:
    """Text of ours, in which `d_k` has its k below and `e^x` its x above."""
    lowered = re.sub(r"\b([A-Za-z])_([A-Za-z])\b", r"\1<sub>\2</sub>", text(words))
    return re.sub(r"\be\^([−-]?(?:∞|\w+))", r"e<sup>\1</sup>", lowered)


def _axes(words: str) -> str:
    """Names of axes: `d_model` with its model below."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", text(words))


# Blocks


class _Layout(NamedTuple):
    """What the parts of a page go by."""

    page: Page
    view: View
    limits: Limits


def _body(page: Page, view: View) -> str:
    layout = _Layout(page, view, limits(page))
    return "".join(f"{part}\n" for part in _blocks(page.blocks, layout))


def limits(page: Page) -> Limits:
    """How much of each value is shown, so that the page stays one that a browser opens at once."""
    tables = [table for part in page.all(Part) for table in (*part.all(Table), *(s.one(Table) for s in part.steps))]
    shapes = [whole(table.shape) for table in tables]
    for most in LIMITS:
        if sum(min(s.rows, most.rows) * min(s.columns, most.columns) * min(s.tables, most.tables) for s in shapes) <= (
            MOST_SHOWN
        ):
            return most
    return LIMITS[-1]


def _blocks(blocks: Sequence[Any], layout: _Layout) -> Iterator[str]:
    for kind, run in groupby(blocks, key=type):
        if kind is Verdict:
            yield _verdicts(list(run))
            continue
        for block in run:
            yield from _block(block, layout)


def _block(block: Any, layout: _Layout) -> Iterator[str]:
    if isinstance(block, Heading):
        yield element("h1", text(block.text))
    elif isinstance(block, Paragraph):
        said = element("code", text(block.text)) if block.kind == "code" else _sentence(block.text)
        said += f": {BLANK * 5}" if block.kind == "blank" else ""
        yield element("p", said, {"why": "why", "about": "about", "remark": "faint"}.get(block.kind, ""))
    elif isinstance(block, Note) and block.kind == "warning":
        yield element("p", f"Warning: {text(block.text)}", "remark warning")
    elif isinstance(block, Note):
        yield element("p", _sentence(block.text), "remark")
    elif isinstance(block, Rows):
        yield _rows(block)
    elif isinstance(block, Points):
        yield element("ul", "".join(element("li", _point(point)) for point in block.points))
    elif isinstance(block, Table):
        yield from _value(block, (), layout)
    elif isinstance(block, Part):
        yield from PARTS.get(block.kind, _section)(block, layout)


def _given(part: Part, layout: _Layout) -> Iterator[str]:
    if any(layout.page.told.values()):
        yield f'<p class="hint faint" hidden>{HINT}</p>'
    if tables := list(part.all(Table)):
        yield element("h2", text(part.heading.text))
        yield element("div", "\n".join(_operand(table, layout) for table in tables), "operands")
    if chosen := [note.text for note in part.all(Note)]:
        yield element("p", text(", ".join(chosen)), "faint")


def _operand(table: Table, layout: _Layout) -> str:
    name = mathml(table.symbol_latex) if table.symbol_latex else text(table.symbol)
    size = element("span", _axes(table.sizes), "sizes") if table.shape else ""
    said = [element("p", element("bdi", text(words)), "source") for words in (table.source, table.note) if words]
    if not table.shape:
        entry = number(table, layout.view)
        return element("div", "\n".join([_single(table, f"{name} = ", "span", entry, layout), *said]))
    return element("div", "\n".join([element("p", name + size), *said, *_value(table, (), layout)]))


def _steps(part: Part, layout: _Layout) -> Iterator[str]:
    title = "Result" if part.kind == "result" else ""
    drawn = []
    for group in part.all(Part):
        drawn.append(element("h2", text(": ".join(filter(None, (title, group.heading.text))) or part.heading.text)))
        drawn += [element("section", "\n".join(_step(step, layout))) for step in group.all(Part)]
    if drawn:
        yield element("section", "\n".join(drawn), "result" if title else "")


def _step(part: Part, layout: _Layout) -> Iterator[str]:
    counted = "" if part.heading.number is None else element("span", str(part.heading.number), "number")
    yield element("h3", counted + text(part.heading.text))
    if part.kind != "again":
        yield from map(_formula, part.all(Formula))
        for block in part.all(Paragraph):
            yield from _block(block, layout)
    yield from _value(part.one(Table), tuple(part.lines), layout)
    for note in part.all(Note):
        yield element("p", text(note.text), "alarm" if note.kind == "alarm" else "faint")


def _formula(formula: Formula) -> str:
    """A step's formula, the same with sizes in place, and the shape that comes out."""
    chain = [f"= {formula.sizes}"] if formula.sizes else []
    chain += [f"→ {formula.outcome}"] if formula.outcome else []
    drawn = mathml(f"{formula.symbol_latex} = {formula.latex}") if formula.latex else text(formula.symbol)
    return element("p", " ".join([drawn, *(element("span", text(link), "sizes") for link in chain)]), "formula")


def _cells(part: Part, layout: _Layout) -> Iterator[str]:
    """Entries that are worked out, under their step's formula."""
    yield element("h3", text(part.heading.text))
    yield _formula(part.one(Formula))
    yield element("ul", "".join(element("li", text(line.text)) for line in part.lines), "worked")


def _section(part: Part, layout: _Layout) -> Iterator[str]:
    yield element("h2", text(part.heading.text))
    for block in part.blocks:
        if isinstance(block, Table) and block.shape:
            yield element("p", f"{text(block.name)}:")
    yield from _blocks(part.blocks, layout)


def _point(point: Point) -> str:
    said = mathml(point.latex) if point.latex else _sentence(point.text)
    return ": ".join(filter(None, (said, text(point.value) or _sentence(point.words))))


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    """Marked steps as a table."""
    rows = [Row((v.name, v.verdict, v.marks, v.mistake, v.hint), v.sound) for v in verdicts]
    return _rows(Rows("each step", ("step", "verdict", "marks", "mistake", "hint"), tuple(rows)))


def _rows(rows: Rows) -> str:
    """A table of words, whose rows are of sound things or of wrong ones; a row's first cell is its heading."""
    body = []
    for row in rows.rows:
        first, *others = row.cells
        cells = element("th", text(first), scope="row") + "".join(element("td", text(cell)) for cell in others)
        body.append(element("tr", cells, "right" if row.sound else "wrong"))
    names = "".join(element("th", text(name), scope="col") for name in rows.head)
    parts = (
        element("caption", text(rows.caption)),
        f"<thead><tr>{names}</tr></thead>",
        element("tbody", "".join(body)),
    )
    return element("div", element("table", "".join(parts), "marks"), "scroll")


def _exercises(part: Part, layout: _Layout) -> Iterator[str]:
    """What is given, or what is to be worked out."""
    yield element("h2", text(part.heading.text))
    for block in part.blocks:
        if isinstance(block, Part) and block.kind == "exercise":
            yield element("section", "\n".join(_exercise(block, layout)))
        elif isinstance(block, Part):
            yield element("h2", text(block.heading.text))
        elif isinstance(block, Table):
            yield _operand(block, layout)
        else:
            yield from _block(block, layout)


def _exercise(part: Part, layout: _Layout) -> Iterator[str]:
    yield element("h3", element("span", str(part.heading.number), "number") + text(part.heading.text))
    yield from (_formula(formula) for formula in part.all(Formula) if formula.latex)
    for block in part.all(Paragraph):
        yield from _block(block, layout)
    yield from _value(part.one(Table), (), layout)


PARTS = {"given": _given, "steps": _steps, "result": _steps, "cells": _cells, "exercises": _exercises}
"""Kind of part → what writes it; any other is a section."""


# Values


def _value(table: Table, lines: Sequence[Line], layout: _Layout) -> Iterator[str]:
    """A step's value: the arithmetic of its entries where that is short, then its tables, or what is known of it."""
    if not table.can_be_shown:
        yield element("p", text(table.instead), "faint")
        return
    if not table.shape:
        *links, value = lines[0].links if lines else (number(table, layout.view),)
        yield _single(table, text(" = ".join((table.name, *links, ""))), "strong", value, layout)
        return
    if lines:
        yield element("ul", "".join(element("li", text(line.text)) for line in lines), "worked")
    shown = window(table, layout.view, layout.limits)
    figures = []
    for matrix in shown.matrices:
        drawn = element("table", "".join(_matrix(table, matrix, layout)))
        if len(matrix.columns) > WIDE:
            drawn = element("div", drawn, "wide scroll", tabindex="0", role="region", aria_label=table.name)
        else:
            drawn = element("div", drawn, "scroll")
        figures.append(element("figure", drawn))
    yield element("div", "\n".join(figures), "stack", **_number(table, layout))
    if shown.left_out:
        yield element("p", f"{GAP} {shown.left_out} (--all shows them)", "faint")


def _single(table: Table, chain: str, name: str, entry: str, layout: _Layout) -> str:
    """A single number behind the words that lead to it."""
    number = element(name, _entry(table, (), entry), **_told(table, (), layout))
    return element("p", chain + number, "value", **_number(table, layout))


def _matrix(table: Table, matrix: Matrix, layout: _Layout) -> Iterator[str]:
    row_axis, column_axis = axes(table)
    is_row = len(table.shape) == 1
    span = {"scope": "colgroup", "colspan": str(len(matrix.columns))}
    above = element("th", _axes(column_axis), "axis", **span)
    names = [_name(table, column_axis, j, scope="col") for j in matrix.columns]
    corner = ("", "") if is_row else ("<td></td>", element("th", _axes(row_axis), "axis", scope="col"))
    unseen = element("span", text(f"{table.symbol}, {table.sizes}"), "unseen")
    yield element("caption", unseen + text(heading(table, matrix)))
    yield element("thead", element("tr", corner[0] + above) + element("tr", corner[1] + "".join(names)))
    yield "<tbody>"
    for i, entries in zip(matrix.rows, matrix.entries, strict=True):
        row = "" if is_row else _name(table, row_axis, i, scope="row")
        for j, entry in zip(matrix.columns, entries, strict=True):
            if i is None or j is None:
                row += element("td", GAP, "gap")
            else:
                at = (*matrix.at, j) if is_row else (*matrix.at, i, j)
                row += element("td", _entry(table, at, entry), **_told(table, at, layout))
        yield element("tr", row)
    yield "</tbody>"


def _number(table: Table, layout: _Layout) -> dict[str, str]:
    """The number by which entries that were made from this value speak of it."""
    return {"data_value": str(table.number)} if table.number in layout.page.felt else {}


def _told(table: Table, at: Place, layout: _Layout) -> dict[str, str]:
    """What an entry tells when it is pointed at, and its place where others point at it."""
    place = {"data_at": ",".join(map(str, at))} if table.number in layout.page.felt else {}
    told = layout.page.told.get(table.number, {}).get(at)
    if told is None:
        return place
    return place | {"data_how": told.how} | ({"data_from": told.origins} if told.origins else {})


def _entry(table: Table, at: tuple[int, ...], entry: str) -> str:
    """A number as it is; an exact one as a formula, with its decimals beside it."""
    if table.value is None or table.value.dtype != object or table.names:
        return text(entry)
    _, sign, decimals = parted(entry)
    return mathml(tex.exact(table.value[at])) + text(sign + decimals)


def _name(table: Table, axis: str, index: int | None, *, scope: str) -> str:
    """The heading of a row or a column: its label, or its index."""
    if index is None:
        return element("th", GAP, "gap", scope=scope)
    name = text(label(table, axis, index))
    if axis not in table.labels:
        return element("th", name, scope=scope)
    return element("th", element("bdi", name), "label", scope=scope)
