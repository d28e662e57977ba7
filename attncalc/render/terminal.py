"""A page on a terminal, drawn by Rich, also within other programs' panels, layouts and live displays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from io import StringIO
from itertools import chain as joined
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.box import Box
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.segment import Segment, Segments
from rich.table import Table as RichTable
from rich.text import Text

from attncalc.common.errors import both
from attncalc.common.system import NamedTuple
from attncalc.record.trace import ONES
from attncalc.render import View
from attncalc.render.page import (
    BLANK,
    FAINT,
    GAP,
    Arithmetic,
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
    Rows,
    Table,
    Verdict,
    axes,
    bare,
    heading,
    label,
    located,
    missing,
    number,
    right,
    shortened,
    whole,
    window,
)

if TYPE_CHECKING:  # few pages have pictures
    from attncalc.record.pictures import Picture

ACCENT = "bold color(63)"  # a blue that is visible on black and white, and that the colour-blind tell from ALARM
ALARM = "bold color(130)"  # an orange
SOUND = "color(29)"
REASON = "italic"
RESULT = "bold"
KINDS = {
    "why": REASON,
    "remark": REASON,
    "code": REASON,
    "sound": SOUND,
    "wrong": ALARM,
    "alarm": ALARM,
    "finding": REASON,
}
"""The kind of a paragraph or a note → its style."""

ENDLESS = 1_000_000  # columns of a page that has no width
PROSE = 80  # columns of explanations on such a page
SHORTEST_RULE = 40
WIDE = 160  # on so many columns, factors stand beside their product, and heads side by side
MOST_LINES = 2  # rows of such products, one for each head
LEAST_WORDS = 20  # columns for words at the end of a row; if there are fewer, the words stand below the row,
# and also if there are hardly more and the words would take three lines, or in most rows two


def write(page: Page, view: View) -> str:
    """The page as text, with colour codes if the view has colours."""
    file = StringIO()
    Console(
        file=file,
        width=view.columns or ENDLESS,
        force_terminal=view.color,
        color_system="256" if view.color else None,
        no_color=False,
        legacy_windows=False,
        _environ={},
    ).print(Drawn(page, view), crop=False)
    return file.getvalue()


class Indented:
    """Something drawn with an indent, which may be different for its first line."""

    def __init__(self, inside: RenderableType, indent: int = 0, first: int | None = None) -> None:
        self.inside, self.indent, self.first = inside, indent, indent if first is None else first

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        width, indent, inside = max(options.max_width - self.indent, 1), self.first, self.inside
        if isinstance(inside, Text) and self.first < self.indent:
            inside = _hung(inside, console, options.max_width - self.first, width)
            width = options.max_width
        for line in console.render_lines(inside, options.update(width=width, height=None), pad=False):
            if shown := _trimmed(line):
                yield Segment(" " * indent)
                yield from shown
            yield Segment.line()
            indent = self.indent


def _hung(text: Text, console: Console, first: int, further: int) -> Text:
    """The text wrapped so that its first line is wider than the others."""
    start, *others = text.wrap(console, first)
    behind = text.plain[len(start) :]
    rest = text[len(text) - len(behind.lstrip()) :].wrap(console, further) if others else ()
    return Text("\n", no_wrap=True).join([start, *rest])


def _trimmed(line: Sequence[Segment]) -> list[Segment]:
    """The line without trailing blanks, except those with a background colour."""
    shown = list(line)
    while shown and not (shown[-1].style and shown[-1].style.bgcolor):
        last = shown.pop()
        if text := last.text.rstrip():
            return [*shown, Segment(text, last.style)]
    return shown


class Drawn:
    """A page for Rich, as wide as the place in which it is drawn."""

    def __init__(self, page: Page, view: View) -> None:
        self.page, self.view = page, view
        self.known = frozenset(_known(page))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        self.width = None if options.max_width >= ENDLESS else options.max_width
        if options.ascii_only and self.view.unicode:
            self.view = self.view._replace(unicode=False)
        if self.page.values:
            for table in self.page.all(Table):
                yield Indented(Group(*grid(table, self.view, self.width)))
            return
        longest = 0
        for place, block in enumerate(self.page.blocks):
            is_result = isinstance(block, Part) and block.kind == "result"
            drawn = Indented(Group(*self.block(block, first=is_result or not place)))
            lines = console.render_lines(drawn, options, pad=False, new_lines=True)
            longest = max([longest, *(Segment.get_line_length(line) for line in lines)])
            length = min(max(longest, SHORTEST_RULE), self.width or PROSE)
            yield from [Text(), self.text("━━ result ".ljust(length, "━"), ACCENT)] if is_result else []
            yield Segments(segment for line in lines for segment in line)
            yield from [self.text("━" * length, ACCENT)] if is_result else []

    def text(self, words: str, style: str = "") -> Text:
        """Text in the characters that the page may contain."""
        return Text().append(self.view.spell(words), style)

    def block(self, block: Any, *, first: bool = False) -> Iterator[RenderableType]:
        """A block as drawn; all but the first stand below an empty line, unless they belong to the block above."""
        if isinstance(block, Heading):
            yield self.text(block.text, ACCENT)
        elif isinstance(block, Paragraph):
            yield from [] if block.kind in ("", "beside", "own") else [Text()]
            words = block.text + f": {BLANK * 5}" * (block.kind == "blank")
            yield _Whole(self.text(words, KINDS.get(block.kind, "")))
        elif isinstance(block, Note):
            yield from [_Whole(self.text(f"note: {block.text}", REASON))] if block.kind == "note" else []
        elif isinstance(block, Formula):
            return
        else:
            if not first and not (isinstance(block, Part) and not block.blocks):
                yield Text()
            yield from DRAWN.get(type(block), Drawn.picture)(self, block)

    # Parts

    def part(self, part: Part) -> Iterator[RenderableType]:
        """A part of the page."""
        if part.kind == "given":
            yield from self.given(part)
        elif part.kind in ("steps", "result"):
            yield from self.steps(part)
        elif part.kind == "cells":
            yield from self.cells(part)
        else:
            yield from self.section(part)

    def given(self, part: Part) -> Iterator[RenderableType]:
        """The operands and options; operands of one file stand below its name, as do those with too long a line."""
        tables = list(part.all(Table))
        named = [(table.source, f"#{table.name}") for table in tables]
        files = Counter(source.removesuffix(name) for source, name in named if source.endswith(name))
        file, count = max(files.items(), key=lambda item: item[1], default=("", 0))
        is_long = self.width is not None and any(len(f"← {source},") > self.width - 6 for source, _ in named)
        common = file if count > 1 or is_long else ""
        together = [table for table in tables if common and table.source == f"{common}#{table.name}"]
        drawn = [list(self.operand(table, table.source)) for table in tables if table not in together]
        drawn += [[Indented(Chain(self.text(f"← {common}"), hang=4), 2)]] if common else []
        drawn += [list(self.operand(table, "")) for table in together]
        if chosen := ", ".join(note.text for note in part.all(Note)):
            drawn.append([Indented(_Whole(self.text(chosen)), 4, first=2)])
        for at, lines in enumerate(drawn):
            yield from [Text()] if at and len(drawn[at - 1]) > 1 else []  # after a grid
            yield from lines

    def operand(self, table: Table, source: str) -> Iterator[Indented]:
        """`q ← q.json, n=2 × d_k=3: 1 0 1; 0 1 1`; a larger value below its name.

        If its name in formulas differs by more than capitals or underscores, it is `class_weights = w`.
        """
        line = self.text(table.name, "bold")
        symbol = self.view.spell(table.symbol)
        line.append(f" = {symbol}" if bare(symbol) != bare(table.name) else "")
        line.append(f" {self.view.spell('←')}{GLUE}{self.view.spell(source)}" if source else "")
        sizes = re.sub(r" (?=[^(]*\))", GLUE, self.view.spell(table.sizes))  # so that `(h d_k)` is not broken
        line.append(f", {sizes}" if table.shape else "")
        typed = table.typed if table.typed != table.source else ""
        if typed and not table.is_words:
            rows = self.view.spell(table.typed).split("; ")
            line.append(": " + "; ".join(row.replace(" ", GLUE) if rows[1:] else row for row in rows))
        if table.note:
            line.append(self.view.spell(f" ({table.note})"), REASON)
        is_ones = table.source == ONES  # a table of ones would say no more
        large = not table.typed and table.can_be_shown and not is_ones
        if large and self.view.show:
            line.append(self.view.spell(" (drawn with --all)"), FAINT)
        if is_ones and not table.typed:
            line.append(": all 1")
        elif table.stand_in:
            line.append(self.view.spell(f": {table.stand_in}"), FAINT)
        formula = [self.text(typed)] if typed and table.is_words else []
        yield Indented(Chain(line.append(":" if formula else ""), formula, hang=4), 2)
        if large and not self.view.show:
            yield Indented(Group(*self.grid(table, 4)), 4)

    def steps(self, part: Part) -> Iterator[RenderableType]:
        """Steps, under the names of their groups."""
        style = RESULT if part.kind == "result" else ""
        group = ""
        first = True
        for each in part.blocks:
            if isinstance(each, Paragraph):  # on turns that are left out
                yield from self.block(each)
                continue
            for step in each.all(Part):
                yield from [] if first else [Text()]
                first = False
                if each.heading.text != group and step.kind != "again":
                    group = each.heading.text
                    yield from self.group(group)
                yield from self.step(step, style)

    def group(self, name: str) -> Iterator[Text]:
        """`── encoder 1 ──`."""
        if name:
            sides = self.view.spell("──")
            yield Text.assemble((f"{sides} ", FAINT), (self.view.spell(name), "bold"), (f" {sides}", FAINT))
            yield Text()

    @property
    def margin(self) -> int:
        """The width of the steps' numbers, after which names begin."""
        steps = [step for part in self.page.all(Part) for step in (*part.steps, *part.all(Part))]
        numbers = [step.heading.number or 0 for step in steps]
        return len(str(max([self.page.steps, *numbers]))) + 2

    def step(self, part: Part, style: str) -> Iterator[RenderableType]:
        """A step's line, its reason, its arithmetic if that is short, and its value."""
        margin = self.margin
        table = part.one(Table)
        if part.kind == "again":
            title = self.text(part.heading.key, ACCENT).append(f", step {part.heading.number}")
            value: Iterable[RenderableType] = (Text(), *self.grid(table, margin, style))
            if not table.shape:
                value = (self.line(Line(table.name, (), "", (number(table, self.view),)), style),)
            yield Indented(Group(title, *value), margin)
            return
        start = Text().append(f"{part.heading.number or '':>{margin - 2}}  ", FAINT)
        start.append(self.view.spell(part.heading.text), ACCENT)
        formula = part.one(Formula)
        yield Chain(start, list(map(self.text, _links(formula, part.heading.text))), under=margin)
        yield Indented(Group(*self.below(part, table, margin, style)), margin)

    def below(self, part: Part, table: Table, margin: int, style: str) -> Iterator[RenderableType]:
        """Everything below a step's line."""
        lines = part.lines
        about = [block for block in part.all(Paragraph) if block.kind == "about"]
        where = [block.text for block in part.all(Paragraph) if block.kind == "where"]
        room = ENDLESS if self.width is None else self.width - margin
        for words in where:
            for at, each in enumerate([words] if len(words) <= room else _members(words)):
                name, *links = [each] if "; " in each else each.split(" = ", 1)
                chain = Chain(self.text(name), [self.text(f"= {link}") for link in links], is_formula=True)
                yield Indented(chain, 2 * (at > 0))
        if part.heading.key not in self.known:
            yield from (_Whole(self.text(block.text, REASON)) for block in part.all(Paragraph) if block.kind == "why")
        for block in about:
            yield Text()
            yield self.prose(block.text)
        if about or table.shape:
            yield Text()
        if table.shape or not table.can_be_shown:
            if lines:
                yield Chains([*map(self.line, lines)])
                yield Text()
            beside = self.product(part, table, margin, style)
            yield from self.grid(table, margin, style) if beside is None else (beside,)
        else:
            value = lines or [Line(table.name, (), "", (number(table, self.view),))]
            yield self.line(value[0], style)
        found = list(part.all(Note))
        yield from [Text()] if found else []
        yield from (self.text(note.text, KINDS[note.kind]) for note in found if note.kind != "silent")

    def product(self, part: Part, table: Table, margin: int, style: str) -> RenderableType | None:
        """Matrix products beside their factors and bias, with the row, column and entry of the arithmetic in colour.

        None if the page is too narrow for one of them, or if they would take too many lines.
        """
        if not table.factors or self.width is None or self.width < WIDE:
            return None
        tables = (*table.factors, table)
        stacks = [_stack(each, self.view) for each in tables]
        worked_out = part.lines[0].at if len(part.lines) == 1 else ()
        blocks = []
        for at in stacks[-1] if all(stacks) else ():
            lit = worked_out[-2:] if worked_out and worked_out[:-2] == at else ()
            grids = [stack[at if at in stack else ()] for stack in stacks]
            blocks.append(self.equation(grids, tables, lit, style))
        return _in_lines(blocks, self.width - margin, most=MOST_LINES) if blocks else None

    def equation(self, grids: Sequence[_Grid], tables: Sequence[Table], lit: Sequence[int], style: str) -> _Block:
        """Two factors, the bias and the result side by side; `lit` is the place of the entry in colour."""
        names = [self.text(table.symbol or table.name, "bold") for table in tables]
        signs = "·+"[: len(tables) - 2] + "="
        above: list[RenderableType] = [names[0]]
        drawn: list[RenderableType] = []
        for at, (one, table) in enumerate(zip(grids, tables, strict=True)):
            if at:
                above += [self.text(signs[at - 1]), names[at]]
                drawn.append("")
            has_rows = at != 1 and len(table.shape) > 1  # the second factor, or a bias, has a column in colour
            place = (lit[0] if has_rows else None, lit[1] if at else None) if lit else NOWHERE
            own = style if table is tables[-1] and not lit else ""  # beside bold entries colour looks faint
            drawn.append(_drawn(one, one.columns, table, self.view, own, place))
        beside = RichTable.grid(padding=(0, BETWEEN, 0, 0))
        beside.add_row(*above)
        beside.add_row(*drawn)
        widths = (max(one.width(), name.cell_len) for one, name in zip(grids, names, strict=True))
        width = sum(widths) + (2 * BETWEEN + 1) * len(signs)
        return _Block(self.view.spell(heading(tables[-1], grids[-1].matrix)), width, beside)

    def prose(self, words: str) -> RenderableType:
        """Explanations, in lines that are short enough to be read."""
        return _Narrow(self.text(words), PROSE) if self.width is None else self.text(words)

    def grid(self, table: Table, indent: int, style: str = "") -> Iterator[RenderableType]:
        """A value, with room left for an indent."""
        is_wide = self.width is not None and self.width >= WIDE
        return grid(table, self.view, None if self.width is None else self.width - indent, style, is_wide=is_wide)

    def line(self, line: Line, style: str = "") -> Chain:
        """`dot = 0.8×0.7 + 0.2×0.3 + 0.1×0.2 = 0.64`."""
        *links, value = (f"= {link}" for link in line.links)
        return Chain(self.text(line.place), [*map(self.text, links), self.text(value, style)])

    def cells(self, part: Part) -> Iterator[RenderableType]:
        """The arithmetic of entries below their step; the first part says that indices count from 0."""
        formula = part.one(Formula)
        arithmetic = part.one(Arithmetic)
        why = part.one(Paragraph)
        first = next((each for each in self.page.all(Part) if any(line.at for line in each.lines)), None)
        counted = " (indices from 0)" if part is first else ""
        yield Chain(self.text(part.heading.text), [self.text(f"= {formula.text}")])
        yield self.text(f"{why.text}{counted}".strip())
        yield Chains([*map(self.line, arithmetic.lines)])
        yield from (self.text(note.text) for note in part.all(Note))

    def section(self, part: Part) -> Iterator[RenderableType]:
        """A heading and its contents."""
        yield self.text(part.heading.text, ACCENT)
        for block in part.blocks:
            if isinstance(block, Paragraph):
                yield Indented(self.text(block.text, KINDS.get(block.kind, "")), 2)
            elif isinstance(block, Points):
                yield from self.points(block)
            elif isinstance(block, Table):
                yield from self.named(block)
            elif isinstance(block, Part) and block.kind == "exercise":
                yield Text()
                yield from self.step(block, "")
            else:
                drawn = self.rows(block, 2) if isinstance(block, Rows) else self.block(block, first=True)
                yield Indented(Group(*drawn), 2)

    def named(self, table: Table) -> Iterator[RenderableType]:
        """A value after its name, or below it."""
        name = self.text(table.name, "bold")
        if not table.shape:
            yield Indented(name.append(self.view.spell(f" = {number(table, self.view)}"), ""), 2)
            return
        yield Text()
        yield Indented(Group(name.append(" ="), Text(), *self.grid(table, 2)), 2)

    def points(self, block: Points) -> Iterator[RenderableType]:
        """Names with words beside them, or sentences with words below."""
        left, most = block.room, ENDLESS if self.width is None else self.width // 2 - 4
        lengths = [len(point.text) for point in block.points]
        if left and most >= WIDE // 3:
            left = max([left, *(length for length in lengths if length <= WIDE // 3)])
        if left > most:  # long names have their words below
            left = max((length for length in lengths if length <= most), default=4)
        if 0 < left < max(lengths) and any("→" in point.text and not point.latex for point in block.points):
            left = 4  # if one edge, `centered → x`, has its words below, all have
        for point in block.points:
            yield from self.point(point, left, bold=bool(block.room))

    def point(self, point: Point, left: int, *, bold: bool) -> Iterator[RenderableType]:
        """One point; `left` is the width of names that have words beside them."""
        text, words = self.text(point.text, "bold" if bold else ""), self.text(point.words, REASON)
        if point.value:
            yield Indented(self.text(point.text, "bold").append(self.view.spell(f" = {point.value}"), "not bold"), 2)
        elif words and left and text.cell_len <= left:
            beside = RichTable.grid(padding=0)
            beside.add_column(width=left + 2, no_wrap=True)
            beside.add_column(overflow="fold")
            beside.add_row(text, _Whole(words))
            yield Indented(beside, 2)
        else:
            mark = Text(self.view.spell(point.mark))
            below = 2 + (mark.cell_len or (4 if not bold else 2))
            names = "→" in point.text and not point.latex  # names of parts, which are not broken
            chained = point.latex or bold or names  # a formula, a name with its choices, or parts: broken at signs
            text.plain = re.sub(r"(?<![→>,]) (?!→|->)| (?=backward)", GLUE, text.plain) if names else text.plain
            chain = Chain(mark + text, hang=below - 2, is_formula=bool(point.latex))
            yield Indented(chain, 2) if chained else Indented(mark + text, below, 2)
            if words:
                yield Indented(words, left + 4 if left else below)

    # Marked steps

    def verdict(self, verdict: Verdict) -> Iterator[RenderableType]:
        """A step with its verdict and its marks, and below it the remarks on it."""
        parts: list[Page | Part] = [self.page, *self.page.all(Part)]
        wide = max(len(each.name) for part in parts for each in part.all(Verdict))
        line = self.text(f"{verdict.name:<{wide}}  ", ACCENT)
        line.append(verdict.verdict, SOUND if verdict.sound else ALARM).append(f"  {verdict.marks}", FAINT)
        yield Indented(line, 4, first=0)
        told = [(verdict.mistake, ""), (verdict.hint, REASON), (verdict.revealed, FAINT)]
        told += [(verdict.misshapen, FAINT)] if verdict.misshapen not in verdict.hint else []
        told += [(words, FAINT) for words in verdict._replace(revealed="", apart="").besides]
        yield from (Indented(self.text(words, style), 6, first=4) for words, style in told if words)
        wide = max((len(cell) for row in verdict.given for cell in row), default=0)
        columns = len(verdict.map[0]) if verdict.map else 0
        names = [self.view.spell(name) for name, _ in verdict.answered] if any(verdict.labels[:-1]) else []
        margin = max(map(cell_len, names), default=-2) + 2
        beside = wide and 4 + margin + columns * (3 + wide) + 2 <= (self.width or 120)
        for i, row in enumerate(verdict.signs):
            line = self.text("", FAINT)
            if names:
                line.append(f"{right(names[i], margin - 2)}  ", FAINT)
            signs = "" if verdict.misshapen else " ".join(row)
            line.append(signs, ALARM if "×" in row else FAINT)
            if beside:
                line.append("   " * bool(signs) + "  ".join(f"{cell:>{wide}}" for cell in verdict.given[i]), FAINT)
            yield Indented(line, 4)
        if verdict.apart:
            yield Indented(self.text(verdict.apart, FAINT), 6, first=4)

    def rows(self, rows: Rows, margin: int = 0) -> Iterator[RenderableType]:
        """A table of words, indented; if there is little room, a wide first column stands above, the last one below.

        The first column also stands above if names in later columns, such as the options that show a part, would not
        fit beside it. Columns in between that do not fit stand below, before the last one; if even that is too wide,
        they are left out with a remark. If columns stand below one another, their names share one line.
        """
        lines = [rows.head, *(row.cells for row in rows.rows)]
        spelled = [[self.view.spell(cell) for cell in line] for line in lines]
        widths = [max(map(cell_len, column)) for column in zip(*spelled, strict=True)]
        room = ENDLESS if self.width is None else self.width - margin
        is_typed = any(0 < column < len(widths) - 1 for column in rows.code)
        start, end, rest, beside = _arranged(spelled, widths, room, is_typed=is_typed)
        ends = ["  ".join(map(str.ljust, cells[rest:], widths[rest:])).rstrip() for cells in spelled]
        in_stairs = bool(rows.head[0] * start or ends[0] * (not beside))
        if in_stairs:
            yield self.text(" | ".join(filter(None, rows.head[:end] + rows.head[rest:])), FAINT)
        for row, (cells, words) in [*enumerate(zip(spelled, ends, strict=True))][in_stairs:]:
            style = "" if row else FAINT
            last = _Whole(Text(words, style))
            line = RichTable.grid(padding=(0, 2, 0, 0))
            for width in widths[start:end]:
                line.add_column(width=width, no_wrap=True)
            if beside:
                line.add_column(overflow="fold")
            line.add_row(*(Text(cell, style) for cell in cells[start:end]), *[last] * beside)
            if start:
                yield Indented(Text(cells[0], style))
            if beside or any(cells[start:end]):
                yield Indented(line, 2 * start)
            if words and not beside:
                yield Indented(last, 4)
        if left_out := rows.head[end:rest]:
            yield self.text(f"{GAP} {both(left_out)} (on a wider page)", FAINT)

    def picture(self, picture: Picture) -> Iterator[RenderableType]:
        """A picture, drawn with characters."""
        from attncalc.render.pictures import drawn  # a door: few pages have pictures

        yield from drawn(picture, self.view._replace(width=self.width))


DRAWN: dict[type, Callable[[Drawn, Any], Iterator[RenderableType]]] = {
    Part: Drawn.part,
    Points: Drawn.points,
    Rows: Drawn.rows,
    Table: Drawn.named,
    Verdict: Drawn.verdict,
}
"""Kind of block → the method that draws it; any other block is a picture."""


KEPT = "\ue000"  # stands for a blank at which lines don't break, since Rich breaks lines at every kind of blank


TYPED = r"--[a-z-]+ (?:'[^']*'|(?:all|N)\b)|\b[a-z]+ \d+/[^\s,;:]+|\w+(?: = \S+)+"
FORMED = r"(?:→|->) [^→:]+?(?= →| ->|:|$)|\bN\([^()]*\)|[^\s(]*\([^()]* [−+-] [^()]*\)|\S+(?: [−+-] \S+)+|\bhere \S+"
"""Text in which lines don't break: `→ token 2, backward`, `N(0, 1)`, `σ·(1 − σ)`, and `here V`, the factor."""


def _known(page: Page) -> Iterator[str]:
    """The steps of repeated parts, such as `token 2` after `token 1`, whose reasons were given before."""
    told: dict[tuple[str, ...], str] = {}
    for part in page.all(Part):
        for group in part.all(Part):
            for step in group.all(Part):
                reasons = [block.text for block in step.all(Paragraph) if block.kind == "why"]
                alike = (re.sub(r"\d+", "", group.heading.text), step.heading.text, *reasons)
                if told.setdefault(alike, group.heading.text) != group.heading.text:
                    yield step.heading.key


def _arranged(
    spelled: Sequence[Sequence[str]], widths: Sequence[int], room: int, *, is_typed: bool
) -> tuple[int, int, int, bool]:
    """Where the columns of a table of words stand: (start, end, rest, beside).

    Those from `start` to `end` share a line, a column before them stands above it. Those from `rest` on stand `beside`
    them or below; those between `end` and `rest` are left out.
    """
    end, last = len(widths) - 1, widths[-1]
    is_needed = 2 * widths[0] > room or is_typed
    start = int(is_needed and sum(widths[:end]) + 2 * (end - 1) > room)
    while end > start + 1 and sum(widths[start:end]) + 2 * (end - start - 1) > room:
        end -= 1
    left = room - sum(widths[start:end]) - 2 * (end - start)
    torn = sum(cell_len(line[-1]) > left for line in spelled)
    is_prose = left >= 2 * LEAST_WORDS and not is_typed
    beside = left >= min(last, LEAST_WORDS) and (is_prose or (last <= 2 * left and 2 * torn <= len(spelled)))
    below = 4 + sum(widths[end:]) + 2 * (len(widths) - 1 - end)
    return start, end, end if below <= room and not beside else -1, beside


class _Whole:
    """Running text in which lines don't break within typed words, `--cell all`, `lr = 0.1`, group names or formulas."""

    def __init__(self, words: Text) -> None:
        self.words = words

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        def kept(typed: re.Match[str]) -> str:
            return typed[0] if cell_len(typed[0]) > options.max_width else typed[0].replace(" ", KEPT)

        words = self.words.copy()
        words.plain = re.sub(f"{TYPED}|{FORMED}", kept, words.plain)
        for line in words.wrap(console, options.max_width):
            line.plain = line.plain.replace(KEPT, " ")
            yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.words)


class _Narrow:
    """Something drawn no wider than so many columns."""

    def __init__(self, inside: RenderableType, width: int) -> None:
        self.inside, self.width = inside, width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        return console.render(self.inside, options.update(width=min(self.width, options.max_width)))


def _links(formula: Formula, name: str) -> Sequence[str]:
    """`= ∂L/∂scores`, `= Q·Kᵀ`, `= [2×3]·[3×2] → [2×2]`: the links of a formula, the last with the result's shape."""
    symbol = formula.symbol if formula.symbol != name else ""
    links = [f"= {link}" for link in (symbol, formula.text, formula.sizes) if link]
    if formula.outcome:
        links[-1:] = [" ".join([*links[-1:], f"→ {formula.outcome}"])]
    return links


# Formulas on a terminal: broken before their signs if they are wider than the page, with long names broken too.


GLUE = "\xa0"
"""A blank at which lines don't break."""

THAN = "(?:[<≤=≥>≠]|<=|>=|!=)"
PLACE = rf"\[[^][;]*\]|\([^][(),]* {THAN} [^][(),]*\)"  # `[step 1]`, or a comparison `(4 > 2)`: not broken
LOOSE = rf"[-+−≈→]|->|{THAN}|else|and|or|copied along|where(?: \w+ {THAN})?"  # formulas break before these
CHOOSING = ("where", "else")  # a choice breaks before these rather than within a condition
PARTING = (*CHOOSING, "≈", "→", "->", "for", "copied")  # a sum breaks before these rather than before its signs
TIGHT = "[/⊙⊗·×]"  # formulas break before these only if there is nothing looser
WORD = rf"(?:(?:{LOOSE}|{TIGHT}) )?(?:\S*Σ\w* )?(?:{PLACE}|left out|all masked|[\S{GLUE}])+\s*|\s+"  # Σ with its sum
FACTOR = r"(?<=[])ᵀ])(?:/(?=\()|[·×](?=[^\d(]|√?\((?![^()]*\))))"  # between brackets, unless they hold a lone number
TIMES = r"(?<=\S)[·×]"
BARRED = r"(?:^|(?<=[][( ^·×√−-]))\|"  # an opening bar
OPENED = rf"[(\[]|{BARRED}"
CLOSED = ")]|"
SPLIT = (", ", "; ")
OUTCOMES = ("≈", "→", "->")  # signs before a resulting value or shape
LAST = r"(?<=[,#)|])(?=[^,#)|²ᵀ])"  # where a name breaks that is too long for a line

HANG = 4
"""The indent of lines below a name."""
DEEPER = 2
"""The further indent of a line that continues a term or a bracket of an earlier line."""
DEEP = 1.5
"""The cost of a line that ends within a bracket, for each level; a line itself costs 1."""
TORN = 4.0
"""The extra cost of a line that ends within a term although it holds another term: more than one more line."""
PAST = 3.0
"""The extra cost of a line that ends or begins within brackets although it holds a term outside of them."""

Depths: TypeAlias = frozenset[tuple[int, int]]


class _Break(NamedTuple):
    """A place at which a line may begin, and its cost.

    The rank within the same brackets is 0 between members or cases, 1 between terms, 2 between factors or words.
    """

    at: int
    cost: float
    rank: int = 0
    within: Sequence[int] = ()  # the places of the brackets around it
    is_outcome: bool = False  # whether a resulting value or shape follows

    @property
    def depth(self) -> tuple[int, int]:
        """The number of brackets around it, and its rank: deeper text is a part of less deep text."""
        return len(self.within), self.rank

    def indent(self, parted: Depths, room: int) -> int:
        """The indent of a line that begins here: one level for each less deep place at which other lines begin."""
        return min(DEEPER * sum(depth < self.depth for depth in parted), room // 3)


class Way(Enum):
    """Where the links after a name stand on a page that is too narrow for one line."""

    BESIDE = "each `=` below the first"
    NAMED = "below the name, but for the first of them"
    UNDER = "below the name"


class Chain:
    """`scores = Q·Kᵀ = [2×3]·[3×2]` on one line, or, if that is too wide, with each `=` below the first.

    After a long name, or if that saves lines or breaks within brackets, they stand below the name. Lines that are still
    too wide are broken outside brackets rather than within; continued lines are indented.
    """

    def __init__(
        self,
        start: Text,
        links: Sequence[Text] = (),
        *,
        hang: int = 2,
        under: int = HANG,
        is_formula: bool | None = None,
    ) -> None:
        self.start, self.links, self.hang, self.under = start, links, hang, under
        self.is_formula = bool(links) if is_formula is None else is_formula

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self.lines(options.max_width)

    def lines(self, width: int, way: Way | None = None) -> Iterator[Text]:
        """The lines on a page of that width."""
        whole = Text(" ").join([self.start, *self.links])
        if not self.links or whole.cell_len <= width:
            return broken(whole, width, hang=self.hang, is_formula=self.is_formula)
        lines, _ = self.laid(width, cheapest([self], width) if way is None else way)
        return (line for text, indent, hang in lines for line in broken(text, width, indent=indent, hang=hang))

    def laid(self, width: int, way: Way) -> tuple[Sequence[tuple[Text, int, int]], float]:
        """The texts that start a line, with their indents and those of continued lines; and the cost of this layout."""
        start, (first, *others) = self.start, self.links
        whole, joint = (Text(" ").join(texts) for texts in ([start, *self.links], self.links))
        named = Text.assemble(start, GLUE, first)
        named.plain = named.plain.replace(f"{GLUE}= ", f"{GLUE}={GLUE}")  # keeps name and `=` together
        if whole.cell_len <= width:
            return [(whole, 0, 0)], 0
        below = start.cell_len + 1
        found, cost = [(named, 0, below + 2), *((link, below, 2) for link in others)], 0.0
        if way is Way.NAMED:
            found = [(named, 0, self.under + 2), *((link, self.under, 2) for link in others)]
        if way is Way.UNDER:
            is_joint = self.under + joint.cell_len <= width
            found = [(start, 0, 2), *((link, self.under, 2) for link in ([joint] if is_joint else self.links))]
            cost = 1.0 if is_joint else 0
        if (way is Way.BESIDE and below > width // 2) or (way is Way.NAMED and named.cell_len > width):
            cost = float("inf")
        spaces = ((text.plain, width - indent, width - indent - hang) for text, indent, hang in found)
        return found, cost + sum(1 + sum(each.cost for each in _breaks(*space)) for space in spaces)


class Chains:
    """The lines of one step, which all are laid out in the same way."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """The lines on a page of that width."""
        way = cheapest(self.chains, width)
        return (line for chain in self.chains for line in chain.lines(width, way))


def cheapest(chains: Sequence[Chain], width: int) -> Way:
    """The way that costs the least for all these lines together, the first of equals."""
    return min(Way, key=lambda way: sum(chain.laid(width, way)[1] for chain in chains if chain.links))


def broken(text: Text, width: int, *, indent: int = 0, hang: int = 0, is_formula: bool = True) -> Iterator[Text]:
    """The text with an indent, broken if it is wider than the page; continued lines are indented by `hang` more."""
    further = width - indent - hang
    breaks = _breaks(text.plain, width - indent, further, is_formula=is_formula)
    parted = _depths(breaks)
    columns = [indent, *(indent + hang + each.indent(parted, further) for each in breaks)]
    for column, line in zip(columns, text.divide([each.at for each in breaks]), strict=True):
        line.rstrip()
        line.plain = line.plain.replace(GLUE, " ")
        yield Text(" " * max(min(column, width - line.cell_len), indent), no_wrap=True).append_text(line)


def _depths(breaks: Iterable[_Break]) -> Depths:
    """The depths at which lines begin, except those with a resulting value or shape."""
    return frozenset(each.depth for each in breaks if not each.is_outcome)


def _breaks(text: str, first: int, further: int, *, is_formula: bool = True) -> Sequence[_Break]:
    """The cheapest places at which lines begin, if the first line has `first` cells and the others `further`.

    A line that ends within brackets costs more if it could have ended outside of them, and one that ends within a term
    costs more if it holds another term: `a + b` with `·c` below it reads as `(a + b)·c`. A line that continues a term
    or a bracket is indented further than the line that it continues.
    """
    if cell_len(text) <= first:
        return ()
    places = [_Break(0, 0), *_places(text, max(further, 1), is_formula), _Break(len(text), 0)]
    parted: Depths = frozenset()
    while True:  # lines that continue a broken term or bracket turn out to have less room
        chosen = _cheapest(text, places, [first, *(further - each.indent(parted, further) for each in places[1:])])
        if (found := _depths(chosen)) <= parted:
            return chosen
        parted |= found


def _cheapest(text: str, places: Sequence[_Break], rooms: Sequence[int]) -> Sequence[_Break]:
    """The cheapest places at which lines begin, given the room of each line, by dynamic programming."""
    last = len(places) - 1
    best: list[tuple[float, int]] = [(0.0, last)] * (last + 1)  # place → the cost from there on, and the next place
    for start in reversed(range(last)):
        found, least = (float("inf"), last), float("inf")
        held: dict[Sequence[int], _Break] = {}
        for end in range(start + 1, last + 1):
            if end > start + 1 and cell_len(text[places[start].at : places[end].at].rstrip()) > rooms[start]:
                break
            place = places[end]
            looser = held.get(place.within, place)
            cost = place.cost + max(0, place.cost - least) + TORN * (looser.rank < place.rank)
            inner = max(len(places[start].within), len(place.within))
            cost += PAST * any(each.rank == 1 and len(each.within) < inner for each in held.values())
            found = min(found, (cost + best[end][0], -end))  # among equals the longest line
            least = min(least, place.cost)
            held[place.within] = min(looser, place, key=lambda each: each.rank)
        best[start] = (found[0], -found[1])
    chosen = [best[0][1]]
    while chosen[-1] < last:
        chosen.append(best[chosen[-1]][1])
    return [places[each] for each in chosen[:-1]]


def _places(text: str, room: int, is_formula: bool) -> Iterator[_Break]:
    """Where a line may begin: before signs and words, between factors, or within words that are too long."""
    found: dict[int, tuple[float, int]] = {}
    is_choice = " where " in text
    for word in re.finditer(WORD, text):
        start, sign = word.start(), word[0].split(" ")[0]
        is_part = sign in PARTING or text[max(start - 2, 0) : start] in SPLIT
        if re.fullmatch(TIGHT, sign):
            found[start] = 0.3, 2
        elif is_part or re.fullmatch(LOOSE, sign):
            found[start] = 0.1 * (is_choice and sign not in CHOOSING), int(not is_part)
        else:
            found[start] = 0.6, 2
    for pattern, cost in ((TIMES, 0.8), (FACTOR, 0.3)):
        found.update((each.start(), (cost, 2)) for each in re.finditer(pattern, text))
    for at in (0, *(at for each in re.finditer(PLACE, text) for at in range(each.start() + 1, each.end()))):
        found.pop(at, None)
    for start, end in pairwise([0, *sorted(found), len(text)]):
        if cell_len(text[start:end].rstrip()) > room:
            found.update(_last(text, start, end, room))
    brackets = _brackets(text)
    for at, (cost, rank) in sorted(found.items()):
        depth = len(brackets[at]) - 0.5 * (text[at - 2 : at] == "; ")
        is_outcome = text.startswith(OUTCOMES, at)
        costs = 1 + DEEP * (depth + cost)
        yield _Break(at, costs, rank, brackets[at], is_outcome) if is_formula else _Break(at, 1)


def _last(text: str, start: int, end: int, room: int) -> Iterator[tuple[int, tuple[float, int]]]:
    """The breaks within a piece that is too long for a line."""
    at = start
    for part in re.split(LAST, text[start:end]):
        for bit in chop_cells(part, room) if cell_len(part.rstrip()) > room else [part]:
            if at > start:
                yield at, (4.0, 2)
            at += len(bit)


def _brackets(text: str) -> Sequence[tuple[int, ...]]:
    """For each character the places of the brackets and bars that are open before it."""
    opened = {each.start() for each in re.finditer(OPENED, text)}
    found: list[tuple[int, ...]] = [()]
    for at, sign in enumerate(text):
        found.append((*found[-1], at) if at in opened else found[-1][:-1] if sign in CLOSED else found[-1])
    return found


def _members(text: str) -> Sequence[str]:
    """The parts of a text between semicolons outside brackets."""
    brackets = _brackets(text)
    starts = [0, *(each.end() for each in re.finditer("; ", text) if not brackets[each.start()]), len(text)]
    return [text[start:end].rstrip() for start, end in pairwise(starts)]


# A value as Rich's tables: a row, a table with its axes' names and labels, or a stack of tables.
#
# Numbers are never cut, so what fits is measured before a table is made: the rest is left out by whole columns and
# rows, with a remark; with `everything` a table is split into blocks of columns instead. If single entries are too
# wide, the table is written as a list, entry by entry.


ALWAYS_WHOLE = 12  # columns: tables that a student could write by hand are shown whole even on the narrowest page
LONGEST_LABEL = 16

BETWEEN = 2  # blanks between columns
APART = 2 * BETWEEN  # blanks between tables


class Ruled(Box):
    """A rule below the headings, with a cross where the labels end; the bar after labels is part of their text."""

    def __init__(self, rule: str, cross: str) -> None:
        blank = "    \n"
        super().__init__(blank * 2 + f" {rule}{cross} \n" + blank * 5, ascii=rule.isascii())

    def get_row(self, widths: Iterable[int], level: str = "row", edge: bool = True) -> str:
        """The rule over columns of these widths."""
        first, *others = widths
        behind = sum(others) + len(others)
        return self.head_row_horizontal * (first - 1) + self.head_row_cross + self.head_row_horizontal * behind


BOXES = {True: Ruled("─", "┼"), False: Ruled("-", "+")}
"""Whether the page may contain more than ASCII → its box."""


class _Column(NamedTuple):
    """A column: its heading, and its cells, which all have the same width."""

    heading: str
    cells: Sequence[str]
    place: int | None = None  # its index; None if it stands for columns that are left out

    @property
    def gap(self) -> bool:
        return self.place is None

    @property
    def width(self) -> int:
        return max(cell_len(self.heading), cell_len(self.cells[0]))


class _Grid(NamedTuple):
    """A matrix as text: a label for each row, and the columns."""

    matrix: Matrix
    corner: str
    labels: Sequence[str]
    columns: Sequence[_Column]
    above: str = ""  # the name of the columns' axis, if it stands above them, not in the corner

    @property
    def margin(self) -> int:
        return max(map(cell_len, (self.corner, *self.labels)))

    def width(self, columns: Sequence[_Column] | None = None) -> int:
        """The width of a line with these columns, or with all of them."""
        columns = self.columns if columns is None else columns
        return self.margin + 3 + sum(column.width for column in columns) + BETWEEN * (len(columns) - 1)

    def fits(self, columns: Sequence[_Column], width: int | None) -> bool:
        """Whether these columns fit on a page of that width."""
        return width is None or self.width(columns) <= width


def grid(
    table: Table, view: View, width: int | None, style: str = "", *, is_wide: bool = False
) -> Iterator[RenderableType]:
    """A value on a page of that width; `style` is for its numbers. On a wide page matrices stand side by side."""
    if not table.can_be_shown:
        yield Text(view.spell(table.instead), FAINT)
        return
    shown = window(table, view, Limits()).matrices
    if not table.shape:
        yield Text(view.spell(shown[0].entries[0][0]), style)
        return
    hidden = whole(table.shape).tables - len(shown)
    if is_wide and width is not None and (beside := _side_by_side(shown, table, view, width, style)) is not None:
        yield beside
        yield from missing(view, (hidden, "table"))
        return
    for at, matrix in enumerate(shown):
        if at:
            yield Text()
        if hidden and at == len(shown) - 1:
            yield from missing(view, (hidden, "table"))
            yield Text()
        if matrix.at:
            yield Text(view.spell(heading(table, matrix)), "bold")
        yield from _matrix(matrix, table, view, width, style)


def _stack(table: Table, view: View) -> dict[Place, _Grid]:
    """Place → matrix as text, for all matrices of a value; empty if anything of it is left out."""
    shown = window(table, view, Limits()).matrices if table.can_be_shown and table.shape else ()
    if len(shown) < whole(table.shape).tables or any(None in (*each.rows, *each.columns) for each in shown):
        return {}
    return {matrix.at: _grid(matrix, table, view) for matrix in shown}


class _Block(NamedTuple):
    """A block to put side by side with others: its heading, its width, and its drawing."""

    above: str
    width: int
    drawn: RenderableType


def _in_lines(
    blocks: Sequence[_Block], width: int, *, least: int = 1, most: int | None = None
) -> RenderableType | None:
    """Blocks side by side, in as few lines as possible, about equally many in each.

    None if fewer than `least` fit on a line, or if they take more than `most` lines.
    """
    widest = max(max(block.width, cell_len(block.above)) for block in blocks)
    count = (width + APART) // (widest + APART)
    lines = -(-len(blocks) // max(count, 1))
    if count < least or lines > (most or lines):
        return None
    count = -(-len(blocks) // lines)
    beside = RichTable.grid(padding=(0, APART, 0, 0))
    for start in range(0, len(blocks), count):
        if start:
            beside.add_row()
        some = blocks[start : start + count]
        if some[0].above:
            beside.add_row(*(Text(block.above, "bold") for block in some))
        beside.add_row(*(block.drawn for block in some))
    return beside


def _side_by_side(shown: Sequence[Matrix], table: Table, view: View, width: int, style: str) -> RenderableType | None:
    """The matrices of a stack side by side; None if only one fits on a line."""
    grids = [_grid(matrix, table, view) for matrix in shown]
    if len(shown) < 2 or any(column.gap for one in grids for column in one.columns):
        return None
    blocks = [
        _Block(view.spell(heading(table, one.matrix)), one.width(), _drawn(one, one.columns, table, view, style))
        for one in grids
    ]
    return _in_lines(blocks, width, least=2)


def _matrix(matrix: Matrix, table: Table, view: View, width: int | None, style: str) -> Iterator[RenderableType]:
    whole_grid = _grid(matrix, table, view)
    shown = columns = whole_grid.columns
    if not all(whole_grid.fits([column], width) for column in columns):
        for at, entry in located(table, matrix):
            names = (label(table, axis, index) for axis, index in zip(table.axes, at, strict=True))
            place = f"[{','.join([*names][len(matrix.at) :])}]"
            yield Chain(Text.assemble((f"{place}  ", FAINT), (view.spell(entry), style)), hang=4)
    elif view.everything or len(columns) <= ALWAYS_WHOLE:
        whole_grid = _narrowed(whole_grid, table, view, width)
        blocks = _blocks(whole_grid, width)
        if len(table.shape) == 1 and blocks[1:] and len(columns) + 2 <= 4 * len(blocks) - 1:  # fewer lines if upright
            whole_grid = _standing(whole_grid)
            blocks = [whole_grid.columns]
        for number, block in enumerate(blocks):
            if number:
                yield Text()
            if whole_grid.above:
                yield Text(f"{'':{whole_grid.margin}}{view.spell(' │')} {whole_grid.above}", FAINT)
            yield _drawn(whole_grid, block, table, view, style)
    else:
        shown = _fitting(whole_grid, view, width)
        yield _drawn(whole_grid, shown, table, view, style)
    size = whole(table.shape)
    rows = sum(row is not None for row in matrix.rows)
    yield from missing(
        view, (size.columns - sum(not column.gap for column in shown), "column"), (size.rows - rows, "row")
    )


def _grid(matrix: Matrix, table: Table, view: View) -> _Grid:
    from attncalc.record.numbers import align  # a door: NumPy, which pages without numbers do without

    down, across = axes(table)
    is_row = len(table.shape) == 1

    def name(axis: str, index: int | None) -> str:
        return shortened(GAP if index is None else label(table, axis, index), LONGEST_LABEL, view)

    columns = []
    for j, cells in zip(matrix.columns, zip(*matrix.entries, strict=True), strict=True):
        spelled = cells if view.unicode else [view.spell(cell) for cell in cells]
        columns.append(_Column(name(across, j), align(spelled), j))
    corner = view.spell(across if is_row else f"{down} ╲ {across}")
    return _Grid(matrix, corner, [""] if is_row else [name(down, i) for i in matrix.rows], columns)


def _narrowed(grid: _Grid, table: Table, view: View, width: int | None) -> _Grid:
    """The matrix with the columns' axis above them instead of in the corner, if more columns then fit on a line."""
    down, across = map(view.spell, axes(table))
    narrow = grid._replace(corner=down, above=across)
    if len(table.shape) == 1 or narrow.margin == grid.margin or grid.fits(grid.columns, width):
        return grid
    return narrow if len(_blocks(narrow, width)) < len(_blocks(grid, width)) else grid


def _standing(grid: _Grid) -> _Grid:
    """A row set upright: each entry on its own line, after its label."""
    from attncalc.record.numbers import align  # a door, as above

    places = tuple(column.place for column in grid.columns)
    entries = align([column.cells[0].strip() for column in grid.columns])
    labels = [column.heading for column in grid.columns]
    return grid._replace(matrix=grid.matrix._replace(rows=places), labels=labels, columns=[_Column("", entries, 0)])


def _blocks(grid: _Grid, width: int | None) -> Sequence[Sequence[_Column]]:
    """All columns in as few groups as fit on the page, of about the same size."""
    columns = grid.columns
    for count in range(1, len(columns) + 1):
        size = -(-len(columns) // count)
        blocks = [columns[start : start + size] for start in range(0, len(columns), size)]
        if all(grid.fits(block, width) for block in blocks):
            return blocks
    return [[column] for column in columns]


def _fitting(grid: _Grid, view: View, width: int | None) -> Sequence[_Column]:
    """The columns, or as many of the first ones as fit, a gap, and the last one."""
    if grid.fits(grid.columns, width):
        return grid.columns
    sign = view.spell(GAP)
    *first, last = (column for column in grid.columns if not column.gap)
    gap = _Column(sign, [sign] * len(last.cells))
    while first and not grid.fits([*first, gap, last], width):
        first.pop()
    return [*first, gap, last] if first else [grid.columns[0]]


Lit: TypeAlias = tuple[int | None, int | None]
"""A row or a column in colour, or, if both are given, the entry where they cross."""
NOWHERE: Lit = (None, None)


def _drawn(
    grid: _Grid, columns: Sequence[_Column], table: Table, view: View, style: str, lit: Lit = NOWHERE
) -> RichTable:
    """The headings, a rule, and the rows; the user's labels are as clear as the numbers, indices are fainter."""

    def styled(row: int | None, column: _Column) -> str:
        wanted = lit != NOWHERE and lit[0] in (None, row) and lit[1] in (None, column.place)
        return FAINT if row is None else ACCENT if wanted else style

    down, across = axes(table)  # a row set upright has its axis down the page
    row_style, heading_style = ("" if axis in table.labels else FAINT for axis in (down or across, across))
    box, bar = BOXES[view.unicode], view.spell(" │")
    drawn = RichTable(box=box, show_edge=False, padding=0, border_style=FAINT, header_style="", safe_box=False)
    drawn.add_column(Text(grid.corner + bar, FAINT), justify="right", no_wrap=True, width=grid.margin + 2)
    widths = [column.width + (BETWEEN - 1 if number else 0) for number, column in enumerate(columns)]
    for column, width in zip(columns, widths, strict=True):
        drawn.add_column(Text(right(column.heading, width), heading_style), no_wrap=True, width=width)
    for at, (row, name) in enumerate(zip(grid.matrix.rows, grid.labels, strict=True)):
        words = Text(name, FAINT if row is None else row_style).append(bar, FAINT)
        spread = zip(columns, widths, strict=True)
        cells = (Text(right(column.cells[at], width), styled(row, column)) for column, width in spread)
        drawn.add_row(*joined((words,), cells))
    return drawn
