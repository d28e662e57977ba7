"""docs/first-look.svg: a wrong answer named in a terminal, and the page of the same problem pointed at.

Both are what the program prints and what its HTML page tells: the one in the colours of a terminal, the other drawn
from the blocks of the page. Where nothing may move, all that was typed and printed stands there, and the last look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.render import View, html, pointing
from attncalc.render.dress import PAGE_STYLE
from attncalc.render.page import Formula, Page, Paragraph, Part, Place, Table, located, window
from attncalc.solve.solver import solve

SAMPLE = "attention-two-tokens"
ASKED = (f"attncalc attention {SAMPLE}.json", '--check "1.269 0.731 0.269; 1.5 0.5 0.5"', "--hints rule")
OPENED = f"attncalc attention {SAMPLE}.json -o attention.html"
ROWS = (("scores", "scaled", "weights"), ("v", "output"))
"""The values of the page that are drawn, by their names."""
BESIDE = (16, 120, 286)
"""Where those of a row begin."""
LOOKS = (("output", (0, 0)), ("weights", (0, 1)), ("scaled", (0, 1)))
"""The entries that are pointed at: from the result back to the step that the mistake leaves out."""

WIDE, MARGIN, BAR = 480, 16, 34  # so narrow that a phone shows letters of ten pixels
LETTER, LINE = 8.4, 19  # of the terminal
COLUMNS = int((WIDE - 2 * MARGIN) / LETTER)
DIGIT, HIGH = 7.4, 24  # of a table
PROSE = 66  # letters of a line
TYPED, PRINTED, LOOKED, LOOK, WHOLE = (0.6, 3.4), 3.8, 6.5, 4.0, 20.0
"""Seconds: of typing, until the answer, until the first look; of a look; of all."""

STYLE = """
text { white-space: pre; }
.terminal text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; }
.page text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
.page .title { font-size: 20px; font-weight: 600; }
.page .name { font-weight: 600; fill: var(--accent); }
.page .how { font-weight: 600; }
.page .faint { fill: var(--faint); }
.page .why { fill: var(--faint); font-style: italic; }
.page .entry { font-variant-numeric: tabular-nums; text-anchor: end; }
.page .at { fill: var(--paper); }
.sheet { fill: var(--paper); stroke: var(--line); }
.tint { fill: var(--tint); stroke: var(--line); }
.line { stroke: var(--line); }
.lit-0 { fill: var(--lit-0); stroke: var(--edge-0); stroke-width: 2; }
.lit-1 { fill: var(--lit-1); stroke: var(--edge-1); stroke-width: 2; stroke-dasharray: 5 2; }
.chosen { fill: var(--accent); }
.pointer { fill: var(--ink); stroke: var(--paper); stroke-width: 1.5; }
@media (prefers-reduced-motion: no-preference) {
  .moves {
    animation-duration: %gs; animation-delay: -%gs; animation-iteration-count: infinite;
    animation-timing-function: step-end;
  }
}
"""


class Spot(NamedTuple):
    """Where an entry stands, and how it is written."""

    x: float
    y: float
    wide: float
    text: str

    def frame(self, kind: str) -> str:
        """A box around it."""
        return f'<rect class="{kind}" x="{self.x:g}" y="{self.y:g}" width="{self.wide:g}" height="{HIGH}" rx="3"/>'

    def write(self, kind: str = "entry") -> str:
        """The number itself."""
        return words(self.x + self.wide - 6, self.y + 17, self.text, kind)


class Drawing:
    """What is drawn, from the top to the bottom, and how it moves."""

    def __init__(self) -> None:
        self.bottom = 0.0
        self.parts: list[str] = []
        self.motions: list[str] = []

    def moving(self, content: str, stops: dict[float, str], still: str, how: str = "") -> None:
        """A part that is in another state from each of these seconds on, and in this one where nothing moves."""
        name = f"m{len(self.motions)}"
        frames = " ".join(f"{100 * second / WHOLE:.4g}% {{ {state} }}" for second, state in stops.items())
        self.motions.append(f"@keyframes {name} {{ {frames} }}")
        timing = f"; animation-timing-function: {how}" if how else ""
        self.parts.append(f'<g class="moves" style="{still}; animation-name: {name}{timing}">{content}</g>')


def picture(run: Callable[[str], str], samples: Path) -> str:
    """The picture, of what a shell shows for a command among the samples."""
    drawing = Drawing()
    _terminal(drawing, Text.from_ansi(run(f"COLUMNS={COLUMNS} {' '.join(ASKED)} --color always").rstrip()))
    problem = load_document(f"@{samples / SAMPLE}.json", Reading()).problem
    _page(drawing, pointing.page(solve(problem), View()))
    colours = re.search(r":root \{.*?\n\}\n@media[^\n]*\n  :root \{.*?\n  \}\n\}", PAGE_STYLE, re.DOTALL)
    assert colours, "the page's style begins with its colours"
    moving = STYLE % (WHOLE, TYPED[1])  # who comes finds the command typed; the next time round it is typed anew
    style = "\n".join([colours[0], moving, *drawing.motions])
    size = f'viewBox="0 0 {WIDE} {drawing.bottom:g}" width="{WIDE}" height="{drawing.bottom:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(" ".join(ASKED))}">'
    return "\n".join([head, f"<style>\n{style}\n</style>", *drawing.parts, "</svg>"]) + "\n"


def words(x: float, y: float, text: str, kind: str = "", more: str = "") -> str:
    """A line of text."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:g}" y="{y:g}"{more}>{escape(text, quote=False)}</text>'


def _terminal(drawing: Drawing, printed: Text) -> None:
    """The command as it is typed, and then what it prints."""
    ink, paper = SVG_EXPORT_THEME.foreground_color.hex, "#000000"  # blue on it: 4.57 to 1; on the theme's grey 3.2
    lines = printed.split()
    first, shown = BAR + LINE, BAR + LINE * (len(ASKED) + 1)
    drawing.bottom = shown + LINE * len(lines)
    dots = "".join(f'<circle cx="{18 + 16 * i}" cy="17" r="5" fill="#666"/>' for i in range(3))
    window = f'<rect width="{WIDE}" height="{drawing.bottom:g}" rx="8" fill="{paper}"/>'
    drawing.parts += ['<g class="terminal">', window, dots]
    typed = [("    " if i else "$ ") + line + " \\" * (line != ASKED[-1]) for i, line in enumerate(ASKED)]
    whole, begun = sum(map(len, typed)), 0
    for i, line in enumerate(typed):
        y = first + LINE * i
        drawing.parts.append(words(MARGIN, y, line, more=f' fill="{ink}" textLength="{len(line) * LETTER:g}"'))
        start, end = (TYPED[0] + (TYPED[1] - TYPED[0]) * part / whole for part in (begun, begun + len(line)))
        cover = f'<rect x="{MARGIN}" y="{y - 15}" width="{len(line) * LETTER:g}" height="{LINE}" fill="{paper}"/>'
        begun += len(line)
        hidden, seen = "transform: scaleX(1)", "transform: scaleX(0)"
        stops = {0: hidden, start: hidden, end: seen, WHOLE: seen}
        drawing.moving(cover, stops, seen + "; transform-box: fill-box; transform-origin: right", f"steps({len(line)})")
    content = "".join(_coloured(line, shown + LINE * i, ink) for i, line in enumerate(lines))
    drawing.moving(content, {0: "opacity: 0", PRINTED: "opacity: 1", WHOLE: "opacity: 1"}, "opacity: 1")
    drawing.parts.append("</g>")


def _coloured(line: Text, y: float, ink: str) -> str:
    """A line of a terminal, each part in its style and as wide as its letters."""
    at, found = float(MARGIN), []
    for part, style, _ in line.render(Console(width=COLUMNS)):
        if part.strip():
            look = f' style="{_css(style or Style(), ink)}" textLength="{len(part) * LETTER:g}"'
            found.append(words(at, y, part, more=look))
        at += len(part) * LETTER
    return "".join(found)


def _css(style: Style, ink: str) -> str:
    colour = style.color.get_truecolor(SVG_EXPORT_THEME).hex if style.color else ink
    weight = "; font-weight: bold" if style.bold else ""
    slant = "; font-style: italic" if style.italic else ""
    return f"fill: {colour}{weight}{slant}{'; opacity: .65' if style.dim else ''}"


def _page(drawing: Drawing, page: Page) -> None:
    """The page's values, and what it tells of the entries that are pointed at, one after the other."""
    top = drawing.bottom + 14
    groups = [part for part in page.all(Part) if part.kind != "given"]
    steps = {step.heading.key: step for part in groups for step in part.steps}
    tables = {name: step.one(Table) for name, step in steps.items()}
    tables |= {table.name: table for part in page.all(Part) for table in part.all(Table)}
    summary = next(block for block in page.blocks if isinstance(block, Paragraph))
    drawn = [words(MARGIN, top + BAR + 34, page.title, "title")]
    spots: dict[tuple[int, Place], Spot] = {}
    y = top + BAR + 58
    for line in wrap(summary.text, PROSE):
        drawn.append(words(MARGIN, y, line))
        y += LINE
    y += 16
    for row in ROWS:
        for x, name in zip(BESIDE, row, strict=False):
            step, table = steps.get(name), tables[name]
            formula = f" = {step.one(Formula).text}" if step else ""
            drawn.append(
                f'<text x="{x:g}" y="{y:g}"><tspan class="name">{table.symbol}</tspan>{escape(formula)}</text>'
            )
            placed = dict(_placed(table, page, x, y + 10))
            drawn += [spot.write() for spot in placed.values()]
            drawn += _headings(placed)
            spots |= {(table.number, at): spot for at, spot in placed.items()}
        y = max(spot.y for spot in spots.values()) + HIGH + 32
    panel = y - 10
    drawing.bottom = panel + 86
    bar = f'<path class="line" d="M0 {top + BAR:g}H{WIDE}"/>'
    high = drawing.bottom - top - 1
    sheet = f'<rect class="sheet" x=".5" y="{top + 0.5:g}" width="{WIDE - 1}" height="{high:g}" rx="8"/>'
    drawing.parts += ['<g class="page">', sheet, bar, words(MARGIN, top + 22, OPENED, "faint")]
    looks = [(tables[name].number, at, steps[name]) for name, at in LOOKS]
    under = f'<rect class="tint" x=".5" y="{panel:g}" width="{WIDE - 1}" height="85.5" rx="8"/>'
    for i, (number, at, step) in enumerate(looks):
        told = page.told[number][at]
        how, _, whence = told.how.partition(", from ")
        why = step.one(Paragraph).text
        found = enumerate(_origins(told.origins, spots))
        lit = [spots[place].frame(f"lit-{source}") for source, places in found for place in places]
        lines = [(how, "how"), (f"from {whence}", "faint"), (why, "why")]
        said = [words(MARGIN, panel + 26 + 22 * k, line, kind) for k, (line, kind) in enumerate(lines)]
        _look(drawing, i, "".join([under, *lit, spots[number, at].frame("chosen"), *said]))
    drawing.parts += drawn
    for i, (number, at, _) in enumerate(looks):
        _look(drawing, i, spots[number, at].write("entry at"))
    _pointer(drawing, [spots[number, at] for number, at, _ in looks], panel)
    drawing.parts.append("</g>")


def _look(drawing: Drawing, i: int, content: str) -> None:
    """What is seen during a look alone; where nothing moves the last one is."""
    start, last = LOOKED + LOOK * i, i == len(LOOKS) - 1
    stops = {0: "opacity: 0", start: "opacity: 1"} | ({} if last else {start + LOOK: "opacity: 0"})
    drawing.moving(content, {**stops, WHOLE: f"opacity: {int(last)}"}, f"opacity: {int(last)}")


def _pointer(drawing: Drawing, looks: list[Spot], panel: float) -> None:
    """An arrow that goes from one entry to the next."""
    home = f"transform: translate({WIDE - 60}px, {panel - 40:g}px)"
    stops, state = {0.0: home, LOOKED - 1: home}, home
    for i, spot in enumerate(looks):
        state = f"transform: translate({spot.x + spot.wide - 14:g}px, {spot.y + 15:g}px)"
        stops |= {LOOKED + LOOK * i: state, LOOKED + LOOK * (i + 1) - 0.8: state}
    arrow = '<path class="pointer" d="M0 0v17l4-4 3 7 3-1.3-3-6.7h6z"/>'
    drawing.moving(arrow, {**stops, WHOLE: state}, state, "ease-in-out")


def _placed(table: Table, page: Page, x: float, y: float) -> Iterator[tuple[Place, Spot]]:
    """Where the entries of a matrix stand, beside their row's number and below their column's."""
    [matrix] = window(table, View(), html.limits(page)).matrices
    wide = max(len(entry) for line in matrix.entries for entry in line) * DIGIT + 12
    for at, entry in located(table, matrix):
        yield at, Spot(x + 26 + at[1] * wide, y + 26 + at[0] * HIGH, wide, entry)


def _headings(placed: dict[Place, Spot]) -> Iterator[str]:
    """The numbers of rows and columns, and the lines that part them from the entries."""
    first, last = placed[min(placed)], placed[max(placed)]
    yield from (
        words(spot.x + spot.wide - 6, first.y - 8, str(j), "entry faint") for (i, j), spot in placed.items() if not i
    )
    yield from (words(first.x - 8, spot.y + 17, str(i), "entry faint") for (i, j), spot in placed.items() if not j)
    x, y, across, down = first.x, first.y, last.x + last.wide - first.x + 22, last.y + HIGH - first.y + 20
    yield f'<path class="line" d="M{x - 22:g} {y - 2:g}h{across:g}M{x - 2:g} {y - 20:g}v{down:g}"/>'


def _origins(told: str, spots: dict[tuple[int, Place], Spot]) -> Iterator[list[tuple[int, Place]]]:
    """`6:0,0-1;2:0-1,0`: of each source the entries that are drawn."""
    for source in told.split(";"):
        number, _, where = source.partition(":")
        spans = [[int(end) for end in span.split("-")] for span in where.split(",")]
        places = (at for drawn, at in spots if drawn == int(number))
        yield [(int(number), at) for at in places if all(s[0] <= i <= s[-1] for i, s in zip(at, spans, strict=True))]
