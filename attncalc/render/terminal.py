"""A page on a terminal, drawn by Rich: in somebody's own program too, in a panel, a layout or a live display."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table as RichTable
from rich.text import Text

from attncalc.render import (
    Arithmetic,
    Formula,
    Heading,
    Line,
    Note,
    Page,
    Paragraph,
    Part,
    Point,
    Points,
    Rows,
    Table,
    Verdict,
    View,
)
from attncalc.render.fitting import BLANK, FAINT, GLUE, Chain, grid, missing, number

if TYPE_CHECKING:
    from attncalc.record.pictures import Picture

ACCENT = "bold color(32)"  # a blue that black and white carry alike, and that the colour-blind tell from ALARM
ALARM = "bold color(166)"  # an orange
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
"""Of a paragraph or a note → its style."""

ENDLESS = 1_000_000  # columns of a page that has no width
PROSE = 80  # columns of what is explained on such a page
SHORTEST_RULE = 40
LEAST_WORDS = 20  # columns for words at the end of a row; where there are fewer they stand below it


def write(page: Page, view: View) -> str:
    """The page as text, with the codes of colours where the view has some."""
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
    """Something drawn from a column on, its first line from another one."""

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
    """The text in lines, the first of them wider than the others."""
    start, *others = text.wrap(console, first)
    behind = text.plain[len(start) :]
    rest = text[len(text) - len(behind.lstrip()) :].wrap(console, further) if others else ()
    return Text("\n", no_wrap=True).join([start, *rest])


def _trimmed(line: Sequence[Segment]) -> list[Segment]:
    """The line without blanks at its end; those on a colour of their own stay."""
    shown = list(line)
    while shown and not (shown[-1].style and shown[-1].style.bgcolor):
        last = shown.pop()
        if text := last.text.rstrip():
            return [*shown, Segment(text, last.style)]
    return shown


class Drawn:
    """A page for Rich, as wide as what it is drawn in."""

    def __init__(self, page: Page, view: View) -> None:
        self.page, self.view = page, view

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
        """Words as the page can carry them."""
        return Text().append(self.view.spell(words), style)

    def block(self, block: Any, *, first: bool = False) -> Iterator[RenderableType]:
        """What a block looks like; all but the first stand below an empty line, unless they belong to the one above."""
        if isinstance(block, Heading):
            yield self.text(block.text, ACCENT)
        elif isinstance(block, Paragraph):
            yield from [] if block.kind in ("", "beside") else [Text()]
            yield self.text(block.text + f": {BLANK * 5}" * (block.kind == "blank"), KINDS.get(block.kind, ""))
        elif isinstance(block, Note | Formula):
            return  # notes are said beside the page
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
        """What was given: those operands that are of one file together, below its name."""
        tables = list(part.all(Table))
        named = ((table.source, f"#{table.name}") for table in tables)
        files = Counter(source.removesuffix(name) for source, name in named if source.endswith(name))
        file, count = max(files.items(), key=lambda item: item[1], default=("", 0))
        common = file if count > 1 else ""
        together = [table for table in tables if common and table.source == f"{common}#{table.name}"]
        for table in tables:
            if table not in together:
                yield self.operand(table, table.source)
        if common:
            yield Indented(Chain(self.text(f"← {common}"), hang=4), 2)
        yield from (self.operand(table, "") for table in together)
        if chosen := ", ".join(note.text for note in part.all(Note)):
            yield Indented(self.text(chosen), 4, first=2)

    def operand(self, table: Table, source: str) -> Indented:
        """`q ← q.json, n=2 × d_k=3: 1 0 1; 0 1 1`."""
        line = self.text(table.name, "bold")
        line.append(self.view.spell(f" ← {source}" if source else ""))
        line.append(self.view.spell(f", {table.sizes}" if table.shape else ""))
        if table.typed and table.typed != table.source:
            rows = self.view.spell(table.typed).split("; ")
            line.append(": " + "; ".join(row.replace(" ", GLUE) if rows[1:] else row for row in rows))
        if table.note:
            line.append(self.view.spell(f" ({table.note})"), REASON)
        return Indented(Chain(line, hang=4), 2)

    def steps(self, part: Part) -> Iterator[RenderableType]:
        """Steps, under the names of their groups."""
        style = RESULT if part.kind == "result" else ""
        group = ""
        first = True
        for each in part.all(Part):
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
        """Names begin to the right of the steps' numbers."""
        steps = [step for part in self.page.all(Part) for step in (*part.steps, *part.all(Part))]
        numbers = [step.heading.number or 0 for step in steps]
        return len(str(max([self.page.steps, *numbers]))) + 2

    def step(self, part: Part, style: str) -> Iterator[RenderableType]:
        """A step's line, its reason, its arithmetic where that is short, and its value."""
        margin = self.margin
        table = part.one(Table)
        if part.kind == "again":
            title = self.text(part.heading.key, ACCENT).append(f", step {part.heading.number}")
            yield Indented(Group(title, Text(), *self.grid(table, margin, style)), margin)
            return
        start = Text().append(f"{part.heading.number or '':>{margin - 2}}  ", FAINT)
        start.append(self.view.spell(part.heading.text), ACCENT)
        formula = part.one(Formula)
        yield Chain(start, list(map(self.text, _links(formula, part.heading.text))))
        yield Indented(Group(*self.below(part, table, margin, style)), margin)

    def below(self, part: Part, table: Table, margin: int, style: str) -> Iterator[RenderableType]:
        """What stands below a step's line."""
        lines = part.lines
        about = [block for block in part.all(Paragraph) if block.kind == "about"]
        yield from (self.text(block.text, REASON) for block in part.all(Paragraph) if block.kind == "why")
        for block in about:
            yield Text()
            yield self.prose(block.text)
        if about or table.shape:
            yield Text()
        if table.shape or not table.can_be_shown:
            if lines:
                yield from map(self.line, lines)
                yield Text()
            yield from self.grid(table, margin, style)
        else:
            value = lines or [Line(table.name, (), "", (number(table, self.view),))]
            yield self.line(value[0], style)
        found = list(part.all(Note))
        yield from [Text()] if found else []
        yield from (self.text(note.text, KINDS[note.kind]) for note in found if note.kind != "silent")

    def prose(self, words: str) -> RenderableType:
        """What is explained, in lines that are not too long to be read."""
        return _Narrow(self.text(words), PROSE) if self.width is None else self.text(words)

    def grid(self, table: Table, indent: int, style: str = "") -> Iterator[RenderableType]:
        """A value, drawn from a column on."""
        return grid(table, self.view, None if self.width is None else self.width - indent, style)

    def line(self, line: Line, style: str = "") -> Chain:
        """`dot = 0.8×0.7 + 0.2×0.3 + 0.1×0.2 = 0.64`."""
        *links, value = (f"= {link}" for link in line.links)
        return Chain(self.text(line.place), [*map(self.text, links), self.text(value, style)])

    def cells(self, part: Part) -> Iterator[RenderableType]:
        """The arithmetic of entries below their step; the first says whence indices count."""
        formula = part.one(Formula)
        arithmetic = part.one(Arithmetic)
        why = part.one(Paragraph)
        first = next((each for each in self.page.all(Part) if any(line.at for line in each.lines)), None)
        counted = " (indices from 0)" if part is first else ""
        yield Chain(self.text(part.heading.text), [self.text(f"= {formula.text}")])
        yield self.text(f"{why.text}{counted}".strip())
        yield from map(self.line, arithmetic.lines)

    def section(self, part: Part) -> Iterator[RenderableType]:
        """A heading, and below it what is said there."""
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
                yield Indented(Group(*self.block(block, first=True)), 2)

    def named(self, table: Table) -> Iterator[RenderableType]:
        """A value behind its name, or below it."""
        name = self.text(table.name, "bold")
        if not table.shape:
            yield Indented(name.append(self.view.spell(f" = {number(table, self.view)}"), ""), 2)
            return
        yield Text()
        yield Indented(Group(name.append(" ="), Text(), *self.grid(table, 2)), 2)

    def points(self, block: Points) -> Iterator[RenderableType]:
        """Names with words beside them, or sentences with words below."""
        left, most = block.room, ENDLESS if self.width is None else self.width // 2 - 4
        if left > most:
            left = max((len(point.text) for point in block.points if len(point.text) <= most), default=4)
        for point in block.points:
            yield from self.point(point, left, bold=bool(block.room))

    def point(self, point: Point, left: int, *, bold: bool) -> Iterator[RenderableType]:
        """One of them; with so many columns for names that words stand beside."""
        text, words = self.text(point.text, "bold" if bold else ""), self.text(point.words, REASON)
        if point.value:
            yield Indented(self.text(point.text, "bold").append(self.view.spell(f" = {point.value}"), "not bold"), 2)
        elif words and left and text.cell_len <= left:
            beside = RichTable.grid(padding=0)
            beside.add_column(width=left + 2, no_wrap=True)
            beside.add_column(overflow="fold")
            beside.add_row(text, words)
            yield Indented(beside, 2)
        else:
            mark = Text(self.view.spell(point.mark))
            below = 2 + (mark.cell_len or (4 if not bold else 2))
            yield Indented(Chain(mark + text, hang=below - 2), 2) if point.latex else Indented(mark + text, below, 2)
            if words:
                yield Indented(words, left + 4 if left else below)

    # What was marked

    def verdict(self, verdict: Verdict) -> Iterator[RenderableType]:
        """A step with its verdict and its marks, and below it what is said of it."""
        parts: list[Page | Part] = [self.page, *self.page.all(Part)]
        wide = max(len(each.name) for part in parts for each in part.all(Verdict))
        line = self.text(f"{verdict.name:<{wide}}  ", ACCENT)
        line.append(verdict.verdict, SOUND if verdict.sound else ALARM).append(f"  {verdict.marks}", FAINT)
        yield Indented(line, 4, first=0)
        told = [(verdict.mistake, ""), (verdict.hint, REASON), (verdict.revealed, FAINT)]
        if verdict.wrong and not verdict.map:
            told.append((f"wrong entries: {verdict.wrong}", FAINT))
        yield from (Indented(self.text(words, style), 6, first=4) for words, style in told if words)
        for row in verdict.map:
            signs = " ".join("×" if wrong else "·" for wrong in row)
            yield Indented(self.text(signs, ALARM if any(row) else FAINT), 4)
        if verdict.apart:
            yield Indented(self.text(f"operands that would tell: {verdict.apart}", FAINT), 6, first=4)

    def rows(self, rows: Rows) -> Iterator[RenderableType]:
        """A table of words: where there is no room, a wide first column stands above the others, the last one below.

        Columns in between that do not fit are left out, and said to be.
        """
        lines = [rows.head, *(row.cells for row in rows.rows)]
        spelled = [[self.view.spell(cell) for cell in line] for line in lines]
        widths = [max(map(cell_len, column)) for column in zip(*spelled, strict=True)]
        room = ENDLESS if self.width is None else self.width
        end, last = len(widths) - 1, widths[-1]
        start = int(2 * widths[0] > room and sum(widths[:end]) + 2 * (end - 1) > room)
        while end > start + 1 and sum(widths[start:end]) + 2 * (end - start - 1) > room:
            end -= 1
        beside = sum(widths[start:end]) + 2 * (end - start) + min(last, LEAST_WORDS) <= room
        for cells in spelled:
            line = RichTable.grid(padding=(0, 2, 0, 0))
            for width in widths[start:end]:
                line.add_column(width=width, no_wrap=True)
            if beside:
                line.add_column(overflow="fold")
            line.add_row(*map(Text, cells[start:end] + cells[-1:] * beside))
            yield from [Indented(Text(cells[0]))] if start else []
            yield Indented(line, 2 * start)
            yield from [Indented(Text(cells[-1]), 4)] if cells[-1] and not beside else []
        yield from missing(self.view, (len(widths) - 1 - end, "column"))

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
"""Kind of block → what draws it; whatever else there is, is a picture."""


class _Narrow:
    """Something no wider than so many columns."""

    def __init__(self, inside: RenderableType, width: int) -> None:
        self.inside, self.width = inside, width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        return console.render(self.inside, options.update(width=min(self.width, options.max_width)))


def _links(formula: Formula, name: str) -> Iterator[str]:
    """`= ∂L/∂scores`, `= Q·Kᵀ`, `= [2×3]·[3×2]`, `→ [2×2]`."""
    if formula.symbol != name:
        yield f"= {formula.symbol}"
    if formula.text:
        yield f"= {formula.text}"
    if formula.sizes:
        yield f"= {formula.sizes}"
    if formula.outcome:
        yield f"→ {formula.outcome}"
